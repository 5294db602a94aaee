"""The loop evaluates each candidate once, and a resumed search equals an uninterrupted one."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from climbing import BELONGS_TO, SPACE, Climb
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import (
    Budget,
    Exhaustive,
    Interrupted,
    Journal,
    RoundByRound,
    SearchSpace,
    Stop,
    candidate_key,
    search,
)


def evaluate(candidate):
    rugged = sum(map(ord, candidate_key(candidate))) * 7919 % 1009
    return {"score": rugged / 1009, "third": rugged / 3}


class Counting:
    """An evaluation that remembers what it was asked, and may stop in the middle."""

    def __init__(self, stop_at=None):
        self.asked, self.stop_at = [], stop_at

    def __call__(self, candidate):
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(candidate_key(candidate))
        return evaluate(candidate)


WHOLE = search(evaluate, Climb(SPACE, seed=3))


@given(stops=st.lists(st.integers(0, 60), max_size=4))
@settings(max_examples=25, deadline=None)
def test_a_search_resumed_at_any_points_equals_one_that_was_not_interrupted(
    tmp_path_factory, stops
):
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    asked = []
    for stop_at in [*stops, None]:
        counting = Counting(stop_at)
        with Journal(path, **BELONGS_TO) as journal:
            try:
                history = search(counting, Climb(SPACE, seed=3), journal=journal)
            except Interrupted as interrupted:
                history = interrupted.history
            assert len(journal) == len(history)
        asked += counting.asked
        assert history.evaluations == WHOLE[: len(history)]
    assert history == WHOLE
    assert asked == [candidate_key(e.candidate) for e in WHOLE]


@given(budgets=st.lists(st.integers(1, 80), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_a_budget_counts_what_is_found_in_the_journal(tmp_path_factory, budgets):
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    for budget in budgets:
        with Journal(path, **BELONGS_TO) as journal:
            history = search(evaluate, Climb(SPACE, seed=3), journal=journal, trials=budget)
        assert history.evaluations == WHOLE[:budget]
        assert history.stopped == ("budget" if budget <= len(WHOLE) else "finished")


def test_the_journal_says_where_the_search_stopped_and_why(tmp_path):
    path = tmp_path / "a.journal"
    with Journal(path, **BELONGS_TO) as journal:
        search(evaluate, Climb(SPACE, seed=3), journal=journal, trials=5)
        with pytest.raises(Interrupted):
            search(Counting(2), Climb(SPACE, seed=3), journal=journal)
        search(evaluate, Climb(SPACE, seed=3), journal=journal)
        assert journal.stops == [
            Stop(5, "budget"),
            Stop(7, "interrupted"),
            Stop(len(WHOLE), "finished"),
        ]


def test_a_budget_of_seconds_stops_a_replay_at_the_same_place(tmp_path):
    numbers = Exhaustive(SearchSpace({"k": list(range(100_000))}))
    path = tmp_path / "a.journal"
    with Journal(path, **BELONGS_TO) as journal:
        first = search(evaluate, numbers, journal=journal, budget="0.05s")
    assert first.stopped == "budget"
    assert first[-1].elapsed >= 0.05
    assert all(e.elapsed < 0.05 for e in first[:-1])
    for _ in range(2):
        numbers, counting = Exhaustive(numbers.space), Counting()
        with Journal(path, **BELONGS_TO) as journal:
            again = search(counting, numbers, journal=journal, budget="0.05s")
        assert again == first
        assert again.replayed == len(first)
        assert counting.asked == []
    with Journal(path, **BELONGS_TO) as journal:
        longer = search(evaluate, Exhaustive(numbers.space), journal=journal, budget="0.08s")
    assert longer[: len(first)] == first.evaluations
    assert len(longer) > len(first)


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_history_does_not_depend_on_the_number_of_processes(tmp_path, jobs):
    with Journal(tmp_path / "a.journal", **BELONGS_TO) as journal:
        history = search(evaluate, Climb(SPACE, seed=3), journal=journal, jobs=jobs)
        assert len(journal) == len(history)
    assert history == WHOLE


def test_workers_hold_the_data_once_and_have_one_thread_for_numerics():
    weights = np.arange(200_000, dtype=np.float64)
    calls = []

    def evaluate_in_worker(candidate):
        calls.append(candidate["k"])
        weights[0] += 1  # its own copy
        threads = os.environ["NUMBA_NUM_THREADS"]
        return {"score": weights[candidate["k"]], "calls": len(calls), "threads": threads}

    history = search(evaluate_in_worker, Exhaustive(SearchSpace({"k": list(range(1, 30))})), jobs=2)
    assert [e.score for e in history] == list(range(1, 30))
    assert {e.result["threads"] for e in history} == {"1"}
    assert max(e.result["calls"] for e in history) > 1
    assert calls == []
    assert weights[0] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_ends_the_search_and_what_was_finished_is_kept(tmp_path, jobs):
    def fail_at_seven(candidate):
        if candidate["k"] == 7:
            raise InputError("k cannot be 7")
        return candidate["k"]

    space = SearchSpace({"k": list(range(20))})
    with Journal(tmp_path / "a.journal", **BELONGS_TO) as journal:
        with pytest.raises(InputError) as error:
            search(fail_at_seven, Exhaustive(space), journal=journal, jobs=jobs)
        assert str(error.value) == "k cannot be 7"
        assert error.value.__notes__ == ['while evaluating {"k":7}']
        assert {e.candidate["k"] for e in journal} <= set(range(20)) - {7}
        assert journal.stops[-1].reason == "failed"
        history = search(lambda c: c["k"], Exhaustive(space), journal=journal)
        assert [e.score for e in history] == list(range(20))


def test_a_candidate_that_is_asked_for_again_is_not_evaluated_again():
    class Stubborn(RoundByRound):
        def rounds(self):
            self.heard = []
            for _ in range(3):
                self.heard.append((yield [{"k": 1}, {"k": 2}, {"k": 1}]))

    counting, strategy = Counting(), Stubborn()
    history = search(counting, strategy)
    assert counting.asked == ['{"k":1}', '{"k":2}']
    assert len(history) == 2
    once = [evaluate({"k": k})["score"] for k in (1, 2, 1)]
    assert strategy.heard == [once] * 3


def test_progress_counts_up_to_what_the_strategy_or_the_budget_allows():
    space, seen, told = SearchSpace({"k": [3, 1, 2]}), [], []
    search(
        lambda c: c["k"],
        Exhaustive(space),
        progress=lambda *line: seen.append(line),
        on_result=told.append,
    )
    assert seen == [(0, 3, None), (1, 3, 3.0), (2, 3, 3.0), (3, 3, 3.0)]
    assert [e.candidate["k"] for e in told] == [3, 1, 2]
    seen.clear()
    search(lambda c: 0, Exhaustive(space), progress=lambda *line: seen.append(line), trials=2)
    assert seen[-1] == (2, 2, 0.0)


def test_the_best_is_the_first_of_equals():
    history = search(lambda c: 1, Exhaustive(SearchSpace({"k": [3, 1, 2]})))
    assert history.best.candidate == {"k": 3}


def test_minus_infinity_is_a_score_and_nan_is_none(tmp_path):
    space = SearchSpace({"k": [1, 2]})
    with Journal(tmp_path / "a", **BELONGS_TO) as journal:
        history = search(lambda c: float("-inf"), Exhaustive(space), journal=journal)
        assert search(evaluate, Exhaustive(space), journal=journal) == history
    with pytest.raises(InputError, match="gave the score nan"):
        search(lambda c: float("nan"), Exhaustive(space))


def test_results_are_told_as_a_journal_would_give_them():
    history = search(
        lambda c: {"score": np.float32(0.1), "folds": (1, 2)},
        Exhaustive(SearchSpace({"k": [1]})),
    )
    assert history[0].result == {"score": float(np.float32(0.1)), "folds": [1, 2]}


def test_a_search_runs_outside_the_main_thread():
    histories = []
    thread = threading.Thread(
        target=lambda: histories.append(search(evaluate, Climb(SPACE, seed=3)))
    )
    thread.start()
    thread.join()
    assert histories == [WHOLE]


def test_batches_can_be_evaluated_elsewhere():
    def backwards(candidates):
        finished = [(place, evaluate(c), 0.0) for place, c in enumerate(candidates)]
        yield from reversed(finished)

    assert search(evaluate, Climb(SPACE, seed=3), map_batch=backwards, jobs=4) == WHOLE


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (None, Budget()),
        (200, Budget(seconds=200)),
        ("60", Budget(seconds=60)),
        ("60s", Budget(seconds=60)),
        ("1min", Budget(seconds=60)),
        ("1.5m", Budget(seconds=90)),
        ("2h", Budget(seconds=7200)),
    ],
)
def test_budgets_are_read(budget, expected):
    assert Budget.of(budget) == expected


def test_numbers_of_trials_stand_beside_the_time():
    assert Budget.of("1min", trials=200) == Budget(evaluations=200, seconds=60)
    assert Budget.of(None, trials=np.int64(3)) == Budget(evaluations=3)
    for wrong, words in ((0, "trials is 0"), (1.5, "trials is 1.5"), (True, "trials")):
        with pytest.raises(InputError, match=words):
            Budget.of(None, trials=wrong)


@pytest.mark.parametrize("budget", ["soon", "-3", 0, "0s", "5d", -1])
def test_budgets_that_mean_nothing_are_refused(budget):
    with pytest.raises(InputError, match="budget"):
        Budget.of(budget)


def test_no_jobs_is_refused():
    with pytest.raises(InputError, match="jobs cannot be 0"):
        search(evaluate, Climb(SPACE), jobs=0)


def test_time_never_goes_back_for_a_strategy_that_plans_with_it():
    """What workers had finished before is told later, in the order asked."""

    class Clocked(Climb):
        elapsed = 0.0

        def tell(self, candidate, result):
            told.append(self.elapsed)
            super().tell(candidate, result)

    def last_comes_first(candidates):
        for place, candidate in reversed(list(enumerate(candidates))):
            yield place, evaluate(candidate), 0.0

    told: list[float] = []
    history = search(evaluate, Clocked(SPACE, climbs=1), map_batch=last_comes_first, jobs=4)
    assert [one.elapsed for one in history] != sorted(one.elapsed for one in history)
    assert told == sorted(told)
