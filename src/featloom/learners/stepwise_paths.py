"""The steps of a selection by description length: forward, then backward where wanted.

Forward, the feature that saves the most bits beyond its cost is taken in until none does.  A
feature taken early may be worth less than it cost once later ones stand beside it; backward,
such features are dropped, worst first.  The bits of those that stay are then counted anew, in the
order in which they were chosen, so that they add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from featloom.data.matrix import FeatureMatrix, check_binary
from featloom.errors import InputError
from featloom.kernels import logistic, stepwise
from featloom.kernels.least_squares import centred_products

VARIANCES = {"null": stepwise.NULL, "current": stepwise.CURRENT, "profile": stepwise.PROFILE}


@dataclass(frozen=True, eq=False)
class Selection:
    """The features chosen for one target.

    Parameters
    ----------
    features : numbers of the features, in the order in which they were chosen.
    saved : bits that each saved on the errors, given those before it.
    paid : bits that each cost.
    weights, intercept : of the model with all of them.
    path : the residual sum of squares, or with ``likelihood="bernoulli"`` the deviance, of the
        null model and after each feature.
    """

    features: np.ndarray
    saved: np.ndarray
    paid: np.ndarray
    weights: np.ndarray
    intercept: float
    path: np.ndarray

    def __len__(self) -> int:
        return len(self.features)

    @property
    def gain(self) -> float:
        """By how many bits the description is shorter than that of the null model."""
        return float(self.saved.sum() - self.paid.sum())


class RowsAndColumns(NamedTuple):
    """Binary features by row and by column, as the kernels take them."""

    indptr: np.ndarray
    indices: np.ndarray
    column_start: np.ndarray
    column_rows: np.ndarray

    @classmethod
    def read(cls, X) -> RowsAndColumns:
        """Of a sparse or dense matrix of zeros and ones, or a FeatureMatrix."""
        if isinstance(X, FeatureMatrix):
            by_row = X.to_csr(np.int8)
        else:
            if len(np.shape(X)) != 2:
                raise InputError("X must have a row for each case and a column for each feature")
            by_row = sparse.csr_matrix(X)
            check_binary(by_row)
            if not by_row.has_canonical_format or not by_row.data.all():
                by_row = by_row.copy()  # the caller's matrix stays as it is
                by_row.eliminate_zeros()
                by_row.sum_duplicates()
        by_column = by_row.tocsc()
        return cls(
            by_row.indptr.astype(np.int64, copy=False),
            by_row.indices.astype(np.int32, copy=False),
            by_column.indptr.astype(np.int64, copy=False),
            by_column.indices.astype(np.int32, copy=False),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, len(self.column_start) - 1


def gaussian_path(
    features: RowsAndColumns,
    target: np.ndarray,
    cost: np.ndarray,
    *,
    variance: str,
    backward: bool,
    most: int,
) -> Selection:
    """Least squares, exact: every feature is tried at every step."""
    n, kind = len(target), VARIANCES[variance]
    chosen, saved, path = stepwise.forward(*features, target, cost, kind, most)
    products, with_target = centred_products(
        features.column_start, features.column_rows, chosen, target
    )
    if backward:
        kept = _worth_their_cost(products, with_target, path, cost[chosen], n, kind)
        if not kept.all():
            chosen = chosen[kept]
            products, with_target = products[np.ix_(kept, kept)], with_target[kept]
            path = _residuals(products, with_target, path[0])
            steps = pairwise(path)
            saved = np.array([_bits(a - b, a, path[0], n, kind) for a, b in steps])
    weights = np.linalg.solve(products, with_target) if len(chosen) else np.empty(0)
    rows = features.column_start[chosen + 1] - features.column_start[chosen]
    intercept = float(target.mean() - weights @ rows / n)
    return Selection(chosen, saved, cost[chosen], weights, intercept, path)


def bernoulli_path(
    features: RowsAndColumns,
    target: np.ndarray,
    cost: np.ndarray,
    *,
    refits: int,
    backward: bool,
    most: int,
) -> Selection:
    """Logistic regression: the ``refits`` features with the best score tests are fitted a step."""
    chosen, weights, path = logistic.forward(*features, target, cost, refits, most)
    if backward:
        by_column = (features.column_start, features.column_rows)
        kept = logistic.backward(*by_column, target, cost, chosen, weights)
        if len(kept) < len(chosen):
            chosen = kept
            weights, path = logistic.path_of(*by_column, target, chosen)
    saved = -np.diff(path) * logistic.BITS
    return Selection(chosen, saved, cost[chosen], weights[1:], float(weights[0]), path)


def _worth_their_cost(products, with_target, path, cost, n, kind) -> np.ndarray:
    """Which features stay when those that save less than they cost are dropped, worst first.

    With A the inverse of the centred products G, the residual sum of squares without feature j is
    larger by w_j² / A[j, j], and the inverse without it is A − A[:, j] A[j, :] / A[j, j].
    """
    kept = np.ones(len(cost), dtype=bool)
    null_rss, rss = path[0], path[-1]
    inverse = np.linalg.inv(products) if len(cost) else products
    while kept.any():
        places = np.flatnonzero(kept)
        weights = inverse[places][:, places] @ with_target[places]
        rises = weights**2 / inverse[places, places]
        lost = np.array([_bits(rise, rss + rise, null_rss, n, kind) for rise in rises])
        excess = cost[places] - lost
        worst = int(np.argmax(excess))
        if not excess[worst] > 0:
            break
        j = places[worst]
        rss += rises[worst]
        inverse = inverse - np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
        kept[j] = False
    return kept


def _residuals(products, with_target, null_rss) -> np.ndarray:
    """Residual sums of squares as the features are taken in one by one."""
    if not len(with_target):
        return np.array([null_rss])
    along = np.linalg.solve(np.linalg.cholesky(products), with_target)
    return np.concatenate([[null_rss], np.maximum(null_rss - np.cumsum(along**2), 0.0)])


def _bits(drop, rss, null_rss, n, kind) -> float:
    return stepwise.bits_of(drop, rss, null_rss, n, kind) if rss > 0 else 0.0
