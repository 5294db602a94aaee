"""What are searched templates worth on these sentences?  One protocol, one answer.

Templates are searched on the training sentences, a CRF is trained with them on the same sentences,
and test sentences are tagged once.  Beside it stands a CRF that is trained in the same way with
the templates that a tagger has by default.  The two are compared by a paired bootstrap over
sentences: by the F1 of chunks where labels spell chunks (B-NP, I-NP, O), else by the share of
tokens with the right label.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from featloom.data.columns import column_maker
from featloom.data.sentences import gold_labels
from featloom.data.table import NominalTable
from featloom.evaluation.chunks import (
    OF_COUNTS,
    judged_counts,
    label_codes,
    shared_counts,
    token_counts,
)
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.evaluation.systems import compare_systems
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search.findings import (
    race_section,
    search_section,
    stages_section,
    template_rows,
    templates_section,
)
from featloom.methods.template_search.parts import SentenceParts, new_labels
from featloom.methods.template_search.search import TemplateSearch
from featloom.results import Comparison, Model
from featloom.words import counted, p_words, parts_in_words, percent, points

CHOSEN, BY_DEFAULT = "chosen templates", "default templates"


def study_templates(
    parts: SentenceParts,
    search: TemplateSearch,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], TemplateSearch, SequenceTagger]:
    """The parts of a result that speak of the data and the templates; the search; the tagger.

    Parameters
    ----------
    search : as it is to be done, not yet fitted.
    say : is told what is being done.
    """
    train, test = parts.train, parts.test
    _warn_of_new_labels(train, test)
    # A place beyond the longest sentence is never there.
    window = min(search.window, max(int(np.diff(train.bounds).max()) - 1, 0))
    stages: dict[str, float] = {}
    say(f"searching templates ({search.strategy}; first use compiles)")
    with _Stage(stages, "search"):
        search.set_params(window=window).fit(train)
    how = {
        "passes": search.passes, "cutoff": search.cutoff, "n_jobs": search.n_jobs,
        "random_state": search.random_state,
    }  # fmt: skip
    say("training a CRF with the chosen templates")
    with _Stage(stages, "train"):
        tagger = SequenceTagger(plan=search.plan_, **how).fit(train)
    say("training a CRF with the default templates")
    with _Stage(stages, "train by default"):
        rival = SequenceTagger(**how).fit(train)
    say("tagging the test sentences")
    with _Stage(stages, "tag"):
        answers = tagger.predict(test)
    seed = 0 if search.random_state is None else search.random_state
    metric, models, test_of = compare_taggers(
        gold_labels(test), answers, rival.predict(test), seed=seed
    )
    chosen, default = models
    for model, one in ((chosen, tagger), (default, rival)):
        model.size, model.learned = one.n_features_, parts.sizes()["train"]
        model.more = {"templates": sum(bool(template.places) for template in one.templates_)}
    chosen.fit_s, default.fit_s = stages["train"], stages["train by default"]
    chosen.settings = {
        "templates": [str(t) for t in search.plan_.templates if t.places],
        "derived": [column_maker(spec).name for spec in search.plan_.derived],
    }
    with_f1 = [row["f1"] for row in search.history_ if row["kept"] and row["f1"] is not None]
    chosen.value = with_f1[-1] if with_f1 else None
    protocol = f"{parts_in_words(parts.sizes(), 'sentence')}; {parts.words}"
    result = {
        "kind": "template search",
        "data": _data_part(parts),
        "protocol": protocol,
        "parameters": _parameters(search, parts),
        "evaluations": len(search.work_),
        "budget": {"stopped": search.work_.stopped},
        "metric": metric,
        "unit": "sentences",
        "chosen": CHOSEN,
        "leaderboard": models,
        "comparisons": [test_of],
        "verdict": verdict(metric, chosen, test_of, len(search.plan_.templates) - 1),
        "significant": test_of.significant,
        "sections": [
            templates_section(template_rows(tagger, search.history_), search.strategy),
            search_section(search.history_, search.strategy),
            *(section for section in [race_section(search.history_)] if section.blocks),
            stages_section(stages),
        ],
    }
    return result, search, tagger


def judge(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How good answers are, by the metric that suits the labels, and by tokens.

    >>> found = judge([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
    >>> found["metric"], round(found["value"], 3), round(found["accuracy"], 3)
    ('chunk F1', 0.667, 0.667)
    """
    metric, counts = judged_counts(gold, predicted)
    right = token_counts(*label_codes(gold, predicted)[:3]).sum(axis=0)
    return {
        "metric": metric,
        "value": float(OF_COUNTS[metric](counts.sum(axis=0))),
        "accuracy": float(accuracy_of_counts(right)),
        "tokens": int(right[1]),
    }


