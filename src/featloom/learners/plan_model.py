"""A linear model over features that can be read: conjunctions, and what each says for each class.

A class scores its bias plus the weights of the features that a row has,

    s(c | row) = b_c + Σ_f w_fc [f holds in row],

and the highest score is the answer; softmax of the scores are the probabilities.  Of a binary
logistic regression the weights are those of the second class and the first has none, so that
softmax is the sigmoid.  Whatever found the features, and whatever fitted the weights, this is what
is left when learning is over: it can be kept as a file, applied to rows as they come, and asked
which conjunctions spoke for an answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.class_types import ClassType, class_values, type_of_values
from featloom.data.matrix import FeatureMatrix
from featloom.data.row_prints import Prints, RowPrints, Seen
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.feature import Feature
from featloom.features.feature_list import FeatureList, Features
from featloom.features.plan import FeaturePlan
from featloom.formats.models import Fact, Layout, Numbers, Texts
from featloom.learners.inputs import class_names, rows_of, seen_among, share_of_right, warn_of_seen
from featloom.learners.reasons import Reasons, strongest

LAYOUT = Layout(
    "linear",
    {
        "features": Features("i1 i2 i4"),
        # Once more where they come the other way round.
        "weights": Numbers("f4 f8", "features", "classes", makes=8),
        "biases": Numbers("f4 f8", "classes", makes=8, becomes="f8"),
        "classes": Texts("classes", "class_starts", least=2),
        "class_type": ClassType(),
        "target": Fact(str),
        "probabilistic": Fact(bool),
        "learned": Prints(),
    },
)
EVERY_ROW = "(every row)"


@dataclass(frozen=True, eq=False)
class PlanModel:
    """Weights of features, for each class.

    Parameters
    ----------
    features : a :class:`~featloom.features.feature_list.FeatureList`, which is a sequence of
        features.
    weights : float64 or float32 array of shape (features, classes).
    biases : one for each class.
    classes : their names.
    target : name of the column that the classes came from; "" where it had none.
    class_type : "str", "int", "float" or "bool": what classes are predicted as.
    learned : fingerprints of the rows that it was fitted on; or None.
    probabilistic : whether softmax of the scores are probabilities; of a support vector machine
        they are not.

    Examples
    --------
    >>> from featloom.data.table import NominalTable
    >>> c_before_a = Feature.from_names(["letter=c", "next=a"])
    >>> model = PlanModel.of([c_before_a], ["letter", "next"], [[-2.0]], [1.0], ["K", "S"])
    >>> rows = NominalTable.from_columns({"letter": ["c", "c"], "next": ["a", "e"]})
    >>> model.predict(rows).tolist(), model.predict_proba(rows).round(2).tolist()
    (['K', 'S'], [[0.73, 0.27], [0.27, 0.73]])
    >>> model.explain(rows, [0])[0].features
    (('letter=c & next=a', 2.0), ('(every row)', -1.0))
    """

    features: FeatureList
    weights: np.ndarray
    biases: np.ndarray
    classes: tuple[str, ...]
    target: str = ""
    probabilistic: bool = True
    class_type: str = "str"
    learned: RowPrints | None = None

    @classmethod
    def of(
        cls,
        features: Iterable[Feature],
        columns: Sequence[str],
        coef: Any,
        intercept: Any,
        classes: Iterable[Any],
        *,
        target: str = "",
        probabilistic: bool = True,
        class_type: str = "str",
    ) -> PlanModel:
        """A model from what a classifier was fitted to.

        Parameters
        ----------
        features : in the order of the weights.
        columns : of the table they were found in; none for a bare matrix of features.
        coef, intercept : as scikit-learn has them: a row for each class and a column for each
            feature, or one row, that of the second of two classes.
        classes : their names; numbers become their text.
        target, probabilistic, class_type : as in the class.
        """
        if not isinstance(features, FeatureList):
            features = FeatureList.of(features, columns)
        names = tuple(str(name) for name in classes)
        weights = np.array(np.atleast_2d(coef).T, order="C")
        biases = np.array(np.ravel(intercept), dtype=np.float64)
        if weights.dtype != np.float32:
            weights = weights.astype(np.float64)
        if weights.shape[1] == 1 and len(names) == 2:
            weights = np.hstack([np.zeros_like(weights), weights])
            biases = np.append(0.0, biases)
        if biases.shape == (1,) and not biases[0]:
            biases = np.zeros(len(names))  # of a model that was fitted without an intercept
        if weights.shape != (len(features), len(names)) or biases.shape != (len(names),):
            raise InputError(
                f"weights of shape {weights.T.shape} and {len(biases)} biases; there are "
                f"{len(features)} features and {len(names)} classes"
            )
        # Features that say nothing are left out, and with them the values that only they have.
        kept = np.flatnonzero((weights != 0).any(axis=1))
        found, weights = _without_twins(features.take(kept), weights[kept])
        model = cls(found, weights, biases, names, target, probabilistic, class_type)
        LAYOUT.check(vars(model))
        return model

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table that it was fitted on; none for a bare matrix."""
        return self.features.columns

    @property
    def classes_(self) -> np.ndarray:
        return class_values(self.classes, self.class_type)

    @property
    def used_columns(self) -> list[str]:
        """The columns that must be there; no feature looks at the others."""
        return self.features.used_columns

    @property
    def plan(self) -> FeaturePlan:
        """The features as a plan that other methods and models can carry."""
        return FeaturePlan(tuple(self.features))

    def scores(self, data: Any) -> np.ndarray:
        """(rows, classes) sums of weights."""
        return (
            self.features.matrix(self._rows(data), self.weights.dtype) @ self.weights + self.biases
        )

    def predict(self, data: Any) -> np.ndarray:
        """The class of each row, of the type that it was learned as.

        Parameters
        ----------
        data : rows as a table, DataFrame, array or lists; of two classes that score the same, the
            first is the answer.
        """
        return self.classes_[self.scores(data).argmax(axis=1)]

    def score(self, data: Any, y: Any) -> float:
        """The share of rows that get their class; a warning tells of rows that it learned from."""
        warn_of_seen(self.seen(data))
        return share_of_right(self.predict(data), y)

    def seen(self, data: Any) -> Seen:
        """How many of some rows are among those that it learned from, value for value."""
        return seen_among(self.learned, self._rows(data), self.columns)

    def predict_proba(self, data: Any) -> np.ndarray:
        """(rows, classes) probabilities, columns as in ``classes_``."""
        if not self.probabilistic:
            raise InputError("the model's scores are distances and no probabilities")
        scores = self.scores(data).astype(np.float64)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def explain(
        self,
        data: Any,
        rows: Sequence[int] | np.ndarray | None = None,
        most: int | None = None,
    ) -> list[Reasons]:
        """For each of the rows the answer, and the features that told it from the next best.

        Parameters
        ----------
        rows : numbers of rows; None: all.
        most : how many features are listed; None: all that the row has.
        """
        data = self._rows(data)
        data = data.take(np.arange(len(data)) if rows is None else np.asarray(rows, dtype=np.int64))
        there, scores = self.features.matrix(data), self.scores(data)
        explained = []
        for row in range(len(data)):
            second, best = _two_best(scores[row])
            found = there.indices[there.indptr[row] : there.indptr[row + 1]]
            weights = self.weights[found, best] - self.weights[found, second]
            weights = np.append(weights, self.biases[best] - self.biases[second])
            names = [*found.tolist(), -1]

            def name(i: int, names=names) -> str:
                return EVERY_ROW if names[i] < 0 else self.features.name(names[i])

            answer, against = self.classes[best], self.classes[second]
            explained.append(strongest(answer, against, weights, name, most))
        return explained

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, all of it or nothing.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> feature = Feature.from_names(["letter=c"])
        >>> model = PlanModel.of([feature], ["letter"], [[-2.0]], [1.0], ["K", "S"])
        >>> with TemporaryDirectory() as folder:
        ...     model.save(Path(folder, "letters.featloom"))
        ...     loaded = PlanModel.load(Path(folder, "letters.featloom"))
        >>> [str(feature) for feature in loaded.features], loaded.classes
        (['letter=c'], ('K', 'S'))
        """
        LAYOUT.save(path, vars(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PlanModel:
        """Read and check what :meth:`save` wrote; nothing in the file is run."""
        with LAYOUT.reading(path) as (state, _):
            return cls(**state | {"weights": np.ascontiguousarray(state["weights"])})

    def _rows(self, data: Any) -> NominalTable | FeatureMatrix:
        return rows_of(data, self.columns, self.used_columns, self.features.vocabularies)


def plan_model(pipeline: Any, *, learned: NominalTable | FeatureMatrix | None = None) -> PlanModel:
    """The linear model that a fitted pipeline of features and a classifier amounts to.

    Parameters
    ----------
    pipeline : a scikit-learn Pipeline of a transformer that can list its features
        (``feature_list()``: ConjunctionInducer, TreeTemplates), and a linear classifier or a naive
        Bayes of binary features.
    learned : the rows that it was fitted on, by which the model will know them again; or None.

    Its answers are those of the pipeline.
    """
    steps = [step for _, step in getattr(pipeline, "steps", ())]
    if len(steps) != 2 or not hasattr(steps[0], "feature_list"):
        raise InputError("a model of features is made of a pipeline of features and a classifier")
    found, classifier = steps
    classifier = getattr(classifier, "best_estimator_", classifier)
    coef, intercept = _weights_of(classifier)
    features = found.feature_list()
    table = getattr(found._reader, "table", None)
    model = PlanModel.of(
        features,
        features.columns,
        coef,
        intercept,
        class_names(learned if table is None else table, classifier.classes_),
        target=getattr(table, "target", ""),
        probabilistic=hasattr(classifier, "predict_proba"),
        class_type=type_of_values(classifier.classes_),
    )
    return model if learned is None else replace(model, learned=RowPrints.of(learned))


def _weights_of(classifier: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases as scikit-learn's linear models have them."""
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB

    if isinstance(classifier, MultinomialNB):
        return classifier.feature_log_prob_, classifier.class_log_prior_
    if isinstance(classifier, BernoulliNB):
        # A feature that is absent speaks too: its log P(absent) stands in every row's bias.
        absent = np.log(1 - np.exp(classifier.feature_log_prob_))
        weights = classifier.feature_log_prob_ - absent
        return weights, classifier.class_log_prior_ + absent.sum(axis=1)
    if not hasattr(classifier, "coef_"):
        raise InputError(f"{type(classifier).__name__} has no weights of features")
    coef = classifier.coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    return coef, np.asarray(classifier.intercept_)


def _without_twins(features: FeatureList, weights: np.ndarray) -> tuple[FeatureList, np.ndarray]:
    """Features that have the same parts hold in the same rows: one with their weights is left."""
    # Twins have the same sum of numbers drawn for their parts; most lists have none.
    drawn = np.random.default_rng(0).integers(2**63, size=features.n_atoms + 1, dtype=np.uint64)
    drawn[-1] = 0
    if len(np.unique(drawn[features.parts].sum(axis=1))) == len(features):
        return features, weights
    _, first, which = np.unique(
        np.sort(features.parts, axis=1), axis=0, return_index=True, return_inverse=True
    )
    kept = np.sort(first)
    sums = np.zeros((len(kept), weights.shape[1]), dtype=weights.dtype)
    np.add.at(sums, np.searchsorted(kept, first[which.ravel()]), weights)
    return features.take(kept), sums


def _two_best(scores: np.ndarray) -> tuple[int, int]:
    """The next best and the best class."""
    best = int(scores.argmax())
    others = scores.astype(np.float64)
    others[best] = -np.inf
    return int(others.argmax()), best
