"""Folders of programs that were killed are removed, those of living ones never."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from featloom.errors import InputError
from featloom.scratch import remove_abandoned, scratch_folder

HOLD = """
from featloom.scratch import scratch_folder
with scratch_folder("search") as folder:
    (folder / "evaluate").write_bytes(bytes(100))
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def hold() -> tuple[subprocess.Popen, Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_goes_with_the_next_search_when_its_program_was_killed(temporary):
    process, folder = hold()
    remove_abandoned(temporary)
    assert (folder / "evaluate").exists(), "its program lives"
    process.kill()
    process.wait()
    assert (folder / "evaluate").exists(), "nobody is left to remove it"
    with scratch_folder("search") as own:
        assert list(temporary.iterdir()) == [own]
    assert not own.exists()


def test_nothing_of_others_is_removed(temporary):
    for name in ("featloom-notes", "other"):
        (temporary / name).mkdir()
        (temporary / name / "text").touch()
    (temporary / "featloom-link").symlink_to(temporary / "other")
    remove_abandoned(temporary)
    assert {path.name for path in temporary.iterdir()} == {
        "featloom-notes", "other", "featloom-link"
    }  # fmt: skip
    assert (temporary / "other" / "text").exists()


def test_where_no_folder_can_be_made_that_is_told_in_a_line(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "gone"))
    told = "no folder can be made for worker processes: no such file or directory; TMPDIR may"
    with pytest.raises(InputError, match=told), scratch_folder("search"):
        pass
