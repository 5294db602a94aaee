"""How many rows of a file there is room for in memory.

While a table is read it takes two to three times the memory that its text takes on disk, and the
models that learn from it as much again.  Of a file for which there is not so much room, rows are
drawn while it is read, each with the same probability, and that is said.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from featloom.data.readers import format_of
from featloom.data.readers.parquet import open_parquet
from featloom.errors import InputError

_ROOM = 5  # bytes of memory for a byte of text
_CELL = 8  # bytes of text for a cell whose text is not there to be measured
_PACKED = {".gz": 5, ".xz": 8}  # how much longer text is than when it is packed
_CGROUP = "/sys/fs/cgroup/memory"


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
