"""Who answers for many tasks: each alone, all in one, or each helped by the others.

Whatever learned them, in the end all are linear models of features
(:class:`~featloom.methods.transfer.task_models.TaskModels`), which answer here as they will from
their file.

Models of tasks choose their settings from the rows of their task, each for itself, which is a part
of the methods; the one model for all tasks has a setting that is chosen from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.task_archives import tasks_as_features
from featloom.data.row_prints import RowPrints
from featloom.data.vocabulary import Vocabulary
from featloom.learners.linear import LinearClassifier
from featloom.learners.stepwise import MDLSelector
from featloom.method import Contender, Method, Setting, Unsuited
from featloom.methods.transfer import baselines
from featloom.methods.transfer.linear_tasks import models_of, models_of_one, models_of_transfeat
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.task_models import TaskModels
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TransFeat
from featloom.results import Grid, grid
from featloom.runs import MODEL, PRIOR

# Strengths of the one model for all tasks.
STRENGTHS = (1.0, 0.1, 0.3, 3.0, 10.0)
ALONE, HELPED = "linear SVM, each task alone", "relevance prior"
_MOST_SHOWN = 60

FitEach = Callable[[FeatureMatrix, Sequence[Setting], int, int], Iterator["FittedTasks"]]


def task_contenders(classes: tuple[str, ...]) -> list[Contender | Unsuited]:
    """Everyone, cheap ones first.

    Parameters
    ----------
    classes : of all tasks; answers are their places.
    """

    def fit(made_of: str, make: Callable[[int, int], MultiTask]) -> FitEach:
        return partial(fit_once, partial(_fit_tasks, classes, made_of, make))

    return [
        Contender(
            "most frequent class of the task", "chance", "the same answer whatever the row",
            fit("", _commonest), cost=0.1,
        ),
        Contender(
            ALONE, "baseline", "a linear model for each task, from its own rows",
            fit("features", _alone), cost=1.0,
        ),
        Contender(
            "L1 logistic regression, each task alone", "baseline",
            "a sparse linear model for each task", fit("features", _sparse), cost=2.0,
        ),
        Contender(
            "selection at one cost, each task alone", "baseline",
            "few features a task, all at the same cost, chosen by minimum description length",
            fit("features chosen", _selected), cost=2.0,
        ),
        Contender(
            "own evidence, each task alone", "baseline",
            "a linear model for each task, columns scaled by what its rows tell of them",
            fit("features", _own), cost=3.0,
        ),
        Contender(
            "one model for all tasks", "baseline",
            "a linear model on all rows, with the task as a feature",
            partial(_fit_together, classes), {"C": STRENGTHS}, cost=2.5,
        ),
        Contender(
            HELPED, "method",
            "a linear model for each task, columns scaled by what other tasks found relevant",
            fit("features", helped), cost=4.0,
        ),
        Contender(
            "selection at the prior's costs", "method",
            "few features a task, cheaper where other tasks chose them",
            fit("features chosen", _priced), cost=4.5,
        ),
        Contender(
            "TransFeat", "method", "the published method: selection, clusters of tasks, prior",
            partial(fit_once, partial(_fit_transfeat, classes)), cost=6.0,
        ),
        Contender(
            "relevance prior, shuffled", "yardstick",
            "a control: the prior's probabilities dealt out to features at random, so that nothing "
            "is carried over",
            fit("features", _shuffled), cost=4.0,
        ),
    ]  # fmt: skip


@dataclass
class FittedTasks:
    """Models of tasks that have learned.

    Parameters
    ----------
    learner : what learned.
    models : the linear models that it came to, which answer.
    classes : whose places are the codes of answers.
    made_of : what its size counts; "" for nothing.
    rows : what it learned from.
    """

    learner: Any
    models: TaskModels
    classes: tuple[str, ...]
    made_of: str
    setting: str
    rows: FeatureMatrix

    @property
    def model(self) -> TaskModels:
        """What a user gets: the models, which name classes as the data do."""
        return self.models

    @property
    def size(self) -> int:
        """Features of all tasks, those of each counted by themselves."""
        if not self.made_of:
            return 0
        if self.models.answers_any_task:
            return len(self.models.features)
        weights = self.models.weights
        output_of = np.repeat(np.arange(weights.shape[1]), np.diff(weights.indptr))
        task_of = np.searchsorted(self.models.starts, output_of, side="right")
        return len(np.unique(np.stack([task_of, weights.indices]), axis=1)[0])

    @property
    def size_words(self) -> str:
        return f"{self.size:,} {self.made_of}" if self.made_of else "1 class a task"

    def answers(self, data: FeatureMatrix) -> np.ndarray:
        given = self.models.answers(data, data.task_of_row)
        # A task that was not learned has no model, and so no right answer.
        return Vocabulary(self.classes).find(given.tolist())

    def findings(self) -> list[Grid]:
        found = [self._strongest()]
        if self.models.prior is not None:
            found += _relevance(self.models.prior)
        return [one for one in found if one.rows]

    def save(self, folder: Path) -> list[str]:
        learned = RowPrints.of(tasks_as_features(self.rows))
        return save_tasks(replace(self.models, learned=learned), folder)

    def _strongest(self) -> Grid:
        """The feature with the highest weight for each class of a task, the largest first."""
        models = self.models
        rows = []
        if not models.answers_any_task:
            for t, task in enumerate(models.tasks):
                for k in models.outputs[models.starts[t] : models.starts[t + 1]].tolist():
                    column = models.weights[:, [k]].tocoo()
                    if column.nnz and column.data.max() > 0:
                        best = int(np.argmax(column.data))
                        weight, name = column.data[best], models.features.name(column.row[best])
                        rows.append([task, models.classes[k], name, float(f"{weight:.4g}")])
        rows.sort(key=lambda row: -row[3])
        columns = {"task": "text", "class": "text", "feature": "feature", "weight": "number"}
        return grid("what speaks most for a class", columns, rows[:_MOST_SHOWN])


def _relevance(prior: RelevancePrior) -> list[Grid]:
    families = list(prior.family_rates().items())[:_MOST_SHOWN]
    p = prior.probability()
    likely = np.argsort(-p, kind="stable")[:_MOST_SHOWN].tolist()
    return [
        grid(
            "families by relevance",
            {"family": "text", "share of its features that tasks choose": "share"},
            [[name, round(rate, 5)] for name, rate in families],
        ),
        grid(
            "features by relevance",
            {"feature": "feature", "probability": "number", "tasks that chose it": "text"},
            [
                [name, round(float(p[j]), 4), ", ".join(map(str, prior.vouchers(name)[:8]))]
                for j in likely
                for name in [prior.feature_names_[j]]
            ],
        ),
    ]  # fmt: skip


def _commonest(seed: int, threads: int) -> MultiTask:
    return baselines.most_frequent_class(n_jobs=threads, random_state=seed)


def _alone(seed: int, threads: int) -> MultiTask:
    return baselines.linear_svm(n_jobs=threads, random_state=seed)


def _sparse(seed: int, threads: int) -> MultiTask:
    return baselines.l1_logistic(n_jobs=threads, random_state=seed)


def _selected(seed: int, threads: int) -> MultiTask:
    return baselines.flat_cost_selection(n_jobs=threads, random_state=seed)


def _own(seed: int, threads: int) -> MultiTask:
    # Without scaling it is the linear SVM, which is there; where it helps, half a power does.
    some = {"evidencescaling__exponent": (0.5, 0.3, 0.8), "linearsvc__C": (0.03, 0.1)}
    model = baselines.evidence_svm(n_jobs=threads, random_state=seed)
    return model.set_params(choices=some)


def helped(seed: int, threads: int) -> MultiTask:
    return MultiTask(strengths=baselines.STRENGTHS, n_jobs=threads, random_state=seed)


def _shuffled(seed: int, threads: int) -> MultiTask:
    prior = RelevancePrior(rounds=2, shuffle=seed + 1)
    return MultiTask(
        prior=prior, strengths=baselines.STRENGTHS, n_jobs=threads, random_state=seed
    )  # fmt: skip


def _priced(seed: int, threads: int) -> MultiTask:
    prior = RelevancePrior(rounds=2)
    return MultiTask(
        MDLSelector(), prior=prior, use="cost", strengths=None, n_jobs=threads, random_state=seed
    )


def fit_once(
    fit: Callable[[FeatureMatrix, int, int], FittedTasks],
    data: FeatureMatrix,
    settings: Sequence[Setting],
    seed: int,
    threads: int,
) -> Iterator[FittedTasks]:
    """Fit once for each setting: there is one, in which nothing is left open."""
    for _ in settings:
        yield fit(data, seed, threads)


def _fit_tasks(
    classes: tuple[str, ...],
    made_of: str,
    make: Callable[[int, int], MultiTask],
    data: FeatureMatrix,
    seed: int,
    threads: int,
) -> FittedTasks:
    model = make(seed, threads).fit(data, data.label_names, tasks=data.task_of_row)
    return FittedTasks(
        model, typed(models_of(model, data), data), classes, made_of, words_of(model), data
    )


def _fit_transfeat(
    classes: tuple[str, ...], data: FeatureMatrix, seed: int, threads: int
) -> FittedTasks:
    names = [str(name) for name in data.names]
    model = TransFeat(feature_names=names, n_jobs=threads).fit(data.by_task())
    models = typed(models_of_transfeat(model, data), data)
    return FittedTasks(model, models, classes, "features chosen", "", data)


def _fit_together(
    classes: tuple[str, ...],
    data: FeatureMatrix,
    settings: Sequence[Setting],
    seed: int,
    threads: int,
) -> Iterator[FittedTasks]:
    """One linear model for each strength, on the same features."""
    X = tasks_as_features(data).to_csr()
    for setting in settings:
        strength = setting.get("C", STRENGTHS[0])
        model = LinearClassifier(C=strength, n_jobs=threads, random_state=seed)
        models = models_of_one(model.fit(X, data.label_names), data)
        yield FittedTasks(model, typed(models, data), classes, "features", f"C {strength:g}", data)


def typed(models: TaskModels, data: FeatureMatrix) -> TaskModels:
    """The models, whose classes are of the type that they have in the data."""
    return replace(models, class_type=data.class_type)


def words_of(model: MultiTask) -> str:
    return ", ".join(
        f"{name.rpartition('__')[2]} {value:g}" for name, value in model.setting_.items()
    )


def save_tasks(models: Any, folder: Path) -> list[str]:
    """The models of all tasks, and what tasks found relevant, for tasks to come."""
    models.save(folder / MODEL)
    if models.prior is None:
        return [MODEL]
    models.prior.save(folder / PRIOR)
    return [MODEL, PRIOR]


_NEEDS = "it needs many tasks, a table whose rows name the task they belong to"
METHOD = Method(
    "transfer",
    {
        "tasks": task_contenders,
        "table": [Unsuited("transfer", "there is no column that names a task (--task)")],
        "sequence": [Unsuited("transfer of feature relevance", _NEEDS)],
        "trees": [Unsuited("transfer of feature relevance", _NEEDS)],
    },
)
