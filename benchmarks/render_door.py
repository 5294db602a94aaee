"""What a newcomer gets from ``discover``, and whether it is true, as tables of the benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


def door_tables(rows: list[Row]) -> list[str]:
    """A line for each table that was asked, a table for each budget."""
    lines = [
        "`featloom discover FILE --target COL` on two cores. The test part is a fifth of the rows;",
        "*base* is the log-loss of the class shares there, LightGBM and EBM are as the same run",
        "measured them on the same rows (– where there was no time). *First* is when the first",
        "leaderboard stood; wall and CPU are of the whole command, with what it compiled.",
    ]
    for cold in (False, True):
        for budget in dict.fromkeys(row["budget"] for row in rows if row["cold"] == cold):
            mine = [row for row in rows if row["budget"] == budget and row["cold"] == cold]
            cache = "with an empty cache of kernels" if cold else "kernels compiled before"
            lines += ["", f"Budget {budget}, {cache}:", "", *_door_table(mine, cold)]
    return lines


def _door_table(rows: Sequence[Row], cold: bool) -> list[str]:
    heads = ["table", "first, s", "chosen", "learned from", "log-loss", "base", "LightGBM", "EBM"]
    heads += ["AUC", "calibration error", "wall, s", "CPU, s", *(["compiled, s"] if cold else [])]
    lines = [_line(heads), _line(["---", "---:", "---", *["---:"] * (len(heads) - 3)])]
    for row in rows:
        if "failed" in row:
            lines.append(_line([row["table"], "–", " ".join(row["failed"])]))
            continue
        tests = row["tests"]
        cells = [row["table"], _number(row["first_answer"], 1), row["chosen"]]
        cells += [f"{row['learned']:,}"]
        cells += [_number(value, 3) for value in (row["log_loss"], row["base"])]
        cells += [_number(tests.get(name), 3) for name in ("LightGBM", "EBM")]
        cells += [_number(row["auc"], 3), _number(row["ece"], 3)]
        cells += [_number(row[name], 0) for name in ("wall", "cpu")]
        lines.append(_line([*cells, *([_number(row["compiled"], 0)] if cold else [])]))
    return lines


def door_digest(rows: list[Row]) -> list[str]:
    """What a newcomer gets within a minute, for the first page."""
    mine = [row for row in rows if row["budget"] == "60s" and not row["cold"]]
    heads = ["table", "rows", "chosen", "log-loss", "base", "LightGBM", "EBM", "AUC", "first, s"]
    lines = [
        "What `featloom discover FILE --target COL --budget 60s` gives on tables as people have",
        "them, two cores: log-loss on a fifth of the rows (*base*: the class shares there;",
        "LightGBM and EBM as the same run measured them on the same rows), and when the first",
        "leaderboard stood. Columns of numbers are numbers to LightGBM and EBM, and symbols to all",
        "others:",
        "",
        _line(heads),
        _line(["---", "---:", "---", *["---:"] * (len(heads) - 3)]),
    ]
    for row in mine:
        tests = row["tests"]
        cells = [row["table"], f"{row['rows']:,}", row["chosen"]]
        cells += [_number(value, 3) for value in (row["log_loss"], row["base"])]
        cells += [_number(tests.get(name), 3) for name in ("LightGBM", "EBM")]
        lines.append(_line([*cells, _number(row["auc"], 3), _number(row["first_answer"], 1)]))
    return lines


def yardstick_table(rows: list[Row]) -> list[str]:
    """The yardsticks of runs beside plain lines with pandas, on the same rows."""
    lines = [
        "LightGBM and EBM as runs of a minute printed them, beside five plain lines each with",
        "pandas on the very same rows: with the setting that the run chose, and LightGBM's own",
        "defaults. Log-loss on the test part; – where the run had no time for it.",
        "",
        "| table | yardstick | in the run | plain lines | LightGBM's defaults | setting |",
        "|---|---|---:|---:|---:|---|",
    ]
    for row in rows:
        cells = [row["table"], row["yardstick"]]
        cells += [_number(row.get(name), 4) for name in ("run", "same setting", "default")]
        lines.append(_line([*cells, row["setting"] or row["why"]]))
    return lines


def engine_table(rows: list[Row]) -> list[str]:
    """The chosen contender beside the engine's own default, on the same rows."""
    lines = [
        "`discover` beside the default of the engine that is for such data: the same rows to learn",
        "from, the same test part; p by a paired bootstrap, for rows also by McNemar's test.",
        "",
        "| data | budget | chosen | per cent right | engine | difference, 95 % | p | McNemar |",
        "|---|---|---|---:|---:|---|---:|---:|",
    ]
    for row in rows:
        low, high = (100 * end for end in row["interval"])
        cells = [row["data"], row["budget"], row["chosen"], f"{100 * row['score']:.2f}"]
        cells += [f"{row['engine']} {100 * row['engine_score']:.2f}"]
        cells += [f"{100 * row['difference']:+.2f} ({low:+.2f} to {high:+.2f})", f"{row['p']:.2g}"]
        cells += [f"{row['mcnemar_p']:.2g}" if "mcnemar_p" in row else "–"]
        lines.append(_line(cells))
    return lines


def verdict_table(rows: list[Row]) -> list[str]:
    """Choices, intervals and claims beside the truth of thousands of other rows."""
    lines = [
        "Draws of 2,000 rows each, judged on the other rows (at most 20,000). *Regret*: points of",
        "accuracy, and hundredths of log-loss, by which the chosen contender is behind the best.",
        "*Hold the truth*: intervals of 95 % of the chosen contender.",
        "",
        "| data | draws | regret, points: mean, worst | log-loss × 100: mean, worst "
        "| test intervals hold the truth | those of cross-validation | gains claimed | false |",
        "|---|---:|---|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        points, losses = row["regret_points"], row["regret_loss"]
        cells = [row["data"], f"{row['draws']}", f"{points[0]:.2f}, {points[1]:.2f}"]
        cells += [f"{losses[0]:.2f}, {losses[1]:.2f}"]
        cells += [f"{held} of {n}" for held, n in (row["test_intervals"], row["fold_intervals"])]
        lines.append(_line([*cells, f"{row['gains']}", f"{row['false_gains']}"]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
