"""One trial: fitted on some units, judged on others, and what it is said to cost."""

from __future__ import annotations

import os
import signal
import warnings
from dataclasses import dataclass
from time import process_time

import numba
import numpy as np
import pytest

from featloom.compare.questions import Question, names_of
from featloom.compare.trials import Trials, warm_up
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.evaluation.protocol import TEST, make_protocol
from featloom.method import Contender
from featloom.results import Grid
from featloom.search import RoundByRound, search
from featloom.search.space import json_text

N = 200
SETTINGS = [{"share": 1.0}, {"share": 0.5}]


class Parity(Question):
    """Is a number odd?"""

    kind, words, metric, unit = "table", "numbers", "accuracy", "numbers"

    def __len__(self):
        return N

    @property
    def strata(self):
        return np.arange(N) % 2

    groups = None

    def take(self, units):
        return units

    def counts(self, units, answers):
        return np.stack([answers == units % 2, np.ones(len(units))], axis=1)

    @property
    def of_counts(self):
        return accuracy_of_counts

    def calibrated(self, fitted, details):
        return Known(1.0, fitted.learned) if details == [{"calibration": "sure"}] else fitted

    def everyone(self):
        return []

    def data_part(self):
        return {}

    def warnings(self, learn, test):
        return []

    def errors(self, units, answers):
        return {}


@dataclass
class Known:
    """Right about the first so many of what it is asked."""

    share: float
    learned: int
    model: object = None

    @property
    def size(self):
        return np.int64(3)

    @property
    def size_words(self):
        return "3 features"

    @property
    def setting(self):
        return f"share {self.share:g}"

    def answers(self, data):
        right = np.arange(len(data)) < self.share * len(data)
        return np.where(right, data % 2, 1 - data % 2).astype(np.int32)

    def findings(self):
        return [Grid("none")]

    def save(self, folder):
        return []


@pytest.fixture
def protocol():
    return make_protocol(np.arange(N) % 2, n_folds=4, seed=0)


def each(data, settings, seed, threads):
    for setting in settings:
        yield Known(setting["share"], len(data))


def trials(protocol, fit_each=each, **options):
    axes = {"share": (1.0, 0.5)}
    one = Contender("parity", "method", "", fit_each, axes, **options)
    return Trials(Parity(), protocol, names_of([one]))


def candidate(fold=0, units=None, settings=SETTINGS, **others):
    return {"method": "parity", "fold": fold, "units": units, "settings": settings, **others}


def test_every_setting_is_fitted_and_judged_in_order(protocol):
    found = trials(protocol)(candidate())
    assert [one["setting"] for one in found["outcomes"]] == SETTINGS
    assert [one["words"] for one in found["outcomes"]] == ["share 1", "share 0.5"]
    assert [one["score"] for one in found["outcomes"]] == [1.0, pytest.approx(0.5, abs=0.02)]
    assert found["score"] == 1.0
    assert (found["learned"], found["judged"]) == (120, 40)
    json_text(found)  # as a journal keeps it


def test_an_interruption_within_a_kernel_is_no_fault_of_the_contender(protocol):
    """What calls a kernel reports the interruption as the cause of an error of its own."""

    def interrupted(data, settings, seed, threads):
        raise SystemError("a result with an exception set") from KeyboardInterrupt()
        yield

    with pytest.raises(KeyboardInterrupt):
        trials(protocol, interrupted)(candidate())


@pytest.mark.parametrize(
    ("fold", "units", "learned"), [(0, 30, 30), (TEST, None, 160), (1, None, 120)]
)
def test_it_learns_from_as_many_units_as_it_is_asked_to(protocol, fold, units, learned):
    seen = []

    def look(data, settings, seed, threads):
        seen.append(data)
        return each(data, settings, seed, threads)

    found = trials(protocol, look, compiles=False)(candidate(fold, units))
    assert found["learned"] == learned
    assert [len(data) for data in seen] == [learned]
    assert not set(seen[0]) & set(protocol.parts(fold)[1])
    assert set(seen[0]) <= set(protocol.learn)


