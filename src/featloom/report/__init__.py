"""The page of a run: what the data were, what was found, whether it helps, how to repeat it.

Each step can be read and tested alone: a result (``result.json``) is checked against the types
below, summarised (``summarize.py``), drawn (``figures.py``) and set into one HTML file that opens
without a network (``html.py`` and the files in ``assets/``).  A report reads results and never
fits anything.

Every part of a result may be missing; the page then leaves out what depends on it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from featloom.errors import InputError
from featloom.runs import encode_result


class Family(msgspec.Struct):
    name: str
    features: int | None = None
    single_valued: bool | None = None


class Data(msgspec.Struct):
    source: str = ""
    target: str = ""
    rows: int | None = None
    features: int | None = None
    groups: int | None = None
    classes: dict[str, int] = {}
    families: list[Family] = []
    warnings: list[str] = []


class Histogram(msgspec.Struct):
    edges: list[float | None]
    counts: list[float | None]


class FoundFeature(msgspec.Struct):
    name: str
    parts: list[str] = []
    length: int | None = None
    support: int | None = None
    class_counts: list[int] = []
    score: float | None = None
    weight: float | None = None
    domain: bool = False


class Dropped(msgspec.Struct):
    reason: str
    count: int | None = None


class Induction(msgspec.Struct):
    score_name: str = ""
    score_label: str = "score"
    histograms: dict[str, Histogram] = {}
    kept: dict[str, int] = {}
    conjunctions: list[FoundFeature] = []
    atomic: list[FoundFeature] = []
    dropped: list[Dropped] = []


class Model(msgspec.Struct):
    name: str
    metric: str = "score"
    value: float | None = None
    interval: tuple[float | None, float | None] | None = None
    features: int | None = None
    setting: str = ""
    cross_validated: float | None = None
    published: float | None = None
    published_setting: str = ""


class Cell(msgspec.Struct):
    k: float
    l: float  # noqa: E741 (the paper's own letter)
    mean: float | None = None
    sd: float | None = None
    features: int | None = None


class Setting(msgspec.Struct):
    k: float
    l: float  # noqa: E741


class Grid(msgspec.Struct):
    cells: list[Cell] = []
    chosen: Setting | None = None
    metric: str = "score"
    k_label: str = "k"
    l_label: str = "l"


class Comparison(msgspec.Struct):
    a: str
    b: str
    difference: float | None = None
    interval: tuple[float | None, float | None] | None = None
    p: float | None = None
    significant: bool | None = None


class Result(msgspec.Struct):
    """The parts of ``result.json`` that the page shows."""

    kind: str = ""
    command: str = ""
    verdict: str = ""
    seed: int | None = None
    versions: dict[str, str] = {}
    timing: dict[str, float | None] = {}
    parameters: dict[str, Any] = {}
    data: Data = msgspec.field(default_factory=Data)
    induction: Induction | None = None
    models: list[Model] = []
    grid: Grid | None = None
    comparisons: list[Comparison] = []


def check_result(result: dict[str, Any]) -> Result:
    """The result as the page reads it; a part of the wrong kind is refused by its place."""
    try:
        return msgspec.json.decode(encode_result(result), type=Result)
    except msgspec.ValidationError as error:
        text = str(error)
        raise InputError(f"the result cannot be shown: {text[:1].lower()}{text[1:]}") from error
