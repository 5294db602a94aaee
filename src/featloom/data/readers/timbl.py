"""TiMBL's files of instances: no header, the class last, values between tabs, commas or blanks.

The columns are named f1, f2, … as TiMBL numbers its features, the target ``class``.  Every value is
a symbol and none means "missing".  In the comma format, that of C4.5, a full stop may end the line
and is no part of the class.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain, islice

from featloom.data.readers.assembly import assemble, check_names, position
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_lines
from featloom.data.readers.separated import BLANKS, Batch, read_batches
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError

FORMATS: dict[str, str | None] = {"tabs": "\t", "commas": ",", "blanks": BLANKS}
_SAMPLE = 200


def read_timbl(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    format: str = "auto",
    target: str | int | None = -1,
    groups: str | int | None = None,
    on_bad_row: str = "raise",
    require_labels: bool = True,
) -> NominalTable:
    """Read instances as TiMBL does.

    Parameters
    ----------
    path : file to read.
    columns : names of all columns of the file, the class included.
    format : "tabs", "commas", "blanks", or "auto": the one that cuts the first lines into the
        same number of values.
    target : the column with the classes, by name or position; None where there are none.  Without
        ``columns`` "class" is the last one.
    groups : a column with documents, sentences, … that folds must not tear apart.
    on_bad_row : "raise", or "skip" to leave bad rows out and warn with their number.
    require_labels : False for data to predict on: the classes are not checked.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "dimin.train")
    ...     _ = path.write_text("k,e,T\\nfr,i,E\\nk,i,T\\n")
    ...     table = read_timbl(path)
    >>> table.columns, table.target, table.classes
    (('f1', 'f2'), 'class', ('T', 'E'))
    """
    name = os.fspath(path)
    bad_rows = BadRows(name, on_bad_row)
    format = sniff_format(name) if format == "auto" else format
    if format not in FORMATS:
        known = "', '".join(FORMATS)
        raise InputError(f"format is {format!r}; it must be 'auto', '{known}'")
    batches = read_batches(
        name,
        separator=FORMATS[format],
        quote=None,
        bad_rows=bad_rows,
        expected=None if columns is None else len(columns),
    )
    first = next(batches, None)
    if first is None:
        raise ReadError("no rows", file=name)
    width = len(first.columns)
    if columns is None and target == "class":
        target = -1
    names = _feature_names(width, target) if columns is None else list(columns)
    check_names(names, file=name)
    rows = chain([first], batches)
    class_is_last = target is not None and position(names, target, name) == width - 1
    table = assemble(
        map(_without_full_stops, rows) if format == "commas" and class_is_last else rows,
        names,
        file=name,
        target=target,
        columns=None,
        groups=groups,
        missing=(),
        bad_rows=bad_rows,
        require_labels=require_labels,
    )
    bad_rows.warn()
    return table


def sniff_format(name: str) -> str:
    """The format whose separator cuts the first lines into the same number of values.

    Commas go before blanks, since values of comma files may hold blanks; a blank-separated text
    with commas among its tokens has an uneven number of them.
    """
    lines = [line for _, line in islice(read_lines(name), _SAMPLE) if line.strip()]
    if not lines:
        raise ReadError("no rows", file=name)
    if "\t" in lines[0]:
        return "tabs"
    commas = {line.count(",") for line in lines}
    if len(commas) == 1 and commas != {0}:
        return "commas"
    blanks = {len(line.split()) for line in lines}
    if len(blanks) == 1 and blanks != {1}:
        return "blanks"
    return "commas" if lines[0].count(",") >= lines[0].strip().count(" ") else "blanks"


def _feature_names(width: int, target: str | int | None) -> list[str]:
    names = [f"f{j}" for j in range(1, width + 1)]
    if isinstance(target, int) and -width <= target < width:
        names[target] = "class"
    return names


def _without_full_stops(batch: Batch) -> Batch:
    *columns, classes = batch.columns
    bare = [name[:-1] if name.endswith(".") and name != "." else name for name in classes]
    return Batch(batch.lines, [*columns, bare])
