"""The relation of a modifier to its head, by a linear model with one weight a slot and relation.

The features are those of edges (:mod:`featloom.kernels.edges`), hashed to rows of a table that is
as wide as there are relations.  Training is the averaged perceptron: where a wrong relation scores
best, the row of every feature gains 1 at the right relation and loses 1 at the wrong one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from featloom.kernels.edges import pair_code


@njit(cache=True, nogil=True)
def feature_slots(slots, layout, start, head, mod, counts, head_hashes, mod_hashes):
    """The slots of the features of an edge; templates with sets are not among them."""
    pair_row = layout.pair_hashes[pair_code(counts, start, head, mod)]
    for g in range(layout.blocks[1]):
        pair = pair_row[layout.pair_of[g]]
        for t in range(layout.groups[g], layout.groups[g + 1]):
            of_head = head_hashes[start + head, layout.head_part[t]] + layout.number[t]
            of_mod = mod_hashes[start + mod, layout.mod_part[t]]
            slots[t] = np.uint32(of_head + of_mod + pair) >> layout.shift


@njit(cache=True, nogil=True)
def best_relation(scores, weights, slots):
    """The relation with the highest sum of weights, the first of equals."""
    scores[:] = 0
    for t in range(len(slots)):
        row = weights[slots[t]]
        for r in range(len(scores)):
            scores[r] += row[r]
    return np.argmax(scores)


@njit(cache=True, nogil=True)
def train_relations(
    order, weights, sums, step, layout, starts, counts, head_hashes, mod_hashes, heads, relations
):  # fmt: skip
    """One pass over the edges of the given sentences; gives the steps so far and the mistakes."""
    slots = np.zeros(len(layout.head_part), dtype=np.int64)
    scores = np.zeros(weights.shape[1], dtype=np.float32)
    wrong = 0
    for sentence in order:
        start = starts[sentence]
        for m in range(1, starts[sentence + 1] - start):
            right = relations[start + m]
            if right < 0:
                continue
            step += 1
            feature_slots(
                slots, layout, start, heads[start + m], m, counts, head_hashes, mod_hashes
            )
            found = best_relation(scores, weights, slots)
            if found == right:
                continue
            wrong += 1
            for t in range(len(slots)):
                weights[slots[t], right] += 1
                weights[slots[t], found] -= 1
                sums[slots[t], right] += step
                sums[slots[t], found] -= step
    return step, wrong


@njit(cache=True, nogil=True)
def label_sentences(
    sentences, weights, layout, starts, counts, head_hashes, mod_hashes, heads, relations
):  # fmt: skip
    """Fill in the relation of every token of some sentences to the head it has."""
    slots = np.zeros(len(layout.head_part), dtype=np.int64)
    scores = np.zeros(weights.shape[1], dtype=np.float32)
    for sentence in sentences:
        start = starts[sentence]
        for m in range(1, starts[sentence + 1] - start):
            feature_slots(
                slots, layout, start, heads[start + m], m, counts, head_hashes, mod_hashes
            )
            relations[start + m] = best_relation(scores, weights, slots)
