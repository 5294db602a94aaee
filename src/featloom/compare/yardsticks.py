"""Outside models that methods are measured against, run as their own users run them.

The columns are given as people have them (see :mod:`featloom.compare.plain_columns`): numbers as
numbers, categories as categories, missing values as missing.  Settings are the packages' own
defaults but for those that are named here.  A test holds each to the predictions of the five
lines with pandas that anybody would write.

Both packages are optional; ``why_not`` says whether a yardstick can be used on some data.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from featloom.compare.plain_columns import (
    PlainColumns,
    column_kinds,
    columns_as_people_have_them,
)
from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import TableReader, encode_target


class _Yardstick(ClassifierMixin, BaseEstimator):
    """What yardsticks have in common: X and y are read, classes are coded and named again."""

    @staticmethod
    def why_not(data: Any) -> str | None:
        """None, or why it cannot be used on the data, in words."""
        raise NotImplementedError

    def fit(self, X, y=None):
        """Fit to a table (NominalTable, DataFrame, rows) or a FeatureMatrix.

        ``y`` holds the classes; by default they are the labels that a NominalTable or a
        FeatureMatrix carries.
        """
        reason = self.why_not(X)
        if reason is not None:
            raise InputError(f"{type(self).__name__} cannot be used: {reason}")
        self._reader: InputReader | TableReader
        if isinstance(X, FeatureMatrix):
            self._reader, self.kinds_ = InputReader(), None
            matrix = self._reader.fit(self, X)
            labels, self.classes_ = encode_target(matrix, y)
            self._fit(matrix.to_csr(np.float32), labels)
        else:
            self._reader = TableReader()
            table = self._reader.fit(self, X)
            if not len(table) or not table.columns:
                raise InputError(f"a table of {len(table)} × {len(table.columns)} cells is empty")
            self.kinds_ = column_kinds(table)
            # Of the rows nothing is needed any more but the names of their columns.
            self._reader.table = table.take(np.arange(0))
            labels, self.classes_ = encode_target(table, y)
            self._fit(columns_as_people_have_them(table, self.kinds_), labels)
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, rows × ``classes_``."""
        check_is_fitted(self)
        if isinstance(self._reader, InputReader):
            return self._probabilities(self._reader.read(self, X).to_csr(np.float32))
        table = self._reader.read(self, X, recode=False)
        return self._probabilities(columns_as_people_have_them(table, self.kinds_))

    def predict(self, X) -> np.ndarray:
        """The class of the highest probability of each row."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, columns: PlainColumns | sparse.csr_matrix, labels: np.ndarray) -> None:
        raise NotImplementedError

    def _probabilities(self, columns: PlainColumns | sparse.csr_matrix) -> np.ndarray:
        raise NotImplementedError


class LightGBMYardstick(_Yardstick):
    """Gradient boosting of trees, ``LGBMClassifier().fit(df, y)``.

    Categories are category features, as columns of pandas' dtype "category" are.  A matrix of
    binary features is taken as it is, sparse.  The predictions are the same with any number of
    threads.

    Parameters
    ----------
    num_leaves : leaves of a tree at most, 31 by default.
    rounds : trees (with more than two classes for each of them), 100 by default.
    learning_rate : how much of each tree is added, 0.1 by default.
    class_weight : "balanced", or None: rows weigh the same.
    random_state : seed; LightGBM draws nothing at its defaults but rows to find its bins by, from
        200,000 rows on.
    n_jobs : threads, 1 by default.

    Attributes
    ----------
    classes_ : the classes of the rows it was fitted on, sorted.
    n_leaves_ : leaves of all trees.
    kinds_ : what each column is (numbers, or which categories); None of a FeatureMatrix.

    References
    ----------
    G. Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree.

    See Also
    --------
    EBMYardstick : additive terms of one and two columns.

    Examples
    --------
    >>> from featloom.data.table import NominalTable
    >>> ages = {"age": ["8", "9", "40", "60"] * 30}
    >>> table = NominalTable.from_columns(ages, labels=list("ccaa") * 30)
    >>> if LightGBMYardstick.why_not(table) is None:
    ...     assert LightGBMYardstick().fit(table).predict(table).tolist() == list("ccaa") * 30
    """

    def __init__(
        self,
        *,
        num_leaves=31,
        rounds=100,
        learning_rate=0.1,
        class_weight=None,
        random_state=None,
        n_jobs=1,
    ):
        self.num_leaves = num_leaves
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    @staticmethod
    def why_not(data: Any) -> str | None:
        """None, or why it cannot be used on the data, in words."""
        return None if find_spec("lightgbm") else "the package lightgbm is not installed"

    def _fit(self, columns: PlainColumns | sparse.csr_matrix, labels: np.ndarray) -> None:
        from lightgbm import LGBMClassifier

        self.model_ = LGBMClassifier(
            num_leaves=self.num_leaves,
            n_estimators=self.rounds,
            learning_rate=self.learning_rate,
            class_weight=self.class_weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbosity=-1,
            # It would choose between two orders of summation by which is faster at the moment.
            deterministic=True,
            force_col_wise=True,
        )
        if isinstance(columns, PlainColumns):
            categories = columns.kinds.category_columns
            self.model_.fit(columns.matrix(), labels, categorical_feature=categories)
        else:
            self.model_.fit(columns, labels)
        trees = self.model_.booster_.dump_model(num_iteration=-1)["tree_info"]
        self.n_leaves_ = sum(tree["num_leaves"] for tree in trees)

    def _probabilities(self, columns: PlainColumns | sparse.csr_matrix) -> np.ndarray:
        X = columns.matrix() if isinstance(columns, PlainColumns) else columns
        p = np.asarray(self.model_.booster_.predict(X, num_threads=self.n_jobs))
        return np.column_stack([1.0 - p, p]) if p.ndim == 1 else p


class EBMYardstick(_Yardstick):
    """A generalised additive model of one and two columns, boosted in turn: interpret's EBM.

    The package decides itself, as it does for its users, how numbers are binned and which pairs
    take part.  Binary features of a sparse matrix are not what it is for: its terms are functions
    of columns.

    Parameters
    ----------
    outer_bags : models of random parts of the rows that are averaged; 4 by default (the package's
        default of 14 takes three times as long).
    class_weight : "balanced", or None: rows weigh the same.
    random_state : seed; None for another model each time.
    n_jobs : processes, 1 by default.

    Attributes
    ----------
    classes_ : the classes of the rows it was fitted on, sorted.
    n_terms_ : terms of one column and of two.
    n_bins_ : bins of all terms, each with a number of its own for each class: the model's size.
    kinds_ : what each column is (numbers, or which categories).

    References
    ----------
    Y. Lou et al. (2013), Accurate intelligible models with pairwise interactions; H. Nori et al.
    (2019), InterpretML: a unified framework for machine learning interpretability.

    See Also
    --------
    LightGBMYardstick : boosted trees of all columns.

    Examples
    --------
    >>> from featloom.data.table import NominalTable
    >>> ages = {"age": ["8", "9", "40", "60"] * 30}
    >>> table = NominalTable.from_columns(ages, labels=list("ccaa") * 30)
    >>> if EBMYardstick.why_not(table) is None:
    ...     model = EBMYardstick(outer_bags=1, random_state=0).fit(table)
    ...     assert model.predict(table).tolist() == list("ccaa") * 30
    """

    def __init__(self, *, outer_bags=4, class_weight=None, random_state=None, n_jobs=1):
        self.outer_bags = outer_bags
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    @staticmethod
    def why_not(data: Any) -> str | None:
        """None, or why it cannot be used on the data, in words."""
        if isinstance(data, FeatureMatrix) or sparse.issparse(data):
            return "its terms are functions of columns, and these are binary features of rows"
        return None if find_spec("interpret") else "the package interpret-core is not installed"

    def _fit(self, columns: PlainColumns | sparse.csr_matrix, labels: np.ndarray) -> None:
        from interpret.glassbox import ExplainableBoostingClassifier

        self.model_ = ExplainableBoostingClassifier(
            feature_names=list(columns.kinds.columns),
            outer_bags=self.outer_bags,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        with warnings.catch_warnings():
            # Of what its drawings do not show (missing values, pairs of several classes), and of
            # columns without a value.
            warnings.simplefilter("ignore")
            weights = None
            if self.class_weight is not None:
                weights = compute_sample_weight(self.class_weight, labels)
            self.model_.fit(columns.objects(), labels, sample_weight=weights)
        n_numbers = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.n_terms_ = len(self.model_.term_features_)
        self.n_bins_ = sum(scores.size for scores in self.model_.term_scores_) // n_numbers

    def _probabilities(self, columns: PlainColumns | sparse.csr_matrix) -> np.ndarray:
        return self.model_.predict_proba(columns.objects())
