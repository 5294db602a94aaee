"""Runs that are disturbed: killed, interrupted, robbed of workers, of disk, of their journal.

    python benchmarks/faults.py --kills 200 --others 4 [--only "memory search"] [--seed 0]
    python benchmarks/faults.py --kills 0 --others 0 --hangs 0 --last 200 --only "memory search"

Each command is run undisturbed, and then disturbed at random instants and resumed until it ends.
It must end with the same result (but for times) and the same files, or refuse in one line; never
with another result, never with a traceback, and it must not hang.  ``--last`` kills in the last
second, when result, model and page are written.  A full disk needs the right to mount one (a
small one in memory), a clock that is set back the library of Debian's package faketime; without
them these are left out, and that is said.  A worker that hangs is waited for two minutes.

Prints what was tried and how it ended, a line of JSON each; exit code 1 where anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from disturbed import (
    SAME,
    Command,
    anew,
    at_random,
    commands,
    compared,
    end_of,
    kill_all,
    kill_client,
    once,
    result_of,
    start,
    to_the_end,
    undisturbed,
    workers_of,
)

WITHIN = "within a file"
BAD = ("WRONG", "HUNG", "TRACEBACK", "LEFT")
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def kill_points(command: Command, n: int, random: Random, folder: Path) -> None:
    """Kill runs of a command so many times in all, each resumed until the next kill or the end."""
    done = 0
    while done < n:
        anew(folder)
        kills: Counter = Counter()

        def act(process, kills=kills):
            how = random.choice(["kill -9 of client and workers", "kill -9 of the client alone"])
            (kill_all if "workers" in how else kill_client)(process)
            kills[how] += 1

        ended = to_the_end(command, folder, at_random(1.1 * command.seconds, random, act))
        done += kills.total()
        for how, times in kills.items():
            command.ended(how, ended, times)


def kill_in_the_last_second(command: Command, n: int, random: Random, folder: Path) -> None:
    """Kill runs so many times while they end, each time resumed to the end.

    By turns a kill is aimed by the clock, at the last second of what the last run took; at the
    time between the result and the end, in which the page is made; and at a file half written.
    """
    run, done = folder / "run", 0
    seconds, page = command.seconds, 0.1  # that a run takes, and from its result to its end
    while done < n:
        anew(folder)
        begun = monotonic()
        process = start(command.arguments, folder)
        aim = ("clock", "page", "part")[done % 3]
        if aim == "clock":
            wait(process, until=begun + seconds - random.uniform(0, 1))
        else:
            while process.poll() is None and not (run / "result.json").exists():
                sleep(0.001)
            written = monotonic()
        if aim == "page":
            wait(process, until=written + random.uniform(0, page))
        while aim == "part" and process.poll() is None and stage_of(run) != WITHIN:
            pass
        if process.poll() is not None:  # too late: now it is known how long it takes
            process.communicate()
            seconds = monotonic() - begun
            if aim == "page":
                page = max(0.02, min(page, monotonic() - written))
            continue
        kill_all(process)
        process.communicate()
        if aim == "page":
            page = min(3.0, 1.2 * page)
        done += 1
        command.ended(f"kill -9 {stage_of(run)}", to_the_end(command, folder))


def wait(process: subprocess.Popen, until: float) -> None:
    """Wait for an instant, or for the end of a process."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, until - monotonic()))


def stage_of(run: Path) -> str:
    """How far a run had come that was killed in its last second."""
    names = {path.name for path in run.iterdir()} if run.exists() else set()
    if any(name.endswith(".part") for name in names):
        return WITHIN
    if "report.html" in names:
        return "after the page"
    return "before the page" if "result.json" in names else "before the result"


def told_to_stop(command: Command, random: Random, folder: Path) -> None:
    """SIGTERM to the process; Ctrl-C, which reaches all processes of a terminal."""
    for name in ("SIGTERM", "Ctrl-C"):
        anew(folder)

        def act(process, name=name):
            if name == "SIGTERM":
                process.send_signal(signal.SIGTERM)
            else:
                os.killpg(process.pid, signal.SIGINT)

        disturb = once(at_random(command.seconds, random, act))
        command.ended(name, to_the_end(command, folder, disturb))


