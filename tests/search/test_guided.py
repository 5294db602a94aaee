"""Guided search finds the optimum of landscapes like those of feature settings, in few fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import Guided, IteratedLocal, SearchSpace, search

WEIGHTS = ["none", "gain_ratio", "information_gain", "chi_squared", "shared_variance"]
MODES = ["ignore", "overlap", "mvdm"]


def settings_space(n_features):
    """A weight and a mode for each feature, of which not all may be ignored."""
    names = [f"f{place}" for place in range(n_features)]
    return SearchSpace(
        {"weights": WEIGHTS, **dict.fromkeys(names, MODES)},
        valid=lambda candidate: any(candidate[name] != "ignore" for name in names),
    )


def uniform(space):
    features = list(space.choices)[1:]
    return [
        {"weights": weights, **dict.fromkeys(features, mode)}
        for weights in WEIGHTS
        for mode in MODES[1:]
    ]


class Accuracy:
    """Features that matter more or less, that interact, and a ripple; in steps of one answer."""

    def __init__(self, n_features, seed):
        self.seed, self.random_state = seed, np.random.default_rng(seed)
        draw = self.random_state.normal
        self.effects = draw(0, 0.8, (n_features, 3))
        self.effects[:, 0] = -self.random_state.gamma(0.7, 6.0, n_features)
        self.by_weight = draw(0, 0.3, (5, n_features, 3))
        self.by_pair = draw(0, 0.3, (n_features, n_features, 3, 3))

    def __call__(self, candidate):
        weight = WEIGHTS.index(candidate["weights"])
        modes = [MODES.index(mode) for name, mode in candidate.items() if name != "weights"]
        score = sum(self.effects[f, m] + self.by_weight[weight, f, m] for f, m in enumerate(modes))
        score += sum(
            self.by_pair[f, g, modes[f], modes[g]]
            for f, g in itertools.combinations(range(len(modes)), 2)
        )
        code = [self.seed, weight, *modes]
        score += np.random.default_rng(code).normal(0, 0.1)
        return round(30 * (80 + score)) / 3000


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimum_of_seven_features_is_found_in_a_hundred_and_fifty_fits(seed):
    space, accuracy = settings_space(7), Accuracy(7, seed)
    assert len(space) == 10_930
    history = search(accuracy, Guided(space, start=uniform(space)))
    assert len(history) <= 150
    assert history.best.score == max(map(accuracy, space))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_of_four_features_is_found_without_a_start(seed):
    space, accuracy = settings_space(4), Accuracy(4, seed)
    history = search(accuracy, Guided(space, seed, fits=60))
    assert history.best.score == max(map(accuracy, space))


def test_a_space_too_large_to_look_at_whole_is_searched_through_a_pool():
    space = SearchSpace({f"f{place}": [0, 1, 2] for place in range(20)})

    def score(candidate):
        return sum(value == 2 for value in candidate.values())

    guided = search(score, Guided(space, fits=120))
    assert guided.best.score == 20
    assert search(score, IteratedLocal(space, fits=120)).best.score < 20


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_no_single_change_of_the_best_is_better(seed):
    space, accuracy = settings_space(3), Accuracy(3, seed)
    best = search(accuracy, Guided(space, seed, fits=100)).best
    for name, values in space.choices.items():
        around = [{**best.candidate, name: value} for value in values]
        assert all(accuracy(c) <= best.score for c in around if c in space)


def test_a_batch_is_a_round():
    space, accuracy = settings_space(4), Accuracy(4, 0)
    strategy = Guided(space, first=10, fits=40, batch=5)
    sizes = []
    while candidates := strategy.ask(100):
        sizes.append(len(candidates))
        for candidate in candidates:
            strategy.tell(candidate, accuracy(candidate))
    assert sizes[:3] == [10, 5, 5]


def test_candidates_without_a_score_are_avoided():
    space = SearchSpace({name: list(range(5)) for name in "abcd"})

    def score(candidate):
        return float("-inf") if candidate["a"] == 2 else float(sum(candidate.values()))

    history = search(score, Guided(space, fits=60))
    assert history.best.score == 16
    assert sum(e.score == float("-inf") for e in history[20:]) < 5


def test_a_space_of_one_candidate_is_searched():
    history = search(lambda candidate: 1.0, Guided(SearchSpace({"k": [1]})))
    assert (len(history), history.stopped) == (1, "finished")


def test_numbers_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="batch is 0; it must be a whole number, 1 or more"):
        Guided(settings_space(2), batch=0)
