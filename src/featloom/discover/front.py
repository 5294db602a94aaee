"""What kind of data is this?  Recognised, said, and handed to the comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from featloom.compare.questions import Question
from featloom.data.matrix import FeatureMatrix
from featloom.data.open import holds_classes, kind_of, open_any
from featloom.data.readers.labels import no_classes, with_classes
from featloom.data.room import share_to_read
from featloom.data.table import NominalTable, joined
from featloom.data.task_rows import rows_of_tasks
from featloom.discover.discovery import AUTO, Discovery, Watch, compare_all, time_for
from featloom.discover.looks import check_target, in_ranges, without_idle_columns
from featloom.discover.many_tasks import TaskQuestion
from featloom.discover.progress import Progress
from featloom.discover.sequences import SentenceQuestion
from featloom.discover.tables import TableQuestion
from featloom.discover.treebanks import TreeQuestion
from featloom.errors import InputError
from featloom.search import Budget, fingerprint

KINDS = ("table", "sequence", "trees", "tasks")
# Sentences and trees take long to learn from, and are many.
FOLDS = {"table": 5, "tasks": 5, "sequence": 3, "trees": 3}
JOURNAL = "discover.journal"


def discover(
    data: Any,
    target: Any = None,
    *,
    kind: str | None = None,
    groups: str | None = None,
    task: str | None = None,
    test: Any = None,
    positive: Any = None,
    judge_by: str = "log-loss",
    class_weight: str | None = None,
    bins: int | None = None,
    sample: float | None = None,
    budget: Budget | float | str | None = AUTO,
    trials: int | None = None,
    only: Sequence[str] | str | None = None,
    drop: Sequence[str] | str = (),
    folder: str | os.PathLike | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    verbose: bool | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """Try everything that applies to some data, and say what helps.

    Parameters
    ----------
    data : a file, a DataFrame, an array, a list of lists or of dicts, a NominalTable or
        FeatureMatrix with classes.
    target : column with the class; or the classes themselves, as in ``discover(X, y)``.
    kind : "table", "sequence", "trees" or "tasks"; None: as recognised.
    groups : column of documents, whose rows are never split apart.
    task : column that names the task of a row, for many small tables in one.
    test : rows to report on, in any form that ``data`` can have, as a pair (X, y) where the
        classes are given beside ``data``; None: a fifth is held out.
    positive : class whose F1 counts; default the rarer of two.
    judge_by : what tables are tuned, chosen and ordered by: "log-loss", "AUC", "Brier score",
        "accuracy" or "F1"; the others are told beside it.
    class_weight : "balanced": every class of a table weighs the same, however many rows it has.
    bins : ranges of about as many rows each to cut a target of numbers into.
    sample : share of the rows of a file to read, drawn at random; None: all that fit into memory.
    budget : time for all of it: "10m", or a number of seconds; None: as long as it takes; "auto":
        ten minutes, or as long as it takes where ``trials`` is given.
    trials : settings of each contender that are tried, its default being the first, and trials of
        each search; None: as many as there are, or as there is time for.
    only : contenders to try, or one; None: all that apply.
    drop : contenders to leave out, beside ``only`` too.
    folder : where what is finished is kept, so that a run that was stopped can go on.
    n_jobs : processes; -1: one for each core; 1: this one, no other is started.
    verbose : None: the scores so far in a terminal or a notebook; True: elsewhere a line for what
        is being done; False: nothing.
    watch : who is told instead.

    Examples
    --------
    >>> rows = [[a, b, c] for a in "ckgs" for b in "aeiou" for c in "uvwxyz"] * 2
    >>> sounds = ["S" if (a in "cg") == (b in "ei") else "K" for a, b, c in rows]
    >>> import numpy as np
    >>> table = NominalTable.from_columns(
    ...     dict(zip(["letter", "next", "after"], np.array(rows).T.tolist())), labels=sounds)
    >>> found = discover(table, only=["linear model", "induction"], budget=None, n_jobs=1)
    >>> found.chosen
    'induction'
    >>> found.pipeline().predict([["c", "e", "z"], ["c", "a", "z"]]).tolist()
    ['S', 'K']
    """
    begun = monotonic()
    budget = time_for(budget, trials)  # a wrong one is refused before anything is read
    named = (None if holds_classes(target) else target, groups)
    share, noticed = share_to_read(data, sample, columns=named)
    data = open_any(data, target, groups, share=share, seed=seed, numbers=bins is not None)
    if holds_classes(target):
        target, test = None, _pair(test, groups)
    question, is_test, warnings = ask(
        data, target, kind=kind, groups=groups, task=task, test=test,
        positive=None if positive is None else str(positive), bins=bins, judge_by=judge_by,
        class_weight=class_weight,
    )  # fmt: skip
    warnings = [*noticed, *warnings]
    journal = None
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        journal = Path(folder) / JOURNAL, marks_of(question, is_test)
    how: dict[str, Any] = {
        "budget": budget, "trials": trials, "n_folds": FOLDS[question.kind], "is_test": is_test,
        "journal": journal, "only": only, "drop": drop, "warnings": warnings, "seed": seed,
        "jobs": n_jobs, "since": begun,
    }  # fmt: skip
    if watch is not None:
        return compare_all(question, watch=watch, **how)
    progress = Progress(
        question.metric, lower_is_better=question.lower_is_better, budget=budget,
        n_folds=FOLDS[question.kind], verbose=verbose, since=begun,
    )  # fmt: skip
    with progress as shown:
        return compare_all(question, watch=shown, **how)


def ask(
    data: Any,
    target: str | None = None,
    *,
    kind: str | None = None,
    groups: str | None = None,
    task: str | None = None,
    test: Any = None,
    positive: str | None = None,
    bins: int | None = None,
    judge_by: str = "log-loss",
    class_weight: str | None = None,
) -> tuple[Question, np.ndarray | None, list[str]]:
    """The question that data ask, which units are in a given test part, and what was noticed."""
    if kind is not None and kind not in KINDS:
        raise InputError(f"kind is {kind!r}; it can be {', '.join(KINDS)}")
    read = open_any(data, target, groups, numbers=bins is not None)
    kind = kind or kind_of(read, task)
    if bins is not None and kind != "table":
        raise InputError(f"ranges of a target are for tables, and this is of kind {kind!r}")
    if kind == "tasks":
        _refuse_test(test, kind)
        _check_classes(read)
        read, _, left_out = _with_classes(read, None)
        return TaskQuestion(rows_of_tasks(read, task)), None, left_out
    if read.tasks is not None:
        raise InputError(f"rows of many tasks cannot be taken for kind {kind!r}")
    if test is not None:
        test = open_any(test, target, groups, numbers=bins is not None)
    read, is_test = _joined(read, test)
    if kind in ("sequence", "trees"):
        read, said = _enough_documents(read, kind, asked=groups is not None)
        return _of_sentences(read, kind), _sentences_of(read, is_test), said
    if isinstance(read, NominalTable):
        read = replace(read, groups=read.kept_together)
    _check_classes(read)
    if bins is not None:
        read = in_ranges(read, bins, is_test)
    said_of_target = check_target(read)
    read, is_test, warnings = _with_classes(read, is_test)
    warnings += said_of_target
    outside = None
    if isinstance(read, NominalTable):
        read, outside, said = without_idle_columns(read)
        warnings += said
    if class_weight not in (None, "balanced"):
        raise InputError(f"class_weight is {class_weight!r}; it can be None or 'balanced'")
    question = TableQuestion(read, positive, judge_by, class_weight == "balanced", outside)
    return question, is_test, warnings


def _pair(test: Any, groups: str | None) -> Any:
    """A test part whose classes are given beside its rows."""
    if test is None or isinstance(test, NominalTable):
        return test
    if not isinstance(test, tuple) or len(test) != 2:
        raise InputError("test must be a pair (X, y), for the classes are given beside the data")
    return open_any(*test, groups)


def marks_of(question: Question, is_test: np.ndarray | None) -> str:
    """A fingerprint of the data, by which a journal knows them again."""
    data = question.data  # type: ignore[attr-defined]
    extra = [] if data.tasks is None else [data.task_of_row.tolist()]
    arrays = [data.indptr, data.indices] if isinstance(data, FeatureMatrix) else [data.codes]
    arrays += [
        one
        for one in (
            data.labels, data.groups, getattr(data, "heads", None),
            getattr(data, "sequence_bounds", None), is_test,
            getattr(getattr(question, "outside", None), "codes", None),
        )
        if one is not None
    ]  # fmt: skip
    return fingerprint(*arrays, list(data.classes), *extra)


def _check_classes(data: NominalTable | FeatureMatrix) -> None:
    if data.labels is None:
        raise InputError(no_classes(data))


def _with_classes(data: Any, is_test: np.ndarray | None) -> tuple[Any, np.ndarray | None, list]:
    """The rows that have a class; those without are left out and counted."""
    kept, said = with_classes(data)
    if not said:
        return data, is_test, []
    return kept, None if is_test is None else is_test[data.labels >= 0], [said]


def _of_sentences(table: Any, kind: str) -> Question:
    if not isinstance(table, NominalTable) or table.sequence_bounds is None:
        raise InputError(f"the data are no sentences, which kind {kind!r} needs")
    if kind == "trees":
        return TreeQuestion(table)
    _check_classes(table)
    return SentenceQuestion(table)


def _enough_documents(table: Any, kind: str, asked: bool) -> tuple[Any, list[str]]:
    """The table without its documents, where they are too few to be dealt into folds."""
    documents = getattr(table, "groups", None)
    if documents is None or asked or len(np.unique(documents)) > FOLDS[kind]:
        return table, []
    n = len(np.unique(documents))
    said = (
        f"{n} document{'s are' if n > 1 else ' is'} too few to be dealt into {FOLDS[kind]} folds "
        "and a test part: sentences are dealt, and those of one document are on both sides"
    )
    return replace(table, groups=None), [said]


def _sentences_of(table: NominalTable, is_test: np.ndarray | None) -> np.ndarray | None:
    """Whether each sentence is in the test part, from its first token."""
    if is_test is None:
        return None
    return is_test[table.bounds[:-1]]


def _refuse_test(test: Any, kind: str) -> None:
    if test is not None:
        raise InputError(f"a test part of its own is not possible with kind {kind!r}")


def _joined(data: Any, test: Any) -> tuple[Any, np.ndarray | None]:
    """Both parts as one, and which rows are in the test part."""
    if test is None:
        return data, None
    if not isinstance(data, NominalTable) or not isinstance(test, NominalTable):
        raise InputError("a test part of its own is possible for tables and sentences only")
    is_test = np.repeat([False, True], [len(data), len(test)])
    return joined(data, test), is_test
