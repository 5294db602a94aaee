"""The relation of a modifier to its head, by a linear model with one weight a slot and relation.

The features are those of edges (:mod:`featloom.kernels.edges`), hashed to rows of a table that is
as wide as there are relations.  Training is the averaged perceptron: where a wrong relation scores
best, the row of every feature gains 1 at the right relation and loses 1 at the wrong one.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.edges import edge_slots, most_slots, spread_sentence


@njit(cache=True, nogil=True)
def best_relation(scores, weights, slots, n):
    """The relation with the highest sum of weights over n slots, the first of equals."""
    scores[:] = 0
    for k in range(n):
        row = weights[slots[k]]
        for r in range(len(scores)):
            scores[r] += row[r]
    return np.argmax(scores)


@njit(cache=True, nogil=True)
def train_relations(
    order, weights, sums, step, layout, starts, counts, tags, head_hashes, mod_hashes, heads,
    relations,
):  # fmt: skip
    """One pass over the edges of the given sentences; gives the steps so far and the mistakes."""
    slots = np.empty(most_slots(layout), dtype=np.uint64)
    scores = np.zeros(weights.shape[1], dtype=np.float32)
    wrong = 0
    for sentence in order:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        for m in range(1, n):
            right = relations[start + m]
            if right < 0:
                continue
            step += 1
            h = heads[start + m]
            n_slots = edge_slots(slots, layout, start, h, m, counts, tags, of_head, of_mod)
            found = best_relation(scores, weights, slots, n_slots)
            if found == right:
                continue
            wrong += 1
            for k in range(n_slots):
                weights[slots[k], right] += 1
                weights[slots[k], found] -= 1
                sums[slots[k], right] += step
                sums[slots[k], found] -= step
    return step, wrong


@njit(cache=True, nogil=True)
def label_sentences(
    sentences, weights, layout, starts, counts, tags, head_hashes, mod_hashes, heads, relations
):  # fmt: skip
    """Fill in the relation of every token of some sentences to the head it has."""
    slots = np.empty(most_slots(layout), dtype=np.uint64)
    scores = np.zeros(weights.shape[1], dtype=np.float32)
    for sentence in sentences:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        for m in range(1, n):
            h = heads[start + m]
            n_slots = edge_slots(slots, layout, start, h, m, counts, tags, of_head, of_mod)
            relations[start + m] = best_relation(scores, weights, slots, n_slots)
