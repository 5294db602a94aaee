"""The experiment of Xu, Sun, Guan, Dong and Li on public data: cheap models in place of the CRF.

"Selecting Optimal Feature Template Subset for CRFs" has six sets of templates (Table 1) and six
experiments (Table 2): maximum entropy (ME) against a CRF on templates of observations, a MEMM
against a CRF where the label before comes in.  The claim: what helps the cheap model helps the CRF,
so templates can be chosen without training a CRF.  Here the experiments are run on English chunks
(CoNLL-2000) and on base phrases of Chinese (:mod:`experiments.chinese_segments`), each with
several seeds, on the test part.  Nothing is chosen by it: sets, passes and penalty are given.

The claim itself is then put to the test, on development data: to a window of one token on both
sides each other template of sets 1 to 3 is added alone.  Do the cheap models, and our screening,
rank these additions as the CRF does?
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.chinese_segments import base_phrases
from experiments.runner import (
    Experiment,
    Work,
    english_chunks,
    listed,
    marks_of,
    parts_of,
    percent,
    size_of,
    spread,
    table,
)
from featloom.data.sentences import gold_labels, take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS
from featloom.evaluation.chunks import chunk_counts, label_codes
from featloom.evaluation.metrics import f1_of_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import paired_bootstrap
from featloom.features.template import Template
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger, templates_of_lines
from featloom.methods.template_search.screen import PartModels, Screen
from featloom.results import Bars, Block, Column, Line, Lines, Point, Points, Section
from featloom.words import parts_in_words

PASSES, C2 = 10, 1.0
MOST_CRF_SEEDS = 3  # behind the ranking of single additions, which has many models
SCREEN_PASSES, SCREEN_C2 = 8, 3.0
TAGGED = 3  # times, of which the fastest counts: it is over in a blink
WINDOW = 4
COLUMNS = ("word", "pos")
TIMES = ("train_s", "train_cpu_s", "tag_s", "tag_cpu_s")
NOTE = (
    "Table 2 of the paper: maximum entropy (ME) or a MEMM against a CRF, F1 of chunks on test, "
    "means over seeds; ahead and p: of the CRF, by a paired bootstrap over sentences. Training "
    "includes making the features; on one thread, CPU: seconds of the processor. The paper has "
    "plots without figures; their shape: the CRF ahead of ME and of the MEMM, these two cheaper to "
    "train, dearer to tag with."
)
NAMES = {"maxent": "ME", "memm": "MEMM", "crf": "CRF"}
# Ways to rank templates without training a CRF for each: the model whose time they take, the title.
PROXIES = {
    "maxent": ("maxent", "ME, F1"),
    "maxent_loss": ("maxent", "ME, log-loss"),
    "memm": ("memm", "MEMM, F1"),
    "screen": ("", "screening"),
    "crf_once": ("crf", "CRF, one seed"),
}

# Table 1; column 0 is the word, column 1 its part of speech.  P(i-1)P(i+1) is listed twice there.
# Sets 1 to 3 look at words and parts of speech, ever farther from the token.  Sets 4 to 6 look at
# the label before it: alone, with parts of speech nearby, and with those four tokens away.
SETS = {
    1: "0,0 -1,0 -2,0 1,0 2,0 0,1 -1,1 -2,1 1,1 2,1 -1,0/0,0 0,0/1,0 -1,0/1,0 -1,1/0,1 -2,1/-1,1 "
    "0,1/1,1 -1,1/1,1 -2,1/-1,1/0,1 0,1/1,1/2,1 0,0/1,1 0,0/2,1 0,1/-1,0 -2,0/-1,1/0,1 "
    "0,1/1,0/1,1 -1,1/0,0/0,1 0,1/1,0",
    2: "-3,0 3,0 -3,1 3,1 -3,0/-2,0 2,0/3,0 -3,1/-2,1 2,1/3,1",
    3: "-4,0 4,0 -4,1 4,1 -4,0/-3,0 3,0/4,0 -4,1/-3,1 3,1/4,1",
    4: "",
    5: "0,1/1,1 0,1 -1,1/0,1",
    6: "-4,1 4,1",
}
# Table 2: the model that stands in for the CRF, and the sets of templates.
EXPERIMENTS: dict[int, tuple[str, tuple[int, ...]]] = {
    1: ("maxent", (1,)),
    2: ("maxent", (1, 2)),
    3: ("maxent", (1, 2, 3)),
    4: ("memm", (1, 2, 4)),
    5: ("memm", (1, 2, 4, 5)),
    6: ("memm", (1, 2, 4, 5, 6)),
}


def template_text(sets: Sequence[int]) -> str:
    """The CRF++ template file of some sets of Table 1; from set 4 on they look at label pairs.

    >>> print(template_text((4, 5)))
    B
    B00:%x[0,1]/%x[1,1]
    B01:%x[0,1]
    B02:%x[-1,1]/%x[0,1]
    """
    lines: list[str] = []
    for kind, members in (("U", (1, 2, 3)), ("B", (4, 5, 6))):
        places = [place for n in members if n in sets for place in SETS[n].split()]
        if 4 in sets and kind == "B":
            lines.append("B")
        for number, place in enumerate(places):
            macros = "/".join(f"%x[{cell}]" for cell in place.split("/"))
            lines.append(f"{kind}{number:02d}:{macros}")
    return "\n".join(lines)


def templates_of(sets: Sequence[int]) -> tuple[Template, ...]:
    """The templates of some sets of Table 1.

    >>> len(templates_of([1])), len(templates_of([1, 2, 3])), len(templates_of([1, 2, 4, 5, 6]))
    (26, 42, 40)
    """
    return templates_of_lines(read_templates(template_text(sets).splitlines()), COLUMNS)


def single_additions() -> tuple[tuple[Template, ...], tuple[Template, ...]]:
    """A window of one token on both sides, and the other templates of sets 1 to 3.

    >>> base, additions = single_additions()
    >>> len(base), len(additions), str(additions[0])
    (6, 36, 'word[-2]')
    """
    every = templates_of((1, 2, 3))
    base = [t for t in every if len(t) == 1 and abs(t.places[0][1]) <= 1]
    return tuple(base), tuple(t for t in every if t not in base)


def english() -> dict[str, NominalTable]:
    """The experiments train on all of the training part, the ranking of additions on "learned"."""
    parts = english_chunks()
    return {
        "train": parts["whole"],
        "learned": parts["train"],
        "valid": parts["valid"],
        "test": parts["test"],
    }


def chinese() -> dict[str, NominalTable]:
    trees = parts_of(TEXTS["chinese"][1])
    read = {part: base_phrases(table) for part, table in trees.items()}
    return {"train": read["train"], "learned": read["train"], **read}


TEXTS: dict[str, tuple[str, str, Callable[[], dict[str, NominalTable]]]] = {
    "english": ("English chunks", "conll2000", english),
    "chinese": ("Chinese base phrases", "ud_chinese_gsd_v1", chinese),
}


@dataclass
class Trials:
    """Trains one model, or screens all additions: what a journal has a row for."""

    parts: dict[str, NominalTable]
    ready: bool = field(default=False)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if not self.ready:
            self.compile()
        base, additions = single_additions()
        if asked["part"] == "screening":
            return self.screen(base, additions)
        if asked["part"] == "experiment":
            templates = templates_of(EXPERIMENTS[asked["id"]][1])
            return self.train("train", "test", asked, templates)
        template = next(t for t in additions if str(t) == asked["template"])
        return self.train("learned", "valid", asked, (*base, template))

    def train(
        self, learned: str, judged: str, asked: Mapping[str, Any], templates: Sequence[Template]
    ) -> dict[str, Any]:
        """Features and training of one model, tagging, and what came of it."""
        tagger = tagger_of(asked["model"], templates, asked["seed"])
        training = Clock()
        tagger.fit(self.parts[learned])
        train_s, train_cpu_s = training.read()
        table = self.parts[judged]
        tag_s = tag_cpu_s = float("inf")
        for _ in range(TAGGED):
            tagging = Clock()
            found = tagger.predict(table)
            tag_s, tag_cpu_s = min((tag_s, tag_cpu_s), tagging.read())
        gold = gold_labels(table)
        counts = chunk_counts(*label_codes(gold, found))
        result = {
            "score": float(f1_of_counts(counts.sum(axis=0))),
            "train_s": train_s,
            "train_cpu_s": train_cpu_s,
            "tag_s": tag_s,
            "tag_cpu_s": tag_cpu_s,
            "features": tagger.n_features_,
        }
        if asked["part"] == "addition":
            return result | {"loss": log_loss(tagger, table, gold)}
        return result | {"counts": counts.tolist()}

    def screen(self, base: Sequence[Template], additions: Sequence[Template]) -> dict[str, Any]:
        """What each addition would bring, by the residuals of CRFs with the base templates."""
        clock = Clock()
        models = PartModels(self.parts["learned"], seed=0, threads=1, c2=SCREEN_C2)
        models.train([template.places for template in base], SCREEN_PASSES)
        screen = Screen(models, WINDOW)
        models_s, models_cpu_s = clock.read()
        places = [template.places for template in additions]
        screen.gains(places[:2])  # compiles
        clock = Clock()
        gains = screen.gains(places)[:, 0] / screen.n_judged
        gains_s, gains_cpu_s = clock.read()
        return {
            "score": float(gains.max()),
            "gains": gains.tolist(),
            "models_s": models_s,
            "models_cpu_s": models_cpu_s,
            "gains_s": gains_s,
            "gains_cpu_s": gains_cpu_s,
        }

    def compile(self) -> None:
        """Train each kind of model once on a few sentences: compiling is nobody's time."""
        few = take_sentences(self.parts["train"], np.arange(20))
        for model in NAMES:
            for sets in ((1,), (1, 4, 5)):
                tagger = tagger_of(model, templates_of(sets), 0, passes=1).fit(few)
                tagger.predict_proba(few)
                tagger.predict(few)
        self.ready = True


