"""Data in memory: frames, arrays and lists of rows make the same table."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featloom.data.frames import table_from_frame
from featloom.data.table import NominalTable
from featloom.errors import InputError

ROWS = [["c", "a"], ["c", None], ["k", "a"], ["é", ""]]


def rows_of(table):
    return [[table.value(name, row) for name in table.columns] for row in range(len(table))]


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda rows: [tuple(row) for row in rows],
        lambda rows: np.array(rows, dtype=object),
        lambda rows: pd.DataFrame(rows, columns=["x0", "x1"]),
        lambda rows: pd.DataFrame(rows, columns=["x0", "x1"], dtype="string"),
        lambda rows: pd.DataFrame(rows, columns=["x0", "x1"], dtype="category"),
        lambda rows: pl.DataFrame(rows, schema=["x0", "x1"], orient="row"),
        lambda rows: pl.DataFrame(rows, schema=["x0", "x1"], orient="row").lazy(),
        lambda rows: pl.DataFrame(rows, schema=["x0", "x1"], orient="row").to_arrow(),
    ],
)
def test_frames_arrays_and_lists_make_the_same_table(make):
    table = table_from_frame(make(ROWS), ["K", "S", "K", "S"])
    assert rows_of(table) == ROWS
    assert table.columns == ("x0", "x1")
    assert table.codes.tolist() == [[1, 1], [1, 0], [2, 1], [3, 2]]
    assert (table.classes, table.labels.tolist()) == (("K", "S"), [0, 1, 0, 1])


def test_values_become_their_text_and_whole_numbers_have_no_point():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "with gaps": [1.0, np.nan, 3.0],
            "real": [0.5, 1e-7, float("inf")],
            "flag": [True, False, True],
            "day": [datetime.date(2024, 5, 1), None, None],
        }
    )
    assert rows_of(table_from_frame(frame)) == [
        ["1", "1", "0.5", "True", "2024-05-01"],
        ["2", None, "1e-07", "False", None],
        ["3", "3", "inf", "True", None],
    ]


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64, "U2", "S2", object])
def test_arrays_of_every_kind(dtype):
    assert rows_of(table_from_frame(np.array([[1, 2], [3, 1]], dtype=dtype))) == [
        ["1", "2"],
        ["3", "1"],
    ]


def test_missing_values_of_every_kind_have_the_code_0():
    frame = pd.DataFrame({"a": [None, np.nan, pd.NA, pd.NaT, "x"]}, dtype=object)
    assert table_from_frame(frame).codes[:, 0].tolist() == [0, 0, 0, 0, 1]
    assert table_from_frame(
        pl.DataFrame({"a": [float("nan"), None, 1.0]})
    ).codes.ravel().tolist() == [
        0,
        0,
        1,
    ]


def test_columns_can_be_named():
    assert table_from_frame(ROWS, columns=["letter", "next"]).columns == ("letter", "next")
    assert table_from_frame(pd.DataFrame({0: ["a"], 1: ["b"]})).columns == ("0", "1")
    with pytest.raises(InputError, match="1 column names for 2 columns"):
        table_from_frame(ROWS, columns=["letter"])


def test_labels_of_every_kind():
    for y in (
        np.array([1, 0, 1, 0]),
        pd.Series([1, 0, 1, 0]),
        pl.Series([1, 0, 1, 0]),
        [1, 0, 1, 0],
    ):
        table = table_from_frame(ROWS, y)
        assert (table.classes, table.labels.tolist()) == (("1", "0"), [0, 1, 0, 1])
    assert table_from_frame(ROWS, ["a", None, "b", "a"]).labels.tolist() == [0, -1, 1, 0]
    with pytest.raises(InputError, match="3 labels for 4 rows"):
        table_from_frame(ROWS, [1, 0, 1])
    with pytest.raises(InputError, match="labels have 2 dimensions, one expected"):
        table_from_frame(ROWS, np.ones((4, 2)))


def test_a_table_passes_through_and_can_be_given_labels():
    table = NominalTable.from_columns({"a": ["x", "y"]})
    assert table_from_frame(table) is table
    assert table_from_frame(table, ["N", "V"]).classes == ("N", "V")


def test_duplicate_columns_are_refused():
    for frame in (
        pd.DataFrame([["x", "y"]], columns=["a", "a"]),
        pd.DataFrame([["x", "y"]], columns=["1", 1]),
        pa.table([pa.array(["x"]), pa.array(["y"])], names=["a", "a"]),
    ):
        with pytest.raises(InputError, match=r"column '(a|1)' appears twice"):
            table_from_frame(frame)
    with pytest.raises(InputError, match="column 'a' appears twice"):
        table_from_frame(ROWS, columns=["a", "a"])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["a", "b"], ["c"]], "row 1 has 1 values, 2 expected"),
        (["ab", "cd"], "row 0 is 'ab', one value; a row is a list of values"),
        ([1, 2], "row 0 is 1, one value"),
        ([], r"0 sample\(s\) \(shape=\(0, 0\)\) while a minimum of 1 is required"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.array(["a", "b"]), "Expected 2D array, got 1D array instead. Reshape your data"),
        (np.array([[1j]]), "Complex data not supported"),
        (
            sparse.eye(3, format="csr"),
            "this is a sparse matrix; FeatureMatrix.from_csr takes those",
        ),
        ("a,b", "a table cannot be made of a str"),
        (7, "a table cannot be made of a int"),
        ([[["a"], "b"]], "column 'x0' holds a list; a cell is one symbol"),
        (np.array([[b"\xff"]]), "column 'x0' holds bytes that are not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(X, words):
    with pytest.raises(InputError, match=words):
        table_from_frame(X)


cells = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=4))


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8
        )
    )
)
def test_every_route_gives_the_same_codes(rows):
    names = [f"x{j}" for j in range(len(rows[0]))]
    schema = dict.fromkeys(names, pl.String)
    tables = [
        table_from_frame(rows),
        table_from_frame(np.array(rows, dtype=object).reshape(len(rows), -1)),
        table_from_frame(pd.DataFrame(rows, columns=names, dtype=object)),
        table_from_frame(pl.DataFrame(rows, schema=schema, orient="row")),
    ]
    for table in tables:
        assert rows_of(table) == rows
        assert np.array_equal(table.codes, tables[0].codes)
