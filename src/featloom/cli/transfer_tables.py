"""The tables of ``featloom reproduce transfer``: methods on many tasks, and curves of few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featloom.words import p_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PROTOCOLS = {"folds": "folds by sense", "documents": "folds by document"}
_WORLDS = {
    "small": "every task has so many training rows",
    "cold": "this task has so many training rows, the others have all of theirs",
}


def show_transfer(console: Console, result: dict) -> None:
    """Table 1 of the paper with our figures, learning curves, and what they say."""
    for warning in result["data"]["warnings"]:
        console.print(warning, markup=False, highlight=False)
    for name, part in result["transfer"]["parts"].items():
        title = (
            f"{name}: {part['tasks']} tasks, {part['rows']:,} rows, {part['features']:,} features"
        )
        console.print(title, style="italic", markup=False, highlight=False)
        for protocol, words in _PROTOCOLS.items():
            rows = [row for row in part.get("methods", []) if row["protocol"] == protocol]
            if rows:
                console.print(words, style="italic", markup=False, highlight=False)
                console.print(_methods_table(rows))
        for world, words in _WORLDS.items():
            points = [point for point in part.get("curve", []) if point["world"] == world]
            if points:
                console.print(words, style="italic", markup=False, highlight=False)
                console.print(_curve_table(points))
        for words in part["findings"]:
            console.print(words, "\n", sep="", markup=False, highlight=False)
    _explain(console, result)


def _methods_table(rows: list[dict]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", no_wrap=True)
    for name in ("right", "gain", "t", "p", "features", "s", "paper"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        tested = row.get("against")
        table.add_row(
            row["name"],
            f"{100 * row['value']:.2f}",
            f"{100 * row['gain']:+.2f}" if tested else "",
            f"{row['t']:.1f}" if tested else "",
            p_value(row["p"]) if tested else "",
            f"{row['features']:,.0f}",
            f"{row['seconds']:.1f}",
            "" if row["published"] is None else f"{row['published']:.2f}",
        )
    return table


def _curve_table(points: list[dict]) -> Table:
    from rich import box
    from rich.table import Table

    sizes = list(dict.fromkeys(point["rows"] for point in points))
    value = {(point["method"], point["rows"]): point["value"] for point in points}
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("rows a task", no_wrap=True)
    for size in sizes:
        table.add_column("all" if size is None else f"{size:,}", justify="right", no_wrap=True)
    for method in dict.fromkeys(point["method"] for point in points):
        table.add_row(method, *(f"{100 * value[method, size]:.2f}" for size in sizes))
    return table


def _explain(console: Console, result: dict) -> None:
    asked = result["parameters"]
    words = ["right: per cent of the test rows of all tasks."]
    if "table" in asked["parts"]:
        words.append(
            f"Table 1 of the paper in {asked['n_folds']} folds.  gain, and t and p over tasks"
            " (paired t test): of the linear SVM with a prior, learned or shuffled, or with shared"
            " structure against the linear SVM; of MDL selection with the prior against the flat"
            " cost; of all others against MDL selection.  features of a task, seconds of a fold."
            "  The prior is learned from the training rows of the other tasks; shuffles of it:"
            f" {asked['seeds']}.  paper: 172 verbs of OntoNotes, TransFeat in its three settings,"
            " the others in the first; settings decide what senses are clustered by, which only"
            " TransFeat does.  In brackets: mean difference over tasks."
        )
    if set(asked["parts"]) & {"curve", "letters"}:
        words.append(
            f"Curves: draws of rows: {asked['seeds']}; differences are means over tasks, * p below"
            " 0.05 (paired t test)."
        )
    console.print("  ".join(words), markup=False, highlight=False)
