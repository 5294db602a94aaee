"""What a target must be before anything can be learned from it: two classes or more, seen again.

A column with one class teaches nothing, and a column in which every row has a class of its own is
a name or a number of the row.  Both are refused with a sentence rather than fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import LabelledRows, NominalTable
from featloom.errors import ReadError
from featloom.words import counted, first_few, no_such

Rows = TypeVar("Rows", NominalTable, FeatureMatrix, NominalTable | FeatureMatrix)


def with_classes(data: Rows) -> tuple[Rows, str]:
    """The rows that have a class, and what to say of those that are left out.

    >>> table = NominalTable.from_columns({"letter": ["c", "k"]}, labels=["S", None])
    >>> rows, said = with_classes(table)
    >>> len(rows), said
    (1, '1 row has no class and is left out')
    """
    if data.labels is None or (known := data.labels >= 0).all():
        return data, ""
    n = int((~known).sum())
    said = counted(n, "row has no class and is", "rows have no class and are")
    return data.take(np.flatnonzero(known)), f"{said} left out"


def no_classes(data: LabelledRows) -> str:
    """What to say of data whose classes nobody named.

    >>> no_classes(NominalTable.from_columns({"letter": ["c"], "sound": ["S"]}))
    'no classes; name the column that holds them by --target: letter, sound'
    """
    said = "no classes; name the column that holds them by --target"
    return f"{said}: {first_few(data.columns)}" if isinstance(data, NominalTable) else said


def check_labelled(data: LabelledRows) -> None:
    """Refuse what was read with a row that has no class."""
    file = data.source or "the data"
    if data.labels is None:
        raise ReadError(no_classes(data), file=file)
    if (data.labels < 0).any():
        raise ReadError(f"row {int(np.argmin(data.labels)) + 1} has no class", file=file)


def without_absent_labels(table: NominalTable) -> NominalTable:
    """Labels that only held-out sentences have are none that a model can learn."""
    there, labels = np.unique(table.label_codes, return_inverse=True)
    classes = tuple(table.classes[j] for j in there)
    if len(classes) < 2:
        raise ReadError(
            f"all training tokens have the label {classes[0]!r}; two labels are needed",
            file=table.source or "the data",
        )
    return replace(table, labels=labels.astype(np.int32), classes=classes, class_type="str")


def check_columns(data: NominalTable, part: NominalTable) -> None:
    """Refuse a part that lacks a column of the data that it goes with."""
    for name in data.columns:
        if name not in part.columns:
            asked = f", which {data.source or 'the other part'} has"
            message = no_such("column", name, part.columns, asked)
            raise ReadError(message, file=part.source or "the data")


def check_classes(
    classes: Sequence[str], n_labelled: int | None, *, file: str, target: str
) -> None:
    """Refuse a target that cannot be learned; ``n_labelled`` None leaves out whether classes
    repeat, since the few tokens of a short text may all differ.

    >>> check_classes(("N", "V"), 20, file="pp.csv", target="class")
    >>> check_classes(("N",), 20, file="pp.csv", target="class")
    Traceback (most recent call last):
        ...
    featloom.errors.ReadError: pp.csv: one class only in column 'class': 'N'; two are needed
    """
    if not classes:
        raise ReadError(f"no labels in column {target!r}", file=file)
    if len(classes) == 1:
        message = f"one class only in column {target!r}: {classes[0]!r}; two are needed"
        raise ReadError(message, file=file)
    # Two rows of two classes are a toy, but one from which a model can be made.
    if len(classes) == n_labelled and len(classes) > 2:
        message = f"every row has a class of its own in column {target!r}; it is not a target"
        if all(_is_number(name) for name in classes):
            message = (
                f"every row has a number of its own in column {target!r}; only classes can be "
                "predicted, and 'featloom discover --bins 4' makes four ranges of it"
            )
        raise ReadError(message, file=file)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
