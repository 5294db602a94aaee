"""Which templates there are: places of a window, alone and joined.

An *atomic* template looks at one place, a column at an offset.  A *combined* one joins places.
The paper allows at most three places; of three at most one may look at a word; and between
neighbouring places at most one word may lie.  Here, "words" are the columns with many values.

Where columns are derived from others, many joins say nothing new: a word and its own suffix are
the word.  Such joins are left out; whether one column settles another is read off the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.template import Template

Place = tuple[str, int]
Places = tuple[Place, ...]

MANY_VALUES = 2000
WIDEST_GAP = 2  # offsets 0 and 2 have one word between them


class CandidateTemplates:
    """The templates over the columns of a table, within a window.

    Parameters
    ----------
    table : with all derived columns.
    window : the largest offset.
    given : where templates come from elsewhere, these and no others.
    """

    def __init__(self, table: NominalTable, window: int, given: list[Places] | None = None):
        self.columns, self.window, self.given = table.columns, window, given
        sizes = [len(vocabulary) for vocabulary in table.vocabularies]
        limit = min(MANY_VALUES, max(sizes, default=0) - 1)
        self.words = {n for n, size in zip(table.columns, sizes, strict=True) if size > limit}
        self._settled = settled_columns(table)

    def first(self) -> list[Places]:
        """What is scored at the start: those given, or else all places and all pairs."""
        return [*self.atomic(), *self.pairs()] if self.given is None else list(self.given)

    def atomic(self) -> list[Places]:
        """Every column at every offset, the nearest first."""
        return [((name, o),) for o in outward(self.window) for name in self.columns]

    def pairs(self) -> list[Places]:
        """All sensible joins of two places."""
        places = [place for (place,) in self.atomic()]
        pairs = (in_order(pair) for pair in combinations(places, 2))
        return [pair for pair in pairs if self.is_sensible(pair)]

    def extensions(self, places: Places) -> list[Places]:
        """All sensible joins with one place more; none where templates were given."""
        if self.given is not None:
            return []
        more = (in_order((*places, place)) for (place,) in self.atomic() if place not in places)
        return [extended for extended in more if self.is_sensible(extended)]

    def is_sensible(self, places: Places) -> bool:
        """No place settles another, there is no wide gap, and words are few."""
        n_words = sum(name in self.words for name, _ in places)
        if n_words > (2 if len(places) == 2 else 1):
            return False
        for (_, before), (_, after) in pairwise(places):
            if after - before > WIDEST_GAP:
                return False
        return not any(
            one[1] == other[1]
            and ((one[0], other[0]) in self._settled or (other[0], one[0]) in self._settled)
            for one, other in combinations(places, 2)
        )


def given_templates(templates: Iterable[Template | Places], window: int) -> list[Places]:
    """Templates from elsewhere as this search has them, each once, in the order given.

    Label pairs are left out, because every CRF has them.

    >>> given_templates([Template((("tag", 0), ("word", -1))), Template((), "B")], window=1)
    [(('word', -1), ('tag', 0))]
    """
    found: dict[Places, None] = {}
    for template in templates:
        if isinstance(template, Template) and template.kind == "B":
            if template.places:
                raise InputError(f"template {template} is of kind B; those of kind U are searched")
            continue
        places = template.places if isinstance(template, Template) else tuple(template)
        for name, offset in places:
            if abs(offset) > window:
                raise InputError(
                    f"template {Template(places)} looks {abs(offset)} tokens away from "
                    f"{name!r}; the window is {window}"
                )
        if places:
            found[in_order(places)] = None
    if not found:
        raise InputError("candidates holds no template")
    return list(found)


def in_order(places: Iterable[Place]) -> Places:
    """Places from left to right: the same places joined are the same template."""
    return tuple(sorted(places, key=lambda place: (place[1], place[0])))


def outward(window: int) -> list[int]:
    """Offsets from the token outward.

    >>> outward(2)
    [0, -1, 1, -2, 2]
    """
    return [0, *(sign * o for o in range(1, window + 1) for sign in (-1, 1))]


def settled_columns(table: NominalTable) -> set[tuple[str, str]]:
    """Pairs of columns (a, b) where the value of a settles that of b.

    >>> table = NominalTable.from_columns({"word": ["a", "A", "b"], "lower": ["a", "a", "b"]})
    >>> settled_columns(table)
    {('word', 'lower')}
    """
    found = set()
    for j, a in enumerate(table.columns):
        codes = table.codes[:, j]
        one_row = np.zeros(len(table.vocabularies[j]) + 1, dtype=np.int64)
        one_row[codes] = np.arange(len(codes))
        for k, b in enumerate(table.columns):
            if j != k and np.array_equal(table.codes[one_row[codes], k], table.codes[:, k]):
                found.add((a, b))
    return found


def paper_windows(columns: Sequence[str], words: set[str], window: int) -> list[list[Places]]:
    """Combined templates in the order of the paper, those of one width together.

    A window of two tokens begins at the token and moves forward, then backward from the token;
    then windows of three, and so on.  A template belongs to the narrowest window that holds it.

    >>> paper_windows(["pos"], set(), 1)
    [[(('pos', 0), ('pos', 1)), (('pos', -1), ('pos', 0))], \
[(('pos', -1), ('pos', 1)), (('pos', -1), ('pos', 0), ('pos', 1))]]
    """
    widths = []
    for width in range(1 if len(columns) > 1 else 2, 2 * window + 2):
        starts = range(-window, window - width + 2)
        forward_first = sorted(starts, key=lambda start: (start < 0, abs(start)))
        widths.append(
            [
                places
                for start in forward_first
                for places in _in_window(columns, words, start, start + width - 1)
            ]
        )
    return [places for places in widths if places]


def _in_window(columns, words, start: int, end: int) -> list[Places]:
    inside = [(name, offset) for offset in range(start, end + 1) for name in columns]
    joins = (in_order(places) for size in (2, 3) for places in combinations(inside, size))
    return [
        places
        for places in joins
        if places[0][1] == start and places[-1][1] == end and is_allowed(places, words)
    ]


def is_allowed(places: Places, words: set[str]) -> bool:
    """The three restrictions of the paper.

    >>> is_allowed((("word", 0), ("pos", 0), ("word", 1)), {"word"})
    False
    >>> is_allowed((("pos", -1), ("word", 0), ("pos", 1)), {"word"})
    True
    >>> is_allowed((("pos", -1), ("pos", 2)), {"word"})
    False
    """
    if len(places) > 3 or (len(places) == 3 and sum(name in words for name, _ in places) > 1):
        return False
    return all(b[1] - a[1] <= WIDEST_GAP for a, b in pairwise(places))
