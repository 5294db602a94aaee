"""Sparse binary rows × features, with names and families.

A feature's family is the template it is a value of: the family of ``PrevWord=in`` is
``PrevWord``.  A family is single-valued when no row holds two of its features (a column of a
table), multi-valued otherwise (the words of a context).  Two values of a single-valued family
never meet, so they are never conjoined.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from scipy import sparse

from featloom.data.table import LabelledRows, NominalTable
from featloom.data.vocabulary import Vocabulary, column_and_value, value_names
from featloom.errors import InputError
from featloom.kernels.rows import families_that_repeat, rows_of_codes


class ValueNames(Sequence[str]):
    """The names of the values of columns, ``column=value``, spelled out when they are asked for.

    A table has a matrix for each part of its rows that something learns from or predicts; few of
    them are asked for any name.

    >>> names = ValueNames(("letter", "next"), (("c", "k"), ("h",)))
    >>> len(names), names[1], names[-1], names[1:]
    (3, 'letter=k', 'next=h', ['letter=k', 'next=h'])
    """

    def __init__(self, columns: Sequence[str], vocabularies: Sequence[Sequence[str]]):
        self.columns, self.vocabularies = columns, vocabularies
        self._starts = np.cumsum([0, *map(len, vocabularies)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[j] for j in range(*place.indices(len(self)))]
        j = operator.index(place)
        j += len(self) if j < 0 else 0
        if not 0 <= j < len(self):
            raise IndexError(f"there are {len(self)} names, none at {place}")
        column = int(np.searchsorted(self._starts, j, side="right")) - 1
        value = self.vocabularies[column][j - self._starts[column]]
        return next(value_names(self.columns[column], [value]))

    def __iter__(self) -> Iterator[str]:
        for column, vocabulary in zip(self.columns, self.vocabularies, strict=True):
            yield from value_names(column, vocabulary)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ValueNames) and other.vocabularies is self.vocabularies:
            return tuple(self.columns) == tuple(other.columns)
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class FeatureMatrix(LabelledRows):
    """Binary features of rows.

    Parameters
    ----------
    indptr, indices : the rows, as in a CSR matrix; the features of a row ascend.
    names : a name for each feature.
    family_of : int32, for each feature the code of its family.
    families : names of the families.
    single_valued : for each family, whether no row holds two of its features.
    labels, classes, class_type, groups, group_names : as in :class:`NominalTable`.
    tasks, task_names : the same; names are sorted.
    task_column : name of the column that told the task; "" where there was none.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1, 0, 1], [0, 1, 1]])
    >>> matrix = FeatureMatrix.from_csr(X, names=["Prev=in", "Prev=at", "CAP"])
    >>> matrix.families
    ('Prev', 'CAP')
    >>> matrix.row_names(0)
    ['Prev=in', 'CAP']
    """

    indptr: np.ndarray
    indices: np.ndarray
    names: Sequence[str]
    family_of: np.ndarray
    families: tuple[str, ...]
    single_valued: np.ndarray
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    target: str = ""
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] = ()
    source: str = field(default="", compare=False)
    class_type: str = "str"
    tasks: np.ndarray | None = None
    task_names: tuple[str, ...] = ()
    task_column: str = ""

    @classmethod
    def from_csr(
        cls,
        X,
        *,
        names: Sequence[str] | None = None,
        feature_groups: Sequence[str] | None = None,
        **fields,
    ) -> FeatureMatrix:
        """Check a scipy sparse matrix or array of zeros and ones, and find its families.

        Families are ``feature_groups`` (a name for each feature) where given, else what stands
        before the first "=" of each name.
        """
        X = sparse.csr_matrix(X)
        check_binary(X)
        if not X.has_canonical_format or not X.data.all():
            X = X.copy()  # the caller's matrix stays as it is
            X.eliminate_zeros()
            X.sum_duplicates()
        n_features = X.shape[1]
        if names is None:
            names = [f"x{j}" for j in range(n_features)]
        elif len(names) != n_features:
            raise InputError(f"{len(names)} feature names for {n_features} features")
        if feature_groups is None:
            feature_groups = [column_and_value(name)[0] for name in names]
        elif len(feature_groups) != n_features:
            raise InputError(f"{len(feature_groups)} feature groups for {n_features} features")
        vocabulary = Vocabulary()
        family_of = vocabulary.add(feature_groups)
        families = vocabulary.names
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
        repeats = families_that_repeat(indptr, indices, family_of, len(families))
        return cls(indptr, indices, names, family_of, families, ~repeats, **fields)

    @classmethod
    def from_table(cls, table: NominalTable) -> FeatureMatrix:
        """One feature for each value of each column, named ``column=value``; unknown: none.

        Where the rows are tokens of sentences and no groups are given, the sentences are the
        groups: a part held out is then of whole sentences.
        """
        sizes = np.array([len(vocabulary) for vocabulary in table.vocabularies], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        indptr, indices = rows_of_codes(table.codes, starts)
        return cls(
            indptr,
            indices,
            ValueNames(table.columns, table.vocabularies),
            np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            table.columns,
            np.ones(len(sizes), dtype=bool),
            **(table.beside_columns | {"groups": table.kept_together}),
        )

    def with_tasks(self, of_row: Any, column: str = "") -> FeatureMatrix:
        """The rows as those of many tasks; ``of_row`` names the task of each.

        >>> matrix = FeatureMatrix.from_csr([[1], [0], [1]], names=["dobj_me"])
        >>> matrix.with_tasks(["tell", "ask", "tell"]).tasks.tolist()
        [1, 0, 1]
        """
        names, codes = np.unique(np.asarray(of_row).astype(str), return_inverse=True)
        if len(codes) != len(self):
            raise InputError(f"{len(codes)} tasks for {len(self)} rows")
        return replace(
            self, tasks=codes.astype(np.int32), task_names=tuple(names.tolist()), task_column=column
        )

    def by_task(self) -> dict[Hashable, tuple[FeatureMatrix, np.ndarray]]:
        """The rows of each task that has any, and their classes by name."""
        of_tasks = ((t, self.take(self.task_codes == t)) for t in np.unique(self.task_codes))
        return {self.task_names[t]: (rows, rows.label_names) for t, rows in of_tasks}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, len(self.names)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def row_names(self, row: int) -> list[str]:
        """The names of the features of one row."""
        return [self.names[j] for j in self.indices[self.indptr[row] : self.indptr[row + 1]]]

    def to_csr(self, dtype=np.float64) -> sparse.csr_matrix:
        """The same as a scipy matrix of ones."""
        ones = np.ones(len(self.indices), dtype=dtype)
        return sparse.csr_matrix((ones, self.indices, self.indptr), shape=self.shape)

    def take(self, rows: np.ndarray) -> FeatureMatrix:
        """The given rows (indices or a mask), with the same features."""
        part = self.to_csr(np.int8)[rows]
        return replace(
            self,
            indptr=part.indptr.astype(np.int64),
            indices=part.indices.astype(np.int32),
            labels=None if self.labels is None else self.labels[rows],
            groups=None if self.groups is None else self.groups[rows],
            tasks=None if self.tasks is None else self.tasks[rows],
        )


def table_of_families(matrix: FeatureMatrix) -> NominalTable:
    """The single-valued families as the columns of a table; a row without a feature of one is
    unknown there.

    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1, 0, 1], [0, 1, 1]])
    >>> matrix = FeatureMatrix.from_csr(X, names=["Prev=in", "Prev=at", "CAP"])
    >>> table = table_of_families(matrix)
    >>> table.columns, table.codes.tolist(), table.vocabularies
    (('Prev', 'CAP'), [[1, 1], [2, 1]], (('in', 'at'), ('CAP',)))
    """
    single = np.flatnonzero(matrix.single_valued)
    column_of = np.full(len(matrix.families), -1, dtype=np.int64)
    column_of[single] = np.arange(len(single))
    vocabularies: list[list[str]] = [[] for _ in single]
    code_of = np.zeros(len(matrix.names), dtype=np.int32)
    for j, (name, family) in enumerate(zip(matrix.names, matrix.family_of, strict=True)):
        if column_of[family] >= 0:
            values = vocabularies[column_of[family]]
            values.append(name.removeprefix(matrix.families[family] + "="))
            code_of[j] = len(values)
    codes = np.zeros((len(matrix), len(single)), dtype=np.int32, order="F")
    rows = np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr))
    columns = column_of[matrix.family_of[matrix.indices]]
    there = columns >= 0
    codes[rows[there], columns[there]] = code_of[matrix.indices[there]]
    return NominalTable(
        tuple(matrix.families[family] for family in single),
        codes,
        tuple(map(tuple, vocabularies)),
        **matrix.beside_columns,
    )


def check_binary(X: sparse.csr_matrix) -> None:
    """Refuse values other than 0 and 1, and say where the first one is."""
    wrong = np.flatnonzero((X.data != 0) & (X.data != 1))
    if wrong.size:
        place = wrong[0]
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        raise InputError(
            f"row {row}, feature {X.indices[place]} has the value {X.data[place]}; "
            "features must be binary (0 or 1)"
        )
