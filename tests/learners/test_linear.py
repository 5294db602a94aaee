"""The linear model: it is scikit-learn's, at its optimum, for any number of classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from featloom.errors import InputError
from featloom.learners.linear import LinearClassifier


def chess_endings(n_classes, n=800, seed=0):
    """Like positions of king and rook against king: six coordinates, their pairs, and depths."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 8, size=(n, 6))
    distance = np.maximum(abs(a[:, 0] - a[:, 4]), abs(a[:, 1] - a[:, 5]))
    edge = np.minimum(a[:, 4], 7 - a[:, 4]) + np.minimum(a[:, 5], 7 - a[:, 5])
    depth = distance + edge + 2 * (a[:, 2] > a[:, 0]) + rng.normal(scale=0.7, size=n)
    cuts = np.quantile(depth, np.arange(1, n_classes) / n_classes)
    flags = [np.eye(8)[a[:, j]] for j in range(6)]
    flags += [np.eye(64)[8 * a[:, i] + a[:, j]] for i in range(6) for j in range(i)]
    y = np.array([f"d{c:02}" for c in np.searchsorted(cuts, depth)])
    return sparse.csr_matrix(np.hstack(flags)), y


def objective(model, X, y, C, class_weight=None):
    """Of scikit-learn: C Σ a · log-loss + |w|² / 2."""
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    right = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    losses = compute_sample_weight(class_weight, y) * (logsumexp(scores, axis=1) - right)
    return C * losses.sum() + 0.5 * (model.coef_**2).sum()


@pytest.mark.parametrize("class_weight", [None, "balanced", {"d01": 3.0}])
@pytest.mark.parametrize(("n_classes", "C"), [(2, 1.0), (3, 0.1), (18, 1.0), (18, 0.01)])
def test_the_optimum_is_scikit_learns(n_classes, C, class_weight):
    X, y = chess_endings(n_classes)
    assert len(np.unique(y)) == n_classes
    model = LinearClassifier(C=C, class_weight=class_weight).fit(X, y)
    peer = LogisticRegression(C=C, class_weight=class_weight, tol=1e-6, max_iter=20_000).fit(X, y)
    reached = objective(model, X, y, C, class_weight)
    assert reached == pytest.approx(objective(peer, X, y, C, class_weight), rel=1e-4)
    assert model.objective_ == pytest.approx(reached)
    assert model.coef_.shape == peer.coef_.shape
    assert (model.predict(X) == peer.predict(X)).mean() > 0.99
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=0.01)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_features_may_be_numbers(n_classes):
    X, y = chess_endings(n_classes)
    X = X.multiply(np.random.default_rng(0).normal(size=X.shape[1])).tocsr()
    model = LinearClassifier().fit(X, y)
    peer = LogisticRegression(tol=1e-6, max_iter=20_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=0.01)


def test_a_slope_of_tol_is_reached_whatever_the_start():
    X, y = chess_endings(18)
    strong = LinearClassifier(C=0.01).fit(X, y)
    cold = LinearClassifier().fit(X, y)
    warm = LinearClassifier().fit(X, y, start=strong)
    again = LinearClassifier().fit(X, y, start=cold)
    assert again.n_iter_ <= 1
    for model in (warm, again):
        assert model.objective_ == pytest.approx(cold.objective_, rel=1e-4)
    far = LinearClassifier(passes=0).fit(X, y)
    assert far.objective_ == pytest.approx(cold.objective_, rel=1e-4)
    coarse = LinearClassifier(tol=0.1, passes=0).fit(X, y)
    assert coarse.n_iter_ < far.n_iter_
    assert coarse.objective_ > cold.objective_


def test_a_path_has_the_classifier_of_every_strength_in_order():
    X, y = chess_endings(5)
    Cs = [1.0, 0.01, 0.1]
    path = LinearClassifier(class_weight="balanced").path(X, y, Cs)
    assert [model.C for model in path] == Cs
    for model, C in zip(path, Cs, strict=True):
        alone = LinearClassifier(C=C, class_weight="balanced").fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-4)
        assert (model.predict(X) == alone.predict(X)).mean() > 0.99
    assert LinearClassifier().path(X, y, []) == []


def test_threads_change_no_bit():
    X, y = chess_endings(18, n=15_000)
    X.data[np.random.default_rng(0).random(X.nnz) < 0.1] = 0
    X.eliminate_zeros()
    alone, *together = (LinearClassifier(tol=0.02, n_jobs=n).fit(X, y) for n in (1, 2, 3))
    for model in together:
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)


def test_what_does_not_end_says_so():
    X, y = chess_endings(3)
    with pytest.warns(ConvergenceWarning, match="after 2 steps the gradient is"):
        LinearClassifier(max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearClassifier().fit(X, y)


def test_what_cannot_be_fitted_is_refused():
    X, y = chess_endings(3)
    with pytest.raises(InputError, match="of one class"):
        LinearClassifier().fit(X, ["same"] * len(y))
    for name in ("C", "tol", "max_iter"):
        with pytest.raises(InputError, match=f"{name} is 0; it must be a"):
            LinearClassifier(**{name: 0}).fit(X, y)
    with pytest.raises(InputError, match="passes is -1"):
        LinearClassifier(passes=-1).fit(X, y)
    start = LinearClassifier().fit(X[:, :100], y)
    with pytest.raises(InputError, match="other features or classes"):
        LinearClassifier().fit(X, y, start=start)
