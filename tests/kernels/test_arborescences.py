"""The decoders find the best tree of all, and trees even where there is little to choose from."""

from __future__ import annotations

import numpy as np
import pytest
from edge_twin import (
    all_trees,
    allowed_trees,
    best_by_contraction,
    best_by_enumeration,
    is_projective,
    random_tree,
    reaches_root,
    tree_scores,
)
from hypothesis import given
from hypothesis import strategies as st

from featloom.kernels.arborescences import MISSING, chu_liu_edmonds, eisner

DECODERS = {"eisner": (eisner, True), "chu-liu-edmonds": (chu_liu_edmonds, False)}


def decode(decoder: str, scores: np.ndarray, single_root: bool) -> np.ndarray:
    heads = np.full(len(scores), 99, dtype=np.int32)
    DECODERS[decoder][0](np.ascontiguousarray(scores, dtype=np.float64), single_root, heads)
    return heads


def score_of(heads: np.ndarray, scores: np.ndarray) -> float:
    return float(tree_scores(heads[None, :], scores)[0])


@st.composite
def score_matrices(draw, most_tokens=5):
    """Scores of few values, so that trees tie, or of many; some arcs missing, perhaps most."""
    n = draw(st.integers(1, most_tokens)) + 1
    value = draw(st.sampled_from([st.integers(-2, 2), st.integers(0, 0), st.integers(-4000, 4000)]))
    share = draw(st.sampled_from([0, 3, 8]))
    cells = st.tuples(value, st.integers(0, 9))
    drawn = draw(st.lists(cells, min_size=n * n, max_size=n * n))
    # Eighths are exact, so that equal trees have equal sums in whatever order they are added.
    flat = [MISSING if out < share else score / 8 for score, out in drawn]
    return np.array(flat).reshape(n, n)


def test_there_are_as_many_trees_as_cayley_counted():
    assert [len(all_trees(n)) for n in range(1, 7)] == [1, 3, 16, 125, 1296, 16807]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
@given(scores=score_matrices())
def test_a_decoder_finds_a_tree_that_none_outscores(decoder, single_root, scores):
    projective = DECODERS[decoder][1]
    heads = decode(decoder, scores, single_root)
    trees = allowed_trees(len(scores) - 1, projective, single_root)
    assert heads.tolist() in trees.tolist()
    assert score_of(heads, scores) == pytest.approx(tree_scores(trees, scores).max(), abs=1e-4)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
def test_where_one_tree_is_best_the_decoder_finds_that_one(decoder, single_root):
    random = np.random.default_rng(3)
    for _ in range(40):
        scores = random.normal(size=(7, 7)) + random.choice([0, 0, 2], size=(7, 7))
        best = best_by_enumeration(scores, DECODERS[decoder][1], single_root)
        assert decode(decoder, scores, single_root).tolist() == best.tolist()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
def test_a_missing_arc_is_taken_only_where_no_tree_does_without(decoder, single_root):
    random = np.random.default_rng(4)
    for _ in range(40):
        scores = random.normal(size=(6, 6)) * 5
        scores[random.random((6, 6)) < 0.75] = MISSING
        trees = allowed_trees(5, DECODERS[decoder][1], single_root)
        fewest = (scores[trees[:, 1:], np.arange(1, 6)] == MISSING).sum(axis=1).min()
        heads = decode(decoder, scores, single_root)
        assert (scores[heads[1:], np.arange(1, 6)] == MISSING).sum() == fewest


@pytest.mark.parametrize("decoder", DECODERS)
def test_cycles_within_cycles_are_opened_where_they_lose_least(decoder):
    # 1 and 2 like each other best, both and 3 come next, and 4 with them; the root likes nobody.
    scores = np.full((5, 5), -50.0)
    scores[1, 2] = scores[2, 1] = 20
    scores[2, 3] = scores[3, 1] = 15
    scores[3, 4] = scores[4, 1] = scores[4, 3] = 12
    scores[0, 1:] = [1, 2, 3, 0]
    for single_root in (True, False):
        best = best_by_enumeration(scores, DECODERS[decoder][1], single_root)
        found = decode(decoder, scores, single_root)
        assert score_of(found, scores) == score_of(best, scores)


@pytest.mark.parametrize("single_root", [True, False])
def test_of_more_tokens_than_can_be_listed_the_best_tree_is_that_of_the_textbook(single_root):
    random = np.random.default_rng(7)
    for n in (7, 9, 12, 15, 20):
        for few_values in (True, False):
            scores = random.integers(-3, 4, (n, n)) if few_values else random.normal(size=(n, n))
            # Neighbours like each other, and the root likes nobody: cycles lie within cycles.
            scores = scores - 3.0 * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
            scores[0] -= 20
            found = decode("chu-liu-edmonds", scores, single_root)
            assert reaches_root(found.tolist())
            best = best_by_contraction(scores, single_root)
            assert score_of(found, scores) == pytest.approx(best, abs=1e-4)


def test_crossing_arcs_are_for_chu_liu_edmonds_alone():
    crossing = [-1, 3, 4, 0, 3]
    scores = np.zeros((5, 5))
    scores[crossing[1:], np.arange(1, 5)] = 10
    assert not is_projective(crossing)
    assert decode("chu-liu-edmonds", scores, True).tolist() == crossing
    assert is_projective(decode("eisner", scores, True).tolist())


@pytest.mark.parametrize("decoder", DECODERS)
def test_two_roots_are_taken_where_they_may_be(decoder):
    scores = np.zeros((4, 4))
    scores[0] = 10
    assert decode(decoder, scores, False).tolist() == [-1, 0, 0, 0]
    assert (decode(decoder, scores, True) == 0).sum() == 1


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("score", [0.0, -1e4, MISSING, 1e5])
def test_a_sentence_of_one_token_has_the_root_for_its_head(decoder, single_root, score):
    assert decode(decoder, np.full((2, 2), score), single_root).tolist() == [-1, 0]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
def test_a_sentence_without_tokens_has_no_heads(decoder, single_root):
    assert decode(decoder, np.zeros((1, 1)), single_root).tolist() == [-1]


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("decoder", DECODERS)
def test_in_300_tokens_a_tree_that_stands_out_is_found(decoder, single_root):
    random = np.random.default_rng(5)
    tree = np.array([-1, *random_tree(random, 300, crossing=decoder != "eisner")])
    scores = random.random((301, 301))
    scores[tree[1:], np.arange(1, 301)] += 1000
    assert decode(decoder, scores, single_root).tolist() == tree.tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_in_300_tokens_the_best_tree_of_all_scores_at_least_as_high_as_the_best_projective(
    single_root,
):
    scores = np.random.default_rng(6).normal(size=(301, 301))
    free, projective = (decode(name, scores, single_root) for name in ("chu-liu-edmonds", "eisner"))
    for heads in (free, projective):
        assert reaches_root(heads.tolist())
        assert not single_root or (heads == 0).sum() == 1
    assert is_projective(projective.tolist())
    assert score_of(free, scores) >= score_of(projective, scores)


@pytest.mark.parametrize("decoder", DECODERS)
def test_300_tokens_of_missing_arcs_still_get_a_tree_with_one_root(decoder):
    heads = decode(decoder, np.full((301, 301), MISSING), True)
    assert reaches_root(heads.tolist())
    assert (heads == 0).sum() == 1
