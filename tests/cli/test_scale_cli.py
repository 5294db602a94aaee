"""Commands on data in blocks and on workers: what they find is what one core finds in memory."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

COLUMNS = ("customer", "area", "plan", "channel", "language", "escalated")
ASIDE = ("timing", "command", "versions")


def found_in(run: Path) -> dict:
    result = json.loads((run / "result.json").read_text())
    return {name: part for name, part in result.items() if name not in ASIDE}


@pytest.fixture
def folder(tmp_path, ticket_rows) -> Path:
    """The tickets, without the customers, in three Parquet files."""
    place = tmp_path / "tickets"
    place.mkdir()
    frame = pl.DataFrame(ticket_rows, schema=COLUMNS, orient="row").drop("customer")
    for number in range(3):
        part = frame[number * 140 : (number + 1) * 140]
        part.write_parquet(place / f"{number}.parquet")
    return place


def test_a_folder_of_parquet_files_is_induced_in_blocks(featloom, folder, tmp_path):
    out = tmp_path / "run"
    answer = featloom("induce", folder, "--target", "escalated", "--memory", "1GB", "--out", out)
    assert answer.code == 0, answer.err
    assert "area=export & plan=enterprise" in answer.out
    result = found_in(out)
    assert result["blocks"]["blocks"] == 3
    assert result["blocks"]["sample_rows"] == result["data"]["rows"] == 400
    assert sum(result["data"]["classes"].values()) == 400
    assert (out / "report.html").exists()


def test_workers_change_nothing_in_the_result_of_induction(featloom, folder, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    how = ("induce", folder, "--target", "escalated", "--quiet")
    assert featloom(*how, "--out", alone).code == 0
    answer = featloom(*how, "--dask", "local:2", "--out", helped)
    assert answer.code == 0, answer.err
    assert found_in(helped) == found_in(alone)


def test_workers_change_nothing_in_the_result_of_a_search(featloom, tickets, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    how = ("memory", tickets, "--target", "escalated", "--folds", "3", "--budget", "30", "--quiet")
    assert featloom(*how, "--out", alone).code == 0
    answer = featloom(*how, "--dask", "local:2", "--out", helped)
    assert answer.code == 0, answer.err
    assert found_in(helped) == found_in(alone)


def test_workers_change_nothing_in_a_comparison_of_methods(featloom, tickets, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    how = ("discover", tickets, "--target", "escalated", "--only", "linear model", "--only")
    how += ("induction", "--budget", "10m", "--quiet")
    boards = []
    for where in (("--jobs", "2"), ("--dask", "local:2")):
        out = tmp_path / where[0]
        answer = featloom(*how, *where, "--out", out)
        assert answer.code == 0, answer.err
        found = found_in(out)
        timed = ("fit_s", "predict_s")
        board = [{k: v for k, v in row.items() if k not in timed} for row in found["leaderboard"]]
        boards.append((board, found["comparisons"], found["verdict"]))
    assert boards[0] == boards[1]


def test_hashed_features_are_told_of_in_the_result(featloom, folder, tmp_path):
    out = tmp_path / "run"
    words = ("induce", folder, "--target", "escalated", "--hash", "12", "--quiet", "--out", out)
    assert featloom(*words).code == 0
    result = found_in(out)
    assert result["blocks"]["hash_bits"] == 12
    assert 0 < result["blocks"]["collisions"] < 0.01
    names = {row["name"] for row in result["induction"]["conjunctions"]}
    assert {"area=export & plan=enterprise", "plan=enterprise & area=export"} & names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--memory", "much"), "memory is 'much'; a size is written like 2GB or 500MB"),
        (("--hash", "99"), "features cannot be hashed into 99 bits"),
        (("--groups", "plan"), "--groups is for data that is read whole"),
        (("--search",), "a search of the grid needs its rows in memory"),
        (("--dask", "two"), "dask is 'two'; it can be local:4 or tcp://host:port"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(featloom, folder, words, said):
    answer = featloom("induce", folder, "--target", "escalated", *words)
    assert answer.code == 1
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_the_class_of_parquet_rows_has_to_be_named(featloom, folder):
    answer = featloom("induce", folder)
    assert answer.code == 1
    assert "name a column by --target" in answer.err


def test_a_size_of_memory_is_for_parquet_files(featloom, tickets):
    answer = featloom("induce", tickets, "--target", "escalated", "--memory", "1GB")
    assert answer.code == 1
    assert "--memory and --hash are for Parquet files" in answer.err
