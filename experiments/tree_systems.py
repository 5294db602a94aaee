"""Table 3.2 of the chapter as systems: which basic features, which templates, which training.

The chapter compares templates that people wrote (manual) with templates that a tree grew (EFG),
both with a structured perceptron; then EFG with chunk and clause as further columns.  Here each
comes with the chapter's training and with MIRA; EFG comes as published (one tree on all edges,
pruned as C4.5 prunes) and as recommended (a forest).  Beside it stands a control: as many
templates of columns drawn at random.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.tree_columns import chunk_columns, wide_columns
from featloom.data.edges import EdgeReader, edge_table
from featloom.data.table import NominalTable
from featloom.evaluation.attachment import attachment_counts
from featloom.features.template import Template
from featloom.formats.packing import packed
from featloom.learners.parser import FOREST, DependencyParser
from featloom.learners.parser_templates import (
    TokenColumns,
    between_templates,
    edge_columns,
    edge_template,
)
from featloom.learners.tree_paths import grow_templates
from featloom.methods.tree_templates.findings import template_rows, tree_part

TRAININGS = {"perceptron": "perceptron", "mira": "MIRA"}  # the chapter's, and ours
PERCEPTRON_EPOCHS = 3
GENERATIONS = {"manual": "manual", "chapter": "EFG published", "tree": "EFG", "random": "random"}
BASICS = {
    "first": "1st order",
    "chunks": "+ck+clause predicted",
    "chunks-gold": "+ck+clause gold",
    "wide": "29 columns predicted",
    "wide-gold": "31 columns gold",
}
# The tree of the chapter; the longest template is chosen on development data, as it asks.
CHAPTER: dict[str, Any] = {
    "n_trees": 1, "prune": "error", "backoff": False, "most": None, "max_length": None, "floor": 0,
}  # fmt: skip
LENGTHS = (2, 3, 4, 5, 6, 8)
MOST_SHOWN = 100  # templates that an entry tells of


@dataclass(frozen=True)
class System:
    """A row of the table."""

    basic: str
    generation: str
    training: str
    published: float | None = None

    @property
    def name(self) -> str:
        """What the row is called where rows are compared.

        >>> System("first", "tree", "mira").name
        'EFG, MIRA'
        >>> System("chunks", "tree", "perceptron").name
        'EFG, +ck+clause predicted, perceptron'
        """
        basic = [] if self.basic == "first" else [BASICS[self.basic]]
        return ", ".join([GENERATIONS[self.generation], *basic, TRAININGS[self.training]])

    @property
    def baseline(self) -> System:
        """Manual templates with the same training."""
        return System("first", "manual", self.training)


@dataclass(frozen=True)
class Treebank:
    """A treebank, and the rows of its table."""

    title: str
    corpus: str
    systems: tuple[System, ...]


def _first_order(training: str) -> list[System]:
    return [
        System("first", "manual", training, 90.06),
        System("first", "chapter", training, 90.28),
        System("first", "tree", training, 90.28),
    ]


TREEBANKS = {
    "bosque": Treebank(
        "UD Bosque",
        "bosque",
        (
            *_first_order("perceptron"),
            *_first_order("mira"),
            System("first", "random", "mira"),
            System("wide", "tree", "mira"),
            System("wide-gold", "tree", "mira"),
            System("wide-gold", "random", "mira"),
        ),
    ),
    "floresta": Treebank(
        "Floresta",
        "floresta",
        tuple(
            system
            for training in ("perceptron", "mira")
            for system in (
                *_first_order(training),
                System("chunks", "tree", training, 92.66),
                System("chunks-gold", "tree", training, 92.66),
            )
        ),
    ),
}


@dataclass
class GrowTrials:
    """Grows the chapter's tree on all edges of the training sentences: one entry."""

    train: NominalTable

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        reader = EdgeReader.of(self.train, edge_columns(self.train))
        begun = time.perf_counter()
        rows = edge_table(reader, reader.read(self.train))
        grown, tree = grow_templates(rows, **CHAPTER)
        return {
            "score": float(len(grown)),
            "templates": [[name for name, _ in one.template.places] for one in grown],
            "edges": len(rows),
            "positives": 1 - float(tree.errors[0] / max(tree.rows[0], 1)),
            "shown": tree_part(tree),
            "seconds": time.perf_counter() - begun,
        }


