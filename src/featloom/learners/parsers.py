"""Parsers in comparisons: the same but for their templates.

Templates are found once for all settings; these say how the parser learns with them, by default as
one that is fitted without any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.sentences import seen_alone
from featloom.data.table import NominalTable
from featloom.learners.parser import DependencyParser
from featloom.learners.tree_paths import GrownTemplate
from featloom.method import Setting
from featloom.results import Grid, grid
from featloom.runs import MODEL, TEMPLATES, write_beside

# A parser's own training comes first.
TRAINING: dict[str, Sequence[Any]] = {"epochs": (5, 3, 10), "training": ("mira", "perceptron")}
DECODER: dict[str, Sequence[Any]] = {"decoder": ("eisner", "chu-liu-edmonds")}
_SOME_CROSS = 0.1  # share of sentences with crossing arcs, from which it may help to look for them
_MOST_SHOWN = 200


def parser_axes(table: NominalTable) -> dict[str, Sequence[Any]]:
    """What is tuned: the training and, where many arcs cross, the decoder."""
    return {**TRAINING, **(DECODER if share_crossing(table) > _SOME_CROSS else {})}


def by_hand(table: NominalTable, how: Mapping[str, Any]) -> DependencyParser:
    """A parser with the templates of experts.

    >>> from featloom.data.sentences import table_of_trees
    >>> ran = [("He", "he", "X", "_", "_", 2, "nsubj"), ("ran", "run", "V", "_", "_", 0, "root")]
    >>> str(by_hand(table_of_trees([ran] * 9), {"bits": 12}).templates_[0])
    'head.form'
    """
    return DependencyParser(**how).fit(table)


def fit_parsers(
    fit: Callable[[NominalTable, Mapping[str, Any]], DependencyParser],
    data: NominalTable,
    settings: Sequence[Setting],
    seed: int,
    threads: int,
) -> Iterator[FittedParser]:
    """A parser for each setting; templates are found once, and so are the heads to look at."""
    table = seen_alone(data)
    default = {name: values[0] for name, values in {**TRAINING, **DECODER}.items()}
    first: DependencyParser | None = None
    for setting in settings:
        how = default | setting
        if first is None:
            first = parser = fit(table, {"n_jobs": threads, "random_state": seed, **how})
        else:
            parser = first.retrained(**how)
        yield FittedParser(parser)


@dataclass(eq=False)
class FittedParser:
    """A parser that has learned."""

    model: DependencyParser

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.model.model_.weights))

    @property
    def size_words(self) -> str:
        return f"{self.size:,} weights of {len(self.model.templates_)} templates"

    @property
    def setting(self) -> str:
        crossing = ", arcs may cross" * (self.model.decoder != "eisner")
        training = "MIRA" if self.model.training == "mira" else "perceptron"
        return f"{training}, {self.model.epochs} passes{crossing}"

    def answers(self, data: NominalTable) -> np.ndarray:
        heads = [head for sentence in self.model.predict(data) for head in sentence]
        return np.array(heads, dtype=np.int32)

    def findings(self) -> list[Grid]:
        grown: Sequence[GrownTemplate] = getattr(self.model, "grown_", ())
        rows = [
            [str(one.template), float(f"{one.gain:.4g}"), round(float(one.coverage), 4), one.trees]
            for one in grown
        ]
        known = {row[0] for row in rows}
        others = [str(one) for one in self.model.templates_ if str(one) not in known]
        if not rows:
            alone = [[one] for one in others[:_MOST_SHOWN]]
            return [grid("templates", {"template": "feature"}, alone)]
        rows += [[one, None, None, None] for one in others]
        columns = {
            "template": "feature", "gain in bits": "number", "share of edges": "share",
            "trees": "count",
        }  # fmt: skip
        return [grid("templates", columns, rows[:_MOST_SHOWN])]

    def save(self, folder: Path) -> list[str]:
        self.model.save(folder / MODEL)
        write_beside(folder / TEMPLATES, "".join(f"{one}\n" for one in self.model.templates_))
        return [MODEL, TEMPLATES]


def share_crossing(table: NominalTable) -> float:
    """The share of sentences that have crossing arcs."""
    cuts = np.split(table.tree_heads, table.bounds[1:-1])
    return float(np.mean([_arcs_cross(heads) for heads in cuts]))


def _arcs_cross(heads: np.ndarray) -> bool:
    """Whether two arcs of a sentence cross.

    >>> _arcs_cross(np.array([3, 4, 0, 3])), _arcs_cross(np.array([2, 0, 2]))
    (True, False)
    """
    place = np.arange(1, len(heads) + 1)
    left, right = np.minimum(place, heads), np.maximum(place, heads)
    begins_inside = (left[:, None] < left) & (left < right[:, None])
    return bool((begins_inside & (right > right[:, None])).any())
