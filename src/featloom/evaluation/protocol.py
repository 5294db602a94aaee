"""Which units are learned from and which are judged: the one way to hold out.

A fifth of the units (whole groups, where there are any) is the test part, which no choice sees.
The rest is dealt into folds: a method learns from all folds but one and predicts that one.  Smaller
draws of units are parts of larger ones, so that what is learned from few can be compared with what
is learned from many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.folds import make_folds

TEST = "test"
HELD_OUT = 5  # one part in so many
MOST_JUDGED, MOST_TESTED = 20_000, 50_000  # units of a fold and of the test part, predicted


@dataclass(frozen=True, eq=False)
class Protocol:
    """The parts of a data set.

    Parameters
    ----------
    learn, test : numbers of units.
    fold_of : the fold of each unit of ``learn``.
    seed : of everything drawn.
    words : how the parts were come by.
    """

    learn: np.ndarray
    test: np.ndarray
    fold_of: np.ndarray
    seed: int
    words: str

    @property
    def n_folds(self) -> int:
        return int(self.fold_of.max()) + 1

    def parts(self, fold: int | str, size: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Units to learn from (so many of them, drawn) and units to predict."""
        if fold == TEST:
            learned, judged = self.learn, self.test
        else:
            learned = self.learn[self.fold_of != fold]
            judged = drawn(self.learn[self.fold_of == fold], MOST_JUDGED, self.seed)
        return drawn(learned, size, self.seed), judged

    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(learned, judged) places among ``learn``, as scikit-learn's ``cv`` takes them."""
        return [
            (np.flatnonzero(self.fold_of != fold), np.flatnonzero(self.fold_of == fold))
            for fold in range(self.n_folds)
        ]


def make_protocol(
    strata: np.ndarray,
    groups: np.ndarray | None = None,
    *,
    n_folds: int,
    seed: int,
    is_test: np.ndarray | None = None,
    unit: str = "rows",
) -> Protocol:
    """Hold out a test part, or take the one that is given, and deal the rest into folds.

    Parameters
    ----------
    strata : a class for each unit, which the parts should hold in equal shares.
    groups : the document of each unit, which no part splits; None: units stand by themselves.
    is_test : whether each unit is in the test part; None: a fifth is held out.
    unit : what the units are, in the words of the protocol.

    Examples
    --------
    >>> parts = make_protocol(np.array([0, 1] * 10), n_folds=4, seed=0)
    >>> len(parts.learn), len(parts.test), np.bincount(parts.fold_of).tolist()
    (16, 4, [4, 4, 4, 4])
    """
    units = np.arange(len(strata))
    whole = "" if groups is None else ", whole groups,"
    if is_test is not None:
        test, learn = units[is_test], units[~is_test]
        words = "the test part as given"
    else:
        parts = _dealt(strata, groups, HELD_OUT, seed)
        test, learn = units[parts == 0], units[parts != 0]
        words = f"a fifth of the {unit}{whole} held out as test part"
    if len(test) > MOST_TESTED:
        test = drawn(test, MOST_TESTED, seed)
        words += f", {MOST_TESTED:,} of it drawn"
    if not len(test) or not len(learn):
        raise InputError(f"{len(strata)} {unit} are too few to hold some out")
    if len(np.unique(strata)) > 1 and len(np.unique(strata[learn])) < 2:
        raise InputError("the part to learn from holds one class only; there are too few rows")
    inside = None if groups is None else groups[learn]
    n_folds = min(n_folds, len(learn) if inside is None else len(np.unique(inside)))
    if n_folds < 2:
        raise InputError(f"{len(learn)} {unit} are too few to deal into folds")
    fold_of = _dealt(strata[learn], inside, n_folds, seed + 1)
    words += f"; the others in {n_folds} folds{whole.rstrip(',')}, by which settings are chosen"
    return Protocol(learn, test, fold_of, seed, words)


def drawn(units: np.ndarray, size: int | None, seed: int) -> np.ndarray:
    """The first of a fixed shuffle, in their order: smaller draws are parts of larger ones.

    >>> few, more = (drawn(np.arange(100), size, seed=0) for size in (5, 20))
    >>> len(few), set(few.tolist()) <= set(more.tolist())
    (5, True)
    """
    if size is None or size >= len(units):
        return units
    shuffled = np.random.default_rng(seed).permutation(len(units))
    return units[np.sort(shuffled[:size])]


def _dealt(strata: np.ndarray, groups: np.ndarray | None, n_parts: int, seed: int) -> np.ndarray:
    return make_folds(strata, n_folds=n_parts, groups=groups, seed=seed, allow_rare=True)
