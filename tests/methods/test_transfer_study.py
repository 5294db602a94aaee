"""What other tasks are worth: parts, warnings, paired tests, controls and verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from featloom.data.matrix import FeatureMatrix
from featloom.errors import ReadError
from featloom.methods.transfer.findings import compare_over_tasks, families_section, verdict
from featloom.methods.transfer.parts import TransferParts, first_rows, transfer_parts
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.study import (
    ALONE,
    FIXED,
    FLAT,
    HELPED,
    ROLES,
    SHUFFLED,
    study_transfer,
)
from featloom.report.page import check_result
from featloom.results import Comparison

N_NOISE = 120
NAMES = [*(f"dobj_{j}" for j in range(4)), *(f"tp_{j}" for j in range(N_NOISE))]


def sites(n_tasks: int = 16, n: int = 40, seed: int = 0, *, groups: bool = False) -> FeatureMatrix:
    """In every task one of four objects tells the class, which one differs; topics never do."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_tasks * n)
    X = rng.random((n_tasks * n, len(NAMES))) < 0.15
    X[:, :4] = rng.random((n_tasks * n, 4)) < 0.5
    task = np.repeat(np.arange(n_tasks), n)
    right = rng.random(n_tasks * n) < 0.93
    X[np.arange(len(y)), task % 4] = np.where(right, y, 1 - y)
    of_group = np.arange(len(y)) // 4 if groups else None
    matrix = FeatureMatrix.from_csr(
        X.astype(float), names=NAMES, labels=y, classes=("no", "yes"), target="hot",
        groups=of_group, source="sites",
    )  # fmt: skip
    return matrix.with_tasks([f"site{t:02}" for t in task])


def rows_of(tasks: list[str], features: list[list[int]], labels: list[int], names) -> FeatureMatrix:
    matrix = FeatureMatrix.from_csr(
        np.array(features), names=names, labels=np.array(labels), classes=("a", "b")
    )
    return matrix.with_tasks(tasks)


@pytest.fixture(scope="module")
def study() -> dict:
    data = sites()
    return study_transfer(data, transfer_parts(data, rows=20), curve=False)


def test_a_fifth_of_every_class_of_every_task_is_held_out():
    data = sites(5, 40)
    parts = transfer_parts(data)
    assert parts.warnings == ()
    for task in np.unique(data.tasks):
        for label in ("no", "yes"):
            n, n_test = (
                int(((part.tasks == task) & (part.labels == label)).sum())
                for part in (data, parts.test)
            )
            assert abs(n_test - n / 5) <= 1
    assert parts.words == "20 % of the rows of every task held out as test part"


def test_a_group_is_never_split():
    data = sites(5, 40, groups=True)
    parts = transfer_parts(data)
    assert not set(parts.train.groups) & set(parts.test.groups)
    assert ", groups whole," in parts.words


def test_rows_of_a_task_are_cut_to_a_number_and_fewer_are_among_more():
    data = sites(4, 40)
    few, more = first_rows(data, 5), first_rows(data, 12)
    assert np.unique(few.tasks, return_counts=True)[1].tolist() == [5] * 4
    rows = [{tuple(part.row_names(i)) for i in range(len(part))} for part in (few, more)]
    assert rows[0] <= rows[1]


def test_one_task_has_nobody_to_learn_from():
    with pytest.raises(ReadError, match="one task; there is nothing to carry over from others"):
        transfer_parts(sites(1))


def test_a_task_of_the_test_part_alone_is_left_out_and_named():
    data, test = sites(4), sites(5, seed=1)
    parts = transfer_parts(data, test)
    assert "site04" not in parts.test.task_of_row
    assert parts.warnings[0] == "1 task (site04) in the test part alone, not reported on"
    elsewhere = test.with_tasks(["other"] * len(test))
    with pytest.raises(ReadError, match="no row is left to report on"):
        transfer_parts(data, elsewhere)


def test_test_rows_are_read_by_the_names_of_features():
    data = sites(4)
    order = np.arange(len(NAMES))[::-1]
    turned = FeatureMatrix.from_csr(
        data.to_csr()[:, order], names=[NAMES[j] for j in order],
        labels=data.labels, classes=data.classes,
    )  # fmt: skip
    parts = transfer_parts(data, turned.with_tasks(data.task_of_row))
    assert (parts.test.to_csr() != data.to_csr()).nnz == 0
    others = FeatureMatrix.from_csr(
        np.ones((2, 1)), names=["other"], labels=np.array([0, 1]), classes=("no", "yes")
    )
    with pytest.raises(ReadError, match="no feature that sites has"):
        transfer_parts(data, others.with_tasks(["site00", "site01"]))


