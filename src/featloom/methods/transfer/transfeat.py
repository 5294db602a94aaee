"""TransFeat: a feature is cheap for a class when similar classes of other tasks selected it.

1. Each class of each task ("add.02" of the verb "add") selects features by minimum description
   length, all features at the same cost.
2. Classes are clustered by the features that they selected and that speak for them (of positive
   weight), weighted by TF-IDF, into cohesive clusters and a background.
3. In each cluster, of the classes of OTHER tasks k selected feature j and l had it as a candidate
   and did not, so that a Beta prior with a and b gives

       p_j = (k + a) / (k + l + a + b),    cost −log₂ p_j + 2 bits.

4. Each class in the foreground selects again at these costs; one in the background keeps its first
   selection.  A row gets the class of the highest score.

Where the paper is silent, parameters name the readings; the defaults are those that were measured
to be best.  ``clusters=False`` is the control: one group of all classes.

Dhillon and Ungar, "Transfer Learning, Feature Selection and Word Sense Disambiguation" (2009).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.errors import InputError
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, LIKELIHOODS, feature_costs, select_features
from featloom.learners.stepwise_paths import VARIANCES, Selection
from featloom.methods.transfer.clusters import BACKGROUND, ForegroundClustering
from featloom.methods.transfer.families import family_of
from featloom.methods.transfer.task_data import SharedFeatures, Task, read_tasks
from featloom.options import check, number, one_of, threads, whole
from featloom.pool import number_of_workers

SETTINGS = ("both", "semantic", "syntactic")


class TaskClass(NamedTuple):
    """One class of one task."""

    task: Hashable
    label: Any


def is_semantic(name: str) -> bool:
    """Words of the text (``tp_``) and classes of meaning (``…syn_``); all others are syntactic.

    >>> [is_semantic(name) for name in ("tp_bank", "dobjsyn_15", "ppsyn_in_10", "dobj_money")]
    [True, True, True, False]
    """
    first = family_of(name).partition("_")[0]
    return first == "tp" or first.endswith("syn")


class TransFeat(BaseEstimator):
    """Selection of features for many tasks at costs learned from similar classes of other tasks.

    Parameters
    ----------
    feature_names : names of the columns of bare matrices.
    settings : what classes are compared by: "both", "semantic" or "syntactic" features.
    semantic : from a feature's name to whether it is semantic; None is :func:`is_semantic`.
    clusters : False learns one prior from the classes of all other tasks, the control.
    threshold, background : of the clustering.
    cost : of the first selection: "ric" or bits.
    prior : "uniform" has the mean 1/m of m candidates and counts as ``weight`` classes;
        "flat" is a = b = 1.
    weight : how many classes a uniform prior counts as.
    exposure : whether a class counts against a feature only where it was a candidate.
    hold_out : "task" leaves out all classes of the task that asks, "class" the one class.
    min_rows : a feature is a candidate in a task where it has so many rows.
    likelihood, variance : of both selections; see
        :func:`~featloom.learners.stepwise.select_features`.
    n_jobs : threads; they change the time and nothing else.

    Attributes
    ----------
    first_selections_, selections_ : by task and class, before and after the transfer; weights and
        features are those of ``feature_names_``.
    clusters_ : the number of the cluster by task and class, -1 for the background.
    costs_ : bits of each feature by task and class; those in the background have the first cost.
    feature_names_ : names of the features.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]] * 10)
    >>> y = ["pay", "pay", "say", "say"] * 10
    >>> model = TransFeat(background=0).fit({"add": (X, y), "give": (X, y)})
    >>> model.clusters_[TaskClass("add", "pay")], model.clusters_[TaskClass("give", "pay")]
    (0, 0)
    >>> model.predict("give", X[:3]).tolist()
    ['pay', 'pay', 'say']
    """

    constraints = {
        "settings": one_of(SETTINGS),
        "prior": one_of(["uniform", "flat"]),
        "weight": number(above=0),
        "hold_out": one_of(["task", "class"]),
        "min_rows": whole(0),
        "likelihood": one_of(LIKELIHOODS),
        "variance": one_of(VARIANCES),
        "n_jobs": threads,
    }

    def __init__(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        settings: str = "both",
        semantic: Callable[[str], bool] | None = None,
        clusters: bool = True,
        threshold: float = 0.2,
        background: float = 0.2,
        cost: str | float = "ric",
        prior: str = "uniform",
        weight: float = 1.0,
        exposure: bool = True,
        hold_out: str = "task",
        min_rows: int = 2,
        likelihood: str = "gaussian",
        variance: str = "null",
        n_jobs: int | None = None,
    ):
        self.feature_names = feature_names
        self.settings = settings
        self.semantic = semantic
        self.clusters = clusters
        self.threshold = threshold
        self.background = background
        self.cost = cost
        self.prior = prior
        self.weight = weight
        self.exposure = exposure
        self.hold_out = hold_out
        self.min_rows = min_rows
        self.likelihood = likelihood
        self.variance = variance
        self.n_jobs = n_jobs

    def fit(self, tasks: Mapping[Hashable, tuple[Any, Any]], y: None = None) -> TransFeat:
        """Select features in each of the tasks, {name: (X, y)}."""
        check(self)
        self._features = SharedFeatures(self.feature_names)
        read = read_tasks(self._features, tasks)
        self.classes_ = {name: task.classes for name, task in read.items()}
        self._tasks = {name: self._candidates(task) for name, task in read.items()}
        m = len(self._features)
        plain: dict[TaskClass, np.ndarray] = {}
        for name, task in self._tasks.items():
            bits = feature_costs(self.cost, [""] * m, len(task.columns))
            plain.update({TaskClass(name, label): bits for label in task.classes.tolist()})
        self.first_selections_ = self._select(plain)
        senses = list(self.first_selections_)
        groups = self._clustered(senses)
        self.clusters_ = dict(zip(senses, groups.tolist(), strict=True))
        self.costs_ = self._costs(senses, groups, plain)
        self.selections_ = self._select(self.costs_)
        del self._tasks
        return self

    def predict(self, task: Hashable, X: Any) -> np.ndarray:
        """The class of each row of a task that was fitted."""
        check_is_fitted(self, "selections_")
        if task not in self.classes_:
            raise InputError(f"task {task!r} was not among those fitted")
        classes = self.classes_[task]
        return classes[np.argmax(self.decision_function(task, X), axis=1)]

    def decision_function(self, task: Hashable, X: Any) -> np.ndarray:
        """A score for each row and class of a task."""
        rows = self._features.read(X, grow=False)
        scores = np.zeros((rows.shape[0], len(self.classes_[task])))
        for k, label in enumerate(self.classes_[task].tolist()):
            selection = self.selections_.get(TaskClass(task, label))
            if selection is not None:
                scores[:, k] = rows[:, selection.features] @ selection.weights
                scores[:, k] += selection.intercept
        return scores

    @property
    def feature_names_(self) -> list[str]:
        return self._features.names

    def _candidates(self, task: Task) -> Task:
        rows = task.rows_of_features
        return task.take((rows >= self.min_rows) & (rows < task.X.shape[0]))

    def _select(self, costs: Mapping[TaskClass, np.ndarray]) -> dict[TaskClass, Selection]:
        """The selection of each class against the rest, with features by their shared numbers."""
        chosen = {}
        for name, task in self._tasks.items():
            if len(task.classes) < 2 or not len(task.columns):
                continue
            targets = (task.labels[:, None] == np.arange(len(task.classes))).astype(np.float64)
            bits = np.stack(
                [costs[TaskClass(name, c)][task.columns] for c in task.classes.tolist()]
            )
            selections = select_features(
                task.X,
                targets,
                bits,
                likelihood=self.likelihood,
                variance=self.variance,
                threads=number_of_workers(self.n_jobs),
            )
            for label, s in zip(task.classes.tolist(), selections, strict=True):
                shared = task.columns[s.features]
                chosen[TaskClass(name, label)] = Selection(
                    shared, s.saved, s.paid, s.weights, s.intercept, s.path
                )
        return chosen

    def _clustered(self, senses: list[TaskClass]) -> np.ndarray:
        if not senses:
            return np.empty(0, dtype=np.int64)
        if not self.clusters:
            return np.zeros(len(senses), dtype=np.int64)
        vectors = self._vectors(senses)
        clustering = ForegroundClustering(threshold=self.threshold, background=self.background)
        return clustering.fit_predict(vectors)

    def _vectors(self, senses: list[TaskClass]) -> sparse.csr_matrix:
        """TF-IDF of the features that each class selected and that speak for it."""
        names = self._features.names
        semantic = self.semantic or is_semantic
        indices, indptr = [], [0]
        for sense in senses:
            selection = self.first_selections_[sense]
            for j in np.sort(selection.features[selection.weights > 0]):
                if self.settings == "both" or semantic(names[j]) == (self.settings == "semantic"):
                    indices.append(j)
            indptr.append(len(indices))
        shape = (len(senses), len(names))
        rows = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=shape)
        documents = np.bincount(rows.indices, minlength=len(names))
        idf = np.log((1 + len(senses)) / (1 + documents)) + 1
        return rows @ sparse.diags(idf)

    def _costs(
        self,
        senses: list[TaskClass],
        groups: np.ndarray,
        plain: Mapping[TaskClass, np.ndarray],
    ) -> dict[TaskClass, np.ndarray]:
        m = len(self._features)
        chosen = _incidence([self.first_selections_[s].features for s in senses], m)
        met = _incidence([self._tasks[s.task].columns for s in senses], m)
        costs = dict(plain)
        for i, sense in enumerate(senses):
            if groups[i] == BACKGROUND:
                continue
            if self.hold_out == "task":
                others = np.array([other.task != sense.task for other in senses])
            else:
                others = np.arange(len(senses)) != i
            others &= groups == groups[i]
            if not others.any():
                continue
            k = chosen[others].sum(axis=0).A1
            counted = met[others].sum(axis=0).A1 if self.exposure else float(others.sum())
            a, b = self._beta(len(self._tasks[sense.task].columns))
            p = (k + a) / (counted + a + b)
            costs[sense] = BITS_OF_A_WEIGHT - np.log2(p)
        return costs

    def _beta(self, candidates: int) -> tuple[float, float]:
        if self.prior == "flat":
            return 1.0, 1.0
        mean = 1 / max(candidates, 2)
        return self.weight * mean, self.weight * (1 - mean)


def _incidence(rows: Sequence[np.ndarray], m: int) -> sparse.csr_matrix:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows) if len(rows) else np.empty(0, dtype=np.int64)
    return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(rows), m))
