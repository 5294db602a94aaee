"""Templates over rows of codes: which feature each token has, as numbers and never as strings.

A place of a template is a column and an offset; beyond the ends of a sentence stand edge marks,
one for each distance from the end.  The codes of a template's places are joined to one number, a
place after another, and the numbers that appear are numbered anew from 0.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def join_place(keys, codes, bounds, offset, n_values, reach):
    """Join one more place to the keys, in place; -1 stays, and an unknown code (0) makes it.

    The place takes ``n_values + 2 * reach`` values: the codes from 1, then the marks before and
    after the sentence, for offsets of at most ``reach``.
    """
    radix = n_values + 2 * reach
    for sentence in range(len(bounds) - 1):
        begin, end = bounds[sentence], bounds[sentence + 1]
        for i in range(begin, end):
            if keys[i] < 0:
                continue
            at = i + offset
            if at < begin:
                value = n_values + (begin - at) - 1
            elif at >= end:
                value = n_values + reach + (at - end)
            else:
                value = codes[at]
                if value == 0:
                    keys[i] = -1
                    continue
            keys[i] = keys[i] * radix + value


@njit(cache=True, nogil=True)
def number_keys(keys):
    """Number keys in order of first appearance: (numbers, the keys in that order); -1 stays -1."""
    n = len(keys)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    found = np.empty(n, dtype=np.int64)
    numbers = np.full(n, -1, dtype=np.int32)
    n_found = 0
    for i in range(n):
        key = keys[i]
        if key < 0:
            continue
        slot = mix(key) & mask
        while slots[slot] >= 0 and found[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = n_found
            found[n_found] = key
            n_found += 1
        numbers[i] = slots[slot]
    return numbers, found[:n_found].copy()


@njit(cache=True, nogil=True)
def hash_keys(known):
    """A table from keys to their numbers: key ``known[i]`` has number i."""
    size = 16
    while size < 2 * len(known):
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    for i in range(len(known)):
        slot = mix(known[i]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = i
    return slots


@njit(cache=True, nogil=True)
def find_keys(keys, known, slots):
    """The numbers of keys in a table made by :func:`hash_keys`; -1 where a key is not known."""
    mask = np.uint64(len(slots) - 1)
    numbers = np.full(len(keys), -1, dtype=np.int32)
    for i in range(len(keys)):
        key = keys[i]
        if key < 0:
            continue
        slot = mix(key) & mask
        while slots[slot] >= 0 and known[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        numbers[i] = slots[slot]
    return numbers


@njit(cache=True, nogil=True)
def mix(key):
    """Spread the bits of a key, so that keys in a row fall into slots far apart."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
