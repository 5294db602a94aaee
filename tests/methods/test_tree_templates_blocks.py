"""Templates grown on data in blocks are those grown in memory, and so are their features."""

from __future__ import annotations

import random
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
