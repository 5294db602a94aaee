"""Chunks: are the phrases and names that labels spell out the right ones?

A label is a letter and a type, ``B-NP``: B begins a chunk, I goes on, E ends it, S is a chunk of
one token, O is outside.  A predicted chunk counts as right if a true one has the same first token,
the same last token and the same type.  From right chunks (tp), chunks that are not there (fp) and
chunks that were missed (fn) come precision, recall and F1.

Any sequence of labels is read, valid or not, by the rules of ``conlleval``, the program of the
CoNLL shared tasks.  A token that is not O begins a chunk if

- it is the first of its sentence or stands after an O,
- its type is not that of the token before,
- its letter is B or S, or the letter before is E or S.

So IOB1, IOB2, IOE and IOBES are read alike, and an I after an O or after another type begins a
chunk.  conlleval of 2004 knows no S and joins an E to a B or S of its type that follows; for
IOBES the rules are those of seqeval.

*Plain labels* (tags of words, without a letter): conlleval finds no chunks in them, unless it is
called with ``-r``; then each token whose label is not O is a chunk of its own.  Here they are taken
that way.  Labels of both kinds together are refused, unless ``plain`` says what is meant.

Sentences are judged by what people report for their labels (``suitable_metric``): the F1 of chunks
where labels spell chunks, the share of tokens with the right label where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts

LETTERS = "BIES"
_OUTSIDE = -1


class LabelCodes(NamedTuple):
    """Labels of all sentences, one after the other, as places in ``classes``."""

    gold: np.ndarray
    predicted: np.ndarray
    bounds: np.ndarray
    classes: tuple[str, ...]


def label_codes(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> LabelCodes:
    """Codes of labels that are given as strings, a list for each sentence.

    >>> codes = label_codes([["B-NP", "O"], ["O"]], [["B-NP", "B-VP"], ["O"]])
    >>> codes.classes, codes.gold.tolist(), codes.bounds.tolist()
    (('B-NP', 'B-VP', 'O'), [0, 2, 2], [0, 2, 3])
    """
    if len(gold) != len(predicted):
        raise InputError(f"{len(predicted)} predicted sentences for {len(gold)} true ones")
    for number, (truth, given) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(truth) != len(given):
            raise InputError(f"sentence {number}: {len(given)} predictions for {len(truth)} labels")
    classes = tuple(sorted(set(chain.from_iterable(gold)) | set(chain.from_iterable(predicted))))
    code = {name: j for j, name in enumerate(classes)}
    bounds = np.zeros(len(gold) + 1, dtype=np.int64)
    np.cumsum([len(truth) for truth in gold], out=bounds[1:])

    def coded(sentences: Iterable[Iterable[str]]) -> np.ndarray:
        return np.fromiter(map(code.__getitem__, chain.from_iterable(sentences)), np.int32)

    return LabelCodes(coded(gold), coded(predicted), bounds, classes)


def chunk_counts(
    gold: np.ndarray,
    predicted: np.ndarray,
    bounds: np.ndarray,
    classes: Sequence[str],
    *,
    plain: bool | None = None,
    outside: str = "O",
) -> np.ndarray:
    """tp, fp, fn of chunks: int64 of shape (sentences, 3).

    Parameters
    ----------
    gold, predicted : labels as places in ``classes``.
    bounds : where sentences begin, and where the last one ends.
    classes : labels, such as "B-NP".
    plain : whether labels have no letter and each token is a chunk; None: if no label has one.
    outside : the label of tokens that are in no chunk.

    Examples
    --------
    >>> codes = label_codes([["B-NP", "I-NP", "O"], ["O"]], [["B-NP", "I-NP", "B-VP"], ["O"]])
    >>> chunk_counts(*codes)
    array([[1, 1, 0],
           [0, 0, 0]])
    >>> from featloom.evaluation.metrics import f1_of_counts
    >>> round(float(f1_of_counts(chunk_counts(*codes).sum(axis=0))), 3)
    0.667
    """
    gold, predicted, bounds = _checked(gold, predicted, bounds)
    for codes in (gold, predicted):
        if codes.size and not 0 <= codes.min() <= codes.max() < len(classes):
            wrong = codes.min() if codes.min() < 0 else codes.max()
            raise InputError(f"no label {wrong}; there are {len(classes)}")
    reading = _Reading(classes, plain, outside)
    first = np.zeros(len(gold) + 1, dtype=bool)
    first[bounds] = True
    first = first[:-1]
    gold_type, gold_break = reading.breaks(gold, first)
    predicted_type, predicted_break = reading.breaks(predicted, first)
    gold_begin = gold_break & (gold_type != _OUTSIDE)
    predicted_begin = predicted_break & (predicted_type != _OUTSIDE)
    # Two chunks that begin together end together if the next break of either is one of both.
    at = np.flatnonzero(gold_break | predicted_break)
    together = (gold_break & predicted_break)[at]
    end_together = np.append(together[1:], True)
    same = (gold_type == predicted_type)[at] & (gold_type[at] != _OUTSIDE)
    right = np.zeros(len(gold), dtype=bool)
    right[at[together & end_together & same]] = True
    n_right, n_given, n_true = (
        _sums(marks, bounds) for marks in (right, predicted_begin, gold_begin)
    )
    return np.stack([n_right, n_given - n_right, n_true - n_right], axis=1)


def chunk_f1(
    gold: np.ndarray,
    predicted: np.ndarray,
    bounds: np.ndarray,
    classes: Sequence[str],
    **reading: Any,
) -> float:
    """F1 of the chunks of all sentences; ``reading`` as in ``chunk_counts``.

    >>> chunk_f1(*label_codes([["I-NP", "I-NP", "O"]], [["B-NP", "I-NP", "O"]]))
    1.0
    """
    counts = chunk_counts(gold, predicted, bounds, classes, **reading)
    return float(f1_of_counts(counts.sum(axis=0)))


def token_counts(gold: np.ndarray, predicted: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Right labels and tokens: int64 of shape (sentences, 2), for ``accuracy_of_counts``.

    >>> token_counts(*label_codes([["B-NP", "O"], ["O"]], [["B-NP", "B-NP"], ["O"]])[:3])
    array([[1, 2],
           [1, 1]])
    """
    gold, predicted, bounds = _checked(gold, predicted, bounds)
    return np.stack([_sums(gold == predicted, bounds), np.diff(bounds)], axis=1)


