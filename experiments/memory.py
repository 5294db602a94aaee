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

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from experiments.runner import (
    Experiment,
    Work,
    listed,
    outcome,
    parts_of,
    percent,
    table,
)
from featloom.data.table import NominalTable
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import mcnemar
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.findings import (
    cases,
    curves,
    searches,
    trajectory,
)
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.results import Block, Column, Grid, Section
from featloom.search.space import candidate_key

SHOWN_CASES = 8
METHODS = {"GA": "genetic", "BA": "backward", "FO": "forward", "GU": "guided"}
DRAWN = ("GA", "GU")  # methods that depend on a seed
PLACES = {"features": "features", "together": "both"}
SEARCHED = {"": "", "parameters": "parameters", "features": "features", "together": "both"}
LETTERS = {"ignore": "–", "overlap": "O", "mvdm": "M"}
P: TypeAlias = Callable[[dict[str, Any], dict[str, Any]], float]
NOTE = (
    "DE default, EX exhaustive search of k, weights and one metric, GA genetic, BA backward, FO"
    " forward, GU guided; of these four first the features alone, then the parameters as well."
    " Features: O overlap, M MVDM, – ignored. The paper's figures are on its own data."
)
PAPERS = ("GA", "BA", "FO")
COLUMNS = (("DE", ""), ("EX", "parameters"), *((m, over) for over in PLACES for m in PAPERS))


@dataclass(frozen=True)
class Task:
    """A data set, and what the paper has for its own.

    ``accuracies`` are Tables 3 to 5, in per cent; ``settings`` the k and the weighting of Tables 6
    to 8, of EX and of the three searches of both: other methods have the default.
    """

    title: str
    corpus: str
    accuracies: tuple[float, ...]
    settings: tuple[str, ...]

    @property
    def published(self) -> dict[tuple[str, str], tuple[float, str]]:
        """Accuracy and setting by a method and what it searched."""
        default = "k = 1, gain ratio"
        settings = (default, self.settings[0], *[default] * len(PAPERS), *self.settings[1:])
        return dict(zip(COLUMNS, zip(self.accuracies, settings, strict=True), strict=True))


TASKS = {
    "unknown": Task(
        "part of speech of unknown words",
        "pos-unknown",
        (82.63, 85.43, 84.39, 84.39, 84.54, 84.88, 85.15, 84.97),
        ("k = 7, no weights, MVDM", "k = 9, gain ratio", "k = 3, gain ratio", "k = 3, gain ratio"),
    ),
    "known": Task(
        "part of speech of known words",
        "pos-known",
        (97.51, 98.31, 98.30, 98.30, 98.28, 98.19, 98.43, 98.39),
        (
            "k = 3, no weights, MVDM",
            "k = 3, chi-squared",
            "k = 3, information gain",
            "k = 3, information gain",
        ),
    ),
    "letters": Task(
        "letter to sound",
        "gs-cmudict",
        (81.62, 81.69, 81.56, 81.56, 81.62, 81.99, 81.45, 81.62),
        (
            "k = 5, gain ratio, MVDM",
            "k = 3, gain ratio",
            "k = 1, shared variance",
            "k = 1, gain ratio",
        ),
    ),
}


def search_task(work: Work) -> dict[str, Any]:
    """One of Tables 3 to 5 with the settings of Tables 6 to 8, and a curve of Figure 1."""
    task = TASKS[work.name]
    work.say(f"{task.title}: reading")
    parts = work.drawn(parts_of(task.corpus), share=8, least=1)
    return Searches(work, task, parts).run()


