"""Templates turned into features of tokens: one number a template and token.

Fitted on a table of sentences, an expansion knows every combination of values that the places of
each template showed there, and numbers them.  In other sentences a combination that was never
seen is no feature (-1).  Nothing is ever written out as a string; ``name`` spells a feature when
somebody wants to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.kernels.templates import find_keys, hash_keys, join_place, number_keys

MOST_KEYS = 1 << 62  # keys stay below


@dataclass(frozen=True, eq=False)
class _Joined:
    """Some places of a template joined to keys, and the keys that were seen."""

    places: tuple[tuple[int, int], ...]  # (column number, offset)
    keys: np.ndarray
    slots: np.ndarray


class TemplateExpansion:
    """The features of some templates over the columns of a table.

    Parameters
    ----------
    table : sentences to learn the features from; its vocabularies are those of every other table.
    templates : which places they look at.
    cutoff : features seen fewer times are left out.
    threads : they change the time and nothing else.

    Attributes
    ----------
    features : (tokens, templates) feature numbers of the table itself, -1 where there is none.
    first : where the numbers of each template begin; the last is how many there are.

    Examples
    --------
    >>> table = NominalTable.from_columns({"word": ["the", "cat", "the"]},
    ...                                   sequence_bounds=np.array([0, 2, 3]))
    >>> expansion = TemplateExpansion(table, [Template((("word", 0),)), Template((("word", 1),))])
    >>> expansion.features.tolist()
    [[0, 2], [1, 3], [0, 3]]
    >>> expansion.name(3)
    'word[+1]=_E+1'
    """

    def __init__(
        self,
        table: NominalTable,
        templates: Sequence[Template],
        cutoff: int = 1,
        threads: int = 1,
    ):
        self.table, self.templates, self.cutoff = table, tuple(templates), cutoff
        self.bounds = sentence_bounds(table)
        offsets = [abs(offset) for template in templates for _, offset in template.places]
        self.reach = max(offsets, default=0)
        self.features = np.empty((len(table), len(self.templates)), dtype=np.int32)

        def expand(t: int) -> tuple[_Joined, ...]:
            numbers, joined = self._fit(self.templates[t])
            if cutoff > 1:
                numbers, joined = _cut(numbers, joined, cutoff)
            self.features[:, t] = numbers
            return joined

        if threads > 1 and len(self.templates) > 1:
            with ThreadPoolExecutor(max_workers=threads) as pool:
                self._joined = list(pool.map(expand, range(len(self.templates))))
        else:
            self._joined = [expand(t) for t in range(len(self.templates))]
        sizes = [len(joined[-1].keys) for joined in self._joined]
        self.first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        _shift(self.features, self.first)

    @property
    def n_features(self) -> int:
        return int(self.first[-1])

    def apply(self, table: NominalTable) -> np.ndarray:
        """The features of other sentences, given in the same vocabularies."""
        features = np.empty((len(table), len(self.templates)), dtype=np.int32)
        bounds = sentence_bounds(table)
        for t, joined in enumerate(self._joined):
            numbers = np.zeros(len(table), dtype=np.int64)
            for part in joined:
                self._join(numbers, table, bounds, part.places)
                numbers = find_keys(numbers, part.keys, part.slots).astype(np.int64)
            features[:, t] = numbers
        _shift(features, self.first)
        return features

    def same_features(self, other: TemplateExpansion) -> np.ndarray:
        """For each feature its number in another expansion, or -1.

        The columns that both look at must have the same vocabularies.
        """
        found = np.full(self.n_features, -1, dtype=np.int64)
        place_of = {template.places: t for t, template in enumerate(other.templates)}
        for t, template in enumerate(self.templates):
            u = place_of.get(template.places)
            if u is None:
                continue
            joined, there = self._joined[t], other._joined[u]
            if len(joined) == len(there) == 1 and self.reach == other.reach:
                numbers = find_keys(joined[0].keys, there[0].keys, there[0].slots)
            else:
                numbers = self._numbers_in(t, other, u)
            mine = slice(self.first[t], self.first[t + 1])
            found[mine] = np.where(numbers >= 0, numbers + other.first[u], -1)
        return found

    @property
    def parts(self) -> list[list[tuple[int, np.ndarray]]]:
        """For each template the parts it is joined in: how many places, and the keys seen."""
        return [[(len(part.places), part.keys) for part in joined] for joined in self._joined]

    @classmethod
    def from_parts(
        cls,
        table: NominalTable,
        templates: Sequence[Template],
        parts: Sequence[Sequence[tuple[int, np.ndarray]]],
        cutoff: int = 1,
    ) -> TemplateExpansion:
        """The expansion that had these ``parts``; of the table the vocabularies alone count."""
        expansion = cls(table.take(np.empty(0, dtype=np.int64)), templates, cutoff)
        expansion._joined = []
        for template, given in zip(expansion.templates, parts, strict=True):
            places = [(table.column_index(name), offset) for name, offset in template.places]
            ends = np.cumsum([0, *(n for n, _ in given)]).tolist()
            if ends[-1] != len(places) or min(np.diff(ends), default=0) < 0:
                raise InputError(f"the parts of template {template} have other places")
            if any(len(np.unique(keys)) < len(keys) for _, keys in given):
                raise InputError(f"the parts of template {template} have a key twice")
            expansion._joined.append(
                tuple(
                    _Joined(tuple(places[begin:end]), keys, hash_keys(keys))
                    for (begin, end), (_, keys) in zip(pairwise(ends), given, strict=True)
                )
            )
        sizes = [len(joined[-1].keys) for joined in expansion._joined]
        expansion.first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return expansion

    def name(self, feature: int) -> str:
        """A feature in words: ``word[-1]=the & tag=NN``."""
        t = int(np.searchsorted(self.first, feature, side="right")) - 1
        values = self._values(t, int(feature - self.first[t]))
        parts = [str(Template((place,))) for place in self.templates[t].places]
        return " & ".join(f"{part}={value}" for part, value in zip(parts, values, strict=True))

    def _values(self, t: int, number: int) -> list[str]:
        columns = [column for part in self._joined[t] for column, _ in part.places]
        codes = self._codes(t, np.array([number]))
        return [self._value(column, int(c[0])) for column, c in zip(columns, codes, strict=True)]

    def _codes(self, t: int, numbers: np.ndarray) -> list[np.ndarray]:
        """For each place of a template its codes in some of the features."""
        codes: list[np.ndarray] = []
        for part in reversed(self._joined[t]):
            keys = part.keys[numbers]
            for column, _ in reversed(part.places):
                keys, code = np.divmod(keys, self._radix(column))
                codes.append(code)
            numbers = keys  # of the part before
        return codes[::-1]

    def _value(self, column: int, code: int) -> str:
        vocabulary = self.table.vocabularies[column]
        beyond = code - len(vocabulary) - 1
        if beyond < 0:
            return vocabulary[code - 1]
        return f"_B-{beyond + 1}" if beyond < self.reach else f"_E+{beyond - self.reach + 1}"

    def _fit(self, template: Template) -> tuple[np.ndarray, tuple[_Joined, ...]]:
        places = [(self.table.column_index(name), offset) for name, offset in template.places]
        keys = np.zeros(len(self.table), dtype=np.int64)
        joined: list[_Joined] = []
        together: list[tuple[int, int]] = []
        size = 1
        for place in places:
            if together and size > MOST_KEYS // self._radix(place[0]):
                numbers, known = number_keys(keys)
                joined.append(_Joined(tuple(together), known, hash_keys(known)))
                keys, together, size = numbers.astype(np.int64), [], len(known)
            self._join(keys, self.table, self.bounds, (place,))
            together.append(place)
            size *= self._radix(place[0])
        numbers, known = number_keys(keys)
        joined.append(_Joined(tuple(together), known, hash_keys(known)))
        return numbers, tuple(joined)

    def _join(self, keys: np.ndarray, table: NominalTable, bounds: np.ndarray, places) -> None:
        for column, offset in places:
            n_values = len(self.table.vocabularies[column]) + 1
            join_place(keys, table.codes[:, column], bounds, offset, n_values, self.reach)

    def _radix(self, column: int) -> int:
        return len(self.table.vocabularies[column]) + 1 + 2 * self.reach

    def _numbers_in(self, t: int, other: TemplateExpansion, u: int) -> np.ndarray:
        """The numbers of a template's features in an expansion that joins its places otherwise."""
        codes = iter(self._codes(t, np.arange(self.first[t + 1] - self.first[t])))
        numbers = np.zeros(self.first[t + 1] - self.first[t], dtype=np.int64)
        for part in other._joined[u]:
            for column, _ in part.places:
                code = next(codes)
                # Marks after a sentence stand behind those before it, as many as the reach.
                first_after = other._radix(column) - 2 * other.reach + self.reach
                code = np.where(code >= first_after, code + other.reach - self.reach, code)
                numbers = np.where(numbers < 0, -1, numbers * other._radix(column) + code)
            numbers = find_keys(numbers, part.keys, part.slots).astype(np.int64)
        return numbers


