"""Letters and sounds: alignments learned from a dictionary, and the task made of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.corpora import cmudict_file, find, how_to_get
from featloom.data.table import NominalTable
from featloom.data.tasks.alignment import align
from featloom.data.tasks.letter_to_sound import (
    letter_question,
    letter_table,
    letter_to_sound,
    read_pronunciations,
)
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError
from featloom.kernels.alignment import best_links, expected_links, sound_number

TOY = {
    "tack": "T AE1 K",
    "cat": "K AE1 T",
    "act": "AE1 K T",
    "tax": "T AE1 K S",
    "data": "D AE1 T AH0",
    "attack": "AH0 T AE1 K",
}


@pytest.fixture(scope="module")
def sample():
    """Three thousand words, which are enough to learn what most letters sound like."""
    if find("letter-to-sound") is None:
        pytest.skip(how_to_get("letter-to-sound"))
    return letter_to_sound(max_words=3_000, seed=1)


@st.composite
def dictionaries(draw):
    """Small words that all have an alignment, and probabilities of sounds."""
    n_phonemes = draw(st.integers(1, 3))
    words = draw(
        st.lists(
            st.lists(st.integers(0, 2), min_size=1, max_size=4).flatmap(
                lambda letters: st.tuples(
                    st.just(letters),
                    st.lists(st.integers(0, n_phonemes - 1), min_size=1, max_size=2 * len(letters)),
                )
            ),
            min_size=1,
            max_size=4,
        )
    )
    n_sounds = 1 + n_phonemes + n_phonemes**2
    weights = draw(st.lists(st.floats(0.01, 1.0), min_size=3 * n_sounds, max_size=3 * n_sounds))
    probability = np.array(weights).reshape(3, n_sounds)
    return words, probability / probability.sum(axis=1, keepdims=True), n_phonemes


def as_arrays(words):
    letters = np.array([c for spelling, _ in words for c in spelling], dtype=np.int32)
    phonemes = np.array([p for _, spoken in words for p in spoken], dtype=np.int32)
    bounds = [
        np.concatenate([[0], np.cumsum([len(word[side]) for word in words])]) for side in (0, 1)
    ]
    return letters, bounds[0], phonemes, bounds[1]


def all_alignments(spelling, spoken, n_phonemes):
    """Every way to give each letter none, one or two of the phonemes in order."""
    for lengths in itertools.product(range(3), repeat=len(spelling)):
        if sum(lengths) != len(spoken):
            continue
        sounds, place = [], 0
        for length in lengths:
            place += length
            sounds.append(sound_number.py_func(spoken, place, length, n_phonemes))
        yield sounds


def plain_expected_links(words, probability, n_phonemes):
    """The twin of the kernel: the sum over all alignments, one by one."""
    counts = np.zeros_like(probability)
    likelihood = 0.0
    for spelling, spoken in words:
        weights = {
            tuple(sounds): math.prod(
                probability[c, s] for c, s in zip(spelling, sounds, strict=True)
            )
            for sounds in all_alignments(spelling, spoken, n_phonemes)
        }
        total = sum(weights.values())
        likelihood += math.log(total)
        for sounds, weight in weights.items():
            for c, s in zip(spelling, sounds, strict=True):
                counts[c, s] += weight / total
    return counts, likelihood


@given(dictionaries())
@settings(max_examples=60, deadline=None)
def test_expected_links_are_sums_over_all_alignments(dictionary):
    words, probability, n_phonemes = dictionary
    counts, likelihood, n_aligned = expected_links(*as_arrays(words), probability, n_phonemes)
    plain_counts, plain_likelihood = plain_expected_links(words, probability, n_phonemes)
    assert n_aligned == len(words)
    np.testing.assert_allclose(counts, plain_counts, rtol=1e-9, atol=1e-12)
    assert likelihood == pytest.approx(plain_likelihood)


@given(dictionaries())
@settings(max_examples=60, deadline=None)
def test_the_best_alignment_is_the_most_probable_of_all(dictionary):
    words, probability, n_phonemes = dictionary
    letters, bounds, phonemes, phoneme_bounds = as_arrays(words)
    sounds, posterior = best_links(
        letters, bounds, phonemes, phoneme_bounds, probability, n_phonemes
    )
    for word, (spelling, spoken) in enumerate(words):
        chosen = sounds[bounds[word] : bounds[word + 1]].tolist()
        weight_of = {
            tuple(way): math.prod(probability[c, s] for c, s in zip(spelling, way, strict=True))
            for way in all_alignments(spelling, spoken, n_phonemes)
        }
        total = sum(weight_of.values())
        assert weight_of[tuple(chosen)] == pytest.approx(max(weight_of.values()))
        places: dict = defaultdict(float)
        for way in all_alignments(spelling, spoken, n_phonemes):
            used = 0
            for i, s in enumerate(way):
                used += 0 if s == 0 else 1 if s <= n_phonemes else 2
                places[i, s, used] += weight_of[tuple(way)] / total
        used = 0
        for i, s in enumerate(chosen):
            used += 0 if s == 0 else 1 if s <= n_phonemes else 2
            assert posterior[bounds[word] + i] == pytest.approx(places[i, s, used])


@given(dictionaries())
@settings(max_examples=30, deadline=None)
def test_each_step_makes_the_dictionary_more_probable(dictionary):
    words, _, _ = dictionary
    spellings = [[f"l{c}" for c in spelling] for spelling, _ in words]
    spoken = [[f"P{p}" for p in phonemes] for _, phonemes in words]
    likelihoods = align(spellings, spoken, tolerance=0.0).likelihoods
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(likelihoods))


def test_an_alignment_uses_up_all_phonemes_in_order():
    alignment = align(list(TOY), [spoken.split() for spoken in TOY.values()])
    for number, spoken in enumerate(TOY.values()):
        sounds = [sound for _, sound in alignment.word_links(number) if sound != "-"]
        assert "+".join(sounds).split("+") == spoken.split()


def test_of_two_equal_letters_the_second_sounds():
    alignment = align(list(TOY), [spoken.split() for spoken in TOY.values()])
    links = alignment.word_links(list(TOY).index("attack"))
    assert [sound for letter, sound in links if letter == "t"] == ["-", "T"]


def test_a_word_with_too_many_phonemes_has_no_alignment():
    alignment = align(["a", "w"], [["A"], ["D", "AH", "B", "AH", "L", "Y", "UW"]])
    assert alignment.word_links(1) == []
    assert alignment.rarest_links()[1] == 0.0
    with pytest.raises(InputError, match="more than two phonemes for each letter"):
        align(["w"], [["D", "AH", "B", "AH", "L", "Y", "UW"]])
    with pytest.raises(InputError, match="1 words with 0 pronunciations"):
        align(["w"], [])


def test_a_dictionary_gives_first_pronunciations_of_plain_words(tmp_path):
    file = tmp_path / "small.dict"
    file.write_text("'tis T IH1 Z\na AH0\nact AE1 K T\nact(2) AE1 K\ntax T AE1 K S # money\n")
    words, spoken = read_pronunciations(file)
    assert words == ["act", "tax"]
    assert spoken == [["AE1", "K", "T"], ["T", "AE1", "K", "S"]]
    file.write_text("act AE1 K T\ntax\n")
    with pytest.raises(ReadError, match=r"small\.dict:2: 'tax' has no pronunciation"):
        read_pronunciations(file)


def test_a_row_is_a_letter_with_its_neighbours_and_its_sound():
    spoken = [text.split() for text in TOY.values()]
    plain = [[phoneme.rstrip("012") for phoneme in word] for word in spoken]
    table = letter_table(list(TOY), spoken, align(list(TOY), plain), window=2)
    row = table.group_names.index("tax")
    first = int(np.flatnonzero(table.groups == row)[0])
    assert [table.value(column, first) for column in table.columns] == ["_", "_", "t", "a", "x"]
    assert table.columns == ("prev2", "prev1", "letter", "next1", "next2")
    sounds = [table.classes[label] for label in table.labels[table.groups == row]]
    assert sounds == ["0T", "1AE", "0K+S"]


def test_the_parts_share_classes_but_no_word(sample):
    train, valid, test = sample
    words = [{part.group_names[group] for group in np.unique(part.groups)} for part in sample]
    assert not words[0] & words[1]
    assert not words[0] & words[2]
    assert not words[1] & words[2]
    assert len(words[0]) == pytest.approx(8 * len(words[1]), rel=0.02)
    assert train.classes == valid.classes == test.classes
    assert train.vocabularies == test.vocabularies
    assert train.target == "sound"
    assert {"0K", "0-", "1AE", "0K+S"} <= set(train.classes)


def test_the_split_follows_the_seed(sample):
    again = letter_to_sound(max_words=3_000, seed=1)
    other = letter_to_sound(max_words=3_000, seed=2)
    for part, same, different in zip(sample, again, other, strict=True):
        assert np.array_equal(part.codes, same.codes)
        assert np.array_equal(part.labels, same.labels)
        assert part.codes.shape != different.codes.shape or (part.codes != different.codes).any()


def test_is_this_c_sounded_k(sample):
    train, _, test = sample
    question = letter_question(train, "c", "K")
    assert question.classes == ("no", "yes")
    assert "letter" not in question.columns
    focus = train.codes[:, train.column_index("letter")]
    is_c = focus == train.vocabularies[train.column_index("letter")].index("c") + 1
    assert len(question) == is_c.sum()
    expected = [train.classes[label] == "0K" for label in train.labels[is_c]]
    assert question.labels.tolist() == [int(answer) for answer in expected]
    # c is hard before a, soft before e: what the demo should find.
    nexts = question.vocabularies[question.columns.index("next1")]
    codes = question.codes[:, question.columns.index("next1")]
    before_a = question.labels[codes == nexts.index("a") + 1]
    before_e = question.labels[codes == nexts.index("e") + 1]
    assert before_a.mean() > 0.9
    assert before_e.mean() < 0.1
    assert letter_question(test, "c", "K").classes == question.classes


def test_stress_does_not_matter_to_the_question_of_a_vowel(sample):
    train = sample[0]
    question = letter_question(train, "a", "AE")
    every = letter_question(train, "a")
    stressed = [every.classes[label][1:] == "AE" for label in every.labels]
    assert question.labels.tolist() == [int(answer) for answer in stressed]
    assert len({name[0] for name in every.classes if name[1:] == "AE"}) > 1


def test_how_is_this_c_sounded(sample):
    question = letter_question(sample[0], "c")
    assert {"0K", "0S", "0CH", "0-"} <= set(question.classes)
    assert (np.bincount(question.labels, minlength=len(question.classes)) > 0).all()


def test_questions_that_cannot_be_asked_are_told(sample):
    with pytest.raises(InputError, match=r"'c' is never sounded 'M'; it is -, "):
        letter_question(sample[0], "c", "M")
    with pytest.raises(InputError, match="no letter '!' in the table"):
        letter_question(sample[0], "!", "K")


def test_links_agree_with_an_alignment_made_elsewhere(data_folder):
    if find("letter-to-sound") is None:
        pytest.skip(how_to_get("letter-to-sound"))
    words, spoken = read_pronunciations(cmudict_file())
    chosen = np.random.default_rng(0).choice(len(words), 3_000, replace=False)
    words, spoken = [words[i] for i in chosen], [spoken[i] for i in chosen]
    alignment = align(words, [[phoneme.rstrip("012") for phoneme in word] for word in spoken])
    assert alignment.mean_posterior > 0.94
    ours = letter_table(words, spoken, alignment, window=3)
    theirs = words_of(*(load("gs-cmudict", part) for part in ("train", "valid", "test")))
    same = total = 0
    for word, sounds in words_of(ours).items():
        if word in theirs:
            same += sum(a == b for a, b in zip(sounds, theirs[word], strict=True))
            total += len(sounds)
    assert total > 20_000
    assert same / total > 0.97


def words_of(*tables: NominalTable) -> dict[str, list[str]]:
    """Words and the sounds of their letters: a word begins where no letter stands before."""
    found: dict[str, list[str]] = {}
    for table in tables:
        before = table.codes[:, table.column_index("prev1")]
        edge = table.vocabularies[table.column_index("prev1")].index("_") + 1
        starts = np.append(np.flatnonzero(before == edge), len(table))
        focus = table.column_index("letter")
        letters = np.array(["", *table.vocabularies[focus]])[table.codes[:, focus]]
        sounds = np.array(table.classes)[table.labels]
        for begin, end in itertools.pairwise(starts.tolist()):
            found["".join(letters[begin:end])] = sounds[begin:end].tolist()
    return found
