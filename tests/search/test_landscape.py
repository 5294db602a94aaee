"""The model of a landscape: a Gaussian process whose gradient, update and kernel are right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.search.strategies.landscape import Landscape

SIZES = [4, 3, 2, 3]
EVERYTHING = np.array(list(itertools.product(*map(range, SIZES))))


def some(seed, n):
    random_state = np.random.default_rng(seed)
    codes = random_state.permutation(EVERYTHING)[:n]
    return codes, random_state.normal(size=n)


def correlation(codes, arms):
    """The kernel as it is written down, pair by pair."""
    begins = np.cumsum([0, *SIZES[:-1]])
    matrix = np.empty((len(codes), len(codes)))
    for i, first in enumerate(codes):
        for j, second in enumerate(codes):
            apart = sum(
                arms[begin + a] + arms[begin + b]
                for begin, a, b in zip(begins, first, second, strict=True)
                if a != b
            )
            matrix[i, j] = np.exp(-apart)
    return matrix


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_any_arms_give_a_correlation(seed):
    arms = np.random.default_rng(seed).gamma(0.5, size=sum(SIZES))
    assert np.linalg.eigvalsh(correlation(EVERYTHING, arms)).min() > -1e-9


@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_the_gradient_is_the_slope(seed):
    codes, scores = some(seed, 25)
    landscape = Landscape(SIZES)
    indicators = landscape._indicators(codes)
    place = landscape._centre + np.random.default_rng(seed).normal(size=sum(SIZES) + 1) / 2
    _, gradient = landscape._improbability(place, indicators, scores)
    for step, slope in zip(1e-5 * np.eye(len(place)), gradient, strict=True):
        above, _ = landscape._improbability(place + step, indicators, scores)
        below, _ = landscape._improbability(place - step, indicators, scores)
        assert slope == pytest.approx((above - below) / 2e-5, rel=1e-4, abs=1e-5)


def test_what_is_expected_is_what_the_textbook_says():
    codes, scores = some(3, 30)
    landscape = Landscape(SIZES)
    landscape.fit(codes, scores)
    landscape.look_at(EVERYTHING)
    n_seen = len(codes)
    whole = correlation(np.vstack([codes, EVERYTHING]), landscape.arms)
    seen = whole[:n_seen, :n_seen] + landscape.ripple * np.eye(n_seen)
    across = whole[n_seen:, :n_seen]
    ones = np.ones(n_seen)
    level = ones @ np.linalg.solve(seen, scores) / (ones @ np.linalg.solve(seen, ones))
    mean = level + across @ np.linalg.solve(seen, scores - level)
    np.testing.assert_allclose(landscape.mean, mean, atol=1e-9)
    square = (scores - level) @ np.linalg.solve(seen, scores - level)
    signal = (square + 2) / (n_seen + 2)
    variance = 1 - np.einsum("ij,ji->i", across, np.linalg.solve(seen, across.T))
    deviation = np.sqrt(signal * (variance + landscape.ripple))
    np.testing.assert_allclose(landscape.deviation, deviation, atol=1e-7)


def test_a_score_added_is_a_score_seen():
    codes, scores = some(5, 60)
    landscape = Landscape(SIZES)
    landscape.fit(codes[:20], scores[:20])
    landscape.look_at(EVERYTHING)
    for row, score in zip(codes[20:], scores[20:], strict=True):
        landscape.add(row, score)
    added, level = landscape.mean, landscape._level
    seen = correlation(codes, landscape.arms) + landscape.ripple * np.eye(60)
    across = correlation(np.vstack([codes, EVERYTHING]), landscape.arms)[60:, :60]
    afresh = level + across @ np.linalg.solve(seen, scores - level)
    np.testing.assert_allclose(added, afresh, atol=1e-8)


def test_a_choice_that_does_not_matter_gets_short_arms():
    codes = EVERYTHING
    scores = codes[:, 0] + 0.5 * codes[:, 2]
    landscape = Landscape(SIZES)
    landscape.fit(codes, (scores - scores.mean()) / scores.std(), steps=100)
    first, second, _, fourth = np.split(landscape.arms, np.cumsum(SIZES)[:-1])
    assert max(second.max(), fourth.max()) < first.mean() / 3


def test_improvement_is_expected_where_the_mean_is_high_or_nothing_is_known():
    landscape = Landscape([2])
    landscape.mean, landscape._variance = np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.1, 1.0])
    landscape._signal = 1.0
    gain = landscape.expected_improvement(1.0)
    assert gain[1] > gain[0]
    assert gain[2] > gain[0]
    assert (gain >= 0).all()
