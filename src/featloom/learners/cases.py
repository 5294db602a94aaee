"""A memory of cases, indexed for exact nearest-neighbour search.

What is kept: the cases, alike ones merged, and for every column its values × classes counts.
What is made from them when a comparison asks for it, and kept for those that come after:

- *codings* of the columns.  A column compared by the value difference metric may have many values
  with the same class shares (words seen once); these are at distance 0 from one another and
  become one.
- *tries* over the columns in use, heaviest first.  The order is that of the gain ratios whatever
  the weights, so that one trie serves all weights.

Queries are merged in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from featloom.counts.values import WEIGHTS, ValueCounts
from featloom.kernels.instances import build_trie, merge_rows, sort_rows
from featloom.kernels.value_difference import alike_values, difference_rows
from featloom.options import check, one_of

_ROW_CELLS = 4_000_000  # up to so many differences of one column's values are kept
_KEPT = 64  # tries, and merged queries


class Leaves(NamedTuple):
    """Cases that were merged: their codes, a row a leaf, and histograms of classes."""

    codes: np.ndarray
    start: np.ndarray
    classes: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Coding:
    """The values of one column as a comparison tells them apart, and their class shares."""

    code_of: np.ndarray | None  # of each value of the column; None: its own
    start: np.ndarray
    classes: np.ndarray
    shares: np.ndarray
    frequent: np.ndarray
    n_classes: int

    @property
    def n_values(self) -> int:
        return len(self.start) - 1

    def recode(self, values: np.ndarray) -> np.ndarray:
        return values if self.code_of is None else self.code_of[values]


class Trie(NamedTuple):
    """Leaves over some columns, in the trie's order of columns."""

    columns: tuple[int, ...]
    codings: tuple[Coding, ...]
    leaves: Leaves
    nodes: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]

    @property
    def n_values(self) -> np.ndarray:
        return np.array([coding.n_values for coding in self.codings])


class Memory:
    """Cases with their classes, ready to be asked.

    Parameters
    ----------
    codes : value codes, (cases, columns); 0 is unknown.
    labels : class codes.
    n_values : for each column, one more than its highest code.
    n_classes : how many classes there are.

    Examples
    --------
    Three cases, two of them alike:

    >>> memory = Memory(np.array([[1, 1], [1, 1], [2, 1]]), np.array([0, 1, 0]), [3, 2], 2)
    >>> memory.cases.codes.tolist(), memory.cases.counts.tolist()
    ([[1, 1], [2, 1]], [1, 1, 1])
    """

    def __init__(
        self, codes: np.ndarray, labels: np.ndarray, n_values: Sequence[int], n_classes: int
    ):
        self.n_values = np.asarray(n_values, dtype=np.int64)
        self.n_classes = n_classes
        self.n_cases = len(labels)
        self.class_totals = np.bincount(labels, minlength=n_classes)
        self.counts = [
            ValueCounts.of(codes[:, j], labels, n_values=int(n), n_classes=n_classes)
            for j, n in enumerate(self.n_values)
        ]
        self._weights = [counts.weights() for counts in self.counts]
        self.order = np.argsort(-self.weights("gain_ratio"), kind="stable")
        dtype = np.uint16 if self.n_values.max(initial=0) <= 1 << 16 else np.int32
        ordered = np.empty((len(self.order), self.n_cases), dtype=dtype)
        for place, column in enumerate(self.order):
            ordered[place] = codes[:, column]
        self.cases, _ = merge(ordered, self.n_values[self.order], labels, n_classes)
        self._codings: dict[tuple[int, int], Coding] = {}
        self._tries: dict[Any, Trie] = {}

    def weights(self, name: str) -> np.ndarray:
        """The weights of all columns by one of the five weightings."""
        check({"weights": one_of(WEIGHTS)}, {"weights": name})
        return np.array([weights[name] for weights in self._weights])

    def trie(
        self, columns: Collection[int], mvdm: Collection[int] = (), threshold: int = 1
    ) -> Trie:
        """The trie over some columns, of which those in ``mvdm`` are compared by that metric.

        Values seen fewer than ``threshold`` times are like no other value.
        """
        ordered = tuple(int(column) for column in self.order if column in columns)
        codings = tuple(
            self._coding(column, threshold if column in mvdm else 0) for column in ordered
        )
        # A column whose values stay apart looks the same under both metrics.
        key = tuple(
            (column, 0 if coding.code_of is None else threshold)
            for column, coding in zip(ordered, codings, strict=True)
        )
        trie = self._tries.pop(key, None)
        if trie is None:
            leaves = self._leaves(ordered, codings)
            trie = Trie(ordered, codings, leaves, build_trie(leaves.codes))
        self._tries[key] = trie = trie._replace(codings=codings)
        if len(self._tries) > _KEPT:
            del self._tries[next(iter(self._tries))]  # the one not used for longest
        return trie

    def _coding(self, column: int, threshold: int) -> Coding:
        """The values of a column; alike ones are one where that saves something."""
        key = (column, threshold)
        if key not in self._codings:
            counts = self.counts[column]
            frequent = counts.totals >= max(1, threshold)
            frequent[0] = False
            coding = Coding(
                None, counts.start, counts.classes, counts.shares, frequent, self.n_classes
            )
            if threshold:
                group, n_groups = alike_values(
                    counts.start, counts.classes, counts.counts, frequent
                )
                if n_groups < 0.9 * counts.n_values:
                    coding = _grouped(counts, group, n_groups, frequent)
            self._codings[key] = coding
        return self._codings[key]

    def _leaves(self, columns: tuple[int, ...], codings: Sequence[Coding]) -> Leaves:
        cases = self.cases
        plain = all(coding.code_of is None for coding in codings)
        if plain and len(columns) == len(self.order):
            return cases
        place_of = {int(column): place for place, column in enumerate(self.order)}
        codes = np.empty((len(columns), len(cases.codes)), dtype=cases.codes.dtype)
        for j, (column, coding) in enumerate(zip(columns, codings, strict=True)):
            codes[j] = coding.recode(cases.codes[:, place_of[column]])
        n_values = np.array([coding.n_values for coding in codings])
        return merge(codes, n_values, cases[1:], self.n_classes)[0]


