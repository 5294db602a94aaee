"""Linear models of many tasks, kept together: what is left when learning is over.

In a task, a class scores its bias plus the weights of the features that a row has,

    s(c | row, task) = b_tc + Σ_f w_fk [f holds in row],    k = the output of class c in the task,

and the highest score is the answer.  Most models have outputs of their own for each task; one that
was learned from all rows at once has the same outputs in every task, with other biases, and can
also answer for a task that it has never met.  The relevance prior that helped to learn, where there
was one, is kept beside the weights, for tasks to come.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.class_types import ClassType, class_values
from featloom.data.matrix import FeatureMatrix
from featloom.data.row_prints import Prints, RowPrints, Seen
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.feature_list import FeatureList, Features
from featloom.formats.models import Fact, Layout, Model, Numbers, Part, Texts
from featloom.learners.inputs import rows_of, seen_among, share_of_right, warn_of_seen
from featloom.learners.reasons import Reasons, strongest
from featloom.methods.transfer.relevance import RelevancePrior, prior_of, prior_text


class _Weights(Part):
    """A CSC matrix; what features say nothing is left out of copies of it."""

    def arrays(self, name: str) -> dict[str, Numbers]:
        return {
            name: Numbers("f8", "cells", makes=64),
            "indices": Numbers("i4 i8", "cells"),
            "indptr": Numbers("i4 i8", "class_names+1", makes=32),
        }

    def write(self, name: str, value: sparse.csc_matrix, model: Model) -> None:
        of = {name: value.data, "indices": value.indices, "indptr": value.indptr}
        model.arrays.update((k, self.arrays(name)[k].stored(array)) for k, array in of.items())

    def read(self, name: str, model: Model) -> sparse.csc_matrix:
        given = tuple(model.arrays[one] for one in self.arrays(name))
        matrix = sparse.csc_matrix(given, [model.lengths[k] for k in ("features", "class_names")])
        matrix.check_format(full_check=True)
        return matrix

    def lengths(self, value: sparse.csc_matrix) -> list[tuple[str, int]]:
        return [("features", value.shape[0]), ("class_names", value.shape[1])]

    def fits(self, value: sparse.csc_matrix, state: Mapping[str, Any]) -> bool:
        return bool(np.isfinite(value.data).all())


class _Prior(Part):
    """A relevance prior as JSON, which is counted when it is read."""

    def arrays(self, name: str) -> dict[str, Numbers]:
        return {name: Numbers("u1", f"letters of {name}", optional=True, makes=1)}

    def write(self, name: str, value: RelevancePrior | None, model: Model) -> None:
        if value is not None:
            model.arrays[name] = np.frombuffer(prior_text(value).encode(), dtype=np.uint8)

    def read(self, name: str, model: Model) -> RelevancePrior | None:
        if name not in model.arrays:
            return None
        return prior_of(RelevancePrior, model.arrays[name].tobytes(), model.room)


LAYOUT = Layout(
    "tasks",
    {
        "features": Features("i4 i8", "value_names"),
        "weights": _Weights(),
        "classes": Texts("class_names", "class_starts", distinct=False),
        "tasks": Texts("task_names", "task_starts", least=1),
        "starts": Numbers("i8", "bounds", makes=32, bounds="outputs"),
        "outputs": Numbers("i4 i8", "outputs", makes=16, becomes="i4", below="classes"),
        "biases": Numbers("f8", "outputs"),
        "task_column": Fact(str),
        "target": Fact(str),
        "prior": _Prior(),
        "class_type": ClassType(),
        "learned": Prints(),
    },
)
EVERY_ROW = "(every row of the task)"


@dataclass(frozen=True, eq=False)
class TaskModels:
    """Weights of features for the classes of each task.

    Parameters
    ----------
    features : of all tasks, conjunctions among them.
    weights : CSC matrix of shape (features, outputs).
    classes : the class of each output.
    tasks : names of the tasks.
    starts : where the outputs of each task begin and end in ``outputs``; one task more than there
        are names stands for all tasks that have none.
    outputs, biases : which outputs a task chooses from, and what each scores in every row.
    task_column, target : names of the columns that told task and class; "" where there was none.
    prior : what the tasks found relevant, or None.
    learned : fingerprints of the rows that they were fitted on; or None.
    class_type : "str", "int", "float" or "bool": what classes are predicted as.

    Examples
    --------
    >>> features = FeatureList.of_matrix(["dobj_money", "dobj_me"], [[0], [1]])
    >>> give = sparse.csc_matrix([[2.0, 0.0], [0.0, 1.0]])
    >>> model = TaskModels.of(features, {"give": (give, [0.0, 0.5], ["pay", "hand"])}, "verb")
    >>> rows = FeatureMatrix.from_csr([[1, 0], [0, 1]], names=["dobj_money", "dobj_me"])
    >>> model.answers(rows, ["give", "give"]).tolist()
    ['pay', 'hand']
    >>> model.answers(rows, ["give", "ask"]).tolist()
    ['pay', None]
    """

    features: FeatureList
    weights: sparse.csc_matrix
    classes: tuple[str, ...]
    tasks: tuple[str, ...]
    starts: np.ndarray
    outputs: np.ndarray
    biases: np.ndarray
    task_column: str = ""
    target: str = ""
    prior: RelevancePrior | None = None
    class_type: str = "str"
    learned: RowPrints | None = None

    @classmethod
    def of(
        cls,
        features: FeatureList,
        parts: Mapping[str, tuple[Any, Any, Any]],
        task_column: str = "",
        target: str = "",
        prior: RelevancePrior | None = None,
    ) -> TaskModels:
        """From (weights, biases, classes) of each task; features that say nothing are left out.

        Parameters
        ----------
        parts : for each task, weights of shape (features, classes of the task), and the others.
        """
        weights = sparse.hstack([sparse.csc_matrix(one) for one, _, _ in parts.values()], "csc")
        biases = np.concatenate([np.asarray(one, dtype=np.float64) for _, one, _ in parts.values()])
        sizes = [len(names) for _, _, names in parts.values()]
        classes = tuple(str(name) for _, _, names in parts.values() for name in names)
        model = cls(
            features, weights, classes, tuple(map(str, parts)), np.cumsum([0, *sizes]),
            np.arange(len(classes), dtype=np.int32), biases, task_column, target, prior,
        )  # fmt: skip
        return model.checked()

    @classmethod
    def shared(
        cls,
        features: FeatureList,
        weights: Any,
        classes: Sequence[str],
        biases: Mapping[str, np.ndarray],
        others: np.ndarray,
        task_column: str = "",
        target: str = "",
    ) -> TaskModels:
        """One model for all tasks, which differ by their biases; ``others``: for a task to come."""
        n, k = len(biases) + 1, len(classes)
        model = cls(
            features, sparse.csc_matrix(weights), tuple(map(str, classes)),
            tuple(map(str, biases)), np.arange(n + 1) * k,
            np.tile(np.arange(k, dtype=np.int32), n),
            np.concatenate([*biases.values(), others]).astype(np.float64), task_column, target,
        )  # fmt: skip
        return model.checked()

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table that it was fitted on, without that of the task; none for a bare matrix."""
        return self.features.columns

    @property
    def answers_any_task(self) -> bool:
        """Whether tasks that were never met have an answer."""
        return len(self.starts) == len(self.tasks) + 2

    @property
    def classes_(self) -> np.ndarray:
        """The classes of all tasks, of the type that they were learned as."""
        return np.unique(class_values(self.classes, self.class_type))

    def predict(self, data: Any) -> np.ndarray:
        """The class of each row, of the type that it was learned as; None where its task has none.

        Parameters
        ----------
        data : rows as a table, DataFrame, array or lists, the column of tasks among the others.
        """
        rows = self.rows_of(data)
        names = self.answers(rows, self.tasks_of(rows))
        known = names != None  # noqa: E711
        values = class_values(names[known].tolist(), self.class_type)
        if known.all():
            return values
        found = np.full(len(names), None, dtype=object)
        found[known] = values
        return found

    def score(self, data: Any, y: Any) -> float:
        """The share of rows that get their class; a warning tells of rows learned from."""
        warn_of_seen(self.seen(data))
        return share_of_right(self.predict(data), y)

    def seen(self, data: Any) -> Seen:
        """How many of some rows are among those that they learned from, value for value."""
        columns = (self.task_column, *self.columns) if self.columns else ()
        return seen_among(self.learned, self.rows_of(data), columns)

    def rows_of(self, data: Any) -> NominalTable | FeatureMatrix:
        """Data in any dress as rows that have the columns of the models."""
        columns = (self.task_column, *self.columns) if self.columns else ()
        needed = {self.task_column, *self.features.used_columns}
        vocabularies = (self.tasks, *self.features.vocabularies) if self.columns else ()
        return rows_of(data, columns, needed, vocabularies)

    def answers(self, data: NominalTable | FeatureMatrix, tasks: Any) -> np.ndarray:
        """The class of each row by name, with the task of each given; None: no such task."""
        found = np.full(len(data), None, dtype=object)
        names = np.array(self.classes, dtype=object)
        for places, outputs, scores in self._scored(self.features.matrix(data), np.asarray(tasks)):
            found[places] = names[outputs[scores.argmax(axis=1)]]
        return found

    def explain(
        self,
        data: NominalTable | FeatureMatrix,
        tasks: Any = None,
        most: int | None = None,
    ) -> list[Reasons]:
        """For each row the answer, and the features that told it from the next best of its task.

        The answer to a row of no known task is "", without reasons.
        """
        rows = self.features.matrix(data)
        explained = [Reasons("", None, ()) for _ in range(len(data))]
        tasks = self.tasks_of(data) if tasks is None else np.asarray(tasks)
        biases_of = dict(zip(self.tasks, pairwise(self.starts.tolist()), strict=False))
        for places, outputs, scores in self._scored(rows, tasks):
            first, last = biases_of.get(str(tasks[places[0]]), tuple(self.starts[-2:]))
            biases = self.biases[first:last]
            for place, row_scores in zip(places.tolist(), scores, strict=True):
                order = np.argsort(-row_scores, kind="stable")
                best, second = int(order[0]), int(order[1]) if len(order) > 1 else None
                there = rows.indices[rows.indptr[place] : rows.indptr[place + 1]]
                weights = self._weights_at(there, outputs[best])
                bias = biases[best]
                if second is not None:
                    weights = weights - self._weights_at(there, outputs[second])
                    bias = bias - biases[second]

                def name(i: int, there=there) -> str:
                    return self.features.name(there[i]) if i < len(there) else EVERY_ROW

                against = None if second is None else self.classes[outputs[second]]
                answer = self.classes[outputs[best]]
                said = np.append(weights, bias)
                explained[place] = strongest(answer, against, said, name, most)
        return explained

    def tasks_of(self, data: NominalTable | FeatureMatrix) -> np.ndarray:
        """The task that each row names; "" for none."""
        if isinstance(data, NominalTable):
            return data.values(self.task_column, unknown="")
        start = f"{self.task_column}="
        named = np.array([str(name).startswith(start) for name in data.names], dtype=bool)
        tasks = np.full(len(data), "", dtype=object)
        row_of = np.repeat(np.arange(len(data)), np.diff(data.indptr))
        for place in np.flatnonzero(named[data.indices]).tolist():
            tasks[row_of[place]] = str(data.names[data.indices[place]])[len(start) :]
        return tasks

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the models, all of them or nothing.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> features = FeatureList.of_matrix(["dobj_money"], [[0]])
        >>> model = TaskModels.of(features, {"give": ([[2.0, 0.0]], [0, 1], ["pay", "hand"])})
        >>> with TemporaryDirectory() as folder:
        ...     model.save(Path(folder, "verbs.featloom"))
        ...     loaded = TaskModels.load(Path(folder, "verbs.featloom"))
        >>> loaded.tasks, loaded.classes, loaded.weights.toarray().tolist()
        (('give',), ('pay', 'hand'), [[2.0, 0.0]])
        """
        LAYOUT.save(path, vars(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TaskModels:
        """Read and check what :meth:`save` wrote; nothing in the file is run."""
        with LAYOUT.reading(path) as (state, _):
            return cls(**state).checked()

    def checked(self) -> TaskModels:
        """The same, without features that say nothing; parts that do not fit are refused."""
        LAYOUT.check(vars(self))
        if len(self.starts) - len(self.tasks) not in (1, 2):
            raise InputError("the starts of the model do not fit")
        said = np.zeros(len(self.features), dtype=bool)
        said[self.weights.indices[self.weights.data != 0]] = True
        kept = np.flatnonzero(said)
        weights = self.weights[kept]
        weights.eliminate_zeros()
        weights.sort_indices()
        return replace(self, features=self.features.take(kept), weights=weights)

    def _scored(self, rows: sparse.csr_matrix, tasks: np.ndarray):
        """(places, outputs, scores) of the rows of each task that has a model."""
        number = {task: t for t, task in enumerate(self.tasks)}
        if tasks.shape != (rows.shape[0],):
            raise InputError(f"tasks have shape {tasks.shape}, the data {rows.shape[0]} rows")
        names, task_of = np.unique(tasks.astype(str), return_inverse=True)
        other = len(self.tasks) if self.answers_any_task else None
        for k, name in enumerate(names.tolist()):
            t = number.get(name, other)
            if t is not None:
                places = np.flatnonzero(task_of == k)
                span = slice(int(self.starts[t]), int(self.starts[t + 1]))
                outputs = self.outputs[span]
                scores = rows[places] @ self.weights[:, outputs]
                yield places, outputs, scores.toarray() + self.biases[span]

    def _weights_at(self, features: np.ndarray, output: int) -> np.ndarray:
        column = self.weights[:, [int(output)]].toarray().ravel()
        return column[features]
