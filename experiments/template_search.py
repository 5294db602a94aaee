"""The experiment of Xu, Sun, Guan, Dong and Li on public data: cheap models in place of the CRF.

"Selecting Optimal Feature Template Subset for CRFs" has six sets of templates (Table 1) and six
experiments (Table 2): maximum entropy (ME) against a CRF on templates of observations, a MEMM
against a CRF where the label before comes in.  The claim: what helps the cheap model helps the CRF,
so templates can be chosen without training a CRF.  Here the experiments are run on English chunks
(CoNLL-2000) and on base phrases of Chinese (:mod:`featloom.data.tasks.chinese_segments`), each with
several seeds, on the test part.  Nothing is chosen by it: sets, passes and penalty are given.

The claim itself is then put to the test, on development data: to a window of one token on both
sides each other template of sets 1 to 3 is added alone.  Do the cheap models, and our screening,
rank these additions as the CRF does?

Every model that was trained is written to a journal of its data set, so an experiment that was
stopped goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.template_findings import NAMES, PROXIES, finding, rank_agreement
from experiments.template_sets import EXPERIMENTS, single_additions, templates_of
from featloom.data.sentences import gold_labels, take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.chinese_segments import base_phrases
from featloom.data.tasks.ready import load
from featloom.errors import InputError
from featloom.evaluation.chunks import chunk_counts, label_codes
from featloom.evaluation.metrics import f1_of_counts
from featloom.evaluation.significance import paired_bootstrap
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search.screen import PartModels, Screen
from featloom.runs import Run
from featloom.search import Journal, fingerprint, search
from featloom.search.strategies.exhaustive import Listed

PASSES, C2 = 10, 1.0
MOST_CRF_SEEDS = 3  # behind the ranking of single additions, which has many models
SCREEN_PASSES, SCREEN_C2 = 8, 3.0
TAGGED = 3  # times, of which the fastest counts: it is over in a blink
_WINDOW = 4


@dataclass(frozen=True)
class Text:
    """A data set by name: what is labelled, and how its parts are read."""

    title: str
    corpus: str
    read: Callable[[], dict[str, NominalTable]]


def reproduce_template_search(
    run: Run,
    *,
    only: str | None = None,
    sample: int | None = None,
    seeds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] = lambda *_: None,
) -> dict[str, Any]:
    """The six experiments of Table 2, and how cheap models rank single additions.

    Parameters
    ----------
    only : one of the data sets, "english" or "chinese"; None: both.
    sample : training sentences that are drawn, and a quarter as many of the other parts.
    seeds : how often each model is trained, on the sentences in another order.
    seed : the first of these seeds, and that of the sample.
    jobs : models trained side by side, each on one thread.
    """
    chosen = _chosen(only)
    if sample is not None and sample < 50:
        raise InputError(f"a sample of {sample} sentences is too small; take 50 or more")
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1")
    experiments: list[dict] = []
    proxies: list[dict] = []
    agreement: list[dict] = []
    stages: list[dict] = []
    findings, sizes, evaluations = [], {}, 0
    for name in chosen:
        say(f"{TEXTS[name].title}: reading")
        parts = _sampled(TEXTS[name].read(), sample, seed)
        trial = _Trial(name, parts, range(seed, seed + seeds))
        say(f"{TEXTS[name].title}: training")
        found = trial.run(run, jobs, progress)
        experiments += trial.experiments
        proxies += trial.proxies
        agreement += trial.agreement
        stages += trial.stages
        sizes[name] = {part: _n_sentences(table) for part, table in parts.items()}
        findings.append(finding(TEXTS[name].title, trial.experiments, trial.agreement))
        evaluations += found
    warnings = []
    if sample is not None:
        warnings.append(f"a sample of up to {sample:,} training sentences, not the whole data")
    return {
        "kind": "template_search",
        "data": {
            "source": ", ".join(TEXTS[name].corpus for name in chosen),
            "rows": sum(sum(of_parts.values()) for of_parts in sizes.values()),
            "warnings": warnings,
        },
        "parameters": {
            "tasks": chosen, "sample": sample, "seeds": seeds, "passes": PASSES, "c2": C2,
        },
        "evaluations": evaluations,
        "template_search": {
            "experiments": experiments,
            "proxies": proxies,
            "agreement": agreement,
            "stages": stages,
            "sizes": sizes,
            "findings": findings,
        },
        "verdict": " ".join(findings),
    }  # fmt: skip


def _chosen(only: str | None) -> list[str]:
    if only is None:
        return list(TEXTS)
    if only not in TEXTS:
        raise InputError(f"no data set {only!r}; there are {', '.join(TEXTS)}")
    return [only]


def _english() -> dict[str, NominalTable]:
    """Train and test as the shared task has them; every tenth training sentence is set aside.

    The experiments train on all of the training part, the ranking of additions on nine tenths.
    """
    train, test = load("conll2000", "train"), load("conll2000", "test")
    assert isinstance(train, NominalTable)
    assert isinstance(test, NominalTable)
    aside = np.arange(_n_sentences(train)) % 10 == 9
    return {
        "train": train,
        "learned": take_sentences(train, np.flatnonzero(~aside)),
        "valid": take_sentences(train, np.flatnonzero(aside)),
        "test": test,
    }


def _chinese() -> dict[str, NominalTable]:
    parts = {}
    for name in ("train", "valid", "test"):
        trees = load("ud_chinese_gsd_v1", name)
        assert isinstance(trees, NominalTable)
        parts[name] = base_phrases(trees)
    return {**parts, "learned": parts["train"]}


TEXTS = {
    "english": Text("English chunks", "conll2000", _english),
    "chinese": Text("Chinese base phrases", "ud_chinese_gsd_v1", _chinese),
}


def _n_sentences(table: NominalTable) -> int:
    assert table.sequence_bounds is not None
    return len(table.sequence_bounds) - 1


def _sampled(
    parts: dict[str, NominalTable], sample: int | None, seed: int
) -> dict[str, NominalTable]:
    if sample is None:
        return parts
    drawn = {}
    for name, table in parts.items():
        n = _n_sentences(table)
        size = min(n, sample if name in ("train", "learned") else max(10, sample // 4))
        some = np.random.default_rng(seed).choice(n, size=size, replace=False)
        drawn[name] = take_sentences(table, np.sort(some))
    return drawn


@dataclass
class Trials:
    """Trains one model, or screens all additions: what a journal has a row for."""

    parts: dict[str, NominalTable]
    ready: bool = field(default=False)

    def __call__(self, asked) -> dict[str, Any]:
        if not self.ready:
            self._compile()
        base, additions = single_additions()
        if asked["part"] == "screening":
            return self._screen(base, additions)
        if asked["part"] == "experiment":
            sets = next(e.sets for e in EXPERIMENTS if e.id == asked["id"])
            return self._train("train", "test", asked, templates_of(sets))
        template = next(t for t in additions if str(t) == asked["template"])
        return self._train("learned", "valid", asked, (*base, template), with_loss=True)

    def _train(
        self, learned: str, judged: str, asked, templates, with_loss: bool = False
    ) -> dict[str, Any]:
        """Features and training of one model, tagging, and what came of it."""
        tagger = _tagger(asked["model"], templates, asked["seed"])
        training = _Clock()
        tagger.fit(self.parts[learned])
        train_s, train_cpu_s = training.read()
        tag_s = tag_cpu_s = float("inf")
        for _ in range(TAGGED):
            tagging = _Clock()
            found = tagger.predict(self.parts[judged])
            tag_s, tag_cpu_s = min((tag_s, tag_cpu_s), tagging.read())
        table = self.parts[judged]
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
        if with_loss:
            return result | {"loss": _log_loss(tagger, table, gold)}
        return result | {"counts": counts.tolist()}

    def _screen(self, base, additions) -> dict[str, Any]:
        """What each addition would bring, by the residuals of CRFs with the base templates."""
        clock = _Clock()
        models = PartModels(self.parts["learned"], seed=0, threads=1, c2=SCREEN_C2)
        models.train([template.places for template in base], SCREEN_PASSES)
        screen = Screen(models, _WINDOW)
        models_s, models_cpu_s = clock.read()
        places = [template.places for template in additions]
        screen.gains(places[:2])  # compiles
        clock = _Clock()
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

    def _compile(self) -> None:
        """Train each kind of model once on a few sentences: compiling is nobody's time."""
        few = take_sentences(self.parts["train"], np.arange(20))
        for model in NAMES:
            for sets in ((1,), (1, 4, 5)):
                tagger = _tagger(model, templates_of(sets), 0, passes=1).fit(few)
                tagger.predict_proba(few)
                tagger.predict(few)
        self.ready = True


