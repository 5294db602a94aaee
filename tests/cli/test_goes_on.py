"""Commands that are killed or interrupted, really, and what comes of them when they go on: what
it would have been without.  A command that can be resumed needs a line in SEARCHES or COUNTS."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import polars as pl
import pytest

from featloom.learners.parser import DependencyParser
from tests.cli.data import (
    COMMAND,
    PATIENCE,
    clauses,
    column_text,
    found_in,
    stopped_when_it_grows,
    treebank,
)

# After how many more rows of the journal each process is killed.
SEARCHES: dict[str, tuple[str, tuple[int, ...]]] = {
    "induction": (
        "induce tickets.csv --target escalated --search --max-length 2", (8, 20),
    ),
    # On so few features the paper's shares leave little to join, but the way is the same.
    "induction by the paper": (
        "induce tickets.csv --target escalated --search --max-length 2 --preset paper "
        "--score fisher", (8, 20),
    ),
    "memory": ("memory tickets.csv --target escalated --strategy exhaustive --folds 2", (8, 60)),
    "templates": ("select train.conll --strategy outward", (4, 10)),
}  # fmt: skip
COUNTS = {
    "induction": "induce blocks --target escalated",
    "trees": "grow blocks --target escalated",
}


def interrupted(run: Path) -> str:
    return (
        "featloom: interrupted; everything finished so far is kept; "
        f"'featloom resume {run}' goes on\n"
    )


@pytest.fixture
def here(tmp_path, monkeypatch, tickets, ticket_rows) -> Path:
    """A folder with data, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    Path("train.conll").write_text(column_text(clauses(60)))
    Path("trees.conllu").write_text(treebank(300))
    Path("blocks").mkdir()
    names = ("area", "plan", "channel", "language", "escalated")
    frame = pl.DataFrame([row[1:] for row in ticket_rows], schema=names, orient="row")
    for place in range(3):
        frame[place * 140 : (place + 1) * 140].write_parquet(f"blocks/{place}.parquet")
    return tmp_path


def started(*words: str | Path) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen) -> None:
    begun = monotonic()
    while not is_so() and process.poll() is None:
        assert monotonic() - begun < PATIENCE
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.01)


@pytest.mark.parametrize("what", SEARCHES)
def test_a_search_killed_again_and_again_ends_as_if_nothing_had_been(featloom, here, what):
    typed, pages = SEARCHES[what]
    undisturbed, disturbed = here / "undisturbed", here / "disturbed"
    assert featloom(*typed.split(), "--out", undisturbed, "--quiet").code == 0
    command, kills = [*typed.split(), "--out", disturbed], 0
    for rows in pages:
        process = started(*command, "--quiet")
        kills += stopped_when_it_grows(process, disturbed / "search.journal", rows)
        process.communicate(timeout=PATIENCE)
        command = ["resume", disturbed]
        assert (disturbed / "request.json").exists()
        assert not (disturbed / "result.json").exists() or process.returncode == 0
    assert kills > 0
    assert featloom("resume", disturbed, "--quiet").code == 0
    assert found_in(disturbed) == found_in(undisturbed)
    models = [(run / "model.featloom").read_bytes() for run in (disturbed, undisturbed)]
    assert models[0] == models[1]


@pytest.mark.parametrize("what", COUNTS)
def test_a_killed_count_begins_again_and_ends_as_if_nothing_had_been(featloom, here, what):
    typed = (*COUNTS[what].split(), "--quiet")
    undisturbed, disturbed = here / "undisturbed", here / "disturbed"
    assert featloom(*typed, "--out", undisturbed).code == 0
    process = started(*typed, "--out", disturbed)
    wait_until((disturbed / "request.json").exists, process)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert not (disturbed / "result.json").exists()
    answer = featloom("resume", disturbed, "--quiet")
    assert answer.code == 0, answer.err
    assert found_in(disturbed) == found_in(undisturbed)


def test_an_interrupted_search_keeps_what_it_found(featloom, here):
    run = here / "run"
    process = started(*SEARCHES["memory"][0].split(), "--out", run)
    assert stopped_when_it_grows(process, run / "search.journal", 20, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", interrupted(run))
    assert (run / "search.journal").exists()
    assert not (run / "result.json").exists()
    assert featloom("resume", run, "--quiet").code == 0
    assert (run / "result.json").exists()


def test_a_parser_is_kept_while_its_rival_is_still_trained(featloom, here):
    run = here / "run"
    process = started("grow", "trees.conllu", "--trees", "3", "--out", run)
    wait_until((run / "model.featloom").exists, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    if process.returncode == 0:
        pytest.skip("it ended before it could be interrupted")
    assert (process.returncode, err) == (130, interrupted(run))
    assert {"request.json", "templates.json", "model.featloom"} <= {p.name for p in run.iterdir()}
    assert DependencyParser.load(run / "model.featloom").predict([[("a", "a", "DET", "_", "_")]])
    answer = featloom("resume", run)
    assert (answer.code, answer.err) == (0, "")
    assert (run / "result.json").exists()


def test_a_run_is_resumed_from_another_folder_to_the_same_result(featloom, here, monkeypatch):
    (here / "elsewhere").mkdir()
    how = ("--target", "escalated", "--strategy", "genetic", "--trials", "20", "--quiet")
    assert featloom("memory", "tickets.csv", *how, "--out", "run").code == 0
    before = found_in(here / "run")
    assert before["data"]["source"] == "tickets.csv"
    (here / "run" / "result.json").unlink()
    monkeypatch.chdir(here / "elsewhere")
    answer = featloom("resume", Path("..", "run"), "--quiet")
    assert answer.code == 0, answer.err
    assert Path.cwd() == here / "elsewhere"
    assert found_in(here / "run") == before
