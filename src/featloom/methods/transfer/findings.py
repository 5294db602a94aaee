"""What was carried over and what it is worth, as parts of a result.

Methods that answered the same held-out rows are compared task by task: the differences of their
accuracies, a paired t test over tasks.  One function for each thing that is shown: the gain as
tasks get more rows, the tasks, those that are alike, the families of features by their rate, and
for one task who vouched for what it chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.evaluation.metrics import accuracy_of_counts, correct_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import Interval, bootstrap_interval, paired_t
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, MDLSelector, candidates
from featloom.methods.transfer.clusters import BACKGROUND
from featloom.methods.transfer.parts import TransferParts
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TaskClass, TransFeat
from featloom.results import (
    Bars,
    Block,
    Column,
    Comparison,
    Grid,
    Line,
    Lines,
    Section,
    grid,
)
from featloom.words import counted, interval_of_points, number, p_words, points

MOST_FAMILIES, MOST_SHARED = 1_000, 20


def interval_of(test: FeatureMatrix, answers: np.ndarray, *, seed: int = 0) -> Interval:
    """The share of right answers, with its interval over rows, or over groups."""
    right = answers == test.label_codes
    counts = correct_counts(np.ones(len(test), dtype=bool), right, groups=test.units)
    return bootstrap_interval(counts, accuracy_of_counts, seed=seed)


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
    parts: TransferParts, answers: Mapping[str, np.ndarray], pairs: Iterable[tuple[str, str]]
) -> list[Comparison]:
    """Paired t tests over tasks of pairs of methods.

    Where fewer than two tasks can differ there is the mean difference and no test.
    """
    tasks = tasks_that_can_differ(parts)
    shares = {name: task_accuracies(parts.test, given) for name, given in answers.items()}
    found = []
    for a, b in pairs:
        first, second = ([shares[name][task] for task in tasks] for name in (a, b))
        if len(tasks) < 2:
            mean = float(np.mean(np.subtract(first, second))) if tasks else 0.0
            found.append(Comparison(a, b, mean, on="test"))
            continue
        test = paired_t(first, second)
        found.append(
            Comparison(
                a, b, test.difference, (test.low, test.high), test.p, significant=test.p < LEVEL,
                on="test", test=f"paired over {counted(test.tasks, 'task')}",
                t=test.t if np.isfinite(test.t) else None,
            )
        )  # fmt: skip
    return found


def verdict(gain: Comparison, shuffled: Comparison, tasks: int, learner: str) -> str:
    """What a reader may conclude, in plain words.

    ``gain`` tests the model with the prior against the one without, ``shuffled`` against the one
    with the prior dealt out to other features, both over so many ``tasks``.

    >>> gain = Comparison("a", "b", 0.0165, (0.008, 0.025), p=0.0004, significant=True)
    >>> shuffled = Comparison("a", "c", 0.02, significant=True)
    >>> print(verdict(gain, shuffled, 50, "a linear SVM"))
    What other tasks found relevant lifts a linear SVM by 1.65 points of accuracy a task (95 % +0.80 to +2.50; paired t over 50 tasks, p < .001), and by 2.00 points above the same prior shuffled over features.
    """  # noqa: E501
    difference, above = gain.difference or 0.0, shuffled.difference or 0.0
    if gain.p is None:
        return (
            f"Too few tasks can differ to tell whether other tasks help {learner}: "
            f"{tasks} of two classes or more, with rows in the test part."
        )
    ends = [end or 0.0 for end in gain.interval or ()]
    how = f"({interval_of_points(ends, 2)}; paired t over {tasks} tasks, {p_words(gain.p)})"
    if not gain.significant:
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
    said = f"What other tasks found relevant lifts {learner} by {apart}"
    if shuffled.significant and above > 0:
        return (
            f"{said} a task {how}, and by {points(above, 2, signed=False)} above the same prior "
            "shuffled over features."
        )
    return (
        f"{said} a task {how}, but the same prior shuffled over features is not told apart from it "
        f"({points(above, 2)}): the gain is not one of transfer."
    )


def curve_section(lines: Sequence[Line]) -> Section:
    """What methods reach as tasks get more rows."""
    title = "What more rows of a task bring"
    return Section("Rows", title, blocks=[curve(lines), curve_grid("", lines)] if lines else [])


def curve(lines: Sequence[Line]) -> Lines:
    """Right answers against the rows that a task has; None of x stands for all."""
    return Lines(
        "Right answers against the rows that a task has", "rows of a task to learn from",
        "right answers", "percent", list(lines),
    )  # fmt: skip


def curve_grid(title: str, lines: Sequence[Line]) -> Grid:
    """The numbers of the curve, a line for each method.

    >>> table = curve_grid("", [Line("alone", [5, None], [0.5, 0.75]), Line("helped", [5], [0.6])])
    >>> [column.label for column in table.columns], table.rows
    (['rows a task', '5', 'all'], [['alone', 0.5, 0.75], ['helped', 0.6, None]])
    """
    sizes = list(dict.fromkeys(x for line in lines for x in line.x))
    columns: dict[str, str | Column] = {"rows a task": "text"}
    columns |= {"all" if size is None else number(size): "percent" for size in sizes}
    values = [dict(zip(line.x, line.y, strict=True)) for line in lines]
    rows = [
        [line.name, *(value.get(size) for size in sizes)]
        for line, value in zip(lines, values, strict=True)
    ]
    return grid(title, columns, rows)


def tasks_section(parts: TransferParts, alone: np.ndarray, helped: np.ndarray) -> Section:
    """Each task with what it gains, the largest gain first.

    Parameters
    ----------
    alone, helped : answers to the test rows without and with the prior.
    """
    before, after = (task_accuracies(parts.test, answers) for answers in (alone, helped))
    rows: list[list[Any]] = []
    of_train, of_test = parts.train.task_of_row, parts.test.task_of_row
    for task, share in before.items():
        mine = of_train == task
        n_classes = len(np.unique(parts.train.label_codes[mine]))
        sizes = [int(mine.sum()), int((of_test == task).sum()), n_classes]
        rows.append([str(task), *sizes, share, after[task], after[task] - share])
    columns: dict[str, str | Column] = {
        "task": "text", "rows": Column("rows", "count", "to learn from"), "test rows": "count",
        "classes": "count", "alone %": "percent", "with the prior %": "percent",
        "gain": Column("gain", "points", "points"),
    }  # fmt: skip
    rows.sort(key=lambda row: -row[-1])
    return Section("Tasks", "The tasks by themselves", blocks=[grid("", columns, rows)])


def families_section(prior: RelevancePrior, most: int = MOST_FAMILIES) -> Section:
    """The families by rate, with the counts that it rests on; of very many those met most."""
    counts: dict[str, list[int]] = {}
    met = zip(prior.families_, prior.selected_counts(), prior.candidate_counts(), strict=True)
    for name, n_selected, n_candidates in met:
        of = counts.setdefault(name, [0, 0, 0])
        of[0], of[1], of[2] = of[0] + 1, of[1] + int(n_selected), of[2] + int(n_candidates)
    rates = prior.family_rates()
    rows: list[list[Any]] = [[name, rate, *counts[name]] for name, rate in rates.items()]
    rows = sorted(sorted(rows, key=lambda row: -row[-1])[:most], key=lambda row: -row[1])
    columns: dict[str, str | Column] = {
        "family": "text", "P(relevant) %": "percent", "features": "count",
        "chosen": Column("chosen", "count", "pairs of a task and a feature that it chose"),
        "candidates": Column("candidates", "count", "pairs of a task and a feature that it met"),
    }  # fmt: skip
    bars = Bars(
        "How likely a feature of each family is to be relevant", "P(relevant)", "share",
        [row[0] for row in rows], [row[1] for row in rows],
    )  # fmt: skip
    note = (
        "The rate is the share of its candidates that tasks chose, leaning on the rate of all "
        "features where there are few."
    )
    blocks: list[Block] = [grid("", columns, rows, total=len(rates)), bars]
    return Section("Families", "Families of features by rate", note, blocks, brief=10)


def clusters_section(model: TransFeat) -> Section:
    """Classes of tasks that are alike, with the features that two of them at least share."""
    members: dict[int, list[TaskClass]] = {}
    for sense, cluster in model.clusters_.items():
        if cluster != BACKGROUND:
            members.setdefault(cluster, []).append(sense)
    rows: list[list[Any]] = []
    for cluster in sorted(members):
        times: dict[int, int] = {}
        for sense in members[cluster]:
            chosen = model.first_selections_[sense]
            for j in chosen.features[chosen.weights > 0].tolist():
                times[j] = times.get(j, 0) + 1
        shared = sorted((j for j, n in times.items() if n > 1), key=lambda j: (-times[j], j))
        names = [model.feature_names_[j] for j in shared[:MOST_SHARED]]
        who = [said_class(sense) for sense in members[cluster]]
        rows.append([f"cluster {cluster + 1}", len(who), who, names])
    columns = {"cluster": "text", "members": "count", "who": "names", "shared features": "names"}
    rows.sort(key=lambda row: -row[1])
    blocks = [grid("", columns, rows)] if rows else []
    return Section("Clusters", "Classes of tasks that are alike", blocks=[*blocks])


def said_class(sense: TaskClass) -> str:
    """A class of a task; one that names its task already stands alone.

    >>> said_class(TaskClass("add", "add.02")), said_class(TaskClass("site 3", "yes"))
    ('add.02', 'site 3: yes')
    """
    task, label = str(sense.task), str(sense.label)
    return label if label.startswith(task) else f"{task}: {label}"


def vouchers_section(task: str, rows: Sequence[Sequence[Any]]) -> Section:
    """What one task chose at the prior's costs, and who vouched for it.

    Parameters
    ----------
    rows : of each feature its name, the class it was chosen for, the bits that it saves, its cost
        in bits before and after the prior, and the other tasks that chose it.
    """
    columns: dict[str, str | Column] = {
        "feature": "feature", "class": "text", "saved, bits": "number",
        "cost before": Column("cost before", "number", "bits, all features alike"),
        "cost after": Column("cost after", "number", "bits, by what the other tasks chose"),
        "vouchers": "count", "tasks that vouched": "names",
    }  # fmt: skip
    table = grid("", columns, [[*row[:-1], len(row[-1]), row[-1]] for row in rows])
    title = f"What “{task}” chose, and who vouched for it"
    return Section("Vouchers", title, blocks=[table] if rows else [])


def best_vouched(
    selecting: MultiTask, prior: RelevancePrior, train: FeatureMatrix
) -> tuple[str, list[list[Any]]]:
    """The task with the most features that others chose too, and what it chose."""
    chosen = {str(task): _chosen(selecting, prior, train, str(task)) for task in selecting.models_}
    best = max(chosen, key=lambda task: sum(bool(row[-1]) for row in chosen[task]), default="")
    return best, chosen.get(best, [])


def _chosen(
    selecting: MultiTask, prior: RelevancePrior, train: FeatureMatrix, task: str
) -> list[list[Any]]:
    model = selecting.models_[task]
    selector = model.estimator
    if not isinstance(selector, MDLSelector):
        return []
    rows = train.take(train.task_of_row == task).to_csr()[:, model.columns]
    plain = float(np.log2(max(candidates(rows, selector.min_rows).sum(), 1))) + BITS_OF_A_WEIGHT
    names = [selecting.feature_names_[j] for j in model.columns]
    found: list[list[Any]] = []
    # Two classes are one target, of the second class; its model speaks for both.
    targets = model.classes[1:] if len(model.classes) == 2 else model.classes
    for label, chosen in zip(targets.tolist(), selector.selections_, strict=True):
        for j, saved, paid in zip(chosen.features, chosen.saved, chosen.paid, strict=True):
            vouchers = [str(other) for other in prior.vouchers(names[j], exclude=task)]
            found.append([names[j], str(label), float(saved), plain, float(paid), vouchers])
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
