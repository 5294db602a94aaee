"""How cost grows with rows, what blocks and workers cost and bring, and what the journal costs.

``python benchmarks/scale.py [--quick] [--only NAME]``.  Every size is measured in a process of its
own, after a small run that compiles.  Growth: seconds and peak memory with rows ×1, ×10 and ×100,
and the exponent e of seconds ~ rows^e, the slope of a line through the logarithms.  Blocks: ten
million rows of a million features, made on the fly and counted from disk, against counting in
memory.  Workers: two against one, on a local Dask cluster.  Journal: a search whose evaluations
take 50 ms, with and without.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from generate import known_words, zipf_rows
from measure import Seconds, fastest, line, run_each

from featloom.cluster import cluster
from featloom.counts.blocks import count_blocks
from featloom.counts.memory import count_features
from featloom.data.blocks import MatrixBlocks
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.learners.memory import MemoryClassifier
from featloom.learners.tagger import SequenceTagger
from featloom.learners.tree import grow_tree, prune_by_error
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.memory_search import MemorySearch
from featloom.search import Journal, SearchSpace, search
from featloom.search.strategies.exhaustive import Exhaustive

TIMES = (1, 10, 100)
ONES = 30
QUERIES = 1_000
EVALUATION = 0.05  # seconds
Work = tuple[Callable[[int], Any], Callable[[Any], Any]]  # makes the data; is measured on it


class Numbered(Sequence[str]):
    """Names x0, x1, … that are spelt out only when somebody reads them."""

    def __init__(self, n: int):
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, number):
        return f"x{range(self.n)[number]}"


def _matrix(indptr, indices, labels, n_features: int) -> FeatureMatrix:
    return FeatureMatrix(
        indptr, indices, Numbered(n_features), np.zeros(n_features, dtype=np.int32), ("x",),
        np.zeros(1, dtype=bool), labels=labels, classes=("no", "yes"),
    )  # fmt: skip


def _sparse(n_features: int, ones: int) -> Callable[[int], FeatureMatrix]:
    return lambda n_rows: _matrix(*zipf_rows(n_rows, n_features, ones), n_features)


def _count(matrix: FeatureMatrix):
    return count_features(
        matrix.indptr, matrix.indices, matrix.shape[1], matrix.labels, len(matrix.classes)
    )


def _table(n_rows: int) -> NominalTable:
    codes, tags, sizes, n_tags = known_words(n_rows)
    vocabularies = tuple(tuple(map(str, range(size - 1))) for size in sizes)
    classes = tuple(f"t{tag}" for tag in range(n_tags))
    columns = tuple(f"c{j}" for j in range(codes.shape[1]))
    return NominalTable(columns, codes, vocabularies, labels=tags.astype(np.int32), classes=classes)


def _remember(table: NominalTable):
    few = np.linspace(0, len(table) - 1, min(QUERIES, len(table))).astype(np.int64)
    return MemoryClassifier(k=3).fit(table).predict(table.take(few))


def _sentences(n_tokens: int):
    codes, tags, _, _ = known_words(n_tokens, n_words=20_000)
    words = [(str(word), str(letter)) for word, letter in codes[:, [9, 6]].tolist()]
    cuts = range(0, n_tokens, 20)
    return [words[a : a + 20] for a in cuts], [
        [f"t{tag % 12}" for tag in tags[a : a + 20]] for a in cuts
    ]


def _tag(data):
    templates = ["U0:%x[0,0]", "U1:%x[-1,0]", "U2:%x[1,0]", "U3:%x[0,1]", "B"]
    return SequenceTagger(templates=templates, passes=5, average=2).fit(*data)


# The smallest number of rows, and what is done with them.
GROWTH: dict[str, tuple[int, Work]] = {
    "counting, 100,000 features": (100_000, (_sparse(100_000, ONES), _count)),
    "induction, 10,000 features, all pairs by MI": (
        10_000,
        (
            _sparse(10_000, 20),
            lambda matrix: ConjunctionInducer(score="mi", final_keep=1000).fit(matrix),
        ),
    ),
    "tree of 11 columns, grown and pruned": (
        10_000,
        (_table, lambda table: prune_by_error(grow_tree(table))),
    ),
    f"memory of 11 columns, learning and {QUERIES:,} answers": (10_000, (_table, _remember)),
    "CRF tagger, 4 templates, 5 passes, tokens": (2_000, (_sentences, _tag)),
}


def _measured(name: str, n_rows: int) -> tuple[float, float, float, float]:
    """Wall and user seconds, peak memory in MB, and memory before the work; in a fresh process."""
    make, work = GROWTH[name][1]
    work(make(500))
    data = make(n_rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, user = time.perf_counter(), os.times().user
    work(data)
    wall, user = time.perf_counter() - wall, os.times().user - user
    return wall, user, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before


def _in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _growth(name: str) -> Callable[[bool], list[dict]]:
    def bench(quick: bool) -> list[dict]:
        rows = [GROWTH[name][0] * times // (50 if quick else 1) for times in TIMES]
        measured = [_in_fresh_process(_measured, name, n) for n in rows]
        walls = [wall for wall, *_ in measured]
        exponent = float(np.polyfit(np.log(rows), np.log(walls), 1)[0])
        return [
            line(
                f"{name}: {n:,} rows", "–", Seconds(wall, user, None), None, True,
                kind="growth", what=name, rows=n, peak_mb=round(peak), before_mb=round(before),
                exponent=round(exponent, 3),
            )
            for n, (wall, user, peak, before) in zip(rows, measured, strict=True)
        ]  # fmt: skip

    return bench


class LaidOut:
    """Loads a block that lies in files of its own, which it maps into memory."""

    def __init__(self, folder: str, number: int, n_features: int):
        self.folder, self.number, self.n_features = folder, number, n_features

    def _path(self, what: str) -> Path:
        return Path(self.folder, f"{self.number:03d}-{what}.npy")

    def write(self, n_rows: int) -> None:
        arrays = zipf_rows(n_rows, self.n_features, ONES, seed=self.number)
        for what, array in zip(("indptr", "indices", "labels"), arrays, strict=True):
            np.save(self._path(what), array)

    def __call__(self) -> FeatureMatrix:
        arrays = [
            np.asarray(np.load(self._path(what), mmap_mode="r"))
            for what in ("indptr", "indices", "labels")
        ]
        return _matrix(*arrays, self.n_features)


def _write_blocks(folder: str, n_blocks: int, n_rows: int, n_features: int) -> list[LaidOut]:
    blocks = [LaidOut(folder, number, n_features) for number in range(n_blocks)]
    # Elsewhere, so that the memory it takes does not count here.
    _in_fresh_process(_write_each, blocks, n_rows)
    return blocks


def _write_each(blocks: list[LaidOut], n_rows: int) -> None:
    for block in blocks:
        block.write(n_rows)


def _count_streamed(sources: list[LaidOut]) -> tuple[float, float, float, list[int], int]:
    """Wall and user seconds of counting from disk, peak MB, class totals, and rows."""
    count_blocks(MatrixBlocks.of(sources[:1]))
    blocks = MatrixBlocks.of(sources)
    wall, user = time.perf_counter(), os.times().user
    counted = count_blocks(blocks)
    wall, user = time.perf_counter() - wall, os.times().user - user
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return wall, user, peak, counted.supports[:100].tolist(), len(blocks)


def _count_in_memory(sources: list[LaidOut]) -> tuple[float, float, list[int], int]:
    """Seconds of counting one block that is in memory, some of its counts, and its rows."""
    block = sources[0]()
    whole = _matrix(
        *(np.array(array) for array in (block.indptr, block.indices, block.labels)),
        block.shape[1],
    )
    spent = fastest(lambda: _count(whole))
    return spent.wall, spent.user, spent.value.supports[:100].tolist(), len(whole)


def _blocks(quick: bool) -> list[dict]:
    """The peer is our own counting of rows in memory, its time scaled to as many rows."""
    n_blocks, n_rows, n_features = (4, 5_000, 10_000) if quick else (20, 500_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        sources = _write_blocks(folder, n_blocks, n_rows, n_features)
        wall, user, peak, _, rows = _in_fresh_process(_count_streamed, sources)
        _, _, _, one, _ = _in_fresh_process(_count_streamed, sources[:1])
        in_memory, memory_user, same, of_rows = _in_fresh_process(_count_in_memory, sources)
    theirs = Seconds(in_memory * rows / of_rows, memory_user * rows / of_rows, None)
    return [
        line(
            f"{rows:,} rows × {n_features:,} features counted from disk", "our own, in memory",
            Seconds(wall, user, None), theirs, one == same, kind="blocks", rows=rows,
            rows_a_second=round(rows / wall), peak_mb=round(peak),
        )
    ]  # fmt: skip


def _counting_on(address: str, sources: list[LaidOut]) -> Seconds:
    with cluster(address):
        blocks = MatrixBlocks.of(sources)
        return fastest(lambda: count_blocks(blocks), times=2)


def _workers_counting(quick: bool) -> list[dict]:
    """Two workers against one; every block is counted several times over."""
    n_blocks, n_rows, n_features = (2, 5_000, 10_000) if quick else (4, 500_000, 100_000)
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        sources = _write_blocks(folder, n_blocks, n_rows, n_features) * (2 if quick else 16)
        two, one = (_counting_on(f"local:{n}", sources) for n in (2, 1))
    same = two.value.counts.tolist() == one.value.counts.tolist()
    name = f"counting {len(sources) * n_rows:,} rows on two workers"
    return [line(name, "our own, on one", two, one, same, kind="workers")]


def _searching_on(address: str, table: NominalTable, budget: int) -> Seconds:
    valid = table.take(np.arange(len(table) // 5))
    learn = table.take(np.arange(len(table) // 5, len(table)))

    def work():
        how = {"strategy": "genetic", "budget": budget, "random_state": 0}
        return MemorySearch(**how).fit(learn, X_valid=valid)

    with cluster(address):
        few = table.take(np.arange(500))  # every worker compiles
        MemorySearch(strategy="genetic", budget=40, random_state=0).fit(few, X_valid=few)
        wall, user = time.perf_counter(), os.times().user
        found = work()
        return Seconds(time.perf_counter() - wall, os.times().user - user, found)


def _workers_searching(quick: bool) -> list[dict]:
    """Two workers against one."""
    table, budget = _table(2_000 if quick else 20_000), (20 if quick else 200)
    two, one = (_searching_on(f"local:{n}", table, budget) for n in (2, 1))
    same = [[(e.candidate, e.result) for e in s.value.history_] for s in (two, one)]
    name = f"memory search of {budget} settings, {len(table):,} rows, on two workers"
    return [line(name, "our own, on one", two, one, same[0] == same[1], kind="workers")]


class TimedJournal(Journal):
    """A journal that adds up the seconds it takes to write."""

    spent = 0.0

    def append(self, *what, **how) -> None:
        begun = time.perf_counter()
        super().append(*what, **how)
        self.spent += time.perf_counter() - begun


def _take_time(candidate: dict) -> float:
    time.sleep(EVALUATION)
    return float(candidate["k"])


def _journal(quick: bool) -> list[dict]:
    """The same search with and without a journal; the share is that of the time spent writing."""
    space = SearchSpace({"k": list(range(10 if quick else 200))})

    def run(journal: Journal | None) -> Seconds:
        wall, user = time.perf_counter(), os.times().user
        history = search(_take_time, Exhaustive(space), journal=journal)
        return Seconds(time.perf_counter() - wall, os.times().user - user, len(history))

    run(None)
    with tempfile.TemporaryDirectory() as folder:
        with TimedJournal(Path(folder, "a.journal"), data="none", search={"k": 1}) as journal:
            kept = run(journal)
        bare = run(None)
    share = journal.spent / kept.wall
    name = f"search of {len(space)} evaluations of 50 ms, with a journal"
    told = {"kind": "journal", "overhead": round(share, 5)}
    return [line(name, "our own, without", kept, bare, kept.value == bare.value, **told)]


if __name__ == "__main__":
    run_each(
        {f"growth of {name}": _growth(name) for name in GROWTH}
        | {
            "blocks": _blocks,
            "workers, counting": _workers_counting,
            "workers, searching": _workers_searching,
            "journal": _journal,
        }
    )