def tagger_of(
    model: str, templates: Sequence[Template], seed: int, passes: int = PASSES
) -> SequenceTagger:
    how = {"passes": passes, "c2": C2, "n_jobs": 1, "random_state": seed}
    return SequenceTagger(model=model, templates=templates, **how)


class Clock:
    """Seconds since it was made: on the wall, and of CPU.

    The system tells user time from its own by looking in now and then, so that a few milliseconds
    can be all of one kind; their sum is measured.
    """

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self.wall, time.process_time() - self.cpu


def log_loss(tagger: SequenceTagger, table: NominalTable, gold: list[list[str]]) -> float:
    """Mean −log P(gold) of a token; a label that was never learned has next to none."""
    shares = np.concatenate(tagger.predict_proba(table))
    place = {label: j for j, label in enumerate(tagger.classes_)}
    at = np.array([place.get(label, -1) for sentence in gold for label in sentence])
    of_gold = np.where(at >= 0, shares[np.arange(len(at)), at], 0.0)
    return float(-np.log(np.maximum(of_gold, 1e-12)).mean())


def label_text(work: Work) -> dict[str, Any]:
    """The six experiments of Table 2 on one language, and how cheap models rank additions."""
    title, corpus, read = TEXTS[work.name]
    work.say(f"{title}: reading")
    parts = work.drawn(read(), most=("train", "learned"), least=10)
    work.say(f"{title}: training")
    trials = Trials(parts)
    marks = marks_of(parts[name] for name in ("train", "learned", "valid", "test"))
    about = {"experiment": "template-search", "passes": PASSES, "c2": C2, "version": 1}
    models = {
        (number, model): {"part": "experiment", "id": number, "model": model}
        for number, (cheap, _) in EXPERIMENTS.items()
        for model in (cheap, "crf")
    }
    with work.journaled(work.name, marks, **about):
        results = work.contend(trials, models)
        asked = additions_asked(work.seeds)
        found = {
            tuple(one.candidate[k] for k in ("template", "model", "seed")): one.result
            for one in work.ask(trials, asked)
        }
        (screening,) = work.ask(trials, [{"part": "screening"}])
    experiments = experiment_rows(results)
    proxies, agreement = rank_proxies(work.seeds, found, screening.result)
    sizes = {part: size_of(table) for part, table in parts.items()}
    return {
        "source": corpus,
        "rows": sum(sizes.values()),
        "findings": [finding(title, experiments, agreement)],
        "comparisons": [
            {
                "a": f"{title}, experiment {row['id']}: CRF",
                "b": f"{title}, experiment {row['id']}: {NAMES[EXPERIMENTS[row['id']][0]]}",
                "significant": row["ahead"]["p"] < LEVEL,
                **row["ahead"],
            }
            for row in experiments[1::2]
        ],
        "sections": [
            experiments_section(
                title,
                experiments,
                f"{parts_in_words({name: sizes[name] for name in PARTS}, 'sentence')}. {NOTE}",
            ),
            proxies_section(title, proxies, agreement),
            stages_section(title, work),
        ],
    }


