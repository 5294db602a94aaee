"""``discover`` as people call it from Python: X and y in any dress, classes of any type."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

from featloom import discover, load, read_table
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.formats.models import load_model, save_model
from featloom.learners.memory import MemoryClassifier

HOW = {"budget": None, "n_jobs": 1, "verbose": False}


def letters(n: int = 240) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "letter": draw.choice(list("ckgs"), n),
            "next": draw.choice(list("aeiou"), n),
            "place": draw.integers(0, 4, n),
            "stress": draw.choice([0.5, 1.0, 7.0, np.nan], n),
        }
    )


X = letters()
SOFT = (X.letter.isin(["s"]) | X.next.isin(["e", "i"])).to_numpy()

TARGETS = {
    "int": (SOFT.astype(np.int64) * 2, np.dtype(np.int64)),
    "bool": (SOFT, np.dtype(bool)),
    "float": (SOFT.astype(float), np.dtype(np.float64)),
    "str": (np.where(SOFT, "soft", "hard").astype(object), np.dtype(object)),
    "pandas Int64": (pd.Series(SOFT.astype(int), dtype="Int64"), np.dtype(np.int64)),
    "pandas boolean": (pd.Series(SOFT, dtype="boolean"), np.dtype(bool)),
    "categories": (pd.Series(SOFT.astype(int)).astype("category"), np.dtype(np.int64)),
    "list": (SOFT.astype(int).tolist(), np.dtype(np.int64)),
    "many ints": (X.place.to_numpy() * 4 - 1, np.dtype(np.int64)),
}


@pytest.mark.parametrize("name", ["naive Bayes", "memory"])
@pytest.mark.parametrize("target", TARGETS)
def test_classes_keep_their_type_in_pipelines_and_in_files(target, name, tmp_path):
    y, kind = TARGETS[target]
    found = discover(X, y, only=name, **HOW)
    model = found.pipeline()
    answers = model.predict(X)
    assert answers.dtype == kind or answers.dtype.kind == "U"  # scikit-learn's own kind of text
    assert model.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    right = float(np.mean(answers == np.asarray(y)))
    assert model.score(X, np.asarray(y).astype(kind)) == right > 0.5
    found.save(tmp_path / "new" / "folder")
    kept = load(tmp_path / "new" / "folder" / "model.featloom")
    assert kept.predict(X).dtype == kind
    assert kept.predict(X).tolist() == answers.tolist()
    assert kept.predict_proba(X).argmax(axis=1).tolist() == [
        kept.classes_.tolist().index(one) for one in answers.tolist()
    ]


def test_a_pipeline_is_cross_validated_with_classes_of_its_type():
    for y in (TARGETS["int"][0], TARGETS["bool"][0]):
        model = discover(X, y, only="tree templates", **HOW).pipeline()
        assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_a_model_without_a_type_of_classes_still_opens(tmp_path):
    found = discover(X, TARGETS["int"][0], only="linear model", **HOW)
    found.save(tmp_path)
    path = tmp_path / "model.featloom"
    whole = load_model(path)
    older = {n: v for n, v in whole.description.items() if n not in ("class_type", "learned_all")}
    arrays = {name: array for name, array in whole.arrays.items() if name != "learned"}
    save_model(path, whole.kind, older, arrays)
    model = load(path)
    assert set(model.predict(X).tolist()) == {"0", "2"}
    assert model.seen(X).words == ""


def test_a_memory_without_names_of_classes_still_opens(tmp_path):
    path = tmp_path / "memory.featloom"
    MemoryClassifier().fit(X, SOFT).save(path)
    whole = load_model(path)
    older = {name: v for name, v in whole.description.items() if name != "class_names"}
    save_model(path, whole.kind, older, whole.arrays)
    assert load(path).predict(X).dtype == bool


DRESSES = {
    "pandas": X,
    "polars": pl.from_pandas(X),
    "arrow": pl.from_pandas(X).to_arrow(),
    "numpy": X.to_numpy(),
    "lists": X.to_numpy().tolist(),
    "dicts": X.to_dict("records"),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_the_same_rows_in_any_dress_give_the_same_model(dress):
    y = SOFT.astype(int)
    rows = DRESSES[dress]
    model = discover(rows, y, only="linear model", **HOW).pipeline()
    expected = discover(X, y, only="linear model", **HOW).pipeline()
    assert model.predict(rows).tolist() == expected.predict(X).tolist()
    assert np.array_equal(model.predict_proba(rows), expected.predict_proba(X))


def test_a_target_is_named_or_given_beside_and_test_rows_likewise():
    y = pd.Series(SOFT, name="soft")
    whole = X.assign(soft=y)
    named = discover(whole[:180], "soft", test=whole[180:], only="naive Bayes", **HOW)
    beside = discover(X[:180], y[:180], test=(X[180:], y[180:]), only="naive Bayes", **HOW)
    of_test = [[one.get("test") for one in found.leaderboard] for found in (named, beside)]
    assert of_test[0] == of_test[1]
    assert beside.result["data"]["target"] == "soft"
    with pytest.raises(InputError, match=r"test must be a pair \(X, y\)"):
        discover(X[:180], y[:180], test=whole[180:], only="naive Bayes", **HOW)


def test_rows_without_a_class_are_left_out_and_counted():
    y = pd.Series(SOFT.astype(float)).where(np.arange(len(X)) >= 5)
    found = discover(X, y, only="naive Bayes", **HOW)
    assert "5 rows have no class and are left out" in found.result["data"]["warnings"]
    assert found.result["data"]["rows"] == len(X) - 5


FAULTS = {
    "twice": (X.set_axis(["a", "b", "a", "c"], axis=1), SOFT, "column 'a' appears twice"),
    "twice, with the target": (pd.concat([X, X], axis=1), "letter", "column 'letter' appears"),
    "levels": (
        X.set_axis(pd.MultiIndex.from_product([["x"], X.columns]), axis=1), SOFT,
        r"names of 2 levels, such as \('x', 'letter'\); join them first: df.columns = ",
    ),
    "other length": (X, SOFT[:7], "7 labels for 240 rows"),
    "no names and no classes": (X.to_numpy(), None, r"give the classes beside them: discover\(X"),
    "near name": (X.assign(Soft=SOFT), "soft", "did you mean 'Soft'?"),
    "classes beside a file": ("letters.csv", SOFT, "give a DataFrame, an array or lists"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_line(fault):
    data, target, words = FAULTS[fault]
    with pytest.raises(InputError, match=words) as told:
        discover(data, target, **HOW)
    assert len(str(told.value).splitlines()) == 1


def test_columns_that_are_missing_at_prediction_are_named_all_at_once(tmp_path):
    found = discover(X, SOFT, only="linear model", **HOW)
    found.save(tmp_path)
    for model in (found.pipeline(), load(tmp_path / "model.featloom")):
        for lacking in (X[["letter"]], X[["letter"]].to_dict("records"), table_of("letter")):
            with pytest.raises(InputError, match="no columns 'next', 'place', 'stress'; there are"):
                model.predict(lacking)
    # A model that was kept does without what it looks at not; more columns are no fault.
    assert found.pipeline().predict(X.assign(more=1)[["more", *X.columns[::-1]]]).dtype == bool


def table_of(*columns: str) -> NominalTable:
    return NominalTable.from_columns({name: X[name].astype(str).tolist() for name in columns})


def test_a_model_of_a_file_reads_numbers_of_frames_as_they_were_written(tmp_path):
    """Files write 7.00, frames have 7.0 of it; both are one value."""
    path = tmp_path / "letters.csv"
    written = X.assign(
        stress=["" if one != one else f"{one:.2f}" for one in X.stress],
        vowel=X.next.map(lambda one: "true" if one in "ae" else "false"),
        soft=SOFT.astype(int),
    )
    written.to_csv(path, index=False)
    for name in ("linear model", "memory"):
        found = discover(path, "soft", only=name, **HOW)
        found.save(tmp_path)
        frame = pd.read_csv(path)
        assert frame.stress.dtype == float
        assert frame.vowel.dtype == bool
        expected = found.pipeline().predict_proba(read_table(path))
        model = load(tmp_path / "model.featloom")
        for rows in (frame, frame[[*X.columns, "vowel"]].to_numpy()):
            assert np.allclose(model.predict_proba(rows), expected, atol=1e-12)
            assert np.allclose(found.pipeline().predict_proba(rows), expected, atol=1e-12)


def test_rows_that_were_learned_from_are_told_when_a_model_is_judged(tmp_path):
    found = discover(X[:200], SOFT[:200], only="linear model", **HOW)
    found.save(tmp_path)
    model = load(tmp_path / "model.featloom")
    assert (model.seen(X[:200]).known, model.seen(X[:200]).exact) == (200, True)
    with pytest.warns(UserWarning, match="200 of 200 rows are, value for value, rows of the"):
        model.score(X[:200], SOFT[:200])
    strange = X[:3].assign(place=9)
    assert model.seen(strange).words == ""


def test_one_contender_may_be_named_and_others_left_out():
    everyone = ["naive Bayes", "linear model", "memory"]
    found = discover(X, SOFT, only=everyone, drop="memory", **HOW)
    finished = {one["name"] for one in found.leaderboard if one["status"] == "finished"}
    assert finished == {"naive Bayes", "linear model", "class shares"}
    with pytest.raises(InputError, match=r"no contender 'memry'.*did you mean 'memory'\?"):
        discover(X, SOFT, drop=["memry"], **HOW)
    with pytest.raises(InputError, match="'transfer' is not applicable: there is no column"):
        discover(X, SOFT, only="transfer", **HOW)
    # What does not apply here may be left out in any case: packages may come and go.
    found = discover(X, SOFT, only="naive Bayes", drop="transfer", **HOW)
    assert found.chosen == "naive Bayes"


def test_fractions_are_classes_as_text_and_that_is_told():
    found = discover(X, np.where(SOFT, 1.5, 0.5), only="naive Bayes", **HOW)
    (told,) = [one for one in found.result["data"]["warnings"] if "fractions" in one]
    assert "its classes are text" in told
    assert set(found.pipeline().predict(X).tolist()) == {"0.5", "1.5"}
