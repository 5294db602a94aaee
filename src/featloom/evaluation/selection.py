"""The choice among candidates that were cross-validated.

The candidate with the highest mean is often a little larger than it need be, and leads by less
than the noise.  The one-standard-error rule takes the simplest candidate whose mean is within
one standard error of the best one's, where the standard error is that of the best candidate's
mean over n folds: s / √n, s being the standard deviation of its fold scores (Breiman et al.
1984).  Some papers say "standard error" and use s itself, which lets in much weaker candidates;
that reading has its own name here.

Folds differ in difficulty, documents above all, and that is no doubt about which candidate is the
better one.  The paired rule looks at the differences from the best candidate fold by fold: one is
within a standard error if the mean of its differences is no larger than their own s / √n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featloom.errors import InputError
from featloom.options import checked, one_of

RULES = ("standard_error", "paired", "standard_deviation", "best")


@checked(rule=one_of(RULES))
def one_standard_error(
    scores: Sequence | np.ndarray,
    simplicity: Sequence[float] | np.ndarray,
    *,
    rule: str = "standard_error",
) -> int:
    """The place of the chosen candidate.

    Parameters
    ----------
    scores : of the folds (candidates × folds), higher is better.
    simplicity : a number for each candidate, smaller is simpler (a number of features).
    rule : "standard_error"; "paired", by differences in the same folds; "standard_deviation", the
        looser reading; "best", the highest mean.

    Of equally simple candidates the one with the higher mean is taken, then the first; of equally
    good best ones the simplest, then the first.

    Examples
    --------
    >>> scores = [[0.70, 0.72], [0.80, 0.84], [0.81, 0.85]]
    >>> one_standard_error(scores, simplicity=[10, 100, 1000])
    1
    >>> one_standard_error(scores, simplicity=[10, 100, 1000], rule="best")
    2
    """
    folds, size = np.asarray(scores, dtype=np.float64), np.asarray(simplicity, dtype=np.float64)
    if not folds.size:
        raise InputError("there are no candidates to choose from")
    if folds.ndim != 2 or size.shape != folds.shape[:1]:
        raise InputError(f"scores of shape {folds.shape} and {size.size} sizes do not match")
    means = folds.mean(axis=1)
    if np.isnan(means).any() or np.isnan(size).any():
        raise InputError("a candidate's mean or simplicity is not a number")
    best = int(np.lexsort((size, -means))[0])
    if rule == "best":
        return best
    if folds.shape[1] < 2:
        raise InputError("one fold has no standard error; use at least 2 folds or rule='best'")
    if rule == "paired":
        within = _within_paired(folds, best)
    else:
        margin = folds[best].std(ddof=1)
        if rule == "standard_error":
            margin = margin / np.sqrt(folds.shape[1])
        if not margin >= 0:
            raise InputError("the spread of the best candidate is not a number that is 0 or more")
        within = np.flatnonzero(means >= means[best] - margin)
    return int(within[np.lexsort((-means[within], size[within]))[0]])


def _within_paired(folds: np.ndarray, best: int) -> np.ndarray:
    """Candidates whose mean distance from the best is no larger than its standard error."""
    behind = folds[best] - folds
    error = behind.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
    return np.flatnonzero(behind.mean(axis=1) <= error)
