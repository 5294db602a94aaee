"""The linear models that learning many tasks comes to, whatever learned them.

A support vector machine on scaled columns, a logistic regression a class against the rest, a
selection at a cost: each gives weights of features and a bias for every class of a task.  Scales
are multiplied into the weights, so that the models speak of the features as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.matrix import FeatureMatrix, ValueNames
from featloom.errors import InputError
from featloom.features.feature_list import FeatureList
from featloom.methods.transfer.task_models import TaskModels
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TaskClass, TransFeat


def models_of(model: MultiTask, rows: FeatureMatrix) -> TaskModels:
    """The weights of a :class:`MultiTask` that was fitted on such rows."""
    features = atoms(rows)
    parts = {}
    for task, one in model.models_.items():
        if one.estimator is None:
            weights, biases = np.zeros((len(one.columns), 1)), np.zeros(1)
            classes = one.classes
        else:
            weights, biases, codes = linear_part(one.estimator)
            classes = one.classes[codes]
            if one.scale is not None:
                weights = weights * one.scale[:, None]
        spread = spread_out(weights, one.columns, len(features))
        parts[str(task)] = (spread, biases, classes)
    return TaskModels.of(features, parts, rows.task_column, rows.target, model.prior_)


def models_of_transfeat(model: TransFeat, rows: FeatureMatrix) -> TaskModels:
    """The weights of a :class:`TransFeat` that was fitted on such rows."""
    features = atoms(rows)
    parts = {}
    for task, classes in model.classes_.items():
        weights = sparse.lil_matrix((len(features), len(classes)))
        biases = np.zeros(len(classes))
        for k, label in enumerate(classes.tolist()):
            chosen = model.selections_.get(TaskClass(task, label))
            if chosen is not None:
                weights[chosen.features, k] = chosen.weights[:, None]
                biases[k] = chosen.intercept
        parts[str(task)] = (weights.tocsc(), biases, classes)
    return TaskModels.of(features, parts, rows.task_column, rows.target)


def models_of_one(classifier: Any, rows: FeatureMatrix) -> TaskModels:
    """One linear classifier of all rows, whose last features are the tasks."""
    features = atoms(rows)
    weights, biases, codes = linear_part(classifier)
    n = len(features)
    by_task = {
        rows.task_names[t]: biases + weights[n + t] for t in np.unique(rows.task_codes).tolist()
    }
    classes = np.asarray(classifier.classes_)[codes].tolist()
    return TaskModels.shared(
        features, weights[:n], classes, by_task, biases, rows.task_column, rows.target
    )


def atoms(rows: FeatureMatrix) -> FeatureList:
    """The features of rows, one by one."""
    numbers = np.arange(rows.shape[1], dtype=np.int32)[:, None]
    if not isinstance(rows.names, ValueNames):
        return FeatureList.of_matrix(rows.names, numbers)
    values = tuple(map(tuple, rows.names.vocabularies))
    return FeatureList(tuple(rows.names.columns), values, numbers)


def linear_part(estimator: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (features, classes) and biases of a fitted classifier, and codes of its classes.

    Of two classes the first scores 0, as scikit-learn has it.

    >>> from sklearn.svm import LinearSVC
    >>> X, y = sparse.csr_matrix([[1, 0], [0, 1]] * 5), [0, 1] * 5
    >>> weights, biases, codes = linear_part(LinearSVC().fit(X, y))
    >>> weights.shape, codes.tolist(), weights[:, 0].tolist()
    ((2, 2), [0, 1], [0.0, 0.0])
    """
    if hasattr(estimator, "steps"):
        scaling, classifier = (step for _, step in estimator.steps)
        weights, biases, codes = linear_part(classifier)
        return weights * scaling.scale_[:, None], biases, codes
    classes = np.arange(len(estimator.classes_))
    if hasattr(estimator, "class_prior_"):
        # One answer to all rows.
        return np.zeros((estimator.n_features_in_, 1)), np.zeros(1), classes[
            [int(np.argmax(estimator.class_prior_))]
        ]  # fmt: skip
    if hasattr(estimator, "selections_"):
        weights, biases = _of_selections(estimator)
    elif hasattr(estimator, "estimators_"):
        weights = np.vstack([one.coef_ for one in estimator.estimators_]).T
        biases = np.concatenate([one.intercept_ for one in estimator.estimators_])
    elif hasattr(estimator, "coef_"):
        weights, biases = np.atleast_2d(estimator.coef_).T, np.ravel(estimator.intercept_)
    else:
        raise InputError(f"{type(estimator).__name__} has no weights of features")
    if len(classes) == 2 and weights.shape[1] == 1:
        weights, biases = np.hstack([np.zeros_like(weights), weights]), np.append(0.0, biases)
    return np.asarray(weights, dtype=np.float64), np.asarray(biases, dtype=np.float64), classes


def spread_out(weights: np.ndarray, columns: np.ndarray, n: int) -> sparse.csc_matrix:
    """Weights of some features as a matrix over all ``n`` of them."""
    some = sparse.coo_matrix(weights)
    shape = (n, weights.shape[1])
    return sparse.csc_matrix((some.data, (np.asarray(columns)[some.row], some.col)), shape=shape)


def _of_selections(selector: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases of stepwise selections, one for each target."""
    chosen: Mapping[int, Any] = dict(enumerate(selector.selections_))
    weights = np.zeros((len(selector.costs_), len(chosen)))
    biases = np.zeros(len(chosen))
    for k, one in chosen.items():
        weights[one.features, k], biases[k] = one.weights, one.intercept
    if len(selector.classes_) == 2 and selector.likelihood == "gaussian":
        biases -= 0.5  # the second class is likelier from a half on
    return weights, biases
