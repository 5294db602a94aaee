"""Where evaluations run: one after another here, or in several processes.

``evaluate`` is sent to each process once, through a file that all of them map into memory, so that
its arrays are there once; what it keeps from one candidate to the next it keeps in its process.
Each process has one thread for numerics, and ends when the process of the loop does, or when its
time is up.  One that dies or hangs costs time only, unless it happens again and again.

``evaluate`` may bound its evaluations: ``evaluate.limit(candidate)`` is how many seconds one may
take, ``evaluate.past_limit(candidate)`` the result of one that took longer.  It may also say what
is made of an evaluation that its process does not survive, ``evaluate.died(candidate)``: those that
were at work when a worker died are then done again one by one, and one with which a worker dies
again, though it is alone, is not done a third time.
"""

from __future__ import annotations

import math
import mmap
import multiprocessing
import os
import pickle
import queue
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from featloom.cluster import ONE_THREAD, deaf_to_ctrl_c
from featloom.errors import InputError
from featloom.kernels.compiling import compiled_so_far
from featloom.scratch import scratch_folder
from featloom.search.heartbeats import (
    end_the_hung,
    expect_life,
    home,
    show_life_until_alone,
)
from featloom.search.limits import PastLimit, time_limit
from featloom.search.space import Candidate, candidate_key
from featloom.search.strategies import Result

Evaluate = Callable[[Candidate], Result]

_AHEAD = 2  # candidates for each worker that are sent ahead, so that none waits for the next
_IDLE = 300  # seconds after which a worker that has nothing to do ends
_GRACE = 4.0  # seconds after its limit that an evaluation has to come back to the interpreter
_OVER, _AT_WORK = "over-", "at-work-"  # and a place: the names of files
_LOSSES = 3  # workers that may die one after the other with nothing finished in between


class MapBatch(Protocol):
    """Evaluate candidates somewhere, several at a time.

    Yields (place of the candidate, result, seconds) in whatever order they are finished, and
    takes the next candidate only when there is a worker for it, in order: the iterable ends
    early when the budget is spent.
    """

    def __call__(
        self, candidates: Iterable[Candidate]
    ) -> Generator[tuple[int, Result, float], None, None]: ...


def number_of_workers(jobs: int) -> int:
    if jobs == 0:
        raise InputError("jobs cannot be 0; give a number of processes, or -1 for all cores")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return jobs if jobs > 0 else max(1, (cores or 1) + 1 + jobs)


def one_by_one(evaluate: Evaluate, deadline: float | None = None) -> MapBatch:
    """Evaluate here, one after the other; at the deadline what is under way is given up."""

    def map_batch(candidates):
        for place, candidate in enumerate(candidates):
            left = math.inf if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return
            try:
                finished = timed(evaluate, place, candidate, left)
            except _TimeOver:
                return
            yield finished

    return map_batch


class _TimeOver(Exception):
    """The time of all evaluations is over."""


def timed(
    evaluate: Evaluate, place: int, candidate: Candidate, left: float = math.inf
) -> tuple[int, Result, float]:
    """Evaluate one candidate: its place, the result and the seconds that it took.

    Raises
    ------
    _TimeOver
        when the seconds ``left`` for all evaluations are over.  One that passes its own limit is
        made something of.
    """
    begun = time.perf_counter()
    own = limit_of(evaluate, candidate)
    try:
        with time_limit(min(own, left + 0.002)) as limit:
            result = evaluate(candidate)
    except PastLimit as past:
        if past.limit is not limit:
            raise
        if left <= own:
            raise _TimeOver from None
        result = evaluate.past_limit(candidate)  # type: ignore[attr-defined]
    except Exception as error:
        error.add_note(f"while evaluating {candidate_key(candidate)}")
        raise
    return place, result, time.perf_counter() - begun


def limit_of(evaluate: Evaluate, candidate: Candidate) -> float:
    """Seconds that an evaluation may take; infinite where ``evaluate`` bounds none."""
    bound = getattr(evaluate, "limit", None)
    seconds = None if bound is None else bound(candidate)
    return math.inf if seconds is None else float(seconds)


