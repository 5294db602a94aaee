"""Guided search: a model of the scores so far says which candidate to try next.

After a few first candidates a Gaussian process over candidates (see ``landscape``) is fitted to
the scores.  The next candidate is the one with the highest *expected improvement*: the gain over
the best score so far, averaged over what the model holds possible.  A candidate earns it by a
high expected score, or by being unlike anything tried.  At the end, a climb makes sure that no
single change of the best candidate is better.

The model sees the scores on a scale that is fine near the best one and coarse far below,
− log(1 + (best − score) / (best − median)): how bad the bad ones are does not help to tell the
good ones apart.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from featloom.options import checked, whole
from featloom.search.space import Candidate, SearchSpace, candidate_key, json_text
from featloom.search.strategies import RoundByRound
from featloom.search.strategies.changes import draw, is_valid, kicked, single_changes
from featloom.search.strategies.landscape import Landscape
from featloom.search.strategies.local import Round, ask_new, climb

_ENTRIES = 30_000_000  # candidates × fits up to which all candidates are looked at
_POOL = 2000  # candidates looked at in a larger space
_TOP = 5  # the best ones, whose surroundings are in the pool


class Guided(RoundByRound):
    """Ask for the candidates that a model of the scores expects most of.

    Parameters
    ----------
    space : the named choices.
    seed : of the first candidates, and of the pool in a large space.
    start : candidates to begin with, good guesses.
    fits : how many different candidates to ask for at most.
    first : how many candidates to try before there is a model; those beyond ``start`` are drawn.
        None: as many as an additive model has parameters, 1 + Σ (values of a choice − 1).
    batch : how many candidates to propose at a time, for parallel evaluation.  Each is proposed
        as if the ones before it had scored what the model expects.
    refit : candidates between two fits of the model; a batch has one after it in any case.
    tolerance : improvement that is too small to look for, as a share of the spread of the scores
        on the model's scale.
    patience : proposals in a row that promise less, after which the search ends.

    Examples
    --------
    >>> space = SearchSpace({name: list(range(6)) for name in "abcd"})
    >>> strategy = Guided(space, fits=60)
    >>> while asked := strategy.ask(10):
    ...     for candidate in asked:
    ...         strategy.tell(candidate, -sum((x - 3) ** 2 for x in candidate.values()))
    >>> strategy.best
    ({'a': 3, 'b': 3, 'c': 3, 'd': 3}, 0.0)
    """

    @checked(fits=whole(1), batch=whole(1), refit=whole(1), patience=whole(1))
    def __init__(
        self,
        space: SearchSpace,
        seed: int = 0,
        start: Sequence[Candidate] = (),
        fits: int = 150,
        first: int | None = None,
        batch: int = 1,
        refit: int = 4,
        tolerance: float = 1e-6,
        patience: int = 5,
    ):
        super().__init__()
        for candidate in start:
            space.check(candidate)
        self.space, self.seed, self.start = space, seed, [dict(candidate) for candidate in start]
        self.fits, self.batch, self.refit = fits, batch, refit
        self.tolerance, self.patience = tolerance, patience
        self.first = 1 + sum(len(values) - 1 for values in space.choices.values())
        if first is not None:
            self.first = max(1, first)

    @property
    def total(self) -> int:
        return self.fits

    def rounds(self) -> Round:
        random_state = random.Random(self.seed)
        codes = _Codes(self.space)
        everything = codes.everything(_ENTRIES // self.fits)
        known: dict[str, float] = {}
        yield from ask_new(self._first_candidates(random_state), known, self.fits)
        landscape = Landscape(codes.sizes)
        quiet = 0
        while len(known) < self.fits:
            tried = codes.of(known)
            if everything is None:
                field = self._pool(codes, known, random_state)
            else:
                field = everything[~np.isin(codes.numbers(everything), codes.numbers(tried))]
            if not len(field):
                return
            scores = np.array(list(known.values()))
            scale = _scale(scores)
            landscape.fit(tried, scale(scores))
            landscape.look_at(field)
            is_open = np.ones(len(field), dtype=bool)
            # Several candidates at a time are believed before they are known, so that the model
            # has to be fitted anew after them.
            for _ in range(self.refit if self.batch == 1 else 1):
                best = json.loads(max(known, key=known.__getitem__))
                highest = float(scale(np.array(known[candidate_key(best)])))
                places, promise = self._propose(landscape, field, is_open, highest)
                quiet = quiet + 1 if promise < self.tolerance else 0
                around = single_changes(self.space, best)
                n_new = sum(candidate_key(candidate) not in known for candidate in around)
                if not places or quiet >= self.patience or self.fits - len(known) <= n_new:
                    peak = yield from climb(self.space, best, known, self.fits)
                    if quiet >= self.patience and peak is best:
                        return
                    quiet = 0
                    break
                proposed = [codes.candidate(field[place]) for place in places]
                yield from ask_new(proposed, known, self.fits)
                if self.batch == 1:
                    score = known[candidate_key(proposed[0])]
                    landscape.add(field[places[0]], float(scale(np.array(score))))

    def _first_candidates(self, random_state: random.Random) -> list[Candidate]:
        first = {candidate_key(candidate): candidate for candidate in self.start}
        for _ in range(20 * self.first):  # enough, unless the space is smaller
            if len(first) >= self.first:
                break
            candidate = draw(self.space, random_state)
            first.setdefault(candidate_key(candidate), candidate)
        return list(first.values())

    def _propose(
        self, landscape: Landscape, field: np.ndarray, is_open: np.ndarray, highest: float
    ) -> tuple[list[int], float]:
        """Places in the field to try next, and the improvement expected of the first."""
        places: list[int] = []
        promise = 0.0
        while len(places) < self.batch and is_open.any():
            if places:
                believed = float(landscape.mean[places[-1]])
                landscape.add(field[places[-1]], believed)
                highest = max(highest, believed)
            gain = np.where(is_open, landscape.expected_improvement(highest), -1.0)
            # The first of those that are equal but for their last digits.
            place = int(np.argmax(gain >= gain.max() * (1 - 1e-6)))
            promise = promise if places else float(gain[place])
            places.append(place)
            is_open[place] = False
        return places, promise

    def _pool(
        self, codes: _Codes, known: dict[str, float], random_state: random.Random
    ) -> np.ndarray:
        """Untried candidates of a large space: around the best ones, and anywhere."""
        pool: dict[str, Candidate] = {}
        top = [json.loads(key) for key in sorted(known, key=known.__getitem__)[-_TOP:]]
        for candidate in top:
            around = single_changes(self.space, candidate)
            around += [
                kicked(self.space, candidate, 2, random_state) for _ in range(_POOL // (2 * _TOP))
            ]
            pool.update((candidate_key(changed), changed) for changed in around)
        anywhere = [draw(self.space, random_state) for _ in range(_POOL // 2)]
        pool.update((candidate_key(candidate), candidate) for candidate in anywhere)
        return codes.of(key for key in pool if key not in known)


class _Codes:
    """Candidates as rows of numbers: for each choice the place of its value."""

    def __init__(self, space: SearchSpace):
        self.space = space
        self.sizes = [len(values) for values in space.choices.values()]
        self._places = {
            name: {json_text(value): place for place, value in enumerate(values)}
            for name, values in space.choices.items()
        }

    def of(self, keys: Iterable[str]) -> np.ndarray:
        candidates = [json.loads(key) for key in keys]
        rows = [
            [places[json_text(candidate[name])] for name, places in self._places.items()]
            for candidate in candidates
        ]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.sizes))

    def candidate(self, row: np.ndarray) -> Candidate:
        return {
            name: values[place]
            for (name, values), place in zip(self.space.choices.items(), row, strict=True)
        }

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """One number for each row."""
        return np.ravel_multi_index(tuple(rows.T), self.sizes)

    def everything(self, limit: int) -> np.ndarray | None:
        """All valid candidates; None where there may be more than the limit."""
        if math.prod(self.sizes) > limit:
            return None
        rows = np.indices(self.sizes).reshape(len(self.sizes), -1).T
        if self.space.valid is not None:
            rows = rows[[is_valid(self.space, self.candidate(row)) for row in rows]]
        return rows


def _scale(scores: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """From scores to the model's scale, standardised over these scores."""
    finite = scores[np.isfinite(scores)]
    least, best, median = (
        (finite.min(), finite.max(), np.median(finite)) if len(finite) else (0.0, 0.0, 0.0)
    )
    width = float(best - median) or float(best - least) or 1.0

    def bent(scores: np.ndarray) -> np.ndarray:
        below = (best - np.clip(scores, least, None)) / width
        # Scores above the best come in only before the next fit of the model.
        return np.where(below > 0, -np.log1p(np.maximum(below, 0.0)), -below)

    centre, spread = float(bent(scores).mean()), float(bent(scores).std()) or 1.0
    return lambda scores: (bent(scores) - centre) / spread
