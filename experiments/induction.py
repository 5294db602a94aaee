"""The experiment of the FITSI paper on public data, with the controls it lacked.

Naive Bayes and the perceptron, four scores, the paper's grid of k and l, five folds of whole
documents; the classifiers' own parameters (smoothing, variant, epochs) are tuned in
the same cross-validation for the baseline as well; the perceptron is a plain one, not averaged, as
the paper's seems to be.  The chosen models are scored on the test
documents once, the perceptron over five seeds, and compared with the tuned baseline by a paired
bootstrap over documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from experiments.runner import Experiment, Work, table
from featloom.data.matrix import FeatureMatrix
from featloom.data.tasks.ready import load
from featloom.evaluation.objective import compare
from featloom.methods.induction import ConjunctionInducer, ConjunctionSearchCV
from featloom.methods.induction.findings import (
    data_part,
    dropped_section,
    features_section,
    grid_section,
    scores_section,
)
from featloom.results import Column, Comparison, Dot, Intervals, Model, Section

CORPUS = "ned-gum"
SCORES = ("mi", "ig", "su", "fisher")
SEEDS = range(5)
SHOWN = ("perceptron", "mi")  # whose grid and features the page draws
# Tables 1 and 2 of the paper: test F1, and (k, l) as shares of the features.
PUBLISHED: dict[tuple[str, str | None], tuple[float, tuple[float, float] | None]] = {
    ("naive Bayes", None): (0.54, None),
    ("naive Bayes", "mi"): (0.70, (0.25, 0.0025)),
    ("naive Bayes", "ig"): (0.70, (0.25, 0.0025)),
    ("naive Bayes", "su"): (0.70, (0.25, 0.001)),
    ("naive Bayes", "fisher"): (0.75, (0.25, 0.001)),
    ("perceptron", None): (0.79, None),
    ("perceptron", "mi"): (0.83, (0.25, 0.001)),
    ("perceptron", "ig"): (0.83, (0.25, 0.001)),
    ("perceptron", "su"): (0.80, (0.10, 0.001)),
    ("perceptron", "fisher"): (0.83, (0.10, 0.0025)),
}
FAMILIES: dict[str, tuple[dict[str, Any], dict[str, list]]] = {
    "naive Bayes": (
        {"multinomial": MultinomialNB(), "Bernoulli": BernoulliNB(binarize=None)},
        {"alpha": [0.01, 0.1, 1.0]},
    ),
    "perceptron": (
        {
            "perceptron": SGDClassifier(
                loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, tol=None
            )
        },
        {"max_iter": [5, 10, 20]},
    ),
}


def induce(work: Work) -> dict[str, Any]:
    """Tables 1 and 2 of the paper, beside the published figures.

    ``rule`` "standard_deviation" chooses as the paper does; ``grid`` replaces its k and l.  Every
    finished cell of a grid is kept in a journal of the run.
    """
    train, test = documents("train"), documents("test")
    rule = work.options["rule"]
    predictions: dict[str, list[np.ndarray]] = {}
    facts: dict[str, dict[str, Any]] = {}
    rivals: dict[str, str] = {}
    found: dict[tuple[str, str], ConjunctionSearchCV] = {}
    for family, (variants, param_grid) in FAMILIES.items():
        baseline = f"{family}, baseline"
        for score in SCORES:
            name = f"{family}, {score}"
            work.say(name)
            search = found[family, score] = ConjunctionSearchCV(
                variants,
                inducer=ConjunctionInducer(preset="paper", score=score),
                grid=work.options.get("grid"),
                param_grid=param_grid,
                positive="1",
                rule=rule,
                simplicity="keep",
                journal=work.run.path / f"{family}-{score}.journal".replace(" ", "-"),
                n_jobs=work.jobs,
                random_state=work.seeds[0],
                progress=work.progress,
            ).fit(train, train.known_labels)
            if baseline not in facts:
                predictions[baseline] = answers(search.baseline_estimator_, train, test)
                facts[baseline] = facts_of(search, "baseline", family, None, train.shape[1])
            pipeline = search.best_estimator_
            predictions[name] = answers(pipeline, train, test)
            size = len(pipeline.named_steps["features"].scores_)
            facts[name] = facts_of(search, "best", family, score, size)
            rivals[name] = baseline
    models, comparisons = compare(
        search.objective_,
        test.known_labels,
        predictions,
        baseline=rivals,
        groups=test.groups,
        seed=work.seeds[0],
    )
    shown = found[SHOWN]
    features, classifier = shown.best_estimator_.named_steps.values()
    metric, data = search.objective_.name, data_part(train) | {"source": CORPUS}
    domain = ("DOMAIN", "GENRE")
    sections = [
        models_section(models, comparisons, facts, metric),
        grid_section(shown, metric),
        features_section(features, classifier.coef_, data["classes"], domain),
        scores_section(features),
        dropped_section(features),
    ]
    return {
        "source": CORPUS,
        "rows": len(train),
        "findings": [verdict(comparisons)],
        "result": {
            "data": data,
            "parameters": {"rule": rule, "scores": list(SCORES), "seeds": len(SEEDS)},
            "metric": metric,
            "comparisons": comparisons,
            "sections": [section for section in sections if section.blocks],
        },
    }


def documents(part: str) -> FeatureMatrix:
    matrix = load(CORPUS, part)
    assert isinstance(matrix, FeatureMatrix)
    return matrix


def answers(pipeline: Any, train: FeatureMatrix, test: FeatureMatrix) -> list[np.ndarray]:
    """Predictions of a chosen pipeline, one for each seed where the classifier has one."""
    features, classifier = pipeline.named_steps.values()
    seen, new = features.transform(train), features.transform(test)
    has_seed = "random_state" in classifier.get_params()
    return [
        clone(classifier).set_params(**seed).fit(seen, train.known_labels).predict(new)
        for seed in ([{"random_state": seed} for seed in SEEDS] if has_seed else [{}])
    ]


def facts_of(
    search: ConjunctionSearchCV, which: str, family: str, score: str | None, n_features: int
) -> dict[str, Any]:
    """How a model was chosen, and what the paper has for it."""
    published, setting = PUBLISHED[family, score]
    params = getattr(search, f"{which}_params_")
    return {
        "features": n_features,
        "keep": params.get("keep"),
        "partners": params.get("partners"),
        "cross_validated": getattr(search, f"{which}_score_"),
        "classifier": params["classifier"],
        "published": published,
        "published_setting": "" if setting is None else shares(*setting),
    }


def shares(k: float, l: float) -> str:  # noqa: E741 (the paper's own letters)
    return f"k = {k:.2%}, l = {l:.2%}"


def verdict(comparisons: Sequence[Comparison]) -> str:
    """How many models with induced features are better or worse than their baselines."""
    differences = [test.difference or 0.0 for test in comparisons if test.significant]
    better, n = sum(one > 0 for one in differences), len(comparisons)
    worse = sum(one < 0 for one in differences)
    if not better + worse:
        return (
            f"None of the {n} models with induced features differs from its equally tuned baseline "
            "beyond chance."
        )
    return (
        f"Of {n} models with induced features {better} are better than their equally tuned "
        f"baselines, {worse} worse, {n - better - worse} do not differ beyond chance."
    )


def models_section(
    models: Sequence[Model],
    comparisons: Sequence[Comparison],
    facts: Mapping[str, Mapping[str, Any]],
    metric: str,
) -> Section:
    """All models in one table, what they are worth beside the paper's, and what was chosen."""
    tests = {test.a: test for test in comparisons}
    rows = [(model, facts[model.name], tests.get(model.name)) for model in models]
    title = f"{metric} on the test documents"
    shown = table(
        title,
        rows,
        {
            "model": ("text", lambda row: {"value": row[0].name, "under": row[1]["classifier"]}),
            "k %": ("percent", lambda row: row[1]["keep"]),
            "l %": ("percent", lambda row: row[1]["partners"]),
            "features": ("count", lambda row: row[1]["features"]),
            "CV": ("percent", lambda row: row[1]["cross_validated"]),
            "test": ("percent", lambda row: row[0].test),
            "gain": ("points", lambda row: row[2] and row[2].difference),
            "p": ("p", lambda row: row[2] and row[2].p),
            "paper": (
                Column("paper", "percent", "published, with k and l as chosen there"),
                lambda row: {"value": row[1]["published"], "under": row[1]["published_setting"]},
            ),
        },
    )
    dots = [
        Dot(one.name, one.test, one.test_interval, fact["published"], None,
            "aside" if one.role == "baseline" else "")
        for one, fact, _ in rows
    ]  # fmt: skip
    looks = {"": "with induced features", "aside": "baseline"}
    figure = Intervals("Models before and after", metric, "percent", dots, "published", looks)
    return Section("Models", title, blocks=[figure, shown])


EXPERIMENT = Experiment(
    kind="induction",
    noun="data set",
    parts=(CORPUS,),
    work=induce,
    gather=lambda found: found[CORPUS]["result"],
)
