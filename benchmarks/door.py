"""What a newcomer gets from ``featloom discover FILE --target COL`` on tables as people have them.

``python benchmarks/door.py [--budget 60s] [--only NAME …] [--cold] [--jobs 2] [--out FILE]
[--keep FOLDER]`` with the tables in ``FEATLOOM_DATA/tables``.  Each is asked in a process of its
own, as from a terminal; what ``--keep`` leaves, ``yardsticks.py --runs`` can go on with.
``--cold``: with an empty cache of compiled kernels.  What is printed, and kept in FILE, a line of
JSON each: when the first leaderboard stood, what was chosen and from how many rows it learned, its
log-loss and AUC on the test part beside the class shares', calibration error, wall and CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

TARGETS = {
    "adult": "income",
    "credit-default": "Y",
    "telco": "Churn",
    "bankchurn": "Exited",
    "titanic": "Survived",
    "german-credit": "credit_risk",
    "amazon-access": "ACTION",
    "penguins": "species",
    "taxis": "payment",
    "sms-spam": "label",
    "car": "class",
    "nursery": "class",
    "splice": "Class",
    "kr-vs-kp": "class",
    "soybean": "class",
    "phishing": "Result",
}


def asked(path: Path, target: str, budget: str, jobs: int, out: Path, cache: str | None) -> Any:
    """Run the command; its result, seconds of the clock and of CPU time, and the largest memory."""
    environment = dict(os.environ) | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    command = [
        sys.executable, "-m", "featloom.cli.main", "discover", str(path), "--target", target,
        "--budget", budget, "--jobs", str(jobs), "--out", str(out), "--quiet",
    ]  # fmt: skip
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    wall, after = monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:], "wall": wall, "cpu": cpu}, None
    result = json.loads((out / "result.json").read_text())
    return {"wall": wall, "cpu": cpu}, result


def line_of(name: str, spent: dict[str, Any], result: dict[str, Any] | None) -> dict[str, Any]:
    """What is told of one table."""
    if result is None:
        return {"table": name, **spent}
    board = {row["name"]: row for row in result["leaderboard"]}
    chosen = board[result["chosen"]]
    figures = result["chosen_figures"] or {}
    tested = {row["name"]: row["test"] for row in board.values() if row.get("test") is not None}
    return {
        "table": name,
        "rows": result["data"]["rows"],
        "chosen": result["chosen"],
        "learned": chosen["learned"],
        "log_loss": figures.get("log_loss"),
        "base": figures.get("base_rate_log_loss"),
        "auc": figures.get("auc"),
        "accuracy": figures.get("accuracy"),
        "ece": figures.get("ece"),
        "first_answer": result["budget"]["first_answer"],
        "compiled": result["budget"]["compiled"],
        "spent": result["budget"]["spent"],
        "stopped": result["budget"]["stopped"],
        "tests": tested,
        "not_compared": [
            row["name"] for row in board.values() if row["status"] in ("unfinished", "partly")
        ],
        "verdict": result["verdict"],
        **spent,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--only", nargs="*", default=list(TARGETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cold", action="store_true", help="with an empty cache of kernels")
    parser.add_argument("--out", type=Path, help="file to add lines of JSON to")
    parser.add_argument("--keep", type=Path, help="folder in which the runs stay")
    given = parser.parse_args()
    folder = Path(os.environ["FEATLOOM_DATA"]) / "tables"
    for name in given.only:
        with tempfile.TemporaryDirectory() as scratch:
            run = given.keep.absolute() / name if given.keep else Path(scratch) / "run"
            spent, result = asked(
                folder / f"{name}.csv.xz", TARGETS[name], given.budget, given.jobs, run,
                str(Path(scratch) / "cache") if given.cold else None,
            )  # fmt: skip
        line = line_of(name, spent, result) | {"budget": given.budget, "cold": given.cold}
        if given.out is not None:
            with given.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
        shown = ("table", "first_answer", "chosen", "learned", "log_loss", "base", "auc", "ece",
                 "wall", "cpu", "compiled", "not_compared", "failed")  # fmt: skip
        print(
            {
                key: round(line[key], 3) if isinstance(line[key], float) else line[key]
                for key in shown
                if key in line
            },
            flush=True,
        )


if __name__ == "__main__":
    main()
