"""Seeded tables as strangers bring them to ``featloom discover``: few columns, some of many values.

    python benchmarks/door_data.py OUT.csv

writes the table of 20,000 rows and ten columns, the class last, that the time of the front door is
measured on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

VALUES = (2, 3, 5, 8, 12, 20, 40, 100, 300, 1_000)


def twenty_thousand_by_ten(seed: int = 0, *, n_rows: int = 20_000) -> dict[str, list[str]]:
    """Ten columns of symbols (``c2`` has 2 values, ``c1000`` 1,000) and the class ``y``.

    Value r of a column, counted from 1, is drawn with a weight of 1 / r.  The log-odds of the class
    are a sum of

    - a normal effect of every value of every column, standard deviation .6;
    - a normal effect of every pair of a value of ``c8`` and one of ``c12``, standard deviation 1.5;
    - 1.5 where ``c5`` has its first value and ``c20`` its second.

    >>> table = twenty_thousand_by_ten(n_rows=3)
    >>> list(table)[:3], len(table["y"])
    (['c2', 'c3', 'c5'], 3)
    """
    rng = np.random.default_rng(seed)
    columns = {}
    for n_values in VALUES:
        weights = 1.0 / np.arange(1, n_values + 1)
        columns[n_values] = rng.choice(n_values, n_rows, p=weights / weights.sum())
    log_odds = np.zeros(n_rows)
    for n_values, codes in columns.items():
        log_odds += rng.normal(0, 0.6, n_values)[codes]
    log_odds += rng.normal(0, 1.5, (8, 12))[columns[8], columns[12]]
    log_odds += 1.5 * ((columns[5] == 0) & (columns[20] == 1))
    y = rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    table = {f"c{n}": [f"v{code + 1}" for code in codes] for n, codes in columns.items()}
    table["y"] = ["yes" if one else "no" for one in y]
    return table


def write_csv(table: dict[str, list[str]], path: Path) -> None:
    """A line with the names of the columns, and one for each row."""
    rows = zip(*table.values(), strict=True)
    lines = [",".join(table), *map(",".join, rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python benchmarks/door_data.py OUT.csv")
    write_csv(twenty_thousand_by_ten(), Path(sys.argv[1]))