def experiments_section(title: str, rows: Sequence[Mapping[str, Any]], note: str) -> Section:
    """Table 2 and Figures 2 to 5 of the paper: F1 and times of models on sets of templates."""
    ahead = {row["id"]: row["ahead"] for row in rows if "ahead" in row}
    head: dict[str, Any] = {
        "experiment": ("count", lambda row: row["id"]),
        "sets": ("text", lambda row: " ".join(map(str, row["sets"]))),
        "model": ("text", lambda row: NAMES[row["model"]]),
    }
    scores = head | {
        "templates": ("count", lambda row: row["templates"]),
        "features": ("count", lambda row: row["features"]),
        "F1 %": ("percent", lambda row: row["f1"]),
        "sd": ("percent", lambda row: row["sd"]),
        "ahead": ("points", lambda row: row.get("ahead", {}).get("difference")),
        "p": ("p", lambda row: row.get("ahead", {}).get("p")),
    }
    times = {
        "train": "train_s", "CPU": "train_cpu_s", "tag": "tag_s", "CPU ": "tag_cpu_s",
        "total": "total_s",
    }  # fmt: skip
    took = head | {
        name: ("seconds", lambda row, field=field: row[field]) for name, field in times.items()
    }
    figures = {
        "F1": ("f1", "percent"), "training time": ("train_s", "seconds"),
        "tagging time": ("tag_s", "seconds"), "total time": ("total_s", "seconds"),
    }  # fmt: skip
    blocks: list[Block] = [
        Lines(
            f"{title}: {what}", "experiment", what, kind, lines_of(rows, field),
            names=[str(number) for number in ahead], from_zero=kind == "seconds",
        )
        for what, (field, kind) in figures.items()
    ]  # fmt: skip
    blocks += [table("F1", rows, scores), table("Seconds", rows, took)]
    return Section("Experiments", title, note, blocks)


