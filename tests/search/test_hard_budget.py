"""A hard budget of seconds ends what is under way, and a replay stops where the search did."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from climbing import BELONGS_TO

from featloom.errors import InputError
from featloom.search import Budget, Exhaustive, Journal, SearchSpace, Stop, search

LONG = 60  # seconds: none of these evaluations comes to its end


def quick_then_endless(candidate):
    """The first few are there at once; the next one would take a minute."""
    if candidate["k"] < 3:
        return {"score": candidate["k"], "process": os.getpid()}
    threading.Event().wait(LONG)
    return {"score": 0.0, "process": os.getpid()}


def candidates(n=6):
    return Exhaustive(SearchSpace({"k": list(range(n))}))


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_end_at_the_deadline_and_what_was_finished_is_kept(tmp_path, jobs):
    path, limits = tmp_path / "a.journal", Budget(seconds=10, hard=True)
    begun = time.monotonic()
    with Journal(path, **BELONGS_TO) as journal:
        history = search(
            quick_then_endless, candidates(), journal=journal, jobs=jobs, budget=limits
        )
    assert time.monotonic() - begun < LONG / 2
    assert history.stopped == "budget"
    assert [one.candidate["k"] for one in history] == [0, 1, 2]
    workers = {one.result["process"] for one in history}
    # One job is done here, and starts no other process.
    assert (os.getpid() in workers) == (jobs == 1)
    for worker in workers - {os.getpid()}:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    with Journal(path, **BELONGS_TO) as journal:
        assert journal.stops == [Stop(3, "budget of 10 s")]
        again = search(quick_then_endless, candidates(), journal=journal, jobs=jobs, budget=limits)
        assert again == history
        assert again.replayed == 3
        assert again.stopped == "budget"


def score(candidate):
    return candidate["k"]


def test_a_replay_stops_at_the_count_of_the_same_budget_and_a_longer_one_goes_on(tmp_path):
    with Journal(tmp_path / "a.journal", **BELONGS_TO) as journal:
        for k in range(4):
            journal.append({"k": k}, k, seconds=0.1, elapsed=0.1 * (k + 1))
        journal.record_stop(4, "budget of 5 s")
        same = search(score, candidates(), journal=journal, budget=Budget(seconds=5, hard=True))
        assert (len(same), same.replayed, same.stopped) == (4, 4, "budget")
        longer = search(score, candidates(), journal=journal, budget=Budget(seconds=30, hard=True))
        assert (len(longer), longer.replayed, longer.stopped) == (6, 4, "finished")
        assert journal.stops[-1] == Stop(6, "finished")


def test_time_that_earlier_sessions_took_counts(tmp_path):
    with Journal(tmp_path / "a.journal", **BELONGS_TO) as journal:
        journal.append({"k": 0}, 0, seconds=7.0, elapsed=7.0)
        history = search(score, candidates(), journal=journal, budget=Budget(seconds=6, hard=True))
    assert len(history) == 1
    assert history.stopped == "budget"


@pytest.mark.parametrize("jobs", [1, 2])
def test_with_time_enough_a_hard_budget_changes_nothing(jobs):
    limits = Budget(seconds=LONG, hard=True)
    assert search(score, candidates(20), jobs=jobs, budget=limits) == search(score, candidates(20))


def test_the_loops_process_outlives_its_deadline_and_hears_ctrl_c():
    handler = signal.getsignal(signal.SIGINT)
    search(score, candidates(), jobs=1, budget=Budget(seconds=LONG, hard=True))
    assert signal.getsignal(signal.SIGINT) is handler


def process_of(candidate):
    return {"score": 0.0, "process": os.getpid()}


def test_a_worker_that_is_idle_when_its_time_is_up_serves_the_next_search():
    """The deadline of a search that is over is no deadline for the next one."""
    search(process_of, candidates(8), jobs=2, budget=Budget(seconds=2, hard=True))

    def until_after_the_first_deadline(candidate):
        threading.Event().wait(3)
        return 1.0

    history = search(until_after_the_first_deadline, candidates(1), jobs=2)
    assert [one.score for one in history] == [1.0]


def test_an_error_in_the_single_worker_comes_up_as_it_is():
    def fail(candidate):
        raise InputError("k cannot be 0")

    with pytest.raises(InputError) as error:
        search(fail, candidates(), jobs=1, budget=Budget(seconds=LONG, hard=True))
    assert str(error.value) == "k cannot be 0"
    assert error.value.__notes__ == ['while evaluating {"k":0}']
