"""Counting in blocks: however the rows are cut, the counts are those of all rows at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.counts.blocks import (
    ClassesOfBlocks,
    GrowingParents,
    best_conjunctions_of_blocks,
    count_blocks,
    marks_of_features,
    sums_of_features,
)
from featloom.counts.evidence import ClassEvidence, Conditions, ResidualEvidence
from featloom.counts.memory import CountedMatrix, best_conjunctions, count_features
from featloom.data.blocks import MatrixBlocks
from featloom.data.matrix import FeatureMatrix
from featloom.features.expand import ConjunctionTrie
from featloom.kernels import rows as row_kernels
from featloom.kernels.gradients import ONE
from featloom.scores import CountScore


@st.composite
def cut_data(draw, n_classes=None):
    """A matrix, and the same rows in blocks."""
    n_classes = n_classes or draw(st.integers(2, 3))
    n_features = draw(st.integers(2, 8))
    features = st.lists(st.integers(0, n_features - 1), unique=True, max_size=n_features)
    rows = [sorted(row) for row in draw(st.lists(features, min_size=n_classes + 1, max_size=24))]
    labels = np.array(draw(st.permutations([i % n_classes for i in range(len(rows))])))
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=4))
    matrix = matrix_of(rows, labels, n_features)
    ends = sorted({0, len(rows), *cuts})
    return matrix, MatrixBlocks.of([matrix.take(np.arange(a, b)) for a, b in pairwise(ends)])


def matrix_of(rows, labels, n_features) -> FeatureMatrix:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return FeatureMatrix(
        indptr,
        np.array([feature for row in rows for feature in row], dtype=np.int32),
        [f"x{j}" for j in range(n_features)],
        np.arange(n_features, dtype=np.int32),
        tuple(f"x{j}" for j in range(n_features)),
        np.ones(n_features, dtype=bool),
        labels=labels,
        classes=tuple(f"c{k}" for k in range(int(labels.max()) + 1)),
    )


class ResidualsByFeature:
    """Residuals that depend on a row alone, so that every cut gives the same."""

    n_sums = 3

    def __init__(self, n_lanes: int):
        self.n_sums = 1 + 2 * n_lanes
        self.n_lanes = n_lanes

    def of(self, block):
        sizes = np.diff(block.indptr)
        noise = (sizes * 37 + block.known_labels * 11) % 17 / 17 - 0.4
        fixed = np.rint(np.stack([noise] * self.n_lanes, axis=1) * ONE).astype(np.int32)
        return ResidualEvidence(fixed)

    def supports_of(self, sums):
        return sums[:, 0]

    def scores_of(self, sums):
        return ResidualEvidence(np.empty((0, self.n_lanes), np.int32)).scores_of(sums)


def evidence_of(kind, matrix):
    """The evidence of all rows at once, and the same for blocks."""
    n_classes = len(matrix.classes)
    if kind == "residual":
        in_blocks = ResidualsByFeature(1 if n_classes == 2 else n_classes)
        return in_blocks.of(matrix), in_blocks
    totals = np.bincount(matrix.labels, minlength=n_classes).astype(np.int64)
    evidence = ClassEvidence(
        matrix.known_labels, totals, CountScore.named(kind, n_classes=n_classes)
    )
    return evidence, ClassesOfBlocks(evidence)


@given(cut_data())
@settings(max_examples=60, deadline=None)
def test_any_partition_gives_the_same_counts_of_features(data):
    matrix, blocks = data
    whole = count_features(
        matrix.indptr, matrix.indices, matrix.shape[1], matrix.labels, len(matrix.classes)
    )
    counted = count_blocks(blocks)
    assert counted.counts.tolist() == whole.counts.tolist()
    assert counted.class_totals.tolist() == whole.class_totals.tolist()


@given(cut_data())
@settings(max_examples=30, deadline=None)
def test_features_with_the_same_rows_are_known_in_blocks_too(data):
    matrix, blocks = data
    whole = row_kernels.row_set_marks(matrix.indptr, matrix.indices, matrix.shape[1])
    assert marks_of_features(blocks).tolist() == whole.tolist()


@pytest.mark.parametrize("kind", ["mi", "fisher", "chi2", "residual"])
@given(cut_data(), st.integers(1, 6), st.integers(1, 30), st.integers(1, 3), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_any_partition_and_any_slices_give_the_same_best_pairs(
    kind, data, limit, most_pairs, min_support, top
):
    matrix, blocks = data
    evidence, in_blocks = evidence_of(kind, matrix)
    n_features = matrix.shape[1]
    sums = evidence.feature_sums(matrix.indptr, matrix.indices, n_features)
    if kind == "residual":
        assert sums_of_features(blocks, in_blocks).tolist() == sums.tolist()
    supports = np.bincount(matrix.indices, minlength=n_features)
    how = {
        "conditions": Conditions(min_support=min_support, top=top),
        "bounds": evidence.bounds_of(sums, min_support),
        "ranks": np.argsort(np.argsort(-supports, kind="stable")),
        "limit": limit,
    }
    counted = CountedMatrix.prepare(matrix.indptr, matrix.indices, n_features)
    whole, _ = best_conjunctions(counted, evidence, **how)
    found, _ = best_conjunctions_of_blocks(
        blocks, in_blocks, supports=supports, most_pairs=most_pairs, **how
    )
    assert found.parts.tolist() == whole.parts.tolist()
    assert found.scores.tolist() == whole.scores.tolist()
    assert found.supports.tolist() == whole.supports.tolist()


class RowsOfConjunctions:
    def __init__(self, parts, supports):
        self.parts = parts
        self.trie = ConjunctionTrie(parts, n_features=len(supports), supports=supports)

    def __call__(self, block):
        indptr, indices = self.trie.rows(block.indptr, block.indices)
        starts, rows, _ = row_kernels.transpose(indptr, indices, len(self.parts))
        return starts, rows


@given(cut_data(), st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_longer_conjunctions_grow_in_blocks_as_in_memory(data, most_pairs):
    matrix, blocks = data
    evidence, in_blocks = evidence_of("mi", matrix)
    n_features = matrix.shape[1]
    supports = np.bincount(matrix.indices, minlength=n_features)
    sums = evidence.feature_sums(matrix.indptr, matrix.indices, n_features)
    how = {"conditions": Conditions(), "bounds": evidence.bounds_of(sums, 1), "limit": 5}
    counted = CountedMatrix.prepare(matrix.indptr, matrix.indices, n_features)
    two, _ = best_conjunctions(counted, evidence, **how)
    if not len(two):
        return
    rows_of = RowsOfConjunctions(two.parts, supports)
    whole, _ = best_conjunctions(counted, evidence, parents=(two.parts, *rows_of(matrix)), **how)
    found, _ = best_conjunctions_of_blocks(
        blocks,
        in_blocks,
        supports=supports,
        parents=GrowingParents(two.parts, two.supports, rows_of),
        most_pairs=most_pairs,
        **how,
    )
    assert found.parts.tolist() == whole.parts.tolist()
    assert found.scores.tolist() == whole.scores.tolist()
