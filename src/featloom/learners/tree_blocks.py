"""Multiway trees grown on rows that come in blocks, level by level.

The tree is that of :func:`featloom.learners.tree.grow_tree` to the last bit.  Every level is a pass
over the blocks, or several where the counts of all its nodes do not fit in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featloom.cluster import reduced
from featloom.data.blocks import Blocks
from featloom.errors import InputError
from featloom.kernels import tree as growing
from featloom.kernels import tree_levels as levels
from featloom.kernels.tree_counts import no_counts
from featloom.learners.tree import CRITERIA, MultiwayTree, checked_columns, numbers_of_values
from featloom.options import checked, none, one_of, whole

_CELL = 100  # bytes of a cell while it is counted, sorted and added up


@checked(criterion=one_of(CRITERIA), min_rows=whole(1), max_depth=whole(0) | none)
def grow_tree_of_blocks(
    blocks: Blocks,
    *,
    criterion: str = "gain_ratio",
    min_rows: int = 2,
    max_depth: int | None = None,
    columns: Sequence[int] | None = None,
    most_cells: int | None = None,
) -> MultiwayTree:
    """Grow a tree on labelled rows in blocks; parameters as in ``grow_tree``.

    ``most_cells`` that are counted in one pass follow from the memory of the blocks where nothing
    is said.
    """
    table = blocks.table
    if table is None:
        raise InputError("a tree asks for columns, and these blocks are no rows of a table")
    asked = checked_columns(table, columns)
    n_values = numbers_of_values(table, asked)
    if most_cells is None:
        most_cells = max(1000, blocks.room // 2 // _CELL)
    n_classes = len(table.classes)
    counts = no_counts(n_values, n_classes, len(blocks))
    # In memory a count has four bytes; here there may be more rows than these can count.
    wide = {name: getattr(counts, name).astype(np.int64) for name in ("cells", "of_value")}
    counts = counts._replace(**wide)
    nodes, n_nodes = growing.empty_nodes(64), 1
    root_sum = growing.add_root(nodes, _class_totals(blocks), counts)
    most_depth = len(asked) if max_depth is None else min(max_depth, len(asked))
    opened = _Open(np.array([0]), np.array([root_sum]), np.ones((1, len(asked)), dtype=bool))
    if not (nodes.errors[0] > 0 and len(blocks) >= 2 * min_rows and most_depth > 0):
        opened = opened.take(np.empty(0, dtype=np.int64))
    many_valued = np.zeros(len(asked), dtype=bool)
    depth = 0
    while len(opened.nodes):
        depth += 1
        found = []
        for some in opened.slices(nodes.rows, counts.n_cells, most_cells):
            level = _Level(asked, nodes, n_nodes, some, counts.first_cell)
            met = reduced(_count_run, (blocks, level), range(blocks.n_blocks), _Cells.__add__)
            nodes, n_nodes, *new = levels.split_nodes(
                nodes, n_nodes, some.nodes, some.sums, some.may_split,
                *met.by_node(len(some.nodes), int(counts.first_cell[-1])), counts, many_valued,
                n_classes, criterion == "gain_ratio", min_rows, depth < most_depth,
            )  # fmt: skip
            found.append(_Open(*new))
        opened = _Open.joined(found)
    return _tree(table, asked, growing.resized(nodes, n_nodes))


def _tree(table, asked: np.ndarray, nodes: growing.Nodes) -> MultiwayTree:
    order = levels.depth_first(nodes.first_child, nodes.n_children)
    number_of = np.empty(len(order), dtype=np.int64)
    number_of[order] = np.arange(len(order))
    nodes = growing.Nodes(*(array[order] for array in nodes))
    nodes.parent[1:] = number_of[nodes.parent[1:]]
    internal = nodes.column >= 0
    nodes.first_child[internal] = number_of[nodes.first_child[internal]]
    nodes.column[internal] = asked[nodes.column[internal]]
    return MultiwayTree(table.columns, table.vocabularies, table.classes, *nodes)


@dataclass(frozen=True, eq=False)
class _Open:
    """Nodes that may be split: Σ h(n_c) of each, and the columns that may do it."""

    nodes: np.ndarray
    sums: np.ndarray
    may_split: np.ndarray

    def take(self, which: np.ndarray) -> _Open:
        return _Open(self.nodes[which], self.sums[which], self.may_split[which])

    @classmethod
    def joined(cls, parts: Sequence[_Open]) -> _Open:
        arrays = ([getattr(p, name) for p in parts] for name in ("nodes", "sums", "may_split"))
        return cls(*map(np.concatenate, arrays))

    def slices(self, rows: np.ndarray, n_cells: np.ndarray, most: int) -> Iterator[_Open]:
        """Runs of nodes that have no more than so many cells, as far as can be told before."""
        n_rows = rows[self.nodes][:, None]
        cells = (np.minimum(n_rows, n_cells[None, :]) * self.may_split).sum(axis=1)
        run = np.cumsum(cells) // most
        for cut in np.unique(run):
            yield self.take(np.flatnonzero(run == cut))


@dataclass(frozen=True, eq=False)
class _Level:
    """What a pass over the blocks has to know."""

    asked: np.ndarray
    nodes: growing.Nodes
    n_nodes: int
    opened: _Open
    first_cell: np.ndarray


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells that were met: how often, and in which row first."""

    keys: np.ndarray
    counts: np.ndarray
    firsts: np.ndarray

    def __add__(self, other: _Cells) -> _Cells:
        keys = np.concatenate([self.keys, other.keys])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.concatenate([self.counts, other.counts])[order]
        firsts = np.concatenate([self.firsts, other.firsts])[order]
        if not len(keys):
            return self
        return _Cells(
            keys[starts], np.add.reduceat(counts, starts), np.minimum.reduceat(firsts, starts)
        )

    def by_node(self, n_open: int, n_cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the cells of each open node begin, the cells, and their counts.

        In a node they are in the order of the rows that showed them first, in which those of one
        column are, too.
        """
        places, cells = np.divmod(self.keys, n_cells)
        order = np.lexsort((self.keys, self.firsts, places))
        bounds = np.searchsorted(places[order], np.arange(n_open + 1))
        return bounds, cells[order], self.counts[order]


def _count_run(how: tuple[Blocks, _Level], numbers) -> _Cells:
    blocks, level = how
    table = blocks.table
    assert table is not None
    place_of = np.full(level.n_nodes, -1, dtype=np.int64)
    place_of[level.opened.nodes] = np.arange(len(level.opened.nodes))
    room = [np.empty(1024, dtype=np.int64) for _ in range(3)]
    cells: tuple[Any, ...] = (*room, np.full(1024, -1, dtype=np.int64), 0)
    nodes = level.nodes
    for number in numbers:
        rows = blocks.rows_of_table(number)
        codes = rows.codes[:, level.asked]
        places = levels.open_nodes_of_rows(
            codes, nodes.column, nodes.first_child, nodes.n_children, nodes.value, place_of
        )
        first_row = int(blocks.first_rows[number])
        cells = levels.count_cells(
            codes, rows.labels, places, level.opened.may_split, level.first_cell,
            len(table.classes), first_row, *cells,
        )  # fmt: skip
    keys, counts, firsts, _, n = cells
    return _Cells(keys[:n].copy(), counts[:n].copy(), firsts[:n].copy())


def _class_totals(blocks: Blocks) -> np.ndarray:
    if blocks.class_totals is not None:
        return blocks.class_totals
    totals = np.zeros(len(blocks.classes), dtype=np.int64)
    for number in range(blocks.n_blocks):
        labels = blocks.block(number).known_labels
        totals += np.bincount(labels, minlength=len(totals))
    return totals
