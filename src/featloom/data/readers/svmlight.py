"""Sparse rows in the format of SVMlight and LIBSVM: ``class feature:1 feature:1 … # comment``.

Features are numbers, counted from 1 or from 0.  Where the file does not say, it is read as counted
from 0 if a feature 0 occurs in it, and from 1 otherwise; say ``zero_based`` where several files
must agree.  Features are binary: a value other than 0 and 1 is refused with its place, the column
counting the characters of the line from 1.  A field ``qid:7`` after the class names a group.
"""

from __future__ import annotations

import os
import re
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.labels import check_classes
from featloom.data.readers.lines import read_lines
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError, ReadError

MOST_FEATURES = 2**23


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | str | os.PathLike[str] | None = None,
    zero_based: bool | None = None,
    on_bad_row: str = "raise",
    require_labels: bool = True,
) -> FeatureMatrix:
    """Read sparse binary rows with their classes.

    Parameters
    ----------
    path : file to read.
    names : names of the features in order, or a file with one a line; default ``x`` and the
        number that the file uses.
    zero_based : whether features are counted from 0; None: as the file shows.
    on_bad_row : "raise", or "skip" to leave bad rows out and warn with their number.
    require_labels : False for data to predict on: the classes are not checked.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.svm")
    ...     _ = path.write_text("+1 1:1 3:1\\n-1 2:1 # a comment\\n+1 3:1\\n")
    ...     matrix = read_svmlight(path)
    >>> matrix.shape, matrix.classes, matrix.row_names(0)
    ((3, 3), ('1', '-1'), ['x1', 'x3'])
    """
    from scipy import sparse

    name = os.fspath(path)
    bad_rows = BadRows(name, on_bad_row)
    indices, lengths = array("i"), array("q")
    classes, documents = Vocabulary(), Vocabulary()
    labels, groups = array("i"), array("i")
    for number, line in read_lines(name, on_bad_line=bad_rows.add_error):
        try:
            row = _parse(line)
        except _Fault as fault:
            column = None if fault.place is None else _character(line, fault.place)
            bad_rows.add(fault.message, line=number, column=column)
            continue
        if row is None:
            continue
        label, group, features = row
        if labels and (group is None) == bool(groups):
            bad_rows.add("some rows have a qid and others have none", line=number)
            continue
        labels.append(classes[label])
        if group is not None:
            groups.append(documents[group])
        indices.extend(features)
        lengths.append(len(features))
    if not lengths:
        raise ReadError("no rows" if not bad_rows.count else "no row can be used", file=name)
    columns = np.frombuffer(indices, dtype=np.int32) if indices else np.empty(0, np.int32)
    feature_names, base = _names_and_base(columns, names, zero_based, name)
    indptr = np.concatenate([[0], np.cumsum(np.frombuffer(lengths, dtype=np.int64))])
    shape = (len(lengths), len(feature_names))
    X = sparse.csr_matrix((np.ones(len(columns), np.int8), columns - base, indptr), shape=shape)
    if require_labels:
        check_classes(classes.names, len(lengths), file=name, target="class")
    bad_rows.warn()
    return FeatureMatrix.from_csr(
        X, names=feature_names, labels=np.array(labels, dtype=np.int32), classes=classes.names,
        groups=np.array(groups, dtype=np.int32) if groups else None, group_names=documents.names,
        target="class", source=name,
    )  # fmt: skip


def read_names(path: str | os.PathLike[str]) -> list[str]:
    """Names of features from a file with one a line; empty and repeated ones are refused."""
    names: dict[str, int] = {}
    for number, line in read_lines(path):
        if not line.strip():
            raise ReadError("a feature without a name", file=os.fspath(path), line=number)
        if line in names:
            message = f"feature {line!r} appears twice, first in line {names[line]}"
            raise ReadError(message, file=os.fspath(path), line=number)
        names[line] = number
    return list(names)


class _Fault(Exception):
    def __init__(self, message: str, place: int | None = None):
        self.message, self.place = message, place


def _parse(line: str) -> tuple[str, str | None, list[int]] | None:
    """Class, group and features of a line; None for a line with nothing but a comment.

    A fault tells the number of the field, from 0, that is wrong.
    """
    fields = line.partition("#")[0].split()
    if not fields:
        return None
    label = fields[0].removeprefix("+")
    if not label or ":" in label:
        raise _Fault("no class before the features", 0)
    begin, group = 1, None
    if len(fields) > 1 and fields[1].startswith("qid:"):
        begin, group = 2, fields[1][4:]
    features = []
    for place in range(begin, len(fields)):
        feature, colon, value = fields[place].partition(":")
        if not (colon and feature.isascii() and feature.isdigit()):
            raise _Fault(f"{fields[place]!r:.60} is not feature:value", place)
        if len(feature.lstrip("0")) > 9:
            raise _Fault(f"feature number {feature:.60} is too large", place)
        if value == "1" or _is_one(value, feature, place):
            features.append(int(feature))
    if len(set(features)) != len(features):
        twice = next(feature for feature, n in Counter(features).items() if n > 1)
        raise _Fault(f"feature {twice} appears twice")
    return label, group, features


def _is_one(value: str, feature: str, place: int) -> bool:
    try:
        number = float(value)
    except ValueError:
        raise _Fault(f"the value of feature {feature} is {value!r:.60}, no number", place) from None
    if number not in (0.0, 1.0):
        message = f"feature {feature} has the value {value:.60}; features must be binary (0 or 1)"
        raise _Fault(message, place)
    return number == 1.0


def _character(line: str, place: int) -> int:
    """Where the field of the given number begins, counted from 1."""
    starts = [match.start() for match in re.finditer(r"\S+", line)]
    return starts[place] + 1 if place < len(starts) else 1


def _names_and_base(
    columns: np.ndarray,
    names: Sequence[str] | str | os.PathLike[str] | None,
    zero_based: bool | None,
    file: str,
) -> tuple[Sequence[str], int]:
    """Names of the features and the number of the first."""
    smallest, largest = (int(columns.min()), int(columns.max())) if len(columns) else (1, 0)
    base = (1 if smallest > 0 else 0) if zero_based is None else int(not zero_based)
    if smallest < base:
        raise ReadError("feature 0 in a file counted from 1", file=file)
    n_features = largest - base + 1
    if names is None:
        if n_features > MOST_FEATURES:
            message = (
                f"feature number {largest:,}; without names there can be {MOST_FEATURES:,} features"
            )
            raise ReadError(message, file=file)
        return [f"x{number}" for number in range(base, largest + 1)], base
    if isinstance(names, str | os.PathLike):
        names = read_names(names)
    if n_features > len(names):
        raise InputError(f"{len(names)} feature names, but {file} has feature number {largest}")
    return names, base
