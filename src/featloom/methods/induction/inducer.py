"""Select features and join them into conjunctions (FITSI), for any classifier.

Tološi, Zhikov, Georgiev and Popov, "A Feature Induction Algorithm with Application to Named
Entity Disambiguation": features are ranked by a univariate score, the best are kept, conjunctions
of them are formed, and so on to the length wanted.  Here conjunctions are scored too, all pairs
of them, and a last selection keeps the best.  ``score="residual"`` ranks conjunctions by what
they would add to a linear model that has the atomic features already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from featloom.counts.evidence import ClassEvidence, Conditions, ResidualEvidence
from featloom.counts.memory import CountedMatrix, best_conjunctions, count_features
from featloom.counts.ranking import Conjunctions
from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.features.display import features_html
from featloom.features.expand import ConjunctionTrie
from featloom.features.feature import Feature
from featloom.features.plan import FeaturePlan
from featloom.kernels import pairs, rows
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.inputs import InputReader, encode_target
from featloom.methods.induction.selection import cut, ranking, select
from featloom.scores import NAMES, CountScore

RECOMMENDED = {
    "score": "residual",
    "keep": 1.0,
    "pairs": "all",
    "final_keep": 1000,
    "min_support": 2,
    "drop_equal": True,
}
PRESETS = {
    "paper": {
        "score": "mi",
        "keep": 0.25,
        "pairs": "ranked",
        "final_keep": None,
        "min_support": 1,
        "drop_equal": False,
    },
}


@dataclass(frozen=True)
class InducedFeature:
    """A feature that was kept, and what is known of it."""

    feature: Feature
    score: float
    support: int
    class_counts: tuple[int, ...]

    @property
    def name(self) -> str:
        return str(self.feature)

    def __str__(self) -> str:
        return self.name


class ConjunctionInducer(TransformerMixin, BaseEstimator):
    """Keep the best features and the best conjunctions of them.

    Parameters left at "auto" take the value of ``preset``, or else the recommended one.

    Parameters
    ----------
    score : "mi", "ig" (as the paper prints it), "information_gain", "su", "fisher", "chi2",
        "gain_ratio", "shared_variance" or "residual" (recommended: the gain over a logistic
        regression on the kept atomic features).
    aggregate : "sum" or "max" of the scores against each class, or one "global" score.
    keep : atomic features to keep: a share, a number, or a threshold such as ">=3.8".
    partners : with ``pairs="ranked"``, at least one part of a pair is among so many best
        features (share or number).
    max_length : parts of the longest conjunction.
    pairs : "all" kept features are paired, or only "ranked" ones (see ``partners``).
    final_keep : conjunctions to keep in the last selection (a share is one of the number of atomic
        features); None keeps all, as the paper does.
    final_atomic : atomic features to keep in the last selection, after conjunctions were found
        among all that ``keep`` let through; None keeps those.
    min_support : rows in which a conjunction must hold.
    drop_equal : leave out conjunctions that hold in exactly the rows of one of their parts.
    alternative : "two-sided", "greater" or "less", of Fisher's test.
    C : inverse strength of the L2 penalty of the model behind ``score="residual"``.
    feature_groups : a family name for each column of a bare matrix; without it, the families are
        read off the names up to the first "=".
    preset : None, or "paper" for the procedure as published.
    n_jobs : threads; they change the time and nothing else.

    Attributes
    ----------
    features_ : the output columns, readable, with score, support and counts of each class:
        atomic features best first, then conjunctions best first.
    scores_ : scores in the order of the output columns.
    plan_ : the same features as a :class:`~featloom.features.plan.FeaturePlan`.
    dropped_ : how many features and conjunctions were left out, by reason.
    classes_, n_features_in_ : as in scikit-learn.

    Examples
    --------
    >>> from featloom.methods.induction import ConjunctionInducer
    >>> letters = [["c", "a"], ["c", "e"], ["s", "a"], ["s", "e"]] * 5
    >>> sounds = ["K", "S", "S", "S"] * 5
    >>> inducer = ConjunctionInducer(score="mi", final_keep=1).fit(letters, sounds)
    >>> inducer.get_feature_names_out()[-1]
    'x0=c & x1=a'
    """

    def __init__(
        self,
        *,
        score="auto",
        aggregate="sum",
        keep="auto",
        partners=0.001,
        max_length=2,
        pairs="auto",
        final_keep="auto",
        final_atomic=None,
        min_support="auto",
        drop_equal="auto",
        alternative="two-sided",
        C=1.0,
        feature_groups=None,
        preset=None,
        n_jobs=None,
    ):
        self.score = score
        self.aggregate = aggregate
        self.keep = keep
        self.partners = partners
        self.max_length = max_length
        self.pairs = pairs
        self.final_keep = final_keep
        self.final_atomic = final_atomic
        self.min_support = min_support
        self.drop_equal = drop_equal
        self.alternative = alternative
        self.C = C
        self.feature_groups = feature_groups
        self.preset = preset
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Choose features from rows X (binary matrix, table or DataFrame) and their classes y."""
        settings = self._settings()
        reader = InputReader(self.feature_groups)
        matrix = reader.fit(self, X)
        labels, self.classes_ = encode_target(matrix, y)
        self._reader = reader
        _Induction(self, settings, matrix, labels).run()
        return self

    def transform(self, X):
        """The chosen features of each row, as a scipy CSR matrix of ones."""
        check_is_fitted(self, "scores_")
        matrix = self._reader.read(self, X)
        indptr, indices = self._trie.rows(matrix.indptr, matrix.indices)
        ones = np.ones(len(indices))
        shape = (len(indptr) - 1, len(self.scores_))
        return sparse.csr_matrix((ones, indices, indptr), shape=shape)

    def get_feature_names_out(self, input_features=None):
        """Names of the output columns."""
        check_is_fitted(self, "scores_")
        if input_features is not None and self._reader.table is None:
            return np.array(self._names(list(input_features)), dtype=object)
        return np.array(self._names(self._reader.names), dtype=object)

    @property
    def features_(self) -> list[InducedFeature]:
        """The output columns, with score, support and counts of each class."""
        check_is_fitted(self, "scores_")
        return [self._feature(column) for column in range(len(self.scores_))]

    @property
    def conjunctions_(self) -> list[InducedFeature]:
        """The features of more than one part."""
        check_is_fitted(self, "scores_")
        if self.parts_.shape[1] == 1:
            return []
        return [self._feature(column) for column in np.flatnonzero(self.parts_[:, 1] >= 0).tolist()]

    @property
    def plan_(self) -> FeaturePlan:
        """The output columns as a plan that other methods and models can carry."""
        return FeaturePlan(tuple(induced.feature for induced in self.features_))

    def _repr_html_(self) -> str:
        """In a notebook: the best conjunctions, once there are any."""
        if not hasattr(self, "scores_"):
            return super()._repr_html_()
        found = self.conjunctions_ or self.features_
        rows = ((f.name, f.score, f.support, f.class_counts) for f in found)
        return features_html(rows, [str(name) for name in self.classes_], total=len(found))

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _names(self, names) -> list[str]:
        return [" & ".join(names[j] for j in row if j >= 0) for row in self.parts_.tolist()]

    def _feature(self, column: int) -> InducedFeature:
        parts = self.parts_[column]
        counts = self.class_counts_[column]
        return InducedFeature(
            Feature.from_names([self._reader.names[j] for j in parts if j >= 0]),
            float(self.scores_[column]),
            int(counts.sum()),
            tuple(counts.tolist()),
        )

    def _settings(self) -> dict:
        """Every parameter, with "auto" replaced by the preset's or the recommended value."""
        if self.preset is not None and self.preset not in PRESETS:
            raise InputError(f"preset is {self.preset!r}; it can be {', '.join(PRESETS)} or None")
        defaults = RECOMMENDED if self.preset is None else PRESETS[self.preset]
        settings = self.get_params(deep=False)
        for name, value in defaults.items():
            if isinstance(settings[name], str) and settings[name] == "auto":
                settings[name] = value
        _check_settings(settings)
        return settings

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_settings(settings: dict) -> None:
    if settings["score"] not in NAMES:
        raise InputError(f"score is {settings['score']!r}; it can be {', '.join(NAMES)}")
    if settings["aggregate"] not in ("sum", "max", "global"):
        raise InputError(f"aggregate is {settings['aggregate']!r}; it can be sum, max or global")
    if settings["pairs"] not in ("all", "ranked"):
        raise InputError(f"pairs is {settings['pairs']!r}; it can be 'all' or 'ranked'")
    for name in ("max_length", "min_support"):
        value = settings[name]
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; it must be a whole number of at least 1")
    if settings["alternative"] not in ("two-sided", "greater", "less"):
        raise InputError(
            f"alternative is {settings['alternative']!r}; it can be two-sided, greater or less"
        )
    for name in ("keep", "partners", "final_keep", "final_atomic"):
        cut(name, settings[name], 1)  # the form alone; how many features there are comes later
    if not settings["C"] > 0:
        raise InputError(f"C is {settings['C']!r}; it must be above 0")
    if settings["n_jobs"] == 0:
        raise InputError("n_jobs cannot be 0; give a number of threads, or -1 for all cores")


