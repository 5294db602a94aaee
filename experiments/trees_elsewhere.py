"""Templates grown on trees where nothing is parsed: rows with a class each, and a tagger.

Three tables: letter to sound, the attachment of prepositional phrases, and the chunk label of a
word from the words and tags around it.  On each a linear model sees the single columns (basic),
then the columns joined by templates; beside them gradient boosting sees the same columns as
categories.  Settings of all three are chosen on development rows, after learning from a part of
the training rows where these are many.

The tagger is one of English chunks (CoNLL-2000).  The columns of a window around each word become
a table, trees grow on it, and their paths are templates of a CRF.  They are given to it as they
are, and thinned by the template search, to which they are the only candidates; beside them stand
the tagger's own templates and a search from scratch.  The shape of the forest and the rate of
learning are chosen on development sentences by CRFs that learned from the others; for the test all
of them are learned from.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import msgspec
import numpy as np

from experiments.runner import (
    Work,
    compared,
    english_chunks,
    finding,
    marks_of,
    parts_of,
    sample_of,
    size_of,
    system_row,
    systems_section,
)
from featloom.data.columns import default_makers, derive, fit_makers
from featloom.data.sentences import gold_labels
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS
from featloom.evaluation.chunks import chunk_counts, label_codes
from featloom.evaluation.metrics import f1_of_counts
from featloom.evaluation.significance import mcnemar_of_counts
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import sequence_templates, window_table
from featloom.formats.packing import packed, unpacked
from featloom.learners.linear import logistic_regression
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search import TemplateSearch
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.findings import template_rows, templates_section, tree_of
from featloom.results import Block, Code, Facts, Section, Tree
from featloom.words import parts_in_words

VERSION = 2
ROWS_A_SENTENCE = 20  # of a sample
LEARNED, JUDGED = 50_000, 20_000  # rows that a setting is chosen by, at most
PASSES = 10
NOTE = (
    "Gain and p: against the first system, by McNemar's test of rows or a paired bootstrap of "
    "chunks over sentences. Features of LightGBM are the leaves of its trees. Seconds are those of "
    "one training on one thread."
)
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MIDDLE = 1.0  # the penalty at which shapes are chosen
MODELS = {"basic": "linear, basic", "templates": "linear, templates", "boosting": "LightGBM"}
SHAPES = tuple(
    {"max_length": length, "n_trees": trees, "most": most}
    for length in (2, 3, 4)
    for trees, most in ((1, 30), (1, None), (8, 30), (8, 60))
)
BOOSTING = tuple(
    {"num_leaves": leaves, "cat_smooth": smooth} for leaves in (15, 63) for smooth in (1.0, 10.0)
)
ROUNDS, PATIENCE = 200, 10

CHUNKS = "English chunks"
WINDOW = 2
CUTOFF = 2  # as in the template search
MOST_SHOWN = 100  # templates that an entry tells of
TAGGERS = {
    "default": "tagger's own templates",
    "grown": "grown",
    "thinned": "grown, thinned",
    "search": "search from scratch",
}
# Columns: those given alone, each also by itself a template; or also those that the template
# search derives, which would be too many by themselves.
FORESTS: tuple[dict[str, Any], ...] = (
    {"derived": False, "max_length": 3, "n_trees": 1, "most": 60},
    {"derived": False, "max_length": 4, "n_trees": 1, "most": None},
    {"derived": False, "max_length": 3, "n_trees": 12, "most": 150},
    {"derived": True, "max_length": 3, "n_trees": 12, "most": 60, "singles": False},
    {"derived": True, "max_length": 3, "n_trees": 12, "most": 150, "singles": False},
)
RATES = (0.1, 0.03)  # of learning: many templates want the lower one


@dataclass(frozen=True)
class Task:
    """A table, and how its linear model is trained.

    ``newton`` is for small tables: the exact optimum; others are trained in passes over the rows,
    which is the same model.  ``cutoff`` is how often a feature must be seen.
    """

    title: str
    read: Callable[[], dict[str, NominalTable]]
    newton: bool = False
    cutoff: int = 2


def windows() -> dict[str, NominalTable]:
    parts = english_chunks()
    return {part: window_table(parts[part], WINDOW) for part in PARTS}


TASKS = {
    "letters": Task("letter to sound", lambda: parts_of("gs-cmudict")),
    "phrases": Task("PP attachment", lambda: parts_of("ppattach"), newton=True, cutoff=1),
    "windows": Task("chunk labels in windows", windows),
}


@dataclass
class TableTrials:
    """Trains and judges one model on a table: what a journal has an entry for."""

    parts: dict[str, NominalTable]
    newton: bool
    cutoff: int
    seed: int
    at_hand: dict[str, NominalTable] = field(default_factory=dict)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        few = asked["part"] == "choice"
        train = self.rows("train", LEARNED if few else None)
        judged = self.rows("valid", JUDGED) if few else self.rows("test", None)
        learn = self.boosted if asked["system"] == "boosting" else self.linear
        begun = time.perf_counter()
        predict, about = learn(train, asked["setting"])
        seconds = time.perf_counter() - begun
        right = predict(judged) == judged.label_names
        found = {"score": float(right.mean()), "seconds": seconds, **about()}
        return found if few else found | {"right": packed(right)}

    def rows(self, part: str, most: int | None) -> NominalTable:
        key = f"{part} {most}"
        if key not in self.at_hand:
            table = replace(self.parts[part], sequence_bounds=None)
            self.at_hand[key] = table if most is None else sample_of(table, most, self.seed)
        return self.at_hand[key]

    def linear(self, train: NominalTable, setting: Mapping[str, Any]) -> tuple[Callable, Callable]:
        """Multinomial logistic regression on the features of templates."""
        shape = {k: v for k, v in setting.items() if k != "penalty"}
        penalty, cutoff = setting["penalty"], self.cutoff
        grown = TreeTemplates(**shape, cutoff=cutoff, random_state=self.seed).fit(train)
        templates = list(grown.templates_)
        if self.newton:
            # The penalty of the other way of training is c2 |w|², here it is |w|² / 2C.
            model = logistic_regression(1 / (2 * penalty))
            model.fit(grown.transform(train), train.label_names)
            about = {"features": int(model.coef_.size), "templates": len(templates)}
            return lambda table: model.predict(grown.transform(table)).astype(object), lambda: about
        how = {"passes": PASSES, "n_jobs": 1, "random_state": self.seed}
        tagger = SequenceTagger(
            model="maxent", templates=templates, c2=penalty, cutoff=cutoff, **how
        ).fit(each_alone(train))
        about = {"features": int(tagger.n_features_), "templates": len(templates)}

        def predict(table: NominalTable) -> np.ndarray:
            answers = tagger.predict(each_alone(table))
            return np.array([label for (label,) in answers], dtype=object)

        return predict, lambda: about

    def boosted(self, train: NominalTable, setting: Mapping[str, Any]) -> tuple[Callable, Callable]:
        """Gradient boosting with the columns as categories; development rows say when to stop."""
        import lightgbm

        known = train.recode(self.rows("valid", JUDGED))
        # What was never learned can be answered by no tree.
        some = np.flatnonzero(np.isin(known.label_codes, np.unique(train.label_codes)))
        how: dict[str, Any] = {"n_jobs": 1, "random_state": self.seed, "verbose": -1}
        model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, learning_rate=0.1, **how, **setting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(
                categories(train),
                train.labels,
                eval_set=[(categories(known)[some], known.label_codes[some])],
                categorical_feature=list(range(len(train.columns))),
                callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
            )

        def predict(table: NominalTable) -> np.ndarray:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                codes = model.predict(categories(train.recode(table)))
            return np.array(train.classes, dtype=object)[codes]

        def about() -> dict[str, Any]:
            rounds = int(model.best_iteration_ or ROUNDS)
            text = model.booster_.model_to_string(num_iteration=rounds)
            leaves = sum(map(int, re.findall(r"^num_leaves=(\d+)$", text, flags=re.MULTILINE)))
            return {"features": leaves, "rounds": rounds}

        return predict, about


def categories(table: NominalTable) -> np.ndarray:
    """Codes from 0; what is unknown is missing."""
    return np.ascontiguousarray(table.codes - 1)


def each_alone(table: NominalTable) -> NominalTable:
    """Every row a sentence of its own."""
    return replace(table, sequence_bounds=np.arange(len(table) + 1, dtype=np.int64))


def learn_tables(work: Work) -> dict[str, Any]:
    """All models on the three tables, and their tests against the basic linear one."""
    found: dict[str, Any] = {"comparisons": [], "findings": [], "sections": []}
    n_rows = 0
    for name, task in TASKS.items():
        work.say(f"{task.title}: reading")
        parts = work.drawn(task.read(), rows=ROWS_A_SENTENCE)
        sizes = {part: len(table) for part, table in parts.items()}
        n_rows += sum(sizes.values())
        about = {"version": VERSION, "passes": PASSES, "rounds": ROUNDS, "patience": PATIENCE}
        about |= {"learned": LEARNED, "judged": JUDGED, "seed": work.seeds[0]}
        trials = TableTrials(parts, task.newton, task.cutoff, work.seeds[0])
        marks = marks_of(parts.values())
        with work.journaled(name, marks, experiment="tree-templates", data=name, **about):
            work.say(f"{task.title}: choosing settings")
            chosen = choose_settings(work, trials)
            work.say(f"{task.title}: learning")
            asked = [
                {"part": "row", "system": system, "setting": setting}
                for system, setting in chosen.items()
            ]
            results = dict(zip(chosen, (e.result for e in work.ask(trials, asked)), strict=True))
        rows, tests = table_rows(task.title, parts["test"], chosen, results)
        found["comparisons"] += tests
        note = f"{parts_in_words(sizes)}. {NOTE}"
        found["sections"].append(systems_section(task.title, rows, tests, note=note))
        pairs = zip(rows[1:], tests, strict=True)
        found["findings"].append(finding(task.title, rows[0], pairs))
    return {"source": "tables", "rows": n_rows, **found}


def choose_settings(work: Work, trials: TableTrials) -> dict[str, dict[str, Any]]:
    """Templates at a middling penalty, then the penalty; boosting by itself."""

    def best(settings: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
        asked = [{"part": "choice", "system": s, "setting": setting} for s, setting in settings]
        found = work.best(trials, asked, by="system")
        return {system: dict(one.candidate["setting"]) for system, one in found.items()}

    first = [("templates", {**shape, "penalty": MIDDLE}) for shape in SHAPES]
    first += [("basic", {"max_length": 1, "penalty": penalty}) for penalty in PENALTIES]
    if find_spec("lightgbm") is not None:
        first += [("boosting", dict(one)) for one in BOOSTING]
    chosen = best(first)
    shape = chosen["templates"]
    chosen |= best([("templates", {**shape, "penalty": penalty}) for penalty in PENALTIES])
    return {system: chosen[system] for system in MODELS if system in chosen}


def table_rows(
    title: str, test: NominalTable, chosen: Mapping[str, dict], results: Mapping[str, dict]
) -> tuple[list[dict], list[dict]]:
    """A row for each model, and McNemar's test of each against the first."""
    right = {system: unpacked(result["right"]) for system, result in results.items()}
    bounds = np.arange(len(test) + 1) if test.sequence_bounds is None else test.sequence_bounds
    counts = {}
    for system, ones in right.items():
        sums = np.concatenate(([0], np.cumsum(ones)))
        counts[system] = [np.stack([np.diff(sums[bounds]), np.diff(bounds)], axis=1)]
    rows = [
        system_row(
            MODELS[system],
            title,
            "accuracy",
            counts[system],
            **{name: result.get(name) for name in ("templates", "features", "seconds")},
            setting=", ".join(f"{k} {v}" for k, v in chosen[system].items()),
        )
        for system, result in results.items()
    ]
    tests = []
    for system in list(results)[1:]:
        only = int((right[system] > right["basic"]).sum())
        other = int((right[system] < right["basic"]).sum())
        pair = [(MODELS[one], counts[one]) for one in (system, "basic")]
        p = mcnemar_of_counts(only, other).p
        tests.append(compared(title, "accuracy", pair[0], pair[1], p))
    return rows, tests


