"""The kernels of multiway trees against their twin, and the laws that every tree keeps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_twin import (
    flattened,
    plain_added_errors,
    plain_prune_by_error,
    plain_prune_by_gain,
    plain_tree,
)

from featloom.data.table import NominalTable
from featloom.kernels.tree_pruning import added_errors
from featloom.learners.tree import grow_tree, prune_by_error, prune_by_gain

CRITERIA = ["gain_ratio", "information_gain"]


def table_of(rows, labels, n_values, n_classes):
    """Codes as they are; code 0 is unknown."""
    n_columns = len(n_values)
    return NominalTable(
        tuple(f"c{j}" for j in range(n_columns)),
        np.asfortranarray(np.array(rows, dtype=np.int32).reshape(len(rows), n_columns)),
        tuple(tuple(f"v{v}" for v in range(1, n + 1)) for n in n_values),
        labels=np.array(labels, dtype=np.int32),
        classes=tuple(f"k{c}" for c in range(n_classes)),
    )


@st.composite
def tables(draw):
    n_values = draw(st.lists(st.sampled_from([1, 2, 3, 5, 40]), min_size=1, max_size=5))
    n_classes = draw(st.integers(1, 4))
    n_rows = draw(st.integers(1, 60))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, n + 1, n_rows) for n in n_values], axis=1)
    labels = random.integers(0, n_classes, n_rows)
    # Part of the rows follow a rule, so that trees are deep and pruning keeps something.
    ruled = random.random(n_rows) < draw(st.sampled_from([0.0, 0.7, 1.0]))
    labels[ruled] = codes[ruled].sum(axis=1) % n_classes
    return table_of(codes, labels, n_values, n_classes)


def arrays_of(tree):
    names = ("column", "parent", "value", "rows", "majority", "errors", "classes_met")
    return list(zip(*(getattr(tree, name).tolist() for name in names), strict=True))


def assert_same(tree, root):
    nodes, gains = flattened(root)
    assert arrays_of(tree) == nodes
    assert tree.gain == pytest.approx(gains, abs=1e-9)


@given(tables(), st.sampled_from(CRITERIA), st.integers(1, 4), st.sampled_from([None, 0, 1, 2]))
def test_the_tree_is_its_twin_node_for_node(table, criterion, min_rows, max_depth):
    tree = grow_tree(table, criterion=criterion, min_rows=min_rows, max_depth=max_depth)
    rows, labels = table.codes.tolist(), table.labels.tolist()
    columns = list(range(len(table.columns)))
    assert_same(tree, plain_tree(rows, labels, columns, criterion, min_rows, max_depth))


@given(tables(), st.sampled_from(CRITERIA), st.sampled_from([0.05, 0.25, 0.5]))
def test_what_error_pruning_leaves_is_what_its_twin_leaves(table, criterion, confidence):
    columns = list(range(len(table.columns)))
    root = plain_tree(table.codes.tolist(), table.labels.tolist(), columns, criterion, 2, None)
    plain_prune_by_error(root, confidence)
    assert_same(prune_by_error(grow_tree(table, criterion=criterion), confidence), root)


@given(tables(), st.sampled_from(CRITERIA), st.sampled_from([0.001, 0.05, 0.3]))
def test_what_the_test_of_gains_leaves_is_what_its_twin_leaves(table, criterion, level):
    columns = list(range(len(table.columns)))
    root = plain_tree(table.codes.tolist(), table.labels.tolist(), columns, criterion, 1, None)
    plain_prune_by_gain(root, level)
    tree = grow_tree(table, criterion=criterion, min_rows=1)
    assert_same(prune_by_gain(tree, level), root)


@given(tables(), st.randoms(use_true_random=False))
def test_chosen_columns_and_rows_are_a_table_of_their_own(table, random):
    columns = random.sample(range(len(table.columns)), random.randint(1, len(table.columns)))
    rows = np.array(random.choices(range(len(table)), k=random.randint(1, len(table))))
    tree = grow_tree(table, columns=columns, rows=rows)
    codes, labels = table.codes[rows].tolist(), table.labels[rows].tolist()
    assert_same(tree, plain_tree(codes, labels, columns, "gain_ratio", 2, None))


@given(tables(), st.integers(1, 3))
def test_the_rows_of_a_node_are_those_of_its_children(table, min_rows):
    grown = grow_tree(table, min_rows=min_rows)
    for tree in (grown, prune_by_error(grown), prune_by_gain(grown, 0.3)):
        assert tree.rows[0] == len(table)
        for node in np.flatnonzero(~tree.is_leaf):
            children = tree.first_child[node] + np.arange(tree.n_children[node])
            assert tree.rows[children].sum() == tree.rows[node]
            assert tree.errors[children].sum() <= tree.errors[node]
            assert (tree.parent[children] == node).all()
            assert (np.diff(tree.value[children]) > 0).all()
            assert (tree.depth[children] == tree.depth[node] + 1).all()
        assert tree.n_children.sum() == len(tree) - 1
        assert (tree.predict(table.codes) != table.labels).sum() == tree.errors[tree.is_leaf].sum()


@given(tables())
def test_a_tree_of_single_rows_says_the_majority_of_rows_that_are_alike(table):
    # By information gain: gain ratio may refuse all splits of a node for want of an average.
    tree = grow_tree(table, criterion="information_gain", min_rows=1)
    alike = {}
    for row, label in zip(table.codes.tolist(), table.labels.tolist(), strict=True):
        alike.setdefault(tuple(row), Counter())[label] += 1
    said = tree.predict(table.codes)
    stuck = tree_nodes_without_gain(tree, table)
    for row, label, at_rest in zip(table.codes.tolist(), said.tolist(), stuck, strict=True):
        counts = alike[tuple(row)]
        if not at_rest:
            assert label == min(counts, key=lambda c: (-counts[c], c))


def tree_nodes_without_gain(tree, table):
    """For each row, whether it ends with rows unlike it, since no single column tells them."""
    ends = []
    for row in table.codes.tolist():
        node = 0
        while tree.column[node] >= 0:
            children = tree.first_child[node] + np.arange(tree.n_children[node])
            node = children[tree.value[children] == row[tree.column[node]]][0]
        ends.append(int(node))
    unlike = {}
    for row, end in zip(table.codes.tolist(), ends, strict=True):
        unlike.setdefault(end, set()).add(tuple(row))
    return [len(unlike[end]) > 1 and tree.errors[end] > 0 for end in ends]


@given(tables(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_does_not_matter(table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    tree, other = grow_tree(table), grow_tree(table, rows=order)
    assert arrays_of(tree) == arrays_of(other)
    assert tree.gain == pytest.approx(other.gain, abs=1e-12)


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.sampled_from([0.01, 0.25, 0.5]))
def test_added_errors_are_quinlans_upper_limit(rows, errors, confidence):
    from scipy.special import ndtri

    errors = min(errors, rows)
    added = added_errors(rows, errors, confidence, ndtri(1 - confidence))
    assert added == pytest.approx(plain_added_errors(rows, errors, confidence), abs=1e-9)
    assert 0 <= added <= rows - errors + 1e-9


def test_seventy_thousand_values_need_more_than_sixteen_bits():
    n = 70_000
    word = np.concatenate((np.arange(1, n + 1), np.arange(1, n + 1)))
    coin = np.arange(2 * n) % 2 + 1
    labels = word % 3  # told by the word alone
    table = table_of(np.stack((coin, word), axis=1), labels, [2, n], 3)
    tree = grow_tree(table, criterion="information_gain")
    assert tree.column[0] == 1
    assert len(tree) == n + 1
    assert tree.value[1:].tolist() == list(range(1, n + 1))
    assert (tree.predict(table.codes) == labels).all()
    # Half the values a row: word is out of the average, which is the coin's, and wins alone.
    assert grow_tree(table).column[0] == 1


def test_large_and_small_nodes_of_many_values_and_classes_follow_the_twin():
    random = np.random.default_rng(7)
    n_values = [300, 4, 20, 2]
    codes = np.stack([random.integers(0, n + 1, 3000) for n in n_values], axis=1)
    labels = (codes[:, 0] % 7 * (codes[:, 1] > 2) + codes[:, 2] + random.integers(0, 2, 3000)) % 30
    table = table_of(codes, labels, n_values, 30)
    for criterion in CRITERIA:
        root = plain_tree(codes.tolist(), labels.tolist(), [0, 1, 2, 3], criterion, 2, None)
        tree = grow_tree(table, criterion=criterion)
        assert tree.n_internal > 20
        assert_same(tree, root)
        plain_prune_by_error(root, 0.25)
        assert_same(prune_by_error(tree), root)
