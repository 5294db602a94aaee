"""Rows of many small tasks: that of each row is given beside them, or is one of their columns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featloom.data.frames import table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import UNKNOWN, NominalTable
from featloom.errors import InputError, ReadError
from featloom.words import first_few, meant, no_such


@dataclass(frozen=True, eq=False)
class TaskRows:
    """Binary rows with their classes, and the task of each.

    Parameters
    ----------
    matrix : the rows.
    tasks : the name of each row's task.
    task_column : name of the column that told it; "" where it had none.
    columns : of the table whose values the features are; none for a bare matrix.

    Examples
    --------
    >>> matrix = FeatureMatrix.from_csr([[1, 0], [0, 1], [1, 1]], names=["dobj_me", "dobj_you"],
    ...                                 labels=np.array([0, 1, 0]), classes=("a", "b"))
    >>> rows = TaskRows(matrix, np.array(["ask", "ask", "tell"]))
    >>> rows.labels.tolist(), rows.n_tasks, rows.take(np.array([2])).tasks.tolist()
    (['a', 'b', 'a'], 2, ['tell'])
    """

    matrix: FeatureMatrix
    tasks: np.ndarray
    task_column: str = ""
    columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def labels(self) -> np.ndarray:
        """The name of each row's class."""
        return np.array(self.matrix.classes, dtype=object)[self.matrix.known_labels].astype(str)

    @property
    def n_tasks(self) -> int:
        return len(np.unique(self.tasks))

    def take(self, rows: np.ndarray) -> TaskRows:
        """The given rows (indices or a mask)."""
        return replace(self, matrix=self.matrix.take(rows), tasks=self.tasks[rows])

    def by_task(self) -> dict[Hashable, tuple[FeatureMatrix, np.ndarray]]:
        """The rows and classes of each task."""
        labels = self.labels
        found: dict[Hashable, tuple[FeatureMatrix, np.ndarray]] = {}
        for task in np.unique(self.tasks).tolist():
            places = np.flatnonzero(self.tasks == task)
            found[task] = (self.matrix.take(places), labels[places])
        return found


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
    return X.without(tasks), names


def rows_of_tasks(table: NominalTable | FeatureMatrix, task: str | None) -> TaskRows:
    """Rows of a table, one of whose columns tells the task."""
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
    return TaskRows(FeatureMatrix.from_table(rest), tasks.astype(str), task, rest.columns)
