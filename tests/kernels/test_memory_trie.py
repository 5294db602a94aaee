"""Cases sorted, merged and laid out as a trie: nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featloom.kernels.instances import build_trie, find_rows
from featloom.learners.cases import merge

N_CLASSES = 3


@st.composite
def stored(draw):
    n, n_columns = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    codes = draw(arrays(np.uint16, (n_columns, n), elements=st.integers(0, 4)))
    return codes, draw(arrays(np.int64, n, elements=st.integers(0, N_CLASSES - 1)))


def leaves_of(cases):
    codes, labels = cases
    return merge(codes, np.full(len(codes), 5), labels, N_CLASSES)


def counts_of(codes, labels):
    return Counter(zip(map(tuple, codes.T.tolist()), labels.tolist(), strict=True))


def histograms(leaves):
    return Counter(
        {
            (tuple(row), int(leaves.classes[cell])): int(leaves.counts[cell])
            for i, row in enumerate(leaves.codes.tolist())
            for cell in range(leaves.start[i], leaves.start[i + 1])
        }
    )


@given(stored())
@settings(max_examples=100)
def test_leaves_are_the_different_cases_in_order_with_all_their_classes(cases):
    leaves, leaf_of = leaves_of(cases)
    rows = list(map(tuple, leaves.codes.tolist()))
    assert rows == sorted(set(rows))
    assert histograms(leaves) == counts_of(*cases)
    assert (leaves.codes[leaf_of] == cases[0].T).all()


@given(stored())
@settings(max_examples=100)
def test_leaves_merged_again_by_fewer_columns_are_cases_of_fewer_columns(cases):
    codes, labels = cases
    leaves, _ = leaves_of(cases)
    fewer = np.ascontiguousarray(leaves.codes.T[:1])
    again, _ = merge(fewer, np.array([5]), leaves[1:], N_CLASSES)
    assert histograms(again) == counts_of(codes[:1], labels)


@given(stored())
@settings(max_examples=100)
def test_every_leaf_is_found_once_on_a_walk_down_the_trie(cases):
    leaves, _ = leaves_of(cases)
    value, first_leaf, child, end, n_root = build_trie(leaves.codes)
    reached = []

    def walk(begin, stop, beginning):
        siblings = value[begin:stop].tolist()
        assert siblings == sorted(set(siblings))
        for node in range(begin, stop):
            path = (*beginning, int(value[node]))
            leaf = leaves.codes[first_leaf[node]].tolist()
            assert tuple(leaf[: len(path)]) == path
            if child[node] < 0:
                reached.append(tuple(leaf))
            else:
                walk(child[node], end[node], path)

    walk(0, n_root, ())
    assert reached == list(map(tuple, leaves.codes.tolist()))


@given(stored(), st.data())
@settings(max_examples=100)
def test_a_case_is_found_where_it_is_stored_and_nowhere_else(cases, data):
    leaves, _ = leaves_of(cases)
    shape = (8, leaves.codes.shape[1])
    asked = data.draw(arrays(np.uint16, shape, elements=st.integers(0, 4)))
    rows = leaves.codes.tolist()
    for query, found in zip(asked.tolist(), find_rows(leaves.codes, asked), strict=True):
        assert found == (rows.index(query) if query in rows else -1)
