"""Exact forward selection of binary features for a least-squares target.

With an intercept q₀ and the features chosen so far made orthonormal (q₁, q₂, …), the residual r is
orthogonal to all of them, and adding feature x lowers the residual sum of squares by

    (x·r)² / |x⊥|²,     |x⊥|² = |x|² − Σ (q·x)².

Both x·r and |x⊥|² are kept for every feature.  When feature s is chosen, its products with all
others are counts of rows that have both, which takes a walk over the rows of s alone; its
orthonormal vector is never written down:  q·x = (x_s·x − Σ (q_k·x_s)(q_k·x)) / |x_s⊥|.

In bits, a drop d of the residual sum R over n rows is worth

    d / (2 σ² ln 2)              with σ² = R₀/n of the null model, or R/n of the current one,
    n/2 · log₂ (R / (R − d))     with σ² at its best for either ("profile").
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

NULL, CURRENT, PROFILE = 0, 1, 2
_DEPENDENT = 1e-9  # a feature with less of its length left is a sum of those chosen


@njit(cache=True, nogil=True)
def bits_of(drop, rss, null_rss, n, variance):
    """Bits saved by a drop of the residual sum of squares."""
    if variance == PROFILE:
        left = max(rss - drop, 1e-12 * null_rss)
        return 0.5 * n * np.log2(rss / left)
    base = null_rss if variance == NULL else rss
    return drop * n / (2.0 * np.log(2.0) * base)


@njit(cache=True, nogil=True)
def forward(indptr, indices, column_start, column_rows, target, cost, variance, most):
    """Choose features one by one as long as one saves more bits than it costs.

    ``indptr``, ``indices`` give the features of each row, ``column_start``, ``column_rows`` the
    rows of each feature.  Gives the features in order, the bits that each saved, and the residual
    sum of squares after each, that of the null model first.
    """
    n, m = len(indptr) - 1, len(column_start) - 1
    most = min(most, m)
    chosen = np.empty(most, dtype=np.int64)
    saved = np.empty(most)
    rss_after = np.empty(most + 1)
    mean = target.mean()
    products = np.zeros(m)  # x·r
    for i in range(n):
        if target[i] != 0:
            for place in range(indptr[i], indptr[i + 1]):
                products[indices[place]] += target[i]
    lengths = np.empty(m)  # |x⊥|²
    with_basis = np.empty((min(most, 15) + 1, m))  # q·x of the intercept and each chosen feature
    for j in range(m):
        rows = column_start[j + 1] - column_start[j]
        products[j] -= mean * rows
        lengths[j] = rows - rows * rows / n
        with_basis[0, j] = rows / np.sqrt(n)
    null_rss = 0.0
    for i in range(n):
        null_rss += (target[i] - mean) ** 2
    rss = null_rss
    rss_after[0] = rss
    together = np.zeros(m)  # rows that have both the chosen feature and another
    n_chosen = 0
    while n_chosen < most and rss > 1e-9 * null_rss:
        best, best_gain, best_bits = -1, 0.0, 0.0
        for j in range(m):
            rows = column_start[j + 1] - column_start[j]
            if lengths[j] <= _DEPENDENT * rows or rows == 0:
                continue
            drop = min(products[j] * products[j] / lengths[j], rss)
            bits = bits_of(drop, rss, null_rss, n, variance)
            if bits - cost[j] > best_gain:
                best, best_gain, best_bits = j, bits - cost[j], bits
        if best < 0:
            break
        if n_chosen + 1 == len(with_basis):
            with_basis = _doubled(with_basis, most + 1)
        length = np.sqrt(lengths[best])
        along = products[best] / length  # q·r
        for place in range(column_start[best], column_start[best + 1]):
            row = column_rows[place]
            for other in range(indptr[row], indptr[row + 1]):
                together[indices[other]] += 1.0
        _orthogonalise(together, with_basis, n_chosen + 1, best, length, along, products, lengths)
        lengths[best] = 0.0
        rss = max(rss - along * along, 0.0)
        chosen[n_chosen], saved[n_chosen] = best, best_bits
        n_chosen += 1
        rss_after[n_chosen] = rss
    return chosen[:n_chosen].copy(), saved[:n_chosen].copy(), rss_after[: n_chosen + 1].copy()


@njit(cache=True, nogil=True)
def _orthogonalise(together, with_basis, n_basis, best, length, along, products, lengths):
    """Take the new basis vector out of every feature; ``together`` is set back to 0."""
    new = with_basis[n_basis]
    for j in range(len(together)):
        new[j] = together[j]
        together[j] = 0.0
    for k in range(n_basis):
        share = with_basis[k, best]
        if share != 0.0:
            row = with_basis[k]
            for j in range(len(new)):
                new[j] -= share * row[j]
    for j in range(len(new)):
        new[j] /= length
        products[j] -= along * new[j]
        lengths[j] -= new[j] * new[j]


@njit(cache=True, nogil=True)
def _doubled(rows, most):
    new = np.empty((min(2 * len(rows), most), rows.shape[1]))
    for k in range(len(rows)):
        new[k] = rows[k]
    return new
