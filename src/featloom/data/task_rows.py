"""Rows of many small tasks: that of each row is given beside them, or is one of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from featloom.data.frames import table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import UNKNOWN, NominalTable
from featloom.errors import InputError, ReadError
from featloom.words import first_few, meant, no_such


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
    missing = X.codes[:, X.column_index(tasks)] == UNKNOWN
    if missing.any():
        raise InputError(f"row {int(np.argmax(missing))} has no {tasks}")
    return X.without(tasks), X.values(tasks)


def rows_of_tasks(table: NominalTable | FeatureMatrix, task: str | None) -> FeatureMatrix:
    """Rows of a table, one of whose columns tells the task, unless it is known already."""
    if table.tasks is not None:
        return FeatureMatrix.from_table(table) if isinstance(table, NominalTable) else table
    if task is None:
        raise InputError("the task of a row is not known; name the column that tells it by --task")
    file = table.source
    if not isinstance(table, NominalTable):
        raise ReadError("a sparse matrix without a column that tells the task", file=file)
    if task == table.target:
        raise InputError(f"--task and --target are both {task!r}; they are two columns")
    if task not in table.columns:
        raise ReadError(no_such("column", task, table.columns), file=file)
    missing = table.codes[:, table.columns.index(task)] == UNKNOWN
    if missing.any():
        raise ReadError(f"row {int(missing.argmax()) + 1} has no {task}", file=file)
    rest, tasks = split_task_column(table, task)
    return FeatureMatrix.from_table(rest).with_tasks(tasks, task)
