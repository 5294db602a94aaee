"""Basic features of edges beyond McDonald's: chunks and clauses, lemmas, morphology, suffixes.

What a treebank gives by hand a parser of new text must predict.  So each of these columns comes
twice: gold, which is an upper bound, and predicted, jackknifed on the training sentences
(:mod:`featloom.learners.jackknife`).  A predicted column is named ``lemma.predicted``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featloom.data.columns import derive
from featloom.data.encoding import encode
from featloom.data.table import NominalTable
from featloom.formats.packing import packed, unpacked
from featloom.learners.jackknife import PredictedColumn, values_of, with_column
from featloom.learners.lemmas import SuffixLemmatizer

# Made of each treebank's own columns before anything is predicted.
DERIVED: dict[str, tuple[dict[str, Any], ...]] = {
    "bosque": (
        {"make": "suffix", "of": "form", "length": 2},
        {"make": "suffix", "of": "form", "length": 3},
        {"make": "attribute", "of": "feats", "key": "Gender"},
        {"make": "attribute", "of": "feats", "key": "Number"},
    ),
    "floresta": (),
}
PREDICTED = {
    "bosque": ("lemma", "feats.Gender", "feats.Number"),
    "floresta": ("chunk", "clause"),
}
SEEN_BY_TAGGERS = ("form", "xpos")
_WIDE = (
    "form", "lemma", "xpos", "upos", "form.suffix3", "form.suffix2", "feats", "feats.Gender",
    "feats.Number", "xpos[-1]", "xpos[+1]", "xpos[-2]", "xpos[+2]",
)  # fmt: skip
_PAIR = (
    "side",
    "distance",
    "between.upos=VERB,AUX",
    "between.upos=PUNCT",
    "between.upos=CCONJ,SCONJ",
)
_CHUNKED = ("chunk", "chunk[-1]", "chunk[+1]", "clause")


def wide_columns(predicted: bool) -> list[str]:
    """The edge columns of UD Bosque with suffixes, lemma, morphology and wider neighbours.

    With predictions the whole morphology is left out, which is dear to predict.

    >>> len(wide_columns(predicted=False)), len(wide_columns(predicted=True))
    (31, 29)
    """
    own = [name for name in _WIDE if not (predicted and name == "feats")]
    return [*_of_both_ends(own, "bosque", predicted), *_PAIR]


def chunk_columns(basic: Sequence[str], predicted: bool) -> list[str]:
    """The given edge columns, and chunk and clause of head and modifier.

    >>> chunk_columns(["side"], predicted=True)[1:3]
    ['head.chunk.predicted', 'head.chunk.predicted[-1]']
    """
    return [*basic, *_of_both_ends(_CHUNKED, "floresta", predicted)]


def _of_both_ends(names: Sequence[str], treebank: str, predicted: bool) -> list[str]:
    if predicted:
        names = [_predicted_name(name, treebank) for name in names]
    return [f"{end}.{name}" for end in ("head", "mod") for name in names]


def _predicted_name(name: str, treebank: str) -> str:
    column, bracket, offset = name.partition("[")
    if column in PREDICTED[treebank]:
        return f"{column}.predicted{bracket}{offset}"
    return name


def derived_parts(
    parts: Mapping[str, NominalTable], specs: Sequence[Mapping[str, Any]]
) -> dict[str, NominalTable]:
    """Each part with the derived columns."""
    return {name: derive(table, *specs) for name, table in parts.items()}


@dataclass
class PredictTrials:
    """Predicts one column of all parts: what a journal has an entry for.

    Parameters
    ----------
    parts : "train", "valid" and "test".
    seed : of the folds.
    """

    parts: dict[str, NominalTable]
    seed: int

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        column = asked["column"]
        name = f"{column}.predicted"
        make = SuffixLemmatizer if column == "lemma" else None
        predicted = PredictedColumn(
            column, of=SEEN_BY_TAGGERS, name=name, make_tagger=make, seed=self.seed
        )
        found = {"train": predicted.fit_transform(self.parts["train"])}
        for part in ("valid", "test"):
            found[part] = predicted.transform(self.parts[part])
        right = {part: _agreement(table, column, name) for part, table in found.items()}
        columns = {part: _packed_column(table, name) for part, table in found.items()}
        return {"score": right["valid"], "right": right, "columns": columns}


def with_entry(
    parts: Mapping[str, NominalTable], column: str, entry: Mapping[str, Any]
) -> dict[str, NominalTable]:
    """Each part with a predicted column as a journal has it."""
    name = f"{column}.predicted"
    return {
        part: with_column(table, name, _unpacked_column(entry["columns"][part]))
        for part, table in parts.items()
    }


def _agreement(table: NominalTable, first: str, second: str) -> float:
    pairs = zip(values_of(table, first), values_of(table, second), strict=True)
    return float(np.mean([a == b for a, b in pairs]))


def _packed_column(table: NominalTable, name: str) -> dict[str, Any]:
    codes, vocabulary = encode(values_of(table, name))
    return {"values": list(vocabulary), "codes": packed(codes)}


def _unpacked_column(entry: Mapping[str, Any]) -> list[str]:
    return np.array(["", *entry["values"]], dtype=object)[unpacked(entry["codes"])].tolist()
