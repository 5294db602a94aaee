"""Tables of symbols: codes by first appearance, 0 for unknown, labels from 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.table import NominalTable
from featloom.errors import InputError

symbols = st.sampled_from(["a", "b", "c", "é", "", None])
columns = st.integers(1, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {name: st.lists(symbols, min_size=n, max_size=n) for name in ("one", "two")}
    )
)


def rows_of(table):
    return [[table.value(name, row) for name in table.columns] for row in range(len(table))]


@settings(deadline=None)
@given(columns)
def test_every_symbol_can_be_read_back(columns):
    table = NominalTable.from_columns(columns)
    assert rows_of(table) == [list(row) for row in zip(*columns.values(), strict=True)]


@settings(deadline=None)
@given(columns)
def test_values_are_numbered_from_1_in_order_of_first_appearance(columns):
    table = NominalTable.from_columns(columns)
    for j, values in enumerate(columns.values()):
        seen = list(dict.fromkeys(value for value in values if value is not None))
        assert table.vocabularies[j] == tuple(seen)
        expected = [0 if value is None else seen.index(value) + 1 for value in values]
        assert table.codes[:, j].tolist() == expected


def test_classes_groups_and_tasks_are_numbered_from_0_and_a_missing_label_is_minus_1():
    table = NominalTable.from_columns(
        {"a": ["x", "y", "x"]}, labels=["N", None, "V"], groups=["d", "e", "d"], tasks=["t"] * 3
    )
    assert (table.labels.tolist(), table.classes) == ([0, -1, 1], ("N", "V"))
    assert (table.groups.tolist(), table.group_names) == ([0, 1, 0], ("d", "e"))
    assert (table.tasks.tolist(), table.task_names) == ([0, 0, 0], ("t",))


@settings(deadline=None)
@given(columns, st.data())
def test_rows_can_be_taken_by_number_or_mask(columns, data):
    table = NominalTable.from_columns(
        columns, labels=columns["one"], groups=["d"] * len(columns["one"])
    )
    rows = np.array(data.draw(st.lists(st.integers(0, len(table) - 1))), dtype=np.int64)
    part = table.take(rows)
    assert rows_of(part) == [rows_of(table)[row] for row in rows]
    assert part.labels.tolist() == table.labels[rows].tolist()
    assert part.codes.flags.f_contiguous
    mask = np.isin(np.arange(len(table)), rows)
    assert rows_of(table.take(mask)) == [
        row for row, kept in zip(rows_of(table), mask, strict=True) if kept
    ]


@settings(deadline=None)
@given(columns, columns)
def test_recoding_keeps_what_was_seen_and_forgets_the_rest(seen, new):
    table = NominalTable.from_columns(seen, labels=seen["one"])
    other = NominalTable.from_columns(new, labels=new["one"])
    recoded = table.recode(other)
    for name, values in new.items():
        kept = [value if value in seen[name] else None for value in values]
        assert [recoded.value(name, row) for row in range(len(recoded))] == kept
    labels = [None if label < 0 else recoded.classes[label] for label in recoded.labels]
    assert labels == [value if value in seen["one"] else None for value in new["one"]]
    assert recoded.vocabularies == table.vocabularies


def test_recoding_finds_columns_by_name():
    table = NominalTable.from_columns({"a": ["x"], "b": ["y"]})
    other = NominalTable.from_columns({"b": ["y"], "a": ["x"]})
    assert rows_of(table.recode(other)) == [["x", "y"]]
    with pytest.raises(InputError, match="no column 'b'; there are a"):
        table.recode(NominalTable.from_columns({"a": ["x"]}))


def test_tables_that_do_not_hold_together_are_refused():
    codes = np.ones((2, 2), dtype=np.int32)
    with pytest.raises(InputError, match="column 'a' appears twice"):
        NominalTable(("a", "a"), codes, (("x",), ("x",)))
    with pytest.raises(InputError, match="1 columns named"):
        NominalTable(("a",), codes, (("x",),))
    with pytest.raises(InputError, match=r"columns differ in length: \[1, 2\]"):
        NominalTable.from_columns({"a": ["x"], "b": ["x", "y"]})
    with pytest.raises(InputError, match="1 labels for 2 rows"):
        NominalTable.from_columns({"a": ["x", "y"]}, labels=["N"])
    with pytest.raises(InputError, match="sequence bounds do not cut 2 rows"):
        NominalTable.from_columns({"a": ["x", "y"]}, sequence_bounds=np.array([0, 3]))


def test_an_unknown_column_lists_those_there_are():
    table = NominalTable.from_columns({"letter": ["c"], "next": ["a"]})
    with pytest.raises(InputError, match="no column 'sound'; there are letter, next"):
        table.value("sound", 0)
