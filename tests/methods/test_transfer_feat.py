"""TransFeat: what similar classes of other tasks selected is cheap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from featloom.errors import InputError
from featloom.methods.transfer.transfeat import TaskClass, TransFeat, is_semantic

NAMES = ["dobj_man", "tp_police", "dobj_idea", *(f"tp_noise{j}" for j in range(12))]


def a_verb(seed: int, n: int = 80) -> tuple[sparse.csr_matrix, np.ndarray]:
    """One sense takes a man as its object, the other an idea; the police is near the first."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.zeros((n, len(NAMES)), dtype=int)
    X[:, 0] = (y == 0) & (rng.random(n) < 0.8)
    X[:, 1] = (y == 0) & (rng.random(n) < 0.5)
    X[:, 2] = (y == 1) & (rng.random(n) < 0.8)
    X[:, 3:] = rng.random((n, 12)) < 0.3
    return sparse.csr_matrix(X), np.array(["body", "mind"])[y]


@pytest.fixture(scope="module")
def verbs():
    return {name: a_verb(seed, 300) for seed, name in enumerate(["arrest", "capture", "dismiss"])}


def test_senses_that_select_the_same_features_meet_in_a_cluster(verbs):
    model = TransFeat(feature_names=NAMES, background=0).fit(verbs)
    bodies = {model.clusters_[TaskClass(verb, "body")] for verb in verbs}
    minds = {model.clusters_[TaskClass(verb, "mind")] for verb in verbs}
    assert len(bodies) == len(minds) == 1
    assert bodies != minds


def test_what_the_others_selected_is_cheaper_and_what_they_left_dearer(verbs):
    model = TransFeat(feature_names=NAMES, background=0).fit(verbs)
    costs = model.costs_[TaskClass("arrest", "body")]
    plain = np.log2(len(NAMES)) + 2
    assert costs[0] < plain < costs[5]


def test_a_task_learns_nothing_from_its_own_classes(verbs):
    alone = TransFeat(feature_names=NAMES, background=0).fit({"arrest": verbs["arrest"]})
    for sense, selection in alone.selections_.items():
        first = alone.first_selections_[sense]
        assert selection.features.tolist() == first.features.tolist()


def test_costs_are_the_beta_prior_by_hand(verbs):
    model = TransFeat(feature_names=NAMES, clusters=False, prior="flat").fit(verbs)
    others = [s for s in model.first_selections_ if s.task != "arrest"]
    k = np.zeros(len(NAMES))
    for sense in others:
        k[model.first_selections_[sense].features] += 1
    expected = 2 - np.log2((k + 1) / (len(others) + 2))
    np.testing.assert_allclose(model.costs_[TaskClass("arrest", "mind")], expected)


def test_a_class_in_the_background_keeps_its_first_selection(verbs):
    model = TransFeat(feature_names=NAMES, threshold=1.0, background=0.9).fit(verbs)
    assert set(model.clusters_.values()) == {-1}
    for sense, first in model.first_selections_.items():
        assert model.selections_[sense].features.tolist() == first.features.tolist()


@pytest.mark.parametrize("settings", ["both", "semantic", "syntactic"])
@pytest.mark.parametrize("hold_out", ["task", "class"])
def test_rows_get_their_senses(verbs, settings, hold_out):
    model = TransFeat(feature_names=NAMES, settings=settings, hold_out=hold_out).fit(verbs)
    X, y = a_verb(100, 200)
    assert np.mean(model.predict("dismiss", X) == y) > 0.8


def test_clusters_look_at_the_families_they_are_told_to(verbs):
    model = TransFeat(feature_names=NAMES, settings="semantic", background=0).fit(verbs)
    # The mind sense selects its object alone, which is no semantic feature.
    assert {model.clusters_[TaskClass(verb, "mind")] for verb in verbs} == {-1}
    mine = TransFeat(
        feature_names=NAMES, settings="semantic", background=0, semantic=lambda name: True
    ).fit(verbs)
    assert {mine.clusters_[TaskClass(verb, "mind")] for verb in verbs} != {-1}


def test_exposure_counts_only_where_a_feature_was_met():
    X, y = a_verb(0)
    without = X.tolil()
    without[:, 0] = 0
    tasks = {"a": (X, y), "b": (X, y), "c": (without.tocsr(), y)}
    seen = TransFeat(feature_names=NAMES, clusters=False).fit(tasks)
    everywhere = TransFeat(feature_names=NAMES, clusters=False, exposure=False).fit(tasks)
    sense = TaskClass("a", "body")
    assert seen.costs_[sense][0] < everywhere.costs_[sense][0]


def test_a_task_with_one_class_predicts_it(verbs):
    X, y = a_verb(5)
    model = TransFeat(feature_names=NAMES).fit({**verbs, "dull": (X, np.full(len(y), "only"))})
    assert set(model.predict("dull", X)) == {"only"}


def test_semantic_features_are_topics_and_classes_of_meaning():
    assert is_semantic("tp_bank")
    assert is_semantic("subjsyn_12")
    assert is_semantic("ppsyn_in_10")
    assert not is_semantic("dobj_money")
    assert not is_semantic("pos+1+2_rp+to")


def test_faults_are_told_in_one_line(verbs):
    with pytest.raises(InputError, match="settings is 'all'; it can be 'both', 'semantic' or"):
        TransFeat(settings="all").fit(verbs)
    with pytest.raises(InputError, match="task 'fly' was not among those fitted"):
        TransFeat().fit(verbs).predict("fly", verbs["arrest"][0])
