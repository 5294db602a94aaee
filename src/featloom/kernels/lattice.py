"""The lattice of feature subsets: every overlap setting of a memory from one index.

Where features are compared by overlap, the distance of an instance depends only on the *set* of
features in which it agrees with the query.  For each set S the lattice holds h(S), the classes of
the instances that agree at least in S, for every query.  Those that agree in S and nowhere else
follow by Möbius inversion, here as a recursion from the larger sets to the smaller:

e(S) = h(S) − Σ e(T) over the sets T that contain S

Which distance S stands for depends on the weights and on the features in use; h does not.  So one
lattice answers every weight, every subset of the features and every k.  A few features more may
stand beside the lattice and be compared by MVDM: h(S) is then kept for each combination of their
values.

Projections (the values of a query in S) are numbered set by set: that of S is the number of the
projection without the last feature, paired with the value of that feature.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.votes import decide_all


@njit(cache=True, nogil=True)
def extend_projections(query_ids, query_values, leaf_ids, leaf_values, n_ids):
    """Number the projections with one feature more: (query ids, leaf ids, how many).

    Only projections that some query has are numbered; a leaf with none of them gets -1.  A value
    of 0 is unknown and agrees with nothing.
    """
    n_queries = len(query_ids)
    size = 16
    while size < 2 * n_queries:
        size *= 2
    mask = np.uint64(size - 1)
    keys = np.full(size, -1, dtype=np.int64)
    numbers = np.empty(size, dtype=np.int32)
    new_query_ids = np.full(n_queries, -1, dtype=np.int32)
    new_leaf_ids = np.full(len(leaf_ids), -1, dtype=np.int32)
    n_new = 0
    for q in range(n_queries):
        if query_ids[q] < 0 or query_values[q] == 0:
            continue
        key = np.int64(query_values[q]) * n_ids + query_ids[q]
        slot = _slot(key) & mask
        while keys[slot] != key and keys[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        if keys[slot] < 0:
            keys[slot] = key
            numbers[slot] = n_new
            n_new += 1
        new_query_ids[q] = numbers[slot]
    for leaf in range(len(leaf_ids)):
        if leaf_ids[leaf] < 0 or leaf_values[leaf] == 0:
            continue
        key = np.int64(leaf_values[leaf]) * n_ids + leaf_ids[leaf]
        slot = _slot(key) & mask
        while keys[slot] != key and keys[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        if keys[slot] == key:
            new_leaf_ids[leaf] = numbers[slot]
    return new_query_ids, new_leaf_ids, n_new


@njit(cache=True, nogil=True)
def _slot(key):
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True, nogil=True)
def add_histograms(leaf_ids, n_ids, hist_start, hist_class, hist_count, n_classes):
    """The classes of the leaves of each projection: (starts, classes, counts)."""
    starts = np.zeros(n_ids + 1, dtype=np.int64)
    n_cells = 0
    for leaf in range(len(leaf_ids)):
        if leaf_ids[leaf] >= 0:
            starts[leaf_ids[leaf] + 1] += 1
            n_cells += hist_start[leaf + 1] - hist_start[leaf]
    for i in range(n_ids):
        starts[i + 1] += starts[i]
    leaves = np.empty(starts[n_ids], dtype=np.int32)
    next_place = starts[:-1].copy()
    for leaf in range(len(leaf_ids)):
        if leaf_ids[leaf] >= 0:
            leaves[next_place[leaf_ids[leaf]]] = leaf
            next_place[leaf_ids[leaf]] += 1
    cell_start = np.zeros(n_ids + 1, dtype=np.int64)
    cell_class = np.empty(n_cells, dtype=np.int32)
    cell_count = np.empty(n_cells, dtype=np.int32)
    sums = np.zeros(n_classes, dtype=np.int32)
    met = np.empty(n_classes, dtype=np.int32)
    n_stored = 0
    for i in range(n_ids):
        n_met = 0
        for place in range(starts[i], starts[i + 1]):
            leaf = leaves[place]
            for cell in range(hist_start[leaf], hist_start[leaf + 1]):
                label = hist_class[cell]
                if sums[label] == 0:
                    met[n_met] = label
                    n_met += 1
                sums[label] += hist_count[cell]
        for m in range(n_met):
            cell_class[n_stored] = met[m]
            cell_count[n_stored] = sums[met[m]]
            sums[met[m]] = 0
            n_stored += 1
        cell_start[i + 1] = n_stored
    return cell_start, cell_class[:n_stored].copy(), cell_count[:n_stored].copy()


@njit(cache=True, nogil=True)
def lattice_classes(
    first_query,
    last_query,
    set_ids,
    set_first,
    hist_start,
    hist_class,
    hist_count,
    sets,
    set_distance,
    beside,
    row_start,
    rows,
    row_weight,
    room,
    class_totals,
    n_distances,
    levels,
    kinds,
    decay,
    try_next,
    tolerance,
    answers,
):
    """Let the nearest instances of each query vote, for one weighting of some of the features.

    Parameters
    ----------
    set_ids : (sets in use, queries), the projection of each query in each of them; -1: none.
    set_first : where the projections of each set begin among those of all.
    hist_start, hist_class, hist_count : the leaves of each projection, by the combination of
        values beside the lattice and by class: combination × classes + class.
    sets, set_distance : the sets of the features in use as bit patterns, nearest first, and the
        distance of an instance that agrees in just that set.
    beside : (combinations, features beside the lattice), their values.
    row_start, rows, row_weight : what these add: for each query and feature the weight times the
        row of the query's own value, or all of it where that is unknown (-1).
    room : the most cells that the histograms of one query can have.
    levels … answers : as in :mod:`featloom.kernels.nearest`.
    """
    n_classes = len(class_totals)
    n_sets = len(sets)
    kept_set = np.empty(n_sets, dtype=np.int64)
    kept_total = np.empty(n_sets, dtype=np.int64)
    kept_start = np.empty(n_sets + 1, dtype=np.int64)
    kept_class = np.empty(room, dtype=np.int32)
    kept_count = np.empty(room, dtype=np.int64)
    n_beside = len(beside)
    dense = np.zeros(n_beside * n_classes, dtype=np.int64)
    added = np.empty(n_beside)
    best = np.empty(n_distances + 1)
    slot_at = np.arange(n_distances + 1)  # the row of ``counts`` of each distance
    counts = np.zeros((n_distances + 1, n_classes), dtype=np.int64)
    cell_start = np.empty(n_distances + 2, dtype=np.int64)
    cell_class = np.empty((n_distances + 1) * n_classes, dtype=np.int32)
    cell_count = np.empty((n_distances + 1) * n_classes, dtype=np.int64)
    tally = np.zeros(n_classes)
    met = np.empty(n_classes, dtype=np.int32)
    winner = np.empty(n_distances + 1, dtype=np.int32)
    tied = np.empty(n_distances + 1, dtype=np.bool_)
    rests_on = np.empty(len(levels), dtype=np.int64)
    no_votes = np.empty((0, 0, 0, 0))
    for q in range(first_query, last_query):
        for combination in range(n_beside):
            added[combination] = 0.0
            for j in range(beside.shape[1]):
                at = row_start[q, j]
                share = rows[at + beside[combination, j]] if at >= 0 else 1.0
                added[combination] += row_weight[j] * share
        n_kept = 0
        kept_start[0] = 0
        n_found = 0
        for s in range(n_sets):
            if n_found == n_distances and set_distance[s] > best[n_found - 1] + tolerance:
                break
            one = sets[s]
            if set_ids[s, q] < 0:
                continue
            projection = set_first[one] + set_ids[s, q]
            begin, end = hist_start[projection], hist_start[projection + 1]
            total = 0
            for place in range(begin, end):
                total += hist_count[place]
            for k in range(n_kept):
                if kept_set[k] & one == one:
                    total -= kept_total[k]
            if total == 0:
                continue
            for place in range(begin, end):
                dense[hist_class[place]] += hist_count[place]
            for k in range(n_kept):
                if kept_set[k] & one == one:
                    for place in range(kept_start[k], kept_start[k + 1]):
                        dense[kept_class[place]] -= kept_count[place]
            n_stored = kept_start[n_kept]
            for place in range(begin, end):
                cell = hist_class[place]
                count = dense[cell]
                dense[cell] = 0
                if count == 0:
                    continue
                kept_class[n_stored] = cell
                kept_count[n_stored] = count
                n_stored += 1
                combination = cell // n_classes
                distance = set_distance[s] + added[combination]
                spot = n_found
                while spot > 0 and best[spot - 1] > distance + tolerance:
                    spot -= 1
                if spot > 0 and best[spot - 1] >= distance - tolerance:
                    counts[slot_at[spot - 1], cell - combination * n_classes] += count
                    continue
                if spot == n_distances:
                    continue
                # A new distance: the farthest makes room, or a row that is not in use yet.
                last = n_found if n_found < n_distances else n_distances - 1
                slot = slot_at[last]
                if n_found == n_distances:
                    for label in range(n_classes):
                        counts[slot, label] = 0
                else:
                    n_found += 1
                for shifted in range(last, spot, -1):
                    best[shifted] = best[shifted - 1]
                    slot_at[shifted] = slot_at[shifted - 1]
                best[spot] = distance
                slot_at[spot] = slot
                counts[slot, cell - combination * n_classes] += count
            kept_set[n_kept] = one
            kept_total[n_kept] = total
            n_kept += 1
            kept_start[n_kept] = n_stored
        n_cells = 0
        for i in range(n_found):
            cell_start[i] = n_cells
            slot = slot_at[i]
            for label in range(n_classes):
                if counts[slot, label]:
                    cell_class[n_cells] = label
                    cell_count[n_cells] = counts[slot, label]
                    counts[slot, label] = 0
                    n_cells += 1
        cell_start[n_found] = n_cells
        decide_all(
            n_found, n_distances, best, cell_start, cell_class, cell_count, class_totals, levels,
            kinds, decay, try_next, tally, met, winner, tied, rests_on, answers, no_votes, q,
        )  # fmt: skip
