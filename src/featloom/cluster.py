"""Work on the workers of a Dask cluster.

Within ``with cluster("local:4"):`` or ``with cluster("tcp://10.0.0.7:8786"):`` searches evaluate
their candidates on the workers, and data in blocks is counted there.  What is found is the same as
on one core: candidates are told in the order asked, and counts are whole numbers.

What a worker needs for many tasks (the data of a search, the vocabularies of blocks) is *held*: it
goes to the scheduler once, and from there to every worker that asks for it.  A worker that is lost
costs time only: what it was doing is done again by another; so does one that hangs, which the
scheduler ends when it has shown no life for some time.  Where one task ends four workers one after
the other, or where no worker is left for a minute, there is an error that says so.
"""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module, metadata
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from featloom.errors import InputError
from featloom.scratch import scratch_folder

PATIENCE = 60.0  # seconds without any worker
HUNG = 120.0  # seconds without a sign of life, after which a local worker is ended
_CONNECT = 20.0  # seconds for a scheduler to answer, and for a first worker to come
_ASKED = 3  # times that a question to all workers is asked
_AHEAD = 2  # tasks for each worker that are sent ahead, so that none waits for the next
_RUNS = 4  # runs of items a worker in a reduction: a run that is lost is a quarter of its work
_JOINED = 4  # sums that are added up in one task
_LOCAL = "local:"
# One level of parallelism: a worker is one thread, in numerics too.
ONE_THREAD = {
    f"{library}_THREADS": "1"
    for library in (
        "NUMBA_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "NUMEXPR_NUM",
        "VECLIB_MAXIMUM", "POLARS_MAX",
    )
}  # fmt: skip
_PROTOCOLS = ("tcp://", "tls://", "ws://", "wss://", "ucx://")

_current: ContextVar[Cluster | None] = ContextVar("cluster", default=None)


@contextmanager
def cluster(address: str | None) -> Iterator[Cluster | None]:
    """Let searches and counts run on a Dask cluster for the time of a ``with`` block.

    Parameters
    ----------
    address : ``local:N`` starts N worker processes on this machine and ends them afterwards,
        ``tcp://host:port`` is a scheduler that is running; None: no cluster.
    """
    if address is None:
        yield None
        return
    wanted = _workers_wanted(address)
    try:
        distributed = import_module("distributed")
        # Workers of our own need more than Dask.
        ours = None if wanted is None else import_module("featloom.local_cluster")
    except ModuleNotFoundError as error:
        raise InputError(
            f"{address} needs the package {error.name}: pip install 'featloom[dask]'"
        ) from None
    with ExitStack() as ends:
        try:
            with warnings.catch_warnings():
                # Other versions of packages, ports that are taken: neither matters here.
                warnings.simplefilter("ignore")
                scheduler: Any = address
                if ours is not None:
                    folder = ends.enter_context(scratch_folder("dask"))
                    with deaf_to_ctrl_c():
                        scheduler = ours.start_local_cluster(
                            wanted, folder, hung=HUNG, env=ONE_THREAD
                        )
                    ends.callback(scheduler.close)
                client = distributed.Client(scheduler, timeout=_CONNECT, set_as_default=False)
                ends.callback(client.close)
        except (OSError, TimeoutError, RuntimeError) as error:  # RuntimeError: workers of our own
            if ours is None:
                what, advice = f"no Dask scheduler answers at {address}", ""
            else:
                what, advice = f"no workers can be started for {address}", _advice(error)
            raise InputError(f"{what}: {_reason(error)}{advice}") from None
        connected = Cluster(client, address)
        connected.check()
        token = _current.set(connected)
        try:
            yield connected
        finally:
            _current.reset(token)


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start meanwhile never hear Ctrl-C, which is for this process alone to answer.

    For the moment that this takes, neither does this process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def current_cluster() -> Cluster | None:
    """The cluster of the ``with`` block around, if there is one."""
    return _current.get()


