"""Parquet files, read one column at a time so that no more than one is held as text."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from featloom.data.encoding import encode
from featloom.data.frames import text_of
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.growing import warn_of_constant_columns
from featloom.data.readers.labels import check_classes
from featloom.data.readers.lines import open_bytes
from featloom.data.readers.tables import MISSING, Layout
from featloom.data.table import NominalTable
from featloom.errors import ReadError

Column = tuple[np.ndarray, tuple[str, ...]]  # codes and vocabulary
_MAGIC = b"PAR1"
_BLOCK = 100_000  # rows


def read_parquet(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    columns: Sequence[str] | None = None,
    groups: str | int | None = None,
    missing: Collection[str] = MISSING,
    on_bad_row: str = "raise",
    require_labels: bool = True,
    share: float = 1.0,
    seed: int = 0,
) -> NominalTable:
    """Read a Parquet file; parameters as in ``read_table``.

    Numbers and truth values become their text, whole numbers without a decimal point.  A row has
    no line, so faults name its number, the first being 1.
    """
    name = os.fspath(path)
    bad_rows = BadRows(name, on_bad_row)
    names = column_names(name)
    layout = Layout(names, target, columns, groups, name, require_labels)
    codes_of: dict[int, Column] = {}
    for j in layout.columns():
        column = _column(name, names[j], missing)
        drawn = np.random.default_rng(seed).random(len(column[0])) < share
        # At once, so that of a large file no more than a column is held whole.
        codes_of[j] = column if drawn.all() else _renumbered(column, drawn)
    numbers = np.flatnonzero(drawn) + 1
    if not len(numbers):
        raise ReadError("no rows", file=name)
    usable = np.ones(len(numbers), dtype=bool)
    for j, what in layout.needed(require_labels).items():
        without = (codes_of[j][0] == 0) & usable
        for row in np.flatnonzero(without):
            message = f"no {what} in column {names[j]!r}"
            bad_rows.add(message, line=int(numbers[row]), column=j + 1)
        usable &= ~without
    if not usable.any():
        raise ReadError("no row can be used", file=name)
    table = _assembled(name, names, layout, codes_of, usable, require_labels)
    bad_rows.warn()
    return table


def read_parquet_blocks(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    missing: Collection[str] = MISSING,
) -> Iterator[NominalTable]:
    """Read a Parquet file to predict on in blocks of rows; as ``read_table_blocks``."""
    import polars as pl

    name = os.fspath(path)
    names = column_names(name)
    layout = Layout(names, target, None, None, name, require_labels=False)
    wanted = [names[j] for j in layout.columns()]
    # By number, since a name may look like a pattern.
    lazy = pl.scan_parquet(name, glob=False).select(pl.nth(*layout.columns()))
    n_rows = int(guarded(name, lambda: lazy.select(pl.len()).collect()).item())
    if not n_rows:
        raise ReadError("no rows", file=name)
    for first in range(0, n_rows, _BLOCK):
        frame = guarded(name, lazy.slice(first, _BLOCK).collect)
        columns = {column: encode(text_of(frame[column], column, missing)) for column in wanted}
        codes_of = {j: columns[names[j]] for j in layout.columns()}
        usable = np.ones(len(frame), dtype=bool)
        yield _assembled(name, names, layout, codes_of, usable, False, warns=False)


def _assembled(
    name, names, layout, codes_of, usable, require_labels, *, warns=True
) -> NominalTable:
    if not usable.all():
        codes_of = {j: _renumbered(codes_of[j], usable) for j in codes_of}
    codes = np.empty((int(usable.sum()), len(layout.features)), dtype=np.int32, order="F")
    vocabularies = []
    for place, j in enumerate(layout.features):
        codes[:, place], vocabulary = codes_of[j]
        vocabularies.append(vocabulary)
    feature_names = tuple(names[j] for j in layout.features)
    if warns:
        warn_of_constant_columns(name, feature_names, codes, vocabularies)
    structure: dict = {}
    if layout.target is not None:
        label_codes, classes = codes_of[layout.target]
        labels = label_codes - np.int32(1)
        target = names[layout.target]
        if require_labels:
            check_classes(classes, len(labels), file=name, target=target)
        structure.update(labels=labels, classes=classes, target=target)
    if layout.groups is not None:
        group_codes, group_names = codes_of[layout.groups]
        structure.update(groups=group_codes - np.int32(1), group_names=group_names)
    return NominalTable(feature_names, codes, tuple(vocabularies), source=name, **structure)


def column_names(name: str) -> list[str]:
    """The columns of a file; one that is no Parquet file is refused."""
    with ExitStack() as stack:
        stream = open_bytes(name, stack)
        start = stream.read(4)
        if not start:
            raise ReadError("the file is empty", file=name)
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 4, 0))
        if start != _MAGIC or stream.read(4) != _MAGIC or size < 12:
            raise ReadError("this is not a Parquet file, or it is cut short", file=name)
    import polars as pl

    return list(guarded(name, lambda: pl.read_parquet_schema(name)))


def _column(name: str, column: str, missing: Collection[str]) -> Column:
    import polars as pl

    series = guarded(name, lambda: pl.read_parquet(name, columns=[column])).to_series()
    return encode(text_of(series, column, missing))


def guarded(name: str, read):
    """What ``read()`` gives; damage is told as a fault of the file."""
    import polars as pl

    try:
        return read()
    # A damaged file can make the decoder panic, which is no ordinary exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else "damaged data"
        raise ReadError(f"this Parquet file cannot be read: {reason}", file=name) from None


def _renumbered(column: Column, usable: np.ndarray) -> Column:
    """A column without the rows that were skipped: values only they had are forgotten, the rest
    numbered anew by first appearance."""
    codes, vocabulary = column[0][usable], column[1]
    present, first = np.unique(codes, return_index=True)
    order = [int(code) for code in present[np.argsort(first)] if code]
    new_code = np.zeros(len(vocabulary) + 1, dtype=np.int32)
    new_code[order] = np.arange(1, len(order) + 1)
    return new_code[codes], tuple(vocabulary[code - 1] for code in order)
