"""Runs that are disturbed: killed, interrupted, robbed of workers, their journals damaged.

    python benchmarks/faults.py --kills 200 --others 20

Each command is run once undisturbed.  Then a run of the same is disturbed at random instants and
resumed until it ends.  It must end with the same result (but for times), or refuse in one line;
never with another result, and never with a traceback.  Prints a table of what was tried and how it
ended.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep

COMMON = 20  # rows of a class that is kept
PATIENCE = 300  # seconds after which a run hangs
NOT_COMPARED = {
    "timing", "versions", "command", "budget", "fit_s", "predict_s", "seconds", "spent",
    "source", "use", "files",  # a run that is resumed names its data by the whole path
}  # fmt: skip


@dataclass
class Command:
    """A command, what it leaves undisturbed, and how long it takes."""

    name: str
    arguments: list[str]
    result: object = None
    seconds: float = 0.0
    outcomes: dict[str, Counter] = field(default_factory=dict)

    def ended(self, fault: str, how: str) -> None:
        self.outcomes.setdefault(fault, Counter())[how] += 1


def featloom(arguments: list[str], folder: Path) -> subprocess.Popen:
    """A process of the program, in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "featloom.cli.main", *arguments],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def without_times(part: object) -> object:
    """A result without what differs from run to run."""
    if isinstance(part, dict):
        return {k: without_times(v) for k, v in part.items() if k not in NOT_COMPARED}
    return [without_times(one) for one in part] if isinstance(part, list) else part


def result_of(folder: Path) -> object:
    return without_times(json.loads((folder / "run" / "result.json").read_bytes()))


def compared(expected: object, found: object, place: str = "") -> str:
    """Whether two results are the same; if not, the first place where they differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        pairs = [(key, expected.get(key), found.get(key)) for key in {**expected, **found}]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(n, *both) for n, both in enumerate(zip(expected, found, strict=True))]
    else:
        return "same result" if expected == found else f"WRONG RESULT at {place}"
    ends = [compared(one, other, f"{place}/{key}") for key, one, other in pairs]
    return next((end for end in ends if end != "same result"), "same result")


def undisturbed(command: Command, folder: Path) -> None:
    begin = monotonic()
    process = featloom(command.arguments, folder)
    _, errors = process.communicate(timeout=PATIENCE)
    if process.returncode:
        raise SystemExit(f"{command.name}: {errors}")
    command.result, command.seconds = result_of(folder), monotonic() - begin


def to_the_end(command: Command, folder: Path, disturb: Callable[[subprocess.Popen], bool]) -> str:
    """Run and resume until the run ends by itself; how it ended."""
    while True:
        started = (folder / "run" / "request.json").exists()
        process = featloom(["resume", "run", "-q"] if started else command.arguments, folder)
        disturbed = disturb(process)
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "HUNG"
        if "Traceback" in errors and not disturbed:
            return f"TRACEBACK: {errors.strip().splitlines()[-1][:80]}"
        if process.returncode == 0:
            return compared(command.result, result_of(folder))
        if not disturbed:
            return f"refused: {errors.strip().splitlines()[-1][-90:]}"


def at_random(seconds: float, random: Random, act: Callable[[subprocess.Popen], None]):
    """Disturbs at an instant within some seconds, as long as the process lives."""

    def disturb(process: subprocess.Popen) -> bool:
        end = monotonic() + random.uniform(0.05, seconds)
        while monotonic() < end:
            if process.poll() is not None:
                return False
            sleep(0.01)
        act(process)
        return True

    return disturb


def kill_all(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def workers_of(process: subprocess.Popen) -> list[int]:
    """Processes that the process has started, and those that these have."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,ppid=", "-g", str(process.pid)], capture_output=True, text=True
    ).stdout.split()
    pids = [int(pid) for pid in listed[::2]]
    return [pid for pid in pids if pid != process.pid]


def kill_client(process: subprocess.Popen) -> None:
    os.kill(process.pid, signal.SIGKILL)
    # Its workers end with it; none may be left.
    end = monotonic() + 20
    while workers_of(process) and monotonic() < end:
        sleep(0.05)
    if workers_of(process):
        os.killpg(process.pid, signal.SIGKILL)
        raise SystemExit("workers outlived their client")


