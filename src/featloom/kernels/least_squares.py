"""Least squares on a few binary features, from counts of rows alone.

With the intercept taken out, the normal equations of features a, b, … and a target y are

    G w = c,     G[a, b] = |rows of both| − |rows of a| |rows of b| / n,
                 c[a]    = Σ y over the rows of a − |rows of a| mean(y).
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def centred_products(column_start, column_rows, chosen, target):
    """G and c of the chosen features; ``column_rows`` has the rows of each feature."""
    n, k = len(target), len(chosen)
    products, with_target = np.zeros((k, k)), np.zeros(k)
    mean = target.mean()
    held = np.zeros(n, dtype=np.bool_)
    for a in range(k):
        rows_a = column_rows[column_start[chosen[a]] : column_start[chosen[a] + 1]]
        for row in rows_a:
            held[row] = True
            with_target[a] += target[row]
        with_target[a] -= mean * len(rows_a)
        for b in range(a, k):
            rows_b = column_rows[column_start[chosen[b]] : column_start[chosen[b] + 1]]
            both = 0
            for row in rows_b:
                both += held[row]
            products[a, b] = both - len(rows_a) * len(rows_b) / n
            products[b, a] = products[a, b]
        for row in rows_a:
            held[row] = False
    return products, with_target
