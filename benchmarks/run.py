"""Run every benchmark, keep the figures, and set them into the documentation.

``python benchmarks/run.py [--quick]`` writes ``benchmarks/results.json`` and
``docs/benchmarks.md``.  To be run alone on a quiet machine.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

from featloom.runs import versions, write_beside

HERE = Path(__file__).parent
FILES = ("induction.py",)
PAGE = HERE.parent / "docs" / "benchmarks.md"


def main() -> None:
    quick = [flag for flag in sys.argv[1:] if flag == "--quick"]
    results = {"versions": versions(), "machine": machine(), "quick": bool(quick), "results": {}}
    for file in FILES:
        command = [sys.executable, str(HERE / file), *quick]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print(output, end="", flush=True)
        results["results"][file] = [json.loads(text) for text in output.splitlines()]
    if quick:
        return
    write_beside(HERE / "results.json", json.dumps(results, indent=1) + "\n")
    write_beside(PAGE, page(results))


def machine() -> str:
    """Processor and cores, as far as the system tells."""
    import os

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [text for text in info.read_text().splitlines() if text.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores"


def page(results: dict) -> str:
    """The figures as a page of the documentation."""
    lines = [
        "# Benchmarks",
        "",
        "Measured by `make bench`, each bench in a process of its own, ours and the peer in one",
        "run; the fastest of several runs, wall seconds, user CPU in brackets. A ratio above 1",
        "means that Featloom is faster. Rendered from `benchmarks/results.json`.",
        "",
        f"Machine: {results['machine']}. "
        + ", ".join(f"{name} {number}" for name, number in results["versions"].items())
        + ".",
    ]
    for file, rows in results["results"].items():
        lines += ["", f"## {file.removesuffix('.py')}", ""]
        lines += [
            "| what | peer | ours, s | peer, s | ratio | same answer | peak, MB |",
            "|---|---|---:|---:|---:|---|---:|",
        ]
        for row in rows:
            peer = (
                "–" if row["peer_s"] is None else f"{row['peer_s']:.3g} ({row['peer_user_s']:.3g})"
            )
            ratio = "–" if row["ratio"] is None else f"{row['ratio']:,.1f}×"
            lines.append(
                f"| {row['bench']} | {row['peer']} "
                f"| {row['ours_s']:.3g} ({row['ours_user_s']:.3g}) | {peer} | {ratio} | {'yes' if row['agree'] else 'NO'} | {row['peak_mb']:,} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
