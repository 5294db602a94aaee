"""Growing a decision tree level by level, from counts of rows that are never together in memory.

All nodes of a level that may be split are *open*.  A pass over the rows finds the open node that
each reaches and counts (node, column, value, class) for the columns that may still split it; the
best column of every open node follows from the counts, by the rules and in the arithmetic of
:mod:`featloom.kernels.tree`.  There cells are added up in the order in which rows first show them,
so that is kept here as well: with each count goes the number of the first row that it was met in.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.templates import mix
from featloom.kernels.tree import add_children, resized, without
from featloom.kernels.tree_counts import best_column, find_many_valued, forget, gain_of


@njit(cache=True, nogil=True)
def open_nodes_of_rows(codes, column, first_child, n_children, value, place_of):
    """``place_of`` the node where each row ends: its place among the open ones, or -1."""
    n_rows = len(codes)
    places = np.empty(n_rows, dtype=np.int64)
    for i in range(n_rows):
        node = 0
        while column[node] >= 0:
            wanted = codes[i, column[node]]
            low = first_child[node]
            high = low + n_children[node]
            while low < high:
                middle = (low + high) // 2
                if value[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            node = low
        places[i] = place_of[node]
    return places


@njit(cache=True, nogil=True)
def _slots_of(keys, n_keys, size):
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int64)
    for i in range(n_keys):
        slot = mix(keys[i]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = i
    return slots


@njit(cache=True, nogil=True)
def _longer(array, size):
    new = np.empty(size, dtype=array.dtype)
    new[: len(array)] = array
    return new


@njit(cache=True, nogil=True)
def count_cells(
    codes,
    labels,
    places,
    may_split,
    first_cell,
    n_classes,
    first_row,
    keys,
    counts,
    firsts,
    slots,
    n_keys,
):
    """Add rows to the cells met so far: (keys, counts, first rows, slots, how many).

    A key is place · cells + cell, where a cell is that of a column, value and class.  ``slots``
    says where in ``keys`` a key stands, -1 for nowhere.  It is handed on from block to block:
    making it anew for every block would take as many steps as there are keys.
    """
    n_columns = may_split.shape[1]
    n_cells = first_cell[n_columns]
    size = len(slots)
    mask = np.uint64(size - 1)
    for i in range(len(codes)):
        place = places[i]
        if place < 0:
            continue
        if 2 * (n_keys + n_columns) > size:
            while 2 * (n_keys + n_columns) > size:
                size *= 4
            slots = _slots_of(keys, n_keys, size)
            mask = np.uint64(size - 1)
        if n_keys + n_columns > len(keys):
            more = 2 * (n_keys + n_columns)
            keys, counts, firsts = _longer(keys, more), _longer(counts, more), _longer(firsts, more)
        for j in range(n_columns):
            if not may_split[place, j]:
                continue
            cell = first_cell[j] + np.int64(codes[i, j]) * n_classes + labels[i]
            key = place * n_cells + cell
            slot = mix(key) & mask
            while slots[slot] >= 0 and keys[slots[slot]] != key:
                slot = (slot + np.uint64(1)) & mask
            if slots[slot] < 0:
                slots[slot] = n_keys
                keys[n_keys], counts[n_keys], firsts[n_keys] = key, 0, first_row + i
                n_keys += 1
            counts[slots[slot]] += 1
    return keys, counts, firsts, slots, n_keys


@njit(cache=True, nogil=True)
def split_nodes(
    nodes,
    n_nodes,
    open_nodes,
    open_sums,
    may_split,
    bounds,
    cells,
    cell_counts,
    counts,
    many_valued,
    n_classes,
    by_ratio,
    min_rows,
    deeper,
):
    """Split the open nodes that a column splits, and list the children that are open next.

    Those of open node k have their cells from ``bounds[k]``, column by column, in the order in
    which rows first showed them.  Returns (nodes, how many, open children, their Σ h(n_c), the
    columns that may split them).
    """
    n_columns = may_split.shape[1]
    most_values = max(counts.n_cells.max() // n_classes, 1)
    class_sums = np.empty(most_values, dtype=np.float64)
    gains = np.empty(n_columns, dtype=np.float64)
    ratios = np.empty(n_columns, dtype=np.float64)
    below = np.empty(n_columns, dtype=np.int64)
    next_nodes = np.empty(64, dtype=np.int64)
    next_sums = np.empty(64, dtype=np.float64)
    next_split = np.zeros((64, n_columns), dtype=np.bool_)
    n_next = 0
    for k in range(len(open_nodes)):
        node = open_nodes[k]
        n = nodes.rows[node]
        columns = np.flatnonzero(may_split[k])
        for j in columns:
            counts.n_met[j] = 0
        for entry in range(bounds[k], bounds[k + 1]):
            where = np.searchsorted(counts.first_cell, cells[entry], side="right") - 1
            counts.cells[cells[entry]] = cell_counts[entry]
            if n < counts.n_cells[where]:
                counts.met[counts.first_met[where] + counts.n_met[where]] = (
                    cells[entry] - counts.first_cell[where]
                )
                counts.n_met[where] += 1
        if node == 0:
            find_many_valued(columns, counts, n, n_classes, many_valued)
        n_below = 0
        for j in columns:
            gain, ratio, valid = gain_of(j, counts, n, open_sums[k], n_classes, min_rows)
            if valid:
                gains[j], ratios[j] = gain, ratio
                below[n_below] = j
                n_below += 1
        best = best_column(below[:n_below], gains, ratios, many_valued, by_ratio)
        if best >= 0:
            while n_nodes + min(n, most_values) > len(nodes.column):
                nodes = resized(nodes, 2 * len(nodes.column))
            n_children = add_children(
                nodes, n_nodes, node, best, gains[best], counts, n_classes, class_sums
            )
            n_below = without(below, n_below, best)
            if n_below > 0 and deeper:
                for i in range(n_children):
                    child = n_nodes + i
                    if nodes.errors[child] > 0 and nodes.rows[child] >= 2 * min_rows:
                        if n_next == len(next_nodes):
                            next_nodes = _longer(next_nodes, 2 * n_next)
                            next_sums = _longer(next_sums, 2 * n_next)
                            wider = np.zeros((2 * n_next, n_columns), dtype=np.bool_)
                            wider[:n_next] = next_split
                            next_split = wider
                        next_nodes[n_next], next_sums[n_next] = child, class_sums[i]
                        for b in range(n_below):
                            next_split[n_next, below[b]] = True
                        n_next += 1
            n_nodes += n_children
        forget(columns, counts, n)
    return nodes, n_nodes, next_nodes[:n_next], next_sums[:n_next], next_split[:n_next]


@njit(cache=True, nogil=True)
def depth_first(first_child, n_children):
    """The nodes in the order in which they are made where each is split before its siblings."""
    order = np.empty(len(first_child), dtype=np.int64)
    order[0] = 0
    n_ordered = 1
    stack = np.empty(len(first_child), dtype=np.int64)
    stack[0] = 0
    n_stack = 1
    while n_stack > 0:
        n_stack -= 1
        node = stack[n_stack]
        for i in range(n_children[node]):
            order[n_ordered] = first_child[node] + i
            n_ordered += 1
        for i in range(n_children[node] - 1, -1, -1):
            stack[n_stack] = first_child[node] + i
            n_stack += 1
    return order
