"""Many small tables in one: a column names the task of a row, and each task has its own model.

A verb has its senses, a customer his categories; no task alone has rows enough to tell which
features matter.  Contenders learn a model for each task, with or without what the other tasks
found relevant, or one model for all.  They are compared over tasks: whole tasks are drawn in the
tests, so that a gain is one that a task to come may hope for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import UNKNOWN, NominalTable
from featloom.discover.contenders import Contender, Finding, Question, tallied
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts, correct_counts
from featloom.methods.transfer import MultiTask, RelevancePrior, TransFeat, baselines
from featloom.methods.transfer.parts import TaskRows, oddities
from featloom.methods.transfer.task_column import split_task_column

ALONE, HELPED = "linear SVM, each task alone", "relevance prior"
_MOST_SHOWN = 60


class TaskQuestion(Question):
    """Which class does a row have, by the model of its task?"""

    kind = "tasks"
    metric = "accuracy"
    unit = "rows"

    def __init__(self, data: TaskRows):
        if data.n_tasks < 2:
            raise InputError("there is one task only; there is nothing to carry over from others")
        self.data = data
        self.labels = data.matrix.known_labels
        self.classes = tuple(map(str, data.matrix.classes))
        names, self.task_of = np.unique(data.tasks, return_inverse=True)
        self.tasks = [str(name) for name in names.tolist()]
        self.words = (
            f"{len(self.tasks):,} tasks in one table: {len(data):,} rows, "
            f"{data.matrix.shape[1]:,} features, {len(np.unique(self.labels)):,} classes"
        )

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def strata(self) -> np.ndarray:
        pairs = self.task_of.astype(np.int64) * len(self.classes) + self.labels
        return np.unique(pairs, return_inverse=True)[1]

    @property
    def groups(self) -> np.ndarray | None:
        return self.data.matrix.groups

    def take(self, units: np.ndarray) -> TaskRows:
        return self.data.take(units)

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return correct_counts(self.labels[units], answers, groups=self.task_of[units])

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    def contenders(self) -> Sequence[Contender]:
        fit = partial(partial, _fit_tasks, self.classes)
        return [
            Contender(
                "most frequent class of the task", "chance",
                "the same answer whatever the row", fit("", _commonest), 0.1,
            ),
            Contender(
                ALONE, "baseline", "a linear model for each task, from its own rows",
                fit("features", _alone), 1.0,
            ),
            Contender(
                "L1 logistic regression, each task alone", "baseline",
                "a sparse linear model for each task", fit("features", _sparse), 2.0,
            ),
            Contender(
                "own evidence, each task alone", "baseline",
                "a linear model for each task, columns scaled by what its rows tell of them",
                fit("features", _own), 3.0,
            ),
            Contender(
                "one model for all tasks", "baseline",
                "a linear model on all rows, with the task as a feature",
                partial(_fit_together, self.classes), 2.5,
            ),
            Contender(
                HELPED, "method",
                "a linear model for each task, columns scaled by what other tasks found relevant",
                fit("features", _helped), 4.0,
            ),
            Contender(
                "selection at the prior's costs", "method",
                "few features a task, cheaper where other tasks chose them",
                fit("features chosen", _priced), 4.5,
            ),
            Contender(
                "TransFeat", "method", "the published method: selection, clusters of tasks, prior",
                partial(_fit_transfeat, self.classes), 6.0,
            ),
        ]  # fmt: skip

    def left_out(self) -> dict[str, str]:
        few = "tasks have too few rows for it, each by itself"
        return {"induction": few, "tree templates": few, "memory": few} | {
            "template search": "rows are not tokens of sentences"
        }

    def data_part(self) -> dict[str, Any]:
        matrix = self.data.matrix
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        return {
            "source": matrix.source,
            "rows": len(matrix),
            "features": matrix.shape[1],
            "target": matrix.target,
            "tasks": len(self.tasks),
            "groups": None if matrix.groups is None else len(np.unique(matrix.groups)),
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


@dataclass
class FittedTasks:
    """Models of tasks that have learned."""

    model: Any
    predict: Callable[[TaskRows], np.ndarray]
    classes: tuple[str, ...]
    size: int
    made_of: str
    setting: str

    @property
    def size_words(self) -> str:
        return f"{self.size:,} {self.made_of}".strip()

    def answers(self, data: TaskRows) -> np.ndarray:
        code_of = {name: code for code, name in enumerate(self.classes)}
        given = self.predict(data)
        # A task that was not learned has no model, and so no right answer.
        return np.array([code_of.get(str(one), -1) for one in given.tolist()], dtype=np.int32)

    def findings(self) -> list[Finding]:
        prior = getattr(self.model, "prior_", None)
        if prior is None:
            return []
        families = list(prior.family_rates().items())[:_MOST_SHOWN]
        likely = np.argsort(-prior.probability(), kind="stable")[:_MOST_SHOWN]
        p = prior.probability()
        return [
            Finding(
                "families by relevance", ["family", "share of its features that tasks choose"],
                [[name, round(rate, 5)] for name, rate in families],
            ),
            Finding(
                "features by relevance", ["feature", "probability", "tasks that chose it"],
                [
                    [name, round(float(p[j]), 4), ", ".join(map(str, prior.vouchers(name)[:8]))]
                    for j in likely.tolist()
                    for name in [prior.feature_names_[j]]
                ],
            ),
        ]  # fmt: skip

    def save(self, folder: Path) -> list[str]:
        from featloom.discover.kept import save_tasks

        return save_tasks(self.model, folder)


def task_rows(table: NominalTable | FeatureMatrix, task: str | None) -> TaskRows:
    """Rows of a table, one of whose columns names the task."""
    if task is None:
        raise InputError("the task of a row is not known; name the column that tells it by --task")
    if not isinstance(table, NominalTable):
        raise InputError("a sparse matrix without a column that tells the task")
    if task == table.target:
        raise InputError(f"--task and --target are both {task!r}; they are two columns")
    if (table.codes[:, table.column_index(task)] == UNKNOWN).any():
        row = int((table.codes[:, table.column_index(task)] == UNKNOWN).argmax())
        raise InputError(f"row {row + 1} has no {task}")
    rest, tasks = split_task_column(table, task)
    return TaskRows(FeatureMatrix.from_table(rest), tasks.astype(str))


def _commonest(seed: int, threads: int) -> MultiTask:
    return baselines.most_frequent_class(n_jobs=threads, random_state=seed)


def _alone(seed: int, threads: int) -> MultiTask:
    return baselines.linear_svm(n_jobs=threads, random_state=seed)


def _sparse(seed: int, threads: int) -> MultiTask:
    return baselines.l1_logistic(n_jobs=threads, random_state=seed)


def _own(seed: int, threads: int) -> MultiTask:
    return baselines.evidence_svm(n_jobs=threads, random_state=seed)


def _helped(seed: int, threads: int) -> MultiTask:
    return MultiTask(strengths=baselines.STRENGTHS, n_jobs=threads, random_state=seed)


def _priced(seed: int, threads: int) -> MultiTask:
    from featloom.learners.stepwise import MDLSelector

    prior = RelevancePrior(rounds=2)
    return MultiTask(
        MDLSelector(), prior=prior, use="cost", strengths=None, n_jobs=threads, random_state=seed
    )


def _fit_tasks(
    classes: tuple[str, ...],
    made_of: str,
    make: Callable[[int, int], MultiTask],
    data: TaskRows,
    seed: int,
    threads: int,
) -> FittedTasks:
    model = make(seed, threads).fit(data.matrix, data.labels, tasks=data.tasks)

    def predict(rows: TaskRows) -> np.ndarray:
        known = np.isin(rows.tasks, np.array(list(model.models_)))
        answers = np.full(len(rows), None, dtype=object)
        if known.any():
            some = rows.take(np.flatnonzero(known))
            answers[known] = model.predict(some.matrix, tasks=some.tasks)
        return answers

    size = sum(_n_used(one) for one in model.models_.values()) if made_of else 0
    setting = ", ".join(
        f"{name.rpartition('__')[2]} {value:g}" for name, value in model.setting_.items()
    )
    return FittedTasks(model, predict, classes, size, made_of, setting)


def _n_used(model: Any) -> int:
    """Features that a task's model looks at."""
    estimator = model.estimator
    if estimator is None:
        return 0
    if hasattr(estimator, "get_support"):
        return len(estimator.get_support(indices=True))
    weights = getattr(estimator, "coef_", None)
    if weights is None and hasattr(estimator, "estimators_"):
        weights = np.vstack([one.coef_ for one in estimator.estimators_])
    if weights is None:
        return len(model.columns)
    return int((np.asarray(weights) != 0).any(axis=0).sum())


