"""How far apart two values of a feature are: the modified value difference metric.

δ(u, v) = ½ Σ_c |P(c|u) − P(c|v)| = 1 − Σ_c min(P(c|u), P(c|v))

Values that appear with the same classes in the same shares are alike.  A value that was seen
fewer times than a threshold tells too little: from it every other value is at distance 1, as in
the overlap metric, and so it is from a value that was never seen (code 0).

The distributions of the values lie one after another: those of value code v of a feature from
``start[v]`` to ``start[v + 1]``, with ascending classes.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def difference_rows(start, classes, shares, frequent, n_classes, wanted, rows):
    """Write δ of each of the ``wanted`` values from all values, code 0 included, to ``rows``."""
    n_values = len(start) - 1
    dense = np.zeros(n_classes)
    for i in range(len(wanted)):
        v = wanted[i]
        for place in range(start[v], start[v + 1]):
            dense[classes[place]] = shares[place]
        for u in range(n_values):
            difference = 1.0
            if frequent[u] and frequent[v]:
                common = 0.0
                for place in range(start[u], start[u + 1]):
                    common += min(shares[place], dense[classes[place]])
                difference = max(0.0, 1.0 - common)
            rows[i * n_values + u] = difference
        for place in range(start[v], start[v + 1]):
            dense[classes[place]] = 0.0
        if v > 0:
            rows[i * n_values + v] = 0.0


@njit(cache=True, nogil=True)
def alike_values(start, classes, counts, frequent):
    """For each value a number; values with the same class shares have the same one.

    Shares are compared exactly, as fractions in lowest terms.  Code 0 and values that are not
    frequent are like no other.  The numbers count from 0, in order of first appearance.
    """
    n_values = len(start) - 1
    marks = np.zeros(n_values, dtype=np.uint64)
    divisors = np.ones(n_values, dtype=np.int64)
    for v in range(n_values):
        divisor = np.int64(0)
        for place in range(start[v], start[v + 1]):
            a, b = divisor, np.int64(counts[place])
            while b:
                a, b = b, a % b
            divisor = a
        divisors[v] = divisor if divisor else np.int64(1)
        mark = np.uint64(0)
        for place in range(start[v], start[v + 1]):
            word = np.uint64(classes[place]) * np.uint64(0x9E3779B97F4A7C15)
            mark = (mark ^ word) * np.uint64(0xBF58476D1CE4E5B9)
            mark ^= mark >> np.uint64(29)
            mark = (mark ^ np.uint64(counts[place] // divisors[v])) * np.uint64(0x94D049BB133111EB)
            mark ^= mark >> np.uint64(32)
        # A value that stays alone must not stand between two that are alike.
        marks[v] = mark if v > 0 and frequent[v] else np.uint64(v)
    order = np.argsort(marks)
    group = np.full(n_values, -1, dtype=np.int32)
    first_of = np.arange(n_values)
    for i in range(1, n_values):
        v, u = order[i], first_of[order[i - 1]]
        same = (
            marks[v] == marks[u]
            and u > 0
            and v > 0
            and frequent[u]
            and frequent[v]
            and start[u + 1] - start[u] == start[v + 1] - start[v]
        )
        if same:
            for offset in range(start[v + 1] - start[v]):
                a, b = start[u] + offset, start[v] + offset
                if classes[a] != classes[b] or counts[a] // divisors[u] != counts[b] // divisors[v]:
                    same = False
                    break
        if same:
            first_of[v] = u
    n_groups = 0
    for v in range(n_values):
        first = first_of[v]
        if group[first] < 0:
            group[first] = n_groups
            n_groups += 1
        group[v] = group[first]
    return group, n_groups


@njit(cache=True, nogil=True)
def value_costs(
    query,
    weights,
    is_mvdm,
    value_start,
    row_start,
    rows,
    dist_start,
    dist_class,
    dist_share,
    frequent,
    dense,
    at_value,
    cost,
    cheapest,
    cheapest_other,
):
    """What each value of each feature costs a query: weight × difference from the query's own.

    Only features in which the query differs from the one before (``at_value``) are looked at.
    The arguments up to ``frequent`` are those of :func:`featloom.kernels.nearest.nearest_classes`.

    Parameters
    ----------
    dense : all zeros, a place for each class; so it is again afterwards.
    at_value : in and out, the values of the query before, -1 where there was none; then the
        costs of an overlap feature must all be its weight.
    cost : in and out, of all values of all features.
    cheapest, cheapest_other : out, the least cost of all values, and of all but the query's own.
    """
    for j in range(len(query)):
        value = query[j]
        if value == at_value[j]:
            continue
        first, last = value_start[j], value_start[j + 1]
        weight = weights[j]
        if not is_mvdm[j]:
            if at_value[j] > 0:
                cost[first + at_value[j]] = weight
            if value > 0:
                cost[first + value] = 0.0
            cheapest[j] = 0.0 if value > 0 else weight
            cheapest_other[j] = weight
        elif value == 0:
            for u in range(first, last):
                cost[u] = weight
            cheapest[j] = weight
            cheapest_other[j] = weight
        else:
            least = np.inf
            if row_start[first + value] >= 0:
                row = row_start[first + value]
                for u in range(last - first):
                    c = weight * rows[row + u]
                    cost[first + u] = c
                    if c < least and u != value:
                        least = c
            else:
                v = first + value
                for entry in range(dist_start[v], dist_start[v + 1]):
                    dense[dist_class[entry]] = dist_share[entry]
                for u in range(first, last):
                    c = weight
                    if frequent[u] and frequent[v]:
                        common = 0.0
                        for entry in range(dist_start[u], dist_start[u + 1]):
                            common += min(dist_share[entry], dense[dist_class[entry]])
                        c = weight * max(0.0, 1.0 - common)
                    cost[u] = c
                    if c < least and u != v:
                        least = c
                for entry in range(dist_start[v], dist_start[v + 1]):
                    dense[dist_class[entry]] = 0.0
            cost[first + value] = 0.0
            cheapest[j] = 0.0
            cheapest_other[j] = least
        at_value[j] = value
