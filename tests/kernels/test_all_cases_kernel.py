"""Distances of all stored cases at once: the sum on paper, in the order of the features."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featloom.kernels.all_cases import all_distances

N_VALUES = 4


def distance(case, query, weights, is_mvdm, costs):
    """Added up feature by feature; an unknown value (0) agrees with nothing."""
    total = 0.0
    for j, value in enumerate(query.tolist()):
        if is_mvdm[j]:
            total += costs[j][case[j]]
        else:
            total += 0.0 if value and case[j] == value else weights[j]
    return total


@given(st.data(), st.sampled_from([np.uint16, np.int32]), st.integers(1, 11))
@settings(max_examples=80)
def test_distances_of_a_stretch_of_cases_are_the_sums_of_what_their_values_cost(data, dtype, n):
    codes = st.integers(0, N_VALUES - 1)
    n_cases = data.draw(st.integers(1, 40))
    columns = data.draw(arrays(dtype, (n, n_cases), elements=codes))
    query = data.draw(arrays(dtype, n, elements=codes))
    weights = data.draw(arrays(float, n, elements=st.sampled_from([0.1, 0.3, 1.0, 2.7])))
    is_mvdm = data.draw(arrays(bool, n))
    costs = data.draw(arrays(float, (n, N_VALUES), elements=st.floats(0, 1)))
    first = data.draw(st.integers(0, n_cases - 1))
    last = data.draw(st.integers(first + 1, n_cases))
    near = np.full(n_cases + 1, np.nan)
    starts = np.arange(n + 1) * N_VALUES
    all_distances(columns, first, last, query, weights, is_mvdm, starts, costs.ravel(), near)
    expected = [
        distance(columns[:, i].tolist(), query, weights, is_mvdm, costs.tolist())
        for i in range(first, last)
    ]
    assert near[: last - first].tolist() == expected
    assert np.isnan(near[last - first :]).all()
