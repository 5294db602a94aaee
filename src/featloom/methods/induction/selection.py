"""How many to keep: a share, a number or a threshold, written as people write them."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError


@dataclass(frozen=True)
class Cut:
    """The best ``count`` (all, where it is None) that score at least ``threshold``."""

    count: int | None
    threshold: float = -math.inf


def cut(name: str, keep: float | int | str | None, n_features: int) -> Cut:
    """Read a share of the features (0.25), a number (500), a threshold (">=3.8") or None (all).

    >>> cut("keep", 0.25, 10)
    Cut(count=3, threshold=-inf)
    >>> cut("keep", 500, 10)
    Cut(count=500, threshold=-inf)
    >>> cut("keep", ">=3.8", 10)
    Cut(count=None, threshold=3.8)
    """
    if keep is None:
        return Cut(None)
    if isinstance(keep, str):
        text = keep.strip()
        try:
            if not text.startswith(">="):
                raise ValueError
            return Cut(None, float(text[2:]))
        except ValueError:
            raise InputError(f"{name} is {keep!r}; a threshold is written like '>=3.8'") from None
    if isinstance(keep, numbers.Integral) and not isinstance(keep, bool | np.bool_):
        if keep < 1:
            raise InputError(f"{name} is {keep}; a number of features must be at least 1")
        return Cut(int(keep))
    if isinstance(keep, numbers.Real) and 0.0 < keep <= 1.0:
        # The share was meant in decimals: 0.1 of 30 is 3, not 4 for the last bit of 0.1.
        return Cut(math.ceil(round(keep * n_features, 9)))
    raise InputError(f"{name} is {keep!r}; a share must lie in (0, 1], a number be whole")


def ranking(scores: np.ndarray, supports: np.ndarray) -> np.ndarray:
    """Features best first: by score, then support, then column."""
    return np.lexsort((np.arange(len(scores)), -supports, -scores))


def select(order: np.ndarray, scores: np.ndarray, limit: Cut) -> np.ndarray:
    """The part of a ranking that a cut keeps."""
    kept = order if limit.count is None else order[: limit.count]
    return kept[scores[kept] >= limit.threshold]
