"""Ctrl-C in a real terminal: what was found stands, and how to go on is said."""

from __future__ import annotations

import json
import os
import re
import select
import struct
import subprocess
from pathlib import Path
from time import monotonic

import pytest

from tests.cli.data import COMMAND, PATIENCE

pytest.importorskip("pty", reason="needs terminals")
import fcntl
import pty
import termios

CTRL_C = b"\x03"
UP = "\x1b[1A"  # by which a table that grows is drawn anew, and at last taken away


class Terminal:
    """A command in a terminal of so many columns, in its own folder."""

    def __init__(self, folder: Path, columns: int, *words: object):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        hidden = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CI"}
        env = {name: value for name, value in os.environ.items() if name not in hidden}
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, start_new_session=True,
            env=env | {"TERM": "xterm"},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def look(self) -> bool:
        """Take note of what is shown; False when nobody is there any more who could write."""
        if select.select([self.ours], [], [], 0.01)[0]:
            try:
                part = os.read(self.ours, 65536)
            except OSError:  # so Linux says that the other end is closed
                return False
            self.seen += part.decode(errors="replace")
            return bool(part)
        return True

    def wait_for(self, is_so) -> None:
        begun = monotonic()
        while not is_so():
            assert self.look(), self.seen
            assert monotonic() - begun < PATIENCE, self.seen

    @property
    def text(self) -> str:
        """What was shown, without what tells the terminal to move, and the keys it echoes."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\^C", "", self.seen)

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def end(self) -> int:
        while self.look():
            pass
        return self.process.wait(timeout=PATIENCE)


def discover(folder: Path, columns: int, tickets: Path) -> Terminal:
    return Terminal(
        folder, columns, "discover", tickets.name, "--target", "escalated", "--budget", "90s",
        "--only", "naive Bayes", "--only", "induction", "--jobs", "1", "--out", "run",
    )  # fmt: skip


def has_found_something(folder: Path) -> bool:
    log = folder / "run" / "discover.journal-wal"
    return log.exists() and log.stat().st_size > 60_000


def test_after_ctrl_c_leaderboard_and_verdict_stand_and_resume_is_named(tickets, tmp_path):
    with discover(tmp_path, 80, tickets) as terminal:
        terminal.wait_for(lambda: has_found_something(tmp_path))
        terminal.press(CTRL_C)
        assert terminal.end() == 130
    assert "left · Ctrl-C" in terminal.seen
    head = "log-loss, lower is better"
    assert UP not in terminal.seen[terminal.seen.index(head) :]  # nothing takes away what was said
    answer = terminal.text[terminal.text.index(head) :]
    lines = answer.split("\n")
    assert all(len(line) <= 80 for line in lines)
    result = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    assert result["budget"]["stopped"] == "interrupted"
    assert any("naive Bayes" in line for line in lines)
    # Broken between words, so that they are the same words.
    words = " ".join(answer.split())
    assert " ".join(result["verdict"].split()) in words
    assert words.endswith(
        "report: run/report.html featloom: interrupted; everything finished so far is kept; "
        "'featloom resume run' goes on"
    )


def test_a_second_ctrl_c_while_the_first_is_answered_ends_it_in_a_line(
    tickets, tmp_path, featloom, monkeypatch
):
    with discover(tmp_path, 120, tickets) as terminal:
        terminal.wait_for(lambda: has_found_something(tmp_path))
        terminal.press(CTRL_C)
        terminal.wait_for((tmp_path / "run" / "result.json").exists)  # then the page is drawn
        terminal.press(CTRL_C * 2)
        assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    assert "Exception ignored" not in terminal.seen
    assert terminal.text.rstrip("\n").split("\n")[-1] == (
        "featloom: interrupted; everything finished so far is kept; 'featloom resume run' goes on"
    )
    monkeypatch.chdir(tmp_path)
    assert featloom("resume", "run", "--quiet").code == 0
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("command", ["induce", "memory"])
def test_without_out_it_is_said_that_nothing_is_kept(tmp_path, command):
    """Interrupted while it reads, from a pipe to which nobody writes."""
    os.mkfifo(tmp_path / "tickets.csv")
    with Terminal(tmp_path, 80, command, "tickets.csv", "--target", "escalated") as terminal:
        terminal.wait_for(lambda: "waited for" in terminal.seen)
        terminal.press(CTRL_C * 3)
        assert terminal.end() == 130
    assert "Traceback" not in terminal.seen
    shown = " ".join(terminal.text.split())
    assert "featloom: warning: tickets.csv is a pipe, and nothing has been written to" in shown
    assert shown.endswith("featloom: interrupted; nothing is kept without --out")
    assert os.listdir(tmp_path) == ["tickets.csv"]
