"""Settings of a memory-based learner, and the space of all of them.

A setting is a number of neighbours k, a weighting of the features, and for each feature whether it
is ignored, compared by overlap or by MVDM; and the way in which neighbours vote.  To a search each
feature is one choice of three, the weighting one of five.  All votes come with one evaluation and
are no choice of a search; so do all k, and a search may leave k out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from featloom.counts.values import WEIGHTS
from featloom.errors import InputError
from featloom.learners.comparison import COUNT, MODES, VOTES
from featloom.options import check, each, one_of
from featloom.search import SearchSpace
from featloom.search.space import Candidate

KS = tuple(range(1, 22, 2))
# Shares of the class frequencies in probabilities, of which each setting has its best.
SCORINGS = ("accuracy", "log_loss")
# What a search can be given to choose from.
OFFERED = {
    "ks": each(COUNT),
    "weights": each(one_of(WEIGHTS)),
    "modes": each(one_of(MODES)),
    "votes": each(one_of(VOTES)),
}


class Setting(NamedTuple):
    """What a memory-based learner is set to.

    >>> Setting(5, "gain_ratio", ("overlap", "mvdm", "ignore")).short()
    'k=5 gain_ratio O M –'
    """

    k: int
    weights: str
    modes: tuple[str, ...]
    vote: str = "count"

    def short(self) -> str:
        letters = {"ignore": "–", "overlap": "O", "mvdm": "M"}
        vote = "" if self.vote == "count" else f" {self.vote}"
        return f"k={self.k} {self.weights}{vote} {' '.join(letters[mode] for mode in self.modes)}"

    def as_dict(self, columns: Sequence[str]) -> dict[str, Any]:
        """Plain names and values."""
        return {
            "k": self.k,
            "weights": self.weights,
            "vote": self.vote,
            "modes": dict(zip(columns, self.modes, strict=True)),
        }


class SettingSpace:
    """The settings over some columns, as a search sees them.

    Parameters
    ----------
    columns : names of the features.
    ks, weights, modes, votes : the values to choose from; of equally good votes the first.

    Examples
    --------
    >>> space = SettingSpace(["letter", "next"], ks=[1, 3], weights=["none"])
    >>> len(space.fits), len(space.settings)
    (8, 16)
    >>> space.uniform()
    [{'weights': 'none', 'letter': 'overlap', 'next': 'overlap'}, \
{'weights': 'none', 'letter': 'mvdm', 'next': 'mvdm'}]
    """

    def __init__(
        self,
        columns: Sequence[str],
        ks: Sequence[int] = KS,
        weights: Sequence[str] = WEIGHTS,
        modes: Sequence[str] = MODES,
        votes: Sequence[str] = VOTES,
    ):
        self.columns = tuple(columns)
        check(OFFERED, {"ks": ks, "weights": weights, "modes": modes, "votes": votes})
        self.ks = tuple(sorted(int(k) for k in ks))
        self.weights, self.modes, self.votes = tuple(weights), tuple(modes), tuple(votes)
        if self.modes == ("ignore",):
            raise InputError("modes offers nothing but 'ignore'; nothing is left to compare")
        # A column may have the name of a parameter.
        self._choice_of = dict(zip(columns, columns, strict=True))
        for name in {"k", "weights"} & set(columns):
            choice = f"mode of {name}"
            while choice in self._choice_of:
                choice = f"mode of {choice}"
            self._choice_of[name] = choice
        choices = {"weights": list(self.weights)}
        choices |= {self._choice_of[name]: list(self.modes) for name in columns}
        ways = len(self.modes) ** len(columns) - ("ignore" in self.modes)
        size = len(self.weights) * ways
        self.fits = SearchSpace(choices, self._compares, size)
        self.settings = SearchSpace(
            {"k": list(self.ks), **choices}, self._compares, len(self.ks) * size
        )

    def candidate(self, weights: str, modes: Sequence[str], k: int | None = None) -> Candidate:
        """A candidate of ``fits``, or with a k of ``settings``."""
        parts: Candidate = {} if k is None else {"k": k}
        named = zip(self._choice_of.values(), modes, strict=True)
        return parts | {"weights": weights} | dict(named)

    def modes_of(self, candidate: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(candidate[choice] for choice in self._choice_of.values())

    def uniform(self) -> list[Candidate]:
        """Every weighting with all features compared in the same way: the exhaustive grid."""
        return [
            self.candidate(weights, (mode,) * len(self.columns))
            for weights in self.weights
            for mode in self.modes
            if mode != "ignore"
        ]

    def default(self) -> Candidate:
        """All features by overlap and gain ratio, or what comes nearest to that; no k."""
        weights = "gain_ratio" if "gain_ratio" in self.weights else self.weights[0]
        mode = next(m for m in ("overlap", *self.modes) if m in self.modes and m != "ignore")
        return self.candidate(weights, (mode,) * len(self.columns))

    def _compares(self, candidate: Candidate) -> bool:
        return any(candidate[choice] != "ignore" for choice in self._choice_of.values())
