"""Small steps in a space of named choices: draw a candidate, change one choice, change several.

Strategies that climb, breed or are guided by a model all go from candidate to candidate by these
steps.  Every candidate given here is valid.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from featloom.search.space import Candidate, SearchSpace, json_text

Moves = Mapping[str, Mapping[Any, Sequence[Any]]]

_DRAWS = 1000  # tries before a space is taken to be mostly invalid


def draw(space: SearchSpace, random_state: random.Random) -> Candidate:
    """A valid candidate at random, all equally likely."""
    for _ in range(_DRAWS):
        candidate = {name: random_state.choice(values) for name, values in space.choices.items()}
        if is_valid(space, candidate):
            return candidate
    return random_state.choice(list(space))


def is_valid(space: SearchSpace, candidate: Candidate) -> bool:
    """Whether the combination makes sense; its values are taken to be offered."""
    return space.valid is None or bool(space.valid(dict(candidate)))


def single_changes(
    space: SearchSpace,
    candidate: Candidate,
    only: Collection[str] | None = None,
    moves: Moves | None = None,
) -> list[Candidate]:
    """The valid candidates that differ from this one in one choice, in the space's order.

    Parameters
    ----------
    only : names of the choices that may change; None: all.
    moves : for a choice, what each of its values may become.  A choice that is not named here
        may take any other value; a value that its choice does not name stays as it is.

    Examples
    --------
    >>> space = SearchSpace({"k": [1, 3], "left": ["used", "ignored"]})
    >>> single_changes(space, {"k": 1, "left": "ignored"})
    [{'k': 3, 'left': 'ignored'}, {'k': 1, 'left': 'used'}]
    >>> single_changes(space, {"k": 1, "left": "ignored"}, moves={"left": {"used": ["ignored"]}})
    [{'k': 3, 'left': 'ignored'}]
    """
    changed = []
    for name, values in space.choices.items():
        if only is not None and name not in only:
            continue
        here = candidate[name]
        if moves is not None and name in moves:
            values = tuple(moves[name].get(here, ()))
        # As texts, because 1, 1.0 and True are three values.
        others = (value for value in values if json_text(value) != json_text(here))
        changed += [{**candidate, name: value} for value in others]
    return [candidate for candidate in changed if is_valid(space, candidate)]


def another_value(space: SearchSpace, name: str, value: Any, random_state: random.Random) -> Any:
    """A value of a choice other than this one, where there is another."""
    others = [other for other in space.choices[name] if json_text(other) != json_text(value)]
    return random_state.choice(others) if others else value


def kicked(
    space: SearchSpace, candidate: Candidate, n_changes: int, random_state: random.Random
) -> Candidate:
    """The candidate with other values for ``n_changes`` choices, as far as there are so many."""
    names = [name for name, values in space.choices.items() if len(values) > 1]
    for _ in range(_DRAWS):
        changed = dict(candidate)
        for name in random_state.sample(names, min(n_changes, len(names))):
            changed[name] = another_value(space, name, candidate[name], random_state)
        if is_valid(space, changed):
            return changed
    return draw(space, random_state)
