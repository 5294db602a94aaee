"""Attachment scores count the heads and relations that are right, punctuation apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.sentences import table_of_trees
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.attachment import attachment_counts, is_punctuation

SENTENCES = [
    [
        ("He", "he", "PRON", "_", "_", 2, "nsubj"),
        ("ran", "run", "VERB", "_", "_", 0, "root"),
        (".", ".", "PUNCT", "_", "_", 2, "punct"),
    ],
    [],
    [("Stop", "stop", "VERB", "_", "_", 0, "root"), ("!?", "!", "PUNCT", "_", "_", 1, "punct")],
]
GOLD = [[token[5:] for token in sentence] for sentence in SENTENCES]


def test_gold_trees_are_all_right():
    counts = attachment_counts(table_of_trees(SENTENCES), GOLD)
    assert counts.tolist() == [[2, 2, 2, 3, 3], [0, 0, 0, 0, 0], [1, 1, 1, 2, 2]]


def test_a_wrong_head_costs_both_scores_and_a_wrong_relation_the_labelled_one():
    trees = [[(2, "obj"), (0, "root"), (1, "punct")], [], [(2, "root"), (0, "punct")]]
    counts = attachment_counts(table_of_trees(SENTENCES), trees)
    assert counts.tolist() == [[2, 1, 2, 2, 3], [0, 0, 0, 0, 0], [0, 0, 1, 0, 2]]


def test_a_right_relation_to_a_wrong_head_is_not_right():
    trees = [[(3, "nsubj"), (0, "root"), (2, "punct")], *GOLD[1:]]
    assert attachment_counts(table_of_trees(SENTENCES), trees)[0].tolist() == [1, 1, 2, 2, 3]


@st.composite
def sentences_and_guesses(draw):
    sentences, guesses = [], []
    for length in draw(st.lists(st.integers(0, 5), max_size=4)):
        heads = [draw(st.integers(0, place)) for place in range(length)]  # a head stands before
        words = draw(st.lists(st.sampled_from(["a", "b", ",", "--"]), min_size=length,
                              max_size=length))  # fmt: skip
        names = st.lists(st.sampled_from("xyz"), min_size=length, max_size=length)
        relations = draw(names)
        sentences.append(
            [(w, w, "X", "_", "_", h, r) for w, h, r in zip(words, heads, relations, strict=True)]
        )
        found = [draw(st.integers(0, length)) for _ in range(length)]
        guesses.append(list(zip(found, draw(names), strict=True)))
    return sentences, guesses


@given(sentences_and_guesses())
def test_counts_are_those_of_a_count_by_hand(case):
    sentences, guesses = case
    expected = []
    for sentence, guess in zip(sentences, guesses, strict=True):
        row = [0] * 5
        for token, (head, relation) in zip(sentence, guess, strict=True):
            right, word = head == token[5], token[0].isalpha()
            row[0] += word and right
            row[1] += word and right and relation == token[6]
            row[2] += word
            row[3] += right
            row[4] += 1
        expected.append(row)
    counts = attachment_counts(table_of_trees(sentences), guesses)
    assert counts.shape == (len(sentences), 5)
    assert counts.tolist() == expected


def test_punctuation_is_told_by_its_letters_and_not_by_its_tag():
    words = ["Não", "...", "—", "«", "%", "$", "R$", "a.", "'", "¿", "=", "1", "‑"]
    table = NominalTable.from_columns({"upos": ["X"] * len(words), "form": words})
    found = [word for word, mark in zip(words, is_punctuation(table), strict=True) if mark]
    # A per cent sign is punctuation to Unicode; signs of money and of sums are symbols.
    assert found == ["...", "—", "«", "%", "'", "¿", "‑"]


def test_a_word_that_is_unknown_or_empty_is_no_punctuation():
    table = NominalTable.from_columns({"form": [None, "", "."]})
    assert is_punctuation(table).tolist() == [False, False, True]


def test_without_relations_only_heads_are_counted():
    table = NominalTable.from_columns(
        {"form": ["a", "b"]}, sequence_bounds=np.array([0, 2]), heads=np.array([2, 0])
    )
    counts = attachment_counts(table, [[(2, "_"), (1, "_")]])
    assert counts.tolist() == [[1, 0, 2, 1, 2]]


def test_sentences_without_trees_cannot_be_compared_with():
    table = table_of_trees([[token[:5] for token in SENTENCES[0]]])
    with pytest.raises(InputError, match="the sentences have no heads"):
        attachment_counts(table, [GOLD[0]])


@pytest.mark.parametrize("trees", [[], GOLD[:2], [*GOLD, []], [GOLD[0], GOLD[2], GOLD[1]]])
def test_trees_of_other_sentences_are_refused(trees):
    with pytest.raises(InputError, match="the trees are not those of the sentences"):
        attachment_counts(table_of_trees(SENTENCES), trees)
