"""Edges between tokens, their features, and what these weigh.

A template looks at some columns of the head, some of the modifier, and some of the pair (side,
distance, counts of what lies between).  Its feature on an edge is hashed to a slot of a table of
2^b weights:  slot = (T + H + M + P mod 2⁶⁴) >> (64 - b),  with T the template's own number, H a
hash of the head's part, M of the modifier's, P of the pair's.  H and M are computed once for a
token, P once for each of the few combinations of pair values there are, so that a feature of an
edge costs two additions, a shift and one read of the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from featloom.kernels.compiled import njit

N_SIDES, N_DISTANCES, N_COUNTS = 2, 7, 4


class Layout(NamedTuple):
    """Templates laid out for the kernels: T of them, in groups with the same pair part.

    Attributes
    ----------
    head_part, mod_part : for each template which part of the head and of the modifier it has.
    number : its own number, of 64 random bits.
    pair_part : its pair part.
    groups : bounds of the groups of templates; ``pair_of``: the pair part of each group.
    blocks : bounds of the blocks of groups: first the templates without a set, then those of each
        set column.
    pair_hashes : for each combination of pair values the hashes of the pair parts.
    tag_hashes : of the values of a set.
    shift : 64 less the bits of a slot.
    """

    head_part: np.ndarray
    mod_part: np.ndarray
    number: np.ndarray
    pair_part: np.ndarray
    groups: np.ndarray
    pair_of: np.ndarray
    blocks: np.ndarray
    pair_hashes: np.ndarray
    tag_hashes: np.ndarray
    shift: np.uint64


@njit(cache=True, nogil=True)
def side_code(head, mod):
    """1 where the modifier stands to the left of its head, 2 to the right."""
    return 1 if mod < head else 2


@njit(cache=True, nogil=True)
def distance_code(head, mod):
    """1 to 5 for as many tokens, 6 for six to ten, 7 for more."""
    distance = abs(head - mod)
    if distance <= 5:
        return distance
    return 6 if distance <= 10 else 7


@njit(cache=True, nogil=True)
def count_code(counts, start, head, mod, which):
    """One more than the number of counted tokens strictly between the two, 4 for three or more."""
    low, high = min(head, mod), max(head, mod)
    n = counts[start + high - 1, which] - counts[start + low, which]
    return 1 + min(n, N_COUNTS - 1)


@njit(cache=True, nogil=True)
def pair_code(counts, start, head, mod):
    """The values of side, distance and all counts as one number."""
    code = (side_code(head, mod) - 1) * N_DISTANCES + distance_code(head, mod) - 1
    for which in range(counts.shape[1]):
        code = code * N_COUNTS + count_code(counts, start, head, mod, which) - 1
    return code


@njit(cache=True, nogil=True)
def tags_between(tags, start, head, mod, which):
    """The set of tags strictly between the two, a bit each."""
    low, high = min(head, mod), max(head, mod)
    found = np.uint64(0)
    for at in range(low + 1, high):
        found |= np.uint64(1) << np.uint64(tags[start + at, which])
    return found


@njit(cache=True, nogil=True)
def fill_edges(
    codes, kind, which, starts, edge_starts, edge_heads, head_codes, mod_codes, counts
):  # fmt: skip
    """One edge column of all candidate edges.

    ``kind``: 0 head, 1 modifier, 2 side, 3 distance, 4 count.
    """
    for sentence in range(len(starts) - 1):
        start = starts[sentence]
        for at in range(start, starts[sentence + 1]):
            mod = at - start
            for edge in range(edge_starts[at], edge_starts[at + 1]):
                head = edge_heads[edge]
                if kind == 0:
                    codes[edge] = head_codes[start + head, which]
                elif kind == 1:
                    codes[edge] = mod_codes[at, which]
                elif kind == 2:
                    codes[edge] = side_code(head, mod)
                elif kind == 3:
                    codes[edge] = distance_code(head, mod)
                else:
                    codes[edge] = count_code(counts, start, head, mod, which)


@njit(cache=True, nogil=True)
def mix(hashed, code):
    """Take one more code into a hash of 64 bits; its high bits are as good as its low ones."""
    hashed = (hashed ^ np.uint64(code + 1)) * np.uint64(0x9E3779B97F4A7C15)
    hashed ^= hashed >> np.uint64(32)
    return hashed * np.uint64(0xD6E8FEB86659FD93)


@njit(cache=True, nogil=True)
def hash_parts(codes, part_starts, part_columns, seed):
    """A hash of 64 bits for each row and each part, a part being some of the columns.

    The hash of the empty part is 0.
    """
    n_parts = len(part_starts) - 1
    hashes = np.zeros((len(codes), n_parts), dtype=np.uint64)
    for row in range(len(codes)):
        for part in range(n_parts):
            if part_starts[part] == part_starts[part + 1]:
                continue
            # Mixed first, or seed 1 and column 1 would begin as seed 2 and column 0 do.
            hashed = mix(np.uint64(0), seed)
            for k in range(part_starts[part], part_starts[part + 1]):
                hashed = mix(hashed, part_columns[k])
                hashed = mix(hashed, codes[row, part_columns[k]])
            hashes[row, part] = hashed
    return hashes


@njit(cache=True, nogil=True)
def spread_sentence(layout, start, n, head_hashes, mod_hashes):
    """For each position of a sentence the hashes of all templates' head and modifier parts.

    To that of the head the template's own number is added.
    """
    n_templates = len(layout.number)
    of_head = np.empty((n, n_templates), dtype=np.uint64)
    of_mod = np.empty((n, n_templates), dtype=np.uint64)
    for at in range(n):
        for t in range(n_templates):
            of_head[at, t] = head_hashes[start + at, layout.head_part[t]] + layout.number[t]
            of_mod[at, t] = mod_hashes[start + at, layout.mod_part[t]]
    return of_head, of_mod


@njit(cache=True, nogil=True)
def most_slots(layout):
    """The most features that an edge can have."""
    plain = layout.groups[layout.blocks[1]]
    return plain + len(layout.tag_hashes) * (layout.groups[-1] - plain)


@njit(cache=True, nogil=True, inline="always")
def edge_slots(slots, layout, start, head, mod, counts, tags, of_head, of_mod):
    """The slots of all features of an edge, written into ``slots``; gives how many there are.

    ``of_head`` and ``of_mod`` are what :func:`spread_sentence` made of the sentence.
    """
    pair_row = layout.pair_hashes[pair_code(counts, start, head, mod)]
    heads, mods = of_head[head], of_mod[mod]
    shift = layout.shift
    for g in range(layout.blocks[1]):
        pair = pair_row[layout.pair_of[g]]
        # Slices that begin at 0 let the loop be compiled to vector instructions.
        first, last = layout.groups[g], layout.groups[g + 1]
        own, of_heads, of_mods = slots[first:last], heads[first:last], mods[first:last]
        for t in range(last - first):
            own[t] = (of_heads[t] + of_mods[t] + pair) >> shift
    n = layout.groups[layout.blocks[1]]
    for which in range(len(layout.blocks) - 2):
        between = tags_between(tags, start, head, mod, which)
        tag = 0
        while between:
            if between & np.uint64(1):
                for g in range(layout.blocks[which + 1], layout.blocks[which + 2]):
                    pair = pair_row[layout.pair_of[g]] + layout.tag_hashes[tag]
                    for t in range(layout.groups[g], layout.groups[g + 1]):
                        slots[n] = (heads[t] + mods[t] + pair) >> shift
                        n += 1
            between >>= np.uint64(1)
            tag += 1
    return n


@njit(cache=True, nogil=True, fastmath=True, forceinline=True)
def sum_of(weights, slots, n):
    """The sum of the first n of the slots' weights."""
    score = np.float32(0.0)
    for k in range(n):
        score += weights[slots[k]]
    return score
