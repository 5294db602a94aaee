"""Choose how much to keep and how much to join by cross-validation, for any classifier.

The grid of the FITSI paper is the default: k and l from ten shares of the features each, l ≤ k.
The classifier's own parameters are tuned in the same cross-validation, and so is a baseline that
has all atomic features and no conjunction, on the same folds: a gain is a gain over a classifier
tuned as hard.  Of the settings within one standard error of the best, the simplest is taken.

The cells of a grid differ in how many features are kept (k), how many of them pairs are made with
(l), and how many conjunctions are kept at the end.  All of them are parts of what the most
generous cell has, so each fold is induced and expanded once, and a cell is a choice of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.evaluation.folds import given_folds, make_folds
from featloom.evaluation.objective import Objective
from featloom.evaluation.selection import RULES, one_standard_error
from featloom.kernels.rows import relabel
from featloom.learners.feature_inputs import InputReader
from featloom.learners.inputs import encode_target
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.selection import cut
from featloom.search import Exhaustive, Journal, SearchSpace, fingerprint, search
from featloom.search.space import json_text

PAPER_SHARES = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25)
PAPER_GRID = {"keep": PAPER_SHARES, "partners": PAPER_SHARES}


class ConjunctionSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier on induced features, with both tuned by grouped cross-validation.

    Parameters
    ----------
    estimator : a classifier, or a mapping from names to classifiers (variants to choose from).
    inducer : the :class:`ConjunctionInducer` whose parameters are tuned; default that of the
        paper.
    grid : lists of values for parameters of the inducer; default the paper's k and l.
    param_grid : lists of values for parameters of the classifier, as in scikit-learn.
    positive : class whose F1 counts; default the rarer of two classes, accuracy with more.
    cv : number of folds.
    rule : "standard_error", "standard_deviation" (as the paper has it) or "best".
    simplicity : "features" (fewest features) or "keep" (smallest k, as the paper has it).
    journal : file that keeps every finished cell, for a search that is stopped and resumed.
    n_jobs : processes.
    random_state : seed of the folds, and of classifiers that have a seed.
    progress : called with (done, total, best score).

    Attributes
    ----------
    best_params_, best_score_, best_std_, best_estimator_ : the choice, refitted on all data.
    baseline_params_, baseline_score_, baseline_std_, baseline_estimator_ : the same without
        induction.
    cv_results_ : a row for each cell and setting of the classifier: mean, standard deviation,
        scores of the folds, number of features.
    history_ : the evaluations in order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (300, 8))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> search = ConjunctionSearchCV(
    ...     BernoulliNB(), grid={"keep": [0.5, 1.0], "partners": [0.5, 1.0]},
    ...     param_grid={"alpha": [0.1, 1.0]}, rule="best").fit(X, y)
    >>> bool(search.best_score_ > search.baseline_score_)
    True
    """

    def __init__(
        self,
        estimator=None,
        *,
        inducer=None,
        grid=None,
        param_grid=None,
        positive=None,
        cv=5,
        rule="standard_error",
        simplicity="features",
        journal=None,
        n_jobs=1,
        random_state=0,
        progress=None,
    ):
        self.estimator = estimator
        self.inducer = inducer
        self.grid = grid
        self.param_grid = param_grid
        self.positive = positive
        self.cv = cv
        self.rule = rule
        self.simplicity = simplicity
        self.journal = journal
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y=None, groups=None, folds=None):
        """Search, choose, and refit the choice and the baseline on all rows.

        ``groups`` (documents) are never split; ``folds`` gives the fold of each row instead.
        """
        reader = InputReader()
        matrix = reader.fit(self, X)
        labels, self.classes_ = encode_target(matrix, y)
        groups = matrix.groups if groups is None else groups
        fold_of = self._folds(labels, groups, folds)
        names = [str(name) for name in self.classes_]
        self.objective_ = Objective.of(names, labels, self.positive)
        evaluation = GridEvaluation(
            matrix, labels, fold_of, self._inducer(), self._cells(matrix.shape[1]),
            self._classifiers(), self.objective_,
        )  # fmt: skip
        self._search(evaluation, matrix, labels, fold_of)
        self._choose(evaluation)
        self._refit(evaluation, X, labels)
        return self

    def predict(self, X):
        """Classes of rows, by the chosen features and classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.classes_[self.best_estimator_.predict(X)]

    def _inducer(self) -> ConjunctionInducer:
        return ConjunctionInducer(preset="paper") if self.inducer is None else clone(self.inducer)

    def _cells(self, n_features: int) -> list[dict[str, Any]]:
        """The cells of the grid; l ≤ k where both are in it."""
        grid = PAPER_GRID if self.grid is None else self.grid
        allowed = set(ConjunctionInducer().get_params())
        for name in grid:
            if name not in allowed:
                raise InputError(f"ConjunctionInducer has no parameter {name!r}")

        def sensible(cell: dict) -> bool:
            if "keep" not in cell or "partners" not in cell:
                return True
            k = cut("keep", cell["keep"], n_features).count
            l = cut("partners", cell["partners"], n_features).count  # noqa: E741
            return k is None or (l is not None and l <= k)

        return list(SearchSpace({name: list(v) for name, v in grid.items()}, valid=sensible))

    def _classifiers(self) -> dict[str, Any]:
        """Every classifier with every setting, by a readable name."""
        given = logistic_regression() if self.estimator is None else self.estimator
        named = given if isinstance(given, Mapping) else {type(given).__name__: given}
        settings = {}
        self._classifier_params: dict[str, dict[str, Any]] = {}
        for name, classifier in named.items():
            for needed in ("fit", "predict", "get_params"):
                if not hasattr(classifier, needed):
                    raise InputError(f"{name} is no classifier: it has no {needed!r}")
            for params in ParameterGrid(self.param_grid or {}):
                tuned = clone(classifier).set_params(**params)
                if "random_state" in tuned.get_params():
                    tuned.set_params(random_state=self.random_state)
                words = ", ".join(f"{key}={value}" for key, value in params.items())
                settings[f"{name}({words})" if words else name] = tuned
                self._classifier_params[f"{name}({words})" if words else name] = params
        return settings

    def _folds(self, labels, groups, folds) -> np.ndarray:
        if folds is not None:
            return given_folds(folds, labels)
        seed = 0 if self.random_state is None else self.random_state
        return make_folds(labels, n_folds=self.cv, groups=groups, seed=seed)

    def _search(self, evaluation, matrix, labels, fold_of) -> None:
        if self.rule not in RULES:
            raise InputError(f"rule is {self.rule!r}; it can be {', '.join(RULES)}")
        # Fold by fold, so that one fold's features are at hand while all its cells are read.
        space = SearchSpace(
            {"fold": sorted(set(fold_of.tolist())), "cell": [None, *evaluation.cells]}
        )
        about = {
            "objective": self.objective_.name,
            "inducer": _plain_params(evaluation.inducer),
            "classifiers": {n: repr(c.get_params()) for n, c in evaluation.classifiers.items()},
            "space": space.describe(),
        }
        book: Any = nullcontext()
        if self.journal is not None:
            marks = fingerprint(matrix.indptr, matrix.indices, labels, fold_of)
            book = Journal(Path(self.journal), data=marks, search=about)
        with book as journal:
            self.history_ = search(
                evaluation,
                Exhaustive(space),
                journal=journal,
                jobs=self.n_jobs or 1,
                progress=self.progress,
            )

    def _choose(self, evaluation) -> None:
        results = {json_text(e.candidate): e.result for e in self.history_}
        folds = sorted({e.candidate["fold"] for e in self.history_})
        rows = []
        for cell in [None, *evaluation.cells]:
            found = [results[json_text({"fold": fold, "cell": cell})] for fold in folds]
            for name in evaluation.classifiers:
                scores = [result["scores"][name] for result in found]
                rows.append(
                    {
                        "cell": cell,
                        "classifier": name,
                        "classifier_params": self._classifier_params[name],
                        "scores": scores,
                        "mean": float(np.mean(scores)),
                        "std": float(np.std(scores, ddof=1)),
                        "features": float(np.mean([result["features"] for result in found])),
                    }
                )
        self.cv_results_ = rows
        baseline = [row for row in rows if row["cell"] is None]
        induced = [row for row in rows if row["cell"] is not None]
        self._set("best", induced[self._chosen(induced, evaluation)])
        self._set("baseline", baseline[self._chosen(baseline, evaluation)])

    def _chosen(self, rows: Sequence[Mapping[str, Any]], evaluation) -> int:
        if self.simplicity == "keep":
            n = evaluation.matrix.shape[1]
            sizes = [_keep_size(row["cell"], evaluation.inducer, n) for row in rows]
        elif self.simplicity == "features":
            sizes = [row["features"] for row in rows]
        else:
            raise InputError(f"simplicity is {self.simplicity!r}; it can be 'features' or 'keep'")
        return one_standard_error([row["scores"] for row in rows], sizes, rule=self.rule)

    def _set(self, what: str, row: Mapping[str, Any]) -> None:
        cell = row["cell"] or {}
        setattr(self, f"{what}_params_", {**cell, "classifier": row["classifier"]})
        setattr(self, f"{what}_score_", row["mean"])
        setattr(self, f"{what}_std_", row["std"])

    def _refit(self, evaluation, X, labels) -> None:
        cell = {k: v for k, v in self.best_params_.items() if k != "classifier"}
        chosen = clone(evaluation.inducer).set_params(**cell)
        atomic = ConjunctionInducer(score="mi", keep=1.0, max_length=1)
        for what, step, name in (
            ("best_estimator_", chosen, self.best_params_["classifier"]),
            ("baseline_estimator_", atomic, self.baseline_params_["classifier"]),
        ):
            classifier = clone(evaluation.classifiers[name])
            pipeline = Pipeline([("features", step), ("classifier", classifier)])
            setattr(self, what, pipeline.fit(X, labels))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class GridEvaluation:
    """One cell of one fold: the score of every setting of the classifier.

    Called with {"fold": …, "cell": …}; the cell None is the baseline, all atomic features.
    Keeps the features of the last fold for the next cell.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        labels: np.ndarray,
        fold_of: np.ndarray,
        inducer: ConjunctionInducer,
        cells: Sequence[dict[str, Any]],
        classifiers: Mapping[str, Any],
        objective: Objective,
    ):
        self.matrix, self.labels, self.fold_of = matrix, labels, fold_of
        self.inducer, self.cells = inducer, list(cells)
        self.classifiers, self.objective = dict(classifiers), objective
        self._at_hand: tuple[str, FoldFeatures] | None = None

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        fold, cell = candidate["fold"], candidate["cell"]
        train = np.flatnonzero(self.fold_of != fold)
        test = np.flatnonzero(self.fold_of == fold)
        if cell is None:
            X = self.matrix.to_csr()
            learn, judge = X[train], X[test]
        else:
            learn, judge = self._features(fold, cell, train, test).cell(cell)
        scores = {}
        for name, classifier in self.classifiers.items():
            model = clone(classifier).fit(learn, self.labels[train])
            scores[name] = self.objective.value(self.labels[test], model.predict(judge))
        return {"score": max(scores.values()), "scores": scores, "features": learn.shape[1]}

    def _features(self, fold, cell, train, test) -> FoldFeatures:
        settings = clone(self.inducer).set_params(**cell)._settings()
        shared = shared_parameters(settings)
        own = {name: value for name, value in cell.items() if name not in shared}
        key = json_text({"fold": fold, "own": own})
        if self._at_hand is None or self._at_hand[0] != key:
            self._at_hand = None  # let go of the last one before the next is made
            alike = [c for c in self.cells if all(c.get(name) == own[name] for name in own)]
            inducer = clone(self.inducer).set_params(**own)
            features = FoldFeatures(self.matrix, self.labels, train, test, inducer, alike)
            self._at_hand = key, features
        return self._at_hand[1]

    def __getstate__(self):
        return {**self.__dict__, "_at_hand": None}


