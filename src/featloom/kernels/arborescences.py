"""The best tree over the tokens of a sentence, given a score for every head and modifier.

``scores[h, m]`` is the score of token h as the head of token m; position 0 is the root, which has
no head.  Eisner's algorithm finds the best projective tree (no two arcs cross) in n³ steps, the
algorithm of Chu, Liu and Edmonds the best tree of all in n² (contraction by Tarjan's way).
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

# What an arc costs that is not among the candidates, and what a second root costs: so much that
# either is taken only where there is no tree without it, and a root only after all such arcs.
MISSING = -1e6
SECOND_ROOT = -1e9
_NEVER = -1e15


@njit(cache=True, nogil=True)
def eisner(scores, single_root, heads):
    """Fill ``heads`` with the best projective tree.

    With C→ and C← for complete spans (the arc's end has all its modifiers), I→ and I← for
    incomplete ones: I[s,t] = max_r C→[s,r] + C←[r+1,t] + score of the arc between s and t,
    C→[s,t] = max_r I→[s,r] + C→[r,t], C←[s,t] = max_r C←[s,r] + I←[r,t].  With one root the
    spans are those of the tokens alone, and the root takes the token r that maximises
    C←[1,r] + C→[r,n] + scores[0,r].
    """
    n = len(scores)
    first = 1 if single_root else 0
    # Spans that begin at s in row s (right) and spans that end at t in row t (left), so that the
    # inner loops walk along rows.
    right = np.zeros((n, n))
    left = np.zeros((n, n))
    open_right = np.zeros((n, n))
    open_left = np.zeros((n, n))
    cut = np.zeros((n, n), dtype=np.int32)
    cut_right = np.zeros((n, n), dtype=np.int32)
    cut_left = np.zeros((n, n), dtype=np.int32)
    for width in range(1, n - first):
        for s in range(first, n - width):
            t = s + width
            best = _NEVER
            at = s
            for r in range(s, t):
                value = right[s, r] + left[t, r + 1]
                if value > best:
                    best = value
                    at = r
            cut[s, t] = at
            open_right[s, t] = best + scores[s, t]
            open_left[t, s] = best + scores[t, s] if s > 0 else _NEVER
            best = _NEVER
            at = t
            for r in range(s + 1, t + 1):
                value = open_right[s, r] + right[r, t]
                if value > best:
                    best = value
                    at = r
            right[s, t] = best
            cut_right[s, t] = at
            best = _NEVER
            at = s
            for r in range(s, t):
                value = left[r, s] + open_left[t, r]
                if value > best:
                    best = value
                    at = r
            left[t, s] = best
            cut_left[s, t] = at
    heads[0] = -1
    spans = np.empty((4 * n + 4, 3), dtype=np.int32)  # (from, to, kind)
    n_spans = 0
    if single_root:
        best = _NEVER * 2
        at = 1
        for r in range(1, n):
            value = left[r, 1] + right[r, n - 1] + scores[0, r]
            if value > best:
                best = value
                at = r
        if n > 1:
            heads[at] = 0
        spans[0, 0], spans[0, 1], spans[0, 2] = 1, at, 1
        spans[1, 0], spans[1, 1], spans[1, 2] = at, n - 1, 0
        n_spans = 2
    else:
        spans[0, 0], spans[0, 1], spans[0, 2] = 0, n - 1, 0
        n_spans = 1
    while n_spans:
        n_spans -= 1
        s, t, kind = spans[n_spans, 0], spans[n_spans, 1], spans[n_spans, 2]
        if s >= t:
            continue
        if kind == 0:  # complete, headed by s
            r = cut_right[s, t]
            heads[r] = s
            inner = cut[s, r]
            spans[n_spans, 0], spans[n_spans, 1], spans[n_spans, 2] = s, inner, 0
            spans[n_spans + 1, 0], spans[n_spans + 1, 1], spans[n_spans + 1, 2] = inner + 1, r, 1
            spans[n_spans + 2, 0], spans[n_spans + 2, 1], spans[n_spans + 2, 2] = r, t, 0
        else:  # complete, headed by t
            r = cut_left[s, t]
            heads[r] = t
            inner = cut[r, t]
            spans[n_spans, 0], spans[n_spans, 1], spans[n_spans, 2] = s, r, 1
            spans[n_spans + 1, 0], spans[n_spans + 1, 1], spans[n_spans + 1, 2] = r, inner, 0
            spans[n_spans + 2, 0], spans[n_spans + 2, 1], spans[n_spans + 2, 2] = inner + 1, t, 1
        n_spans += 3


@njit(cache=True, nogil=True)
def chu_liu_edmonds(scores, single_root, heads):
    """Fill ``heads`` with the best tree, whether its arcs cross or not.

    Every token takes its best head; a cycle is contracted to one node whose best entry is the
    one that loses least against the cycle's own arc there, and so on; then cycles are opened at
    the tokens where they are entered.
    """
    n = len(scores)
    n_nodes = n
    value = np.full((2 * n, n), _NEVER)  # of the best arc from a token into a node, as adjusted
    entry = np.zeros((2 * n, n), dtype=np.int32)  # the token where that arc ends
    top = np.arange(n)  # the outermost node that a token is in
    inside = np.full(2 * n, -1)  # the node that a node was contracted into
    source = np.full(2 * n, -1)  # of the arc chosen for a node
    target = np.full(2 * n, -1)
    loss = np.zeros(2 * n)
    done = np.zeros(2 * n, dtype=np.bool_)
    on_path = np.zeros(2 * n, dtype=np.bool_)
    path = np.empty(2 * n, dtype=np.int32)
    for m in range(1, n):
        for h in range(n):
            value[m, h] = scores[h, m]
            entry[m, h] = m
        if single_root:
            value[m, 0] += SECOND_ROOT
    done[0] = True
    for start in range(1, n):
        if done[top[start]]:
            continue
        node = top[start]
        length = 1
        path[0] = node
        on_path[node] = True
        while True:
            best = 4 * SECOND_ROOT + _NEVER
            u = 0
            for h in range(n):
                if top[h] != node and value[node, h] > best:
                    best = value[node, h]
                    u = h
            source[node], target[node], loss[node] = u, entry[node, u], best
            before = top[u]
            if done[before]:
                break
            if not on_path[before]:
                path[length] = before
                on_path[before] = True
                length += 1
                node = before
                continue
            new = n_nodes
            n_nodes += 1
            for h in range(n):
                value[new, h] = 2 * _NEVER
            while True:
                length -= 1
                member = path[length]
                on_path[member] = False
                inside[member] = new
                for h in range(n):
                    adjusted = value[member, h] - loss[member]
                    if adjusted > value[new, h]:
                        value[new, h] = adjusted
                        entry[new, h] = entry[member, h]
                if member == before:
                    break
            for h in range(n):
                if inside[top[h]] == new:
                    top[h] = new
            path[length] = new
            on_path[new] = True
            length += 1
            node = new
        for i in range(length):
            done[path[i]] = True
            on_path[path[i]] = False
    for node in range(n_nodes - 1, n - 1, -1):
        # The member of the cycle that holds the token where the cycle is entered.
        member = target[node]
        while inside[member] != node:
            member = inside[member]
        source[member], target[member] = source[node], target[node]
    heads[0] = -1
    for m in range(1, n):
        heads[m] = source[m]
