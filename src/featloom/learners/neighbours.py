"""Asking a memory: which cases are nearest to a query, and which class they vote for.

One comparison (a mode and a weight for every column) is answered by a walk over a trie.  Where
many comparisons are tried on the same queries, those by overlap, or nearly so, are answered from
a lattice of column sets that serves them all.  Both are exact.  Queries go in fixed blocks, so
the number of threads changes nothing but the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featloom.errors import InputError
from featloom.kernels.instances import find_rows
from featloom.kernels.nearest import nearest_classes
from featloom.kernels.votes import vote_weight
from featloom.learners import comparison
from featloom.learners.cases import Memory, MergedQueries, Queries, Trie
from featloom.learners.comparison import VOTES, Comparison, tolerance
from featloom.learners.lattice import answer_by_lattice
from featloom.learners.threads import in_threads


class Answers(NamedTuple):
    """What the neighbours said: classes (queries, levels), and where asked for the rest."""

    classes: np.ndarray
    votes: np.ndarray
    distances: np.ndarray


def ask(
    memory: Memory,
    queries: Queries,
    how: Comparison,
    levels: Sequence[int],
    *,
    threads: int = 1,
    with_votes: bool = False,
    with_distances: bool = False,
) -> Answers:
    """The class of every query for each k of ``levels``, ascending; votes are of the last.

    Examples
    --------
    >>> memory = Memory(np.array([[1, 1], [1, 2], [2, 1]]), np.array([0, 1, 0]), [3, 3], 2)
    >>> how = Comparison(("overlap", "overlap"), (1.0, 0.5))
    >>> ask(memory, Queries(np.array([[1, 2], [2, 2]])), how, [1]).classes.tolist()
    [[1], [0]]
    """
    merged, answers = _ask_merged(
        memory, queries, how, np.asarray(levels), threads, with_votes, with_distances
    )
    leaf_of = merged.leaf_of
    return Answers(
        answers.classes[leaf_of],
        answers.votes[leaf_of] if with_votes else answers.votes,
        answers.distances[leaf_of] if with_distances else answers.distances,
    )


def count_correct(
    memory: Memory, queries: Queries, how: Comparison, levels: Sequence[int], *, threads: int = 1
) -> np.ndarray:
    """How many of the queries get their own class, for each k of ``levels``."""
    merged, answers = _ask_merged(memory, queries, how, np.asarray(levels), threads, lattice=True)
    leaves = merged.leaves
    asked = np.repeat(np.arange(len(leaves.codes)), np.diff(leaves.start))
    right = answers.classes[asked] == leaves.classes[:, None]
    return (right * leaves.counts[:, None]).sum(axis=0)


def compared_columns(memory: Memory, how: Comparison) -> list[int]:
    """The columns that count: not ignored, and of a weight above zero.

    Where no weight is, one column stands for all: every case is at distance 0.
    """
    if all(mode == "ignore" for mode in how.modes):
        raise InputError("all features are ignored; nothing is left to compare")
    used = [column for column, mode in enumerate(how.modes) if mode != "ignore"]
    return [column for column in used if how.weights[column] > 0] or used[:1]


def _ask_merged(
    memory: Memory,
    queries: Queries,
    how: Comparison,
    levels: np.ndarray,
    threads: int,
    with_votes: bool = False,
    with_distances: bool = False,
    lattice: bool = False,
) -> tuple[MergedQueries, Answers]:
    mvdm = [column for column, mode in enumerate(how.modes) if mode == "mvdm"]
    trie = memory.trie(compared_columns(memory, how), mvdm, how.mvdm_threshold)
    merged = queries.merged(trie, memory.n_classes)
    walk = _Walk(memory, trie, queries, merged, how, threads)
    farthest = int(levels[-1])
    classes = None
    if lattice and farthest > 1:
        classes = answer_by_lattice(memory, queries, trie, merged, how, levels, threads)
    if classes is None:
        everything = np.arange(len(merged.leaves.codes))
        answers = walk.run(everything, levels, farthest, with_votes, with_distances)
    else:
        answers = Answers(classes, np.empty((0, 0)), np.empty((0, 0)))
    undecided = np.flatnonzero(answers.classes[:, -1] < 0)
    if len(undecided):
        more = walk.run(undecided, levels[-1:], farthest + 1, with_votes, False)
        answers.classes[undecided, -1] = more.classes[undecided, 0]
        if with_votes:
            answers.votes[undecided] = more.votes[undecided]
    if how.exact_first == "always" or (how.exact_first == "first" and levels[0] == 1):
        return _let_exact_matches_decide(memory, queries, merged, walk, levels, answers)
    return merged, answers


def _let_exact_matches_decide(
    memory: Memory,
    queries: Queries,
    merged: MergedQueries,
    walk: _Walk,
    levels: np.ndarray,
    answers: Answers,
) -> tuple[MergedQueries, Answers]:
    """Give queries that the memory holds the class of the case that is like them.

    "First" does so at k = 1 alone, and a tie there is looked at again with two distances.
    """
    how = walk.how
    first = how.exact_first == "first"
    columns = [column for column, mode in enumerate(how.modes) if mode != "ignore"]
    trie = memory.trie(columns)
    every_value_counts = trie.leaves is walk.trie.leaves and (walk.weights > 0).all()
    if first and every_value_counts and not walk.is_mvdm.any():
        return merged, answers  # at distance 0 there is nothing but the match
    # Queries that the walk could not tell apart may have different matches.
    apart = queries.merged(trie, memory.n_classes)
    walked = merged.leaf_of[apart.first_row]
    with_votes = answers.votes.size > 0
    answers = Answers(
        answers.classes[walked],
        answers.votes[walked] if with_votes else answers.votes,
        answers.distances[walked] if answers.distances.size else answers.distances,
    )
    found = find_rows(trie.leaves.codes, apart.leaves.codes)
    found[(apart.leaves.codes == 0).any(axis=1)] = -1
    voted = with_votes and (not first or levels[-1] == 1)
    matched = np.flatnonzero(found >= 0)
    # The classes of all matches one after another, the winner of each match first.
    start, lengths = trie.leaves.start[found[matched]], np.diff(trie.leaves.start)[found[matched]]
    begin = np.cumsum(lengths) - lengths
    cells = np.repeat(start - begin, lengths) + np.arange(lengths.sum())
    asked = np.repeat(matched, lengths)
    classes, counts = trie.leaves.classes[cells], trie.leaves.counts[cells]
    order = np.lexsort((classes, -memory.class_totals[classes], -counts, asked))
    answers.classes[matched, : 1 if first else None] = classes[order[begin], None]
    if voted:
        answers.votes[matched] = 0
        weight = vote_weight(VOTES.index(how.vote), how.decay, 0.0, 0.0, 0.0)
        answers.votes[asked, classes] = weight * counts
    if first and how.look_further:
        several = begin[lengths > 1]
        tied = asked[order[several[counts[order[several]] == counts[order[several + 1]]]]]
        more = walk.run(np.unique(walked[tied]), np.array([2]), 2, True, False)
        for q in tied:
            votes = more.votes[walked[q]]
            if (votes == votes.max()).sum() == 1:
                answers.classes[q, 0] = votes.argmax()
                if voted:
                    answers.votes[q] = votes
    return apart, answers


class _Walk:
    """One comparison's search over a trie."""

    def __init__(
        self,
        memory: Memory,
        trie: Trie,
        asked: Queries,
        merged: MergedQueries,
        how: Comparison,
        threads: int,
    ):
        self.memory, self.trie, self.how = memory, trie, how
        self.queries = merged.leaves.codes
        self.threads = threads
        self.weights = np.array([how.weights[column] for column in trie.columns])
        self.is_mvdm = np.array([how.modes[column] == "mvdm" for column in trie.columns])
        self._values = self._value_arrays(asked)

    def run(
        self,
        which: np.ndarray,
        levels: np.ndarray,
        n_distances: int,
        with_votes: bool,
        with_distances: bool,
    ) -> Answers:
        """Walk for some of the queries."""
        memory, how, leaves, n = self.memory, self.how, self.trie.leaves, len(self.queries)
        answers = Answers(
            np.zeros((n, len(levels)), np.int32),
            np.zeros((n, memory.n_classes) if with_votes else (0, 0)),
            np.full((n, n_distances) if with_distances else (0, 0), np.nan),
        )
        # There cannot be more distances than leaves; one more says that these were all.
        sought = min(n_distances, len(leaves.codes) + 1)
        levels = np.minimum(levels, sought)

        def block(first: int) -> None:
            nearest_classes(
                self.queries, which[first : first + comparison.BLOCK], *leaves, *self.trie.nodes,
                self.weights, self.is_mvdm, *self._values, memory.class_totals, sought, levels,
                VOTES.index(how.vote), how.decay, how.look_further,
                tolerance(self.weights), *answers,
            )  # fmt: skip

        in_threads(block, range(0, len(which), comparison.BLOCK), self.threads)
        return answers

    def _value_arrays(self, asked: Queries) -> tuple[np.ndarray, ...]:
        """The values of all columns one after another, as the kernel reads them."""
        trie = self.trie
        row_starts = [
            asked.row_starts(column, coding) if mvdm else np.full(coding.n_values, -1)
            for column, coding, mvdm in zip(trie.columns, trie.codings, self.is_mvdm, strict=True)
        ]
        cells, classes, shares = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], [np.empty(0)]
        n_shares = 0
        for coding, mvdm, starts in zip(trie.codings, self.is_mvdm, row_starts, strict=True):
            if mvdm and (starts < 0).all():
                cells.append(coding.start[1:] + n_shares)
                classes.append(coding.classes)
                shares.append(coding.shares)
                n_shares += len(coding.shares)
            else:
                cells.append(np.full(coding.n_values, n_shares))
        return (
            np.concatenate(([0], np.cumsum(trie.n_values))),
            np.concatenate(row_starts),
            asked.rows,
            np.concatenate(cells),
            np.concatenate(classes),
            np.concatenate(shares),
            np.concatenate([coding.frequent for coding in trie.codings]),
        )


def distances_to_cases(memory: Memory, query: np.ndarray, how: Comparison) -> np.ndarray:
    """The distance of one query from every stored case, without an index: for explanations."""
    total = np.zeros(len(memory.cases.codes))
    for place, column in enumerate(memory.order):
        if how.modes[column] == "ignore":
            continue
        counts, value = memory.counts[column], query[column]
        difference = np.ones(counts.n_values)
        if how.modes[column] == "mvdm" and counts.totals[value] >= how.mvdm_threshold and value:
            shares = np.zeros(memory.n_classes)
            own = slice(counts.start[value], counts.start[value + 1])
            shares[counts.classes[own]] = counts.shares[own]
            common = np.minimum(counts.shares, shares[counts.classes])
            of_value = np.repeat(np.arange(counts.n_values), np.diff(counts.start))
            difference = 1 - np.bincount(of_value, weights=common, minlength=counts.n_values)
            difference[counts.totals < how.mvdm_threshold] = 1.0
            difference[0] = 1.0
            difference = np.maximum(difference, 0.0)
        if value:
            difference[value] = 0.0
        total += how.weights[column] * difference[memory.cases.codes[:, place]]
    return total
