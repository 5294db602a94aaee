"""What methods are measured against: an answer that looks at nothing, and boosting.

scikit-learn's classifiers take arrays; these steps let them take the tables and matrices that
every other contender is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from featloom.data.matrix import FeatureMatrix
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import TableReader


class SameAnswer(ClassifierMixin, BaseEstimator):
    """Always the same class: the most frequent one, or one that is named.

    >>> SameAnswer().fit([["a"], ["b"], ["c"]], ["S", "K", "S"]).predict([["d"]]).tolist()
    ['S']
    """

    def __init__(self, *, constant=None):
        self.constant = constant

    def fit(self, X, y):
        self.n_features_in_ = 0
        self.classes_, rows = np.unique(np.asarray(y), return_counts=True)
        # One that is named is answered even where no row to learn from has it.
        self.answer_ = self.classes_[rows.argmax()] if self.constant is None else self.constant
        return self

    def predict(self, X) -> np.ndarray:
        return np.full(len(X), self.answer_)


class Codes(TransformerMixin, BaseEstimator):
    """The codes of a table's columns, or a sparse matrix as it is.

    >>> Codes().fit([["c", "a"], ["k", "e"]]).transform([["k", "o"]]).tolist()
    [[2, 0]]
    """

    def fit(self, X, y=None):
        self._reader: Any = InputReader() if isinstance(X, FeatureMatrix) else TableReader()
        self._reader.fit(self, X)
        return self

    def transform(self, X):
        read = self._reader.read(self, X)
        return read.to_csr(np.float32) if isinstance(read, FeatureMatrix) else read.codes


def boosted_trees(
    setting: dict[str, Any], seed: int, threads: int, *, categorical: bool
) -> ClassifierMixin:
    """LightGBM as a classifier that counts its leaves; columns of codes are categories."""
    from lightgbm import LGBMClassifier

    class BoostedTrees(LGBMClassifier):
        def fit(self, X, y, *given, **options):
            if categorical:
                options["categorical_feature"] = list(range(X.shape[1]))
                # By default it looks at no value of fewer than 100 rows: in small data, at none.
                self.set_params(min_data_per_group=int(np.clip(X.shape[0] // 200, 5, 100)))
            super().fit(X, y, *given, **options)
            trees = self.booster_.dump_model(num_iteration=-1)["tree_info"]
            self.n_leaves_ = sum(tree["num_leaves"] for tree in trees)
            return self

    return BoostedTrees(
        num_leaves=setting["num_leaves"],
        n_estimators=setting["rounds"],
        learning_rate=0.1,
        min_child_samples=5,
        random_state=seed,
        n_jobs=threads,
        verbosity=-1,
    )
