"""Screening: what each of thousands of templates would bring to a CRF, without training it in.

Sentences are dealt into five parts.  The first is only ever judged.  For each of the other four a
CRF is trained on the three that remain; so every sentence has probabilities of labels from CRFs
that have not seen it, and no CRF has seen the first part.  A template is scored by one Newton step
(see :mod:`featloom.kernels.screening`) that is taken on four parts and judged on the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from featloom.data.table import NominalTable
from featloom.features.expansion import TemplateExpansion
from featloom.features.template import Template
from featloom.kernels import screening as kernel
from featloom.kernels.templates import number_keys
from featloom.learners.sequence_model import SequenceData, SequenceModel, Training
from featloom.methods.template_search.candidates import Place, Places

PARTS = 5
_SURE = 0.99  # tokens whose likeliest label has more probability are left out
_MOST_TOKENS = 60_000  # that are kept, the least sure ones
_MOST_LABELS = 4  # likeliest labels that are kept of a token
_DAMPING = np.float32(1.0)  # of the Newton step
_POWERS = tuple(round(0.5 + 0.05 * n, 2) for n in range(15))
_AT_ONCE = 16  # templates that a thread scores in one go
_MOST_KEYS = 1 << 62


class PartModels:
    """CRFs over the same templates, each of which has not seen two of the five parts.

    Parameters
    ----------
    table : sentences with labels and all derived columns.
    seed : of how the sentences are dealt, and of the training.
    threads : they change the time and nothing else.
    c2 : penalty of a CRF that is trained on all sentences.
    """

    def __init__(self, table: NominalTable, seed: int, threads: int, c2: float = 1.0):
        self.table, self.seed, self.threads, self.c2 = table, seed, threads, c2
        self.bounds = table.bounds
        n = len(self.bounds) - 1
        self.part_of = np.empty(n, dtype=np.int64)
        self.part_of[np.random.default_rng(seed).permutation(n)] = np.arange(n) % PARTS
        self.expansion: TemplateExpansion | None = None
        self.models: dict[int, SequenceModel] = {}

    def train(self, templates: Sequence[Places], passes: int) -> None:
        """Train with these templates, from the weights there are."""
        expansion = TemplateExpansion(self.table, [Template(p) for p in templates], cutoff=2)
        self.data = SequenceData.of(self.bounds, expansion.features, self.table.labels)
        known = None if self.expansion is None else expansion.same_features(self.expansion)
        share = (PARTS - 2) / PARTS
        how = Training(passes, c2=self.c2 * share, seed=self.seed)
        for part in range(1, PARTS):
            model = SequenceModel.zeros("crf", len(self.table.classes), expansion.n_features)
            if known is not None:
                before = self.models[part]
                model.weights[known >= 0] = before.weights[known[known >= 0]]
                model.pair_weights[...] = before.pair_weights
            seen = np.flatnonzero((self.part_of != 0) & (self.part_of != part))
            self.models[part] = model.train(self.data.take(seen), how, threads=self.threads)
        self.expansion = expansion

    def posteriors(self) -> tuple[np.ndarray, np.ndarray]:
        """P(label) of every token by models that have not seen it, and whether it is judged."""
        shares = np.zeros((len(self.table), len(self.table.classes)), dtype=np.float32)
        part_of_token = np.repeat(self.part_of, np.diff(self.bounds))
        judged = part_of_token == 0
        first = self.data.take(np.flatnonzero(self.part_of == 0))
        for part, model in self.models.items():
            mine = self.data.take(np.flatnonzero(self.part_of == part))
            shares[part_of_token == part] = model.probabilities(mine, threads=self.threads)
            shares[judged] += model.probabilities(first, threads=self.threads) / len(self.models)
        return shares, judged

    def loss(self, without: int | None = None) -> float:
        """−log P(gold) of a judged token, as if the template of this number were not there."""
        first = self.data.take(np.flatnonzero(self.part_of == 0))
        if without is not None:
            first.features[:, without] = -1
        gold = first.gold
        models = self.models.values()
        shares = np.mean([m.probabilities(first, threads=self.threads) for m in models], axis=0)
        of_gold = shares[np.arange(len(gold)), gold]
        return float(-np.log(np.maximum(of_gold, 1e-12)).mean())


class Screen:
    """Scores templates against the posteriors of some models.

    Parameters
    ----------
    models : trained ones.
    window : the largest offset of a place.
    """

    def __init__(self, models: PartModels, window: int):
        table, self.bounds = models.table, models.bounds
        self.table, self.window = table, window
        self.threads = models.threads
        shares, judged = models.posteriors()
        gold = table.label_codes
        shares = _calibrated(shares, gold, ~judged)
        of_judged = shares[judged, gold[judged]]
        self.loss = float(-np.log(np.maximum(of_judged, 1e-12)).mean())
        self.n_judged = int(judged.sum())
        top = shares.max(axis=1)
        sure = _SURE
        if len(top) > _MOST_TOKENS:
            sure = min(sure, float(np.partition(top, _MOST_TOKENS)[_MOST_TOKENS]))
        unsure = top < sure
        self.tokens = np.concatenate(
            [np.flatnonzero(unsure & ~judged), np.flatnonzero(unsure & judged)]
        )
        self.learned = int((unsure & ~judged).sum())
        sentence_of = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        self.sentence_of = sentence_of[self.tokens]
        self.n_labels = len(table.classes)
        most = min(_MOST_LABELS, self.n_labels)
        self.labels = kernel.likeliest_labels(shares[self.tokens], gold[self.tokens], most)
        self.shares = np.ascontiguousarray(shares[self.tokens[:, None], self.labels])
        self._places: dict[Place, tuple[np.ndarray, int]] = {}

    def gains(self, templates: Sequence[Places]) -> np.ndarray:
        """For each template its gain in nats, and its standard error: (templates, 2)."""
        found = np.empty((len(templates), 2))
        for places in templates:
            for place in places:
                self._place(place)

        def score(first: int) -> None:
            for number in range(first, min(first + _AT_ONCE, len(templates))):
                found[number] = kernel.template_gain(
                    self._keys(templates[number]), self.learned, self.labels, self.shares,
                    self.n_labels, _DAMPING,
                )  # fmt: skip

        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            list(pool.map(score, range(0, len(templates), _AT_ONCE)))
        return found

    def take(self, places: Places) -> None:
        """Go on as if a template had been learned."""
        kernel.take_steps(
            self._keys(places), self.learned, self.labels, self.shares, self.n_labels, _DAMPING
        )

    def _place(self, place: Place) -> tuple[np.ndarray, int]:
        if place not in self._places:
            column, offset = self.table.column_index(place[0]), place[1]
            n_values = len(self.table.vocabularies[column]) + 1
            codes = kernel.place_codes(
                self.table.codes[:, column], self.bounds, self.sentence_of, self.tokens, offset,
                n_values, self.window,
            )  # fmt: skip
            self._places[place] = codes, n_values + 2 * self.window
        return self._places[place]

    def _keys(self, places: Places) -> np.ndarray:
        codes, radixes = zip(*(self._place(place) for place in places), strict=True)
        columns, sizes = list(codes), list(radixes)
        while math.prod(sizes) > _MOST_KEYS:
            # The first places are numbered anew, so that keys of long templates have room.
            keys = kernel.join_codes(np.stack(columns[:2]), np.array(sizes[:2], dtype=np.int64))
            numbers, known = number_keys(keys)
            columns[:2], sizes[:2] = [numbers], [len(known)]
        return kernel.join_codes(np.stack(columns), np.array(sizes, dtype=np.int64))


def _calibrated(shares: np.ndarray, gold: np.ndarray, learned: np.ndarray) -> np.ndarray:
    """Probabilities raised to the power that suits the learned tokens best.

    A model that is too sure of itself would make every coarse template look good, for all that
    it teaches is doubt.
    """
    logs = np.log(np.maximum(shares, 1e-12))

    def raised(power: float, rows) -> np.ndarray:
        powers = np.exp(np.float32(power) * logs[rows])
        return powers / powers.sum(axis=1, keepdims=True)

    some = np.flatnonzero(learned)[::4]
    losses = [
        -np.log(raised(power, some)[np.arange(len(some)), gold[some]]).mean() for power in _POWERS
    ]
    return raised(_POWERS[int(np.argmin(losses))], slice(None))
