"""Predicted columns that are as good in training as they will be on new text, and no better.

A parser may look at chunks, at gender and number, at lemmas.  In a treebank these are given by
hand; in new text a tagger must predict them, with faults.  A parser that was trained on the gold
ones trusts them too much, and one trained on the answers of a tagger to its own training
sentences as well, for these are nearly free of faults.  So training data are *jackknifed*:
sentences are dealt into folds, and each fold is tagged by a tagger that learned from all others.
New text is tagged by one that learned from all sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from featloom.data.columns import ColumnMaker, Flag, Prefix, Shape, Suffix
from featloom.data.sentences import take_sentences
from featloom.data.table import UNKNOWN, NominalTable
from featloom.data.vocabulary import encode
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.learners.tagger import SequenceTagger

# A CRF weighs pairs of labels, and its time grows with their square.
MANY_CLASSES = 40
# With more classes a feature seen once costs more memory than it is worth.
_CUTOFF_OF_MANY = 2


class Tagger(Protocol):
    """What can be jackknifed: sentences come as a table, labels as a list for each sentence."""

    def fit(self, sentences: NominalTable, labels: list[list[str]]) -> Any: ...

    def predict(self, sentences: NominalTable) -> list[list[str]]: ...


MakeTagger = Callable[[], Tagger]


def jackknifed(
    table: NominalTable,
    labels: str | Sequence[str],
    make_tagger: MakeTagger,
    *,
    folds: int = 5,
    seed: int = 0,
) -> list[str]:
    """Labels that are predicted for each row by a tagger which has not seen its sentence.

    Parameters
    ----------
    table : sentences.
    labels : the name of a column, which the taggers then do not see; or a label for each row.
    make_tagger : makes a new tagger, such as a :class:`SequenceTagger`, for each fold.
    folds : how many parts the sentences are dealt into, whole documents where there are any.
    seed : of the dealing.

    Examples
    --------
    >>> table = NominalTable.from_columns(
    ...     {"word": ["a", "cat", "a", "dog"], "tag": ["D", "N", "D", "N"]},
    ...     sequence_bounds=np.array([0, 2, 4]))
    >>> jackknifed(table, "tag", lambda: SequenceTagger(templates=["U0:%x[-1,0]", "B"]), folds=2)
    ['D', 'N', 'D', 'N']
    """
    shown, names = _shown_and_labels(table, labels)
    bounds = shown.bounds
    predicted = np.empty(len(shown), dtype=object)
    for learned, left_out in splits(sentence_folds(shown, folds=folds, seed=seed)):
        tagger = make_tagger()
        gold = [names[bounds[i] : bounds[i + 1]] for i in learned.tolist()]
        tagger.fit(take_sentences(shown, learned), gold)
        answers = tagger.predict(take_sentences(shown, left_out))
        for i, answer in zip(left_out.tolist(), answers, strict=True):
            predicted[bounds[i] : bounds[i + 1]] = answer
    return predicted.tolist()


def sentence_folds(table: NominalTable, *, folds: int = 5, seed: int = 0) -> np.ndarray:
    """The fold of each sentence; sentences of one document are in one fold.

    >>> table = NominalTable.from_columns({"word": list("abcd")}, groups=list("xxyy"),
    ...                                   sequence_bounds=np.arange(5))
    >>> sentence_folds(table, folds=2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    bounds = _bounds(table)
    n = len(bounds) - 1
    if not 2 <= folds <= n:
        raise InputError(f"{n} sentences cannot be dealt into {folds} folds")
    groups = None
    if table.groups is not None and len(table):
        groups = table.groups[np.minimum(bounds[:-1], len(table) - 1)]
    return make_folds(
        np.zeros(n, dtype=np.int32),
        n_folds=folds,
        groups=groups,
        seed=seed,
        stratified=False,
        allow_rare=True,
    )


class PredictedColumn:
    """A column that is predicted from others: jackknifed in training, plainly on new text.

    Parameters
    ----------
    column : the gold column to learn from.
    of : the columns that the tagger looks at, the words first.
    name : of the predicted column; None: that of the gold one, which it replaces.
    make_tagger : makes a new tagger; None: :func:`default_tagger`.
    folds, seed : see :func:`jackknifed`.

    Attributes
    ----------
    tagger_ : the tagger for new text, which learned from all training sentences.

    Examples
    --------
    >>> train = NominalTable.from_columns(
    ...     {"form": ["a", "cat", "a", "dog"], "xpos": ["D", "N", "D", "N"],
    ...      "chunk": ["B", "I", "B", "I"]}, sequence_bounds=np.array([0, 2, 4]))
    >>> chunk = PredictedColumn("chunk", of=("form", "xpos"), name="chunk.predicted", folds=2)
    >>> chunk.fit_transform(train).columns
    ('form', 'xpos', 'chunk', 'chunk.predicted')
    >>> new = NominalTable.from_columns({"form": ["a", "cow"], "xpos": ["D", "N"]})
    >>> chunk.transform(new).value("chunk.predicted", 1)
    'I'
    """

    def __init__(
        self,
        column: str,
        *,
        of: Sequence[str] = ("form", "xpos"),
        name: str | None = None,
        make_tagger: MakeTagger | None = None,
        folds: int = 5,
        seed: int = 0,
    ):
        self.column, self.of, self.name = column, tuple(of), name or column
        self.make_tagger = make_tagger
        self.folds, self.seed = folds, seed
        self.tagger_: Tagger | None = None
        if column in self.of:
            raise InputError(f"column {column!r} cannot be predicted from itself")

    def fit_transform(self, train: NominalTable) -> NominalTable:
        """The training sentences with the jackknifed column."""
        seen = chosen_columns(train, self.of)
        gold = values_of(train, self.column)
        make = self.make_tagger or default_tagger(seen, n_classes=len(set(gold)), seed=self.seed)
        predicted = jackknifed(seen, gold, make, folds=self.folds, seed=self.seed)
        bounds = _bounds(seen).tolist()
        tagger = make()
        tagger.fit(seen, [gold[a:b] for a, b in pairwise(bounds)])
        self.tagger_ = tagger
        return with_column(train, self.name, predicted)

    def transform(self, table: NominalTable) -> NominalTable:
        """New sentences with the column as the tagger of all training sentences predicts it."""
        if self.tagger_ is None:
            raise InputError(f"column {self.name!r} must be learned from training data first")
        answers = self.tagger_.predict(chosen_columns(table, self.of))
        return with_column(table, self.name, [label for answer in answers for label in answer])


def default_tagger(
    table: NominalTable, *, n_classes: int, seed: int = 0, passes: int = 10
) -> Callable[[], SequenceTagger]:
    """Makes taggers for such sentences: a CRF, or maximum entropy where there are many classes.

    The first column holds the words.  The templates: words and tags in a window of two, pairs
    and threes of neighbours, the word's beginnings, endings and shape, the endings of its
    neighbours.
    """
    word, *tags = table.columns
    makers: list[ColumnMaker] = [Shape(word), Flag(word, "capital")]
    makers += [*(Prefix(word, n) for n in (2, 3)), *(Suffix(word, n) for n in (1, 2, 3, 4))]
    reach = min(2, int(np.diff(_bounds(table)).max(initial=1)) - 1)
    places: list[tuple[tuple[str, int], ...]]
    places = [((name, o),) for name in table.columns for o in range(-reach, reach + 1)]
    places += [((maker.name, 0),) for maker in makers]
    if reach:
        places += [((f"{word}.suffix{n}", o),) for n in (2, 3) for o in (-1, 1)]
        places += [((name, o), (name, o + 1)) for name in table.columns for o in (-1, 0)]
        places += [((name, -1), (name, 0), (name, 1)) for name in tags]
    if reach > 1:
        places += [((name, o), (name, o + 1)) for name in tags for o in (-2, 1)]
    places += [((word, 0), (name, 0)) for name in tags]
    places += [((f"{word}.suffix3", 0), (name, 0)) for name in tags]
    templates = [*(Template(place) for place in places), Template((), "B", "B")]
    plan = FeaturePlan(
        derived=tuple(maker.to_dict() for maker in makers), templates=tuple(templates)
    )
    many = n_classes > MANY_CLASSES
    return lambda: SequenceTagger(
        model="maxent" if many else "crf",
        cutoff=_CUTOFF_OF_MANY if many else 1,
        plan=plan,
        passes=passes,
        random_state=seed,
    )


def chosen_columns(table: NominalTable, names: Sequence[str]) -> NominalTable:
    """Some columns of a table, without its labels.

    >>> table = NominalTable.from_columns({"form": ["a"], "lemma": ["a"], "pos": ["D"]})
    >>> chosen_columns(table, ["form", "pos"]).columns
    ('form', 'pos')
    """
    if not names:
        raise InputError("no columns to predict from")
    return replace(
        table.select(names),
        labels=None,
        classes=(),
        target="",
        sequence_bounds=_bounds(table),
    )


def with_column(table: NominalTable, name: str, values: Sequence[str]) -> NominalTable:
    """The table with one more column, or with other values in one that it has.

    >>> table = NominalTable.from_columns({"form": ["a", "b"]})
    >>> with_column(table, "pos", ["D", "N"]).value("pos", 1)
    'N'
    """
    if len(values) != len(table):
        raise InputError(f"{len(values)} values of column {name!r} for {len(table)} rows")
    codes, vocabulary = encode(values)
    columns, vocabularies = list(table.columns), list(table.vocabularies)
    all_codes = table.codes
    if name in columns:
        j = columns.index(name)
        vocabularies[j] = vocabulary
        all_codes = all_codes.copy(order="F")
        all_codes[:, j] = codes
    else:
        columns.append(name)
        vocabularies.append(vocabulary)
        all_codes = np.asfortranarray(np.column_stack([all_codes, codes]))
    return replace(table, columns=tuple(columns), codes=all_codes, vocabularies=tuple(vocabularies))


def values_of(table: NominalTable, column: str) -> list[str]:
    """The values of a column; an unknown one is refused.

    >>> values_of(NominalTable.from_columns({"form": ["a", "b"]}), "form")
    ['a', 'b']
    """
    missing = table.codes[:, table.column_index(column)] == UNKNOWN
    if missing.any():
        raise InputError(f"row {int(np.argmax(missing))} has no value of {column!r}")
    return table.values(column).tolist()


def _shown_and_labels(
    table: NominalTable, labels: str | Sequence[str]
) -> tuple[NominalTable, list[str]]:
    """What the taggers see, and the label of each row."""
    if isinstance(labels, str):
        others = [name for name in table.columns if name != labels]
        return chosen_columns(table, others), values_of(table, labels)
    if len(labels) != len(table):
        raise InputError(f"{len(labels)} labels for {len(table)} rows")
    return chosen_columns(table, table.columns), list(labels)


def _bounds(table: NominalTable) -> np.ndarray:
    if table.sequence_bounds is not None:
        return table.sequence_bounds
    return np.array([0, len(table)], dtype=np.int64)
