"""``featloom parse``: the file comes out as it was, with other trees; and what cannot be parsed."""

from __future__ import annotations

import json

import pytest

from featloom.data.readers import read_table
from featloom.learners.memory import MemoryClassifier
from featloom.learners.parser import DependencyParser

TREES = """\
# newdoc id = one
# text = he saw the cat
1\the\the\tPRON\t_\t_\t2\tnsubj\t_\tA=1
2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_
3-4\tthecat\t_\t_\t_\t_\t_\t_\t_\t_
3\tthe\tthe\tDET\t_\t_\t4\tdet\t_\t_
4\tcat\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
4.1\tseen\tsee\tVERB\t_\t_\t_\t_\t_\t_

1\tshe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


def bare(text: str) -> str:
    """The same sentences without their trees."""
    lines = []
    for line in text.splitlines():
        cells = line.split("\t")
        if len(cells) == 10:
            cells[6] = cells[7] = "_"
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parser")
    (folder / "train.conllu").write_text(TREES * 20)
    path = folder / "trees.featloom"
    DependencyParser(bits=14, epochs=3).fit(folder / "train.conllu").save(path)
    return path


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "new.conllu"
    path.write_text(TREES)
    return path


def test_trees_go_to_standard_output_and_words_beside_it(featloom, model, file):
    file.write_text(bare(TREES))
    answer = featloom("parse", model, file)
    assert (answer.code, answer.out) == (0, TREES)
    assert answer.err == "2 sentences, 7 tokens\n"
    assert featloom("parse", model, file, "--out", "-", "--quiet").out == TREES
    assert featloom("parse", model, file, "--quiet").err == ""


def test_trees_go_to_a_file(featloom, model, file, tmp_path):
    answer = featloom("parse", model, file, "--out", tmp_path / "parsed.conllu")
    assert answer.out == f"2 sentences, 7 tokens, trees in {tmp_path / 'parsed.conllu'}\n"
    assert (tmp_path / "parsed.conllu").read_text() == TREES


def test_scores_are_with_and_without_punctuation(featloom, model, file):
    answer = featloom("parse", model, file, "--score")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "2 sentences, 7 tokens; UAS 100.00 %, LAS 100.00 % without punctuation (6 tokens); "
        "UAS 100.00 % with it\n"
    )
    file.write_text(TREES.replace("2\tpunct", "1\tpunct").replace("obj", "iobj"))
    judged = json.loads(featloom("parse", model, file, "--score", "--json").out)["judged"]
    assert judged["uas"] == 1
    assert judged["uas_punctuation"] == pytest.approx(6 / 7)
    assert judged["las"] == pytest.approx(5 / 6)


def test_json_has_heads_and_relations(featloom, model, file):
    file.write_text(bare(TREES))
    found = json.loads(featloom("parse", model, file, "--json").out)
    assert found["heads"] == [[2, 0, 4, 2], [2, 0, 2]]
    assert found["relations"][1] == ["nsubj", "root", "punct"]
    assert found["judged"] is None


def test_scores_need_trees_to_compare_with(featloom, model, file):
    file.write_text(bare(TREES))
    answer = featloom("parse", model, file, "--score")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {file}:3:7: head '_' is not a number\n"


def test_a_bad_sentence_is_refused_or_left_as_it_was(featloom, model, file):
    file.write_text(bare(TREES) + "1\tbroken\n\n")
    answer = featloom("parse", model, file)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {file}:14: 2 columns, 10 expected\n"
    answer = featloom("parse", model, file, "--on-bad-row", "skip", "--quiet")
    assert (answer.code, answer.out) == (0, TREES + "1\tbroken\n\n")


def test_each_model_has_its_own_command(featloom, model, file, tickets, tmp_path):
    memory = tmp_path / "memory.featloom"
    MemoryClassifier().fit(read_table(tickets, target="escalated")).save(memory)
    said = f"featloom: {memory}: a model of kind 'memory'; 'featloom predict' uses it\n"
    assert featloom("parse", memory, file).err == said
    said = f"featloom: {model}: a model of kind 'parser'; 'featloom parse' uses it\n"
    assert featloom("predict", model, tickets).err == said
    assert featloom("tag", model, file).err == said


def test_what_is_no_model_and_what_are_no_sentences(featloom, model, file, tickets, tmp_path):
    absent = tmp_path / "absent"
    assert featloom("parse", absent, file).err == f"featloom: {absent}: no such file\n"
    answer = featloom("parse", model, tickets)
    assert answer.err == (
        f"featloom: {tickets}: no sentences in CoNLL-U's ten columns, "
        "with the number of the token first\n"
    )
    assert featloom("parse", model, absent).err == f"featloom: {absent}: no such file\n"
    answer = featloom("parse", tickets, file)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "not a featloom model" in answer.err


def test_heads_are_explained_by_the_templates_that_spoke_for_them(featloom, model, file, tmp_path):
    answer = featloom("parse", model, file, "--explain", "1", "--out", tmp_path / "parsed.conllu")
    tokens = answer.out.partition("2 sentences")[0].strip().split("\n\n")
    assert len(tokens) == 4
    heads = [token.splitlines()[0].partition(", ")[0] for token in tokens]
    assert heads == ["1 he  → 2 saw", "2 saw  → 0 (root)", "3 the  → 4 cat", "4 cat  → 2 saw"]
    for token in tokens:
        head, *reasons = token.splitlines()
        assert ", against " in head or head.endswith(", no other head is likely:")
        assert all("=" in reason or "(all others)" in reason for reason in reasons)
    assert (tmp_path / "parsed.conllu").read_text() == TREES
    result = json.loads(featloom("parse", model, file, "--explain", "5", "--json").out)
    assert [[token["head"] for token in s] for s in result["explanations"]] == result["heads"]
    assert result["explanations"][1][0]["token"] == "she"


def test_a_very_long_sentence_is_parsed_at_once_and_a_line_says_how(featloom, model, tmp_path):
    tokens = [("she", "PRON"), ("ran", "VERB"), (".", "PUNCT")] * 500
    lines = [
        f"{at}\t{word}\t{word}\t{tag}\t_\t_\t_\t_\t_\t_" for at, (word, tag) in enumerate(tokens, 1)
    ]
    file = tmp_path / "unbroken.conllu"
    file.write_text(bare(TREES) + "# one line for all\n" + "\n".join(lines) + "\n\n")
    answer = featloom("parse", model, file, "--json", "--quiet")
    assert answer.err == (
        f"featloom: warning: {file}:14: a sentence of 1,500 tokens ('she ran . she …') is parsed "
        "in 4 stretches of at most 500, which are joined at their roots; a blank line after each "
        "sentence makes better trees\n"
    )
    *_, heads = json.loads(answer.out)["heads"]
    # Each stretch ends with a full stop, and its first verb hangs on the first of all.
    assert heads[:3] == [2, 0, 2]
    assert heads[498:501] == [500, 2, 500]
    assert len(heads) == 1_500
