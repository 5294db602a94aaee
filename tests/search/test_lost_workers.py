"""Workers on this machine that die, or are stopped and never heard of again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from climbing import SPACE, Climb, evaluate

import featloom.pool
from featloom.errors import InputError
from featloom.search import Exhaustive, Journal, SearchSpace, search


@pytest.fixture(scope="module")
def on_one_core():
    return results(search(evaluate, Climb(SPACE)))


def results(history):
    return [[e.candidate, e.result] for e in history]


class Strikes:
    """Evaluates as it should, but the first who comes to a marked candidate suffers a signal."""

    def __init__(self, number: signal.Signals, folder: Path, times: int = 1):
        self.number, self.folder, self.times = number, folder, times
        self.home = os.getpid()

    def __call__(self, candidate):
        for number in range(self.times):
            marker = self.folder / f"struck-{number}"
            if not marker.exists() and os.getpid() != self.home:
                marker.touch()
                os.kill(os.getpid(), self.number)
        return evaluate(candidate)


@pytest.mark.parametrize("jobs", [2, 3])
def test_a_worker_that_is_killed_costs_time_only(tmp_path, on_one_core, jobs):
    history = search(Strikes(signal.SIGKILL, tmp_path, times=2), Climb(SPACE), jobs=jobs)
    assert (tmp_path / "struck-1").exists()
    assert results(history) == on_one_core


def test_a_worker_that_is_stopped_is_ended_and_costs_time_only(tmp_path, on_one_core, monkeypatch):
    monkeypatch.setattr(featloom.pool, "HUNG", 5.0)
    history = search(Strikes(signal.SIGSTOP, tmp_path), Climb(SPACE), jobs=2)
    assert (tmp_path / "struck-0").exists()
    assert results(history) == on_one_core


def test_workers_that_die_one_after_the_other_end_the_search_with_a_sentence():
    def die(candidate):
        os._exit(3)

    space = SearchSpace({"k": [1, 2, 3]})
    said = r"a worker process died, 4 times one after the other, perhaps for want of memory"
    with pytest.raises(InputError, match=said):
        search(die, Exhaustive(space), jobs=2)


# ── an evaluation that its process does not survive ──


class Deadly:
    """Ends its process with one of the candidates; the others take long enough to be at work."""

    def __init__(self, folder: Path, home: int | None = None):
        self.folder, self.home = folder, os.getpid() if home is None else home

    def died(self, candidate):
        return {"score": -1.0, "fault": "it ended its process twice"}

    def __call__(self, candidate):
        assert os.getpid() != self.home
        with (self.folder / f"begun-{candidate['k']}").open("a") as file:
            file.write("begun\n")
        if candidate["k"] == 5:
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return {"score": float(candidate["k"])}


@pytest.mark.parametrize("jobs", [2, 4])
def test_an_evaluation_that_ends_its_process_again_is_a_fault_and_the_others_go_on(tmp_path, jobs):
    space = SearchSpace({"k": list(range(12))})
    belongs_to = {"data": "d", "search": {}}
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        history = search(Deadly(tmp_path), Exhaustive(space), jobs=jobs, journal=journal)
    found = {one.candidate["k"]: one.result for one in history}
    assert found.pop(5) == {"score": -1.0, "fault": "it ended its process twice"}
    assert found == {k: {"score": float(k)} for k in range(12) if k != 5}
    # Once beside others, once alone, and never a third time.
    assert (tmp_path / "begun-5").read_text() == "begun\n" * 2
    # Whoever resumes finds it in the journal.
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        again = search(Deadly(tmp_path), Exhaustive(space), jobs=jobs, journal=journal)
    assert results(again) == results(history)
    assert (tmp_path / "begun-5").read_text() == "begun\n" * 2


class DiesOnce(Strikes):
    """Ends its process once, whatever it is asked, and would say so of whom it met twice."""

    def died(self, candidate):
        raise AssertionError("none did twice")


def test_one_that_was_at_work_beside_it_is_not_taken_for_it(tmp_path, on_one_core):
    history = search(DiesOnce(signal.SIGKILL, tmp_path), Climb(SPACE), jobs=3)
    assert (tmp_path / "struck-0").exists()
    assert results(history) == on_one_core


def test_many_that_end_their_processes_are_each_a_fault(tmp_path):
    class All(Deadly):
        def __call__(self, candidate):
            os.kill(os.getpid(), signal.SIGKILL)

    history = search(All(tmp_path), Exhaustive(SearchSpace({"k": list(range(6))})), jobs=2)
    assert [one.result["fault"] for one in history] == ["it ended its process twice"] * 6


# ── a process that may have no children ──

DAEMON = """
import multiprocessing, sys, time
from featloom.search import Budget, Exhaustive, SearchSpace, search

def endless(candidate):
    if candidate["k"]:
        time.sleep(60)
    return {"score": 0.0}

def run(told):
    limits = Budget(seconds=2, hard=True)
    history = search(endless, Exhaustive(SearchSpace({"k": [0, 1, 2]})), jobs=2, budget=limits)
    told.send((len(history), history.stopped))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=run, args=(there,), daemon=True)
    begun = time.monotonic()
    process.start()
    assert here.poll(30), "the deadline was passed over"
    print(*here.recv(), time.monotonic() - begun < 30)
"""


def test_in_a_process_without_children_the_deadline_counts_too(tmp_path):
    (tmp_path / "daemon.py").write_text(DAEMON)
    answer = subprocess.run(
        [sys.executable, str(tmp_path / "daemon.py")], capture_output=True, text=True, timeout=90
    )
    assert answer.stdout.split() == ["1", "budget", "True"], answer.stderr
