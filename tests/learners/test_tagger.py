"""Taggers: templates in, labels out; a warm start, an early stop, files, and faults in the data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from featloom.data.readers import read
from featloom.data.sentences import table_of_sentences
from featloom.errors import InputError, ReadError
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import read_templates, template_line
from featloom.formats.models import load_model, save_model
from featloom.learners.sequence_model import KINDS, SequenceData, SequenceModel
from featloom.learners.tagger import SequenceTagger, default_templates

WORDS = {
    "DT": ["the", "a", "this"],
    "NN": ["cat", "dog", "house", "tree"],
    "VB": ["saw", "is", "likes"],
    "IN": ["at", "in"],
}
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,1]/%x[0,1]", "U2:%x[1,0]", "B"]
PAIRS = [*TEMPLATES[:-1], "B", "B1:%x[0,1]", "B2:%x[-1,1]/%x[0,1]"]


def corpus(n=40, seed=0):
    """Noun phrases and what stands between them; a noun may begin a phrase or go on with one."""
    random = np.random.default_rng(seed)
    sentences, labels = [], []
    for _ in range(n):
        tags = random.choice(list(WORDS), random.integers(3, 12), p=[0.3, 0.4, 0.2, 0.1]).tolist()
        sentences.append([(str(random.choice(WORDS[tag])), tag) for tag in tags])
        chunks = []
        for i, tag in enumerate(tags):
            inside = i > 0 and tags[i - 1] in ("DT", "NN") and tag == "NN"
            chunks.append("I-NP" if inside else "B-NP" if tag in ("DT", "NN") else "O")
        labels.append(chunks)
    return sentences, labels


SENTENCES, LABELS = corpus()
OTHERS, LABELS_OF_OTHERS = corpus(30, seed=1)


def fitted(**settings):
    settings = {"templates": TEMPLATES, "passes": 4, "batch": 4} | settings
    return SequenceTagger(**settings).fit(SENTENCES, LABELS)


def weights_by_name(tagger):
    return {
        tagger._expansion.name(f): tagger.model_.weights[f].tolist()
        for f in range(tagger.n_features_)
    }


@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS])
def test_a_tagger_that_is_retrained_is_the_one_that_is_fitted_anew(templates):
    tagger = fitted(templates=templates)
    other = {"c2": 0.1, "rate": 0.03, "model": "memm", "candidates": 0.9}
    again, anew = tagger.retrained(**other), fitted(templates=templates, **other)
    np.testing.assert_array_equal(again.model_.weights, anew.model_.weights)
    np.testing.assert_array_equal(again.model_.pair_weights, anew.model_.pair_weights)
    assert again.predict(OTHERS) == anew.predict(OTHERS)
    assert again.get_params() == anew.get_params()
    # The first one is as it was.
    assert tagger.predict(OTHERS) == fitted(templates=templates).predict(OTHERS)


def test_what_features_depend_on_cannot_be_set_anew(tmp_path):
    tagger = fitted()
    with pytest.raises(InputError, match="cutoff cannot be set anew without new features"):
        tagger.retrained(cutoff=2)
    tagger.save(tmp_path / "tags.featloom")
    with pytest.raises(InputError, match="a tagger that was loaded has no sentences"):
        SequenceTagger.load(tmp_path / "tags.featloom").retrained(c2=0.1)


# What is learned ------------------------------------------------------------------------------


@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS, None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tagger_learns_what_its_templates_show(kind, templates):
    tagger = fitted(model=kind, templates=templates, passes=10)
    unseen, labels = corpus(30, seed=7)
    assert tagger.score(unseen, labels) > 0.98
    for given, shares in zip(unseen, tagger.predict_proba(unseen), strict=True):
        assert shares.shape == (len(given), 3)
        assert shares.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_threads_change_neither_labels_nor_weights():
    for templates in (TEMPLATES, PAIRS):
        alone = fitted(templates=templates, candidates=0.9)
        for threads in (2, 4):
            together = fitted(templates=templates, candidates=0.9, n_jobs=threads)
            assert np.array_equal(alone.model_.weights, together.model_.weights)
            assert np.array_equal(alone.model_.pair_weights, together.model_.pair_weights)
            assert alone.predict(OTHERS) == together.predict(OTHERS)


def test_the_best_sequence_of_nbest_is_the_one_that_is_predicted():
    for kind in KINDS:
        tagger = fitted(model=kind)
        found = tagger.predict_nbest(OTHERS, n=3)
        assert [best[0][1] for best in found] == tagger.predict(OTHERS)
        assert all(a[0] >= b[0] for best in found for a, b in pairwise(best))
    with pytest.raises(InputError, match="n is 0; it must be a whole number, 1 or more"):
        tagger.predict_nbest(OTHERS, n=0)


def test_a_rare_feature_is_left_out_by_the_cutoff():
    counted = {name for name in weights_by_name(fitted(cutoff=3)) if name.startswith("0=")}
    words = [word for sentence in SENTENCES for word, _ in sentence]
    assert counted == {f"0={word}" for word in set(words) if words.count(word) >= 3}


def test_candidates_of_all_probability_change_nothing():
    for kind in KINDS:
        assert fitted(model=kind, candidates=1.0).predict(OTHERS) == (
            fitted(model=kind).predict(OTHERS)
        )


def test_the_one_likeliest_candidate_is_the_label_of_maximum_entropy():
    assert fitted(candidates=0.0).predict(OTHERS) == fitted(model="maxent").predict(OTHERS)


# Warm starts and early stops ------------------------------------------------------------------


@pytest.mark.parametrize("first", ["maxent", "memm", "crf"])
@pytest.mark.parametrize("more", [[], ["U9:%x[-3,0]"], ["U9:%x[2,1]/%x[3,1]", "B1:%x[0,1]"]])
def test_a_warm_start_takes_over_the_weights_of_shared_templates(first, more):
    start = fitted(model=first, templates=["B1:%x[0,1]", *TEMPLATES])
    tagger = SequenceTagger(templates=[*more, *TEMPLATES[1:]], passes=1, rate=1e-12)
    tagger.fit(SENTENCES, LABELS, start=start)
    known, taken = weights_by_name(start), weights_by_name(tagger)
    for name, weights in taken.items():
        new = "[-3]" in name or "[+3]" in name
        assert weights == pytest.approx([0] * 8 if new else known[name], abs=1e-6), name
    pairs = tagger.model_.pair_weights
    if first == "maxent":
        assert np.abs(pairs).max() < 1e-6
    else:
        assert pairs[0] == pytest.approx(start.model_.pair_weights[0], abs=1e-6)
        assert start.model_.pair_weights.any()
        if len(pairs) > 1:
            assert pairs == pytest.approx(start.model_.pair_weights, abs=1e-6)


def test_a_warm_start_may_add_derived_columns():
    start = fitted()
    suffix = {"make": "suffix", "of": "0", "length": 1}
    plan = FeaturePlan((), (suffix,), (*start.templates_, Template((("0.suffix1", 0),))))
    tagger = SequenceTagger(plan=plan, passes=1, rate=1e-12)
    taken = weights_by_name(tagger.fit(SENTENCES, LABELS, start=start))
    for name, weights in weights_by_name(start).items():
        assert taken[name] == pytest.approx(weights, abs=1e-6)


def test_a_tagger_of_other_sentences_is_no_start():
    with pytest.raises(InputError, match="the tagger to start from was fitted on other sentences"):
        SequenceTagger(templates=TEMPLATES).fit(OTHERS[:3], LABELS_OF_OTHERS[:3], start=fitted())


def test_an_early_stop_keeps_the_weights_of_the_pass_that_finds_held_out_labels_likeliest():
    noisy = [[label if i % 4 else "O" for i, label in enumerate(given)] for given in LABELS]
    how = {"templates": TEMPLATES, "passes": 12, "batch": 4, "rate": 0.5, "c2": 0.01}
    every = SequenceTagger(**how).fit(SENTENCES, noisy)
    held_out, _ = every._read(OTHERS, LABELS_OF_OTHERS)
    data = SequenceData.of(
        every._table.bounds, every._expansion.features, every._table.labels,
        every._pair_expansion.features,
    )  # fmt: skip
    passes, model = [], SequenceModel.zeros("crf", len(every.classes_), every.n_features_)

    def on_pass(n, loss):
        passes.append((model.loss(held_out), model.copy()))

    model.train(data, every._training(), on_pass=on_pass)
    for patience in (1, 3, None):
        tagger = SequenceTagger(**how, patience=patience)
        tagger.fit(SENTENCES, noisy, OTHERS, LABELS_OF_OTHERS)
        done = len(tagger.model_.losses)
        best = int(np.argmin([loss for loss, _ in passes[:done]]))
        assert done == 12 if patience is None else done in (best + 1 + patience, 12)
        assert np.array_equal(tagger.model_.weights, passes[best][1].weights)


def test_a_rate_at_which_no_pass_lowers_the_objective_is_told():
    with pytest.warns(
        ConvergenceWarning, match="no pass lowered the objective: 1e\\+30 is too high"
    ):
        fitted(rate=1e30, c2=0)


def test_a_tagger_that_was_saved_when_weights_were_averaged_still_opens(tmp_path):
    tagger = fitted()
    path = tmp_path / "tags.featloom"
    parameters = tagger.get_params(deep=False)
    tagger.get_params = lambda deep=True: parameters | {"average": 5}
    tagger.save(path)
    assert SequenceTagger.load(path).predict(OTHERS) == tagger.predict(OTHERS)


def test_a_label_that_training_never_saw_counts_as_wrong():
    strange = [["B-XX", *given[1:]] for given in LABELS_OF_OTHERS]
    tagger = SequenceTagger(templates=TEMPLATES, passes=6, patience=2)
    tagger.fit(SENTENCES, LABELS, OTHERS, strange)
    wrong = len(OTHERS) / sum(map(len, OTHERS))
    assert tagger.score(OTHERS, strange) <= 1 - wrong
    assert "B-XX" not in tagger.classes_


# Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS, None, ["B"]])
@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_tagger_answers_as_the_one_saved(tmp_path, kind, templates):
    for candidates in (None, 0.8):
        tagger = fitted(model=kind, templates=templates, candidates=candidates, cutoff=2)
        tagger.save(tmp_path / "tagger")
        loaded = SequenceTagger.load(tmp_path / "tagger")
        strange = [*OTHERS, [], [("never", "seen"), ("cat", "NN")]]
        assert loaded.predict(strange) == tagger.predict(strange)
        for mine, its in zip(
            loaded.predict_proba(strange), tagger.predict_proba(strange), strict=True
        ):
            assert np.array_equal(mine, its)
        assert loaded.predict_nbest(strange, 4) == tagger.predict_nbest(strange, 4)
        assert loaded.templates_ == tagger.templates_
        assert loaded.passes == tagger.passes


def test_a_file_of_keys_in_two_parts_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("featloom.features.expansion.MOST_KEYS", 30)
    tagger = fitted(templates=["U0:%x[0,0]/%x[-1,0]/%x[1,1]", "B1:%x[0,0]/%x[-1,0]", "B"])
    assert len(tagger._expansion.parts[0]) > 1
    tagger.save(tmp_path / "tagger")
    loaded = SequenceTagger.load(tmp_path / "tagger")
    assert loaded.predict(OTHERS) == tagger.predict(OTHERS)
    assert weights_by_name(loaded) == weights_by_name(tagger)


def test_a_loaded_tagger_derives_its_columns_itself(tmp_path):
    plan = FeaturePlan(
        (),
        ({"make": "suffix", "of": "0", "length": 2}, {"make": "shape", "of": "0"}),
        (Template((("0.suffix2", 0), ("1", -1))), Template((("0.shape", 0),))),
    )
    tagger = fitted(templates=None, plan=plan)
    tagger.save(tmp_path / "tagger")
    loaded = SequenceTagger.load(tmp_path / "tagger")
    assert loaded._table.columns == ("1", "0.suffix2", "0.shape")
    assert loaded.predict(OTHERS) == tagger.predict(OTHERS)
    assert loaded.fit(SENTENCES, LABELS).predict(OTHERS) == tagger.predict(OTHERS)


def test_features_without_weight_are_left_out_of_the_file(tmp_path):
    tagger = fitted(templates=PAIRS)
    tagger.model_.weights[::2] = 0
    tagger.save(tmp_path / "all")
    assert SequenceTagger.load(tmp_path / "all").n_features_ == tagger.n_features_ // 2
    assert SequenceTagger.load(tmp_path / "all").predict(OTHERS) == tagger.predict(OTHERS)
    largest = np.abs(tagger.model_.weights).max(axis=1)
    tagger.save(tmp_path / "some", threshold=0.2)
    some = SequenceTagger.load(tmp_path / "some")
    assert some.n_features_ == (largest > 0.2).sum() < tagger.n_features_ // 2
    known = weights_by_name(tagger)
    assert all(known[name] == weights for name, weights in weights_by_name(some).items())
    tagger.save(tmp_path / "none", threshold=1e6)
    assert SequenceTagger.load(tmp_path / "none").n_features_ == 0
    assert len(SequenceTagger.load(tmp_path / "none").predict(OTHERS)) == len(OTHERS)
    with pytest.raises(InputError, match="threshold is -1; it must not be below 0"):
        tagger.save(tmp_path / "none", threshold=-1)


def test_a_loaded_tagger_is_a_start(tmp_path):
    fitted(model="maxent").save(tmp_path / "tagger")
    start = SequenceTagger.load(tmp_path / "tagger")
    tagger = SequenceTagger(templates=TEMPLATES, passes=1, rate=1e-12)
    tagger.fit(SENTENCES, LABELS, start=start)
    assert np.allclose(tagger.model_.weights, fitted(model="maxent").model_.weights, atol=1e-6)


def test_a_file_with_parts_missing_is_refused(tmp_path):
    path = tmp_path / "tagger"
    fitted().save(path)
    model = load_model(path)
    for name in ("weights", "pair_weights", "keys_0_0", "values", "classes"):
        less = {k: v[:-1] if k == name else v for k, v in model.arrays.items()}
        save_model(path, "tagger", model.description, less)
        with pytest.raises(ReadError, match="the model is damaged: its parts do not fit"):
            SequenceTagger.load(path)
    for name in ("plan", "parts", "columns", "n_values", "parameters"):
        wrong = {k: v for k, v in model.description.items() if k != name}
        save_model(path, "tagger", wrong, model.arrays)
        with pytest.raises(ReadError, match="the model is damaged: its parts do not fit"):
            SequenceTagger.load(path)


WILD = (
    b"# Unigram\r\n"
    b"U00:%x[-2,0]   \r\n"
    b"U01:%x[-1,0]\r\n"
    b"  U02:%x[0,0]\r\n"
    b"U05:%x[-1,0]/%x[0,0]\r\n"
    b"U10:%x[0,1]%x[1,1]\r\n"
    b"U99\r\n"
    b"\r\n"
    b"#U11:%x[9,9]\r\n"
    b"# Bigram\r\n"
    b"B\r\n"
    b"B01:%x[0,1]"
)


def test_a_template_file_is_used_as_a_file_as_text_and_as_lines(tmp_path):
    path = tmp_path / "template"
    path.write_bytes(WILD)
    by_name = fitted(templates=str(path))
    assert [str(template) for template in by_name.templates_] == [
        "0[-2]", "0[-1]", "0", "0[-1] & 0", "1 & 1[+1]", "", "", "1",
    ]  # fmt: skip
    lines = read_templates(path)
    for same in (path, WILD.decode(), lines, by_name.templates_):
        assert fitted(templates=same).predict(OTHERS) == by_name.predict(OTHERS)
    cells = [(["0", "1"].index(name), row) for name, row in by_name.templates_[3].places]
    line = template_line("U05", [(row, col) for col, row in cells])
    assert str(line) == "U05:%x[-1,0]/%x[0,0]"


# Data as it comes -----------------------------------------------------------------------------


def test_empty_sentences_are_learned_from_and_tagged():
    tagger = SequenceTagger(templates=TEMPLATES, passes=4).fit(
        [[], *SENTENCES, []], [[], *LABELS, []]
    )
    assert tagger.predict([[], OTHERS[0], []])[::2] == [[], []]
    assert tagger.predict([]) == []
    assert tagger.predict_proba([[]])[0].shape == (0, 3)
    assert tagger.predict_nbest([[]]) == [[(0.0, [])]]


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_tokens_without_a_sentence_end_are_one_sentence(kind):
    sentences, labels = corpus(1400)
    text = [token for sentence in sentences for token in sentence][:10_000]
    given = [label for sentence in labels for label in sentence][:10_000]
    tagger = SequenceTagger(model=kind, templates=PAIRS, passes=5).fit([text], [given])
    assert np.isfinite(tagger.model_.weights).all()
    assert tagger.score([text], [given]) > 0.93  # where phrases met is no longer to be seen
    (shares,) = tagger.predict_proba([text])
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_a_file_without_blank_lines_and_with_line_ends_of_windows_is_read(tmp_path):
    tokens = [token for sentence in SENTENCES for token in sentence]
    labels = [label for given in LABELS for label in given]
    rows = [f"{word} {tag} {label}" for (word, tag), label in zip(tokens, labels, strict=True)]
    path = tmp_path / "train.conll"
    path.write_bytes("\r\n".join(rows).encode())
    table = read(path, format="conll")
    assert table.sequence_bounds.tolist() == [0, len(tokens)]
    tagger = SequenceTagger(templates=TEMPLATES).fit(table)
    assert tagger.columns_ == ("word", "pos")
    assert tagger.score(table) > 0.93
    assert tagger.predict([tokens]) == tagger.predict(table)


def test_labels_that_no_scheme_allows_are_learned_like_others():
    odd = [["I-NP" if label == "B-NP" else label for label in given] for given in LABELS]
    tagger = SequenceTagger(templates=TEMPLATES).fit(SENTENCES, odd)  # I-NP after O
    assert tagger.score(SENTENCES, odd) > 0.98


def test_default_templates_look_no_further_than_the_sentences_are_long():
    tagger = SequenceTagger().fit([["a"], ["b"], ["a"]], [["X"], ["Y"], ["X"]])
    assert [str(template) for template in tagger.templates_] == ["0", ""]
    assert tagger.predict([["b"], ["a", "b"]]) == [["Y"], ["X", "Y"]]
    assert len(default_templates(["0", "1"])) == 2 * 7 + 1


FAULTS = [
    ({}, [["a", "b"]], [["X", "X"]], "all tokens have the label 'X'"),
    ({}, [], [], "there are no labels to learn from"),
    ({}, [[], []], [[], []], "there are no labels to learn from"),
    ({}, [["a", "b"]], None, "there are no labels"),
    ({}, [["a", "b"]], [["X"]], "sentence 0 has 2 tokens and 1 labels"),
    ({}, [["a"], ["b"]], [["X"]], "1 lists of labels for 2 sentences"),
    ({}, [[("a", "D"), ("b",)]], [["X", "Y"]], "token 1 of sentence 0 has 1 columns, 2 expected"),
    ({"templates": []}, [["a", "b"]], [["X", "Y"]], "there are no templates"),
    (
        {"templates": ["U0:%x[0,3]"]}, [["a", "b"]], [["X", "Y"]],
        "template 'U0:%x[0,3]' looks at column 3; there are 1, from 0 to 0",
    ),
    (
        {"templates": [Template((("tag", 1),))]}, [["a", "b"]], [["X", "Y"]],
        "template tag[+1] looks at column 'tag'; there are 0",
    ),
    (
        {"templates": ["U7:%x[-2,0]"]}, [["a", "b"]], [["X", "Y"]],
        "template U7 looks 2 tokens away; the longest sentence has 2",
    ),
    ({"templates": ["U0:%x[0]"]}, [["a", "b"]], [["X", "Y"]], "is not %x[row,col]"),
    ({"passes": 0}, [["a"]], [["X"]], "passes is 0; it must be a whole number, 1 or more"),
    ({"rate": 0}, [["a"]], [["X"]], "rate is 0; it must be a number above 0 or None"),
    ({"patience": 0}, [["a"]], [["X"]], "patience is 0; it must be a whole number, 1 or more"),
    ({"candidates": 1.5}, [["a"]], [["X"]], "candidates is 1.5; it must be a number from 0 to 1"),
    ({"rate": 0}, [["a"]], [["X"]], "rate is 0; it must be a number above 0 or None"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentences", "labels", "words"), FAULTS)
def test_a_fault_is_told_in_one_sentence(settings, sentences, labels, words):
    with pytest.raises((InputError, ReadError)) as fault:
        SequenceTagger(**settings).fit(sentences, labels)
    assert words in str(fault.value)
    assert "\n" not in str(fault.value)


def test_faults_in_what_is_tagged_or_validated_are_told():
    tagger = fitted()
    with pytest.raises(InputError, match="tokens have 1 columns, 2 expected"):
        tagger.predict([["cat"]])
    with pytest.raises(InputError, match="no column '0'; there are word"):
        tagger.predict(table_of_sentences([["cat"]], columns=("word",)))
    with pytest.raises(InputError, match="there are no labels"):
        tagger.score(OTHERS)
    with pytest.raises(InputError, match="the sentences have no labels"):
        SequenceTagger(templates=TEMPLATES).fit(SENTENCES, LABELS, OTHERS)
    with pytest.raises(InputError, match="validation sentences have no tokens"):
        SequenceTagger(templates=TEMPLATES).fit(SENTENCES, LABELS, [[]], [[]])
    both = {"templates": TEMPLATES, "plan": tagger.plan_}
    with pytest.raises(InputError, match="give templates or a plan, not both"):
        SequenceTagger(**both).fit(SENTENCES, LABELS)
