"""``discover`` on tables: what is handed back is a plain pipeline, and does what figures say."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

import featloom
from featloom.cli.predictors import load_predictor
from featloom.data.frames import table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.discover import Discovery, discover
from featloom.discover.discovery import Watch
from featloom.discover.front import ask
from featloom.discover.tables import TableQuestion
from featloom.errors import InputError

COLUMNS = ["area", "plan", "channel"]


def tickets(n=240, seed=7) -> pd.DataFrame:
    """Tickets of enterprises are escalated when they are about export, those of others when they
    are about login; neither column tells much alone."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": draw.choice(["billing", "login", "search", "export"], n),
            "plan": draw.choice(["free", "team", "enterprise"], n),
            "channel": draw.choice(["mail", "chat", "phone"], n),
        }
    )
    hot = np.where(frame.plan == "enterprise", "export", "login")
    escalated = draw.random(n) < np.where(frame.area == hot, 0.92, 0.05)
    return frame.assign(escalated=np.where(escalated, "yes", "no"))


def quickly(data, **options) -> Discovery:
    options = {"only": ["linear model", "tree templates"]} | options
    return discover(data, **options, budget=None, n_jobs=1)


@pytest.fixture(scope="module")
def frame():
    return tickets()


@pytest.fixture(scope="module")
def found(frame) -> Discovery:
    return quickly(frame, target="escalated")


def contender(question: TableQuestion, name: str):
    return next(one for one in question.contenders() if one.name == name)


def scores(found: Discovery) -> dict:
    return {
        row["name"]: (row["value"], row["folds"], row["test"], row["size"])
        for row in found.leaderboard
        if row["status"] == "finished"
    }


def test_the_package_and_its_folder_of_that_name_are_one_command():
    from featloom import discover as by_name

    assert callable(by_name)
    assert callable(featloom.discover)
    with pytest.raises(InputError, match="kind is 'forest'"):
        featloom.discover(table_from_frame([["a"]], ["x"]), kind="forest")


def test_the_model_is_a_plain_pipeline(found, frame):
    assert found.chosen == "tree templates"
    model = found.pipeline()
    assert type(model) is Pipeline
    again = pickle.loads(pickle.dumps(model))
    answers = model.predict(frame[COLUMNS])
    assert again.predict(frame[COLUMNS]).tolist() == answers.tolist()
    assert set(answers) <= {"yes", "no"}
    assert (answers == frame.escalated).mean() > 0.9


def test_scikit_learn_finds_in_the_same_folds_what_the_leaderboard_says(found, frame):
    """Calibrated once for all folds, so the figures agree but for that."""
    model = pickle.loads(pickle.dumps(found.pipeline()))
    rows = frame.iloc[found.learn_rows]
    folds = cross_val_score(
        model, rows[COLUMNS], rows.escalated, cv=found.folds, scoring="neg_log_loss"
    )
    row = next(row for row in found.leaderboard if row["chosen"])
    assert (found.result["metric"], found.result["lower_is_better"]) == ("log-loss", True)
    assert row["value"] == pytest.approx(np.mean(row["folds"]))
    assert row["interval"][0] <= -folds.mean() <= row["interval"][1]


def test_the_parts_are_all_rows_and_share_none(found, frame):
    both = np.concatenate([found.learn_rows, found.test_rows])
    assert sorted(both.tolist()) == list(range(len(frame)))
    assert len(found.test_rows) == pytest.approx(len(frame) / 5, abs=2)
    judged = np.concatenate([judged for _, judged in found.folds])
    assert sorted(judged.tolist()) == list(range(len(found.learn_rows)))
    for learned, judged in found.folds:
        assert not set(learned.tolist()) & set(judged.tolist())


