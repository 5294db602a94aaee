"""Experiments in stages: what each stage asks for is an entry of one journal.

A stage may build on the answers of the one before: columns are predicted, then a setting is
chosen on development data, then models are trained on several seeds.  An experiment that was
stopped finds its entries in the journal and goes on after the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.runs import Run
from featloom.search import Evaluation, Journal, fingerprint, search
from featloom.search.strategies.exhaustive import Listed


class Entries:
    """Asks for entries of a journal, stage by stage.

    Parameters
    ----------
    journal : that holds what is finished; None: nothing is kept.
    jobs : entries worked on side by side, each on one thread.
    progress : called with (done, of how many, best score) within a stage.
    """

    def __init__(self, journal: Journal | None, jobs: int = 1, progress: Any = None):
        self.journal, self.jobs, self.progress = journal, jobs, progress
        self.n = 0
        self.seconds = 0.0

    def ask(
        self, evaluate: Callable[..., Mapping[str, Any]], candidates: Iterable[Mapping[str, Any]]
    ) -> list[Evaluation]:
        """The entries of some candidates, in their order.

        >>> found = Entries(None).ask(lambda asked: {"score": asked["k"] / 2}, [{"k": 1}, {"k": 3}])
        >>> [(one.candidate["k"], one.score) for one in found]
        [(1, 0.5), (3, 1.5)]
        """
        asked = [dict(candidate) for candidate in candidates]
        if not asked:
            return []
        history = search(
            evaluate, Listed(asked), journal=self.journal, jobs=min(self.jobs, len(asked))
            if self.jobs > 0 else self.jobs, progress=self.progress,
        )  # fmt: skip
        self.n += len(history)
        self.seconds += sum(one.seconds for one in history)
        return list(history)


@contextmanager
def journaled(
    run: Run,
    name: str,
    parts: Mapping[str, NominalTable],
    about: Mapping[str, Any],
    jobs: int,
    progress: Any,
) -> Iterator[Entries]:
    """The entries of one data set of an experiment, kept beside the run's result."""
    marks = fingerprint(
        *(
            mark
            for table in parts.values()
            for mark in (
                table.codes,
                *(one for one in (table.labels, table.heads) if one is not None),
                *([] if table.sequence_bounds is None else [table.sequence_bounds]),
                list(table.classes),
            )
        )
    )
    description = {"experiment": "tree-templates", "data": name, **about}
    with Journal(run.path / f"{name}.journal", data=marks, search=description) as journal:
        yield Entries(journal, jobs, progress)


def some_sentences(table: NominalTable, size: int, seed: int) -> NominalTable:
    """So many sentences drawn at random, in their order, with their heads."""
    from dataclasses import replace

    bounds = table.sequence_bounds
    assert bounds is not None
    n = len(bounds) - 1
    if size >= n:
        return table
    which = np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))
    drawn = take_sentences(table, which)
    if table.heads is None:
        return drawn
    heads = np.concatenate([table.heads[bounds[i] : bounds[i + 1]] for i in which])
    return replace(drawn, heads=heads)


def n_sentences(table: NominalTable) -> int:
    """How many sentences a table has."""
    return 0 if table.sequence_bounds is None else len(table.sequence_bounds) - 1
