"""Forward selection of binary features for a target of zeros and ones, by logistic regression.

With p = 1 / (1 + exp(−b − Σ w)) the deviance of a model is

    D = −2 Σ log P(y) + λ (b² + Σ w²),     λ = .0001.

The λ is there because a feature that tells the classes apart without error has no finite weight
of maximum likelihood; it is too small to matter otherwise.  A drop d of the deviance is worth
d / (2 ln 2) bits.

What a new feature x would bring is foretold by the score test: with r = y − p, v = p (1 − p),
H the Hessian of the model, and z its features and intercept,

    drop ≈ (x·r)² / (x·vx + λ − (x·vz) H⁻¹ (z·vx)),

for all features in one pass over the rows.  The best of them are then fitted in full by Newton's
method.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

RIDGE = 1e-4
BITS = 1.0 / (2.0 * np.log(2.0))  # of a drop of the deviance by 1
_MOST_STEPS = 100


@njit(cache=True, nogil=True)
def model_rows(column_start, column_rows, chosen, n):
    """The features of a model in each row: where they start, and their places (from 1)."""
    start = np.zeros(n + 1, dtype=np.int64)
    for j in chosen:
        for place in range(column_start[j], column_start[j + 1]):
            start[column_rows[place] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    places = np.empty(start[n], dtype=np.int64)
    free = start[:-1].copy()
    for k in range(len(chosen)):
        for place in range(column_start[chosen[k]], column_start[chosen[k] + 1]):
            row = column_rows[place]
            places[free[row]] = k + 1
            free[row] += 1
    return start, places


@njit(cache=True, nogil=True)
def deviance_of(start, places, target, weights):
    """D of the weights (that of the intercept first)."""
    total = 0.0
    for i in range(len(target)):
        margin = weights[0]
        for place in range(start[i], start[i + 1]):
            margin += weights[places[place]]
        if target[i] > 0.5:
            margin = -margin
        # log(1 + exp(margin)), without overflow
        total += max(margin, 0.0) + np.log1p(np.exp(-abs(margin)))
    return 2.0 * total + RIDGE * np.dot(weights, weights)


@njit(cache=True, nogil=True)
def slopes_of(start, places, target, weights):
    """Of D / 2: the gradient and the Hessian, and for each row y − p and p (1 − p)."""
    n, k = len(target), len(weights)
    gradient = RIDGE * weights
    hessian = RIDGE * np.eye(k)
    residuals, variances = np.empty(n), np.empty(n)
    for i in range(n):
        margin = weights[0]
        for place in range(start[i], start[i + 1]):
            margin += weights[places[place]]
        p = 1.0 / (1.0 + np.exp(-margin))
        residual, variance = target[i] - p, p * (1.0 - p)
        residuals[i], variances[i] = residual, variance
        gradient[0] -= residual
        hessian[0, 0] += variance
        for place in range(start[i], start[i + 1]):
            a = places[place]
            gradient[a] -= residual
            hessian[a, 0] += variance
            hessian[0, a] += variance
            for other in range(start[i], start[i + 1]):
                hessian[a, places[other]] += variance
    return gradient, hessian, residuals, variances


@njit(cache=True, nogil=True)
def fit(start, places, target, weights):
    """Weights with the least deviance, by Newton's method from those given, and the deviance."""
    deviance = deviance_of(start, places, target, weights)
    for _ in range(_MOST_STEPS):
        gradient, hessian, _, _ = slopes_of(start, places, target, weights)
        step = np.linalg.solve(hessian, gradient)
        promised = np.dot(step, gradient)
        if promised < 1e-12:
            break
        share, better = 1.0, False
        while share > 1e-6:
            tried = weights - share * step
            new = deviance_of(start, places, target, tried)
            if new < deviance:
                weights, deviance, better = tried, new, True
                break
            share *= 0.5
        if not better:
            break
    return weights, deviance


