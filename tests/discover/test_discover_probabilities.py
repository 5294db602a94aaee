"""The probabilities of what ``discover`` hands over, and what contenders are judged by."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    roc_auc_score,
)

from featloom.cli.main import main
from featloom.cli.predictors import load_predictor
from featloom.data.frames import table_from_frame
from featloom.discover import Discovery, discover
from featloom.discover.discovery import Watch
from featloom.discover.tables import JUDGES, TableQuestion
from featloom.features.plan import FeaturePlan
from featloom.learners.pipelines import SMOOTHINGS, TEMPERATURES

COLUMNS = ["area", "plan", "channel"]


def orders(n: int = 240, seed: int = 3, rate: float = 0.85) -> pd.DataFrame:
    """Orders of shoes are returned, and those of books by teams; the channel says nothing."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": draw.choice(["books", "shoes", "lamps", "chairs"], n),
            "plan": draw.choice(["free", "team", "enterprise"], n),
            "channel": draw.choice(["mail", "chat", "phone"], n),
        }
    )
    odd = (frame.area == "shoes") | ((frame.plan == "team") & (frame.area == "books"))
    returned = draw.random(n) < np.where(odd, rate, 0.15)
    return frame.assign(returned=np.where(returned, "yes", "no"))


def table_of(frame: pd.DataFrame):
    return table_from_frame(frame[COLUMNS], frame.returned, target="returned")


def quickly(data: pd.DataFrame, *only: str, **options) -> Discovery:
    return discover(data, "returned", only=only, budget=None, n_jobs=1, **options)


def chosen_row(found: Discovery) -> dict:
    return next(row for row in found.leaderboard if row["chosen"])


def one_class_weighs_as_another(labels) -> np.ndarray:
    names, place, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return len(labels) / (len(names) * sizes[place])


@pytest.mark.parametrize("name", ["linear model", "naive Bayes", "induction", "memory"])
def test_pipeline_saved_model_and_command_give_the_same_probabilities(name, tmp_path, capsys):
    frame = orders()
    found = quickly(frame, name)
    assert found.chosen == name
    found.save(tmp_path)
    new = orders(50, seed=9)[COLUMNS]
    p = found.pipeline().predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    saved = load_predictor(tmp_path / "model.featloom")
    rows = table_of(orders(50, seed=9))
    np.testing.assert_allclose(saved.shares(rows), p, rtol=1e-5)
    new.to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    words = [str(tmp_path / "model.featloom"), str(tmp_path / "new.csv"), "--proba", "--quiet"]
    with pytest.raises(SystemExit) as end:
        main(["predict", *words])
    assert end.value.code == 0
    shown = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    classes = [str(one) for one in found.pipeline().classes_]
    of_command = [[float(row[f"p_{one}"]) for one in classes] for row in shown]
    np.testing.assert_allclose(of_command, p, atol=1e-4)
    assert [row["prediction"] for row in shown] == found.pipeline().predict(new).tolist()


def judged_folds(found: Discovery, frame: pd.DataFrame, name: str):
    """The question, a contender fitted on all rows, and what its folds found."""
    question = TableQuestion(table_of(frame))
    one = next(one for one in question.contenders() if one.name == name)
    details = []
    for learned, judged in found.folds:
        units, asked = found.learn_rows[learned], found.learn_rows[judged]
        fitted = one.fit(question.take(units), one.default, 0, 1)
        details.append(question.judge(asked, question.take(asked), fitted).details)
    fitted = one.fit(question.take(np.arange(len(frame))), one.default, 0, 1)
    return question, fitted, details


@pytest.mark.parametrize("name", ["linear model", "naive Bayes"])
def test_scores_are_multiplied_by_the_temperature_that_did_best_in_the_folds(name):
    frame = orders(120)
    found = quickly(frame, "naive Bayes")
    question, fitted, details = judged_folds(found, frame, name)
    plain = fitted.model.predict_proba(frame[COLUMNS])
    sums = np.sum([one["calibration"]["sums"] for one in details], axis=0)
    value = TEMPERATURES[int(np.argmin(sums))]
    kept = question.calibrated(fitted, details)
    assert kept.calibration == value
    raised = plain**value
    np.testing.assert_allclose(
        kept.model.predict_proba(frame[COLUMNS]), raised / raised.sum(axis=1, keepdims=True)
    )


def test_votes_of_a_memory_are_mixed_with_the_class_shares():
    frame = orders(120)
    found = quickly(frame, "naive Bayes")
    question, fitted, details = judged_folds(found, frame, "memory")
    plain = fitted.model.predict_proba(frame[COLUMNS])
    sums = np.sum([one["calibration"]["sums"] for one in details], axis=0)
    value = SMOOTHINGS[int(np.argmin(sums))]
    kept = question.calibrated(fitted, details)
    assert kept.model[-1].smoothing == value
    shares = [(frame.returned == name).mean() for name in fitted.model.classes_]
    np.testing.assert_allclose(
        kept.model.predict_proba(frame[COLUMNS]), (1 - value) * plain + value * np.array(shares)
    )


