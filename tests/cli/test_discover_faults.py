"""What ``featloom discover`` says when it cannot do what was asked: one line, and nothing left."""

from __future__ import annotations

import json
import random

HEADER = "area,plan,escalated\n"
ROWS = "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 5
NUMBERS = [f"{k * 37 % 101}.{k:03}" for k in range(200)]


def table(values, header="area,plan,y\n") -> str:
    draw = random.Random(3)
    rows = [f"{draw.choice('abc')},{draw.choice('xyz')},{value}\n" for value in values]
    return header + "".join(rows)


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
