"""The experiment of Dhillon and Ungar on public data: features that mattered for other verbs.

"Transfer Learning, Feature Selection and Word Sense Disambiguation" (2009) selects features for
the senses of a verb at costs learned from similar senses of other verbs.  Its Table 1 has five
rows in three settings.  Here the rows are repeated on fifty verbs of public text, with the models
that a user would try first, a prior without clusters that is handed to a linear model or to the
selection, and controls (:mod:`~experiments.transfer_methods`).

The three settings decide what senses are clustered by.  A method without clusters has nothing to
decide, so each has one figure here and all features throughout.  The paper's own baselines differ
a little between its settings; it does not say what else changed.

Beside the table: what happens with few rows, in all verbs alike ("small") or in the one verb while
the others have theirs ("cold"); and the same on another domain, the sounds of letters.

Every trial is an entry of a journal with the right answers of each task, so an experiment that
was stopped goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.entries import Entries
from experiments.transfer_findings import (
    along,
    figure,
    over_tasks,
    sentence,
    summed_counts,
)
from experiments.transfer_methods import (
    COLD,
    CURVE,
    LETTER_METHODS,
    METHODS,
    ROUNDS,
    TransferTrials,
    candidate_of,
)
from experiments.transfer_shown import ShowTrials
from experiments.transfer_tasks import (
    LETTERS,
    VERBS,
    Tasks,
    folds_of_documents,
    folds_within_tasks,
    read_letters,
    read_verbs,
    some_tasks,
)
from featloom.errors import InputError
from featloom.runs import Run
from featloom.search import Evaluation, Journal, fingerprint

PARTS = ("table", "curve", "letters")
PROTOCOLS = {"folds": "folds by sense", "documents": "folds by document"}
WORLDS = {"small": "all tasks small", "cold": "this task small"}
FOLDS = 10
CURVE_FOLDS = 5
CURVE_ROWS = (5, 10, 20, 40, None)
LETTER_ROWS = (40, 200, 1000)
VERSION = 1  # of what an entry holds
# What the verdict tells of; all tests are in the result.
_TOLD = {
    "table": (
        ("ours", "svm"), ("ours", "evidence"), ("ours", "shuffled"), ("ours", "l1"),
        ("ours", "aso"), ("prior-mdl", "flat"), ("transfeat", "mdl"),
        ("transfeat", "alone"), ("flat", "mdl"),
    ),
    "curve": (("ours", "svm"), ("ours", "evidence"), ("ours", "shuffled"), ("prior-mdl", "flat")),
}  # fmt: skip


def reproduce_transfer(
    run: Run,
    *,
    only: str | None = None,
    sample: int | None = None,
    seeds: int = 5,
    seed: int = 0,
    n_folds: int = FOLDS,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] = lambda *_: None,
) -> dict[str, Any]:
    """Table 1 of the paper beside ours, learning curves, and a second domain.

    Parameters
    ----------
    only : "table", "curve" or "letters"; None: all three.
    sample : tasks that are drawn; None takes all.
    seeds : shuffles of the prior in the table, and draws of rows elsewhere.
    seed : the first of these, and that of folds and sample.
    n_folds : of the table.
    jobs : trials side by side, each on one thread.
    """
    chosen = _chosen(only)
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1")
    found = {}
    for name in chosen:
        say(f"{name}: reading")
        data = some_tasks(read_letters(seed) if name == "letters" else read_verbs(), sample, seed)
        part = _Part(name, data, range(seed, seed + seeds), n_folds, say)
        about = {"experiment": "transfer", "part": name, "version": VERSION, "seed": seed}
        marks = fingerprint(data.X.indices, data.X.indptr, data.names, data.label.tolist(),
                            data.task.tolist(), n_folds)  # fmt: skip
        with Journal(run.path / f"{name}.journal", data=marks, search=about) as journal:
            found[name] = part.run(Entries(journal, jobs, progress))
    first = found[chosen[0]]
    warnings = [] if sample is None else [f"a sample of {first['tasks']} tasks, not all of them"]
    corpora = dict.fromkeys(LETTERS if name == "letters" else VERBS for name in chosen)
    return {
        "kind": "transfer",
        "data": {"source": ", ".join(corpora), "rows": first["rows"], "warnings": warnings},
        "parameters": {
            "parts": chosen, "sample": sample, "seeds": seeds, "n_folds": n_folds,
            "curve_folds": CURVE_FOLDS,
        },
        "evaluations": sum(part["evaluations"] for part in found.values()),
        "transfer": {
            **{name: first[name] for name in ("tasks", "rows", "features")},
            "methods": [row for part in found.values() for row in part.get("methods", [])],
            # Letters are another domain; their figures do not belong on the verbs' curve.
            "curve": next((part["curve"] for part in found.values() if "curve" in part), []),
            **found.get("table", {}).get("shown", {}),
            "parts": {
                name: {k: v for k, v in part.items() if k not in ("comparisons", "shown")}
                for name, part in found.items()
            },
        },
        "comparisons": [test for part in found.values() for test in part["comparisons"]],
        "verdict": " ".join(words for part in found.values() for words in part["findings"]),
    }  # fmt: skip


def _chosen(only: str | None) -> list[str]:
    if only is None:
        return list(PARTS)
    if only not in PARTS:
        raise InputError(f"no part {only!r}; there are {', '.join(PARTS)}")
    return [only]


class _Part:
    """One part of the experiment."""

    def __init__(self, name: str, data: Tasks, seeds: range, n_folds: int, say):
        self.name, self.data, self.seeds, self.n_folds, self.say = name, data, seeds, n_folds, say

    def run(self, entries: Entries) -> dict[str, Any]:
        found = self._table(entries) if self.name == "table" else self._curve(entries)
        trained = len(self.data) if self.data.is_test is None else int((~self.data.is_test).sum())
        return {
            **found,
            "tasks": len(self.data.tasks),
            "rows": len(self.data),
            "training_rows": trained,
            "features": len(self.data.names),
            "evaluations": entries.n,
        }

    def _table(self, entries: Entries) -> dict[str, Any]:
        data, seed = self.data, self.seeds[0]
        folds = {
            "folds": folds_within_tasks(data, self.n_folds, seed),
            "documents": folds_of_documents(data, self.n_folds, seed),
        }
        # Fold by fold: the methods of a fold share its prior.
        asked = [
            one
            for protocol in PROTOCOLS
            for fold in range(self.n_folds)
            for key in METHODS
            for one in self._with_seeds(key, protocol=protocol, fold=fold)
        ]
        self.say("table: verbs in folds")
        answers = _grouped(entries.ask(TransferTrials(data, folds), asked), "protocol", "method")
        self.say("table: what was transferred")
        (shown,) = entries.ask(ShowTrials(data, ROUNDS), [{"part": "shown", "rounds": ROUNDS}])
        methods: list[dict[str, Any]] = []
        tests: list[dict[str, Any]] = []
        findings: list[str] = []
        for protocol, title in PROTOCOLS.items():
            counts = {key: summed_counts(answers[protocol, key]) for key in METHODS}
            compared = _all_tests(f"{data.title}, {title}", counts)
            tests += compared.values()
            for key in METHODS:
                methods.append(_row(key, protocol, counts[key], answers[protocol, key], compared))
            told = [compared[pair] for pair in _TOLD["table"]]
            findings.append(sentence(f"{data.title}, {title}", told))
        findings.append(_beside_the_paper(methods))
        return {
            "methods": methods,
            "comparisons": tests,
            "findings": findings,
            "shown": {k: shown.result[k] for k in ("families", "clusters", "chosen")},
        }

    def _with_seeds(self, key: str, **asked: Any) -> Iterable[dict[str, Any]]:
        if METHODS[key].prior == "shuffled":
            return [candidate_of(key, **asked, seed=seed) for seed in self.seeds]
        return [candidate_of(key, **asked)]

    def _curve(self, entries: Entries) -> dict[str, Any]:
        data, of_letters = self.data, self.data.is_test is not None
        folds = {} if of_letters else {"small": folds_within_tasks(data, CURVE_FOLDS, 0)}
        keys = LETTER_METHODS if of_letters else CURVE
        sizes: Sequence[int | None] = LETTER_ROWS if of_letters else CURVE_ROWS
        asked = [
            candidate_of(key, protocol="small", rows=size, seed=seed)
            for seed in self.seeds
            for size in sizes
            for key in keys
        ]
        if not of_letters:
            asked += [
                candidate_of(key, protocol="cold", rows=size, seed=seed)
                for seed in self.seeds
                for size in sizes
                if size is not None
                for key in COLD
            ]
        self.say(f"{self.name}: {data.title} with few rows")
        found = entries.ask(TransferTrials(data, folds), asked)
        return self._points(_grouped(found, "protocol", "rows", "method"), sizes)

    def _points(
        self, answers: Mapping[tuple, list[dict[str, Any]]], sizes: Sequence[int | None]
    ) -> dict[str, Any]:
        points: list[dict[str, Any]] = []
        tests: list[dict[str, Any]] = []
        findings: list[str] = []
        for world, title in WORLDS.items():
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
                    if world == "cold" and METHODS[key].prior is None:
                        continue  # it is on the other curve already
                    points.append(_point(key, world, size, counted, answers[world, size, key]))
                amount = "all rows" if size is None else f"{size} rows"
                compared = _all_tests(f"{self.data.title}, {title}, {amount}", counts)
                tests += compared.values()
                for pair in _TOLD["curve"]:
                    if pair in compared:
                        told.setdefault(pair, []).append((amount, compared[pair]))
            findings += [along(f"{self.data.title}, {title}", those) for those in told.values()]
        return {"curve": points, "comparisons": tests, "findings": findings}


def _grouped(found: Iterable[Evaluation], *by: str) -> dict[tuple, list[dict[str, Any]]]:
    """Results by some fields of what was asked."""
    groups: dict[tuple, list[dict[str, Any]]] = {}
    for one in found:
        groups.setdefault(tuple(one.candidate[name] for name in by), []).append(one.result)
    return groups


def _all_tests(title: str, counts: Mapping[str, np.ndarray]) -> dict[tuple[str, str], dict]:
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


def _row(
    key: str,
    protocol: str,
    counts: np.ndarray,
    results: Sequence[Mapping[str, Any]],
    tests: Mapping[tuple[str, str], Mapping[str, Any]],
) -> dict[str, Any]:
    """A method's line of the table, with the test against the first that it is compared with."""
    method = METHODS[key]
    row = {
        "name": method.name,
        "kind": method.kind,
        "setting": method.setting,
        "protocol": protocol,
        **figure(counts),
        "published": method.published[0] if method.published else None,
        "published_settings": list(method.published),
        "features": float(np.mean([one["features"] for one in results])),
        "seconds": float(np.mean([one["seconds"] for one in results])),
        "settings_chosen": _commonest([one["setting"] for one in results]),
    }
    if method.against:
        test = tests[key, method.against[0]]
        row |= {"against": METHODS[method.against[0]].name, "t": test["t"], "p": test["p"]}
        row["gain"] = test["values"][0] - test["values"][1]
    return row


