"""How long kernels were compiled for, and whether they have been before.

Compilation happens once on a machine and says nothing of what a method costs; whoever times a
method takes off what :func:`compile_time` counted.  numba tells of every compilation that its
cache could not spare; those within another are part of it.

Which kernels some work needs may depend on its data: how many rows there are, how alike they are.
Whoever compiles before there is work asks for all of them, on a few rows, :func:`every_kernel`.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
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


class _Compilations(event.Listener):
    """Adds up compilations, thread by thread; those that others ask for are part of these."""

    def __init__(self) -> None:
        self.of_thread: dict[int, CompileTime] = {}
        self._depth: dict[int, int] = {}
        self._begun: dict[int, tuple[float, float]] = {}

    def on_start(self, event):
        thread = get_ident()
        if self._depth.get(thread, 0) == 0:
            self._begun[thread] = perf_counter(), thread_time()
        self._depth[thread] = self._depth.get(thread, 0) + 1

    def on_end(self, event):
        thread = get_ident()
        self._depth[thread] -= 1
        if self._depth[thread] == 0:
            wall, cpu = self._begun.pop(thread)
            total = self.of_thread.setdefault(thread, CompileTime())
            total.seconds += perf_counter() - wall
            total.cpu += thread_time() - cpu

    def so_far(self, thread: int) -> CompileTime:
        """What a thread has compiled until now, with what it is compiling."""
        total = self.of_thread.get(thread, CompileTime())
        begun = self._begun.get(thread)
        under_way = 0.0 if begun is None else perf_counter() - begun[0]
        return CompileTime(total.seconds + under_way, total.cpu)

    def of_all(self) -> CompileTime:
        """What all threads have compiled until now."""
        found = [*self.of_thread.values()]
        return CompileTime(sum(one.seconds for one in found), sum(one.cpu for one in found))

    def is_compiling(self, thread: int) -> bool:
        return self._depth.get(thread, 0) > 0


@dataclass(frozen=True)
class Ahead:
    """What kernels are compiled for while little is at hand.

    Parameters
    ----------
    rows : that there will be.
    many_features : whether there will be more values and features than go into 16 bits.
    """

    rows: int
    many_features: bool = False


_ahead: ContextVar[Ahead | None] = ContextVar("ahead", default=None)


@contextmanager
def every_kernel(rows: int, many_features: bool = False) -> Iterator[None]:
    """Inside, what the data decide between is all done, so that every kernel is compiled.

    >>> with every_kernel(rows=100):
    ...     compiled_for()
    Ahead(rows=100, many_features=False)
    >>> compiled_for() is None
    True
    """
    before = _ahead.set(Ahead(rows, many_features))
    try:
        yield
    finally:
        _ahead.reset(before)


def compiled_for() -> Ahead | None:
    """What is compiled for here; None: the work is done for its own sake."""
    return _ahead.get()


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def compiled_so_far(thread: int | None = None) -> tuple[float, bool]:
    """Seconds that a thread has compiled for since it began, and whether it is compiling now.

    Parameters
    ----------
    thread : its number, as ``threading.get_ident`` gives it; None: this one.

    >>> seconds, is_compiling = compiled_so_far()
    >>> seconds >= 0, is_compiling
    (True, False)
    """
    thread = get_ident() if thread is None else thread
    return _compilations.so_far(thread).seconds, _compilations.is_compiling(thread)


@contextmanager
def compile_time(*, everywhere: bool = False) -> Iterator[CompileTime]:
    """What the block compiles in this thread, or in all threads, in seconds, when it is over.

    >>> with compile_time() as compiled:
    ...     total = 1 + 1
    >>> compiled.seconds
    0.0
    """
    found, thread = CompileTime(), get_ident()

    def so_far() -> CompileTime:
        return _compilations.of_all() if everywhere else _compilations.so_far(thread)

    before = so_far()
    try:
        yield found
    finally:
        after = so_far()
        found.seconds, found.cpu = after.seconds - before.seconds, after.cpu - before.cpu


def is_compiled(what: str) -> bool:
    """Whether all that some work needs was noted as compiled, from the kernels as they are now."""
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
