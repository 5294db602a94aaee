"""What ``featloom discover`` prints: the leaderboard, the chosen model's figures, the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featloom.report.discover import COMPARED, LEAST_COMPILED, why_stopped
from featloom.report.discover_chosen import class_name, gathered
from featloom.report.discover_types import Confusion
from featloom.report.metric import Metric
from featloom.shown import TableColumn, table_for
from featloom.words import bare, number, percent, seconds, shortened

MOST_MATRIX = 5
NOT_ASKED = "not asked"


def show_leaderboard(console: Any, result: Mapping[str, Any]) -> None:
    """The table of what was compared, with its metric, and a line for what was not."""
    metric = metric_of(result)
    board = result["leaderboard"]
    ranked = [one for one in board if is_ranked(one)]
    if ranked:
        console.say(_head_words(metric, ranked))
        columns, rows = leaderboard_rows(ranked, metric, result.get("folds_of"))
        console.print(table_for(console.width, columns, rows))
        for words in _amounts(ranked, result.get("unit", "rows")):
            console.say(words)
    for one in board:
        if not is_ranked(one) and one["status"] != NOT_ASKED:
            console.say(f"{one['name']}: {one['status']}, {one['why']}")
    if aside := [one["name"] for one in board if one["status"] == NOT_ASKED]:
        console.print(f"not asked for: {', '.join(aside)}", markup=False, highlight=False)


def metric_of(result: Mapping[str, Any]) -> Metric:
    """The metric of a result as the file has it; older ones have no direction."""
    name = result.get("metric") or result.get("judge_by") or ""
    return Metric(name, bool(result.get("lower_is_better")))


def is_ranked(one: Mapping[str, Any]) -> bool:
    has_score = one.get("value") is not None or one.get("test") is not None
    return has_score and (bool(one.get("chosen")) or one["status"] in COMPARED)


def leaderboard_rows(
    ranked: Sequence[Mapping[str, Any]], metric: Metric, n_folds: int | None = None
) -> tuple[list[TableColumn], list[list[str]]]:
    """Columns and rows of the leaderboard; those go first that say least about who is best.

    >>> columns, rows = leaderboard_rows(
    ...     [{"name": "induction", "value": 0.28125, "interval": [0.275, 0.2875], "test": None,
    ...       "size_words": "12 features", "fit_s": 1.5, "chosen": True}], Metric("log-loss", True))
    >>> [column.head for column in columns]
    ['contender', 'folds', '±', 'test', 'size', 'fit']
    >>> rows
    [['induction ←', '.2812', '.0062', '–', '12 features', '1.5 s']]
    """
    columns = [TableColumn("contender", is_number=False), TableColumn("folds")]
    columns += [TableColumn("±", goes=5), TableColumn("test")]
    columns += [TableColumn("AUC", goes=2), TableColumn("accuracy", goes=3)]
    columns += [TableColumn("size", goes=4), TableColumn("fit", goes=6)]
    rows = []
    for one in ranked:
        others = one.get("metrics") or {}
        accuracy = None if metric.name == "accuracy" else others.get("accuracy")
        low, high = one.get("interval") or (None, None)
        half = None if low is None or high is None else (high - low) / 2
        of = one.get("folds_of") or n_folds
        partly = of and (one.get("n_folds") or of) < of
        rows.append(
            [
                one["name"]
                + (f" ({one['n_folds']} of {of} folds)" if partly else "")
                + (" ←" if one.get("chosen") else ""),
                _score(metric, one.get("value")),
                _score(metric, half),
                _score(metric, one.get("test")),
                "" if others.get("auc") is None else bare(others["auc"]),
                "" if accuracy is None else percent(accuracy),
                one.get("size_words") or "",
                _took(one.get("fit_s")),
            ]
        )
    filled = [j for j in range(len(columns)) if j < 4 or any(row[j] for row in rows)]
    return [columns[j] for j in filled], [[row[j] for j in filled] for row in rows]


def show_chosen(console: Any, result: Mapping[str, Any]) -> None:
    """What the chosen model is worth on the test part, by every metric, and what it confuses."""
    figures = result.get("chosen_figures")
    if not figures:
        return
    if words := chosen_words(figures):
        console.print(f"on the test part: {words}", markup=False, highlight=False)
    confusion = figures.get("confusion") or {}
    if 0 < len(confusion.get("classes", ())) <= MOST_MATRIX:
        columns, rows = confusion_rows(confusion)
        console.print(table_for(console.width, columns, rows))


def chosen_words(figures: Mapping[str, Any]) -> str:
    """The figures of the chosen model as one reads them.

    >>> chosen_words({"log_loss": 0.281, "base_rate_log_loss": 0.552, "accuracy": 0.869,
    ...               "f1": {"positive": ">50K", "value": 0.712, "threshold": 0.38}})
    'log-loss .281 (base rate .552), accuracy 86.9 %; F1 of >50K 71.2 % at threshold .38'
    """
    said = []
    if (loss := figures.get("log_loss")) is not None:
        base = figures.get("base_rate_log_loss")
        said.append(
            f"log-loss {bare(loss)}" + (f" (base rate {bare(base)})" if base is not None else "")
        )
    if (auc := figures.get("auc")) is not None:
        said.append(f"AUC {bare(auc)}")
    if (accuracy := figures.get("accuracy")) is not None:
        said.append(f"accuracy {percent(accuracy)}")
    if (brier := figures.get("brier")) is not None:
        said.append(f"Brier score {bare(brier)}")
    if (error := figures.get("ece")) is not None:
        said.append(f"calibration error {bare(error)}")
    words = [", ".join(said)] if said else []
    f1 = figures.get("f1") or {}
    if f1.get("value") is not None:
        at = f" at threshold {bare(f1['threshold'], 2)}" if f1.get("threshold") is not None else ""
        words.append(f"F1 of {class_name(f1.get('positive'))} {percent(f1['value'])}{at}")
        if (plain := f1.get("of_predictions")) is not None:
            words[-1] += f", {percent(plain)} as predicted"
    return "; ".join(words)


def confusion_rows(
    confusion: Mapping[str, Any],
) -> tuple[list[TableColumn], list[list[str]]]:
    """True classes as rows, predicted ones as columns.

    >>> columns, rows = confusion_rows({"classes": ["no", "yes"], "counts": [[90, 10], [5, 1500]]})
    >>> [column.head for column in columns], rows
    (['true ↓ predicted →', 'no', 'yes'], [['no', '90', '10'], ['yes', '5', '1,500']])
    """
    classes, _, counts = gathered(Confusion(confusion["classes"], confusion["counts"]))
    names = [class_name(one) for one in classes]
    columns = [TableColumn("true ↓ predicted →", is_number=False)]
    columns += [TableColumn(shortened(name, 16)) for name in names]
    return columns, [
        [name, *(number(count) for count in line)] for name, line in zip(names, counts, strict=True)
    ]


def time_words(result: Mapping[str, Any]) -> list[str]:
    """Lines about the time: how it ended, when the first answer stood, what was compiled.

    >>> budget = {"stopped": "budget", "spent": 58.2, "first_answer": 2.1, "compiled": 21.3}
    >>> for line in time_words({"budget": budget, "leaderboard": []}):
    ...     print(line)
    stopped after 58.2 s: the time was up
    first leaderboard after 2.1 s; compiled for 21 s, once
    """
    budget = result.get("budget") or {}
    statuses = [one["status"] for one in result["leaderboard"]]
    why = why_stopped(budget.get("stopped", ""), statuses)
    lines = []
    if why and why not in (why_stopped("finished", []), why_stopped("finished", [NOT_ASKED])):
        lines.append(f"stopped after {seconds(budget['spent'])}: {why}")
    said = []
    if budget.get("first_answer") is not None:
        said.append(f"first leaderboard after {seconds(budget['first_answer'])}")
    if (compiled := budget.get("compiled") or 0.0) > LEAST_COMPILED:
        said.append(f"compiled for {compiled:.0f} s, once")
    return [*lines, "; ".join(said)] if said else lines


def _head_words(metric: Metric, ranked: Sequence[Mapping[str, Any]]) -> str:
    said = f"{metric.name or 'score'}"
    said += ", lower is better" if metric.lower_is_better else " in per cent"
    if any((one.get("metrics") or {}).get("auc") is not None for one in ranked):
        return f"{said}; AUC and accuracy on the test part"
    return said


def _amounts(ranked: Sequence[Mapping[str, Any]], unit: str) -> list[str]:
    """A line for each contender that learned from less than others did."""
    amounts = {one["name"]: one["learned"] for one in ranked if one.get("learned") is not None}
    whole = max(amounts.values(), default=0)
    return [
        f"{name}: learned from {n:,} of {whole:,} {unit}"
        for name, n in amounts.items()
        if n < whole
    ]


def _score(metric: Metric, value: float | None) -> str:
    if value is None:
        return number(None)
    return bare(value, 4) if metric.lower_is_better else metric.text(value)


def _took(value: float | None) -> str:
    return "" if value is None else seconds(value, 1)
