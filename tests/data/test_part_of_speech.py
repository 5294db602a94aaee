"""Parts of speech of known and unknown words, made from tagged sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.corpora import corpus, find, how_to_get, locate
from featloom.data.table import NominalTable
from featloom.data.tasks.part_of_speech import part_of_speech
from featloom.data.tasks.ready import load
from featloom.errors import InputError

TRAIN = (
    "The/DT old/JJ man/NN walks/VBZ",
    "Walks/NNS in/IN Al-Quds/NNP",
    "We/PRP saw/VBD the/DT walks/NNS",
)
NEW = ("I/PRP saw/VBD Al/NNP", "the/DT walks/VBZ bored/VBD me/PRP")

sentences = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["a", "ab", "Abc", "a-b", "d", "e"]), st.sampled_from("XYZ")),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


def text(lines, tag="xpos"):
    """A text of sentences written as word/tag word/tag."""
    tokens = [[token.rsplit("/", 1) for token in line.split()] for line in lines]
    return tagged([[(form, name) for form, name in sentence] for sentence in tokens], tag)


def tagged(tokens, tag="xpos"):
    flat = [token for sentence in tokens for token in sentence]
    columns = {"form": [form for form, _ in flat], tag: [name for _, name in flat]}
    bounds = np.cumsum([0, *(len(sentence) for sentence in tokens)])
    return NominalTable.from_columns(columns, sequence_bounds=bounds)


def values(table, column):
    return [table.value(column, row) for row in range(len(table))]


def tags(table):
    return [table.classes[label] for label in table.labels]


def test_a_word_sees_the_tags_of_two_words_on_either_side_within_its_sentence():
    train, _, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW))
    around = ("prevtag2", "prevtag1", "nexttag1", "nexttag2")
    assert [train.value(name, 2) for name in around] == ["DT", "JJ", "VBZ", "_"]
    assert [train.value(name, 4) for name in around] == ["_", "_", "IN", "NNP"]


def test_a_word_shows_its_last_letters_its_hyphen_and_its_capital():
    train, _, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW))
    row = values(train, "word").index("Al-Quds")
    shown = ("last3", "last2", "last1", "hyphen", "capital")
    assert [train.value(name, row) for name in shown] == ["u", "d", "s", "yes", "yes"]
    row = values(train, "word").index("in")
    assert [train.value(name, row) for name in shown] == ["none", "i", "n", "no", "no"]


def test_known_words_are_those_that_training_has_in_the_same_form():
    train, valid, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW))
    assert len(train) == 11
    assert values(valid, "word") == ["saw", "the", "walks"]
    assert tags(valid) == ["VBD", "DT", "VBZ"]


def test_an_ambiguity_class_names_the_tags_that_training_has_for_the_word():
    train, valid, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW))
    assert values(valid, "ambiguity") == ["VBD", "DT", "NNS-VBZ"]
    assert train.value("ambiguity", values(train, "word").index("Walks")) == "NNS"


def test_rare_words_stand_in_for_unknown_ones():
    train, valid, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW), words="unknown")
    assert train.columns[-2:] == ("hyphen", "capital")
    assert tags(train) == ["DT", "JJ", "NN", "NNS", "IN", "NNP", "PRP", "VBD", "DT"]
    assert tags(valid) == ["PRP", "NNP", "VBD", "PRP"]
    more, _, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW), words="unknown", rare=2)
    assert len(more) == 11


def test_a_class_that_training_lacks_is_still_a_class():
    new = text(["Wow/UH"])
    train, valid, test = part_of_speech(text(TRAIN), new, new, words="unknown")
    assert train.classes == valid.classes == test.classes
    assert tags(valid) == ["UH"]
    assert "UH" not in tags(train)


def test_sentences_are_groups():
    train, valid, _ = part_of_speech(text(TRAIN), text(NEW), text(NEW), words="unknown")
    assert [train.group_names[group] for group in train.groups][3:6] == ["sentence 2"] * 3
    assert [valid.group_names[group] for group in valid.groups] == [
        "sentence 1",
        "sentence 1",
        "sentence 2",
        "sentence 2",
    ]


@given(sentences, sentences, sentences)
def test_every_word_of_the_other_texts_is_either_known_or_unknown(first, second, third):
    texts = [tagged(part) for part in (first, second, third)]
    known = part_of_speech(*texts)
    unknown = part_of_speech(*texts, words="unknown", rare=1000)
    for part in (1, 2):
        assert len(known[part]) + len(unknown[part]) == len(texts[part])
    assert len(known[0]) == len(unknown[0]) == len(texts[0])
    for table in (*known, *unknown):
        assert (table.labels >= 0).all()
    assert all((table.codes > 0)[:, -2:].all() for table in known)


@given(sentences, sentences)
def test_what_the_other_texts_hold_does_not_change_training(first, second):
    train = tagged(first)
    one, _, _ = part_of_speech(train, tagged(second), train)
    other, _, _ = part_of_speech(train, train, train)
    assert np.array_equal(one.codes, other.codes)
    assert one.vocabularies == other.vocabularies


def test_the_tag_can_be_another_column():
    one, other = text(TRAIN, "upos"), text(NEW, "upos")
    train, _, _ = part_of_speech(one, other, other, tag="upos")
    assert train.target == "tag"
    with pytest.raises(InputError, match="no column 'xpos'; there are form, upos"):
        part_of_speech(one, other, other)


def test_files_are_read(tmp_path):
    lines = [
        f"{n}\t{form}\t_\t_\t{name}\t_\t_\t_\t_\t_"
        for n, (form, name) in enumerate([("he", "PRP"), ("ran", "VBD")], start=1)
    ]
    path = tmp_path / "toy.conllu"
    path.write_text("\n".join(lines) + "\n\n")
    train, _, _ = part_of_speech(path, path, path)
    assert tags(train) == ["PRP", "VBD"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"words": "rare"}, "words is 'rare'; it must be 'known' or 'unknown'"),
        ({"rare": 0}, "rare must be 1 or more, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_told(settings, words):
    with pytest.raises(InputError, match=words):
        part_of_speech(text(TRAIN), text(NEW), text(NEW), **settings)


def test_a_word_without_a_tag_is_told():
    with pytest.raises(InputError, match="word 2 of the text has no tag in 'xpos'"):
        part_of_speech(text(["a/X b/_"]), text(NEW), text(NEW))


def test_without_sentences_there_are_no_neighbours():
    flat = NominalTable.from_columns({"form": ["a"], "xpos": ["X"]})
    with pytest.raises(InputError, match="the text has no sentences"):
        part_of_speech(flat, flat, flat)


def test_without_rare_words_nothing_stands_in_for_unknown_ones():
    with pytest.raises(InputError, match="no word of the training text is rare enough for rare=1"):
        part_of_speech(text(["a/X a/X"]), text(NEW), text(NEW), words="unknown")


@pytest.mark.parametrize(
    ("name", "rows", "n_classes", "n_columns"),
    [
        ("pos-known", (204_577, 23_059, 22_802), 49, 11),
        ("pos-unknown", (9_801, 2_088, 2_292), 43, 9),
    ],
)
def test_the_tasks_are_ready_with_one_call(name, rows, n_classes, n_columns, data_folder):
    if find(name) is None:
        pytest.skip(how_to_get(name))
    parts = [load(name, part) for part in ("train", "valid", "test")]
    assert tuple(len(part) for part in parts) == rows
    assert f"{sum(rows):,} words" == corpus(name).rows
    for part in parts:
        assert len(part.classes) == n_classes
        assert len(part.columns) == n_columns
    assert len(load(name)) == rows[0]


def test_a_task_lies_where_the_treebank_lies(data_folder):
    assert corpus("pos-known").files == corpus("ud_english_ewt").files
    if find("ud_english_ewt") is None:
        pytest.skip(how_to_get("ud_english_ewt"))
    assert locate("pos-unknown") == locate("ud_english_ewt")
