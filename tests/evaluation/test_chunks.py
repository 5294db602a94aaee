"""Chunks are those of conlleval and seqeval, and their counts add up over sentences."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.readers import read_conll
from featloom.errors import InputError
from featloom.evaluation.chunks import chunk_counts, chunk_f1, label_codes, token_counts
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts
from featloom.evaluation.significance import paired_bootstrap

# conlleval of 2004: between which letters (before, here) a chunk ends and begins, the type equal.
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
BEGINS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}


def sentences_of(letters: str):
    labels = st.sampled_from(["O", *(f"{letter}-{kind}" for letter in letters for kind in "XY")])
    sentence = st.lists(st.tuples(labels, labels), min_size=1, max_size=9)
    return st.lists(sentence, min_size=1, max_size=5).map(
        lambda pairs: (
            [[truth for truth, _ in sentence] for sentence in pairs],
            [[guess for _, guess in sentence] for sentence in pairs],
        )
    )


def conlleval_chunks(labels: list[str]) -> set[tuple[str, int, int]]:
    """The chunks of a sentence by the tables above, one token after the other."""
    chunks, begin, letter, kind = set(), 0, "O", ""
    for i, label in enumerate([*labels, "O"]):
        here, _, kind_here = label.partition("-")
        if letter + here in ENDS or (letter != "O" and kind != kind_here):
            chunks.add((kind, begin, i))
        if letter + here in BEGINS or (here != "O" and kind != kind_here):
            begin = i
        letter, kind = here, kind_here
    return chunks


def totals(gold, predicted, **reading) -> list[int]:
    return chunk_counts(*label_codes(gold, predicted), **reading).sum(axis=0).tolist()


@pytest.mark.parametrize("letters", ["I", "BI", "IE"])
@given(data=st.data())
@settings(max_examples=60)
def test_chunks_of_iob_and_ioe_labels_are_those_of_conlleval(letters, data):
    gold, predicted = data.draw(sentences_of(letters))
    counts = chunk_counts(*label_codes(gold, predicted))
    for truth, guess, found in zip(gold, predicted, counts.tolist(), strict=True):
        true, given_ = conlleval_chunks(truth), conlleval_chunks(guess)
        assert found == [len(true & given_), len(given_ - true), len(true - given_)]


@pytest.mark.parametrize("letters", ["I", "BI", "IE", "BIES"])
@given(data=st.data())
@settings(max_examples=60)
def test_chunks_are_those_of_seqeval(letters, data):
    seqeval = pytest.importorskip("seqeval.metrics")
    gold, predicted = data.draw(sentences_of(letters))
    codes = label_codes(gold, predicted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 0 / 0
        assert chunk_f1(*codes) == pytest.approx(seqeval.f1_score(gold, predicted))


@pytest.mark.parametrize(
    ("labels", "chunks"),
    [
        ("O I-X I-X O", 1),  # an I after an O begins a chunk
        ("B-X I-Y", 2),  # and so does one of another type
        ("I-X B-X I-X", 2),  # IOB1: B only where two chunks of a type meet
        ("B-X B-X", 2),
        ("I-X I-X", 1),
        ("I-X E-X I-X E-X", 2),
        ("B-X E-X B-X E-X", 2),
        ("S-X S-X", 2),
        ("S-X I-X", 2),
        ("B-X O I-X", 2),
        ("O-X I-X", 1),  # outside, whatever stands after the O
        ("B I O B", 2),  # chunks without a type
        ("B-A-X I-A-X I-A", 2),  # types can hold hyphens
    ],
)
def test_labels_spell_chunks(labels, chunks):
    assert totals([labels.split()], [labels.split()]) == [chunks, 0, 0]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("B-X I-X O", "B-X I-X O", [1, 0, 0]),
        ("B-X I-X O", "I-X I-X O", [1, 0, 0]),  # another way to write the same chunk
        ("B-X I-X O", "B-X O O", [0, 1, 1]),  # too short
        ("B-X I-X O", "B-X I-X I-X", [0, 1, 1]),  # too long
        ("B-X I-X O", "B-Y I-Y O", [0, 1, 1]),  # another type
        ("B-X I-X I-X", "B-X I-X B-X", [0, 2, 1]),  # cut in two
        ("B-X B-X I-X", "B-X I-X I-X", [0, 1, 2]),  # joined
        ("O O O", "O B-X O", [0, 1, 0]),
    ],
)
def test_a_chunk_is_right_if_both_ends_and_the_type_are(gold, predicted, expected):
    assert totals([gold.split()], [predicted.split()]) == expected


def test_no_chunk_crosses_the_end_of_a_sentence():
    assert totals([["B-X"], ["I-X"]], [["B-X"], ["I-X"]]) == [2, 0, 0]
    assert totals([["B-X", "I-X"]], [["B-X", "I-X"]]) == [1, 0, 0]


def test_each_token_with_a_plain_label_is_a_chunk_of_its_own():
    assert totals([["N", "N", "O", "V"]], [["N", "V", "V", "V"]]) == [2, 2, 1]


def test_labels_with_letters_can_be_taken_as_plain_ones():
    assert totals([["B-X", "I-X"]], [["B-X", "B-X"]], plain=True) == [1, 1, 1]


def test_labels_with_and_without_letters_are_not_mixed():
    with pytest.raises(InputError, match="'L-X' is not 'O' and begins with none of B, I, E and S"):
        chunk_f1(*label_codes([["B-X", "L-X"]], [["B-X", "O"]]))


def test_the_outside_label_can_be_another():
    assert totals([["N", "_"]], [["N", "N"]], outside="_") == [1, 1, 0]


def test_sentences_without_tokens_have_no_chunks():
    codes = label_codes([[], ["B-X"], []], [[], ["B-X"], []])
    assert chunk_counts(*codes).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert chunk_counts(*label_codes([], [])).shape == (0, 3)
    assert chunk_f1(*label_codes([[]], [[]])) == 0


@given(sentences_of("BIES"))
@settings(max_examples=60)
def test_every_token_of_a_sentence_counts(pair):
    tokens = token_counts(*label_codes(*pair)[:3])
    assert tokens[:, 1].tolist() == [len(sentence) for sentence in pair[0]]


@given(sentences_of("BI"))
@settings(max_examples=60)
def test_false_alarms_and_misses_change_places_with_truth_and_prediction(pair):
    tp, fp, fn = totals(*pair)
    assert totals(*reversed(pair)) == [tp, fn, fp]


def test_sentences_can_be_drawn_for_a_paired_bootstrap():
    random = np.random.default_rng(0)
    classes = ("B-X", "I-X", "O")
    gold = random.integers(3, size=3000)
    bounds = np.arange(0, 3001, 10)

    def system(share_wrong):
        return np.where(random.random(3000) < share_wrong, random.integers(3, size=3000), gold)

    good, poor = system(0.1), system(0.3)
    first = chunk_counts(gold, good, bounds, classes)
    second = chunk_counts(gold, poor, bounds, classes)
    found = paired_bootstrap(first, second, f1_of_counts, resamples=500)
    expected = chunk_f1(gold, good, bounds, classes) - chunk_f1(gold, poor, bounds, classes)
    assert found.difference == pytest.approx(expected)
    assert found.groups == 300
    assert 0 < found.low < found.difference < found.high
    same = paired_bootstrap(first, first, f1_of_counts, resamples=100)
    assert (same.difference, same.p) == (0, 1)
    tokens = [token_counts(gold, answer, bounds) for answer in (good, poor)]
    assert paired_bootstrap(*tokens, accuracy_of_counts, resamples=100).low > 0


@pytest.mark.parametrize(
    ("gold", "predicted", "bounds", "words"),
    [
        ([0, 1], [0], [0, 2], "1 predictions for 2 tokens"),
        ([0, 1], [0, 2], [0, 2], "no label 2; there are 2"),
        ([0, -1], [0, 1], [0, 2], "no label -1; there are 2"),
        ([0, 1], [0, 1], [0, 1], "must rise from 0 to the 2 tokens"),
        ([0, 1], [0, 1], [0, 2, 1, 2], "must rise from 0 to the 2 tokens"),
        ([0.0, 1.0], [0, 1], [0, 2], "labels must be codes"),
    ],
)
def test_what_cannot_be_counted_is_refused(gold, predicted, bounds, words):
    with pytest.raises(InputError, match=words):
        chunk_counts(np.array(gold), np.array(predicted), np.array(bounds), ["B-X", "O"])


def test_sentences_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="sentence 2: 1 predictions for 2 labels"):
        label_codes([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(InputError, match="1 predicted sentences for 2 true ones"):
        label_codes([["O"], ["O"]], [["O"]])


def test_the_chunks_of_conll_2000_are_all_there(data_folder):
    table = read_conll(data_folder / "conll2000" / "test.txt")
    labels, bounds = table.labels, table.sequence_bounds
    assert chunk_counts(labels, labels, bounds, table.classes).sum(axis=0).tolist() == [23852, 0, 0]
    assert token_counts(labels, labels, bounds).sum(axis=0).tolist() == [47377, 47377]
