"""One evaluation scores all values of a choice; the strategy hears of the one it meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import (
    AllAtOnce,
    Exhaustive,
    Genetic,
    Guided,
    IteratedLocal,
    Journal,
    SearchSpace,
    Strategy,
    candidate_key,
    search,
)

SPACE = SearchSpace({"k": [1, 3, 5], "weights": ["none", "gain_ratio"], "mode": ["O", "M", "I"]})
INNER = {
    "exhaustive": lambda: Exhaustive(SPACE),
    "genetic": lambda: Genetic(SPACE, population=6, generations=5, mutation=0.2),
    "local": lambda: IteratedLocal(SPACE, kicks=3),
    "guided": lambda: Guided(SPACE, first=4, fits=12),
}
every_inner = pytest.mark.parametrize("make", INNER.values(), ids=INNER)


def score(candidate):
    return sum(map(ord, candidate_key(candidate))) * 7919 % 101


def evaluate(candidate):
    assert "k" not in candidate
    scores = [[k, score({**candidate, "k": k})] for k in SPACE.choices["k"]]
    return {"score": max(score for _, score in scores), "scores": scores}


@every_inner
def test_it_ends_where_the_strategy_alone_does_for_fewer_evaluations(make):
    alone, together = make(), AllAtOnce(make())
    assert isinstance(together, Strategy)
    singly, at_once = search(score, alone), search(evaluate, together)
    assert together.best == alone.best == (singly.best.candidate, singly.best.score)
    reduced = {candidate_key({**e.candidate, "k": 0}) for e in singly}
    assert len(at_once) == len(reduced)


@every_inner
@given(cuts=st.lists(st.integers(1, 9), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_questions_do_not_depend_on_how_many_are_asked_for_at_once(make, cuts):
    def questions(cuts):
        strategy, asked = AllAtOnce(make()), []
        while batch := strategy.ask(cuts[len(asked) % len(cuts)]):
            asked += batch
            for candidate in batch:
                strategy.tell(candidate, evaluate(candidate))
        return asked

    assert questions(cuts) == questions([1])


@every_inner
def test_it_is_resumed_from_a_journal(make, tmp_path):
    belongs_to = {"data": "letters", "search": {"metric": "accuracy"}}
    whole = search(evaluate, AllAtOnce(make()))
    with Journal(tmp_path / "a", **belongs_to) as journal:
        search(evaluate, AllAtOnce(make()), journal=journal, trials=3)
    with Journal(tmp_path / "a", **belongs_to) as journal:
        resumed = search(evaluate, AllAtOnce(make()), journal=journal)
    assert (resumed, resumed.replayed) == (whole, 3)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (0.5, "gave no scores for the values of 'k'"),
        ({"score": 0.5}, "gave no scores for the values of 'k'"),
        ({"score": 0.5, "scores": [[3, 0.5], [True, 0.5]]}, "gave no score for k = 1"),
        ({"score": 0.5, "scores": [[1, float("nan")]]}, "gave the score nan"),
    ],
)
def test_a_result_without_the_value_is_refused(result, sentence):
    with pytest.raises(InputError, match=sentence):
        search(lambda candidate: result, AllAtOnce(Exhaustive(SPACE)))


def test_a_choice_that_the_strategy_does_not_have_is_refused():
    with pytest.raises(InputError, match="no choice 'decay'; there are k, weights, mode"):
        search(evaluate, AllAtOnce(Exhaustive(SPACE), choice="decay"))


def test_telling_of_a_candidate_that_was_not_asked_for_is_a_mistake():
    strategy = AllAtOnce(Exhaustive(SPACE))
    strategy.ask(1)
    with pytest.raises(RuntimeError, match="was to come next"):
        strategy.tell({"weights": "gain_ratio", "mode": "O"}, 0.5)
