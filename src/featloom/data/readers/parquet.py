"""Parquet files, read one column at a time so that no more than one is held as text."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from featloom.data.class_types import type_of_texts
from featloom.data.parquet_decoder import Column, columns, look
from featloom.data.pipes import is_pipe
from featloom.data.readers.assembly import MISSING, Layout, warn_of_constant_columns
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.labels import check_classes
from featloom.data.readers.lines import open_bytes
from featloom.data.table import NominalTable
from featloom.errors import ReadError

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
    file.check([names[j] for j in layout.columns()])
    codes_of: dict[int, Column] = {}
    for j in layout.columns():
        (column,) = file.read([names[j]], missing)
        drawn = np.random.default_rng(seed).random(len(column[0])) < share
        # At once, so that of a large file no more than a column is held whole.
        codes_of[j] = column if drawn.all() else kept_rows(column, drawn)
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
    return (
        table
        if table.target is None
        else replace(table, class_type=file.class_type(table.target, table.classes))
    )


def read_parquet_blocks(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    missing: Collection[str] = MISSING,
) -> Iterator[NominalTable]:
    """Read a Parquet file to predict on in blocks of rows; as ``read_table_blocks``."""
    name = os.fspath(path)
    file = open_parquet(name)
    names = file.columns
    layout = Layout(names, target, None, None, name, require_labels=False)
    if not file.rows:
        raise ReadError("no rows", file=name)
    wanted = layout.columns()
    for first in range(0, file.rows, _BLOCK):
        found = file.read([names[j] for j in wanted], missing, first, _BLOCK)
        codes_of = dict(zip(wanted, found, strict=True))
        usable = np.ones(len(found[0][0]), dtype=bool)
        yield _assembled(name, names, layout, codes_of, usable, False, warns=False)


def _assembled(
    name, names, layout, codes_of, usable, require_labels, *, warns=True
) -> NominalTable:
    if not usable.all():
        codes_of = {j: kept_rows(codes_of[j], usable) for j in codes_of}
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
    """A file that is one, with its rows and the kinds of its columns; see :func:`open_parquet`."""

    name: str
    rows: int
    kinds: dict[str, str]

    @property
    def columns(self) -> list[str]:
        return list(self.kinds)

    def read(
        self, wanted: Sequence[str], missing: Collection[str], first: int = 0, rows: int = -1
    ) -> list[Column]:
        """Columns as codes and vocabularies: some of the rows, or all of them."""
        self.check(wanted)
        places = [self.columns.index(column) for column in wanted]
        rows = self.rows if rows < 0 else min(rows, self.rows - first)
        return columns(self.name, places, first, rows, missing)

    def check(self, wanted: Sequence[str]) -> None:
        """Refuse columns whose cells are no symbols."""
        for column in wanted:
            if self.kinds[column] == "nested":
                message = f"column {column!r} holds lists or records; a cell is one symbol"
                raise ReadError(message, file=self.name)

    def class_type(self, target: str, classes: Sequence[str]) -> str:
        """The type of the classes, by that of their column; a column of text is one of text."""
        if self.kinds[target] == "text":
            return "str"
        found = type_of_texts(classes)  # of whole numbers, whose text has no point
        return "float" if found == "int" and self.kinds[target] == "float" else found


def open_parquet(name: str) -> ParquetFile:
    """Look at a file; one that is none, or damaged, is refused."""
    if is_pipe(name):
        message = "a pipe, and a Parquet file is read from its end; write it into a file first"
        raise ReadError(message, file=name)
    with ExitStack() as stack:
        stream = open_bytes(name, stack)
        start = stream.read(4)
        if not start:
            raise ReadError("the file is empty", file=name)
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 4, 0))
        end = stream.read(4)
    if b"PARE" in (start, end):
        raise ReadError("this Parquet file cannot be read: it is encrypted", file=name)
    if (start, end) != (b"PAR1", b"PAR1") or size < 12:
        raise ReadError("this is not a Parquet file, or it is cut short", file=name)
    return ParquetFile(name, *look(name))


def kept_rows(column: Column, kept: np.ndarray) -> Column:
    """A column without the rows that were skipped: values only they had are forgotten, the rest
    numbered anew by first appearance."""
    codes, vocabulary = column[0][kept], column[1]
    present, first = np.unique(codes, return_index=True)
    order = [int(code) for code in present[np.argsort(first)] if code]
    new_code = np.zeros(len(vocabulary) + 1, dtype=np.int32)
    new_code[order] = np.arange(1, len(order) + 1)
    return new_code[codes], tuple(vocabulary[code - 1] for code in order)