def test_what_tests_need_of_rows_is_kept_of_the_test_part_alone(protocol):
    assert [one["rows"] for one in trials(protocol)(candidate())["outcomes"]] == ["", ""]
    (found,) = trials(protocol)(candidate(TEST, settings=[{"share": 1.0}]))["outcomes"]
    answers = Parity().answers_of(found["rows"])
    assert answers.tolist() == (protocol.test % 2).tolist()


def test_a_candidate_may_bring_what_folds_said_of_probabilities(protocol):
    asked = candidate(TEST, settings=[{"share": 0.5}], calibration=[{"calibration": "sure"}])
    assert trials(protocol)(asked)["score"] == 1.0


def test_a_setting_that_need_not_be_searched_again_is_handed_on(protocol):
    @dataclass
    class Searched(Known):
        found: object = None

    def find(data, settings, seed, threads):
        yield Searched(1.0, len(data), found={"share": 0.7})

    (one,) = trials(protocol, find)(candidate(settings=[{"share": 1.0}]))["outcomes"]
    assert one["found"] == {"share": 0.7}
    assert "found" not in trials(protocol)(candidate())["outcomes"][0]


# ── what it costs ──


def burn(seconds):
    end = process_time() + seconds
    while process_time() < end:
        pass


def test_the_cost_is_cpu_time_of_fitting_and_predicting(protocol):
    def work(data, settings, seed, threads):
        for one in each(data, settings, seed, threads):
            if len(data) > 60:  # the first few units are to warm up
                burn(0.05)
            yield one

    found = trials(protocol, work)(candidate())
    assert found["cpu_s"] >= 0.1
    assert found["cpu_s"] >= sum(one["fit_s"] for one in found["outcomes"])
    assert all(one["fit_s"] >= 0.05 for one in found["outcomes"])
    assert found["wall_s"] >= found["cpu_s"] - 0.02
    assert found["compiled_s"] == 0


def heavy_kernel():
    scope = {"np": np}
    body = "\n".join(f"    total += values[0] * {k} + np.sqrt(total)" for k in range(100))
    exec(f"def kernel(values):\n    total = 1.0\n{body}\n    return total", scope)
    return numba.njit(scope["kernel"])


@pytest.mark.parametrize("compiles", [True, False])
def test_compilation_is_told_apart_and_no_part_of_the_cost(protocol, compiles):
    """Neither in the warm-up nor, where there is none, in the fit itself."""
    kernel = heavy_kernel()

    def compile_and_fit(data, settings, seed, threads):
        kernel(np.arange(4.0))
        return each(data, settings, seed, threads)

    ask = trials(protocol, compile_and_fit, compiles=compiles)
    first, second = ask(candidate()), ask(candidate(1))
    assert first["compiled_s"] > 0
    assert first["wall_s"] >= first["compiled_s"]
    assert first["cpu_s"] < first["compiled_s"] / 2
    assert second["compiled_s"] == 0


def test_what_the_warm_up_compiles_is_not_taken_off_what_the_fit_costs(protocol):
    kernel = heavy_kernel()

    def compile_and_work(data, settings, seed, threads):
        kernel(np.arange(4.0))
        if len(data) > 60:
            burn(0.1)
        return each(data, settings, seed, threads)

    found = trials(protocol, compile_and_work)(candidate())
    assert found["compiled_s"] > 0
    assert found["cpu_s"] >= 0.1


def test_the_first_fit_of_each_contender_is_a_warm_up_with_a_few_units(protocol):
    seen = []

    def look(data, settings, seed, threads):
        seen.append((len(data), list(settings)))
        return each(data, settings, seed, threads)

    ask = trials(protocol, look)
    ask(candidate())
    ask(candidate(1))
    default = [{"share": 1.0}]
    assert seen == [(60, default), (120, SETTINGS), (120, SETTINGS)]


