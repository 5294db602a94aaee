"""The first look at a table: what is left out, what is warned of, and what is said of a target."""

from __future__ import annotations

import datetime
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.frames import table_from_frame
from featloom.data.open import open_any
from featloom.data.readers import read
from featloom.data.room import available_memory, share_to_read, size_of_text
from featloom.discover import discover
from featloom.discover.front import ask
from featloom.discover.looks import in_ranges
from featloom.errors import InputError

N = 120


def frame(**columns) -> pd.DataFrame:
    """Two columns of symbols, the given ones, and a class."""
    draw = random.Random(1)
    made = {
        "area": [draw.choice(["login", "export", "search"]) for _ in range(N)],
        "plan": [draw.choice(["free", "team"]) for _ in range(N)],
        **columns,
    }
    labels = [draw.choice(["yes", "no"]) for _ in range(N)]
    return pd.DataFrame(made).assign(y=made.pop("y", labels))


def looked_at(data: pd.DataFrame, **options):
    """The question that a frame asks, and what is said of it."""
    question, _, said = ask(data, "y", **options)
    half = len(question) // 2
    return question, [*said, *question.warnings(np.arange(half), np.arange(half, len(question)))]


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(N)]
LEFT_OUT = {
    "ids": (
        [f"r{k}" for k in range(N)],
        "column 'odd' has 120 different values in 120 rows, as an id has, and is left out",
    ),
    "numbers that count rows": (
        list(range(N)),
        "column 'odd' has 120 different values in 120 rows, as an id has, and is left out",
    ),
    "measures": (
        [k / 7 for k in range(N)],
        "column 'odd' has 120 different numbers in 120 rows and is left out; ranges of them "
        "may help",
    ),
    "days": (
        [day.isoformat() for day in DAYS],
        "column 'odd' has 120 different dates in 120 rows and is left out; month or weekday may "
        "help",
    ),
    "the same everywhere": (["x"] * N, "column 'odd' has one value in all rows and is left out"),
    "nothing": ([None] * N, "column 'odd' has one value in all rows and is left out"),
}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_columns_that_teach_nothing_are_left_out_and_that_is_said(kind):
    values, words = LEFT_OUT[kind]
    question, said = looked_at(frame(odd=values))
    assert question.data.columns == ("area", "plan")
    assert words in said


