"""One damaged file after the other, each within bounds of time and memory, and what came of them.

A file over which a reader takes too long ends the process, since nothing else stops a decoder
that never returns, and where it was goes to standard error.  A file for which a reader asks for
too much memory gets a ``MemoryError``, which is a crash like any other.  Damaging the next file is
under the same watch.
"""

from __future__ import annotations

import faulthandler
import json
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from targets import Target

SECONDS = 10  # that one file may take
BYTES = 2 * 2**30  # of memory that one file may take
EVERY = 200  # executions after which a process says how many there were


class Executions:
    """Runs a target on files until the time is over.

    Says on standard output, in JSON, how many there were and each new crash; keeps the file and
    the traceback of a crash.

    Parameters
    ----------
    target : is fed.
    keep : folder for crashes.
    seconds : until the time is over.
    """

    def __init__(self, target: Target, keep: Path, seconds: float):
        self.target, self.keep = target, keep
        self._end = monotonic() + seconds
        self._places: set[str] = set()
        self._n = 0
        for sound in target.seeds:  # unwatched: what they need may have to be compiled first
            target.crash(sound, keep)
        watch()

    def run(self, content: bytes) -> bool:
        """Feed one file; False when the time is over."""
        watch()
        with memory_bounded():
            error = self.target.crash(content, self.keep)
        watch()
        self._n += 1
        if error is not None and (place := place_of(error)) not in self._places:
            self._places.add(place)
            name = "".join(c if c.isalnum() else "-" for c in f"{self.target.name} {place}")
            (self.keep / name).with_suffix(Path(self.target.file).suffix).write_bytes(content)
            (self.keep / f"{name}.log").write_text("".join(traceback.format_exception(error)))
            print(json.dumps({"crash": place}), flush=True)
        left = monotonic() < self._end
        if self._n == EVERY or not left:
            print(json.dumps({"executions": self._n}), flush=True)
            self._n = 0
        if not left:
            faulthandler.cancel_dump_traceback_later()
        return left


@contextmanager
def memory_bounded(n_bytes: int = BYTES) -> Iterator[None]:
    """What happens inside may take so much more memory than there is now."""
    before = _limit_memory(more=n_bytes)
    try:
        yield
    finally:
        _limit_memory(limit=before)


def place_of(error: BaseException) -> str:
    """Where in the program it broke, to tell crashes apart."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "featloom" in frame.filename] or frames
    at = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "?"
    return f"{type(error).__name__} at {at}"


def place_of_end(text: str) -> str:
    """Where in the program a process was that took too long, by what it said at its end; or "".

    >>> place_of_end('  File "/re.py", line 1 in f\\n  File "/featloom/a.py", line 7 in g')
    'more than 10 s at a.py:7'
    """
    frames = re.findall(r'File "(.*)", line (\d+) in', text)
    inside = [frame for frame in frames if "featloom" in frame[0]] or frames
    return f"more than {SECONDS} s at {Path(inside[0][0]).name}:{inside[0][1]}" if inside else ""


def watch() -> None:
    """End the process if this is not called again in time."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)


def _limit_memory(more: int = 0, limit: int | None = None) -> int | None:
    """Bound the memory of this process to some more than it has now; gives the bound before.

    Only Linux says how much there is; elsewhere memory has no bound.
    """
    with suppress(ImportError, FileNotFoundError):
        import resource

        before, hard = resource.getrlimit(resource.RLIMIT_AS)
        if limit is None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        return before
    return None
