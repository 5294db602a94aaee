"""The lattice of feature sets: every overlap comparison of the same queries from one index.

It serves comparisons in which all columns are compared by overlap, and those in which a few are
compared by MVDM: these stand beside the lattice, whose histograms are then kept for each
combination of their values.  Such comparisons have few distances and many cases at each, which
makes a search long.  A lattice doubles with every column, in bytes and in the time of a query;
so it is only made where it is known before that both are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from featloom.kernels.lattice import add_histograms, extend_projections, lattice_classes
from featloom.learners import comparison
from featloom.learners.cases import Memory, MergedQueries, Queries, Trie
from featloom.learners.comparison import Comparison, tolerance
from featloom.pool import in_threads

_COLUMNS = 12  # of a lattice at most: it has a set for every choice among them
_BYTES = 640_000_000  # that a lattice may take, if all cases are near all queries
# A query goes through pairs of sets; so many for each stored case, and comparing it with all
# cases is no slower.
_PAIRS = 128
_STEPS = 1_000_000_000  # before a kernel comes back, about a second
_HISTOGRAM = 4_000_000  # cells of a histogram over values beside the lattice and classes
_KEPT = 2  # lattices of the same queries, beside that of all columns


@dataclass(frozen=True, eq=False)
class Lattice:
    """For every set of columns, the cases that agree with each query at least there."""

    leaf_of: np.ndarray  # the different queries, of each query
    bit_of: dict[int, int]  # of each column
    beside: np.ndarray  # combinations of values of the columns beside the lattice
    set_ids: np.ndarray
    set_first: np.ndarray
    start: np.ndarray
    cells: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(
        cls,
        memory: Memory,
        queries: Queries,
        columns: Sequence[int],
        beside: np.ndarray,
        combination_of: np.ndarray,
    ) -> Lattice:
        """The lattice of some columns; ``combination_of`` says what each case has beside it."""
        merged = queries.merged(memory.trie(columns), memory.n_classes)
        asked, cases = merged.leaves.codes, memory.cases
        everything = memory.order.tolist()
        ordered = [column for column in everything if column in columns]
        places = [everything.index(column) for column in ordered]
        owner = np.repeat(np.arange(len(cases.codes)), np.diff(cases.start))
        cells = (combination_of[owner] * memory.n_classes + cases.classes).astype(np.int32)
        n_cells = len(beside) * memory.n_classes
        ids: list[Any] = [None] * (1 << len(ordered))
        parts: list[Any] = [None] * (1 << len(ordered))

        def visit(one, query_ids, leaf_ids, n_ids, first) -> None:
            ids[one] = query_ids
            parts[one] = add_histograms(leaf_ids, n_ids, cases.start, cells, cases.counts, n_cells)
            for j in range(first, len(ordered)):
                query_more, leaf_more, n_more = extend_projections(
                    query_ids, asked[:, j], leaf_ids, cases.codes[:, places[j]], n_ids
                )
                visit(one | 1 << j, query_more, leaf_more, n_more, j + 1)

        visit(0, np.zeros(len(asked), np.int32), np.zeros(len(cases.codes), np.int32), 1, 0)
        n_stored = np.cumsum([0] + [len(part[1]) for part in parts])
        starts = [part[0][:-1] + first for part, first in zip(parts, n_stored[:-1], strict=True)]
        return cls(
            merged.leaf_of,
            {column: 1 << j for j, column in enumerate(ordered)},
            beside,
            np.array(ids),
            np.cumsum([0] + [len(part[0]) - 1 for part in parts]),
            np.concatenate([*starts, n_stored[-1:]]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
        )

    def sets(self, columns: list[int], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sets of the columns in use, nearest first, and their distances."""
        chosen = np.arange(1 << len(columns))
        agrees = (chosen[:, None] >> np.arange(len(columns))) & 1
        distance = ((1 - agrees) * weights).sum(axis=1)
        bits = np.array([self.bit_of[column] for column in columns], dtype=np.int64)
        # A set comes after those that contain it, also where a column weighs nothing.
        nearest_first = np.lexsort((-agrees.sum(axis=1), distance))
        return (agrees * bits).sum(axis=1)[nearest_first], distance[nearest_first]

    def room(self, sets: np.ndarray) -> int:
        """The most cells that the histograms of one query can have, over some sets."""
        return int(self._longest[sets].sum()) + 1

    @cached_property
    def _longest(self) -> np.ndarray:
        """The cells of the longest histogram of each set."""
        longest = np.zeros(len(self.set_first) - 1, dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.set_first))
        longest[filled] = np.maximum.reduceat(np.diff(self.start), self.set_first[filled])
        return longest