def lines_of(rows: Sequence[Mapping[str, Any]], field: str) -> list[Line]:
    """A line for the CRF and one for the cheap models.

    As in the paper ME and the MEMM share one: without label pairs the two are the same model.
    """
    order = list(dict.fromkeys(row["id"] for row in rows))
    found = []
    for name, is_crf in (("ME, MEMM", False), ("CRF", True)):
        own = [row for row in rows if (row["model"] == "crf") == is_crf]
        places: list[float | None] = [order.index(one["id"]) for one in own]
        found.append(Line(name, places, [one[field] for one in own]))
    return found


def proxies_section(
    title: str, proxies: Sequence[Mapping[str, Any]], agreement: Sequence[Mapping[str, Any]]
) -> Section:
    """What each addition is worth to a cheap model and to the CRF, and how well the ranks agree."""
    points = [
        Point(row["template"], row[model], row["crf"], name)
        for model, name in (("maxent", "maximum entropy"), ("memm", "MEMM"))
        for row in proxies
    ]
    drawn = Points(
        "Each template by a cheap model and by the CRF", "F1 by the cheap model", "F1 by the CRF",
        points,
    )  # fmt: skip
    once = Column("once, CPU s", "number", "for all templates together")
    columns: dict[str, Any] = {
        "one template more, ranked by": ("text", lambda row: row["title"]),
        "as the CRF": (
            Column("as the CRF", "number", "Spearman's rank correlation"),
            lambda row: row["spearman"],
        ),
        "CPU s a template": ("number", lambda row: row["cpu_s"]),
        "once": (once, lambda row: row["once_cpu_s"] or None),
    }
    note = (
        f"{len(proxies)} templates, each added alone to a window of one token on both sides, on "
        "development sentences. Spearman's rank correlation says how well an order agrees with "
        "that of the CRF."
    )
    return Section(
        "Proxies", f"{title}: does a cheap model tell what a CRF would?", note,
        [drawn, table("", agreement, columns)],
    )  # fmt: skip


