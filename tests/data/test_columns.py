"""Derived columns say of a word what can be seen in it, once for each word of the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.columns import (
    RARE,
    Coarse,
    Flag,
    Frequent,
    Lower,
    Prefix,
    Shape,
    Suffix,
    column_maker,
    derive,
    fit_makers,
)
from featloom.data.table import NominalTable
from featloom.errors import InputError

WORDS = st.lists(st.one_of(st.none(), st.text(min_size=1, max_size=8)), min_size=1, max_size=30)
MAKERS = [
    Lower("word"),
    Prefix("word", 2),
    Suffix("word", 3),
    Coarse("word", 1),
    Shape("word"),
    Shape("word", full=True),
    *(Flag("word", flag) for flag in ("digit", "hyphen", "capital", "allcaps")),
]


def values(table: NominalTable, column: str) -> list[str | None]:
    return [table.value(column, row) for row in range(len(table))]


@pytest.mark.parametrize(
    ("maker", "word", "value", "name"),
    [
        (Lower("word"), "McDonald-9", "mcdonald-9", "word.lower"),
        (Prefix("word", 3), "McDonald-9", "McD", "word.prefix3"),
        (Suffix("word", 3), "McDonald-9", "d-9", "word.suffix3"),
        (Suffix("word", 3), "in", "in", "word.suffix3"),
        (Shape("word"), "McDonald-9", "XxXx-d", "word.shape"),
        (Shape("word", full=True), "McDonald-9", "XxXxxxxx-d", "word.fullshape"),
        (Shape("word"), "中文", "c", "word.shape"),
        (Flag("word", "digit"), "McDonald-9", "yes", "word.digit"),
        (Flag("word", "hyphen"), "plain", "no", "word.hyphen"),
        (Flag("word", "capital"), "Paris", "yes", "word.capital"),
        (Flag("word", "allcaps"), "Paris", "no", "word.allcaps"),
        (Flag("word", "allcaps"), "U.S.", "yes", "word.allcaps"),
        (Coarse("pos", 1), "NNS", "N", "pos.coarse1"),
    ],
)
def test_what_can_be_seen_in_a_word(maker, word, value, name):
    assert maker.value(word) == value
    assert maker.name == name


@given(WORDS)
def test_a_column_made_on_the_vocabulary_equals_one_made_row_by_row(words):
    table = derive(NominalTable.from_columns({"word": words}), *MAKERS)
    for maker in MAKERS:
        by_row = [None if word is None else maker.value(word) for word in words]
        assert values(table, maker.name) == by_row


@given(WORDS)
def test_vocabularies_of_derived_columns_have_no_value_twice(words):
    table = derive(NominalTable.from_columns({"word": words}), *MAKERS)
    for vocabulary in table.vocabularies:
        assert len(set(vocabulary)) == len(vocabulary)


@pytest.mark.parametrize(
    "maker", [*MAKERS, Frequent("word", 5), Frequent("word", 5, "pos", ("a",))]
)
def test_a_maker_survives_being_written_down(maker):
    assert column_maker(maker.to_dict()) == maker


def test_makers_can_read_what_earlier_ones_made():
    table = NominalTable.from_columns({"word": ["Running", "running"]})
    table = derive(table, Lower("word"), Suffix("word.lower", 3))
    assert table.columns == ("word", "word.lower", "word.lower.suffix3")
    assert table.vocabularies[-1] == ("ing",)


def test_structure_and_labels_are_kept():
    table = NominalTable.from_columns(
        {"word": ["a", "b"]},
        labels=["N", "V"],
        groups=["d1", "d1"],
        sequence_bounds=np.array([0, 2]),
    )
    made = derive(table, Lower("word"))
    assert made.labels is table.labels
    assert made.groups is table.groups
    assert made.sequence_bounds is table.sequence_bounds
    assert made.codes.flags.f_contiguous


def test_endings_of_unseen_words_are_seen_if_derived_before_recoding():
    train = derive(NominalTable.from_columns({"word": ["walking"]}), Suffix("word", 3))
    test = derive(NominalTable.from_columns({"word": ["talking"]}), Suffix("word", 3))
    recoded = train.recode(test)
    assert recoded.value("word", 0) is None
    assert recoded.value("word.suffix3", 0) == "ing"


def test_common_words_stand_for_themselves_and_others_are_rare():
    train = NominalTable.from_columns({"word": ["the", "cat", "the", "a", "a", "dog"]})
    maker = Frequent("word", 2).fit(train)
    assert maker.values == ("a", "the")
    test = derive(NominalTable.from_columns({"word": ["a", "cat", None, "the"]}), maker)
    assert values(test, "word.frequent2") == ["a", RARE, RARE, "the"]


def test_another_column_speaks_for_rare_words():
    train = NominalTable.from_columns(
        {"word": ["the", "cat", "the", "ran", None], "pos": ["D", "N", "D", "V", None]}
    )
    maker = Frequent("word", 1, otherwise="pos").fit(train)
    assert maker.name == "word.frequent1.pos"
    assert values(derive(train, maker), maker.name) == ["the", "N", "the", "V", None]


@given(st.lists(st.sampled_from("abcdef"), min_size=1), st.integers(1, 6), st.randoms())
def test_which_words_are_common_does_not_depend_on_the_order_of_rows(words, number, random):
    shuffled = random.sample(words, len(words))
    fitted = [
        Frequent("word", number).fit(NominalTable.from_columns({"word": rows})).values
        for rows in (words, shuffled)
    ]
    assert fitted[0] == fitted[1]


def test_a_list_of_makers_is_fitted_in_order():
    train = NominalTable.from_columns({"word": ["The", "the", "cat"]})
    fitted = fit_makers(train, [{"make": "lower", "of": "word"}, Frequent("word.lower", 1)])
    assert fitted[1].to_dict()["values"] == ["the"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"make": "sufix", "of": "word"}, "no column maker 'sufix'; there are lower, prefix"),
        ({"of": "word"}, "no column maker None"),
        ({"make": "suffix", "of": "word"}, "column maker 'suffix' needs length"),
        ({"make": "lower", "of": "word", "n": 1}, "'lower' has no setting 'n'; there are of"),
        ({"make": "prefix", "of": "word", "length": 0}, "length of a prefix must be 1 or more"),
        ({"make": "flag", "of": "word", "flag": "vowel"}, "no flag 'vowel'; there are digit"),
        ({"make": "lower", "of": "pos"}, "no column 'pos'; there are word"),
        ({"make": "frequent", "of": "word", "number": 3}, "must be fitted on training data first"),
        (
            {"make": "frequent", "of": "word", "number": 3, "values": False},
            "the commonest values of a column must be text",
        ),
    ],
)
def test_a_wrong_recipe_is_told_in_one_sentence(spec, message):
    with pytest.raises(InputError, match=message):
        derive(NominalTable.from_columns({"word": ["a"]}), spec)


def test_the_same_column_is_not_made_twice():
    table = derive(NominalTable.from_columns({"word": ["a"]}), Lower("word"))
    with pytest.raises(InputError, match=r"column 'word.lower' appears twice"):
        derive(table, Lower("word"))
