"""Run every benchmark, keep the figures, and set them into the documentation.

``python benchmarks/run.py [--quick] [--only FILE]`` writes ``benchmarks/results.json``,
``docs/benchmarks.md`` and the figures of the README.  To be run alone on a quiet machine.
``--only`` measures one file anew and keeps the figures of the others; ``--quick`` keeps nothing.
``--take FILE OUTPUT`` sets in what FILE has printed before: some take an hour, and arguments.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from render import render

from featloom.runs import versions, write_beside

HERE = Path(__file__).parent
FILES = (
    "induction.py",
    "induction_accuracy.py",
    "memory.py",
    "memory_truth.py",
    "sequence.py",
    "sequence_accuracy.py",
    "tree_templates.py",
    "transfer.py",
    "scale.py",
)
RESULTS = HERE / "results.json"


def main() -> None:
    quick = [flag for flag in sys.argv[1:] if flag == "--quick"]
    files = [sys.argv[sys.argv.index("--only") + 1]] if "--only" in sys.argv else FILES
    kept = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {}
    results = {"versions": versions(), "machine": machine(), "results": kept}
    if "--take" in sys.argv:
        file, output = sys.argv[sys.argv.index("--take") + 1 :][:2]
        results["results"][file] = lines_of(Path(output).read_text())
        keep(results)
        return
    for file in files:
        command = [sys.executable, str(HERE / file), *quick]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(output, end="", flush=True)
        results["results"][file] = lines_of(output)
        if not quick:
            keep(results)


def lines_of(output: str) -> list[dict]:
    return [json.loads(text) for text in output.splitlines()]


def keep(results: dict) -> None:
    write_beside(RESULTS, json.dumps(results, indent=1) + "\n")
    render(results)


def machine() -> str:
    """Processor and cores, as far as the system tells."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [text for text in info.read_text().splitlines() if text.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
