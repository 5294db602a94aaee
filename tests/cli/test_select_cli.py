"""``featloom select``: the templates it chooses, what it prints and keeps; that it goes on after a
stop; and what it says of sentences it cannot use."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from featloom.cli.select import load_parts
from featloom.data.sentences import table_of_sentences
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search.parts import sentence_parts
from featloom.methods.template_search.study import compare_taggers, judge, verdict
from tests.cli.data import clauses, column_text


def table_of(result: dict, section: str, title: str | None = None) -> dict:
    (found,) = [one for one in result["sections"] if one["name"] == section]
    (table,) = [one for one in found["blocks"] if one["block"] == "grid"]
    assert table.get("title") == title
    return table


def settings_of(result: dict) -> dict:
    """The chosen templates, and the columns they are derived from."""
    return result["leaderboard"][0]["settings"]


@pytest.fixture
def train(tmp_path) -> Path:
    path = tmp_path / "train.conll"
    path.write_text(column_text(clauses(60)))
    return path


@pytest.fixture(scope="module")
def clause_run(tmp_path_factory, run_once):
    """One finished run on the clauses, with what it printed."""
    folder = tmp_path_factory.mktemp("clauses")
    (folder / "train.conll").write_text(column_text(clauses(60)))
    run = folder / "run"
    typed = ("select", folder / "train.conll", "--max-templates", "6", "--out", run)
    return run, run_once(*typed)


def test_a_run_holds_result_journal_templates_model_and_page(clause_run):
    run, _ = clause_run
    assert {path.name for path in run.iterdir()} >= {
        "result.json",
        "request.json",
        "search.journal",
        "templates.crfpp",
        "model.featloom",
    }
    result = json.loads((run / "result.json").read_text())
    assert "evaluations" in result
    assert (result["kind"], result["metric"]) == ("template search", "chunk F1")
    chosen, default = result["leaderboard"]
    assert (chosen["name"], default["name"]) == ("chosen templates", "default templates")
    assert (chosen["learned"], chosen["test"], chosen["chosen"]) == (54, 1.0, True)
    templates = [row[0] for row in table_of(result, "Templates")["rows"]]
    assert templates == chosen["settings"]["templates"]
    steps = table_of(result, "Search", "Every step")
    assert (steps["rows"][0][2], steps["rows"][0][-1]) == ("kept", "there from the start")
    stages = next(one for one in result["sections"] if one["name"] == "Stages")["blocks"][0]
    assert stages["names"] == ["search", "train", "train by default", "tag"]


def test_the_template_file_is_one_that_crfpp_reads(clause_run):
    run, _ = clause_run
    text = (run / "templates.crfpp").read_text()
    result = json.loads((run / "result.json").read_text())
    lines = [line for line in read_templates(run / "templates.crfpp") if line.kinds]
    # The chosen templates and the label pair.
    assert len(lines) == len(settings_of(result)["templates"]) + 1
    assert text.startswith(f"# {result['verdict']}\n")
    for name in settings_of(result)["derived"]:
        assert f"#   {name}: " in text
    tagger = SequenceTagger.load(run / "model.featloom")
    assert [str(t) for t in tagger.templates_ if t.places] == settings_of(result)["templates"]


def test_templates_taggers_and_verdict_are_printed(clause_run):
    run, printed = clause_run
    result = json.loads((run / "result.json").read_text())
    first, second, *_ = printed.splitlines()
    assert first == result["protocol"]
    assert first.startswith("54 training sentences, 6 test sentences; ")
    assert second == "chunk F1 in per cent"
    assert re.search(r"chosen templates ← .* 100\.00 ", printed)
    assert result["verdict"] in printed
    for name in ("templates.crfpp", "model.featloom"):
        assert str(run / name) in printed


def test_parts_can_be_files_of_their_own(featloom, train, tmp_path):
    for name, n in (("valid", 10), ("test", 20)):
        (tmp_path / f"{name}.conll").write_text(column_text(clauses(n, seed=n)))
    answer = featloom(
        "select", train, "--valid", tmp_path / "valid.conll", "--test", tmp_path / "test.conll",
        "--strategy", "outward", "--window", "1", "--json",
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    result = json.loads(answer.out)
    assert result["protocol"] == (
        "70 training sentences, 20 test sentences; searched and trained on the training part, "
        "reported on the test part; "
        "the validation sentences are among those searched and trained on"
    )
    assert table_of(result, "Search", "Every step")["rows"][0][1] == "word, pos"


def test_labels_that_spell_no_chunks_are_judged_by_tokens(featloom, tmp_path):
    path = tmp_path / "tags.conll"
    path.write_text(column_text([[t[:2] for t in s] for s in clauses(40)]))
    answer = featloom("select", path, "--strategy", "outward", "--window", "1", "--json")
    result = json.loads(answer.out)
    assert result["metric"] == "token accuracy"
    assert "reaches a token accuracy of" in result["verdict"]


def test_line_ends_of_windows_change_nothing(featloom, train, tmp_path):
    other = tmp_path / "windows.conll"
    other.write_bytes(column_text(clauses(60), end="\r\n").encode())
    asked = ("--strategy", "outward", "--window", "1", "--json")
    found = [json.loads(featloom("select", path, *asked).out) for path in (train, other)]
    for one in [model for result in found for model in result["leaderboard"]]:
        one.pop("fit_s")
    assert found[0]["leaderboard"] == found[1]["leaderboard"]


def test_a_corpus_comes_with_its_own_test_part(data_folder):
    parts = load_parts(
        Path("conll2000"), None, None, seed=0, target=None, columns=None, on_bad_row="raise"
    )
    assert parts.sizes() == {"train": 8936, "test": 2012}
    assert parts.train.columns == ("word", "pos")


def test_documents_are_held_out_whole():
    table = table_of_sentences([["a", "b"]] * 40, [["A", "B"]] * 40)
    documents = np.repeat(np.arange(10), 8).astype(np.int32)
    object.__setattr__(table, "groups", documents)
    parts = sentence_parts(table, seed=1)
    assert parts.sizes() == {"train": 36, "test": 4}
    assert not set(parts.train.groups) & set(parts.test.groups)


def test_a_label_that_only_the_test_part_has_counts_as_wrong(featloom, train, tmp_path):
    test = tmp_path / "test.conll"
    sentences = clauses(10)
    sentences[0][0] = ("no", "DT", "B-ADVP")
    test.write_text(column_text(sentences))
    answer = featloom("select", train, "--test", test, "--strategy", "outward", "--json")
    assert answer.code == 0
    assert answer.err == (
        "featloom: warning: test.conll: label 'B-ADVP' (1 token) was not met in training and "
        "counts as wrong\n"
    )
    assert json.loads(answer.out)["leaderboard"][0]["test"] < 1


# Judging


def test_answers_are_judged_by_chunks_or_by_tokens():
    assert judge([["B-NP", "I-NP"]], [["B-NP", "B-NP"]])["value"] == 0
    assert judge([["DT", "NN"]], [["DT", "VB"]])["value"] == 0.5


def test_equal_taggers_do_not_differ():
    gold = [["B-NP", "O"]] * 20
    metric, (chosen, _), test = compare_taggers(gold, gold, gold)
    assert (test.difference, test.significant) == (0.0, False)
    words = verdict(metric, chosen, test, 1)
    assert words.startswith("A CRF with the 1 chosen template reaches")
    assert "is not significant" in words


def test_joined_parts_number_their_values_together():
    first = table_of_sentences([["a", "b"]] * 4, [["A", "B"]] * 4)
    second = table_of_sentences([["b", "c"]] * 2, [["B", "C"]] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train = sentence_parts(first, second, first).train
    assert train.sequence_bounds.tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert [train.value("0", row) for row in (0, 1, 8, 9)] == ["a", "b", "b", "c"]
    assert [train.classes[train.labels[row]] for row in (0, 1, 8, 9)] == ["A", "B", "B", "C"]
