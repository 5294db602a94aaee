"""Window columns: what stands around a token, marks beyond its sentence, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.sentences import table_of_sentences
from featloom.errors import InputError
from featloom.features.expansion import TemplateExpansion
from featloom.features.template import Template
from featloom.features.windows import (
    columns_of_places,
    sequence_templates,
    window_place,
    window_table,
)

SENTENCES = [[("the", "DT"), ("cat", "NN"), ("sleeps", "VB")], [("stop", "VB")]]
LABELS = [["B", "I", "O"], ["O"]]

sentences = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("XY")), min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


def test_a_window_shows_the_neighbours_and_marks_beyond_the_sentence():
    around = window_table(table_of_sentences(SENTENCES, LABELS, columns=["word", "tag"]), 2)
    assert around.columns[:5] == ("word[-2]", "word[-1]", "word", "word[+1]", "word[+2]")
    seen = [[around.value(name, row) for name in around.columns[:5]] for row in range(4)]
    assert seen == [
        ["_B-2", "_B-1", "the", "cat", "sleeps"],
        ["_B-1", "the", "cat", "sleeps", "_E+1"],
        ["the", "cat", "sleeps", "_E+1", "_E+2"],
        ["_B-2", "_B-1", "stop", "_E+1", "_E+2"],
    ]


def test_labels_and_sentences_are_kept():
    table = table_of_sentences(SENTENCES, LABELS)
    around = window_table(table, 1, columns=["1"])
    assert around.columns == ("1[-1]", "1", "1[+1]")
    assert around.labels is table.labels
    assert around.sequence_bounds is table.sequence_bounds


def test_an_unknown_word_is_unknown_at_every_offset():
    table = table_of_sentences([[("a",), (None,), ("b",)]])
    around = window_table(table, 1)
    assert around.value("0[+1]", 0) is None
    assert around.value("0[-1]", 2) is None


def test_a_word_written_like_a_mark_is_taken_for_it():
    around = window_table(table_of_sentences([["_B-1", "a"]]), 1)
    assert [around.value("0[-1]", row) for row in range(2)] == ["_B-1", "_B-1"]
    assert len(set(around.vocabularies[0])) == len(around.vocabularies[0])


@given(sentences, st.integers(0, 3))
def test_a_template_with_offsets_is_one_over_window_columns(given, window):
    table = table_of_sentences(given, columns=["word", "tag"])
    around = window_table(table, window)
    over_columns = [
        Template(((name, 0), (other, 0)))
        for name in around.columns
        for other in around.columns
        if name != other
    ][:20]
    here = TemplateExpansion(around, over_columns).features
    there = TemplateExpansion(table, sequence_templates(over_columns)).features
    assert np.array_equal(here, there)


def test_a_place_is_read_off_a_name():
    assert window_place("tag.coarse1[+2]") == ("tag.coarse1", 2)
    for name in ("word", "word[0]", "word[+0]", "word[]", "[-1]", "word[-1] "):
        assert window_place(name) == (name, 0)
    assert columns_of_places(["tag", "word[-1]", "tag[+1]"]) == ("tag", "word")


def test_kind_and_name_of_a_template_are_kept():
    given = Template((("word[-1]", 0), ("tag", 0)), "U", "U07")
    assert sequence_templates([given]) == (Template((("word", -1), ("tag", 0)), "U", "U07"),)


def test_a_table_without_sentences_is_one_sentence():
    from featloom.data.table import NominalTable

    around = window_table(NominalTable.from_columns({"word": ["a", "b"]}), 1)
    assert around.value("word[+1]", 0) == "b"


@pytest.mark.parametrize("window", [-1, 1.5, True, "2"])
def test_a_window_is_a_whole_number(window):
    with pytest.raises(InputError, match="window is"):
        window_table(table_of_sentences(SENTENCES), window)


def test_columns_are_checked():
    table = table_of_sentences(SENTENCES)
    with pytest.raises(InputError, match="no column 'lemma'"):
        window_table(table, 1, columns=["lemma"])
    with pytest.raises(InputError, match="at least one column"):
        window_table(table, 1, columns=[])
