"""What takes part in a comparison, and what is asked of it.

A :class:`Question` is a data set with a way to judge answers: its units (rows, or sentences) can be
held out, dealt into folds and drawn; answers to them are codes, which are counted group by group.
A :class:`Contender` learns from some units and becomes a :class:`Fitted`, which answers others.
There is one kind of question for tables, one for sentences, one for trees and one for tables of
many tasks; the comparison knows none of them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

# What a contender is for: the answer of one who knows nothing, the model that people would use
# anyway, a method of this program, or an outside measure that is never chosen.
ROLES = ("chance", "baseline", "method", "yardstick")


@dataclass(frozen=True)
class Finding:
    """What a contender found, as a small table that a person can read.

    >>> Finding("conjunctions", ["feature", "weight"], [["letter=c & next=h", 1.5]]).rows[0][1]
    1.5
    """

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)


class Fitted(Protocol):
    """A model that has learned."""

    @property
    def size(self) -> int:
        """How many features or stored cases it is made of; fewer is simpler."""
        ...

    @property
    def size_words(self) -> str:
        """The same in words: "3,100 features"."""
        ...

    @property
    def setting(self) -> str:
        """What was tuned, in words: "C 0.3, 1,000 conjunctions"."""
        ...

    @property
    def model(self) -> Any:
        """The estimator that a user gets: a Pipeline, a tagger, a parser."""
        ...

    def answers(self, data: Any) -> np.ndarray:
        """An int code for every row or token of the data, in order."""
        ...

    def findings(self) -> list[Finding]:
        """What can be read off the model."""
        ...

    def save(self, folder: Path) -> list[str]:
        """Write the model (model.featloom) and exports; names of the files."""
        ...


@dataclass(frozen=True)
class Contender:
    """One way to answer.

    Parameters
    ----------
    name : as the leaderboard has it.
    role : one of :data:`ROLES`.
    idea : what it does, in a line.
    fit : (data, seed, threads) → :class:`Fitted`; tunes itself inside the data it is given.
    cost : a first guess of its seconds beside the others', for the order in which they are tried.
    sampled : of more units than this it looks at a sample where it works hardest, so that its time
        levels off; None: it never does.
    compiles : whether its first use compiles kernels, which is not to be timed.
    """

    name: str
    role: str
    idea: str
    fit: Callable[[Any, int, int], Fitted]
    cost: float = 1.0
    sampled: int | None = None
    compiles: bool = True


class Question(ABC):
    """A data set, and how answers to it are judged.

    Attributes
    ----------
    kind : "table", "sequence", "trees" or "tasks".
    words : what the data were taken for, in a sentence.
    metric : name of what answers are judged by.
    unit : what is held out and dealt into folds: "rows", "sentences".
    enough : units of which fewer say little in a comparison, if more can be had.
    """

    kind: str
    words: str
    metric: str
    unit: str = "rows"
    enough: int = 2_000

    @abstractmethod
    def __len__(self) -> int:
        """How many units there are."""

    @property
    @abstractmethod
    def strata(self) -> np.ndarray:
        """A class for each unit, which folds should hold in equal shares."""

    @property
    @abstractmethod
    def groups(self) -> np.ndarray | None:
        """The document of each unit; None where units stand by themselves."""

    @abstractmethod
    def take(self, units: np.ndarray) -> Any:
        """Data of some units, as contenders learn from it and answer it."""

    @abstractmethod
    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Counts of each group among some units, from which the metric can be taken."""

    @property
    @abstractmethod
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        """The metric from summed counts in the last axis."""

    def chance_counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Counts by which an answer is compared with chance, where those of the metric mislead."""
        return self.counts(units, answers)

    @property
    def of_chance_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return self.of_counts

    @abstractmethod
    def contenders(self) -> Sequence[Contender]:
        """Everything that applies, cheap ones first."""

    @abstractmethod
    def left_out(self) -> dict[str, str]:
        """What does not apply, and why, by name."""

    @abstractmethod
    def data_part(self) -> dict[str, Any]:
        """Rows, columns and classes, as ``result.json`` has them."""

    @abstractmethod
    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        """What may mislead: leaks, duplicates across the split, groups of one class."""

    @abstractmethod
    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        """Right answers by class and by group: {"by_class": [{"name", "rows", "right"}], …}."""


def tallied(codes: np.ndarray, right: np.ndarray, names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows and right answers of each code, the commonest first.

    >>> tallied(np.array([1, 1, 0]), np.array([True, False, True]), ["a", "b"])
    [{'name': 'b', 'rows': 2, 'right': 1}, {'name': 'a', 'rows': 1, 'right': 1}]
    """
    rows = np.bincount(codes, minlength=len(names))
    found = np.bincount(codes, right, minlength=len(names)).astype(int)
    return [
        {"name": str(names[code]), "rows": int(rows[code]), "right": int(found[code])}
        for code in np.argsort(-rows, kind="stable").tolist()
        if rows[code]
    ]