def test_the_score_on_the_test_part_is_that_of_a_model_that_never_saw_it(found, frame):
    test = frame.iloc[found.test_rows]
    row = next(row for row in found.leaderboard if row["name"] == "linear model")
    question = TableQuestion(table_from_frame(frame[COLUMNS], frame.escalated, target="escalated"))
    linear = contender(question, "linear model")
    setting = {"C": float(row["setting"].removeprefix("C "))}
    details = []
    for learned, judged in found.folds:
        units, asked = found.learn_rows[learned], found.learn_rows[judged]
        fitted = linear.fit(question.take(units), setting, 0, 1)
        details.append(question.judge(asked, question.take(asked), fitted).details)
    fitted = linear.fit(question.take(found.learn_rows), setting, 0, 1)
    model = question.calibrated(fitted, details).model
    assert row["learned"] == len(found.learn_rows)
    p = model.predict_proba(test[COLUMNS])
    assert log_loss(test.escalated, p, labels=model.classes_) == pytest.approx(row["test"])
    assert (model.predict(test[COLUMNS]) == test.escalated).mean() == pytest.approx(
        row["metrics"]["accuracy"]
    )


def test_the_features_are_those_of_the_pipeline_by_name(found, frame):
    assert len(found.features) == found.pipeline()[0].transform(frame[COLUMNS]).shape[1]
    assert any("area=" in name and "plan=" in name for name in found.features)
    shown = found.result["sections"][0]["blocks"]
    assert {
        row[0] for part in shown if part["title"].startswith("features") for row in part["rows"]
    } <= set(found.features)


NAIVE = ["naive Bayes"]


@pytest.fixture(scope="module")
def simple(frame) -> Discovery:
    return quickly(frame, target="escalated", only=NAIVE)


def test_a_table_and_frames_of_any_make_are_compared_alike(simple, frame):
    table = table_from_frame(frame[COLUMNS], frame.escalated, target="escalated")
    assert scores(quickly(table, only=NAIVE)) == scores(simple)
    polars = pl.from_pandas(frame)
    assert scores(quickly(polars, target="escalated", only=NAIVE)) == scores(simple)


def test_a_file_is_compared_as_the_frame_it_came_from(simple, frame, tmp_path):
    for path, write in (("a.csv", frame.to_csv), ("a.parquet", frame.to_parquet)):
        write(tmp_path / path, index=False)
        again = quickly(tmp_path / path, target="escalated", only=NAIVE)
        assert scores(again) == scores(simple)


def test_a_seed_settles_everything(simple, frame):
    assert scores(quickly(frame, target="escalated", only=NAIVE, seed=0)) == scores(simple)
    other = quickly(frame, target="escalated", only=NAIVE, seed=1)
    assert sorted(other.test_rows) != sorted(simple.test_rows)


def test_what_was_finished_in_a_folder_is_not_done_again(simple, frame, tmp_path):
    first = quickly(frame, target="escalated", only=NAIVE, folder=tmp_path)
    told: list = []
    watch = Watch(on_trial=told.append)
    second = quickly(frame, target="escalated", only=NAIVE, folder=tmp_path, watch=watch)
    assert scores(first) == scores(second) == scores(simple)
    # Times too: they are those of the journal.
    assert first.leaderboard == second.leaderboard
    # Chance on five folds, naive Bayes on each with its default and then its three other settings,
    # and both on the test part.
    assert len(told) == first.result["evaluations"] == 5 + 2 * 5 + 2


def test_the_default_settings_come_first_then_folds_tuning_and_the_test_part(frame):
    told: list = []
    watch = Watch(on_trial=told.append)
    only = ["naive Bayes", "linear model"]
    quickly(frame, target="escalated", only=only, watch=watch)
    seen = [(one.candidate["method"], one.candidate["fold"]) for one in told]
    settings = [len(one.candidate["settings"]) for one in told]
    assert {name for name, _ in seen[:3]} == {"class shares", *only}
    assert {fold for _, fold in seen[:3]} == {0}
    tested = [place for place, (_, fold) in enumerate(seen) if fold == "test"]
    assert tested == list(range(len(seen) - 3, len(seen)))
    tuned = [place for place, n in enumerate(settings) if n > 1]
    assert min(tuned) == 3 + 3 * 4  # every default has been on every fold
    assert [settings[place] for place in tuned] in ([6] * 5 + [3] * 5, [3] * 5 + [6] * 5)


