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

from featloom import (
    ConjunctionInducer,
    MDLSelector,
    MemoryClassifier,
    MemorySearch,
    TreeTemplates,
    TreeTemplatesCV,
)
from featloom.learners.linear import LinearClassifier
from featloom.methods.tree_templates.family_templates import FamilyTemplates

# ``score`` is a parameter of ConjunctionInducer; these checks take it for a method.
_SCORE_IS_A_PARAMETER = dict.fromkeys(
    ["check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency"],
    "score is the name of a parameter, not of a method",
)


def _expected(estimator):
    return _SCORE_IS_A_PARAMETER if isinstance(estimator, ConjunctionInducer) else {}


@parametrize_with_checks(
    [
        ConjunctionInducer(),
        ConjunctionInducer(score="mi"),
        MemoryClassifier(),
        MemoryClassifier(k=3, metric="mvdm", vote="exponential", compat="timbl"),
        MemorySearch(strategy="genetic", ks=(1,), cv=2, trials=4),
        MemorySearch(strategy="guided", ks=(1, 3), cv=2, trials=4, compat=None),
        TreeTemplates(),
        TreeTemplates(n_trees=3, hashed=10),
        TreeTemplatesCV(max_lengths=(1, 2), mosts=(None,), cv=2),
        LinearClassifier(),
        FamilyTemplates(),
        MDLSelector(),
        MDLSelector(likelihood="bernoulli", cost=1.0, backward=True),
    ],
    expected_failed_checks=_expected,
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


@pytest.mark.parametrize(
    "learner",
    [
        MemoryClassifier(k=3, metric="mvdm", compat="timbl"),
        MemorySearch(strategy="grid", ks=(1, 3), cv=2),
    ],
)
def test_a_fitted_memory_survives_clone_and_a_users_pickle(learner):
    X, y = exclusive_or(n=120, noise=2)
    learner = clone(learner).fit(X, y)
    again = pickle.loads(pickle.dumps(learner))
    assert again.predict_proba(X).tolist() == learner.predict_proba(X).tolist()
    assert clone(learner).get_params() == learner.get_params()
    assert not hasattr(clone(learner), "classes_")


def test_a_memory_goes_into_pipelines_and_searches_of_scikit_learn():
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import FunctionTransformer

    X, y = exclusive_or(n=160, noise=2)
    model = make_pipeline(FunctionTransformer(), MemoryClassifier(weights="none"))
    assert cross_val_score(model, X, y).mean() > 0.9
    grid = GridSearchCV(MemoryClassifier(), {"k": [1, 3], "weights": ["none", "gain_ratio"]}, cv=3)
    assert grid.fit(X, y).best_score_ > 0.9
    pairs = ConjunctionInducer(score="mi", final_keep=4).fit(X, y)
    flags = pairs.transform(X).toarray()
    assert MemoryClassifier().fit(flags, y).score(flags, y) == 1.0


def letters_and_sounds(n_classes, n=600, seed=0):
    """Rows with one value of each of three columns, the class being that of the first, mostly."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, size=(n, 3))
    X = np.hstack([np.eye(n_classes)[codes[:, j]] for j in range(3)])
    y = np.where(rng.random(n) < 0.9, codes[:, 0], codes[:, 1])
    return sparse.csr_matrix(X), np.array([f"s{code:02}" for code in y])


@pytest.mark.parametrize("n_classes", [2, 4, 14])
def test_a_linear_classifier_answers_as_logistic_regression_does(n_classes):
    X, y = letters_and_sounds(n_classes)
    model = LinearClassifier(C=0.5, random_state=0).fit(X[:400], y[:400])
    peer = LogisticRegression(C=0.5, max_iter=1000).fit(X[:400], y[:400])
    assert model.classes_.tolist() == peer.classes_.tolist()
    assert model.coef_.shape == peer.coef_.shape
    assert (model.predict(X[400:]) == peer.predict(X[400:])).mean() > 0.97
    np.testing.assert_allclose(model.predict_proba(X[400:]), peer.predict_proba(X[400:]), atol=0.08)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_threads_change_nothing_of_a_linear_classifier():
    """Rows of different length: a feature has no place of its own among those of a row."""
    X, y = letters_and_sounds(14)
    X.data[np.random.default_rng(0).random(X.nnz) < 0.4] = 0
    X.eliminate_zeros()
    alone, *together = (LinearClassifier(n_jobs=n).fit(X, y) for n in (1, 2, 2, 3, 4, 5))
    for model in together:
        np.testing.assert_array_equal(model.coef_, alone.coef_)


def test_templates_of_families_let_a_linear_model_learn_exclusive_or():
    X, y = exclusive_or()
    flags = sparse.csr_matrix(np.hstack([X == "0", X == "1"]).astype(int))
    families = [f"f{j}" for j in range(X.shape[1])] * 2
    joined = FamilyTemplates(feature_groups=families)
    model = make_pipeline(joined, LinearClassifier())
    assert cross_val_score(LinearClassifier(), flags, y).mean() < 0.65
    assert cross_val_score(model, flags, y).mean() > 0.98
    fitted = clone(joined).fit(flags, y)
    names = list(fitted.get_feature_names_out())
    assert len(names) == len(set(names)) == fitted.transform(flags).shape[1]
    assert (pickle.loads(pickle.dumps(fitted)).transform(flags) != fitted.transform(flags)).nnz == 0
