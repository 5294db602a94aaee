"""Systems that predicted the same rows, sentences or documents, for a result: what each is worth.

A system comes as counts, from which its metric is computed, a line for each row, sentence or
document.  These are drawn again and again (the bootstrap): that gives the interval of a score, and
by drawing the same for two systems their paired test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap
from featloom.results import Comparison, Model


def compare_systems(
    counts: Mapping[str, np.ndarray],
    of_counts: Callable[[np.ndarray], np.ndarray],
    *,
    drawn: str = "sentences",
    seed: int = 0,
) -> tuple[list[Model], list[Comparison]]:
    """Lines of a leaderboard, and the paired bootstrap of each system against the first.

    Parameters
    ----------
    counts : for each system what its metric is counted from, a line a document, sentence or row.
    of_counts : the metric, from summed counts.
    drawn : what has a line; default "sentences".

    Examples
    --------
    >>> from featloom.evaluation.metrics import accuracy_of_counts
    >>> right = np.array([[0, 1], [1, 1]] * 20)
    >>> models, (test,) = compare_systems({"half": right, "all": right * 0 + 1}, accuracy_of_counts)
    >>> [model.test for model in models], test.a, test.difference, test.significant
    ([0.5, 1.0], 'all', 0.5, True)
    """
    models = []
    for name, of_system in counts.items():
        found = bootstrap_interval(of_system, of_counts, seed=seed)
        models.append(Model(name, test=found.value, test_interval=(found.low, found.high)))
    rival, *others = counts
    tests = []
    for name in others:
        test = paired_bootstrap(counts[name], counts[rival], of_counts, seed=seed)
        tests.append(
            Comparison(
                name, rival, test.difference, (test.low, test.high), test.p,
                significant=test.p < LEVEL, on="test", test=f"paired bootstrap over {drawn}",
            )
        )  # fmt: skip
    return models, tests
