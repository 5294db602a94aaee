"""The figures of the page, as Vega-Lite descriptions.

Scores of features (how many features have which score, counts on a scale that is linear near 0
and logarithmic beyond), models before and after with their intervals, the mean score of every
cell of the (k, l) grid as in Figure 2 of the FITSI paper, and the best score that can be had
with at most so many features (the Pareto front of the grid).
The figures of memory-based learning stand in ``memory_figures.py``; what all of them share, in
``drawing.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from featloom.report import Cell, Grid, Histogram, Model, Result
from featloom.report.drawing import (
    ACCENT,
    INK,
    MUTED,
    PAGE,
    Figure,
    loose_scale,
    placed,
)
from featloom.report.memory_figures import memory_figures
from featloom.shown import visible

MOST_LABELLED_CELLS = 12


def figures(result: Result) -> list[Figure]:
    """The figures that the result has data for."""
    found: list[Figure | None] = []
    if result.induction:
        found += _score_figures(result.induction.histograms, result.induction.score_label)
    for position, metric in enumerate(dict.fromkeys(model.metric for model in result.models)):
        same = [m for m in result.models if m.metric == metric and m.value is not None]
        found.append(_models_figure(f"models-{position}", same, visible(metric)))
    if result.grid:
        cells = [cell for cell in result.grid.cells if cell.mean is not None]
        found += [_grid_figure(result.grid, cells), _pareto_figure(result.grid, cells)]
    for position, part in enumerate(result.memory):
        found += memory_figures(part, position)
    return [figure for figure in found if figure]


def pareto_front(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that no other cell beats with as few features or fewer.

    >>> cells = [Cell(1, 1, mean, features=n) for n, mean in [(10, .7), (20, .6), (30, .8)]]
    >>> [cell.features for cell in pareto_front(cells)]
    [10, 30]
    """
    front: list[Cell] = []
    sized = [cell for cell in cells if cell.features is not None and cell.mean is not None]
    for cell in sorted(sized, key=lambda cell: (cell.features, -(cell.mean or 0))):
        if not front or (cell.mean or 0) > (front[-1].mean or 0):
            front.append(cell)
    return front


def _score_figures(histograms: dict[str, Histogram], score_label: str) -> list[Figure]:
    """A histogram of each kind of feature, with one scale of counts, so that they compare."""
    import altair as alt

    drawn = {kind: bins for kind in histograms if (bins := _bins(histograms[kind]))}
    if not drawn:
        return []
    every = [one for bins in drawn.values() for one in bins]
    logarithmic = all(_evenly_spaced_in_log(bins) for bins in drawn.values())
    # Scores share a scale too, unless one kind would shrink to a line at its edge.
    widths = [bins[-1][1] - bins[0][0] for bins in drawn.values()]
    shared = logarithmic or max(widths) <= 5 * min(widths)
    highest = max(max(count for _, _, count in every), 1)
    powers = [10**power for power in range(1, math.ceil(math.log10(highest + 1)) + 1)]
    y_scale = alt.Scale(type="symlog", domain=[0, highest], nice=False)
    form = "~e" if logarithmic else alt.Undefined
    found = []
    for position, (kind, bins) in enumerate(drawn.items()):
        x_scale = _score_scale(alt, every if shared else bins, logarithmic)
        values = [{"from": start, "to": end, "count": n, "zero": 0} for start, end, n in bins]
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_rect(fill=ACCENT, stroke=PAGE, strokeWidth=1)
            .encode(
                x=alt.X(
                    "from:Q",
                    scale=x_scale,
                    title=visible(score_label),
                    axis=alt.Axis(tickCount=5, labelOverlap=True, format=form),
                ),
                x2="to:Q",
                y=alt.Y(
                    "count:Q",
                    scale=y_scale,
                    title="features",
                    axis=alt.Axis(values=[0, *powers], format=",d"),
                ),
                y2="zero:Q",
                tooltip=[
                    alt.Tooltip("from:Q", format=".3~g"),
                    alt.Tooltip("to:Q", format=".3~g"),
                    alt.Tooltip("count:Q", title="features", format=","),
                ],
            )
        )
        title = {"atomic": "Atomic features"}.get(kind, visible(kind).capitalize())
        found.append(Figure(f"scores-{position}", "scores", title, placed(chart, height=200)))
    return found


