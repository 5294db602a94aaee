"""Windows over sentences: what stands around a token becomes columns of its row, and back.

A decision tree looks at one row, so the word before and the tag after must be columns of it:
``word[-1]``, ``tag[+1]``, with the token itself under the plain names.  Beyond the ends of a
sentence stand marks, ``_B-1`` for the first place before it and ``_E+1`` for the first after it.
A template over such columns is one of a tagger, whose places have offsets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.features.expansion import sentence_bounds
from featloom.features.template import Template

_PLACE = re.compile(r"(.+)\[([+-][1-9][0-9]{0,5})\]", re.DOTALL)


def window_table(
    table: NominalTable, window: int, columns: Sequence[str] | None = None
) -> NominalTable:
    """The table with every column at every offset from -window to window.

    Parameters
    ----------
    table : tokens of sentences; labels, sentences and all else of it are kept.
    window : the largest offset.
    columns : those to look at; None: all.

    Examples
    --------
    >>> table = NominalTable.from_columns({"word": ["the", "cat", "sleeps"]},
    ...                                   sequence_bounds=np.array([0, 2, 3]))
    >>> around = window_table(table, 1)
    >>> around.columns
    ('word[-1]', 'word', 'word[+1]')
    >>> [around.value("word[+1]", row) for row in range(3)]
    ['cat', '_E+1', '_E+1']
    """
    if not isinstance(window, int | np.integer) or isinstance(window, bool) or window < 0:
        raise InputError(f"window is {window!r}; it must be a whole number from 0")
    columns = table.columns if columns is None else tuple(columns)
    if not columns:
        raise InputError("a window needs at least one column")
    offsets = range(-window, window + 1)
    names = [str(Template(((name, offset),))) for name in columns for offset in offsets]
    codes = np.empty((len(table), len(names)), dtype=np.int32, order="F")
    vocabularies = []
    begin, end = _ends_of_sentences(table)
    places = [(table.column_index(name), offset) for name in columns for offset in offsets]
    for number, (column, offset) in enumerate(places):
        vocabulary, mark_codes = _with_marks(table.vocabularies[column], offset)
        codes[:, number] = _moved(table.codes[:, column], begin, end, offset, mark_codes)
        vocabularies.append(vocabulary)
    return replace(table, columns=tuple(names), codes=codes, vocabularies=tuple(vocabularies))


def window_place(name: str) -> tuple[str, int]:
    """The column and the offset that a column of a window table stands for.

    >>> window_place("word[-1]"), window_place("word")
    (('word', -1), ('word', 0))
    """
    found = _PLACE.fullmatch(name)
    return (name, 0) if found is None else (found[1], int(found[2]))


def sequence_templates(templates: Sequence[Template]) -> tuple[Template, ...]:
    """Templates over columns of a window table as those of a tagger, over places with offsets.

    >>> (template,) = sequence_templates([Template((("word[-1]", 0), ("tag", 0)))])
    >>> template.places
    (('word', -1), ('tag', 0))
    """
    return tuple(
        Template(
            tuple(_shifted(name, offset) for name, offset in template.places),
            template.kind,
            template.name,
        )
        for template in templates
    )


def columns_of_places(names: Sequence[str]) -> tuple[str, ...]:
    """The columns behind those of a window table, in the order they are first met.

    >>> columns_of_places(["word[-1]", "word", "tag[-1]", "tag"])
    ('word', 'tag')
    """
    return tuple(dict.fromkeys(window_place(name)[0] for name in names))


def _shifted(name: str, offset: int) -> tuple[str, int]:
    column, more = window_place(name)
    return column, offset + more


def _ends_of_sentences(table: NominalTable) -> tuple[np.ndarray, np.ndarray]:
    """For each token where its sentence begins and ends."""
    bounds = sentence_bounds(table)
    lengths = np.diff(bounds)
    return np.repeat(bounds[:-1], lengths), np.repeat(bounds[1:], lengths)


def _with_marks(vocabulary: tuple[str, ...], offset: int) -> tuple[tuple[str, ...], np.ndarray]:
    """The vocabulary with the marks that an offset can meet, and their codes from the first on.

    A symbol that is written like a mark is taken for it, as CRF++ does.
    """
    side = "_B-" if offset < 0 else "_E+"
    marks = [f"{side}{distance}" for distance in range(1, abs(offset) + 1)]
    known = Vocabulary(vocabulary)
    mark_codes = known.add(marks) + np.int32(1)
    return known.names, mark_codes


def _moved(codes, begin, end, offset: int, mark_codes: np.ndarray) -> np.ndarray:
    at = np.arange(len(codes)) + offset
    inside = (at >= begin) & (at < end)
    moved = np.empty(len(codes), dtype=np.int32)
    moved[inside] = codes[at[inside]]
    outside = ~inside
    distance = np.where(at < begin, begin - at, at - end + 1)[outside]
    moved[outside] = mark_codes[distance - 1]
    return moved
