"""What are templates from trees worth on this table?  One protocol, one answer.

Templates are grown on the training rows.  A logistic regression on the columns alone and one on
columns and templates learn from the same rows; the strength of the penalty is chosen for each by
itself, on the validation rows or by cross-validation over the training rows, with templates grown
anew in every fold.  Test rows are answered once, by the tree itself too.

Where rows are independent the two are compared by McNemar's test; where they come in groups
(documents), by a paired bootstrap over groups.

Where rows come in blocks, trees are grown on all but every fifth of them.  The linear models learn
from a sample of these and answer a sample of the others.  Where memory has no room for all weights,
rare features have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from featloom.data.table import NominalTable
from featloom.evaluation.folds import make_folds, splits
from featloom.evaluation.metrics import accuracy_of_counts, correct_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import mcnemar
from featloom.evaluation.systems import compare_systems
from featloom.learners.tree import MultiwayTree
from featloom.methods.tree_templates.features import SeenFeatures
from featloom.methods.tree_templates.findings import (
    data_part,
    stage,
    template_rows,
    templates_section,
    trees_section,
    verdict,
)
from featloom.methods.tree_templates.linear_models import (
    LinearModel,
    cutoff_with_room,
    rows_with_room,
)
from featloom.methods.tree_templates.parts import GrowthParts, check_classes
from featloom.methods.tree_templates.tree_templates import TreeTemplates, with_singles
from featloom.results import Comparison, Model
from featloom.words import counted, p_words

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
PLAIN = "logistic regression on the columns"
GROWN = "logistic regression on columns and templates"
TREE, FOREST = "the tree alone", "the trees alone, by vote"
_FOLDS = 3
# Enough to tell which strength is best; with more rows, so many of them are drawn.
_TUNED_ON = 30_000

Keep = Callable[[str, Any], None]


def study_table(
    parts: GrowthParts,
    templates: TreeTemplates,
    *,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    keep: Keep = lambda _, __: None,
) -> dict[str, Any]:
    """The parts of a result that speak of the data, the templates and the two models.

    Parameters
    ----------
    templates : as they are to be grown, not yet fitted.
    say : is told what is being done.
    keep : is given what is finished, by name: "templates", "model".
    """
    seconds: dict[str, float] = {}
    say("growing trees (first use compiles)")
    with stage(seconds, "grow"):
        templates.fit(parts.grown_on)
    keep("templates", templates)
    parts = _within_memory(parts, templates)
    train, test = parts.train, parts.test
    say("choosing the strength of the linear models")
    with stage(seconds, "tune"):
        strengths = best_strengths(parts, templates, seed=seed, jobs=jobs)
    sides = {PLAIN: _singles(train, parts.cutoff), GROWN: _seen(templates, parts)}
    fitted = {}
    for name, features in sides.items():
        say(f"fitting the {name}")
        with stage(seconds, f"fit the {name}"):
            strength = strengths[name]
            fitted[name] = LinearModel(features, train, strength, seed=seed, jobs=jobs)
    keep("model", fitted[GROWN].kept(train))
    say("comparing the models on the test part")
    rows = train.recode(test)
    answers = {name: one.predict(rows) for name, one in fitted.items()}
    of_trees = FOREST if _votes(templates) else TREE
    answers[of_trees] = tree_answers(templates, test)
    models, tests = compare_answers(test, answers, class_type=train.class_type, seed=seed)
    for model, role in zip(models, ("baseline", "method", "yardstick"), strict=True):
        model.role = role
    for model in models[:2]:
        model.size = sides[model.name].n_features
        model.more = {"templates": len(sides[model.name].expansion.templates)}
        model.fit_s = seconds.pop(f"fit the {model.name}")
        model.settings = {"C": strengths[model.name]}
        model.setting = f"C {strengths[model.name]:g}"
    models[1].chosen = True
    n_asked = sum(tree.n_internal for tree in _answering(templates))
    models[2].setting = counted(n_asked, "question")
    held_out = test if parts.valid is None else parts.valid
    drops = fitted[GROWN].drops(_recoded(train, held_out), seed=seed)
    protocol, grown = _protocol(parts), templates.grown_
    return {
        "kind": "tree templates",
        "data": data_part(parts),
        "protocol": protocol,
        "parameters": {"protocol": protocol, **said(templates._settings())},
        "metric": "accuracy",
        "unit": parts.unit,
        "chosen": GROWN,
        "leaderboard": models,
        "comparisons": tests,
        "verdict": verdict(
            tests[0], n_templates=len(grown), learner="a logistic regression",
            rival="the columns alone", metric="accuracy",
            by="McNemar" if test.groups is None else "paired bootstrap over groups",
        ),
        "significant": tests[0].significant,
        "sections": [
            trees_section(
                templates.tree_, len(templates.trees_), grown, "table", seconds=seconds,
                more=_blocks_facts(parts),
            ),
            templates_section(template_rows(grown, drops), "accuracy"),
        ],
    }  # fmt: skip


def _blocks_facts(parts: GrowthParts) -> list[tuple[str, Any, str]]:
    """How rows in blocks were read."""
    if parts.blocks is None:
        return []
    return [
        ("blocks", parts.blocks.n_blocks, "count"),
        ("rows in the largest", int(parts.blocks.sizes.max()), "count"),
        ("bytes of memory", parts.blocks.memory, "count"),
        ("rows behind the linear models", len(parts.train), "count"),
    ]


def best_strengths(
    parts: GrowthParts, templates: TreeTemplates, *, seed: int = 0, jobs: int = 1
) -> dict[str, float]:
    """For both models the strength with the most right answers on rows not learned from."""
    right = {name: dict.fromkeys(STRENGTHS, 0.0) for name in (PLAIN, GROWN)}
    for learn, judge, grown in _tuning_parts(parts, templates, seed):
        gold, rows = judge.row_classes(learn.class_type), learn.recode(judge)
        for name, features in ((PLAIN, _singles(learn, parts.cutoff)), (GROWN, _seen(grown))):
            model = None
            for strength in STRENGTHS:
                model = LinearModel(features, learn, strength, seed=seed, jobs=jobs, start=model)
                right[name][strength] += float((model.predict(rows) == gold).sum())
    return {name: max(STRENGTHS, key=lambda s: found[s]) for name, found in right.items()}


def _tuning_parts(
    parts: GrowthParts, templates: TreeTemplates, seed: int
) -> Iterator[tuple[NominalTable, NominalTable, TreeTemplates]]:
    """Rows to learn from, rows to judge by, and the templates of the former."""
    if parts.valid is not None:
        learn = _drawn(parts.train, seed)
        grown = templates if learn is parts.train else clone(templates).fit(learn)
        yield learn, _drawn(parts.valid, seed), grown
        return
    train = _drawn(parts.train, seed)
    anew = clone(templates).set_params(cutoff=max(parts.cutoff, templates.cutoff))
    fold_of = make_folds(
        train.label_codes, n_folds=_FOLDS, groups=train.groups, seed=seed, allow_rare=True
    )
    for learned, judged in splits(fold_of):
        learn = train.take(learned)
        if len(np.unique(learn.row_classes())) > 1:
            yield learn, train.take(judged), clone(anew).fit(learn)


def _drawn(rows: NominalTable, seed: int) -> NominalTable:
    """Some of many rows."""
    if len(rows) <= _TUNED_ON:
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), _TUNED_ON, replace=False)
    return rows.take(np.sort(drawn))


def tree_answers(templates: TreeTemplates, rows: NominalTable) -> np.ndarray:
    """What the first tree answers, or what most trees of a bagged forest do."""
    codes = templates._read(rows).codes
    votes = np.zeros((len(rows), len(templates.classes_)), dtype=np.int32)
    for tree in _answering(templates):
        votes[np.arange(len(rows)), tree.predict(codes)] += 1
    return templates.classes_[votes.argmax(axis=1)]


def compare_answers(
    test: NominalTable, answers: dict[str, np.ndarray], *, class_type: str | None = None, seed: int
) -> tuple[list[Model], list[Comparison]]:
    """Accuracies with intervals, and paired tests of all systems against the first."""
    gold = test.row_classes(class_type)
    units = test.units
    right = {name: given == gold for name, given in answers.items()}
    always = np.ones(len(test), dtype=bool)
    counts = {name: correct_counts(always, one, groups=units) for name, one in right.items()}
    models, tests = compare_systems(counts, accuracy_of_counts, drawn="groups", seed=seed)
    for one in tests:
        by_row = mcnemar(always, right[one.a], right[one.b])
        alone = f"{by_row.first_only:,} : {by_row.second_only:,} rows"
        if test.groups is None:
            one.p, one.significant, one.test = by_row.p, by_row.p < LEVEL, f"McNemar, {alone}"
        else:
            one.test += f"; McNemar, {alone}, {p_words(by_row.p)}"
    return models, tests


def _recoded(train: NominalTable, rows: NominalTable) -> NominalTable:
    """Rows in the vocabularies of the training rows, with the classes that they have."""
    return replace(
        train.recode(rows), labels=rows.labels, classes=rows.classes, class_type=rows.class_type
    )


def _singles(rows: NominalTable, cutoff: int) -> SeenFeatures:
    return SeenFeatures(rows, with_singles([], rows.columns), cutoff)


def _within_memory(parts: GrowthParts, templates: TreeTemplates) -> GrowthParts:
    """Of rows in blocks no more, and of rare features none that a linear model has no room for."""
    if parts.blocks is None:
        return parts
    room, found = parts.blocks.room, templates.templates_
    train = rows_with_room(parts.train, len(found), room // 4)
    check_classes(train)
    test = rows_with_room(parts.test, len(found), room // 4)
    cutoff = cutoff_with_room(train, found, room // 3)
    return replace(parts, train=train, test=test, cutoff=max(cutoff, templates.cutoff))


def _seen(templates: TreeTemplates, parts: GrowthParts | None = None) -> SeenFeatures:
    if parts is not None and parts.blocks is not None:
        # A feature that no row of the sample has would have no weight.
        return SeenFeatures(parts.train, templates.templates_, parts.cutoff)
    assert isinstance(templates._features, SeenFeatures)  # nothing is hashed here
    return templates._features


def _answering(templates: TreeTemplates) -> list[MultiwayTree]:
    """All trees of a bagged forest; else the first, for the others saw chosen rows alone."""
    return templates.trees_ if _votes(templates) else templates.trees_[:1]


def _votes(templates: TreeTemplates) -> bool:
    return templates.forest == "bagged" and len(templates.trees_) > 1


def said(settings: dict[str, Any]) -> dict[str, Any]:
    """How templates were grown, for a result; what was not asked for is left out."""
    aside = ("random_state", "preset", "hashed")
    return {k: v for k, v in settings.items() if k not in aside and v is not None}


def _protocol(parts: GrowthParts) -> str:
    if parts.blocks is not None:
        sizes, often = parts.sizes(), ""
        if parts.cutoff > 1:
            often = f", without features of fewer than {parts.cutoff:,} rows"
        return (
            f"{parts.protocol}, trees grown on all others; both linear models tuned and fitted on "
            f"{_some(parts.train, sizes['train'])} of these{often}; all models judged on "
            f"{_some(parts.test, sizes['test'])} of the rows held out"
        )
    tuned = "by cross-validation over the training rows"
    if parts.valid is not None:
        tuned = "on the validation part"
    return f"{parts.protocol}; both linear models tuned {tuned}"


def _some(rows: NominalTable, of: int) -> str:
    return "all" if len(rows) == of else f"a sample of {len(rows):,}"
