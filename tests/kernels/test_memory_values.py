"""Differences of values and weights of columns, against formulas on paper and other libraries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import mutual_info_score
from twins import value_difference

from featloom.counts.values import ValueCounts
from featloom.kernels.value_difference import alike_values, difference_rows

N_VALUES, N_CLASSES = 7, 4


@st.composite
def columns(draw, most=40, lowest=0):
    n = draw(st.integers(1, most))
    values = draw(arrays(np.int32, n, elements=st.integers(lowest, N_VALUES - 1)))
    return values, draw(arrays(np.int64, n, elements=st.integers(0, N_CLASSES - 1)))


def counted(column):
    return ValueCounts.of(*column, n_values=N_VALUES, n_classes=N_CLASSES)


def differences(counts, threshold=1):
    frequent = counts.totals >= threshold
    frequent[0] = False
    rows = np.empty(N_VALUES * N_VALUES)
    difference_rows(
        counts.start, counts.classes, counts.shares, frequent, N_CLASSES, np.arange(N_VALUES), rows
    )
    return rows.reshape(N_VALUES, N_VALUES)


@given(columns(), st.integers(1, 4))
@settings(max_examples=150)
def test_the_difference_of_two_values_is_half_the_difference_of_their_class_shares(
    column, threshold
):
    table = differences(counted(column), threshold)
    for u in range(N_VALUES):
        for v in range(N_VALUES):
            expected = value_difference(*map(list, column), u, v, threshold)
            assert table[u, v] == pytest.approx(float(expected), abs=1e-12)


@given(columns())
@settings(max_examples=100)
def test_differences_of_values_are_a_metric_in_the_unit_interval(column):
    table = differences(counted(column))
    assert (table == table.T).all()
    assert ((table >= 0) & (table <= 1)).all()
    assert (np.diag(table)[1:] == 0).all()
    assert (table[0] == 1).all()  # the unknown is like nothing, itself included
    through = (table[:, :, None] + table[None, :, :]).min(axis=1)
    assert (table <= through + 1e-12)[1:, 1:].all()


@given(columns(), st.integers(1, 3))
@settings(max_examples=150)
def test_values_are_alike_just_where_their_class_shares_are(column, threshold):
    counts = counted(column)
    frequent = counts.totals >= threshold
    frequent[0] = False
    group, n_groups = alike_values(counts.start, counts.classes, counts.counts, frequent)
    assert list(dict.fromkeys(group.tolist())) == list(range(n_groups))
    for u in range(N_VALUES):
        for v in range(u):
            alike = value_difference(*map(list, column), u, v, threshold) == 0
            assert (group[u] == group[v]) == alike


@given(columns(lowest=1))
@settings(max_examples=100)
def test_gain_ratio_and_information_gain_are_entropies_of_scipy_and_scikit_learn(column):
    values, labels = column
    weights = counted(column).weights()
    gain = mutual_info_score(values, labels) / np.log(2)
    assert weights["information_gain"] == pytest.approx(gain, abs=1e-12)
    split = stats.entropy(list(Counter(values.tolist()).values()), base=2)
    assume(split > 0)
    assert weights["gain_ratio"] == pytest.approx(gain / split, abs=1e-12)


@given(columns(lowest=1))
@settings(max_examples=100)
def test_chi_squared_is_pearsons_and_shared_variance_is_cramers(column):
    weights = counted(column).weights()
    table = stats.contingency.crosstab(*column).count
    expected = stats.chi2_contingency(table, correction=False).statistic
    assert weights["chi_squared"] == pytest.approx(expected, abs=1e-9)
    if min(table.shape) > 1:
        cramer = stats.contingency.association(table, method="cramer")
        assert weights["shared_variance"] == pytest.approx(cramer**2, abs=1e-9)
    else:
        assert weights["shared_variance"] == 0


@given(columns(lowest=1), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_weights_know_neither_the_order_of_rows_nor_the_names_of_values(column, random):
    values, labels = column
    renamed, order = list(range(1, N_VALUES)), list(range(len(values)))
    random.shuffle(renamed)
    random.shuffle(order)
    other = np.array([0, *renamed])[values][order], labels[order]
    for name, weight in counted(column).weights().items():
        assert counted(other).weights()[name] == pytest.approx(weight, abs=1e-9)


@given(columns(lowest=1))
@settings(max_examples=60)
def test_weights_are_within_their_bounds(column):
    weights = counted(column).weights()
    assert weights["none"] == 1
    assert 0 <= weights["gain_ratio"] <= 1 + 1e-12
    assert 0 <= weights["information_gain"] <= np.log2(N_CLASSES) + 1e-12
    assert 0 <= weights["shared_variance"] <= 1 + 1e-12


def test_a_column_with_one_value_says_nothing():
    weights = ValueCounts.of(
        np.ones(6, int), np.array([0, 1, 0, 1, 2, 2]), n_values=2, n_classes=3
    ).weights()
    assert weights == {
        "none": 1.0, "gain_ratio": 0.0, "information_gain": 0.0, "chi_squared": 0.0,
        "shared_variance": 0.0,
    }  # fmt: skip
