"""Log-linear sequence models over numbered features: training, tagging, probabilities.

The three models and the mathematics stand in :mod:`featloom.kernels.sequence`.  Here are the
arrays they need, the passes, and the threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from featloom.errors import InputError
from featloom.kernels import decoding
from featloom.kernels import sequence as kernel
from featloom.options import check, one_of, whole
from featloom.pool import in_threads

KINDS = {"maxent": kernel.MAXENT, "memm": kernel.MEMM, "crf": kernel.CRF}
_BLOCK = 256  # sentences that are tagged in one go
# A step adds up the gradients of its tokens: with many more than this it goes much too far.
_STEP_TOKENS = 200
_STRETCH = 250  # longer sentences are learned in stretches of so many tokens
# A feature that every token has moves the score of a token by the rate times the number of its
# features: steps stay steady where that product does.
_RATE, _HIGHEST_RATE = 2.0, 0.2
_WEIGHTS = 1_300_000_000  # that are looked at where nobody says how often, between these passes
_FEWEST, _MOST = 10, 200
_SAMPLE = 2000  # tokens, or a tenth where that is more, that tell what a pass did to the objective
# Steps are rough at first: a pass that ends so many times above the objective before is undone.
_RISE = 1.1


@dataclass(frozen=True, eq=False)
class SequenceData:
    """Sentences as numbers: bounds, features of tokens and of label pairs, gold labels.

    ``pair_features`` has a column of zeros (the feature that always holds) and one for each
    template that looks at a label pair together with observations.
    """

    bounds: np.ndarray
    features: np.ndarray
    pair_features: np.ndarray
    labels: np.ndarray | None = None

    @classmethod
    def of(cls, bounds, features, labels=None, pair_features=None) -> SequenceData:
        """With the plain label pair alone unless more is given."""
        always = np.zeros((len(features), 1), dtype=np.int32)
        if pair_features is not None and pair_features.shape[1]:
            # Number 0 is the feature that always holds.
            always = np.hstack([always, np.where(pair_features >= 0, pair_features + 1, -1)])
        return cls(
            np.asarray(bounds, dtype=np.int64),
            np.ascontiguousarray(features, dtype=np.int32),
            np.ascontiguousarray(always, dtype=np.int32),
            None if labels is None else np.asarray(labels, dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def gold(self) -> np.ndarray:
        """The labels, of sentences that must have them."""
        if self.labels is None:
            raise InputError("the sentences have no labels")
        return self.labels

    def take(self, sentences: np.ndarray) -> SequenceData:
        """Some of the sentences, in the order given."""
        begin, end = self.bounds[sentences], self.bounds[sentences + 1]
        lengths = end - begin
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        rows = np.repeat(begin - bounds[:-1], lengths) + np.arange(bounds[-1])
        labels = None if self.labels is None else self.labels[rows]
        return SequenceData(bounds, self.features[rows], self.pair_features[rows], labels)


@dataclass(frozen=True)
class Training:
    """How a model is trained.

    Parameters
    ----------
    passes : over the sentences; None: 10 on a large text and up to 200 on a small one, as many as
        a second or two has time for.
    batch : sentences a step, or fewer where these have more than 200 tokens; longer sentences are
        learned in stretches of 250 tokens.
    rate : learning rate at the start, from where it falls evenly to 0; None: 2 divided by the
        number of features of a token, at most .2 and 5 / c2.
    c2 : L2 penalty c2 |w|² of the whole data, as in crfsuite.
    seed : of the order of the sentences.
    """

    passes: int | None = None
    batch: int = 32
    rate: float | None = None
    c2: float = 1.0
    seed: int = 0

    def passes_and_rate(self, data: SequenceData, width: int) -> tuple[int, float]:
        """Those that are given, or those that fit the data."""
        n_features = max(int(np.count_nonzero(data.features >= 0)), 1)
        passes, rate = self.passes, self.rate
        if passes is None:
            passes = min(max(-(-_WEIGHTS // (n_features * width)), _FEWEST), _MOST)
        if rate is None:
            rate = min(_RATE * len(data.features) / n_features, _HIGHEST_RATE)
            if self.c2 > 0:  # the penalty of a pass at this rate leaves e⁻¹⁰ of a weight
                rate = min(rate, 5.0 / self.c2)
        return passes, rate


@dataclass(eq=False)
class SequenceModel:
    """Weights of a maximum-entropy model, a MEMM or a CRF.

    ``weights`` is (features, width) and ``pair_weights`` (pair features, labels, width), width
    being the number of labels rounded up to eight.  ``losses`` are those met in each pass,
    ``undone`` the passes (from 0) that were taken back.
    """

    kind: str
    n_labels: int
    weights: np.ndarray
    pair_weights: np.ndarray
    losses: list[float] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)

    @classmethod
    def zeros(cls, kind: str, n_labels: int, n_features: int, n_pair_features: int = 1):
        """A model that knows nothing yet."""
        check({"model": one_of(KINDS)}, {"model": kind})
        width = -(-n_labels // 8) * 8
        return cls(
            kind,
            n_labels,
            np.zeros((n_features, width), dtype=np.float32),
            np.zeros((n_pair_features, n_labels, width), dtype=np.float32),
        )

    def train(
        self,
        data: SequenceData,
        how: Training,
        *,
        threads: int = 1,
        on_pass: Callable[[int, float], bool | None] | None = None,
    ) -> SequenceModel:
        """Train on sentences, from the weights as they are.

        A pass that raises the objective, loss and penalty, by a tenth is undone, and those that
        follow go half as far; a sample of the sentences stands for all.
        ``on_pass(passes done, loss)`` is called after each pass; True ends the training there.
        """
        n_passes, rate = how.passes_and_rate(data, self.weights.shape[1])
        passes = _Passes(self, data, how, threads)
        objective = _SampledObjective(self, passes, how)
        before = objective()
        kept = self.weights.copy(), self.pair_weights.copy()
        for number in range(n_passes):
            loss = passes.run(rate, number / n_passes, 1 / n_passes)
            self.losses.append(loss)
            now = objective()
            if now <= _RISE * before:
                before = now
                np.copyto(kept[0], self.weights)
                np.copyto(kept[1], self.pair_weights)
            else:  # or it is no number any more
                np.copyto(self.weights, kept[0])
                np.copyto(self.pair_weights, kept[1])
                rate /= 2
                self.undone.append(number)
            if on_pass is not None and on_pass(number + 1, loss):
                break
        return self

    def loss(self, data: SequenceData) -> float:
        """The sum of −log P(gold) over the sentences whose labels are all known."""
        known = (data.gold >= 0) & (data.gold < self.n_labels)
        ends = np.concatenate(([0], np.cumsum(~known)))[data.bounds]
        return _Passes(self, data.take(np.flatnonzero(np.diff(ends) == 0)), Training(), 1).loss()

    def tag(self, data: SequenceData, *, threads: int = 1, allowed=None) -> np.ndarray:
        """The best label of every token, the labels of a sentence together."""
        path = np.zeros(len(data.features), dtype=np.int32)
        allowed = np.empty((0, 0), dtype=np.bool_) if allowed is None else allowed
        self._by_blocks(decoding.tag_sentences, data, threads, allowed, path)
        return path

    def probabilities(self, data: SequenceData, *, threads: int = 1) -> np.ndarray:
        """P(label) of every token, given the whole sentence: (tokens, labels)."""
        shares = np.zeros((len(data.features), self.weights.shape[1]), dtype=np.float32)
        self._by_blocks(decoding.marginals, data, threads, shares)
        return shares[:, : self.n_labels]

    def best_paths(self, data: SequenceData, n: int) -> list[list[tuple[float, np.ndarray]]]:
        """For each sentence its ``n`` best label sequences, with their log probability."""
        check({"n": whole(1)}, {"n": n})
        found = []
        for begin, end in zip(data.bounds[:-1], data.bounds[1:], strict=True):
            if begin == end:
                found.append([(0.0, np.empty(0, dtype=np.int32))])
                continue
            scores, paths = decoding.best_paths_of(
                KINDS[self.kind], begin, end, data.features, data.pair_features, self.weights,
                self.pair_weights, self.n_labels, n,
            )  # fmt: skip
            found.append(list(zip(scores.tolist(), paths, strict=True)))
        return found

    def _by_blocks(self, kernel: Callable, data: SequenceData, threads: int, *more) -> None:
        """Decode some sentences at a time."""

        def block(first: int) -> None:
            kernel(
                KINDS[self.kind], first, min(first + _BLOCK, len(data)), data.bounds,
                data.features, data.pair_features, self.weights, self.pair_weights,
                self.n_labels, *more,
            )  # fmt: skip

        in_threads(block, range(0, len(data), _BLOCK), threads)

    def copy(self) -> SequenceModel:
        return replace(
            self,
            weights=self.weights.copy(),
            pair_weights=self.pair_weights.copy(),
            losses=list(self.losses),
            undone=list(self.undone),
        )


class _Passes:
    """Passes over one set of sentences, with the room they work in."""

    def __init__(self, model: SequenceModel, data: SequenceData, how: Training, threads: int):
        self.model, self.data, self.how, self.gold = model, data, how, data.gold
        self.threads = max(1, min(threads, kernel.PIECES))
        self.bounds = _stretches(data.bounds)
        self.lengths = np.diff(self.bounds)
        self.random = np.random.default_rng(how.seed)
        self.kind = KINDS[model.kind]
        self.shares = (
            _shares(data.features, len(model.weights), self.threads),
            _shares(data.pair_features, len(model.pair_weights), self.threads),
        )
        self.conditioned = model.kind == "crf" and data.pair_features.shape[1] > 1
        self.room = -1

    def loss(self) -> float:
        """The sum of −log P(gold), weights as they are."""
        model, data, n_sentences = self.model, self.data, len(self.lengths)
        order, losses = np.arange(n_sentences), np.zeros(kernel.PIECES)
        starts = np.concatenate(([0], np.cumsum(self.lengths)))
        cuts = _steps(starts, self.how.batch)
        room = self._room(int(np.diff(starts[cuts]).max(initial=1)))
        for first, last in pairwise(cuts.tolist()):
            kernel.sentence_step(
                self.kind, first, last, 0, 1, order, starts, self.bounds, data.features,
                data.pair_features, self.gold, model.weights, model.pair_weights,
                np.float32(1.0), model.n_labels, *room, losses,
            )  # fmt: skip
        return float(losses.sum())

    def _by_rows(self, work: Callable[[slice], object]) -> None:
        """Do something to all rows of the weights, on all threads."""
        step = max(1, -(-len(self.model.weights) // self.threads))
        pieces = range(0, len(self.model.weights), step)
        in_threads(lambda first: work(slice(first, first + step)), pieces, self.threads)

    def run(self, rate: float, done: float, share: float) -> float:
        """One pass, a ``share`` of all, of which a share is ``done``; the sum of −log P(gold)."""
        model, data, how = self.model, self.data, self.how
        n_sentences = len(self.lengths)
        order = self.random.permutation(n_sentences)
        starts = np.concatenate(([0], np.cumsum(self.lengths[order])))
        cuts = _steps(starts, how.batch)
        room = self._room(int(np.diff(starts[cuts]).max(initial=1)))
        penalty = 2.0 * how.c2 / max(1, n_sentences)
        paces = rate * (1.0 - done - share * cuts[:-1] / max(1, n_sentences))
        losses = np.zeros(kernel.PIECES)
        given = (self.bounds, data.features, data.pair_features, self.gold)
        weights = (model.weights, model.pair_weights)
        scale = self._run_threads(order, starts, given, weights, room, losses, cuts, penalty, paces)
        factor, stored = np.float32(scale), model.weights
        self._by_rows(lambda rows: np.multiply(stored[rows], factor, out=stored[rows]))
        model.pair_weights *= factor
        return float(losses.sum())

    def _run_threads(
        self, order, starts, given, weights, room, losses, cuts, penalty, paces
    ) -> float:
        """Share the pieces of every step among threads, which wait for one another.

        One thread goes the same way: the same compiled steps give the same bits.
        """
        n = self.threads
        rows, pairs = self.shares
        steps = list(zip(paces.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        meeting = _Meeting(n)
        scales = np.ones(n)

        def share(mine: int) -> None:
            scale = 1.0
            try:
                for pace, first, last in steps:
                    kernel.sentence_step(
                        self.kind, first, last, mine, n, order, starts, *given, *weights,
                        np.float32(scale), self.model.n_labels, *room, losses,
                    )  # fmt: skip
                    meeting.wait(mine)
                    kernel.feature_step(
                        self.kind, first, last, *rows[mine : mine + 2], *pairs[mine : mine + 2],
                        order, starts, *given, *weights,
                        np.float32(min(pace / scale, 1e30)), self.model.n_labels, room[0], room[3],
                    )  # fmt: skip
                    # (w − pace g) / (1 + pace λ), where w is scale times what is stored.
                    scale /= 1.0 + pace * penalty * (last - first)
                    meeting.wait(mine)
            except BaseException:
                meeting.call_off()
                raise
            scales[mine] = scale

        if n == 1:
            share(0)
            return float(scales[0])
        with ThreadPoolExecutor(max_workers=n) as pool:
            for future in [pool.submit(share, mine) for mine in range(n)]:
                future.result()
        return float(scales[0])

    def _room(self, n_tokens: int) -> tuple[np.ndarray, ...]:
        """Gradients of a step's tokens, tables of label pairs, forward and backward sums."""
        if n_tokens > self.room:
            self.room = n_tokens + n_tokens // 4
            model, longest = self.model, int(self.lengths.max(initial=1))
            width, pieces = model.weights.shape[1], kernel.PIECES
            n_tables = self.room if self.conditioned else pieces
            shape = (n_tables, model.n_labels, width)
            self._arrays = (
                np.zeros((self.room, width), dtype=np.float32),
                np.zeros(shape, dtype=np.float32),
                np.zeros(shape, dtype=np.float32),
                np.zeros(shape, dtype=np.float32),
                np.zeros((pieces, longest, width), dtype=np.float32),
                np.zeros((pieces, longest, width), dtype=np.float32),
                np.zeros((pieces, longest), dtype=np.float32),
                np.zeros(n_tables, dtype=np.float32),
            )
        return self._arrays


