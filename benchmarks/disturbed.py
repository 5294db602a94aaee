"""Commands that are run undisturbed once, and then disturbed and resumed until they end.

What a disturbed run must end with is the result of the undisturbed one, but for times and
versions; or a refusal in one line.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

COMMON = 20  # rows of a class that is kept
PATIENCE = 300  # seconds after which a run hangs
# What may differ: how long things took, and by which versions.
TIMES = {
    "timing",
    "versions",
    "command",
    "fit_s",
    "predict_s",
    "seconds",
    "spent",
    "cost_s",
    "stages",
}
SAME = "same result"
Disturb = Callable[[subprocess.Popen], bool]


@dataclass
class Command:
    """A command, what it leaves undisturbed, and how long it takes."""

    name: str
    arguments: list[str]
    workers: str = ""  # "processes", "dask" or none
    result: Any = None
    names: set[str] = field(default_factory=set)  # of the files that it leaves
    seconds: float = 0.0
    outcomes: dict[str, Counter] = field(default_factory=dict)

    @property
    def has_journal(self) -> bool:
        return not self.name.startswith("counting")

    def ended(self, fault: str, how: str, times: int = 1) -> None:
        print(f"{self.name}: {fault}: {times} × {how}", file=sys.stderr)
        self.outcomes.setdefault(fault, Counter())[how] += times


def start(
    arguments: list[str], folder: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen:
    """A process of the program, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "featloom.cli.main", *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, env={**os.environ, **(env or {})},
    )  # fmt: skip


def without_times(part: Any) -> Any:
    """A result without what differs from run to run.

    >>> without_times({"a": [{"fit_s": 1.0, "b": 2}], "timing": {}})
    {'a': [{'b': 2}]}
    """
    if isinstance(part, dict):
        return {k: without_times(v) for k, v in part.items() if k not in TIMES}
    return [without_times(one) for one in part] if isinstance(part, list) else part


def result_of(run: Path) -> Any:
    return without_times(json.loads((run / "result.json").read_bytes()))


def compared(expected: Any, found: Any, place: str = "") -> str:
    """Whether two results are the same; if not, the first place where they differ.

    >>> compared({"a": [1, 2]}, {"a": [1, 3]})
    'WRONG RESULT at /a/1'
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        pairs = [(key, expected.get(key), found.get(key)) for key in {**expected, **found}]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(n, *both) for n, both in enumerate(zip(expected, found, strict=True))]
    else:
        return SAME if expected == found else f"WRONG RESULT at {place}"
    ends = [compared(one, other, f"{place}/{key}") for key, one, other in pairs]
    return next((end for end in ends if end != SAME), SAME)


def undisturbed(command: Command, folder: Path) -> None:
    """Run a command twice, the first time to compile, and note its result and its time."""
    for _ in range(2):
        anew(folder)
        begin = monotonic()
        process = start(command.arguments, folder)
        _, errors = process.communicate(timeout=2 * PATIENCE)
        if process.returncode:
            raise SystemExit(f"{command.name}: {errors}")
        command.seconds = monotonic() - begin
    command.result, command.names = result_of(folder / "run"), names_in(folder / "run")


def names_in(run: Path) -> set[str]:
    """The names of all files of a run."""
    return {str(path.relative_to(run)) for path in run.rglob("*")}


def anew(folder: Path) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)


def to_the_end(
    command: Command,
    folder: Path,
    disturb: Disturb = lambda _: False,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run, and resume as long as it is disturbed; how the run ended."""
    while True:
        begun = (folder / "run" / "request.json").exists()
        process = start(["resume", "run", "-q"] if begun else command.arguments, folder, env)
        disturbed = disturb(process)
        how = end_of(process)
        if how == "done":
            odd = sorted(names_in(folder / "run") ^ command.names)
            left = f"LEFT or lacking: {', '.join(odd)}"
            return left if odd else compared(command.result, result_of(folder / "run"))
        if how == "HUNG" or how.startswith("TRACEBACK") or not disturbed:
            return how


def end_of(process: subprocess.Popen) -> str:
    """How a process ended: done, interrupted, killed, with what it said, or not at all."""
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "HUNG"
    if process.returncode == 0:
        return "done"
    if process.returncode < 0:
        return "killed"
    said = errors.strip().splitlines() or [f"exit code {process.returncode}"]
    if "Traceback" in errors:
        return f"TRACEBACK: {said[-1][:80]}"
    return f"refused: {said[-1].removeprefix('featloom: ')[:200]}"


