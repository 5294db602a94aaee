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
from featloom.evaluation.objective import Objective

Rows = NominalTable | FeatureMatrix

TUNED_ON = 10_000  # rows; enough to tell which setting is best
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
                one.name,
                one.role,
                one.idea,
                partial(fit_recipe, one, self.objective),
                one.cost,
                TUNED_ON if one.is_tuned else None,
                one.compiles,
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
        made_of = self.recipe.made_of
        return f"{self.size:,} {made_of.removesuffix('s') if self.size == 1 else made_of}"

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
    parts = inner_parts(data, seed) if recipe.is_tuned else None
    if parts is None:
        chosen = {**recipe.of_features[0], **_middle(recipe.of_classifier)}
    else:
        chosen = _Tuning(recipe, objective, parts, seed, threads).best()
    model = recipe.build(chosen, seed, threads).fit(data, class_names(data))
    return FittedPipeline(recipe, model, chosen, tuple(map(str, data.classes)))


class _Tuning:
    """The setting of a recipe with the best score on rows not learned from."""

    def __init__(self, recipe: Recipe, objective: Objective, parts: tuple[Rows, Rows], *how: int):
        learn, judge = parts
        self.recipe, self.objective, self.how = recipe, objective, how  # seed and threads
        self.learn, self.judge, self.names = learn, judge, class_names(learn)
        self.code_of = {str(name): code for code, name in enumerate(learn.classes)}
        self.truth = _known(judge)

    def best(self) -> dict[str, Any]:
        """Features first, then the classifier on them; of equals, the first."""
        middle = _middle(self.recipe.of_classifier)
        tried = [(one, self._seen(one)) for one in self.recipe.of_features]
        values = [0.0]
        if len(tried) > 1:
            values = [self._value({**one, **middle}, seen) for one, seen in tried]
        features, seen = tried[int(np.argmax(values))]
        if len(self.recipe.of_classifier) == 1:
            return {**features, **middle}
        settings = [{**features, **one} for one in self.recipe.of_classifier]
        return settings[int(np.argmax([self._value(one, seen) for one in settings]))]

    def _seen(self, features: dict[str, Any]) -> tuple[Any, Any]:
        """The rows as the classifier sees them."""
        setting = {**features, **_middle(self.recipe.of_classifier)}
        *before, _ = self.recipe.build(setting, *self.how).steps
        if not before:
            return self.learn, self.judge
        step = before[0][1].fit(self.learn, self.names)
        return step.transform(self.learn), step.transform(self.judge)

    def _value(self, setting: dict[str, Any], seen: tuple[Any, Any]) -> float:
        learn, judge = seen
        classifier = self.recipe.build(setting, *self.how)[-1]
        given = classifier.fit(learn, self.names).predict(judge).astype(str)
        return self.objective.value(
            self.truth, np.array([self.code_of[one] for one in given.tolist()])
        )


def _middle(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """The one in the middle of a range, neither weak nor strong."""
    return settings[len(settings) // 2]


def inner_parts(data: Rows, seed: int) -> tuple[Rows, Rows] | None:
    """Rows to learn from and a quarter to choose by; None where there are too few of either."""
    labels, draw = _known(data), np.random.default_rng(seed)
    rows = np.arange(len(labels))
    if len(rows) > TUNED_ON:
        rows = np.sort(draw.choice(len(rows), TUNED_ON, replace=False))
    if data.groups is None:
        groups = np.arange(len(rows))
    else:
        groups = np.unique(data.groups[rows], return_inverse=True)[1]
    sizes = np.bincount(groups)
    if len(sizes) < 8:
        return None
    order = draw.permutation(len(sizes))
    held_out = np.zeros(len(sizes), dtype=bool)
    held_out[order] = np.cumsum(sizes[order]) <= len(rows) // 4
    learn, judge = rows[~held_out[groups]], rows[held_out[groups]]
    if not len(judge) or len(np.unique(labels[learn])) < 2:
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
