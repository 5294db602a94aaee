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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from scipy import sparse

from featloom.data.class_types import CLASS_TYPES, class_values
from featloom.data.matrix import FeatureMatrix
from featloom.data.row_prints import RowPrints, Seen, restored_prints
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.feature_list import MOST_PLACES, OF_PART, FeatureList
from featloom.formats.models import (
    Layout,
    Model,
    Numbers,
    cut_names,
    fitting_parts,
    load_model,
    names,
    pack_strings,
    save_model,
)
from featloom.learners.inputs import rows_of, seen_among, share_of_right, warn_of_seen
from featloom.learners.reasons import Reasons, strongest
from featloom.methods.transfer.relevance import RelevancePrior, prior_of, prior_text


class _Description(msgspec.Struct):
    columns: list[str]
    n_values: list[int]
    task_column: str
    target: str
    class_type: str = "str"
    learned_all: bool = False


LAYOUT = Layout(
    "tasks",
    _Description,
    {
        "parts": Numbers("i4 i8", "features", "places", makes=OF_PART),
        # Copies in which features that say nothing are left out.
        "weights": Numbers("f8", "cells", makes=64),
        "indices": Numbers("i4 i8", "cells"),
        "indptr": Numbers("i4 i8", "class_names+1", makes=32),
        "starts": Numbers("i8", "bounds", makes=32),
        "outputs": Numbers("i4 i8", "outputs", makes=16),
        "biases": Numbers("f8", "outputs"),
        "learned": Numbers("u8", "rows", optional=True),
        # JSON, counted when it is read.
        "prior": Numbers("u1", "letters of prior", optional=True, makes=1),
        **names("value_names", "value_starts"),
        **names("class_names", "class_starts"),
        **names("task_names", "task_starts"),
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
        for places, outputs, scores in self._scored(self._matrix(data), np.asarray(tasks)):
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
        rows = self._matrix(data)
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
        values = [value for vocabulary in self.features.vocabularies for value in vocabulary]
        arrays = {
            "parts": self.features.parts,
            "indptr": self.weights.indptr.astype(np.int64),
            "indices": self.weights.indices.astype(np.int32),
            "weights": self.weights.data,
            "starts": self.starts.astype(np.int64),
            "outputs": self.outputs,
            "biases": self.biases,
        }
        for name, strings in (("value", values), ("class", self.classes), ("task", self.tasks)):
            arrays[f"{name}_names"], arrays[f"{name}_starts"] = pack_strings(strings)
        if self.prior is not None:
            arrays["prior"] = np.frombuffer(prior_text(self.prior).encode(), dtype=np.uint8)
        if self.learned is not None:
            arrays["learned"] = self.learned.prints
        description = {
            "learned_all": self.learned is not None and self.learned.complete,
            "columns": list(self.columns),
            "n_values": [len(vocabulary) for vocabulary in self.features.vocabularies],
            "task_column": self.task_column,
            "target": self.target,
            "class_type": self.class_type,
        }
        save_model(path, LAYOUT.kind, description, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TaskModels:
        """Read and check what :meth:`save` wrote; nothing in the file is run."""
        model = load_model(path, layout=LAYOUT)
        with fitting_parts(path):
            return _restored(model)

    def checked(self) -> TaskModels:
        """The same, without features that say nothing; parts that do not fit are refused."""
        self._check()
        said = np.zeros(len(self.features), dtype=bool)
        said[self.weights.indices[self.weights.data != 0]] = True
        kept = np.flatnonzero(said)
        weights = self.weights[kept]
        weights.eliminate_zeros()
        weights.sort_indices()
        return TaskModels(
            self.features.take(kept), weights, self.classes, self.tasks, self.starts, self.outputs,
            self.biases, self.task_column, self.target, self.prior, self.class_type, self.learned,
        )  # fmt: skip

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

    def _matrix(self, data: NominalTable | FeatureMatrix) -> sparse.csr_matrix:
        indptr, indices = self.features.rows(data)
        ones = np.ones(len(indices))
        return sparse.csr_matrix((ones, indices, indptr), shape=(len(data), len(self.features)))

    def _check(self) -> None:
        """Refuse parts that do not fit, so that no kernel ever sees them."""
        features, parts, starts = self.features, self.features.parts, self.starts
        sound = (
            len(features.vocabularies) == (len(features.columns) or 1)
            and len(set(features.columns)) == len(features.columns)
            and all(len(set(values)) == len(values) for values in features.vocabularies)
            and parts.ndim == 2
            and 1 <= parts.shape[1] <= MOST_PLACES
            and parts.min(initial=0) >= -1
            and parts.max(initial=-1) < features.n_atoms
            and bool((parts >= 0).any(axis=1).all())
            and self.weights.shape == (len(features), len(self.classes))
            and bool(np.isfinite(self.weights.data).all())
            and len(set(self.tasks)) == len(self.tasks) >= 1
            and starts.ndim == 1
            and len(starts) in (len(self.tasks) + 1, len(self.tasks) + 2)
            and starts[0] == 0
            and starts[-1] == len(self.outputs) == len(self.biases)
            and bool((starts[1:] > starts[:-1]).all())  # differences wrap around
            and self.outputs.ndim == self.biases.ndim == 1
            and self.outputs.min(initial=0) >= 0
            and self.outputs.max(initial=-1) < len(self.classes)
            and bool(np.isfinite(self.biases).all())
            and self.class_type in CLASS_TYPES
            and len(self.classes_) == len(set(self.classes))
        )
        if not sound:
            raise InputError("features, weights and tasks do not fit")


def _restored(model: Model) -> TaskModels:
    description, arrays = model.description, model.arrays
    vocabularies = cut_names(model.strings("value_names", "value_starts"), description.n_values)
    parts = arrays["parts"].astype(np.int32)
    features = FeatureList(tuple(description.columns), vocabularies, parts)
    classes = model.strings("class_names", "class_starts")
    given = (arrays["weights"], arrays["indices"], arrays["indptr"])
    weights = sparse.csc_matrix(given, (len(features), len(classes)))
    weights.check_format(full_check=True)
    prior = None
    if "prior" in arrays:
        prior = prior_of(RelevancePrior, arrays["prior"].tobytes(), model.room)
    return TaskModels(
        features, weights, tuple(classes), tuple(model.strings("task_names", "task_starts")),
        arrays["starts"], arrays["outputs"].astype(np.int32), arrays["biases"],
        description.task_column, description.target, prior, description.class_type,
        restored_prints(arrays.get("learned"), description.learned_all),
    ).checked()  # fmt: skip
