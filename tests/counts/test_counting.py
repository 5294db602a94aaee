"""Counting: what meets what, the same from memory and from parts, pruned or not."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import pair_counts

from featloom.counts.evidence import ClassEvidence, Conditions, ResidualEvidence
from featloom.counts.memory import CountedMatrix, best_conjunctions
from featloom.kernels.pairs import EQUAL_TO_PARENT
from featloom.scores import CountScore


@st.composite
def data_sets(draw, n_classes=None):
    """Rows as lists of features, with labels; every class has a row."""
    n_classes = n_classes or draw(st.integers(2, 3))
    n_features = draw(st.integers(2, 8))
    features = st.lists(st.integers(0, n_features - 1), unique=True, max_size=n_features)
    rows = draw(st.lists(features, min_size=n_classes + 1, max_size=24))
    labels = [i % n_classes for i in range(len(rows))]
    return [sorted(row) for row in rows], np.array(draw(st.permutations(labels))), n_features


def csr(rows):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return indptr, np.array([f for row in rows for f in row], dtype=np.int32)


def evidence_of(labels, kind, n_classes, seed=0):
    totals = np.bincount(labels, minlength=n_classes).astype(np.int64)
    if kind != "residual":
        return ClassEvidence(labels, totals, CountScore.named(kind, n_classes=n_classes))
    chances = np.random.default_rng(seed).dirichlet(np.ones(n_classes), len(labels))
    return ResidualEvidence.from_probabilities(labels, chances)


def best(rows, labels, n_features, evidence, *, pruned=True, threads=1, **options):
    indptr, indices = csr(rows)
    sums = evidence.feature_sums(indptr, indices, n_features)
    conditions = options.pop("conditions", Conditions())
    bounds = evidence.bounds_of(sums, conditions.min_support)
    if not pruned:
        bounds = np.full(n_features, np.inf)
    matrix = CountedMatrix.prepare(indptr, indices, n_features)
    return best_conjunctions(
        matrix, evidence, conditions=conditions, bounds=bounds, threads=threads, **options
    )


@given(data_sets())
@settings(max_examples=60, deadline=None)
def test_all_pairs_are_counted_as_by_hand(data):
    rows, labels, n_features = data
    n_classes = int(labels.max()) + 1
    evidence = evidence_of(labels, "mi", n_classes)
    found, tally = best(rows, labels, n_features, evidence, conditions=Conditions(drop_equal=False))
    by_hand = pair_counts(rows, labels.tolist(), n_classes)
    assert {tuple(p): s for p, s in zip(found.parts.tolist(), found.supports, strict=True)} == {
        pair: sum(counts) for pair, counts in by_hand.items()
    }
    counts = np.array([by_hand[tuple(pair)] for pair in found.parts.tolist()], dtype=np.int64)
    scores = evidence.scores_of(counts.reshape(-1, n_classes))
    assert found.scores.tolist() == scores.tolist()
    assert tally[0] == len(by_hand)


@pytest.mark.parametrize("kind", ["mi", "fisher", "su", "chi2", "information_gain", "residual"])
@given(data_sets(), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_pruning_changes_nothing(kind, data, limit, min_support):
    rows, labels, n_features = data
    evidence = evidence_of(labels, kind, int(labels.max()) + 1)
    conditions = Conditions(min_support=min_support)
    pruned, _ = best(rows, labels, n_features, evidence, limit=limit, conditions=conditions)
    whole, _ = best(
        rows, labels, n_features, evidence, limit=limit, conditions=conditions, pruned=False
    )
    assert pruned.parts.tolist() == whole.parts.tolist()
    assert pruned.scores.tolist() == whole.scores.tolist()


@given(data_sets(n_classes=2), st.permutations(range(24)))
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_does_not_matter(data, order):
    rows, labels, n_features = data
    order = [i for i in order if i < len(rows)]
    again = [rows[i] for i in order], labels[order]
    first, _ = best(rows, labels, n_features, evidence_of(labels, "fisher", 2))
    second, _ = best(*again, n_features, evidence_of(again[1], "fisher", 2))
    assert first.parts.tolist() == second.parts.tolist()
    assert first.scores.tolist() == second.scores.tolist()


@pytest.mark.parametrize("kind", ["fisher", "residual"])
def test_threads_change_nothing(kind):
    rng = np.random.default_rng(1)
    rows = [sorted(rng.choice(300, size=20, replace=False).tolist()) for _ in range(800)]
    labels = rng.integers(0, 2, 800)
    evidence = evidence_of(labels, kind, 2)
    one, one_tally = best(rows, labels, 300, evidence, limit=500, threads=1)
    two, two_tally = best(rows, labels, 300, evidence, limit=500, threads=2)
    assert one.parts.tolist() == two.parts.tolist()
    assert one.scores.tolist() == two.scores.tolist()
    assert one_tally.tolist() == two_tally.tolist()


def test_a_conjunction_of_two_values_of_one_column_has_no_support():
    rows = [[0, 2], [1, 2], [0, 3], [1, 3]] * 3  # features 0 and 1 are one column, 2 and 3 another
    labels = np.array([0, 1, 1, 0] * 3)
    found, _ = best(rows, labels, 4, evidence_of(labels, "mi", 2))
    assert sorted(map(tuple, found.parts.tolist())) == [(0, 2), (0, 3), (1, 2), (1, 3)]


def test_a_conjunction_equal_to_one_of_its_parts_is_left_out():
    rows = [[0, 1], [0, 1], [0], [2]]  # 1 never comes without 0
    labels = np.array([0, 1, 1, 0])
    found, tally = best(rows, labels, 3, evidence_of(labels, "mi", 2))
    assert len(found) == 0
    assert tally[EQUAL_TO_PARENT] == 1
    kept, _ = best(
        rows, labels, 3, evidence_of(labels, "mi", 2), conditions=Conditions(drop_equal=False)
    )
    assert kept.parts.tolist() == [[0, 1]]


@pytest.mark.parametrize("threads", [1, 2])
def test_one_thread_is_the_one_that_asks(threads):
    """What it compiles is taken off its own time, and its limit is not passed by it."""

    class Watched(ClassEvidence):
        def walker(self):
            walk = super().walker()

            def watched(*how):
                walked_in.add(threading.get_ident())
                return walk(*how)

            return watched

    walked_in: set[int] = set()
    rows, labels = [[0, 1], [0, 2], [1, 2], [0, 1, 2]] * 4, np.array([0, 1, 0, 1] * 4)
    plain = evidence_of(labels, "mi", 2)
    evidence = Watched(plain.labels, plain.class_totals, plain.score)
    found, _ = best(rows, labels, 3, evidence, threads=threads)
    expected, _ = best(rows, labels, 3, plain, threads=threads)
    assert found.parts.tolist() == expected.parts.tolist()
    assert (walked_in == {threading.get_ident()}) == (threads == 1)
