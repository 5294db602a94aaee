"""What estimators on symbols take as X and y, read once in ``fit`` and the same way ever after."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from featloom.data.frames import are_records, has_column_names, table_from_frame, text_of
from featloom.data.matrix import FeatureMatrix
from featloom.data.row_prints import RowPrints, Seen
from featloom.data.table import LabelledRows, NominalTable, spelled_like
from featloom.data.vocabulary import Vocabulary, spelled_as
from featloom.errors import InputError
from featloom.words import no_such


class TableReader:
    """Reads X as a table of symbols: NominalTable, DataFrame, array or list of rows."""

    table: NominalTable  # what was read first

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.columns

    def fit(self, estimator, X) -> NominalTable:
        """Read X and remember its columns; sets ``n_features_in_`` as scikit-learn does."""
        if are_records(X):
            X = table_from_frame(X)
        if isinstance(X, NominalTable):
            estimator.n_features_in_ = len(X.columns)
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_  # of a table it was fitted on before
            table = X
        else:
            table = table_from_frame(X)
            validate_data(estimator, _with_shape(X), reset=True, skip_check_array=True)
        self.table = table
        return table

    def read(self, estimator, X, *, recode: bool = True) -> NominalTable:
        """Read X as in ``fit``; with ``recode`` in the values that were met there."""
        X = columns_by_name(estimator, X, self.table.columns)
        if isinstance(X, NominalTable):
            table = X
        else:
            if getattr(shaped := _with_shape(X), "ndim", 2) != 2:
                table_from_frame(X)  # says what is wrong with the shape
            validate_data(estimator, shaped, reset=False, skip_check_array=True)
            table = table_from_frame(X, columns=list(self.table.columns))
        table = spelled_like(table, self.table.columns, self.table.vocabularies)
        return self.table.recode(table) if recode else table


class TakesSymbols:
    """An estimator that takes symbols in any dress, and binary matrices where it says so."""

    _takes_matrices = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self._takes_matrices
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class MakesFeatures(TakesSymbols, TransformerMixin):
    """A transformer from rows with classes to binary features, sparse and named.

    A class reads rows by its ``_reader``, makes their features in ``_features_of`` and names these
    in ``_names_of``; once it is fitted it has the attribute ``_fitted``.
    """

    _fitted: str
    _reader: Any

    def transform(self, X):
        """The features of each row, as a scipy CSR matrix of ones."""
        check_is_fitted(self, self._fitted)
        return self._features_of(self._reader.read(self, X))

    def get_feature_names_out(self, input_features=None):
        """Names of the output columns; of a bare matrix they can be given other names."""
        check_is_fitted(self, self._fitted)
        given = input_features is not None and self._reader.table is None
        names = list(input_features) if given else self._reader.names
        return np.array(self._names_of(names), dtype=object)

    def _features_of(self, rows: Any) -> sparse.csr_matrix:
        raise NotImplementedError

    def _names_of(self, columns: Sequence[str]) -> list[str]:
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def rows_of(
    X: Any,
    columns: Sequence[str],
    needed: Collection[str],
    vocabularies: Sequence[Sequence[str]] = (),
) -> NominalTable | FeatureMatrix:
    """Rows for a model that was kept: columns are found by name, or by place where none has one.

    Parameters
    ----------
    columns : of the table that the model learned from; none for a bare matrix.
    needed : those of them that must be there; others, and columns beside, may be.
    vocabularies : of the columns, by which numbers are written as they were.

    Examples
    --------
    >>> table = rows_of([["c", 1]], ["letter", "next"], ["letter"])
    >>> table.columns, table.vocabularies
    (('letter', 'next'), (('c',), ('1',)))
    """
    if isinstance(X, FeatureMatrix):
        return X
    if not columns and not isinstance(X, NominalTable):
        raise InputError(
            "the model knows features by their names; give it a FeatureMatrix, as "
            "FeatureMatrix.from_csr(X, names=...) makes one"
        )
    named = isinstance(X, NominalTable) or has_column_names(X)
    table = _by_name_or_place(table_from_frame(X), columns, needed, named)
    return spelled_like(table, columns, vocabularies)


def _by_name_or_place(
    table: NominalTable, columns: Sequence[str], needed: Collection[str], named: bool
) -> NominalTable:
    """A table that has the columns that are needed; names that are all others say nothing."""
    if not columns or (not named and len(table.columns) == len(columns)):
        return replace(table, columns=tuple(columns) or table.columns)
    if not named:
        raise InputError(f"X has {len(table.columns)} features, {len(columns)} were fitted")
    if named and not set(columns).isdisjoint(table.columns):
        lacking = [name for name in columns if name in needed and name not in table.columns]
        if lacking:
            raise InputError(no_such("column", lacking, table.columns))
        return table
    if len(table.columns) != len(columns):
        raise InputError(no_such("column", list(columns), table.columns))
    return replace(table, columns=tuple(columns))


def share_of_right(answers: np.ndarray, y: Any) -> float:
    """The share of rows that get their class, however it is written; rows without one are left out.

    >>> share_of_right(np.array([1, 0]), [1, 1])
    0.5
    >>> share_of_right(np.array(["1.5", "2.0"], dtype=object), np.array([1.5, 2.0]))
    1.0
    """
    given = text_of(answers, "answers")
    gold = text_of(y.to_list() if hasattr(y, "to_list") else np.ravel(np.asarray(y)), "y")
    if len(gold) != len(given):
        raise InputError(f"{len(gold)} classes for {len(given)} rows")
    texts = list(dict.fromkeys(text for text in gold if text is not None))
    as_given = dict(zip(texts, spelled_as(texts, list(dict.fromkeys(given))), strict=True))
    right = [as_given[b] == a for a, b in zip(given, gold, strict=True) if b is not None]
    if not right:
        raise InputError("no row has a class to compare with")
    if len(right) < len(gold):
        warnings.warn(f"rows without a class, left out: {len(gold) - len(right):,}", stacklevel=3)
    return float(np.mean(right))


def seen_among(
    learned: RowPrints | None, rows: NominalTable | FeatureMatrix, columns: Sequence[str]
) -> Seen:
    """How many rows are among those that a model learned from; of its columns alone."""
    if learned is None:
        return Seen(len(rows))
    if isinstance(rows, NominalTable) and columns:
        rows = rows.select([name for name in rows.columns if name in set(columns)])
    return learned.seen(rows)


def warn_of_seen(seen: Seen) -> None:
    """Tell who asks how good a model is that it has seen some of the rows."""
    if seen.words:
        warnings.warn(seen.words, stacklevel=3)


def class_names(data: Any, values: np.ndarray) -> list[str]:
    """The names of classes as the data have them; of others, their text.

    >>> table = NominalTable.from_columns({"x": ["a"]}, labels=["true"], class_type="bool")
    >>> class_names(table, np.array([False, True]))
    ['False', 'true']
    """
    known = {}
    if data is not None:
        known = dict(zip(data.class_values.tolist(), data.classes, strict=True))
    return [known.get(value, str(value)) for value in values.tolist()]


def columns_by_name(estimator, X, columns: Sequence[str]):
    """The columns of a DataFrame, or of dicts, that a table had; anything else as it is.

    What was fitted on a table knows its columns by name, so a frame may have them in another
    order, or have others too.  One that has none of the names is taken column by column.
    """
    if hasattr(X, "collect"):
        X = X.collect()  # a query that was not run yet
    if are_records(X) or hasattr(X, "column_names"):
        X = table_from_frame(X)
    elif not hasattr(X, "columns"):
        return X
    there = {str(name) for name in X.columns}
    if not isinstance(X, NominalTable) and (
        hasattr(estimator, "feature_names_in_") or there.isdisjoint(columns)
    ):
        return X
    lacking = [name for name in columns if name not in there]
    if lacking:
        raise InputError(no_such("column", lacking, X.columns))
    if isinstance(X, NominalTable):
        return X
    kept = [name for name in X.columns if str(name) in set(columns)]
    return table_from_frame(X[kept])


def encode_target(data: LabelledRows, y, classes=None) -> tuple[np.ndarray, np.ndarray]:
    """Class codes of the rows, and the classes, sorted; y None means the labels the data carries.

    ``classes`` names all that there can be, where y need not hold every one.

    >>> table = NominalTable.from_columns({"letter": list("cks")}, labels=["S", "K", "S"])
    >>> encode_target(table, None)
    (array([1, 0, 1]), array(['K', 'S'], dtype=object))
    """
    if y is None:
        return _carried(data)
    y = checked_target(data, y)
    if classes is None:
        classes, labels = np.unique(y, return_inverse=True)
        _check_number(classes)
        return labels.astype(np.int64), classes
    classes = np.unique(classes)
    _check_number(classes)
    labels = Vocabulary(classes.tolist()).find(y.tolist())
    if (labels < 0).any():
        unknown = y.tolist()[int(np.argmin(labels))]
        raise InputError(f"y holds {unknown!r}, which is not among the classes")
    return labels.astype(np.int64), classes


def checked_target(data: LabelledRows, y) -> np.ndarray:
    """y as an array with a class for each row; without one, the names that the data carries."""
    if y is None:
        _check_carried(data)
        return data.class_values[data.labels]
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected.",
            DataConversionWarning,
            stacklevel=3,
        )
        y = y.ravel()
    if y.ndim != 1 or len(y) != len(data):
        raise InputError(f"y has shape {y.shape}, X has {len(data)} rows")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(f"y holds NaN or infinity in row {int(np.argmin(np.isfinite(y)))}")
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        # scikit-learn's checks of estimators look for the first words.
        row = int(np.argmax(y != np.floor(y)))
        raise InputError(
            f"Unknown label type: continuous; y holds {y[row]} in row {row}, and a class is a "
            "name or a whole number"
        )
    missing = (
        [i for i, value in enumerate(y) if value is None or value != value]
        if y.dtype == object
        else []
    )
    if missing:
        raise InputError(f"y is missing in row {missing[0]}")
    return y


def order_of_appearance(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """For each class its place among all in the order in which they are met.

    >>> order_of_appearance(np.array([2, 0, 2]), 3).tolist()
    [1, 2, 0]
    """
    first = np.full(n_classes, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    place_of = np.empty(n_classes, dtype=np.int64)
    place_of[np.argsort(first, kind="stable")] = np.arange(n_classes)
    return place_of


def _check_carried(data: LabelledRows) -> None:
    if data.labels is None:
        raise InputError(
            "requires y to be passed, but the target y is None and X carries no labels"
        )
    if (data.labels < 0).any():
        raise InputError(f"row {int(np.argmin(data.labels))} has no label")


def _carried(data: LabelledRows) -> tuple[np.ndarray, np.ndarray]:
    _check_carried(data)
    present = np.flatnonzero(np.bincount(data.label_codes, minlength=len(data.classes)))
    ordered = present[np.argsort(data.class_values[present], kind="stable")]
    new_label = np.zeros(len(data.classes), dtype=np.int64)
    new_label[ordered] = np.arange(len(ordered))
    classes = data.class_values[ordered]
    _check_number(classes)
    return new_label[data.label_codes], classes


def _check_number(classes: np.ndarray) -> None:
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise InputError(f"y holds one class only, {only!r}: there is nothing to tell apart")


def _with_shape(X):
    """X as something whose columns scikit-learn can count."""
    return X if hasattr(X, "shape") or hasattr(X, "columns") else np.asarray(X, dtype=object)
