"""Symbols and their numbers, given in order of first appearance.

A vocabulary numbers from 0, and -1 is a symbol that it lacks: so are classes, groups, tasks,
families and features numbered.  A column of a table holds codes, which are higher by one: 0 is a
value that is missing or unknown, and code c the value at c - 1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from itertools import count, repeat
from typing import Any

import numpy as np

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")


class Vocabulary(dict[Any, int]):
    """The number of each symbol; to ask for one by ``[symbol]`` adds it, if it is new.

    Parameters
    ----------
    names : the symbols that it has already, no two alike.
    missing : those that stand for none, and have the number -1.

    Examples
    --------
    >>> letters = Vocabulary(missing=[""])
    >>> letters.add(["b", "a", "", "b"]), letters.names
    (array([ 0,  1, -1,  0], dtype=int32), ('b', 'a'))
    >>> letters.find(["a", "z"]), letters["c"]
    (array([ 1, -1], dtype=int32), 2)
    """

    def __init__(self, names: Iterable[Hashable] = (), missing: Collection[Hashable] = ()):
        super().__init__(dict.fromkeys(missing, -1))
        self._n_missing = len(self)
        self.update(zip(names, count(), strict=False))

    def __missing__(self, symbol: Hashable) -> int:
        self[symbol] = number = len(self) - self._n_missing
        return number

    @property
    def names(self) -> tuple[Any, ...]:
        """Its symbols in the order of their numbers."""
        return tuple(self)[self._n_missing :]

    def add(self, symbols: Collection[Any] | np.ndarray) -> np.ndarray:
        """The numbers of symbols; new ones get the next.  Of an array each is looked up once."""
        if isinstance(symbols, np.ndarray):
            there, first, which = np.unique(symbols, return_index=True, return_inverse=True)
            as_met = np.argsort(first)
            numbers = np.empty(len(there), dtype=np.int32)
            numbers[as_met] = self.add(there[as_met].tolist())
            return numbers[which]
        return np.fromiter(map(self.__getitem__, symbols), np.int32, len(symbols))

    def find(self, symbols: Collection[Any]) -> np.ndarray:
        """The numbers of symbols, -1 where there is none."""
        return np.fromiter(map(self.get, symbols, repeat(-1)), np.int32, len(symbols))


def codes_in(known: Vocabulary, values: Sequence[str], *, grow: bool = False) -> np.ndarray:
    """For each code of a column its code in another vocabulary, to which new values may be added.

    >>> codes_in(Vocabulary(["b", "a"]), ["a", "z"])
    array([0, 2, 0], dtype=int32)
    """
    numbers = known.add(values) if grow else known.find(values)
    return np.append(np.int32(0), numbers + np.int32(1))


def value_names(column: str, values: Iterable[str]) -> Iterator[str]:
    """The values of a column as conditions on a row, which name its features.

    >>> list(value_names("letter", ["c", "k"]))
    ['letter=c', 'letter=k']
    """
    return (f"{column}={value}" for value in values)


def column_and_value(name: str) -> tuple[str, str | None]:
    """What a condition is on: a column, and its value unless it is a flag.

    >>> column_and_value("letter=c"), column_and_value("CAPITAL")
    (('letter', 'c'), ('CAPITAL', None))
    """
    column, sign, value = name.partition("=")
    return column, value if sign else None


def encode(values: Sequence[str | None]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and vocabulary of a whole column, found by polars.

    >>> encode(["b", "a", None, "b"])
    (array([1, 2, 0, 1], dtype=int32), ('b', 'a'))
    """
    import polars as pl

    series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=pl.String)
    series = series.cast(pl.String)
    vocabulary = series.drop_nulls().unique(maintain_order=True)
    codes = series.cast(pl.Enum(vocabulary)).to_physical().cast(pl.Int32)
    return (codes + 1).fill_null(0).to_numpy().astype(np.int32), tuple(vocabulary)


def plain_value(text: str) -> Any:
    """What a text says, however it is written: 7, 7.0 and 7.00 are one number, true and True one.

    Numbers with zeros before them are codes, and text like any other.

    >>> plain_value("7.00"), plain_value("07"), plain_value("TRUE"), plain_value("seven")
    (7.0, '07', True, 'seven')
    """
    if text[:1] in "tTfF" and text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    return float(text) if found[1] or found[2] else int(text)


def spelled_as(values: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Values that are not known as they are written, as those that are and say the same.

    A DataFrame has 7.0 where a file had 7.00, and True where it had true.

    >>> spelled_as(["7", "8", "yes", "True"], ["7.0", "no", "true"])
    ('7.0', '8', 'yes', 'true')
    """
    there = set(known)
    new = {value for value in values if value not in there and plain_value(value) != value}
    if not new:
        return tuple(values)
    # Kinds are told apart, for True equals 1.
    by_value: dict[Any, str] = {}
    for value in known:
        said = plain_value(value)
        if said is not value:
            by_value.setdefault((isinstance(said, bool), said), value)

    def spelled(value: str) -> str:
        said = plain_value(value)
        return by_value.get((isinstance(said, bool), said), value)

    return tuple(spelled(value) if value in new else value for value in values)
