"""The tasks, the models and the trials of the experiment on transfer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from experiments.transfer import METHODS, Trials, candidate_of, over_tasks, sentence
from experiments.transfer_models import PolynomialSVM, PriorsOfOthers
from experiments.transfer_tasks import (
    few_rows,
    folds_of_documents,
    folds_within_tasks,
    read_letters,
    read_verbs,
    some_tasks,
)
from featloom.methods.transfer import RelevancePrior


@pytest.fixture(scope="module")
def verbs(data_folder):
    return some_tasks(read_verbs(), 4, seed=0)


@pytest.fixture(scope="module")
def trials(verbs):
    folds = {
        "folds": folds_within_tasks(verbs, 2, 0),
        "documents": folds_of_documents(verbs, 2, 0),
        "small": folds_within_tasks(verbs, 5, 0),
    }
    return Trials(verbs, folds)


def test_one_document_is_in_one_fold(verbs, trials):
    folds = trials.folds["documents"]
    documents = np.unique(verbs.documents)
    assert all(len(np.unique(folds[verbs.documents == doc])) == 1 for doc in documents)


def test_senses_are_spread_evenly_within_a_verb(verbs, trials):
    for label in np.unique(verbs.label):
        sizes = np.bincount(trials.folds["folds"][verbs.label == label], minlength=2)
        assert abs(sizes[0] - sizes[1]) <= 1


def test_a_trial_learns_nothing_from_test_labels(verbs, trials):
    asked = candidate_of("prior-mdl", protocol="folds", fold=0)
    _, test = trials.split(asked)
    labels = verbs.label.astype(object)
    labels[test] = "unheard of"
    other = Trials(replace(verbs, label=labels), trials.folds)
    one, blind = trials(asked), other(asked)
    assert blind["features"] == one["features"]
    assert blind["right"] == [0, 0, 0, 0]
    assert blind["rows"] == one["rows"]


def test_a_cold_start_sees_nothing_of_the_tasks_other_rows(verbs, trials):
    name = verbs.tasks[0]
    train = np.arange(len(verbs))
    labels = verbs.label.copy()
    own = np.flatnonzero(verbs.task == name)
    labels[own] = np.random.default_rng(0).permutation(labels[own])
    before = trials.priors_of_others(train).cost(name)
    other = Trials(replace(verbs, label=labels), trials.folds)
    assert np.array_equal(other.priors_of_others(train).cost(name), before)


def test_a_shuffled_prior_has_the_same_values_elsewhere(trials):
    asked = candidate_of("ours", protocol="folds", fold=0)
    train, _ = trials.split(asked)
    learned, _ = trials.prior_for(METHODS["ours"], asked, train)
    shuffled, _ = trials.prior_for(METHODS["shuffled"], {**asked, "seed": 1}, train)
    one, other = learned.probability(), shuffled.probability()
    assert np.array_equal(np.sort(one), np.sort(other))
    assert not np.array_equal(one, other)


def test_priors_of_others_are_one_prior_less_a_task_after_one_round(verbs):
    parts = verbs.by_task(np.arange(len(verbs)))
    tasks = {name: (verbs.X[rows], verbs.label[rows]) for name, rows in parts.items()}
    prior = RelevancePrior(feature_names=verbs.names).fit(tasks)
    name = verbs.tasks[1]
    others = {other: pair for other, pair in tasks.items() if other != name}
    alone = PriorsOfOthers({name: RelevancePrior(feature_names=verbs.names).fit(others)})
    assert np.allclose(alone.cost(name), prior.cost(name))


def test_letters_are_tasks_with_their_neighbours(data_folder):
    letters = some_tasks(read_letters(), 3, seed=0)
    families = {name.partition("=")[0] for name in letters.names}
    assert families == {"prev3", "prev2", "prev1", "next1", "next2", "next3"}
    assert (np.diff(letters.X.indptr) == 6).all()
    asked = candidate_of("flat", protocol="small", rows=40, seed=0)
    train, test = Trials(letters, {}).split(asked)
    assert len(train) == 120
    assert letters.is_test[test].all()
    assert not letters.is_test[train].any()


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.integers(2, 12))
def test_few_rows_show_two_classes_where_there_are_two(labels, size):
    labels = np.array(labels)
    drawn = few_rows(labels, size, seed=0, number=3)
    assert len(np.unique(drawn)) == min(size, len(labels))
    assert (len(np.unique(labels[drawn])) > 1) == (len(np.unique(labels)) > 1)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_polynomial_machine_is_that_of_scikit_learn(degree):
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((60, 30)) < 0.3).astype(float))
    y = rng.integers(3, size=60)
    ours = PolynomialSVM(C=2.0, degree=degree).fit(X[:40], y[:40]).predict(X[40:])
    theirs = SVC(C=2.0, kernel="poly", degree=degree, coef0=1.0).fit(X[:40], y[:40])
    assert np.array_equal(ours, theirs.predict(X[40:]))


def test_tasks_without_test_rows_have_no_voice():
    one, other = np.array([[3, 4], [2, 4], [0, 0]]), np.array([[2, 4], [2, 4], [0, 0]])
    test = over_tasks(("x: A", one), ("x: B", other))
    assert test["difference"] == pytest.approx(0.125)
    assert sentence("x", [test]).startswith("x: A 62.50 does not differ beyond chance from B 50.00")
