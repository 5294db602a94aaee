"""What was carried over and what it is worth, as a result shows it.

Methods that answered the same held-out rows are compared task by task: the differences of their
accuracies, a paired t test over tasks.  Everything here is plain data: numbers, strings, lists and
dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.evaluation.metrics import accuracy_of_counts, correct_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import bootstrap_interval, paired_t
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, MDLSelector, candidates
from featloom.methods.transfer.clusters import BACKGROUND
from featloom.methods.transfer.parts import TransferParts
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TaskClass, TransFeat
from featloom.words import interval_of_points, p_words, points

MOST_FAMILIES, MOST_SHARED = 1_000, 20


def interval_of(test: FeatureMatrix, answers: np.ndarray, *, seed: int = 0) -> dict[str, Any]:
    """The share of right answers, with its interval over rows, or over groups."""
    right = answers == test.label_codes
    found = bootstrap_interval(
        correct_counts(np.ones(len(test), dtype=bool), right, groups=test.units),
        accuracy_of_counts,
        seed=seed,
    )
    return {"value": found.value, "interval": [found.low, found.high]}


def task_accuracies(rows: FeatureMatrix, answers: np.ndarray) -> dict[str, float]:
    """The share of right answers of each task."""
    right, tasks = answers == rows.label_codes, rows.task_codes
    return {rows.task_names[t]: float(right[tasks == t].mean()) for t in np.unique(tasks)}


def tasks_that_can_differ(parts: TransferParts) -> list[str]:
    """Tasks of two classes at least to learn from: those that methods can differ on."""
    labels, tasks = parts.train.label_codes, parts.train.task_codes
    return [
        parts.train.task_names[t]
        for t in np.unique(parts.test.task_codes)
        if len(np.unique(labels[tasks == t])) > 1
    ]


def compare_over_tasks(
    parts: TransferParts, answers: Mapping[str, np.ndarray], pairs: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Paired t tests over tasks of pairs of methods; None where fewer than two tasks can differ."""
    tasks = tasks_that_can_differ(parts)
    shares = {name: task_accuracies(parts.test, given) for name, given in answers.items()}
    found: list[dict[str, Any]] = []
    for a, b in pairs:
        first, second = ([shares[name][task] for task in tasks] for name in (a, b))
        if len(tasks) < 2:
            mean = float(np.mean(np.subtract(first, second))) if tasks else 0.0
            found.append({"a": a, "b": b, "difference": mean, "tasks": len(tasks), "t": None}
                         | {"interval": None, "p": None, "significant": None})  # fmt: skip
            continue
        test = paired_t(first, second)
        found.append(
            {
                "a": a,
                "b": b,
                "difference": test.difference,
                "interval": [test.low, test.high],
                "t": test.t if np.isfinite(test.t) else None,
                "p": test.p,
                "significant": test.p < LEVEL,
                "tasks": test.tasks,
            }
        )
    return found


def verdict(gain: Mapping[str, Any], shuffled: Mapping[str, Any], learner: str) -> str:
    """What a reader may conclude, in plain words.

    ``gain`` tests the model with the prior against the one without, ``shuffled`` against the one
    with the prior dealt out to other features.

    >>> gain = {"difference": 0.0165, "interval": [0.008, 0.025], "p": 0.0004,
    ...         "significant": True, "tasks": 50}
    >>> print(verdict(gain, gain | {"difference": 0.02}, "a linear SVM"))
    What other tasks found relevant lifts a linear SVM by 1.65 points of accuracy a task (95 % +0.80 to +2.50; paired t over 50 tasks, p < .001), and by 2.00 points above the same prior shuffled over features.
    """  # noqa: E501
    difference = gain["difference"]
    if gain["p"] is None:
        return (
            f"Too few tasks can differ to tell whether other tasks help {learner}: "
            f"{gain['tasks']} of two classes or more, with rows in the test part."
        )
    how = (
        f"({interval_of_points(gain['interval'], 2)}; paired t over {gain['tasks']} tasks, "
        f"{p_words(gain['p'])})"
    )
    if not gain["significant"]:
        return (
            f"What other tasks found relevant does not help {learner}: the difference of "
            f"{points(difference, 2)} of accuracy a task is within chance {how}."
        )
    apart = f"{points(abs(difference), 2, signed=False)} of accuracy"
    if difference < 0:
        return (
            f"What other tasks found relevant costs {learner} {apart} a task {how}; these tasks do "
            "better alone."
        )
    above = shuffled["difference"]
    said = f"What other tasks found relevant lifts {learner} by {apart}"
    if shuffled["significant"] and above > 0:
        return (
            f"{said} a task {how}, and by {points(above, 2, signed=False)} above the same prior "
            "shuffled over features."
        )
    return (
        f"{said} a task {how}, but the same prior shuffled over features is not told apart from it "
        f"({points(above, 2)}): the gain is not one of transfer."
    )


