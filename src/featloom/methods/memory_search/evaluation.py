"""What a setting is worth, for every k and every vote at once.

By accuracy it is worth its share of right answers; by log-loss, what its probabilities lose: minus
the mean of −ln p(the right class), p being the shares of the votes mixed with the frequencies of
the classes as ``MemoryClassifier(smoothing=...)`` mixes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import Comparison, decay_of
from featloom.learners.inputs import order_of_appearance
from featloom.learners.neighbours import Answers, ask_by_votes, count_correct_by_votes
from featloom.learners.pipelines import SMOOTHINGS
from featloom.methods.memory_search.settings import SettingSpace

_VOTES_HELD = 4_000_000  # of some rows, by every k and every vote, at a time


class Trial:
    """A memory and the cases it is tried on: the validation rows, or one fold.

    Classes are numbered as they were met, which settles ties, as in the classifier.
    """

    def __init__(self, codes, labels, valid_codes, valid_labels, n_values, n_classes: int):
        met_as = order_of_appearance(labels, n_classes)
        self.memory = Memory(codes, met_as[labels], n_values, n_classes)
        # A label of -1, a class that was not met in training, stays one.
        self.queries = Queries(valid_codes, np.append(met_as, -1)[valid_labels])


class FitEvaluation:
    """Evaluates a weighting and modes: the score of each k, and the best of them.

    Where there are several votes, the score of a k is that by the best of them; "votes" then holds
    the scores by each, and "vote" the best.  By log-loss every k and vote has the best of
    ``SMOOTHINGS``: "smoothings" holds these for each vote, and "smoothing" that of the best.

    Parameters
    ----------
    trials : validation set, or folds; what their rows are worth adds up over them.
    how : the part of the comparison that is not searched (threshold, tie rules).
    threads : they change the time and nothing else.
    decay : of the classifier; None: that of ``how``.
    scoring : "accuracy" or "log_loss"; of either more is better, log-loss is taken negative.

    Examples
    --------
    >>> codes, labels = np.array([[1], [1], [2], [2]]), np.array([0, 0, 1, 1])
    >>> trial = Trial(codes, labels, codes, labels, [3], 2)
    >>> space = SettingSpace(["letter"], ks=[1, 3], votes=["count"])
    >>> how, candidate = Comparison((), ()), space.candidate("none", ["overlap"])
    >>> FitEvaluation([trial], space, how)(candidate)["scores"]
    [[1, 1.0], [3, 0.5]]
    >>> result = FitEvaluation([trial], space, how, scoring="log_loss")(candidate)
    >>> result["k"], round(result["score"], 4), result["smoothing"]
    (1, -0.0015, 0.003)
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        space: SettingSpace,
        how: Comparison,
        threads: int = 1,
        decay: float | str | None = None,
        scoring: str = "accuracy",
    ):
        self.trials, self.space, self.how, self.threads = list(trials), space, how, threads
        self.decay = how.decay if decay is None else decay
        self.scoring = scoring
        self._pieces: list[list[Queries]] = []
        if scoring == "log_loss":
            per_class = len(space.ks) * len(space.votes)
            self._pieces = [
                _pieces(trial.queries, _VOTES_HELD // (per_class * trial.memory.n_classes))
                for trial in self.trials
            ]

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        votes, ks = self.space.votes, self.space.ks
        values, smoothings = self._values(candidate)
        scores = [[k, float(value)] for k, value in zip(ks, values.max(axis=0), strict=True)]
        best = int(np.argmax(values.max(axis=0)))  # of equals, the smallest k
        vote = int(np.argmax(values[:, best]))
        result = {"score": scores[best][1], "k": scores[best][0], "scores": scores}
        if len(votes) > 1:
            by_vote = dict(zip(votes, values.tolist(), strict=True))
            result |= {"vote": votes[vote], "votes": by_vote}
        if smoothings is not None:
            by_vote = dict(zip(votes, smoothings.tolist(), strict=True))
            result |= {"smoothing": float(smoothings[vote, best]), "smoothings": by_vote}
        return result

    def _values(self, candidate: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
        """What each vote is worth at each k, (votes, ks), and the smoothing of each, if any."""
        shape = len(self.space.votes), len(self.space.ks)
        n = sum(len(trial.queries) for trial in self.trials)
        if self.scoring != "log_loss":
            right = np.zeros(shape, dtype=np.int64)
            for trial in self.trials:
                right += count_correct_by_votes(
                    trial.memory, trial.queries, self._how(trial, candidate), self.space.ks,
                    self.space.votes, threads=self.threads,
                )  # fmt: skip
            return right / n, None
        losses = np.zeros((len(SMOOTHINGS), *shape))
        for trial, pieces in zip(self.trials, self._pieces, strict=True):
            how = self._how(trial, candidate)
            for some in pieces:
                answers = ask_by_votes(
                    trial.memory, some, how, self.space.ks, self.space.votes,
                    threads=self.threads, with_votes=True,
                )  # fmt: skip
                losses += losses_by_smoothing(trial.memory, some.labels, answers)
        return -losses.min(axis=0) / n, np.array(SMOOTHINGS)[losses.argmin(axis=0)]

    def _how(self, trial: Trial, candidate: Mapping[str, Any]) -> Comparison:
        modes = self.space.modes_of(candidate)
        weights = trial.memory.weights(candidate["weights"])
        return self.how._replace(
            modes=modes,
            weights=tuple(weights.tolist()),
            decay=decay_of(self.decay, weights, modes),
        )


def losses_by_smoothing(memory: Memory, labels: np.ndarray, answers: Answers) -> np.ndarray:
    """What the probabilities of some rows lose together, (smoothings, votes, ks).

    A class that the memory has not met has, at every smoothing, the probability of half a row.

    Parameters
    ----------
    labels : the right classes of the rows; -1 is one that the memory does not know.
    answers : of the memory to the rows, with votes.

    Examples
    --------
    >>> memory = Memory(np.array([[1], [2]]), np.array([0, 1]), [3], 2)
    >>> answers = Answers(np.array([[[0]]]), np.array([[[[2.0, 0.0]]]]), np.empty((0, 0)))
    >>> losses = losses_by_smoothing(memory, np.array([0]), answers)
    >>> dict(zip(SMOOTHINGS, np.exp(-losses).round(3).ravel().tolist()))[0.2]
    0.9
    """
    frequencies = memory.class_totals / memory.n_cases
    met = (labels >= 0) & (np.append(frequencies, 0.0)[labels] > 0)
    unmet = -np.log(0.5 / (memory.n_cases + 1)) * np.count_nonzero(~met)
    rows = np.flatnonzero(met)
    gold = labels[rows]
    own = answers.votes[rows, :, :, gold]
    total = answers.votes.sum(axis=-1)[rows]
    # Where all are so far that no vote is left, the answer has the most frequent class.
    won = (answers.classes[rows] == gold[:, None, None]).astype(float)
    shares = np.divide(own, total, out=won, where=total > 0)
    losses = np.empty((len(SMOOTHINGS), *shares.shape[1:]))
    for place, smoothing in enumerate(SMOOTHINGS):
        mixed = (1 - smoothing) * shares + smoothing * frequencies[gold][:, None, None]
        losses[place] = unmet - np.log(mixed).sum(axis=0)
    return losses


def _pieces(queries: Queries, size: int) -> list[Queries]:
    """The queries, so many at a time; made once, since what is made of them is kept."""
    if len(queries) <= size:
        return [queries]
    size = max(1, size)
    return [
        Queries(queries.codes[begin : begin + size], queries.labels[begin : begin + size])
        for begin in range(0, len(queries), size)
    ]
