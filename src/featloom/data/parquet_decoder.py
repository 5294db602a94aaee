"""Parquet decoded in a process of its own, whose end is an answer.

A Parquet file says of itself how much there is in it, and a decoder believes it: a few damaged
bytes claim terabytes, nest a schema as deep as no stack is, or end the process.  So no file is
decoded here.  One child process, without our environment, does that for all files of a program;
it may take so much memory and so much time for each of them, and where it takes more, or ends
in any other way, the file is refused in a line.  Columns come back as codes and vocabularies, plain
bytes that nothing in them can make more of.

This file is both ends of the pipe: :func:`look` and :func:`columns` ask, :func:`main` answers.  A
question is a line of JSON; an answer is the length of a line of JSON, that line, and the bytes
that it announces.  A child that nobody asks anything for some time ends by itself.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np

from featloom.data.frames import text_of
from featloom.data.vocabulary import encode
from featloom.errors import InputError, ReadError

Column = tuple[np.ndarray, tuple[str, ...]]  # codes from 1, 0 where missing, and vocabulary

# A run of equal values takes a few bytes however long it is, so a small file may be sound and hold
# very many.  Files in which every column has one value only were found to have 400 to 3,700 values
# for each byte, as Arrow and Polars write them; columns that tell something have far fewer.
MOST_PER_BYTE = 10_000  # values, and bytes of memory
FREE_VALUES, FREE_BYTES = 2**25, 2**31
_THREADS = 2**30  # addresses that Polars sets aside when it begins to work
_SECONDS, _BYTES_A_SECOND = 60, 10**6  # for anything, and of the file
_IDLE = 20  # seconds
_FATAL = 3  # how the child ends where Python is told that there is no memory
_INHERITED = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL",
    "POLARS_MAX_THREADS",
)  # fmt: skip


class Contents(NamedTuple):
    """What is in a file: its rows, and the kind of each column ("text", "number", "float" or
    "nested") by its name."""

    rows: int
    kinds: dict[str, str]


def look(file: str) -> Contents:
    """How many rows and which columns a file has."""
    found, _ = _child.ask(file, {"rows": None})
    rows, size = int(found["rows"]), os.path.getsize(file)
    if rows > FREE_VALUES + MOST_PER_BYTE * size:
        raise _unreadable(file, f"it claims {rows:,} rows in {size:,} bytes")
    return Contents(rows, dict(found["columns"]))


def columns(
    file: str, places: Sequence[int], first: int, rows: int, missing: Collection[str]
) -> list[Column]:
    """Columns of a file, some of its rows, as codes; values are numbered as they appear."""
    asked = {"places": list(places), "first": first, "rows": rows, "missing": list(missing)}
    found, contents = _child.ask(file, asked)
    columns = []
    for lengths in found["lengths"]:
        codes, text = np.frombuffer(contents.pop(0), dtype=np.int32), contents.pop(0).decode()
        cuts = accumulate(lengths, initial=0)
        columns.append((codes, tuple(text[a:b] for a, b in pairwise(cuts))))
    return columns


def _unreadable(file: str, why: str) -> ReadError:
    return ReadError(f"this Parquet file cannot be read: {why}", file=file)


def _most(size: int) -> tuple[int, int]:
    """Bytes and seconds that a file of this size may take."""
    return FREE_BYTES + MOST_PER_BYTE * size, _SECONDS + size // _BYTES_A_SECOND


class _Child:
    """The process that decodes, started when there is something to decode."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, file: str, question: dict[str, Any]) -> tuple[dict[str, Any], list[bytearray]]:
        """The answer of the child, and the bytes that came with it."""
        line = json.dumps(question | {"file": os.path.abspath(file)}).encode() + b"\n"
        with self._lock:
            while True:
                process = self._running()
                to, back = cast(tuple[IO[bytes], IO[bytes]], (process.stdin, process.stdout))
                try:
                    left = memoryview(line)
                    while left:
                        left = left[to.write(left) :]
                    found = json.loads(_exactly(back, _size(back)))
                    contents = [_exactly(back, size) for size in found.pop("sizes", ())]
                    break
                except (EOFError, BrokenPipeError):
                    with process:
                        self._process = None
                    if process.returncode:  # else nobody had asked it for long
                        raise _unreadable(file, _end_of(process.returncode, file)) from None
                except BaseException:  # Ctrl-C, and half an answer that nobody waits for
                    self.end()
                    raise
        if "refused" in found:
            raise ReadError(found["refused"], file=file)
        if "error" in found:
            raise _unreadable(file, found["error"])
        return found, contents

    def end(self) -> None:
        """End it, whatever it is doing."""
        if self._process is not None and self._owner == os.getpid():
            with self._process:
                self._process.kill()
        self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self._owner = os.getpid()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "featloom.data.parquet_decoder"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    bufsize=0,  # nothing is kept back that could not be sent any more
                    env={name: os.environ[name] for name in _INHERITED if name in os.environ}
                    | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )  # fmt: skip
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise InputError(f"no process can be started to read Parquet: {reason}") from None
        return self._process


