"""Data that come through a pipe: ``/dev/stdin``, ``<(zcat table.csv.gz)``, or one with a name.

A reader looks at a file before it reads it, and a pipe gives its bytes but once.  A command keeps
what came through a pipe in a temporary file as long as it runs, so that it can be read again.
Whoever waits for a pipe to be written to says so.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, FileIO
from threading import Timer
from typing import IO

PATIENCE = 1.0  # seconds without a byte, after which it is said that a pipe is waited for

_kept: dict[str, str] | None = None  # the copies of pipes, where they are kept


@contextmanager
def kept_pipes() -> Iterator[None]:
    """Keep what comes through pipes for the time of a ``with`` block, to be read more than once."""
    global _kept
    before, _kept = _kept, {}
    try:
        yield
    finally:
        copies, _kept = _kept, before
        for copy in copies.values():
            os.unlink(copy)


def is_pipe(name: str) -> bool:
    """Whether a file gives its bytes once, as they are written.

    >>> is_pipe(os.devnull), is_pipe("tickets.csv")
    (False, False)
    """
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def open_pipe(name: str, stack: ExitStack) -> IO[bytes]:
    """The bytes of a pipe, where pipes are kept from its beginning; ``stack`` closes it."""
    if _kept is None:
        return _written_to(name, stack)
    if name not in _kept:
        with ExitStack() as reading:
            pipe = _written_to(name, reading)
            handle, copy = tempfile.mkstemp(prefix="featloom-pipe-")
            _kept[name] = copy
            with open(handle, "wb") as stream:
                shutil.copyfileobj(pipe, stream)
    return stack.enter_context(open(_kept[name], "rb"))


def _written_to(name: str, stack: ExitStack) -> IO[bytes]:
    """A pipe whose first bytes are there, or that was closed without any."""
    said = f"{name} is a pipe, and nothing has been written to it yet; it is waited for"
    waiting = Timer(PATIENCE, warnings.warn, [said])
    waiting.daemon = True
    waiting.start()
    try:
        pipe = stack.enter_context(BufferedReader(FileIO(name)))
        pipe.peek(1)
        return pipe
    finally:
        waiting.cancel()
