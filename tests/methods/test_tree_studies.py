"""What templates are worth: their weights taken away one at a time, and two kinds of answers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from featloom.data.edges import Candidates
from featloom.data.sentences import table_of_trees
from featloom.data.table import NominalTable
from featloom.features.template import Template
from featloom.learners.edge_model import EdgeModel, EdgeTemplates, ParserTraining
from featloom.learners.parser import DependencyParser
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.features import SeenFeatures
from featloom.methods.tree_templates.findings import tree_of
from featloom.methods.tree_templates.linear_models import LinearModel
from featloom.methods.tree_templates.parts import growth_parts
from featloom.methods.tree_templates.study import compare_answers, study_table, tree_answers

ONE, TWO, BOTH = (
    Template((("a", 0),)),
    Template((("b", 0),)),
    Template((("a", 0), ("b", 0))),
)


def rows(n: int, n_classes: int = 3, seed: int = 0, groups: bool = False) -> NominalTable:
    """The class is the sum of two numbers, and wrong now and then."""
    draw = random.Random(seed)
    a, b = ([draw.randrange(4) for _ in range(n)] for _ in range(2))
    labels = [
        (x * 4 + y) % n_classes if draw.random() < 0.9 else draw.randrange(n_classes)
        for x, y in zip(a, b, strict=True)
    ]
    texts = {"a": list(map(str, a)), "b": list(map(str, b))}
    names = [f"class {label}" for label in labels]
    of_group = [str(i // 5) for i in range(n)] if groups else None
    return NominalTable.from_columns(texts, labels=names, groups=of_group)


@pytest.mark.parametrize("n_classes", [2, 3, 13])
def test_a_drop_is_what_a_model_loses_whose_weights_of_a_template_are_zero(n_classes):
    learn = rows(600, n_classes)
    judge = learn.recode(rows(200, n_classes, seed=1))
    features = SeenFeatures(learn, [BOTH, ONE, TWO])
    model = LinearModel(features, learn, 1.0)
    gold = np.array(judge.classes, dtype=object)[judge.labels]
    right = float((model.predict(judge) == gold).mean())
    drops = model.drops(judge)
    first = features.expansion.first
    for t, template in enumerate((BOTH, ONE, TWO)):
        own = model.weights[first[t] : first[t + 1]].copy()
        model.weights[first[t] : first[t + 1]] = 0
        without = float((model.predict(judge) == gold).mean())
        model.weights[first[t] : first[t + 1]] = own
        assert drops[str(template)] == pytest.approx(right - without)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_with_few_classes_the_model_is_scikit_learns(n_classes):
    learn = rows(400, n_classes)
    features = SeenFeatures(learn, [ONE, TWO])
    names = np.array(learn.classes)[learn.labels]
    plain = LogisticRegression(C=0.3, solver="newton-cg", max_iter=1000)
    plain.fit(features.matrix(learn), names)
    near = LinearModel(features, learn, 0.1)
    model = LinearModel(features, learn, 0.3, start=near)
    assert model.predict(learn).tolist() == plain.predict(features.matrix(learn)).tolist()


def test_with_many_classes_the_model_learns_the_same_task():
    n_classes = 13
    learn, judge = rows(3000, n_classes), rows(500, n_classes, seed=1)
    model = LinearModel(SeenFeatures(learn, [BOTH, ONE, TWO]), learn, 10.0)
    gold = np.array(judge.classes, dtype=object)[judge.labels]
    assert (model.predict(learn.recode(judge)) == gold).mean() > 0.85


def test_a_class_that_only_test_rows_have_counts_as_wrong():
    train = rows(200)
    test = rows(60, seed=2)
    other = NominalTable.from_columns({"a": ["0"], "b": ["0"]}, labels=["class 9"])
    result = study_table(growth_parts(train, None, test, kind="table"), TreeTemplates())
    assert result["leaderboard"][1].test > 0.5
    alone = study_table(growth_parts(train, None, other, kind="table"), TreeTemplates())
    assert alone["leaderboard"][1].test == 0


def test_rows_of_a_group_are_drawn_together_and_tested_together():
    parts = growth_parts(rows(300, groups=True), kind="table")
    assert not set(parts.train.groups.tolist()) & set(parts.test.groups.tolist())
    result = study_table(parts, TreeTemplates())
    assert "paired bootstrap over groups" in result["verdict"]
    alone = study_table(growth_parts(rows(300), kind="table"), TreeTemplates())
    assert "McNemar" in alone["verdict"]


def test_mcnemar_looks_at_the_rows_that_one_alone_gets_right():
    table = rows(40)
    gold = np.array(table.classes, dtype=object)[table.labels]
    worse = gold.copy()
    worse[:12] = "nothing"
    _, (test,) = compare_answers(table, {"worse": worse, "right": gold}, seed=0)
    assert test.test == "McNemar, 12 : 0 rows"
    assert test.p == pytest.approx(2 / 2**12)
    assert test.significant


def test_bagged_trees_vote_and_hard_ones_leave_it_to_the_first():
    learn = rows(300)
    forest = TreeTemplates(n_trees=2, columns_per_tree=1).fit(learn)
    assert set(tree_answers(forest, learn)) <= set(forest.classes_)
    hard = TreeTemplates(n_trees=3, forest="hard").fit(learn)
    first = hard.classes_[hard.trees_[0].predict(hard._read(learn).codes)]
    assert tree_answers(hard, learn).tolist() == first.tolist()


def test_a_shown_tree_is_cut_to_the_largest_children():
    wide = NominalTable.from_columns(
        {"a": [str(i % 20) for i in range(400)]}, labels=[str(i % 20 % 2) for i in range(400)]
    )
    shown = tree_of(TreeTemplates(max_length=1).fit(wide).tree_)
    assert len(shown.nodes) == 13
    assert shown.cut == shown.n_nodes - 13 == 8
    assert shown.nodes[0].branches == 20


def test_a_model_with_fewer_templates_reads_their_weights_from_the_same_slots():
    """Weights of one template, laid out beside others whose weights are all 0, answer the same."""
    draw = random.Random(4)
    words = {"DET": ("the", "a"), "NOUN": ("cat", "dog", "fish"), "VERB": ("saw", "ate")}
    sentences = []
    for _ in range(60):
        n_before = draw.randrange(1, 3)
        tags = ["DET"] * n_before + ["NOUN", "VERB", "DET", "NOUN"]
        noun, verb = n_before + 1, n_before + 2
        heads = [noun] * n_before + [verb, 0, verb + 2, verb]
        forms = [draw.choice(words[tag]) for tag in tags]
        sentences.append(
            [(f, f, t, "_", "_", h, "dep") for f, t, h in zip(forms, tags, heads, strict=True)]
        )
    kept = Template((("head.upos", 0), ("mod.upos", 0), ("side", 0)))
    others = [
        Template((("distance", 0),)),
        Template((("head.form", 0), ("mod.form", 0), ("distance", 0))),
        Template((("head.upos", 0), ("between.upos", 0))),
    ]
    parser = DependencyParser(templates=[kept, *others], bits=22).fit(sentences)
    table = table_of_trees(sentences)
    edges = parser._reader.read(table)
    candidates = Candidates.all(edges)

    def model(templates: list[Template]) -> EdgeModel:
        return EdgeModel(EdgeTemplates(parser._reader, templates, 22), single_root=True)

    alone = model([kept])
    alone.train(edges, candidates, ParserTraining(epochs=1))
    assert alone.weights.any()
    together = model([*others, kept])
    together.weights = alone.weights
    assert np.array_equal(together.parse(edges, candidates), alone.parse(edges, candidates))
