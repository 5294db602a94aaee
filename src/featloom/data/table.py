"""A table of symbols: one integer code a column and row, and a vocabulary a column.

Code 0 of every column means "unknown": a value that was missing, or that was not seen when the
vocabulary was made.  Values are numbered from 1 in order of first appearance, classes from 0 in
order of first appearance.  A label of -1 means that the row has none.

Beside the columns a table carries structure where there is any: sequence bounds, heads of
dependency trees, groups (documents) and tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from featloom.data.class_types import class_values, type_of_both, value_of
from featloom.data.vocabulary import Vocabulary, codes_in, encode, spelled_as
from featloom.errors import InputError
from featloom.words import no_such

UNKNOWN = 0
# What a row may have beside its columns, and the names of that.
_NAMED = (("labels", "classes"), ("groups", "group_names"), ("tasks", "task_names"))


class LabelledRows(ABC):
    """What rows have beside their columns, in a table and in a matrix: classes, groups, tasks."""

    labels: np.ndarray | None
    classes: tuple[str, ...]
    class_type: str
    groups: np.ndarray | None
    tasks: np.ndarray | None
    task_names: tuple[str, ...]
    source: str

    target: str
    group_names: tuple[str, ...]

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def beside_columns(self) -> dict[str, Any]:
        """All of that, for another table or matrix of the same rows."""
        return {name: getattr(self, name) for name in LabelledRows.__annotations__}

    @property
    def label_codes(self) -> np.ndarray:
        """The labels, of data that must have them; -1 where a row has none."""
        if self.labels is None:
            raise InputError("there are no labels")
        return self.labels

    @property
    def known_labels(self) -> np.ndarray:
        """The labels, of data to learn from: those that lack one are refused."""
        labels = self.label_codes
        if (labels < 0).any():
            raise InputError(f"row {int(np.argmax(labels < 0))} has no label")
        return labels.astype(np.int64)

    @property
    def label_names(self) -> np.ndarray:
        """The class of each row by name; None where a row has none."""
        return np.array([*self.classes, None], dtype=object)[self.label_codes]

    @property
    def class_values(self) -> np.ndarray:
        """The classes as they are predicted, in the places of their names."""
        return class_values(self.classes, self.class_type)

    def row_classes(self, class_type: str | None = None) -> np.ndarray:
        """The class of each row as it is predicted; None where it has none.

        Parameters
        ----------
        class_type : of what the classes are compared with; None: the table's own.

        Examples
        --------
        >>> table = NominalTable.from_columns(
        ...     {"x": ["a", "b"]}, labels=["1", "0"], class_type="int")
        >>> table.row_classes(), table.row_classes("str")
        (array([1, 0]), array(['1', '0'], dtype=object))
        """
        labels = self.label_codes
        if class_type in (None, self.class_type):
            values = self.class_values
        else:
            values = np.array([value_of(name, str(class_type)) for name in self.classes], object)
        if (labels >= 0).all():
            return values[labels]
        return np.array([*values.tolist(), None], dtype=object)[labels]

    @property
    def n_groups(self) -> int | None:
        """How many groups there are; None where there are none."""
        return None if self.groups is None else len(np.unique(self.groups))

    @property
    def units(self) -> np.ndarray:
        """What is drawn as a whole, where something is said of new data: groups, else rows."""
        return np.arange(len(self)) if self.groups is None else self.groups

    @property
    def task_codes(self) -> np.ndarray:
        """The tasks, of data that must have them."""
        if self.tasks is None:
            raise InputError("the data have no tasks")
        return self.tasks

    @property
    def task_of_row(self) -> np.ndarray:
        """The task of each row by name."""
        return np.array(self.task_names, dtype=object)[self.task_codes]


@dataclass(frozen=True, eq=False)
class NominalTable(LabelledRows):
    """Symbolic columns as integer codes.

    Parameters
    ----------
    columns : names of the columns, all different.
    codes : int32 array of shape (rows, columns), each column contiguous in memory.
    vocabularies : for each column its values; that of code ``c`` is ``vocabularies[j][c - 1]``.
    labels : int32 class codes, -1 where a row has no label; or None.
    classes : names of the classes.
    class_type : "str", "int", "float" or "bool": what classes are predicted as.
    target : name of the column that the labels came from.
    sequence_bounds : int64 offsets of the sequences, one more than there are; or None.
    heads : int32, for each row the position of its head in the sequence (0 = root); or None.
    groups, tasks : int32 codes into ``group_names`` and ``task_names``; or None.

    Examples
    --------
    >>> table = NominalTable.from_columns(
    ...     {"letter": ["c", "c", "k"], "next": ["a", "e", "a"]}, labels=["K", "S", "K"])
    >>> table.codes.tolist()
    [[1, 1], [1, 2], [2, 1]]
    >>> table.classes
    ('K', 'S')
    >>> table.value("next", 1)
    'e'
    """

    columns: tuple[str, ...]
    codes: np.ndarray
    vocabularies: tuple[tuple[str, ...], ...]
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    target: str = ""
    sequence_bounds: np.ndarray | None = None
    heads: np.ndarray | None = None
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    tasks: np.ndarray | None = None
    task_names: tuple[str, ...] = ()
    source: str = field(default="", compare=False)
    class_type: str = "str"

    def __post_init__(self):
        check_names(self.columns)
        if self.codes.shape[1:] != (len(self.columns),):
            raise InputError(
                f"codes have shape {self.codes.shape}, {len(self.columns)} columns named"
            )
        for what in ("labels", "groups", "tasks", "heads"):
            values = getattr(self, what)
            if values is not None and len(values) != len(self):
                raise InputError(f"{len(values)} {what} for {len(self)} rows")
        bounds = self.sequence_bounds
        if bounds is not None and (len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(self)):
            raise InputError(f"sequence bounds do not cut {len(self)} rows into sequences")

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence[str | None]],
        *,
        labels: Sequence[str | None] | None = None,
        groups: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        **structure: Any,
    ) -> NominalTable:
        """Encode columns of strings; None is a missing value (code 0) or a missing label (-1)."""
        names = tuple(columns)
        encoded = [encode(values) for values in columns.values()]
        lengths = {len(codes) for codes, _ in encoded}
        if len(lengths) > 1:
            raise InputError(f"columns differ in length: {sorted(lengths)}")
        n_rows = lengths.pop() if lengths else 0
        codes = np.empty((n_rows, len(names)), dtype=np.int32, order="F")
        for j, (column_codes, _) in enumerate(encoded):
            codes[:, j] = column_codes
        for (what, named), given in zip(_NAMED, (labels, groups, tasks), strict=True):
            if given is not None:
                of_rows, structure[named] = encode(given)
                structure[what] = of_rows - np.int32(1)
        return cls(names, codes, tuple(vocabulary for _, vocabulary in encoded), **structure)

    def __len__(self) -> int:
        return self.codes.shape[0]

    @property
    def kept_together(self) -> np.ndarray | None:
        """What must not be torn apart where rows are held out: groups, else sentences, if any."""
        bounds = self.sequence_bounds
        if self.groups is not None or bounds is None:
            return self.groups
        return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))

    @property
    def bounds(self) -> np.ndarray:
        """The bounds of the sentences, of data that must have them."""
        if self.sequence_bounds is None:
            raise InputError("the data have no sentences")
        return self.sequence_bounds

    @property
    def tree_heads(self) -> np.ndarray:
        """The heads of the tokens, of data that must have them."""
        if self.heads is None:
            raise InputError("the sentences have no heads")
        return self.heads

    def column_index(self, name: str) -> int:
        """Position of a column; an unknown name is an error that lists the columns there are."""
        try:
            return self.columns.index(name)
        except ValueError:
            raise InputError(no_such("column", name, self.columns)) from None

    def value(self, column: str, row: int) -> str | None:
        """The symbol at one place; None where it is unknown."""
        j = self.column_index(column)
        code = self.codes[row, j]
        return None if code == UNKNOWN else self.vocabularies[j][code - 1]

    def values(self, column: str, unknown: str | None = None) -> np.ndarray:
        """The symbols of a column, row by row."""
        j = self.column_index(column)
        return np.array([unknown, *self.vocabularies[j]], dtype=object)[self.codes[:, j]]

    def take(self, rows: np.ndarray) -> NominalTable:
        """The given rows, with the same vocabularies; sequences and heads are left behind."""
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name, _ in _NAMED
        }
        codes = np.asfortranarray(self.codes[rows])
        return replace(self, codes=codes, sequence_bounds=None, heads=None, **parts)

    def select(self, columns: Sequence[str]) -> NominalTable:
        """The rows with some of the columns, in the order given."""
        places = [self.column_index(name) for name in columns]
        return replace(
            self, columns=tuple(columns), codes=np.asfortranarray(self.codes[:, places]),
            vocabularies=tuple(self.vocabularies[j] for j in places),
        )  # fmt: skip

    def without(self, column: str) -> NominalTable:
        """The rows without a column."""
        return self.select([name for name in self.columns if name != column])

    def recode(self, other: NominalTable) -> NominalTable:
        """``other`` in this table's vocabularies: what was not seen becomes unknown.

        So it is with labels, where this table has any; else the other's stay.
        """
        codes = np.zeros((len(other), len(self.columns)), dtype=np.int32, order="F")
        for j, name in enumerate(self.columns):
            k = other.column_index(name)
            if other.vocabularies[k] is self.vocabularies[j]:  # rows of one table
                codes[:, j] = other.codes[:, k]
                continue
            known = Vocabulary(self.vocabularies[j])
            codes[:, j] = codes_in(known, other.vocabularies[k])[other.codes[:, k]]
        rows = replace(other, columns=self.columns, codes=codes, vocabularies=self.vocabularies)
        if self.labels is None:
            return rows
        labels = other.labels
        if labels is not None and other.classes is not self.classes:
            # The last place serves a row without a class, whose label is -1.
            labels = np.append(Vocabulary(self.classes).find(other.classes), np.int32(-1))[labels]
        return replace(rows, labels=labels, classes=self.classes, class_type=self.class_type)


def check_names(names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) != len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"column {twice!r} appears twice; columns need names of their own")


def spelled_like(
    table: NominalTable, columns: Sequence[str], vocabularies: Sequence[Sequence[str]]
) -> NominalTable:
    """A table with its numbers and truth values written as in known columns.

    >>> table = NominalTable.from_columns({"age": ["7", "8"]})
    >>> spelled_like(table, ["age"], [["8.0", "7.50"]]).vocabularies
    (('7', '8.0'),)
    """
    known = dict(zip(columns, vocabularies, strict=False))
    spelled = tuple(
        values if known.get(name, values) is values else spelled_as(values, known[name])
        for name, values in zip(table.columns, table.vocabularies, strict=True)
    )
    return replace(table, vocabularies=spelled)


def joined(first: NominalTable, second: NominalTable) -> NominalTable:
    """The rows of both, in one numbering of values, classes and groups.

    Structure that one of them lacks is left behind.

    >>> a = NominalTable.from_columns({"letter": ["c", "k"]}, labels=["S", "K"])
    >>> b = NominalTable.from_columns({"letter": ["s", "c"]}, labels=["S", "C"])
    >>> both = joined(a, b)
    >>> both.codes.ravel().tolist(), both.vocabularies, both.labels.tolist(), both.classes
    ([1, 2, 3, 1], (('c', 'k', 's'),), [0, 1, 0, 2], ('S', 'K', 'C'))
    """
    codes = np.zeros((len(first) + len(second), len(first.columns)), dtype=np.int32, order="F")
    codes[: len(first)] = first.codes
    vocabularies = []
    for j, name in enumerate(first.columns):
        k = second.column_index(name)
        values = Vocabulary(first.vocabularies[j])
        both = codes_in(values, second.vocabularies[k], grow=True)
        codes[len(first) :, j] = both[second.codes[:, k]]
        vocabularies.append(values.names)
    fields: dict[str, Any] = {}
    for what, names in _NAMED:
        mine, other = getattr(first, what), getattr(second, what)
        fields[what] = None
        if mine is not None and other is not None:
            known = Vocabulary(getattr(first, names))
            theirs = np.append(known.add(getattr(second, names)), np.int32(-1))[other]
            fields |= {what: np.concatenate([mine, theirs]), names: known.names}
    fields |= {"heads": None, "sequence_bounds": None}
    fields["class_type"] = type_of_both(first.class_type, second.class_type)
    if first.heads is not None and second.heads is not None:
        fields["heads"] = np.concatenate([first.heads, second.heads])
    mine, other = first.sequence_bounds, second.sequence_bounds
    if mine is not None and other is not None:
        fields["sequence_bounds"] = np.concatenate([mine, other[1:] + len(first)])
    return replace(first, codes=codes, vocabularies=tuple(vocabularies), **fields)
