"""Heads of treebanks form trees, or the line at which they do not is told."""

from __future__ import annotations

import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.corpora import corpus, verify
from featloom.data.readers import read_conllu
from featloom.data.readers.conllu import fault_of_tree
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError

NAME = "toy.conllu"  # of a file that tests write


def sentence(heads, *, comments=()):
    rows = [f"{k}\tw{k}\tl{k}\tN\tn\t_\t{h}\tdep\tc{k}\t*" for k, h in enumerate(heads, start=1)]
    return "".join(f"{row}\n" for row in [*comments, *rows, ""])


@st.composite
def trees(draw, most=12):
    """Heads of a tree: tokens in any order, each hung on one that is already there."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for place, token in enumerate(order):
        heads[token - 1] = draw(st.sampled_from([0, *order[:place]]))
    return heads


def reaches_the_root(heads, token):
    for _ in heads:
        token = heads[token - 1]
        if token == 0:
            return True
    return False


@pytest.mark.parametrize(
    ("heads", "line", "words"),
    [
        ([0, 1, 5, 3, 4], 5, "tokens 3, 5, 4 form a cycle"),
        ([2, 1], 3, "tokens 1, 2 form a cycle"),
        # The cycle is what is told, not the tokens that hang on it.
        ([2, 3, 4, 3, 0], 5, "tokens 3, 4 form a cycle"),
        ([4, 1, 2, 3, 0, 5], 3, "tokens 1, 4, 3, 2 form a cycle"),
        # Of two cycles the one that a reader of the file meets first.
        ([0, 3, 2, 5, 4], 4, "tokens 2, 3 form a cycle"),
        ([0, 3, 4], 5, "head 4 in a sentence of 3 tokens"),
        ([0, 2], 4, "token 2 is its own head"),
    ],
)
def test_what_is_no_tree_is_refused_at_its_line(write, heads, line, words):
    comments = ["# sent_id = 1", "# text = x"]
    path = write(sentence(heads, comments=comments) + sentence([0]))
    with pytest.raises(ReadError) as error:
        read_conllu(path)
    assert str(error.value) == f"{path}:{line}:7: {words}"
    with pytest.warns(UserWarning, match="1 sentence skipped"):
        assert read_conllu(path, on_bad_row="skip").heads.tolist() == [0]
    assert len(read_conllu(path, heads=False)) == len(heads) + 1


def test_a_long_cycle_is_told_in_short(write):
    heads = [*range(2, 301), 1]
    with pytest.raises(ReadError, match=r":1:7: tokens 1, 2, 3, .*, 20, … form a cycle$"):
        read_conllu(write(sentence(heads)))


def test_a_sentence_may_have_several_roots_but_not_none(write):
    assert read_conllu(write(sentence([0, 1, 0]))).heads.tolist() == [0, 1, 0]
    with pytest.raises(ReadError, match="form a cycle"):
        read_conllu(write(sentence([2, 3, 1])))


@pytest.mark.parametrize("size", [1, 300])
def test_sentences_of_any_size(write, size):
    heads = [*range(size)]
    table = read_conllu(write(sentence(heads)))
    assert table.heads.tolist() == heads
    assert table.sequence_bounds.tolist() == [0, size]


def test_heads_count_tokens_and_neither_ranges_nor_empty_nodes(write):
    lines = sentence([3, 1, 0]).splitlines()
    range_line = "2-3\tdel" + "\t_" * 8
    empty = "2.1\tx" + "\t_" * 8
    text = "\n".join([lines[0], range_line, lines[1], empty, lines[2], "", ""])
    table = read_conllu(write(text))
    assert table.heads.tolist() == [3, 1, 0]
    assert table.vocabularies[0] == ("w1", "w2", "w3")
    cycle = text.replace("\t0\tdep", "\t1\tdep")
    with pytest.raises(ReadError, match=r":1:7: tokens 1, 3 form a cycle$"):
        read_conllu(write(cycle))


def test_missing_heads_are_refused_unless_none_are_wanted(write):
    path = write(sentence([0, "_"]))
    with pytest.raises(ReadError, match=r":2:7: head '_' is not a number$"):
        read_conllu(path)
    assert read_conllu(path, heads=False).heads is None


@given(trees())
def test_a_tree_has_no_fault(heads):
    assert fault_of_tree(heads) is None


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_heads_are_a_tree_if_and_only_if_every_token_reaches_the_root(heads):
    is_tree = all(reaches_the_root(heads, token) for token in range(1, len(heads) + 1))
    assert (fault_of_tree(heads) is None) == is_tree


def test_the_last_two_columns_are_read_where_they_have_names(write):
    path = write(sentence([2, 0]))
    assert "chunk" not in read_conllu(path).columns
    table = read_conllu(path, last=("chunk", "clause"))
    assert table.columns[-2:] == ("chunk", "clause")
    assert [table.value("chunk", row) for row in (0, 1)] == ["c1", "c2"]
    labelled = read_conllu(path, last=("chunk", "clause"), target="chunk")
    assert labelled.classes == ("c1", "c2")
    assert "chunk" not in labelled.columns


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (("chunk",), r"last is \('chunk',\); it must be two names, for columns 9 and 10"),
        ("ab", "last is 'ab'; it must be two names"),
        (("form", "clause"), "column 'form' appears twice"),
        (("x", "x"), "column 'x' appears twice"),
    ],
)
def test_names_of_the_last_columns_must_fit(write, last, words):
    with pytest.raises(InputError, match=words):
        read_conllu(write(sentence([0])), last=last)


def test_compressed_treebanks_are_read(write):
    path = write(lzma.compress(sentence([2, 0]).encode()), "toy.conll.xz")
    assert read_conllu(path).heads.tolist() == [2, 0]


def test_faults_are_told_in_the_order_of_the_file(write):
    bad_width = "1\tone\n"
    with pytest.raises(ReadError, match=r":1: 2 columns, 10 expected$"):
        read_conllu(write(bad_width.encode() + b"2\t\xff\n"))


@pytest.mark.parametrize(
    ("name", "part", "tokens", "sentences"),
    [
        ("bosque", "valid", 28_447, 1_172),
        ("bosque", "test", 27_604, 1_167),
        ("floresta", "valid", 17_866, 781),
        ("floresta", "test", 6_056, 293),
    ],
)
def test_portuguese_treebanks_are_ready_by_name(name, part, tokens, sentences, data_folder):
    table = load(name, part)
    assert (len(table), len(table.sequence_bounds) - 1) == (tokens, sentences)
    roots = np.add.reduceat(table.heads == 0, table.sequence_bounds[:-1])
    assert roots.tolist() == [1] * sentences
    assert ("clause" in table.columns) == (name == "floresta")
    assert verify(name) == []
    assert corpus(name).files == corpus(corpus(name).made_from).files
