"""Seeded sparse data in the shape of real text: few features are frequent, most are rare."""

from __future__ import annotations

import numpy as np
from numba import njit


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
    guide = np.searchsorted(edges, np.arange(2 * n_features) / (2 * n_features))
    draws = _draws_for(ones, weights / weights.sum())
    starts = np.zeros(n_rows + 1, np.int64)
    parts = []
    block = max(1, 20_000_000 // draws)
    for begin in range(0, n_rows, block):
        end = min(begin + block, n_rows)
        part = _drawn(rng.random((end - begin, draws)), edges, guide, starts[begin : end + 1])
        parts.append(part.copy())
    features = np.concatenate(parts)
    parts.clear()
    leaning = rng.normal(0, 0.7, n_features) * (rng.random(n_features) < 0.2)
    score = np.empty(n_rows)
    for begin in range(0, n_rows, block):
        own = starts[begin : begin + block + 1]
        leanings = leaning[features[own[0] : own[-1]]]
        score[begin : begin + block] = np.add.reduceat(leanings, own[:-1] - own[0])
    labels = (score + rng.logistic(size=n_rows) > 2.2).astype(np.int64)
    return starts, features, labels


@njit(cache=True)
def _drawn(chances, edges, guide, starts):
    """The features that chances stand for, each once in a row, in ascending order.

    ``guide`` says where among the edges to begin; ``starts`` is filled in from its first entry on.
    """
    found = np.empty(chances.size, np.int32)
    n_found = 0
    for row in range(len(chances)):
        drawn = np.sort(chances[row])
        last = -1
        for chance in drawn:
            feature = max(last, guide[int(chance * len(guide))])
            while feature < len(edges) - 1 and edges[feature] < chance:
                feature += 1
            if feature > last:
                found[n_found] = feature
                n_found += 1
                last = feature
        starts[row + 1] = starts[0] + n_found
    return found[:n_found]


def _draws_for(ones: int, chances: np.ndarray) -> int:
    """How many draws leave about ``ones`` different features in a row."""
    draws = ones
    while (1.0 - (1.0 - chances) ** draws).sum() < ones:
        draws += 1
    return draws


def known_words(n_rows: int, n_words: int = 50_000, seed: int = 0):
    """Codes, tags and sizes of a tagging task: words with the tags and letters around them.

    Words are drawn by Zipf's law; each has one to four tags, of which the tag before decides.
    Columns: four tags around, three last letters, hyphen, capital, the word, its set of tags.
    """
    rng = np.random.default_rng(seed)
    n_tags, n_letters = 110, 30
    weights = 1.0 / np.arange(1, n_words + 1)
    words = np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(n_rows))
    words = np.minimum(words, n_words - 1)
    tag_weights = 1.0 / np.arange(1, n_tags + 1)
    own = np.searchsorted(np.cumsum(tag_weights / tag_weights.sum()), rng.random((n_words, 4)))
    own = np.minimum(own, n_tags - 1)
    n_own = 1 + np.minimum(rng.geometric(0.6, n_words) - 1, 3)
    tags = np.empty(n_rows, dtype=np.int64)
    chance = rng.random(n_rows)
    which = (chance * n_own[words]).astype(np.int64)
    tags[:] = own[words, which]
    # The tag before settles most of the doubtful ones.
    before = np.concatenate(([0], tags[:-1]))
    settled = rng.random(n_rows) < 0.7
    tags[settled] = own[words[settled], before[settled] % n_own[words[settled]]]
    letters = rng.integers(0, n_letters, (n_words, 3))
    kept = np.where(np.arange(4) < n_own[:, None], own, -1)
    _, ambiguity = np.unique(np.sort(kept, axis=1), axis=0, return_inverse=True)
    columns = [np.roll(tags, 2), np.roll(tags, 1), np.roll(tags, -1), np.roll(tags, -2)]
    columns += [letters[words, j] for j in range(3)]
    columns += [(words % 17 == 0).astype(int), (words % 11 == 0).astype(int), words]
    columns += [np.ravel(ambiguity)[words]]
    codes = np.asfortranarray(np.stack(columns, axis=1).astype(np.int32) + 1)
    return codes, tags, [int(column.max()) + 2 for column in columns], n_tags
