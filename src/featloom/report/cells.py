"""Numbers and the cells of tables, as the page prints them.

A table is a dict of columns and rows that the template can place without a decision of its own:
numbers are grouped (55,268), the decimals of a column agree, and signs that would hide or reorder
other text are spelled out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from featloom.shown import visible
from featloom.words import MISSING, number, p_value


def decimals(values: Sequence[float | None]) -> int:
    """Decimals that give the largest number of a column three or four significant digits.

    >>> decimals([0.0123, 0.004]), decimals([12.5, 0.1]), decimals([None])
    (5, 2, 0)
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(sizes, default=0.0)
    return min(max(3 - math.floor(math.log10(largest)), 0), 8) if largest else 0


def bars(label: str, counts: Iterable[tuple[str, int | None]], what: str) -> dict[str, Any] | None:
    """Names with counts, their share of the whole, and a bar as wide as that share."""
    counts = list(counts)
    if not counts:
        return None
    whole = sum(count or 0 for _, count in counts)
    rows = []
    for name, count in counts:
        share = (count or 0) / whole if whole else 0.0
        bar = cell(f"{share:.1%}", share) | {"bar": round(100 * share, 2)}
        rows.append(row(text_cell(name), number_cell(count), bar))
    columns = [column(label), column(what, number=True), column("share", number=True)]
    return {"columns": columns, "rows": rows}


def column(
    label: str, *, number: bool = False, note: str = "", of_data: bool = False
) -> dict[str, Any]:
    return {"label": visible(label), "number": number, "note": visible(note), "of_data": of_data}


def row(*cells: dict[str, Any], domain: bool = False, chosen: bool = False) -> dict[str, Any]:
    """A line of a table; features of the domain and the chosen line carry a mark."""
    return {"cells": list(cells), "domain": domain, "chosen": chosen}


def cell(text: str, value: float | None = None, *, empty: bool = False) -> dict[str, Any]:
    """What is shown, what it is sorted by, and whether there was nothing to show."""
    return {"text": text, "value": value, "empty": empty}


def text_cell(text: str | None) -> dict[str, Any]:
    return cell(MISSING, empty=True) if text is None else cell(visible(text))


def number_cell(value: float | None, places: int = 0, *, signed: bool = False) -> dict[str, Any]:
    return cell(number(value, places, signed=signed), value, empty=value is None)


def interval_cell(interval: tuple[float | None, float | None] | None) -> dict[str, Any]:
    if interval is None or None in interval:
        return text_cell(None)
    low, high = interval
    return cell(f"{number(low, 4)} to {number(high, 4)}", low)


def per_cent_cell(share: float | None, places: int = 2) -> dict[str, Any]:
    return number_cell(None if share is None else 100 * share, places)


def per_cent_interval_cell(interval: tuple[float | None, float | None] | None) -> dict[str, Any]:
    """An interval of shares, in per cent.

    >>> per_cent_interval_cell((0.5, 0.625))["text"], per_cent_interval_cell((None, 1.0))["text"]
    ('50.00 to 62.50', '–')
    """
    low, high = interval or (None, None)
    if low is None or high is None:
        return text_cell(None)
    return cell(f"{number(100 * low, 2)} to {number(100 * high, 2)}", low)


def points_cell(points: float | None, *, signed: bool = True) -> dict[str, Any]:
    """Points to two places: what is smaller is nothing.

    >>> [points_cell(points)["text"] for points in (0.5, -0.001)]
    ['+0.50', '0.00']
    """
    if points is None:
        return text_cell(None)
    rounded = round(points, 2) + 0.0
    return cell(number(rounded, 2, signed=signed and bool(rounded)), points)


def share_cell(share: float | None) -> dict[str, Any]:
    """A share in per cent with a bar as wide."""
    if share is None:
        return text_cell(None)
    return cell(f"{share:.1%}", share) | {"bar": round(min(max(100 * share, 0), 100), 2)}


def first_of(entries: Sequence[Any], most: int) -> str:
    """What is said above a table that does not hold everything.

    >>> first_of(range(1200), 500), first_of([1], 500)
    ('The first 500 of 1,200.', '')
    """
    if len(entries) <= most:
        return ""
    return f"The first {number(most)} of {number(len(entries))}."


def p_cell(p: float | None) -> dict[str, Any]:
    return text_cell(None) if p is None else cell(p_value(p, zero=True), p)


def without_empty_columns(columns: list[dict], rows: list[dict]) -> dict[str, Any]:
    filled = [j for j in range(len(columns)) if not all(line["cells"][j]["empty"] for line in rows)]
    for line in rows:
        line["cells"] = [line["cells"][j] for j in filled]
    return {"columns": [columns[j] for j in filled], "rows": rows}
