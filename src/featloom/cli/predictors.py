"""The models that ``featloom predict`` uses, alike to it: what they need, answer and explain.

A memory answers by stored cases, a linear model by features with weights, models of many tasks by
the weights of the task that a row names; each explains itself in its own words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featloom.cli.reasons import reason_lines, reasons_part
from featloom.data.class_types import type_of_values
from featloom.data.readers.task_archives import archive_with_tasks
from featloom.data.row_prints import RowPrints
from featloom.data.table import NominalTable
from featloom.discover.loading import open_model
from featloom.errors import InputError
from featloom.learners.inputs import class_names
from featloom.learners.memory import MemoryClassifier
from featloom.learners.plan_model import PlanModel
from featloom.methods.transfer.task_models import TaskModels
from featloom.words import counted, first_few, percent

if TYPE_CHECKING:
    import numpy as np

    from featloom.data.matrix import FeatureMatrix
    from featloom.data.row_prints import Seen
    from featloom.learners.reasons import Reasons

MOST = 10  # stored cases or features that are shown for an answer
_NOT_KNOWN = "(not seen)"


@dataclass(frozen=True)
class Explained:
    """Why an answer was given: in lines for a person, and as a part of a JSON result."""

    lines: str
    part: dict[str, Any]


class Predictor(ABC):
    """A model that can be used.

    Attributes
    ----------
    columns : those that its rows have; none where it looks for features by name.
    needed : the columns that must be there.
    vocabularies : the values of the columns that it knows.
    does : what it does with them: "compares", "looks at".
    target : name of the column with the classes, or "".
    classes : their names.
    class_type : what they are: "str", "int", "float" or "bool".
    """

    columns: tuple[str, ...]
    needed: frozenset[str]
    vocabularies: tuple[tuple[str, ...], ...]
    does: str
    target: str
    classes: list[str]
    class_type: str

    def read(self, data: Path) -> Any:
        """Rows of a file that this model alone can read; None: any reader will do."""
        return None

    @abstractmethod
    def predict(self, rows: Any) -> np.ndarray:
        """The name of the class of each row."""

    @abstractmethod
    def shares(self, rows: Any) -> np.ndarray:
        """(rows, classes) shares of votes, or probabilities."""

    @abstractmethod
    def seen(self, rows: Any) -> Seen:
        """How many rows are among those that it learned from."""

    @abstractmethod
    def explain(self, rows: Any) -> list[Explained]:
        """Why each row has its answer."""


class MemoryPredictor(Predictor):
    """Answers by the stored cases that are most alike."""

    does = "compares"

    def __init__(self, memory: MemoryClassifier, jobs: int):
        self._memory = memory.set_params(n_jobs=jobs)
        table = memory._reader.table
        self.columns, self.target = table.columns, table.target
        self.vocabularies = table.vocabularies
        modes = zip(table.columns, memory.modes_, strict=True)
        self.needed = frozenset(name for name, mode in modes if mode != "ignore")
        self.classes = class_names(table, memory.classes_)
        self.class_type = type_of_values(memory.classes_)
        self._learned = RowPrints.of(table, len(table))  # it stores all rows anyway

    def predict(self, rows: NominalTable) -> np.ndarray:
        return self._named(self._memory.predict(rows))

    def seen(self, rows: NominalTable) -> Seen:
        return self._learned.seen(rows)

    def _named(self, answers: np.ndarray) -> np.ndarray:
        places = self._memory.classes_.searchsorted(answers)
        return _texts(self.classes)[places]

    def shares(self, rows: NominalTable) -> np.ndarray:
        return self._memory.predict_proba(rows)

    def explain(self, rows: NominalTable) -> list[Explained]:
        found = []
        for values, why in zip(values_of(rows), self._memory.explain(rows, MOST), strict=True):
            total = sum(why.votes.values())
            votes = {name: vote / total for name, vote in why.votes.items()}
            stored = [[value or _NOT_KNOWN for value in near.values] for near in why.neighbours]
            first, *others = beside(values, *stored)
            lines = [_answer(first, why.answer, votes, "these stored cases")]
            for near, cells in zip(why.neighbours, others, strict=True):
                classes = ", ".join(f"{name}: {count}" for name, count in near.classes.items())
                lines.append(f"{cells}  {classes}, distance {near.distance:.4f}")
            neighbours = [
                {
                    "values": near.values,
                    "distance": near.distance,
                    "classes": {str(name): n for name, n in near.classes.items()},
                }
                for near in why.neighbours
            ]
            part = {
                "query": values,
                "answer": why.answer,
                "votes": {str(name): vote for name, vote in why.votes.items()},
                "neighbours": neighbours,
            }
            found.append(Explained("\n".join(lines), part))
        return found


class LinearPredictor(Predictor):
    """Answers by the weights of the features that a row has."""

    does = "looks at"

    def __init__(self, model: PlanModel):
        self._model = model
        self.columns, self.target = model.columns, model.target
        self.vocabularies = model.features.vocabularies
        self.needed = frozenset(model.used_columns)
        self.classes, self.class_type = list(model.classes), model.class_type

    def predict(self, rows: NominalTable | FeatureMatrix) -> np.ndarray:
        return _texts(self.classes)[self._model.scores(rows).argmax(axis=1)]

    def shares(self, rows: NominalTable | FeatureMatrix) -> np.ndarray:
        return self._model.predict_proba(rows)

    def seen(self, rows: NominalTable | FeatureMatrix) -> Seen:
        return self._model.seen(rows)

    def explain(self, rows: NominalTable | FeatureMatrix) -> list[Explained]:
        shares: list[dict[str, float]] = [{} for _ in range(len(rows))]
        if self._model.probabilistic:
            shares = [
                dict(zip(self.classes, row, strict=True)) for row in self.shares(rows).tolist()
            ]
        found = []
        reasons = self._model.explain(rows, most=MOST)
        for values, why, share in zip(values_of(rows), reasons, shares, strict=True):
            because = f"these features, for {why.answer} and against {why.against}"
            lines = [_answer("  ".join(values), why.answer, share, because), *reason_lines(why)]
            found.append(Explained("\n".join(lines), {"query": values, **reasons_part(why)}))
        return found


class TaskPredictor(Predictor):
    """Answers by the weights of the task that a row names; a task without a model has none."""

    does = "looks at"

    def __init__(self, models: TaskModels):
        self._models = models
        self.target, self.classes = models.target, sorted(set(models.classes))
        self.class_type = models.class_type
        self.columns = (models.task_column, *models.columns) if models.columns else ()
        self.vocabularies = (models.tasks, *models.features.vocabularies)
        self.needed = frozenset([models.task_column, *models.features.used_columns])
        self._warned: set[str] = set()

    def read(self, data: Path) -> FeatureMatrix | None:
        """Rows of an archive, whose tasks become features among the others."""
        if self.columns:
            return None
        return archive_with_tasks(data, task=self._models.task_column, target=self.target)

    def predict(self, rows: NominalTable | FeatureMatrix) -> np.ndarray:
        answers = self._models.answers(rows, self._models.tasks_of(rows))
        strange = [answer is None for answer in answers.tolist()]
        if any(strange):
            self._warn(self._models.tasks_of(rows)[strange].tolist())
            answers[strange] = ""
        return answers

    def shares(self, rows: NominalTable | FeatureMatrix) -> np.ndarray:
        raise InputError("the scores of models of many tasks are no probabilities")

    def seen(self, rows: NominalTable | FeatureMatrix) -> Seen:
        return self._models.seen(rows)

    def explain(self, rows: NominalTable | FeatureMatrix) -> list[Explained]:
        found = []
        tasks = self._models.tasks_of(rows).tolist()
        reasons = self._models.explain(rows, most=MOST)
        for values, why, task in zip(values_of(rows), reasons, tasks, strict=True):
            row = "  ".join(values)
            part = {"query": values, "task": task, **reasons_part(why)}
            if not why.answer:
                found.append(Explained(f"{row}  → no answer: task {task!r} has no model", part))
                continue
            against = f" and against {why.against}" if why.against else ""
            because = f"these features of task {task!r}, for {why.answer}{against}"
            lines = [_answer(row, why.answer, {}, because)]
            told = [*self._vouchers(why, task), *[""] * len(reason_lines(why))]
            lines += [line + more for line, more in zip(reason_lines(why), told, strict=False)]
            found.append(Explained("\n".join(lines), part))
        return found

    def _vouchers(self, why: Reasons, task: str) -> list[str]:
        """In how many other tasks each feature was found relevant."""
        prior = self._models.prior
        if prior is None:
            return []
        known = task if task in prior.tasks_ else None
        told = []
        for name, _ in why.features:
            n = len(prior.vouchers(name, known))
            told.append(f"  (relevant in {counted(n, 'other task')})" if n else "")
        return told

    def _warn(self, tasks: list[str]) -> None:
        import warnings

        new = [task for task in dict.fromkeys(tasks) if task not in self._warned]
        self._warned.update(new)
        if new:
            named = first_few(list(map(repr, new)), 5)
            which = f"task {named} has" if len(new) == 1 else f"{len(new):,} tasks ({named}) have"
            warnings.warn(f"{which} no model, and rows of it no answer", stacklevel=2)


def _texts(names: Sequence[str]) -> np.ndarray:
    import numpy as np

    return np.array(names, dtype=object)


def load_predictor(model: Path, jobs: int = 1) -> Predictor:
    """The model of a run, or the one in a file."""
    loaders: dict[str, Any] = {
        "memory": lambda path: MemoryPredictor(MemoryClassifier.load(path), jobs),
        "linear": lambda path: LinearPredictor(PlanModel.load(path)),
        "tasks": lambda path: TaskPredictor(TaskModels.load(path)),
    }
    return open_model(model, loaders)[0]


def values_of(rows: NominalTable | FeatureMatrix) -> list[list[str]]:
    """The values of each row, or the features that it has."""
    if isinstance(rows, NominalTable):
        return [
            [rows.value(column, row) or _NOT_KNOWN for column in rows.columns]
            for row in range(len(rows))
        ]
    return [rows.row_names(row) for row in range(len(rows))]


def beside(*rows: Sequence[str]) -> list[str]:
    """Rows of cells as lines, cell under cell.

    >>> beside(["c", "export"], ["login", "a"])
    ['c      export', 'login  a     ']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        for cells in rows
    ]


def _answer(row: str, answer: Any, shares: dict[Any, float], because: str) -> str:
    ranked = sorted(shares.items(), key=lambda share: (-share[1], share[0] != answer))
    said = ", ".join(f"{name} {percent(share, 0)}" for name, share in ranked[:4])
    return f"{row}  → {answer}{f' ({said})' if said else ''}, because of {because}:"
