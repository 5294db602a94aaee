"""Rows of many tasks from sparse archives: arrays beside the matrix tell task and class of a row.

Codes of ``verb`` are names in ``verbs``, where an array of that name is there.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.corpora import locate_file
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.npz import load_arrays, read_sparse
from featloom.data.vocabulary import value_names
from featloom.errors import InputError, ReadError
from featloom.words import no_such

# Corpora that are archives: the file, and the arrays that tell task, class and document.
ARCHIVES = {"wsd-verbs": ("ewt.npz", {"task": "verb", "target": "sense", "groups": "doc"})}
# Where an archive keeps the names of its features.
FEATURE_NAMES = ("feature_names", "features", "feats", "names")


def is_archive(data: Any) -> bool:
    """Whether a corpus of many tasks is named, and no file.

    >>> is_archive("wsd-verbs"), is_archive("conll2000")
    (True, False)
    """
    if not isinstance(data, str | os.PathLike):
        return False
    return os.fspath(data) in ARCHIVES and not os.path.exists(data)


def corpus_rows(
    name: str | Path,
    *,
    task: str | None = None,
    target: str | None = None,
    groups: str | None = None,
) -> FeatureMatrix:
    """Rows of a corpus; arrays that are not named are the usual ones."""
    file, arrays = ARCHIVES[str(name)]
    given = {"task": task, "target": target, "groups": groups}
    named: dict[str, Any] = {role: given[role] or arrays[role] for role in given}
    return read_archive(locate_file(str(name), file), **named)


def read_archive(
    path: str | os.PathLike[str],
    *,
    task: str,
    target: str | None,
    groups: str | None,
    judged: bool = True,
) -> FeatureMatrix:
    """Rows of an ``.npz`` archive; without ``judged`` they need no classes."""
    arrays = load_arrays(path)
    if target is None and judged:
        raise InputError(f"{path} has no classes; name the array that holds them by --target")
    for name in (task, target, groups):
        if name is not None and name not in arrays:
            raise ReadError(no_such("array", name, arrays), file=os.fspath(path))
    plural = f"{target}s"
    matrix = read_sparse(
        path,
        names=next((name for name in FEATURE_NAMES if name in arrays), None),
        labels=target,
        classes=plural if plural in arrays else None,
        groups=groups,
    )
    of_row, named = np.asarray(arrays[task]), arrays.get(f"{task}s")
    if of_row.shape != (len(matrix),):
        raise ReadError(f"{of_row.size} tasks for {len(matrix)} rows", file=os.fspath(path))
    if named is not None and of_row.dtype.kind in "iu":
        if of_row.min(initial=0) < 0 or of_row.max(initial=0) >= len(named):
            raise ReadError(f"a code of {task!r} is not among {task + 's'!r}", file=os.fspath(path))
        of_row = np.asarray(named)[of_row]
    return matrix.with_tasks(of_row, task)


def archive_with_tasks(data: Path, *, task: str, target: str) -> FeatureMatrix:
    """Rows of an archive, or of a corpus that is one; the task of each is a feature of it."""
    path: str | Path = data
    if is_archive(data):
        path = locate_file(str(data), ARCHIVES[str(data)][0])
    there = target in load_arrays(path)
    rows = read_archive(
        path, task=task, target=target if there else None, groups=None, judged=there
    )
    return tasks_as_features(rows)


def tasks_as_features(matrix: FeatureMatrix) -> FeatureMatrix:
    """The rows with the task of each as one more feature, ``task=name``."""
    names, codes, task = matrix.task_names, matrix.task_codes, matrix.task_column
    n = len(matrix)
    n_features, n_families = matrix.shape[1], len(matrix.families)
    return replace(
        matrix,
        names=[*matrix.names, *value_names(task, names)],
        indptr=matrix.indptr + np.arange(n + 1),
        # The task comes last in each row, as its number is higher than any other.
        indices=np.insert(matrix.indices, matrix.indptr[1:], n_features + codes),
        family_of=np.append(matrix.family_of, [n_families] * len(names)).astype(np.int32),
        families=(*matrix.families, task),
        single_valued=np.append(matrix.single_valued, True),
    )  # fmt: skip
