"""Sentences in memory become tables, and faults in them are told with their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.readers import read
from featloom.data.sentences import split_labels, table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError

symbols = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@given(st.lists(st.lists(st.tuples(symbols, symbols, symbols), max_size=4), max_size=5))
def test_every_symbol_and_label_comes_back(corpus):
    observed = [[token[:2] for token in sentence] for sentence in corpus]
    labels = [[token[2] for token in sentence] for sentence in corpus]
    table = table_of_sentences(observed, labels, columns=("word", "pos"))
    rows = [(table.value("word", i), table.value("pos", i)) for i in range(len(table))]
    assert split_labels(np.array([*rows, None], dtype=object)[:-1], table.sequence_bounds) == (
        observed
    )
    named = np.array([*table.classes, None], dtype=object)[table.labels]
    assert split_labels(named, table.sequence_bounds) == labels


def test_a_token_may_be_one_symbol_and_a_symbol_a_number():
    table = table_of_sentences([["a", "b"], [("c",)]])
    assert table.columns == ("0",)
    assert table.vocabularies == (("a", "b", "c"),)
    assert table_of_sentences([[("a", 1), ("b", True)]]).vocabularies[1] == ("1", "True")


def test_a_missing_symbol_is_unknown():
    assert table_of_sentences([[("a", None)]]).codes.tolist() == [[1, 0]]


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_empty_sentences_are_sentences(empty):
    table = table_of_sentences(empty, empty, columns=("word",))
    assert len(table) == 0
    assert len(table.sequence_bounds) == len(empty) + 1
    assert table.columns == ("word",)


def test_a_table_without_bounds_is_one_sentence():
    table = NominalTable.from_columns({"word": ["a", "b"]})
    assert table_of_sentences(table).sequence_bounds.tolist() == [0, 2]


FAULTS = [
    ("a text", {}, "sentences is one text; a list of sentences is expected"),
    ([["a"], "b c"], {}, "sentence 1 is a text; a list of tokens is expected"),
    ([[("a", "X")], [], [("b", "Y"), ("c",)]], {}, "token 1 of sentence 2 has 1 columns, 2 exp"),
    ([["a"]], {"columns": ("word", "pos")}, "tokens have 1 columns, 2 expected"),
    ([["a"], ["b"]], {"labels": [["X"]]}, "1 lists of labels for 2 sentences"),
    ([["a"], ["b"]], {"labels": [["X"], ["Y", "Y"]]}, "sentence 1 has 1 tokens and 2 labels"),
    ([["a", "b"]], {"labels": ["XY"]}, "the labels of sentence 0 are a text; a list is expected"),
    ([["a"], ["b"]], {"labels": [["X"], [None]]}, "a token of sentence 1 has no label"),
    ([["a"], [3]], {}, "a token of sentence 1 is neither a symbol nor a tuple of symbols"),
]


@pytest.mark.parametrize(("sentences", "more", "words"), FAULTS)
def test_a_fault_is_told_with_its_place(sentences, more, words):
    with pytest.raises(InputError) as fault:
        table_of_sentences(sentences, **more)
    assert words in str(fault.value)


def test_a_table_with_other_columns_is_refused():
    table = NominalTable.from_columns({"word": ["a"]})
    with pytest.raises(InputError, match="sentences have columns word, not form"):
        table_of_sentences(table, columns=("form",))


def test_line_ends_of_windows_change_nothing(tmp_path):
    text = "He PRP B-NP\nran VBD B-VP\n\nStop VB B-VP\n"
    tables = []
    for name, end in [("unix", "\n"), ("windows", "\r\n")]:
        path = tmp_path / f"{name}.conll"
        path.write_bytes(text.replace("\n", end).encode())
        tables.append(read(path))
    assert tables[0].vocabularies == tables[1].vocabularies
    assert tables[0].classes == tables[1].classes == ("B-NP", "B-VP")
    assert tables[0].sequence_bounds.tolist() == tables[1].sequence_bounds.tolist() == [0, 2, 3]
