"""What a search decides, step by step, in a way that can be stopped and taken up again.

A search asks for pieces of work (train this, screen that) and decides by their results.  It is
written as a generator: ``steps`` yields the pieces and receives their results.  Which pieces it
asks for depends on the results alone, so a search that is told the results of an earlier one
makes the same decisions (see :mod:`featloom.search.strategies`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Mapping
from typing import Any

from featloom.features.template import Template
from featloom.methods.template_search.candidates import Places
from featloom.search import Evaluation
from featloom.search.space import Candidate

Work = dict[str, Any]
Steps = Generator[list[Work], list[Mapping[str, Any]], None]


class StepByStep(ABC):
    """A strategy that receives whole results, and keeps a row for each of its decisions.

    ``templates`` are those chosen so far.
    """

    def __init__(self) -> None:
        self.templates: list[Places] = []
        self.history: list[dict[str, Any]] = []
        self.seconds = 0.0  # that the work behind the present decisions took
        self._steps: Steps | None = None
        self._asked: deque[Work] = deque()
        self._untold: deque[Work] = deque()
        self._results: list[Mapping[str, Any]] = []
        self._best: tuple[Candidate, float] | None = None

    @abstractmethod
    def steps(self) -> Steps:
        """Yield pieces of work; receive their results, in the same order."""

    @property
    def best(self) -> tuple[Candidate, float] | None:
        """The piece of work with the highest score."""
        return self._best

    def ask(self, n: int) -> list[Work]:
        """Up to ``n`` pieces of work; none when the search is over."""
        if not self._asked and not self._untold:
            self._go_on()
        asked = [self._asked.popleft() for _ in range(min(n, len(self._asked)))]
        self._untold.extend(asked)
        return [dict(work) for work in asked]

    def tell(self, candidate: Candidate, result: Any) -> None:
        """The result of the piece of work that was asked for first."""
        self._untold.popleft()
        self._results.append(result)
        if self._best is None or result["score"] > self._best[1]:
            self._best = dict(candidate), result["score"]

    def decide(self, templates: list[Places], **facts: Any) -> None:
        """Write down a decision about templates."""
        row = {
            "templates": [str_of(places) for places in templates],
            **facts,
            "seconds": self.seconds,
        }
        self.history.append(row)

    def note(self, evaluation: Evaluation) -> None:
        """How long a piece of work took; from the loop, just before its result is told."""
        self.seconds += evaluation.seconds

    def _go_on(self) -> None:
        try:
            if self._steps is None:
                self._steps = self.steps()
                self._asked.extend(next(self._steps))
            else:
                results, self._results = self._results, []
                self._asked.extend(self._steps.send(results))
        except StopIteration:
            pass
        self.seconds = 0.0


def str_of(places: Places) -> str:
    """A template in words.

    >>> str_of((("word", -1), ("pos", 0)))
    'word[-1] & pos'
    """
    return str(Template(places))


def plain(templates: list[Places]) -> list[list[list[Any]]]:
    """Templates as JSON has them.

    >>> plain([(("word", 0),)])
    [[['word', 0]]]
    """
    return [[[name, offset] for name, offset in places] for places in templates]


def from_plain(templates: list) -> list[Places]:
    """Templates from JSON."""
    return [tuple((name, offset) for name, offset in places) for places in templates]
