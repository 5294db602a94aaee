"""A chain of labels: sums over all label sequences of a sentence, and the best ones.

A sentence of n tokens has a score for every label of every token (``emission``) and for every
pair of labels of neighbouring tokens (``pairs``: one table for all tokens, or one for each).
With E = exp(emission − max) and M = exp(pairs):

forward    α_t(l) = E_t(l) Σ_a α_{t−1}(a) M(a, l) / c_t,   c_t so that they add up to 1
backward   β_t(a) = Σ_l M(a, l) E_{t+1}(l) β_{t+1}(l) / c_{t+1}
marginals  P(y_t = l) = α_t(l) β_t(l)
           P(y_{t−1} = a, y_t = l) = α_{t−1}(a) M(a, l) E_t(l) β_t(l) / c_t

Labels are padded to the width of vector registers; M is 0 where a padding label takes part.

Numbers stay within what 32 bits hold: the largest score of a table is taken off before exp, and
pairs are never held to be less than e⁻⁴⁰ as likely as the likeliest.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

# Sums in whatever order is quick.  A kernel that is compiled so and called by other kernels is
# inlined: else which of its copies runs, and so the last bit, depends on what the cache has.
FAST = {"reassoc", "contract", "arcp", "nsz"}
LOWEST = np.float32(-40.0)


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def exponentiate(pairs, n, n_labels, tables, tops):
    """Write exp(pairs − top) of n tables to ``tables`` (which may be the same), top to ``tops``."""
    for t in range(n):
        top = pairs[t, 0, 0]
        for a in range(n_labels):
            for l in range(n_labels):  # noqa: E741
                top = max(top, pairs[t, a, l])
        tops[t] = top
        for a in range(n_labels):
            for l in range(n_labels):  # noqa: E741
                tables[t, a, l] = np.exp(max(pairs[t, a, l] - top, LOWEST))


@njit(cache=True, nogil=True, fastmath=FAST, forceinline=True)
def forward_backward(emission, n, n_labels, tables, tops, table_of, alpha, beta, scales):
    """Fill alpha and beta (n × width) and scales; give log Z.

    ``emission`` holds scores and is turned into E in place.  ``tables`` and ``tops`` are those of
    :func:`exponentiate`, and ``table_of[t]`` says which of them leads to token t.
    """
    width = emission.shape[1]
    log_z = 0.0
    for t in range(n):
        top = emission[t, 0]
        for l in range(1, n_labels):  # noqa: E741
            top = max(top, emission[t, l])
        for l in range(n_labels):  # noqa: E741
            emission[t, l] = np.exp(emission[t, l] - top)
        for l in range(n_labels, width):  # noqa: E741
            emission[t, l] = 0.0
        log_z += top
    for t in range(n):
        if t == 0:
            for l in range(width):  # noqa: E741
                alpha[0, l] = emission[0, l]
        else:
            table = table_of[t]
            log_z += tops[table]
            for l in range(width):  # noqa: E741
                alpha[t, l] = 0.0
            for a in range(n_labels):
                before = alpha[t - 1, a]
                for l in range(width):  # noqa: E741
                    alpha[t, l] += before * tables[table, a, l]
            for l in range(width):  # noqa: E741
                alpha[t, l] *= emission[t, l]
        total = np.float32(0.0)
        for l in range(width):  # noqa: E741
            total += alpha[t, l]
        # A token whose every path has underflowed would divide by zero.
        total = max(total, np.float32(1e-30))
        scales[t] = total
        log_z += np.log(total)
        share = np.float32(1.0) / total
        for l in range(width):  # noqa: E741
            alpha[t, l] *= share
    for l in range(width):  # noqa: E741
        beta[n - 1, l] = 1.0
    for t in range(n - 2, -1, -1):
        table = table_of[t + 1]
        share = np.float32(1.0) / scales[t + 1]
        # What follows, kept for a moment where beta of this token will stand.
        for a in range(n_labels):
            total = np.float32(0.0)
            for l in range(width):  # noqa: E741
                total += tables[table, a, l] * emission[t + 1, l] * beta[t + 1, l]
            beta[t, a] = total * share
        for l in range(n_labels, width):  # noqa: E741
            beta[t, l] = 0.0
    return log_z


@njit(cache=True, nogil=True)
def viterbi(emission, n, n_labels, pairs, table_of, allowed, best, back, path):
    """The best label sequence of a sentence, written to ``path``; give its score.

    ``pairs`` are scores (not exp), ``allowed`` says which labels a token may have (n × labels),
    or is empty.  Of equals the first label wins.
    """
    filtered = allowed.shape[0] > 0
    low = np.float32(-1e30)
    score = 0.0
    for t in range(n):
        if t == 0:
            for l in range(n_labels):  # noqa: E741
                best[0, l] = emission[0, l]
        else:
            table = table_of[t]
            for l in range(n_labels):  # noqa: E741
                best[t, l] = best[t - 1, 0] + pairs[table, 0, l]
                back[t, l] = 0
            for a in range(1, n_labels):
                before = best[t - 1, a]
                for l in range(n_labels):  # noqa: E741
                    there = before + pairs[table, a, l]
                    better = there > best[t, l]
                    best[t, l] = there if better else best[t, l]
                    back[t, l] = a if better else back[t, l]
            for l in range(n_labels):  # noqa: E741
                best[t, l] += emission[t, l]
        if filtered:
            for l in range(n_labels):  # noqa: E741
                if not allowed[t, l]:
                    best[t, l] = low
        # Scores count from the best: sums over a long text would round differences away.
        top = best[t, 0]
        for l in range(1, n_labels):  # noqa: E741
            top = max(top, best[t, l])
        for l in range(n_labels):  # noqa: E741
            best[t, l] -= top
        score += top
    last = 0
    for l in range(1, n_labels):  # noqa: E741
        if best[n - 1, l] > best[n - 1, last]:
            last = l
    for t in range(n - 1, -1, -1):
        path[t] = last
        if t:
            last = back[t, last]
    return score


@njit(cache=True, nogil=True)
def best_paths(emission, n, n_labels, pairs, table_of, most, scores, paths):
    """The ``most`` best label sequences, best first, to ``scores`` and ``paths``; how many exist.

    Each label of each token keeps its best ``most`` ways to get there.
    """
    best = np.full((n, n_labels, most), -np.inf)
    back = np.zeros((n, n_labels, most), dtype=np.int64)
    for t in range(n):
        for l in range(n_labels):  # noqa: E741
            if t == 0:
                best[0, l, 0] = emission[0, l]
                continue
            for a in range(n_labels):
                step = pairs[table_of[t], a, l] + emission[t, l]
                for rank in range(most):
                    score = best[t - 1, a, rank] + step
                    if not score > best[t, l, most - 1]:
                        break
                    place = most - 1
                    while place > 0 and score > best[t, l, place - 1]:
                        best[t, l, place] = best[t, l, place - 1]
                        back[t, l, place] = back[t, l, place - 1]
                        place -= 1
                    best[t, l, place] = score
                    back[t, l, place] = a * most + rank
    taken = np.zeros(n_labels, dtype=np.int64)
    found = 0
    while found < most:
        top = -1
        for l in range(n_labels):  # noqa: E741
            there = taken[l] < most and best[n - 1, l, taken[l]] > -np.inf
            if there and (top < 0 or best[n - 1, l, taken[l]] > best[n - 1, top, taken[top]]):
                top = l
        if top < 0:
            break
        label, rank = top, taken[top]
        taken[top] += 1
        scores[found] = best[n - 1, label, rank]
        for t in range(n - 1, -1, -1):
            paths[found, t] = label
            if t:
                label, rank = divmod(back[t, label, rank], most)
        found += 1
    return found