def at_random(seconds: float, random: Random, act: Callable[[subprocess.Popen], Any]) -> Disturb:
    """Disturbs at an instant within some seconds, if the process still lives then."""

    def disturb(process: subprocess.Popen) -> bool:
        end = monotonic() + random.uniform(0.05, seconds)
        while monotonic() < end:
            if process.poll() is not None:
                return False
            sleep(0.01)
        act(process)
        return True

    return disturb


def once(disturb: Disturb) -> Disturb:
    """Disturbs the first process alone."""
    left = [disturb]
    return lambda process: left.pop()(process) if left else False


def kill_all(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def kill_client(process: subprocess.Popen) -> None:
    """The process alone; its workers have to end by themselves."""
    os.kill(process.pid, signal.SIGKILL)
    end = monotonic() + 30
    while others_of(process) and monotonic() < end:
        sleep(0.05)
    if left := others_of(process):
        os.killpg(process.pid, signal.SIGKILL)
        raise SystemExit(f"workers outlived their client: {left}")


def others_of(process: subprocess.Popen) -> list[tuple[int, str]]:
    """The processes that a process has started, and those that these have, with their words."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=,args=", "-s", str(process.pid)], capture_output=True, text=True
    ).stdout.splitlines()
    found = [(int(line.split()[0]), *line.split(maxsplit=2)[1:]) for line in listed]
    return [(pid, args) for pid, stat, args in found if pid != process.pid and "Z" not in stat]


def workers_of(process: subprocess.Popen) -> list[int]:
    """Those of them that evaluate or count."""
    at_work = ("featloom.pool", "spawn_main")
    return [pid for pid, args in others_of(process) if any(word in args for word in at_work)]


def letters(folder: Path, n: int) -> None:
    """Windows of letters with their sound, as CSV and as a folder of Parquet files."""
    import polars as pl

    from featloom.data.tasks.ready import load

    table = load("letter-to-sound")
    rows = sorted(Random(0).sample(range(len(table)), n))
    often = Counter(int(table.labels[row]) for row in rows)
    rows = [row for row in rows if often[int(table.labels[row])] >= COMMON]
    with open(folder / "letters.csv", "w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow([*table.columns, "sound"])
        for row in rows:
            cells = [table.value(column, row) or "" for column in table.columns]
            out.writerow([*cells, table.classes[table.labels[row]]])
    frame = pl.read_csv(folder / "letters.csv", infer_schema=False)
    (folder / "letters").mkdir()
    for part in range(8):
        frame.gather_every(8, part).write_parquet(folder / "letters" / f"{part}.parquet")


def chunks(folder: Path, n: int) -> None:
    """Sentences with their chunks."""
    from featloom.data.corpora import locate
    from featloom.data.readers.lines import read_lines

    (file,) = locate("conll2000").glob("train.txt*")
    lines = (text for _, text in read_lines(file))
    with open(folder / "chunks.conll", "w") as stream:
        blank = 0
        for text in islice(lines, 100 * n):
            stream.write(text + "\n")
            blank += not text.strip()
            if blank == n:
                break


def commands(folder: Path, rows: int = 1_000) -> list[Command]:
    """Searches and counting jobs that take some seconds each, with their data in a folder."""
    letters(folder, rows)
    chunks(folder, 60)
    to = ["--out", "run", "--quiet", "--seed", "3"]
    data = ["letters.csv", "--target", "sound"]
    blocks = ["letters", "--target", "sound", "--memory", "1GB"]
    memory = ["memory", *data, "--strategy", "genetic", "--trials", "60"]
    only = ["--only", "linear model", "--only", "induction", "--only", "memory"]
    two, dask = ["--jobs", "2"], ["--dask", "local:2"]
    return [
        Command("memory search", [*memory, *two, *to]),  # on threads
        Command(
            "memory search, short",
            [
                "memory",
                *data,
                "--strategy",
                "forward",
                "--over",
                "features",
                "--trials",
                "3",
                "--ks",
                "1",
                *to,
            ],
        ),
        Command("memory search, Dask", [*memory, *dask, *to], "dask"),
        Command("induction search", ["induce", *data, "--search", *two, *to], "processes"),
        Command("template search", ["select", "chunks.conll", "--max-templates", "12", *to]),
        Command("discover", ["discover", *data, "--budget", "2h", *only, *two, *to], "processes"),
        Command("counting, induce", ["induce", *blocks, *to]),
        Command("counting, induce, Dask", ["induce", *blocks, *dask, *to], "dask"),
        Command("counting, grow, Dask", ["grow", *blocks, *dask, *to], "dask"),
    ]
