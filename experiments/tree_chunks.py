"""Templates grown on trees for a tagger: chunks of English (CoNLL-2000).

The columns of a window around each word become a table, trees grow on it, and their paths are
templates of a CRF.  They are given to it as they are, and thinned by the template search, to which
they are the only candidates; beside them stand the tagger's own templates and a search from
scratch.  The shape of the forest and the rate of learning are chosen on development sentences by
CRFs that learned from the others; for the test all of them are learned from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.entries import Entries, journaled, n_sentences, some_sentences
from experiments.tree_findings import compared, finding, system_row
from experiments.tree_tables import english_chunks
from featloom.data.columns import derive, fit_makers
from featloom.data.sentences import gold_labels
from featloom.data.table import NominalTable
from featloom.evaluation.chunks import chunk_counts, label_codes
from featloom.evaluation.metrics import f1_of_counts
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import sequence_templates, window_table
from featloom.formats.packing import packed, unpacked
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.candidates import default_makers
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.findings import template_rows, tree_part
from featloom.runs import Run

VERSION = 1
TITLE = "English chunks"
WINDOW = 2
PASSES, CUTOFF = 10, 2  # as in the template search
MOST_SHOWN = 100  # templates that an entry tells of
SYSTEMS = {
    "default": "tagger's own templates",
    "grown": "grown",
    "thinned": "grown, thinned",
    "search": "search from scratch",
}
# Columns: those given alone, each also by itself a template; or also those that the template
# search derives, which would be too many by themselves.
SHAPES: tuple[dict[str, Any], ...] = (
    {"derived": False, "max_length": 3, "n_trees": 1, "most": 60},
    {"derived": False, "max_length": 4, "n_trees": 1, "most": None},
    {"derived": False, "max_length": 3, "n_trees": 12, "most": 150},
    {"derived": True, "max_length": 3, "n_trees": 12, "most": 60, "singles": False},
    {"derived": True, "max_length": 3, "n_trees": 12, "most": 150, "singles": False},
)
RATES = (0.1, 0.03)  # of learning: many templates want the lower one
_PAIR = Template((), "B", "B")


def tag_chunks(
    run: Run,
    *,
    seeds: range,
    sample: int | None,
    jobs: int,
    say: Callable[[str], None],
    progress: Any,
) -> dict[str, Any]:
    """Chunk F1 of grown templates, thinned and not, beside other sets."""
    say(f"{TITLE}: reading")
    parts = english_chunks()
    if sample is not None:
        sizes = {"train": sample, "whole": sample}
        parts = {
            name: some_sentences(table, sizes.get(name, max(20, sample // 4)), seeds[0])
            for name, table in parts.items()
        }
    about = {"version": VERSION, "passes": PASSES, "cutoff": CUTOFF, "seed": seeds[0]}
    with journaled(run, "chunks", parts, about, jobs, progress) as entries:
        return _Chunks(parts, seeds, entries, say).run()


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
            return self._grow(asked["shape"], asked["rate"])
        if asked["part"] == "search":
            return self._search(asked["system"])
        return self._train(asked)

    def _grow(self, shape: Mapping[str, Any], rate: float) -> dict[str, Any]:
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
            templates=(*templates, _PAIR),
        )
        tagger = _tagger(plan, self.seed, rate).fit(train)
        found = _judged(tagger, self.parts["valid"])
        return {
            "score": found["f1"],
            "plan": plan.to_json(),
            "grown": template_rows(grown.grown_[:MOST_SHOWN]),
            "shown": tree_part(grown.tree_),
            "rows": len(around),
            "grow_s": seconds,
        }

    def _search(self, system: str) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if system == "thinned":
            plan = FeaturePlan.from_json(self.plans["grown"])
            more = {
                "candidates": [t for t in plan.templates if t.kind == "U"],
                "makers": list(plan.derived),
            }
        begun = time.perf_counter()
        found = TemplateSearch(
            strategy="screened", n_jobs=1, random_state=self.seed, **more
        ).fit(self.parts["whole"])  # fmt: skip
        seconds = time.perf_counter() - begun
        return {
            "score": float(len(found.plan_.templates)),
            "plan": found.plan_.to_json(),
            "search_s": seconds,
        }

    def _train(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """A choice learns from a part and is judged by development data, a row by the test."""
        text = self.plans.get(asked["system"])
        plan = None if text is None else FeaturePlan.from_json(text)
        chosen = asked["part"] == "row"
        begun = time.perf_counter()
        tagger = _tagger(plan, asked["seed"], asked["rate"])
        tagger.fit(self.parts["whole" if chosen else "train"])
        seconds = time.perf_counter() - begun
        found = _judged(tagger, self.parts["test" if chosen else "valid"])
        return {
            "score": found["f1"],
            "counts": packed(found["counts"].ravel()),
            "templates": len(tagger.templates_),
            "features": int(tagger.n_features_),
            "seconds": seconds,
        }


def _tagger(plan: FeaturePlan | None, seed: int, rate: float) -> SequenceTagger:
    return SequenceTagger(
        plan=plan, passes=PASSES, cutoff=CUTOFF, rate=rate, n_jobs=1, random_state=seed
    )


def _judged(tagger: SequenceTagger, table: NominalTable) -> dict[str, Any]:
    counts = chunk_counts(*label_codes(gold_labels(table), tagger.predict(table)))
    return {"f1": float(f1_of_counts(counts.sum(axis=0))), "counts": counts}


class _Chunks:
    """The part of the experiment on chunks."""

    def __init__(self, parts: dict, seeds: range, entries: Entries, say):
        self.parts, self.seeds, self.entries, self.say = parts, seeds, entries, say
        self.trials = ChunkTrials(parts, seeds[0])

    def run(self) -> dict[str, Any]:
        self.say(f"{TITLE}: growing templates")
        asked = [{"part": "grow", "shape": s, "rate": rate} for s in SHAPES for rate in RATES]
        best = max(self.entries.ask(self.trials, asked), key=lambda one: one.score)
        self.trials.plans["grown"] = best.result["plan"]
        self.say(f"{TITLE}: searching templates")
        # What is thinned belongs to the question: another forest is another search.
        asked = [
            {"part": "search", "system": "thinned", "shape": best.candidate["shape"]},
            {"part": "search", "system": "search"},
        ]
        searches = {e.candidate["system"]: e.result for e in self.entries.ask(self.trials, asked)}
        for system, result in searches.items():
            self.trials.plans[system] = result["plan"]
        self.say(f"{TITLE}: tagging")
        rates = {"grown": best.candidate["rate"], **self._rates()}
        asked = [
            {"part": "row", "system": system, "rate": rates[system], "seed": seed}
            for seed in self.seeds
            for system in SYSTEMS
        ]
        results = [one.result for one in self.entries.ask(self.trials, asked)]
        rows, counts = self._rows(results)
        tests = self._compare(counts)
        finder = {"thinned": "search_s", "search": "search_s"}
        for system, row in zip(SYSTEMS, rows, strict=True):
            found = best.result if system == "grown" else searches.get(system, {})
            row["found_s"] = found.get(finder.get(system, "grow_s"))
        return {
            "systems": rows,
            "comparisons": tests,
            "templates": best.result["grown"],
            "shape": best.candidate["shape"],
            "rates": rates,
            "tree": {"rows": best.result["rows"], "shown": best.result["shown"]},
            "plans": self.trials.plans,
            "sizes": {
                part: n_sentences(table) for part, table in self.parts.items() if part != "whole"
            },
            "evaluations": self.entries.n,
            "findings": [finding(TITLE, rows[0], list(zip(rows[1:], tests, strict=False)))],
        }

    def _rates(self) -> dict[str, float]:
        """The rate of learning of each set of templates that did not grow."""
        asked = [
            {"part": "rate", "system": system, "rate": rate, "seed": self.seeds[0]}
            for system in SYSTEMS
            if system != "grown"
            for rate in RATES
        ]
        best: dict[str, tuple[float, float]] = {}
        for one in self.entries.ask(self.trials, asked):
            system = one.candidate["system"]
            if system not in best or one.score > best[system][0]:
                best[system] = one.score, one.candidate["rate"]
        return {system: rate for system, (_, rate) in best.items()}

    def _rows(self, results: list[dict]) -> tuple[list[dict], dict[str, list[np.ndarray]]]:
        rows, counts = [], {}
        for place, (system, name) in enumerate(SYSTEMS.items()):
            own = results[place :: len(SYSTEMS)]
            counts[system] = [unpacked(one["counts"]).reshape(-1, 3) for one in own]
            rows.append(
                system_row(
                    name, TITLE, "F1", counts[system],
                    templates=own[0]["templates"], features=own[0]["features"],
                    seconds=float(np.mean([one["seconds"] for one in own])),
                )
            )  # fmt: skip
        return rows, counts

    def _compare(self, counts: dict[str, list[np.ndarray]]) -> list[dict[str, Any]]:
        """Each against the tagger's own templates; grown ones against a search from scratch."""
        pairs = [(system, "default") for system in list(SYSTEMS)[1:]]
        pairs += [("grown", "search"), ("thinned", "search"), ("thinned", "grown")]
        return [
            compared(TITLE, "F1", (SYSTEMS[a], counts[a]), (SYSTEMS[b], counts[b]))
            for a, b in pairs
        ]