def stages_section(title: str, work: Work) -> Section:
    """What the parts of the work took."""
    spent: dict[str, list[float]] = {}
    for one in work.entries:
        spent.setdefault(one.candidate["part"], []).append(one.seconds)
    names = [f"{part}: {len(seconds):,}" for part, seconds in spent.items()]
    bars = Bars("Time of each stage, and its models", "took", "seconds", names,
                [sum(seconds) for seconds in spent.values()])  # fmt: skip
    return Section("Stages", f"{title}: where the time went", blocks=[bars])


def additions_asked(seeds: range) -> list[dict[str, Any]]:
    """Of the cheap models one seed, which is all that they are asked for; of the CRF more."""
    return [
        {"part": "addition", "template": str(template), "model": model, "seed": seed}
        for template in single_additions()[1]
        for model in NAMES
        for seed in (seeds[:MOST_CRF_SEEDS] if model == "crf" else seeds[:1])
    ]


def experiment_rows(results: Mapping[tuple[int, str], list[dict]]) -> list[dict]:
    """Table 2: the cheap model and then the CRF, with its test against the cheap one."""
    rows: list[dict[str, Any]] = []
    counts = {}
    for (number, model), own in results.items():
        cheap, sets = EXPERIMENTS[number]
        counts[number, model] = np.sum([result["counts"] for result in own], axis=0)
        f1 = spread([result["score"] for result in own])
        row = {
            "id": number,
            "model": model,
            "sets": list(sets),
            "templates": len(templates_of(sets)),
            "features": own[0]["features"],
            "f1": f1["value"],
            "sd": f1["sd"],
            **{name: float(np.mean([result[name] for result in own])) for name in TIMES},
        }
        row["total_s"] = row["train_s"] + row["tag_s"]
        if model == "crf":
            pair = counts[number, "crf"], counts[number, cheap]
            test = paired_bootstrap(*pair, resamples=2000)
            interval = [test.low, test.high]
            row["ahead"] = {"difference": test.difference, "interval": interval, "p": test.p}
        rows.append(row)
    return rows


def rank_proxies(
    seeds: range, found: Mapping[tuple, dict], screening: Mapping[str, Any]
) -> tuple[list[dict], list[dict]]:
    """What each addition is worth to each model, and how well each proxy ranks them."""
    proxies = []
    costs: dict[str, list[float]] = {model: [] for model in NAMES}
    for template, gained in zip(single_additions()[1], screening["gains"], strict=True):
        first = {model: found[str(template), model, seeds[0]] for model in NAMES}
        crfs = [found[str(template), "crf", seed]["score"] for seed in seeds[:MOST_CRF_SEEDS]]
        proxies.append(
            {
                "template": str(template),
                "maxent": first["maxent"]["score"],
                "maxent_loss": first["maxent"]["loss"],
                "memm": first["memm"]["score"],
                "screen": gained,
                "crf": float(np.mean(crfs)),
                # The seed that one run would have, against the others.
                "crf_once": crfs[0],
                "crf_others": float(np.mean(crfs[1:])) if len(crfs) > 1 else None,
            }
        )
        for model, result in first.items():
            costs[model].append(result["train_cpu_s"] + result["tag_cpu_s"])
    costs[""] = [screening["gains_cpu_s"] / len(proxies)]
    agreement = [
        {
            "proxy": name,
            "title": title,
            "spearman": rank_agreement(proxies, name),
            "cpu_s": float(np.mean(costs[model])),
            "once_cpu_s": 0.0 if model else screening["models_cpu_s"],
        }
        for name, (model, title) in PROXIES.items()
    ]
    return proxies, agreement


