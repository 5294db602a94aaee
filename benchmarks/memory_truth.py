"""The truth about a search: every setting there is, and where each strategy's answer stands.

The simultaneous space of memory-based learning is finite: five weights × (3^features − 1) modes ×
eleven values of k, and one fit answers all k.  On data with few features all of it can be
evaluated, so that a search is judged against the best setting there is, and not against other
searches.  The table of a data set takes from seconds to an hour and is kept in a file; a run that
was stopped goes on where it was.

    python benchmarks/memory_truth.py ["PP attachment" …] [--tables FOLDER] [--quick]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from featloom.counts.values import WEIGHTS
from featloom.data.tasks.ready import load
from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import MODES, Comparison
from featloom.learners.neighbours import count_correct
from featloom.methods.memory_search.search import STRATEGIES as MAKERS
from featloom.methods.memory_search.settings import KS, SettingSpace
from featloom.search import search

# Corpus, rows of training and of validation data (None: all; a sample is drawn), columns left out.
SIZES: dict[str, tuple[str, int | None, int | None, tuple[str, ...]]] = {
    "letter to sound": ("gs-cmudict", 200_000, 5_000, ()),
    "letter to sound, small": ("gs-cmudict", 50_000, 3_000, ()),
    "PP attachment": ("ppattach", None, None, ()),
    "unknown words": ("pos-unknown", 4_000, 1_000, ("prevtag2",)),
}


def memory_of(name: str) -> tuple[Memory, Queries, tuple[str, ...]]:
    """The memory of a corpus' training part, and its validation rows or a sample of them."""
    corpus, n_train, n_valid, left_out = SIZES[name]
    train = load(corpus, "train")
    valid = train.recode(load(corpus, "valid"))
    train = train.take(np.arange(len(train))[:n_train])
    rows = np.sort(np.random.default_rng(0).permutation(len(valid))[:n_valid])
    kept = [j for j, column in enumerate(train.columns) if column not in left_out]
    n_values = [len(train.vocabularies[j]) + 1 for j in kept]
    memory = Memory(train.codes[:, kept], train.labels, n_values, len(train.classes))
    columns = tuple(train.columns[j] for j in kept)
    return memory, Queries(valid.codes[rows][:, kept], valid.labels[rows]), columns


def enumerate_all(name: str, folder: Path) -> Path:
    """Evaluate every setting; scores are (modes, weights, k), modes as numbers in base three."""
    path = _path(name, folder)
    if path.exists() and (np.load(path)["right"][1:] >= 0).all():
        return path
    memory, queries, columns = memory_of(name)
    n = 3 ** len(columns)
    right = np.full((n, len(WEIGHTS), len(KS)), -1, dtype=np.int32)
    if path.exists():
        right = np.load(path)["right"]
    weights = [tuple(memory.weights(weight)) for weight in WEIGHTS]
    modes = list(itertools.product(range(3), repeat=len(columns)))
    # Settings that use the same columns share their trie, so they go together.
    todo = sorted(range(1, n), key=lambda i: tuple(mode > 0 for mode in modes[i]))
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
            print(
                f"{name}: {done + 1} of {len(todo)} modes, {now - started:.0f} s", file=sys.stderr
            )
    _save(path, right, len(queries), columns)
    return path


def _path(name: str, folder: Path) -> Path:
    return folder / f"{name.replace(', ', '-').replace(' ', '-')}.npz"


def _save(path: Path, right: np.ndarray, n: int, columns: tuple[str, ...]) -> None:
    part = path.with_suffix(".part.npz")
    np.savez_compressed(part, right=right, n=n, columns=np.array(columns), ks=KS)
    os.replace(part, path)


STRATEGIES = {
    "genetic (the paper's)": ("genetic", {}),
    "genetic, mutation .05": ("genetic", {"mutation": 0.05}),
    "forward": ("forward", {}),
    "backward": ("backward", {}),
    "local": ("local", {"fits": 400, "kicks": 400}),
    "guided": ("guided", {}),
    "guided, from nothing": ("guided", {"start": ()}),
}


class Table:
    """The truth of one data set: what every setting is worth."""

    def __init__(self, path: Path):
        with np.load(path) as file:
            self.right, self.n = file["right"], int(file["n"])
            self.columns = [str(name) for name in file["columns"]]
        if (self.right[1:] < 0).any():
            sys.exit(f"{path} is not finished; enumerate it first")
        self.space = SettingSpace(self.columns, KS)
        self.sorted = np.sort(self.right[1:].ravel())
        self.best = int(self.sorted[-1])

    def evaluate(self, candidate: dict) -> dict:
        """What an evaluation would have given."""
        right = self.right[self.place(candidate)]
        scores = [[k, float(r / self.n)] for k, r in zip(KS, right, strict=True)]
        best = int(np.argmax(right))
        return {"score": scores[best][1], "k": scores[best][0], "scores": scores}

    def place(self, candidate: dict) -> tuple[int, int]:
        modes = 0
        for mode in self.space.modes_of(candidate):
            modes = 3 * modes + MODES.index(mode)
        return modes, WEIGHTS.index(candidate["weights"])

    def rank(self, right: int) -> int:
        """How many settings are better, and one."""
        return int(len(self.sorted) - np.searchsorted(self.sorted, right, side="right")) + 1


def rank(name: str, folder: Path, limit: int, seeds: int = 20) -> list[dict]:
    """Where each strategy's answer stands in the truth, and how many fits it took."""
    table = Table(_path(name, folder))
    results = []
    for title, (strategy, options) in STRATEGIES.items():
        rows = []
        for seed in range(1 if strategy in ("forward", "backward") else seeds):
            searcher = MAKERS[strategy](table.space, seed, **options)
            reached = []

            def note(evaluation, searcher=searcher, reached=reached):
                reached.append(round(table.n * searcher.best[1]) if searcher.best else -1)

            history = search(table.evaluate, searcher, on_result=note)
            answer = round(table.n * searcher.best[1])
            # The last result is told to the strategy after it is noted.
            reached = [*reached[1:], answer]
            found_at = reached.index(table.best) + 1 if answer == table.best else None
            rows.append((table.rank(answer), len(history), found_at))
        ranks, fits, found = zip(*rows, strict=True)
        within = [at for at in found if at is not None and at <= limit]
        results.append(
            {
                "bench": f"truth of {name}",
                "peer": title,
                "ratio": None,
                "settings": len(table.sorted),
                "rows": table.n,
                "seeds": len(rows),
                "best": table.best / table.n,
                "found": sum(at is not None for at in found),
                "limit": limit,
                "found_within": len(within),
                "median_rank": float(np.median(ranks)),
                "worst_rank": int(max(ranks)),
                "median_fits": float(np.median(fits)),
                "found_at": sorted(at for at in found if at is not None),
            }
        )
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(SIZES), help="which of them")
    parser.add_argument("--tables", type=Path, default=Path(__file__).parent / "tables")
    parser.add_argument("--quick", action="store_true", help="PP attachment alone")
    given = parser.parse_args()
    given.tables.mkdir(parents=True, exist_ok=True)
    for name in ["PP attachment"] if given.quick else given.tasks:
        enumerate_all(name, given.tables)
        for line in rank(name, given.tables, 40 if name == "PP attachment" else 150):
            print(json.dumps(line), flush=True)
