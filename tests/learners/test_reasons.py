"""Why labels and heads were given: what speaks for an answer adds up to what it scored more."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from featloom.data.edges import edge_table
from featloom.data.sentences import table_of_trees
from featloom.kernels.edges import spread_sentence
from featloom.kernels.parsing import score_sentence
from featloom.learners.parser import DependencyParser, explain_heads
from featloom.learners.tagger import SequenceTagger, explain_labels

WORDS = {"DT": ("the", "a"), "JJ": ("old", "red"), "NN": ("cat", "dog"), "VB": ("saw", "bit")}


def tagged(n: int, seed: int = 0) -> tuple[list, list]:
    draw = random.Random(seed)
    sentences, labels = [], []
    for _ in range(n):
        tags = ["DT", *["JJ"] * draw.randrange(3), "NN", "VB", "DT", "NN"][: draw.randrange(1, 8)]
        sentences.append([draw.choice([*WORDS[tag], "x"]) for tag in tags])
        labels.append(tags)
    return sentences, labels


def path_score(tagger: SequenceTagger, words: list[str], labels: list[str]) -> float:
    """The score of a sentence with these labels: all weights of features and of pairs."""
    data, _ = tagger._read([words])
    codes = [tagger.classes_.tolist().index(label) for label in labels]
    model = tagger.model_
    score = 0.0
    for at, code in enumerate(codes):
        score += sum(float(model.weights[f, code]) for f in data.features[at] if f >= 0)
        if at and model.kind != "maxent":
            pairs = [f for f in data.pair_features[at] if f >= 0]
            score += sum(float(model.pair_weights[f, codes[at - 1], code]) for f in pairs)
    return score


@pytest.mark.parametrize(
    "templates", [["U0:%x[0,0]", "U1:%x[-1,0]", "B"], ["U0:%x[0,0]", "B0:%x[0,0]"]]
)
@pytest.mark.parametrize("kind", ["crf", "maxent"])
def test_reasons_of_a_label_are_the_difference_it_makes_to_the_sentence(kind, templates):
    if kind == "maxent":
        templates = [line for line in templates if line.startswith("U")]
    tagger = SequenceTagger(model=kind, templates=templates, random_state=0).fit(*tagged(60))
    sentences, _ = tagged(10, seed=1)
    answers = tagger.predict(sentences)
    for words, labels, reasons in zip(
        sentences, answers, explain_labels(tagger, sentences, most=2), strict=True
    ):
        assert [why.answer for why in reasons] == labels
        for at, why in enumerate(reasons):
            other = [*labels[:at], why.against, *labels[at + 1 :]]
            difference = path_score(tagger, words, labels) - path_score(tagger, words, other)
            assert why.margin == pytest.approx(difference, abs=1e-4)
            assert len(why.features) <= 2


def test_a_memm_looks_at_the_label_before_and_not_at_the_one_after():
    tagger = SequenceTagger(model="memm", templates=["U0:%x[0,0]"], random_state=0).fit(*tagged(60))
    (reasons,) = explain_labels(tagger, [["the", "old", "cat"]], most=None)
    names = [{name for name, _ in why.features} for why in reasons]
    assert names == [{"0=the"}, {"0=old", "(after DT)"}, {"0=cat", "(after JJ)"}]


def test_sentences_without_tokens_have_no_reasons():
    tagger = SequenceTagger(templates=["U0:%x[0,0]"], random_state=0).fit(*tagged(20))
    assert explain_labels(tagger, [[]]) == [[]]


def clauses(n: int, seed: int = 0) -> list[list[tuple]]:
    """the old cat saw a dog: nouns hang on the verb, all else on the next noun."""
    draw = random.Random(seed)
    sentences = []
    for _ in range(n):
        tags = [
            "DT",
            *["JJ"] * draw.randrange(3),
            "NN",
            "VB",
            "DT",
            *["JJ"] * draw.randrange(2),
            "NN",
        ]
        verb = tags.index("VB") + 1
        heads = [
            0 if tag == "VB" else verb if tag == "NN" else at + tags[at:].index("NN") + 1
            for at, tag in enumerate(tags)
        ]
        words = [draw.choice(WORDS[tag]) for tag in tags]
        sentences.append(
            [(w, w, t, "_", "_", h, "x") for w, t, h in zip(words, tags, heads, strict=True)]
        )
    return sentences


def edge_scores(parser: DependencyParser, sentence: list[tuple]) -> np.ndarray:
    """The scores of all candidate edges as the parser's own kernel sums them."""
    edges = parser._reader.read(table_of_trees([sentence]))
    candidates, layout = parser._candidates(edges), parser.model_.templates.layout
    n = int(edges.starts[1])
    spread = spread_sentence(layout, 0, n, *parser.model_.templates.hashes(edges))
    scores = np.empty((n, n), dtype=np.float32)
    score_sentence(
        scores, parser.model_.weights, layout, 0, edges.starts, candidates.starts, candidates.heads,
        edges.counts, edges.tags, *spread,
    )  # fmt: skip
    return scores


@pytest.mark.parametrize("settings", [{}, {"prune": 0, "decoder": "chu-liu-edmonds"}])
def test_reasons_of_a_head_are_what_its_edge_scores_more_than_the_next(settings):
    parser = DependencyParser(bits=16, epochs=2, **settings).fit(clauses(40))
    sentences = [*clauses(8, seed=1), [("zebra", "zebra", "X", "_", "_", 0, "root")]]
    trees = parser.predict(sentences)
    for sentence, heads, reasons in zip(
        sentences, trees, explain_heads(parser, sentences, most=3), strict=True
    ):
        assert [why.head for why in reasons] == heads
        scores = edge_scores(parser, sentence)
        for mod, why in enumerate(reasons, start=1):
            if why.against is None:
                assert (scores[:, mod] > -1e6).sum() == 1
                continue
            others = np.delete(scores[:, mod], why.head)
            assert scores[why.against, mod] == pytest.approx(others.max(), abs=1e-4)
            difference = scores[why.head, mod] - scores[why.against, mod]
            assert why.reasons.margin == pytest.approx(float(difference), abs=1e-3)


def test_templates_are_told_with_the_values_of_the_edge():
    parser = DependencyParser(bits=16, epochs=2, prune=0).fit(clauses(40))
    sentence = clauses(1, seed=3)
    (reasons,) = explain_heads(parser, sentence, most=None)
    table = table_of_trees(sentence)
    edges = parser._reader.read(table)
    rows = edge_table(parser._reader, replace(edges))
    first = reasons[0]  # the determiner, whose candidate heads are the first rows, in order
    heads = [head for head in range(len(table) + 1) if head != 1]
    row = heads.index(first.head)
    for name, _ in first.reasons.features:
        for part in name.split(" & "):
            column, _, value = part.rpartition("=")
            if column in rows.columns:
                assert rows.value(column, row) == value
            else:
                assert value.startswith("{")