def _score_scale(alt, bins: Sequence[tuple[float, float, float]], logarithmic: bool):
    low, high = min(start for start, _, _ in bins), max(end for _, end, _ in bins)
    domain = [low, high] if high > low else [low - 1, low + 1]
    return alt.Scale(type="log" if logarithmic else "linear", domain=domain, nice=False)


def _models_figure(name: str, models: Sequence[Model], metric: str) -> Figure | None:
    import altair as alt

    if not models:
        return None
    values: list[dict[str, Any]] = []
    for position, model in enumerate(models):
        low, high = model.interval or (None, None)
        values.append(
            {
                "row": position,
                "model": visible(model.name),
                "value": model.value,
                "low": model.value if low is None else low,
                "high": model.value if high is None else high,
                "features": model.features,
            }
        )
    # The name stands above its dot rather than on an axis: long names keep the whole width.
    row = alt.Y("row:O", axis=None, scale=alt.Scale(padding=0.2))
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("value:Q", title=metric, format=".4f")]
    tooltip += [alt.Tooltip(f"{end}:Q", format=".4f") for end in ("low", "high")]
    tooltip += [alt.Tooltip("features:Q", format=",")]
    base = alt.Chart(alt.Data(values=values)).encode(y=row, tooltip=tooltip)
    scale = loose_scale(alt)
    ends = [end for value in values for end in (value["low"], value["high"])]
    places = 2 if max(ends) - min(ends) > 0.04 else 3
    axis = alt.Axis(format=f".{places}f", tickCount=6, labelFlush=False)
    interval = base.mark_rule(color=ACCENT, strokeWidth=2, opacity=0.55, yOffset=8).encode(
        x=alt.X("low:Q", scale=scale, title=metric, axis=axis), x2="high:Q"
    )
    dot = base.mark_circle(color=ACCENT, size=110, opacity=1, yOffset=8).encode(
        x=alt.X("value:Q", scale=scale, title=metric)
    )
    label = base.mark_text(
        align="left", color=INK, fontSize=13, yOffset=-10, limit=alt.expr("width")
    ).encode(x=alt.value(0), text="model:N")
    chart = alt.layer(interval, dot, label)
    return Figure(name, "models", metric, placed(chart, height=52 * len(models)))


def _grid_figure(grid: Grid, cells: Sequence[Cell]) -> Figure | None:
    import altair as alt

    if not cells:
        return None
    means = [cell.mean or 0.0 for cell in cells]
    low, high = min(means), max(means)
    spread = (high - low) or 1.0
    values = [
        {
            "k": f"{cell.k:g}",
            "l": f"{cell.l:g}",
            "mean": cell.mean,
            "sd": cell.sd,
            "features": cell.features,
            "strength": ((cell.mean or 0.0) - low) / spread,
            "chosen": _is_chosen(grid, cell),
        }
        for cell in cells
    ]
    columns = [f"{k:g}" for k in sorted({cell.k for cell in cells})]
    rows = [f"{value:g}" for value in sorted({cell.l for cell in cells}, reverse=True)]
    metric = visible(grid.metric)
    title = alt.Axis(titleAngle=0, titlePadding=14) if len(grid.l_label) < 4 else alt.Axis()
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("k:O", sort=columns, title=visible(grid.k_label), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("l:O", sort=rows, title=visible(grid.l_label), axis=title),
        tooltip=[
            alt.Tooltip("k:N", title=visible(grid.k_label)),
            alt.Tooltip("l:N", title=visible(grid.l_label)),
            alt.Tooltip("mean:Q", title=f"mean {metric}", format=".4f"),
            alt.Tooltip("sd:Q", format=".4f"),
            alt.Tooltip("features:Q", format=","),
        ],
    )
    # Opacity of one colour rather than a ramp of colours: it reads on a light and a dark page.
    strength = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.92]))
    tiles = base.mark_rect(fill=ACCENT).encode(opacity=strength.legend(None))
    layers = [tiles]
    if len(columns) <= MOST_LABELLED_CELLS:
        light = alt.condition("datum.strength > 0.65", alt.value(PAGE), alt.value(INK))
        layers.append(
            base.mark_text(fontSize=11).encode(text=alt.Text("mean:Q", format=".3f"), color=light)
        )
    ring = base.mark_rect(filled=False, stroke=INK, strokeWidth=2).transform_filter("datum.chosen")
    chart = alt.layer(*layers, ring)
    chosen = "; the chosen cell is outlined" if grid.chosen else ""
    caption = f"Mean {metric} of each cell of the grid{chosen}"
    spec = placed(chart, height=32 * len(rows))
    return Figure("grid", "grid", caption, spec, min_width=90 + 44 * len(columns))


