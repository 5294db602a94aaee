"""The systems of the experiment on trees, its columns and its trials."""

from __future__ import annotations

import json

import numpy as np

from experiments.runner import sample_of
from experiments.trees import (
    TREEBANKS,
    Trials,
    chunk_columns,
    distinct_lengths,
    wide_columns,
)
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.formats.packing import packed, unpacked
from featloom.learners.parser_templates import edge_columns


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
