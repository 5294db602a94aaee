"""Outside models get what their own users give them, and answer what they answer there."""

from __future__ import annotations

import io
import lzma
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from featloom import read_table
from featloom.compare.plain_columns import column_kinds, columns_as_people_have_them
from featloom.compare.yardsticks import EBMYardstick, LightGBMYardstick
from featloom.data.frames import table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError

with_lightgbm = pytest.mark.skipif(
    LightGBMYardstick.why_not(None) is not None, reason="lightgbm is not installed"
)
with_ebm = pytest.mark.skipif(
    EBMYardstick.why_not(None) is not None, reason="interpret-core is not installed"
)
YARDSTICKS = [
    pytest.param(LightGBMYardstick(rounds=20), marks=with_lightgbm, id="LightGBM"),
    pytest.param(EBMYardstick(outer_bags=1, random_state=0), marks=with_ebm, id="EBM"),
]
MISSING = ["", " ", "?", "NA", "NaN", "nan", "null", "NULL", "N/A", "None", "<NA>"]


def table_of(rows, labels=None, names="abcdefgh"):
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    return NominalTable.from_columns(columns, labels=labels)


def survey(n=240, seed=0):
    """A number and a category that decide the class together, and a number that does not."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, n), rng.choice(["York", "Bath", "Hull"], n)
    y = np.where((age > 45) ^ (town == "York"), "yes", "no")
    rows = [(str(a), str(t), f"{z:.2f}") for a, t, z in zip(age, town, rng.random(n), strict=True)]
    return table_of(rows, y.tolist())


def test_a_column_is_of_numbers_if_all_its_words_but_the_missing_ones_are():
    numbers, words = ["1", "-2.5", "1e3"], ["red", "7", "blue"]
    table = table_of([*zip(numbers, words, strict=True), *((word, word) for word in MISSING)])
    plain = columns_as_people_have_them(table)
    assert plain.kinds.categories == (None, ("7", "blue", "red"))
    assert plain.kinds.category_columns == [1]
    assert plain.values[0][:3].tolist() == [1.0, -2.5, 1000.0]
    assert plain.values[1][:3].tolist() == [2, 0, 1]
    assert np.isnan(plain.values[0][3:]).all()
    assert (plain.values[1][3:] == -1).all()


@pytest.mark.parametrize("word", ["inf", "1_000", "12 kg", "0x1F", "none", "-", "1,5"])
def test_one_word_that_is_no_finite_number_makes_a_category(word):
    assert column_kinds(table_of([["3"], [word]])).categories == (tuple(sorted(["3", word])),)


@given(
    st.lists(st.sampled_from([*MISSING, "4", "-0.5", "x", "y z"]) | st.none(), min_size=1),
    st.lists(st.sampled_from([*MISSING, "4", "9", "x", "new"]) | st.none(), min_size=1),
)
def test_what_was_learned_of_a_column_holds_for_other_rows(first, second):
    kinds = column_kinds(NominalTable.from_columns({"a": first}))
    (known,) = kinds.categories
    (values,) = columns_as_people_have_them(
        NominalTable.from_columns({"b": ["1"] * len(second), "a": second}), kinds
    ).values
    for word, value in zip(second, values, strict=True):
        if known is None:
            expected = float(word) if word in ("4", "9") else math.nan
            assert value == pytest.approx(expected, nan_ok=True)
        elif word is None or word in MISSING:
            assert value == -1
        else:
            assert value == (known.index(word) if word in known else -2)


def test_words_of_rows_that_are_not_there_do_not_count():
    table = table_of([["1"], ["2"], ["many"]])
    assert column_kinds(table).categories == (("1", "2", "many"),)
    assert column_kinds(table.take(np.array([0, 1]))).categories == (None,)


def test_words_for_missing_are_missing_to_pandas_too():
    pandas = pytest.importorskip("pandas")
    spelt = [word for word in MISSING if word not in ("?", " ")]
    read = pandas.read_csv(io.StringIO("\n".join(["a,b", *(f"x,{word}" for word in spelt)])))
    assert read["b"].isna().all()
    assert np.isnan(columns_as_people_have_them(table_of([[w] for w in spelt])).matrix()).all()


def plain_frame(folder, name, target):
    """The five lines: the frame as pandas reads it, its classes, and which rows are held out."""
    pandas = pytest.importorskip("pandas")
    path = folder / "tables" / f"{name}.csv.xz"
    if not path.exists():
        pytest.skip(f"{name} is not among the corpora")
    text = lzma.decompress(path.read_bytes())
    frame = pandas.read_csv(io.BytesIO(text))
    y = frame.pop(target).to_numpy()
    parts = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    return text, frame, y, parts


@with_lightgbm
@pytest.mark.parametrize(("name", "target"), [("penguins", "species"), ("titanic", "Survived")])
def test_lightgbm_answers_as_in_five_lines_with_pandas(name, target, data_folder, tmp_path):
    from lightgbm import LGBMClassifier

    text, frame, y, (train, test) = plain_frame(data_folder, name, target)
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].astype("category")
    expected = LGBMClassifier(verbosity=-1, n_jobs=1).fit(frame.iloc[train], y[train])
    (tmp_path / "data.csv").write_bytes(text)
    table = read_table(tmp_path / "data.csv", target=target)
    for threads in (1, 2):
        model = LightGBMYardstick(n_jobs=threads).fit(table.take(train))
        assert model.classes_.tolist() == expected.classes_.tolist()
        np.testing.assert_allclose(
            model.predict_proba(table.take(test)),
            expected.predict_proba(frame.iloc[test]),
            rtol=0,
            atol=1e-9,
        )
    assert model.n_leaves_ > 100


@with_ebm
@pytest.mark.parametrize(("name", "target"), [("penguins", "species"), ("titanic", "Survived")])
def test_ebm_answers_as_in_five_lines_with_pandas(name, target, data_folder, tmp_path):
    from interpret.glassbox import ExplainableBoostingClassifier

    text, frame, y, (train, test) = plain_frame(data_folder, name, target)
    # Pairs of a name and a ticket take it minutes.
    frame = frame[[column for column in frame if column not in ("Name", "Ticket")]]
    expected = ExplainableBoostingClassifier(outer_bags=1, random_state=0, n_jobs=1)
    with pytest.warns(UserWarning, match="Missing values detected"):
        expected.fit(frame.iloc[train], y[train])
    (tmp_path / "data.csv").write_bytes(text)
    table = read_table(tmp_path / "data.csv", target=target)
    kept = [table.column_index(column) for column in frame]
    table = NominalTable(
        tuple(frame),
        np.asfortranarray(table.codes[:, kept]),
        tuple(table.vocabularies[j] for j in kept),
        labels=table.labels,
        classes=table.classes,
    )
    model = EBMYardstick(outer_bags=1, random_state=0).fit(table.take(train))
    # Cabins that were not met in fit are unknown to it, and not missing.
    np.testing.assert_allclose(
        model.predict_proba(table.take(test)),
        expected.predict_proba(frame.iloc[test]),
        rtol=0,
        atol=1e-9,
    )
    assert model.n_terms_ == len(expected.term_names_)
    assert model.n_bins_ == sum(
        math.prod(scores.shape[: len(features)])
        for scores, features in zip(expected.term_scores_, expected.term_features_, strict=True)
    )


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_numbers_and_categories_are_learned_together(yardstick):
    table = survey()
    model = clone(yardstick).fit(table.take(np.arange(180)))
    held_out = table.take(np.arange(180, 240))
    truth = np.array(table.classes, dtype=object)[held_out.labels]
    p = model.predict_proba(held_out)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.predict(held_out) == truth).mean() > 0.9
    assert model.predict(held_out).tolist() == model.classes_[p.argmax(axis=1)].tolist()
    assert model.kinds_.categories == (None, ("Bath", "Hull", "York"), None)


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_a_column_is_found_by_its_name_and_not_by_its_place(yardstick):
    table = survey()
    model = clone(yardstick).fit(table)
    turned = NominalTable(
        table.columns[::-1], np.asfortranarray(table.codes[:, ::-1]), table.vocabularies[::-1]
    )
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(table))


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_new_words_are_let_through(yardstick):
    model = clone(yardstick).fit(survey())
    rows = [("50", "Bath", "0.5"), ("old", "Bath", "0.5"), (None, "Bath", "?"), ("50", "Rome", "")]
    p = model.predict_proba(table_of(rows))
    assert np.isfinite(p).all()
    # A word among numbers is a missing number.
    same = model.predict_proba(table_of([("", "Bath", "0.5"), (None, "Bath", None)]))
    np.testing.assert_array_equal(p[1:3], same)


@with_lightgbm
@parametrize_with_checks([LightGBMYardstick(rounds=20)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@with_lightgbm
def test_an_unseen_category_is_missing_to_lightgbm():
    model = LightGBMYardstick(rounds=20).fit(survey())
    p = model.predict_proba(table_of([("50", "Rome", "0.5"), ("50", None, "0.5")]))
    np.testing.assert_array_equal(p[0], p[1])


@pytest.mark.parametrize("yardstick", YARDSTICKS)
@pytest.mark.parametrize("missing", [None, "NA"])
def test_a_column_without_a_value_changes_nothing(yardstick, missing):
    table = survey()
    codes = np.column_stack([table.codes, np.full(len(table), 0 if missing is None else 1)])
    wider = NominalTable(
        (*table.columns, "d"),
        np.asfortranarray(codes.astype(np.int32)),
        (*table.vocabularies, () if missing is None else (missing,)),
        labels=table.labels,
        classes=table.classes,
    )
    model = clone(yardstick).fit(wider)
    assert model.kinds_.categories[3] is None
    assert (model.predict(wider) == clone(yardstick).fit(table).predict(table)).mean() > 0.95


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_a_class_without_a_row_has_no_probability(yardstick):
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 150)
    table = table_of([[colour] for colour in colours], [f"is {colour}" for colour in colours])
    assert clone(yardstick).fit(table).predict_proba(table).shape == (150, 3)
    model = clone(yardstick).fit(table.take(np.flatnonzero(colours != "blue")))
    assert model.classes_.tolist() == ["is green", "is red"]
    assert model.predict_proba(table).shape == (150, 2)
    known = np.flatnonzero(colours != "blue")
    expected = [f"is {colour}" for colour in colours[known]]
    assert model.predict(table.take(known)).tolist() == expected
    with pytest.raises(InputError, match="one class only, 'is red'"):
        clone(yardstick).fit(table.take(np.flatnonzero(colours == "red")))


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_the_same_seed_gives_the_same_model(yardstick):
    table = survey()
    first, second = (clone(yardstick).fit(table).predict_proba(table) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_frames_and_rows_are_taken_as_tables_are(yardstick):
    polars = pytest.importorskip("polars")
    table = survey()
    y = np.array(table.classes, dtype=object)[table.labels]
    words = [[table.value(name, i) for name in table.columns] for i in range(len(table))]
    frame = polars.DataFrame(words, schema=["a", "b", "c"], orient="row").with_columns(
        polars.col("a").cast(polars.Int64), polars.col("c").cast(polars.Float64)
    )
    expected = clone(yardstick).fit(table).predict_proba(table)
    for X in (words, frame, table_from_frame(frame)):
        np.testing.assert_array_equal(clone(yardstick).fit(X, y).predict_proba(X), expected)


@with_lightgbm
@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_lightgbm_takes_a_sparse_matrix_as_it_is(seed):
    from lightgbm import LGBMClassifier

    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix((rng.random((120, 9)) < 0.4).astype(np.float32))
    y = np.where(X[:, [0]].toarray().ravel() > 0, "in", "out")
    y[:6] = ["in", "out"] * 3
    model = LightGBMYardstick(rounds=5).fit(FeatureMatrix.from_csr(X), y)
    expected = LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-9)
    assert model.kinds_ is None


def test_ebm_says_why_it_takes_no_binary_features():
    X = FeatureMatrix.from_csr(sparse.csr_matrix([[1, 0], [0, 1]]))
    words = "its terms are functions of columns, and these are binary features of rows"
    assert EBMYardstick.why_not(X) == words
    with pytest.raises(InputError, match=f"EBMYardstick cannot be used: {words}"):
        EBMYardstick().fit(X, ["a", "b"])


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_an_empty_table_is_refused(yardstick):
    table = survey()
    with pytest.raises(InputError, match="a table of 0 × 3 cells is empty"):
        clone(yardstick).fit(table.take(np.arange(0)))
    with pytest.raises(InputError, match="no columns 'b', 'c'"):
        clone(yardstick).fit(table).predict(NominalTable.from_columns({"a": ["1"]}))
