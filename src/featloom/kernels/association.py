"""How strongly a feature and a class go together, from integer counts.

Of N rows, C have the class, n have the feature and c have both; the score of a feature looks at
the 2 × 2 table of these counts.  With several classes each class gets a table of its own
("one against the rest") and the scores are added or their maximum taken, or one score looks at
the whole 2 × K table ("global").  Logarithms are natural.

===================  ==========================================================================
score                of one 2 × 2 table
===================  ==========================================================================
MUTUAL_INFORMATION   Σ_t Σ_y P(t,y) log(P(t,y) / (P(t) P(y)))
INFORMATION_GAIN_1   −P(y) log P(y) + Σ_t P(t,y) log P(y|t), the terms of y = 1 alone
SYMMETRIC            2 MI / (H(T) + H(Y))
FISHER               −log p of Fisher's exact test, never leaving log space
CHI_SQUARED          N (ad − bc)² / (product of the margins)
GAIN_RATIO           MI / H(T)
SHARED_VARIANCE      chi² / (N (min(#values, #classes) − 1))
===================  ==========================================================================
"""

from __future__ import annotations

import math

import numpy as np

from featloom.kernels.compiled import njit

MUTUAL_INFORMATION = 0
INFORMATION_GAIN_1 = 1
SYMMETRIC = 2
FISHER = 3
CHI_SQUARED = 4
GAIN_RATIO = 5
SHARED_VARIANCE = 6

SUM = 0
MAX = 1
GLOBAL = 2

TWO_SIDED = 0
GREATER = 1
LESS = 2

# Two tables are equally likely when their probabilities differ by less than this factor.
_TIE = 1e-7
_NEGLIGIBLE = 1e-17
# Bounds are a little too high, so that rounding never prunes what belongs in.
_MARGIN = 1e-9


@njit(cache=True, nogil=True)
def log_factorials(n):
    """log(0!), log(1!), …, log(n!)."""
    table = np.zeros(n + 1)
    # Compensated, so that the error does not grow with n.
    total, lost = 0.0, 0.0
    for i in range(2, n + 1):
        term = math.log(i) - lost
        new_total = total + term
        lost = (new_total - total) - term
        total = new_total
        table[i] = total
    return table


@njit(cache=True, nogil=True)
def _binary_entropy(part, whole):
    if part <= 0 or part >= whole:
        return 0.0
    p = part / whole
    return -p * math.log(p) - (1.0 - p) * math.log1p(-p)


@njit(cache=True, nogil=True)
def _cell(both, n, c, n_rows):
    """P(t,y) log(P(t,y) / (P(t) P(y))) from counts."""
    if both == 0:
        return 0.0
    return both / n_rows * math.log((both / n) * (n_rows / c))


@njit(cache=True, nogil=True)
def mutual_information(n_rows, c_total, n, c):
    """MI of the 2 × 2 table, never below 0."""
    value = (
        _cell(c, n, c_total, n_rows)
        + _cell(n - c, n, n_rows - c_total, n_rows)
        + _cell(c_total - c, n_rows - n, c_total, n_rows)
        + _cell(n_rows - n - c_total + c, n_rows - n, n_rows - c_total, n_rows)
    )
    return max(value, 0.0)


@njit(cache=True, nogil=True)
def _information_gain_1(n_rows, c_total, n, c):
    value = 0.0
    if c_total > 0:
        value -= c_total / n_rows * math.log(c_total / n_rows)
    if c > 0:
        value += c / n_rows * math.log(c / n)
    if c_total > c:
        value += (c_total - c) / n_rows * math.log((c_total - c) / (n_rows - n))
    return value


@njit(cache=True, nogil=True)
def _chi_squared(n_rows, c_total, n, c):
    margins = float(n) * (n_rows - n) * float(c_total) * (n_rows - c_total)
    if margins == 0.0:
        return 0.0
    determinant = float(c) * n_rows - float(n) * c_total
    return n_rows * determinant * determinant / margins


