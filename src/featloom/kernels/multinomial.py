"""What fitting a logistic regression of many classes does with the rows.

With scores s = X w + b, the model's probabilities p = exp(s) / Σ exp(s), and a weight a of each
row, the log-loss and its derivatives along the scores are

    L = −Σ a log p_y        dL = a (p − [y])        d²L·u = a p ∘ (u − p·u)

Two classes have one score, that of the second: p = 1 / (1 + exp(−s)), and d²L·u = a p (1 − p) u.

A product with X goes row by row, one with its transpose feature by feature: every number is then
written by one block of rows or features alone, and sums over all rows are added up block by block.
So it is one and the same to the last bit which thread does which block.  ``values`` are those of
the entries, and empty where all of them are 1.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def scores_of_rows(begin, end, indptr, indices, values, weights, scores):
    """``scores`` of rows begin to end: X w + b, with b in the last row of ``weights``."""
    n_features, n_scores = len(weights) - 1, weights.shape[1]
    ones = len(values) == 0
    if n_scores == 1:  # a sum in a register, not in memory
        column = weights[:, 0]
        for i in range(begin, end):
            score = column[n_features]
            if ones:
                for place in range(indptr[i], indptr[i + 1]):
                    score += column[indices[place]]
            else:
                for place in range(indptr[i], indptr[i + 1]):
                    score += values[place] * column[indices[place]]
            scores[i, 0] = score
        return
    for i in range(begin, end):
        for c in range(n_scores):
            scores[i, c] = weights[n_features, c]
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            value = 1.0 if ones else values[place]
            for c in range(n_scores):
                scores[i, c] += value * weights[j, c]


@njit(cache=True, nogil=True)
def sums_of_features(begin, end, starts, rows, values, squared, of_rows, sums):
    """``sums`` of features begin to end over their rows: Xᵀ r, or with X² in the place of X."""
    n_scores = of_rows.shape[1]
    ones = len(values) == 0
    if n_scores == 1:
        column = of_rows[:, 0]
        for j in range(begin, end):
            total = 0.0
            if ones:
                for place in range(starts[j], starts[j + 1]):
                    total += column[rows[place]]
            else:
                for place in range(starts[j], starts[j + 1]):
                    value = values[place] * values[place] if squared else values[place]
                    total += value * column[rows[place]]
            sums[j, 0] = total
        return
    for j in range(begin, end):
        for c in range(n_scores):
            sums[j, c] = 0.0
        for place in range(starts[j], starts[j + 1]):
            i = rows[place]
            value = 1.0 if ones else values[place]
            if squared:
                value *= value
            for c in range(n_scores):
                sums[j, c] += value * of_rows[i, c]


@njit(cache=True, nogil=True)
def add_rows(begin, end, indptr, indices, values, squared, of_rows, sums):
    """Add rows begin to end to ``sums``, of all rows in the last: the same, row by row.

    Where the sums fit in the cache and the rows do not, each row is then read once.
    """
    n_features, n_scores = len(sums) - 1, of_rows.shape[1]
    ones = len(values) == 0
    for i in range(begin, end):
        for c in range(n_scores):
            sums[n_features, c] += of_rows[i, c]
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            value = 1.0 if ones else values[place]
            if squared:
                value *= value
            for c in range(n_scores):
                sums[j, c] += value * of_rows[i, c]


@njit(cache=True, nogil=True)
def sums_of_rows(begin, end, of_rows):
    """Σ over rows begin to end."""
    total = np.zeros(of_rows.shape[1])
    for i in range(begin, end):
        for c in range(of_rows.shape[1]):
            total[c] += of_rows[i, c]
    return total


@njit(cache=True, nogil=True)
def loss_along(begin, end, scores, moves, step, labels, row_weights):
    """L of rows begin to end at the scores s + step · moves."""
    n_scores = scores.shape[1]
    total = 0.0
    for i in range(begin, end):
        label = labels[i]
        if n_scores == 1:
            margin = scores[i, 0] + step * moves[i, 0]
            if label == 1:
                margin = -margin
            # log(1 + exp(margin)), without overflow
            loss = max(margin, 0.0) + np.log1p(np.exp(-abs(margin)))
        else:
            largest = -np.inf
            for c in range(n_scores):
                largest = max(largest, scores[i, c] + step * moves[i, c])
            exponents = 0.0
            for c in range(n_scores):
                exponents += np.exp(scores[i, c] + step * moves[i, c] - largest)
            loss = np.log(exponents) + largest - scores[i, label] - step * moves[i, label]
        total += row_weights[i] * loss
    return total


@njit(cache=True, nogil=True)
def move(begin, end, scores, moves, step):
    """Scores of rows begin to end go a step along."""
    for i in range(begin, end):
        for c in range(scores.shape[1]):
            scores[i, c] += step * moves[i, c]


@njit(cache=True, nogil=True)
def first_derivative(begin, end, scores, labels, row_weights, probabilities, slopes):
    """The probabilities of rows begin to end, and dL in ``slopes``."""
    n_scores = scores.shape[1]
    for i in range(begin, end):
        label = labels[i]
        if n_scores == 1:
            probabilities[i, 0] = 1.0 / (1.0 + np.exp(-scores[i, 0]))
            slopes[i, 0] = row_weights[i] * (probabilities[i, 0] - label)
            continue
        largest = scores[i, 0]
        for c in range(1, n_scores):
            largest = max(largest, scores[i, c])
        total = 0.0
        for c in range(n_scores):
            probabilities[i, c] = np.exp(scores[i, c] - largest)
            total += probabilities[i, c]
        for c in range(n_scores):
            probabilities[i, c] /= total
            slopes[i, c] = row_weights[i] * probabilities[i, c]
        slopes[i, label] -= row_weights[i]


@njit(cache=True, nogil=True)
def own_curvatures(begin, end, probabilities, row_weights, curvatures):
    """The diagonal of d²L of rows begin to end: a p (1 − p)."""
    for i in range(begin, end):
        for c in range(probabilities.shape[1]):
            p = probabilities[i, c]
            curvatures[i, c] = row_weights[i] * p * (1.0 - p)


@njit(cache=True, nogil=True)
def second_derivative(begin, end, probabilities, row_weights, moves):
    """d²L·u of rows begin to end in the place of ``moves`` u."""
    n_scores = probabilities.shape[1]
    for i in range(begin, end):
        mean = 0.0
        for c in range(n_scores):
            mean += probabilities[i, c] * moves[i, c]
        if n_scores == 1:
            moves[i, 0] = row_weights[i] * (1.0 - probabilities[i, 0]) * mean
            continue
        for c in range(n_scores):
            moves[i, c] = row_weights[i] * probabilities[i, c] * (moves[i, c] - mean)


@njit(cache=True, nogil=True)
def inner_product(a, b):
    """Σ a b of two flat arrays, added up in four lanes."""
    first = second = third = fourth = 0.0
    whole = len(a) // 4 * 4
    for i in range(0, whole, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(whole, len(a)):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)


@njit(cache=True, nogil=True)
def conjugate_step(share, direction, curved, diagonal, found, left):
    """Go a share along a direction; what is left of the right side r, and r · D⁻¹ r."""
    total = 0.0
    for i in range(len(found)):
        found[i] += share * direction[i]
        left[i] -= share * curved[i]
        total += left[i] * left[i] / diagonal[i]
    return total


@njit(cache=True, nogil=True)
def conjugate_direction(left, diagonal, share, direction):
    """The next direction: D⁻¹ r and a share of the last one."""
    for i in range(len(left)):
        direction[i] = left[i] / diagonal[i] + share * direction[i]