KEPT = {
    "dates": (
        [day.isoformat() for day in DAYS[: N // 2]] * 2,
        "column 'odd' holds 60 dates, each taken as a symbol of its own; month or weekday may do "
        "better",
    ),
    "days of a calendar": (
        DAYS[: N // 2] * 2,
        "column 'odd' holds 60 dates, each taken as a symbol of its own; month or weekday may do "
        "better",
    ),
    "numbers": (
        [k / 4 for k in range(N // 2)] * 2,
        "column 'odd' holds 60 numbers, each taken as a symbol of its own; ranges may do better",
    ),
}


@pytest.mark.parametrize("kind", KEPT)
def test_columns_of_which_more_could_be_made_are_kept_with_a_word(kind):
    values, words = KEPT[kind]
    question, said = looked_at(frame(odd=values))
    assert question.data.columns == ("area", "plan", "odd")
    assert words in said


def test_values_of_several_types_are_symbols_and_whole_numbers_of_any_type_the_same():
    mixed = [1, 1.0, "one", True, None, datetime.date(2024, 5, 1)] * 20
    question, _ = looked_at(frame(odd=pd.Series(mixed, dtype=object)))
    assert set(question.data.vocabularies[2]) == {"1", "one", "True", "2024-05-01"}


def test_missing_values_are_unknown_and_no_value():
    holes = ["a", None, float("nan"), "b"] * 30
    question, _ = looked_at(frame(odd=holes))
    assert question.data.vocabularies[2] == ("a", "b")
    assert (question.data.codes[:, 2] == 0).sum() == 60
    found = discover(
        frame(odd=holes), "y", only=["naive Bayes", "memory"], budget=None, n_jobs=1
    )  # fmt: skip
    assert len([row for row in found.leaderboard if row["status"] == "finished"]) == 3


def test_rows_without_a_class_are_left_out_and_counted():
    labels = ["yes", "no", None] * (N // 3)
    question, said = looked_at(frame(y=labels))
    assert len(question) == 80
    assert "40 rows have no class and are left out" in said


def test_two_hundred_columns_are_compared_but_not_row_by_row():
    draw = np.random.default_rng(0)
    wide = {f"c{j}": draw.choice(["a", "b"], N).tolist() for j in range(200)}
    question, _ = looked_at(frame(**wide))
    left_out = question.left_out()
    assert left_out["memory"] == "202 columns are too many to compare rows by"
    assert "induction" in {one.name for one in question.contenders()}


def test_a_column_that_tells_the_class_alone_is_asked_about():
    data = frame()
    leak = data.assign(answer=data.y.map({"yes": "1", "no": "0"}))
    _, said = looked_at(leak)
    assert any(one.startswith("column 'answer' alone tells the class of 100.0 %") for one in said)
    assert not any("alone tells" in one for one in looked_at(data)[1])


def test_rows_on_both_sides_of_the_split_are_told_of():
    _, said = looked_at(frame())
    assert any("% of the test rows are also in the part learned from" in one for one in said)


def test_a_test_part_of_a_handful_is_told_of():
    _, said = looked_at(frame()[:30])
    assert "the test part has 15 rows only: with so few, what is called a gain may be luck" in said
    documents = np.arange(N) // 10
    _, said = looked_at(frame(document=documents), groups="document")
    assert any("the test part has 6 groups only" in one for one in said)
    assert not any("only: with so few" in one for one in looked_at(frame())[1])


def test_whole_numbers_as_classes_are_taken_for_classes_with_a_word():
    # Twenty-five numbers of which each has several rows may be classes.
    many = pd.concat([frame(y=[k % 25 for k in range(N)])] * 3)
    _, said = looked_at(many)
    assert (
        "each of the 25 numbers of 'y' is taken as a class; --bins 4 (bins=4 in Python) makes "
        "four ranges of it"
    ) in said


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["yes"] * N, "'y' has fewer than two classes; all rows are 'yes'"),
        ([None] * N, "'y' has fewer than two classes"),
        ([k / 3 for k in range(N)], "'y' holds 120 different numbers in 120 rows"),
        ([f"n{k % 90}" for k in range(N)], "'y' holds 90 different values in 120 rows"),
    ],
)
def test_a_target_that_cannot_be_answered_is_refused(labels, words):
    with pytest.raises(InputError) as error:
        ask(frame(y=labels), "y")
    assert str(error.value).startswith(words)


@given(
    st.lists(st.integers(-50, 50) | st.floats(-50, 50), min_size=2, max_size=60),
    st.integers(2, 6),
)
def test_ranges_keep_the_order_of_numbers_and_hold_about_as_many_rows(numbers, n):
    table = table_from_frame([["a"]] * len(numbers), [repr(one) for one in numbers], target="y")
    if len(set(map(float, numbers))) < 2:
        with pytest.raises(InputError, match="holds one number only"):
            in_ranges(table, n)
        return
    found = in_ranges(table, n)
    assert 2 <= len(found.classes) <= n
    order = np.argsort(np.array(numbers, dtype=float), kind="stable")
    assert (np.diff(found.labels[order]) >= 0).all()
    for number in set(numbers):
        assert len({found.labels[k] for k, one in enumerate(numbers) if one == number}) == 1
    if len(set(map(float, numbers))) == len(numbers):
        assert np.bincount(found.labels).max() <= len(numbers) / n + 1


def test_the_test_part_has_no_say_in_where_ranges_end():
    numbers = [str(k) for k in range(10)] + ["1000"] * 10
    table = table_from_frame([["a"]] * 20, numbers, target="y")
    found = in_ranges(table, 2, np.arange(20) >= 10)
    assert found.classes == ("up to 4.5", "above 4.5")


def test_ranges_are_classes_like_others():
    numbers = [f"{k * 37 % N}.5" for k in range(N)]
    found = discover(frame(y=numbers), "y", bins=3, only=["naive Bayes"], budget=None, n_jobs=1)
    assert found.result["data"]["target"] == "y in 3 ranges"
    assert set(found.pipeline().predict(frame()[["area", "plan"]])) <= set(
        found.result["data"]["classes"]
    )


def test_a_share_of_a_file_is_drawn_by_its_seed(tmp_path):
    data = frame(number=list(range(N)))
    data.to_csv(tmp_path / "a.csv", index=False)
    data.to_parquet(tmp_path / "a.parquet")
    whole = read(tmp_path / "a.csv", target="y")
    for name in ("a.csv", "a.parquet"):
        some = open_any(tmp_path / name, "y", None, share=0.5, seed=3)
        again = open_any(tmp_path / name, "y", None, share=0.5, seed=3)
        assert 35 < len(some) < 85
        numbers = [int(some.value("number", row)) for row in range(len(some))]
        assert numbers == [int(again.value("number", row)) for row in range(len(again))]
        assert numbers == sorted(set(numbers))
        for row, number in enumerate(numbers):
            assert some.value("area", row) == whole.value("area", number)
            assert some.classes[some.labels[row]] == whole.classes[whole.labels[number]]


def test_what_a_file_takes_is_guessed_from_its_size(tmp_path):
    data = frame()
    for name in ("a.csv", "a.csv.gz", "a.csv.xz"):
        data.to_csv(tmp_path / name, index=False)
        assert 1000 < size_of_text(tmp_path / name) < 10_000
    data.to_parquet(tmp_path / "a.parquet")
    assert size_of_text(tmp_path / "a.parquet") == 8 * N * 3
    assert share_to_read(tmp_path / "a.csv", None) == (1.0, [])
    assert share_to_read(data, None) == (1.0, [])
    free = available_memory()
    assert free is None or free > 10**6
