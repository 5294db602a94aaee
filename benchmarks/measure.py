"""One way to measure: best of several runs, wall and user CPU, peak memory of a fresh process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seconds:
    """The fastest of several runs."""

    wall: float
    user: float
    value: Any


def fastest(work: Callable[[], Any], times: int = 3) -> Seconds:
    """Run a piece of work several times after one run that is not counted (compilation)."""
    work()
    best: Seconds | None = None
    for _ in range(times):
        wall, user = time.perf_counter(), os.times().user
        value = work()
        wall, user = time.perf_counter() - wall, os.times().user - user
        if best is None or wall < best.wall:
            best = Seconds(wall, user, value)
    assert best is not None
    return best


def peak_megabytes() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def line(bench: str, peer: str, ours: Seconds, theirs: Seconds | None, agree: bool, **more) -> dict:
    """One result: how many times faster than the peer, and whether the answers agree."""
    return {
        "bench": bench,
        "peer": peer,
        "ours_s": round(ours.wall, 5),
        "ours_user_s": round(ours.user, 5),
        "peer_s": None if theirs is None else round(theirs.wall, 5),
        "peer_user_s": None if theirs is None else round(theirs.user, 5),
        "ratio": None if theirs is None else round(theirs.wall / ours.wall, 2),
        "agree": agree,
        "peak_mb": round(peak_megabytes()),
        **more,
    }


def run_each(benches: dict[str, Callable[[bool], list[dict]]]) -> None:
    """The main program of a benchmark file: every bench in a process of its own, a line a result.

    ``--quick`` makes each small; ``--only NAME`` runs one.
    """
    quick = "--quick" in sys.argv
    if "--only" in sys.argv:
        name = sys.argv[sys.argv.index("--only") + 1]
        for result in benches[name](quick):
            print(json.dumps(result), flush=True)
        return
    for name in benches:
        command = [sys.executable, sys.argv[0], "--only", name, *(["--quick"] if quick else [])]
        subprocess.run(command, check=True)
