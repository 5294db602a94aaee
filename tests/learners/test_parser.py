"""A dependency parser learns from few sentences, answers for any, and refuses what it must."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from edge_twin import is_projective, reaches_root
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from featloom.data.edges import EdgeReader
from featloom.data.readers.conllu import read_conllu
from featloom.data.sentences import table_of_trees, take_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.learners.edge_model import with_gold
from featloom.learners.parser import DependencyParser, LongSentence, explain_heads
from featloom.learners.parser_templates import (
    TokenColumns,
    edge_columns,
    edge_template,
    manual_templates,
)

FOREST = {"n_trees": 10, "most": 100}
LISTED = [
    edge_template("head.upos", "mod.upos", "side", "distance"),
    edge_template("head.form", "mod.form"),
    edge_template("head.upos", "between.upos", "mod.upos"),
    edge_template("head.upos", "mod.upos", "between.upos=VERB,AUX"),
    edge_template("mod.form"),
]


def token(form: str, tag: str, head: int, relation: str = "x") -> tuple:
    return (form, form, tag, "_", "_", head, relation)


HE_RAN = [token("He", "PRON", 2, "nsubj"), token("ran", "VERB", 0, "root")]
TWO_ROOTS = [token("Go", "VERB", 0, "root"), token("away", "ADV", 1), token("Run", "VERB", 0)]


def small(**how) -> DependencyParser:
    return DependencyParser(**{"bits": 12, "epochs": 2, **how})


def bare(sentences) -> list:
    """Sentences without what is to be found."""
    return [[one[:5] for one in sentence] for sentence in sentences]


def sentences_of(table: NominalTable, first: int, last: int) -> NominalTable:
    bounds = table.sequence_bounds
    some = take_sentences(table, np.arange(first, last))
    return replace(some, heads=table.heads[bounds[first] : bounds[last]])


@pytest.fixture(scope="module")
def bosque(data_folder) -> tuple[NominalTable, NominalTable]:
    """Three hundred sentences to learn from and a hundred and fifty others."""
    table = read_conllu(data_folder / "pt-bosque" / "ud" / "dev.conll.xz")
    return sentences_of(table, 0, 300), sentences_of(table, 300, 450)


@pytest.fixture(scope="module")
def manual(bosque) -> DependencyParser:
    return DependencyParser(bits=18, epochs=3).fit(bosque[0])


@pytest.fixture(scope="module")
def grown(bosque) -> DependencyParser:
    return DependencyParser(templates="tree", forest=FOREST, bits=18, epochs=3).fit(bosque[0])


@pytest.fixture(scope="module")
def toy() -> DependencyParser:
    return small().fit([HE_RAN] * 20)


def test_three_hundred_sentences_teach_more_than_tags_and_distances_do(manual, bosque):
    # 0.80 is what one template of tags, side and distance reaches; without learning it is 0.3.
    scores = manual.evaluate(bosque[1])
    assert scores["uas"] > 0.82
    assert scores["uas"] > scores["las"] > 0.74
    assert scores["uas_punctuation"] > 0.79
    assert manual.score(bosque[1]) == scores["uas"]
    assert manual.evaluate(bosque[0])["uas"] > 0.94


def test_templates_read_off_trees_parse_nearly_as_well_as_those_people_wrote(manual, grown, bosque):
    assert grown.score(bosque[1]) > max(0.80, manual.score(bosque[1]) - 0.04)
    assert grown.tree_.n_internal > 0
    assert grown.tree_.classes == ("no", "head")
    assert len(grown.grown_) <= FOREST["most"]
    assert grown.templates_[: len(grown.grown_)] == [one.template for one in grown.grown_]
    gains = [one.gain for one in grown.grown_]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize("templates", ["manual", "tree"])
def test_a_parser_that_is_retrained_is_the_one_that_is_fitted_anew(templates, bosque):
    learned, asked = sentences_of(bosque[0], 0, 60), sentences_of(bosque[1], 0, 20)
    how = {"templates": templates, "forest": FOREST, "random_state": 1}
    parser = small(**how).fit(learned)
    before = parser.predict_trees(asked)
    other = {"training": "perceptron", "epochs": 2, "decoder": "chu-liu-edmonds"}
    again, anew = parser.retrained(**other), small(**how | other).fit(learned)
    np.testing.assert_array_equal(again.model_.weights, anew.model_.weights)
    assert again.predict_trees(asked) == anew.predict_trees(asked)
    assert again.get_params() == anew.get_params()
    assert parser.predict_trees(asked) == before


def test_what_edges_depend_on_cannot_be_set_anew(toy, tmp_path):
    with pytest.raises(InputError, match="prune cannot be set anew without new edges"):
        toy.retrained(prune=0)
    toy.save(tmp_path / "trees.featloom")
    with pytest.raises(InputError, match="a parser that was loaded has no sentences"):
        DependencyParser.load(tmp_path / "trees.featloom").retrained(epochs=2)


@pytest.mark.parametrize(
    "how",
    [
        {"training": "perceptron"},
        {"decoder": "chu-liu-edmonds"},
        {"prune": 0, "relations": False},
        {"single_root": False},
    ],
    ids=str,
)
def test_other_trainings_and_decoders_are_not_far_off(how, manual, bosque):
    parser = DependencyParser(bits=18, epochs=3, **how).fit(bosque[0])
    assert parser.score(bosque[1]) > manual.score(bosque[1]) - 0.03


def test_pruning_keeps_nearly_all_right_heads_and_drops_most_of_the_others(manual, bosque):
    for table, least in zip(bosque, (0.998, 0.985), strict=True):
        edges = manual._reader.read(table)
        candidates = manual._candidates(edges)
        position = np.repeat(np.arange(len(edges.heads)), np.diff(candidates.starts))
        right = candidates.heads == edges.heads[position]
        assert right.sum() >= least * len(table)
        assert len(candidates) < 0.5 * edges.n_edges


def test_right_heads_are_always_among_those_that_training_looks_at(manual, bosque):
    edges = manual._reader.read(bosque[0])
    candidates = with_gold(edges, manual._candidates(edges))
    position = np.repeat(np.arange(len(edges.heads)), np.diff(candidates.starts))
    assert (candidates.heads == edges.heads[position]).sum() == len(bosque[0])


def test_predicted_heads_are_projective_trees_with_one_root(manual, bosque):
    for heads in manual.predict(bosque[1]):
        assert reaches_root([-1, *heads])
        assert is_projective([-1, *heads])
        assert heads.count(0) == 1


def test_threads_change_nothing(manual, bosque):
    alone = manual.predict_trees(bosque[1])
    several = clone(manual).set_params(n_jobs=3).fit(bosque[0])
    np.testing.assert_array_equal(several.model_.weights, manual.model_.weights)
    assert several.predict_trees(bosque[1]) == alone


def test_what_is_to_be_found_is_not_looked_at(manual, bosque):
    table = bosque[1]
    expected = manual.predict_trees(table)
    j = table.column_index("deprel")
    codes = table.codes.copy(order="F")
    codes[:, j] = 1
    rooted = replace(table, codes=codes, heads=np.zeros(len(table), dtype=np.int32))
    assert manual.predict_trees(rooted) == expected
    assert manual.predict_trees(replace(table, heads=None)) == expected


def test_a_sentence_is_parsed_alike_in_any_company(manual, bosque):
    together = manual.predict(bosque[1])
    for which in (0, 70, 149):
        alone = sentences_of(bosque[1], which, which + 1)
        assert manual.predict(alone) == [together[which]]


def test_relations_are_those_of_the_training_sentences(manual, bosque):
    j = bosque[0].column_index("deprel")
    assert manual.relations_ == bosque[0].vocabularies[j]
    used = {relation for tree in manual.predict_trees(bosque[1]) for _, relation in tree}
    assert used <= set(manual.relations_)
    assert {"root", "det", "nsubj", "punct"} <= used


@pytest.mark.parametrize("templates", ["manual", "tree"])
def test_the_same_seed_gives_the_same_parser(templates, bosque):
    few = sentences_of(bosque[0], 0, 60)
    made = [
        small(templates=templates, forest={"n_trees": 3}, random_state=seed).fit(few)
        for seed in (7, 7, 8)
    ]
    np.testing.assert_array_equal(made[0].model_.weights, made[1].model_.weights)
    np.testing.assert_array_equal(made[0]._relation_model.weights, made[1]._relation_model.weights)
    assert made[0].templates_ == made[1].templates_
    assert (made[0].model_.weights != made[2].model_.weights).any()


def test_a_list_of_templates_may_hold_sets_counts_and_the_modifier_alone(bosque):
    parser = DependencyParser(templates=LISTED, bits=18, epochs=3, relations=False).fit(bosque[0])
    assert parser.templates_ == LISTED
    assert parser.score(bosque[1]) > 0.79
    sets = DependencyParser(templates=LISTED[2:3], bits=18, relations=False).fit(bosque[0])
    assert sets.score(bosque[1]) > 0.4


def test_words_and_tags_that_were_never_seen_are_parsed_by_what_is_known(toy):
    assert toy.predict(bare([[token("She", "PRON", 2), token("flew", "VERB", 0)]])) == [[2, 0]]
    unknown = [[token("Xyz", "???", 0)] * 4]
    (heads,) = toy.predict(bare(unknown))
    assert reaches_root([-1, *heads])


def test_one_token_hangs_on_the_root(toy, manual):
    assert toy.predict(bare([[token("ran", "VERB", 0)]])) == [[0]]
    assert toy.predict_trees(bare([[token("He", "PRON", 0)]]))[0][0][0] == 0
    assert manual.predict(bare([[token("Xyz", "???", 0)]])) == [[0]]


@pytest.mark.parametrize("decoder", ["eisner", "chu-liu-edmonds"])
def test_three_hundred_tokens_are_learned_from_and_parsed(decoder):
    clause = [("the", "D", 1), ("cat", "N", 1), ("ran", "V", -3)]
    words = [(at, *clause[at % 3]) for at in range(300)]
    long = [token(word, tag, max(at + 1 + to, 0)) for at, word, tag, to in words]
    parser = small(decoder=decoder, bits=18, epochs=6).fit([long, long[:3]] * 3)
    assert parser.score([long]) > 0.98
    (found,) = parser.predict(bare([long]))
    assert reaches_root([-1, *found])


def test_nothing_to_parse_gives_nothing(toy):
    assert toy.predict([]) == []
    assert toy.predict_trees([]) == []
    assert toy.predict([[]]) == [[]]
    assert toy.predict_trees([[], HE_RAN, []]) == [[], [(2, "nsubj"), (0, "root")], []]
    assert toy.evaluate([]) == {"uas": 0, "uas_punctuation": 0, "las": 0}


def test_sentences_without_tokens_do_not_hinder_training():
    parser = small().fit([[], *[HE_RAN] * 20, []])
    assert parser.predict([HE_RAN]) == [[2, 0]]


@pytest.mark.parametrize("decoder", ["eisner", "chu-liu-edmonds"])
def test_several_roots_are_found_where_the_training_sentences_have_them(decoder):
    parser = small(decoder=decoder, epochs=5).fit([TWO_ROOTS] * 10)
    assert parser.single_root_ is False
    assert parser.predict([TWO_ROOTS]) == [[0, 1, 0]]
    one = small(decoder=decoder, single_root=True, epochs=5).fit([TWO_ROOTS] * 10)
    assert one.predict([TWO_ROOTS])[0].count(0) == 1


def test_crossing_arcs_are_learned_by_chu_liu_edmonds():
    crossing = [token(word, word, head) for word, head in zip("abcd", (3, 4, 0, 3), strict=True)]
    assert small(decoder="chu-liu-edmonds", epochs=5).fit([crossing] * 10).score([crossing]) == 1
    assert small(epochs=5).fit([crossing] * 10).score([crossing]) < 1


def test_without_relations_trees_have_none():
    for parser, sentence in (
        (small(relations=False), HE_RAN),
        (small(), [(*one[:6], "_") for one in HE_RAN]),
    ):
        parser.fit([sentence] * 20)
        assert parser.relations_ == ()
        assert parser.predict_trees(bare([HE_RAN])) == [[(2, "_"), (0, "_")]]
        assert set(parser.evaluate([HE_RAN])) == {"uas", "uas_punctuation"}


def test_a_file_a_table_and_lists_teach_the_same(tmp_path):
    path = tmp_path / "some.conllu"
    rows = ["\t".join(map(str, (at, *one, "_", "_"))) for at, one in enumerate(HE_RAN, start=1)]
    path.write_text(("\n".join(rows) + "\n\n") * 20, encoding="utf-8")
    sources = (path, str(path), table_of_trees(path), [HE_RAN] * 20)
    weights = [small().fit(source).model_.weights for source in sources]
    for other in weights[1:]:
        np.testing.assert_array_equal(weights[0], other)


def test_columns_can_be_chosen_and_derived(bosque):
    columns = ["head.upos", "mod.upos", "mod.form.suffix2", "side", "between.upos=VERB"]
    parser = small(
        templates="tree",
        columns=columns,
        derived=[{"make": "suffix", "of": "form", "length": 2}],
        forest={"n_trees": 3},
        between=False,
        bits=16,
    ).fit(sentences_of(bosque[0], 0, 100))
    used = {name for template in parser.templates_ for name, _ in template.places}
    assert used <= set(columns)
    assert "mod.form.suffix2" in used
    assert parser.score(bosque[1]) > 0.6


def test_a_table_of_one_column_can_be_parsed_by():
    heads = np.array([2, 0] * 10, dtype=np.int32)
    table = NominalTable.from_columns(
        {"word": ["He", "ran"] * 10}, sequence_bounds=np.arange(0, 21, 2), heads=heads
    )
    parser = small().fit(table)
    assert parser.predict(NominalTable.from_columns({"word": ["He", "ran"]})) == [[2, 0]]
    assert parser.evaluate(table) == {"uas": 1, "uas_punctuation": 1}


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([], "there are no trees to learn from"),
        ([[]], "there are no trees to learn from"),
        (bare([HE_RAN]), "the trees to learn from have no heads"),
        ([[token("a", "X", 2), token("b", "X", 1)]], "sentence 0: tokens 1, 2 form a cycle"),
        ([HE_RAN, [token("a", "X", 2)]], "sentence 1: head 2 in a sentence of 1 tokens"),
        ([HE_RAN, *bare([HE_RAN])], "a token is (form, lemma, upos, xpos, feats), in trees"),
        ([["He", "ran"]], "a token is (form, lemma, upos, xpos, feats), in trees"),
        (7, "a list of sentences is expected, each a list of tokens"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_one_line(sentences, message):
    for templates in ("manual", "tree"):
        with pytest.raises(InputError) as error:
            small(templates=templates).fit(sentences)
        assert str(error.value).startswith(message)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("heads", [[2, 1], [5, 0], [-1, 0], [1, 0]])
def test_heads_of_a_table_are_checked_before_they_are_learned_from(heads):
    table = replace(table_of_trees([HE_RAN]), heads=np.array(heads, dtype=np.int32))
    with pytest.raises(InputError, match="sentence 0: "):
        small().fit(table)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(ReadError, match=r"nowhere\.conllu: no such file"):
        small().fit("nowhere.conllu")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"templates": "best"},
            "templates is 'best'; it must be 'manual' or 'tree', or a list",
        ),
        (
            {"templates": None},
            "templates is None; it must be 'manual' or 'tree', or a list",
        ),
        (
            {"templates": ["head.form"]},
            "templates is ['head.form']; it must be 'manual' or 'tree'",
        ),
        ({"templates": []}, "there are no templates to parse by: none looks at a head"),
        ({"templates": LISTED[4:]}, "there are no templates to parse by: none looks at a head"),
        ({"templates": [edge_template("form")]}, "'form' is no edge column; those are"),
        ({"templates": [edge_template("head.case")]}, "no column 'case'; there are form, lemma"),
        ({"templates": "tree", "columns": ["head.case"]}, "no column 'case'; there are form"),
        ({"templates": "tree", "columns": "head.form"}, "'h' is no edge column; those are"),
        ({"templates": "tree", "forest": {"leaves": 2}}, "no setting of forest 'leaves'"),
        ({"templates": "tree", "forest": {"table": 2}}, "no setting of forest 'table'"),
        (
            {"templates": "tree", "forest": 60},
            "forest is 60; it must be a dict of settings",
        ),
        ({"epochs": 0}, "epochs is 0; it must be a whole number from 1 to 10,000"),
        ({"epochs": 2.5}, "epochs is 2.5; it must be a whole number from 1 to 10,000"),
        ({"bits": 31}, "bits is 31; it must be a whole number from 8 to 30"),
        ({"bits": None}, "bits is None; it must be a whole number from 8 to 30"),
        ({"prune": 1}, "prune is 1; it must be a number, 0 or more and below 1"),
        ({"prune": -0.1}, "prune is -0.1; it must be a number"),
        ({"prune": "much"}, "prune is 'much'; it must be a number"),
        ({"margin": None}, "margin is None; it must be a number above 0"),
        ({"margin": 0}, "margin is 0; it must be a number above 0"),
        ({"step": float("nan")}, "step is nan; it must be a number above 0"),
        ({"random_state": -1}, "random_state is -1; it must be a whole number from 0 to"),
        ({"random_state": "seed"}, "random_state is 'seed'; it must be a whole number from 0 to"),
        ({"derived": [{"make": "magic"}]}, "no column maker 'magic'"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_one_line(how, message):
    with pytest.raises(InputError) as error:
        small(**how).fit([HE_RAN])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_relations_that_are_wanted_and_not_there_are_missed():
    with pytest.raises(InputError, match="the trees to learn from have no relations"):
        small(relations=True).fit([[(*one[:6], "_") for one in HE_RAN]])


def test_sentences_that_lack_a_column_or_a_tree_are_refused(toy):
    with pytest.raises(InputError, match="no column 'upos'; there are form"):
        toy.predict(NominalTable.from_columns({"form": ["a"]}))
    with pytest.raises(InputError, match="the sentences have no heads"):
        toy.evaluate(bare([HE_RAN]))
    with pytest.raises(InputError, match=r"a token is \(form"):
        toy.predict([["He", "ran"]])


def test_a_parser_that_has_learned_nothing_says_so():
    with pytest.raises(NotFittedError):
        small().predict([HE_RAN])


def test_parameters_are_those_of_scikit_learn(toy):
    how = {"templates": LISTED, "forest": {"n_trees": 2}, "prune": 0, "margin": 2}
    parser = clone(DependencyParser(**how))
    assert {name: parser.get_params()[name] for name in how} == how
    parser.set_params(templates="tree", epochs=1)
    assert (parser.templates, parser.epochs) == ("tree", 1)
    again = pickle.loads(pickle.dumps(toy))
    assert again.predict_trees([HE_RAN]) == toy.predict_trees([HE_RAN])
    fresh = clone(toy)
    assert not hasattr(fresh, "model_")
    assert fresh.fit([HE_RAN] * 20).predict([HE_RAN]) == [[2, 0]]


def test_fitting_again_forgets_what_was_learned_before(toy):
    parser = small().fit([TWO_ROOTS] * 20)
    parser.fit([HE_RAN] * 20)
    np.testing.assert_array_equal(parser.model_.weights, toy.model_.weights)
    assert parser.relations_ == toy.relations_


def test_progress_is_told_pass_by_pass():
    told: list[tuple] = []
    small(epochs=3, progress=lambda *what: told.append(what)).fit([HE_RAN])
    assert [what for what in told if what[0] == "training"] == [
        ("training", done, 3) for done in (1, 2, 3)
    ]


def test_the_manual_set_is_that_of_word_tag_and_coarse_tag(bosque):
    tokens = TokenColumns.of(bosque[0])
    assert tokens == TokenColumns("form", "xpos", "upos")
    templates = manual_templates(tokens)
    assert len({frozenset(template.places) for template in templates}) == len(templates) == 104
    columns = edge_columns(bosque[0])
    assert len(columns) == 14
    assert len(EdgeReader.of(bosque[0], columns).columns) == 14
    # With one column all three are the same, and templates fall together.
    alone = manual_templates(TokenColumns("form", "form", "form"))
    assert len({frozenset(template.places) for template in alone}) == len(alone) < 104


# ── sentences that no treebank has ──


def test_a_sentence_of_thousands_of_tokens_is_parsed_in_stretches_with_a_word(manual, bosque):
    """At once it would take minutes, and gigabytes."""
    joined = replace(
        bosque[1], sequence_bounds=np.array([0, len(bosque[1])]), heads=None, groups=None
    )
    said = r"^a sentence of [\d,]+ tokens \('.+ …'\) is parsed in \d+ stretches of at most 500, "
    with pytest.warns(LongSentence, match=said):
        (heads,) = manual.predict(joined)
    assert heads.count(0) == 1
    with_root = np.array([-1, *heads])
    assert reaches_root(with_root)
    assert is_projective(with_root)
    # Most tokens have the head that they have where sentences are apart.
    starts = np.repeat(bosque[1].sequence_bounds[:-1], np.diff(bosque[1].sequence_bounds))
    apart = np.concatenate(manual.predict(bosque[1]))
    apart = np.where(apart > 0, apart + starts, -1)
    assert np.mean((np.array(heads) == apart)[apart >= 0]) > 0.85


def test_what_is_explained_is_what_is_parsed_in_stretches_too(toy):
    long = [HE_RAN[0], *[HE_RAN[1]] * 24]
    parser = clone(toy).set_params(longest=10).fit([HE_RAN] * 20)
    with pytest.warns(LongSentence, match="3 stretches"):
        (heads,) = parser.predict(bare([long]))
    (explained,) = explain_heads(parser, bare([long]))
    assert [one.head for one in explained] == heads
    assert {0, *range(1, 26)} >= {one.against for one in explained if one.against is not None}


def test_long_sentences_are_not_learned_from_and_that_is_said(toy):
    chain = [token("ran", "VERB", at, "root") for at in range(5_000)]
    said = (
        r"^1 of 21 sentences not learned from, for they have more than 500 tokens \(longest\); "
        r"the first has 5,000 \('ran ran ran ran …'\)$"
    )
    with pytest.warns(UserWarning, match=said):
        parser = small().fit([*[HE_RAN] * 10, chain, *[HE_RAN] * 10])
    np.testing.assert_array_equal(parser.model_.weights, toy.model_.weights)
    with pytest.raises(InputError, match="every sentence to learn from has more than 500 tokens"):
        small().fit([chain])


def test_how_long_is_too_long_can_be_said_and_is_kept(toy, tmp_path):
    chain = [token("x", "X", at, "x") for at in range(520)]
    parser = small(longest=600, epochs=1, relations=False, prune=0).fit([HE_RAN, chain])
    parser.save(tmp_path / "trees.featloom")
    assert DependencyParser.load(tmp_path / "trees.featloom").longest == 600
    with pytest.raises(
        InputError, match="longest is 10000; it must be a whole number from 10 to 5,000"
    ):
        small(longest=10_000).fit([HE_RAN])
