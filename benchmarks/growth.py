"""How the cost of each method grows with its work: rows ×1, ×10 and ×100.

The work is what a method has to look at, counted in the data and not in the program: non-zeros of
a sparse matrix, cells of a table, tokens times templates; for pairs the *pair increments*: a row in
which k features hold shows k(k − 1)/2 pairs, and these are added up over the rows.
The exponent e of seconds ~ work^e is the slope of a line through the logarithms.

Every size has two processes.  One makes the data, does the work once, so that whatever has to be
compiled is, and writes the data down.  The other reads the data and does the work again and again:
its memory before the work is that of the program and the data, and the peak less that is what the
work itself takes.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from generate import known_words, zipf_rows
from measure import Seconds, best_of, in_fresh_process, line, peak_megabytes

from featloom.counts.evidence import ClassEvidence, Conditions
from featloom.counts.memory import CountedMatrix, best_conjunctions, count_features
from featloom.data.blocks import Blocks, without_rows
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.learners.memory import MemoryClassifier
from featloom.learners.tagger import SequenceTagger
from featloom.learners.tree import grow_tree, prune_by_error
from featloom.learners.tree_blocks import grow_tree_of_blocks
from featloom.methods.induction import ConjunctionInducer
from featloom.scores import CountScore

TIMES = (1, 10, 100)
QUERIES = 1_000
TEMPLATES = ("U0:%x[0,0]", "U1:%x[-1,0]", "U2:%x[1,0]", "U3:%x[0,1]")
_DRAWN_ROWS = 2_000_000
_ROWS_OF_BLOCK = 50_000
_SPENT = 2.0  # seconds on repetitions: a short run is disturbed more easily than a long one


@dataclass(frozen=True)
class Method:
    """What is measured: data of so many rows, what is done with them, and how much work that is."""

    smallest: int
    make: Callable[[int], Any]
    work: Callable[[Any], Any]
    amount: Callable[[Any], int]
    unit: str


class Numbered(Sequence[str]):
    """Names x0, x1, … that are spelt out only when somebody reads them."""

    def __init__(self, n: int):
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, number):
        return f"x{range(self.n)[number]}"


@cache
def _names(n: int) -> Numbered:
    """The same object for all blocks of a process: equal without being spelt out."""
    return Numbered(n)


class TableInBlocks(Blocks):
    """The rows of a table, some at a time."""

    def __init__(self, table: NominalTable):
        totals = np.bincount(table.labels, minlength=len(table.classes))
        cuts = [*range(0, len(table), _ROWS_OF_BLOCK), len(table)]
        nothing = table.take(np.arange(0))
        super().__init__(without_rows(FeatureMatrix.from_table(nothing)), np.diff(cuts), totals)
        self.table, self._rows = nothing, table

    def rows_of_table(self, number: int) -> NominalTable:
        first = self.first_rows[number]
        return self._rows.take(np.arange(first, first + self.sizes[number]))

    def block(self, number: int) -> FeatureMatrix:
        return FeatureMatrix.from_table(self.rows_of_table(number))


def matrix_of(indptr, indices, labels, n_features: int) -> FeatureMatrix:
    """Rows of two classes and of features that are all of one family."""
    return FeatureMatrix(
        indptr, indices, _names(n_features), np.zeros(n_features, dtype=np.int32), ("x",),
        np.zeros(1, dtype=bool), labels=labels, classes=("no", "yes"),
    )  # fmt: skip


def table_of(n_rows: int) -> NominalTable:
    """Words with the tags and letters around them: 11 columns, 110 classes."""
    codes, tags, sizes, n_tags = known_words(n_rows)
    vocabularies = tuple(tuple(map(str, range(size - 1))) for size in sizes)
    classes = tuple(f"t{tag}" for tag in range(n_tags))
    columns = tuple(f"c{j}" for j in range(codes.shape[1]))
    return NominalTable(columns, codes, vocabularies, labels=tags.astype(np.int32), classes=classes)


def count(matrix: FeatureMatrix):
    """Rows of each class with each feature, counted in memory."""
    return count_features(
        matrix.indptr, matrix.indices, matrix.shape[1], matrix.labels, len(matrix.classes)
    )


def _sparse(n_features: int, ones: int) -> Callable[[int], FeatureMatrix]:
    return lambda n_rows: matrix_of(*zipf_rows(n_rows, n_features, ones), n_features)


def _many_rows(n_rows: int) -> FeatureMatrix:
    """Rows of 30 among 100,000 features; from two million on they come again, to save time."""
    times = max(1, n_rows // _DRAWN_ROWS)
    indptr, indices, labels = zipf_rows(n_rows // times, 100_000, 30)
    ends = np.tile(np.diff(indptr), times).cumsum()
    starts = np.concatenate([[0], ends])
    return matrix_of(starts, np.tile(indices, times), np.tile(labels, times), 100_000)


def _nonzeros(matrix: FeatureMatrix) -> int:
    return len(matrix.indices)


def _pair_increments(matrix: FeatureMatrix) -> int:
    in_row = np.diff(matrix.indptr)
    return int((in_row * (in_row - 1) // 2).sum())


def _cells(table: NominalTable) -> int:
    return table.codes.size


def _every_pair(matrix: FeatureMatrix):
    """All pairs counted and scored, none spared because its parts cannot reach enough."""
    counts, score = count(matrix), CountScore.named("mi")
    return best_conjunctions(
        CountedMatrix.prepare(matrix.indptr, matrix.indices, matrix.shape[1]),
        ClassEvidence(matrix.labels, counts.class_totals, score),
        conditions=Conditions(min_support=1, drop_equal=False),
        bounds=np.full(matrix.shape[1], np.inf),
        limit=1000,
    )


def _induce(**how) -> Callable[[FeatureMatrix], Any]:
    return lambda matrix: ConjunctionInducer(score="mi", final_keep=1000, **how).fit(matrix)


def _remembered(n_rows: int) -> tuple[int, MemoryClassifier, NominalTable]:
    """Cells of a memory, the memory, and rows that it has not seen."""
    rows = table_of(n_rows + QUERIES)
    known = rows.take(np.arange(n_rows))
    asked = rows.take(np.arange(n_rows, n_rows + QUERIES))
    return known.codes.size, MemoryClassifier(k=3).fit(known), asked


def _sentences(n_tokens: int):
    codes, tags, _, _ = known_words(n_tokens, n_words=20_000)
    words = [(str(word), str(letter)) for word, letter in codes[:, [9, 6]].tolist()]
    cuts = range(0, n_tokens, 20)
    return [words[a : a + 20] for a in cuts], [
        [f"t{tag % 12}" for tag in tags[a : a + 20]] for a in cuts
    ]


def _tag(data):
    return SequenceTagger(templates=[*TEMPLATES, "B"], passes=5, average=2).fit(*data)


METHODS = {
    "counting": Method(200_000, _many_rows, count, _nonzeros, "non-zeros"),
    "induction, all pairs": Method(
        10_000, _sparse(10_000, 20), _induce(), _pair_increments, "pair increments"
    ),
    "induction, ranked pairs": Method(
        10_000, _sparse(10_000, 20), _induce(pairs="ranked"), _pair_increments, "pair increments"
    ),
    "pairs, none spared": Method(
        10_000, _sparse(10_000, 20), _every_pair, _pair_increments, "pair increments"
    ),
    "tree": Method(
        200_000, table_of, lambda table: prune_by_error(grow_tree(table)), _cells, "cells"
    ),
    "tree from blocks": Method(
        20_000, table_of, lambda table: grow_tree_of_blocks(TableInBlocks(table)), _cells, "cells"
    ),
    "memory, learning": Method(
        100_000, table_of, lambda table: MemoryClassifier(k=3).fit(table), _cells, "cells"
    ),
    f"memory, {QUERIES:,} answers": Method(
        50_000, _remembered, lambda data: data[1].predict(data[2]), lambda data: data[0], "cells"
    ),
    "CRF tagger, 5 passes": Method(
        10_000,
        _sentences,
        _tag,
        lambda data: len(TEMPLATES) * sum(map(len, data[0])),
        "tokens × templates",
    ),
}


def exponent(work: Sequence[float], cost: Sequence[float]) -> float:
    """The slope of the line through the logarithms.

    >>> exponent([1, 10, 100], [3, 30, 300])
    1.0
    """
    slope = np.polyfit(np.log(work), np.log(np.maximum(cost, 1e-6)), 1)[0]
    return round(float(slope), 3)


def growth_of(name: str) -> Callable[[bool], list[dict]]:
    """The bench of one method: a result for each size."""

    def bench(quick: bool) -> list[dict]:
        rows = [METHODS[name].smallest * times // (50 if quick else 1) for times in TIMES]
        measured = [_measured(name, n) for n in rows]
        work = [each["work"] for _, each in measured]
        fitted = {
            "exponent": exponent(work, [spent.wall for spent, _ in measured]),
            "exponent_user": exponent(work, [spent.user for spent, _ in measured]),
        }
        unit = METHODS[name].unit
        return [
            line(
                f"{name}: {n:,} rows", "–", spent, None, True,
                kind="growth", what=name, rows=n, unit=unit, **told, **fitted,
            )
            for n, (spent, told) in zip(rows, measured, strict=True)
        ]  # fmt: skip

    return bench


def _measured(name: str, n_rows: int) -> tuple[Seconds, dict]:
    with tempfile.TemporaryDirectory(prefix="featloom-growth-") as folder:
        path = Path(folder, "data")
        in_fresh_process(_write_down, name, n_rows, path)
        return in_fresh_process(_do_again, name, path)


def _write_down(name: str, n_rows: int, path: Path) -> None:
    method = METHODS[name]
    data = method.make(n_rows)
    method.work(data)
    with path.open("wb") as file:
        pickle.dump((method.amount(data), data), file, protocol=5)


def _do_again(name: str, path: Path) -> tuple[Seconds, dict]:
    method = METHODS[name]
    method.work(method.make(500))  # the compiled program belongs to the memory before the work
    with path.open("rb") as file:
        work, data = pickle.load(file)
    before = peak_megabytes()
    spent = best_of(lambda: method.work(data), times=2, within=_SPENT)
    peak = peak_megabytes()
    told = {"work": work, "peak_mb": round(peak), "before_mb": round(before)}
    return Seconds(spent.wall, spent.user, None), told