@dataclass
class Searches:
    """All searches on one data set; they share its journals."""

    work: Work
    task: Task
    data: dict[str, NominalTable]
    rows: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[Setting, np.ndarray] = field(default_factory=dict)
    evaluated: set[tuple[str, str]] = field(default_factory=set)
    done: int = 0

    def run(self) -> dict[str, Any]:
        train, seeds = self.data["train"], self.work.seeds
        space = SettingSpace(train.columns)
        grid = self.search("grid", "parameters", seeds[0])
        self.add_default(grid, space)
        self.add("EX", "exhaustive", "parameters", [grid])
        trajectories = []
        for over, place in PLACES.items():
            for method, strategy in METHODS.items():
                tried = seeds if method in DRAWN else seeds[:1]
                found = [self.search(strategy, over, seed) for seed in tried]
                name = f"{strategy}, {place}"
                self.add(method, name, over, found)
                trajectories.append(trajectory(name, found[0].trajectory_))
        best = max(self.rows, key=lambda row: row["validation"])
        sizes = " / ".join(f"{len(table):,}" for table in self.data.values())
        shown = self.classifier(best["setting"]).fit(train)
        words = finding(self.task.title, self.rows, self.p)
        title = f"{self.task.title} ({self.task.corpus}, {sizes} rows)"
        blocks: list[Block] = [
            self.table(), curves(grid.history_, space), searches(trajectories),
            *cases(shown, self.data["test"], self.gold, SHOWN_CASES).blocks,
        ]  # fmt: skip
        return {
            "source": self.task.corpus,
            "rows": sum(map(len, self.data.values())),
            "findings": [words],
            "evaluations": len(self.evaluated),
            "section": Section(self.work.name, title, NOTE, blocks),
        }

    def p(self, one: dict[str, Any], other: dict[str, Any], exact: bool = True) -> float:
        """Of McNemar's test of two settings on the test part."""
        given = [self.answers[row["setting"]] for row in (one, other)]
        return mcnemar(self.gold, *given, exact=exact).p

    def table(self) -> Grid:
        """The paper's table, with the setting that each method found."""
        grid = next(row for row in self.rows if row["method"] == "EX")

        def over_seeds(row: dict) -> str | None:
            values = [100 * one["test"] for one in row.get("seeds", [])]
            return f"{min(values):.2f}–{max(values):.2f}" if values else None

        def against_grid(exact: bool) -> Callable[[dict], float | None]:
            return lambda row: None if row is grid else self.p(row, grid, exact)

        return table(
            "Accuracy on the test rows", self.rows,
            {
                "method": ("text", lambda row: row["method"]),
                "searched": ("text", lambda row: row["over"]),
                "k": ("count", lambda row: row["setting"].k),
                "weights": ("text", lambda row: row["setting"].weights.replace("_", " ")),
                "features": (Column("features", note="O overlap, M MVDM, – ignored"),
                             lambda row: "".join(LETTERS[m] for m in row["setting"].modes)),
                "valid %": ("percent", lambda row: row["validation"]),
                "test %": ("percent", lambda row: row["test"]),
                "over seeds": ("text", over_seeds),
                "paper %": ("percent", lambda row: row["published"]),
                "paper's setting": ("text", lambda row: row["published_setting"] or None),
                "p": (Column("p", "p", "McNemar's, by chi-squared, against EX"),
                      against_grid(False)),
                "exact p": ("p", against_grid(True)),
                "fits": ("count", lambda row: row["fits"]),
            },
        )  # fmt: skip

    @property
    def gold(self) -> np.ndarray:
        return self.data["test"].label_names

    def search(self, strategy: str, over: str, seed: int) -> MemorySearch:
        ks = "one" if over == "features" else "all"
        words = f"{self.task.title}, {strategy}, {PLACES.get(over, 'all features')}"
        search = MemorySearch(
            strategy=strategy,
            over=over,
            vote="count",
            keep="strategy",
            trials=None if over == "parameters" else self.work.options.get("trials"),
            journal=self.work.run.path / f"{self.work.name}-{ks}-k.journal",
            n_jobs=self.work.jobs,
            random_state=seed,
            progress=self.progress(words),
        ).fit(self.data["train"], None, self.data["valid"])
        self.evaluated |= {(ks, candidate_key(one.candidate)) for one in search.history_}
        self.answer(search.best_estimator_, setting_of(search))
        self.done += 1
        return search

    def progress(self, words: str) -> Callable[[int, int | None, float | None], None]:
        """How far all searches together are; the fits of one are told in words."""
        searches = 1 + len(PLACES) * sum(len(self.work.seeds) if m in DRAWN else 1 for m in METHODS)
        before = self.work.place * searches
        total = self.work.of * searches

        def told(fits: int, of: int | None, best: float | None) -> None:
            self.work.say(f"{words}: {fits:,} fits")
            self.work.progress(before + self.done, total, best)

        return told

    def add_default(self, grid: MemorySearch, space: SettingSpace) -> None:
        setting = Setting(1, "gain_ratio", ("overlap",) * len(space.columns))
        candidate = space.candidate(setting.weights, setting.modes)
        result = next(e.result for e in grid.history_ if e.candidate == candidate)
        self.answer(self.classifier(setting).fit(self.data["train"]), setting)
        validation = dict(map(tuple, result["scores"]))[setting.k]
        self.add_row("DE", "default", "", setting, validation, 1)

    def add(self, method: str, name: str, over: str, found: list[MemorySearch]) -> None:
        """A row for the first seed, which also says how the others fared."""
        first = found[0]
        setting = setting_of(first)
        row = self.add_row(method, name, over, setting, first.best_score_, len(first.history_))
        if len(found) > 1:
            row["seeds"] = [
                {
                    "seed": seed,
                    "setting": setting_of(search).short(),
                    "validation": search.best_score_,
                    "test": self.share(setting_of(search)),
                    "fits": len(search.history_),
                }
                for seed, search in zip(self.work.seeds, found, strict=True)
            ]

    def add_row(
        self, method: str, name: str, over: str, setting: Setting, validation: float, fits: int
    ) -> dict[str, Any]:
        figure, published_setting = self.task.published.get((method, over), (None, ""))
        row = {
            "name": name, "method": method, "over": SEARCHED[over], "setting": setting,
            "validation": validation, "test": self.share(setting), "fits": fits,
            "published": None if figure is None else figure / 100,
            "published_setting": published_setting,
        }  # fmt: skip
        self.rows.append(row)
        return row

    def classifier(self, setting: Setting) -> MemoryClassifier:
        return MemoryClassifier(
            k=setting.k,
            weights=setting.weights,
            metric=setting.modes,
            compat="timbl",
            n_jobs=self.work.jobs,
        )

    def answer(self, classifier: MemoryClassifier, setting: Setting) -> None:
        if setting not in self.answers:
            self.answers[setting] = classifier.predict(self.data["test"])

    def share(self, setting: Setting) -> float:
        return float((self.answers[setting] == self.gold).mean())


