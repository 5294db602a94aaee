"""Sparse binary rows: families, names, and the tie between tables and matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError

dense = arrays.arrays(
    np.int8, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 1)
)


@settings(deadline=None)
@given(dense)
def test_a_matrix_of_zeros_and_ones_is_kept_as_it_is(X):
    assert np.array_equal(FeatureMatrix.from_csr(X).to_csr().toarray(), X)


@settings(deadline=None)
@given(dense, st.data())
def test_rows_can_be_taken(X, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(X) - 1))), dtype=np.int64)
    matrix = FeatureMatrix.from_csr(X, labels=np.arange(len(X), dtype=np.int32))
    part = matrix.take(rows)
    assert np.array_equal(part.to_csr().toarray(), X[rows])
    assert part.labels.tolist() == rows.tolist()


def test_duplicates_disorder_and_stored_zeros_leave_the_given_matrix_alone():
    X = sparse.csr_matrix(
        (np.array([1.0, 1.0, 1.0, 0.0]), np.array([2, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    matrix = FeatureMatrix.from_csr(X)
    assert matrix.to_csr().toarray().tolist() == [[1, 0, 1], [0, 0, 0]]
    assert X.indices.tolist() == [2, 0, 0, 1]
    assert X.data.tolist() == [1, 1, 1, 0]


@settings(deadline=None)
@given(dense, st.data())
def test_a_family_is_single_valued_when_no_row_holds_two_of_its_features(X, data):
    groups = data.draw(st.lists(st.sampled_from("pqr"), min_size=X.shape[1], max_size=X.shape[1]))
    matrix = FeatureMatrix.from_csr(X, feature_groups=groups)
    for family, single in zip(matrix.families, matrix.single_valued, strict=True):
        held = X[:, [group == family for group in groups]].sum(axis=1)
        assert single == (held.max() <= 1)


def test_the_family_is_what_stands_before_the_first_equals_sign():
    matrix = FeatureMatrix.from_csr([[1, 1, 0]], names=["W=a=b", "CAP", "W=="])
    assert matrix.families == ("W", "CAP")
    assert matrix.family_of.tolist() == [0, 1, 0]


def test_values_other_than_0_and_1_are_refused_with_their_place():
    words = r"row 1, feature 2 has the value 0\.5; features must be binary \(0 or 1\)"
    with pytest.raises(InputError, match=words):
        FeatureMatrix.from_csr([[1, 0, 0], [0, 0, 0.5]])
    with pytest.raises(InputError, match="has the value nan"):
        FeatureMatrix.from_csr([[np.nan]])


def test_names_and_groups_must_match_the_features():
    with pytest.raises(InputError, match="1 feature names for 2 features"):
        FeatureMatrix.from_csr([[1, 0]], names=["a"])
    with pytest.raises(InputError, match="3 feature groups for 2 features"):
        FeatureMatrix.from_csr([[1, 0]], feature_groups=["a", "b", "c"])


@settings(deadline=None)
@given(
    st.integers(1, 10).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                name: st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n)
                for name in ("a", "b", "c")
            }
        )
    )
)
def test_a_table_has_one_feature_for_each_known_value_of_a_row(columns):
    table = NominalTable.from_columns(columns, labels=columns["a"])
    matrix = FeatureMatrix.from_table(table)
    for row in range(len(table)):
        expected = [f"{name}={v[row]}" for name, v in columns.items() if v[row] is not None]
        assert matrix.row_names(row) == expected
    assert matrix.families == table.columns
    assert matrix.single_valued.all()
    assert matrix.shape[1] == sum(map(len, table.vocabularies))
    assert matrix.labels is table.labels
