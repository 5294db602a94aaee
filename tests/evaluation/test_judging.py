"""By what labels are judged: chunks where they spell chunks, else tokens."""

from __future__ import annotations

import numpy as np

from featloom.evaluation.chunks import CHUNK_F1, OF_COUNTS, judged_counts, spell_chunks


def test_chunk_labels_are_known_by_their_letters():
    assert spell_chunks(["B-NP", "I-NP", "O", "E-VP", "S-VP"])
    assert not spell_chunks(["NN", "B-NP"])
    assert not spell_chunks(["B", "I"])


def test_chunks_are_counted_where_labels_spell_them_and_tokens_elsewhere():
    metric, counts = judged_counts([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
    assert metric == CHUNK_F1
    np.testing.assert_array_equal(counts, [[1, 1, 0]])
    assert OF_COUNTS[metric](counts.sum(axis=0)) == 2 / 3
    metric, counts = judged_counts([["DT", "NN"]], [["DT", "VB"]])
    assert OF_COUNTS[metric](counts.sum(axis=0)) == 1 / 2
