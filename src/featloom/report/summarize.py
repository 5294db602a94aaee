"""From a result to what the page says, as plain text and numbers.

Each section of the page becomes a small dict of facts and tables.  Numbers are grouped (55,268),
the decimals of a column agree, and signs that would hide or reorder other text are spelled out,
so that the template only has to place what it is given.

The *lift* of a feature is the share of a class among the rows that have the feature, divided by
the share of that class among all rows; the table names the class for which it is largest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from featloom.features.display import visible
from featloom.report import Comparison, Family, FoundFeature, Model, Result

MISSING = "–"
MOST_CLASS_COLUMNS = 4


def summarize(result: Result) -> dict[str, Any]:
    """Everything the template places, section by section; a section without content is None."""
    data, induction = result.data, result.induction
    classes = [visible(name) for name in data.classes]
    totals = list(data.classes.values())
    return {
        "title": visible(data.source) or "a run",
        "kind": visible(result.kind),
        "verdict": visible(result.verdict),
        "facts": _facts(result),
        "classes": _bars("class", data.classes.items(), "rows"),
        "families": _families(data.families),
        "warnings": [visible(warning) for warning in data.warnings],
        "conjunctions": induction
        and feature_table(induction.conjunctions, classes, totals, induction.score_label),
        "atomic": induction
        and feature_table(induction.atomic, classes, totals, induction.score_label),
        "kept": {k: number(n) for k, n in induction.kept.items()} if induction else {},
        "n_domain": sum(found.domain for found in induction.conjunctions) if induction else 0,
        "dropped": induction
        and _bars("reason", [(d.reason, d.count) for d in induction.dropped], "count"),
        "models": _models(result.models),
        "comparisons": _comparisons(result.comparisons),
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
    columns = [_column("feature"), _column("length", number=True), _column("support", number=True)]
    if narrow:
        columns += [_column(f"class {name}", number=True, of_data=True) for name in classes]
    elif counted:
        columns += [_column("classes")]
    columns += [_column("leans to"), _column("lift", number=True)]
    columns += [_column("score", number=True, note=score_label)]
    columns += [_column("weight", number=True, note="weight in the model")]
    rows = []
    for found in features:
        parts = found.parts or [found.name]
        cells = [_feature_cell(parts), _number(found.length), _number(found.support)]
        if narrow:
            counts = (found.class_counts + [None] * len(classes))[: len(classes)]
            cells += [_number(n) for n in counts]
        elif counted:
            cells += [_text(_main_classes(found.class_counts, classes))]
        cells += _lift(found.class_counts, classes, totals)
        cells += [_number(found.score, scores), _number(found.weight, weights, signed=True)]
        rows.append(_row(*cells, domain=found.domain))
    return _without_empty_columns(columns, rows)


def number(value: float | None, places: int = 0, *, signed: bool = False) -> str:
    """A number as it is printed: grouped, with a true minus sign.

    >>> number(55268), number(-0.12345, 3), number(None), number(0.5, 1, signed=True)
    ('55,268', '−0.123', '–', '+0.5')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    smallest = 10.0**-places / 2
    if value and places and abs(value) < smallest:
        text = f"{value:+.0e}" if signed else f"{value:.0e}"
    else:
        text = f"{value:+,.{places}f}" if signed else f"{value:,.{places}f}"
    return text.replace("-", "−")


