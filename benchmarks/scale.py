"""How cost grows with work, what blocks and workers cost and bring, and what the journal costs.

``python benchmarks/scale.py [--quick] [--only NAME]``.  Growth (``growth.py``): seconds and peak
memory with rows ×1, ×10 and ×100.  Blocks: ten million rows of a million features, made on the fly
and counted from disk, against counting the same rows in memory.  Parquet: ten million rows of text,
the first pass over them and the pass that counts, then induction and a tree.  Workers: no cluster,
one worker and two on a local Dask cluster.  Journal: a search whose evaluations take 50 ms, with
and without.  Whatever has a peak of memory is measured in a process of its own, on one core where
nothing else is said, after a run that compiles.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from generate import known_words, zipf_rows
from growth import METHODS, count, growth_of, matrix_of, table_of
from measure import Seconds, fastest, in_fresh_process, line, peak_megabytes, run_each, timed

from featloom.cluster import cluster
from featloom.counts.blocks import count_blocks
from featloom.counts.evidence import FeatureCounts
from featloom.data.blocks import Blocks, MatrixBlocks
from featloom.data.blocks_parquet import read_blocks
from featloom.data.matrix import FeatureMatrix
from featloom.learners.tree_blocks import grow_tree_of_blocks
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.memory_search import MemorySearch
from featloom.search import Journal, SearchSpace, search
from featloom.search.strategies.exhaustive import Exhaustive

ONES = 30
MEMORY = "2GB"
TREE_LEVELS = 6
EVALUATION = 0.05  # seconds
ARRAYS = ("indptr", "indices", "labels")


class LaidOut:
    """Loads a block that lies in files of its own, which it maps into memory."""

    def __init__(self, folder: str, number: int, n_features: int):
        self.folder, self.number, self.n_features = folder, number, n_features

    def _path(self, what: str) -> Path:
        return Path(self.folder, f"{self.number:03d}-{what}.npy")

    def write(self, n_rows: int, ones: int) -> None:
        arrays = zipf_rows(n_rows, self.n_features, ones, seed=self.number)
        for what, array in zip(ARRAYS, arrays, strict=True):
            np.save(self._path(what), array)

    def __call__(self) -> FeatureMatrix:
        arrays = [np.asarray(np.load(self._path(what), mmap_mode="r")) for what in ARRAYS]
        return matrix_of(*arrays, self.n_features)


def _written(folder: str, n_blocks: int, n_rows: int, n_features: int, ones: int = ONES):
    blocks = [LaidOut(folder, number, n_features) for number in range(n_blocks)]
    in_fresh_process(_write_each, blocks, n_rows, ones)
    return blocks


def _write_each(blocks: list[LaidOut], n_rows: int, ones: int) -> None:
    for block in blocks:
        block.write(n_rows, ones)


def _mark(counts: FeatureCounts) -> str:
    """What two equal counts have in common."""
    return hashlib.sha256(np.ascontiguousarray(counts.counts).tobytes()).hexdigest()


def _count_streamed(sources: list[LaidOut]) -> tuple[Seconds, Seconds, float]:
    """Counting from disk, the pass before it that gathers the blocks, and peak MB."""
    gathering = timed(lambda: MatrixBlocks.of(sources))
    spent = fastest(lambda: count_blocks(gathering.value), times=2)
    return (
        Seconds(spent.wall, spent.user, _mark(spent.value)),
        Seconds(gathering.wall, gathering.user, None),
        peak_megabytes(),
    )


def _count_held(sources: list[LaidOut]) -> tuple[Seconds, float]:
    """Counting the same rows, all of which are in memory, and peak MB."""
    parts = [source() for source in sources]
    ends = np.concatenate([np.diff(part.indptr) for part in parts]).cumsum()
    whole = matrix_of(
        np.concatenate([[0], ends]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.labels for part in parts]),
        sources[0].n_features,
    )
    del parts
    spent = fastest(lambda: count(whole), times=2)
    return Seconds(spent.wall, spent.user, _mark(spent.value)), peak_megabytes()


def _blocks(quick: bool) -> list[dict]:
    """Both ways in turn, so that both meet the machine in the same state."""
    n_blocks, n_rows, n_features = (4, 5_000, 10_000) if quick else (20, 500_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        sources = _written(folder, n_blocks, n_rows, n_features)
        turns = [
            (in_fresh_process(_count_streamed, sources), in_fresh_process(_count_held, sources))
            for _ in range(1 if quick else 2)
        ]
    streamed, gathering, peak = min((turn[0] for turn in turns), key=lambda found: found[0].wall)
    held, held_peak = min((turn[1] for turn in turns), key=lambda found: found[0].wall)
    rows = n_blocks * n_rows
    return [
        line(
            f"{rows:,} rows × {n_features:,} features counted from disk", "our own, in memory",
            streamed, held, streamed.value == held.value, kind="blocks", rows=rows,
            rows_a_second=round(rows / streamed.wall), peer_rows_a_second=round(rows / held.wall),
            first_pass_s=round(gathering.wall, 5), first_pass_user_s=round(gathering.user, 5),
            peak_mb=round(peak), peer_peak_mb=round(held_peak),
        )
    ]  # fmt: skip


def _write_parquet(folder: str, n_files: int, n_rows: int) -> None:
    """Words with the tags and letters around them as text: 11 columns and two classes."""
    import polars as pl

    codes, tags, sizes, _ = known_words(n_files * n_rows)
    texts = [pl.Series([f"{j}-{value}" for value in range(size)]) for j, size in enumerate(sizes)]
    answers = pl.Series(["yes", "no"])
    for number in range(n_files):
        rows = slice(number * n_rows, (number + 1) * n_rows)
        columns = {f"c{j}": text.gather(codes[rows, j]) for j, text in enumerate(texts)}
        columns["frequent"] = answers.gather((tags[rows] > 2).astype(np.int64))
        pl.DataFrame(columns).write_parquet(Path(folder, f"{number:03d}.parquet"))


class Passes:
    """Counts how often blocks are loaded."""

    def __init__(self, blocks: Blocks):
        self.loaded, self.n_blocks = 0, blocks.n_blocks
        for name in ("block", "rows_of_table"):
            setattr(blocks, name, partial(self._load, getattr(blocks, name), name))
        self._inside = False

    def _load(self, load: Callable[[int], Any], name: str, number: int) -> Any:
        # A block is made of rows of the table, which are loaded once for it.
        outer, self._inside = self._inside, True
        self.loaded += not outer
        found = load(number)
        self._inside = outer
        return found

    @property
    def made(self) -> float:
        return round(self.loaded / self.n_blocks, 2)


def _parquet_counted(path: str) -> list[tuple[str, Seconds, dict]]:
    reading = timed(lambda: read_blocks(path, target="frequent", memory=MEMORY))
    blocks = reading.value
    first = {"passes": 1, "peak_mb": round(peak_megabytes())}
    count_blocks(blocks)
    counting = timed(lambda: count_blocks(blocks))
    told = {"rows": len(blocks), "columns": len(blocks.columns), "blocks": blocks.n_blocks}
    rows_seen = int(counting.value.class_totals.sum())
    told["agree"] = rows_seen == len(blocks)
    return [
        ("first pass over Parquet text", reading, told | first),
        (
            "reading and counting the same",
            counting,
            told | {"passes": 1, "peak_mb": round(peak_megabytes())},
        ),
    ]


def _parquet_induced(path: str) -> list[tuple[str, Seconds, dict]]:
    return [_parquet_work(path, "induction by mutual information from Parquet", _induced)]


def _parquet_grown(path: str) -> list[tuple[str, Seconds, dict]]:
    return [_parquet_work(path, f"tree of {TREE_LEVELS} levels from Parquet", _grown)]


def _induced(blocks: Blocks):
    return ConjunctionInducer(score="mi", final_keep=1000).fit(blocks)


def _grown(blocks: Blocks):
    least = max(2, len(blocks) // 100_000)
    return grow_tree_of_blocks(blocks, min_rows=least, max_depth=TREE_LEVELS)


def _parquet_work(path: str, name: str, work: Callable[[Blocks], Any]) -> tuple[str, Seconds, dict]:
    def opened() -> Blocks:
        return read_blocks(path, target="frequent", memory=MEMORY)

    blocks = opened()
    passes = Passes(blocks)
    work(blocks)  # compiles, and shows how often the blocks are read
    blocks = opened()
    spent = timed(lambda: work(blocks))
    told = {"rows": len(blocks), "columns": len(blocks.columns), "blocks": blocks.n_blocks}
    told |= {"passes": passes.made, "peak_mb": round(peak_megabytes())}
    return name, spent, told


def _parquet(quick: bool) -> list[dict]:
    """A tenth of the rows for what takes many passes."""
    n_files, n_rows = (10, 2_000) if quick else (20, 500_000)
    results = []
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        in_fresh_process(_write_parquet, folder, n_files, n_rows)
        measured = in_fresh_process(_parquet_counted, folder)
        for file in sorted(Path(folder).glob("*.parquet"))[n_files // 10 :]:
            file.unlink()
        size = sum(file.stat().st_size for file in Path(folder).glob("*.parquet"))
        for work in (_parquet_induced, _parquet_grown):
            measured += in_fresh_process(work, folder)
        bytes_a_row = round(size / (n_files // 10 * n_rows), 1)
    for name, spent, told in measured:
        rows, columns = told["rows"], told["columns"]
        results.append(
            line(
                f"{name}: {rows:,} rows × {columns}", "–", spent, None, told.pop("agree", True),
                kind="parquet", what=name, bytes_a_row=bytes_a_row,
                rows_a_second=round(rows / spent.wall), **told,
            )
        )  # fmt: skip
    return results


def _on(address: str | None, warm: Callable[[], Any], work: Callable[[], Any]) -> Seconds:
    """The faster of two runs, on a cluster whose workers have compiled and hold what they need."""
    with cluster(address):
        warm()
        return min((timed(work) for _ in range(2)), key=lambda spent: spent.wall)


def _workers(
    name: str,
    warm: Callable[[], Any],
    work: Callable[[], Any],
    same: Callable[[Any, Any], bool],
) -> list[dict]:
    two, one, none = (_on(address, warm, work) for address in ("local:2", "local:1", None))
    agree = same(two.value, one.value) and same(one.value, none.value)
    return [
        line(
            f"{name} on two workers", "our own, on one", two, one, agree,
            kind="workers", what=name, none_s=round(none.wall, 5),
            none_user_s=round(none.user, 5),
        )
    ]  # fmt: skip


def _workers_counting(quick: bool) -> list[dict]:
    """Every block is counted several times over, which saves the time to make as many."""
    n_blocks, n_rows, n_features = (2, 5_000, 10_000) if quick else (4, 500_000, 100_000)
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        sources = _written(folder, n_blocks, n_rows, n_features) * (2 if quick else 32)
        blocks = MatrixBlocks.of(sources)
        name = f"counting {len(blocks):,} rows of {n_features:,} features"
        return _workers(
            name,
            lambda: count_blocks(blocks),
            lambda: count_blocks(blocks),
            lambda one, other: _mark(one) == _mark(other),
        )


def _workers_inducing(quick: bool) -> list[dict]:
    n_blocks, n_rows, n_features = (8, 500, 1_000) if quick else (16, 12_500, 10_000)
    with tempfile.TemporaryDirectory(prefix="featloom-scale-") as folder:
        sources = _written(folder, n_blocks, n_rows, n_features, ones=20)
        blocks = MatrixBlocks.of(sources)
        return _workers(
            f"induction by MI, all pairs, {len(blocks):,} rows of {n_features:,} features",
            lambda: _induced(blocks),
            lambda: _induced(blocks),
            lambda one, other: (
                np.array_equal(one.parts_, other.parts_)
                and np.array_equal(one.scores_, other.scores_)
            ),
        )


def _workers_searching(strategy: str) -> Callable[[bool], list[dict]]:
    """A generation of the genetic search holds fewer and fewer strings that are new, and so has
    less and less to share; the exhaustive one is as parallel as a search can be."""

    def bench(quick: bool) -> list[dict]:
        table, trials = table_of(2_000 if quick else 20_000), (20 if quick else 100)
        valid = table.take(np.arange(len(table) // 5))
        learn = table.take(np.arange(len(table) // 5, len(table)))

        def searched(trials: int) -> list[tuple]:
            found = MemorySearch(strategy=strategy, trials=trials, random_state=0)
            found.fit(learn, X_valid=valid)
            return [(one.candidate, one.result) for one in found.history_]

        return _workers(
            f"{strategy} memory search of {trials} settings, {len(table):,} rows",
            lambda: searched(20),
            lambda: searched(trials),
            lambda one, other: one == other,
        )

    return bench


class TimedJournal(Journal):
    """A journal that adds up the seconds it takes to write."""

    spent = 0.0

    def append(self, *what, **how):
        begun = time.perf_counter()
        evaluation = super().append(*what, **how)
        self.spent += time.perf_counter() - begun
        return evaluation


def _take_time(candidate: dict) -> float:
    time.sleep(EVALUATION)
    return float(candidate["k"])


def _journal(quick: bool) -> list[dict]:
    """The same search with and without a journal; the share is that of the time spent on it."""
    space = SearchSpace({"k": list(range(10 if quick else 200))})

    def run(journal: Journal | None) -> Seconds:
        return timed(lambda: len(search(_take_time, Exhaustive(space), journal=journal)))

    run(None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.journal")
        opened = timed(lambda: TimedJournal(path, data="none", search={"k": 1}))
        journal = opened.value
        kept = run(journal)
        closed = timed(journal.close)
        bare = run(None)
    share = (opened.wall + journal.spent + closed.wall) / kept.wall
    name = f"search of {len(space)} evaluations of 50 ms, with a journal"
    told = {"kind": "journal", "overhead": round(share, 5)}
    return [line(name, "our own, without", kept, bare, kept.value == bare.value, **told)]


if __name__ == "__main__":
    # Of the processes that this one starts: a rate is that of one core.
    os.environ |= {f"{what}_NUM_THREADS": "1" for what in ("NUMBA", "OMP", "OPENBLAS", "MKL")}
    os.environ["POLARS_MAX_THREADS"] = "1"
    run_each(
        {f"growth of {name}": growth_of(name) for name in METHODS}
        | {
            "blocks": _blocks,
            "parquet": _parquet,
            "workers, counting": _workers_counting,
            "workers, inducing": _workers_inducing,
            **{
                f"workers, {strategy} search": _workers_searching(strategy)
                for strategy in ("genetic", "guided", "exhaustive")
            },
            "journal": _journal,
        }
    )
