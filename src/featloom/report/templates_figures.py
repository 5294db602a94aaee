"""The figures of a template search.

What each step brought and what it took; the time of each stage; what cheap models say of a
template against what the CRF says; and, as in Figures 2 to 5 of the paper, F1, training time,
tagging time and their sum over its six experiments, a line a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from statistics import median
from typing import Any

from featloom.report import TemplateExperiment, TemplatePart, TemplateProxy
from featloom.report import TemplateStep as Step
from featloom.report.drawing import (
    ACCENT,
    CIRCLE,
    HAIRLINE,
    INK,
    MUTED,
    PAGE,
    Figure,
    LegendEntry,
    loose_scale,
    placed,
    series_look,
)
from featloom.report.templates import (
    MODELS,
    proxy_pairs,
    spoken_model,
    stage_seconds,
    total_seconds,
)
from featloom.shown import visible
from featloom.words import seconds


def template_figures(part: TemplatePart | None) -> list[Figure]:
    """The figures that the part has data for."""
    if part is None:
        return []
    found: list[Figure | None] = [
        _gain_figure(part.steps, part.gain_label),
        _cost_figure(part.steps),
        _stage_figure(stage_seconds(part)),
        *_of_each_data_set(part.proxies, partial(_proxy_figures, label=part.proxy_label)),
        *_of_each_data_set(part.experiments, _experiment_figures),
    ]
    return [figure for figure in found if figure]


def _of_each_data_set(
    rows: Sequence[Any], draw: Callable[[Sequence[Any], str], Sequence[Figure | None]]
) -> list[Figure]:
    """The figures of each data set, told apart by its name where there are several."""
    names = list(dict.fromkeys(row.data for row in rows))
    found = []
    for position, data in enumerate(names):
        title = visible(data) if len(names) > 1 else ""
        for figure in draw([row for row in rows if row.data == data], title):
            if figure:
                found.append(replace(figure, name=f"{figure.name}-{position}"))
    return found


def lowest_shown(values: Sequence[float]) -> float:
    """Where an axis begins: the first steps may lie far below all that follow.

    >>> lowest_shown([0.2, 0.9, 0.91, 0.92, 0.93])
    0.87
    >>> lowest_shown([0.9, 0.91])
    0.9
    """
    highest = max(values)
    return round(max(min(values), highest - max(3 * (highest - median(values)), 0.01)), 6)


def _gain_figure(steps: Sequence[Step], gain_label: str) -> Figure | None:
    """F1 after each step where it was measured, else the gain of each template."""
    import altair as alt

    measured = sum(step.f1 is not None for step in steps) > 1
    values: list[dict[str, Any]] = []
    for position, step in enumerate(steps, start=1):
        worth = step.f1 if measured else step.gain
        if worth is None:
            continue
        value: dict[str, Any] = {
            "step": position,
            "template": visible(step.template),
            "reason": step.reason,
        }
        value |= {"kept": bool(step.kept), "worth": 100 * worth if measured else worth}
        values.append(value)
    if len(values) < 2:
        return None
    numbers = [value["worth"] for value in values]
    low, high = lowest_shown(numbers), max(numbers)
    low = low if measured else min(low, 0.0)
    cut = any(one < low for one in numbers)
    room = 0.06 * (high - low) or 1.0
    title = "F1 (%)" if measured else "gain"
    scale = alt.Scale(domain=[low - (room if measured or low < 0 else 0), high + room], nice=False)
    tooltip = [alt.Tooltip("step:Q", format="d"), alt.Tooltip("template:N")]
    tooltip += [alt.Tooltip("worth:Q", title=title, format=".2f" if measured else ".5f")]
    tooltip += [alt.Tooltip("reason:N")]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=_step_axis(alt, len(steps)),
        y=alt.Y("worth:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6)),
        tooltip=tooltip,
    )
    layers = []
    if measured:
        kept = base.transform_filter("datum.kept")
        layers.append(
            kept.mark_line(color=ACCENT, strokeWidth=1.6, interpolate="step-after", clip=True)
        )
    else:
        stem = base.mark_rule(color=HAIRLINE, strokeWidth=2).encode(y2=alt.datum(0))
        layers.append(stem)
    layers += [
        base.transform_filter("!datum.kept").mark_point(
            color=MUTED, fill=PAGE, size=36, strokeWidth=1.3, opacity=1, clip=True
        ),
        base.transform_filter("datum.kept").mark_point(
            color=ACCENT, fill=ACCENT, size=48, opacity=1, clip=True
        ),
    ]
    caption = "F1 as templates are tried" if measured else f"Gain: {visible(gain_label)}"
    caption += f"; values below {low:.1f} are cut off" if cut else ""
    legend = (LegendEntry("kept", ACCENT, mark=CIRCLE), LegendEntry("left out", MUTED, mark=_RING))
    spec = placed(alt.layer(*layers), height=280)
    return Figure("templates-gain", "templates-steps", caption, spec, legend=(legend,))


# A circle with a hole, for what was tried and left out.
_RING = "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0ZM.6,0A.6,.6,0,1,0,-.6,0A.6,.6,0,1,0,.6,0Z"


def _cost_figure(steps: Sequence[Step]) -> Figure | None:
    """The seconds that the search had taken after each step."""
    import altair as alt

    if sum(bool(step.cost_s) for step in steps) < 2:
        return None
    spent = accumulate(step.cost_s or 0.0 for step in steps)
    values = [
        {"step": j, "spent": total, "template": visible(step.template), "took": step.cost_s}
        for j, (step, total) in enumerate(zip(steps, spent, strict=True), start=1)
    ]
    tooltip = [alt.Tooltip("step:Q", format="d"), alt.Tooltip("template:N")]
    tooltip += [alt.Tooltip("took:Q", title="seconds of this step", format=".2f")]
    tooltip += [alt.Tooltip("spent:Q", title="seconds so far", format=".2f")]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=_step_axis(alt, len(steps)),
        y=alt.Y("spent:Q", title="seconds so far", axis=alt.Axis(tickCount=6, format="~g")),
        tooltip=tooltip,
    )
    area = base.mark_area(color=ACCENT, opacity=0.12)
    line = base.mark_line(color=ACCENT, strokeWidth=1.6)
    spec = placed(alt.layer(area, line), height=280)
    return Figure("templates-cost", "templates-steps", "What the steps took", spec)


def _stage_figure(stages: Sequence[tuple[str, float | None]]) -> Figure | None:
    import altair as alt

    values: list[dict[str, Any]] = [
        {"row": j, "stage": visible(name), "spent": spent, "label": seconds(spent)}
        for j, (name, spent) in enumerate(stages)
        if spent is not None
    ]
    if not values:
        return None
    most = max(value["spent"] for value in values) or 1.0
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.35, paddingOuter=0.1)),
        tooltip=[alt.Tooltip("stage:N"), alt.Tooltip("label:N", title="took")],
    )
    # Room on the right for the longest bar's own figure.
    x = alt.X("spent:Q", title=None, axis=None, scale=alt.Scale(domain=[0, most * 1.18]))
    # The name stands above its bar rather than on an axis: long names keep the whole width.
    bar = base.mark_bar(color=ACCENT, height=12, yOffset=9, cornerRadiusEnd=2).encode(x=x)
    name = base.mark_text(align="left", color=INK, fontSize=13, yOffset=-8).encode(
        x=alt.value(0), text="stage:N"
    )
    figure = base.mark_text(align="left", color=MUTED, fontSize=12, dx=6, yOffset=9).encode(
        x=x, text="label:N"
    )
    spec = placed(alt.layer(bar, name, figure), height=50 * len(values))
    return Figure("templates-stages", "templates-stages", "Time of each stage", spec)


def _proxy_figures(
    proxies: Sequence[TemplateProxy], data: str, *, label: str
) -> list[Figure | None]:
    import altair as alt

    drawn = [(m, pairs) for m in ("maxent", "memm") if len(pairs := proxy_pairs(proxies, m)) > 1]
    if not drawn:
        return []
    looks = [series_look(j) for j in range(len(drawn))]
    values = [
        {"model": j, "name": MODELS[model], "template": visible(name), "cheap": cheap, "crf": crf}
        for j, (model, pairs) in enumerate(drawn)
        for name, cheap, crf in pairs
    ]
    domain, range_ = list(range(len(drawn))), [look[0] for look in looks]
    shapes = [look[1] for look in looks]
    plain = alt.Axis(format="~g", tickCount=6)
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=55, opacity=0.8)
        .encode(
            x=alt.X(
                "cheap:Q",
                title=f"{visible(label)} by the cheap model",
                scale=loose_scale(alt),
                axis=plain,
            ),
            y=alt.Y(
                "crf:Q", title=f"{visible(label)} by the CRF", scale=loose_scale(alt), axis=plain
            ),
            color=alt.Color("model:N", scale=alt.Scale(domain=domain, range=range_), legend=None),
            shape=alt.Shape("model:N", scale=alt.Scale(domain=domain, range=shapes), legend=None),
            tooltip=[
                alt.Tooltip("template:N"),
                alt.Tooltip("name:N", title="model"),
                alt.Tooltip("cheap:Q", title="by it", format=".5~g"),
                alt.Tooltip("crf:Q", title="by the CRF", format=".5~g"),
            ],
        )
    )
    legend = tuple(
        LegendEntry(MODELS[model], look[0], mark=look[1])
        for (model, _), look in zip(drawn, looks, strict=True)
    )
    spec = placed(points, height=340)
    caption = _of(data, "each template by a cheap model and by the CRF")
    return [Figure("templates-proxies", "templates-proxies", caption, spec, legend=(legend,))]


def _experiment_figures(
    experiments: Sequence[TemplateExperiment], data: str
) -> list[Figure | None]:
    figures: list[tuple[str, str, Callable[[TemplateExperiment], float | None], bool]] = [
        ("f1", "F1 (%)", _per_cent, False),
        ("training", "training time (s)", lambda one: one.train_s, True),
        ("tagging", "tagging time (s)", lambda one: one.tag_s, True),
        ("total", "total time (s)", total_seconds, True),
    ]
    return [_curve_figure(experiments, data, *figure) for figure in figures]


def _curve_figure(
    experiments: Sequence[TemplateExperiment],
    data: str,
    name: str,
    title: str,
    number: Callable[[TemplateExperiment], float | None],
    from_zero: bool,
) -> Figure | None:
    import altair as alt

    line_of = curves(experiments)
    names = list(dict.fromkeys(line_of.values()))
    values: list[dict[str, Any]] = [
        {
            "line": names.index(line_of[one.model]),
            "model": spoken_model(one.model),
            "experiment": visible(str(one.id)),
            "templates": visible(str(one.templates)),
            "number": found,
        }
        for one in experiments
        if (found := number(one)) is not None
    ]
    if not values:
        return None
    looks = [series_look(j) for j in range(len(names))]
    order = list(dict.fromkeys(visible(str(one.id)) for one in experiments))
    tooltip = [alt.Tooltip(f"{key}:N") for key in ("experiment", "model", "templates")]
    tooltip += [alt.Tooltip("number:Q", title=title, format=".2f")]
    lines = list(range(len(names)))

    def of_line(kind, place: int):
        looked = [look[place] for look in looks]
        return kind("line:N", scale=alt.Scale(domain=lines, range=looked), legend=None)

    scale = alt.Scale(zero=True, nice=True) if from_zero else loose_scale(alt)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "experiment:O",
            sort=order,
            title="experiment",
            axis=alt.Axis(labelAngle=0, grid=False),
            scale=alt.Scale(type="point", padding=0.4),
        ),
        y=alt.Y("number:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5)),
        color=of_line(alt.Color, 0),
        tooltip=tooltip,
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(shape=of_line(alt.Shape, 1))
    legend = tuple(
        LegendEntry(line, look[0], mark=look[1]) for line, look in zip(names, looks, strict=True)
    )
    spec = placed(alt.layer(base.mark_line(strokeWidth=1.6), points), height=240)
    caption = _of(data, title)
    return Figure(f"templates-{name}", "templates-experiments", caption, spec, legend=(legend,))


def curves(experiments: Sequence[TemplateExperiment]) -> dict[str, str]:
    """The line that each model is drawn on.

    Where no experiment has both, maximum entropy and MEMM share one, as in the paper: without
    label pairs the two are the same model.

    >>> some = [TemplateExperiment(id=n, model=m) for n, m in ((1, "maxent"), (4, "memm"))]
    >>> curves(some)["memm"]
    'maximum entropy, MEMM'
    """
    ids = {
        model: {one.id for one in experiments if one.model == model}
        for model in dict.fromkeys(one.model for one in experiments)
    }
    lines = {model: spoken_model(model) or "not named" for model in ids}
    if {"maxent", "memm"} <= ids.keys() and not ids["maxent"] & ids["memm"]:
        both = f"{MODELS['maxent']}, {MODELS['memm']}"
        lines |= {"maxent": both, "memm": both}
    return lines


def _step_axis(alt, n_steps: int):
    return alt.X(
        "step:Q",
        title="step",
        scale=alt.Scale(domain=[0.5, n_steps + 0.5], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, grid=False, tickCount=8),
    )


def _of(data: str, caption: str) -> str:
    return f"{data}: {caption}" if data else caption[:1].upper() + caption[1:]


def _per_cent(experiment: TemplateExperiment) -> float | None:
    return None if experiment.f1 is None else 100 * experiment.f1
