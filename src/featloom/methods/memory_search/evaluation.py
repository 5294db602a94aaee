"""What a setting is worth: the share of right answers, for every k and every vote at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import Comparison, decay_of
from featloom.learners.inputs import order_of_appearance
from featloom.learners.neighbours import count_correct_by_votes
from featloom.methods.memory_search.settings import SettingSpace


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
    """Evaluates a weighting and modes: the accuracy of each k, and the best of them.

    Where there are several votes, the accuracy of a k is that by the best of them; "votes" then
    holds the accuracies by each, and "vote" the best.

    Parameters
    ----------
    trials : validation set, or folds; right answers add up over them.
    how : the part of the comparison that is not searched (threshold, tie rules).
    threads : they change the time and nothing else.
    decay : of the classifier; None: that of ``how``.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        space: SettingSpace,
        how: Comparison,
        threads: int = 1,
        decay: float | str | None = None,
    ):
        self.trials, self.space, self.how, self.threads = list(trials), space, how, threads
        self.decay = how.decay if decay is None else decay

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        votes, ks = self.space.votes, self.space.ks
        right = np.zeros((len(votes), len(ks)), dtype=np.int64)
        for trial in self.trials:
            right += self._right(trial, candidate)
        n = sum(len(trial.queries) for trial in self.trials)
        shares = right / n
        scores = [[k, float(share)] for k, share in zip(ks, shares.max(axis=0), strict=True)]
        best = int(np.argmax(right.max(axis=0)))  # of equals, the smallest k
        result = {"score": scores[best][1], "k": scores[best][0], "scores": scores}
        if len(votes) > 1:
            by_vote = dict(zip(votes, shares.tolist(), strict=True))
            result |= {"vote": votes[int(np.argmax(right[:, best]))], "votes": by_vote}
        return result

    def _right(self, trial: Trial, candidate: Mapping[str, Any]) -> np.ndarray:
        memory, modes = trial.memory, self.space.modes_of(candidate)
        weights = memory.weights(candidate["weights"])
        how = self.how._replace(
            modes=modes,
            weights=tuple(weights.tolist()),
            decay=decay_of(self.decay, weights, modes),
        )
        return count_correct_by_votes(
            memory, trial.queries, how, self.space.ks, self.space.votes, threads=self.threads
        )
