"""``featloom grow``: what it finds in tables, sentences and trees, what it prints and keeps, and
what it says of data it cannot use."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import pairwise
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from featloom.cli.main import main
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

COMMAND = (sys.executable, "-m", "featloom.cli.main")
HEAD = {"schema", "command", "versions", "data", "seed", "timing"}
NOUNS, VERBS, ADJECTIVES = ("cat", "dog", "fish", "bird"), ("saw", "ate", "bit"), ("old", "red")


def noun_phrase(draw: random.Random, role: str) -> list[tuple[str, str, str]]:
    words = [(draw.choice(("the", "a")), "DET", "det")]
    words += [(draw.choice(ADJECTIVES), "ADJ", "amod")] * draw.randrange(2)
    return [*words, (draw.choice(NOUNS), "NOUN", role)]


def clause(draw: random.Random) -> list[tuple[str, str, int, str]]:
    """the old cat saw a fish: subject and object hang on the verb, the rest on their noun."""
    words = noun_phrase(draw, "nsubj")
    verb = len(words) + 1
    words += [(draw.choice(VERBS), "VERB", "root"), *noun_phrase(draw, "obj")]
    tokens = []
    for at, (form, tag, relation) in enumerate(words, start=1):
        noun = next((n for n in range(at, len(words) + 1) if words[n - 1][1] == "NOUN"), 0)
        head = 0 if tag == "VERB" else verb if tag == "NOUN" else noun
        tokens.append((form, tag, head, relation))
    return tokens


def treebank(n: int, seed: int = 3) -> str:
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        for at, (form, tag, head, relation) in enumerate(clause(draw), start=1):
            lines.append(f"{at}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def chunks(n: int, seed: int = 3) -> str:
    """The same clauses in columns: word, tag, chunk."""
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        before = ""
        for form, tag, _, _ in clause(draw):
            kind = "VP" if tag == "VERB" else "NP"
            begins = tag in ("VERB", "DET") or before != kind
            lines.append(f"{form} {tag} {'B' if begins else 'I'}-{kind}")
            before = kind
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory, ticket_rows):
    """A finished run on each kind of data, with what was printed."""
    folder = tmp_path_factory.mktemp("grown")
    columns = ("area", "plan", "channel", "language", "escalated")
    rows = [columns, *(row[1:] for row in ticket_rows)]
    (folder / "table.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (folder / "sequence.conll").write_text(chunks(60))
    (folder / "dependencies.conllu").write_text(treebank(60))
    asked = {
        "table": ("table.csv", "--target", "escalated"),
        "sequence": ("sequence.conll",),
        "dependencies": ("dependencies.conllu", "--target", "head", "--trees", "3"),
    }
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "120")
        for kind, (name, *more) in asked.items():
            with redirect_stdout(StringIO()) as printed, pytest.raises(SystemExit) as end:
                main(["grow", str(folder / name), *more, "--out", str(folder / kind)])
            assert end.value.code == 0
            found[kind] = (folder / kind, printed.getvalue())
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
    assert set(result) >= HEAD | {"verdict", "significant", "leaderboard", "comparisons"}
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
    (tmp_path / "new.conll").write_text(chunks(10, seed=9))
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


def test_the_same_seed_gives_the_same_result(runs, featloom):
    folder, _ = runs["table"]
    result = json.loads((folder / "result.json").read_text())
    again = featloom("grow", folder.parent / "table.csv", "--target", "escalated", "--json")
    other = json.loads(again.out)
    for one in (result, other):
        facts = blocks_of(one, "Trees")["facts"]
        facts["items"] = [item for item in facts["items"] if item[2] != "seconds"]
        for model in one["leaderboard"]:
            model.pop("fit_s")
    for name in ("leaderboard", "comparisons", "sections", "verdict", "data"):
        assert result[name] == other[name]


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


def test_an_interrupted_run_keeps_what_it_finished(featloom, tmp_path):
    """The parser is kept while its rival is still trained."""
    (tmp_path / "trees.conllu").write_text(treebank(300))
    run = tmp_path / "run"
    going = subprocess.Popen(
        [*COMMAND, "grow", tmp_path / "trees.conllu", "--trees", "3", "--out", run],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    begun = monotonic()
    while not (run / "model.featloom").exists() and going.poll() is None:
        assert monotonic() - begun < 300
        with suppress(subprocess.TimeoutExpired):
            going.wait(0.02)
    going.send_signal(signal.SIGINT)
    _, said = going.communicate()
    if going.returncode == 0:
        pytest.skip("it ended before it could be interrupted")
    assert going.returncode == 130
    assert said == (
        "featloom: interrupted; everything finished so far is kept; "
        f"'featloom resume {run}' goes on\n"
    )
    assert {"request.json", "templates.json", "model.featloom"} <= {p.name for p in run.iterdir()}
    assert DependencyParser.load(run / "model.featloom").predict([[("a", "a", "DET", "_", "_")]])
    answer = featloom("resume", run)
    assert (answer.code, answer.err) == (0, "")
    assert (run / "result.json").exists()


FAULTS = {
    "no target": (("tickets.csv",), "no classes; name the column that holds them by --target: "),
    "no such column": (("tickets.csv", "-t", "nope"), "no column 'nope'; there are area, plan"),
    "no such criterion": (
        ("tickets.csv", "--criterion", "best"),
        "criterion is 'best'; it can be gain_ratio, information_gain",
    ),
    "no such pruning": (("tickets.csv", "--prune", "x"), "prune is 'x'; it can be error, gain, "),
    "no such forest": (("tickets.csv", "--forest", "x"), "forest is 'x'; it can be bagged, hard"),
    "a column of trees that is none": (("trees.conllu", "-t", "nope"), "no column 'nope'"),
    "groups of trees": (
        ("trees.conllu", "--groups", "form"), "--groups is for tables, and trees.conllu is none",
    ),
    "columns of a table": (
        ("tickets.csv", "-t", "escalated", "--columns", "a,b"),
        "--columns is for sentences with labels, and tickets.csv is none",
    ),
    "no such file": (("absent.csv",), "absent.csv: no such file"),
    "no such corpus": (("absent",), "no such file, and no corpus of that name"),
    "a test file of another kind": (
        ("trees.conllu", "--test", "tickets.csv"),
        "tickets.csv: no dependency trees in CoNLL-U's ten columns",
    ),
    "a head that is none": (("broken.conllu",), "broken.conllu:1:7: head '_' is not a number"),
    "one sentence": (("one.conllu",), "one.conllu: one sentence; at least two are needed"),
    "few rows": (("few.csv", "-t", "class"), "few.csv: 3 rows, too few to hold some out"),
    "a sparse matrix": (("rows.svm",), "rows.svm: a sparse matrix; trees are grown on the columns"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_used_is_told_in_one_line(
    words, said, featloom, tickets, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("trees.conllu").write_text(treebank(5))
    Path("one.conllu").write_text(treebank(1))
    Path("broken.conllu").write_text(re.sub(r"\t\d+\t", "\t_\t", treebank(2)))
    Path("few.csv").write_text("a,class\nx,1\ny,2\nx,1\n")
    Path("rows.svm").write_text("1 3:1 5:1\n0 2:1\n")
    answer = featloom("grow", *words, "--out", "run")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert said in answer.err
    assert not Path("run").exists()


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
