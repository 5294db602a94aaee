"""Feed damaged files to everything that reads files, for as long as one likes.

    python tests/fuzzing/fuzz.py --seconds 1800 --results 'runs/*/result.json'

Each target has its turn, a second at a time; what crashes it is kept in a folder, with the
traceback.  Ends with a table: executions and different crashes of each target.
"""

from __future__ import annotations

import argparse
import glob
import sys
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from targets import Target, targets


def place_of(error: BaseException) -> str:
    """Where in the program it broke, to tell crashes apart."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "featloom" in frame.filename] or frames
    at = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "?"
    return f"{type(error).__name__} at {at}"


def run_target(target: Target, random: Random, seconds: float, keep: Path) -> tuple[int, Counter]:
    """Executions in some seconds, and the crashes by their place."""
    crashes: Counter = Counter()
    n, end = 0, monotonic() + seconds
    with TemporaryDirectory() as folder:
        while monotonic() < end:
            content = target.mutated(random)
            error = target.crash(content, Path(folder))
            n += 1
            if error is not None:
                place = place_of(error)
                crashes[place] += 1
                if crashes[place] == 1:
                    _keep(keep, target, place, content, error)
    return n, crashes


def _keep(keep: Path, target: Target, place: str, content: bytes, error: BaseException) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() else "-" for c in f"{target.name} {place}")
    (keep / name).with_suffix(Path(target.file).suffix).write_bytes(content)
    lines = traceback.format_exception(error)
    (keep / f"{name}.txt").write_text("".join(lines), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--results", default="", help="result.json files for the report")
    parser.add_argument("--keep", type=Path, default=Path("crashes"))
    asked = parser.parse_args()
    results = tuple(Path(path).read_bytes() for path in sorted(glob.glob(asked.results)))
    chosen = [t for name, t in targets(results).items() if asked.only in name]
    random = Random(asked.seed)
    executions: Counter = Counter()
    crashes: dict[str, Counter] = {target.name: Counter() for target in chosen}
    end = monotonic() + asked.seconds
    while monotonic() < end:
        for target in chosen:
            n, found = run_target(target, random, min(1.0, asked.seconds / len(chosen)), asked.keep)
            executions[target.name] += n
            crashes[target.name] += found
    for target in chosen:
        places = ", ".join(f"{place} ({n})" for place, n in crashes[target.name].items())
        print(f"{target.name:28} {executions[target.name]:>10,}  {places or 'none'}")
    print(f"{'all':28} {executions.total():>10,}")
    return int(any(crashes.values()))


if __name__ == "__main__":
    sys.exit(main())
