"""Features for CRFsuite are CRF++'s, and CRFsuite learns from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.formats.crfpp import expand_line, read_templates
from featloom.formats.crfsuite import feature_names, write_crfsuite

TEMPLATES = read_templates(
    "# words\nU00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,1]/%x[1,1]~\nU03:%x[-2,1]%x[2,1]\nU04\nB\n"
)
SENTENCES = [
    [("The", "DT"), ("train", "NN"), ("leaves", "VBZ"), ("at", "IN"), ("9:30", "CD")],
    [("A", "DT"), ("path", "NN"), ("is", "VBZ"), (r"C:\temp", "NN")],
]
LABELS = [["B-NP", "I-NP", "O", "O", "B-TIME"], ["B-NP", "I-NP", "O", "B-FILE:NAME"]]

# What CRFsuite reads: fields between tabs, a backslash before a colon or a backslash.
_ESCAPED = re.compile(r"\\([\\:])")
words = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"]), min_size=1)


def fields(path: Path) -> list[list[list[str]]]:
    """Label and features of the tokens of each sentence of a file."""
    sentences = path.read_bytes().decode().removesuffix("\n\n").split("\n\n")
    for line in "\n".join(sentences).split("\n"):
        for text in line.split("\t"):
            assert ":" not in _ESCAPED.sub("", text), "a colon would begin a value"
    return [
        [[_ESCAPED.sub(r"\1", text) for text in line.split("\t")] for line in sentence.split("\n")]
        for sentence in sentences
    ]


@given(st.lists(st.tuples(words, words), max_size=6))
def test_features_are_those_of_crfpp(sentence):
    unigrams = [line for line in TEMPLATES if line.kind == "U"]
    assert feature_names(sentence, TEMPLATES) == [
        [expand_line(line, sentence, i) for line in unigrams] for i in range(len(sentence))
    ]


@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_what_is_written_holds_every_feature(tmp_path_factory, sentence):
    path = tmp_path_factory.mktemp("crfsuite") / "train"
    labels = [f"L{word}" for word, _ in sentence]
    write_crfsuite(path, [sentence], [labels], TEMPLATES)
    names = feature_names(sentence, TEMPLATES)
    assert fields(path) == [
        [[label, *features] for label, features in zip(labels, names, strict=True)]
    ]


def test_a_file_has_a_token_a_line_and_an_empty_line_after_a_sentence(tmp_path):
    path = tmp_path / "train.crfsuite"
    write_crfsuite(path, SENTENCES, LABELS, read_templates("U1:%x[0,0]\nB\n"))
    assert path.read_text().splitlines()[3:] == [
        "O\tU1\\:at",
        "B-TIME\tU1\\:9\\:30",
        "",
        "B-NP\tU1\\:A",
        "I-NP\tU1\\:path",
        "O\tU1\\:is",
        "B-FILE\\:NAME\tU1\\:C\\:\\\\temp",
        "",
    ]


def test_crfsuite_learns_from_it(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    write_crfsuite(tmp_path / "train", SENTENCES, LABELS, TEMPLATES)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 0.01}, verbose=False)
    for sentence in fields(tmp_path / "train"):
        trainer.append([token[1:] for token in sentence], [token[0] for token in sentence])
    trainer.train(str(tmp_path / "model"))
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        assert [tagger.tag(feature_names(s, TEMPLATES)) for s in SENTENCES] == LABELS
        seen = {name for name, _ in tagger.info().state_features}
        assert {"U01:9:30", r"U01:C:\temp", "U00:_B-1", "U04"} <= seen


@pytest.mark.parametrize("line", ["B1:%x[0,0]", "*:%x[0,0]"])
def test_label_pairs_that_look_at_words_are_refused(line):
    with pytest.raises(InputError, match="CRFsuite has no label pairs that look at words"):
        feature_names(SENTENCES[0], read_templates(["U:%x[0,0]", line]))


def test_templates_must_look_at_words():
    with pytest.raises(InputError, match="there is no template of kind U"):
        feature_names(SENTENCES[0], read_templates(["B"]))


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match="reads column 7; token 0 has 2"):
        feature_names(SENTENCES[0], read_templates("U:%x[0,7]"))


@pytest.mark.parametrize(
    ("sentences", "labels", "words"),
    [
        ([], [], "no sentences to write"),
        ([[("a", "b")]], [["O", "O"]], "sentence 1: 2 labels for 1 tokens"),
        ([[("a", "b")]], [], "sentence 1 has no labels"),
        ([], [["O"]], "sentence 1 has no tokens"),
        ([[]], [[]], "sentence 1 is empty"),
        ([[("a", "b")]], [["#O"]], "label '#O' would be read as a comment"),
        ([[("a", "b")]], [[""]], "a label is empty"),
        ([[("a", "b")]], [["O\t"]], "holds a tab, line end or NUL"),
        ([[("a\tb", "b")]], [["O"]], r"feature 'U01:a\\tb' holds a tab, a line end or a NUL"),
        ([[("a\n", "b")]], [["O"]], "holds a tab, a line end or a NUL"),
    ],
)
def test_what_crfsuite_would_misread_is_refused(tmp_path, sentences, labels, words):
    with pytest.raises(InputError, match=words):
        write_crfsuite(tmp_path / "train", sentences, labels, TEMPLATES)
    assert not (tmp_path / "train").exists()
