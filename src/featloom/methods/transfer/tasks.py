"""One small model a task, on columns scaled by what the other tasks found relevant.

A verb, a customer or a site has a few dozen rows and thousands of features.  A linear model with
a penalty on its weights shrinks them all alike; where a column is multiplied by more, its weight is
shrunk by less.  Here each column is multiplied by (p / mean rate)^power, with p the probability
that its feature is relevant, learned from all tasks but the one that it is used in
(:class:`~featloom.methods.transfer.relevance.RelevancePrior`).

A task of thirty rows cannot tell a good strength of the penalty from a bad one, but fifty such
tasks together can: right answers on held-out rows are summed over the tasks, and the setting with
the most of them serves all.

A task that comes later is given a handful of rows (``adapt``) and gets the same treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from featloom.data.matrix import FeatureMatrix
from featloom.data.task_rows import split_task_column
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import checked_target
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.options import Constraint, check, none, one_of, threads, whole

USES = ("scale", "cost")


@dataclass(frozen=True, eq=False)
class TaskModel:
    """What one task learned.

    Parameters
    ----------
    columns : numbers of the features that occur in its rows.
    scale : what each of them is multiplied by.
    estimator : fitted on them; None where the task has one class.
    classes : of the task.
    setting : of the estimator, as chosen.
    """

    columns: np.ndarray
    scale: np.ndarray | None
    estimator: Any
    classes: np.ndarray
    setting: Setting

    def predict(self, X: sparse.csr_matrix) -> np.ndarray:
        """Codes of the classes of rows over all features."""
        if self.estimator is None:
            return np.zeros(X.shape[0], dtype=np.int64)
        return self.estimator.predict(_scaled(X[:, self.columns], self.scale))


class MultiTask(BaseEstimator):
    """A model for each task, helped by what the others found relevant.

    Parameters
    ----------
    estimator : a scikit-learn classifier; None is LinearSVC.
    prior : "learn" learns a :class:`RelevancePrior` of two rounds from the tasks; one with other
        settings is copied and learned; a fitted one is used as it is; None does without.
    use : "scale" multiplies the columns; "cost" hands bits to an estimator with a parameter
        ``cost``, such as :class:`~featloom.learners.stepwise.MDLSelector`.
    strengths : values of the estimator's C to choose from, the first where no task has rows
        enough to tell; None leaves it alone.
    powers : powers of the scale to choose from; None takes that of the prior.  0 is no transfer.
    choices : values of other parameters of the estimator to choose from.
    share : whether one setting is chosen for all tasks, or one for each by itself.
    n_folds : of the cross-validation, inside each task, that settings are chosen by.
    feature_names : of the columns of a bare matrix; None takes those of the prior, where it has
        any.
    n_jobs : tasks at a time, in threads.
    random_state : for the folds, and for an estimator that has one.

    Attributes
    ----------
    models_ : the :class:`TaskModel` of each task.
    setting_ : what was chosen for all tasks together; tasks that come later use it.
    prior_ : the fitted prior, or None.
    classes_, feature_names_ : of all tasks together.

    Examples
    --------
    >>> X = [["money", "the"], ["word", "a"], ["money", "a"], ["word", "the"]] * 5
    >>> y = ["pay", "say", "pay", "say"] * 5
    >>> model = MultiTask(strengths=(1.0,)).fit(X + X, y + y, tasks=["add"] * 20 + ["give"] * 20)
    >>> model.predict([["money", "a"], ["word", "a"]], tasks=["give", "add"]).tolist()
    ['pay', 'say']
    >>> model = model.adapt("offer", X[:2], ["pays", "says"])
    >>> model.predict([["money", "the"]], tasks=["offer"]).tolist()
    ['pays']
    """

    constraints = {
        "prior": one_of(["learn"])
        | Constraint("a prior", lambda prior: hasattr(prior, "selection_prior"))
        | none,
        "use": one_of(USES),
        "n_folds": whole(2),
        "n_jobs": threads,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        prior: RelevancePrior | str | None = "learn",
        use: str = "scale",
        strengths: Sequence[float] | None = (0.03, 0.1, 0.3, 1.0),
        powers: Sequence[float] | None = None,
        choices: Mapping[str, Sequence[Any]] | None = None,
        share: bool = True,
        n_folds: int = 3,
        feature_names: Sequence[str] | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ):
        self.estimator = estimator
        self.prior = prior
        self.use = use
        self.strengths = strengths
        self.powers = powers
        self.choices = choices
        self.share = share
        self.n_folds = n_folds
        self.feature_names = feature_names
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, tasks: Any) -> MultiTask:
        """Learn a model for each task.

        Parameters
        ----------
        X : binary features (sparse, or an array of zeros and ones), or a table of symbols.
        y : the class of each row.
        tasks : the task of each row, or the name of the column of a table that tells it.
        """
        check(self)
        grid = grid_of(self._choices())
        X, names = split_task_column(X, tasks)
        self._reader = InputReader()
        matrix = self._reader.fit(self, X)
        rows = matrix.to_csr()
        y = checked_target(matrix, y)
        parts = _parts(names, len(matrix))
        self.classes_ = np.unique(y)
        self.feature_names_ = self._names(X, matrix)
        read = {task: (rows[places], y[places]) for task, places in parts.items()}
        self.prior_ = self._learned(read)
        right = self._in_parallel(self._try, [(task, *pair, grid) for task, pair in read.items()])
        self.setting_ = grid[int(np.argmax(np.sum(right, axis=0)))]
        own = [
            self.setting_ if self.share or not r.any() else _best(grid, r, self.setting_)
            for r in right
        ]
        work = [(t, *pair, s) for (t, pair), s in zip(read.items(), own, strict=True)]
        self.models_ = dict(zip(read, self._in_parallel(self._model, work), strict=True))
        return self

    def adapt(self, task: Hashable, X: Any, y: Any) -> MultiTask:
        """Learn a model for a task from a handful of rows; what was there for it is replaced.

        The prior is that of the tasks in ``fit``, less the task itself where it was one of them.
        """
        check_is_fitted(self, "models_")
        matrix = self._reader.read(self, X)
        y = checked_target(matrix, y)
        self.models_[task] = self._model(task, matrix.to_csr(), y, self.setting_)
        self.classes_ = np.unique(np.concatenate([self.classes_, np.unique(y)]))
        return self

    def predict(self, X: Any, *, tasks: Any) -> np.ndarray:
        """The class of each row, by the model of its task."""
        check_is_fitted(self, "models_")
        X, names = split_task_column(X, tasks)
        matrix = self._reader.read(self, X)
        rows = matrix.to_csr()
        parts = _parts(names, len(matrix))
        answers = np.empty(len(matrix), dtype=self.classes_.dtype)
        for task, places in parts.items():
            model = self.models_.get(task)
            if model is None:
                raise InputError(
                    f"task {task!r} has no model; give it a few rows with adapt() first"
                )
            answers[places] = model.classes[model.predict(rows[places])]
        return answers

    def score(self, X: Any, y: Any, *, tasks: Any) -> float:
        """The share of rows that get their class."""
        return float(np.mean(self.predict(X, tasks=tasks) == np.asarray(y)))

    def _choices(self) -> dict[str, Sequence[Any]]:
        choices: dict[str, Sequence[Any]] = dict(self.choices or {})
        if self.strengths is not None:
            choices["C"] = tuple(self.strengths)
        if self.powers is not None and self.prior is not None and self.use == "scale":
            choices["power"] = tuple(self.powers)
        empty = [name for name, values in choices.items() if not len(values)]
        if empty:
            raise InputError(f"there is no value of {empty[0]!r} to choose from")
        return choices

    def _names(self, X: Any, matrix: FeatureMatrix) -> list[str]:
        """Names of the features; those of a bare matrix are given, or known to the prior."""
        names = self.feature_names
        if names is None:
            names = getattr(self.prior, "feature_names", None)
        has_names = isinstance(X, FeatureMatrix) or self._reader.table is not None
        if has_names or hasattr(self, "feature_names_in_") or names is None:
            return [str(name) for name in matrix.names]
        if len(names) != matrix.shape[1]:
            raise InputError(f"{len(names)} feature names for {matrix.shape[1]} features")
        return [str(name) for name in names]

    def _learned(self, tasks: Mapping[Hashable, tuple[Any, Any]]) -> RelevancePrior | None:
        if self.prior is None:
            return None
        if isinstance(self.prior, str):
            return RelevancePrior(feature_names=self.feature_names_, rounds=2).fit(tasks)
        if hasattr(self.prior, "tasks_"):
            if not set(self.prior.feature_names_) & set(self.feature_names_):
                raise InputError("the prior knows none of the features; names must be the same")
            return self.prior
        prior = clone(self.prior)
        if prior.feature_names is None:
            prior.set_params(feature_names=self.feature_names_)
        return prior.fit(tasks)

    def _in_parallel(self, function, arguments: list[tuple]) -> list[Any]:
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return pool(delayed(function)(*given) for given in arguments)

    def _try(self, task, X, y, grid) -> np.ndarray:
        """Right answers of each setting on held-out rows of one task."""
        if len(grid) == 1:
            return np.zeros(1, dtype=np.int64)
        labels = np.unique(y, return_inverse=True)[1]
        columns = np.unique(X.indices)
        prior = self._prior_of(task, columns)

        def fit_predict(setting, X, labels, X_test):
            estimator, scale = self._prepared(setting, prior)
            return estimator.fit(_scaled(X, scale), labels).predict(_scaled(X_test, scale))

        return right_answers(
            X[:, columns], labels, fit_predict, grid, n_folds=self.n_folds, seed=self.random_state
        )

    def _model(self, task, X, y, setting) -> TaskModel:
        classes, labels = np.unique(y, return_inverse=True)
        columns = np.unique(X.indices)
        if len(classes) < 2 or not len(columns):
            # Without a feature in any row, the commonest class is all that can be known.
            commonest = classes[[np.argmax(np.bincount(labels))]]
            return TaskModel(columns, None, None, commonest, setting)
        estimator, scale = self._prepared(setting, self._prior_of(task, columns))
        estimator.fit(_scaled(X[:, columns], scale), labels)
        return TaskModel(columns, scale, estimator, classes, setting)

    def _prior_of(self, task: Hashable, columns: np.ndarray) -> np.ndarray | None:
        """Relative relevance, or bits, of some features for a task, from the other tasks."""
        if self.prior_ is None:
            return None
        exclude = task if task in self.prior_.tasks_ else None
        names = [self.feature_names_[j] for j in columns]
        if self.use == "cost":
            return self.prior_.cost(exclude, names=names)
        return self.prior_.selection_prior(exclude, names=names)

    def _prepared(
        self, setting: Setting, prior: np.ndarray | None
    ) -> tuple[Any, np.ndarray | None]:
        """The estimator with a setting, and the scales of its columns."""
        setting = dict(setting)
        default = 0.0 if self.prior_ is None else self.prior_.power
        power = setting.pop("power", default)
        estimator = self._estimator().set_params(**setting)
        if prior is None:
            return estimator, None
        if self.use == "cost":
            return estimator.set_params(cost=prior), None
        return estimator, prior**power

    def _estimator(self) -> Any:
        if self.estimator is None:
            from sklearn.svm import LinearSVC

            return LinearSVC(max_iter=5000, random_state=self.random_state)
        estimator = clone(self.estimator)
        if estimator.get_params(deep=False).get("random_state", 0) is None:
            estimator.set_params(random_state=self.random_state)
        return estimator


def _scaled(X: sparse.csr_matrix, scale: np.ndarray | None) -> sparse.csr_matrix:
    return X if scale is None else sparse.csr_matrix(X @ sparse.diags(scale))


def _parts(names: np.ndarray, n_rows: int) -> dict[Hashable, np.ndarray]:
    """The rows of each task."""
    if names.shape != (n_rows,):
        raise InputError(f"tasks have shape {names.shape}, X has {n_rows} rows")
    tasks, codes = np.unique(names, return_inverse=True)
    return {task: np.flatnonzero(codes == t) for t, task in enumerate(tasks.tolist())}


def _best(grid: Sequence[Setting], right: np.ndarray, shared: Setting) -> Setting:
    """The best setting of one task; of those that do equally well, the one that all share."""
    ties = [grid[place] for place in np.flatnonzero(right == right.max()).tolist()]
    return shared if shared in ties else ties[0]


Setting = dict[str, Any]


def grid_of(choices: Mapping[str, Sequence[Any]]) -> list[Setting]:
    """Every combination of the choices.

    >>> grid_of({"C": (0.1, 1.0), "degree": (2,)})
    [{'C': 0.1, 'degree': 2}, {'C': 1.0, 'degree': 2}]
    """
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def right_answers(
    X: sparse.csr_matrix,
    labels: np.ndarray,
    fit_predict: Callable[[Setting, Any, np.ndarray, Any], np.ndarray],
    grid: Sequence[Setting],
    *,
    n_folds: int,
    seed: int,
) -> np.ndarray:
    """How many held-out rows each setting gets right.

    A task with fewer rows than two a fold, or with one class, has nothing to say: all zeros.
    """
    right = np.zeros(len(grid), dtype=np.int64)
    if X.shape[0] < 2 * n_folds or len(np.unique(labels)) < 2:
        return right
    fold_of = make_folds(labels, n_folds=n_folds, seed=seed, allow_rare=True)
    for train, test in splits(fold_of):
        if len(np.unique(labels[train])) < 2:
            continue
        for place, setting in enumerate(grid):
            answers = fit_predict(setting, X[train], labels[train], X[test])
            right[place] += int((answers == labels[test]).sum())
    return right
