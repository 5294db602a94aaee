"""Iterated local search leaves the peak that a single climb ends on."""

from __future__ import annotations

import pytest

from featloom.errors import InputError
from featloom.search import Greedy, IteratedLocal, SearchSpace, search

SPACE = SearchSpace({name: [0, 1, 2] for name in "abcde"}, valid=lambda c: any(c.values()))
START = dict.fromkeys("abcde", 1)


def trap(candidate):
    """All ones is a peak; all twos, three changes or more away, is the highest."""
    n_twos = list(candidate.values()).count(2)
    return n_twos + 10 * (n_twos >= 3) - 3 * (0 < n_twos < 3) - list(candidate.values()).count(0)


def test_a_kick_leaves_a_peak():
    assert search(trap, Greedy(SPACE, START)).best.candidate == START
    history = search(trap, IteratedLocal(SPACE, seed=0, start=[START], kicks=30))
    assert history.best.candidate == dict.fromkeys("abcde", 2)


def test_the_climb_begins_at_the_best_start():
    start = [dict.fromkeys("abcde", 1), dict.fromkeys("abcde", 2), {**START, "a": 0}]
    strategy = IteratedLocal(SPACE, start=start, kicks=0)
    assert strategy.ask(10) == start
    for candidate in start:
        strategy.tell(candidate, sum(candidate.values()))
    assert all(list(candidate.values()).count(2) == 4 for candidate in strategy.ask(100))


def test_a_start_from_another_space_is_refused():
    with pytest.raises(InputError, match="'a' cannot be 7"):
        IteratedLocal(SPACE, start=[{**START, "a": 7}])
