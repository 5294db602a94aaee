"""Templates grown on features that come as a sparse matrix.

Families of which a row has one value at most (the word before, the tag after) are columns that a
tree can ask about; the words of a context are not.  So trees are grown on the former, and what they
join comes on top of all features as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from featloom.data.matrix import FeatureMatrix, table_of_families
from featloom.errors import InputError
from featloom.features.feature_list import FeatureList
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import MakesFeatures, checked_target
from featloom.methods.tree_templates.tree_templates import TreeTemplates


class FamilyTemplates(MakesFeatures, BaseEstimator):
    """All features of a sparse matrix, and the templates that trees grow on its families.

    Parameters
    ----------
    templates : a :class:`TreeTemplates` to be grown; None: one as recommended.  Single columns are
        left out of it, for they are there already.
    feature_groups : a family name for each column of a bare matrix; without it, the families are
        read off the names up to the first "=".

    Attributes
    ----------
    templates_ : the fitted :class:`TreeTemplates`.
    classes_, n_features_in_ : as in scikit-learn.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]] * 5)
    >>> joined = FamilyTemplates(feature_groups=["letter", "letter", "next", "next"])
    >>> joined.fit(X, ["K", "S", "S", "S"] * 5).transform(X).shape
    (20, 8)
    """

    _takes_matrices, _fitted = True, "templates_"

    def __init__(self, templates=None, *, feature_groups=None):
        self.templates = templates
        self.feature_groups = feature_groups

    def fit(self, X, y=None):
        """Grow templates on rows X and their classes y (None: those that a matrix carries)."""
        self._reader = InputReader(self.feature_groups)
        matrix = self._reader.fit(self, X)
        y = checked_target(matrix, y)
        self.classes_ = np.unique(y)
        if not matrix.single_valued.any():
            raise InputError("no family has one value a row; trees have nothing to ask about")
        self._like = matrix.take(np.empty(0, dtype=np.int64))
        grown = TreeTemplates() if self.templates is None else clone(self.templates)
        self.templates_ = grown.set_params(singles=False).fit(table_of_families(matrix), y)
        first = self.templates_._features.expansion.first
        longer = [
            np.arange(first[t], first[t + 1])
            for t, template in enumerate(self.templates_.templates_)
            if len(template.places) > 1
        ]
        # Paths of one column are features that are there already.
        self._joined = np.concatenate([np.empty(0, dtype=np.int64), *longer])
        self._names = list(matrix.names)
        return self

    def _features_of(self, matrix):
        joined = self.templates_.transform(table_of_families(self._as_fitted(matrix)))
        return sparse.hstack([matrix.to_csr(), joined[:, self._joined]], format="csr")

    def _names_of(self, columns):
        return [*columns, *self.templates_.get_feature_names_out()[self._joined]]

    def feature_list(self) -> FeatureList:
        """The output columns as a linear model carries them."""
        check_is_fitted(self, "templates_")
        like = self._like
        single = np.flatnonzero(like.single_valued)
        # The values of a family are its features, in their order.
        of_family = [np.flatnonzero(like.family_of == family) for family in single]
        atoms = np.concatenate([*of_family, [-1]])
        joined = atoms[self.templates_.feature_list().parts[self._joined]]
        parts = np.full((len(self._names) + len(joined), joined.shape[1]), -1, dtype=np.int64)
        parts[: len(self._names), 0] = np.arange(len(self._names))
        parts[len(self._names) :] = joined
        return FeatureList.of_matrix(self._names, parts)

    def _as_fitted(self, matrix: FeatureMatrix) -> FeatureMatrix:
        """The rows with the families of ``fit``: few rows may show a family as single-valued."""
        return replace(
            self._like,
            indptr=matrix.indptr,
            indices=matrix.indices,
            labels=None,
            groups=None,
        )
