"""The vote of the nearest instances, for every k at once.

The instances at each of the nearest distances come as a histogram of classes, the nearest first:
cells ``cell_start[i]`` to ``cell_start[i + 1]`` belong to distance i.  For k = 1, 2, 3, … the
histograms are added up, each times the weight of its distance, and the class with the most votes
wins.  Of a tie the class that is more frequent in training wins, then the one seen first; with
``try_next`` a tie is first looked at again with one distance more, and if that decides, its
answer stands.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

COUNT, INVERSE_DISTANCE, INVERSE_LINEAR, EXPONENTIAL = range(4)
_EPSILON = 2.220446049250313e-16


@njit(cache=True, nogil=True)
def vote_weight(kind, decay, distance, nearest, farthest):
    """What a neighbour's vote counts.

    count 1 · inverse distance 1 / (d + ε) · inverse linear (d_k − d) / (d_k − d_1), 1 where they
    are equal · exponential exp(−a d)
    """
    if kind == INVERSE_DISTANCE:
        return 1.0 / (distance + _EPSILON)
    if kind == INVERSE_LINEAR:
        return (farthest - distance) / (farthest - nearest) if farthest > nearest else 1.0
    if kind == EXPONENTIAL:
        return np.exp(-decay * distance)
    return 1.0


@njit(cache=True, nogil=True)
def decide(
    n_found,
    n_sought,
    best,
    cell_start,
    cell_class,
    cell_count,
    class_totals,
    levels,
    vote,
    decay,
    try_next,
    tally,
    met,
    winner,
    tied,
    rests_on,
    answers,
):
    """Write the class of one query for each of the levels, and how many distances it rests on.

    ``answers[level]`` is the class, or -1 - class where a tie should be looked at with more
    distances than the ``n_sought`` that were sought.  ``tally`` must be all zeros, and is so
    again afterwards; ``met``, ``winner`` and ``tied`` are room to work in.
    """
    n_met = 0
    highest = min(n_found, levels[len(levels) - 1] + 1)
    for i in range(highest):
        first_added = i
        if vote == INVERSE_LINEAR:
            for m in range(n_met):
                tally[met[m]] = 0.0
            n_met = 0
            first_added = 0
        for added in range(first_added, i + 1):
            weight = vote_weight(vote, decay, best[added], best[0], best[i])
            for cell in range(cell_start[added], cell_start[added + 1]):
                label = cell_class[cell]
                known = tally[label] != 0.0
                if not known:
                    for m in range(n_met):
                        known = known or met[m] == label
                if not known:
                    met[n_met] = label
                    n_met += 1
                tally[label] += weight * cell_count[cell]
        top, most, n_top = met[0], -1.0, 0
        for m in range(n_met):
            label = met[m]
            if tally[label] > most:
                top, most, n_top = label, tally[label], 1
            elif tally[label] == most:
                n_top += 1
                if class_totals[label] > class_totals[top] or (
                    class_totals[label] == class_totals[top] and label < top
                ):
                    top = label
        winner[i] = top
        tied[i] = n_top > 1
    for m in range(n_met):
        tally[met[m]] = 0.0
    for level in range(len(levels)):
        last = min(levels[level], n_found) - 1
        rests_on[level] = last + 1
        answer = winner[last]
        if try_next and tied[last]:
            if last + 1 < n_found:
                if not tied[last + 1]:
                    rests_on[level] = last + 2
                    answer = winner[last + 1]
            elif n_found == n_sought:
                answer = -1 - answer
        answers[level] = answer


@njit(cache=True, nogil=True)
def decide_all(
    n_found,
    n_sought,
    best,
    cell_start,
    cell_class,
    cell_count,
    class_totals,
    levels,
    kinds,
    decay,
    try_next,
    tally,
    met,
    winner,
    tied,
    rests_on,
    answers,
    votes,
    q,
):
    """Let the same neighbours of query ``q`` vote in several ways, for each of the levels.

    ``answers`` is (queries, kinds, levels); ``votes``, (queries, kinds, levels, classes), or
    empty, gets what each class has, summed up over the distances that the answer rests on.
    """
    for k in range(len(kinds)):
        kind = kinds[k]
        decide(
            n_found, n_sought, best, cell_start, cell_class, cell_count, class_totals, levels,
            kind, decay, try_next, tally, met, winner, tied, rests_on, answers[q, k],
        )  # fmt: skip
        if votes.shape[0] == 0:
            continue
        for level in range(len(levels)):
            n = rests_on[level]
            for i in range(n):
                weight = vote_weight(kind, decay, best[i], best[0], best[n - 1])
                for cell in range(cell_start[i], cell_start[i + 1]):
                    votes[q, k, level, cell_class[cell]] += weight * cell_count[cell]
