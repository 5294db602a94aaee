"""The contenders for a table: how each pipeline is built, and what can be set.

All linear models choose the strength of their penalty from the same values, so that no method is
tuned harder than its baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

from featloom.compare.contenders import Setting
from featloom.compare.yardsticks import EBMYardstick, LightGBMYardstick
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.discover.kept import save_linear, save_memory
from featloom.learners.linear import LinearClassifier
from featloom.learners.memory import MemoryClassifier, memory_grid
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.settings import SMOOTHINGS
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.family_templates import FamilyTemplates
from featloom.results import Grid, grid

LINEAR, CHANCE = "linear model", "class shares"
STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 3.0, 10.0)
TEMPERATURES = (
    0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 2.0,
)  # fmt: skip
_MOST_WEIGHTS = 300_000_000
_MOST_COLUMNS = 100  # of a table whose rows are compared one by one
_SEARCHED = 60  # settings of a memory that are tried, where nothing else is asked for
_FEW_BOOSTED, _MOST_BOOSTED = 10, 100  # classes; boosting grows a tree for each in every round

Rows = NominalTable | FeatureMatrix


@dataclass(frozen=True)
class Recipe:
    """A pipeline, not yet fitted, and the settings it chooses from.

    Parameters
    ----------
    build : (setting, seed, threads) → Pipeline of features and a classifier, or of one classifier.
    axes : what can be set, each with its values, the default first.
    feature_axes : those of them that the features depend on.
    made_of : what ``size`` counts.
    searches, costs_like : see :class:`~featloom.compare.contenders.Contender`.
    calibrated_by : "temperature", by which scores are multiplied, or "smoothing", the share of the
        class shares that is mixed in; "" where probabilities are taken as they come.
    calibrate : (fitted pipeline, value) sets it.
    asked_together : (rows, classes, settings, threads) → (place of a setting, rows) →
        probabilities, where several settings are cheaper together; or None.
    """

    name: str
    role: str
    idea: str
    build: Callable[[Setting, int, int], Any]
    size: Callable[[Any], int]
    made_of: str = "features"
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    feature_axes: tuple[str, ...] = ()
    cost: float = 1.0
    compiles: bool = True
    searches: bool = False
    costs_like: tuple[str, float] = ("", 0.0)
    calibrated_by: str = ""
    calibrate: Callable[[Any, float], None] = lambda *_: None
    asked_together: Callable[..., Callable[[int, Any], np.ndarray]] | None = None
    found: Callable[[Any, int], list[Grid]] = lambda *_: []
    keep: Callable[[Any, Path, Rows], list[str]] = lambda *_: []

    @property
    def calibrations(self) -> tuple[float, ...]:
        """Values that are tried, from which the best is taken on rows not learned from."""
        return {"temperature": TEMPERATURES, "smoothing": SMOOTHINGS}.get(self.calibrated_by, ())

    def findings(self, model: Any, most: int) -> list[Grid]:
        return self.found(model, most)

    def save(self, model: Any, folder: Path, learned: Rows) -> list[str]:
        return self.keep(model, folder, learned)


def table_recipes(data: Rows, balanced: bool = False) -> tuple[list[Recipe], dict[str, str]]:
    """What applies to a table, cheap ones first; and what does not, with the reason.

    ``balanced``: every class weighs the same.
    """
    left_out = {
        "template search": "rows are not tokens of sentences",
        "transfer": "there is no column that names a task (--task)",
    }
    groups = None
    if isinstance(data, FeatureMatrix):
        groups = [data.families[family] for family in data.family_of]
    n_classes = len(data.classes)
    n_features = len(data.names) if isinstance(data, FeatureMatrix) else _values(data)
    recipes = [_chance(balanced), _naive_bayes(groups, balanced)]
    linear = [
        make(groups, "balanced" if balanced else None)
        for make in (_linear, _selection, _induction, _trees)
    ]
    if n_classes * n_features > _MOST_WEIGHTS:
        too_many = f"{n_classes:,} classes of {n_features:,} features have too many weights"
        left_out |= {one.name: too_many for one in linear}
        recipes = [recipes[0]]
    else:
        if isinstance(data, FeatureMatrix) and not data.single_valued.any():
            left_out[linear.pop().name] = "no family has one value a row"
        recipes += linear
    why = "its votes know no class weights" if balanced else _not_comparable(data)
    memory = [_memory(), _memory_search()]
    if why:
        left_out |= {one.name: why for one in memory}
    else:
        recipes += memory
    for one, why in _yardsticks(data, n_classes, "balanced" if balanced else None):
        if why:
            left_out[one.name] = why
        else:
            recipes.append(one)
    return sorted(recipes, key=lambda one: one.cost), left_out


def _chance(balanced: bool) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        strategy = "uniform" if balanced else "prior"
        return Pipeline([("classifier", DummyClassifier(strategy=strategy, random_state=seed))])

    return Recipe(
        CHANCE, "chance", "the shares of the classes, whatever the row", build, lambda _: 0,
        cost=0.0, compiles=False,
    )  # fmt: skip


def _naive_bayes(groups: list[str] | None, balanced: bool) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        classifier = MultinomialNB(**setting, fit_prior=not balanced)
        return Pipeline([("features", _atomic(groups)), ("classifier", classifier)])

    return Recipe(
        "naive Bayes", "baseline", "counts of each value with each class", build, _n_features,
        axes={"alpha": (1.0, 0.3, 0.1, 0.03)}, cost=0.5, found=_weights, keep=save_linear,
        calibrated_by="temperature", calibrate=_scale_naive_bayes,
    )  # fmt: skip


def _linear(groups: list[str] | None, weight: str | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        return _with_linear(_atomic(groups), setting, weight, seed, threads)

    return _on_features(
        LINEAR, "baseline", "logistic regression on the values of the columns", build, {}, 1.0
    )


def _selection(groups: list[str] | None, weight: str | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        selected = ConjunctionInducer(
            score="fisher", max_length=1, keep=setting["keep"], feature_groups=groups
        )
        return _with_linear(selected, setting, weight, seed, threads)

    return _on_features(
        "selection", "method", "the values that Fisher's test finds most telling", build,
        {"keep": (0.2, 0.5, 0.05)}, 2.0,
    )  # fmt: skip


def _induction(groups: list[str] | None, weight: str | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        joined = ConjunctionInducer(
            final_keep=setting["conjunctions"], feature_groups=groups, n_jobs=threads
        )
        return _with_linear(joined, setting, weight, seed, threads)

    return _on_features(
        "induction", "method", "values, and pairs of them that tell more together", build,
        {"conjunctions": (1000, 300, 4000, 100)}, 4.0,
    )  # fmt: skip


def _trees(groups: list[str] | None, weight: str | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        grown: Any = TreeTemplates(
            max_length=setting["max_length"], n_trees=1, columns_per_tree=None, random_state=seed
        )
        if groups is not None:
            grown = FamilyTemplates(grown, feature_groups=groups)
        return _with_linear(grown, setting, weight, seed, threads)

    return replace(
        _on_features(
            "tree templates", "method", "columns joined along the paths of decision trees", build,
            {"max_length": (3, 2, 6)}, 5.0,
        ),
        found=_templates_and_weights,
    )  # fmt: skip


def _on_features(
    name: str,
    role: str,
    idea: str,
    build: Callable[[Setting, int, int], Any],
    of_features: Mapping[str, Sequence[Any]],
    cost: float,
) -> Recipe:
    """A linear model, whose strength is chosen from the same values whatever its features are."""
    return Recipe(
        name, role, idea, build, _n_features, axes={"C": STRENGTHS, **of_features},
        feature_axes=tuple(of_features), cost=cost, found=_weights, keep=save_linear,
        calibrated_by="temperature", calibrate=_scale_linear,
    )  # fmt: skip


def _memory() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        memory = MemoryClassifier(**setting, decay="scale", n_jobs=threads)
        return Pipeline([("classifier", memory)])

    return Recipe(
        "memory", "method", "the class of the most similar stored rows", build,
        lambda model: len(model[-1]._labels), made_of="stored rows",
        axes={
            "k": (1, 3, 7, 15, 31), "metric": ("overlap", "mvdm"),
            "vote": ("exponential", "count", "inverse_distance"), "weights": ("gain_ratio", "none"),
        },
        cost=3.0, found=_memory_weights, keep=save_memory, calibrated_by="smoothing",
        calibrate=_smooth, asked_together=_asked_together,
    )  # fmt: skip


def _memory_search() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        search = MemorySearch(
            cv=3, trials=setting.get("trials", _SEARCHED), decay="scale", compat=None,
            scoring="log_loss", n_jobs=threads, random_state=seed,
        )  # fmt: skip
        return Pipeline([("classifier", search)])

    return Recipe(
        "memory search", "method", "memory, with each column's use searched", build,
        lambda model: len(model[-1].best_estimator_._labels), made_of="stored rows", cost=20.0,
        found=_memory_weights, keep=save_memory, searches=True,  # the smoothing with the rest
    )  # fmt: skip


def _yardsticks(data: Rows, n_classes: int, weight: str | None) -> list[tuple[Recipe, str]]:
    """Outside models as their users run them, each with why it does not apply, or nothing."""
    is_matrix = isinstance(data, FeatureMatrix)

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
    if is_matrix:
        why_ebm = "it takes columns, and these are features"
    if find_spec("lightgbm") is None:
        why_lightgbm = "the package is not installed"
    if find_spec("interpret") is None:
        why_ebm = "the package is not installed"
    return [(lightgbm, why_lightgbm), (ebm, why_ebm)]


def _scale_linear(model: Any, value: float) -> None:
    """Scores multiplied by a number, which makes probabilities bolder or more careful."""
    classifier = model[-1]
    classifier.coef_ = classifier.coef_ * value
    classifier.intercept_ = classifier.intercept_ * value


def _scale_naive_bayes(model: Any, value: float) -> None:
    classifier = model[-1]
    classifier.feature_log_prob_ = classifier.feature_log_prob_ * value
    classifier.class_log_prior_ = classifier.class_log_prior_ * value


def _smooth(model: Any, value: float) -> None:
    memory = getattr(model[-1], "best_estimator_", model[-1])
    memory.set_params(smoothing=value)


def _asked_together(
    data: Rows, names: np.ndarray, settings: Sequence[Setting], threads: int
) -> Callable[[int, Any], np.ndarray]:
    """Probabilities of memories that differ in a setting, from as few searches as that takes."""
    kept: list[Any] = [None, None]
    settings = [{**setting, "decay": "scale"} for setting in settings]

    def ask(place: int, asked: Any) -> np.ndarray:
        if kept[0] is not asked:
            kept[:] = asked, memory_grid(data, names, asked, settings, n_jobs=threads)
        return kept[1][place]

    return ask


def _atomic(groups: list[str] | None):
    """All values of all columns, and nothing else."""
    return ConjunctionInducer(score="mi", max_length=1, keep=1.0, feature_groups=groups)


def _with_linear(features: Any, setting: Setting, weight: str | None, seed: int, threads: int):
    classifier = LinearClassifier(
        C=setting["C"], class_weight=weight, n_jobs=threads, random_state=seed
    )
    return Pipeline([("features", features), ("classifier", classifier)])


def _values(table: NominalTable) -> int:
    return sum(map(len, table.vocabularies))


def _not_comparable(data: Rows) -> str:
    """Why rows cannot be compared column by column; empty where they can."""
    if isinstance(data, FeatureMatrix):
        several = [
            name
            for name, single in zip(data.families, data.single_valued, strict=True)
            if not single
        ]
        if several:
            return f"rows have several values of {several[0]}; nearest rows need columns"
        n_columns = len(data.families)
        return f"{n_columns:,} families of features are no table of columns"
    if len(data.columns) > _MOST_COLUMNS:
        return f"{len(data.columns):,} columns are too many to compare rows by"
    return ""


def _n_features(model: Any) -> int:
    return int(model[-1].n_features_in_)


def _weights(model: Any, most: int) -> list[Grid]:
    """The features with the largest weights, each with the class that it speaks for."""
    classifier = model[-1]
    weights = getattr(classifier, "coef_", None)
    if weights is None:
        log = classifier.feature_log_prob_
        weights = log - log.mean(axis=0)
    features = model[0].feature_list()
    classes = [str(name) for name in classifier.classes_]
    if len(weights) == 1:
        strength, towards = np.abs(weights[0]), (weights[0] > 0).astype(int)
    else:
        towards = weights.argmax(axis=0)
        strength = weights.max(axis=0)
    best = np.argsort(-strength, kind="stable")[:most]
    rows = [
        [features.name(int(j)), classes[towards[j]], round(float(strength[j]), 4)] for j in best
    ]
    columns = {"feature": "feature", "speaks for": "text", "weight": "number"}
    return [grid("features by weight", columns, rows)]


def _templates_and_weights(model: Any, most: int) -> list[Grid]:
    grown = model[0]
    templates = getattr(grown, "grown_", None) or grown.templates_.grown_
    rows = [
        [str(one.template), round(float(one.gain), 1), round(float(one.coverage), 4)]
        for one in templates[:most]
    ]
    columns = {"columns joined": "feature", "gain in bits": "number", "share of rows": "share"}
    found = grid("templates", columns, rows)
    return [found, *_weights(model, most)]


def _memory_weights(model: Any, most: int) -> list[Grid]:
    memory = getattr(model[-1], "best_estimator_", model[-1])
    columns = memory._reader.table.columns
    rows = [
        [name, mode, round(float(weight), 5)]
        for name, mode, weight in zip(columns, memory.modes_, memory.weights_, strict=True)
    ]
    columns_of = {"column": "text", "compared by": "text", "weight": "number"}
    return [grid("columns", columns_of, rows[:most])]
