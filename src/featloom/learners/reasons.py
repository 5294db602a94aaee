"""Why a linear model gave an answer: the features that spoke for it, and against the next best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reasons:
    """An answer, the answer that came next, and what tells the two apart.

    Parameters
    ----------
    answer : what was chosen.
    against : the next best; None where there was no choice.
    features : (name, weight for the answer less that for the next best), strongest first.  Names in
        parentheses are of what no feature of the data shows: "(every row)".
    rest : what all the features that are not listed add up to.
    """

    answer: str
    against: str | None
    features: tuple[tuple[str, float], ...]
    rest: float = 0.0

    @property
    def margin(self) -> float:
        """By how much the answer scored higher."""
        return sum(weight for _, weight in self.features) + self.rest


def strongest(
    answer: str,
    against: str | None,
    weights: np.ndarray,
    name: Callable[[int], str],
    most: int | None,
) -> Reasons:
    """Reasons from the weights of everything that spoke, of which the strongest are named.

    >>> strongest("K", "S", np.array([0.5, -2.0, 0.0, 1.0]), ["a", "b", "c", "d"].__getitem__, 2)
    Reasons(answer='K', against='S', features=(('b', -2.0), ('d', 1.0)), rest=0.5)
    """
    order = [int(i) for i in np.argsort(-np.abs(weights), kind="stable") if weights[i]]
    shown = order if most is None else order[:most]
    features = tuple((name(i), float(weights[i])) for i in shown)
    return Reasons(answer, against, features, float(sum(weights[i] for i in order[len(shown) :])))
