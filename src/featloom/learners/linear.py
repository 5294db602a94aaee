"""The linear model that features are made for: logistic regression, quick with many classes too.

It is the model of scikit-learn, and fitted to its optimum by Newton's method whatever the number of
classes, see :mod:`featloom.learners.multinomial`.  With classes by the dozen it has millions of
weights, and training that stops short of the optimum was measured to cost points of accuracy.
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
from featloom.search.workers import number_of_workers


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
    tol : float, default 1e-5; the model is fitted when the norm of the gradient of the objective is
        at most this share of the norm at zero weights.
    max_iter : int, default 100; steps of Newton's method after which fitting ends with a
        ``ConvergenceWarning`` in any case.
    n_jobs : int, default None (one); threads, which change the time and nothing else.
    random_state : of no effect, since nothing is drawn at random.

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

    def __init__(
        self,
        *,
        C=1.0,
        class_weight=None,
        tol=1e-5,
        max_iter=100,
        n_jobs=None,
        random_state=None,
    ):
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
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
        for name in ("C", "tol", "max_iter"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be above 0")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        return sparse.csr_matrix(X), y

    def _objective(self, X: sparse.csr_matrix, y: np.ndarray) -> LogisticObjective:
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"all rows are of one class, {self.classes_[0]!r}; two are needed")
        of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        threads = number_of_workers(1 if self.n_jobs is None else self.n_jobs)
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
