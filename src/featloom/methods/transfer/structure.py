"""Alternating structure optimisation: a few directions that the predictors of many tasks share.

Every class of every task is a problem with a linear predictor u = w + Θᵀv over m features: w is
its own and is kept small, v weighs h directions Θ (h × m) that all problems share and is free.

1. With Θ fixed (at first: none), fit w and v of each problem.
2. With the predictors fixed, Θ is made of the first h left singular vectors of [u₁ u₂ …].

After some rounds, each task gets a classifier on [x, Θx].  Features of one kind may have directions
of their own (``by_family``): Θ is then made block by block.

Ando and Zhang, "A framework for learning predictive structures from multiple tasks and unlabeled
data" (2005); Ando, "Applying alternating structure optimization to word sense disambiguation"
(2006), which also keeps only the positive weights of the predictors before step 2
(``positive=True``).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.errors import InputError
from featloom.methods.transfer.families import Families, family_reader
from featloom.methods.transfer.task_data import SharedFeatures, Task, read_tasks
from featloom.options import check, one_of, whole

LOSSES = ("squared_hinge", "modified_huber")


class AlternatingStructure(BaseEstimator):
    """Linear classifiers of many tasks with shared directions.

    Parameters
    ----------
    n_directions : h; of each family with ``by_family``.
    rounds : how often directions are computed.
    strength : C of the linear models.
    ease : what the directions are multiplied by; the larger, the less their weights are penalised.
    loss : "squared_hinge", or "modified_huber", the paper's.
    positive : whether negative weights are set to 0 before directions are computed.
    by_family : whether each family of features has directions of its own.
    feature_names, families : as in :class:`~featloom.methods.transfer.relevance.RelevancePrior`.
    random_state : for the solvers.

    Attributes
    ----------
    directions_ : Θ, sparse, directions × features.
    models_ : for each task its fitted classifier on [x, Θx]; None where it has one class.
    classes_ : of each task.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]] * 5)
    >>> y = ["pay", "pay", "say", "say"] * 5
    >>> model = AlternatingStructure(n_directions=1).fit({"add": (X, y), "give": (X, y)})
    >>> model.predict("give", X[:3]).tolist()
    ['pay', 'pay', 'say']
    """

    constraints = {"n_directions": whole(1), "rounds": whole(1), "loss": one_of(LOSSES)}

    def __init__(
        self,
        *,
        n_directions: int = 25,
        rounds: int = 1,
        strength: float = 0.1,
        ease: float = 3.0,
        loss: str = "squared_hinge",
        positive: bool = False,
        by_family: bool = False,
        feature_names: Sequence[str] | None = None,
        families: Families = None,
        random_state: int = 0,
    ):
        self.n_directions = n_directions
        self.rounds = rounds
        self.strength = strength
        self.ease = ease
        self.loss = loss
        self.positive = positive
        self.by_family = by_family
        self.feature_names = feature_names
        self.families = families
        self.random_state = random_state

    def fit(
        self, tasks: Mapping[Hashable, tuple[Any, Any]], y: None = None
    ) -> AlternatingStructure:
        """Learn directions and classifiers from tasks, {name: (X, y)}."""
        check(self)
        self._features = SharedFeatures(self.feature_names)
        read = read_tasks(self._features, tasks)
        m = len(self._features)
        blocks = self._blocks()
        directions = sparse.csr_matrix((0, m))
        for _ in range(self.rounds):
            models = {name: self._fitted(task, directions) for name, task in read.items()}
            predictors = self._predictors(read, models, directions)
            directions = self._directions(predictors, blocks)
        self.directions_ = directions
        self.models_ = {name: self._fitted(task, directions) for name, task in read.items()}
        self.classes_ = {name: task.classes for name, task in read.items()}
        self._columns = {name: task.columns for name, task in read.items()}
        return self

    def predict(self, task: Hashable, X: Any) -> np.ndarray:
        """The class of each row of a task that was fitted."""
        check_is_fitted(self, "models_")
        if task not in self.models_:
            raise InputError(f"task {task!r} was not among those fitted")
        rows = self._features.read(X, grow=False)
        model, classes = self.models_[task], self.classes_[task]
        if model is None:
            return np.repeat(classes[:1], rows.shape[0])
        own = rows[:, self._columns[task]]
        # Features that the task has never met speak through the directions alone.
        shared = sparse.csr_matrix(rows @ self.directions_.T) * self.ease
        return classes[model.predict(sparse.hstack([own, shared], format="csr"))]

    def _fitted(self, task: Task, directions: sparse.csr_matrix) -> Any:
        if len(task.classes) < 2:
            return None
        shared = sparse.csr_matrix(task.X @ directions[:, task.columns].T) * self.ease
        X = sparse.hstack([task.X, shared], format="csr")
        return self._linear(X.shape[0]).fit(X, task.labels)

    def _linear(self, n_rows: int) -> Any:
        if self.loss == "squared_hinge":
            from sklearn.svm import LinearSVC

            return LinearSVC(C=self.strength, random_state=self.random_state)
        from sklearn.linear_model import SGDClassifier

        return SGDClassifier(
            loss="modified_huber",
            alpha=1 / (2 * self.strength * n_rows),
            max_iter=200,
            random_state=self.random_state,
        )

    def _predictors(self, tasks, models, directions) -> sparse.csc_matrix:
        """u = w + Θᵀv of every problem, a column each."""
        m, found = len(self._features), []
        for name, task in tasks.items():
            if models[name] is None:
                continue
            weights = models[name].coef_
            own = weights[:, : len(task.columns)]
            shared = weights[:, len(task.columns) :] * self.ease
            u = np.zeros((len(weights), m))
            u[:, task.columns] = own
            u += shared @ directions
            if len(weights) == 1:
                u = np.vstack([u, -u])  # two classes are two problems, of opposite signs
            found.append(sparse.csr_matrix(np.maximum(u, 0) if self.positive else u))
        if not found:
            raise InputError("no task has two classes or more; there is nothing to learn")
        return sparse.vstack(found).T.tocsc()

    def _blocks(self) -> list[np.ndarray]:
        names = self._features.names
        if not self.by_family:
            return [np.arange(len(names))]
        reader = family_reader(self.families, self.feature_names)
        _, codes = np.unique([reader(name) for name in names], return_inverse=True)
        return [np.flatnonzero(codes == family) for family in range(codes.max() + 1)]

    def _directions(
        self, predictors: sparse.csc_matrix, blocks: list[np.ndarray]
    ) -> sparse.csr_matrix:
        rows = predictors.tocsr()
        parts = []
        for block in blocks:
            vectors = _left_singular_vectors(rows[block], self.n_directions, self.random_state)
            spread = sparse.lil_matrix((len(vectors), rows.shape[0]))
            if len(vectors):
                spread[:, block] = vectors
            parts.append(spread.tocsr())
        return sparse.vstack(parts, format="csr")


def _left_singular_vectors(matrix: sparse.csr_matrix, n: int, seed: int) -> np.ndarray:
    """The first n left singular vectors, a row each; fewer where the rank is lower."""
    from scipy.sparse.linalg import svds

    least = min(matrix.shape)
    if matrix.nnz == 0:
        return np.empty((0, matrix.shape[0]))
    if least <= max(n + 1, 2):
        vectors, sizes, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        start = np.random.default_rng(seed).standard_normal(least)
        vectors, sizes, _ = svds(matrix, k=n, v0=start)
    order = np.argsort(-sizes, kind="stable")[:n]
    order = order[sizes[order] > 1e-9 * sizes.max()]
    return vectors[:, order].T
