"""Questions about heads: how answers are judged, who parses, and what is warned of."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from featloom.data.readers import read_conllu
from featloom.data.sentences import table_of_trees, take_sentences
from featloom.data.table import NominalTable
from featloom.discover import discover
from featloom.discover.treebanks import TreeQuestion
from featloom.errors import InputError
from featloom.learners.parser import DependencyParser
from featloom.learners.parsers import by_hand, share_crossing
from featloom.methods.tree_templates.contenders import added

NOUNS, VERBS = ("cat", "dog", "fish", "bird"), ("saw", "bit", "met")


def clause(draw: random.Random) -> list[tuple]:
    """(the) cat saw (the) dog . with the verb as root."""
    words: list[tuple[str, str, str]] = []
    for relation in ("nsubj", "obj"):
        words += [("the", "DET", "det")] * draw.randrange(2)
        words += [(draw.choice(NOUNS), "NOUN", relation)]
        words += [(draw.choice(VERBS), "VERB", "root")] if relation == "nsubj" else []
    words += [(".", "PUNCT", "punct")]
    verb = 1 + next(place for place, word in enumerate(words) if word[1] == "VERB")
    heads = {"det": lambda place: place + 1, "root": lambda place: 0}
    return [
        (form, form, tag, "_", "_", heads.get(relation, lambda place: verb)(place), relation)
        for place, (form, tag, relation) in enumerate(words, start=1)
    ]


def treebank(n: int, seed: int = 1, documents: int | None = None) -> NominalTable:
    draw = random.Random(seed)
    table = table_of_trees([clause(draw) for _ in range(n)])
    if documents is None:
        return table
    groups = np.repeat(np.arange(n, dtype=np.int32) % documents, np.diff(table.sequence_bounds))
    return replace(table, groups=groups, group_names=tuple(f"d{j}" for j in range(documents)))


@pytest.fixture(scope="module")
def question() -> TreeQuestion:
    return TreeQuestion(treebank(60))


LEARN, TEST = np.arange(40), np.arange(40, 60)
NAMES = [one.name for one in TreeQuestion(treebank(3)).contenders()]


def contender(question: TreeQuestion, name: str):
    return next(one for one in question.contenders() if one.name == name)


def fitted_by_default(one, data, seed=0, threads=1):
    return one.fit(data, one.default, seed, threads)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_heads_of_the_tokens_that_were_asked_for(name, question):
    fitted = fitted_by_default(contender(question, name), question.take(LEARN))
    answers = fitted.answers(question.take(TEST))
    assert answers.dtype == np.int32
    assert len(answers) == len(question.take(TEST))
    last = np.split(answers, question.take(TEST).sequence_bounds[1:-1])[-1]
    np.testing.assert_array_equal(fitted.answers(question.take(TEST[-1:])), last)
    assert fitted.size > 0
    assert isinstance(fitted.size_words, str)
    assert isinstance(fitted.setting, str)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_held_out_and_threads_change_nothing_in_what_is_learned(name, question):
    fitted = fitted_by_default(contender(question, name), question.take(LEARN), 2, 1)
    alone = TreeQuestion(take_sentences(treebank(60), LEARN))
    again = fitted_by_default(contender(alone, name), alone.take(LEARN), 2, 3)
    asked = question.take(TEST)
    np.testing.assert_array_equal(fitted.answers(asked), again.answers(asked))
    without = replace(asked, heads=np.zeros(len(asked), dtype=np.int32))
    np.testing.assert_array_equal(fitted.answers(without), fitted.answers(asked))
    assert fitted.setting == again.setting


def test_counts_give_the_score_that_a_parser_has_by_itself(question):
    parser = contender(question, "parser, manual templates")
    fitted = fitted_by_default(parser, question.take(LEARN[:4]))
    asked = question.take(TEST)
    counts = question.counts(TEST, fitted.answers(asked))
    assert counts.shape == (20, 2)
    assert question.of_counts(counts.sum(axis=0)) == fitted.model.score(asked)
    assert question.judge(TEST, asked, fitted).score == fitted.model.score(asked)
    assert fitted.model.relations_


def test_the_default_is_the_parser_that_is_fitted_without_settings(question):
    taken, asked = question.take(LEARN), question.take(TEST)
    fitted = fitted_by_default(contender(question, "parser, manual templates"), taken)
    plain = DependencyParser().fit(trees_of(taken))
    assert fitted.model.predict_trees(asked) == plain.predict_trees(trees_of(asked))
    assert fitted.model.templates_ == plain.templates_
    np.testing.assert_array_equal(fitted.model.model_.weights, plain.model_.weights)
    for setting in ("training", "epochs", "decoder", "margin", "step", "prune", "bits"):
        assert getattr(fitted.model, setting) == getattr(plain, setting)


def trees_of(table: NominalTable) -> list[list[tuple]]:
    """Sentences as people write them down."""
    names = ("form", "lemma", "upos", "xpos", "feats")
    tokens = [
        (
            *(table.value(name, row) for name in names),
            int(table.heads[row]),
            table.value("deprel", row),
        )
        for row in range(len(table))
    ]
    return [tokens[begin:end] for begin, end in pairwise(table.sequence_bounds.tolist())]


@pytest.mark.parametrize("name", NAMES[1:])
def test_settings_that_share_templates_are_fitted_as_if_each_were_alone(name, question):
    one = contender(question, name)
    settings = [one.default]
    for axis in one.axes:
        settings += one.varied(one.default, axis)
    assert len(settings) == 4
    asked = question.take(TEST)
    together = list(one.fit_each(question.take(LEARN), settings, 0, 1))
    assert len({fitted.setting for fitted in together}) == len(settings)
    for setting, fitted in zip(settings, together, strict=True):
        alone = one.fit(question.take(LEARN), setting, 0, 1)
        assert alone.setting == fitted.setting
        assert alone.findings() == fitted.findings()
        np.testing.assert_array_equal(alone.model.model_.weights, fitted.model.model_.weights)
        np.testing.assert_array_equal(alone.answers(asked), fitted.answers(asked))


def test_chance_hangs_each_word_on_the_commoner_neighbour(question):
    token = ("a", "a", "X", "_", "_")
    chain = table_of_trees([[(*token, 0, "root"), (*token, 1, "x"), (*token, 2, "x")]] * 2)
    chance = contender(question, "always a neighbour")
    fitted = fitted_by_default(chance, chain)
    assert (fitted.setting, fitted.answers(chain).tolist()) == ("the word before", [0, 1, 2] * 2)
    back = table_of_trees([[(*token, 2, "x"), (*token, 3, "x"), (*token, 0, "root")]] * 2)
    fitted = fitted_by_default(chance, back)
    assert (fitted.setting, fitted.answers(back).tolist()) == ("the word after", [2, 3, 0] * 2)


def test_documents_are_counted_whole_and_punctuation_is_left_out():
    question = TreeQuestion(treebank(24, documents=6))
    units = np.arange(24)
    counts = question.counts(units, question.heads)
    assert len(counts) == 6
    assert counts[:, 1].sum() == len(question.table) - 24
    errors = question.errors(units, question.heads)
    assert "punct" not in {one["name"] for one in errors["by_class"]}
    assert all(one["rows"] == one["right"] for one in errors["by_class"] + errors["by_group"])
    assert len(errors["by_group"]) == 6


def test_a_saved_parser_parses_alike(question, tmp_path):
    parser = contender(question, "parser, templates from trees")
    fitted = fitted_by_default(parser, question.take(LEARN))
    assert fitted.save(tmp_path) == ["model.featloom", "templates.txt"]
    named = (tmp_path / "templates.txt").read_text().splitlines()
    assert named == [str(template) for template in fitted.model.templates_]
    loaded = DependencyParser.load(tmp_path / "model.featloom")
    asked = question.take(TEST)
    assert loaded.predict_trees(asked) == fitted.model.predict_trees(asked)
    (found,) = fitted.findings()
    assert found.columns[0].label == "template"
    assert found.rows


def test_crossing_arcs_are_looked_for_where_there_are_many():
    token = ("a", "a", "X", "_", "_")
    crossing = [(*token, head, "x") for head in (3, 4, 0, 3)]
    many = TreeQuestion(table_of_trees([crossing] * 3))
    assert (share_crossing(many.table), share_crossing(treebank(10))) == (1.0, 0.0)
    parser = contender(many, "parser, manual templates")
    assert parser.axes["decoder"] == ("eisner", "chu-liu-edmonds")
    assert parser.default["decoder"] == DependencyParser().decoder
    found = parser.fit(many.table, parser.default | {"decoder": "chu-liu-edmonds"}, 0, 1)
    assert found.setting == "MIRA, 5 passes, arcs may cross"
    assert found.answers(many.table).tolist() == [3, 4, 0, 3] * 3
    assert "decoder" not in contender(TreeQuestion(treebank(10)), "parser, manual templates").axes


def test_what_may_mislead_is_told_of(question):
    twice = TreeQuestion(take_sentences(question.table, np.tile(np.arange(20), 2)))
    said = "\n".join(twice.warnings(np.arange(20), np.arange(20, 40)))
    assert "test sentences (100 %) are also among those learned from" in said
    assert "lemma, upos are taken as they stand" in said


def test_every_method_of_the_program_takes_part_or_is_said_not_to(question):
    assert len(question.left_out()) == 4
    assert "at random did as well" in contender(question, "parser, templates from trees").idea
    assert [one.role for one in question.contenders()] == ["chance", "baseline", *["method"] * 3]


def test_templates_of_trees_are_added_to_those_of_experts(question):
    table = question.take(LEARN)
    by_experts = {str(one) for one in by_hand(table, {}).templates_}
    found = added({"n_trees": 3, "most": 20}, table, {"random_state": 0})
    both = {str(one) for one in found.templates_}
    assert len(both) == len(found.templates_)
    assert by_experts < both
    assert len(both) <= len(by_experts) + 20
    places = [frozenset(one.places) for one in found.templates_]
    assert len(set(places)) == len(places)


def test_the_data_part_tells_sizes(question):
    part = question.data_part()
    assert (part["sentences"], part["target"], part["groups"]) == (60, "head", None)
    assert sum(part["classes"].values()) == part["rows"]


def test_a_comparison_of_parsers_ends_in_a_model(tmp_path):
    found = discover(
        treebank(50), test=treebank(10, seed=8), only=["parser, manual templates"], budget=None,
        n_jobs=1, folder=tmp_path,
    )  # fmt: skip
    assert found.question.kind == "trees"
    assert found.chosen == "parser, manual templates"
    assert found.result["metric"] == "UAS without punctuation"
    found.save(tmp_path)
    loaded = DependencyParser.load(tmp_path / "model.featloom")
    asked = treebank(5, seed=4)
    assert loaded.predict(asked) == found.pipeline().predict(asked)


def test_sentences_without_heads_are_refused():
    with pytest.raises(InputError, match="the sentences have no heads"):
        TreeQuestion(replace(treebank(2), heads=None))
    with pytest.raises(InputError, match="sentence 0: "):
        TreeQuestion(replace(treebank(2), heads=np.ones(len(treebank(2)), dtype=np.int32)))


def test_on_a_real_treebank_parsers_are_far_above_chance(data_folder):
    table = read_conllu(data_folder / "pt-bosque" / "ud" / "dev.conll.xz")
    question = TreeQuestion(take_sentences(table, np.arange(320)))
    learn, test = np.arange(220), np.arange(220, 320)
    scores = {}
    for one in question.contenders()[:3]:
        answers = fitted_by_default(one, question.take(learn)).answers(question.take(test))
        scores[one.role] = question.of_counts(question.counts(test, answers).sum(axis=0))
    assert scores["chance"] < 0.4
    assert scores["baseline"] > 0.78
    assert scores["method"] > scores["baseline"] - 0.03


def test_sentences_that_are_too_long_are_warned_of():
    chain = [("x", "x", "X", "_", "_", at, "x") for at in range(501)]
    draw = random.Random(1)
    question = TreeQuestion(table_of_trees([chain, *(clause(draw) for _ in range(9))]))
    said = question.warnings(np.arange(8), np.arange(8, 10))
    assert "1 sentence of more than 500 tokens: not learned from, and parsed in stretches" in said
    assert "500" not in "".join(TreeQuestion(treebank(9)).warnings(np.arange(8), np.arange(8, 9)))
