"""What a Parquet file says of itself, held against the bytes that it has.

A Parquet file begins and ends with ``PAR1``.  Before the last four bytes stand the length of the
footer and the footer, which lists the columns as a tree (the schema) and the row groups: some rows
each, and for every column a chunk, a range of bytes.  A chunk is a row of pages, each with a
header of its own: perhaps a dictionary of values first, then data pages.  Footer and headers are
structs of Thrift's compact protocol (:mod:`featloom.data.readers.thrift_compact`), as
https://github.com/apache/parquet-format has them.

The decoder believes these numbers and takes memory by them; a few damaged bytes would end the
process.  So they are looked at first.  Chunks lie in the file and no two share bytes; pages lie
in their chunk, and their values add up to those of the chunk; the values of a flat column are the
rows of its group, and the rows of the groups those of the file; no size is negative, no codec is
said to unpack more than it can.  Only headers are read, nothing is unpacked.

One thing such sums cannot tell: a run of equal values takes a few bytes however long it is, so a
small file may hold very many values and be sound.  Hence a limit on what a byte may stand for,
``MOST_PER_BYTE`` values and as many unpacked bytes, after the first ``FREE_VALUES`` and
``FREE_BYTES``.  Files in which every column has one value only were found to have 400 to 3,700
values for each byte, as Arrow and Polars write them, and up to 1,500 bytes where each value is
written out, since pages need headers; columns that tell something have far fewer.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from io import FileIO
from itertools import pairwise
from typing import IO, Any

from featloom.data.readers.arrow_schema import DamagedSchema, check_arrow_schema
from featloom.data.readers.lines import open_bytes
from featloom.data.readers.thrift_compact import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INT8,
    INT16,
    INT32,
    INT64,
    CompactReader,
    Fields,
    Malformed,
)
from featloom.errors import ReadError

MOST_PER_BYTE = 10_000
FREE_VALUES, FREE_BYTES = 2**25, 2**30

_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_DEEPEST_COLUMN = 64
_WINDOWS = (256, 2**13, 2**18, 2**24)  # bytes in which a page header is looked for
_BEYOND = 64  # bytes that a packed page may be off, for headers of the codec
# The most bytes that one byte can be unpacked to; Snappy copies up to 64 bytes by three, LZ4 says
# 255 more by each, zstd has blocks of 128 KiB of one value in four.
_UNCOMPRESSED, _SNAPPY, _GZIP, _LZO, _BROTLI, _LZ4, _ZSTD, _LZ4_RAW = range(8)
_UNPACKED = {
    _UNCOMPRESSED: 1, _SNAPPY: 22, _GZIP: 1032, _LZO: 256, _BROTLI: 2**24, _LZ4: 256,
    _ZSTD: 2**15, _LZ4_RAW: 256,
}  # fmt: skip
# Bytes that a value of each physical type has in a dictionary; of a text, those of its length.
_BOOLEAN, _FIXED = 0, 7
_WIDTHS = (0, 4, 8, 12, 4, 8, 4, 0)
_REPEATED = 2
_DICTIONARY_PAGE = 2
_UNFOLDING = (5, 6, 7)  # the encodings with DELTA in their names
_HEADERS = {0: "data", _DICTIONARY_PAGE: "dictionary", 3: "data2"}  # of page types

_EMPTY: Fields = {}
_STATISTICS: Fields = {
    1: ("", BINARY), 2: ("", BINARY), 3: ("nulls", INT64), 4: ("", INT64), 5: ("", BINARY),
    6: ("", BINARY), 7: ("", BOOLEAN), 8: ("", BOOLEAN),
}  # fmt: skip
_PAGE: Fields = {
    1: ("type", INT32), 2: ("unpacked", INT32), 3: ("packed", INT32), 4: ("", INT32),
    5: ("data", {
        1: ("values", INT32), 2: ("encoding", INT32), 3: ("", INT32), 4: ("", INT32),
        5: ("statistics", _STATISTICS),
    }),
    6: ("", _EMPTY),
    7: ("dictionary", {1: ("values", INT32), 2: ("encoding", INT32), 3: ("", BOOLEAN)}),
    8: ("data2", {
        1: ("values", INT32), 2: ("nulls", INT32), 3: ("rows", INT32), 4: ("encoding", INT32),
        5: ("definition bytes", INT32), 6: ("repetition bytes", INT32), 7: ("", BOOLEAN),
        8: ("statistics", _STATISTICS),
    }),
}  # fmt: skip
_TIME: Fields = {1: ("", BOOLEAN), 2: ("", {1: ("", _EMPTY), 2: ("", _EMPTY), 3: ("", _EMPTY)})}
_LOGICAL_TYPE: Fields = dict.fromkeys((1, 2, 3, 4, 6, 11, 12, 13, 14, 15), ("", _EMPTY)) | {
    5: ("", {1: ("", INT32), 2: ("", INT32)}), 7: ("", _TIME), 8: ("", _TIME),
    10: ("", {1: ("", INT8), 2: ("", BOOLEAN)}), 16: ("", {1: ("", INT8)}),
    17: ("", {1: ("", BINARY)}), 18: ("", {1: ("", BINARY), 2: ("", INT32)}),
}  # fmt: skip
_ELEMENT: Fields = {
    1: ("type", INT32), 2: ("length", INT32), 3: ("repetition", INT32), 4: ("name", BINARY),
    5: ("children", INT32), 6: ("", INT32), 7: ("", INT32), 8: ("", INT32), 9: ("", INT32),
    10: ("", _LOGICAL_TYPE),
}  # fmt: skip
_KEY_AND_VALUE: Fields = {1: ("key", BINARY), 2: ("value", BINARY)}
_BOX: Fields = dict.fromkeys(range(1, 9), ("", DOUBLE))
_CHUNK: Fields = {
    1: ("file", BINARY), 2: ("", INT64),
    3: ("about", {
        1: ("type", INT32), 2: ("", [INT32]), 3: ("", [BINARY]), 4: ("codec", INT32),
        5: ("values", INT64), 6: ("", INT64), 7: ("packed", INT64), 8: ("", [_KEY_AND_VALUE]),
        9: ("data at", INT64), 10: ("", INT64), 11: ("dictionary at", INT64),
        12: ("", _STATISTICS), 13: ("", [{1: ("", INT32), 2: ("", INT32), 3: ("", INT32)}]),
        14: ("", INT64), 15: ("", INT32), 16: ("", {1: ("", INT64), 2: ("", [INT64]),
        3: ("", [INT64])}), 17: ("", {1: ("", _BOX), 2: ("", [INT32])}),
    }),
    4: ("", INT64), 5: ("", INT32), 6: ("", INT64), 7: ("", INT32), 8: ("encryption", _EMPTY),
    9: ("", BINARY),
}  # fmt: skip
_ROW_GROUP: Fields = {
    1: ("chunks", [_CHUNK]), 2: ("", INT64), 3: ("rows", INT64),
    4: ("", [{1: ("", INT32), 2: ("", BOOLEAN), 3: ("", BOOLEAN)}]), 5: ("", INT64),
    6: ("", INT64), 7: ("", INT16),
}  # fmt: skip
_FOOTER: Fields = {
    1: ("", INT32), 2: ("schema", [_ELEMENT]), 3: ("rows", INT64), 4: ("groups", [_ROW_GROUP]),
    5: ("notes", [_KEY_AND_VALUE]), 6: ("", BINARY), 7: ("", [{1: ("", _EMPTY)}]),
    8: ("encryption", _EMPTY), 9: ("", BINARY),
}  # fmt: skip


@dataclass(frozen=True)
class _Column:
    """A leaf of the schema, which has a chunk in every row group."""

    name: str
    top: str  # the column of the table that it belongs to
    type: int
    width: int
    repeated: bool

    def refuse(self, what: str) -> Malformed:
        return Malformed(f"column {self.name!r:.80} {what}")


@dataclass(frozen=True)
class Structure:
    """What a reader may rely on.

    ``widths`` are bytes of a value in columns where all have the same.  ``most_bytes`` is what the
    values of such a file may take, and ``unfolding`` are columns of whose pages the headers do not
    tell that (:mod:`featloom.data.readers.parquet_trial`).
    """

    rows: int
    widths: dict[str, int]
    most_bytes: int
    unfolding: frozenset[str]


def check_structure(name: str) -> Structure:
    """Refuse a file that is no Parquet file, or one that claims what its bytes do not bear out."""
    with ExitStack() as stack:
        stream = open_bytes(name, stack)
        footer, size = _footer(stream, name)
        try:
            # Without a buffer, since of a page of many kilobytes only the header is read.
            unbuffered = FileIO(stream.fileno(), closefd=False)
            found = _Claims(unbuffered, size - 8 - len(footer))
            found.check(footer)
        except (Malformed, DamagedSchema) as error:
            raise ReadError(f"this Parquet file cannot be read: {error}", file=name) from None
    widths = {column.top: column.width for column in found.columns or ()}
    most = FREE_BYTES + MOST_PER_BYTE * size
    return Structure(found.rows, widths, most, frozenset(found.unfolding))


def _footer(stream: IO[bytes], name: str) -> tuple[bytes, int]:
    """The footer, and how large the file is."""
    start = stream.read(4)
    if not start:
        raise ReadError("the file is empty", file=name)
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 8, 0))
    length, end = int.from_bytes(stream.read(4), "little"), stream.read(4)
    if _ENCRYPTED in (start, end):
        raise ReadError("this Parquet file cannot be read: it is encrypted", file=name)
    if start != _MAGIC or end != _MAGIC or size < 12:
        raise ReadError("this is not a Parquet file, or it is cut short", file=name)
    if length > size - 12:
        message = f"its footer claims {length:,} bytes, and the file has {size:,}"
        raise ReadError(f"this Parquet file cannot be read: {message}", file=name)
    stream.seek(size - 8 - length)
    return stream.read(length), size


class _Claims:
    """What the footer and the page headers of one file say; its chunks end before ``end``."""

    def __init__(self, stream: IO[bytes], end: int) -> None:
        self.stream, self.end = stream, end
        self.elements: list[dict[str, Any]] = []
        self.columns: list[_Column] | None = None
        self.ranges: list[tuple[int, int]] = []
        self.unfolding: set[str] = set()
        self.rows = self.values = self.unpacked = self.fixed = 0

    def check(self, footer: bytes) -> None:
        # Row groups are looked at one by one, since a file may have very many.
        each = {"schema": self.elements.append, "groups": self._row_group}
        try:
            found = CompactReader(footer).struct(_FOOTER, each)
        except IndexError:
            raise Malformed("its footer ends too early") from None
        if "encryption" in found:
            raise Malformed("it is encrypted")
        if found.get("rows") != self.rows or "groups" not in found:
            raise Malformed("its row groups have other rows than it says")
        for note in found.get("notes", []):
            if note.get("key") == b"ARROW:schema":
                check_arrow_schema(note.get("value", b""))
        _columns(self.elements)  # those of a file without rows were not looked at yet
        self.ranges.sort()
        if any(end > start for (_, end), (start, _) in pairwise(self.ranges)):
            raise Malformed("two of its columns share bytes")

    def _row_group(self, group: dict[str, Any]) -> None:
        if self.columns is None:
            self.columns = _columns(self.elements)
        chunks, rows = group.get("chunks", []), group.get("rows", -1)
        if rows < 0 or len(chunks) != len(self.columns) or (rows and not chunks):
            raise Malformed("a row group has a wrong number of rows or columns")
        self.rows += rows
        for column, chunk in zip(self.columns, chunks, strict=True):
            self._chunk(column, chunk, rows)

    def _chunk(self, column: _Column, chunk: dict[str, Any], rows: int) -> None:
        if "encryption" in chunk:
            raise column.refuse("is encrypted")
        if chunk.get("file"):
            raise column.refuse("is in another file")
        about = chunk.get("about", {})
        values, packed, codec = (about.get(key, -1) for key in ("values", "packed", "codec"))
        start = about.get("dictionary at", about.get("data at", -1))
        if about.get("type") != column.type or codec not in _UNPACKED:
            raise column.refuse("is of another type than it says")
        if values < rows or (values > rows and not column.repeated):
            raise column.refuse(f"has {values:,} values for {rows:,} rows")
        if not values and not packed:
            return
        if packed < 0 or start < len(_MAGIC) or start + packed > self.end:
            raise column.refuse("lies outside the file")
        self.ranges.append((start, start + packed))
        self.values += values
        self._limit(self.values, FREE_VALUES, column, f"{values:,} values in {packed:,} bytes")
        if column.type == _FIXED:  # of which a missing one is as long as the others
            size = values * column.width
            self.fixed += size
            self._limit(self.fixed, FREE_BYTES, column, f"{size:,} bytes in {packed:,}")
        seen, at, first = 0, start, True
        while seen < values:
            page, at = self._page_header(column, at, start + packed)
            seen += self._page(column, page, codec, first)
            at += page["packed"]
            first = False
            if at > start + packed:
                raise column.refuse("has a page that is longer than the column")
        if seen != values:
            raise column.refuse(f"has {seen:,} values in its pages, and says {values:,}")

    def _page_header(self, column: _Column, at: int, end: int) -> tuple[dict[str, Any], int]:
        """A page header and the byte after it."""
        for window in _WINDOWS:
            self.stream.seek(at)
            reader = CompactReader(self.stream.read(min(window, end - at)))
            try:
                page = reader.struct(_PAGE)
            except IndexError:
                if window >= end - at:
                    break
                continue
            except Malformed as error:
                raise column.refuse(f"has a page header in which {error}") from None
            if page.get("packed", -1) < 0 or page.get("unpacked", -1) < 0:
                raise column.refuse("has a page of negative size")
            return page, at + reader.at
        raise column.refuse("ends before its values do")

    def _page(self, column: _Column, page: dict[str, Any], codec: int, first: bool) -> int:
        """How many values a page adds to the column."""
        packed, unpacked = page["packed"], page["unpacked"]
        claim = f"{unpacked:,} bytes in {packed:,}"
        if unpacked > _UNPACKED[codec] * packed + _BEYOND:
            raise column.refuse(f"claims {claim}")
        self.unpacked += unpacked
        self._limit(self.unpacked, FREE_BYTES, column, claim)
        kind = page.get("type", -1)
        header = page.get(_HEADERS.get(kind, ""))
        if header is None:
            raise column.refuse("has a page of no known type")
        values = header.get("values", -1)
        if kind == _DICTIONARY_PAGE:
            if not first or values < 0 or values * max(column.width, 1) > unpacked:
                raise column.refuse(f"has a dictionary of {values:,} values in {unpacked:,} bytes")
            return 0
        nulls = (header.get("nulls", 0), header.get("statistics", {}).get("nulls", 0))
        levels = [header.get(key, 0) for key in ("definition bytes", "repetition bytes")]
        if min(nulls) < 0 or max(nulls) > values:  # and so are the values not negative
            raise column.refuse(f"has a page of {values:,} values with {max(nulls):,} missing")
        if min(levels) < 0 or sum(levels) > min(packed, unpacked):
            raise column.refuse("has a page with levels longer than it")
        if header.get("encoding") in _UNFOLDING:
            self.unfolding.add(column.top)
        return values

    def _limit(self, found: int, free: int, column: _Column, claim: str) -> None:
        if found > free + MOST_PER_BYTE * self.end:
            raise column.refuse(f"claims {claim}")


@dataclass
class _Group:
    """An element of the schema that holds others, of which some are still to come."""

    name: str
    left: int
    repeated: bool


def _columns(elements: list[dict[str, Any]]) -> list[_Column]:
    """The leaves of the schema, a list in which each element stands before those that it holds."""
    found: list[_Column] = []
    around = [_Group("", 1, False)]  # what holds an element, outermost first; this holds the root
    for element in elements:
        while around and not around[-1].left:
            around.pop()
        if not around or len(around) > _DEEPEST_COLUMN:
            break
        around[-1].left -= 1
        name = element.get("name", b"").decode(errors="replace")
        path = f"{around[-1].name}.{name}" if len(around) > 2 else name
        repeated = around[-1].repeated or element.get("repetition") == _REPEATED
        kind, children = element.get("type", -1), element.get("children", 0)
        if kind == -1 and 0 <= children < len(elements):
            around.append(_Group(path, children, repeated))
        elif 0 <= kind < len(_WIDTHS) and not children and len(around) > 1:
            width = element.get("length", 0) if kind == _FIXED else _WIDTHS[kind]
            if kind == _FIXED and width < 1:
                raise Malformed(f"column {path!r:.80} has values of {width:,} bytes")
            top = around[2].name if len(around) > 2 else name
            found.append(_Column(path, top, kind, width, repeated))
        else:
            break
    else:
        if elements and not any(group.left for group in around):
            return found
    raise Malformed("its schema does not fit together")
