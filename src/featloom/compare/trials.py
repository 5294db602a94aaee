"""Which units are learned from, which are judged, and what one trial of a contender is.

A fifth of the units (whole groups, where there are any) is the test part.  The rest is dealt into
folds: a contender learns from all folds but one and answers that one; then it learns from all of
them and answers the test part.  For learning curves, and to see what it costs, it also learns from
a few units first.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from featloom.discover.contenders import Contender, Question
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds
from featloom.formats.packing import packed

TEST = "test"
HELD_OUT = 5  # one part in so many
_MOST_JUDGED, _MOST_TESTED = 20_000, 50_000  # units of a fold and of the test part, answered
_WARM_UP = 60


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

    def parts(self, fold: int | str, size: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Units to learn from (so many of them, drawn) and units to answer."""
        if fold == TEST:
            learned, judged = self.learn, self.test
        else:
            learned = self.learn[self.fold_of != fold]
            judged = _drawn(self.learn[self.fold_of == fold], _MOST_JUDGED, self.seed)
        return _drawn(learned, size, self.seed), judged

    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(learned, judged) places among ``learn``, as scikit-learn's ``cv`` takes them."""
        return [
            (np.flatnonzero(self.fold_of != fold), np.flatnonzero(self.fold_of == fold))
            for fold in range(self.n_folds)
        ]


def make_protocol(
    question: Question, *, n_folds: int, seed: int, is_test: np.ndarray | None = None
) -> Protocol:
    """Hold out a test part, or take the one that is given, and deal the rest into folds."""
    n = len(question)
    units = np.arange(n)
    strata, groups = question.strata, question.groups
    whole = "" if groups is None else ", whole groups,"
    if is_test is not None:
        test, learn = units[is_test], units[~is_test]
        words = "the test part as given"
    else:
        parts = _dealt(strata, groups, HELD_OUT, seed)
        test, learn = units[parts == 0], units[parts != 0]
        words = f"a fifth of the {question.unit}{whole} held out as test part"
    if len(test) > _MOST_TESTED:
        test = _drawn(test, _MOST_TESTED, seed)
        words += f", {_MOST_TESTED:,} of it drawn"
    _check(question, learn, test)
    inside = None if groups is None else groups[learn]
    most = len(learn) if inside is None else len(np.unique(inside))
    n_folds = min(n_folds, most)
    if n_folds < 2:
        raise InputError(f"{len(learn)} {question.unit} are too few to deal into folds")
    fold_of = _dealt(strata[learn], inside, n_folds, seed + 1)
    words += f"; the others in {n_folds} folds{whole.rstrip(',')}; settings chosen inside each fold"
    return Protocol(learn, test, fold_of, seed, words)


@dataclass
class Trials:
    """Answers to "how good is this contender, learned from these units?"."""

    question: Question
    protocol: Protocol
    contenders: Mapping[str, Contender]
    _warm: set[str] = field(default_factory=set)

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        with warnings.catch_warnings():
            # A draw may have a class a row, a solver may stop at its last step: the score tells.
            warnings.simplefilter("ignore")
            return self._trial(candidate)

    def _trial(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        contender = self.contenders[candidate["method"]]
        learned, judged = self.protocol.parts(candidate["fold"], candidate["units"])
        seed = self.protocol.seed
        begun = perf_counter()
        try:
            self._warm_up(contender, learned)
            warm = perf_counter()
            fitted = contender.fit(self.question.take(learned), seed, 1)
            fit_s = perf_counter() - warm
            asked = perf_counter()
            answers = fitted.answers(self.question.take(judged))
            predict_s = perf_counter() - asked
        except Exception as error:
            # A method that cannot do with such data says so, or fails; the others go on.
            said = isinstance(error, InputError)
            fault = str(error) if said else f"it failed: {type(error).__name__}: {error}"
            return {
                "score": float("-inf"),
                "fault": fault.splitlines()[0],
                "spent_s": perf_counter() - begun,
            }
        counts = self.question.counts(judged, answers)
        return {
            "score": float(self.question.of_counts(counts.sum(axis=0))),
            "learned": len(learned),
            "judged": len(judged),
            "fit_s": fit_s,
            "predict_s": predict_s,
            "spent_s": perf_counter() - begun,
            "size": int(fitted.size),
            "size_words": fitted.size_words,
            "setting": fitted.setting,
            "answers": packed(answers),
        }

    def _warm_up(self, contender: Contender, learned: np.ndarray) -> None:
        """The first fit in a process compiles; it is not to be timed."""
        if contender.name in self._warm or not contender.compiles:
            return
        self._warm.add(contender.name)
        few = self.question.take(learned[:_WARM_UP])
        # So few units may have one class; what is at fault with all of them, the trial finds.
        with suppress(Exception):
            contender.fit(few, self.protocol.seed, 1).answers(few)


def _dealt(strata: np.ndarray, groups: np.ndarray | None, n_parts: int, seed: int) -> np.ndarray:
    return make_folds(strata, n_folds=n_parts, groups=groups, seed=seed, allow_rare=True)


def _drawn(units: np.ndarray, size: int | None, seed: int) -> np.ndarray:
    """The first of a fixed shuffle, in their order: smaller draws are parts of larger ones."""
    if size is None or size >= len(units):
        return units
    shuffled = np.random.default_rng(seed).permutation(len(units))
    return units[np.sort(shuffled[:size])]


def _check(question: Question, learn: np.ndarray, test: np.ndarray) -> None:
    if not len(test) or not len(learn):
        raise InputError(f"{len(question)} {question.unit} are too few to hold some out")
    if len(np.unique(question.strata)) > 1 and len(np.unique(question.strata[learn])) < 2:
        raise InputError("the part to learn from holds one class only; there are too few rows")


def names_of(contenders: Sequence[Contender]) -> dict[str, Contender]:
    """Contenders by name."""
    return {one.name: one for one in contenders}
