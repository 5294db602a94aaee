"""Evaluations that may take so long and no longer.

In the main thread of a process (here, or in a worker) an alarm raises :class:`PastLimit` where the
interpreter next looks, which is between two calls of kernels.  A worker whose evaluation does not
come back to the interpreter at all is ended a little later by a watch; the loop is told which
evaluation that was by a file, so that it is not done again.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class PastLimit(BaseException):
    """An evaluation took longer than it may; no error that a library may swallow."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`PastLimit` inside the block when so many seconds have passed.

    Alarms reach the main thread alone; in another one, and where the limit is infinite, the block
    runs for as long as it takes.

    >>> with time_limit(60.0):
    ...     1 + 1
    2
    """
    if math.isinf(seconds) or threading.current_thread() is not threading.main_thread():
        yield
        return
    inside = True

    def ring(number: int, frame: object) -> None:
        if inside:
            raise PastLimit(f"it passed its limit of {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    # It rings again: an exception may be lost, as in a destructor.
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 1.0)
    try:
        yield
    finally:
        inside = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
