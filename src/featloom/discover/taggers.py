"""Who labels tokens: CRFs with several sets of templates, and what they are measured against.

Every CRF is tuned in the same way.  Of the sentences it is given a fifth is held out; on these the
set of templates is chosen where there are several, then the penalty, then the rate of learning.
Then it learns from all of them.  The sets differ in where they come from: those that people use,
those read off decision trees, and those searched for by the errors of CRFs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.data.table import NominalTable
from featloom.compare.contenders import Contender, Finding
from featloom.discover.sentences import inner_parts, seen_alone
from featloom.discover.template_sets import (
    GROWN_ON,
    SEARCHED_ON,
    TemplateSet,
    grown_sets,
    searched_sets,
    template_file,
    thinned_sets,
    usual_sets,
    usual_window,
)
from featloom.evaluation.judging import OF_COUNTS, counts_by
from featloom.features.windows import window_table
from featloom.learners.memory import MemoryClassifier
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search.findings import template_rows
from featloom.runs import write_beside

MODEL, TEMPLATES = "model.featloom", "templates.txt"
TUNED_ON, MEMORY_TUNED_ON = 4_000, 1_500  # sentences, at most
PENALTIES, RATES = (1.0, 0.1, 0.3, 3.0), (0.1, 0.03)
NEAREST: tuple[dict[str, Any], ...] = (
    {"metric": "overlap", "k": 1},
    {"metric": "overlap", "k": 3},
    {"metric": "mvdm", "k": 3},
    {"metric": "mvdm", "k": 7},
)
_MOST_SHOWN = 200

Find = Callable[[NominalTable, int, int], list[TemplateSet]]


def tagger_contenders(metric: str) -> list[Contender]:
    """Who answers which label a token has, cheap ones first.

    Parameters
    ----------
    metric : by which settings are chosen, the one that answers are judged by.
    """

    def crf(find: Find, model: str = "crf") -> Callable[[Any, int, int], FittedTagger]:
        return partial(fit_tagger, find, model, metric)

    return [
        Contender(
            "most frequent label", "chance", "the commonest label, whatever the token is",
            fit_same_label, 0.01,
        ),
        Contender(
            "CRF, default templates", "baseline",
            "a conditional random field on words and columns two tokens around, and on the "
            "spelling of words where that is better on held-out sentences",
            crf(usual_sets), 1.0,
        ),
        Contender(
            "maximum entropy, default templates", "baseline",
            "the same features, each token labelled by itself", crf(usual_sets, "maxent"), 0.7,
        ),
        Contender(
            "memory on windows", "yardstick",
            "the label of the most similar stored windows; a tagger of this kind cannot be saved, "
            "so it is measured and not chosen",
            partial(fit_memory, metric), 1.5,
        ),
        Contender(
            "templates from trees", "method",
            "a CRF on templates that are paths of decision trees grown on windows",
            crf(grown_sets), 3.0, GROWN_ON,
        ),
        Contender(
            "templates from trees, thinned by search", "method",
            "a CRF on those of the trees' templates that take off the errors of CRFs",
            crf(thinned_sets), 4.0, SEARCHED_ON,
        ),
        Contender(
            "template search", "method",
            "a CRF on templates picked from thousands by what they take off the errors of CRFs",
            crf(searched_sets), 5.0, SEARCHED_ON,
        ),
    ]  # fmt: skip


def fit_tagger(
    find: Find, model: str, metric: str, data: NominalTable, seed: int, threads: int
) -> FittedTagger:
    """Find templates, choose settings on a fifth of the sentences, learn from all of them."""
    table = seen_alone(data)
    sets = find(table, seed, threads)
    how: dict[str, Any] = {"model": model, "n_jobs": threads, "random_state": seed}
    place, penalty, rate = _chosen(sets, how, metric, table, seed)
    tagger = SequenceTagger(plan=sets[place].plan, c2=penalty, rate=rate, **how).fit(table)
    return FittedTagger(tagger, sets[place], data.classes)


@dataclass(eq=False)
class FittedTagger:
    """A tagger that has learned, and where its templates are from.

    Parameters
    ----------
    classes : the labels whose places are the codes of answers.
    """

    model: SequenceTagger
    templates: TemplateSet
    classes: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.model.n_features_)

    @property
    def size_words(self) -> str:
        n = len([template for template in self.model.templates_ if template.places])
        return f"{self.size:,} features of {n} template{'s' * (n != 1)}"

    @property
    def setting(self) -> str:
        words = f"c2 {self.model.c2:g}, rate {self.model.rate:g}"
        return f"{words}, {self.templates.words}" if self.templates.words else words

    def answers(self, data: NominalTable) -> np.ndarray:
        return _codes(self.model.predict(data), self.classes)

    def findings(self) -> list[Finding]:
        gains, measured = self.templates.gains, self.templates.measured
        rows = [[one["text"], one["features"]] for one in template_rows(self.model, [])]
        if not measured:
            return [Finding("templates", ["template", "features"], rows[:_MOST_SHOWN])]
        # Templates that were there from the start have no gain of their own.
        rows.sort(key=lambda row: -gains.get(row[0], 0.0))
        shown = [[*row, _shown(gains.get(row[0]))] for row in rows[:_MOST_SHOWN]]
        return [Finding("templates", ["template", "features", measured], shown)]

    def save(self, folder: Path) -> list[str]:
        self.model.save(folder / MODEL)
        write_beside(folder / TEMPLATES, template_file(self.model, self.templates))
        return [MODEL, TEMPLATES]


def fit_memory(metric: str, data: NominalTable, seed: int, threads: int) -> FittedMemory:
    """Store windows; metric and number of neighbours are chosen on a fifth of the sentences."""
    table = seen_alone(data)
    window = usual_window(table)

    def fitted(settings: Mapping[str, Any], given: NominalTable) -> FittedMemory:
        vote = "count" if settings["k"] == 1 else "inverse_distance"
        memory = MemoryClassifier(vote=vote, n_jobs=threads, **settings)
        return FittedMemory(memory.fit(window_table(given, window)), window, data.classes)

    best = NEAREST[0]
    parts = inner_parts(table, seed, MEMORY_TUNED_ON)
    if parts is not None:
        learn, judge = parts
        scores = [_score(fitted(one, learn), judge, data.classes, metric) for one in NEAREST]
        best = NEAREST[int(np.argmax(scores))]
    return fitted(best, table)


@dataclass(eq=False)
class FittedMemory:
    """Stored windows of tokens with their labels."""

    model: MemoryClassifier
    window: int
    classes: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.model._labels)

    @property
    def size_words(self) -> str:
        return f"{self.size:,} stored tokens"

    @property
    def setting(self) -> str:
        return f"{self.model.metric}, k {self.model.k}, window of {self.window}"

    def answers(self, data: NominalTable) -> np.ndarray:
        if not len(data):
            return np.empty(0, dtype=np.int32)
        return _codes([self.model.predict(window_table(data, self.window))], self.classes)

    def findings(self) -> list[Finding]:
        columns = self.model._reader.table.columns
        weights = self.model.weights_
        order = np.argsort(-weights, kind="stable").tolist()
        rows = [[columns[j], round(float(weights[j]), 5)] for j in order]
        return [Finding("places of the window", ["place", "gain ratio"], rows[:_MOST_SHOWN])]

    def save(self, folder: Path) -> list[str]:
        return []


def fit_same_label(data: NominalTable, seed: int, threads: int) -> FittedSameLabel:
    """The commonest label of some sentences."""
    assert data.labels is not None
    return FittedSameLabel(int(np.bincount(data.labels).argmax()), data.classes)


@dataclass(frozen=True)
class FittedSameLabel:
    """One label for all tokens."""

    code: int
    classes: tuple[str, ...] = field(repr=False)

    size = 1
    size_words = "1 label"

    @property
    def setting(self) -> str:
        return self.model

    @property
    def model(self) -> str:
        return str(self.classes[self.code])

    def answers(self, data: NominalTable) -> np.ndarray:
        return np.full(len(data), self.code, dtype=np.int32)

    def findings(self) -> list[Finding]:
        return []

    def save(self, folder: Path) -> list[str]:
        return []


def _chosen(
    sets: Sequence[TemplateSet], how: Mapping[str, Any], metric: str, table: NominalTable, seed: int
) -> tuple[int, float, float]:
    """Set of templates, penalty and rate, one after the other; of equals, the first."""
    best: tuple[Any, ...] = (0, PENALTIES[0], RATES[0])
    parts = inner_parts(table, seed, TUNED_ON)
    if parts is None:
        return best
    # What only the held-out sentences have is not known in training, as it is in earnest.
    learn, judge = seen_alone(parts[0]), parts[1]
    if len(learn.classes) < 2:
        return best
    scores: dict[tuple[Any, ...], float] = {}

    def score(setting: tuple[Any, ...]) -> float:
        if setting not in scores:
            place, penalty, rate = setting
            tagger = SequenceTagger(plan=sets[place].plan, c2=penalty, rate=rate, **how)
            fitted = FittedTagger(tagger.fit(learn), sets[place], table.classes)
            scores[setting] = _score(fitted, judge, table.classes, metric)
        return scores[setting]

    for axis, values in enumerate((range(len(sets)), PENALTIES, RATES)):
        tried = [(*best[:axis], value, *best[axis + 1 :]) for value in values]
        best = max(tried, key=score)
    return best


def _score(
    fitted: FittedTagger | FittedMemory, judge: NominalTable, classes: Sequence[str], metric: str
) -> float:
    """How well held-out sentences are answered."""
    code_of = {name: code for code, name in enumerate(classes)}
    gold = np.array([code_of[name] for name in judge.classes], dtype=np.int32)[judge.labels]
    bounds = judge.sequence_bounds
    assert bounds is not None
    counts = counts_by(metric, gold, fitted.answers(judge), bounds, classes)
    return float(OF_COUNTS[metric](counts.sum(axis=0)))


def _shown(gain: float | None) -> float | None:
    return None if gain is None else float(f"{gain:.4g}")


def _codes(labels: Sequence[Sequence[str]], classes: Sequence[str]) -> np.ndarray:
    """The labels of all sentences, one after the other, as places in ``classes``."""
    code_of = {str(name): code for code, name in enumerate(classes)}
    found = [code_of[str(label)] for sentence in labels for label in sentence]
    return np.array(found, dtype=np.int32)
