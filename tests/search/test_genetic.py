"""Genetic search: the best string is never lost, and the search ends when it stays."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import Genetic, SearchSpace, candidate_key, score_of

SPACE = SearchSpace({name: [0, 1, 2] for name in "abcdef"}, valid=lambda c: any(c.values()))


def score(candidate):
    return sum(map(ord, candidate_key(candidate))) * 7919 % 101


def generations(strategy, population, score=score):
    bred = []
    while asked := strategy.ask(1000):
        assert len(asked) == population
        bred.append([(candidate, score(candidate)) for candidate in asked])
        for candidate, worth in bred[-1]:
            strategy.tell(candidate, worth)
    return bred


@given(seed=st.integers(0, 50), mutation=st.sampled_from([0.0, 0.006, 0.3]))
@settings(max_examples=20, deadline=None)
def test_the_best_string_is_copied_on(seed, mutation):
    bred = generations(Genetic(SPACE, seed, mutation=mutation), 20)
    for before, after in itertools.pairwise(bred):
        best = max(before, key=lambda string: string[1])
        assert after[0] == best


def test_it_ends_when_the_best_has_not_changed():
    bred = generations(Genetic(SPACE, patience=7), 20, score=lambda candidate: 0.5)
    assert len(bred) == 1 + 7


def test_it_ends_after_so_many_generations():
    rising = iter(range(10**6))
    bred = generations(Genetic(SPACE, generations=9), 20, score=lambda candidate: next(rising))
    assert len(bred) == 1 + 9


def test_without_crossover_and_mutation_nothing_new_appears():
    bred = generations(Genetic(SPACE, crossover=0, mutation=0), 20)
    first = {candidate_key(candidate) for candidate, _ in bred[0]}
    assert {candidate_key(candidate) for round_ in bred for candidate, _ in round_} <= first


def test_without_mutation_every_gene_was_there_before():
    bred = generations(Genetic(SPACE, mutation=0, population=4), 4)
    for name in SPACE.choices:
        first = {candidate[name] for candidate, _ in bred[0]}
        assert {candidate[name] for round_ in bred for candidate, _ in round_} <= first


def test_children_that_are_not_valid_are_repaired():
    narrow = SearchSpace(
        {name: [0, 1] for name in "abcdef"}, valid=lambda c: sum(c.values()) in (0, 6)
    )
    bred = generations(Genetic(narrow, seed=2, mutation=0.2), 20)
    for round_ in bred:
        assert all(candidate in narrow for candidate, _ in round_)


def test_the_first_generation_begins_with_the_start():
    start = [dict.fromkeys("abcdef", 1), dict.fromkeys("abcdef", 2)]
    strategy = Genetic(SPACE, start=start)
    assert strategy.ask(2) == start


def test_an_easy_landscape_is_climbed():
    strategy = Genetic(SPACE, seed=1, mutation=0.05)
    generations(strategy, 20, score=lambda candidate: sum(candidate.values()))
    assert strategy.best == (dict.fromkeys("abcdef", 2), score_of(12))


def test_one_string_is_no_population():
    with pytest.raises(InputError, match="population is 1; it must be a whole number, 2 or more"):
        Genetic(SPACE, population=1)