@contextmanager
def processes(
    evaluate: Evaluate, n_workers: int, deadline: float | None = None
) -> Iterator[MapBatch]:
    """Workers that each hold a copy of ``evaluate`` and have one thread for numerics.

    What a worker was doing that died or hung is done again by another.  At the deadline (of the
    monotonic clock) those that are at work end, whatever they are doing.
    """
    if multiprocessing.current_process().daemon:
        yield one_by_one(evaluate, deadline)  # such a process may have no children
        return
    died: Callable[[Candidate], Result] | None = getattr(evaluate, "died", None)
    with scratch_folder("search") as folder:
        layout = _lay_out(evaluate, folder / "evaluate", deadline)

        def map_batch(candidates):
            waiting: Iterator[tuple[int, Candidate]] = enumerate(candidates)
            # Those that were at work when a worker died.  All workers end with the one, so it
            # shows when each is done by itself which of them it was.
            suspects: dict[int, Candidate] = {}
            losses = 0
            while True:
                begun: dict[int, Candidate] = {}
                alone, since = bool(suspects), time.perf_counter()
                some = iter([suspects.popitem()]) if alone else waiting
                try:
                    for finished in _evaluated(layout, 1 if alone else n_workers, some, begun):
                        losses = 0
                        yield finished
                    if not alone:
                        return
                except BrokenExecutor:
                    at_work = [place for place in _told_of(folder, _AT_WORK) if place in begun]
                    for place in _told_of(folder, _OVER):
                        if place in begun:
                            lost = begun.pop(place)
                            losses, at_work = -1, []
                            over = evaluate.past_limit(lost)  # type: ignore[attr-defined]
                            yield place, over, limit_of(evaluate, lost)
                    if deadline is not None and time.monotonic() >= deadline:
                        return
                    losses += 1
                    if died is not None and alone and at_work:
                        losses = 0
                        for place in at_work:
                            yield place, died(begun.pop(place)), time.perf_counter() - since
                    elif died is not None:
                        suspects |= {place: begun.pop(place) for place in reversed(at_work)}
                    if losses > _LOSSES:
                        raise InputError(
                            f"a worker process died, {losses} times one after the other, "
                            "perhaps for want of memory; fewer jobs may help"
                        ) from None
                    waiting = chain(begun.items(), waiting)

        end_the_hung()
        yield map_batch


def _evaluated(
    layout: _Layout,
    n_workers: int,
    waiting: Iterator[tuple[int, Candidate]],
    begun: dict[int, Candidate],
) -> Iterator[tuple[int, Result, float]]:
    """Results as they are finished; ``begun`` has the candidates that are under way."""
    from joblib.externals.loky import get_reusable_executor

    # Workers stay for the next search; they are asked for anew in case that some have died.
    pool = get_reusable_executor(
        n_workers,
        timeout=_IDLE,
        env=ONE_THREAD,
        initializer=_serve,
        initargs=(os.getpid(), home()),
    )
    under_way: set[Future] = set()
    try:
        with warnings.catch_warnings():
            # A worker whose time is up is no news to anyone.
            warnings.filterwarnings("ignore", message="A worker stopped")
            while True:
                for place, candidate in islice(waiting, _AHEAD * n_workers - len(under_way)):
                    begun[place] = candidate
                    with deaf_to_ctrl_c():
                        under_way.add(pool.submit(_evaluate_in_worker, layout, place, candidate))
                if not under_way:
                    return
                expect_life(getattr(pool, "_processes", ()))
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                # What is finished is kept before an error ends it all.
                for future in sorted(done, key=lambda one: one.exception() is not None):
                    finished = future.result()
                    del begun[finished[0]]
                    yield finished
    except BaseException:
        end_workers(pool)
        raise


def end_workers(pool) -> None:
    """End the processes of a pool, whatever they are doing.

    What no worker has got yet is taken back first: the thread that hands it out would look in vain
    for what belongs to it, and say so with a traceback.
    """
    handed_in = getattr(pool, "_work_ids", None)
    with suppress(queue.Empty):
        while handed_in is not None:
            handed_in.get_nowait()
    pool.shutdown(kill_workers=True)


@dataclass(frozen=True)
class _Layout:
    """Where in a file ``evaluate`` lies: its pickle and, apart from it, its arrays."""

    path: str
    spans: tuple[tuple[int, int], ...]
    deadline: float | None


