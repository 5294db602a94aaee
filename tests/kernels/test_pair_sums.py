"""Sums of pairs of two parts, against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featloom.counts.evidence import PairSums

PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
    st.tuples(st.integers(-9, 9), st.integers(0, 2**40)),
    max_size=20,
)


def sums_of(found: dict) -> PairSums:
    parents, partners = np.array([*found], dtype=np.int32).reshape(-1, 2).T
    return PairSums.in_order(
        parents, partners, np.array([*found.values()], dtype=np.int64).reshape(-1, 2)
    )


@given(PAIRS, PAIRS)
def test_sums_of_pairs_of_two_parts_are_those_of_both(one, other):
    added: Counter = Counter()
    for part in (one, other):
        for pair, sums in part.items():
            for which, value in enumerate(sums):
                added[*pair, which] += value
    both = sums_of(one) + sums_of(other)
    pairs = list(zip(both.parents.tolist(), both.partners.tolist(), strict=True))
    assert pairs == sorted({*one, *other})
    for pair, sums in zip(pairs, both.sums.tolist(), strict=True):
        assert sums == [added[*pair, 0], added[*pair, 1]]


@given(PAIRS, PAIRS)
def test_it_does_not_matter_which_part_comes_first(one, other):
    first, second = sums_of(one) + sums_of(other), sums_of(other) + sums_of(one)
    for name in ("parents", "partners", "sums"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
