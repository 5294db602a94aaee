"""What a comparison is judged by: F1 of one class, or accuracy.

With two classes of which one is sought (the location among the candidates), F1 of that class is
what people report; with many classes of equal standing, accuracy.  Either is taken from counts that
add up over groups, so that whole documents can be drawn in a bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.metrics import (
    accuracy_of_counts,
    correct_counts,
    f1_of_counts,
    positive_counts,
)
from featloom.words import no_such


@dataclass(frozen=True)
class Objective:
    """F1 of a positive class (its code), or accuracy where no class is the positive one.

    Examples
    --------
    >>> sought = Objective.of(["no", "yes"], np.array([0, 0, 1]), None)
    >>> sought.name
    'F1 of yes'
    >>> sought.value(np.array([0, 0, 1]), np.array([0, 1, 1]))
    0.6666666666666666
    """

    positive: int | None
    name: str

    @classmethod
    def of(cls, classes: Sequence[str], labels: np.ndarray, positive: str | None) -> Objective:
        """F1 of ``positive``; else of the rarer of two classes; else accuracy."""
        if positive is not None:
            if positive not in classes:
                raise InputError(no_such("class", positive, classes))
            code = list(classes).index(positive)
        elif len(classes) == 2:
            code = int(np.argmin(np.bincount(labels, minlength=2)))
        else:
            return cls(None, "accuracy")
        return cls(code, f"F1 of {classes[code]}")

    def counts(self, truth: np.ndarray, given: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Counts of each group that the metric can be taken from after they are added up."""
        if self.positive is None:
            return correct_counts(truth, given, groups=groups)
        return positive_counts(truth, given, self.positive, groups=groups)

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts if self.positive is None else f1_of_counts

    def value(self, truth: np.ndarray, given: np.ndarray) -> float:
        counts = self.counts(truth, given, np.zeros(len(truth), dtype=np.int64))
        return float(self.of_counts(counts)[0])
