"""Is a difference more than chance?  Paired tests of two systems on the same data.

*Paired bootstrap.*  Draw as many groups (documents, sentences, rows) as there are, with
replacement, add up both systems' counts over them, and take the difference of the metric; ten
thousand times.  The middle 95 % of the differences are the interval, and p is twice the share of
differences on the far side of zero, so the two tell the same story.  Groups are drawn whole
because errors in one document go together.

*McNemar's test* looks at the rows that one system alone gets right: b and c.  If the systems were
equally good, b would be binomial with n = b + c and a half (exact), and (|b - c| - 1)² / (b + c)
nearly chi-squared with one degree of freedom.

*Paired t* compares two methods over tasks by the mean of their differences against its standard
error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.metrics import f1_of_counts

Metric = Callable[[np.ndarray], np.ndarray]

# Draws held in memory at once; a fixed number, so that results do not depend on the machine.
_DRAWS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Interval:
    """A metric and the interval that it is likely to lie in."""

    value: float
    low: float
    high: float
    groups: int
    resamples: int


@dataclass(frozen=True)
class Comparison:
    """The difference of two systems (first minus second), its interval, and p (two-sided)."""

    difference: float
    low: float
    high: float
    p: float
    groups: int
    resamples: int


@dataclass(frozen=True)
class McNemar:
    """Rows that only the first and only the second got right; p (two-sided)."""

    first_only: int
    second_only: int
    statistic: float | None
    p: float


@dataclass(frozen=True)
class PairedT:
    """Mean difference over tasks (first minus second), its interval, t and p (two-sided)."""

    difference: float
    low: float
    high: float
    t: float
    p: float
    tasks: int


def paired_bootstrap(
    first: np.ndarray,
    second: np.ndarray,
    metric: Metric = f1_of_counts,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same groups by a metric of summed counts.

    Parameters
    ----------
    first, second : counts of each system, a group in each row, the groups in the same order; see
        ``positive_counts``, ``correct_counts``.
    metric : counts → number, over any leading axes: ``f1_of_counts``, ``accuracy_of_counts``.
    resamples, confidence, seed : of the bootstrap.

    The interval is widened, where need be, to hold the observed difference.  A bootstrap over a
    handful of groups is too sure of itself: p is never below 2^(1 − groups), which is what a sign
    test gives where every group speaks for the same system.

    Examples
    --------
    >>> first = np.array([[8, 1, 1], [5, 0, 2], [9, 1, 0], [7, 2, 1]])
    >>> second = np.array([[6, 2, 3], [5, 1, 2], [7, 1, 2], [6, 2, 2]])
    >>> found = paired_bootstrap(first, second)
    >>> round(found.difference, 3), found.low > 0, found.p
    (0.117, True, 0.125)
    """
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape:
        raise InputError(
            f"the two systems' counts differ in shape: {first.shape} and {second.shape}"
        )
    both = np.stack([first, second], axis=1)
    drawn = metric(_resampled(both, resamples, seed))
    differences = drawn[:, 0] - drawn[:, 1]
    observed_first, observed_second = metric(both.sum(axis=0))
    difference = float(observed_first - observed_second)
    low, high = _middle(differences, confidence, difference)
    # One is added because the data as they are count as a draw: p is never 0.
    tail = 1 + min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p = min(1.0, max(2 * tail / (resamples + 1), 2.0 ** (1 - len(first))))
    return Comparison(difference, low, high, p, len(first), resamples)


