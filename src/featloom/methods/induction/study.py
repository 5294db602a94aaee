"""Does induction help a linear model on this data?  One protocol, one answer.

A fifth of the rows (whole groups, where there are any) is held out.  On the rest the strength of
an L2-penalised logistic regression on the atomic features is chosen by cross-validation; the same
strength serves the model with conjunctions, which so is never tuned harder than its baseline.
With a grid, both are tuned by :class:`ConjunctionSearchCV`.  Either way each is scored on the
held-out part once, and they are compared by a paired bootstrap over groups.
The features shown are those found in all the data.

Of data in blocks every fifth row is held out.  Features are found in all the others; the linear
models are fitted on a sample of these and judged on a sample of the rows held out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from featloom.data.blocks import Blocks
from featloom.data.matrix import FeatureMatrix, ValueNames
from featloom.data.row_prints import RowPrints
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.evaluation.objective import Objective, compare
from featloom.learners.linear import logistic_regression
from featloom.learners.plan_model import PlanModel
from featloom.methods.induction.findings import (
    blocks_section,
    counting_notes,
    data_part,
    dropped_section,
    features_section,
    grid_section,
    in_words,
    scores_section,
    words_of_sizes,
)
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.search import ConjunctionSearchCV
from featloom.results import Comparison, Model, Section
from featloom.words import interval_of_points, points

STRENGTHS = (0.1, 1.0, 10.0)
BASELINE = "logistic regression on atomic features"
INDUCED = "the same with conjunctions"
_NOT_SAID = ("feature_groups", "n_jobs")  # threads change the time and nothing else


def study_induction(
    matrix: FeatureMatrix | Blocks,
    inducer: ConjunctionInducer,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    journal: str | Path | None = None,
    positive: str | None = None,
    domain: Sequence[str] = (),
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] | None = None,
    keep: Callable[[PlanModel], object] = lambda _: None,
) -> dict[str, Any]:
    """A result: the data, the two models and their test, the features found.

    Parameters
    ----------
    grid : values of the inducer's parameters to choose from; None: as the inducer has them.
    journal : file that keeps what a search has finished.
    positive : class whose F1 counts; default the rarer of two, accuracy with more.
    domain : families (the domain of a document) whose conjunctions are pointed out.
    say, progress : are told what is being done, and how far a search is.
    keep : is given the model with conjunctions, fitted on all the data; of hashed features none.
    """
    if isinstance(matrix, Blocks) and grid is not None:
        raise InputError("a search of the grid needs its rows in memory, and these come in blocks")
    everything = _in_memory(matrix)
    objective = Objective.of(everything.classes, everything.known_labels, positive)
    whole_learn, judge = _held_out(matrix, seed)
    learn = _in_memory(whole_learn)
    if len(np.unique(learn.known_labels)) < 2:
        raise InputError("the part to learn from holds one class only; there are too few rows")
    sections: list[Section] = []
    search = None
    if grid is None:
        say("choosing the strength of the linear model")
        strength = _best_strength(learn, objective, seed)
    else:
        say("searching the grid")
        search = _searched(
            learn, inducer, grid, objective, journal, seed=seed, jobs=jobs, progress=progress
        )
        sections.append(grid_section(search, objective.name))
        inducer = clone(search.best_estimator_.named_steps["features"])
        strength = search.best_estimator_.named_steps["classifier"].C
    say("comparing the models on the part held out")
    induced = _fitted(inducer, whole_learn)
    with_conjunctions = logistic_regression(strength).fit(
        induced.transform(learn), learn.known_labels
    )
    if search is None:
        plain = logistic_regression(strength).fit(learn.to_csr(), learn.known_labels)
        without = plain.predict(judge.to_csr())
    else:
        without = search.baseline_estimator_.predict(judge)
    given = {
        BASELINE: [without],
        INDUCED: [with_conjunctions.predict(induced.transform(judge))],
    }
    models, comparisons = compare(
        objective, judge.known_labels, given, baseline=BASELINE, groups=judge.groups, seed=seed
    )
    models[0].size = len(np.unique(learn.indices))
    models[1].size = len(induced.scores_)
    models[1].chosen = True
    _set_settings(models, search, strength)
    say("finding conjunctions in all the data")
    whole = _fitted(inducer, matrix)
    final = logistic_regression(strength).fit(whole.transform(everything), everything.known_labels)
    if not isinstance(matrix, Blocks) or matrix.hashed is None:
        keep(_model(whole, final, everything))
    data = data_part(matrix)
    found = [
        features_section(whole, final.coef_, data["classes"], domain), scores_section(whole),
        dropped_section(whole),
    ]  # fmt: skip
    sections = [*found, *sections]
    if isinstance(matrix, Blocks):
        sections.append(blocks_section(matrix, whole))
        data["warnings"] = counting_notes(matrix, whole, len(everything))
    chosen_why = "" if search is None else f"by cross-validation with {models[1].setting}"
    return {
        "kind": "induction",
        "data": data,
        "protocol": _protocol(matrix, learn, judge, grid is not None),
        "parameters": {k: v for k, v in whole.parameters_.items() if k not in _NOT_SAID},
        **({} if search is None else {"evaluations": len(search.history_)}),
        "metric": objective.name,
        "verdict": verdict(models, comparisons[0], objective.name),
        "significant": comparisons[0].significant,
        "chosen": INDUCED,
        "chosen_why": chosen_why,
        "leaderboard": models,
        "comparisons": comparisons,
        "sections": [section for section in sections if section.blocks],
    }


def _set_settings(
    models: Sequence[Model], search: ConjunctionSearchCV | None, strength: float
) -> None:
    """What was chosen for each model; with a search, also what it was worth in the folds."""
    for model, what in zip(models, ("baseline", "best"), strict=True):
        model.settings = {"C": strength}
        if search is not None:
            model.settings = getattr(search, f"{what}_params_")
            model.value = getattr(search, f"{what}_score_")
            model.n_folds = len(search.cv_results_[0]["scores"])
        model.setting = in_words(model.settings)


def _protocol(
    data: FeatureMatrix | Blocks, learn: FeatureMatrix, judge: FeatureMatrix, searched: bool
) -> str:
    """Which rows were learned from and which held out, in words."""
    held = "a fifth of the rows held out as test part"
    if isinstance(data, Blocks):
        held = "every fifth row held out as test part"
    elif data.groups is not None:
        held = "a fifth of the rows, groups whole, held out as test part"
    chosen = "settings" if searched else "the penalty of the baseline"
    sizes = words_of_sizes(len(learn), len(judge))
    return f"{sizes}; {held}; {chosen} chosen by cross-validation in the others"


def _in_memory(data: FeatureMatrix | Blocks) -> FeatureMatrix:
    """The rows, or a sample of them where they come in blocks."""
    return data.sample() if isinstance(data, Blocks) else data


def _held_out(
    data: FeatureMatrix | Blocks, seed: int
) -> tuple[FeatureMatrix | Blocks, FeatureMatrix]:
    """What is learned from, and the rows that it is judged on."""
    if isinstance(data, Blocks):
        return data.part(held_out=False), data.part(held_out=True).sample()
    labels = data.known_labels
    fold_of = make_folds(labels, n_folds=5, groups=data.groups, seed=seed, allow_rare=True)
    return data.take(np.flatnonzero(fold_of != 0)), data.take(np.flatnonzero(fold_of == 0))


def _fitted(inducer: ConjunctionInducer, data: FeatureMatrix | Blocks) -> ConjunctionInducer:
    y = None if isinstance(data, Blocks) else data.known_labels
    return clone(inducer).fit(data, y)


def _model(
    inducer: ConjunctionInducer, classifier: LogisticRegression, rows: FeatureMatrix
) -> PlanModel:
    """The linear model as it is kept and used; ``rows`` are those that it was fitted on."""
    # Of a table the families are its columns; a matrix knows its features by their names alone.
    columns = rows.families if isinstance(rows.names, ValueNames) else ()
    classes = [rows.classes[code] for code in classifier.classes_.tolist()]
    features = [one.feature for one in inducer.features_]
    model = PlanModel.of(
        features, columns, classifier.coef_, classifier.intercept_, classes,
        target=rows.target, class_type=rows.class_type,
    )  # fmt: skip
    return replace(model, learned=RowPrints.of(rows))


def _best_strength(learn: FeatureMatrix, objective: Objective, seed: int) -> float:
    labels = learn.known_labels
    inner = make_folds(labels, n_folds=3, groups=learn.groups, seed=seed, allow_rare=True)
    X = learn.to_csr()
    scores = dict.fromkeys(STRENGTHS, 0.0)
    for train, test in splits(inner):
        if len(np.unique(labels[train])) < 2:
            continue
        for strength in STRENGTHS:
            given = logistic_regression(strength).fit(X[train], labels[train]).predict(X[test])
            scores[strength] += objective.value(labels[test], given)
    return max(STRENGTHS, key=lambda strength: scores[strength])


def _searched(
    learn, inducer, grid, objective, journal, *, seed, jobs, progress
) -> ConjunctionSearchCV:
    return ConjunctionSearchCV(
        logistic_regression(),
        inducer=inducer,
        grid=grid,
        param_grid={"C": list(STRENGTHS)},
        positive=None if objective.positive is None else str(objective.positive),
        journal=journal,
        n_jobs=jobs,
        random_state=seed,
        progress=progress,
    ).fit(learn, learn.known_labels)


def verdict(models: Sequence[Model], test: Comparison, metric: str) -> str:
    """What a reader may conclude, in plain words; ``models`` are without and with conjunctions."""
    before, after = (int(model.size or 0) for model in models)
    difference, interval = test.difference or 0.0, test.interval or (None, None)
    bounds = f"({interval_of_points([bound or 0.0 for bound in interval])})"
    sizes = f"{before:,} to {after:,} features"
    if not test.significant:
        return (
            "Conjunctions do not change the linear model beyond chance here: "
            f"{points(difference)} of {metric} {bounds}, {sizes}."
        )
    apart = f"{points(abs(difference), signed=False)} of {metric} {bounds}"
    verb, preposition = ("add", "to") if difference > 0 else ("take", "from")
    return f"Conjunctions {verb} {apart} {preposition} the linear model, {sizes}."
