"""Models that the experiment on transfer needs and nobody else does, and a look into the prior."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from experiments.transfer_tasks import Tasks
from featloom.data.matrix import FeatureMatrix
from featloom.evaluation.folds import make_folds
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, MDLSelector, candidates
from featloom.methods.transfer import AlternatingStructure, MultiTask, RelevancePrior, TransFeat
from featloom.methods.transfer.findings import (
    clusters_section,
    families_section,
    vouchers_section,
)
from featloom.methods.transfer.tasks import grid_of

MOST_FAMILIES, MOST_FEATURES = 60, 30
LEAST_FOR_THREE_FOLDS = 6  # rows a task: with fewer, settings are chosen by two folds


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
            if len(y) >= LEAST_FOR_THREE_FOLDS:
                fold_of = make_folds(y, n_folds=3, seed=0, allow_rare=True)
            inner[name] = X[fold_of > 0], y[fold_of > 0]
            if (fold_of == 0).any():
                held_out[name] = X[fold_of == 0], y[fold_of == 0]

        def fitted(setting: Mapping[str, Any], pairs: Mapping) -> AlternatingStructure:
            return AlternatingStructure(feature_names=self.feature_names, **setting).fit(pairs)

        def right(setting: Mapping[str, Any]) -> int:
            model = fitted(setting, inner)
            return sum((model.predict(name, X) == y).sum() for name, (X, y) in held_out.items())

        choices = {"strength": self.strengths, "ease": self.eases, "n_directions": self.directions}
        self.setting_ = max(grid_of(choices), key=right)
        self.model_ = fitted(self.setting_, tasks)
        return self

    def predict(self, task: Hashable, X: Any) -> np.ndarray:
        """The class of each row of a task that was fitted."""
        return self.model_.predict(task, X)


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
    return float(np.mean([with_weight(one.estimator) for one in model.models_.values()]))


def with_weight(estimator: Any) -> int:
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


class ShowTrials:
    """What other tasks found: families, clusters of senses, and one task's features.

    It is learned from all rows, and nothing is tested on them.
    """

    def __init__(self, data: Tasks):
        self.data = data

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        parts, tasks = self.data.by_task(), self.data.pairs()
        prior = RelevancePrior(feature_names=self.data.names, rounds=asked["rounds"]).fit(tasks)
        sizes = sorted(parts, key=lambda name: (len(parts[name]), name))
        task = sizes[len(sizes) // 2]
        sections = [
            # Many prepositions make a family each; those that were met most say most.
            families_section(prior, MOST_FAMILIES),
            clusters_section(TransFeat(feature_names=self.data.names).fit(tasks)),
            vouchers_section(str(task), chosen(prior, self.data, task)),
        ]
        for section in sections:
            section.brief = 10
        return {"score": 0.0, "sections": msgspec.to_builtins(sections)}


def chosen(prior: RelevancePrior, data: Tasks, task: str) -> list[list[Any]]:
    """What one task selects at the costs that the others gave, and who vouches for it."""
    own = data.by_task()[task]
    matrix = FeatureMatrix.from_csr(data.X[own], names=data.names)
    after = prior.cost(task)
    selector = MDLSelector(cost=after).fit(matrix, data.label[own])
    alike = float(np.log2(max(int(candidates(matrix, selector.min_rows).sum()), 1)))
    alike += BITS_OF_A_WEIGHT
    number = {name: j for j, name in enumerate(data.names)}
    rows: list[list[Any]] = []
    for one in selector.features_[:MOST_FEATURES]:
        vouchers = [str(other) for other in prior.vouchers(one.name, task)]
        cost = float(after[number[one.name]])
        rows.append([one.name, str(one.target), one.saved, alike, cost, vouchers])
    return rows
