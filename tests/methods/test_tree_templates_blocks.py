"""Templates grown on data in blocks are those grown in memory, and so are their features."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from featloom.cluster import cluster
from featloom.data.blocks import MatrixBlocks
from featloom.data.blocks_parquet import read_blocks
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import read_table
from featloom.errors import InputError
from featloom.features import expansion
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.parts import parts_of_blocks
from featloom.methods.tree_templates.study import study_table
from featloom.report.page import report_html

N_ROWS = 700


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    """A folder of files, and one file with the same rows."""
    draw = random.Random(2)
    rows = []
    for _ in range(N_ROWS):
        letter, after, before = draw.choice("cksg"), draw.choice("aeioh"), draw.choice("xyz")
        soft = letter == "s" or (letter in "cg" and after in "ei")
        sound = "S" if soft != (draw.random() < 0.05) else "K"
        rows.append((before, letter, after, None if draw.random() < 0.1 else f"w{len(rows) % 90}",
                     sound))  # fmt: skip
    names = ["before", "letter", "after", "word", "sound"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    folder = tmp_path_factory.mktemp("letters")
    (folder / "parts").mkdir()
    for number, (a, b) in enumerate(pairwise([0, 50, 51, 333, N_ROWS])):
        frame[a:b].write_parquet(folder / "parts" / f"{number}.parquet")
    frame.write_parquet(folder / "whole.parquet")
    return folder


def assert_same(one: TreeTemplates, other: TreeTemplates, table) -> None:
    assert [str(t) for t in one.templates_] == [str(t) for t in other.templates_]
    assert [(t.gain, t.coverage) for t in one.grown_] == [
        (t.gain, t.coverage) for t in other.grown_
    ]
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert np.array_equal(one.codes(table), other.codes(table))


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"prune": None, "cutoff": 2},
        {"preset": "chapter", "prune": "gain"},
        {"n_trees": 3, "random_state": 4},
        {"hashed": 8},
        {"most_columns": 2},
        {"most_columns": 2, "n_trees": 2, "columns_per_tree": 1},
    ],
)
def test_blocks_and_memory_grow_the_same_templates(letters, how):
    table = read_table(letters / "whole.parquet", target="sound")
    blocks = read_blocks(letters / "parts", target="sound")
    assert_same(TreeTemplates(**how).fit(blocks), TreeTemplates(**how).fit(table), table)


def test_templates_with_very_many_values_are_numbered_in_several_passes(letters, monkeypatch):
    # As if a number could hold a hundred values: two columns of words no longer fit in one.
    monkeypatch.setattr(expansion, "MOST_KEYS", 100)
    monkeypatch.setattr("featloom.features.block_expansion.MOST_KEYS", 100)
    table = read_table(letters / "whole.parquet", target="sound")
    blocks = read_blocks(letters / "parts", target="sound")
    how = {"prune": None, "min_rows": 1}
    in_blocks, in_memory = TreeTemplates(**how).fit(blocks), TreeTemplates(**how).fit(table)
    assert max(map(len, in_memory._features.expansion.parts)) > 1
    assert_same(in_blocks, in_memory, table)


def test_workers_grow_the_same_templates(letters):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    table = read_table(letters / "whole.parquet", target="sound")
    with cluster("local:2"):
        there = TreeTemplates().fit(read_blocks(letters / "parts", target="sound"))
    assert_same(there, TreeTemplates().fit(table), table)


def test_what_blocks_cannot_do_is_told(letters):
    blocks = read_blocks(letters / "parts", target="sound")
    with pytest.raises(InputError, match="hard rows needs its rows in memory"):
        TreeTemplates(forest="hard", n_trees=2).fit(blocks)
    with pytest.raises(InputError, match="blocks carry their classes"):
        TreeTemplates().fit(blocks, ["S"] * N_ROWS)
    matrix = FeatureMatrix.from_table(read_table(letters / "whole.parquet", target="sound"))
    with pytest.raises(InputError, match="templates join columns"):
        TreeTemplates().fit(MatrixBlocks.of([matrix]))


def test_a_sample_of_the_table_is_the_sample_of_its_features(letters):
    table = read_table(letters / "whole.parquet", target="sound")
    held_out = read_blocks(letters / "parts", target="sound", sample_rows=60).part(held_out=True)
    sample = held_out.sample_of_table()
    rows = np.arange(60) * 140 // 60 * 5
    assert np.array_equal(sample.codes, table.codes[rows])
    matrix, expected = held_out.sample(), FeatureMatrix.from_table(sample)
    assert np.array_equal(matrix.indices, expected.indices)
    assert np.array_equal(matrix.labels, sample.labels)
    assert [sample.classes[c] for c in sample.labels] == [
        table.classes[c] for c in table.labels[rows]
    ]


def test_trees_see_all_rows_and_linear_models_a_sample(letters):
    blocks = read_blocks(letters / "parts", target="sound", sample_rows=200)
    result = study_table(parts_of_blocks(blocks), TreeTemplates())
    facts = {label: value for label, value, _ in result["sections"][0].blocks[0].items}
    assert (facts["rows"], facts["rows behind the linear models"]) == (560, 200)
    said = "fitted on a sample of 200 of these; all models judged on all of the rows held out"
    assert said in result["protocol"]
    assert said in report_html(result)
    assert result["data"]["rows"] == sum(result["data"]["classes"].values()) == N_ROWS
    values = {family["name"]: family["features"] for family in result["data"]["families"]}
    assert values == {"before": 3, "letter": 4, "after": 5, "word": 90}


def test_where_memory_is_small_rare_features_have_no_weights(letters):
    blocks = read_blocks(letters / "parts", target="sound")
    parts, whole = parts_of_blocks(blocks), study_table(parts_of_blocks(blocks), TreeTemplates())
    plain, grown = (int(model.size) for model in whole["leaderboard"][:2])
    # A tenth of little memory is for data, a third of that for weights: 80 bytes for each class.
    blocks.memory = 10 * 3 * (grown // 2 * 80 * 2)
    small = study_table(parts, TreeTemplates())
    cutoff = int(re.search(r"without features of fewer than (\d+) rows", small["protocol"])[1])
    assert cutoff > 1
    templates = [[row[0] for row in one["sections"][1].blocks[1].rows] for one in (small, whole)]
    assert templates[0] == templates[1]
    assert 0 < small["leaderboard"][1].size <= grown // 2
    assert 0 < small["leaderboard"][0].size <= plain


def test_a_sample_of_one_class_is_told(tmp_path):
    rows = {"letter": list("cccccccccs"), "sound": ["K"] * 5 + ["S"] + ["K"] * 4}
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    blocks = read_blocks(tmp_path / "rows.parquet", target="sound")
    with pytest.raises(InputError, match="the sample to learn from holds one class only"):
        parts_of_blocks(blocks)
