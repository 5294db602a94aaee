"""What may be given as X: a sparse binary matrix, or a table of symbols in any dress.

Sparse matrices, FeatureMatrix and dense arrays of zeros and ones are binary features.  Anything
else (NominalTable, DataFrame, arrays and lists of symbols) is a table, of which every value of
every column is a feature named ``column=value``; values not seen in ``fit`` make no feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from featloom.data.blocks import Blocks
from featloom.data.frames import are_records, as_frame, table_from_frame
from featloom.data.hashing import HashedValues
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable, spelled_like
from featloom.errors import InputError
from featloom.learners.inputs import columns_by_name


class InputReader:
    """Reads X in ``fit`` and reads it the same way ever after."""

    def __init__(self, feature_groups: Sequence[str] | None = None):
        self.feature_groups = feature_groups
        self.table: NominalTable | None = None
        self.hashed: HashedValues | None = None
        self.hashed_columns: tuple[str, ...] = ()
        self.names: Sequence[str] = ()

    @classmethod
    def of_blocks(cls, blocks: Blocks) -> InputReader:
        """A reader of rows like those of blocks."""
        reader = cls()
        reader.table, reader.names = blocks.table, blocks.like.names
        reader.hashed, reader.hashed_columns = blocks.hashed, blocks.columns
        return reader

    def fit(self, estimator, X) -> FeatureMatrix:
        """Read X and remember its columns; sets ``n_features_in_`` as scikit-learn does."""
        if are_records(X):
            X = table_from_frame(X)
        if isinstance(X, FeatureMatrix):
            estimator.n_features_in_ = X.shape[1]
            matrix = X
        elif isinstance(X, NominalTable):
            estimator.n_features_in_ = len(X.columns)
            self.table = X
            matrix = FeatureMatrix.from_table(X)
        else:
            X = _two_dimensional(X)
            validate_data(estimator, X, reset=True, skip_check_array=True)
            if sparse.issparse(X) or _is_binary(X):
                names = getattr(estimator, "feature_names_in_", None)
                matrix = FeatureMatrix.from_csr(
                    X,
                    names=None if names is None else list(names),
                    feature_groups=self.feature_groups,
                )
            else:
                self.table = table_from_frame(X)
                matrix = FeatureMatrix.from_table(self.table)
        self.names = matrix.names
        if len(matrix) == 0 or estimator.n_features_in_ == 0:
            raise InputError(
                f"found {len(matrix)} sample(s) and {estimator.n_features_in_} feature(s) "
                f"(shape=({len(matrix)}, {estimator.n_features_in_})) "
                "while a minimum of 1 is required."
            )
        return matrix

    def read(self, estimator, X) -> FeatureMatrix:
        """Read X as in ``fit``: the same columns, in the same order."""
        if self.hashed is not None and not isinstance(X, FeatureMatrix):
            columns = self.hashed_columns
            named = isinstance(X, NominalTable) or hasattr(X, "columns")
            table = table_from_frame(X, columns=None if named else columns)
            like = self.hashed.like((), "", "", names=self.names)
            indptr, indices = self.hashed.rows_of_table(columns, table)
            return replace(like, indptr=indptr, indices=indices, labels=None)
        if self.table is not None:
            X = columns_by_name(estimator, X, self.table.columns)
        if isinstance(X, NominalTable) and self.table is not None:
            return _recoded(self.table, X)
        if isinstance(X, FeatureMatrix):
            if X.shape[1] != len(self.names):
                raise InputError(f"X has {X.shape[1]} features, {len(self.names)} were fitted")
            return X
        X = _two_dimensional(X)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        if self.table is None:
            return FeatureMatrix.from_csr(X, names=self.names)
        table = table_from_frame(X, columns=list(self.table.columns))
        return _recoded(self.table, table)


def _recoded(known: NominalTable, table: NominalTable) -> FeatureMatrix:
    """Rows in known values, numbers written as these are."""
    table = spelled_like(table, known.columns, known.vocabularies)
    return FeatureMatrix.from_table(known.recode(table))


def _two_dimensional(X):
    if hasattr(X, "columns"):
        as_frame(X)  # refuses names that no table could have
        return X
    if sparse.issparse(X) or hasattr(X, "__dataframe__"):
        return X
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # NumPy made texts of the numbers among them, 22.0 of what is 22 elsewhere.
        array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got an array of {array.ndim} dimensions instead. "
            "Reshape your data: a row for each case, a column for each feature."
        )
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported")
    return array


def _is_binary(X) -> bool:
    """A dense numeric array, or DataFrame of flags, that holds zeros and ones alone."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
        return False
    return bool(np.isin(X, (0, 1)).all())
