"""Sentences with a label for each token: tags, chunks, names of persons and places.

Where labels spell chunks (B-NP, I-NP, O) answers are judged by the F1 of chunks, else by the share
of tokens with the right label; the labels of the data decide once, for all contenders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from featloom.compare.questions import tallied
from featloom.data.table import NominalTable
from featloom.discover.combined import thinned_templates
from featloom.discover.sentences import SentencesQuestion, repeated_sentences
from featloom.errors import InputError
from featloom.evaluation.chunks import CHUNK_F1, OF_COUNTS, counts_by, suitable_metric, token_counts
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.learners.template_sets import TRAINING, fits, usual_names, usual_set
from featloom.method import Contender, Setting, Unsuited
from featloom.methods import METHODS
from featloom.results import Grid
from featloom.words import counted, first_and_more, percent

_TELLING = 0.995  # share of tokens that one column alone gets right, which looks like a leak
_FAR_BELOW = 0.95  # of chance
_MOST_NAMED = 5


class SentenceQuestion(SentencesQuestion):
    """Which label does each token have?

    Parameters
    ----------
    table : tokens of sentences with their labels; documents, where it has groups, are never split.

    Examples
    --------
    >>> from featloom.data.sentences import table_of_sentences
    >>> table = table_of_sentences([["the", "cat"], ["stop"]], [["B-NP", "I-NP"], ["O"]])
    >>> question = SentenceQuestion(table)
    >>> question.metric, len(question)
    ('chunk F1', 2)
    >>> question.counts(np.array([0]), np.array([0, 2])).tolist()
    [[0, 1, 1]]
    """

    kind = "sequence"

    def __init__(self, table: NominalTable):
        super().__init__(table)
        present = np.unique(table.known_labels)
        if not len(present):
            raise InputError("there are no labels")
        if len(present) < 2:
            raise InputError(f"all tokens have the label {table.classes[present[0]]!r}")
        self.labels = table.label_codes
        self.classes = tuple(map(str, table.classes))
        self.metric = suitable_metric(self.classes)
        n_columns = len(table.columns)
        self.words = (
            f"sentences: {len(self):,} of {len(table):,} tokens with "
            f"{counted(n_columns, 'column')} of symbols and {len(present)} labels"
            + ", which spell chunks"
            * (self.metric == CHUNK_F1)
        )

    @property
    def strata(self) -> np.ndarray:
        """Whether a sentence has a label beside the commonest one, as where names are rare."""
        commonest = np.bincount(self.labels).argmax()
        others = np.concatenate(([0], np.cumsum(self.labels != commonest)))
        return (np.diff(others[self.bounds]) > 0).astype(np.int32)

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        gold, bounds = self._gold(units)
        counts = counts_by(self.metric, gold, answers, bounds, self.classes)
        return self.by_group(units, counts)

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return OF_COUNTS[self.metric]

    def chance_counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """By tokens: one label for all of them spells chunks that nobody would guess."""
        gold, bounds = self._gold(units)
        return self.by_group(units, token_counts(gold, answers, bounds))

    @property
    def of_chance_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    def everyone(self) -> list[Contender | Unsuited]:
        usual = {"templates": usual_names(self.table), **TRAINING}
        baselines: list[Contender | Unsuited] = [
            Contender(
                "most frequent label", "chance", "the commonest label, whatever the token is",
                fit_same_label, cost=0.01,
            ),
            Contender(
                "CRF, default templates", "baseline",
                "a conditional random field on words and columns two tokens around, and on the "
                "spelling of words where that is better on held-out sentences",
                fits(usual_set, usual), usual, cost=1.0,
            ),
            Contender(
                "maximum entropy, default templates", "baseline",
                "the same features, each token labelled by itself",
                fits(usual_set, usual, "maxent"), usual, cost=0.7,
            ),
        ]  # fmt: skip
        of_methods = [one for m in METHODS for one in m.contenders_for("sequence", self.table)]
        return [*baselines, *of_methods, thinned_templates()]

    def data_part(self) -> dict[str, Any]:
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        classes = sorted(zip(self.classes, sizes, strict=True), key=lambda one: -one[1])
        return self.sizes() | {"classes": {name: size for name, size in classes if size}}

    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        found = repeated_sentences(self.table, self.table.columns, learn, test)
        known, asked = self.take(learn), self.take(test)
        return [
            *found,
            *_new_labels(known, asked),
            *self._labels_of_one_document(),
            *_telling_columns(known, asked),
        ]

    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        taken = self.take(units)
        right = taken.label_codes == answers
        found = {"by_class": tallied(taken.label_codes, right, self.classes)}
        groups = self.tallied_groups(taken, right)
        return found | ({"by_group": groups} if groups else {})

    def _gold(self, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        taken = self.take(units)
        return taken.label_codes, taken.bounds

    def _labels_of_one_document(self) -> list[str]:
        groups = self.table.groups
        if self.groups is None or groups is None:
            return []
        pairs = np.unique(np.stack([self.labels, groups], axis=1), axis=0)
        n_documents = np.bincount(pairs[:, 0], minlength=len(self.classes))
        alone = [self.classes[code] for code in np.flatnonzero(n_documents == 1).tolist()]
        if not alone:
            return []
        who = f"label {alone[0]!r} is" if len(alone) == 1 else f"labels {_names(alone)} are each"
        return [f"{who} found in one document only, which is learned from or tested, not both"]


def _new_labels(known: NominalTable, asked: NominalTable) -> list[str]:
    n_asked = np.bincount(asked.label_codes, minlength=len(asked.classes))
    n_asked[np.unique(known.label_codes)] = 0
    new = [asked.classes[code] for code in np.flatnonzero(n_asked).tolist()]
    if not new:
        return []
    tokens = int(n_asked.sum())
    return [
        f"{counted(tokens, 'test token has', 'test tokens have')} a label that is not among "
        f"those learned from ({_names(new)}); all answers to it are wrong"
    ]


def _telling_columns(known: NominalTable, asked: NominalTable) -> list[str]:
    """Columns by whose value at the token alone nearly every test token is answered right."""
    n_classes = len(known.classes)
    commonest = np.bincount(known.label_codes).argmax()
    if not len(asked) or np.mean(asked.label_codes == commonest) > _FAR_BELOW:
        return []
    said = []
    for j, name in enumerate(known.columns):
        pair = known.codes[:, j].astype(np.int64) * n_classes + known.label_codes
        seen, counts = np.unique(pair, return_counts=True)
        order = np.argsort(counts, kind="stable")
        answer = np.full(len(known.vocabularies[j]) + 1, commonest)
        answer[seen[order] // n_classes] = seen[order] % n_classes  # the commonest comes last
        right = float(np.mean(answer[asked.codes[:, j]] == asked.label_codes))
        if right >= _TELLING:
            said.append(
                f"column {name!r} alone tells the label of {percent(right)} of the test tokens: "
                "is it known before the label is?"
            )
    return said[:_MOST_NAMED]


def _names(names: Sequence[str]) -> str:
    return first_and_more(list(map(repr, names)), _MOST_NAMED)


def fit_same_label(
    data: NominalTable, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedSameLabel]:
    """The commonest label of some sentences."""
    commonest = int(np.bincount(data.label_codes).argmax())
    for _ in settings:
        yield FittedSameLabel(commonest, data.classes)


@dataclass(frozen=True)
class FittedSameLabel:
    """One label for all tokens."""

    code: int
    classes: tuple[str, ...] = field(repr=False)

    size = 1
    size_words = "1 label"

    @property
    def setting(self) -> str:
        return self.model

    @property
    def model(self) -> str:
        return str(self.classes[self.code])

    def answers(self, data: NominalTable) -> np.ndarray:
        return np.full(len(data), self.code, dtype=np.int32)

    def findings(self) -> list[Grid]:
        return []

    def save(self, folder: Path) -> list[str]:
        return []
