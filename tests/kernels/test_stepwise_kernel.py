"""The forward selection against brute force: every candidate fitted anew at every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from featloom.kernels import logistic, stepwise
from featloom.kernels.least_squares import centred_products

VARIANCES = [stepwise.NULL, stepwise.CURRENT, stepwise.PROFILE]


@st.composite
def problems(draw, binary_target=False):
    """A few binary features, among them equal, constant and rare ones, and a noisy target."""
    n, m = draw(st.integers(3, 40)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = (random.random((n, m)) < random.choice([0.1, 0.3, 0.5, 0.9], size=m)).astype(float)
    kinds = draw(
        st.lists(
            st.sampled_from(["as it is", "equal", "zeros", "ones", "once"]), min_size=m, max_size=m
        )
    )
    for j, kind in enumerate(kinds):
        if kind == "equal":
            X[:, j] = X[:, 0]
        elif kind != "as it is":
            X[:, j] = float(kind == "ones")
        if kind == "once":
            X[random.integers(n), j] = 1.0
    target = X @ random.normal(size=m) + draw(st.sampled_from([0.0, 0.1, 1.0])) * random.normal(
        size=n
    )
    if binary_target:
        target = (target > np.median(target)).astype(float)
    cost = random.uniform(0.05, draw(st.sampled_from([0.5, 4.0])), size=m)
    return X, target, cost


def layouts(X):
    """The features by row and by column."""
    rows, columns = sparse.csr_matrix(X), sparse.csc_matrix(X)
    return (
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32),
    )


def residual_sum(X, chosen, target):
    design = np.column_stack([np.ones(len(X)), X[:, chosen]])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    return float(((target - design @ weights) ** 2).sum())


def plain_bits(before, after, null, n, variance):
    if variance == stepwise.PROFILE:
        return n / 2 * np.log2(before / max(after, 1e-12 * null))
    base = null if variance == stepwise.NULL else before
    return (before - after) * n / (2 * np.log(2) * base)


@pytest.mark.parametrize("variance", VARIANCES)
@given(problem=problems())
def test_every_step_is_the_best_that_a_refit_of_all_candidates_finds(problem, variance):
    X, target, cost = problem
    n, m = X.shape
    chosen, saved, path = stepwise.forward(*layouts(X), target, cost, variance, m)
    null = residual_sum(X, [], target)
    assert path[0] == pytest.approx(null, abs=1e-9)
    before = null
    for step in range(len(chosen) + 1):
        if before <= 1e-8 * n:
            # Nothing is left to explain, and what rounding leaves is not worth comparing.
            break
        sums = [residual_sum(X, [*chosen[:step], j], target) for j in range(m)]
        # A sum of features chosen lowers nothing; rounding must not make it look as if.
        bits = np.array(
            [
                plain_bits(before, after, null, n, variance)
                if before - after > 1e-9 * null
                else 0.0
                for after in sums
            ]
        )
        gains = bits - cost
        if step == len(chosen):
            assert gains.max() <= 1e-6
            break
        j = chosen[step]
        if sums[j] > 1e-9 * null:
            assert gains[j] == pytest.approx(gains.max(), abs=1e-6, rel=1e-6)
            assert saved[step] == pytest.approx(bits[j], abs=1e-6, rel=1e-6)
        assert path[step + 1] == pytest.approx(sums[j], abs=1e-8 * n)
        before = sums[j]
    assert len(set(chosen.tolist())) == len(chosen)


@pytest.mark.parametrize("variance", VARIANCES)
def test_of_equal_features_one_is_chosen(variance):
    random = np.random.default_rng(1)
    column = (random.random(50) < 0.4).astype(float)
    X = np.column_stack([column, column, column])
    target = column + 0.1 * random.normal(size=50)
    chosen, _, _ = stepwise.forward(*layouts(X), target, np.zeros(3), variance, 3)
    assert chosen.tolist() == [0]
    chosen, _, _ = stepwise.forward(*layouts(X), target, np.array([2.0, 1.0, 3.0]), variance, 3)
    assert chosen.tolist() == [1]


@pytest.mark.parametrize("variance", VARIANCES)
def test_features_of_all_rows_or_none_and_a_constant_target_choose_nothing(variance):
    X = np.column_stack([np.ones(9), np.zeros(9)])
    target = np.arange(9.0)
    assert len(stepwise.forward(*layouts(X), target, np.zeros(2), variance, 2)[0]) == 0
    X = np.column_stack([np.arange(9) % 2, np.arange(9) < 4]).astype(float)
    chosen, _, path = stepwise.forward(*layouts(X), np.full(9, 3.0), np.zeros(2), variance, 2)
    assert (len(chosen), path.tolist()) == (0, [0.0])


def test_a_feature_seen_once_explains_its_row():
    X = np.eye(10)[:, :1]
    target = np.zeros(10)
    target[0] = 5.0
    chosen, saved, path = stepwise.forward(*layouts(X), target, np.ones(1), stepwise.NULL, 1)
    assert chosen.tolist() == [0]
    assert saved[0] == pytest.approx(10 / (2 * np.log(2)))
    assert path[1] == pytest.approx(0.0, abs=1e-12)


def test_most_ends_the_path():
    random = np.random.default_rng(0)
    X = (random.random((60, 6)) < 0.5).astype(float)
    target = X.sum(axis=1)
    whole, _, _ = stepwise.forward(*layouts(X), target, np.zeros(6), stepwise.NULL, 6)
    part, _, _ = stepwise.forward(*layouts(X), target, np.zeros(6), stepwise.NULL, 2)
    assert part.tolist() == whole[:2].tolist()


@given(problem=problems())
def test_centred_products_are_those_of_centred_columns(problem):
    X, target, _ = problem
    chosen = np.arange(X.shape[1])[::-1].copy()
    centred = (X - X.mean(axis=0))[:, chosen]
    products, with_target = centred_products(*layouts(X)[2:], chosen, target)
    np.testing.assert_allclose(products, centred.T @ centred, atol=1e-9)
    np.testing.assert_allclose(with_target, centred.T @ target, atol=1e-9)


def plain_deviance(X, chosen, target):
    """The deviance by plain Newton steps on a dense design, each halved until it helps."""
    design = np.column_stack([np.ones(len(X)), X[:, chosen]])
    weights = np.zeros(design.shape[1])

    def deviance(weights):
        margins = (2 * target - 1) * (design @ weights)
        return 2 * np.logaddexp(0, -margins).sum() + logistic.RIDGE * weights @ weights

    for _ in range(200):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (p - target) + logistic.RIDGE * weights
        hessian = (design * (p * (1 - p))[:, None]).T @ design
        step = np.linalg.solve(hessian + logistic.RIDGE * np.eye(len(weights)), gradient)
        while np.abs(step).max() > 1e-10 and deviance(weights - step) > deviance(weights):
            step /= 2
        if np.abs(step).max() <= 1e-10:
            break
        weights = weights - step
    return deviance(weights)


@given(problem=problems(binary_target=True))
def test_a_logistic_path_is_the_best_when_all_candidates_are_fitted(problem):
    X, target, cost = problem
    n, m = X.shape
    chosen, weights, path = logistic.forward(*layouts(X), target, cost, m, m)
    assert path[0] == pytest.approx(plain_deviance(X, [], target), abs=1e-6)
    candidates = [j for j in range(m) if 0 < X[:, j].sum() < n]
    for step in range(len(chosen) + 1):
        gains = {
            j: (path[step] - plain_deviance(X, [*chosen[:step], j], target)) * logistic.BITS
            - cost[j]
            for j in candidates
            if j not in chosen[:step]
        }
        if step == len(chosen):
            assert all(gain <= 1e-6 for gain in gains.values())
            break
        assert gains[chosen[step]] == pytest.approx(max(gains.values()), abs=1e-6)
        after = plain_deviance(X, chosen[: step + 1], target)
        assert path[step + 1] == pytest.approx(after, abs=1e-6)
    assert len(weights) == len(chosen) + 1


@given(problem=problems(binary_target=True))
def test_the_score_test_is_that_of_a_dense_computation(problem):
    X, target, _ = problem
    n, m = X.shape
    chosen = np.array([0])
    start, places = logistic.model_rows(*layouts(X)[2:], chosen, n)
    weights, _ = logistic.fit(start, places, target, np.zeros(2))
    drops, _, _ = logistic.foretold(*layouts(X)[:2], start, places, target, weights, m)
    design = np.column_stack([np.ones(n), X[:, 0]])
    p = 1 / (1 + np.exp(-design @ weights))
    v = p * (1 - p)
    hessian = (design * v[:, None]).T @ design + logistic.RIDGE * np.eye(2)
    for j in range(m):
        crossed = design.T @ (v * X[:, j])
        length = v @ X[:, j] + logistic.RIDGE - crossed @ np.linalg.solve(hessian, crossed)
        plain = (X[:, j] @ (target - p)) ** 2 / max(length, logistic.RIDGE)
        assert drops[j] == pytest.approx(plain, rel=1e-5, abs=1e-8)


def test_a_feature_that_separates_the_classes_gets_a_finite_weight():
    X = np.repeat([[1.0], [0.0]], 20, axis=0)
    target = X[:, 0].copy()
    chosen, weights, path = logistic.forward(*layouts(X), target, np.ones(1), 1, 1)
    assert chosen.tolist() == [0]
    assert np.isfinite(weights).all()
    assert path[1] < 0.1


def test_a_target_of_one_class_leaves_nothing_to_choose():
    X = np.eye(6)[:, :2]
    for target in (np.zeros(6), np.ones(6)):
        chosen, weights, path = logistic.forward(*layouts(X), target, np.ones(2), 2, 2)
        assert len(chosen) == 0
        assert np.isfinite(weights).all()
        assert path[0] < 0.1