def test_settings_are_counted_in_place_of_time(frame, tmp_path):
    """Also by a run that was stopped and goes on, and by the search of a memory within its own."""
    only = ["linear model", "memory", "memory search"]
    told: list = []
    how = {"target": "escalated", "only": only, "trials": 2}
    first = quickly(frame, **how, folder=tmp_path, watch=Watch(on_trial=told.append))
    tried = {name: set() for name in only}
    for one in told:
        for setting in one.candidate["settings"]:
            tried.setdefault(one.candidate["method"], set()).add(str(setting))
    assert {name: len(tried[name]) for name in only} == dict(zip(only, (2, 2, 1), strict=True))
    assert tried["memory search"] == {"{'trials': 2}"}
    assert len(first.refitted("memory search").model[-1].history_) == 2
    assert {row["n_folds"] for row in first.leaderboard if row["status"] == "finished"} == {5}
    assert {one.candidate.get("limit") for one in told} == {None}
    budget = first.result["budget"]
    assert (budget["seconds"], budget["trials"], budget["stopped"]) == (None, 2, "finished")
    again: list = []
    second = quickly(frame, **how, folder=tmp_path, watch=Watch(on_trial=again.append))
    assert second.leaderboard == first.leaderboard
    assert [one.candidate for one in again] == [one.candidate for one in told]


@pytest.mark.parametrize("trials", [0, -1, 1.5, True])
def test_a_wrong_number_of_settings_is_refused_before_anything_is_read(trials):
    with pytest.raises(InputError, match="trials"):
        discover("no such file.csv", "escalated", trials=trials)


