"""What is done with a grown tree: following it, and finding the nodes that pruning makes leaves.

The arrays are those of ``MultiwayTree``: a parent comes before its children, so a walk to the
front of them meets every child before its parent.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.tree_counts import TIE

PRUNING_SLACK = 0.1  # errors by which a leaf may be worse than the subtree it replaces


@njit(cache=True, nogil=True)
def depths(parent):
    """How far each node is from the root."""
    depth = np.zeros(len(parent), dtype=np.int32)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return depth


@njit(cache=True, nogil=True)
def predict(codes, column, first_child, n_children, value, majority):
    """The majority of the last node that each row reaches."""
    n_rows = len(codes)
    predicted = np.empty(n_rows, dtype=np.int32)
    for i in range(n_rows):
        node = 0
        while column[node] >= 0:
            wanted = codes[i, column[node]]
            low = first_child[node]
            end = low + n_children[node]
            high = end
            while low < high:
                middle = (low + high) // 2
                if value[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low == end or value[low] != wanted:
                break
            node = low
        predicted[i] = majority[node]
    return predicted


@njit(cache=True, nogil=True)
def leaves_by_error(column, parent, rows, errors, confidence, z):
    """Which nodes error-based pruning makes or leaves leaves.

    A node is a leaf if its subtree makes as many errors on the training rows; or, from the bottom
    up, if the errors to expect of it are at most ``PRUNING_SLACK`` above those of its subtree.
    """
    n_nodes = len(column)
    is_leaf = column < 0
    below = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes - 1, -1, -1):
        if is_leaf[node] or below[node] >= errors[node]:
            is_leaf[node] = True
            below[node] = errors[node]
        if node > 0:
            below[parent[node]] += below[node]
    expected_below = np.zeros(n_nodes, dtype=np.float64)
    for node in range(n_nodes - 1, -1, -1):
        expected = errors[node] + added_errors(rows[node], errors[node], confidence, z)
        if is_leaf[node] or expected <= expected_below[node] + PRUNING_SLACK + TIE:
            is_leaf[node] = True
            expected_below[node] = expected
        if node > 0:
            expected_below[parent[node]] += expected_below[node]
    return is_leaf


@njit(cache=True, nogil=True)
def added_errors(rows, errors, confidence, z):
    """What Quinlan adds to the errors of a leaf: up to the upper limit of their number.

    With the chance ``confidence`` of being above the limit, z its quantile, f = (e + ½) / N:

    e = 0:  N (1 − confidence^(1/N))
    else:   N [f + z²/2N + z √(f/N − f²/N + z²/4N²)] / (1 + z²/N) − e,  or N − e if e + ½ ≥ N
    """
    if errors == 0:
        return rows * (1 - confidence ** (1 / rows))
    if errors + 0.5 >= rows:
        return max(rows - errors, 0.0)
    share = (errors + 0.5) / rows
    spread = np.sqrt(share / rows - share * share / rows + z * z / (4 * rows * rows))
    limit = (share + z * z / (2 * rows) + z * spread) / (1 + z * z / rows)
    return limit * rows - errors


@njit(cache=True, nogil=True)
def leaves_by_test(column, parent, significant):
    """Which nodes are leaves once splits that are not significant go, from the bottom up."""
    n_nodes = len(column)
    is_leaf = column < 0
    only_leaves_below = np.ones(n_nodes, dtype=np.bool_)
    for node in range(n_nodes - 1, -1, -1):
        if only_leaves_below[node] and not significant[node]:
            is_leaf[node] = True
        if node > 0 and not is_leaf[node]:
            only_leaves_below[parent[node]] = False
    return is_leaf


@njit(cache=True, nogil=True)
def kept_nodes(parent, is_leaf):
    """Which nodes are left when those below leaves go."""
    kept = np.ones(len(parent), dtype=np.bool_)
    for node in range(1, len(parent)):
        kept[node] = kept[parent[node]] and not is_leaf[parent[node]]
    return kept
