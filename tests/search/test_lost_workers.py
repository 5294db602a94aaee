"""Workers on this machine that die, or are stopped and never heard of again."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from climbing import SPACE, Climb, evaluate
from joblib.externals.loky import get_reusable_executor

import featloom.search.heartbeats
from featloom.errors import InputError
from featloom.search import Exhaustive, SearchSpace, search
from featloom.search.workers import end_workers


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
    monkeypatch.setattr(featloom.search.heartbeats, "HUNG", 3.0)
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


def test_workers_are_ended_without_a_word_with_work_that_nobody_has_got(monkeypatch):
    said = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    for _ in range(5):
        pool = get_reusable_executor(1)
        pool.submit(int).result()
        late = pool.submit(time.sleep, 60)
        end_workers(pool)
        assert late.exception() is not None
    assert said == []


def test_only_children_of_this_process_are_ever_ended(tmp_path):
    """A number may be a stranger's by the time that its file is old."""
    stranger = tmp_path / str(os.getppid())
    stranger.write_bytes(bytes(8))
    assert list(featloom.search.heartbeats._hung(tmp_path, 1.0)) == []
    assert not stranger.exists()
