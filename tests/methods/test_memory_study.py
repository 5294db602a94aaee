"""The protocol of a study: who is remembered, who is searched on, who is reported on, and what is
concluded."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import setting_row
from featloom.methods.memory_search.parts import make_parts
from featloom.methods.memory_search.settings import Setting
from featloom.methods.memory_search.study import study_memory, verdict
from featloom.report import check_result


def letters(n: int, seed: int = 3, words: int | None = None) -> NominalTable:
    """A c sounds S before e and i; the letter before it and a stray mark say nothing."""
    draw = random.Random(seed)
    before, after, stray = (draw.choices(of, k=n) for of in ("aeious", "aeioury", "xyzwv"))
    sounds = ["S" if letter in "ei" else "K" for letter in after]
    sounds = [draw.choice("SK") if draw.random() < 0.1 else sound for sound in sounds]
    groups = None if words is None else [f"w{draw.randrange(words)}" for _ in range(n)]
    columns = {"before": before, "after": after, "stray": stray}
    return NominalTable.from_columns(columns, labels=sounds, groups=groups, target="sound")


def rows_of(*tables: NominalTable) -> int:
    return sum(map(len, tables))


def test_data_in_one_piece_are_split_eight_one_one_with_the_classes_in_proportion():
    table = letters(3000)
    parts = make_parts(table)
    assert parts.sizes() == {"train": 2400, "valid": 300, "test": 300}
    assert parts.words.startswith("split at random into 80 % training, 10 % validation")
    shares = [np.mean(part.labels == 0) for part in (parts.train, parts.valid, parts.test)]
    assert max(shares) - min(shares) < 0.005
    again, other = make_parts(table), make_parts(table, seed=1)
    assert np.array_equal(again.test.codes, parts.test.codes)
    assert not np.array_equal(other.test.codes, parts.test.codes)


def test_groups_are_kept_whole():
    parts = make_parts(letters(3000, words=200))
    train, valid, test = (set(p.groups.tolist()) for p in (parts.train, parts.valid, parts.test))
    assert train.isdisjoint(valid | test)
    assert valid.isdisjoint(test)
    assert "groups kept whole" in parts.words


def test_few_rows_are_cross_validated():
    parts = make_parts(letters(500))
    assert (parts.sizes(), parts.valid) == ({"train": 450, "test": 50}, None)
    assert "searched by cross-validation over the others" in parts.words
    # Asked for, folds take the place of a validation part at any size.
    assert make_parts(letters(3000), folds=3).valid is None


def test_parts_that_are_given_are_left_as_they_are():
    train, valid, test = letters(300), letters(40, seed=4), letters(50, seed=5)
    parts = make_parts(train, valid, test)
    assert (parts.train, parts.valid, parts.test) == (train, valid, test)
    assert make_parts(train, None, test).sizes() == {"train": 300, "test": 50}
    assert make_parts(train, valid).sizes() == {"train": 270, "valid": 40, "test": 30}
    assert make_parts(letters(2500), None, test).sizes() == {
        "train": 2250,
        "valid": 250,
        "test": 50,
    }


def test_a_part_with_other_columns_or_no_classes_is_refused():
    train = letters(300)
    other = NominalTable.from_columns({"before": ["a"], "after": ["e"]}, labels=["S"])
    with pytest.raises(ReadError, match="no column 'stray', which the other part has"):
        make_parts(train, test=other)
    bare = NominalTable.from_columns({"before": ["a"], "after": ["e"], "stray": ["x"]})
    with pytest.raises(ReadError, match="no classes"):
        make_parts(train, test=bare)
    gap = NominalTable.from_columns({"before": ["a", "e"]}, labels=["S", None])
    with pytest.raises(ReadError, match="row 2 has no class"):
        make_parts(gap)
    with pytest.raises(InputError, match="two ways to one end"):
        make_parts(train, letters(30), folds=3)


@pytest.fixture(scope="module")
def studied():
    parts = make_parts(letters(1200))
    return parts, *study_memory(parts, MemorySearch(cv=3, random_state=0), task="letters")


def test_the_found_setting_is_scored_on_the_test_part_by_the_learner_that_comes_with_it(studied):
    parts, result, classifier = studied
    answers = classifier.predict(parts.test)
    gold = np.array(parts.test.classes, dtype=object)[parts.test.labels]
    part = result["memory"][0]
    assert result["test_score"] == part["found"]["test"] == (answers == gold).mean()
    assert part["found"]["modes"] == list(classifier.modes_)
    assert result["best_setting"]["k"] == classifier.k
    assert result["best_setting"]["modes"]["after"] != "ignore"


def test_the_search_is_never_below_the_grid_nor_the_grid_below_the_default(studied):
    _, result, _ = studied
    default, grid, found = result["memory"][0]["settings"]
    assert default["validation"] <= grid["validation"] <= found["validation"]
    assert (default["k"], default["weights"]) == (1, "gain_ratio")
    assert found["validation"] == result["best_score"]
    assert [row["fits"] for row in (default, grid)] == [1, 10]
    assert found["fits"] == result["evaluations"]


def test_a_study_has_everything_that_the_page_shows(studied):
    _, result, _ = studied
    part = check_result(result).memory[0]
    assert (part.task, part.features) == ("letters", ["before", "after", "stray"])
    assert len(part.curves) == 10
    assert [line.name for line in part.trajectories] == ["guided"]
    assert len(part.mcnemar.p) == 3
    assert len(part.neighbours) == 5
    assert all(case.neighbours for case in part.neighbours)


@pytest.mark.parametrize("over", ["features", "parameters"])
def test_one_side_alone_can_be_searched(tmp_path, over):
    journal = tmp_path / "search.journal"
    search = MemorySearch(strategy="local", over=over, cv=2, random_state=0, journal=journal)
    result, classifier = study_memory(make_parts(letters(300)), search)
    rows = result["memory"][0]["settings"]
    if over == "parameters":
        assert [row["method"] for row in rows] == ["DE", "EX"]
        assert len(set(classifier.modes_)) == 1
    else:
        assert [row["method"] for row in rows] == ["DE", "EX", "local"]
        assert (rows[-1]["k"], rows[-1]["weights"]) == (1, "gain_ratio")
        assert rows[-1]["parameters_by"] == "default"
        assert (tmp_path / "grid.journal").exists()


def test_the_default_is_the_default_also_where_the_search_has_other_values():
    search = MemorySearch(ks=[3, 5], strategy="grid", cv=2, random_state=0)
    parts = make_parts(letters(300))
    default, grid = study_memory(parts, search)[0]["memory"][0]["settings"]
    wide, _ = study_memory(parts, MemorySearch(strategy="grid", cv=2, random_state=0))[0]["memory"][
        0
    ]["settings"]
    assert default == wide
    assert grid["k"] in (3, 5)


def test_an_exclusive_or_leaves_the_default_with_the_most_frequent_class():
    """Neither column tells anything alone, so that gain ratio weighs both with nothing."""
    rows = [(a, b, "odd" if a != b else "even") for a, b in itertools.product("01", "01")] * 50
    a, b, parity = (list(column) for column in zip(*rows, strict=True))
    train = NominalTable.from_columns({"a": a, "b": b}, labels=parity)
    parts = make_parts(train, train, train)
    result, _ = study_memory(parts, MemorySearch(compat=None, random_state=0))
    default, _, found = result["memory"][0]["settings"]
    assert (default["test"], found["test"]) == (0.5, 1.0)
    assert result["significant"]


def test_a_class_too_rare_for_the_folds_is_told_before_the_search():
    table = letters(60)
    rare = NominalTable.from_columns(
        {name: [table.value(name, row) for row in range(60)] for name in table.columns},
        labels=["X", *(table.classes[label] for label in table.labels[1:])],
    )
    parts = make_parts(rare, test=rare)
    words = "class 'X' has 1 row outside the test part, too few for 5 folds; give fewer folds"
    with pytest.raises(InputError, match=words):
        study_memory(parts, MemorySearch(random_state=0))
    # With a validation part it is a class like any other.
    result, _ = study_memory(make_parts(rare, rare, rare), MemorySearch(random_state=0))
    assert result["data"]["classes"]["X"] == 3


ROWS = {
    "default": Setting(1, "gain_ratio", ("overlap", "overlap")),
    "grid": Setting(3, "none", ("overlap", "overlap")),
    "found": Setting(5, "gain_ratio", ("overlap", "ignore")),
}


def said(found: str, p: list[float], test: list[float], valid: tuple[float, float] = (0.9, 0.9)):
    settings = [ROWS["default"], ROWS["grid"], ROWS[found]]
    rows = [
        setting_row("", setting, validation=v, test=t)
        for setting, v, t in zip(settings, (0.8, *valid), test, strict=True)
    ]
    return verdict(rows, {"p": [[], [], p]})


def test_a_verdict_says_what_is_known_and_no_more():
    assert said("found", [0.003, 0.41], [0.80, 0.81, 0.812]) == (
        "The found setting (k = 5, gain ratio, 1 of 2 features) is right on 81.2 % of the test "
        "rows, 1.2 points above the default (McNemar p = .003); against the best uniform setting "
        "the difference of +0.2 points is not significant (McNemar p = .410)."
    )
    assert "of the test rows; against the default the difference of +1.2 points is not" in said(
        "found", [0.3, 0.41], [0.80, 0.81, 0.812]
    )
    assert "2.0 points below the default (McNemar p < .001)" in said(
        "found", [0.0001, 0.41], [0.80, 0.78, 0.78]
    )
    assert said("grid", [0.04, 1.0], [0.80, 0.82, 0.82]).endswith(
        "it is the best uniform setting: the search found nothing better."
    )
    assert said("default", [1.0, 0.5], [0.80, 0.79, 0.80]).endswith(
        "it is the default: the search found nothing better."
    )


def test_a_search_that_fell_short_of_the_grid_says_so():
    assert said("found", [0.04, 0.04], [0.80, 0.85, 0.82], (0.9, 0.87)).endswith(
        "3.0 points below the best uniform setting (McNemar p = .040). The search fell short: on "
        "what it searched, the best uniform setting is right on 90.0 %, the found one on 87.0 %."
    )
