"""Settings chosen by cross-validation inside a task, shared among tasks or for each by itself.

A task of thirty rows cannot tell a good strength of the penalty from a bad one, but fifty such
tasks together can: right answers on held-out rows are summed over the tasks, and the setting with
the most of them serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from featloom.evaluation.folds import make_folds, splits

Setting = dict[str, Any]


def grid_of(choices: Mapping[str, Sequence[Any]]) -> list[Setting]:
    """Every combination of the choices.

    >>> grid_of({"C": (0.1, 1.0), "degree": (2,)})
    [{'C': 0.1, 'degree': 2}, {'C': 1.0, 'degree': 2}]
    """
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def right_answers(
    X: sparse.csr_matrix,
    labels: np.ndarray,
    fit_predict: Callable[[Setting, Any, np.ndarray, Any], np.ndarray],
    grid: Sequence[Setting],
    *,
    n_folds: int,
    seed: int,
) -> np.ndarray:
    """How many held-out rows each setting gets right.

    A task with fewer rows than two a fold, or with one class, has nothing to say: all zeros.
    """
    right = np.zeros(len(grid), dtype=np.int64)
    if X.shape[0] < 2 * n_folds or len(np.unique(labels)) < 2:
        return right
    fold_of = make_folds(labels, n_folds=n_folds, seed=seed, allow_rare=True)
    for train, test in splits(fold_of):
        if len(np.unique(labels[train])) < 2:
            continue
        for place, setting in enumerate(grid):
            answers = fit_predict(setting, X[train], labels[train], X[test])
            right[place] += int((answers == labels[test]).sum())
    return right