def _fit_transfeat(
    classes: tuple[str, ...], data: TaskRows, seed: int, threads: int
) -> FittedTasks:
    names = [str(name) for name in data.matrix.names]
    model = TransFeat(feature_names=names, n_jobs=threads).fit(data.by_task())

    def predict(rows: TaskRows) -> np.ndarray:
        answers = np.full(len(rows), None, dtype=object)
        for task in np.unique(rows.tasks).tolist():
            if task in model.classes_:
                places = np.flatnonzero(rows.tasks == task)
                answers[places] = model.predict(task, rows.matrix.take(places))
        return answers

    size = sum(len(chosen.features) for chosen in model.selections_.values())
    return FittedTasks(model, predict, classes, size, "features chosen", "")


def _fit_together(classes: tuple[str, ...], data: TaskRows, seed: int, threads: int) -> FittedTasks:
    """One linear model, its penalty tuned on a quarter of the rows."""
    from featloom.discover.recipes import STRENGTHS
    from featloom.evaluation.folds import make_folds
    from featloom.learners.linear import LinearClassifier

    tasks = np.unique(data.tasks)
    X, y = _with_task(data, tasks), data.labels
    fold_of = make_folds(
        y, n_folds=4, groups=data.matrix.groups, seed=seed, allow_rare=True, stratified=False
    )
    learn, judge = fold_of != 0, fold_of == 0
    right = []
    for strength in STRENGTHS:
        model = LinearClassifier(C=strength, n_jobs=threads, random_state=seed)
        right.append(float((model.fit(X[learn], y[learn]).predict(X[judge]) == y[judge]).mean()))
    best = STRENGTHS[int(np.argmax(right))]
    model = LinearClassifier(C=best, n_jobs=threads, random_state=seed).fit(X, y)

    def predict(rows: TaskRows) -> np.ndarray:
        return model.predict(_with_task(rows, tasks))

    return FittedTasks(model, predict, classes, X.shape[1], "features", f"C {best:g}")


def _with_task(data: TaskRows, tasks: np.ndarray) -> sparse.csr_matrix:
    """The features, and one for each task."""
    n = len(data)
    known = np.isin(data.tasks, tasks)
    place = np.searchsorted(tasks, data.tasks[known])
    ones = sparse.csr_matrix(
        (np.ones(len(place)), (np.flatnonzero(known), place)), shape=(n, len(tasks))
    )
    return sparse.hstack([data.matrix.to_csr(), ones], format="csr")
