"""The nearest instances of a memory, and their vote, by comparing a query with all of them.

Where no two instances are alike and no feature decides, the walk over a trie
(:mod:`featloom.kernels.nearest`) leaves next to nothing aside, and every step of it waits for the
one before.  Then it is faster to add up the distances of all instances, feature by feature, eight
or more instances in one instruction: the values of a feature lie side by side.

Costs are added in the order of the trie's features, so a distance is the same number to the last
bit as that of the walk, and so are answers and votes.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.value_difference import value_costs
from featloom.kernels.votes import decide_all

_TILE = 1024  # instances whose distances stay in the nearest cache while features are added
_CHUNK = 64  # instances that are passed over together where none is near


@njit(cache=True, nogil=True)
def all_distances(columns, first, last, query, weights, is_mvdm, value_start, cost, near):
    """Write the distances of the instances from ``first`` to ``last`` to ``near``.

    ``columns`` is (features, instances); ``cost`` says what each value of each feature costs.
    """
    n_features, n = len(columns), last - first
    for i in range(n):
        near[i] = 0.0
    j = 0
    while j < n_features:
        # Four features in one go, where they are compared by overlap: fewer loads and stores.
        if j + 4 <= n_features and not (
            is_mvdm[j] or is_mvdm[j + 1] or is_mvdm[j + 2] or is_mvdm[j + 3]
        ):
            c0, c1 = columns[j, first:last], columns[j + 1, first:last]
            c2, c3 = columns[j + 2, first:last], columns[j + 3, first:last]
            v0, v1, v2, v3 = query[j], query[j + 1], query[j + 2], query[j + 3]
            w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
            # A value that is unknown agrees with nothing.
            e0, e1 = 0.0 if v0 > 0 else w0, 0.0 if v1 > 0 else w1
            e2, e3 = 0.0 if v2 > 0 else w2, 0.0 if v3 > 0 else w3
            for i in range(n):
                d = near[i] + (e0 if c0[i] == v0 else w0)
                d += e1 if c1[i] == v1 else w1
                d += e2 if c2[i] == v2 else w2
                d += e3 if c3[i] == v3 else w3
                near[i] = d
            j += 4
            continue
        column = columns[j, first:last]
        if is_mvdm[j]:
            of_value = cost[value_start[j] : value_start[j + 1]]
            for i in range(n):
                near[i] += of_value[column[i]]
        else:
            value, weight = query[j], weights[j]
            equal = 0.0 if value > 0 else weight
            for i in range(n):
                near[i] += equal if column[i] == value else weight
        j += 1


@njit(cache=True, nogil=True)
def _any_within(near, first, last, bound):
    n = 0
    for i in range(first, last):
        n += near[i] <= bound
    return n > 0


@njit(cache=True, nogil=True)
def all_cases_classes(
    queries,
    query_order,
    columns,
    hist_start,
    hist_class,
    hist_count,
    weights,
    is_mvdm,
    value_start,
    row_start,
    rows,
    dist_start,
    dist_class,
    dist_share,
    frequent,
    class_totals,
    n_distances,
    levels,
    kinds,
    decay,
    try_next,
    tolerance,
    answers,
    votes,
    distances,
):
    """Find the nearest distances of each query and let the instances there vote.

    ``columns`` holds the codes of the leaves, (features, leaves).  The other arguments, and what
    is written, are those of :func:`featloom.kernels.nearest.nearest_classes`.
    """
    n_features, n_leaves = columns.shape
    n_classes = len(class_totals)
    cost = np.empty(value_start[n_features])
    for j in range(n_features):
        for value in range(value_start[j], value_start[j + 1]):
            cost[value] = weights[j]
    at_value = np.full(n_features, -1, dtype=np.int64)
    cheapest = np.zeros(n_features)
    dense = np.zeros(n_classes)
    near = np.empty(_TILE)
    best = np.empty(n_distances)
    reach = np.empty(n_distances)  # the farthest that still counts as that distance
    # How often each class is met at each distance, and which are, in a slot for each distance.
    slot_of = np.arange(n_distances)
    counts = np.zeros((n_distances, n_classes), dtype=np.int64)
    labels_met = np.empty((n_distances, n_classes), dtype=np.int32)
    n_labels = np.zeros(n_distances, dtype=np.int64)
    tally = np.zeros(n_classes)
    met = np.empty(n_classes, dtype=np.int32)
    cell_start = np.empty(n_distances + 2, dtype=np.int64)
    cell_class = np.empty((n_distances + 1) * n_classes, dtype=np.int32)
    cell_count = np.empty((n_distances + 1) * n_classes, dtype=np.int64)
    winner = np.empty(n_distances + 1, dtype=np.int32)
    tied = np.empty(n_distances + 1, dtype=np.bool_)
    rests_on = np.empty(len(levels), dtype=np.int64)
    for place in range(len(query_order)):
        q = query_order[place]
        value_costs(
            queries[q], weights, is_mvdm, value_start, row_start, rows, dist_start, dist_class,
            dist_share, frequent, dense, at_value, cost, cheapest, cheapest,
        )  # fmt: skip
        # 1. The nearest distances, tile by tile, and the classes of the instances at each.
        bound = np.inf
        n_found = 0
        for first in range(0, n_leaves, _TILE):
            last = min(first + _TILE, n_leaves)
            all_distances(
                columns, first, last, queries[q], weights, is_mvdm, value_start, cost, near
            )
            for begin in range(0, last - first, _CHUNK):
                end = min(begin + _CHUNK, last - first)
                if not _any_within(near, begin, end, bound):
                    continue
                for i in range(begin, end):
                    d = near[i]
                    if d > bound:
                        continue
                    spot = 0
                    for rank in range(n_found):
                        spot += d > reach[rank]
                    if spot == n_found or best[spot] > d + tolerance:
                        if spot == n_distances:
                            continue
                        # A new distance: the farthest makes room, or a slot not yet in use.
                        farthest = min(n_found, n_distances - 1)
                        slot = slot_of[farthest]
                        if n_found == n_distances:
                            for m in range(n_labels[slot]):
                                counts[slot, labels_met[slot, m]] = 0
                            n_labels[slot] = 0
                        else:
                            n_found += 1
                        for shifted in range(farthest, spot, -1):
                            best[shifted] = best[shifted - 1]
                            reach[shifted] = reach[shifted - 1]
                            slot_of[shifted] = slot_of[shifted - 1]
                        best[spot] = d
                        reach[spot] = d + tolerance
                        slot_of[spot] = slot
                        if n_found == n_distances:
                            bound = reach[n_found - 1]
                    elif d < best[spot]:  # the least of them stands for all
                        best[spot] = d
                    slot = slot_of[spot]
                    leaf = first + i
                    for cell in range(hist_start[leaf], hist_start[leaf + 1]):
                        label = hist_class[cell]
                        if counts[slot, label] == 0:
                            labels_met[slot, n_labels[slot]] = label
                            n_labels[slot] += 1
                        counts[slot, label] += hist_count[cell]
        n_cells = 0
        for rank in range(n_found):
            cell_start[rank] = n_cells
            slot = slot_of[rank]
            for m in range(n_labels[slot]):
                label = labels_met[slot, m]
                cell_class[n_cells] = label
                cell_count[n_cells] = counts[slot, label]
                counts[slot, label] = 0
                n_cells += 1
            n_labels[slot] = 0
        cell_start[n_found] = n_cells
        # 2. Their vote.
        decide_all(
            n_found, n_distances, best, cell_start, cell_class, cell_count, class_totals, levels,
            kinds, decay, try_next, tally, met, winner, tied, rests_on, answers, votes, q,
        )  # fmt: skip
        if distances.shape[0]:
            for i in range(n_found):
                distances[q, i] = best[i]
