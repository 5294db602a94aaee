"""Dependency trees in memory: lists of tokens with heads become a table of sentences."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.data.readers.conllu import fault_of_tree, read_conllu
from featloom.data.sentences import table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def table_of_trees(sentences: Any) -> NominalTable:
    """Sentences with or without trees as a table: from a file, from lists, or as it is.

    >>> table_of_trees([[("Stop", "stop", "VERB", "_", "_", 0, "root")]]).heads
    array([0], dtype=int32)
    """
    if isinstance(sentences, str | os.PathLike):
        return read_conllu(sentences)
    if isinstance(sentences, NominalTable):
        return table_of_sentences(sentences)
    sentences = [list(sentence) for sentence in sentences]
    width = next((len(token) for sentence in sentences for token in sentence), 7)
    if width not in (5, 7) or any(isinstance(t, str) for s in sentences for t in s):
        raise InputError(
            "a token is (form, lemma, upos, xpos, feats), in trees to learn from followed by "
            "(head, deprel)"
        )
    names = COLUMNS[:width]
    if width == 5:
        return table_of_sentences(sentences, columns=names)
    heads = [token[5] for sentence in sentences for token in sentence]
    for head in heads:
        if not isinstance(head, int | np.integer) or isinstance(head, bool):
            raise InputError(f"head {head!r:.40} is not a number")
    plain = [[(*token[:5], token[6]) for token in sentence] for sentence in sentences]
    table = table_of_sentences(plain, columns=[name for name in names if name != "head"])
    table = replace(table, heads=np.array(heads, dtype=np.int32))
    _check_trees(table)
    return table


def _check_trees(table: NominalTable) -> None:
    assert table.heads is not None
    assert table.sequence_bounds is not None
    bounds = table.sequence_bounds
    for number in range(len(bounds) - 1):
        heads = table.heads[bounds[number] : bounds[number + 1]].tolist()
        fault = fault_of_tree(heads)
        if fault is not None:
            raise InputError(f"sentence {number}: {fault[1]}")
