"""What a comparison is judged by: F1 of one class, or accuracy.

With two classes of which one is sought (the location among the candidates), F1 of that class is
what people report; with many classes of equal standing, accuracy.  Either is taken from counts that
add up over groups, so that whole documents can be drawn in a bootstrap.

Several systems are compared on the same held-out rows (``compare``): each with its interval, each
against a baseline.  Systems with a seed give one prediction a seed; their counts are added up, so
that the figure is that of an average seed and the interval still comes from drawing whole groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.metrics import (
    accuracy_of_counts,
    correct_counts,
    f1_of_counts,
    positive_counts,
)
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap
from featloom.results import Comparison, Model
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


LEVEL = 0.05


def compare(
    objective: Objective,
    truth: np.ndarray,
    given: Mapping[str, Sequence[np.ndarray]],
    *,
    baseline: str | Mapping[str, str],
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> tuple[list[Model], list[Comparison]]:
    """Figures of all systems, and paired tests of each against its baseline.

    Parameters
    ----------
    given : for each system its predictions, one array a seed.
    baseline : the system that all others are compared with, or one for each.
    groups : documents that are drawn whole; None: rows.

    Returns
    -------
    models, comparisons : as a result has them; the part held out is their test part.

    Examples
    --------
    >>> truth = np.array([0, 0, 1, 1] * 10)
    >>> systems = {"always 0": [truth * 0], "right": [truth]}
    >>> models, tests = compare(Objective(1, "F1"), truth, systems, baseline="always 0")
    >>> [(model.test, model.role) for model in models], tests[0].significant
    ([(0.0, 'baseline'), (1.0, 'method')], True)
    """
    units = np.arange(len(truth)) if groups is None else groups
    counts = {
        name: np.sum([objective.counts(truth, prediction, units) for prediction in runs], axis=0)
        for name, runs in given.items()
    }
    rival = baseline if isinstance(baseline, Mapping) else dict.fromkeys(given, baseline)
    models = []
    for name, counted in counts.items():
        found = bootstrap_interval(counted, objective.of_counts, seed=seed)
        role = "method" if rival.get(name, name) != name else "baseline"
        models.append(Model(name, role, test=found.value, test_interval=(found.low, found.high)))
    comparisons = []
    for one in models:
        if one.role == "baseline":
            continue
        other = rival[one.name]
        test = paired_bootstrap(counts[one.name], counts[other], objective.of_counts, seed=seed)
        comparisons.append(
            Comparison(
                one.name, other, test.difference, (test.low, test.high), test.p,
                significant=test.p < LEVEL, on="test",
            )
        )  # fmt: skip
    return models, comparisons
