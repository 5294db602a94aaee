"""The search loop: ask, evaluate, write down, tell.

The loop asks a strategy for candidates, evaluates those it has not met before, writes each
result to the journal as soon as it is there, and tells the strategy in the order asked.  A
search that begins with a journal does just the same; it finds the first results in the journal
and need not compute them.  So a search that was killed goes on to the end it would have had:
the strategy asks the same questions because it is told the same answers.

Evaluations run one after another or in several processes; the history is the same, because
results are told in the order asked and a strategy does not look at how many it was asked for.

A budget counts evaluations, which users know as trials (found in the journal or not), or seconds.
Seconds are compared with the time that the journal has for each evaluation, so the journal itself
says where the search stopped, and a replay stops at the same place.  Evaluations under way in other
processes at that moment are finished and written; a longer budget finds them there.  A hard budget
does not wait for them: what they had not finished when the time was over is lost (in other
processes these end with it; here an alarm ends the evaluation).  The journal notes after how many
evaluations that was, so that a replay stops there too.

Faults: an error in an evaluation ends the search and goes up as it is, with everything finished
kept.  A candidate that is merely no good is for ``evaluate`` to judge: it may give it the score
minus infinity, which is written and told like any other.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, overload

from featloom.errors import InputError
from featloom.options import check, none, whole
from featloom.pool import Evaluate, MapBatch, evaluating, number_of_workers
from featloom.search.journal import Evaluation, Journal, Stop
from featloom.search.space import Candidate, candidate_key, json_text
from featloom.search.strategies import Strategy, score_of

# Candidates that each worker gets between two waits for the slowest.  One at a time would leave
# workers idle; very many would put off what the strategy learns from them.
_CANDIDATES_PER_WORKER = 16


@dataclass
class History(Sequence[Evaluation]):
    """The evaluations of a search in the order told, each candidate once.

    ``best`` is the first of those with the highest score, ``replayed`` how many were found in
    the journal.  ``stopped`` says why the search ended: "finished" (the strategy had no more to
    ask), "budget", "interrupted" or "failed".
    """

    evaluations: list[Evaluation] = field(default_factory=list)
    best: Evaluation | None = None
    stopped: str = ""
    replayed: int = field(default=0, compare=False)

    @overload
    def __getitem__(self, place: int) -> Evaluation: ...
    @overload
    def __getitem__(self, place: slice) -> list[Evaluation]: ...
    def __getitem__(self, place):
        return self.evaluations[place]

    def __len__(self) -> int:
        return len(self.evaluations)

    def add(self, evaluation: Evaluation) -> None:
        self.evaluations.append(evaluation)
        if self.best is None or evaluation.score > self.best.score:
            self.best = evaluation


# A number, and perhaps a unit of time.
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:(s)(?:ec)?|(m)(?:in)?|(h))?\s*")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Budget:
    """How much a search may spend: evaluations, seconds, or whichever is used up first.

    >>> Budget.of("90s").seconds, Budget.of("2h").seconds, Budget.of(None, trials=200).evaluations
    (90.0, 7200.0, 200)
    """

    evaluations: int | None = None
    seconds: float | None = None
    hard: bool = False  # whether evaluations under way end with the time
    spent: float = 0.0  # seconds that were gone when the search began

    def __post_init__(self) -> None:
        check({"trials": whole(1) | none}, {"trials": self.evaluations})
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"a budget must be positive, not {self.seconds}")

    @classmethod
    def of(cls, value: Budget | float | str | None, trials: int | None = None) -> Budget:
        """A budget from a time, where a number is one of seconds, and a number of evaluations.

        >>> Budget.of("90s", trials=200)
        Budget(evaluations=200, seconds=90.0, hard=False, spent=0.0)
        """
        if isinstance(value, Budget):
            return value if trials is None else replace(value, evaluations=trials)
        return cls(evaluations=trials, seconds=cls.of_time(value).seconds)

    @classmethod
    def of_time(cls, value: Budget | float | str | None) -> Budget:
        """A budget of time alone: a number is one of seconds.

        >>> [Budget.of_time(value).seconds for value in (60, "60", "60s", "1min", 2.5, None)]
        [60.0, 60.0, 60.0, 60.0, 2.5, None]
        """
        if value is None:
            return cls()
        if isinstance(value, Budget):
            if value.evaluations is None:
                return value
        else:
            amount, unit = _amount(value)
            if amount is not None:
                return cls(seconds=amount * _SECONDS[unit or "s"])
        raise InputError(f"budget {value!r} is no time; it must be one such as 60, 90s, 10m or 2h")


def _amount(value: float | str) -> tuple[float | None, str]:
    """A number and its unit, "s", "m", "h" or none; None where there is no number."""
    found = _AMOUNT.fullmatch(str(value))
    if found is None:
        return None, ""
    return float(found[1]), found[2] or found[3] or found[4] or ""


class Interrupted(KeyboardInterrupt):
    """A search was told to stop (Ctrl-C, or SIGTERM); ``history`` holds what was finished."""

    def __init__(self, history: History):
        super().__init__(f"interrupted after {len(history)} evaluations")
        self.history = history


class Progress(Protocol):
    """Called before the first evaluation and after each one."""

    def __call__(self, done: int, total: int | None, best: float | None) -> object: ...


def search(
    evaluate: Evaluate,
    strategy: Strategy,
    *,
    journal: Journal | None = None,
    jobs: int = 1,
    budget: Budget | float | str | None = None,
    trials: int | None = None,
    progress: Progress | None = None,
    on_result: Callable[[Evaluation], object] | None = None,
    map_batch: MapBatch | None = None,
) -> History:
    """Search for the candidate with the highest score.

    Parameters
    ----------
    evaluate : candidate → a score, or a mapping with a "score"; what JSON can hold.  It must
        give the same answer whenever it is asked.
    strategy : says which candidates to try; a fresh one, also when a search is resumed.
    journal : where results are kept; without one a stopped search begins again.
    jobs : processes; -1: one for each core.  ``evaluate`` is sent to each of them once, and may
        keep what it likes from one candidate to the next.  Each has one thread for numerics.
    budget : a time such as "10m", or a number of seconds; or a :class:`Budget`.
    trials : the most evaluations.
    progress : ``progress(done, total, best score)``.
    on_result : called with each :class:`Evaluation`, in order, also for those from the journal.
    map_batch : evaluates batches elsewhere; ``jobs`` then says how many workers there are.

    Within ``with cluster(…)`` (:mod:`featloom.cluster`) candidates are evaluated on its workers,
    and ``jobs`` counts for nothing.

    Raises
    ------
    Interrupted
        on Ctrl-C or SIGTERM, with the history so far; what was finished is in the journal.

    Examples
    --------
    >>> from featloom.search import Exhaustive, SearchSpace
    >>> space = SearchSpace({"k": [1, 3, 5, 7]})
    >>> history = search(lambda c: 1 / (1 + abs(c["k"] - 5)), Exhaustive(space), trials=3)
    >>> [(e.candidate["k"], e.score) for e in history], history.stopped
    ([(1, 0.2), (3, 0.3333333333333333), (5, 1.0)], 'budget')
    """
    limits = Budget.of(budget, trials)
    ongoing = _Search(strategy, _Memory() if journal is None else journal, limits)
    ongoing.progress, ongoing.on_result = progress, on_result
    if map_batch is not None:
        return ongoing.run(map_batch, number_of_workers(jobs))
    with evaluating(evaluate, jobs, ongoing.deadline) as (somewhere, n_workers):
        return ongoing.run(somewhere, n_workers)


class _Search:
    """A search under way."""

    progress: Progress | None = None
    on_result: Callable[[Evaluation], object] | None = None

    def __init__(self, strategy: Strategy, journal: Journal | _Memory, limits: Budget):
        self.strategy, self.journal, self.limits = strategy, journal, limits
        self.history = History()
        self.told: set[str] = set()
        self.begun = time.monotonic() - journal.elapsed
        self.enough = threading.Event()  # no more evaluations are to begin
        self.interruption = _Interruption()
        totals = [getattr(strategy, "total", None), limits.evaluations]
        self.total = min((n for n in totals if n is not None), default=None)
        # Where evaluations end with the time: when that is, and after how many it once was.
        self.deadline: float | None = None
        self.stop_at: int | None = None
        if limits.hard and limits.seconds is not None:
            self.deadline = self.begun + limits.seconds - limits.spent
            ended = [stop.evaluations for stop in journal.stops if stop.reason == self.out_of_time]
            self.stop_at = ended[-1] if ended else None

    def run(self, map_batch: MapBatch, n_workers: int) -> History:
        n_asked = 1 if n_workers == 1 else n_workers * _CANDIDATES_PER_WORKER
        history = self.history
        self.show_progress()
        with self.interruption:
            try:
                history.stopped = "failed"
                while not self.spent() and self.run_batch(map_batch, n_asked):
                    pass
                history.stopped = "budget" if self.spent() else "finished"
            except _OutOfTime:
                history.stopped = "budget"
            except KeyboardInterrupt:
                history.stopped = "interrupted"
                raise Interrupted(history) from None
            finally:
                reason = history.stopped
                if reason == "budget" and self.deadline is not None:
                    reason = self.out_of_time
                self.journal.record_stop(len(history), reason)
        return history

    def run_batch(self, map_batch: MapBatch, n: int) -> bool:
        """Ask for up to ``n`` candidates and tell their results; False when there are none."""
        if self.limits.evaluations is not None:
            n = min(n, self.limits.evaluations - len(self.history))
        asked = [(candidate_key(candidate), candidate) for candidate in self.strategy.ask(n)]
        new = {key: candidate for key, candidate in asked if self.journal.get(key) is None}
        candidates = list(new.values())
        results = map_batch(self.until_enough(candidates))
        try:
            for key, candidate in asked:
                while (evaluation := self.journal.get(key)) is None:
                    self.write(candidates, results)
                self.tell(candidate, key, evaluation, replayed=key not in new)
                self.interruption.check()
                if self.spent():
                    self.enough.set()
                    break
            while new and self.write(candidates, results, more=False):
                pass  # evaluations that had begun before it was enough
        finally:
            results.close()
        return bool(asked)

    def until_enough(self, candidates: list[Candidate]) -> Iterator[Candidate]:
        for candidate in candidates:
            if self.enough.is_set():
                return
            yield dict(candidate)

    def write(self, candidates: list[Candidate], results: Iterator, more: bool = True) -> bool:
        """Wait for a result and put it in the journal; False when none is left to wait for."""
        try:
            with self.interruption.allowed():
                finished = next(results, None)
        except Exception:
            # An interruption that came while a kernel ran or was compiled can look like an error.
            self.interruption.check()
            raise
        if finished is None:
            if self.deadline is not None and time.monotonic() >= self.deadline:
                raise _OutOfTime
            if more:
                raise RuntimeError("fewer results than candidates came back")
            return False
        place, result, seconds = finished
        # Through JSON before it is told, so that a fresh result is what a journal would give.
        result = json.loads(json_text(result))
        score_of(result)
        elapsed = time.monotonic() - self.begun
        self.journal.append(candidates[place], result, seconds=seconds, elapsed=elapsed)
        if self.limits.seconds is not None and elapsed >= self.limits.seconds:
            self.enough.set()
        return True

    def tell(self, candidate: Candidate, key: str, evaluation: Evaluation, replayed: bool) -> None:
        if key not in self.told:
            self.told.add(key)
            self.history.add(evaluation)
            self.history.replayed += replayed
            if self.on_result is not None:
                self.on_result(evaluation)
            self.show_progress()
        # A strategy that plans with time has it from the journal, so that a replay is led alike.
        # Of several workers' results one told later may have been there before.
        if hasattr(self.strategy, "elapsed"):
            self.strategy.elapsed = max(self.strategy.elapsed, evaluation.elapsed)
        self.strategy.tell(candidate, evaluation.result)

    def spent(self) -> bool:
        limits, history = self.limits, self.history
        if self.stop_at is not None and len(history) >= self.stop_at:
            return True
        if limits.evaluations is not None and len(history) >= limits.evaluations:
            return True
        # The time in the journal decides, not the clock: a replay has to stop here as well.
        return (
            limits.seconds is not None and bool(history) and history[-1].elapsed >= limits.seconds
        )

    @property
    def out_of_time(self) -> str:
        """How the journal notes that a hard budget was spent."""
        return f"budget of {self.limits.seconds:g} s"

    def show_progress(self) -> None:
        if self.progress is not None:
            best = self.history.best
            self.progress(len(self.history), self.total, None if best is None else best.score)


class _OutOfTime(Exception):
    """A hard budget is spent."""


class _Memory:
    """What a journal is to the loop, for a search that keeps none."""

    elapsed = 0.0
    stops: tuple[Stop, ...] = ()

    def __init__(self) -> None:
        self._evaluations: dict[str, Evaluation] = {}

    def get(self, key: str) -> Evaluation | None:
        return self._evaluations.get(key)

    def append(self, candidate: Candidate, result: Any, *, seconds: float, elapsed: float) -> None:
        key = candidate_key(candidate)
        self._evaluations[key] = Evaluation(candidate, result, seconds, elapsed)

    def record_stop(self, evaluations: int, reason: str) -> None:
        pass


class _Interruption:
    """Ctrl-C and SIGTERM, let in only while an evaluation runs.

    In between, results are being written and told; a signal that comes then waits until the
    result that is there is in the journal.  Outside the main thread, signals are not ours.
    """

    def __init__(self) -> None:
        self._came = self._open = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: object) -> None:
        self._came = True
        if self._open:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        self._open = True
        try:
            self.check()
            yield
        finally:
            self._open = False

    def check(self) -> None:
        if self._came:
            raise KeyboardInterrupt from None
