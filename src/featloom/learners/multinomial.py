"""The optimum of a penalised logistic regression, by Newton's method.

For weights w and intercepts b of every class,

    f(w, b) = Σ over rows of a · (−log p(class of the row)) + |w|² / 2C

is convex and has one minimum.  Every step solves H d = −∇f for the direction d by conjugate
gradients, which need products H v alone and never H itself, divided by the diagonal of H so that
rare and frequent features count alike; far from the minimum few of them are enough (Dembo,
Eisenstat and Steihaug, "Inexact Newton Methods", 1982).  Along d the scores of the rows change in
proportion, so that a shorter step is tried without another look at the features.

There are three numbers a row and score in memory beside the data, and seven a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from featloom.kernels import multinomial as kernels
from featloom.kernels.compiling import compiled_for
from featloom.kernels.rows import transpose

_BLOCK = 1 << 22  # numbers added up in a block of rows or features: some ten milliseconds
_SHARDS = 8
_IN_CACHE = 1 << 17  # sums: a megabyte
_ENOUGH = 1e-4  # of what the slope promises a step must bring
_LEAST_STEP = 1e-10
_MOST_CONJUGATE = 250  # directions of one step
_LEAST_CURVATURE = 1e-10


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where the minimum was sought: the weights, those of the intercepts last, and how it went.

    Parameters
    ----------
    weights : (features + 1, scores).
    objective : f there.
    slope : |∇f| there, as a share of |∇f| at zero weights.
    steps : of Newton's method.
    products : with the matrix of second derivatives.
    """

    weights: np.ndarray
    objective: float
    slope: float
    steps: int
    products: int


