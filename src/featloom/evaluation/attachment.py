"""How many heads of dependency trees are right: the attachment scores.

The unlabelled score (UAS) is the share of tokens with the right head, the labelled one (LAS) with
the right relation too.  By custom tokens of punctuation alone are left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError


def attachment_counts(
    table: NominalTable, trees: Sequence[Sequence[tuple[int, str]]]
) -> np.ndarray:
    """For each sentence: right heads, right heads and relations, tokens; right heads and tokens
    with punctuation.  The first three leave punctuation out.
    """
    gold_heads, bounds = table.tree_heads, table.bounds
    lengths = [len(tree) for tree in trees]
    if lengths != np.diff(bounds).tolist():
        raise InputError("the trees are not those of the sentences: their lengths differ")
    heads = np.array([head for tree in trees for head, _ in tree], dtype=np.int32)
    right = heads == gold_heads
    labelled = np.zeros(len(table), dtype=bool)
    if "deprel" in table.columns:
        gold = table.values("deprel", unknown="_")
        found = np.array([relation for tree in trees for _, relation in tree], dtype=object)
        labelled = right & (gold == found)
    counts_at = ~is_punctuation(table)
    rows = np.column_stack(
        [right & counts_at, labelled & counts_at, counts_at, right, np.ones(len(table), dtype=bool)]
    ).astype(np.int64)
    sums = np.concatenate([np.zeros((1, rows.shape[1]), dtype=np.int64), np.cumsum(rows, axis=0)])
    return sums[bounds[1:]] - sums[bounds[:-1]]


def is_punctuation(table: NominalTable) -> np.ndarray:
    """Which tokens consist of punctuation alone, by the Unicode class of their letters.

    >>> is_punctuation(NominalTable.from_columns({"form": ["Não", "...", "--"]}))
    array([False,  True,  True])
    """
    j = table.column_index("form" if "form" in table.columns else table.columns[0])
    known = [
        bool(word) and all(unicodedata.category(letter)[0] == "P" for letter in word)
        for word in table.vocabularies[j]
    ]
    return np.array([False, *known])[table.codes[:, j]]
