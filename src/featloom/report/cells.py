"""Numbers and the cells of tables, as the page prints them.

A table is a dict of columns and rows that the template can place without a decision of its own:
numbers are grouped (55,268), the decimals of a column agree, and signs that would hide or reorder
other text are spelled out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from featloom.features.display import visible

MISSING = "–"


def number(value: float | None, places: int = 0, *, signed: bool = False) -> str:
    """A number as it is printed: grouped, with a true minus sign.

    >>> number(55268), number(-0.12345, 3), number(None), number(0.5, 1, signed=True)
    ('55,268', '−0.123', '–', '+0.5')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    smallest = 10.0**-places / 2
    if value and places and abs(value) < smallest:
        text = f"{value:+.0e}" if signed else f"{value:.0e}"
    else:
        text = f"{value:+,.{places}f}" if signed else f"{value:,.{places}f}"
    return text.replace("-", "−")


def decimals(values: Sequence[float | None]) -> int:
    """Decimals that give the largest number of a column three or four significant digits.

    >>> decimals([0.0123, 0.004]), decimals([12.5, 0.1]), decimals([None])
    (5, 2, 0)
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(sizes, default=0.0)
    return min(max(3 - math.floor(math.log10(largest)), 0), 8) if largest else 0


def seconds(value: float | None) -> str:
    """A span of time in words.

    >>> seconds(0.0421), seconds(3.25), seconds(125), seconds(7300)
    ('0.042 s', '3.2 s', '2 min 5 s', '2 h 1 min')
    """
    if value is None:
        return MISSING
    if value < 60:
        return f"{value:.{1 if value >= 1 else 3}f} s"
    minutes = round(value) // 60
    return (
        f"{minutes} min {round(value) % 60} s"
        if minutes < 60
        else (f"{minutes // 60} h {minutes % 60} min")
    )


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


def row(*cells: dict[str, Any], domain: bool = False) -> dict[str, Any]:
    return {"cells": list(cells), "domain": domain}


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


def p_cell(p: float | None) -> dict[str, Any]:
    return cell("< 0.001", p) if p is not None and p < 0.001 else number_cell(p, 3)


def without_empty_columns(columns: list[dict], rows: list[dict]) -> dict[str, Any]:
    filled = [j for j in range(len(columns)) if not all(line["cells"][j]["empty"] for line in rows)]
    for line in rows:
        line["cells"] = [line["cells"][j] for j in filled]
    return {"columns": [columns[j] for j in filled], "rows": rows}
