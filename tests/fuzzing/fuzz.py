"""Feed damaged files to everything that reads files, for as long as one likes.

    python tests/fuzzing/fuzz.py --seconds 1800 --results 'runs/*/result.json'
    python tests/fuzzing/fuzz.py --seconds 1800 --guided

Files are damaged at random, or guided by what they reach in the program.  Each target has a
process of its own, which is started again if a file ends it.  What crashes a target, takes too
long or too much memory is kept in a folder, with the traceback.  Ends with a table: executions and
different crashes of each target.
"""

from __future__ import annotations

import argparse
import glob
import json
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import monotonic

from executions import Executions, place_of_end
from guided import run_guided
from targets import Target, targets


def run_target(target: Target, keep: Path, seconds: float, random: Random) -> None:
    """Damage files at random for some seconds."""
    executions = Executions(target, keep, seconds)
    while executions.run(target.mutated(random)):
        pass


def watch_target(target: Target, asked: argparse.Namespace, seconds: float) -> tuple[int, Counter]:
    """Executions and crashes of a target in processes of its own."""
    keep = asked.keep / "".join(c if c.isalnum() else "-" for c in target.name)
    keep.mkdir(parents=True, exist_ok=True)
    executions, crashes, seed = 0, Counter(), asked.seed
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0.5:
        command = [sys.executable, __file__, "--only", target.name, "--seconds", str(left)]
        command += ["--seed", str(seed), "--results", asked.results, "--keep", str(keep), "--here"]
        command += ["--guided"] if asked.guided else []
        process = subprocess.run(command, capture_output=True)
        for line in process.stdout.splitlines():
            said = json.loads(line) if line.startswith(b"{") else {}  # atheris speaks here too
            executions += said.get("executions", 0)
            crashes.update([said["crash"]] if "crash" in said else [])
        if process.returncode:
            last_words = (process.stdout + process.stderr).decode(errors="replace")
            crashes[place_of_end(last_words) or f"ended by {process.returncode}"] += 1
            (keep / f"ended-{seed}.log").write_text(last_words)
            if (keep / target.file).exists():
                (keep / target.file).rename(keep / f"ended-{seed}{Path(target.file).suffix}")
        seed += 1
    return executions, crashes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the target of this name")
    parser.add_argument("--guided", action="store_true", help="by what files reach (atheris)")
    parser.add_argument("--results", default="", help="result.json files for the report")
    parser.add_argument("--keep", type=Path, default=Path("crashes"))
    parser.add_argument("--json", action="store_true", help="a line of JSON for each target")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.guided and find_spec("atheris") is None:
        parser.exit(2, "--guided needs atheris (Linux on x86-64 only): pip install atheris\n")
    results = tuple(Path(path).read_bytes() for path in sorted(glob.glob(asked.results)))
    if asked.here and asked.guided:
        run_guided(asked.only, results, asked.keep, asked.seconds, asked.seed)
        return 0
    found = targets(results)
    if asked.here:
        run_target(found[asked.only], asked.keep, asked.seconds, Random(asked.seed))
        return 0
    names = [asked.only] if asked.only else list(found)
    total, clean = 0, True
    for name in names:
        seconds = asked.seconds / len(names)
        executions, crashes = watch_target(found[name], asked, seconds)
        places = [f"{place} ({n})" for place, n in crashes.items()]
        if asked.json:
            mode = "guided" if asked.guided else "random"
            row = {"target": name, "mode": mode, "seconds": seconds, "executions": executions}
            print(json.dumps({**row, "crashes": places}), flush=True)
        else:
            print(f"{name:28} {executions:>10,}  {', '.join(places) or 'none'}", flush=True)
        total, clean = total + executions, clean and not crashes
    if not asked.json:
        print(f"{'all':28} {total:>10,}")
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main())
