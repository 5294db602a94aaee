"""The contenders for a table: how each pipeline is built, and what it has to choose.

All linear models choose the strength of their penalty from the same values, so that no method is
tuned harder than its baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.discover.contenders import Finding
from featloom.evaluation.objective import Objective

STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LINEAR = "linear model"
_MOST_WEIGHTS = 300_000_000
_MOST_COLUMNS = 100  # of a table whose rows are compared one by one
_FEW_BOOSTED, _MOST_BOOSTED = 10, 100  # classes; boosting grows a tree for each in every round

Rows = NominalTable | FeatureMatrix
Setting = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """A pipeline, not yet fitted, and the settings it chooses from.

    Parameters
    ----------
    build : (setting, seed, threads) → Pipeline of features and a classifier, or of one classifier.
    features : settings of the features, tried with a classifier in the middle of its range.
    classifier : settings of the classifier, tried on the features that did best.
    made_of : what ``size`` counts.
    """

    name: str
    role: str
    idea: str
    build: Callable[[Setting, int, int], Any]
    size: Callable[[Any], int]
    made_of: str = "features"
    features: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classifier: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    cost: float = 1.0
    compiles: bool = True
    found: Callable[[Any, int], list[Finding]] = lambda *_: []
    keep: Callable[[Any, Path], list[str]] = lambda *_: []

    @property
    def of_features(self) -> list[Setting]:
        """Every setting of the features."""
        return _all_of(self.features)

    @property
    def of_classifier(self) -> list[Setting]:
        """Every setting of the classifier."""
        return _all_of(self.classifier)

    @property
    def is_tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.of_features) * len(self.of_classifier) > 1

    def findings(self, model: Any, most: int) -> list[Finding]:
        return self.found(model, most)

    def save(self, model: Any, folder: Path) -> list[str]:
        return self.keep(model, folder)


def _all_of(grid: Mapping[str, Sequence[Any]]) -> list[Setting]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def table_recipes(data: Rows, objective: Objective) -> tuple[list[Recipe], dict[str, str]]:
    """What applies to a table, cheap ones first; and what does not, with the reason."""
    left_out = {
        "template search": "rows are not tokens of sentences",
        "transfer": "there is no column that names a task (--task)",
    }
    groups = None
    if isinstance(data, FeatureMatrix):
        groups = [data.families[family] for family in data.family_of]
    assert data.labels is not None
    n_classes = len(np.unique(data.labels))
    n_features = len(data.names) if isinstance(data, FeatureMatrix) else _values(data)
    recipes = [_chance(objective, data), _naive_bayes(groups)]
    linear = [_linear(groups), _selection(groups), _induction(groups), _trees(groups)]
    if n_classes * n_features > _MOST_WEIGHTS:
        too_many = f"{n_classes:,} classes of {n_features:,} features have too many weights"
        left_out |= {one.name: too_many for one in linear}
        recipes = [recipes[0]]
    else:
        if isinstance(data, FeatureMatrix) and not data.single_valued.any():
            left_out[linear.pop().name] = "no family has one value a row"
        recipes += linear
    why = _not_comparable(data)
    memory = [_memory(), _memory_search()]
    if why:
        left_out |= {one.name: why for one in memory}
    else:
        recipes += memory
    boosted = _boosting(groups is not None, n_classes)
    if find_spec("lightgbm") is None:
        left_out[boosted.name] = "the package is not installed"
    elif n_classes > _MOST_BOOSTED:
        left_out[boosted.name] = f"{n_classes:,} classes would take it hours"
    else:
        recipes.append(boosted)
    return sorted(recipes, key=lambda one: one.cost), left_out


def _chance(objective: Objective, data: Rows) -> Recipe:
    if objective.positive is None:
        name, constant = "most frequent class", None
    else:
        # No other answer that looks at nothing has a higher F1.
        constant = str(data.classes[objective.positive])
        name = f"always {constant}"

    def build(setting: Setting, seed: int, threads: int):
        from sklearn.pipeline import Pipeline

        from featloom.discover.blind import SameAnswer

        return Pipeline([("answer", SameAnswer(constant=constant))])

    idea = "the same answer whatever the row"
    return Recipe(name, "chance", idea, build, lambda _: 0, cost=0.0)


def _naive_bayes(groups: list[str] | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import Pipeline

        return Pipeline([("features", _atomic(groups)), ("classifier", MultinomialNB(**setting))])

    return Recipe(
        "naive Bayes", "baseline", "counts of each value with each class", build, _n_features,
        classifier={"alpha": (0.03, 0.1, 0.3, 1.0)}, cost=0.5, found=_weights, keep=_save_linear,
    )  # fmt: skip


def _linear(groups: list[str] | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        return _with_linear(_atomic(groups), setting, seed, threads)

    return Recipe(
        LINEAR, "baseline", "logistic regression on the values of the columns", build, _n_features,
        classifier={"C": STRENGTHS}, cost=1.0, found=_weights, keep=_save_linear,
    )  # fmt: skip


def _selection(groups: list[str] | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from featloom.methods.induction import ConjunctionInducer

        selected = ConjunctionInducer(
            score="fisher", max_length=1, keep=setting["keep"], feature_groups=groups
        )
        return _with_linear(selected, setting, seed, threads)

    return Recipe(
        "selection", "method", "the values that Fisher's test finds most telling", build,
        _n_features, features={"keep": (0.05, 0.2, 0.5)}, classifier={"C": STRENGTHS}, cost=2.0,
        found=_weights, keep=_save_linear,
    )  # fmt: skip


def _induction(groups: list[str] | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from featloom.methods.induction import ConjunctionInducer

        joined = ConjunctionInducer(
            final_keep=setting["conjunctions"], feature_groups=groups, n_jobs=threads
        )
        return _with_linear(joined, setting, seed, threads)

    return Recipe(
        "induction", "method", "values, and pairs of them that tell more together", build,
        _n_features, features={"conjunctions": (300, 1000, 4000)}, classifier={"C": STRENGTHS},
        cost=4.0, found=_weights, keep=_save_linear,
    )  # fmt: skip


def _trees(groups: list[str] | None) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from featloom.methods.tree_templates import TreeTemplates
        from featloom.methods.tree_templates.family_templates import FamilyTemplates

        grown: Any = TreeTemplates(
            max_length=setting["max_length"], n_trees=setting["trees"],
            columns_per_tree=None, random_state=seed,
        )  # fmt: skip
        if groups is not None:
            grown = FamilyTemplates(grown, feature_groups=groups)
        return _with_linear(grown, setting, seed, threads)

    return Recipe(
        "tree templates", "method", "columns joined along the paths of decision trees", build,
        _n_features, features={"trees": (1,), "max_length": (2, 3, 6)},
        classifier={"C": STRENGTHS}, cost=5.0, found=_templates_and_weights, keep=_save_linear,
    )  # fmt: skip


def _memory() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from sklearn.pipeline import Pipeline

        from featloom.learners.memory import MemoryClassifier

        return Pipeline([("classifier", MemoryClassifier(**setting, n_jobs=threads))])

    return Recipe(
        "memory", "method", "the class of the most similar stored rows", build,
        lambda model: len(model[-1]._labels), made_of="stored rows",
        classifier={
            "metric": ("overlap", "mvdm"), "weights": ("gain_ratio", "none"), "k": (1, 3, 7, 15),
        },
        cost=3.0, found=_memory_weights, keep=_save_memory,
    )  # fmt: skip


def _memory_search() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from sklearn.pipeline import Pipeline

        from featloom.methods.memory_search import MemorySearch

        search = MemorySearch(cv=3, budget=60, compat=None, n_jobs=threads, random_state=seed)
        return Pipeline([("classifier", search)])

    return Recipe(
        "memory search", "method", "memory, with each column's use searched", build,
        lambda model: len(model[-1].best_estimator_._labels), made_of="stored rows", cost=20.0,
        found=_memory_weights, keep=_save_memory,
    )  # fmt: skip


def _boosting(is_matrix: bool, n_classes: int) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        from sklearn.pipeline import Pipeline

        from featloom.discover.blind import Codes, boosted_trees

        trees = boosted_trees(setting, seed, threads, categorical=not is_matrix)
        return Pipeline([("features", Codes()), ("classifier", trees)])

    # A round grows a tree for each class; with many classes its defaults have to do.
    tuned = n_classes <= _FEW_BOOSTED
    return Recipe(
        "LightGBM", "yardstick", "boosted trees from outside, for comparison; never chosen", build,
        lambda model: model[-1].n_leaves_, made_of="leaves",
        classifier={
            "num_leaves": (15, 63) if tuned else (31,), "rounds": (100, 300) if tuned else (100,),
        },
        cost=15.0, compiles=False,
    )  # fmt: skip


def _atomic(groups: list[str] | None):
    """All values of all columns, and nothing else."""
    from featloom.methods.induction import ConjunctionInducer

    return ConjunctionInducer(score="mi", max_length=1, keep=1.0, feature_groups=groups)


def _with_linear(features: Any, setting: Setting, seed: int, threads: int):
    from sklearn.pipeline import Pipeline

    from featloom.learners.linear import LinearClassifier

    classifier = LinearClassifier(C=setting["C"], n_jobs=threads, random_state=seed)
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


def _weights(model: Any, most: int) -> list[Finding]:
    """The features with the largest weights, each with the class that it speaks for."""
    classifier = model[-1]
    weights = getattr(classifier, "coef_", None)
    if weights is None:
        log = classifier.feature_log_prob_
        weights = log - log.mean(axis=0)
    names = model[0].get_feature_names_out()
    classes = [str(name) for name in classifier.classes_]
    if len(weights) == 1:
        strength, towards = np.abs(weights[0]), (weights[0] > 0).astype(int)
    else:
        towards = weights.argmax(axis=0)
        strength = weights.max(axis=0)
    best = np.argsort(-strength, kind="stable")[:most]
    rows = [[str(names[j]), classes[towards[j]], round(float(strength[j]), 4)] for j in best]
    return [Finding("features by weight", ["feature", "speaks for", "weight"], rows)]


def _templates_and_weights(model: Any, most: int) -> list[Finding]:
    grown = model[0]
    templates = getattr(grown, "grown_", None) or grown.templates_.grown_
    rows = [
        [str(one.template), round(float(one.gain), 1), round(float(one.coverage), 4)]
        for one in templates[:most]
    ]
    found = Finding("templates", ["columns joined", "gain in bits", "share of rows"], rows)
    return [found, *_weights(model, most)]


def _memory_weights(model: Any, most: int) -> list[Finding]:
    memory = getattr(model[-1], "best_estimator_", model[-1])
    columns = memory._reader.table.columns
    rows = [
        [name, mode, round(float(weight), 5)]
        for name, mode, weight in zip(columns, memory.modes_, memory.weights_, strict=True)
    ]
    return [Finding("columns", ["column", "compared by", "weight"], rows[:most])]


def _save_linear(model: Any, folder: Path) -> list[str]:
    from featloom.discover.kept import save_linear

    return save_linear(model, folder)


def _save_memory(model: Any, folder: Path) -> list[str]:
    from featloom.discover.kept import save_memory

    return save_memory(model, folder)
