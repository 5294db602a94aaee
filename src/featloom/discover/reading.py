"""What is to be compared, read: all of it, or as many rows as there is room for.

While a table is read it takes two to three times the memory that its text takes on disk, and the
models that learn from it as much again.  Of a file for which there is not so much room, rows are
drawn while it is read, each with the same probability, and that is said.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.corpora import names_corpus
from featloom.data.frames import as_frame, has_column_names, table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import format_of, read
from featloom.data.readers.parquet import open_parquet
from featloom.data.table import UNKNOWN, NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError
from featloom.methods.transfer.archives import corpus_rows, is_archive
from featloom.methods.transfer.parts import TaskRows

_ROOM = 5  # bytes of memory for a byte of text
_CELL = 8  # bytes of text for a cell whose text is not there to be measured
_PACKED = {".gz": 5, ".xz": 8}  # how much longer text is than when it is packed
_CGROUP = "/sys/fs/cgroup/memory"


def read_data(
    data: Any,
    target: Any,
    groups: str | None,
    *,
    share: float = 1.0,
    seed: int = 0,
    numbers: bool = False,
    on_bad_row: str | None = None,
) -> NominalTable | FeatureMatrix | TaskRows:
    """A file, the name of a corpus, a DataFrame, or data that were read already.

    Parameters
    ----------
    target : name of the column with the classes, or the classes themselves.
    share : of the rows of a file, drawn by the seed.
    numbers : whether the target is one of numbers, of which ranges are to be made.
    """
    if holds_classes(target):
        return _with_classes(data, target, groups)
    if isinstance(data, NominalTable | FeatureMatrix | TaskRows):
        return data
    if not isinstance(data, str | os.PathLike):
        return _of_frame(data, target, groups)
    if is_archive(data):
        return corpus_rows(str(data))
    if names_corpus(data):
        return load(str(data))
    options: dict[str, Any] = {"target": target, "groups": groups, "on_bad_row": on_bad_row}
    options = {name: value for name, value in options.items() if value is not None}
    if share < 1:
        options |= {"share": share, "seed": seed}
    if numbers:
        # Every row may have a number of its own, which is no fault here.
        options["require_labels"] = False
    if on_bad_row is None:
        options["keep_unlabelled"] = True  # they are left out, counted and told of
    return read(data, **options)


def share_to_read(
    data: Any, asked: float | None, *, columns: tuple[str | None, ...] = ()
) -> tuple[float, list[str]]:
    """The share of a file's rows to read: the one asked for, else all that fit; and what to say.

    Parameters
    ----------
    columns : names by which the format of a file is recognised.
    """
    is_file = isinstance(data, str | os.PathLike) and Path(data).is_file()
    if asked is not None:
        if not 0 < asked <= 1:
            raise InputError(f"sample is {asked:g}; a share must lie in (0, 1]")
        if not is_file and asked < 1:
            raise InputError("a sample is drawn while a file is read, and this is no file")
        said = f"{100 * asked:g} % of the rows were read, drawn at random"
        return asked, [said] if asked < 1 else []
    free = available_memory()
    if free is None or not is_file:
        return 1.0, []
    needed = _ROOM * size_of_text(data)
    if needed <= free:
        return 1.0, []
    if format_of(data, columns=[name for name in columns if name is not None]) != "table":
        raise InputError(
            f"{os.fspath(data)} would take about {_bytes(needed)} of memory, and {_bytes(free)} "
            "are free; of such a file a part cannot be drawn, so cut it first"
        )
    share = float(f"{max(free / needed, 1e-6):.1g}")
    return share, [
        f"{os.fspath(data)} would take about {_bytes(needed)} of memory, and {_bytes(free)} are "
        f"free; {100 * share:g} % of the rows were read, drawn at random"
    ]


def size_of_text(path: str | os.PathLike[str]) -> int:
    """Bytes of a file's text; a guess where it is packed."""
    name = os.fspath(path)
    if name.lower().endswith((".parquet", ".pq")):
        with suppress(InputError):  # one that is damaged is told of when it is read
            file = open_parquet(name)
            return _CELL * file.rows * len(file.columns)
    return os.path.getsize(name) * _PACKED.get(Path(name).suffix.lower(), 1)


