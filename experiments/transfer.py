"""The experiment of Dhillon and Ungar on public data: features that mattered for other verbs.

"Transfer Learning, Feature Selection and Word Sense Disambiguation" (2009) selects features for
the senses of a verb at costs learned from similar senses of other verbs.  Its Table 1 has five
rows in three settings.  Here the rows are repeated on fifty verbs of public text, with the models
that a user would try first, a prior without clusters that is handed to a linear model or to the
selection, and controls: beside each method that transfers stands the same model without a prior,
the same prior shuffled over the features, the same prior without clusters.

The three settings decide what senses are clustered by.  A method without clusters has nothing to
decide, so each has one figure here and all features throughout.  The paper's own baselines differ
a little between its settings; it does not say what else changed.

Beside the table: what happens with few rows, in all verbs alike ("small") or in the one verb while
the others have theirs ("cold"); and the same on another domain, the sounds of letters.

Whatever is tuned is tuned by cross-validation inside the training rows.  A prior is learned from
the training rows of the other tasks.  The figure of a method is its share of right answers over the
rows of all tasks (micro-averaged, as the paper prints it); its interval comes from drawing whole
tasks.  A test pairs the accuracies of two methods task by task (Student's t), so that each task has
one voice, whatever its size.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from experiments.runner import (
    Experiment,
    Work,
    figure,
    gain,
    outcome,
    p_words,
    percent,
    table,
)
from experiments.transfer_models import (
    LEAST_FOR_THREE_FOLDS,
    PolynomialSVM,
    PriorsOfOthers,
    ShowTrials,
    TunedStructure,
    features_used,
)
from experiments.transfer_tasks import (
    LETTERS,
    VERBS,
    Tasks,
    few_rows,
    folds_of_documents,
    folds_within_tasks,
    read_letters,
    read_verbs,
    some_tasks,
)
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import paired_t
from featloom.learners.stepwise import MDLSelector
from featloom.methods.transfer import MultiTask, RelevancePrior, TransFeat
from featloom.methods.transfer.baselines import BASELINES
from featloom.methods.transfer.findings import curve, curve_grid
from featloom.results import Block, Column, Dot, Grid, Intervals, Line, Section
from featloom.search import Evaluation, fingerprint

PROTOCOLS = {"folds": "folds by sense", "documents": "folds by document"}
WORLDS = {"small": "all tasks small", "cold": "this task small"}
WORLD_WORDS = {
    "small": "every task has so many training rows",
    "cold": "this task has so many training rows, the others have all of theirs",
}
FOLDS, CURVE_FOLDS = 10, 5
CURVE_ROWS = (5, 10, 20, 40, None)
LETTER_ROWS = (40, 200, 1000)
ROUNDS = 2  # of selection, as MultiTask learns its prior
VERSION = 2  # of what an entry holds
# What the verdict tells of; all tests are in the result.
TOLD = {
    "table": (
        *(("ours", other) for other in ("svm", "evidence", "shuffled", "l1", "aso")),
        *(("prior-mdl", "flat"), ("transfeat", "mdl"), ("transfeat", "alone"), ("flat", "mdl")),
    ),
    "curve": (
        *(("ours", other) for other in ("svm", "evidence", "shuffled")),
        ("prior-mdl", "flat"),
    ),
}


@dataclass(frozen=True)
class Method:
    """A method of the experiment.

    Parameters
    ----------
    name, kind : as in the table; "ours", "paper", "baseline" or "control".
    make : from a prior (or None) and the number of folds for tuning to a model to fit.
    against : methods that it is tested against; the first is the one in the table.
    prior : whether it is given a prior; "shuffled" is one dealt out to other features.
    setting : of the paper, where it has one.
    published : the paper's accuracy in its three settings.
    """

    name: str
    kind: str
    make: Callable[[Any, int], Any]
    against: tuple[str, ...] = ()
    published: tuple[float, ...] = ()
    setting: str = ""
    prior: str | None = None

    @property
    def settings(self) -> dict[str, str]:
        """All parameters of the model, as text: an entry holds for these."""
        model = self.make(RelevancePrior(rounds=ROUNDS) if self.prior else None, 3)
        return {name: repr(value) for name, value in sorted(model.get_params().items())}


def selection(prior: Any, n_folds: int) -> MultiTask:
    return MultiTask(MDLSelector(), prior=prior, use="cost", strengths=None, n_folds=n_folds)


def recommended(prior: Any, n_folds: int) -> MultiTask:
    return MultiTask(prior=prior, n_folds=n_folds)


def printed(**settings: Any) -> Callable[[Any, int], TransFeat]:
    """TransFeat to the letter: a class counts against every feature that it did not select, and
    only the one class that asks is left out."""
    return lambda _, __: TransFeat(exposure=False, hold_out="class", **settings)


def polynomial_svm(_: Any, n_folds: int) -> MultiTask:
    how: dict[str, Any] = {"strengths": (1.0, 10.0, 100.0), "choices": {"degree": (1, 2, 3)}}
    return MultiTask(PolynomialSVM(), prior=None, n_folds=n_folds, **how)


def tuned(name: str) -> Callable[[Any, int], MultiTask]:
    return lambda _, n_folds: BASELINES[name](n_folds=n_folds)


SEMANTIC, SYNTACTIC = printed(settings="semantic"), printed(settings="syntactic")
BOTH = "semantic + syntactic"
OTHERS = ("svm", "evidence", "shuffled", "poly", "l1", "l2", "aso", "flat", "mdl", "transfeat")
L1, L2 = "L1 logistic regression", "L2 logistic regression"
PRIOR = "relevance prior + "
METHODS: dict[str, Method] = {
    "transfeat": Method(
        "TransFeat", "paper", printed(), ("mdl", "alone", "poly", "flat"), (85.75,), BOTH
    ),
    "transfeat-semantic": Method(
        "TransFeat, semantic", "paper", SEMANTIC, ("mdl", "alone"), (85.11,), "semantic"
    ),
    "transfeat-syntactic": Method(
        "TransFeat, syntactic", "paper", SYNTACTIC, ("mdl", "alone"), (85.37,), "syntactic"
    ),
    "alone": Method("TransFeat without clusters", "control", printed(clusters=False), ("mdl",)),
    "mdl": Method(
        "MDL selection", "baseline", lambda _, n: selection(None, n), (), (83.50, 83.09, 83.34)
    ),
    "poly": Method("polynomial SVM", "baseline", polynomial_svm, ("mdl",), (83.77, 83.44, 83.57)),
    "aso": Method(
        "alternating structure (Ando)",
        "baseline",
        lambda _, __: TunedStructure(),
        ("svm",),
        (85.94, 85.00, 85.51),
    ),
    "most": Method(
        "most frequent class", "baseline", tuned("most frequent class"), (), (76.59, 77.14, 77.24)
    ),
    "evidence": Method(
        "linear SVM on own evidence", "baseline", tuned("own-evidence SVM"), ("svm",)
    ),
    "svm": Method("linear SVM", "baseline", tuned("linear SVM"), ("mdl",)),
    "l1": Method(L1, "baseline", tuned(L1), ("mdl",)),
    "l2": Method(L2, "baseline", tuned(L2), ("mdl",)),
    "flat": Method(
        "MDL selection, flat cost tuned", "control", tuned("flat-cost selection"), ("mdl",)
    ),
    "prior-mdl": Method(
        PRIOR + "MDL selection", "ours", selection, ("flat", "mdl", "transfeat"), prior="learned"
    ),
    "ours": Method(PRIOR + "linear SVM", "ours", recommended, (*OTHERS, "most"), prior="learned"),
    "shuffled": Method(
        "shuffled prior + linear SVM", "control", recommended, ("svm",), prior="shuffled"
    ),
}
CURVE = ("ours", "svm", "evidence", "l1", "l2", "flat", "prior-mdl", "shuffled")
COLD = ("ours", "prior-mdl", "shuffled")  # the others know nothing of other tasks
LETTER_METHODS = ("ours", "svm", "evidence", "l1", "flat", "shuffled")


class Trials:
    """One trial: a method learns from the training rows of all tasks and answers the test rows.

    A candidate has a ``method`` and a ``protocol``: "folds" or "documents" with a ``fold``; or
    "small" (every task has ``rows`` rows) or "cold" (the task has, the others have all that there
    are) with a ``seed`` for the draw.  The seed also shuffles a prior.

    Parameters
    ----------
    folds : for each protocol the fold of each row; "small" has the folds of both draws.
    """

    def __init__(self, data: Tasks, folds: Mapping[str, np.ndarray]):
        self.data, self.folds = data, dict(folds)
        self._prior: tuple[Any, Any, float] | None = None

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        method = METHODS[asked["method"]]
        train, test = self.split(asked)
        rows = asked.get("rows")
        few = rows is not None and rows < LEAST_FOR_THREE_FOLDS
        prior, seconds = self.prior_for(method, asked, train)
        model = method.make(prior, 2 if few else 3)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # A weak penalty may leave a solver at its last step, and a task of five rows may have
            # a class a row: the right answers tell.
            warnings.simplefilter("ignore")
            answers = self.answers(model, train, test)
        seconds += time.perf_counter() - begin
        right, tested = np.zeros((2, len(self.data)), dtype=np.int64)
        right[test] = answers == self.data.label[test]
        tested[test] = 1
        parts = self.data.by_task().values()
        return {
            "score": float(right.sum() / len(test)),
            "right": [int(right[part].sum()) for part in parts],
            "rows": [int(tested[part].sum()) for part in parts],
            "features": features_used(model),
            "setting": {k: str(v) for k, v in getattr(model, "setting_", {}).items()},
            "seconds": seconds,
        }

    def split(self, asked: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of a candidate."""
        train, test = self.whole(asked)
        size = asked.get("rows")
        if size is None:
            return train, test
        labels = self.data.label
        few = [
            rows[few_rows(labels[rows], size, asked["seed"], number)]
            for number, rows in enumerate(self.data.by_task(train).values())
        ]
        return np.concatenate(few), test

    def whole(self, asked: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows before any are left out."""
        if "fold" in asked:
            inside = self.folds[asked["protocol"]] == asked["fold"]
        elif self.data.is_test is not None:
            inside = self.data.is_test
        else:
            folds = self.folds["small"]
            inside = folds == asked["seed"] % (int(folds.max()) + 1)
        return np.flatnonzero(~inside), np.flatnonzero(inside)

    def prior_for(
        self, method: Method, asked: Mapping[str, Any], train: np.ndarray
    ) -> tuple[Any, float]:
        """The prior of a trial and the seconds that it took; trials of one fold share it."""
        if method.prior is None:
            return None, 0.0
        about = {k: v for k, v in asked.items() if k in ("protocol", "fold", "rows", "seed")}
        if "fold" in about:
            about.pop("seed", None)  # of the shuffle
        cold = asked["protocol"] == "cold"
        if cold:
            about.pop("rows")  # the other tasks have all of theirs
        if self._prior is None or self._prior[0] != about:
            begin = time.perf_counter()
            if cold:
                learned: Any = self.priors_of_others(self.whole(asked)[0])
            else:
                learned = self.learned(self.data.pairs(train))
            self._prior = about, learned, time.perf_counter() - begin
        _, learned, seconds = self._prior
        return shuffled(learned, asked["seed"]) if method.prior == "shuffled" else learned, seconds

    def learned(self, tasks: Mapping[Hashable, Any]) -> RelevancePrior:
        return RelevancePrior(feature_names=self.data.names, rounds=ROUNDS).fit(tasks)

    def priors_of_others(self, train: np.ndarray) -> PriorsOfOthers:
        """A prior for each task, learned without it: after two rounds, subtracting is not enough
        to forget the rows that it is not to have seen."""
        tasks = self.data.pairs(train)
        return PriorsOfOthers(
            {
                name: self.learned({other: pair for other, pair in tasks.items() if other != name})
                for name in tasks
            }
        )

    def answers(self, model: Any, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Answers to the test rows; those of a task without training rows stay empty: wrong."""
        data = self.data
        answers = np.full(len(test), "", dtype=object)
        known = np.isin(data.task[test], data.task[train])
        model.set_params(feature_names=data.names)
        if isinstance(model, MultiTask):
            model.fit(data.X[train], data.label[train], tasks=data.task[train])
            rows = test[known]
            answers[known] = model.predict(data.X[rows], tasks=data.task[rows])
            return answers
        model.fit(data.pairs(train))
        for name in np.unique(data.task[test[known]]).tolist():
            places = np.flatnonzero(data.task[test] == name)
            answers[places] = model.predict(name, data.X[test[places]])
        return answers


def shuffled(prior: Any, seed: int) -> Any:
    if isinstance(prior, PriorsOfOthers):
        return PriorsOfOthers({name: shuffled(one, seed) for name, one in prior.priors.items()})
    # A copy keeps what was learned, which a clone would forget.
    return copy.copy(prior).set_params(shuffle=seed)


def candidate_of(key: str, **asked: Any) -> dict[str, Any]:
    """A candidate of the journal: what is asked of a method with its settings."""
    if key not in METHODS:
        raise InputError(f"no method {key!r}; there are {', '.join(METHODS)}")
    return {"method": key, **asked, "settings": fingerprint(METHODS[key].settings)}


def carry_over(work: Work) -> dict[str, Any]:
    """Table 1 of the paper, learning curves, or a second domain."""
    work.say(f"{work.name}: reading")
    of_letters, seed = work.name == "letters", work.seeds[0]
    n_folds = work.options.get("n_folds", FOLDS)
    whole = read_letters(seed) if of_letters else read_verbs()
    data = some_tasks(whole, work.sample, seed)
    about = {"experiment": "transfer", "part": work.name, "version": VERSION, "seed": seed}
    marks: list[Any] = [data.X.indices, data.X.indptr, data.names]
    marks += [data.label.tolist(), data.task.tolist(), n_folds]
    with work.journaled(work.name, fingerprint(*marks), **about):
        if work.name == "table":
            found = compare_methods(work, data, n_folds)
        else:
            found = draw_curves(work, data, of_letters)
    sampled = [f"a sample of {len(data.tasks)} tasks, not all of them"]
    return {
        **found,
        "source": LETTERS if of_letters else VERBS,
        "warnings": [] if work.sample is None else sampled,
        "rows": len(data),
        "features": len(data.names),
    }


def section_of(work: Work, data: Tasks, note: str, blocks: Sequence[Block]) -> Section:
    sizes = f"{len(data.tasks)} tasks, {len(data):,} rows, {len(data.names):,} features"
    if data.is_test is not None:
        sizes += f"; {int((~data.is_test).sum()):,} rows to learn from"
    return Section(work.name, f"{work.name}: {sizes}", note, list(blocks))


def compare_methods(work: Work, data: Tasks, n_folds: int) -> dict[str, Any]:
    """Table 1, in folds by sense and in folds by document."""
    seed = work.seeds[0]
    folds = {
        "folds": folds_within_tasks(data, n_folds, seed),
        "documents": folds_of_documents(data, n_folds, seed),
    }
    # Fold by fold: the methods of a fold share its prior.
    asked = [
        candidate_of(key, protocol=protocol, fold=fold, **more)
        for protocol in PROTOCOLS
        for fold in range(n_folds)
        for key, method in METHODS.items()
        for more in ([{"seed": s} for s in work.seeds] if method.prior == "shuffled" else [{}])
    ]
    work.say("table: verbs in folds")
    answers = grouped(work.ask(Trials(data, folds), asked), "protocol", "method")
    work.say("table: what was transferred")
    (shown,) = work.ask(ShowTrials(data), [{"part": "shown", "rounds": ROUNDS}])
    methods: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    findings: list[str] = []
    blocks: list[Block] = []
    for protocol, words in PROTOCOLS.items():
        title = f"{data.title}, {words}"
        counts = {key: summed_counts(answers[protocol, key]) for key in METHODS}
        tests = all_tests(title, counts)
        comparisons += tests.values()
        rows = [
            method_row(key, protocol, counts[key], answers[protocol, key], tests) for key in METHODS
        ]
        blocks += [methods_figure(words, rows), methods_table(words, rows)]
        methods += rows
        findings.append(sentence(title, [tests[pair] for pair in TOLD["table"]]))
    note = (
        f"Table 1 of the paper in {n_folds} folds. right: per cent of the test rows of all tasks; "
        "gain, and t and p over tasks (paired t test): of the linear SVM with a prior, learned or "
        "shuffled, or with shared structure against the linear SVM; of MDL selection with the "
        "prior against the flat cost; of all others against MDL selection. features of a task, "
        "seconds of a fold. The prior is learned from the training rows of the other tasks; "
        f"shuffles of it: {len(work.seeds)}. paper: 172 verbs of OntoNotes, TransFeat in its three "
        "settings, the others in the first; settings decide what senses are clustered by, which "
        "only TransFeat does. In brackets: mean difference over tasks."
    )
    return {
        "comparisons": comparisons,
        "findings": [*findings, beside_the_paper(methods)],
        "sections": [
            section_of(work, data, note, blocks),
            *msgspec.convert(shown.result["sections"], list[Section]),
        ],
    }


def draw_curves(work: Work, data: Tasks, of_letters: bool) -> dict[str, Any]:
    """What methods make of few rows."""
    folds = {} if of_letters else {"small": folds_within_tasks(data, CURVE_FOLDS, 0)}
    sizes: Sequence[int | None] = LETTER_ROWS if of_letters else CURVE_ROWS
    worlds = {"small": LETTER_METHODS if of_letters else CURVE, "cold": () if of_letters else COLD}
    asked = [
        candidate_of(key, protocol=world, rows=size, seed=seed)
        for world, keys in worlds.items()
        for seed in work.seeds
        for size in sizes
        if not (world == "cold" and size is None)
        for key in keys
    ]
    work.say(f"{work.name}: {data.title} with few rows")
    found = work.ask(Trials(data, folds), asked)
    answers = grouped(found, "protocol", "rows", "method")
    lines: dict[str, dict[str, Line]] = {}
    comparisons: list[dict[str, Any]] = []
    findings: list[str] = []
    for world, words in WORLDS.items():
        title = f"{data.title}, {words}"
        told: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
        for size in sizes:
            if (world, size, "ours") not in answers:
                continue
            counts = {
                key: summed_counts(results)
                for (protocol, rows, key), results in answers.items()
                # In either world a method without a prior sees the rows of one task.
                if rows == size and (protocol == world or METHODS[key].prior is None)
            }
            for key, counted in counts.items():
                # One without a prior is on the other curve already.
                if world == "small" or METHODS[key].prior is not None:
                    name = METHODS[key].name + (", cold start" if world == "cold" else "")
                    line = lines.setdefault(world, {}).setdefault(key, Line(name))
                    add_point(line, size, counted)
            amount = "all rows" if size is None else f"{size} rows"
            tests = all_tests(f"{title}, {amount}", counts)
            comparisons += tests.values()
            for pair in TOLD["curve"]:
                if pair in tests:
                    told.setdefault(pair, []).append((amount, tests[pair]))
        findings += [along(title, those) for those in told.values()]
    every = [line for those in lines.values() for line in those.values()]
    tables = [curve_grid(WORLD_WORDS[world], [*those.values()]) for world, those in lines.items()]
    note = (
        f"Right answers in per cent. Draws of rows: {len(work.seeds)}; differences are means over "
        "tasks, * p below 0.05 (paired t test)."
    )
    return {
        "comparisons": comparisons,
        "findings": findings,
        "sections": [section_of(work, data, note, [curve(every), *tables])],
    }


def grouped(found: Iterable[Evaluation], *by: str) -> dict[tuple, list[dict[str, Any]]]:
    """Results by some fields of what was asked."""
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for one in found:
        groups.setdefault(tuple(one.candidate[name] for name in by), []).append(one.result)
    return groups


def summed_counts(results: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Right answers and rows of each task, added up over folds or seeds.

    >>> summed_counts([{"right": [1, 0], "rows": [2, 1]}, {"right": [1, 1], "rows": [1, 1]}])
    array([[2, 3],
           [1, 2]])
    """
    return np.sum([np.stack([one["right"], one["rows"]], axis=1) for one in results], axis=0)


def all_tests(title: str, counts: Mapping[str, np.ndarray]) -> dict[tuple[str, str], dict]:
    """Every method against those it is to be compared with, where both are there."""
    return {
        (key, other): over_tasks(
            (f"{title}: {METHODS[key].name}", counts[key]),
            (f"{title}: {METHODS[other].name}", counts[other]),
        )
        for key in counts
        for other in METHODS[key].against
        if other in counts
    }


def over_tasks(first: tuple[str, np.ndarray], second: tuple[str, np.ndarray]) -> dict[str, Any]:
    """Two methods by the accuracies of the tasks that have test rows.

    ``difference`` and ``interval`` are of the mean over tasks; ``values`` are the shares of all
    rows, as in the table.

    >>> one, other = np.array([[8, 10], [4, 5], [3, 4]]), np.array([[6, 10], [4, 5], [2, 4]])
    >>> test = over_tasks(("prior", one), ("no prior", other))
    >>> round(test["difference"], 2), round(test["t"], 2), test["significant"]
    (0.15, 1.96, False)
    """
    counts = first[1], second[1]
    both = (counts[0][:, 1] > 0) & (counts[1][:, 1] > 0)
    found = paired_t(*(accuracy_of_counts(one[both]) for one in counts))
    return {
        "a": first[0],
        "b": second[0],
        "difference": found.difference,
        "interval": [found.low, found.high],
        "t": found.t,
        "p": found.p,
        "significant": found.p < LEVEL,
        "values": [float(accuracy_of_counts(one.sum(axis=0))) for one in counts],
    }


def method_row(
    key: str,
    protocol: str,
    counts: np.ndarray,
    results: Sequence[Mapping[str, Any]],
    tests: Mapping[tuple[str, str], Mapping[str, Any]],
) -> dict[str, Any]:
    """A method's line of the table, with the test against the first that it is compared with."""
    method = METHODS[key]
    settings = [", ".join(f"{k} {v}" for k, v in one["setting"].items()) for one in results]
    row = {
        "name": method.name,
        "kind": method.kind,
        "setting": method.setting,
        "protocol": protocol,
        **figure(counts, "accuracy"),
        "published": [share / 100 for share in method.published],
        "features": float(np.mean([one["features"] for one in results])),
        "seconds": float(np.mean([one["seconds"] for one in results])),
        # The one that was chosen most often.
        "settings_chosen": max(dict.fromkeys(settings), key=settings.count),
    }
    if method.against:
        rival = method.against[0]
        test = tests[key, rival]
        row |= {"against": METHODS[rival].name, "t": test["t"], "p": test["p"]}
        row["gain"] = test["values"][0] - test["values"][1]
    return row


def add_point(line: Line, size: int | None, counts: np.ndarray) -> None:
    found = figure(counts, "accuracy")
    line.x.append(size)
    line.y.append(found["value"])
    line.low.append(found["interval"][0])
    line.high.append(found["interval"][1])


def sentence(title: str, tests: Sequence[Mapping[str, Any]]) -> str:
    """Several tests of one data set and protocol, in words; those of one method go together.

    >>> test = {"a": "verbs: prior", "b": "verbs: none", "difference": 0.02, "t": 3.5, "p": 0.002,
    ...     "significant": True, "values": [0.89, 0.87]}
    >>> print(sentence("verbs", [test]))
    verbs: prior 89.00 is ahead of none 87.00 (+2.00, t 3.5, p 0.002).
    """
    words: dict[str, list[str]] = {}
    for test in tests:
        verdict = outcome(test, "is ahead of", "is behind", "does not differ beyond chance from")
        words.setdefault(f"{method_in(test['a'])} {percent(test['values'][0])} ", []).append(
            f"{verdict} {method_in(test['b'])} {percent(test['values'][1])} "
            f"({gain(test['difference'])}, t {test['t']:.1f}, p {p_words(test['p'])})"
        )
    return f"{title}: " + "; ".join(name + ", ".join(said) for name, said in words.items()) + "."


def along(title: str, tests: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """One method against another at several amounts of data, in words.

    >>> test = {"a": "x: prior", "b": "x: none", "difference": 0.02, "p": 0.2, "significant": False}
    >>> more = {**test, "difference": 0.03, "p": 0.01, "significant": True}
    >>> print(along("verbs", [("5 rows", test), ("10 rows", more)]))
    verbs: prior against none: +2.00 at 5 rows (p 0.200), +3.00* at 10 rows (p 0.010).
    """
    points = [
        f"{gain(test['difference'])}{'*' if test['significant'] else ''} at {amount} "
        f"(p {p_words(test['p'])})"
        for amount, test in tests
    ]
    names = f"{method_in(tests[0][1]['a'])} against {method_in(tests[0][1]['b'])}"
    return f"{title}: {names}: " + ", ".join(points) + "."


def method_in(name: str) -> str:
    """The method in the name of a system, which begins with the data."""
    return name.partition(": ")[2] or name


def beside_the_paper(methods: Sequence[Mapping[str, Any]]) -> str:
    """The gain that the paper reports, and what is left of it here."""
    of = {(row["protocol"], row["name"]): row["value"] for row in methods}
    names = [METHODS[key].name for key in ("transfeat", "mdl")]
    gains = " and ".join(
        f"{100 * of[protocol, names[0]] - 100 * of[protocol, names[1]]:+.2f} with {title}"
        for protocol, title in PROTOCOLS.items()
    )
    return (
        f"The paper has TransFeat +2.25 ahead of its baseline (85.75, 83.50); here it is {gains}."
    )


def gather(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The table, the curves and what was transferred; of the data that of the first part."""
    first = next(iter(found.values()))
    return {
        "data": {
            "source": ", ".join(dict.fromkeys(part["source"] for part in found.values())),
            **{name: first[name] for name in ("rows", "features", "warnings")},
        },
        "metric": "accuracy",
        "comparisons": [test for part in found.values() for test in part["comparisons"]],
        "sections": [section for part in found.values() for section in part["sections"]],
    }


def methods_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    """Table 1 of the paper with our figures; below them their intervals and what was chosen."""

    def name(row: Mapping[str, Any]) -> dict[str, Any]:
        by = f"similarity by {row['setting']}" if row["setting"] else ""
        kind = {"ours": "with transfer", "paper": "as published"}.get(row["kind"], row["kind"])
        return {
            "value": row["name"],
            "under": ", ".join(filter(None, [kind, by, row["settings_chosen"]])),
        }

    def right(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"value": row["value"], "under": " to ".join(map(percent, row["interval"]))}

    def gained(row: Mapping[str, Any]) -> dict[str, Any]:
        against = f"against {row['against']}" if "against" in row else ""
        return {"value": row.get("gain"), "under": against}

    def published(row: Mapping[str, Any]) -> dict[str, Any]:
        first, *others = row["published"] or [None]
        return {"value": first, "under": " / ".join(map(percent, others))}

    return table(
        title,
        rows,
        {
            "method": ("text", name),
            "right": ("percent", right),
            "gain": ("points", gained),
            "t": ("signed", lambda row: row.get("t")),
            "p": ("p", lambda row: row.get("p")),
            "features": (Column("features", "count", "mean of a task"), lambda r: r["features"]),
            "s": (Column("s", "number", "seconds of a fold"), lambda row: row["seconds"]),
            "paper": (Column("paper", "percent", "on its own data"), published),
        },
    )


def methods_figure(title: str, rows: Sequence[Mapping[str, Any]]) -> Intervals:
    """What each method has right, beside what was published."""
    dots = [
        Dot(row["name"], row["value"], tuple(row["interval"]), next(iter(row["published"]), None),
            None, "aside" if row["kind"] == "control" else "chosen" * (row["kind"] == "ours"))
        for row in rows
    ]  # fmt: skip
    looks = {"chosen": "with a prior", "": "as published, and baselines", "aside": "controls"}
    return Intervals(f"Right answers, {title}", "right", "percent", dots, "published", looks)


EXPERIMENT = Experiment(
    kind="transfer",
    noun="part",
    parts=("table", "curve", "letters"),
    work=carry_over,
    gather=gather,
    sampled=("tasks", 2),
    parameters={"n_folds": FOLDS, "curve_folds": CURVE_FOLDS},
)
