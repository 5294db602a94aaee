"""Sentences that are too long to be parsed at once: where they are cut, and how they are joined."""

from __future__ import annotations

import numpy as np
import pytest
from edge_twin import is_projective, reaches_root
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.readers.conllu import fault_of_tree
from featloom.data.stretches import Stretches
from featloom.data.table import NominalTable
from featloom.errors import InputError


def sentences(*texts: str) -> NominalTable:
    """A token a letter."""
    bounds = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return NominalTable.from_columns({"form": list("".join(texts))}, sequence_bounds=bounds)


def lengths(table: NominalTable, longest: int) -> list[int]:
    return np.diff(Stretches.of(table, longest).table.sequence_bounds).tolist()


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("abcde", [4, 1]),
        ("a.bcde", [4, 2]),  # in the first half: the stretch would be short for nothing
        ("ab.cde", [3, 3]),
        ("abc.de", [4, 2]),
        ("ab..cd。fgh", [4, 3, 3]),
        ("ab;cd؟fghi", [3, 3, 4]),
        ("abcd", [4]),
    ],
)
def test_a_stretch_ends_after_the_last_mark_of_its_second_half(text, cut):
    assert lengths(sentences(text), 4) == cut


def test_other_sentences_are_left_whole_and_without_words_the_cut_is_at_the_limit():
    assert lengths(sentences("ab", "", "cde.f", "g"), 4) == [2, 0, 4, 1, 1]
    tags = NominalTable.from_columns({"upos": list("....")}, sequence_bounds=np.array([0, 4]))
    assert lengths(tags, 3) == [3, 1]
    with pytest.raises(InputError, match="the data have no sentences"):
        Stretches.of(NominalTable.from_columns({"form": ["a"]}), 3)


@st.composite
def trees_of_stretches(draw):
    """Sentences, a limit, and for each stretch a projective tree with one root."""
    texts = draw(st.lists(st.text("ab.", max_size=12), min_size=1, max_size=4))
    stretches = Stretches.of(sentences(*texts), draw(st.integers(2, 5)))

    def tree(first: int, last: int, above: int) -> dict[int, int]:
        if first > last:
            return {}
        root = draw(st.integers(first, last))
        return tree(first, root - 1, root) | tree(root + 1, last, root) | {root: above}

    sizes = np.diff(stretches.table.sequence_bounds).tolist()
    drawn = [tree(1, size, 0) for size in sizes]
    return stretches, [[heads[at] for at in sorted(heads)] for heads in drawn]


@given(trees_of_stretches())
def test_joined_trees_are_projective_trees_with_one_root(drawn):
    stretches, trees = drawn
    joined = stretches.joined(trees, one_root=True)
    assert list(map(len, joined)) == np.diff(stretches.bounds).tolist()
    for heads in filter(None, joined):
        assert fault_of_tree(heads) is None
        assert heads.count(0) == 1
        with_root = np.array([-1, *heads])
        assert reaches_root(with_root)
        assert is_projective(with_root)


@given(trees_of_stretches())
def test_where_there_may_be_many_roots_every_stretch_keeps_its_own(drawn):
    stretches, trees = drawn
    joined = stretches.joined(trees, one_root=False)
    assert sum(heads.count(0) for heads in joined) == sum(heads.count(0) for heads in trees)
    # Within a stretch nothing has changed.
    steps = [h - at for heads in joined for at, h in enumerate(heads) if h]
    assert steps == [h - at for heads in trees for at, h in enumerate(heads) if h]
