"""Which conjunctions hold in a row.

The conjunctions are a trie: a node is a feature on the path from a root, its children are the
features that may follow.  ``first_child[node] : first_child[node + 1]`` are a node's children
(node 0 is the root, whose children are found by feature in ``root_child``), ``output[node]`` is
the number of the conjunction that ends there, or -1.  The rarest feature of a conjunction comes
first, so that a trie's branches are entered as seldom as can be.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def feature_class_counts(indptr, indices, n_features, labels, n_classes):
    """Rows of each class that hold each feature: a features × classes array."""
    counts = np.zeros((n_features, n_classes), dtype=np.int64)
    add_class_counts(indptr, indices, labels, counts)
    return counts


@njit(cache=True, nogil=True)
def add_class_counts(indptr, indices, labels, counts):
    """Add the rows to a features × classes array of counts."""
    for row in range(len(indptr) - 1):
        label = labels[row]
        for place in range(indptr[row], indptr[row + 1]):
            counts[indices[place], label] += 1


@njit(cache=True, nogil=True)
def expand_rows(
    indptr, indices, n_features, root_child, first_child, child_feature, child_node, output
):
    """The conjunctions that hold in each row, as CSR (numbers ascend in a row)."""
    holds_in = np.full(n_features, -1, dtype=np.int64)
    out_indptr = np.zeros(len(indptr), dtype=np.int64)
    out = np.empty(max(64, len(indices)), dtype=np.int32)
    n_out = 0
    stack = np.empty(len(output) + 1, dtype=np.int32)
    for row in range(len(indptr) - 1):
        begin = n_out
        for place in range(indptr[row], indptr[row + 1]):
            holds_in[indices[place]] = row
        for place in range(indptr[row], indptr[row + 1]):
            node = root_child[indices[place]]
            if node < 0:
                continue
            stack[0] = node
            depth = 1
            while depth > 0:
                depth -= 1
                node = stack[depth]
                if output[node] >= 0:
                    if n_out == len(out):
                        bigger = np.empty(2 * n_out, dtype=np.int32)
                        bigger[:n_out] = out
                        out = bigger
                    out[n_out] = output[node]
                    n_out += 1
                for child in range(first_child[node], first_child[node + 1]):
                    if holds_in[child_feature[child]] == row:
                        stack[depth] = child_node[child]
                        depth += 1
        out[begin:n_out].sort()
        out_indptr[row + 1] = n_out
    return out_indptr, out[:n_out].copy()
