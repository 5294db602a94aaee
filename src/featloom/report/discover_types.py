"""What a run that compared every method says: the parts of its result, at the top level.

Every field may be missing; the page then leaves out what depends on it.  Scores are shares between
0 and 1, but a log-loss is the log-loss itself, in nats, where ``lower_is_better``; times are in
seconds.  Names of classes and groups come from the data, so numbers are taken too.
"""

from __future__ import annotations

from typing import Any

import msgspec

Interval = tuple[float | None, float | None]
Name = str | int | float | bool | None


class Metrics(msgspec.Struct):
    """What else is known of a method on the part held out; ``ece`` is the calibration error."""

    log_loss: float | None = None
    auc: float | None = None
    brier: float | None = None
    accuracy: float | None = None
    f1: float | None = None
    ece: float | None = None


class Contestant(msgspec.Struct):
    """A line of the leaderboard.

    ``role`` is "chance", "baseline", "method" or "yardstick"; ``status`` is "finished", "partly"
    (some folds only), "unfinished", "not tried" or "not applicable", with the reason in ``why``.
    ``value`` is cross-validated in ``n_folds`` folds of ``folds_of``, ``test`` is on the part held
    out.  ``predict_s`` is for 1,000 units, ``learned`` how many units it learned from, ``share``
    the part of the data that it was compared on.
    """

    name: str = ""
    role: str = ""
    idea: str = ""
    status: str = ""
    why: str = ""
    value: float | None = None
    interval: Interval | None = None
    folds: list[float | None] = []
    n_folds: int | None = None
    folds_of: int | None = None
    test: float | None = None
    test_interval: Interval | None = None
    size: float | None = None
    size_words: str = ""
    fit_s: float | None = None
    predict_s: float | None = None
    setting: str = ""
    learned: int | None = None
    chosen: bool = False
    share: float | None = None
    metrics: Metrics | None = None


class Budget(msgspec.Struct):
    """Seconds asked and spent; ``stopped`` is "finished", "budget" or "interrupted".

    ``spent`` leaves out ``compiled``, which is spent once on a machine; ``cpu`` is that of all
    processes; ``first_answer`` is when the first leaderboard stood.
    """

    seconds: float | None = None
    spent: float | None = None
    cpu: float | None = None
    compiled: float | None = None
    first_answer: float | None = None
    stopped: str = ""


class F1(msgspec.Struct):
    """F1 of one class at the threshold that was tuned for it.

    ``of_predictions`` is that of the class with the highest probability, which a model predicts.
    """

    positive: Name = None
    threshold: float | None = None
    value: float | None = None
    of_predictions: float | None = None
    precision: float | None = None
    recall: float | None = None


class Confusion(msgspec.Struct):
    """How often each true class (a row) was taken for each class (a column)."""

    classes: list[Name] = []
    counts: list[list[int | None]] = []


class CalibrationBin(msgspec.Struct):
    """Answers of about the same probability: its mean, and the share that came true."""

    n: int | None = None
    mean: float | None = None
    share: float | None = None
    low: float | None = None
    high: float | None = None


class ChosenFigures(msgspec.Struct):
    """What the chosen model is worth on the part held out, by every metric.

    ``positive`` is the class whose probability is calibrated; without one it is that of the class
    that was answered.
    """

    rows: int | None = None
    log_loss: float | None = None
    base_rate_log_loss: float | None = None
    auc: float | None = None
    brier: float | None = None
    accuracy: float | None = None
    ece: float | None = None
    f1: F1 | None = None
    confusion: Confusion | None = None
    calibration: list[CalibrationBin] = []
    positive: Name = None


class LearningPoint(msgspec.Struct):
    """The score of a method that learned from so many units."""

    method: str = ""
    rows: int | None = None
    value: float | None = None


class FoundTable(msgspec.Struct):
    """What a method found, as a table of words and numbers."""

    method: str = ""
    title: str = ""
    columns: list[str] = []
    rows: list[list[Any]] = []


class ErrorLine(msgspec.Struct):
    """Rows of a class or a group, and how many of them each method got right."""

    name: Name = ""
    rows: int | None = None
    right: dict[str, float | None] = {}


class Errors(msgspec.Struct):
    by_class: list[ErrorLine] = []
    by_group: list[ErrorLine] = []


class Recipe(msgspec.Struct):
    """How the chosen model is used, as lines to copy."""

    title: str = ""
    code: str = ""


class Discovered(msgspec.Struct):
    """The parts that a comparison of every method adds to a result.

    ``unit`` is what was held out and dealt into folds: "rows" or "sentences".  ``metric`` and
    ``judge_by`` name the metric of the leaderboard; ``folds_of`` is how many folds there are.
    """

    protocol: str = ""
    metric: str = ""
    lower_is_better: bool = False
    judge_by: str = ""
    folds_of: int | None = None
    unit: str = "rows"
    significant: bool | None = None
    chosen: str | None = None
    chosen_why: str = ""
    budget: Budget | None = None
    leaderboard: list[Contestant] = []
    chosen_figures: ChosenFigures | None = None
    curves: list[LearningPoint] = []
    findings: list[FoundTable] = []
    errors: Errors | None = None
    use: list[Recipe] = []
