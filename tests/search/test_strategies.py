"""What holds for every strategy.  A new one needs one line in STRATEGIES, and one in CLIMBS if it
ends on a peak."""

from __future__ import annotations

import pytest
from climbing import Climb
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import (
    AllAtOnce,
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

CHOICES = {"k": [1, 3, 5], "weights": ["none", "gain_ratio"], "mode": ["overlap", "mvdm", "ignore"]}
SPACE = SearchSpace(CHOICES, valid=lambda c: c["mode"] != "ignore" or c["k"] == 1)
WHOLE = SearchSpace(CHOICES)

STRATEGIES = {
    "exhaustive": lambda seed, space: Exhaustive(space),
    "climb": lambda seed, space: Climb(space, seed=seed),
    "genetic": lambda seed, space: Genetic(
        space, seed, population=6, generations=8, mutation=0.1
    ),
    "greedy": lambda seed, space: Greedy(space, list(space)[seed]),
    "greedy over equals": lambda seed, space: Greedy(space, list(space)[seed], accept="not_worse"),
    "local": lambda seed, space: IteratedLocal(space, seed, kicks=5),
    "guided": lambda seed, space: Guided(space, seed, first=4, fits=12),
    "guided in batches": lambda seed, space: Guided(space, seed, first=4, fits=12, batch=3),
    "optuna": lambda seed, space: OptunaSampler(space, seed, trials=15),
}  # fmt: skip
# Strategies that may end where no single change is better, and how many evaluations they may take.
CLIMBS = {
    "greedy": lambda seed, space, fits: Greedy(space, list(space)[seed % len(space)]),
    "local": lambda seed, space, fits: IteratedLocal(space, seed, kicks=4, fits=fits),
    "guided": lambda seed, space, fits: Guided(space, seed, fits=fits),
}
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
every_climb = pytest.mark.parametrize("climb", CLIMBS.values(), ids=CLIMBS)


@pytest.fixture(
    scope="module", params=[*STRATEGIES, *(f"{name}, k at once" for name in STRATEGIES)]
)
def make(request):
    """Makes the strategy from a seed; by itself, or with all k scored by one evaluation."""
    name, _, at_once = request.param.partition(", ")
    if at_once:
        return lambda seed=0: AllAtOnce(STRATEGIES[name](seed, WHOLE))
    return lambda seed=0: STRATEGIES[name](seed, SPACE)


def rugged(candidate) -> float:
    return sum(map(ord, candidate_key(candidate))) * 7919 % 101 / 101


def evaluate(candidate):
    """A candidate without k is scored with each; the strategy hears of the one it meant."""
    if "k" in candidate:
        return {"score": rugged(candidate)}
    scores = [[k, rugged({**candidate, "k": k})] for k in CHOICES["k"]]
    return {"score": max(score for _, score in scores), "scores": scores}


def questions(strategy, cuts):
    """All candidates asked for, when asked for cuts[0], cuts[1], … at a time."""
    asked, turn = [], 0
    while batch := strategy.ask(cuts[turn % len(cuts)]):
        assert len(batch) <= cuts[turn % len(cuts)]
        for candidate in batch:
            asked.append(candidate)
            strategy.tell(candidate, evaluate(candidate))
        turn += 1
    assert strategy.ask(3) == []
    return asked


@given(cuts=st.lists(st.integers(1, 30), min_size=1, max_size=5), seed=st.integers(0, 3))
@settings(max_examples=10)
def test_questions_depend_on_the_seed_and_not_on_how_many_are_asked_for_at_once(make, cuts, seed):
    strategy = make(seed)
    assert isinstance(strategy, Strategy)
    assert strategy.best is None
    assert questions(strategy, cuts) == questions(make(seed), [1])


@given(seed=st.integers(0, 3), stop=st.integers(1, 20))
@settings(max_examples=10)
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


def test_telling_of_a_candidate_that_was_not_asked_for_is_a_mistake(make):
    strategy = make()
    (asked,) = strategy.ask(1)
    other = next(c for c in WHOLE if any(c[name] != asked[name] for name in asked))
    with pytest.raises(RuntimeError, match="was to come next"):
        strategy.tell({name: other[name] for name in asked}, evaluate(other))


def test_a_candidate_that_was_handed_out_belongs_to_the_caller(make):
    strategy, untouched = make(), make()
    (candidate,) = strategy.ask(1)
    kept = dict(candidate)
    candidate.clear()
    strategy.tell(kept, evaluate(kept))
    (same,) = untouched.ask(1)
    untouched.tell(same, evaluate(same))
    assert strategy.ask(1) == untouched.ask(1)


@every_strategy
def test_its_best_is_the_first_of_the_highest_among_valid_candidates(strategy):
    made = STRATEGIES[strategy](0, SPACE)
    asked = questions(made, [5])
    for candidate in asked:
        SPACE.check(candidate)
    highest = max(score_of(evaluate(candidate)) for candidate in asked)
    first = next(c for c in asked if score_of(evaluate(c)) == highest)
    assert made.best == (first, highest)


@every_strategy
def test_all_at_once_it_ends_where_it_does_alone_for_fewer_evaluations(strategy):
    alone, together = STRATEGIES[strategy](0, WHOLE), AllAtOnce(STRATEGIES[strategy](0, WHOLE))
    singly, at_once = search(evaluate, alone), search(evaluate, together)
    assert together.best == alone.best == (singly.best.candidate, singly.best.score)
    assert len(at_once) == len({candidate_key({**e.candidate, "k": 0}) for e in singly})


@pytest.mark.parametrize("name", ["greedy", "local"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_no_single_change_of_the_best_is_better(name, seed):
    space = SearchSpace({name: [0, 1, 2] for name in "abcde"}, valid=lambda c: any(c.values()))

    def score(candidate):
        return sum(map(ord, candidate_key(candidate))) * (7919 + seed) % 101

    best = search(score, CLIMBS[name](seed, space, None)).best
    for choice, values in space.choices.items():
        around = [{**best.candidate, choice: value} for value in values]
        assert all(score(c) <= best.score for c in around if c in space)


@pytest.mark.parametrize("name", ["local", "guided"])
@given(seed=st.integers(0, 1000), fits=st.integers(1, 20), n=st.integers(1, 9))
@settings(max_examples=10)
def test_it_asks_for_no_more_than_allowed_and_never_twice(name, seed, fits, n):
    strategy, asked = CLIMBS[name](seed, SPACE, fits), []
    while candidates := strategy.ask(n):
        asked += map(candidate_key, candidates)
        for candidate in candidates:
            strategy.tell(candidate, rugged(candidate))
    assert len(set(asked)) == len(asked) <= fits


@every_climb
@pytest.mark.parametrize("score", [0.5, 0.0, float("-inf")])
def test_a_plain_ends(climb, score):
    assert search(lambda candidate: score, climb(1, SPACE, 40)).stopped == "finished"


def test_exhaustive_search_asks_for_everything_once():
    strategy = Exhaustive(SPACE)
    assert strategy.total == len(SPACE)
    assert questions(strategy, [4]) == list(SPACE)


@pytest.mark.parametrize("result", [float("nan"), "good", None, True, {"f1": 0.5}])
def test_a_result_without_a_score_is_refused(result):
    with pytest.raises(InputError, match="an evaluation gave"):
        score_of(result)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (0.5, "gave no scores for the values of 'k'"),
        ({"score": 0.5}, "gave no scores for the values of 'k'"),
        ({"score": 0.5, "scores": [[3, 0.5], [True, 0.5]]}, "gave no score for k = 1"),
        ({"score": 0.5, "scores": [[1, float("nan")]]}, "gave the score nan"),
    ],
)
def test_a_result_without_the_value_that_was_meant_is_refused(result, sentence):
    with pytest.raises(InputError, match=sentence):
        search(lambda candidate: result, AllAtOnce(Exhaustive(WHOLE)))


def test_a_choice_that_the_strategy_does_not_have_is_refused():
    with pytest.raises(InputError, match="no choice 'decay'; there are k, weights, mode"):
        search(evaluate, AllAtOnce(Exhaustive(WHOLE), choice="decay"))