_child = _Child()
atexit.register(_child.end)


def _end_of(status: int, file: str) -> str:
    most, seconds = _most(os.path.getsize(file))
    if status == -getattr(signal, "SIGALRM", 0):
        return f"it takes more than {seconds} s; write it again in smaller files, or as CSV"
    return (
        f"it is damaged, or unfolds to more than {most / 1e9:,.1f} GB; if it is sound, write it "
        "again in smaller files, or as CSV"
    )


def _size(stream: IO[bytes]) -> int:
    return int.from_bytes(_exactly(stream, 8), "little")


def _exactly(stream: IO[bytes], size: int) -> bytearray:
    """So many bytes."""
    content, at = bytearray(size), 0
    with memoryview(content) as room:
        while at < size:
            read = stream.readinto(room[at:])  # type: ignore[attr-defined]
            if not read:
                raise EOFError
            at += read
    return content


# ------------------------------------------------------------------------------ in the child


def main() -> None:
    """Answer questions until there are none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what Ctrl-C means is for the program to say
    with suppress(OSError):  # if the system is short of memory, it is this that ends
        Path("/proc/self/oom_score_adj").write_text("1000")
    own = _addresses()
    # Only sockets can be waited for on Windows.
    while sys.platform == "win32" or select.select([sys.stdin], [], [], _IDLE)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        question = json.loads(line)
        most, seconds = _most(os.path.getsize(question["file"]))
        _limit_memory(own + most)
        if hasattr(signal, "alarm"):
            signal.alarm(seconds)  # which ends the process
        try:
            found, contents = _answer(**question)
        except MemoryError:
            os._exit(_FATAL)
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        found["sizes"] = [len(content) for content in contents]
        head = json.dumps(found).encode()
        for part in (len(head).to_bytes(8, "little"), head, *contents):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()


def _addresses() -> int:
    """Bytes of address space that this process has, and that Polars takes before it reads."""
    with suppress(OSError, ImportError):
        import resource

        import polars as pl

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return pages * resource.getpagesize() + _THREADS + pl.thread_pool_size() * 2**27
    return 8 * 2**30


def _limit_memory(most: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not every system has such limits
        import resource

        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = min(most, max(there, 4 * FREE_BYTES))
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(file: str, **asked: Any) -> tuple[dict[str, Any], list[Any]]:
    """What is answered, and the bytes that follow."""
    import polars as pl

    # A damaged file can make the decoder panic, which is no ordinary exception.
    panics = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        return _decoded(file, **asked) if "places" in asked else _looked(file)
    except InputError as error:  # which has words of its own
        return {"refused": str(error)}, []
    except (*panics, OSError, ValueError, ArithmeticError, RecursionError) as error:
        return {"error": str(error).splitlines()[0] if str(error) else "damaged data"}, []


def _looked(file: str) -> tuple[dict[str, Any], list[Any]]:
    import polars as pl

    def kind(dtype: pl.DataType) -> str:
        if dtype.is_nested():
            return "nested"
        if dtype.is_float():
            return "float"
        return "number" if dtype.is_numeric() or dtype == pl.Boolean else "text"

    schema = pl.read_parquet_schema(file)
    rows = int(pl.scan_parquet(file, glob=False).select(pl.len()).collect().item())
    return {"rows": rows, "columns": [(name, kind(schema[name])) for name in schema]}, []


def _decoded(
    file: str, places: list[int], first: int, rows: int, missing: list[str]
) -> tuple[dict[str, Any], list[Any]]:
    import polars as pl

    # By number, since a name may look like a pattern.
    wanted = pl.scan_parquet(file, glob=False).select(pl.nth(*places))
    frame = wanted.slice(first, rows).collect()
    if len(frame) != rows:
        raise ValueError(f"it has {first + len(frame):,} rows where it says more")
    lengths, contents = [], []
    for series in frame.iter_columns():
        codes, vocabulary = encode(_text_of_column(series, missing))
        lengths.append(list(map(len, vocabulary)))
        contents += [codes.tobytes(), "".join(vocabulary).encode()]
    return {"lengths": lengths}, contents


def _text_of_column(series: Any, missing: Collection[str]) -> Any:
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


if __name__ == "__main__":
    main()