def children() -> set[str]:
    """Numbers of the processes that this one has started and that are still there."""
    files = Path("/proc/self/task").glob("*/children")
    return {number for file in files for number in file.read_text().split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_one_job_starts_no_process(frame):
    """Workers stay for a while after a search, so those of this one would be seen."""
    before = children()
    found = discover(frame, "escalated", only=NAIVE, budget="60s", n_jobs=1)
    assert found.chosen == "naive Bayes"
    assert children() <= before


def test_words_for_a_notebook(found):
    assert repr(found).startswith("Discovery: Tree templates reach a log-loss of .")
    assert "linear model" in repr(found)
    html = found._repr_html_()
    assert html.count("<tr>") == 4
    assert "tree templates" in html


def test_a_gain_is_told_with_its_size_and_doubt(found):
    """Which tickets are escalated is told by two columns together, and by neither alone."""
    assert found.significant
    assert "It is better than the linear model: +." in found.verdict
    assert "(class shares alone: ." in found.verdict


NAMES = [
    one.name
    for one in TableQuestion(
        table_from_frame(tickets(40)[COLUMNS], tickets(40).escalated)
    ).contenders()
    if one.role in ("method", "baseline")
]


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_a_frame_are_found_by_name(name, frame):
    question = TableQuestion(table_from_frame(frame[COLUMNS], frame.escalated))
    one = contender(question, name)
    model = one.fit(question.take(np.arange(160)), one.default, 0, 1).model
    answers = model.predict(frame[COLUMNS]).tolist()
    assert model.predict(frame[["escalated", "plan", "channel", "area"]]).tolist() == answers
    assert model.predict(pl.from_pandas(frame)).tolist() == answers
    assert model.predict(frame[COLUMNS].to_numpy()).tolist() == answers
    with pytest.raises(InputError, match="no column 'plan'; there are area, channel"):
        model.predict(frame[["area", "channel"]])


def test_all_columns_that_are_missing_are_named_at_once(frame):
    found = quickly(frame, target="escalated", only=["linear model"])
    with pytest.raises(InputError, match="no columns 'area', 'plan'; there are channel"):
        found.pipeline().predict(frame[["channel"]])


def test_a_contender_can_be_left_out(frame):
    found = quickly(
        frame, target="escalated", only=["linear model", "selection"], drop=["selection"]
    )
    compared = {row["name"] for row in found.leaderboard if row["status"] == "finished"}
    assert compared == {"class shares", "linear model"}


def test_a_folder_is_made_for_what_is_saved(frame, tmp_path):
    found = quickly(frame, target="escalated", only=["linear model"])
    assert (tmp_path / "new" / "folder" / found.save(tmp_path / "new" / "folder")[0]).exists()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"):
        found.save(tmp_path / "file" / "folder")


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_answers_as_the_pipeline(name, frame, tmp_path):
    table = table_from_frame(frame[COLUMNS], frame.escalated, target="escalated")
    question = TableQuestion(table)
    one = contender(question, name)
    fitted = one.fit(question.take(np.arange(160)), one.default, 0, 1)
    assert fitted.save(tmp_path)[0] == "model.featloom"
    rows = table.take(np.arange(160, 240))
    predictor = load_predictor(tmp_path / "model.featloom")
    assert predictor.predict(rows).tolist() == fitted.model.predict(rows).tolist()
    np.testing.assert_allclose(predictor.shares(rows), fitted.model.predict_proba(rows), atol=1e-6)
    why = predictor.explain(rows.take(np.arange(1)))[0]
    assert why.part["answer"] == predictor.predict(rows)[0]
    assert fitted.findings()[0].rows


def test_groups_are_never_torn_apart(frame):
    documents = np.arange(len(frame)) // 8
    found = quickly(
        frame.assign(document=documents), target="escalated", groups="document",
        only=["naive Bayes"],
    )  # fmt: skip
    assert not set(documents[found.learn_rows]) & set(documents[found.test_rows])
    of_learn = documents[found.learn_rows]
    for learned, judged in found.folds:
        assert not set(of_learn[learned]) & set(of_learn[judged])
    assert "whole groups" in found.result["protocol"]


def test_a_test_part_that_is_given_is_the_one_reported_on(frame):
    found = quickly(frame[:200], target="escalated", test=frame[200:], only=["naive Bayes"])
    assert found.test_rows.tolist() == list(range(200, 240))
    assert found.result["protocol"].startswith("the test part as given")


def test_binary_features_are_compared_as_a_matrix(frame):
    table = table_from_frame(frame[COLUMNS], frame.escalated, target="escalated")
    matrix = FeatureMatrix.from_table(table)
    found = quickly(matrix)
    assert found.question.words == "a table: 240 rows, 10 binary features of 3 families, 2 classes"
    assert found.chosen == "tree templates"
    assert (found.pipeline().predict(matrix) == frame.escalated).mean() > 0.9
    why = {row["name"]: row["why"] for row in found.leaderboard if row["status"] != "finished"}
    assert why["memory"] == "3 families of features are no table of columns"


def test_an_answer_that_looks_at_nothing_has_no_features(frame, tmp_path):
    draw = np.random.default_rng(0)
    by_lot = frame.assign(escalated=draw.choice(["yes", "no"], len(frame)))
    found = quickly(by_lot, target="escalated", only=["selection"])
    assert found.verdict.startswith("There is nothing to find here")
    assert not found.significant
    assert found.chosen == "class shares"
    assert found.features == []
    assert found.save(tmp_path) == []
    shares = found.pipeline().predict_proba(frame[COLUMNS])
    by_hand = [(by_lot.escalated == name).mean() for name in found.pipeline().classes_]
    np.testing.assert_allclose(shares, [by_hand] * len(frame))


def test_tasks_in_one_table_are_compared_task_by_task(frame, tmp_path):
    many = frame.assign(site=[f"s{j % 6}" for j in range(len(frame))])
    found = quickly(
        many, target="escalated", task="site",
        only=["linear SVM, each task alone", "relevance prior"],
    )  # fmt: skip
    assert found.result["data"]["kind"] == "tasks"
    assert found.question.words.startswith("6 tasks in one table: 240 rows")
    assert len(scores(found)) == 3
    assert found.chosen in scores(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "late"}, "no column 'late'; there are area, plan, channel, escalated"),
        ({}, "name the column that holds the classes by target: area, plan, channel, escalated"),
        ({"target": "escalated", "groups": "site"}, "no column 'site'"),
        ({"target": "escalated", "positive": "maybe"}, "no class 'maybe'; there are "),
        ({"target": "escalated", "kind": "forest"}, "kind is 'forest'; it can be table"),
        ({"target": "escalated", "kind": "sequence"}, "the data are no sentences"),
        ({"target": "escalated", "kind": "tasks"}, "the task of a row is not known"),
        ({"target": "escalated", "only": ["magic"]}, "no contender 'magic'; there are "),
        ({"target": "escalated", "drop": ["inducton"]}, "did you mean 'induction'?"),
        ({"target": "Escalated"}, "did you mean 'escalated'?"),
        ({"target": "escalated", "sample": 0}, "sample is 0; a share must lie in"),
        ({"target": "escalated", "sample": 0.5}, "a sample is drawn while a file is read"),
        ({"target": "escalated", "bins": 2}, "and ranges are made of numbers"),
        (
            {"target": "escalated", "judge_by": "luck"},
            "judge_by is 'luck'; it can be log-loss, AUC, Brier score, accuracy, F1",
        ),
        (
            {"target": "escalated", "class_weight": "fair"},
            "class_weight is 'fair'; it can be None or 'balanced'",
        ),
        ({"target": "area", "judge_by": "AUC"}, "AUC is of one class; name it by --positive"),
    ],
)
def test_what_cannot_be_asked_of_a_frame_is_refused(frame, options, words):
    with pytest.raises(InputError) as error:
        quickly(frame, **options)
    assert words in str(error.value)


