"""Damaged files are read or refused in one line, whatever reads them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from targets import NAMES, targets


def test_every_target_is_named():
    assert tuple(targets()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_sound_files_are_read(name, tmp_path):
    target = targets()[name]
    for content in target.seeds:
        path = tmp_path / target.file
        path.write_bytes(content)
        if name != "any file":  # some kinds cannot be told from a few lines
            target.read(path)


# Damaged Parquet can end the process in its decoder; the program fuzz.py watches that from outside.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "parquet"])
def test_damaged_files_are_read_or_refused_in_one_line(name, tmp_path):
    target, random = targets()[name], Random(name)
    for _ in range(3 if name == "report" else 40):
        content = target.mutated(random)
        crash = target.crash(content, Path(tmp_path))
        assert crash is None, f"{crash!r} on {content[:400]!r}"