class _Reading:
    """What each label says: its type, whether it opens a chunk or is outside, whether it closes."""

    def __init__(self, classes: Sequence[str], plain: bool | None, outside: str):
        inside = [name for name in classes if name != outside]
        without = [name for name in inside if not _has_letter(name, outside)]
        if plain is None:
            plain = bool(without) and len(without) == len(inside)
        if without and not plain:
            raise InputError(
                f"label {without[0]!r} is not {outside!r} and begins with none of B, I, E and S "
                "before a hyphen"
            )
        if not plain:
            inside = [name for name in inside if name.partition("-")[0] != outside]
        type_of = {name: name if plain else name[2:] for name in inside}
        code = {name: j for j, name in enumerate(sorted(set(type_of.values())))}
        self._type = np.array(
            [code[type_of[name]] if name in type_of else _OUTSIDE for name in classes], np.int32
        )
        self._opens = np.array(
            [name not in type_of or plain or name[0] in "BS" for name in classes], dtype=bool
        )
        self._closes = np.array(
            [name in type_of and not plain and name[0] in "ES" for name in classes], dtype=bool
        )

    def breaks(self, codes: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The type of each token, and whether no chunk reaches it from the token before."""
        types = self._type[codes]
        breaks = first | self._opens[codes]
        breaks[1:] |= self._closes[codes[:-1]]
        breaks[1:] |= types[1:] != types[:-1]
        return types, breaks


def _has_letter(name: str, outside: str) -> bool:
    """Whether a label is a letter, alone or before a hyphen; O-NP is outside, as O is."""
    letter, _, _ = name.partition("-")
    return letter == outside or (len(letter) == 1 and letter in LETTERS)


def _checked(
    gold: np.ndarray, predicted: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gold, predicted, bounds = np.asarray(gold), np.asarray(predicted), np.asarray(bounds)
    if gold.shape != predicted.shape or gold.ndim != 1:
        raise InputError(f"{predicted.size} predictions for {gold.size} tokens")
    if any(len(codes) and codes.dtype.kind not in "iu" for codes in (gold, predicted)):
        raise InputError("labels must be codes, places in the list of classes")
    if (
        bounds.ndim != 1
        or not bounds.size
        or bounds[0] != 0
        or bounds[-1] != len(gold)
        or (np.diff(bounds) < 0).any()
    ):
        raise InputError(f"bounds of sentences must rise from 0 to the {len(gold)} tokens")
    return gold, predicted, bounds.astype(np.int64, copy=False)


def _sums(marks: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """How many tokens of each sentence are marked."""
    return np.diff(np.searchsorted(np.flatnonzero(marks), bounds)).astype(np.int64)


CHUNK_F1, TOKEN_ACCURACY = "chunk F1", "token accuracy"
OF_COUNTS = {CHUNK_F1: f1_of_counts, TOKEN_ACCURACY: accuracy_of_counts}


def spell_chunks(labels: Sequence[str]) -> bool:
    """Whether labels are those of chunks: B-NP, I-NP, O, and with some E- and S-.

    >>> spell_chunks(["B-NP", "I-NP", "O"]), spell_chunks(["DT", "NN"]), spell_chunks(["O"])
    (True, False, False)
    """
    letters = [label.partition("-") for label in labels]
    return any(rest for _, _, rest in letters) and all(
        letter == "O" or (letter in ("B", "I", "E", "S") and rest) for letter, _, rest in letters
    )


def judged_counts(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[str, np.ndarray]:
    """The metric that suits the labels, and what it is counted from in each sentence.

    >>> judged_counts([["DT", "NN"]], [["DT", "VB"]])
    ('token accuracy', array([[1, 2]]))
    """
    codes = label_codes(gold, predicted)
    metric = suitable_metric(codes.classes)
    return metric, counts_by(metric, *codes)


def shared_counts(
    gold: Sequence[Sequence[str]], predictions: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[str, dict[str, np.ndarray]]:
    """The same for several taggers: by tokens, where chunks do not suit all of them.

    >>> shared_counts([["B-NP", "O"]], {"one": [["B-NP", "O"]], "other": [["NP", "O"]]})[0]
    'token accuracy'
    """
    found = {name: judged_counts(gold, predicted) for name, predicted in predictions.items()}
    metrics = {metric for metric, _ in found.values()}
    if len(metrics) == 1:
        return metrics.pop(), {name: counts for name, (_, counts) in found.items()}
    return TOKEN_ACCURACY, {
        name: token_counts(*label_codes(gold, predicted)[:3])
        for name, predicted in predictions.items()
    }


def suitable_metric(classes: Sequence[str]) -> str:
    """What people report for such labels.

    >>> suitable_metric(["B-NP", "I-NP", "O"]), suitable_metric(["DT", "NN"])
    ('chunk F1', 'token accuracy')
    """
    return CHUNK_F1 if spell_chunks(classes) else TOKEN_ACCURACY


def counts_by(
    metric: str,
    gold: np.ndarray,
    predicted: np.ndarray,
    bounds: np.ndarray,
    classes: Sequence[str],
) -> np.ndarray:
    """What a metric is counted from in each sentence; labels are places in ``classes``.

    >>> counts_by(CHUNK_F1, *label_codes([["B-NP", "O"]], [["B-NP", "B-VP"]]))
    array([[1, 1, 0]])
    """
    if metric == CHUNK_F1:
        return chunk_counts(gold, predicted, bounds, classes)
    return token_counts(gold, predicted, bounds)
