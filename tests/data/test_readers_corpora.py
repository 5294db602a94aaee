"""The real corpora: as many rows, sentences, classes and documents as their sources say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from featloom.data.readers import (
    format_of,
    load_arrays,
    read,
    read_conll,
    read_sparse,
    read_timbl,
)

INSTANCES = {
    "gs-cmudict/train.tsv.xz": (694_465, 7),
    "gs-cmudict/valid.tsv.xz": (86_788, 7),
    "gs-cmudict/test.tsv.xz": (86_678, 7),
    "ppattach/training": (20_801, 5),
    "ppattach/devset": (4_039, 5),
    "ppattach/test": (3_097, 5),
    "dimin/dimin.train": (2_999, 12),
    "dimin/dimin.test": (950, 12),
}
SENTENCES = {
    "conll2000/train.txt.xz": 8_936,
    "conll2000/test.txt": 2_012,
    "wnut17/wnut17train.conll": 3_394,
    "wnut17/emerging.dev.conll": 1_009,
    "wnut17/emerging.test.annotated": 1_287,
    "wikigold/wikigold.conll.txt": 1_696,
    "uner_english_ewt/en_ewt-ud-train.cleaned.iob2.xz": 12_543,
    "uner_english_ewt/en_ewt-ud-dev.iob2.xz": 2_001,
    "uner_english_ewt/en_ewt-ud-test.iob2.xz": 2_077,
}
TREES = {
    "ud_english_ewt/en_ewt-ud-train.conllu.xz": 12_544,
    "ud_english_ewt/en_ewt-ud-dev.conllu.xz": 2_001,
    "ud_english_ewt/en_ewt-ud-test.conllu.xz": 2_077,
    "ud_chinese_gsd_v1/zh-ud-train.conllu.xz": 3_997,
    "ud_chinese_gsd_v1/zh-ud-dev.conllu": 500,
    "ud_chinese_gsd_v1/zh-ud-test.conllu": 500,
    "pt-bosque/ud/train.conll.xz": 7_018,
    "pt-bosque/ud/dev.conll.xz": 1_172,
    "pt-bosque/ud/test.conll.xz": 1_167,
    "pt-bosque/floresta/train.conll.xz": 8_277,
    "pt-bosque/floresta/dev.conll.xz": 781,
    "pt-bosque/floresta/test.conll.xz": 293,
    "pt-bosque/conllx-sample400/train200.conll.xz": 200,
    "pt-bosque/conllx-sample400/test200.conll.xz": 200,
}


@pytest.mark.parametrize("file", [*INSTANCES, *SENTENCES, *TREES])
def test_as_many_rows_and_sentences_as_the_source_says(data_folder, file):
    format = "timbl" if file in INSTANCES else "conll" if file in SENTENCES else "conllu"
    assert format_of(data_folder / file) == format
    table = read(data_folder / file)
    if format == "timbl":
        assert table.codes.shape == INSTANCES[file]
        assert table.labels.min() == 0
        return
    assert len(table.sequence_bounds) - 1 == (SENTENCES | TREES)[file]
    assert (np.diff(table.sequence_bounds) > 0).all()
    if format == "conllu":
        assert len(table.heads) == len(table)
        return
    assert table.columns[0] == "word"
    assert (table.codes > 0).all()
    assert all(label == "O" or label[1] == "-" for label in table.classes)


def test_letter_to_sound_has_131_classes_127_of_them_in_training(data_folder):
    parts = [
        set(read_timbl(data_folder / "gs-cmudict" / f"{part}.tsv.xz").classes)
        for part in ("train", "valid", "test")
    ]
    assert (len(parts[0]), len(set.union(*parts))) == (127, 131)


def test_attachment_sentences_can_be_the_groups(data_folder):
    names = ("sentence", "verb", "noun1", "prep", "noun2", "class")
    table = read_timbl(data_folder / "ppattach" / "training", columns=names, groups="sentence")
    assert table.columns == ("verb", "noun1", "prep", "noun2")
    assert sorted(table.classes) == ["N", "V"]


def test_wnut_ends_sentences_with_a_line_of_one_tab(data_folder):
    assert len(read_conll(data_folder / "wnut17" / "wnut17train.conll")) == 62_730


def test_wikigold_has_145_documents_and_inside_tags_only(data_folder):
    table = read_conll(data_folder / "wikigold" / "wikigold.conll.txt")
    assert len(table.group_names) == 145
    assert {name[0] for name in table.classes} == {"I", "O"}
    assert "-DOCSTART-" not in table.vocabularies[0]


def test_bosque_has_115_trees_whose_branches_cross(data_folder):
    table = read(data_folder / "pt-bosque" / "ud" / "test.conll.xz")
    bounds = table.sequence_bounds
    crossing = sum(crosses(table.heads[a:b]) for a, b in pairwise(bounds))
    assert crossing == 115


def crosses(heads) -> bool:
    """Whether two arcs of a tree cross."""
    position = np.arange(1, len(heads) + 1)
    low, high = np.minimum(position, heads), np.maximum(position, heads)
    begins_inside = (low[:, None] < low) & (low < high[:, None])
    return bool((begins_inside & (high > high[:, None])).any())


def test_gazetteer_candidates(data_folder):
    folder = data_folder / "ned-gum"
    matrix = read(folder)
    assert format_of(folder) == "folder"
    assert matrix.shape == (20_849, 55_268)
    assert round(len(matrix.indices) / len(matrix), 1) == 60.9
    assert (matrix.classes, int(matrix.labels.sum())) == (("0", "1"), 2_410)
    assert len(np.unique(matrix.groups)) == 656
    assert len(matrix.group_names) == 898
    single = dict(zip(matrix.families, matrix.single_valued, strict=True))
    assert not any(single[family] for family in ("CTX", "CHILD", "CASE"))
    beside = load_arrays(folder / "labels.npz")
    test_part = matrix.take(beside["is_test"])
    assert (len(test_part), int(test_part.labels.sum())) == (3_017, 311)


def test_verb_senses(data_folder):
    matrix = read_sparse(
        data_folder / "wsd-verbs" / "ewt.npz",
        names="feats",
        labels="sense",
        classes="senses",
        groups="verb",
        group_names="verbs",
    )
    assert matrix.shape == (10_547, 17_219)
    assert (len(matrix.classes), len(matrix.group_names)) == (167, 50)
