"""Sentences and trees in memory: lists of tokens, each a tuple of symbols, become a table and back.

A dependency tree is a sentence whose tokens say which token is their head.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.data.readers.conllu import fault_of_tree, read_conllu
from featloom.data.table import NominalTable, check_names
from featloom.data.vocabulary import Vocabulary, encode
from featloom.errors import InputError

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_TOKEN = (
    "a token is (form, lemma, upos, xpos, feats), in trees to learn from followed by (head, deprel)"
)


def table_of_sentences(
    sentences: Any, labels: Any = None, *, columns: Sequence[str] | None = None
) -> NominalTable:
    """A table of sentences.

    Parameters
    ----------
    sentences : a NominalTable with sequence bounds; or a list of sentences, a sentence being a
        list of tokens and a token a tuple of symbols, or one symbol.
    labels : for each sentence a list of labels; None: those the table carries, or none.
    columns : names of the columns; default those of the table, else "0", "1", … as in CRF++.

    Examples
    --------
    >>> table = table_of_sentences([[("Time", "NN"), ("flies", "VBZ")], [("Stop", "VB")]],
    ...                            [["B-NP", "B-VP"], ["B-VP"]])
    >>> table.columns, table.sequence_bounds.tolist(), table.classes
    (('0', '1'), [0, 2, 3], ('B-NP', 'B-VP'))
    """
    if isinstance(sentences, NominalTable):
        table = sentences
        if table.sequence_bounds is None:
            table = replace(table, sequence_bounds=np.array([0, len(table)], dtype=np.int64))
    else:
        table = _encoded(sentences, columns)
    if columns is not None and tuple(columns) != table.columns:
        raise InputError(
            f"sentences have columns {', '.join(table.columns)}, not {', '.join(columns)}"
        )
    return table if labels is None else _labelled(table, labels)


def split_labels(values: np.ndarray, bounds: np.ndarray) -> list[list[Any]]:
    """One list a sentence.

    >>> split_labels(np.array(["B", "I", "B"], dtype=object), np.array([0, 2, 3]))
    [['B', 'I'], ['B']]
    """
    everything = values.tolist()
    return [everything[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]


def take_sentences(table: NominalTable, which: np.ndarray) -> NominalTable:
    """Some sentences of a table, in the order given, with their heads where it has them.

    >>> table = table_of_sentences([["a", "b"], ["c"]])
    >>> take_sentences(table, np.array([1])).sequence_bounds.tolist()
    [0, 1]
    """
    bounds = table_of_sentences(table).bounds
    which = np.asarray(which, dtype=np.int64)
    lengths = np.diff(bounds)[which]
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    rows = np.repeat(bounds[:-1][which] - starts[:-1], lengths) + np.arange(starts[-1])
    heads = None if table.heads is None else table.heads[rows]
    return replace(table.take(rows), sequence_bounds=starts, heads=heads)


def gold_labels(table: NominalTable) -> list[list[Any]]:
    """The labels of each sentence by name; None where a token has none.

    >>> gold_labels(table_of_sentences([["a", "b"], ["c"]], [["A", "B"], ["A"]]))
    [['A', 'B'], ['A']]
    """
    bounds = table_of_sentences(table).bounds
    return split_labels(table.label_names, bounds)


def _encoded(sentences: Any, columns: Sequence[str] | None) -> NominalTable:
    if isinstance(sentences, str):
        raise InputError("sentences is one text; a list of sentences is expected")
    bounds = [0]
    tokens: list[tuple[Any, ...]] = []
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise InputError(f"sentence {number} is a text; a list of tokens is expected")
        try:
            tokens += [(token,) if isinstance(token, str) else tuple(token) for token in sentence]
        except TypeError:
            raise InputError(
                f"a token of sentence {number} is neither a symbol nor a tuple of symbols"
            ) from None
        bounds.append(len(tokens))
    width = len(tokens[0]) if tokens else len(columns or ())
    for place, token in enumerate(tokens):
        if len(token) != width:
            number = int(np.searchsorted(bounds, place, side="right")) - 1
            raise InputError(
                f"token {place - bounds[number]} of sentence {number} has {len(token)} columns, "
                f"{width} expected"
            )
    names = tuple(columns) if columns is not None else tuple(str(j) for j in range(width))
    if len(names) != width:
        raise InputError(f"tokens have {width} columns, {len(names)} expected")
    check_names(names)
    texts = {name: [_text(token[j]) for token in tokens] for j, name in enumerate(names)}
    return NominalTable.from_columns(texts, sequence_bounds=np.array(bounds, dtype=np.int64))


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def _labelled(table: NominalTable, labels: Any) -> NominalTable:
    lengths = np.diff(table.bounds)
    if len(labels) != len(lengths):
        raise InputError(f"{len(labels)} lists of labels for {len(lengths)} sentences")
    for number, (given, length) in enumerate(zip(labels, lengths, strict=True)):
        if isinstance(given, str):
            raise InputError(f"the labels of sentence {number} are a text; a list is expected")
        if len(given) != length:
            raise InputError(f"sentence {number} has {length} tokens and {len(given)} labels")
    codes, classes = encode([_text(label) for given in labels for label in given])
    missing = np.flatnonzero(codes == 0)
    if len(missing):
        number = int(np.searchsorted(table.bounds, missing[0], side="right")) - 1
        raise InputError(f"a token of sentence {number} has no label")
    return replace(table, labels=codes - np.int32(1), classes=classes, class_type="str")


def table_of_trees(sentences: Any) -> NominalTable:
    """Sentences with or without trees as a table: from a file, from lists, or as it is.

    >>> table_of_trees([[("Stop", "stop", "VERB", "_", "_", 0, "root")]]).heads
    array([0], dtype=int32)
    """
    if isinstance(sentences, str | os.PathLike):
        return read_conllu(sentences)
    if isinstance(sentences, NominalTable):
        table = table_of_sentences(sentences)
        if table.heads is not None:
            _check_trees(split_labels(table.heads, table.bounds))
        return table
    try:
        sentences = [[_token(token) for token in sentence] for sentence in sentences]
    except TypeError:
        raise InputError("a list of sentences is expected, each a list of tokens") from None
    widths = {len(token) for sentence in sentences for token in sentence}
    if widths == {5}:
        return table_of_sentences(sentences, columns=COLUMNS[:5])
    if widths - {7}:
        raise InputError(_TOKEN)
    heads = [[token[5] for token in sentence] for sentence in sentences]
    for head in (head for sentence in heads for head in sentence):
        if not isinstance(head, int | np.integer) or isinstance(head, bool):
            raise InputError(f"head {head!r:.40} is not a number")
    _check_trees(heads)
    plain = [[(*token[:5], token[6]) for token in sentence] for sentence in sentences]
    table = table_of_sentences(plain, columns=[name for name in COLUMNS if name != "head"])
    flat = [head for sentence in heads for head in sentence]
    return replace(table, heads=np.array(flat, dtype=np.int32))


def _token(token: Any) -> tuple[Any, ...]:
    if isinstance(token, str):
        raise InputError(_TOKEN)
    return tuple(token)


def _check_trees(heads: Sequence[Sequence[int]]) -> None:
    for number, sentence in enumerate(heads):
        fault = fault_of_tree(sentence)
        if fault is not None:
            raise InputError(f"sentence {number}: {fault[1]}")


def seen_alone(table: NominalTable) -> NominalTable:
    """The table with the values and classes that its rows have, numbered as they are met.

    >>> table = NominalTable.from_columns({"letter": list("abc")}, labels=list("ABB"))
    >>> seen = seen_alone(table.take(np.array([2, 1])))
    >>> seen.vocabularies, seen.classes, seen.codes.T.tolist(), seen.labels.tolist()
    ((('c', 'b'),), ('B',), [[1, 2]], [0, 0])
    """
    codes = np.zeros_like(table.codes, order="F")
    vocabularies = []
    for j, vocabulary in enumerate(table.vocabularies):
        codes[:, j], met = _as_met(table.codes[:, j], unknown=0)
        vocabularies.append(tuple(vocabulary[code - 1] for code in met))
    fields: dict[str, Any] = {}
    if table.labels is not None:
        labels, met = _as_met(table.labels, unknown=-1)
        fields = {
            "labels": labels - np.int32(1),
            "classes": tuple(table.classes[code] for code in met),
        }
    return replace(table, codes=codes, vocabularies=tuple(vocabularies), **fields)


def drawn(table: NominalTable, most: int, seed: int) -> NominalTable:
    """At most so many of the sentences, drawn at random, in their order."""
    n = len(table.bounds) - 1
    if n <= most:
        return table
    some = np.random.default_rng(seed).choice(n, most, replace=False)
    return take_sentences(table, np.sort(some))


def _as_met(codes: np.ndarray, unknown: int) -> tuple[np.ndarray, list[int]]:
    """Codes from 1 in the order they are met, and the old ones in it; 0 for the unknown one."""
    met = Vocabulary(missing=[unknown])
    return met.add(codes) + np.int32(1), list(met.names)
