"""Templates chosen by machine against templates made by hand, on English chunks (CoNLL-2000).

``python benchmarks/sequence_accuracy.py [--quick]``; FEATLOOM_DATA names the corpora' folder.
The search sees the training sentences alone.  Every set of templates then gets a CRF trained in the
same way on all of them (10 passes, c2 = 1), with five seeds, and is scored on the test part; beside
the mean stands the F1 of the five seeds' mean weights.  Differences are tested by a bootstrap over
sentences, counts of the five seeds added up.  The control has as many templates as were chosen,
drawn at random from the same candidates.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from featloom.data.columns import default_makers, fit_makers
from featloom.data.sentences import gold_labels, take_sentences
from featloom.data.tasks.ready import load
from featloom.evaluation.chunks import chunk_counts, label_codes
from featloom.evaluation.metrics import f1_of_counts
from featloom.evaluation.significance import paired_bootstrap
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger, templates_of_lines
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.candidates import CandidateTemplates

SEEDS = 5


def main(quick: bool) -> None:
    train, test = load("conll2000", "train"), load("conll2000", "test")
    if quick:
        train, test = take_sentences(train, np.arange(500)), take_sentences(test, np.arange(250))
    wall, user = time.perf_counter(), os.times().user
    search = TemplateSearch(n_jobs=2, random_state=0).fit(train)
    wall, user = time.perf_counter() - wall, os.times().user - user
    chosen = search.plan_
    makers = fit_makers(train, default_makers(train))
    derived = tuple(maker.to_dict() for maker in makers)
    lines = Path(__file__).with_name("chunking.template").read_text().splitlines()
    hand = templates_of_lines(read_templates(lines), train.columns)
    tag_pairs = (
        Template((("pos", 0),), "B", "B01"),
        Template((("pos", -1), ("pos", 0)), "B", "B02"),
    )
    plans = {
        "by hand (26)": (FeaturePlan(templates=hand), 1),
        "by hand, seen twice": (FeaturePlan(templates=hand), 2),
        "by hand with affixes and shapes": (
            FeaturePlan(derived=derived, templates=(*hand, *affixes())), 1,
        ),
        "chosen": (chosen, 2),
        "chosen, label pairs with tags": (
            FeaturePlan(derived=chosen.derived, templates=(*chosen.templates, *tag_pairs)), 2,
        ),
        "as many at random": (random_plan(train, chosen), 2),
    }  # fmt: skip
    gold = gold_labels(test)
    counts = {}
    for name, (plan, cutoff) in plans.items():
        row, counts[name] = scored(plan, cutoff, train, test, gold)
        row |= {"bench": "CoNLL-2000 chunking", "peer": name, "ratio": None}
        if name == "chosen":
            row |= {"search_s": round(wall, 1), "search_user_s": round(user, 1)}
        for other in ("by hand (26)", "by hand with affixes and shapes"):
            if other in counts and other != name:
                row[f"minus {other}"] = difference(counts[name], counts[other])
        print(json.dumps(row), flush=True)


def scored(plan, cutoff, train, test, gold) -> tuple[dict, dict]:
    """F1 of five seeds, and of their mean weights; counts a sentence of both."""
    sums, scores, models = 0, [], []
    user = os.times().user
    for seed in range(SEEDS):
        tagger = SequenceTagger(plan=plan, cutoff=cutoff, random_state=seed, n_jobs=2).fit(train)
        of_seed = _counts(tagger, test, gold)
        scores.append(float(f1_of_counts(of_seed.sum(axis=0))))
        sums = sums + of_seed
        models.append(tagger.model_)
    user = (os.times().user - user) / SEEDS
    tagger.model_.weights = np.mean([model.weights for model in models], axis=0)
    tagger.model_.pair_weights = np.mean([model.pair_weights for model in models], axis=0)
    averaged = _counts(tagger, test, gold)
    row = {
        "templates": sum(template.kind == "U" for template in plan.templates),
        "cutoff": cutoff,
        "features": tagger.n_features_,
        "value": float(np.mean(scores)),
        "deviation": float(np.std(scores, ddof=1)),
        "averaged": float(f1_of_counts(averaged.sum(axis=0))),
        "user_s": round(user, 2),
    }
    return row, {"seeds": sums, "averaged": averaged}


def _counts(tagger: SequenceTagger, test, gold) -> np.ndarray:
    return chunk_counts(*label_codes(gold, tagger.predict(test)))


def difference(first: dict, second: dict) -> dict:
    found = {}
    for which in ("seeds", "averaged"):
        test = paired_bootstrap(first[which], second[which], resamples=5000)
        found[which] = [round(v, 5) for v in (test.difference, test.low, test.high, test.p)]
    return found


def affixes() -> list[Template]:
    """What people add by hand: affixes, lower case, shapes and flags."""
    parts = [f"{kind}{length}" for kind in ("prefix", "suffix") for length in (1, 2, 3, 4)]
    here = [(f"word.{part}", 0) for part in [*parts, "digit", "hyphen", "capital"]]
    around = [(f"word.{part}", offset) for part in ("lower", "shape") for offset in (-1, 0, 1)]
    return [Template((place,)) for place in here + around]


def random_plan(train, chosen: FeaturePlan) -> FeaturePlan:
    """As many templates of the same lengths, drawn from the candidates."""
    candidates = CandidateTemplates(chosen.derive(train), 3)
    rng = np.random.default_rng(0)
    pools = {1: candidates.atomic(), 2: candidates.pairs()}
    templates = []
    for template in chosen.templates:
        if template.kind != "U":
            templates.append(template)
            continue
        pool = pools[min(len(template), 2)]
        places = pool[rng.integers(len(pool))]
        longer = candidates.extensions(places) if len(template) > 2 else []
        if longer:
            places = longer[rng.integers(len(longer))]
        templates.append(Template(tuple(places)))
    return FeaturePlan(derived=chosen.derived, templates=tuple(templates))


if __name__ == "__main__":
    if "FEATLOOM_DATA" not in os.environ:
        sys.exit("FEATLOOM_DATA does not name the folder with the corpora")
    main("--quick" in sys.argv)