def test_calibrated_probabilities_lose_less_than_those_that_are_too_sure():
    """Nearest neighbours are sure of themselves: the class of one row is all they know."""
    frame = orders(300, rate=0.7)
    found = quickly(frame, "naive Bayes")
    question, fitted, details = judged_folds(found, frame, "memory")
    new = orders(400, seed=31, rate=0.7)
    sure = fitted.model.predict_proba(new[COLUMNS])
    known = question.calibrated(fitted, details).model.predict_proba(new[COLUMNS])
    classes = list(fitted.model.classes_)
    assert log_loss(new.returned, known, labels=classes) < log_loss(
        new.returned, sure, labels=classes
    )
    assert log_loss(new.returned, known, labels=classes) < np.log(2)


@pytest.mark.parametrize("name", ["linear model", "selection", "induction", "tree templates"])
def test_the_size_told_is_that_of_the_model_that_is_handed_over(name, tmp_path):
    found = quickly(orders(), name)
    assert found.chosen == name
    assert "features.json" in found.save(tmp_path)
    plan = FeaturePlan.from_json((tmp_path / "features.json").read_text())
    row = chosen_row(found)
    assert row["size"] == len(plan.features) == found.pipeline()[-1].n_features_in_
    assert row["size_words"] == found.result["chosen_size"] == f"{len(plan.features):,} features"
    assert len(found.features) == row["size"]


def test_the_rows_told_are_those_that_a_memory_has_stored():
    found = quickly(orders(), "memory")
    assert chosen_row(found)["size_words"] == "240 stored rows"


HELD_OUT = {
    "log-loss": lambda truth, p: log_loss(truth, p),
    "AUC": lambda truth, p: roc_auc_score(truth, p),
    "Brier score": lambda truth, p: 2 * np.mean((p - truth) ** 2),
    "accuracy": lambda truth, p: accuracy_score(truth, p > 0.5),
}


@pytest.mark.parametrize("judge_by", JUDGES)
def test_the_metric_that_is_asked_for_is_the_one_that_orders_and_is_told(judge_by):
    frame = orders()
    found = quickly(frame, "naive Bayes", "linear model", judge_by=judge_by, positive="yes")
    result, row = found.result, chosen_row(found)
    assert result["metric"] == ("F1 of yes" if judge_by == "F1" else judge_by)
    assert result["lower_is_better"] == (judge_by in ("log-loss", "Brier score"))
    values = [one["value"] for one in found.leaderboard if one["status"] == "finished"]
    assert values == sorted(values, reverse=not result["lower_is_better"])
    assert row["interval"][0] <= row["value"] <= row["interval"][1]
    assert row["test_interval"][0] <= row["test"] <= row["test_interval"][1]
    figures = result["chosen_figures"]
    if judge_by == "F1":
        assert row["test"] == pytest.approx(figures["f1"]["value"])
        return
    name = {"log-loss": "log_loss", "Brier score": "brier"}.get(judge_by, judge_by.lower())
    assert row["test"] == pytest.approx(figures[name], abs=1e-6)
    assert row["test"] == pytest.approx(row["metrics"][name], abs=1e-6)


def test_names_of_metrics_are_known_in_any_case_of_letters():
    table = table_of(orders(40))
    for name in ("Log-Loss", "log_loss", "auc", "brier-score", "Brier Score", "ACCURACY", "f1"):
        assert TableQuestion(table, judge_by=name).judge_by in JUDGES


def test_the_figures_of_the_chosen_are_those_of_its_test_part_by_all_metrics():
    """Fitted once more by hand on the part that was learned from, calibrated by its folds."""
    frame = orders(240)
    only: list = []
    found = quickly(frame, "naive Bayes", watch=Watch(on_trial=only.append))
    figures, test = found.result["chosen_figures"], frame.iloc[found.test_rows]
    (tested,) = [
        one for one in only
        if one.candidate["fold"] == "test" and one.candidate["method"] == "naive Bayes"
    ]  # fmt: skip
    question = TableQuestion(table_of(frame))
    one = next(one for one in question.contenders() if one.name == "naive Bayes")
    (setting,) = tested.candidate["settings"]
    fitted = one.fit(question.take(found.learn_rows), setting, 0, 1)
    fitted = question.calibrated(fitted, tested.candidate["calibration"])
    p = fitted.model.predict_proba(test[COLUMNS])[:, 1]
    truth = (test.returned == "yes").to_numpy()
    for name, of in HELD_OUT.items():
        key = {"log-loss": "log_loss", "Brier score": "brier"}.get(name, name.lower())
        assert figures[key] == pytest.approx(of(truth, p), abs=1e-6), name
    f1 = figures["f1"]
    rarer = min(("yes", "no"), key=lambda name: (frame.returned == name).sum())
    is_rarer = truth if rarer == "yes" else ~truth
    of_rarer = p if rarer == "yes" else 1 - p
    assert f1["positive"] == figures["positive"] == rarer
    assert f1["value"] == pytest.approx(f1_score(is_rarer, of_rarer >= f1["threshold"]))
    classes = figures["confusion"]["classes"]
    answers = np.where(p > 0.5, "yes", "no")
    np.testing.assert_array_equal(
        figures["confusion"]["counts"], confusion_matrix(test.returned, answers, labels=classes)
    )
    assert sum(part["n"] for part in figures["calibration"]) == figures["rows"] == len(test)
    assert all(part["low"] <= part["share"] <= part["high"] for part in figures["calibration"])
    learned = frame.iloc[found.learn_rows].returned
    shares = [(learned == name).mean() for name in ("no", "yes")]
    base = log_loss(test.returned, [shares] * len(test), labels=["no", "yes"])
    assert figures["base_rate_log_loss"] == pytest.approx(base, abs=1e-6)
    assert json.loads(json.dumps(figures)) == figures


