"""The features of templates as rows of a sparse matrix.

A template gives a row one feature, the combination of values that its columns show there.  Either
every combination that training rows showed has a number of its own, or combinations are hashed:
then there are 2**bits columns whatever comes, two features may share one, and no table of them is
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from featloom.data.blocks import Blocks
from featloom.data.table import NominalTable
from featloom.features.block_expansion import expansion_of_blocks
from featloom.features.expansion import TemplateExpansion
from featloom.features.feature_list import FeatureList
from featloom.features.template import Template

_TIMES = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)


class SeenFeatures:
    """Features that training rows showed, numbered template by template.

    Parameters
    ----------
    table : training rows, in memory or in blocks; its vocabularies are those of every other table.
    templates : columns to join.
    cutoff : features seen fewer times are left out.

    Examples
    --------
    >>> table = NominalTable.from_columns({"letter": ["c", "c", "k"], "next": ["a", "e", "a"]})
    >>> seen = SeenFeatures(table, [Template((("letter", 0),)), Template((("next", 0),))])
    >>> seen.codes(table).tolist(), seen.names()
    ([[0, 2], [0, 3], [1, 2]], ['letter=c', 'letter=k', 'next=a', 'next=e'])
    """

    def __init__(
        self, table: NominalTable | Blocks, templates: Sequence[Template], cutoff: int = 1
    ):
        if isinstance(table, Blocks):
            self.expansion = expansion_of_blocks(table, templates, cutoff)
            return
        table = without_sentences(table)
        fitted = TemplateExpansion(table, templates, cutoff)
        # The features are kept, and not the rows they were seen in.
        self.expansion = TemplateExpansion.from_parts(table, templates, fitted.parts, cutoff)

    @property
    def n_features(self) -> int:
        return self.expansion.n_features

    def codes(self, table: NominalTable) -> np.ndarray:
        """(rows, templates) feature numbers; -1 where a combination was not seen."""
        return self.expansion.apply(without_sentences(table))

    def matrix(self, table: NominalTable) -> sparse.csr_matrix:
        """Ones where rows have features."""
        return rows_of_ones(self.codes(table), self.n_features)

    def names(self) -> list[str]:
        return [self.expansion.name(feature) for feature in range(self.n_features)]

    def feature_list(self) -> FeatureList:
        """The features as a linear model carries them."""
        expansion = self.expansion
        vocabularies = expansion.table.vocabularies
        starts = np.cumsum([0, *map(len, vocabularies)])
        longest = max(map(len, expansion.templates), default=1)
        parts = np.full((self.n_features, longest), -1, dtype=np.int32)
        for t, template in enumerate(expansion.templates):
            rows = slice(expansion.first[t], expansion.first[t + 1])
            codes = expansion._codes(t, np.arange(rows.stop - rows.start))
            for place, (name, _) in enumerate(template.places):
                first = starts[expansion.table.column_index(name)]
                parts[rows, place] = first + codes[place] - 1
        return FeatureList(expansion.table.columns, vocabularies, parts)


class HashedFeatures:
    """Features hashed into 2**bits columns; a row with two in one column has a 2 there.

    Parameters
    ----------
    table : its vocabularies are those of every other table.
    templates : columns to join.
    bits : of a feature's number.

    Examples
    --------
    >>> table = NominalTable.from_columns({"letter": ["c", "c", "k"], "next": ["a", "e", "a"]})
    >>> hashed = HashedFeatures(table, [Template((("letter", 0), ("next", 0)))], bits=10)
    >>> hashed.matrix(table).shape
    (3, 1024)
    """

    def __init__(self, table: NominalTable, templates: Sequence[Template], bits: int):
        self.n_features = 1 << bits
        self._mask = np.uint64(self.n_features - 1)
        self._columns = [[table.column_index(name) for name, _ in t.places] for t in templates]

    def codes(self, table: NominalTable) -> np.ndarray:
        """(rows, templates) feature numbers; -1 where a value is unknown."""
        numbers = np.empty((len(table), len(self._columns)), dtype=np.int32)
        for t, columns in enumerate(self._columns):
            # Which columns are joined is part of the hash, in whatever order they come.
            mixed = np.full(len(table), sum(1 << j for j in columns) % (1 << 64), dtype=np.uint64)
            for j in sorted(columns):
                mixed = _mix(mixed ^ table.codes[:, j].astype(np.uint64))
            known = (table.codes[:, columns] > 0).all(axis=1)
            numbers[:, t] = np.where(known, mixed & self._mask, -1)
        return numbers

    def matrix(self, table: NominalTable) -> sparse.csr_matrix:
        """How many features of a row fall into each column."""
        X = rows_of_ones(np.sort(self.codes(table), axis=1), self.n_features)
        X.sum_duplicates()
        return X

    def names(self) -> list[str]:
        return [f"hash{number}" for number in range(self.n_features)]


def rows_of_ones(numbers: np.ndarray, n_features: int) -> sparse.csr_matrix:
    """A matrix from feature numbers that ascend in each row; -1 is no feature.

    >>> rows_of_ones(np.array([[0, 2], [-1, 1]]), 3).toarray().tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    there = numbers >= 0
    indices = numbers[there].astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    ones = np.ones(len(indices))
    return sparse.csr_matrix((ones, indices, indptr), shape=(len(numbers), n_features))


def without_sentences(table: NominalTable) -> NominalTable:
    """The table as rows of their own: templates here never look at another row."""
    return replace(table, sequence_bounds=None)


def _mix(values: np.ndarray) -> np.ndarray:
    """Spread the bits of each value over all 64."""
    values = (values + _TIMES) * _TIMES
    values = (values ^ (values >> np.uint64(32))) * _SPREAD
    return values ^ (values >> np.uint64(29))
