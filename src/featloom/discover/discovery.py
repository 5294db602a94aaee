"""One question, every contender, one answer: the run of a comparison and what it leaves behind.

The budget is one of wall-clock time, without what is compiled once on a machine.  Trials end with
it, whatever they are doing; what trials cost is counted in CPU time, so that one slow moment spoils
no plan.  In its place the number of settings may be limited; then no time decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from time import monotonic, process_time
from typing import Any
from warnings import catch_warnings, simplefilter

import msgspec
import numpy as np

from featloom.cluster import current_cluster
from featloom.compare.questions import Question, names_of
from featloom.compare.schedule import FirstAnswers
from featloom.compare.trials import Trials
from featloom.compare.warming import compile_kernels, kernels_of, n_units, needs_kernels
from featloom.discover.leaderboard import Entry, Found, choice, entries_of, judge
from featloom.discover.progress import Progress
from featloom.errors import InputError
from featloom.evaluation.protocol import TEST, Protocol, drawn, make_protocol
from featloom.kernels.compiling import is_compiled, set_compiled
from featloom.method import Contender, Fitted
from featloom.pool import number_of_workers
from featloom.results import Block, Section
from featloom.search import Budget, Evaluation, History, Interrupted, Journal, search
from featloom.shown import visible
from featloom.words import no_such

FOLDS = 5
AUTO, UNLESS_SAID = "auto", "10m"  # what a budget is by default, and what that is
VERSION = 3  # of what a trial computes
_TO_WRITE = 3.5  # seconds that are kept for writing the result and the page
_TO_START, _READ = 1.0, 400_000.0  # seconds until the first trial; units read in a second
_WORTH_WORKERS = 20.0  # seconds
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
    entries : by name, the contenders that were judged, with what they were when one was chosen.
    result : all of it, as ``result.json`` has it.
    """

    def __init__(
        self,
        question: Question,
        protocol: Protocol,
        found: Found,
        fitted: Fitted | None,
        parts: dict[str, Any],
        entries: Sequence[Entry] = (),
    ):
        self.question, self.found, self.fitted = question, found, fitted
        self.entries = {one.name: one for one in entries}
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

        For tables a plain scikit-learn Pipeline, for sentences the tagger, for trees the parser,
        for many tasks their models.  Classes are predicted as what they were: whole numbers, truth
        values, text.
        """
        if self.fitted is None:
            raise InputError("nothing was finished, so there is no model")
        return self.fitted.model

    def refitted(self, name: str, part: int | str | None = None, *, n_jobs: int = 1) -> Fitted:
        """A contender with the setting that did best, fitted anew and calibrated as it was judged.

        Parameters
        ----------
        name : as the leaderboard has it.
        part : None: fitted on all the data, as the model that is handed over; "test": on the units
            of the others, as the model that the test part's figure speaks of; a number: on the
            units of all folds but that one, and calibrated on that one alone.
        n_jobs : threads, 1 by default; they change the time and nothing else.

        Examples
        --------
        >>> from featloom import NominalTable, discover
        >>> rows = [[a, b] for a in "ckgs" for b in "aeiou"] * 8
        >>> columns = dict(zip(["letter", "next"], zip(*rows)))
        >>> sounds = ["S" if b in "ei" else "K" for a, b in rows]
        >>> table = NominalTable.from_columns(columns, labels=sounds)
        >>> found = discover(table, only=["linear model"], budget=None, n_jobs=1, verbose=False)
        >>> found.refitted("linear model", "test").learned
        128
        """
        if name not in self.entries:
            raise InputError(f"{name!r} was not judged; {', '.join(self.entries)} were")
        entry = self.entries[name]
        if part is None:
            return _fitted_on_all(self.question, self.protocol, entry, n_jobs)
        folds = [*entry.scores] if part == TEST else [part]
        if not set(folds) <= set(entry.scores):
            raise InputError(f"{name!r} was judged on the folds {[*entry.scores]}, not on {part!r}")
        units = self.protocol.parts(part, entry.units)[0]
        return _fitted(self.question, entry, units, folds, self.protocol.seed, n_jobs)

    def save(self, folder: str | Path) -> list[str]:
        """Write the model, its features and what other programs can read; names of the files.

        The folder is made if it is not there.
        """
        if self.fitted is None:
            raise InputError("nothing was finished, so there is no model")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a name that no system takes
            why = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{visible(str(folder))} cannot be made: {why}") from None
        return self.fitted.save(Path(folder))

    def __repr__(self) -> str:
        lines = [f"Discovery: {self.verdict}"]
        lines += [
            f"  {row['name']:<28} {row['value']:.4f} ({row['size_words']})"
            for row in self.leaderboard
            if "value" in row
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(row['name'])}</td><td>{row['value']:.4f}</td>"
            f"<td>{'' if row['test'] is None else format(row['test'], '.4f')}</td>"
            f"<td>{escape(row['size_words'])}</td></tr>"
            for row in self.leaderboard
            if "value" in row
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
    budget: Budget | float | str | None = AUTO,
    trials: int | None = None,
    n_folds: int = FOLDS,
    is_test: np.ndarray | None = None,
    journal: tuple[str | Path, str] | None = None,
    only: Sequence[str] | str | None = None,
    drop: Sequence[str] | str = (),
    warnings: Sequence[str] = (),
    seed: int = 0,
    jobs: int = -1,
    watch: Watch | Progress | None = None,
    since: float | None = None,
) -> Discovery:
    """Try every contender, choose one, and fit it on all the data.

    Parameters
    ----------
    budget : a time such as "10m"; None: as long as it takes; "auto": see :func:`time_for`.
        Compilation is not charged to it.
    trials : settings of each contender that are tried, its default being the first, and trials of
        each search; None: as many as there are, or as there is time for.
    is_test : whether each unit is in the test part; None: a fifth is held out.
    journal : file that keeps what is finished, and the fingerprint of the data.
    only : names of contenders, or one; None: all that apply.
    drop : names of those that take no part.
    warnings : what was noticed when the data were read.
    since : when the time began to count, by ``time.monotonic()``; None: now.

    Raises
    ------
    Interrupted
        on Ctrl-C, with a ``discovery`` of what was finished.
    """
    watch = watch or Watch()
    begun = monotonic() if since is None else since
    seconds = time_for(budget, trials).seconds
    protocol = make_protocol(
        question.strata, question.groups, n_folds=n_folds, seed=seed, is_test=is_test,
        unit=question.unit,
    )  # fmt: skip
    contenders = _contenders(question, only, drop)
    threads, elsewhere = number_of_workers(jobs), current_cluster()
    workers = threads if elsewhere is None else elsewhere.n_workers
    if elsewhere is None and seconds is not None and seconds < _WORTH_WORKERS:
        workers = 1  # others would take a good part of the time to start
    compiled = _compiled_first(question, protocol, contenders, watch)
    begun += compiled
    for_trials = None if seconds is None else max(0.5 * seconds, seconds - _TO_WRITE)
    # What was read before is not known to whoever resumes; what it takes is guessed from the data.
    before = _TO_START + len(question) / _READ
    schedule = FirstAnswers(
        contenders,
        n_learn=len(protocol.learn),
        n_folds=protocol.n_folds,
        seconds=None if for_trials is None else max(0.5 * for_trials, for_trials - before),
        workers=workers,
        small=question.small,
        n_test=len(protocol.test),
        trials=trials,
    )
    evaluate = Trials(question, protocol, names_of(contenders))
    limits = Budget()
    if for_trials is not None:
        limits = Budget(seconds=for_trials, hard=True, spent=monotonic() - begun)
    # Neither the time nor the numbers of settings and workers change what a trial finds: a run may
    # be given more of them, or go on where there are other cores.
    description = {
        "method": "discover", "version": VERSION, "kind": question.kind, "folds": protocol.n_folds,
        "seed": seed, "contenders": [one.name for one in contenders], "metric": question.metric,
    }  # fmt: skip
    run = _Run(question, protocol, schedule, [*warnings], seconds, begun, compiled, seed)
    watch.say("comparing")
    try:
        history = _searched(evaluate, schedule, journal, description, workers, limits, watch)
    except Interrupted as stop:
        run.history = stop.history
        stop.discovery = run.told(None, "interrupted")  # type: ignore[attr-defined]
        raise
    run.history = history
    choosable = [one for one in run.entries() if one.role != "yardstick"]
    if not choosable:
        asked = "" if seconds is None else f" of {seconds:g} s"
        raise InputError(f"the budget{asked} was too small for anything; give it more time")
    chosen, _ = choice(choosable)
    watch.say(f"{chosen.name} is fitted on all the data")
    try:
        fitted = run.last_fit(chosen, threads)
    except KeyboardInterrupt:
        broken_off = Interrupted(history)
        broken_off.discovery = run.told(None, "interrupted")  # type: ignore[attr-defined]
        raise broken_off from None
    return run.told(fitted, history.stopped)


def time_for(budget: Budget | float | str | None, trials: int | None) -> Budget:
    """The time of a comparison: "auto" is ten minutes, or no limit where trials are counted.

    >>> [time_for("auto", n).seconds for n in (None, 3)], time_for("90s", 3).seconds
    ([600.0, None], 90.0)
    """
    Budget.of(None, trials)  # a wrong number is refused
    if budget == AUTO:
        budget = UNLESS_SAID if trials is None else None
    return Budget.of_time(budget)


@dataclass
class _Run:
    """A comparison under way, and what is to be told of it."""

    question: Question
    protocol: Protocol
    schedule: FirstAnswers
    warnings: list[str]
    seconds: float | None
    begun: float
    compiled: float
    seed: int
    history: Sequence[Evaluation] = ()

    def entries(self) -> list[Entry]:
        self.schedule.settle()
        return entries_of(self.schedule.standings, self.history)

    def last_fit(self, entry: Entry, threads: int) -> Fitted:
        """The chosen contender with its setting, fitted on all the data that it has time for."""
        units = _units_of_all(self.question, self.protocol, entry)
        if len(units) < len(self.question):
            self.warnings.append(
                f"the model that is kept learned from {len(units):,} of {len(self.question):,} "
                f"{self.question.unit}, for want of time"
            )
        return _fitted_on_all(self.question, self.protocol, entry, threads)

    def told(self, fitted: Fitted | None, stopped: str) -> Discovery:
        why = "interrupted" if stopped == "interrupted" else "the time was over"
        unfinished = dict.fromkeys(self.schedule.standings, why)
        unfinished |= self.late | self.faults | self.schedule.passed_over
        found = judge(
            self.question, self.protocol, self.entries(), self.schedule, self.history,
            passed_over=unfinished, kept=fitted, seed=self.seed,
        )  # fmt: skip
        parts = _parts(self.question, self.protocol, found, self.history, fitted, self.warnings)
        compiled = self.compiled + sum(
            float(one.result.get("compiled_s", 0.0)) for one in self.history
        )
        elsewhere = self.schedule.workers > 1
        in_workers = sum(float(one.result["cpu_s"]) for one in self.history) if elsewhere else 0.0
        parts["budget"] = {
            "seconds": self.seconds,
            "trials": self.schedule.trials,
            "spent": monotonic() - self.begun,
            "cpu": in_workers + process_time(),
            "compiled": compiled,
            "first_answer": self.first_answer,
            "stopped": stopped,
        }
        return Discovery(self.question, self.protocol, found, fitted, parts, self.entries())

    @property
    def faults(self) -> dict[str, str]:
        """Why a contender cannot do with some fold, by name; a limit of time is no such reason."""
        return {
            one.candidate["method"]: str(one.result["fault"])
            for one in self.history
            if "fault" in one.result and not one.result.get("over")
        }

    @property
    def late(self) -> dict[str, str]:
        """Whose trial of a fold took longer than it might, by name."""
        return {
            one.candidate["method"]: str(one.result["fault"]).replace("it", "a fold", 1)
            for one in self.history
            if one.result.get("over") and one.candidate["fold"] != TEST
        }

    @property
    def first_answer(self) -> float | None:
        """Seconds after which the first leaderboard stood: two contenders and chance on all units.

        Counted from the beginning of the trials.
        """
        seen = set()
        for one in self.history:
            name = one.candidate["method"]
            if "fault" not in one.result and (
                one.candidate["units"] == self.schedule.standings[name].units
            ):
                seen.add(name)
            if len(seen) >= 3:
                return one.elapsed
        return None


def _units_of_all(question: Question, protocol: Protocol, entry: Entry) -> np.ndarray:
    """All units, or as large a share of them as the contender was judged with."""
    units = np.arange(len(question))
    if entry.units is None:
        return units
    return drawn(units, entry.units * len(units) // max(len(protocol.learn), 1), protocol.seed)


def _fitted_on_all(question: Question, protocol: Protocol, entry: Entry, threads: int) -> Fitted:
    units = _units_of_all(question, protocol, entry)
    return _fitted(question, entry, units, [*entry.details], protocol.seed, threads)


def _fitted(
    question: Question,
    entry: Entry,
    units: np.ndarray,
    folds: Sequence[Any],
    seed: int,
    threads: int,
) -> Fitted:
    """A contender with its setting, calibrated by what was predicted in some folds."""
    setting = entry.setting if entry.found is None else entry.found
    known = question.take_for(entry.contender, units)
    fitted = entry.contender.fit(known, setting, seed, threads)
    return question.calibrated(
        fitted, [entry.details[fold] for fold in folds if entry.details[fold]]
    )


def _compiled_first(
    question: Question,
    protocol: Protocol,
    contenders: Sequence[Contender],
    watch: Watch | Progress,
) -> float:
    """Compile what the contenders need, in this process alone, if it never was; in seconds.

    Workers find it compiled, so none of them does it again, and no trial is charged with it.
    """
    new = [
        one
        for one in contenders
        if needs_kernels(question, one) and not is_compiled(kernels_of(question, one))
    ]
    if not new:
        return 0.0
    begun = monotonic()
    watch.say("compiling kernels, once on this machine")
    few = drawn(protocol.learn, n_units(question), protocol.seed)
    with catch_warnings():
        simplefilter("ignore")
        for one in new:
            compile_kernels(one, question, few, protocol.seed)
            set_compiled(kernels_of(question, one))
    # What else was done meanwhile nobody asked for either, and nobody will do again.
    seconds = monotonic() - begun
    if isinstance(watch, Progress):
        watch.uncounted(seconds)
    return seconds


def _contenders(
    question: Question, only: Sequence[str] | str | None, drop: Sequence[str] | str
) -> list[Contender]:
    contenders = list(question.contenders())
    only = [only] if isinstance(only, str) else only
    drop = [drop] if isinstance(drop, str) else drop
    known, left_out = [one.name for one in contenders], question.left_out()
    for name in [*(only or ()), *drop]:
        if name in left_out and name not in drop:
            raise InputError(f"{name!r} is not applicable: {left_out[name]}")
        if name not in known and name not in left_out:
            raise InputError(no_such("contender", name, known))
    return [
        one
        for one in contenders
        if one.role == "chance" or (one.name not in drop and (only is None or one.name in only))
    ]


def _searched(
    trials: Trials,
    schedule: FirstAnswers,
    journal: tuple[str | Path, str] | None,
    description: Mapping[str, Any],
    workers: int,
    limits: Budget,
    watch: Watch | Progress,
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
    return {
        "kind": "discover",
        "data": question.data_part()
        | {"taken_for": question.words, "kind": question.kind, "warnings": noticed},
        "protocol": protocol.words,
        "metric": question.metric,
        "judge_by": question.metric,
        "lower_is_better": question.lower_is_better,
        "unit": question.unit,
        "verdict": found.verdict,
        "significant": found.significant,
        "chosen": found.chosen,
        "chosen_why": found.chosen_why,
        "chosen_size": None if fitted is None else fitted.size_words,
        "chosen_figures": found.figures,
        "reference": found.reference,
        "leaderboard": found.leaderboard,
        "comparisons": found.comparisons,
        "curves": found.curves,
        "sections": [] if fitted is None else _sections(found, fitted),
        "errors": _errors(question, protocol, found, history),
        "evaluations": len(history),
    }


def _sections(found: Found, fitted: Fitted) -> list[dict[str, Any]]:
    """What the chosen contender found, its first table open."""
    blocks: list[Block] = []
    for table in fitted.findings():
        table.folded = bool(blocks)
        blocks.append(table)
    section = Section("Found", f"What {found.chosen} found", blocks=blocks)
    return [msgspec.to_builtins(section)] if blocks else []


def _errors(
    question: Question, protocol: Protocol, found: Found, history: Sequence[Evaluation]
) -> dict[str, Any]:
    """Right answers on the test part, by class and group, of the chosen one and the reference."""
    tables: dict[str, dict[str, dict[str, Any]]] = {}
    for name in dict.fromkeys([found.chosen, found.reference]):
        trials = [
            one.result
            for one in history
            if one.candidate["method"] == name
            and one.candidate["fold"] == TEST
            and "fault" not in one.result
        ]
        if name is None or not trials:
            continue
        answers = question.answers_of(trials[-1]["outcomes"][-1]["rows"])
        for part, rows in question.errors(protocol.test, answers).items():
            table = tables.setdefault(part, {})
            for row in rows:
                line = {"name": row["name"], "rows": row["rows"], "right": {}}
                table.setdefault(row["name"], line)["right"][name] = row["right"]
    most = {"by_class": _MOST_CLASSES, "by_group": _MOST_GROUPS}
    return {
        part: list(table.values())[: most.get(part, _MOST_GROUPS)] for part, table in tables.items()
    }