@dataclass
class ChunkTrials:
    """Grows, searches or trains for one set of templates: what a journal has an entry for.

    Parameters
    ----------
    parts : "train" and "valid" to choose by, "whole" for both, and "test".
    seed : of forests and searches.
    plans : the templates that were found, by system.
    """

    parts: dict[str, NominalTable]
    seed: int
    plans: dict[str, Any] = field(default_factory=dict)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["part"] == "grow":
            return self.grow(asked["shape"], asked["rate"])
        return self.search(asked["system"]) if asked["part"] == "search" else self.train(asked)

    def grow(self, shape: Mapping[str, Any], rate: float) -> dict[str, Any]:
        train = self.parts["train"]
        how = {name: value for name, value in shape.items() if name != "derived"}
        makers = fit_makers(train, default_makers(train) if shape["derived"] else [])
        begun = time.perf_counter()
        around = window_table(derive(train, *makers), WINDOW)
        grown = TreeTemplates(**how, random_state=self.seed).fit(around)
        seconds = time.perf_counter() - begun
        templates = sequence_templates(grown.templates_)
        used = {name for template in templates for name, _ in template.places}
        plan = FeaturePlan(
            derived=tuple(maker.to_dict() for maker in makers if maker.name in used),
            templates=(*templates, Template((), "B", "B")),
        )
        counts = judged(tagger_of(plan, self.seed, rate).fit(train), self.parts["valid"])
        return {
            "score": float(f1_of_counts(counts.sum(axis=0))),
            "plan": plan.to_json(),
            "grown": template_rows(grown.grown_[:MOST_SHOWN]),
            "shown": msgspec.to_builtins(tree_of(grown.tree_, "tokens")),
            "rows": len(around),
            "grow_s": seconds,
        }

    def search(self, system: str) -> dict[str, Any]:
        how: dict[str, Any] = {"strategy": "screened", "n_jobs": 1, "random_state": self.seed}
        if system == "thinned":
            plan = FeaturePlan.from_json(self.plans["grown"])
            how["candidates"] = [t for t in plan.templates if t.kind == "U"]
            how["makers"] = list(plan.derived)
        begun = time.perf_counter()
        found = TemplateSearch(**how).fit(self.parts["whole"])
        return {
            "score": float(len(found.plan_.templates)),
            "plan": found.plan_.to_json(),
            "search_s": time.perf_counter() - begun,
        }

    def train(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """A choice learns from a part and is judged by development data, a row by the test."""
        text = self.plans.get(asked["system"])
        plan = None if text is None else FeaturePlan.from_json(text)
        learned, judging = ("whole", "test") if asked["part"] == "row" else ("train", "valid")
        begun = time.perf_counter()
        tagger = tagger_of(plan, asked["seed"], asked["rate"]).fit(self.parts[learned])
        seconds = time.perf_counter() - begun
        counts = judged(tagger, self.parts[judging])
        return {
            "score": float(f1_of_counts(counts.sum(axis=0))),
            "counts": packed(counts.ravel()),
            "templates": len(tagger.templates_),
            "features": int(tagger.n_features_),
            "seconds": seconds,
        }


def tagger_of(plan: FeaturePlan | None, seed: int, rate: float) -> SequenceTagger:
    how = {"passes": PASSES, "cutoff": CUTOFF, "n_jobs": 1}
    return SequenceTagger(plan=plan, rate=rate, random_state=seed, **how)


def judged(tagger: SequenceTagger, table: NominalTable) -> np.ndarray:
    return chunk_counts(*label_codes(gold_labels(table), tagger.predict(table)))


def tag_chunks(work: Work) -> dict[str, Any]:
    """Chunk F1 of grown templates, thinned and not, beside other sets."""
    work.say(f"{CHUNKS}: reading")
    read = english_chunks()
    order = ("train", "valid", "whole", "test")
    parts = work.drawn({part: read[part] for part in order}, most=("train", "whole"))
    trials = ChunkTrials(parts, work.seeds[0])
    about = {"version": VERSION, "passes": PASSES, "cutoff": CUTOFF, "seed": work.seeds[0]}
    marks = marks_of(parts.values())
    with work.journaled("chunks", marks, experiment="tree-templates", data="chunks", **about):
        work.say(f"{CHUNKS}: growing templates")
        asked = [{"part": "grow", "shape": s, "rate": rate} for s in FORESTS for rate in RATES]
        best = work.best(trials, asked, by="part")["grow"]
        shape, grown = best.candidate["shape"], best.result
        trials.plans["grown"] = grown["plan"]
        work.say(f"{CHUNKS}: searching templates")
        # What is thinned belongs to the question: another forest is another search.
        asked = [
            {"part": "search", "system": "thinned", "shape": shape},
            {"part": "search", "system": "search"},
        ]
        searched = {one.candidate["system"]: one.result for one in work.ask(trials, asked)}
        trials.plans |= {system: result["plan"] for system, result in searched.items()}
        work.say(f"{CHUNKS}: tagging")
        asked = [
            {"part": "rate", "system": system, "rate": rate, "seed": work.seeds[0]}
            for system in TAGGERS
            if system != "grown"
            for rate in RATES
        ]
        rates = {"grown": best.candidate["rate"]}
        for system, one in work.best(trials, asked, by="system").items():
            rates[system] = one.candidate["rate"]
        results = work.contend(
            trials,
            {s: {"part": "row", "system": s, "rate": rates[s]} for s in TAGGERS},
        )
    counts = {
        system: [unpacked(one["counts"]).reshape(-1, 3) for one in own]
        for system, own in results.items()
    }
    found_s = {system: result["search_s"] for system, result in searched.items()}
    found_s["grown"] = grown["grow_s"]
    rows = [
        system_row(
            TAGGERS[system],
            CHUNKS,
            "F1",
            counts[system],
            templates=own[0]["templates"],
            features=own[0]["features"],
            seconds=float(np.mean([one["seconds"] for one in own])),
            found_s=found_s.get(system),
            setting=f"rate {rates[system]}",
        )
        for system, own in results.items()
    ]
    # Each against the tagger's own templates; grown ones against a search from scratch.
    pairs = [(system, "default") for system in list(TAGGERS)[1:]]
    pairs += [("grown", "search"), ("thinned", "search"), ("thinned", "grown")]
    tests = [
        compared(CHUNKS, "F1", (TAGGERS[a], counts[a]), (TAGGERS[b], counts[b])) for a, b in pairs
    ]
    sizes = {part: size_of(table) for part, table in parts.items() if part != "whole"}
    return {
        "source": "chunks",
        "rows": sum(sizes.values()),
        "comparisons": tests,
        "sections": [
            systems_section(
                CHUNKS, rows, tests, note=f"{parts_in_words(sizes, 'sentence')}. {NOTE}"
            ),
            grown_section(grown, shape),
            forest_templates(CHUNKS, grown["grown"]),
            Section(
                "Plans",
                "The templates of each system, for FeaturePlan.from_json",
                blocks=[Code(TAGGERS[name], plan) for name, plan in trials.plans.items()],
            ),
        ],
        "findings": [finding(CHUNKS, rows[0], zip(rows[1:], tests, strict=False))],
    }


def grown_section(grown: Mapping[str, Any], shape: Mapping[str, Any]) -> Section:
    """The forest that was chosen on development sentences, and its first tree."""
    facts = [("tokens", grown["rows"], "count"), ("grown in", grown["grow_s"], "seconds")]
    facts += [(name.replace("_", " "), value, "text") for name, value in shape.items()]
    blocks: list[Block] = [Facts(facts), msgspec.convert(grown["shown"], Tree)]
    return Section("Tree", f"{CHUNKS}: the forest that was chosen", blocks=blocks)


def forest_templates(title: str, rows: Sequence[Sequence[Any]]) -> Section:
    """The templates of the forest on one data set."""
    section = templates_section(rows)
    section.title, section.brief = f"{title}: the templates, by what they bring", 5
    return section