@dataclass
class ParseTrials:
    """Trains and judges one parser: what a journal has an entry for.

    A choice is judged on development sentences alone, a row on the test sentences as well.

    Parameters
    ----------
    parts : "train", "valid" and "test", with predicted columns.
    chapter : the columns of each template of the chapter's tree.
    """

    parts: dict[str, NominalTable]
    chapter: Sequence[Sequence[str]] = field(default_factory=list)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        parser = self._parser(asked)
        begun = time.perf_counter()
        parser.fit(self.parts["train"])
        seconds = time.perf_counter() - begun
        found: dict[str, Any] = {
            "templates": len(parser.templates_),
            "features": int(np.count_nonzero(parser.model_.weights)),
            "seconds": seconds,
        }
        for part in ("valid",) if asked["part"] == "choice" else ("valid", "test"):
            counts = attachment_counts(self.parts[part], parser.predict_trees(self.parts[part]))
            found[part] = {"right": packed(counts[:, 0]), "all_right": packed(counts[:, 3])}
            right, tokens = counts[:, [0, 2]].sum(axis=0).tolist()
            found[f"uas_{part}"] = right / max(tokens, 1)
        if asked["generation"] == "tree":
            found["grown"] = template_rows(parser.grown_[:MOST_SHOWN])
        return {"score": found["uas_valid"], **found}

    def _parser(self, asked: Mapping[str, Any]) -> DependencyParser:
        more: dict[str, Any] = {"training": asked["training"]}
        if asked["training"] == "perceptron":
            more["epochs"] = PERCEPTRON_EPOCHS
        if asked["generation"] == "chapter":
            more["templates"] = self.chapter_templates(asked["length"])
        elif asked["generation"] == "random":
            more["templates"] = self.random_templates(asked["basic"], asked["seed"])
        else:
            more["templates"] = asked["generation"]
            more["columns"] = self._columns(asked["basic"])
        return DependencyParser(relations=False, random_state=asked["seed"], **more)

    def chapter_templates(self, length: int) -> list[Template]:
        """Those of the chapter's tree up to a length, and what all systems see between."""
        own = [edge_template(*names) for names in self.chapter if len(names) <= length]
        return own + between_templates(TokenColumns.of(self.parts["train"]))

    def random_templates(self, basic: str, seed: int) -> list[Template]:
        """As many templates as a forest gives, of two to six columns each, and the same between."""
        columns = self._columns(basic) or edge_columns(self.parts["train"])
        random = np.random.default_rng(seed)
        drawn: dict[frozenset[str], Template] = {}
        while len(drawn) < FOREST["most"]:
            size = int(random.integers(2, 7))
            names = random.choice(columns, size=size, replace=False).tolist()
            drawn.setdefault(frozenset(names), edge_template(*names))
        return [*drawn.values(), *between_templates(TokenColumns.of(self.parts["train"]))]

    def _columns(self, basic: str) -> list[str] | None:
        """Edge columns; None: those that the parser asks by itself."""
        predicted = not basic.endswith("-gold")
        if basic.startswith("wide"):
            return wide_columns(predicted)
        if basic.startswith("chunks"):
            return chunk_columns(edge_columns(self.parts["train"]), predicted)
        return None


def distinct_lengths(chapter: Sequence[Sequence[str]]) -> list[int]:
    """The lengths to choose from that differ in what they keep.

    >>> distinct_lengths([["side"], ["side", "distance"], ["side", "head.xpos", "mod.xpos"]])
    [2, 3]
    """
    kept: dict[int, int] = {}
    for length in LENGTHS:
        kept.setdefault(sum(len(names) <= length for names in chapter), length)
    return sorted(kept.values())
