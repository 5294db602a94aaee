"""Predicted trees go into a copy of the file; all else in it stays as it was."""

from __future__ import annotations

import itertools
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.readers import read_conllu
from featloom.data.treebank import write_heads
from featloom.errors import InputError, ReadError

RANGE = "2-3\tdel" + "\t_" * 8
EMPTY = "1.1\tx" + "\t_" * 8
TEXT = (
    "# newdoc id = a\n# sent_id = 1\n"
    "1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t2:nsubj\tA=1\n"
    f"{EMPTY}\n{RANGE}\n"
    "2\tran\trun\tVERB\tVBD\t_\t0\troot\t0:root\t_\n"
    "3\toff\toff\tADV\tRB\t_\t2\tadvmod\t2:advmod\t_\n"
    "\n# a comment between sentences\n\n"
    "1\tStop\tstop\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
)


def heads_of(table):
    return [table.heads[a:b] for a, b in itertools.pairwise(table.sequence_bounds.tolist())]


def relations_of(table):
    j = table.column_index("deprel")
    names = np.array(table.vocabularies[j], dtype=object)[table.codes[:, j] - 1].tolist()
    return [names[a:b] for a, b in itertools.pairwise(table.sequence_bounds.tolist())]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.conllu"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trees")


def test_only_heads_and_relations_change(source, tmp_path):
    target = tmp_path / "target.conllu"
    write_heads(source, target, [[0, 3, 1], np.array([0])], [["root", "x", "y"], ["z"]])
    before, after = TEXT.splitlines(), target.read_text().splitlines()
    assert len(before) == len(after)
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert [before[n].split("\t")[1] for n in changed] == ["He", "ran", "off", "Stop"]
    assert after[changed[0]] == "1\tHe\the\tPRON\tPRP\t_\t0\troot\t2:nsubj\tA=1"
    assert read_conllu(target).heads.tolist() == [0, 3, 1, 0]


def test_without_relations_none_are_claimed(source, tmp_path):
    target = tmp_path / "target.conllu"
    write_heads(source, target, [[2, 0, 2], [0]])
    assert {name for names in relations_of(read_conllu(target)) for name in names} == {"_"}


def test_a_file_may_be_written_over_itself(source):
    write_heads(source, source, [[2, 0, 1], [0]])
    assert read_conllu(source).heads.tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize(
    ("heads", "relations", "words"),
    [
        ([[2, 0, 2]], None, "no heads for sentence 2, from line 11 on"),
        ([[2, 0, 2], [0], [0]], None, "heads for more than its 2 sentences"),
        ([[2, 0], [0]], None, "sentence 1, from line 1 on: 3 tokens and 2 heads"),
        ([[2, 3, 2], [0]], None, "sentence 1, from line 1 on: tokens 2, 3 form a cycle"),
        ([[2, 0, 4], [0]], None, "head 4 in a sentence of 3 tokens"),
        ([[2, 0, -1], [0]], None, "head -1 in a sentence of 3 tokens"),
        ([[2, 0, 0.5], [0]], None, "heads must be whole numbers"),
        ([[2, 0, 2], [0]], [["a", "b", "c"]], "sentence 2, .*: 1 tokens and 0 relations"),
        ([[2, 0, 2], [0]], [["a", "b"], ["c"]], "sentence 1, .*: 3 tokens and 2 relations"),
        ([[2, 0, 2], [0]], [["a", "b", "c"], ["d"], []], "relations for more than its 2"),
        ([[2, 0, 2], [0]], [["a", "b\tc", "d"], ["e"]], "cannot stand in a column"),
    ],
)
def test_predictions_that_do_not_fit_leave_no_file(
    source, tmp_path, capsys, heads, relations, words
):
    target = tmp_path / "target.conllu"
    target.write_text("what stood there")
    with pytest.raises(InputError, match=words):
        write_heads(source, target, heads, relations)
    assert target.read_text() == "what stood there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.conllu", "target.conllu"]
    with pytest.raises(InputError, match=words):
        write_heads(source, "-", heads, relations)
    assert capsys.readouterr().out == ""


def test_trees_go_to_standard_output(source, capsys):
    write_heads(source, "-", heads_of(read_conllu(source)), relations_of(read_conllu(source)))
    assert capsys.readouterr().out == TEXT


