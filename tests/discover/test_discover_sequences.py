"""Questions about the labels of tokens: how answers are judged, who answers, and what is warned of.

The clauses here are small enough that all contenders learn from them in a moment.
"""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace

import numpy as np
import pytest

from featloom.data.readers import read_conll
from featloom.data.sentences import gold_labels, seen_alone, table_of_sentences, take_sentences
from featloom.data.table import NominalTable
from featloom.discover import discover
from featloom.discover.discovery import Watch
from featloom.discover.sequences import SentenceQuestion
from featloom.errors import InputError
from featloom.evaluation.chunks import chunk_f1, label_codes
from featloom.evaluation.folds import make_folds
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger
from featloom.learners.template_sets import usual_set
from featloom.methods.template_search.contenders import n_searched

NOUNS = ("cat", "dog", "fish", "bird", "mouse", "whale")


def phrase(draw: random.Random) -> list[tuple[str, str, str]]:
    words = [(draw.choice(("the", "a")), "DT")] * draw.randrange(2)
    words += [(draw.choice(("old", "red", "sad")), "JJ")] * draw.randrange(2)
    words += [(draw.choice(NOUNS), "NN")]
    return [(word, tag, "I-NP" if j else "B-NP") for j, (word, tag) in enumerate(words)]


def clauses(n: int, seed: int = 3, documents: int | None = None) -> NominalTable:
    """Clauses: the old cat saw fish .  A noun begins a chunk or goes on with one."""
    draw = random.Random(seed)
    tokens = [
        [*phrase(draw), (draw.choice(("saw", "bit")), "VB", "B-VP"), *phrase(draw), (".", ".", "O")]
        for _ in range(n)
    ]
    table = table_of_sentences(
        [[token[:2] for token in sentence] for sentence in tokens],
        [[token[2] for token in sentence] for sentence in tokens],
        columns=["word", "tag"],
    )
    if documents is None:
        return table
    lengths = np.diff(table.sequence_bounds)
    groups = np.repeat(np.arange(n, dtype=np.int32) % documents, lengths)
    return replace(table, groups=groups, group_names=tuple(f"d{j}" for j in range(documents)))


@pytest.fixture(scope="module")
def question() -> SentenceQuestion:
    return SentenceQuestion(clauses(120))


@pytest.fixture(scope="module")
def parts() -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(120)
    return np.sort(order[:80]), np.sort(order[80:])


def contender(question: SentenceQuestion, name: str):
    return next(one for one in question.contenders() if one.name == name)


def fitted_by_default(one, data, seed=0, threads=1):
    """Fitted with the default setting, but for the time that searches have.

    Among thousands of templates one is enough here, among those of trees all the time it takes.
    """
    setting = one.default
    if one.searches:
        setting["seconds"] = 0.01 if one.name == "template search" else 900.0
    return one.fit(data, setting, seed, threads)


NAMES = [one.name for one in SentenceQuestion(clauses(20)).contenders()]
# Thousands of candidates take their time; the same search thins the templates of trees.
QUICK = [name for name in NAMES if name != "template search"]


def test_chance_comes_first_and_the_first_baseline_is_a_crf(question):
    contenders = question.contenders()
    assert {one.role for one in contenders} == {"chance", "baseline", "method", "yardstick"}
    assert contenders[0].role == "chance"
    baselines = [one.name for one in contenders if one.role == "baseline"]
    assert baselines[0] == "CRF, default templates"


