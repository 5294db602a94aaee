"""Folds keep groups whole and classes in proportion, or say why they cannot."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.evaluation.folds import given_folds, make_folds, splits

documents = st.lists(
    st.lists(st.sampled_from(["LOC", "PER"]), min_size=1, max_size=8), min_size=6, max_size=30
)


@given(documents, st.integers(2, 5), st.booleans(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_a_document_is_never_split(texts, n_folds, stratified, seed):
    y = [label for text in texts for label in text]
    groups = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    try:
        fold_of = make_folds(y, n_folds=n_folds, groups=groups, stratified=stratified, seed=seed)
    except InputError as error:
        assume(not re.search("fewer than|nothing to tell|missing from|would be empty", str(error)))
        raise
    assert all(len(set(fold_of[groups == group])) == 1 for group in range(len(texts)))
    assert set(fold_of) == set(range(n_folds))
    for train, test in splits(fold_of):
        assert not set(groups[train]) & set(groups[test])
        assert {y[row] for row in train} == set(y)


@given(st.integers(2, 6), st.integers(6, 40), st.integers(6, 40), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_stratified_folds_hold_the_classes_in_proportion(n_folds, n_first, n_second, seed):
    y = np.array([0] * n_first + [1] * n_second)
    fold_of = make_folds(y, n_folds=n_folds, seed=seed)
    for label in (0, 1):
        sizes = np.bincount(fold_of[y == label], minlength=n_folds)
        assert sizes.max() - sizes.min() <= 1


def test_every_row_is_tested_once():
    fold_of = make_folds([0, 1] * 15, n_folds=5)
    tested = np.concatenate([test for _, test in splits(fold_of)])
    assert sorted(tested) == list(range(30))
    for train, test in splits(fold_of):
        assert sorted([*train, *test]) == list(range(30))


def test_the_seed_decides():
    y = [0, 1] * 50
    assert (make_folds(y, seed=1) == make_folds(y, seed=1)).all()
    assert (make_folds(y, seed=1) != make_folds(y, seed=2)).any()
    groups = np.arange(100) // 4
    for stratified in (True, False):
        folds = [make_folds(y, groups=groups, stratified=stratified, seed=s) for s in (1, 1, 2)]
        assert (folds[0] == folds[1]).all()
        assert (folds[0] != folds[2]).any()


@pytest.mark.parametrize(
    ("y", "options", "sentence"),
    [
        (["K"] * 9 + ["S"], {}, "class 'S' has 1 row, fewer than the 5 folds"),
        (
            ["K"] * 9 + ["S", "Z", "Z"],
            {},
            "class 'S' has 1 row, fewer than the 5 folds (and 1 more classes)",
        ),
        (["K"] * 9, {}, "all rows are of class K; there is nothing to tell apart"),
        (["K", "S"] * 5, {"n_folds": 1}, "n_folds is 1; it must be a whole number, 2 or more"),
        (["K", "S"], {"n_folds": 5}, "2 rows cannot be dealt into 5 folds"),
        (["K", "S"] * 5, {"groups": [0] * 10}, "1 groups cannot be dealt into 5 folds"),
        (["K", "S"] * 5, {"groups": [0] * 9}, "9 groups for 10 rows"),
        (["K", "S"] * 5, {"groups": [None] + ["a"] * 9}, "row 0 has no group"),
        (["K", None] * 5, {}, "row 1 has no class"),
        ([0, 1, -1] * 5, {}, "row 2 has no class"),
        ([0.0, float("nan")] * 5, {}, "row 1 has no class"),
        ([], {}, "there are no rows to make folds of"),
        (
            ["K", "S"] * 4 + ["Z"] * 2,
            {"n_folds": 2, "groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]},
            "class 'Z' would be missing from training in fold {}: all its rows are in that fold",
        ),
    ],
)
def test_data_that_make_no_folds_are_refused_with_the_reason(y, options, sentence):
    with pytest.raises(InputError) as error:
        make_folds(y, **options)
    assert str(error.value) in {sentence.format(fold) for fold in range(5)}


def test_rare_classes_can_be_let_through():
    fold_of = make_folds(["K"] * 9 + ["S"], allow_rare=True)
    assert set(fold_of) == set(range(5))


def test_the_two_classes_of_a_binary_task_may_be_called_minus_one_and_one():
    assert set(make_folds([-1, 1] * 5)) == set(range(5))


def test_folds_can_be_given():
    fold_of = given_folds([3, 3, 7, 7], ["K", "S", "K", "S"])
    assert fold_of.tolist() == [0, 0, 1, 1]
    for column, sentence in [
        ([1, 1, 1, 1], "all rows are in fold 1; at least 2 folds are needed"),
        ([1, 2], "2 folds for 4 rows"),
        ([1, None, 2, 2], "row 1 has no fold"),
        (
            [1, 2, 1, 2],
            "class 'K' would be missing from training in fold 0: all its rows are in that fold",
        ),
    ]:
        with pytest.raises(InputError) as error:
            given_folds(column, ["K", "S", "K", "S"])
        assert str(error.value) == sentence


def test_classes_that_are_all_rarer_than_the_folds_are_dealt_out_of_proportion():
    fold_of = make_folds(["K", "S", "T", "Z"], n_folds=2, allow_rare=True)
    assert np.bincount(fold_of).tolist() == [2, 2]
