"""Is a linear model with induced conjunctions as accurate as its peers?  Nested cross-validation.

Five outer folds, in each three inner ones, of whole documents or words where there are any.  Every
method chooses among six settings by its mean score over the inner folds, learns from the outer
training part with the chosen one, and answers the outer test part once.  The answers of all five
folds are then compared by a paired bootstrap over documents (words, rows).

``python benchmarks/induction_accuracy.py [--quick] [--only DATA] [--method NAME] [--cache FOLDER]``
prints one JSON object a line.  Every finished pair of data and method is kept in the cache, so
that a run that was stopped goes on; a change of data, settings or versions makes it anew.
FEATLOOM_DATA names the folder with the corpora.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import peers
from peers import Outcome, Setting, features_in_use

import featloom
from featloom.data.corpora import find
from featloom.data.matrix import FeatureMatrix
from featloom.data.tasks.letter_to_sound import letter_question, letter_to_sound
from featloom.data.tasks.ready import load
from featloom.evaluation.folds import make_folds, splits
from featloom.evaluation.objective import Objective, compare
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.runs import versions, write_beside
from featloom.search import fingerprint

OUTER, INNER, SEED, PROCESSES = 5, 3, 0, 2
BASELINE = "L2 logistic regression on atomic features"
OURS = "induction, recommended"
TENTH = "induction, a tenth of the features"


@dataclass(frozen=True)
class Question:
    """Rows with classes, and what a method is judged by; ``note`` says how they were chosen."""

    name: str
    matrix: FeatureMatrix
    objective: Objective
    note: str = ""


@dataclass(frozen=True)
class Method:
    """A way to learn from rows and judge others under each of six settings."""

    name: str
    settings: list[Setting]
    outcomes: Callable[..., Iterator[Outcome]]
    package: str | None = None


# The data.


def locations() -> Question:
    matrix = load("ned-gum", "all")
    return Question("ned-gum", matrix, Objective.of(matrix.classes, matrix.known_labels, "1"))


def attachment() -> Question:
    matrix = replace(FeatureMatrix.from_table(load("ppattach", "train")), groups=None)
    return Question("ppattach", matrix, Objective(None, "accuracy"), "the training part")


@lru_cache(maxsize=1)
def letters(max_words: int | None = None):
    return letter_to_sound(max_words=max_words)[0]


def c_sounded_k(max_rows: int | None = None) -> Question:
    # The alignment of fewer words is another one, but takes a second where all take four.
    table = letters(None if max_rows is None else 5 * max_rows)
    matrix = FeatureMatrix.from_table(letter_question(table, "c", "K"))
    matrix = matrix if max_rows is None else whole_words(matrix, max_rows)
    return Question("c sounded K", matrix, Objective.of(matrix.classes, matrix.known_labels, "yes"))


def sounds_of_a(max_rows: int = 12_000, rarest: int = 5) -> Question:
    matrix = whole_words(FeatureMatrix.from_table(letter_question(letters(), "a")), max_rows)
    sizes = np.bincount(matrix.known_labels, minlength=len(matrix.classes))
    rows = np.flatnonzero(sizes[matrix.known_labels] >= rarest)
    kept = np.flatnonzero(sizes >= rarest)
    code = np.full(len(sizes), -1)
    code[kept] = np.arange(len(kept))
    matrix = matrix.take(rows)
    matrix = replace(
        matrix,
        labels=code[matrix.known_labels],
        classes=tuple(matrix.classes[c] for c in kept),
    )
    note = (
        f"{max_rows:,} rows of whole words drawn at random; "
        f"{np.count_nonzero(sizes) - len(kept)} classes with fewer than {rarest} rows left out"
    )
    return Question("sounds of a", matrix, Objective(None, "accuracy"), note)


def whole_words(matrix: FeatureMatrix, max_rows: int) -> FeatureMatrix:
    """At most so many rows, of words drawn at random."""
    words, codes, sizes = np.unique(matrix.groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(SEED).permutation(len(words))
    within = np.cumsum(sizes[order]) <= max_rows
    return matrix.take(np.isin(codes, order[within]))


QUESTIONS = {
    "ned-gum": locations,
    "ppattach": attachment,
    "c sounded K": c_sounded_k,
    "sounds of a": sounds_of_a,
}


# The methods: six settings each.


def methods(question: Question) -> list[Method]:
    """The methods that make sense for the data and whose packages are installed."""
    strengths = grid(C=(0.3, 1.0))
    tenth = question.matrix.shape[1] // 10
    online = grid(rate=(0.25, 0.5), passes=(1, 2, 4))
    rounds = (100, 200, 400)
    # 400 rounds of lightgbm with a tree for each of 20 classes took over three minutes.
    fewer = rounds if len(question.matrix.classes) == 2 else (50, 100, 200)
    found = [
        Method(BASELINE, grid(C=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0)), peers.linear),
        Method(
            "FITSI as published, MI, perceptron",
            grid(keep=(0.05, 0.1, 0.25), partners=(0.001, 0.0025)),
            peers.published,
        ),
        Method(OURS, grid(final_keep=(500, 1000, 2000), C=(0.3, 1.0)), peers.induced),
        Method(
            TENTH,
            [
                {"final_keep": keep, "final_atomic": tenth - keep, **strength}
                for keep in (250, 500, 1000)
                for strength in strengths
            ],
            peers.induced,
        ),
        Method(
            "induction with triples",
            grid(max_length=(3,), final_keep=(500, 1000, 2000), C=(0.3, 1.0)),
            peers.induced,
        ),
        Method("Vowpal Wabbit", online, partial(peers.vowpal_wabbit, pairs=False), "vowpalwabbit"),
        Method(
            "Vowpal Wabbit -q aa", online, partial(peers.vowpal_wabbit, pairs=True), "vowpalwabbit"
        ),
        Method("xgboost", grid(depth=(6, 10), rounds=rounds), peers.xgboost, "xgboost"),
        Method("lightgbm", grid(leaves=(31, 63), rounds=fewer), peers.lightgbm, "lightgbm"),
    ]
    # With a few hundred features a tenth of them leaves no room for conjunctions.
    return [m for m in found if m.name != TENTH or tenth > m.settings[-1]["final_keep"]]


def grid(**values: Sequence[Any]) -> list[Setting]:
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


# The protocol.


def fold_of_unit(question: Question, method: Method, fold: int) -> dict[str, Any]:
    """Choose a setting inside an outer training part, learn from all of it, judge the rest."""
    matrix, labels = question.matrix, question.matrix.known_labels
    outer = make_folds(labels, n_folds=OUTER, groups=matrix.groups, seed=SEED, allow_rare=True)
    train, test = np.flatnonzero(outer != fold), np.flatnonzero(outer == fold)
    groups = None if matrix.groups is None else matrix.groups[train]
    peers.compiled()
    start = time.process_time()
    inner = make_folds(labels[train], n_folds=INNER, groups=groups, seed=SEED, allow_rare=True)
    scores = dict.fromkeys(map(words, method.settings), 0.0)
    for within, held in splits(inner):
        for outcome in method.outcomes(matrix, train[within], train[held], method.settings):
            value = question.objective.value(labels[train[held]], outcome.given)
            scores[words(outcome.setting)] += value / INNER
    best = max(method.settings, key=lambda setting: scores[words(setting)])
    (last,) = method.outcomes(matrix, train, test, [best])
    seconds = time.process_time() - start
    return {
        "rows": test,
        "given": last.given,
        "setting": words(best),
        "inner": scores[words(best)],
        "features": last.features(),
        "seconds": seconds,
    }


def words(setting: Setting) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def unit(question: Question, method: Method, cache: Path) -> dict[str, Any]:
    """All outer folds of one method on one set of data, from the cache where they are there."""
    key = unit_key(question, method)
    file = cache / f"{peers.plain_name(question.name)}--{peers.plain_name(method.name)}.npz"
    if file.exists():
        with np.load(file) as arrays:
            facts = json.loads(str(arrays["facts"]))
            if facts["key"] == key:
                return facts | {"given": arrays["given"]}
    from joblib import Parallel, delayed, parallel_config

    start = time.perf_counter()
    with parallel_config("loky", n_jobs=PROCESSES, inner_max_num_threads=1):
        folds = Parallel(max_nbytes=None)(
            delayed(fold_of_unit)(question, method, fold) for fold in range(OUTER)
        )
    given = np.full(len(question.matrix), -1, dtype=np.int16)
    for fold in folds:
        given[fold["rows"]] = fold["given"]
    sizes = [fold["features"] for fold in folds]
    facts = {
        "key": key,
        "features": None if None in sizes else round(float(np.mean(sizes))),
        "settings": [fold["setting"] for fold in folds],
        "inner": [round(fold["inner"], 5) for fold in folds],
        "seconds": round(sum(fold["seconds"] for fold in folds), 2),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, given=given, facts=np.array(json.dumps(facts)))
    cache.mkdir(parents=True, exist_ok=True)
    write_beside(file, buffer.getvalue())
    say(f"{question.name}, {method.name}: {time.perf_counter() - start:.1f} s")
    return facts | {"given": given}


def unit_key(question: Question, method: Method) -> str:
    """What the answers depend on: data, settings, protocol, versions, and our own code."""
    matrix = question.matrix
    parts: list[Any] = [matrix.indptr, matrix.indices, matrix.known_labels]
    parts += [] if matrix.groups is None else [matrix.groups]
    parts += [question.objective.name, method.name, method.settings, [OUTER, INNER, SEED]]
    parts += [Path(peers.__file__).read_text()]
    if method.package is None:
        parts += [versions(), ConjunctionInducer()._settings()]
        root = Path(featloom.__file__).parent
        code = [
            *(f"methods/induction/{name}.py" for name in ("inducer", "procedure", "grid")),
            "learners/linear.py",
        ]
        code += ["counts/*.py", "kernels/*.py"]
        parts += [file.read_text() for name in code for file in sorted(root.glob(name))]
    else:
        owners = metadata.packages_distributions()[method.package]
        parts += [metadata.version(owners[0])]
    return fingerprint(*parts)


def lines(question: Question, found: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One result for each method, with its difference from the baseline and from ours."""
    truth = question.matrix.known_labels
    given = {name: [facts["given"].astype(np.int64)] for name, facts in found.items()}
    gaps: dict[str, dict[str, dict]] = {}
    models: list[dict[str, Any]] = []
    for rival in (BASELINE, OURS, TENTH):
        gaps[rival] = {}
        if rival in found or not models:
            models, tests = compare(
                question.objective,
                truth,
                given,
                baseline=rival if rival in found else {},
                groups=question.matrix.groups,
                seed=SEED,
            )
            gaps[rival] = {test["a"]: test for test in tests}
    for model in models:
        name, facts = model["name"], found[model["name"]]
        yield {
            "bench": f"nested CV, {question.name}",
            "peer": name,
            "metric": model["metric"],
            "value": round(model["value"], 5),
            "interval": [round(bound, 5) for bound in model["interval"]],
            "features": facts["features"],
            "settings": facts["settings"],
            "seconds": facts["seconds"],
            "against_l2": gap(gaps[BASELINE].get(name), 1),
            "ours_minus_this": gap(gaps[OURS].get(name), -1),
            "tenth_minus_this": gap(gaps[TENTH].get(name), -1),
            "rows": len(truth),
            "all_features": features_in_use(question.matrix),
            "classes": len(question.matrix.classes),
            "note": question.note,
        }