def test_labels_that_spell_chunks_are_judged_by_chunks_and_others_by_tokens():
    tags = table_of_sentences([["the", "cat"], ["a", "dog"]], [["DT", "NN"]] * 2)
    assert SentenceQuestion(tags).metric == "token accuracy"
    assert SentenceQuestion(clauses(3)).metric == "chunk F1"


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_codes_of_the_tokens_that_were_asked_for(name, question, parts):
    learn, test = parts
    fitted = fitted_by_default(contender(question, name), question.take(learn))
    answers = fitted.answers(question.take(test))
    assert answers.dtype == np.int32
    assert len(answers) == len(question.take(test))
    reversed_units = test[::-1]
    again = fitted.answers(question.take(reversed_units))
    bounds = question.take(test).sequence_bounds
    by_sentence = np.split(answers, bounds[1:-1])[::-1]
    np.testing.assert_array_equal(again, np.concatenate(by_sentence))
    assert fitted.size > 0
    assert isinstance(fitted.size_words, str)
    assert isinstance(fitted.setting, str)


@pytest.mark.parametrize("name", QUICK)
def test_what_is_held_out_changes_nothing_in_what_is_learned(name, question, parts):
    learn, test = parts
    fitted = fitted_by_default(contender(question, name), question.take(learn))
    answers = fitted.answers(question.take(test))
    # The others have other labels; then they are not there at all.
    table = question.table
    held_out = np.isin(np.repeat(np.arange(len(question)), np.diff(question.bounds)), test)
    labels = table.labels.copy()
    labels[held_out] = labels[held_out][::-1]
    other = SentenceQuestion(replace(table, labels=labels))
    refitted = fitted_by_default(contender(other, name), other.take(learn))
    np.testing.assert_array_equal(refitted.answers(other.take(test)), answers)
    alone = seen_alone(take_sentences(table, learn))
    strangers = fitted_by_default(contender(question, name), alone)
    named = np.array(alone.classes)[strangers.answers(question.take(test))]
    np.testing.assert_array_equal(named, np.array(question.classes)[answers])


@pytest.mark.parametrize("name", QUICK)
def test_a_seed_settles_the_answers_and_threads_do_not_change_them(name, question, parts):
    learn, test = parts
    one = fitted_by_default(contender(question, name), question.take(learn), 5, 1)
    other = fitted_by_default(contender(question, name), question.take(learn), 5, 3)
    asked = question.take(test)
    np.testing.assert_array_equal(one.answers(asked), other.answers(asked))
    assert (one.setting, one.size) == (other.setting, other.size)


def test_counts_give_the_score_that_a_tagger_has_by_itself(question, parts):
    learn, test = parts
    crf = contender(question, "CRF, default templates")
    fitted = fitted_by_default(crf, question.take(learn[:10]))
    asked = question.take(test)
    answers = fitted.answers(asked)
    counts = question.counts(test, answers)
    assert len(counts) == len(test)
    gold, given = gold_labels(asked), fitted.model.predict(asked)
    assert question.of_counts(counts.sum(axis=0)) == chunk_f1(*label_codes(gold, given))
    by_tokens = question.chance_counts(test, answers).sum(axis=0)
    assert question.of_chance_counts(by_tokens) == fitted.model.score(asked)
    judged = question.judge(test, asked, fitted)
    assert judged.score == question.of_counts(counts.sum(axis=0))
    np.testing.assert_array_equal(question.answers_of(judged.rows), answers)


@pytest.mark.parametrize(
    ("name", "model"),
    [("CRF, default templates", "crf"), ("maximum entropy, default templates", "maxent")],
)
def test_the_default_is_the_tagger_that_is_fitted_without_settings(name, model, question, parts):
    learn, test = parts
    taken, asked = question.take(learn), question.take(test)
    fitted = fitted_by_default(contender(question, name), taken)
    plain = SequenceTagger(model=model).fit(words_of(taken), gold_labels(taken))
    assert fitted.model.predict(asked) == plain.predict(words_of(asked))
    np.testing.assert_array_equal(fitted.model.model_.weights, plain.model_.weights)
    settings = ("c2", "rate", "passes", "batch", "cutoff")
    assert [getattr(fitted.model, key) for key in settings] == [
        getattr(plain, key) for key in settings
    ]


