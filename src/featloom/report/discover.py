"""What the page says of a comparison of every method: who won, by how much, and how to use it.

The verdict stands above everything else.  Then come the leaderboard (cross-validated score, score
on the part held out, size, setting, time), what the chosen model is worth by every metric, what was
not compared and why, the tests, what each method found, where the chosen one errs beside the
baseline, how to use the model, and what the run took.  Shares are printed in per cent, a log-loss
as it is (``metric.py``); every unit of code is printed as it is typed, except that marks which
would hide or reorder it are spelled out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from featloom.report import Comparison, Result
from featloom.report.cells import (
    cell,
    column,
    decimals,
    first_of,
    number_cell,
    p_cell,
    per_cent_cell,
    points_cell,
    row,
    share_cell,
    text_cell,
    without_empty_columns,
)
from featloom.report.discover_chosen import summarize_chosen
from featloom.report.discover_types import (
    Budget,
    Contestant,
    ErrorLine,
    FoundTable,
    LearningPoint,
    Metrics,
    Name,
    Recipe,
)
from featloom.report.metric import SHARE, Metric
from featloom.shown import visible
from featloom.words import number, seconds, shortened

STOPPED = {
    "finished": "everything that applies was compared",
    "budget": "the time was up",
    "interrupted": "it was interrupted",
    "left": "what is not compared would not have ended in time",
    "asked": "everything that was asked for was compared",
}
LEAST_COMPILED = 0.5  # seconds that are worth a word
MOST_FOUND, MOST_ERRORS, MOST_RIGHT = 1_000, 1_000, 6
NOT_NAMED = "not named"
COMPARED = ("finished", "partly", "")


def summarize_discover(result: Result) -> dict[str, Any] | None:
    """What the page places; None for a result that compared nothing."""
    budget, errors, metric = result.budget, result.errors, metric_of(result)
    ranked, aside = split_leaderboard(result.leaderboard)
    lines = {"class": errors.by_class, "group": errors.by_group} if errors else {}
    summary: dict[str, Any] = {
        "facts": _facts(result),
        "significant": _is_significant(result),
        "chosen": visible(result.chosen or ""),
        "why": visible(result.chosen_why),
        "protocol": visible(result.protocol),
        "unit": visible(result.unit),
        "leaderboard": leaderboard_table(ranked, metric, unit=result.unit, n_folds=result.folds_of),
        "leaderboard_note": _leaderboard_note(ranked, result, metric),
        "figures": summarize_chosen(result.chosen_figures),
        "aside": aside_table(aside, metric),
        "curves": curve_table(result.curves, result.unit, metric),
        "curves_label": f"{metric.head} by what was learned from",
        "tests": comparison_table([one for one in result.comparisons if not one.gate], metric),
        "gate": comparison_table(
            [one for one in result.comparisons if one.gate], _metric_of_gate(result)
        ),
        "findings": finding_tables(result.findings, result.chosen),
        "errors": [
            (what, table, first_of(entries, MOST_ERRORS))
            for what, entries in lines.items()
            if (table := error_table(entries, what, _order(result)))
        ],
        "use": recipes(result.use),
        "budget": _budget(budget, result.leaderboard) if budget else None,
    }
    headings = {
        "leaderboard": ("discover-leaderboard", "Leaderboard"),
        "figures": ("discover-chosen", "Chosen model"),
        "aside": ("discover-aside", "Not compared"),
        "tests": ("discover-tests", "Tests"),
        "curves": ("discover-curves", "Curves"),
        "findings": ("discover-findings", "Found"),
        "errors": ("discover-errors", "Errors"),
        "use": ("discover-use", "Use"),
        "budget": ("discover-budget", "Time"),
    }
    # Tests and use alone are shown as those of any other result.
    if not any(summary[key] for key in headings if key not in ("tests", "use")):
        return None
    return summary | {"contents": [place for key, place in headings.items() if summary[key]]}


def metric_of(result: Result) -> Metric:
    """The metric of the leaderboard."""
    return Metric(result.metric or result.judge_by, result.lower_is_better)


def _metric_of_gate(result: Result) -> Metric:
    """Tables are held against chance by log-loss, whatever else they are judged by."""
    figures = result.chosen_figures
    if figures is not None and figures.log_loss is not None:
        return Metric("log-loss", lower_is_better=True)
    return metric_of(result)


def _is_significant(result: Result) -> bool | None:
    """Whether the difference that the verdict tells of is beyond chance, for better or worse."""
    behind = [
        test.significant for test in result.comparisons
        if test.a == result.chosen and (test.difference or 0.0) < 0
    ]  # fmt: skip
    return True if any(behind) else result.significant


def split_leaderboard(
    board: Sequence[Contestant],
) -> tuple[list[Contestant], list[Contestant]]:
    """Those that were compared, and those that were not; the chosen one is always compared."""
    ranked = [one for one in board if one.chosen or one.status in COMPARED]
    return ranked, [one for one in board if not one.chosen and one.status not in COMPARED]


def leaderboard_table(
    ranked: Sequence[Contestant],
    metric: Metric = SHARE,
    *,
    unit: str = "rows",
    n_folds: int | None = None,
) -> dict[str, Any] | None:
    """The compared methods in the order of the result, the chosen one marked.

    >>> board = [Contestant("induction", value=0.91, chosen=True)]
    >>> table = leaderboard_table(board, Metric("accuracy"))
    >>> [column["label"] for column in table["columns"]]
    ['method', 'accuracy %']
    >>> table["rows"][0]["chosen"], table["rows"][0]["cells"][1]["text"]
    (True, '91.00')
    """
    if not ranked:
        return None
    held = "held out" if metric.lower_is_better else "held out %"
    columns = [column("method"), column("role")]
    columns += [column(metric.head, number=True, note="cross-validated", of_data=True)]
    columns += [column(held, number=True, note="on the part held out for the end")]
    columns += [column(label, number=True, note=note) for _, label, note in _besides(metric)]
    columns += [column("size", number=True), column("setting")]
    columns += [column("learns in", number=True)]
    columns += [column("answers in", number=True, note="1,000 answers")]
    amounts = {one.learned for one in ranked if one.learned is not None}
    whole = max(amounts) if len(amounts) > 1 else None
    rows = [
        row(
            _name_cell(one, unit, whole, n_folds),
            text_cell(one.role or None),
            metric.score_cell(one.value, one.interval),
            metric.score_cell(one.test, one.test_interval),
            *_metric_cells(one.metrics or Metrics(), metric),
            _size_cell(one),
            text_cell(one.setting or None),
            _seconds_cell(one.fit_s),
            _seconds_cell(one.predict_s),
            chosen=one.chosen,
        )
        for one in ranked
    ]
    return without_empty_columns(columns, rows)


def aside_table(
    aside: Sequence[Contestant],
    metric: Metric = SHARE,
) -> dict[str, Any] | None:
    """What was not compared, and why; what was begun keeps its score so far."""
    if not aside:
        return None
    so_far = "score so far" if metric.lower_is_better else "score so far %"
    columns = [column("method"), column("what became of it"), column("why")]
    columns += [column(so_far, number=True), column("of the data", number=True)]
    rows = [
        row(
            _name_cell(one),
            text_cell(one.status),
            text_cell(one.why or None),
            metric.cell(one.value),
            number_cell(None) if one.share is None else _part_cell(one.share),
        )
        for one in aside
    ]
    return without_empty_columns(columns, rows)


def curve_table(
    curves: Sequence[LearningPoint],
    unit: str = "rows",
    metric: Metric = SHARE,
) -> dict[str, Any] | None:
    """A line for each amount of data learned from, a column for each method.

    >>> points = [LearningPoint("a", 100, 0.5), LearningPoint("b", 100, 0.625)]
    >>> [cell["text"] for cell in curve_table(points)["rows"][0]["cells"]]
    ['100', '50.00', '62.50']
    """
    points = [point for point in curves if point.value is not None and point.rows is not None]
    if not points:
        return None
    methods = list(dict.fromkeys(point.method for point in points))
    value = {(point.rows, point.method): point.value for point in points}
    columns = [column(f"{unit} learned from", number=True)]
    columns += [column(name or NOT_NAMED, number=True, of_data=True) for name in methods]
    rows = [
        row(number_cell(size), *(metric.cell(value.get((size, name))) for name in methods))
        for size in sorted({point.rows or 0 for point in points})
    ]
    return {"columns": columns, "rows": rows}


def comparison_table(
    tests: Sequence[Comparison],
    metric: Metric = SHARE,
) -> dict[str, Any] | None:
    """Paired tests in points or nats, with p as it is and adjusted for how many tests there are.

    >>> tests = [Comparison("a", "b", 0.012)]
    >>> [column["label"] for column in comparison_table(tests)["columns"]]
    ['a', 'b', 'a − b, points']
    >>> [column["label"] for column in comparison_table(tests, Metric("log-loss", True))["columns"]]
    ['a', 'b', 'a is better by, nats']
    """
    if not tests:
        return None
    words = {True: "significant", False: "not significant", None: None}
    gain = "a is better by, nats" if metric.gain_unit == "nats" else f"a − b, {metric.gain_unit}"
    columns = [column("a"), column("b"), column(gain, number=True)]
    columns += [column("interval", number=True), column("p", number=True)]
    columns += [column("adjusted p", number=True, note="for how many tests there are")]
    columns += [column("verdict"), column("on")]
    rows = [
        row(
            text_cell(test.a),
            text_cell(test.b) | ({} if test.same_rows else {"under": "learned from other amounts"}),
            metric.gain_cell(test.difference),
            metric.interval_cell(test.interval),
            p_cell(test.p),
            p_cell(test.p_adjusted),
            text_cell(words[test.significant]),
            text_cell({"test": "held out"}.get(test.on, test.on) or None),
        )
        for test in tests
    ]
    return without_empty_columns(columns, rows)


def finding_tables(findings: Sequence[FoundTable], chosen: str | None) -> list[dict[str, Any]]:
    """A table for each finding, those of the chosen method first and open."""
    ordered = sorted(
        (one for one in findings if one.rows), key=lambda one: one.method != (chosen or None)
    )
    return [
        {
            "title": visible(one.title) or "what it found",
            "method": visible(one.method) or NOT_NAMED,
            "count": number(len(one.rows)),
            "open": one.method == chosen,
            "table": _found_table(one),
            "note": first_of(one.rows, MOST_FOUND),
        }
        for one in ordered
    ]


def error_table(
    lines: Sequence[ErrorLine], what: str, order: Sequence[str] = ()
) -> dict[str, Any] | None:
    """Shares of right answers by class or group, a bar for each method, and the gain.

    ``order`` names the methods from the chosen one on; the gain is the first's over the second's.
    """
    present = list(dict.fromkeys(name for line in lines for name in line.right))
    names = [name for name in order if name in present]
    names = (names + [name for name in present if name not in names])[:MOST_RIGHT]
    if not lines:
        return None
    columns = [column(what), column("rows", number=True)]
    columns += [column(name or NOT_NAMED, number=True, of_data=True) for name in names]
    columns += [column("gain, points", number=True)]
    rows = []
    for line in lines[:MOST_ERRORS]:
        shares = [_share(line.right.get(name), line.rows) for name in names]
        bars = [share_cell(share) | {"second": j > 0} for j, share in enumerate(shares)]
        pair = [share for share in shares[:2] if share is not None]
        gain = points_cell(100 * (pair[0] - pair[1]) if len(pair) == 2 else None)
        rows.append(row(text_cell(_said(line.name)), number_cell(line.rows), *bars, gain))
    return without_empty_columns(columns, rows)


def code_lines(code: str) -> str:
    r"""Code as it is typed: its lines stay, other marks that would hide or turn it are spelled out.

    >>> code_lines("a = 1\n\tb = '\u202e'")
    "a = 1\n    b = '\\u202e'"
    """
    lines = code.replace("\r\n", "\n").expandtabs(4).strip("\n").split("\n")
    return "\n".join(visible(line) for line in lines)


def _facts(result: Result) -> list[tuple[str, str]]:
    """The chosen method and its scores, beside the best baseline and chance."""
    chosen = next((one for one in result.leaderboard if one.chosen), None)
    found: list[tuple[str, str]] = []
    if name := result.chosen or (chosen and chosen.name):
        found.append(("chosen", visible(name)))
    held = any(one.test is not None for one in result.leaderboard)
    where = "on the part held out" if held else "cross-validated"
    metric = metric_of(result)
    for role in (None, "baseline", "chance"):
        if role is None:
            rivals = [chosen] if chosen else []
        else:
            rivals = [one for one in result.leaderboard if one.role == role and not one.chosen]
        scores = [one.test if held else one.value for one in rivals]
        best = metric.best(score for score in scores if score is not None)
        if best is not None:
            label = {
                None: f"{metric.shown_name} {where}",
                "baseline": "best baseline",
                "chance": "chance",
            }
            found.append((label[role], metric.words(best)))
    return found


def _leaderboard_note(ranked: Sequence[Contestant], result: Result, metric: Metric) -> str:
    said = []
    if metric.lower_is_better:
        said.append(f"{metric.shown_name[:1].upper()}{metric.shown_name[1:]}: lower is better.")
    if any(one.interval or one.test_interval for one in ranked):
        # Older results drew the intervals of folds over rows too.
        said.append(
            "Below a score stands its interval: intervals of folds allow for the rows that fits "
            "share; those of the part held out are of its rows."
            if result.judge_by
            else "Below a score stands its interval."
        )
    if any(one.metrics for one in ranked):
        said.append("AUC, accuracy and Brier score are those on the part held out.")
    if any(one.role == "yardstick" for one in ranked):
        said.append("A yardstick is there to compare with and is never chosen.")
    unit = visible(result.unit)
    if any(one.share is not None and one.share < 1 for one in ranked):
        said.append(f"Some had time for a part of the {unit} only: their scores may be too low.")
    elif len({one.learned for one in ranked if one.learned is not None}) > 1:
        said.append(f"Some learned from a part of the {unit}, for want of time.")
    return " ".join(said)


def _budget(budget: Budget, board: Sequence[Contestant]) -> dict[str, Any]:
    spans = {
        "spent": budget.spent,
        "asked for": budget.seconds,
        "first leaderboard after": budget.first_answer,
        "of all processors": budget.cpu,
        "compiled, once": budget.compiled if (budget.compiled or 0.0) > LEAST_COMPILED else None,
    }
    share = (budget.spent or 0.0) / budget.seconds if budget.seconds else None
    why = why_stopped(budget.stopped, [one.status for one in board])
    return {
        "facts": [(label, seconds(span)) for label, span in spans.items() if span is not None],
        "why": f"It stopped because {why}." if why else "",
        "bar": None if share is None else round(min(max(100 * share, 0), 100), 2),
    }


def why_stopped(stopped: str, statuses: Iterable[str]) -> str:
    """Why a comparison ended, in words: nothing was left only if every contender was compared.

    >>> why_stopped("finished", ["finished", "not applicable"])
    'everything that applies was compared'
    >>> why_stopped("finished", ["finished", "partly"])
    'what is not compared would not have ended in time'
    >>> why_stopped("finished", ["finished", "not asked"])
    'everything that was asked for was compared'
    """
    seen = set(statuses)
    if stopped == "finished" and seen & {"unfinished", "partly"}:
        stopped = "left"
    elif stopped == "finished" and "not asked" in seen:
        stopped = "asked"
    return STOPPED.get(stopped, visible(stopped))


def _order(result: Result) -> list[str]:
    """The chosen method first, then the rest as the leaderboard has them, baselines before."""
    first = [result.chosen] if result.chosen else []
    roles = {"baseline": 0, "method": 1, "yardstick": 2, "chance": 3}
    rest = sorted(result.leaderboard, key=lambda one: roles.get(one.role, 1))
    return list(dict.fromkeys(first + [one.name for one in rest]))


def _found_table(found: FoundTable) -> dict[str, Any]:
    """Cells of any kind: a column of numbers alone is printed and sorted as numbers."""
    lines = found.rows[:MOST_FOUND]
    width = max([len(found.columns), *(len(line) for line in lines)])
    filled = [[*line, *[None] * (width - len(line))] for line in lines]
    labels = [*found.columns, *[""] * (width - len(found.columns))]
    columns, cells = [], []
    for j, label in enumerate(labels):
        values = [line[j] for line in filled]
        numeric = [value for value in values if _is_number(value)]
        is_number = bool(numeric) and all(_is_number(v) or v is None for v in values)
        whole = all(float(value).is_integer() for value in numeric)
        places = 0 if whole else min(decimals(numeric), 4)
        columns.append(column(label, number=is_number, of_data=True))
        cells.append(
            [
                number_cell(value, places) if is_number else text_cell(_said(value, empty=None))
                for value in values
            ]
        )
    return {"columns": columns, "rows": [row(*line) for line in zip(*cells, strict=True)]}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _said(value: Name | Any, empty: str | None = "(empty)") -> str | None:
    """A value of any kind as one reads it: words bare, others as JSON."""
    if value is None or value == "":
        return empty
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _besides(metric: Metric) -> list[tuple[str, str, str]]:
    """Fields, heads and notes of the metrics that stand beside the one that is judged by."""
    every = [
        ("log_loss", "log-loss", "on the part held out; lower is better"),
        ("auc", "AUC", "on the part held out: area under the ROC curve"),
        ("accuracy", "accuracy %", "on the part held out"),
        ("brier", "Brier", "on the part held out: mean squared error of probabilities"),
    ]
    return [one for one in every if one[1].removesuffix(" %") != metric.name]


def _metric_cells(metrics: Metrics, metric: Metric) -> list[dict[str, Any]]:
    values = [(label, getattr(metrics, field)) for field, label, _ in _besides(metric)]
    return [
        per_cent_cell(value) if label.endswith("%") else number_cell(value, 3)
        for label, value in values
    ]


def _name_cell(
    one: Contestant, unit: str = "rows", whole: int | None = None, n_folds: int | None = None
) -> dict[str, Any]:
    """The name; below it its idea, and what it was compared on where that is not everything."""
    under = [visible(one.idea)]
    if one.share is not None and one.share < 1 and one.status in COMPARED:
        under.append(f"compared on {_part_cell(one.share)['text']} of the data")
    if whole is not None and one.learned is not None and one.learned < whole:
        under.append(f"learned from {number(one.learned)} of {number(whole)} {visible(unit)}")
    of = one.folds_of or n_folds
    if one.n_folds is not None and of is not None and one.n_folds < of:
        under.append(f"in {number(one.n_folds)} of {number(of)} folds")
    words = " · ".join(word for word in under if word)
    return text_cell(one.name or NOT_NAMED) | ({"under": words} if words else {})


def _size_cell(one: Contestant) -> dict[str, Any]:
    if not one.size_words:
        return number_cell(one.size)
    return cell(shortened(visible(one.size_words), 40), one.size)


def _seconds_cell(value: float | None) -> dict[str, Any]:
    return cell(seconds(value), value, empty=value is None)


def _part_cell(share: float) -> dict[str, Any]:
    return cell(f"{share:.0%}" if share >= 0.01 else f"{share:.2%}", share)


def _share(right: float | None, rows: int | None) -> float | None:
    return None if right is None or not rows else right / rows


def recipes(use: Sequence[Recipe]) -> list[dict[str, str]]:
    """Lines to copy, with their titles."""
    return [
        {"title": visible(one.title), "code": code_lines(one.code)}
        for one in use
        if one.code or one.title
    ]