def test_a_row_without_a_group_is_named(frame):
    holes = frame.assign(document=["d1", None] * (len(frame) // 2))
    with pytest.raises(InputError, match="row 2 has no document"):
        ask(holes, "escalated", groups="document")


def test_contenders_fitted_anew_are_those_that_were_judged(found):
    """On the part that each was judged on they have its very figures."""
    question, test = found.question, found.test_rows
    for row in found.leaderboard:
        if row["status"] != "finished":
            continue
        anew = found.refitted(row["name"], "test")
        judged = question.judge(test, question.take(test), anew)
        assert -judged.score == pytest.approx(row["test"], rel=1e-6)
        assert anew.learned == row["learned"]


def test_the_chosen_one_fitted_anew_is_the_model_that_is_handed_over(found, frame):
    anew = found.refitted(found.chosen)
    np.testing.assert_array_equal(
        anew.model.predict_proba(frame[COLUMNS]), found.pipeline().predict_proba(frame[COLUMNS])
    )


def test_one_is_fitted_anew_on_the_folds_it_was_judged_on_only(found):
    learned = [found.refitted("linear model", fold).learned for fold in range(5)]
    assert learned == [len(known) for known, _ in found.folds]
    with pytest.raises(InputError, match="was judged on the folds"):
        found.refitted("linear model", 5)
    with pytest.raises(InputError, match="'memory' was not judged; class shares, linear model"):
        found.refitted("memory")


def test_of_two_classes_the_area_is_the_same_whichever_is_the_positive_one(frame):
    areas = []
    for positive in ("yes", "no"):
        found = quickly(frame, target="escalated", positive=positive, only=["linear model"])
        areas.append(found.entries["linear model"].outcome["details"]["auc"])
    assert areas[0] == pytest.approx(areas[1])
    assert areas[0] > 0.5
