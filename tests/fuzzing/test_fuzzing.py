"""Damaged files are read or refused in one line, whatever reads them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

import pytest
from executions import BYTES, Executions
from guided import LARGEST, mutated
from targets import NAMES, Target, targets


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


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused_in_one_line(name, tmp_path):
    target, random = targets()[name], Random(name)
    for _ in range(3 if name == "report" else 40):
        content = target.mutated(random)
        crash = target.crash(content, Path(tmp_path))
        assert crash is None, f"{crash!r} on {content[:400]!r}"


def asks_for_too_much(path):
    if b"large" in path.read_bytes():
        bytearray(2 * BYTES)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory there is")
def test_a_file_that_takes_too_much_memory_is_kept_with_its_traceback(tmp_path, capfd):
    target = Target("bytes", "t.txt", (b"large",), asks_for_too_much)
    executions = Executions(target, tmp_path, seconds=0)
    assert not executions.run(b"small")
    assert not executions.run(b"large")
    assert not executions.run(b"larger")
    said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    (crash,) = [line["crash"] for line in said if "crash" in line]
    assert crash.startswith("MemoryError at test_fuzzing.py:")
    assert sum(line.get("executions", 0) for line in said) == 3
    (kept,) = tmp_path.glob("bytes-*.txt")
    assert kept.read_bytes() == b"large"
    assert "bytearray(2 * BYTES)" in kept.with_suffix(".log").read_text()


@pytest.mark.parametrize("name", ["memory model, forged", "journal, forged", "prior"])
def test_damage_goes_on_from_damage_where_bytes_alone_say_nothing(name):
    target, random = targets()[name], Random(name)
    content = target.seeds[0]
    for _ in range(20):
        content = mutated(target, content, random, LARGEST, by_bytes=pytest.fail)
        assert content
    assert mutated(target, b"", random, LARGEST, by_bytes=pytest.fail)


def test_bytes_are_damaged_in_both_ways():
    target, random = targets()["table"], Random(0)
    ways = {mutated(target, b"a,b", random, 3, lambda *_: b"its") == b"its" for _ in range(40)}
    assert ways == {True, False}
