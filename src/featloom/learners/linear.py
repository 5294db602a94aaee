"""The linear model that features are made for: scikit-learn's logistic regression.

Newton's method with conjugate gradients is the solver: on sparse binary features it was measured
to reach the optimum several times faster than the default one, which stops short of it.
"""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression


def logistic_regression(strength: float = 1.0) -> LogisticRegression:
    """L2-penalised logistic regression; ``strength`` is scikit-learn's C."""
    return LogisticRegression(C=strength, solver="newton-cg", max_iter=1000)
