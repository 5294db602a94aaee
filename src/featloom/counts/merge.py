"""Counts that add up.

What is counted in one part of the data and what is counted in another give, added, what would
have been counted in both at once: the same whole numbers, whatever the parts and their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Rows of each class, in all (``class_totals``) and with each feature (``counts``).

    Examples
    --------
    >>> import numpy as np
    >>> one = FeatureCounts(np.array([1, 1]), np.array([[1, 0]]))
    >>> (one + one).counts.tolist()
    [[2, 0]]
    """

    class_totals: np.ndarray
    counts: np.ndarray

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        return FeatureCounts(self.class_totals + other.class_totals, self.counts + other.counts)

    @property
    def n_rows(self) -> int:
        return int(self.class_totals.sum())

    @property
    def supports(self) -> np.ndarray:
        return self.counts.sum(axis=1)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of (parent, partner) pairs, in ascending order of the pair.

    ``sums`` holds whatever adds up over rows: counts of each class, or support, gradients and
    curvatures.
    """

    parents: np.ndarray
    partners: np.ndarray
    sums: np.ndarray

    def __add__(self, other: PairSums) -> PairSums:
        return PairSums.gather(
            np.concatenate([self.parents, other.parents]),
            np.concatenate([self.partners, other.partners]),
            np.concatenate([self.sums, other.sums]),
        )

    @classmethod
    def gather(cls, parents: np.ndarray, partners: np.ndarray, sums: np.ndarray) -> PairSums:
        """Sort pairs and add up those that appear more than once."""
        # One number a pair, which sorts several times faster than two.
        pairs = (parents.astype(np.int64) << 32) | partners
        order = np.argsort(pairs, kind="stable")
        parents, partners, pairs = parents[order], partners[order], pairs[order]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = pairs[1:] != pairs[:-1]
        starts = np.flatnonzero(fresh)
        added = np.add.reduceat(sums[order], starts, axis=0) if len(starts) else sums[:0]
        return cls(parents[starts], partners[starts], added)