def _plain_params(inducer: ConjunctionInducer) -> dict[str, Any]:
    """The inducer's parameters as JSON; how many threads it has does not matter."""
    params = inducer.get_params(deep=False)
    return {k: v if v is None else str(v) for k, v in params.items() if k != "n_jobs"}


def _keep_size(cell: Mapping[str, Any] | None, inducer, n_features: int) -> float:
    keep = (cell or {}).get("keep", inducer._settings()["keep"])
    count = cut("keep", keep, n_features).count
    return np.inf if count is None else count


Matrices = tuple[sparse.csr_matrix, sparse.csr_matrix]


def shared_parameters(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Parameters in which cells may differ and still be parts of the most generous one.

    Fewer kept conjunctions are a part of more.  Where all are kept, those of fewer features are a
    part of those of more, unless residuals come from a model of the features that were kept.
    Longer conjunctions grow from the pairs that were kept: there nothing is shared.
    """
    if settings["max_length"] > 2 or (
        settings["final_atomic"] is not None and settings["final_keep"] is None
    ):
        return ()
    if settings["final_keep"] is not None:
        return ("final_keep",)
    return ("partners",) if settings["score"] == "residual" else ("keep", "partners")


class FoldFeatures:
    """Features of the training and test rows of a fold, for every cell of a grid.

    ``cells`` differ in the ``shared_parameters`` alone; ``inducer`` has all others.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        labels: np.ndarray,
        train: np.ndarray,
        test: np.ndarray,
        inducer: ConjunctionInducer,
        cells: Sequence[Mapping[str, Any]],
    ):
        self.n_features = matrix.shape[1]
        learn, judge = matrix.take(train), matrix.take(test)
        largest = self._most_generous(clone(inducer), cells)
        self._master = clone(inducer).set_params(**largest).fit(learn, labels[train])
        self._all = self._master.transform(learn), self._master.transform(judge)
        self._largest_but_k = {name: largest[name] for name in largest if name != "keep"}
        self._kept: tuple[Any, np.ndarray, Matrices] | None = None
        parts = self._master.parts_
        atomic = parts[:, 1] < 0 if parts.shape[1] > 1 else np.ones(len(parts), dtype=bool)
        self.n_atomic = int(atomic.sum())
        # Atomic features come first, best first, so a feature's column is its rank.
        rank = np.full(self.n_features + 1, -1, dtype=np.int64)
        rank[parts[: self.n_atomic, 0]] = np.arange(self.n_atomic)
        ranks = rank[parts]
        self._worst = ranks.max(axis=1)
        self._best = np.where(ranks >= 0, ranks, np.iinfo(np.int64).max).min(axis=1)

    def cell(self, cell: Mapping[str, Any]) -> Matrices:
        """Training and test rows with the features of one cell."""
        keep = cell.get("keep")
        if self._kept is None or self._kept[0] != keep:
            # Cells of one k follow one another; each is cut from that k's part, not from all.
            within = np.flatnonzero(self.columns({**cell, **self._largest_but_k}))
            self._kept = keep, within, _cut_columns(self._all, within)
        _, within, matrices = self._kept
        return _cut_columns(matrices, np.flatnonzero(self.columns(cell)[within]))

    def columns(self, cell: Mapping[str, Any]) -> np.ndarray:
        """Which columns of the most generous cell this cell keeps."""
        settings = self._master.parameters_ | dict(cell)
        k = cut("keep", settings["keep"], self.n_features).count
        chosen = self._worst < (self.n_atomic if k is None else k)
        joined = np.arange(len(chosen)) >= self.n_atomic
        if settings["pairs"] == "ranked":
            l = cut("partners", settings["partners"], self.n_features).count  # noqa: E741
            chosen &= ~joined | (self._best < (self.n_atomic if l is None else l))
        last = cut("final_keep", settings["final_keep"], self.n_features)
        if last.count is not None:
            # Conjunctions of one length are ordered by score; over lengths the score decides.
            places = np.flatnonzero(chosen & joined)
            order = np.argsort(-self._master.scores_[places], kind="stable")
            chosen[places[order[last.count :]]] = False
        return chosen

    def _most_generous(self, inducer, cells) -> dict[str, Any]:
        """The largest value of each shared parameter over the cells."""
        most = {}
        for name in shared_parameters(inducer.set_params(**cells[0])._settings()):
            values = [cell[name] for cell in cells if name in cell]
            if values:
                counts = [cut(name, value, self.n_features).count for value in values]
                most[name] = values[max(range(len(values)), key=lambda i: _size(counts[i]))]
        return most


def _size(count: int | None) -> float:
    return np.inf if count is None else count


def _cut_columns(matrices: Matrices, columns: np.ndarray) -> Matrices:
    """The same rows with some of the columns, in order."""
    label = np.full(matrices[0].shape[1], -1, dtype=np.int32)
    label[columns] = np.arange(len(columns))
    cut_out = []
    for X in matrices:
        indptr, indices = relabel(X.indptr, X.indices, label)
        cut_out.append(
            sparse.csr_matrix(
                (X.data[: len(indices)], indices, indptr), shape=(X.shape[0], len(columns))
            )
        )
    return cut_out[0], cut_out[1]
