"""All letters of a real dictionary, as Parquet files: in blocks and on workers as in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from featloom.cluster import cluster
from featloom.data.blocks_parquet import read_blocks
from featloom.data.readers import read_table
from featloom.data.tasks.ready import load
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.tree_templates import TreeTemplates

MEMORY = "400MB"  # so little that there are many blocks, and several slices of pairs


@pytest.fixture(scope="module")
def letters(data_folder, tmp_path_factory):
    """A folder of files of different length, and one file with the same rows."""
    table = load("gs-cmudict")
    columns = {}
    for name, codes, values in zip(table.columns, table.codes.T, table.vocabularies, strict=True):
        columns[name] = pl.Series([None, *values]).gather(codes.astype(np.int64))
    columns["sound"] = pl.Series(table.classes).gather(table.labels.astype(np.int64))
    frame = pl.DataFrame(columns)
    folder = tmp_path_factory.mktemp("letters")
    (folder / "parts").mkdir()
    ends = [0, 7, 100_000, 400_001, len(frame)]
    for number, (a, b) in enumerate(pairwise(ends)):
        frame[a:b].write_parquet(folder / "parts" / f"{number}.parquet")
    frame.write_parquet(folder / "whole.parquet")
    return folder


@pytest.fixture(scope="module")
def table(letters):
    return read_table(letters / "whole.parquet", target="sound")


@pytest.fixture(scope="module")
def induced(table):
    return ConjunctionInducer(score="mi", final_keep=2000).fit(table)


@pytest.mark.parametrize("address", [None, "local:2"])
def test_conjunctions_of_letters_are_those_of_memory(letters, table, induced, address):
    if address:
        pytest.importorskip("distributed", reason="the package distributed is not installed")
    with cluster(address):
        blocks = read_blocks(letters / "parts", target="sound", memory=MEMORY)
        found = ConjunctionInducer(score="mi", final_keep=2000).fit(blocks)
    assert len(blocks) == len(table) > 600_000
    assert blocks.n_blocks > 4
    assert found.get_feature_names_out().tolist() == induced.get_feature_names_out().tolist()
    assert found.scores_.tobytes() == induced.scores_.tobytes()
    assert found.class_counts_.tobytes() == induced.class_counts_.tobytes()


def test_templates_of_letters_are_those_of_memory(letters, table):
    how = {"max_length": 3, "min_rows": 50, "backoff": False}
    blocks = read_blocks(letters / "parts", target="sound", memory=MEMORY)
    found, expected = TreeTemplates(**how).fit(blocks), TreeTemplates(**how).fit(table)
    assert found.templates_ == expected.templates_
    assert [one.gain for one in found.grown_] == [one.gain for one in expected.grown_]
