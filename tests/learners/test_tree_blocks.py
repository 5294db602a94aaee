"""A tree grown level by level on blocks is the tree grown in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.blocks import Blocks, MatrixBlocks
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.learners.tree import MultiwayTree, grow_tree
from featloom.learners.tree_blocks import grow_tree_of_blocks


class TableBlocks(Blocks):
    """A table in memory, cut into blocks."""

    def __init__(self, table: NominalTable, ends):
        matrix = FeatureMatrix.from_table(table)
        totals = np.bincount(table.labels, minlength=len(table.classes))
        super().__init__(matrix, np.diff(ends), totals)
        self.table, self._whole, self._ends = table, table, ends

    def block(self, number):
        return FeatureMatrix.from_table(self.rows_of_table(number))

    def rows_of_table(self, number):
        return self._whole.take(np.arange(self._ends[number], self._ends[number + 1]))


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 60))
    n_columns = draw(st.integers(1, 4))
    n_values = draw(st.lists(st.integers(1, 12), min_size=n_columns, max_size=n_columns))
    n_classes = draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.stack([random.integers(0, n + 1, n_rows) for n in n_values], axis=1)
    labels = (codes.sum(axis=1) * 7 + random.integers(0, 2, n_rows)) % n_classes
    vocabularies = tuple(tuple(f"v{v}" for v in range(n)) for n in n_values)
    return NominalTable(
        tuple(f"x{j}" for j in range(n_columns)),
        np.asfortranarray(codes.astype(np.int32)),
        vocabularies,
        labels=labels.astype(np.int32),
        classes=tuple(f"c{k}" for k in range(n_classes)),
    )


def assert_same(one: MultiwayTree, other: MultiwayTree) -> None:
    for name in ("column", "parent", "value", "first_child", "n_children", "rows", "majority",
                 "errors", "gain", "classes_met"):  # fmt: skip
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


@given(
    tables(),
    st.lists(st.integers(0, 60), max_size=4),
    st.sampled_from(["gain_ratio", "information_gain"]),
    st.integers(1, 3),
    st.sampled_from([None, 0, 1, 2]),
    st.integers(1, 200),
)
@settings(max_examples=150, deadline=None)
def test_any_partition_grows_the_same_tree(table, cuts, criterion, min_rows, depth, most_cells):
    ends = sorted({0, len(table), *(min(cut, len(table)) for cut in cuts)})
    how = {"criterion": criterion, "min_rows": min_rows, "max_depth": depth}
    whole = grow_tree(table, **how)
    in_blocks = grow_tree_of_blocks(TableBlocks(table, ends), most_cells=most_cells, **how)
    assert_same(in_blocks, whole)


def test_a_tree_on_some_columns_is_the_same_too():
    random = np.random.default_rng(1)
    codes = np.asfortranarray(random.integers(1, 6, (500, 5)).astype(np.int32))
    labels = ((codes[:, 0] * codes[:, 3] + random.integers(0, 2, 500)) % 3).astype(np.int32)
    table = NominalTable(
        tuple("abcde"), codes, (tuple("vwxyz"),) * 5, labels=labels, classes=("p", "q", "r")
    )
    blocks = TableBlocks(table, [0, 123, 124, 400, 500])
    assert_same(grow_tree_of_blocks(blocks, columns=[3, 0]), grow_tree(table, columns=[3, 0]))
    held = blocks.part(held_out=False)
    kept = replace(table.take(np.flatnonzero(np.arange(500) % 5 != 0)))
    assert_same(grow_tree_of_blocks(held), grow_tree(kept))


def test_a_row_may_have_thousands_of_columns():
    """More cells in one row than the table of cells begins with room for."""
    random = np.random.default_rng(2)
    codes = np.asfortranarray(random.integers(1, 3, (12, 5000)).astype(np.int32))
    labels = (codes[:, 7] - 1).astype(np.int32)
    names = tuple(f"x{j}" for j in range(5000))
    table = NominalTable(names, codes, (("v", "w"),) * 5000, labels=labels, classes=("p", "q"))
    blocks = TableBlocks(table, [0, 5, 12])
    assert_same(grow_tree_of_blocks(blocks, max_depth=1), grow_tree(table, max_depth=1))


def test_rows_of_features_have_no_columns_to_ask_for():
    table = NominalTable.from_columns({"a": list("xyxy")}, labels=list("pqpq"))
    blocks = MatrixBlocks.of([FeatureMatrix.from_table(table)])
    with pytest.raises(InputError, match="a tree asks for columns"):
        grow_tree_of_blocks(blocks)
