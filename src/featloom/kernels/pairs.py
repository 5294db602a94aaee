"""Which features meet in a row, how often, and with which class.

The matrix comes in by rows (CSR) and by features (rows of each feature), its features labelled
from the most to the least frequent.  For each feature, its *parent* rows are walked, and in each
row the features before it: Σ over rows of (features in the row)² / 2 steps in all, whatever the
number of features.  What a step adds goes into one small accumulator, scored as soon as the
parent is done; only what passes is stored.

A *parent* is a list of rows: those of one feature for pairs, those of a kept conjunction for
longer ones.  ``parent_ends`` says for each of its rows where in ``indices`` to stop: before the
feature itself for pairs (each pair is met once), at the end of the row for longer conjunctions.
Which features were met is noted on the way where they are few, and found by a scan of the
accumulator where they are many.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.association import score_counts
from featloom.kernels.compiled import njit

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
def with_room(array, n_used, n_more):
    """The array, or a longer copy of it where ``n_more`` entries would not fit.

    To be called once a parent, not once a pair: a loop in which an array may be replaced by
    another counts references at every step.
    """
    if n_used + n_more <= len(array):
        return array
    longer = np.empty((2 * (n_used + n_more),) + array.shape[1:], dtype=array.dtype)
    longer[:n_used] = array[:n_used]
    return longer


@njit(cache=True, nogil=True)
def steps_of(parent, parent_starts, parent_rows, parent_ends, indptr):
    """How many features the walk over a parent's rows will meet, repeats included."""
    steps = 0
    for entry in range(parent_starts[parent], parent_starts[parent + 1]):
        steps += parent_ends[entry] - indptr[parent_rows[entry]]
    return steps


@njit(cache=True, nogil=True)
def note_met(met, touched):
    """List the features whose entry is not 0; returns how many."""
    n_touched = 0
    for feature in range(len(met)):
        touched[n_touched] = feature
        n_touched += met[feature] != 0
    return n_touched


