"""Many small tasks of one kind: the verbs of a corpus, each with its senses; letters with sounds.

A task is a verb, its classes are the verb's senses, and all verbs share one list of features.  The
second domain is the pronunciation of letters: a task is a letter, its classes are the sounds that
it stands for, and its features are the three letters either side (``prev1=c``).

Test rows are whole folds, dealt within each task by class or by document, and training rows are
what is left, or a few rows of it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from experiments.runner import table_of
from featloom.data.readers.task_archives import corpus_rows
from featloom.data.table import NominalTable
from featloom.evaluation.folds import make_folds

LETTERS = "gs-cmudict"
VERBS = "wsd-verbs"
POOL = 5000  # training rows of a letter that samples are drawn from
TESTED = 500  # test rows of a letter


@dataclass(frozen=True, eq=False)
class Tasks:
    """Rows of many tasks.

    Parameters
    ----------
    title : of the data, for people.
    X : rows × features, zeros and ones.
    names : of the features.
    task, label : of each row.
    documents : of each row; None where there are none.
    is_test : of each row, where the data come with a test part; None where folds are dealt.
    """

    title: str
    X: sparse.csr_matrix
    names: list[str]
    task: np.ndarray
    label: np.ndarray
    documents: np.ndarray | None = None
    is_test: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.task)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks, sorted."""
        return np.unique(self.task).tolist()

    def take(self, rows: np.ndarray) -> Tasks:
        """Some of the rows, with the features that occur in them."""
        X = self.X[rows]
        columns = np.unique(X.indices)
        return replace(
            self,
            X=X[:, columns],
            names=[self.names[j] for j in columns],
            task=self.task[rows],
            label=self.label[rows],
            documents=None if self.documents is None else self.documents[rows],
            is_test=None if self.is_test is None else self.is_test[rows],
        )

    def by_task(self, rows: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """The given rows of each task that has any; None: all rows."""
        rows = np.arange(len(self)) if rows is None else rows
        names, codes = np.unique(self.task[rows], return_inverse=True)
        return {name: rows[codes == t] for t, name in enumerate(names.tolist())}

    def pairs(self, rows: np.ndarray | None = None) -> dict[Hashable, tuple[Any, np.ndarray]]:
        """Rows and classes of each task."""
        return {name: (self.X[own], self.label[own]) for name, own in self.by_task(rows).items()}


def read_verbs() -> Tasks:
    """Senses of fifty verbs, with the documents that the rows come from."""
    rows = corpus_rows(VERBS)
    tasks, labels = rows.task_of_row.astype(str), rows.label_names.astype(str)
    return Tasks("verbs", rows.to_csr(), [*map(str, rows.names)], tasks, labels, rows.groups)


def read_letters(seed: int = 0) -> Tasks:
    """Letters with their sounds: a pool of training rows a letter, and rows to test on.

    Parts of the corpus share no word.
    """
    drawn = [
        letter_rows(table_of(LETTERS, part), most, seed)
        for part, most in (("train", POOL), ("test", TESTED))
    ]
    windows, task, labels = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    names, features = np.unique(windows, return_inverse=True)
    n, width = windows.shape
    ends = np.arange(0, n * width + 1, width)
    X = sparse.csr_matrix((np.ones(n * width), features.ravel(), ends), shape=(n, len(names)))
    X.sort_indices()
    is_test = np.arange(n) >= len(drawn[0][1])
    several = [
        letter
        for letter in np.unique(task)
        if len(np.unique(labels[(task == letter) & ~is_test])) > 1
        and (is_test & (task == letter)).any()
    ]
    found = Tasks("letters", X, names.tolist(), task, labels, None, is_test)
    return found.take(np.flatnonzero(np.isin(task, several)))


def letter_rows(
    table: NominalTable, most: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Names of the neighbours, letter and sound of at most so many rows a letter."""
    assert table.labels is not None
    place = table.columns.index("letter")
    letters = table.codes[:, place]
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [
            np.sort(rng.permutation(np.flatnonzero(letters == code))[:most])
            for code in np.unique(letters[letters > 0])
        ]
    )
    windows = [
        np.array([f"{column}={value}" for value in ("?", *vocabulary)])[table.codes[rows, j]]
        for j, (column, vocabulary) in enumerate(
            zip(table.columns, table.vocabularies, strict=True)
        )
        if j != place
    ]
    letter = np.array(["?", *table.vocabularies[place]])[letters[rows]]
    return np.stack(windows, axis=1), letter, np.asarray(table.classes)[table.labels[rows]]


def some_tasks(data: Tasks, size: int | None, seed: int) -> Tasks:
    """So many tasks, drawn at random; None takes all."""
    if size is None or size >= len(data.tasks):
        return data
    drawn = np.random.default_rng(seed).choice(data.tasks, size=size, replace=False)
    return data.take(np.flatnonzero(np.isin(data.task, drawn)))


def folds_within_tasks(data: Tasks, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row: dealt in each task by itself, its classes spread evenly."""
    fold_of = np.zeros(len(data), dtype=np.int64)
    for rows in data.by_task().values():
        fold_of[rows] = make_folds(data.label[rows], n_folds=n_folds, seed=seed, allow_rare=True)
    return fold_of


def folds_of_documents(data: Tasks, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row: a document is in one fold, whatever tasks it has rows of."""
    fold_of = make_folds(
        data.label, n_folds=n_folds, groups=data.documents, seed=seed, allow_rare=True
    )
    return fold_of.astype(np.int64)


def few_rows(labels: np.ndarray, size: int, seed: int, number: int) -> np.ndarray:
    """Places of so many rows of one task, of two classes at least where it has them.

    The rows of a smaller draw are, but for the last, among those of a larger one.

    Parameters
    ----------
    seed, number : of the draw, and of the task.

    >>> labels = np.array(["a"] * 99 + ["b"])
    >>> sorted(labels[few_rows(labels, 5, seed=0, number=0)].tolist())
    ['a', 'a', 'a', 'a', 'b']
    """
    order = np.random.default_rng([seed, number]).permutation(len(labels))
    drawn = order[:size]
    if size > 1 and len(np.unique(labels[drawn])) == 1:
        others = order[labels[order] != labels[order[0]]]
        if len(others):
            drawn = np.append(drawn[:-1], others[0])
    return np.sort(drawn)
