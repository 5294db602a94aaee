"""A model of a search's landscape: what untried candidates are likely to score.

The model is a Gaussian process over candidates.  The scores of two candidates go together to the
degree

    signal · exp(− Σ over choices with different values a, b of (arm(a) + arm(b))),

so that every value of every choice has an *arm*: how far it lies from the other values of its
choice.  Values with short arms may be exchanged for one another without much change; a choice
whose arms are all near zero does not matter.  As each factor is the correlation of a star with
arms of these lengths, the whole is a correlation for any lengths.  To this comes a *ripple*, a
share of the signal that each candidate has to itself.

The arms and the ripple are those that make the scores seen so far most likely, given a
log-normal prior on them (a most probable fit); signal and mean follow in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.special import ndtr

_BOUNDS = (-7.0, 1.5)  # of the logarithm of an arm
_RIPPLE_BOUNDS = (-9.0, 0.0)


class Landscape:
    """A Gaussian process over rows of codes, one column a choice.

    Parameters
    ----------
    sizes : how many values each choice has.
    arm, arm_spread : median and logarithmic spread of the prior of the arms.
    ripple, ripple_spread : the same of the ripple.

    Examples
    --------
    >>> tried = np.array([[0, 0], [0, 1], [1, 0], [2, 0]])
    >>> landscape = Landscape([3, 2])
    >>> landscape.fit(tried, np.array([0.0, 0.1, 1.0, 2.0]))
    >>> landscape.look_at(np.array([[1, 1], [2, 1]]))
    >>> bool(landscape.mean[1] > landscape.mean[0])
    True
    """

    def __init__(
        self,
        sizes: Sequence[int],
        arm: float = 0.1,
        arm_spread: float = 1.0,
        ripple: float = 0.01,
        ripple_spread: float = 1.0,
    ):
        self._begins = np.cumsum([0, *sizes[:-1]])
        self._n_values = sum(sizes)
        self._centre = np.full(self._n_values + 1, np.log(arm))
        self._spread = np.full(self._n_values + 1, float(arm_spread))
        self._centre[-1], self._spread[-1] = np.log(ripple), ripple_spread
        self._logarithms = self._centre.copy()
        # Set by ``fit``: what was seen, and the model given it.
        self._indicators_seen: np.ndarray
        self._scores: np.ndarray
        self._factor: np.ndarray
        self._whitened: np.ndarray
        self._level: float
        self._signal: float
        # Set by ``look_at``: the candidates, and what is expected of them.
        self._indicators_here: np.ndarray
        self._rows: np.ndarray
        self._variance: np.ndarray
        self.mean: np.ndarray

    @property
    def arms(self) -> np.ndarray:
        return np.exp(self._logarithms[:-1])

    @property
    def ripple(self) -> float:
        return float(np.exp(self._logarithms[-1]))

    def fit(self, codes: np.ndarray, scores: np.ndarray, steps: int = 30) -> None:
        """Find the arms for these scores, beginning at those found before."""
        indicators = self._indicators(codes)
        scores = np.asarray(scores, dtype=float)
        bounds = [_BOUNDS] * self._n_values + [_RIPPLE_BOUNDS]
        found = minimize(
            self._improbability,
            self._logarithms,
            args=(indicators, scores),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": steps, "ftol": 1e-5},
        )
        # Rounded, so that what another processor makes of the last digits does not matter.
        self._logarithms = np.round(found.x, 3)
        self._indicators_seen, self._scores = indicators, scores
        self._condition()

    def look_at(self, codes: np.ndarray) -> None:
        """Set ``mean`` and ``deviation`` to what the model expects of these candidates."""
        self._indicators_here = self._indicators(codes)
        across = self._correlation(self._indicators_here, self._indicators_seen)
        n_seen = len(self._scores)
        # Room for scores to come, so that adding one costs one row.
        self._rows = np.empty((max(2 * n_seen, n_seen + 16), len(codes)))
        self._rows[:n_seen] = solve_triangular(
            self._factor, across.T, lower=True, check_finite=False
        )
        rows = self._rows[:n_seen]
        self.mean = self._level + self._whitened @ rows
        self._variance = 1.0 - np.einsum("ij,ij->j", rows, rows)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation of the scores expected, their ripple included."""
        return np.sqrt(self._signal * (np.maximum(self._variance, 0.0) + self.ripple))

    def add(self, codes: np.ndarray, score: float) -> None:
        """Take in one more score and look again; arms, level and signal stay as they are."""
        indicators = self._indicators(codes[None])
        n_seen = len(self._scores)
        across = self._correlation(self._indicators_seen, indicators)[:, 0]
        row = solve_triangular(self._factor, across, lower=True, check_finite=False)
        corner = np.sqrt(max(1.0 + self.ripple - row @ row, 1e-10))
        factor = np.zeros((n_seen + 1, n_seen + 1))
        factor[:n_seen, :n_seen], factor[n_seen, :n_seen] = self._factor, row
        factor[n_seen, n_seen] = corner
        self._factor = factor
        self._indicators_seen = np.vstack([self._indicators_seen, indicators])
        self._scores = np.append(self._scores, score)
        whitened = (score - self._level - row @ self._whitened) / corner
        self._whitened = np.append(self._whitened, whitened)
        here = self._correlation(indicators, self._indicators_here)[0]
        here = (here - row @ self._rows[:n_seen]) / corner
        if n_seen == len(self._rows):
            self._rows = np.vstack([self._rows, np.empty_like(self._rows)])
        self._rows[n_seen] = here
        self.mean = self.mean + whitened * here
        self._variance = self._variance - here * here

    def expected_improvement(self, best: float) -> np.ndarray:
        """By how much each candidate is expected to be better than the best, worse being 0."""
        deviation = self.deviation
        above = (self.mean - best) / deviation
        density = np.exp(-0.5 * above * above) / np.sqrt(2.0 * np.pi)
        return deviation * (above * ndtr(above) + density)

    def _indicators(self, codes: np.ndarray) -> np.ndarray:
        """One column for each value of each choice: 1 where a candidate has it."""
        indicators = np.zeros((len(codes), self._n_values))
        np.put_along_axis(indicators, np.asarray(codes) + self._begins, 1.0, axis=1)
        return indicators

    def _correlation(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        # A value that just one of two candidates has puts its arm between them:
        # z + z' − 2 z z' is 1 for such a value and 0 for all others.
        arms = self.arms
        exponent = (2.0 * first * arms) @ second.T
        exponent -= (first @ arms)[:, None]
        exponent -= second @ arms
        return np.exp(exponent, out=exponent)

    def _condition(self) -> None:
        correlation = self._correlation(self._indicators_seen, self._indicators_seen)
        n_seen = len(self._scores)
        correlation[np.diag_indices(n_seen)] += self.ripple
        self._factor = np.linalg.cholesky(correlation)
        ones, scores = np.ones(n_seen), self._scores
        sides = solve_triangular(
            self._factor, np.column_stack([ones, scores]), lower=True, check_finite=False
        )
        self._level = float(sides[:, 0] @ sides[:, 1] / (sides[:, 0] @ sides[:, 0]))
        self._whitened = sides[:, 1] - self._level * sides[:, 0]
        self._signal = float(_signal(self._whitened @ self._whitened, n_seen))

    def _improbability(
        self, logarithms: np.ndarray, indicators: np.ndarray, scores: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Minus the logarithm of likelihood times prior, and its gradient."""
        before, self._logarithms = self._logarithms, logarithms
        correlation = self._correlation(indicators, indicators)
        arms, ripple, self._logarithms = self.arms, self.ripple, before
        n_seen = len(scores)
        with_ripple = correlation + ripple * np.eye(n_seen)
        factor = np.linalg.cholesky(with_ripple)
        inverse = cho_solve((factor, True), np.eye(n_seen), check_finite=False)
        column_sums = inverse.sum(axis=0)
        level = column_sums @ scores / column_sums.sum()
        weights = inverse @ (scores - level)
        square = (scores - level) @ weights
        signal = _signal(square, n_seen)
        away = (logarithms - self._centre) / self._spread
        value = (
            0.5 * (n_seen + _PRIOR_SCORES) * np.log(signal)
            + np.log(np.diag(factor)).sum()
            + 0.5 * (away @ away)
        )
        # Half the derivative by each entry of the correlation; level and signal are at their
        # best, so that they do not count.
        slope = 0.5 * (inverse - np.outer(weights, weights) / signal)
        ripple_slope = np.trace(slope) * ripple
        slope *= correlation
        by_arm = np.einsum("iv,iv->v", indicators, slope @ indicators)
        by_arm -= indicators.T @ slope.sum(axis=0)
        gradient = np.append(2.0 * by_arm * arms, ripple_slope)
        return float(value), gradient + away / self._spread


_PRIOR_SCORES = 2  # scores of the standardised kind that the signal is taken to have had before


def _signal(square: float, n_seen: int) -> float:
    return (square + _PRIOR_SCORES) / (n_seen + _PRIOR_SCORES)
