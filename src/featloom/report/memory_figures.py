"""The figures of memory-based learning: accuracy against k, and how each search got on.

The first is Figure 1 of Kool, Zavrel and Daelemans (2000): one line for each weighting (colour and
mark) and metric (dash), over the number of neighbours.  The second shows, for every strategy, the
best validation score so far against the number of fits spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from featloom.report import Curve, MemoryPart, Trajectory
from featloom.report.drawing import (
    DASHES,
    INK,
    Figure,
    LegendEntry,
    loose_scale,
    placed,
    series_look,
)
from featloom.report.memory import spoken

OVERLAP_FIRST = ("overlap", "mvdm")


def memory_figures(part: MemoryPart, position: int) -> list[Figure | None]:
    """The figures of one data set; ``position`` tells them apart on the page."""
    return [
        _curves_figure(part.curves, f"memory-{position}-curves"),
        _search_figure(part.trajectories, f"memory-{position}-search"),
    ]


def _curves_figure(curves: Sequence[Curve], name: str) -> Figure | None:
    import altair as alt

    weights = list(dict.fromkeys(curve.weights for curve in curves))
    metrics = sorted(dict.fromkeys(curve.metric for curve in curves), key=_metric_order)
    values: list[dict[str, Any]] = [
        {
            "line": position,
            "weights": _words(curve.weights),
            "metric": _words(curve.metric),
            "weight": weights.index(curve.weights),
            "dash": metrics.index(curve.metric),
            "k": k,
            "accuracy": 100 * score,
        }
        for position, curve in enumerate(curves)
        for k, score in zip(curve.k, curve.score, strict=False)
        if score is not None
    ]
    if not values:
        return None
    looks = [series_look(j) for j in range(len(weights))]
    dashes = [DASHES[j % len(DASHES)] for j in range(len(metrics))]
    neighbours = sorted({value["k"] for value in values})
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "k:Q",
            title="k, the number of neighbours",
            scale=alt.Scale(zero=False, padding=10, nice=False),
            axis=alt.Axis(values=neighbours, format="d", labelOverlap=True, grid=False),
        ),
        y=_accuracy_axis(alt, loose_scale(alt)),
        tooltip=[
            alt.Tooltip("weights:N"),
            alt.Tooltip("metric:N"),
            alt.Tooltip("k:Q", format="d"),
            alt.Tooltip("accuracy:Q", format=".2f"),
        ],
    )
    colour = alt.Color("weight:N", scale=_ordinal(alt, [look[0] for look in looks]), legend=None)
    line = base.mark_line(strokeWidth=1.6).encode(
        color=colour,
        strokeDash=alt.StrokeDash(
            "dash:N", scale=_ordinal(alt, [list(dash) or [1, 0] for dash in dashes]), legend=None
        ),
        detail="line:N",
    )
    points = base.mark_point(filled=True, size=30, opacity=1).encode(
        color=colour,
        shape=alt.Shape("weight:N", scale=_ordinal(alt, [look[1] for look in looks]), legend=None),
    )
    # The smallest k of equals, as the words beside the figure say.
    best = max(values, key=lambda value: (value["accuracy"], -value["k"]))
    ring = (
        alt.Chart(alt.Data(values=[best]))
        .mark_point(color=INK, size=190, strokeWidth=2)
        .encode(x="k:Q", y="accuracy:Q")
    )
    legend = (
        tuple(
            LegendEntry(f"weights: {_words(weight)}", look[0], mark=look[1])
            for weight, look in zip(weights, looks, strict=True)
        ),
        tuple(
            LegendEntry(_words(metric), dash=dash)
            for metric, dash in zip(metrics, dashes, strict=True)
        ),
    )
    spec = placed(alt.layer(line, points, ring), height=360)
    caption = "Accuracy on the validation rows against the number of neighbours"
    return Figure(name, name, caption, spec, legend=legend)


def _search_figure(trajectories: Sequence[Trajectory], name: str) -> Figure | None:
    import altair as alt

    drawn = [(one.name, points) for one in trajectories if (points := _points(one))]
    if not drawn:
        return None
    names = list(dict.fromkeys(strategy for strategy, _ in drawn))
    thin = {strategy: sum(other == strategy for other, _ in drawn) > 1 for strategy in names}
    values: list[dict[str, Any]] = []
    for position, (strategy, points) in enumerate(drawn):
        for place, (fits, best) in enumerate(points):
            value = {"line": position, "strategy": _words(strategy), "fits": fits}
            value |= {"name": names.index(strategy), "accuracy": 100 * best}
            values.append(value | {"last": place == len(points) - 1, "thin": thin[strategy]})
    logarithmic = fits_are_logarithmic([points for _, points in drawn])
    low, high = shown_accuracies([points for _, points in drawn])
    most = max(value["fits"] for value in values)
    x_domain = [1, max(most, 2) * 1.1] if logarithmic else [0, most * 1.02]
    x = alt.X(
        "fits:Q",
        title="fits" + (" (logarithmic)" if logarithmic else ""),
        scale=alt.Scale(type="log" if logarithmic else "linear", domain=x_domain, nice=False),
        axis=alt.Axis(format=",d", labelOverlap=True, tickCount=5, tickMinStep=1, grid=False),
    )
    y = _accuracy_axis(alt, alt.Scale(domain=[low, high], nice=False, zero=False))
    looks = [series_look(j) for j in range(len(names))]
    tooltip = [alt.Tooltip("strategy:N"), alt.Tooltip("fits:Q", format=",")]
    tooltip += [alt.Tooltip("accuracy:Q", format=".2f")]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=x,
        y=y,
        tooltip=tooltip,
        color=alt.Color("name:N", scale=_ordinal(alt, [look[0] for look in looks]), legend=None),
        detail="line:N",
    )
    dashes = [list(look[2]) or [1, 0] for look in looks]
    line = base.mark_line(interpolate="step-after", clip=True).encode(
        strokeDash=alt.StrokeDash("name:N", scale=_ordinal(alt, dashes), legend=None),
        strokeWidth=alt.condition("datum.thin", alt.value(1), alt.value(2)),
        opacity=alt.condition("datum.thin", alt.value(0.55), alt.value(1)),
    )
    ends = base.mark_point(filled=True, size=60, opacity=1, clip=True).encode(
        shape=alt.Shape("name:N", scale=_ordinal(alt, [look[1] for look in looks]), legend=None)
    )
    chart = alt.layer(line, ends.transform_filter("datum.last"))
    legend = tuple(
        LegendEntry(_words(strategy), look[0], look[2], look[1])
        for strategy, look in zip(names, looks, strict=True)
    )
    cut = any(100 * best < low for _, points in drawn for _, best in points)
    caption = "How each search got on" + (f"; scores below {low:.1f} are cut off" if cut else "")
    return Figure(name, name, caption, placed(chart, height=340), legend=(legend,))


def fits_are_logarithmic(lines: Sequence[Sequence[tuple[int, float]]]) -> bool:
    """Whether, on a plain axis, most lines would do half their rising in its first tenth.

    >>> fits_are_logarithmic([[(1, 0.79), (10, 0.8), (1000, 0.81)], [(1, 0.79), (30, 0.8)]])
    True
    >>> fits_are_logarithmic([[(1, 0.79), (30, 0.8), (50, 0.81)], [(1, 0.79), (40, 0.8)]])
    False
    """
    low, _ = shown_accuracies(lines)
    most = max(points[-1][0] for points in lines)
    halfway = [
        min(fits for fits, best in points if 100 * best >= (low + 100 * points[-1][1]) / 2)
        for points in lines
    ]
    return median(halfway) < most / 10


def shown_accuracies(lines: Sequence[Sequence[tuple[int, float]]]) -> tuple[float, float]:
    """The lowest and highest per cent drawn: a search may begin far below where all of them end.

    Three times the distance between the ends is kept below the lowest end, at least 2 per cent.

    >>> shown_accuracies([[(1, 0.05), (90, 0.81)], [(1, 0.3), (90, 0.82)]])
    (78.0, 82.2)
    """
    ends = [100 * points[-1][1] for points in lines]
    starts = [100 * best for points in lines for _, best in points]
    floor = min(ends) - max(3 * (max(ends) - min(ends)), 2.0)
    room = max(0.05 * (max(ends) - max(floor, min(starts))), 0.05)
    low = floor if min(starts) < floor else min(starts) - room
    return round(low, 6), round(max(ends) + room, 6)


def _points(trajectory: Trajectory) -> list[tuple[int, float]]:
    pairs = zip(trajectory.fits, trajectory.best, strict=False)
    return sorted((fits, best) for fits, best in pairs if best is not None and fits >= 1)


def _accuracy_axis(alt, scale):
    return alt.Y("accuracy:Q", title="accuracy (%)", scale=scale, axis=alt.Axis(tickCount=6))


def _ordinal(alt, looks: Sequence[Any]):
    """A scale that gives the first value the first look, the second the second."""
    return alt.Scale(domain=list(range(len(looks))), range=list(looks))


def _metric_order(metric: str) -> int:
    return OVERLAP_FIRST.index(metric) if metric in OVERLAP_FIRST else len(OVERLAP_FIRST)


def _words(name: str) -> str:
    return spoken(name) or "not named"
