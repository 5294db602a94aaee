"""The best conjunctions seen so far.

Order: score, then support, then the columns of the parts; never by accident of the walk.  The
worst score still worth keeping is the threshold that the next walk may prune by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Scored conjunctions: each row of ``parts`` holds feature numbers in ascending order."""

    parts: np.ndarray
    supports: np.ndarray
    scores: np.ndarray

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, which: np.ndarray) -> Conjunctions:
        return Conjunctions(self.parts[which], self.supports[which], self.scores[which])

    def in_order(self) -> Conjunctions:
        """Best first, and each set of parts once."""
        columns = tuple(self.parts[:, j] for j in reversed(range(self.parts.shape[1])))
        order = np.lexsort((*columns, -self.supports, -self.scores))
        sorted_self = self.take(order)
        # The same conjunction met twice has one score and one support, so it lies side by side.
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (sorted_self.parts[1:] != sorted_self.parts[:-1]).any(axis=1)
        return sorted_self if fresh.all() else sorted_self.take(np.flatnonzero(fresh))


class BestConjunctions:
    """Collects conjunctions and keeps the best ``limit`` of them (all, where it is None)."""

    def __init__(self, length: int, limit: int | None, threshold: float):
        self.limit, self.threshold = limit, threshold
        self._batches = [
            Conjunctions(np.empty((0, length), np.int32), np.empty(0, np.int64), np.empty(0))
        ]
        self._waiting = 0

    def add(self, batch: Conjunctions) -> None:
        self._batches.append(batch)
        self._waiting += len(batch)
        if self.limit is not None and self._waiting > 4 * self.limit + 4096:
            self._settle()

    def raise_threshold(self) -> float:
        """The score that a conjunction must reach from now on."""
        if self.limit is not None and self._waiting >= self.limit:
            self._settle()
        return self.threshold

    def result(self) -> Conjunctions:
        self._settle()
        return self._batches[0]

    def _settle(self) -> None:
        joined = Conjunctions(
            np.concatenate([batch.parts for batch in self._batches]),
            np.concatenate([batch.supports for batch in self._batches]),
            np.concatenate([batch.scores for batch in self._batches]),
        ).in_order()
        if self.limit is not None and len(joined) >= self.limit:
            joined = joined.take(np.arange(self.limit))
            if self.limit:
                self.threshold = max(self.threshold, float(joined.scores[-1]))
        self._batches, self._waiting = [joined], len(joined)
