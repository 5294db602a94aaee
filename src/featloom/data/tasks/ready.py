"""A named corpus, read and ready: the reader and the columns that each of them needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from featloom.data.corpora import Corpus, corpus, locate, locate_file
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.conll import IOB2_COLUMNS, read_conll
from featloom.data.readers.conllu import read_conllu
from featloom.data.readers.npz import load_arrays, read_matrix_folder, read_sparse
from featloom.data.readers.tables import read_table
from featloom.data.readers.timbl import read_timbl
from featloom.data.table import NominalTable
from featloom.data.tasks.letter_to_sound import letter_to_sound
from featloom.data.tasks.part_of_speech import part_of_speech
from featloom.errors import InputError
from featloom.words import no_such

PARTS = ("train", "valid", "test")
_LETTERS = ("prev3", "prev2", "prev1", "letter", "next1", "next2", "next3", "sound")
_PHRASE = ("id", "verb", "noun1", "prep", "noun2", "class")


def load(name: str, part: str | None = None) -> NominalTable | FeatureMatrix:
    """One part of a corpus as a table or a matrix.

    Parameters
    ----------
    name : of the corpus; ``featloom.data.corpora.corpora`` lists them.
    part : "train", "valid" or "test", where the corpus has them, or "all" where it has not;
        None: all of it if it comes in one piece, else the training part.
    """
    entry = corpus(name)
    parts = _parts(entry)
    if part is None:
        part = "all" if "all" in parts else "train"
    if part not in parts:
        raise InputError(f"corpus {name!r} has {no_such('part', part, parts)}")
    if name in _TASKS:
        return _TASKS[name]()[PARTS.index(part)]
    if name == "ned-gum":
        return _matrix_part(part)
    file = next(file.path for file in entry.files if file.part == part)
    return read_file(name, file)


def read_file(name: str, file: str) -> Any:
    """One file of a corpus."""
    reader, options = _READERS[name]
    return reader(locate_file(name, file), **options)


def _parts(entry: Corpus) -> list[str]:
    if entry.name in _TASKS:
        return list(PARTS)
    if entry.name == "ned-gum":
        return ["all", "train", "test"]
    if entry.name not in _READERS:
        raise InputError(f"corpus {entry.name!r} is no data set by itself")
    return [file.part for file in entry.files if file.part in ("all", *PARTS)]


@lru_cache(maxsize=1)
def _letter_to_sound() -> tuple[NominalTable, NominalTable, NominalTable]:
    return letter_to_sound()


@lru_cache(maxsize=2)
def _part_of_speech(name: str, words: str) -> tuple[NominalTable, NominalTable, NominalTable]:
    file_of = {file.part: locate_file(name, file.path) for file in corpus(name).files}
    return part_of_speech(*(file_of[part] for part in PARTS), words=words)


def _matrix_part(part: str) -> FeatureMatrix:
    folder = locate("ned-gum")
    matrix = read_matrix_folder(folder)
    if part == "all":
        return matrix
    is_test = load_arrays(folder / "labels.npz")["is_test"].astype(bool)
    return matrix.take(np.flatnonzero(is_test == (part == "test")))


# Data sets whose three parts are made at once.
_TASKS: dict[str, Callable[[], tuple[NominalTable, NominalTable, NominalTable]]] = {
    "letter-to-sound": _letter_to_sound,
    "pos-known": partial(_part_of_speech, "pos-known", "known"),
    "pos-unknown": partial(_part_of_speech, "pos-unknown", "unknown"),
}
_TREES = (
    "ud_chinese_gsd_v1", "ud_english_ewt", "pt-bosque/ud", "pt-bosque/floresta",
    "pt-bosque/conllx-sample400", "bosque",
)  # fmt: skip
# The reader of each file, and what it is told.
_READERS: dict[str, tuple[Callable[..., NominalTable | FeatureMatrix], dict[str, Any]]] = {
    "gs-cmudict": (read_timbl, {"columns": _LETTERS, "format": "tabs"}),
    "dimin": (read_timbl, {}),
    "conll2000": (read_conll, {"columns": ("word", "pos", "chunk")}),
    **dict.fromkeys(_TREES, (read_conllu, {})),
    "floresta": (read_conllu, {"last": ("chunk", "clause")}),
    "uner_english_ewt": (read_conll, {"columns": IOB2_COLUMNS, "ragged": True}),
    "wnut17": (read_conll, {}),
    "wikigold": (read_conll, {}),
    "wsd-verbs": (
        read_sparse, {"names": "feats", "labels": "sense", "classes": "senses", "groups": "doc"},
    ),
    # The same sentence numbers stand for other sentences in other parts, so they are groups,
    # not a feature.
    "ppattach": (
        read_table,
        {"columns": _PHRASE, "header": False, "separator": " ", "target": "class", "groups": "id",
         "quote": None, "missing": ()},
    ),
}  # fmt: skip
