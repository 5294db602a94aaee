"""In what order contenders are tried: first answers of all, then what time is left for.

Nothing is learned here and no time goes by: trials take the time that they are said to take, on a
clock that is told of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.compare.schedule import FirstAnswers
from featloom.evaluation.protocol import TEST
from featloom.method import Contender
from featloom.search import Evaluation, Journal, search

CHANCE = "class shares"
# Seconds for a thousand units, in the order of a first guess, which is wrong.
SECONDS = {
    CHANCE: 0.001,
    "linear model": 0.5,
    "selection": 0.2,
    "memory": 0.05,
    "induction": 2.0,
    "boosting": 0.1,
}
SLOW = {"transfer": 3.0}
SEARCH = {"template search": 1.0}
ROLES = {CHANCE: "chance", "linear model": "baseline", "boosting": "yardstick"}
GOOD = {
    CHANCE: 0.3, "linear model": 0.7, "selection": 0.72, "memory": 0.65, "induction": 0.8,
    "boosting": 0.75, "transfer": 0.7, "template search": 0.78,
}  # fmt: skip
AXES = {
    "linear model": {"C": (1.0, 0.1, 10.0)},
    "memory": {"k": (1, 3, 5), "votes": ("equal", "by distance")},
    "boosting": {"trees": (100, 300)},
}
# What settings other than the default are worth beside it.
WORTH = {"C": {0.1: -0.02, 10.0: 0.01}, "k": {3: 0.03, 5: 0.01}, "votes": {"by distance": -0.01}}
FOLDS = 5


def contenders(names):
    return [
        Contender(
            name, ROLES.get(name, "method"), "", lambda *_: iter(()), AXES.get(name, {}),
            searches=name in SEARCH, cost=50.0 if name in SLOW else 1.0,
        )
        for name in names
    ]  # fmt: skip


@dataclass
class Trials:
    """Trials that are written down as those of a comparison are, without any work.

    Parameters
    ----------
    n_learn : units to learn from in all.
    seconds : that a thousand units take, by contender.
    power : of the units by which time grows.
    good : score of the default of each contender.
    faults : contenders that cannot do with the data.
    """

    n_learn: int
    seconds: dict[str, float] = field(default_factory=lambda: SECONDS | SLOW | SEARCH)
    good: dict[str, float] = field(default_factory=lambda: GOOD)
    faults: tuple[str, ...] = ()
    worth: dict = field(default_factory=lambda: WORTH)
    power: float = 1.1

    def learned(self, candidate):
        whole = self.n_learn
        if candidate["fold"] != TEST:
            whole = self.n_learn * (FOLDS - 1) // FOLDS
        return min(candidate["units"] or whole, whole)

    def cpu(self, candidate):
        each = self.seconds[candidate["method"]] * (self.learned(candidate) / 1000) ** self.power
        return each * len(candidate["settings"])

    def score(self, candidate, setting):
        fold = 0 if candidate["fold"] == TEST else candidate["fold"]
        score = self.good[candidate["method"]] + 0.01 * (fold % 3)
        return score + sum(
            self.worth.get(axis, {}).get(value, 0) for axis, value in setting.items()
        )

    def __call__(self, candidate):
        cpu = self.cpu(candidate)
        limit = candidate.get("limit")
        if limit is not None and cpu > limit:
            said = f"it took longer than the {limit:g} s that it was given, its limit"
            return {
                "score": float("-inf"),
                "fault": said,
                "over": True,
                "cpu_s": limit,
                "wall_s": limit,
            }
        if candidate["method"] in self.faults:
            said = "too few rows for it"
            return {"score": float("-inf"), "fault": said, "cpu_s": cpu, "wall_s": cpu}
        outcomes = [
            {
                "setting": setting, "score": self.score(candidate, setting), "details": {},
                "rows": "", "fit_s": 0.0, "predict_s": 0.0, "size": 1, "size_words": "1 feature",
                "words": "",
            }
            for setting in candidate["settings"]
        ]  # fmt: skip
        return {
            "score": max(one["score"] for one in outcomes), "outcomes": outcomes,
            "learned": self.learned(candidate), "judged": 100, "cpu_s": cpu, "wall_s": cpu,
            "compiled_s": 0.0,
        }  # fmt: skip


def schedule(n_learn, seconds=None, workers=1, names=SECONDS, **others):
    return FirstAnswers(
        contenders(names), n_learn=n_learn, n_folds=FOLDS, seconds=seconds, workers=workers,
        **others,
    )  # fmt: skip


def run(order, trials, journal=(), stop_at=None):
    """The search's loop with a clock that goes by what trials are said to take.

    Workers take one trial after the other; at the end of the time what is under way is lost.
    """
    kept = {str(one.candidate): one for one in journal}
    history = list[Evaluation]()
    free = [0.0] * order.workers
    while asked := order.ask(1 if order.workers == 1 else 16 * order.workers):
        for candidate in asked:
            if stop_at is not None and len(history) >= stop_at:
                return history
            known = kept.get(str(candidate))
            if known is None:
                result = trials(candidate)
                begun = min(free)
                known = Evaluation(candidate, result, result["wall_s"], begun + result["wall_s"])
            free[free.index(min(free))] = known.elapsed
            if order.seconds is not None and known.elapsed > order.seconds:
                return history
            order.elapsed = max(order.elapsed, known.elapsed)
            history.append(known)
            order.tell(candidate, known.result)
        free = [max(free)] * len(free)  # the next round waits for all of this one
    return history


def in_test_part(history):
    """Contenders in the order in which they were tested."""
    return [one.candidate["method"] for one in history if one.candidate["fold"] == TEST]


EVERYTHING = SECONDS | SLOW | SEARCH
UNITS = st.integers(60, 300_000)
TIMES = st.floats(10, 600)
WORKERS = st.sampled_from([1, 2, 4])


def asked(history, *parts):
    """What was asked for, by the named parts of candidates."""
    return [tuple(one.candidate[part] for part in parts) for one in history]


def test_every_quick_contender_answers_with_its_default_on_all_units_before_anything_else():
    history = run(schedule(1_000), Trials(1_000))
    first = history[: len(SECONDS)]
    assert asked(first, "method") == [(name,) for name in SECONDS]
    defaults = {one.name: one.default for one in contenders(SECONDS)}
    for one in first:
        assert (one.candidate["fold"], one.candidate["units"]) == (0, None)
        assert one.candidate["settings"] == [defaults[one.candidate["method"]]]


def test_where_there_are_many_units_costs_are_seen_on_few_and_the_cheapest_answers_first():
    history = run(schedule(12_000, small=2_000), Trials(12_000))
    n = len(SECONDS)
    assert asked(history[:1], "method", "fold", "units") == [(CHANCE, 0, None)]
    assert asked(history[1:n], "method", "fold", "units") == [
        (name, 0, 2_000) for name in SECONDS if name != CHANCE
    ]
    cheapest_first = sorted(set(SECONDS) - {CHANCE}, key=SECONDS.__getitem__)
    assert asked(history[n : 2 * n - 1], "method", "fold", "units") == [
        (name, 0, None) for name in cheapest_first
    ]


def test_no_first_look_where_units_are_few():
    history = run(schedule(3_000, small=2_000), Trials(3_000))
    assert {one.candidate["units"] for one in history} == {None}


def test_the_other_folds_come_best_first_after_the_one_that_looks_at_nothing():
    history = run(schedule(1_000), Trials(1_000))
    others = [
        one.candidate["method"]
        for one in history
        if one.candidate["fold"] in range(1, FOLDS) and len(one.candidate["settings"]) == 1
    ]
    in_order = list(dict.fromkeys(others))
    assert in_order == [CHANCE, *sorted(set(SECONDS) - {CHANCE}, key=lambda name: -GOOD[name])]


def test_settings_are_tuned_axis_by_axis_from_the_best_so_far():
    order = schedule(1_000)
    history = run(order, Trials(1_000))
    tried = [
        setting
        for one in history
        for setting in one.candidate["settings"]
        if one.candidate["method"] == "memory" and one.candidate["fold"] == 0
    ]
    assert tried == [
        {"k": 1, "votes": "equal"}, {"k": 3, "votes": "equal"}, {"k": 5, "votes": "equal"},
        {"k": 3, "votes": "by distance"},
    ]  # fmt: skip
    best = {name: one.settings[one.best] for name, one in order.standings.items()}
    assert best["memory"] == {"k": 3, "votes": "equal"}
    assert best["linear model"] == {"C": 10.0}
    assert best["boosting"] == {"trees": 100}, "of equals the default"


@given(
    worth=st.fixed_dictionaries(
        {axis: st.dictionaries(st.sampled_from(list(values)), st.floats(-0.2, 0.2))
         for axis, values in WORTH.items()}
    ),
    n_learn=st.integers(60, 60_000), seconds=st.none() | TIMES,
)  # fmt: skip
@settings(max_examples=40)
def test_tuning_never_ends_below_the_default(worth, n_learn, seconds):
    order = schedule(n_learn, seconds)
    run(order, Trials(n_learn, worth=worth))
    for one in order.standings.values():
        if one.best is None:
            continue
        default = next(key for key in one.settings if one.settings[key] == one.contender.default)
        common = {fold for fold, _ in one.folds(one.best)} & {
            fold for fold, _ in one.folds(default)
        }
        assert common, "the default was judged where the best was"
        assert sum(one.scores[one.best][fold] - one.scores[default][fold] for fold in common) >= 0


def test_the_test_part_is_asked_for_before_anything_slow_is_begun():
    history = run(schedule(4_000, names=EVERYTHING), Trials(4_000))
    order = asked(history, "method", "fold")
    slow = [place for place, (name, _) in enumerate(order) if name in SLOW]
    searches = [place for place, (name, _) in enumerate(order) if name in SEARCH]
    quick_tests = [order.index((name, TEST)) for name in SECONDS]
    assert max(quick_tests) < min(slow)
    assert order.index(("transfer", TEST)) < min(searches)
    assert order[-1] == ("template search", TEST)
    assert order.index((CHANCE, TEST)) == min(quick_tests)


def test_everything_is_compared_and_tested_once_where_time_is_unlimited():
    order = schedule(4_000, names=EVERYTHING)
    history = run(order, Trials(4_000))
    assert sorted(in_test_part(history)) == sorted(EVERYTHING)
    assert order.passed_over == {}
    for one in order.standings.values():
        assert one.units is None
        assert one.tested == one.best
        assert [fold for fold, _ in one.folds(one.best)] == list(range(FOLDS))


@pytest.mark.parametrize(("seconds", "n_learn"), [(40, 51_320), (60, 20_000), (120, 100_000)])
def test_whoever_has_the_score_of_a_fold_has_its_test(seconds, n_learn):
    """The time is kept for it: where costs are what a first look says, none is begun in vain."""
    order = schedule(n_learn, seconds)
    history = run(order, Trials(n_learn, power=0.75))
    for name, one in order.standings.items():
        if one.best is None:
            assert order.passed_over[name]
        else:
            assert (name, TEST) in asked(history, "method", "fold")


@given(seconds=TIMES, workers=WORKERS, n_learn=st.integers(4_000, 300_000))
@settings(max_examples=60)
def test_the_best_of_the_folds_has_its_test_and_who_has_none_has_a_reason(
    seconds, workers, n_learn
):
    """With several workers some wait for others, and time is lost that nobody planned with."""
    order = schedule(n_learn, seconds, workers)
    history = run(order, Trials(n_learn, power=0.75))
    tested = in_test_part(history)
    scored = [one for one in order.standings.values() if one.best is not None]
    inside = [one for one in scored if one.contender.role != "yardstick"]
    assert {CHANCE, max(inside, key=lambda one: one.mean(one.best)).name} <= set(tested)
    assert {one.name for one in scored} - set(tested) <= set(order.passed_over)


@given(seconds=TIMES, workers=WORKERS, n_learn=UNITS)
@settings(max_examples=60)
def test_what_is_planned_fits_in_the_time_and_chance_is_always_tried(seconds, workers, n_learn):
    order = schedule(n_learn, seconds, workers, EVERYTHING)
    history = run(order, Trials(n_learn))
    assert sum(one.result["cpu_s"] for one in history) <= seconds * workers
    assert CHANCE in in_test_part(history)
    without = set(SECONDS) - set(in_test_part(history))
    begun = {name for name, one in order.standings.items() if one.tested}
    assert without <= set(order.passed_over) | begun, "whoever was not tested has a reason"


@given(seconds=TIMES, n_learn=UNITS)
@settings(max_examples=40)
def test_units_shrink_for_those_who_cannot_afford_all_each_by_itself(seconds, n_learn):
    order = schedule(n_learn, seconds)
    history = run(order, Trials(n_learn))
    of_fold = n_learn * (FOLDS - 1) // FOLDS
    for name, one in order.standings.items():
        assert one.units is None or 80 <= one.units < of_fold
        if one.contender.role == "yardstick":
            assert one.units is None or not one.scores, "as its users would run it, or not at all"
        compared = {
            units
            for method, fold, units in asked(history, "method", "fold", "units")
            if method == name and fold != 0
        }
        assert compared <= {one.units}, "folds and the test part are of the same units"


def test_the_costly_one_learns_from_fewer_units_and_the_cheap_ones_from_all():
    order = schedule(4_000, seconds=60)
    run(order, Trials(4_000, SECONDS | {"induction": 3.0}))
    units = {name: one.units for name, one in order.standings.items()}
    assert units.pop("induction") == 1_600
    assert set(units.values()) == {None}


def test_who_learned_from_few_units_learns_from_all_where_there_is_time_after_the_first_answers():
    order = schedule(4_000, seconds=60)
    history = run(order, Trials(4_000))
    of_induction = [
        (one.candidate["fold"], one.candidate["units"])
        for one in history
        if one.candidate["method"] == "induction"
    ]
    assert of_induction[:3] == [(0, 2_000), (0, 1_600), (0, None)], "first a look, then an answer"
    assert {units for _, units in of_induction[3:]} == {None}, "and so in folds and the test part"
    first_folds = [one.candidate["fold"] for one in history].index(1)
    assert asked(history[:first_folds], "method").count(("induction",)) == 3


def test_who_takes_too_long_with_more_units_stays_with_the_few_that_it_was_judged_with():
    class SteepAtLast(Trials):
        def cpu(self, candidate):
            too_many = candidate["method"] == "induction" and candidate["units"] is None
            return super().cpu(candidate) * (9 if too_many else 1)

    order = schedule(4_000, seconds=60)
    history = run(order, SteepAtLast(4_000))
    standing = order.standings["induction"]
    assert standing.units == 1_600
    assert ("induction", None) in asked(history, "method", "units"), "it was tried"
    assert standing.fault == ""
    assert standing.tested == standing.best
    assert ("induction", TEST) in asked(history, "method", "fold")


def test_a_yardstick_that_cannot_afford_all_units_is_passed_over_and_said_to_be():
    order = schedule(20_000, seconds=60)
    history = run(order, Trials(20_000, EVERYTHING | {"boosting": 3.0}))
    on_all = [units for name, units in asked(history, "method", "units") if name == "boosting"]
    assert on_all == [2_000], "a first look alone"
    assert order.passed_over["boosting"].startswith("it would take about ")


def test_one_that_cannot_do_with_the_data_is_passed_over_for_its_own_reason():
    order = schedule(1_000)
    history = run(order, Trials(1_000, faults=("memory",)))
    assert order.passed_over == {"memory": "too few rows for it"}
    assert asked(history, "method").count(("memory",)) == 1
    assert sorted(in_test_part(history)) == sorted(set(SECONDS) - {"memory"})


def test_a_fault_with_few_units_is_none_with_all_of_them():
    class NeedMany(Trials):
        def __call__(self, candidate):
            self.faults = ("selection",) if candidate["units"] is not None else ()
            return super().__call__(candidate)

    order = schedule(12_000)
    history = run(order, NeedMany(12_000))
    assert "selection" in in_test_part(history)
    assert order.passed_over == {}


def test_a_fault_with_other_settings_leaves_the_default_in_the_comparison():
    class FailElsewhere(Trials):
        def __call__(self, candidate):
            self.faults = ("linear model",) if {"C": 1.0} not in candidate["settings"] else ()
            return super().__call__(candidate)

    order = schedule(1_000)
    history = run(order, FailElsewhere(1_000))
    assert "linear model" in in_test_part(history)
    assert order.standings["linear model"].tested == '{"C":1.0}'


def test_one_past_its_limit_in_the_first_look_is_passed_over():
    order = schedule(20_000, seconds=60)
    history = run(order, Trials(20_000, EVERYTHING | {"induction": 60.0}))
    assert asked(history, "method", "units").count(("induction", 2_000)) == 1
    assert "it took longer than" in order.passed_over["induction"]
    assert "linear model" in in_test_part(history)


@given(seconds=st.none() | TIMES, workers=WORKERS, n_learn=UNITS)
@settings(max_examples=30)
def test_every_trial_has_a_limit_where_there_is_a_budget_and_none_where_there_is_none(
    seconds, workers, n_learn
):
    history = run(schedule(n_learn, seconds, workers, EVERYTHING), Trials(n_learn))
    limits = [one.candidate.get("limit") for one in history]
    if seconds is None:
        assert set(limits) == {None}
    else:
        assert all(0 < limit <= seconds for limit in limits)


@pytest.mark.parametrize(("seconds", "workers"), [(None, 1), (60, 1), (60, 2), (300, 4)])
@pytest.mark.parametrize("stop_at", [1, 7, 20, 40])
def test_whoever_goes_on_from_a_journal_is_led_the_same_way(tmp_path, seconds, workers, stop_at):
    """Times are those of the journal, so a slower machine goes on as the first one would have."""
    everything = run(schedule(9_000, seconds, workers, EVERYTHING), Trials(9_000))
    belongs_to = {"data": "rows", "search": {"method": "discover"}}
    before = schedule(9_000, seconds, workers, EVERYTHING)
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        for one in run(before, Trials(9_000), stop_at=stop_at):
            journal.append(one.candidate, one.result, seconds=one.seconds, elapsed=one.elapsed)
        again = schedule(9_000, seconds, workers, EVERYTHING)
        history = run(again, Trials(9_000), journal=list(journal))
        assert [one.candidate for one in history] == [one.candidate for one in everything]
        for one in history[stop_at:]:
            journal.append(one.candidate, one.result, seconds=one.seconds, elapsed=one.elapsed)
    with Journal(tmp_path / "a.journal", **belongs_to) as journal:
        replayed = schedule(9_000, seconds, workers, EVERYTHING)

        def never(candidate):
            raise AssertionError("a trial that is in the journal was asked for")

        found = search(never, replayed, journal=journal, trials=len(everything))
        assert list(found) == history
        for name, one in replayed.standings.items():
            other = again.standings[name]
            assert (one.scores, one.units, one.costs) == (other.scores, other.units, other.costs)


@pytest.mark.parametrize("n_learn", [2_500, 20_000, 200_000])
@pytest.mark.parametrize("slow", ["linear model", "memory", "selection"])
def test_one_that_hangs_leaves_time_for_the_others_within_the_least_budget(n_learn, slow):
    """What is left of ten seconds, in one process."""
    order = schedule(n_learn, seconds=5.3)
    run(order, Trials(n_learn, dict.fromkeys(SECONDS, 0.02) | {CHANCE: 0.001, slow: 500.0}))
    order.settle()
    standing = [one.name for one in order.standings.values() if one.best is not None]
    assert len(standing) >= 3
    assert CHANCE in standing
    assert order.standings[CHANCE].tested is not None


def test_who_answered_on_a_few_units_only_stands_with_that():
    class OnlyFew(Trials):
        def cpu(self, candidate):
            few = candidate["units"] is not None or candidate["method"] == CHANCE
            return 0.1 if few else 1e6

    order = schedule(4_000, seconds=6)
    run(order, OnlyFew(4_000), stop_at=1 + 1 + len(SECONDS))
    order.settle()
    assert {one.units for one in order.standings.values() if one.name == "linear model"} == {2_000}
    assert order.standings["linear model"].best is not None


def test_one_that_grows_steeper_than_was_thought_answers_on_fewer_units():
    class Steep(Trials):
        def cpu(self, candidate):
            times = 40 if candidate["method"] == "memory" and self.learned(candidate) > 5_000 else 1
            return super().cpu(candidate) * times

    order = schedule(16_000, seconds=60)
    history = run(order, Steep(16_000))
    units = [one for name, one in asked(history, "method", "units") if name == "memory"]
    assert units[:3] == [2_000, None, 3_200]
    assert order.standings["memory"].units == 3_200
    assert ("memory", TEST) in asked(history, "method", "fold")


def test_most_trials_are_found_again_by_a_run_that_has_more_time():
    trials = Trials(1_500)
    before = run(schedule(1_500, 60, 2), trials)
    after = run(schedule(1_500, 120, 2), trials, journal=before)
    known = {str(one.candidate) for one in before}
    again = sum(str(one.candidate) in known for one in after)
    assert again >= 0.7 * len(before)


def test_a_search_that_cannot_do_with_the_data_is_passed_over_for_its_own_reason():
    order = schedule(4_000, 300, 1, EVERYTHING)
    run(order, Trials(4_000, faults=("template search",)))
    assert order.passed_over["template search"] == "too few rows for it"


@pytest.mark.parametrize("workers", [1, 2])
def test_searches_that_are_given_a_time_share_what_is_left_side_by_side(workers):
    names = ["thinned", "picked"]
    searches = [
        Contender(name, "method", "", lambda *_: iter(()), {"seconds": (20.0,)}, searches=True)
        for name in names
    ]
    order = FirstAnswers(
        [*contenders([CHANCE, "linear model"]), *searches],
        n_learn=1_000, n_folds=FOLDS, seconds=240.0, workers=workers,
    )  # fmt: skip
    trials = Trials(
        1_000, seconds=SECONDS | dict.fromkeys(names, 30.0), good=GOOD | dict.fromkeys(names, 0.9)
    )
    history, begun = run(order, trials), []
    for candidate in (one.candidate for one in history):
        if candidate["method"] in names and candidate["fold"] == 0:
            begun.append((candidate["method"], candidate["settings"][0]["seconds"]))
            assert candidate["limit"] == 2 * begun[-1][1] + 10
    assert [name for name, _ in begun] == names
    # Side by side each has most of it; one after the other they share it.
    assert [seconds >= 120 for _, seconds in begun] == [workers == 2] * 2
    assert sum(seconds for _, seconds in begun) <= workers * 240
    assert set(names) <= set(in_test_part(history))


def settings_tried(order):
    """How many settings of each contender were judged."""
    return {name: len(one.settings) for name, one in order.standings.items()}


@given(
    costs=st.fixed_dictionaries({name: st.floats(0.001, 50) for name in EVERYTHING}),
    workers=WORKERS, n_learn=UNITS, trials=st.integers(1, 6),
)  # fmt: skip
@settings(max_examples=40)
def test_where_settings_are_counted_no_time_has_a_say(costs, workers, n_learn, trials):
    histories = [
        run(
            schedule(n_learn, workers=n, names=EVERYTHING, trials=trials),
            Trials(n_learn, seconds=taken),
        )
        for n, taken in ((1, SECONDS | SLOW | SEARCH), (workers, costs))
    ]
    asked = [[one.candidate for one in history] for history in histories]
    assert asked[0] == asked[1]
    assert {one["units"] for one in asked[0]} == {None}


@pytest.mark.parametrize(
    ("trials", "of_memory", "of_linear"), [(1, 1, 1), (2, 2, 2), (3, 3, 3), (9, 4, 3)]
)
def test_so_many_settings_of_each_are_tried_the_default_among_them(trials, of_memory, of_linear):
    order = schedule(1_000, trials=trials)
    history = run(order, Trials(1_000))
    tried = settings_tried(order)
    assert (tried["memory"], tried["linear model"]) == (of_memory, of_linear)
    assert tried["boosting"] == min(trials, 2), "outside models are tuned as all others are"
    assert (tried[CHANCE], tried["induction"]) == (1, 1)
    assert sorted(in_test_part(history)) == sorted(SECONDS)
    for one in order.standings.values():
        assert one.contender.default in one.settings.values()
        assert all(len(one.folds(key)) == FOLDS for key in one.settings)


@pytest.mark.parametrize(
    ("seconds", "given"), [(None, {"seconds": None, "trials": 7}), (240.0, {"trials": 7})]
)
def test_a_search_has_so_many_trials_and_seconds_only_where_time_is_limited(seconds, given):
    search = Contender(
        "picked", "method", "", lambda *_: iter(()), {"seconds": (20.0,)}, searches=True
    )
    order = FirstAnswers(
        [*contenders([CHANCE, "linear model"]), search],
        n_learn=1_000, n_folds=FOLDS, seconds=seconds, workers=1, trials=7,
    )  # fmt: skip
    trials = Trials(1_000, seconds=SECONDS | {"picked": 30.0}, good=GOOD | {"picked": 0.9})
    (setting,) = [
        *{
            str(one.candidate["settings"]): one.candidate["settings"][0]
            for one in run(order, trials)
            if one.candidate["method"] == "picked"
        }.values()
    ]
    assert setting == setting | given
    assert (setting["seconds"] is None) == (seconds is None)


def test_with_a_time_and_a_number_of_settings_both_are_kept_to():
    limited, free = (schedule(2_000, 30, 1, EVERYTHING, trials=n) for n in (2, None))
    history = run(limited, Trials(2_000))
    run(free, Trials(2_000))
    assert history[-1].elapsed <= 30
    assert max(settings_tried(limited).values()) == 2 < max(settings_tried(free).values())
