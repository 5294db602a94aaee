"""Several systems on the same held-out rows: each with its interval, each against a baseline.

Systems with a seed give one prediction a seed; their counts are added up, so that the figure is
that of an average seed and the interval still comes from drawing whole groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.evaluation.objective import Objective
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap

LEVEL = 0.05


def compare(
    objective: Objective,
    truth: np.ndarray,
    given: Mapping[str, Sequence[np.ndarray]],
    *,
    baseline: str | Mapping[str, str],
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Figures of all systems, and paired tests of each against its baseline.

    Parameters
    ----------
    given : for each system its predictions, one array a seed.
    baseline : the system that all others are compared with, or one for each.
    groups : documents that are drawn whole; None: rows.

    Returns
    -------
    models, comparisons : as ``result.json`` has them.

    Examples
    --------
    >>> truth = np.array([0, 0, 1, 1] * 10)
    >>> systems = {"always 0": [truth * 0], "right": [truth]}
    >>> models, tests = compare(Objective(1, "F1"), truth, systems, baseline="always 0")
    >>> [model["value"] for model in models], tests[0]["significant"]
    ([0.0, 1.0], True)
    """
    units = np.arange(len(truth)) if groups is None else groups
    counts = {
        name: np.sum([objective.counts(truth, prediction, units) for prediction in runs], axis=0)
        for name, runs in given.items()
    }
    models = []
    for name, counted in counts.items():
        interval = bootstrap_interval(counted, objective.of_counts, seed=seed)
        values = [objective.value(truth, prediction) for prediction in given[name]]
        models.append(
            {
                "name": name,
                "metric": objective.name,
                "value": interval.value,
                "interval": [interval.low, interval.high],
                "seeds": values,
            }
        )
    rival = baseline if isinstance(baseline, Mapping) else dict.fromkeys(given, baseline)
    comparisons = []
    for name in given:
        if rival.get(name, name) == name:
            continue
        test = paired_bootstrap(
            counts[name],
            counts[rival[name]],
            objective.of_counts,
            seed=seed,
        )
        comparisons.append(
            {
                "a": name,
                "b": rival[name],
                "difference": test.difference,
                "interval": [test.low, test.high],
                "p": test.p,
                "significant": test.p < LEVEL,
            }
        )
    return models, comparisons
