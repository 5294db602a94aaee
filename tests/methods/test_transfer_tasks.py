"""A model a task, with and without the help of the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.methods.transfer import baselines
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.structure import AlternatingStructure
from featloom.methods.transfer.tasks import MultiTask

AB = {"labels": np.array([0, 1]), "classes": ("a", "b")}
N_NOISE = 150
NAMES = [*(f"dobj_{j}" for j in range(4)), *(f"tp_{j}" for j in range(N_NOISE))]


def customers(n_tasks: int = 20, n: int = 24, seed: int = 0):
    """In every task one of four objects tells the class, which one differs; topics never do."""
    rng = np.random.default_rng(seed)
    parts, classes, tasks = [], [], []
    for task in range(n_tasks):
        y = rng.integers(0, 2, n)
        X = rng.random((n, len(NAMES))) < 0.15
        X[:, :4] = rng.random((n, 4)) < 0.5
        X[:, task % 4] = np.where(rng.random(n) < 0.93, y, 1 - y)
        parts.append(X)
        classes.append(np.array(["no", "yes"])[y])
        tasks += [f"site{task}"] * n
    return (
        sparse.csr_matrix(np.vstack(parts).astype(float)),
        np.concatenate(classes),
        np.array(tasks),
    )


def halves(X, y, tasks):
    train = np.arange(len(y)) % 2 == 0
    return (X[train], y[train], tasks[train]), (X[~train], y[~train], tasks[~train])


def test_what_others_found_relevant_helps_where_rows_are_few():
    (X, y, t), (X2, y2, t2) = halves(*customers(n=40))
    prior = RelevancePrior(feature_names=NAMES, bits=4, power=0.5)
    helped = MultiTask(prior=prior, strengths=(1.0,)).fit(X, y, tasks=t)
    alone = MultiTask(prior=None, strengths=(1.0,)).fit(X, y, tasks=t)
    assert helped.score(X2, y2, tasks=t2) > alone.score(X2, y2, tasks=t2) + 0.05


def test_a_task_is_given_the_prior_of_the_others_alone():
    X, y, t = customers(6)
    model = MultiTask(prior=RelevancePrior(feature_names=NAMES), strengths=(1.0,))
    model.fit(X, y, tasks=t)
    own = model.models_["site2"]
    expected = model.prior_.column_scale(exclude="site2")[own.columns]
    np.testing.assert_allclose(own.scale, expected)


def test_a_fitted_prior_is_used_as_it_is():
    X, y, t = customers(6)
    parts = {task: (X[t == task], y[t == task]) for task in np.unique(t)}
    prior = RelevancePrior(feature_names=NAMES).fit(parts)
    before = prior.probability()
    model = MultiTask(prior=prior, strengths=(1.0,)).fit(X[:24], y[:24], tasks=["new"] * 24)
    np.testing.assert_array_equal(model.prior_.probability(), before)
    own = model.models_["new"]
    np.testing.assert_allclose(own.scale, prior.column_scale()[own.columns])


def test_power_0_is_no_transfer():
    (X, y, t), (X2, _, t2) = halves(*customers(6))
    none = MultiTask(prior=None, strengths=(0.3,)).fit(X, y, tasks=t)
    zero = MultiTask(strengths=(0.3,), powers=(0.0,)).fit(X, y, tasks=t)
    assert (none.predict(X2, tasks=t2) == zero.predict(X2, tasks=t2)).all()


def test_the_setting_is_chosen_for_all_tasks_or_for_each():
    X, y, t = customers(8)
    shared = MultiTask(strengths=(0.001, 1.0), powers=(0, 0.5)).fit(X, y, tasks=t)
    assert all(model.setting == shared.setting_ for model in shared.models_.values())
    assert set(shared.setting_) == {"C", "power"}
    each = MultiTask(strengths=(0.001, 1.0), share=False).fit(X, y, tasks=t)
    assert {model.setting["C"] for model in each.models_.values()} <= {0.001, 1.0}


def test_threads_change_nothing():
    X, y, t = customers(6)
    one = MultiTask().fit(X, y, tasks=t).predict(X, tasks=t)
    two = MultiTask(n_jobs=2).fit(X, y, tasks=t).predict(X, tasks=t)
    assert (one == two).all()


def test_a_new_task_needs_a_handful_of_rows():
    X, y, t = customers(13, n=40)
    old = t != "site12"
    model = MultiTask(prior=RelevancePrior(bits=4, power=0.5, families=lambda name: "all"))
    model.fit(X[old], y[old], tasks=t[old])
    new_X, new_y = X[~old], y[~old]
    with pytest.raises(InputError, match=r"task 'site12' has no model; give it a few rows"):
        model.predict(new_X, tasks=t[~old])
    model.adapt("site12", new_X[:12], new_y[:12])
    assert model.score(new_X[12:], new_y[12:], tasks=t[~old][12:]) > 0.7


def test_a_task_with_one_class_predicts_it():
    X, y, t = customers(3)
    y = y.copy()
    y[t == "site1"] = "yes"
    model = MultiTask().fit(X, y, tasks=t)
    assert set(model.predict(X[t == "site1"], tasks=t[t == "site1"])) == {"yes"}


def test_the_task_may_be_a_column_of_the_table():
    table = NominalTable.from_columns(
        {"verb": ["add", "give"] * 8, "object": ["money", "money", "word", "word"] * 4},
        labels=["pay", "pay", "say", "say"] * 4,
    )
    model = MultiTask(strengths=(1.0,)).fit(table, tasks="verb")
    assert model.feature_names_ == ["object=money", "object=word"]
    assert model.predict(table, tasks="verb").tolist() == ["pay", "pay", "say", "say"] * 4
    with pytest.raises(InputError, match="no column is called 'site'; there are verb, object"):
        model.fit(table, tasks="site")


def test_any_linear_model_will_do():
    X, y, t = customers(4)
    model = MultiTask(LogisticRegression()).fit(X, y, tasks=t)
    assert model.setting_["C"] == model.models_["site0"].estimator.C


def test_costs_can_be_handed_to_a_stepwise_selection():
    from featloom.learners.stepwise import MDLSelector

    X, y, t = customers(8, n=60)
    prior = RelevancePrior(feature_names=NAMES)
    model = MultiTask(MDLSelector(), prior=prior, use="cost", strengths=None).fit(X, y, tasks=t)
    assert model.score(X, y, tasks=t) > 0.85
    own = model.models_["site3"]
    np.testing.assert_allclose(
        own.estimator.costs_, model.prior_.cost(exclude="site3")[own.columns]
    )


@pytest.mark.parametrize("name", baselines.BASELINES)
def test_every_baseline_learns(name):
    X, y, t = customers(4, n=40)
    model = baselines.BASELINES[name]().fit(X, y, tasks=t)
    commonest = np.mean([max(np.mean(y[t == s] == c) for c in ("no", "yes")) for s in np.unique(t)])
    assert model.score(X, y, tasks=t) >= commonest - 1e-9


@pytest.mark.parametrize("by_family", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber"])
def test_shared_directions_serve_all_tasks(by_family, loss):
    rng = np.random.default_rng(0)
    meaning = rng.permutation(60) < 30  # in all tasks the same features speak for "yes"
    parts = {}
    for task in range(12):
        X = rng.random((60, 60)) < 0.15
        score = X @ np.where(meaning, 1, -1) + rng.normal(0, 0.5, 60)
        parts[task] = sparse.csr_matrix(X.astype(float)), np.where(score > 0, "yes", "no")
    train = {task: (X[:20], y[:20]) for task, (X, y) in parts.items()}

    def accuracy(model):
        model.fit(train)
        return np.mean([np.mean(model.predict(t, X[20:]) == y[20:]) for t, (X, y) in parts.items()])

    shared = AlternatingStructure(
        n_directions=2, rounds=2, loss=loss, by_family=by_family, families=lambda name: name[:2]
    )
    alone = AlternatingStructure(n_directions=1, ease=1e-6, loss=loss)
    assert accuracy(shared) > accuracy(alone) + 0.03
    assert shared.directions_.shape[1] == 60


def test_directions_are_orthonormal_and_reproducible():
    X, y, t = customers(5)
    parts = {task: (X[t == task], y[t == task]) for task in np.unique(t)}
    first = AlternatingStructure(n_directions=3).fit(parts).directions_.toarray()
    again = AlternatingStructure(n_directions=3).fit(parts).directions_.toarray()
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first @ first.T, np.eye(3), atol=1e-8)


def test_faults_are_told_in_one_line():
    X, y, t = customers(2)
    with pytest.raises(InputError, match="tasks have shape"):
        MultiTask().fit(X, y, tasks=t[:-1])
    with pytest.raises(InputError, match="use is 'weights'; it can be 'scale' or 'cost'"):
        MultiTask(use="weights").fit(X, y, tasks=t)
    with pytest.raises(InputError, match="no value of 'C' to choose from"):
        MultiTask(strengths=()).fit(X, y, tasks=t)
    with pytest.raises(InputError, match="prior is 'yes'"):
        MultiTask(prior="yes").fit(X, y, tasks=t)
    with pytest.raises(InputError, match="X has no named columns"):
        MultiTask().fit(X, y, tasks="site")
    other = RelevancePrior().fit({"a": FeatureMatrix.from_csr([[1], [0]], names=["CAP"], **AB)})
    with pytest.raises(InputError, match="the prior knows none of the features"):
        MultiTask(prior=other).fit(X, y, tasks=t)
    with pytest.raises(InputError, match="2 feature names for 154 features"):
        MultiTask(feature_names=["a", "b"]).fit(X, y, tasks=t)
    with pytest.raises(InputError, match="loss is 'hinge'"):
        AlternatingStructure(loss="hinge").fit({"a": (X, y)})
    with pytest.raises(InputError, match="no task has two classes"):
        AlternatingStructure().fit({"a": (X, np.zeros(len(y), dtype=int))})


def test_twenty_rows_a_verb_gain_from_the_other_verbs_and_not_from_the_control(data_folder):
    data = np.load(data_folder / "wsd-verbs" / "ewt.npz")
    ones = np.ones(len(data["indices"]))
    X = sparse.csr_matrix((ones, data["indices"], data["indptr"]), shape=data["shape"])
    y, verbs, names = data["sense"], data["verb"], data["feats"].tolist()
    rng = np.random.default_rng(0)
    train = np.zeros(len(y), dtype=bool)
    for verb in np.unique(verbs):
        train[rng.choice(np.flatnonzero(verbs == verb), 20, replace=False)] = True

    def accuracy(prior):
        model = MultiTask(prior=prior, strengths=(0.1,))
        model.fit(X[train], y[train], tasks=verbs[train])
        return model.score(X[~train], y[~train], tasks=verbs[~train])

    alone = accuracy(None)
    assert accuracy(RelevancePrior(feature_names=names, rounds=2)) > alone + 0.02
    assert accuracy(RelevancePrior(feature_names=names, rounds=2, shuffle=0)) < alone + 0.01
