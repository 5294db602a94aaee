"""Features of edges: where the formula puts them, which edges share them, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from edge_twin import PlainEdges, edge_value, hash_of, random_sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.edges import Candidates, EdgeReader, EdgeSentences
from featloom.data.sentences import table_of_sentences
from featloom.kernels.arborescences import MISSING
from featloom.kernels.edges import (
    count_code,
    distance_code,
    edge_slots,
    hash_parts,
    most_slots,
    pair_code,
    side_code,
    spread_sentence,
    sum_of,
    tags_between,
)
from featloom.kernels.parsing import score_sentence
from featloom.learners.edge_model import EdgeTemplates
from featloom.learners.parser_templates import edge_template

NAMES = [
    "head.form",
    "head.upos",
    "head.upos[-1]",
    "head.upos[+2]",
    "mod.form",
    "mod.upos",
    "mod.upos[+1]",
    "side",
    "distance",
    "between.upos=V",
    "between.upos=N,A",
    "between.upos",
    "between.form",
]
SETS = {"between.upos", "between.form"}


@dataclass
class Laid:
    """Templates laid out over sentences, and the plain twin of them."""

    words: list
    sentences: EdgeSentences
    templates: EdgeTemplates
    plain: PlainEdges

    @cached_property
    def hashes(self):
        return self.templates.hashes(self.sentences)

    def slots(self, which: int, head: int, mod: int) -> list[int]:
        start, n = int(self.sentences.starts[which]), len(self.words[which]) + 1
        spread = spread_sentence(self.templates.layout, start, n, *self.hashes)
        slots = np.empty(most_slots(self.templates.layout), dtype=np.uint64)
        found = edge_slots(
            slots, self.templates.layout, start, head, mod, self.sentences.counts,
            self.sentences.tags, *spread,
        )  # fmt: skip
        return slots[:found].tolist()

    def edges(self):
        """(sentence, head, modifier) of every edge."""
        for which, words in enumerate(self.words):
            for mod in range(1, len(words) + 1):
                for head in range(len(words) + 1):
                    if head != mod:
                        yield which, head, mod


def laid(names: list[tuple[str, ...]], words: list, bits: int = 24) -> Laid:
    tokens = [[(token["form"], token["upos"]) for token in sentence] for sentence in words]
    table = table_of_sentences(tokens, columns=("form", "upos"))
    reader = EdgeReader.of(table, [name for template in names for name in template])
    templates = EdgeTemplates(reader, [edge_template(*template) for template in names], bits)
    return Laid(words, reader.read(table), templates, PlainEdges(reader, templates.templates, bits))


def some_words(n: int = 3, longest: int = 9, seed: int = 0) -> list:
    return random_sentences(np.random.default_rng(seed), n, longest)[0]


@st.composite
def template_lists(draw):
    """Templates that a parser can use: each with something of the head or the pair, one set."""
    chosen = draw(
        st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True), min_size=1,
                 max_size=6)
    )  # fmt: skip
    templates = [tuple(t) for t in chosen if len(SETS.intersection(t)) < 2]
    return [*templates, ("head.upos", "mod.upos", "side")]


@settings(max_examples=40)
@given(template_lists(), st.integers(8, 30), st.integers(0, 9))
def test_the_slots_of_an_edge_are_those_of_the_formula(templates, bits, seed):
    made = laid(templates, some_words(2, 6, seed=seed), bits)
    for edge in made.edges():
        which, head, mod = edge
        assert sorted(made.slots(*edge)) == made.plain.slots(made.words[which], head, mod)


def test_two_edges_share_a_slot_only_where_they_share_a_feature():
    templates = [
        ("head.form",),
        ("head.form", "mod.form"),
        ("head.upos", "mod.upos"),
        ("head.upos", "mod.form"),
        ("head.form", "mod.upos"),
        ("mod.upos", "head.upos[-1]"),
        ("head.upos", "side"),
        ("head.upos", "mod.upos", "side", "distance"),
        ("head.upos", "mod.upos", "between.upos=V"),
        ("mod.form", "between.upos=V"),
    ]
    words = some_words(12)
    made = laid(templates, words, bits=30)
    features_at: dict[int, set] = {}
    for which, head, mod in made.edges():
        # Without sets the slots go by template, and so do the features of the twin.
        features = made.plain.features(words[which], head, mod)
        for slot, feature in zip(made.slots(which, head, mod), features, strict=True):
            features_at.setdefault(slot, set()).add(feature)
    features = set().union(*features_at.values())
    assert all(len(found) == 1 for found in features_at.values())
    assert len(features) == len(features_at) > 400


@pytest.mark.parametrize("kinds", [("head", "mod"), ("mod", "pair"), ("head", "pair")])
def test_the_parts_of_a_feature_do_not_cancel_out(kinds):
    # Parts are added up: where two kinds of part hashed alike, values could be swapped unnoticed.
    seed_of = {"head": 1, "mod": 2, "pair": 3}
    codes = np.repeat(np.arange(60, dtype=np.int32)[:, None], 5, axis=1)
    starts, columns = np.arange(6), np.arange(5)
    first, second = (hash_parts(codes, starts, columns, seed_of[kind]) for kind in kinds)
    for a in range(5):
        for b in range(5):
            sums = first[:, None, a] + second[None, :, b]
            assert len(np.unique(sums)) == 3600


def test_a_pair_of_tags_is_another_feature_the_other_way_round():
    words = [[{"form": "a", "upos": "N"}, {"form": "b", "upos": "V"}]]
    made = laid([("head.upos", "mod.upos")], words)
    assert made.slots(0, 1, 2) != made.slots(0, 2, 1)


def test_the_order_of_a_templates_places_says_nothing():
    words = some_words()
    one = laid([("head.upos", "mod.form", "side")], words)
    other = laid([("side", "mod.form", "head.upos")], words)
    # The columns of a kind have the same numbers in both, as there is one of each.
    for edge in one.edges():
        assert one.slots(*edge) == other.slots(*edge)


def test_each_tag_between_is_a_feature_once_and_neighbours_have_none():
    words = [[{"form": str(i), "upos": tag} for i, tag in enumerate("NVNVAN")]]
    made = laid([("head.upos", "between.upos", "mod.upos")], words)
    assert made.slots(0, 1, 2) == []
    assert len(made.slots(0, 1, 6)) == 3  # V, N, A
    assert len(made.slots(0, 0, 6)) == 3
    assert len(made.slots(0, 4, 2)) == 1
    assert edge_value(words[0], "between.upos", 1, 6) == ["A", "N", "V"]


def test_the_set_between_holds_what_stands_between_in_either_direction():
    tags = np.array([[9], [1], [0], [63], [1]], dtype=np.uint8)
    assert tags_between(tags, 0, 0, 4, 0) == tags_between(tags, 0, 4, 0, 0) == 1 << 63 | 0b11
    assert tags_between(tags, 0, 2, 4, 0) == 1 << 63
    assert tags_between(tags, 0, 1, 2, 0) == 0


def test_the_values_of_a_set_beyond_the_63rd_share_a_feature():
    words = [[{"form": f"w{i}", "upos": "N"} for i in range(70)]]
    made = laid([("head.upos", "between.form")], words)
    slots = made.slots(0, 0, 70)
    assert len(slots) == 63
    assert sorted(slots) == made.plain.slots(words[0], 0, 70)
    assert made.slots(0, 66, 68) == made.slots(0, 67, 69)


def test_side_distance_and_counts_are_coded_in_their_classes():
    assert (side_code(3, 1), side_code(1, 3), side_code(0, 1)) == (1, 2, 2)
    assert [distance_code(0, d) for d in (1, 2, 3, 4, 5, 6, 10, 11, 300)] == [
        1, 2, 3, 4, 5, 6, 6, 7, 7,
    ]  # fmt: skip
    counts = np.cumsum([0, 1, 1, 0, 1, 1, 1])[:, None].astype(np.int32)
    assert [count_code(counts, 0, 0, m, 0) for m in range(1, 7)] == [1, 2, 3, 3, 4, 4]
    assert count_code(counts, 0, 6, 3, 0) == count_code(counts, 0, 3, 6, 0) == 3


def test_each_combination_of_pair_values_has_a_number_of_its_own():
    random = np.random.default_rng(1)
    counts = np.cumsum(random.integers(0, 2, (40, 2)), axis=0).astype(np.int32)
    seen: dict[int, tuple] = {}
    for head in range(40):
        for mod in range(1, 40):
            if head == mod:
                continue
            values = (
                side_code(head, mod),
                distance_code(head, mod),
                count_code(counts, 0, head, mod, 0),
                count_code(counts, 0, head, mod, 1),
            )
            code = pair_code(counts, 0, head, mod)
            assert 0 <= code < 2 * 7 * 4 * 4
            assert seen.setdefault(code, values) == values
    assert len(set(seen.values())) == len(seen)


@given(st.lists(st.lists(st.integers(0, 2**30), min_size=3, max_size=3), min_size=1, max_size=4))
def test_the_hash_of_a_part_takes_in_columns_and_codes(rows):
    codes = np.array(rows, dtype=np.int32)
    starts, columns = np.array([0, 0, 1, 3]), np.array([2, 0, 1])
    found = hash_parts(codes, starts, columns, 7)
    for row, (a, b, c) in zip(found.tolist(), rows, strict=True):
        assert row == [0, hash_of({2: c}, 7), hash_of({0: a, 1: b}, 7)]


def test_a_table_is_filled_evenly():
    codes = np.arange(20_000, dtype=np.int32)[:, None]
    hashes = hash_parts(codes, np.array([0, 1]), np.array([0]), 1)[:, 0]
    filled = np.bincount((hashes >> np.uint64(64 - 8)).astype(np.int64), minlength=256)
    # 78 are expected in each of 256 slots, give or take 9.
    assert filled.min() > 78 - 6 * 9
    assert filled.max() < 78 + 6 * 9


@given(st.lists(st.integers(-(2**12), 2**12), max_size=40))
def test_a_sum_of_weights_is_their_sum(weights):
    table = np.array([*weights, 0], dtype=np.float32) / 8
    slots = np.array([*range(len(weights)), 0], dtype=np.uint64)
    assert sum_of(table, slots, len(weights)) == sum(weights) / 8


@pytest.mark.parametrize("seed", range(3))
def test_an_edge_scores_the_sum_of_its_features_weights_and_others_are_missing(seed):
    templates = [
        ("head.form", "mod.form"),
        ("head.upos", "mod.upos", "side", "distance"),
        ("head.upos", "between.upos", "mod.upos"),
        ("head.upos[-1]", "mod.upos[+1]", "between.upos=V"),
    ]
    made = laid(templates, some_words(4, seed=seed), bits=12)
    random = np.random.default_rng(seed)
    weights = (random.integers(-64, 65, 1 << 12) / 16).astype(np.float32)
    everything = Candidates.all(made.sentences)
    kept = random.random(len(everything)) < 0.6
    sums = np.concatenate(([0], np.cumsum(kept)))
    some = Candidates(sums[everything.starts].astype(np.int64), everything.heads[kept])
    for which, words in enumerate(made.words):
        start, n = int(made.sentences.starts[which]), len(words) + 1
        spread = spread_sentence(made.templates.layout, start, n, *made.hashes)
        scores = np.empty((n, n))
        score_sentence(
            scores, weights, made.templates.layout, which, made.sentences.starts, some.starts,
            some.heads, made.sentences.counts, made.sentences.tags, *spread,
        )  # fmt: skip
        expected = np.full((n, n), MISSING)
        for mod in range(1, n):
            for head in some.heads[some.starts[start + mod] : some.starts[start + mod + 1]]:
                expected[head, mod] = weights[made.plain.slots(words, int(head), mod)].sum()
        np.testing.assert_array_equal(scores, expected)
