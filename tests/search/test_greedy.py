"""Greedy search: forward and backward selection are the same climb from different ends."""

from __future__ import annotations

import pytest

from featloom.errors import InputError
from featloom.search import Greedy, SearchSpace, search

FEATURES = ["before", "focus", "after", "shape"]
SPACE = SearchSpace(
    {name: ["ignored", "used"] for name in FEATURES},
    valid=lambda candidate: "used" in candidate.values(),
)
NOTHING = dict.fromkeys(FEATURES, "ignored")
EVERYTHING = dict.fromkeys(FEATURES, "used")
ADD = {name: {"ignored": ["used"]} for name in FEATURES}
TAKE_AWAY = {name: {"used": ["ignored"]} for name in FEATURES}
GAINS = {"before": 3, "focus": 10, "after": 1, "shape": 0}


def used(candidate):
    return [name for name in FEATURES if candidate[name] == "used"]


def additive(candidate):
    return sum(GAINS[name] for name in used(candidate))


def test_forward_selection_begins_with_nothing_and_adds_what_helps_most():
    history = search(additive, Greedy(SPACE, NOTHING, moves=ADD))
    assert used(history.best.candidate) == ["before", "focus", "after"]
    sizes = [len(used(evaluation.candidate)) for evaluation in history]
    assert sizes == [1, 1, 1, 1, 2, 2, 2, 3, 3, 4]


def test_backward_selection_takes_away_what_is_not_missed():
    strategy = Greedy(SPACE, EVERYTHING, accept="not_worse", moves=TAKE_AWAY)
    history = search(additive, strategy)
    smallest = min((used(e.candidate) for e in history if e.score == 14), key=len)
    assert smallest == ["before", "focus", "after"]
    assert len(history) == 1 + 4 + 3


def test_backward_selection_that_must_gain_keeps_what_does_no_harm():
    history = search(additive, Greedy(SPACE, EVERYTHING, moves=TAKE_AWAY))
    assert used(history.best.candidate) == FEATURES
    assert len(history) == 1 + 4


@pytest.mark.parametrize("accept", ["better", "not_worse"])
def test_a_plain_ends(accept):
    history = search(lambda candidate: 1, Greedy(SPACE, EVERYTHING, accept=accept))
    assert history.stopped == "finished"
    assert len(history) == (5 if accept == "better" else len(SPACE))


def test_only_the_named_choices_change():
    history = search(additive, Greedy(SPACE, EVERYTHING, only=["shape"], accept="not_worse"))
    assert [used(e.candidate) for e in history] == [FEATURES, FEATURES[:3]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"only": ["left"]}, "no choice 'left'"),
        ({"moves": {"left": {}}}, "no choice 'left'"),
        ({"moves": {"focus": {"used": ["gone"]}}}, "'focus' cannot be 'gone'"),
        ({"accept": "worse"}, "accept is 'worse'; it can be 'better' or 'not_worse'"),
        ({"start": {"focus": "used"}}, "candidate has no value for 'before'"),
    ],
)
def test_what_the_space_does_not_offer_is_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Greedy(SPACE, **{"start": EVERYTHING, **arguments})
