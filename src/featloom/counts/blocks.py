"""Counting data that comes in blocks (:mod:`featloom.data.blocks`).

Blocks are counted one after the other, or on the workers of a cluster where they lie, and what was
counted is added up as a tree.  Counts are whole numbers, so the sum is what would have been counted
in memory, to the last bit, however the rows are cut into blocks.

Features are counted in one pass.  Pairs are counted for a slice of the parents at a time, those
that can reach most first; a slice is as large as memory allows, and every slice is one more pass.
After each the threshold rises: a feature that cannot reach it is in no pair that would be kept, and
takes no part in the next pass.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np

from featloom.cluster import reduced
from featloom.counts.evidence import (
    ClassEvidence,
    Conditions,
    FeatureCounts,
    PairSums,
    Parents,
    ResidualEvidence,
)
from featloom.counts.memory import CountedMatrix
from featloom.counts.ranking import BestConjunctions, Conjunctions
from featloom.data.blocks import Blocks
from featloom.data.matrix import FeatureMatrix
from featloom.kernels import association, pairs, rows
from featloom.kernels.conjunctions import add_class_counts

# The first slice is a small part of the work: the threshold it sets spares much of the rest.
_FIRST_SHARE = 1 / 16
_COPIES = 4  # of a pair's sums while they are gathered and added
_NO_RANK = np.iinfo(np.int64).max


class BlockEvidence(Protocol):
    """What every row of a block brings to a count, and how sums of it are scored."""

    @property
    def n_sums(self) -> int: ...

    def of(self, block: FeatureMatrix) -> ClassEvidence | ResidualEvidence:
        """The evidence of one block, to be counted."""
        ...

    def supports_of(self, sums: np.ndarray) -> np.ndarray: ...

    def scores_of(self, sums: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class ClassesOfBlocks:
    """The class of each row, as evidence; ``evidence`` holds the totals and the score."""

    evidence: ClassEvidence

    @property
    def n_sums(self) -> int:
        return len(self.evidence.class_totals)

    def of(self, block: FeatureMatrix) -> ClassEvidence:
        return ClassEvidence(block.known_labels, self.evidence.class_totals, _Unscored())

    def supports_of(self, sums: np.ndarray) -> np.ndarray:
        return self.evidence.supports_of(sums)

    def scores_of(self, sums: np.ndarray) -> np.ndarray:
        return self.evidence.scores_of(sums)


@dataclass(frozen=True, eq=False)
class GrowingParents:
    """Conjunctions to be made longer; ``rows_of(block)``: (starts, rows) of each in a block."""

    parts: np.ndarray
    supports: np.ndarray
    rows_of: Callable[[FeatureMatrix], tuple[np.ndarray, np.ndarray]]


def count_blocks(blocks: Blocks) -> FeatureCounts:
    """Rows of each class with each feature, in one pass.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from featloom.data.blocks import MatrixBlocks
    >>> part = FeatureMatrix.from_csr(csr_matrix([[1, 0], [1, 1]]), names=["a", "b"],
    ...                               labels=np.array([0, 1]), classes=("no", "yes"))
    >>> count_blocks(MatrixBlocks.of([part, part])).counts.tolist()
    [[2, 2], [0, 2]]
    """
    return reduced(_count_run, blocks, range(blocks.n_blocks), operator.add)


def _count_run(blocks: Blocks, numbers) -> FeatureCounts:
    n_classes = len(blocks.classes)
    totals = np.zeros(n_classes, np.int64)
    counts = np.zeros((blocks.n_features, n_classes), np.int64)
    for number in numbers:
        block = blocks.block(number)
        labels = block.known_labels
        totals += np.bincount(labels, minlength=n_classes)
        add_class_counts(block.indptr, block.indices, labels, counts)
    return FeatureCounts(totals, counts)


def sums_of_features(blocks: Blocks, evidence: BlockEvidence) -> np.ndarray:
    """What the rows of each feature bring, added up."""
    return reduced(_sum_run, (blocks, evidence), range(blocks.n_blocks), operator.add)


def _sum_run(how: tuple[Blocks, BlockEvidence], numbers) -> np.ndarray:
    blocks, evidence = how

    def sums_of(number: int) -> np.ndarray:
        block = blocks.block(number)
        return evidence.of(block).feature_sums(block.indptr, block.indices, blocks.n_features)

    return reduce(operator.iadd, map(sums_of, numbers))


def marks_of_features(blocks: Blocks) -> np.ndarray:
    """As :func:`featloom.kernels.rows.row_set_marks`."""
    return reduced(_mark_run, blocks, range(blocks.n_blocks), operator.add)


def _mark_run(blocks: Blocks, numbers) -> np.ndarray:
    total = np.zeros((blocks.n_features, 2), dtype=np.uint64)
    for number in numbers:
        block = blocks.block(number)
        first = int(blocks.first_rows[number])
        total += rows.row_set_marks(block.indptr, block.indices, blocks.n_features, first)
    return total


def best_conjunctions_of_blocks(
    blocks: Blocks,
    evidence: BlockEvidence,
    *,
    supports: np.ndarray,
    conditions: Conditions,
    bounds: np.ndarray,
    ranks: np.ndarray | None = None,
    keep: np.ndarray | None = None,
    parents: GrowingParents | None = None,
    limit: int | None = None,
    threshold: float = -np.inf,
    most_pairs: int | None = None,
) -> tuple[Conjunctions, np.ndarray]:
    """As :func:`featloom.counts.memory.best_conjunctions`.

    ``supports`` are those of all the data; ``most_pairs`` in a slice follow from the memory of
    the blocks where nothing is said.
    """
    walk = _Walk(blocks, evidence, supports, conditions, bounds, ranks, keep, parents)
    if most_pairs is None:
        most_pairs = max(1000, blocks.room // 2 // (_COPIES * (24 + 8 * evidence.n_sums)))
    best = BestConjunctions(2 if parents is None else parents.parts.shape[1] + 1, limit, threshold)
    tally = np.zeros(pairs.N_TALLIES, dtype=np.int64)
    for which in walk.slices(best, most_pairs, prunes=limit is not None):
        sums = walk.sums(which, best.threshold)
        found, fates = walk.judged(sums, best.threshold)
        tally += np.bincount(fates, minlength=pairs.N_TALLIES)
        tally[pairs.MET] += len(fates)
        best.add(found)
        best.raise_threshold()
    return best.result(), tally


class _Walk:
    """Slices of the parents, and what is met in their rows.

    Parents are numbered by feature for pairs, by conjunction for longer ones.
    """

    def __init__(self, blocks, evidence, supports, conditions, bounds, ranks, keep, parents):
        self.blocks, self.evidence, self.conditions = blocks, evidence, conditions
        self.supports, self.bounds, self.parents = supports, bounds, parents
        self.ranks = np.zeros(len(supports), np.int64) if ranks is None else ranks
        self.keep = np.ones(len(supports), dtype=bool) if keep is None else keep

    def alive(self, threshold: float) -> np.ndarray:
        """Features that can still be in a pair that is kept."""
        rare = self.conditions.leaves_nothing_of(self.supports)
        return self.keep & ~rare & (self.bounds >= threshold)

    def slices(self, best: BestConjunctions, most_pairs: int, prunes: bool) -> Iterator[np.ndarray]:
        """Parents to count in one pass, until none is left that can reach the threshold."""
        order, pairs_of = self._parents_in_order(best.threshold)
        room = most_pairs
        if prunes:
            room = min(most_pairs, max(1, int(pairs_of.sum() * _FIRST_SHARE)))
        while len(order):
            n = max(1, int(np.searchsorted(np.cumsum(pairs_of[order]), room, side="right")))
            yield order[:n]
            order, room = order[n:], most_pairs
            if self.parents is None:
                order = order[self.bounds[order] >= best.threshold]

    def _parents_in_order(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Parents, those that reach most first, and at most how many pairs each has."""
        alive = self.alive(threshold)
        held = (self.blocks, _Labels.of(self.supports, alive))
        work, longest = reduced(_work_run, held, range(self.blocks.n_blocks), _more_work)
        if self.parents is None:
            before = np.zeros(len(alive), np.int64)
            labels = held[1].original
            before[labels] = np.arange(len(labels))
            pairs_of = np.zeros(len(alive), np.int64)
            pairs_of[labels] = np.minimum(work, before[labels])
            numbers = np.flatnonzero(alive)
            return numbers[np.lexsort((numbers, -self.bounds[numbers]))], pairs_of
        supports = self.parents.supports
        pairs_of = np.minimum(supports * longest, int(alive.sum()))
        numbers = np.arange(len(supports))
        return numbers[~self.conditions.leaves_nothing_of(supports)], pairs_of

    def sums(self, which: np.ndarray, threshold: float) -> PairSums:
        """Sums of all pairs of some parents over all blocks; partners are feature numbers."""
        alive = self.alive(threshold if self.parents is None else -np.inf)
        how = _SliceOfParents(
            _Labels.of(self.supports, alive), self.ranks,
            # A rank is one of all the data; nothing else may be asked of a part of it.
            Conditions(min_support=1, top=self.conditions.top, drop_equal=False),
            which, self.parents,
        )  # fmt: skip
        held = (self.blocks, self.evidence, how)
        return reduced(_pairs_run, held, range(self.blocks.n_blocks), operator.add)

    def judged(self, sums: PairSums, threshold: float) -> tuple[Conjunctions, np.ndarray]:
        """The pairs that are kept, and what became of all."""
        supports = self.evidence.supports_of(sums.sums)
        if self.parents is None:
            of_parent, rank = self.supports[sums.parents], self.ranks[sums.parents]
            parts = sums.parents[:, None]
        else:
            of_parent = self.parents.supports[sums.parents]
            rank = np.full(len(of_parent), _NO_RANK)
            parts = self.parents.parts[sums.parents]
        partners = sums.partners
        fates = self.conditions.fates(
            supports, of_parent, self.supports[partners], rank, self.ranks[partners]
        )
        scores = self.evidence.scores_of(sums.sums)
        fates[(fates == pairs.KEPT) & (scores < threshold)] = pairs.LOW
        parts = np.sort(np.concatenate([parts, partners[:, None]], axis=1), axis=1)
        # A feature joined with a conjunction that has it already is nothing new.
        kept = (fates == pairs.KEPT) & (parts[:, 1:] != parts[:, :-1]).all(axis=1)
        return Conjunctions(parts[kept].astype(np.int32), supports[kept], scores[kept]), fates