class MergedQueries(NamedTuple):
    """Queries that are alike in the columns in use, as leaves with histograms of their classes."""

    leaves: Leaves
    leaf_of: np.ndarray
    first_row: np.ndarray


class Queries:
    """Cases to be put to one memory, with their classes where these are known (-1: not).

    What is made of them for a trie is kept, so that many comparisons can be tried on them.
    """

    def __init__(self, codes: np.ndarray, labels: np.ndarray | None = None):
        self.codes = np.asarray(codes)
        self.labels = np.full(len(codes), -1, np.int32) if labels is None else np.asarray(labels)
        self.lattices: dict[Any, Any] = {}
        self.rows = np.empty(0)
        self._n_cells = 0
        self._row_starts: dict[Any, np.ndarray] = {}
        self._merged: dict[Any, MergedQueries] = {}

    def __len__(self) -> int:
        return len(self.codes)

    def row_starts(self, column: int, coding: Coding) -> np.ndarray:
        """Where in ``rows`` the differences of each value from all others begin.

        Those of values that no query has are not kept (-1), nor any where there are too many.
        """
        key = (column, id(coding))
        if key not in self._row_starts:
            starts = np.full(coding.n_values, -1, dtype=np.int64)
            wanted = np.unique(coding.recode(self.codes[:, column]))
            n_cells = len(wanted) * coding.n_values
            if n_cells <= _ROW_CELLS:
                first = self._n_cells
                self._n_cells += n_cells
                if self._n_cells > len(self.rows):
                    self.rows = np.resize(self.rows, max(self._n_cells, 2 * len(self.rows)))
                difference_rows(
                    coding.start, coding.classes, coding.shares, coding.frequent,
                    coding.n_classes, wanted, self.rows[first : self._n_cells],
                )  # fmt: skip
                starts[wanted] = first + np.arange(len(wanted)) * coding.n_values
            self._row_starts[key] = starts
        return self._row_starts[key]

    def merged(self, trie: Trie, n_classes: int) -> MergedQueries:
        """The queries as that trie tells them apart."""
        key = tuple(
            (column, None if coding.code_of is None else id(coding))
            for column, coding in zip(trie.columns, trie.codings, strict=True)
        )
        if key not in self._merged:
            if len(self._merged) >= _KEPT:
                del self._merged[next(iter(self._merged))]
            codes = np.empty((len(trie.columns), len(self)), dtype=trie.leaves.codes.dtype)
            for j, (column, coding) in enumerate(zip(trie.columns, trie.codings, strict=True)):
                codes[j] = coding.recode(self.codes[:, column])
            # A class of their own for those without one that the memory knows.
            labels = np.where(self.labels < 0, n_classes, self.labels)
            leaves, leaf_of = merge(codes, trie.n_values, labels, n_classes + 1)
            first_row = np.empty(len(leaves.codes), dtype=np.int64)
            first_row[leaf_of[::-1]] = np.arange(len(self))[::-1]
            self._merged[key] = MergedQueries(leaves, leaf_of, first_row)
        return self._merged[key]


def merge(
    codes: np.ndarray, n_values: np.ndarray, classes: Any, n_classes: int
) -> tuple[Leaves, np.ndarray]:
    """Merge rows that are alike: the leaves, and the leaf of each row.

    ``codes`` is (columns, rows); ``classes`` holds the class of each row, or the histograms of
    rows that were merged before.
    """
    if isinstance(classes, np.ndarray):
        nothing = np.empty(0, dtype=np.int64)
        classes = nothing, classes.astype(np.int32), nothing.astype(np.int32)
    order = sort_rows(codes, n_values)
    *leaves, leaf_of = merge_rows(codes, order, *classes, n_classes)
    return Leaves(*leaves), leaf_of


def _grouped(counts: ValueCounts, group: np.ndarray, n_groups: int, frequent) -> Coding:
    """A coding in which alike values are one: that of the first of each group."""
    first = np.empty(n_groups, dtype=np.int64)
    first[group[::-1]] = np.arange(counts.n_values)[::-1]
    lengths = np.diff(counts.start)[first]
    start = np.concatenate(([0], np.cumsum(lengths)))
    cells = np.repeat(counts.start[first] - start[:-1], lengths) + np.arange(start[-1])
    shares = counts.shares
    return Coding(
        group, start, counts.classes[cells], shares[cells], frequent[first], counts.n_classes
    )
