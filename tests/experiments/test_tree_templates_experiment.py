"""The experiment on templates from trees: small, whole, and the same after a kill."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from experiments.runner import Work, compared, finding, reproduce, sample_of, show, system_row
from experiments.trees import (
    EXPERIMENT,
    TREEBANKS,
    System,
    Trials,
    chunk_columns,
    distinct_lengths,
    wide_columns,
)
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError
from featloom.formats.packing import packed, unpacked
from featloom.learners.parser_templates import edge_columns
from featloom.runs import Run

COMMAND = (sys.executable, "-m", "featloom.cli.main")
ASKED = ("reproduce", "tree-templates", "--only", "floresta", "--quiet", "--seeds", "1")
SMALL = ("--sample", "50", "--jobs", "1")


def small_run(name: str, folder: Path, **more) -> dict:
    return reproduce(EXPERIMENT, Run.create(folder / "run"), only=name, sample=50, **more)


@pytest.fixture(scope="module")
def bosque(data_folder, tmp_path_factory):
    return small_run("bosque", tmp_path_factory.mktemp("bosque"), seeds=2)


@pytest.fixture(scope="module")
def tables(data_folder, tmp_path_factory):
    return small_run("tables", tmp_path_factory.mktemp("tables"), seeds=1)


@pytest.fixture(scope="module")
def chunks(data_folder, tmp_path_factory):
    return small_run("chunks", tmp_path_factory.mktemp("chunks"), seeds=2)


def few_trees(name: str, part: str = "train", size: int = 30) -> NominalTable:
    table = load(name, part)
    assert isinstance(table, NominalTable)
    return sample_of(table, size, seed=0)


def test_every_row_has_manual_templates_with_the_same_training_beside_it():
    for treebank in TREEBANKS.values():
        for system in treebank.systems:
            alike = [(s.basic, s.generation, s.training) for s in treebank.systems]
            base = system.baseline
            assert (base.basic, base.generation, base.training) in alike


def test_the_chapter_has_its_own_figures_beside_ours():
    figures = {
        (s.basic, s.generation): s.published for s in TREEBANKS["floresta"].systems if s.published
    }
    assert figures["first", "manual"] == 90.06
    assert figures["first", "chapter"] == figures["first", "tree"] == 90.28
    assert figures["chunks", "tree"] == 92.66


def test_names_of_rows_are_all_different():
    for treebank in TREEBANKS.values():
        names = [system.name for system in treebank.systems]
        assert len(set(names)) == len(names)


def test_predicted_columns_leave_no_gold_one_behind():
    gold, predicted = wide_columns(predicted=False), wide_columns(predicted=True)
    assert len(set(gold)) == 31
    for name in ("lemma", "feats", "feats.Gender", "feats.Number"):
        assert f"head.{name}" in gold
        assert f"mod.{name}" not in predicted
    assert "mod.lemma.predicted" in predicted
    chunked = chunk_columns(["side"], predicted=True)
    assert [name for name in chunked if name.startswith("mod.")] == [
        "mod.chunk.predicted",
        "mod.chunk.predicted[-1]",
        "mod.chunk.predicted[+1]",
        "mod.clause.predicted",
    ]


def test_numbers_survive_being_packed():
    numbers = np.random.default_rng(0).integers(0, 100_000, 1000)
    assert unpacked(packed(numbers)).tolist() == numbers.tolist()
    assert unpacked(packed(np.array([], dtype=np.int64))).tolist() == []
    assert len(packed(np.ones(10_000, dtype=bool))) < 200


def test_stages_are_counted_together(tmp_path):
    work = Work("any", Run(tmp_path), range(1))
    assert work.ask(lambda asked: {"score": 1.0}, []) == []
    work.ask(lambda asked: {"score": 1.0}, [{"k": 1}, {"k": 2}])
    work.ask(lambda asked: {"score": 1.0}, [{"k": 3}])
    assert work.evaluations == 3


def test_sentences_are_drawn_with_their_trees(data_folder):
    whole = load("floresta", "test")
    some = few_trees("floresta", "test", 20)
    assert some.heads is not None
    assert len(some.sequence_bounds) == 21
    for begin, end in zip(some.sequence_bounds[:-1], some.sequence_bounds[1:], strict=True):
        assert some.heads[begin:end].max() <= end - begin
        assert (some.heads[begin:end] == 0).any()
    assert sample_of(whole, 10_000, seed=0) is whole


def test_what_a_parser_is_told_of_a_new_text_is_predicted(data_folder):
    parts = {part: few_trees("floresta", part) for part in ("train", "valid", "test")}
    trials = Trials(dict(parts))
    entry = json.loads(json.dumps(trials({"part": "column", "column": "chunk"})))
    assert 0.5 < entry["right"]["test"] < 1
    trials.add("chunk", entry)
    told = trials.parts
    gold = [told["test"].value("chunk", i) for i in range(len(told["test"]))]
    seen = [told["test"].value("chunk.predicted", i) for i in range(len(told["test"]))]
    assert np.mean([a == b for a, b in zip(gold, seen, strict=True)]) == entry["right"]["test"]
    assert told["test"].heads is not None


def test_the_tree_of_the_chapter_grows_on_all_edges_without_copies(data_folder):
    train = few_trees("floresta")
    found = Trials({"train": train})({"part": "grow"})
    lengths = np.diff(train.sequence_bounds)
    assert found["edges"] == int((lengths**2).sum())
    assert {name for names in found["templates"] for name in names} <= set(edge_columns(train))
    # Without back-off copies every template begins at the root.
    assert len({names[0] for names in found["templates"]}) == 1
    assert len({frozenset(names) for names in found["templates"]}) == len(found["templates"])


def test_a_choice_does_not_look_at_the_test_sentences(data_folder):
    parts = {part: few_trees("floresta", part) for part in ("train", "valid", "test")}
    trials = Trials(parts)
    trials.chapter = trials({"part": "grow"})["templates"]
    asked = {"basic": "first", "generation": "chapter", "training": "perceptron", "seed": 0}
    choice = trials({"part": "choice", "length": 3, **asked})
    row = trials({"part": "row", "length": 3, **asked})
    assert "test" not in choice
    assert "uas_test" not in choice
    assert choice["score"] == row["uas_valid"]
    assert {part for part in row if part in parts} == {"valid", "test"}


def test_shorter_templates_are_fewer():
    chapter = [["side"], ["side", "distance"], ["side", "distance", "head.xpos"]]
    trials = Trials({"train": NominalTable.from_columns({"form": ["a"]})}, chapter=chapter)
    assert len(trials.chapter_templates(3)) - len(trials.chapter_templates(2)) == 1
    assert distinct_lengths(chapter) == [2, 3]
    assert distinct_lengths([]) == [2]


def test_a_row_is_the_mean_of_its_seeds():
    counts = [np.array([[3, 4], [4, 4]]), np.array([[2, 4], [3, 4]])]
    row = system_row("EFG", "trees", "UAS", counts, templates=3)
    assert row["value"] == pytest.approx(0.75)
    assert row["sd"] == pytest.approx(np.std([7 / 8, 5 / 8], ddof=1))
    assert row["interval"][0] <= 0.75 <= row["interval"][1]
    assert system_row("EFG", "trees", "UAS", counts[:1])["sd"] is None


def test_the_same_answers_do_not_differ():
    counts = [np.array([[3, 4], [4, 4], [1, 4]])] * 2
    test = compared("trees", "UAS", ("a", counts), ("b", counts))
    assert test["difference"] == 0
    assert not test["significant"]
    row = {"name": "manual", "metric": "UAS", "value": 0.9}
    assert "does not differ beyond chance" in finding("trees", row, [(row, test)])


def test_what_lies_beyond_chance_is_ahead_or_behind():
    test = {"difference": 0.02, "interval": [0.01, 0.03], "p": 0.0001, "significant": True}
    row = {"name": "EFG", "metric": "UAS", "value": 0.9}
    assert "EFG 90.00 is ahead (+2.00 [+1.00, +3.00], p below 0.001)" in finding(
        "trees", row, [(row, test)]
    )
    assert "is behind" in finding("trees", row, [(row, {**test, "difference": -0.02})])


def test_the_table_has_the_rows_of_the_chapter(bosque):
    rows = bosque["trees"]["systems"]
    assert [row["name"] for row in rows] == [s.name for s in TREEBANKS["bosque"].systems]
    assert all(0.3 < row["value"] < 1 and row["seeds"] == 2 for row in rows)
    assert all(row["interval"][0] <= row["value"] <= row["interval"][1] for row in rows)
    manual = System("first", "manual", "mira").name
    tests = {test["a"]: test["b"] for test in bosque["comparisons"]}
    assert tests["UD Bosque: EFG, MIRA"] == f"UD Bosque: {manual}"
    assert len(tests) == len(rows) - 2


def test_a_sample_is_said_to_be_one(bosque):
    assert "a sample of up to 50 training sentences" in bosque["data"]["warnings"][0]
    assert bosque["verdict"] == " ".join(bosque["trees"]["parts"]["bosque"]["findings"])


def test_three_tables_have_a_linear_model_with_and_without_templates(tables):
    rows = tables["trees"]["systems"]
    for title in ("letter to sound", "PP attachment", "chunk labels in windows"):
        own = {row["name"]: row for row in rows if row["data"] == title}
        basic, joined = own["linear, basic"], own["linear, templates"]
        assert basic["templates"] <= joined["templates"]
        assert basic["features"] <= joined["features"]
        assert all(0.3 < row["value"] <= 1 for row in own.values())
    assert all(test["b"].endswith("linear, basic") for test in tables["comparisons"])


def test_templates_of_a_tagger_are_thinned(chunks):
    rows = {row["name"]: row for row in chunks["trees"]["systems"]}
    assert rows["grown, thinned"]["templates"] <= rows["grown"]["templates"]
    assert all(0.5 < row["value"] < 1 for row in rows.values())
    plans = chunks["trees"]["parts"]["chunks"]["plans"]
    grown, thinned = (
        {frozenset(map(tuple, t["places"])) for t in json.loads(plans[name])["templates"]}
        for name in ("grown", "thinned")
    )
    assert thinned <= grown


def test_what_is_asked_wrongly_is_told(tmp_path):
    run = Run.create(tmp_path / "run")
    with pytest.raises(InputError, match="no part 'german'; there are bosque, floresta, tables"):
        reproduce(EXPERIMENT, run, only="german")
    with pytest.raises(InputError, match="a sample of 3 sentences is too small"):
        reproduce(EXPERIMENT, run, sample=3)
    with pytest.raises(InputError, match="seeds is 0"):
        reproduce(EXPERIMENT, run, seeds=0)


@pytest.mark.parametrize("part", ["bosque", "tables", "chunks"])
def test_tables_fit_into_eighty_columns(part, request, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show(EXPERIMENT, request.getfixturevalue(part), tmp_path / "report.html")
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("part", ["bosque", "tables", "chunks"])
def test_the_page_lists_the_systems(part, request):
    pytest.importorskip("jinja2")
    from featloom.report import check_result

    result = request.getfixturevalue(part)
    told = check_result(result)
    assert [one.name for one in told.trees.systems] == [
        row["name"] for row in result["trees"]["systems"]
    ]


def finished(run: Path) -> list:
    """What does not hang on the clock."""
    result = json.loads((run / "result.json").read_text())
    timed = ("seconds", "found_s")
    rows = [{k: v for k, v in row.items() if k not in timed} for row in result["trees"]["systems"]]
    return [rows, result["comparisons"], result["evaluations"]]


def written(folder: Path) -> int:
    """Bytes of the journal and its write-ahead file."""
    size = 0
    for path in folder.glob("*.journal*"):
        with suppress(FileNotFoundError):  # a journal that is closed becomes one file
            size += path.stat().st_size
    return size


def test_an_experiment_that_was_killed_ends_the_same(data_folder, tmp_path):
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    subprocess.run([*COMMAND, *ASKED, *SMALL, "--out", undisturbed], check=True)
    whole = written(undisturbed)
    process = subprocess.Popen([*COMMAND, *ASKED, *SMALL, "--out", disturbed])
    while process.poll() is None:
        if written(disturbed) > whole / 2:
            process.kill()
            break
        time.sleep(0.005)
    assert process.wait() != 0
    subprocess.run([*COMMAND, "resume", disturbed, "--quiet"], check=True)
    assert finished(disturbed) == finished(undisturbed)
