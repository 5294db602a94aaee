"""The one way in which the experiments of papers are repeated.

An experiment has parts (data sets), and for each part a function that says what is to be tried.
The runner does the rest: it refuses wrong wishes, draws samples, lends each part a journal, in
which an experiment that was stopped at any instant finds what it had finished, chooses settings by
their scores on development data, tries contenders seed by seed, pairs tests, and puts the parts
together into one result, whose tables it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from featloom.cli.show import show_section
from featloom.cluster import current_cluster
from featloom.data.sentences import take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import PARTS, load
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap
from featloom.results import Block, Column, Dot, Grid, Intervals, Section, grid
from featloom.runs import Run
from featloom.search import Budget, Evaluation, Journal, fingerprint, search
from featloom.search.loop import Progress
from featloom.search.strategies.exhaustive import Listed
from featloom.shown import terminal

Evaluate = Callable[..., Mapping[str, Any]]
METRICS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "UAS": accuracy_of_counts,
    "accuracy": accuracy_of_counts,
    "F1": f1_of_counts,
}


@dataclass(frozen=True)
class Experiment:
    """The experiment of a paper: its parts, what is done with each, how the result is shown.

    Parameters
    ----------
    kind : of the result.
    noun : what one of the parts is, and ``listed_as`` what the result calls all of them.
    parts : names of the data sets.
    work : does one part.  What it returns has ``source`` and ``rows`` of the data and
        ``findings``, sentences for the verdict; the rest is for ``gather``.
    gather : makes of the parts the sections of the result, and what else is special in it; it
        replaces what all results have.
    sampled : what a sample is counted in, and the smallest that is allowed.
    parameters : constants that the result tells.
    """

    kind: str
    noun: str
    parts: tuple[str, ...]
    work: Callable[[Work], dict[str, Any]]
    gather: Callable[[dict[str, dict[str, Any]]], dict[str, Any]]
    listed_as: str = "parts"
    sampled: tuple[str, int] = ("sentences", 50)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Work:
    """One part of an experiment under way.

    Parameters
    ----------
    name : of the part.
    run : the folder that journals are kept in.
    seeds : of what is repeated; the first is also that of samples and folds.
    sample : how much is drawn of the data; None: all of it.
    jobs : entries of a journal worked on side by side, each on one thread.
    options : those that no other experiment has.
    place, of : which of how many parts it is.
    """

    name: str
    run: Run
    seeds: range
    sample: int | None = None
    jobs: int = 1
    say: Callable[[str], None] = lambda _: None
    progress: Progress = lambda *_: None
    options: Mapping[str, Any] = field(default_factory=dict)
    place: int = 0
    of: int = 1
    evaluations: int = 0
    entries: list[Evaluation] = field(default_factory=list)
    _journal: Journal | None = None

    @contextmanager
    def journaled(self, name: str, marks: str, **about: Any) -> Iterator[None]:
        """Keep what is asked for meanwhile in a journal beside the result.

        Parameters
        ----------
        marks : a fingerprint of the data.
        about : what else the entries depend on; another one makes another journal.
        """
        with Journal(self.run.path / f"{name}.journal", data=marks, search=about) as journal:
            self._journal = journal
            yield
        self._journal = None

    def ask(self, evaluate: Evaluate, candidates: Iterable[Mapping[str, Any]]) -> list[Evaluation]:
        """The entries of some candidates, in their order; those in the journal are read from it.

        >>> work = Work("example", Run(Path("runs/example")), range(1))
        >>> found = work.ask(lambda asked: {"score": asked["k"] / 2}, [{"k": 1}, {"k": 3}])
        >>> [(one.candidate["k"], one.score) for one in found], work.evaluations
        ([(1, 0.5), (3, 1.5)], 2)
        """
        asked = [dict(candidate) for candidate in candidates]
        if not asked:
            return []
        if current_cluster() is not None:
            evaluate = ByValue(evaluate)
        jobs = min(self.jobs, len(asked)) if self.jobs > 0 else self.jobs
        history = search(
            evaluate, Listed(asked), journal=self._journal, jobs=jobs, progress=self.progress
        )
        # A journal has the fields of what was asked in its own order.
        found = [replace(one, candidate=own) for one, own in zip(history, asked, strict=True)]
        self.evaluations += len(found)
        self.entries += found
        return found

    def best(
        self, evaluate: Evaluate, candidates: Iterable[Mapping[str, Any]], by: str
    ) -> dict[Any, Evaluation]:
        """For each value of the field ``by`` the candidate that did best, of equals the first.

        >>> work = Work("example", Run(Path("runs/example")), range(1))
        >>> asked = [{"model": m, "C": C} for m in ("svm", "l1") for C in (1, 2)]
        >>> best = work.best(lambda one: {"score": one["C"] % 2}, asked, by="model")
        >>> {model: one.candidate["C"] for model, one in best.items()}
        {'svm': 1, 'l1': 1}
        """
        best: dict[Any, Evaluation] = {}
        for one in self.ask(evaluate, candidates):
            value = one.candidate[by]
            if value not in best or one.score > best[value].score:
                best[value] = one
        return best

    def contend(
        self, evaluate: Evaluate, contenders: Mapping[Any, Mapping[str, Any]]
    ) -> dict[Any, list[dict[str, Any]]]:
        """What came of each contender, a result for each seed.

        They are tried seed by seed, so that a run that was stopped has something of each.
        """
        asked = [{**one, "seed": seed} for seed in self.seeds for one in contenders.values()]
        results = [one.result for one in self.ask(evaluate, asked)]
        width = len(contenders)
        return {name: results[place::width] for place, name in enumerate(contenders)}

    def drawn(
        self,
        parts: Mapping[str, NominalTable],
        *,
        most: Sequence[str] = ("train",),
        share: int = 4,
        least: int = 20,
        rows: int = 1,
    ) -> dict[str, NominalTable]:
        """The parts of the data, or a sample: that many of ``most``, a share of the others.

        ``rows`` are drawn for each sentence of the sample where the data have no sentences.
        """
        if self.sample is None:
            return dict(parts)
        few = max(least, self.sample // share)
        return {
            name: sample_of(table, self.sample if name in most else few, self.seeds[0], rows)
            for name, table in parts.items()
        }


class ByValue:
    """An evaluation that is sent whole: workers of a cluster have the package, not experiments."""

    def __init__(self, evaluate: Evaluate):
        self.evaluate = evaluate

    def __call__(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.evaluate(asked)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        import cloudpickle

        import experiments

        cloudpickle.register_pickle_by_value(experiments)
        try:
            return cloudpickle.loads, (cloudpickle.dumps(self.evaluate),)
        finally:
            cloudpickle.unregister_pickle_by_value(experiments)


def reproduce(
    experiment: Experiment,
    run: Run,
    *,
    only: str | None = None,
    sample: int | None = None,
    seeds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = lambda *_: None,
    **options: Any,
) -> dict[str, Any]:
    """The tables of a paper beside ours; everything finished is kept in journals of the run.

    Parameters
    ----------
    only : one of the parts; None: all.
    sample : how much is drawn of the training data, and a share of it of other data.
    seeds : how often is repeated what draws at random.
    seed : the first of these, and that of folds and of the sample.
    jobs : models trained side by side, each on one thread.
    options : those of the experiment alone, such as ``trials``.
    """
    unit, smallest = experiment.sampled
    if only is not None and only not in experiment.parts:
        parts = ", ".join(experiment.parts)
        raise InputError(f"no {experiment.noun} {only!r}; there are {parts}")
    if sample is not None and sample < smallest:
        raise InputError(f"a sample of {sample} {unit} is too small; take {smallest} or more")
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1")
    trials = options.get("trials")
    Budget.of(None, trials)  # a wrong number is refused before anything is read
    chosen = experiment.parts if only is None else (only,)
    found: dict[str, dict[str, Any]] = {}
    evaluations = 0
    every = range(seed, seed + seeds)
    for place, name in enumerate(chosen):
        work = Work(name, run, every, sample, jobs, say, progress, options, place, len(chosen))
        found[name] = experiment.work(work)
        found[name].setdefault("evaluations", work.evaluations)
        evaluations += found[name]["evaluations"]
    warnings = []
    if sample is not None:
        warnings.append(f"a sample of up to {sample:,} training {unit}, not the whole data")
    if trials is not None:
        warnings.append(f"searches were stopped after {trials:,} evaluations")
    return {
        "kind": experiment.kind,
        "data": {
            "source": ", ".join(dict.fromkeys(part["source"] for part in found.values())),
            "rows": sum(part["rows"] for part in found.values()),
            "warnings": warnings,
        },
        "parameters": {
            experiment.listed_as: list(chosen),
            "sample": sample,
            "seeds": seeds,
            **experiment.parameters,
            **options,
        },
        **({"evaluations": evaluations} if evaluations else {}),
        "verdict": " ".join(words for part in found.values() for words in part["findings"]),
        **experiment.gather(found),
    }


# Data.


def table_of(corpus: str, part: str) -> NominalTable:
    """A part of a corpus that holds tables."""
    table = load(corpus, part)
    if not isinstance(table, NominalTable):
        raise InputError(f"{corpus} holds no tables")
    return table


def parts_of(corpus: str) -> dict[str, NominalTable]:
    """Training, validation and test part of a corpus."""
    return {part: table_of(corpus, part) for part in PARTS}


def english_chunks() -> dict[str, NominalTable]:
    """CoNLL-2000: the whole training part and the test; every tenth sentence to choose by."""
    whole = table_of("conll2000", "train")
    aside = np.arange(size_of(whole)) % 10 == 9
    return {
        "whole": whole,
        "train": take_sentences(whole, np.flatnonzero(~aside)),
        "valid": take_sentences(whole, np.flatnonzero(aside)),
        "test": table_of("conll2000", "test"),
    }


def size_of(table: NominalTable) -> int:
    """How many sentences a table has, or rows where it has no sentences."""
    return len(table) if table.sequence_bounds is None else len(table.sequence_bounds) - 1


def sample_of(table: NominalTable, size: int, seed: int, rows: int = 1) -> NominalTable:
    """So many sentences drawn at random, in their order; ``rows`` for each where there are none."""
    size *= 1 if table.sequence_bounds is not None else rows
    n = size_of(table)
    if size >= n:
        return table
    which = np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))
    return table.take(which) if table.sequence_bounds is None else take_sentences(table, which)


def marks_of(parts: Iterable[NominalTable]) -> str:
    """A fingerprint of tables."""
    marks: list[Any] = []
    for table in parts:
        marks.append(table.codes)
        marks += [
            one for one in (table.labels, table.heads, table.sequence_bounds) if one is not None
        ]
        marks.append(list(table.classes))
    return fingerprint(*marks)


# Figures and tests.


def systems_section(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    tests: Sequence[Mapping[str, Any]],
    *,
    note: str = "",
) -> Section:
    """Systems on one data set: what they are worth, beside published figures, and what they took.

    Parameters
    ----------
    rows : those of :func:`system_row`; ``published`` is a share.
    tests : those of :func:`compared`; the first of a system is the one that is shown.
    """
    metric, of = rows[0]["metric"], {test["a"]: test for test in reversed(tests)}

    def tested(what: str) -> Callable[[Any], Any]:
        return lambda row: of.get(f"{title}: {row['name']}", {}).get(what)

    def field_of(what: str) -> Callable[[Any], Any]:
        return lambda row: row.get(what)

    def score(row: Any) -> Any:
        low, high = map(percent, row["interval"])
        return {"value": row["value"], "under": f"{low} to {high}"}

    dots = [Dot(row["name"], row["value"], row["interval"], row.get("published")) for row in rows]
    head: dict[str, tuple[str, Callable[[Any], Any]]] = {"system": ("text", field_of("name"))}
    blocks: list[Block] = [
        Intervals(f"{title}: {metric}", metric, "percent", dots, "published"),
        table("", rows, head | {
            f"{metric} %": ("percent", score), "sd": ("percent", field_of("sd")),
            "all %": ("percent", field_of("with_punctuation")),
            "gain": ("points", tested("difference")), "p": ("p", tested("p")),
            "published %": ("percent", field_of("published")),
        }),
        table("What they took", rows, head | {
            "templates": ("count", field_of("templates")),
            "features": ("count", field_of("features")),
            "fitted in": ("seconds", field_of("seconds")),
            "found in": ("seconds", field_of("found_s")),
            "valid %": ("percent", field_of("valid")), "seeds": ("count", field_of("seeds")),
        }),
    ]  # fmt: skip
    if any(row.get("setting") for row in rows):
        blocks.append(table("Settings", rows, head | {"setting": ("text", field_of("setting"))}))
    return Section(title, note=note, blocks=blocks)


def spread(values: Sequence[float]) -> dict[str, float | None]:
    """The mean over seeds and the standard deviation, which one seed has not.

    >>> spread([0.5, 0.7]), spread([0.5])["sd"]
    ({'value': 0.6, 'sd': 0.14142135623730948}, None)
    """
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"value": float(np.mean(values)), "sd": sd}


def figure(counts: np.ndarray, metric: str) -> dict[str, Any]:
    """The value of summed counts, a group in each row, with its interval over groups.

    >>> figure(np.array([[3, 4], [1, 4]]), "accuracy")["value"]
    0.5
    """
    found = bootstrap_interval(counts, METRICS[metric])
    return {"value": found.value, "interval": [found.low, found.high]}


def system_row(name: str, data: str, metric: str, counts: Sequence[np.ndarray], **more: Any):
    """A system in a table: the mean of its seeds, an interval of their counts taken together.

    Parameters
    ----------
    counts : of each seed, a group in each row.
    more : what else is known of the system.

    >>> row = system_row("manual", "trees", "UAS", [np.array([[3, 4], [2, 4]])] * 2)
    >>> row["value"], row["sd"], row["seeds"]
    (0.625, 0.0, 2)
    """
    values = [float(METRICS[metric](one.sum(axis=0))) for one in counts]
    return {
        "name": name,
        "data": data,
        "metric": metric,
        **figure(np.sum(counts, axis=0), metric),
        "seeds": len(values),
        **spread(values),
        **more,
    }


def compared(
    data: str,
    metric: str,
    first: tuple[str, Sequence[np.ndarray]],
    second: tuple[str, Sequence[np.ndarray]],
    p: float | None = None,
) -> dict[str, Any]:
    """A paired bootstrap of two systems over the groups of their counts, summed over seeds.

    ``p`` is that of another test, where one is asked for.
    """
    test = paired_bootstrap(np.sum(first[1], axis=0), np.sum(second[1], axis=0), METRICS[metric])
    p = test.p if p is None else p
    return {
        "a": f"{data}: {first[0]}",
        "b": f"{data}: {second[0]}",
        "difference": test.difference,
        "interval": [test.low, test.high],
        "p": p,
        "significant": p < LEVEL,
    }


# Words.


def outcome(test: Mapping[str, Any], better: str, worse: str, same: str) -> str:
    """The word for a difference that is more than chance, or for one that is not."""
    if not test["significant"]:
        return same
    return better if test["difference"] > 0 else worse


def finding(title: str, baseline: dict[str, Any], others: Iterable[tuple[dict, dict]]) -> str:
    """How systems stand to their baseline, in words; each other comes with its comparison.

    >>> row = {"name": "manual", "metric": "UAS", "value": .9}
    >>> test = {"difference": .002, "interval": [-.001, .005], "p": .2, "significant": False}
    >>> words = finding("Trees", row, [({"name": "EFG", "metric": "UAS", "value": .902}, test)])
    >>> print(words.replace("; ", ";\\n"))
    Trees: manual has UAS 90.00;
    EFG 90.20 does not differ beyond chance (+0.20 [-0.10, +0.50], p 0.200).
    """
    words = [f"{title}: {baseline['name']} has {baseline['metric']} {percent(baseline['value'])}"]
    for row, test in others:
        verdict = outcome(test, "is ahead", "is behind", "does not differ beyond chance")
        low, high = map(gain, test["interval"])
        words.append(
            f"{row['name']} {percent(row['value'])} {verdict} "
            f"({gain(test['difference'])} [{low}, {high}], p {p_words(test['p'])})"
        )
    return "; ".join(words) + "."


def listed(words: Sequence[str]) -> str:
    """Words with "and" before the last.

    >>> listed(["genetic", "backward", "forward"])
    'genetic, backward and forward'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def percent(share: float | None) -> str:
    """A share in per cent; empty where there is none."""
    return "" if share is None else f"{100 * share:.2f}"


