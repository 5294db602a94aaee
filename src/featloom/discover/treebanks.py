"""Dependency trees: on which word does each word of a sentence hang?

Answers are heads: the position of each token's head in its sentence, 0 for the root.  They are
judged by the share of tokens with the right one (UAS), tokens of punctuation left out.  Parsers
also learn relations, which are not judged here.

All parsers are the same but for their templates, which experts wrote, or which are paths of
decision trees grown on pairs of words.  Templates are found once; how the parser then learns is
settled on held-out sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.table import NominalTable
from featloom.data.trees import table_of_trees
from featloom.compare.contenders import Contender, Finding, tallied
from featloom.discover.sentences import (
    SentencesQuestion,
    inner_parts,
    repeated_sentences,
    seen_alone,
    sums_of_sentences,
)
from featloom.errors import InputError
from featloom.evaluation.attachment import is_punctuation
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.features.template import Template
from featloom.learners.parser import DependencyParser
from featloom.learners.parser_templates import TokenColumns, between_templates, manual_templates
from featloom.learners.tree_paths import GrownTemplate
from featloom.runs import write_beside

MODEL, TEMPLATES = "model.featloom", "templates.txt"
UAS = "UAS without punctuation"
TUNED_ON = 1_500  # sentences, at most
CHOICES: tuple[dict[str, Any], ...] = (
    {"training": "mira", "epochs": 3},
    {"training": "mira", "epochs": 6},
    {"training": "perceptron", "epochs": 3},
    {"training": "perceptron", "epochs": 6},
)
# Trees that templates are grown from: one, pruned where a split gains little; or those that did
# best on another treebank.
ONE_TREE: dict[str, Any] = {"n_trees": 1, "prune": "gain", "backoff": True, "most": 500}
MANY_TREES: dict[str, Any] = {}
FEW_TREES: dict[str, Any] = {"n_trees": 20, "most": 100}
_MANY_CROSS = 0.25  # share of sentences with crossing arcs, from which these are looked for
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
        if table.heads is None or not len(table):
            raise InputError("the sentences have no heads")
        table_of_trees(table)  # says which sentence is no tree
        self.heads = table.heads
        self.words = f"dependency trees: {len(self):,} sentences of {len(table):,} tokens"

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        taken = self.take(units)
        return self.by_group(units, _attached(taken, answers))

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    def contenders(self) -> Sequence[Contender]:
        return [
            Contender(
                "always a neighbour", "chance",
                "every word hangs on the word before it, or on the next, whichever is commoner",
                fit_neighbour, 0.01,
            ),
            Contender(
                "parser, manual templates", "baseline",
                "a first-order parser on the templates that experts wrote by hand",
                partial(fit_parser, by_hand), 1.0, TUNED_ON,
            ),
            Contender(
                "parser, templates from a tree", "method",
                "the same parser on templates that are paths of a decision tree grown on pairs of "
                "words",
                partial(fit_parser, partial(grown, ONE_TREE)), 2.0, TUNED_ON,
            ),
            Contender(
                "parser, manual templates and trees'", "method",
                "the same parser on the templates of experts and 100 more of decision trees",
                partial(fit_parser, partial(added, FEW_TREES)), 2.0, TUNED_ON,
            ),
            Contender(
                "parser, templates from trees", "method",
                "the same parser on 500 templates that are paths of many decision trees; as many "
                "drawn at random did as well in our experiments",
                partial(fit_parser, partial(grown, MANY_TREES)), 3.0, TUNED_ON,
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
        assert taken.heads is not None
        right = (taken.heads == answers)[words]
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


def fit_neighbour(data: NominalTable, seed: int, threads: int) -> FittedNeighbour:
    """Before or after: what is right more often."""
    before, after = (FittedNeighbour(side) for side in (-1, 1))
    n_right = [np.sum(one.answers(data) == data.heads) for one in (before, after)]
    return after if n_right[1] > n_right[0] else before


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
        bounds = data.sequence_bounds
        assert bounds is not None
        lengths = np.diff(bounds)
        place = np.arange(len(data)) - np.repeat(bounds[:-1], lengths) + 1
        head = place + self.side
        return np.where(head > np.repeat(lengths, lengths), 0, head).astype(np.int32)

    def findings(self) -> list[Finding]:
        return []

    def save(self, folder: Path) -> list[str]:
        return []


@dataclass(frozen=True)
class EdgeSet:
    """Templates of a parser, and what is known of those that grew on trees."""

    templates: list[Template]
    grown: Sequence[GrownTemplate] = ()


def by_hand(table: NominalTable, how: Mapping[str, Any]) -> EdgeSet:
    """The templates of experts.

    >>> ran = [("He", "he", "X", "_", "_", 2, "nsubj"), ("ran", "run", "V", "_", "_", 0, "root")]
    >>> str(by_hand(table_of_trees([ran]), {}).templates[0])
    'head.form'
    """
    tokens = TokenColumns.of(table)
    return EdgeSet([*manual_templates(tokens), *between_templates(tokens)])


def grown(forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]) -> EdgeSet:
    """Paths of decision trees with such settings."""
    # Trees grow on the heads that a pilot leaves, which a parser alone knows; one pass is enough.
    first = DependencyParser(
        templates="tree", forest=forest, epochs=1, relations=False, **how
    ).fit(table)  # fmt: skip
    return EdgeSet(first.templates_, first.grown_)


def added(forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]) -> EdgeSet:
    """The templates of experts, and those of trees that are not among them."""
    found = grown(forest, table, how)
    there = {frozenset(one.places): one for one in found.templates}
    there |= {frozenset(one.places): one for one in by_hand(table, how).templates}
    return EdgeSet(list(there.values()), found.grown)


def fit_parser(
    find: Callable[[NominalTable, Mapping[str, Any]], EdgeSet],
    data: NominalTable,
    seed: int,
    threads: int,
) -> FittedParser:
    """Find templates, choose training and passes on a fifth of the sentences, learn from all."""
    table = seen_alone(data)
    how: dict[str, Any] = {"n_jobs": threads, "random_state": seed, "decoder": _decoder(table)}
    found = find(table, how)
    how["templates"] = found.templates
    best: Mapping[str, Any] = CHOICES[0]
    parts = inner_parts(table, seed, TUNED_ON)
    if parts is not None:
        learn, judge = seen_alone(parts[0]), parts[1]
        # Relations change nothing in the heads, and are learned at the end alone.
        tried = [DependencyParser(**how, **one, relations=False).fit(learn) for one in CHOICES]
        counts = [_attached(judge, FittedParser(one).answers(judge)) for one in tried]
        scores = [float(accuracy_of_counts(one.sum(axis=0))) for one in counts]
        best = CHOICES[int(np.argmax(scores))]
    return FittedParser(DependencyParser(**how, **best).fit(table), found.grown)


@dataclass(eq=False)
class FittedParser:
    """A parser that has learned, and what is known of its templates."""

    model: DependencyParser
    grown: Sequence[GrownTemplate] = ()

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

    def findings(self) -> list[Finding]:
        rows = [
            [str(one.template), float(f"{one.gain:.4g}"), round(float(one.coverage), 4), one.trees]
            for one in self.grown
        ]
        known = {row[0] for row in rows}
        others = [str(one) for one in self.model.templates_ if str(one) not in known]
        if not rows:
            return [Finding("templates", ["template"], [[one] for one in others[:_MOST_SHOWN]])]
        rows += [[one, None, None, None] for one in others]
        columns = ["template", "gain in bits", "share of edges", "trees"]
        return [Finding("templates", columns, rows[:_MOST_SHOWN])]

    def save(self, folder: Path) -> list[str]:
        self.model.save(folder / MODEL)
        write_beside(folder / TEMPLATES, "".join(f"{one}\n" for one in self.model.templates_))
        return [MODEL, TEMPLATES]


def _attached(table: NominalTable, heads: np.ndarray) -> np.ndarray:
    """Right heads and tokens of each sentence, without punctuation."""
    assert table.heads is not None
    assert table.sequence_bounds is not None
    words = ~is_punctuation(table)
    right = words & (table.heads == heads)
    return np.stack(
        [sums_of_sentences(marks, table.sequence_bounds) for marks in (right, words)], axis=1
    )


def _decoder(table: NominalTable) -> str:
    """Arcs may cross where they do in many sentences; to look for it costs more than it brings
    elsewhere."""
    assert table.heads is not None
    assert table.sequence_bounds is not None
    cuts = np.split(table.heads, table.sequence_bounds[1:-1])
    share = np.mean([_arcs_cross(heads) for heads in cuts])
    return "chu-liu-edmonds" if share > _MANY_CROSS else "eisner"


def _arcs_cross(heads: np.ndarray) -> bool:
    """Whether two arcs of a sentence cross.

    >>> _arcs_cross(np.array([3, 4, 0, 3])), _arcs_cross(np.array([2, 0, 2]))
    (True, False)
    """
    place = np.arange(1, len(heads) + 1)
    left, right = np.minimum(place, heads), np.maximum(place, heads)
    begins_inside = (left[:, None] < left) & (left < right[:, None])
    return bool((begins_inside & (right > right[:, None])).any())
