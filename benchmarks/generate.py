"""Seeded sparse data in the shape of real text: few features are frequent, most are rare."""

from __future__ import annotations

import numpy as np


def zipf_rows(
    n_rows: int, n_features: int, ones: int, *, exponent: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays and two-class labels of rows with about ``ones`` features each.

    Feature j is drawn with a chance that falls as 1 / (j + 1) ** exponent; a row keeps each
    feature once.  The class leans on a few features, so that scores differ.
    """
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, n_features + 1) ** exponent
    edges = np.cumsum(weights / weights.sum())
    draws = _draws_for(ones, weights / weights.sum())
    indptr, indices = [np.zeros(1, np.int64)], []
    block = max(1, 20_000_000 // draws)
    for begin in range(0, n_rows, block):
        size = min(block, n_rows - begin)
        drawn = np.searchsorted(edges, rng.random((size, draws))).astype(np.int32)
        drawn = np.sort(np.minimum(drawn, n_features - 1), axis=1)
        fresh = np.ones_like(drawn, dtype=bool)
        fresh[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
        indptr.append(indptr[-1][-1] + np.cumsum(fresh.sum(axis=1)))
        indices.append(drawn[fresh])
    starts = np.concatenate(indptr)
    features = np.concatenate(indices)
    leaning = rng.normal(0, 0.7, n_features) * (rng.random(n_features) < 0.2)
    score = np.add.reduceat(leaning[features], starts[:-1])
    labels = (score + rng.logistic(size=n_rows) > 2.2).astype(np.int64)
    return starts, features, labels


def _draws_for(ones: int, chances: np.ndarray) -> int:
    """How many draws leave about ``ones`` different features in a row."""
    draws = ones
    while (1.0 - (1.0 - chances) ** draws).sum() < ones:
        draws += 1
    return draws
