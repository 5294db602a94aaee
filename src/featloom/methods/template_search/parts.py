"""Which sentences are searched and trained on, and which are reported on.

Test sentences come in a file of their own, or are a tenth of the sentences, drawn at random with
whole documents where the file marks them.  Labels that only test sentences have cannot be learned;
they count as wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featloom.data.readers.labels import check_columns, check_labelled, without_absent_labels
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable, joined
from featloom.errors import ReadError
from featloom.words import counted

HELD_OUT = 0.1


@dataclass(frozen=True)
class SentenceParts:
    """Sentences to search and train on, sentences to report on, and in words how they were come
    by."""

    train: NominalTable
    test: NominalTable
    words: str

    def sizes(self) -> dict[str, int]:
        """Sentences of each part."""
        parts = {"train": self.train, "test": self.test}
        return {name: len(part.bounds) - 1 for name, part in parts.items()}


def sentence_parts(
    data: NominalTable,
    valid: NominalTable | None = None,
    test: NominalTable | None = None,
    *,
    seed: int = 0,
) -> SentenceParts:
    """The parts; without test sentences a tenth of ``data`` is held out, documents whole.

    Parameters
    ----------
    valid : more sentences to search and train on; the search holds out some of all of them.
    seed : of the split.

    Examples
    --------
    >>> from featloom.data.sentences import table_of_sentences
    >>> sentences = table_of_sentences([["a", "b"]] * 20, [["A", "B"]] * 20)
    >>> parts = sentence_parts(sentences)
    >>> parts.sizes()
    {'train': 18, 'test': 2}
    >>> parts.words
    '10 % of the sentences held out at random as test part; searched and trained on the others'
    """
    for part in (data, valid, test):
        if part is not None:
            _check_labels(part)
            check_columns(data, part)
    if test is not None:
        words = "searched and trained on the training part, reported on the test part"
        train = data
    else:
        train, test, unit = _split(data, seed)
        words = (
            f"10 % of the {unit} held out at random as test part; "
            "searched and trained on the others"
        )
    if valid is not None:
        train = joined(train, valid)
        words += "; the validation sentences are among those searched and trained on"
    return SentenceParts(without_absent_labels(train), test, words)


def new_labels(known: Sequence[str], table: NominalTable) -> str | None:
    """A sentence about labels that were not met in training, where a table has some."""
    if table.labels is None:
        return None
    counts = np.bincount(table.labels[table.labels >= 0], minlength=len(table.classes))
    new = {
        name: int(count)
        for name, count in zip(table.classes, counts, strict=True)
        if count and name not in set(known)
    }
    if not new:
        return None
    first, count = next(iter(new.items()))
    label = f"label {first!r} ({counted(count, 'token')})"
    more = f" and {len(new) - 1} more" if len(new) > 1 else ""
    return (
        f"{Path(table.source).name or 'the data'}: {label}{more} was not met in "
        "training and counts as wrong"
    )


def _check_labels(table: NominalTable) -> None:
    check_labelled(table)
    if len(table.bounds) == 2:
        raise ReadError(
            f"one sentence of {len(table):,} tokens; a blank line is expected after each sentence",
            file=table.source or "the data",
        )


def _split(data: NominalTable, seed: int) -> tuple[NominalTable, NominalTable, str]:
    """Training and test sentences, and what was drawn: sentences, or documents where they are."""
    bounds = data.bounds
    n = len(bounds) - 1
    units, unit = np.arange(n), "sentences"
    if data.groups is not None and len(np.unique(data.groups)) > 1:
        units, unit = data.groups[bounds[:-1]], "sentences, whole documents,"
    _, unit_of = np.unique(units, return_inverse=True)
    sizes = np.bincount(unit_of)
    order = np.random.default_rng(seed).permutation(len(sizes))
    # At least one is tested on, and one is left to learn from.
    n_drawn = int(np.searchsorted(np.cumsum(sizes[order]), HELD_OUT * n, side="right"))
    drawn = order[: min(max(n_drawn, 1), len(sizes) - 1)]
    is_test = np.isin(unit_of, drawn)
    train, test = (take_sentences(data, np.flatnonzero(one)) for one in (~is_test, is_test))
    return train, test, unit
