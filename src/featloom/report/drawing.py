"""What all figures share: the page's colours and type, and lines that differ by more than colour.

Colours are names of the page's own style variables: the browser looks them up, so one drawing
serves the light page, the dark page and paper.  Lines of one figure also differ in the mark of
their points, for readers and printers that see no colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INK, MUTED, HAIRLINE = "var(--ink)", "var(--muted)", "var(--hairline)"
ACCENT, PAGE = "var(--accent)", "var(--page)"

SERIES = tuple(f"var(--series-{position})" for position in range(1, 7))
# Drawn in a square from −1 to 1, for the figure and its legend alike.
CIRCLE = "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z"
SQUARE = "M-.85,-.85H.85V.85H-.85Z"
TRIANGLE = "M0,-1.05L1,.8H-1Z"
DIAMOND = "M0,-1.15L1.15,0L0,1.15L-1.15,0Z"
WEDGE = "M0,1.05L1,-.8H-1Z"
PLUS = "M-.35,-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z"
RING = "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0ZM.55,0A.55,.55,0,1,0,-.55,0A.55,.55,0,1,0,.55,0Z"
OPEN_DIAMOND = "M0,-1.2L1.2,0L0,1.2L-1.2,0ZM0,-.6L-.6,0L0,.6L.6,0Z"
MARKS = (CIRCLE, SQUARE, TRIANGLE, DIAMOND, WEDGE, PLUS)
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 3), (9, 3, 2, 3))


@dataclass(frozen=True)
class LegendEntry:
    """A name, and the look of its line or mark; without a colour the entry explains a dash."""

    label: str
    colour: str = MUTED
    dash: tuple[int, ...] = ()
    mark: str = ""
    line: bool = True


@dataclass(frozen=True)
class Figure:
    """One drawing: where it goes, what it shows in words, and its Vega-Lite description.

    The legend is written in HTML rather than drawn, in groups of entries: it then wraps on a narrow
    page.
    """

    name: str
    section: str
    caption: str
    spec: dict[str, Any]
    min_width: int = 0
    legend: tuple[tuple[LegendEntry, ...], ...] = ()


def loose_scale(alt):
    """A scale that need not begin at 0, with room for the marks at both ends."""
    return alt.Scale(zero=False, padding=14)


def series_look(position: int) -> tuple[str, str, tuple[int, ...]]:
    """Colour, mark and dash of a line: when the colours are used up, the next dash begins.

    >>> series_look(0)[0], series_look(7)[0], series_look(7)[2]
    ('var(--series-1)', 'var(--series-2)', (6, 3))
    """
    turn, place = divmod(position, len(SERIES))
    return SERIES[place], MARKS[place], DASHES[turn % len(DASHES)]


def placed(chart, height: int) -> dict[str, Any]:
    """The description with the page's type and colours, as wide as the place it is put in."""
    fitted = chart.properties(
        width="container",
        height=height,
        background="transparent",
        autosize={"type": "fit-x", "contains": "padding"},
    )
    styled = fitted.configure(
        font="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
        view={"stroke": None},
        axis={
            "labelColor": MUTED,
            "titleColor": MUTED,
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 12,
            "domainColor": HAIRLINE,
            "tickColor": HAIRLINE,
            "gridColor": HAIRLINE,
            "gridOpacity": 0.6,
        },
        text={"color": INK},
    )
    return styled.to_dict()
