"""Folds for cross-validation: which part of the data each row is tested in.

Rows of one document, or the letters of one word, resemble each other; when some of them are in
the training part and others in the test part, the test flatters.  Where ``groups`` are given, a
group is never split.  Stratified folds hold the classes in the same proportions, as far as whole
groups allow.

A class that a training part never shows cannot be learned there, and its score says nothing
about the method; so data that lead to this are refused with a sentence that names the class.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from featloom.errors import InputError
from featloom.options import checked, whole
from featloom.words import counted

# To hold proportions takes a look at every group in turn; of so many, chance holds them as well.
MANY_GROUPS = 5_000


@checked(n_folds=whole(2))
def make_folds(
    y: Sequence[Any] | np.ndarray,
    *,
    n_folds: int = 5,
    groups: Sequence[Any] | np.ndarray | None = None,
    seed: int = 0,
    stratified: bool = True,
    allow_rare: bool = False,
) -> np.ndarray:
    """The fold of each row, 0 to ``n_folds`` - 1.

    Parameters
    ----------
    y : the class of each row.
    n_folds : at least 2.
    groups : the document, word or other unit that each row belongs to; never split.
    seed : for the shuffle before the folds are dealt.
    stratified : whether each fold should have the classes in the same proportions, as far as one
        class has a row for every fold.
    allow_rare : whether classes too rare to be in every training part are let through.

    Examples
    --------
    >>> fold_of = make_folds(["a", "b", "a", "b", "a", "b"], n_folds=3)
    >>> np.bincount(fold_of).tolist()
    [2, 2, 2]
    >>> make_folds(["a", "b", "b"], n_folds=2)
    Traceback (most recent call last):
    featloom.errors.InputError: class 'a' has 1 row, fewer than the 2 folds
    """
    y = _checked_labels(y)
    if n_folds > len(y):
        raise InputError(f"{len(y)} rows cannot be dealt into {n_folds} folds")
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if not allow_rare:
        _refuse_rare(classes, sizes, n_folds)
    group_codes = None
    if groups is not None:
        group_codes = _checked_groups(groups, len(y), n_folds)
    many = group_codes is not None and int(group_codes.max()) >= MANY_GROUPS
    in_proportion = stratified and not many and int(sizes.max()) >= n_folds
    splitter = _splitter(n_folds, group_codes is not None, in_proportion, seed)
    fold_of = np.full(len(y), -1, dtype=np.int32)
    with warnings.catch_warnings():
        # scikit-learn warns of rare classes; they were refused or allowed above.
        warnings.simplefilter("ignore", UserWarning)
        try:
            parts = list(splitter.split(np.zeros(len(y)), codes, group_codes))
        except ValueError as error:
            raise InputError(f"no folds can be made: {error}") from None
    for fold, (_, test) in enumerate(parts):
        fold_of[test] = fold
    _check_folds(fold_of, n_folds, classes, codes, allow_rare)
    return fold_of


def given_folds(
    column: Sequence[Any] | np.ndarray,
    y: Sequence[Any] | np.ndarray,
    *,
    allow_rare: bool = False,
) -> np.ndarray:
    """The fold of each row from a column that names it; folds are numbered in sorted order.

    >>> given_folds(["dev", "dev", "train", "train"], ["a", "b", "a", "b"]).tolist()
    [0, 0, 1, 1]
    """
    y = _checked_labels(y)
    if len(column) != len(y):
        raise InputError(f"{len(column)} folds for {len(y)} rows")
    names, fold_of = _number(column, "fold")
    if len(names) < 2:
        raise InputError(f"all rows are in fold {names[0]!r}; at least 2 folds are needed")
    classes, codes = np.unique(y, return_inverse=True)
    _check_folds(fold_of, len(names), classes, codes, allow_rare)
    return fold_of.astype(np.int32)


def splits(fold_of: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(training rows, test rows) of each fold, ascending.

    >>> [(train.tolist(), test.tolist()) for train, test in splits(np.array([0, 1, 0]))]
    [([1], [0, 2]), ([0, 2], [1])]
    """
    for fold in range(int(fold_of.max()) + 1):
        inside = fold_of == fold
        yield np.flatnonzero(~inside), np.flatnonzero(inside)


def _checked_labels(y: Sequence[Any] | np.ndarray) -> np.ndarray:
    if len(y) == 0:
        raise InputError("there are no rows to make folds of")
    array = np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"classes must be one a row, not an array of shape {array.shape}")
    if array.dtype == object or array.dtype.kind == "f":
        missing = np.array([value is None or value != value for value in array])
    elif array.dtype.kind == "i" and set(np.unique(array).tolist()) != {-1, 1}:
        missing = array == -1  # as tables write it; -1 beside 1 alone are a binary task's classes
    else:
        missing = np.zeros(len(array), dtype=bool)
    if missing.any():
        raise InputError(f"row {int(np.flatnonzero(missing)[0])} has no class")
    return array


def _checked_groups(groups: Sequence[Any] | np.ndarray, n_rows: int, n_folds: int) -> np.ndarray:
    if len(groups) != n_rows:
        raise InputError(f"{len(groups)} groups for {n_rows} rows")
    names, codes = _number(groups, "group")
    if len(names) < n_folds:
        raise InputError(f"{len(names)} groups cannot be dealt into {n_folds} folds")
    return codes


def _number(values: Sequence[Any] | np.ndarray, what: str) -> tuple[list[Any], np.ndarray]:
    array = np.asarray(values)
    if array.dtype == object or array.dtype.kind == "f":
        for row, value in enumerate(array):
            if value is None or value != value:
                raise InputError(f"row {row} has no {what}")
    names, codes = np.unique(array, return_inverse=True)
    return names.tolist(), codes


def _refuse_rare(classes: np.ndarray, sizes: np.ndarray, n_folds: int) -> None:
    if len(classes) < 2:
        raise InputError(f"all rows are of class {classes[0]!s}; there is nothing to tell apart")
    rare = np.flatnonzero(sizes < n_folds)
    if rare.size:
        name, size = classes[rare[0]].tolist(), int(sizes[rare[0]])
        others = f" (and {rare.size - 1} more classes)" if rare.size > 1 else ""
        raise InputError(
            f"class {name!r} has {counted(size, 'row')}, fewer than the {n_folds} folds{others}"
        )


def _splitter(n_folds: int, grouped: bool, stratified: bool, seed: int):
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    kinds = {
        (False, False): KFold,
        (False, True): StratifiedKFold,
        (True, False): GroupKFold,
        (True, True): StratifiedGroupKFold,
    }
    return kinds[grouped, stratified](n_folds, shuffle=True, random_state=seed)


def _check_folds(
    fold_of: np.ndarray, n_folds: int, classes: np.ndarray, codes: np.ndarray, allow_rare: bool
) -> None:
    """Every fold has rows, and what is left for training has every class."""
    table = np.zeros((n_folds, len(classes)), dtype=np.int64)
    np.add.at(table, (fold_of, codes), 1)
    empty = np.flatnonzero(table.sum(axis=1) == 0)
    if empty.size:
        raise InputError(
            f"fold {int(empty[0])} would be empty: the groups are too few or too unequal "
            f"for {n_folds} folds"
        )
    if not allow_rare:
        fold, lacking = np.nonzero(table == table.sum(axis=0))
        if fold.size:
            name = classes[lacking[0]].tolist()
            raise InputError(
                f"class {name!r} would be missing from training in fold {int(fold[0])}: "
                "all its rows are in that fold"
            )
