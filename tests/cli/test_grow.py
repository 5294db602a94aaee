"""``featloom grow``: what it finds in tables, sentences and trees, what it prints and keeps, and
what it says of data it cannot use."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise

import numpy as np
import pytest

from featloom.data.readers import read_conllu
from featloom.data.sentences import take_sentences
from featloom.features.plan import FeaturePlan
from featloom.formats.crfpp import read_templates
from featloom.learners.parser import DependencyParser
from featloom.learners.tagger import SequenceTagger
from featloom.methods.tree_templates.findings import sentences_section, verdict
from featloom.methods.tree_templates.parts import growth_parts
from featloom.report.page import check_result
from featloom.results import Comparison
from tests.cli.data import clauses, column_text, ticket_text, treebank


@pytest.fixture(scope="module")
def runs(tmp_path_factory, ticket_rows, run_once):
    """A finished run on each kind of data, with what was printed."""
    folder = tmp_path_factory.mktemp("grown")
    (folder / "table.csv").write_text(ticket_text(ticket_rows))
    (folder / "sequence.conll").write_text(column_text(clauses(60)))
    (folder / "dependencies.conllu").write_text(treebank(60))
    asked = {
        "table": ("table.csv", "--target", "escalated"),
        "sequence": ("sequence.conll",),
        "dependencies": ("dependencies.conllu", "--target", "head", "--trees", "3"),
    }
    found = {}
    for kind, (name, *more) in asked.items():
        printed = run_once("grow", folder / name, *more, "--out", folder / kind)
        found[kind] = (folder / kind, printed)
    return found


KINDS = ("table", "sequence", "dependencies")


def blocks_of(result: dict, name: str) -> dict[str, dict]:
    """The tables and figures of a section, by what they are."""
    (section,) = [one for one in result["sections"] if one["name"] == name]
    return {block["block"]: block for block in section["blocks"]}


def templates_of(result: dict) -> list[dict]:
    table = blocks_of(result, "Templates")["grid"]
    heads = [column["label"] for column in table["columns"]]
    return [dict(zip(heads, row, strict=True)) for row in table["rows"]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_says_what_was_grown_and_what_it_is_worth(runs, kind):
    folder, printed = runs[kind]
    result = json.loads((folder / "result.json").read_text())
    templates, (bars, trees) = templates_of(result), (
        blocks_of(result, "Templates")["bars"], blocks_of(result, "Trees")
    )  # fmt: skip
    gains = [row["gain, bits"] for row in templates]
    assert gains == sorted(gains, reverse=True)
    assert bars["values"] == gains[:20]
    assert [place for place, row in enumerate(templates[:20]) if row["back-off"]] == bars.get(
        "hollow", []
    )
    assert templates[0]["points lost without it"] is not None
    tree, facts = trees["tree"], {label: value for label, value, _ in trees["facts"]["items"]}
    root = next(node for node in tree["nodes"] if node.get("parent", -1) == -1)
    unit = {"table": "rows", "sequence": "tokens", "dependencies": "candidate edges"}[kind]
    assert root["rows"] == facts[unit]
    assert len(tree["nodes"]) + tree["cut"] == tree["n_nodes"]
    assert facts["templates"] == len(templates)
    (chosen,) = [model for model in result["leaderboard"] if model["chosen"]]
    assert (chosen["role"], chosen["name"]) == ("method", result["chosen"])
    assert chosen["test_interval"][0] <= chosen["test"] <= chosen["test_interval"][1]
    assert result["verdict"] in printed
    # The page takes the result as it is.
    check_result(result)


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_a_run(runs, kind):
    folder, printed = runs[kind]
    there = {path.name for path in folder.iterdir()}
    assert there >= {"result.json", "request.json", "templates.json"}
    assert ("templates.crfpp" in there) == ("templates.vw" in there) == (kind != "dependencies")
    assert "model.featloom" in there
    assert str(folder / "templates.json") in printed
    plan = FeaturePlan.from_json((folder / "templates.json").read_text())
    names = [str(template) for template in plan.templates]
    result = json.loads((folder / "result.json").read_text())
    assert {row["template"] for row in templates_of(result)} <= set(names)


def test_two_columns_that_decide_together_become_a_template_that_helps(runs):
    folder, printed = runs["table"]
    result = json.loads((folder / "result.json").read_text())
    names = [frozenset(row["template"].split(" & ")) for row in templates_of(result)]
    assert frozenset({"area", "plan"}) in names
    assert result["significant"] is True
    assert re.search(r"templates from trees lift a logistic regression [\d.]+ points", printed)
    (plain, grown, tree) = result["leaderboard"]
    assert grown["test"] > plain["test"]
    assert tree["name"] == "the tree alone"
    only_grown, only_plain = map(int, re.findall(r"\d+", result["comparisons"][0]["test"]))
    assert only_grown > only_plain


def test_flags_and_template_lines_are_those_of_other_programs(runs):
    folder, _ = runs["table"]
    flags = (folder / "templates.vw").read_text()
    assert flags.startswith("--oaa 2 --loss_function logistic")
    folder, _ = runs["sequence"]
    lines = [line for line in read_templates(folder / "templates.crfpp") if line.kinds]
    tagger = SequenceTagger.load(folder / "model.featloom")
    assert len(lines) == len(tagger.templates_)


def test_a_grown_tagger_tags(runs, featloom, tmp_path):
    folder, printed = runs["sequence"]
    assert re.search(r"templates from trees ← +100.00 ", printed)
    (tmp_path / "new.conll").write_text(column_text(clauses(10, seed=9)))
    answer = featloom("tag", folder, tmp_path / "new.conll", "--out", tmp_path / "tagged")
    assert (answer.code, answer.err) == (0, "")
    assert "chunk F1 100.00 %" in answer.out


def test_a_grown_parser_parses_and_sentences_are_shown(runs, tmp_path):
    folder, printed = runs["dependencies"]
    result = json.loads((folder / "result.json").read_text())
    assert "UAS in per cent" in printed
    assert re.search("templates by hand +[0-9]", printed)
    sentences = blocks_of(result, "Sentences")["arcs"]["sentences"]
    assert sentences
    for one in sentences:
        assert len(one["words"]) == len(one["tags"]) == len(one["gold"]) == len(one["predicted"])
    (tmp_path / "new.conllu").write_text(treebank(10, seed=9))
    parser = DependencyParser.load(folder / "model.featloom")
    assert parser.score(read_conllu(tmp_path / "new.conllu")) > 0.9


def test_parts_can_be_files_of_their_own(runs, featloom, tmp_path):
    table = runs["table"][0].parent / "table.csv"
    answer = featloom(
        "grow", table, "--target", "escalated", "--valid", table, "--test", table, "--trees", "3",
        "--columns-per-tree", "2", "--most", "5", "--no-backoff", "--prune", "none",
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("400 training rows, 400 validation rows, 400 test rows; ")
    assert "both linear models tuned on the validation part" in answer.out
    assert "rows 400" in answer.out
    assert "trees 3," in answer.out
    assert "the trees alone, by vote" in answer.out
    assert "back-off copies" not in answer.out


def test_labels_of_a_treebank_can_be_tagged_too(runs, featloom):
    trees = runs["dependencies"][0].parent / "dependencies.conllu"
    answer = featloom("grow", trees, "--target", "upos", "--columns", "form", "--window", "1")
    assert (answer.code, answer.err) == (0, "")
    assert "token accuracy" in answer.out


def test_many_classes_are_learned_row_by_row(featloom, tmp_path):
    draw = random.Random(5)
    letters = "abcdefghijkl"
    rows = [(draw.choice(letters), draw.choice("xy")) for _ in range(600)]
    lines = [f"{one} {two} {(one + two) if two == 'x' else one}\n" for one, two in rows]
    (tmp_path / "letters.data").write_text("".join(lines))
    answer = featloom("grow", tmp_path / "letters.data")
    assert (answer.code, answer.err) == (0, "")
    assert re.search(r"logistic regression on columns and templates ← +100.00 ", answer.out)


def test_sentences_that_are_taken_keep_their_heads(tmp_path):
    (tmp_path / "trees.conllu").write_text(treebank(6))
    table = read_conllu(tmp_path / "trees.conllu")
    bounds = table.sequence_bounds
    taken = take_sentences(table, np.array([4, 1]))
    expected = [*table.heads[bounds[4] : bounds[5]], *table.heads[bounds[1] : bounds[2]]]
    assert taken.heads.tolist() == expected
    parts = growth_parts(table, kind="dependencies")
    assert parts.sizes() == {"train": 5, "test": 1}
    assert len(parts.train) + len(parts.test) == len(table)


def test_right_and_wrong_parses_are_both_shown(tmp_path):
    (tmp_path / "trees.conllu").write_text(treebank(20))
    table = read_conllu(tmp_path / "trees.conllu")
    bounds = table.sequence_bounds.tolist()
    heads = [table.heads[a:b].tolist() for a, b in pairwise(bounds)]
    for sentence in heads[::2]:
        sentence[0] = 0
    (shown,) = sentences_section(table, heads, most=6).blocks
    right = sorted(one.gold == one.predicted for one in shown.sentences)
    assert right == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    ("difference", "significant", "said"),
    [
        (0.01, True, "2 templates from trees lift a CRF 1.00 points of F1 above the others"),
        (-0.01, True, "2 templates from trees leave a CRF 1.00 points of F1 below the others"),
        (0.01, False, "do not help a CRF beyond the others: the difference of +1.00 points"),
    ],
)
def test_a_verdict_never_says_more_than_the_test(difference, significant, said):
    test = Comparison("a", "b", difference, (-1, 1), 0.04, significant=significant)
    words = verdict(test, n_templates=2, learner="a CRF", rival="the others", metric="F1", by="x")
    assert said in words