def available_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not tell."""
    found = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(one for one in lines if one.startswith("MemAvailable:"))
        found.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):  # a container's own bound, which may be "max"
        most, taken = (Path(f"{_CGROUP}.{name}").read_text() for name in ("max", "current"))
        found.append(int(most) - int(taken))
    with suppress(ImportError, OSError, ValueError):
        import resource

        most_of_process = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most_of_process != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            found.append(most_of_process - pages * resource.getpagesize())
    return max(min(found), 0) if found else None


def _bytes(size: float) -> str:
    """
    >>> _bytes(2.5e9), _bytes(3e5)
    ('2.5 GB', '0.3 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def holds_classes(target: Any) -> bool:
    """Whether a target is the classes themselves and no name of a column.

    >>> holds_classes("sound"), holds_classes(["K", "S"]), holds_classes(None)
    (False, True, False)
    """
    return not isinstance(target, str | int | None)


def _with_classes(data: Any, y: Any, groups: str | None) -> NominalTable | FeatureMatrix:
    """X and y; a column of X may name the document."""
    if isinstance(data, str | os.PathLike | FeatureMatrix | TaskRows):
        raise InputError(
            "the classes are given beside a file or rows that have theirs; name their column, or "
            "give a DataFrame, an array or lists"
        )
    name = getattr(y, "name", None)
    if hasattr(y, "columns") and len(y.columns) == 1:
        name, y = y.columns[0], np.asarray(y)[:, 0]
    target = "class" if name is None else str(name)
    if sparse.issparse(data):
        if groups is not None:
            raise InputError("groups names a column, and a sparse matrix has none")
        of_rows = table_from_frame(np.zeros((len(y), 1)), y, target=target)
        if data.shape[0] != len(of_rows):
            raise InputError(f"{len(of_rows)} labels for {data.shape[0]} rows")
        return FeatureMatrix.from_csr(
            data, labels=of_rows.labels, classes=of_rows.classes, target=target,
            class_type=of_rows.class_type,
        )  # fmt: skip
    table = table_from_frame(data, y, target=target)
    return table if groups is None else _grouped(table, groups)


def _of_frame(data: Any, target: Any, groups: str | None) -> NominalTable:
    """A DataFrame's columns; one of them is the class, another may be the document."""
    if not has_column_names(data):
        raise InputError(
            "the columns have no names, so give the classes beside them: discover(X, y)"
        )
    table = table_from_frame(data)
    if target is None:
        raise InputError(
            f"name the column that holds the classes by target: {', '.join(table.columns)}"
        )
    table.column_index(str(target))  # told before the other, if it is not there
    if groups is not None:
        table = _grouped(table, groups)
    frame = as_frame(data)
    if frame is None:
        y = [row.get(target) for row in data]
    else:
        name = next(one for one in frame.columns if str(one) == str(target))
        y = frame.get_column(name).to_list()
    return table_from_frame(_without(table, str(target)), y, target=str(target))


def _grouped(table: NominalTable, name: str) -> NominalTable:
    """The table with one of its columns as documents."""
    place = table.column_index(name)
    codes = table.codes[:, place]
    if (codes == UNKNOWN).any():
        raise InputError(f"row {int(np.argmax(codes == UNKNOWN)) + 1} has no {name}")
    names = table.vocabularies[place]
    return replace(_without(table, name), groups=codes - np.int32(1), group_names=names)


def _without(table: NominalTable, name: str) -> NominalTable:
    kept = [j for j, one in enumerate(table.columns) if one != name]
    return replace(
        table, columns=tuple(table.columns[j] for j in kept),
        codes=np.asfortranarray(table.codes[:, kept]),
        vocabularies=tuple(table.vocabularies[j] for j in kept),
    )  # fmt: skip
