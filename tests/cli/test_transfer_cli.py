"""``featloom transfer``: what it finds, what it prints and keeps, and what it says of odd data."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from featloom import RelevancePrior
from featloom.report.page import check_result

COLUMNS = ("site", "area", "plan", "word", "page", "hot")
AREAS, PLANS = ("billing", "login", "export", "search"), ("free", "team", "firm")


def tickets(n_sites: int = 8, n: int = 20, seed: int = 3) -> list[tuple[str, ...]]:
    """At each site one area or plan is hot; words never tell."""
    draw = random.Random(seed)
    rows = []
    for site in range(n_sites):
        hot = draw.choice((*AREAS, *PLANS))
        for at in range(n):
            area, plan = draw.choice(AREAS), draw.choice(PLANS)
            is_hot = draw.random() < (0.95 if hot in (area, plan) else 0.05)
            word, page = f"w{draw.randrange(40)}", f"p{site}-{at // 3}"
            rows.append((f"s{site}", area, plan, word, page, "yes" if is_hot else "no"))
    return rows


def write(path: Path, rows) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in (COLUMNS, *rows)))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory, run_once) -> tuple[Path, str]:
    """A finished run with groups, and what was printed."""
    folder = tmp_path_factory.mktemp("transfer")
    data = write(folder / "tickets.csv", tickets())
    words = ("transfer", data, "--task", "site", "--target", "hot", "--groups", "page")
    return folder / "run", run_once(*words, "--out", folder / "run")


def test_a_run_holds_the_prior_the_result_and_the_page(run):
    folder, _ = run
    assert {path.name for path in folder.iterdir()} >= {"prior.json", "result.json", "report.html"}
    prior = RelevancePrior.load(folder / "prior.json")
    assert prior.tasks_ == [f"s{j}" for j in range(8)]
    assert {"area", "plan", "word"} == set(prior.family_rates())
    page = (folder / "report.html").read_text()
    assert all(f'id="{name}"' in page for name in ("rows", "tasks", "families"))


def test_the_result_has_what_every_result_has(run, rows_of):
    result = json.loads((run[0] / "result.json").read_text())
    read = check_result(result)
    assert (len(rows_of(result, "Tasks")), read.data.rows) == (8, 160)
    assert [*rows_of(result, "Rows")[0]] == ["rows a task", "5", "10", "all"]
    assert result["data"]["groups"] == 56


def test_methods_controls_and_the_verdict_are_printed(run):
    result = json.loads((run[0] / "result.json").read_text())
    printed = " ".join(run[1].split())
    assert printed.startswith("8 tasks, ")
    assert "whole, held out as test part" in printed
    assert "*: a control" in printed
    assert result["verdict"] in printed
    assert f"prior: {run[0] / 'prior.json'}" in printed


def test_rows_limits_what_is_learned_from_and_json_prints_the_result(featloom, tmp_path):
    data = write(tmp_path / "tickets.csv", tickets(4))
    test = write(tmp_path / "test.csv", tickets(4, seed=4))
    asked = ("transfer", data, "--task", "site", "--target", "hot", "--test", test, "--rows", "6")
    answer = featloom(*asked, "--json", "--quiet")
    assert answer.code == 0
    result = json.loads(answer.out)
    assert result["protocol"].startswith("4 tasks, 24 training rows, 80 test rows; ")
    assert "at most 6 rows of each task" in result["protocol"]
    assert "Rows" not in [section["name"] for section in result["sections"]]


def test_a_run_is_resumed_with_the_options_it_was_begun_with(run, featloom):
    folder, _ = run
    before = json.loads((folder / "result.json").read_text())
    (folder / "result.json").unlink()
    answer = featloom("resume", folder, "--quiet")
    assert (answer.code, answer.out) == (0, "")
    after = json.loads((folder / "result.json").read_text())
    assert after["comparisons"] == before["comparisons"]
    assert after["command"] == before["command"]


def test_an_archive_tells_tasks_by_an_array(featloom, tmp_path, rows_of):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 6)) < 0.5).astype(int)
    indptr = np.concatenate([[0], np.cumsum(X.sum(axis=1))])
    np.savez(
        tmp_path / "verbs.npz", indptr=indptr, indices=np.nonzero(X)[1], shape=X.shape,
        verb=np.arange(60) % 3, verbs=np.array(["add", "ask", "tell"]), sense=X[:, 0],
        senses=np.array(["one", "two"]), feats=np.array([f"dobj_{j}" for j in range(6)]),
    )  # fmt: skip
    words = ("--task", "verb", "--target", "sense", "--json", "--quiet")
    answer = featloom("transfer", tmp_path / "verbs.npz", *words)
    assert answer.code == 0
    result = json.loads(answer.out)
    assert {row["task"] for row in rows_of(result, "Tasks")} == {"add", "ask", "tell"}
    assert [row["family"] for row in rows_of(result, "Families")] == ["dobj"]


def test_odd_tasks_are_warned_of(featloom, tmp_path):
    rows = [*tickets(3), ("lone", "x1", "x2", "x3", "q", "yes")]
    rows += [("calm", "login", "free", "w1", "p", "no")] * 5
    data = write(tmp_path / "tickets.csv", rows)
    answer = featloom("transfer", data, "--task", "site", "--target", "hot", "--quiet")
    assert answer.code == 0
    assert "warning: 1 task (lone) with a single row to learn from" in answer.err
    assert "warning: 2 tasks (calm, lone) with one class to learn from" in answer.err
    assert "warning: 1 task (lone) without a feature that another task has" in answer.err
