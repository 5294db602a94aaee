"""Values × classes of the rows of a tree's node, for all columns that may split it at once.

With h(n) = n log2 n, N rows, n_c of class c, n_v with value v and n_vc of both, the counts give

=================  ==============================================================================
gain               [h(N) − Σ h(n_c) − Σ h(n_v) + Σ h(n_vc)] / N     bits a row
split entropy      [h(N) − Σ h(n_v)] / N
gain ratio         gain / split entropy
=================  ==============================================================================

The work for a node grows with its rows, never with the values and classes that there are: in a
node with fewer rows than a column has cells, the cells that are met are listed, and only these
are added up and cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from featloom.kernels.compiled import njit

TIE = 1e-6  # what C4.5's heir J48 takes for equal
BELOW_AVERAGE = 1e-3  # how far below the average the gain of a split may be
MANY_VALUES = 0.3  # values a row that are too many for a column's gain to count in the average
SMALL = 2048  # row counts whose n log2 n is looked up


class Counts(NamedTuple):
    """Values × classes of each column in the node at hand, and all zero between two nodes.

    The cell of value v and class c is ``cells[first_cell[j] + v * n_classes + c]``.  In a node
    with fewer rows than a column has cells, ``met`` lists the cells that are not 0.
    """

    cells: np.ndarray
    first_cell: np.ndarray
    n_cells: np.ndarray
    met: np.ndarray
    first_met: np.ndarray
    n_met: np.ndarray
    of_value: np.ndarray  # rows with each value, for one column at a time
    values: np.ndarray  # those that are there
    small_logs: np.ndarray


@njit(cache=True, nogil=True)
def no_counts(n_values, n_classes, n_rows):
    n_columns = len(n_values)
    first_cell = np.zeros(n_columns + 1, dtype=np.int64)
    first_met = np.zeros(n_columns + 1, dtype=np.int64)
    for j in range(n_columns):
        n_cells = n_values[j] * n_classes
        first_cell[j + 1] = first_cell[j] + n_cells
        first_met[j + 1] = first_met[j] + min(n_cells, n_rows)
    most_values = n_values.max() if n_columns else 1
    logs = np.zeros(SMALL, dtype=np.float64)
    for n in range(2, SMALL):
        logs[n] = n * np.log2(n)
    return Counts(
        np.zeros(first_cell[n_columns], dtype=np.int32),
        first_cell,
        n_values * n_classes,
        np.empty(first_met[n_columns], dtype=np.int32),
        first_met,
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(most_values, dtype=np.int32),
        np.empty(most_values, dtype=np.int32),
        logs,
    )


@njit(cache=True, nogil=True)
def count_rows(rows, begin, end, columns, counts, n_classes):
    """Add the rows to the counts of the columns."""
    n = end - begin
    sparse = np.empty(len(columns), dtype=np.int64)
    dense = np.empty(len(columns), dtype=np.int64)
    n_sparse = n_dense = 0
    for j in columns:
        counts.n_met[j] = 0
        if n < counts.n_cells[j]:
            sparse[n_sparse] = j
            n_sparse += 1
        else:
            dense[n_dense] = j
            n_dense += 1
    if n_dense > 0:
        _count_dense(rows, begin, end, dense[:n_dense], counts, n_classes)
    if n_sparse > 0:
        _count_sparse(rows, begin, end, sparse[:n_sparse], counts, n_classes)


@njit(cache=True, nogil=True)
def _count_dense(rows, begin, end, columns, counts, n_classes):
    cells, first_cell = counts.cells, counts.first_cell
    for i in range(begin, end):
        label = rows[i, 0]
        for j in columns:
            cells[first_cell[j] + rows[i, j + 1] * n_classes + label] += 1


@njit(cache=True, nogil=True)
def _count_sparse(rows, begin, end, columns, counts, n_classes):
    cells, first_cell = counts.cells, counts.first_cell
    met, first_met, n_met = counts.met, counts.first_met, counts.n_met
    for i in range(begin, end):
        label = rows[i, 0]
        for j in columns:
            cell = rows[i, j + 1] * n_classes + label
            place = first_cell[j] + cell
            cells[place] += 1
            if cells[place] == 1:
                met[first_met[j] + n_met[j]] = cell
                n_met[j] += 1


@njit(cache=True, nogil=True)
def add_up_values(j, counts, n, n_classes):
    """Rows with each value into ``of_value``, to be cleared; (how many values, Σ h(n_vc))."""
    cells, met, of_value, values = counts.cells, counts.met, counts.of_value, counts.values
    first_cell, first_met = counts.first_cell[j], counts.first_met[j]
    dense = n >= counts.n_cells[j]
    n_values = 0
    cell_sum = 0.0
    for i in range(counts.n_cells[j] if dense else counts.n_met[j]):
        cell = i if dense else met[first_met + i]
        count = cells[first_cell + cell]
        if count > 0:
            value = cell // n_classes
            if of_value[value] == 0:
                values[n_values] = value
                n_values += 1
            of_value[value] += count
            cell_sum += n_log_n(count, counts.small_logs)
    return n_values, cell_sum


@njit(cache=True, nogil=True)
def gain_of(j, counts, n, class_sum, n_classes, min_rows):
    """Gain and gain ratio of a column, and whether it is valid."""
    of_value, values = counts.of_value, counts.values
    n_values, cell_sum = add_up_values(j, counts, n, n_classes)
    n_large = 0
    value_sum = 0.0
    for i in range(n_values):
        count = of_value[values[i]]
        of_value[values[i]] = 0
        n_large += count >= min_rows
        value_sum += n_log_n(count, counts.small_logs)
    if n_large < 2:
        return 0.0, 0.0, False
    total = n_log_n(n, counts.small_logs)
    gain = total - class_sum - value_sum + cell_sum
    if gain < TIE:
        gain = 0.0
    return gain / n, gain / (total - value_sum), True


@njit(cache=True, nogil=True)
def n_log_n(n, small_logs):
    if n < SMALL:
        return small_logs[n]
    return n * np.log2(n)


@njit(cache=True, nogil=True)
def find_many_valued(columns, counts, n_rows, n_classes, many_valued):
    """Mark the columns with so many values that they stay out of the average gain."""
    n_marked = 0
    for j in columns:
        n_values, _ = add_up_values(j, counts, n_rows, n_classes)
        for i in range(n_values):
            counts.of_value[counts.values[i]] = 0
        many_valued[j] = n_values > MANY_VALUES * n_rows - TIE
        n_marked += many_valued[j]
    if n_marked == len(columns):
        many_valued[:] = False


@njit(cache=True, nogil=True)
def best_column(valid, gains, ratios, many_valued, by_ratio):
    """The valid column to split by, or -1."""
    gain_sum = 0.0
    n_averaged = 0
    for j in valid:
        if not many_valued[j]:
            gain_sum += gains[j]
            n_averaged += 1
    best = -1
    best_score = 0.0
    if by_ratio and n_averaged == 0:
        return best
    for j in valid:
        score = ratios[j] if by_ratio else gains[j]
        if score - best_score > TIE and (
            not by_ratio or gains[j] >= gain_sum / n_averaged - BELOW_AVERAGE
        ):
            best = j
            best_score = score
    return best


@njit(cache=True, nogil=True)
def forget(columns, counts, n):
    """Set the counts of the columns back to 0."""
    for j in columns:
        first = counts.first_cell[j]
        if n < counts.n_cells[j]:
            for i in range(counts.n_met[j]):
                counts.cells[first + counts.met[counts.first_met[j] + i]] = 0
        else:
            for cell in range(counts.n_cells[j]):
                counts.cells[first + cell] = 0