class _Induction:
    """One run of the procedure: rank, keep, join, keep the best."""

    def __init__(self, inducer, settings: dict, matrix: FeatureMatrix, labels: np.ndarray):
        self.inducer, self.settings = inducer, settings
        self.matrix, self.labels = matrix, labels
        self.n_features = matrix.shape[1]
        self.n_classes = len(inducer.classes_)
        self.counts = count_features(
            matrix.indptr, matrix.indices, self.n_features, labels, self.n_classes
        )
        self.dropped: dict[str, int] = {}
        self.threads = _threads(settings["n_jobs"])

    def run(self) -> None:
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
        self._finish(found)

    def _atomic_scores(self) -> np.ndarray:
        if self.settings["score"] == "residual":
            # Before any feature is in the model it predicts the share of each class.
            share = self.counts.class_totals / self.counts.n_rows
            evidence = self._residuals(np.tile(share, (len(self.labels), 1)))
            sums = evidence.feature_sums(self.matrix.indptr, self.matrix.indices, self.n_features)
            return evidence.scores_of(sums)
        return self._count_score().of(
            self.counts.n_rows, self.counts.class_totals, self.counts.counts
        )

    def _count_score(self) -> CountScore:
        s = self.settings
        return CountScore.named(s["score"], s["aggregate"], s["alternative"], self.n_classes)

    def _residuals(self, probabilities: np.ndarray) -> ResidualEvidence:
        how = 1 if self.settings["aggregate"] == "max" else 0
        return ResidualEvidence.from_probabilities(self.labels, probabilities, aggregate=how)

    def _evidence(self, kept: np.ndarray) -> ClassEvidence | ResidualEvidence:
        if self.settings["score"] != "residual":
            return ClassEvidence(self.labels, self.counts.class_totals, self._count_score())
        X = self.matrix.to_csr()[:, np.sort(kept)]
        model = logistic_regression(self.settings["C"]).fit(X, self.labels)
        return self._residuals(model.predict_proba(X))

    def _conjunctions(self, kept: np.ndarray, ranks: np.ndarray) -> list:
        s = self.settings
        evidence = self._evidence(kept)
        matrix = self.matrix
        in_play = np.zeros(self.n_features, dtype=bool)
        in_play[self._without_twins(kept) if s["drop_equal"] else kept] = True
        counted = CountedMatrix.prepare(matrix.indptr, matrix.indices, self.n_features, in_play)
        sums = evidence.feature_sums(matrix.indptr, matrix.indices, self.n_features)
        bounds = evidence.bounds_of(sums, s["min_support"])
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
        found: list[Conjunctions] = []
        parents, tally = None, np.zeros(pairs.N_TALLIES, dtype=np.int64)
        for _ in range(2, s["max_length"] + 1):
            best, met = best_conjunctions(
                counted,
                evidence,
                conditions=conditions,
                bounds=bounds,
                ranks=ranks,
                parents=parents,
                limit=last.count,
                threshold=last.threshold,
                threads=self.threads,
            )
            tally += met
            if s["drop_equal"] and found:
                best = _not_equal_to(found[-1], best)
            if not len(best):
                break
            found.append(best)
            parents = self._parent_rows(best.parts)
        if last.count is not None:
            found = _best_of(found, last.count)
        self._record(tally, sum(map(len, found)))
        return found

    def _without_twins(self, kept: np.ndarray) -> np.ndarray:
        """Kept features, without those that hold in exactly the rows of a better one."""
        marks = rows.row_set_marks(self.matrix.indptr, self.matrix.indices, self.n_features)
        _, first = np.unique(marks[kept], axis=0, return_index=True)
        self.dropped["features that are copies of a better one (not conjoined)"] = len(kept) - len(
            first
        )
        return kept[first]

    def _parent_rows(self, parts: np.ndarray):
        """The rows in which conjunctions hold, for the next length to grow from."""
        trie = ConjunctionTrie(parts, n_features=self.n_features, supports=self.counts.supports)
        indptr, indices = trie.rows(self.matrix.indptr, self.matrix.indices)
        starts, parent_rows, _ = rows.transpose(indptr, indices, len(parts))
        return parts, starts, parent_rows

    def _record(self, tally: np.ndarray, n_kept: int) -> None:
        self.dropped["conjunctions in fewer rows than the minimum"] = int(tally[pairs.RARE])
        self.dropped["conjunctions equal to one of their parts"] = int(tally[pairs.EQUAL_TO_PARENT])
        self.dropped["conjunctions without a well-ranked part"] = int(tally[pairs.NOT_RANKED])
        low = int(tally[pairs.LOW] + tally[pairs.KEPT]) - n_kept
        self.dropped["conjunctions below the last selection"] = max(low, 0)

    def _finish(self, found: list[Conjunctions]) -> None:
        inducer, matrix = self.inducer, self.matrix
        width = max(group.parts.shape[1] for group in found)
        parts = np.concatenate(
            [
                np.pad(g.parts, ((0, 0), (0, width - g.parts.shape[1])), constant_values=-1)
                for g in found
            ]
        )
        trie = ConjunctionTrie(parts, n_features=self.n_features, supports=self.counts.supports)
        inducer._trie, inducer.parts_ = trie, parts
        inducer.class_counts_ = count_features(
            *trie.rows(matrix.indptr, matrix.indices), len(parts), self.labels, self.n_classes
        ).counts
        inducer.scores_ = np.concatenate([group.scores for group in found])
        inducer.dropped_ = self.dropped
        inducer.parameters_ = self.settings


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


def _threads(n_jobs: int | None) -> int:
    import joblib

    return 1 if n_jobs is None else joblib.effective_n_jobs(n_jobs)
