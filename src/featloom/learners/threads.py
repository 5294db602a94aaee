"""Pieces of work that do not depend on one another, shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor


def in_threads(work: Callable[[int], object], pieces: Sequence[int], threads: int) -> None:
    """Do the work for each of the pieces; kernels let other threads run meanwhile.

    >>> done = []
    >>> in_threads(done.append, range(3), threads=1)
    >>> done
    [0, 1, 2]
    """
    if threads <= 1 or len(pieces) <= 1:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        try:
            for _ in pool.map(work, pieces):
                pass
        except BaseException:
            # Ctrl-C waits for the pieces under way, not for all that were to come.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
