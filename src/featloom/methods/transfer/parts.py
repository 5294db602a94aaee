"""Rows of many tasks: which are learned from, which are reported on, and what is odd about them.

Where there is no test part, a fifth of the rows is held out, of every task and class alike as far
as whole groups (documents) allow.  A task of a single row is learned from and not reported on; a
task whose rows all lie in the test part is left out, for there is nothing to learn it from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.labels import check_labelled
from featloom.data.vocabulary import Vocabulary
from featloom.errors import ReadError
from featloom.evaluation.folds import make_folds
from featloom.methods.transfer.families import family_of
from featloom.methods.transfer.task_data import SharedFeatures
from featloom.words import counted, first_few

HELD_OUT = 5  # one part in so many
_NAMED = 5


@dataclass(frozen=True, eq=False)
class TransferParts:
    """What is learned from and reported on, how it was come by, and warnings in plain words."""

    train: FeatureMatrix
    test: FeatureMatrix
    words: str
    warnings: tuple[str, ...] = ()


def transfer_parts(
    data: FeatureMatrix,
    test: FeatureMatrix | None = None,
    *,
    rows: int | None = None,
    seed: int = 0,
) -> TransferParts:
    """The parts; without a test part some rows of every task are held out.

    Parameters
    ----------
    rows : how many of a task to learn from at most, drawn at random; None: all.
    """
    if len(data.task_names) < 2:
        raise ReadError(
            "one task; there is nothing to carry over from others, at least two are needed",
            file=data.source or "the data",
        )
    for part in (data, test):
        if part is not None:
            check_labelled(part)
            if not part.shape[1]:
                raise ReadError(
                    "no columns but the task and the class", file=part.source or "the data"
                )
    warned = []
    words = "learned from the training part, reported on the test part"
    train = data
    if test is None:
        is_test = _held_out(data, seed)
        whole = "" if data.groups is None else ", groups whole,"
        words = f"{100 // HELD_OUT} % of the rows of every task{whole} held out as test part"
        train, test = data.take(~is_test), data.take(is_test)
    else:
        test = _same_features(data, test)
    if rows is not None:
        train = first_rows(train, rows, seed)
        words += f"; at most {counted(rows, 'row')} of each task to learn from"
    known = np.isin(test.task_codes, train.task_codes)
    if not known.all():
        warned.append(
            f"{_named(test.task_of_row[~known], 'task')} in the test part alone, not reported on"
        )
        test = test.take(known)
    if not len(test):
        raise ReadError(
            "no row is left to report on; every task needs rows in both parts",
            file=test.source or "the data",
        )
    return TransferParts(train, test, words, (*warned, *oddities(train, test)))


def first_rows(rows: FeatureMatrix, most: int, seed: int = 0) -> FeatureMatrix:
    """At most so many rows of each task, drawn at random; fewer are among those of more."""
    order = np.random.default_rng(seed).permutation(len(rows))
    place = np.empty(len(rows), dtype=np.int64)
    tasks = rows.task_codes
    for task in np.unique(tasks):
        mine = order[tasks[order] == task]
        place[mine] = np.arange(len(mine))
    return rows.take(np.flatnonzero(place < most))


def oddities(train: FeatureMatrix, test: FeatureMatrix) -> list[str]:
    """What a reader should know about the tasks before believing a figure."""
    there, task_of = np.unique(train.task_codes, return_inverse=True)
    names = np.array(train.task_names)[there]
    labels = train.label_codes
    n_classes = np.array([len(np.unique(labels[task_of == t])) for t in range(len(names))])
    n_rows = np.bincount(task_of)
    said = []
    if (n_rows == 1).any():
        said.append(f"{_named(names[n_rows == 1], 'task')} with a single row to learn from")
    if (one := n_classes < 2).any():
        said.append(
            f"{_named(names[one], 'task')} with one class to learn from, answered with it by "
            "all methods and left out of the tests"
        )
    silent = names[~np.isin(names, test.task_of_row)]
    if len(silent):
        said.append(f"{_named(silent, 'task')} without a row in the test part, learned from only")
    return said + _lonely(train, names, task_of)


def _lonely(train: FeatureMatrix, names: np.ndarray, task_of: np.ndarray) -> list[str]:
    """Tasks whose features no other task has, and families that one task alone has."""
    matrix = train
    row_of = np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr))
    met = np.unique(np.stack([task_of[row_of], matrix.indices]), axis=1)
    tasks_of_feature = np.bincount(met[1], minlength=matrix.shape[1])
    shared = np.bincount(met[0][tasks_of_feature[met[1]] > 1], minlength=len(names))
    said = []
    if (alone := shared == 0).any():
        said.append(
            f"{_named(names[alone], 'task')} without a feature that another task has; only the "
            "rates of families can help"
        )
    tasks_of: dict[str, set[int]] = {}
    for task, j in met.T.tolist():
        tasks_of.setdefault(family_of(str(matrix.names[j])), set()).add(task)
    unknown = [family for family, tasks in tasks_of.items() if len(tasks) == 1]
    if unknown:
        said.append(
            f"{_named(sorted(unknown), 'family', 'families')} in one task alone; there its "
            "features are taken to be as likely as the average"
        )
    return said


def _held_out(data: FeatureMatrix, seed: int) -> np.ndarray:
    """Which rows are held out: a fifth of each class of each task."""
    pairs = data.task_codes * len(data.classes) + data.label_codes
    groups = data.groups
    n_units = len(np.unique(data.units))
    if n_units < 2 * HELD_OUT:
        unit = "rows" if groups is None else "groups"
        raise ReadError(
            f"{n_units} {unit}, too few to hold some out; name a test part by --test",
            file=data.source or "the data",
        )
    fold_of = make_folds(pairs, n_folds=HELD_OUT, groups=groups, seed=seed, allow_rare=True)
    held = fold_of == 0
    if groups is None:
        # A task that would have nothing to learn from is learned from instead.
        held &= np.isin(data.task_codes, data.task_codes[~held])
    return held


def _same_features(data: FeatureMatrix, test: FeatureMatrix) -> FeatureMatrix:
    """The test rows over the features, classes and tasks of the training rows.

    Other features are left out, other classes and tasks come last.
    """
    features = SharedFeatures([str(name) for name in data.names])
    known = set(features.number) & {str(name) for name in test.names}
    if not known:
        raise ReadError(
            f"no feature that {data.source or 'the training part'} has",
            file=test.source or "the test part",
        )
    rows = features.read(test, grow=False)
    rows.sort_indices()
    classes, tasks = Vocabulary(data.classes), Vocabulary(data.task_names)
    return replace(
        data,
        indptr=rows.indptr.astype(np.int64),
        indices=rows.indices.astype(np.int32),
        labels=classes.add(test.classes)[test.label_codes],
        classes=classes.names,
        groups=test.groups,
        group_names=test.group_names,
        tasks=tasks.add(test.task_names)[test.task_codes],
        task_names=tasks.names,
        source=test.source,
    )


def _named(names: Sequence[str] | np.ndarray, one: str, many: str = "") -> str:
    """So many of something, the first of them by name.

    >>> _named(["ask"], "task"), _named(list("abcdefg"), "task")
    ('1 task (ask)', '7 tasks (a, b, c, d, e, …)')
    """
    found = np.unique(np.asarray(names, dtype=str)).tolist()
    return f"{counted(len(found), one, many)} ({first_few(found, _NAMED)})"
