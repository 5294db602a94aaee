"""What memory-based learning found, as plain values: curves, trajectories, tests and cases."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.table import NominalTable
from featloom.evaluation.significance import mcnemar
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import (
    cases,
    curves,
    mcnemar_matrix,
    setting_row,
    trajectory,
)
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.report.page import check_result

LETTERS = [[a, b, c] for a in "ckgs" for b in "aeiou" for c in "xyz"]
SOUNDS = ["S" if b in "ei" and a in "cs" else a for a, b, c in LETTERS]
COLUMNS = ("x0", "x1", "x2")


@pytest.fixture(scope="module")
def grid():
    return MemorySearch(strategy="grid", cv=3, random_state=0).fit(LETTERS, SOUNDS)


def test_every_weighting_and_metric_has_a_curve_over_every_k(grid):
    lines = curves(grid.history_, SettingSpace(COLUMNS))
    assert len({(line["weights"], line["metric"]) for line in lines}) == 10
    assert all(line["k"] == list(range(1, 22, 2)) for line in lines)
    assert max(max(line["score"]) for line in lines) == grid.best_score_


def test_settings_with_features_treated_differently_are_on_no_curve():
    search = MemorySearch(strategy="genetic", cv=3, random_state=0).fit(LETTERS, SOUNDS)
    space = SettingSpace(COLUMNS)
    for line in curves(search.history_, space):
        assert line["metric"] in ("overlap", "mvdm")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_trajectory_rises_and_ends_with_the_last_fit(scores):
    line = trajectory("genetic", scores)
    assert line["best"] == sorted(line["best"])
    assert line["best"][-1] == max(scores)
    assert (line["fits"][0], line["fits"][-1]) == (1, len(scores))
    assert len(set(line["fits"])) == len(line["fits"])


def test_a_search_that_did_nothing_has_an_empty_trajectory():
    assert trajectory("none", [])["fits"] == []


@pytest.mark.parametrize("strategy", ["genetic", "forward", "backward", "grid", "guided"])
def test_a_trajectory_ends_at_the_score_of_the_setting_found(strategy):
    """Also where the search asked for one k and the evaluation gave them all."""
    search = MemorySearch(strategy=strategy, cv=3, random_state=0).fit(LETTERS, SOUNDS)
    assert len(search.trajectory_) == len(search.history_)
    assert trajectory(strategy, search.trajectory_)["best"][-1] == search.best_score_


answers = st.lists(st.sampled_from("KS"), min_size=12, max_size=12)


@given(answers, answers, answers)
def test_the_tests_of_a_matrix_are_those_of_its_pairs(gold, first, second):
    matrix = mcnemar_matrix(["a", "b"], [first, second], gold)
    assert matrix["p"][0][1] == matrix["p"][1][0] == mcnemar(gold, first, second).p
    assert matrix["chi2_p"][0][1] == mcnemar(gold, first, second, exact=False).p
    right = [np.array(one) == np.array(gold) for one in (first, second)]
    only = matrix["first_only"]
    assert only[0][1] - only[1][0] == right[0].sum() - right[1].sum()
    assert matrix["p"][0][0] is None


def test_half_of_the_cases_shown_were_answered_wrongly():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    gold = list(SOUNDS)
    gold[7] = gold[30] = gold[50] = "Z"
    shown = cases(memory, LETTERS, gold, 6)
    assert [case["answer"] == case["gold"] for case in shown] == [False] * 3 + [True] * 3
    assert shown[0]["query"] == LETTERS[7]
    # The last letter says nothing of the sound and weighs nothing.
    assert shown[0]["neighbours"][0]["values"][:2] == LETTERS[7][:2]
    assert shown[0]["neighbours"][0]["distance"] == 0.0


def test_right_answers_fill_up_where_few_are_wrong():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    assert len(cases(memory, LETTERS, SOUNDS, 5)) == 5
    assert len(cases(memory, LETTERS[:2], SOUNDS[:2], 5)) == 2


def test_a_value_that_training_lacks_is_said_to_be_unseen():
    seen = NominalTable.from_columns({"letter": list("cks")}, labels=["K", "K", "S"])
    new = seen.recode(NominalTable.from_columns({"letter": list("x")}, labels=["S"]))
    (case,) = cases(MemoryClassifier().fit(seen), new)
    assert (case["query"], case["gold"]) == (["(not seen)"], "S")


def test_cases_of_frames_and_arrays_are_those_of_lists():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LETTERS, columns=list("abc"))
    expected = cases(MemoryClassifier().fit(LETTERS, SOUNDS), LETTERS, SOUNDS, 4)
    assert cases(MemoryClassifier().fit(frame, SOUNDS), frame, SOUNDS, 4) == expected
    rows = np.array(LETTERS, dtype=object)
    assert cases(MemoryClassifier().fit(rows, SOUNDS), rows, SOUNDS, 4) == expected


def test_what_was_found_is_what_a_report_reads(grid):
    part = {
        "settings": [setting_row("grid", Setting(3, "none", ("mvdm",) * 3), test=0.9)],
        "curves": curves(grid.history_, SettingSpace(COLUMNS)),
        "trajectories": [trajectory("grid", grid.trajectory_)],
        "mcnemar": mcnemar_matrix(["a", "b"], [SOUNDS, SOUNDS], SOUNDS),
        "neighbours": cases(grid.best_estimator_, LETTERS, SOUNDS, 3),
    }
    (read,) = check_result(json.loads(json.dumps({"memory": [part]}))).memory
    assert read.settings[0].modes == ["mvdm"] * 3
    assert len(read.curves) == 10
    assert len(read.neighbours) == 3
