"""Questions whose units are sentences, whatever is asked of their tokens.

Sentences are held out and drawn whole, and by documents where the data mark them.  A contender is
given the words and labels of its own sentences alone: what only others hold is taken out of the
vocabularies, so that nothing of them can be learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from featloom.compare.questions import Question, tallied
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.words import percent

MOST_GROUPS = 30  # documents that errors are told of
_LEAST_TOKENS = 4  # shorter sentences recur by nature
_MANY_TWICE = 0.01


class SentencesQuestion(Question):
    """What tagging and parsing share.

    Parameters
    ----------
    table : tokens of sentences; groups are documents.
    """

    unit = "sentences"
    small = 600

    def __init__(self, table: NominalTable):
        self.table, self.bounds = table, table.bounds

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def data(self) -> NominalTable:
        """All sentences, by which a journal knows them again."""
        return self.table

    @property
    def strata(self) -> np.ndarray:
        return np.zeros(len(self), dtype=np.int32)

    @cached_property
    def groups(self) -> np.ndarray | None:
        return documents(self.table)

    def take(self, units: np.ndarray) -> NominalTable:
        return take_sentences(self.table, units)

    def by_group(self, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Counts of sentences, added up where they are of one document."""
        if self.groups is None:
            return counts
        names, group_of = np.unique(self.groups[units], return_inverse=True)
        sums = np.zeros((len(names), counts.shape[1]), dtype=np.int64)
        np.add.at(sums, group_of, counts)
        return sums

    def tallied_groups(self, taken: NominalTable, right: np.ndarray) -> list[dict[str, Any]]:
        """Right answers of the largest documents; none where there are no documents."""
        if self.groups is None or taken.groups is None:
            return []
        names = taken.group_names or tuple(map(str, range(int(self.groups.max()) + 1)))
        return tallied(taken.groups, right, names)[:MOST_GROUPS]

    def sizes(self) -> dict[str, Any]:
        """What the data part of a result tells of any sentences."""
        table = self.table
        families = [
            {"name": name, "features": len(values), "single_valued": True}
            for name, values in zip(table.columns, table.vocabularies, strict=True)
        ]
        return {
            "source": table.source,
            "rows": len(table),
            "sentences": len(self),
            "features": len(table.columns),
            "target": table.target,
            "groups": None if self.groups is None else len(np.unique(self.groups)),
            "families": families,
        }


def documents(table: NominalTable) -> np.ndarray | None:
    """The document of each sentence; None where there are not two of them."""
    if table.groups is None or not len(table):
        return None
    # A sentence without tokens is of the document of the next one.
    first = np.minimum(table.bounds[:-1], len(table) - 1)
    groups = table.groups[first]
    return groups if len(np.unique(groups)) > 1 else None


def sums_of_sentences(marks: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """How many tokens of each sentence are marked.

    >>> sums_of_sentences(np.array([True, True, False]), np.array([0, 1, 3])).tolist()
    [1, 1]
    """
    return np.diff(np.concatenate(([0], np.cumsum(marks)))[bounds]).astype(np.int64)


def repeated_sentences(
    table: NominalTable, columns: Sequence[str], learn: np.ndarray, test: np.ndarray
) -> list[str]:
    """Warnings of sentences that are there more than once."""
    bounds = table.bounds
    codes = np.ascontiguousarray(table.codes[:, [table.column_index(name) for name in columns]])

    def keys(units: np.ndarray) -> list[bytes]:
        """The sentences that are long enough, as something that can be looked up."""
        cut = [(int(bounds[one]), int(bounds[one + 1])) for one in units]
        return [codes[a:b].tobytes() for a, b in cut if b - a >= _LEAST_TOKENS]

    known, asked = keys(learn), keys(test)
    there = set(known)
    across = sum(key in there for key in asked)
    twice = len(known) + len(asked) - len(there.union(asked))
    found = []
    if len(test) and across >= _MANY_TWICE * len(test):
        found.append(
            f"{across:,} of {len(test):,} test sentences ({percent(across / len(test), 0)}) are "
            "also among those learned from, word for word; whoever remembers sentences looks "
            "better by it than on new ones"
        )
    if twice >= _MANY_TWICE * (len(learn) + len(test)) and twice:
        found.append(
            f"{twice:,} of {len(learn) + len(test):,} sentences repeat another one word for word"
        )
    return found