@dataclass(frozen=True, eq=False)
class _Labels:
    """Features in play, numbered from the most to the least frequent."""

    keep: np.ndarray
    supports: np.ndarray
    original: np.ndarray

    @classmethod
    def of(cls, supports: np.ndarray, keep: np.ndarray) -> _Labels:
        order = np.argsort(-supports, kind="stable")
        return cls(keep, supports, order[keep[order]].astype(np.int32))

    def prepare(self, block: FeatureMatrix) -> CountedMatrix:
        n_features = len(self.supports)
        return CountedMatrix.prepare(
            block.indptr, block.indices, n_features, self.keep, self.supports
        )


def _work_run(how: tuple[Blocks, _Labels], numbers) -> tuple[np.ndarray, int]:
    """Steps that each feature costs as a parent, and the longest row."""
    blocks, labels = how
    work, longest = np.zeros(len(labels.original), np.int64), 0
    new_label = np.full(len(labels.supports), -1, dtype=np.int32)
    new_label[labels.original] = np.arange(len(labels.original), dtype=np.int32)
    for number in numbers:
        block = blocks.block(number)
        indptr, indices = rows.relabel(block.indptr, block.indices, new_label)
        work += pairs.pair_work(indptr, indices, len(work))
        longest = max(longest, int(np.diff(indptr).max(initial=0)))
    return work, longest


