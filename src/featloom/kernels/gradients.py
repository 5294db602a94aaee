"""How much a conjunction would still add to a fitted linear model.

A row's residual for a class is r = y − p: 1 or 0, less the model's probability.  Over the rows of
a conjunction, G = Σ r is the gradient of the log-likelihood along a new weight and
H = Σ p (1 − p) its curvature; one damped Newton step gains about

    G² / (H + penalty)

of log-likelihood (twice that, to be exact; the order is the same).  Residuals are kept in fixed
point, 2**30 to one, so that sums are whole numbers: they are the same in whatever order rows
are added up.  p (1 − p) = |r| (1 − |r|), so the residual tells both.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.association import MAX
from featloom.kernels.compiled import njit
from featloom.kernels.pairs import (
    EQUAL_TO_PARENT,
    KEPT,
    LOW,
    MET,
    N_TALLIES,
    NOT_RANKED,
    RARE,
    with_room,
)

ONE = 1 << 30


@njit(cache=True, nogil=True)
def gain(sums, penalty, aggregate):
    """Σ over classes (or the largest) of G² / (H + penalty) from fixed-point (G, H) pairs."""
    total = 0.0
    for lane in range(len(sums) // 2):
        gradient = sums[2 * lane] / ONE
        value = gradient * gradient / (sums[2 * lane + 1] / ONE + penalty)
        total = max(total, value) if aggregate == MAX else total + value
    return total


@njit(cache=True, nogil=True)
def _row_sums(residuals, row, into):
    for lane in range(residuals.shape[1]):
        residual = np.int64(residuals[row, lane])
        size = abs(residual)
        into[2 * lane] = residual
        into[2 * lane + 1] = (size * (ONE - size)) >> 30


@njit(cache=True, nogil=True)
def feature_gradients(indptr, indices, n_features, residuals):
    """For each feature its (G, H) of each class, and the sums of its positive and negative r."""
    n_lanes = residuals.shape[1]
    sums = np.zeros((n_features, 2 * n_lanes), dtype=np.int64)
    signed = np.zeros((n_features, 2 * n_lanes), dtype=np.int64)
    row_sums = np.empty(2 * n_lanes, dtype=np.int64)
    for row in range(len(indptr) - 1):
        _row_sums(residuals, row, row_sums)
        for place in range(indptr[row], indptr[row + 1]):
            feature = indices[place]
            for lane in range(n_lanes):
                sums[feature, 2 * lane] += row_sums[2 * lane]
                sums[feature, 2 * lane + 1] += row_sums[2 * lane + 1]
                if row_sums[2 * lane] > 0:
                    signed[feature, 2 * lane] += row_sums[2 * lane]
                else:
                    signed[feature, 2 * lane + 1] += row_sums[2 * lane]
    return sums, signed


@njit(cache=True, nogil=True)
def gain_bounds(signed, penalty, aggregate):
    """For each feature, a gain that no conjunction with it can exceed.

    Of a feature's rows a conjunction can at best take all with positive residual and none
    other, or the reverse; its curvature is at least 0.
    """
    bounds = np.empty(len(signed))
    for feature in range(len(signed)):
        total = 0.0
        for lane in range(signed.shape[1] // 2):
            largest = max(signed[feature, 2 * lane], -signed[feature, 2 * lane + 1]) / ONE
            value = largest * largest / penalty
            total = max(total, value) if aggregate == MAX else total + value
        bounds[feature] = total * (1.0 + 1e-9)
    return bounds


@njit(cache=True, nogil=True)
def feature_gains(sums, penalty, aggregate):
    """The gain of every feature."""
    gains = np.empty(len(sums))
    for feature in range(len(sums)):
        gains[feature] = gain(sums[feature], penalty, aggregate)
    return gains


@njit(cache=True, nogil=True)
def best_pairs_by_gain(
    parents,
    parent_starts,
    parent_rows,
    parent_ends,
    indptr,
    indices,
    residuals,
    supports,
    parent_ranks,
    ranks,
    top,
    drop_equal,
    min_support,
    threshold,
    penalty,
    aggregate,
):
    """Conjunctions that gain at least ``threshold``: the walk of :mod:`featloom.kernels.pairs`.

    Returns (parent, partner, (support, G, H, …), gain) and the tally.
    """
    n_sums = 2 * residuals.shape[1]
    n_features = len(supports)
    accumulator = np.zeros((n_features, n_sums), dtype=np.int64)
    met = np.zeros(n_features, dtype=np.int32)
    touched = np.empty(n_features + 1, dtype=np.int32)
    row_sums = np.empty(n_sums, dtype=np.int64)
    tally = np.zeros(N_TALLIES, dtype=np.int64)
    passed = np.empty(n_features, dtype=np.int32)
    passed_support = np.empty(n_features, dtype=np.int64)
    passed_score = np.empty(n_features)
    out_parent = np.empty(64, dtype=np.int32)
    out_partner = np.empty(64, dtype=np.int32)
    out_sums = np.empty((64, 1 + n_sums), dtype=np.int64)
    out_score = np.empty(64)
    n_out = 0
    for parent in parents:
        n_touched = 0
        for entry in range(parent_starts[parent], parent_starts[parent + 1]):
            row = parent_rows[entry]
            _row_sums(residuals, row, row_sums)
            for place in range(indptr[row], parent_ends[entry]):
                partner = indices[place]
                touched[n_touched] = partner
                n_touched += met[partner] == 0
                met[partner] += 1
                for s in range(n_sums):
                    accumulator[partner, s] += row_sums[s]
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
                score = 0.0
                for lane in range(n_sums // 2):
                    gradient = accumulator[partner, 2 * lane] / ONE
                    curvature = accumulator[partner, 2 * lane + 1] / ONE
                    value = gradient * gradient / (curvature + penalty)
                    score = max(score, value) if aggregate == MAX else score + value
                if score >= threshold:
                    passed[n_passed] = partner
                    passed_support[n_passed] = n
                    passed_score[n_passed] = score
                    n_passed += 1
                else:
                    fate = LOW
            tally[fate] += 1
        if n_passed > 0:
            out_parent = with_room(out_parent, n_out, n_passed)
            out_partner = with_room(out_partner, n_out, n_passed)
            out_sums = with_room(out_sums, n_out, n_passed)
            out_score = with_room(out_score, n_out, n_passed)
            for i in range(n_passed):
                out_parent[n_out] = parent
                out_partner[n_out] = passed[i]
                out_sums[n_out, 0] = passed_support[i]
                out_sums[n_out, 1:] = accumulator[passed[i]]
                out_score[n_out] = passed_score[i]
                n_out += 1
        for t in range(n_touched):
            for s in range(n_sums):
                accumulator[touched[t], s] = 0
    return out_parent[:n_out], out_partner[:n_out], out_sums[:n_out], out_score[:n_out], tally
