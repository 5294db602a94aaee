"""What comes through a pipe can be read as often as a file, and who waits for it says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from featloom.data.pipes import is_pipe, kept_pipes
from featloom.data.readers import read
from featloom.errors import ReadError

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
COMMAND = (sys.executable, "-m", "featloom.cli.main")


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "letters"
    os.mkfifo(path)
    return path


def write_into(pipe, source) -> subprocess.Popen:
    return subprocess.Popen(["sh", "-c", 'cat "$1" > "$2"', "sh", source, pipe])


def test_a_pipe_is_looked_at_and_read_as_a_file_is(pipe, tmp_path):
    """It is longer than what a pipe holds and than what a look at it takes."""
    file = tmp_path / "letters.csv"
    file.write_text(
        "left,right,sound\n" + "".join(f"{k},{k % 7},{k % 2}\n" for k in range(300_000))
    )
    writer = write_into(pipe, file)
    with kept_pipes():
        table, again = (read(pipe, target="sound") for _ in range(2))
    assert writer.wait() == 0
    same = read(file, target="sound")
    assert len(table) == len(again) == len(same) == 300_000
    assert (table.codes == same.codes).all()
    assert (again.codes == same.codes).all()
    assert sorted(os.listdir(tmp_path)) == ["letters", "letters.csv"]


def test_standard_input_and_packed_text_are_read_too(tmp_path):
    tickets = tmp_path / "tickets"
    rows = [f"{a},{b},{'yes' if a == b else 'no'}\n" for a in "xyz" for b in "xyz"] * 20
    tickets.write_text("area,plan,escalated\n" + "".join(rows))
    typed = [*COMMAND, "induce", "/dev/stdin", "--target", "escalated", "--json"]
    for words in (["cat"], ["gzip", "-c"]):
        with subprocess.Popen([*words, tickets], stdout=subprocess.PIPE) as writer:
            answer = subprocess.run(typed, stdin=writer.stdout, capture_output=True, text=True)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert '"rows":180' in answer.stdout


def test_a_pipe_cannot_be_read_from_its_end(tmp_path):
    path = tmp_path / "letters.parquet"
    os.mkfifo(path)
    assert is_pipe(str(path))
    with pytest.raises(ReadError) as refused:
        read(path)
    assert str(refused.value) == (
        f"{path}: a pipe, and a Parquet file is read from its end; write it into a file first"
    )
