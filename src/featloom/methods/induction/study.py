"""What induction finds in a data set, and whether it helps a linear model.

A fifth of the rows (whole groups, where there are any) is held out.  On the rest the strength of
an L2-penalised logistic regression on the atomic features is chosen by cross-validation; the same
strength serves the model with conjunctions, which so is never tuned harder than its baseline.
Both are scored on the held-out part once, and compared by a paired bootstrap over groups.
The features shown are those found in all the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.evaluation.objective import Objective
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.scores import LABELS

STRENGTHS = (0.1, 1.0, 10.0)
BASELINE = "logistic regression on atomic features"
INDUCED = "the same with conjunctions"
_SHOWN = 500
_SHOWN_ATOMIC = 200
_BINS = 30


def study_induction(
    matrix: FeatureMatrix,
    inducer: ConjunctionInducer,
    *,
    positive: str | None = None,
    domain: tuple[str, ...] = (),
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The parts of a result that speak of the data, the features found and the two models.

    ``domain`` names families (the domain of a document) whose conjunctions are pointed out;
    ``say`` is told what is being done.
    """
    labels = _labels(matrix)
    metric = Objective.of(matrix.classes, labels, positive)
    say("finding conjunctions")
    whole = _fitted(inducer, matrix)
    say("choosing the strength of the linear model")
    comparison = _compare(matrix, inducer, metric, seed, say)
    say("fitting the final model")
    model = logistic_regression(comparison["strength"]).fit(whole.transform(matrix), labels)
    result = {
        "kind": "induction",
        "data": _data(matrix),
        "parameters": {k: v for k, v in whole.parameters_.items() if k != "feature_groups"},
        "induction": _found(whole, model, domain),
        "models": comparison["models"],
        "comparisons": comparison["comparisons"],
        "metric": metric.name,
    }
    result["verdict"] = _verdict(result)
    return result


def _labels(matrix: FeatureMatrix) -> np.ndarray:
    if matrix.labels is None or (matrix.labels < 0).any():
        raise InputError("every row needs a label")
    return matrix.labels


def _fitted(inducer: ConjunctionInducer, matrix: FeatureMatrix) -> ConjunctionInducer:
    from sklearn.base import clone

    return clone(inducer).fit(matrix, matrix.labels)


def _compare(matrix, inducer, metric, seed, say) -> dict[str, Any]:
    labels, groups = matrix.labels, matrix.groups
    fold_of = make_folds(labels, n_folds=5, groups=groups, seed=seed, allow_rare=True)
    train, test = np.flatnonzero(fold_of != 0), np.flatnonzero(fold_of == 0)
    if len(np.unique(labels[train])) < 2:
        raise InputError("the part to learn from holds one class only; there are too few rows")
    learn, judge = matrix.take(train), matrix.take(test)
    strength = _best_strength(learn, metric, seed)
    say("comparing the models on the part held out")
    X, X_judge = learn.to_csr(), judge.to_csr()
    without = logistic_regression(strength).fit(X, learn.labels).predict(X_judge)
    induced = _fitted(inducer, learn)
    within = logistic_regression(strength).fit(induced.transform(learn), learn.labels)
    given = within.predict(induced.transform(judge))
    units = np.arange(len(test)) if groups is None else judge.groups
    counts = {
        BASELINE: metric.counts(judge.labels, without, units),
        INDUCED: metric.counts(judge.labels, given, units),
    }
    sizes = {BASELINE: int((X.sum(axis=0) > 0).sum()), INDUCED: len(induced.scores_)}
    models = []
    for name, counted in counts.items():
        interval = bootstrap_interval(counted, metric.of_counts, seed=seed)
        models.append(
            {
                "name": name,
                "metric": metric.name,
                "value": interval.value,
                "interval": [interval.low, interval.high],
                "features": sizes[name],
            }
        )
    test_result = paired_bootstrap(counts[INDUCED], counts[BASELINE], metric.of_counts, seed=seed)
    comparison = {
        "a": INDUCED,
        "b": BASELINE,
        "difference": test_result.difference,
        "interval": [test_result.low, test_result.high],
        "p": test_result.p,
        "significant": test_result.p < 0.05,
    }
    return {"strength": strength, "models": models, "comparisons": [comparison]}


