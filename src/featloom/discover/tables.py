"""Tables: a row, its columns of symbols, its class.

Every contender is a plain scikit-learn pipeline: features, then a classifier.  What it has to
choose (the strength of a penalty, how many conjunctions) it chooses on a quarter of the rows it is
given, whole groups held out, from the same values of the penalty for all; then it learns from all
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.discover.contenders import Contender, Finding, Question, tallied
from featloom.discover.looks import table_warnings
from featloom.discover.recipes import Recipe, table_recipes
from featloom.evaluation.folds import make_folds
from featloom.evaluation.objective import Objective

Rows = NominalTable | FeatureMatrix

TUNED_ON = 20_000  # rows; enough to tell which setting is best
_MOST_SHOWN = 200


class TableQuestion(Question):
    """Which class does a row have?

    Parameters
    ----------
    data : rows with their classes; groups, where there are any, are never split.
    positive : class whose F1 counts; default the rarer of two, accuracy with more.
    """

    kind = "table"
    unit = "rows"

    def __init__(self, data: Rows, positive: str | None = None):
        self.data = data
        self.labels = _known(data)
        self.classes = tuple(map(str, data.classes))
        self.objective = Objective.of(self.classes, self.labels, positive)
        self.metric = self.objective.name
        n_columns = len(data.columns) if isinstance(data, NominalTable) else len(data.families)
        columns = f"{n_columns} column{'s' * (n_columns != 1)} of symbols"
        if isinstance(data, FeatureMatrix):
            columns = f"{data.shape[1]:,} binary features of {n_columns} families"
        self.words = f"a table: {len(data):,} rows, {columns}, {len(self.present)} classes"

    @cached_property
    def present(self) -> np.ndarray:
        """Codes of the classes that rows have."""
        return np.unique(self.labels)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def strata(self) -> np.ndarray:
        return self.labels

    @property
    def groups(self) -> np.ndarray | None:
        return self.data.groups

    def take(self, units: np.ndarray) -> Rows:
        return self.data.take(units)

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        groups = np.arange(len(units)) if self.groups is None else self.groups[units]
        return self.objective.counts(self.labels[units], answers, groups)

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return self.objective.of_counts

    @cached_property
    def recipes(self) -> tuple[list[Recipe], dict[str, str]]:
        return table_recipes(self.data, self.objective)

    def contenders(self) -> Sequence[Contender]:
        return [
            Contender(
                one.name, one.role, one.idea, partial(fit_recipe, one, self.objective), one.cost
            )
            for one in self.recipes[0]
        ]

    def left_out(self) -> dict[str, str]:
        return self.recipes[1]

    def data_part(self) -> dict[str, Any]:
        data = self.data
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        if isinstance(data, NominalTable):
            families = [
                {"name": name, "features": len(values), "single_valued": True}
                for name, values in zip(data.columns, data.vocabularies, strict=True)
            ]
        else:
            n_features = np.bincount(data.family_of, minlength=len(data.families)).tolist()
            families = [
                {"name": name, "features": n, "single_valued": bool(single)}
                for name, n, single in zip(
                    data.families, n_features, data.single_valued, strict=True
                )
            ]
        return {
            "source": data.source,
            "rows": len(data),
            "features": sum(family["features"] for family in families),
            "target": data.target,
            "groups": None if data.groups is None else len(np.unique(data.groups)),
            "classes": dict(zip(self.classes, sizes, strict=True)),
            "families": families,
        }

    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        return table_warnings(self.data, self.labels, learn, test)

    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        right = self.labels[units] == answers
        found = {"by_class": tallied(self.labels[units], right, self.classes)}
        if self.groups is not None:
            names = self.data.group_names or tuple(map(str, range(int(self.groups.max()) + 1)))
            found["by_group"] = tallied(self.groups[units], right, names)
        return found


@dataclass
class FittedPipeline:
    """A pipeline that has learned, as the comparison sees it."""

    recipe: Recipe
    model: Any
    chosen: dict[str, Any]
    classes: tuple[str, ...]

    @property
    def size(self) -> int:
        return self.recipe.size(self.model)

    @property
    def size_words(self) -> str:
        return f"{self.size:,} {self.recipe.made_of}"

    @property
    def setting(self) -> str:
        said = {name: value for name, value in self.chosen.items() if value is not None}
        return ", ".join(
            f"{name.replace('_', ' ')} {f'{value:g}' if isinstance(value, float) else value}"
            for name, value in said.items()
        )

    def answers(self, data: Rows) -> np.ndarray:
        code_of = {name: code for code, name in enumerate(self.classes)}
        names, places = np.unique(self.model.predict(data).astype(str), return_inverse=True)
        return np.array([code_of[name] for name in names.tolist()], dtype=np.int32)[places]

    def findings(self) -> list[Finding]:
        return self.recipe.findings(self.model, _MOST_SHOWN)

    def save(self, folder: Path) -> list[str]:
        return self.recipe.save(self.model, folder)


def fit_recipe(
    recipe: Recipe, objective: Objective, data: Rows, seed: int, threads: int
) -> FittedPipeline:
    """Choose the setting on a quarter of the rows, then learn from all of them."""
    classes = tuple(map(str, data.classes))
    choices = recipe.choices(data)
    chosen = choices[0]
    if len(choices) > 1:
        chosen = _chosen(recipe, choices, objective, data, seed, threads)
    model = recipe.build(chosen, seed, threads).fit(data, class_names(data))
    return FittedPipeline(recipe, model, chosen, classes)


def _chosen(
    recipe: Recipe, choices: list[dict], objective: Objective, data: Rows, seed: int, threads: int
) -> dict[str, Any]:
    """The setting with the best score on rows not learned from; of equals, the first."""
    parts = inner_parts(data, seed)
    if parts is None:
        return choices[0]
    learn, judge = parts
    names = class_names(learn)
    code_of = {str(name): code for code, name in enumerate(data.classes)}
    truth = _known(judge)
    best, best_value = choices[0], -np.inf
    features: dict[tuple, tuple[Any, Any]] = {}
    for setting in choices:
        pipeline = recipe.build(setting, seed, threads)
        *before, (_, classifier) = pipeline.steps
        X, Z = learn, judge
        if before:
            # Settings that differ in the classifier alone share their features.
            key = recipe.features_key(setting)
            if key not in features:
                features.clear()
                step = before[0][1].fit(learn, names)
                features[key] = step.transform(learn), step.transform(judge)
            X, Z = features[key]
        given = classifier.fit(X, names).predict(Z).astype(str)
        value = objective.value(truth, np.array([code_of[one] for one in given.tolist()]))
        if value > best_value:
            best, best_value = setting, value
    return best


def inner_parts(data: Rows, seed: int) -> tuple[Rows, Rows] | None:
    """Rows to learn from and rows to choose by; none where there are too few of either."""
    labels = _known(data)
    rows = np.arange(len(labels))
    if len(rows) > TUNED_ON:
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), TUNED_ON, replace=False))
    groups = None if data.groups is None else data.groups[rows]
    enough = len(rows) if groups is None else len(np.unique(groups))
    if enough < 8:
        return None
    fold_of = make_folds(labels[rows], n_folds=4, groups=groups, seed=seed, allow_rare=True)
    learn, judge = rows[fold_of != 0], rows[fold_of == 0]
    if len(np.unique(labels[learn])) < 2:
        return None
    return data.take(learn), data.take(judge)


def class_names(data: Rows) -> np.ndarray:
    """The class of each row by name."""
    return np.array([str(name) for name in data.classes], dtype=object)[_known(data)]


def _known(data: Rows) -> np.ndarray:
    if isinstance(data, FeatureMatrix):
        return data.known_labels
    assert data.labels is not None
    return data.labels.astype(np.int64)
