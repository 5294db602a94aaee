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
    best_vouched,
    clusters_section,
    compare_over_tasks,
    curve_section,
    data_part,
    families_section,
    interval_of,
    tasks_section,
    tasks_that_can_differ,
    verdict,
    vouchers_section,
)
from featloom.methods.transfer.linear_tasks import models_of
from featloom.methods.transfer.parts import TransferParts, first_rows
from featloom.methods.transfer.relevance import RelevancePrior
from featloom.methods.transfer.tasks import MultiTask
from featloom.methods.transfer.transfeat import TransFeat
from featloom.results import Comparison, Line, Model
from featloom.words import counted

COMMONEST, ALONE, HELPED = "most frequent class", "linear SVM", "linear SVM with the prior"
SHUFFLED = "linear SVM with the prior shuffled"
PRICED, FLAT = "selection at the prior's costs", "selection at one flat cost"
FIXED = "selection at the flat cost of the prior"
PAPER = "TransFeat"
ROLES = {COMMONEST: "baseline", ALONE: "baseline", HELPED: "method", SHUFFLED: "control"}
ROLES |= {PRICED: "method", FLAT: "control", FIXED: "control", PAPER: "method"}
IDEAS = {PAPER: "as published by Dhillon and Ungar"}
# What each is tested against: its like without transfer.
RIVALS = {COMMONEST: ALONE, HELPED: ALONE, SHUFFLED: ALONE, PRICED: FLAT, FIXED: FLAT}
RIVALS[PAPER] = FLAT
STRENGTHS = baselines.STRENGTHS
ROUNDS = 2
SIZES = (5, 10, 20, 40, 80, 160)
READ = (
    "t and p are paired over tasks, of selection against one flat cost, of the others against the "
    "linear SVM; features are the mean of a task"
)

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
    """A result: the data, the methods and their tests, what the prior says.

    Parameters
    ----------
    data : what the parts were cut from.
    curve : whether methods are also compared where tasks have fewer rows.
    say, progress : are told what is being done, and how far it is.
    keep : is given what is finished, by name: "prior", "model".
    """
    train, test = parts.train, parts.test
    sizes = _sizes(train) if curve else []
    n_steps = len(ROLES) + len(sizes)
    say("learning which features are relevant (first use compiles)")
    begun = perf_counter()
    prior = learned_prior(train)
    prior_s = perf_counter() - begun
    keep("prior", prior)
    models: list[Model] = []
    answers: dict[str, np.ndarray] = {}
    fitted: dict[str, Any] = {}
    for done, (name, model) in enumerate(_methods(prior, seed, jobs).items()):
        say(f"fitting: {name}")
        progress(done, n_steps, None)
        begun = perf_counter()
        answers[name] = _answers(model, train, test)
        fitted[name] = model
        took = perf_counter() - begun + (prior_s if name in (HELPED, PRICED) else 0.0)
        found = interval_of(test, answers[name], seed=seed)
        settings = {} if isinstance(model, TransFeat) else model.setting_
        models.append(
            Model(
                name, ROLES[name], IDEAS.get(name, ""), test=found.value,
                test_interval=(found.low, found.high), fit_s=took, settings=settings,
                setting=", ".join(f"{key} {value:g}" for key, value in settings.items()),
                chosen=name == HELPED,
            )
        )  # fmt: skip
    kept = models_of(fitted[HELPED], train)
    known = RowPrints.of(tasks_as_features(train))
    keep("model", replace(kept, class_type=train.class_type, learned=known))
    pairs = [(HELPED, ALONE), (HELPED, SHUFFLED), (PRICED, FIXED), *RIVALS.items()]
    tests = compare_over_tasks(parts, answers, dict.fromkeys(pairs))
    test_of = {(found.a, found.b): found for found in tests}
    for one in models:
        against = test_of.get((one.name, RIVALS.get(one.name, "")), Comparison("", ""))
        one.more = {
            "t": against.t, "p": against.p, "features": _features_a_task(fitted[one.name]),
            "against": against.b or None,
        }  # fmt: skip
    lines = _curve(parts, sizes, models, say, progress, n_steps, seed=seed, jobs=jobs)
    sections = [
        curve_section(lines),
        tasks_section(parts, answers[ALONE], answers[HELPED]),
        clusters_section(fitted[PAPER]),
        families_section(prior),
        vouchers_section(*best_vouched(fitted[PRICED], prior, train)),
    ]
    n_tasks = len(tasks_that_can_differ(parts))
    return {
        "kind": "transfer of relevance",
        "data": data_part(parts, data),
        "protocol": f"{_sizes_in_words(parts, data)}; {_protocol(parts)}; {READ}",
        "parameters": {"protocol": _protocol(parts), "rounds": ROUNDS, "kappa": prior.kappa}
        | {"power": prior.power, "strengths": list(STRENGTHS)},
        "metric": "accuracy",
        "verdict": verdict(tests[0], tests[1], n_tasks, "a linear SVM"),
        "significant": bool(tests[0].significant),
        "chosen": HELPED,
        "leaderboard": models,
        "comparisons": tests,
        "sections": [section for section in sections if section.blocks],
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
    models: list[Model],
    say: Callable[[str], None],
    progress: Callable[[int, int | None, float | None], None],
    n_steps: int,
    *,
    seed: int,
    jobs: int,
) -> list[Line]:
    """The SVM alone and with the prior, where all tasks have so many rows at most."""
    lines = {name: Line(name) for name in (ALONE, HELPED, SHUFFLED) if sizes}
    for done, size in enumerate(sizes):
        say(f"fitting with at most {size} rows a task")
        progress(n_steps - len(sizes) + done, n_steps, None)
        train = first_rows(parts.train, size, seed)
        methods = _methods(learned_prior(train), seed, jobs)
        for name, line in lines.items():
            found = interval_of(parts.test, _answers(methods[name], train, parts.test), seed=seed)
            _add(line, size, found.value, found.low, found.high)
    for one in models:
        if one.name in lines:
            _add(lines[one.name], None, one.test, *(one.test_interval or (None, None)))
    return list(lines.values())


def _add(line: Line, size: int | None, value, low, high) -> None:
    line.x.append(size)
    line.y.append(value)
    line.low.append(low)
    line.high.append(high)


def _sizes(train: FeatureMatrix) -> list[int]:
    """Numbers of rows below what half of the tasks have."""
    rows = np.unique(train.task_codes, return_counts=True)[1]
    return [size for size in SIZES if size < np.median(rows)]


def _features_a_task(model: Any) -> float:
    """How many features the model of a task looks at, on average."""
    if isinstance(model, TransFeat):
        by_task: dict[Any, set[int]] = {task: set() for task in model.classes_}
        for sense, chosen in model.selections_.items():
            by_task[sense.task].update(chosen.features.tolist())
        return float(np.mean([len(one) for one in by_task.values()]))
    sizes = []
    for one in model.models_.values():
        if isinstance(one.estimator, MDLSelector):
            sizes.append(len(one.estimator.get_support(indices=True)))
        elif one.estimator is not None and hasattr(one.estimator, "coef_"):
            sizes.append(len(one.columns))
        else:
            sizes.append(0)
    return float(np.mean(sizes))


def _sizes_in_words(parts: TransferParts, data: FeatureMatrix) -> str:
    sizes = ((len(data.task_names), "task"), (len(parts.train), "training row"))
    return ", ".join(counted(*one) for one in (*sizes, (len(parts.test), "test row")))


def _protocol(parts: TransferParts) -> str:
    return f"{parts.words}; settings tuned by cross-validation inside the training rows"
