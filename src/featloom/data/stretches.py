"""Sentences that are too long to be parsed at once, cut into stretches.

The best tree of n tokens takes n³ steps: a hundredth of a second for 250 tokens, a second for a
thousand, hours for twenty thousand, which hardly are one sentence.  So a longer sentence is parsed
in stretches, each of which ends after the last mark that may end a sentence in its second half,
where there is one.  The stretches' trees become one: roots of the later ones hang on that of the
first, and since nothing stands above a root, arcs that did not cross do not cross then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from featloom.data.table import NominalTable

# Marks that may end a sentence, in several scripts.
ENDS = frozenset(".!?…;:。！？；।۔؟")
_WORDS = "form"


@dataclass(frozen=True, eq=False)
class Stretches:
    """Sentences, cut where they are too long.

    Parameters
    ----------
    table : the stretches as its sentences; it has no heads.
    bounds : of the sentences, in tokens, as they were.
    longest : the most tokens of a stretch.

    Examples
    --------
    >>> table = NominalTable.from_columns({"form": list("ab.cdef")},
    ...                                   sequence_bounds=np.array([0, 7]))
    >>> stretches = Stretches.of(table, 4)
    >>> stretches.table.sequence_bounds.tolist()
    [0, 3, 7]
    >>> stretches.joined([[2, 0, 2], [2, 0, 2, 3]], one_root=True)
    [[2, 0, 2, 5, 2, 5, 6]]
    """

    table: NominalTable
    bounds: np.ndarray
    longest: int

    @classmethod
    def of(cls, table: NominalTable, longest: int) -> Stretches:
        """Cut sentences of more tokens than ``longest``."""
        bounds = table.bounds
        cut = bounds
        if np.diff(bounds).max(initial=0) > longest:
            ends = _may_end(table)
            pairs = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
            cuts = [at for first, last in pairs for at in _cuts(first, last, longest, ends)]
            cut = np.array([0, *cuts], dtype=np.int64)
        return cls(replace(table, sequence_bounds=cut, heads=None), bounds, longest)

    @property
    def counts(self) -> np.ndarray:
        """How many stretches each sentence is."""
        return np.diff(np.searchsorted(self.table.bounds, self.bounds))

    def in_words(self) -> str:
        """What was done to the first sentence that is cut, and how many more there are.

        >>> table = NominalTable.from_columns({"form": list("abcd")},
        ...                                   sequence_bounds=np.array([0, 4]))
        >>> Stretches.of(table, 2).in_words()  # doctest: +ELLIPSIS
        "a sentence of 4 tokens ('a b c d …') is parsed in 2 stretches of at most 2, ..."
        """
        cut = np.flatnonzero(self.counts > 1)
        first = int(cut[0])
        more = f"; {len(cut) - 1:,} more are cut as well" if len(cut) > 1 else ""
        return (
            f"a sentence of {self.bounds[first + 1] - self.bounds[first]:,} tokens "
            f"('{first_words(self.table, int(self.bounds[first]))} …') is parsed in "
            f"{self.counts[first]:,} stretches of at most {self.longest}, which are joined at "
            f"their roots{more}; a blank line after each sentence makes better trees"
        )

    def joined(self, heads: Sequence[Sequence[int]], *, one_root: bool) -> list[list[int]]:
        """The heads of sentences from those of their stretches.

        Roots of later stretches hang on that of the first, or with ``one_root=False`` stay roots.
        """
        whole: list[list[int]] = [[] for _ in self.bounds[1:]]
        for tree, place in zip(heads, self.places(heads, one_root=one_root), strict=True):
            whole[place.sentence] += [place.number(head) for head in tree]
        return whole

    def places(self, heads: Sequence[Sequence[int]], *, one_root: bool) -> Iterator[Place]:
        """Where each stretch lies, given the heads of all."""
        root = 0
        for tree, first in zip(heads, self.table.bounds.tolist(), strict=False):
            # Of empty sentences it does not matter which they belong to.
            last = len(self.bounds) - 2
            sentence = min(last, int(np.searchsorted(self.bounds, first, side="right")) - 1)
            before = first - int(self.bounds[sentence])
            yield Place(sentence, before, root if before else 0)
            if not before:
                root = list(tree).index(0) + 1 if one_root and tree else 0


class Place(NamedTuple):
    """The sentence of a stretch, the tokens before it, and the token that its roots hang on."""

    sentence: int
    before: int
    root: int

    def number(self, head: int) -> int:
        """The head in the sentence that is this head in the stretch."""
        return head + self.before if head else self.root


def is_long(table: NominalTable, longest: int) -> np.ndarray:
    """Which sentences have more tokens than ``longest``."""
    return np.diff(table.bounds) > longest


def first_words(table: NominalTable, row: int) -> str:
    """The words of a token and those after it, to find a sentence by."""
    if _WORDS not in table.columns:
        return ""
    rows = range(row, min(row + 4, len(table)))
    return " ".join(f"{table.value(_WORDS, at) or '_':.20}" for at in rows)


def _may_end(table: NominalTable) -> np.ndarray:
    """Whether a sentence may end after each token."""
    if _WORDS not in table.columns:
        return np.zeros(len(table), dtype=bool)
    j = table.column_index(_WORDS)
    codes = [c for c, value in enumerate(table.vocabularies[j], start=1) if value in ENDS]
    return np.isin(table.codes[:, j], codes)


def _cuts(first: int, last: int, longest: int, ends: np.ndarray) -> list[int]:
    """The ends of the stretches of a sentence."""
    cuts = []
    while last - first > longest:
        half = first + longest // 2
        marks = np.flatnonzero(ends[half : first + longest])
        first = half + int(marks[-1]) + 1 if len(marks) else first + longest
        cuts.append(first)
    return [*cuts, last]
