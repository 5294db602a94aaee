"""By what the labels of sentences are judged.

Where labels spell chunks (B-NP, I-NP, O) it is the F1 of chunks that people report; where each
token has a tag of its own, the share of tokens with the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featloom.evaluation.chunks import chunk_counts, label_codes, token_counts
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts

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
