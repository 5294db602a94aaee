"""Evaluations that may take so long and no longer."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

from featloom.pool import PastLimit, time_limit
from featloom.search import Exhaustive, Journal, SearchSpace, search

LONG = 60.0  # seconds: nothing here takes so long


def spin(seconds=LONG):
    """Python code, which comes back to the interpreter all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


# ── a block ──


def test_a_block_past_its_limit_is_left():
    with (
        pytest.raises(PastLimit, match=r"it took longer than 0\.1 s") as past,
        time_limit(0.1) as limit,
    ):
        spin()
    assert past.value is limit


def test_a_limit_is_no_error_that_a_library_may_swallow():
    def swallow():
        try:
            spin()
        except Exception:
            pytest.fail("it was swallowed")

    with pytest.raises(PastLimit), time_limit(0.1):
        swallow()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_that_is_lost_comes_again():
    class Destroyed:
        def __del__(self):
            spin(0.3)

    def lose_one():
        destroyed = Destroyed()
        del destroyed  # what is raised in a destructor is printed and forgotten
        spin()

    with pytest.raises(PastLimit), time_limit(0.1):
        lose_one()


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (0.1, LONG, ["outer"]),
        (LONG, 0.1, ["inner", "none"]),
        (0.5, 0.1, ["inner", "outer"]),
    ],
)
def test_of_limits_within_one_another_each_is_known_by_itself(outer, inner, expected):
    came = []

    def within(second):
        with time_limit(inner) as limit:
            second.append(limit)
            spin()

    def around(first):
        with time_limit(outer) as limit:
            first.append(limit)
            second = []
            try:
                within(second)
            except PastLimit as past:
                came.append("inner" if past is second[0] else "outer")
                if past is limit:
                    return
            spin(LONG if outer < LONG else 0.2)
            came.append("none")

    first = []
    try:
        around(first)
    except PastLimit as past:
        came.append("outer" if past is first[0] else "inner")
    assert came == expected
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_nothing_rings_after_a_block_that_was_in_time():
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(0.2):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before
    spin(0.3)


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_leaves_no_alarm(fault):
    with pytest.raises(fault), time_limit(0.2):
        raise fault
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_infinite_limit_and_other_threads_set_no_alarm():
    with time_limit(math.inf):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    ends = []

    def elsewhere():
        with time_limit(0.05):
            spin(0.2)
        ends.append(True)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert ends == [True]


def many_kernels(n):
    """So many different functions that their compilation takes a while."""
    for place in range(n):
        body = "\n".join(f"    total += values[{place}] * {k} + np.sqrt(total)" for k in range(30))
        scope = {"np": np}
        exec(f"def kernel(values):\n    total = 1.0\n{body}\n    return total", scope)
        numba.njit(scope["kernel"])(np.arange(float(n)))


def test_compilation_does_not_count():
    begun = time.monotonic()
    with time_limit(LONG):
        many_kernels(2)
    took = time.monotonic() - begun
    # Of as many again, most is compilation: half of their time is enough for what is left.
    with time_limit(max(took / 2, 0.05)):
        many_kernels(2)


# ── evaluations ──


class Bounded:
    """Evaluations with a limit each; of one past it is made what is said here."""

    def limit(self, candidate):
        return candidate.get("limit")

    def past_limit(self, candidate):
        return {"score": -1.0, "said": f"past {candidate['limit']:g} s", "process": os.getpid()}

    def __call__(self, candidate):
        if candidate["k"] == "python":
            spin()
        elif candidate["k"] == "kernel":
            endless(1_000_000_000_000)
        return {"score": 1.0, "process": os.getpid()}


@numba.njit(nogil=True)
def endless(n):
    x = 0.5
    for _ in range(n):
        x = 3.9 * x * (1.0 - x)
    return x


def candidates(*kinds, limit=1.0):
    return Exhaustive(SearchSpace({"k": list(kinds), "limit": [limit]}))


def said(history):
    return [(one.candidate["k"], one.result.get("said")) for one in history]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_evaluation_past_its_limit_becomes_what_is_said_of_it(tmp_path, jobs):
    asked = ("quick", "python", "also quick")
    with Journal(tmp_path / "a.journal", data="d", search={}) as journal:
        history = search(Bounded(), candidates(*asked), jobs=jobs, journal=journal)
    expected = [("quick", None), ("python", "past 1 s"), ("also quick", None)]
    assert said(history) == expected
    with Journal(tmp_path / "a.journal", data="d", search={}) as journal:
        again = search(Bounded(), candidates(*asked), jobs=jobs, journal=journal)
    assert (again, again.replayed) == (history, 3)


def test_a_limit_costs_its_worker_nothing_where_the_interpreter_has_its_turn():
    history = search(Bounded(), candidates("python", *"abcdef"), jobs=1)
    assert said(history)[0] == ("python", "past 1 s")
    assert {one.result["process"] for one in history} == {os.getpid()}


def test_a_kernel_that_never_comes_back_ends_its_worker_and_the_others_go_on():
    kinds = ("a", "kernel", "b", "c", "d")
    history = search(Bounded(), candidates(*kinds), jobs=2)
    expected = [(kind, "past 1 s" if kind == "kernel" else None) for kind in kinds]
    assert said(history) == expected
    workers = {one.result["process"] for one in history if one.candidate["k"] != "kernel"}
    assert os.getpid() not in workers


def test_without_a_limit_nothing_is_bounded():
    history = search(Bounded(), candidates("a", "b", limit=None), jobs=2)
    assert said(history) == [("a", None), ("b", None)]


def test_an_evaluate_that_bounds_nothing_needs_to_say_nothing():
    history = search(lambda candidate: 1.0, candidates("a", "b"), jobs=1)
    assert [one.score for one in history] == [1.0, 1.0]


ALONE = """
import os
from pathlib import Path
from featloom.search import Exhaustive, SearchSpace, Budget, search

def evaluate(candidate):
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return {"score": 1.0, "process": os.getpid(), "children": children.read_text().split()}

space = SearchSpace({"k": list(range(5))})
history = search(evaluate, Exhaustive(space), jobs=1, budget=Budget(seconds=60, hard=True))
assert {one.result["process"] for one in history} == {os.getpid()}
assert [one.result["children"] for one in history] == [[]] * 5
import sys
assert "joblib.externals.loky" not in sys.modules
print("alone")
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="children are told by /proc")
def test_one_job_starts_no_process():
    found = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("alone\n", "")
    assert multiprocessing.current_process().name == "MainProcess"
