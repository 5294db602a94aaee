"""Greedy search: from a start, change one choice at a time, always the one that helps most.

Forward selection is this search from nothing selected, where each step adds what raises the
score most, until none does.  Backward selection begins with everything and takes away what
lowers the score least, for as long as the score does not drop.  They differ in the start, in
which changes are allowed (``moves``) and in whether an equal score is good enough (``accept``).
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from typing import Literal

from featloom.errors import InputError
from featloom.options import checked, one_of
from featloom.search.space import Candidate, SearchSpace, candidate_key
from featloom.search.strategies import RoundByRound
from featloom.search.strategies.changes import Moves, is_valid, single_changes
from featloom.words import no_such


class Greedy(RoundByRound):
    """Try every single change, take the best one, and go on until none is accepted.

    Parameters
    ----------
    space : the named choices.
    start : the candidate to begin with.  One that is not a valid combination (nothing selected
        yet) is not evaluated; the best of its changes is then taken whatever it scores.
    only : names of the choices that may change; None: all.
    accept : "better" goes on while the score rises; "not_worse" also over equal scores, but
        never back to where it was.
    moves : for a choice, what each of its values may become, for instance ``{"left": {"used":
        ["ignored"]}}`` where features are only to be taken away.  A choice that is not named
        may take any other value; a value that its choice does not name stays as it is.

    Examples
    --------
    >>> space = SearchSpace({"k": [1, 3, 5], "left": ["used", "ignored"]})
    >>> strategy = Greedy(space, {"k": 1, "left": "used"})
    >>> while asked := strategy.ask(10):
    ...     for candidate in asked:
    ...         strategy.tell(candidate, candidate["k"] - (candidate["left"] == "used"))
    >>> strategy.best
    ({'k': 5, 'left': 'ignored'}, 5.0)
    """

    @checked(accept=one_of(["better", "not_worse"]))
    def __init__(
        self,
        space: SearchSpace,
        start: Candidate,
        only: Collection[str] | None = None,
        accept: Literal["better", "not_worse"] = "better",
        moves: Moves | None = None,
    ):
        super().__init__()
        SearchSpace(space.choices).check(start)
        for name in (*(only or ()), *(moves or ())):
            if name not in space.choices:
                raise InputError(no_such("choice", name, space.choices))
        for name, of_value in (moves or {}).items():
            for value, becomes in of_value.items():
                for one in (value, *becomes):
                    SearchSpace({name: space.choices[name]}).check({name: one})
        self.space, self.start, self.only = space, dict(start), only
        self.accept, self.moves = accept, moves

    def rounds(self) -> Generator[Iterable[Candidate], list[float], None]:
        here, height = self.start, None
        if is_valid(self.space, here):
            (height,) = yield [here]
        visited = {candidate_key(here)}
        while True:
            around = [
                candidate
                for candidate in single_changes(self.space, here, self.only, self.moves)
                if candidate_key(candidate) not in visited
            ]
            if not around:
                return
            heights = yield around
            highest = max(heights)
            good_enough = (
                height is None
                or highest > height
                or (self.accept == "not_worse" and highest == height)
            )
            if not good_enough:
                return
            here, height = around[heights.index(highest)], highest
            visited.add(candidate_key(here))
