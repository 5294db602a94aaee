"""The work of a search: training a model on some templates, screening others.

Both are deterministic.  Screening starts from models that carry their weights over from round to
round; a search that is resumed in the middle trains them again, in the same rounds, but only when
a result is asked for that nobody has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.chunks import chunk_counts
from featloom.evaluation.metrics import f1_of_counts
from featloom.features.expansion import TemplateExpansion
from featloom.features.template import Template
from featloom.learners.sequence_model import SequenceData, SequenceModel, Training
from featloom.methods.template_search.candidates import CandidateTemplates, Places
from featloom.methods.template_search.decisions import from_plain, plain
from featloom.methods.template_search.screen import PartModels, Screen

FIRST_PASSES, MORE_PASSES = 8, 4
WAITING = 400  # templates that are scored again in the next round, the best ones
_LAZY = 16  # templates that are scored again in one go
_EXTENDED = 50  # templates that are tried with one place more
_SCREEN_C2 = 3.0  # sparse models are too sure of themselves; see Screen


class TemplateEvaluation:
    """Does pieces of work.

    Parameters
    ----------
    table : sentences with labels and derived columns.
    candidates : the templates there are.
    seed, threads : the threads change the time and nothing else.
    passes, cutoff : of the models that are trained to be judged.
    """

    def __init__(
        self,
        table: NominalTable,
        candidates: CandidateTemplates,
        *,
        seed: int = 0,
        threads: int = 1,
        passes: int = 10,
        cutoff: int = 1,
    ):
        self.table, self.candidates = table, candidates
        self.seed, self.threads, self.passes, self.cutoff = seed, threads, passes, cutoff
        self._parts = PartModels(table, seed, threads, c2=_SCREEN_C2)
        self._trained: list[list[Places]] = []  # rounds that the models have gone through
        self._waiting: dict[int, list[tuple[Places, float]]] = {}

    def __call__(self, work: Mapping[str, Any]) -> dict[str, Any]:
        if work["work"] == "train":
            return self.train(from_plain(work["templates"]), work["model"], work["seed"])
        rounds = [from_plain(templates) for templates in work["rounds"]]
        if work["work"] == "prune":
            return self.prune(rounds)
        return self.screen(rounds, work["pick"], work["extend"])

    def at_home(self, work: Mapping[str, Any]) -> bool:
        """Whether a piece of work goes on from earlier ones, and so is done where those were."""
        return work["work"] != "train"

    def train(self, templates: Sequence[Places], kind: str, seed: int) -> dict[str, Any]:
        """Train on four parts, and tag the one that screening does not judge by."""
        expansion = TemplateExpansion(
            self.table, [Template(places) for places in templates], self.cutoff
        )
        data = SequenceData.of(self._parts.bounds, expansion.features, self.table.labels)
        model = SequenceModel.zeros(kind, len(self.table.classes), expansion.n_features)
        how = Training(self.passes, seed=seed)
        held_out = self._parts.part_of == 1
        model.train(data.take(np.flatnonzero(~held_out)), how, threads=self.threads)
        valid = data.take(np.flatnonzero(held_out))
        path = model.tag(valid, threads=self.threads)
        counts = counts_of(valid.labels, path, valid.bounds, self.table.classes)
        f1 = float(f1_of_counts(counts.sum(axis=0)))
        return {"score": f1, "counts": counts.tolist(), "features": expansion.n_features}

    def screen(self, rounds: list[list[Places]], pick: int, extend: bool) -> dict[str, Any]:
        """Train with the templates of all rounds, score others, and pick the best of them.

        A template that was picked counts as learned while the next one is chosen; scores are
        renewed from the top until the best one is new.
        """
        self._train_rounds(rounds)
        chosen = {places for templates in rounds for places in templates}
        screen = Screen(self._parts, self.candidates.window)
        gains = self._first_gains(screen, rounds, chosen, extend)
        errors: dict[Places, float] = {}
        picked = []
        new = set(gains)
        for _ in range(pick):
            while True:
                order = sorted(gains, key=lambda places: (-gains[places], places))
                if not order or order[0] in new:
                    break
                old = [places for places in order[: 2 * _LAZY] if places not in new][:_LAZY]
                self._score(screen, old, gains, errors)
                new.update(old)
            if not order:
                break
            best = order[0]
            error = errors.get(best)
            if error is None:
                error = float(screen.gains([best])[0, 1])
            picked.append([*plain([best]), gains.pop(best), error])
            screen.take(best)
            new = set()
        waiting = sorted(gains, key=lambda places: (-gains[places], places))[:WAITING]
        return {
            "score": -screen.loss,
            "picked": picked,
            "judged": screen.n_judged,
            "scored": self._n_scored,
            "waiting": [[*plain([places]), gains[places]] for places in waiting],
        }

    def prune(self, rounds: list[list[Places]]) -> dict[str, Any]:
        """How much the held-out loss of a token rises where a template's weights count for nothing.

        No model is trained without the template, which would make up for a part of it.
        """
        self._train_rounds(rounds)
        loss = self._parts.loss()
        n_templates = sum(len(templates) for templates in rounds)
        rises = [self._parts.loss(without=number) - loss for number in range(n_templates)]
        return {"score": -loss, "rises": rises}

    def remember(self, n_rounds: int, result: Mapping[str, Any]) -> None:
        """Which templates wait after so many rounds, as a result of screening has them."""
        self._waiting[n_rounds] = [(from_plain([p])[0], gain) for p, gain in result["waiting"]]

    def _first_gains(self, screen, rounds, chosen, extend: bool) -> dict[Places, float]:
        waiting = self._waiting.get(len(rounds) - 1)
        if waiting is None:
            some = self.candidates.first()
        else:
            some = [places for places, _ in waiting]
            if extend:
                roots = [places for places in some if 2 <= len(places) <= 3][:_EXTENDED]
                roots += [places for places in sorted(chosen) if len(places) == 2]
                some += [more for root in roots for more in self.candidates.extensions(root)]
        some = [places for places in dict.fromkeys(some) if places not in chosen]
        self._n_scored = len(some)
        gains: dict[Places, float] = {}
        self._score(screen, some, gains, {})
        return gains

    def _score(self, screen: Screen, templates, gains: dict, errors: dict) -> None:
        for places, (gain, error) in zip(templates, screen.gains(templates), strict=True):
            gains[places], errors[places] = float(gain), float(error)

    def _train_rounds(self, rounds: list[list[Places]]) -> None:
        """Train round after round, those that the models have not gone through."""
        if self._trained != rounds[: len(self._trained)]:
            self._parts = PartModels(self.table, self.seed, self.threads, c2=_SCREEN_C2)
            self._trained = []
        while len(self._trained) < len(rounds):
            passes = MORE_PASSES if self._trained else FIRST_PASSES
            self._trained.append(rounds[len(self._trained)])
            self._parts.train([p for templates in self._trained for p in templates], passes)


def counts_of(gold, predicted, bounds, classes) -> np.ndarray:
    """tp, fp, fn of each sentence: of chunks, or of tokens where labels spell no chunks."""
    try:
        return chunk_counts(gold, predicted, bounds, classes)
    except InputError:
        return chunk_counts(gold, predicted, bounds, classes, plain=True)
