"""In what order contenders are tried, and on how many units, so that an answer stands at once.

*First answers.*  Every contender is fitted with its default setting and judged on one fold, on all
units if it can afford them; where there are many it is tried on a few first, to see what it costs.
After that there is a leaderboard, which only gets better.  *More units* for those which learned
from some only, where it can now be said that it fits into the time.  *Folds.*  The others, best
first.
*Tuning.*  Axis by axis, those first that may still win; the default stays among the settings, so
that tuning never ends below it.  *Searches.*  Last.  *The test part.*  Whatever happens before, the
time that it takes to predict it, and to fit the chosen one once more, is kept for the end.

Costs are seconds of CPU time and come from the results themselves, as does the time that has gone
by, so whoever replays a journal is led the same way.

Where the number of settings is limited and the time is not, no time that anything took has a say:
contenders are taken in the order of the costs that they declare, and of their scores.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from featloom.evaluation.protocol import MOST_JUDGED, TEST
from featloom.method import Contender, Setting
from featloom.search.space import Candidate, json_text
from featloom.search.strategies import Result, RoundByRound
from featloom.words import about

_GROWTH = 1.1  # power of the units by which time grows, before that is known
_AT_ONCE, _GROWTH_AT_ONCE = 0.25, 0.75  # seconds, and the same for trials below them
_STEEPEST, _FLATTEST = 2.0, 0.5
_TOLD_FROM = 0.05  # seconds, from which two costs tell by what power they grow
_OF_ASKING = 0.1  # power of the units learned from by which predicting takes longer
_USABLE = 0.92  # share of the time that is planned with; the rest goes by between trials
_FIRST = 0.4  # share of the time that one contender may take with all units, test and all
_AFFORDED = 0.25  # and that one takes which cannot afford them all
_TRY = 0.15  # share of the time that a first look may take
_LEAST_LIMIT = 4.0  # seconds that a trial may take, where there are twice as many
_SLACK = 5.0  # times its expected cost that a trial may take
_BEHIND = 0.35  # share of the way from chance to the best, by which one far behind is known
_TRIFLE = 0.02  # share of the time that is left, which the test of one may take all the same
_CHEAP = 0.05  # share of the time that is left, below which one far behind goes on all the same
_AFFORDED_LAST = 0.4  # of the time that is left, for a trial of one that waited for the others
_SLOW = 25.0  # first guess of its cost, from which a contender waits for the others
_FEW = 80  # units; fewer tell nothing
_SEARCH_SHARE = 0.3  # of the time that is left, for a search
# Of which a search gets the most it can.
_SEARCH_SECONDS = (5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 150, 180, 240, 320, 480, 640)

Rounds = Generator[Iterable[Candidate], list[float], None]


class Cost(NamedTuple):
    """What one setting took: seconds to learn from so many units, and to predict one."""

    units: int
    fit: float
    ask: float


@dataclass
class Judgements:
    """By setting, the score and the details of each fold that it was judged on."""

    settings: dict[str, Setting] = field(default_factory=dict)
    scores: dict[str, dict[int | str, float]] = field(default_factory=dict)
    details: dict[str, dict[int | str, Any]] = field(default_factory=dict)


@dataclass
class Standing:
    """What is known of a contender.

    Parameters
    ----------
    units : how many it learns from; None: all.
    costs : of its trials.
    judgements : by the number of units learned from; those of ``units`` count.
    found : a setting with which a search need not be done again.
    tested : the setting that was judged on the test part.
    fault : why it takes no further part.
    late : whether that is for taking too long.
    """

    contender: Contender
    units: int | None = None
    costs: list[Cost] = field(default_factory=list)
    judgements: dict[int | None, Judgements] = field(default_factory=dict)
    found: Setting | None = None
    tested: str | None = None
    fault: str = ""
    late: bool = False

    @property
    def name(self) -> str:
        return self.contender.name

    @property
    def settings(self) -> dict[str, Setting]:
        return self.judgements.get(self.units, Judgements()).settings

    @property
    def scores(self) -> dict[str, dict[int | str, float]]:
        return self.judgements.get(self.units, Judgements()).scores

    @property
    def details(self) -> dict[str, dict[int | str, Any]]:
        return self.judgements.get(self.units, Judgements()).details

    def mean(self, key: str) -> float:
        """The mean of a setting over the folds that it was judged on."""
        return float(np.mean([value for fold, value in self.folds(key)]))

    def folds(self, key: str) -> list[tuple[int, float]]:
        """The folds that a setting was judged on, with its scores."""
        scores = self.scores.get(key, {})
        return sorted((fold, value) for fold, value in scores.items() if isinstance(fold, int))

    @property
    def best(self) -> str | None:
        """The setting with the best mean over the most folds; of equals, the first tried."""
        most = max((len(self.folds(key)) for key in self.scores), default=0)
        keys = [key for key in self.scores if most and len(self.folds(key)) == most]
        return max(keys, key=self.mean) if keys else None


class FirstAnswers(RoundByRound):
    """The order of a comparison.

    Parameters
    ----------
    contenders : in the order of a first guess of their costs.
    n_learn : units to learn from in all.
    n_folds : of the comparison.
    seconds : that the trials may take; None: as long as they take.
    workers : trials side by side.
    small : units of a first look, where there are many more.
    n_test : units of the test part; None: as many as a fold judges.
    spared : units from which the score of one fold is enough to tune by.
    trials : settings of each contender that are tried, its default being the first, and trials of
        each search; None: all that there are, and what a search takes by itself or by its seconds.

    Attributes
    ----------
    standings : what is known of each contender, by name.
    elapsed : seconds of the search that had gone by with the last result.
    """

    def __init__(
        self,
        contenders: Sequence[Contender],
        *,
        n_learn: int,
        n_folds: int,
        seconds: float | None,
        workers: int,
        small: int = 2_000,
        n_test: int | None = None,
        spared: int = 20_000,
        trials: int | None = None,
    ):
        super().__init__()
        self.standings = {one.name: Standing(one) for one in contenders}
        self.n_learn, self.n_folds = n_learn, n_folds
        self.n_judged = min(n_learn // n_folds, MOST_JUDGED)
        self.n_test = self.n_judged if n_test is None else n_test
        self.seconds, self.workers = seconds, workers
        self.small, self.spared = small, spared
        self.trials = trials
        self.elapsed = 0.0
        self.passed_over: dict[str, str] = {}
        self._cpu = self._wall = 0.0

    # ── what is told ──

    def tell(self, candidate: Candidate, result: Result) -> None:
        if not isinstance(result, Mapping):
            raise RuntimeError(f"a trial gave {result!r}")
        standing = self.standings[candidate["method"]]
        self._cpu += float(result["cpu_s"])
        self._wall += float(result.get("work_s", result["wall_s"]))
        if "fault" in result:
            self._fault(standing, candidate, result)
        else:
            standing.costs.append(_cost_of(result))
            for outcome in result["outcomes"]:
                self._outcome(standing, candidate, outcome)
        super().tell(candidate, result)

    def _fault(self, standing: Standing, candidate: Candidate, result: Mapping) -> None:
        # With more units, or with other settings, it may be no fault; too slow it is with more.
        first = candidate["settings"] == [self._first_setting(standing)] and not standing.scores
        if first and (candidate["units"] == standing.units or result.get("over")):
            standing.fault, standing.late = str(result["fault"]), bool(result.get("over"))
        if standing.fault or candidate["fold"] == TEST:
            self.passed_over[standing.name] = str(result["fault"])

    def _outcome(self, standing: Standing, candidate: Candidate, outcome: Mapping) -> None:
        known = standing.judgements.setdefault(candidate["units"], Judgements())
        key, fold = json_text(outcome["setting"]), candidate["fold"]
        known.settings[key] = outcome["setting"]
        known.scores.setdefault(key, {})[fold] = float(outcome["score"])
        if fold == TEST:
            return
        known.details.setdefault(key, {})[fold] = outcome["details"]
        if candidate["units"] == standing.units and standing.found is None:
            standing.found = outcome.get("found")

    # ── the order ──

    def rounds(self) -> Rounds:
        every = list(self.standings.values())
        searches = [one for one in every if one.contender.searches]
        slow = [one for one in every if one.contender.cost >= _SLOW and one not in searches]
        quick = [one for one in every if one not in searches and one not in slow]
        inside = [one for one in quick if one.contender.role != "yardstick"]
        outside = [one for one in quick if one.contender.role == "yardstick"]
        yield from self._blind_answers(quick)
        yield from self._first_looks(quick)
        yield from self._first_answers(quick)
        yield from self._more_units(self._in_sight(inside))
        yield from self._other_folds(self._in_sight(quick))
        if self.seconds is not None:
            yield from self._tested(self._leaders(inside))
        yield from self._tuned(self._in_sight(inside))
        yield from self._other_folds(self._alive(quick))
        yield from self._tuned(outside)
        yield from self._tested()
        yield from self._first_looks(slow)
        yield from self._first_answers(slow)
        yield from self._other_folds([one for one in slow if one.contender.role != "yardstick"])
        yield from self._tested()
        yield from self._searched(searches)
        yield from self._tested()
        yield from self._other_folds(slow)
        yield from self._tested()

    def _blind_answers(self, standings: Sequence[Standing]) -> Rounds:
        """The prediction that looks at nothing takes no time, and without it nothing can be told.

        Its test part waits for the others' where the time is not limited.
        """
        blind = [one for one in standings if self._is_blind(one)]
        if blind:
            yield [self._trial(one, 0) for one in blind]
        if self.seconds is not None:
            yield from self._tested(blind)

    def _first_looks(self, standings: Sequence[Standing]) -> Rounds:
        """Where there are many units, what each costs is seen on few."""
        if self._of_fold() <= 1.5 * self.small or self._by_number:
            return
        tried = [
            one
            for one in standings
            if not self._is_blind(one) and self._cost(one, self.small) <= _TRY * self._left()
        ]
        yield from self._each([(one, self.small) for one in tried])

    def _each(self, trials: Sequence[tuple[Standing, int | None]]) -> Rounds:
        """The default of each on one fold; a single worker takes them one by one.

        So each has its limit from the time that those before it left.
        """
        step = 1 if self.workers == 1 else max(1, len(trials))
        for begin in range(0, len(trials), step):
            yield [self._trial(one, 0, units=units) for one, units in trials[begin : begin + step]]

    def _first_answers(self, standings: Sequence[Standing]) -> Rounds:
        """Every default on one fold, the cheapest first, on all units that it can afford."""
        waiting = [one for one in self._alive(standings) if one.best is None]
        waiting = sorted(
            waiting,
            key=lambda one: (
                one.contender.cost if self._by_number else self._cost(one, self._of_fold())
            ),
        )
        asked: list[Standing] = []
        left, last = self._left(), 0.0
        for one in waiting:
            one.units = self._affordable(one, left, last)
            # An outside model is measured as its users would run it, or not at all.
            handicapped = one.contender.role == "yardstick" and one.units is not None
            units = None if handicapped else one.units
            cost, last_fit = self._with_test(one, units), max(last, self._last_fit(one, units))
            if handicapped or (cost + last_fit > left and not self._is_blind(one)):
                self._pass_over(one, cost)
            else:
                left, last = left - cost, last_fit
                asked.append(one)
        yield from self._each([(one, one.units) for one in asked])
        # Who took far longer than it did on a few units is asked again for fewer.
        for one in asked:
            if not one.late or not one.costs or one.contender.role == "yardstick":
                continue
            one.units = max(_FEW, min(one.units or self._of_fold(), self._of_fold()) // 4)
            if self._with_test(one, one.units) + self._last_fit(one, one.units) <= self._left():
                one.fault, one.late = "", False
                self.passed_over.pop(one.name, None)
                yield [self._trial(one, 0)]

    def _affordable(self, one: Standing, left: float, last: float) -> int | None:
        """Units of which a contender can afford a fold, the test part and a last fit.

        ``left`` is what is left when those before it have theirs, ``last`` the costliest last fit
        of these.
        """
        if self.seconds is None or not one.costs:
            return None
        room = self._left(reserve=False)
        # Nobody waits for one that comes when all else is done.
        first = 1.0 if one.contender.cost >= _SLOW else _FIRST

        def fits(units: int, share: float) -> bool:
            both, last_fit = self._with_test(one, units), self._last_fit(one, units)
            # They come one after the other, however many workers there are.
            alone = self.workers * both + last_fit <= room
            in_all = alone and both + max(last, last_fit) <= left
            return in_all and (share == 1 or both + self._test_cost(one, units) <= share * room)

        units = self._of_fold()
        if fits(units, first):
            return None
        while units > _FEW and not fits(units, _AFFORDED):
            units //= 2
        return max(units, min(_FEW, self._of_fold()))

    def _more_units(self, standings: Sequence[Standing]) -> Rounds:
        """Those that learned from some units learn from more, or all, if it fits; best first.

        What they cost is known better now, and others may have taken less than was planned for.
        """
        if self.seconds is None:
            return
        asked: list[tuple[Standing, int | None, dict[str, Any]]] = []
        left, last = self._left(), self._last_cost()
        for one in self._ranked(standings):
            if one.units is None:
                continue
            of_fold = self._of_fold()
            for units in (None, of_fold // 2, of_fold // 4, of_fold // 8, of_fold // 16):
                if units is not None and units < 1.5 * one.units:
                    break
                cost = self._with_test(one, units) + self._cost(one, units)
                more = max(0.0, self._last_fit(one, units) - last)
                if self.workers * cost + more <= left:
                    left, last = left - cost - more, last + more
                    before, one.units = one.units, units
                    asked.append((one, units, self._trial(one, 0)))
                    one.units = before
                    break
        if asked:
            yield [trial for _, _, trial in asked]
        for one, units, _ in asked:
            if one.judgements.get(units, Judgements()).scores:
                one.units = units

    def _with_test(self, one: Standing, units: int | None) -> float:
        """What a fold and the test part take."""
        return self._cost(one, units) + self._test_cost(one, units)

    def _other_folds(self, standings: Sequence[Standing]) -> Rounds:
        """The folds that the best setting was not judged on yet, contenders best first."""
        for one in self._ranked(standings):
            key = one.best
            if key is None:
                continue
            done = {fold for fold, _ in one.folds(key)}
            folds = [fold for fold in range(self.n_folds) if fold not in done]
            cost = self._of_round(len(folds), self._cost(one, one.units))
            if folds and (self._is_blind(one) or cost <= self._left()):
                yield [self._trial(one, fold, [one.settings[key]]) for fold in folds]

    def _tuned(self, standings: Sequence[Standing]) -> Rounds:
        """Axis by axis, on each of them the contenders best first."""
        most = max((len(one.contender.axes) for one in standings), default=0)
        for place in range(most):
            for one in self._ranked(standings):
                key = one.best
                axis = next(islice(one.contender.axes, place, None), None)
                if key is None or axis is None or self._is_blind(one):
                    continue
                settings = one.contender.varied(one.settings[key], axis)
                if self.trials is not None:
                    settings = settings[: max(0, self.trials - len(one.settings))]
                done = [fold for fold, _ in one.folds(key)]
                cost = len(settings) * self._cost(one, one.units)
                # Who was tested already is tested again, if tuning finds something better.
                left = self._left() - (
                    self._test_cost(one, one.units) if one.tested == key else 0.0
                )
                if not settings or self._of_round(1, cost) > left:
                    continue
                all_folds = self._of_fold() < self.spared
                all_folds = all_folds and self._of_round(len(done), cost) <= left
                if all_folds and len(done) > 1:
                    yield [self._trial(one, fold, settings) for fold in done]
                    continue
                yield [self._trial(one, 0, settings)]
                better = self._better_at_first(one, key, settings)
                others = [fold for fold in done if fold != 0]
                cost = self._of_round(len(others), self._cost(one, one.units))
                if better and others and cost <= self._left():
                    yield [self._trial(one, fold, [better]) for fold in others]

    def _better_at_first(
        self, one: Standing, key: str, settings: Sequence[Setting]
    ) -> Setting | None:
        """The setting that did best on the first fold, if it did better than the best so far."""
        keys = [found for found in map(json_text, settings) if 0 in one.scores.get(found, {})]
        if not keys:
            return None
        best = max(keys, key=lambda found: one.scores[found][0])
        return one.settings[best] if one.scores[best][0] > one.scores[key][0] else None

    def _searched(self, standings: Sequence[Standing]) -> Rounds:
        """Searches get a share of what is left; on few units all folds."""
        if self.seconds is None:
            for one in standings:
                yield [self._trial(one, fold) for fold in range(self.n_folds)]
            return
        for_time = [one for one in standings if "seconds" in one.contender.axes]
        others = [one for one in standings if one not in for_time]
        for begin in range(0, len(for_time), self.workers):
            yield from self._searched_for_time(
                for_time[begin : begin + self.workers], len(standings) - begin
            )
        for place, one in enumerate(others):
            share = max(_SEARCH_SHARE, 0.8 / (len(others) - place))
            room = share * self._left() / self.workers
            units = min(self.small, self._of_fold())
            if units < self._of_fold():
                limit = max(_LEAST_LIMIT, 0.3 * room)
                yield [self._trial(one, 0, units=units, limit=limit)]
                if one.fault:
                    continue
                cost = self._with_test(one, None) + self._last_fit(one, None) / self.workers
                if cost > room:
                    self._pass_over(one, cost)
                    continue
            yield [self._trial(one, 0, limit=max(_LEAST_LIMIT, room))]
            cost = self._of_round(self.n_folds - 1, self._cost(one, one.units))
            if one.best and cost <= 0.5 * self._left():
                yield [self._trial(one, fold) for fold in range(1, self.n_folds)]

    def _searched_for_time(self, standings: Sequence[Standing], waiting: int) -> Rounds:
        """Searches that take the time they are given, side by side.

        Parameters
        ----------
        standings : as many as there are workers, at most.
        waiting : searches that have no time yet, these included.
        """
        share = max(_SEARCH_SHARE, 0.8 * len(standings) / waiting)
        room = share * self._left() / self.workers
        # What is found is fitted to a fold, to all that is learned from, and once more.
        known = [one for one in self._ranked([*self.standings.values()]) if not self._is_blind(one)]
        fits = [
            self._with_test(one, None) + self._last_fit(one, None) / self.workers for one in known
        ]
        after = 2 * max(fits, default=np.inf)
        able = [float(s) for s in _SEARCH_SECONDS if min(2.5 * s, s + after) <= room]
        if not able:
            for one in standings:
                self._pass_over(one, 2.5 * _SEARCH_SECONDS[0] * self.workers)
            return
        trials = []
        for one in standings:
            setting = self._first_setting(one) | {"seconds": max(able)}
            # The search keeps to its seconds by itself; a limit that follows from them alone is
            # the same when the run goes on.
            trials.append(self._trial(one, 0, [setting]) | {"limit": 2 * max(able) + 10})
        yield trials

    def _leaders(self, standings: Sequence[Standing]) -> list[Standing]:
        """Those without whose figures on the test part nothing can be said: a few, and early."""
        ranked = self._ranked(standings)
        blind = [one for one in ranked if self._is_blind(one)]
        baselines = [one for one in ranked if one.contender.role == "baseline"]
        others = [one for one in ranked if one not in blind]
        return list({one.name: one for one in [*blind, *others[:1], *baselines[:1]]}.values())

    def _tested(self, standings: Sequence[Standing] | None = None) -> Rounds:
        """The test part, with the best setting of each: the leaders first."""
        alive = self._alive(list(self.standings.values()) if standings is None else standings)
        blind = [one for one in alive if self._is_blind(one)]
        order = blind + [one for one in self._ranked(alive) if one not in blind]
        asked: list[dict[str, Any]] = []
        planned = 0.0
        # Of the best one the figure on the test part is needed, and of chance.
        inside = [one for one in order if one.contender.role not in ("yardstick", "chance")]
        for one in order:
            key = one.best
            if key is None or one.tested == key:
                continue
            cost = self._test_cost(one, one.units)
            left = self._left(reserve=False) - planned - self._last_cost()
            needed = self._is_blind(one) or one in inside[:1]
            needed = needed or cost <= _TRIFLE * self._wall_left() * self.workers
            if self.seconds is not None and not needed and cost > left:
                self.passed_over.setdefault(one.name, "there was no time for the test part")
                continue
            planned += cost
            one.tested = key
            asked.append(self._test(one, key))
        if asked:
            yield asked

    def _test(self, one: Standing, key: str) -> dict[str, Any]:
        setting = one.settings[key]
        if one.contender.searches and one.found is not None:
            setting = one.found
        candidate = self._trial(one, TEST, [setting])
        details = [one.details[key][fold] for fold, _ in one.folds(key)]
        kept = [
            {name: found[name] for name in ("calibration", "steps") if name in found}
            for found in details
        ]
        if any(kept):
            candidate["calibration"] = kept
        return candidate

    def _trial(
        self,
        one: Standing,
        fold: int | str,
        settings: Sequence[Setting] | None = None,
        *,
        units: int | None = None,
        limit: float | None = None,
    ) -> dict[str, Any]:
        settings = [self._first_setting(one)] if settings is None else list(settings)
        units = one.units if units is None else units
        candidate: dict[str, Any] = {
            "method": one.name, "fold": fold, "units": units, "settings": settings,
        }  # fmt: skip
        if self.seconds is not None:
            if limit is None:
                of_part = self._test_cost if fold == TEST else self._cost
                expected = len(settings) * of_part(one, units)
                limit = _SLACK * expected * self._slowness()
                if not one.costs:
                    limit = max(_TRY * self.seconds, 2 * expected)
                limit = max(limit, _LEAST_LIMIT)
                if one.contender.cost >= _SLOW:
                    # It comes when all else is done, and may have what is left.
                    limit = max(limit, _AFFORDED_LAST * self._wall_left())
                elif fold != TEST:
                    # The test part takes as long once more.
                    limit = min(limit, 0.5 * self._wall_left())
            # The end's share of the time is not to be had.
            kept = 0.0 if fold == TEST else self._reserve() * self._slowness() / self.workers
            limit = min(limit, max(0.5, self._wall_left() - kept))
            # In steps, for a limit is part of what a trial is known by: most trials of a run find
            # theirs again when the run goes on with more time.
            candidate["limit"] = float(2 ** np.floor(np.log2(limit)))
        return candidate

    def _first_setting(self, one: Standing) -> Setting:
        """Its default; a search is told how many trials it has, where their number is limited."""
        setting = one.contender.default
        if self.trials is None or not one.contender.searches:
            return setting
        if self._by_number and "seconds" in setting:
            setting = setting | {"seconds": None}
        return setting | {"trials": self.trials}

    @property
    def _by_number(self) -> bool:
        """Whether the number of settings is all that is limited."""
        return self.trials is not None and self.seconds is None

    def settle(self) -> None:
        """Who answered on a few units only, when the time was over, stands with that."""
        for one in self.standings.values():
            gave_up = one.fault and not one.late
            if one.best is None and not gave_up and one.contender.role != "yardstick":
                known = [units for units, found in one.judgements.items() if found.scores]
                one.units = max((units for units in known if units), default=one.units)

    # ── who ──

    def _is_blind(self, one: Standing) -> bool:
        return one.contender.role == "chance"

    def _alive(self, standings: Sequence[Standing]) -> list[Standing]:
        return [one for one in standings if not one.fault and one.name not in self.passed_over]

    def _ranked(self, standings: Sequence[Standing]) -> list[Standing]:
        """Those that have a score, best first; those who know nothing before all."""
        scored = [one for one in self._alive(standings) if one.best is not None]
        return sorted(scored, key=lambda one: (not self._is_blind(one), -one.mean(str(one.best))))

    def _in_sight(self, standings: Sequence[Standing]) -> list[Standing]:
        """Those that may still win, as far as the time is limited."""
        ranked = self._ranked(standings)
        blind = [one for one in ranked if self._is_blind(one)]
        if self.seconds is None or not blind or len(ranked) < 3:
            return ranked
        means = {one.name: one.mean(str(one.best)) for one in ranked}
        top = max(means[one.name] for one in ranked if one.contender.role != "yardstick")
        least = top - _BEHIND * max(0.0, top - means[blind[0].name])
        left = self._left()
        return [
            one
            for one in ranked
            if means[one.name] >= least
            or self._is_blind(one)
            or self.n_folds * self._cost(one, one.units) <= _CHEAP * left
        ]

    def _pass_over(self, one: Standing, cost: float) -> None:
        left, takes = max(0.0, self._left()) / self.workers, cost / self.workers
        self.passed_over[one.name] = "there was no time left for it"
        if left >= 1:
            self.passed_over[one.name] = (
                f"it would take about {about(takes)}, and {about(left)} were left"
            )

    # ── what it costs ──

    def _of_fold(self) -> int:
        return self.n_learn * (self.n_folds - 1) // self.n_folds

    def _slowness(self) -> float:
        """How much longer trials take than their CPU time, where other work is on the machine."""
        return float(np.clip(self._wall / self._cpu, 1.0, 4.0)) if self._cpu > 0.5 else 1.5

    def _wall_left(self) -> float:
        return np.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed)

    def _left(self, reserve: bool = True) -> float:
        """Seconds of work that can still be planned; the end's are kept apart."""
        if self.seconds is None:
            return np.inf
        left = _USABLE * self._wall_left() * self.workers / self._slowness()
        return left - (self._reserve() if reserve else 0.0)

    def _reserve(self) -> float:
        """What the test part and the last fit will take."""
        scored = self._ranked(list(self.standings.values()))
        costs = [self._test_cost(one, one.units) for one in scored if one.tested != one.best]
        # However many workers there are, the longest is one alone.
        return max(sum(costs), self.workers * max(costs, default=0.0)) + self._last_cost()

    def _test_cost(self, one: Standing, units: int | None) -> float:
        return self._seconds(one, self._at_most(units, self.n_learn), self.n_test)

    def _last_cost(self) -> float:
        """The last fit is one alone, however many workers there are."""
        ranked = [
            one
            for one in self._ranked(list(self.standings.values()))
            if one.contender.role != "yardstick" and not self._is_blind(one)
        ]
        return self._last_fit(ranked[0], ranked[0].units) if ranked else 0.0

    def _last_fit(self, one: Standing, units: int | None) -> float:
        if one.contender.role == "yardstick":
            return 0.0
        return self.workers * 1.3 * self._seconds(one, self._at_most(units, self.n_learn), 0)

    def _cost(self, one: Standing, units: int | None) -> float:
        """What one setting is expected to take in a fold, learned from so many units, or all."""
        return self._seconds(one, self._at_most(units, self._of_fold()), self.n_judged)

    def _of_round(self, n: int, each: float) -> float:
        """What a round of trials takes up, with the workers that have nothing to do in it."""
        return -(-n // self.workers) * self.workers * each

    @staticmethod
    def _at_most(units: int | None, whole: int) -> int:
        return whole if units is None else min(units, whole)

    def _seconds(self, one: Standing, units: int, judged: int) -> float:
        if not one.costs:
            other, times = one.contender.costs_like
            known = self.standings.get(other)
            return times * self._seconds(known, units, judged) if known else 0.0
        fits = [(cost.units, cost.fit) for cost in one.costs]
        asks = [(cost.units, cost.ask * judged) for cost in one.costs]
        (_, fit), (_, ask) = max(fits), max(asks)
        # Of a trial that is over at once most is what any trial takes.
        growth = _GROWTH if fit + ask > _AT_ONCE else _GROWTH_AT_ONCE
        # Who learns at once, as a memory does, has the more to do the more it has stored.
        of_asking = growth if ask > fit else _OF_ASKING
        return extrapolated(fits, units, growth) + extrapolated(asks, units, of_asking)


def extrapolated(costs: Sequence[tuple[int, float]], units: int, growth: float) -> float:
    """Seconds that so many units will take, from what others took.

    Parameters
    ----------
    costs : (units, seconds).
    growth : power of the units by which it grows, where costs do not tell.

    With two costs that are far enough apart the power is theirs.  Is it below one, then a part of
    the seconds is the same for any number of units, and the rest grows with their number.

    Examples
    --------
    >>> round(extrapolated([(1_000, 2.0)], 4_000, growth=1.0), 2)
    8.0
    >>> round(extrapolated([(1_000, 2.0), (4_000, 32.0)], 8_000, growth=1.0), 2)
    128.0
    >>> round(extrapolated([(1_000, 2.0), (4_000, 5.0)], 8_000, growth=1.0), 2)
    9.0
    """
    most, took = max(costs)
    least, before = min(costs)
    if most <= 1.5 * least or before <= _TOLD_FROM:
        return took * (units / most) ** growth
    power = np.log(took / before) / np.log(most / least)
    if power > 1:
        return took * (units / most) ** min(float(power), _STEEPEST)
    along = took + (took - before) / (most - least) * (units - most)
    return max(along, took * (units / most) ** (_FLATTEST if units > most else 1.0))


def _cost_of(result: Mapping[str, Any]) -> Cost:
    """What a trial took for each of its settings."""
    outcomes = result["outcomes"]
    asked = sum(float(one["predict_s"]) for one in outcomes) / len(outcomes)
    fitted = max(0.0, float(result["cpu_s"]) / len(outcomes) - asked)
    return Cost(int(result["learned"]), fitted, asked / max(int(result["judged"]), 1))
