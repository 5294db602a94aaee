"""Nothing is sent and nothing is fetched: every attempt of any process is written down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Python calls this for whatever its sockets are asked to do, in every process that is started.
WATCH = """
import os, sys

def noted(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(f"{event} {arguments[1:] if event == 'socket.connect' else arguments}\\n")

sys.addaudithook(noted)
"""


@pytest.fixture
def watched(tmp_path):
    """Run Python with the watch; the attempts that were made."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    log = tmp_path / "network.log"

    def run(*words) -> list[str]:
        before = os.environ.get("PYTHONPATH", "")
        path = os.pathsep.join([str(tmp_path / "watch"), *filter(None, [before])])
        env = {**os.environ, "PYTHONPATH": path, "NETWORK_LOG": str(log)}
        log.write_text("")
        subprocess.run([sys.executable, *map(str, words)], env=env, check=True, cwd=tmp_path)
        return log.read_text().splitlines()

    return run


def test_an_attempt_is_noticed(watched):
    asked = "import socket; socket.getaddrinfo('localhost', 80)"
    assert watched("-c", asked)[0].startswith("socket.getaddrinfo")


@pytest.mark.parametrize(
    "words",
    [
        ("induce", "--search", "--jobs", "2"),
        ("memory", "--trials", "5"),
        ("discover", "--jobs", "2", "--budget", "5m", "--only", "linear model"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_asks_nobody(watched, tickets: Path, words):
    command, *rest = words
    featloom = ("-m", "featloom.cli.main", command, tickets, "--target", "escalated", *rest)
    assert watched(*featloom, "--out", "run", "--quiet") == []
    assert watched("-m", "featloom.cli.main", "report", "run") == []
    assert watched("-m", "featloom.cli.main", "corpora") == []
