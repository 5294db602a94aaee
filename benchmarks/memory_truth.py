"""The truth about a search: every setting there is, and where each strategy's answer stands.

The simultaneous space of memory-based learning is finite: five weights × (3^features − 1) modes ×
eleven values of k, and one fit answers all k.  On data with few features all of it can be
evaluated, so that a search is judged against the best setting there is, and not against other
searches.  The table of a data set takes from seconds to an hour and is kept in a file; a run that
was stopped goes on where it was.

    python benchmarks/memory_truth.py enumerate ppattach
    python benchmarks/memory_truth.py rank ppattach
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from pathlib import Path

import numpy as np

from featloom.counts.values import WEIGHTS
from featloom.data.tasks.ready import load
from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import MODES, Comparison
from featloom.learners.neighbours import count_correct

KS = tuple(range(1, 22, 2))
# Rows of training and validation data; None: all.
SIZES: dict[str, tuple[int | None, int | None]] = {
    "gs-cmudict": (200_000, 5_000),
    "ppattach": (None, None),
    "pos-unknown": (4_000, 1_000),
}


def memory_of(name: str) -> tuple[Memory, Queries, tuple[str, ...]]:
    """The memory of a corpus' training part, and its validation rows or a sample of them."""
    n_train, n_valid = SIZES[name]
    train = load(name, "train")
    valid = train.recode(load(name, "valid"))
    train = train.take(np.arange(len(train))[:n_train])
    rows = np.sort(np.random.default_rng(0).permutation(len(valid))[:n_valid])
    n_values = [len(vocabulary) + 1 for vocabulary in train.vocabularies]
    memory = Memory(train.codes, train.labels, n_values, len(train.classes))
    return memory, Queries(valid.codes[rows], valid.labels[rows]), train.columns


def enumerate_all(name: str, folder: Path, share: int = 0, of: int = 1) -> Path:
    """Evaluate every setting; scores are (modes, weights, k), modes as numbers in base three."""
    memory, queries, columns = memory_of(name)
    path = folder / f"{name}.{share}of{of}.npz"
    n = 3 ** len(columns)
    right = np.full((n, len(WEIGHTS), len(KS)), -1, dtype=np.int32)
    if path.exists():
        right = np.load(path)["right"]
    weights = [tuple(memory.weights(weight)) for weight in WEIGHTS]
    modes = list(itertools.product(range(3), repeat=len(columns)))
    # Settings that use the same columns share their trie, so they go together.
    todo = sorted(range(share + 1, n, of), key=lambda i: tuple(mode > 0 for mode in modes[i]))
    started = saved = time.monotonic()
    for done, i in enumerate(todo):
        if right[i, 0, 0] >= 0:
            continue
        for j in range(len(WEIGHTS)):
            how = Comparison(
                tuple(MODES[mode] for mode in modes[i]), weights[j],
                look_further=True, exact_first="first",
            )  # fmt: skip
            right[i, j] = count_correct(memory, queries, how, KS)
        now = time.monotonic()
        if now - saved > 60 or done == len(todo) - 1:
            saved = now
            _save(path, right, len(queries), columns)
            print(f"{name}: {done + 1} of {len(todo)} modes, {now - started:.0f} s", flush=True)
    _save(path, right, len(queries), columns)
    return path


def _save(path: Path, right: np.ndarray, n: int, columns: tuple[str, ...]) -> None:
    part = path.with_suffix(".part.npz")
    np.savez_compressed(part, right=right, n=n, columns=np.array(columns), ks=KS)
    os.replace(part, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["enumerate"])
    parser.add_argument("corpus", choices=list(SIZES))
    parser.add_argument("--tables", type=Path, default=Path("benchmarks/tables"))
    parser.add_argument("--share", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    given = parser.parse_args()
    given.tables.mkdir(parents=True, exist_ok=True)
    enumerate_all(given.corpus, given.tables, given.share, given.of)