def workers_lost(command: Command, random: Random, folder: Path) -> None:
    """Workers that are killed, one or all of them."""
    for fault in ("kill -9 of a worker", "kill -9 of all workers"):
        struck = Counter()

        def act(process, fault=fault, struck=struck):
            workers = workers_of(process)
            for pid in workers if "all" in fault else random.sample(workers, min(1, len(workers))):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    struck[fault] += 1

        command.ended(fault, until_struck(command, random, folder, act, struck))


def worker_hung(command: Command, random: Random, folder: Path) -> None:
    """A worker that is stopped and never goes on."""
    struck = Counter()

    def act(process):
        workers = workers_of(process)
        if workers:
            with suppress(ProcessLookupError):
                os.kill(random.choice(workers), signal.SIGSTOP)
                struck["n"] += 1

    command.ended("a worker hangs", until_struck(command, random, folder, act, struck))


def until_struck(command: Command, random: Random, folder: Path, act, struck: Counter) -> str:
    """How a run ended whose workers were struck; there may be none at the instant."""
    for _ in range(50):
        anew(folder)
        ended = to_the_end(command, folder, once(at_random(command.seconds, random, act)))
        if struck:
            return ended
    raise SystemExit(f"{command.name} has no workers")


def journal_damaged(command: Command, random: Random, folder: Path) -> None:
    """A run that was killed half way, and whose journal was damaged before it was resumed."""
    for how in ("truncated", "with flipped bytes"):
        journals: list[Path] = []
        while not journals:
            anew(folder)
            process = start(command.arguments, folder)
            at_random(command.seconds, random, kill_all)(process)
            process.communicate()
            journals = sorted(folder.glob("run/*.journal"))
        # What is not yet in the file itself lies in its log.
        file = random.choice([*journals, *folder.glob("run/*.journal-wal")])
        content = bytearray(file.read_bytes())
        if how == "truncated":
            content = content[: random.randrange(len(content) + 1)]
        else:
            for _ in range(min(3, len(content))):
                content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        file.write_bytes(bytes(content))
        command.ended(f"journal {how}", in_general(to_the_end(command, folder)))


def in_general(how: str) -> str:
    """A refusal without what differs from one to the next."""
    for said in ("is damaged", "is not a journal", "was made from other data", "another version"):
        if how.startswith("refused") and said in how:
            return f"refused: the journal {said}"
    return how


def two_at_once(command: Command, random: Random, folder: Path) -> None:
    """Two processes resume one run: one goes on, the other is refused or comes after it."""
    while True:
        anew(folder)
        process = start(command.arguments, folder)
        at_random(0.8 * command.seconds, random, kill_all)(process)
        process.communicate()
        if (folder / "run" / "request.json").exists():
            break
    both = [start(["resume", "run", "-q"], folder) for _ in range(2)]
    ends = [end_of(one) for one in both]
    wrong = [end for end in ends if end.startswith(BAD)]
    done = "done" in ends or to_the_end(command, folder) == SAME
    found = compared(command.result, result_of(folder / "run")) if done else "WRONG: none is done"
    refused = [end for end in ends if end.startswith("refused")]
    said = "one refused" if refused else "both done"
    command.ended("two processes resume", wrong[0] if wrong else f"{said}, {found}")


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    """A disk in memory, mounted for the time."""
    place.mkdir(exist_ok=True)
    size = f"size={kilobytes}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "featloom", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def disk_full(command: Command, random: Random, folder: Path) -> None:
    """The disk of the run is full before the end; then there is room again, and it is resumed."""
    anew(folder)
    with small_disk(folder / "run", random.choice([4, 16, 24, 40, 100, 250])):
        first = end_of(start(command.arguments, folder))
        refusal = first.startswith("refused") and ("space" in first or "full" in first)
        subprocess.run(["mount", "-o", "remount,size=1g", folder / "run"], check=True)
        ended = to_the_end(command, folder)
    if first.startswith(BAD):
        ended = first
    elif not refusal and first != "done":
        ended = f"{first}; then {ended}"
    said = "it had sufficed" if first == "done" else "refused in a line, resumed"
    command.ended("disk full", f"{said}: {ended}")


