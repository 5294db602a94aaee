"""Names of scores, and scores of counted features.

A score is a function of counts: it never looks at the data.  The formulas stand in
:mod:`featloom.kernels.association`.

==================  ============================================================================
name                score
==================  ============================================================================
mi                  mutual information of feature and class
ig                  information gain as FITSI prints it: the terms of Y = 1 alone; added up over
                    the classes it equals mi
information_gain    information gain in full: H(Y) − H(Y|T) over all classes at once
su                  symmetric uncertainty
fisher              −log p of Fisher's exact test
chi2                Pearson's chi-squared
gain_ratio          mutual information / entropy of the feature
shared_variance     chi-squared / rows
residual            gain over a fitted linear model, see :mod:`featloom.kernels.gradients`
==================  ============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError
from featloom.kernels import association

_KINDS = {
    "mi": association.MUTUAL_INFORMATION,
    "ig": association.INFORMATION_GAIN_1,
    "information_gain": association.MUTUAL_INFORMATION,
    "su": association.SYMMETRIC,
    "fisher": association.FISHER,
    "chi2": association.CHI_SQUARED,
    "gain_ratio": association.GAIN_RATIO,
    "shared_variance": association.SHARED_VARIANCE,
}
_AGGREGATES = {"sum": association.SUM, "max": association.MAX, "global": association.GLOBAL}
_ALTERNATIVES = {
    "two-sided": association.TWO_SIDED,
    "greater": association.GREATER,
    "less": association.LESS,
}

LABELS = {
    "mi": "mutual information (nats)",
    "ig": "information gain, Y = 1 terms (nats)",
    "information_gain": "information gain (nats)",
    "su": "symmetric uncertainty",
    "fisher": "Fisher's exact test (−log p)",
    "chi2": "chi-squared",
    "gain_ratio": "gain ratio",
    "shared_variance": "shared variance",
    "residual": "gain over the linear model (log-likelihood)",
}
NAMES = tuple(LABELS)


@dataclass(frozen=True)
class CountScore:
    """A score of counts, in the codes that the kernels take.

    Examples
    --------
    >>> import numpy as np
    >>> score = CountScore.named("mi")
    >>> score.of(10, np.array([5, 5]), np.array([[0, 5], [2, 2]])).round(4)
    array([1.3863, 0.    ])
    """

    kind: int
    aggregate: int
    alternative: int

    @classmethod
    def named(
        cls, name: str, aggregate: str = "sum", alternative: str = "two-sided", n_classes: int = 2
    ) -> CountScore:
        """The score of that name; the kinds that look at all classes at once ignore "sum"."""
        kind = _choice("score", name, _KINDS)
        how = _choice("aggregate", aggregate, _AGGREGATES)
        side = _choice("alternative", alternative, _ALTERNATIVES)
        if name == "information_gain":
            how = association.GLOBAL
        if how == association.GLOBAL and name == "ig":
            kind = association.MUTUAL_INFORMATION
        if how == association.GLOBAL and name == "fisher":
            if n_classes > 2:
                raise InputError(
                    "Fisher's exact test compares one class with the rest: "
                    "aggregate must be 'sum' or 'max' with more than two classes"
                )
            how = association.MAX
        return cls(kind, how, side)

    def of(self, n_rows: int, class_totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Scores of features from a features × classes array of counts."""
        table = self.log_factorials(n_rows)
        return association.score_features(
            self.kind, self.aggregate, self.alternative, n_rows, class_totals, counts, table
        )

    def bounds(
        self, n_rows: int, class_totals: np.ndarray, counts: np.ndarray, min_support: int
    ) -> np.ndarray:
        """For each feature, a score that no conjunction with it can exceed."""
        table = self.log_factorials(n_rows)
        return association.bound_features(
            self.kind,
            self.aggregate,
            self.alternative,
            n_rows,
            class_totals,
            counts,
            min_support,
            table,
        )

    def log_factorials(self, n_rows: int) -> np.ndarray:
        """The table that Fisher's test reads; the other scores need none."""
        return association.log_factorials(n_rows if self.kind == association.FISHER else 0)


def _choice(what: str, name: str, choices: dict[str, int]) -> int:
    if name not in choices:
        raise InputError(f"{what} is {name!r}; it can be {', '.join(map(repr, choices))}")
    return choices[name]