def _pareto_figure(grid: Grid, cells: Sequence[Cell]) -> Figure | None:
    import altair as alt

    cells = [cell for cell in cells if cell.features]
    if not cells:
        return None
    metric = visible(grid.metric)

    def points(chosen_cells: Sequence[Cell]) -> alt.Data:
        return alt.Data(
            values=[
                {
                    "features": cell.features,
                    "mean": cell.mean,
                    "k": f"{cell.k:g}",
                    "l": f"{cell.l:g}",
                }
                for cell in chosen_cells
            ]
        )

    sizes = [cell.features or 1 for cell in cells]
    wide = max(sizes) > 20 * min(sizes)
    x = alt.X(
        "features:Q",
        title="features" + (" (logarithmic)" if wide else ""),
        scale=alt.Scale(type="log", nice=False, padding=10) if wide else loose_scale(alt),
        axis=alt.Axis(format="~s", labelOverlap=True, tickCount=6),
    )
    y = alt.Y("mean:Q", title=f"mean {metric}", scale=loose_scale(alt))
    tooltip = [alt.Tooltip("features:Q", format=","), alt.Tooltip("mean:Q", format=".4f")]
    tooltip += [alt.Tooltip("k:N", title=visible(grid.k_label))]
    tooltip += [alt.Tooltip("l:N", title=visible(grid.l_label))]
    every = alt.Chart(points(cells)).mark_circle(color=MUTED, size=36, opacity=0.5)
    front = alt.Chart(points(pareto_front(cells))).mark_line(
        color=ACCENT, interpolate="step-after", strokeWidth=2, point={"color": ACCENT, "size": 46}
    )
    layers = [every, front]
    chosen = [cell for cell in cells if _is_chosen(grid, cell)]
    if chosen:
        ring = alt.Chart(points(chosen)).mark_point(color=INK, size=190, strokeWidth=2)
        layers.append(ring)
    chart = alt.layer(*[layer.encode(x=x, y=y, tooltip=tooltip) for layer in layers])
    ringed = "; the chosen cell is ringed" if chosen else ""
    caption = f"The best mean {metric} with at most so many features{ringed}"
    return Figure("pareto", "grid", caption, placed(chart, height=260))


def _is_chosen(grid: Grid, cell: Cell) -> bool:
    return grid.chosen is not None and (cell.k, cell.l) == (grid.chosen.k, grid.chosen.l)


def _bins(histogram: Histogram) -> list[tuple[float, float, float]]:
    """Start, end and count of each bin; none where edges and counts do not fit together."""
    edges = [edge for edge in histogram.edges if edge is not None]
    counts = [count for count in histogram.counts if count is not None]
    if len(edges) != len(counts) + 1 or len(counts) != len(histogram.counts):
        return []
    return [(*ends, count) for ends, count in zip(pairwise(edges), counts, strict=True)]


def _evenly_spaced_in_log(bins: Sequence[tuple[float, float, float]]) -> bool:
    """Whether the edges grow by a factor rather than by a step."""
    if len(bins) < 2 or bins[0][0] <= 0 or bins[-1][1] < 10 * bins[0][0]:
        return False
    factors = [end / start for start, end, _ in bins]
    return max(factors) < 1.05 * min(factors)