@njit(cache=True, nogil=True)
def _log_ways(n_rows, c_total, n, c, log_factorial):
    """log of the number of ways to draw n rows with c of a class, but for a term without c."""
    return -(
        log_factorial[c]
        + log_factorial[c_total - c]
        + log_factorial[n - c]
        + log_factorial[n_rows - c_total - n + c]
    )


@njit(cache=True, nogil=True)
def _log_hypergeometric(n_rows, c_total, n, c, log_factorial):
    """log of the probability that n rows drawn of n_rows hold c of the c_total rows of a class."""
    margins = (log_factorial[c_total] + log_factorial[n_rows - c_total]) - (
        log_factorial[n_rows] - log_factorial[n] - log_factorial[n_rows - n]
    )
    return margins + _log_ways(n_rows, c_total, n, c, log_factorial)


@njit(cache=True, nogil=True)
def _tail(n_rows, c_total, n, start, step):
    """Σ of the probabilities from ``start`` outwards, as a multiple of the one at ``start``.

    To be called on the falling side of the distribution only.
    """
    low = max(0, n - (n_rows - c_total))
    high = min(n, c_total)
    total, term, x = 1.0, 1.0, start
    while True:
        if step > 0:
            if x >= high:
                break
            term *= ((n - x) * float(c_total - x)) / (
                (x + 1.0) * float(n_rows - c_total - n + x + 1)
            )
        else:
            if x <= low:
                break
            term *= (float(x) * (n_rows - c_total - n + x)) / (
                (n - x + 1.0) * float(c_total - x + 1)
            )
        total += term
        if term < _NEGLIGIBLE * total:
            break
        x += step
    return total


@njit(cache=True, nogil=True)
def _one_sided(n_rows, c_total, n, c, step, log_factorial):
    """log P(X ≥ c) for step = 1, log P(X ≤ c) for step = -1."""
    low = max(0, n - (n_rows - c_total))
    high = min(n, c_total)
    mode = ((n + 1) * (c_total + 1)) // (n_rows + 2)
    if (c - mode) * step >= 0:
        log_point = _log_hypergeometric(n_rows, c_total, n, c, log_factorial)
        return min(0.0, log_point + math.log(_tail(n_rows, c_total, n, c, step)))
    beyond = c - step
    if beyond < low or beyond > high:
        return 0.0
    log_point = _log_hypergeometric(n_rows, c_total, n, beyond, log_factorial)
    other = math.exp(log_point) * _tail(n_rows, c_total, n, beyond, -step)
    return math.log1p(-min(other, 1.0 - 1e-16))


@njit(cache=True, nogil=True)
def fisher_log_p(n_rows, c_total, n, c, alternative, log_factorial):
    """log p of Fisher's exact test on a 2 × 2 table.

    Two-sided: the probability of all tables with these margins that are no likelier than the
    observed one.
    """
    if alternative == GREATER:
        return _one_sided(n_rows, c_total, n, c, 1, log_factorial)
    if alternative == LESS:
        return _one_sided(n_rows, c_total, n, c, -1, log_factorial)
    low = max(0, n - (n_rows - c_total))
    high = min(n, c_total)
    mode = ((n + 1) * (c_total + 1)) // (n_rows + 2)
    if c == mode or low == high:
        return 0.0
    step = 1 if c > mode else -1
    total = _tail(n_rows, c_total, n, c, step)
    # On the other side of the mode probabilities fall with the distance from it: the first table
    # there that is no likelier than the observed one is found by bisection.
    log_ways = _log_ways(n_rows, c_total, n, c, log_factorial)
    inner, outer = mode, (low if step > 0 else high)
    if _log_ways(n_rows, c_total, n, outer, log_factorial) <= log_ways + _TIE:
        while abs(outer - inner) > 1:
            middle = (inner + outer) // 2
            if _log_ways(n_rows, c_total, n, middle, log_factorial) <= log_ways + _TIE:
                outer = middle
            else:
                inner = middle
        if _log_ways(n_rows, c_total, n, inner, log_factorial) <= log_ways + _TIE:
            return 0.0
        log_outer = _log_ways(n_rows, c_total, n, outer, log_factorial)
        total += math.exp(log_outer - log_ways) * _tail(n_rows, c_total, n, outer, -step)
    log_point = _log_hypergeometric(n_rows, c_total, n, c, log_factorial)
    return min(0.0, log_point + math.log(total))


