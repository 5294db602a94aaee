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
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from featloom.data.matrix import FeatureMatrix
from featloom.kernels.rows import relabel
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.selection import cut
from featloom.methods.search_cv import Cell, SearchCV
from featloom.options import one_of
from featloom.search.space import json_text

PAPER_SHARES = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25)
PAPER_GRID = {"keep": PAPER_SHARES, "partners": PAPER_SHARES}


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


class CellFeatures:
    """Features of the rows of a fold for any cell; those that cells share are found once.

    The cell None is the baseline, all atomic features.
    """

    def __init__(self, matrix, labels, train, test, inducer, cells):
        self.of_fold, self.inducer, self.cells = (matrix, labels, train, test), inducer, cells
        self._at_hand: tuple[str, FoldFeatures] | None = None

    def matrices(self, cell: Cell) -> Matrices:
        """Training and test rows with the features of one cell."""
        if cell is None:
            matrix, _, train, test = self.of_fold
            X = matrix.to_csr()
            return X[train], X[test]
        shared = shared_parameters(clone(self.inducer).set_params(**cell)._settings())
        own = {name: value for name, value in cell.items() if name not in shared}
        key = json_text(own)
        if self._at_hand is None or self._at_hand[0] != key:
            self._at_hand = None  # let go of the last one before the next is made
            alike = [c for c in self.cells if all(c.get(name) == own[name] for name in own)]
            inducer = clone(self.inducer).set_params(**own)
            self._at_hand = key, FoldFeatures(*self.of_fold, inducer, alike)
        return self._at_hand[1].cell(cell)


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


class ConjunctionSearchCV(SearchCV):
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

    constraints = {
        **SearchCV.constraints,
        "simplicity": one_of(["features", "keep"]),
    }
    _takes_matrices, _fold_features = True, CellFeatures

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

    def _transformer(self) -> ConjunctionInducer:
        return ConjunctionInducer(preset="paper") if self.inducer is None else self.inducer

    def _grid(self) -> Mapping[str, Sequence[Any]]:
        return PAPER_GRID if self.grid is None else self.grid

    def _is_sensible(self, cell: Mapping[str, Any], n_features: int) -> bool:
        """Whether l ≤ k where both are in the grid."""
        if "keep" not in cell or "partners" not in cell:
            return True
        k = cut("keep", cell["keep"], n_features).count
        l = cut("partners", cell["partners"], n_features).count  # noqa: E741
        return k is None or (l is not None and l <= k)

    def _baseline(self) -> ConjunctionInducer:
        return ConjunctionInducer(score="mi", keep=1.0, max_length=1)

    def _size(self, row: Mapping[str, Any], n_features: int) -> float:
        if self.simplicity == "features":
            return row["features"]
        keep = (row["cell"] or {}).get("keep", self._transformer()._settings()["keep"])
        return _size(cut("keep", keep, n_features).count)

    def _params(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {**(row["cell"] or {}), "classifier": row["classifier"]}
