"""Features by the hash of their name, where there are too many to be listed.

Feature ``column=value`` has the number hash(column, value) mod 2**bits: no vocabulary is kept, and
memory does not grow with the values that there are.  Two names may get one number and are then one
feature.  Of n names in M = 2**bits places, a name shares its place with another with a chance of
about 1 − exp(−n / M).  How many names there are is not known, but the places that are taken tell:
n ≈ −M log(1 − taken / M), which makes that chance taken / M.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.vocabulary import encode
from featloom.errors import InputError

FEWEST_BITS, MOST_BITS = 4, 28


class HashedValues:
    """Turns columns of text into rows of hashed features.

    Examples
    --------
    >>> indptr, indices = HashedValues(10).rows(["letter"], [["c", None, "c"]])
    >>> indptr.tolist(), bool(indices[0] == indices[1])
    ([0, 1, 1, 2], True)
    """

    def __init__(self, bits: int):
        if not FEWEST_BITS <= bits <= MOST_BITS:
            raise InputError(
                f"features cannot be hashed into {bits} bits; {FEWEST_BITS} to {MOST_BITS} can be"
            )
        self.bits = bits

    @property
    def n_features(self) -> int:
        return 1 << self.bits

    def numbers(self, column: str, values: Sequence[str]) -> np.ndarray:
        """The feature of each value; the same on every machine and in every version."""
        start = zlib.crc32(column.encode())
        sums = np.fromiter(
            (zlib.crc32(value.encode(), start) for value in values), np.uint64, len(values)
        )
        mixed = (sums + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        return (mixed >> np.uint64(64 - self.bits)).astype(np.int32)

    def rows(self, columns: Sequence[str], texts: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """CSR arrays of columns of text; a missing value makes no feature."""
        return self._rows(columns, [encode(text) for text in texts])

    def rows_of_table(
        self, columns: Sequence[str], table: NominalTable
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of the columns of a table."""
        places = [table.column_index(name) for name in columns]
        return self._rows(columns, [(table.codes[:, j], table.vocabularies[j]) for j in places])

    def _rows(self, columns, encoded) -> tuple[np.ndarray, np.ndarray]:
        features = np.full((len(encoded[0][0]), len(columns)), -1, dtype=np.int32)
        for j, (column, (codes, values)) in enumerate(zip(columns, encoded, strict=True)):
            features[:, j] = np.concatenate([[-1], self.numbers(column, values)])[codes]
        features.sort(axis=1)
        there = features >= 0
        there[:, 1:] &= features[:, 1:] != features[:, :-1]
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        return indptr, features[there]

    def names_of(
        self, wanted: np.ndarray, columns: Sequence[str], texts: Sequence[Any]
    ) -> dict[int, list[str]]:
        """For each of the wanted features the names that have it, in order of appearance."""
        found: dict[int, list[str]] = {}
        for column, text in zip(columns, texts, strict=True):
            _, values = encode(text)
            numbers = self.numbers(column, values)
            for place in np.flatnonzero(np.isin(numbers, wanted)).tolist():
                found.setdefault(int(numbers[place]), []).append(f"{column}={values[place]}")
        return found

    def like(
        self,
        classes: tuple[str, ...],
        target: str,
        source: str,
        names: Sequence[str] | None = None,
    ) -> FeatureMatrix:
        """A matrix without rows that all blocks are like."""
        return FeatureMatrix(
            np.zeros(1, np.int64),
            np.empty(0, np.int32),
            HashedNames(self.n_features) if names is None else names,
            np.zeros(self.n_features, dtype=np.int32),
            ("hash",),
            np.zeros(1, dtype=bool),
            labels=np.empty(0, dtype=np.int32),
            classes=classes,
            target=target,
            source=source,
        )


class HashedNames(Sequence[str]):
    """Names of hashed features: ``hash17``, or the first name that was found behind it.

    >>> names = HashedNames(32)
    >>> names.add({17: ["letter=c", "next=a"]})
    >>> names[16], names[17], names.shared([16, 17])
    ('hash16', 'letter=c', 1)
    """

    def __init__(self, n_features: int):
        self.n_features = n_features
        self.found: dict[int, dict[str, None]] = {}

    def add(self, found: dict[int, list[str]]) -> None:
        """Names behind some features."""
        for number, names in found.items():
            self.found.setdefault(number, {}).update(dict.fromkeys(names))

    def shared(self, numbers: Iterable[int]) -> int:
        """How many of these features have more than one name."""
        return sum(len(self.found.get(int(number), ())) > 1 for number in numbers)

    def __len__(self) -> int:
        return self.n_features

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(self.n_features))]
        number = range(self.n_features)[number]
        known = self.found.get(number)
        return next(iter(known)) if known else f"hash{number}"


def collision_rate(taken: int, places: int) -> float:
    """The share of names that share their place with another, judged by the places taken.

    >>> collision_rate(1 << 18, 1 << 20)
    0.25
    """
    return taken / places
