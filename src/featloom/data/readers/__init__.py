"""From files to data: tables, TiMBL's instances, sentences, trees and sparse matrices.

``read`` picks the reader by the file's ending and content; each reader can be called by its name.
All of them stream, and tell faults as ``file:line:column: what is wrong``.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from featloom.data.readers.conll import IOB2_COLUMNS, read_conll
from featloom.data.readers.conllu import read_conllu
from featloom.data.readers.npz import load_arrays, read_matrix_folder, read_sparse
from featloom.data.readers.recognise import FORMATS, format_of
from featloom.data.readers.svmlight import read_svmlight
from featloom.data.readers.tables import read_table
from featloom.data.readers.timbl import read_timbl
from featloom.data.table import NominalTable
from featloom.errors import InputError

if TYPE_CHECKING:
    from featloom.data.matrix import FeatureMatrix

__all__ = [
    "FORMATS",
    "format_of",
    "load_arrays",
    "read",
    "read_conll",
    "read_conllu",
    "read_matrix_folder",
    "read_sparse",
    "read_svmlight",
    "read_table",
    "read_timbl",
]

_READERS: dict[str, tuple[Callable[..., Any], str]] = {
    "table": (read_table, "a table with a header"),
    "timbl": (read_timbl, "a TiMBL file"),
    "conll": (read_conll, "sentences in columns"),
    "conllu": (read_conllu, "dependency trees"),
    "svmlight": (read_svmlight, "an SVMlight file"),
    "sparse": (read_sparse, "a sparse matrix"),
    "folder": (read_matrix_folder, "a folder with a sparse matrix"),
}
# What most readers can be told; the others find it in the file, or have no use for it.
_COMMON = ("target", "groups", "on_bad_row")
_log = logging.getLogger(__name__)


def read(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    groups: str | int | None = None,
    format: str | None = None,
    **options: Any,
) -> NominalTable | FeatureMatrix:
    """Read a file or folder, whatever its format.

    Parameters
    ----------
    path : what to read.
    target : column with the classes; where None, the reader's own choice (the last column of
        TiMBL files and sentences; no labels for tables and trees).
    groups : column with the groups.
    format : "table", "timbl", "conll", "conllu", "svmlight", "sparse" or "folder"; where None,
        what ``format_of`` finds, which is logged.
    options : passed to the reader; ``keep_unlabelled`` to that of tables alone.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.conll")
    ...     _ = path.write_text("He B-NP\\nran B-VP\\n\\nStop B-VP\\n")
    ...     print(format_of(path), read(path).classes)
    conll ('B-NP', 'B-VP')
    """
    named = [column for column in (target, groups) if isinstance(column, str)]
    chosen = format or format_of(path, columns=named)
    if chosen not in _READERS:
        raise InputError(f"format is {chosen!r}; it must be one of {', '.join(FORMATS)}")
    reader, words = _READERS[chosen]
    _log.info("reading %s as %s", os.fspath(path), words)
    if target is not None:
        # An archive has its classes in an array of its own.
        options["labels" if chosen == "sparse" else "target"] = target
    if groups is not None:
        options["groups"] = groups
    if chosen == "conll" and ".iob2" in os.path.basename(path):
        options = {"columns": IOB2_COLUMNS, "ragged": True} | options
    if chosen != "table":
        options.pop("keep_unlabelled", None)  # elsewhere every token has its label
    allowed = [name for name in inspect.signature(reader).parameters if name != "path"]
    for name in options:
        if name not in allowed:
            instead = "leave it out" if name in _COMMON else f"there are {', '.join(allowed)}"
            raise InputError(
                f"{os.fspath(path)} is read as {words}, for which there is no {name!r}; {instead}"
            )
    return reader(path, **options)