def _best_strength(learn: FeatureMatrix, metric: Objective, seed: int) -> float:
    labels = _labels(learn)
    inner = make_folds(labels, n_folds=3, groups=learn.groups, seed=seed, allow_rare=True)
    X = learn.to_csr()
    scores = dict.fromkeys(STRENGTHS, 0.0)
    for train, test in splits(inner):
        if len(np.unique(labels[train])) < 2:
            continue
        for strength in STRENGTHS:
            given = logistic_regression(strength).fit(X[train], labels[train]).predict(X[test])
            scores[strength] += metric.value(labels[test], given)
    return max(STRENGTHS, key=lambda strength: scores[strength])


def _data(matrix: FeatureMatrix) -> dict[str, Any]:
    sizes = np.bincount(_labels(matrix), minlength=len(matrix.classes))
    features = np.bincount(matrix.family_of, minlength=len(matrix.families))
    families = [
        {"name": name, "features": int(n), "single_valued": bool(single)}
        for name, n, single in zip(matrix.families, features, matrix.single_valued, strict=True)
    ]
    return {
        "source": matrix.source,
        "rows": len(matrix),
        "features": matrix.shape[1],
        "target": matrix.target,
        "classes": dict(zip(matrix.classes, sizes.tolist(), strict=True)),
        "groups": None if matrix.groups is None else len(np.unique(matrix.groups)),
        "families": sorted(families, key=lambda family: (-family["features"], family["name"])),
    }


def _found(inducer: ConjunctionInducer, model: LogisticRegression, domain) -> dict[str, Any]:
    # With two classes one weight speaks for the second; with more, the largest is shown.
    weights = model.coef_[0] if len(model.coef_) == 1 else model.coef_.max(axis=0)
    shown: dict[int, list[dict]] = {1: [], 2: []}
    for induced, weight in zip(inducer.features_, weights.tolist(), strict=True):
        feature = induced.feature
        shown[min(len(feature), 2)].append(
            {
                "name": str(feature),
                "parts": list(feature.parts),
                "length": len(feature),
                "support": induced.support,
                "class_counts": list(induced.class_counts),
                "score": induced.score,
                "weight": weight,
                "domain": any(column in domain for column, _ in feature.template.places),
            }
        )
    shown[2].sort(key=lambda row: -row["score"])
    joined = np.array([len(feature.feature) > 1 for feature in inducer.features_])
    name = inducer.parameters_["score"]
    return {
        "score_name": name,
        "score_label": LABELS[name],
        "histograms": {
            "atomic": _histogram(inducer.scores_[~joined]),
            "conjunctions": _histogram(inducer.scores_[joined]),
        },
        "kept": {"atomic": int((~joined).sum()), "conjunctions": int(joined.sum())},
        "conjunctions": shown[2][:_SHOWN],
        "atomic": shown[1][:_SHOWN_ATOMIC],
        "dropped": [
            {"reason": reason, "count": count} for reason, count in inducer.dropped_.items()
        ],
    }


def _histogram(scores: np.ndarray) -> dict[str, list]:
    counts, edges = np.histogram(scores, bins=_BINS)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _verdict(result: dict[str, Any]) -> str:
    test, (before, after) = result["comparisons"][0], result["models"]
    low, high = (100 * bound for bound in test["interval"])
    change = (
        f"{abs(100 * test['difference']):.1f} points of {result['metric']} "
        f"(95 % {low:+.1f} to {high:+.1f})"
    )
    sizes = f"{before['features']:,} to {after['features']:,} features"
    if not test["significant"]:
        return f"Conjunctions do not change the linear model beyond chance here: {change}, {sizes}."
    verb = "add" if test["difference"] > 0 else "cost"
    return f"Conjunctions {verb} {change} to the linear model, {sizes}."