def gain(difference: float) -> str:
    """A difference of shares in points."""
    return f"{100 * difference:+.2f}"


def p_words(p: float) -> str:
    """A p value in a sentence."""
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def p_cell(p: float | None) -> str:
    """A p value in a table."""
    return "" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def two_digits(value: float | None) -> str:
    """A number with two digits after the point; empty where there is none."""
    return "" if value is None else f"{value:.2f}"


# Tables.


def show(result: dict[str, Any], page: Path | None) -> None:
    """Print the tables of a paper beside ours; what is not of the paper, in brief."""
    console = terminal()
    for warning in result["data"].get("warnings", ()):
        console.say(warning)
    for section in msgspec.convert(result["sections"], list[Section]):
        show_section(console, section, whole=not section.brief)
    console.say(result["verdict"])
    if page is not None:
        console.say(f"report: {page}")


def table(
    title: str,
    rows: Iterable[Any],
    columns: Mapping[str, tuple[str | Column, Callable[[Any], Any]]],
    **how: Any,
) -> Grid:
    """A table: of each column the kind of its values, and what it shows of a row.

    >>> found = table("Scores", [("a", 0.5)], {"system": ("text", lambda row: row[0]),
    ...                                        "F1 %": ("percent", lambda row: row[1])})
    >>> found.rows, [column.kind for column in found.columns]
    ([['a', 0.5]], ['text', 'percent'])
    """
    heads = {head: kind for head, (kind, _) in columns.items()}
    return grid(
        title, heads, [[value(row) for _, value in columns.values()] for row in rows], **how
    )
