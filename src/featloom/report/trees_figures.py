"""The figures of templates grown from trees.

The templates that bring most information, and the systems built with them: each with its
interval, and a mark for what was published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report.drawing import (
    ACCENT,
    CIRCLE,
    DIAMOND,
    INK,
    PAGE,
    SQUARE,
    Figure,
    LegendEntry,
    loose_scale,
    placed,
)
from featloom.report.tree_types import TreesPart, TreeSystem, TreeTemplate
from featloom.report.trees import ranked
from featloom.shown import visible
from featloom.words import shortened

MOST_BARS = 20
MOST_SYSTEMS = 40
_FRAME = "M-.85,-.85H.85V.85H-.85ZM-.45,-.45V.45H.45V-.45Z"
_OPEN_DIAMOND = "M0,-1.2L1.2,0L0,1.2L-1.2,0ZM0,-.6L-.6,0L0,.6L.6,0Z"


def tree_figures(part: TreesPart | None) -> list[Figure]:
    """The figures that the part has data for."""
    if part is None:
        return []
    found = [_template_figure(part.templates)]
    groups = dict.fromkeys((system.data, system.metric) for system in part.systems)
    several = len({data for data, _ in groups}) > 1
    for position, (data, metric) in enumerate(groups):
        same = [one for one in part.systems if (one.data, one.metric) == (data, metric)]
        title = shortened(visible(data), 40) if several else ""
        name = f"trees-systems-{position}"
        found.append(_system_figure(name, same, shortened(visible(metric), 40), title))
    return [figure for figure in found if figure]


def _template_figure(templates: Sequence[TreeTemplate]) -> Figure | None:
    import altair as alt

    best = [one for one in ranked(templates) if one.gain is not None][:MOST_BARS]
    if not best:
        return None
    values: list[dict[str, Any]] = [
        {
            "row": position,
            "template": visible(one.name) or "not named",
            "gain": max(one.gain or 0.0, 0.0),
            "coverage": one.coverage,
            "trees": one.trees,
            "filled": 0.0 if one.backoff else 1.0,
        }
        for position, one in enumerate(best)
    ]
    tooltip = [alt.Tooltip("template:N"), alt.Tooltip("gain:Q", title="bits", format=",.4~g")]
    tooltip += [alt.Tooltip("coverage:Q", format=".1%"), alt.Tooltip("trees:Q", title="in trees")]
    # The name stands above its bar rather than on an axis: long names keep the whole width.
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0.1)), tooltip=tooltip
    )
    axis = alt.Axis(tickCount=5, labelFlush=False)
    bar = base.mark_bar(
        color=ACCENT, stroke=ACCENT, strokeWidth=1, size=8, yOffset=9, cornerRadiusEnd=2
    ).encode(
        x=alt.X("gain:Q", title="gain (bits)", axis=axis, scale=alt.Scale(zero=True, nice=True)),
        fillOpacity=alt.FillOpacity("filled:Q", scale=None),
    )
    label = base.mark_text(
        align="left", color=INK, fontSize=12, yOffset=-5, limit=alt.expr("width")
    ).encode(x=alt.value(0), text="template:N")
    legend: tuple[LegendEntry, ...] = ()
    if any(one.backoff for one in best) and not all(one.backoff for one in best):
        legend = (LegendEntry("path of a tree", ACCENT, mark=SQUARE, line=False),)
        legend += (LegendEntry("back-off copy", ACCENT, mark=_FRAME, line=False),)
    few = len(best) < len(templates)
    caption = f"The {len(best)} templates with the most gain" if few else "Gain of each template"
    spec = placed(alt.layer(bar, label), height=32 * len(best))
    return Figure(
        "trees-gain", "trees-templates", caption, spec, legend=(legend,) if legend else ()
    )


def _system_figure(
    name: str, systems: Sequence[TreeSystem], metric: str, data: str
) -> Figure | None:
    import altair as alt

    shown = [one for one in systems if one.value is not None or one.published is not None]
    if not shown:
        return None
    values: list[dict[str, Any]] = []
    for position, one in enumerate(shown[:MOST_SYSTEMS]):
        low, high = one.interval or (None, None)
        value = None if one.value is None else 100 * one.value
        values.append(
            {
                "row": position,
                "system": visible(one.name) or "not named",
                "value": value,
                "low": value if low is None else 100 * low,
                "high": value if high is None else 100 * high,
                "published": one.published,
                "templates": one.templates,
            }
        )
    title = f"{metric or 'value'} (%)"
    tooltip = [alt.Tooltip("system:N"), alt.Tooltip("value:Q", title=title, format=".2f")]
    tooltip += [alt.Tooltip(f"{key}:Q", format=".2f") for key in ("low", "high", "published")]
    tooltip += [alt.Tooltip("templates:Q", format=",")]
    scale = loose_scale(alt)
    axis = alt.Axis(tickCount=6, labelFlush=False)

    def chart(rows: Sequence[dict[str, Any]]):
        row = alt.Y(
            "row:O", axis=None, scale=alt.Scale(domain=list(range(len(values))), padding=0.2)
        )
        return alt.Chart(alt.Data(values=rows)).encode(y=row, tooltip=tooltip)

    def across(field: str):
        return alt.X(f"{field}:Q", scale=scale, title=title, axis=axis)

    # A layer without data would leave its scale without ends.
    layers = []
    if ours := [value for value in values if value["value"] is not None]:
        interval = chart(ours).mark_rule(color=ACCENT, strokeWidth=2, opacity=0.55, yOffset=8)
        dot = chart(ours).mark_circle(color=ACCENT, size=110, opacity=1, yOffset=8)
        layers += [interval.encode(x=across("low"), x2="high:Q"), dot.encode(x=across("value"))]
    if theirs := [value for value in values if value["published"] is not None]:
        mark = chart(theirs).mark_point(
            shape=DIAMOND, fill=PAGE, stroke=INK, strokeWidth=1.6, size=90, opacity=1, yOffset=8
        )
        layers.append(mark.encode(x=across("published")))
    label = chart(values).mark_text(
        align="left", color=INK, fontSize=13, yOffset=-10, limit=alt.expr("width")
    )
    layers.append(label.encode(x=alt.value(0), text="system:N"))
    legend: tuple[LegendEntry, ...] = ()
    if ours:
        legend += (LegendEntry("here, with its interval", ACCENT, mark=CIRCLE),)
    if theirs:
        legend += (LegendEntry("published", INK, mark=_OPEN_DIAMOND, line=False),)
    caption = f"{data}: {metric or 'value'}" if data else metric or "Value of each system"
    spec = placed(alt.layer(*layers), height=50 * len(values))
    return Figure(name, "trees-systems", caption, spec, legend=(legend,))