@njit(cache=True, nogil=True)
def best_pairs_two_classes(
    parents,
    parent_starts,
    parent_rows,
    parent_ends,
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
    n_features = len(supports)
    accumulator = np.zeros(n_features, dtype=increments.dtype)
    touched = np.empty(n_features + 1, dtype=np.int32)
    low_bits = (1 << shift) - 1
    n_small = len(small_scores)
    class_counts = np.zeros(2, dtype=np.int64)
    tally = np.zeros(N_TALLIES, dtype=np.int64)
    passed = np.empty(n_features, dtype=np.int32)
    passed_counts = np.empty((n_features, 2), dtype=np.int64)
    passed_score = np.empty(n_features)
    out_parent = np.empty(64, dtype=np.int32)
    out_partner = np.empty(64, dtype=np.int32)
    out_counts = np.empty((64, 2), dtype=np.int64)
    out_score = np.empty(64)
    n_out = 0
    for parent in parents:
        n_touched = 0
        steps = steps_of(parent, parent_starts, parent_rows, parent_ends, indptr)
        if steps > 2 * n_features:
            for entry in range(parent_starts[parent], parent_starts[parent + 1]):
                row = parent_rows[entry]
                increment = increments[row]
                for place in range(indptr[row], parent_ends[entry]):
                    accumulator[indices[place]] += increment
            n_touched = note_met(accumulator, touched)
        else:
            for entry in range(parent_starts[parent], parent_starts[parent + 1]):
                row = parent_rows[entry]
                increment = increments[row]
                for place in range(indptr[row], parent_ends[entry]):
                    partner = indices[place]
                    before = accumulator[partner]
                    touched[n_touched] = partner
                    n_touched += before == 0
                    accumulator[partner] = before + increment
        parent_support = parent_starts[parent + 1] - parent_starts[parent]
        parent_rank = parent_ranks[parent]
        tally[MET] += n_touched
        n_passed = 0
        for t in range(n_touched):
            partner = touched[t]
            packed = np.int64(accumulator[partner])
            accumulator[partner] = 0
            n = packed & low_bits
            c = packed >> shift
            fate = KEPT
            if n < min_support:
                fate = RARE
            elif parent_rank >= top and ranks[partner] >= top:
                fate = NOT_RANKED
            elif drop_equal and (n == parent_support or n == supports[partner]):
                fate = EQUAL_TO_PARENT
            else:
                if n < n_small:
                    score = small_scores[n, c]
                else:
                    class_counts[0], class_counts[1] = n - c, c
                    score = score_counts(
                        kind, aggregate, alternative, n_rows, class_totals, n, class_counts,
                        log_factorial,
                    )  # fmt: skip
                if score >= threshold:
                    passed[n_passed] = partner
                    passed_counts[n_passed, 0] = n - c
                    passed_counts[n_passed, 1] = c
                    passed_score[n_passed] = score
                    n_passed += 1
                else:
                    fate = LOW
            tally[fate] += 1
        if n_passed > 0:
            out_parent = with_room(out_parent, n_out, n_passed)
            out_partner = with_room(out_partner, n_out, n_passed)
            out_counts = with_room(out_counts, n_out, n_passed)
            out_score = with_room(out_score, n_out, n_passed)
            out_parent[n_out : n_out + n_passed] = parent
            out_partner[n_out : n_out + n_passed] = passed[:n_passed]
            out_counts[n_out : n_out + n_passed] = passed_counts[:n_passed]
            out_score[n_out : n_out + n_passed] = passed_score[:n_passed]
            n_out += n_passed
    return out_parent[:n_out], out_partner[:n_out], out_counts[:n_out], out_score[:n_out], tally


@njit(cache=True, nogil=True)
def best_pairs_many_classes(
    parents,
    parent_starts,
    parent_rows,
    parent_ends,
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
    n_features = len(supports)
    accumulator = np.zeros((n_features, n_classes), dtype=np.int32)
    met = np.zeros(n_features, dtype=np.int32)
    touched = np.empty(n_features + 1, dtype=np.int32)
    tally = np.zeros(N_TALLIES, dtype=np.int64)
    passed = np.empty(n_features, dtype=np.int32)
    passed_score = np.empty(n_features)
    out_parent = np.empty(64, dtype=np.int32)
    out_partner = np.empty(64, dtype=np.int32)
    out_counts = np.empty((64, n_classes), dtype=np.int64)
    out_score = np.empty(64)
    n_out = 0
    for parent in parents:
        n_touched = 0
        for entry in range(parent_starts[parent], parent_starts[parent + 1]):
            row = parent_rows[entry]
            label = labels[row]
            for place in range(indptr[row], parent_ends[entry]):
                partner = indices[place]
                touched[n_touched] = partner
                n_touched += met[partner] == 0
                met[partner] += 1
                accumulator[partner, label] += 1
        parent_support = parent_starts[parent + 1] - parent_starts[parent]
        parent_rank = parent_ranks[parent]
        tally[MET] += n_touched
        n_passed = 0
        for t in range(n_touched):
            partner = touched[t]
            n = np.int64(met[partner])
            met[partner] = 0
            fate = KEPT
            if n < min_support:
                fate = RARE
            elif parent_rank >= top and ranks[partner] >= top:
                fate = NOT_RANKED
            elif drop_equal and (n == parent_support or n == supports[partner]):
                fate = EQUAL_TO_PARENT
            else:
                score = score_counts(
                    kind, aggregate, alternative, n_rows, class_totals, n, accumulator[partner],
                    log_factorial,
                )  # fmt: skip
                if score >= threshold:
                    passed[n_passed] = partner
                    passed_score[n_passed] = score
                    n_passed += 1
                else:
                    fate = LOW
            tally[fate] += 1
        if n_passed > 0:
            out_parent = with_room(out_parent, n_out, n_passed)
            out_partner = with_room(out_partner, n_out, n_passed)
            out_counts = with_room(out_counts, n_out, n_passed)
            out_score = with_room(out_score, n_out, n_passed)
            for i in range(n_passed):
                out_parent[n_out] = parent
                out_partner[n_out] = passed[i]
                out_counts[n_out] = accumulator[passed[i]]
                out_score[n_out] = passed_score[i]
                n_out += 1
        for t in range(n_touched):
            accumulator[touched[t]] = 0
    return out_parent[:n_out], out_partner[:n_out], out_counts[:n_out], out_score[:n_out], tally
