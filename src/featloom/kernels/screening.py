"""What would a template bring?  One Newton step for its features, on words the model finds hard.

A model gives token t the probability p_t(l) of label l.  A new template gives the token a feature
f.  Were the weights of f to be learned with all else held fixed, the first Newton step from zero
would set them to

    δ(f, l) = ½ Σ_t (y_t(l) − p_t(l)) / (Σ_t p_t(l) (1 − p_t(l)) + damping)

over the tokens with feature f, y_t(l) being 1 for the true label and 0 for the others.  The half
is there because the labels move together: what the likeliest gains its rival loses.  The
template's gain is what the step takes off the loss of other tokens,

    gain = Σ_t [δ(f_t, y_t) − log Σ_l p_t(l) exp δ(f_t, l)].

The two sums are over different tokens, and p is always that of a model which has seen neither.
Of each token only its few likeliest labels are kept, the true one first, and of all tokens only
those that the model is not sure of: first the tokens that steps are taken on, then the judged.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.chain import FAST
from featloom.kernels.compiled import njit
from featloom.kernels.templates import mix

LONGEST = np.float32(3.0)  # step, where a parabola no longer looks like the loss


@njit(cache=True, nogil=True)
def place_codes(codes, bounds, sentence_of, tokens, offset, n_values, reach):
    """What stands at one place of the given tokens: codes, or marks beyond the sentence's ends."""
    found = np.empty(len(tokens), dtype=np.int32)
    for i in range(len(tokens)):
        begin, end = bounds[sentence_of[i]], bounds[sentence_of[i] + 1]
        at = tokens[i] + offset
        if at < begin:
            found[i] = n_values + (begin - at) - 1
        elif at >= end:
            found[i] = n_values + reach + (at - end)
        else:
            found[i] = codes[at]
    return found


@njit(cache=True, nogil=True)
def join_codes(places, radixes):
    """One key for each token, of what stands at its places: int64 (tokens,)."""
    keys = np.empty(places.shape[1], dtype=np.int64)
    for i in range(places.shape[1]):
        key = np.int64(0)
        for j in range(places.shape[0]):
            key = key * radixes[j] + places[j, i]
        keys[i] = key
    return keys


@njit(cache=True, nogil=True)
def likeliest_labels(mean, gold, most):
    """The likeliest labels of each token, the true one among them: int8 (tokens, most).

    The true label stands first; after it the others, likeliest first.
    """
    n, n_labels = mean.shape
    found = np.empty((n, most), dtype=np.int8)
    for i in range(n):
        found[i, 0] = gold[i]
        for rank in range(1, most):
            best = -1
            for l in range(n_labels):  # noqa: E741
                taken = False
                for before in range(rank):
                    if found[i, before] == l:
                        taken = True
                if not taken and (best < 0 or mean[i, l] > mean[i, best]):
                    best = l
            found[i, rank] = best
    return found


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def newton_steps(keys, numbered_from, learned, labels, shares, n_labels, damping):
    """Features of the tokens from ``numbered_from`` on, and steps of these features.

    Steps are taken on the tokens before ``learned``; ``shares[t]`` are the probabilities of the
    labels ``labels[t]`` of token t.  Gives (features, steps (features, labels)).
    """
    n = len(keys) - numbered_from
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    known = np.empty(n, dtype=np.int64)
    features = np.empty(n, dtype=np.int32)
    n_features = 0
    for i in range(n):
        key = keys[numbered_from + i]
        slot = mix(key) & mask
        while slots[slot] >= 0 and known[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = n_features
            known[n_features] = key
            n_features += 1
        features[i] = slots[slot]
    steps = np.zeros((n_features, n_labels), dtype=np.float32)
    curvature = np.full((n_features, n_labels), damping, dtype=np.float32)
    for i in range(learned):
        key = keys[i]
        slot = mix(key) & mask
        while slots[slot] >= 0 and known[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        f = slots[slot]
        if f < 0:
            continue
        steps[f, labels[i, 0]] += 1.0
        for c in range(labels.shape[1]):
            share = shares[i, c]
            steps[f, labels[i, c]] -= share
            curvature[f, labels[i, c]] += share * (1 - share)
    for f in range(n_features):
        for l in range(n_labels):  # noqa: E741
            step = np.float32(0.5) * steps[f, l] / curvature[f, l]
            steps[f, l] = min(max(step, -LONGEST), LONGEST)
    return features, steps


@njit(cache=True, nogil=True)
def template_gain(keys, learned, labels, shares, n_labels, damping):
    """What a template takes off the loss of the tokens from ``learned`` on; its standard error."""
    features, steps = newton_steps(keys, learned, learned, labels, shares, n_labels, damping)
    gain, squares = 0.0, 0.0
    for i in range(learned, len(keys)):
        step = steps[features[i - learned]]
        rest, total = np.float32(1.0), np.float32(0.0)
        for c in range(labels.shape[1]):
            total += shares[i, c] * np.exp(step[labels[i, c]])
            rest -= shares[i, c]
        one = step[labels[i, 0]] - np.log(total + max(rest, np.float32(0.0)))
        gain += one
        squares += one * one
    return gain, np.sqrt(squares)


@njit(cache=True, nogil=True)
def take_steps(keys, learned, labels, shares, n_labels, damping):
    """Move the probabilities, in place, as if a template had been learned."""
    features, steps = newton_steps(keys, 0, learned, labels, shares, n_labels, damping)
    for i in range(len(keys)):
        step = steps[features[i]]
        rest, total = np.float32(1.0), np.float32(0.0)
        for c in range(labels.shape[1]):
            rest -= shares[i, c]
            shares[i, c] *= np.exp(step[labels[i, c]])
            total += shares[i, c]
        total += max(rest, np.float32(0.0))
        for c in range(labels.shape[1]):
            shares[i, c] = max(shares[i, c] / total, np.float32(1e-7))
