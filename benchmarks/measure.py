"""One way to measure: best of several runs, wall and user CPU, peak memory of a fresh process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
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
    return best_of(work, times)


def best_of(work: Callable[[], Any], times: int, within: float = 0.0) -> Seconds:
    """Run a piece of work several times, and on while fewer than ``within`` seconds are spent."""
    best = timed(work)
    spent, n = best.wall, 1
    while n < times or spent < within:
        once = timed(work)
        spent, n = spent + once.wall, n + 1
        if once.wall < best.wall:
            best = once
    return best


def timed(work: Callable[[], Any]) -> Seconds:
    """Run a piece of work once; user CPU is that of all threads of this process."""
    wall, user = time.perf_counter(), user_seconds()
    value = work()
    return Seconds(time.perf_counter() - wall, user_seconds() - user, value)


def user_seconds() -> float:
    """User CPU of this process so far, to the microsecond where the system knows it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own, so that memory taken before does not count."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


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