def _tagger(model: str, templates, seed: int, passes: int = PASSES) -> SequenceTagger:
    return SequenceTagger(
        model=model, templates=templates, passes=passes, c2=C2,
        n_jobs=1, random_state=seed,
    )  # fmt: skip


class _Clock:
    """Seconds since it was made: on the wall, and of CPU.

    The system tells user time from its own by looking in now and then, so that a few milliseconds
    can be all of one kind; their sum is measured.
    """

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


def _log_loss(tagger: SequenceTagger, table: NominalTable, gold: list[list[str]]) -> float:
    """Mean −log P(gold) of a token; a label that was never learned has next to none."""
    shares = np.concatenate(tagger.predict_proba(table))
    place = {label: j for j, label in enumerate(tagger.classes_)}
    at = np.array([place.get(label, -1) for sentence in gold for label in sentence])
    of_gold = np.where(at >= 0, shares[np.arange(len(at)), at], 0.0)
    return float(-np.log(np.maximum(of_gold, 1e-12)).mean())


@dataclass
class _Trial:
    """All models of one data set."""

    name: str
    parts: dict[str, NominalTable]
    seeds: range
    experiments: list[dict[str, Any]] = field(default_factory=list)
    proxies: list[dict[str, Any]] = field(default_factory=list)
    agreement: list[dict[str, Any]] = field(default_factory=list)
    stages: list[dict[str, Any]] = field(default_factory=list)

    def run(self, run: Run, jobs: int, progress) -> int:
        asked = [*self._experiments(), *self._additions(), {"part": "screening"}]
        data = fingerprint(
            *(
                part
                for name in ("train", "learned", "valid", "test")
                for table in [self.parts[name]]
                for part in (table.codes, table.labels, table.sequence_bounds, table.classes)
            )
        )
        description = {"experiment": "template-search", "passes": PASSES, "c2": C2, "version": 1}
        path = run.path / f"{self.name}.journal"
        with Journal(path, data=data, search=description) as journal:
            history = search(
                Trials(self.parts), Listed(asked), journal=journal, jobs=jobs, progress=progress
            )
        results = [evaluation.result for evaluation in history]
        by_key = {_key(one): result for one, result in zip(asked, results, strict=True)}
        self._note_experiments(by_key)
        self._note_proxies(by_key)
        self._note_stages(asked, [evaluation.seconds for evaluation in history])
        return len(history)

    def _experiments(self) -> list[dict[str, Any]]:
        return [
            {"part": "experiment", "id": experiment.id, "model": model, "seed": seed}
            for experiment in EXPERIMENTS
            for model in (experiment.model, "crf")
            for seed in self.seeds
        ]

    def _additions(self) -> list[dict[str, Any]]:
        """Of the cheap models one seed, which is all that they are asked for; of the CRF more."""
        _, additions = single_additions()
        return [
            {"part": "addition", "template": str(template), "model": model, "seed": seed}
            for template in additions
            for model in NAMES
            for seed in (self.seeds[:MOST_CRF_SEEDS] if model == "crf" else self.seeds[:1])
        ]

    def _note_experiments(self, by_key: dict) -> None:
        for experiment in EXPERIMENTS:
            pooled = {}
            for model in (experiment.model, "crf"):
                results = [by_key["experiment", experiment.id, model, s] for s in self.seeds]
                pooled[model] = np.sum([result["counts"] for result in results], axis=0)
                f1s = [result["score"] for result in results]
                row = {
                    "data": self.name,
                    "id": experiment.id,
                    "model": model,
                    "sets": list(experiment.sets),
                    "templates": len(templates_of(experiment.sets)),
                    "features": results[0]["features"],
                    "f1": float(np.mean(f1s)),
                    "sd": float(np.std(f1s, ddof=1)) if len(f1s) > 1 else None,
                }
                for time_of in ("train_s", "train_cpu_s", "tag_s", "tag_cpu_s"):
                    row[time_of] = float(np.mean([result[time_of] for result in results]))
                self.experiments.append(row)
            test = paired_bootstrap(pooled["crf"], pooled[experiment.model], resamples=2000)
            self.experiments[-1]["ahead"] = {
                "difference": test.difference, "interval": [test.low, test.high], "p": test.p,
            }  # fmt: skip

    def _note_proxies(self, by_key: dict) -> None:
        _, additions = single_additions()
        screening = by_key[("screening",)]
        costs: dict[str, list[float]] = {name: [] for name in PROXIES}
        for template, gain in zip(additions, screening["gains"], strict=True):
            key = ("addition", str(template))
            first = {model: by_key[*key, model, self.seeds[0]] for model in NAMES}
            crfs = [by_key[*key, "crf", seed]["score"] for seed in self.seeds[:MOST_CRF_SEEDS]]
            self.proxies.append(
                {
                    "data": self.name,
                    "template": str(template),
                    "maxent": first["maxent"]["score"],
                    "maxent_loss": first["maxent"]["loss"],
                    "memm": first["memm"]["score"],
                    "screen": gain,
                    "crf": float(np.mean(crfs)),
                    # The seed that one run would have, against the others.
                    "crf_once": crfs[0],
                    "crf_others": float(np.mean(crfs[1:])) if len(crfs) > 1 else None,
                }
            )
            for name, model in zip(PROXIES, ("maxent", "maxent", "memm", "", "crf"), strict=True):
                if model:
                    costs[name].append(first[model]["train_cpu_s"] + first[model]["tag_cpu_s"])
        costs["screen"] = [screening["gains_cpu_s"] / len(additions)]
        for name, title in PROXIES.items():
            rank = rank_agreement(self.proxies, name)
            row = {"data": self.name, "proxy": name, "title": title, "spearman": rank}
            row["cpu_s"] = float(np.mean(costs[name]))
            row["once_cpu_s"] = screening["models_cpu_s"] if name == "screen" else 0.0
            self.agreement.append(row)

    def _note_stages(self, asked: list[dict], seconds: list[float]) -> None:
        for part in ("experiment", "addition", "screening"):
            of_part = [s for one, s in zip(asked, seconds, strict=True) if one["part"] == part]
            self.stages.append(
                {"data": self.name, "name": part, "models": len(of_part), "seconds": sum(of_part)}
            )


def _key(asked: dict[str, Any]) -> tuple:
    return tuple(asked.values())
