"""Which columns of a wide table trees look at: those that tell the classes apart by themselves.

A tree counts values × classes of all columns in every node, and a linear model on the values of a
thousand columns has a thousand features in every row.  Of a wide table the columns are therefore
ranked first, by one pass over the rows: with N rows and the information gain in nats,

    G = 2 N gain        z = (G − f) / √(2 f),    f = (values − 1) (classes − 1)

G has about a χ² distribution of f degrees of freedom where column and class are independent, so z
favours no column for the number of its values.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from featloom.data.blocks import Blocks
from featloom.data.table import NominalTable
from featloom.learners.tree import numbers_of_values


def best_columns(table: NominalTable | Blocks, most: int | None) -> np.ndarray | None:
    """Numbers of the ``most`` columns with the highest z, ascending; None where all are to stay.

    Examples
    --------
    >>> table = NominalTable.from_columns(
    ...     {"id": list("abcd"), "letter": list("ckck"), "noise": list("xxyy")},
    ...     labels=list("SKSK"),
    ... )
    >>> best_columns(table, most=1)
    array([1])
    >>> best_columns(table, most=3) is None
    True
    """
    named = table.table if isinstance(table, Blocks) else table
    if named is None or most is None or len(named.columns) <= most:
        return None
    n_columns, n_classes = len(named.columns), len(named.classes)
    n_values = numbers_of_values(named, np.arange(n_columns))
    counts = [np.zeros((n, n_classes), dtype=np.int64) for n in n_values]
    for number in range(table.n_blocks if isinstance(table, Blocks) else 1):
        rows = table.rows_of_table(number) if isinstance(table, Blocks) else table
        labels = rows.known_labels
        for j, of_column in enumerate(counts):
            cells = rows.codes[:, j].astype(np.int64) * n_classes + labels
            of_column += np.bincount(cells, minlength=of_column.size).reshape(of_column.shape)
    surprise = np.array([_surprise(of_column) for of_column in counts])
    return np.sort(np.argsort(-surprise, kind="stable")[:most])


def _surprise(counts: np.ndarray) -> float:
    """z of values × classes."""
    of_class, of_value = counts.sum(axis=0), counts.sum(axis=1)
    classes, values = int(np.count_nonzero(of_class)), int(np.count_nonzero(of_value))
    freedom = max(values - 1, 0) * max(classes - 1, 0)
    if not freedom:
        return -np.inf
    cells, everything, by_class, by_value = (
        float(xlogy(a, a).sum()) for a in (counts, counts.sum(), of_class, of_value)
    )
    statistic = 2 * (cells + everything - by_class - by_value)
    return (statistic - freedom) / (2 * freedom) ** 0.5
