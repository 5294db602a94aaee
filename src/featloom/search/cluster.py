"""Where a search evaluates candidates on a cluster: the workers of Dask.

``evaluate`` is sent to each worker once and may keep there what it likes from one candidate to the
next.  The journal stays with the loop, which asks, writes and tells as it does on one core.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from featloom.cluster import Cluster
from featloom.search.space import Candidate
from featloom.search.strategies import Result
from featloom.search.workers import Evaluate, MapBatch, timed

_one_at_a_time = threading.Lock()  # in a worker that has several threads


def on_cluster(evaluate: Evaluate, workers: Cluster, deadline: float | None = None) -> MapBatch:
    """Evaluate on the workers; those for which ``evaluate.at_home(candidate)`` holds, here.

    An evaluation that is told things by its strategy knows them in the loop's process alone.
    """
    at_home = getattr(evaluate, "at_home", None)
    held = workers.hold(evaluate)

    def map_batch(candidates):
        here: list[tuple[int, Candidate]] = []

        def sent() -> Iterator[tuple[int, Candidate]]:
            for place, candidate in enumerate(candidates):
                if at_home is not None and at_home(candidate):
                    here.append((place, candidate))
                else:
                    yield place, candidate

        for _, result in workers.each(_evaluate, held, sent(), deadline):
            yield result
        for place, candidate in here:
            yield timed(evaluate, place, candidate)

    return map_batch


def _evaluate(evaluate: Evaluate, asked: tuple[int, Candidate]) -> tuple[int, Result, float]:
    with _one_at_a_time:
        return timed(evaluate, *asked)
