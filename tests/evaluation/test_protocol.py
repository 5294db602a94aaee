"""Which units are learned from and which are judged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.evaluation.protocol import (
    MOST_JUDGED,
    MOST_TESTED,
    TEST,
    drawn,
    make_protocol,
)

classes = st.lists(st.integers(0, 3), min_size=40, max_size=300).filter(
    lambda drawn: np.bincount(drawn, minlength=2).max() <= len(drawn) - 12
)


@given(classes, st.integers(2, 6), st.integers(0, 3))
@settings(max_examples=40)
def test_every_unit_is_either_learned_from_or_tested_and_judged_in_one_fold(y, n_folds, seed):
    found = make_protocol(np.array(y), n_folds=n_folds, seed=seed)
    assert sorted([*found.learn, *found.test]) == list(range(len(y)))
    judged = np.concatenate([found.parts(fold)[1] for fold in range(found.n_folds)])
    assert sorted(judged) == sorted(found.learn)
    for fold in range(found.n_folds):
        learned, asked = found.parts(fold)
        assert sorted([*learned, *asked]) == sorted(found.learn)
    learned, asked = found.parts(TEST)
    assert (learned.tolist(), asked.tolist()) == (found.learn.tolist(), found.test.tolist())
    # A fifth, as far as the classes allow.
    assert abs(len(found.test) - len(y) / 5) <= len(set(y))


@given(classes, st.integers(0, 3))
@settings(max_examples=40)
def test_the_test_part_holds_the_classes_in_proportion(y, seed):
    y = np.array(y)
    found = make_protocol(y, n_folds=3, seed=seed)
    for code in np.unique(y):
        assert abs((y[found.test] == code).sum() - (y == code).sum() / 5) <= 1


@given(st.lists(st.integers(1, 9), min_size=25, max_size=60), st.integers(2, 5), st.integers(0, 3))
@settings(max_examples=40)
def test_no_document_is_split(sizes, n_folds, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = np.arange(len(groups)) % 2
    found = make_protocol(y, groups, n_folds=n_folds, seed=seed)
    for fold in (TEST, *range(found.n_folds)):
        learned, judged = found.parts(fold)
        assert not set(groups[learned]) & set(groups[judged])
    assert "whole groups" in found.words


@given(
    st.integers(1, 500), st.lists(st.integers(1, 600), min_size=2, max_size=5), st.integers(0, 5)
)
def test_smaller_draws_are_parts_of_larger_ones_in_their_order(n, sizes, seed):
    units = np.arange(n) * 3
    draws = [drawn(units, size, seed) for size in sorted(sizes)]
    for size, few in zip(sorted(sizes), draws, strict=True):
        assert len(few) == min(size, n)
        assert (np.diff(few) > 0).all()
    for few, more in pairwise(draws):
        assert set(few.tolist()) <= set(more.tolist())
    assert drawn(units, None, seed) is units


def test_those_learned_from_in_a_fold_are_drawn_the_same_way_each_time():
    found = make_protocol(np.arange(1_000) % 3, n_folds=4, seed=2)
    few, _ = found.parts(1, 50)
    more, _ = found.parts(1, 200)
    whole, judged = found.parts(1)
    assert set(few) < set(more) < set(whole)
    assert not set(whole) & set(judged)
    assert found.parts(1, 50)[0].tolist() == few.tolist()


def test_the_seed_decides():
    y = np.arange(500) % 2
    same, again, other = (make_protocol(y, n_folds=3, seed=seed) for seed in (1, 1, 2))
    assert same.test.tolist() == again.test.tolist()
    assert same.fold_of.tolist() == again.fold_of.tolist()
    assert same.test.tolist() != other.test.tolist()


def test_a_test_part_that_is_given_is_taken_as_it_is():
    is_test = np.zeros(60, dtype=bool)
    is_test[[3, 4, 59]] = True
    found = make_protocol(np.arange(60) % 2, n_folds=3, seed=0, is_test=is_test)
    assert found.test.tolist() == [3, 4, 59]
    assert found.words.startswith("the test part as given; the others in 3 folds")


def test_of_very_many_units_so_many_are_judged_as_tell_enough():
    found = make_protocol(np.arange(300_000) % 2, n_folds=3, seed=0, unit="sentences")
    assert len(found.test) == MOST_TESTED
    assert {len(found.parts(fold)[1]) for fold in range(3)} == {MOST_JUDGED}
    assert len(found.learn) == 240_000
    assert "a fifth of the sentences held out as test part, 50,000 of it drawn" in found.words
    # What is judged is what the folds say, for scikit-learn as well.
    for fold, (learned, judged) in enumerate(found.folds()):
        assert set(found.parts(fold)[1]) <= set(found.learn[judged])
        assert found.parts(fold)[0].tolist() == found.learn[learned].tolist()


def test_with_few_documents_there_are_as_many_folds_as_can_be():
    groups = np.repeat(np.arange(5), 10)
    found = make_protocol(np.arange(50) % 2, groups, n_folds=5, seed=0)
    assert found.n_folds == 4


@pytest.mark.parametrize(
    ("y", "is_test", "sentence"),
    [
        ([0, 1] * 4, [True] * 8, "8 rows are too few to hold some out"),
        ([0, 1] * 4, [False] * 8, "8 rows are too few to hold some out"),
        ([0, 1], [True, False], "one class only; there are too few rows"),
        ([0, 0], [True, False], "2 rows are too few|1 rows are too few to deal into folds"),
    ],
)
def test_what_cannot_be_held_out_is_refused_in_a_sentence(y, is_test, sentence):
    with pytest.raises(InputError, match=sentence):
        make_protocol(np.array(y), n_folds=5, seed=0, is_test=np.array(is_test))