def test_sentences_that_were_not_read_are_copied_as_they_are(tmp_path):
    source, target = tmp_path / "source.conllu", tmp_path / "target.conllu"
    cycle = "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
    ragged = "1\ttoo\tfew\n\n"
    source.write_text(cycle + TEXT + ragged)
    with pytest.warns(UserWarning, match="2 sentences skipped"):
        table = read_conllu(source, on_bad_row="skip")
    write_heads(source, target, heads_of(table), relations_of(table), on_bad_row="skip")
    assert target.read_text() == source.read_text()
    with pytest.raises(ReadError, match=r":1:7: tokens 1, 2 form a cycle"):
        write_heads(source, target, heads_of(table))
    # Whoever read no heads saw no cycle.
    with pytest.warns(UserWarning, match="1 sentence skipped"):
        read_conllu(source, heads=False, on_bad_row="skip")
    new = [[0, 1], *heads_of(table)]
    write_heads(source, target, new, with_heads=False, on_bad_row="skip")
    with pytest.warns(UserWarning, match="1 sentence skipped"):
        assert read_conllu(target, on_bad_row="skip").heads.tolist()[:2] == [0, 1]


def test_lines_that_are_no_text_cannot_be_copied(tmp_path):
    source = tmp_path / "source.conllu"
    source.write_bytes(b"# \xff\n" + TEXT.encode())
    with pytest.raises(ReadError, match=r":1:3: byte 0xff is not UTF-8"):
        write_heads(source, tmp_path / "target.conllu", [], on_bad_row="skip")


def test_plain_text_is_not_written_under_the_name_of_a_compressed_file(source, tmp_path):
    with pytest.raises(InputError, match=r"written as plain text; choose a name without"):
        write_heads(source, tmp_path / "target.conllu.xz", [[2, 0, 2], [0]])
    with pytest.raises(InputError, match=r"cannot write .*: no such file or directory"):
        write_heads(source, tmp_path / "nowhere" / "target.conllu", [[2, 0, 2], [0]])


def test_a_treebank_with_its_own_trees_is_the_same_treebank(data_folder, tmp_path):
    with lzma.open(data_folder / "pt-bosque" / "ud" / "dev.conll.xz", "rt", newline="") as file:
        text = file.read()
    source, target = tmp_path / "dev.conll", tmp_path / "copy.conll"
    source.write_text(text, newline="")
    table = read_conllu(source)
    write_heads(source, target, heads_of(table), relations_of(table))
    assert target.read_bytes() == source.read_bytes()
    chains = [range(len(heads)) for heads in heads_of(table)]
    write_heads(data_folder / "pt-bosque" / "ud" / "dev.conll.xz", target, chains)
    assert read_conllu(target).heads.tolist() == [head for chain in chains for head in chain]


words = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\x85\u2028\u2029"),
    max_size=8,
)
cell = words.filter(bool)


@st.composite
def sentences(draw):
    """The lines of a sentence, and its heads."""
    lines = [f"#{text}" for text in draw(st.lists(words, max_size=3))]
    heads = []
    for k in range(1, draw(st.integers(0, 4)) + 1):
        if draw(st.booleans()):
            lines.append(f"{k}-{k + 1}\t" + "\t".join(draw(st.lists(cell, min_size=9, max_size=9))))
        cells = draw(st.lists(cell, min_size=9, max_size=9))
        heads.append(draw(st.integers(0, k - 1)))
        cells[5] = str(heads[-1])
        lines.append(f"{k}\t" + "\t".join(cells))
        if draw(st.booleans()):
            lines.append(f"{k}.1\t" + "\t".join(draw(st.lists(cell, min_size=9, max_size=9))))
    return [*lines, draw(st.sampled_from(["", " ", "\t"]))], heads


@given(st.lists(sentences(), min_size=1, max_size=4))
def test_a_file_with_its_own_trees_is_the_same_file(folder, made):
    source, target = folder / "any.conllu", folder / "copy.conllu"
    text = "# file\n" + "".join(f"{line}\n" for lines, _ in made for line in lines)
    source.write_text(text, encoding="utf-8", newline="")
    heads = [heads for _, heads in made if heads]
    relations = [
        [line.split("\t")[7] for line in lines if line.partition("\t")[0].isdigit()]
        for lines, heads in made
        if heads
    ]
    write_heads(source, target, heads, relations)
    assert target.read_bytes().decode() == text
