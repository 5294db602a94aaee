"""A run is kept whole, other people's folders are left alone, and faults are one sentence."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.errors import InputError, ReadError
from featloom.runs import LOCK, Run, Timing, held, progress, read_result, versions, write_beside

RESULT = {
    "schema": 1,
    "command": "featloom induce letters.tsv --target sound",
    "versions": {"featloom": "0.1.0"},
    "data": {"rows": 26},
    "seed": 0,
    "timing": {"total_s": 0.25},
}


def python(code: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def run(tmp_path) -> Run:
    return Run.create(tmp_path / "runs" / "letters")


def test_a_result_comes_back_as_it_was_written(run):
    run.write_result(RESULT)
    assert run.result() == RESULT
    assert read_result(run.path / "result.json") == RESULT
    assert Run.open(run.path) == run


def test_numbers_of_numpy_are_written_as_numbers(run):
    counts = {"rows": np.int64(26), "share": np.float32(0.5), "counts": np.arange(3)}
    run.write_result({**RESULT, "data": {**counts, "undefined": np.float64("nan")}})
    assert run.result()["data"] == {
        "rows": 26,
        "share": 0.5,
        "counts": [0, 1, 2],
        "undefined": None,
    }


def test_what_json_cannot_hold_is_refused_and_the_old_result_stays(run):
    run.write_result(RESULT)
    with pytest.raises(InputError, match="object has no place in JSON"):
        run.write_result({**RESULT, "data": {"model": object()}})
    assert run.result() == RESULT


@pytest.mark.parametrize("missing", RESULT)
def test_a_result_needs_each_required_field(run, missing):
    with pytest.raises(InputError, match=f"`{missing}`"):
        run.write_result({name: value for name, value in RESULT.items() if name != missing})
    assert not (run.path / "result.json").exists()


def test_a_folder_with_other_files_is_refused_and_untouched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError) as refused:
        Run.create(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} holds other files and no featloom run; name a new folder"
    )
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "letters").write_text("")
    with pytest.raises(InputError, match="letters is a file; a run needs a folder"):
        Run.create(tmp_path / "letters")
    with pytest.raises(InputError, match=r"cannot make the folder .*: not a directory"):
        Run.create(tmp_path / "letters" / "run")


def test_an_empty_folder_and_an_interrupted_run_can_be_used(tmp_path):
    run = Run.create(tmp_path)
    run.write("journal.sqlite", b"finished so far")
    assert Run.create(tmp_path) == run
    assert (tmp_path / "journal.sqlite").read_bytes() == b"finished so far"


def test_a_folder_in_which_a_kill_left_a_half_written_mark_can_be_used(tmp_path):
    (tmp_path / "..featloom-run.26326.part").write_text("")
    (tmp_path / ".featloom-lock").write_text("26326\n")
    with held(tmp_path):
        Run.create(tmp_path)
    assert os.listdir(tmp_path) == [".featloom-run"]


def test_a_run_copied_without_its_hidden_files_is_still_a_run(tmp_path):
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    assert Run.create(tmp_path).result() == RESULT


def test_there_is_no_run_where_nothing_is(tmp_path):
    with pytest.raises(InputError, match=r"no run at .*nowhere"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is not a featloom run"):
        Run.open(tmp_path)


def test_a_run_without_a_result_has_not_finished(run):
    with pytest.raises(ReadError, match="not there; the run has not finished"):
        run.result()


def test_a_result_that_was_changed_is_read_with_a_warning(run):
    run.write_result(RESULT)
    run.write_result(RESULT | {"seed": 7})
    assert run.result()["seed"] == 7
    file = run.path / "result.json"
    file.write_text(file.read_text().replace('"rows": 26', '"rows": 27'))
    with pytest.warns(UserWarning, match=r"result\.json: changed since it was written"):
        assert run.result()["data"]["rows"] == 27


def test_a_run_killed_while_its_result_is_written_is_not_called_changed(run, recwarn):
    """The checksum is written first; the result before may still be there."""
    run.write_result(RESULT)
    before = (run.path / "result.json").read_bytes()
    run.write_result(RESULT | {"seed": 7})
    (run.path / "result.json").write_bytes(before)
    assert run.result()["seed"] == 0
    assert not recwarn


def test_a_new_result_removes_the_page_of_the_old_one(run):
    run.write_result(RESULT)
    page = run.write("report.html", "<!doctype html>")
    run.write_result({**RESULT, "seed": 1})
    assert not page.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not a result: input data was truncated"),
        ('{"schema": 1, "comm', "not a result: input data was truncated"),
        ("[]", "not a result: expected `object`, got `array`"),
        ("null", "not a result: expected `object`, got `null`"),
        ("{}", "not a result: object missing required field `schema`"),
        ('{"schema": "1"}', "not a result: expected `int`, got `str` - at `$.schema`"),
        ('{"schema": 3}', "schema 3 is of a newer featloom; this one reads up to 2"),
        (json.dumps({**RESULT, "schema": 0}), "not a result: there is no schema 0"),
        ("[" * 100_000, "not a result: too deeply nested"),
    ],
)
def test_a_broken_result_is_one_sentence_that_names_the_file(tmp_path, content, words):
    file = tmp_path / "result.json"
    file.write_text(content)
    with pytest.raises(ReadError) as refused:
        read_result(tmp_path)
    assert str(refused.value) == f"{file}: {words}"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_result_or_a_sentence(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "result.json").write_bytes(content)
        with pytest.raises(ReadError) as refused:
            read_result(folder)
    assert "\n" not in str(refused.value)


def test_a_disk_without_room_is_one_sentence_and_keeps_the_old_file(run):
    run.write_result(RESULT)
    # A limit on the size of files stands in for a full disk: the write stops half way.
    done = python(
        f"""
        import resource, signal
        from featloom.errors import InputError
        from featloom.runs import Run
        run = Run.open({str(run.path)!r})
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            run.write("result.json", "x" * 5000)
        except InputError as error:
            print(error)
        """
    )
    assert done.stdout.strip() == f"cannot write {run.path / 'result.json'}: file too large"
    assert run.result() == RESULT
    assert sorted(os.listdir(run.path)) == [".featloom-run", "result.json"]


def test_a_folder_that_may_not_be_written_to_is_one_sentence():
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    am_root = os.geteuid() == 0
    try:
        if am_root:
            os.seteuid(65534)  # root may write anywhere; nobody may not
        with pytest.raises(InputError) as not_made:
            Run.create(folder / "run")
        with pytest.raises(InputError) as not_written:
            write_beside(folder / "result.json", "{}")
    finally:
        if am_root:
            os.seteuid(0)
        folder.chmod(0o755)
        folder.rmdir()
    assert str(not_made.value) == f"cannot make the folder {folder / 'run'}: permission denied"
    assert str(not_written.value) == (f"cannot write {folder / 'result.json'}: permission denied")


@pytest.fixture
def elsewhere():
    """Start Python that prints a line when it is ready and ends with its input."""
    started = []

    def elsewhere(code: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield elsewhere
    for process in started:
        process.kill()
        process.communicate()


HOLDS = """
from featloom.runs import held
with held({0!r}):
    print("ready", flush=True)
    input()
