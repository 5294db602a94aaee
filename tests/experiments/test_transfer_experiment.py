"""The experiment on transfer of relevance: small, whole, honest, and the same after a stop."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from experiments.transfer import CURVE_ROWS, PROTOCOLS, reproduce_transfer
from experiments.transfer_findings import over_tasks, sentence
from experiments.transfer_methods import (
    COLD,
    CURVE,
    METHODS,
    TransferTrials,
    candidate_of,
)
from experiments.transfer_models import PolynomialSVM, PriorsOfOthers
from experiments.transfer_tasks import (
    few_rows,
    folds_of_documents,
    folds_within_tasks,
    read_letters,
    read_verbs,
    some_tasks,
)
from featloom.errors import InputError
from featloom.methods.transfer import RelevancePrior
from featloom.runs import Run

SMALL = {"sample": 4, "seeds": 2, "n_folds": 2}


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
    return TransferTrials(verbs, folds)


@pytest.fixture(scope="module")
def table_run(data_folder, tmp_path_factory):
    return Run.create(tmp_path_factory.mktemp("transfer") / "run")


@pytest.fixture(scope="module")
def table(table_run):
    return reproduce_transfer(table_run, only="table", **SMALL)


@pytest.fixture(scope="module")
def curve(data_folder, tmp_path_factory):
    run = Run.create(tmp_path_factory.mktemp("curve") / "run")
    return reproduce_transfer(run, only="curve", sample=3, seeds=1)


def test_every_method_answers_in_both_protocols(table):
    rows = table["transfer"]["methods"]
    assert {(row["protocol"], row["name"]) for row in rows} == {
        (protocol, method.name) for protocol in PROTOCOLS for method in METHODS.values()
    }
    assert all(0 < row["interval"][0] <= row["value"] <= row["interval"][1] <= 1 for row in rows)


def test_the_papers_figures_stand_beside_ours(table):
    published = {row["name"]: row["published_settings"] for row in table["transfer"]["methods"]}
    assert published["TransFeat"] == [85.75]
    assert published["MDL selection"] == [83.50, 83.09, 83.34]
    assert published["alternating structure (Ando)"] == [85.94, 85.00, 85.51]
    assert "+2.25" in table["verdict"]


def test_what_transfers_is_tested_against_its_control(table):
    pairs = {
        tuple(name.partition(": ")[2] for name in (test["a"], test["b"]))
        for test in table["comparisons"]
    }
    ours = "relevance prior + linear SVM"
    assert (ours, "linear SVM") in pairs
    assert (ours, "shuffled prior + linear SVM") in pairs
    assert ("relevance prior + MDL selection", "MDL selection, flat cost tuned") in pairs
    assert ("TransFeat", "TransFeat without clusters") in pairs


def test_families_and_features_are_there_to_look_at(table):
    shown = table["transfer"]
    assert {"dobj", "tp"} <= {family["name"] for family in shown["families"]}
    assert shown["tasks"] == 4
    assert all(shown["chosen"]["task"] not in f["vouchers"] for f in shown["chosen"]["features"])


def test_a_finished_run_is_read_from_its_journal(table, table_run):
    again = reproduce_transfer(table_run, only="table", **SMALL)
    assert again == table


def test_a_journal_of_other_folds_is_refused(table, table_run):
    with pytest.raises(InputError, match=r"other data|journal"):
        reproduce_transfer(table_run, only="table", sample=4, seeds=2, n_folds=3)


def test_the_curve_has_both_worlds(curve):
    points = curve["transfer"]["curve"]
    small = [(p["method"], p["rows"]) for p in points if p["world"] == "small"]
    cold = [(p["method"], p["rows"]) for p in points if p["world"] == "cold"]
    assert len(small) == len(CURVE) * len(CURVE_ROWS)
    assert len(cold) == len(COLD) * (len(CURVE_ROWS) - 1)
    assert all(name.endswith("cold start") for name, _ in cold)


def test_a_stopped_run_goes_on_to_the_same_end(curve, data_folder, tmp_path):
    def stop(done, *_):
        if done == 9:
            raise TimeoutError("stopped")

    run = Run.create(tmp_path / "run")
    with pytest.raises(TimeoutError):
        reproduce_transfer(run, only="curve", sample=3, seeds=1, progress=stop)
    begun = []
    found = reproduce_transfer(
        run, only="curve", sample=3, seeds=1, progress=lambda done, *_: begun.append(done)
    )
    assert found["comparisons"] == curve["comparisons"]
    assert found["verdict"] == curve["verdict"]
    assert found["evaluations"] == curve["evaluations"] == begun[-1]


def test_the_tables_can_be_printed(table, curve):
    from rich.console import Console

    from featloom.cli.transfer_tables import show_transfer

    for result, word in ((table, "TransFeat, syntactic"), (curve, "rows a task")):
        text = io.StringIO()
        show_transfer(Console(file=text, width=80), result)
        assert word in text.getvalue()
        assert "…" not in text.getvalue()


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
    other = TransferTrials(replace(verbs, label=labels), trials.folds)
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
    before = trials._priors_of_others(train).cost(name)
    other = TransferTrials(replace(verbs, label=labels), trials.folds)
    assert np.array_equal(other._priors_of_others(train).cost(name), before)


def test_a_shuffled_prior_has_the_same_values_elsewhere(trials):
    asked = candidate_of("ours", protocol="folds", fold=0)
    train, _ = trials.split(asked)
    learned, _ = trials._prior_for(METHODS["ours"], asked, train)
    shuffled, _ = trials._prior_for(METHODS["shuffled"], {**asked, "seed": 1}, train)
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
    train, test = TransferTrials(letters, {}).split(asked)
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


def test_wrong_wishes_are_refused(tmp_path):
    run = Run.create(tmp_path / "run")
    with pytest.raises(InputError, match="no part 'tables'; there are table, curve, letters"):
        reproduce_transfer(run, only="tables")
    with pytest.raises(InputError, match="seeds is 0"):
        reproduce_transfer(run, seeds=0)


def test_a_sample_of_one_task_is_refused(data_folder, tmp_path):
    with pytest.raises(InputError, match="a sample of 1 tasks is too small"):
        reproduce_transfer(Run.create(tmp_path / "run"), only="curve", sample=1)


def test_the_command_runs_letters(data_folder, tmp_path):
    asked = ("reproduce", "transfer", "--only", "letters", "--sample", "2", "--seeds", "1")
    done = subprocess.run(
        [sys.executable, "-m", "featloom.cli.main", *asked, "--jobs", "1", "--quiet", "--json",
         "--out", str(tmp_path / "run")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kind"] == "transfer"
    assert {point["rows"] for point in result["transfer"]["curve"]} == {40, 200, 1000}
