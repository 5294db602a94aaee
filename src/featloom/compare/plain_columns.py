"""A table's columns as people have them: numbers and categories.

A table of symbols knows every column by its words.  Outside models are used on data frames in
which a column of ages is a column of numbers; to compare with them fairly, the words become
numbers again.  A column is a *number* if every word of it that is not one for "missing" reads as a
finite number, and a *category* otherwise.  Words for "missing" are those of ``pandas.read_csv``,
the question mark, and blanks.

What a column is, and which categories it has, is learned from the rows that a model is fitted on
(``column_kinds``), and applied to others: a word in a column of numbers is then a missing number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary

_MISSING = (
    "? NA N/A n/a <NA> #NA #N/A NULL null None NaN nan -NaN -nan 1.#IND -1.#IND 1.#QNAN -1.#QNAN"
)
MISSING = frozenset(["", "#N/A N/A", *_MISSING.split()])

MISSING_CODE = -1
UNSEEN_CODE = -2


@dataclass(frozen=True)
class ColumnKinds:
    """What each column is.

    Parameters
    ----------
    columns : names of the columns.
    categories : for each column its categories, sorted; None for a column of numbers.
    """

    columns: tuple[str, ...]
    categories: tuple[tuple[str, ...] | None, ...]

    @property
    def category_columns(self) -> list[int]:
        """Places of the columns of categories."""
        return [j for j, known in enumerate(self.categories) if known is not None]


@dataclass(frozen=True, eq=False)
class PlainColumns:
    """Numbers and categories of rows.

    Parameters
    ----------
    kinds : what each column is.
    values : for each column of numbers float64, NaN where missing; for each column of categories
        int32, the place among its categories, -1 where missing, -2 where the category is none of
        them.
    """

    kinds: ColumnKinds
    values: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0

    def matrix(self) -> np.ndarray:
        """Rows × columns of float64: numbers, and codes of categories; NaN where missing or unseen.

        >>> table = NominalTable.from_columns({"age": ["8", "?"], "sex": ["m", "f"]})
        >>> columns_as_people_have_them(table).matrix().tolist()
        [[8.0, 1.0], [nan, 0.0]]
        """
        X = np.empty((len(self), len(self.values)))
        for j, values in enumerate(self.values):
            X[:, j] = values
        for j in self.kinds.category_columns:
            X[X[:, j] < 0, j] = np.nan
        return X

    def objects(self) -> np.ndarray:
        """Rows × columns of objects: floats, and words of categories; None where one is missing.

        A category that is none of the known ones is the empty word, which never is one of them.

        >>> table = NominalTable.from_columns({"age": ["8", "9"], "sex": ["m", "NA"]})
        >>> columns_as_people_have_them(table).objects().tolist()
        [[8.0, 'm'], [9.0, None]]
        """
        X = np.empty((len(self), len(self.values)), dtype=object)
        for j, (values, known) in enumerate(zip(self.values, self.kinds.categories, strict=True)):
            # Codes -2 and -1 are the last places but one, and the last.
            X[:, j] = values if known is None else np.array([*known, "", None], object)[values]
        return X


def column_kinds(table: NominalTable) -> ColumnKinds:
    """What each column is, by the words that its rows hold; those of other rows do not count.

    A column without any word is one of numbers that are all missing.

    >>> table = NominalTable.from_columns({"age": ["8", "?", "9.5"], "size": ["8", "XL", ""]})
    >>> column_kinds(table).categories
    (None, ('8', 'XL'))
    """
    categories: list[tuple[str, ...] | None] = []
    for j, vocabulary in enumerate(table.vocabularies):
        rows_of = np.bincount(table.codes[:, j], minlength=len(vocabulary) + 1)[1:]
        words = [word for word, rows in zip(vocabulary, rows_of.tolist(), strict=True) if rows]
        there = sorted(word for word in words if not is_missing(word))
        numbers = all(math.isfinite(number_of(word)) for word in there)
        categories.append(None if numbers else tuple(there))
    return ColumnKinds(table.columns, tuple(categories))


def columns_as_people_have_them(
    table: NominalTable, kinds: ColumnKinds | None = None
) -> PlainColumns:
    """The columns of a table as numbers and categories.

    Parameters
    ----------
    table : the rows.
    kinds : what each column is, as learned from the rows a model was fitted on; by default it is
        learned from these rows.

    Examples
    --------
    >>> table = NominalTable.from_columns({"age": ["8", "?", "9.5"], "size": ["8", "XL", ""]})
    >>> plain = columns_as_people_have_them(table)
    >>> [values.tolist() for values in plain.values]
    [[8.0, nan, 9.5], [0, 1, -1]]
    >>> other = NominalTable.from_columns({"age": ["many"], "size": ["S"]})
    >>> [values.tolist() for values in columns_as_people_have_them(other, plain.kinds).values]
    [[nan], [-2]]
    """
    if kinds is None:
        kinds = column_kinds(table)
    values: list[np.ndarray] = []
    for name, known in zip(kinds.columns, kinds.categories, strict=True):
        j = table.column_index(name)
        vocabulary = table.vocabularies[j]
        if known is None:
            of_code = np.array([math.nan, *map(number_of, vocabulary)])
        else:
            places = Vocabulary(known).find(vocabulary)
            missing = np.array([is_missing(word) for word in vocabulary], dtype=bool)
            places[places < 0] = UNSEEN_CODE
            places[missing] = MISSING_CODE
            of_code = np.concatenate([np.array([MISSING_CODE], dtype=np.int32), places])
        values.append(of_code[table.codes[:, j]])
    return PlainColumns(kinds, tuple(values))


def is_missing(word: str) -> bool:
    """Whether a word says that there is no value.

    >>> [is_missing(word) for word in ("NA", "  ", "?", "0", "none")]
    [True, True, True, False, False]
    """
    return word in MISSING or word.strip() in MISSING


def number_of(word: str) -> float:
    """The finite number that a word spells; NaN if it spells none.

    >>> [number_of(word) for word in ("8", " -.5 ", "1e3", "1_000", "inf", "many")]
    [8.0, -0.5, 1000.0, nan, nan, nan]
    """
    try:
        number = float(word)
    except ValueError:
        return math.nan
    # Python reads underscores between digits, which no data format means as part of a number.
    return number if math.isfinite(number) and "_" not in word else math.nan
