"""The figures of relevance carried between tasks.

The methods with their intervals, controls hollow, and a mark for what was published; what each
method reaches as tasks get more rows; and the families of features by their rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report.drawing import (
    ACCENT,
    CIRCLE,
    DIAMOND,
    INK,
    MUTED,
    OPEN_DIAMOND,
    PAGE,
    RING,
    Figure,
    LegendEntry,
    loose_scale,
    placed,
    series_look,
)
from featloom.report.transfer import ALL_ROWS, PROTOCOLS, by_rate
from featloom.report.transfer_types import (
    CurvePoint,
    TransferFamily,
    TransferMethod,
    TransferPart,
)
from featloom.shown import visible
from featloom.words import shortened

MOST_BARS, MOST_METHODS, MOST_LINES = 25, 40, 12


def transfer_figures(part: TransferPart | None) -> list[Figure]:
    """The figures that the part has data for."""
    if part is None:
        return []
    found = []
    protocols = list(dict.fromkeys(one.protocol for one in part.methods))
    for position, protocol in enumerate(protocols):
        same = [one for one in part.methods if one.protocol == protocol]
        words = PROTOCOLS.get(protocol, protocol) if len(protocols) > 1 else ""
        said = shortened(visible(words), 40)
        found.append(_method_figure(f"transfer-methods-{position}", same, said))
    found += [_curve_figure(part.curve), _family_figure(part.families)]
    return [figure for figure in found if figure]


def _method_figure(name: str, methods: Sequence[TransferMethod], protocol: str) -> Figure | None:
    import altair as alt

    shown = [one for one in methods if one.value is not None or one.published is not None]
    if not shown:
        return None
    values: list[dict[str, Any]] = []
    for position, one in enumerate(shown[:MOST_METHODS]):
        low, high = one.interval or (None, None)
        value = None if one.value is None else 100 * one.value
        setting = f" ({visible(one.setting)})" if one.setting else ""
        values.append(
            {
                "row": position,
                "method": (visible(one.name) or "not named") + setting,
                "value": value,
                "low": value if low is None else 100 * low,
                "high": value if high is None else 100 * high,
                "published": one.published,
                "t": one.t,
                "control": one.kind == "control",
            }
        )
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("value:Q", title="right %", format=".2f")]
    keys = ("low", "high", "published", "t")
    tooltip += [alt.Tooltip(f"{key}:Q", format=".2f") for key in keys]
    scale, axis = loose_scale(alt), alt.Axis(tickCount=6, labelFlush=False)

    def chart(rows: Sequence[dict[str, Any]]):
        domain = list(range(len(values)))
        row = alt.Y("row:O", axis=None, scale=alt.Scale(domain=domain, padding=0.2))
        return alt.Chart(alt.Data(values=rows)).encode(y=row, tooltip=tooltip)

    def across(field: str):
        return alt.X(f"{field}:Q", scale=scale, title="right answers (%)", axis=axis)

    # A layer without data would leave its scale without ends.
    layers, legend = [], []
    for control, colour in ((False, ACCENT), (True, MUTED)):
        rows = [v for v in values if v["value"] is not None and v["control"] is control]
        if not rows:
            continue
        interval = chart(rows).mark_rule(color=colour, strokeWidth=2, opacity=0.55, yOffset=8)
        fill = PAGE if control else colour
        dot = chart(rows).mark_point(
            shape="circle", fill=fill, stroke=colour, strokeWidth=2, size=90, opacity=1, yOffset=8
        )
        layers += [interval.encode(x=across("low"), x2="high:Q"), dot.encode(x=across("value"))]
        words = "control" if control else "here, with its interval"
        legend.append(LegendEntry(words, colour, mark=RING if control else CIRCLE))
    if theirs := [value for value in values if value["published"] is not None]:
        mark = chart(theirs).mark_point(
            shape=DIAMOND, fill=PAGE, stroke=INK, strokeWidth=1.6, size=90, opacity=1, yOffset=8
        )
        layers.append(mark.encode(x=across("published")))
        legend.append(LegendEntry("published", INK, mark=OPEN_DIAMOND, line=False))
    label = chart(values).mark_text(
        align="left", color=INK, fontSize=13, yOffset=-10, limit=alt.expr("width")
    )
    layers.append(label.encode(x=alt.value(0), text="method:N"))
    caption = f"Right answers, {protocol}" if protocol else "Right answers of each method"
    spec = placed(alt.layer(*layers), height=46 * len(values))
    return Figure(name, "transfer-methods", caption, spec, legend=(tuple(legend),))


def _curve_figure(curve: Sequence[CurvePoint]) -> Figure | None:
    import altair as alt

    drawn = [point for point in curve if point.value is not None]
    names = list(dict.fromkeys(point.method for point in drawn))[:MOST_LINES]
    sizes = sorted({point.rows for point in drawn if point.rows is not None})
    steps = [f"{size:,}" for size in sizes]
    if any(point.rows is None for point in drawn):
        steps.append(ALL_ROWS)
    if len(steps) < 2:
        return None
    values = []
    for point in drawn:
        if point.method not in names:
            continue
        assert point.value is not None
        low, high = point.interval or (None, None)
        value = 100 * point.value
        values.append(
            {
                "line": names.index(point.method),
                "method": visible(point.method) or "not named",
                "rows": ALL_ROWS if point.rows is None else f"{point.rows:,}",
                "value": value,
                "low": value if low is None else 100 * low,
                "high": value if high is None else 100 * high,
            }
        )
    looks = [series_look(position) for position in range(len(names))]

    def by_line(channel, ranged: list[Any]):
        scale = alt.Scale(domain=list(range(len(names))), range=ranged)
        return channel("line:N", scale=scale, legend=None)

    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "rows:O",
            sort=steps,
            title="rows of a task to learn from",
            axis=alt.Axis(labelAngle=0, grid=False),
            scale=alt.Scale(type="point", domain=steps, padding=0.3),
        ),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("rows:N"),
            *(alt.Tooltip(f"{key}:Q", format=".2f") for key in ("value", "low", "high")),
        ],
        color=by_line(alt.Color, [look[0] for look in looks]),
    )

    def up(field: str):
        axis = alt.Axis(tickCount=6)
        return alt.Y(f"{field}:Q", scale=loose_scale(alt), title="right answers (%)", axis=axis)

    line = base.mark_line(strokeWidth=1.8).encode(
        y=up("value"),
        strokeDash=by_line(alt.StrokeDash, [list(look[2]) or [1, 0] for look in looks]),
    )
    interval = base.mark_rule(strokeWidth=1.4, opacity=0.4).encode(y=up("low"), y2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=up("value"), shape=by_line(alt.Shape, [look[1] for look in looks])
    )
    legend = tuple(
        LegendEntry(visible(name) or "not named", look[0], look[2], look[1])
        for name, look in zip(names, looks, strict=True)
    )
    spec = placed(alt.layer(interval, line, points), height=300)
    caption = "Right answers against the rows that a task has"
    return Figure("transfer-curve", "transfer-curve", caption, spec, legend=(legend,))


def _family_figure(families: Sequence[TransferFamily]) -> Figure | None:
    import altair as alt

    best = [one for one in by_rate(families) if one.rate is not None][:MOST_BARS]
    if not best:
        return None
    values: list[dict[str, Any]] = [
        {
            "row": position,
            "family": visible(one.name) or "not named",
            "rate": 100 * max(one.rate or 0.0, 0.0),
            "chosen": one.selected,
            "candidates": one.candidates,
            "label": (visible(one.name) or "not named") + _counts(one),
        }
        for position, one in enumerate(best)
    ]
    tooltip = [alt.Tooltip("family:N"), alt.Tooltip("rate:Q", title="%", format=".3~g")]
    tooltip += [alt.Tooltip(f"{key}:Q", format=",") for key in ("chosen", "candidates")]
    # The name stands above its bar rather than on an axis: long names keep the whole width.
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0.1)), tooltip=tooltip
    )
    bar = base.mark_bar(color=ACCENT, size=8, yOffset=9, cornerRadiusEnd=2).encode(
        x=alt.X(
            "rate:Q",
            title="P(relevant), %",
            axis=alt.Axis(tickCount=5, labelFlush=False),
            scale=alt.Scale(zero=True, nice=True),
        )
    )
    label = base.mark_text(
        align="left", color=INK, fontSize=12, yOffset=-5, limit=alt.expr("width")
    ).encode(x=alt.value(0), text="label:N")
    few = len(best) < len(families)
    caption = f"The {len(best)} likeliest families" if few else "How likely each family is"
    spec = placed(alt.layer(bar, label), height=32 * len(best))
    return Figure("transfer-families", "transfer-families", caption, spec)


def _counts(family: TransferFamily) -> str:
    """Chosen of candidates, in words.

    >>> _counts(TransferFamily("dobj", selected=12, candidates=3400))
    ' · 12 of 3,400'
    """
    if family.selected is None or family.candidates is None:
        return ""
    return f" · {family.selected:,} of {family.candidates:,}"
