"""Pipelines that take part in comparisons of tables: features, then a classifier.

A :class:`Recipe` says how a pipeline is built and what can be set; fitted, its probabilities can be
calibrated by one number.  All linear models choose the strength of their penalty from the same
values, so that no method is tuned harder than its baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.learners.linear import LinearClassifier
from featloom.learners.plan_model import plan_model
from featloom.method import Contender, Setting
from featloom.results import Grid, grid
from featloom.runs import FEATURES, INTERACTIONS, MODEL, write_beside

STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 3.0, 10.0)
TEMPERATURES = (
    0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 2.0,
)  # fmt: skip
SMOOTHINGS = (0.003, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)
_MOST_SHOWN = 200
_MOST_WEIGHTS = 300_000_000

Rows = NominalTable | FeatureMatrix


@dataclass(frozen=True)
class Table:
    """A table, as recipes are made for it.

    Parameters
    ----------
    data : its rows.
    balanced : whether every class weighs the same; default False.
    """

    data: Rows
    balanced: bool = False

    @property
    def class_weight(self) -> str | None:
        """As scikit-learn's classifiers take it."""
        return "balanced" if self.balanced else None

    @cached_property
    def feature_groups(self) -> list[str] | None:
        """The family of each feature of a matrix; None for a table of columns."""
        if isinstance(self.data, NominalTable):
            return None
        return [self.data.families[family] for family in self.data.family_of]

    @cached_property
    def too_many_weights(self) -> str:
        """Why no linear model can be fitted, in words; "" where one can be."""
        data, n_classes = self.data, len(self.data.classes)
        if isinstance(data, NominalTable):
            n_features = sum(map(len, data.vocabularies))
        else:
            n_features = len(data.names)
        if n_classes * n_features <= _MOST_WEIGHTS:
            return ""
        return f"{n_classes:,} classes of {n_features:,} features have too many weights"


@dataclass(frozen=True)
class Recipe:
    """A pipeline, not yet fitted, and the settings it chooses from.

    Parameters
    ----------
    build : (setting, seed, threads) → Pipeline of features and a classifier, or of one classifier.
    axes : what can be set, each with its values, the default first.
    feature_axes : those of them that the features depend on.
    made_of : what ``size`` counts.
    searches, costs_like : see :class:`~featloom.method.Contender`.
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

    def contender(self) -> Contender:
        """The recipe as a comparison sees it."""
        return Contender(
            self.name, self.role, self.idea, partial(fit_each, self), self.axes, self.searches,
            self.cost, self.compiles, self.costs_like,
        )  # fmt: skip


def on_features(
    name: str,
    role: str,
    idea: str,
    build: Callable[[Setting, int, int], Any],
    of_features: Mapping[str, Sequence[Any]],
    cost: float,
) -> Recipe:
    """A linear model, whose strength is chosen from the same values whatever its features are."""
    return Recipe(
        name, role, idea, build, n_features, axes={"C": STRENGTHS, **of_features},
        feature_axes=tuple(of_features), cost=cost, found=weights_grid, keep=save_linear,
        calibrated_by="temperature", calibrate=scale_linear,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class FittedPipeline:
    """A fitted pipeline, as the comparison sees it.

    Parameters
    ----------
    shares : of the classes among the rows it was fitted on, in the order of its classes.
    learned : how many rows these were.
    data : the rows it was fitted on.
    codes : of its model's classes, those that they have in the data.
    calibration : the number by which its probabilities are calibrated; None: not yet.
    threshold : probability from which the positive class has the best F1; None: not known.
    """

    recipe: Recipe
    model: Any
    chosen: Setting
    shares: np.ndarray
    learned: int
    data: Rows
    codes: np.ndarray
    calibration: float | None = None
    threshold: float | None = None
    ask: Callable[[Any], np.ndarray] | None = None

    @property
    def calibrations(self) -> tuple[float, ...]:
        return self.recipe.calibrations

    @property
    def size(self) -> int:
        return self.recipe.size(self.model)

    @property
    def size_words(self) -> str:
        made_of = self.recipe.made_of
        if self.size == 1:
            made_of = {"leaves": "leaf"}.get(made_of, made_of.removesuffix("s"))
        return f"{self.size:,} {made_of}"

    @property
    def setting(self) -> str:
        said = {name: value for name, value in self.chosen.items() if value is not None}
        return ", ".join(
            f"{name.replace('_', ' ')} {f'{value:g}' if isinstance(value, float) else value}"
            for name, value in said.items()
        )

    def probabilities(self, data: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the classes it knows, and their probabilities for every row."""
        ask = self.model.predict_proba if self.ask is None else self.ask
        return self.codes, np.asarray(ask(data), dtype=float)

    def adjusted(self, p: np.ndarray, value: float, classes: Sequence[str]) -> np.ndarray:
        """Probabilities as they would be with another calibration."""
        if self.recipe.calibrated_by == "temperature":
            raised = np.maximum(p, 1e-300) ** value
            return raised / raised.sum(axis=1, keepdims=True)
        shares = np.zeros(len(classes))
        shares[self.codes] = self.shares
        return (1 - value) * p + value * np.maximum(shares, 0.5 / (self.learned + 1))

    def with_calibration(self, value: float) -> FittedPipeline:
        """The same with its model's probabilities calibrated."""
        self.recipe.calibrate(self.model, value)
        return replace(self, calibration=value, ask=None)

    def answers(self, data: Rows) -> np.ndarray:
        codes, p = self.probabilities(data)
        return codes[p.argmax(axis=1)]

    def findings(self) -> list[Grid]:
        return self.recipe.findings(self.model, _MOST_SHOWN)

    def save(self, folder: Path) -> list[str]:
        return self.recipe.save(self.model, folder, self.data)


