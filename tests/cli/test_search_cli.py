"""Searches on the command line: chosen by cross-validation, killed for real, resumed to the end."""

from __future__ import annotations

import json

# What a result says beside how long it took and how it was asked for.


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
