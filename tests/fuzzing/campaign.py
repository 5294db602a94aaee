"""Forge models of every kind, and count what becomes of each.

    python tests/fuzzing/campaign.py --models 20000 --keep forged

A forged model has right checksums.  It is loaded, and used on a few rows or sentences if it loads,
in a process of its own with many others, in which models may take 256 MiB and not 8 GiB: tables
that nobody counted show sooner so.  A model ends as

loaded     it was read and used;
refused    one line said what is wrong, when it was read or when it was used;
traceback  anything else was raised, or the line is no line;
memory     it took more than the limit and what a process takes anyway;
crash      it ended the process, or took longer than 10 s.

Each kind of the last three is kept in a folder, with what the process said.  Linux only.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import json
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from executions import memory_bounded, place_of, place_of_end, watch
from targets import Target, targets

from featloom.errors import InputError
from featloom.formats import models

KINDS = (
    "memory model, forged",
    "linear model, forged",
    "tagger, forged",
    "parser, forged",
    "models of tasks, forged",
    "prior",
    "sparse, forged",
)
LIMIT = 2**28  # that a model may take
# That a process takes anyway: blocks, stacks, memory that it has given back but still holds.
BESIDE = 2**26
GOOD = ("loaded", "refused")
EVERY = 3000  # models of one process


def outcome(target: Target, content: bytes, folder: Path) -> tuple[str, str]:
    """What becomes of a file, and where or by which words."""
    ctypes.CDLL(None).malloc_trim(0)  # what was given back would hide what is taken
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    with memory_bounded(LIMIT + BESIDE):
        error = target.fault(content, folder)
    taken = _memory("VmHWM") - before
    if taken > LIMIT + BESIDE:
        return "memory", f"{taken:,} bytes"
    if error is None:
        return "loaded", ""
    if isinstance(error, MemoryError) or "not enough memory" in str(error):
        return "memory", place_of(error)
    if isinstance(error, InputError) and str(error) and "\n" not in str(error):
        return "refused", str(error).partition(target.file)[2].lstrip(": ") or str(error)
    (folder / "said.log").write_text("".join(traceback.format_exception(error)))
    return "traceback", place_of(error)


def outcomes(kind: str, seeds: range, keep: Path) -> Iterator[tuple[str, str]]:
    """What becomes of one forged model for each seed, in processes for some of them."""
    keep.mkdir(parents=True, exist_ok=True)
    while seeds:
        asked = ["--only", kind, "--seed", str(seeds[0]), "--models", str(len(seeds[:EVERY]))]
        command = [sys.executable, __file__, *asked, "--keep", str(keep), "--here"]
        process = subprocess.run(command, capture_output=True, text=True)
        found = [json.loads(line) for line in process.stdout.splitlines()]
        yield from map(tuple, found)
        seeds = seeds[len(found) :]
        if process.returncode:
            words = place_of_end(process.stderr) or f"ended by {process.returncode}"
            (keep / "said.log").write_text(process.stderr)
            _keep(targets()[kind], keep, f"crash {words}")
            yield "crash", words
            seeds = seeds[1:]


def forge(target: Target, seeds: range, keep: Path) -> None:
    """In a process of its own: forge, use, and tell in JSON what came of it."""
    for sound in target.seeds:  # what they need may have to be compiled first
        if (error := target.fault(sound, keep)) is not None:
            raise error
    models.MOST_BYTES = LIMIT
    first = _memory("VmRSS")
    for seed in seeds:
        watch()
        content = target.mutated(Random(f"{target.name} {seed}"))
        watch()
        found = outcome(target, content, keep)
        print(json.dumps(found), flush=True)
        if found[0] not in GOOD:
            _keep(target, keep, " ".join(found))
        if _memory("VmRSS") > first + LIMIT // 2:  # it would hide what the next one takes
            break
    faulthandler.cancel_dump_traceback_later()


def _keep(target: Target, keep: Path, words: str) -> None:
    """The file that was just read, under a name that tells what came of it."""
    name = "".join(c if c.isalnum() else "-" for c in f"{target.name} {words}"[:100])
    if (keep / target.file).exists():
        (keep / target.file).replace(keep / f"{name}{Path(target.file).suffix}")
    if (keep / "said.log").exists():
        (keep / "said.log").replace(keep / f"{name}.log")


def _memory(what: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20_000, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--only", choices=KINDS, help="one kind alone")
    parser.add_argument("--keep", type=Path, default=Path("forged"), help="folder for what fails")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        forge(targets()[asked.only], range(asked.seed, asked.seed + asked.models), asked.keep)
        return 0
    kinds = [asked.only] if asked.only else KINDS
    n_each = -(-asked.models // len(kinds))
    total: Counter[str] = Counter()
    for kind in kinds:
        found = list(outcomes(kind, range(asked.seed, asked.seed + n_each), asked.keep))
        counts = Counter(what for what, _ in found)
        total += counts
        print(f"{kind:28}", *(f"{n:>7,} {what}" for what, n in sorted(counts.items())), flush=True)
        bad = Counter(f"{what} {where}" for what, where in found if what not in GOOD)
        for words, n in bad.most_common():
            print(f"    {n:>5} {words}", flush=True)
    print(f"{'all':28}", *(f"{n:>7,} {what}" for what, n in sorted(total.items())))
    return int(bool(set(total) - set(GOOD)))


if __name__ == "__main__":
    sys.exit(main())
