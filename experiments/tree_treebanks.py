"""Table 3.2 on one treebank: columns are predicted, the chapter's tree grown, parsers trained."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.entries import Entries, journaled, n_sentences, some_sentences
from experiments.tree_columns import (
    DERIVED,
    PREDICTED,
    PredictTrials,
    derived_parts,
    with_entry,
)
from experiments.tree_findings import compared, finding, system_row
from experiments.tree_systems import (
    BASICS,
    CHAPTER,
    GENERATIONS,
    PERCEPTRON_EPOCHS,
    TRAININGS,
    TREEBANKS,
    GrowTrials,
    ParseTrials,
    System,
    distinct_lengths,
)
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS, load
from featloom.evaluation.attachment import attachment_counts
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.formats.packing import unpacked
from featloom.learners.parser import FOREST, DependencyParser
from featloom.runs import Run

VERSION = 1  # of what an entry holds


def parse_treebank(
    run: Run,
    name: str,
    *,
    seeds: range,
    sample: int | None,
    jobs: int,
    say: Callable[[str], None],
    progress: Any,
) -> dict[str, Any]:
    """All rows of one treebank, their comparisons with manual templates, and a finding."""
    treebank = TREEBANKS[name]
    say(f"{treebank.title}: reading")
    parts = _read(treebank.corpus, sample, seeds[0])
    about = {
        "version": VERSION,
        "chapter": CHAPTER,
        "epochs": PERCEPTRON_EPOCHS,
        # An entry holds for the parser as it was: other defaults make another experiment.
        "parser": {k: repr(v) for k, v in DependencyParser().get_params().items()},
        "forest": FOREST,
        "folds": seeds[0],
    }
    with journaled(run, name, parts, about, jobs, progress) as entries:
        return _Treebank(name, parts, seeds, entries, say).run()


def _read(corpus: str, sample: int | None, seed: int) -> dict[str, NominalTable]:
    parts: dict[str, NominalTable] = {}
    for part in PARTS:
        table = load(corpus, part)
        assert isinstance(table, NominalTable)
        if sample is not None:
            size = sample if part == "train" else max(20, sample // 4)
            table = some_sentences(table, size, seed)
        parts[part] = table
    return parts


class _Treebank:
    """One treebank's part of the experiment."""

    def __init__(self, name: str, parts: dict, seeds: range, entries: Entries, say):
        self.name, self.parts, self.seeds, self.entries, self.say = name, parts, seeds, entries, say
        self.treebank = TREEBANKS[name]
        self.tokens = {part: _tokens(table) for part, table in parts.items()}
        self.counts: dict[System, dict[str, list[np.ndarray]]] = {}

    def run(self) -> dict[str, Any]:
        title = self.treebank.title
        parts = derived_parts(self.parts, DERIVED[self.name])
        self.say(f"{title}: growing the chapter's tree")
        (tree,) = self.entries.ask(GrowTrials(parts["train"]), [{"part": "grow"}])
        self.say(f"{title}: predicting columns")
        asked = [{"part": "column", "column": column} for column in PREDICTED[self.name]]
        predicted = self.entries.ask(PredictTrials(parts, self.seeds[0]), asked)
        for one in predicted:
            parts = with_entry(parts, one.candidate["column"], one.result)
        trials = ParseTrials(parts, tree.result["templates"])
        self.say(f"{title}: choosing the longest template")
        lengths = self._choose(trials)
        self.say(f"{title}: parsing")
        rows, grown = self._fit(trials, lengths)
        tests = self._compare()
        return {
            "systems": rows,
            "comparisons": tests,
            "templates": grown,
            "tree": {
                "rows": tree.result["edges"],
                **{k: tree.result[k] for k in ("positives", "shown", "seconds")},
            },
            "predicted": {one.candidate["column"]: one.result["right"] for one in predicted},
            "lengths": lengths,
            "sizes": {part: n_sentences(table) for part, table in self.parts.items()},
            "evaluations": self.entries.n,
            "findings": self._findings(rows, tests),
        }

    def _choose(self, trials: ParseTrials) -> dict[str, int]:
        """The longest template of the chapter's tree, for each training."""
        asked = [
            {
                "part": "choice", "basic": "first", "generation": "chapter", "training": training,
                "length": length, "seed": self.seeds[0],
            }
            for training in TRAININGS
            for length in distinct_lengths(trials.chapter)
        ]  # fmt: skip
        best: dict[str, tuple[float, int]] = {}
        for one in self.entries.ask(trials, asked):
            training, length = one.candidate["training"], one.candidate["length"]
            if training not in best or one.score > best[training][0]:
                best[training] = one.score, length
        return {training: length for training, (_, length) in best.items()}

    def _fit(self, trials: ParseTrials, lengths: dict[str, int]) -> tuple[list[dict], list[dict]]:
        # Seed by seed, so that a run that was stopped has something of each row.
        asked = []
        for seed in self.seeds:
            for system in self.treebank.systems:
                one = {
                    "part": "row", "basic": system.basic, "generation": system.generation,
                    "training": system.training, "seed": seed,
                }  # fmt: skip
                if system.generation == "chapter":
                    one["length"] = lengths[system.training]
                asked.append(one)
        found = [one.result for one in self.entries.ask(trials, asked)]
        width = len(self.treebank.systems)
        rows = []
        for place, system in enumerate(self.treebank.systems):
            results = found[place::width]
            self.counts[system] = {
                f"{part}{all_}": [self._counts(part, result, all_) for result in results]
                for part in ("valid", "test")
                for all_ in ("", "_all")
            }
            rows.append(self._row(system, results))
        grown: list[dict] = next(
            (found[place]["grown"] for place, system in enumerate(self.treebank.systems)
             if (system.basic, system.generation, system.training) == ("first", "tree", "mira")),
            [],
        )  # fmt: skip
        return rows, grown

    def _counts(self, part: str, result: dict[str, Any], all_: str) -> np.ndarray:
        """Right heads and tokens of each sentence, with punctuation or without."""
        right = unpacked(result[part]["all_right" if all_ else "right"])
        return np.stack([right, self.tokens[part][:, 1 if all_ else 0]], axis=1)

    def _row(self, system: System, results: list[dict[str, Any]]) -> dict[str, Any]:
        counts = self.counts[system]
        means = {
            key: float(np.mean([accuracy_of_counts(one.sum(axis=0)) for one in counts[key]]))
            for key in counts
        }
        return system_row(
            system.name,
            self.treebank.title,
            "UAS",
            counts["test"],
            valid=means["valid"],
            with_punctuation=means["test_all"],
            valid_with_punctuation=means["valid_all"],
            templates=int(np.median([result["templates"] for result in results])),
            features=int(np.median([result["features"] for result in results])),
            seconds=float(np.mean([result["seconds"] for result in results])),
            published=system.published,
            basic=BASICS[system.basic],
            generation=GENERATIONS[system.generation],
            training=TRAININGS[system.training],
        )

    def _compare(self) -> list[dict[str, Any]]:
        return [
            compared(
                self.treebank.title, "UAS", (system.name, self.counts[system]["test"]),
                (system.baseline.name, self._baseline(system)),
            )
            for system in self.treebank.systems
            if system.generation != "manual"
        ]  # fmt: skip

    def _baseline(self, system: System) -> list[np.ndarray]:
        return next(
            counts["test"]
            for other, counts in self.counts.items()
            if other.generation == "manual" and other.training == system.training
        )

    def _findings(self, rows: list[dict], tests: list[dict]) -> list[str]:
        by_name = {test["a"]: test for test in tests}
        title = self.treebank.title
        sentences = []
        for training in TRAININGS.values():
            block = [row for row in rows if row["training"] == training]
            others = [(row, by_name[f"{title}: {row['name']}"]) for row in block[1:]]
            sentences.append(finding(title, block[0], others))
        return sentences


def _tokens(table: NominalTable) -> np.ndarray:
    """Tokens of each sentence: without punctuation, and all."""
    assert table.heads is not None
    assert table.sequence_bounds is not None
    bounds = table.sequence_bounds.tolist()
    heads = table.heads.tolist()
    trees = [[(head, "_") for head in heads[a:b]] for a, b in pairwise(bounds)]
    return attachment_counts(table, trees)[:, [2, 4]]