def family_rows(prior: RelevancePrior) -> list[dict[str, Any]]:
    """The families by rate, with the counts that it rests on."""
    names = prior.families_
    selected, met = prior.selected_counts(), prior.candidate_counts()
    counts: dict[str, list[int]] = {}
    for name, k, e in zip(names, selected.tolist(), met.tolist(), strict=True):
        of = counts.setdefault(name, [0, 0, 0])
        of[0], of[1], of[2] = of[0] + 1, of[1] + k, of[2] + e
    rows = [
        {"name": name, "features": counts[name][0], "rate": rate}
        | {"selected": counts[name][1], "candidates": counts[name][2]}
        for name, rate in prior.family_rates().items()
    ]
    return rows[:MOST_FAMILIES]


def cluster_rows(model: TransFeat) -> list[dict[str, Any]]:
    """Classes of tasks that are alike, with the features that two of them at least share."""
    members: dict[int, list[TaskClass]] = {}
    for sense, number in model.clusters_.items():
        if number != BACKGROUND:
            members.setdefault(number, []).append(sense)
    rows = []
    for number in sorted(members):
        times: dict[int, int] = {}
        for sense in members[number]:
            chosen = model.first_selections_[sense]
            for j in chosen.features[chosen.weights > 0].tolist():
                times[j] = times.get(j, 0) + 1
        shared = sorted((j for j, n in times.items() if n > 1), key=lambda j: (-times[j], j))
        rows.append(
            {
                "name": f"cluster {number + 1}",
                "members": [said_class(sense) for sense in members[number]],
                "features": [model.feature_names_[j] for j in shared[:MOST_SHARED]],
            }
        )
    return rows


def said_class(sense: TaskClass) -> str:
    """A class of a task; one that names its task already stands alone.

    >>> said_class(TaskClass("add", "add.02")), said_class(TaskClass("site 3", "yes"))
    ('add.02', 'site 3: yes')
    """
    task, label = str(sense.task), str(sense.label)
    return label if label.startswith(task) else f"{task}: {label}"


def chosen_part(
    selecting: MultiTask, prior: RelevancePrior, train: FeatureMatrix
) -> dict[str, Any]:
    """For one task what it chose at the prior's costs, and who vouched for it.

    It is the one with the most features that others chose too.
    """
    best: dict[str, Any] = {"task": "", "features": []}
    most = -1
    for task in selecting.models_:
        found = _chosen(selecting, prior, train, str(task))
        vouched = sum(bool(one["vouchers"]) for one in found)
        if vouched > most:
            most, best = vouched, {"task": str(task), "features": found}
    return best


def _chosen(
    selecting: MultiTask, prior: RelevancePrior, train: FeatureMatrix, task: str
) -> list[dict[str, Any]]:
    model = selecting.models_[task]
    selector = model.estimator
    if not isinstance(selector, MDLSelector):
        return []
    rows = train.take(train.task_of_row == task).to_csr()[:, model.columns]
    plain = float(np.log2(max(candidates(rows, selector.min_rows).sum(), 1))) + BITS_OF_A_WEIGHT
    names = [selecting.feature_names_[j] for j in model.columns]
    found = []
    # Two classes are one target, of the second class; its model speaks for both.
    targets = model.classes[1:] if len(model.classes) == 2 else model.classes
    for label, chosen in zip(targets.tolist(), selector.selections_, strict=True):
        for j, saved, paid in zip(chosen.features, chosen.saved, chosen.paid, strict=True):
            found.append(
                {
                    "name": names[j],
                    "class": str(label),
                    "saved": float(saved),
                    "cost_before": plain,
                    "cost_after": float(paid),
                    "vouchers": [str(t) for t in prior.vouchers(names[j], exclude=task)],
                }
            )
    return found


def data_part(parts: TransferParts, data: FeatureMatrix) -> dict[str, Any]:
    """What the data are: rows, classes, features."""
    labels, counts = np.unique(
        np.concatenate([parts.train.label_names, parts.test.label_names]), return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    return {
        "source": data.source,
        "rows": len(parts.train) + len(parts.test),
        "features": data.shape[1],
        "target": data.target,
        "classes": {str(labels[i]): int(counts[i]) for i in order},
        "groups": data.n_groups,
        "warnings": list(parts.warnings),
    }
