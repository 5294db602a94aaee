"""Templates grown on trees where nothing is parsed: rows of symbols and one class a row.

Three tables: letter to sound, the attachment of prepositional phrases, and the chunk label of a
word from the words and tags around it.  On each a linear model sees the single columns (basic),
then the columns joined by templates; beside them gradient boosting sees the same columns as
categories.  Settings of all three are chosen on development rows, after learning from a part of
the training rows where these are many.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments.entries import Entries, journaled, some_sentences
from experiments.tree_findings import compared, finding, system_row
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS, load
from featloom.evaluation.significance import mcnemar_of_counts
from featloom.features.windows import window_table
from featloom.formats.packing import packed, unpacked
from featloom.learners.linear import logistic_regression
from featloom.learners.tagger import SequenceTagger
from featloom.methods.tree_templates import TreeTemplates
from featloom.runs import Run

VERSION = 1
ROWS_A_SENTENCE = 20
LEARNED, JUDGED = 50_000, 20_000  # rows that a setting is chosen by, at most
PASSES = 10
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MIDDLE = 1.0  # the penalty at which shapes are chosen
SYSTEMS = {
    "basic": "linear, basic",
    "templates": "linear, templates",
    "boosting": "LightGBM",
}
SHAPES = tuple(
    {"max_length": length, "n_trees": trees, "most": most}
    for length in (2, 3, 4)
    for trees, most in ((1, 30), (1, None), (8, 30), (8, 60))
)
BOOSTING = tuple(
    {"num_leaves": leaves, "cat_smooth": smooth} for leaves in (15, 63) for smooth in (1.0, 10.0)
)
ROUNDS, PATIENCE = 200, 10


@dataclass(frozen=True)
class Task:
    """A table by name, and how its linear model is trained.

    ``newton`` is for small tables: the exact optimum; others are trained in passes over the rows,
    which is the same model.  ``cutoff`` is how often a feature must be seen.
    """

    title: str
    read: Callable[[], dict[str, NominalTable]]
    newton: bool = False
    cutoff: int = 2


def _corpus(name: str) -> dict[str, NominalTable]:
    parts = {part: load(name, part) for part in PARTS}
    assert all(isinstance(table, NominalTable) for table in parts.values())
    return parts  # type: ignore[return-value]


def english_chunks() -> dict[str, NominalTable]:
    """CoNLL-2000; every tenth sentence of the whole training part is set aside to choose by."""
    train, test = load("conll2000", "train"), load("conll2000", "test")
    assert isinstance(train, NominalTable)
    assert isinstance(test, NominalTable)
    assert train.sequence_bounds is not None
    aside = np.arange(len(train.sequence_bounds) - 1) % 10 == 9
    return {
        "train": take_sentences(train, np.flatnonzero(~aside)),
        "valid": take_sentences(train, np.flatnonzero(aside)),
        "whole": train,
        "test": test,
    }


def _windows() -> dict[str, NominalTable]:
    parts = english_chunks()
    return {name: window_table(parts[name], 2) for name in PARTS}


TASKS = {
    "letters": Task("letter to sound", lambda: _corpus("gs-cmudict")),
    "phrases": Task("PP attachment", lambda: _corpus("ppattach"), newton=True, cutoff=1),
    "windows": Task("chunk labels in windows", _windows),
}


def learn_tables(
    run: Run,
    *,
    seeds: range,
    sample: int | None,
    jobs: int,
    say: Callable[[str], None],
    progress: Any,
) -> dict[str, Any]:
    """All systems on the three tables, and their tests against the basic linear model."""
    found: dict[str, Any] = {
        "systems": [], "comparisons": [], "findings": [], "settings": {}, "sizes": {},
        "evaluations": 0,
    }  # fmt: skip
    for name, task in TASKS.items():
        say(f"{task.title}: reading")
        parts = _sampled(task.read(), sample, seeds[0])
        found["sizes"][name] = {part: len(table) for part, table in parts.items()}
        about = {"version": VERSION, "passes": PASSES, "rounds": ROUNDS, "patience": PATIENCE}
        about |= {"learned": LEARNED, "judged": JUDGED, "seed": seeds[0]}
        with journaled(run, name, parts, about, jobs, progress) as entries:
            table = _Table(task, parts, seeds[0], entries, say).run()
        for key in ("systems", "comparisons", "findings"):
            found[key] += table[key]
        found["settings"][name] = table["settings"]
        found["evaluations"] += entries.n
    return found


def _sampled(
    parts: dict[str, NominalTable], sample: int | None, seed: int
) -> dict[str, NominalTable]:
    if sample is None:
        return parts
    drawn = {}
    for name, table in parts.items():
        size = sample if name == "train" else max(20, sample // 4)
        if table.sequence_bounds is not None:
            drawn[name] = some_sentences(table, size, seed)
        else:
            drawn[name] = _some_rows(table, ROWS_A_SENTENCE * size, seed)
    return drawn


def _some_rows(table: NominalTable, size: int, seed: int) -> NominalTable:
    if size >= len(table):
        return table
    rows = np.random.default_rng(seed).choice(len(table), size=size, replace=False)
    return table.take(np.sort(rows))


@dataclass
class TableTrials:
    """Trains and judges one model on a table: what a journal has an entry for."""

    parts: dict[str, NominalTable]
    newton: bool
    cutoff: int
    seed: int
    _at_hand: dict[str, NominalTable] = field(default_factory=dict)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        few = asked["part"] == "choice"
        train = self._rows("train", LEARNED if few else None)
        judged = self._rows("valid", JUDGED) if few else self._rows("test", None)
        begun = time.perf_counter()
        model: _Linear | _Boosted
        if asked["system"] == "boosting":
            model = _Boosted(asked["setting"], self.seed).fit(train, self._rows("valid", JUDGED))
        else:
            model = _Linear(self, asked["setting"]).fit(train)
        seconds = time.perf_counter() - begun
        answers = model.predict(judged)
        gold = np.array([*judged.classes, None], dtype=object)[judged.labels]
        right = answers == gold
        found = {"score": float(right.mean()), "seconds": seconds, **model.told()}
        return found if few else found | {"right": packed(right)}

    def _rows(self, part: str, most: int | None) -> NominalTable:
        key = f"{part} {most}"
        if key not in self._at_hand:
            table = replace(self.parts[part], sequence_bounds=None)
            self._at_hand[key] = table if most is None else _some_rows(table, most, self.seed)
        return self._at_hand[key]


class _Linear:
    """Multinomial logistic regression on the features of templates."""

    def __init__(self, how: TableTrials, setting: Mapping[str, Any]):
        self.how, self.setting = how, setting

    def fit(self, table: NominalTable) -> _Linear:
        shape = {k: v for k, v in self.setting.items() if k != "penalty"}
        self.templates = TreeTemplates(
            **shape, cutoff=self.how.cutoff, random_state=self.how.seed
        ).fit(table)
        penalty = self.setting["penalty"]
        if self.how.newton:
            # The penalty of the other way of training is c2 |w|², here it is |w|² / 2C.
            self.model: Any = logistic_regression(1 / (2 * penalty))
            self.model.fit(self.templates.transform(table), _names(table))
            self.features = int(self.model.coef_.size)
        else:
            self.model = SequenceTagger(
                model="maxent", templates=list(self.templates.templates_), passes=PASSES,
                c2=penalty, cutoff=self.how.cutoff, n_jobs=1, random_state=self.how.seed,
            ).fit(_each_alone(table))  # fmt: skip
            self.features = int(self.model.n_features_)
        return self

    def predict(self, table: NominalTable) -> np.ndarray:
        if self.how.newton:
            return self.model.predict(self.templates.transform(table)).astype(object)
        answers = self.model.predict(_each_alone(table))
        return np.array([label for (label,) in answers], dtype=object)

    def told(self) -> dict[str, Any]:
        return {"features": self.features, "templates": len(self.templates.templates_)}


class _Boosted:
    """Gradient boosting with the columns as categories; development rows say when to stop."""

    def __init__(self, setting: Mapping[str, Any], seed: int):
        self.setting, self.seed = setting, seed

    def fit(self, table: NominalTable, valid: NominalTable) -> _Boosted:
        import lightgbm

        self.table = table
        known = table.recode(valid)
        assert known.labels is not None
        assert table.labels is not None
        # What was never learned can be answered by no tree.
        some = np.flatnonzero(np.isin(known.labels, np.unique(table.labels)))
        self.model = lightgbm.LGBMClassifier(
            n_estimators=ROUNDS, learning_rate=0.1, n_jobs=1, random_state=self.seed, verbose=-1,
            **self.setting,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(
                _categories(table), table.labels,
                eval_set=[(_categories(known)[some], known.labels[some])],
                categorical_feature=list(range(len(table.columns))),
                callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
            )  # fmt: skip
        return self

    def predict(self, table: NominalTable) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            codes = self.model.predict(_categories(self.table.recode(table)))
        return np.array(self.table.classes, dtype=object)[codes]

    def told(self) -> dict[str, Any]:
        rounds = int(self.model.best_iteration_ or ROUNDS)
        text = self.model.booster_.model_to_string(num_iteration=rounds)
        leaves = sum(map(int, re.findall(r"^num_leaves=(\d+)$", text, flags=re.MULTILINE)))
        return {"features": leaves, "rounds": rounds}


def _categories(table: NominalTable) -> np.ndarray:
    """Codes from 0; what is unknown is missing."""
    return np.ascontiguousarray(table.codes - 1)


def _each_alone(table: NominalTable) -> NominalTable:
    """Every row a sentence of its own."""
    return replace(table, sequence_bounds=np.arange(len(table) + 1, dtype=np.int64))


def _names(table: NominalTable) -> np.ndarray:
    return np.array(table.classes, dtype=object)[table.labels]


class _Table:
    """One table's part of the experiment."""

    def __init__(self, task: Task, parts: dict, seed: int, entries: Entries, say):
        self.task, self.parts, self.entries, self.say = task, parts, entries, say
        self.trials = TableTrials(parts, task.newton, task.cutoff, seed)

    def run(self) -> dict[str, Any]:
        self.say(f"{self.task.title}: choosing settings")
        chosen = self._choose()
        self.say(f"{self.task.title}: learning")
        asked = [
            {"part": "row", "system": system, "setting": setting}
            for system, setting in chosen.items()
        ]
        results = dict(
            zip(chosen, (e.result for e in self.entries.ask(self.trials, asked)), strict=True)
        )
        return self._told(chosen, results)

    def _choose(self) -> dict[str, dict[str, Any]]:
        """Templates at a middling penalty, then the penalty; boosting by itself."""
        single = {"max_length": 1}
        shapes = [{**shape, "penalty": MIDDLE} for shape in SHAPES]
        boosting = BOOSTING if _has_lightgbm() else ()
        first = [("templates", one) for one in shapes]
        first += [("basic", {**single, "penalty": penalty}) for penalty in PENALTIES]
        first += [("boosting", dict(one)) for one in boosting]
        best = self._best(first)
        best = self._best([("templates", {**best["templates"], "penalty": penalty})
                           for penalty in PENALTIES]) | {
            system: setting for system, setting in best.items() if system != "templates"
        }  # fmt: skip
        return {system: best[system] for system in SYSTEMS if system in best}

    def _best(self, settings: Sequence[tuple[str, dict]]) -> dict[str, dict[str, Any]]:
        asked = [
            {"part": "choice", "system": system, "setting": setting} for system, setting in settings
        ]
        best: dict[str, Any] = {}
        for one in self.entries.ask(self.trials, asked):
            system = one.candidate["system"]
            if system not in best or one.score > best[system].score:
                best[system] = one
        return {system: dict(one.candidate["setting"]) for system, one in best.items()}

    def _told(self, chosen: dict[str, dict], results: dict[str, dict]) -> dict[str, Any]:
        right = {system: unpacked(result["right"]) for system, result in results.items()}
        counts = {system: self._counts(one) for system, one in right.items()}
        title = self.task.title
        rows = [
            system_row(
                SYSTEMS[system], title, "accuracy", [counts[system]],
                **{name: result.get(name) for name in ("templates", "features", "seconds")},
                setting=", ".join(f"{k} {v}" for k, v in chosen[system].items()),
            )
            for system, result in results.items()
        ]  # fmt: skip
        tests = []
        for system in list(results)[1:]:
            only = int(((right[system] == 1) & (right["basic"] == 0)).sum())
            other = int(((right[system] == 0) & (right["basic"] == 1)).sum())
            p = mcnemar_of_counts(only, other).p
            pair = [(SYSTEMS[one], [counts[one]]) for one in (system, "basic")]
            tests.append(compared(title, "accuracy", pair[0], pair[1], p))
        words = finding(title, rows[0], list(zip(rows[1:], tests, strict=True)))
        return {"systems": rows, "comparisons": tests, "findings": [words], "settings": chosen}

    def _counts(self, right: np.ndarray) -> np.ndarray:
        """Right answers and rows of each sentence, or of each row where there are none."""
        bounds = self.parts["test"].sequence_bounds
        if bounds is None:
            return np.stack([right, np.ones_like(right)], axis=1)
        sums = np.concatenate(([0], np.cumsum(right)))
        return np.stack([np.diff(sums[bounds]), np.diff(bounds)], axis=1)


def _has_lightgbm() -> bool:
    from importlib.util import find_spec

    return find_spec("lightgbm") is not None
