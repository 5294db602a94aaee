"""What a run that compared every method says: the parts of its result, at the top level.

Every field may be missing; the page then leaves out what depends on it.  Scores are shares between
0 and 1, times are in seconds.  Names of classes and groups come from the data, so numbers are taken
too.
"""

from __future__ import annotations

from typing import Any

import msgspec

Interval = tuple[float | None, float | None]
Name = str | int | float | bool | None


class Contestant(msgspec.Struct):
    """A line of the leaderboard.

    ``role`` is "chance", "baseline", "method" or "yardstick"; ``status`` is "finished",
    "unfinished", "not tried" or "not applicable", with the reason in ``why``.  ``value`` is
    cross-validated, ``test`` is on the part held out.  ``predict_s`` is for 1,000 units, ``share``
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
    test: float | None = None
    test_interval: Interval | None = None
    size: float | None = None
    size_words: str = ""
    fit_s: float | None = None
    predict_s: float | None = None
    setting: str = ""
    chosen: bool = False
    share: float | None = None


class Budget(msgspec.Struct):
    """Seconds asked and spent; ``stopped`` is "finished", "budget" or "interrupted"."""

    seconds: float | None = None
    spent: float | None = None
    stopped: str = ""


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

    ``unit`` is what was held out and dealt into folds: "rows" or "sentences".
    """

    protocol: str = ""
    metric: str = ""
    unit: str = "rows"
    significant: bool | None = None
    chosen: str | None = None
    chosen_why: str = ""
    budget: Budget | None = None
    leaderboard: list[Contestant] = []
    curves: list[LearningPoint] = []
    findings: list[FoundTable] = []
    errors: Errors | None = None
    use: list[Recipe] = []
