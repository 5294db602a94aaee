"""What is relevance learned from other tasks worth here?  One protocol, one answer.

A relevance prior is learned from the training rows of all tasks.  A linear SVM a task, on columns
scaled by it, is compared with the same SVM on plain columns; both choose the strength of their
penalty from the same values, by cross-validation inside the training rows.  Beside them stand the
controls: the prior dealt out to other features at random, which is as uneven as the true one and
knows nothing; and, for stepwise selection at the prior's costs, one flat cost for all features,
both tuned and as it was when the prior was learned: few rows may tune it badly, and a control that
is weak by chance proves nothing.  TransFeat, the paper's method, is there too.  Test rows are
answered once.

Methods are compared over tasks by a paired t test.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.task_archives import tasks_as_features
from featloom.data.row_prints import RowPrints
from featloom.data.vocabulary import Vocabulary
from featloom.learners.stepwise import MDLSelector
from featloom.methods.transfer import baselines
from featloom.methods.transfer.findings import (
    chosen_part,
    cluster_rows,
    compare_over_tasks,
    data_part,
    family_rows,
    interval_of,
    task_accuracies,
    verdict,
)
from featloom.methods.transfer.linear_tasks import models_of
from featloom.methods.transfer.parts import TransferParts, first_rows
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TransFeat

COMMONEST, ALONE, HELPED = "most frequent class", "linear SVM", "linear SVM with the prior"
SHUFFLED = "linear SVM with the prior shuffled"
PRICED, FLAT = "selection at the prior's costs", "selection at one flat cost"
FIXED = "selection at the flat cost of the prior"
PAPER = "TransFeat"
KINDS = {COMMONEST: "baseline", ALONE: "baseline", HELPED: "ours", SHUFFLED: "control"}
KINDS |= {PRICED: "ours", FLAT: "control", FIXED: "control", PAPER: "paper"}
# What each is tested against: its like without transfer.
RIVALS = {COMMONEST: ALONE, HELPED: ALONE, SHUFFLED: ALONE, PRICED: FLAT, FIXED: FLAT}
RIVALS[PAPER] = FLAT
STRENGTHS = baselines.STRENGTHS
ROUNDS = 2
SIZES = (5, 10, 20, 40, 80, 160)

Keep = Callable[[str, Any], None]


def study_transfer(
    data: FeatureMatrix,
    parts: TransferParts,
    *,
    curve: bool = True,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], None] = lambda *_: None,
    keep: Keep = lambda _, __: None,
) -> dict[str, Any]:
    """The parts of a result that speak of the data, the prior and the methods.

    Parameters
    ----------
    data : what the parts were cut from.
    curve : whether methods are also compared where tasks have fewer rows.
    say, progress : are told what is being done, and how far it is.
    keep : is given what is finished, by name: "prior", "model".
    """
    train, test = parts.train, parts.test
    sizes = _sizes(train) if curve else []
    n_steps = len(KINDS) + len(sizes)
    say("learning which features are relevant (first use compiles)")
    begun = perf_counter()
    prior = learned_prior(train)
    prior_s = perf_counter() - begun
    keep("prior", prior)
    models: list[dict[str, Any]] = []
    answers: dict[str, np.ndarray] = {}
    fitted: dict[str, Any] = {}
    for done, (name, model) in enumerate(_methods(prior, seed, jobs).items()):
        say(f"fitting: {name}")
        progress(done, n_steps, None)
        begun = perf_counter()
        answers[name] = _answers(model, train, test)
        fitted[name] = model
        models.append(
            {"name": name, **interval_of(test, answers[name], seed=seed)}
            | {"seconds": perf_counter() - begun + (prior_s if name in (HELPED, PRICED) else 0.0)}
            | _said_setting(model)
        )
    kept = models_of(fitted[HELPED], train)
    known = RowPrints.of(tasks_as_features(train))
    keep("model", replace(kept, class_type=train.class_type, learned=known))
    pairs = [
        (HELPED, ALONE),
        (HELPED, SHUFFLED),
        (PRICED, FIXED),
        *((a, b) for a, b in RIVALS.items()),
    ]
    tests = compare_over_tasks(parts, answers, list(dict.fromkeys(pairs)))
    points = _curve(parts, sizes, models, say, progress, n_steps, seed=seed, jobs=jobs)
    return {
        "kind": "transfer of relevance",
        "data": data_part(parts, data),
        "protocol": _protocol(parts),
        "parameters": {"protocol": _protocol(parts), "rounds": ROUNDS, "kappa": prior.kappa}
        | {"power": prior.power, "strengths": list(STRENGTHS)}
        | {"chosen": {one["name"]: one["setting"] for one in models if one["setting"]}},
        "metric": "accuracy",
        "test_score": next(one["value"] for one in models if one["name"] == HELPED),
        "comparisons": tests,
        "verdict": verdict(tests[0], tests[1], "a linear SVM"),
        "significant": bool(tests[0]["significant"]),
        "transfer": {
            "tasks": len(data.task_names),
            "rows": len(train) + len(test),
            "features": data.shape[1],
            "families": family_rows(prior),
            "methods": [_method_row(one, tests, parts) for one in models],
            "curve": points,
            "per_task": _task_rows(parts, answers),
            "clusters": cluster_rows(fitted[PAPER]),
            "chosen": chosen_part(fitted[PRICED], prior, train),
        },
    }


def learned_prior(train: FeatureMatrix) -> RelevancePrior:
    """The prior of the training rows of all tasks."""
    names = [str(name) for name in train.names]
    return RelevancePrior(feature_names=names, rounds=ROUNDS).fit(train.by_task())


def _methods(prior: RelevancePrior, seed: int, jobs: int) -> dict[str, Any]:
    """The methods, not yet fitted; those with a prior share the one that was learned."""
    how: dict[str, Any] = {"n_jobs": jobs, "random_state": seed}
    shuffled = copy.deepcopy(prior).set_params(shuffle=seed)
    return {
        COMMONEST: baselines.most_frequent_class(**how),
        ALONE: MultiTask(prior=None, strengths=STRENGTHS, **how),
        HELPED: MultiTask(prior=prior, strengths=STRENGTHS, **how),
        SHUFFLED: MultiTask(prior=shuffled, strengths=STRENGTHS, **how),
        PRICED: MultiTask(MDLSelector(), prior=prior, use="cost", strengths=None, **how),
        FLAT: baselines.flat_cost_selection(**how),
        FIXED: MultiTask(MDLSelector(cost=prior.bits), prior=None, strengths=None, **how),
        PAPER: TransFeat(feature_names=prior.feature_names, n_jobs=jobs),
    }


def _answers(model: MultiTask | TransFeat, train: FeatureMatrix, test: FeatureMatrix) -> np.ndarray:
    """The class of each test row by code; -1 where the test part has no row of it."""
    if isinstance(model, MultiTask):
        model.fit(train, train.label_names, tasks=train.task_of_row)
        answers = model.predict(test, tasks=test.task_of_row)
    else:
        model.fit(train.by_task())
        answers = np.empty(len(test), dtype=object)
        for task, (rows, _) in test.by_task().items():
            answers[test.task_of_row == task] = model.predict(task, rows)
    return Vocabulary(test.classes).find(answers.tolist())


def _curve(
    parts: TransferParts,
    sizes: list[int],
    models: list[dict[str, Any]],
    say: Callable[[str], None],
    progress: Callable[[int, int | None, float | None], None],
    n_steps: int,
    *,
    seed: int,
    jobs: int,
) -> list[dict[str, Any]]:
    """The SVM alone and with the prior, where all tasks have so many rows at most."""
    shown = (ALONE, HELPED, SHUFFLED)
    points: list[dict[str, Any]] = []
    for done, size in enumerate(sizes):
        say(f"fitting with at most {size} rows a task")
        progress(n_steps - len(sizes) + done, n_steps, None)
        train = first_rows(parts.train, size, seed)
        methods = _methods(learned_prior(train), seed, jobs)
        for name in shown:
            found = interval_of(parts.test, _answers(methods[name], train, parts.test), seed=seed)
            points.append({"method": name, "rows": size, **found})
    if points:
        points += [
            {"method": one["name"], "rows": None, "value": one["value"]}
            | {"interval": one["interval"]}
            for one in models
            if one["name"] in shown
        ]
    return points


def _sizes(train: FeatureMatrix) -> list[int]:
    """Numbers of rows below what half of the tasks have."""
    rows = np.unique(train.task_codes, return_counts=True)[1]
    return [size for size in SIZES if size < np.median(rows)]


def _said_setting(model: Any) -> dict[str, Any]:
    """What was chosen for all tasks, and how many features a task's model looks at."""
    if isinstance(model, TransFeat):
        by_task: dict[Any, set[int]] = {task: set() for task in model.classes_}
        for sense, chosen in model.selections_.items():
            by_task[sense.task].update(chosen.features.tolist())
        mean = float(np.mean([len(one) for one in by_task.values()]))
        return {"features_a_task": mean, "setting": ""}
    setting = ", ".join(f"{name} {value:g}" for name, value in model.setting_.items())
    sizes = []
    for one in model.models_.values():
        if isinstance(one.estimator, MDLSelector):
            sizes.append(len(one.estimator.get_support(indices=True)))
        elif one.estimator is not None and hasattr(one.estimator, "coef_"):
            sizes.append(len(one.columns))
        else:
            sizes.append(0)
    return {"features_a_task": float(np.mean(sizes)), "setting": setting}


