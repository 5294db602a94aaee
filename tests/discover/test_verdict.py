"""From trials to conclusions: who leads, who is chosen, and what may be said of it.

In most of these tests nobody learns: answers are made up, right with a given probability, so that
what must be concluded is known.
"""

from __future__ import annotations

import numpy as np
import pytest
from featloom.discover.contenders import Contender
from featloom.discover.protocol import TEST, make_protocol
from featloom.discover.verdict import LEVEL, judge

from featloom.data.table import NominalTable
from featloom.discover import discover
from featloom.discover.tables import TableQuestion
from featloom.evaluation import accuracy, bootstrap_interval, correct_counts, holm
from featloom.formats.packing import packed
from featloom.search import Evaluation

NOTHING = "There is nothing to find here"
CHANCE = "most frequent class"
ROLES = {CHANCE: "chance", "linear model": "baseline", "LightGBM": "yardstick"}


def letters(n=600, n_classes=3, seed=0):
    draw = np.random.default_rng(seed)
    columns = {name: draw.choice(list("abcd"), n).tolist() for name in ("letter", "next")}
    return NominalTable.from_columns(
        columns, labels=draw.choice(list("KSZ"[:n_classes]), n).tolist()
    )


class Case:
    """A table with made-up answers of contenders."""

    def __init__(self, n=600, n_classes=3):
        self.question = TableQuestion(letters(n, n_classes))
        self.protocol = make_protocol(self.question, n_folds=5, seed=0)
        self.contenders, self.history = [], []
        self.passed_over = {}

    def add(self, name, right, size, *, seed=0, folds=(TEST, 0, 1, 2, 3, 4)):
        """A contender that is right with a given probability, in the given folds."""
        draw = np.random.default_rng([seed, len(self.contenders)])
        self.contenders.append(
            Contender(name, ROLES.get(name, "method"), "an idea", lambda *_: None)
        )
        for fold in folds:
            judged = self.protocol.parts(fold, None)[1]
            truth = self.question.labels[judged]
            answers = np.where(draw.random(len(truth)) < right, truth, (truth + 1) % 3)
            if name == CHANCE:
                answers = np.zeros_like(truth)
            result = {
                "score": accuracy(truth, answers), "learned": 480, "judged": len(judged),
                "fit_s": 0.5, "predict_s": 0.01, "spent_s": 0.6, "size": size,
                "size_words": f"{size} features", "setting": "C 1",
                "answers": packed(answers.astype(np.int32)),
            }  # fmt: skip
            candidate = {"method": name, "fold": fold, "units": None}
            self.history.append(Evaluation(candidate, result, 0.6, 0.6))
        return self

    def judged(self):
        return judge(
            self.question, self.protocol, self.contenders, self.history, units=None,
            passed_over=self.passed_over,
        )  # fmt: skip


def usual(gain=0.3):
    """Chance, a linear model that is right in two thirds, and a method that is better."""
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.65, 20)
    return case.add("induction", 0.65 + gain, 300)


def test_the_leaderboard_has_the_best_first_with_its_scores_and_their_doubt():
    case = usual().add("LightGBM", 0.8, 900)
    found = case.judged()
    finished = [row for row in found.leaderboard if row["status"] == "finished"]
    assert [row["name"] for row in finished] == ["induction", "LightGBM", "linear model", CHANCE]
    for row in finished:
        of_folds = {
            one.candidate["fold"]: one.score
            for one in case.history
            if one.candidate["method"] == row["name"]
        }
        assert row["test"] == of_folds.pop(TEST)
        assert row["folds"] == list(of_folds.values())
        assert row["value"] == pytest.approx(np.mean(row["folds"]), abs=0.002)
        assert row["interval"][0] <= row["value"] <= row["interval"][1]
        assert row["test_interval"][0] <= row["test"] <= row["test_interval"][1]
    assert [row["chosen"] for row in finished] == [True, False, False, False]


def test_the_interval_is_that_of_all_rows_that_folds_were_judged_on():
    case = usual()
    row = case.judged().leaderboard[0]
    right = np.concatenate(
        [
            np.arange(len(judged)) < round(score * len(judged))
            for score, (_, judged) in zip(row["folds"], case.protocol.folds(), strict=True)
        ]
    )
    counts = correct_counts(right, np.ones(len(right), dtype=bool), groups=np.arange(len(right)))
    by_hand = bootstrap_interval(counts, case.question.of_counts)
    assert row["value"] == pytest.approx(by_hand.value)
    assert row["interval"] == pytest.approx([by_hand.low, by_hand.high], abs=0.01)


def test_a_gain_is_called_one_with_its_size_and_doubt():
    found = usual().judged()
    assert (found.chosen, found.reference, found.significant) == ("induction", "linear model", True)
    assert found.verdict.startswith("Induction adds ")
    assert " points of accuracy to the linear model (95 % +" in found.verdict
    assert "p < .001" in found.verdict


def test_a_lead_that_the_test_part_does_not_confirm_is_none():
    found = usual(gain=0.05).judged()
    assert found.chosen == "induction"
    assert not found.significant
    assert "does not confirm a gain over the linear model" in found.verdict


