"""What is asked of contenders.

A :class:`Question` is a data set with a way to judge predictions: its units (rows, or sentences)
can be held out, dealt into folds and drawn; what a fitted contender predicts for them is judged.
There is one kind of question for tables, one for sentences, one for trees and one for tables of
many tasks; the comparison knows none of them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featloom.evaluation.significance import (
    Comparison,
    Interval,
    bootstrap_interval,
    paired_bootstrap,
)
from featloom.formats.packing import packed, unpacked
from featloom.method import Contender, Fitted, Unsuited


@dataclass(frozen=True)
class Judged:
    """What predictions for some units are worth.

    Parameters
    ----------
    score : higher is better; a log-loss has its sign turned.
    details : other figures, as JSON holds them.
    rows : what a paired test needs of every unit, as a short text.
    """

    score: float
    details: dict[str, Any]
    rows: str


class Question(ABC):
    """A data set, and how predictions for it are judged.

    Attributes
    ----------
    kind : "table", "sequence", "trees" or "tasks".
    words : what the data were taken for, in a sentence.
    metric : name of what predictions are judged by.
    lower_is_better : whether people read the metric so; scores are turned where it is.
    unit : what is held out and dealt into folds: "rows", "sentences".
    small : units that contenders are tried on first, where there are many, to see what they cost.
    """

    kind: str
    words: str
    metric: str
    lower_is_better: bool = False
    unit: str = "rows"
    small: int = 2_000

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
        """Data of some units, as contenders are fitted on it and predict for it."""

    def take_for(self, contender: Contender, units: np.ndarray) -> Any:
        """The same, as one contender sees it."""
        return self.take(units)

    @abstractmethod
    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Counts of each group among some units, from which the metric can be taken."""

    @property
    @abstractmethod
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        """The metric from summed counts in the last axis."""

    def chance_counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Counts by which predictions are compared with chance, where the metric's mislead."""
        return self.counts(units, answers)

    @property
    def of_chance_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return self.of_counts

    def judge(self, units: np.ndarray, data: Any, fitted: Fitted, keep: bool = True) -> Judged:
        """What a fitted contender's predictions for some units are worth.

        Parameters
        ----------
        data : of these units, as :meth:`take` gives it.
        keep : whether rows are wanted, which only tests on them need.
        """
        answers = fitted.answers(data)
        score = float(self.of_counts(self.counts(units, answers).sum(axis=0)))
        return Judged(score, {}, packed(answers) if keep else "")

    def calibrated(self, fitted: Fitted, details: Sequence[Mapping[str, Any]]) -> Fitted:
        """The same with probabilities that are as true as those held out allow.

        ``details`` are those of the folds that its setting was judged on.
        """
        return fitted

    def interval(self, units: np.ndarray, rows: str, seed: int) -> Interval:
        """The score on some units, and the interval of 95 % over their groups."""
        return bootstrap_interval(self.counts(units, unpacked(rows)), self.of_counts, seed=seed)

    def compare(self, units: np.ndarray, first: str, second: str, seed: int) -> Comparison:
        """The difference of two scores on the same units, first minus second."""
        counts = [self.counts(units, unpacked(rows)) for rows in (first, second)]
        return paired_bootstrap(counts[0], counts[1], self.of_counts, seed=seed)

    def compare_with_chance(
        self, units: np.ndarray, first: str, chance: str, seed: int
    ) -> Comparison:
        """The same against the prediction that looks at nothing."""
        counts = [self.chance_counts(units, unpacked(rows)) for rows in (first, chance)]
        return paired_bootstrap(counts[0], counts[1], self.of_chance_counts, seed=seed)

    def answers_of(self, rows: str) -> np.ndarray:
        """The codes that were predicted."""
        return unpacked(rows)

    def figures(self, units: np.ndarray, rows: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """Other figures of predictions for the test part."""
        return {}

    @abstractmethod
    def everyone(self) -> Sequence[Contender | Unsuited]:
        """Who applies, and who does not."""

    def contenders(self) -> list[Contender]:
        """All that applies: baselines as they are given, then the others, cheap ones first."""
        found = [one for one in self.everyone() if isinstance(one, Contender)]
        aside = ("chance", "baseline")
        return sorted(found, key=lambda one: 0.0 if one.role in aside else one.cost)

    def left_out(self) -> dict[str, str]:
        """What does not apply, and why, by name."""
        return {one.name: one.why for one in self.everyone() if isinstance(one, Unsuited)}

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


def names_of(contenders: Sequence[Contender]) -> dict[str, Contender]:
    """Contenders by name."""
    return {one.name: one for one in contenders}
