"""What holds for every strategy.  A new one needs one line in STRATEGIES."""

from __future__ import annotations

import pytest
from climbing import Climb
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import (
    Exhaustive,
    Genetic,
    Greedy,
    Guided,
    IteratedLocal,
    OptunaSampler,
    SearchSpace,
    Strategy,
    candidate_key,
    score_of,
    search,
)

SPACE = SearchSpace(
    {"k": [1, 3, 5], "weights": ["none", "gain_ratio"], "mode": ["overlap", "mvdm", "ignore"]},
    valid=lambda c: c["mode"] != "ignore" or c["k"] == 1,
)

STRATEGIES = {
    "exhaustive": lambda seed: Exhaustive(SPACE),
    "climb": lambda seed: Climb(SPACE, seed=seed),
    "genetic": lambda seed: Genetic(SPACE, seed, population=6, generations=8, mutation=0.1),
    "greedy": lambda seed: Greedy(SPACE, list(SPACE)[seed]),
    "greedy over equals": lambda seed: Greedy(SPACE, list(SPACE)[seed], accept="not_worse"),
    "local": lambda seed: IteratedLocal(SPACE, seed, kicks=5),
    "guided": lambda seed: Guided(SPACE, seed, first=4, fits=12),
    "guided in batches": lambda seed: Guided(SPACE, seed, first=4, fits=12, batch=3),
    "optuna": lambda seed: OptunaSampler(SPACE, seed, trials=15),
}

every_strategy = pytest.mark.parametrize("make", STRATEGIES.values(), ids=STRATEGIES)


def evaluate(candidate):
    rugged = sum(map(ord, candidate_key(candidate))) * 7919 % 101
    return {"score": rugged / 101}


def questions(strategy, cuts):
    """All candidates asked for, when asked for cuts[0], cuts[1], … at a time."""
    asked, turn = [], 0
    while batch := strategy.ask(cuts[turn % len(cuts)]):
        assert len(batch) <= cuts[turn % len(cuts)]
        for candidate in batch:
            asked.append(candidate)
            strategy.tell(candidate, evaluate(candidate))
        turn += 1
    return asked


@every_strategy
def test_it_keeps_the_protocol(make):
    strategy = make(0)
    assert isinstance(strategy, Strategy)
    assert strategy.best is None


@every_strategy
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_asks_the_same_questions(make, seed):
    assert questions(make(seed), [4]) == questions(make(seed), [4])


@every_strategy
@given(cuts=st.lists(st.integers(1, 30), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_questions_do_not_depend_on_how_many_are_asked_for_at_once(make, cuts):
    assert questions(make(0), cuts) == questions(make(0), [1])


@every_strategy
@given(seed=st.integers(0, 3), stop=st.integers(1, 20))
@settings(max_examples=25, deadline=None)
def test_a_resumed_strategy_ends_where_an_uninterrupted_one_does(make, seed, stop):
    whole = search(evaluate, make(seed))
    answers = {candidate_key(e.candidate): e.result for e in whole[:stop]}
    fresh = []

    def evaluate_the_rest(candidate):
        key = candidate_key(candidate)
        if key not in answers:
            fresh.append(key)
            answers[key] = evaluate(candidate)
        return answers[key]

    assert search(evaluate_the_rest, make(seed)) == whole
    assert len(fresh) == max(0, len(whole) - stop)


@every_strategy
def test_it_asks_only_for_valid_candidates_and_ends(make):
    strategy = make(0)
    for candidate in questions(strategy, [7]):
        SPACE.check(candidate)
    assert strategy.ask(3) == []


@every_strategy
def test_its_best_is_the_first_of_the_highest(make):
    strategy = make(0)
    asked = questions(strategy, [5])
    highest = max(score_of(evaluate(candidate)) for candidate in asked)
    first = next(c for c in asked if score_of(evaluate(c)) == highest)
    assert strategy.best == (first, highest)


@every_strategy
def test_a_candidate_that_was_handed_out_belongs_to_the_caller(make):
    strategy, untouched = make(0), make(0)
    (candidate,) = strategy.ask(1)
    kept = dict(candidate)
    candidate.clear()
    strategy.tell(kept, 0.5)
    (same,) = untouched.ask(1)
    untouched.tell(same, 0.5)
    assert strategy.ask(1) == untouched.ask(1)


def test_exhaustive_search_asks_for_everything_once():
    strategy = Exhaustive(SPACE)
    assert strategy.total == len(SPACE)
    assert questions(strategy, [4]) == list(SPACE)


def test_telling_of_a_candidate_that_was_not_asked_for_is_a_mistake():
    strategy = Exhaustive(SPACE)
    _, second = strategy.ask(2)
    with pytest.raises(RuntimeError, match="was to come next"):
        strategy.tell(second, 0.5)


@pytest.mark.parametrize("result", [float("nan"), "good", None, True, {"f1": 0.5}])
def test_a_result_without_a_score_is_refused(result):
    with pytest.raises(InputError, match="an evaluation gave"):
        score_of(result)
