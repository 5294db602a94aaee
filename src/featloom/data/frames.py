"""Data that is in memory already: DataFrames, arrays and lists of rows become a NominalTable.

pandas, polars and pyarrow frames are read through narwhals.  Every value becomes a symbol, its
text; a whole number is written without a decimal point, so that 3 and 3.0 are one symbol (a column
of whole numbers with gaps is one of floats in pandas).  None, NaN and their kin are missing
values, code 0; an empty string is a symbol.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.data.class_types import type_of_values
from featloom.data.table import NominalTable, check_names
from featloom.data.vocabulary import encode
from featloom.errors import InputError

_WHOLE = 2.0**53  # up to here every whole number is a float of its own


def table_from_frame(
    X: Any, y: Any = None, columns: Sequence[str] | None = None, *, target: str = "class"
) -> NominalTable:
    """A table of symbols from data in memory.

    Parameters
    ----------
    X : DataFrame, two-dimensional array, list of rows (lists, or dicts by name of column), or a
        NominalTable, whose codes are kept.
    y : labels; a missing one gets the code -1.
    columns : names of the columns; default those of the frame, else x0, x1, …
    target : name of the target.

    Examples
    --------
    >>> table = table_from_frame([["c", "a"], ["c", None], ["k", "a"]], ["K", "S", "K"])
    >>> table.columns, table.codes.tolist(), table.labels.tolist()
    (('x0', 'x1'), [[1, 1], [1, 0], [2, 1]], [0, 1, 0])
    """
    if isinstance(X, NominalTable):
        return _with_labels(X, y, columns, target)
    names, values = _columns_of(X)
    if columns is not None:
        if len(columns) != len(names):
            raise InputError(f"{len(columns)} column names for {len(names)} columns")
        names = [str(name) for name in columns]
    check_names(names)
    texts = {name: text_of(column, name) for name, column in zip(names, values, strict=True)}
    return _with_labels(NominalTable.from_columns(texts), y, None, target)


def text_of(values: Any, name: str, missing: Collection[str] = ()) -> Any:
    """The values of one column as text, None where missing; a polars Series of text stays one.

    >>> text_of([3, 3.0, 0.5, None, True], "size")
    ['3', '3', '0.5', None, 'True']
    """
    if type(values).__module__.startswith("polars"):
        import polars as pl

        if values.dtype == pl.String:
            return values.set(values.is_in(list(missing)), None) if missing else values
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        texts = values
    elif len(kinds - {type(None)}) == 1 and not kinds & {dict, list, set}:
        # Values of one type that are equal have one text, which is found once.
        text = _TextOf(name)
        texts = [text[value] for value in values]
    else:
        texts = [_text(value, name) for value in values]
    if missing:
        texts = [None if text in missing else text for text in texts]
    return texts


def _with_labels(
    table: NominalTable, y: Any, columns: Sequence[str] | None, target: str
) -> NominalTable:
    if columns is not None and tuple(columns) != table.columns:
        raise InputError("the columns of a NominalTable have names already")
    if y is None:
        return table
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = np.asarray(y)[:, 0]
    elif np.ndim(y) != 1:
        raise InputError(f"labels have {np.ndim(y)} dimensions, one expected")
    values = y.to_list() if hasattr(y, "to_list") else y
    values = values if isinstance(values, np.ndarray) else list(values)
    labels, classes = encode(text_of(values, target))
    if len(labels) != len(table):
        raise InputError(f"{len(labels)} labels for {len(table)} rows")
    return replace(
        table, labels=labels - np.int32(1), classes=classes, target=target,
        class_type=type_of_values(values),
    )  # fmt: skip


def has_column_names(X: Any) -> bool:
    """Whether data in memory name their columns: frames do, and rows that are dicts.

    >>> has_column_names([{"letter": "c"}]), has_column_names([["c"]])
    (True, False)
    """
    return hasattr(X, "columns") or hasattr(X, "column_names") or are_records(X)


def are_records(X: Any) -> bool:
    """Whether rows are dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Mapping) for x in X)


