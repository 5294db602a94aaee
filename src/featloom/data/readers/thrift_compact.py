"""Thrift's compact protocol, in which Parquet files describe themselves.

A struct is a row of fields and ends with a byte of 0.  A field opens with a byte whose upper half
says how much its number is above that of the field before (0: the number follows) and whose lower
half says what it is.  Whole numbers have seven bits a byte, the last byte without its upper bit,
and the sign in the lowest bit; texts and lists say their length first.

Only what a table of fields names is kept.  Everything else is walked over all the same, and what
is not as the protocol or the table has it is refused, so that what follows may rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TRUE, FALSE, INT8, INT16, INT32, INT64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
BOOLEAN = TRUE

# Of a field: the name under which it is kept ("": it is not), and what it is: one of the numbers
# above, the table of a struct, or a list with what it is a list of.
Fields = Mapping[int, tuple[str, Any]]

_BITS = {INT16: 16, INT32: 32, INT64: 64}
_UNKNOWN = ("", None)
_DEEPEST = 32  # structs and lists in one another; a recursive reader must end somewhere


class Malformed(Exception):
    """These bytes are not what they should be; the text says what is wrong with them."""


class CompactReader:
    """Reads structs from bytes; ``at`` is the place of the next byte.

    Where the bytes end too early, ``IndexError`` is raised.

    Examples
    --------
    >>> reader = CompactReader(bytes([0x15, 0x04, 0x18, 0x01, 0x61, 0x00]))
    >>> reader.struct({1: ("rows", INT32), 2: ("name", BINARY)})
    {'rows': 2, 'name': b'a'}
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def struct(
        self,
        fields: Fields,
        each: Mapping[str, Callable[[Any], None]] | None = None,
        depth: int = 0,
    ) -> dict[str, Any]:
        """A struct by the names of its fields.

        ``each`` names lists whose items are handed over one by one instead of being kept.
        """
        if depth > _DEEPEST:
            raise Malformed("it is nested too deeply")
        # Most of a file's structure is small numbers: they are read here, without a call each.
        data, at, number, found = self.data, self.at, 0, {}
        while head := data[at]:
            at += 1
            kind = head & 15
            if head > 15:
                number += head >> 4
            else:
                self.at = at
                number, at = self.number(INT16), self.at
            name, wanted = fields.get(number, _UNKNOWN)
            if kind == wanted and INT16 <= kind <= INT64:
                byte = data[at]
                if byte < 128:
                    value: Any = byte >> 1 ^ -(byte & 1)
                    at += 1
                else:
                    self.at = at
                    value, at = self.number(kind), self.at
            else:
                self.at = at
                hand_over = each.get(name) if each else None
                value = self._value(number, kind, wanted, bool(name), hand_over, depth + 1)
                at = self.at
            if name:
                if name in found:
                    raise Malformed(f"{name} is given twice")
                found[name] = value
        self.at = at + 1
        return found

    def number(self, kind: int) -> int:
        """A whole number of 16, 32 or 64 bits."""
        value = self._unsigned()
        if value >> _BITS[kind]:
            raise Malformed("a number is too large")
        return value >> 1 ^ -(value & 1)

    def _unsigned(self) -> int:
        data, at = self.data, self.at
        byte = data[at]
        at += 1
        value = byte & 127
        shift = 0
        while byte > 127:
            shift += 7
            if shift > 63:
                raise Malformed("a number does not end")
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
        self.at = at
        return value

    def _value(self, number: int, kind: int, wanted: Any, kept: bool, hand_over, depth: int) -> Any:
        if wanted is None:
            return self._skip(kind, depth)
        if wanted == BOOLEAN and kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == wanted:
            return self._plain(kind)
        if kind == LIST and type(wanted) is list:
            return self._list(wanted[0], hand_over, kept, depth)
        if kind == STRUCT and type(wanted) is dict:
            return self.struct(wanted, None, depth)
        raise Malformed(f"field {number} is of another kind")

    def _plain(self, kind: int) -> Any:
        if kind in _BITS:
            return self.number(kind)
        size = self._unsigned() if kind == BINARY else 8 if kind == DOUBLE else 1
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def _head_of_list(self) -> tuple[int, int]:
        """How many items a list has, and of what kind they are."""
        head = self.data[self.at]
        self.at += 1
        size = head >> 4 if head < 0xF0 else self._unsigned()
        if size > len(self.data) - self.at:  # an item takes a byte at least
            raise IndexError
        return size, head & 15

    def _list(self, wanted: Any, hand_over, kept: bool, depth: int) -> list[Any]:
        size, kind = self._head_of_list()
        expected = STRUCT if isinstance(wanted, dict) else wanted
        if size and kind != expected and not (expected == BOOLEAN and kind == FALSE):
            raise Malformed("the items of a list are of another kind")
        found = []
        for _ in range(size):
            item = self.struct(wanted, None, depth) if kind == STRUCT else self._plain(kind)
            if hand_over is not None:
                hand_over(item)
            elif kept:
                found.append(item)
        return found

    def _skip(self, kind: int, depth: int) -> None:
        """Walk over a value that no table names."""
        if depth > _DEEPEST:
            raise Malformed("it is nested too deeply")
        if kind == STRUCT:
            self.struct({}, None, depth)
        elif kind in (LIST, SET):
            size, kind = self._head_of_list()
            for _ in range(size):
                self._skip_item(kind, depth + 1)
        elif kind == MAP:
            size = self._unsigned()
            if size:
                kinds = self.data[self.at]
                self.at += 1
                for _ in range(size):
                    self._skip_item(kinds >> 4, depth + 1)
                    self._skip_item(kinds & 15, depth + 1)
        elif kind not in (TRUE, FALSE):
            self._skip_item(kind, depth)

    def _skip_item(self, kind: int, depth: int) -> None:
        if INT8 <= kind <= BINARY or kind in (TRUE, FALSE):
            self._plain(kind)
        elif LIST <= kind <= STRUCT:
            self._skip(kind, depth)
        else:
            raise Malformed("a value is of no known kind")
