"""In what order contenders are tried: cheap ones first, as long as the time lasts.

Nothing is learned here: trials take the time they are said to take.
"""

from __future__ import annotations

import pytest
from featloom.discover.contenders import Contender
from featloom.discover.protocol import TEST
from featloom.discover.schedule import CheapestFirst
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.search import Journal, search

# Seconds for a thousand units; in the order of a first guess, which is wrong.
SECONDS = {
    "most frequent class": 0.0,
    "linear model": 1.0,
    "selection": 0.5,
    "memory": 0.1,
    "induction": 4.0,
    "boosting": 0.2,
}
ROLES = {"most frequent class": "chance", "linear model": "baseline", "boosting": "yardstick"}
FOLDS = 3


def contenders(names=SECONDS):
    return [
        Contender(name, ROLES.get(name, "method"), "", lambda *_: None)  # type: ignore[arg-type]
        for name in names
    ]


def schedule(n_learn=12_000, seconds=None, workers=1, names=SECONDS):
    return CheapestFirst(
        contenders(names), n_learn=n_learn, n_folds=FOLDS, seconds=seconds, workers=workers
    )


def trial(candidate, n_learn=12_000, faults=()):
    """A trial as it is written down; its time grows with the units learned from."""
    whole = n_learn if candidate["fold"] == TEST else n_learn * (FOLDS - 1) // FOLDS
    learned = min(candidate["units"] or whole, whole)
    took = SECONDS[candidate["method"]] * learned / 1000
    if candidate["method"] in faults:
        return {"score": float("-inf"), "fault": "too few rows for it", "spent_s": took}
    return {
        "score": 0.5, "learned": learned, "fit_s": 0.9 * took, "predict_s": 0.1 * took,
        "spent_s": took,
    }  # fmt: skip


def tried(history):
    """Contenders in the order in which they were compared, small first trials left out."""
    full = [one.candidate for one in history if one.candidate["fold"] == TEST]
    return [candidate["method"] for candidate in full]


def test_without_a_limit_everything_is_compared_baselines_first_then_the_cheapest():
    order = schedule()
    history = search(trial, order)
    assert tried(history) == [
        "most frequent class", "linear model", "memory", "selection", "induction", "boosting",
    ]  # fmt: skip
    assert order.units is None
    assert order.passed_over == {}
    for name in SECONDS:
        compared = {
            one.candidate["fold"]
            for one in history
            if one.candidate["method"] == name and one.candidate["units"] is None
        }
        assert compared == {TEST, 0, 1, 2}


def test_all_learn_from_a_few_units_first_and_those_from_outside_when_their_turn_comes():
    history = search(trial, schedule())
    inside = [name for name in SECONDS if name != "boosting"]
    first = [one.candidate for one in history[:10]]
    assert [candidate["method"] for candidate in first] == 2 * inside
    assert [candidate["units"] for candidate in first] == [500] * 5 + [2000] * 5
    last = [one.candidate for one in history[-6:]]
    assert {candidate["method"] for candidate in last} == {"boosting"}
    assert [candidate["units"] for candidate in last[:2]] == [500, 2000]
    assert {candidate["fold"] for candidate in (*first, *last[:2])} == {0}


def test_data_of_a_few_hundred_rows_are_compared_at_once():
    history = search(lambda candidate: trial(candidate, 240), schedule(n_learn=240))
    assert {one.candidate["units"] for one in history} == {None}
    assert len(history) == len(SECONDS) * (FOLDS + 1)


def test_what_would_not_end_in_time_is_passed_over_and_said_to_be():
    order = schedule(n_learn=4_000, seconds=60)
    compared = tried(search(lambda candidate: trial(candidate, 4_000), order))
    assert "induction" not in compared
    assert set(compared) | set(order.passed_over) == set(SECONDS)
    assert order.passed_over["induction"].startswith("it would take about 48 s, and ")
    assert order.spent <= 60


@given(seconds=st.floats(1, 2000), workers=st.integers(1, 4), n_learn=st.integers(50, 50_000))
@settings(max_examples=60)
def test_no_more_is_planned_than_there_is_time_for(seconds, workers, n_learn):
    order = schedule(n_learn=n_learn, seconds=seconds, workers=workers)
    history = search(lambda candidate: trial(candidate, n_learn), order)
    small = sum(
        one.result["spent_s"] for one in history if one.candidate["units"] not in (order.units,)
    )
    if n_learn * 2 // 3 // 4 >= 80:  # else there are no small trials to learn the costs from
        assert order.spent <= max(seconds * workers, small) + 1e-6
    assert "most frequent class" in tried(history)
    assert set(tried(history)) | set(order.passed_over) == set(SECONDS)


def test_in_little_time_all_are_compared_on_a_part_of_the_units():
    order = schedule(n_learn=300_000, seconds=600)
    history = search(lambda candidate: trial(candidate, 300_000), order)
    assert order.units is not None
    assert order.units < 200_000
    on_part = {one.candidate["units"] for one in history if one.candidate["fold"] == TEST}
    assert on_part == {order.units}


def test_chance_is_tried_though_no_time_is_left():
    def slow(candidate):
        return trial(candidate) | {"spent_s": 100.0}

    order = schedule(seconds=50)
    assert tried(search(slow, order)) == ["most frequent class"]
    assert set(order.passed_over) == set(SECONDS) - {"most frequent class"}


def test_one_that_cannot_do_with_the_data_is_passed_over_for_its_own_reason():
    order = schedule(n_learn=240)
    history = search(lambda candidate: trial(candidate, 240, faults=("memory",)), order)
    assert order.passed_over == {"memory": "too few rows for it"}
    assert "induction" in tried(history)


def test_a_fault_with_a_few_units_is_none_with_all_of_them():
    def needs_many(candidate):
        few = candidate["units"] is not None
        return trial(candidate, faults=("selection",) if few else ())

    order = schedule()
    assert "selection" in tried(search(needs_many, order))
    assert order.passed_over == {}


@pytest.mark.parametrize("seconds", [None, 60, 150, 400])
@pytest.mark.parametrize("stop_at", [1, 7, 20])
def test_whoever_replays_a_journal_is_led_the_same_way(tmp_path, seconds, stop_at):
    """Times are those of the journal, so a slower machine goes on as the first one would have."""
    whole = search(trial, schedule(seconds=seconds))
    belongs_to = {"data": "rows", "search": {"method": "discover"}}
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        search(trial, schedule(seconds=seconds), journal=journal, budget=stop_at)
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        order = schedule(seconds=seconds)
        history = search(trial, order, journal=journal)
        assert history.replayed == min(stop_at, len(whole))
        assert [one.candidate for one in history] == [one.candidate for one in whole]

        def never(candidate):
            raise AssertionError("a trial that is in the journal was asked for")

        again = schedule(seconds=seconds)
        assert search(never, again, journal=journal) == history
        assert (again.units, again.passed_over) == (order.units, order.passed_over)


def test_the_model_that_is_kept_learns_from_what_surely_fits_into_the_time():
    order = schedule()
    order._seen["induction"] = [(500, 5.0), (2_000, 20.0)]
    assert order.affordable("induction", 8_000, 200.0) == 8_000
    in_time = order.affordable("induction", 8_000, 80.0)
    assert 2_000 < in_time < 8_000
    assert order.affordable("induction", 8_000, 0.001) == 80
    assert order.affordable("memory", 8_000, 1.0) == 8_000  # nothing is known of it
