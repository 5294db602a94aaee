"""Screening: the kernels against the formulas as one would write them on paper."""

from __future__ import annotations

from math import exp, log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featloom.kernels import screening

N_LABELS = 4


def steps_of(keys, learned, gold, shares, damping):
    """For each feature and label half a Newton step, from tokens before ``learned``."""
    gradient, curvature = {}, {}
    for t in range(learned):
        for label in range(N_LABELS):
            place = keys[t], label
            gradient[place] = gradient.get(place, 0) + (gold[t] == label) - shares[t][label]
            curvature[place] = curvature.get(place, 0) + shares[t][label] * (1 - shares[t][label])
    return {p: max(-3, min(3, 0.5 * g / (curvature[p] + damping))) for p, g in gradient.items()}


def gain_of(keys, learned, gold, shares, damping):
    steps = steps_of(keys, learned, gold, shares, damping)
    gain = 0.0
    for t in range(learned, len(keys)):
        total = sum(shares[t][m] * exp(steps.get((keys[t], m), 0)) for m in range(N_LABELS))
        gain += steps.get((keys[t], gold[t]), 0) - log(total)
    return gain


@st.composite
def tokens(draw):
    n = draw(st.integers(2, 30))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = random.dirichlet(np.ones(N_LABELS), n).astype(np.float32)
    gold = random.integers(0, N_LABELS, n)
    keys = random.integers(0, draw(st.integers(1, 6)), n)
    return keys, draw(st.integers(1, n - 1)), gold, shares


def laid_out(gold, shares):
    labels = screening.likeliest_labels(shares, gold, N_LABELS)
    return labels, np.take_along_axis(shares, labels.astype(np.int64), axis=1)


@given(tokens(), st.sampled_from([0.5, 2.0]))
def test_the_gain_is_what_a_newton_step_takes_off_the_loss_of_other_tokens(case, damping):
    keys, learned, gold, shares = case
    labels, ranked = laid_out(gold, shares)
    found, error = screening.template_gain(
        keys, learned, labels, ranked, N_LABELS, np.float32(damping)
    )
    expected = gain_of(keys.tolist(), learned, gold.tolist(), shares.tolist(), damping)
    assert abs(found - expected) < 1e-3 * (1 + abs(expected))
    assert error >= 0


@given(tokens())
def test_a_template_that_was_taken_moves_probabilities_by_its_steps(case):
    keys, learned, gold, shares = case
    labels, ranked = laid_out(gold, shares)
    before = -np.log(ranked[learned:, 0]).sum()
    screening.take_steps(keys, learned, labels, ranked, N_LABELS, np.float32(2.0))
    after = -np.log(ranked[learned:, 0]).sum()
    expected = gain_of(keys.tolist(), learned, gold.tolist(), shares.tolist(), 2.0)
    assert abs((before - after) - expected) < 1e-2 * (1 + abs(expected))
    assert np.allclose(ranked.sum(axis=1), 1, atol=1e-4)


@given(tokens())
def test_the_gain_does_not_depend_on_how_features_are_numbered(case):
    keys, learned, gold, shares = case
    labels, ranked = laid_out(gold, shares)
    how = (learned, labels, ranked, N_LABELS, np.float32(1.0))
    assert screening.template_gain(keys, *how) == screening.template_gain(1000 - 7 * keys, *how)


def test_the_true_label_stands_first_and_then_the_likeliest():
    shares = np.array([[0.1, 0.5, 0.4, 0.0]], dtype=np.float32)
    assert screening.likeliest_labels(shares, np.array([0]), 3).tolist() == [[0, 1, 2]]


def test_places_beyond_a_sentence_have_marks_of_their_own():
    codes = np.array([1, 2, 3], dtype=np.int32)
    bounds, sentences = np.array([0, 2, 3]), np.array([0, 0, 1])
    found = screening.place_codes(codes, bounds, sentences, np.arange(3), -1, 4, 2)
    assert found.tolist() == [4, 1, 4]
    found = screening.place_codes(codes, bounds, sentences, np.arange(3), 1, 4, 2)
    assert found.tolist() == [2, 6, 6]


def test_joined_places_are_told_apart_by_every_one_of_them():
    places = np.array([[1, 1, 2], [1, 2, 1]], dtype=np.int32)
    assert len(set(screening.join_codes(places, np.array([3, 3])).tolist())) == 3
