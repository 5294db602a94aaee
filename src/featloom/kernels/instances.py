"""Instances of a memory: sorted, merged where they are alike, and laid out as a trie.

A memory of symbols holds many instances more than once.  Alike instances become one *leaf* with
a histogram of classes, and the leaves, sorted by their values, become a trie: a node for every
beginning of an instance that some leaf shares with another.  A node that holds a single leaf has
no children; the rest of its instance is read off the leaf.

=============  ==================================================================================
leaf_codes     one row of value codes a leaf, in the order of the trie
hist_start     where the histogram of a leaf begins; one more than there are leaves
hist_class     classes of the histogram
hist_count     how often each
node_value     value of a node at its depth; the children of a node ascend by it
node_leaf      the first leaf below a node
node_child     its first child, or -1 where it holds one leaf
node_end       one past its last child
=============  ==================================================================================

The nodes of one depth lie together, those at the root first.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def sort_rows(codes, n_values):
    """The order that sorts rows by their first column, then the second, …; a stable radix sort.

    ``codes`` is (columns, rows); ``n_values[j]`` is above every code of column j.
    """
    n_columns, n_rows = codes.shape
    order = np.arange(n_rows).astype(np.int32)
    other = np.empty_like(order)
    for j in range(n_columns - 1, -1, -1):
        column = codes[j]
        starts = np.zeros(n_values[j] + 1, dtype=np.int64)
        for i in range(n_rows):
            starts[column[i] + 1] += 1
        for value in range(n_values[j]):
            starts[value + 1] += starts[value]
        for i in range(n_rows):
            row = order[i]
            value = column[row]
            other[starts[value]] = row
            starts[value] += 1
        order, other = other, order
    return order


@njit(cache=True, nogil=True)
def merge_rows(codes, order, row_start, row_class, row_count, n_classes):
    """Add up the histograms of rows that are alike, given the order that sorts them.

    Each row brings a histogram of its own, (row_start, row_class, row_count), so that rows merged
    before can be merged again by fewer columns; or, where ``row_start`` is empty, its one class.
    Returns the leaves, (leaf_codes, hist_start, hist_class, hist_count), and the leaf of each row.
    """
    n_columns, n_rows = codes.shape
    merged_before = len(row_start) > 0
    # A row's values side by side: rows are visited in an order that jumps about.
    rows = np.empty((n_rows, n_columns), dtype=codes.dtype)
    for j in range(n_columns):
        for row in range(n_rows):
            rows[row, j] = codes[j, row]
    leaf_codes = np.empty((n_rows, n_columns), dtype=codes.dtype)
    hist_start = np.zeros(n_rows + 1, dtype=np.int64)
    hist_class = np.empty(len(row_class), dtype=np.int32)
    hist_count = np.empty(len(row_class), dtype=np.int32)
    leaf_of = np.empty(n_rows, dtype=np.int32)
    cell_of = np.full(n_classes, -1, dtype=np.int64)  # of the classes of the leaf at hand
    leaf = -1
    first_cell = n_cells = 0
    for i in range(n_rows):
        row = order[i]
        new = leaf < 0
        if not new:
            for j in range(n_columns):
                if rows[row, j] != leaf_codes[leaf, j]:
                    new = True
                    break
        if new:
            leaf += 1
            hist_start[leaf] = first_cell = n_cells
            for j in range(n_columns):
                leaf_codes[leaf, j] = rows[row, j]
        leaf_of[row] = leaf
        begin, end = row, row + 1
        if merged_before:
            begin, end = row_start[row], row_start[row + 1]
        for place in range(begin, end):
            label = row_class[place]
            cell = cell_of[label]
            if cell < first_cell:
                cell = n_cells
                cell_of[label] = cell
                hist_class[cell] = label
                hist_count[cell] = 0
                n_cells += 1
            hist_count[cell] += row_count[place] if merged_before else 1
    n_leaves = leaf + 1
    hist_start[n_leaves] = n_cells
    return (
        leaf_codes[:n_leaves],
        hist_start[: n_leaves + 1],
        hist_class[:n_cells],
        hist_count[:n_cells],
        leaf_of,
    )


@njit(cache=True, nogil=True)
def build_trie(leaf_codes):
    """The trie over sorted, different leaves: its nodes, and how many of them are at the root.

    Leaf i has a node of its own at depth j when it parts from the leaf before it at j, or before
    j and shares j values with the leaf after it.
    """
    n_leaves, n_columns = leaf_codes.shape
    shared = np.full(n_leaves + 1, -1, dtype=np.int32)  # values shared with the leaf before
    for i in range(1, n_leaves):
        j = 0
        while leaf_codes[i, j] == leaf_codes[i - 1, j]:
            j += 1
        shared[i] = j
    next_node = np.zeros(n_columns + 2, dtype=np.int64)
    for i in range(n_leaves):
        for j in range(max(shared[i], 0), max(shared[i], shared[i + 1], 0) + 1):
            next_node[j + 1] += 1
    for j in range(n_columns + 1):
        next_node[j + 1] += next_node[j]
    n_root = next_node[1]
    n_nodes = next_node[n_columns + 1]
    node_value = np.empty(n_nodes, dtype=leaf_codes.dtype)
    node_leaf = np.empty(n_nodes, dtype=np.int32)
    node_child = np.full(n_nodes, -1, dtype=np.int32)
    node_end = np.full(n_nodes, -1, dtype=np.int32)
    open_node = np.zeros(n_columns + 1, dtype=np.int64)
    for i in range(n_leaves):
        for j in range(max(shared[i], 0), max(shared[i], shared[i + 1], 0) + 1):
            node = next_node[j]
            next_node[j] += 1
            node_value[node] = leaf_codes[i, j]
            node_leaf[node] = i
            if shared[i + 1] > j:
                node_child[node] = next_node[j + 1]
            open_node[j] = node
            if j:
                node_end[open_node[j - 1]] = node + 1
    return node_value, node_leaf, node_child, node_end, n_root


@njit(cache=True, nogil=True)
def find_rows(leaf_codes, queries):
    """For each query the leaf that equals it in every value, or -1; the leaves are sorted."""
    n_columns = leaf_codes.shape[1]
    found = np.full(len(queries), -1, dtype=np.int32)
    for q in range(len(queries)):
        low, high = 0, len(leaf_codes)
        while low < high:
            middle = (low + high) // 2
            j = 0
            while j < n_columns and leaf_codes[middle, j] == queries[q, j]:
                j += 1
            if j == n_columns:
                found[q] = middle
                break
            if leaf_codes[middle, j] < queries[q, j]:
                low = middle + 1
            else:
                high = middle
    return found
