"""Models without transfer, each tuned as hard as the ones that it is compared with.

Every function gives a :class:`~featloom.methods.transfer.tasks.MultiTask` without a prior: one
model a task, its settings chosen by cross-validation inside the training rows, for all tasks
together or for each by itself (``share=False``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from featloom.learners.linear import logistic_regression
from featloom.learners.stepwise import MDLSelector
from featloom.methods.transfer.evidence import EvidenceScaling
from featloom.methods.transfer.tasks import MultiTask

STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0)
FLAT_BITS = (4.0, 5.0, 6.0, 7.0, 8.0, 10.0)


def most_frequent_class(**settings: Any) -> MultiTask:
    """The commonest class of the task."""
    from sklearn.dummy import DummyClassifier

    return MultiTask(
        DummyClassifier(strategy="most_frequent"), prior=None, strengths=None, **settings
    )


def linear_svm(**settings: Any) -> MultiTask:
    """A linear support vector machine, C tuned."""
    return MultiTask(prior=None, strengths=STRENGTHS, **settings)


def polynomial_svm(**settings: Any) -> MultiTask:
    """A support vector machine with a polynomial kernel, degree and C tuned."""
    from sklearn.svm import SVC

    return MultiTask(
        SVC(kernel="poly", coef0=1.0, gamma="scale"),
        prior=None,
        strengths=(0.1, 1.0, 10.0),
        choices={"degree": (1, 2, 3)},
        **settings,
    )


def l1_logistic(**settings: Any) -> MultiTask:
    """Logistic regression with an L1 penalty, a class against the rest, C tuned."""
    return MultiTask(
        _one_against_rest(),
        prior=None,
        strengths=None,
        choices={"estimator__C": (0.1, 0.3, 1.0, 3.0, 10.0)},
        **settings,
    )


def l2_logistic(**settings: Any) -> MultiTask:
    """Logistic regression with an L2 penalty, C tuned."""
    return MultiTask(
        logistic_regression(), prior=None, strengths=(1.0, 3.0, 10.0, 30.0, 100.0), **settings
    )


def flat_cost_selection(**settings: Any) -> MultiTask:
    """Stepwise selection by minimum description length, one cost for all features, tuned."""
    return MultiTask(
        MDLSelector(), prior=None, strengths=None, choices={"cost": FLAT_BITS}, **settings
    )


def evidence_svm(**settings: Any) -> MultiTask:
    """A linear support vector machine on columns scaled by the task's own evidence."""
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return MultiTask(
        make_pipeline(EvidenceScaling(), LinearSVC(max_iter=5000, random_state=0)),
        prior=None,
        strengths=None,
        choices={
            "evidencescaling__exponent": (0.0, 0.3, 0.5, 0.8),
            "linearsvc__C": STRENGTHS[:4],
        },
        **settings,
    )


def _one_against_rest() -> Any:
    import sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    # From 1.8 on the share of L1 says it all, and the older word is warned of.
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    kind: dict[str, Any] = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    return OneVsRestClassifier(LogisticRegression(solver="liblinear", random_state=0, **kind))


BASELINES: dict[str, Callable[..., MultiTask]] = {
    "most frequent class": most_frequent_class,
    "linear SVM": linear_svm,
    "polynomial SVM": polynomial_svm,
    "L1 logistic regression": l1_logistic,
    "L2 logistic regression": l2_logistic,
    "flat-cost selection": flat_cost_selection,
    "own-evidence SVM": evidence_svm,
}