class Cluster:
    """The workers of a Dask scheduler; made by :func:`cluster`."""

    def __init__(self, client: Any, address: str):
        self.client, self.address = client, address
        self._addresses: list[str] = []
        self._looked = -1e9
        self._held: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @property
    def n_workers(self) -> int:
        """Worker processes that are there now, or were a second ago; at least 1."""
        return max(1, len(self._workers()))

    def _workers(self) -> list[str]:
        """The addresses of those processes."""
        if time.monotonic() - self._looked > 1.0:
            self._addresses = list(self.client.scheduler_info(n_workers=-1)["workers"])
            self._looked = time.monotonic()
        return self._addresses

    def check(self) -> None:
        """Refuse a cluster without workers, or with another featloom than ours."""
        try:
            self.client.wait_for_workers(1, timeout=_CONNECT)
        except TimeoutError:
            raise InputError(f"the Dask scheduler at {self.address} has no workers") from None
        try:
            found = set(self.ask(lambda: self.client.run(_version)).values())
        except ModuleNotFoundError as error:
            raise InputError(f"a worker at {self.address} lacks {error.name}") from None
        if found != {_version()}:
            theirs = ", ".join(sorted(found))
            raise InputError(
                f"the workers at {self.address} have featloom {theirs}, here it is {_version()}"
            )

    def ask(self, question: Callable[[], Any]) -> Any:
        """What all workers answer; asked again where one is lost meanwhile."""
        for _ in range(_ASKED):
            try:
                return question()
            except OSError as error:  # so distributed says that a connection is closed
                reason = _reason(error)
        raise InputError(f"the workers at {self.address} do not answer: {reason}")

    def hold(self, value: Any) -> Any:
        """Send a value to the workers once; what comes back stands for it in tasks.

        The parts of a tuple are sent apart, and what was sent before is not sent again.
        """
        if isinstance(value, tuple):
            return tuple(self.hold(part) for part in value)
        try:
            known = self._held.get(value)
        except TypeError:  # nothing that can be recognised, such as an array
            return self._submit(_itself, value)
        if known is None or known.status not in ("pending", "finished"):
            # As the argument of a task it stays with the scheduler, and so outlives every worker.
            known = self._submit(_itself, value)
            with suppress(TypeError):
                self._held[value] = known
        return known

    def each(
        self,
        task: Callable[..., Any],
        held: Any,
        items: Iterable[Any],
        deadline: float | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """(place, ``task(held, item)``) of items, in the order in which they are finished.

        An item is taken only when a worker is free, or soon will be; at the deadline (of the
        monotonic clock) what is under way is given up.
        """
        finished: queue.SimpleQueue = queue.SimpleQueue()
        under_way: dict[Any, tuple[int, str | None]] = {}
        remaining = enumerate(items)
        try:
            while True:
                while len(under_way) < _AHEAD * self.n_workers:
                    place, item = next(remaining, (-1, None))
                    if place < 0:
                        break
                    worker = self._least_busy([at for _, at in under_way.values()])
                    future = self._submit(task, held, item, at=worker)
                    under_way[future] = place, worker
                    future.add_done_callback(finished.put)
                if not under_way:
                    return
                future = self._next(finished, deadline)
                if future is None:
                    return
                place, _ = under_way.pop(future)
                yield place, self._result(future)
        finally:
            self.client.cancel(list(under_way))

    def reduce(
        self, task: Callable[..., Any], held: Any, items: Sequence[Any], add: Callable[..., Any]
    ) -> Any:
        """The sum of ``task(held, items of a run)`` over runs of items, added up as a tree.

        Sums are added on the workers, a few at a time; the last one alone comes here.
        """
        n_runs = max(1, min(len(items), _RUNS * self.n_workers))
        cuts = [len(items) * run // n_runs for run in range(n_runs + 1)]
        placed: list[str | None] = []
        sums = []
        for first, last in pairwise(cuts):
            placed.append(self._least_busy(placed))
            sums.append(self._submit(task, held, items[first:last], at=placed[-1]))
        while len(sums) > 1:
            groups = [sums[first : first + _JOINED] for first in range(0, len(sums), _JOINED)]
            sums = [self._submit(_added, add, group) for group in groups]
        finished: queue.SimpleQueue = queue.SimpleQueue()
        sums[0].add_done_callback(finished.put)
        try:
            return self._result(self._next(finished))
        except BaseException:
            self.client.cancel(sums)
            raise

    def _least_busy(self, busy: list[str | None]) -> str | None:
        """The worker with the fewest tasks; left to itself, the scheduler lets some of them wait
        for what others have too much of."""
        return min(self._workers(), key=busy.count, default=None)

    def _submit(self, task, *arguments, at: str | None = None):
        """Begin a task, at a worker if it is still there, else at any."""
        where = {} if at is None else {"workers": [at], "allow_other_workers": True}
        key = f"featloom-{uuid.uuid4().hex}"
        with warnings.catch_warnings():
            # That an argument is large is known: it is sent once.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(task, *arguments, key=key, **where)

    def _next(self, finished: queue.SimpleQueue, deadline: float | None = None):
        """The next future that is finished; None at the deadline."""
        seen = time.monotonic()
        while True:
            left = 1.0 if deadline is None else min(1.0, deadline - time.monotonic())
            if left <= 0:
                return None
            try:
                return finished.get(timeout=left)
            except queue.Empty:
                pass
            if self._has_workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE:
                raise self._deserted()

    def _has_workers(self) -> bool:
        if self.client.status not in ("running", "connecting"):
            raise self._gone()
        return bool(self.client.scheduler_info(n_workers=-1)["workers"])

    def _result(self, future):
        patience = PATIENCE
        while future.status != "cancelled":
            try:
                return future.result(timeout=patience)
            except TimeoutError:
                if future.status == "error":
                    raise  # the task's own
                # The worker that had the result is lost, or the result is very large.
                if not self._has_workers():
                    raise self._deserted() from None
                patience *= 2
            except import_module("distributed").KilledWorker:
                allowed = import_module("dask").config.get("distributed.scheduler.allowed-failures")
                raise InputError(
                    f"a task ended {int(allowed) + 1} workers at {self.address} one after the "
                    "other, perhaps for want of memory"
                ) from None
        raise self._gone()

    def _deserted(self) -> InputError:
        return InputError(f"no worker is left at {self.address}; waited {PATIENCE:.0f} s for one")

    def _gone(self) -> InputError:
        return InputError(f"the Dask scheduler at {self.address} is gone")


def mapped(task: Callable[..., Any], held: Any, items: Sequence[Any]) -> Iterator[Any]:
    """``task(held, item)`` of every item, in order: on the cluster around, or here."""
    workers = current_cluster()
    if workers is None:
        for item in items:
            yield task(held, item)
        return
    early: dict[int, Any] = {}
    due = 0
    for place, result in workers.each(task, workers.hold(held), items):
        early[place] = result
        while due in early:
            yield early.pop(due)
            due += 1


def reduced(
    task: Callable[..., Any], held: Any, items: Sequence[Any], add: Callable[..., Any]
) -> Any:
    """The sum of ``task(held, items)`` over all items: on the cluster around, or here at once."""
    workers = current_cluster()
    if workers is None:
        return task(held, items)
    return workers.reduce(task, workers.hold(held), items, add)


def _itself(value):
    return value


def _added(add, sums):
    total = sums[0]
    for other in sums[1:]:
        total = add(total, other)
    return total


def _version() -> str:
    try:
        return metadata.version("featloom")
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        return "unknown"


def _workers_wanted(address: str) -> int | None:
    """How many local workers an address asks for; None where it names a scheduler.

    >>> _workers_wanted("local:2"), _workers_wanted("tcp://10.0.0.7:8786")
    (2, None)
    """
    if address.startswith(_LOCAL):
        number = address.removeprefix(_LOCAL)
        if number.isdecimal() and int(number) > 0:
            return int(number)
    elif address.startswith(_PROTOCOLS):
        return None
    raise InputError(f"dask is {address!r}; it can be local:4 or tcp://host:port")


def _reason(error: BaseException) -> str:
    text = str(error).splitlines()
    return text[0].rstrip(".") if text else type(error).__name__


def _advice(error: BaseException) -> str:
    """A worker begins by importing the script that started it, and must not start workers too."""
    if isinstance(error, RuntimeError) and not hasattr(sys, "ps1"):
        return '; a script of your own starts them below if __name__ == "__main__":'
    return ""
