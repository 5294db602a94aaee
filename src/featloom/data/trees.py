"""Dependency trees in memory: lists of tokens with heads become a table of sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.data.readers.conllu import fault_of_tree, read_conllu
from featloom.data.sentences import split_labels, table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_TOKEN = (
    "a token is (form, lemma, upos, xpos, feats), in trees to learn from followed by (head, deprel)"
)


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
