"""Counting data that comes in parts, each of which fits in memory though the whole need not.

``parts`` is anything that can be walked again and again (a list, a reader of Parquet row groups)
and yields (indptr, indices, labels or residuals).  Features are counted in one pass.  Pairs are
counted for a slice of the parents at a time, as many slices as the memory allowed asks for;
every slice walks all parts and adds up their sums.  The result is that of
:mod:`featloom.counts.memory` to the last bit: sums are whole numbers, and they are scored by the
same kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from featloom.counts.evidence import ClassEvidence, Conditions, Parents, ResidualEvidence
from featloom.counts.memory import CountedMatrix, count_features
from featloom.counts.merge import FeatureCounts, PairSums
from featloom.counts.ranking import BestConjunctions, Conjunctions
from featloom.kernels import pairs

Part = tuple[np.ndarray, np.ndarray, np.ndarray]

# Everything that is met: no condition may be applied to a part of the data.
_ALL = Conditions(min_support=1, drop_equal=False)


def count_features_in_parts(
    parts: Iterable[Part], n_features: int, n_classes: int
) -> FeatureCounts:
    """As :func:`featloom.counts.memory.count_features`, one part after the other."""
    total = FeatureCounts(
        np.zeros(n_classes, np.int64), np.zeros((n_features, n_classes), np.int64)
    )
    for indptr, indices, labels in parts:
        total = total + count_features(indptr, indices, n_features, labels, n_classes)
    return total


def best_pairs_in_parts(
    parts: Iterable[Part],
    evidence: ClassEvidence | ResidualEvidence,
    *,
    supports: np.ndarray,
    conditions: Conditions,
    bounds: np.ndarray,
    ranks: np.ndarray | None = None,
    keep: np.ndarray | None = None,
    limit: int | None = None,
    threshold: float = -np.inf,
    slices: int = 4,
) -> tuple[Conjunctions, np.ndarray]:
    """As :func:`featloom.counts.memory.best_conjunctions` for pairs.

    ``evidence`` says how to score (its own labels or residuals are not read); ``supports`` are
    those of all the data.
    """
    n_features = len(supports)
    order = np.argsort(-supports, kind="stable")
    if keep is not None:
        order = order[keep[order]]
    feature_ranks = np.zeros(n_features, np.int64) if ranks is None else ranks
    hopeless = conditions.leaves_nothing_of(supports[order])
    by_reach = np.lexsort((np.arange(len(order)), -bounds[order]))
    by_reach = by_reach[~hopeless[by_reach]]
    best = BestConjunctions(2, limit, threshold)
    tally = np.zeros(pairs.N_TALLIES, dtype=np.int64)
    for which in np.array_split(by_reach, slices):
        which = which[bounds[order[which]] >= best.threshold]
        if not len(which):
            continue
        sums = _pair_sums(parts, evidence, supports, keep, which)
        first, second = order[sums.parents], order[sums.partners]
        met = evidence.supports_of(sums.sums)
        fates = conditions.fates(
            met, supports[first], supports[second], feature_ranks[first], feature_ranks[second]
        )
        scores = evidence.scores_of(sums.sums)
        fates[(fates == pairs.KEPT) & (scores < best.threshold)] = pairs.LOW
        tally += np.bincount(fates, minlength=pairs.N_TALLIES)
        tally[pairs.MET] += len(fates)
        kept = fates == pairs.KEPT
        both = np.sort(np.stack([first[kept], second[kept]], axis=1), axis=1).astype(np.int32)
        best.add(Conjunctions(both, met[kept], scores[kept]))
        best.raise_threshold()
    return best.result(), tally


def _pair_sums(parts, evidence, supports, keep, which) -> PairSums:
    """Sums of all pairs of some parents over all parts."""
    total: PairSums | None = None
    for indptr, indices, brought in parts:
        matrix = CountedMatrix.prepare(indptr, indices, len(supports), keep, supports)
        zeros = np.zeros(matrix.n_features, np.int64)
        lists = Parents(matrix.starts, matrix.rows, matrix.places, zeros)
        here = _evidence_of_part(evidence, brought)
        parent, partner, sums, _, _ = here.walker()(matrix, lists, which, zeros, _ALL, -np.inf)
        found = PairSums.gather(parent, partner, sums)
        total = found if total is None else total + found
    assert total is not None, "there is at least one part"
    return total


def _evidence_of_part(evidence, brought):
    if isinstance(evidence, ClassEvidence):
        return ClassEvidence(brought, evidence.class_totals, evidence.score)
    return ResidualEvidence(brought, evidence.penalty, evidence.aggregate)
