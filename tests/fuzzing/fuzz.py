"""Feed damaged files to everything that reads files, for as long as one likes.

    python tests/fuzzing/fuzz.py --seconds 1800 --results 'runs/*/result.json'

Each target has a process of its own, which is started again if a file ends it.  What crashes a
target is kept in a folder, with the traceback.  Ends with a table: executions and different
crashes of each target.
"""

from __future__ import annotations

import argparse
import glob
import json
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic

from targets import Target, targets

EVERY = 200  # executions after which a process says how many there were


def place_of(error: BaseException) -> str:
    """Where in the program it broke, to tell crashes apart."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "featloom" in frame.filename] or frames
    at = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "?"
    return f"{type(error).__name__} at {at}"


def run_target(target: Target, random: Random, seconds: float, keep: Path) -> None:
    """Damage files for some seconds; a line for each new crash, and for how many files it were."""
    seen: set[str] = set()
    n, end = 0, monotonic() + seconds
    while monotonic() < end:
        content = target.mutated(random)
        error = target.crash(content, keep)
        n += 1
        if error is not None and (place := place_of(error)) not in seen:
            seen.add(place)
            name = "".join(c if c.isalnum() else "-" for c in f"{target.name} {place}")
            (keep / name).with_suffix(Path(target.file).suffix).write_bytes(content)
            (keep / f"{name}.txt").write_text("".join(traceback.format_exception(error)))
            print(json.dumps({"crash": place}), flush=True)
        if n % EVERY == 0 or monotonic() >= end:
            print(json.dumps({"executions": n}), flush=True)
            n = 0


def watch_target(name: str, asked: argparse.Namespace, seconds: float) -> tuple[int, Counter]:
    """Executions and crashes of a target in processes of its own."""
    keep = asked.keep / "".join(c if c.isalnum() else "-" for c in name)
    keep.mkdir(parents=True, exist_ok=True)
    executions, crashes, seed = 0, Counter(), asked.seed
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0.5:
        command = [sys.executable, __file__, "--only", name, "--seconds", str(left)]
        command += ["--seed", str(seed), "--results", asked.results, "--keep", str(keep), "--here"]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in process.stdout.splitlines():
            said = json.loads(line)
            executions += said.get("executions", 0)
            crashes.update([said["crash"]] if "crash" in said else [])
        if process.returncode:
            crashes[f"process ended by {process.returncode}"] += 1
            last = next(iter(keep.glob("[a-z].*")), None)
            if last is not None:
                last.rename(keep / f"ended-{seed}{last.suffix}")
        seed += 1
    return executions, crashes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the target of this name")
    parser.add_argument("--results", default="", help="result.json files for the report")
    parser.add_argument("--keep", type=Path, default=Path("crashes"))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    results = tuple(Path(path).read_bytes() for path in sorted(glob.glob(asked.results)))
    found = targets(results)
    if asked.here:
        run_target(found[asked.only], Random(asked.seed), asked.seconds, asked.keep)
        return 0
    names = [asked.only] if asked.only else list(found)
    total, clean = 0, True
    for name in names:
        executions, crashes = watch_target(name, asked, asked.seconds / len(names))
        places = ", ".join(f"{place} ({n})" for place, n in crashes.items())
        print(f"{name:28} {executions:>10,}  {places or 'none'}", flush=True)
        total, clean = total + executions, clean and not crashes
    print(f"{'all':28} {total:>10,}")
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main())