def compare_taggers(
    gold: Sequence[Sequence[str]],
    chosen: Sequence[Sequence[str]],
    default: Sequence[Sequence[str]],
    *,
    seed: int = 0,
) -> tuple[str, tuple[Model, Model], Comparison]:
    """The metric, the two taggers with intervals, and their paired bootstrap over sentences."""
    metric, counts = shared_counts(gold, {BY_DEFAULT: default, CHOSEN: chosen})
    (rival, found), (test,) = compare_systems(counts, OF_COUNTS[metric], seed=seed)
    found.role, rival.role, found.chosen = "method", "baseline", True
    return metric, (found, rival), test


def verdict(metric: str, chosen: Model, test: Comparison, n_templates: int) -> str:
    """What a reader may conclude, in plain words.

    >>> test = Comparison("chosen", "default", 0.01, p=0.002, significant=True)
    >>> verdict("chunk F1", Model("chosen", test=0.93), test, 24)
    'A CRF with the 24 chosen templates reaches a chunk F1 of 93.00 % on the test sentences, 1.00 points above the default templates (paired bootstrap over sentences, p = .002).'
    """  # noqa: E501
    difference = test.difference or 0.0
    said = (
        f"A CRF with the {counted(n_templates, 'chosen template')} reaches a {metric} of "
        f"{percent(chosen.test or 0.0, 2)} on the test sentences"
    )
    how = f"(paired bootstrap over sentences, {p_words(test.p or 0.0)})"
    if test.significant:
        side = "above" if difference > 0 else "below"
        apart = points(abs(difference), 2, signed=False)
        return f"{said}, {apart} {side} the default templates {how}."
    return (
        f"{said}; against the default templates the difference of {points(difference, 2)} is "
        f"not significant {how}."
    )


class _Stage:
    """Writes down how long its block took."""

    def __init__(self, stages: dict[str, float], name: str):
        self.stages, self.name = stages, name

    def __enter__(self) -> None:
        self.begun = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.stages[self.name] = perf_counter() - self.begun


def _warn_of_new_labels(train: NominalTable, test: NominalTable) -> None:
    message = new_labels(train.classes, test)
    if message:
        warnings.warn(message, stacklevel=3)


def _data_part(parts: SentenceParts) -> dict[str, Any]:
    sizes: dict[str, int] = {}
    for table in (parts.train, parts.test):
        counts = np.bincount(table.label_codes, minlength=len(table.classes)).tolist()
        for name, count in zip(table.classes, counts, strict=True):
            if count:
                sizes[name] = sizes.get(name, 0) + count
    train = parts.train
    return {
        "source": train.source,
        "rows": len(train) + len(parts.test),
        "features": len(train.columns),
        "target": train.target,
        "classes": dict(sorted(sizes.items(), key=lambda one: -one[1])),
        "families": [
            {"name": name, "features": len(np.unique(train.codes[:, j])), "single_valued": True}
            for j, name in enumerate(train.columns)
        ],
    }


def _parameters(search: TemplateSearch, parts: SentenceParts) -> dict[str, Any]:
    """How it was done, for the page; what was not asked for is left out."""
    aside = {"journal", "progress", "n_jobs", "random_state", "makers", "candidates"}
    given = search.get_params()
    said = {k: v for k, v in given.items() if k not in aside and v is not None}
    return {"protocol": parts.words, **said}
