"""What methods are held against on tables: chance, two linear models, and models from outside."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from featloom.compare.yardsticks import EBMYardstick, LightGBMYardstick
from featloom.data.matrix import FeatureMatrix
from featloom.learners.pipelines import (
    Recipe,
    Table,
    n_features,
    on_features,
    save_linear,
    weights_grid,
    with_linear,
)
from featloom.method import Contender, Setting, Unsuited
from featloom.methods.induction import ConjunctionInducer

LINEAR, CHANCE, BAYES = "linear model", "class shares", "naive Bayes"
_FEW_BOOSTED, _MOST_BOOSTED = 10, 100  # classes; boosting grows a tree for each in every round


def baselines(table: Table) -> list[Contender | Unsuited]:
    """Chance and, where so many weights can be fitted, two linear models on single values."""
    found: list[Contender | Unsuited] = [chance(table).contender()]
    if why := table.too_many_weights:
        return [*found, Unsuited(LINEAR, why)]
    return [*found, naive_bayes(table).contender(), linear(table).contender()]


def chance(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        strategy = "uniform" if table.balanced else "prior"
        return Pipeline([("classifier", DummyClassifier(strategy=strategy, random_state=seed))])

    return Recipe(
        CHANCE, "chance", "the shares of the classes, whatever the row", build, lambda _: 0,
        cost=0.0, compiles=False,
    )  # fmt: skip


def naive_bayes(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        classifier = MultinomialNB(**setting, fit_prior=not table.balanced)
        return Pipeline([("features", atomic(table.feature_groups)), ("classifier", classifier)])

    return Recipe(
        "naive Bayes", "baseline", "counts of each value with each class", build, n_features,
        axes={"alpha": (1.0, 0.3, 0.1, 0.03)}, cost=0.5, found=weights_grid, keep=save_linear,
        calibrated_by="temperature", calibrate=_scale_naive_bayes,
    )  # fmt: skip


def linear(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        return with_linear(atomic(table.feature_groups), setting, table.class_weight, seed, threads)

    return on_features(
        LINEAR, "baseline", "logistic regression on the values of the columns", build, {}, 1.0
    )


def yardsticks(table: Table) -> list[Contender | Unsuited]:
    """Outside models as their users run them, each with why it does not apply, or nothing."""
    weight, n_classes = table.class_weight, len(table.data.classes)

    def boosting(setting: Setting, seed: int, threads: int):
        trees = LightGBMYardstick(**setting, class_weight=weight, random_state=seed, n_jobs=threads)
        return Pipeline([("classifier", trees)])

    def additive(setting: Setting, seed: int, threads: int):
        model = EBMYardstick(**setting, class_weight=weight, random_state=seed, n_jobs=threads)
        return Pipeline([("classifier", model)])

    # A round grows a tree for each class; with many classes its defaults have to do.
    axes: dict[str, Sequence[Any]] = {"num_leaves": (31,), "rounds": (100,)}
    if n_classes <= _FEW_BOOSTED:
        axes = {"num_leaves": (31, 15, 63), "rounds": (100, 300)}
    lightgbm = Recipe(
        "LightGBM", "yardstick", "boosted trees from outside, for comparison; never chosen",
        boosting, lambda model: model[-1].n_leaves_, made_of="leaves", axes=axes, cost=15.0,
    )  # fmt: skip
    ebm = Recipe(
        "EBM", "yardstick", "an additive model of boosted curves and pairs from outside, for "
        "comparison; never chosen", additive, lambda model: model[-1].n_bins_,
        made_of="bins of curves", axes={"outer_bags": (4,)}, cost=30.0,
        costs_like=("LightGBM", 80.0),
    )  # fmt: skip
    why_lightgbm = why_ebm = ""
    if n_classes > _MOST_BOOSTED:
        why_lightgbm = why_ebm = f"{n_classes:,} classes would take it hours"
    if isinstance(table.data, FeatureMatrix):
        why_ebm = "it takes columns, and these are features"
    if find_spec("lightgbm") is None:
        why_lightgbm = "the package is not installed"
    if find_spec("interpret") is None:
        why_ebm = "the package is not installed"
    return [
        Unsuited(one.name, why) if why else one.contender()
        for one, why in ((lightgbm, why_lightgbm), (ebm, why_ebm))
    ]


def _scale_naive_bayes(model: Any, value: float) -> None:
    classifier = model[-1]
    classifier.feature_log_prob_ = classifier.feature_log_prob_ * value
    classifier.class_log_prior_ = classifier.class_log_prior_ * value


def atomic(feature_groups: list[str] | None):
    """All values of all columns, and nothing else."""
    return ConjunctionInducer(score="mi", max_length=1, keep=1.0, feature_groups=feature_groups)