def _lay_out(evaluate: Evaluate, path: Path, deadline: float | None) -> _Layout:
    """Write ``evaluate`` to a file that all workers map, so that its arrays are there once."""
    try:
        import cloudpickle
    except ImportError:  # older releases of joblib carry it inside
        from joblib.externals import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    body = cloudpickle.dumps(evaluate, protocol=5, buffer_callback=buffers.append)
    spans = []
    try:
        with path.open("wb") as file:
            for part in (body, *(buffer.raw() for buffer in buffers)):
                file.write(b"\0" * (-file.tell() % 64))  # arrays are aligned, as numpy makes them
                spans.append((file.tell(), len(part)))
                file.write(part)
    except OSError as error:
        raise InputError(
            f"the data cannot be laid out for the workers in {path.parent.parent}: "
            f"{(error.strerror or str(error)).lower()}; TMPDIR may name another folder"
        ) from None
    return _Layout(str(path), tuple(spans), deadline)


_held: dict[_Layout, Evaluate] = {}  # in a worker: the one ``evaluate`` it has
_at_work: list[_Layout] = []  # in a worker: whose candidate it is evaluating


def _evaluate_in_worker(layout: _Layout, place: int, candidate: Candidate):
    _at_work.append(layout)
    watch = None
    mark = _file_of(layout, _AT_WORK, place)
    try:
        evaluate = _held.get(layout)
        if evaluate is None:
            if layout.deadline is not None:
                threading.Thread(target=_end_at_deadline, args=(layout,), daemon=True).start()
            evaluate = _loaded(layout)
            _held.clear()
            _held[layout] = evaluate
        if layout.deadline is not None and time.monotonic() >= layout.deadline:
            os._exit(1)  # the watch may have looked just before there was work
        limit = limit_of(evaluate, candidate)
        if limit < math.inf:
            watch = _Watch(layout, place, limit + _GRACE)
        with suppress(OSError):
            mark.touch()
        return timed(evaluate, place, candidate)
    finally:
        if watch is not None:
            watch.cancel()
        with suppress(OSError):
            mark.unlink(missing_ok=True)
        _at_work.clear()


class _Watch:
    """Ends this worker when so much time has passed; what is compiled meanwhile does not count."""

    def __init__(self, layout: _Layout, place: int, seconds: float):
        self._layout, self._place, self._seconds = layout, place, seconds
        self._begun, self._watched = time.monotonic(), threading.get_ident()
        self._compiled = compiled_so_far(self._watched)[0]
        self._over = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        left = self._seconds
        while not self._over.wait(left):
            compiled, is_compiling = compiled_so_far(self._watched)
            used = time.monotonic() - self._begun - (compiled - self._compiled)
            if used >= self._seconds and not is_compiling:
                _give_up(self._layout, self._place)
            left = max(0.5, self._seconds - used)

    def cancel(self) -> None:
        self._over.set()


def _give_up(layout: _Layout, place: int) -> None:
    """End this worker, whose evaluation does not come back to the interpreter; say which it was."""
    with suppress(OSError):
        _file_of(layout, _OVER, place).touch()
    os._exit(1)


def _file_of(layout: _Layout, what: str, place: int) -> Path:
    """The file by which a worker says something of an evaluation."""
    return Path(layout.path).parent / f"{what}{place}"


def _told_of(folder: Path, what: str) -> list[int]:
    """Places of the evaluations of which workers said this, each told once."""
    found = list(folder.glob(f"{what}*"))
    for path in found:
        path.unlink(missing_ok=True)
    return sorted(int(path.name.removeprefix(what)) for path in found)


def _loaded(layout: _Layout) -> Evaluate:
    with open(layout.path, "rb") as file:
        # A private mapping: an evaluation may write to its arrays, and only what it writes to is
        # copied.
        contents = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    body, *arrays = (contents[start : start + size] for start, size in layout.spans)
    return pickle.loads(body, buffers=arrays)


def _serve(loop: int, folder: str) -> None:
    """In a worker, before anything else."""
    # Ctrl-C reaches every process of a terminal; the loop alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(loop, folder), daemon=True).start()


def _end_with(loop: int, folder: str) -> None:
    """Leave nothing behind when the loop's process was killed: neither worker nor file."""
    show_life_until_alone(loop, folder)
    shutil.rmtree(folder, ignore_errors=True)
    for held in tuple(_held):
        shutil.rmtree(Path(held.path).parent, ignore_errors=True)
    os._exit(1)


def _end_at_deadline(layout: _Layout) -> None:
    """A worker whose time is up ends, unless it is idle or has other work by then."""
    assert layout.deadline is not None
    time.sleep(max(0.0, layout.deadline - time.monotonic()))
    if layout in _at_work:
        os._exit(1)