def sentence_bounds(table: NominalTable) -> np.ndarray:
    """The bounds of the sentences; a table without them is one sentence."""
    if table.sequence_bounds is None:
        return np.array([0, len(table)], dtype=np.int64)
    return table.sequence_bounds


def check_columns(templates: Sequence[Template], columns: Sequence[str]) -> None:
    """Refuse a template that looks at a column that is not there."""
    for template in templates:
        for name, _ in template.places:
            if name not in columns:
                raise InputError(
                    f"template {template} looks at column {name!r}; there are {', '.join(columns)}"
                )


def _shift(features: np.ndarray, first: np.ndarray) -> None:
    """Number the features of all templates through."""
    for t in range(features.shape[1]):
        column = features[:, t]
        column[column >= 0] += first[t]


def _cut(numbers: np.ndarray, joined: tuple[_Joined, ...], cutoff: int):
    """Leave out the features that were seen fewer times."""
    *before, last = joined
    kept = np.bincount(numbers[numbers >= 0], minlength=len(last.keys)) >= cutoff
    new = np.full(len(kept) + 1, -1, dtype=np.int32)
    new[:-1][kept] = np.arange(kept.sum())
    keys = last.keys[kept]
    return new[numbers], (*before, _Joined(last.places, keys, hash_keys(keys)))
