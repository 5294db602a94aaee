"""Use of log-linear sequence models: the best labels of a sentence, and their probabilities.

The models stand in :mod:`featloom.kernels.sequence`.  A MEMM becomes a chain like a CRF's when the
probabilities of each label after each other are taken as its pair scores.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.chain import FAST, best_paths, exponentiate, forward_backward, viterbi
from featloom.kernels.compiled import njit
from featloom.kernels.sequence import (
    CRF,
    MAXENT,
    MEMM,
    score_pairs,
    score_tokens,
    softmax_row,
)


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def memm_tables(n, n_labels, emission, pairs):
    """Turn pair scores of a MEMM into log P(label | label before), emission included, in place.

    ``emission`` becomes log P(label) at the first token, and nothing after it.
    """
    for t in range(n):
        if t == 0:
            for l in range(n_labels):  # noqa: E741
                pairs[0, 0, l] = emission[0, l]
            total = softmax_row(pairs[0, 0], n_labels)
            for l in range(n_labels):  # noqa: E741
                emission[0, l] -= total
            continue
        for a in range(n_labels):
            for l in range(n_labels):  # noqa: E741
                pairs[t, a, l] += emission[t, l]
            top = pairs[t, a, 0]
            for l in range(1, n_labels):  # noqa: E741
                top = max(top, pairs[t, a, l])
            total = np.float32(0.0)
            for l in range(n_labels):  # noqa: E741
                total += np.exp(pairs[t, a, l] - top)
            total = top + np.log(total)
            for l in range(n_labels):  # noqa: E741
                pairs[t, a, l] -= total
        for l in range(n_labels):  # noqa: E741
            emission[t, l] = 0.0


@njit(cache=True, nogil=True)
def tag_sentences(
    kind,
    first,
    last,
    bounds,
    features,
    pair_features,
    weights,
    pair_weights,
    n_labels,
    allowed,
    path,
):
    """The best labels of sentences first to last, written to ``path`` (tokens).

    ``allowed`` (tokens, labels) says which labels a token may have, or is empty.
    """
    width = weights.shape[1]
    each = kind == MEMM or (kind == CRF and pair_features.shape[1] > 1)
    longest = 1
    for s in range(first, last):
        longest = max(longest, bounds[s + 1] - bounds[s])
    emission = np.empty((longest, width), dtype=np.float32)
    best = np.empty((longest, n_labels), dtype=np.float32)
    back = np.empty((longest, n_labels), dtype=np.int32)
    pairs = np.zeros((longest if each else 1, n_labels, width), dtype=np.float32)
    table_of = np.arange(longest) if each else np.zeros(longest, dtype=np.int64)
    one = np.float32(1.0)
    if kind == CRF and not each:
        pairs[0] = pair_weights[0]
    for s in range(first, last):
        begin, end = bounds[s], bounds[s + 1]
        if begin == end:
            continue
        score_tokens(begin, end, features, weights, one, emission)
        if each:
            score_pairs(begin, end, pair_features, pair_weights, one, n_labels, pairs)
        if kind == MEMM:
            memm_tables(end - begin, n_labels, emission, pairs)
        here = allowed[begin:end] if allowed.shape[0] else allowed
        viterbi(emission, end - begin, n_labels, pairs, table_of, here, best, back, path[begin:end])


@njit(cache=True, nogil=True)
def marginals(
    kind, first, last, bounds, features, pair_features, weights, pair_weights, n_labels, shares
):
    """P(label) of every token of sentences first to last, written to ``shares``; gives Σ log Z."""
    width = weights.shape[1]
    each = kind == MEMM or (kind == CRF and pair_features.shape[1] > 1)
    longest = 1
    for s in range(first, last):
        longest = max(longest, bounds[s + 1] - bounds[s])
    emission = np.empty((longest, width), dtype=np.float32)
    alpha = np.empty((longest, width), dtype=np.float32)
    beta = np.empty((longest, width), dtype=np.float32)
    scales = np.empty(longest, dtype=np.float32)
    pairs = np.zeros((longest if each else 1, n_labels, width), dtype=np.float32)
    tops = np.empty(longest if each else 1, dtype=np.float32)
    table_of = np.arange(longest) if each else np.zeros(longest, dtype=np.int64)
    one = np.float32(1.0)
    log_z = 0.0
    if kind == CRF and not each:
        exponentiate(pair_weights, 1, n_labels, pairs, tops)
    for s in range(first, last):
        begin, end = bounds[s], bounds[s + 1]
        n = end - begin
        if n == 0:
            continue
        score_tokens(begin, end, features, weights, one, emission)
        if kind == MAXENT:
            for t in range(n):
                log_z += softmax_row(emission[t], n_labels)
                shares[begin + t] = emission[t]
            continue
        if each:
            score_pairs(begin, end, pair_features, pair_weights, one, n_labels, pairs)
            if kind == MEMM:
                memm_tables(n, n_labels, emission, pairs)
            exponentiate(pairs, n, n_labels, pairs, tops)
        log_z += forward_backward(emission, n, n_labels, pairs, tops, table_of, alpha, beta, scales)
        for t in range(n):
            for l in range(n_labels):  # noqa: E741
                shares[begin + t, l] = alpha[t, l] * beta[t, l]
    return log_z


@njit(cache=True, nogil=True)
def best_paths_of(kind, begin, end, features, pair_features, weights, pair_weights, n_labels, most):
    """The best label sequences of the sentence begin to end: (log P of each, labels of each)."""
    n = end - begin
    width = weights.shape[1]
    emission = np.empty((n, width), dtype=np.float32)
    pairs = np.zeros((n, n_labels, width), dtype=np.float32)
    table_of = np.arange(n)
    one = np.float32(1.0)
    score_tokens(begin, end, features, weights, one, emission)
    if kind != MAXENT:
        score_pairs(begin, end, pair_features, pair_weights, one, n_labels, pairs)
    if kind == MEMM:
        memm_tables(n, n_labels, emission, pairs)
    scores = np.empty(most)
    paths = np.empty((most, n), dtype=np.int32)
    found = best_paths(emission, n, n_labels, pairs, table_of, most, scores, paths)
    tops = np.empty(n, dtype=np.float32)
    exponentiate(pairs, n, n_labels, pairs, tops)
    alpha = np.empty((n, width), dtype=np.float32)
    beta = np.empty((n, width), dtype=np.float32)
    scales = np.empty(n, dtype=np.float32)
    log_z = forward_backward(emission, n, n_labels, pairs, tops, table_of, alpha, beta, scales)
    return scores[:found] - log_z, paths[:found]
