"""How two cases are compared, and how neighbours vote."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MODES = ("ignore", "overlap", "mvdm")
VOTES = ("count", "inverse_distance", "inverse_linear", "exponential")

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
