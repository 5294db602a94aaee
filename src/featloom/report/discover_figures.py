"""The figures of a comparison of every method.

The cross-validated score of each method with its interval, and beside it the score on the part
held out; what each method reaches as it learns from more; and whether what the chosen model calls
90 % comes true nine times in ten.  The chosen method has the accent in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report import Result
from featloom.report.discover import NOT_NAMED, metric_of, split_leaderboard
from featloom.report.discover_chosen import class_name
from featloom.report.discover_types import ChosenFigures, Contestant, LearningPoint
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
from featloom.report.metric import SHARE, Metric
from featloom.shown import visible
from featloom.words import shortened

MOST_METHODS, MOST_LINES, LONGEST_CLASS = 30, 12, 20
# What is no better than chance is drawn where the others keep at least this part of the width.
LEAST_WIDTH_OF_OTHERS = 0.35


def discover_figures(result: Result) -> list[Figure]:
    """The figures that the result has data for."""
    ranked, _ = split_leaderboard(result.leaderboard)
    metric = metric_of(result)
    # Chance learns nothing, and may lie so far below that the others could not be told apart.
    blind = {one.name for one in result.leaderboard if one.role == "chance"}
    learning = [point for point in result.curves if point.method not in blind]
    found = [
        _score_figure(ranked, metric),
        _curve_figure(learning, metric, result.chosen, result.unit),
        _calibration_figure(result.chosen_figures),
    ]
    return [figure for figure in found if figure]


def without_far_chance(
    ranked: Sequence[Contestant], metric: Metric = SHARE
) -> tuple[list[Contestant], list[Contestant]]:
    """Those to draw, and what is no better than chance and would press them into a corner.

    >>> board = [Contestant("a", "method", value=0.9), Contestant("b", "baseline", value=0.88),
    ...          Contestant("commonest class", "chance", value=0.1)]
    >>> [[one.name for one in part] for part in without_far_chance(board)]
    [['a', 'b'], ['commonest class']]
    >>> board += [Contestant("sure and wrong", "baseline", value=3.1)]
    >>> loss = Metric("log-loss", True)
    >>> board[2].value = 0.91
    >>> [[one.name for one in part] for part in without_far_chance(board, loss)]
    [['a', 'b', 'commonest class'], ['sure and wrong']]
    """
    by_chance = metric.best(
        one.value for one in ranked if one.role == "chance" and one.value is not None
    )

    def is_blind(one: Contestant) -> bool:
        if one.role == "chance" or one.chosen or by_chance is None or one.value is None:
            return one.role == "chance"
        return metric.is_worse(one.value, by_chance)

    others = [end for one in ranked if not is_blind(one) for end in _ends(one)]
    if not others:
        return list(ranked), []
    low, high = min(others), max(others)
    drawn: list[Contestant] = []
    far: list[Contestant] = []
    for one in ranked:
        width = max([high, *_ends(one)]) - min([low, *_ends(one)])
        is_far = is_blind(one) and high - low < LEAST_WIDTH_OF_OTHERS * width
        (far if is_far else drawn).append(one)
    return drawn, far


def _ends(one: Contestant) -> list[float]:
    """Every score that a line of the figure shows."""
    shown = [one.value, one.test, *(one.interval or ()), *(one.test_interval or ())]
    return [score for score in shown if score is not None]


def _score_figure(ranked: Sequence[Contestant], metric: Metric) -> Figure | None:
    import altair as alt

    scored = [one for one in ranked if one.value is not None or one.test is not None]
    drawn, far = without_far_chance(scored, metric)
    # The chosen one is drawn though it stands far down.
    kept = {id(one) for one in sorted(drawn, key=lambda one: not one.chosen)[:MOST_METHODS]}
    drawn = [one for one in drawn if id(one) in kept]
    if not drawn:
        return None
    values = [_line(position, one, metric) for position, one in enumerate(drawn)]
    tooltip, form = [alt.Tooltip("method:N"), alt.Tooltip("role:N")], f".{metric.places}f"
    keys = {"value": "cross-validated", "low": "from", "high": "to", "test": "held out"}
    keys |= {"test_low": "held out, from", "test_high": "held out, to"}
    tooltip += [alt.Tooltip(f"{key}:Q", title=words, format=form) for key, words in keys.items()]
    scale, axis = loose_scale(alt), alt.Axis(tickCount=6, labelFlush=False)

    def chart(rows: Sequence[dict[str, Any]]):
        domain = list(range(len(values)))
        row = alt.Y("row:O", axis=None, scale=alt.Scale(domain=domain, padding=0.2))
        return alt.Chart(alt.Data(values=rows)).encode(y=row, tooltip=tooltip)

    def across(field: str):
        return alt.X(f"{field}:Q", scale=scale, title=metric.axis, axis=axis)

    looks = {
        "chosen": ("chosen, cross-validated with its interval", ACCENT, ACCENT, CIRCLE),
        "other": ("the others", MUTED, MUTED, CIRCLE),
        "aside": ("yardsticks and chance, never chosen", MUTED, PAGE, RING),
    }
    # A layer without data would leave its scale without ends.
    layers, legend = [], []
    for look, (words, colour, fill, mark) in looks.items():
        rows = [v for v in values if v["value"] is not None and v["look"] == look]
        if not rows:
            continue
        interval = chart(rows).mark_rule(color=colour, strokeWidth=2, opacity=0.55, yOffset=4)
        dot = chart(rows).mark_point(
            shape="circle", fill=fill, stroke=colour, strokeWidth=2, size=90, opacity=1, yOffset=4
        )
        layers += [interval.encode(x=across("low"), x2="high:Q"), dot.encode(x=across("value"))]
        legend.append(LegendEntry(words, colour, mark=mark))
    if held := [value for value in values if value["test"] is not None]:
        interval = chart(held).mark_rule(color=INK, strokeWidth=1, opacity=0.5, yOffset=16)
        mark = chart(held).mark_point(
            shape=DIAMOND, fill=PAGE, stroke=INK, strokeWidth=1.6, size=70, opacity=1, yOffset=16
        )
        layers += [interval.encode(x=across("test_low"), x2="test_high:Q")]
        layers += [mark.encode(x=across("test"))]
        legend.append(LegendEntry("on the part held out", INK, mark=OPEN_DIAMOND))
    label = chart(values).mark_text(
        align="left", color=INK, fontSize=13, yOffset=-13, limit=alt.expr("width")
    )
    layers.append(label.encode(x=alt.value(0), text="method:N"))
    side = "right" if metric.lower_is_better else "left"
    caption = "Scores of the methods" + _far_words(far, metric, side)
    spec = placed(alt.layer(*layers), height=56 * len(values))
    return Figure("discover-scores", "discover-scores", caption, spec, legend=(tuple(legend),))


def _far_words(far: Sequence[Contestant], metric: Metric, side: str) -> str:
    """Where those are that the figure leaves out: of those by chance, the best."""
    others = [one for one in far if one.role != "chance" and one.value is not None]
    said = [f"{visible(one.name) or NOT_NAMED} is at {metric.words(one.value)}" for one in others]
    by_chance = [one.value for one in far if one.role == "chance" and one.value is not None]
    if (best := metric.best(by_chance)) is not None:
        said.append(f"chance is at {metric.words(best)}")
    return f"; {', '.join(said)}, {side} of the figure" if said else ""


def _line(position: int, one: Contestant, metric: Metric) -> dict[str, Any]:
    aside = one.role in ("yardstick", "chance")
    line: dict[str, Any] = {
        "row": position,
        "method": visible(one.name) or NOT_NAMED,
        "role": visible(one.role),
        "look": "chosen" if one.chosen else "aside" if aside else "other",
    }
    for keys, score, interval in (
        (("value", "low", "high"), one.value, one.interval),
        (("test", "test_low", "test_high"), one.test, one.test_interval),
    ):
        low, high = interval or (None, None)
        ends = (score, score if low is None else low, score if high is None else high)
        line |= {key: metric.scaled(end) for key, end in zip(keys, ends, strict=True)}
    return line


def _curve_figure(
    curves: Sequence[LearningPoint], metric: Metric, chosen: str | None, unit: str
) -> Figure | None:
    import altair as alt

    points = [point for point in curves if point.value is not None and (point.rows or 0) > 0]
    sizes = sorted({point.rows or 0 for point in points})
    if len(sizes) < 2:
        return None
    names = list(dict.fromkeys(point.method for point in points))
    # The chosen one comes first, for the first look is the accent.
    names = sorted(names, key=lambda name: name != chosen)[:MOST_LINES]
    values = [
        {
            "line": names.index(point.method),
            "method": visible(point.method) or NOT_NAMED,
            "rows": point.rows,
            "value": metric.scaled(point.value),
        }
        for point in points
        if point.method in names
    ]
    looks = [series_look(position) for position in range(len(names))]

    def by_line(channel, ranged: list[Any]):
        scale = alt.Scale(domain=list(range(len(names))), range=ranged)
        return channel("line:N", scale=scale, legend=None)

    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "rows:Q",
            title=f"{visible(unit)} learned from (logarithmic)",
            scale=alt.Scale(type="log", nice=False, padding=14),
            axis=alt.Axis(values=sizes, format=",d", labelOverlap=True, labelAngle=0, grid=False),
        ),
        y=alt.Y("value:Q", scale=loose_scale(alt), title=metric.axis, axis=alt.Axis(tickCount=6)),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("rows:Q", title=visible(unit), format=",d"),
            alt.Tooltip("value:Q", title=metric.axis, format=f".{metric.places}f"),
        ],
        color=by_line(alt.Color, [look[0] for look in looks]),
    )
    line = base.mark_line(strokeWidth=1.8).encode(
        strokeDash=by_line(alt.StrokeDash, [list(look[2]) or [1, 0] for look in looks])
    )
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=by_line(alt.Shape, [look[1] for look in looks])
    )
    legend = tuple(
        LegendEntry(visible(name) or NOT_NAMED, look[0], look[2], look[1])
        for name, look in zip(names, looks, strict=True)
    )
    spec = placed(alt.layer(line, marks), height=300)
    caption = "What each method reaches as it learns from more"
    return Figure("discover-curves", "discover-curves", caption, spec, legend=(legend,))


def _calibration_figure(figures: ChosenFigures | None) -> Figure | None:
    """Predicted probabilities against what came true; on the diagonal they can be believed."""
    import altair as alt

    values = [
        {
            "mean": 100 * one.mean,
            "share": 100 * one.share,
            "low": 100 * (one.share if one.low is None else one.low),
            "high": 100 * (one.share if one.high is None else one.high),
            "n": one.n,
        }
        for one in (figures.calibration if figures else [])
        if one.mean is not None and one.share is not None
    ]
    if figures is None or not values:
        return None
    if figures.positive is None:
        across, up = "probability of the class answered (%)", "right answers (%)"
    else:
        name = class_name(figures.positive)
        short = shortened(name, LONGEST_CLASS)
        across, up = f"predicted probability of {short} (%)", f"rows that are {short} (%)"
    scale = alt.Scale(domain=[0, 100], nice=False, padding=6)
    ticks = [0, 20, 40, 60, 80, 100]
    x = alt.X("mean:Q", title=across, scale=scale, axis=alt.Axis(values=ticks))
    y = alt.Y("share:Q", title=up, scale=scale, axis=alt.Axis(values=ticks))
    tooltip = [
        alt.Tooltip("mean:Q", title="predicted, %", format=".1f"),
        alt.Tooltip("share:Q", title="came true, %", format=".1f"),
        alt.Tooltip("low:Q", title="from", format=".1f"),
        alt.Tooltip("high:Q", title="to", format=".1f"),
        alt.Tooltip("n:Q", title="rows", format=","),
    ]
    ends = alt.Chart(alt.Data(values=[{"mean": 0, "share": 0}, {"mean": 100, "share": 100}]))
    diagonal = ends.mark_line(color=MUTED, strokeWidth=1.2, strokeDash=[6, 3])
    base = alt.Chart(alt.Data(values=values)).encode(tooltip=tooltip)
    interval = base.mark_rule(color=ACCENT, strokeWidth=2, opacity=0.55, clip=True)
    line = base.mark_line(color=ACCENT, strokeWidth=1.4, opacity=0.7, clip=True)
    dot = base.mark_point(shape="circle", filled=True, color=ACCENT, size=64, opacity=1)
    layers = [
        diagonal.encode(x=x, y=y),
        interval.encode(x=x, y=alt.Y("low:Q", title=up), y2="high:Q"),
        line.encode(x=x, y=y),
        dot.encode(x=x, y=y),
    ]
    legend = (
        LegendEntry("the chosen model, with intervals", ACCENT, mark=CIRCLE),
        LegendEntry("as predicted", MUTED, dash=(6, 3)),
    )
    spec = placed(alt.layer(*layers), height=320)
    section = "discover-calibration"
    return Figure(
        section, section, "Predicted probabilities and what came true", spec, 0, (legend,)
    )
