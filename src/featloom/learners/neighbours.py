"""Asking a memory: which cases are nearest to a query, and which class they vote for.

There are three ways, all of them exact, with the same answers:

- a walk over a trie of the cases, which leaves aside whatever cannot be near;
- a comparison with all cases, many in one instruction, where there is little to leave aside;
- where many comparisons are tried on the same queries, those by overlap, or nearly so, are
  answered from a lattice of column sets that serves them all.

The walk answers a few of the queries first; the steps that these take say whether it, or the
comparison with all cases, has the others.  Queries go in blocks of no more than about a second
each, so that a program can be stopped; neither these nor the threads change an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featloom.errors import InputError
from featloom.kernels.all_cases import all_cases_classes
from featloom.kernels.compiling import compiled_for
from featloom.kernels.instances import find_rows
from featloom.kernels.nearest import nearest_classes
from featloom.kernels.votes import vote_weight
from featloom.learners import comparison
from featloom.learners.cases import Memory, MergedQueries, Queries, Trie
from featloom.learners.comparison import VOTES, Comparison, tolerance
from featloom.learners.lattice import answer_by_lattice
from featloom.pool import in_threads

_RUNS = 4  # places among the queries from which the walk answers some first,
_RUN = 8  # so many at each
_STEPS = 200_000_000  # of a walk before it comes back, about a second
_DIFFERENCES = 2_000_000_000  # of a comparison with all cases, likewise
# What a difference costs where all cases are compared, in steps of a walk.
_BY_OVERLAP = 0.03
_BY_MVDM = 0.1


class Answers(NamedTuple):
    """What the neighbours said: classes (queries, levels), and where asked for the rest.

    In answers by several votes, classes are (queries, votes, levels), and ``votes`` (queries,
    votes, levels, classes).
    """

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
    answers = ask_by_votes(
        memory, queries, how, levels, [how.vote], threads=threads, with_votes=with_votes,
        with_distances=with_distances,
    )  # fmt: skip
    votes = answers.votes[:, 0, -1] if with_votes else np.empty((0, 0))
    return Answers(answers.classes[:, 0], votes, answers.distances)


def ask_by_votes(
    memory: Memory,
    queries: Queries,
    how: Comparison,
    levels: Sequence[int],
    votes: Sequence[str] = VOTES,
    *,
    threads: int = 1,
    with_votes: bool = False,
    with_distances: bool = False,
) -> Answers:
    """The class of every query by each of the votes and for each k, all from one search.

    ``how.vote`` counts for nothing.

    Examples
    --------
    >>> memory = Memory(np.array([[1, 1], [1, 2], [2, 1]]), np.array([0, 1, 1]), [3, 3], 2)
    >>> how, asked = Comparison(("overlap", "overlap"), (1.0, 0.5)), Queries(np.array([[1, 1]]))
    >>> answers = ask_by_votes(
    ...     memory, asked, how, [1, 3], ["count", "inverse_linear"], with_votes=True
    ... )
    >>> answers.classes.tolist()
    [[[0, 1], [0, 0]]]
    >>> answers.votes[0, 1].tolist()
    [[1.0, 0.0], [1.0, 0.5]]
    """
    kinds = np.array([VOTES.index(vote) for vote in votes])
    merged, answers = _ask_merged(
        memory, queries, how, np.asarray(levels), kinds, threads, with_votes, with_distances
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
    return count_correct_by_votes(memory, queries, how, levels, [how.vote], threads=threads)[0]


def count_correct_by_votes(
    memory: Memory,
    queries: Queries,
    how: Comparison,
    levels: Sequence[int],
    votes: Sequence[str] = VOTES,
    *,
    threads: int = 1,
) -> np.ndarray:
    """How many of the queries get their own class by each of the votes, (votes, levels)."""
    kinds = np.array([VOTES.index(vote) for vote in votes])
    merged, answers = _ask_merged(
        memory, queries, how, np.asarray(levels), kinds, threads, lattice=True
    )
    leaves = merged.leaves
    asked = np.repeat(np.arange(len(leaves.codes)), np.diff(leaves.start))
    right = answers.classes[asked] == leaves.classes[:, None, None]
    return (right * leaves.counts[:, None, None]).sum(axis=0)


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
    kinds: np.ndarray,
    threads: int,
    with_votes: bool = False,
    with_distances: bool = False,
    lattice: bool = False,
) -> tuple[MergedQueries, Answers]:
    mvdm = [column for column, mode in enumerate(how.modes) if mode == "mvdm"]
    trie = memory.trie(compared_columns(memory, how), mvdm, how.mvdm_threshold)
    merged = queries.merged(trie, memory.n_classes)
    search = _Search(memory, trie, queries, merged, how, kinds, threads)
    farthest = int(levels[-1])
    classes = None
    if lattice and farthest > 1:
        classes = answer_by_lattice(memory, queries, trie, merged, how, levels, kinds, threads)
    if classes is None:
        everything = np.arange(len(merged.leaves.codes))
        answers = search.run(everything, levels, farthest, with_votes, with_distances)
    else:
        answers = Answers(classes, np.empty((0, 0, 0, 0)), np.empty((0, 0)))
    # Only for the last level can one distance more be wanting.
    undecided = answers.classes[:, :, -1] < 0
    again = np.flatnonzero(undecided.any(axis=1))
    if len(again):
        more = search.run(again, levels[-1:], farthest + 1, with_votes, False)
        answers.classes[undecided, -1] = more.classes[undecided, 0]
        if with_votes:
            answers.votes[undecided, -1] = more.votes[undecided, 0]
    if how.exact_first == "always" or (how.exact_first == "first" and levels[0] == 1):
        return _let_exact_matches_decide(memory, queries, merged, search, levels, answers)
    return merged, answers


def _let_exact_matches_decide(
    memory: Memory,
    queries: Queries,
    merged: MergedQueries,
    search: _Search,
    levels: np.ndarray,
    answers: Answers,
) -> tuple[MergedQueries, Answers]:
    """Give queries that the memory holds the class of the case that is like them.

    "First" does so at k = 1 alone, and a tie there is looked at again with two distances.
    """
    how = search.how
    first = how.exact_first == "first"
    columns = [column for column, mode in enumerate(how.modes) if mode != "ignore"]
    trie = memory.trie(columns)
    every_value_counts = trie.leaves is search.trie.leaves and (search.weights > 0).all()
    if first and every_value_counts and not search.is_mvdm.any():
        return merged, answers  # at distance 0 there is nothing but the match
    # Queries that the search could not tell apart may have different matches.
    apart = queries.merged(trie, memory.n_classes)
    searched = merged.leaf_of[apart.first_row]
    with_votes = answers.votes.size > 0
    answers = Answers(
        answers.classes[searched],
        answers.votes[searched] if with_votes else answers.votes,
        answers.distances[searched] if answers.distances.size else answers.distances,
    )
    found = find_rows(trie.leaves.codes, apart.leaves.codes)
    found[(apart.leaves.codes == 0).any(axis=1)] = -1
    decided = slice(0, 1) if first else slice(None)  # the levels
    matched = np.flatnonzero(found >= 0)
    # The classes of all matches one after another, the winner of each match first.
    start, lengths = trie.leaves.start[found[matched]], np.diff(trie.leaves.start)[found[matched]]
    begin = np.cumsum(lengths) - lengths
    cells = np.repeat(start - begin, lengths) + np.arange(lengths.sum())
    asked = np.repeat(matched, lengths)
    classes, counts = trie.leaves.classes[cells], trie.leaves.counts[cells]
    order = np.lexsort((classes, -memory.class_totals[classes], -counts, asked))
    answers.classes[matched, :, decided] = classes[order[begin], None, None]
    if with_votes:
        answers.votes[matched, :, decided] = 0
        for place, kind in enumerate(search.kinds):
            weight = vote_weight(kind, how.decay, 0.0, 0.0, 0.0)
            answers.votes[asked, place, decided, classes] = (weight * counts)[:, None]
    if first and how.look_further:
        several = begin[lengths > 1]
        tied = asked[order[several[counts[order[several]] == counts[order[several + 1]]]]]
        more = search.run(np.unique(searched[tied]), np.array([2]), 2, True, False)
        for q in tied:
            for place, votes in enumerate(more.votes[searched[q], :, 0]):
                if (votes == votes.max()).sum() == 1:
                    answers.classes[q, place, 0] = votes.argmax()
                    if with_votes:
                        answers.votes[q, place, 0] = votes
    return apart, answers


class _Search:
    """One comparison's search for the nearest cases: by a walk, or through all of them."""

    def __init__(
        self,
        memory: Memory,
        trie: Trie,
        asked: Queries,
        merged: MergedQueries,
        how: Comparison,
        kinds: np.ndarray,
        threads: int,
    ):
        self.memory, self.trie, self.how, self.kinds = memory, trie, how, kinds
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
        """Search for some of the queries."""
        memory, leaves, n = self.memory, self.trie.leaves, len(self.queries)
        shape = (n, len(self.kinds), len(levels))
        answers = Answers(
            np.zeros(shape, np.int32),
            np.zeros((*shape, memory.n_classes) if with_votes else (0, 0, 0, 0)),
            np.full((n, n_distances) if with_distances else (0, 0), np.nan),
        )
        # There cannot be more distances than leaves; one more says that these were all.
        sought = min(n_distances, len(leaves.codes) + 1)
        asked = (
            *self._values, memory.class_totals, sought, np.minimum(levels, sought), self.kinds,
            self.how.decay, self.how.look_further, tolerance(self.weights), *answers,
        )  # fmt: skip
        if compiled_for() is not None:
            self._through_all(which, np.ascontiguousarray(leaves.codes.T), asked)
        is_first = self._first_of(which)
        width = leaves.codes.size
        n_steps, at_once = 0, max(1, _STEPS // max(1, width))
        for first in range(0, int(is_first.sum()), at_once):
            n_steps += self._walk(which[is_first][first : first + at_once], asked)
        rest = which[~is_first]
        if not len(rest):
            return answers
        steps = max(1.0, n_steps / is_first.sum()) if is_first.any() else width
        through_all = len(leaves.codes) * (
            _BY_MVDM * self.is_mvdm.sum() + _BY_OVERLAP * (~self.is_mvdm).sum()
        )
        columns, size = None, int(_STEPS / steps)
        if is_first.any() and through_all < steps:
            # The values of a column side by side.
            columns, size = np.ascontiguousarray(leaves.codes.T), _DIFFERENCES // width
        size = min(max(1, size), comparison.BLOCK)

        def block(first: int) -> None:
            some = rest[first : first + size]
            if columns is None:
                self._walk(some, asked)
            else:
                self._through_all(some, columns, asked)

        in_threads(block, range(0, len(rest), size), self.threads)
        return answers

    def _walk(self, which: np.ndarray, asked: tuple) -> int:
        return nearest_classes(
            self.queries, which, *self.trie.leaves, *self.trie.nodes, self.weights, self.is_mvdm,
            *asked,
        )  # fmt: skip

    def _through_all(self, which: np.ndarray, columns: np.ndarray, asked: tuple) -> None:
        all_cases_classes(
            self.queries, which, columns, *self.trie.leaves[1:], self.weights, self.is_mvdm, *asked
        )

    def _first_of(self, which: np.ndarray) -> np.ndarray:
        """Which queries are answered first by a walk: short runs of them, evenly spread.

        Queries that follow one another are alike, and the walk makes use of that.  All of them
        together take about a second at most, or are one a run.
        """
        is_first = np.zeros(len(which), dtype=bool)
        width = self.trie.leaves.codes.size
        run = max(1, min(_RUN, _STEPS // max(1, _RUNS * width)))
        if len(which) >= 2 * _RUNS * run:
            for begin in np.linspace(0, len(which) - run, _RUNS).astype(int):
                is_first[begin : begin + run] = True
        return is_first

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
