"""Optuna's samplers as a strategy."""

from __future__ import annotations

import builtins

import pytest

from featloom.errors import InputError
from featloom.search import OptunaSampler, SearchSpace, search

SPACE = SearchSpace({"k": [1, True, "1"], "l": [0, 1, 2, 3]}, valid=lambda c: c["l"] != 0)


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_values_come_back_as_they_were_offered(sampler):
    history = search(
        lambda candidate: candidate["l"], OptunaSampler(SPACE, trials=60, sampler=sampler)
    )
    assert len(history) == len(SPACE) == 9
    assert {type(evaluation.candidate["k"]) for evaluation in history} == {int, bool, str}
    assert history.best.candidate["l"] == 3


def test_a_space_that_is_nearly_all_invalid_is_searched():
    narrow = SearchSpace(
        {name: list(range(10)) for name in "abcd"}, valid=lambda c: set(c.values()) == {7}
    )
    history = search(lambda candidate: 1, OptunaSampler(narrow, trials=2, sampler="random"))
    assert [evaluation.candidate for evaluation in history] == [dict.fromkeys("abcd", 7)]


def test_minus_infinity_is_told():
    history = search(
        lambda candidate: float("-inf") if candidate["l"] < 3 else 1.0,
        OptunaSampler(SPACE, trials=40),
    )
    assert history.best.score == 1.0


def test_it_is_silent(capfd):
    search(lambda candidate: candidate["l"], OptunaSampler(SPACE, trials=3))
    assert capfd.readouterr() == ("", "")


def test_an_unknown_sampler_is_refused():
    with pytest.raises(InputError, match="sampler is 'grid'; it can be 'tpe' or 'random'"):
        OptunaSampler(SPACE, sampler="grid")


def test_without_optuna_it_says_what_to_install(monkeypatch):
    there = builtins.__import__

    def without_optuna(name, *rest):
        if name == "optuna":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_optuna)
    with pytest.raises(InputError) as error:
        OptunaSampler(SPACE)
    assert str(error.value) == (
        'this strategy needs the package optuna: pip install "featloom[search]"'
    )