def words_of(table: NominalTable) -> list[list[tuple[str, ...]]]:
    tokens = [tuple(table.value(name, row) for name in table.columns) for row in range(len(table))]
    bounds = table.sequence_bounds.tolist()
    return [tokens[begin:end] for begin, end in itertools.pairwise(bounds)]


@pytest.mark.parametrize("name", ["CRF, default templates", "templates from trees"])
def test_settings_that_share_templates_are_fitted_as_if_each_were_alone(name, question, parts):
    learn, test = parts
    one = contender(question, name)
    settings = [
        one.default,
        *(setting for axis in one.axes for setting in one.varied(one.default, axis)),
    ]
    assert len(settings) == 6
    asked = question.take(test)
    together = list(one.fit_each(question.take(learn), settings, 0, 1))
    assert len({fitted.setting for fitted in together}) == len(settings)
    for setting, fitted in zip(settings, together, strict=True):
        alone = one.fit(question.take(learn), setting, 0, 1)
        assert alone.setting == fitted.setting
        np.testing.assert_array_equal(alone.model.model_.weights, fitted.model.model_.weights)
        np.testing.assert_array_equal(alone.answers(asked), fitted.answers(asked))


@pytest.mark.parametrize("name", [name for name in NAMES if "search" in name])
def test_what_a_search_found_is_fitted_again_without_a_search(name, question, parts):
    learn, test = parts
    one = contender(question, name)
    assert one.searches
    fitted = fitted_by_default(one, question.take(learn))
    kept = json.loads(json.dumps(fitted.found))
    again = one.fit(question.take(learn), kept, 0, 1)
    assert again.found == fitted.found
    assert again.setting == fitted.setting
    assert again.findings() == fitted.findings()
    asked = question.take(test)
    np.testing.assert_array_equal(again.answers(asked), fitted.answers(asked))
    # The templates stand, whatever the sentences and the penalty.
    other = one.fit(question.take(learn[::2]), kept | {"c2": 0.1, "seconds": 1.0}, 0, 1)
    assert other.model.templates_ == fitted.model.templates_
    assert other.model.c2 == 0.1


