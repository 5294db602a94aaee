"""Damaged files are read or refused in one line, whatever reads them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from targets import targets

TARGETS = targets()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_sound_files_are_read(name, tmp_path):
    target = TARGETS[name]
    for content in target.seeds:
        path = tmp_path / target.file
        path.write_bytes(content)
        if name != "any file":  # some kinds cannot be told from a few lines
            target.read(path)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_damaged_files_are_read_or_refused_in_one_line(name, tmp_path):
    target, random = TARGETS[name], Random(name)
    for _ in range(3 if name == "report" else 40):
        content = target.mutated(random)
        crash = target.crash(content, Path(tmp_path))
        assert crash is None, f"{crash!r} on {content[:400]!r}"
