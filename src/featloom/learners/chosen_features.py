"""Features that were chosen for their worth in bits, as people read them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from html import escape

from featloom.shown import visible

_MOST_SHOWN = 50
_TITLES = ("feature", "target", "saved", "paid", "weight")


@dataclass(frozen=True)
class ChosenFeature:
    """A feature, the class (or target) it was chosen for, bits saved and paid, and its weight."""

    name: str
    target: Hashable
    saved: float
    paid: float
    weight: float

    def __str__(self) -> str:
        return self.name


class ChosenFeatures(list[ChosenFeature]):
    """A list of features that prints as a table.

    >>> print(ChosenFeatures([ChosenFeature("Next=e", "S", 12.34, 5.0, 0.8)]))
    feature  target  saved  paid  weight
    Next=e   S        12.3   5.0   +0.80
    """

    def __str__(self) -> str:
        if not self:
            return "no feature saves more bits than it costs"
        lines = [_TITLES, *map(_cells, self[:_MOST_SHOWN])]
        widths = [max(len(line[j]) for line in lines) for j in range(len(_TITLES))]
        text = [
            "  ".join(
                cell.ljust(width) if j < 2 else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*text, *self._left_out()])

    def _repr_html_(self) -> str:
        """In a notebook: a table without script."""
        if not self:
            return f"<p>{self}</p>"
        head = "".join(f"<th>{title}</th>" for title in _TITLES)
        rows = []
        for feature in self[:_MOST_SHOWN]:
            cells = "".join(
                f'<td style="text-align:{"left" if j < 2 else "right"}">{escape(cell)}</td>'
                for j, cell in enumerate(_cells(feature))
            )
            rows.append(f"<tr>{cells}</tr>")
        more = "".join(f"<p>{line}</p>" for line in self._left_out())
        return (
            '<div class="featloom-features" style="overflow-x:auto">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
            "</div>"
        )

    def _left_out(self) -> list[str]:
        return [f"and {len(self) - _MOST_SHOWN:,} more"] if len(self) > _MOST_SHOWN else []


def _cells(feature: ChosenFeature) -> tuple[str, ...]:
    return (
        visible(feature.name),
        visible(str(feature.target)),
        f"{feature.saved:.1f}",
        f"{feature.paid:.1f}",
        f"{feature.weight:+.2f}",
    )
