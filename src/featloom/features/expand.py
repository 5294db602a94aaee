"""Conjunctions as a trie, and the rows in which they hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from featloom.kernels.conjunctions import expand_rows

_AT_ONCE = 1 << 20  # features of rows looked through in one call: some tenths of a second


class ConjunctionTrie:
    """Features and conjunctions over ``n_features`` columns, ready to be found in rows.

    Row i of ``parts`` holds the column numbers of output column i, filled up with -1.
    ``supports`` (how often each column holds) puts the rarest part of a conjunction first.

    Examples
    --------
    >>> import numpy as np
    >>> parts = np.array([[0, -1], [0, 1]])
    >>> trie = ConjunctionTrie(parts, n_features=2, supports=np.array([2, 1]))
    >>> indptr, indices = trie.rows(np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32))
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 3], [0, 0, 1])
    """

    def __init__(self, parts: np.ndarray, *, n_features: int, supports: np.ndarray):
        self.n_features, self.n_outputs = n_features, len(parts)
        by_rarity = np.lexsort((np.arange(n_features), supports))
        # Rarity n_features stands for "no more parts", so that it sorts behind all parts.
        rarity = np.empty(n_features + 1, dtype=np.int64)
        rarity[by_rarity] = np.arange(n_features)
        rarity[-1] = n_features
        paths = np.sort(rarity[parts], axis=1)
        n_nodes = 1
        node_of_path = np.zeros(len(parts), dtype=np.int64)
        edges = []
        for depth in range(parts.shape[1]):
            going_on = np.flatnonzero(paths[:, depth] < n_features)
            steps = node_of_path[going_on] * n_features + paths[going_on, depth]
            known, which = np.unique(steps, return_inverse=True)
            edges.append((known // n_features, by_rarity[known % n_features]))
            node_of_path[going_on] = n_nodes + which
            n_nodes += len(known)
        output = np.full(n_nodes, -1, dtype=np.int32)
        output[node_of_path] = np.arange(len(parts))
        output[0] = -1
        self._output = output
        parent = np.concatenate([p for p, _ in edges])
        feature = np.concatenate([f for _, f in edges])
        node = np.arange(1, n_nodes, dtype=np.int32)
        from_root = parent == 0
        self._root = np.full(n_features, -1, dtype=np.int32)
        self._root[feature[from_root]] = node[from_root]
        # Nodes are numbered in the order of (parent, feature), so children lie side by side.
        inner = ~from_root
        self._first = np.zeros(n_nodes + 1, dtype=np.int64)
        self._first[1:] = np.cumsum(np.bincount(parent[inner], minlength=n_nodes))
        self._feature = feature[inner].astype(np.int32)
        self._node = node[inner]

    def rows(self, indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What holds in each row, as CSR arrays."""
        done = indptr[1:] - indptr[0] + np.arange(1, len(indptr))
        ends = np.arange(_AT_ONCE, done[-1] if len(done) else 0, _AT_ONCE)
        cuts = np.unique([0, *(np.searchsorted(done, ends) + 1), len(done)])
        held = [
            expand_rows(
                indptr[begin : end + 1] - indptr[begin],
                indices[indptr[begin] : indptr[end]],
                self.n_features,
                self._root,
                self._first,
                self._feature,
                self._node,
                self._output,
            )
            for begin, end in pairwise(cuts.tolist())
        ]
        if len(held) == 1:
            return held[0]
        lengths = [np.diff(starts) for starts, _ in held]
        starts = np.concatenate([[0], *lengths]).astype(np.int64).cumsum()
        return starts, np.concatenate([np.empty(0, np.int32), *(numbers for _, numbers in held)])


def padded(conjunctions: Sequence[Sequence[int]]) -> np.ndarray:
    """Lists of column numbers as the array that :class:`ConjunctionTrie` takes.

    >>> padded([[3], [1, 2]]).tolist()
    [[3, -1], [1, 2]]
    """
    width = max(map(len, conjunctions), default=1)
    parts = np.full((len(conjunctions), width), -1, dtype=np.int64)
    for row, numbers in zip(parts, conjunctions, strict=True):
        row[: len(numbers)] = numbers
    return parts
