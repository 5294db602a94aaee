"""The experiment of Kool, Zavrel and Daelemans on public data: features and parameters together.

Three tasks: the part of speech of unknown and of known words, and letter to sound.  On each, the
default setting of a memory-based learner (DE: all features, overlap, gain ratio, k = 1), the
exhaustive search of k, weighting and metric (EX), and four searches of the features: genetic (GA),
backward (BA), forward (FO) and our own, guided by a model (GU), first with the default parameters,
then with the parameters searched as well.  All choices are made on the validation part; the test
part is answered by the settings chosen, and every two of them are compared by McNemar's test.

An evaluation is written to a journal of its data set, and no search repeats it.  There are two: the
searches with default parameters look at k = 1 alone, which costs a fraction of all k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS, load
from featloom.errors import InputError
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import (
    cases,
    curves,
    mcnemar_matrix,
    setting_row,
    trajectory,
)
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.runs import Run
from featloom.search import Budget
from featloom.search.space import candidate_key

SIGNIFICANT = 0.05
SHOWN_CASES = 8
METHODS = {"GA": "genetic", "BA": "backward", "FO": "forward", "GU": "guided"}
DRAWN = ("GA", "GU")  # methods that depend on a seed
PLACES = {"features": "features", "together": "both"}


@dataclass(frozen=True)
class Task:
    """A data set, and what the paper has for its own: accuracies in per cent, and settings.

    ``published`` holds Tables 3 to 5, ``settings`` the k and the weighting of Tables 6 to 8; the
    keys are a method and what it searched.
    """

    title: str
    corpus: str
    published: dict[tuple[str, str], float]
    settings: dict[tuple[str, str], str]


def _published(*figures: float) -> dict[tuple[str, str], float]:
    places = [("DE", ""), ("EX", "parameters")]
    places += [(method, over) for over in PLACES for method in ("GA", "BA", "FO")]
    return dict(zip(places, figures, strict=True))


def _settings(exhaustive: str, genetic: str, backward: str, forward: str) -> dict:
    default = "k = 1, gain ratio"
    found = {(method, "features"): default for method in ("GA", "BA", "FO")}
    found |= {("DE", ""): default, ("EX", "parameters"): exhaustive}
    together = zip(("GA", "BA", "FO"), (genetic, backward, forward), strict=True)
    return found | {(method, "together"): setting for method, setting in together}


TASKS = {
    "unknown": Task(
        "part of speech of unknown words",
        "pos-unknown",
        _published(82.63, 85.43, 84.39, 84.39, 84.54, 84.88, 85.15, 84.97),
        _settings(
            "k = 7, no weights, MVDM",
            "k = 9, gain ratio",
            "k = 3, gain ratio",
            "k = 3, gain ratio",
        ),
    ),
    "known": Task(
        "part of speech of known words",
        "pos-known",
        _published(97.51, 98.31, 98.30, 98.30, 98.28, 98.19, 98.43, 98.39),
        _settings(
            "k = 3, no weights, MVDM",
            "k = 3, chi-squared",
            "k = 3, information gain",
            "k = 3, information gain",
        ),
    ),
    "letters": Task(
        "letter to sound",
        "gs-cmudict",
        _published(81.62, 81.69, 81.56, 81.56, 81.62, 81.99, 81.45, 81.62),
        _settings(
            "k = 5, gain ratio, MVDM",
            "k = 3, gain ratio",
            "k = 1, shared variance",
            "k = 1, gain ratio",
        ),
    ),
}


def reproduce_memory(
    run: Run,
    *,
    only: str | None = None,
    sample: int | None = None,
    seeds: int = 5,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] = lambda *_: None,
) -> dict[str, Any]:
    """Tables 3 to 8 and Figure 1 of the paper, beside the published figures.

    Parameters
    ----------
    only : one of the tasks, "unknown", "known" or "letters"; None: all three.
    sample : rows of the training part that are drawn, and an eighth as many of the others.
    seeds : how often the genetic and the guided search are repeated; tables show the first.
    trials : evaluations that each search may ask for; None: until it is done.
    seed : the first of these seeds, and that of the sample.
    """
    chosen = _chosen(only)
    if sample is not None and sample < 100:
        raise InputError(f"a sample of {sample} rows is too small; take 100 or more")
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1")
    Budget.of(None, trials)  # a wrong number is refused before anything is read
    searches_each = 1 + len(PLACES) * sum(seeds if m in DRAWN else 1 for m in METHODS)
    steps = _Steps(searches_each * len(chosen), say, progress)
    parts = []
    for name in chosen:
        say(f"{TASKS[name].title}: reading")
        experiment = _Experiment(
            name, _sampled(TASKS[name].corpus, sample, seed), run, jobs, trials
        )
        parts.append(experiment.run(range(seed, seed + seeds), steps))
    warnings = []
    if sample is not None:
        warnings.append(f"a sample of up to {sample:,} training rows, not the whole data")
    if trials is not None:
        warnings.append(f"searches were stopped after {trials:,} evaluations")
    return {
        "kind": "memory",
        "data": {
            "source": ", ".join(TASKS[name].corpus for name in chosen),
            "rows": sum(sum(part["sizes"].values()) for part in parts),
            "warnings": warnings,
        },
        "parameters": {"tasks": chosen, "sample": sample, "seeds": seeds, "trials": trials},
        "evaluations": sum(part["evaluations"] for part in parts),
        "memory": parts,
        "verdict": " ".join([part["finding"] for part in parts]),
    }


def _chosen(only: str | None) -> list[str]:
    if only is None:
        return list(TASKS)
    if only not in TASKS:
        raise InputError(f"no task {only!r}; there are {', '.join(TASKS)}")
    return [only]


def _sampled(corpus: str, sample: int | None, seed: int) -> dict[str, NominalTable]:
    """The three parts of a corpus, or some rows of each, in their order."""
    parts: dict[str, NominalTable] = {}
    for name in PARTS:
        table = load(corpus, name)
        assert isinstance(table, NominalTable)
        if sample is not None:
            n = min(len(table), sample if name == "train" else max(1, sample // 8))
            drawn = np.random.default_rng(seed).choice(len(table), size=n, replace=False)
            table = table.take(np.sort(drawn))
        parts[name] = table
    return parts


@dataclass
class _Steps:
    """How far all searches together are."""

    total: int
    say: Callable[[str], None]
    progress: Callable[[int, int | None, float | None], object]
    done: int = 0

    def within(self, words: str) -> Callable[[int, int | None, float | None], None]:
        """The progress of one search: its fits are told in words."""

        def told(fits: int, of: int | None, best: float | None) -> None:
            self.say(f"{words}: {fits:,} fits")
            self.progress(self.done, self.total, best)

        return told


@dataclass
class _Experiment:
    """All searches on one data set."""

    name: str
    data: dict[str, NominalTable]
    run_folder: Run
    jobs: int
    trials: int | None
    rows: list[dict[str, Any]] = field(default_factory=list)
    drawn_lines: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[Setting, np.ndarray] = field(default_factory=dict)
    evaluated: set[tuple[str, str]] = field(default_factory=set)

    def run(self, seeds: range, steps: _Steps) -> dict[str, Any]:
        task, train = TASKS[self.name], self.data["train"]
        space = SettingSpace(train.columns)
        grid = self._search("grid", "parameters", seeds[0], steps)
        self._add_default(grid, space)
        self._add("EX", "exhaustive", "parameters", [grid], seeds)
        lines = curves(grid.history_, space)
        for over, method in self._methods():
            found = [
                self._search(METHODS[method], over, seed, steps)
                for seed in (seeds if method in DRAWN else seeds[:1])
            ]
            self._add(method, METHODS[method], over, found, seeds)
        names = [row["name"] for row in self.rows]
        tests = mcnemar_matrix(names, [self.answers[_setting(row)] for row in self.rows], self.gold)
        best = max(self.rows, key=lambda row: row["validation"])
        return {
            "task": task.title,
            "corpus": task.corpus,
            "features": list(train.columns),
            "sizes": {name: len(table) for name, table in self.data.items()},
            "settings": self.rows,
            "curves": lines,
            "trajectories": self.drawn_lines,
            "mcnemar": tests,
            "found": best,
            "neighbours": cases(
                self._classifier(_setting(best)).fit(train), self.data["test"], self.gold,
                SHOWN_CASES,
            ),
            "evaluations": len(self.evaluated),
            "finding": finding(task.title, self.rows, tests),
        }  # fmt: skip

    @property
    def gold(self) -> np.ndarray:
        test = self.data["test"]
        return np.array(test.classes, dtype=object)[test.labels]

    def _methods(self) -> Iterator[tuple[str, str]]:
        for over in PLACES:
            for method in METHODS:
                yield over, method

    def _search(self, strategy: str, over: str, seed: int, steps: _Steps) -> MemorySearch:
        ks = "one" if over == "features" else "all"
        place = PLACES.get(over, "all features")
        search = MemorySearch(
            strategy=strategy,
            over=over,
            vote="count",
            keep="strategy",
            trials=None if over == "parameters" else self.trials,
            journal=self.run_folder.path / f"{self.name}-{ks}-k.journal",
            n_jobs=self.jobs,
            random_state=seed,
            progress=steps.within(f"{TASKS[self.name].title}, {strategy}, {place}"),
        ).fit(self.data["train"], None, self.data["valid"])
        self.evaluated |= {(ks, candidate_key(one.candidate)) for one in search.history_}
        self._answer(search.best_estimator_, _setting_of(search))
        steps.done += 1
        return search

    def _add_default(self, grid: MemorySearch, space: SettingSpace) -> None:
        setting = Setting(1, "gain_ratio", ("overlap",) * len(space.columns))
        candidate = space.candidate(setting.weights, setting.modes)
        result = next(e.result for e in grid.history_ if e.candidate == candidate)
        self._answer(self._classifier(setting).fit(self.data["train"]), setting)
        validation = dict(map(tuple, result["scores"]))[setting.k]
        self._add_row("DE", "default", "", setting, validation, 1)

    def _add(
        self, method: str, strategy: str, over: str, found: list[MemorySearch], seeds: range
    ) -> None:
        """A row for the first seed, which also says how the others fared."""
        first = found[0]
        name = strategy if over == "parameters" else f"{strategy}, {PLACES[over]}"
        row = self._add_row(
            method, name, over, _setting_of(first), first.best_score_, len(first.history_)
        )
        if len(found) > 1:
            row["seeds"] = [
                {
                    "seed": seed,
                    "setting": _setting_of(search).short(),
                    "validation": search.best_score_,
                    "test": self._share(_setting_of(search)),
                    "fits": len(search.history_),
                }
                for seed, search in zip(seeds, found, strict=True)
            ]
        if over != "parameters":
            self.drawn_lines.append(trajectory(name, first.trajectory_, seeds[0]))

    def _add_row(
        self, method: str, name: str, over: str, setting: Setting, validation: float, fits: int
    ) -> dict[str, Any]:
        by = name.partition(",")[0]
        row = setting_row(
            name,
            setting,
            method=method,
            features_by=by if over in PLACES else "default",
            parameters_by=by if over in ("parameters", "together") else "default",
            validation=validation,
            test=self._share(setting),
            fits=fits,
            published=TASKS[self.name].published.get((method, over)),
            published_setting=TASKS[self.name].settings.get((method, over), ""),
        )
        self.rows.append(row)
        return row

    def _classifier(self, setting: Setting) -> MemoryClassifier:
        return MemoryClassifier(
            k=setting.k, weights=setting.weights, metric=setting.modes, compat="timbl",
            n_jobs=self.jobs,
        )  # fmt: skip

    def _answer(self, classifier: MemoryClassifier, setting: Setting) -> None:
        if setting not in self.answers:
            self.answers[setting] = classifier.predict(self.data["test"])

    def _share(self, setting: Setting) -> float:
        return float((self.answers[setting] == self.gold).mean())


def _setting(row: dict[str, Any]) -> Setting:
    return Setting(row["k"], row["weights"], tuple(row["modes"]))


def _setting_of(search: MemorySearch) -> Setting:
    found = search.best_setting_
    return Setting(found["k"], found["weights"], tuple(found["modes"].values()))


def finding(title: str, rows: list[dict[str, Any]], tests: dict[str, Any]) -> str:
    """What a data set says of the paper's claims, in plain words.

    Of several searches the one that did best on validation speaks for them.
    """
    default, grid = (_best(rows, method=method) for method in ("DE", "EX"))
    alone = [row for row in rows if _searched(row) == "features"]
    both = [row for row in rows if _searched(row) == "together"]
    sentences = [
        f"{title[:1].upper()}{title[1:]}: optimising the parameters "
        + _outcome(grid, default, tests, "helps", "hurts", "makes no difference"),
        "Selecting features alone "
        + _outcome(_best(alone), default, tests, "helps", "hurts", "makes no difference"),
        "Both together "
        + _outcome(
            _best(both), grid, tests, "beat the parameters alone", "lose to the parameters alone",
            "do not differ from the parameters alone",
        ),
    ]  # fmt: skip
    below = [_by(row) for row in both if row["validation"] < grid["validation"]]
    if below:
        sentences.append(
            f"On validation the {_listed(below)} search{'es' if len(below) > 1 else ''} ended "
            "below the exhaustive grid, which lies within the space searched."
        )
    if both:
        sentences.append(_ranking(both, tests))
    return " ".join(sentences)


def _ranking(rows: list[dict[str, Any]], tests: dict[str, Any]) -> str:
    """Which searches beat which beyond chance."""
    beaten = {
        _by(one): [
            _by(other)
            for other in rows
            if one["test"] > other["test"] and _p(one, other, tests) < SIGNIFICANT
        ]
        for one in rows
    }
    wins = [f"{name} beats {_listed(others)}" for name, others in beaten.items() if others]
    if not wins:
        return "The searches of both do not differ from one another on test."
    return f"Of the searches of both, {'; '.join(wins)} on test."


def _by(row: dict[str, Any]) -> str:
    return row["name"].partition(",")[0]


def _searched(row: dict[str, Any]) -> str:
    features, parameters = (row[f"{what}_by"] != "default" for what in ("features", "parameters"))
    return "together" if features and parameters else "features" if features else ""


def _best(rows: list[dict[str, Any]], method: str | None = None) -> dict[str, Any]:
    """The row with the highest validation score; of equals the first."""
    fitting = [row for row in rows if method is None or row["method"] == method]
    return max(fitting, key=lambda row: row["validation"])


def _p(one: dict[str, Any], other: dict[str, Any], tests: dict[str, Any]) -> float:
    names = tests["names"]
    return tests["p"][names.index(one["name"])][names.index(other["name"])]


def _outcome(
    one: dict[str, Any], other: dict[str, Any], tests: dict[str, Any],
    better: str, worse: str, same: str,
) -> str:  # fmt: skip
    p = _p(one, other, tests)
    words = same if p >= SIGNIFICANT else better if one["test"] > other["test"] else worse
    sign = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    name = "" if one["method"] == "EX" else f"{_by(one)}, "
    return f"{words} ({name}{100 * one['test']:.2f} against {100 * other['test']:.2f} %, {sign})."


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
