"""Why a tagger gave a token its label: the features of templates, and the labels beside it.

The label is set against the likeliest other one at its token, all other labels of the sentence
staying as they are.  What differs are the weights of the token's features, and those of the pairs
that it forms with its neighbours: of a CRF with both, of a MEMM with the one before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featloom.learners.reasons import Reasons, strongest
from featloom.learners.sequence_model import SequenceData
from featloom.learners.tagger import SequenceTagger


def explain_labels(
    tagger: SequenceTagger, sentences: Any, most: int | None = 5
) -> list[list[Reasons]]:
    """For each token of each sentence its label, and what told it from the next best.

    Parameters
    ----------
    tagger : a fitted one.
    sentences : as it tags them.
    most : how many features are listed for a token; None: all.

    Examples
    --------
    >>> tagger = SequenceTagger(templates=["U0:%x[0,0]"], model="maxent", random_state=0)
    >>> tagger = tagger.fit([["the", "cat"], ["the", "dog"]], [["DT", "NN"], ["DT", "NN"]])
    >>> why = explain_labels(tagger, [["the"]])[0][0]
    >>> why.answer, why.against, [name for name, weight in why.features]
    ('DT', 'NN', ['0=the'])
    """
    data, bounds = tagger._read(sentences)
    threads = tagger._threads()
    path = tagger.model_.tag(data, threads=threads, allowed=tagger._allowed(data))
    shares = tagger.model_.probabilities(data, threads=threads).copy()
    shares[np.arange(len(path)), path] = -1
    others = shares.argmax(axis=1) if len(path) else path
    names = tagger.classes_.tolist()
    explained = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        sentence = []
        for at in range(begin, end):
            label, other = int(path[at]), int(others[at])
            spoken = _of_token(tagger, data, at, label, other)
            if tagger.model != "maxent" and at > begin:
                spoken += _after(tagger, data, at, int(path[at - 1]), label, other)
            if tagger.model == "crf" and at + 1 < end:
                spoken += _before(tagger, data, at, int(path[at + 1]), label, other)
            weights = np.array([weight for _, weight in spoken])
            words = [name for name, _ in spoken]
            sentence.append(strongest(names[label], names[other], weights, words.__getitem__, most))
        explained.append(sentence)
    return explained


Spoken = list[tuple[str, float]]


def _of_token(
    tagger: SequenceTagger, data: SequenceData, at: int, label: int, other: int
) -> Spoken:
    weights = tagger.model_.weights
    return [
        (tagger._expansion.name(feature), float(weights[feature, label] - weights[feature, other]))
        for feature in data.features[at].tolist()
        if feature >= 0
    ]


def _after(
    tagger: SequenceTagger, data: SequenceData, at: int, before: int, label: int, other: int
) -> Spoken:
    pairs, name = tagger.model_.pair_weights, tagger.classes_[before]
    return [
        (
            _pair_name(tagger, feature, f"(after {name})"),
            float(pairs[feature, before, label] - pairs[feature, before, other]),
        )
        for feature in data.pair_features[at].tolist()
        if feature >= 0
    ]


def _before(
    tagger: SequenceTagger, data: SequenceData, at: int, after: int, label: int, other: int
) -> Spoken:
    # The features of a pair are those of its second token.
    pairs, name = tagger.model_.pair_weights, tagger.classes_[after]
    return [
        (
            _pair_name(tagger, feature, f"(before {name})"),
            float(pairs[feature, label, after] - pairs[feature, other, after]),
        )
        for feature in data.pair_features[at + 1].tolist()
        if feature >= 0
    ]


def _pair_name(tagger: SequenceTagger, feature: int, neighbour: str) -> str:
    """Number 0 is the pair of labels by itself."""
    return f"{tagger._pair_expansion.name(feature - 1)} {neighbour}" if feature else neighbour
