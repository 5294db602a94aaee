"""Training of log-linear sequence models: maximum entropy, MEMM and CRF.

All three score a label of a token by the weights of the token's features.  They differ in what
they know of the label before it:

maximum entropy  P(y_t | x) ∝ exp(emission_t(y_t))
MEMM             P(y_t | y_{t−1}, x) ∝ exp(emission_t(y_t) + pairs_t(y_{t−1}, y_t))
CRF              P(y | x) ∝ exp(Σ_t emission_t(y_t) + pairs_t(y_{t−1}, y_t))

``weights`` is (features, width), a row of label weights for each feature; ``pair_weights`` is
(pair features, labels, width).  Pair feature 0 holds at every token but a sentence's first.

Training is stochastic gradient descent over mini-batches of sentences.  A batch goes in two
steps.  First the gradients of the sentences are found with the weights as they are, in a fixed
number of pieces that any number of threads may share.  Then they are taken from the weights, each
row of which is changed by one thread alone, sentence by sentence.  So every sum has its order, and
threads change the time and nothing else.  The L2 penalty is a common factor of all weights, so a
step touches only the rows of features that appear.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.chain import FAST, exponentiate, forward_backward
from featloom.kernels.compiled import njit

MAXENT, MEMM, CRF = range(3)
PIECES = 4


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def score_tokens(begin, end, features, weights, scale, emission):
    """Emission scores of the tokens begin to end: the sum of their features' rows."""
    width = weights.shape[1]
    for i in range(begin, end):
        t = i - begin
        for l in range(width):  # noqa: E741
            emission[t, l] = 0.0
        for c in range(features.shape[1]):
            f = features[i, c]
            if f >= 0:
                for l in range(width):  # noqa: E741
                    emission[t, l] += weights[f, l]
        for l in range(width):  # noqa: E741
            emission[t, l] *= scale


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def score_pairs(begin, end, pair_features, pair_weights, scale, n_labels, tables):
    """Scores of label pairs of each token, where observations take part in them."""
    width = tables.shape[2]
    for i in range(begin, end):
        t = i - begin
        for a in range(n_labels):
            for l in range(width):  # noqa: E741
                tables[t, a, l] = 0.0
            for c in range(pair_features.shape[1]):
                f = pair_features[i, c]
                if f >= 0:
                    for l in range(width):  # noqa: E741
                        tables[t, a, l] += pair_weights[f, a, l]
            for l in range(width):  # noqa: E741
                tables[t, a, l] *= scale


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def softmax_row(scores, n_labels):
    """Turn a row of scores into probabilities in place; give log Σ exp."""
    top = scores[0]
    for l in range(1, n_labels):  # noqa: E741
        top = max(top, scores[l])
    total = np.float32(0.0)
    for l in range(n_labels):  # noqa: E741
        scores[l] = np.exp(scores[l] - top)
        total += scores[l]
    share = np.float32(1.0) / total
    for l in range(n_labels):  # noqa: E741
        scores[l] *= share
    for l in range(n_labels, len(scores)):  # noqa: E741
        scores[l] = 0.0
    return top + np.log(total)


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def crf_gradient(
    n, n_labels, gold, emission, pairs, tables, tops, table_of, alpha, beta, scales, pair_gradient
):
    """Turn emission scores into P(label) − gold in place; give the loss −log P(gold).

    ``pairs`` are scores, ``tables`` and ``tops`` their exponentials; what P(label pair) − gold
    comes to is added to ``pair_gradient[table_of[t]]``.
    """
    width = emission.shape[1]
    score = np.float64(emission[0, gold[0]])
    for t in range(1, n):
        score += emission[t, gold[t]] + pairs[table_of[t], gold[t - 1], gold[t]]
    log_z = forward_backward(emission, n, n_labels, tables, tops, table_of, alpha, beta, scales)
    for t in range(1, n):
        table = table_of[t]
        share = np.float32(1.0) / scales[t]
        # E β of this token, in the row that alpha's successor no longer needs.
        for l in range(width):  # noqa: E741
            emission[t, l] *= beta[t, l] * share
        for a in range(n_labels):
            before = alpha[t - 1, a]
            for l in range(width):  # noqa: E741
                pair_gradient[table, a, l] += before * tables[table, a, l] * emission[t, l]
        pair_gradient[table, gold[t - 1], gold[t]] -= 1.0
    for t in range(n):
        for l in range(width):  # noqa: E741
            emission[t, l] = alpha[t, l] * beta[t, l]
        emission[t, gold[t]] -= 1.0
    return log_z - score