def setting_of(search: MemorySearch) -> Setting:
    found = search.best_setting_
    return Setting(found["k"], found["weights"], tuple(found["modes"].values()))


def finding(title: str, rows: list[dict[str, Any]], p_of: P) -> str:
    """What a data set says of the paper's claims, in plain words.

    Of several searches the one that did best on validation speaks for them.
    """

    def claim(one: dict[str, Any], other: dict[str, Any], *verbs: str) -> str:
        p = p_of(one, other)
        difference = one["test"] - other["test"]
        words = outcome({"significant": p < LEVEL, "difference": difference}, *verbs)
        sign = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        name = "" if one["method"] == "EX" else f"{by(one['name'])}, "
        return f"{words} ({name}{percent(one['test'])} against {percent(other['test'])} %, {sign})."

    default, grid = (best([row for row in rows if row["method"] == m]) for m in ("DE", "EX"))
    alone = [row for row in rows if row["over"] == "features"]
    both = [row for row in rows if row["over"] == "both"]
    verbs = ("helps", "hurts", "makes no difference")
    sentences = [
        f"{title[:1].upper()}{title[1:]}: optimising the parameters {claim(grid, default, *verbs)}",
        f"Selecting features alone {claim(best(alone), default, *verbs)}",
        "Both together "
        + claim(
            best(both),
            grid,
            "beat the parameters alone",
            "lose to the parameters alone",
            "do not differ from the parameters alone",
        ),
    ]
    below = [by(row["name"]) for row in both if row["validation"] < grid["validation"]]
    if below:
        sentences.append(
            f"On validation the {listed(below)} search{'es' if len(below) > 1 else ''} ended "
            "below the exhaustive grid, which lies within the space searched."
        )
    if both:
        sentences.append(ranking(both, p_of))
    return " ".join(sentences)


def ranking(rows: list[dict[str, Any]], p_of: P) -> str:
    """Which searches beat which beyond chance."""
    wins = []
    for one in rows:
        beaten = [
            by(other["name"])
            for other in rows
            if one["test"] > other["test"] and p_of(one, other) < LEVEL
        ]
        if beaten:
            wins.append(f"{by(one['name'])} beats {listed(beaten)}")
    if not wins:
        return "The searches of both do not differ from one another on test."
    return f"Of the searches of both, {'; '.join(wins)} on test."


def by(name: str) -> str:
    """What chose a setting, of its name."""
    return name.partition(",")[0]


def best(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row with the highest validation score; of equals the first."""
    return max(rows, key=lambda row: row["validation"])


EXPERIMENT = Experiment(
    kind="memory",
    noun="task",
    parts=tuple(TASKS),
    work=search_task,
    gather=lambda found: {"sections": [part["section"] for part in found.values()]},
    listed_as="tasks",
    sampled=("rows", 100),
)