def decimals(values: Sequence[float | None]) -> int:
    """Decimals that give the largest number of a column three or four significant digits.

    >>> decimals([0.0123, 0.004]), decimals([12.5, 0.1]), decimals([None])
    (5, 2, 0)
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(sizes, default=0.0)
    return min(max(3 - math.floor(math.log10(largest)), 0), 8) if largest else 0


def seconds(value: float | None) -> str:
    """A span of time in words.

    >>> seconds(0.0421), seconds(3.25), seconds(125), seconds(7300)
    ('0.042 s', '3.2 s', '2 min 5 s', '2 h 1 min')
    """
    if value is None:
        return MISSING
    if value < 60:
        return f"{value:.{1 if value >= 1 else 3}f} s"
    minutes = round(value) // 60
    return (
        f"{minutes} min {round(value) % 60} s"
        if minutes < 60
        else (f"{minutes // 60} h {minutes % 60} min")
    )


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


def _bars(label: str, counts, what: str) -> dict[str, Any] | None:
    """Names with counts, their share of the whole, and a bar as wide as that share."""
    counts = list(counts)
    if not counts:
        return None
    whole = sum(count or 0 for _, count in counts)
    rows = []
    for name, count in counts:
        share = (count or 0) / whole if whole else 0.0
        bar = _cell(f"{share:.1%}", share) | {"bar": round(100 * share, 2)}
        rows.append(_row(_text(name), _number(count), bar))
    columns = [_column(label), _column(what, number=True), _column("share", number=True)]
    return {"columns": columns, "rows": rows}


def _families(families: Sequence[Family]) -> dict[str, Any] | None:
    kinds = {True: "one a row", False: "several a row", None: None}
    ordered = sorted(families, key=lambda family: -(family.features or 0))
    table = _bars("family", [(family.name, family.features) for family in ordered], "features")
    if table:
        table["columns"].insert(2, _column("values", note="how many of its values a row can have"))
        for row, family in zip(table["rows"], ordered, strict=True):
            row["cells"].insert(2, _text(kinds[family.single_valued]))
    return table


def _models(models: Sequence[Model]) -> dict[str, Any] | None:
    if not models:
        return None
    columns = [_column("model"), _column("metric"), _column("value", number=True)]
    columns += [_column("interval", number=True), _column("features", number=True)]
    columns += [_column("setting"), _column("cross-validated", number=True)]
    columns += [_column("published", number=True), _column("published setting")]
    rows = [
        _row(
            _text(model.name),
            _text(model.metric),
            _number(model.value, 4),
            _interval(model.interval),
            _number(model.features),
            _text(model.setting or None),
            _number(model.cross_validated, 4),
            _number(model.published, 2),
            _text(model.published_setting or None),
        )
        for model in models
    ]
    return _without_empty_columns(columns, rows)


def _comparisons(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    if not comparisons:
        return None
    words = {True: "significant", False: "not significant", None: None}
    columns = [_column("a"), _column("b"), _column("a − b", number=True)]
    columns += [_column("interval", number=True), _column("p", number=True), _column("verdict")]
    rows = [
        _row(
            _text(test.a),
            _text(test.b),
            _number(test.difference, 4, signed=True),
            _interval(test.interval),
            _p_value(test.p),
            _text(words[test.significant]),
        )
        for test in comparisons
    ]
    return _without_empty_columns(columns, rows)


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


def _column(
    label: str, *, number: bool = False, note: str = "", of_data: bool = False
) -> dict[str, Any]:
    return {"label": visible(label), "number": number, "note": visible(note), "of_data": of_data}


def _row(*cells: dict[str, Any], domain: bool = False) -> dict[str, Any]:
    return {"cells": list(cells), "domain": domain}


def _cell(text: str, value: float | None = None, *, empty: bool = False) -> dict[str, Any]:
    """What is shown, what it is sorted by, and whether there was nothing to show."""
    return {"text": text, "value": value, "empty": empty}


def _text(text: str | None) -> dict[str, Any]:
    return _cell(MISSING, empty=True) if text is None else _cell(visible(text))


def _number(value: float | None, places: int = 0, *, signed: bool = False) -> dict[str, Any]:
    return _cell(number(value, places, signed=signed), value, empty=value is None)


def _interval(interval: tuple[float | None, float | None] | None) -> dict[str, Any]:
    if interval is None or None in interval:
        return _text(None)
    low, high = interval
    return _cell(f"{number(low, 4)} to {number(high, 4)}", low)


def _p_value(p: float | None) -> dict[str, Any]:
    return _cell("< 0.001", p) if p is not None and p < 0.001 else _number(p, 3)


def _feature_cell(parts: Sequence[str]) -> dict[str, Any]:
    shown = [visible(part) for part in parts]
    return _cell(" & ".join(shown)) | {"parts": [part.partition("=") for part in shown]}


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
        return [_text(None), _number(None)]
    lift, name = max(lifts, key=lambda pair: pair[0])
    return [_text(name), _number(round(lift, 4), 1)]


def _without_empty_columns(columns: list[dict], rows: list[dict]) -> dict[str, Any]:
    filled = [j for j in range(len(columns)) if not all(row["cells"][j]["empty"] for row in rows)]
    for row in rows:
        row["cells"] = [row["cells"][j] for j in filled]
    return {"columns": [columns[j] for j in filled], "rows": rows}