def test_with_balanced_classes_each_class_weighs_the_same_in_fits_and_figures():
    """Few of the orders are returned."""
    frame = orders(400)
    frame.loc[frame.index % 3 > 0, "returned"] = "no"
    plain = quickly(frame, "linear model")
    even = quickly(frame, "linear model", class_weight="balanced")
    test = frame.iloc[even.test_rows]
    row = chosen_row(even)
    assert chosen_row(plain)["metrics"]["log_loss"] != row["metrics"]["log_loss"]
    # One who knows nothing loses ln 2 where both classes weigh the same.
    chance = next(one for one in even.leaderboard if one["role"] == "chance")
    assert chance["test"] == pytest.approx(np.log(2), abs=1e-6)
    base = even.result["chosen_figures"]["base_rate_log_loss"]
    assert base == pytest.approx(chance["test"])
    confusion = even.result["chosen_figures"]["confusion"]
    weights = one_class_weighs_as_another(frame.returned)[even.test_rows]
    of_class = [weights[test.returned == name].mean() for name in confusion["classes"]]
    right = np.diagonal(confusion["counts"]) @ of_class
    assert row["metrics"]["accuracy"] == pytest.approx(right / weights.sum())
    # Where they weigh the same, the rarer one is found more often.
    found = [one.pipeline().predict(frame[COLUMNS]) for one in (plain, even)]
    assert (found[1] == "yes").sum() > (found[0] == "yes").sum()
    assert balanced_accuracy_score(frame.returned, found[1]) > balanced_accuracy_score(
        frame.returned, found[0]
    )


def test_an_interval_of_f1_where_no_positive_was_hit_does_not_say_that_none_will_be():
    draw = np.random.default_rng(0)
    labels = np.where(np.arange(200) % 40 == 0, "yes", "no")
    table = table_from_frame(draw.choice(list("ab"), (200, 3)).tolist(), labels.tolist())
    question = TableQuestion(table, "yes", "F1")
    one = next(one for one in question.contenders() if one.name == "class shares")
    units = np.arange(200)
    fitted = one.fit(question.take(units), one.default, 0, 1)
    never = question.calibrated(fitted, [])
    judged = question.judge(units, question.take(units), never)
    known = question.interval(units, judged.rows, 0)
    assert known.value == pytest.approx(2 * 5 / (2 * 5 + 195))
    none = question.judge(units, question.take(units), replace(fitted, threshold=0.9))
    found = question.interval(units, none.rows, 0)
    assert (none.score, found.value, found.low) == (0, 0, 0)
    assert 0 < found.high <= 1


@pytest.mark.parametrize("judge_by", ["log-loss", "AUC", "F1"])
def test_tuning_never_ends_below_the_default_in_the_folds(judge_by):
    told: list = []
    watch = Watch(on_trial=told.append)
    names = ("naive Bayes", "linear model", "induction", "memory")
    found = quickly(orders(150, seed=12), *names, judge_by=judge_by, watch=watch)
    scores: dict = defaultdict(lambda: defaultdict(dict))
    for one in told:
        if one.candidate["fold"] == "test":
            continue
        for outcome in one.result["outcomes"]:
            key = json.dumps(outcome["setting"], sort_keys=True)
            scores[one.candidate["method"]][key][one.candidate["fold"]] = outcome["score"]
    question = TableQuestion(table_of(orders(150, seed=12)), judge_by=judge_by)
    default = {one.name: one.default for one in question.contenders()}
    for row in found.leaderboard:
        if row["name"] not in names:
            continue
        of = scores[row["name"]]
        first = of[json.dumps(default[row["name"]], sort_keys=True)]
        assert len(first) == row["n_folds"] == 5
        value = -row["value"] if found.result["lower_is_better"] else row["value"]
        assert value >= np.mean(list(first.values()))
        whole = [np.mean(list(one.values())) for one in of.values() if len(one) == 5]
        assert value == pytest.approx(max(whole))
        assert row["tuned"] == (value > np.mean(list(first.values())))
