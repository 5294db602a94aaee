"""``featloom tag``: every line comes out with its label; doubt on request; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from featloom.data.readers import read_table
from featloom.data.sentences import table_of_sentences
from featloom.learners.memory import MemoryClassifier
from featloom.learners.tagger import SequenceTagger
from featloom.runs import Run

SENTENCES = [
    [("the", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sleeps", "VBZ", "B-VP")],
    [("a", "DT", "B-NP"), ("dog", "NN", "I-NP"), ("barks", "VBZ", "B-VP")],
    [("they", "PRP", "B-NP"), ("sleep", "VBP", "B-VP"), (".", ".", "O")],
] * 4
TOKENS = "the DT\nfish NN\nswims VBZ\n\nthey PRP\nbark VBP\n. .\n"
LABELS = ["B-NP", "I-NP", "B-VP", "B-NP", "B-VP", "O"]


def learned(
    templates=("U0:%x[0,1]", "U1:%x[-1,1]", "U2:%x[0,0]", "B"), columns=("word", "pos")
) -> SequenceTagger:
    table = table_of_sentences(
        [[token[:2] for token in s] for s in SENTENCES],
        [[token[2] for token in s] for s in SENTENCES],
        columns=columns,
    )
    return SequenceTagger(templates=list(templates), random_state=0).fit(table)


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "chunks.featloom"
    learned().save(path)
    return path


@pytest.fixture
def write(tmp_path):
    def written(text: str, name: str = "new.conll") -> Path:
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return written


def last_cells(text: str) -> list[str]:
    return [line.split()[-1] for line in text.splitlines() if line.strip()]


def test_a_token_line_comes_out_with_its_label(featloom, model, write):
    answer = featloom("tag", model, write(TOKENS))
    assert (answer.code, answer.err) == (0, "2 sentences, 6 tokens\n")
    assert answer.out == (
        "the DT B-NP\nfish NN I-NP\nswims VBZ B-VP\n\nthey PRP B-NP\nbark VBP B-VP\n. . O\n"
    )


def test_the_gold_labels_stay_and_the_answers_are_judged(featloom, model, write, tmp_path):
    gold = iter(["B-NP", "I-NP", "B-VP", "B-NP", "B-NP", "O"])
    text = "".join(f"{line} {next(gold)}\n" if line else "\n" for line in TOKENS.split("\n")[:-1])
    answer = featloom("tag", model, write(text), "--out", tmp_path / "tagged.conll")
    assert answer.out == (
        f"2 sentences, 6 tokens, tagged in {tmp_path / 'tagged.conll'}; "
        "chunk F1 75.00 %, token accuracy 83.33 %\n"
    )
    assert last_cells((tmp_path / "tagged.conll").read_text()) == LABELS
    assert (tmp_path / "tagged.conll").read_text().startswith("the DT B-NP B-NP\n")


def test_documents_tabs_and_comments_are_left_as_they_are(featloom, model, write):
    text = "# newdoc id = d1\nthe\tDT\nfish\tNN\n\n-DOCSTART-\t-X-\n\nthey\tPRP\n"
    answer = featloom("tag", model, write(text))
    assert answer.out == (
        "# newdoc id = d1\nthe\tDT\tB-NP\nfish\tNN\tI-NP\n\n-DOCSTART-\t-X-\n\nthey\tPRP\tB-NP\n"
    )


def test_line_ends_of_windows_are_no_part_of_a_cell(featloom, model, write):
    windows = featloom("tag", model, write(TOKENS.replace("\n", "\r\n")))
    assert windows.out == featloom("tag", model, write(TOKENS)).out


def test_probabilities_stand_beside_the_labels(featloom, model, write):
    answer = featloom("tag", model, write(TOKENS), "--proba")
    shown = [cell.rpartition("/") for cell in last_cells(answer.out)]
    assert [label for label, _, _ in shown] == LABELS
    assert all(0 < float(share) <= 1 for _, _, share in shown)


def test_the_best_answers_of_a_sentence_follow_one_another(featloom, model, write):
    answer = featloom("tag", model, write(TOKENS), "--nbest", "2")
    blocks = answer.out.strip("\n").split("\n\n")
    heads = [block.splitlines()[0].split() for block in blocks]
    assert [(mark, rank) for mark, rank, _ in heads] == [("#", "0"), ("#", "1")] * 2
    shares = [float(share) for _, _, share in heads]
    assert shares[0] >= shares[1]
    assert shares[2] >= shares[3]
    assert [line.split()[-1] for line in blocks[0].splitlines()[1:]] == LABELS[:3]


def test_json_holds_labels_and_doubt(featloom, model, write):
    result = json.loads(featloom("tag", model, write(TOKENS), "--proba", "--json").out)
    assert [label for sentence in result["labels"] for label in sentence] == LABELS
    assert (result["sentences"], result["tokens"], result["judged"]) == (2, 6, None)
    assert len(result["shares"][0][0]) == len(result["classes"])
    result = json.loads(featloom("tag", model, write(TOKENS), "--nbest", "3", "--json").out)
    assert len(result["nbest"][0]) == 3


def test_columns_can_be_named_in_another_order(featloom, model, write):
    turned = "".join(
        " ".join(reversed(line.split())) + " x\n" if line else "\n"
        for line in TOKENS.split("\n")[:-1]
    )
    answer = featloom("tag", model, write(turned), "--columns", "pos,word,-")
    assert last_cells(answer.out) == LABELS


def test_a_column_that_no_template_looks_at_may_be_absent(featloom, tmp_path, write):
    learned(["U0:%x[0,1]", "B"]).save(tmp_path / "tags-only.featloom")
    tags = "DT\nNN\n\nPRP\n"
    answer = featloom("tag", tmp_path / "tags-only.featloom", write(tags), "--columns", "pos")
    assert last_cells(answer.out) == ["B-NP", "I-NP", "B-NP"]


def test_a_run_remembers_where_its_labels_stand(featloom, tmp_path, write):
    first = "".join(
        "".join(f"{chunk} {word} {pos}\n" for word, pos, chunk in s) + "\n" for s in SENTENCES
    )
    train = write(first, "train.conll")
    named = ("--columns", "chunk,word,pos", "--target", "chunk", "--strategy", "outward")
    run = tmp_path / "run"
    assert featloom("select", train, *named, "--window", "1", "--out", run, "--quiet").code == 0
    judged = json.loads(featloom("tag", run, train, "--json").out)["judged"]
    assert (judged["metric"], judged["value"]) == ("chunk F1", 1.0)
    assert last_cells(featloom("tag", run, write(TOKENS)).out) == LABELS


def test_a_treebank_gets_one_more_column(featloom, tmp_path, write):
    head = "# text = the fish\n1-2\tthefish" + "\t_" * 8 + "\n"
    rows = ["1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_", "2\tfish\tfish\tNOUN\tNN\t_\t0\troot\t_\t_"]
    path = write(head + "\n".join(rows) + "\n\n", "new.conllu")
    learned(["U0:%x[0,1]", "B"], columns=("form", "xpos")).save(tmp_path / "ud.featloom")
    answer = featloom("tag", tmp_path / "ud.featloom", path)
    assert answer.out == head + f"{rows[0]}\tB-NP\n{rows[1]}\tI-NP\n\n"


# What cannot be used


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the DT\nfish\n", "new.conll:2: 1 column, 2 expected"),
        (
            "the\nfish\n",
            "new.conll: 1 column; the model's sentences have 2 (word, pos), or 3 with the label; "
            "name others by --columns",
        ),
        ("the DT x y\n", "new.conll: 4 columns; the model's sentences have 2 (word, pos)"),
        ("\n\n", "new.conll: no sentences"),
    ],
    ids=["ragged", "too few", "too many", "empty"],
)
def test_files_that_cannot_be_tagged_are_told_in_one_line(featloom, model, write, text, said):
    answer = featloom("tag", model, write(text))
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert said in answer.err


def test_a_column_that_the_templates_look_at_must_be_there(featloom, model, write):
    answer = featloom("tag", model, write(TOKENS), "--columns", "word,lemma")
    assert answer.code == 1
    assert answer.err.endswith(
        "new.conll: no column 'pos', which the model looks at; there are word, lemma\n"
    )


def test_a_long_text_without_blank_lines_is_wondered_at(featloom, model, write):
    answer = featloom("tag", model, write("fish NN\n" * 501))
    assert answer.code == 0
    assert answer.err.splitlines()[0] == (
        "featloom: warning: new.conll: no blank line between sentences; "
        "all 501 tokens are taken as one"
    )


def test_a_label_never_met_counts_as_wrong(featloom, model, write):
    answer = featloom("tag", model, write("the DT B-ADVP\nfish NN I-NP\n"))
    assert answer.code == 0
    first, second = answer.err.splitlines()
    assert first.endswith("label 'B-ADVP' (1 token) was not met in training and counts as wrong")
    assert second.endswith("token accuracy 50.00 %")


def test_two_ways_to_show_doubt_are_one_too_many(featloom, model, write):
    answer = featloom("tag", model, write(TOKENS), "--proba", "--nbest", "2")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "--proba and --nbest" in answer.err


def test_each_model_has_its_own_command(featloom, model, tickets, tmp_path, write):
    memory = tmp_path / "memory.featloom"
    MemoryClassifier().fit(read_table(tickets, target="escalated")).save(memory)
    answer = featloom("tag", memory, write(TOKENS))
    assert (answer.code, answer.out) == (1, "")
    said = f"featloom: {memory}: a model of kind 'memory'; 'featloom predict' uses it\n"
    assert answer.err == said
    answer = featloom("predict", model, tickets)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {model}: a model of kind 'tagger'; 'featloom tag' uses it\n"


def test_a_run_without_a_model_says_how_to_go_on(featloom, tmp_path, write):
    run = Run.create(tmp_path / "run")
    answer = featloom("tag", run.path, write(TOKENS))
    assert answer.err == (
        f"featloom: {run.path} has not finished; go on by 'featloom resume {run.path}'\n"
    )
    answer = featloom("tag", tmp_path / "nowhere.featloom", write(TOKENS))
    assert answer.err == f"featloom: {tmp_path / 'nowhere.featloom'}: no such file\n"


def test_labels_are_explained_by_the_features_that_spoke_for_them(featloom, model, write, tmp_path):
    file = write(TOKENS)
    answer = featloom("tag", model, file, "--explain", "1", "--out", tmp_path / "tagged.conll")
    tokens = answer.out.partition("2 sentences")[0].strip().split("\n\n")
    assert len(tokens) == 3
    head, strongest, *_ = tokens[1].splitlines()
    assert head.startswith("fish NN  → I-NP, against ")
    weight, name = strongest.split(maxsplit=1)
    assert weight.startswith("+")
    assert name in ("pos=NN", "pos[-1]=DT", "(after B-NP)", "(before B-VP)")
    assert last_cells((tmp_path / "tagged.conll").read_text()) == LABELS
    result = json.loads(featloom("tag", model, file, "--explain", "9", "--json").out)
    assert [len(sentence) for sentence in result["explanations"]] == [3, 3]
    first = result["explanations"][0][0]
    assert (first["token"], first["answer"]) == ("the DT", "B-NP")
    assert {"name", "weight"} == set(first["features"][0])
