"""Choose the parameters of a transformer and of a classifier together, by cross-validation.

A setting is a choice of the transformer's parameters; every setting of the classifier is scored on
its features, and a baseline without the transformer's work on the same folds, so that a gain is one
over a classifier tuned as hard.  Of the settings within one standard error of the best the simplest
is taken, see :mod:`featloom.evaluation.selection`.

Every setting is tried fold by fold, so that what its settings share is at hand while one fold is
looked at; any other strategy of :mod:`featloom.search` is told the mean over the folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.folds import given_folds, make_folds
from featloom.evaluation.objective import Objective
from featloom.evaluation.selection import RULES, one_standard_error
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import MakesFeatures, TableReader, TakesSymbols, encode_target
from featloom.learners.linear import logistic_regression
from featloom.options import check, none, one_of, whole
from featloom.search import (
    Exhaustive,
    Genetic,
    Guided,
    IteratedLocal,
    Journal,
    OptunaSampler,
    SearchSpace,
    Strategy,
    fingerprint,
    search,
)
from featloom.search.space import json_text

Cell = Mapping[str, Any] | None  # parameters of the transformer; None: the baseline

STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "exhaustive": lambda space, seed: Exhaustive(space),
    "guided": Guided,
    "local": IteratedLocal,
    "genetic": Genetic,
    "optuna": OptunaSampler,
}


class FittedAlone:
    """Features of the rows of a fold, for each setting by itself.

    Parameters
    ----------
    rows, labels : all of them, a table or a matrix and codes of classes.
    train, test : numbers of rows.
    transformer : has all parameters that a setting does not name.
    cells : the settings that can be asked for.
    """

    def __init__(self, rows, labels, train, test, transformer, cells):
        self.labels, self.transformer = labels[train], transformer
        self.train, self.test = (
            as_given_to(transformer, rows.take(part)) for part in (train, test)
        )

    def matrices(self, cell: Cell) -> Sequence[Any]:
        """Training and test rows with the features of one setting."""
        found = clone(self.transformer).set_params(**(cell or {})).fit(self.train, self.labels)
        return found.transform(self.train), found.transform(self.test)


def as_given_to(transformer: Any, rows: Any) -> Any:
    """Rows as a transformer takes them: those of other packages take sparse matrices."""
    return rows if isinstance(transformer, MakesFeatures) else rows.to_csr()


class SearchCV(TakesSymbols, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier on the features of a transformer, both tuned by grouped cross-validation.

    Parameters
    ----------
    estimator : a classifier, or a mapping from names to classifiers (variants to choose from);
        default a logistic regression.
    transformer : such as :class:`~featloom.methods.induction.ConjunctionInducer`, or one of
        scikit-learn for sparse matrices.
    grid : mapping; lists of values for parameters of the transformer.
    param_grid : mapping, default None; lists of values for parameters of the classifier.
    strategy : "exhaustive" (default), "guided", "local", "genetic" or "optuna".
    options : mapping, default None; parameters of the strategy, such as ``{"fits": 50}``.
    budget : a time such as "10m", default None; how long settings are searched.
    trials : int, default None; the most settings that are tried.
    positive : class whose F1 counts; default the rarer of two classes, accuracy with more.
    cv : int, default 5; number of folds.
    rule : "standard_error" (default), "paired", "standard_deviation" or "best".
    journal : path, default None; keeps what is finished, for a search that is stopped and resumed.
    n_jobs : int, default 1; processes.
    random_state : int, default 0; seed of the folds, the strategy, and of classifiers with a seed.
    progress : function, default None; called with (done, total, best score).

    Attributes
    ----------
    best_params_, best_score_, best_std_, best_estimator_ : the choice, refitted on all data.
    cv_results_ : a row for each setting: mean, standard deviation, scores of the folds, number of
        features.
    history_ : the evaluations in order.

    See Also
    --------
    ConjunctionSearchCV, TreeTemplatesCV : the same with the grids of their methods.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, chi2
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 12))
    >>> few = SearchCV(transformer=SelectKBest(chi2), grid={"k": [1, 2, 4, 8]}, strategy="guided")
    >>> few.fit(X, X[:, 3] | X[:, 5]).best_params_
    {'k': 2}
    """

    constraints = {
        "rule": one_of(RULES),
        "cv": whole(2),
        "strategy": one_of(STRATEGIES),
        "trials": whole(1) | none,
    }
    strategy, options, budget, trials = "exhaustive", None, None, None
    _step = "features"  # name of the transformer in the pipeline
    _fold_features: Any = FittedAlone
    _allows_rare = False  # classes that are not in every fold

    def __init__(
        self,
        estimator=None,
        *,
        transformer=None,
        grid=None,
        param_grid=None,
        strategy="exhaustive",
        options=None,
        budget=None,
        trials=None,
        positive=None,
        cv=5,
        rule="standard_error",
        journal=None,
        n_jobs=1,
        random_state=0,
        progress=None,
    ):
        self.estimator = estimator
        self.transformer = transformer
        self.grid = grid
        self.param_grid = param_grid
        self.strategy = strategy
        self.options = options
        self.budget = budget
        self.trials = trials
        self.positive = positive
        self.cv = cv
        self.rule = rule
        self.journal = journal
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y=None, groups=None, folds=None):
        """Search, choose, and refit the choice, and the baseline where there is one, on all rows.

        ``groups`` (documents) are never split; ``folds`` gives the fold of each row instead.
        """
        check(self)
        transformer = clone(self._transformer())
        of_tables = isinstance(transformer, MakesFeatures) and not transformer._takes_matrices
        self._reader: Any = TableReader() if of_tables else InputReader()
        rows: Any = self._reader.fit(self, X)
        labels, self.classes_ = encode_target(rows, y)
        groups = rows.groups if groups is None else groups
        names = [str(name) for name in self.classes_]
        self.objective_ = Objective.of(names, labels, self.positive)
        n_features = len(rows.columns) if of_tables else rows.shape[1]
        space = self._space(transformer, n_features)
        fold_of = self._folds(labels, groups, folds)
        evaluation = FoldEvaluation(
            rows, labels, fold_of, transformer, list(space), self._classifiers(), self.objective_,
            self._fold_features,
        )  # fmt: skip
        self._choose(self._search(evaluation, space), evaluation, n_features)
        self._refit(X if isinstance(transformer, MakesFeatures) else rows.to_csr(), labels)
        return self

    def predict(self, X):
        """Classes of rows, by the chosen features and classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.classes_[self.best_estimator_.predict(self._rows(X))]

    @available_if(lambda self: all(hasattr(c, "predict_proba") for c in self._named().values()))
    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(self._rows(X))

    # ── what a preset says otherwise ──

    def _transformer(self) -> Any:
        if self.transformer is None:
            raise InputError("transformer is None; there is nothing to search")
        return self.transformer

    def _grid(self) -> Mapping[str, Sequence[Any]]:
        return self.grid or {}

    def _is_sensible(self, cell: Mapping[str, Any], n_features: int) -> bool:
        return True

    def _baseline(self) -> Any:
        """The transformer that does nothing, where it is compared with."""
        return None

    def _size(self, row: Mapping[str, Any], n_features: int) -> float:
        return row["features"]

    def _params(self, row: Mapping[str, Any]) -> dict[str, Any]:
        several = {"classifier": row["classifier"]} if len(self._named()) > 1 else {}
        tuned = {f"classifier__{name}": value for name, value in row["classifier_params"].items()}
        return {**(row["cell"] or {}), **several, **tuned}

    # ── the search ──

    def _rows(self, X: Any) -> Any:
        of_ours = isinstance(self.best_estimator_.steps[0][1], MakesFeatures)
        return X if of_ours else self._reader.read(self, X).to_csr()

    def _space(self, transformer: Any, n_features: int) -> SearchSpace:
        grid, allowed = self._grid(), transformer.get_params()
        for name in grid:
            if name not in allowed:
                raise InputError(f"{type(transformer).__name__} has no parameter {name!r}")
        choices = {name: list(values) for name, values in grid.items()}
        return SearchSpace(choices, valid=lambda cell: self._is_sensible(cell, n_features))

    def _named(self) -> dict[str, Any]:
        given = logistic_regression() if self.estimator is None else self.estimator
        return dict(given) if isinstance(given, Mapping) else {type(given).__name__: given}

    def _classifiers(self) -> dict[str, tuple[Any, dict[str, Any]]]:
        """Every classifier with every setting, and that setting, by a readable name."""
        settings = {}
        for name, classifier in self._named().items():
            for needed in ("fit", "predict", "get_params"):
                if not hasattr(classifier, needed):
                    raise InputError(f"{name} is no classifier: it has no {needed!r}")
            for params in ParameterGrid(self.param_grid or {}):
                tuned = clone(classifier).set_params(**params)
                if "random_state" in tuned.get_params():
                    tuned.set_params(random_state=self.random_state)
                words = ", ".join(f"{key}={value}" for key, value in params.items())
                settings[f"{name}({words})" if words else name] = tuned, params
        return settings

    def _folds(self, labels, groups, folds) -> np.ndarray:
        rare = self._allows_rare
        if folds is not None:
            return given_folds(folds, labels, allow_rare=rare)
        seed = 0 if self.random_state is None else self.random_state
        return make_folds(labels, n_folds=self.cv, groups=groups, seed=seed, allow_rare=rare)

    def _search(self, evaluation: FoldEvaluation, space: SearchSpace) -> dict[str, list[dict]]:
        """What each setting was worth in each fold, by its text; sets ``history_``."""
        baseline = [] if self._baseline() is None else [None]
        whole_cells = (self.strategy, self.budget, self.trials) != ("exhaustive", None, None)
        by_fold = SearchSpace({"fold": evaluation.folds, "cell": [*baseline, *evaluation.cells]})
        seed = 0 if self.random_state is None else self.random_state
        strategy: Strategy = Exhaustive(by_fold)
        if whole_cells:
            strategy = STRATEGIES[self.strategy](space, seed=seed, **(self.options or {}))
        evaluation.folds_at_hand = len(evaluation.folds) if whole_cells else 1
        params = evaluation.transformer.get_params()
        about = {
            "method": type(self).__name__,
            "version": 2,  # of what an evaluation gives
            "objective": self.objective_.name,
            "transformer": {k: repr(v) for k, v in params.items() if k != "n_jobs"},
            "classifiers": {
                n: repr(c.get_params()) for n, (c, _) in evaluation.classifiers.items()
            },
            "space": space.describe() if whole_cells else by_fold.describe(),
        }
        book: Any = nullcontext()
        if self.journal is not None:
            book = Journal(Path(self.journal), data=evaluation.fingerprint(), search=about)
        with book as journal:
            self.history_ = search(
                evaluation.of_all_folds if whole_cells else evaluation,
                strategy,
                journal=journal,
                jobs=self.n_jobs or 1,
                budget=self.budget,
                trials=self.trials,
                progress=self.progress,
            )
        if whole_cells:
            by_cell = {json_text(e.candidate): e.result["folds"] for e in self.history_}
            return by_cell | {json_text(b): evaluation.of_all_folds(b)["folds"] for b in baseline}
        tried: dict[str, list[dict]] = {}
        for one in self.history_:
            tried.setdefault(json_text(one.candidate["cell"]), []).append(one.result)
        return tried

    def _choose(self, tried: Mapping[str, list[dict]], evaluation, n_features: int) -> None:
        self.cv_results_: list[dict[str, Any]] = []
        for cell in [None, *evaluation.cells]:
            found = tried.get(json_text(cell), [])
            for name, (_, params) in evaluation.classifiers.items() if found else ():
                scores = [result["scores"][name] for result in found]
                self.cv_results_.append(
                    {
                        **(cell or {}),
                        "cell": cell,
                        "classifier": name,
                        "classifier_params": params,
                        "scores": scores,
                        "mean": float(np.mean(scores)),
                        "std": float(np.std(scores, ddof=1)),
                        "features": float(np.mean([result["features"] for result in found])),
                    }
                )
        for what, is_baseline in (("best", False), ("baseline", True)):
            rows = [row for row in self.cv_results_ if (row["cell"] is None) == is_baseline]
            if is_baseline and not rows:
                continue
            sizes = [self._size(row, n_features) for row in rows]
            place = one_standard_error([row["scores"] for row in rows], sizes, rule=self.rule)
            setattr(self, f"{what}_params_", self._params(rows[place]))
            setattr(self, f"{what}_score_", rows[place]["mean"])
            setattr(self, f"{what}_std_", rows[place]["std"])
            step = self._baseline() if is_baseline else clone(self._transformer())
            step.set_params(**(rows[place]["cell"] or {}))
            classifier = clone(evaluation.classifiers[rows[place]["classifier"]][0])
            pipeline = Pipeline([(self._step, step), ("classifier", classifier)])
            setattr(self, f"{what}_estimator_", pipeline)

    def _refit(self, X: Any, labels: np.ndarray) -> None:
        for what in ("best_estimator_", "baseline_estimator_"):
            if what in self.__dict__:
                getattr(self, what).fit(X, labels)


class FoldEvaluation:
    """One setting in one fold, {"fold": …, "cell": …}: the score of every classifier.

    Keeps what the settings of a fold share for the next of them.
    """

    def __init__(self, rows, labels, fold_of, transformer, cells, classifiers, objective, features):
        self.rows, self.labels, self.fold_of = rows, labels, fold_of
        self.transformer, self.cells, self.classifiers = transformer, cells, classifiers
        self.objective, self.features = objective, features
        self.folds = sorted(set(fold_of.tolist()))
        self.folds_at_hand = 1
        self._at_hand: dict[int, Any] = {}

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        fold = candidate["fold"]
        train = np.flatnonzero(self.fold_of != fold)
        test = np.flatnonzero(self.fold_of == fold)
        if fold not in self._at_hand:
            if len(self._at_hand) >= self.folds_at_hand:
                self._at_hand.clear()  # let go of the last one before the next is made
            self._at_hand[fold] = self.features(
                self.rows, self.labels, train, test, self.transformer, self.cells
            )
        X, X_test = self._at_hand[fold].matrices(candidate["cell"])
        scores = {}
        for name, (classifier, _) in self.classifiers.items():
            predicted = clone(classifier).fit(X, self.labels[train]).predict(X_test)
            scores[name] = self.objective.value(self.labels[test], predicted)
        return {"score": max(scores.values()), "scores": scores, "features": X.shape[1]}

    def of_all_folds(self, cell: Cell) -> dict[str, Any]:
        """The same for all folds; the score is the mean of the best classifier."""
        found = [self({"fold": fold, "cell": cell}) for fold in self.folds]
        means = [np.mean([one["scores"][name] for one in found]) for name in self.classifiers]
        return {"score": float(max(means)), "folds": found}

    def fingerprint(self) -> str:
        """Of the data and the folds."""
        rows = self.rows
        of_rows = (rows.codes,) if isinstance(rows, NominalTable) else (rows.indptr, rows.indices)
        return fingerprint(*of_rows, self.labels, self.fold_of)

    def __getstate__(self):
        return {**self.__dict__, "_at_hand": {}}
