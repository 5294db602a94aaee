"""Questions about many tasks: who answers, how it is judged, and what can be used afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.task_rows import rows_of_tasks
from featloom.discover import discover
from featloom.discover.combined import fit_joined
from featloom.discover.many_tasks import TaskQuestion
from featloom.errors import InputError
from featloom.methods.transfer import MultiTask
from featloom.methods.transfer.task_models import TaskModels

TASKS = [f"verb{t}" for t in range(8)]


def senses(n: int = 24, seed: int = 0, joint: bool = False) -> NominalTable:
    """Small tasks in which the same two columns of twelve tell the sense.

    With ``joint`` neither tells it by itself: the sense is whether they agree.
    """
    draw = np.random.default_rng(seed)
    rows = n * len(TASKS)
    codes = draw.integers(2, size=(rows, 12))
    verbs = np.repeat(TASKS, n)
    labels = codes[:, 0] if not joint else (codes[:, 0] == codes[:, 1]).astype(int)
    columns = {"verb": verbs.tolist()}
    columns |= {f"c{j}": [f"v{code}" for code in codes[:, j]] for j in range(12)}
    named = [f"{verb}.{label}" for verb, label in zip(verbs, labels, strict=True)]
    return replace(NominalTable.from_columns(columns, labels=named), target="sense")


@pytest.fixture(scope="module")
def question() -> TaskQuestion:
    return TaskQuestion(rows_of_tasks(senses(), "verb"))


@pytest.fixture(scope="module")
def parts() -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(len(TASKS) * 24)
    return places[places % 3 > 0], places[places % 3 == 0]


NAMES = [one.name for one in TaskQuestion(rows_of_tasks(senses(4), "verb")).contenders()]


def contender(question: TaskQuestion, name: str):
    return next(one for one in question.contenders() if one.name == name)


def fitted_by_default(one, data):
    return one.fit(data, one.default, 0, 1)


def test_there_are_baselines_alone_methods_that_carry_over_and_a_control(question):
    roles = {one.name: one.role for one in question.contenders()}
    assert roles["linear SVM, each task alone"] == "baseline"
    assert roles["selection at one cost, each task alone"] == "baseline"
    assert {name for name, role in roles.items() if role == "method"} == {
        "relevance prior", "conjunctions under the prior", "selection at the prior's costs",
        "TransFeat",
    }  # fmt: skip
    # The control measures what is left without transfer, and is never chosen.
    assert roles["relevance prior, shuffled"] == "yardstick"
    assert [*roles.values()].count("chance") == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_answers_as_the_one_that_was_compared(name, question, parts, tmp_path):
    learn, test = parts
    fitted = fitted_by_default(contender(question, name), question.take(learn))
    asked = question.take(test)
    answers = fitted.answers(asked)
    assert answers.dtype == np.int32
    assert len(answers) == len(asked)
    assert "model.featloom" in fitted.save(tmp_path)
    loaded = TaskModels.load(tmp_path / "model.featloom")
    named = loaded.answers(asked, asked.task_of_row)
    assert named.tolist() == [question.classes[code] for code in answers]
    assert isinstance(fitted.size_words, str)
    assert isinstance(fitted.setting, str)
    score = question.of_counts(question.counts(test, answers).sum(axis=0))
    assert (score < 0.65) == (name == "most frequent class of the task")
    assert question.judge(test, asked, fitted).score == score


def test_the_strength_of_one_model_for_all_tasks_is_set_from_outside(question, parts):
    learn, test = parts
    one = contender(question, "one model for all tasks")
    settings = [one.default, *one.varied(one.default, "C")]
    together = list(one.fit_each(question.take(learn), settings, 0, 1))
    assert [fitted.setting for fitted in together] == [f"C {one['C']:g}" for one in settings]
    asked = question.take(test)
    alone = one.fit(question.take(learn), settings[-1], 0, 1)
    np.testing.assert_array_equal(alone.answers(asked), together[-1].answers(asked))
    # Models of tasks choose from the rows of their task, which is a part of the methods.
    assert not contender(question, "relevance prior").axes


def test_a_task_that_was_not_learned_is_answered_wrongly_and_not_at_all(question, parts):
    learn, _ = parts
    rows = question.take(learn)
    known = rows.take(rows.task_of_row != "verb0")
    fitted = fitted_by_default(contender(question, "relevance prior"), known)
    answers = fitted.answers(rows)
    assert (answers[rows.task_of_row == "verb0"] == -1).all()
    assert (answers[rows.task_of_row != "verb0"] >= 0).all()


def test_whole_tasks_are_drawn_in_the_tests(question):
    units = np.arange(len(question))
    counts = question.counts(units, question.labels)
    assert len(counts) == len(TASKS)
    told = question.errors(units, question.labels)
    assert {row["name"] for row in told["by_group"]} == set(TASKS)


def test_what_was_found_names_families_features_and_what_speaks_for_a_class(question, parts):
    prior = contender(question, "relevance prior")
    fitted = fitted_by_default(prior, question.take(parts[0]))
    found = {one.title: one for one in fitted.findings()}
    assert found["families by relevance"].rows[0][0] == "c0"
    assert found["features by relevance"].rows[0][0].startswith("c0=")
    assert all(row[2].startswith("c0=") for row in found["what speaks most for a class"].rows[:8])


def test_where_columns_tell_the_class_together_conjunctions_find_it():
    rows = rows_of_tasks(senses(60, joint=True), "verb")
    learn = np.arange(len(rows)) % 3 > 0
    known, asked = rows.take(learn), rows.take(~learn)
    model = MultiTask(strengths=(1.0,)).fit(known, known.label_names, tasks=known.task_of_row)
    alone = np.mean(model.predict(asked, tasks=asked.task_of_row) == asked.label_names)
    joined = fit_joined(model, known)
    together = np.mean(joined.answers(asked, asked.task_of_row) == asked.label_names)
    assert alone < 0.65
    assert together > 0.9
    names = {joined.features.name(j) for j in range(len(joined.features))}
    assert {"c0=v0 & c1=v0", "c0=v1 & c1=v0"} & names


def test_conjunctions_need_a_prior():
    rows = rows_of_tasks(senses(8), "verb")
    model = MultiTask(prior=None, strengths=None).fit(
        rows, rows.label_names, tasks=rows.task_of_row
    )
    with pytest.raises(InputError, match="there is none to join under"):
        fit_joined(model, rows)


def test_one_task_is_nothing_to_carry_over_from():
    table = senses(4).take(np.arange(4))
    with pytest.raises(InputError, match="there is one task only"):
        TaskQuestion(rows_of_tasks(table, "verb"))


@pytest.mark.parametrize(
    ("task", "message"),
    [(None, "name the column that tells it by --task"), ("sense", "they are two columns")],
)
def test_a_task_must_be_a_column_of_its_own(task, message):
    with pytest.raises(InputError, match=message):
        rows_of_tasks(senses(4), task)


def test_rows_of_a_bare_matrix_are_told_apart_by_their_tasks():
    table = senses(30)
    rows = rows_of_tasks(table, "verb")
    bare = FeatureMatrix.from_csr(
        rows.to_csr(), names=[str(name).replace("=", "_") for name in rows.names],
        labels=rows.labels, classes=rows.classes,
    )  # fmt: skip
    found = discover(
        bare.with_tasks(rows.task_of_row, "verb"), only=["relevance prior"], budget=None, n_jobs=1
    )
    assert found.chosen == "relevance prior"
    assert found.result["data"]["tasks"] == len(TASKS)
