"""What every row brings to a count: its class, or its residual under a fitted model.

Both kinds of evidence answer the same questions, so that whoever counts need not know which one
it counts: sums of features, scores and bounds of sums, and the walk over pairs.

Counts add up: what is counted in one part of the data and what is counted in another give, added,
what would have been counted in both at once: the same whole numbers, whatever the parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from featloom.kernels import gradients, pairs
from featloom.kernels.association import small_table_scores
from featloom.kernels.compiling import compiled_for
from featloom.kernels.conjunctions import feature_class_counts
from featloom.kernels.pair_sums import merge_pairs

_SMALL = 128


@dataclass(frozen=True, eq=False)
class Parents:
    """Lists of rows that are joined with features, see :mod:`featloom.kernels.pairs`."""

    starts: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    ranks: np.ndarray


@dataclass(frozen=True)
class Conditions:
    """What a conjunction must meet before it is scored.

    Its support is at least ``min_support``; one of its two parts is among the best ``top``
    features; it does not hold in exactly the rows of a part (unless ``drop_equal`` is off).
    """

    min_support: int = 1
    top: int = np.iinfo(np.int64).max
    drop_equal: bool = True

    def fates(self, supports, parent_supports, partner_supports, parent_ranks, partner_ranks):
        """The kernels' verdict on each pair, on arrays."""
        fate = np.full(len(supports), pairs.KEPT)
        if self.drop_equal:
            equal = (supports == parent_supports) | (supports == partner_supports)
            fate[equal] = pairs.EQUAL_TO_PARENT
        fate[(parent_ranks >= self.top) & (partner_ranks >= self.top)] = pairs.NOT_RANKED
        fate[supports < self.min_support] = pairs.RARE
        return fate

    def leaves_nothing_of(self, supports: np.ndarray) -> np.ndarray:
        """Parents so rare that no conjunction of theirs can pass."""
        least = self.min_support + 1 if self.drop_equal else self.min_support
        return supports < least


class ScoreOfCounts(Protocol):
    """What :class:`featloom.scores.CountScore` offers: a score in the kernels' codes."""

    @property
    def kind(self) -> int: ...

    @property
    def aggregate(self) -> int: ...

    @property
    def alternative(self) -> int: ...

    def of(self, n_rows: int, class_totals: np.ndarray, counts: np.ndarray) -> np.ndarray: ...

    def bounds(
        self, n_rows: int, class_totals: np.ndarray, counts: np.ndarray, min_support: int
    ) -> np.ndarray: ...

    def log_factorials(self, n_rows: int) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class ClassEvidence:
    """The class of each row, judged by a score of counts.

    ``n_rows`` and ``class_totals`` are those of all the data, of which ``labels`` may be a part.
    """

    labels: np.ndarray
    class_totals: np.ndarray
    score: ScoreOfCounts

    @property
    def n_rows(self) -> int:
        return int(self.class_totals.sum())

    def feature_sums(self, indptr, indices, n_features) -> np.ndarray:
        return feature_class_counts(
            indptr, indices, n_features, self.labels, len(self.class_totals)
        )

    def supports_of(self, sums: np.ndarray) -> np.ndarray:
        return sums.sum(axis=1)

    def scores_of(self, sums: np.ndarray) -> np.ndarray:
        return self.score.of(self.n_rows, self.class_totals, sums)

    def bounds_of(self, sums: np.ndarray, min_support: int) -> np.ndarray:
        return self.score.bounds(self.n_rows, self.class_totals, sums, min_support)

    def walker(self):
        """A function that walks some parents: (matrix, parents, which, ranks, …) → pairs."""
        score = self.score
        table = score.log_factorials(self.n_rows)
        codes = (score.kind, score.aggregate, score.alternative)
        if len(self.class_totals) != 2:

            def walk_classes(matrix, parents, which, ranks, conditions, threshold):
                return pairs.best_pairs_many_classes(
                    which, parents.starts, parents.rows, parents.ends,
                    matrix.indptr, matrix.indices, self.labels, matrix.supports,
                    parents.ranks, ranks, conditions.top, conditions.drop_equal,
                    conditions.min_support, threshold, *codes,
                    self.n_rows, self.class_totals, table,
                )  # fmt: skip

            return walk_classes

        small = small_table_scores(*codes, self.n_rows, self.class_totals, _SMALL, table)
        # Sixteen bits hold the count of a parent of fewer than 65,536 rows; half the memory.
        narrow = (1 + (self.labels.astype(np.uint32) << np.uint32(16))).astype(np.uint32)
        wide = 1 + (self.labels.astype(np.int64) << 32)

        def walk_two_classes(matrix, parents, which, ranks, conditions, threshold):
            def found(increments, shift):
                return pairs.best_pairs_two_classes(
                    which, parents.starts, parents.rows, parents.ends,
                    matrix.indptr, matrix.indices, increments, shift, matrix.supports,
                    parents.ranks, ranks, conditions.top, conditions.drop_equal,
                    conditions.min_support, threshold, small, *codes,
                    self.n_rows, self.class_totals, table,
                )  # fmt: skip

            longest = (parents.starts[which + 1] - parents.starts[which]).max(initial=0)
            ahead = compiled_for()
            if ahead and ahead.rows >= 1 << 16:
                found(wide, 32)
            return found(narrow, 16) if longest < 1 << 16 else found(wide, 32)

        return walk_two_classes