def _method_row(
    model: dict[str, Any], tests: list[dict[str, Any]], parts: TransferParts
) -> dict[str, Any]:
    name = model["name"]
    test = next((t for t in tests if (t["a"], t["b"]) == (name, RIVALS.get(name))), None)
    return {
        "name": name,
        "kind": KINDS[name],
        "protocol": "" if parts.test.groups is None else "documents",
        "value": model["value"],
        "interval": model["interval"],
        "against": "" if test is None else test["b"],
        "t": None if test is None else test["t"],
        "p": None if test is None else test["p"],
        "published": None,
        "features": model["features_a_task"],
        "seconds": model["seconds"],
    }


def _task_rows(parts: TransferParts, answers: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    alone, helped = (task_accuracies(parts.test, answers[name]) for name in (ALONE, HELPED))
    labels = parts.train.label_codes
    rows = []
    for task in alone:
        mine = parts.train.task_of_row == task
        rows.append(
            {
                "name": str(task),
                "rows": int(mine.sum()),
                "test_rows": int((parts.test.task_of_row == task).sum()),
                "classes": len(np.unique(labels[mine])),
                "alone": alone[task],
                "helped": helped[task],
            }
        )
    return rows


def _protocol(parts: TransferParts) -> str:
    return f"{parts.words}; settings tuned by cross-validation inside the training rows"
