"""Zip archives of arrays that anybody may have made: opened and read within bounds.

A few bytes of zip can claim any size, and some of its compressions give gigabytes at the first
byte that is asked for.  So the list of what an archive holds has a bound, its members must lie
apart, be named once, and be stored or deflated, the two that unpack no more than is asked for.
Everything is read a block at a time, and memory for an array is set aside only when its own head,
the size of its member and what the caller expects agree.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np

from featloom.errors import ReadError

# Of the list of members, some 100,000 of them.
_LONGEST_LIST = 2**24
# Of the head of an array; NumPy itself takes 10,000 letters of it.
_LONGEST_HEAD = 2**14
_BLOCK = 2**20
_OTHERS = {zipfile.ZIP_BZIP2: "BZIP2", zipfile.ZIP_LZMA: "LZMA"}


@dataclass(frozen=True)
class ArrayHead:
    """What the head of an ``.npy`` file says.

    Parameters
    ----------
    dtype, shape : of the array.
    order : "C" or "F".
    n_bytes : of the array in memory.
    """

    dtype: np.dtype
    shape: tuple[int, ...]
    order: str
    n_bytes: int


class _BoundedReads:
    """A file of which no single read gives more than the longest list of members."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, n: int = -1) -> bytes:
        if n > _LONGEST_LIST:
            raise zipfile.BadZipFile("the list of members is too long")
        return self._stream.read(_LONGEST_LIST if n < 0 else n)


@contextmanager
def open_archive(stream: IO[bytes], file: str) -> Iterator[zipfile.ZipFile]:
    """An archive whose members can be read without surprise.

    Parameters
    ----------
    stream : of the archive's bytes.
    file : its name, for errors.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
    ...     archive.writestr("a.npy", bytes(1000))
    >>> try:
    ...     with open_archive(stream, "X.npz"):
    ...         pass
    ... except ReadError as error:
    ...     print(error)
    X.npz: 'a.npy' is compressed by BZIP2; members are stored or deflated
    """
    with zipfile.ZipFile(_BoundedReads(stream)) as archive:
        members = sorted(archive.infolist(), key=lambda member: member.header_offset)
        if len({member.filename for member in members}) < len(members):
            raise ReadError("the archive is damaged: a member is there twice", file=file)
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                by = _OTHERS.get(member.compress_type, f"method {member.compress_type}")
                message = f"{member.filename!r:.60} is compressed by {by}"
                raise ReadError(f"{message}; members are stored or deflated", file=file)
        starts = [*(member.header_offset for member in members), archive.start_dir]
        for member, (begin, end) in zip(members, pairwise(starts), strict=True):
            # A member's own head has 30 bytes and its name.
            if begin + 30 + len(member.orig_filename) + member.compress_size > end:
                raise ReadError("the archive is damaged: its members overlap", file=file)
        yield archive


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """All bytes of a member, of which the caller has looked at ``file_size`` first."""
    with archive.open(member) as stream:
        return b"".join(iter(lambda: stream.read(_BLOCK), b""))


def read_head(stream: IO[bytes], member: zipfile.ZipInfo) -> ArrayHead | None:
    """The head of an array, if the rest of the member is as long as the array that it tells of.

    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     with archive.open("a.npy", "w") as file:
    ...         np.save(file, np.zeros((2, 3)))
    ...     (member,) = archive.infolist()
    ...     with archive.open(member) as file:
    ...         read_head(file, member)
    ArrayHead(dtype=dtype('float64'), shape=(2, 3), order='C', n_bytes=48)
    """
    start = stream.read(12)
    version, width = start[6:8], 2 if start[6:7] == b"\1" else 4
    length = 8 + width + int.from_bytes(start[8 : 8 + width], "little")
    if version not in (b"\1\0", b"\2\0", b"\3\0") or length > _LONGEST_HEAD:
        return None
    head = io.BytesIO(start + stream.read(length - len(start)))
    np.lib.format.read_magic(head)
    read: Any = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    # The third version differs from the second in the letters that names of fields may have.
    shape, fortran, dtype = read[min(version[0], 2)](head)
    n_bytes = dtype.itemsize * math.prod(shape)
    if head.tell() != length or min(shape, default=0) < 0:
        return None
    # What is pickled can be of any length; it is for the caller to refuse it.
    if n_bytes + length != member.file_size and not dtype.hasobject:
        return None
    return ArrayHead(dtype, shape, "F" if fortran else "C", n_bytes)


def read_array(stream: IO[bytes], head: ArrayHead) -> np.ndarray | None:
    """The array that follows its head; None where there are fewer bytes, or more."""
    flat = np.empty(head.n_bytes, dtype=np.uint8)
    filled = 0
    while filled < head.n_bytes:
        block = stream.read(min(_BLOCK, head.n_bytes - filled))
        if not block:
            return None
        flat[filled : filled + len(block)] = np.frombuffer(block, dtype=np.uint8)
        filled += len(block)
    # Only at its end does the archive compare its own checksum.
    if stream.read(1):
        return None
    return flat.view(head.dtype).reshape(head.shape, order=head.order)  # type: ignore[call-overload]
