"""Which features meet in a row, how often, and with which class.

The matrix comes in by rows (CSR) and by features (rows of each feature), its features labelled
from the most to the least frequent.  For each feature, its *parent* rows are walked, and in each
row the features before it: Σ over rows of (features in the row)² / 2 steps in all, whatever the
number of features.  What a step adds goes into one small accumulator, scored as soon as the
parent is done; only what passes is stored.

A *parent* is a list of rows: those of one feature for pairs, those of a kept conjunction for
longer ones.  ``limits[parent]`` bounds the features it is joined with: its own label for pairs
(each pair is met once), the number of features for longer conjunctions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from featloom.kernels.association import score_counts

# What became of the conjunctions met: entries of the tally that the kernels return.
MET = 0
RARE = 1
EQUAL_TO_PARENT = 2
NOT_RANKED = 3
LOW = 4
KEPT = 5
N_TALLIES = 6


@njit(cache=True, nogil=True)
def pair_work(indptr, indices, n_features):
    """Steps that each feature costs as a parent: the features before it in its rows."""
    work = np.zeros(n_features, dtype=np.int64)
    for row in range(len(indptr) - 1):
        begin = indptr[row]
        for place in range(begin, indptr[row + 1]):
            work[indices[place]] += place - begin
    return work


@njit(cache=True, nogil=True)
def grown(array, n_used):
    if n_used < len(array):
        return array
    bigger = np.empty((2 * len(array),) + array.shape[1:], dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


@njit(cache=True, nogil=True)
def verdict(n, parent_support, partner_support, parent_rank, partner_rank, min_support, top):
    """KEPT, or why a conjunction is left out before it is scored."""
    if n < min_support:
        return RARE
    if parent_rank >= top and partner_rank >= top:
        return NOT_RANKED
    if n == parent_support or n == partner_support:
        return EQUAL_TO_PARENT
    return KEPT


@njit(cache=True, nogil=True)
def best_pairs_two_classes(
    parents,
    parent_starts,
    parent_rows,
    limits,
    indptr,
    indices,
    increments,
    shift,
    supports,
    parent_ranks,
    ranks,
    top,
    drop_equal,
    min_support,
    threshold,
    small_scores,
    kind,
    aggregate,
    alternative,
    n_rows,
    class_totals,
    log_factorial,
):
    """Conjunctions of two-class data that score at least ``threshold``.

    ``increments[row]`` is 1 for a row of class 0 and 1 + 2**shift for a row of class 1, so that
    one addition counts both; its type decides that of the accumulator.
    Returns (parent, partner, counts of the two classes, score) and the tally.
    """
    accumulator = np.zeros(len(supports), dtype=increments.dtype)
    touched = np.empty(len(supports), dtype=np.int32)
    low_bits = (1 << shift) - 1
    n_small = len(small_scores)
    class_counts = np.zeros(2, dtype=np.int64)
    tally = np.zeros(N_TALLIES, dtype=np.int64)
    out_parent = np.empty(64, dtype=np.int32)
    out_partner = np.empty(64, dtype=np.int32)
    out_counts = np.empty((64, 2), dtype=np.int64)
    out_score = np.empty(64)
    n_out = 0
    for parent in parents:
        limit = limits[parent]
        n_touched = 0
        for row_place in range(parent_starts[parent], parent_starts[parent + 1]):
            row = parent_rows[row_place]
            increment = increments[row]
            for place in range(indptr[row], indptr[row + 1]):
                partner = indices[place]
                if partner >= limit:
                    break
                before = accumulator[partner]
                if before == 0:
                    touched[n_touched] = partner
                    n_touched += 1
                accumulator[partner] = before + increment
        parent_support = parent_starts[parent + 1] - parent_starts[parent]
        tally[MET] += n_touched
        for t in range(n_touched):
            partner = touched[t]
            packed = np.int64(accumulator[partner])
            accumulator[partner] = 0
            n = packed & low_bits
            c = packed >> shift
            fate = verdict(
                n,
                parent_support if drop_equal else -1,
                supports[partner] if drop_equal else -1,
                parent_ranks[parent],
                ranks[partner],
                min_support,
                top,
            )
            if fate == KEPT:
                if n < n_small:
                    score = small_scores[n, c]
                else:
                    class_counts[0], class_counts[1] = n - c, c
                    score = score_counts(
                        kind,
                        aggregate,
                        alternative,
                        n_rows,
                        class_totals,
                        n,
                        class_counts,
                        log_factorial,
                    )
                if score >= threshold:
                    out_parent = grown(out_parent, n_out)
                    out_partner = grown(out_partner, n_out)
                    out_counts = grown(out_counts, n_out)
                    out_score = grown(out_score, n_out)
                    out_parent[n_out] = parent
                    out_partner[n_out] = partner
                    out_counts[n_out, 0], out_counts[n_out, 1] = n - c, c
                    out_score[n_out] = score
                    n_out += 1
                else:
                    fate = LOW
            tally[fate] += 1
    return out_parent[:n_out], out_partner[:n_out], out_counts[:n_out], out_score[:n_out], tally


@njit(cache=True, nogil=True)
def best_pairs_many_classes(
    parents,
    parent_starts,
    parent_rows,
    limits,
    indptr,
    indices,
    labels,
    supports,
    parent_ranks,
    ranks,
    top,
    drop_equal,
    min_support,
    threshold,
    kind,
    aggregate,
    alternative,
    n_rows,
    class_totals,
    log_factorial,
):
    """As :func:`best_pairs_two_classes`, for any number of classes."""
    n_classes = len(class_totals)
    accumulator = np.zeros((len(supports), n_classes), dtype=np.int32)
    met = np.zeros(len(supports), dtype=np.int32)
    touched = np.empty(len(supports), dtype=np.int32)
    tally = np.zeros(N_TALLIES, dtype=np.int64)
    out_parent = np.empty(64, dtype=np.int32)
    out_partner = np.empty(64, dtype=np.int32)
    out_counts = np.empty((64, n_classes), dtype=np.int64)
    out_score = np.empty(64)
    n_out = 0
    for parent in parents:
        limit = limits[parent]
        n_touched = 0
        for row_place in range(parent_starts[parent], parent_starts[parent + 1]):
            row = parent_rows[row_place]
            label = labels[row]
            for place in range(indptr[row], indptr[row + 1]):
                partner = indices[place]
                if partner >= limit:
                    break
                if met[partner] == 0:
                    touched[n_touched] = partner
                    n_touched += 1
                met[partner] += 1
                accumulator[partner, label] += 1
        parent_support = parent_starts[parent + 1] - parent_starts[parent]
        tally[MET] += n_touched
        for t in range(n_touched):
            partner = touched[t]
            n = np.int64(met[partner])
            met[partner] = 0
            fate = verdict(
                n,
                parent_support if drop_equal else -1,
                supports[partner] if drop_equal else -1,
                parent_ranks[parent],
                ranks[partner],
                min_support,
                top,
            )
            if fate == KEPT:
                score = score_counts(
                    kind,
                    aggregate,
                    alternative,
                    n_rows,
                    class_totals,
                    n,
                    accumulator[partner],
                    log_factorial,
                )
                if score >= threshold:
                    out_parent = grown(out_parent, n_out)
                    out_partner = grown(out_partner, n_out)
                    out_counts = grown(out_counts, n_out)
                    out_score = grown(out_score, n_out)
                    out_parent[n_out] = parent
                    out_partner[n_out] = partner
                    out_counts[n_out] = accumulator[partner]
                    out_score[n_out] = score
                    n_out += 1
                else:
                    fate = LOW
            tally[fate] += 1
            accumulator[partner] = 0
    return out_parent[:n_out], out_partner[:n_out], out_counts[:n_out], out_score[:n_out], tally
