"""What ``featloom discover`` says when it cannot do what was asked: one line, and nothing left."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path

import pytest

HEADER = "area,plan,escalated\n"
ROWS = "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 5
NUMBERS = [f"{k * 37 % 101}.{k:03}" for k in range(200)]


def table(values, header="area,plan,y\n") -> str:
    draw = random.Random(3)
    rows = [f"{draw.choice('abc')},{draw.choice('xyz')},{value}\n" for value in values]
    return header + "".join(rows)


FILES = {
    "empty": (b"", "escalated", "FILE: the file is empty"),
    "header only": (HEADER, "escalated", "FILE: no rows"),
    "one row": (
        HEADER + "login,free,yes\n", "escalated",
        "FILE: one class only in column 'escalated': 'yes'; two are needed",
    ),
    "two rows": (
        HEADER + "login,free,yes\nexport,team,no\n", "escalated",
        "'escalated' holds 2 different values in 2 rows; a class must have several rows to be "
        "learned from",
    ),
    "one class": (
        HEADER + "login,free,no\n" * 9, "escalated",
        "FILE: one class only in column 'escalated': 'no'; two are needed",
    ),
    "no such target": (
        HEADER + ROWS, "late", "FILE: no column 'late'; there are area, plan, escalated",
    ),
    "two columns of one name": (
        HEADER.replace("plan", "area") + ROWS, "escalated",
        "FILE:1:2: column 'area' appears twice (is the first line a header?)",
    ),
    "a number a row": (
        table(NUMBERS), "y",
        "FILE: every row has a number of its own in column 'y'; only classes can be predicted, "
        "and 'featloom discover --bins 4' makes four ranges of it",
    ),
    "numbers with fractions": (
        table([f"{k % 40}.5" for k in range(200)]), "y",
        "'y' holds 40 different numbers in 200 rows; only classes can be predicted, and --bins 4 "
        "(bins=4 in Python) makes four ranges of it",
    ),
    "a thousand whole numbers": (
        table([k % 1000 for k in range(3000)]), "y",
        "'y' holds 1,000 different numbers in 3,000 rows; only classes can be predicted, and "
        "--bins 4 (bins=4 in Python) makes four ranges of it",
    ),
    "a class for every row and a half": (
        table([f"c{k % 10_000}" for k in range(15_000)]), "y",
        "'y' holds 10,000 different values in 15,000 rows; a class must have several rows to be "
        "learned from",
    ),
    "nothing but an id": (
        "id,y\n" + "".join(f"r{k},{'ab'[k % 2]}\n" for k in range(90)), "y",
        "no column is left to predict from: column 'id' has 90 different values in 90 rows, as "
        "an id has, and is left out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FILES)
def test_data_that_cannot_be_asked_are_told_in_one_line_and_leave_no_run(featloom, tmp_path, fault):
    content, target, words = FILES[fault]
    path, out = tmp_path / "tickets.csv", tmp_path / "runs" / "tickets"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = featloom("discover", path, "--target", target, "--out", out)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines()[-1] == f"featloom: {words.replace('FILE', str(path))}"
    assert os.listdir(tmp_path) == ["tickets.csv"]


OPTIONS = {
    "--budget soon": "budget 'soon' is no time; it must be one such as 60, 90s, 10m or 2h",
    "--drop inducton": "no contender 'inducton'; there are class shares, ",
    "--budget 0s": "a budget must be positive, not 0.0",
    "--kind forest": "kind is 'forest'; it can be table, sequence, trees, tasks",
    "--kind sequence": "the data are no sentences, which kind 'sequence' needs",
    "--kind trees": "the data are no sentences, which kind 'trees' needs",
    "--kind tasks": "the task of a row is not known; name the column that tells it by --task",
    "--task escalated": "--task and --target are both 'escalated'; they are two columns",
    "--positive maybe": "no class 'maybe'; there are yes, no",
    "--groups escalated": "column 'escalated' cannot be both target and groups",
    "--groups plan": "2 groups cannot be dealt into 5 folds",
    "--bins 4": "'escalated' holds 'yes', and ranges are made of numbers",
    "--bins 1": "bins is 1; two ranges are the fewest that can be told apart",
    "--sample 0": "sample is 0; a share must lie in (0, 1]",
    "--sample 2": "sample is 2; a share must lie in (0, 1]",
    "--on-bad-row fix": "on_bad_row is 'fix'; it must be 'raise' or 'skip'",
    "--judge-by luck": "judge_by is 'luck'; it can be log-loss, AUC, Brier score, accuracy, F1",
    "--class-weight fair": "class_weight is 'fair'; it can be None or 'balanced'",
    "--only magic": "no contender 'magic'; there are class shares, naive Bayes, ",
}


@pytest.fixture
def sound(tmp_path) -> Path:
    path = tmp_path / "sound.csv"
    path.write_text(HEADER + ROWS)
    return path


@pytest.mark.parametrize("typed", OPTIONS)
def test_a_value_that_means_nothing_is_named(featloom, sound, tmp_path, typed):
    out = tmp_path / "run"
    words = ("discover", sound, "--target", "escalated", "--quiet", "--out", out, *typed.split())
    answer = featloom(*words)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"featloom: {OPTIONS[typed]}")
    assert len(answer.err.splitlines()) == 1
    assert not out.exists()


def test_a_test_part_must_have_the_columns(featloom, sound, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("plan,escalated\n" + "free,yes\nteam,no\n" * 9)
    answer = featloom("discover", sound, "--target", "escalated", "--test", other)
    assert answer.code == 1
    assert answer.err.splitlines()[-1] == "featloom: no column 'area'; there are plan"


def test_without_a_target_the_columns_are_listed(featloom, sound):
    answer = featloom("discover", sound)
    assert answer.code == 1
    assert answer.err == (
        "featloom: no classes; name the column that holds them by --target: area, plan, escalated\n"
    )


def test_a_read_only_folder_is_named(featloom):
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    am_root = os.geteuid() == 0
    try:
        if am_root:
            os.seteuid(65534)  # root may write anywhere; nobody may not
        answer = featloom("discover", "tickets.csv", "--target", "y", "--out", folder / "run")
    finally:
        if am_root:
            os.seteuid(0)
        folder.chmod(0o755)
        folder.rmdir()
    assert (answer.code, answer.err) == (
        1,
        f"featloom: cannot make the folder {folder / 'run'}: permission denied\n",
    )


def asked(featloom, path, target, *words, only="naive Bayes") -> dict:
    """The result of a small comparison."""
    answer = featloom(
        "discover", path, "--target", target, "--only", only, "--budget", "60s", "--jobs", "1",
        "--json", *words,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_rows_without_a_class_are_left_out_and_counted(featloom, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text(HEADER + ROWS * 3 + "login,free,\n,NA,yes\n")
    for words in ((), ("--on-bad-row", "skip")):
        data = asked(featloom, path, "escalated", *words)["data"]
        assert data["rows"] == 61
    data = asked(featloom, path, "escalated")["data"]
    assert "1 row has no class and is left out" in data["warnings"]


def test_numbers_are_cut_into_ranges_on_demand(featloom, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text(table(NUMBERS))
    result = asked(featloom, path, "y", "--bins", "4")
    assert len(result["data"]["classes"]) == 4
    assert set(result["data"]["classes"].values()) == {50}
    assert result["data"]["target"] == "y in 4 ranges"
    assert "bins=4" in result["use"][-1]["code"]


def test_a_class_of_two_rows_ends_nothing(featloom, tmp_path):
    """One of them is in the test part; the fold that judges the other learns from none."""
    path = tmp_path / "rare.csv"
    path.write_text(HEADER + "login,free,no\nexport,team,no\n" * 40 + "export,free,yes\n" * 2)
    result = asked(featloom, path, "escalated")
    rows = {row["name"]: row for row in result["leaderboard"]}
    chance, bayes = rows["class shares"], rows["naive Bayes"]
    assert (chance["status"], len(chance["folds"])) == ("finished", 5)
    assert (bayes["status"], len(bayes["folds"])) == ("partly", 4)
    assert bayes["why"].startswith("y holds one class only, 'no'")
    assert "Compared in part: naive Bayes." in result["verdict"]
    assert result["data"]["classes"] == {"no": 80, "yes": 2}
    assert "1 class has fewer than 5 rows and can hardly be learned" in result["data"]["warnings"]


def test_names_that_are_long_or_look_like_a_page_do_no_harm(featloom, tmp_path):
    path, out = tmp_path / "odd.csv", tmp_path / "run"
    long, script = "n" * 500, "<script>alert(1)</script>"
    rows = ROWS.replace("login", "v" * 500).replace("team", script) * 6
    path.write_text(f"{long},{script},class\n{rows.replace('yes', '<b>yes</b>')}")
    answer = featloom(
        "discover", path, "--target", "class", "--only", "linear model", "--budget", "60s",
        "--jobs", "1", "--judge-by", "F1", "--out", out,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    page = (out / "report.html").read_text(encoding="utf-8")
    assert script not in page
    assert "<b>yes</b>" not in page
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["metric"] == "F1 of <b>yes</b>"
    assert {family["name"] for family in result["data"]["families"]} == {long, script}


def test_of_a_file_larger_than_memory_rows_are_drawn_and_that_is_said(
    featloom, tmp_path, monkeypatch
):
    path, out = tmp_path / "large.csv", tmp_path / "run"
    path.write_text(HEADER + ROWS * 40)
    size = path.stat().st_size
    # A machine that has room for a third of what is needed.
    monkeypatch.setattr("featloom.data.room.available_memory", lambda: 5 * size // 3)
    result = asked(featloom, path, "escalated", "--out", out)
    assert 200 < result["data"]["rows"] < 330
    (said,) = [one for one in result["data"]["warnings"] if "memory" in one]
    assert said == (
        f"{path} would take about {5 * size / 1e6:.1f} MB of memory, and {5 * size // 3 / 1e6:.1f} "
        "MB are free; 30 % of the rows were read, drawn at random"
    )
    # With more room the run goes on with the rows that it was begun with.
    monkeypatch.undo()
    monkeypatch.setenv("COLUMNS", "100")
    assert featloom("resume", out, "--quiet").code == 0
    again = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert again["data"]["rows"] == result["data"]["rows"]


def test_a_large_file_of_another_kind_is_refused(featloom, tmp_path, monkeypatch):
    path = tmp_path / "large.svm"
    path.write_text("+1 1:1\n-1 2:1\n" * 50)
    monkeypatch.setattr("featloom.data.room.available_memory", lambda: 1000)
    answer = featloom("discover", path)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {path} would take about 0.0 MB of memory, and 0.0 MB are free; of such a file "
        "a part cannot be drawn, so cut it first\n",
    )
