"""Every estimator keeps scikit-learn's contract."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from featloom import ConjunctionInducer

# ``score`` is a parameter of ConjunctionInducer; these checks take it for a method.
_SCORE_IS_A_PARAMETER = dict.fromkeys(
    ["check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency"],
    "score is the name of a parameter, not of a method",
)


@parametrize_with_checks(
    [ConjunctionInducer(), ConjunctionInducer(score="mi")],
    expected_failed_checks=lambda estimator: _SCORE_IS_A_PARAMETER,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def exclusive_or(n=400, noise=6, seed=0):
    """Two columns whose values matter only together, among columns that do not matter."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 2 + noise))
    return X.astype(str).astype(object), np.where(X[:, 0] == X[:, 1], "same", "different")


@pytest.mark.parametrize("score", ["mi", "fisher", "su", "chi2", "residual"])
def test_a_linear_model_learns_exclusive_or_from_conjunctions(score):
    X, y = exclusive_or()
    inducer = ConjunctionInducer(score=score, final_keep=4)
    model = make_pipeline(inducer, LogisticRegression())
    assert cross_val_score(LogisticRegression(), (X == "1").astype(int), y).mean() < 0.65
    assert cross_val_score(model, X, y).mean() == 1.0


def test_a_fitted_inducer_survives_clone_and_a_users_pickle():
    X, y = exclusive_or()
    inducer = ConjunctionInducer(score="mi", final_keep=4).fit(X, y)
    again = pickle.loads(pickle.dumps(inducer))
    assert (again.transform(X) != inducer.transform(X)).nnz == 0
    assert clone(inducer).get_params() == inducer.get_params()


def test_a_sparse_matrix_and_the_same_dense_flags_give_the_same_features():
    rng = np.random.default_rng(3)
    X = (rng.random((200, 12)) < 0.4).astype(int)
    y = (X[:, 0] & X[:, 1]) | X[:, 5]
    dense = ConjunctionInducer(score="fisher", final_keep=10).fit(X, y)
    csr = ConjunctionInducer(score="fisher", final_keep=10).fit(sparse.csr_matrix(X), y)
    assert list(dense.get_feature_names_out()) == list(csr.get_feature_names_out())
    assert (dense.transform(X) != csr.transform(sparse.csr_array(X))).nnz == 0
