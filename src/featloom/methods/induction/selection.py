"""How many to keep: a share, a number or a threshold, written as people write them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from featloom.options import Constraint, check, none, number, whole


def _is_threshold(text: Any) -> bool:
    if not isinstance(text, str) or not text.strip().startswith(">="):
        return False
    try:
        float(text.strip()[2:])
    except ValueError:
        return False
    return True


CUT = replace(
    number(above=0, most=1) | whole(1) | Constraint("", _is_threshold) | none,
    words="a share above 0 and up to 1, a whole number, a threshold such as '>=3.8', or None",
)


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
    check({name: CUT}, {name: keep})
    if keep is None:
        return Cut(None)
    if isinstance(keep, str):
        return Cut(None, float(keep.strip()[2:]))
    if isinstance(keep, Integral):
        return Cut(int(keep))
    # The share was meant in decimals: 0.1 of 30 is 3, not 4 for the last bit of 0.1.
    return Cut(math.ceil(round(keep * n_features, 9)))


def ranking(scores: np.ndarray, supports: np.ndarray) -> np.ndarray:
    """Features best first: by score, then support, then column."""
    return np.lexsort((np.arange(len(scores)), -supports, -scores))


def select(order: np.ndarray, scores: np.ndarray, limit: Cut) -> np.ndarray:
    """The part of a ranking that a cut keeps."""
    kept = order if limit.count is None else order[: limit.count]
    return kept[scores[kept] >= limit.threshold]
