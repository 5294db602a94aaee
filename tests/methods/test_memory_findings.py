"""What memory-based learning found, as plain values: curves, trajectories, tests and cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.table import NominalTable
from featloom.evaluation.significance import mcnemar as paired
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import (
    cases,
    curves,
    mcnemar,
    model_of,
    settings_section,
    trajectory,
)
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.report.grids import shown_grid

LETTERS = [[a, b, c] for a in "ckgs" for b in "aeiou" for c in "xyz"]
SOUNDS = ["S" if b in "ei" and a in "cs" else a for a, b, c in LETTERS]
COLUMNS = ("x0", "x1", "x2")


@pytest.fixture(scope="module")
def grid():
    return MemorySearch(strategy="grid", cv=3, random_state=0).fit(LETTERS, SOUNDS)


def test_every_weighting_and_metric_has_a_curve_over_every_k(grid):
    lines = curves(grid.history_, SettingSpace(COLUMNS)).lines
    assert len({(line.name, line.dash) for line in lines}) == 10
    assert all(line.x == list(range(1, 22, 2)) for line in lines)
    assert max(max(line.y) for line in lines) == grid.best_score_


def test_settings_with_features_treated_differently_are_on_no_curve():
    search = MemorySearch(strategy="genetic", cv=3, random_state=0).fit(LETTERS, SOUNDS)
    space = SettingSpace(COLUMNS)
    for line in curves(search.history_, space).lines:
        assert line.dash in ("overlap", "mvdm")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_trajectory_rises_and_ends_with_the_last_fit(scores):
    line = trajectory("genetic", scores)
    assert line.y == sorted(line.y)
    assert line.y[-1] == max(scores)
    assert (line.x[0], line.x[-1]) == (1, len(scores))
    assert len(set(line.x)) == len(line.x)


def test_a_search_that_did_nothing_has_an_empty_trajectory():
    assert trajectory("none", []).x == []


@pytest.mark.parametrize("strategy", ["genetic", "forward", "backward", "grid", "guided"])
def test_a_trajectory_ends_at_the_score_of_the_setting_found(strategy):
    """Also where the search asked for one k and the evaluation gave them all."""
    search = MemorySearch(strategy=strategy, cv=3, random_state=0).fit(LETTERS, SOUNDS)
    assert len(search.trajectory_) == len(search.history_)
    assert trajectory(strategy, search.trajectory_).y[-1] == search.best_score_


predictions = st.lists(st.sampled_from("KS"), min_size=12, max_size=12)


@given(predictions, predictions, predictions)
def test_the_tests_of_settings_are_those_of_their_pairs(gold, first, second):
    (test,) = mcnemar(["a", "b"], [first, second], gold)
    assert test.p == paired(gold, first, second).p
    right = [np.array(one) == np.array(gold) for one in (first, second)]
    assert (test.a, test.b) == ("b", "a")
    assert round(test.difference * 12) == right[1].sum() - right[0].sum()


def test_the_settings_are_shown_feature_by_feature():
    models = [
        model_of(name, Setting(k, "none", modes), ["letter", "next"])
        for name, k, modes in (("a", 1, ("overlap", "mvdm")), ("b", 3, ("ignore", "mvdm")))
    ]
    table = shown_grid(settings_section(models).blocks[0])
    assert [column["label"] for column in table["columns"]] == ["feature", "a", "b"]
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["letter", "overlap", "ignored"],
        ["next", "MVDM", "MVDM"],
    ]
    assert table["rows"][0]["cells"][2]["look"] == "ignored"


def right_or_wrong(shown) -> list[str]:
    return [block.title.rpartition(", ")[2] for block in shown.blocks]


def values(block, row: int) -> list:
    return [cell["value"] for cell in block.rows[row][1:-2]]


def test_half_of_the_cases_shown_were_answered_wrongly():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    gold = list(SOUNDS)
    gold[7] = gold[30] = gold[50] = "Z"
    shown = cases(memory, LETTERS, gold, 6)
    assert right_or_wrong(shown) == ["wrong: Z"] * 3 + ["right"] * 3
    first = shown.blocks[0]
    assert values(first, 0) == LETTERS[7]
    # The last letter says nothing of the sound and weighs nothing.
    assert values(first, 1)[:2] == LETTERS[7][:2]
    assert first.rows[1][-2] == 0.0


def test_right_answers_fill_up_where_few_are_wrong():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    assert len(cases(memory, LETTERS, SOUNDS, 5).blocks) == 5
    assert len(cases(memory, LETTERS[:2], SOUNDS[:2], 5).blocks) == 2


def test_a_value_that_training_lacks_is_said_to_be_unseen():
    seen = NominalTable.from_columns({"letter": list("cks")}, labels=["K", "K", "S"])
    new = seen.recode(NominalTable.from_columns({"letter": list("x")}, labels=["S"]))
    (case,) = cases(MemoryClassifier().fit(seen), new).blocks
    assert (values(case, 0), case.rows[0][-1]) == (["(not seen)"], "gold: S")


def test_cases_of_frames_and_arrays_are_those_of_lists():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LETTERS, columns=list("abc"))

    def shown(X):
        blocks = cases(MemoryClassifier().fit(X, SOUNDS), X, SOUNDS, 4).blocks
        return [(block.title, block.rows) for block in blocks]

    expected = shown(LETTERS)
    assert shown(frame) == expected
    assert shown(np.array(LETTERS, dtype=object)) == expected
