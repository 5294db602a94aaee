"""Counting data that lies in memory.

Features are relabelled from the most to the least frequent.  Parents are taken in order of what
they could reach at best, in batches that do not depend on the number of threads;
after each batch the threshold rises, and when no parent left can reach it the walk is over.
What was never walked could not have been kept, so pruning changes the time and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from featloom.counts.evidence import (
    ClassEvidence,
    Conditions,
    FeatureCounts,
    Parents,
    ResidualEvidence,
)
from featloom.counts.ranking import BestConjunctions, Conjunctions
from featloom.kernels import pairs, rows
from featloom.kernels.compiling import compiled_for
from featloom.kernels.conjunctions import feature_class_counts

# Shares of the work done when each batch ends: small at first, so that the threshold rises before
# much has been stored.
_BATCH_ENDS = np.array([1 / 128, 1 / 64, 1 / 32, 1 / 16, *np.arange(1, 8) / 8])
_SHARD_ENDS = np.arange(1, 8) / 8


@dataclass(frozen=True, eq=False)
class CountedMatrix:
    """A sparse binary matrix made ready for counting.

    ``indptr``/``indices`` are its rows with features relabelled by falling frequency, ``starts``/
    ``rows`` the rows of each label, ``places`` where in ``indices`` it stands in them, and
    ``original[label]`` the feature's number in the data.
    """

    indptr: np.ndarray
    indices: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    supports: np.ndarray
    original: np.ndarray

    @classmethod
    def prepare(
        cls,
        indptr: np.ndarray,
        indices: np.ndarray,
        n_features: int,
        keep: np.ndarray | None = None,
        supports: np.ndarray | None = None,
    ) -> CountedMatrix:
        """Relabel; features outside the mask ``keep`` are left out.

        ``supports`` orders the features where ``indices`` are a part of the data only.
        """
        if supports is None:
            supports = np.bincount(indices, minlength=n_features)
        order = np.argsort(-supports, kind="stable")
        if keep is not None:
            order = order[keep[order]]
        labels = np.full(n_features, -1, dtype=np.int32)
        labels[order] = np.arange(len(order), dtype=np.int32)
        new_indptr, new_indices = rows.relabel(indptr, indices, labels)
        starts, feature_rows, places = rows.transpose(new_indptr, new_indices, len(order))
        ahead = compiled_for()
        if len(order) <= 1 << 16 and not (ahead and ahead.many_features):
            # Half the memory, and so fewer of the cache misses that the walk waits for.
            new_indices = new_indices.astype(np.uint16)
        return cls(
            new_indptr,
            new_indices,
            starts,
            feature_rows,
            places,
            supports[order].astype(np.int64),
            order.astype(np.int32),
        )

    @property
    def n_features(self) -> int:
        return len(self.original)


def count_features(
    indptr: np.ndarray, indices: np.ndarray, n_features: int, labels: np.ndarray, n_classes: int
) -> FeatureCounts:
    """Rows of each class with each feature."""
    return FeatureCounts(
        np.bincount(labels, minlength=n_classes).astype(np.int64),
        feature_class_counts(indptr, indices, n_features, labels, n_classes),
    )


def best_conjunctions(
    matrix: CountedMatrix,
    evidence: ClassEvidence | ResidualEvidence,
    *,
    conditions: Conditions,
    bounds: np.ndarray,
    ranks: np.ndarray | None = None,
    parents: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    parent_bounds: np.ndarray | None = None,
    limit: int | None = None,
    threshold: float = -np.inf,
    threads: int = 1,
) -> tuple[Conjunctions, np.ndarray]:
    """The best conjunctions of a feature and a parent, and the tally of what became of all.

    Parameters
    ----------
    bounds : for each feature of the data, a score that no conjunction with it exceeds.
    ranks : for each feature of the data its place by score, for ``conditions.top``.
    parents : None for pairs; for longer conjunctions (parts, starts, rows): the kept conjunctions
        as an array of feature numbers, and the rows of each.
    parent_bounds : as ``bounds``, for the parents.
    limit, threshold : keep the best so many; keep what scores at least so much.
    """
    length = 2 if parents is None else parents[0].shape[1] + 1
    label_ranks = np.zeros(matrix.n_features, np.int64) if ranks is None else ranks[matrix.original]
    lists, parent_parts, reach, work = _parent_lists(
        matrix, parents, label_ranks, bounds, parent_bounds
    )
    supports = np.diff(lists.starts)
    hopeless = conditions.leaves_nothing_of(supports)
    order = np.lexsort((np.arange(len(reach)), -reach))
    order = order[~hopeless[order]]
    best = BestConjunctions(length, limit, threshold)
    tally = np.zeros(pairs.N_TALLIES, dtype=np.int64)
    walk = evidence.walker()
    # One thread is this one: whoever times it, or takes off what it compiles, looks at it alone.
    with ThreadPoolExecutor(max_workers=threads) if threads > 1 else nullcontext() as pool:
        in_order = map if pool is None else pool.map
        for batch in _cut_by_work(order, work, _BATCH_ENDS):
            if reach[batch[0]] < best.threshold:
                break
            batch = batch[reach[batch] >= best.threshold]
            shards = _cut_by_work(batch, work, _SHARD_ENDS)
            bar = best.threshold

            def walk_shard(shard, bar=bar):
                return walk(matrix, lists, shard, label_ranks, conditions, bar)

            for parent, partner, sums, scores, shard_tally in in_order(walk_shard, shards):
                tally += shard_tally
                parts = np.concatenate(
                    [parent_parts[parent], matrix.original[partner][:, None]], axis=1
                )
                best.add(_without_repeats(parts, evidence.supports_of(sums), scores))
            best.raise_threshold()
    return best.result(), tally


def _parent_lists(matrix, parents, label_ranks, bounds, parent_bounds):
    """Parents as row lists, their parts, what they can reach, and what walking them costs."""
    if parents is None:
        lists = Parents(matrix.starts, matrix.rows, matrix.places, label_ranks)
        work = pairs.pair_work(matrix.indptr, matrix.indices, matrix.n_features)
        return lists, matrix.original[:, None], bounds[matrix.original], work
    parts, starts, parent_rows = parents
    row_lengths = np.diff(matrix.indptr)[parent_rows]
    work = np.add.reduceat(row_lengths, starts[:-1]) if len(row_lengths) else np.zeros(len(parts))
    lists = Parents(
        starts,
        parent_rows,
        matrix.indptr[parent_rows + 1],
        # A parent that is itself a conjunction never stands for the well-ranked part.
        np.full(len(parts), np.iinfo(np.int64).max),
    )
    reach = np.full(len(parts), np.inf) if parent_bounds is None else parent_bounds
    return lists, parts, reach, work


def _without_repeats(parts: np.ndarray, supports: np.ndarray, scores: np.ndarray) -> Conjunctions:
    """Conjunctions whose parts are all different, each with its parts in ascending order."""
    parts = np.sort(parts, axis=1)
    distinct = (parts[:, 1:] != parts[:, :-1]).all(axis=1)
    found = Conjunctions(parts, supports, scores)
    return found if distinct.all() else found.take(np.flatnonzero(distinct))


def _cut_by_work(order: np.ndarray, work: np.ndarray, ends: np.ndarray) -> Iterator[np.ndarray]:
    """Cut an order into consecutive parts that end at given shares of the work; none is empty."""
    if not len(order):
        return
    done = np.cumsum(work[order] + 1)
    cuts = np.searchsorted(done, done[-1] * ends)
    for part in np.split(order, np.unique(cuts)):
        if len(part):
            yield part
