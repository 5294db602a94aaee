"""Rows that a model learned from are known again, by prints that take little room."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import read_table
from featloom.data.row_prints import MOST, RowPrints
from featloom.data.table import NominalTable, joined


def rows(first: int, n: int) -> NominalTable:
    """Rows of two columns, each met once."""
    numbers = [str(i) for i in range(first, first + n)]
    return NominalTable.from_columns({"a": numbers, "b": numbers[::-1]})


def test_prints_of_many_rows_are_bounded_and_tell_about_how_many_were_seen():
    learned = RowPrints.of(rows(0, 3 * MOST))
    assert learned.prints.nbytes == 8 * MOST == 80_000
    table = rows(0, 3 * MOST)
    half = table.take(np.arange(0, 3 * MOST, 2))
    assert learned.seen(half).estimate == len(half)
    assert not learned.seen(half).exact
    assert learned.seen(rows(10**6, 5000)).known == 0
    mixed = joined(half.take(np.arange(3000)), rows(10**6, 3000))
    assert learned.seen(mixed).estimate == pytest.approx(3000, rel=0.1)


def test_tables_and_matrices_of_the_same_values_have_the_same_prints():
    table = rows(0, 50)
    turned = NominalTable.from_columns({"b": [f"{i}.00" for i in range(49, -1, -1)],
                                        "a": [f"{i}.0" for i in range(50)]})  # fmt: skip
    for other in (turned, FeatureMatrix.from_table(table)):
        assert RowPrints.of(table).prints.tolist() == RowPrints.of(other).prints.tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0, 1, 1], "int"), ([0.0, 1.0, 1.0], "float"), ([True, False, True], "bool"),
     (["0", "1", "1"], "str"), ([0.5, 1.5, 1.5], "str")],
)  # fmt: skip
def test_parquet_says_of_what_type_classes_are(values, kind, tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"x": list("aba"), "y": values}).write_parquet(path)
    assert read_table(path, target="y").class_type == kind
