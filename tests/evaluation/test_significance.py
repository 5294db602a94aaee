"""The tests of significance agree with scipy's, and keep the laws that paired tests have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from featloom.errors import InputError
from featloom.evaluation.metrics import (
    accuracy_of_counts,
    correct_counts,
    f1_of_counts,
    positive_counts,
)
from featloom.evaluation.significance import (
    bootstrap_interval,
    holm,
    mcnemar,
    mcnemar_of_counts,
    paired_bootstrap,
    paired_t,
)


@st.composite
def two_systems(draw):
    n_groups = draw(st.integers(1, 30))
    counts = arrays(np.int64, (n_groups, 3), elements=st.integers(0, 5))
    return draw(counts), draw(counts)


@given(two_systems(), st.integers(0, 3))
@settings(deadline=None)
def test_the_interval_holds_the_difference_and_p_is_a_probability(systems, seed):
    found = paired_bootstrap(*systems, resamples=200, seed=seed)
    assert found.low <= found.difference <= found.high
    assert -1 <= found.low <= found.high <= 1
    assert 0 < found.p <= 1


@given(two_systems())
@settings(deadline=None)
def test_exchanging_the_systems_turns_the_difference_around(systems):
    first, second = systems
    there = paired_bootstrap(first, second, resamples=200)
    back = paired_bootstrap(second, first, resamples=200)
    assert back.difference == -there.difference
    # Few patterns of counts are drawn together, in an order that the exchange may change.
    if 8 * len(np.unique(np.hstack(systems), axis=0)) >= len(first):
        assert (back.low, back.high, back.p) == pytest.approx((-there.high, -there.low, there.p))


@given(two_systems())
@settings(deadline=None)
def test_a_system_does_not_differ_from_itself(systems):
    first, _ = systems
    found = paired_bootstrap(first, first, resamples=100)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def documents(n=300, seed=0):
    """Two taggers on documents; the first is right more often."""
    random = np.random.default_rng(seed)
    y_true = random.random(n * 10) < 0.3
    first = np.where(random.random(n * 10) < 0.90, y_true, ~y_true)
    second = np.where(random.random(n * 10) < 0.80, y_true, ~y_true)
    return y_true, first, second, np.repeat(np.arange(n), 10)


def test_the_interval_is_that_of_scipy():
    y_true, first, second, groups = documents()
    counts = [positive_counts(y_true, y, True, groups=groups) for y in (first, second)]

    def difference(a, b, axis):
        return f1_of_counts(a.sum(axis=axis)) - f1_of_counts(b.sum(axis=axis))

    def by_place(places, axis):
        a, b = counts[0][places], counts[1][places]
        return difference(a, b, places.ndim - 1)

    peer = stats.bootstrap(
        (np.arange(len(counts[0])),),
        by_place,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    found = paired_bootstrap(*counts)
    assert found.low == pytest.approx(peer.low, abs=0.003)
    assert found.high == pytest.approx(peer.high, abs=0.003)
    assert found.p < 0.001


def test_rows_drawn_by_pattern_have_the_binomial_interval():
    right = np.repeat([1, 0], [850, 150])
    counts = np.stack([right, np.ones_like(right)], axis=1)
    found = bootstrap_interval(counts, accuracy_of_counts)
    error = np.sqrt(0.85 * 0.15 / 1000)
    assert found.value == 0.85
    assert found.low == pytest.approx(0.85 - 1.96 * error, abs=0.003)
    assert found.high == pytest.approx(0.85 + 1.96 * error, abs=0.003)


def test_drawing_documents_and_drawing_patterns_agree():
    """The same 400 groups, told apart or not by a count that the metric does not read."""
    random = np.random.default_rng(1)
    plain = random.integers(0, 3, (400, 3))
    marked = np.hstack([plain, np.arange(400)[:, None]])
    by_pattern = bootstrap_interval(plain)
    one_by_one = bootstrap_interval(marked, lambda counts: f1_of_counts(counts[..., :3]))
    assert by_pattern.value == one_by_one.value
    assert by_pattern.low == pytest.approx(one_by_one.low, abs=0.004)
    assert by_pattern.high == pytest.approx(one_by_one.high, abs=0.004)


def test_p_is_even_where_there_is_no_difference():
    """Of 200 comparisons of equally good systems about 5 % come out below .05."""
    p = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        y_true = random.random(600) < 0.5
        first, second = (np.where(random.random(600) < 0.8, y_true, ~y_true) for _ in range(2))
        groups = np.arange(600) // 6
        counts = [correct_counts(y_true, y, groups=groups) for y in (first, second)]
        p.append(paired_bootstrap(*counts, accuracy_of_counts, resamples=500).p)
    assert 0.01 <= np.mean(np.array(p) < 0.05) <= 0.11


def test_the_seed_decides():
    y_true, first, second, groups = documents()
    counts = [positive_counts(y_true, y, True, groups=groups) for y in (first, second)]
    assert paired_bootstrap(*counts, seed=1) == paired_bootstrap(*counts, seed=1)
    assert paired_bootstrap(*counts, seed=1) != paired_bootstrap(*counts, seed=2)


@given(st.integers(0, 60), st.integers(0, 60), st.booleans())
@settings(deadline=None)
def test_mcnemar_is_symmetrical(b, c, exact):
    there, back = mcnemar_of_counts(b, c, exact=exact), mcnemar_of_counts(c, b, exact=exact)
    assert there.p == back.p
    assert there.statistic == back.statistic
    assert (there.first_only, there.second_only) == (back.second_only, back.first_only)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(deadline=None)
def test_mcnemar_is_a_binomial_test_or_nearly_chi_squared(b, c):
    exact, chi = mcnemar_of_counts(b, c), mcnemar_of_counts(b, c, exact=False)
    if b + c == 0:
        assert exact.p == chi.p == 1
        return
    assert exact.p == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue)
    if abs(b - c) >= 1:
        # Edwards's statistic is the squared normal deviate with half a row taken off.
        deviate = (abs(b - c) - 1) / np.sqrt(b + c)
        assert chi.p == pytest.approx(2 * stats.norm.sf(deviate))
    if b + c > 25:
        assert chi.p == pytest.approx(exact.p, abs=0.05)


@given(st.lists(st.tuples(*[st.sampled_from("KSZ")] * 3), min_size=1, max_size=40))
@settings(deadline=None)
def test_mcnemar_counts_the_rows_that_one_alone_gets_right(rows):
    y_true, first, second = (list(column) for column in zip(*rows, strict=True))
    found = mcnemar(y_true, first, second)
    assert found.first_only == sum(t == a != b for t, a, b in rows)
    assert found.second_only == sum(t == b != a for t, a, b in rows)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 2), min_size=2, max_size=30))
@settings(deadline=None)
def test_paired_t_is_that_of_scipy(scores):
    first, second = (np.array(column) for column in zip(*scores, strict=True))
    found = paired_t(first, second)
    assert found.low <= found.difference <= found.high
    if np.ptp(first - second) > 1e-6:
        peer = stats.ttest_rel(first, second)
        interval = peer.confidence_interval()
        assert found.t == pytest.approx(peer.statistic)
        assert found.p == pytest.approx(peer.pvalue)
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_the_same_difference_on_every_task_leaves_no_doubt():
    assert paired_t([1, 2, 3], [0.5, 1.5, 2.5]).p == 0
    assert paired_t([1, 2, 3], [1, 2, 3]).p == 1


probabilities = st.lists(st.floats(0, 1), max_size=12)


def holm_by_hand(ps):
    """Step by step: the smallest p times all, the next times all but one, and never downwards."""
    adjusted, before = [0.0] * len(ps), 0.0
    for step, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        before = max(before, min(1.0, (len(ps) - step) * ps[place]))
        adjusted[place] = before
    return adjusted


@given(probabilities)
def test_holms_correction_is_that_of_the_steps_by_hand(ps):
    assert holm(ps).tolist() == pytest.approx(holm_by_hand(ps))


@given(probabilities)
def test_holms_correction_keeps_the_order_and_lowers_nothing(ps):
    adjusted = holm(ps)
    assert (adjusted >= np.array(ps)).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0).all()
    # No further than Bonferroni's, which multiplies all of them by their number.
    assert (adjusted <= np.minimum(1.0, len(ps) * np.array(ps)) + 1e-12).all()


@given(probabilities, st.randoms())
def test_holms_correction_does_not_depend_on_the_order_of_comparisons(ps, random):
    order = list(range(len(ps)))
    random.shuffle(order)
    np.testing.assert_array_equal(holm([ps[place] for place in order]), holm(ps)[order])


def test_holms_correction_of_published_values():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.04]), [0.04])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: paired_bootstrap(np.ones((2, 3)), np.ones((3, 3))),
            "the two systems' counts differ in shape: (2, 3) and (3, 3)",
        ),
        (
            lambda: bootstrap_interval(np.ones((0, 3))),
            "there are no groups to draw from; counts need a row for each group",
        ),
        (
            lambda: bootstrap_interval(np.ones((2, 3)), resamples=0),
            "resamples must be at least 1, not 0",
        ),
        (
            lambda: bootstrap_interval(np.ones((2, 3)), confidence=95),
            "confidence must lie between 0 and 1, not 95",
        ),
        (lambda: mcnemar(["a"], ["a"], ["a", "b"]), "1 and 2 predictions for 1 rows"),
        (lambda: mcnemar_of_counts(-1, 2), "numbers of rows cannot be negative"),
        (lambda: paired_t([1], [2]), "a paired t test needs at least two tasks"),
        (lambda: paired_t([1, 2], [2]), "2 scores cannot be paired with 1"),
        (lambda: paired_t([1, np.nan], [2, 2]), "a score is not a finite number"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, sentence):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == sentence