def as_frame(X: Any) -> Any:
    """Data in memory as a narwhals DataFrame; None where they are none.

    Names of columns that no table could have are told in one line.
    """
    import narwhals as nw

    if hasattr(X, "iloc") and getattr(getattr(X, "columns", None), "nlevels", 1) > 1:
        raise InputError(
            f"the columns have names of {X.columns.nlevels} levels, such as {X.columns[0]!r}; join "
            'them first: df.columns = ["_".join(map(str, name)) for name in df.columns]'
        )
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_names([str(name) for name in getattr(X, "column_names", None) or X.columns])
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _columns_of(X: Any) -> tuple[list[str], list[Any]]:
    """Names and values of the columns."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("this is a sparse matrix; FeatureMatrix.from_csr takes those")
    if isinstance(X, np.ndarray):
        return _columns_of_array(X)
    if isinstance(X, str | bytes | dict):
        raise InputError(f"a table cannot be made of a {type(X).__name__}")
    if are_records(X):
        return _columns_of_records(X)
    frame = as_frame(X)
    if frame is not None:
        return _columns_of_frame(frame)
    if hasattr(X, "__array__"):
        return _columns_of_array(np.asarray(X))
    return _columns_of_rows(X)


def _columns_of_frame(frame) -> tuple[list[str], list[Any]]:
    _check_shape((len(frame), len(frame.columns)))
    values = []
    for name in frame.columns:
        native = frame.get_column(name).to_native()
        polars = type(native).__module__.startswith("polars")
        values.append(native if polars else frame.get_column(name).to_list())
    return [str(name) for name in frame.columns], values


def _columns_of_records(rows: Sequence[Mapping[Any, Any]]) -> tuple[list[str], list[Any]]:
    """A column for each name that some row has; where a row lacks it, the value is missing."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    _check_shape((len(rows), len(names)))
    return [str(name) for name in names], [[row.get(name) for row in rows] for name in names]


def _columns_of_array(X: np.ndarray) -> tuple[list[str], list[Any]]:
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim}D array instead. "
            "Reshape your data into rows and columns"
        )
    _check_shape(X.shape)
    if X.dtype.kind == "c":
        raise InputError("Complex data not supported")
    return _numbered(X.shape[1]), list(X.T)


def _columns_of_rows(X: Any) -> tuple[list[str], list[Any]]:
    try:
        rows = list(X)
    except TypeError:
        raise InputError(f"a table cannot be made of a {type(X).__name__}") from None
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise InputError(
                f"row {number} is {row!r:.40}, one value; a row is a list of values. "
                "Reshape your data"
            )
        if len(row) != len(rows[0]):
            raise InputError(f"row {number} has {len(row)} values, {len(rows[0])} expected")
    _check_shape((len(rows), len(rows[0]) if rows else 0))
    return _numbered(len(rows[0])), list(zip(*rows, strict=True))


def _check_shape(shape: tuple[int, ...]) -> None:
    # scikit-learn's checks of estimators look for these words.
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if not size:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is "
                "required."
            )


def _numbered(width: int) -> list[str]:
    return [f"x{j}" for j in range(width)]


class _TextOf(dict):
    """The text of each value seen so far."""

    def __init__(self, name: str):
        self.name = name

    def __missing__(self, value: Any) -> str | None:
        text = _text(value, self.name)
        if text is not None:  # NaN differs from itself and would be kept again and again
            self[value] = text
        return text


def _text(value: Any, name: str) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise InputError(f"column {name!r} holds bytes that are not UTF-8") from None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if value != value:
            return None
        return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)
    if isinstance(value, dict | list | tuple | set | np.ndarray):
        raise InputError(f"column {name!r} holds a {type(value).__name__}; a cell is one symbol")
    return str(value)