def gap(test: dict[str, Any] | None, sign: int) -> dict[str, Any] | None:
    """A paired test as it is (sign 1) or the other way round (-1)."""
    if test is None:
        return None
    bounds = sorted(sign * bound for bound in test["interval"])
    return {
        "difference": round(sign * test["difference"], 5),
        "interval": [round(bound, 5) for bound in bounds],
        "p": round(test["p"], 5),
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(question: Question, only: Sequence[str], cache: Path) -> None:
    """Every method on one set of data; prints its lines."""
    found = {}
    for method in methods(question):
        if only and method.name not in only:
            continue
        if not peers.is_here(method.package):
            say(
                f"{method.package} is not installed, {method.name} is left out: pip install "
                "'.[bench]'"
            )
            continue
        found[method.name] = unit(question, method, cache)
    for result in lines(question, found):
        print(json.dumps(result), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="3,000 rows of one set of data")
    options.add_argument("--only", choices=QUESTIONS, help="one set of data")
    options.add_argument("--method", action="append", default=[], help="these methods alone")
    options.add_argument("--cache", type=Path, default=Path(__file__).parent / ".cache")
    given = options.parse_args()
    if given.quick:
        # Nothing is kept, so that a quick run always tries everything.
        with tempfile.TemporaryDirectory() as folder:
            run(c_sounded_k(3_000), given.method, Path(folder))
        return
    for name, question in QUESTIONS.items():
        if given.only not in (None, name):
            continue
        if name in ("ned-gum", "ppattach") and find(name) is None:
            say(f"{name} is not here: FEATLOOM_DATA does not name its folder")
            continue
        run(question(), given.method, given.cache)


if __name__ == "__main__":
    main()
