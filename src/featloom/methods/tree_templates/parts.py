"""Which rows, sentences or trees are learned from, and which are reported on.

Where there is no test part, a fifth of the rows (with the classes in the same proportions) or a
tenth of the sentences is held out at random; groups (documents) are never split.  A validation part
is what the linear model is tuned on and what single templates are judged on.

Of rows in blocks every fifth is held out.  Trees are grown on all others; linear models learn from
a sample of these, and a sample of the rows held out is answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.data.blocks import Blocks
from featloom.data.readers.labels import check_columns, check_labelled, without_absent_labels
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.evaluation.folds import make_folds
from featloom.words import parts_in_words

HELD_OUT = {"table": 5, "sequence": 10, "dependencies": 10}  # one part in so many
UNITS = {"table": "rows", "sequence": "sentences", "dependencies": "sentences"}


@dataclass(frozen=True)
class GrowthParts:
    """What is grown on, tuned on (None: nothing by itself) and reported on, and in words how it
    was come by.

    ``kind`` is "table", "sequence" (sentences with labels) or "dependencies" (trees).  ``blocks``
    are all rows, where they come in blocks; the parts are then samples, and features that fewer
    than ``cutoff`` rows of the sample have are none of the linear models'.
    """

    kind: str
    train: NominalTable
    valid: NominalTable | None
    test: NominalTable
    words: str
    blocks: Blocks | None = None
    cutoff: int = 1

    @property
    def grown_on(self) -> NominalTable | Blocks:
        """The rows that trees are grown on."""
        return self.train if self.blocks is None else self.blocks.part(held_out=False)

    @property
    def unit(self) -> str:
        """What is held out: rows or sentences."""
        return UNITS[self.kind]

    @property
    def protocol(self) -> str:
        """How much is in each part, and how it was come by."""
        return f"{parts_in_words(self.sizes(), self.unit[:-1])}; {self.words}"

    def sizes(self) -> dict[str, int]:
        """Rows of each part, or sentences where there are some."""
        if self.blocks is not None:
            held_out = self.blocks.part(held_out=True)
            return {"train": len(self.grown_on), "test": len(held_out)}
        parts = {"train": self.train, "valid": self.valid, "test": self.test}
        return {name: _size(part, self.kind) for name, part in parts.items() if part is not None}


def growth_parts(
    data: NominalTable,
    valid: NominalTable | None = None,
    test: NominalTable | None = None,
    *,
    kind: str,
    seed: int = 0,
) -> GrowthParts:
    """The parts; without a test part some of ``data`` is held out.

    Examples
    --------
    >>> letters = NominalTable.from_columns({"letter": list("ckcs") * 10}, labels=list("KKSS") * 10)
    >>> parts = growth_parts(letters, kind="table")
    >>> parts.sizes(), parts.words
    ({'train': 32, 'test': 8}, '20 % of the rows held out at random as test part')
    """
    for part in (data, valid, test):
        if part is not None:
            _check_answers(part, kind)
            check_columns(data, part)
    if not data.columns:
        raise InputError("there are no columns but the classes")
    words = "learned from the training part, reported on the test part"
    train = data
    if test is None:
        is_test, whole = _held_out(data, kind, seed)
        words = (
            f"{100 // HELD_OUT[kind]} % of the {UNITS[kind]}{whole} held out at random as test part"
        )
        train, test = _taken(data, ~is_test, kind), _taken(data, is_test, kind)
    if kind == "sequence":
        train = without_absent_labels(train)
    return GrowthParts(kind, train, valid, test, words)


def parts_of_blocks(blocks: Blocks) -> GrowthParts:
    """The parts of rows in blocks."""
    train = blocks.part(held_out=False).sample_of_table()
    test = blocks.part(held_out=True).sample_of_table()
    check_classes(train)
    return GrowthParts("table", train, None, test, "every fifth row held out as test part", blocks)


def check_classes(sample: NominalTable) -> None:
    """Refuse a sample that a model cannot be fitted on."""
    if len(np.unique(sample.label_codes)) < 2:
        raise InputError("the sample to learn from holds one class only; there are too few rows")


def _size(table: NominalTable, kind: str) -> int:
    if kind == "table":
        return len(table)
    return len(table.bounds) - 1


def _held_out(data: NominalTable, kind: str, seed: int) -> tuple[np.ndarray, str]:
    """Which rows or sentences are held out; and in words what was kept whole."""
    if kind == "table":
        if len(data) < 2 * HELD_OUT[kind]:
            raise ReadError(
                f"{len(data)} rows, too few to hold some out; name a test part by --test",
                file=data.source or "the data",
            )
        fold_of = make_folds(
            data.label_codes, n_folds=HELD_OUT[kind], groups=data.groups, seed=seed, allow_rare=True
        )
        return fold_of == 0, "" if data.groups is None else ", groups whole,"
    n = _size(data, kind)
    if n < 2:
        raise ReadError(
            "one sentence; at least two are needed, one of them to be held out",
            file=data.source or "the data",
        )
    units, whole = np.arange(n), ""
    if data.groups is not None and len(np.unique(data.groups)) > 1:
        units, whole = data.groups[data.bounds[:-1]], ", whole documents,"
    _, unit_of = np.unique(units, return_inverse=True)
    sizes = np.bincount(unit_of)
    order = np.random.default_rng(seed).permutation(len(sizes))
    # At least one is tested on, and one is left to learn from.
    n_drawn = int(np.searchsorted(np.cumsum(sizes[order]), n / HELD_OUT[kind], side="right"))
    drawn = order[: min(max(n_drawn, 1), len(sizes) - 1)]
    return np.isin(unit_of, drawn), whole


def _taken(data: NominalTable, chosen: np.ndarray, kind: str) -> NominalTable:
    which = np.flatnonzero(chosen)
    return data.take(which) if kind == "table" else take_sentences(data, which)


def _check_answers(table: NominalTable, kind: str) -> None:
    if kind != "dependencies":
        check_labelled(table)
    elif table.heads is None:
        raise ReadError("no heads", file=table.source or "the data")
