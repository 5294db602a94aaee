"""A refused command changes nothing, and two commands do not work in one folder at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from time import monotonic

import pytest

from featloom.cli.demo import written_once
from featloom.errors import InputError
from featloom.runs import Run
from tests.cli.data import COMMAND, PATIENCE, ticket_text

HOW = ("--target", "escalated", "--strategy", "grid", "--ks", "1", "--folds", "2", "--quiet")

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


def held_by(folder: Path) -> dict[str, bytes]:
    """Every byte of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory, ticket_rows, run_once) -> tuple[Path, Path]:
    """A run that has ended, and its data."""
    folder = tmp_path_factory.mktemp("finished")
    data = folder / "tickets.csv"
    data.write_text(ticket_text(ticket_rows))
    run_once("memory", data, *HOW, "--out", folder / "run")
    return data, folder / "run"


@pytest.fixture
def run(finished, tmp_path) -> tuple[Path, Path]:
    """The data and a copy of the run."""
    shutil.copytree(finished[1], tmp_path / "run")
    return finished[0], tmp_path / "run"


OTHER_COMMANDS = {
    "induce": ("induce", "{data}", "--target", "escalated", "--quiet"),
    "discover": ("discover", "{data}", "--target", "escalated"),
    "select": ("select", "{data}"),
    "grow": ("grow", "{data}", "--target", "escalated"),
    "transfer": ("transfer", "{data}", "--task", "plan", "--target", "escalated"),
    "reproduce": ("reproduce", "transfer"),
}
MEMORY = ("memory", "{data}", *HOW)
OTHER = {
    "another option": ((*MEMORY, "--folds", "3"), "--folds was 2 and is 3 now"),
    "an option that was not given": (
        (*MEMORY, "--vote", "inverse_linear"), "--vote was not given and is inverse_linear now",
    ),
    "data that are not there": (
        ("memory", "{folder}/gone.csv", *HOW), "it is of {data}, not of {folder}/gone.csv",
    ),
    **{
        f"{name}, another command": (
            words, f"it is of 'featloom memory', not of 'featloom {name}'",
        )
        for name, words in OTHER_COMMANDS.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("what", OTHER)
def test_what_would_make_another_run_is_refused_before_anything_is_written(featloom, run, what):
    data, folder = run
    typed, words = OTHER[what]
    before = held_by(folder)
    names = {"data": data, "folder": data.parent}
    answer = featloom(*(word.format(**names) for word in typed), "--out", folder)
    difference = words.format(**names)
    assert (answer.code, answer.out, answer.err) == (
        1,
        "",
        f"featloom: {folder} holds another run: {difference}; name another folder by --out, or go "
        f"on with that run by 'featloom resume {folder}'\n",
    )
    assert held_by(folder) == before


FAULTS = {
    "a wrong option": (["--compat", "x"], "compat is 'x'; it can be timbl or none"),
    "a folder that cannot be made": (["--timbl", "tickets.csv/x"], "tickets.csv is a file"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_a_run_and_places_without_one_as_they_were(
    featloom, run, fault, tmp_path, monkeypatch
):
    data, folder = run
    options, words = FAULTS[fault]
    monkeypatch.chdir(data.parent)
    before = held_by(folder)
    (tmp_path / "empty").mkdir()
    for out in (folder, tmp_path / "deep" / "new", tmp_path / "empty"):
        answer = featloom("memory", data, *HOW, *options, "--out", out)
        assert answer.code == 1
        assert words in answer.err
    assert held_by(folder) == before
    assert not (tmp_path / "deep").exists()
    assert os.listdir(tmp_path / "empty") == []


@pytest.mark.parametrize("command", ["induce", "memory", "grow", "discover"])
def test_a_place_that_is_for_no_run_is_left_alone(featloom, run, tmp_path, command):
    data = run[0]
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter1.tex").write_text("x")
    where = {
        thesis: f"{thesis} holds other files and no featloom run; name a new folder",
        data: f"{data} is a file; a run needs a folder",
        data / "run": f"cannot make the folder {data / 'run'}: not a directory",
    }
    for out, words in where.items():
        answer = featloom(command, data, "--target", "escalated", "--out", out)
        assert (answer.code, answer.err) == (1, f"featloom: {words}\n")
    assert os.listdir(thesis) == ["chapter1.tex"]


def test_a_read_only_folder_is_named(featloom):
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    am_root = os.geteuid() == 0
    try:
        if am_root:
            os.seteuid(65534)  # root may write anywhere; nobody may not
        typed = ("discover", "tickets.csv", "--target", "y", "--out")
        not_made = featloom(*typed, folder / "run")
        not_written = featloom(*typed, folder)
    finally:
        if am_root:
            os.seteuid(0)
        folder.chmod(0o755)
        folder.rmdir()
    assert (not_made.code, not_made.err) == (
        1,
        f"featloom: cannot make the folder {folder / 'run'}: permission denied\n",
    )
    assert not_written.code == 1
    assert not_written.err.startswith(f"featloom: cannot write {folder}")


def test_data_that_have_gone_leave_a_run_as_it_was(featloom, run):
    data, folder = run
    before = held_by(folder)
    data.rename(data.with_name("away.csv"))
    try:
        assert featloom("memory", data, *HOW, "--budget", "7", "--out", folder).code == 1
        assert featloom("resume", folder).err == f"featloom: {data}: no such file\n"
    finally:
        data.with_name("away.csv").rename(data)
    assert held_by(folder) == before
    assert featloom("resume", folder, "--quiet").code == 0


def test_a_budget_in_which_nothing_was_found_leaves_no_folder_and_keeps_the_request(
    featloom, run, tmp_path
):
    data, out = run[0], tmp_path / "new"
    typed = ("discover", data, "--target", "escalated", "--only", "naive Bayes", "--jobs", "1")
    small = ("--budget", "0.01s", "--quiet", "--out", out)
    assert "was too small for anything" in featloom(*typed, *small).err
    assert not out.exists()
    assert featloom(*typed, "--budget", "60s", "--quiet", "--out", out).code == 0
    request = (out / "request.json").read_bytes()
    assert "was too small for anything" in featloom(*typed, *small).err
    assert (out / "request.json").read_bytes() == request


def test_the_same_run_may_take_longer_or_other_cores_and_its_data_another_name(
    featloom, run, monkeypatch
):
    data, folder = run
    result = json.loads((folder / "result.json").read_text())
    monkeypatch.chdir(data.parent)
    answer = featloom(
        "memory", f"./{data.name}", *HOW, "--budget", "90s", "--jobs", "2", "--out", folder
    )
    assert (answer.code, answer.err) == (0, "")
    again = json.loads((folder / "result.json").read_text())
    assert again["leaderboard"] == result["leaderboard"]
    # Of an option that is younger than the run nobody can have asked for anything.
    request = json.loads((folder / "request.json").read_text())
    assert request["options"]["budget"] == "90s"
    del request["options"]["threshold"]
    (folder / "request.json").write_text(json.dumps(request))
    assert featloom("resume", folder, "--quiet").code == 0


def test_a_run_without_its_request_is_not_written_over(featloom, run):
    data, folder = run
    (folder / "request.json").unlink()
    (folder / ".featloom-run").unlink()
    before = held_by(folder)
    answer = featloom("memory", data, *HOW, "--out", folder)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {folder} holds a run without its request.json, which says what it is of; name "
        "another folder by --out\n",
    )
    assert held_by(folder) == before


def test_the_demo_leaves_the_table_of_another_run_alone(featloom, tmp_path):
    run = Run.create(tmp_path / "run")
    table = written_once(run, "prev1,word\nc,Cat\n")
    (run.path / "request.json").write_text("{}")
    assert written_once(run, table.read_text()) == table
    with pytest.raises(InputError, match=r"run holds another run; .* 'featloom resume .*run'"):
        written_once(run, "prev1,word\nx,Axe\n")
    assert table.read_text() == "prev1,word\nc,Cat\n"
    answer = featloom("demo", "--budget", "soon", "--out", tmp_path / "demo")
    assert answer.code == 1
    assert not (tmp_path / "demo").exists()


def started(*words: object) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said_to_wait(process: subprocess.Popen) -> str:
    """What a process says that reads a pipe to which nobody writes."""
    assert process.stderr is not None
    return process.stderr.readline()


def test_a_second_command_is_refused_while_the_first_waits_for_its_pipe(featloom, tmp_path, run):
    data, out = run[0].read_text(), tmp_path / "new"
    pipe = tmp_path / "tickets.csv"
    os.mkfifo(pipe)
    typed = ("memory", pipe, *HOW, "--out", out)
    first = started(*typed)
    try:
        # Nothing is written, so nothing but this line can come.
        assert said_to_wait(first) == (
            f"featloom: warning: {pipe} is a pipe, and nothing has been written to it yet; "
            "it is waited for\n"
        )
        refusal = (
            1,
            "",
            f"featloom: {out} is in use by process {first.pid}; wait for its end, or name another "
            "folder\n",
        )
        before = held_by(out)
        for second in (typed, ("induce", run[0], "--out", out), ("resume", out)):
            answer = featloom(*second)
            assert (answer.code, answer.out, answer.err) == refusal
        assert held_by(out) == before
        pipe.write_text(data)  # for it is read twice, and a pipe gives it once
        _, err = first.communicate(timeout=PATIENCE)
    finally:
        first.kill()
    assert (first.returncode, err) == (0, "")
    assert not (out / ".featloom-lock").exists()
    found, same = (json.loads((one / "result.json").read_text()) for one in (out, run[1]))
    assert found["leaderboard"] == same["leaderboard"]


def test_the_lock_of_a_process_that_was_killed_is_free(featloom, tmp_path, run):
    pipe, out = tmp_path / "tickets.csv", tmp_path / "new"
    os.mkfifo(pipe)
    first = started("memory", pipe, *HOW, "--out", out)
    assert said_to_wait(first)
    first.kill()
    first.communicate(timeout=PATIENCE)
    assert (out / ".featloom-lock").read_text() == f"{first.pid}\n"
    pipe.unlink()
    shutil.copy(run[0], pipe)
    assert featloom("resume", out, "--quiet").code == 0
    assert sorted(held_by(out)) == sorted(held_by(run[1]))


@pytest.mark.parametrize("after", ["result.json", "model.featloom"])
def test_a_kill_while_a_run_ends_leaves_nothing_behind(run, tmp_path, after):
    """Many more, at every instant of the last second: ``benchmarks/faults.py --last``."""
    data, whole = run
    out = tmp_path / "killed"
    process = started("memory", data, *HOW, "--out", out)
    begun = monotonic()
    while process.poll() is None and not (out / after).exists():
        assert monotonic() - begun < PATIENCE
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    # As if the page had been half written.
    (out / f".report.html.{process.pid}.part").write_text("<!doctype")
    resumed = started("resume", out, "--quiet")
    assert resumed.communicate(timeout=PATIENCE) == ("", "")
    assert sorted(held_by(out)) == sorted(held_by(whole))
    found, same = (json.loads((one / "result.json").read_text()) for one in (out, whole))
    assert (found["sections"], found["verdict"]) == (same["sections"], same["verdict"])


NOT_UTF8 = os.fsdecode(b"m\xfcller")


@pytest.mark.parametrize(
    "typed",
    [
        ["memory", "{data}", "--out", NOT_UTF8],
        ["memory", f"{NOT_UTF8}.csv"],
        ["discover", "{data}", "--test", NOT_UTF8],
        ["induce", "{data}", "--domain", NOT_UTF8],
        ["predict", "no-model", "{data}", "--out", NOT_UTF8],
        ["report", NOT_UTF8],
    ],
)
def test_a_name_that_no_result_could_hold_is_refused_before_the_work(featloom, run, typed):
    answer = featloom(*(word.format(data=run[0]) for word in typed))
    assert (answer.code, answer.out) == (1, "")
    assert "m\\udcfcller" in answer.err
    assert answer.err.endswith(" is not UTF-8, as what results name must be; rename it\n")
    assert not os.path.exists(NOT_UTF8)


def test_names_that_no_system_takes_are_told_in_one_line(featloom, run, tmp_path):
    data, folder = run
    long = tmp_path / ("m" * 300)
    answer = featloom("predict", long, data)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    answer = featloom("predict", folder, data, "--out", long)
    assert (answer.code, "the name is too long" in answer.err) == (1, True)
    request = json.loads((folder / "request.json").read_text())
    request["options"]["data"] = "a\0b"
    (tmp_path / "forged").mkdir()
    (tmp_path / "forged" / ".featloom-run").write_text("A featloom run, schema 1.\n")
    (tmp_path / "forged" / "request.json").write_text(json.dumps(request))
    answer = featloom("resume", tmp_path / "forged")
    assert (answer.code, "names no file" in answer.err) == (1, True)


def test_a_run_in_a_folder_whose_name_is_not_utf_8_is_refused(featloom, run, tmp_path, monkeypatch):
    here = tmp_path / NOT_UTF8
    here.mkdir()
    monkeypatch.chdir(here)
    answer = featloom("memory", run[0], *HOW, "--out", "run")
    assert answer.code == 1
    assert "m\\udcfcller is not UTF-8" in answer.err
    assert os.listdir(here) == []


@pytest.mark.parametrize("command", ["predict", "tag", "parse"])
def test_a_file_that_cannot_be_written_is_told_before_the_work(featloom, run, tmp_path, command):
    """Before the model is looked for, which is not there."""
    data, folder = run
    gone, special = tmp_path / "gone" / "answers", tmp_path / "special"
    os.mkfifo(special)
    words = {
        folder: f"{folder} is a folder; name a file",
        gone: f"cannot write {gone}: there is no folder {gone.parent}",
        special: f"{special} is no file that could be replaced; without --out, standard output",
    }
    for out, said in words.items():
        answer = featloom(command, tmp_path / "no-model", data, "--out", out)
        assert (answer.code, answer.err) == (1, f"featloom: {said}\n")
    packed = featloom("parse", tmp_path / "no-model", data, "--out", tmp_path / "x.gz")
    assert "trees are written as plain text" in packed.err
