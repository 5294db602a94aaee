"""Models that the experiment on transfer needs and nobody else does."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from featloom.evaluation.folds import make_folds
from featloom.methods.transfer import AlternatingStructure, MultiTask, RelevancePrior, TransFeat
from featloom.methods.transfer.tuning import grid_of


class PolynomialSVM(ClassifierMixin, BaseEstimator):
    """A support vector machine with the kernel (γ x·z + 1)^degree, for sparse rows.

    All products of rows are made at once, in sparse arithmetic, which is many times as fast as
    the solver's own; γ is that of scikit-learn's "scale".

    >>> from scipy import sparse
    >>> X = sparse.csr_matrix([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    >>> PolynomialSVM(degree=2, C=100.0).fit(X, [0, 1, 1, 0] * 5).predict(X[:4]).tolist()
    [0, 1, 1, 0]
    """

    def __init__(self, *, C: float = 1.0, degree: int = 2):
        self.C = C
        self.degree = degree

    def fit(self, X: Any, y: Any) -> PolynomialSVM:
        """Learn from sparse rows."""
        from sklearn.svm import SVC

        mean = X.mean()
        variance = X.multiply(X).mean() - mean**2
        self._gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        self._rows = X
        self._svm = SVC(C=self.C, kernel="precomputed").fit(self._kernel(X), y)
        self.classes_, self.n_features_in_ = self._svm.classes_, X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self._svm.predict(self._kernel(X))

    def _kernel(self, X: Any) -> np.ndarray:
        return (self._gamma * (X @ self._rows.T).toarray() + 1.0) ** self.degree


class TunedStructure(BaseEstimator):
    """Alternating structure optimisation, settings tuned on a third of the rows of each task."""

    def __init__(
        self,
        *,
        strengths: Sequence[float] = (0.1, 0.3, 1.0),
        eases: Sequence[float] = (1.0, 3.0),
        directions: Sequence[int] = (25,),
        feature_names: Sequence[str] | None = None,
    ):
        self.strengths = strengths
        self.eases = eases
        self.directions = directions
        self.feature_names = feature_names

    def fit(self, tasks: Mapping[Hashable, tuple[Any, np.ndarray]]) -> TunedStructure:
        """Choose a setting for all tasks together, then learn from all rows."""
        inner, held_out = {}, {}
        for name, (X, y) in tasks.items():
            fold_of = np.ones(len(y))
            if len(y) >= 6:
                fold_of = make_folds(y, n_folds=3, seed=0, allow_rare=True)
            inner[name] = X[fold_of > 0], y[fold_of > 0]
            held_out[name] = X[fold_of == 0], y[fold_of == 0]
        grid = grid_of(
            {"strength": self.strengths, "ease": self.eases, "n_directions": self.directions}
        )
        right = [self._right(setting, inner, held_out) for setting in grid]
        self.setting_ = grid[int(np.argmax(right))]
        self.model_ = self._fitted(self.setting_, tasks)
        return self

    def predict(self, task: Hashable, X: Any) -> np.ndarray:
        """The class of each row of a task that was fitted."""
        return self.model_.predict(task, X)

    def _fitted(self, setting: Mapping[str, Any], tasks: Mapping) -> AlternatingStructure:
        return AlternatingStructure(feature_names=self.feature_names, **setting).fit(tasks)

    def _right(self, setting: Mapping[str, Any], inner: Mapping, held_out: Mapping) -> int:
        model = self._fitted(setting, inner)
        return sum(
            int((model.predict(name, X) == y).sum()) for name, (X, y) in held_out.items() if len(y)
        )


class PriorsOfOthers:
    """A prior for each task, learned without that task; the getters are those of one prior.

    Parameters
    ----------
    priors : the fitted prior of each task.
    """

    def __init__(self, priors: Mapping[Any, RelevancePrior]):
        self.priors = dict(priors)
        first = next(iter(self.priors.values()))
        self.feature_names = self.feature_names_ = first.feature_names_
        self.power = first.power

    @property
    def tasks_(self) -> list[Hashable]:
        return list(self.priors)

    def cost(self, exclude: Hashable, *, names: Sequence[str] | None = None) -> np.ndarray:
        """Bits of each feature for the task that asks."""
        return self.priors[exclude].cost(names=names)

    def selection_prior(
        self, exclude: Hashable, *, names: Sequence[str] | None = None
    ) -> np.ndarray:
        """How many times as likely as the average each feature is to be relevant."""
        return self.priors[exclude].selection_prior(names=names)


def features_used(model: Any) -> float:
    """Of how many features the model of a task makes use, on average."""
    if isinstance(model, TransFeat):
        used: dict[Any, set[int]] = {task: set() for task in model.classes_}
        for sense, selection in model.selections_.items():
            used[sense.task].update(selection.features.tolist())
        return float(np.mean([len(features) for features in used.values()]))
    if isinstance(model, TunedStructure):
        shared, fitted = len(model.model_.directions_.indptr) - 1, model.model_.models_.values()
        return float(np.mean([0 if m is None else m.coef_.shape[1] - shared for m in fitted]))
    assert isinstance(model, MultiTask)
    return float(np.mean([_used(one.estimator) for one in model.models_.values()]))


def _used(estimator: Any) -> int:
    """How many features have a weight."""
    if estimator is None or not hasattr(estimator, "n_features_in_"):
        return 0
    if hasattr(estimator, "get_support"):
        return int(np.sum(estimator.get_support()))
    parts = getattr(estimator, "estimators_", [estimator])
    weights = [one.coef_ for one in parts if hasattr(one, "coef_")]
    if weights:
        return int((np.concatenate(weights) != 0).any(axis=0).sum())
    return 0 if type(estimator).__name__ == "DummyClassifier" else int(estimator.n_features_in_)