def _more_work(one, other):
    return one[0] + other[0], max(one[1], other[1])


@dataclass(frozen=True, eq=False)
class _SliceOfParents:
    """Which parents are walked, and by which rules."""

    labels: _Labels
    ranks: np.ndarray
    conditions: Conditions
    which: np.ndarray
    parents: GrowingParents | None

    def met_in(self, block: FeatureMatrix, evidence: BlockEvidence) -> PairSums:
        """What is met in the rows of the parents, in one block."""
        matrix = self.labels.prepare(block)
        ranks = self.ranks[matrix.original]
        if self.parents is None:
            label_of = np.full(len(self.ranks), -1, dtype=np.int64)
            label_of[matrix.original] = np.arange(matrix.n_features)
            which = label_of[self.which]
            lists = Parents(matrix.starts, matrix.rows, matrix.places, ranks)
        else:
            which = self.which
            starts, found = self.parents.rows_of(block)
            no_ranks = np.full(len(starts) - 1, _NO_RANK)
            lists = Parents(starts, found, matrix.indptr[found + 1], no_ranks)
        walk = evidence.of(block).walker()
        parent, partner, sums, _, _ = walk(matrix, lists, which, ranks, self.conditions, -np.inf)
        if self.parents is None:
            parent = matrix.original[parent]
        return PairSums.in_order(parent, matrix.original[partner], sums)


def _pairs_run(how: tuple[Blocks, BlockEvidence, _SliceOfParents], numbers) -> PairSums:
    blocks, evidence, some = how
    found = (some.met_in(blocks.block(number), evidence) for number in numbers)
    return reduce(operator.add, found)


@dataclass(frozen=True)
class _Unscored:
    """A score that costs little: a pair is not scored before all blocks are counted."""

    kind: int = association.CHI_SQUARED
    aggregate: int = association.GLOBAL
    alternative: int = association.TWO_SIDED

    def of(self, n_rows, class_totals, counts) -> np.ndarray:
        raise AssertionError("a pair is scored when all blocks are counted")

    def bounds(self, n_rows, class_totals, counts, min_support) -> np.ndarray:
        raise AssertionError("a pair is scored when all blocks are counted")

    def log_factorials(self, n_rows: int) -> np.ndarray:
        return np.zeros(1)