def _point(
    key: str,
    world: str,
    size: int | None,
    counts: np.ndarray,
    results: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    name = METHODS[key].name + (", cold start" if world == "cold" else "")
    values = [one["score"] for one in results]
    return {
        "method": name,
        "rows": size,
        **figure(counts),
        "world": world,
        "kind": METHODS[key].kind,
        "seeds": len(values),
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "seconds": float(np.mean([one["seconds"] for one in results])),
    }


def _commonest(settings: Sequence[Mapping[str, str]]) -> str:
    """The setting that was chosen most often."""
    texts = [", ".join(f"{k} {v}" for k, v in one.items()) for one in settings]
    return max(dict.fromkeys(texts), key=texts.count)


def _beside_the_paper(methods: Sequence[Mapping[str, Any]]) -> str:
    """The gain that the paper reports, and what is left of it here."""
    of = {(row["protocol"], row["name"]): 100 * row["value"] for row in methods}
    names = [METHODS[key].name for key in ("transfeat", "mdl")]
    gains = " and ".join(
        f"{of[protocol, names[0]] - of[protocol, names[1]]:+.2f} with {title}"
        for protocol, title in PROTOCOLS.items()
    )
    return (
        f"The paper has TransFeat +2.25 ahead of its baseline (85.75, 83.50); here it is {gains}."
    )
