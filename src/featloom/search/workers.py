"""Where evaluations run: one after another here, or in several processes.

``evaluate`` is sent to each process once, through a file that all of them map into memory, so that
its arrays are there once; what it keeps from one candidate to the next it keeps in its process.
Each process has one thread for numerics, and ends when the process of the loop does, or when its
time is up.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from featloom.errors import InputError
from featloom.search.space import Candidate, candidate_key
from featloom.search.strategies import Result

Evaluate = Callable[[Candidate], Result]

_THREADS = tuple(
    f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")
)


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


def one_by_one(evaluate: Evaluate) -> MapBatch:
    def map_batch(candidates):
        for place, candidate in enumerate(candidates):
            yield timed(evaluate, place, candidate)

    return map_batch


def timed(evaluate: Evaluate, place: int, candidate: Candidate) -> tuple[int, Result, float]:
    """Evaluate one candidate: its place, the result and the seconds that it took."""
    begun = time.perf_counter()
    try:
        result = evaluate(candidate)
    except Exception as error:
        error.add_note(f"while evaluating {candidate_key(candidate)}")
        raise
    return place, result, time.perf_counter() - begun


@contextmanager
def processes(
    evaluate: Evaluate, n_workers: int, deadline: float | None = None
) -> Iterator[MapBatch]:
    """Workers that each hold a copy of ``evaluate`` and have one thread for numerics.

    At the deadline (of the monotonic clock) those that are at work end, whatever they are doing.
    """
    start = _one_process if n_workers == 1 else partial(_several_processes, n_workers)
    with tempfile.TemporaryDirectory(prefix="featloom-search-") as folder:
        place_of_evaluate = _lay_out(evaluate, Path(folder) / "evaluate", deadline)
        with start(place_of_evaluate) as evaluated:

            def map_batch(candidates):
                try:
                    yield from evaluated(candidates)
                except BrokenExecutor:
                    if deadline is not None and time.monotonic() >= deadline:
                        return
                    raise InputError(
                        "a worker process died, perhaps for want of memory; fewer jobs may help"
                    ) from None

            yield map_batch


@contextmanager
def _several_processes(n_workers: int, place_of_evaluate: _Layout) -> Iterator[MapBatch]:
    from joblib import Parallel, delayed, parallel_config

    with (
        parallel_config("loky", n_jobs=n_workers, inner_max_num_threads=1),
        Parallel(return_as="generator_unordered", batch_size=1) as parallel,
    ):

        def evaluated(candidates):
            tasks = (
                delayed(_evaluate_in_worker)(place_of_evaluate, place, candidate)
                for place, candidate in enumerate(candidates)
            )
            with _deaf_to_ctrl_c():
                results = parallel(tasks)
            with warnings.catch_warnings():
                # A worker whose time is up is no news to anyone.
                warnings.filterwarnings("ignore", message="A worker stopped")
                yield from results

        yield evaluated


@contextmanager
def _one_process(place_of_evaluate: _Layout) -> Iterator[MapBatch]:
    """A single worker, which joblib would not start: it takes one job to be no job for others."""
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=1, env=dict.fromkeys(_THREADS, "1"))

    def evaluated(candidates):
        for place, candidate in enumerate(candidates):
            with _deaf_to_ctrl_c():
                future = executor.submit(_evaluate_in_worker, place_of_evaluate, place, candidate)
            yield future.result()

    try:
        yield evaluated
    finally:
        executor.shutdown(kill_workers=True)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start meanwhile never hear Ctrl-C, which is for the loop alone to answer.

    For the moment that this takes, neither does the loop's process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@dataclass(frozen=True)
class _Layout:
    """Where in a file ``evaluate`` lies: its pickle and, apart from it, its arrays."""

    path: str
    spans: tuple[tuple[int, int], ...]
    loop: int  # the process that waits for the results
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
    return _Layout(str(path), tuple(spans), os.getpid(), deadline)


_held: dict[_Layout, Evaluate] = {}  # in a worker: the one ``evaluate`` it has
_at_work: list[_Layout] = []  # in a worker: whose candidate it is evaluating


def _evaluate_in_worker(layout: _Layout, place: int, candidate: Candidate):
    _at_work.append(layout)
    try:
        evaluate = _held.get(layout)
        if evaluate is None:
            _watch(layout)
            evaluate = _loaded(layout)
            _held.clear()
            _held[layout] = evaluate
        if layout.deadline is not None and time.monotonic() >= layout.deadline:
            _end(layout)  # the watch may have looked just before there was work
        return timed(evaluate, place, candidate)
    finally:
        _at_work.clear()


def _loaded(layout: _Layout) -> Evaluate:
    with open(layout.path, "rb") as file:
        # A private mapping: an evaluation may write to its arrays, and only what it writes to is
        # copied.
        contents = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    body, *arrays = (contents[start : start + size] for start, size in layout.spans)
    return pickle.loads(body, buffers=arrays)


def _watch(layout: _Layout) -> None:
    """Let a thread end this process when it is no longer wanted."""
    if os.getpid() == layout.loop:
        return  # where no process can be started, joblib evaluates in the loop's own
    if not _held or layout.deadline is not None:
        # Ctrl-C reaches every process of a terminal; the loop alone decides what it means.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with, args=(layout,), daemon=True).start()


def _end_with(layout: _Layout) -> None:
    """Leave nothing behind when the loop's process was killed: neither worker nor file.

    A worker whose time is up ends too, unless it is idle or has other work by then.
    """
    deadline = layout.deadline
    while os.getppid() == layout.loop:
        left = 1.0 if deadline is None else deadline - time.monotonic()
        if left <= 0:
            if layout in _at_work:
                _end(layout)
            deadline = None
        time.sleep(min(1.0, max(left, 0.0)))
    for held in _held:
        shutil.rmtree(Path(held.path).parent, ignore_errors=True)
    os._exit(1)


def _end(layout: _Layout) -> None:
    if os.getpid() != layout.loop:
        os._exit(1)
