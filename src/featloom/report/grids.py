"""Tables of plain values as they are printed: each kind of column has its one way.

Numbers are grouped (55,268), the decimals of a column agree, and signs that would hide or reorder
other text are spelled out.  The page and the terminal print the same cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from featloom.results import Facts, Grid
from featloom.shown import visible
from featloom.words import MISSING, first_and_more, number, p_value, seconds

MOST_ROWS = 1_000
MOST_NAMES = 30
_WORDS = ("text", "feature", "names", "flag")

Cell = dict[str, Any]


def shown_grid(grid: Grid) -> dict[str, Any] | None:
    """Heads and cells of a table, without the columns that nothing stands in; None if empty.

    A cell has its ``text``, the ``value`` it is sorted by, and whether it is ``empty``.

    >>> from featloom.results import grid
    >>> table = shown_grid(grid("found", {"feature": "feature", "gain": "number", "note": "text"},
    ...                         [["a=1 & b=2", 0.25, None], ["c=3", 12.5, None]]))
    >>> [column["label"] for column in table["columns"]]
    ['feature', 'gain']
    >>> [[cell["text"] for cell in row["cells"]] for row in table["rows"]]
    [['a=1 & b=2', '0.25'], ['c=3', '12.50']]
    """
    rows = grid.rows[:MOST_ROWS]
    if not rows:
        return None
    width = len(grid.columns)
    columns, cells = [], []
    for j, column in enumerate(grid.columns):
        values = [row[j] if j < len(row) else None for row in rows]
        kind = _kind(column.kind, values)
        found = _cells(kind, values)
        if all(cell["empty"] for cell in found) and width > 1:
            continue
        columns.append(
            {
                "label": visible(column.label),
                "number": kind not in _WORDS,
                "note": visible(column.note),
                "of_data": column.of_data,
            }
        )
        cells.append(found)
    total = grid.total or len(grid.rows)
    return {
        "columns": columns,
        "rows": [
            {"cells": line, "chosen": i in grid.chosen, "marked": i in grid.marked}
            for i, line in enumerate(zip(*cells, strict=True))
        ],
        "title": visible(grid.title),
        "note": " ".join(filter(None, [visible(grid.note), first_of(total, len(rows))])),
        "folded": grid.folded,
        "mark": visible(grid.mark),
        "count": number(total),
        "total": total,
    }


def shown_facts(facts: Facts) -> list[tuple[str, str]]:
    """Labels and values; what is missing is left out.

    >>> shown_facts(Facts([("rows", 1200, "count"), ("accuracy", None, "percent")]))
    [('rows', '1,200')]
    """
    found = [(label, shown_value(value, kind)) for label, value, kind in facts.items]
    return [(visible(label), text) for label, text in found if text != MISSING]


def shown_value(value: Any, kind: str) -> str:
    """One value as it stands in a table of its own.

    >>> shown_value(0.8691, "percent"), shown_value(0.28125, "loss"), shown_value(True, "flag")
    ('86.91', '0.2812', 'yes')
    """
    return str(_cells(_kind(kind, [value]), [value])[0]["text"])


def decimals(values: Sequence[float | None]) -> int:
    """Decimals that give the largest number of a column three or four significant digits.

    >>> decimals([0.0123, 0.004]), decimals([12.5, 0.1]), decimals([None]), decimals([3.0, 7])
    (5, 2, 0, 0)
    """
    numbers = [abs(value) for value in values if value is not None and math.isfinite(value)]
    if all(float(value).is_integer() for value in numbers):
        return 0
    return min(max(3 - math.floor(math.log10(max(numbers))), 0), 8)


def first_of(total: int, shown: int) -> str:
    """What is said above a table that does not hold everything.

    >>> first_of(1200, 500), first_of(1, 1)
    ('The first 500 of 1,200.', '')
    """
    return f"The first {number(shown)} of {number(total)}." if shown < total else ""


def plain_text(value: Any, empty: str | None = "(empty)") -> str | None:
    """A value of any kind as one reads it: words bare, others as JSON.

    >>> plain_text("a"), plain_text(3), plain_text(True), plain_text("")
    ('a', '3', 'true', '(empty)')
    """
    if value is None or value == "":
        return empty
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _kind(kind: str, values: Sequence[Any]) -> str:
    """A column of words that holds nothing but numbers is one of numbers."""
    if kind not in ("text", "") and kind in _PRINTED:
        return kind
    plain = [_value_of(value) for value in values]
    numbers = [value for value in plain if value is not None]
    return "number" if numbers and all(map(_is_number, numbers)) else "text"


def _value_of(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _cells(kind: str, values: Sequence[Any]) -> list[Cell]:
    plain = [_value_of(value) for value in values]
    places = decimals([value for value in plain if _is_number(value)])
    print_one = _PRINTED[kind]
    found = []
    for value, one in zip(values, plain, strict=True):
        fits = one is not None and (kind in _LOOSE or _is_number(one))
        cell = print_one(one, places) if fits else _cell(MISSING, empty=True)
        if isinstance(value, dict):
            under = visible(str(value.get("under") or ""))
            cell |= {"under": under} if under else {}
            cell |= {"look": value["look"]} if value.get("look") else {}
            cell["empty"] = cell["empty"] and not under
        found.append(cell)
    return found


def _cell(text: str, value: float | None = None, *, empty: bool = False) -> Cell:
    return {"text": text, "value": value, "empty": empty}


def _text(value: Any, places: int) -> Cell:
    text = plain_text(value, empty=None)
    return _cell(MISSING, empty=True) if text is None else _cell(visible(text))


def _feature(value: Any, places: int) -> Cell:
    parts = [visible(str(part)) for part in _parts_of(value)]
    return _cell(" & ".join(parts)) | {"parts": [part.partition("=") for part in parts]}


def _parts_of(value: Any) -> list[Any]:
    """The features that a conjunction joins: listed one by one where their names may hold an &."""
    return value if isinstance(value, list) else str(value).split(" & ")


def _names(value: Any, places: int) -> Cell:
    names = [visible(str(name)) or "(empty)" for name in value]
    return _cell(first_and_more(names, MOST_NAMES)) if names else _cell(MISSING, empty=True)


def _share(value: float, places: int) -> Cell:
    bar = round(min(max(100 * value, 0), 100), 2)
    return _cell(f"{value:.1%}", value) | {"bar": bar}


def _signed(value: float, places: int) -> Cell:
    """What would be printed as zero has no sign."""
    rounded = round(value, places) + 0.0
    return _cell(number(rounded, places, signed=bool(rounded)), value)


def _pair(print_end: Callable[[float], str]) -> Callable[[Any, int], Cell]:
    def printed(value: Any, places: int) -> Cell:
        low, high = value
        if low is None or high is None:
            return _cell(MISSING, empty=True)
        return _cell(f"{print_end(low)} to {print_end(high)}", low)

    return printed


# Kinds whose values need not be numbers.
_LOOSE = (*_WORDS, "interval", "percents")
_PRINTED: dict[str, Callable[[Any, int], Cell]] = {
    "text": _text,
    "feature": _feature,
    "names": _names,
    "flag": lambda value, _: _cell("yes" if value else "no"),
    "count": lambda value, _: _cell(number(value, 0 if float(value).is_integer() else 1), value),
    "number": lambda value, places: _cell(number(value, places), value),
    "signed": _signed,
    "percent": lambda value, _: _cell(number(100 * value, 2), value),
    "share": _share,
    "points": lambda value, _: _signed(100 * value, 2),
    "loss": lambda value, _: _cell(number(value, 4), value),
    "gain": lambda value, _: _signed(value, 4),
    "p": lambda value, _: _cell(p_value(value, zero=True), value),
    "seconds": lambda value, _: _cell(seconds(value), value),
    "interval": _pair(lambda end: number(end, 4)),
    "percents": _pair(lambda end: number(100 * end, 2)),
}
