"""Contenders that two methods make together.

**Templates from trees, thinned by search**: of the templates that a forest grew those that a search
keeps.

**Conjunctions for many small tasks**: induced where other tasks say that it is worth looking.

A task of a few dozen rows has millions of pairs of features, and almost all that seem to tell its
classes apart do so by chance.  Here each task looks for conjunctions among the features alone that
a relevance prior, learned from the other tasks, holds to be most likely relevant; the best of them
join the scaled features of its linear model.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.sentences import drawn
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.features.feature_list import FeatureList
from featloom.learners.template_sets import SEARCHED, TemplateSet, fits, usual_window
from featloom.method import Contender, Setting
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.template_search.contenders import found_by_search
from featloom.methods.transfer.contenders import FittedTasks, fit_once, helped, typed, words_of
from featloom.methods.transfer.linear_tasks import atoms, linear_part, models_of, spread_out
from featloom.methods.transfer.task_models import TaskModels
from featloom.methods.transfer.tasks import MultiTask, TaskModel
from featloom.methods.tree_templates.contenders import GROWN_ON, SHAPES, grown_templates

LOOKED_AT, KEPT = 100, 30  # features that are joined, and conjunctions, of each task
_LEAST_ROWS = 3  # of a feature that is joined, and of a conjunction

Pair = tuple[int, ...]


def thinned_templates() -> Contender:
    """A tagger on those of the trees' templates that a search keeps."""
    return Contender(
        "templates from trees, thinned by search", "method",
        "a CRF on those of the trees' templates that take off the errors of CRFs",
        fits(thinned_set, SEARCHED), SEARCHED, searches=True, cost=10.0,
    )  # fmt: skip


def thinned_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """Of the templates that the larger forest grew those that a search keeps."""
    grown = grown_templates(drawn(table, GROWN_ON, seed), [*SHAPES][-1], seed)
    candidates = [template for template in grown.plan.templates if template.places]
    how = {"candidates": candidates, "makers": list(grown.plan.derived)}
    window = usual_window(table)
    return found_by_search(table, setting, seed, threads, window, f"{len(candidates)} thinned", how)


def joined_tasks(classes: tuple[str, ...]) -> Contender:
    """Models of tasks on features and conjunctions; ``classes`` are those of all tasks."""
    return Contender(
        "conjunctions under the prior", "method",
        "the same with conjunctions of the features that other tasks found most relevant",
        partial(fit_once, partial(_fit_tasks, classes)), cost=5.0,
    )  # fmt: skip


def _fit_tasks(
    classes: tuple[str, ...], data: FeatureMatrix, seed: int, threads: int
) -> FittedTasks:
    model = helped(seed, threads).fit(data, data.label_names, tasks=data.task_of_row)
    models = typed(fit_joined(model, data), data)
    # What learned knows nothing of conjunctions, so the models themselves are what a user gets.
    return FittedTasks(models, models, classes, "features", words_of(model), data)


def fit_joined(model: MultiTask, rows: FeatureMatrix) -> TaskModels:
    """Models of tasks with conjunctions, after a :class:`MultiTask` with a prior, same rows.

    Parameters
    ----------
    model : fitted; its prior, scales and setting are used.
    """
    if model.prior_ is None:
        raise InputError("the tasks were learned without a prior; there is none to join under")
    X, labels = rows.to_csr(), rows.label_names
    plain = models_of(model, rows)
    joined, of_task = Vocabulary(), rows.task_of_row
    n = rows.shape[1]
    found = {}
    for task, one in model.models_.items():
        mine = np.flatnonzero(of_task == task)
        pairs = _pairs(model, one, str(task), rows, X[mine], labels[mine])
        joined.add(pairs)
        found[str(task)] = (one, mine, pairs)
    if not joined:
        return plain
    parts = np.full((n + len(joined), 2), -1, dtype=np.int32)
    parts[:n, 0] = np.arange(n)
    parts[n:] = list(joined)
    alone = atoms(rows)
    features = FeatureList(alone.columns, alone.vocabularies, parts)
    learned = {
        task: _learned(
            model, one, X[mine], labels[mine], pairs, n + joined.find(pairs), len(features)
        )
        for task, (one, mine, pairs) in found.items()
    }
    return TaskModels.of(features, learned, rows.task_column, rows.target, model.prior_)


def _pairs(
    model: MultiTask,
    one: TaskModel,
    task: str,
    matrix: FeatureMatrix,
    X: sparse.csr_matrix,
    labels: np.ndarray,
) -> list[Pair]:
    """Conjunctions of a task, as pairs of feature numbers."""
    if one.estimator is None or one.scale is None:
        return []
    n_rows = np.bincount(X.indices, minlength=X.shape[1])[one.columns]
    common = np.flatnonzero((n_rows >= _LEAST_ROWS) & (n_rows < X.shape[0]))
    likely = common[np.argsort(-one.scale[common], kind="stable")][:LOOKED_AT]
    columns = np.sort(one.columns[likely])
    if len(columns) < 2:
        return []
    names = [str(number) for number in columns.tolist()]
    families = [matrix.families[family] for family in matrix.family_of[columns].tolist()]
    some = FeatureMatrix.from_csr(X[:, columns], names=names, feature_groups=families)
    inducer = ConjunctionInducer(
        score="residual", keep=1.0, final_keep=KEPT, min_support=_LEAST_ROWS
    ).fit(some, labels)
    induced = [tuple(map(int, feature.feature.parts)) for feature in inducer.features_]
    return [(min(pair), max(pair)) for pair in induced if len(pair) == 2]


def _learned(
    model: MultiTask,
    one: TaskModel,
    X: sparse.csr_matrix,
    labels: np.ndarray,
    pairs: list[Pair],
    numbers: np.ndarray,
    n: int,
) -> tuple[sparse.csc_matrix, np.ndarray, np.ndarray]:
    """Weights, biases and classes of a task, on its features and conjunctions."""
    if one.estimator is None:
        return sparse.csc_matrix((n, 1)), np.zeros(1), one.classes
    scale = np.ones(len(one.columns)) if one.scale is None else one.scale
    columns = np.append(one.columns, numbers)
    both = [X[:, [a]].multiply(X[:, [b]]) for a, b in pairs]
    joined = sparse.hstack([X[:, one.columns] @ sparse.diags(scale), *both], format="csr")
    codes = np.searchsorted(one.classes, labels)
    estimator = model._estimator().set_params(
        **{name: value for name, value in one.setting.items() if name != "power"}
    )
    weights, biases, kept = linear_part(estimator.fit(joined, codes))
    weights = weights * np.append(scale, np.ones(len(pairs)))[:, None]
    return spread_out(weights, columns, n), biases, one.classes[kept]
