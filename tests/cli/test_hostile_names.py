"""Names and values that are escape sequences, markup or turned text: the terminal shows them."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

VALUES = ("[/b]x", "\x1b[31mred", "<script>alert(1)</script>", "\u202eabc", "[bold]y", "bell\x07")
HEAD = ("first[/i]\x1b[2J", "second<script>", "third\u202e", "group", "y[/u]")
YES, NO = "[/yes]\x1b[5m", "no\x1b]0;title\x07"


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


@pytest.mark.parametrize(
    "words",
    [
        ("induce",),
        ("grow",),
        ("memory", "--trials", "5"),
        ("transfer", "--task", "group"),
        ("discover", "--budget", "5m", "--only", "linear model", "--only", "induction"),
    ],
    ids=lambda words: words[0],
)
def test_what_a_command_prints_moves_no_cursor(featloom, hostile, tmp_path, words):
    answer = featloom(words[0], hostile, "--target", HEAD[-1], *words[1:], "--out", tmp_path / "r")
    assert answer.code == 0, answer.err
    assert "\\x1b" in answer.out
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
