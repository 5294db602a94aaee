"""What are templates from trees worth for a dependency parser?  One protocol, one answer.

Every pair of a token and a head that a pilot model leaves it is a row; decision trees are grown on
these rows of the training sentences, and their templates become those of a parser.  Beside it a
parser with the templates that McDonald and others wrote by hand is trained in the same way, with
the same seed.  Test sentences are parsed once by each, and the two are compared by a paired
bootstrap over sentences: by the share of tokens with the right head (UAS), punctuation left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.data.sentences import take_sentences
from featloom.data.stretches import is_long
from featloom.data.table import NominalTable
from featloom.evaluation.attachment import attachment_counts
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.evaluation.systems import compare_systems
from featloom.learners.edge_model import EdgeModel, EdgeTemplates
from featloom.learners.parser import FOREST, DependencyParser
from featloom.methods.tree_templates.findings import (
    data_part,
    sentences_section,
    stage,
    template_rows,
    templates_section,
    trees_section,
    verdict,
)
from featloom.methods.tree_templates.parts import GrowthParts
from featloom.methods.tree_templates.study import Keep
from featloom.pool import number_of_workers

GROWN, BY_HAND = "templates from trees", "templates by hand"
_DROPS, _DROP_SENTENCES = 30, 200
_RIGHT, _LABELLED, _TOKENS, _ALL_RIGHT, _ALL_TOKENS = range(5)


def study_dependencies(
    parts: GrowthParts,
    growth: Mapping[str, Any],
    *,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] = lambda *_: None,
    keep: Keep = lambda _, __: None,
) -> dict[str, Any]:
    """The parts of a result that speak of the data, the templates and the two parsers.

    Parameters
    ----------
    growth : settings of the trees that were asked for; the others are the parser's own.
    say, progress : are told what is being done, and how far it is.
    keep : is given what is finished, by name: "templates", "model".
    """
    train, test = parts.train, parts.test
    seconds: dict[str, float] = {}
    parsers = {}
    for name, given in ((GROWN, "tree"), (BY_HAND, "manual")):

        def advance(what: str, done: int, of: int, name=name) -> None:
            say(f"{name}: {what}" + (" (first use compiles)" if not done else ""))
            progress(done, of, None)

        parser = DependencyParser(
            templates=given, forest=dict(growth), n_jobs=jobs, random_state=seed, progress=advance
        )
        with stage(seconds, f"train with {name}"):
            parsers[name] = parser.fit(train).set_params(progress=None)
        if name == GROWN:
            keep("templates", parser)
            keep("model", parser)
    say("parsing the test sentences")
    trees = {}
    for name, parser in parsers.items():
        with stage(seconds, f"parse with {name}"):
            trees[name] = parser.predict_trees(test)
    counts = {name: attachment_counts(test, trees[name]) for name in (BY_HAND, GROWN)}
    without = {name: counted[:, [_RIGHT, _TOKENS]] for name, counted in counts.items()}
    models, tests = compare_systems(without, accuracy_of_counts, seed=seed)
    for model in models:
        parser = parsers[model.name]
        model.size = int(np.count_nonzero(parser.model_.weights))
        model.fit_s = seconds.pop(f"train with {model.name}")
        model.more = _other_scores(counts[model.name].sum(axis=0), bool(parser.relations_))
        model.more |= {"templates": len(parser.templates_)}
    models.reverse()
    models[0].role, models[1].role, models[0].chosen = "method", "baseline", True
    say("leaving out single templates")
    grown = parsers[GROWN]
    with stage(seconds, "leave out"):
        drops = _drops(grown, test if parts.valid is None else parts.valid, seed)
    settings = {k: v for k, v in {**FOREST, **growth}.items() if v is not None}
    heads = [[head for head, _ in tree] for tree in trees[GROWN]]
    return {
        "kind": "tree templates",
        "data": data_part(parts),
        "protocol": parts.protocol,
        "parameters": {"protocol": parts.words, **settings, "epochs": grown.epochs},
        "metric": "UAS",
        "unit": parts.unit,
        "chosen": GROWN,
        "leaderboard": models,
        "comparisons": tests,
        "verdict": verdict(
            tests[0], n_templates=len(grown.grown_), learner="a parser",
            rival="templates written by hand", metric="UAS",
            by="paired bootstrap over sentences, one seed",
        ),
        "significant": tests[0].significant,
        "sections": [
            trees_section(
                grown.tree_, settings["n_trees"], grown.grown_, "dependencies", seconds=seconds
            ),
            templates_section(template_rows(grown.grown_, drops), "UAS"),
            sentences_section(test, heads),
        ],
    }  # fmt: skip


def _other_scores(counts: np.ndarray, relations: bool) -> dict[str, float | str | None]:
    labelled = float(counts[_LABELLED] / max(counts[_TOKENS], 1)) if relations else None
    whole = float(counts[_ALL_RIGHT] / max(counts[_ALL_TOKENS], 1))
    return {"LAS %": labelled, "with punctuation %": whole}


def _drops(parser: DependencyParser, table: NominalTable, seed: int) -> dict[str, float]:
    """The share of right heads lost on some sentences without one template at a time.

    The slot of a feature depends on its own template and values alone, so a model with one
    template fewer reads the others' weights from the same table.
    """
    short = np.flatnonzero(~is_long(table, parser.longest))
    n = len(short)
    some = np.random.default_rng(seed).choice(n, min(n, _DROP_SENTENCES), replace=False)
    sentences = take_sentences(table, short[np.sort(some)])
    edges = parser._reader.read(sentences)
    candidates = parser._candidates(edges)

    def score(model: EdgeModel) -> float:
        heads = model.parse(edges, candidates, number_of_workers(parser.n_jobs))
        trees = replace(edges, heads=heads).token_heads()
        found = [[(head, "_") for head in tree] for tree in trees]
        counts = attachment_counts(sentences, found).sum(axis=0)
        return counts[_RIGHT] / max(counts[_TOKENS], 1)

    whole = score(parser.model_)
    drops = {}
    for one in parser.grown_[:_DROPS]:
        others = [template for template in parser.templates_ if template != one.template]
        layout = EdgeTemplates(parser._reader, others, parser.bits)
        model = EdgeModel(
            layout, projective=parser.model_.projective, single_root=parser.single_root_
        )
        model.weights = parser.model_.weights
        drops[str(one.template)] = float(whole - score(model))
    return drops
