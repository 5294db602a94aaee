"""The procedure of induction on data that comes in blocks.

The same steps as in memory; what looks at the rows is counted block by block
(:mod:`featloom.counts.blocks`).  Under ``score="residual"`` the logistic regression behind the
score is fitted on a sample of the rows, since it needs its rows in memory; the gradient sums of the
conjunctions are those of all rows under that model.  Where the sample is all rows, what is found is
what would be found in memory, to the last bit.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from featloom.cluster import reduced
from featloom.counts.blocks import (
    BlockEvidence,
    ClassesOfBlocks,
    GrowingParents,
    best_conjunctions_of_blocks,
    count_blocks,
    marks_of_features,
    sums_of_features,
)
from featloom.counts.evidence import ClassEvidence, FeatureCounts, ResidualEvidence
from featloom.counts.memory import count_features
from featloom.counts.ranking import Conjunctions
from featloom.data.blocks import Blocks
from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.features.expand import ConjunctionTrie
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.procedure import Join, Procedure, RowsOfConjunctions


class BlockProcedure(Procedure):
    """One run on blocks; ``sample_rows`` the linear model was fitted on, None if there is none."""

    def __init__(self, settings: dict, blocks: Blocks):
        self.blocks = blocks
        self.sample_rows: int | None = None
        labels = np.empty(0, dtype=np.int64)
        super().__init__(settings, blocks.like, labels, len(blocks.classes))

    def _counted(self) -> FeatureCounts:
        return count_blocks(self.blocks)

    def _atomic_gains(self) -> np.ndarray:
        shares = self.counts.class_totals / self.counts.n_rows
        evidence = ResidualsOfBlocks(None, shares, self._how_residuals_add)
        return evidence.scores_of(sums_of_features(self.blocks, evidence))

    def _block_evidence(self, kept: np.ndarray) -> tuple[BlockEvidence, np.ndarray]:
        """What rows bring, and for each feature a score that no conjunction with it exceeds."""
        least = self.settings["min_support"]
        if self.settings["score"] != "residual":
            totals = self.counts.class_totals
            of_classes = ClassEvidence(self.labels, totals, self._count_score())
            return ClassesOfBlocks(of_classes), of_classes.bounds_of(self.counts.counts, least)
        columns = np.sort(kept)
        sample = self.blocks.sample()
        self.sample_rows = len(sample)
        if len(sample) < len(self.blocks):
            warnings.warn(
                f"the linear model behind score='residual' was fitted on {len(sample):,} of "
                f"{len(self.blocks):,} rows",
                stacklevel=4,
            )
        labels = sample.known_labels
        if len(np.unique(labels)) < self.n_classes:
            raise InputError(
                f"the {len(sample):,} rows of the sample do not show every class; "
                "allow it more rows, or take another score than 'residual'"
            )
        model = logistic_regression(self.settings["C"]).fit(sample.to_csr()[:, columns], labels)
        evidence = ResidualsOfBlocks(columns, model, self._how_residuals_add)
        return evidence, evidence.bounds_of(sums_of_features(self.blocks, evidence), least)

    def _marks(self) -> np.ndarray:
        return marks_of_features(self.blocks)

    def _joining(self, kept: np.ndarray, in_play: np.ndarray) -> Join:
        evidence, bounds = self._block_evidence(kept)
        supports = self.counts.supports

        def join(shorter: Conjunctions | None, **how):
            parents = None
            if shorter is not None:
                rows_of = RowsOfConjunctions(shorter.parts, supports)
                parents = GrowingParents(shorter.parts, shorter.supports, rows_of)
            return best_conjunctions_of_blocks(
                self.blocks, evidence, supports=supports, bounds=bounds, keep=in_play,
                parents=parents, **how,
            )  # fmt: skip

        return join

    def _counts_of(self, trie: ConjunctionTrie) -> np.ndarray:
        numbers = range(self.blocks.n_blocks)
        return reduced(_counts_of_run, (self.blocks, trie), numbers, operator.add)


class ResidualsOfBlocks:
    """The residuals of each row of a block under a model, in fixed point.

    ``model`` is fitted on the given columns; or an array, the share of each class whatever the row.
    """

    def __init__(self, columns: np.ndarray | None, model: Any, aggregate: int):
        self.columns, self.model, self.aggregate = columns, model, aggregate
        n_classes = len(model) if columns is None else len(model.classes_)
        lanes = 1 if n_classes == 2 else n_classes
        self.n_sums = 1 + 2 * lanes
        # Scores what was summed; it has no rows of its own.
        self._empty = ResidualEvidence(np.empty((0, lanes), np.int32), aggregate=aggregate)

    def of(self, block: FeatureMatrix) -> ResidualEvidence:
        if self.columns is None:
            chances = np.tile(self.model, (len(block), 1))
        elif len(block):
            chances = self.model.predict_proba(block.to_csr()[:, self.columns])
        else:
            chances = np.empty((0, len(self.model.classes_)))
        return ResidualEvidence.from_probabilities(
            block.known_labels, chances, aggregate=self.aggregate
        )

    def supports_of(self, sums: np.ndarray) -> np.ndarray:
        return self._empty.supports_of(sums)

    def scores_of(self, sums: np.ndarray) -> np.ndarray:
        return self._empty.scores_of(sums)

    def bounds_of(self, sums: np.ndarray, min_support: int) -> np.ndarray:
        return self._empty.bounds_of(sums, min_support)


def _counts_of_run(how: tuple[Blocks, ConjunctionTrie], numbers) -> np.ndarray:
    blocks, trie = how
    total = np.zeros((trie.n_outputs, len(blocks.classes)), np.int64)
    for number in numbers:
        block = blocks.block(number)
        held = trie.rows(block.indptr, block.indices)
        total += count_features(
            *held, trie.n_outputs, block.known_labels, len(blocks.classes)
        ).counts
    return total
