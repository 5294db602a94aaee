"""How long kernels were compiled for, and whether they have been before.

Compilation happens once on a machine and says nothing of what a method costs; whoever times a
method takes off what :func:`compile_time` counted.  numba tells of every compilation that its
cache could not spare; those within another are part of it.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from time import perf_counter, thread_time

import numba
from numba.core import config, event


@dataclass
class CompileTime:
    """Seconds that kernels were compiled for: of the clock, and of this thread's CPU time."""

    seconds: float = 0.0
    cpu: float = 0.0


class _Outermost(event.Listener):
    """Adds up compilations of one thread; those that others ask for are part of these."""

    def __init__(self, found: CompileTime):
        self._found, self._thread, self._depth = found, get_ident(), 0

    def on_start(self, event):
        if get_ident() == self._thread:
            if self._depth == 0:
                self._begun = perf_counter(), thread_time()
            self._depth += 1

    def on_end(self, event):
        if get_ident() == self._thread:
            self._depth -= 1
            if self._depth == 0:
                self._found.seconds += perf_counter() - self._begun[0]
                self._found.cpu += thread_time() - self._begun[1]


@contextmanager
def compile_time() -> Iterator[CompileTime]:
    """What the block compiles in this thread, in seconds.

    >>> with compile_time() as compiled:
    ...     total = 1 + 1
    >>> compiled.seconds
    0.0
    """
    found = CompileTime()
    with event.install_listener("numba:compile", _Outermost(found)):
        yield found


def is_compiled(what: str) -> bool:
    """Whether :func:`set_compiled` was called for these kernels as they are now, on this machine."""
    path = _mark(what)
    return path is not None and path.exists()


def set_compiled(what: str) -> None:
    """Note beside the compiled kernels that all that some work needs is there."""
    path = _mark(what)
    if path is not None:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


def _mark(what: str) -> Path | None:
    """The file that says so: its name changes with the kernels, with numba and with the machine."""
    here = Path(__file__).parent
    described = [what, numba.__version__, platform.python_version(), str(config.CPU_NAME)]
    described += [platform.machine(), str(config.DISABLE_JIT)]
    try:
        for path in sorted(here.glob("*.py")):
            status = path.stat()
            described.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
    except OSError:
        return None
    digest = hashlib.sha256("\n".join(described).encode()).hexdigest()[:16]
    folder = Path(config.CACHE_DIR) if config.CACHE_DIR else here / "__pycache__"
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return None
    return folder / f"compiled-{what}-{digest}"
