"""The Arrow schema that many Parquet files carry among their notes, looked at before use.

It is a flatbuffer in base64.  A flatbuffer is made of tables that point to others further on by
counts of bytes: a table opens with the way back to its list of slots, which says where in the
table each of its values stands.  Two pointers may lead to one table, so a few hundred bytes can
describe a tree of 2^40 columns, or one as deep as a stack is not.  Hence the tree is walked as a
reader would walk it, and refused where it becomes larger than its bytes warrant, or too deep.

The tables are Arrow's ``Message``, ``Schema`` and ``Field``, as
https://github.com/apache/arrow/tree/main/format has them.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Iterator

_DEEPEST = 64
_SHARED = 16  # what a byte may stand for, since writers may share texts
_ITEM = 16  # bytes that a column or a note takes at least
_MESSAGE_HEADER = 2
_SCHEMA_FIELDS, _SCHEMA_NOTES = 1, 2
_NAME, _KIND, _TYPE, _CHILDREN, _NOTES = 0, 2, 3, 5, 6
_KINDS_WITH_LIST = (10, 14)  # a point in time has a time zone in slot 1, a union its types


class DamagedSchema(ValueError):
    """This is no Arrow schema that could be used."""


def check_arrow_schema(text: bytes) -> None:
    """Refuse an Arrow schema that points outside itself, or unfolds to far more than it is."""
    try:
        data = b64decode(text, validate=True)
        data = data[8:] if data.startswith(b"\xff" * 4) else data
        _Flatbuffer(data).check()
    except (ValueError, struct.error):
        raise DamagedSchema("its Arrow schema is damaged") from None


class _Flatbuffer:
    def __init__(self, data: bytes) -> None:
        self.data, self.left = data, _SHARED * len(data)

    def check(self) -> None:
        schema = self._slot(self._follow(0), _MESSAGE_HEADER)
        if schema is None:
            raise DamagedSchema
        schema = self._follow(schema)
        self._count_notes(schema, _SCHEMA_NOTES)
        open_fields = [(field, 1) for field in self._items(schema, _SCHEMA_FIELDS)]
        while open_fields:
            field, depth = open_fields.pop()
            if depth > _DEEPEST:
                raise DamagedSchema
            self._count_text(field, _NAME)
            self._count_notes(field, _NOTES)
            kind, about = self._slot(field, _KIND), self._slot(field, _TYPE)
            if kind and about and self._number(kind, "<B") in _KINDS_WITH_LIST:
                self._count_text(self._follow(about), 1)
            open_fields += [(child, depth + 1) for child in self._items(field, _CHILDREN)]

    def _count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise DamagedSchema

    def _count_text(self, table: int, number: int) -> None:
        place = self._slot(table, number)
        if place is not None:
            self._count(self._number(self._follow(place)))

    def _count_notes(self, table: int, number: int) -> None:
        for note in self._items(table, number):
            self._count_text(note, 0)
            self._count_text(note, 1)

    def _items(self, table: int, number: int) -> Iterator[int]:
        """The tables in a list of them."""
        place = self._slot(table, number)
        if place is not None:
            start = self._follow(place)
            for item in range(self._number(start)):
                self._count(_ITEM)
                yield self._follow(start + 4 + 4 * item)

    def _slot(self, table: int, number: int) -> int | None:
        """Where a table has the value of a slot; None where it has none."""
        slots = table - self._number(table, "<i")
        if 4 + 2 * number >= self._number(slots, "<H"):
            return None
        offset = self._number(slots + 4 + 2 * number, "<H")
        return table + offset if offset else None

    def _follow(self, place: int) -> int:
        return place + self._number(place)

    def _number(self, place: int, kind: str = "<I") -> int:
        if place < 0:  # which would count from the end
            raise DamagedSchema
        return struct.unpack_from(kind, self.data, place)[0]
