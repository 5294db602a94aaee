"""Linear models over features: they answer as their pipelines do, and files are not believed."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import read
from featloom.data.table import NominalTable
from featloom.data.tasks.letter_to_sound import letter_to_sound
from featloom.errors import InputError, ReadError
from featloom.features.feature import Feature
from featloom.features.feature_list import FeatureList
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.models import load_model, save_model
from featloom.learners.memory import MemoryClassifier
from featloom.learners.plan_model import PlanModel, plan_model
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.tree_templates import TreeTemplates

FINDERS = {
    "conjunctions": lambda: ConjunctionInducer(score="mi", final_keep=20),
    "templates": lambda: TreeTemplates(random_state=0),
    "templates seen twice": lambda: TreeTemplates(cutoff=2),
}
CLASSIFIERS = {
    "logistic regression": lambda: LogisticRegression(C=3.0, max_iter=500),
    "multinomial": lambda: MultinomialNB(),
    "bernoulli": lambda: BernoulliNB(alpha=0.5),
}


def letters(n: int, n_classes: int, seed: int = 0, extra: tuple = ()) -> NominalTable:
    """Rows of letters whose sound depends on two of them together; some cells are empty."""
    draw = random.Random(seed)
    rows = [[draw.choice([*"aeckqs", *extra, None]) for _ in range(4)] for _ in range(n)]
    sounds = [
        ("abcdefgh"["aeckqs".find(row[1] or "a") % n_classes] if row[2] == "c" else "a")
        if draw.random() < 0.9
        else draw.choice("abcdefgh"[:n_classes])
        for row in rows
    ]
    columns = ("before", "letter", "next", "=odd=")
    return NominalTable.from_columns(
        {name: [row[j] for row in rows] for j, name in enumerate(columns)},
        labels=sounds,
        target="sound",
    )


def names_of(table) -> np.ndarray:
    return np.array(table.classes, dtype=object)[table.labels]


def agree(pipeline, model: PlanModel, rows) -> None:
    """The answers are the same, and the probabilities to the last bits."""
    assert model.predict(rows).tolist() == pipeline.predict(rows).tolist()
    np.testing.assert_allclose(model.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("finder", FINDERS.values(), ids=FINDERS)
def test_a_model_answers_as_its_pipeline_also_on_values_never_met(
    finder, classifier, n_classes, tmp_path
):
    table = letters(300, n_classes)
    pipeline = make_pipeline(finder(), classifier()).fit(table, names_of(table))
    new = letters(200, n_classes, seed=1, extra=("z", "è", "=", "x & y"))
    model = plan_model(pipeline)
    agree(pipeline, model, new)
    assert (model.columns, model.target) == (table.columns, "sound")
    model.save(tmp_path / "letters.featloom")
    loaded = PlanModel.load(tmp_path / "letters.featloom")
    assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert list(loaded.features) == list(model.features)
    assert (loaded.columns, loaded.target, loaded.classes) == (
        model.columns,
        "sound",
        model.classes,
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_model_of_a_bare_matrix_finds_features_by_their_names(n_classes, tmp_path):
    draw = np.random.default_rng(0)
    X = sparse.csr_matrix(draw.random((200, 12)) < 0.3).astype(np.int8)
    y = np.array(list("abcd"))[(X.toarray()[:, 3] + 2 * X.toarray()[:, 5]) % n_classes]
    names = [f"Word=w{j}" for j in range(11)] + ["CAPITAL"]
    matrix = FeatureMatrix.from_csr(X, names=names)
    pipeline = make_pipeline(ConjunctionInducer(score="mi", final_keep=9), LogisticRegression())
    model = plan_model(pipeline.fit(matrix, y))
    assert model.columns == ()
    agree(pipeline, model, matrix)
    model.save(tmp_path / "words.featloom")
    turned = FeatureMatrix.from_csr(X[:, ::-1], names=names[::-1])
    assert PlanModel.load(tmp_path / "words.featloom").predict(turned).tolist() == (
        pipeline.predict(matrix).tolist()
    )


def test_a_model_of_a_support_vector_machine_answers_but_has_no_probabilities():
    table = letters(300, 4)
    pipeline = make_pipeline(TreeTemplates(), LinearSVC()).fit(table, names_of(table))
    model = plan_model(pipeline)
    assert model.predict(table).tolist() == pipeline.predict(table).tolist()
    with pytest.raises(InputError, match="no probabilities"):
        model.predict_proba(table)


def test_letters_become_sounds_as_in_the_pipelines(data_folder):
    rows, *_ = letter_to_sound(max_words=900)
    learn, new = rows.take(np.arange(1500)), rows.take(np.arange(1500, 3000))
    for finder in (
        ConjunctionInducer(score="mi", final_keep=500),
        TreeTemplates(most=10, cutoff=2),
    ):
        pipeline = make_pipeline(finder, MultinomialNB()).fit(learn, names_of(learn))
        agree(pipeline, plan_model(pipeline), new)
    two = np.where(names_of(learn) == names_of(learn)[0], "first", "other")
    pipeline = make_pipeline(TreeTemplates(most=10), LogisticRegression(C=1.0)).fit(learn, two)
    agree(pipeline, plan_model(pipeline), new)


def test_mentions_are_disambiguated_as_in_the_pipeline(data_folder):
    data = read(data_folder / "ned-gum")
    rows = data.take(np.arange(3000))
    often = np.bincount(rows.indices, minlength=rows.shape[1]) >= 10
    matrix = FeatureMatrix.from_csr(
        rows.to_csr()[:, often],
        names=[n for n, kept in zip(rows.names, often, strict=True) if kept],
    )
    assert matrix.shape[1] > 1000
    y = np.array(rows.classes, dtype=object)[rows.labels]
    learn, new = matrix.take(np.arange(2000)), matrix.take(np.arange(2000, 3000))
    inducer = ConjunctionInducer(score="mi", final_keep=300)
    pipeline = make_pipeline(inducer, LogisticRegression(C=0.3)).fit(learn, y[:2000])
    agree(pipeline, plan_model(pipeline), new)


def test_the_reasons_of_an_answer_add_up_to_its_margin():
    table = letters(300, 5)
    pipeline = make_pipeline(TreeTemplates(), LogisticRegression()).fit(table, names_of(table))
    model = plan_model(pipeline)
    scores, answers = model.scores(table), model.predict(table)
    for row, why in zip([3, 50, 7], model.explain(table, [3, 50, 7], most=4), strict=True):
        second, best = np.sort(scores[row])[-2:]
        assert why.answer == answers[row]
        assert why.margin == pytest.approx(best - second)
        assert scores[row][model.classes.index(why.against)] == second
        sizes = [abs(weight) for _, weight in why.features]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == 4
        for name, _ in why.features:
            parts = [] if name == "(every row)" else name.split(" & ")
            for part in parts:
                column, _, value = part.rpartition("=")
                assert table.value(column, row) == value


def test_features_without_weight_and_columns_without_features_are_left_out(tmp_path):
    features = [Feature.from_names([name]) for name in ("letter=c", "letter=k", "next=a")]
    coef = [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    model = PlanModel.of(features, ["letter", "next"], coef, [0, 0, 0], "XYZ")
    assert [str(feature) for feature in model.features] == ["letter=c"]
    assert (model.columns, model.used_columns) == (("letter", "next"), ["letter"])
    rows = NominalTable.from_columns({"letter": ["c", "k", None]})
    assert model.predict(rows).tolist() == ["X", "X", "X"]
    assert model.explain(rows)[1].features == ()
    with pytest.raises(InputError, match="no column 'letter'"):
        model.predict(NominalTable.from_columns({"next": ["a"]}))


def test_a_model_may_have_no_features_at_all(tmp_path):
    feature = Feature.from_names(["letter=c"])
    model = PlanModel.of([feature], ["letter"], [[0.0]], [-1.0], ["K", "S"])
    model.save(tmp_path / "none.featloom")
    loaded = PlanModel.load(tmp_path / "none.featloom")
    assert loaded.predict(NominalTable.from_columns({"letter": ["c"]})).tolist() == ["K"]


def test_features_with_the_same_parts_are_one_feature():
    twins = [Feature.from_names(names) for names in (["a=1", "b=2"], ["b=2"], ["b=2", "a=1"])]
    model = PlanModel.of(twins, ["a", "b"], [[1.0, 5.0, 2.0]], [0.0], ["no", "yes"])
    assert len(model.features) == 2
    rows = NominalTable.from_columns({"a": ["1", "2"], "b": ["2", "2"]})
    assert model.scores(rows)[:, 1].tolist() == [8.0, 5.0]


@given(
    st.lists(
        st.lists(st.sampled_from(["a=1", "a=2", "b=1", "b=", "c=x"]), min_size=1, max_size=3),
        min_size=1,
        max_size=8,
    )
)
def test_a_list_of_features_is_the_plan_with_numbers(conjunctions):
    features = [Feature.from_names(names) for names in conjunctions]
    table = NominalTable.from_columns(
        {"a": ["1", "2", None, "1"], "b": ["1", "", "1", "?"], "c": ["x", "y", "x", None]}
    )
    for columns in (table.columns, ()):
        listed = FeatureList.of(features, columns)
        assert [str(feature) for feature in listed] == [str(feature) for feature in features]
        distinct = dict(enumerate({frozenset(f.parts): f for f in features}.values()))
        indptr, indices = FeatureList.of(distinct.values(), columns).rows(table)
        plan = FeaturePlan(tuple(distinct.values())).apply(table)
        assert indptr.tolist() == plan.indptr.tolist()
        assert indices.tolist() == plan.indices.tolist()


def test_what_is_no_feature_of_rows_is_refused():
    before = Feature(Template((("word", -1),)), ("the",))
    with pytest.raises(InputError, match="looks at another row, by -1"):
        FeatureList.of([before], ["word"])
    with pytest.raises(InputError, match="is no value of the columns a, b"):
        FeatureList.of([Feature.from_names(["c=1"])], ["a", "b"])
    with pytest.raises(InputError, match="two features are named 'x'"):
        FeatureList.of_matrix(["x", "x"], np.zeros((1, 1)))
    table = letters(100, 2)
    hashed = make_pipeline(TreeTemplates(hashed=8), LogisticRegression())
    with pytest.raises(InputError, match="hashed features are not known"):
        plan_model(hashed.fit(table, names_of(table)))
    other = make_pipeline(TreeTemplates(), MemoryClassifier())
    with pytest.raises(InputError, match="MemoryClassifier has no weights of features"):
        plan_model(other)
    with pytest.raises(InputError, match="a pipeline of features and a classifier"):
        plan_model(LogisticRegression())
    with pytest.raises(InputError, match=r"weights of shape \(1, 2\) and 1 biases; there are 1"):
        PlanModel.of([Feature.from_names(["a=1"])], ["a"], [[1.0, 2.0]], [1.0], "XYZ")
    with pytest.raises(InputError, match="do not fit"):
        PlanModel.of([Feature.from_names(["a=1"])], ["a"], [[np.inf]], [0.0], "XY")


# Files


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The file of a small model, and what it holds."""
    path = tmp_path_factory.mktemp("linear") / "letters.featloom"
    table = letters(200, 3)
    pipeline = make_pipeline(TreeTemplates(), LogisticRegression()).fit(table, names_of(table))
    plan_model(pipeline).save(path)
    return path, load_model(path)


