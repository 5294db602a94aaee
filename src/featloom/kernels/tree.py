"""Growing a decision tree over symbols, with a branch for each value of the column asked for.

Rows lie side by side in memory, the class first, then the codes of the columns.  A node is a run
of rows.  One pass over the run counts values × classes of all columns that may still split it,
and the best column follows from the counts.  The rows of the branches that may be split again are
then moved, in order, into a second buffer, where each branch is a run.  Its own branches move
back into the first: the places are free, for all that is left to do at a depth lies in one buffer.

A column is *valid* in a node if at least two of its branches have ``min_rows`` rows.  Where it is
not, it is not below that node either, and is counted no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from featloom.kernels.compiled import njit
from featloom.kernels.tree_counts import (
    Counts,
    add_up_values,
    best_column,
    count_rows,
    find_many_valued,
    forget,
    gain_of,
    n_log_n,
    no_counts,
)


class Nodes(NamedTuple):
    """A tree as arrays; the fields are those of ``MultiwayTree``."""

    column: np.ndarray
    parent: np.ndarray
    value: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    rows: np.ndarray
    majority: np.ndarray
    errors: np.ndarray
    gain: np.ndarray
    classes_met: np.ndarray


@njit(cache=True, nogil=True)
def lay_out(codes, columns, n_values, labels, n_classes, chosen, rows):
    """Fill the rows: class first, then the codes of the columns; ``chosen`` rows or, empty, all.

    False if a class or code is not below its number of classes or values.
    """
    n_rows = len(rows)
    everything = len(chosen) == 0
    in_range = True
    for begin in range(0, n_rows, 1024):  # a block stays in the cache while columns are added
        end = min(begin + 1024, n_rows)
        for i in range(begin, end):
            label = labels[i if everything else chosen[i]]
            rows[i, 0] = label
            in_range &= 0 <= label < n_classes
        for j in range(len(columns)):
            column = codes[:, columns[j]]
            for i in range(begin, end):
                code = column[i if everything else chosen[i]]
                rows[i, j + 1] = code
                in_range &= 0 <= code < n_values[j]
    return in_range


class Growth(NamedTuple):
    """What is at hand while a tree grows, beside its nodes.

    The stack holds the nodes still to be split: each with where its rows begin, its depth and its
    Σ h(n_c).  ``open_columns`` are those that may split the children of the node last split at
    each depth.  The others are counts, and room for one node at a time.
    """

    counts: Counts
    stack_node: np.ndarray
    stack_begin: np.ndarray
    stack_depth: np.ndarray
    stack_sum: np.ndarray
    open_columns: np.ndarray
    n_open_columns: np.ndarray
    many_valued: np.ndarray
    gains: np.ndarray
    ratios: np.ndarray
    class_sums: np.ndarray
    place_of: np.ndarray


@njit(cache=True, nogil=True)
def begin_growth(rows, n_values, n_classes, min_rows, max_depth):
    """A tree that is its root: (nodes, what is at hand, how many nodes, how many to be split).

    ``n_values[j]`` is above every code of column j.
    """
    n_rows = len(rows)
    n_columns = len(n_values)
    counts = no_counts(n_values, n_classes, n_rows)
    nodes = empty_nodes(64)
    n_nodes = np.int64(1)
    root_sum = add_root(nodes, _class_totals(rows, n_classes), counts)

    # Each node still to be split has rows of two classes, and no two share a row.
    stack_node = np.empty(n_rows // 2 + 1, dtype=np.int64)
    stack_begin = np.empty(n_rows // 2 + 1, dtype=np.int64)
    stack_depth = np.empty(n_rows // 2 + 1, dtype=np.int32)
    stack_sum = np.empty(n_rows // 2 + 1, dtype=np.float64)
    n_open = 0
    if nodes.errors[0] > 0 and n_rows >= 2 * min_rows and max_depth > 0:
        stack_node[0], stack_begin[0], stack_depth[0], stack_sum[0] = 0, 0, 0, root_sum
        n_open = 1

    open_columns = np.empty((n_columns + 1, n_columns), dtype=np.int64)
    n_open_columns = np.zeros(n_columns + 1, dtype=np.int64)
    open_columns[0] = np.arange(n_columns)
    n_open_columns[0] = n_columns

    most_values = n_values.max() if n_columns else 1
    growth = Growth(
        counts,
        stack_node,
        stack_begin,
        stack_depth,
        stack_sum,
        open_columns,
        n_open_columns,
        np.zeros(n_columns, dtype=np.bool_),
        np.empty(n_columns, dtype=np.float64),
        np.empty(n_columns, dtype=np.float64),
        np.empty(most_values, dtype=np.float64),
        np.empty(most_values, dtype=np.int64),
    )
    return nodes, growth, n_nodes, n_open


@njit(cache=True, nogil=True)
def grow(
    buffers, words, nodes, growth, n_nodes, n_open, n_classes, by_ratio, min_rows, max_depth, room
):
    """Grow a tree on until it is whole, or so many values were counted: ``room``.

    The rows were in the first buffer when the tree began to grow; both buffers are used up.
    ``words`` are the same two buffers seen as 64-bit words, by which rows are moved.  Returns
    (nodes, how many, how many are still to be split).
    """
    counts, class_sums, place_of = growth.counts, growth.class_sums, growth.place_of
    stack_node, stack_begin = growth.stack_node, growth.stack_begin
    stack_depth, stack_sum = growth.stack_depth, growth.stack_sum
    open_columns, n_open_columns = growth.open_columns, growth.n_open_columns
    many_valued, gains, ratios = growth.many_valued, growth.gains, growth.ratios
    most_values = len(place_of)
    counted = 0
    while n_open > 0 and counted < room:
        n_open -= 1
        node, begin = stack_node[n_open], stack_begin[n_open]
        depth, class_sum = stack_depth[n_open], stack_sum[n_open]
        n = nodes.rows[node]
        columns = open_columns[depth, : n_open_columns[depth]]
        counted += n * len(columns)
        source = depth % 2
        count_rows(buffers[source], begin, begin + n, columns, counts, n_classes)
        if node == 0:
            find_many_valued(columns, counts, n, n_classes, many_valued)
        below = open_columns[depth + 1]
        n_below = 0
        for j in columns:
            gain, ratio, valid = gain_of(j, counts, n, class_sum, n_classes, min_rows)
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
            n_open_columns[depth + 1] = n_below
            may_split = n_below > 0 and depth + 1 < max_depth
            place = begin
            for i in range(n_children):
                child = n_nodes + i
                value = nodes.value[child]
                place_of[value] = -1
                if may_split and nodes.errors[child] > 0 and nodes.rows[child] >= 2 * min_rows:
                    place_of[value] = place
                    place += nodes.rows[child]
            for i in range(n_children - 1, -1, -1):  # the first child is then taken up first
                child = n_nodes + i
                value = nodes.value[child]
                if place_of[value] >= 0:
                    stack_node[n_open], stack_begin[n_open] = child, place_of[value]
                    stack_depth[n_open], stack_sum[n_open] = depth + 1, class_sums[i]
                    n_open += 1
            if place > begin:
                _move(
                    buffers[source],
                    words[source],
                    words[1 - source],
                    begin,
                    begin + n,
                    best + 1,
                    place_of,
                )
            n_nodes += n_children
        forget(columns, counts, n)
    return nodes, n_nodes, n_open


@njit(cache=True, nogil=True)
def empty_nodes(size):
    return Nodes(
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.float64),
        np.empty(size, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def resized(nodes, size):
    return Nodes(
        _resized_array(nodes.column, size),
        _resized_array(nodes.parent, size),
        _resized_array(nodes.value, size),
        _resized_array(nodes.first_child, size),
        _resized_array(nodes.n_children, size),
        _resized_array(nodes.rows, size),
        _resized_array(nodes.majority, size),
        _resized_array(nodes.errors, size),
        _resized_array(nodes.gain, size),
        _resized_array(nodes.classes_met, size),
    )


@njit(cache=True, nogil=True)
def _resized_array(array, size):
    new = np.empty(size, dtype=array.dtype)
    for i in range(min(size, len(array))):
        new[i] = array[i]
    return new


@njit(cache=True, nogil=True)
def _set_leaf(nodes, node, parent, value):
    """A leaf without rows yet."""
    nodes.column[node] = -1
    nodes.parent[node] = parent
    nodes.value[node] = value
    nodes.first_child[node] = -1
    nodes.n_children[node] = 0
    nodes.rows[node] = 0
    nodes.majority[node] = 0
    nodes.errors[node] = 0
    nodes.gain[node] = 0.0
    nodes.classes_met[node] = 0


@njit(cache=True, nogil=True)
def _class_totals(rows, n_classes):
    of_class = np.zeros(n_classes, dtype=np.int64)
    for i in range(len(rows)):
        of_class[rows[i, 0]] += 1
    return of_class


@njit(cache=True, nogil=True)
def add_root(nodes, of_class, counts):
    """Make node 0 of rows of these classes and return Σ h(n_c)."""
    _set_leaf(nodes, 0, -1, 0)
    class_sum = 0.0
    for label in range(len(of_class)):
        class_sum += n_log_n(of_class[label], counts.small_logs)
        nodes.classes_met[0] += of_class[label] > 0
    nodes.rows[0] = of_class.sum()
    nodes.majority[0] = np.argmax(of_class)
    nodes.errors[0] = nodes.rows[0] - of_class[nodes.majority[0]]
    return class_sum


@njit(cache=True, nogil=True)
def without(columns, n_columns, column):
    """Take a column out of the list in place; how many are left."""
    n_left = 0
    for i in range(n_columns):
        if columns[i] != column:
            columns[n_left] = columns[i]
            n_left += 1
    return n_left


@njit(cache=True, nogil=True)
def add_children(nodes, n_nodes, node, j, gain, counts, n_classes, class_sums):
    """Add a leaf for each value that column j has in the node; ``class_sums`` gets Σ h(n_c)."""
    cells, met, of_value = counts.cells, counts.met, counts.of_value
    first_cell, first_met = counts.first_cell[j], counts.first_met[j]
    n = nodes.rows[node]
    n_children, _ = add_up_values(j, counts, n, n_classes)
    dense = n >= counts.n_cells[j]
    values = counts.values[:n_children]
    if not dense:
        values.sort()
    nodes.column[node] = j
    nodes.gain[node] = gain
    nodes.first_child[node] = n_nodes
    nodes.n_children[node] = n_children
    for i in range(n_children):
        child = n_nodes + i
        _set_leaf(nodes, child, node, values[i])
        nodes.rows[child] = of_value[values[i]]
        nodes.errors[child] = of_value[values[i]]
        of_value[values[i]] = i  # from here on which child it is
        class_sums[i] = 0.0
    for i in range(counts.n_cells[j] if dense else counts.n_met[j]):
        cell = i if dense else met[first_met + i]
        count = cells[first_cell + cell]
        if count > 0:
            value = cell // n_classes
            label = cell - value * n_classes
            child = n_nodes + of_value[value]
            class_sums[of_value[value]] += n_log_n(count, counts.small_logs)
            nodes.classes_met[child] += 1
            errors = nodes.rows[child] - count
            if errors < nodes.errors[child] or (
                errors == nodes.errors[child] and label < nodes.majority[child]
            ):
                nodes.errors[child] = errors
                nodes.majority[child] = label
    for i in range(n_children):
        of_value[values[i]] = 0
    return n_children


@njit(cache=True, nogil=True)
def _move(rows, words, new_words, begin, end, at, place_of):
    """Copy rows to the places of their values, in order; values with place -1 stay behind."""
    n_words = words.shape[1]
    for i in range(begin, end):
        value = rows[i, at]
        place = place_of[value]
        if place >= 0:
            for k in range(n_words):
                new_words[place, k] = words[i, k]
            place_of[value] = place + 1
