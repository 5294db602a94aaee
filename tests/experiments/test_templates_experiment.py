"""The templates of the experiment, its Chinese phrases, and what it says of its tables."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.chinese_segments import base_phrases, phrase_labels
from experiments.templates import (
    EXPERIMENTS,
    finding,
    rank_agreement,
    single_additions,
    template_text,
    templates_of,
)
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError


def test_the_sets_of_the_paper_have_their_sizes():
    sizes = {n: len(templates_of([n])) for n in range(1, 7)}
    assert sizes == {1: 26, 2: 8, 3: 8, 4: 1, 5: 3, 6: 2}


def test_no_template_is_listed_twice():
    templates = [(t.kind, frozenset(t.places)) for t in templates_of((1, 2, 3, 4, 5, 6))]
    assert len(set(templates)) == len(templates)


def test_templates_of_the_label_before_look_at_label_pairs():
    lines = template_text((1, 4, 5, 6)).splitlines()
    assert [line for line in lines if line.startswith("B")] == [
        "B",
        "B00:%x[0,1]/%x[1,1]",
        "B01:%x[0,1]",
        "B02:%x[-1,1]/%x[0,1]",
        "B03:%x[-4,1]",
        "B04:%x[4,1]",
    ]
    for model, sets in EXPERIMENTS.values():
        assert any(t.kind == "B" for t in templates_of(sets)) == (model == "memm")


def test_additions_are_not_in_the_base():
    base, additions = single_additions()
    assert len(additions) >= 30
    assert not {t.places for t in base} & {t.places for t in additions}


def test_a_modifier_marked_by_de_is_a_phrase_of_its_own():
    # 周遭 的 親朋 好友: the particle stands between the modifier and its noun.
    heads, relations = [4, 1, 4, 0], ["det", "case:dec", "nmod", "root"]
    labels = phrase_labels(heads, relations, ["NP", None, "NP", "NP"])
    assert labels == ["B-NP", "O", "B-NP", "I-NP"]


def test_an_aspect_particle_belongs_to_its_verb():
    labels = phrase_labels([2, 0, 2, 2], ["neg", "root", "case:aspect", "dobj"],
                           ["ADVP", "VP", None, "NP"])  # fmt: skip
    assert labels == ["B-VP", "I-VP", "I-VP", "B-NP"]


def test_a_noun_is_no_part_of_a_verb_phrase():
    labels = phrase_labels([2, 0], ["nmod", "root"], ["NP", "VP"])
    assert labels == ["B-NP", "B-VP"]


def test_trees_are_needed_for_phrases():
    table = NominalTable.from_columns({"form": ["好"]})
    with pytest.raises(InputError, match="there are no heads"):
        base_phrases(table)


def test_every_phrase_of_the_treebank_begins_with_b(data_folder):
    table = base_phrases(load("ud_chinese_gsd_v1", "test"))
    first = set(table.sequence_bounds[:-1].tolist())
    labels = [table.classes[label] for label in table.labels]
    for i, label in enumerate(labels):
        if label.startswith("I-"):
            assert i not in first
            assert labels[i - 1][2:] == label[2:]
    assert table.columns == ("word", "pos")
    assert len(table.classes) > 8


def test_sentences_are_taken_whole():
    table = NominalTable.from_columns(
        {"word": list("abcde")}, labels=list("xyxyx"), sequence_bounds=np.array([0, 2, 2, 5])
    )
    some = take_sentences(table, np.array([2, 0]))
    assert some.sequence_bounds.tolist() == [0, 3, 5]
    assert [some.value("word", i) for i in range(5)] == list("cdeab")
    assert some.labels.tolist() == [0, 1, 0, 0, 1]


def rows_of(proxy: list[float], crf: list[float], name: str) -> list[dict]:
    return [{name: a, "crf": b} for a, b in zip(proxy, crf, strict=True)]


def test_a_lower_loss_ranks_higher():
    rows = rows_of([0.3, 0.2, 0.1], [0.90, 0.91, 0.92], "maxent_loss")
    assert rank_agreement(rows, "maxent_loss") == 1.0
    assert rank_agreement(rows_of([1, 2, 3], [0.9, 0.91, 0.92], "memm"), "memm") == 1.0


def test_what_does_not_vary_ranks_nothing():
    assert rank_agreement(rows_of([0.5, 0.5], [0.9, 0.8], "maxent"), "maxent") is None


def experiment_rows(difference: float, p: float) -> list[dict]:
    rows = []
    for number, (model, _) in EXPERIMENTS.items():
        times = {"train_cpu_s": 1.0, "tag_cpu_s": 0.2}
        rows.append({"id": number, "model": model, "f1": 0.90, **times})
        crf = {"train_cpu_s": 2.0, "tag_cpu_s": 0.1, "f1": 0.90 + difference}
        rows.append(
            {"id": number, "model": "crf", **crf, "ahead": {"difference": difference, "p": p}}
        )
    return rows


def test_what_lies_beyond_chance_is_said_to_be_ahead():
    words = finding("Chunks", experiment_rows(0.01, 0.001), [])
    assert words.startswith(
        "Chunks: the CRF is ahead of ME in all three experiments (+1.00 points)"
    )
    assert "Training takes with ME 0.50 and with MEMM 0.50 of the CRF's CPU time." in words
    assert "Tagging takes with ME 2.00" in words


def test_what_lies_within_chance_is_not():
    words = finding("Chunks", experiment_rows(0.01, 0.4), [])
    assert "ahead of ME beyond chance in 0 of three experiments and behind in 0" in words
