"""From data to files that other programs read."""

from __future__ import annotations

import os

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.formats.timbl import write_instances


def write_timbl(
    table: NominalTable,
    path: str | os.PathLike[str],
    *,
    format: str = "tabs",
    unknown: str | None = None,
) -> None:
    """Write a table as TiMBL's instances: a line a row, the class last.

    Parameters
    ----------
    table : with labels.
    path : file to write.
    format : "tabs", "commas" or "blanks" (``-F Tabbed``, ``-F C4.5``, ``-F Columns``).
    unknown : what to write for unknown values and missing classes; where None, they are refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> table = NominalTable.from_columns({"letter": ["c", "k"]}, labels=["S", "K"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.tsv")
    ...     write_timbl(table, path, format="blanks")
    ...     print(path.read_text(), end="")
    c S
    k K
    """
    if table.labels is None:
        raise InputError("a table without classes cannot be written for TiMBL")
    columns = [
        _decoded(table.codes[:, j], vocabulary, f"value in column {name!r}", unknown)
        for j, (name, vocabulary) in enumerate(zip(table.columns, table.vocabularies, strict=True))
    ]
    columns.append(_decoded(table.labels + 1, table.classes, "class", unknown))
    write_instances(path, zip(*columns, strict=True), format=format)


def _decoded(
    codes: np.ndarray, vocabulary: tuple[str, ...], what: str, unknown: str | None
) -> list[str]:
    """The values behind codes from 1."""
    if unknown is None and not codes.all():
        row = int(np.argmin(codes != 0)) + 1
        raise InputError(f"row {row} has no {what}; 'unknown' says what to write there")
    return np.array([unknown or "", *vocabulary], dtype=object)[codes].tolist()
