"""Iterated local search: climb to a peak, kick away from it, climb again.

A climb tries every single change and takes the best one until none is better.  It ends on a
peak, which need not be the highest.  A kick changes two or three choices at once, far enough to
leave the peak and near enough to keep most of what is good about it; the climb from there is
accepted if it ends no lower.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Sequence

from featloom.search.space import Candidate, SearchSpace, candidate_key
from featloom.search.strategies import RoundByRound
from featloom.search.strategies.changes import draw, kicked, single_changes

Round = Generator[Iterable[Candidate], list[float], None]


class IteratedLocal(RoundByRound):
    """Climb over single changes, again and again from kicked peaks.

    Parameters
    ----------
    space : the named choices.
    seed : of the kicks.
    start : candidates of which the best is where the first climb begins; without any it begins
        anywhere.
    kicks : how many, after which the search ends.
    fits : how many different candidates to ask for at most; None: any number.
    strength : the least and the greatest number of choices that a kick changes.

    Examples
    --------
    >>> space = SearchSpace({name: [0, 1, 2, 3] for name in "abc"})
    >>> strategy = IteratedLocal(space, seed=1)
    >>> while asked := strategy.ask(10):
    ...     for candidate in asked:
    ...         strategy.tell(candidate, sum(candidate.values()))
    >>> strategy.best
    ({'a': 3, 'b': 3, 'c': 3}, 9.0)
    """

    def __init__(
        self,
        space: SearchSpace,
        seed: int = 0,
        start: Sequence[Candidate] = (),
        kicks: int = 20,
        fits: int | None = None,
        strength: tuple[int, int] = (2, 3),
    ):
        super().__init__()
        for candidate in start:
            space.check(candidate)
        self.space, self.seed, self.start = space, seed, [dict(candidate) for candidate in start]
        self.kicks, self.fits, self.strength = kicks, fits, strength

    def rounds(self) -> Round:
        random_state = random.Random(self.seed)
        start = self.start or [draw(self.space, random_state)]
        known: dict[str, float] = {}
        yield from ask_new(start, known, self.fits)
        peak = highest(start, known)
        peak = yield from climb(self.space, peak, known, self.fits)
        for _ in range(self.kicks):
            foot = kicked(self.space, peak, random_state.randint(*self.strength), random_state)
            yield from ask_new([foot], known, self.fits)
            if self.fits is not None and len(known) >= self.fits:
                return
            other = yield from climb(self.space, foot, known, self.fits)
            peak = highest([other, peak], known)


def climb(
    space: SearchSpace, here: Candidate, known: dict[str, float], fits: int | None = None
) -> Generator[Iterable[Candidate], list[float], Candidate]:
    """Go up by single changes until none is better; gives the peak.

    ``known`` holds the scores so far by key and is added to; what is in it is not asked again.
    The climb breaks off where ``known`` has ``fits`` scores.
    """
    while True:
        around = single_changes(space, here)
        yield from ask_new(around, known, fits)
        above = highest([here, *around], known)
        if above is here:
            return here
        here = above


def ask_new(candidates: Iterable[Candidate], known: dict[str, float], fits: int | None) -> Round:
    """A round of those candidates whose scores are not known yet, as many as ``fits`` allows."""
    new = {candidate_key(candidate): candidate for candidate in candidates}
    keys = [key for key in new if key not in known]
    if fits is not None:
        keys = keys[: max(0, fits - len(known))]
    if keys:
        scores = yield [new[key] for key in keys]
        known.update(zip(keys, scores, strict=True))


def highest(candidates: Sequence[Candidate], known: dict[str, float]) -> Candidate:
    """The candidate with the highest known score; of equals, the first."""
    return max(candidates, key=lambda candidate: known.get(candidate_key(candidate), float("-inf")))
