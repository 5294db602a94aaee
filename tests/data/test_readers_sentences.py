"""Sentences and trees: blank lines, documents, comments, heads, and the places of faults."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.readers import read_conll, read_conllu
from featloom.data.readers.conllu import fault_of_tree
from featloom.errors import InputError, ReadError

NAME = "toy.conll"  # of a file that tests write

CHUNKS = "He PRP B-NP\nran VBD B-VP\n\nStop VB B-VP\n. . O\n"
TREE = [
    "1 He he PRON PRP Case=Nom 2 nsubj _ _",
    "2 ran run VERB VBD _ 0 root _ _",
    "3 home home ADV RB _ 2 advmod _ _",
]


def words_of(table, column="word"):
    bounds = table.sequence_bounds
    words = [table.value(column, row) for row in range(len(table))]
    return [words[a:b] for a, b in pairwise(bounds)]


def fails(path, words, read=read_conll, **options):
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    assert str(caught.value) == f"{path}{words}"


@pytest.mark.parametrize("separator", [" ", "\t", "  "])
def test_sentences_end_at_blank_lines(write, separator):
    table = read_conll(write(CHUNKS.replace(" ", separator)))
    assert words_of(table) == [["He", "ran"], ["Stop", "."]]
    assert (table.columns, table.target) == (("word", "pos"), "label")
    assert table.classes == ("B-NP", "B-VP", "O")
    assert table.groups is None


def test_a_line_of_white_space_ends_a_sentence(write):
    table = read_conll(write("a\tO\nb\tB\n\t\nc\tO\n \t \n\n\nd\tO"))
    assert words_of(table) == [["a", "b"], ["c"], ["d"]]


def test_blanks_at_the_end_of_a_line_are_no_part_of_the_label(write):
    assert read_conll(write("a\tO\nb\tB \n\nc\tO  \n")).classes == ("O", "B")


def test_white_space_other_than_blanks_and_tabs_can_be_a_token(write):
    table = read_conll(write("\u3000 X\na\u00a0b Y\nc Y\n"))
    assert words_of(table) == [["\u3000", "a\u00a0b", "c"]]


def test_documents_become_groups_and_empty_ones_do_not_count(write):
    text = (
        "a O\n\n-DOCSTART- O\n\n-DOCSTART- O\n\nb B\n\nc O\n-DOCSTART- O\n\nd O\n\n-DOCSTART- O\n"
    )
    table = read_conll(write(text))
    assert words_of(table) == [["a"], ["b"], ["c"], ["d"]]
    assert table.group_names == ("document 1", "document 2", "document 3")
    assert table.groups.tolist() == [0, 1, 1, 2]


def test_a_hash_can_be_a_comment_or_a_token(write):
    tabs = "# newdoc id = d1\n# text = # one\n#one\tO\n#\tB\n\n# newdoc id = d2\nx\tO\n"
    table = read_conll(write(tabs))
    assert words_of(table) == [["#one", "#"], ["x"]]
    assert table.group_names == ("d1", "d2")
    blanks = "# # B-NP\nof IN O\n5 CD O\n"
    assert words_of(read_conll(write(blanks))) == [["#", "of", "5"]]


def test_comments_can_be_declared(write):
    text = "#a comment\nx A\ny B\n"
    assert words_of(read_conll(write(text), comments=True)) == [["x", "y"]]
    fails(write("#a\tcomment\tof three\nx\tA\n"), ":1: 3 columns, 2 expected")
    only_hashes = "#a\tA\n#b\tB\n"
    assert words_of(read_conll(write(only_hashes))) == [["#a", "#b"]]


def test_columns_can_be_named_left_out_and_taken_where_present(write):
    text = "1\tAl\tB-ORG\t-\tann\n2\t:\tO\n3\tb\tO\t-\tann\n"
    fails(write(text), ":2: 3 columns, 5 expected")
    table = read_conll(write(text), columns=(None, "word", "label"), ragged=True)
    assert words_of(table) == [["Al", ":", "b"]]
    assert table.classes == ("B-ORG", "O")
    named = ("id", "word", "label", None, "annotator")
    table = read_conll(write(text), columns=named, target="label", ragged=True)
    assert table.columns == ("id", "word", "annotator")
    assert [table.value("annotator", row) for row in range(3)] == ["ann", None, "ann"]
    fails(
        write(text + "4\tx\n"),
        ":4: 2 columns, 3 expected",
        columns=(None, "word", "label"),
        ragged=True,
    )


def test_the_target_is_a_name_a_position_or_none(write):
    assert read_conll(write(CHUNKS), target="pos").columns == ("word", "label")
    assert read_conll(write(CHUNKS), target=1).target == "pos"
    table = read_conll(write(CHUNKS), target=None)
    assert (table.columns, table.labels) == (("word", "pos", "label"), None)
    fails(write(CHUNKS), ": no column 'ner'; there are word, pos, label", target="ner")
    fails(write("a\n\nb\n"), ": no columns beside the target")
    assert words_of(read_conll(write("a\n\nb\n"), target=None)) == [["a"], ["b"]]
    with pytest.raises(InputError, match="the target is a column that is left out"):
        read_conll(write(CHUNKS), columns=("word", "pos", None))


def test_faults_of_sentences(write):
    fails(write(CHUNKS + "odd line\n"), ":6: 2 columns, 3 expected")
    fails(write("a\tO\nb\t\n"), ":2:2: no label in column 'label'")
    fails(write("a O\nb O\n"), ": one class only in column 'label': 'O'; two are needed")
    fails(write("\n\n"), ": no sentences")
    fails(write("# only\n# comments\n"), ": no sentences", comments=True)
    path = write("")
    path.write_bytes(b"a O\nb\xff O\n")
    fails(path, ":2:2: byte 0xff is not UTF-8")


def test_a_sentence_with_a_bad_line_is_skipped_whole(write):
    path = write("a O\nb\nc\n\nd B\ne O\n\n")
    with pytest.warns(UserWarning, match="1 sentence skipped; the first: .*:2: 1 column, 2"):
        table = read_conll(path, on_bad_row="skip")
    assert words_of(table) == [["d", "e"]]


tokens = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1)
token = st.tuples(tokens, tokens, st.sampled_from(["B", "I", "O"])).filter(
    lambda cells: not cells[0].startswith(("#", "-DOCSTART-", "\ufeff"))
)


@settings(deadline=None)
@given(
    st.lists(st.lists(token, min_size=1, max_size=5), min_size=1, max_size=5),
    st.sampled_from([" ", "\t"]),
    st.sampled_from(["\n", "\t\n", "\n\n"]),
)
def test_sentences_are_read_back_as_they_were_written(folder, sentences, separator, blank):
    path = folder / "any.conll"
    text = blank.join("".join(separator.join(t) + "\n" for t in s) for s in sentences)
    path.write_text(text, encoding="utf-8", newline="")
    table = read_conll(path, require_labels=False)
    assert words_of(table) == [[cells[0] for cells in sentence] for sentence in sentences]
    assert words_of(table, "pos") == [[cells[1] for cells in sentence] for sentence in sentences]
    flat = [cells for sentence in sentences for cells in sentence]
    assert [table.classes[label] for label in table.labels] == [cells[2] for cells in flat]


def tree(*lines):
    return "".join(line.replace(" ", "\t") + "\n" for line in lines) + "\n"


def test_trees_have_forms_tags_relations_and_heads(write):
    table = read_conllu(write(tree(*TREE) + tree(*TREE[:2])))
    assert table.columns == ("form", "lemma", "upos", "xpos", "feats", "deprel")
    assert words_of(table, "lemma") == [["he", "run", "home"], ["he", "run"]]
    assert table.heads.tolist() == [2, 0, 2, 2, 0]
    assert table.labels is None
    assert read_conllu(write(tree(*TREE)), target="upos").classes == (
        "PRON",
        "VERB",
        "ADV",
    )
    with pytest.raises(InputError, match="no column 'pos'; there are form, lemma, upos"):
        read_conllu(write(tree(*TREE)), target="pos")


def test_multiword_tokens_and_empty_nodes_are_left_out(write):
    lines = ["1-2 Heran _ _ _ _ _ _ _ _", *TREE[:2], "2.1 has have AUX _ _ _ _ _ _", TREE[2]]
    assert read_conllu(write(tree(*lines))).heads.tolist() == [2, 0, 2]


def test_new_documents_become_groups(write):
    text = "# newdoc id = one\n# text = x\n" + tree(*TREE) + "# newdoc\n" + tree(*TREE)
    table = read_conllu(write(text))
    assert table.group_names == ("one", "document 2")
    assert table.groups.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("3 home home ADV RB _ 4 advmod _ _", ":3:7: head 4 in a sentence of 3 tokens"),
        ("3 home home ADV RB _ two advmod _ _", ":3:7: head 'two' is not a number"),
        ("3 home home ADV RB _ -1 advmod _ _", ":3:7: head '-1' is not a number"),
        ("3 home home ADV RB _ _ advmod _ _", ":3:7: head '_' is not a number"),
        ("3 home home ADV RB _ 3 advmod _ _", ":3:7: token 3 is its own head"),
        ("4 home home ADV RB _ 2 advmod _ _", ":3:1: token number 4, 3 expected"),
        ("x-y home home ADV RB _ 2 advmod _ _", ":3:1: 'x-y' is no token number"),
        ("3 home home", ":3: 3 columns, 10 expected"),
    ],
)
def test_faults_of_trees(write, line, words):
    path = write(tree(*TREE[:2], line) + tree(*TREE), "toy.conllu")
    fails(path, words, read_conllu)
    with pytest.warns(UserWarning, match="1 sentence skipped"):
        assert len(read_conllu(path, on_bad_row="skip")) == 3


def test_text_without_heads(write):
    blind = [line.replace(" 2 ", " _ ").replace(" 0 ", " _ ") for line in TREE]
    assert read_conllu(write(tree(*blind)), heads=False).heads is None


trees = st.lists(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            *[st.integers(0, n).filter(lambda h, k=k: h != k) for k in range(1, n + 1)]
        ).filter(lambda heads: fault_of_tree(heads) is None)
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(trees)
def test_heads_are_read_back_as_they_were_written(folder, trees):
    path = folder / "any.conllu"
    lines = [
        [f"{k} w{k} _ X _ _ {head} dep _ _" for k, head in enumerate(heads, start=1)]
        for heads in trees
    ]
    path.write_text("".join(tree(*sentence) for sentence in lines))
    table = read_conllu(path)
    assert table.heads.tolist() == [head for heads in trees for head in heads]
    assert words_of(table, "form") == [[f"w{k + 1}" for k in range(len(h))] for h in trees]
