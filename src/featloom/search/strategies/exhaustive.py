"""Exhaustive search: every candidate of a space, in the space's order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from featloom.search.space import Candidate, SearchSpace
from featloom.search.strategies import RoundByRound


class Exhaustive(RoundByRound):
    """Ask for every candidate once, the last choice changing fastest.

    Parameters
    ----------
    space : the named choices.

    Examples
    --------
    >>> strategy = Exhaustive(SearchSpace({"k": [1, 3]}))
    >>> strategy.ask(5)
    [{'k': 1}, {'k': 3}]
    """

    def __init__(self, space: SearchSpace):
        super().__init__()
        self.space = space

    @property
    def total(self) -> int:
        return len(self.space)

    def rounds(self) -> Generator[Iterable[Candidate], list[float], None]:
        yield self.space


class Listed(RoundByRound):
    """Ask for the candidates of a list, each once and in its order.

    >>> Listed([{"k": 1}, {"k": 7}]).ask(5)
    [{'k': 1}, {'k': 7}]
    """

    def __init__(self, candidates: Sequence[Candidate]):
        super().__init__()
        self.candidates = [dict(candidate) for candidate in candidates]

    @property
    def total(self) -> int:
        return len(self.candidates)

    def rounds(self) -> Generator[Iterable[Candidate], list[float], None]:
        yield self.candidates
