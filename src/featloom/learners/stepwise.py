"""Stepwise selection of binary features by minimum description length.

A message that lets a reader rebuild the targets has two parts: the model, and the errors that the
model leaves.  A feature is worth choosing when the bits that it saves on the errors are more than
the bits that it costs to name it and its weight.  The plain cost is that of a feature picked from
m candidates, all alike, and two bits for its weight (the risk inflation criterion):

    log₂ m + 2.

A prior learned from other tasks makes likely features cheaper:  −log₂ P(feature) + 2.

Errors are coded as Gaussian (least squares) or as Bernoulli (logistic regression).  The variance
of the Gaussian is that of the null model ("null"), of the model so far ("current": it tends to
choose far too many), or the best one for each model ("profile").

Dhillon and Ungar, "Transfer Learning, Feature Selection and Word Sense Disambiguation" (2009).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import MakesFeatures, encode_target
from featloom.learners.stepwise_paths import (
    VARIANCES,
    RowsAndColumns,
    Selection,
    bernoulli_path,
    gaussian_path,
)
from featloom.options import check, checked, none, one_of, threads, whole
from featloom.pool import in_threads, number_of_workers
from featloom.shown import html_table, visible

LIKELIHOODS = ("gaussian", "bernoulli")
BITS_OF_A_WEIGHT = 2.0


@checked(
    likelihood=one_of(LIKELIHOODS),
    variance=one_of(VARIANCES),
    most=whole(1) | none,
    refits=whole(1) | none,
)
def select_features(
    X: sparse.csr_matrix | FeatureMatrix,
    targets: np.ndarray,
    cost: np.ndarray,
    *,
    likelihood: str = "gaussian",
    variance: str = "null",
    backward: bool = False,
    most: int | None = None,
    refits: int | None = 10,
    threads: int = 1,
) -> list[Selection]:
    """Choose features for each target, as long as one saves more bits than it costs.

    Parameters
    ----------
    X : binary rows × features.
    targets : a number for each row, or a column of them for each target; zeros and ones with
        ``likelihood="bernoulli"``.
    cost : bits of each feature; in two dimensions, a row of them for each target.
    likelihood : "gaussian" (exact: all features are tried at every step) or "bernoulli".
    variance : of the Gaussian: "null", "current" or "profile".
    backward : at the end, drop features that save less than they cost beside the others.
    most : features to choose for a target at most.
    refits : with "bernoulli", features are ranked by their score tests and so many of the best
        are fitted in full at each step; None fits all.
    threads : they change the time and nothing else.

    Returns
    -------
    One :class:`Selection` for each target.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 0], [1, 1], [0, 0], [0, 1]] * 5)
    >>> [chosen] = select_features(X, np.array([1, 1, 0, 0] * 5), np.array([3.0, 3.0]))
    >>> chosen.features.tolist(), chosen.saved.round(1).tolist(), chosen.weights.tolist()
    ([0], [14.4], [1.0])
    """
    features = RowsAndColumns.read(X)
    n, m = features.shape
    columns = _read_targets(targets, n, likelihood)
    costs = _read_costs(cost, m, len(columns))
    limit = m if most is None else int(most)
    fits = m if refits is None else int(refits)
    selections: dict[int, Selection] = {}

    def select(k: int) -> None:
        bits = costs[k % len(costs)]
        if likelihood == "bernoulli":
            selections[k] = bernoulli_path(
                features, columns[k], bits, refits=fits, backward=backward, most=limit
            )
        else:
            selections[k] = gaussian_path(
                features, columns[k], bits, variance=variance, backward=backward, most=limit
            )

    in_threads(select, range(len(columns)), threads)
    return [selections[k] for k in range(len(columns))]


def feature_costs(
    cost: str | float | Mapping[str, float] | np.ndarray,
    names: Sequence[str],
    n_candidates: int,
) -> np.ndarray:
    """Bits of each feature: "ric", one number for all, bits by name (others "ric"), or an array.

    >>> feature_costs("ric", ["Prev=in", "CAP"], 16).tolist()
    [6.0, 6.0]
    >>> feature_costs({"CAP": 3.5}, ["Prev=in", "CAP"], 16).tolist()
    [6.0, 3.5]
    """
    alike = np.log2(max(n_candidates, 1)) + BITS_OF_A_WEIGHT
    if isinstance(cost, str):
        if cost != "ric":
            raise InputError(
                f"cost is {cost!r}; it can be 'ric', a number of bits, bits by name, or an array"
            )
        return np.full(len(names), alike)
    if isinstance(cost, Mapping):
        bits = np.array([cost.get(name, alike) for name in names], dtype=np.float64)
    elif isinstance(cost, Real):
        bits = np.full(len(names), float(cost))
    else:
        bits = np.asarray(cost, dtype=np.float64)
        if bits.shape != (len(names),):
            raise InputError(f"cost has shape {bits.shape}; there are {len(names)} features")
    wrong = ~(bits >= 0)
    if wrong.any():
        j = int(np.argmax(wrong))
        raise InputError(f"the cost of {names[j]!r} is {bits[j]}; bits cannot be below 0")
    return bits


def candidates(X: sparse.csr_matrix | FeatureMatrix, min_rows: int = 2) -> np.ndarray:
    """Which features can be chosen: those of at least ``min_rows`` rows, but not of all rows.

    A feature of a single row explains that row and nothing else, however many bits it saves.

    >>> candidates(sparse.csr_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]])).tolist()
    [True, False, False]
    """
    features = RowsAndColumns.read(X)
    rows = np.diff(features.column_start)
    return (rows >= max(min_rows, 1)) & (rows < features.shape[0])


class MDLSelector(MakesFeatures, ClassifierMixin, BaseEstimator):
    """Choose the features that shorten the description of the classes, and classify with them.

    Each class is a target of its own, one where a row is of the class and zero where not (two
    classes make one target).  A row is given the class whose model has the highest value.

    Parameters
    ----------
    cost : bits of a feature: "ric" (log₂ of the number of features that can be chosen, and two),
        a number for all, a mapping from names (others "ric"), or an array.
    likelihood : "gaussian" (least squares, exact) or "bernoulli" (logistic regression).
    variance : of the Gaussian: "null", "current" or "profile".
    backward : at the end, drop features that save less than they cost beside the others.
    max_features : features of a target at most; None leaves it to the bits.
    min_rows : rows that a feature must be seen in to be chosen.
    refits : with "bernoulli", how many features are fitted in full at each step, those with the
        best score tests; None fits all.
    n_jobs : threads; they change the time and nothing else.

    Attributes
    ----------
    features_ : what was chosen, for each target in order: name, target, bits saved and paid,
        weight.  It prints as a table.
    selections_ : a :class:`~featloom.learners.stepwise_paths.Selection` for each target.
    costs_ : bits of each feature, infinite for those that cannot be chosen.
    classes_ : the classes; absent where y held targets.
    n_features_in_ : as in scikit-learn.

    Examples
    --------
    >>> letters = [["c", "o"], ["k", "e"], ["s", "o"], ["z", "e"]] * 10
    >>> selector = MDLSelector().fit(letters, ["stop", "stop", "sibilant", "sibilant"] * 10)
    >>> print(selector.features_)
    feature  target  saved  paid  weight
    x0=c     stop      9.6   4.6   +1.00
    x0=k     stop     19.2   4.6   +1.00
    >>> selector.predict([["k", "o"], ["s", "i"]]).tolist()
    ['stop', 'sibilant']
    """

    constraints = {
        "likelihood": one_of(LIKELIHOODS),
        "variance": one_of(VARIANCES),
        "max_features": whole(1) | none,
        "min_rows": whole(1),
        "refits": whole(1) | none,
        "n_jobs": threads,
    }
    _takes_matrices, _fitted = True, "selections_"

    def __init__(
        self,
        *,
        cost="ric",
        likelihood="gaussian",
        variance="null",
        backward=False,
        max_features=None,
        min_rows=2,
        refits=10,
        n_jobs=None,
    ):
        self.cost = cost
        self.likelihood = likelihood
        self.variance = variance
        self.backward = backward
        self.max_features = max_features
        self.min_rows = min_rows
        self.refits = refits
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Choose features of rows X (binary matrix, table or DataFrame).

        ``y`` has a class for each row, or in two dimensions a column of numbers for each target.
        """
        check(self)
        reader = InputReader()
        matrix = reader.fit(self, X)
        targets = self._read_target(matrix, y)
        possible = candidates(matrix, self.min_rows)
        bits = feature_costs(self.cost, matrix.names, int(possible.sum()))
        bits = np.where(possible, bits, np.inf)
        self.selections_ = select_features(
            matrix,
            targets,
            bits,
            likelihood=self.likelihood,
            variance=self.variance,
            backward=self.backward,
            most=self.max_features,
            refits=self.refits,
            threads=number_of_workers(self.n_jobs),
        )
        self.costs_, self._reader = bits, reader
        self._remember_model()
        return self

    def _features_of(self, matrix):
        return matrix.to_csr()[:, self._support]

    def _names_of(self, columns):
        return [columns[j] for j in self._support]

    def decision_function(self, X):
        """The value of each target's model; with two classes, above 0 for the second."""
        values = self.transform(X) @ self._weights + self._intercepts
        if hasattr(self, "classes_") and len(self.classes_) == 2:
            even = 0.5 if self.likelihood == "gaussian" else 0.0
            return values[:, 0] - even
        return values

    def predict(self, X):
        """The class whose model has the highest value, of each row."""
        check_is_fitted(self, "selections_")
        if not hasattr(self, "classes_"):
            raise InputError("fitted on targets, not classes: ask decision_function for values")
        values = self.decision_function(X)
        best = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which features were chosen for any target: a mask, or their numbers."""
        check_is_fitted(self, "selections_")
        if indices:
            return self._support.copy()
        mask = np.zeros(len(self.costs_), dtype=bool)
        mask[self._support] = True
        return mask

    @property
    def features_(self) -> ChosenFeatures:
        """What was chosen, for each target in the order of choice."""
        check_is_fitted(self, "selections_")
        return ChosenFeatures(
            ChosenFeature(self._reader.names[j], target, float(saved), float(paid), float(weight))
            for target, chosen in zip(self._target_names, self.selections_, strict=True)
            for j, saved, paid, weight in zip(
                chosen.features, chosen.saved, chosen.paid, chosen.weights, strict=True
            )
        )

    def _read_target(self, matrix: FeatureMatrix, y) -> np.ndarray:
        """Targets as columns; sets ``classes_`` where y holds classes."""
        values = None if y is None else np.asarray(y)
        if values is not None and values.ndim == 2 and values.shape[1] != 1:
            self.__dict__.pop("classes_", None)  # of another fit
            named = getattr(y, "columns", range(values.shape[1]))
            self._target_names: list[Hashable] = list(named)
            try:
                return values.astype(np.float64)
            except (TypeError, ValueError):
                raise InputError("y has several columns; targets must be numbers") from None
        labels, self.classes_ = encode_target(matrix, y)
        names = self.classes_.tolist()
        first = 1 if len(names) == 2 else 0  # with two, the other model would be the mirror image
        self._target_names = names[first:]
        return (labels[:, None] == np.arange(first, len(names))).astype(np.float64)

    def _remember_model(self) -> None:
        """Weights and intercepts over the features chosen for any target."""
        chosen = [selection.features for selection in self.selections_]
        self._support = np.unique(np.concatenate(chosen)).astype(np.int64)
        self._weights = np.zeros((len(self._support), len(chosen)))
        for k, selection in enumerate(self.selections_):
            self._weights[np.searchsorted(self._support, chosen[k]), k] = selection.weights
        self._intercepts = np.array([selection.intercept for selection in self.selections_])

    def _repr_html_(self) -> str:
        """In a notebook: the features, once they are chosen."""
        if not hasattr(self, "selections_"):
            return super()._repr_html_()
        return self.features_._repr_html_()

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of measurements, each of which is a value apart
        return tags


def _read_targets(targets, n: int, likelihood: str) -> np.ndarray:
    """A row for each target."""
    columns = np.asarray(targets, dtype=np.float64)
    if n == 0:
        raise InputError("X has no rows")
    if columns.ndim not in (1, 2) or len(columns) != n:
        raise InputError(f"targets have shape {columns.shape}, X has {n} rows")
    if not np.isfinite(columns).all():
        row = int(np.argmin(np.isfinite(columns.reshape(n, -1)).all(axis=1)))
        raise InputError(f"targets hold NaN or infinity in row {row}")
    if likelihood == "bernoulli" and not (binary := np.isin(columns, (0, 1))).all():
        row, value = int(np.argwhere(~binary)[0][0]), columns[~binary][0]
        raise InputError(
            f"targets hold {value} in row {row}; with likelihood 'bernoulli' they are 0 or 1"
        )
    return np.ascontiguousarray(columns.reshape(n, -1).T)


def _read_costs(cost, m: int, n_targets: int) -> np.ndarray:
    """A row for all targets, or one for each."""
    costs = np.asarray(cost, dtype=np.float64)
    if costs.shape not in ((m,), (n_targets, m)):
        raise InputError(
            f"cost has shape {costs.shape}; there are {m} features and {n_targets} target(s)"
        )
    if not (costs >= 0).all():
        raise InputError("cost holds NaN, or bits below 0")
    return np.ascontiguousarray(costs.reshape(-1, m))


_MOST_SHOWN = 50
_TITLES = ("feature", "target", "saved", "paid", "weight")


@dataclass(frozen=True)
class ChosenFeature:
    """A feature, the class (or target) it was chosen for, bits saved and paid, and its weight."""

    name: str
    target: Hashable
    saved: float
    paid: float
    weight: float

    def __str__(self) -> str:
        return self.name


class ChosenFeatures(list[ChosenFeature]):
    """A list of features that prints as a table.

    >>> print(ChosenFeatures([ChosenFeature("Next=e", "S", 12.34, 5.0, 0.8)]))
    feature  target  saved  paid  weight
    Next=e   S        12.3   5.0   +0.80
    """

    def __str__(self) -> str:
        if not self:
            return "no feature saves more bits than it costs"
        lines = [_TITLES, *map(_cells, self[:_MOST_SHOWN])]
        widths = [max(len(line[j]) for line in lines) for j in range(len(_TITLES))]
        text = [
            "  ".join(
                cell.ljust(width) if j < 2 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        more = len(self) - _MOST_SHOWN
        return "\n".join([*text, *([f"and {more:,} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """In a notebook: a table without script."""
        if not self:
            return f"<p>{self}</p>"
        rows = map(_cells, self[:_MOST_SHOWN])
        return html_table(_TITLES, rows, n_names=2, more=len(self) - _MOST_SHOWN)


def _cells(feature: ChosenFeature) -> tuple[str, ...]:
    return (
        visible(feature.name),
        visible(str(feature.target)),
        f"{feature.saved:.1f}",
        f"{feature.paid:.1f}",
        f"{feature.weight:+.2f}",
    )