def answer_by_lattice(
    memory: Memory,
    queries: Queries,
    trie: Trie,
    merged: MergedQueries,
    how: Comparison,
    levels: np.ndarray,
    kinds: np.ndarray,
    threads: int,
) -> np.ndarray | None:
    """The classes of queries merged over the columns of the trie, for each level.

    None where a search is the better way: too many columns compared by MVDM, too large a lattice.
    """
    mvdm = [column for column in trie.columns if how.modes[column] == "mvdm"]
    columns = [column for column in trie.columns if column not in mvdm]
    weights = np.array([how.weights[column] for column in columns])
    row_weight = np.array([how.weights[column] for column in mvdm])
    # The more of them, the fewer cases share a distance; most do where all weights are alike.
    alike = len(set(weights) | set(row_weight)) == 1
    if not columns or len(mvdm) > (3 if alike else 2):
        return None
    lattice = _lattice_of(memory, queries, trie, mvdm)
    row_start = _row_starts(queries, trie, merged, mvdm)
    if lattice is None or row_start is None:
        return None
    sets, distance = lattice.sets(columns, weights)
    # Of queries that are alike in the columns in use, the first speaks for all.
    ids = lattice.set_ids[np.ix_(sets, lattice.leaf_of[merged.first_row])]
    classes = np.zeros((ids.shape[1], len(kinds), len(levels)), np.int32)
    # There cannot be more distances than sets and values; one more says that these were all.
    most = len(sets) * len(lattice.beside) + 1
    n_distances = min(int(levels[-1]) + how.look_further, most)
    levels = np.minimum(levels, n_distances)
    room = lattice.room(sets)
    reach = tolerance(np.append(weights, row_weight))

    # Cells are added, taken off and read, and each may look for its place among the distances.
    steps = _pairs(memory, len(columns)) + room * (3 + n_distances) + lattice.beside.size
    size = max(1, min(comparison.BLOCK, _STEPS // steps))

    def block(first: int) -> None:
        last = min(first + size, ids.shape[1])
        lattice_classes(
            first, last, ids, lattice.set_first, lattice.start, lattice.cells, lattice.counts,
            sets, distance, lattice.beside, row_start, queries.rows, row_weight, room,
            memory.class_totals, n_distances, levels, kinds, how.decay,
            how.look_further, reach, classes,
        )  # fmt: skip

    in_threads(block, range(0, ids.shape[1], size), threads)
    return classes


def _is_worth_it(memory: Memory, queries: Queries, n_columns: int) -> bool:
    """Whether a lattice of so many columns fits, and is the faster way; known before it is made.

    It has a number for every query in each set of columns, and of the histograms of each set
    no more cells than the cases have.
    """
    if n_columns > _COLUMNS:
        return False
    n_bytes = (1 << n_columns) * (12 * len(queries) + 8 * len(memory.cases.classes))
    return n_bytes <= _BYTES and _pairs(memory, n_columns) <= _PAIRS * len(memory.cases.codes)


def _pairs(memory: Memory, n_columns: int) -> int:
    """How many pairs of sets a query can have to go through: those that hold cases with all."""
    return (1 << n_columns) * min(1 << n_columns, len(memory.cases.codes))


def _row_starts(
    queries: Queries, trie: Trie, merged: MergedQueries, mvdm: list[int]
) -> np.ndarray | None:
    """Where the differences of each query's values begin; None where they are not kept."""
    starts = np.empty((len(merged.leaves.codes), len(mvdm)), dtype=np.int64)
    for j, column in enumerate(mvdm):
        place = trie.columns.index(column)
        values = merged.leaves.codes[:, place]
        starts[:, j] = queries.row_starts(column, trie.codings[place])[values]
        if ((starts[:, j] < 0) & (values > 0)).any():
            return None
        starts[values == 0, j] = -1
    return starts


def _lattice_of(memory: Memory, queries: Queries, trie: Trie, mvdm: list[int]) -> Lattice | None:
    """The lattice of the columns compared by overlap, kept for the comparisons that follow.

    Where no column is compared by MVDM it is that of all columns, if that is not too large.  It
    serves many comparisons and is never given up for another.
    """
    columns = everything = [int(column) for column in memory.order]
    if mvdm or not _is_worth_it(memory, queries, len(columns)):
        columns = [column for column in trie.columns if column not in mvdm]
    if not _is_worth_it(memory, queries, len(columns)):
        return None
    codings = [trie.codings[trie.columns.index(column)] for column in mvdm]
    if prod(coding.n_values for coding in codings) >= 1 << 63:
        return None  # their values would not go into one number
    key = (tuple(columns), tuple((c, id(coding)) for c, coding in zip(mvdm, codings, strict=True)))
    lattice = queries.lattices.pop(key, None)
    if lattice is None:
        values = np.zeros((len(memory.cases.codes), len(mvdm)), dtype=np.int32)
        combined = np.zeros(len(values), dtype=np.int64)  # values of up to three columns as one
        for j, (column, coding) in enumerate(zip(mvdm, codings, strict=True)):
            values[:, j] = coding.recode(memory.cases.codes[:, everything.index(column)])
            combined = combined * coding.n_values + values[:, j]
        _, first, combination_of = np.unique(combined, return_index=True, return_inverse=True)
        beside = values[first]
        if len(beside) * memory.n_classes > _HISTOGRAM:
            return None
        others = [kept for kept in queries.lattices if kept != (tuple(everything), ())]
        if len(others) >= _KEPT:
            del queries.lattices[others[0]]  # the one not used for longest
        lattice = Lattice.of(memory, queries, columns, beside, combination_of)
    queries.lattices[key] = lattice
    return lattice
