"""Many candidates for the price of one: an evaluation that scores all values of a choice.

Some evaluations give more than they were asked for.  One pass over the nearest neighbours, for
instance, gives the accuracy of every k.  This adapter stands between the loop and a strategy
over full candidates: the loop is asked for candidates *without* that choice, each of which is
evaluated once, and the strategy is told the score of the value it had in mind.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from featloom.errors import InputError
from featloom.search.space import Candidate, candidate_key, json_text
from featloom.search.strategies import Result, Strategy, score_of
from featloom.words import no_such


class AllAtOnce:
    """Ask for candidates without one choice, all of whose values are scored together.

    An evaluation gives ``{"score": the best of them, "scores": [[value, score], …]}``.  Candidates
    of the strategy that differ in this choice alone cost one evaluation.  ``best`` is the
    strategy's best full candidate.

    A strategy over a space without the choice needs no adapter: its scores are those of the best
    value.

    Parameters
    ----------
    strategy : works on full candidates.
    choice : the name of the choice.

    Examples
    --------
    >>> from featloom.search import Exhaustive, SearchSpace, search
    >>> space = SearchSpace({"weights": ["none", "gain_ratio"], "k": [1, 3]})
    >>> def evaluate(setting):
    ...     scores = [[1, 0.8], [3, 0.9 if setting["weights"] == "none" else 0.7]]
    ...     return {"score": max(score for _, score in scores), "scores": scores}
    >>> strategy = AllAtOnce(Exhaustive(space), choice="k")
    >>> len(search(evaluate, strategy)), strategy.best
    (2, ({'weights': 'none', 'k': 3}, 0.9))
    """

    def __init__(self, strategy: Strategy, choice: str = "k"):
        self.strategy, self.choice = strategy, choice
        self._untold: deque[Candidate] = deque()

    @property
    def best(self) -> tuple[Candidate, float] | None:
        return self.strategy.best

    def ask(self, n: int) -> list[Candidate]:
        asked = self.strategy.ask(n)
        for candidate in asked:
            if self.choice not in candidate:
                raise InputError(no_such("choice", self.choice, candidate))
        self._untold.extend(asked)
        # One for one, though some are then the same: the loop answers those from memory, and
        # how candidates are cut into calls makes no difference.
        return [self._without(candidate) for candidate in asked]

    def tell(self, candidate: Candidate, result: Result) -> None:
        expected = self._untold.popleft() if self._untold else None
        if expected is None or candidate_key(self._without(expected)) != candidate_key(candidate):
            raise RuntimeError(f"told of {candidate!r}, while {expected!r} was to come next")
        self.strategy.tell(expected, self._score_of_value(expected[self.choice], result))

    def _without(self, candidate: Candidate) -> Candidate:
        return {name: value for name, value in candidate.items() if name != self.choice}

    def _score_of_value(self, value: Any, result: Result) -> float:
        scores = result.get("scores") if not isinstance(result, (int, float)) else None
        if not isinstance(scores, (list, tuple)):
            raise InputError(f"an evaluation gave no scores for the values of {self.choice!r}")
        for other, score in scores:
            if json_text(other) == json_text(value):
                return score_of(score)
        raise InputError(f"an evaluation gave no score for {self.choice} = {json_text(value)}")
