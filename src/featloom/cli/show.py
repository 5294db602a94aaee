"""What commands print of a result: the leaderboard, the chosen model, what was found, the verdict.

The same for every command; a section shows the first rows of its table where it says so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from featloom.report.comparison import COMPARED, LEAST_COMPILED, class_name, gathered, why_stopped
from featloom.report.grids import shown_facts, shown_grid
from featloom.report.metric import Metric
from featloom.results import Confusion, Facts, Grid, Section, Words
from featloom.shown import TableColumn, table_for, terminal
from featloom.words import bare, number, p_value, percent, seconds, shortened

MOST_MATRIX = 5
NOT_ASKED = "not asked"


def show_result(
    result: Mapping[str, Any], page: Path | None, files: Mapping[str, Path] | None = None
) -> None:
    """Print a result.

    Parameters
    ----------
    page : its report.
    files : what else was written, by what it is; those that are not there are left out.
    """
    console = terminal()
    console.say(result["protocol"])
    show_leaderboard(console, result)
    if result.get("chosen_why"):
        console.say(f"chosen: {result['chosen']}, {result['chosen_why']}")
    show_chosen(console, result)
    for section in msgspec.convert(result.get("sections") or [], list[Section]):
        show_section(console, section)
    console.say(result["verdict"])
    if result["kind"] != "discover":
        for note in result["data"].get("warnings", ()):
            console.say(f"note: {note}")
    for words in time_words(result):
        console.say(words)
    for what, path in (files or {}).items():
        if path.exists():
            console.say(f"{what}: {path}")
    if page is not None:
        console.say(f"report: {page}")


def show_section(console: Any, section: Section, whole: bool = False) -> None:
    """The first rows of the first table of a section, as many as it says, its facts and words.

    Parameters
    ----------
    whole : whether all tables, rows and columns are printed, whatever it says; default False.
    """
    if not (section.brief or whole):
        return
    if not any(isinstance(block, Grid | Facts | Words) for block in section.blocks):
        return
    console.say(section.title or section.name)
    if whole and section.note:
        console.say(section.note)
    left = sys.maxsize if whole else 1
    for block in section.blocks:
        if isinstance(block, Words):
            console.say(block.text)
        elif isinstance(block, Facts):
            console.say(", ".join(f"{label} {value}" for label, value in shown_facts(block)))
        elif isinstance(block, Grid) and left and (drawn := shown_grid(block)):
            left -= 1
            if whole and drawn["title"] not in ("", section.title):
                console.say(drawn["title"])
            show_grid(console, drawn, None if whole else section.brief)


def show_grid(console: Any, drawn: Mapping[str, Any], most: int | None) -> None:
    """The first rows of a table; of all rows if ``most`` is None, and then with all columns too.

    The last columns go first where there is no room.
    """
    heads = drawn["columns"]
    columns = [
        TableColumn(head["label"], head["number"], goes=0 if most is None else max(j - 1, 0))
        for j, head in enumerate(heads)
    ]
    rows = [[cell["text"] for cell in row["cells"]] for row in drawn["rows"][:most]]
    console.print(table_for(console.width, columns, rows))
    if (left := drawn["total"] - len(rows)) > 0:
        console.say(f"and {left:,} more")


def show_leaderboard(console: Any, result: Mapping[str, Any]) -> None:
    """The table of what was compared, with its metric, and a line for what was not."""
    metric = metric_of(result)
    board = result["leaderboard"]
    ranked = [one for one in board if is_ranked(one)]
    if ranked:
        console.say(_head_words(metric, ranked))
        columns, rows = leaderboard_rows(ranked, metric, result.get("folds_of"))
        console.print(table_for(console.width, columns, rows))
        if any(one.get("role") == "control" for one in ranked):
            console.say("*: a control, which lacks nothing but what the method knows")
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
    ...     [{"name": "induction", "value": 0.28125, "interval": [0.275, 0.2875], "n_folds": 5,
    ...       "size_words": "12 features", "fit_s": 1.5, "chosen": True}], Metric("log-loss", True))
    >>> [column.head for column in columns]
    ['contender', 'folds', '±', 'test', 'size', 'fit']
    >>> rows
    [['induction ←', '.2812', '.0062', '–', '12 features', '1.5 s']]
    """
    by_folds = any(one.get("n_folds") or one.get("folds") for one in ranked)
    more = list(dict.fromkeys(name for one in ranked for name in one.get("more") or {}))
    columns = [TableColumn("contender", is_number=False)]
    columns += [TableColumn("folds" if by_folds or not ranked else "validation")]
    columns += [TableColumn("±", goes=5), TableColumn("test"), TableColumn("±", goes=5)]
    columns += [TableColumn("AUC", goes=2), TableColumn("accuracy", goes=3)]
    columns += [TableColumn("size", goes=4), TableColumn("fit", goes=6)]
    columns += [TableColumn(name, goes=7 + j) for j, name in enumerate(more)]
    only_test = all(one.get("value") is None for one in ranked)
    rows = []
    for one in ranked:
        others = one.get("metrics") or {}
        accuracy = None if metric.name == "accuracy" else others.get("accuracy")
        of = one.get("folds_of") or n_folds
        partly = of and (one.get("n_folds") or of) < of
        rows.append(
            [
                one["name"]
                + (f" ({one['n_folds']} of {of} folds)" if partly else "")
                + (" *" if one.get("role") == "control" else "")
                + (" ←" if one.get("chosen") else ""),
                _score(metric, one.get("value")),
                _score(metric, _half(one.get("interval"))),
                _score(metric, one.get("test")),
                _score(metric, _half(one.get("test_interval")) if only_test else None),
                "" if others.get("auc") is None else bare(others["auc"]),
                "" if accuracy is None else percent(accuracy),
                one.get("size_words") or ("" if one.get("size") is None else number(one["size"])),
                _took(one.get("fit_s")),
                *(_plain(name, (one.get("more") or {}).get(name)) for name in more),
            ]
        )
    needed = {0, 1, 2, 3} if by_folds else {0, 3}
    filled = [
        j
        for j in range(len(columns))
        if j in needed or any(row[j] not in ("", number(None)) for row in rows)
    ]
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
        after = f" after {seconds(spent)}" if (spent := budget.get("spent")) is not None else ""
        lines.append(f"stopped{after}: {why}")
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


def _half(interval: Sequence[float | None] | None) -> float | None:
    """Half the width of an interval."""
    low, high = interval or (None, None)
    return None if low is None or high is None else (high - low) / 2


def _plain(name: str, value: Any) -> str:
    if name == "p":
        return p_value(value)
    if name.endswith(" %") and value is not None:
        return number(100 * value, 2)
    if not isinstance(value, float) or value.is_integer():
        return "" if value is None else str(value) if isinstance(value, str) else f"{value:,.0f}"
    return f"{value:,.3g}"


def _took(value: float | None) -> str:
    return "" if value is None else seconds(value, 1)
