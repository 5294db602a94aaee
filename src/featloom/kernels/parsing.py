"""Training and use of an edge-factored dependency parser.

The score of a tree is the sum of the scores of its edges, the score of an edge the sum of the
weights of its features (:mod:`featloom.kernels.edges`).  A small pilot model, a softmax over the
heads of one token at a time, leaves each token its likely heads; the parser itself is trained
sentence by sentence to score the right tree above the best wrong one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from featloom.kernels.arborescences import MISSING, chu_liu_edmonds, eisner
from featloom.kernels.edges import (
    add_to_group,
    group_score,
    pair_code,
    spread_parts,
    tags_between,
)


@njit(cache=True, nogil=True)
def spread_sentence(sentence, starts, layout, head_hashes, mod_hashes, of_head, of_mod):
    """Hashes of the head and modifier parts of all templates, for each position of a sentence."""
    start, end = starts[sentence], starts[sentence + 1]
    spread_parts(head_hashes, start, end, layout.head_part, layout.number, of_head)
    spread_parts(mod_hashes, start, end, layout.mod_part, layout.zero, of_mod)


@njit(cache=True, nogil=True)
def score_edge(weights, layout, start, head, mod, counts, tags, of_head, of_mod):
    """The score of one edge."""
    pair_row = layout.pair_hashes[pair_code(counts, start, head, mod)]
    blocks = layout.blocks
    score = group_score(
        weights, layout.shift, layout.groups, blocks[0], blocks[1], layout.pair_of, pair_row,
        np.uint32(0), of_head[head], of_mod[mod],
    )  # fmt: skip
    for which in range(len(blocks) - 2):
        between = tags_between(tags, start, head, mod, which)
        tag = 0
        while between:
            if between & np.uint64(1):
                score += group_score(
                    weights, layout.shift, layout.groups, blocks[which + 1], blocks[which + 2],
                    layout.pair_of, pair_row, layout.tag_hashes[tag], of_head[head], of_mod[mod],
                )  # fmt: skip
            between >>= np.uint64(1)
            tag += 1
    return score


@njit(cache=True, nogil=True)
def add_to_edge(
    weights, sums, times, amount, layout, start, head, mod, counts, tags, of_head, of_mod
):  # fmt: skip
    """Add an amount to the weights of one edge's features."""
    pair_row = layout.pair_hashes[pair_code(counts, start, head, mod)]
    blocks = layout.blocks
    add_to_group(
        weights, sums, times, amount, layout.shift, layout.groups, blocks[0], blocks[1],
        layout.pair_of, pair_row, np.uint32(0), of_head[head], of_mod[mod],
    )  # fmt: skip
    for which in range(len(blocks) - 2):
        between = tags_between(tags, start, head, mod, which)
        tag = 0
        while between:
            if between & np.uint64(1):
                add_to_group(
                    weights, sums, times, amount, layout.shift, layout.groups, blocks[which + 1],
                    blocks[which + 2], layout.pair_of, pair_row, layout.tag_hashes[tag],
                    of_head[head], of_mod[mod],
                )  # fmt: skip
            between >>= np.uint64(1)
            tag += 1


@njit(cache=True, nogil=True)
def score_sentence(
    scores, weights, layout, sentence, starts, edge_starts, edge_heads, counts, tags, of_head,
    of_mod,
):  # fmt: skip
    """Scores of the candidate edges of a sentence as a matrix; others are MISSING."""
    start = starts[sentence]
    n = starts[sentence + 1] - start
    for h in range(n):
        for m in range(n):
            scores[h, m] = MISSING
    for m in range(1, n):
        for edge in range(edge_starts[start + m], edge_starts[start + m + 1]):
            h = edge_heads[edge]
            scores[h, m] = score_edge(weights, layout, start, h, m, counts, tags, of_head, of_mod)


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
    n_templates = len(layout.head_part)
    for sentence in sentences:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head = np.empty((n, n_templates), dtype=np.uint32)
        of_mod = np.empty((n, n_templates), dtype=np.uint32)
        spread_sentence(sentence, starts, layout, head_hashes, mod_hashes, of_head, of_mod)
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
    score(y)) / |Δ|²): averaged MIRA.  A margin of 0 is the perceptron, τ = 1.
    ``sums`` adds up what was added times the step, for the average.
    """
    n_templates = len(layout.head_part)
    n_wrong = 0
    for sentence in order:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        step += 1
        of_head = np.empty((n, n_templates), dtype=np.uint32)
        of_mod = np.empty((n, n_templates), dtype=np.uint32)
        spread_sentence(sentence, starts, layout, head_hashes, mod_hashes, of_head, of_mod)
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
        for m in range(1, n):
            if heads[m] != right[m]:
                add_to_edge(
                    weights, sums, times, amount, layout, start, right[m], m, counts, tags,
                    of_head, of_mod,
                )  # fmt: skip
                add_to_edge(
                    weights, sums, times, -amount, layout, start, heads[m], m, counts, tags,
                    of_head, of_mod,
                )  # fmt: skip
    return step, n_wrong


@njit(cache=True, nogil=True)
def shares_of_heads(shares, weights, layout, start, n, mod, counts, tags, of_head, of_mod):
    """The softmax of the scores of all heads of one token."""
    top = -np.inf
    for h in range(n):
        if h != mod:
            shares[h] = score_edge(weights, layout, start, h, mod, counts, tags, of_head, of_mod)
            top = max(top, shares[h])
    total = 0.0
    for h in range(n):
        shares[h] = np.exp(shares[h] - top) if h != mod else 0.0
        total += shares[h]
    for h in range(n):
        shares[h] /= total


@njit(cache=True, nogil=True)
def train_pilot(
    order, weights, layout, starts, counts, tags, head_hashes, mod_hashes, gold, rate
):  # fmt: skip
    """One pass of the pilot over some sentences: w += rate (is head − share of the head)."""
    n_templates = len(layout.head_part)
    nothing = np.zeros_like(weights)
    for sentence in order:
        start = starts[sentence]
        n = starts[sentence + 1] - start
        of_head = np.empty((n, n_templates), dtype=np.uint32)
        of_mod = np.empty((n, n_templates), dtype=np.uint32)
        spread_sentence(sentence, starts, layout, head_hashes, mod_hashes, of_head, of_mod)
        shares = np.empty(n)
        for m in range(1, n):
            shares_of_heads(shares, weights, layout, start, n, m, counts, tags, of_head, of_mod)
            for h in range(n):
                slope = (1.0 if h == gold[start + m] else 0.0) - shares[h]
                if h != m and abs(slope) > 1e-3:
                    add_to_edge(
                        weights, nothing, np.float32(0), np.float32(rate * slope), layout, start,
                        h, m, counts, tags, of_head, of_mod,
                    )  # fmt: skip


@njit(cache=True, nogil=True)
def likely_heads(
    sentences, weights, layout, starts, counts, tags, head_hashes, mod_hashes, ratio, kept, heads
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
        of_head = np.empty((n, n_templates), dtype=np.uint32)
        of_mod = np.empty((n, n_templates), dtype=np.uint32)
        spread_sentence(sentence, starts, layout, head_hashes, mod_hashes, of_head, of_mod)
        shares = np.empty(n)
        for m in range(1, n):
            shares_of_heads(shares, weights, layout, start, n, m, counts, tags, of_head, of_mod)
            least = ratio * shares.max()
            for h in range(n):
                if h != m and shares[h] >= least:
                    heads[n_heads] = h
                    n_heads += 1
                    kept[start + m] += 1
    return n_heads
