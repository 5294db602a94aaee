"""Training and use of an edge-factored dependency parser.

The score of a tree is the sum of the scores of its edges, the score of an edge the sum of the
weights of its features (:mod:`featloom.kernels.edges`).  A small pilot model, a softmax over the
heads of one token at a time, leaves each token its likely heads; the parser itself is trained
sentence by sentence to score the right tree above the best wrong one.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.arborescences import MISSING, chu_liu_edmonds, eisner
from featloom.kernels.compiled import njit
from featloom.kernels.edges import (
    edge_slots,
    most_slots,
    pair_code,
    spread_sentence,
    sum_of,
)

_SMALL = 1e-3  # a share that moves no weight
_NOTHING = 12.0  # a head whose score is so far below the best has no share worth computing


@njit(cache=True, nogil=True)
def score_sentence(
    scores, weights, layout, sentence, starts, edge_starts, edge_heads, counts, tags, of_head,
    of_mod,
):  # fmt: skip
    """Scores of the candidate edges of a sentence as a matrix; others are MISSING."""
    start = starts[sentence]
    n = starts[sentence + 1] - start
    slots = np.empty(most_slots(layout), dtype=np.uint64)
    for h in range(n):
        for m in range(n):
            scores[h, m] = MISSING
    for m in range(1, n):
        for edge in range(edge_starts[start + m], edge_starts[start + m + 1]):
            h = edge_heads[edge]
            found = edge_slots(slots, layout, start, h, m, counts, tags, of_head, of_mod)
            scores[h, m] = sum_of(weights, slots, found)


@njit(cache=True, nogil=True)
def add_to_edges(
    weights, sums, times, amount, layout, start, heads, others, counts, tags, of_head, of_mod
):  # fmt: skip
    """Add an amount to the weights of those edges to ``heads`` that ``others`` do not share."""
    slots = np.empty(most_slots(layout), dtype=np.uint64)
    for m in range(1, len(heads)):
        if heads[m] == others[m]:
            continue
        found = edge_slots(slots, layout, start, heads[m], m, counts, tags, of_head, of_mod)
        for k in range(found):
            weights[slots[k]] += amount
            sums[slots[k]] += amount * times


@njit(cache=True, nogil=True)
def decode(scores, projective, single_root, heads):
    """The best tree of a sentence."""
    if projective:
        eisner(scores, single_root, heads)
    else:
        chu_liu_edmonds(scores, single_root, heads)


@njit(cache=True, nogil=True)
def parse_sentences(
    sentences, weights, layout, starts, edge_starts, edge_heads, counts, tags, head_hashes,
    mod_hashes, projective, single_root, heads,
):  # fmt: skip
    """Fill in the heads of some sentences."""
    for sentence in sentences:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        scores = np.empty((n, n))
        score_sentence(
            scores, weights, layout, sentence, starts, edge_starts, edge_heads, counts, tags,
            of_head, of_mod,
        )  # fmt: skip
        decode(scores, projective, single_root, heads[start : start + n])


@njit(cache=True, nogil=True)
def train_sentences(
    order, weights, sums, step, layout, starts, edge_starts, edge_heads, counts, tags, head_hashes,
    mod_hashes, gold, projective, single_root, margin, most,
):  # fmt: skip
    """One pass over the sentences in the given order; gives the steps so far and wrong heads.

    With y the right tree, ŷ the best tree where each wrong head is worth ``margin`` more, and Δ
    the difference of their features, w += τΔ with τ = min(most, (score(ŷ) + margin·wrong −
    score(y)) / |Δ|²): averaged MIRA.  |Δ|² is taken to be 2 · templates · wrong, as if no two
    edges shared a feature.  A margin of 0 is the perceptron, τ = 1.
    ``sums`` adds up what was added times the step, for the average.
    """
    n_templates = len(layout.head_part)
    n_wrong = 0
    for sentence in order:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        step += 1
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        scores = np.empty((n, n))
        score_sentence(
            scores, weights, layout, sentence, starts, edge_starts, edge_heads, counts, tags,
            of_head, of_mod,
        )  # fmt: skip
        right = gold[start : start + n]
        if margin > 0:
            for m in range(1, n):
                for h in range(n):
                    if h != right[m]:
                        scores[h, m] += margin
        heads = np.empty(n, dtype=np.int32)
        decode(scores, projective, single_root, heads)
        above = 0.0
        differ = 0
        for m in range(1, n):
            if heads[m] != right[m]:
                above += scores[heads[m], m] - scores[right[m], m]
                differ += 1
        n_wrong += differ
        if differ == 0 or above < 0:
            continue
        amount = np.float32(1.0)
        if margin > 0:
            amount = np.float32(min(most, above / (2.0 * n_templates * differ)))
        times = np.float32(step)
        add_to_edges(
            weights, sums, times, amount, layout, start, right, heads, counts, tags, of_head, of_mod
        )
        add_to_edges(
            weights, sums, times, -amount, layout, start, heads, right, counts, tags, of_head,
            of_mod,
        )  # fmt: skip
    return step, n_wrong


@njit(cache=True, nogil=True)
def shares_of_heads(shares, slots, weights, layout, start, mod, counts, of_head, of_mod):
    """The softmax of the scores of all heads of one token, and the slots of their features.

    The templates of the pilot are few and none has a set.
    """
    n, n_templates = slots.shape
    top = -np.inf
    for h in range(n):
        if h == mod:
            continue
        pair_row = layout.pair_hashes[pair_code(counts, start, h, mod)]
        score = np.float32(0.0)
        for t in range(n_templates):
            pair = pair_row[layout.pair_part[t]]
            slot = (of_head[h, t] + of_mod[mod, t] + pair) >> layout.shift
            slots[h, t] = slot
            score += weights[slot]
        shares[h] = score
        if score > top:
            top = float(score)
    shares[mod] = -np.inf
    total = 0.0
    for h in range(n):
        below = top - shares[h]
        shares[h] = np.exp(-below) if below < _NOTHING else 0.0
        total += shares[h]
    for h in range(n):
        shares[h] /= total


@njit(cache=True, nogil=True)
def train_pilot(order, weights, layout, starts, counts, head_hashes, mod_hashes, gold, rate):
    """One pass of the pilot over some sentences: w += rate (is head − share of the head)."""
    n_templates = len(layout.head_part)
    for sentence in order:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        shares = np.empty(n)
        slots = np.empty((n, n_templates), dtype=np.int64)
        for m in range(1, n):
            shares_of_heads(shares, slots, weights, layout, start, m, counts, of_head, of_mod)
            shares[gold[start + m]] -= 1.0
            for h in range(n):
                if h != m and abs(shares[h]) > _SMALL:
                    amount = np.float32(-rate * shares[h])
                    for t in range(n_templates):
                        weights[slots[h, t]] += amount


@njit(cache=True, nogil=True)
def likely_heads(
    sentences, weights, layout, starts, counts, head_hashes, mod_hashes, ratio, kept, heads
):  # fmt: skip
    """For each token of some sentences the heads with at least ``ratio`` of the best one's share.

    ``kept`` gets their number for each position; they are written one after the other into
    ``heads``, and their number is given.
    """
    n_templates = len(layout.head_part)
    n_heads = 0
    for sentence in sentences:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head, of_mod = spread_sentence(layout, start, n, head_hashes, mod_hashes)
        shares = np.empty(n)
        slots = np.empty((n, n_templates), dtype=np.int64)
        for m in range(1, n):
            shares_of_heads(shares, slots, weights, layout, start, m, counts, of_head, of_mod)
            least = ratio * shares.max()
            for h in range(n):
                if h != m and shares[h] >= least:
                    heads[n_heads] = h
                    n_heads += 1
                    kept[start + m] += 1
    return n_heads
