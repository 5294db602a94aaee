"""What a setting is worth: the share of right answers, for every k at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import Comparison
from featloom.learners.inputs import order_of_appearance
from featloom.learners.neighbours import count_correct
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

    Parameters
    ----------
    trials : validation set, or folds; right answers add up over them.
    how : the part of the comparison that is not searched (vote, threshold, tie rules).
    threads : they change the time and nothing else.
    """

    def __init__(
        self, trials: Sequence[Trial], space: SettingSpace, how: Comparison, threads: int = 1
    ):
        self.trials, self.space, self.how, self.threads = list(trials), space, how, threads

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        right = np.zeros(len(self.space.ks), dtype=np.int64)
        for trial in self.trials:
            right += self._right(trial, candidate)
        n = sum(len(trial.queries) for trial in self.trials)
        scores = [[k, float(r / n)] for k, r in zip(self.space.ks, right, strict=True)]
        best = int(np.argmax(right))  # of equals, the smallest k
        return {"score": scores[best][1], "k": scores[best][0], "scores": scores}

    def _right(self, trial: Trial, candidate: Mapping[str, Any]) -> np.ndarray:
        memory, modes = trial.memory, self.space.modes_of(candidate)
        weights = memory.weights(candidate["weights"])
        how = self.how._replace(modes=modes, weights=tuple(weights.tolist()))
        return count_correct(memory, trial.queries, how, self.space.ks, threads=self.threads)