"""


def test_a_folder_is_held_by_one_process_which_is_named(tmp_path, elsewhere):
    folder = tmp_path / "new" / "run"
    other = elsewhere(HOLDS.format(str(folder)))
    with pytest.raises(InputError) as refused, held(folder):
        pass
    assert str(refused.value) == (
        f"{folder} is in use by process {other.pid}; wait for its end, or name another folder"
    )
    assert os.listdir(folder) == [LOCK]
    other.communicate("\n")
    assert os.listdir(folder) == []
    with held(folder), held(folder):  # a command that calls another one
        assert (folder / LOCK).read_text() == f"{os.getpid()}\n"
    assert os.listdir(folder) == []


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path, elsewhere):
    other = elsewhere(HOLDS.format(str(tmp_path)))
    other.kill()
    other.wait()
    assert (tmp_path / LOCK).read_text() == f"{other.pid}\n"
    with held(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_many_processes_that_want_one_folder_never_hold_it_together(tmp_path):
    """Each adds to a number that is read before and written after; none is lost."""
    code = f"""
        from pathlib import Path
        from featloom.errors import InputError
        from featloom.runs import held
        number, done = Path({str(tmp_path)!r}, "number"), 0
        while done < 50:
            try:
                with held({str(tmp_path / "run")!r}):
                    number.write_text(str(int(number.read_text()) + 1))
                    done += 1
            except InputError as error:
                assert "in use by" in str(error), error
    """
    (tmp_path / "number").write_text("0")
    command = [sys.executable, "-c", textwrap.dedent(code)]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[1] for process in started] == [b""] * 3
    assert (tmp_path / "number").read_text() == "150"


def test_a_lock_that_points_elsewhere_is_not_followed(tmp_path):
    folder, thesis = tmp_path / "run", tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    run = Run.create(folder)
    (run.path / LOCK).symlink_to(thesis)
    with pytest.raises(InputError, match=r"cannot write .*\.featloom-lock: "), held(folder):
        pass
    assert thesis.read_text() == "years of work"


def test_what_was_half_written_goes_but_not_what_is_being_written(run, elsewhere):
    other = elsewhere(
        f"""
        from featloom.runs import write_beside
        def pieces():
            yield "<!doctype html>"
            print("ready", flush=True)
            yield input()
        write_beside({str(run.path / "report.html")!r}, pieces())
        """
    )
    alive = f".report.html.{other.pid}.part"
    for name in (".report.html.1.part", f".result.json.{os.getpid()}.part", ".a.journal.7.new"):
        (run.path / name).write_text("half")
    (run.path / "a.part").write_text("not ours")
    with held(run.path):
        names = {path.name for path in run.path.iterdir()}
    assert names == {".featloom-run", LOCK, alive, "a.part"}
    other.communicate("the rest")
    assert (run.path / "report.html").read_text() == "<!doctype html>the rest"


def test_versions_come_without_importing_the_packages():
    done = python(
        """
        import sys
        from featloom.runs import versions
        versions()
        print(sorted({"numpy", "sklearn", "numba", "polars", "rich"} & set(sys.modules)))
        """
    )
    assert done.stdout.strip() == "[]", done.stderr
    assert versions()["numpy"] == np.__version__


def test_a_stage_entered_twice_adds_up():
    timing = Timing()
    for _ in range(2):
        with timing.stage("read"):
            pass
    with pytest.raises(ZeroDivisionError), timing.stage("fit"):
        1 / 0  # noqa: B018
    seconds = timing.as_dict()
    assert list(seconds) == ["read_s", "read_user_s", "fit_s", "fit_user_s", "total_s", "user_s"]
    assert 0 <= seconds["read_s"] + seconds["fit_s"] <= seconds["total_s"] + 0.001


def test_progress_is_silent_away_from_a_terminal(capfd):
    with progress("counting", total=3) as line:
        line.say("compiling")
        line.advance(best=0.9)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_on_a_terminal_shows_the_words_and_the_best_score(quiet):
    ours, theirs = pty.openpty()
    code = f"""
        from featloom.runs import progress
        with progress("scoring [/x]", total=4, quiet={quiet}) as line:
            for _ in range(4):
                line.advance(best=0.8125)
    """
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(
        command, stderr=theirs, stdout=subprocess.PIPE, env=environment, check=True
    )
    os.close(theirs)
    seen = _read_all(ours)
    assert done.stdout == b""
    if quiet:
        assert seen == ""
    else:
        assert "scoring [/x]" in seen
        assert "100%" in seen
        assert "best 0.8125" in seen


def _read_all(descriptor: int) -> str:
    chunks = []
    try:
        while chunk := os.read(descriptor, 65536):
            chunks.append(chunk)
    except OSError:  # Linux ends a closed terminal this way
        pass
    finally:
        os.close(descriptor)
    return b"".join(chunks).decode()