def nudged(array, value):
    array = array.copy()
    array.reshape(-1)[0] = value
    return array


DAMAGE = {
    "no weights": lambda d, a: a.pop("weights"),
    "a feature too many": lambda d, a: a.update(
        weights=np.vstack([a["weights"], a["weights"][:1]])
    ),
    "a class too many": lambda d, a: a.update(weights=np.hstack([a["weights"]] * 2)),
    "a flat table": lambda d, a: a.update(weights=a["weights"].ravel()),
    "a weight that is no number": lambda d, a: a.update(weights=nudged(a["weights"], np.nan)),
    "whole weights": lambda d, a: a.update(weights=a["weights"].astype(np.int64)),
    "a bias less": lambda d, a: a.update(biases=a["biases"][:-1]),
    "an infinite bias": lambda d, a: a.update(biases=nudged(a["biases"], np.inf)),
    "an atom too high": lambda d, a: a.update(parts=nudged(a["parts"].astype(np.int32), 10**6)),
    "an atom too low": lambda d, a: a.update(parts=nudged(a["parts"], -2)),
    "a feature without parts": lambda d, a: a.update(parts=a["parts"] * 0 - 1),
    "parts that are no numbers": lambda d, a: a.update(parts=a["parts"].astype(float)),
    "parts without an end": lambda d, a: a.update(parts=a["parts"][:, :0]),
    "flat parts": lambda d, a: a.update(parts=a["parts"].ravel()),
    "a value less": lambda d, a: d["n_values"].__setitem__(0, d["n_values"][0] - 1),
    "negative values": lambda d, a: d.update(n_values=[-1, *d["n_values"]]),
    "half a value": lambda d, a: d.update(n_values=[n / 2 for n in d["n_values"]]),
    "values without end": lambda d, a: d.update(n_values=[2**70]),
    "a column twice": lambda d, a: d["columns"].__setitem__(0, d["columns"][1]),
    "a column more": lambda d, a: d["columns"].append("more"),
    "no columns": lambda d, a: d.update(columns=[]),
    "columns that are none": lambda d, a: d.update(columns=None),
    "a target that is none": lambda d, a: d.update(target=["sound"]),
    "a doubtful probability": lambda d, a: d.update(probabilistic="yes"),
    "no classes": lambda d, a: a.update(
        class_starts=np.zeros(1, np.int64), classes=a["classes"][:0]
    ),
    "the same class twice": lambda d, a: a.update(classes=a["classes"] * 0 + 65),
    "no starts": lambda d, a: a.pop("value_starts"),
    "nothing": lambda d, a: (d.clear(), a.clear()),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_parts_that_do_not_fit_are_refused(damage, saved, tmp_path):
    parts = saved[1]
    forged = replace(parts, description=deepcopy(parts.description), arrays=dict(parts.arrays))
    damage(forged.description, forged.arrays)
    save_model(tmp_path / "forged.featloom", "linear", forged.description, forged.arrays)
    with pytest.raises(ReadError, match=r"forged.featloom: the model is damaged: its parts do not"):
        PlanModel.load(tmp_path / "forged.featloom")
