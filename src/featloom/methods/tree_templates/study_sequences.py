"""What are templates from trees worth for a tagger?  One protocol, one answer.

The columns of each training token and of its neighbours are a row, its label the class; trees are
grown on these rows and their templates become those of a CRF.  Beside it a CRF with the templates
that a tagger has by default is trained in the same way.  Test sentences are tagged once by each,
and the two are compared by a paired bootstrap over sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featloom.data.sentences import gold_labels, take_sentences
from featloom.data.table import NominalTable
from featloom.evaluation.chunks import OF_COUNTS, judged_counts, shared_counts
from featloom.evaluation.systems import compare_systems
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import sequence_templates, window_table
from featloom.learners.tagger import SequenceTagger
from featloom.learners.tree_paths import GrownTemplate
from featloom.methods.tree_templates.findings import (
    data_part,
    stage,
    template_rows,
    templates_section,
    trees_section,
    verdict,
)
from featloom.methods.tree_templates.parts import GrowthParts
from featloom.methods.tree_templates.study import Keep, said
from featloom.methods.tree_templates.tree_templates import TreeTemplates

GROWN, BY_DEFAULT = "templates from trees", "default templates"
_DROPS, _DROP_SENTENCES = 30, 300


def study_sequences(
    parts: GrowthParts,
    templates: TreeTemplates,
    *,
    window: int,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    keep: Keep = lambda _, __: None,
) -> dict[str, Any]:
    """The parts of a result that speak of the data, the templates and the two taggers.

    Parameters
    ----------
    templates : as they are to be grown, not yet fitted.
    window : the farthest token that is looked at.
    say : is told what is being done.
    keep : is given what is finished, by name: "templates", "model".
    """
    train, test = parts.train, parts.test
    # A place beyond the longest sentence is never there.
    window = min(window, max(int(np.diff(train.bounds).max()) - 1, 0))
    seconds: dict[str, float] = {}
    say("growing trees (first use compiles)")
    with stage(seconds, "grow"):
        templates.fit(window_table(train, window))
    keep("templates", templates)
    plan = FeaturePlan(
        templates=(*sequence_templates(templates.templates_), Template((), "B", "B"))
    )
    taggers = {}
    for name, given in ((BY_DEFAULT, None), (GROWN, plan)):
        say(f"training a CRF with {name}")
        with stage(seconds, f"train with {name}"):
            tagger = SequenceTagger(plan=given, n_jobs=jobs, random_state=seed)
            taggers[name] = tagger.fit(train)
    keep("model", taggers[GROWN])
    say("tagging the test sentences")
    answers = {name: tagger.predict(test) for name, tagger in taggers.items()}
    metric, counts = shared_counts(gold_labels(test), answers)
    models, tests = compare_systems(counts, OF_COUNTS[metric], seed=seed)
    for model in models:
        tagger = taggers[model.name]
        model.size = tagger.n_features_
        model.fit_s = seconds.pop(f"train with {model.name}")
        model.more = {"templates": sum(bool(template.places) for template in tagger.templates_)}
    say("leaving out single templates")
    with stage(seconds, "leave out"):
        held_out = test if parts.valid is None else parts.valid
        drops = _drops(taggers[GROWN], templates.grown_, held_out, seed)
    settings = said(templates._settings()) | {"window": window}
    models.reverse()  # what was grown comes first, as in other results on taggers
    models[0].role, models[1].role, models[0].chosen = "method", "baseline", True
    return {
        "kind": "tree templates",
        "data": data_part(parts),
        "protocol": parts.protocol,
        "parameters": {"protocol": parts.words, **settings},
        "metric": metric,
        "unit": parts.unit,
        "chosen": GROWN,
        "leaderboard": models,
        "comparisons": tests,
        "verdict": verdict(
            tests[0], n_templates=len(templates.templates_), learner="a CRF",
            rival="its default templates", metric=metric, by="paired bootstrap over sentences",
        ),
        "significant": tests[0].significant,
        "sections": [
            trees_section(
                templates.tree_, len(templates.trees_), templates.grown_, "sequence",
                seconds=seconds,
            ),
            templates_section(template_rows(templates.grown_, drops), metric),
        ],
    }  # fmt: skip


def _drops(
    tagger: SequenceTagger, grown: Sequence[GrownTemplate], rows: NominalTable, seed: int
) -> dict[str, float]:
    """What the metric loses on some sentences without the weights of one template at a time."""
    n = len(rows.bounds) - 1
    some = np.random.default_rng(seed).choice(n, min(n, _DROP_SENTENCES), replace=False)
    sentences = take_sentences(rows, np.sort(some))
    gold = gold_labels(sentences)
    weights, first = tagger.model_.weights, tagger._expansion.first

    def score() -> float:
        metric, counts = judged_counts(gold, tagger.predict(sentences))
        return float(OF_COUNTS[metric](counts.sum(axis=0)))

    whole = score()
    drops = {}
    for t, one in enumerate(grown[:_DROPS]):
        own = weights[first[t] : first[t + 1]].copy()
        weights[first[t] : first[t + 1]] = 0
        try:
            drops[str(one.template)] = whole - score()
        finally:
            weights[first[t] : first[t + 1]] = own
    return drops