class _SampledObjective:
    """The loss of every so many sentences, for all, and the penalty."""

    def __init__(self, model: SequenceModel, passes: _Passes, how: Training):
        self.model, self.c2 = model, how.c2
        n_sentences, n_tokens = len(passes.lengths), len(passes.data.features)
        step = min(max(1, n_tokens // _SAMPLE), 10)
        sample = replace(passes.data, bounds=passes.bounds).take(np.arange(0, n_sentences, step))
        self.sample = _Passes(model, sample, how, 1)
        self.times = n_tokens / max(1, len(sample.features))

    def __call__(self) -> float:
        tables = (self.model.weights, self.model.pair_weights)
        return self.times * self.sample.loss() + self.c2 * sum(float(np.vdot(w, w)) for w in tables)


class _Meeting:
    """Where threads wait for one another, again and again.

    Each tells every other that it is there, by a lock for each pair.  Two sets of locks take turns:
    a thread may be at the next meeting before another has left this one.  It is some times faster
    than ``threading.Barrier``, and there are thousands of meetings a second.
    """

    def __init__(self, n: int):
        self.n, self.is_off = n, False
        self.turns = [0] * n
        self.locks = [[[threading.Lock() for _ in range(n)] for _ in range(n)] for _ in range(2)]
        for lock in self._all():
            lock.acquire()

    def wait(self, mine: int) -> None:
        """Wait until all threads have come."""
        locks = self.locks[self.turns[mine]]
        self.turns[mine] = 1 - self.turns[mine]
        others = [other for other in range(self.n) if other != mine]
        for other in others:
            locks[mine][other].release()
        for other in others:
            locks[other][mine].acquire()
        if self.is_off:
            raise RuntimeError("another thread failed")

    def call_off(self) -> None:
        """Let everybody go who waits; they are told that something failed."""
        self.is_off = True
        for lock in self._all():
            with suppress(RuntimeError):  # it may be open already
                lock.release()

    def _all(self) -> list[threading.Lock]:
        return [lock for turn in self.locks for row in turn for lock in row]


def _shares(features: np.ndarray, n_features: int, n: int) -> list[int]:
    """Bounds of ``n`` ranges of features that occur about equally often, together."""
    if n == 1:
        return [0, n_features]
    counts = np.zeros(n_features, dtype=np.int64)
    for column in features.T:
        counts += np.bincount(column[column >= 0], minlength=n_features)
    up_to = np.cumsum(counts)
    inner = np.searchsorted(up_to, up_to[-1] * np.arange(1, n) / n, side="right")
    return [0, *inner.tolist(), n_features]


def _stretches(bounds: np.ndarray) -> np.ndarray:
    """The bounds of sentences, with those of the stretches that long ones are cut into."""
    if np.diff(bounds).max(initial=0) <= _STRETCH:
        return bounds
    begins = [np.arange(b, max(e, b + 1), _STRETCH) for b, e in pairwise(bounds.tolist())]
    return np.concatenate([*begins, bounds[-1:]])


def _steps(starts: np.ndarray, batch: int) -> np.ndarray:
    """Where each step begins: ``batch`` sentences, or fewer where these have too many tokens."""
    n = len(starts) - 1
    cuts = np.append(np.arange(0, n, batch), n)
    if np.diff(starts[cuts]).max(initial=0) <= _STEP_TOKENS:
        return cuts
    found = [0]
    while found[-1] < n:
        first = found[-1]
        fits = int(np.searchsorted(starts, starts[first] + _STEP_TOKENS, side="right")) - 1
        found.append(min(max(fits, first + 1), first + batch, n))
    return np.array(found, dtype=np.int64)
