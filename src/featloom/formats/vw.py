"""Vowpal Wabbit: rows as its examples, templates as its flags.

An example is a line, the label and then the features by namespace:

    2 |a join |b board |c as

Here a namespace is a column and has one letter for a name, because Vowpal Wabbit crosses
namespaces by their first letters: ``--interactions ab`` stands for all pairs of a value of the
first column and one of the second, which is the template of the two.  A column that is no template
by itself is left out of the linear part by ``--ignore_linear``.

Features may hold any sign but blank, tab, line end, ":" and "|".  Those, and "%", are written as
"%" and two hexadecimal digits; an empty value is a lone "%".  ``--hash all`` keeps values such as
"1" and "01" apart, which would be read as one number.
"""

from __future__ import annotations

import os
import string
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from featloom.errors import InputError
from featloom.runs import write_beside

LETTERS = string.ascii_letters + string.digits
_ESCAPES = {ord(sign): f"%{ord(sign):02X}" for sign in "% :|\t\n\r\v\f\0"}
_FEWEST_BITS, _MOST_BITS = 18, 30


class Coded(Protocol):
    """Rows of codes with vocabularies, as :class:`featloom.NominalTable` has them."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def codes(self) -> np.ndarray: ...

    @property
    def vocabularies(self) -> tuple[tuple[str, ...], ...]: ...

    @property
    def labels(self) -> np.ndarray | None: ...


def namespaces(columns: Sequence[str]) -> dict[str, str]:
    """The letter that stands for each column.

    >>> namespaces(["verb", "noun"])
    {'verb': 'a', 'noun': 'b'}
    """
    if len(columns) > len(LETTERS):
        raise InputError(
            f"{len(columns)} columns; Vowpal Wabbit tells {len(LETTERS)} namespaces apart here"
        )
    return dict(zip(columns, LETTERS, strict=False))


def interaction_flags(templates: Iterable[Sequence[str]], columns: Sequence[str]) -> list[str]:
    """The flags by which Vowpal Wabbit has the features of templates, given as lists of columns.

    >>> interaction_flags([["verb"], ["verb", "noun"]], ["verb", "noun"])
    ['--hash', 'all', '--ignore_linear', 'b', '--interactions', 'ab']
    """
    letter_of = namespaces(columns)
    sets = [[letter_of[name] for name in template] for template in templates]
    alone = {letters[0] for letters in sets if len(letters) == 1}
    flags = ["--hash", "all"]
    for letter in letter_of.values():
        if letter not in alone:
            flags += ["--ignore_linear", letter]
    for letters in sets:
        if len(letters) > 1:
            flags += ["--interactions", "".join(letters)]
    return flags


def learning_flags(n_classes: int, n_features: int) -> list[str]:
    """One logistic model against the rest for each class, in a table with room for the features.

    >>> learning_flags(3, 100_000)
    ['--oaa', '3', '--loss_function', 'logistic', '-b', '20']
    """
    bits = int(np.ceil(np.log2(max(2 * n_classes * n_features, 1))))
    bits = min(max(bits, _FEWEST_BITS), _MOST_BITS)
    return ["--oaa", str(n_classes), "--loss_function", "logistic", "-b", str(bits)]


def escaped(value: str) -> str:
    """A value as the name of a feature.

    >>> escaped("9:30 a.m."), escaped("100%"), escaped("")
    ('9%3A30%20a.m.', '100%25', '%')
    """
    return value.translate(_ESCAPES) or "%"


def write_vw(table: Coded, path: str | os.PathLike[str]) -> None:
    """Write rows as examples; classes are numbered from 1, and unknown values are left out.

    Rows without a class, or a table without classes, are written without a label, to be
    predicted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from featloom.data.table import NominalTable
    >>> table = NominalTable.from_columns({"verb": ["join", None], "noun": ["the board", "it"]},
    ...                                   labels=["V", "N"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.vw")
    ...     write_vw(table, path)
    ...     print(path.read_text(), end="")
    1 |a join |b the%20board
    2 |b it
    """
    if not len(table.codes):
        raise InputError(f"no rows to write to {os.fspath(path)}")
    letter_of = namespaces(table.columns)
    cells = []
    for j, (name, vocabulary) in enumerate(zip(table.columns, table.vocabularies, strict=True)):
        written = [f" |{letter_of[name]} {escaped(value)}" for value in vocabulary]
        cells.append(np.array(["", *written], dtype=object)[table.codes[:, j]])
    labels = [""] * len(table.codes)
    if table.labels is not None:
        labels = [str(label + 1) if label >= 0 else "" for label in table.labels.tolist()]
    # An example must have a namespace, even where every value is unknown.
    lines = [
        (label + ("".join(row) or " |")).lstrip()
        for label, *row in zip(labels, *cells, strict=True)
    ]
    write_beside(path, "\n".join(lines) + "\n")
