"""Plans: features written down, kept and applied."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from twins import holds

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features import expand
from featloom.features.expand import ConjunctionTrie, padded
from featloom.features.feature import Feature
from featloom.features.plan import FeaturePlan


@given(
    st.lists(st.lists(st.integers(0, 6), unique=True), min_size=1, max_size=20),
    st.sets(st.frozensets(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=12),
)
@settings(max_examples=100, deadline=None)
def test_conjunctions_hold_where_all_their_parts_do(rows, conjunctions):
    rows = [sorted(row) for row in rows]
    conjunctions = sorted(map(sorted, conjunctions))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([f for row in rows for f in row], dtype=np.int32)
    trie = ConjunctionTrie(
        padded(conjunctions), n_features=7, supports=np.bincount(indices, minlength=7)
    )
    out_indptr, out = trie.rows(indptr, indices)
    found = [out[a:b].tolist() for a, b in pairwise(out_indptr)]
    assert found == holds(rows, conjunctions)


names = st.text(st.characters(codec="utf-8", exclude_characters="="), min_size=1, max_size=8)


@given(
    st.lists(st.lists(st.tuples(names, st.none() | st.text(max_size=8)), min_size=1), max_size=5)
)
def test_a_plan_is_read_back_as_it_was_written(features):
    plan = FeaturePlan(
        tuple(
            Feature.from_names([c if v is None else f"{c}={v}" for c, v in parts])
            for parts in features
        )
    )
    assert FeaturePlan.from_json(plan.to_json()) == plan


def test_a_value_may_hold_an_equals_sign():
    feature = Feature.from_names(["CTX=a=b"])
    assert feature.parts == ("CTX=a=b",)
    assert str(feature.template) == "CTX"


def test_a_part_that_the_data_never_shows_never_holds():
    table = NominalTable.from_columns({"letter": ["c", "k"]})
    plan = FeaturePlan(
        (Feature.from_names(["letter=c"]), Feature.from_names(["letter=c", "next=e"]))
    )
    assert plan.apply(table).to_csr().toarray().tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"plan": 2}', '{"plan": 1, "features": [1]}'])
def test_what_is_not_a_plan_is_refused_in_one_line(text):
    with pytest.raises(InputError, match="plan") as caught:
        FeaturePlan.from_json(text)
    assert "\n" not in str(caught.value)


def test_rows_looked_through_in_several_calls_hold_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.random((300, 12)) < 0.4, dtype=np.int8)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    parts = padded([[j] for j in range(12)] + [[i, j] for j in range(12) for i in range(j)])
    trie = ConjunctionTrie(parts, n_features=12, supports=X.getnnz(axis=0))
    at_once = trie.rows(indptr, indices)
    for room in (1, 50, 100_000):
        monkeypatch.setattr(expand, "_AT_ONCE", room)
        for known, again in zip(at_once, trie.rows(indptr, indices), strict=True):
            assert again.dtype == known.dtype
            np.testing.assert_array_equal(again, known)
    none = trie.rows(indptr[:1], indices[:0])
    assert [len(array) for array in none] == [1, 0]
