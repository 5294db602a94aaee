"""Scores of 2 × 2 tables, against twins, scipy and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score
from twins import fisher_p, score

from featloom.kernels import association
from featloom.scores import CountScore

ALTERNATIVES = {"two-sided": 0, "greater": 1, "less": 2}


@st.composite
def tables(draw, most=120):
    """(rows, rows of the class, rows of the feature, rows of both), no margin empty."""
    n_rows = draw(st.integers(2, most))
    c_total = draw(st.integers(1, n_rows - 1))
    n = draw(st.integers(1, n_rows - 1))
    c = draw(st.integers(max(0, n - (n_rows - c_total)), min(n, c_total)))
    return n_rows, c_total, n, c


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(table=tables())
@settings(max_examples=150, deadline=None)
def test_fisher_is_the_exact_test(alternative, table):
    log_p = association.fisher_log_p(
        *table, ALTERNATIVES[alternative], association.log_factorials(table[0])
    )
    assert math.exp(log_p) == pytest.approx(float(fisher_p(*table, alternative)), rel=1e-9)


def test_fisher_does_not_underflow_where_one_minus_p_is_one():
    n_rows, c_total = 40_000, 20_000
    table = association.log_factorials(n_rows)
    half = association.fisher_log_p(n_rows, c_total, 10_000, 10_000, 0, table)
    whole = association.fisher_log_p(n_rows, c_total, 20_000, 20_000, 0, table)
    assert whole < half < -2000
    odds = stats.hypergeom.logpmf(10_000, n_rows, c_total, 10_000)
    # Two-sided: the table at the other end is as likely as this one.
    assert half == pytest.approx(odds + math.log(2), rel=1e-9)


@pytest.mark.parametrize("name", ["mi", "ig", "su", "chi2", "gain_ratio", "shared_variance"])
@given(table=tables())
@settings(max_examples=100, deadline=None)
def test_scores_are_their_formulas(name, table):
    n_rows, c_total, n, c = table
    kernel = CountScore.named(name)
    value = association.score_one_class(
        kernel.kind, 0, n_rows, c_total, n, c, association.log_factorials(0)
    )
    assert value == pytest.approx(score(name, n_rows, c_total, n, c), rel=1e-9, abs=1e-12)


@given(table=tables())
@settings(max_examples=100, deadline=None)
def test_mutual_information_is_scikit_learns(table):
    n_rows, c_total, n, c = table
    contingency = np.array([[c, n - c], [c_total - c, n_rows - n - c_total + c]])
    theirs = mutual_info_score(None, None, contingency=contingency)
    assert association.mutual_information(*table) == pytest.approx(theirs, abs=1e-12)


@st.composite
def counted_features(draw, n_classes=None):
    """Class totals, and the counts of one feature in each class."""
    n_classes = n_classes or draw(st.integers(2, 4))
    totals = draw(st.lists(st.integers(1, 30), min_size=n_classes, max_size=n_classes))
    counts = [draw(st.integers(0, total)) for total in totals]
    return np.array(totals), np.array(counts)


@given(counted_features())
@settings(max_examples=100, deadline=None)
def test_printed_information_gain_added_over_classes_is_mutual_information_added(feature):
    totals, counts = feature
    n_rows = int(totals.sum())
    printed = CountScore.named("ig").of(n_rows, totals, counts[None])[0]
    in_full = CountScore.named("information_gain").of(n_rows, totals, counts[None])[0]
    assert printed == pytest.approx(in_full, abs=1e-12)


@given(counted_features(n_classes=2))
@settings(max_examples=50, deadline=None)
def test_with_two_classes_the_sum_is_twice_the_maximum(feature):
    totals, counts = feature
    for name in ("mi", "su", "fisher"):
        total = CountScore.named(name, "sum").of(int(totals.sum()), totals, counts[None])
        largest = CountScore.named(name, "max").of(int(totals.sum()), totals, counts[None])
        assert total == pytest.approx(2 * largest)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("aggregate", ["sum", "max", "global"])
@pytest.mark.parametrize(
    "name", ["mi", "ig", "information_gain", "su", "fisher", "chi2", "gain_ratio"]
)
@given(counted_features(), st.data())
@settings(max_examples=25, deadline=None)
def test_no_part_of_a_features_rows_scores_above_its_bound(
    name, aggregate, alternative, feature, data
):
    totals, counts = feature
    if name == "fisher" and aggregate == "global" and len(totals) > 2:
        return
    kernel = CountScore.named(name, aggregate, alternative, len(totals))
    part = np.array([data.draw(st.integers(0, count)) for count in counts])
    n_rows = int(totals.sum())
    if not 0 < part.sum() < n_rows:
        return
    least = int(part.sum())
    bound = kernel.bounds(n_rows, totals, counts[None], least)[0]
    assert kernel.of(n_rows, totals, part[None])[0] <= bound


def test_fishers_test_has_no_global_form_for_three_classes():
    with pytest.raises(ValueError, match="compares one class with the rest"):
        CountScore.named("fisher", "global", n_classes=3)
