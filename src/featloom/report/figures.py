"""The figures of a page, as Vega-Lite descriptions: one way to draw each kind.

Colours are names of the page's own style variables: the browser looks them up, so one drawing
serves the light page, the dark page and paper.  Lines of one figure also differ in the mark of
their points, for readers and printers that see no colour.  Trees, sentences and matrices are not
drawn but written as HTML and SVG: see ``drawings.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from statistics import median
from typing import Any

from featloom.report.grids import shown_value
from featloom.results import Bars, Dot, Histogram, Intervals, Line, Lines, Point, Points
from featloom.shown import visible
from featloom.words import number, shortened

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
FRAME = "M-.85,-.85H.85V.85H-.85ZM-.45,-.45V.45H.45V-.45Z"
MARKS = (CIRCLE, SQUARE, TRIANGLE, DIAMOND, WEDGE, PLUS)
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 3), (2, 3), (9, 3, 2, 3))

MOST_DOTS, MOST_BARS, MOST_LINES = 40, 25, 12
ALL = "all"  # the x of a point that has none
# What is no better than chance is drawn where the others keep at least this part of the width.
LEAST_WIDTH_OF_OTHERS = 0.35
# Values are drawn as they are printed: a kind's factor, the words behind its name, its decimals.
SCALES = {"percent": (100.0, " (%)", 2), "loss": (1.0, "", 4), "seconds": (1.0, " (s)", 2)}


@dataclass(frozen=True)
class LegendEntry:
    """A name, and the look of its line or mark; without a colour the entry explains a dash."""

    label: str
    colour: str = MUTED
    dash: tuple[int, ...] = ()
    mark: str = ""
    line: bool = True


@dataclass(frozen=True)
class Drawing:
    """What it shows in words, and its Vega-Lite description.

    The legend is written in HTML rather than drawn, in groups of entries: it then wraps on a narrow
    page.
    """

    caption: str
    spec: dict[str, Any]
    legend: tuple[tuple[LegendEntry, ...], ...] = ()


@singledispatch
def drawing(figure: Any) -> Drawing | None:
    """The drawing of a figure; None where it has nothing to draw."""
    raise TypeError(f"{type(figure).__name__} is not drawn")


@drawing.register
def _(figure: Histogram) -> Drawing | None:
    import altair as alt

    bins = bins_of(figure)
    if not bins:
        return None
    logarithmic = _evenly_spaced_in_log(bins)
    highest = max(max(count for _, _, count in bins), 1)
    powers = [10**power for power in range(1, math.ceil(math.log10(highest + 1)) + 1)]
    low, high = bins[0][0], bins[-1][1]
    values = [{"from": start, "to": end, "count": n, "zero": 0} for start, end, n in bins]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_rect(fill=ACCENT, stroke=PAGE, strokeWidth=1)
        .encode(
            x=alt.X(
                "from:Q",
                title=visible(figure.x),
                scale=alt.Scale(
                    type="log" if logarithmic else "linear",
                    domain=[low, high] if high > low else [low - 1, low + 1], nice=False,
                ),
                axis=alt.Axis(
                    tickCount=5, labelOverlap=True, format="~e" if logarithmic else alt.Undefined
                ),
            ),
            x2="to:Q",
            y=alt.Y(
                "count:Q",
                title=visible(figure.y),
                scale=alt.Scale(type="symlog", domain=[0, highest], nice=False),
                axis=alt.Axis(values=[0, *powers], format=",d"),
            ),
            y2="zero:Q",
            tooltip=[
                alt.Tooltip("from:Q", format=".3~g"), alt.Tooltip("to:Q", format=".3~g"),
                alt.Tooltip("count:Q", title=visible(figure.y), format=","),
            ],
        )
    )  # fmt: skip
    return Drawing(visible(figure.title), _placed(chart, height=200))


@drawing.register
def _(figure: Intervals) -> Drawing | None:
    import altair as alt

    scored = [dot for dot in figure.dots if dot.value is not None or dot.second is not None]
    drawn, far = without_far(scored)
    # The chosen one is drawn though it stands far down.
    kept = {id(dot) for dot in sorted(drawn, key=lambda dot: dot.look != "chosen")[:MOST_DOTS]}
    drawn = [dot for dot in drawn if id(dot) in kept]
    if not drawn:
        return None
    factor, unit, places = _scale(figure.kind)
    values = [_row_of(position, dot, factor) for position, dot in enumerate(drawn)]
    second = visible(figure.second)
    keys = {"value": visible(figure.x), "low": "from", "high": "to", "second": second}
    keys |= {"second_low": f"{second}, from", "second_high": f"{second}, to"}
    tooltip = [alt.Tooltip("name:N")]
    tooltip += [alt.Tooltip(f"{k}:Q", title=v, format=f".{places}f") for k, v in keys.items()]
    title = visible(figure.x) + unit

    def chart(rows: Sequence[dict[str, Any]]):
        domain = list(range(len(values)))
        row = alt.Y("row:O", axis=None, scale=alt.Scale(domain=domain, padding=0.2))
        return alt.Chart(alt.Data(values=rows)).encode(y=row, tooltip=tooltip)

    def across(field: str):
        axis = alt.Axis(tickCount=6, labelFlush=False)
        return alt.X(f"{field}:Q", scale=_loose(alt), title=title, axis=axis)

    looks = {
        "chosen": (ACCENT, ACCENT, CIRCLE),
        "": (MUTED if figure.looks else ACCENT, MUTED if figure.looks else ACCENT, CIRCLE),
        "aside": (MUTED, PAGE, RING),
    }
    # A layer without data would leave its scale without ends.
    layers, legend = [], []
    for look, (colour, fill, mark) in looks.items():
        rows = [v for v in values if v["value"] is not None and v["look"] == look]
        if not rows:
            continue
        interval = chart(rows).mark_rule(color=colour, strokeWidth=2, opacity=0.55, yOffset=4)
        dot = chart(rows).mark_point(
            shape="circle", fill=fill, stroke=colour, strokeWidth=2, size=90, opacity=1, yOffset=4
        )
        layers += [interval.encode(x=across("low"), x2="high:Q"), dot.encode(x=across("value"))]
        words = figure.looks.get(look, "")
        legend += [LegendEntry(visible(words), colour, mark=mark)] if words else []
    if held := [value for value in values if value["second"] is not None]:
        interval = chart(held).mark_rule(color=INK, strokeWidth=1, opacity=0.5, yOffset=16)
        mark_ = chart(held).mark_point(
            shape=DIAMOND, fill=PAGE, stroke=INK, strokeWidth=1.6, size=70, opacity=1, yOffset=16
        )
        layers += [interval.encode(x=across("second_low"), x2="second_high:Q")]
        layers += [mark_.encode(x=across("second"))]
        legend.append(LegendEntry(second, INK, mark=OPEN_DIAMOND))
    label = chart(values).mark_text(
        align="left", color=INK, fontSize=13, yOffset=-13, limit=alt.expr("width")
    )
    layers.append(label.encode(x=alt.value(0), text="name:N"))
    caption = visible(figure.title) + _far_words(far, drawn, figure.kind)
    spec = _placed(alt.layer(*layers), height=56 * len(values))
    return Drawing(caption, spec, (tuple(legend),) if legend else ())


@drawing.register
def _(figure: Lines) -> Drawing | None:
    import altair as alt

    factor, unit, places = _scale(figure.kind)
    drawn = [(line, points) for line in figure.lines if (points := points_of(line, factor))]
    names = list(dict.fromkeys(line.name for line, _ in drawn))[:MOST_LINES]
    drawn = [(line, points) for line, points in drawn if line.name in names]
    if not drawn:
        return None
    dashes = list(dict.fromkeys(line.dash for line, _ in drawn))
    looks = [series_look(position) for position in range(len(names))]
    # Where the dash says something of its own, colours and marks tell the names apart.
    dash_of_name = len(dashes) == 1
    thin = {name: sum(line.name == name for line, _ in drawn) > len(dashes) for name in names}
    values: list[dict[str, Any]] = [
        {
            "line": position, "name": names.index(line.name), "words": _named(line.name),
            "dash": names.index(line.name) if dash_of_name else dashes.index(line.dash),
            "also": _named(line.dash) if line.dash else "", "x": x, "y": y, "low": low,
            "high": high, "last": place == len(points) - 1, "thin": thin[line.name],
        }
        for position, (line, points) in enumerate(drawn)
        for place, (x, y, low, high) in enumerate(points)
    ]  # fmt: skip
    x, ends = _x_of_lines(alt, figure, values)
    if ends < 2 and not figure.marks_only:
        return None
    title = visible(figure.y) + unit
    scale, cut = _loose(alt), ""
    if figure.from_zero:
        scale = alt.Scale(zero=True, nice=True)
    elif figure.diagonal:
        scale = alt.Scale(domain=[0, factor], nice=False, padding=6)
    elif figure.steps:
        low, high = shown_span([[(x, y) for x, y, _, _ in points] for _, points in drawn])
        scale = alt.Scale(domain=[low, high], nice=False, zero=False)
        cut = f"; values below {low:.{min(places, 3)}f} are cut off"
        cut = cut if any(value["y"] < low for value in values) else ""
    y_axis = alt.Axis(tickCount=6, format=",~r")

    def up(field: str):
        return alt.Y(f"{field}:Q", scale=scale, title=title, axis=y_axis)

    def by(channel, field: str, ranged: list[Any]):
        domain = alt.Scale(domain=list(range(len(ranged))), range=ranged)
        return channel(f"{field}:N", scale=domain, legend=None)

    tooltip = [alt.Tooltip("words:N", title="line")]
    tooltip += [alt.Tooltip("also:N", title="kind")] if not dash_of_name else []
    numeric = isinstance(values[0]["x"], int | float)
    form = ",~r" if numeric else alt.Undefined
    tooltip += [alt.Tooltip("x:Q" if numeric else "x:N", title=visible(figure.x), format=form)]
    tooltip += [alt.Tooltip("y:Q", title=title, format=f".{places}f")]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=x, y=up("y"), tooltip=tooltip, detail="line:N",
        color=by(alt.Color, "name", [look[0] for look in looks]),
    )  # fmt: skip
    patterns = [look[2] for look in looks] if dash_of_name else list(DASHES[: len(dashes)])
    layers = []
    if figure.diagonal:
        ends_of = alt.Data(values=[{"x": 0, "y": 0}, {"x": factor, "y": factor}])
        diagonal = alt.Chart(ends_of).mark_line(color=MUTED, strokeWidth=1.2, strokeDash=[6, 3])
        layers.append(diagonal.encode(x=x, y=up("y")))
    if any(value["low"] is not None for value in values):
        known = base.transform_filter("datum.low !== null")
        interval = known.mark_rule(strokeWidth=2, opacity=0.4, clip=True)
        layers.append(interval.encode(y=up("low"), y2="high:Q"))
    if not figure.marks_only:
        between: Any = "step-after" if figure.steps else "linear"
        line = base.mark_line(clip=figure.steps, interpolate=between).encode(
            strokeDash=by(alt.StrokeDash, "dash", [list(one) or [1, 0] for one in patterns]),
            strokeWidth=alt.condition("datum.thin", alt.value(1), alt.value(1.8)),
            opacity=alt.condition("datum.thin", alt.value(0.55), alt.value(1)),
        )
        layers.append(line)
    points = base.mark_point(filled=True, size=50, opacity=1, clip=figure.steps).encode(
        shape=by(alt.Shape, "name", [look[1] for look in looks])
    )
    layers.append(points.transform_filter("datum.last") if figure.steps else points)
    if figure.best:
        sign = -1 if figure.best == "min" else 1
        # The smallest x of equals.
        best = max(values, key=lambda value: (sign * value["y"], -value["x"]))
        ring = alt.Chart(alt.Data(values=[best])).mark_point(color=INK, size=190, strokeWidth=2)
        layers.append(ring.encode(x=x, y=up("y")))
    groups = [
        tuple(
            LegendEntry(_named(name), look[0], look[2] if dash_of_name else (), look[1])
            for name, look in zip(names, looks, strict=True)
        )
    ]
    if not dash_of_name:
        groups.append(
            tuple(LegendEntry(_named(d), dash=p) for d, p in zip(dashes, patterns, strict=False))
        )
    if figure.diagonal:
        groups.append((LegendEntry("as predicted", MUTED, dash=(6, 3)),))
    legend = tuple(groups) if len(values) and (len(names) > 1 or any(names)) else ()
    return Drawing(visible(figure.title) + cut, _placed(alt.layer(*layers), height=320), legend)


@drawing.register
def _(figure: Points) -> Drawing | None:
    import altair as alt

    known = [(i, p) for i, p in enumerate(figure.points) if p.x is not None and p.y is not None]
    if len(known) < 2:
        return None
    names = list(dict.fromkeys(point.series for _, point in known))[:MOST_LINES]
    looks = [series_look(position) for position in range(len(names))]

    def rows(points: Sequence[Point]):
        return alt.Data(
            values=[
                {"series": names.index(p.series), "words": _named(p.series), "x": p.x, "y": p.y,
                 "name": visible(p.name)} for p in points if p.series in names
            ]
        )  # fmt: skip

    sizes = [float(point.x or 0) for _, point in known]
    wide = figure.front and min(sizes) > 0 and max(sizes) > 20 * min(sizes)
    x = alt.X(
        "x:Q",
        title=visible(figure.x) + (" (logarithmic)" if wide else ""),
        scale=alt.Scale(type="log", nice=False, padding=10) if wide else _loose(alt),
        axis=alt.Axis(format="~s" if figure.front else "~g", labelOverlap=True, tickCount=6),
    )
    y = alt.Y("y:Q", title=visible(figure.y), scale=_loose(alt), axis=alt.Axis(tickCount=6))
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("x:Q", title=visible(figure.x), format=",.5~g")]
    tooltip += [alt.Tooltip("y:Q", title=visible(figure.y), format=".5~g")]
    scale = list(range(len(names)))
    every = alt.Chart(rows([point for _, point in known]))
    if figure.front:
        layers = [every.mark_circle(color=MUTED, size=36, opacity=0.5)]
        front = alt.Chart(rows(pareto_front([point for _, point in known])))
        dots = {"color": ACCENT, "size": 46}
        layers.append(
            front.mark_line(color=ACCENT, interpolate="step-after", strokeWidth=2, point=dots)
        )
    else:
        ranges = [[look[place] for look in looks] for place in (0, 1)]
        layers = [
            every.mark_point(filled=True, size=55, opacity=0.8).encode(
                color=alt.Color(
                    "series:N", scale=alt.Scale(domain=scale, range=ranges[0]), legend=None
                ),
                shape=alt.Shape(
                    "series:N", scale=alt.Scale(domain=scale, range=ranges[1]), legend=None
                ),
            )
        ]
    if chosen := [point for i, point in known if i in figure.chosen]:
        layers.append(alt.Chart(rows(chosen)).mark_point(color=INK, size=190, strokeWidth=2))
    chart = alt.layer(*[layer.encode(x=x, y=y, tooltip=tooltip) for layer in layers])
    legend: tuple[LegendEntry, ...] = ()
    if any(names):
        legend = tuple(
            LegendEntry(_named(name), look[0], mark=look[1])
            for name, look in zip(names, looks, strict=True)
        )
    caption = visible(figure.title) + ("; the chosen one is ringed" if chosen else "")
    return Drawing(caption, _placed(chart, height=320), (legend,) if legend else ())


@drawing.register
def _(figure: Bars) -> Drawing | None:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "row": position, "name": visible(name) or "not named", "value": max(value, 0.0),
            "label": shown_value(value, figure.kind),
            "filled": 0.0 if position in figure.hollow else 1.0,
        }
        for position, (name, value) in enumerate(zip(figure.names, figure.values, strict=False))
        if value is not None
    ][:MOST_BARS]  # fmt: skip
    if not rows:
        return None
    # Room on the right for the longest bar's own figure.
    most = (max(row["value"] for row in rows) or 1.0) * 1.22
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("label:N", title=visible(figure.x))]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.1)),
        tooltip=tooltip,
    )
    x = alt.X("value:Q", title=None, axis=None, scale=alt.Scale(domain=[0, most]))
    # The name stands above its bar rather than on an axis: long names keep the whole width.
    bar = base.mark_bar(
        color=ACCENT, stroke=ACCENT, strokeWidth=1, height=10, yOffset=8, cornerRadiusEnd=2
    ).encode(x=x, fillOpacity=alt.FillOpacity("filled:Q", scale=None))
    name = base.mark_text(
        align="left", color=INK, fontSize=12, yOffset=-7, limit=alt.expr("width")
    ).encode(x=alt.value(0), text="name:N")
    value = base.mark_text(align="left", color=MUTED, fontSize=12, dx=6, yOffset=8).encode(
        x=x, text="label:N"
    )
    legend: tuple[LegendEntry, ...] = ()
    filled = {row["filled"] for row in rows}
    if figure.hollow_words and len(filled) == 2:
        legend = (LegendEntry(visible(figure.solid_words), ACCENT, mark=SQUARE, line=False),)
        legend += (LegendEntry(visible(figure.hollow_words), ACCENT, mark=FRAME, line=False),)
    title, n_known = visible(figure.title), sum(value is not None for value in figure.values)
    if len(rows) < n_known:
        title = f"{title}: the first {len(rows)} of {number(n_known)}"
    chart = alt.layer(bar, name, value)
    return Drawing(title, _placed(chart, height=38 * len(rows)), (legend,) if legend else ())


# ── what they share ──


def series_look(position: int) -> tuple[str, str, tuple[int, ...]]:
    """Colour, mark and dash of a line: when the colours are used up, the next dash begins.

    >>> series_look(0)[0], series_look(7)[0], series_look(7)[2]
    ('var(--series-1)', 'var(--series-2)', (6, 3))
    """
    turn, place = divmod(position, len(SERIES))
    return SERIES[place], MARKS[place], DASHES[turn % len(DASHES)]


def bins_of(histogram: Histogram) -> list[tuple[float, float, float]]:
    """Start, end and count of each bin; none where edges and counts do not fit together."""
    edges = [edge for edge in histogram.edges if edge is not None]
    counts = [count for count in histogram.counts if count is not None]
    if len(edges) != len(counts) + 1 or len(counts) != len(histogram.counts):
        return []
    return [(*ends, count) for ends, count in zip(pairwise(edges), counts, strict=True)]


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """The points that no other beats with as small an x or a smaller one.

    >>> points = [Point(x=10, y=.7), Point(x=20, y=.6), Point(x=30, y=.8)]
    >>> [point.x for point in pareto_front(points)]
    [10, 30]
    """
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x or 0, -(point.y or 0))):
        if not front or (point.y or 0) > (front[-1].y or 0):
            front.append(point)
    return front


def points_of(line: Line, factor: float = 1.0) -> list[tuple[Any, float, Any, Any]]:
    """The points of a line that have a value: x, y and its interval, as they are drawn.

    >>> points_of(Line("a", [1, 2, None], [0.5, None, 0.25]), 100)
    [(1, 50.0, None, None), ('all', 25.0, None, None)]
    """

    def scaled(values: Sequence[float | None], place: int) -> float | None:
        value = values[place] if place < len(values) else None
        return None if value is None else factor * value

    return [
        (ALL if x is None else x, factor * y, scaled(line.low, j), scaled(line.high, j))
        for j, (x, y) in enumerate(zip(line.x, line.y, strict=False))
        if y is not None
    ]


def rises_early(lines: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether, on a plain axis, most lines would do half their rising in its first tenth.

    >>> rises_early([[(1, 79), (10, 80), (1000, 81)], [(1, 79), (30, 80)]])
    True
    >>> rises_early([[(1, 79), (30, 80), (50, 81)], [(1, 79), (40, 80)]])
    False
    """
    low, _ = shown_span(lines)
    most = max(points[-1][0] for points in lines)
    halfway = [
        min(x for x, y in points if y >= (low + points[-1][1]) / 2 or (x, y) == points[-1])
        for points in lines
    ]
    return median(halfway) < most / 10


