"""Dependency trees: on which word does each word of a sentence hang?

Answers are heads: the position of each token's head in its sentence, 0 for the root.  They are
judged by the share of tokens with the right one (UAS), tokens of punctuation left out.  Parsers
also learn relations, which are not judged here.

All parsers are the same but for their templates, which experts wrote, or which are paths of
decision trees grown on pairs of words.  Templates are found once for all settings; these say how
the parser learns with them, by default as one that is fitted without any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.compare.questions import tallied
from featloom.data.sentences import table_of_trees
from featloom.data.stretches import is_long
from featloom.data.table import NominalTable
from featloom.discover.sentences import (
    SentencesQuestion,
    repeated_sentences,
    sums_of_sentences,
)
from featloom.evaluation.attachment import is_punctuation
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.learners.parser import LONGEST
from featloom.learners.parsers import by_hand, fit_parsers, parser_axes
from featloom.method import Contender, Setting, Unsuited
from featloom.methods import METHODS
from featloom.results import Grid
from featloom.words import counted

MODEL, TEMPLATES = "model.featloom", "templates.txt"
UAS = "UAS without punctuation"


class TreeQuestion(SentencesQuestion):
    """Which token is the head of each token?

    Parameters
    ----------
    table : tokens of sentences with their heads; documents, where it has groups, are never split.

    Examples
    --------
    >>> token = ("Stop", "stop", "VERB", "_", "_", 0, "root")
    >>> question = TreeQuestion(table_of_trees([[token]] * 3))
    >>> question.metric, len(question)
    ('UAS without punctuation', 3)
    >>> question.counts(np.array([0, 2]), np.array([0, 1])).tolist()
    [[1, 1], [0, 1]]
    """

    kind = "trees"
    metric = UAS

    def __init__(self, table: NominalTable):
        super().__init__(table)
        self.heads = table.tree_heads
        table_of_trees(table)  # says which sentence is no tree
        self.words = f"dependency trees: {len(self):,} sentences of {len(table):,} tokens"

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        taken = self.take(units)
        return self.by_group(units, _attached(taken, answers))

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    def everyone(self) -> list[Contender | Unsuited]:
        axes = parser_axes(self.table)
        baselines: list[Contender | Unsuited] = [
            Contender(
                "always a neighbour", "chance",
                "every word hangs on the word before it, or on the next, whichever is commoner",
                fit_neighbour, cost=0.01,
            ),
            Contender(
                "parser, manual templates", "baseline",
                "a first-order parser on the templates that experts wrote by hand",
                partial(fit_parsers, by_hand), axes, cost=1.0,
            ),
        ]  # fmt: skip
        of_methods = [one for m in METHODS for one in m.contenders_for("trees", self.table)]
        return [*baselines, *of_methods]

    def data_part(self) -> dict[str, Any]:
        names, codes = self._kinds(self.table)
        said = tallied(codes, np.zeros(len(codes)), names)
        return self.sizes() | {
            "target": "head",
            "classes": {one["name"]: one["rows"] for one in said},
        }

    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        form = self.table.columns[0]
        found = repeated_sentences(self.table, [form], learn, test)
        if n_long := int(is_long(self.table, LONGEST).sum()):
            found.append(
                f"{counted(n_long, 'sentence')} of more than {LONGEST} tokens: not "
                "learned from, and parsed in stretches"
            )
        given = [name for name in ("lemma", "upos", "xpos", "feats") if self._has(name)]
        if given:
            found.append(
                f"{', '.join(given)} are taken as they stand; where they were annotated by hand, "
                "new text with predicted ones will be parsed less well"
            )
        return found

    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        """By relation, or by tag where there are no relations; punctuation is left out."""
        taken = self.take(units)
        words = np.flatnonzero(~is_punctuation(taken))
        right = (taken.tree_heads == answers)[words]
        names, codes = self._kinds(taken)
        found = {"by_class": tallied(codes[words], right, names)}
        groups = self.tallied_groups(taken.take(words), right)
        return found | ({"by_group": groups} if groups else {})

    def _kinds(self, table: NominalTable) -> tuple[tuple[str, ...], np.ndarray]:
        """What tokens are sorted by, and the place of each token among it."""
        name = next((one for one in ("deprel", "upos", "xpos") if self._has(one)), None)
        if name is None:
            return ("all tokens",), np.zeros(len(table), dtype=np.int64)
        j = table.column_index(name)
        return ("_", *table.vocabularies[j]), table.codes[:, j].astype(np.int64)

    def _has(self, name: str) -> bool:
        """Whether a column is there and says something."""
        columns = dict(zip(self.table.columns, self.table.vocabularies, strict=True))
        return any(value != "_" for value in columns.get(name, ()))


def fit_neighbour(
    data: NominalTable, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedNeighbour]:
    """Before or after: what is right more often."""
    before, after = (FittedNeighbour(side) for side in (-1, 1))
    n_right = [np.sum(one.answers(data) == data.heads) for one in (before, after)]
    for _ in settings:
        yield after if n_right[1] > n_right[0] else before


@dataclass(frozen=True)
class FittedNeighbour:
    """The neighbour on one side is the head; the token at the end of that side is the root."""

    side: int

    size = 1
    size_words = "1 rule"

    @property
    def setting(self) -> str:
        return "the word before" if self.side < 0 else "the word after"

    @property
    def model(self) -> str:
        return self.setting

    def answers(self, data: NominalTable) -> np.ndarray:
        bounds = data.bounds
        lengths = np.diff(bounds)
        place = np.arange(len(data)) - np.repeat(bounds[:-1], lengths) + 1
        head = place + self.side
        return np.where(head > np.repeat(lengths, lengths), 0, head).astype(np.int32)

    def findings(self) -> list[Grid]:
        return []

    def save(self, folder: Path) -> list[str]:
        return []


def _attached(table: NominalTable, heads: np.ndarray) -> np.ndarray:
    """Right heads and tokens of each sentence, without punctuation."""
    words = ~is_punctuation(table)
    right = words & (table.tree_heads == heads)
    return np.stack([sums_of_sentences(marks, table.bounds) for marks in (right, words)], axis=1)
