"""Fingerprints of the rows that a model learned from, by which it knows them again.

The print of a row is the sum of the hashes of its values, each with the name of its column, modulo
2**64; a number counts as what it is, however it is written.  A model keeps the :data:`MOST`
smallest, 80 kB at most.  Where that is all, a row is known again for sure; where it is not, rows
whose prints are as small are a sample, drawn by the hash, and what is true of them is reckoned up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import UNKNOWN, NominalTable
from featloom.data.vocabulary import plain_value, value_names
from featloom.formats.models import Model, Numbers, Part

MOST = 10_000


@dataclass(frozen=True, eq=False)
class RowPrints:
    """The rows of a training part.

    Parameters
    ----------
    prints : uint64, ascending, all different.
    complete : whether these are all that there are.

    Examples
    --------
    >>> learned = NominalTable.from_columns({"letter": ["c", "k"], "next": ["a", "e"]})
    >>> new = NominalTable.from_columns({"next": ["e", "e"], "letter": ["k", "c"]})
    >>> RowPrints.of(learned).seen(new)
    Seen(rows=2, known=1, looked_at=2)
    """

    prints: np.ndarray
    complete: bool

    @classmethod
    def of(cls, data: NominalTable | FeatureMatrix, most: int = MOST) -> RowPrints:
        """Those of a table or a matrix, without its classes; at most so many are kept."""
        found = np.unique(prints_of(data))
        return cls(found[:most], len(found) <= most)

    def seen(self, data: NominalTable | FeatureMatrix) -> Seen:
        """How many of some rows are among those learned from, value for value."""
        found = prints_of(data)
        if not len(self.prints):
            return Seen(len(found), 0, 0)
        if not self.complete:
            found = found[found <= self.prints[-1]]
        places = np.minimum(np.searchsorted(self.prints, found), len(self.prints) - 1)
        return Seen(len(data), int((self.prints[places] == found).sum()), len(found))


@dataclass(frozen=True)
class Seen:
    """How many rows were learned from, of those that could be looked at."""

    rows: int = 0
    known: int = 0
    looked_at: int = 0

    def __add__(self, other: Seen) -> Seen:
        return Seen(
            self.rows + other.rows, self.known + other.known, self.looked_at + other.looked_at
        )

    @property
    def exact(self) -> bool:
        """Whether all were looked at."""
        return self.looked_at == self.rows

    @property
    def estimate(self) -> int:
        """How many of all rows these are."""
        return self.known if self.exact else round(self.known / self.looked_at * self.rows)

    @property
    def words(self) -> str:
        """What to say of it; nothing where no row was seen.

        >>> Seen(5, 2, 5).words.partition(";")[0]
        '2 of 5 rows are, value for value, rows of the training data'
        >>> Seen(50_000, 21, 100).words.partition(" rows are")[0], Seen(5, 0, 5).words
        ('about 10,500 of 50,000', '')
        """
        if not self.known:
            return ""
        n = self.estimate
        return (
            f"{'' if self.exact else 'about '}{n:,} of {self.rows:,} rows "
            f"{'is' if n == 1 else 'are'}, value for value, rows of the training data; if they "
            "are the same, what is right of them says nothing of new ones"
        )


class Prints(Part):
    """The fingerprints of rows as a part of a model, which older files have not."""

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        return {f"{name}_all": (bool, False)}

    def arrays(self, name: str) -> dict[str, Numbers]:
        return {name: Numbers("u8", "rows", optional=True)}

    def write(self, name: str, value: RowPrints | None, model: Model) -> None:
        model.description[f"{name}_all"] = value is not None and value.complete
        if value is not None:
            model.arrays[name] = value.prints

    def read(self, name: str, model: Model) -> RowPrints | None:
        found = model.arrays.get(name)
        return None if found is None else RowPrints(found, model.description[f"{name}_all"])

    def fits(self, value: RowPrints, state: Mapping[str, Any]) -> bool:
        prints = value.prints
        return 0 < len(prints) <= MOST and not (prints[1:] <= prints[:-1]).any()


def prints_of(data: NominalTable | FeatureMatrix) -> np.ndarray:
    """A number for each row; tables and matrices of the same values have the same."""
    if isinstance(data, NominalTable):
        sums = np.zeros(len(data), dtype=np.uint64)
        for j, (column, values) in enumerate(zip(data.columns, data.vocabularies, strict=True)):
            of_value = np.zeros(len(values) + 1, dtype=np.uint64)
            of_value[UNKNOWN + 1 :] = _hashes(value_names(column, values), len(values))
            sums += of_value[data.codes[:, j]]
        return sums
    of_feature = _hashes(data.names, len(data.names))
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(of_feature[data.indices])])
    return before[data.indptr[1:]] - before[data.indptr[:-1]]


def _hashes(names: Iterable[str], n: int) -> np.ndarray:
    digests = b"".join(blake2b(_plain(str(name)), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8", count=n).astype(np.uint64)


def _plain(name: str) -> bytes:
    """A value with its column, however a number is written: ``age=7.00`` as ``age=7``."""
    column, equals, value = name.rpartition("=")
    said = plain_value(value)
    if isinstance(said, float) and said.is_integer() and abs(said) < 2.0**53:
        said = int(said)
    return f"{column}{equals}{said}".encode()
