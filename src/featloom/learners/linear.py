"""The linear model that features are made for: logistic regression, quick with many classes too.

It is the model of scikit-learn, and fitted to its optimum by Newton's method whatever the number of
classes, see :mod:`featloom.learners.multinomial`.  With classes by the dozen it has millions of
weights; stochastic passes over the rows then bring the search near, and to stop there, short of the
optimum, was measured to cost points of accuracy.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from featloom.errors import InputError
from featloom.learners.multinomial import LogisticObjective
from featloom.learners.sequence_model import SequenceData, SequenceModel, Training
from featloom.options import check, number, seed, threads, whole
from featloom.pool import number_of_workers

_BATCH = 128  # rows


def logistic_regression(strength: float = 1.0) -> LogisticRegression:
    """L2-penalised logistic regression; ``strength`` is scikit-learn's C."""
    return LogisticRegression(C=strength, solver="newton-cg", max_iter=1000)


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Logistic regression on sparse features, for two classes or hundreds.

    Parameters
    ----------
    C : float, default 1.0; inverse strength of the L2 penalty, as in scikit-learn.  Intercepts are
        not penalised.
    class_weight : None (default), "balanced" or a dict of class: weight, as in scikit-learn.
    tol : float, default 3e-5; the model is fitted when the norm of the gradient of the objective is
        at most this share of the norm at zero weights.
    passes : int, default 10; stochastic passes over the rows from which the search sets out where
        there are more than two classes, all features are 0 or 1 and rows weigh the same.  They
        bring it near; where it ends does not depend on them beyond ``tol``.
    max_iter : int, default 100; steps of Newton's method after which fitting ends with a
        ``ConvergenceWarning`` in any case.
    n_jobs : int, default None (one); threads, which change the time and nothing else.
    random_state : int, default None (0); seed of the order of rows in the passes.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_ : as in scikit-learn's logistic regression.
    n_iter_ : steps taken.
    objective_ : C times the weighted log-loss of the rows, and half the squared weights.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : the same model with other penalties and solvers.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> LinearClassifier().fit(X, list("SKSK")).predict(X).tolist()
    ['S', 'K', 'S', 'K']
    """

    constraints = {
        "C": number(above=0),
        "tol": number(above=0),
        "passes": whole(0),
        "max_iter": whole(1),
        "n_jobs": threads,
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        C=1.0,
        class_weight=None,
        tol=3e-5,
        passes=10,
        max_iter=100,
        n_jobs=None,
        random_state=None,
    ):
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.passes = passes
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, start: LinearClassifier | None = None):
        """Learn; ``start`` is fitted on the same features and classes, its optimum may be near."""
        X, y = self._checked(X, y)
        return self._fit(self._objective(X, y), start)

    def path(self, X, y, Cs: Sequence[float]) -> list[LinearClassifier]:
        """A classifier fitted at each C of ``Cs``, in their order.

        They are fitted from the strongest penalty to the weakest, each from the one before: an
        optimum under a strong penalty is found at once, and lies near the next.

        Examples
        --------
        >>> X = sparse.csr_matrix([[1, 0], [0, 1], [1, 0], [0, 1]])
        >>> fitted = LinearClassifier().path(X, list("SKSK"), Cs=[1, 0.1])
        >>> [model.coef_[0].round(2).tolist() for model in fitted]
        [[0.67, -0.67], [0.1, -0.1]]
        """
        models = [clone(self).set_params(C=C) for C in Cs]
        data = [model._checked(X, y) for model in models]
        if not models:
            return models
        objective = models[0]._objective(*data[0])
        last = None
        for k in sorted(range(len(models)), key=lambda k: models[k].C):
            models[k].classes_ = models[0].classes_
            last = models[k]._fit(objective, last)
        return models

    def _checked(self, X, y) -> tuple[sparse.csr_matrix, np.ndarray]:
        check(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        return sparse.csr_matrix(X), y

    def _objective(self, X: sparse.csr_matrix, y: np.ndarray) -> LogisticObjective:
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"all rows are of one class, {self.classes_[0]!r}; two are needed")
        of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        threads = number_of_workers(self.n_jobs)
        n_classes = len(self.classes_)
        return LogisticObjective(X, labels, n_classes, of_class[labels], threads=threads)

    def _fit(self, objective: LogisticObjective, start: LinearClassifier | None):
        weights = None
        if start is not None:
            weights = np.vstack([start.coef_.T, start.intercept_])
            if weights.shape != objective.shape or not np.array_equal(
                start.classes_, self.classes_
            ):
                raise InputError("the model to start from has other features or classes")
        elif self.passes and objective.is_plain:
            weights = self._after_passes(objective)
        found = objective.minimum(self.C, tol=self.tol, max_iter=self.max_iter, start=weights)
        if found.slope > self.tol and found.steps == self.max_iter:
            warnings.warn(
                f"after {self.max_iter} steps the gradient is {found.slope:.1g} of that at zero "
                f"weights, tol is {self.tol:g}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.coef_: np.ndarray = found.weights[:-1].T.copy()
        self.intercept_: np.ndarray = found.weights[-1].copy()
        self.n_iter_, self.objective_ = found.steps, self.C * found.objective
        return self

    def _after_passes(self, objective: LogisticObjective) -> np.ndarray:
        """Weights of a maximum-entropy model, trained some rows at a time.

        Those of the classes are of a feature that every row has.
        """
        X, labels = objective.X, objective.labels
        n_rows, n_features = X.shape
        lengths = np.diff(X.indptr)
        numbers = np.full((n_rows, int(lengths.max(initial=0)) + 1), -1, dtype=np.int32)
        place = np.arange(X.nnz) - np.repeat(X.indptr[:-1], lengths)
        numbers[np.repeat(np.arange(n_rows), lengths), place] = X.indices
        numbers[:, -1] = n_features
        model = SequenceModel.zeros("maxent", objective.n_classes, n_features + 1)
        # Half of |w|² / C is the penalty there, c2 |w|² here.
        seed = 0 if self.random_state is None else int(self.random_state)
        how = Training(self.passes, batch=_BATCH, c2=0.5 / self.C, seed=seed)
        data = SequenceData.of(np.arange(n_rows + 1), numbers, labels)
        weights = model.train(data, how, threads=objective.threads).weights
        return weights[:, : objective.n_classes].astype(np.float64)

    def decision_function(self, X) -> np.ndarray:
        """(rows, classes) sums of weights; with two classes one column, as in scikit-learn."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]

    def predict_proba(self, X) -> np.ndarray:
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        return softmax(scores, axis=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
