"""A named corpus, read and ready: the reader and the columns that each of them needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from featloom.data.corpora import Corpus, corpus, locate, locate_file
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.conll import read_conll
from featloom.data.readers.conllu import read_conllu
from featloom.data.readers.npz import load_arrays, read_matrix_folder, read_sparse
from featloom.data.readers.tables import read_table
from featloom.data.readers.timbl import read_timbl
from featloom.data.table import NominalTable
from featloom.data.tasks.entity_text import read_entity_text
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
    return _READERS[name](name, file)


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


def _letters(name: str, file: str) -> NominalTable:
    return read_timbl(locate_file(name, file), columns=_LETTERS, format="tabs")


def _diminutives(name: str, file: str) -> NominalTable:
    return read_timbl(locate_file(name, file))


def _phrases(name: str, file: str) -> NominalTable:
    # The same sentence numbers stand for other sentences in other parts, so they are groups,
    # not a feature.
    path = locate_file(name, file)
    return read_table(
        path,
        columns=_PHRASE,
        header=False,
        separator=" ",
        target="class",
        groups="id",
        quote=None,
        missing=(),
    )


def _chunks(name: str, file: str) -> NominalTable:
    return read_conll(locate_file(name, file), columns=("word", "pos", "chunk"))


def _trees(name: str, file: str) -> NominalTable:
    return read_conllu(locate_file(name, file))


def _trees_with_chunks(name: str, file: str) -> NominalTable:
    return read_conllu(locate_file(name, file), last=("chunk", "clause"))


def _entities(name: str, file: str) -> NominalTable:
    return read_entity_text(name, file)


def _senses(name: str, file: str) -> FeatureMatrix:
    return read_sparse(
        locate_file(name, file), names="feats", labels="sense", classes="senses", groups="doc"
    )


# Data sets whose three parts are made at once.
_TASKS: dict[str, Callable[[], tuple[NominalTable, NominalTable, NominalTable]]] = {
    "letter-to-sound": _letter_to_sound,
    "pos-known": partial(_part_of_speech, "pos-known", "known"),
    "pos-unknown": partial(_part_of_speech, "pos-unknown", "unknown"),
}
_READERS: dict[str, Callable[[str, str], NominalTable | FeatureMatrix]] = {
    "gs-cmudict": _letters,
    "conll2000": _chunks,
    "ud_chinese_gsd_v1": _trees,
    "ud_english_ewt": _trees,
    "pt-bosque/ud": _trees,
    "pt-bosque/floresta": _trees,
    "pt-bosque/conllx-sample400": _trees,
    "bosque": _trees,
    "floresta": _trees_with_chunks,
    "uner_english_ewt": _entities,
    "wnut17": _entities,
    "wikigold": _entities,
    "wsd-verbs": _senses,
    "ppattach": _phrases,
    "dimin": _diminutives,
}
