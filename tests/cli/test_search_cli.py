"""Searches on the command line: chosen by cross-validation, killed for real, resumed to the end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "featloom.cli.main")
# What a result says beside how long it took and how it was asked for.
ASIDE = ("timing", "command", "versions", "use")


def result_of(run: Path) -> dict:
    result = json.loads((run / "result.json").read_text())
    return {name: part for name, part in result.items() if name not in ASIDE}


def written(journal: Path) -> int:
    """Bytes that a journal and its write-ahead file hold; the file is locked, its size is not."""
    parts = (journal, journal.with_name(journal.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())


def killed_when_it_grows(process: subprocess.Popen, journal: Path, rows: int) -> bool:
    """Kill a process as soon as its journal has some more rows; False if it ended before."""
    before = written(journal)
    while process.poll() is None:
        # Each row is committed by itself, and a commit writes at least one page of 4,096 bytes.
        if written(journal) - before >= rows * 4096:
            process.kill()
            process.wait()
            return True
        time.sleep(0.002)
    return False


def test_a_search_chooses_and_says_what(featloom, tickets, tmp_path):
    answer = featloom(
        "induce", tickets, "--target", "escalated", "--search", "--out", tmp_path / "run"
    )
    assert answer.code == 0
    assert "chosen: the same with conjunctions, by cross-validation with final_keep" in answer.out
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["evaluations"] == 5 * (1 + 5)
    baseline, best = result["leaderboard"]
    assert best["value"] > baseline["value"]
    assert best["settings"]["final_keep"] in (250, 500, 1000, 2000, 4000)
    grid = next(one for one in result["sections"] if one["name"] == "Grid")
    assert [block["block"] for block in grid["blocks"]] == ["matrix", "points"]
    assert grid["blocks"][0]["chosen"]


@pytest.mark.parametrize("preset", ["", "paper"])
def test_a_grid_killed_again_and_again_ends_in_the_same_table(tickets, tmp_path, preset):
    asked = ["induce", str(tickets), "--target", "escalated", "--search", "--max-length", "2"]
    if preset:
        # On so few features the paper's shares leave little to join, but the way is the same.
        asked += ["--preset", preset, "--score", "fisher"]
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    subprocess.run([*COMMAND, *asked, "--out", undisturbed, "--quiet"], check=True)
    command = [*COMMAND, *asked, "--out", disturbed, "--quiet"]
    kills = 0
    for rows in (8, 12, 20):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        kills += killed_when_it_grows(process, disturbed / "search.journal", rows)
        command = [*COMMAND, "resume", disturbed, "--quiet"]
        assert (disturbed / "request.json").exists()
        assert not (disturbed / "result.json").exists() or process.returncode == 0
    assert kills > 0
    subprocess.run(command, check=True)
    assert result_of(disturbed) == result_of(undisturbed)


def test_a_run_is_resumed_from_another_folder_to_the_same_result(
    featloom, tickets, tmp_path, monkeypatch
):
    begun, elsewhere = tickets.parent, tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(begun)
    how = ("--target", "escalated", "--strategy", "genetic", "--trials", "20", "--quiet")
    assert featloom("memory", tickets.name, *how, "--out", "run").code == 0
    before = result_of(begun / "run")
    assert before["data"]["source"] == tickets.name
    (begun / "run" / "result.json").unlink()
    monkeypatch.chdir(elsewhere)
    answer = featloom("resume", Path("..", "run"), "--quiet")
    assert answer.code == 0, answer.err
    assert Path.cwd() == elsewhere
    assert result_of(begun / "run") == before


def test_a_run_without_a_request_cannot_be_resumed(featloom, tickets, tmp_path):
    featloom("induce", tickets, "--target", "escalated", "--quiet", "--out", tmp_path / "run")
    (tmp_path / "run" / "request.json").unlink(missing_ok=True)
    answer = featloom("resume", tmp_path / "run")
    assert answer.code == 1
    assert answer.err.endswith("request.json: not there; this run cannot be resumed\n")
    answer = featloom("resume", tmp_path)
    assert (answer.code, answer.err) == (1, f"featloom: {tmp_path} is not a featloom run\n")


def test_a_request_that_names_what_is_not_an_option_is_refused(featloom, tickets, tmp_path):
    run = tmp_path / "run"
    featloom("induce", tickets, "--target", "escalated", "--quiet", "--out", run)
    (run / "request.json").write_text('{"command": "induce", "options": {"shell": "ls"}}')
    answer = featloom("resume", run)
    assert answer.code == 1
    assert "was made with the option 'shell', which is not known" in answer.err
    (run / "request.json").write_text('{"command": "rm", "options": {}}')
    assert "which cannot be resumed" in featloom("resume", run).err


def test_a_request_that_cannot_be_read_is_refused(featloom, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / ".featloom-run").touch()
    request = run / "request.json"
    request.write_text('{"command": "induce", "options": ' + "[" * 10_000 + "]" * 10_000 + "}")
    answer = featloom("resume", run)
    words = f"featloom: {request}: not a request; this run cannot be resumed\n"
    assert (answer.code, answer.err) == (1, words)
    request.unlink()
    request.mkdir()
    answer = featloom("resume", run)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {request}: cannot be read: is a directory\n",
    )


def test_an_unknown_experiment_is_refused(featloom, tmp_path):
    answer = featloom("reproduce", "alchemy", "--out", tmp_path / "run")
    assert (answer.code, answer.err) == (
        1,
        "featloom: no experiment 'alchemy'; there are induction, trees, templates, memory, "
        "transfer\n",
    )