def test_a_search_looks_at_as_many_sentences_as_it_has_time_for():
    table = clauses(3000)
    sizes = [n_searched(table, seconds) for seconds in (0.01, 1.0, 5.0, 1e6)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (200, 3000)
    assert n_searched(table, 2.0) < sizes[2] < 3000
    assert n_searched(clauses(90), 0.01) == 90


def test_spelling_that_is_there_already_is_no_setting(question):
    crf = contender(question, "CRF, default templates")
    assert crf.axes["templates"] == ("columns", "columns and spelling")
    spelling = usual_set(clauses(20), {"templates": "columns and spelling"}, 0, 1)
    table = spelling.plan.derive(clauses(20))
    spelled = contender(SentenceQuestion(table), "CRF, default templates")
    assert spelled.axes["templates"] == ("columns",)


def test_sentences_of_a_document_are_counted_and_held_out_together():
    question = SentenceQuestion(clauses(60, documents=12))
    units = np.arange(60)
    counts = question.counts(units, question.labels)
    assert counts.shape == (12, 3)
    np.testing.assert_array_equal(counts[:, 1:], 0)
    folds = make_folds(question.strata, n_folds=4, groups=question.groups, allow_rare=True)
    assert len(np.unique(folds)) == 4
    errors = question.errors(units, question.labels)
    assert len(errors["by_group"]) == 12
    assert all(one["rows"] == one["right"] for one in errors["by_class"] + errors["by_group"])
    assert sum(one["rows"] for one in errors["by_class"]) == len(question.table)


def test_one_document_is_none():
    assert SentenceQuestion(clauses(10, documents=1)).groups is None


def test_vocabularies_hold_what_the_sentences_hold():
    table = clauses(30)
    some = take_sentences(table, np.array([7, 2]))
    seen = seen_alone(some)
    for j, values in enumerate(seen.vocabularies):
        assert set(seen.codes[:, j]) == set(range(1, len(values) + 1))
    for row in range(len(some)):
        assert seen.value("word", row) == some.value("word", row)
    assert gold_labels(seen) == gold_labels(some)


@pytest.mark.parametrize("name", ["CRF, default templates", "templates from trees"])
def test_a_saved_tagger_tags_alike_and_its_templates_are_those_of_the_file(
    name, question, parts, tmp_path
):
    learn, test = parts
    fitted = fitted_by_default(contender(question, name), question.take(learn))
    assert fitted.save(tmp_path) == ["model.featloom", "templates.txt"]
    asked = question.take(test)
    loaded = SequenceTagger.load(tmp_path / "model.featloom")
    assert loaded.predict(asked) == fitted.model.predict(asked)
    lines = [line for line in read_templates(tmp_path / "templates.txt") if line.kind]
    assert len(lines) == len(fitted.model.templates_)
    (found,) = fitted.findings()
    assert sum(row[1] for row in found.rows) == fitted.size


def test_a_memory_is_measured_and_not_chosen(question, parts, tmp_path):
    one = contender(question, "memory on windows")
    fitted = fitted_by_default(one, question.take(parts[0]))
    assert one.role == "yardstick"
    assert fitted.save(tmp_path) == []
    assert fitted.findings()[0].rows


def test_chance_answers_with_the_commonest_label(question, parts):
    chance = contender(question, "most frequent label")
    fitted = fitted_by_default(chance, question.take(parts[0]))
    assert fitted.model == "I-NP"
    assert set(fitted.answers(question.take(parts[1]))) == {question.classes.index("I-NP")}


def test_every_method_of_the_program_takes_part_or_is_said_not_to(question):
    assert set(question.left_out()) == {
        "induction", "memory search", "transfer of feature relevance",
    }  # fmt: skip
    assert all(why for why in question.left_out().values())


def test_the_data_part_tells_sizes():
    part = SentenceQuestion(clauses(20, documents=4)).data_part()
    assert (part["sentences"], part["groups"], part["features"]) == (20, 4, 2)
    assert sum(part["classes"].values()) == part["rows"]
    assert [family["name"] for family in part["families"]] == ["word", "tag"]


def warned(table: NominalTable) -> str:
    n = len(table.sequence_bounds) - 1
    return "\n".join(SentenceQuestion(table).warnings(np.arange(n // 2), np.arange(n // 2, n)))


def test_sentences_on_both_sides_of_the_split_are_told_of():
    said = warned(take_sentences(clauses(40), np.tile(np.arange(20), 2)))
    assert "20 of 20 test sentences (100 %) are also among those learned from" in said
    assert "of 40 sentences repeat another one word for word" in said


def test_a_column_that_tells_the_label_alone_is_told_of():
    table = clauses(40)
    leak = replace(
        table,
        columns=(*table.columns, "answer"),
        codes=np.asfortranarray(np.column_stack([table.codes, table.labels + 1])),
        vocabularies=(*table.vocabularies, tuple(f"x{name}" for name in table.classes)),
    )
    assert "column 'answer' alone tells the label of 100.0 % of the test tokens" in warned(leak)
    assert "alone" not in warned(table)


def test_labels_of_one_document_and_labels_never_learned_are_told_of():
    table = clauses(40, documents=8)
    labels = table.labels.copy()
    labels[-1] = len(table.classes)
    odd = replace(table, labels=labels, classes=(*table.classes, "B-XP"))
    said = warned(odd)
    assert "label 'B-XP' is found in one document only" in said
    assert "1 test token has a label that is not among those learned from ('B-XP')" in said


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (NominalTable.from_columns({"word": ["a"]}, labels=["A"]), "the data have no sentences"),
        (table_of_sentences([["a", "b"]]), "there are no labels"),
        (table_of_sentences([["a", "b"]], [["A", "A"]]), "all tokens have the label 'A'"),
    ],
)
def test_what_cannot_be_asked_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        SentenceQuestion(table)


def test_a_token_without_a_label_is_refused():
    table = clauses(3)
    labels = table.labels.copy()
    labels[4] = -1
    with pytest.raises(InputError, match="row 4 has no label"):
        SentenceQuestion(replace(table, labels=labels))


def test_sentences_of_one_token_can_be_tagged():
    table = table_of_sentences([["a"], ["b"], ["c"]] * 10, [["A"], ["B"], ["A"]] * 10)
    question = SentenceQuestion(table)
    for name in ("CRF, default templates", "templates from trees", "memory on windows"):
        fitted = fitted_by_default(contender(question, name), question.take(np.arange(24)))
        assert fitted.answers(question.take(np.arange(24, 30))).tolist() == [0, 1, 0, 0, 1, 0]


def test_a_comparison_of_taggers_ends_in_a_model_and_goes_on_from_its_folder(tmp_path):
    table = clauses(60)
    how = {"only": ["CRF, default templates"], "budget": None, "n_jobs": 1, "folder": tmp_path}
    found = discover(table, test=clauses(20, seed=9), **how)
    assert found.chosen == "CRF, default templates"
    assert len(found.test_rows) == 20
    assert found.save(tmp_path) == ["model.featloom", "templates.txt"]
    assert found.pipeline().predict(clauses(2, seed=7))
    assert found.result["data"]["taken_for"].startswith("sentences: 80 of ")
    tried = []
    again = discover(
        table, test=clauses(20, seed=9), watch=Watch(on_trial=tried.append), **how
    )  # fmt: skip
    assert again.leaderboard == found.leaderboard  # times too: they are those of the journal
    assert len(tried) == found.result["evaluations"]
    with pytest.raises(InputError, match="other data"):
        discover(clauses(61), test=clauses(20, seed=9), **how)


def test_on_real_chunks_every_tagger_is_far_above_chance_and_trees_help_a_crf(data_folder):
    table = read_conll(data_folder / "conll2000" / "train.txt.xz")
    order = np.random.default_rng(0).permutation(len(table.sequence_bounds) - 1)
    question = SentenceQuestion(take_sentences(table, order[:900]))
    learn, test = np.arange(600), np.arange(600, 900)
    right, f1 = {}, {}
    for one in question.contenders():
        if "search" in one.name:
            continue
        answers = fitted_by_default(one, question.take(learn)).answers(question.take(test))
        f1[one.name] = question.of_counts(question.counts(test, answers).sum(axis=0))
        by_tokens = question.chance_counts(test, answers).sum(axis=0)
        right[one.name] = question.of_chance_counts(by_tokens)
    chance = right.pop("most frequent label")
    assert chance < 0.4
    assert all(share > 0.88 for share in right.values())
    assert f1["CRF, default templates"] > f1["maximum entropy, default templates"]
    assert f1["templates from trees"] > f1["CRF, default templates"]


def test_a_search_that_is_given_trials_looks_at_all_sentences_for_as_long_as_it_takes():
    searches = ["template search", "templates from trees, thinned by search"]
    told: list = []
    found = [
        discover(
            clauses(60), only=searches, trials=2, n_jobs=jobs, watch=Watch(on_trial=told.append)
        )
        for jobs in (1, 2)
    ]
    settings = {str(one.candidate["settings"]) for one in told if one.candidate["fold"] == 0}
    assert {one.candidate.get("limit") for one in told} == {None}
    assert settings == {"[{}]", "[{'seconds': None, 'cutoff': 2, 'c2': 1.0, 'trials': 2}]"}
    rows = [
        [(row["name"], row["folds"], row["test"], row["setting"]) for row in one.leaderboard[:3]]
        for one in found
    ]
    assert rows[0] == rows[1]
    said = [setting for name, _, _, setting in rows[0] if name in searches]
    assert [setting.endswith(" on 32 sentences") for setting in said] == [True, True], "of a fold"
