"""Edge columns say of a head and a modifier what a reader of the sentence would say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from edge_twin import edge_value, random_sentences
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.edges import Candidates, EdgeColumn, EdgeReader, edge_table
from featloom.data.readers.conllu import read_conllu
from featloom.data.sentences import table_of_sentences, table_of_trees, take_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError

NAMES = [
    "head.form",
    "head.upos",
    "head.upos[-1]",
    "head.upos[+1]",
    "mod.form",
    "mod.upos",
    "mod.upos[-2]",
    "mod.upos[+3]",
    "mod.form[+1]",
    "side",
    "distance",
    "between.upos=VERB,AUX",
    "between.upos=PUNCT",
]


@pytest.fixture(scope="module")
def treebank(data_folder) -> NominalTable:
    """Sentences of Bosque: the first two hundred, as they come."""
    table = read_conllu(data_folder / "pt-bosque" / "ud" / "train.conll.xz")
    return first_sentences(table, 200)


def first_sentences(table: NominalTable, n: int) -> NominalTable:
    some = take_sentences(table, np.arange(n))
    return replace(some, heads=table.heads[: len(some)])


def plain_sentences(table: NominalTable) -> list[list[dict]]:
    columns = ("form", "upos")
    rows = [{name: table.value(name, row) for name in columns} for row in range(len(table))]
    bounds = table.sequence_bounds
    return [rows[a:b] for a, b in pairwise(bounds)]


def table_of(sentences, heads=None) -> NominalTable:
    tokens = [[(token["form"], token["upos"]) for token in sentence] for sentence in sentences]
    table = table_of_sentences(tokens, columns=("form", "upos"))
    if heads is None:
        return table
    return replace(table, heads=np.array([h for one in heads for h in one], dtype=np.int32))


def all_edges(sentences):
    """(sentence, head, modifier) by sentence, modifier and head."""
    return [
        (sentence, head, mod)
        for sentence in sentences
        for mod in range(1, len(sentence) + 1)
        for head in range(len(sentence) + 1)
        if head != mod
    ]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("head.form", EdgeColumn("head.form", "head", "form")),
        ("mod.xpos[-1]", EdgeColumn("mod.xpos[-1]", "mod", "xpos", -1)),
        ("head.upos[+12]", EdgeColumn("head.upos[+12]", "head", "upos", 12)),
        ("mod.form.suffix2[+1]", EdgeColumn("mod.form.suffix2[+1]", "mod", "form.suffix2", 1)),
        ("side", EdgeColumn("side", "side")),
        ("distance", EdgeColumn("distance", "distance")),
        ("between.xpos", EdgeColumn("between.xpos", "set", "xpos")),
        ("between.upos=VERB", EdgeColumn("between.upos=VERB", "count", "upos", 0, ("VERB",))),
        ("between.upos=a,b", EdgeColumn("between.upos=a,b", "count", "upos", 0, ("a", "b"))),
        ("between.feats=A=b", EdgeColumn("between.feats=A=b", "count", "feats", 0, ("A=b",))),
    ],
)
def test_the_name_of_an_edge_column_says_what_it_asks(name, column):
    assert EdgeColumn.of(name) == column


@pytest.mark.parametrize(
    "name", ["", "form", "head", "head.", "mod.", "between.", "between.upos=", "tail.form", "Side"]
)
def test_other_names_are_no_edge_columns(name):
    with pytest.raises(InputError, match=r"is no edge column; those are head\.COLUMN") as error:
        EdgeColumn.of(name)
    assert "\n" not in str(error.value)


def test_a_column_that_tokens_do_not_have_is_named_with_those_they_have():
    table = table_of([[{"form": "a", "upos": "X"}]])
    for name in ("head.lemma", "mod.lemma[-1]", "between.lemma", "between.lemma=a"):
        with pytest.raises(InputError, match="no column 'lemma'; there are form, upos"):
            EdgeReader.of(table, [name])


def test_all_columns_of_real_sentences_are_what_one_reads_off_the_page(treebank):
    sentences = plain_sentences(treebank)
    reader = EdgeReader.of(treebank, NAMES)
    rows = edge_table(reader, reader.read(treebank))
    edges = all_edges(sentences)
    assert len(rows) == len(edges) == reader.read(treebank).n_edges
    assert rows.columns == tuple(NAMES)
    picked = np.random.default_rng(0).choice(len(edges), 20_000, replace=False)
    for j, name in enumerate(NAMES):
        values = [None, *rows.vocabularies[j]]
        for row in picked.tolist():
            assert values[rows.codes[row, j]] == edge_value(*_edge(edges[row], name))


def _edge(edge, name):
    sentence, head, mod = edge
    return sentence, name, head, mod


def test_the_label_of_an_edge_says_whether_it_is_in_the_tree(treebank):
    reader = EdgeReader.of(treebank, ["side"])
    rows = edge_table(reader, reader.read(treebank))
    heads = iter(treebank.heads.tolist())
    expected = [
        int(head == gold)
        for sentence in plain_sentences(treebank)
        for mod in range(1, len(sentence) + 1)
        for gold in [next(heads)]
        for head in range(len(sentence) + 1)
        if head != mod
    ]
    assert rows.labels.tolist() == expected
    assert sum(expected) == len(treebank)
    assert (rows.classes, rows.target) == (("no", "head"), "head")


def test_labels_do_not_need_columns():
    table = table_of([[{"form": "a", "upos": "X"}, {"form": "b", "upos": "Y"}]], [[2, 0]])
    reader = EdgeReader.of(table, ["between.upos"])
    rows = edge_table(reader, reader.read(table))
    assert rows.columns == ()
    assert rows.labels.tolist() == [0, 1, 1, 0]


@given(st.integers(0, 10**6))
def test_edges_of_any_sentences_are_read_as_the_plain_reader_does(seed):
    sentences, heads = random_sentences(np.random.default_rng(seed), 3, longest=13)
    names = [name.replace("VERB,AUX", "N,V").replace("PUNCT", "D") for name in NAMES]
    table = table_of(sentences, heads)
    reader = EdgeReader.of(table, names)
    rows = edge_table(reader, reader.read(table))
    for row, (sentence, head, mod) in enumerate(all_edges(sentences)):
        found = [rows.value(name, row) for name in names]
        assert found == [edge_value(sentence, name, head, mod) for name in names]


def test_beyond_the_sentence_are_marks_that_tell_how_far_and_on_which_side():
    table = table_of([[{"form": "a", "upos": "X"}], [{"form": "b", "upos": "Y"}]])
    names = ["head.upos[-2]", "mod.upos[-1]", "mod.upos[-2]", "mod.upos[-3]", "mod.upos[+2]"]
    reader = EdgeReader.of(table, names)
    rows = edge_table(reader, reader.read(table))
    for row in range(2):
        found = [rows.value(name, row) for name in names]
        assert found == ["<before>2", "<root>", "<before>1", "<before>2", "<after>2"]


def test_what_was_not_seen_is_unknown_and_counts_for_nothing():
    known = table_of([[{"form": "a", "upos": "X"}, {"form": "b", "upos": "Y"}]])
    names = ["mod.form", "head.upos", "between.upos=Y", "between.upos"]
    reader = EdgeReader.of(known, names)
    new = table_of([[{"form": w, "upos": t} for w, t in (("b", "Z"), ("c", "Y"), ("a", "Z"))]])
    sentences = reader.read(new)
    rows = edge_table(reader, sentences)
    at = all_edges(plain_sentences(new)).index((plain_sentences(new)[0], 1, 3))
    assert [rows.value(name, at) for name in names[:3]] == ["a", None, "1"]
    assert sentences.tags[:, 0].tolist()[1:] == [0, 2, 0]


def test_a_value_that_is_spelt_like_a_mark_stays_a_value():
    table = table_of([[{"form": "<root>", "upos": "X"}, {"form": "<before>1", "upos": "X"}]])
    reader = EdgeReader.of(table, ["head.form"])
    codes = reader.read(table).head_codes[:, 0].tolist()
    assert codes == [3, 1, 2]


def test_sentences_without_tokens_have_a_root_and_no_edges():
    table = table_of([[], [{"form": "a", "upos": "X"}], []], [[], [0], []])
    reader = EdgeReader.of(table, ["head.form", "mod.form[+1]", "between.upos"])
    sentences = reader.read(table)
    assert len(sentences) == 3
    assert sentences.lengths.tolist() == [0, 1, 0]
    assert sentences.starts.tolist() == [0, 1, 3, 4]
    assert sentences.token_heads() == [[], [0], []]
    assert edge_table(reader, sentences).labels.tolist() == [1]


def test_no_sentences_have_no_edges():
    table = table_of([])
    reader = EdgeReader.of(table, ["head.form", "side", "between.upos=N"])
    assert len(reader.read(table)) == 0
    assert len(edge_table(reader, reader.read(table))) == 0


def test_every_other_token_and_the_root_are_candidates():
    sentences, _ = random_sentences(np.random.default_rng(2), 5, longest=6)
    table = table_of([[], *sentences])
    read = EdgeReader.of(table, ["side"]).read(table)
    candidates = Candidates.all(read)
    assert len(candidates) == read.n_edges
    for which, start in enumerate(read.starts[:-1]):
        n = int(read.lengths[which])
        for at in range(n + 1):
            first, last = candidates.starts[start + at : start + at + 2]
            expected = [h for h in range(n + 1) if h != at] if at else []
            assert candidates.heads[first:last].tolist() == expected


def test_candidates_alone_can_be_rows():
    sentences = [[{"form": w, "upos": "X"} for w in "abc"]]
    table = table_of(sentences, [[0, 1, 1]])
    reader = EdgeReader.of(table, ["head.form", "mod.form", "distance"])
    some = Candidates(np.array([0, 0, 1, 3, 4]), np.array([0, 1, 3, 0], dtype=np.int32))
    rows = edge_table(reader, reader.read(table), some)
    found = [tuple(rows.value(name, row) for name in rows.columns) for row in range(4)]
    assert found == [
        ("<root>", "a", "1"), ("a", "b", "1"), ("c", "b", "1"), ("<root>", "c", "3"),
    ]  # fmt: skip
    assert rows.labels.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([[("a", "a", "X", "_", "_", 2, "x"), ("b", "b", "X", "_", "_", 1, "x")]],
         "sentence 0: tokens 1, 2 form a cycle"),
        ([[("a", "a", "X", "_", "_", 1, "x")]], "sentence 0: token 1 is its own head"),
        ([[], [("a", "a", "X", "_", "_", 2, "x")]], "sentence 1: head 2 in a sentence of 1 tokens"),
        ([[("a", "a", "X", "_", "_", -1, "x")]], "sentence 0: head -1 in a sentence of 1 tokens"),
        ([[("a", "a", "X", "_", "_", 2**40, "x")]], f"sentence 0: head {2**40} in a sentence"),
        ([[("a", "a", "X", "_", "_", "0", "x")]], "head '0' is not a number"),
        ([[("a", "a", "X", "_", "_", None, "x")]], "head None is not a number"),
        ([[("a", "a", "X", "_", "_", True, "x")]], "head True is not a number"),
        ([[("a", "a", "X", "_", "_", 0.0, "x")]], "head 0.0 is not a number"),
        ([[("a", "a", "X", "_", "_", 0)]], "a token is (form, lemma, upos, xpos, feats), in"),
        ([[("a", "X")]], "a token is (form, lemma, upos, xpos, feats), in"),
        ([[()]], "a token is (form, lemma, upos, xpos, feats), in"),
        (["a b"], "a token is (form, lemma, upos, xpos, feats), in"),
        ([["a", "b"]], "a token is (form, lemma, upos, xpos, feats), in"),
        ([[("a", "a", "X", "_", "_", 0, "x")], [("a", "a", "X", "_", "_")]], "a token is (form"),
        ([[("a", "a", "X", "_", "_", 0, "x")], [tuple("aaX__0xy")]], "a token is (form"),
        ([[("a", "a", "X", "_", "_")], [("a", "a", "X", "_", "_", 0, "x")]], "a token is (form"),
        (None, "a list of sentences is expected, each a list of tokens"),
        ([None], "a list of sentences is expected, each a list of tokens"),
        ([[7]], "a list of sentences is expected, each a list of tokens"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_in_one_line(sentences, message):
    with pytest.raises(InputError) as error:
        table_of_trees(sentences)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 1, 0], "sentence 0: tokens 1, 2 form a cycle"),
        ([2, 0, 2], "sentence 1: head 2 in a sentence of 1 tokens"),
        ([-1, 0, 0], "sentence 0: head -1 in a sentence of 2 tokens"),
    ],
)
def test_a_table_whose_heads_are_no_trees_is_refused_too(heads, message):
    table = NominalTable.from_columns(
        {"form": ["a", "b", "c"]},
        sequence_bounds=np.array([0, 2, 3]),
        heads=np.array(heads, dtype=np.int32),
    )
    with pytest.raises(InputError, match=message):
        table_of_trees(table)


def test_trees_in_lists_become_the_table_that_a_file_of_them_is_read_as(tmp_path):
    tokens = [
        ("He", "he", "PRON", "PRP", "_", 2, "nsubj"),
        ("ran", "run", "V", "_", "_", 0, "root"),
    ]
    path = tmp_path / "two.conllu"
    lines = ["\t".join(map(str, (i, *t, "_", "_"))) for i, t in enumerate(tokens, start=1)]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    read, made = table_of_trees(path), table_of_trees([tokens])
    assert read.columns == made.columns
    assert read.vocabularies == made.vocabularies
    np.testing.assert_array_equal(read.codes, made.codes)
    np.testing.assert_array_equal(read.heads, made.heads)
    assert read.sequence_bounds.tolist() == made.sequence_bounds.tolist()
