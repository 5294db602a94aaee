"""Many small tables in one: a column names the task of a row, and each task has its own model.

A verb has its senses, a customer his categories; no task alone has rows enough to tell which
features matter.  Contenders learn a model for each task, with or without what the other tasks
found relevant, or one model for all.  They are compared over tasks: whole tasks are drawn in the
tests, so that a gain is one that a task to come may hope for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from featloom.compare.questions import Question, tallied
from featloom.data.matrix import FeatureMatrix
from featloom.discover.combined import joined_tasks
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts, correct_counts
from featloom.method import Contender, Unsuited
from featloom.methods import METHODS
from featloom.methods.transfer.parts import oddities


class TaskQuestion(Question):
    """Which class does a row have, by the model of its task?"""

    kind = "tasks"
    metric = "accuracy"
    unit = "rows"

    def __init__(self, data: FeatureMatrix):
        if len(data.task_names) < 2:
            raise InputError("there is one task only; there is nothing to carry over from others")
        self.data = data
        self.labels = data.known_labels
        self.classes = tuple(map(str, data.classes))
        self.task_of, self.tasks = data.task_codes, data.task_names
        self.words = (
            f"{len(self.tasks):,} tasks in one table: {len(data):,} rows, "
            f"{data.shape[1]:,} features, {len(np.unique(self.labels)):,} classes"
        )

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def strata(self) -> np.ndarray:
        pairs = self.task_of.astype(np.int64) * len(self.classes) + self.labels
        return np.unique(pairs, return_inverse=True)[1]

    @property
    def groups(self) -> np.ndarray | None:
        return self.data.groups

    def take(self, units: np.ndarray) -> FeatureMatrix:
        return self.data.take(units)

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return correct_counts(self.labels[units], answers, groups=self.task_of[units])

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    def everyone(self) -> list[Contender | Unsuited]:
        of_methods = [one for m in METHODS for one in m.contenders_for("tasks", self.classes)]
        return [*of_methods, joined_tasks(self.classes)]

    def data_part(self) -> dict[str, Any]:
        matrix = self.data
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        return {
            "source": matrix.source,
            "rows": len(matrix),
            "features": matrix.shape[1],
            "target": matrix.target,
            "tasks": len(self.tasks),
            "groups": matrix.n_groups,
            "classes": dict(zip(self.classes, sizes, strict=True)),
        }

    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        return oddities(self.data.take(learn), self.data.take(test))

    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        right = self.labels[units] == answers
        return {
            "by_class": tallied(self.labels[units], right, self.classes),
            "by_group": tallied(self.task_of[units], right, self.tasks),
        }
