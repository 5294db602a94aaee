"""From a result to what the page says, as plain text and numbers.

Each section of the page becomes a small dict of facts and tables, so that the template only has
to place what it is given.  How a number or a cell is printed stands in ``cells.py``, what the page
says of memory-based learning in ``memory.py``, of template search in ``templates.py``, of
templates grown from trees in ``trees.py``, of relevance carried between tasks in ``transfer.py``,
of a comparison of every method in ``discover.py``.

The *lift* of a feature is the share of a class among the rows that have the feature, divided by
the share of that class among all rows; the table names the class for which it is largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from featloom.report import Comparison, Family, FoundFeature, Model, Result
from featloom.report.cells import (
    bars,
    cell,
    column,
    decimals,
    interval_cell,
    number_cell,
    p_cell,
    row,
    text_cell,
    without_empty_columns,
)
from featloom.report.discover import recipes, summarize_discover
from featloom.report.memory import summarize_memory
from featloom.report.templates import summarize_templates
from featloom.report.transfer import summarize_transfer
from featloom.report.trees import summarize_trees
from featloom.shown import visible
from featloom.words import number, seconds

MOST_CLASS_COLUMNS = 4


def summarize(result: Result) -> dict[str, Any]:
    """Everything the template places, section by section; a section without content is None."""
    data, induction = result.data, result.induction
    classes = [visible(name) for name in data.classes]
    totals = list(data.classes.values())
    return {
        "title": visible(data.source or ", ".join(p.task for p in result.memory)) or "a run",
        "kind": visible(result.kind),
        "verdict": visible(result.verdict),
        "facts": _facts(result),
        "classes": bars("class", data.classes.items(), "rows"),
        "families": _families(data.families),
        "taken_for": visible(data.taken_for).rstrip("."),
        "warnings": [visible(warning) for warning in data.warnings],
        "conjunctions": induction
        and feature_table(induction.conjunctions, classes, totals, induction.score_label),
        "atomic": induction
        and feature_table(induction.atomic, classes, totals, induction.score_label),
        "kept": {k: number(n) for k, n in induction.kept.items()} if induction else {},
        "n_domain": sum(found.domain for found in induction.conjunctions) if induction else 0,
        "dropped": induction
        and bars("reason", [(d.reason, d.count) for d in induction.dropped], "count"),
        "models": _models(result.models),
        "comparisons": _comparisons(result.comparisons),
        "memory": summarize_memory(result.memory),
        "templates": summarize_templates(result.template_search),
        "trees": summarize_trees(result.trees),
        "transfer": summarize_transfer(result.transfer),
        "discover": summarize_discover(result),
        "use": recipes(result.use),
        "command": visible(result.command),
        "reproduce": _reproduce(result),
    }


def feature_table(
    features: Sequence[FoundFeature],
    classes: Sequence[str],
    totals: Sequence[int] = (),
    score_label: str = "score",
) -> dict[str, Any] | None:
    """A table of features: name, length, support, counts by class, lift, score and weight.

    ``classes`` are the names of the classes and ``totals`` the rows of each in the whole data.
    Columns that no feature has a value for are left out.
    """
    if not features:
        return None
    narrow = 0 < len(classes) <= MOST_CLASS_COLUMNS
    counted = any(found.class_counts for found in features)
    scores = decimals([found.score for found in features])
    weights = decimals([found.weight for found in features])
    columns = [column("feature"), column("length", number=True), column("support", number=True)]
    if narrow:
        columns += [column(f"class {name}", number=True, of_data=True) for name in classes]
    elif counted:
        columns += [column("classes")]
    columns += [column("leans to"), column("lift", number=True)]
    columns += [column("score", number=True, note=score_label)]
    columns += [column("weight", number=True, note="weight in the model")]
    rows = []
    for found in features:
        parts = found.parts or [found.name]
        cells = [_feature_cell(parts), number_cell(found.length), number_cell(found.support)]
        if narrow:
            counts = (found.class_counts + [None] * len(classes))[: len(classes)]
            cells += [number_cell(n) for n in counts]
        elif counted:
            cells += [text_cell(_main_classes(found.class_counts, classes))]
        cells += _lift(found.class_counts, classes, totals)
        cells += [number_cell(found.score, scores), number_cell(found.weight, weights, signed=True)]
        rows.append(row(*cells, domain=found.domain))
    return without_empty_columns(columns, rows)


def _facts(result: Result) -> list[tuple[str, str]]:
    data, induction = result.data, result.induction
    counts = [
        ("rows", data.rows),
        ("features", data.features),
        ("classes", len(data.classes) or None),
        ("families", len(data.families) or None),
        ("groups", data.groups),
    ]
    if induction:
        counts.append(("conjunctions kept", induction.kept.get("conjunctions")))
    return [(label, number(count)) for label, count in counts if count is not None]


def _families(families: Sequence[Family]) -> dict[str, Any] | None:
    kinds = {True: "one a row", False: "several a row", None: None}
    ordered = sorted(families, key=lambda family: -(family.features or 0))
    table = bars("family", [(family.name, family.features) for family in ordered], "features")
    if table:
        table["columns"].insert(2, column("values", note="how many of its values a row can have"))
        for line, family in zip(table["rows"], ordered, strict=True):
            line["cells"].insert(2, text_cell(kinds[family.single_valued]))
    return table


def _models(models: Sequence[Model]) -> dict[str, Any] | None:
    if not models:
        return None
    columns = [column("model"), column("metric"), column("value", number=True)]
    columns += [column("interval", number=True), column("features", number=True)]
    columns += [column("setting"), column("cross-validated", number=True)]
    columns += [column("published", number=True), column("published setting")]
    rows = [
        row(
            text_cell(model.name),
            text_cell(model.metric),
            number_cell(model.value, 4),
            interval_cell(model.interval),
            number_cell(model.features),
            text_cell(model.setting or None),
            number_cell(model.cross_validated, 4),
            number_cell(model.published, 2),
            text_cell(model.published_setting or None),
        )
        for model in models
    ]
    return without_empty_columns(columns, rows)


def _comparisons(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    if not comparisons:
        return None
    words = {True: "significant", False: "not significant", None: None}
    columns = [column("a"), column("b"), column("a − b", number=True)]
    columns += [column("interval", number=True), column("p", number=True), column("verdict")]
    rows = [
        row(
            text_cell(test.a),
            text_cell(test.b),
            number_cell(test.difference, 4, signed=True),
            interval_cell(test.interval),
            p_cell(test.p),
            text_cell(words[test.significant]),
        )
        for test in comparisons
    ]
    return without_empty_columns(columns, rows)


def _reproduce(result: Result) -> list[dict[str, Any]]:
    """Named lists of settings: what to repeat, with what, and how long it took."""
    lists = [
        (
            "parameters",
            [(k, msgspec.json.encode(v).decode()) for k, v in result.parameters.items()],
        ),
        ("versions", list(result.versions.items())),
        ("timing", [(_stage(k), seconds(v)) for k, v in result.timing.items()]),
    ]
    if result.seed is not None:
        lists[0][1].append(("seed", str(result.seed)))
    return [
        {"title": title, "items": [(visible(str(k)), visible(v)) for k, v in items]}
        for title, items in lists
        if items
    ]


def _stage(name: str) -> str:
    return {"total_s": "total", "user_s": "total, user CPU"}.get(
        name, name.removesuffix("_s").replace("_user", ", user CPU").replace("_", " ")
    )


def _feature_cell(parts: Sequence[str]) -> dict[str, Any]:
    shown = [visible(part) for part in parts]
    return cell(" & ".join(shown)) | {"parts": [part.partition("=") for part in shown]}


def _main_classes(counts: Sequence[int], classes: Sequence[str], most: int = 3) -> str:
    """The most frequent classes of a feature's rows, where there are too many for columns."""
    named = [
        (count, classes[i] if i < len(classes) else f"class {i}")
        for i, count in enumerate(counts)
        if count
    ]
    named.sort(key=lambda pair: -pair[0])
    shown = [f"{name}: {count:,}" for count, name in named[:most]]
    rest = len(named) - most
    return " · ".join([*shown, f"{rest} more"] if rest > 0 else shown)


def _lift(
    counts: Sequence[int], classes: Sequence[str], totals: Sequence[int]
) -> list[dict[str, Any]]:
    """The class with the largest lift, and that lift."""
    rows, support = sum(totals), sum(counts)
    lifts = [
        (count / support * rows / total, name)
        for count, total, name in zip(counts, totals, classes, strict=False)
        if support and total and len(counts) == len(totals)
    ]
    if not lifts:
        return [text_cell(None), number_cell(None)]
    lift, name = max(lifts, key=lambda pair: pair[0])
    return [text_cell(name), number_cell(round(lift, 4), 1)]