@njit(cache=True, nogil=True, fastmath=FAST)
def sentence_step(
    kind,
    first,
    last,
    piece_from,
    piece_step,
    order,
    starts,
    bounds,
    features,
    pair_features,
    labels,
    weights,
    pair_weights,
    scale,
    n_labels,
    gradient,
    pairs,
    tables,
    pair_gradient,
    alpha,
    beta,
    scales,
    tops,
    losses,
):
    """The gradients of the sentences of one batch, those of some pieces.

    Sentence s of the pass is ``order[s]``; its tokens have rows ``starts[s]`` to
    ``starts[s + 1]``, less ``starts[first]``, of ``gradient``.  Where label pairs depend on
    observations, ``pairs``, ``tables`` and ``pair_gradient`` have a table for each row as well,
    else one for each piece.
    """
    n_pair_columns = pair_features.shape[1]
    width = weights.shape[1]
    conditioned = kind == CRF and n_pair_columns > 1
    if kind == CRF and not conditioned:
        for piece in range(piece_from, PIECES, piece_step):
            for a in range(n_labels):
                for l in range(n_labels):  # noqa: E741
                    pairs[piece, a, l] = scale * pair_weights[0, a, l]
                for l in range(width):  # noqa: E741
                    pair_gradient[piece, a, l] = 0.0
            mine = slice(piece, piece + 1)
            exponentiate(pairs[mine], 1, n_labels, tables[mine], tops[mine])
    for piece in range(piece_from, PIECES, piece_step):
        for s in range(first + piece, last, PIECES):
            begin, end = bounds[order[s]], bounds[order[s] + 1]
            n = end - begin
            if n == 0:
                continue
            slot = starts[s] - starts[first]
            rows = gradient[slot : slot + n]
            gold = labels[begin:end]
            score_tokens(begin, end, features, weights, scale, rows)
            if conditioned:
                mine = slice(slot, slot + n)
                score_pairs(begin, end, pair_features, pair_weights, scale, n_labels, pairs[mine])
                exponentiate(pairs[mine], n, n_labels, tables[mine], tops[mine])
                for row in range(slot, slot + n):
                    for a in range(n_labels):
                        for l in range(width):  # noqa: E741
                            pair_gradient[row, a, l] = 0.0
                losses[piece] += crf_gradient(
                    n, n_labels, gold, rows, pairs[mine], tables[mine], tops[mine], np.arange(n),
                    alpha[piece], beta[piece], scales[piece], pair_gradient[mine],
                )  # fmt: skip
            elif kind == CRF:
                mine = slice(piece, piece + 1)
                losses[piece] += crf_gradient(
                    n, n_labels, gold, rows, pairs[mine], tables[mine], tops[mine],
                    np.zeros(n, dtype=np.int64), alpha[piece], beta[piece], scales[piece],
                    pair_gradient[mine],
                )  # fmt: skip
            else:
                for t in range(n):
                    if kind == MEMM and t > 0:
                        for c in range(n_pair_columns):
                            f = pair_features[begin + t, c]
                            if f >= 0:
                                for l in range(width):  # noqa: E741
                                    rows[t, l] += scale * pair_weights[f, gold[t - 1], l]
                    score = np.float64(rows[t, gold[t]])
                    losses[piece] += softmax_row(rows[t], n_labels) - score
                    rows[t, gold[t]] -= 1.0


@njit(cache=True, nogil=True, fastmath=FAST)
def feature_step(
    kind,
    first,
    last,
    begin_mine,
    end_mine,
    begin_pairs,
    end_pairs,
    order,
    starts,
    bounds,
    features,
    pair_features,
    labels,
    weights,
    pair_weights,
    step,
    n_labels,
    gradient,
    pair_gradient,
):
    """Take the gradients of one batch from the weights of some features and pair features."""
    n_columns, n_pair_columns = features.shape[1], pair_features.shape[1]
    width = weights.shape[1]
    for s in range(first, last):
        begin = bounds[order[s]]
        slot = starts[s] - starts[first]
        for t in range(bounds[order[s] + 1] - begin):
            for c in range(n_columns):
                f = features[begin + t, c]
                if begin_mine <= f < end_mine:
                    for l in range(width):  # noqa: E741
                        weights[f, l] -= step * gradient[slot + t, l]
    if kind == MAXENT:
        return
    if kind == CRF and n_pair_columns == 1:
        if begin_pairs == 0 and end_pairs > 0:
            for piece in range(PIECES):
                for a in range(n_labels):
                    for l in range(n_labels):  # noqa: E741
                        pair_weights[0, a, l] -= step * pair_gradient[piece, a, l]
        return
    for s in range(first, last):
        begin = bounds[order[s]]
        slot = starts[s] - starts[first]
        for t in range(1, bounds[order[s] + 1] - begin):
            for c in range(n_pair_columns):
                f = pair_features[begin + t, c]
                if f < begin_pairs or f >= end_pairs:
                    continue
                if kind == MEMM:
                    a = labels[begin + t - 1]
                    for l in range(width):  # noqa: E741
                        pair_weights[f, a, l] -= step * gradient[slot + t, l]
                else:
                    for a in range(n_labels):
                        for l in range(width):  # noqa: E741
                            pair_weights[f, a, l] -= step * pair_gradient[slot + t, a, l]
