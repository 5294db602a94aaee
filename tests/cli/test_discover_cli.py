"""``featloom discover`` as people run it: real processes, really interrupted, within their time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from featloom.data.readers import read
from featloom.discover import discover
from tests.cli.data import COMMAND, PATIENCE

pty = pytest.importorskip("pty", reason="needs terminals")
resource = pytest.importorskip("resource", reason="needs limits of processes")

NOT_YET = ("partly", "unfinished")
QUICK = ("naive Bayes", "linear model")
SOME = ("naive Bayes", "induction")
JOINED = ("linear model", "tree templates")


def typed(tickets, *words, only=QUICK, budget="60s"):
    """The words of a command on the tickets."""
    chosen = [word for name in only for word in ("--only", name)]
    return ["discover", tickets, "--target", "escalated", "--budget", budget, *chosen, *words]


@pytest.fixture
def start():
    """Start a command; whatever happens, it is gone after the test."""
    started = []

    def start(*words, **options) -> subprocess.Popen:
        process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options,
            # Ctrl-C reaches all processes of a terminal, and so do these signals.
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=PATIENCE)


def scores(leaderboard):
    parts = ("name", "value", "interval", "folds", "test", "metrics", "size", "setting", "learned")
    return [[row[part] for part in parts] for row in leaderboard if row["status"] == "finished"]


def result_of(run):
    return json.loads((run / "result.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Run:
    """A run that was left alone, and what it showed on its two outputs."""

    folder: Path
    data: Path
    out: str
    terminal: str


@pytest.fixture(scope="module")
def run(tmp_path_factory, many_tickets) -> Run:
    folder = tmp_path_factory.mktemp("left_alone")
    data = folder / "tickets.csv"
    header = "area,plan,channel,language,escalated\n"
    data.write_text(header + "".join(",".join(row[1:]) + "\n" for row in many_tickets))
    words = typed(data, "--out", folder / "run", "--jobs", "1", only=JOINED)
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    seen = b"".join(parts_of(terminal))
    os.close(terminal)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, seen
    return Run(folder / "run", data, out, seen.decode(errors="replace"))


def parts_of(terminal: int):
    """What is written to a terminal until nobody is there who could write."""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # so Linux says that the other end is closed
            return
        if not part:
            return
        yield part


def test_a_run_prints_a_leaderboard_and_a_verdict_and_leaves_result_model_and_page(run):
    folder, path = run.folder, run.data
    lines = run.out.splitlines()
    assert lines[0] == f"{path}: taken for a table: 1,200 rows, 4 columns of symbols, 2 classes"
    assert lines[1].startswith("a fifth of the rows held out as test part; the others in 5 folds")
    assert any("tree templates ←" in line for line in lines)
    result = result_of(folder)
    assert result["verdict"] in lines
    assert lines[-2:] == [
        f"model: {folder / 'model.featloom'}",
        f"report: {folder / 'report.html'}",
    ]
    assert (result["kind"], result["chosen"]) == ("discover", "tree templates")
    assert result["significant"] is True
    assert (result["metric"], result["lower_is_better"]) == ("log-loss", True)
    assert "log-loss, lower is better; AUC and accuracy on the test part" in lines
    assert any(line.startswith("on the test part: log-loss .") for line in lines)
    assert result["budget"]["first_answer"] > 0
    assert result["budget"]["stopped"] == "finished"
    assert result["files"] == ["model.featloom", "features.json", "interactions.vw"]
    assert all((folder / name).stat().st_size for name in [*result["files"], "report.html"])
    titles = ["on the command line", "in Python", "the comparison, in Python"]
    assert [use["title"] for use in result["use"]] == titles
    assert result["use"][0]["code"] == f"featloom predict {folder} NEW_FILE"


def test_the_python_of_a_run_finds_what_the_run_found(run):
    folder, path = run.folder, run.data
    result = result_of(folder)
    code = result["use"][2]["code"]
    assert f"discover({str(path)!r}, target='escalated')" in code
    again = discover(path, "escalated", only=JOINED, budget=None, n_jobs=1)
    assert json.loads(json.dumps(scores(again.leaderboard))) == scores(result["leaderboard"])


def test_the_model_of_a_run_answers_new_rows_and_says_why(featloom, run, tmp_path):
    folder, path = run.folder, run.data
    new = tmp_path / "new.csv"
    new.write_text(
        "language,plan,area,channel,ticket\nen,enterprise,export,mail,1\nen,free,export,mail,2\n"
    )
    answer = featloom("predict", folder, new, "--json")
    assert json.loads(answer.out)["predictions"] == ["yes", "no"]
    answer = featloom("predict", folder, new, "--explain", "1")
    assert answer.code == 0
    assert "→ yes" in answer.out
    assert "area=export & plan=enterprise" in answer.out
    judged = featloom("predict", folder, path, "--out", tmp_path / "answers.csv")
    assert "1,200 rows, predictions in" in judged.out + judged.err
    found = discover(path, "escalated", only=JOINED, budget=None, n_jobs=1)
    rows = read(path, target="escalated")
    lines = (tmp_path / "answers.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == found.pipeline().predict(rows).tolist()


def test_a_run_that_is_over_is_shown_again_by_resume(featloom, run):
    folder = run.folder
    before = result_of(folder)
    assert featloom("resume", folder, "--quiet").code == 0
    # Times too: they are those of the journal.
    assert result_of(folder)["leaderboard"] == before["leaderboard"]
    assert result_of(folder)["command"] == before["command"]


def test_a_run_can_be_given_more_time_and_other_cores(featloom, run):
    folder, path = run.folder, run.data
    before = result_of(folder)["leaderboard"]
    words = ("--out", folder, "--jobs", "2", "--quiet")
    answer = featloom(*typed(path, *words, only=JOINED, budget="90s"))
    assert (answer.code, answer.out) == (0, "")
    assert scores(result_of(folder)["leaderboard"]) == scores(before)


def test_a_run_of_counted_settings_needs_no_time_and_goes_on_by_its_journal(
    featloom, tickets, tmp_path
):
    only = [word for name in QUICK for word in ("--only", name)]
    words = ("discover", tickets, "--target", "escalated", "--trials", "2", *only, "--quiet")
    assert featloom(*words, "--jobs", "1", "--out", tmp_path / "run").code == 0
    before = result_of(tmp_path / "run")
    assert (before["budget"]["seconds"], before["budget"]["trials"]) == (None, 2)
    assert all(row["n_folds"] == 5 for row in before["leaderboard"] if row["status"] == "finished")
    assert featloom("resume", tmp_path / "run", "--quiet").code == 0
    assert result_of(tmp_path / "run")["leaderboard"] == before["leaderboard"]
    assert featloom(*words, "--jobs", "2", "--out", tmp_path / "other").code == 0
    assert scores(result_of(tmp_path / "other")["leaderboard"]) == scores(before["leaderboard"])


def wait_until_written(journal, size, process):
    """Wait until a process has written so much to its journal."""
    log = journal.with_name(journal.name + "-wal")
    while not log.exists() or log.stat().st_size < size:
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"ended before it was interrupted: {process.communicate()[1]}")


@pytest.fixture
def interrupted(start, tickets, tmp_path):
    """Interrupt a run in the middle by a signal; its folder and what it printed."""

    def interrupt(number: int) -> tuple[Path, str]:
        out = tmp_path / "run"
        process = start(*typed(tickets, "--out", out, "--jobs", "1", only=SOME))
        wait_until_written(out / "discover.journal", 60_000, process)
        os.killpg(process.pid, number)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, stderr
        assert "Traceback" not in stderr
        assert "featloom: interrupted; everything finished so far is kept" in stderr
        return out, stdout

    return interrupt


def test_after_ctrl_c_resume_ends_as_if_there_had_been_none(interrupted, featloom, tickets):
    out, stdout = interrupted(signal.SIGINT)
    stopped = result_of(out)
    assert stopped["budget"]["stopped"] == "interrupted"
    assert "interrupted" in stdout
    assert stopped["use"] == []
    assert (out / "report.html").exists()
    assert not (out / "model.featloom").exists()
    assert featloom("resume", out, "--quiet").code == 0
    resumed = result_of(out)
    assert resumed["budget"]["stopped"] == "finished"
    assert (out / "model.featloom").exists()
    undisturbed = discover(tickets, "escalated", only=SOME, budget=None, n_jobs=1)
    finished = json.loads(json.dumps(scores(undisturbed.leaderboard)))
    assert scores(resumed["leaderboard"]) == finished
    assert resumed["chosen"] == undisturbed.chosen
    # What the interrupted run had of them was no other.
    assert all(row in finished for row in scores(stopped["leaderboard"]))


def test_a_run_that_is_told_to_end_leaves_what_was_finished(interrupted):
    out, _ = interrupted(signal.SIGTERM)
    stopped = result_of(out)
    assert stopped["budget"]["stopped"] == "interrupted"
    # On a fast machine all folds may be over, and what follows them was interrupted.
    why = {row["why"] for row in stopped["leaderboard"] if row["status"] in NOT_YET}
    assert why <= {"interrupted"}


def test_a_run_keeps_to_its_budget(start, tickets, tmp_path):
    """Everything is tried, and there is not nearly time for it."""
    out, seconds = tmp_path / "run", 6
    process = start(*typed(tickets, "--out", out, "--jobs", "2", only=(), budget=f"{seconds}s"))
    _, stderr = process.communicate(timeout=PATIENCE)
    if process.returncode == 1:  # on a machine so slow that nothing was finished
        assert "the budget of 6 s was too small for anything" in stderr
        return
    assert process.returncode == 0, stderr
    budget = result_of(out)["budget"]
    assert budget["seconds"] == seconds
    assert budget["spent"] <= 1.1 * seconds + 2
    rows = result_of(out)["leaderboard"]
    assert all(row["why"] for row in rows if row["status"] != "finished")


def test_a_budget_too_small_for_anything_is_told(featloom, tickets):
    answer = featloom(*typed(tickets, "--quiet", "--jobs", "1", budget="0.01s"))
    assert (answer.code, answer.err) == (
        1,
        "featloom: the budget of 0.01 s was too small for anything; give it more time\n",
    )


def test_scores_are_shown_while_they_come_on_a_terminal(run):
    assert "Ctrl-C ends it with what is finished" in run.terminal
    assert "left · Ctrl-C" in " ".join(run.terminal.split())
    assert "log-loss" in run.terminal
    assert "tree templates" in run.terminal


def test_lines_of_a_terminal_end_between_words(run):
    told = run.terminal[run.terminal.index("featloom: warning: 100 %") :].splitlines()[:4]
    assert all(len(line) <= 100 for line in told)
    assert "also in the part learned from, value for value; methods that" in " ".join(told)


def test_a_full_disk_is_one_sentence_and_the_leaderboard_is_shown(start, tickets, tmp_path):
    """A limit on the size of files stands for the disk: journal and result fit, the page not."""
    out = tmp_path / "run"
    limit = 300_000
    process = start(
        *typed(tickets, "--out", out, "--jobs", "1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert (
        stderr.splitlines()[-1] == f"featloom: cannot write {out / 'report.html'}: file too large"
    )
    assert "linear model" in stdout
    assert result_of(out)["verdict"] in stdout
    assert not [path for path in out.iterdir() if path.name.endswith(".part")]


def test_a_disk_too_full_for_the_journal_is_told_before_the_work(start, tickets, tmp_path):
    out = tmp_path / "run"
    process = start(
        *typed(tickets, "--out", out, "--jobs", "1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
    )
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    journal = out / "discover.journal"
    assert stderr.startswith(f"featloom: journal {journal} cannot be written: ")
    assert len(stderr.splitlines()) == 1
    assert not out.exists()
