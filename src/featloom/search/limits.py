"""Evaluations that may take so long and no longer.

In the main thread of a process (here, or in a worker) an alarm raises :class:`PastLimit` where the
interpreter next looks, which is between two calls of kernels.  A worker whose evaluation does not
come back to the interpreter at all is ended a little later by a watch; the loop is told which
evaluation that was by a file, so that it is not done again.

Compilation is nobody's cost: what is compiled meanwhile does not count.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from featloom.kernels.compiling import compiled_so_far


class PastLimit(BaseException):
    """Something took longer than it may; no error that a library may swallow.

    ``limit`` is the one that was passed, for limits may lie within one another.
    """

    def __init__(self, limit: Limit):
        super().__init__(f"it took longer than {limit.seconds:g} s")
        self.limit = limit


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit, known by itself."""

    seconds: float


@contextmanager
def time_limit(seconds: float) -> Iterator[Limit]:
    """Raise :class:`PastLimit` inside the block when so many seconds have passed.

    Alarms reach the main thread alone; in another one, and where the limit is infinite, the block
    runs for as long as it takes.

    >>> with time_limit(60.0):
    ...     1 + 1
    2
    """
    limit = Limit(seconds)
    if math.isinf(seconds) or threading.current_thread() is not threading.main_thread():
        yield limit
        return
    inside = True

    def ring(number: int, frame: FrameType | None) -> None:
        if callable(before) and 0 < left <= time.monotonic() - begun + 0.01:
            before(number, frame)  # the one around it is over first
        compiled, is_compiling = compiled_so_far()
        used = time.monotonic() - begun - (compiled - compiled_before)
        # A compiler that is interrupted leaves halves behind; it is let finish.
        if inside and not is_compiling and used >= seconds - 0.01:
            raise PastLimit(limit)

    compiled_before, _ = compiled_so_far()
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    begun = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    # It rings again: an exception may be lost, as in a destructor.
    first = min(seconds, left) if left > 0 else seconds
    signal.setitimer(signal.ITIMER_REAL, max(first, 0.001), 1.0)
    try:
        yield limit
    finally:
        inside = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if left > 0:  # one around it goes on
            rest = left - (time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, max(rest, 0.001), 1.0)
