"""The page of a run: what the data were, what was found, whether it helps, how to repeat it.

Each step can be read and tested alone: a result (``result.json``) is checked against the types
below, summarised (``summarize.py``; ``memory.py`` for memory-based learning, ``templates.py`` for
template search, ``trees.py`` for templates grown from trees, ``transfer.py`` for relevance carried
between tasks, ``discover.py`` for a comparison of every method), drawn (``figures.py``, the
``…_figures.py``, ``arcs.py``) and set into one HTML file that opens without a network (``html.py``
and the files in ``assets/``).  A report reads results and never fits anything.

Every part of a result may be missing; the page then leaves out what depends on it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from featloom.errors import InputError
from featloom.report.discover_types import Discovered
from featloom.report.transfer_types import TransferPart
from featloom.report.tree_types import TreesPart
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
    taken_for: str = ""


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
    """A paired test; ``difference`` is positive where ``a`` is better.

    ``gate`` marks one against the answer that looks at nothing, ``same_rows`` is false where the
    two learned from different amounts of data.
    """

    a: str
    b: str
    difference: float | None = None
    interval: tuple[float | None, float | None] | None = None
    p: float | None = None
    p_adjusted: float | None = None
    significant: bool | None = None
    on: str = ""
    gate: bool = False
    same_rows: bool = True


class MemorySetting(msgspec.Struct):
    """A setting of the memory-based learner, how it was found, and what it is worth.

    ``modes`` says of each feature whether it is "ignore", "overlap" or "mvdm".  ``validation``
    and ``test`` are shares of right answers; ``published`` is the paper's figure, in per cent.
    """

    name: str = ""
    method: str = ""
    features_by: str = "default"
    parameters_by: str = "default"
    k: int | None = None
    weights: str = ""
    modes: list[str] = []
    validation: float | None = None
    test: float | None = None
    fits: int | None = None
    published: float | None = None
    published_setting: str = ""


class Curve(msgspec.Struct):
    """The score at each number of neighbours, for one weighting and one metric."""

    weights: str = ""
    metric: str = ""
    k: list[int] = []
    score: list[float | None] = []


class Trajectory(msgspec.Struct):
    """The best validation score that one search had seen after so many fits."""

    name: str = ""
    fits: list[int] = []
    best: list[float | None] = []
    seed: int | None = None


class Matrix(msgspec.Struct):
    """McNemar's test of every two settings.

    ``first_only[i][j]`` counts the rows that setting ``i`` got right and setting ``j`` wrong.
    """

    names: list[str] = []
    p: list[list[float | None]] = []
    chi2_p: list[list[float | None]] = []
    first_only: list[list[int | None]] = []


class TruthRow(msgspec.Struct):
    """How near one strategy came to the best of all settings, over its seeds."""

    strategy: str = ""
    seeds: int | None = None
    found: int | None = None
    median_rank: float | None = None
    worst_rank: float | None = None
    median_fits: float | None = None
    max_fits: float | None = None
    note: str = ""


class Truth(msgspec.Struct):
    """What is known where every setting was tried."""

    settings: int | None = None
    fits: int | None = None
    best: float | None = None
    best_settings: list[MemorySetting] = []
    rows: list[TruthRow] = []


class Neighbour(msgspec.Struct):
    values: list[str] = []
    classes: dict[str, int] = {}
    distance: float | None = None


class Case(msgspec.Struct):
    """A row, its answer, and the stored cases that the answer was given because of."""

    query: list[str] = []
    answer: str = ""
    gold: str = ""
    neighbours: list[Neighbour] = []


class MemoryPart(msgspec.Struct):
    """Memory-based learning on one data set.

    ``table`` names the settings that stand in the table of features by parameters; without it
    all of ``settings`` do.
    """

    task: str = ""
    features: list[str] = []
    sizes: dict[str, int] = {}
    settings: list[MemorySetting] = []
    curves: list[Curve] = []
    trajectories: list[Trajectory] = []
    mcnemar: Matrix | None = None
    truth: Truth | None = None
    table: list[MemorySetting] = []
    found: MemorySetting | None = None
    neighbours: list[Case] = []


class TemplateStep(msgspec.Struct):
    """A decision of a template search; ``gain`` is in the unit that the part names, ``f1`` a share.

    ``template`` may name several that were tried together, ``cost_s`` is what deciding took.
    """

    template: str = ""
    gain: float | None = None
    f1: float | None = None
    cost_s: float | None = None
    kept: bool | None = None
    reason: str = ""


class TemplateRace(msgspec.Struct):
    """A set of so many templates that raced against other sizes, and its F1."""

    templates: int | None = None
    f1: float | None = None
    kept: bool | None = None


class TemplateProxy(msgspec.Struct):
    """What a template, or a set of them, is worth by each model, on one of the data sets."""

    data: str = ""
    template: str = ""
    maxent: float | None = None
    memm: float | None = None
    crf: float | None = None


class FoundTemplate(msgspec.Struct):
    text: str = ""
    features: int | None = None
    gain: float | None = None


class TemplateExperiment(msgspec.Struct):
    """One model on some sets of templates; ``f1`` a share, ``published`` the paper's in per cent.

    ``sd`` is that of the F1 over seeds.
    """

    data: str = ""
    id: int | str = ""
    model: str = ""
    sets: list[int | str] = []
    templates: str | int = ""
    features: int | None = None
    f1: float | None = None
    sd: float | None = None
    train_s: float | None = None
    tag_s: float | None = None
    published: float | None = None


class TemplateAgreement(msgspec.Struct):
    """How well a cheap judge orders templates as the CRF does, and the CPU time it takes."""

    data: str = ""
    title: str = ""
    spearman: float | None = None
    cpu_s: float | None = None


class TemplateStage(msgspec.Struct):
    data: str = ""
    name: str = ""
    seconds: float | None = None


class TemplatePart(msgspec.Struct):
    """A search of feature templates for a tagger, or an experiment on them.

    ``sizes`` are sentences of each part, or of each part of each data set.
    """

    strategy: str = ""
    sizes: dict[str, int | dict[str, int]] = {}
    gain_label: str = "gain"
    proxy_label: str = "F1"
    steps: list[TemplateStep] = []
    race: list[TemplateRace] = []
    stages: dict[str, float | None] | list[TemplateStage] = {}
    proxies: list[TemplateProxy] = []
    agreement: list[TemplateAgreement] = []
    templates: list[FoundTemplate] = []
    experiments: list[TemplateExperiment] = []


class Result(Discovered, msgspec.Struct):
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
    memory: list[MemoryPart] = []
    template_search: TemplatePart | None = None
    trees: TreesPart | None = None
    transfer: TransferPart | None = None


def check_result(result: dict[str, Any]) -> Result:
    """The result as the page reads it; a part of the wrong kind is refused by its place."""
    try:
        return msgspec.json.decode(encode_result(result), type=Result)
    except msgspec.ValidationError as error:
        text = str(error)
        raise InputError(f"the result cannot be shown: {text[:1].lower()}{text[1:]}") from error