def bootstrap_interval(
    counts: np.ndarray,
    metric: Metric = f1_of_counts,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """A metric of summed counts with its bootstrap interval over groups.

    >>> bootstrap_interval(np.array([[8, 1, 1], [5, 0, 2], [9, 1, 0]])).value
    0.8979591836734694
    """
    counts = np.asarray(counts)
    drawn = metric(_resampled(counts, resamples, seed))
    value = float(metric(counts.sum(axis=0)))
    low, high = _middle(drawn, confidence, value)
    return Interval(value, low, high, len(counts), resamples)


def mcnemar(
    y_true: Sequence[Any] | np.ndarray,
    first: Sequence[Any] | np.ndarray,
    second: Sequence[Any] | np.ndarray,
    *,
    exact: bool = True,
) -> McNemar:
    """Compare the predictions of two classifiers row by row.

    >>> mcnemar(list("aaaaaa"), list("aaaaab"), list("abbbba")).p
    0.375
    """
    y_true, first, second = np.asarray(y_true), np.asarray(first), np.asarray(second)
    if not y_true.shape == first.shape == second.shape:
        raise InputError(f"{first.size} and {second.size} predictions for {y_true.size} rows")
    right_first, right_second = y_true == first, y_true == second
    return mcnemar_of_counts(
        int((right_first & ~right_second).sum()),
        int((right_second & ~right_first).sum()),
        exact=exact,
    )


def mcnemar_of_counts(first_only: int, second_only: int, *, exact: bool = True) -> McNemar:
    """McNemar's test from the rows that only the first and only the second got right.

    Parameters
    ----------
    exact : the binomial test; else chi-squared with the continuity correction.

    >>> mcnemar_of_counts(40, 20, exact=False).statistic
    6.016666666666667
    """
    from scipy.stats import binomtest, chi2

    if first_only < 0 or second_only < 0:
        raise InputError("numbers of rows cannot be negative")
    n = first_only + second_only
    if exact:
        p = float(binomtest(first_only, n, 0.5).pvalue) if n else 1.0
        return McNemar(first_only, second_only, None, p)
    statistic = max(0, abs(first_only - second_only) - 1) ** 2 / n if n else 0.0
    return McNemar(first_only, second_only, statistic, float(chi2.sf(statistic, 1)))


def paired_t(
    first: Sequence[float] | np.ndarray,
    second: Sequence[float] | np.ndarray,
    *,
    confidence: float = 0.95,
) -> PairedT:
    """Compare two methods by their scores on the same tasks.

    >>> found = paired_t([0.81, 0.90, 0.75, 0.88], [0.79, 0.87, 0.74, 0.84])
    >>> round(found.difference, 3), round(found.p, 3)
    (0.025, 0.03)
    """
    from scipy.stats import t as student

    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"{first.size} scores cannot be paired with {second.size}")
    n = len(first)
    if n < 2:
        raise InputError("a paired t test needs at least two tasks")
    if not np.isfinite(first - second).all():
        raise InputError("a score is not a finite number")
    differences = first - second
    mean, error = float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(n))
    with np.errstate(divide="ignore"):  # every task may differ by the same amount
        t = float(np.divide(mean, error)) if mean else 0.0
    reach = float(student.ppf(0.5 + confidence / 2, n - 1)) * error
    p = float(2 * student.sf(abs(t), n - 1))
    return PairedT(mean, mean - reach, mean + reach, t, p, n)


def holm(ps: Sequence[float] | np.ndarray) -> np.ndarray:
    """p values as they stand after all comparisons are allowed for (Holm 1979).

    Whoever calls those below a level significant is wrong about any of them no more often than that
    level, however the comparisons depend on one another.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    ps = np.asarray(ps, dtype=float)
    order = np.argsort(ps, kind="stable")
    raised = np.maximum.accumulate((len(ps) - np.arange(len(ps))) * ps[order])
    adjusted = np.empty_like(ps)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def _resampled(counts: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Sums of the counts over groups drawn with replacement: (resamples, …)."""
    if counts.ndim < 2 or not len(counts):
        raise InputError("there are no groups to draw from; counts need a row for each group")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, not {resamples}")
    random = np.random.default_rng(seed)
    flat = counts.reshape(len(counts), -1)
    n_groups = len(flat)
    patterns, how_many = np.unique(flat, axis=0, return_counts=True)
    # Groups with the same counts are interchangeable.  Rows have but a few patterns, and how
    # often each is drawn is multinomial; documents differ, and are drawn one by one.
    few_patterns = 8 * len(patterns) < n_groups
    table = (patterns if few_patterns else flat).astype(np.float64)
    width = len(table)
    step = max(1, _DRAWS_AT_ONCE // width)
    sums = np.empty((resamples, flat.shape[1]))
    for start in range(0, resamples, step):
        n = min(step, resamples - start)
        if few_patterns:
            times = random.multinomial(n_groups, how_many / n_groups, size=n)
        else:
            drawn = random.integers(width, size=(n, width))
            drawn += width * np.arange(n)[:, None]
            times = np.bincount(drawn.ravel(), minlength=n * width).reshape(n, width)
        # Counts are whole numbers, so the sums are exact in whatever order they are added.
        sums[start : start + n] = times.astype(np.float64) @ table
    return sums.reshape(resamples, *counts.shape[1:])


def _middle(values: np.ndarray, confidence: float, observed: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, not {confidence}")
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), observed), max(float(high), observed)