def rank_agreement(rows: Sequence[dict[str, Any]], proxy: str) -> float | None:
    """Spearman's correlation of a proxy with the CRF's F1; None where either is the same all over.

    A CRF of one seed is compared with those of the other seeds.

    >>> rows = [{"maxent": .5, "crf": .6}, {"maxent": .6, "crf": .8}, {"maxent": .7, "crf": .7}]
    >>> rank_agreement(rows, "maxent")
    0.5
    """
    from scipy.stats import spearmanr

    truth = [row["crf_others" if proxy == "crf_once" else "crf"] for row in rows]
    given = [-row[proxy] if proxy == "maxent_loss" else row[proxy] for row in rows]
    if None in truth or len(set(truth)) < 2 or len(set(given)) < 2:
        return None
    return round(float(spearmanr(given, truth).statistic), 12)


def finding(title: str, experiments: list[dict], agreement: list[dict]) -> str:
    """What a data set says of the paper's claims, in plain words."""
    pairs = list(zip(experiments[::2], experiments[1::2], strict=True))
    groups = pairs[:3], pairs[3:]
    sentences = [f"{title}: {ahead(groups[0])}, {ahead(groups[1])}."]
    maxent, memm = pairs[1][0]["f1"], pairs[3][0]["f1"]
    points = 100 * (memm - maxent)
    sentences.append(
        f"On the same observations the label before {'raises' if points > 0 else 'lowers'} a local "
        f"model by {abs(points):.2f} points (ME {percent(maxent)}, MEMM {percent(memm)})."
    )
    for what, word in (("train", "Training"), ("tag", "Tagging")):
        shares = [
            f"with {NAMES[group[0][0]['model']]} "
            + span([cheap[f"{what}_cpu_s"] / crf[f"{what}_cpu_s"] for cheap, crf in group])
            for group in groups
        ]
        sentences.append(f"{word} takes {listed(shares)} of the CRF's CPU time.")
    ranks = [
        f"{row['title']} {row['spearman']:.2f}" for row in agreement if row["spearman"] is not None
    ]
    if ranks:
        sentences.append(f"Rank agreement with the CRF over single additions: {'; '.join(ranks)}.")
    return " ".join(sentences)


def ahead(pairs: list[tuple[dict, dict]]) -> str:
    """Whether the CRF is ahead of the model it is compared with, beyond chance."""
    name = NAMES[pairs[0][0]["model"]]
    tests = [crf["ahead"] for _, crf in pairs]
    points = span([100 * test["difference"] for test in tests], "+")
    beyond = [test["difference"] for test in tests if test["p"] < LEVEL]
    wins, losses = sum(one > 0 for one in beyond), sum(one < 0 for one in beyond)
    if len(tests) in (wins, losses):
        side = "ahead of" if wins else "behind"
        return f"the CRF is {side} {name} in all three experiments ({points} points)"
    return (
        f"the CRF is ahead of {name} beyond chance in {wins} of three experiments and behind in "
        f"{losses} ({points} points)"
    )


def span(values: Sequence[float], sign: str = "") -> str:
    low, high = (f"{value:{sign}.2f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def gather(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The sections and tests of all languages."""
    return {
        name: [one for part in found.values() for one in part[name]]
        for name in ("sections", "comparisons")
    }


EXPERIMENT = Experiment(
    kind="template_search",
    noun="data set",
    parts=tuple(TEXTS),
    work=label_text,
    gather=gather,
    listed_as="tasks",
    parameters={"passes": PASSES, "c2": C2},
)
