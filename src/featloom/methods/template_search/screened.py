"""Our own procedure: screen thousands of templates, add the best few, train, and screen again.

A round trains CRFs (warm, on parts of the sentences), scores candidates by what they would take
off the loss of sentences that neither the CRFs nor the score has seen, and picks a few.  Single
places and pairs are scored in the first round; later ones score the best again, and now and then
the best of them joined with one place more.  Rounds end when no template takes off its share of
the loss.

Then sets of several sizes race: the templates up to some round, and all less those whose weights
the models can do without.  They are trained as CRFs with several seeds and judged by F1 on a part
of the sentences that the picks were not judged by.  Of sets whose F1 differs by no more than
chance, the smallest is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featloom.evaluation.metrics import f1_of_counts
from featloom.evaluation.significance import paired_bootstrap
from featloom.methods.template_search.candidates import Places, outward
from featloom.methods.template_search.decisions import StepByStep, Steps, from_plain, plain
from featloom.methods.template_search.evaluation import TemplateEvaluation

PICKED = 4  # templates a round
MOST = 62  # templates, unless a budget says otherwise
RACE_SEEDS = (0, 1)
CHANCE = 0.5  # a difference with a larger p is none
_EXTEND_AT = (3, 6, 9)  # rounds in which candidates grow by a place
_RACE_AT = (0.5, 0.75, 1.0)  # shares of the templates


class Screened(StepByStep):
    """Rounds of screening, then a race.

    Parameters
    ----------
    evaluation : which does the work; it is told what earlier rounds left waiting.
    given : the columns that were given, not derived; their nearest places are the start, as far
        as they are candidates (or else the first candidate).
    window : the largest offset.
    tolerance : the share of the held-out loss that a template must take off.
    most : how many templates there may be at most.
    """

    def __init__(
        self,
        evaluation: TemplateEvaluation,
        given: Sequence[str],
        *,
        window: int,
        tolerance: float,
        most: int | None,
        proxy: str,
    ):
        super().__init__()
        self.evaluation, self.tolerance, self.proxy = evaluation, tolerance, proxy
        self.most = MOST if most is None else most
        start: list[Places] = [((name, o),) for o in outward(min(2, window)) for name in given]
        candidates = evaluation.candidates.given
        if candidates is not None:
            start = [places for places in start if places in candidates] or candidates[:1]
        self.start = start[: self.most]
        self.rounds = [self.start]

    def steps(self) -> Steps:
        yield from self._grow()
        yield from self._race()

    def _grow(self):
        rounds = self.rounds
        self.templates = list(self.start)
        self.decide(self.start, kept=True, gain=None, cost=len(self.start), f1=None, by="start")
        while len(self.templates) < self.most:
            work = {
                "work": "screen",
                "rounds": [plain(templates) for templates in rounds],
                "pick": min(PICKED, self.most - len(self.templates)),
                "extend": len(rounds) - 1 in _EXTEND_AT,
            }
            (result,) = yield [work]
            self.evaluation.remember(len(rounds), result)
            picked = self._worth_it(result)
            if not picked:
                break
            rounds.append(picked)
            self.templates = [*self.templates, *picked]

    def _worth_it(self, result) -> list[Places]:
        """Of the picks those that take off enough, and more than chance would."""
        loss = -result["score"] * result["judged"]
        picked = []
        for template, gain, error in result["picked"]:
            (places,) = from_plain([template])
            enough = gain > self.tolerance * loss and gain > 2 * error
            self.decide(
                [places], kept=enough, gain=gain / result["judged"], cost=1, f1=None, by="screen"
            )
            if enough:
                picked.append(places)
        return picked

    def _race(self):
        n = len(self.templates)
        sizes = sorted({max(len(self.start), round(share * n)) for share in _RACE_AT})
        sets = [self.templates[:size] for size in sizes]
        if len(sets) > 1:
            sets.append((yield from self._pruned()))
            winner = yield from self._best_of(sorted(sets, key=len))
            self.templates = winner

    def _pruned(self):
        """The templates less those that the models do just as well without."""
        work = {"work": "prune", "rounds": [plain(templates) for templates in self.rounds]}
        (result,) = yield [work]
        least = -result["score"] * self.tolerance
        dropped = [
            places
            for places, rise in zip(self.templates, result["rises"], strict=True)
            if rise < least
        ]
        self.decide(dropped, kept=False, gain=None, cost=len(dropped), f1=None, by="prune")
        return [places for places in self.templates if places not in dropped]

    def _best_of(self, sets: list[list[Places]]):
        """The smallest set that chance alone sets apart from the best."""
        n_seeds = len(RACE_SEEDS)
        results = yield [
            {"work": "train", "templates": plain(templates), "model": self.proxy, "seed": seed}
            for templates in sets
            for seed in RACE_SEEDS
        ]
        counts = [
            np.sum([result["counts"] for result in results[n : n + n_seeds]], axis=0)
            for n in range(0, len(results), n_seeds)
        ]
        scores = [float(f1_of_counts(of_set.sum(axis=0))) for of_set in counts]
        best = int(np.argmax(scores))
        winner = best
        for smaller in range(best):
            if paired_bootstrap(counts[best], counts[smaller], resamples=2000).p > CHANCE:
                winner = smaller
                break
        for number, (templates, f1) in enumerate(zip(sets, scores, strict=True)):
            self.decide(
                templates, kept=number == winner, gain=f1 - scores[0], cost=len(templates), f1=f1,
                by="race",
            )  # fmt: skip
        return sets[winner]
