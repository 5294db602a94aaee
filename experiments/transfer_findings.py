"""Figures of methods on many tasks, tests over the tasks, and what they say in plain words.

The figure of a method is its share of right answers over the rows of all tasks (micro-averaged, as
the paper prints it); its interval comes from drawing whole tasks.  A test pairs the accuracies of
two methods task by task (Student's t), so that each task has one voice, whatever its size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.evaluation.comparison import LEVEL
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.evaluation.significance import bootstrap_interval, paired_t


def summed_counts(results: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Right answers and rows of each task, added up over folds or seeds.

    >>> summed_counts([{"right": [1, 0], "rows": [2, 1]}, {"right": [1, 1], "rows": [1, 1]}])
    array([[2, 3],
           [1, 2]])
    """
    return np.sum([np.stack([one["right"], one["rows"]], axis=1) for one in results], axis=0)


def figure(counts: np.ndarray) -> dict[str, Any]:
    """Value and interval of a method.

    >>> figure(np.array([[3, 4], [1, 4]]))["value"]
    0.5
    """
    found = bootstrap_interval(counts, accuracy_of_counts)
    return {"value": found.value, "interval": [found.low, found.high]}


def over_tasks(first: tuple[str, np.ndarray], second: tuple[str, np.ndarray]) -> dict[str, Any]:
    """Two methods by the accuracies of the tasks that have test rows.

    ``difference`` and ``interval`` are of the mean over tasks; ``values`` are the shares of all
    rows, as in the table.

    >>> one, other = np.array([[8, 10], [4, 5], [3, 4]]), np.array([[6, 10], [4, 5], [2, 4]])
    >>> test = over_tasks(("prior", one), ("no prior", other))
    >>> round(test["difference"], 2), round(test["t"], 2), test["significant"]
    (0.15, 1.96, False)
    """
    both = (first[1][:, 1] > 0) & (second[1][:, 1] > 0)
    found = paired_t(*(accuracy_of_counts(counts[both]) for _, counts in (first, second)))
    return {
        "a": first[0],
        "b": second[0],
        "difference": found.difference,
        "interval": [found.low, found.high],
        "t": found.t,
        "p": found.p,
        "significant": found.p < LEVEL,
        "values": [
            float(accuracy_of_counts(counts.sum(axis=0))) for counts in (first[1], second[1])
        ],
    }


def said(tests: Sequence[Mapping[str, Any]]) -> str:
    """Tests of one method against others, in words.

    >>> test = {"a": "verbs: prior", "b": "verbs: none", "difference": 0.02, "t": 3.5, "p": 0.002,
    ...     "significant": True, "values": [0.89, 0.87]}
    >>> print(said([test]))
    prior 89.00 is ahead of none 87.00 (+2.00, t 3.5, p 0.002)
    """
    words = []
    for test in tests:
        if not test["significant"]:
            verdict = "does not differ beyond chance from"
        else:
            verdict = "is ahead of" if test["difference"] > 0 else "is behind"
        p = "below 0.001" if test["p"] < 0.001 else f"{test['p']:.3f}"
        words.append(
            f"{verdict} {_method(test['b'])} {100 * test['values'][1]:.2f} "
            f"({100 * test['difference']:+.2f}, t {test['t']:.1f}, p {p})"
        )
    return f"{_method(tests[0]['a'])} {100 * tests[0]['values'][0]:.2f} " + ", ".join(words)


def sentence(title: str, tests: Sequence[Mapping[str, Any]]) -> str:
    """Several tests of one data set and protocol, in words; those of one method go together."""
    methods = dict.fromkeys(test["a"] for test in tests)
    parts = [said([test for test in tests if test["a"] == name]) for name in methods]
    return f"{title}: " + "; ".join(parts) + "."


def along(title: str, tests: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One method against another at several amounts of data, in words.

    >>> test = {"a": "x: prior", "b": "x: none", "difference": 0.02, "p": 0.2, "significant": False}
    >>> more = {**test, "difference": 0.03, "p": 0.01, "significant": True}
    >>> print(along("verbs", [("5 rows", test), ("10 rows", more)]))
    verbs: prior against none: +2.00 at 5 rows (p 0.200), +3.00* at 10 rows (p 0.010).
    """
    points = [
        f"{100 * test['difference']:+.2f}{'*' if test['significant'] else ''} at {amount} "
        f"(p {'below 0.001' if test['p'] < 0.001 else format(test['p'], '.3f')})"
        for amount, test in tests
    ]
    names = f"{_method(tests[0][1]['a'])} against {_method(tests[0][1]['b'])}"
    return f"{title}: {names}: " + ", ".join(points) + "."


def _method(name: str) -> str:
    """The method in the name of a system, which begins with the data."""
    return name.partition(": ")[2] or name