def kill_a_worker(process: subprocess.Popen) -> None:
    workers = workers_of(process)
    if workers:
        os.kill(workers[len(workers) // 2], signal.SIGKILL)


def kill_points(command: Command, n: int, random: Random, folder: Path) -> None:
    """Kill runs of a command so many times in all, each resumed until the next kill or the end."""
    done = 0
    while done < n:
        shutil.rmtree(folder / "run", ignore_errors=True)
        kills = Counter()

        def act(process, kills=kills):
            kills["n"] += 1
            (kill_all if random.random() < 0.5 else kill_client)(process)

        # Every kill but the last few leaves the run to be resumed.
        disturb = at_random(1.2 * command.seconds, random, act)
        how = to_the_end(command, folder, disturb)
        done += kills["n"]
        for _ in range(kills["n"]):
            command.ended("kill -9 of the client or of all", how)


def signalled(command: Command, which: signal.Signals, random: Random, folder: Path) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    once = Counter()

    def disturb(process: subprocess.Popen) -> bool:
        if once["done"]:
            return False
        once["done"] += 1
        return at_random(command.seconds, random, lambda p: p.send_signal(which))(process)

    command.ended(which.name, to_the_end(command, folder, disturb))


def worker_killed(command: Command, random: Random, folder: Path) -> None:
    shutil.rmtree(folder / "run", ignore_errors=True)
    once = Counter()

    def disturb(process: subprocess.Popen) -> bool:
        if once["done"]:
            return False
        once["done"] += 1
        return at_random(command.seconds, random, kill_a_worker)(process)

    command.ended("kill -9 of a worker", to_the_end(command, folder, disturb))


def journal_damaged(command: Command, how: str, random: Random, folder: Path) -> None:
    """A run that was killed half way, and whose journal was damaged before it was resumed."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    process = featloom(command.arguments, folder)
    at_random(command.seconds, random, kill_all)(process)
    process.communicate(timeout=PATIENCE)
    journals = sorted((folder / "run").glob("*.journal")) if (folder / "run").exists() else []
    if not journals:
        return
    content = bytearray(journals[0].read_bytes())
    if how == "truncated":
        content = content[: random.randrange(len(content) + 1)]
    elif content:
        for _ in range(3):
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    journals[0].write_bytes(bytes(content))
    command.ended(f"journal {how}", to_the_end(command, folder, lambda _: False))


def two_at_once(command: Command, random: Random, folder: Path) -> None:
    """Two processes resume one run: one goes on, the other is refused."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    process = featloom(command.arguments, folder)
    at_random(0.8 * command.seconds, random, kill_all)(process)
    process.communicate(timeout=PATIENCE)
    if not (folder / "run" / "request.json").exists():
        return
    both = [featloom(["resume", "run", "-q"], folder) for _ in range(2)]
    ends = []
    for one in both:
        _, errors = one.communicate(timeout=PATIENCE)
        ends.append("done" if one.returncode == 0 else errors.strip().splitlines()[-1][-60:])
    refused = [end for end in ends if end != "done"]
    said = f"one refused ({refused[0]})" if refused else "one after the other"
    command.ended("two processes", f"{said}, {compared(command.result, result_of(folder))}")


def letters(folder: Path, n: int) -> None:
    """Windows of letters with their sound."""
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


def commands() -> list[Command]:
    to = ["--out", "run", "--quiet", "--seed", "3"]
    data = ["letters.csv", "--target", "sound"]
    memory = ["memory", *data, "--strategy", "genetic", "--budget", "60"]
    return [
        Command("memory search", [*memory, "--jobs", "2", *to]),
        Command("induction search", ["induce", *data, "--search", "--jobs", "2", *to]),
        Command(
            "discover",
            ["discover", *data, "--budget", "2h", "--only", "linear model", "--only", "induction",
             "--only", "memory", "--jobs", "2", *to],
        ),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--others", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random = Random(asked.seed)
    with TemporaryDirectory() as name:
        folder = Path(name)
        letters(folder, 1_000)
        chosen = commands()
        for command in chosen:
            shutil.rmtree(folder / "run", ignore_errors=True)
            undisturbed(command, folder)
            print(f"{command.name}: undisturbed in {command.seconds:.1f} s", flush=True)
            kill_points(command, -(-asked.kills // len(chosen)), random, folder)
            for _ in range(asked.others):
                signalled(command, signal.SIGTERM, random, folder)
                signalled(command, signal.SIGINT, random, folder)
                worker_killed(command, random, folder)
                journal_damaged(command, "truncated", random, folder)
                journal_damaged(command, "with flipped bytes", random, folder)
                two_at_once(command, random, folder)
            for fault, outcomes in command.outcomes.items():
                for how, n in outcomes.most_common():
                    print(f"  {fault:32} {n:>4} × {how}", flush=True)
    bad = ("WRONG", "HUNG", "TRACEBACK")
    ends = [how for command in chosen for c in command.outcomes.values() for how in c]
    return int(any(word in how for how in ends for word in bad))


if __name__ == "__main__":
    sys.exit(main())
