"""Base phrases of Chinese: where does a phrase begin and end, and of which type is it?

The chunks of CIPS-ParsEval-2009, on which Xu and others searched feature templates, are not at
hand.  A dependency treebank is, and base phrases can be read off its trees.  The task is the same
in kind: the boundaries and the type of flat phrases from words and their parts of speech.

A phrase is a head with the words before it that belong to it closely, and nothing between them:

- before a noun: determiner, number, measure word, adjective and noun modifiers without 的;
- before a verb, an adjective or an adverb: adverb, negation, auxiliary, passive and causative mark;
- before any head: the stem of a suffix, a prefix;
- after a verb: the aspect particle (了, 著, 過).

Such a word joins the phrase of its head if all words between the two are in that phrase.  What a
joined word has before itself joins in the same way, so phrases hold no phrases.  The type is that
of the head: NP, VP, ADJP, ADVP or PP (a lone preposition or postposition, as in CoNLL-2000).
Punctuation, symbols, conjunctions, foreign words and particles such as 的 are outside where they
head nothing.  Relations and universal tags make the labels; the tagger sees words and the
treebank's own tags alone.
"""

from __future__ import annotations

import numpy as np

from featloom.data.sentences import split_labels
from featloom.data.table import NominalTable
from featloom.errors import InputError

OUTSIDE = "O"
_TYPE_OF_TAG = {
    **dict.fromkeys(("NOUN", "PROPN", "PRON", "NUM", "DET"), "NP"),
    **dict.fromkeys(("VERB", "AUX"), "VP"),
    "ADJ": "ADJP",
    "ADV": "ADVP",
    "ADP": "PP",
}
# Suffixes are particles to the universal tags, and head the word they end.
_TYPE_OF_SUFFIX = {"SFN": "NP", "SFV": "VP", "SFA": "ADJP"}
_PREDICATES = ("VP", "ADJP", "ADVP")
_BEFORE = {
    **dict.fromkeys(("det", "nummod", "amod", "nmod", "clf"), ("NP",)),
    **dict.fromkeys(("advmod", "neg", "aux", "auxpass", "aux:caus"), _PREDICATES),
    **dict.fromkeys(("case:suff", "case:pref"), ("NP", "VP", "ADJP", "ADVP", "PP")),
}
_AFTER = "case:aspect"


def base_phrases(trees: NominalTable) -> NominalTable:
    """Words and tags of a treebank with the label of their base phrase.

    Parameters
    ----------
    trees : with heads, as ``read_conllu`` gives them.

    Returns
    -------
    NominalTable
        Columns word and pos (the treebank's own tag); labels such as B-NP, I-NP and O.

    Examples
    --------
    >>> trees = NominalTable.from_columns(
    ...     {"form": ["三", "本", "書", "很", "好"], "upos": ["NUM", "NOUN", "NOUN", "ADV", "ADJ"],
    ...      "xpos": ["CD", "NNB", "NN", "RB", "JJ"],
    ...      "deprel": ["nummod", "nmod", "nsubj", "advmod", "root"]},
    ...     heads=np.array([2, 3, 5, 5, 0]), sequence_bounds=np.array([0, 5]))
    >>> table = base_phrases(trees)
    >>> [table.classes[label] for label in table.labels]
    ['B-NP', 'I-NP', 'I-NP', 'B-ADJP', 'I-ADJP']
    """
    if trees.heads is None or trees.sequence_bounds is None:
        raise InputError("base phrases are read off trees, and there are no heads")
    words, tags, own_tags, relations = (
        trees.values(name) for name in ("form", "upos", "xpos", "deprel")
    )
    types = np.array(
        [
            _TYPE_OF_SUFFIX.get(own) if tag == "PART" else _TYPE_OF_TAG.get(tag)
            for tag, own in zip(tags, own_tags, strict=True)
        ],
        dtype=object,
    )
    bounds = trees.sequence_bounds
    labels = [
        label
        for sentence in zip(
            *(split_labels(column, bounds) for column in (trees.heads, relations, types)),
            strict=True,
        )
        for label in phrase_labels(*sentence)
    ]
    return NominalTable.from_columns(
        {"word": words.tolist(), "pos": own_tags.tolist()},
        labels=labels,
        target="phrase",
        sequence_bounds=bounds,
    )


def phrase_labels(heads: list[int], relations: list[str], types: list[str | None]) -> list[str]:
    """Labels of one sentence; heads count from 1, a word of no type is outside unless it joins.

    A noun before a verb is a phrase of its own, an adverb belongs to the verb:

    >>> phrase_labels([3, 3, 0], ["nmod", "advmod", "root"], ["NP", "ADVP", "VP"])
    ['B-NP', 'B-VP', 'I-VP']
    """
    n = len(heads)
    head_of = list(range(n))  # the word that heads the phrase of each word
    for i in range(n - 2, -1, -1):
        head = heads[i] - 1
        if head <= i or types[head_of[head]] not in _BEFORE.get(relations[i], ()):
            continue
        # Phrases have no gaps, so the word after this one stands for all between.
        if head_of[i + 1] == head_of[head]:
            head_of[i] = head_of[head]
    for i in range(1, n):
        if relations[i] == _AFTER and heads[i] - 1 == head_of[i - 1] and head_of[i] == i:
            head_of[i] = head_of[i - 1]
    labels = []
    for i in range(n):
        kind = types[head_of[i]]
        begins = i == 0 or head_of[i] != head_of[i - 1]
        labels.append(OUTSIDE if kind is None else f"{'B' if begins else 'I'}-{kind}")
    return labels
