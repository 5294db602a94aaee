"""The metrics agree with scikit-learn's, and counts of groups add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from featloom.errors import InputError
from featloom.evaluation.metrics import (
    accuracy_of_counts,
    correct_counts,
    f1_of_counts,
    positive_counts,
)

CLASSES = ["LOC", "ORG", "PER"]
rows = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES), st.integers(0, 4)),
    min_size=1,
    max_size=40,
)


@given(rows)
@settings(max_examples=40, deadline=None)
def test_they_are_those_of_scikit_learn(rows):
    y_true, y_pred, _ = (list(column) for column in zip(*rows, strict=True))
    accuracy = accuracy_of_counts(correct_counts(y_true, y_pred))[0]
    assert accuracy == pytest.approx(sk.accuracy_score(y_true, y_pred))
    expected = sk.f1_score(y_true, y_pred, labels=["LOC"], average="macro", zero_division=0)
    f1 = f1_of_counts(positive_counts(y_true, y_pred, "LOC"))[0]
    assert f1 == pytest.approx(expected)


@given(rows)
@settings(deadline=None)
def test_counts_of_documents_add_up_to_those_of_the_whole(rows):
    y_true, y_pred, groups = (list(column) for column in zip(*rows, strict=True))
    for count in (
        lambda **of: positive_counts(y_true, y_pred, "LOC", **of),
        lambda **of: correct_counts(y_true, y_pred, **of),
    ):
        by_group = count(groups=groups)
        assert len(by_group) == len(set(groups))
        assert (by_group.sum(axis=0) == count()[0]).all()


def test_f1_without_anything_to_find_is_zero():
    assert f1_of_counts(positive_counts(["a", "a"], ["a", "a"], "b"))[0] == 0.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: correct_counts(["a", "b"], ["a"]), "1 predictions for 2 rows"),
        (lambda: correct_counts([], []), "there are no rows to score"),
        (
            lambda: correct_counts(["a"], [0]),
            "the true classes and the predictions are not of one type",
        ),
        (lambda: correct_counts(["a"], ["a"], groups=[1, 2]), "2 groups for 1 rows"),
    ],
)
def test_what_cannot_be_scored_is_refused(call, sentence):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == sentence
