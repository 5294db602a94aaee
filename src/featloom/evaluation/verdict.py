"""From scores to a choice, an interval and a claim: the one rule for each.

*Choice.*  By the folds alone: the simplest of those that are as good as the best, where "as good"
means no further behind than half a per cent of what the best gains over the prediction that looks
at nothing.  A standard error of a handful of folds is no such measure: a fold that fails makes it
so wide that whatever failed is let in.

*Intervals.*  Those of the test part are of its rows.  Those of cross-validation allow for the rows
that the fits share: with k folds of scores with standard deviation s, of which each learns from n
and judges m units, the variance of their mean is taken as (1/k + m/n) s² (Nadeau and Bengio 2003),
for as s²/k it is far too small.

*Claims.*  On the test part, which no choice has seen.  First every contender against the
prediction that looks at nothing, with Holm's correction; only if one is better for sure, the
others against the best baseline.  So the chance that anything at all is called a gain where there
is none is at most the level.  Whether a contender knows anything is asked in two ways: does it lose
less, and do its predictions go with the classes more than they would if classes were dealt out by
lot (:func:`by_lot`)?  The second tells sooner, since it does not mind a few bold errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.significance import Comparison, Interval, holm

LEVEL = 0.01
CONFIDENCE = 0.95  # of every interval
NEAR = 0.005  # of the gain over chance
_DEALS = 4_999
_MANY_ROWS = 500  # from which a sum over rows dealt by lot is as good as normal


def choose(
    scores: Sequence[Mapping[int, float]],
    sizes: Sequence[float],
    chance: float | None = None,
) -> int:
    """The place of the chosen contender.

    Parameters
    ----------
    scores : for each contender the score of every fold that it was judged on, higher is better;
        not all need have been judged on all folds.
    sizes : what each is made of; fewer is simpler.
    chance : mean score of the prediction that looks at nothing; None: the best one is taken.

    A simpler one may be behind by .005 of the best one's gain over chance.

    Examples
    --------
    The second is nearly as good as the third, with a tenth of its size; the fourth fails in a fold:

    >>> folds = [[0.70, 0.72], [0.809, 0.849], [0.81, 0.85], [0.99, 0.10]]
    >>> choose([dict(enumerate(one)) for one in folds], [10, 100, 1000, 1], chance=0.5)
    1
    """
    if not scores or len(scores) != len(sizes):
        raise InputError(f"{len(scores)} contenders with scores and {len(sizes)} sizes")
    means = comparable_means(scores)
    best = int(np.lexsort((np.asarray(sizes, dtype=float), -means))[0])
    if chance is None:
        return best
    margin = NEAR * max(0.0, float(means[best]) - chance)
    within = np.flatnonzero(means >= means[best] - margin)
    size = np.asarray(sizes, dtype=float)[within]
    return int(within[np.lexsort((-means[within], size))[0]])


def comparable_means(scores: Sequence[Mapping[int, float]]) -> np.ndarray:
    """The mean score of each contender, as if all had been judged on the same folds.

    Folds differ in difficulty.  One that was judged on some of them only is placed by its
    distance, on these, from the best of those judged on most.

    >>> comparable_means([{0: 0.8, 1: 0.6}, {0: 0.9}]).round(2).tolist()
    [0.7, 0.8]
    """
    if any(not one for one in scores):
        raise InputError("a contender without any score cannot be compared")
    most = max(len(one) for one in scores)
    full = [one for one in scores if len(one) == most]
    leader = max(full, key=lambda one: np.mean(list(one.values())))
    base = float(np.mean(list(leader.values())))
    means = []
    for one in scores:
        common = sorted(set(one) & set(leader))
        if (len(one) == most and set(one) == set(leader)) or not common:
            means.append(float(np.mean(list(one.values()))))
        else:
            apart = [one[fold] - leader[fold] for fold in common]
            means.append(base + float(np.mean(apart)))
    return np.array(means)


def corrected_interval(scores: Sequence[float], *, judged_over_learned: float) -> Interval:
    """A cross-validated mean, and where the score of such fits on new units is likely to lie.

    Parameters
    ----------
    scores : of the folds.
    judged_over_learned : units that a fold judges, over those that it learns from: 1 / (k − 1).

    Examples
    --------
    >>> found = corrected_interval([0.80, 0.84, 0.82, 0.81, 0.83], judged_over_learned=0.25)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.82, 0.791, 0.849)
    """
    from scipy.stats import t as student

    values = np.asarray(scores, dtype=np.float64)
    n = len(values)
    if n < 2:
        raise InputError("an interval of cross-validation needs at least two folds")
    mean = float(values.mean())
    deviation = float(values.std(ddof=1)) * np.sqrt(1 / n + judged_over_learned)
    reach = float(student.ppf(0.5 + CONFIDENCE / 2, n - 1)) * deviation
    return Interval(mean, float(mean - reach), float(mean + reach), n, 0)


def mean_interval(sums: np.ndarray) -> Interval:
    """A mean over units with its interval over their groups.

    Parameters
    ----------
    sums : for each group the sum of what is averaged, and the number of units.

    The mean is a ratio of two sums; its variance is that of the groups' distances from it.  Losses
    are skewed, a few rows lose much, and an interval that reaches as far up as down is then too
    low: the ends are moved as Hall (1992) does, by a cubic in the t statistic that takes the
    skewness g away.  With n groups and k = g / √n the end at quantile q is
    3 ((1 + k (q − k / 6))^⅓ − 1) / k standard errors off, which is q where nothing is skewed.

    References
    ----------
    P. Hall (1992), On the removal of skewness by transformation.

    Examples
    --------
    >>> found = mean_interval(np.array([[0.2, 1], [0.4, 1], [0.3, 1], [0.5, 1]]))
    >>> round(found.value, 2), round(found.high - found.low, 2)
    (0.35, 0.41)
    """
    sums = np.asarray(sums, dtype=np.float64)
    value, error, n = _mean_and_error(sums)
    reach = _reach(n)
    apart = sums[:, 0] - value * sums[:, 1]
    widest = float(np.abs(apart).max())
    if n < 2 or widest == 0:
        return Interval(value, value - error, value + error, n, 0)
    apart /= widest
    bend = float(np.mean(apart**3) / np.mean(apart**2) ** 1.5) / np.sqrt(n)
    low, high = (value - error * _unskewed(end, bend) for end in (reach, -reach))
    return Interval(value, low, high, n, 0)


def _unskewed(quantile: float, bend: float) -> float:
    """Where a skewed t statistic has what one that is not has at the quantile."""
    if abs(bend) < 1e-6:
        return quantile
    return float(3 / bend * (np.cbrt(1 + bend * (quantile - bend / 6)) - 1))


def paired_means(first: np.ndarray, second: np.ndarray) -> Comparison:
    """Compare two systems by a mean over the same units.

    Parameters
    ----------
    first, second : for each group the sum of what is averaged, and the number of units.

    With few groups p is never below 2^(1 − groups), which is what a sign test gives where every
    group speaks for the same system.

    Examples
    --------
    >>> first = np.array([[-0.2, 1], [-0.1, 1], [-0.3, 1], [-0.2, 1], [-0.1, 1]])
    >>> second = first - [[0.1, 0], [0.2, 0], [0.1, 0], [0.2, 0], [0.1, 0]]
    >>> found = paired_means(first, second)
    >>> round(found.difference, 2), found.low > 0, found.p
    (0.14, True, 0.0625)
    """
    from scipy.stats import t as student

    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or not np.array_equal(first[:, 1], second[:, 1]):
        raise InputError("the two systems were not judged on the same units")
    apart = np.stack([first[:, 0] - second[:, 0], first[:, 1]], axis=1)
    difference, error, n = _mean_and_error(apart)
    if n < 2:
        return Comparison(difference, -np.inf, np.inf, 1.0, n, 0)
    reach = _reach(n) * error
    if error > 0:
        p = float(2 * student.sf(abs(difference) / error, n - 1))
    else:
        p = 1.0 if difference == 0 else 0.0
    p = min(1.0, max(p, 2.0 ** (1 - min(n, 1000))))
    return Comparison(difference, difference - reach, difference + reach, p, n, 0)


def by_lot(spoken: np.ndarray, labels: np.ndarray, *, seed: int = 0) -> float:
    """p of the hypothesis that predictions have nothing to do with the classes (one-sided).

    The statistic is the sum, over rows, of what the prediction says for the row's own class.  It is
    compared with the sums that arise when the classes are dealt out anew among the rows: of a few
    thousand deals, or where there are many rows by their exact mean and variance (Hoeffding 1951).

    Parameters
    ----------
    spoken : either a score for the second of two classes (rows), or the class that is predicted
        (rows, of integers).
    labels : the class of each row, as a code; of two classes 0 and 1 where ``spoken`` is a score.

    Examples
    --------
    >>> labels = np.array([0, 1] * 20)
    >>> round(by_lot(labels * 0.2, labels), 4), by_lot(np.zeros(40), labels)
    (0.0002, 1.0)
    """
    from scipy.stats import norm

    labels = np.asarray(labels)
    n = len(labels)
    is_class = np.issubdtype(np.asarray(spoken).dtype, np.integer)
    if is_class:
        n_classes = int(max(labels.max(), spoken.max())) + 1
        observed = float((spoken == labels).sum())
        given, there = (np.bincount(one, minlength=n_classes) for one in (spoken, labels))
        mean = float(given @ there) / n
        apart = np.eye(n_classes) - (there[:, None] + given[None, :]) / n + mean / n
        variance = float(given @ (apart * apart) @ there) / max(n - 1, 1)
    else:
        spoken = np.asarray(spoken, dtype=np.float64)
        spoken = spoken - spoken.mean()
        positives = int(labels.sum())
        observed, mean = float(spoken[labels == 1].sum()), 0.0
        variance = positives * (n - positives) / (n * max(n - 1, 1)) * float(spoken @ spoken)
    if variance <= 1e-12 * max(1.0, observed * observed):
        return 1.0
    if n > _MANY_ROWS:
        return float(norm.sf((observed - mean) / np.sqrt(variance)))
    dealt = np.random.default_rng(seed).permuted(np.tile(labels, (_DEALS, 1)), axis=1)
    sums = (dealt == spoken).sum(axis=1) if is_class else (dealt == 1) @ spoken
    # Sums of floats may differ in their last digit from those of the data.
    reached = int((sums >= observed - 1e-9 * max(1.0, abs(observed))).sum())
    return (1 + reached) / (_DEALS + 1)


def beyond_chance(tests: Sequence[Comparison]) -> list[bool]:
    """Which contenders are better than the prediction that looks at nothing, for sure.

    All are tested, and Holm's correction is for all of them.

    >>> from featloom.evaluation.significance import Comparison
    >>> ps = [0.0004, 0.03, 0.2]
    >>> beyond_chance([Comparison(0.1, 0, 0, p, 9, 9) for p in ps])
    [True, False, False]
    """
    if not tests:
        return []
    adjusted = holm([test.p for test in tests])
    return [
        bool(p < LEVEL and test.difference > 0) for p, test in zip(adjusted, tests, strict=True)
    ]


def area_interval(is_positive: np.ndarray, scores: np.ndarray, group_of: np.ndarray) -> Interval:
    """The area under a ROC curve with its interval over groups, after DeLong et al. (1988).

    Parameters
    ----------
    is_positive, scores : of the rows.
    group_of : the group of each row, counted from 0; rows of a group go together (Obuchowski 1997).

    Examples
    --------
    >>> is_positive = np.array([False, False, True, True, False, True])
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.9])
    >>> found = area_interval(is_positive, scores, np.arange(6))
    >>> round(found.value, 3), round(found.low, 3), found.high
    (0.889, 0.528, 1.0)
    """
    area, shares = _area_and_shares(is_positive, scores)
    n = int(group_of.max()) + 1
    if shares is None:
        return Interval(0.5, 0.0, 1.0, n, 0)
    reach = _reach(n) * _error_of_groups(shares, group_of, n)
    found = Interval(area, max(0.0, area - reach), min(1.0, area + reach), n, 0)
    if area not in (0.0, 1.0):
        return found
    # Where every pair is in order there is no variance; that does not make it certain.
    few = min(int(is_positive.sum()), int((~is_positive).sum()), n)
    return share_interval(found, few * int(area), few * int(1 - area))


def paired_areas(
    is_positive: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    group_of: np.ndarray,
) -> Comparison:
    """Compare the areas under two ROC curves of the same rows (DeLong et al. 1988).

    Parameters are those of :func:`area_interval`; p is bounded as in :func:`paired_means`.

    >>> is_positive = np.arange(40) % 2 == 1
    >>> found = paired_areas(is_positive, is_positive * 1.0, np.zeros(40), np.arange(40))
    >>> found.difference, found.p < 0.001
    (0.5, True)
    """
    from scipy.stats import t as student

    n = int(group_of.max()) + 1
    both = [_area_and_shares(is_positive, scores) for scores in (first, second)]
    if both[0][1] is None or both[1][1] is None or n < 2:
        return Comparison(both[0][0] - both[1][0], -1.0, 1.0, 1.0, n, 0)
    difference = both[0][0] - both[1][0]
    error = _error_of_groups(both[0][1] - both[1][1], group_of, n)
    reach = _reach(n) * error
    p = 1.0 if difference == 0 else 0.0
    if error > 0:
        p = float(2 * student.sf(abs(difference) / error, n - 1))
    p = min(1.0, max(p, 2.0 ** (1 - min(n, 1000))))
    return Comparison(difference, difference - reach, difference + reach, p, n, 0)


def share_interval(found: Interval, right: int, wrong: int) -> Interval:
    """An interval of a share where all are right, or none: there a resampled one has no width.

    Parameters
    ----------
    right, wrong : how many are.

    The end is where as good a result would be met with half of what confidence leaves (Clopper
    and Pearson 1934).

    >>> found = share_interval(Interval(1.0, 1.0, 1.0, 50, 0), 50, 0)
    >>> round(found.low, 3), found.high
    (0.929, 1.0)
    """
    unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / max(right + wrong, 1))
    if not wrong:
        return replace(found, low=min(found.low, 1 - unseen))
    return replace(found, high=max(found.high, unseen)) if not right else found


def _area_and_shares(
    is_positive: np.ndarray, scores: np.ndarray
) -> tuple[float, np.ndarray | None]:
    """The area, and by how much each row moves it; .5 and None where there is one class only."""
    from scipy.stats import rankdata

    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if not positives or not negatives:
        return 0.5, None
    # The share of the other class that a row is on the right side of; ties count half.
    ranks, shares = rankdata(scores), np.empty(len(scores))
    shares[is_positive] = (ranks[is_positive] - rankdata(scores[is_positive])) / negatives
    below = (ranks[~is_positive] - rankdata(scores[~is_positive])) / positives
    shares[~is_positive] = 1 - below
    area = float(shares[is_positive].mean())
    apart = shares - area
    return area, np.where(is_positive, apart / positives, apart / negatives)


def _error_of_groups(shares: np.ndarray, group_of: np.ndarray, n: int) -> float:
    if n < 2:
        return float(np.inf)
    sums = np.bincount(group_of, shares, minlength=n)
    return float(np.sqrt(n / (n - 1) * (sums @ sums)))


def _mean_and_error(sums: np.ndarray) -> tuple[float, float, int]:
    """A ratio of sums, its standard error over groups, and how many groups there are."""
    n = len(sums)
    total = sums[:, 1].sum()
    value = float(sums[:, 0].sum() / total)
    if n < 2:
        return value, np.inf, n
    apart = sums[:, 0] - value * sums[:, 1]
    return value, float(np.sqrt(n / (n - 1) * (apart @ apart)) / total), n


def _reach(n: int) -> float:
    """How many standard errors an interval reaches to either side."""
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, n - 1)) if n > 1 else np.inf
