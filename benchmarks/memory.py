"""Memory-based learning against TiMBL, on the whole of letter to sound and on a larger task.

``python benchmarks/memory.py [--quick] [--only NAME]``; FEATLOOM_DATA names the folder with the
corpora.  TiMBL is Debian's package ``timbl``; where it is not installed a line on standard error
says so, and ours is measured alone.  TiMBL's time is that of its own process, reading included;
beside ours on codes in memory stands ours from the file, reading included.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from generate import known_words
from measure import Seconds, fastest, line, run_each

from featloom.counts.values import WEIGHTS
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import Comparison
from featloom.learners.memory import MemoryClassifier
from featloom.learners.neighbours import count_correct
from featloom.methods.memory_search.export import write_timbl

KS = tuple(range(1, 22, 2))
_TIMBL_NAMES = {"none": "nw", "gain_ratio": "gr", "overlap": "O", "mvdm": "M"}


def _letters(quick: bool) -> tuple[NominalTable, NominalTable]:
    train = load("gs-cmudict", "train")
    valid = train.recode(load("gs-cmudict", "valid"))
    if quick:
        train, valid = train.take(np.arange(20_000)), valid.take(np.arange(2_000))
    return train, valid


def _timbl(train: NominalTable, valid: NominalTable, options: str) -> tuple[Seconds, list] | None:
    """TiMBL's time and answers; None where it is not installed."""
    if shutil.which("timbl") is None:
        print("timbl is not installed: apt-get install timbl", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("train", "valid", "out")]
        write_timbl(train, paths[0])
        write_timbl(valid, paths[1], unknown="?")
        command = f"timbl -f {paths[0]} -t {paths[1]} -o {paths[2]} -F Tabbed {options}"
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command.split(), check=True, capture_output=True)
        wall = time.perf_counter() - wall
        user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime
        answers = [row.rsplit("\t", 1)[1] for row in paths[2].read_text().splitlines()]
    return Seconds(wall, user, None), answers


def _against_timbl(metric: str, weights: str, k: int, quick: bool) -> list[dict]:
    train, valid = _letters(quick)

    def ours():
        memory = MemoryClassifier(k=k, weights=weights, metric=metric, compat="timbl")
        return memory.fit(train).predict(valid)

    seconds = fastest(ours)
    right = np.array([*valid.classes, None], dtype=object)[valid.labels] == seconds.value
    result = line(
        f"letter to sound, {metric}, {weights}, k={k}: index and search", "TiMBL 6.5",
        seconds, None, True, accuracy=float(right.mean()), rows=[len(train), len(valid)],
    )  # fmt: skip
    names = _TIMBL_NAMES
    theirs = _timbl(train, valid, f"-m {names[metric]} -w {names[weights]} -k {k}")
    if theirs is not None:
        peer, answers = theirs
        differing = int((np.array(answers, dtype=object) != seconds.value).sum())
        result |= {
            "peer_s": round(peer.wall, 3),
            "peer_user_s": round(peer.user, 3),
            "ratio": round(peer.wall / seconds.wall, 1),
            "agree": differing == 0,
            "differing": differing,
        }
    return [result]


def _all_k(quick: bool) -> list[dict]:
    """All eleven k of MVDM against one."""
    train, valid = _letters(quick)

    def work(ks):
        memory = _memory(train)
        how = _how(memory, "mvdm", "gain_ratio")
        return count_correct(memory, Queries(valid.codes, valid.labels), how, ks)

    one, every = fastest(lambda: work([5])), fastest(lambda: work(KS))
    same = bool(one.value[0] == every.value[KS.index(5)])
    return [
        line("letter to sound, mvdm, gain_ratio, all 11 k at once", "k=5 alone", every, one, same)
    ]


def _grid(quick: bool) -> list[dict]:
    """The paper's exhaustive grid: 11 k × 5 weights × 2 metrics, on one and on two threads."""
    train, valid = _letters(quick)

    def work(threads):
        memory, queries = _memory(train), Queries(valid.codes, valid.labels)
        return {
            (metric, weights): count_correct(
                memory, queries, _how(memory, metric, weights), KS, threads=threads
            ).tolist()
            for metric, weights in itertools.product(("overlap", "mvdm"), WEIGHTS)
        }

    one, two = fastest(lambda: work(1), times=1), fastest(lambda: work(2), times=1)
    same = one.value == two.value
    best = max(max(right) for right in one.value.values()) / len(valid)
    return [
        line("letter to sound, the paper's grid of 110 settings, 2 threads", "1 thread", two, one,
             same, accuracy=best)
    ]  # fmt: skip


def _known_words(quick: bool) -> list[dict]:
    """836,000 × 104,000 generated words, 11 features, one of them with 50,000 values."""
    n, n_valid = (20_000, 2_000) if quick else (836_000, 104_000)
    codes, labels, n_values, n_classes = known_words(n + n_valid)
    results = []
    for metric, weights, ks in (
        ("overlap", "gain_ratio", [1]),
        ("mvdm", "gain_ratio", [5]),
        ("mvdm", "none", [5]),
        ("mvdm", "gain_ratio", KS),
    ):

        def work(metric=metric, weights=weights, ks=ks):
            memory = Memory(codes[:n], labels[:n], n_values, n_classes)
            how = _how(memory, metric, weights)
            return count_correct(memory, Queries(codes[n:], labels[n:]), how, ks)

        seconds = fastest(work, times=1)
        which = f"k={ks[0]}" if len(ks) == 1 else f"all {len(ks)} k"
        accuracy = float(seconds.value.max() / n_valid)
        results.append(
            line(f"{n:,} × {n_valid:,} generated words, {metric}, {weights}, {which}", "–",
                 seconds, None, True, accuracy=accuracy)
        )  # fmt: skip
    return results


def _memory(train: NominalTable) -> Memory:
    n_values = [len(vocabulary) + 1 for vocabulary in train.vocabularies]
    return Memory(train.codes, train.labels, n_values, len(train.classes))


def _how(memory: Memory, metric: str, weights: str) -> Comparison:
    modes = (metric,) * len(memory.order)
    return Comparison(modes, tuple(memory.weights(weights)), look_further=True, exact_first="first")


if __name__ == "__main__":
    if "FEATLOOM_DATA" not in os.environ:
        sys.exit("FEATLOOM_DATA does not name the folder with the corpora")
    run_each(
        {
            "overlap": lambda quick: _against_timbl("overlap", "gain_ratio", 1, quick),
            "mvdm": lambda quick: _against_timbl("mvdm", "gain_ratio", 5, quick),
            "unweighted": lambda quick: _against_timbl("overlap", "none", 1, quick),
            "all_k": _all_k,
            "grid": _grid,
            "known_words": _known_words,
        }
    )