def test_the_simplest_within_a_standard_error_is_chosen_and_said_to_be():
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.65, 20)
    case.add("induction", 0.95, 4000, seed=11).add("selection", 0.95, 30, seed=11)
    found = case.judged()
    assert found.leaderboard[0]["name"] == "induction"
    assert found.chosen == "selection"
    assert found.chosen_why.startswith("the simplest within a standard error of induction")


def test_where_the_chosen_one_is_no_better_than_chance_nothing_is_found_whatever_else_is_true():
    """The gate: a method ahead of a bad baseline is no finding by itself."""
    third = 1 / 3
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.1, 20).add("induction", third, 300)
    found = case.judged()
    assert found.verdict.startswith(NOTHING)
    assert not found.significant
    assert not any(row["significant"] for row in found.comparisons)


def test_nothing_is_not_said_to_be_there_where_no_method_was_compared():
    case = Case().add(CHANCE, 0, 0).add("linear model", 1 / 3, 20).add("memory", 1, 9, folds=(0,))
    assert case.judged().verdict.startswith("No method was compared: by accuracy, none of the 2")
    assert case.judged().verdict.endswith("Not compared in the time there was: memory.")


def test_all_comparisons_with_the_reference_are_corrected_together_at_one_per_cent():
    case = usual()
    for seed in range(1, 5):
        case.add(f"method {seed}", 0.65 + 0.04 * seed, 300 + seed, seed=seed)
    found = case.judged()
    tests = [row for row in found.comparisons if row["b"] == found.reference]
    assert {row["a"] for row in tests} == {"induction", *(f"method {seed}" for seed in range(1, 5))}
    np.testing.assert_allclose(
        [row["p_adjusted"] for row in tests], holm([row["p"] for row in tests])
    )
    assert [row["significant"] for row in tests] == [row["p_adjusted"] < LEVEL for row in tests]
    assert LEVEL == 0.01
    gate = found.comparisons[0]
    assert (gate["a"], gate["b"]) == (found.chosen, CHANCE)


def test_each_pair_is_compared_once_though_chance_be_the_reference():
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.1, 20).add("induction", 0.9, 300)
    found = case.judged()
    assert found.reference == CHANCE
    pairs = [(row["a"], row["b"]) for row in found.comparisons]
    assert len(pairs) == len(set(pairs)) == 2
    assert "after correction for 2 comparisons" in found.verdict


def test_a_yardstick_is_compared_and_never_chosen():
    found = usual(gain=0.1).add("LightGBM", 1.0, 1).judged()
    assert found.leaderboard[0]["name"] == "LightGBM"
    assert found.chosen != "LightGBM"
    assert any(row["a"] == "LightGBM" for row in found.comparisons)
    assert "LightGBM" in found.verdict


def test_folds_that_are_not_all_there_say_nothing():
    case = usual().add("memory", 1.0, 10, folds=(TEST, 0, 1, 2)).add("selection", 1.0, 10, folds=())
    case.passed_over = {"selection": "it would take about 9 min, and 4 s were left"}
    found = case.judged()
    assert found.chosen == "induction"
    why = {row["name"]: row["why"] for row in found.leaderboard if row["status"] == "unfinished"}
    assert why == {"memory": "the time was over", **case.passed_over}


def test_without_an_answer_that_looks_at_nothing_nothing_is_said():
    case = Case().add("linear model", 0.65, 20).add("induction", 0.95, 300)
    found = case.judged()
    assert found.chosen == "induction"
    assert not found.significant
    assert found.verdict == "The answer that looks at nothing is missing: too early to say."


def test_where_nothing_was_finished_that_is_said():
    found = Case().add(CHANCE, 0, 0, folds=(0,)).judged()
    assert (found.chosen, found.verdict, found.significant) == (
        None,
        "Nothing was finished.",
        False,
    )


def test_what_does_not_apply_is_on_the_leaderboard_with_its_reason():
    rows = {row["name"]: row for row in usual().judged().leaderboard}
    assert rows["transfer"]["status"] == "not applicable"
    assert rows["transfer"]["why"] == "there is no column that names a task (--task)"


QUICK = ["naive Bayes", "linear model", "memory", "induction"]


def in_time(table, only=QUICK):
    return discover(table, only=only, budget=None, n_jobs=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [1, 2])
def test_in_labels_drawn_by_lot_there_is_nothing_to_find(n_classes, seed):
    found = in_time(letters(160, n_classes, seed))
    assert found.verdict.startswith(NOTHING)
    assert not found.significant


def test_a_planted_conjunction_is_found_by_those_that_join_columns():
    draw = np.random.default_rng(4)
    columns = {name: draw.choice(list("abcd"), 300) for name in ("letter", "next", "after")}
    same = (columns["letter"] < "c") == (columns["next"] < "c")
    labels = np.where(same ^ (draw.random(300) < 0.05), "S", "K")
    table = NominalTable.from_columns(
        {name: values.tolist() for name, values in columns.items()}, labels=labels.tolist()
    )
    found = in_time(table, ["linear model", "selection", "induction", "tree templates"])
    assert found.chosen in ("induction", "tree templates")
    assert found.significant
    assert found.verdict.startswith(("Induction adds ", "Tree templates add"))
    assert any("letter=" in name and "next=" in name for name in found.features)
    value = {row["name"]: row["value"] for row in found.leaderboard if row["status"] == "finished"}
    assert min(value["induction"], value["tree templates"]) > value["linear model"] + 0.2
