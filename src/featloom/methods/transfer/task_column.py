"""The task of each row: given beside the data, or as one of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from featloom.data.frames import table_from_frame
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.words import first_few, meant


def split_task_column(X: Any, tasks: Any) -> tuple[Any, np.ndarray]:
    """The data without the column that ``tasks`` names, and the task of each row.

    >>> table = NominalTable.from_columns({"verb": ["add", "ask"], "object": ["money", "me"]})
    >>> rest, tasks = split_task_column(table, "verb")
    >>> rest.columns, tasks.tolist()
    (('object',), ['add', 'ask'])
    """
    if not isinstance(tasks, str):
        names = np.asarray(tasks)
        if names.ndim != 1:
            raise InputError(f"tasks have shape {names.shape}; one name a row is expected")
        return X, names
    if not isinstance(X, NominalTable):
        if not hasattr(X, "columns"):
            raise InputError(f"X has no named columns, and so none that is called {tasks!r}")
        X = table_from_frame(X)
    if tasks not in X.columns:
        raise InputError(
            f"no column is called {tasks!r}; there are {first_few(X.columns)}"
            f"{meant(tasks, X.columns)}"
        )
    place = X.columns.index(tasks)
    codes = X.codes[:, place]
    if (codes == 0).any():
        raise InputError(f"row {int(np.argmax(codes == 0))} has no {tasks}")
    names = np.array(X.vocabularies[place], dtype=object)[codes - 1]
    return _without(X, place), names


def _without(table: NominalTable, place: int) -> NominalTable:
    from dataclasses import replace

    kept = [j for j in range(len(table.columns)) if j != place]
    return replace(
        table,
        columns=tuple(table.columns[j] for j in kept),
        codes=table.codes[:, kept],
        vocabularies=tuple(table.vocabularies[j] for j in kept),
    )
