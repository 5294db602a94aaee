"""How is this letter pronounced here?  The task that needs no download.

Each letter of each word of the Carnegie Mellon pronouncing dictionary is a row: the letter, three
letters on either side ("_" beyond the word's ends), and as class the stress and the phoneme it
makes: ``0K`` for the c of "cat", ``1AE`` for its stressed vowel, ``0-`` for a silent letter,
``0K+S`` for an x.  Letters and phonemes are aligned by ``featloom.data.tasks.alignment``.

The words are those written in the letters a to z with at least two of them, each with its first
pronunciation.  Words with a link that almost no other word supports are left out: most are
abbreviations read as names of letters ("bbc").  The groups of the table are the words, and the
parts (training, validation, test) never share one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from featloom.data.corpora import cmudict_file
from featloom.data.readers.lines import read_lines
from featloom.data.table import NominalTable
from featloom.data.tasks.alignment import Alignment, align
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError, ReadError

EDGE = "_"
FOCUS = "letter"
WINDOW = 3  # letters that are seen on either side
RAREST_LINK = 1e-3  # words with a link less probable than this for its letter are left out
_LETTERS = re.compile("[a-z]{2,}")
# Primary, secondary, none: of two vowels on one letter the stronger counts.
_STRENGTH = {"0": 0, "2": 1, "1": 2}


def letter_to_sound(
    *, seed: int = 0, max_words: int | None = None
) -> tuple[NominalTable, NominalTable, NominalTable]:
    """Training, validation and test part of the letter-to-sound task: 80, 10 and 10 % of words.

    Parameters
    ----------
    seed : of the split into parts, and of the sample where ``max_words`` is given.
    max_words : at most this many words, drawn at random; None: all.

    Returns
    -------
    train, valid, test : tables with the columns ``prev3 … letter … next3``, the target ``sound``
        and words as groups; all have the same vocabularies and classes.
    """
    words, pronunciations = read_pronunciations(cmudict_file())
    random = np.random.default_rng(seed)
    if max_words is not None and max_words < len(words):
        chosen = np.sort(random.choice(len(words), max_words, replace=False))
        words = [words[i] for i in chosen]
        pronunciations = [pronunciations[i] for i in chosen]
    alignment = align(words, [[_phoneme(p) for p in spoken] for spoken in pronunciations])
    table = letter_table(words, pronunciations, alignment, WINDOW, RAREST_LINK)

    n_words = len(table.group_names)
    part_of_word = np.full(n_words, 2, dtype=np.int8)
    shuffled = random.permutation(n_words)
    part_of_word[shuffled[: n_words * 8 // 10]] = 0
    part_of_word[shuffled[n_words * 8 // 10 : n_words * 9 // 10]] = 1
    part_of_row = part_of_word[table.groups]
    train, valid, test = (table.take(np.flatnonzero(part_of_row == part)) for part in range(3))
    return train, valid, test


def read_pronunciations(file: str | Path) -> tuple[list[str], list[list[str]]]:
    """Words and their first pronunciations, of the words in plain letters.

    Other pronunciations of a word are marked by a number in brackets, and comments by "#".
    """
    words: list[str] = []
    pronunciations: list[list[str]] = []
    for number, line in read_lines(file):
        word, *spoken = line.partition("#")[0].split() or [""]
        if not _LETTERS.fullmatch(word):
            continue
        if not spoken:
            raise ReadError(f"{word!r} has no pronunciation", file=str(file), line=number)
        words.append(word)
        pronunciations.append(spoken)
    if not words:
        raise ReadError("no word with a pronunciation", file=str(file))
    return words, pronunciations


def letter_table(
    words: Sequence[str],
    pronunciations: Sequence[Sequence[str]],
    alignment: Alignment,
    window: int,
    rarest_link: float = 0.0,
) -> NominalTable:
    """One row a letter: its neighbours, itself, and the sound it makes with its stress."""
    kept = np.flatnonzero(alignment.rarest_links() > rarest_link)
    if not kept.size:
        raise InputError(f"no word is left: every one has a link rarer than {rarest_link}")
    lengths = np.diff(alignment.bounds)[kept]
    kept_words = [words[word] for word in kept.tolist()]
    kept_spoken = [pronunciations[word] for word in kept.tolist()]
    labels, classes = _stressed_sounds(alignment, kept, kept_spoken)

    # Letters of the kept words with as many edges after each word as the window reaches over:
    # a neighbour is then a fixed number of places away.
    text = (EDGE * window).join(["", *kept_words, ""])
    symbols = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    places = np.flatnonzero(symbols != ord(EDGE))
    columns = {_column(offset): symbols[places + offset] for offset in range(-window, window + 1)}
    codes = np.empty((len(places), len(columns)), dtype=np.int32, order="F")
    vocabularies = []
    for j, column in enumerate(columns.values()):
        signs = Vocabulary()
        codes[:, j] = signs.add(column) + 1
        vocabularies.append(tuple(map(chr, signs)))
    return NominalTable(
        tuple(columns),
        codes,
        tuple(vocabularies),
        labels=labels,
        classes=classes,
        target="sound",
        groups=np.repeat(np.arange(len(kept), dtype=np.int32), lengths),
        group_names=tuple(kept_words),
        source="letter-to-sound",
    )


def letter_question(table: NominalTable, letter: str, phoneme: str | None = None) -> NominalTable:
    """One letter's rows as a question of their own.

    With a phoneme, "is this c sounded K?": the classes are ``no`` and ``yes``, whatever the
    stress.  Without one, "how is this c sounded?": the classes are the sounds the letter has in
    this table (``question.recode(other)`` brings another part to the same classes).  The column
    of the letter itself, now the same in all rows, is left out.
    """
    focus = table.column_index(FOCUS)
    if letter not in table.vocabularies[focus]:
        raise InputError(f"no letter {letter!r} in the table")
    if table.labels is None:
        raise InputError("the table has no sounds")
    code = table.vocabularies[focus].index(letter) + 1
    chosen = np.flatnonzero(table.codes[:, focus] == code)
    rows, sounds_of_rows = table.take(chosen), table.labels[chosen]
    others = [j for j in range(len(table.columns)) if j != focus]
    used = np.unique(sounds_of_rows[sounds_of_rows >= 0])
    labels = np.full(len(table.classes) + 1, -1, dtype=np.int32)
    classes: tuple[str, ...] = ("no", "yes")
    if phoneme is None:
        labels[used] = np.arange(len(used))
        classes = tuple(table.classes[c] for c in used)
        target = f"sound of {letter}"
    else:
        sounds = sorted({_without_stress(table.classes[c]) for c in used})
        if phoneme not in sounds:
            raise InputError(f"{letter!r} is never sounded {phoneme!r}; it is {', '.join(sounds)}")
        labels[:-1] = [_without_stress(name) == phoneme for name in table.classes]
        target = f"is {letter} sounded {phoneme}"
    return replace(
        rows.select([table.columns[j] for j in others]),
        labels=labels[sounds_of_rows],
        classes=classes,
        target=target,
    )


def _column(offset: int) -> str:
    return FOCUS if offset == 0 else f"prev{-offset}" if offset < 0 else f"next{offset}"


def _phoneme(sound: str) -> str:
    """A phoneme of the dictionary without its stress: AH0 is AH."""
    return sound.rstrip("012")


def _without_stress(sound: str) -> str:
    return sound[1:]


def _stressed_sounds(
    alignment: Alignment, kept: np.ndarray, pronunciations: Sequence[Sequence[str]]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Classes of the letters of the kept words: the stress of the vowel, then the phonemes."""
    in_kept = np.zeros(len(alignment), dtype=bool)
    in_kept[kept] = True
    sounds = alignment.sounds[np.repeat(in_kept, np.diff(alignment.bounds))].astype(np.int64)
    n_parts = np.where(sounds == 0, 0, np.where(sounds <= len(alignment.phonemes), 1, 2))
    # All phonemes of a word are used up by its letters, so the places simply add up.
    strength = np.array([_STRENGTH.get(p[-1], 0) for spoken in pronunciations for p in spoken])
    ends = np.cumsum(n_parts)
    first, last = ends - n_parts, ends - 1
    stress = np.zeros(len(sounds), dtype=np.int64)
    spoken = n_parts > 0
    stress[spoken] = np.maximum(strength[first[spoken]], strength[last[spoken]])
    kinds = Vocabulary()
    labels = kinds.add(sounds * len(_STRENGTH) + stress)
    digit = {strength: digit for digit, strength in _STRENGTH.items()}
    classes = tuple(
        digit[kind % len(digit)] + alignment.sound_name(kind // len(digit)) for kind in kinds.names
    )
    return labels, classes
