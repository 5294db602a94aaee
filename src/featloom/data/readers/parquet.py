"""Parquet files, read one column at a time so that no more than one is held as text."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from featloom.data.class_types import type_of_texts
from featloom.data.frames import text_of
from featloom.data.pipes import is_pipe
from featloom.data.readers.assembly import MISSING, Layout, warn_of_constant_columns
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.labels import check_classes
from featloom.data.readers.parquet_structure import Structure, check_structure
from featloom.data.readers.parquet_trial import decodes
from featloom.data.table import NominalTable
from featloom.data.vocabulary import encode
from featloom.errors import InputError, ReadError

if TYPE_CHECKING:
    import polars as pl

Column = tuple[np.ndarray, tuple[str, ...]]  # codes and vocabulary
_BLOCK = 100_000  # rows
_CELL, _CODE = 32, 4  # bytes: of a cell that is read and made a code, and of one that is a code
_UNREADABLE = "this Parquet file cannot be read"


def read_parquet(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    columns: Sequence[str] | None = None,
    groups: str | int | None = None,
    missing: Collection[str] = MISSING,
    on_bad_row: str = "raise",
    require_labels: bool = True,
    keep_unlabelled: bool = False,
    share: float = 1.0,
    seed: int = 0,
) -> NominalTable:
    """Read a Parquet file; parameters as in ``read_table``.

    Numbers and truth values become their text, whole numbers without a decimal point.  A row has
    no line, so faults name its number, the first being 1.
    """
    name = os.fspath(path)
    bad_rows = BadRows(name, on_bad_row)
    file = open_parquet(name)
    names = file.columns
    layout = Layout(names, target, columns, groups, name, require_labels)
    file.check([names[j] for j in layout.columns()], [(0, file.rows)])
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
    for j, what in layout.needed(require_labels and not keep_unlabelled).items():
        without = (codes_of[j][0] == 0) & usable
        for row in np.flatnonzero(without):
            message = f"no {what} in column {names[j]!r}"
            bad_rows.add(message, line=int(numbers[row]), column=j + 1)
        usable &= ~without
    if not usable.any():
        raise ReadError("no row can be used", file=name)
    table = _assembled(name, names, layout, codes_of, usable, require_labels)
    bad_rows.warn()
    return replace(table, class_type=_class_type(name, table))


def read_parquet_blocks(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    missing: Collection[str] = MISSING,
) -> Iterator[NominalTable]:
    """Read a Parquet file to predict on in blocks of rows; as ``read_table_blocks``."""
    import polars as pl

    name = os.fspath(path)
    file = open_parquet(name)
    names = file.columns
    layout = Layout(names, target, None, None, name, require_labels=False)
    spans = [(first, _BLOCK) for first in range(0, file.rows, _BLOCK)]
    if not spans:
        raise ReadError("no rows", file=name)
    file.check([names[j] for j in layout.columns()], spans)
    # By number, since a name may look like a pattern.
    lazy = pl.scan_parquet(name, glob=False).select(pl.nth(*layout.columns()))
    for first, _ in spans:
        frame = guarded(name, lazy.slice(first, _BLOCK).collect)
        columns = guarded(name, lambda frame=frame: _encoded(frame, missing))
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
            check_classes(classes, int((labels >= 0).sum()), file=name, target=target)
        structure.update(labels=labels, classes=classes, target=target)
    if layout.groups is not None:
        group_codes, group_names = codes_of[layout.groups]
        structure.update(groups=group_codes - np.int32(1), group_names=group_names)
    return NominalTable(feature_names, codes, tuple(vocabularies), source=name, **structure)


@dataclass(frozen=True)
class ParquetFile:
    """A file that was looked at before Polars is given it; made by :func:`open_parquet`."""

    name: str
    columns: list[str]
    structure: Structure

    @property
    def rows(self) -> int:
        return self.structure.rows

    def check(self, wanted: Sequence[str], spans: Sequence[tuple[int, int]]) -> None:
        """Refuse columns that cannot be decoded, or whose cells are no symbols.

        ``spans`` are the first row and the number of rows of the parts that will be read.
        """
        import polars as pl

        schema = guarded(self.name, lambda: pl.read_parquet_schema(self.name))
        self._check_memory(wanted, max((rows for _, rows in spans), default=0))
        for column in wanted:
            if schema[column].is_nested():
                message = f"column {column!r} holds lists or records; a cell is one symbol"
                raise ReadError(message, file=self.name)
            if column in self.structure.unfolding:
                place = self.columns.index(column)
                if not decodes(self.name, place, spans, self.structure.most_bytes):
                    message = f"column {column!r} is damaged, or unfolds to more than it may"
                    raise ReadError(f"{_UNREADABLE}: {message}", file=self.name)

    def _check_memory(self, wanted: Sequence[str], rows: int) -> None:
        """Ask for the memory that so many rows take at least, since Polars would end the process
        where it does not get it."""
        widest = max((self.structure.widths.get(column, 0) for column in wanted), default=0)
        needed = rows * (max(_CELL, widest) + _CODE * len(wanted))
        try:
            np.empty(needed, dtype=np.uint8)
        except (MemoryError, ValueError):
            message = f"{rows:,} rows take {needed / 1e9:,.0f} GB at least, which are not to be had"
            raise ReadError(f"{_UNREADABLE}: {message}", file=self.name) from None


def open_parquet(name: str) -> ParquetFile:
    """Look at a file, once and for all its rows; one that is damaged is refused."""
    if is_pipe(name):
        message = "a pipe, and a Parquet file is read from its end; write it into a file first"
        raise ReadError(message, file=name)
    structure = check_structure(name)
    import polars as pl

    columns = list(guarded(name, lambda: pl.read_parquet_schema(name)))
    return ParquetFile(name, columns, structure)


def text_of_column(series: pl.Series, missing: Collection[str]) -> Any:
    """As ``text_of``, but without a Python object a cell where that can be."""
    import polars as pl

    name = series.name
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        # As bytes, since Polars takes their texts from a file without a look at them.
        series = series.cast(pl.String).cast(pl.Binary)
    if series.dtype == pl.Binary:
        texts = series.cast(pl.String, strict=False)
        if texts.null_count() > series.null_count():
            raise InputError(f"column {name!r} holds bytes that are not UTF-8")
        series = texts
    elif series.dtype.is_integer():
        series = series.cast(pl.String)
    return text_of(series, name, missing)


def _column(name: str, column: str, missing: Collection[str]) -> Column:
    import polars as pl

    def read() -> Column:
        series = pl.read_parquet(name, columns=[column], glob=False).to_series()
        return encode(text_of_column(series, missing))

    return guarded(name, read)


def _class_type(name: str, table: NominalTable) -> str:
    """The type of the classes, by that of their column; a column of text is one of text here."""
    import polars as pl

    if table.labels is None:
        return "str"
    kind = guarded(name, lambda: pl.read_parquet_schema(name))[table.target]
    if not (kind.is_numeric() or kind == pl.Boolean):
        return "str"
    found = type_of_texts(table.classes)  # of whole numbers, whose text has no point
    return "float" if found == "int" and kind.is_float() else found


def _encoded(frame: pl.DataFrame, missing: Collection[str]) -> dict[str, Column]:
    return {column.name: encode(text_of_column(column, missing)) for column in frame}


def guarded(name: str, read):
    """What ``read()`` gives; damage is told as a fault of the file.

    Not only bytes can be damaged: a date of the year 139,024 is found when it becomes text.
    """
    import polars as pl

    # A damaged file can make the decoder panic, which is no ordinary exception.
    panics = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        return read()
    except InputError as error:  # which has words of its own
        raise ReadError(str(error), file=name) from None
    except (*panics, OSError, ValueError, ArithmeticError) as error:
        reason = str(error).splitlines()[0] if str(error) else "damaged data"
        raise ReadError(f"{_UNREADABLE}: {reason}", file=name) from None


def _renumbered(column: Column, usable: np.ndarray) -> Column:
    """A column without the rows that were skipped: values only they had are forgotten, the rest
    numbered anew by first appearance."""
    codes, vocabulary = column[0][usable], column[1]
    present, first = np.unique(codes, return_index=True)
    order = [int(code) for code in present[np.argsort(first)] if code]
    new_code = np.zeros(len(vocabulary) + 1, dtype=np.int32)
    new_code[order] = np.arange(1, len(order) + 1)
    return new_code[codes], tuple(vocabulary[code - 1] for code in order)
