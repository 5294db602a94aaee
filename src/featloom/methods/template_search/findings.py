"""What a template search did, as parts of a result: its templates, its steps, its race of sizes.

A search by screening measures what a template takes off the loss of held-out tokens (nats a
token); the outward procedure what it adds to the F1 on development sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from featloom.learners.tagger import SequenceTagger
from featloom.results import Bars, Block, Column, Facts, Line, Lines, Point, Points, Section, grid
from featloom.words import counted, first_and_more

Row = Mapping[str, Any]

_BRIEF = 40  # templates that a terminal shows


def gain_label(strategy: str) -> str:
    """What the gain of a step is, in words."""
    if strategy == "screened":
        return "taken off the held-out loss (nats a token)"
    return "rise of the development F1"


def template_rows(tagger: SequenceTagger, history: Sequence[Row]) -> list[list[Any]]:
    """The templates of a tagger: how many features each has, and what it brought alone."""
    gains = {
        row["templates"][0]: row["gain"]
        for row in history
        if row["kept"] and row["by"] != "race" and len(row["templates"]) == 1
    }
    of_label, _ = tagger._templates_by_kind()
    sizes = np.diff(tagger._expansion.first).tolist()
    return [
        [str(template), size, gains.get(str(template))]
        for template, size in zip(of_label, sizes, strict=True)
    ]


def templates_section(rows: Sequence[Sequence[Any]], strategy: str) -> Section:
    """The templates in the order in which they were found; ``rows`` are of :func:`template_rows`.

    >>> section = templates_section([["word", 120, 0.5], ["word & pos", 300, None]], "screened")
    >>> section.blocks[0].items[1]
    ('features of templates', 420, 'count')
    """
    label = gain_label(strategy)
    note = "Places are columns, with their distance from the token in brackets."
    if any(row[2] is not None for row in rows):
        note += f" Gain: {label}, when the template was added"
        missing = any(row[2] is None for row in rows)
        note += "; without it: there from the start, or added with others." if missing else "."
    facts = [
        ("templates", len(rows), "count"),
        ("features of templates", sum(row[1] for row in rows), "count"),
    ]
    columns: dict[str, str | Column] = {
        "template": "feature", "features": "count", "gain": Column("gain", "number", label),
    }  # fmt: skip
    return Section(
        "Templates", "The templates", note, [Facts(facts), grid("", columns, rows)], brief=_BRIEF
    )


def search_section(history: Sequence[Row], strategy: str) -> Section:
    """How the templates were found: every decision, its gain, F1 and seconds."""
    steps = list(_steps(history))
    kept = sum(row["kept"] for row, _ in steps)
    note = f"Strategy: {strategy}. {kept:,} of {counted(len(steps), 'step')} were kept."
    label = gain_label(strategy)
    rows = [
        [
            place, first_and_more(row["templates"], 4), "kept" if row["kept"] else "left out",
            row["gain"], row["f1"], spent, _reason(row),
        ]
        for place, (row, spent) in enumerate(steps, start=1)
    ]  # fmt: skip
    columns: dict[str, str | Column] = {
        "step": "count", "template": "text", "decision": "text",
        "gain": Column("gain", "signed", label), "F1 %": "percent", "took": "seconds",
        "reason": "text",
    }  # fmt: skip
    points = [
        Point(template, step, gain, decision)
        for step, template, decision, gain, *_ in rows
        if gain is not None
    ]
    measured = [(row[0], row[4]) for row in rows if row[2] == "kept" and row[4] is not None]
    blocks: list[Block] = [Points(f"Gain: {label}", "step", "gain", points)]
    if len(measured) > 1:
        line = Line("", [step for step, _ in measured], [f1 for _, f1 in measured])
        blocks.append(
            Lines("F1 of the templates kept", "step", "F1", "percent", [line], steps=True)
        )
    so_far = list(accumulate(spent for _, spent in steps))
    line = Line("", [row[0] for row in rows], [*so_far])
    blocks.append(Lines("What the steps took", "step", "so far", "seconds", [line], from_zero=True))
    return Section(
        "Search", "How they were found", note,
        [*blocks, grid("Every step", columns, rows, folded=True)],
    )  # fmt: skip


def race_section(history: Sequence[Row]) -> Section:
    """The sets of templates that raced: how many templates, their F1, and which was taken."""
    race = [row for row in history if row["by"] == "race"]
    rows = [[len(row["templates"]), row["f1"]] for row in race]
    note = (
        "The templates that were found first, and those left after pruning, on sentences held out "
        "for this. Of sets that chance alone may set apart, the smallest is taken."
    )
    taken = [place for place, row in enumerate(race) if row["kept"]]
    sizes = grid("", {"templates": "count", "F1 %": "percent"}, rows, chosen=taken)
    return Section("Sizes", "How many?", note, [sizes] if rows else [])


def stages_section(seconds: Mapping[str, float]) -> Section:
    """Where the time went."""
    bars = Bars("Time of each stage", "took", "seconds", [*seconds], [*seconds.values()])
    return Section("Stages", "Where the time went", blocks=[bars])


def _steps(history: Sequence[Row]) -> Iterator[tuple[Row, float]]:
    """Every decision about templates with its seconds; the race of sizes stands apart.

    >>> row = {"kept": True, "gain": 0.1, "f1": None, "cost": 1, "by": "screen", "seconds": 3.0}
    >>> found = _steps([row | {"templates": ["word"]}, row | {"templates": ["pos"]}])
    >>> [(one["templates"], spent) for one, spent in found]
    [(['word'], 1.5), (['pos'], 1.5)]
    """
    decisions = [row for row in history if row["by"] != "race" and row["templates"]]
    # Decisions that one piece of work stands behind share what it took.
    for (seconds, _), rows in groupby(decisions, key=lambda row: (row["seconds"], row["by"])):
        together = list(rows)
        for row in together:
            yield row, seconds / len(together)


def _reason(row: Row) -> str:
    if row["by"] == "start":
        return "there from the start"
    if row["by"] == "screen":
        return "picked by the screen" if row["kept"] else "gain too small, or within chance"
    if row["by"] == "prune":
        return "left out of one of the sets that raced: the models do as well without"
    if row["gain"] is None:
        return ""
    if row["kept"]:
        return f"F1 rises by {100 * row['gain']:.2f}"
    return f"F1 changes by {100 * row['gain']:+.2f}: too little"
