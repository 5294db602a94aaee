"""Tables with a column for each feature: CSV, TSV (plain, ``.xz``, ``.gz``) and Parquet.

Every cell is a symbol: numbers are read as their text.  An empty cell, ``NA``, ``NaN`` and ``nan``
mean "missing"; where ``NA`` is a symbol (Namibia, a tag), say ``missing=("",)``.  The question mark
is a symbol, for it is one in text.

Faults are told with file, line and, where one cell is at fault, the number of its column:
``pp.csv:7: 5 columns, 4 expected``, ``pp.csv:9:4: no label in column 'class'``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

import numpy as np

from featloom.data.readers.assembly import MISSING, Layout, assemble, check_names
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_lines
from featloom.data.readers.parquet import read_parquet, read_parquet_blocks
from featloom.data.readers.separated import Batch, read_batches
from featloom.data.table import NominalTable
from featloom.errors import ReadError

_SEPARATORS = (",", "\t", ";", "|")


def read_table(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    columns: Sequence[str] | None = None,
    groups: str | int | None = None,
    separator: str | None = None,
    header: bool = True,
    quote: str | None = "auto",
    missing: Collection[str] = MISSING,
    on_bad_row: str = "raise",
    require_labels: bool = True,
    keep_unlabelled: bool = False,
    share: float = 1.0,
    seed: int = 0,
) -> NominalTable:
    """Read a table of symbols.

    Parameters
    ----------
    path : file to read; ``.parquet`` is read as Parquet, all else as separated text.
    target : column with the classes, by name or position (-1 is the last); None: no labels.
    columns : the columns to read beside target and groups, default all.  Without a header these
        are the names of all columns of the file.
    groups : column with documents, words, … that folds must not tear apart.
    separator : character between cells; default a tab for ``.tsv`` and ``.tab``, else whichever
        of comma, tab, semicolon and bar the first line has most of.
    header : whether the first line names the columns; without names they are f1, f2, …
    quote : '"' for RFC 4180, None for none; "auto" is RFC 4180, save that in tab-separated text
        quotes hide neither tabs nor line ends.
    missing : the cells that mean "missing".
    on_bad_row : "raise", or "skip" to leave bad rows out and warn with their number.
    require_labels : False for data to predict on: rows without a label get -1, a file without
        the target column has no labels, and the classes are not checked.
    keep_unlabelled : whether rows without a label get -1, where labels are required otherwise.
    share, seed : each row is read with this probability; for files larger than memory.

    Returns
    -------
    NominalTable
        With a warning for columns that are constant.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pp.csv")
    ...     _ = path.write_text("verb,prep,class\\nate,with,V\\nsaw,of,N\\nate,of,N\\n")
    ...     table = read_table(path, target="class")
    >>> table.columns, table.classes, table.labels.tolist()
    (('verb', 'prep'), ('V', 'N'), [0, 1, 1])
    """
    name = os.fspath(path)
    if name.lower().endswith((".parquet", ".pq")):
        return read_parquet(
            path,
            target=target,
            columns=columns,
            groups=groups,
            missing=missing,
            on_bad_row=on_bad_row,
            require_labels=require_labels,
            keep_unlabelled=keep_unlabelled,
            share=share,
            seed=seed,
        )
    bad_rows = BadRows(name, on_bad_row)
    opened = _Opened(name, separator, quote, header, columns, bad_rows)
    table = assemble(
        opened.batches if share >= 1 else _drawn(opened.batches, share, seed),
        opened.names,
        file=name,
        target=target,
        columns=columns if header else None,
        groups=groups,
        missing=missing,
        bad_rows=bad_rows,
        require_labels=require_labels,
        keep_unlabelled=keep_unlabelled,
    )
    bad_rows.warn()
    return table


def read_table_blocks(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    missing: Collection[str] = MISSING,
    on_bad_row: str = "raise",
) -> Iterator[NominalTable]:
    """Read a table to predict on some thousands of rows at a time, however long it is.

    Every block is a table with vocabularies of its own.  Labels are there where the file has the
    target column; parameters are those of ``read_table``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pp.csv")
    ...     _ = path.write_text("verb,prep\\nate,with\\nsaw,of\\n")
    ...     [len(block) for block in read_table_blocks(path)]
    [2]
    """
    name = os.fspath(path)
    if name.lower().endswith((".parquet", ".pq")):
        yield from read_parquet_blocks(path, target=target, missing=missing)
        return
    bad_rows = BadRows(name, on_bad_row)
    opened = _Opened(name, None, "auto", True, None, bad_rows)
    names, missing = opened.names, frozenset(missing)
    layout = Layout(names, target, None, None, name, require_labels=False)
    empty = True
    for batch in opened.batches:
        if not len(batch):
            continue
        empty = False
        cells = {
            j: [None if cell in missing else cell for cell in batch.columns[j]]
            for j in layout.columns()
        }
        yield NominalTable.from_columns(
            {names[j]: cells[j] for j in layout.features},
            labels=None if layout.target is None else cells[layout.target],
            target="" if layout.target is None else names[layout.target],
            source=name,
        )
    if empty:
        raise ReadError("no rows" if bad_rows.count == 0 else "no row can be used", file=name)
    bad_rows.warn()


class _Opened:
    """The names of a text file's columns, and its rows in batches."""

    def __init__(
        self,
        name: str,
        separator: str | None,
        quote: str | None,
        header: bool,
        columns: Sequence[str] | None,
        bad_rows: BadRows,
    ):
        batches = read_batches(
            name,
            separator=separator or sniff_separator(name),
            quote=quote,
            bad_rows=bad_rows,
            expected=None if header or columns is None else len(columns),
        )
        first = next(batches, None)
        if first is None:
            raise ReadError("no rows", file=name)
        if header:
            line = first.lines[0]
            names = [cells[0] or f"column{j}" for j, cells in enumerate(first.columns, start=1)]
            first = Batch(first.lines[1:], [cells[1:] for cells in first.columns])
            check_names(names, file=name, line=line)
        elif columns is None:
            names = [f"f{j}" for j in range(1, len(first.columns) + 1)]
        else:
            names = list(columns)
        self.names, self.batches = names, chain([first], batches)


def _drawn(batches: Iterator[Batch], share: float, seed: int) -> Iterator[Batch]:
    """Some of the rows, each drawn by itself."""
    random = np.random.default_rng(seed)
    for batch in batches:
        yield batch.take(np.flatnonzero(random.random(len(batch)) < share).tolist())


def sniff_separator(name: str) -> str:
    """The separator by the file's ending, else the one that the first line has most of."""
    bare = name.lower().removesuffix(".xz").removesuffix(".gz")
    if bare.endswith((".tsv", ".tab")):
        return "\t"
    for _, line in read_lines(name):
        if line.strip():
            unquoted = "".join(line.split('"')[::2])
            return max(_SEPARATORS, key=unquoted.count)
    raise ReadError("no rows", file=name)
