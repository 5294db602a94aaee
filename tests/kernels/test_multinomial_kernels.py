"""The sums behind a logistic regression, against numpy on dense arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from featloom.kernels import multinomial as kernels
from featloom.kernels.rows import transpose


def problem(n_scores, ones, seed=0, n=40, m=9):
    rng = np.random.default_rng(seed)
    dense = (rng.random((n, m)) < 0.3).astype(float)
    if not ones:
        dense *= rng.normal(size=dense.shape)
    labels = rng.integers(0, max(n_scores, 2), size=n)
    return dense, labels, rng.random(n), rng.normal(size=(m + 1, n_scores)), rng


def of_rows(X):
    X = sparse.csr_matrix(X)
    values = np.empty(0) if (X.data == 1).all() else X.data
    return X.indptr.astype(np.int64), X.indices, values


def probabilities_of(scores):
    return 1 / (1 + np.exp(-scores)) if scores.shape[1] == 1 else softmax(scores, axis=1)


def loss_of(scores, labels, row_weights):
    both = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    return -(row_weights * np.log(softmax(both, axis=1)[np.arange(len(labels)), labels])).sum()


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("n_scores", [1, 2, 5])
def test_products_with_the_rows_and_with_their_transpose(n_scores, ones):
    X, _, _, weights, rng = problem(n_scores, ones)
    scores = np.full((len(X), n_scores), np.nan)
    for begin, end in ((0, 17), (17, len(X))):
        kernels.scores_of_rows(begin, end, *of_rows(X), weights, scores)
    np.testing.assert_allclose(scores, X @ weights[:-1] + weights[-1])
    indptr, indices, values = of_rows(X)
    starts, rows, places = transpose(indptr, indices, X.shape[1])
    values = values[places] if len(values) else values
    sums = np.full((X.shape[1], n_scores), np.nan)
    given = rng.normal(size=scores.shape)
    for squared, expected in ((False, X.T @ given), (True, (X**2).T @ given)):
        for begin, end in ((0, 4), (4, X.shape[1])):
            kernels.sums_of_features(begin, end, starts, rows, values, squared, given, sums)
        np.testing.assert_allclose(sums, expected, atol=1e-12)
    np.testing.assert_allclose(kernels.sums_of_rows(3, 9, given), given[3:9].sum(axis=0))


@pytest.mark.parametrize("n_scores", [1, 2, 5])
def test_the_loss_and_its_derivatives(n_scores):
    X, labels, row_weights, weights, rng = problem(n_scores, ones=True)
    n = len(X)
    scores, moves = X @ weights[:-1] + weights[-1], rng.normal(size=(n, n_scores))

    def loss(step):
        return kernels.loss_along(0, n, scores, moves, step, labels, row_weights)

    for step in (0.0, 0.5):
        expected = loss_of(scores + step * moves, labels, row_weights)
        assert loss(step) == pytest.approx(expected)
    probabilities, slopes = np.empty_like(scores), np.empty_like(scores)
    kernels.first_derivative(0, n, scores, labels, row_weights, probabilities, slopes)
    np.testing.assert_allclose(probabilities, probabilities_of(scores))
    assert (slopes * moves).sum() == pytest.approx((loss(1e-5) - loss(-1e-5)) / 2e-5, rel=1e-6)
    curved = moves.copy()
    kernels.second_derivative(0, n, probabilities, row_weights, curved)
    bend = (loss(1e-3) - 2 * loss(0.0) + loss(-1e-3)) / 1e-6
    assert (curved * moves).sum() == pytest.approx(bend, rel=1e-4)
    for c in range(n_scores):  # the diagonal is what a move of one score alone comes to
        one = np.zeros_like(scores)
        one[:, c] = 1
        kernels.second_derivative(0, n, probabilities, row_weights, one)
        own = np.empty_like(scores)
        kernels.own_curvatures(0, n, probabilities, row_weights, own)
        np.testing.assert_allclose(own[:, c], one[:, c])
    moved = scores.copy()
    kernels.move(0, n, moved, moves, 0.25)
    np.testing.assert_allclose(moved, scores + 0.25 * moves)


def test_scores_beyond_what_exponents_can_hold_have_a_finite_loss():
    far, none = np.array([[2000.0], [-2000.0]]), np.zeros((2, 1))
    labels, each = np.array([0, 1]), np.ones(2)
    assert kernels.loss_along(0, 2, far, none, 0.0, labels, each) == 4000
    assert kernels.loss_along(0, 2, far, none, 0.0, 1 - labels, each) == 0
    wide = np.hstack([far, none, none])
    assert kernels.loss_along(0, 2, wide, wide, 0.0, labels, each) == pytest.approx(np.log(2))


def test_a_step_of_conjugate_gradients():
    rng = np.random.default_rng(1)
    direction, curved, found, left = rng.normal(size=(4, 11))
    diagonal = rng.random(11) + 0.5
    assert kernels.inner_product(direction, curved) == pytest.approx(direction @ curved)
    found_then, left_then = found + 0.3 * direction, left - 0.3 * curved
    size = kernels.conjugate_step(0.3, direction, curved, diagonal, found, left)
    np.testing.assert_allclose(found, found_then)
    np.testing.assert_allclose(left, left_then)
    assert size == pytest.approx((left**2 / diagonal).sum())
    expected = left / diagonal + 0.7 * direction
    kernels.conjugate_direction(left, diagonal, 0.7, direction)
    np.testing.assert_allclose(direction, expected)