@njit(cache=True, nogil=True)
def score_one_class(kind, alternative, n_rows, c_total, n, c, log_factorial):
    """The score of one 2 × 2 table."""
    if kind == MUTUAL_INFORMATION:
        return mutual_information(n_rows, c_total, n, c)
    if kind == INFORMATION_GAIN_1:
        return _information_gain_1(n_rows, c_total, n, c)
    if kind == SYMMETRIC:
        entropies = _binary_entropy(n, n_rows) + _binary_entropy(c_total, n_rows)
        return 2.0 * mutual_information(n_rows, c_total, n, c) / entropies if entropies else 0.0
    if kind == FISHER:
        return -fisher_log_p(n_rows, c_total, n, c, alternative, log_factorial)
    if kind == CHI_SQUARED:
        return _chi_squared(n_rows, c_total, n, c)
    if kind == GAIN_RATIO:
        entropy = _binary_entropy(n, n_rows)
        return mutual_information(n_rows, c_total, n, c) / entropy if entropy else 0.0
    return _chi_squared(n_rows, c_total, n, c) / n_rows


@njit(cache=True, nogil=True)
def _score_global(kind, n_rows, class_totals, n, class_counts):
    """The score of the whole 2 × K table."""
    if n == 0 or n == n_rows:
        return 0.0
    n_classes = len(class_totals)
    if kind == CHI_SQUARED or kind == SHARED_VARIANCE:
        value = 0.0
        for k in range(n_classes):
            if class_totals[k] > 0:
                gap = class_counts[k] - n * (class_totals[k] / n_rows)
                value += gap * gap / class_totals[k]
        value *= n_rows / float(n) * (n_rows / float(n_rows - n))
        return value if kind == CHI_SQUARED else value / n_rows
    value, class_entropy = 0.0, 0.0
    for k in range(n_classes):
        if class_totals[k] > 0:
            value += _cell(class_counts[k], n, class_totals[k], n_rows)
            value += _cell(class_totals[k] - class_counts[k], n_rows - n, class_totals[k], n_rows)
            p = class_totals[k] / n_rows
            class_entropy -= p * math.log(p)
    value = max(value, 0.0)
    if kind == GAIN_RATIO:
        return value / _binary_entropy(n, n_rows)
    if kind == SYMMETRIC:
        return 2.0 * value / (_binary_entropy(n, n_rows) + class_entropy)
    return value


@njit(cache=True, nogil=True)
def mirrored(kind, alternative):
    """Whether the tables of two classes, mirror images of each other, have one score."""
    return kind != INFORMATION_GAIN_1 and (kind != FISHER or alternative == TWO_SIDED)


@njit(cache=True, nogil=True)
def score_counts(
    kind, aggregate, alternative, n_rows, class_totals, n, class_counts, log_factorial
):
    """The score of a feature from its count in every class."""
    if aggregate == GLOBAL:
        return _score_global(kind, n_rows, class_totals, n, class_counts)
    if len(class_totals) == 2 and mirrored(kind, alternative):
        value = score_one_class(
            kind, alternative, n_rows, class_totals[1], n, class_counts[1], log_factorial
        )
        return 2.0 * value if aggregate == SUM else value
    total = 0.0
    for k in range(len(class_totals)):
        value = score_one_class(
            kind, alternative, n_rows, class_totals[k], n, class_counts[k], log_factorial
        )
        total = total + value if aggregate == SUM else max(total, value)
    return total


