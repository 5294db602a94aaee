"""The procedure of induction: rank features, keep the best, join them, keep the best of those.

Features are scored one by one, conjunctions as they are counted (:mod:`featloom.counts`).  Under
``score="residual"`` an atomic feature is scored by what it adds to a model that knows the shares
of the classes alone, a conjunction by what it adds to a logistic regression on all kept features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from featloom.counts.evidence import ClassEvidence, Conditions, FeatureCounts, ResidualEvidence
from featloom.counts.memory import CountedMatrix, best_conjunctions, count_features
from featloom.counts.ranking import Conjunctions
from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.features.expand import ConjunctionTrie
from featloom.kernels import pairs, rows
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.selection import cut, ranking, select
from featloom.pool import number_of_workers
from featloom.scores import CountScore

_WIDE = 200  # features a row, on average, all pairs of which are formed whatever the rows
_MOST_STEPS = 10**9  # pairs met in all rows of a wider matrix: seconds


@dataclass(frozen=True, eq=False)
class Found:
    """The features that were kept, atomic ones best first, then conjunctions best first.

    Row i of ``parts`` holds the feature numbers of output column i, filled up with -1; ``trie``
    finds them in rows; ``dropped`` says how many were left out, by reason.
    """

    parts: np.ndarray
    scores: np.ndarray
    class_counts: np.ndarray
    trie: ConjunctionTrie
    dropped: dict[str, int]


class RowsOfConjunctions:
    """The rows in which conjunctions hold, for the next length to grow from."""

    def __init__(self, parts: np.ndarray, supports: np.ndarray):
        self.n_conjunctions = len(parts)
        self.trie = ConjunctionTrie(parts, n_features=len(supports), supports=supports)

    def __call__(self, matrix: FeatureMatrix) -> tuple[np.ndarray, np.ndarray]:
        """(starts, rows): those of conjunction i from ``starts[i]`` to ``starts[i + 1]``."""
        indptr, indices = self.trie.rows(matrix.indptr, matrix.indices)
        starts, held_in, _ = rows.transpose(indptr, indices, self.n_conjunctions)
        return starts, held_in


Join = Callable[..., tuple[Conjunctions, np.ndarray]]


class Procedure:
    """One run on one set of rows; ``settings`` are the parameters of ConjunctionInducer."""

    def __init__(self, settings: dict, matrix: FeatureMatrix, labels: np.ndarray, n_classes: int):
        self.settings = settings
        self.matrix, self.labels = matrix, labels
        self.n_features, self.n_classes = matrix.shape[1], n_classes
        self.counts = self._counted()
        self.dropped: dict[str, int] = {}
        self.threads = number_of_workers(settings["n_jobs"])

    def run(self) -> Found:
        """Rank, keep, join, keep the best."""
        scores = self._atomic_scores()
        order = ranking(scores, self.counts.supports)
        kept = select(order, scores, cut("keep", self.settings["keep"], self.n_features))
        kept = kept[self.counts.supports[kept] > 0]
        if not len(kept):
            raise InputError(
                f"keep is {self.settings['keep']!r}, which no feature reaches; "
                f"the best scores {scores.max():.4g}"
            )
        self.dropped["atomic features below the first selection"] = self.n_features - len(kept)
        ranks = np.full(self.n_features, np.iinfo(np.int64).max)
        ranks[kept] = np.arange(len(kept))
        last = select(kept, scores, cut("final_atomic", self.settings["final_atomic"], len(kept)))
        found = [Conjunctions(last[:, None], self.counts.supports[last], scores[last])]
        if self.settings["max_length"] > 1 and len(kept) > 1:
            found += self._conjunctions(kept, ranks)
        if len(last) < len(kept):
            self.dropped["atomic features below the last selection"] = len(kept) - len(last)
        return self._gathered(found)

    def _atomic_scores(self) -> np.ndarray:
        if self.settings["score"] == "residual":
            return self._atomic_gains()
        return self._count_score().of(
            self.counts.n_rows, self.counts.class_totals, self.counts.counts
        )

    def _count_score(self) -> CountScore:
        s = self.settings
        return CountScore.named(s["score"], s["aggregate"], s["alternative"], self.n_classes)

    @property
    def _how_residuals_add(self) -> int:
        return 1 if self.settings["aggregate"] == "max" else 0

    def _conjunctions(self, kept: np.ndarray, ranks: np.ndarray) -> list[Conjunctions]:
        s = self.settings
        in_play = np.zeros(self.n_features, dtype=bool)
        joined = self._without_twins(kept) if s["drop_equal"] else kept
        in_play[self._few_enough(joined[np.argsort(ranks[joined])])] = True
        top = np.iinfo(np.int64).max
        if s["pairs"] == "ranked":
            limit = cut("partners", s["partners"], self.n_features).count
            if limit is None or limit > len(kept):
                raise InputError(
                    f"partners is {s['partners']!r}, more than the {len(kept)} features kept"
                )
            top = limit
        conditions = Conditions(s["min_support"], top, s["drop_equal"])
        last = cut("final_keep", s["final_keep"], self.n_features)
        join = self._joining(kept, in_play)
        how = {"conditions": conditions, "ranks": ranks, "limit": last.count}
        found: list[Conjunctions] = []
        tally = np.zeros(pairs.N_TALLIES, dtype=np.int64)
        for _ in range(2, s["max_length"] + 1):
            best, met = join(found[-1] if found else None, threshold=last.threshold, **how)
            tally += met
            if s["drop_equal"] and found:
                best = _not_equal_to(found[-1], best)
            if not len(best):
                break
            found.append(best)
        if last.count is not None:
            found = _best_of(found, last.count)
        self._record(tally, sum(map(len, found)))
        return found

    def _without_twins(self, kept: np.ndarray) -> np.ndarray:
        """Kept features, without those that hold in exactly the rows of a better one."""
        _, first = np.unique(self._marks()[kept], axis=0, return_index=True)
        self.dropped["features that are copies of a better one (not conjoined)"] = len(kept) - len(
            first
        )
        return kept[first]

    def _few_enough(self, ranked: np.ndarray) -> np.ndarray:
        """Of features, best first, those that are joined: all but where rows are very wide.

        The pairs of a row with s features are s² / 2, and rows are taken to be of equal length.
        """
        met = np.cumsum(self.counts.supports[ranked])
        n_rows = max(self.counts.n_rows, 1)
        few = (met <= _WIDE * n_rows) | (met.astype(float) ** 2 / (2 * n_rows) <= _MOST_STEPS)
        n_joined = max(int(few.sum()), min(2, len(ranked)))
        if n_joined < len(ranked):
            self.dropped["features that score too low for so many pairs (not conjoined)"] = (
                len(ranked) - n_joined
            )
        return ranked[:n_joined]

    # What looks at the rows; everything else is the same for data in blocks.

    def _counted(self) -> FeatureCounts:
        matrix = self.matrix
        return count_features(
            matrix.indptr, matrix.indices, self.n_features, self.labels, self.n_classes
        )

    def _atomic_gains(self) -> np.ndarray:
        # Before any feature is in the model it predicts the share of each class.
        share = self.counts.class_totals / self.counts.n_rows
        evidence = self._residuals(np.tile(share, (len(self.labels), 1)))
        sums = evidence.feature_sums(self.matrix.indptr, self.matrix.indices, self.n_features)
        return evidence.scores_of(sums)

    def _residuals(self, probabilities: np.ndarray) -> ResidualEvidence:
        return ResidualEvidence.from_probabilities(
            self.labels, probabilities, aggregate=self._how_residuals_add
        )

    def _evidence(self, kept: np.ndarray) -> ClassEvidence | ResidualEvidence:
        if self.settings["score"] != "residual":
            return ClassEvidence(self.labels, self.counts.class_totals, self._count_score())
        X = self.matrix.to_csr()[:, np.sort(kept)]
        model = logistic_regression(self.settings["C"]).fit(X, self.labels)
        return self._residuals(model.predict_proba(X))

    def _marks(self) -> np.ndarray:
        return rows.row_set_marks(self.matrix.indptr, self.matrix.indices, self.n_features)

    def _joining(self, kept: np.ndarray, in_play: np.ndarray) -> Join:
        """A function that joins features with features, or with conjunctions found before."""
        matrix, evidence = self.matrix, self._evidence(kept)
        counted = CountedMatrix.prepare(matrix.indptr, matrix.indices, self.n_features, in_play)
        sums = evidence.feature_sums(matrix.indptr, matrix.indices, self.n_features)
        bounds = evidence.bounds_of(sums, self.settings["min_support"])

        def join(shorter: Conjunctions | None, **how):
            parents = None
            if shorter is not None:
                rows_of = RowsOfConjunctions(shorter.parts, self.counts.supports)
                parents = (shorter.parts, *rows_of(matrix))
            return best_conjunctions(
                counted, evidence, bounds=bounds, parents=parents, threads=self.threads, **how
            )

        return join

    def _counts_of(self, trie: ConjunctionTrie) -> np.ndarray:
        """Rows of each class in which each output column holds."""
        held = trie.rows(self.matrix.indptr, self.matrix.indices)
        return count_features(*held, trie.n_outputs, self.labels, self.n_classes).counts

    def _record(self, tally: np.ndarray, n_kept: int) -> None:
        self.dropped["conjunctions in fewer rows than the minimum"] = int(tally[pairs.RARE])
        self.dropped["conjunctions equal to one of their parts"] = int(tally[pairs.EQUAL_TO_PARENT])
        self.dropped["conjunctions without a well-ranked part"] = int(tally[pairs.NOT_RANKED])
        low = int(tally[pairs.LOW] + tally[pairs.KEPT]) - n_kept
        self.dropped["conjunctions below the last selection"] = max(low, 0)

    def _gathered(self, groups: list[Conjunctions]) -> Found:
        width = max(group.parts.shape[1] for group in groups)
        parts = np.concatenate(
            [
                np.pad(g.parts, ((0, 0), (0, width - g.parts.shape[1])), constant_values=-1)
                for g in groups
            ]
        )
        trie = ConjunctionTrie(parts, n_features=self.n_features, supports=self.counts.supports)
        counts = self._counts_of(trie)
        scores = np.concatenate([group.scores for group in groups])
        return Found(parts, scores, counts, trie, self.dropped)


def _not_equal_to(shorter: Conjunctions, best: Conjunctions) -> Conjunctions:
    """Conjunctions, without those that hold in exactly the rows of a shorter one in them."""
    support_of = dict(
        zip(map(tuple, shorter.parts.tolist()), shorter.supports.tolist(), strict=True)
    )
    new = [
        all(support_of.get(inner) != support for inner in combinations(parts, len(parts) - 1))
        for parts, support in zip(best.parts.tolist(), best.supports.tolist(), strict=True)
    ]
    return best.take(np.flatnonzero(new))


def _best_of(groups: list[Conjunctions], count: int) -> list[Conjunctions]:
    """The best so many of conjunctions of several lengths; of equals the shorter first."""
    if sum(map(len, groups)) <= count:
        return groups
    scores = np.concatenate([group.scores for group in groups])
    kept = np.zeros(len(scores), dtype=bool)
    kept[np.argsort(-scores, kind="stable")[:count]] = True
    ends = np.cumsum([len(group) for group in groups])[:-1]
    return [
        group.take(np.flatnonzero(mask))
        for group, mask in zip(groups, np.split(kept, ends), strict=True)
        if mask.any()
    ]
