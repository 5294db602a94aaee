"""Models of many tasks as a file: they answer as what learned them, and damage is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.task_rows import rows_of_tasks
from featloom.errors import InputError, ReadError
from featloom.features.feature_list import FeatureList
from featloom.formats.models import load_model, save_model
from featloom.learners.stepwise import MDLSelector
from featloom.methods.transfer import MultiTask, RelevancePrior, TransFeat, baselines
from featloom.methods.transfer.linear_tasks import models_of, models_of_transfeat
from featloom.methods.transfer.task_models import EVERY_ROW, TaskModels

VERBS = {"give": ("pay", "hand", "say"), "ask": ("beg", "invite"), "be": ("be",)}


def verbs(n: int = 40, seed: int = 0) -> NominalTable:
    """Senses of verbs that object and preposition tell; "be" has one sense."""
    draw = np.random.default_rng(seed)
    columns: dict[str, list[str]] = {"verb": [], "object": [], "prep": [], "day": []}
    senses = []
    for verb, classes in VERBS.items():
        for _ in range(n):
            code = int(draw.integers(len(classes)))
            seen = ("money", "me", "word")[code] if draw.random() < 0.9 else "thing"
            columns["verb"].append(verb)
            columns["object"].append(seen)
            columns["prep"].append(str(draw.choice(["to", "for"])))
            columns["day"].append(f"d{draw.integers(6)}")
            senses.append(classes[code])
    return replace(NominalTable.from_columns(columns, labels=senses), target="sense")


def rows_of(table: NominalTable) -> FeatureMatrix:
    return rows_of_tasks(table, "verb")


LEARNERS = {
    "SVM": baselines.linear_svm,
    "L1": baselines.l1_logistic,
    "own evidence": baselines.evidence_svm,
    "one cost": baselines.flat_cost_selection,
    "most frequent": baselines.most_frequent_class,
    "prior": lambda: MultiTask(strengths=(0.1, 1.0)),
    "priced": lambda: MultiTask(
        MDLSelector(), prior=RelevancePrior(rounds=2), use="cost", strengths=None
    ),
}


@pytest.fixture(scope="module")
def learned() -> TaskModels:
    rows = rows_of(verbs())
    model = MultiTask(strengths=(1.0,)).fit(rows, rows.label_names, tasks=rows.task_of_row)
    return models_of(model, rows)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_weights_answer_as_the_models_they_are_of(name):
    table = verbs(80)
    learn, asked = table.take(np.arange(0, 240, 2)), table.take(np.arange(1, 240, 2))
    rows, others = rows_of(learn), rows_of(asked)
    model = LEARNERS[name]().fit(rows, rows.label_names, tasks=rows.task_of_row)
    expected = model.predict(others, tasks=others.task_of_row).tolist()
    assert models_of(model, rows).predict(asked).tolist() == expected


def test_the_weights_of_transfeat_answer_as_it_does():
    rows = rows_of(verbs())
    names = [str(name) for name in rows.names]
    model = TransFeat(feature_names=names, background=0).fit(rows.by_task())
    found = models_of_transfeat(model, rows)
    for task in VERBS:
        some = rows.take(rows.task_of_row == task)
        expected = model.predict(task, some).tolist()
        assert found.answers(some, some.task_of_row).tolist() == expected


def test_a_model_comes_back_from_its_file(learned, tmp_path):
    learned.save(tmp_path / "model.featloom")
    loaded = TaskModels.load(tmp_path / "model.featloom")
    asked = verbs(seed=3)
    assert loaded.predict(asked).tolist() == learned.predict(asked).tolist()
    assert [loaded.task_column, loaded.target, loaded.tasks] == ["verb", "sense", learned.tasks]
    assert loaded.explain(asked) == learned.explain(asked)
    assert loaded.prior is not None
    assert learned.prior is not None
    np.testing.assert_array_equal(
        loaded.prior.probability("give"), learned.prior.probability("give")
    )
    learned.save(tmp_path / "again.featloom")
    loaded.save(tmp_path / "copy.featloom")
    first, second = (tmp_path / name for name in ("again.featloom", "copy.featloom"))
    assert first.read_bytes() == second.read_bytes()


def test_a_task_that_was_never_met_has_no_answer_and_a_new_value_is_no_feature(learned):
    rows = NominalTable.from_columns(
        {"verb": ["give", "sing", "ask"], "object": ["money", "money", "violin"],
         "prep": ["to"] * 3, "day": ["d1", "d1", "d99"]}
    )  # fmt: skip
    answers = learned.predict(rows).tolist()
    assert answers[:2] == ["pay", None]
    assert answers[2] in VERBS["ask"]
    assert learned.explain(rows)[1].answer == ""


def test_an_answer_is_explained_by_the_features_of_its_row(learned):
    rows = verbs(seed=5)
    for place, why in enumerate(learned.explain(rows)):
        assert why.answer == learned.predict(rows.take(np.array([place])))[0]
        mine = {f"{column}={rows.value(column, place)}" for column in rows.columns}
        assert {name for name, _ in why.features} <= mine | {EVERY_ROW}
        assert why.margin >= 0
    assert learned.explain(rows, most=1)[0].features == learned.explain(rows)[0].features[:1]


def test_the_task_may_be_a_feature_of_a_bare_matrix():
    features = FeatureList.of_matrix(["dobj_me"], [[0]])
    model = TaskModels.of(features, {"ask": ([[2.0, 0.0]], [0.0, 1.0], ["beg", "ask"])}, "verb")
    rows = FeatureMatrix.from_csr(
        [[1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 0]], names=["dobj_me", "verb=ask", "verb=be"]
    )
    assert model.predict(rows).tolist() == ["beg", "ask", None, None]


def test_a_model_of_all_tasks_answers_for_one_to_come():
    features = FeatureList.of_matrix(["dobj_me"], [[0]])
    model = TaskModels.shared(
        features, [[2.0, 0.0]], ["beg", "ask"],
        {"ask": np.array([0.0, 1.0]), "be": np.array([0.0, 5.0])}, np.array([0.0, 0.5]),
    )  # fmt: skip
    rows = FeatureMatrix.from_csr([[1]] * 3, names=["dobj_me"])
    assert model.answers_any_task
    assert model.answers(rows, ["ask", "be", "sing"]).tolist() == ["beg", "ask", "beg"]


def _damage(name: str, change):
    def damaged(description, arrays):
        arrays[name] = change(arrays[name])

    return damaged


@pytest.mark.parametrize(
    "damaged",
    [
        _damage("indices", lambda array: array + 1_000),
        _damage("indptr", lambda array: array[::-1].copy()),
        _damage("starts", lambda array: array[:-1]),
        _damage("starts", lambda array: np.zeros_like(array)),
        # Differences of these wrap around, and are all above 0.
        _damage(
            "starts", lambda a: np.concatenate([a[:1], [2**63 - 1, -(2**63)], a[3:]]).astype("i8")
        ),
        _damage("outputs", lambda array: array + 1),
        _damage("outputs", lambda array: array - 1),
        _damage("biases", lambda array: array[:-1]),
        _damage("biases", lambda array: array * np.nan),
        _damage("weights", lambda array: array.astype(np.float32)),
        _damage("parts", lambda array: array + 1),
        _damage("parts", lambda array: array.astype(np.float64)),
        _damage("prior", lambda array: array[:-2]),
        lambda description, arrays: description.update(columns=["object"]),
        lambda description, arrays: description.update(task_column=7),
        lambda description, arrays: arrays.pop("task_names"),
    ],
)
def test_parts_that_do_not_fit_are_refused(learned, damaged, tmp_path):
    path = tmp_path / "model.featloom"
    learned.save(path)
    model = load_model(path)
    description, arrays = dict(model.description), dict(model.arrays)
    damaged(description, arrays)
    save_model(path, "tasks", description, arrays)
    words = "model.featloom: (the model is damaged: its parts do not fit|not a relevance prior)"
    with pytest.raises(ReadError, match=words):
        TaskModels.load(path)


def test_tasks_that_do_not_fit_the_rows_are_refused(learned):
    with pytest.raises(InputError, match="tasks have shape"):
        learned.answers(verbs(), ["give"])
