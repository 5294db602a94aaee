"""Linear models on the features of templates, and what each template is worth to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from featloom.data.class_types import type_of_values
from featloom.data.row_prints import RowPrints
from featloom.data.table import NominalTable
from featloom.features.template import Template
from featloom.learners.inputs import class_names
from featloom.learners.linear import LinearClassifier
from featloom.learners.plan_model import PlanModel
from featloom.methods.tree_templates.features import SeenFeatures, rows_of_ones

_DROPS, _DROP_ROWS = 200, 20_000
# Bytes of a weight while a model is fitted; of a row for each template and class.
_WEIGHT, _OF_TEMPLATE, _OF_CLASS = 80, 28, 32
_LEAST_ROWS = 1_000


class LinearModel:
    """A logistic regression on the features of rows.

    Parameters
    ----------
    features : those it may use; tables must be in their vocabularies.
    rows : with classes, to learn from.
    strength : scikit-learn's C; a higher one lets weights grow larger.
    start : a fitted one with the same features and rows, whose optimum may be near.

    Examples
    --------
    >>> from featloom.features.template import Template
    >>> rows = NominalTable.from_columns({"letter": list("ckck")}, labels=list("SKSK"))
    >>> model = LinearModel(SeenFeatures(rows, [Template((("letter", 0),))]), rows, 1.0)
    >>> model.predict(rows).tolist(), model.drops(rows)
    (['S', 'K', 'S', 'K'], {'letter': 0.5})
    """

    def __init__(
        self,
        features: SeenFeatures,
        rows: NominalTable,
        strength: float,
        *,
        seed: int = 0,
        jobs: int = 1,
        start: LinearModel | None = None,
    ):
        self.features = features
        self._model = LinearClassifier(C=strength, n_jobs=jobs, random_state=seed)
        self._model.fit(
            features.matrix(rows), rows.row_classes(), None if start is None else start._model
        )
        self.classes = self._model.classes_
        self.weights, self.biases = self._model.coef_.T, self._model.intercept_
        if len(self.classes) == 2:
            # The weights are those of the second class; those of the first are 0.
            self.weights = np.hstack([np.zeros_like(self.weights), self.weights])
            self.biases = np.array([0.0, float(self.biases[0])])

    def predict(self, rows: NominalTable) -> np.ndarray:
        """The class of each row."""
        return self._named(self.scores(self.features.codes(rows)))

    def scores(self, codes: np.ndarray) -> np.ndarray:
        """(rows, classes) sums of the weights of features, given by their numbers."""
        return rows_of_ones(codes, len(self.weights)) @ self.weights + self.biases

    def drops(self, rows: NominalTable, *, seed: int = 0) -> dict[str, float]:
        """The share of right rows lost without the weights of one template at a time."""
        if len(rows) > _DROP_ROWS:
            drawn = np.random.default_rng(seed).choice(len(rows), _DROP_ROWS, replace=False)
            rows = rows.take(np.sort(drawn))
        gold = rows.row_classes(type_of_values(self.classes))
        codes = self.features.codes(rows)
        scores = self.scores(codes)
        right = float((self._named(scores) == gold).mean())
        drops = {}
        for t, template in enumerate(self.features.expansion.templates[:_DROPS]):
            own = np.where((codes[:, t] >= 0)[:, None], self.weights[codes[:, t]], 0)
            without = float((self._named(scores - own) == gold).mean())
            drops[str(template)] = right - without
        return drops

    def kept(self, rows: NominalTable) -> PlanModel:
        """The model as a file keeps it; ``rows`` are those that it was fitted on."""
        features = self.features.feature_list()
        model = PlanModel.of(
            features,
            features.columns,
            self._model.coef_,
            self._model.intercept_,
            class_names(rows, self.classes),
            target=rows.target,
            class_type=rows.class_type,
        )
        return replace(model, learned=RowPrints.of(rows))

    def _named(self, scores: np.ndarray) -> np.ndarray:
        return self.classes[scores.argmax(axis=1)]


def rows_with_room(rows: NominalTable, n_templates: int, room: int) -> NominalTable:
    """As many rows, evenly spaced, as a model can take or answer at once in so many bytes."""
    of_row = _OF_TEMPLATE * n_templates + _OF_CLASS * len(rows.classes)
    n = min(len(rows), max(_LEAST_ROWS, room // of_row))
    return rows.take(np.arange(n) * len(rows) // n)


def cutoff_with_room(rows: NominalTable, templates: Sequence[Template], room: int) -> int:
    """How many rows must have a feature for a model of all such features to fit in so many bytes.

    >>> rows = NominalTable.from_columns({"letter": list("ckcs")}, labels=list("SKSS"))
    >>> [cutoff_with_room(rows, [Template((("letter", 0),))], room) for room in (1000, 400, 100)]
    [1, 2, 3]
    """
    n_classes = len(np.unique(rows.row_classes()))
    most = room // (n_classes * _WEIGHT)
    codes = SeenFeatures(rows, templates).codes(rows)
    counts = np.sort(np.bincount(codes[codes >= 0]))[::-1]
    return 1 if len(counts) <= most else int(counts[most]) + 1
