"""Models of edges learn what plain Python learns, and prune, thread and average as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from edge_twin import (
    PlainEdges,
    PlainTraining,
    pilot_shares,
    random_sentences,
    train_pilot,
    train_relations,
)
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.edges import Candidates, EdgeReader
from featloom.data.sentences import table_of_sentences
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.learners.edge_model import (
    EdgeModel,
    EdgeTemplates,
    ParserTraining,
    Pilot,
    RelationModel,
    with_gold,
)
from featloom.learners.parser_templates import edge_template

BITS = 10
TEMPLATES = [
    edge_template(*names)
    for names in (
        ("head.form", "mod.form"),
        ("head.upos", "mod.upos", "side", "distance"),
        ("head.upos", "between.upos", "mod.upos"),
        ("head.upos[-1]", "mod.upos[+1]", "between.upos=V"),
        ("side", "distance"),
    )
]
FLAT = [template for template in TEMPLATES if "between.upos" not in str(template).split(" & ")]


class Toy:
    """Random sentences with random trees: what is learned is not the point, but how."""

    def __init__(self, seed=0, n=8, longest=5, crossing=True, templates=TEMPLATES):
        self.words, self.heads = random_sentences(
            np.random.default_rng(seed), n, longest, crossing=crossing
        )
        tokens = [[(token["form"], token["upos"]) for token in one] for one in self.words]
        table = table_of_sentences(tokens, columns=("form", "upos"))
        flat = np.array([head for one in self.heads for head in one], dtype=np.int32)
        names = [name for template in templates for name, _ in template.places]
        self.reader = EdgeReader.of(table, names)
        self.edges = self.reader.read(replace(table, heads=flat))
        self.templates = EdgeTemplates(self.reader, templates, BITS)
        self.plain = PlainEdges(self.reader, self.templates.templates, BITS)

    def model(self, seed=None, **how) -> EdgeModel:
        """A model whose weights are 0, or random: then no two trees tie."""
        model = EdgeModel(self.templates, **how)
        if seed is not None:
            model.weights[:] = np.random.default_rng(seed).normal(scale=0.3, size=1 << BITS)
        return model


HOW = [
    pytest.param(margin, projective, single_root, id=f"{name}-{decoder}-{roots}")
    for margin, name in ((1.0, "mira"), (0.5, "mira-half"), (0.0, "perceptron"))
    for projective, decoder in ((True, "eisner"), (False, "chu-liu-edmonds"))
    for single_root, roots in ((True, "one root"), (False, "roots"))
]


@pytest.mark.parametrize(("margin", "projective", "single_root"), HOW)
def test_training_is_that_of_the_textbook_and_gives_the_mean_of_the_weights(
    margin, projective, single_root
):
    toy = Toy(seed=1, crossing=not projective)
    model = toy.model(seed=2, projective=projective, single_root=single_root)
    twin = PlainTraining(toy.plain, model.weights, projective=projective, single_root=single_root)
    start = model.weights.copy()
    model.train(toy.edges, Candidates.all(toy.edges), ParserTraining(3, margin, 0.4, seed=5))
    expected = twin.train(toy.words, toy.heads, epochs=3, margin=margin, most=0.4, seed=5)
    np.testing.assert_allclose(model.weights, expected, atol=2e-5)
    assert np.abs(expected - start).max() > 0.01


@pytest.mark.parametrize("projective", [True, False])
def test_trees_that_cross_are_learned_from_as_far_as_the_decoder_can_follow(projective):
    toy = Toy(seed=3, n=12)
    model = toy.model(seed=4, projective=projective)
    twin = PlainTraining(toy.plain, model.weights, projective=projective, single_root=True)
    model.train(toy.edges, Candidates.all(toy.edges), ParserTraining(2, 1.0, 5.0, seed=0))
    expected = twin.train(toy.words, toy.heads, epochs=2, margin=1.0, most=5.0, seed=0)
    np.testing.assert_allclose(model.weights, expected, atol=1e-4)


def test_training_that_goes_on_long_enough_gets_every_head_right():
    words, heads = random_sentences(np.random.default_rng(6), 10, 5)
    for number, sentence in enumerate(words):  # words of its own make each sentence learnable
        for place, token in enumerate(sentence):
            token["form"] = f"{number}.{place}"
    tokens = [[(token["form"], token["upos"]) for token in one] for one in words]
    table = table_of_sentences(tokens, columns=("form", "upos"))
    table = replace(table, heads=np.array([h for one in heads for h in one], dtype=np.int32))
    reader = EdgeReader.of(table, ["head.form", "mod.form"])
    edges = reader.read(table)
    for margin in (1.0, 0.0):
        model = EdgeModel(EdgeTemplates(reader, [edge_template("head.form", "mod.form")], 20),
                          projective=False)  # fmt: skip
        wrong: list[int] = []
        model.train(edges, Candidates.all(edges), ParserTraining(30, margin, 10.0),
                    on_epoch=lambda _, n, wrong=wrong: wrong.append(n))  # fmt: skip
        assert len(wrong) == 30
        # With a margin a tree that ties once it is worth more for its wrong heads counts as met.
        assert wrong[-1] < wrong[0]
        assert wrong[-1] == 0 or margin
        parsed = model.parse(edges, Candidates.all(edges))
        assert replace(edges, heads=parsed).token_heads() == heads


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    toy = Toy(n=20)
    weights = []
    for seed in (1, 1, 2):
        model = toy.model()
        model.train(toy.edges, Candidates.all(toy.edges), ParserTraining(seed=seed))
        weights.append(model.weights)
    np.testing.assert_array_equal(weights[0], weights[1])
    assert (weights[0] != weights[2]).any()


def test_no_sentences_teach_nothing():
    toy = Toy(n=0)
    model = toy.model()
    model.train(toy.edges, Candidates.all(toy.edges), ParserTraining())
    assert not model.weights.any()
    assert len(model.parse(toy.edges, Candidates.all(toy.edges))) == 0


@pytest.mark.parametrize("projective", [True, False])
def test_threads_find_the_heads_that_one_finds(projective):
    toy = Toy(seed=8, n=300, longest=7)
    model = toy.model(seed=9, projective=projective)
    everything = Candidates.all(toy.edges)
    expected = model.parse(toy.edges, everything)
    for threads in (2, 5):
        np.testing.assert_array_equal(model.parse(toy.edges, everything, threads), expected)


def test_right_heads_are_added_to_the_candidates_that_lack_them_and_no_others_are():
    toy = Toy(seed=10, n=30, longest=8)
    random = np.random.default_rng(11)
    everything = Candidates.all(toy.edges)
    for share in (0.0, 0.2, 0.9, 1.0):
        kept = random.random(len(everything)) < share
        sums = np.concatenate(([0], np.cumsum(kept)))
        some = Candidates(sums[everything.starts], everything.heads[kept])
        found = with_gold(toy.edges, some)
        for position, gold in enumerate(toy.edges.heads.tolist()):
            before, after = (
                one.heads[one.starts[position] : one.starts[position + 1]].tolist()
                for one in (some, found)
            )
            expected = set(before) | ({gold} if gold >= 0 else set())
            assert set(after) == expected
            assert len(after) == len(expected)


def test_the_pilot_is_a_softmax_over_heads():
    toy = Toy(seed=12, n=10, templates=FLAT)
    pilot = Pilot(toy.templates, ratio=0.05)
    pilot.train(toy.edges, epochs=3, seed=13)
    expected = train_pilot(toy.plain, toy.words, toy.heads, epochs=3, seed=13)
    np.testing.assert_allclose(pilot.weights, expected, atol=1e-4)
    candidates = pilot.candidates(toy.edges)
    position = 0
    for words in toy.words:
        position += 1  # the root's
        for mod in range(1, len(words) + 1):
            shares = pilot_shares(toy.plain, expected, words, mod)
            least = 0.05 * max(shares.values())
            assert all(abs(share - least) > 1e-5 for share in shares.values())
            first, last = candidates.starts[position : position + 2]
            likely = [head for head, share in shares.items() if share >= least]
            assert candidates.heads[first:last].tolist() == likely
            position += 1
    assert len(candidates) < toy.edges.n_edges


def test_every_token_keeps_a_head_however_much_is_pruned():
    toy = Toy(seed=14, n=200, longest=9, templates=FLAT)
    pilot = Pilot(toy.templates, ratio=0.999)
    pilot.train(toy.edges)
    candidates = pilot.candidates(toy.edges)
    kept = np.diff(candidates.starts)
    is_root = np.isin(np.arange(len(kept)), toy.edges.starts[:-1])
    assert (kept[is_root] == 0).all()
    assert (kept[~is_root] >= 1).all()
    for threads in (2, 3):
        again = pilot.candidates(toy.edges, threads)
        np.testing.assert_array_equal(again.starts, candidates.starts)
        np.testing.assert_array_equal(again.heads, candidates.heads)


def test_relations_are_learned_by_the_averaged_perceptron():
    toy = Toy(seed=15, n=10)
    random = np.random.default_rng(16)
    relations = [random.integers(0, 3, len(heads)).tolist() for heads in toy.heads]
    codes = np.full(len(toy.edges.heads), -1, dtype=np.int32)
    codes[toy.edges.heads >= 0] = [code for one in relations for code in one]
    model = RelationModel(toy.templates, 3)
    model.train(toy.edges, codes, epochs=4, seed=17)
    expected = train_relations(toy.plain, toy.words, toy.heads, relations, 3, epochs=4, seed=17)
    np.testing.assert_allclose(model.weights, expected, atol=1e-4)
    labelled = model.label(toy.edges, toy.edges.heads)
    flat = [
        int(np.argmax(expected[toy.plain.slots(words, head, mod)].sum(axis=0)))
        for words, heads in zip(toy.words, toy.heads, strict=True)
        for mod, head in enumerate(heads, start=1)
    ]
    assert labelled[toy.edges.heads >= 0].tolist() == flat
    assert (labelled[toy.edges.heads < 0] == -1).all()
    np.testing.assert_array_equal(model.label(toy.edges, toy.edges.heads, 3), labelled)


def test_a_relation_that_is_not_known_is_not_learned_from():
    toy = Toy(seed=18)
    model = RelationModel(toy.templates, 2)
    model.train(toy.edges, np.full(len(toy.edges.heads), -1, dtype=np.int32))
    assert not model.weights.any()


def test_a_template_of_the_modifier_alone_is_kept_for_relations_only():
    toy = Toy()
    templates = [edge_template("mod.form"), edge_template("side"), edge_template("between.upos")]
    assert set(EdgeTemplates(toy.reader, templates).templates) == set(templates[1:])
    assert len(EdgeTemplates(toy.reader, templates, for_relations=True)) == 3


@given(st.permutations(TEMPLATES))
def test_the_order_of_templates_does_not_matter(templates):
    toy = Toy(n=2)
    assert EdgeTemplates(toy.reader, templates).templates[-1] == TEMPLATES[2]
    plain = PlainEdges(toy.reader, EdgeTemplates(toy.reader, templates).templates, BITS)
    assert plain.slots(toy.words[0], 0, 1) == toy.plain.slots(toy.words[0], 0, 1)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (edge_template("head.lemma"), "template head.lemma looks at 'head.lemma', which is not"),
        (edge_template("between.upos", "between.form"), "looks at two sets; one is the most"),
        (Template((("head.upos", -1),)), "has an offset; it belongs in the name of the edge"),
    ],
)
def test_templates_that_cannot_be_laid_out_are_refused_in_one_line(template, message):
    table = table_of_sentences([[("a", "X")]], columns=("form", "upos"))
    reader = EdgeReader.of(table, ["head.upos", "between.upos", "between.form"])
    with pytest.raises(InputError, match=message) as error:
        EdgeTemplates(reader, [template])
    assert "\n" not in str(error.value)


def test_more_counts_than_a_table_of_pairs_can_hold_are_refused():
    table = table_of_sentences([[("a", "X")]], columns=("form", "upos"))
    names = [f"between.upos={tag}" for tag in "ABCDEFG"]
    with pytest.raises(InputError, match="7 columns count what lies between; 6 are the most"):
        EdgeTemplates(EdgeReader.of(table, names), [edge_template(names[0])])
    reader = EdgeReader.of(table, names[:6])
    assert len(EdgeTemplates(reader, [edge_template(*names[:6])])) == 1
