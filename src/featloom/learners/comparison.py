"""How two cases are compared, and how neighbours vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from featloom.options import whole

MODES = ("ignore", "overlap", "mvdm")
VOTES = ("count", "inverse_distance", "inverse_linear", "exponential")

SCALE = "scale"  # a decay that goes by the weights of what is compared
_SCALED = 30.0  # was near the best on fifteen tables, from letters to bank customers

# More than there can be cases is more than kernels can count.
COUNT = whole(1, 2**31 - 1)

BLOCK = 512  # queries that are answered in one go, by one thread


class Comparison(NamedTuple):
    """How two cases are compared, and how neighbours vote.

    ``look_further`` looks at a tie again with one distance more.  ``exact_first`` says where a
    case that is like the query in every value decides alone: "never", "first" (k = 1) or
    "always".  TiMBL has True and "first", with its option +x "always".
    """

    modes: tuple[str, ...]
    weights: tuple[float, ...]
    vote: str = "count"
    decay: float = 1.0
    mvdm_threshold: int = 1
    look_further: bool = False
    exact_first: str = "never"


def tolerance(weights: np.ndarray) -> float:
    """Distances closer than this count as equal: they differ by how they were added up."""
    return 1e-12 * float(weights.sum())


def decay_of(decay: float | str, weights: np.ndarray, modes: Sequence[str]) -> float:
    """The a of exp(−a d); of "scale" 30 over the sum of the weights of what is compared.

    >>> decay_of("scale", np.array([1.0, 2.0, 9.0]), ["overlap", "mvdm", "ignore"])
    10.0
    """
    if decay != SCALE:
        return float(decay)
    total = sum(w for w, mode in zip(weights.tolist(), modes, strict=True) if mode != "ignore")
    return _SCALED / total if total > 0 else 1.0
