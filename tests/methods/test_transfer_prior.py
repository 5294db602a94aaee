"""What many tasks say about the relevance of features."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.methods.transfer.families import family_of
from featloom.methods.transfer.relevance import RelevancePrior

NAMES = ["dobj_money", "dobj_word", "tp_day", "tp_night", "tp_rare"]


def a_task(seed: int, n: int = 60) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows whose class is told by the direct object, now and then wrongly; topics are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    money = np.where(rng.random(n) < 0.9, y, 1 - y)
    X = np.column_stack([money, 1 - money, rng.integers(0, 2, (n, 2)), np.zeros(n, dtype=int)])
    X[0, 4] = 1
    return sparse.csr_matrix(X), np.array(["say", "pay"])[y]


@pytest.fixture
def prior() -> RelevancePrior:
    tasks = {f"verb{i}": a_task(i) for i in range(6)}
    return RelevancePrior(feature_names=NAMES).fit(tasks)


def test_features_that_tasks_selected_are_likelier_cheaper_and_larger(prior):
    p = prior.probability()
    assert p[0] > 2 * p[2]
    assert prior.cost()[0] < prior.cost()[2] - 1
    assert prior.column_scale()[0] > 1 > prior.column_scale()[2]
    np.testing.assert_allclose(prior.cost(), 2 - np.log2(p))


def test_a_feature_that_no_task_met_has_the_rate_of_its_family(prior):
    rates = prior.family_rates()
    assert prior.candidate_counts()[4] == 0  # one row is too few to be a candidate
    assert prior.probability()[4] == pytest.approx(rates["tp"])
    p = prior.probability(names=["dobj_idea", "subj_bank", "dobj_money"])
    assert p[0] == pytest.approx(rates["dobj"])
    assert p[1] == pytest.approx(prior.rate())
    assert p[2] == prior.probability()[0]


def test_without_a_task_is_as_if_it_had_never_been_there(prior):
    others = RelevancePrior(feature_names=NAMES).fit(
        {f"verb{i}": a_task(i) for i in range(6) if i != 2}
    )
    for getter in ("probability", "cost", "column_scale", "selection_prior"):
        left_out = getattr(prior, getter)(exclude="verb2")
        np.testing.assert_array_equal(left_out, getattr(others, getter)())


def test_tasks_may_come_one_by_one_and_come_again():
    tasks = {f"verb{i}": a_task(i) for i in range(4)}
    at_once = RelevancePrior(feature_names=NAMES).fit(tasks)
    arriving = RelevancePrior(feature_names=NAMES)
    arriving.partial_fit("verb0", *a_task(99))
    for name, (X, y) in tasks.items():
        arriving.partial_fit(name, X, y)
    np.testing.assert_array_equal(arriving.probability(), at_once.probability())


def test_a_second_round_selects_at_the_costs_of_the_first():
    tasks = {f"verb{i}": a_task(i, 25) for i in range(8)}
    once = RelevancePrior(feature_names=NAMES).fit(tasks)
    twice = RelevancePrior(feature_names=NAMES, rounds=2).fit(tasks)
    backwards = RelevancePrior(feature_names=NAMES, rounds=2).fit(dict(reversed(tasks.items())))
    assert twice.selected_counts()[2:].sum() <= once.selected_counts()[2:].sum()
    assert twice.probability()[2] < once.probability()[0]
    np.testing.assert_allclose(twice.probability(), backwards.probability())
    np.testing.assert_array_equal(twice.candidate_counts(), once.candidate_counts())


def test_those_who_vouch_for_a_feature_are_the_tasks_that_selected_it(prior):
    vouchers = set(prior.vouchers("dobj_money")) | set(prior.vouchers("dobj_word"))
    assert vouchers == set(prior.tasks_)
    assert "verb1" not in prior.vouchers("dobj_money", exclude="verb1")
    assert prior.vouchers("never_seen") == []


def test_the_control_deals_the_same_probabilities_out_to_other_features(prior):
    control = RelevancePrior(feature_names=NAMES, shuffle=3)
    control.fit({f"verb{i}": a_task(i) for i in range(6)})
    for task in (None, "verb1"):
        p, q = prior.probability(task), control.probability(task)
        assert sorted(p) == sorted(q)
        assert (p != q).any()


def test_a_task_with_one_class_counts_for_nothing(prior):
    before = prior.probability()
    X, y = a_task(7)
    prior.partial_fit("dull", X, np.full(len(y), "pay"))
    np.testing.assert_array_equal(prior.probability(), before)


def test_tasks_with_features_of_their_own_meet_by_name():
    first = FeatureMatrix.from_csr([[1, 0], [0, 1]] * 10, names=["Prev=in", "Prev=at"])
    table = NominalTable.from_columns({"Prev": ["at", "on"] * 10}, labels=["a", "b"] * 10)
    prior = RelevancePrior().fit({"one": (first, ["a", "b"] * 10), "two": table})
    assert prior.feature_names_ == ["Prev=in", "Prev=at", "Prev=on"]
    assert prior.candidate_counts().tolist() == [1, 2, 1]
    assert prior.families_ == ["Prev"] * 3


def test_families_can_be_listed_or_computed():
    X, y = a_task(0)
    listed = RelevancePrior(feature_names=NAMES, families=["o", "o", "t", "t", "t"])
    computed = RelevancePrior(feature_names=NAMES, families=lambda name: name[0])
    assert set(listed.fit({"v": (X, y)}).family_rates()) == {"o", "t"}
    assert set(computed.fit({"v": (X, y)}).family_rates()) == {"d", "t"}


@given(st.text(max_size=12), st.text(max_size=6).filter(lambda v: "_" not in v and "=" not in v))
def test_a_family_is_what_a_value_was_joined_to(family, value):
    if "=" not in family:
        assert family_of(f"{family}_{value}") == family
        assert family_of(f"{family}={value}") == family


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=5, unique=True), st.floats(0.1, 100))
def test_relevance_is_a_probability_and_leans_on_the_family(seeds, kappa):
    prior = RelevancePrior(feature_names=NAMES, kappa=kappa)
    prior.fit({seed: a_task(seed, 30) for seed in seeds})
    p = prior.probability(exclude=seeds[0])
    assert ((p > 0) & (p < 1)).all()
    k, e = prior.selected_counts(seeds[0]), prior.candidate_counts(seeds[0])
    rates = prior.family_rates(seeds[0])
    theta = np.array([rates[family_of(name)] for name in NAMES])
    met = e > 0
    low, high = np.minimum(k[met] / e[met], theta[met]), np.maximum(k[met] / e[met], theta[met])
    assert ((p[met] >= low - 1e-12) & (p[met] <= high + 1e-12)).all()


def test_what_is_saved_is_what_is_loaded(prior, tmp_path):
    prior.save(tmp_path / "prior.json")
    again = RelevancePrior.load(tmp_path / "prior.json")
    for task in (None, "verb3"):
        np.testing.assert_array_equal(again.probability(task), prior.probability(task))
    assert again.tasks_ == prior.tasks_
    assert again.feature_names_ == NAMES
    assert again.vouchers("dobj_money") == prior.vouchers("dobj_money")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "prior.json").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.json", "prior.json"]


def test_a_prior_travels_to_other_processes(prior, tmp_path):
    prior.save(tmp_path / "prior.json")
    for sent in (prior, RelevancePrior.load(tmp_path / "prior.json")):
        arrived = pickle.loads(pickle.dumps(sent))
        np.testing.assert_array_equal(arrived.probability("verb1"), prior.probability("verb1"))


def test_a_file_lists_features_by_name_with_their_tasks(prior, tmp_path):
    prior.save(tmp_path / "prior.json")
    content = json.loads((tmp_path / "prior.json").read_text())
    assert list(content["features"]) == sorted(NAMES)
    assert content["features"]["dobj_money"]["selected_in"] == prior.vouchers("dobj_money")
    assert content["settings"]["kappa"] == 10


def test_more_can_be_learned_after_loading(prior, tmp_path):
    prior.save(tmp_path / "prior.json")
    again = RelevancePrior.load(tmp_path / "prior.json").partial_fit("late", *a_task(50))
    prior.partial_fit("late", *a_task(50))
    np.testing.assert_array_equal(again.probability(), prior.probability())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(format="other"), "format is 'other'"),
        (lambda c: c.update(version=9), "version 9"),
        (lambda c: c["settings"].pop("bits"), "setting 'bits' is missing or unknown"),
        (lambda c: c["settings"].update(kappa=-1), "kappa is -1"),
        (lambda c: c["settings"].update(kappa="ten"), "settings cannot be used"),
        (lambda c: c["features"]["tp_day"].update(number=0), "out of range or taken"),
        (lambda c: c["features"]["tp_day"].update(candidate=77), "do not agree"),
        (lambda c: c["features"]["tp_rare"].update(selected_in=["verb1"]), "no candidate"),
        (lambda c: c["tasks"].remove("verb1"), "a task that is not in the list"),
        (lambda c: c.pop("tasks"), "not a relevance prior"),
        (lambda c: c.update({"two\nlines": 1}), "unknown field `two lines`"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(prior, tmp_path, change, words):
    path = tmp_path / "prior.json"
    prior.save(path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ReadError, match=words) as caught:
        RelevancePrior.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_faults_are_told_in_one_line(prior, tmp_path):
    X, y = a_task(0)
    with pytest.raises(InputError, match="exclude is 'verb9', which is none of the 6 tasks"):
        prior.cost(exclude="verb9")
    with pytest.raises(InputError, match="X has 4 features, 5 are known"):
        prior.partial_fit("new", X[:, :4], y)
    with pytest.raises(InputError, match="task 'new': y has shape"):
        prior.partial_fit("new", X, y[:-1])
    with pytest.raises(InputError, match="features must be binary"):
        prior.partial_fit("new", X * 2, y)
    with pytest.raises(InputError, match="task 'new' has no classes"):
        prior.partial_fit("new", X)
    with pytest.raises(InputError, match="feature 'CAP' is not among the feature names"):
        prior.partial_fit("new", FeatureMatrix.from_csr([[1], [0]], names=["CAP"]), ["a", "b"])
    with pytest.raises(InputError, match="kappa is 0; it must be a number above 0"):
        RelevancePrior(kappa=0).fit({"v": (X, y)})
    with pytest.raises(InputError, match="2 families for 5 feature names"):
        RelevancePrior(feature_names=NAMES, families=["a", "b"]).fit({"v": (X, y)})
    with pytest.raises(InputError, match="tasks must be a mapping"):
        RelevancePrior().fit([(X, y)])
    with pytest.raises(InputError, match="cannot be written; names of tasks are text"):
        RelevancePrior().fit({("a", 1): (X, y)}).save(tmp_path / "p.json")
    with pytest.raises(ReadError, match="cannot be read"):
        RelevancePrior.load(tmp_path / "absent.json")


def test_on_verbs_objects_matter_more_than_topics(data_folder):
    data = np.load(data_folder / "wsd-verbs" / "ewt.npz")
    ones = np.ones(len(data["indices"]))
    X = sparse.csr_matrix((ones, data["indices"], data["indptr"]), shape=data["shape"])
    tasks = {}
    for number, verb in enumerate(data["verbs"].tolist()):
        rows = np.flatnonzero(data["verb"] == number)
        tasks[verb] = X[rows], data["sense"][rows]
    prior = RelevancePrior(feature_names=data["feats"].tolist()).fit(tasks)
    rates = prior.family_rates()
    assert rates["prt"] > 5 * rates["tp"]
    assert rates["dobj"] > 2 * rates["tp"]
