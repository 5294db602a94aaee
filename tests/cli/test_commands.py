"""What holds for every command that learns from a table.  A new one needs a line in COMMANDS."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from tests.cli.data import found_in, without_times

# What makes each as short as it can be, on the tickets; and what tells tasks apart where it does.
COMMANDS = {
    "induce": (),
    "memory": ("--strategy", "grid", "--folds", "2", "--ks", "1"),
    "grow": (),
    "transfer": ("--task", "plan"),
    "discover": ("--only", "naive Bayes", "--jobs", "1"),
    "discover tasks": ("--task", "plan", "--only", "one model for all tasks", "--jobs", "1"),
}
every_command = pytest.mark.parametrize("name", COMMANDS)


def typed(name: str, data: Path, target: str = "escalated") -> list[str]:
    return [name.split()[0], str(data), "--target", target, *COMMANDS[name]]


LEARNED_FROM = "area,plan,escalated\n" + (
    "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 5
)
# Names and values that are escape sequences, markup or turned text.
VALUES = ("[/b]x", "\x1b[31mred", "<script>alert(1)</script>", "\u202eabc", "[bold]y", "bell\x07")
HEAD = ("first[/i]\x1b[2J", "second<script>", "third\u202e", "plan", "y[/u]")
YES, NO = "[/yes]\x1b[5m", "no\x1b]0;title\x07"


@every_command
def test_json_is_the_result_alone_and_the_same_seed_finds_the_same(
    featloom, tickets, tmp_path, name
):
    answer = featloom(*typed(name, tickets), "--json", "--quiet", "--seed", "3")
    assert answer.code == 0, answer.err
    result = json.loads(answer.out)
    assert set(result) >= {"schema", "command", "versions", "data", "seed", "timing", "verdict"}
    assert result["seed"] == 3
    out = tmp_path / "run"
    answer = featloom(*typed(name, tickets), "--quiet", "--seed", "3", "--out", out)
    assert (answer.code, answer.out) == (0, "")
    found, same = found_in(out), without_times(result)
    for part in ("leaderboard", "comparisons", "sections", "verdict", "data"):
        assert found[part] == same[part]
    assert (out / "report.html").exists()


@every_command
def test_rows_without_a_class_are_left_out_and_counted(featloom, name, tmp_path):
    counted = []
    for more in ("", "login,free,\nlogin,team,NaN\n"):
        (tmp_path / "tickets.csv").write_text(LEARNED_FROM + more)
        answer = featloom(*typed(name, tmp_path / "tickets.csv"), "--json")
        assert answer.code == 0, answer.err
        counted.append(json.loads(answer.out)["data"]["rows"])
    assert "2 rows have no class and are left out\n" in answer.err
    assert counted[0] == counted[1]


@pytest.fixture
def hostile(tmp_path) -> Path:
    draw = random.Random(0)
    with open(tmp_path / "hostile.csv", "w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(HEAD)
        for _ in range(240):
            first, second, third = (draw.choice(VALUES) for _ in range(3))
            answer = YES if (first == VALUES[0]) != (second == VALUES[1]) else NO
            out.writerow([first, second, third, f"\x1b[{draw.randrange(4)}m", answer])
    return tmp_path / "hostile.csv"


def assert_harmless(text: str) -> None:
    assert not {char for char in text if char != "\n" and (ord(char) < 32 or ord(char) == 127)}
    assert not {"\u202e", "\x9b"} & set(text)


@every_command
def test_what_a_command_prints_moves_no_cursor(featloom, hostile, tmp_path, name):
    how = [word.replace("naive Bayes", "induction") for word in typed(name, hostile, HEAD[-1])]
    answer = featloom(*how, "--out", tmp_path / "r")
    assert answer.code == 0, answer.err
    assert "\\x1b" in answer.out or name == "discover tasks"  # which shows no names
    assert_harmless(answer.out + answer.err)
    assert not {"\x1b", "\x07", "\u202e"} & set((tmp_path / "r" / "report.html").read_text())


def test_reasons_and_refusals_move_no_cursor(featloom, hostile, tmp_path):
    run = tmp_path / "run"
    words = ("--budget", "5m", "--only", "linear model", "--quiet")
    assert featloom("discover", hostile, "--target", HEAD[-1], *words, "--out", run).code == 0
    answer = featloom("predict", run, hostile, "--explain", "3")
    assert answer.code == 0
    assert "because of these features, for " in answer.out
    assert "\\x1b" in answer.out
    assert_harmless(answer.out + answer.err)
    answer = featloom("induce", hostile, "--target", "\x1b[0m")
    assert answer.code == 1
    assert "no column '\\x1b[0m'; there are first[/i]\\x1b[2J, second<script>" in answer.err
    assert_harmless(answer.err)
