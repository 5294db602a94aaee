"""Strategies: which candidates to try next.

A strategy answers two calls.  ``ask(n)`` gives up to ``n`` candidates, none when the search is
over; ``tell(candidate, result)`` hands back what one of them was worth.  The loop tells the
results in the order the candidates were asked for, and asks again only when it has told them
all.  A result is a number, or a mapping whose ``"score"`` is one; higher is better.

What makes a search resumable is one law: **the candidates that a strategy asks for depend on
its parameters, its seed and the results told so far, and on nothing else** — not on the clock,
not on ``n``, not on how the candidates were cut into calls.  Whoever replays the same results
then gets the same questions, so no state needs to be stored.  A strategy may ask for a candidate
twice; the second time is answered from memory.  It must end by itself.

Most strategies go in rounds: a generation, the neighbours of a point.  Such a strategy extends
:class:`RoundByRound`, writes one method, and has the law for nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from featloom.errors import InputError
from featloom.search.space import Candidate, candidate_key

Result: TypeAlias = float | Mapping[str, Any]


@runtime_checkable
class Strategy(Protocol):
    """What the loop needs of a strategy.

    An attribute ``total``, where a strategy has one, says how many candidates there will be at
    most; the progress line shows it.
    """

    def ask(self, n: int) -> list[Candidate]:
        """Up to ``n`` candidates to evaluate next; an empty list when the search is over."""
        ...

    def tell(self, candidate: Candidate, result: Result) -> None:
        """What a candidate was worth, in the order asked."""
        ...

    @property
    def best(self) -> tuple[Candidate, float] | None:
        """The best candidate told so far and its score; of equals, the first told."""
        ...


def score_of(result: Result) -> float:
    """The number that a search maximises.

    >>> score_of({"score": 0.84, "folds": [0.83, 0.85]})
    0.84
    """
    score = result.get("score") if isinstance(result, Mapping) else result
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise InputError(f"an evaluation gave {result!r}, which has no score")
    try:
        score = float(score)
    except OverflowError:
        raise InputError("an evaluation gave a score that is too large for a number") from None
    if math.isnan(score):
        raise InputError("an evaluation gave the score nan")
    return score


class RoundByRound(ABC):
    """A strategy that proposes a round of candidates and waits for all their scores.

    ``rounds`` is a generator: it yields the candidates of a round and receives their scores, in
    the same order.  It ends when the search is over.  Random numbers come from a generator that
    is seeded inside ``rounds``.

    Examples
    --------
    Doubling until it no longer helps:

    >>> class Doubling(RoundByRound):
    ...     def rounds(self):
    ...         k, before = 1, float("-inf")
    ...         while True:
    ...             (now,) = yield [{"k": k}]
    ...             if now <= before:
    ...                 return
    ...             k, before = 2 * k, now
    >>> strategy = Doubling()
    >>> while asked := strategy.ask(10):
    ...     for candidate in asked:
    ...         strategy.tell(candidate, -abs(candidate["k"] - 9))
    >>> strategy.best
    ({'k': 8}, -1.0)
    """

    def __init__(self) -> None:
        self._generator: Generator[Iterable[Candidate], list[float], None] | None = None
        self._round: Iterator[Candidate] = iter(())
        self._untold: deque[Candidate] = deque()
        self._scores: list[float] = []
        self._best: tuple[Candidate, float] | None = None

    @abstractmethod
    def rounds(self) -> Generator[Iterable[Candidate], list[float], None]:
        """Yield the candidates of each round; receive their scores."""

    @property
    def best(self) -> tuple[Candidate, float] | None:
        return self._best

    @property
    def total(self) -> int | None:
        return None

    def ask(self, n: int) -> list[Candidate]:
        asked: list[Candidate] = []
        while len(asked) < n:
            candidate = next(self._round, None)
            if candidate is not None:
                asked.append(candidate)
            elif asked or self._untold or not self._next_round():
                break
        self._untold.extend(asked)
        return [dict(candidate) for candidate in asked]

    def tell(self, candidate: Candidate, result: Result) -> None:
        expected = self._untold.popleft() if self._untold else None
        if expected is None or candidate_key(expected) != candidate_key(candidate):
            raise RuntimeError(f"told of {candidate!r}, while {expected!r} was to come next")
        score = score_of(result)
        self._scores.append(score)
        if self._best is None or score > self._best[1]:
            self._best = dict(candidate), score

    def _next_round(self) -> bool:
        try:
            if self._generator is None:
                self._generator = self.rounds()
                self._round = iter(next(self._generator))
            else:
                scores, self._scores = self._scores, []
                self._round = iter(self._generator.send(scores))
        except StopIteration:
            self._round = iter(())
            return False
        return True
