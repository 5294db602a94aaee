"""The same seed, the same result: across runs, hash seeds, threads, processes, caches, a cluster.

    python benchmarks/determinism.py [--only memory]

Every command is run once, and then again in other circumstances; the results are compared as they
stand in ``result.json``, but for times, versions and the command.  A search that ends by the clock
can find more on another day, so of those the journal is replayed: the run is resumed, and must say
again what it said before.

Prints a line of JSON a comparison; exit code 1 where two results differ.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from disturbed import SAME, chunks, compared, end_of, letters, result_of, start

ONE, TWO = ["--jobs", "1"], ["--jobs", "2"]
DASK = ["--dask", "local:2"]
# Circumstances: what is said on the command line, and what in the environment.
ALIKE: dict[str, tuple[list[str], dict[str, str]]] = {
    "another run": (ONE, {}),
    "another hash seed": (ONE, {"PYTHONHASHSEED": "77"}),
    "two threads or processes": (TWO, {"PYTHONHASHSEED": "1"}),
    "one thread for all numerics": (TWO, {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    "nothing compiled yet": (ONE, {"NUMBA_CACHE_DIR": "compiled"}),
    "two Dask workers": (DASK, {}),
}
LETTERS, BLOCKS = ["letters.csv", "--target", "sound"], ["letters", "--target", "sound"]
COMMANDS: dict[str, list[str]] = {
    "induce": ["induce", *LETTERS],
    "induce, grid": ["induce", *LETTERS, "--search"],
    "induce, residual gain": ["induce", *LETTERS, "--score", "residual"],
    "induce, blocks": ["induce", *BLOCKS],
    "grow": ["grow", *LETTERS, "--trees", "5"],
    "grow, blocks": ["grow", *BLOCKS],
    "select": ["select", "chunks.conll", "--max-templates", "12"],
    "memory, genetic": ["memory", *LETTERS, "--strategy", "genetic", "--trials", "60"],
    "memory, guided": ["memory", *LETTERS, "--trials", "60"],
    "transfer": ["transfer", *LETTERS, "--task", "c0"],
    "discover": ["discover", *LETTERS, "--budget", "2h"],
    "discover, sentences": ["discover", "chunks.conll", "--budget", "2h"],
}
WITHOUT_CLUSTER = ("induce", "induce, residual gain", "grow", "transfer")
BY_THE_CLOCK: dict[str, list[str]] = {
    "memory, 10 s": ["memory", *LETTERS, "--budget", "10s", *TWO],
    "select, 10 s": ["select", "chunks.conll", "--budget", "10s"],
    "discover, 30 s": ["discover", *LETTERS, "--budget", "30s", *TWO],
}


def run(words: list[str], folder: Path, env: dict[str, str] | None = None):
    """The result of a command, or what it said."""
    for left in ("run", "compiled"):
        shutil.rmtree(folder / left, ignore_errors=True)
    how = end_of(start([*words, "--out", "run", "--quiet", "--seed", "3"], folder, env))
    return result_of(folder / "run") if how == "done" else how


def told(command: str, against: str, how: str) -> bool:
    row = {
        "bench": f"{command}: {against}", "kind": "determinism", "command": command,
        "against": against, "ended": how,
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    return how == SAME


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="commands whose name begins so")
    only = parser.parse_args().only
    same = []
    with TemporaryDirectory(prefix="featloom-same-") as name:
        folder = Path(name)
        letters(folder, 1_000)
        chunks(folder, 60)
        for command, words in COMMANDS.items():
            if not command.startswith(only):
                continue
            first = run([*words, *ONE], folder)
            for against, (more, env) in ALIKE.items():
                if more is DASK and command in WITHOUT_CLUSTER:
                    continue
                again = run([*words, *more], folder, env)
                same.append(told(command, against, compared(first, again)))
        for command, words in BY_THE_CLOCK.items():
            if not command.startswith(only):
                continue
            first = run(words, folder)
            how = end_of(start(["resume", "run", "-q"], folder))
            again = result_of(folder / "run") if how == "done" else how
            same.append(told(command, "its journal replayed", compared(first, again)))
    return int(not all(same))


if __name__ == "__main__":
    sys.exit(main())
