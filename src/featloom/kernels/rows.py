"""Walks over the rows of a sparse binary matrix."""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def families_that_repeat(indptr, indices, family_of, n_families):
    """For each family, whether some row holds two of its features."""
    repeats = np.zeros(n_families, dtype=np.bool_)
    seen_in = np.full(n_families, -1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            family = family_of[indices[place]]
            if seen_in[family] == row:
                repeats[family] = True
            seen_in[family] = row
    return repeats


@njit(cache=True, nogil=True)
def rows_of_codes(codes, first_feature):
    """Value codes as CSR arrays: code c > 0 of column j is feature first_feature[j] + c - 1."""
    n_rows, n_columns = codes.shape
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for j in range(n_columns):
        column = codes[:, j]
        for row in range(n_rows):
            indptr[row + 1] += column[row] > 0
    for row in range(n_rows):
        indptr[row + 1] += indptr[row]
    indices = np.empty(indptr[n_rows], dtype=np.int32)
    place = indptr[:-1].copy()
    for j in range(n_columns):
        column = codes[:, j]
        first = first_feature[j] - 1
        for row in range(n_rows):
            if column[row] > 0:
                indices[place[row]] = first + column[row]
                place[row] += 1
    return indptr, indices


@njit(cache=True, nogil=True)
def transpose(indptr, indices, n_columns):
    """Rows of each column, ascending, and the places of its entries: (starts, rows, places)."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for place in range(len(indices)):
        starts[indices[place] + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    rows = np.empty(len(indices), dtype=np.int32)
    places = np.empty(len(indices), dtype=np.int64)
    next_place = starts[:-1].copy()
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            column = indices[place]
            rows[next_place[column]] = row
            places[next_place[column]] = place
            next_place[column] += 1
    return starts, rows, places


@njit(cache=True, nogil=True)
def relabel(indptr, indices, new_label):
    """The matrix with its columns renamed; a column whose new label is -1 is left out.

    The features of each row ascend in the new labels.
    """
    new_indptr = np.zeros_like(indptr)
    kept = np.empty(len(indices), dtype=np.int32)
    n_kept = 0
    for row in range(len(indptr) - 1):
        begin = n_kept
        in_order = True
        for place in range(indptr[row], indptr[row + 1]):
            label = new_label[indices[place]]
            if label >= 0:
                if n_kept > begin and label < kept[n_kept - 1]:
                    in_order = False
                kept[n_kept] = label
                n_kept += 1
        if not in_order:
            kept[begin:n_kept].sort()
        new_indptr[row + 1] = n_kept
    return new_indptr, kept[:n_kept].copy()


@njit(cache=True, nogil=True)
def row_set_marks(indptr, indices, n_features, first_row=0):
    """For each feature two numbers that are the same for features with the same rows.

    The number of rows, and the sum of a 64-bit mix (splitmix64) of the row numbers, of which
    ``first_row`` is the first: two different sets of rows share it with a chance of 2**-64.
    Marks of parts of the data add up.
    """
    marks = np.zeros((n_features, 2), dtype=np.uint64)
    for row in range(len(indptr) - 1):
        number = np.uint64(first_row + row)
        mix = number * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
        mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mix = mix ^ (mix >> np.uint64(31))
        for place in range(indptr[row], indptr[row + 1]):
            marks[indices[place], 0] += np.uint64(1)
            marks[indices[place], 1] += mix
    return marks
