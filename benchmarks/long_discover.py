"""A long ``discover`` run, killed again and again and resumed, beside one that is left in peace.

    python benchmarks/long_discover.py letters.csv --target sound --every 180 --out /tmp/long

Both runs have one process and go on side by side, with a budget that neither meets.  The first is
killed every few minutes, at random, with its workers or without, and resumed.  In the end the
results are compared, but for times, and each page with the one that its result gives: so pages
differ in times alone.  Prints a line of JSON; exit code 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

from disturbed import SAME, compared, kill_all, kill_client, result_of, start

from featloom.report.page import report_html

BUDGET = "6h"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--every", type=float, default=180, help="mean seconds between kills")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random, begin, kills = Random(asked.seed), monotonic(), []
    words = ["discover", str(asked.data.resolve()), "--target", asked.target, "--budget", BUDGET]
    words += ["--jobs", "1", "--quiet", "--out", "run"]
    folders = {name: asked.out / name for name in ("disturbed", "undisturbed")}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    peaceful = start(words, folders["undisturbed"])
    took: dict[str, float] = {}
    process = start(words, folders["disturbed"])
    next_kill = begin + random.uniform(0.5, 1.5) * asked.every
    while len(took) < 2:
        sleep(0.1)
        now = monotonic() - begin
        if peaceful.poll() is not None:
            took.setdefault("undisturbed", now)
        if process.poll() is not None:
            took.setdefault("disturbed", now)
        elif monotonic() > next_kill:
            random.choice([kill_all, kill_client])(process)
            process.communicate()
            kills.append(round(now))
            print(f"killed after {now:.0f} s", file=sys.stderr)
            process = start(["resume", "run", "--quiet"], folders["disturbed"])
            next_kill = monotonic() + random.uniform(0.5, 1.5) * asked.every
    for name, one in (("undisturbed", peaceful), ("disturbed", process)):
        _, errors = one.communicate()
        if one.returncode:
            raise SystemExit(f"{name}: {errors}")
    results = [result_of(folder / "run") for folder in folders.values()]
    how = compared(*results)
    own = [page_is_of_result(folder / "run") for folder in folders.values()]
    row = {
        "bench": "discover, killed and resumed", "kind": "long", "kills_s": kills,
        "took_s": {name: round(seconds) for name, seconds in took.items()}, "ended": how,
        "pages_are_of_results": all(own),
        "rows": results[0]["data"]["rows"],
        "contenders": sum(row["status"] == "finished" for row in results[0]["leaderboard"]),
    }  # fmt: skip
    print(json.dumps(row))
    return int(how != SAME or not all(own))


def page_is_of_result(run: Path) -> bool:
    """Whether the page beside a result is the one that the result gives."""
    page = report_html(json.loads((run / "result.json").read_bytes()))
    return (run / "report.html").read_text() == page


if __name__ == "__main__":
    sys.exit(main())
