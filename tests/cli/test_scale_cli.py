"""Commands on data in blocks and on workers: what they find is what one core finds in memory."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from featloom.data.readers import read_table
from featloom.features.plan import FeaturePlan
from featloom.methods.tree_templates import TreeTemplates
from tests.cli.data import found_in

COLUMNS = ("customer", "area", "plan", "channel", "language", "escalated")


def facts_of(result: dict, name: str) -> dict:
    blocks = next(one["blocks"] for one in result["sections"] if one["name"] == name)
    return {label: value for label, value, _ in blocks[0]["items"]}


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
    facts = facts_of(result, "Blocks")
    assert facts["blocks"] == 3
    assert facts["rows that models learned from"] == result["data"]["rows"] == 400
    assert sum(result["data"]["classes"].values()) == 400
    assert (out / "report.html").exists()


def test_templates_grow_in_blocks_as_they_do_in_memory(featloom, folder, tmp_path):
    out = tmp_path / "run"
    answer = featloom("grow", folder, "--target", "escalated", "--memory", "1GB", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("320 training rows, 80 test rows; every fifth row held out")
    pl.read_parquet(folder / "*.parquet").write_parquet(tmp_path / "whole.parquet")
    table = read_table(tmp_path / "whole.parquet", target="escalated")
    others = [row for row in range(400) if row % 5]
    expected = TreeTemplates(random_state=0).fit(table.take(others))
    plan = FeaturePlan.from_json((out / "templates.json").read_text())
    assert plan.templates == expected.plan_.templates
    result = found_in(out)
    trees, templates = result["sections"]
    assert [row[1] for row in templates["blocks"][1]["rows"]] == [
        one.gain for one in expected.grown_
    ]
    assert result["significant"] is True
    facts = {label: value for label, value, _ in trees["blocks"][0]["items"]}
    read = {"blocks": 3, "rows in the largest": 140, "bytes of memory": 10**9}
    assert facts.items() >= (read | {"rows behind the linear models": 320}).items()
    assert result["data"]["rows"] == sum(result["data"]["classes"].values()) == 400
    assert "fitted on all of these" in (out / "report.html").read_text()


def test_one_parquet_file_is_grown_in_blocks_where_a_memory_is_given(featloom, folder, tmp_path):
    pl.read_parquet(folder / "*.parquet").write_parquet(tmp_path / "whole.parquet")
    found = []
    for data in (folder, tmp_path / "whole.parquet"):
        words = ("grow", data, "--target", "escalated", "--memory", "1GB", "--json", "--trees", "3")
        answer = featloom(*words)
        assert answer.code == 0, answer.err
        found.append(json.loads(answer.out))
    of_blocks = [
        [value for label, value, _ in result["sections"][0]["blocks"][0]["items"]
         if label == "blocks"] for result in found
    ]  # fmt: skip
    assert of_blocks == [[3], [1]]
    assert found[0]["leaderboard"][1]["test"] == found[1]["leaderboard"][1]["test"]
    assert found[0]["comparisons"] == found[1]["comparisons"]


COMPARED = ("--only", "linear model", "--only", "induction", "--budget", "10m")


@pytest.mark.parametrize(
    ("command", "data", "words"),
    [
        ("induce", "tickets", ()),
        ("grow", "tickets", ()),
        ("memory", "tickets.csv", ("--folds", "3", "--trials", "30")),
        ("discover", "tickets.csv", COMPARED),
    ],
)
def test_workers_change_nothing_in_the_result(
    featloom, folder, tickets, tmp_path, command, data, words
):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    how = (command, tmp_path / data, "--target", "escalated", *words, "--quiet")
    found = []
    for where in ("--jobs", "2"), ("--dask", "local:2"):
        answer = featloom(*how, *where, "--out", tmp_path / where[0])
        assert answer.code == 0, answer.err
        result = found_in(tmp_path / where[0])
        result.pop("budget", None)  # the time that it took, where it is one of time
        found.append(result)
    assert found[0] == found[1]


def test_hashed_features_are_told_of_in_the_result(featloom, folder, tmp_path, rows_of):
    out = tmp_path / "run"
    answer = featloom("induce", folder, "--target", "escalated", "--hash", "12", "--out", out)
    assert answer.code == 0
    assert "note: features were hashed into 2^12: about 0." in answer.out
    assert "names share their feature" in (out / "report.html").read_text()
    result = found_in(out)
    facts = facts_of(result, "Blocks")
    assert facts["bits of a hash"] == 12
    assert 0 < facts["names that share a feature, %"] < 0.01
    names = [set(row["conjunction"]) for row in rows_of(result, "Features")]
    assert {"area=export", "plan=enterprise"} in names
