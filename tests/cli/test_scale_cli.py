"""Commands on data in blocks and on workers: what they find is what one core finds in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

import polars as pl
import pytest

from featloom.data.readers import read_table
from featloom.features.plan import FeaturePlan
from featloom.methods.tree_templates import TreeTemplates

COMMAND = (sys.executable, "-m", "featloom.cli.main")
COLUMNS = ("customer", "area", "plan", "channel", "language", "escalated")
ASIDE = ("timing", "command", "versions", "use", "seconds", "fit_s")


def found_in(run: Path) -> dict:
    return without_times(json.loads((run / "result.json").read_text()))


def without_times(part):
    """A result without what differs from run to run."""
    if isinstance(part, dict):
        return {name: without_times(one) for name, one in part.items() if name not in ASIDE}
    if not isinstance(part, list):
        return part
    # A fact says that it is in seconds.
    return [without_times(x) for x in part if not (isinstance(x, list) and x[-1:] == ["seconds"])]


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


def test_workers_change_nothing_in_the_result_of_induction(featloom, folder, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    how = ("induce", folder, "--target", "escalated", "--quiet")
    assert featloom(*how, "--out", alone).code == 0
    answer = featloom(*how, "--dask", "local:2", "--out", helped)
    assert answer.code == 0, answer.err
    assert found_in(helped) == found_in(alone)


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


def test_workers_change_nothing_in_what_is_grown(featloom, folder, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    how = ("grow", folder, "--target", "escalated", "--quiet")
    assert featloom(*how, "--out", alone).code == 0
    answer = featloom(*how, "--dask", "local:2", "--out", helped)
    assert answer.code == 0, answer.err
    assert found_in(helped) == found_in(alone)


@pytest.mark.parametrize("command", ["grow", "induce"])
def test_a_killed_count_begins_again_and_ends_as_if_nothing_had_been(
    featloom, folder, tmp_path, command
):
    asked = (command, folder, "--target", "escalated", "--quiet")
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    assert featloom(*asked, "--out", undisturbed).code == 0
    process = subprocess.Popen([*COMMAND, *asked, "--out", disturbed], stderr=subprocess.DEVNULL)
    begun = monotonic()
    while not (disturbed / "request.json").exists() and process.poll() is None:
        assert monotonic() - begun < 300
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
    process.kill()
    process.wait()
    assert not (disturbed / "result.json").exists()
    answer = featloom("resume", disturbed, "--quiet")
    assert answer.code == 0, answer.err
    assert found_in(disturbed) == found_in(undisturbed)


def test_workers_change_nothing_in_the_result_of_a_search(featloom, tickets, tmp_path):
    pytest.importorskip("distributed", reason="the package distributed is not installed")
    alone, helped = tmp_path / "alone", tmp_path / "helped"
    how = ("memory", tickets, "--target", "escalated", "--folds", "3", "--trials", "30", "--quiet")
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--memory", "much"), "memory is 'much'; a size is written like 2GB or 500MB"),
        (("--groups", "plan"), "--groups is for data that is read whole"),
        (("--test", "other.csv"), "--test is for data that is read whole"),
        (("--columns", "a,b"), "--columns is for data that is read whole"),
        (("--forest", "hard", "--trees", "2"), "hard rows needs its rows in memory"),
        (("--dask", "two"), "dask is 'two'; it can be local:4 or tcp://host:port"),
    ],
)
def test_what_cannot_be_grown_in_blocks_is_told_in_one_line(
    featloom, folder, tmp_path, words, said
):
    out = tmp_path / "run"
    answer = featloom("grow", folder, "--target", "escalated", *words, "--out", out)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert said in answer.err
    assert not out.exists()


def test_trees_of_a_table_that_is_read_whole_need_no_workers(featloom, tickets):
    answer = featloom("grow", tickets, "--target", "escalated", "--dask", "local:2")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        "featloom: --dask is for data in blocks (a folder of Parquet files, or one with "
        f"--memory), which {tickets} is not\n"
    )


def test_the_class_of_parquet_rows_has_to_be_named(featloom, folder):
    answer = featloom("induce", folder)
    assert answer.code == 1
    assert "name a column by --target" in answer.err


def test_a_size_of_memory_is_for_parquet_files(featloom, tickets):
    answer = featloom("induce", tickets, "--target", "escalated", "--memory", "1GB")
    assert answer.code == 1
    assert "--memory and --hash are for Parquet files" in answer.err