def shown_span(lines: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """The lowest and highest value drawn: a search may begin far below where all of them end.

    Three times the distance between the ends is kept below the lowest end, at least a fiftieth of
    the highest.

    >>> shown_span([[(1, 5.0), (90, 80.0)], [(1, 30.0), (90, 82.0)]])
    (74.0, 82.4)
    """
    ends = [points[-1][1] for points in lines]
    starts = [y for points in lines for _, y in points]
    floor = min(ends) - max(3 * (max(ends) - min(ends)), 0.02 * abs(max(ends)))
    room = 0.05 * (max(ends) - max(floor, min(starts))) or 0.001 * (abs(max(ends)) or 1.0)
    low = floor if min(starts) < floor else min(starts) - room
    return round(low, 6), round(max(ends) + room, 6)


def without_far(dots: Sequence[Dot]) -> tuple[list[Dot], list[Dot]]:
    """Those to draw, and those set aside that would press the others into a corner.

    >>> dots = [Dot("a", 0.9), Dot("b", 0.88), Dot("commonest class", 0.1, may_go=True)]
    >>> [[dot.name for dot in part] for part in without_far(dots)]
    [['a', 'b'], ['commonest class']]
    """
    others = [end for dot in dots if not dot.may_go for end in _ends(dot)]
    if not others:
        return list(dots), []
    low, high = min(others), max(others)
    drawn: list[Dot] = []
    far: list[Dot] = []
    for dot in dots:
        width = max([high, *_ends(dot)]) - min([low, *_ends(dot)])
        is_far = dot.may_go and high - low < LEAST_WIDTH_OF_OTHERS * width
        (far if is_far else drawn).append(dot)
    return drawn, far


def _ends(dot: Dot) -> list[float]:
    """Every value that a line of the figure shows."""
    shown = [dot.value, dot.second, *(dot.interval or ()), *(dot.second_interval or ())]
    return [value for value in shown if value is not None]


def _row_of(position: int, dot: Dot, factor: float) -> dict[str, Any]:
    row: dict[str, Any] = {"row": position, "name": _named(dot.name), "look": dot.look}
    for keys, value, interval in (
        (("value", "low", "high"), dot.value, dot.interval),
        (("second", "second_low", "second_high"), dot.second, dot.second_interval),
    ):
        low, high = interval or (None, None)
        ends = (value, value if low is None else low, value if high is None else high)
        row |= {
            key: None if end is None else factor * end for key, end in zip(keys, ends, strict=True)
        }
    return row


def _far_words(far: Sequence[Dot], drawn: Sequence[Dot], kind: str) -> str:
    """Where those are that the figure leaves out."""
    said = [f"{_named(dot.name)} is at {shown_value(dot.value, kind)}"
            for dot in far if dot.value is not None]  # fmt: skip
    if not said:
        return ""
    middle = [value for dot in drawn for value in _ends(dot)]
    left = (far[0].value or 0.0) < min(middle, default=0.0)
    return f"; {', '.join(said)}, {'left' if left else 'right'} of the figure"


def _x_of_lines(alt, figure: Lines, values: list[dict[str, Any]]):
    """The axis below lines, and how many places it has."""
    places = list(dict.fromkeys(value["x"] for value in values))
    title = visible(figure.x)
    if figure.names or ALL in places:
        if figure.names:
            order = [visible(name) for name in figure.names]
            for value in values:
                value["x"] = order[int(value["x"])]
        else:
            sizes = sorted(place for place in places if place != ALL)
            order = [shown_value(size, "count") for size in sizes] + [ALL]
            for value in values:
                value["x"] = ALL if value["x"] == ALL else shown_value(value["x"], "count")
        scale = alt.Scale(type="point", domain=order, padding=0.4)
        axis = alt.Axis(labelAngle=0, grid=False, labelOverlap=True)
        return alt.X("x:O", sort=order, title=title, axis=axis, scale=scale), len(order)
    numbers = sorted(places)
    if figure.diagonal:
        scale = alt.Scale(domain=[0, SCALES["percent"][0]], nice=False, padding=6)
        return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6)), len(numbers)
    by_line: dict[int, list[tuple[float, float]]] = {}
    for value in values:
        by_line.setdefault(value["line"], []).append((value["x"], value["y"]))
    log = figure.log_x or (figure.steps and rises_early(list(by_line.values())))
    log = log and numbers[0] > 0
    few = len(numbers) <= 16
    axis = alt.Axis(
        values=numbers if few else alt.Undefined, format=",~r", labelOverlap=True, labelAngle=0,
        grid=False, tickCount=6,
    )  # fmt: skip
    how: dict[str, Any] = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(nice=False, padding=14, **how)
    title += " (logarithmic)" if log else ""
    return alt.X("x:Q", title=title, scale=scale, axis=axis), len(numbers)


def _evenly_spaced_in_log(bins: Sequence[tuple[float, float, float]]) -> bool:
    """Whether the edges grow by a factor rather than by a step."""
    if len(bins) < 2 or bins[0][0] <= 0 or bins[-1][1] < 10 * bins[0][0]:
        return False
    factors = [end / start for start, end, _ in bins]
    return max(factors) < 1.05 * min(factors)


def _scale(kind: str) -> tuple[float, str, int]:
    return SCALES.get(kind, (1.0, "", 4))


def _named(name: str) -> str:
    return shortened(visible(name), 80) or "not named"


def _loose(alt):
    """A scale that need not begin at 0, with room for the marks at both ends."""
    return alt.Scale(zero=False, padding=14)


def _placed(chart, height: int) -> dict[str, Any]:
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
            "labelColor": MUTED, "titleColor": MUTED, "titleFontWeight": "normal",
            "labelFontSize": 11, "titleFontSize": 12, "domainColor": HAIRLINE,
            "tickColor": HAIRLINE, "gridColor": HAIRLINE, "gridOpacity": 0.6,
        },
        text={"color": INK},
    )  # fmt: skip
    return styled.to_dict()
