"""The nearest instances of a memory, and their vote, by branch and bound over a trie.

For a query the trie is walked depth first.  Every value of a feature has its cost, the weight of
the feature times the difference from the query's value, so the cost of a node is at least that
of the node above it.  A branch is left as soon as its cost, with the least that the features
below must still cost, is above the k-th smallest *distance* found so far: nothing below it can
be among the k nearest distances, and the answer is exact.

What keeps the walk short:

- the branch that agrees with the query goes first; where even the cheapest other value would be
  too far, the other branches are not looked at;
- queries come sorted, so neighbouring queries are alike: the instances that were nearest to the
  query before give a bound before the walk begins;
- all instances at one distance are kept as a chain of leaves, so that the votes of every k are
  read off one walk.

Distances closer than ``tolerance`` count as one.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.value_difference import value_costs
from featloom.kernels.votes import decide_all


@njit(cache=True, nogil=True)
def nearest_classes(
    queries,
    query_order,
    leaf_codes,
    hist_start,
    hist_class,
    hist_count,
    node_value,
    node_leaf,
    node_child,
    node_end,
    n_root,
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

    Parameters
    ----------
    queries : value codes, (queries, features) in the order of the trie's features.
    query_order : which queries to answer, best sorted.
    leaf_codes … n_root : the memory, see :mod:`featloom.kernels.instances`.
    weights, is_mvdm : of each feature.
    value_start : where the values of each feature begin among the values of all.
    row_start, rows : for each value where its differences from all values of its feature begin,
        or -1 where they are to be found when a query needs them.
    dist_start, dist_class, dist_share, frequent : class shares of all values.
    n_distances : how many different distances to find.
    levels : the values of k to answer for, ascending, none above ``n_distances``.
    try_next : of a tie, look at one distance more (TiMBL's rule).
    kinds : how they vote, see :mod:`featloom.kernels.votes`; the same walk serves all of them.
    answers : out, (queries, kinds, levels): the class; -1 - class where the tie could not be
        looked at more closely for want of one more distance.
    votes : out, (queries, kinds, levels, classes), or empty.
    distances : out, (queries, n_distances), or empty.

    Returns
    -------
    int
        The steps of the walk: values that were compared.
    """
    n_features = queries.shape[1]
    n_leaves = len(leaf_codes)
    n_classes = len(class_totals)
    # Costs of all values of all features for the query at hand.
    cost = np.empty(value_start[n_features])
    cheapest = np.zeros(n_features)  # of all values
    cheapest_other = np.zeros(n_features)  # of all but the query's own
    at_value = np.full(n_features, -1, dtype=np.int64)
    for j in range(n_features):
        for value in range(value_start[j], value_start[j + 1]):
            cost[value] = weights[j]
    still = np.zeros(n_features + 1)  # the least that features from j on must cost
    dense = np.zeros(n_classes)
    # The k nearest distances and the chains of leaves at each.
    best = np.empty(n_distances + 1)
    head = np.empty(n_distances + 1, dtype=np.int32)
    tail = np.empty(n_distances + 1, dtype=np.int32)
    chain_leaf = np.empty(n_leaves + 1, dtype=np.int32)
    chain_next = np.empty(n_leaves + 1, dtype=np.int32)
    for i in range(n_leaves + 1):
        chain_next[i] = i + 1
    free = 0
    earlier = np.empty(n_distances, dtype=np.int32)  # leaves near the query before
    n_earlier = 0
    seeds = np.empty(n_distances)
    # The walk: one place a depth.
    at = np.empty(n_features, dtype=np.int64)
    end = np.empty(n_features, dtype=np.int64)
    agreeing = np.empty(n_features, dtype=np.int64)
    so_far = np.empty(n_features + 1)
    # The vote.
    tally = np.zeros(n_classes)
    met = np.empty(n_classes, dtype=np.int32)
    cell_start = np.empty(n_distances + 2, dtype=np.int64)
    cell_class = np.empty((n_distances + 1) * n_classes, dtype=np.int32)
    cell_count = np.empty((n_distances + 1) * n_classes, dtype=np.int64)
    cell_of = np.full(n_classes, -1, dtype=np.int64)
    winner = np.empty(n_distances + 1, dtype=np.int32)
    tied = np.empty(n_distances + 1, dtype=np.bool_)
    rests_on = np.empty(len(levels), dtype=np.int64)
    n_steps = 0

    for place in range(len(query_order)):
        q = query_order[place]
        # 1. Costs of the values, where the query differs from the one before.
        value_costs(
            queries[q], weights, is_mvdm, value_start, row_start, rows, dist_start, dist_class,
            dist_share, frequent, dense, at_value, cost, cheapest, cheapest_other,
        )  # fmt: skip
        still[n_features] = 0.0
        for j in range(n_features - 1, -1, -1):
            still[j] = still[j + 1] + cheapest[j]

        # 2. A bound from the instances that were nearest to the query before.
        bound = np.inf
        n_seeds = 0
        for i in range(n_earlier):
            leaf = earlier[i]
            d = 0.0
            for j in range(n_features):
                d += cost[value_start[j] + leaf_codes[leaf, j]]
            spot = n_seeds
            while spot > 0 and seeds[spot - 1] > d + tolerance:
                spot -= 1
            if spot > 0 and seeds[spot - 1] >= d - tolerance:
                continue
            for shifted in range(n_seeds, spot, -1):
                seeds[shifted] = seeds[shifted - 1]
            seeds[spot] = d
            n_seeds += 1
        if n_seeds == n_distances:
            bound = seeds[n_seeds - 1] + tolerance

        # 3. The walk.
        n_found = 0
        depth = 0
        at[0], end[0] = 0, n_root
        so_far[0] = 0.0
        agreeing[0] = -2
        while depth >= 0:
            n_steps += 1
            leaf = -1
            d = 0.0
            value_at = value_start[depth]
            beyond = bound - still[depth + 1]
            above = so_far[depth]
            node = -1
            if agreeing[depth] == -2:  # first look at this node: its child that agrees
                wanted = queries[q, depth]
                low, high = at[depth], end[depth]
                if high - low > 8:
                    while low < high:
                        middle = (low + high) // 2
                        if node_value[middle] < wanted:
                            low = middle + 1
                        else:
                            high = middle
                else:
                    while low < high and node_value[low] < wanted:
                        low += 1
                agrees = low < end[depth] and node_value[low] == wanted and wanted > 0
                agreeing[depth] = low if agrees else -1
                if agrees:
                    if above <= beyond:
                        node = low
                        d = above
                elif above + cheapest_other[depth] > beyond:
                    depth -= 1
                    continue
            if node < 0:
                if agreeing[depth] >= 0 and above + cheapest_other[depth] > beyond:
                    depth -= 1
                    continue
                i, stop, skipped = at[depth], end[depth], agreeing[depth]
                while i < stop:
                    d = above + cost[value_at + node_value[i]]
                    if d <= beyond and i != skipped:
                        node = i
                        break
                    i += 1
                n_steps += i - at[depth]
                if node < 0:
                    depth -= 1
                    continue
                at[depth] = node + 1
            child = node_child[node]
            if child >= 0:
                depth += 1
                at[depth], end[depth] = child, node_end[node]
                agreeing[depth] = -2
                so_far[depth] = d
                continue
            leaf = node_leaf[node]
            j = depth + 1
            while j < n_features and d + still[j] <= bound:
                d += cost[value_start[j] + leaf_codes[leaf, j]]
                j += 1
            n_steps += j - depth
            if d > bound or j < n_features:
                continue
            # 4. A leaf: to its distance, which may be new.
            spot = n_found
            while spot > 0 and best[spot - 1] > d + tolerance:
                spot -= 1
            if spot > 0 and best[spot - 1] >= d - tolerance:
                spot -= 1
                # The least of them stands for all, in whatever order they are met.
                best[spot] = min(best[spot], d)
                entry = free
                free = chain_next[free]
                chain_leaf[entry] = leaf
                chain_next[entry] = head[spot]
                head[spot] = entry
                continue
            if spot == n_distances:
                continue
            if n_found == n_distances:
                n_found -= 1
                chain_next[tail[n_found]] = free
                free = head[n_found]
            for shifted in range(n_found, spot, -1):
                best[shifted] = best[shifted - 1]
                head[shifted] = head[shifted - 1]
                tail[shifted] = tail[shifted - 1]
            entry = free
            free = chain_next[free]
            chain_leaf[entry] = leaf
            chain_next[entry] = -1
            best[spot] = d
            head[spot] = entry
            tail[spot] = entry
            n_found += 1
            if n_found == n_distances and best[n_found - 1] + tolerance < bound:
                bound = best[n_found - 1] + tolerance

        # 5. The classes at each distance, and their vote.
        n_cells = 0
        for i in range(n_found):
            cell_start[i] = n_cells
            entry = head[i]
            while True:
                leaf = chain_leaf[entry]
                for place_in in range(hist_start[leaf], hist_start[leaf + 1]):
                    label = hist_class[place_in]
                    cell = cell_of[label]
                    if cell < cell_start[i]:
                        cell = n_cells
                        cell_of[label] = cell
                        cell_class[cell] = label
                        cell_count[cell] = 0
                        n_cells += 1
                    cell_count[cell] += hist_count[place_in]
                if entry == tail[i]:
                    break
                entry = chain_next[entry]
        cell_start[n_found] = n_cells
        for cell in range(n_cells):
            cell_of[cell_class[cell]] = -1
        decide_all(
            n_found, n_distances, best, cell_start, cell_class, cell_count, class_totals, levels,
            kinds, decay, try_next, tally, met, winner, tied, rests_on, answers, votes, q,
        )  # fmt: skip
        if distances.shape[0]:
            for i in range(n_found):
                distances[q, i] = best[i]
        # 6. Leave the chains, remember who was near.
        n_earlier = n_found
        for i in range(n_found):
            earlier[i] = chain_leaf[head[i]]
            chain_next[tail[i]] = free
            free = head[i]
    return n_steps
