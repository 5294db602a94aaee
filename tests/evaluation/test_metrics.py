"""The metrics agree with scikit-learn's, and counts of groups add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from featloom.errors import InputError
from featloom.evaluation.metrics import (
    accuracy,
    accuracy_of_counts,
    correct_counts,
    f1,
    f1_of_counts,
    log_loss,
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
    assert accuracy(y_true, y_pred) == pytest.approx(sk.accuracy_score(y_true, y_pred))
    expected = sk.f1_score(y_true, y_pred, labels=["LOC"], average="macro", zero_division=0)
    assert f1(y_true, y_pred, "LOC") == pytest.approx(expected)


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


@given(rows)
@settings(deadline=None)
def test_metrics_of_counts_are_those_of_labels(rows):
    y_true, y_pred, _ = (list(column) for column in zip(*rows, strict=True))
    assert f1_of_counts(positive_counts(y_true, y_pred, "PER"))[0] == f1(y_true, y_pred, "PER")
    assert accuracy_of_counts(correct_counts(y_true, y_pred))[0] == accuracy(y_true, y_pred)


@given(st.integers(1, 30), st.integers(0, 99))
@settings(deadline=None)
def test_log_loss_is_that_of_scikit_learn(n_rows, seed):
    random = np.random.default_rng(seed)
    y_true = random.choice(CLASSES, n_rows)
    probabilities = random.dirichlet(np.ones(3), n_rows)
    expected = sk.log_loss(y_true, probabilities, labels=CLASSES)
    assert log_loss(y_true, probabilities, CLASSES) == pytest.approx(expected)


def test_one_certain_error_does_not_make_the_log_loss_infinite():
    assert 30 < log_loss(["a"], np.array([[0.0, 1.0]]), ["a", "b"]) < 40


def test_classes_need_not_be_sorted():
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert log_loss(["b", "a"], probabilities, ["b", "a"]) == pytest.approx(
        -(np.log(0.9) + np.log(0.8)) / 2
    )


def test_f1_without_anything_to_find_is_zero():
    assert f1(["a", "a"], ["a", "a"], "b") == 0.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: accuracy(["a", "b"], ["a"]), "1 predictions for 2 rows"),
        (lambda: accuracy([], []), "there are no rows to score"),
        (lambda: accuracy(["a"], [0]), "the true classes and the predictions are not of one type"),
        (lambda: correct_counts(["a"], ["a"], groups=[1, 2]), "2 groups for 1 rows"),
        (
            lambda: log_loss(["a"], np.ones((2, 1)), ["a"]),
            "probabilities have shape (2, 1), (1, 1) was expected",
        ),
        (
            lambda: log_loss(["c"], np.ones((1, 1)), ["a"]),
            "row 0 has the class c, which is not known",
        ),
        (
            lambda: log_loss(["a"], np.array([[np.nan]]), ["a"]),
            "probabilities must lie between 0 and 1",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(call, sentence):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == sentence
