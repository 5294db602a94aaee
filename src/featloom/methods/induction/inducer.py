"""Select features and join them into conjunctions (FITSI), for any classifier.

Tološi, Zhikov, Georgiev and Popov, "A Feature Induction Algorithm with Application to Named
Entity Disambiguation": features are ranked by a univariate score, the best are kept, conjunctions
of them are formed, and so on to the length wanted.  Here conjunctions are scored too, all pairs
of them, and a last selection keeps the best.  ``score="residual"`` ranks conjunctions by what
they would add to a linear model that has the atomic features already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.data.blocks import Blocks
from featloom.data.hashing import collision_rate
from featloom.errors import InputError
from featloom.features.feature import Feature
from featloom.features.feature_list import FeatureList
from featloom.features.plan import FeaturePlan
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import MakesFeatures, encode_target
from featloom.methods.induction.block_procedure import BlockProcedure
from featloom.methods.induction.procedure import Found, Procedure
from featloom.methods.induction.selection import CUT
from featloom.options import number, one_of, settled, threads, whole
from featloom.scores import NAMES
from featloom.shown import html_table

_MOST_SHOWN = 50  # features in a notebook

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


class ConjunctionInducer(MakesFeatures, BaseEstimator):
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
    pairs : "all" kept features are paired, or only "ranked" ones (see ``partners``).  Where rows
        have more than 200 kept features on average and show more than a billion pairs in all,
        the features with the highest scores alone are paired, so many that one of the two bounds
        is kept; ``dropped_`` says how many were not.  Narrower data always have all their pairs.
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
    sample_rows_ : rows that the model behind ``score="residual"`` was fitted on where the data came
        in blocks (then a sample, and a warning says so); None where there is none such.
    collisions_ : where features were hashed, the share of names that share their feature with
        another name; else None.
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

    constraints = {
        "score": one_of(NAMES),
        "aggregate": one_of(["sum", "max", "global"]),
        "keep": CUT,
        "partners": CUT,
        "max_length": whole(1),
        "pairs": one_of(["all", "ranked"]),
        "final_keep": CUT,
        "final_atomic": CUT,
        "min_support": whole(1),
        "alternative": one_of(["two-sided", "greater", "less"]),
        "C": number(above=0),
        "n_jobs": threads,
    }
    _takes_matrices, _fitted = True, "scores_"

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
        """Choose features from rows X (binary matrix, table or DataFrame) and their classes y.

        X may also be :class:`~featloom.data.blocks.Blocks`, which carry their classes: rows that
        need not fit in memory.
        """
        settings = self._settings()
        self.sample_rows_ = self.collisions_ = None
        if isinstance(X, Blocks):
            return self._fit_blocks(X, y, settings)
        reader = InputReader(self.feature_groups)
        matrix = reader.fit(self, X)
        labels, self.classes_ = encode_target(matrix, y)
        self._reader = reader
        return self._take(Procedure(settings, matrix, labels, len(self.classes_)).run(), settings)

    def _fit_blocks(self, blocks: Blocks, y, settings: dict):
        if y is not None:
            raise InputError("blocks carry their classes; y must be None")
        self._reader = InputReader.of_blocks(blocks)
        self.classes_ = np.array(blocks.classes, dtype=object)
        self.n_features_in_ = blocks.n_features
        if blocks.table is not None:
            self.n_features_in_ = len(blocks.table.columns)
        procedure = BlockProcedure(settings, blocks)
        self._take(procedure.run(), settings)
        self.sample_rows_ = procedure.sample_rows
        if self._reader.hashed is not None:
            self.collisions_ = collision_rate(
                int(np.count_nonzero(procedure.counts.supports)), blocks.n_features
            )
            blocks.name_features(self.parts_[self.parts_ >= 0])
        return self

    def _take(self, found: Found, settings: dict):
        self._trie, self.parts_ = found.trie, found.parts
        self.scores_, self.class_counts_ = found.scores, found.class_counts
        self.dropped_, self.parameters_ = found.dropped, settings
        return self

    def _features_of(self, matrix):
        indptr, indices = self._trie.rows(matrix.indptr, matrix.indices)
        ones = np.ones(len(indices))
        shape = (len(indptr) - 1, len(self.scores_))
        return sparse.csr_matrix((ones, indices, indptr), shape=shape)

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

    def feature_list(self) -> FeatureList:
        """The output columns as a linear model carries them."""
        check_is_fitted(self, "scores_")
        table = self._reader.table
        if self._reader.hashed is not None:
            raise InputError("features that share a hash cannot be listed one by one")
        if table is None:
            return FeatureList.of_matrix(self._reader.names, self.parts_)
        return FeatureList(table.columns, table.vocabularies, self.parts_.astype(np.int32))

    def _repr_html_(self) -> str:
        """In a notebook: the best conjunctions, once there are any."""
        if not hasattr(self, "scores_"):
            return super()._repr_html_()
        found = self.conjunctions_ or self.features_
        titles = ["feature", "score", "rows", *(f"class {name}" for name in self.classes_)]
        rows = (
            [f.name, f"{f.score:.4g}", *(f"{n:,}" for n in (f.support, *f.class_counts))]
            for f in found[:_MOST_SHOWN]
        )
        return html_table(titles, rows, more=len(found) - _MOST_SHOWN)

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _names_of(self, names) -> list[str]:
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
        return settled(self, RECOMMENDED, PRESETS)
