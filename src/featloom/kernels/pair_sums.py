"""Sums of pairs from two parts of the data as sums of both.

Each part has its pairs (parent, partner) once, in ascending order.  The two are merged in one walk
over both; the sums of a pair that is in both are added.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def merge_pairs(parents, partners, sums, other_parents, other_partners, other_sums):
    """(parents, partners, sums) of the pairs that are in either part."""
    n, m, width = len(parents), len(other_parents), sums.shape[1]
    n_both = _in_both(parents, partners, other_parents, other_partners)
    out_parents = np.empty(n + m - n_both, parents.dtype)
    out_partners = np.empty(n + m - n_both, partners.dtype)
    out_sums = np.empty((n + m - n_both, width), sums.dtype)
    i = j = 0
    for place in range(n + m - n_both):
        order = _order(parents, partners, i, other_parents, other_partners, j)
        if order <= 0:
            out_parents[place], out_partners[place] = parents[i], partners[i]
            for k in range(width):
                out_sums[place, k] = sums[i, k]
            i += 1
        else:
            out_parents[place], out_partners[place] = other_parents[j], other_partners[j]
            for k in range(width):
                out_sums[place, k] = other_sums[j, k]
            j += 1
        if order == 0:
            for k in range(width):
                out_sums[place, k] += other_sums[j, k]
            j += 1
    return out_parents, out_partners, out_sums


@njit(cache=True, nogil=True)
def _in_both(parents, partners, other_parents, other_partners):
    i = j = found = 0
    while i < len(parents) and j < len(other_parents):
        order = _order(parents, partners, i, other_parents, other_partners, j)
        found += order == 0
        i += order <= 0
        j += order >= 0
    return found


@njit(cache=True, nogil=True)
def _order(parents, partners, i, other_parents, other_partners, j):
    """Which pair comes first: -1 the one at i, 1 the other's at j; 0: they are the same."""
    if j == len(other_parents):
        return -1
    if i == len(parents):
        return 1
    if parents[i] != other_parents[j]:
        return -1 if parents[i] < other_parents[j] else 1
    if partners[i] != other_partners[j]:
        return -1 if partners[i] < other_partners[j] else 1
    return 0
