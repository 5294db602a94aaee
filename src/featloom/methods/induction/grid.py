"""One fold of a cross-validated grid: counted once, read by every cell.

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
