"""How often each value of a column meets each class.

The values × classes tables behind feature weights (gain ratio, chi-squared …), the modified
value difference metric and multiway splits.  A word column has tens of thousands of values, most
of them with one or two classes, so only cells that are not zero are kept.  Tables of parts add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.kernels.weights import column_weights

WEIGHTS = ("none", "gain_ratio", "information_gain", "chi_squared", "shared_variance")

# Tables of up to so many cells are counted in place; larger ones by sorting the pairs.
_DENSE_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The cells of a values × classes table that are not zero, by value and then by class.

    Those of value code v lie from ``start[v]`` to ``start[v + 1]``; code 0 is "unknown".

    Examples
    --------
    >>> letters, sounds = np.array([1, 1, 2, 1]), np.array([0, 1, 0, 0])
    >>> table = ValueCounts.of(letters, sounds, n_values=3, n_classes=2)
    >>> table.start.tolist(), table.classes.tolist(), table.counts.tolist()
    ([0, 0, 2, 3], [0, 1, 0], [2, 1, 1])
    """

    start: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    n_classes: int

    @classmethod
    def of(
        cls, codes: np.ndarray, labels: np.ndarray, *, n_values: int, n_classes: int
    ) -> ValueCounts:
        """Count the rows of one column."""
        cells = codes.astype(np.int64) * n_classes + labels
        if n_values * n_classes <= _DENSE_CELLS:
            dense = np.bincount(cells, minlength=n_values * n_classes)
            cells = np.flatnonzero(dense)
            counts = dense[cells]
        else:
            cells, counts = np.unique(cells, return_counts=True)
        values, classes = np.divmod(cells, n_classes)
        start = np.searchsorted(values, np.arange(n_values + 1)).astype(np.int64)
        return cls(start, classes.astype(np.int32), counts.astype(np.int64), n_classes)

    @property
    def n_values(self) -> int:
        return len(self.start) - 1

    @property
    def totals(self) -> np.ndarray:
        """Rows of each value."""
        sums = np.concatenate(([0], np.cumsum(self.counts)))
        return sums[self.start[1:]] - sums[self.start[:-1]]

    @property
    def class_totals(self) -> np.ndarray:
        """Rows of each class."""
        return np.bincount(self.classes, weights=self.counts, minlength=self.n_classes).astype(
            np.int64
        )

    @property
    def shares(self) -> np.ndarray:
        """P(class | value) of every cell."""
        return self.counts / np.repeat(self.totals, np.diff(self.start))

    def weights(self) -> dict[str, float]:
        """How much the column says about the class, by each of the five weightings of TiMBL.

        The formulas stand in :mod:`featloom.kernels.weights`.

        >>> table = ValueCounts.of(np.array([1, 1, 2, 2]), np.array([0, 0, 1, 1]),
        ...                        n_values=3, n_classes=2)
        >>> table.weights()
        {'none': 1.0, 'gain_ratio': 1.0, 'information_gain': 1.0, 'chi_squared': 4.0, \
'shared_variance': 1.0}
        """
        found = column_weights(self.start, self.classes, self.counts, self.n_classes)
        return dict(zip(WEIGHTS, (1.0, *found), strict=True))
