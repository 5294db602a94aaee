"""How true probabilities are: losses of rows, order, calibration, and thresholds.

A model that gives every class a probability can be asked three things.

- *Are the probabilities good?*  The log-loss of a row is -ln p(its class), its Brier score the sum
  over classes of (p - 1)² for its class and p² for the others (Brier 1950).  Both are smallest, on
  average, for the true probabilities and for no others.
- *Do they order the rows?*  The area under the ROC curve (AUC) is the share of pairs of a positive
  row and a negative one in which the positive one has the higher probability, ties counting half
  (Hanley and McNeil 1982).
- *Are they to be taken at their word?*  Of the rows that are given .8, about 80 % should be
  positive.  The rows are sorted by their probability and cut into bins of equally many; each bin
  has a mean probability, and a share of positive rows with its interval (Wilson 1927).  The mean
  distance of the two, weighted by rows, is the expected calibration error.

Labels are codes: places of the true classes among the columns of ``p``.  The figures depend on the
rows, and not on their order: rows of equal probability are never parted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featloom.errors import InputError

SMALLEST = float(np.finfo(np.float64).eps)
_NORMAL_975 = 1.959963984540054  # a standard normal value is below it with a chance of .975

Codes = Sequence[int] | np.ndarray
Probabilities = Sequence[Sequence[float]] | np.ndarray


class CalibrationBin(NamedTuple):
    """Rows of about one probability: what they were promised, and what they turned out to be.

    Attributes
    ----------
    n : rows in the bin.
    probability : their mean probability.
    share : share of them that are positive; with the confidence of answers, that are right.
    low, high : 95 % interval of the share, by Wilson's score.
    """

    n: int
    probability: float
    share: float
    low: float
    high: float


def row_losses(labels: Codes, p: Probabilities) -> np.ndarray:
    """-ln p(true class) of each row: float64.

    A probability of 0 is taken as 2.2e-16, so that one certain error does not make the mean
    infinite: no row loses more than 36.05.

    Parameters
    ----------
    labels : for each row the place of its class among the columns of ``p``.
    p : probabilities, rows × classes.

    See Also
    --------
    featloom.evaluation.log_loss : the mean over rows, of classes by name.

    Examples
    --------
    >>> row_losses([0, 1], [[0.5, 0.5], [0.75, 0.25]]).round(4).tolist()
    [0.6931, 1.3863]
    """
    labels, p = _checked(labels, p)
    return -np.log(np.clip(p[np.arange(len(p)), labels], SMALLEST, 1.0))


def row_briers(labels: Codes, p: Probabilities) -> np.ndarray:
    """Σ over classes k of (p_k - [k is the true class])² of each row: float64, from 0 to 2.

    >>> row_briers([0, 1], [[0.5, 0.5], [0.75, 0.25]]).tolist()
    [0.5, 1.125]
    """
    labels, p = _checked(labels, p)
    distances = p.copy()
    distances[np.arange(len(p)), labels] -= 1.0
    return (distances * distances).sum(axis=1)


def auc(labels: Codes, p: Probabilities) -> float | None:
    """Area under the ROC curve; None where no class has both positive and negative rows.

    With two classes it is the area of the second class's probability.  With more it is the mean
    over classes of the area of each against the rest ("macro"); a class that no row has, or that
    every row has, has no area and is left out.  Each column is sorted once.

    >>> auc([0, 0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    0.75
    >>> print(auc([1, 1], [[0.9, 0.1], [0.6, 0.4]]))
    None
    """
    labels, p = _checked(labels, p)
    n_classes = p.shape[1]
    counted = [1] if n_classes == 2 else range(n_classes)
    rows_of = np.bincount(labels, minlength=n_classes)
    areas = [_area(labels == k, p[:, k]) for k in counted if 0 < rows_of[k] < len(labels)]
    return float(np.mean(areas)) if areas else None


def calibration_bins(
    labels: Codes,
    p: Probabilities,
    n_bins: int = 10,
    *,
    positive: int | None = None,
    weights: np.ndarray | None = None,
) -> list[CalibrationBin]:
    """Bins of rows by probability, lowest first: what was promised beside what came.

    Parameters
    ----------
    labels, p : as in ``row_losses``.
    n_bins : how many bins of equally many rows, 10 by default.  Rows of one probability stay
        together, so that there may be fewer bins, of unequal size.
    positive : the class whose probability is looked at.  By default the second of two classes;
        with more classes the answered class of each row, the share being that of right answers.
    weights : of the rows, in means and shares; None: all weigh the same.

    References
    ----------
    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> for one in calibration_bins([0, 0, 1, 0], p, n_bins=2):
    ...     print(one.n, round(one.probability, 2), one.share, round(one.high, 3))
    2 0.15 0.0 0.658
    2 0.8 0.5 0.905
    """
    labels, p = _checked(labels, p)
    if n_bins < 1:
        raise InputError(f"bins must be at least 1, not {n_bins}")
    if positive is None and p.shape[1] == 2:
        positive = 1
    if positive is None:
        promised = p.max(axis=1)
        came = p.argmax(axis=1) == labels
    elif 0 <= positive < p.shape[1]:
        promised = p[:, positive]
        came = labels == positive
    else:
        raise InputError(f"no class {positive}; there are {p.shape[1]}")
    order = np.argsort(promised, kind="stable")
    promised, came = promised[order], came[order]
    edges = _edges(promised, n_bins)
    sizes = np.diff(edges)
    heavy = np.ones(len(order)) if weights is None else np.asarray(weights, float)[order]

    def summed(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, edges[:-1])

    total = summed(heavy)
    means, shares = summed(promised * heavy) / total, summed(came * heavy) / total
    # An interval has as many rows as weigh alike.
    effective = sizes if weights is None else total**2 / summed(heavy**2)
    return [
        CalibrationBin(n, mean, share, *_wilson(share, size))
        for n, mean, share, size in zip(
            sizes.tolist(), means.tolist(), shares.tolist(), effective.tolist(), strict=True
        )
    ]


def expected_calibration_error(
    labels: Codes,
    p: Probabilities,
    n_bins: int = 15,
    *,
    positive: int | None = None,
    weights: np.ndarray | None = None,
) -> float:
    """Mean distance of promised probability and share, over bins of equally many rows.

    Parameters are those of ``calibration_bins``: with two classes it is the second class's
    probability that is held to its word, with more the confidence of the answered class.

    References
    ----------
    C. Guo et al. (2017), On calibration of modern neural networks (there with bins of equal
    width, of which most hold few rows).

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]]
    >>> round(expected_calibration_error([0, 0, 1, 0], p, n_bins=2), 4)
    0.225
    """
    bins = calibration_bins(labels, p, n_bins, positive=positive, weights=weights)
    distances = [one.n * abs(one.probability - one.share) for one in bins]
    return sum(distances) / sum(one.n for one in bins)


def f1_at(
    is_positive: Sequence[bool] | np.ndarray, p_positive: np.ndarray, threshold: float
) -> float:
    """F1 if rows of a probability of at least ``threshold`` are called positive; 0 / 0 is 0.

    >>> f1_at([True, False, True], [0.9, 0.8, 0.3], 0.5)
    0.5
    """
    is_positive, p_positive = _checked_positive(is_positive, p_positive)
    called = p_positive >= threshold
    either = int(called.sum()) + int(is_positive.sum())
    return 2 * int((called & is_positive).sum()) / either if either else 0.0


def confusion(labels: Codes, answers: Codes, n_classes: int) -> np.ndarray:
    """Rows of each true class (down) that were given each class (across): int64.

    >>> confusion([0, 0, 1], [0, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    labels, answers = _checked_codes(labels, n_classes), _checked_codes(answers, n_classes)
    if len(labels) != len(answers):
        raise InputError(f"{len(answers)} predictions for {len(labels)} rows")
    counts = np.bincount(labels * n_classes + answers, minlength=n_classes * n_classes)
    return counts.astype(np.int64).reshape(n_classes, n_classes)


def _area(is_positive: np.ndarray, scores: np.ndarray) -> float:
    """Share of pairs (positive, negative) in the right order, in whole numbers to the last step."""
    order = np.argsort(scores, kind="stable")
    in_order = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    positives = np.add.reduceat(is_positive[order].astype(np.int64), starts)
    negatives = np.diff(np.append(starts, len(scores))) - positives
    below = negatives.cumsum() - negatives
    twice = int((positives * (2 * below + negatives)).sum())
    return twice / (2 * int(positives.sum()) * int(negatives.sum()))


def _edges(in_order: np.ndarray, n_bins: int) -> np.ndarray:
    """Where bins of equally many rows begin and end; an edge moves to the next change of value."""
    n_rows = len(in_order)
    changes = np.flatnonzero(np.diff(in_order)) + 1
    ends = np.concatenate([[0], changes, [n_rows]])
    wanted = np.arange(1, n_bins) * n_rows / n_bins
    after = np.searchsorted(ends, wanted)
    after = np.clip(after, 1, len(ends) - 1)
    before = after - 1
    nearer = np.where(wanted - ends[before] < ends[after] - wanted, before, after)
    return np.unique(np.concatenate([[0], ends[nearer], [n_rows]])).astype(np.int64)


def _wilson(share: float, n: float) -> tuple[float, float]:
    """The 95 % interval of a share of n rows: where a normal approximation would not reject it."""
    square = _NORMAL_975**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL_975 * np.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    # At shares of 0 and 1 the interval ends there, but for rounding.
    low = 0.0 if share == 0 else float(centre - half)
    high = 1.0 if share == 1 else float(centre + half)
    return low, high


def _checked(labels: Codes, p: Probabilities) -> tuple[np.ndarray, np.ndarray]:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 2 or len(p) != len(labels):
        raise InputError(f"probabilities have shape {p.shape}, {len(labels)} rows were expected")
    if not len(p):
        raise InputError("there are no rows to score")
    labels = _checked_codes(labels, p.shape[1])
    _check_probabilities(p)
    return labels, p


def _checked_codes(labels: Codes, n_classes: int) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.ndim != 1 or (labels.size and labels.dtype.kind not in "iu"):
        raise InputError("labels must be class codes, one whole number a row")
    wrong = np.flatnonzero((labels < 0) | (labels >= n_classes))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(f"row {row} has the class {labels[row]}; there are {n_classes}")
    return labels.astype(np.int64)


def _checked_positive(
    is_positive: Sequence[bool] | np.ndarray, p_positive: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    is_positive = np.asarray(is_positive, dtype=bool)
    p_positive = np.asarray(p_positive, dtype=np.float64)
    if is_positive.ndim != 1 or p_positive.shape != is_positive.shape:
        raise InputError(
            f"probabilities have shape {p_positive.shape}, {is_positive.shape} was expected"
        )
    if not len(is_positive):
        raise InputError("there are no rows to score")
    _check_probabilities(p_positive)
    return is_positive, p_positive


def _check_probabilities(p: np.ndarray) -> None:
    # Not only the upper bound: nan fails this comparison too.
    if not ((p >= 0) & (p <= 1 + 1e-9)).all():
        raise InputError("probabilities must lie between 0 and 1")
