"""Figures of several systems on the same test data, and what they say in plain words.

A system with seeds has one answer a seed.  Their counts are added up sentence by sentence, so that
the figure is that of an average seed and the interval comes from drawing whole sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featloom.evaluation.comparison import LEVEL
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap

METRICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "UAS": accuracy_of_counts,
    "accuracy": accuracy_of_counts,
    "F1": f1_of_counts,
}


def system_row(name: str, data: str, metric: str, counts: Sequence[np.ndarray], **more: Any):
    """A row of the table of systems.

    Parameters
    ----------
    counts : of each seed, a group in each row; see :data:`METRICS`.
    more : what else is known of the system.

    >>> row = system_row("manual", "trees", "UAS", [np.array([[3, 4], [2, 4]])] * 2)
    >>> row["value"], row["sd"], row["seeds"]
    (0.625, 0.0, 2)
    """
    value_of = METRICS[metric]
    found = bootstrap_interval(np.sum(counts, axis=0), value_of)
    values = [float(value_of(one.sum(axis=0))) for one in counts]
    return {
        "name": name,
        "data": data,
        "metric": metric,
        "value": float(np.mean(values)),
        "interval": [found.low, found.high],
        "seeds": len(values),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        **more,
    }


def compared(
    data: str,
    metric: str,
    first: tuple[str, Sequence[np.ndarray]],
    second: tuple[str, Sequence[np.ndarray]],
    p: float | None = None,
) -> dict[str, Any]:
    """Two systems by their counts on the same groups, summed over seeds.

    ``p`` is that of another test, where one is asked for.
    """
    test = paired_bootstrap(np.sum(first[1], axis=0), np.sum(second[1], axis=0), METRICS[metric])
    p = test.p if p is None else p
    return {
        "a": f"{data}: {first[0]}",
        "b": f"{data}: {second[0]}",
        "difference": test.difference,
        "interval": [test.low, test.high],
        "p": p,
        "significant": p < LEVEL,
    }


def finding(title: str, baseline: dict[str, Any], others: Sequence[tuple[dict, dict]]) -> str:
    """How systems stand to their baseline, in words; each other comes with its comparison.

    >>> row = {"name": "manual", "metric": "UAS", "value": .9}
    >>> test = {"difference": .002, "interval": [-.001, .005], "p": .2, "significant": False}
    >>> words = finding("Trees", row, [({"name": "EFG", "metric": "UAS", "value": .902}, test)])
    >>> print(words.replace("; ", ";\\n"))
    Trees: manual has UAS 90.00;
    EFG 90.20 does not differ beyond chance (+0.20 [-0.10, +0.50], p 0.200).
    """
    words = []
    for row, test in others:
        low, high = (f"{100 * bound:+.2f}" for bound in test["interval"])
        if not test["significant"]:
            verdict = "does not differ beyond chance"
        else:
            verdict = "is ahead" if test["difference"] > 0 else "is behind"
        p = "below 0.001" if test["p"] < 0.001 else f"{test['p']:.3f}"
        words.append(
            f"{row['name']} {100 * row['value']:.2f} {verdict} "
            f"({100 * test['difference']:+.2f} [{low}, {high}], p {p})"
        )
    begin = f"{title}: {baseline['name']} has {baseline['metric']} {100 * baseline['value']:.2f}"
    return "; ".join([begin, *words]) + "."
