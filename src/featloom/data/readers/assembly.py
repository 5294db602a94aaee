"""From rows of cells to a table: which columns are which, what is missing, and codes.

Cells become codes at once, part by part, so text is never held whole.  Each column keeps a growing
vocabulary, in which values are numbered from 1 in order of first appearance; cells that mean
"missing" have the code 0.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from featloom.data.class_types import type_of_texts
from featloom.data.readers.bad_rows import BadRows, warn_caller
from featloom.data.readers.labels import check_classes
from featloom.data.readers.separated import Batch
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError, ReadError
from featloom.words import first_few, no_such

MISSING = ("", "NA", "NaN", "nan")


class GrowingColumn:
    """A column whose cells come in parts.

    Parameters
    ----------
    missing : the cells that mean "missing".

    Examples
    --------
    >>> column = GrowingColumn(missing=[""])
    >>> column.extend(["b", "a", ""])
    >>> column.extend(["c", "b"])
    >>> column.numbers(), column.vocabulary.names
    (array([ 0,  1, -1,  2,  0], dtype=int32), ('b', 'a', 'c'))
    """

    def __init__(self, missing: Collection[str] = ()):
        self.vocabulary = Vocabulary(missing=missing)
        self._parts: list[np.ndarray] = []

    def extend(self, cells: Sequence[str]) -> None:
        """Add the cells of the next rows."""
        self._parts.append(self.vocabulary.add(cells))

    def numbers(self) -> np.ndarray:
        """The numbers of all rows so far, which are then forgotten; -1 where one is missing."""
        numbers = np.concatenate([np.empty(0, dtype=np.int32), *self._parts])
        self._parts.clear()
        return numbers


class GrowingTable:
    """A table whose rows come in parts.

    Parameters
    ----------
    columns : names of the columns.
    target, groups : names of the columns with labels and groups, which come last; or None.
    missing : the cells that mean "missing".

    Examples
    --------
    >>> growing = GrowingTable(["letter"], target="sound")
    >>> growing.extend([["c", "k"], ["K", "K"]])
    >>> growing.extend([["c"], ["S"]])
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
        self.names, self.target, self.groups = tuple(columns), target, groups
        self._columns = [GrowingColumn(missing) for _ in columns]
        self._labels, self._groups = GrowingColumn(missing), GrowingColumn()
        self._all = [*self._columns, *[self._labels] * (target is not None),
                     *[self._groups] * (groups is not None)]  # fmt: skip
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    def extend(self, columns: Sequence[Sequence[str]]) -> None:
        """Add rows: for each column its cells."""
        for column, cells in zip(self._all, columns, strict=True):
            column.extend(cells)
        self._n_rows += len(columns[0])

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
        for j, column in enumerate(self._columns):
            np.add(column.numbers(), 1, out=codes[:, j])
        vocabularies = tuple(column.vocabulary.names for column in self._columns)
        if self.target is not None:
            labels, classes = self._labels.numbers(), self._labels.vocabulary.names
            if require_labels:
                n_labelled = None if of_sentences else int(np.count_nonzero(labels >= 0))
                check_classes(classes, n_labelled, file=file, target=self.target)
            structure.update(labels=labels, classes=classes, target=self.target)
            if not of_sentences:
                structure["class_type"] = type_of_texts(classes)
        if not of_sentences:
            warn_of_constant_columns(file, self.names, codes, vocabularies)
        if self.groups is not None and keep_groups:
            structure |= {
                "groups": self._groups.numbers(), "group_names": self._groups.vocabulary.names
            }  # fmt: skip
        return NominalTable(self.names, codes, vocabularies, source=file, **structure)


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


def assemble(
    batches: Iterator[Batch],
    names: Sequence[str],
    *,
    file: str,
    target: str | int | None,
    columns: Sequence[str] | None,
    groups: str | int | None,
    missing: Collection[str],
    bad_rows: BadRows,
    require_labels: bool,
    keep_unlabelled: bool = False,
) -> NominalTable:
    """A table from batches of rows whose columns have the given names."""
    layout = Layout(names, target, columns, groups, file, require_labels)
    growing = GrowingTable(
        [names[j] for j in layout.features],
        target=None if layout.target is None else names[layout.target],
        groups=None if layout.groups is None else names[layout.groups],
        missing=missing,
    )
    needed = layout.needed(require_labels and not keep_unlabelled)
    missing = frozenset(missing)
    for batch in batches:
        for j, what in needed.items():
            if not missing.isdisjoint(batch.columns[j]):
                batch = _without_missing(batch, j, what, names[j], missing, bad_rows)
        if len(batch):
            growing.extend([batch.columns[j] for j in layout.columns()])
    if not len(growing):
        raise ReadError("no rows" if bad_rows.count == 0 else "no row can be used", file=file)
    return growing.finish(source=file, require_labels=require_labels)


class Layout:
    """Which columns of a file are features, which one the target, which one the groups."""

    def __init__(
        self,
        names: Sequence[str],
        target: str | int | None,
        columns: Sequence[str] | None,
        groups: str | int | None,
        file: str,
        require_labels: bool,
    ):
        if not require_labels and isinstance(target, str) and target not in names:
            target = None
        self.target = None if target is None else position(names, target, file)
        self.groups = None if groups is None else position(names, groups, file)
        if self.target is not None and self.target == self.groups:
            raise InputError(f"column {names[self.target]!r} cannot be both target and groups")
        taken = {self.target, self.groups}
        wanted = (
            range(len(names)) if columns is None else [position(names, c, file) for c in columns]
        )
        self.features = [j for j in wanted if j not in taken]
        if not self.features:
            raise ReadError("no columns beside the target", file=file)

    def needed(self, require_labels: bool) -> dict[int, str]:
        """The columns in which no cell may be missing, and what each of them holds."""
        needed = {}
        if self.target is not None and require_labels:
            needed[self.target] = "label"
        if self.groups is not None:
            needed[self.groups] = "group"
        return needed

    def columns(self) -> list[int]:
        """All columns that are read, target and groups last."""
        beside = [j for j in (self.target, self.groups) if j is not None]
        return [*self.features, *beside]


def position(names: Sequence[str], wanted: str | int, file: str) -> int:
    """Place of a column given by name or number (negative ones count from the end)."""
    if isinstance(wanted, int):
        if -len(names) <= wanted < len(names):
            return wanted % len(names)
        raise ReadError(f"no column number {wanted}; there are {len(names)} columns", file=file)
    try:
        return list(names).index(wanted)
    except ValueError:
        raise ReadError(no_such("column", wanted, names), file=file) from None


def check_names(names: Sequence[str], *, file: str, line: int | None = None) -> None:
    """Refuse two columns of one name."""
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        if name in seen:
            message = f"column {name!r} appears twice (is the first line a header?)"
            raise ReadError(message, file=file, line=line, column=number)
        seen.add(name)


def _without_missing(
    batch: Batch, column: int, what: str, name: str, missing: frozenset[str], bad_rows: BadRows
) -> Batch:
    kept = []
    for row, cell in enumerate(batch.columns[column]):
        if cell in missing:
            message = f"no {what} in column {name!r}"
            bad_rows.add(message, line=batch.lines[row], column=column + 1)
        else:
            kept.append(row)
    return batch.take(kept)
