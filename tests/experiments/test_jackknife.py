"""Predicted columns of training data come from taggers that have not seen the sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.jackknife import (
    PredictedColumn,
    chosen_columns,
    default_tagger,
    jackknifed,
    sentence_folds,
    values_of,
    with_column,
)
from experiments.lemmas import SuffixLemmatizer, apply_rule, rule_of
from featloom.data.sentences import table_of_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError
from featloom.learners.tagger import SequenceTagger

NEVER_SEEN = "never seen"


class Memory:
    """Remembers every word it was trained on, and nothing else."""

    def fit(self, sentences, labels):
        words = values_of(sentences, "word")
        self.known = dict(zip(words, (x for given in labels for x in given), strict=True))
        return self

    def predict(self, sentences):
        words, bounds = values_of(sentences, "word"), sentences.sequence_bounds
        answers = [self.known.get(word, NEVER_SEEN) for word in words]
        return [answers[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]


def text(lengths, *, groups=None, same=False):
    """Words that occur once each, or, where all are the ``same``, in every sentence."""
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = ["w" if same else f"w{row}" for row in range(bounds[-1])]
    tags = [f"T{row % 3}" for row in range(bounds[-1])]
    documents = None if groups is None else np.repeat(groups, lengths).tolist()
    return NominalTable.from_columns(
        {"word": words, "tag": tags}, groups=documents, sequence_bounds=bounds
    )


@given(st.lists(st.integers(1, 4), min_size=2, max_size=12), st.integers(2, 5), st.integers(0, 3))
def test_no_sentence_is_tagged_by_a_tagger_that_saw_it(lengths, folds, seed):
    table = text(lengths)
    answers = jackknifed(table, "tag", Memory, folds=min(folds, len(lengths)), seed=seed)
    assert answers == [NEVER_SEEN] * len(table)


def test_every_tagger_learns_from_all_other_folds():
    table = text([1] * 10, same=True)
    assert NEVER_SEEN not in jackknifed(table, "tag", Memory, folds=2)
    seen = []

    class Counts(Memory):
        def fit(self, sentences, labels):
            seen.append(len(labels))
            return super().fit(sentences, labels)

    jackknifed(table, "tag", Counts, folds=5)
    assert seen == [8] * 5


def test_no_document_is_tagged_by_a_tagger_that_saw_part_of_it():
    documents = ["a", "a", "b", "b", "c", "c"]
    twins = text([2] * 6, groups=documents)
    # Both sentences of a document have the same words.
    words = [f"{documents[row // 2]}{row % 2}" for row in range(12)]
    twins = with_column(twins, "word", words)
    assert jackknifed(twins, "tag", Memory, folds=3) == [NEVER_SEEN] * 12
    with pytest.raises(InputError, match="3 groups cannot be dealt into 4 folds"):
        jackknifed(twins, "tag", Memory, folds=4)


def test_documents_are_dealt_whole():
    table = text([1] * 40, groups=[f"d{n // 4}" for n in range(40)])
    fold_of = sentence_folds(table, folds=5, seed=1)
    assert all(len(set(fold_of[d * 4 : d * 4 + 4].tolist())) == 1 for d in range(10))
    assert np.bincount(fold_of).tolist() == [8] * 5


def test_the_seed_settles_the_folds():
    table = text([2] * 30)
    assert np.array_equal(sentence_folds(table, seed=3), sentence_folds(table, seed=3))
    assert not np.array_equal(sentence_folds(table, seed=3), sentence_folds(table, seed=4))


SENTENCES = [
    [("the", "D"), ("cat", "N"), ("saw", "V"), ("a", "D"), ("dog", "N")],
    [("a", "D"), ("saw", "N"), ("cut", "V"), ("it", "P")],
    [("dogs", "N"), ("bark", "V")],
    [("the", "D"), ("bark", "N"), ("of", "I"), ("the", "D"), ("tree", "N"), ("fell", "V")],
] * 5


def chunked():
    table = table_of_sentences(SENTENCES, columns=("form", "xpos"))
    begins = {"D": "B-NP", "V": "B-VP", "P": "B-NP", "I": "B-PP"}
    chunks = []
    for sentence in SENTENCES:
        before = ""
        for _, pos in sentence:
            chunks.append("I-NP" if pos == "N" and before == "D" else begins.get(pos, "B-NP"))
            before = pos
    return with_column(table, "chunk", chunks)


def test_the_answers_do_not_depend_on_when_they_are_asked_for():
    table = chunked()
    make = default_tagger(chosen_columns(table, ("form", "xpos")), n_classes=4, passes=2)
    first = jackknifed(table, "chunk", make)
    assert jackknifed(table, "chunk", make) == first


def test_labels_may_be_given_by_name_or_as_text():
    table = chunked()
    shown = chosen_columns(table, ("form", "xpos"))
    make = default_tagger(shown, n_classes=4, passes=2)
    assert jackknifed(shown, values_of(table, "chunk"), make) == jackknifed(table, "chunk", make)
    with pytest.raises(InputError, match="1 labels for 85 rows"):
        jackknifed(shown, ["B-NP"], make)


def test_a_predicted_column_replaces_the_gold_one_or_stands_beside_it():
    table = chunked()
    gold = values_of(table, "chunk")
    chunk = PredictedColumn("chunk")
    train, dev = chunk.fit_transform(table), chunk.transform(table)
    assert train.columns == dev.columns == ("form", "xpos", "chunk")
    # What holds of four sentences that come five times each is easily learned.
    assert values_of(train, "chunk") == values_of(dev, "chunk") == gold
    chunk = PredictedColumn("chunk", name="guess")
    train, dev = chunk.fit_transform(table), chunk.transform(table)
    assert train.columns == dev.columns == ("form", "xpos", "chunk", "guess")
    assert values_of(train, "chunk") == gold


def test_training_is_jackknifed_and_new_text_is_not():
    table = text([2] * 6)
    predicted = PredictedColumn("tag", of=["word"], make_tagger=Memory, folds=3)
    train = predicted.fit_transform(table)
    assert set(values_of(train, "tag")) == {NEVER_SEEN}
    assert values_of(predicted.transform(table), "tag") == values_of(table, "tag")


def test_new_text_needs_no_gold_column():
    predicted = PredictedColumn("chunk", of=("form", "xpos"))
    predicted.fit_transform(chunked())
    new = table_of_sentences([[("the", "D"), ("cow", "N")]], columns=("form", "xpos"))
    assert values_of(predicted.transform(new), "chunk") == ["B-NP", "I-NP"]


def test_trees_and_documents_stay_where_they_are():
    table = text([1, 1, 1], groups=["a", "b", "c"])
    table = replace(table, heads=np.zeros(3, dtype=np.int32))
    tag = PredictedColumn("tag", of=["word"], make_tagger=Memory, folds=3)
    found = tag.fit_transform(table)
    assert found.heads.tolist() == [0, 0, 0]
    assert found.group_names == ("a", "b", "c")
    assert found.sequence_bounds.tolist() == [0, 1, 2, 3]


def test_faults_are_told():
    table = text([1, 1])
    with pytest.raises(InputError, match="2 sentences cannot be dealt into 5 folds"):
        jackknifed(table, "tag", Memory)
    with pytest.raises(InputError, match="no column 'chunk'; there are word, tag"):
        jackknifed(table, "chunk", Memory)
    with pytest.raises(InputError, match="column 'tag' cannot be predicted from itself"):
        PredictedColumn("tag", of=("word", "tag"))
    with pytest.raises(InputError, match="column 'tag' must be learned from training data first"):
        PredictedColumn("tag", of=("word",)).transform(table)
    missing = with_column(table, "tag", ["A", None])
    with pytest.raises(InputError, match="row 1 has no value of 'tag'"):
        jackknifed(missing, "tag", Memory, folds=2)


def test_few_classes_get_a_crf_and_many_a_model_without_pairs():
    table = table_of_sentences(SENTENCES, columns=("form", "xpos"))
    assert default_tagger(table, n_classes=10)().model == "crf"
    assert default_tagger(table, n_classes=400)().model == "maxent"
    lone = table_of_sentences([["a"], ["b"]], [["A"], ["B"]], columns=("form",))
    assert isinstance(default_tagger(lone, n_classes=2)().fit(lone), SequenceTagger)


def test_known_words_have_their_commonest_lemma():
    sentences = [[("saw", "V"), ("saw", "V"), ("saw", "V"), ("saw", "N")]]
    lemmatizer = SuffixLemmatizer().fit(sentences, [["see", "see", "saw", "saw"]])
    assert lemmatizer.predict([[("Saw", "V"), ("saw", "N")]]) == [["see", "saw"]]


def test_new_words_follow_the_longest_ending():
    words = {"falaram": "falar", "andaram": "andar", "comeram": "comer", "fizeram": "fazer"}
    lemmatizer = SuffixLemmatizer().fit([[(w, "V") for w in words]], [list(words.values())])
    assert lemmatizer.predict([[("cantaram", "V"), ("beberam", "V")]]) == [["cantar", "beber"]]


def test_names_keep_their_capital_and_first_words_do_not():
    words = [("Lisboa", "NAME"), ("Porto", "NAME"), ("Casas", "N"), ("Ruas", "N"), ("mesas", "N")]
    lemmas = ["Lisboa", "Porto", "casa", "rua", "mesa"]
    lemmatizer = SuffixLemmatizer().fit([words], [lemmas])
    new = [("Faro", "NAME"), ("Portas", "N"), ("cartas", "N"), ("x", "NEW")]
    assert lemmatizer.predict([new]) == [["Faro", "porta", "carta", "x"]]


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_rule_makes_the_lemma_it_was_read_off(word, lemma):
    assert apply_rule(word, rule_of(word, lemma)) == lemma


def test_lemmas_can_be_jackknifed_too():
    table = with_column(
        table_of_sentences([[("casas", "N")], [("ruas", "N")], [("mesas", "N")]]),
        "lemma",
        ["casa", "rua", "mesa"],
    )
    assert jackknifed(table, "lemma", SuffixLemmatizer, folds=3) == ["casa", "rua", "mesa"]
    with pytest.raises(InputError, match="sentences have columns 0, not 0, 1"):
        SuffixLemmatizer().fit(
            chosen_columns(table, ("0", "1")), [["casa"], ["rua"], ["mesa"]]
        ).predict(chosen_columns(table, ("0",)))


def test_lemmas_of_portuguese(data_folder):
    train = load("bosque", "valid")
    test = load("bosque", "test")
    lemma = PredictedColumn("lemma", make_tagger=SuffixLemmatizer, folds=2)
    lemma.fit_transform(train)
    gold, answers = values_of(test, "lemma"), values_of(lemma.transform(test), "lemma")
    assert np.mean([a == b for a, b in zip(gold, answers, strict=True)]) > 0.92
