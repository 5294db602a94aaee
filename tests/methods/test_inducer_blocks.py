"""Induction on data in blocks: what is found is what would be found in memory."""

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
from featloom.methods.induction import ConjunctionInducer, procedure

N_ROWS = 900
SETTINGS = {
    "recommended": {"final_keep": 20},
    "mutual information": {"score": "mi", "keep": 0.5, "final_keep": 15},
    "longer": {"score": "mi", "max_length": 3, "final_keep": 25},
    "paper": {"preset": "paper", "keep": 0.5, "partners": 0.1},
    "fisher": {"score": "fisher", "final_keep": 10, "final_atomic": 8},
    "many kept": {"score": "residual", "max_length": 3, "final_keep": 200, "min_support": 3},
}


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """A folder of files, and one file with the same rows."""
    draw = random.Random(5)
    rows = []
    for _ in range(N_ROWS):
        area = draw.choice(["billing", "login", "search", "export"])
        plan = draw.choice(["free", "team", "enterprise"])
        town = f"t{min(int(draw.paretovariate(0.8)), 40)}"
        hot = "export" if plan == "enterprise" else "login"
        chance = 0.85 if area == hot else 0.1
        answer = "late" if draw.random() < 0.05 else "yes" if draw.random() < chance else "no"
        rows.append((area, plan, town, draw.choice("abc"), answer))
    frame = pl.DataFrame(rows, schema=["area", "plan", "town", "desk", "y"], orient="row")
    folder = tmp_path_factory.mktemp("tickets")
    (folder / "parts").mkdir()
    ends = [0, 100, 101, 450, N_ROWS]
    for number, (a, b) in enumerate(pairwise(ends)):
        frame[a:b].write_parquet(folder / "parts" / f"{number}.parquet")
    frame.write_parquet(folder / "whole.parquet")
    return folder


def assert_same(one: ConjunctionInducer, other: ConjunctionInducer) -> None:
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert one.scores_.tolist() == other.scores_.tolist()
    assert one.class_counts_.tolist() == other.class_counts_.tolist()
    assert one.classes_.tolist() == other.classes_.tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_blocks_and_memory_find_the_same_features(tickets, name):
    table = read_table(tickets / "whole.parquet", target="y")
    in_memory = ConjunctionInducer(**SETTINGS[name]).fit(table)
    blocks = read_blocks(tickets / "parts", target="y")
    in_blocks = ConjunctionInducer(**SETTINGS[name]).fit(blocks)
    assert_same(in_blocks, in_memory)
    assert (in_blocks.transform(table) != in_memory.transform(table)).nnz == 0
    assert in_blocks.feature_list().parts.tolist() == in_memory.feature_list().parts.tolist()


def test_sparse_blocks_and_one_matrix_find_the_same_features(tickets):
    table = read_table(tickets / "whole.parquet", target="y")
    matrix = FeatureMatrix.from_table(table)
    parts = [matrix.take(np.arange(a, min(a + 97, N_ROWS))) for a in range(0, N_ROWS, 97)]
    how = {"score": "chi2", "final_keep": 12}
    in_blocks = ConjunctionInducer(**how).fit(MatrixBlocks.of(parts))
    assert_same(in_blocks, ConjunctionInducer(**how).fit(matrix))


def test_a_model_fitted_on_a_sample_is_told(tickets):
    blocks = read_blocks(tickets / "parts", target="y", sample_rows=300)
    with pytest.warns(UserWarning, match="fitted on 300 of 900 rows"):
        inducer = ConjunctionInducer(final_keep=5).fit(blocks)
    assert inducer.sample_rows_ == 300
    names = [feature.name for feature in inducer.conjunctions_]
    assert "area=export & plan=enterprise" in names


def test_workers_find_the_same_features(tickets):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    here = ConjunctionInducer(final_keep=20).fit(read_blocks(tickets / "parts", target="y"))
    with cluster("local:2"):
        blocks = read_blocks(tickets / "parts", target="y")
        there = ConjunctionInducer(final_keep=20).fit(blocks)
    assert_same(there, here)


def test_hashed_features_are_named_and_their_collisions_told(tickets):
    blocks = read_blocks(tickets / "parts", target="y", hashed=14)
    inducer = ConjunctionInducer(score="mi", final_keep=5).fit(blocks)
    names = {frozenset(feature.feature.parts) for feature in inducer.conjunctions_}
    plain = ConjunctionInducer(score="mi", final_keep=5).fit(
        read_blocks(tickets / "parts", target="y")
    )
    assert names == {frozenset(feature.feature.parts) for feature in plain.conjunctions_}
    assert 0 < inducer.collisions_ < 0.01
    table = read_table(tickets / "whole.parquet", target="y")
    assert inducer.transform(table).sum() == plain.transform(table).sum()
    frame = pl.read_parquet(tickets / "whole.parquet")
    bare = frame.drop("y").rows()
    for dress in (frame, [list(row) for row in bare]):
        assert (inducer.transform(dress) != inducer.transform(table)).nnz == 0
    with pytest.raises(InputError, match="cannot be listed"):
        inducer.feature_list()


def test_blocks_carry_their_classes(tickets):
    blocks = read_blocks(tickets / "parts", target="y")
    with pytest.raises(InputError, match="blocks carry their classes"):
        ConjunctionInducer().fit(blocks, ["no"] * N_ROWS)


def test_of_very_wide_rows_the_same_features_are_joined_in_blocks_and_in_memory(
    tickets, monkeypatch
):
    monkeypatch.setattr(procedure, "_WIDE", 1)
    monkeypatch.setattr(procedure, "_MOST_STEPS", 1000)
    table = read_table(tickets / "whole.parquet", target="y")
    blocks = read_blocks(tickets / "parts", target="y")
    for score in ("mi", "residual"):
        whole = ConjunctionInducer(score=score).fit(table)
        assert whole.dropped_["features that score too low for so many pairs (not conjoined)"] > 0
        assert len(whole.conjunctions_) > 0
        in_blocks = ConjunctionInducer(score=score).fit(blocks)
        assert {str(f) for f in in_blocks.conjunctions_} == {str(f) for f in whole.conjunctions_}
        assert in_blocks.dropped_ == whole.dropped_
