"""One question, every contender, one answer: the run of a comparison and what it leaves behind.

The budget is one of wall-clock time.  Most of it is for trials, which end with their time whatever
they are doing; the rest is for the chosen contender, which learns once more from all the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from featloom.cluster import current_cluster
from featloom.discover.contenders import Contender, Finding, Fitted, Question
from featloom.discover.protocol import Protocol, Trials, make_protocol, names_of
from featloom.discover.schedule import CheapestFirst
from featloom.discover.verdict import Found, judge
from featloom.errors import InputError
from featloom.search import Budget, Evaluation, History, Interrupted, Journal, search
from featloom.search.workers import number_of_workers

FOLDS = 5
VERSION = 1  # of what a trial computes
_FOR_TRIALS = 0.88  # of the time; the rest is for learning from all the data
_FOR_ALL = 0.96  # and a little for writing it down
_MOST_CLASSES, _MOST_GROUPS = 200, 30


class Discovery:
    """What a comparison found, and the model it chose.

    Attributes
    ----------
    verdict : what a reader may conclude, in plain words.
    significant : whether a method is better than the best baseline, beyond chance.
    leaderboard : a row for each contender, best first.
    chosen : name of the contender that was chosen.
    features : what the chosen model looks at, by name.
    folds : (learned, judged) row numbers of the cross-validation, over ``learn_rows``.
    learn_rows, test_rows : rows (or sentences) of the data.
    result : all of it, as ``result.json`` has it.
    """

    def __init__(
        self,
        question: Question,
        protocol: Protocol,
        found: Found,
        fitted: Fitted | None,
        parts: dict[str, Any],
    ):
        self.question, self.found, self.fitted = question, found, fitted
        self.result = parts
        self.protocol = protocol
        self.learn_rows, self.test_rows = protocol.learn, protocol.test
        self.folds = protocol.folds()

    @property
    def verdict(self) -> str:
        return self.found.verdict

    @property
    def significant(self) -> bool:
        return self.found.significant

    @property
    def leaderboard(self) -> list[dict[str, Any]]:
        return self.found.leaderboard

    @property
    def chosen(self) -> str | None:
        return self.found.chosen

    @property
    def features(self) -> list[str]:
        """What the chosen model looks at, by name.

        The features of a linear model, the columns that a memory compares, the templates of a
        tagger or parser; nothing where the best answer looks at nothing.
        """
        model = self.pipeline()
        first, last = (model[0], model[-1]) if hasattr(model, "steps") else (model, model)
        if hasattr(first, "get_feature_names_out"):
            return [str(name) for name in first.get_feature_names_out()]
        memory = getattr(last, "best_estimator_", last)
        if hasattr(memory, "modes_"):
            modes = zip(memory._reader.table.columns, memory.modes_, strict=True)
            return [name for name, mode in modes if mode != "ignore"]
        return [str(template) for template in getattr(model, "templates_", ())]

    def pipeline(self) -> Any:
        """The model that was chosen, fitted on all the data.

        For tables a plain scikit-learn Pipeline, for sentences the tagger, for trees the parser.
        """
        if self.fitted is None:
            raise InputError("nothing was finished, so there is no model")
        return self.fitted.model

    def save(self, folder: str | Path) -> list[str]:
        """Write the model, its features and what other programs can read; names of the files."""
        if self.fitted is None:
            raise InputError("nothing was finished, so there is no model")
        return self.fitted.save(Path(folder))

    def __repr__(self) -> str:
        lines = [f"Discovery: {self.verdict}"]
        lines += [
            f"  {row['name']:<28} {row['value']:.4f} ({row['size_words']})"
            for row in self.leaderboard
            if row["status"] == "finished"
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(row['name'])}</td><td>{row['value']:.4f}</td>"
            f"<td>{row['test']:.4f}</td><td>{escape(row['size_words'])}</td></tr>"
            for row in self.leaderboard
            if row["status"] == "finished"
        )
        head = "<tr><th>contender</th><th>cross-validated</th><th>test</th><th>size</th></tr>"
        return f"<p>{escape(self.verdict)}</p><table>{head}{rows}</table>"


@dataclass(frozen=True)
class Watch:
    """Who is told while a comparison runs.

    Parameters
    ----------
    say : is told what is being done.
    progress : called with (trials done, None, best score).
    on_trial : called with every trial, also with those found in the journal.
    """

    say: Callable[[str], None] = lambda _: None
    progress: Callable[[int, int | None, float | None], object] | None = None
    on_trial: Callable[[Evaluation], object] | None = None


def compare_all(
    question: Question,
    *,
    budget: Budget | str | None = "10m",
    n_folds: int = FOLDS,
    is_test: np.ndarray | None = None,
    journal: tuple[str | Path, str] | None = None,
    only: Sequence[str] | None = None,
    warnings: Sequence[str] = (),
    seed: int = 0,
    jobs: int = -1,
    watch: Watch | None = None,
    since: float | None = None,
) -> Discovery:
    """Try every contender, choose one, and let it learn from all the data.

    Parameters
    ----------
    budget : a time such as "10m"; None: as long as it takes.
    is_test : whether each unit is in the test part; None: a fifth is held out.
    journal : file that keeps what is finished, and the fingerprint of the data.
    only : names of contenders; None: all that apply.
    warnings : what was noticed when the data were read.
    since : when the time began to count, by ``time.monotonic()``; None: now.

    Raises
    ------
    Interrupted
        on Ctrl-C, with a ``discovery`` of what was finished.
    """
    watch = watch or Watch()
    begun = monotonic() if since is None else since
    seconds = Budget.of(budget).seconds
    if Budget.of(budget).evaluations is not None:
        raise InputError(f"budget {budget!r} is no time; it must be one such as 90s, 10m or 2h")
    protocol = make_protocol(question, n_folds=n_folds, seed=seed, is_test=is_test)
    contenders = _contenders(question, only)
    for_trials = None if seconds is None else _FOR_TRIALS * seconds
    threads, elsewhere = number_of_workers(jobs), current_cluster()
    workers = threads if elsewhere is None else elsewhere.n_workers
    schedule = CheapestFirst(
        contenders, n_learn=len(protocol.learn), n_folds=protocol.n_folds, seconds=for_trials,
        workers=workers, enough=question.enough,
    )  # fmt: skip
    trials = Trials(question, protocol, names_of(contenders))
    limits = Budget()
    if for_trials is not None:
        limits = Budget(seconds=for_trials, hard=True, spent=monotonic() - begun)
    # Neither the time nor the number of workers changes what a trial finds: a run may be given
    # more time, or go on where there are other cores.
    description = {
        "method": "discover", "version": VERSION, "kind": question.kind, "folds": protocol.n_folds,
        "seed": seed, "contenders": [one.name for one in contenders], "metric": question.metric,
    }  # fmt: skip

    short: list[str] = []

    def told(found: Found, history: History, fitted: Fitted | None, stopped: str) -> Discovery:
        parts = _parts(question, protocol, found, history, fitted, [*warnings, *short])
        parts["budget"] = {
            "seconds": seconds, "spent": monotonic() - begun, "stopped": stopped,
        }  # fmt: skip
        return Discovery(question, protocol, found, fitted, parts)

    def judged(history: History, why: str = "the time was over") -> Found:
        unfinished = {one.name: why for one in contenders} | schedule.passed_over
        return judge(
            question, protocol, contenders, history, units=schedule.units, passed_over=unfinished,
            seed=seed,
        )  # fmt: skip

    watch.say("comparing (first use compiles)")
    try:
        history = _searched(trials, schedule, journal, description, workers, limits, watch)
    except Interrupted as stop:
        found = judged(stop.history, "interrupted")
        stop.discovery = told(found, stop.history, None, "interrupted")  # type: ignore[attr-defined]
        raise
    found = judged(history)
    if found.chosen is None:
        asked = "" if seconds is None else f" of {seconds:g} s"
        raise InputError(f"the budget{asked} was too small for anything; give it more time")
    watch.say(f"{found.chosen} learns from all the data")
    left = None if seconds is None else max(0.0, _FOR_ALL * seconds - (monotonic() - begun))
    units = np.arange(len(question))
    most = len(units) if left is None else schedule.affordable(found.chosen, len(units), left)
    if most < len(units):
        units = np.sort(np.random.default_rng(seed).permutation(units)[:most])
        short.append(
            f"the model that is kept learned from {most:,} of {len(question):,} {question.unit}, "
            "for want of time"
        )
    try:
        contender = names_of(contenders)[found.chosen]
        fitted = contender.fit(question.take(units), seed, threads)
    except KeyboardInterrupt:
        broken_off = Interrupted(history)
        broken_off.discovery = told(found, history, None, "interrupted")  # type: ignore[attr-defined]
        raise broken_off from None
    return told(found, history, fitted, history.stopped)


def _contenders(question: Question, only: Sequence[str] | None) -> list[Contender]:
    contenders = list(question.contenders())
    if only is None:
        return contenders
    known = [one.name for one in contenders]
    for name in only:
        if name not in known:
            raise InputError(f"no contender {name!r}; there are {', '.join(known)}")
    return [one for one in contenders if one.name in only or one.role == "chance"]


def _searched(
    trials: Trials,
    schedule: CheapestFirst,
    journal: tuple[str | Path, str] | None,
    description: Mapping[str, Any],
    workers: int,
    limits: Budget,
    watch: Watch,
) -> History:
    how: dict[str, Any] = {
        "jobs": workers, "budget": limits, "progress": watch.progress, "on_result": watch.on_trial,
    }  # fmt: skip
    if journal is None:
        return search(trials, schedule, **how)
    path, data = journal
    with Journal(path, data=data, search=description) as kept:
        return search(trials, schedule, journal=kept, **how)


def _parts(
    question: Question,
    protocol: Protocol,
    found: Found,
    history: Sequence[Evaluation],
    fitted: Fitted | None,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """All but the head of ``result.json``."""
    noticed = [*warnings, *question.warnings(protocol.learn, protocol.test)]
    learned = [row["learned"] for row in found.leaderboard if row.get("learned") is not None]
    if learned and max(learned) < len(protocol.learn):
        noticed.append(
            f"contenders learned from {max(learned):,} of {len(protocol.learn):,} "
            f"{question.unit}, for want of time"
        )
    return {
        "kind": "discover",
        "data": question.data_part()
        | {"taken_for": question.words, "kind": question.kind, "warnings": noticed},
        "protocol": protocol.words,
        "metric": question.metric,
        "unit": question.unit,
        "verdict": found.verdict,
        "significant": found.significant,
        "chosen": found.chosen,
        "chosen_why": found.chosen_why,
        "reference": found.reference,
        "leaderboard": found.leaderboard,
        "comparisons": found.comparisons,
        "curves": found.curves,
        "findings": [] if fitted is None else [_finding(found, one) for one in fitted.findings()],
        "errors": _errors(question, protocol, found, history),
        "evaluations": len(history),
    }


def _finding(found: Found, one: Finding) -> dict[str, Any]:
    return {"method": found.chosen, "title": one.title, "columns": one.columns, "rows": one.rows}


def _errors(
    question: Question, protocol: Protocol, found: Found, history: Sequence[Evaluation]
) -> dict[str, Any]:
    """Right answers on the test part, by class and group, of the chosen one and the reference."""
    from featloom.formats.packing import unpacked

    tables: dict[str, dict[str, dict[str, Any]]] = {}
    for name in dict.fromkeys([found.chosen, found.reference]):
        trials = [
            one.result
            for one in history
            if one.candidate["method"] == name
            and one.candidate["fold"] == "test"
            and "fault" not in one.result
        ]
        if name is None or not trials:
            continue
        told = question.errors(protocol.test, unpacked(trials[-1]["answers"]))
        for part, rows in told.items():
            table = tables.setdefault(part, {})
            for row in rows:
                line = {"name": row["name"], "rows": row["rows"], "right": {}}
                table.setdefault(row["name"], line)["right"][name] = row["right"]
    most = {"by_class": _MOST_CLASSES, "by_group": _MOST_GROUPS}
    return {
        part: list(table.values())[: most.get(part, _MOST_GROUPS)] for part, table in tables.items()
    }