def test_searches_and_those_that_compile_nothing_are_not_warmed_up(protocol):
    for options in ({"searches": True}, {"compiles": False}):
        seen = []

        def look(data, settings, seed, threads, seen=seen):
            seen.append(len(data))
            return each(data, settings, seed, threads)

        trials(protocol, look, **options)(candidate())
        assert seen == [120]


# ── faults ──


def test_what_a_method_says_of_data_it_cannot_do_with_is_the_fault(protocol):
    def refuse(data, settings, seed, threads):
        raise InputError("no column has more than one value\nand more of it")
        yield

    found = trials(protocol, refuse)(candidate())
    assert found["fault"] == "no column has more than one value"
    assert found["score"] == float("-inf")
    assert "outcomes" not in found
    assert found["cpu_s"] >= 0
    json_text(found)


def test_one_that_fails_is_said_to_and_the_others_go_on(protocol):
    def fail(data, settings, seed, threads):
        yield Known(1.0, len(data))
        raise ZeroDivisionError("division by zero")

    found = trials(protocol, fail)(candidate())
    assert found["fault"] == "it failed: ZeroDivisionError: division by zero"
    assert found["score"] == float("-inf")


def test_an_error_without_words_is_a_fault_all_the_same(protocol):
    def fail(data, settings, seed, threads):
        raise InputError
        yield

    assert trials(protocol, fail)(candidate())["fault"].startswith("it failed: InputError")


def test_a_fault_of_the_warm_up_is_none(protocol):
    def needs_many(data, settings, seed, threads):
        if len(data) <= 60:
            raise InputError("too few")
        return each(data, settings, seed, threads)

    assert "fault" not in trials(protocol, needs_many)(candidate())
    one = Contender("parity", "method", "", needs_many, {"share": (1.0,)})
    warm_up(one, Parity(), np.arange(10), 0)


def test_settings_that_are_not_all_answered_are_a_fault(protocol):
    def lazy(data, settings, seed, threads):
        yield Known(1.0, len(data))

    assert "it failed: ValueError" in trials(protocol, lazy)(candidate())["fault"]


def test_warnings_of_methods_are_not_for_those_who_compare(protocol):
    def warn(data, settings, seed, threads):
        warnings.warn("the solver stopped at its last step", stacklevel=1)
        return each(data, settings, seed, threads)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "fault" not in trials(protocol, warn)(candidate())


class OneRound(RoundByRound):
    """Asks for what it is given, once."""

    def __init__(self, candidates):
        super().__init__()
        self.candidates = candidates

    def rounds(self):
        yield self.candidates


def test_one_past_its_limit_is_said_to_be(protocol):
    def endless(data, settings, seed, threads):
        while True:
            burn(0.01)
        yield

    ask = trials(protocol, endless, compiles=False)
    asked = candidate(limit=0.5)
    assert ask.limit(asked) == 0.5
    assert ask.limit(candidate()) is None

    (found,) = search(ask, OneRound([asked]), jobs=1)
    assert found.result == {
        "score": float("-inf"), "fault": "it took longer than the 0.5 s that it was given",
        "cpu_s": 0.5, "wall_s": 0.5, "over": True,
    }  # fmt: skip


def test_one_that_its_process_does_not_survive_is_a_fault_and_others_go_on(protocol):
    def die(data, settings, seed, threads):
        os.kill(os.getpid(), signal.SIGKILL)
        yield

    fits = {"deadly": die, "parity": each}
    some = [Contender(name, "method", "", fit, {"share": (1.0, 0.5)}) for name, fit in fits.items()]
    ask = Trials(Parity(), protocol, names_of(some))
    asked = [candidate(fold) for fold in range(4)]
    asked.insert(1, candidate(0) | {"method": "deadly"})
    history = search(ask, OneRound(asked), jobs=2)
    assert [one.result.get("fault") for one in history] == [
        None, "it ended its process twice, as too little memory does", None, None, None,
    ]  # fmt: skip
    assert history[1].result["score"] == float("-inf")
    json_text(history[1].result)
