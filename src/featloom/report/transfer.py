"""What the page says of relevance carried between tasks: what it is worth, and what it rests on.

Many small tasks (a verb, a customer, a site) each choose features; how often a feature was chosen
where it could have been is what the next task is told (after Dhillon and Ungar's TransFeat).  The
page shows the accuracy of each method beside its controls, the gain against the number of rows
that a task has, the tasks by themselves, those that are alike, the families of features by their
rate, and for one task who vouched for what it chose.

Shares of right answers are printed in per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report.cells import (
    cell,
    column,
    first_of,
    number_cell,
    p_cell,
    per_cent_cell,
    per_cent_interval_cell,
    points_cell,
    row,
    text_cell,
    without_empty_columns,
)
from featloom.report.transfer_types import (
    ChosenPart,
    CurvePoint,
    TaskCluster,
    TransferFamily,
    TransferMethod,
    TransferPart,
    TransferTask,
)
from featloom.shown import visible
from featloom.words import first_and_more, number

KINDS = {"ours": "with transfer", "paper": "as published", "baseline": "without transfer"}
KINDS["control"] = "control"
PROTOCOLS = {"folds": "random folds", "documents": "whole documents held out"}
ALL_ROWS = "all"
MOST_FAMILIES, MOST_TASKS, MOST_CLUSTERS, MOST_CHOSEN = 500, 1_000, 200, 500
MOST_NAMES = 30


def summarize_transfer(part: TransferPart | None) -> dict[str, Any] | None:
    """What the page places; None where there is nothing to show."""
    if part is None:
        return None
    clusters = [one for one in part.clusters if one.members or one.features]
    summary: dict[str, Any] = {
        "facts": _facts(part),
        "methods": method_table(part.methods),
        "methods_note": _methods_note(part.methods),
        "curve": curve_table(part.curve),
        "tasks": task_table(part.per_task),
        "tasks_note": first_of(part.per_task, MOST_TASKS),
        "clusters": cluster_table(clusters),
        "clusters_note": first_of(clusters, MOST_CLUSTERS),
        "families": family_table(part.families),
        "families_note": _families_note(part.families),
        "chosen": chosen_table(part.chosen),
        "chosen_title": _chosen_title(part.chosen),
        "chosen_note": first_of(part.chosen.features if part.chosen else [], MOST_CHOSEN),
    }
    headings = {
        "methods": ("transfer-methods", "Methods"),
        "curve": ("transfer-curve", "Rows"),
        "tasks": ("transfer-tasks", "Tasks"),
        "clusters": ("transfer-clusters", "Clusters"),
        "families": ("transfer-families", "Families"),
        "chosen": ("transfer-chosen", "Vouchers"),
    }
    contents = [place for key, place in headings.items() if summary[key]]
    return summary | {"contents": contents} if contents or summary["facts"] else None


def method_table(methods: Sequence[TransferMethod]) -> dict[str, Any] | None:
    """The methods in their order: value in per cent, paired test over tasks, what it took."""
    if not methods:
        return None
    rivals = {one.against for one in methods if one.t is not None or one.p is not None}
    alike = len(rivals) == 1
    several = len({one.protocol for one in methods}) > 1
    columns = [column("method"), column("kind"), column("similarity by"), column("protocol")]
    columns += [column("right %", number=True), column("interval", number=True)]
    columns += [column("published %", number=True)]
    note = f"paired over tasks, against {rivals.pop()}" if alike and any(rivals) else "over tasks"
    columns += [column("against"), column("t", number=True, note=note)]
    columns += [column("p", number=True, note=note)]
    columns += [column("features", number=True, note="mean of a task")]
    columns += [column("seconds", number=True)]
    rows = [
        row(
            text_cell(one.name or "not named"),
            text_cell(KINDS.get(one.kind, one.kind) or None),
            text_cell(one.setting or None),
            text_cell(_protocol(one) or None if several else None),
            per_cent_cell(one.value),
            per_cent_interval_cell(one.interval),
            number_cell(one.published, 2),
            text_cell(None if alike else one.against or None),
            number_cell(one.t, 2, signed=True),
            p_cell(one.p),
            number_cell(one.features, 1),
            number_cell(one.seconds, 1),
        )
        for one in methods
    ]
    return without_empty_columns(columns, rows)


def curve_table(curve: Sequence[CurvePoint]) -> dict[str, Any] | None:
    """A line for each number of rows, a column for each method.

    >>> points = [CurvePoint("alone", 5, 0.5), CurvePoint("helped", 5, 0.625)]
    >>> [cell["text"] for cell in curve_table(points)["rows"][0]["cells"]]
    ['5', '50.00', '62.50']
    """
    methods = list(dict.fromkeys(point.method for point in curve if point.value is not None))
    if not methods:
        return None
    sizes = sorted({_size(point.rows) for point in curve if point.value is not None})
    value = {(_size(point.rows), point.method): point.value for point in curve}
    columns = [column("rows of a task", number=True)]
    columns += [column(name or "not named", number=True, of_data=True) for name in methods]
    rows = [
        row(
            cell(ALL_ROWS if size == float("inf") else number(size), min(size, 1e300)),
            *(per_cent_cell(value.get((size, name))) for name in methods),
        )
        for size in sizes
    ]
    return {"columns": columns, "rows": rows}


def task_table(tasks: Sequence[TransferTask]) -> dict[str, Any] | None:
    """Each task with what it gains, the largest gain first."""
    if not tasks:
        return None
    columns = [column("task"), column("rows", number=True, note="to learn from")]
    columns += [column("test rows", number=True), column("classes", number=True)]
    columns += [column("alone %", number=True), column("with the prior %", number=True)]
    columns += [column("gain", number=True, note="points")]
    rows = [
        row(
            text_cell(one.name or "not named"),
            number_cell(one.rows),
            number_cell(one.test_rows),
            number_cell(one.classes),
            per_cent_cell(one.alone),
            per_cent_cell(one.helped),
            points_cell(_gain(one)),
        )
        for one in sorted(tasks, key=lambda one: -(_gain(one) or 0.0))[:MOST_TASKS]
    ]
    return without_empty_columns(columns, rows)


def cluster_table(clusters: Sequence[TaskCluster]) -> dict[str, Any] | None:
    """The clusters, the largest first, with the features that their members share."""
    if not clusters:
        return None
    columns = [column("cluster"), column("members", number=True)]
    columns += [column("who"), column("shared features")]
    rows = [
        row(
            text_cell(one.name or "not named"),
            number_cell(len(one.members)),
            text_cell(_listed(one.members)),
            text_cell(_listed(one.features)),
        )
        for one in sorted(clusters, key=lambda one: -len(one.members))[:MOST_CLUSTERS]
    ]
    return without_empty_columns(columns, rows)


def family_table(families: Sequence[TransferFamily]) -> dict[str, Any] | None:
    """The families by their rate, with the counts that it rests on."""
    if not families:
        return None
    columns = [column("family"), column("P(relevant) %", number=True)]
    columns += [column("features", number=True)]
    columns += [column("chosen", number=True, note="pairs of a task and a feature that it chose")]
    columns += [column("candidates", number=True, note="pairs of a task and a feature that it met")]
    rows = [
        row(
            text_cell(one.name or "not named"),
            per_cent_cell(one.rate),
            number_cell(one.features),
            number_cell(one.selected),
            number_cell(one.candidates),
        )
        for one in by_rate(families)[:MOST_FAMILIES]
    ]
    return without_empty_columns(columns, rows)


def by_rate(families: Sequence[TransferFamily]) -> list[TransferFamily]:
    """The families by rate, the highest first; those without one at the end.

    >>> [one.name for one in by_rate([TransferFamily("tp", rate=0.01), TransferFamily("dobj"),
    ...                               TransferFamily("subj", rate=0.1)])]
    ['subj', 'tp', 'dobj']
    """
    return sorted(families, key=lambda one: -one.rate if one.rate is not None else 1.0)


def chosen_table(chosen: ChosenPart | None) -> dict[str, Any] | None:
    """What one task chose: bits saved, cost before and after the prior, and who vouched for it."""
    if chosen is None or not chosen.features:
        return None
    columns = [column("feature"), column("class"), column("saved, bits", number=True)]
    columns += [column("cost before", number=True, note="bits, all features alike")]
    columns += [column("cost after", number=True, note="bits, by what the other tasks chose")]
    columns += [column("vouchers", number=True), column("tasks that vouched")]
    rows = [
        row(
            text_cell(one.name or "not named"),
            text_cell(one.label),
            number_cell(one.saved, 1),
            number_cell(one.cost_before, 1),
            number_cell(one.cost_after, 1),
            number_cell(len(one.vouchers)),
            text_cell(_listed(one.vouchers)),
        )
        for one in chosen.features[:MOST_CHOSEN]
    ]
    return without_empty_columns(columns, rows)


def _facts(part: TransferPart) -> list[tuple[str, str]]:
    counts = [("tasks", part.tasks), ("rows", part.rows), ("features", part.features)]
    counts.append(("families", len(part.families) or None))
    return [(label, number(count)) for label, count in counts if count is not None]


def _methods_note(methods: Sequence[TransferMethod]) -> str:
    protocols = {_protocol(one) for one in methods}
    said = (
        [f"{visible(*protocols).capitalize()}."] if len(protocols) == 1 and any(protocols) else []
    )
    rivals = {one.against for one in methods if one.t is not None or one.p is not None}
    if len(rivals) == 1 and any(rivals):
        said.append(f"t and p are paired over tasks, against {visible(rivals.pop())}.")
    if any(one.kind == "control" for one in methods):
        said.append(
            "A control has as much of everything except what the other tasks know: a gain that "
            "it has too is no gain by transfer."
        )
    if any(one.published is not None for one in methods):
        said.append("Published figures are the paper’s, on its own data.")
    return " ".join(said)


def _protocol(method: TransferMethod) -> str:
    return PROTOCOLS.get(method.protocol, method.protocol)


def _families_note(families: Sequence[TransferFamily]) -> str:
    if not families:
        return ""
    said = (
        "The rate is the share of its candidates that tasks chose, leaning on the rate of all "
        "features where there are few."
    )
    return f"{said} {first_of(families, MOST_FAMILIES)}".strip()


def _chosen_title(chosen: ChosenPart | None) -> str:
    if chosen is None or not chosen.task:
        return "What one task chose"
    return f"What “{visible(chosen.task)}” chose, and who vouched for it"


def _listed(names: Sequence[str]) -> str | None:
    """Names one after the other; of many, the first and how many more."""
    if not names:
        return None
    return first_and_more([visible(name) or "(empty)" for name in names], MOST_NAMES)


def _size(rows: int | None) -> float:
    return float("inf") if rows is None else rows


def _gain(task: TransferTask) -> float | None:
    if task.alone is None or task.helped is None:
        return None
    return 100 * (task.helped - task.alone)