def temporary_disk_full(command: Command, random: Random, folder: Path) -> None:
    """There is no room for temporary files; then there is."""
    anew(folder)
    with small_disk(folder / "temporary", random.choice([4, 8, 16])):
        first = end_of(start(command.arguments, folder, {"TMPDIR": str(folder / "temporary")}))
        ended = first if first.startswith(BAD) else to_the_end(command, folder)
    said = "it had sufficed" if first == "done" else "refused in a line, resumed"
    command.ended("temporary disk full", f"{said}: {ended}")


def clock_set_back(command: Command, random: Random, folder: Path) -> None:
    """The time of day is set back by a day while it runs; then it is killed, and resumed.

    It begins a day ahead: under libfaketime, a process that begins in the past does not wait.
    """
    anew(folder)
    clock = folder / "clock"
    clock.write_text("+1d")
    env = {
        "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip

    def act(process):
        clock.write_text("+0")
        at_random(0.5 * command.seconds, random, kill_all)(process)

    disturb = once(at_random(command.seconds, random, act))
    command.ended("clock set back", to_the_end(command, folder, disturb, env))


def others(
    command: Command, random: Random, folder: Path, can: dict[str, bool], first: bool
) -> None:
    """Every other fault once, as far as it can happen to the command."""
    told_to_stop(command, random, folder)
    two_at_once(command, random, folder)
    if command.workers:
        workers_lost(command, random, folder)
    if command.has_journal:
        journal_damaged(command, random, folder)
    if can["mount"]:
        disk_full(command, random, folder)
        temporary_disk_full(command, random, folder)
    # Under the library that sets the clock Dask is very slow.
    if can["faketime"] and (first or command.workers != "dask"):
        clock_set_back(command, random, folder)


def able(folder: Path) -> dict[str, bool]:
    """What can be tried on this machine; what cannot is said."""
    can = {"mount": True, "faketime": Path(FAKETIME).exists()}
    try:
        with small_disk(folder / "try", 100):
            pass
    except (OSError, subprocess.CalledProcessError):
        can["mount"] = False
    for name, there in can.items():
        if not there:
            print(f"left out, for want of {name}", file=sys.stderr)
    return can


def rows_of(command: Command) -> list[dict]:
    """What was tried with a command, and how it ended."""
    return [
        {
            "bench": f"{command.name}: {fault}", "kind": "fault", "command": command.name,
            "fault": fault, "tried": outcomes.total(), "ended": dict(outcomes.most_common()),
        }
        for fault, outcomes in command.outcomes.items()
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--others", type=int, default=4, help="times of each other fault")
    parser.add_argument("--hangs", type=int, default=1, help="times that a worker hangs")
    parser.add_argument("--last", type=int, default=0, help="kills in the last second of a run")
    parser.add_argument("--only", action="append", default=[], help="commands of these names")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random, bad = Random(asked.seed), False
    with TemporaryDirectory(prefix="featloom-faults-") as name:
        folder = Path(name)
        can = able(folder)
        chosen = [one for one in commands(folder) if one.name in asked.only or not asked.only]
        for command in chosen:
            undisturbed(command, folder)
            print(f"{command.name}: undisturbed {command.seconds:.1f} s", file=sys.stderr)
            kill_points(command, -(-asked.kills // len(chosen)), random, folder)
            kill_in_the_last_second(command, -(-asked.last // len(chosen)), random, folder)
            for time in range(asked.others):
                others(command, random, folder, can, first=time == 0)
            for _ in range(asked.hangs if command.workers else 0):
                worker_hung(command, random, folder)
            for row in rows_of(command):
                print(json.dumps(row), flush=True)
                bad = bad or any(word in how for how in row["ended"] for word in BAD)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