def test_odd_tasks_are_told_of():
    names = ["dobj_me", "subj_you", "tp_day"]
    train = rows_of(
        ["ask", "ask", "tell", "tell", "say", "lone"],
        [[1, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [0, 1, 0, 0, 1, 1],
        names,
    )
    test = rows_of(["ask", "tell"], [[1, 0, 0], [1, 0, 0]], [0, 1], names)
    said = transfer_parts(train, test).warnings
    assert said[0] == "2 tasks (lone, say) with a single row to learn from"
    assert said[1].startswith("3 tasks (lone, say, tell) with one class to learn from")
    assert said[2] == "2 tasks (lone, say) without a row in the test part, learned from only"
    assert said[3].startswith("2 tasks (lone, say) without a feature that another task has")
    assert said[4].startswith("2 families (subj, tp) in one task alone")


def test_the_prior_helps_small_tasks_and_shuffled_it_does_not(study):
    value = {model.name: model.test for model in study["leaderboard"]}
    assert list(value) == list(ROLES)
    assert value[HELPED] > value[ALONE] + 0.04
    assert value[SHUFFLED] < value[HELPED] - 0.04
    gain = study["comparisons"][0]
    assert (gain.a, gain.b, gain.significant) == (HELPED, ALONE, True)
    assert gain.test == "paired over 16 tasks"
    assert study["verdict"].startswith("What other tasks found relevant lifts a linear SVM by ")
    assert "above the same prior shuffled over features" in study["verdict"]
    assert study["significant"]


def test_controls_are_marked_and_tested_against_their_like(study):
    models = {model.name: model for model in study["leaderboard"]}
    controls = [name for name, model in models.items() if model.role == "control"]
    assert controls == [SHUFFLED, FLAT, FIXED]
    assert models[ALONE].more["t"] is None
    assert {model.more["against"] for model in models.values()} == {None, ALONE, FLAT}


def test_the_result_can_be_shown(study, rows_of):
    names = [section.name for section in check_result(study).sections]
    assert names == ["Tasks", "Clusters", "Families", "Vouchers"]
    families = rows_of(study, "Families")
    assert [(row["family"], row["features"]) for row in families] == [("dobj", 4), ("tp", N_NOISE)]
    tasks = rows_of(study, "Tasks")
    assert sorted(row["task"] for row in tasks) == [f"site{j:02}" for j in range(16)]
    gains = [row["gain"] for row in tasks]
    assert gains == sorted(gains, reverse=True)


def test_a_chosen_feature_names_the_other_tasks_that_chose_it(study, rows_of):
    title = next(one.title for one in study["sections"] if one.name == "Vouchers")
    vouched = [row for row in rows_of(study, "Vouchers") if row["vouchers"]]
    assert vouched
    for row in vouched:
        assert len(row["tasks that vouched"]) == row["vouchers"]
        assert not any(f"“{task}”" in title for task in row["tasks that vouched"])
        assert row["cost after"] < row["cost before"]
        assert row["saved, bits"] > row["cost after"]


def test_the_curve_ends_with_all_rows():
    data = sites(4, 30)
    result = study_transfer(data, transfer_parts(data))
    figure, table = result["sections"][0].blocks
    lines = {line.name: line for line in figure.lines}
    assert list(lines) == [ALONE, HELPED, SHUFFLED]
    assert lines[ALONE].x == [5, 10, 20, None]
    last = next(model.test for model in result["leaderboard"] if model.name == HELPED)
    assert lines[HELPED].y[-1] == table.rows[1][-1] == last


def test_the_same_seed_gives_the_same_result(study):
    data = sites()
    again = study_transfer(data, transfer_parts(data, rows=20), curve=False, jobs=2)
    for part in ("comparisons", "sections", "verdict"):
        assert again[part] == study[part]


def test_what_is_kept_is_the_prior_of_the_training_rows():
    data, kept = sites(3, 20), {}
    study_transfer(data, transfer_parts(data), curve=False, keep=kept.__setitem__)
    assert isinstance(kept["prior"], RelevancePrior)
    assert kept["prior"].tasks_ == ["site00", "site01", "site02"]


def test_tasks_that_cannot_differ_are_no_part_of_a_test():
    names = ["dobj_me", "tp_day"]
    train = rows_of(["ask", "ask", "tell"], [[1, 0], [0, 1], [1, 1]], [0, 1, 0], names)
    test = rows_of(["ask", "tell"], [[1, 0], [1, 0]], [0, 1], names)
    parts = TransferParts(train, test, "")
    (found,) = compare_over_tasks(
        parts, {"x": np.array([0, 0]), "y": np.array([1, 0])}, [("x", "y")]
    )
    assert (found.difference, found.p, found.significant) == (1.0, None, None)
    assert verdict(found, found, 1, "a model").startswith("Too few tasks can differ")


def test_families_count_what_their_features_were_met_and_chosen():
    data = sites(6)
    prior = RelevancePrior(feature_names=NAMES).fit(data.by_task())
    (name, rate, n_features, chosen, candidates), _ = families_section(prior).blocks[0].rows
    assert (name, n_features, candidates) == ("dobj", 4, 24)
    assert 6 <= chosen <= 24
    assert 0 < rate <= 1


@pytest.mark.parametrize(
    ("points", "p", "above", "words"),
    [
        (0.01, 0.3, 0.02, "does not help a model: the difference of +1.00 points"),
        (-0.02, 0.01, -0.02, "costs a model 2.00 points of accuracy a task"),
        (0.02, 0.01, 0.0, "the gain is not one of transfer"),
    ],
)
def test_a_verdict_says_when_there_is_no_gain(points, p, above, words):
    ends = (points - 0.01, points + 0.01)
    gain = Comparison("a", "b", points, ends, p, significant=p < 0.05)
    shuffled = Comparison("a", "c", above, significant=False)
    assert words in verdict(gain, shuffled, 20, "a model")
