"""Search the feature templates of a tagger.

===========  ==================================================================================
screened     our own, and the default: thousands of templates over derived columns are scored
             against the errors of CRFs, the best few added, and so on; a race settles how many
outward      the paper's: templates are added outward from the token and stay if a cheap model
             (maximum entropy, a MEMM) improves on development data
===========  ==================================================================================

Either way the result is a plan, which a tagger takes as it is, and a CRF++ template file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from sklearn.base import BaseEstimator

from featloom.data.columns import ColumnMaker, default_makers, derive, fit_makers
from featloom.data.sentences import table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.expansion import check_columns
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import template_line
from featloom.learners.sequence_model import KINDS
from featloom.methods.template_search.candidates import (
    CandidateTemplates,
    Places,
    given_templates,
)
from featloom.methods.template_search.decisions import StepByStep, plain
from featloom.methods.template_search.evaluation import TemplateEvaluation
from featloom.methods.template_search.outward import Outward
from featloom.methods.template_search.screen import PARTS
from featloom.methods.template_search.screened import Screened
from featloom.options import check, none, one_of, seed, threads, whole
from featloom.pool import number_of_workers
from featloom.search import Budget, Journal, fingerprint, search

TOLERANCE = {"screened": 0.001, "outward": 0.0003}
PROXY = {"screened": "crf", "outward": "maxent"}


class TemplateSearch(BaseEstimator):
    """Finds templates for a sequence tagger.

    Parameters
    ----------
    strategy : "screened" or "outward".
    proxy : the model whose development F1 decides: "maxent", "memm" or "crf"; default "crf" for
        the race that ends "screened", "maxent" for "outward".
    budget : a time such as "2m", or a number of seconds; None: until the strategy is done.
    trials : the most pieces of work, a screening or a training each; None: as many as it takes.
    max_templates : the most templates; None: as many as the strategy keeps.
    window : the largest offset of a place.
    candidates : templates to choose from, for "screened": those that trees grew for instance
        (see :func:`featloom.features.windows.sequence_templates`); None: all within the window.
    makers : recipes of the columns to derive, see :mod:`featloom.data.columns`; default forms of
        the words and letters of the tags with "screened", none with "outward".
    tolerance : the smallest improvement that counts: of F1 for "outward" (default .0003), as a
        share of the held-out loss for "screened" (default .001).
    passes, cutoff : of the models whose F1 decides; features seen fewer times are left out.
    journal : file that keeps every piece of work, for a search that is stopped and resumed.
    n_jobs : threads; they change the time and nothing else.
    random_state : seed of the parts that sentences are dealt into, and of the training.
    progress : called with (pieces of work done, None, best score).

    Attributes
    ----------
    plan_ : derived columns and templates, for a tagger.
    templates_ : the same as a CRF++ template file; comments name the columns that it numbers, and
        say what each template brought.
    history_ : a row for each decision: templates, whether they were kept, gain (nats a token, or
        F1), cost (features or templates), F1 where it was measured, seconds.
    work_ : the pieces of work that were done, in order.

    Examples
    --------
    >>> sentences = [[(w, w[-1].upper()) for w in s.split()] for s in ["a by ca", "by a ca"] * 10]
    >>> labels = [["y" if word == "by" else "n" for word, _ in s] for s in sentences]
    >>> search = TemplateSearch(strategy="outward", window=1).fit(sentences, labels)
    >>> [str(template) for template in search.plan_.templates]
    ['0', '1', '']
    """

    constraints = {
        "strategy": one_of(TOLERANCE),
        "proxy": one_of(KINDS) | none,
        "trials": whole(1) | none,
        "max_templates": whole(1) | none,
        "window": whole(0),
        "passes": whole(1),
        "cutoff": whole(1),
        "n_jobs": threads,
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        strategy="screened",
        proxy=None,
        budget=None,
        trials=None,
        max_templates=None,
        window=3,
        candidates=None,
        makers=None,
        tolerance=None,
        passes=10,
        cutoff=2,
        journal=None,
        n_jobs=None,
        random_state=None,
        progress=None,
    ):
        self.strategy = strategy
        self.proxy = proxy
        self.budget = budget
        self.trials = trials
        self.max_templates = max_templates
        self.window = window
        self.candidates = candidates
        self.makers = makers
        self.tolerance = tolerance
        self.passes = passes
        self.cutoff = cutoff
        self.journal = journal
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, sentences, labels=None):
        """Search templates on sentences and their labels (None: those that a table carries)."""
        self._check_parameters()
        given = table_of_sentences(sentences, labels)
        _check_sentences(given)
        makers = self._makers(given)
        table = derive(given, *makers)
        candidates = CandidateTemplates(table, self.window, self._given(table))
        evaluation = TemplateEvaluation(
            table, candidates, seed=self._seed(), threads=number_of_workers(self.n_jobs),
            passes=self.passes, cutoff=self.cutoff,
        )  # fmt: skip
        strategy = self._strategy(evaluation, given.columns, table)
        self._search(evaluation, strategy, table, candidates.given)
        self.history_ = strategy.history
        self._write_down(strategy, given.columns, makers)
        return self

    def _search(self, evaluation, strategy: StepByStep, table: NominalTable, given) -> None:
        description = {
            "method": "template_search",
            "version": 1,  # of what screening and training compute
            "columns": list(table.columns),
            **{name: getattr(self, name) for name in ("strategy", "window", "passes", "cutoff")},
            "seed": self._seed(),
            "candidates": None if given is None else plain(given),
        }
        data = fingerprint(table.codes, table.labels, table.bounds, list(table.classes))
        opened: Any = nullcontext(None)
        if self.journal is not None:
            opened = Journal(self.journal, data=data, search=description)
        with opened as journal:
            self.work_ = search(
                evaluation,
                strategy,
                journal=journal,
                budget=self.budget,
                trials=self.trials,
                progress=self.progress,
                on_result=strategy.note,
            )

    def _strategy(self, evaluation, given: Sequence[str], table: NominalTable) -> StepByStep:
        tolerance = TOLERANCE[self.strategy] if self.tolerance is None else self.tolerance
        common = {
            "window": self.window,
            "tolerance": tolerance,
            "most": self.max_templates,
            "proxy": PROXY[self.strategy] if self.proxy is None else self.proxy,
        }
        if self.strategy == "screened":
            return Screened(evaluation, given, **common)
        words = evaluation.candidates.words
        return Outward(table.columns, words, seed=self._seed(), **common)

    def _write_down(
        self, strategy: StepByStep, given: Sequence[str], makers: Sequence[ColumnMaker]
    ) -> None:
        used = _used_makers(strategy.templates, makers)
        columns = [*given, *(maker.name for maker in used)]
        templates = [
            Template(places, "U", f"U{number:02d}")
            for number, places in enumerate(strategy.templates)
        ]
        pair = Template((), "B", "B")
        self.plan_ = FeaturePlan(
            derived=tuple(maker.to_dict() for maker in used), templates=(*templates, pair)
        )
        brought = _brought(strategy.history)
        lines = [f"# column {number}: {name}" for number, name in enumerate(columns)]
        for template in templates:
            cells = [(offset, columns.index(name)) for name, offset in template.places]
            lines += [f"# {template}: {brought[str(template)]}"]
            lines += [str(template_line(template.name, cells))]
        self.templates_ = "\n".join([*lines, "# the label pair", "B"]) + "\n"

    def _given(self, table: NominalTable) -> list[Places] | None:
        if self.candidates is None:
            return None
        given = given_templates(self.candidates, self.window)
        check_columns([Template(places) for places in given], table.columns)
        return given

    def _makers(self, table: NominalTable) -> list[ColumnMaker]:
        if self.makers is not None:
            return fit_makers(table, self.makers)
        return fit_makers(table, default_makers(table)) if self.strategy == "screened" else []

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(self.random_state)

    def _check_parameters(self) -> None:
        check(self)
        if self.candidates is not None and self.strategy != "screened":
            raise InputError("candidates are for the strategy 'screened'")
        Budget.of(self.budget, self.trials)


def _check_sentences(table: NominalTable) -> None:
    if not len(table.known_labels):
        raise InputError("there are no labels to learn from")
    n = len(table.bounds) - 1
    if n < 2 * PARTS:
        raise InputError(f"{n} sentences are too few to search on; at least {2 * PARTS} are needed")


def _used_makers(templates: Sequence[Places], makers: Sequence[ColumnMaker]) -> list[ColumnMaker]:
    """The makers of columns that templates look at, and of those that these are made of."""
    needed = {name for places in templates for name, _ in places}
    used: list[ColumnMaker] = []
    for maker in reversed(makers):
        if maker.name in needed:
            used.insert(0, maker)
            needed |= {maker.of, getattr(maker, "otherwise", None) or maker.of}
    return used


def _brought(history: Sequence[dict[str, Any]]) -> dict[str, str]:
    """For each template that was kept, in words, what its decision measured."""
    said: dict[str, str] = {}
    for row in history:
        if not row["kept"] or row["by"] == "race":
            continue
        together = f" together with {len(row['templates']) - 1} more" * (len(row["templates"]) > 1)
        if row["by"] == "start":
            words = "there from the start"
        elif row["by"] == "screen":
            words = f"takes {row['gain']:.5f} nats a token off the held-out loss"
        else:
            words = f"raises the development F1 by {100 * row['gain']:.2f}{together}"
        said.update(dict.fromkeys(row["templates"], words))
    return said
