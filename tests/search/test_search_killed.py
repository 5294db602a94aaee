"""Real processes, really killed: what was finished is kept, and the end is the same."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from climbing import BELONGS_TO, SPACE, Climb, evaluate

from featloom.errors import InputError
from featloom.search import Journal, search

SCRIPT = Path(__file__).with_name("climbing.py")
PATIENCE = 60  # seconds that a process may take to end; none takes as many


@pytest.fixture(scope="module")
def uninterrupted():
    history = search(evaluate, Climb(SPACE))
    assert len(history) > 60
    return [[e.candidate, e.result] for e in history]


@pytest.fixture
def start():
    """Start the search in a process; whatever happens, it is gone after the test."""
    started = []

    def start(journal, jobs=1, hold_after=0):
        command = [sys.executable, str(SCRIPT), str(journal), str(jobs), str(hold_after)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE)


def wait_for(process, evaluations):
    """Read what the process prints until it has told so many evaluations."""
    for line in process.stdout:
        if int(line) == evaluations:
            return
    pytest.fail(f"the search ended early: {process.stderr.read()}")


def finish(process):
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(output.splitlines()[-1])


def kept(path):
    with Journal(path, **BELONGS_TO) as journal:
        return [[e.candidate, e.result] for e in journal]


def test_a_search_killed_again_and_again_ends_as_if_nothing_had_happened(
    start, tmp_path, uninterrupted
):
    path = tmp_path / "a.journal"
    for told in (1, 2, 20, 55):
        process = start(path)
        wait_for(process, told)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=PATIENCE)
        finished = kept(path)
        assert len(finished) >= told
        assert finished == uninterrupted[: len(finished)]
    assert finish(start(path)) == uninterrupted
    assert kept(path) == uninterrupted


def test_a_search_in_two_processes_that_is_killed_ends_the_same(start, tmp_path, uninterrupted):
    path = tmp_path / "a.journal"
    process = start(path, jobs=2)
    wait_for(process, 30)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    finished = kept(path)
    assert len(finished) >= 30
    assert all(evaluation in uninterrupted for evaluation in finished)
    assert finish(start(path)) == uninterrupted
    finished = kept(path)
    assert len(finished) == len(uninterrupted)
    assert all(evaluation in finished for evaluation in uninterrupted)


def test_workers_and_their_files_go_with_the_search_that_is_killed(start, tmp_path, monkeypatch):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start(tmp_path / "a.journal", jobs=2, hold_after=20)
    wait_for(process, 20)
    workers = psutil.Process(process.pid).children()
    assert len(workers) == 2
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert alive == []
    assert list(tmp_path.glob("featloom-*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_search_says_so_and_can_go_on(start, tmp_path, uninterrupted, number, jobs):
    path = tmp_path / "a.journal"
    process = start(path, jobs=jobs)
    wait_for(process, 20)
    process.send_signal(number)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    *_, last = output.splitlines()
    told = int(last.split()[2])
    assert last == f"interrupted after {told} evaluations; interrupted"
    assert told >= 20
    with Journal(path, **BELONGS_TO) as journal:
        assert len(journal) >= told
        assert journal.stops[-1].reason == "interrupted"
    assert finish(start(path)) == uninterrupted


def test_a_second_process_is_refused_until_the_first_is_gone(start, tmp_path):
    path = tmp_path / "a.journal"
    process = start(path, hold_after=5)
    wait_for(process, 5)
    with pytest.raises(InputError) as error:
        Journal(path, **BELONGS_TO)
    assert str(error.value) == f"journal {path} is in use by another process"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    assert len(kept(path)) == 5


def test_a_damaged_tail_after_a_kill_is_repeated(start, tmp_path, uninterrupted):
    path = tmp_path / "a.journal"
    process = start(path, hold_after=30)
    wait_for(process, 30)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    log = path.with_name("a.journal-wal")
    contents = bytearray(log.read_bytes())
    contents[len(contents) // 2] ^= 0xFF
    log.write_bytes(contents)
    finished = kept(path)
    assert 0 < len(finished) < 30
    assert finished == uninterrupted[: len(finished)]
    assert finish(start(path)) == uninterrupted


def test_a_journal_made_anew_owes_nothing_to_the_log_of_one_that_was_removed(start, tmp_path):
    path = tmp_path / "a.journal"
    process = start(path, hold_after=5)
    wait_for(process, 5)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
    assert path.with_name("a.journal-wal").exists()
    path.unlink()
    assert kept(path) == []
