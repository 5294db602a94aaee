"""Rows of many tasks over one list of features.

Tasks are small data sets of one kind: the occurrences of one verb, the mail of one customer.  What
is learned in one can only be of use in another where a feature has the same number in both, so
features are numbered once, by name.  A bare matrix has the same columns in every task; a
FeatureMatrix or a table brings names of its own, and features that no task has shown before are
added to the list.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.frames import table_from_frame
from featloom.data.matrix import FeatureMatrix, check_binary
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.learners.inputs import checked_target


class SharedFeatures:
    """The list of features that all tasks share.

    Parameters
    ----------
    names : all features that there are; None lets the tasks bring them.

    Examples
    --------
    >>> features = SharedFeatures()
    >>> first = FeatureMatrix.from_csr([[1, 0], [0, 1]], names=["Prev=in", "CAP"])
    >>> second = FeatureMatrix.from_csr([[1, 1]], names=["CAP", "Prev=at"])
    >>> features.read(first).shape, features.read(second).toarray().tolist()
    ((2, 2), [[0.0, 1.0, 1.0]])
    >>> features.names
    ['Prev=in', 'CAP', 'Prev=at']
    """

    def __init__(self, names: Sequence[str] | None = None):
        self.number = Vocabulary()
        self.closed = names is not None
        given = [] if names is None else [str(name) for name in names]
        self.number.add(given)
        if len(self.number) < len(given):
            twice = next(name for name in given if given.count(name) > 1)
            raise InputError(f"feature {twice!r} is named twice")

    @property
    def names(self) -> list[str]:
        return list(self.number)

    def __len__(self) -> int:
        return len(self.number)

    def read(self, X: Any, *, grow: bool = True) -> sparse.csr_matrix:
        """The rows over the shared features; with ``grow=False`` unknown features are left out."""
        if isinstance(X, FeatureMatrix):
            return self._renumbered(X, grow)
        if isinstance(X, NominalTable):
            return self._renumbered(FeatureMatrix.from_table(X), grow)
        if not sparse.issparse(X) and not _is_binary_array(X):
            return self._renumbered(FeatureMatrix.from_table(table_from_frame(X)), grow)
        rows = sparse.csr_matrix(X, dtype=np.float64)
        check_binary(rows)
        if not rows.has_canonical_format or not rows.data.all():
            rows = rows.copy()  # the caller's matrix stays as it is
            rows.sum_duplicates()
            rows.eliminate_zeros()
        if not len(self) and grow:
            self.number.add([f"x{j}" for j in range(rows.shape[1])])
        if rows.shape[1] != len(self):
            raise InputError(f"X has {rows.shape[1]} features, {len(self)} are known")
        return rows

    def _renumbered(self, matrix: FeatureMatrix, grow: bool) -> sparse.csr_matrix:
        names = [str(name) for name in matrix.names]
        numbers = self.number.find(names)
        if grow and (numbers < 0).any():
            if self.closed:
                new = names[int(np.argmin(numbers))]
                raise InputError(f"feature {new!r} is not among the feature names")
            numbers = self.number.add(names)
        rows = matrix.to_csr()
        known = np.flatnonzero(numbers >= 0)
        part = rows[:, known].tocoo()
        shape = (rows.shape[0], len(self))
        return sparse.csr_matrix((part.data, (part.row, numbers[known][part.col])), shape=shape)


@dataclass(frozen=True, eq=False)
class Task:
    """The rows of one task, with the features that occur in them alone.

    Parameters
    ----------
    X : rows × features that occur.
    columns : for each column of X the number of its feature in the shared list, ascending.
    labels, classes : the class of each row.
    """

    X: sparse.csr_matrix
    columns: np.ndarray
    labels: np.ndarray
    classes: np.ndarray

    @property
    def rows_of_features(self) -> np.ndarray:
        """In how many rows each of the features occurs."""
        return np.bincount(self.X.indices, minlength=self.X.shape[1])

    @property
    def targets(self) -> np.ndarray:
        """Zeros and ones, a column a class; two classes are one target, one class is none."""
        n = len(self.classes)
        wanted = np.arange(1 if n == 2 else 0, n if n > 1 else 0)
        return (self.labels[:, None] == wanted).astype(np.float64)

    def take(self, columns: np.ndarray) -> Task:
        """The same rows with some of the features (a mask or places)."""
        return Task(self.X[:, columns], self.columns[columns], self.labels, self.classes)


def read_task(features: SharedFeatures, X: Any, y: Any, name: Hashable = None) -> Task:
    """One task; y None means the classes that X carries."""
    rows = features.read(X)
    if rows.shape[0] == 0:
        raise InputError(f"task {name!r} has no rows")
    data = X if isinstance(X, (FeatureMatrix, NominalTable)) else range(rows.shape[0])
    if y is None and isinstance(data, range):
        raise InputError(f"task {name!r} has no classes")
    try:
        y = checked_target(data, y)  # type: ignore[arg-type]
    except InputError as error:
        raise InputError(f"task {name!r}: {error}") from None
    classes, labels = np.unique(y, return_inverse=True)
    columns = np.unique(rows.indices)
    return Task(rows[:, columns], columns.astype(np.int64), labels, classes)


def read_tasks(
    features: SharedFeatures, tasks: Mapping[Hashable, tuple[Any, Any]]
) -> dict[Hashable, Task]:
    """Tasks given as {name: (X, y)}; a FeatureMatrix or table with classes may stand alone."""
    if not isinstance(tasks, Mapping) or not tasks:
        raise InputError("tasks must be a mapping from names to (X, y), with one task at least")
    read = {}
    for name, pair in tasks.items():
        X, y = pair if isinstance(pair, tuple) else (pair, None)
        read[name] = read_task(features, X, y, name)
    return read


def _is_binary_array(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return False
    return bool(np.isin(X, (0, 1)).all())
