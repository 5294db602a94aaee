"""In what order contenders are tried, and on how many units, so that the time suffices.

All learn from a few units first: that shows what each costs and how it grows.  From this the
comparison takes the largest part of the data on which what people need most fits into the time;
then, cheapest first, each contender goes through all folds and the test part: baselines, then
methods, and what is there for comparison only comes last.  One whose turn would not end in time is
passed over, and said to be.

Times come from the results themselves, so whoever replays a journal is led the same way.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from featloom.discover.contenders import ROLES, Contender
from featloom.discover.protocol import TEST
from featloom.search.space import Candidate
from featloom.search.strategies import Result, RoundByRound

_SMALL, _MEDIUM = 2_000, 8_000  # units of the first trials, at most
_LEAST = 80  # and at least; fewer tell nothing
_USABLE = 0.95  # share of the time that is planned with
_TOGETHER = 5.0  # seconds of work that are asked for at once
_STEEPEST = 1.8
_CAREFUL, _GROWTH = 1.3, 1.2  # of what learning from all the data is taken to cost
_LEVELLED = 0.8  # power of the units by which the time of those grows who look at a sample

Rounds = Generator[Iterable[Candidate], list[float], None]


class CheapestFirst(RoundByRound):
    """The order of a comparison.

    Parameters
    ----------
    contenders : in the order of a first guess.
    n_learn : units to learn from in all.
    n_folds : of the comparison.
    seconds : that the trials may take; None: as long as they take.
    workers : trials side by side.
    enough : units that a comparison should learn from at least, if there are so many.

    Attributes
    ----------
    units : units that a fold learns from in the comparison; None: all.
    passed_over : contenders that were not compared, with the reason.
    """

    def __init__(
        self,
        contenders: Sequence[Contender],
        *,
        n_learn: int,
        n_folds: int,
        seconds: float | None,
        workers: int,
        enough: int = _SMALL,
    ):
        super().__init__()
        self.contenders = contenders
        self.n_learn, self.n_folds = n_learn, n_folds
        self.seconds, self.workers, self.enough = seconds, workers, enough
        self.units: int | None = None
        self.passed_over: dict[str, str] = {}
        self.spent = 0.0
        self._seen: dict[str, list[tuple[int, float]]] = {one.name: [] for one in contenders}
        self._sampled = {one.name: one.sampled or np.inf for one in contenders}

    def tell(self, candidate: Candidate, result: Result) -> None:
        assert isinstance(result, Mapping)
        self.spent += float(result["spent_s"])
        if "fault" in result:
            if candidate["units"] is None or candidate["units"] == self.units:
                self.passed_over[candidate["method"]] = str(result["fault"])
        else:
            took = float(result["fit_s"]) + float(result["predict_s"])
            self._seen[candidate["method"]].append((int(result["learned"]), took))
        super().tell(candidate, result)

    def rounds(self) -> Rounds:
        inside = [one for one in self.contenders if one.role != "yardstick"]
        yield from self._tries(inside)
        self.units = self._comparable()
        waiting = sorted(inside, key=lambda one: self._cost(one.name))
        # Without chance nothing can be said, so it is tried however little time there is; and
        # without a baseline, little.
        waiting.sort(key=lambda one: ROLES.index(one.role))
        yield from self._compared(waiting)
        outside = [one for one in self.contenders if one.role == "yardstick"]
        yield from self._tries(outside)
        yield from self._compared(outside)

    def _tries(self, contenders: Sequence[Contender]) -> Rounds:
        """All learn from a few units, to see what they cost."""
        for size in self._small_sizes():
            fits = [one for one in contenders if self._fits_a_try(one.name, size)]
            if fits:
                yield [self._trial(one.name, 0, size) for one in fits]

    def _compared(self, waiting: list[Contender]) -> Rounds:
        """One after the other, or several quick ones at once, in all folds and on the test part."""
        while waiting:
            together: list[Contender] = []
            planned = 0.0
            while waiting and (not together or planned < _TOGETHER * self.workers):
                name = waiting[0].name
                if name in self.passed_over:
                    waiting.pop(0)
                    continue
                cost = self._cost(name)
                needed = waiting[0].role == "chance"
                if self.seconds is not None and not needed and planned + cost > self._left():
                    if together:
                        break
                    self.passed_over[name] = (
                        f"it would take about {_duration(cost / self.workers)}, and "
                        f"{_duration(max(0.0, self._left()) / self.workers)} were left"
                    )
                    waiting.pop(0)
                    continue
                together.append(waiting.pop(0))
                planned += cost
            if together:
                yield [
                    self._trial(one.name, fold, self.units)
                    for one in together
                    for fold in (TEST, *range(self.n_folds))
                ]

    def affordable(self, name: str, most: int, seconds: float) -> int:
        """How many units, of so many, a contender surely learns from in some seconds.

        Nothing ends it at the deadline, so this is a careful guess from its longest trial.
        """
        units, took = max(self._seen[name], default=(most, 0.0))
        if took * _CAREFUL * (most / units) ** _GROWTH <= seconds:
            return most
        return max(_LEAST, min(most, int(units * (seconds / (took * _CAREFUL)) ** (1 / _GROWTH))))

    def _trial(self, name: str, fold: int | str, units: int | None) -> dict[str, Any]:
        return {"method": name, "fold": fold, "units": units}

    def _small_sizes(self) -> list[int]:
        """Units of the first trials: a sixteenth and a quarter of a fold's, within bounds."""
        whole = self._of_fold()
        sizes = [min(whole // 16, _SMALL), min(whole // 4, _MEDIUM)]
        return [size for size in sizes if size >= _LEAST]

    def _of_fold(self) -> int:
        return self.n_learn * (self.n_folds - 1) // self.n_folds

    def _left(self) -> float:
        """Seconds of work that can still be planned."""
        if self.seconds is None:
            return np.inf
        return _USABLE * self.seconds * self.workers - self.spent

    def _seconds(self, name: str, units: float) -> float:
        """What one trial is expected to take."""
        seen = self._seen[name]
        if not seen:
            return 0.0
        most, took = max(seen)
        least, before = min(seen)
        steepness = 1.1
        if most > 1.5 * least and before > 0.05:
            steepness = float(np.log(took / before) / np.log(most / least))
        knee = min(units, max(most, self._sampled[name]))
        upto = took * (knee / most) ** float(np.clip(steepness, 1.0, _STEEPEST))
        return upto * (units / knee) ** _LEVELLED

    def _cost(self, name: str, units: int | None = None) -> float:
        """What all trials of a contender are expected to take."""
        units = units or self.units
        of_fold = self._of_fold() if units is None else min(units, self._of_fold())
        of_all = self.n_learn if units is None else min(units, self.n_learn)
        return self.n_folds * self._seconds(name, of_fold) + self._seconds(name, of_all)

    def _fits_a_try(self, name: str, size: int) -> bool:
        if self.seconds is None or not self._seen[name]:
            return True
        return self._seconds(name, size) <= 0.1 * self._left()

    def _comparable(self) -> int | None:
        """The most units on which baselines and four of five methods can be compared in time."""
        if self.seconds is None:
            return None
        methods = sum(one.role == "method" for one in self.contenders)
        size = self._of_fold()
        units: int | None = None
        while True:
            costs = sorted(
                (ROLES.index(one.role), self._cost(one.name, units or size), one.role)
                for one in self.contenders
                if one.role != "yardstick"
            )
            left, done = self._left(), 0
            for _, cost, role in costs:
                if cost <= left:
                    left -= cost
                    done += role == "method"
            if done >= 0.8 * methods or size < 2 * self.enough:
                return units
            size //= 2
            units = size


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> _duration(4.2), _duration(200)
    ('4 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
