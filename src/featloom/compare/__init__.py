"""The comparison of methods under one protocol."""

from __future__ import annotations

from featloom.compare.plain_columns import (
    ColumnKinds,
    PlainColumns,
    column_kinds,
    columns_as_people_have_them,
)
from featloom.compare.yardsticks import EBMYardstick, LightGBMYardstick

__all__ = [
    "ColumnKinds",
    "EBMYardstick",
    "LightGBMYardstick",
    "PlainColumns",
    "column_kinds",
    "columns_as_people_have_them",
]
