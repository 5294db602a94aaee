"""A table that is read part by part: cells become codes at once, so text is never held whole.

Each column keeps a growing vocabulary, in which values are numbered from 1 in order of first
appearance; cells that mean "missing" have the code 0.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from featloom.data.class_types import type_of_texts
from featloom.data.readers.bad_rows import warn_caller
from featloom.data.readers.labels import check_classes
from featloom.data.table import NominalTable
from featloom.words import first_few


class GrowingColumn:
    """Codes and vocabulary of a column whose cells come in parts.

    Parameters
    ----------
    missing : the cells that mean "missing".

    Examples
    --------
    >>> column = GrowingColumn(missing=[""])
    >>> column.extend(["b", "a", ""])
    >>> column.extend(["c", "b"])
    >>> column.codes(), column.vocabulary
    (array([1, 2, 0, 3, 1], dtype=int32), ('b', 'a', 'c'))
    """

    def __init__(self, missing: Iterable[str] = ()):
        self._code_of = _Numbering(dict.fromkeys(missing, 0))
        self._code_of.n_missing = len(self._code_of)
        self._parts: list[np.ndarray] = []

    def extend(self, cells: Sequence[str]) -> None:
        """Add the cells of the next rows."""
        codes = map(self._code_of.__getitem__, cells)
        self._parts.append(np.fromiter(codes, np.int32, len(cells)))

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return tuple(self._code_of)[self._code_of.n_missing :]

    def codes(self) -> np.ndarray:
        """The codes of all rows so far."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.int32)


class GrowingTable:
    """A table whose rows come in parts.

    Parameters
    ----------
    columns : names of the columns.
    target, groups : names of the columns with labels and groups; or None.
    missing : the cells that mean "missing".

    Examples
    --------
    >>> growing = GrowingTable(["letter"], target="sound")
    >>> growing.extend([["c", "k"]], labels=["K", "K"])
    >>> growing.extend([["c"]], labels=["S"])
    >>> growing.finish(source="letters.tsv").labels
    array([0, 0, 1], dtype=int32)
    """

    def __init__(
        self,
        columns: Sequence[str],
        *,
        target: str | None = None,
        groups: str | None = None,
        missing: Collection[str] = (),
    ):
        self.names = tuple(columns)
        self.target = target
        self._columns = [GrowingColumn(missing) for _ in columns]
        self._labels = None if target is None else GrowingColumn(missing)
        self._groups = None if groups is None else GrowingColumn()
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    def extend(
        self,
        columns: Sequence[Sequence[str]],
        *,
        labels: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
    ) -> None:
        """Add rows: for each column its cells."""
        for column, cells in zip(self._columns, columns, strict=True):
            column.extend(cells)
        if self._labels is not None and labels is not None:
            self._labels.extend(labels)
        if self._groups is not None and groups is not None:
            self._groups.extend(groups)
        self._n_rows += len(columns[0]) if columns else 0

    def finish(
        self,
        *,
        source: str | os.PathLike[str],
        require_labels: bool = True,
        of_sentences: bool = False,
        keep_groups: bool = True,
        **structure,
    ) -> NominalTable:
        """The table.

        ``require_labels`` refuses a target that cannot be learned from; a table that is not one
        ``of_sentences`` warns of columns that never change; ``keep_groups`` is False where
        groups turned out to mean nothing; ``structure`` goes to the table as it is.
        """
        file = os.fspath(source)
        codes = np.empty((self._n_rows, len(self.names)), dtype=np.int32, order="F")
        vocabularies = []
        for j, column in enumerate(self._columns):
            codes[:, j] = column.codes()
            vocabularies.append(column.vocabulary)
            column._parts.clear()
        if self._labels is not None and self.target is not None:
            labels = self._labels.codes() - np.int32(1)
            classes = self._labels.vocabulary
            if require_labels:
                n_labelled = None if of_sentences else int(np.count_nonzero(labels >= 0))
                check_classes(classes, n_labelled, file=file, target=self.target)
            structure.update(labels=labels, classes=classes, target=self.target)
            if not of_sentences:
                structure["class_type"] = type_of_texts(classes)
        if not of_sentences:
            warn_of_constant_columns(file, self.names, codes, vocabularies)
        if self._groups is not None and keep_groups:
            structure.update(
                groups=self._groups.codes() - np.int32(1), group_names=self._groups.vocabulary
            )
        return NominalTable(self.names, codes, tuple(vocabularies), source=file, **structure)


class _Numbering(dict):
    n_missing = 0

    def __missing__(self, cell: str) -> int:
        self[cell] = code = len(self) - self.n_missing + 1
        return code


def warn_of_constant_columns(
    file: str, names: Sequence[str], codes: np.ndarray, vocabularies: Sequence[Sequence[str]]
) -> None:
    """Name the columns that have the same value, or none, in every row."""
    constant = [
        repr(name)
        for j, (name, vocabulary) in enumerate(zip(names, vocabularies, strict=True))
        if len(vocabulary) < 2 and len(codes) > 1 and (codes[:, j] == codes[0, j]).all()
    ]
    if constant:
        shown = first_few(constant, 10)
        which = f"column {shown} is" if len(constant) == 1 else f"columns {shown} are"
        warn_caller(f"{file}: {which} constant and can tell no classes apart")
