"""What was tried on disturbed runs, as tables of the page on faults."""

from __future__ import annotations

from collections import Counter

SAME = "same result"
KILLS = ("kill -9 of client and workers", "kill -9 of the client alone")
NOT_YET = "*Not measured yet.*"


def fault_table(rows: list[dict]) -> list[str]:
    """A line a fault: how often it was tried, on which commands, and how the runs ended."""
    if not rows:
        return [NOT_YET]
    lines = ["| fault | tried | on | how the runs ended |", "|---|---:|---|---|"]
    for fault in dict.fromkeys(row["fault"] for row in rows):
        of_fault = [row for row in rows if row["fault"] == fault]
        ended: Counter[str] = Counter()
        for row in of_fault:
            ended.update(row["ended"])
        how = "; ".join(f"{n:,} × {words}" for words, n in ended.most_common())
        on = "; ".join(row["command"] for row in of_fault)
        on = "all" if len(of_fault) == len({row["command"] for row in rows}) else on
        lines.append(f"| {fault} | {sum(ended.values()):,} | {on} | {how} |")
    commands = list(dict.fromkeys(row["command"] for row in rows))
    kills = sum(row["tried"] for row in rows if row["fault"] in KILLS)
    said = f"All: {'; '.join(commands)}. {kills:,} kills of the program at random instants."
    return [said, "", *lines]


def long_lines(rows: list[dict]) -> list[str]:
    """A long run that was killed, beside one that was not."""
    if not rows:
        return [NOT_YET]
    (row,) = rows
    minutes = {name: seconds / 60 for name, seconds in row["took_s"].items()}
    after = ", ".join(f"{seconds / 60:.0f}" for seconds in row["kills_s"])
    how = "the same" if row["ended"] == SAME else f"NOT the same ({row['ended']})"
    return [
        f"`featloom discover` on {row['rows']:,} windows of letters, {row['contenders']} methods,",
        f"one process: {minutes['undisturbed']:.0f} minutes undisturbed. A second beside it was",
        f"killed {len(row['kills_s'])} times (after {after} minutes) and resumed, and ended after",
        f"{minutes['disturbed']:.0f} minutes. Its result is {how}, times apart, and so is its page",
        "(`benchmarks/long_discover.py`).",
    ]


def determinism_table(rows: list[dict]) -> list[str]:
    """A line a command, a column a circumstance."""
    if not rows:
        return [NOT_YET]
    circumstances = list(dict.fromkeys(row["against"] for row in rows))
    ended = {(row["command"], row["against"]): row["ended"] for row in rows}
    lines = [f"| command | {' | '.join(circumstances)} |", "|---" * (1 + len(circumstances)) + "|"]
    for command in dict.fromkeys(row["command"] for row in rows):
        found = (ended.get((command, against), "–") for against in circumstances)
        cells = ["same" if how == SAME else how for how in found]
        lines.append(f"| {command} | {' | '.join(cells)} |")
    return lines


def fuzzing_table(rows: list[dict]) -> list[str]:
    """Executions and crashes of each target, by both ways."""
    if not rows:
        return [NOT_YET]
    lines = ["| target | executions, at random | guided | crashes |", "|---|---:|---:|---|"]
    for target in dict.fromkeys(row["target"] for row in rows):
        n = {row["mode"]: row["executions"] for row in rows if row["target"] == target}
        crashes = [one for row in rows if row["target"] == target for one in row["crashes"]]
        cells = [f"{n[mode]:,}" if mode in n else "–" for mode in ("random", "guided")]
        lines.append(f"| {target} | {' | '.join(cells)} | {', '.join(crashes) or 'none'} |")
    total = sum(row["executions"] for row in rows)
    minutes = sum(row["seconds"] for row in rows) / 60
    return [f"{total:,} executions in {minutes:.0f} minutes, on the code as it is.", "", *lines]
