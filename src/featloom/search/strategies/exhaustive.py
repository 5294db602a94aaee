"""Exhaustive search: every candidate of a space, in the space's order."""

from __future__ import annotations

from collections.abc import Generator, Iterable

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
