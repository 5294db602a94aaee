"""Cohesive clusters, and a background of all that is like nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featloom.errors import InputError
from featloom.methods.transfer.clusters import ForegroundClustering, cosines

matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 1.0, 2.0]),
)


def test_alike_rows_meet_and_lonely_ones_are_background():
    X = np.array(
        [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
    )
    clustering = ForegroundClustering(threshold=0.5, background=0.2).fit(X)
    assert clustering.labels_.tolist() == [0, 1, 0, 1, -1]
    assert clustering.n_clusters_ == 2
    assert clustering.cohesion_.round(6).tolist() == [1, 1, 1, 1, 0]


def test_a_row_of_zeros_is_like_nothing():
    labels = ForegroundClustering(threshold=0.1, background=0).fit_predict([[0, 0], [1, 0], [1, 0]])
    assert labels.tolist() == [-1, 0, 0]


def test_the_least_cohesive_go_to_the_background_first():
    X = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]]
    kept = ForegroundClustering(threshold=0.3, background=0.0).fit_predict(X)
    fewer = ForegroundClustering(threshold=0.3, background=0.5).fit_predict(X)
    assert kept.tolist() == [0, 0, 0, -1]
    assert fewer.tolist() == [0, 0, -1, -1]


@given(matrices, st.floats(0.05, 1.0), st.floats(0, 0.9))
def test_a_cluster_has_two_rows_at_least_and_the_background_its_share(X, threshold, share):
    labels = ForegroundClustering(threshold=threshold, background=share).fit_predict(X)
    assert (np.bincount(labels[labels >= 0]) >= 2).all()
    assert (labels == -1).sum() >= np.ceil(share * len(X)) or len(X) == 0


@given(matrices)
def test_a_higher_threshold_never_joins_what_a_lower_one_parts(X):
    low = ForegroundClustering(threshold=0.3, background=0).fit_predict(X)
    high = ForegroundClustering(threshold=0.7, background=0).fit_predict(X)
    together_high = (high[:, None] == high) & (high >= 0)
    together_low = (low[:, None] == low) & (low >= 0)
    assert (together_low | ~together_high).all()


def test_cosines_do_not_depend_on_length():
    assert cosines([[1, 1], [3, 3]]).round(12).tolist() == [[1, 1], [1, 1]]


def test_parameters_out_of_range_are_refused():
    with pytest.raises(InputError, match="threshold is 0"):
        ForegroundClustering(threshold=0).fit([[1]])
    with pytest.raises(InputError, match="background is 1"):
        ForegroundClustering(background=1).fit([[1]])
    with pytest.raises(InputError, match="no rows to cluster"):
        ForegroundClustering().fit(np.empty((0, 3)))
