"""What the chosen model is worth on the part held out: its figures, and what it takes for what.

A matrix of very many classes shows the commonest and sums the rest: classes that hardly occur would
make a table that nobody can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report.cells import (
    column,
    number_cell,
    per_cent_cell,
    per_cent_interval_cell,
    row,
    text_cell,
    without_empty_columns,
)
from featloom.report.discover_types import CalibrationBin, ChosenFigures, Confusion, Name
from featloom.shown import visible
from featloom.words import number

MOST_CLASSES = 12


def summarize_chosen(figures: ChosenFigures | None) -> dict[str, Any] | None:
    """What the page places of the chosen model; None where nothing is known of it."""
    if figures is None:
        return None
    found = {
        "facts": chosen_facts(figures),
        "f1": _f1_words(figures),
        "confusion": confusion_table(figures.confusion),
        "calibration": calibration_table(figures.calibration),
        "rows": "" if figures.rows is None else number(figures.rows),
    }
    return found if any(found.values()) else None


def chosen_facts(figures: ChosenFigures) -> list[tuple[str, str]]:
    """Each figure with its label.

    >>> chosen_facts(ChosenFigures(log_loss=0.28125, base_rate_log_loss=0.5522, accuracy=0.869))
    [('log-loss (base rate 0.552)', '0.281'), ('accuracy', '86.9 %')]
    """
    base = figures.base_rate_log_loss
    loss = "log-loss" if base is None else f"log-loss (base rate {number(base, 3)})"
    f1 = figures.f1
    accuracy = None if figures.accuracy is None else f"{number(100 * figures.accuracy, 1)} %"
    share = None if f1 is None or f1.value is None else f"{number(100 * f1.value, 1)} %"
    named = "F1" if f1 is None or f1.positive is None else f"F1 of {class_name(f1.positive)}"
    shown = [
        (loss, _decimal(figures.log_loss)),
        ("AUC", _decimal(figures.auc)),
        ("accuracy", accuracy),
        ("Brier score", _decimal(figures.brier)),
        ("calibration error", _decimal(figures.ece)),
        (named, share),
    ]
    return [(label, value) for label, value in shown if value is not None]


def confusion_table(confusion: Confusion | None) -> dict[str, Any] | None:
    """Counts by true and predicted class, each with its share of the true class.

    >>> table = confusion_table(Confusion(["no", "yes"], [[90, 10], [5, 15]]))
    >>> [[cell["text"] for cell in line["cells"]] for line in table["rows"]]
    [['90', '10'], ['5', '15']]
    >>> table["rows"][1]["cells"][0]["share"], table["rows"][1]["cells"][1]["right"]
    ('25.0%', True)
    """
    if confusion is None or not confusion.classes:
        return None
    shown, other, counts = gathered(confusion)
    labels = [class_name(name) for name in shown]
    labels += [f"the other {number(other)}"] if other else []
    rows = []
    for i, (label, line) in enumerate(zip(labels, counts, strict=True)):
        whole = sum(line)
        cells = []
        for j, count in enumerate(line):
            share = count / whole if whole else 0.0
            # Among the classes that are summed, right and wrong answers cannot be told apart.
            summed = bool(other) and i == j == len(labels) - 1
            cells.append(
                {
                    "text": number(count),
                    "share": f"{share:.1%}" if count else "",
                    "shade": round(100 * share),
                    "right": i == j and not summed,
                    "summed": summed,
                    "said": f"{label} taken for {labels[j]}",
                }
            )
        rows.append({"label": label, "cells": cells, "count": number(whole)})
    note = ""
    if other:
        note = f"The {number(len(shown))} commonest of {number(len(shown) + other)} classes."
    return {"labels": labels, "rows": rows, "note": note}


def gathered(
    confusion: Confusion, most: int = MOST_CLASSES
) -> tuple[list[Name], int, list[list[int]]]:
    """The commonest classes, how many others there are, and the counts with those others summed.

    >>> gathered(Confusion(["a", "b", "c"], [[1, 0, 1], [2, 5, 0], [0, 0, 4]]), most=1)
    (['b'], 2, [[5, 2], [0, 6]])
    """
    size = len(confusion.classes)
    counts = [
        [(line[j] if j < len(line) else None) or 0 for j in range(size)]
        for line in (*confusion.counts, *([[]] * size))
    ][:size]
    order = list(range(size))
    if size > most:
        order.sort(key=lambda i: -sum(counts[i]))
    kept, rest = order[:most], order[most:]

    def summed(line: Sequence[int]) -> list[int]:
        return [line[j] for j in kept] + ([sum(line[j] for j in rest)] if rest else [])

    lines = [summed(counts[i]) for i in kept]
    if rest:
        lines.append(summed([sum(counts[i][j] for i in rest) for j in range(size)]))
    return [confusion.classes[i] for i in kept], len(rest), lines


def calibration_table(bins: Sequence[CalibrationBin]) -> dict[str, Any] | None:
    """A line for each range of probabilities."""
    found = [one for one in bins if one.mean is not None and one.share is not None]
    if not found:
        return None
    columns = [column("predicted %", number=True, note="mean of the predicted probabilities")]
    columns += [column("came true %", number=True), column("interval", number=True)]
    columns += [column("rows", number=True)]
    rows = [
        row(
            per_cent_cell(one.mean, 1),
            per_cent_cell(one.share, 1),
            per_cent_interval_cell((one.low, one.high)),
            number_cell(one.n),
        )
        for one in found
    ]
    return without_empty_columns(columns, rows)


def class_name(name: Name) -> str:
    """A class as it is shown.

    >>> class_name("yes"), class_name(3), class_name("")
    ('yes', '3', '(empty)')
    """
    if isinstance(name, str):
        return visible(name) or "(empty)"
    return text_cell(None)["text"] if name is None else str(name)


def _f1_words(figures: ChosenFigures) -> str:
    """At which threshold F1 was counted, and of what it is made."""
    f1 = figures.f1
    if f1 is None or f1.value is None:
        return ""
    said = f"F1 of {class_name(f1.positive)}: {number(100 * f1.value, 1)} %"
    if f1.threshold is not None:
        said += f" where {class_name(f1.positive)} is answered from a probability of"
        said += f" {number(f1.threshold, 2)} on, tuned in the folds"
    parts = {"precision": f1.precision, "recall": f1.recall}
    shown = [f"{name} {number(100 * v, 1)} %" for name, v in parts.items() if v is not None]
    said += (f" ({', '.join(shown)})" if shown else "") + "."
    if f1.of_predictions is not None:
        said += f" The model's own predictions have {number(100 * f1.of_predictions, 1)} %."
    return said


def _decimal(value: float | None) -> str | None:
    return None if value is None else number(value, 3)
