"""The one way text files are opened: plain, ``.xz`` or ``.gz``, UTF-8, line by line.

A file is read in blocks of whole lines, so memory stays bounded however long the file is.  What
a reader cannot use is told with its place: ``train.tsv:12:7: byte 0xe9 is not UTF-8``, where the
column counts bytes of the line from 1.  A byte order mark at the start is dropped, and a line may
end in a line feed with or without a carriage return before it.
"""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, cast

from featloom.data.pipes import is_pipe, open_pipe
from featloom.errors import ReadError

LONGEST_LINE = 16 * 2**20
_NO_LINE = 64  # times the longest line: so much without a line end is no text, whoever skips lines
_BLOCK = 2**20
_XZ, _GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

OnBadLine = Callable[[ReadError], None]


def read_lines(
    path: str | os.PathLike[str],
    *,
    longest: int = LONGEST_LINE,
    on_bad_line: OnBadLine | None = None,
) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line.

    Parameters
    ----------
    path : file to read; compressed files are known by their first bytes.
    longest : a line of more bytes is refused, before it is read to its end.
    on_bad_line : called with the fault of a line that cannot be used, which is then left out;
        without it the fault is raised.  A file that goes on and on without a line end, as a small
        compressed one can, is refused all the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.txt")
    ...     _ = path.write_bytes(b"one\\r\\ntwo\\n")
    ...     list(read_lines(path))
    [(1, 'one'), (2, 'two')]
    """
    for first, text in read_blocks(path, longest=longest, on_bad_line=on_bad_line):
        yield from enumerate(text.split("\n"), start=first)


def read_blocks(
    path: str | os.PathLike[str],
    *,
    longest: int = LONGEST_LINE,
    on_bad_line: OnBadLine | None = None,
    keep_returns: bool = False,
) -> Iterator[tuple[int, str]]:
    """Many lines at once: the number of the first, and their text with ``"\\n"`` between lines.

    ``keep_returns`` leaves the carriage returns before line ends in place, for formats in which
    a cell may hold one.
    """
    name = os.fspath(path)
    empty = True
    with ExitStack() as stack:
        stream = _open(name, stack)
        for first, block in _whole_lines(stream, name, longest, on_bad_line):
            if first == 1:
                block = block.removeprefix(_BYTE_ORDER_MARK)
                empty = empty and not block
            else:
                empty = False
            for number, text in _decoded(first, block, name, on_bad_line):
                if not keep_returns and "\r" in text:
                    text = text.replace("\r\n", "\n").removesuffix("\r")
                yield number, text
    if empty:
        raise ReadError("the file is empty", file=name)


def open_bytes(name: str, stack: ExitStack) -> IO[bytes]:
    """The bytes of a file as they are on disk; ``stack`` closes it."""
    try:
        return open_pipe(name, stack) if is_pipe(name) else stack.enter_context(open(name, "rb"))
    except FileNotFoundError:
        message = "no such file"
    except IsADirectoryError:
        message = "this is a folder, not a file"
    except PermissionError:
        message = "no permission to read this file"
    except OSError as error:
        message = (error.strerror or "the file cannot be opened").lower()
    except ValueError:
        name, message = ascii(name), "this cannot be the name of a file"
    raise ReadError(message, file=name)


def _open(name: str, stack: ExitStack) -> IO[bytes]:
    raw = open_bytes(name, stack)
    start = raw.peek(len(_XZ))  # type: ignore[attr-defined]
    if start.startswith(_XZ):
        return stack.enter_context(lzma.open(raw))
    if start.startswith(_GZIP):
        return cast(IO[bytes], stack.enter_context(gzip.open(raw)))
    for ending in (".xz", ".gz"):
        if start and name.endswith(ending):
            raise ReadError(f"not a compressed file, though it ends in {ending}", file=name)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ReadError("this is UTF-16 text; save it as UTF-8", file=name, line=1, column=1)
    return raw


def _whole_lines(
    stream: IO[bytes], name: str, longest: int, on_bad_line: OnBadLine | None
) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines.  No line inside a block of at most ``longest`` bytes can be too
    long, so only the one that crosses blocks is measured."""
    number, size, too_long = 1, 0, False
    pending: list[bytes] = []
    for chunk in _chunks(stream, name, min(_BLOCK, longest)):
        first_end = chunk.find(b"\n")
        size += first_end if first_end >= 0 else len(chunk)
        if size > longest and not too_long:
            too_long = True
            pending.clear()
            message = f"line longer than {_size_in_words(longest)}"
            _report(ReadError(message, file=name, line=number), on_bad_line)
        if size > _NO_LINE * longest:
            message = f"line longer than {_size_in_words(_NO_LINE * longest)}; this is no text"
            raise ReadError(message, file=name, line=number)
        if first_end < 0:
            if not too_long:
                pending.append(chunk)
            continue
        if too_long:
            chunk = chunk[first_end + 1 :]
            number += 1
            too_long = False
        last_end = chunk.rfind(b"\n")
        if last_end >= 0:
            block = b"".join([*pending, chunk[:last_end]])
            yield number, block
            number += block.count(b"\n") + 1
            pending.clear()
        rest = chunk[last_end + 1 :]
        pending.append(rest)
        size = len(rest)
    if size and not too_long:
        yield number, b"".join(pending)


def _chunks(stream: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read(size)
        except (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile):
            message = "the compressed data is damaged or cut short"
            raise ReadError(message, file=name) from None
        except OSError as error:
            message = (error.strerror or "the file cannot be read").lower()
            raise ReadError(message, file=name) from None
        if not chunk:
            return
        yield chunk


def _decoded(
    first: int, block: bytes, name: str, on_bad_line: OnBadLine | None
) -> Iterator[tuple[int, str]]:
    """A block as text; where a line is at fault, the good lines before it come out first, so
    that faults are told in the order of the file."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        pass
    else:
        if "\0" not in text:
            yield first, text
            return
    good: list[str] = []
    for number, line in enumerate(block.split(b"\n"), start=first):
        fault = _fault_of(line)
        if fault is None:
            good.append(line.decode())
            continue
        if good:
            yield number - len(good), "\n".join(good)
            good = []
        message, column = fault
        _report(ReadError(message, file=name, line=number, column=column), on_bad_line)
    if good:
        yield number - len(good) + 1, "\n".join(good)


def _fault_of(line: bytes) -> tuple[str, int] | None:
    """What is wrong with a line and at which byte, counted from 1."""
    faults = []
    try:
        line.decode()
    except UnicodeDecodeError as error:
        faults.append((error.start + 1, f"byte 0x{line[error.start]:02x} is not UTF-8"))
    if b"\0" in line:
        faults.append((line.index(b"\0") + 1, "NUL byte; this is not a text file"))
    if not faults:
        return None
    column, message = min(faults)
    return message, column


def _report(error: ReadError, on_bad_line: OnBadLine | None) -> None:
    if on_bad_line is None:
        raise error
    on_bad_line(error)


def _size_in_words(size: int) -> str:
    return f"{size // 2**20:,} MiB" if size >= 2**20 else f"{size:,} bytes"
