"""Memory in comparisons: of tables, and as a yardstick on windows of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from featloom.data.matrix import FeatureMatrix
from featloom.data.sentences import seen_alone
from featloom.data.table import NominalTable
from featloom.features.windows import window_table
from featloom.learners.memory import MemoryClassifier, memory_grid
from featloom.learners.pipelines import Recipe, Rows, Table, save_memory
from featloom.learners.template_sets import codes_of_labels, usual_window
from featloom.method import Contender, Method, Setting, Unsuited
from featloom.methods.memory_search.search import MemorySearch
from featloom.results import Grid, grid

MEMORY, SEARCH = "memory", "memory search"
NEAREST: tuple[dict[str, Any], ...] = (
    {"metric": "overlap", "k": 1},
    {"metric": "overlap", "k": 3},
    {"metric": "mvdm", "k": 3},
    {"metric": "mvdm", "k": 7},
)
_MOST_COLUMNS = 100  # of a table whose rows are compared one by one
_SEARCHED = 60  # settings of a memory that are tried, where nothing else is asked for
_MOST_SHOWN = 200


def of_tables(table: Table) -> list[Contender | Unsuited]:
    """A memory with a few settings, and one whose use of each column is searched."""
    why = "its votes know no class weights" if table.balanced else _not_comparable(table.data)
    if why:
        return [Unsuited(name, why) for name in (MEMORY, SEARCH)]
    return [memory().contender(), memory_search().contender()]


def of_sentences(_: NominalTable) -> list[Contender | Unsuited]:
    """A memory of windows, as a yardstick."""
    return [
        Contender(
            "memory on windows", "yardstick",
            "the label of the most similar stored windows; a tagger of this kind cannot be saved, "
            "so it is measured and not chosen",
            fit_memories, {"how": NEAREST}, cost=1.5,
        ),
        Unsuited(SEARCH, "it is for tables; a memory of windows with a few settings stands for it"),
    ]  # fmt: skip


def memory() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        memory = MemoryClassifier(**setting, decay="scale", n_jobs=threads)
        return Pipeline([("classifier", memory)])

    return Recipe(
        MEMORY, "method", "the class of the most similar stored rows", build,
        lambda model: len(model[-1]._labels), made_of="stored rows",
        axes={
            "k": (1, 3, 7, 15, 31), "metric": ("overlap", "mvdm"),
            "vote": ("exponential", "count", "inverse_distance"), "weights": ("gain_ratio", "none"),
        },
        cost=3.0, found=_memory_weights, keep=save_memory, calibrated_by="smoothing",
        calibrate=_smooth, asked_together=_asked_together,
    )  # fmt: skip


def memory_search() -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        search = MemorySearch(
            cv=3, trials=setting.get("trials", _SEARCHED), decay="scale", compat=None,
            scoring="log_loss", n_jobs=threads, random_state=seed,
        )  # fmt: skip
        return Pipeline([("classifier", search)])

    return Recipe(
        SEARCH, "method", "memory, with each column's use searched", build,
        lambda model: len(model[-1].best_estimator_._labels), made_of="stored rows", cost=20.0,
        found=_memory_weights, keep=save_memory, searches=True,  # the smoothing with the rest
    )  # fmt: skip


def _smooth(model: Any, value: float) -> None:
    memory = getattr(model[-1], "best_estimator_", model[-1])
    memory.set_params(smoothing=value)


def _asked_together(
    data: Rows, names: np.ndarray, settings: Sequence[Setting], threads: int
) -> Callable[[int, Any], np.ndarray]:
    """Probabilities of memories that differ in a setting, from as few searches as that takes."""
    kept: list[Any] = [None, None]
    settings = [{**setting, "decay": "scale"} for setting in settings]

    def ask(place: int, asked: Any) -> np.ndarray:
        if kept[0] is not asked:
            kept[:] = asked, memory_grid(data, names, asked, settings, n_jobs=threads)
        return kept[1][place]

    return ask


def _not_comparable(data: Rows) -> str:
    """Why rows cannot be compared column by column; empty where they can."""
    if isinstance(data, FeatureMatrix):
        several = [
            name
            for name, single in zip(data.families, data.single_valued, strict=True)
            if not single
        ]
        if several:
            return f"rows have several values of {several[0]}; nearest rows need columns"
        n_columns = len(data.families)
        return f"{n_columns:,} families of features are no table of columns"
    if len(data.columns) > _MOST_COLUMNS:
        return f"{len(data.columns):,} columns are too many to compare rows by"
    return ""


def _memory_weights(model: Any, most: int) -> list[Grid]:
    memory = getattr(model[-1], "best_estimator_", model[-1])
    columns = memory._reader.table.columns
    rows = [
        [name, mode, round(float(weight), 5)]
        for name, mode, weight in zip(columns, memory.modes_, memory.weights_, strict=True)
    ]
    columns_of = {"column": "text", "compared by": "text", "weight": "number"}
    return [grid("columns", columns_of, rows[:most])]


def fit_memories(
    data: NominalTable, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedMemory]:
    """Store windows, which are compared by a metric with some number of neighbours."""
    table = seen_alone(data)
    window = usual_window(table)
    windows = window_table(table, window)
    for setting in settings:
        how = setting.get("how", NEAREST[0])
        vote = "count" if how["k"] == 1 else "inverse_distance"
        memory = MemoryClassifier(vote=vote, n_jobs=threads, **how).fit(windows)
        yield FittedMemory(memory, window, data.classes)


@dataclass(eq=False)
class FittedMemory:
    """Stored windows of tokens with their labels."""

    model: MemoryClassifier
    window: int
    classes: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.model._labels)

    @property
    def size_words(self) -> str:
        return f"{self.size:,} stored tokens"

    @property
    def setting(self) -> str:
        return f"{self.model.metric}, k {self.model.k}, window of {self.window}"

    def answers(self, data: NominalTable) -> np.ndarray:
        if not len(data):
            return np.empty(0, dtype=np.int32)
        return codes_of_labels([self.model.predict(window_table(data, self.window))], self.classes)

    def findings(self) -> list[Grid]:
        columns = self.model._reader.table.columns
        weights = self.model.weights_
        order = np.argsort(-weights, kind="stable").tolist()
        rows = [[columns[j], round(float(weights[j]), 5)] for j in order]
        heads = {"place": "text", "gain ratio": "number"}
        return [grid("places of the window", heads, rows[:_MOST_SHOWN])]

    def save(self, folder: Path) -> list[str]:
        return []


METHOD = Method(
    "memory",
    {
        "table": of_tables,
        "sequence": of_sentences,
        "trees": [
            Unsuited(
                SEARCH,
                "it is for rows that stand by themselves; here answers must form a tree",
            )
        ],
        "tasks": [Unsuited(MEMORY, "tasks have too few rows for it, each by itself")],
    },
)