def fit_each(
    recipe: Recipe, data: Rows, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedPipeline]:
    """Fit every setting; features that several have in common are made once."""
    names = data.class_values[data.known_labels]
    present, sizes = np.unique(names, return_counts=True)
    codes = Vocabulary(data.class_values.tolist()).find(present.tolist())
    kept: dict[str, tuple[Any, Any, list[Any]]] = {}
    asks = recipe.asked_together(data, names, settings, threads) if recipe.asked_together else None
    for place, setting in enumerate(settings):
        model = recipe.build(setting, seed, threads)
        if len(model.steps) == 1:
            model = model.fit(data, names)
        else:
            of_features = repr([setting[axis] for axis in recipe.feature_axes])
            if of_features not in kept:
                step = model[0]
                kept = {of_features: (step, step.fit_transform(data, names), [])}
            step, seen, fitted = kept[of_features]
            model.steps[0] = (model.steps[0][0], step)
            _fit_from_nearest(model[-1], seen, names, fitted)
        ask = None if asks is None else partial(asks, place)
        yield FittedPipeline(
            recipe, model, setting, sizes / len(names), len(names), data, codes, ask=ask
        )  # fmt: skip


def _fit_from_nearest(classifier: Any, X: Any, names: np.ndarray, fitted: list[Any]) -> None:
    """Fit a classifier; a linear one sets out from that of the nearest C on the same features."""
    if not isinstance(classifier, LinearClassifier):
        classifier.fit(X, names)
        return
    near = min(fitted, key=lambda one: abs(np.log(one.C / classifier.C)), default=None)
    fitted.append(classifier.fit(X, names, start=near))


def with_linear(features: Any, setting: Setting, weight: str | None, seed: int, threads: int):
    classifier = LinearClassifier(
        C=setting["C"], class_weight=weight, n_jobs=threads, random_state=seed
    )
    return Pipeline([("features", features), ("classifier", classifier)])


def n_features(model: Any) -> int:
    return int(model[-1].n_features_in_)


def scale_linear(model: Any, value: float) -> None:
    """Scores multiplied by a number, which makes probabilities bolder or more careful."""
    classifier = model[-1]
    classifier.coef_ = classifier.coef_ * value
    classifier.intercept_ = classifier.intercept_ * value


def weights_grid(model: Any, most: int) -> list[Grid]:
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


def save_linear(pipeline: Any, folder: Path, learned: Any) -> list[str]:
    """A linear model over features: the model file, and the features as a plan in JSON.

    Templates that trees grew are written as interactions of Vowpal Wabbit too.  ``learned``: the
    rows that it was fitted on.
    """
    model = plan_model(pipeline, learned=learned)
    model.save(folder / MODEL)
    write_beside(folder / FEATURES, model.plan.to_json() + "\n")
    names = [MODEL, FEATURES]
    grown = pipeline[0]
    if hasattr(grown, "to_vw"):
        write_beside(folder / INTERACTIONS, grown.to_vw() + "\n")
        names.append(INTERACTIONS)
    return names


def save_memory(pipeline: Any, folder: Path, learned: Any) -> list[str]:
    """Stored cases, which are the rows that were learned, with the way they are compared."""
    memory = getattr(pipeline[-1], "best_estimator_", pipeline[-1])
    memory.save(folder / MODEL)
    return [MODEL]
