"""Counts that add up.

What is counted in one part of the data and what is counted in another give, added, what would
have been counted in both at once: the same whole numbers, whatever the parts and their order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.kernels.pair_sums import merge_pairs


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
    """Sums of (parent, partner) pairs, each pair once, in ascending order.

    ``sums`` holds whatever adds up over rows: counts of each class, or support, gradients and
    curvatures.

    Examples
    --------
    >>> one = PairSums.in_order(np.array([2, 0]), np.array([3, 1]), np.array([[4], [1]]))
    >>> other = PairSums.in_order(np.array([0, 2]), np.array([5, 3]), np.array([[7], [1]]))
    >>> both = one + other
    >>> both.parents.tolist(), both.partners.tolist(), both.sums.tolist()
    ([0, 0, 2], [1, 5, 3], [[1], [7], [5]])
    """

    parents: np.ndarray
    partners: np.ndarray
    sums: np.ndarray

    def __add__(self, other: PairSums) -> PairSums:
        mine = (self.parents, self.partners, self.sums)
        return PairSums(*merge_pairs(*mine, other.parents, other.partners, other.sums))

    @classmethod
    def in_order(cls, parents: np.ndarray, partners: np.ndarray, sums: np.ndarray) -> PairSums:
        """Pairs that are all different, put in ascending order."""
        # One number a pair, which sorts several times faster than two.
        order = np.argsort((parents.astype(np.int64) << 32) | partners)
        return cls(parents[order], partners[order], sums[order])
