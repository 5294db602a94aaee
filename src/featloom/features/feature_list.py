"""Many features held as numbers: half a million of them take a few megabytes.

A feature is a conjunction of atoms; an atom is a value of a column (``letter=c``), or one of the
named features of a bare matrix.  Atoms are numbered through, column by column, and a feature is the
row of its atoms' numbers, filled up with -1.  A single one is spelled out when somebody wants to
read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, overload

import numpy as np
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary, codes_in
from featloom.errors import InputError
from featloom.features.expand import ConjunctionTrie, padded
from featloom.features.feature import Feature
from featloom.features.template import Template
from featloom.formats.models import Model, Numbers, Part, Vocabularies
from featloom.kernels.rows import rows_of_codes

_MOST_PLACES = 1000  # parts of a feature, in what was kept as a file
# What the number of an atom and its place in the tree that finds features in rows take in memory.
_OF_PART = 100


@dataclass(frozen=True, eq=False)
class FeatureList(Sequence[Feature]):
    """Features and conjunctions over the columns of a table, or over the names of a matrix.

    Parameters
    ----------
    columns : of the table; none for a bare matrix.
    vocabularies : for each column its values; for a bare matrix one list, the names of features.
    parts : int array of shape (features, parts of the longest), numbers of atoms, else -1.

    Examples
    --------
    >>> table = NominalTable.from_columns({"letter": ["c", "c"], "next": ["a", "e"]})
    >>> features = FeatureList.of([Feature.from_names(["letter=c", "next=e"])], table.columns)
    >>> features.name(0), features.rows(table)[0].tolist()
    ('letter=c & next=e', [0, 0, 1])
    """

    columns: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]
    parts: np.ndarray

    @classmethod
    def of(cls, features: Iterable[Feature], columns: Sequence[str] = ()) -> FeatureList:
        """The features as numbers; without columns they are of a bare matrix."""
        columns = tuple(columns)
        place_of = {name: j for j, name in enumerate(columns)}
        codes = [Vocabulary() for _ in columns or [None]]
        coded = []
        for feature in features:
            _check(feature, place_of)
            pairs = []
            for name, value, part in zip(
                feature.template.places, feature.values, feature.parts, strict=True
            ):
                j = place_of[name[0]] if columns else 0
                pairs.append((j, codes[j][str(value) if columns else part]))
            coded.append(pairs)
        starts = np.cumsum([0, *map(len, codes)])
        parts = padded([[int(starts[j]) + code for j, code in pairs] for pairs in coded])
        return cls(columns, tuple(map(tuple, codes)), parts.astype(np.int32))

    @classmethod
    def of_matrix(cls, names: Iterable[str], parts: np.ndarray) -> FeatureList:
        """Conjunctions of the features of a bare matrix, by the numbers of its columns."""
        names, seen = tuple(map(str, names)), set[str]()
        for name in names:
            if name in seen:
                message = f"two features are named {name!r}; a model finds them by their names"
                raise InputError(message)
            seen.add(name)
        return cls((), (names,), np.asarray(parts, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, number: int) -> Feature: ...

    @overload
    def __getitem__(self, number: slice) -> list[Feature]: ...

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        atoms = [atom for atom in self.parts[number].tolist() if atom >= 0]
        if not self.columns:
            return Feature.from_names([self.vocabularies[0][atom] for atom in atoms])
        pairs = [self._place(atom) for atom in atoms]
        template = Template(tuple((self.columns[j], 0) for j, _ in pairs))
        return Feature(template, tuple(self.vocabularies[j][code] for j, code in pairs))

    def __iter__(self) -> Iterator[Feature]:
        """All features in order; what they have in common is looked up once."""
        if not self.columns:
            yield from (self[number] for number in range(len(self)))
            return
        column_of = np.repeat(np.arange(len(self.columns)), np.diff(self._starts)).tolist()
        value_of = list(chain.from_iterable(self.vocabularies))
        templates: dict[tuple[int, ...], Template] = {}
        for row in self.parts.tolist():
            atoms = [atom for atom in row if atom >= 0]
            joined = tuple(column_of[atom] for atom in atoms)
            if joined not in templates:
                templates[joined] = Template(tuple((self.columns[j], 0) for j in joined))
            yield Feature(templates[joined], tuple(value_of[atom] for atom in atoms))

    def name(self, number: int) -> str:
        """A feature in words: ``letter=c & next=e``."""
        atoms = self.parts[number].tolist()
        return " & ".join(self.atom_name(atom) for atom in atoms if atom >= 0)

    def atom_name(self, atom: int) -> str:
        """An atom in words: ``letter=c``."""
        j, code = self._place(atom)
        value = self.vocabularies[j][code]
        return f"{self.columns[j]}={value}" if self.columns else value

    @property
    def n_atoms(self) -> int:
        return int(self._starts[-1])

    @cached_property
    def used_columns(self) -> list[str]:
        """The columns that some feature looks at."""
        atoms = np.flatnonzero(self._supports)
        used = np.unique(np.searchsorted(self._starts, atoms, side="right") - 1)
        return [self.columns[j] for j in used] if self.columns else []

    def take(self, kept: np.ndarray) -> FeatureList:
        """Some of the features, with the values that these have."""
        parts = self.parts[kept]
        there = np.zeros(self.n_atoms + 1, dtype=bool)
        there[parts] = True
        there[-1] = False  # that of the filling
        new = np.append(np.cumsum(there[:-1]) - 1, -1)
        bounds = self._starts.tolist()
        vocabularies = tuple(
            tuple(value for value, used in zip(values, there[first:], strict=False) if used)
            for values, first in zip(self.vocabularies, bounds, strict=False)
        )
        return FeatureList(self.columns, vocabularies, new[parts].astype(np.int32))

    def rows(self, data: NominalTable | FeatureMatrix) -> tuple[np.ndarray, np.ndarray]:
        """Which features each row has, as the arrays of a CSR matrix.

        Columns are found by their names.  One that no feature looks at need not be there, and a
        value that no feature has is none.
        """
        if isinstance(data, NominalTable) and self.columns:
            return self._trie.rows(*self._table_rows(data))
        if isinstance(data, NominalTable):
            data = FeatureMatrix.from_table(data)
        return self._trie.rows(*self._matrix_rows(data))

    def matrix(
        self, data: NominalTable | FeatureMatrix, dtype: np.dtype | type = np.float64
    ) -> sparse.csr_matrix:
        """Ones where a row has a feature, of shape (rows, features)."""
        indptr, indices = self.rows(data)
        ones = np.ones(len(indices), dtype)
        return sparse.csr_matrix((ones, indices, indptr), shape=(len(data), len(self)))

    def _table_rows(self, table: NominalTable) -> tuple[np.ndarray, np.ndarray]:
        codes = np.zeros((len(table), len(self.columns)), dtype=np.int32, order="F")
        for name in self.used_columns:
            j, place = self.columns.index(name), table.column_index(name)
            code_of = codes_in(self._known[j], table.vocabularies[place])
            codes[:, j] = code_of[table.codes[:, place]]
        return rows_of_codes(codes, self._starts)

    def _matrix_rows(self, matrix: FeatureMatrix) -> tuple[np.ndarray, np.ndarray]:
        atoms = self._number.find(matrix.names)[matrix.indices]
        known = atoms >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        return before[matrix.indptr].astype(np.int64), atoms[known]

    def _place(self, atom: int) -> tuple[int, int]:
        """The column of an atom, and the number of its value there."""
        j = int(np.searchsorted(self._starts, atom, side="right")) - 1
        return j, atom - int(self._starts[j])

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.vocabularies)])

    @cached_property
    def _known(self) -> list[Vocabulary]:
        return [Vocabulary(values) for values in self.vocabularies]

    @cached_property
    def _number(self) -> Vocabulary:
        """The number of each atom by its name."""
        if not self.columns:
            return self._known[0]
        return Vocabulary(map(self.atom_name, range(self.n_atoms)))

    @cached_property
    def _supports(self) -> np.ndarray:
        """How many features have each atom; one more atom, which none has, stands at the end."""
        return np.bincount(self.parts[self.parts >= 0], minlength=self.n_atoms + 1)

    @cached_property
    def _trie(self) -> ConjunctionTrie:
        # An atom that few features have comes first, so that few branches are looked into.
        return ConjunctionTrie(self.parts, n_features=self.n_atoms + 1, supports=self._supports)


class Features(Part):
    """A list of features as a part of a model.

    Parameters
    ----------
    dtypes : that the numbers of atoms may have.
    values : name of the array with the values of the columns.
    """

    def __init__(self, dtypes: str, values: str = "values"):
        self.parts = Numbers(dtypes, "features", "places", makes=_OF_PART, becomes="i4")
        self.vocabularies = Vocabularies("", values, "value_starts")

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        return {"columns": (tuple[str, ...],), **self.vocabularies.facts(name)}

    def arrays(self, name: str) -> dict[str, Numbers]:
        return {"parts": self.parts, **self.vocabularies.arrays(name)}

    def write(self, name: str, value: FeatureList, model: Model) -> None:
        model.description["columns"] = value.columns
        self.parts.write("parts", value.parts, model)
        self.vocabularies.write(name, value.vocabularies, model)

    def read(self, name: str, model: Model) -> FeatureList:
        vocabularies = self.vocabularies.read(name, model)
        return FeatureList(
            model.description["columns"], vocabularies, self.parts.read("parts", model)
        )

    def lengths(self, value: FeatureList) -> list[tuple[str, int]]:
        return self.parts.lengths(value.parts)

    def fits(self, value: FeatureList, state: Mapping[str, Any]) -> bool:
        columns, parts = value.columns, value.parts
        return (
            len(value.vocabularies) == (len(columns) or 1)
            and len(set(columns)) == len(columns)
            and self.vocabularies.fits(value.vocabularies, state)
            and 1 <= parts.shape[1] <= _MOST_PLACES
            and parts.min(initial=0) >= -1
            and parts.max(initial=-1) < value.n_atoms
            and bool((parts >= 0).any(axis=1).all())
        )


def _check(feature: Feature, place_of: dict[str, int]) -> None:
    if not len(feature):
        raise InputError("a feature without parts")
    for (column, offset), value in zip(feature.template.places, feature.values, strict=True):
        if offset:
            raise InputError(f"feature {feature} looks at another row, by {offset:+d}")
        if place_of and (column not in place_of or value is None):
            raise InputError(f"feature {feature} is no value of the columns {', '.join(place_of)}")
