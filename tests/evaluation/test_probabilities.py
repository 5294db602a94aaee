"""Probabilities are scored as scikit-learn scores them, and calibration keeps its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics as sk

from featloom.errors import InputError
from featloom.evaluation.probabilities import (
    auc,
    calibration_bins,
    confusion,
    expected_calibration_error,
    f1_at,
    row_briers,
    row_losses,
)


@st.composite
def predictions(draw, classes=(2, 5)):
    """Labels and probabilities; steps of an eighth, so that there are ties."""
    n_classes = draw(st.integers(*classes))
    n_rows = draw(st.integers(1, 40))
    parts = draw(
        st.lists(
            st.lists(st.integers(0, 8), min_size=n_classes, max_size=n_classes).filter(any),
            min_size=n_rows,
            max_size=n_rows,
        )
    )
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    p = np.array(parts, dtype=np.float64)
    return np.array(labels), p / p.sum(axis=1, keepdims=True)


@st.composite
def scored(draw):
    """Whether rows are positive, and their probability of it; some of them next-door floats."""
    half_up = math.nextafter(0.5, 1)
    score = st.sampled_from([0.0, 1e-300, 0.125, 0.25, 0.5, half_up, 0.75, 1.0]) | st.floats(0, 1)
    rows = draw(st.lists(st.tuples(st.booleans(), score), min_size=1, max_size=30))
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


@given(predictions())
def test_losses_of_rows_have_the_log_loss_as_their_mean(case):
    labels, p = case
    losses = row_losses(labels, p)
    classes = np.arange(p.shape[1])
    assert losses.shape == labels.shape
    assert losses.min() >= 0
    assert losses.mean() == pytest.approx(sk.log_loss(labels, p, labels=classes))


def test_a_certain_error_loses_36_nats_and_not_infinity():
    assert row_losses([1], [[1.0, 0.0]])[0] == pytest.approx(-math.log(2.2e-16), abs=0.01)
    assert row_losses([0], [[1.0, 0.0]]).tolist() == [0.0]


@given(predictions())
def test_the_brier_score_counts_every_class(case):
    labels, p = case
    each = [sum((p[i, k] - (k == y)) ** 2 for k in range(p.shape[1])) for i, y in enumerate(labels)]
    np.testing.assert_allclose(row_briers(labels, p), each)
    assert 0 <= row_briers(labels, p).mean() <= 2 + 1e-12


@given(predictions(classes=(2, 2)))
def test_with_two_classes_it_is_twice_scikit_learns_brier_score(case):
    labels, p = case
    assert row_briers(labels, p).mean() == pytest.approx(
        2 * sk.brier_score_loss(labels == 1, p[:, 1], pos_label=True)
    )


@given(predictions())
def test_the_area_is_the_mean_of_scikit_learns_over_classes_that_have_one(case):
    labels, p = case
    classes = [1] if p.shape[1] == 2 else range(p.shape[1])
    areas = [sk.roc_auc_score(labels == k, p[:, k]) for k in classes if len(set(labels == k)) == 2]
    if areas:
        assert auc(labels, p) == pytest.approx(np.mean(areas))
    else:
        assert auc(labels, p) is None


@given(scored())
def test_the_area_is_the_share_of_pairs_in_the_right_order(case):
    is_positive, score = case
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a in score[is_positive]
        for b in score[~is_positive]
    ]
    area = auc(is_positive.astype(int), np.column_stack([1 - score, score]))
    assert area == (pytest.approx(np.mean(pairs)) if pairs else None)


@given(predictions(), st.integers(1, 12))
def test_bins_hold_every_row_once_in_order_of_probability(case, n_bins):
    labels, p = case
    promised, came = p.max(axis=1), p.argmax(axis=1) == labels
    if p.shape[1] == 2:
        promised, came = p[:, 1], labels == 1
    bins = calibration_bins(labels, p, n_bins)
    assert 1 <= len(bins) <= n_bins
    assert sum(one.n for one in bins) == len(labels)
    assert sum(one.n * one.share for one in bins) == pytest.approx(came.sum())
    assert sum(one.n * one.probability for one in bins) == pytest.approx(promised.sum())
    means = [one.probability for one in bins]
    assert means == sorted(set(means))
    for one in bins:
        assert 0 <= one.low <= one.share <= one.high <= 1


@given(predictions(), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order_of_the_rows(case, random):
    labels, p = case
    order = list(range(len(labels)))
    random.shuffle(order)
    assert calibration_bins(labels[order], p[order]) == calibration_bins(labels, p)
    assert expected_calibration_error(labels[order], p[order]) == expected_calibration_error(
        labels, p
    )
    assert auc(labels[order], p[order]) == auc(labels, p)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_bins_without_ties_are_of_equally_many_rows(n_bins, times, seed):
    rng = np.random.default_rng(seed)
    score = rng.permutation(np.linspace(0.01, 0.99, n_bins * times))
    labels = rng.integers(0, 2, len(score))
    bins = calibration_bins(labels, np.column_stack([1 - score, score]), n_bins)
    assert [one.n for one in bins] == [times] * n_bins


def test_the_class_whose_probability_is_looked_at_can_be_named():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    (one,) = calibration_bins([1, 1], p, 1, positive=1)
    assert (one.n, one.share) == (2, 1.0)
    assert one.probability == pytest.approx(0.2)
    assert expected_calibration_error([1, 1], p, positive=1) == pytest.approx(0.8)
    assert calibration_bins([1, 1], p, 1)[0].share == 0.0


@given(st.integers(1, 300), st.data())
def test_the_interval_of_a_share_is_wilsons(n, data):
    positives = data.draw(st.integers(0, n))
    (one,) = calibration_bins((np.arange(n) < positives).astype(int), np.full((n, 2), 0.5), 5)
    expected = binomtest(positives, n).proportion_ci(method="wilson")
    assert (one.low, one.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(predictions(), st.integers(1, 15))
def test_the_calibration_error_is_the_mean_distance_over_bins(case, n_bins):
    labels, p = case
    bins = calibration_bins(labels, p, n_bins)
    expected = sum(one.n * abs(one.probability - one.share) for one in bins) / len(labels)
    error = expected_calibration_error(labels, p, n_bins)
    assert error == pytest.approx(expected)
    assert 0 <= error <= 1


def test_probabilities_that_keep_their_word_have_no_calibration_error():
    score = np.repeat([0.2, 0.8], 10)
    labels = np.array([1] * 2 + [0] * 8 + [1] * 8 + [0] * 2)
    assert expected_calibration_error(labels, np.column_stack([1 - score, score])) < 1e-12


@given(scored(), st.floats(0, 1))
def test_f1_at_a_threshold_is_scikit_learns(case, threshold):
    is_positive, score = case
    expected = sk.f1_score(is_positive, score >= threshold, zero_division=0)
    assert f1_at(is_positive, score, threshold) == pytest.approx(expected)


@given(predictions())
def test_the_confusion_matrix_is_scikit_learns(case):
    labels, p = case
    answers = p.argmax(axis=1)
    counts = confusion(labels, answers, p.shape[1])
    np.testing.assert_array_equal(
        counts, sk.confusion_matrix(labels, answers, labels=np.arange(p.shape[1]))
    )
    assert counts.dtype == np.int64


@pytest.mark.parametrize("figure", [row_losses, row_briers, auc, calibration_bins])
@pytest.mark.parametrize(
    ("labels", "p", "words"),
    [
        ([0, 2], [[0.5, 0.5]] * 2, "row 1 has the class 2; there are 2"),
        ([-1], [[0.5, 0.5]], "row 0 has the class -1"),
        (["a"], [[0.5, 0.5]], "labels must be class codes"),
        ([0, 1], [[0.5, 0.5]], r"shape \(1, 2\), 2 rows were expected"),
        ([0], [[math.nan, 1.0]], "between 0 and 1"),
        ([0], [[-0.1, 1.1]], "between 0 and 1"),
        ([], np.zeros((0, 2)), "no rows"),
    ],
)
def test_what_cannot_be_scored_is_refused(figure, labels, p, words):
    with pytest.raises(InputError, match=words):
        figure(labels, p)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="bins must be at least 1, not 0"):
        calibration_bins([0], [[0.5, 0.5]], 0)
    with pytest.raises(InputError, match="no class 2; there are 2"):
        calibration_bins([0], [[0.5, 0.5]], positive=2)
    with pytest.raises(InputError, match=r"shape \(1,\), \(2,\) was expected"):
        f1_at([True, False], [0.5], 0.5)
    with pytest.raises(InputError, match="no rows"):
        f1_at([], [], 0.5)
    with pytest.raises(InputError, match="1 predictions for 2 rows"):
        confusion([0, 1], [0], 2)
