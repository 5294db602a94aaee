"""Columns scaled by what they say in the task's own rows: a rival that needs no other task.

A feature's evidence is the number of bits that it alone saves on the class that it tells most of
(:mod:`featloom.kernels.stepwise`, null variance).  Multiplying its column by a power of that makes
a linear model lean on it, as a relevance prior does; so it shows what a prior adds beyond.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

_LEAST = 0.5  # bits that a feature without evidence is given, so that none is lost


class EvidenceScaling(TransformerMixin, BaseEstimator):
    """Multiply each binary feature by (½ + its bits)**exponent.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 1], [1, 0], [0, 1], [0, 0]] * 5)
    >>> scaling = EvidenceScaling(exponent=1.0).fit(X, ["a", "a", "b", "b"] * 5)
    >>> scaling.scale_.round(2).tolist()
    [14.93, 0.5]
    """

    def __init__(self, exponent: float = 0.3):
        self.exponent = exponent

    def fit(self, X, y) -> EvidenceScaling:
        """Learn the scales from rows X and their classes y."""
        X = sparse.csr_matrix(X)
        n = X.shape[0]
        _, codes = np.unique(y, return_inverse=True)
        targets = np.eye(codes.max() + 1)[codes]
        rows = np.asarray(X.sum(axis=0)).ravel()
        length = np.maximum(rows - rows**2 / n, 1e-12)[:, None]
        products = X.T @ targets - rows[:, None] * targets.mean(axis=0)
        variance = np.maximum(targets.var(axis=0), 1e-12)
        bits = products**2 / length / (2 * np.log(2) * variance)
        self.scale_ = (_LEAST + bits.max(axis=1)) ** self.exponent
        return self

    def transform(self, X) -> sparse.csr_matrix:
        """The scaled features."""
        check_is_fitted(self, "scale_")
        return sparse.csr_matrix(sparse.csr_matrix(X) @ sparse.diags(self.scale_))
