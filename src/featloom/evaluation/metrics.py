"""Metrics: how well predictions agree with the truth.

For a class, let tp be the rows rightly given it, fp those wrongly given it, and fn those that
should have been given it:

    precision = tp / (tp + fp)      recall = tp / (tp + fn)      F1 = 2 tp / (2 tp + fp + fn)

0 / 0 counts as 0.

Accuracy and F1 depend on the data only through sums of counts, so they are taken from counts, in
the last axes of an array.  Counts kept for each document can be added up in any selection, which
is what makes a bootstrap over documents fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featloom.errors import InputError

Labels = Sequence[Any] | np.ndarray


def positive_counts(
    y_true: Labels, y_pred: Labels, positive: Any, *, groups: Labels | None = None
) -> np.ndarray:
    """tp, fp, fn of one class: int64 of shape (groups, 3); without groups, one row for all.

    Groups come in sorted order.

    >>> positive_counts(list("LLNN"), list("LNLN"), "L", groups=[0, 0, 1, 1])
    array([[1, 0, 1],
           [0, 1, 0]])
    """
    y_true, y_pred = _pair(y_true, y_pred)
    is_true, is_given = y_true == positive, y_pred == positive
    parts = (is_true & is_given, ~is_true & is_given, is_true & ~is_given)
    return _sums(np.stack(parts, axis=1), groups)


def correct_counts(y_true: Labels, y_pred: Labels, *, groups: Labels | None = None) -> np.ndarray:
    """Right answers and rows: int64 of shape (groups, 2); without groups, one row for all.

    >>> correct_counts(list("LLNN"), list("LNLN"), groups=[0, 0, 0, 1])
    array([[1, 3],
           [1, 1]])
    """
    y_true, y_pred = _pair(y_true, y_pred)
    right = y_true == y_pred
    return _sums(np.stack([right, np.ones_like(right)], axis=1), groups)


def f1_of_counts(counts: np.ndarray) -> np.ndarray:
    """F1 from tp, fp, fn in the last axis.

    >>> f1_of_counts(np.array([[3, 1, 1], [0, 0, 0]])).tolist()
    [0.75, 0.0]
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return _ratio(2 * tp, 2 * tp + fp + fn)


def accuracy_of_counts(counts: np.ndarray) -> np.ndarray:
    """Accuracy from right answers and rows in the last axis."""
    right, rows = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return _ratio(right, rows)


def _pair(y_true: Labels, y_pred: Labels) -> tuple[np.ndarray, np.ndarray]:
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.shape != y_pred.shape or y_true.ndim != 1:
        raise InputError(
            f"{y_pred.shape[0] if y_pred.ndim else 0} predictions for "
            f"{y_true.shape[0] if y_true.ndim else 0} rows"
        )
    if not len(y_true):
        raise InputError("there are no rows to score")
    if (y_true.dtype.kind in "US") != (y_pred.dtype.kind in "US") and object not in (
        y_true.dtype,
        y_pred.dtype,
    ):
        raise InputError("the true classes and the predictions are not of one type")
    return y_true, y_pred


def _group_codes(groups: Labels | None, n_rows: int) -> tuple[np.ndarray, int]:
    if groups is None:
        return np.zeros(n_rows, dtype=np.int64), 1
    if len(groups) != n_rows:
        raise InputError(f"{len(groups)} groups for {n_rows} rows")
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    return codes, len(names)


def _sums(rows: np.ndarray, groups: Labels | None) -> np.ndarray:
    group_of, n_groups = _group_codes(groups, len(rows))
    columns = [np.bincount(group_of[column], minlength=n_groups) for column in rows.T]
    return np.stack(columns, axis=1).astype(np.int64)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)