@dataclass(eq=False)
class LogisticObjective:
    """f for given rows, and its minimum at any strength of the penalty.

    Parameters
    ----------
    X : CSR matrix.
    labels : class codes.
    n_classes : two classes have one score a row, more have as many as they are.
    row_weights : one a row.
    threads : they change the time and nothing else.

    Examples
    --------
    >>> X = sparse.csr_matrix([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    >>> objective = LogisticObjective(X, np.array([0, 1, 0, 1]), 2, np.ones(4))
    >>> objective.minimum(1.0, tol=1e-6, max_iter=100).weights[:2].ravel().round(3).tolist()
    [-0.675, 0.675]
    """

    X: sparse.csr_matrix
    labels: np.ndarray
    n_classes: int
    row_weights: np.ndarray
    threads: int = 1
    _rows: tuple[np.ndarray, ...] = field(init=False)
    _features: tuple[np.ndarray, ...] = field(init=False)

    def __post_init__(self) -> None:
        X = self.X
        self.shape = (X.shape[1] + 1, 1 if self.n_classes == 2 else self.n_classes)
        ones = bool((X.data == 1).all())
        values = np.empty(0) if ones else X.data.astype(np.float64)
        indptr = X.indptr.astype(np.int64)
        starts, rows, places = transpose(indptr, X.indices, X.shape[1])
        self._rows = indptr, X.indices, values
        every = compiled_for() is not None
        alike = every or len(np.unique(self.row_weights)) == 1
        self.is_plain = self.n_classes > 2 and ones and alike
        self._features = starts, rows, values if ones else values[places]
        self._row_blocks = _blocks(indptr, self.shape[1])
        self._feature_blocks = _blocks(starts, self.shape[1])
        size = (X.shape[0], self.shape[1])
        self._scores, self._probabilities, self._moves = (np.empty(size) for _ in range(3))
        n_sums = self.shape[0] * self.shape[1]
        most = _IN_CACHE if every else min(_IN_CACHE, X.shape[0] * self.shape[1])
        in_cache = self.shape[1] > 1 and n_sums <= most
        # Sums of every shard, where features are added up row by row.
        self._partial = np.empty((_SHARDS if in_cache else 0, *self.shape))
        self._pool: ThreadPoolExecutor | None = None

    def minimum(
        self, strength: float, *, tol: float, max_iter: int, start: np.ndarray | None = None
    ) -> Optimum:
        """The minimum for C = ``strength``, sought from ``start`` (zero weights by default).

        The search ends when |∇f| is at most ``tol`` of what it is at zero weights, or after
        ``max_iter`` steps.
        """
        most = min(self.threads, max(len(self._row_blocks), len(self._feature_blocks)))
        if most <= 1:
            return self._minimum(1 / strength, tol, max_iter, start)
        with ThreadPoolExecutor(max_workers=most) as self._pool:
            try:
                return self._minimum(1 / strength, tol, max_iter, start)
            finally:
                self._pool = None

    def _minimum(self, penalty, tol, max_iter, start) -> Optimum:
        weights = np.zeros(self.shape)
        gradient = np.empty(self.shape)
        self._take(weights)
        self._gradient(weights, penalty, gradient)
        reference = _norm(gradient)
        if start is not None:
            weights[:] = start
            self._take(weights)
            self._gradient(weights, penalty, gradient)
        objective = self._loss(0.0) + 0.5 * penalty * _dot(weights[:-1], weights[:-1])
        steps = products = 0
        slope = _norm(gradient) / max(reference, np.finfo(float).tiny)
        while slope > tol and steps < max_iter:
            share = min(0.5, max(np.sqrt(slope), 0.3 * tol / slope))
            direction, more = self._direction(gradient, penalty, share)
            products += more
            went, objective = self._search(weights, direction, gradient, penalty, objective)
            if not went:
                break  # nothing below, as far as can be told in so many digits
            steps += 1
            self._gradient(weights, penalty, gradient)
            slope = _norm(gradient) / reference
        if self.shape[1] > 1:
            weights[-1] -= weights[-1].mean()  # a number added to all of them changes nothing
        return Optimum(weights, objective, slope, steps, products)

    def _direction(self, gradient, penalty, share) -> tuple[np.ndarray, int]:
        """d with |H d + ∇f| at most a share of |∇f|, and the products that this took."""
        diagonal = np.empty(self.shape)
        self._by_rows(kernels.own_curvatures, self._probabilities, self.row_weights, self._moves)
        self._onto_features(diagonal, squared=True)
        diagonal[:-1] += penalty
        np.maximum(diagonal, _LEAST_CURVATURE, out=diagonal)
        found, curved = np.zeros(self.shape), np.empty(self.shape)
        left = -gradient
        direction = left / diagonal
        flat = [a.reshape(-1) for a in (direction, curved, diagonal, found, left)]
        size = kernels.inner_product(flat[4], flat[0])
        enough = share * share * size
        products = 0
        while size > enough and products < _MOST_CONJUGATE:
            self._curved(direction, penalty, curved)
            products += 1
            bend = _dot(direction, curved)
            if bend <= 0:
                break
            before, size = size, kernels.conjugate_step(size / bend, *flat)
            kernels.conjugate_direction(flat[4], flat[2], size / before, flat[0])
        return found, products

    def _search(self, weights, direction, gradient, penalty, objective) -> tuple[bool, float]:
        """Go along the direction as far as f falls; whether it does, and f there."""
        self._by_rows(kernels.scores_of_rows, *self._rows, direction, self._moves)
        promised = _dot(gradient, direction)
        own = _dot(weights[:-1], weights[:-1])
        along, beside = _dot(weights[:-1], direction[:-1]), _dot(direction[:-1], direction[:-1])
        step = 1.0
        while step > _LEAST_STEP and promised < 0:
            squares = own + step * (2 * along + step * beside)
            reached = self._loss(step) + 0.5 * penalty * squares
            if reached <= objective + _ENOUGH * step * promised:
                weights += step * direction
                self._by_rows(kernels.move, self._scores, self._moves, step)
                return True, reached
            step *= 0.5
        return False, objective

    def _take(self, weights: np.ndarray) -> None:
        """The scores of these weights, and no move."""
        self._by_rows(kernels.scores_of_rows, *self._rows, weights, self._scores)
        self._moves[:] = 0.0

    def _loss(self, step: float) -> float:
        how = self._scores, self._moves, step, self.labels, self.row_weights
        return sum(self._by_rows(kernels.loss_along, *how))

    def _gradient(self, weights, penalty, gradient) -> None:
        self._by_rows(
            kernels.first_derivative, self._scores, self.labels, self.row_weights,
            self._probabilities, self._moves,
        )  # fmt: skip
        self._onto_features(gradient)
        gradient[:-1] += penalty * weights[:-1]

    def _curved(self, direction, penalty, curved) -> None:
        """H v."""
        self._by_rows(kernels.scores_of_rows, *self._rows, direction, self._moves)
        self._by_rows(kernels.second_derivative, self._probabilities, self.row_weights, self._moves)
        self._onto_features(curved)
        curved[:-1] += penalty * direction[:-1]

    def _onto_features(self, sums: np.ndarray, *, squared: bool = False) -> None:
        """Of what the rows have in ``_moves`` the sums of every feature and of all rows."""
        if len(self._partial):
            self._each(partial(self._add_shard, squared), range(_SHARDS))
            np.sum(self._partial, axis=0, out=sums)
            if compiled_for() is None:
                return
        how = *self._features, squared, self._moves, sums
        self._blockwise(kernels.sums_of_features, self._feature_blocks, how)
        sums[-1] = 0.0
        for total in self._by_rows(kernels.sums_of_rows, self._moves):
            sums[-1] += total

    def _add_shard(self, squared: bool, shard: int) -> None:
        """The same sums over every eighth block of rows."""
        sums = self._partial[shard]
        sums[:] = 0.0
        for block in self._row_blocks[shard::_SHARDS]:
            kernels.add_rows(*block, *self._rows, squared, self._moves, sums)

    def _by_rows(self, kernel: Callable, *how) -> list:
        return self._blockwise(kernel, self._row_blocks, how)

    def _blockwise(self, kernel: Callable, blocks: list[tuple[int, int]], how: tuple) -> list:
        """What a kernel gives for each block, in the order of the blocks."""
        return self._each(lambda block: kernel(*block, *how), blocks)

    def _each(self, work: Callable, pieces: Iterable) -> list:
        return list(map(work, pieces) if self._pool is None else self._pool.map(work, pieces))


def _blocks(starts: np.ndarray, n_scores: int) -> list[tuple[int, int]]:
    """Rows (or features) from begin to end that hold about as many entries; the data decide."""
    n = len(starts) - 1
    done = (starts[1:] - starts[0] + np.arange(1, n + 1)) * n_scores
    ends = np.arange(_BLOCK, done[-1] if n else 0, _BLOCK)
    cuts = np.unique([0, *(np.searchsorted(done, ends) + 1), n])
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return float(kernels.inner_product(a.reshape(-1), b.reshape(-1)))


def _norm(a: np.ndarray) -> float:
    return float(np.sqrt(_dot(a, a)))