@dataclass(frozen=True, eq=False)
class ResidualEvidence:
    """The residual of each row and class under a fitted linear model, in fixed point.

    ``residuals`` is an int32 array rows × classes (one column for two classes), made by
    :meth:`from_probabilities`; a conjunction's score is G² / (H + penalty).
    """

    residuals: np.ndarray
    penalty: float = 1.0
    aggregate: int = 0

    @classmethod
    def from_probabilities(
        cls, labels: np.ndarray, probabilities: np.ndarray, aggregate: int = 0
    ) -> ResidualEvidence:
        """Residuals y − p; of two classes the second alone is kept."""
        target = np.zeros_like(probabilities)
        target[np.arange(len(labels)), labels] = 1.0
        residuals = target - probabilities
        if residuals.shape[1] == 2:
            residuals = residuals[:, 1:]
        fixed = np.rint(residuals * gradients.ONE).astype(np.int32)
        return cls(np.ascontiguousarray(fixed), aggregate=aggregate)

    def feature_sums(self, indptr, indices, n_features) -> np.ndarray:
        sums, signed = gradients.feature_gradients(indptr, indices, n_features, self.residuals)
        supports = np.bincount(indices, minlength=n_features).astype(np.int64)
        return np.concatenate([supports[:, None], sums, signed], axis=1)

    def supports_of(self, sums: np.ndarray) -> np.ndarray:
        return sums[:, 0]

    def scores_of(self, sums: np.ndarray) -> np.ndarray:
        n_sums = 2 * self.residuals.shape[1]
        return gradients.feature_gains(sums[:, 1 : 1 + n_sums], self.penalty, self.aggregate)

    def bounds_of(self, sums: np.ndarray, min_support: int) -> np.ndarray:
        n_sums = 2 * self.residuals.shape[1]
        return gradients.gain_bounds(sums[:, 1 + n_sums :], self.penalty, self.aggregate)

    def walker(self):
        def walk(matrix, parents, which, ranks, conditions, threshold):
            return gradients.best_pairs_by_gain(
                which, parents.starts, parents.rows, parents.ends,
                matrix.indptr, matrix.indices, self.residuals, matrix.supports,
                parents.ranks, ranks, conditions.top, conditions.drop_equal,
                conditions.min_support, threshold, self.penalty, self.aggregate,
            )  # fmt: skip

        return walk


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
