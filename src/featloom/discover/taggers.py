"""Who labels tokens: CRFs with several sets of templates, and what they are measured against.

Every CRF has the same settings: the set of templates where there are several, and the penalty; by
default those of a tagger that is fitted without any.  The sets differ in where they come from:
those that people use, those read off decision trees, and those searched for by the errors of CRFs.
A search is done while a tagger is fitted; what it found can be fitted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featloom.compare.contenders import Contender, Setting
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.discover.sentences import seen_alone
from featloom.discover.template_sets import (
    SHAPES,
    TemplateSet,
    grown_set,
    searched_set,
    template_file,
    thinned_set,
    usual_names,
    usual_set,
    usual_window,
)
from featloom.features.windows import window_table
from featloom.learners.memory import MemoryClassifier
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search.findings import template_rows
from featloom.results import Grid, grid
from featloom.runs import write_beside
from featloom.search.space import json_text
from featloom.words import counted

MODEL, TEMPLATES = "model.featloom", "templates.txt"
# A tagger's own penalty comes first.
TRAINING: dict[str, Sequence[Any]] = {"c2": (1.0, 0.1, 0.3, 3.0, 0.03)}
# Searched templates leave out what is seen once, as the models do that they are chosen by.
SEARCHED: dict[str, Sequence[Any]] = {"seconds": (20.0,), "cutoff": (2, 1), **TRAINING}
NEAREST: tuple[dict[str, Any], ...] = (
    {"metric": "overlap", "k": 1},
    {"metric": "overlap", "k": 3},
    {"metric": "mvdm", "k": 3},
    {"metric": "mvdm", "k": 7},
)
_OF_TEMPLATES = ("templates", "seconds", "trials", "cutoff")  # settings that features depend on
_MOST_SHOWN = 200

Find = Callable[[NominalTable, Setting, int, int], TemplateSet]


def tagger_contenders(table: NominalTable) -> list[Contender]:
    """Who predicts which label a token has, cheap ones first.

    Parameters
    ----------
    table : the sentences, of which the names of columns are looked at.
    """
    usual: dict[str, Sequence[Any]] = {"templates": usual_names(table), **TRAINING}
    grown: dict[str, Sequence[Any]] = {"templates": tuple(SHAPES), **TRAINING}
    return [
        Contender(
            "most frequent label", "chance", "the commonest label, whatever the token is",
            fit_same_label, cost=0.01,
        ),
        Contender(
            "CRF, default templates", "baseline",
            "a conditional random field on words and columns two tokens around, and on the "
            "spelling of words where that is better on held-out sentences",
            _fits(usual_set, usual), usual, cost=1.0,
        ),
        Contender(
            "maximum entropy, default templates", "baseline",
            "the same features, each token labelled by itself",
            _fits(usual_set, usual, "maxent"), usual, cost=0.7,
        ),
        Contender(
            "memory on windows", "yardstick",
            "the label of the most similar stored windows; a tagger of this kind cannot be saved, "
            "so it is measured and not chosen",
            fit_memories, {"how": NEAREST}, cost=1.5,
        ),
        Contender(
            "templates from trees", "method",
            "a CRF on templates that are paths of decision trees grown on windows",
            _fits(grown_set, grown), grown, cost=3.0,
        ),
        Contender(
            "templates from trees, thinned by search", "method",
            "a CRF on those of the trees' templates that take off the errors of CRFs",
            _fits(thinned_set, SEARCHED), SEARCHED, searches=True, cost=10.0,
        ),
        Contender(
            "template search", "method",
            "a CRF on templates picked from thousands by what they take off the errors of CRFs",
            _fits(searched_set, SEARCHED), SEARCHED, searches=True, cost=20.0,
        ),
    ]  # fmt: skip


def _fits(
    find: Find, axes: Mapping[str, Sequence[Any]], model: str = "crf"
) -> Callable[[NominalTable, Sequence[Setting], int, int], Iterator[FittedTagger]]:
    default = {name: values[0] for name, values in axes.items()}
    return partial(fit_taggers, find, default, model)


def fit_taggers(
    find: Find,
    default: Setting,
    model: str,
    data: NominalTable,
    settings: Sequence[Setting],
    seed: int,
    threads: int,
) -> Iterator[FittedTagger]:
    """A tagger for each setting; templates and features are found once for all that share them.

    Parameters
    ----------
    find : finds templates, unless a setting holds what was found before.
    default : what settings leave open.
    """
    table = seen_alone(data)
    first: dict[str, FittedTagger] = {}
    for given in settings:
        setting = default | given
        key = json_text({name: setting.get(name) for name in _OF_TEMPLATES})
        known = first.get(key)
        templates = known.templates if known else _templates(find, table, setting, seed, threads)
        if known:
            tagger = known.model.retrained(c2=setting["c2"])
        else:
            tagger = SequenceTagger(
                model=model, plan=templates.plan, cutoff=setting.get("cutoff", 1), n_jobs=threads,
                random_state=seed, c2=setting["c2"],
            ).fit(table)  # fmt: skip
        found = setting | {"templates": templates.plain()} if "seconds" in setting else None
        fitted = FittedTagger(tagger, templates, data.classes, found)
        first.setdefault(key, fitted)
        yield fitted


def _templates(
    find: Find, table: NominalTable, setting: Setting, seed: int, threads: int
) -> TemplateSet:
    """Those that a setting holds, or names, or those that are to be searched for."""
    held = setting.get("templates")
    if isinstance(held, Mapping):
        return TemplateSet.from_plain(held)
    return find(table, setting, seed, threads)


@dataclass(eq=False)
class FittedTagger:
    """A tagger that has learned, and where its templates are from.

    Parameters
    ----------
    classes : the labels whose places are the codes of answers.
    found : the setting by which its templates need not be searched for again.
    """

    model: SequenceTagger
    templates: TemplateSet
    classes: tuple[str, ...]
    found: Setting | None = None

    @property
    def size(self) -> int:
        return int(self.model.n_features_)

    @property
    def size_words(self) -> str:
        n = len([template for template in self.model.templates_ if template.places])
        return f"{self.size:,} features of {counted(n, 'template')}"

    @property
    def setting(self) -> str:
        words = f"c2 {self.model.c2:g}"
        words += f", features seen {self.model.cutoff} times" * (self.model.cutoff > 1)
        return f"{words}, {self.templates.words}" if self.templates.words else words

    def answers(self, data: NominalTable) -> np.ndarray:
        return _codes(self.model.predict(data), self.classes)

    def findings(self) -> list[Grid]:
        gains, measured = self.templates.gains, self.templates.measured
        rows = [row[:2] for row in template_rows(self.model, [])]
        if not measured:
            columns = {"template": "feature", "features": "count"}
            return [grid("templates", columns, rows[:_MOST_SHOWN])]
        # Templates that were there from the start have no gain of their own.
        rows.sort(key=lambda row: -gains.get(row[0], 0.0))
        shown = [[*row, _shown(gains.get(row[0]))] for row in rows[:_MOST_SHOWN]]
        columns = {"template": "feature", "features": "count", measured: "number"}
        return [grid("templates", columns, shown)]

    def save(self, folder: Path) -> list[str]:
        self.model.save(folder / MODEL)
        write_beside(folder / TEMPLATES, template_file(self.model, self.templates))
        return [MODEL, TEMPLATES]


def fit_memories(
    data: NominalTable, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedMemory]:
    """Store windows, which are compared by a metric with some number of neighbours."""
    table = seen_alone(data)
    window = usual_window(table)
    windows = window_table(table, window)
    for setting in settings:
        how = setting.get("how", NEAREST[0])
        vote = "count" if how["k"] == 1 else "inverse_distance"
        memory = MemoryClassifier(vote=vote, n_jobs=threads, **how).fit(windows)
        yield FittedMemory(memory, window, data.classes)


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

    def findings(self) -> list[Grid]:
        columns = self.model._reader.table.columns
        weights = self.model.weights_
        order = np.argsort(-weights, kind="stable").tolist()
        rows = [[columns[j], round(float(weights[j]), 5)] for j in order]
        heads = {"place": "text", "gain ratio": "number"}
        return [grid("places of the window", heads, rows[:_MOST_SHOWN])]

    def save(self, folder: Path) -> list[str]:
        return []


def fit_same_label(
    data: NominalTable, settings: Sequence[Setting], seed: int, threads: int
) -> Iterator[FittedSameLabel]:
    """The commonest label of some sentences."""
    commonest = int(np.bincount(data.label_codes).argmax())
    for _ in settings:
        yield FittedSameLabel(commonest, data.classes)


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

    def findings(self) -> list[Grid]:
        return []

    def save(self, folder: Path) -> list[str]:
        return []


def _shown(gain: float | None) -> float | None:
    return None if gain is None else float(f"{gain:.4g}")


def _codes(labels: Sequence[Sequence[str]], classes: Sequence[str]) -> np.ndarray:
    """The labels of all sentences, one after the other, as places in ``classes``."""
    of_tokens = [str(label) for sentence in labels for label in sentence]
    return Vocabulary(map(str, classes)).find(of_tokens)
