"""What a template search did, as a result shows it: its steps, its race, and its templates.

A search by screening measures what a template takes off the loss of held-out tokens (nats a
token); the outward procedure what it adds to the F1 on development sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from featloom.learners.tagger import SequenceTagger
from featloom.words import first_and_more

Row = Mapping[str, Any]


def gain_label(strategy: str) -> str:
    """What the gain of a step is, in words."""
    if strategy == "screened":
        return "taken off the held-out loss (nats a token)"
    return "rise of the development F1"


def steps(history: Sequence[Row]) -> list[dict[str, Any]]:
    """A row for each decision about templates, in order; the race of sizes stands apart.

    >>> row = {"kept": True, "gain": 0.1, "f1": None, "cost": 1, "by": "screen", "seconds": 3.0}
    >>> found = steps([row | {"templates": ["word"]}, row | {"templates": ["pos"]}])
    >>> [(one["template"], one["cost_s"]) for one in found]
    [('word', 1.5), ('pos', 1.5)]
    """
    found = []
    decisions = [row for row in history if row["by"] != "race" and row["templates"]]
    # Decisions that one piece of work stands behind share what it took.
    for (seconds, _), rows in groupby(decisions, key=lambda row: (row["seconds"], row["by"])):
        together = list(rows)
        for row in together:
            found.append(
                {
                    "template": _names(row["templates"]),
                    "gain": row["gain"],
                    "f1": row["f1"],
                    "cost_s": seconds / len(together),
                    "kept": row["kept"],
                    "reason": _reason(row),
                }
            )
    return found


def race_rows(history: Sequence[Row]) -> list[dict[str, Any]]:
    """The sets of templates that raced: how many templates, their F1, and which was taken."""
    return [
        {"templates": len(row["templates"]), "f1": row["f1"], "kept": row["kept"]}
        for row in history
        if row["by"] == "race"
    ]


def template_rows(tagger: SequenceTagger, history: Sequence[Row]) -> list[dict[str, Any]]:
    """The templates of a tagger: how many features each has, and what it brought alone."""
    gains = {
        row["templates"][0]: row["gain"]
        for row in history
        if row["kept"] and row["by"] != "race" and len(row["templates"]) == 1
    }
    of_label, _ = tagger._templates_by_kind()
    sizes = np.diff(tagger._expansion.first).tolist()
    return [
        {"text": str(template), "features": size, "gain": gains.get(str(template))}
        for template, size in zip(of_label, sizes, strict=True)
    ]


def _names(templates: Sequence[str], most: int = 4) -> str:
    return first_and_more(templates, most)


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
