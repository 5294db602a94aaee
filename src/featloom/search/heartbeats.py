"""Signs of life of worker processes, by which one that hangs is noticed.

A worker can be stopped by a signal, or stuck in a file system that does not answer: it is there,
and nobody will ever hear from it.  So every worker writes the time of the monotonic clock, which
all processes share and nobody sets back, into a file of its own once a second; it does so from a
thread that runs on while an evaluation computes.  The process that waits for results looks at the
files and ends a worker whose last sign is old, which is then noticed as any worker that has died.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from featloom.scratch import new_folder

HUNG = 120.0  # seconds without a sign of life
_EVERY = 1.0
_TIME = struct.Struct("d")


@cache
def home() -> str:
    """The folder of the files, one for a process; it goes when the process does."""
    folder, _ = new_folder("workers")  # kept until the end
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder)


def show_life_until_alone(parent: int, folder: str) -> None:
    """In a worker: a sign of life every second, until the process that started it is gone."""
    own = Path(folder, str(os.getpid()))
    try:
        file = os.open(own, os.O_RDWR | os.O_CREAT, 0o600)
        while os.getppid() == parent:
            # Always the same bytes of the file: that works on a disk that has become full.
            os.pwrite(file, _TIME.pack(time.monotonic()), 0)
            time.sleep(_EVERY)
    except OSError:
        with suppress(OSError):
            own.unlink()  # one that cannot show that it lives is not watched
        while os.getppid() == parent:
            time.sleep(_EVERY)


@cache
def end_the_hung() -> None:
    """From now on, workers that show no life for long are ended.

    As long as this process is there: also one that waits for idle workers when it ends.
    """
    if hasattr(os, "waitid"):
        threading.Thread(target=_watch, daemon=True).start()


def expect_life(pids: Iterable[int]) -> None:
    """Watch workers from their start, before they can show life themselves."""
    for pid in pids:
        with suppress(OSError):  # most are known
            file = os.open(Path(home(), str(pid)), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, _TIME.pack(time.monotonic()))
            os.close(file)


def _watch() -> None:
    while True:
        time.sleep(min(5.0, HUNG / 4))
        with suppress(OSError):
            for pid in _hung(Path(home()), HUNG):
                os.kill(pid, signal.SIGKILL)


def _hung(folder: Path, patience: float) -> Iterator[int]:
    for file in folder.iterdir():
        if not file.name.isdigit():
            continue
        pid = int(file.name)
        if not _is_running_child(pid):
            file.unlink(missing_ok=True)
            continue
        with suppress(OSError, struct.error):  # struct: the file has just been made
            (last,) = _TIME.unpack(file.read_bytes())
            if time.monotonic() - last > patience:
                yield pid


def _is_running_child(pid: int) -> bool:
    """Whether a number is that of a child of this process still, and of no stranger by now."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
