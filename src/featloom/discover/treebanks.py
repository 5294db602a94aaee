"""Dependency trees: on which word does each word of a sentence hang?

Answers are heads: the position of each token's head in its sentence, 0 for the root.  They are
judged by the share of tokens with the right one (UAS), tokens of punctuation left out.  Parsers
also learn relations, which are not judged here.

All parsers are the same but for their templates, which experts wrote, or which are paths of
decision trees grown on pairs of words.  Templates are found once for all settings; these say how
the parser learns with them, by default as one that is fitted without any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.compare.contenders import Contender, Setting, tallied
from featloom.data.sentences import table_of_trees
from featloom.data.stretches import is_long
from featloom.data.table import NominalTable
from featloom.discover.sentences import (
    SentencesQuestion,
    repeated_sentences,
    seen_alone,
    sums_of_sentences,
)
from featloom.evaluation.attachment import is_punctuation
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.learners.parser import LONGEST, DependencyParser
from featloom.learners.parser_templates import TokenColumns, between_templates, manual_templates
from featloom.learners.tree_paths import GrownTemplate
from featloom.results import Grid, grid
from featloom.runs import write_beside
from featloom.words import counted

MODEL, TEMPLATES = "model.featloom", "templates.txt"
UAS = "UAS without punctuation"
# A parser's own training comes first.
TRAINING: dict[str, Sequence[Any]] = {"epochs": (5, 3, 10), "training": ("mira", "perceptron")}
DECODER: dict[str, Sequence[Any]] = {"decoder": ("eisner", "chu-liu-edmonds")}
# Trees that templates are grown from: one, pruned where a split gains little; or those that did
# best on another treebank.
ONE_TREE: dict[str, Any] = {"n_trees": 1, "prune": "gain", "backoff": True, "most": 500}
MANY_TREES: dict[str, Any] = {}
FEW_TREES: dict[str, Any] = {"n_trees": 20, "most": 100}
_SOME_CROSS = 0.1  # share of sentences with crossing arcs, from which it may help to look for them
_MOST_SHOWN = 200


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

    def contenders(self) -> Sequence[Contender]:
        axes = {**TRAINING, **(DECODER if share_crossing(self.table) > _SOME_CROSS else {})}
        return [
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
            Contender(
                "parser, templates from a tree", "method",
                "the same parser on templates that are paths of a decision tree grown on pairs of "
                "words",
                partial(fit_parsers, partial(grown, ONE_TREE)), axes, cost=2.0,
            ),
            Contender(
                "parser, manual templates and trees'", "method",
                "the same parser on the templates of experts and 100 more of decision trees",
                partial(fit_parsers, partial(added, FEW_TREES)), axes, cost=2.0,
            ),
            Contender(
                "parser, templates from trees", "method",
                "the same parser on 500 templates that are paths of many decision trees; as many "
                "drawn at random did as well in our experiments",
                partial(fit_parsers, partial(grown, MANY_TREES)), axes, cost=3.0,
            ),
        ]  # fmt: skip

    def left_out(self) -> dict[str, str]:
        of_rows = "it is for rows that stand by themselves; here answers must form a tree"
        return {
            "induction": of_rows,
            "memory search": of_rows,
            "template search": "it is for taggers: it judges templates by the errors of CRFs",
            "transfer of feature relevance": (
                "it needs many tasks, a table whose rows name the task they belong to"
            ),
        }

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


def by_hand(table: NominalTable, how: Mapping[str, Any]) -> DependencyParser:
    """A parser with the templates of experts.

    >>> ran = [("He", "he", "X", "_", "_", 2, "nsubj"), ("ran", "run", "V", "_", "_", 0, "root")]
    >>> str(by_hand(table_of_trees([ran] * 9), {"bits": 12}).templates_[0])
    'head.form'
    """
    return DependencyParser(**how).fit(table)


def grown(
    forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]
) -> DependencyParser:
    """A parser with paths of decision trees, grown with such settings."""
    return DependencyParser(templates="tree", forest=forest, **how).fit(table)


def added(
    forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]
) -> DependencyParser:
    """A parser with the templates of experts, and those of trees that are not among them."""
    # Trees grow on the heads that a pilot leaves, which a parser alone knows; one pass is enough.
    first = grown(forest, table, {**how, "epochs": 1, "relations": False})
    tokens = TokenColumns.of(table)
    by_experts = [*manual_templates(tokens), *between_templates(tokens)]
    there = {frozenset(one.places): one for one in first.templates_}
    there |= {frozenset(one.places): one for one in by_experts}
    parser = DependencyParser(templates=list(there.values()), **how).fit(table)
    parser.grown_ = first.grown_
    return parser


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


def _attached(table: NominalTable, heads: np.ndarray) -> np.ndarray:
    """Right heads and tokens of each sentence, without punctuation."""
    words = ~is_punctuation(table)
    right = words & (table.tree_heads == heads)
    return np.stack([sums_of_sentences(marks, table.bounds) for marks in (right, words)], axis=1)


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
