"""Values × classes tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.counts import values as values_module
from featloom.counts.values import ValueCounts

rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=60)


def counted(pairs):
    values, labels = np.array(pairs).T
    return ValueCounts.of(values, labels, n_values=7, n_classes=4)


@given(rows)
def test_the_cells_are_the_pairs_that_are_met(pairs):
    table = counted(pairs)
    cells = {
        (v, int(table.classes[cell])): int(table.counts[cell])
        for v in range(7)
        for cell in range(table.start[v], table.start[v + 1])
    }
    assert cells == Counter(pairs)
    assert table.n_values == 7
    assert table.totals.tolist() == [sum(v == u for v, _ in pairs) for u in range(7)]
    assert table.class_totals.tolist() == [sum(c == d for _, c in pairs) for d in range(4)]


@given(rows)
def test_the_shares_of_a_value_add_up_to_one(pairs):
    table = counted(pairs)
    for v in range(7):
        shares = table.shares[table.start[v] : table.start[v + 1]]
        assert len(shares) == 0 or shares.sum() == pytest.approx(1)


@given(rows)
def test_a_large_table_is_counted_by_sorting_to_the_same_cells(pairs):
    dense = counted(pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values_module, "_DENSE_CELLS", 0)
        sparse = counted(pairs)
    for name in ("start", "classes", "counts"):
        assert getattr(dense, name).tolist() == getattr(sparse, name).tolist()
        assert getattr(dense, name).dtype == getattr(sparse, name).dtype


def test_a_column_of_words_has_as_many_cells_as_pairs_not_values_times_classes():
    n = 300_000
    table = ValueCounts.of(np.arange(1, n + 1), np.arange(n) % 100, n_values=n + 1, n_classes=100)
    assert len(table.counts) == n
    weights = table.weights()
    assert weights["information_gain"] == pytest.approx(np.log2(100))
    assert weights["shared_variance"] == pytest.approx(1)
