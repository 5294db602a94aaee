"""From trials to a leaderboard, a choice and a verdict.

In most of these tests nobody learns: predictions are made up, right with a given probability, so
that what must be concluded is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.compare.schedule import FirstAnswers, Judgements
from featloom.data.table import NominalTable
from featloom.discover import discover
from featloom.discover.leaderboard import Entry, choice, entries_of, judge
from featloom.discover.tables import TableQuestion
from featloom.evaluation.protocol import TEST, make_protocol
from featloom.evaluation.significance import holm
from featloom.evaluation.verdict import LEVEL, corrected_interval
from featloom.method import Contender
from featloom.search import Evaluation

NOTHING = "There is nothing to find here"
CHANCE = "class shares"
ROLES = {CHANCE: "chance", "linear model": "baseline", "LightGBM": "yardstick"}
FOLDS = 5
EVERY = (TEST, 0, 1, 2, 3, 4)


def letters(n=600, n_classes=3, seed=0):
    draw = np.random.default_rng(seed)
    columns = {name: draw.choice(list("abcd"), n).tolist() for name in ("letter", "next")}
    return NominalTable.from_columns(
        columns, labels=draw.choice(list("KSZ"[:n_classes]), n).tolist()
    )


@dataclass
class MadeUp:
    """What a comparison sees of a fitted model, with probabilities from nowhere."""

    classes: tuple[str, ...]
    p: np.ndarray
    learned: int = 480
    calibrations: tuple[float, ...] = ()
    calibration: float | None = None
    threshold: float | None = None

    def probabilities(self, data):
        return np.arange(len(self.classes)), self.p


class Asked(TableQuestion):
    """A question that has the contenders of a case, and no others."""

    asked = ()

    def contenders(self):
        return self.asked


class Case:
    """A table with made-up trials of contenders."""

    def __init__(self, n=3_000, n_classes=3, judge_by="log-loss"):
        self.question = Asked(letters(n, n_classes), judge_by=judge_by)
        self.protocol = make_protocol(self.question.labels, n_folds=FOLDS, seed=0)
        self.contenders, self.standings, self.history = [], {}, []
        self.passed_over = {}

    def add(self, name, right, size, *, in_test=None, seed=0, folds=EVERY, learned=None):
        """A contender that is right with a given probability, and knows with which."""
        learned = len(self.protocol.learn) if learned is None else learned
        draw = np.random.default_rng([seed, len(self.contenders)])
        self.contenders.append(
            Contender(name, ROLES.get(name, "method"), "an idea", lambda *_: iter(()))
        )
        trials = {}
        for fold in folds:
            judged = self.protocol.parts(fold)[1]
            share = right if fold != TEST or in_test is None else in_test
            p = self.predicted(name, self.question.labels[judged], share, draw)
            fitted = MadeUp(self.question.classes, p)
            found = self.question.judge(judged, self.question.take(judged), fitted)
            outcome = {
                "setting": {}, "score": found.score, "details": found.details, "rows": found.rows,
                "fit_s": 0.5, "predict_s": 0.01, "size": size, "size_words": f"{size} features",
                "words": "C 1",
            }  # fmt: skip
            result = {
                "score": found.score, "outcomes": [outcome], "learned": learned,
                "judged": len(judged), "cpu_s": 0.6, "wall_s": 0.6, "compiled_s": 0.0,
            }  # fmt: skip
            candidate = {"method": name, "fold": fold, "units": None, "settings": [{}]}
            self.history.append(Evaluation(candidate, result, 0.6, 0.6))
            trials[fold] = outcome
        self.standings[name] = trials
        return self

    def predicted(self, name, truth, right, draw):
        n = len(self.question.classes)
        if name == CHANCE:
            return np.full((len(truth), n), 1 / n)
        named = np.where(draw.random(len(truth)) < right, truth, (truth + 1) % n)
        p = np.full((len(truth), n), (1 - right) / (n - 1))
        p[np.arange(len(truth)), named] = right
        return p

    def schedule(self):
        order = FirstAnswers(
            self.contenders, n_learn=len(self.protocol.learn), n_folds=FOLDS, seconds=None,
            workers=1,
        )  # fmt: skip
        for name, trials in self.standings.items():
            standing = order.standings[name]
            if trials:
                scores = {fold: one["score"] for fold, one in trials.items()}
                standing.judgements[None] = Judgements({"{}": {}}, {"{}": scores})
                standing.details["{}"] = {fold: one["details"] for fold, one in trials.items()}
        return order

    def judged(self):
        order, self.question.asked = self.schedule(), self.contenders
        return judge(
            self.question, self.protocol, entries_of(order.standings, self.history), order,
            self.history, passed_over=self.passed_over,
        )  # fmt: skip


def usual(gain=0.2, **case):
    """Chance, a linear model that is right in two thirds, and a method that is better."""
    made = Case(**case).add(CHANCE, 0, 0).add("linear model", 0.65, 20)
    return made.add("induction", 0.65 + gain, 300)


def rows_of(found):
    return {row["name"]: row for row in found.leaderboard}


# ── the leaderboard ──


def test_the_leaderboard_has_the_best_first_with_its_scores_and_their_doubt():
    case = usual().add("LightGBM", 0.75, 900)
    found = case.judged()
    finished = [row for row in found.leaderboard if row["status"] == "finished"]
    assert [row["name"] for row in finished] == ["induction", "LightGBM", "linear model", CHANCE]
    for row in finished:
        of_folds = {
            one.candidate["fold"]: -one.score
            for one in case.history
            if one.candidate["method"] == row["name"]
        }
        assert row["test"] == pytest.approx(of_folds.pop(TEST))
        assert row["folds"] == list(of_folds.values())
        assert row["value"] == pytest.approx(np.mean(row["folds"]))
        assert row["test_interval"][0] <= row["test"] <= row["test_interval"][1]
        if row["name"] == CHANCE:  # its folds are alike by design, which tells of no doubt
            assert row["interval"] is None
            continue
        assert row["interval"][0] <= row["value"] <= row["interval"][1]
        by_hand = corrected_interval(
            [-value for value in row["folds"]], judged_over_learned=1 / (FOLDS - 1)
        )
        assert row["interval"] == pytest.approx([max(0.0, -by_hand.high), -by_hand.low])
    assert [row["chosen"] for row in finished] == [True, False, False, False]


def test_what_is_partly_compared_or_not_at_all_says_why():
    case = usual().add("memory", 0.7, 10, folds=(0, 1, TEST)).add("selection", 0.7, 10, folds=())
    case.add("tree templates", 0.7, 30, folds=EVERY[1:])
    case.passed_over = {"selection": "it would take about 9 min, and 4 s were left"}
    found = case.judged()
    rows = rows_of(found)
    assert (rows["memory"]["status"], rows["memory"]["n_folds"]) == ("partly", 2)
    assert (rows["tree templates"]["status"], rows["tree templates"]["test"]) == ("partly", None)
    assert rows["selection"]["status"] == "unfinished"
    assert rows["selection"]["why"] == case.passed_over["selection"]
    assert "Not compared: selection." in found.verdict
    assert re.search(r"Compared in part: (memory|tree templates), ", found.verdict)


def test_what_does_not_apply_is_on_the_leaderboard_with_its_reason():
    row = rows_of(usual().judged())["transfer"]
    assert row["status"] == "not applicable"
    assert "task" in row["why"]


def test_where_nothing_was_finished_that_is_said():
    case = Case()
    case.add(CHANCE, 0, 0, folds=())
    found = case.judged()
    assert (found.chosen, found.verdict) == (None, "Nothing was finished.")
    assert not found.significant


# ── the choice ──

of_five = st.lists(st.floats(-1.0, 0.0), min_size=5, max_size=5)


def made_entry(name, scores, size=1):
    contender = Contender(name, ROLES.get(name, "method"), "", lambda *_: iter(()))
    outcome = {"size": size, "size_words": f"{size} features"}
    return Entry(contender, {}, dict(enumerate(scores)), {}, outcome, False, 480, True)


@given(of_five, st.lists(st.tuples(of_five, st.integers(1, 50)), max_size=6))
def test_the_prediction_that_looks_at_nothing_is_chosen_only_if_none_is_better(chance, others):
    entries = [made_entry(CHANCE, chance, 0)]
    entries += [made_entry(f"method {i}", *one) for i, one in enumerate(others)]
    chosen, best = choice(entries)
    means = [np.mean(list(one.scores.values())) for one in entries]
    assert np.mean(list(best.scores.values())) == pytest.approx(max(means))
    if max(means[1:], default=-np.inf) > means[0] + 1e-9:
        assert chosen.role != "chance"
        assert np.mean(list(chosen.scores.values())) > means[0] - 1e-9
    else:
        assert chosen.role == "chance" or max(means[1:]) >= means[0] - 1e-9


def test_the_simplest_that_is_as_good_is_chosen_and_said_to_be():
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.65, 20)
    case.add("induction", 0.9, 4000).add("selection", 0.9, 30)
    for fold in EVERY:  # the same predictions, from fewer features
        case.standings["selection"][fold] |= {
            key: case.standings["induction"][fold][key] for key in ("score", "details", "rows")
        }
    case.standings["selection"][0]["score"] -= 0.002
    found = case.judged()
    assert found.leaderboard[0]["name"] == "induction"
    assert found.chosen == "selection"
    assert found.chosen_why == (
        "the simplest that is as good as induction, the best in cross-validation "
        "(30 features, not 4000 features)"
    )


def test_a_yardstick_is_compared_and_never_chosen():
    found = usual(gain=0.1).add("LightGBM", 0.95, 1).judged()
    assert found.leaderboard[0]["name"] == "LightGBM"
    assert found.chosen == "induction"
    assert any(row["a"] == "LightGBM" for row in found.comparisons)
    assert "LightGBM, for comparison, is at " in found.verdict


# ── claims ──


def test_every_contender_is_tested_against_chance_with_one_correction_for_all():
    case = usual().add("memory", 1 / 3, 9).add("LightGBM", 0.6, 99)
    case.add("selection", 0.7, 30, folds=EVERY[1:])
    gate = [row for row in case.judged().comparisons if row.get("gate")]
    assert {row["a"] for row in gate} == {"linear model", "induction", "memory", "LightGBM"}
    assert {row["b"] for row in gate} == {CHANCE}
    adjusted = holm([row["p"] for row in gate])
    np.testing.assert_allclose([row["p_adjusted"] for row in gate], adjusted)
    expected = [p < LEVEL and row["difference"] > 0 for p, row in zip(adjusted, gate, strict=True)]
    assert [row["significant"] for row in gate] == expected
    assert {row["a"]: row["significant"] for row in gate}["memory"] is False


def test_all_comparisons_with_the_reference_are_corrected_together_at_one_per_cent():
    case = usual()
    for seed in range(1, 5):
        case.add(f"method {seed}", 0.65 + 0.02 * seed, 300 + seed, seed=seed)
    found = case.judged()
    tests = [row for row in found.comparisons if row["b"] == found.reference]
    assert {row["a"] for row in tests} == {"induction", *(f"method {seed}" for seed in range(1, 5))}
    np.testing.assert_allclose(
        [row["p_adjusted"] for row in tests], holm([row["p"] for row in tests])
    )
    assert [row["significant"] for row in tests] == [row["p_adjusted"] < LEVEL for row in tests]
    assert "after correction for 5 comparisons" in found.verdict


def test_a_method_ahead_of_a_bad_baseline_is_no_finding_by_itself():
    """The gate: nothing is better than the prediction that looks at nothing."""
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.34, 20).add("induction", 0.34, 300)
    # A baseline that is sure of what is wrong.
    worse = case.question.labels[case.protocol.test]
    p = np.full((len(worse), 3), 0.05)
    p[np.arange(len(worse)), (worse + 1) % 3] = 0.9
    fitted = MadeUp(case.question.classes, p)
    found = case.question.judge(case.protocol.test, None, fitted)
    case.standings["linear model"][TEST] |= {
        "score": found.score, "details": found.details, "rows": found.rows,
    }  # fmt: skip
    judged = case.judged()
    ahead = [
        row for row in judged.comparisons if (row["a"], row["b"]) == ("induction", "linear model")
    ]
    assert ahead[0]["p_adjusted"] < LEVEL
    assert judged.verdict.startswith(NOTHING)
    assert not judged.significant
    assert not any(row["significant"] for row in judged.comparisons)


# ── words ──


def first_sentence(found):
    return re.split(r"(?<=\.) (?=[A-Z])", found.verdict)[0]


@pytest.mark.parametrize("gain", [-0.1, 0.0, 0.03, 0.2])
@pytest.mark.parametrize("judge_by", ["log-loss", "accuracy"])
def test_the_first_sentence_has_the_figures_of_the_chosen_one_on_the_test_part(gain, judge_by):
    case = usual(gain, judge_by=judge_by)
    found = case.judged()
    own = case.standings[found.chosen][TEST]
    chance = case.standings[CHANCE][TEST]
    said = first_sentence(found)
    assert found.chosen in said.lower()
    if judge_by == "log-loss":
        assert f"a log-loss of {-own['score']:.3f}".replace("0.", ".", 1) in said
        assert f"{CHANCE} alone: {-chance['score']:.3f}".replace(" 0.", " 1.", 0) in said
        assert f"{100 * own['details']['accuracy']:.1f} % right" in said
    else:
        assert f"an accuracy of {100 * own['score']:.1f} %" in said
        assert f"{CHANCE} alone: {100 * chance['score']:.1f} %" in said
    assert "on the test part" in said


def test_a_gain_is_called_one_with_its_size_and_doubt():
    found = usual().judged()
    assert (found.chosen, found.reference, found.significant) == ("induction", "linear model", True)
    row = next(row for row in found.comparisons if row["b"] == "linear model")
    apart = f"{row['difference']:+.3f}".replace("0.", ".", 1)
    assert f"It is better than the linear model: {apart} in log-loss (95 % +" in found.verdict
    assert "p < .001), with 300 features, not 20." in found.verdict


@pytest.mark.parametrize("seed", range(4))
def test_what_the_test_part_does_not_confirm_is_called_a_lead_or_about_the_same(seed):
    case = Case(n=600).add(CHANCE, 0, 0).add("linear model", 0.65, 20, seed=seed)
    found = case.add("induction", 0.8, 300, in_test=0.66, seed=seed).judged()
    assert (found.chosen, found.significant) == ("induction", False)
    row = next(row for row in found.comparisons if row["b"] == "linear model")
    assert row["p_adjusted"] >= LEVEL
    if row["difference"] > 0:
        assert "It leads the linear model by ." in found.verdict
        assert "there, which may be chance (95 % " in found.verdict
    else:
        assert "That is about what the linear model reaches: -." in found.verdict


def test_one_that_falls_behind_on_the_test_part_is_said_to():
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.8, 20)
    found = case.add("induction", 0.95, 300, in_test=0.5).judged()
    assert found.chosen == "induction"
    assert not found.significant
    assert (
        "Cross-validation chose it, but on the test part it is behind the linear model: -."
        in found.verdict
    )


def test_the_reference_is_enough_where_every_method_was_compared_on_all_rows():
    found = usual(gain=-0.1).judged()
    assert (found.chosen, found.significant) == ("linear model", False)
    assert (
        "The linear model is enough: no method adds to it beyond chance; "
        "the largest difference is that of induction, -." in found.verdict
    )


def test_the_reference_is_not_called_enough_where_nobody_learned_from_all_rows():
    case = Case().add(CHANCE, 0, 0, learned=1_200).add("linear model", 0.65, 20, learned=1_200)
    found = case.add("induction", 0.55, 300, learned=1_200).judged()
    assert found.chosen == "linear model"
    assert "No method that was compared is better than the linear model" in found.verdict


def test_the_reference_is_not_called_enough_where_only_some_were_asked_for():
    names = ["linear model", "selection"]
    found = discover(letters(), only=names, budget=None, n_jobs=1, verbose=False)
    asked = {row["name"]: row["status"] for row in found.leaderboard}
    assert asked["induction"] == asked["naive Bayes"] == "not asked"
    assert "enough" not in found.verdict


@pytest.mark.parametrize("left", ["a fold", "the test part", "everything", "rows"])
def test_the_reference_is_not_called_enough_where_something_was_not_compared(left):
    case = usual(gain=-0.1)
    if left == "rows":
        case.add("memory", 0.5, 9, learned=120)
    else:
        folds = {"a fold": EVERY[:-1], "the test part": EVERY[1:], "everything": ()}[left]
        case.add("memory", 0.5, 9, folds=folds)
    found = case.judged()
    assert found.chosen == "linear model"
    assert "is enough" not in found.verdict
    assert "No method that was compared is better than the linear model beyond chance" in (
        found.verdict
    )
    if left == "rows":
        assert "Not all learned from the same rows: memory from 120." in found.verdict
    elif left == "everything":
        assert found.verdict.endswith("Not compared: memory.")
    else:
        assert found.verdict.endswith("Compared in part: memory.")


def test_the_reference_is_not_called_enough_where_a_method_beats_it_on_the_test_part():
    case = Case().add(CHANCE, 0, 0).add("linear model", 0.7, 20)
    found = case.add("induction", 0.65, 300, in_test=0.9).judged()
    assert found.chosen == "linear model"
    assert "It was chosen by cross-validation; on the test part induction is better, +." in (
        found.verdict
    )
    assert "Ahead of it on the test part: induction +." in found.verdict
    assert "enough" not in found.verdict
    assert not found.significant


def test_without_any_method_the_reference_is_not_called_enough():
    found = Case().add(CHANCE, 0, 0).add("linear model", 0.65, 20).judged()
    assert "No method was compared with it on the test part." in found.verdict
    assert "enough" not in found.verdict


def test_where_the_test_part_was_not_reached_no_more_than_folds_is_told():
    case = Case().add(CHANCE, 0, 0, folds=(0,)).add("linear model", 0.65, 20, folds=(0,))
    found = case.add("induction", 0.9, 300, folds=(0,)).judged()
    assert found.chosen == "induction"
    assert not found.significant
    assert "in one fold of cross-validation. The test part was not reached." in found.verdict
    assert found.figures is None


def test_nothing_is_not_said_to_be_there_where_no_method_was_compared():
    case = Case().add(CHANCE, 0, 0).add("linear model", 1 / 3, 20)
    found = case.add("memory", 1 / 3, 9, folds=()).judged()
    assert found.verdict.startswith("No method was compared: on the test part the linear model has")
    assert found.verdict.endswith("Not compared: memory.")


def test_nothing_is_not_said_to_be_there_where_a_method_was_not_compared():
    case = Case().add(CHANCE, 0, 0).add("linear model", 1 / 3, 20).add("selection", 1 / 3, 9)
    found = case.add("induction", 1 / 3, 9, folds=()).judged()
    assert found.verdict.startswith("Nothing was found by what was compared: on the test part ")
    assert found.verdict.endswith("Not compared: induction.")


def test_what_comes_near_is_not_called_nothing():
    """Some rows are told, too few of them to be sure."""
    case = Case(n=400).add(CHANCE, 0, 0).add("linear model", 0.42, 20)
    found = case.add("induction", 0.46, 9, seed=1).judged()
    least = min(one["p_adjusted"] for one in found.comparisons if one.get("gate"))
    assert LEVEL < least < 0.1
    assert found.verdict.startswith("Nothing is proven here: on the test part induction has 1.0")
    assert "class shares alone 1.099, and none of the 2 contenders predicts better" in found.verdict
    assert found.verdict.endswith("after correction for 2 comparisons); more rows may tell.")
    assert not found.significant


def test_a_test_part_that_is_too_small_to_tell_is_no_sign_that_there_is_nothing():
    case = Case(n=60).add(CHANCE, 0, 0).add("linear model", 0.8, 20, in_test=0.4)
    found = case.add("induction", 0.95, 9, in_test=0.4).judged()
    assert not any(one["significant"] for one in found.comparisons)
    assert found.verdict.startswith("Nothing is proven here: on the test part induction has ")
    assert found.verdict.endswith(
        "In all folds together induction is ahead of it; more rows may tell."
    )


def test_that_cross_validation_missed_something_is_said():
    case = Case().add(CHANCE, 0, 0)
    case.add("linear model", 0.335, 20, in_test=0.9)
    for fold in range(FOLDS):
        case.standings["linear model"][fold]["score"] = -2.0
    found = case.judged()
    assert found.chosen == CHANCE
    assert "Cross-validation chose it, although on the test part linear model is better." in (
        found.verdict
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["memory", "induction", "selection", "LightGBM", "naive Bayes"]),
            st.floats(0.34, 0.95), st.floats(0.34, 0.95), st.integers(1, 500),
            st.sampled_from([EVERY, EVERY[1:], EVERY[:-1], (0,), ()]),
            st.sampled_from([480, 120]),
        ),
        max_size=4, unique_by=lambda one: one[0],
    ),
    st.floats(0.34, 0.9),
)  # fmt: skip
@settings(max_examples=15)
def test_whatever_was_compared_the_verdict_claims_no_more_than_the_tests_do(others, plain):
    case = Case(n=300).add(CHANCE, 0, 0).add("linear model", plain, 20)
    for name, right, in_test, size, folds, learned in others:
        case.add(name, right, size, in_test=in_test, folds=folds, learned=learned)
    found = case.judged()
    rows = rows_of(found)
    assert found.chosen in case.standings
    assert sum(row["chosen"] for row in found.leaderboard) == 1
    assert rows[found.chosen]["role"] != "yardstick"
    gains = {
        row["a"]
        for row in found.comparisons
        if row["significant"] and row["difference"] > 0 and row["b"] == found.reference
    }
    assert found.significant == (found.chosen in gains and rows[found.chosen]["role"] == "method")
    assert ("It is better than" in found.verdict) <= (found.chosen in gains)
    if "is enough" in found.verdict:
        methods = [row for row in found.leaderboard if row["role"] in ("method", "baseline")]
        assert {row["status"] for row in methods} <= {"finished", "not applicable"}
        assert len({row["learned"] for row in methods if "learned" in row}) == 1
        assert not gains - {"LightGBM"}
    for name, row in rows.items():
        if row["status"] in ("unfinished", "partly"):
            assert name in found.verdict.split("ompared", 1)[1]


# ── real contenders ──

QUICK = ["naive Bayes", "linear model", "memory", "induction"]


def in_time(table, only=QUICK):
    return discover(table, only=only, budget=None, n_jobs=1, verbose=False)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [1, 2])
def test_in_labels_drawn_by_lot_there_is_nothing_to_find(n_classes, seed):
    found = in_time(letters(160, n_classes, seed))
    assert NOTHING in found.verdict
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
    assert "better than the linear model: +" in found.verdict
    assert any("letter=" in name and "next=" in name for name in found.features)
    value = {row["name"]: row["value"] for row in found.leaderboard if "value" in row}
    assert max(value["induction"], value["tree templates"]) < value["linear model"] - 0.2