@njit(cache=True, nogil=True)
def score_features(kind, aggregate, alternative, n_rows, class_totals, counts, log_factorial):
    """The score of every feature of a features × classes array of counts."""
    scores = np.empty(len(counts))
    if len(class_totals) == 2 and aggregate != GLOBAL and mirrored(kind, alternative):
        # The same as below without a view of each row, which costs as much as a small table.
        times = 2.0 if aggregate == SUM else 1.0
        for feature in range(len(counts)):
            n = counts[feature, 0] + counts[feature, 1]
            scores[feature] = times * score_one_class(
                kind, alternative, n_rows, class_totals[1], n, counts[feature, 1], log_factorial
            )
        return scores
    for feature in range(len(counts)):
        n = 0
        for k in range(len(class_totals)):
            n += counts[feature, k]
        scores[feature] = score_counts(
            kind, aggregate, alternative, n_rows, class_totals, n, counts[feature], log_factorial
        )
    return scores


@njit(cache=True, nogil=True)
def _bound_one_class(kind, alternative, n_rows, c_total, n, c, min_support, log_factorial):
    """At most what any part of a feature's rows can score: c' ≤ c of the class, n' − c' ≤ n − c.

    MI, information gain and chi² are convex in (c', n' − c'), so the maximum lies at a corner:
    all rows of the class alone, all others alone, or both.  One-sided Fisher's test is
    strongest where the rows are pure, and the two-sided p is no smaller than the one-sided.
    """
    others = n - c
    if kind == FISHER:
        bound = 0.0
        if alternative != LESS:
            bound = -_log_hypergeometric(n_rows, c_total, c, c, log_factorial)
        if alternative != GREATER:
            pure = -_log_hypergeometric(n_rows, c_total, others, 0, log_factorial)
            bound = max(bound, pure)
        return bound
    base = kind
    if kind == SYMMETRIC or kind == GAIN_RATIO:
        base = MUTUAL_INFORMATION
    bound = max(
        score_one_class(base, alternative, n_rows, c_total, c, c, log_factorial),
        score_one_class(base, alternative, n_rows, c_total, others, 0, log_factorial),
        score_one_class(base, alternative, n_rows, c_total, n, c, log_factorial),
    )
    if base != kind:
        # The entropy of a part of the rows is smallest at one of the ends of its size.
        entropy = min(_binary_entropy(min(min_support, n), n_rows), _binary_entropy(n, n_rows))
        if kind == SYMMETRIC:
            entropy = (entropy + _binary_entropy(c_total, n_rows)) / 2.0
        return bound / entropy if entropy > 0.0 else math.inf
    return bound


@njit(cache=True, nogil=True)
def bound_features(
    kind, aggregate, alternative, n_rows, class_totals, counts, min_support, log_factorial
):
    """For every feature, a score that no conjunction with it can exceed."""
    bounds = np.empty(len(counts))
    n_classes = len(class_totals)
    for feature in range(len(counts)):
        n = 0
        for k in range(n_classes):
            n += counts[feature, k]
        if aggregate == GLOBAL and n_classes > 2:
            # I(T;Y) ≤ H(T); the other global scores are not bounded here.
            total = math.inf
            if kind == MUTUAL_INFORMATION:
                total = _binary_entropy(min(n, n_rows / 2.0), n_rows)
            bounds[feature] = total * (1.0 + _MARGIN) + _MARGIN
            continue
        total = 0.0
        for k in range(n_classes):
            value = _bound_one_class(
                kind,
                alternative,
                n_rows,
                class_totals[k],
                n,
                counts[feature, k],
                min_support,
                log_factorial,
            )
            total = total + value if aggregate == SUM else max(total, value)
        bounds[feature] = total * (1.0 + _MARGIN) + _MARGIN
    return bounds


@njit(cache=True, nogil=True)
def small_table_scores(kind, aggregate, alternative, n_rows, class_totals, size, log_factorial):
    """Scores of all tables of two classes with fewer than ``size`` rows: entry [n, c]."""
    table = np.zeros((size, size))
    class_counts = np.zeros(2, dtype=np.int64)
    for n in range(min(size, n_rows + 1)):
        for c in range(n + 1):
            if c <= class_totals[1] and n - c <= class_totals[0]:
                class_counts[0], class_counts[1] = n - c, c
                table[n, c] = score_counts(
                    kind,
                    aggregate,
                    alternative,
                    n_rows,
                    class_totals,
                    n,
                    class_counts,
                    log_factorial,
                )
    return table