@njit(cache=True, nogil=True)
def foretold(indptr, indices, start, places, target, weights, m):
    """For every feature the drop of the deviance that its score test foretells."""
    n, k = len(target), len(weights)
    _, hessian, residuals, variances = slopes_of(start, places, target, weights)
    scores, lengths = np.zeros(m), np.full(m, RIDGE)
    crossed = np.zeros((k, m))  # z·vx
    for i in range(n):
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            scores[j] += residuals[i]
            lengths[j] += variances[i]
            crossed[0, j] += variances[i]
        for own in range(start[i], start[i + 1]):
            row = crossed[places[own]]
            for place in range(indptr[i], indptr[i + 1]):
                row[indices[place]] += variances[i]
    # With L Lᵀ = H, what the model explains of x is the squared length of L⁻¹ (z·vx).
    lower = np.linalg.cholesky(hessian)
    for a in range(k):
        for b in range(a):
            share = lower[a, b]
            if share != 0.0:
                for j in range(m):
                    crossed[a, j] -= share * crossed[b, j]
        for j in range(m):
            crossed[a, j] /= lower[a, a]
            lengths[j] -= crossed[a, j] * crossed[a, j]
    drops = np.empty(m)
    for j in range(m):
        drops[j] = scores[j] * scores[j] / max(lengths[j], RIDGE)
    return drops, scores, lengths


@njit(cache=True, nogil=True)
def forward(indptr, indices, column_start, column_rows, target, cost, tries, most):
    """Choose features one by one as long as one saves more bits than it costs.

    At each step the ``tries`` features that are foretold the most are fitted.  Gives the features
    in order, the weights (intercept first), and the deviances, that of the null model first.
    """
    n, m = len(indptr) - 1, len(column_start) - 1
    most = min(most, m)
    chosen = np.empty(most, dtype=np.int64)
    deviances = np.empty(most + 1)
    start, places = model_rows(column_start, column_rows, chosen[:0], n)
    weights, deviance = fit(start, places, target, np.zeros(1))
    deviances[0] = deviance
    open_ = np.empty(m, dtype=np.bool_)  # features that some rows have and some do not
    for j in range(m):
        open_[j] = 0 < column_start[j + 1] - column_start[j] < n
    n_chosen = 0
    while n_chosen < most:
        drops, scores, lengths = foretold(indptr, indices, start, places, target, weights, m)
        worth = np.empty(m)
        for j in range(m):
            worth[j] = drops[j] * BITS - cost[j] if open_[j] else -np.inf
        order = np.argsort(-worth, kind="mergesort")
        best, best_gain, best_deviance, best_weights = -1, 0.0, deviance, weights
        for place in range(min(tries, m)):
            j = order[place]
            if worth[j] == -np.inf:
                break
            chosen[n_chosen] = j
            begin = np.append(weights, scores[j] / max(lengths[j], RIDGE))
            start, places = model_rows(column_start, column_rows, chosen[: n_chosen + 1], n)
            # A start that is worse than none is one that overshot.
            if deviance_of(start, places, target, begin) > deviance:
                begin[n_chosen + 1] = 0.0
            tried, new = fit(start, places, target, begin)
            gain = (deviance - new) * BITS - cost[j]
            if gain > best_gain:
                best, best_gain, best_deviance, best_weights = j, gain, new, tried
        if best < 0:
            break
        chosen[n_chosen] = best
        n_chosen += 1
        open_[best] = False
        weights, deviance = best_weights, best_deviance
        deviances[n_chosen] = deviance
        start, places = model_rows(column_start, column_rows, chosen[:n_chosen], n)
    return chosen[:n_chosen].copy(), weights, deviances[: n_chosen + 1].copy()


@njit(cache=True, nogil=True)
def path_of(column_start, column_rows, target, chosen):
    """The weights of all features, and the deviances as they are taken in one by one."""
    n = len(target)
    deviances = np.empty(len(chosen) + 1)
    weights = np.empty(0)
    for k in range(len(chosen) + 1):
        start, places = model_rows(column_start, column_rows, chosen[:k], n)
        weights, deviances[k] = fit(start, places, target, np.append(weights, 0.0))
    return weights, deviances


@njit(cache=True, nogil=True)
def backward(column_start, column_rows, target, cost, chosen, weights):
    """What stays when features that save less than they cost are dropped, worst first."""
    n = len(target)
    start, places = model_rows(column_start, column_rows, chosen, n)
    deviance = deviance_of(start, places, target, weights)
    while len(chosen) > 0:
        worst, excess, worst_weights, worst_deviance = -1, 0.0, weights, deviance
        for k in range(len(chosen)):
            rest = np.append(chosen[:k], chosen[k + 1 :])
            begin = np.append(weights[: k + 1], weights[k + 2 :])
            start, places = model_rows(column_start, column_rows, rest, n)
            tried, new = fit(start, places, target, begin)
            over = cost[chosen[k]] - (new - deviance) * BITS
            if over > excess:
                worst, excess, worst_weights, worst_deviance = k, over, tried, new
        if worst < 0:
            break
        chosen = np.append(chosen[:worst], chosen[worst + 1 :])
        weights, deviance = worst_weights, worst_deviance
    return chosen
