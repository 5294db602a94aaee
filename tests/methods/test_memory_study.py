"""The protocol of a study: who is remembered, who is searched on, who is reported on, and what is
concluded."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest

from featloom.cli.memory import memory_search
from featloom.cli.show import show_result
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.learners.comparison import VOTES
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import model_of
from featloom.methods.memory_search.parts import make_parts
from featloom.methods.memory_search.settings import Setting
from featloom.methods.memory_search.study import study_memory, verdict
from featloom.report.page import check_result
from featloom.results import Comparison
from featloom.runs import encode_result


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
    return parts, *study_memory(parts, MemorySearch(cv=3, random_state=0))


def chosen(result: dict):
    (found,) = [one for one in result["leaderboard"] if one.chosen]
    assert found.name == result["chosen"]
    return found


def test_the_found_setting_is_scored_on_the_test_part_by_the_learner_that_comes_with_it(studied):
    parts, result, classifier = studied
    predictions = classifier.predict(parts.test)
    gold = np.array(parts.test.classes, dtype=object)[parts.test.labels]
    found = chosen(result)
    assert found.test == (predictions == gold).mean()
    assert list(found.settings["modes"].values()) == list(classifier.modes_)
    assert found.settings["k"] == classifier.k
    assert found.settings["modes"]["after"] != "ignore"


def test_the_search_is_never_below_the_grid_nor_the_grid_below_the_default(studied):
    _, result, _ = studied
    default, grid, found = result["leaderboard"]
    assert default.value <= grid.value <= found.value
    assert (default.settings["k"], default.settings["weights"]) == (1, "gain_ratio")
    assert [one.more["evaluations"] for one in (default, grid)] == [1, 10]
    assert found.more["evaluations"] == result["evaluations"]


def test_a_study_has_everything_that_the_page_shows(studied):
    _, result, _ = studied
    read = check_result(json.loads(encode_result(result)))
    blocks = {section.name: section.blocks for section in read.sections}
    assert [row[0] for row in blocks["Settings"][0].rows] == ["before", "after", "stray"]
    assert len(blocks["Neighbours"][0].lines) == 10
    assert [line.name for line in blocks["Search"][0].lines] == ["guided"]
    assert len(read.comparisons) == 3
    assert len(blocks["Cases"]) == 5
    assert all(len(case.rows) > 1 for case in blocks["Cases"])


@pytest.mark.parametrize("over", ["features", "parameters"])
def test_one_side_alone_can_be_searched(tmp_path, over):
    journal = tmp_path / "search.journal"
    search = MemorySearch(strategy="local", over=over, cv=2, random_state=0, journal=journal)
    result, classifier = study_memory(make_parts(letters(300)), search)
    names = [one.name for one in result["leaderboard"]]
    assert names[:2] == ["default", "best uniform setting"]
    if over == "parameters":
        assert len(names) == 2
        assert len(set(classifier.modes_)) == 1
    else:
        assert names[2:] == ["found by local search"]
        settings = chosen(result).settings
        assert (settings["k"], settings["weights"]) == (1, "gain_ratio")
        assert (tmp_path / "grid.journal").exists()


def test_the_default_is_the_default_also_where_the_search_has_other_values():
    search = MemorySearch(ks=[3, 5], strategy="grid", cv=2, random_state=0)
    parts = make_parts(letters(300))
    default, grid = study_memory(parts, search)[0]["leaderboard"]
    wide, _ = study_memory(parts, MemorySearch(strategy="grid", cv=2, random_state=0))[0][
        "leaderboard"
    ]
    assert (default.settings, default.value) == (wide.settings, wide.value)
    assert grid.settings["k"] in (3, 5)


def test_an_exclusive_or_leaves_the_default_with_the_most_frequent_class():
    """Neither column tells anything alone, so that gain ratio weighs both with nothing."""
    rows = [(a, b, "odd" if a != b else "even") for a, b in itertools.product("01", "01")] * 50
    a, b, parity = (list(column) for column in zip(*rows, strict=True))
    train = NominalTable.from_columns({"a": a, "b": b}, labels=parity)
    parts = make_parts(train, train, train)
    result, _ = study_memory(parts, MemorySearch(compat=None, random_state=0))
    default, _, found = result["leaderboard"]
    assert (default.test, found.test) == (0.5, 1.0)
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


def said(
    found: str,
    p: list[float],
    test: list[float],
    valid: tuple[float, float] = (0.9, 0.9),
    kept: int = -1,
):
    settings = [ROWS["default"], ROWS["grid"], ROWS[found]]
    names = ["default", "best uniform setting", "found by genetic search"]
    models = [
        model_of(name, setting, ["letter", "next"], validation=v, test=t)
        for name, setting, v, t in zip(names, settings, (0.8, *valid), test, strict=True)
    ]
    models[kept].chosen = True
    pairs = [(names[kept], names[0], p[0]), (names[kept], names[1], p[1])]
    tests = [Comparison(a, b, p=p) for a, b, p in pairs if a != b]
    return verdict(models, tests)[0]


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


def test_a_search_that_fell_short_of_the_grid_leaves_it_the_grid_or_says_so():
    given = ("found", [0.04, 0.04], [0.80, 0.85, 0.82], (0.9, 0.87))
    assert said(*given, kept=1) == (
        "The best uniform setting (k = 3, no weights, 2 of 2 features) is right on 85.0 % of the "
        "test rows, 5.0 points above the default (McNemar p = .040). It is kept, because the "
        "search fell short of it: on what was searched it is right on 90.0 %, the setting found by "
        "genetic search on 87.0 %."
    )
    assert said(*given).endswith(
        "3.0 points below the best uniform setting (McNemar p = .040). The search fell short: on "
        "what it searched, the best uniform setting is right on 90.0 %, the found one on 87.0 %."
    )


@pytest.mark.parametrize("keep", ["best", "strategy"])
def test_the_best_model_seen_is_kept_though_it_be_that_of_the_grid(keep):
    """A search that may look at two settings ends below the grid, unless it is kept as it is."""
    parts = make_parts(letters(1200))
    how = {"strategy": "genetic", "trials": 2, "cv": 3, "keep": keep, "random_state": 0}
    result, classifier = study_memory(parts, MemorySearch(**how))
    _, grid, found = result["leaderboard"]
    assert (grid.name, found.name) == ("best uniform setting", "found by genetic search")
    assert grid.value > found.value
    kept = grid if keep == "best" else found
    assert chosen(result) is kept
    gold = np.array(parts.test.classes, dtype=object)[parts.test.labels]
    assert kept.test == (classifier.predict(parts.test) == gold).mean()
    assert classifier.k == kept.settings["k"]
    assert list(classifier.modes_) == list(kept.settings["modes"].values())
    (p,) = [t.p for t in result["comparisons"] if (t.a, t.b) == (kept.name, "default")]
    assert result["significant"] == (p < 0.05)
    assert ("It is kept, because the search fell short" in result["verdict"]) == (keep == "best")
    assert ("The search fell short" in result["verdict"]) == (keep == "strategy")


def test_the_table_of_a_study_marks_the_setting_that_is_kept(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    search = MemorySearch(strategy="genetic", trials=2, cv=3, random_state=0)
    result, classifier = study_memory(make_parts(letters(1200)), search)
    show_result(json.loads(encode_result(result)), None)
    printed = capsys.readouterr().out
    words = {"overlap": "overlap", "mvdm": "MVDM"}
    (mode,) = set(classifier.modes_)  # of the grid
    assert printed.count(words[mode]) >= 3
    assert "best uniform setting ←" in printed


def test_a_study_is_by_accuracy():
    with pytest.raises(InputError, match="a study compares settings by their accuracy"):
        study_memory(make_parts(letters(300)), MemorySearch(scoring="log_loss"))


def sorted_words(n_words: int = 400, forms: int = 8, grouped: bool = True) -> NominalTable:
    """A sorted list: the forms of a word lie side by side and have one class, drawn at random."""
    draw = random.Random(9)
    rows = [
        (f"w{word:04}", str(form), sound)
        for word, sound in enumerate(draw.choices("KS", k=n_words))
        for form in range(forms)
    ]
    words, marks, sounds = (list(column) for column in zip(*rows, strict=True))
    columns = {"word": words, "form": marks}
    return NominalTable.from_columns(columns, labels=sounds, groups=words if grouped else None)


@pytest.mark.parametrize("given", [(), ("test",), ("valid",)])
def test_whatever_part_is_taken_of_a_sorted_file_it_is_drawn_from_all_of_it(given):
    """A run of neighbouring rows would be one stretch of the alphabet."""
    other = letters(30)
    for grouped in (True, False):
        table = sorted_words(grouped=grouped)
        other = table.take(np.arange(0, 160))
        parts = make_parts(table, **dict.fromkeys(given, other))
        taken = {"valid": parts.valid, "test": parts.test}
        for name in given:
            assert taken.pop(name) is other
        for part in taken.values():
            words = np.unique(part.codes[:, 0])
            # From everywhere: each fifth of the list has about its share.
            fifths = np.bincount((part.codes[:, 0] - 1) * 5 // 400, minlength=5) / len(part)
            assert fifths.min() > 0.1
            if grouped:  # and words as a whole
                assert len(part) == 8 * len(words)
                assert not np.isin(words, parts.train.codes[:, 0]).any()
            else:
                assert len(part) < 4 * len(words)


@pytest.mark.parametrize("folds", [None, 4])
def test_a_search_does_not_know_the_words_it_is_tried_on_by_heart(folds):
    """What a word's forms say of one another is no merit where words are new."""
    scores = {}
    for grouped in (True, False):
        parts = make_parts(sorted_words(grouped=grouped), folds=folds)
        assert (parts.valid is None) == (folds is not None)
        search = MemorySearch(
            strategy="grid", ks=(1,), weights=("gain_ratio",), modes=("overlap",), cv=folds or 5,
            random_state=0,
        )  # fmt: skip
        scores[grouped] = search.fit(parts.train, X_valid=parts.valid).best_score_
    assert scores[True] < 0.65
    assert scores[False] > 0.95


def test_the_command_searches_the_vote_unless_it_is_told_one():
    given = {"strategy": "guided", "over": "together", "ks": "1,9", "threshold": 1}
    given |= {"compat": "none", "budget": None, "trials": 12, "folds": 3}
    parts = make_parts(letters(400), folds=3)
    for vote, votes in ((None, list(VOTES)), ("inverse_linear", ["inverse_linear"])):
        search = memory_search(**given, vote=vote).set_params(random_state=0)
        result, classifier = study_memory(parts, search)
        assert classifier.vote == chosen(result).settings["vote"]
        assert classifier.vote in votes
        tried = [list(one.result.get("votes", votes)) for one in search.history_]
        assert [sorted(names) for names in tried] == [sorted(votes)] * len(tried)
