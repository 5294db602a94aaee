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
    counting_notes,
    counting_part,
    data_part,
    grid_part,
    induction_part,
)
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.search import ConjunctionSearchCV
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
    """The parts of a result that speak of the data, the features found and the two models.

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
    result: dict[str, Any] = {"kind": "induction", "data": data_part(matrix)}
    if grid is None:
        say("choosing the strength of the linear model")
        strength = _best_strength(learn, objective, seed)
    else:
        say("searching the grid")
        search = _searched(
            learn, inducer, grid, objective, journal, seed=seed, jobs=jobs, progress=progress
        )
        result |= _search_part(search)
        inducer = clone(search.best_estimator_.named_steps["features"])
        strength = search.best_estimator_.named_steps["classifier"].C
    say("comparing the models on the part held out")
    induced = _fitted(inducer, whole_learn)
    with_conjunctions = logistic_regression(strength).fit(
        induced.transform(learn), learn.known_labels
    )
    if grid is None:
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
    models[0]["features"] = len(np.unique(learn.indices))
    models[1]["features"] = len(induced.scores_)
    say("finding conjunctions in all the data")
    whole = _fitted(inducer, matrix)
    final = logistic_regression(strength).fit(whole.transform(everything), everything.known_labels)
    if not isinstance(matrix, Blocks) or matrix.hashed is None:
        keep(_model(whole, final, everything))
    if isinstance(matrix, Blocks):
        result["blocks"] = counting_part(matrix, whole)
        result["data"]["warnings"] = counting_notes(matrix, whole, len(everything))
    result |= {
        "parameters": {k: v for k, v in whole.parameters_.items() if k not in _NOT_SAID},
        "induction": induction_part(whole, final.coef_, domain),
        "models": models,
        "comparisons": comparisons,
        "metric": objective.name,
    }
    result["verdict"] = _verdict(result)
    return result


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


def _search_part(search: ConjunctionSearchCV) -> dict[str, Any]:
    return {
        "best_setting": search.best_params_,
        "best_score": search.best_score_,
        "baseline_setting": search.baseline_params_,
        "baseline_score": search.baseline_score_,
        "evaluations": len(search.history_),
        "grid": grid_part(search),
    }


def _verdict(result: dict[str, Any]) -> str:
    test, (before, after) = result["comparisons"][0], result["models"]
    difference, interval = test["difference"], f"({interval_of_points(test['interval'])})"
    sizes = f"{before['features']:,} to {after['features']:,} features"
    if not test["significant"]:
        return (
            "Conjunctions do not change the linear model beyond chance here: "
            f"{points(difference)} of {result['metric']} {interval}, {sizes}."
        )
    apart = f"{points(abs(difference), signed=False)} of {result['metric']} {interval}"
    verb, preposition = ("add", "to") if difference > 0 else ("take", "from")
    return f"Conjunctions {verb} {apart} {preposition} the linear model, {sizes}."
