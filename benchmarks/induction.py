"""Induction against scipy, scikit-learn and fast-fisher: counting pairs, MI, Fisher's test.

``python benchmarks/induction.py [--quick] [--only NAME]``; FEATLOOM_DATA names the folder with the
corpora (without it the benches on ``ned-gum`` are left out, with a line on standard error).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
from generate import zipf_rows
from measure import Seconds, fastest, line, peak_megabytes, run_each
from scipy import sparse

from featloom.counts.evidence import ClassEvidence, Conditions, ResidualEvidence
from featloom.counts.memory import CountedMatrix, best_conjunctions, count_features
from featloom.scores import CountScore

ALL = Conditions(min_support=1, drop_equal=False)


def _paper_shape(quick: bool):
    """Rows in the shape of the paper's data: 46,273 × 50,455, 61 ones a row, 8.5 M pairs."""
    return (*zipf_rows(4_000 if quick else 46_273, 50_455, 61, exponent=1.4), 50_455)


def _locations():
    """ned-gum, or None where it is not on this machine."""
    from featloom.data.corpora import find
    from featloom.data.tasks.ready import load

    if find("ned-gum") is None:
        print("ned-gum is not here: FEATLOOM_DATA does not name its folder", file=sys.stderr)
        return None
    matrix = load("ned-gum")
    return matrix.indptr, matrix.indices, matrix.labels.astype(np.int64), matrix.shape[1]


def _all_pairs(
    indptr, indices, labels, n_features, *, score="fisher", limit=2000, threads=1, prune
):
    """Count and score all pairs, from raw rows to the best ones."""
    counts = count_features(indptr, indices, n_features, labels, 2)
    measure = CountScore.named(score)
    evidence = ClassEvidence(labels, counts.class_totals, measure)
    bounds = np.full(n_features, np.inf)
    if prune:
        bounds = measure.bounds(counts.n_rows, counts.class_totals, counts.counts, 1)
    matrix = CountedMatrix.prepare(indptr, indices, n_features)
    return best_conjunctions(
        matrix, evidence, conditions=ALL, bounds=bounds, limit=limit, threads=threads
    )


def _pairs(name: str, data, times: int) -> list[dict]:
    indptr, indices, _, n_features = data
    X = sparse.csr_matrix(
        (np.ones(len(indices), np.int32), indices, indptr), shape=(len(indptr) - 1, n_features)
    )
    results, ours = [], {}
    for threads, prune in ((1, False), (2, False), (1, True), (2, True)):
        ours[threads, prune] = fastest(
            lambda t=threads, p=prune: _all_pairs(*data, threads=t, prune=p), times
        )
    memory = peak_megabytes()  # before the peer takes its own
    theirs = fastest(lambda: X.T @ X, times)
    pairs = (theirs.value.nnz - int((np.bincount(indices, minlength=n_features) > 0).sum())) // 2
    reference, tally = ours[1, False].value
    for (threads, prune), seconds in ours.items():
        found, here = seconds.value
        same = bool(
            (found.parts == reference.parts).all() and (found.scores == reference.scores).all()
        )
        results.append(
            line(
                f"all pairs of {name}, exact Fisher, {threads} thread{'s' * (threads > 1)}"
                + (", pruned by bounds" if prune else ""),
                "scipy X.T @ X (totals only)",
                seconds,
                theirs,
                same and int(tally[0]) == pairs,
                peak_mb=round(memory),
                pairs_scored=int(here[0]),
                distinct_pairs=pairs,
            )
        )
    return results


def pairs_of_paper_shape(quick: bool) -> list[dict]:
    return _pairs("the paper's shape", _paper_shape(quick), 2 if quick else 5)


def pairs_of_locations(quick: bool) -> list[dict]:
    data = _locations()
    return [] if data is None else _pairs("ned-gum", data, 2 if quick else 5)


def mutual_information(quick: bool) -> list[dict]:
    from sklearn.feature_selection import mutual_info_classif

    data = _locations() or _paper_shape(quick)
    indptr, indices, labels, n_features = data

    def ours():
        counts = count_features(indptr, indices, n_features, labels, 2)
        return CountScore.named("mi", "max").of(counts.n_rows, counts.class_totals, counts.counts)

    seconds = fastest(ours, 20)
    X = sparse.csr_matrix(
        (np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_features)
    )
    some = np.random.default_rng(0).choice(n_features, 40 if quick else 400, replace=False)
    part = X[:, some].tocsc()
    theirs = fastest(lambda: mutual_info_classif(part, labels, discrete_features=True), 1)
    scale = n_features / len(some)
    gap = float(np.abs(theirs.value - seconds.value[some]).max())
    whole = Seconds(theirs.wall * scale, theirs.user * scale, None)
    return [
        line(
            "MI of all atomic features",
            f"scikit-learn mutual_info_classif ({len(some)} columns, scaled up)",
            seconds,
            whole,
            gap < 1e-12,
            largest_difference=gap,
        )
    ]


def fisher(quick: bool) -> list[dict]:
    from featloom.kernels.association import FISHER, SUM, log_factorials, score_features

    data = _locations() or _paper_shape(quick)
    indptr, indices, labels, n_features = data
    counts = count_features(indptr, indices, n_features, labels, 2)
    n_rows, totals = counts.n_rows, counts.class_totals
    table = log_factorials(n_rows)
    seconds = fastest(
        lambda: score_features(FISHER, SUM, 0, n_rows, totals, counts.counts, table), 20
    )
    results = []
    try:
        from fast_fisher.fast_fisher_cython import fisher_exact
    except ImportError:
        print("fast-fisher is not installed: pip install '.[bench]'", file=sys.stderr)
        return results
    some = counts.counts[: 5_000 if quick else n_features]
    tables = [(int(b), int(a), int(totals[1] - b), int(totals[0] - a)) for a, b in some.tolist()]
    theirs = fastest(lambda: [fisher_exact(*t, "two-sided") for t in tables], 5)
    scale = n_features / len(tables)
    p = np.exp(-seconds.value[: len(tables)] / 2)  # two classes: the sum is twice one score
    given = np.array([float(value) for value in theirs.value])
    visible = given > 1e-250
    close = np.allclose(p[visible], given[visible], rtol=1e-6)
    underflow = int((given == 0).sum())
    results.append(
        line(
            "Fisher's exact test, a table",
            "fast-fisher (called from Python)",
            seconds,
            Seconds(theirs.wall * scale, theirs.user * scale, None),
            bool(close),
            ours_ns_a_table=round(1e9 * seconds.wall / n_features, 1),
            peer_ns_a_table=round(1e9 * theirs.wall / len(tables), 1),
            peer_underflows=underflow,
            ours_underflows=int(np.isinf(seconds.value).sum()),
        )
    )
    return results


def residual_gain(quick: bool) -> list[dict]:
    data = _locations()
    if data is None:
        return []
    indptr, indices, labels, n_features = data
    from featloom.learners.linear import logistic_regression

    X = sparse.csr_matrix(
        (np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_features)
    )
    chances = logistic_regression().fit(X, labels).predict_proba(X)
    evidence = ResidualEvidence.from_probabilities(labels, chances)
    matrix = CountedMatrix.prepare(indptr, indices, n_features)
    unbounded = np.full(n_features, np.inf)
    counts = count_features(indptr, indices, n_features, labels, 2)
    by_fisher = ClassEvidence(labels, counts.class_totals, CountScore.named("fisher"))

    def walk(brought):
        return best_conjunctions(matrix, brought, conditions=ALL, bounds=unbounded, limit=2000)

    gain, exact = fastest(lambda: walk(evidence)), fastest(lambda: walk(by_fisher))
    return [
        line(
            "residual gain of all pairs of ned-gum, 1 thread",
            "our Fisher of the same pairs",
            gain,
            exact,
            int(gain.value[1][0]) == int(exact.value[1][0]),
            times_the_cost=round(gain.wall / exact.wall, 2),
        )
    ]


def paper_grid(quick: bool) -> list[dict]:
    """The paper's 55 cells in 5 folds, naive Bayes with six settings, two processes."""
    import tempfile
    from pathlib import Path

    from sklearn.naive_bayes import BernoulliNB, MultinomialNB

    from featloom.data.corpora import find
    from featloom.data.tasks.ready import load
    from featloom.methods.induction import ConjunctionInducer, ConjunctionSearchCV
    from featloom.search import Journal

    if find("ned-gum") is None:
        return []
    train = load("ned-gum", "train")
    search = ConjunctionSearchCV(
        {"multinomial": MultinomialNB(), "Bernoulli": BernoulliNB(binarize=None)},
        inducer=ConjunctionInducer(preset="paper", score="mi"),
        grid={"keep": [0.001, 0.01], "partners": [0.001, 0.01]} if quick else None,
        param_grid={"alpha": [0.01, 0.1, 1.0]},
        n_jobs=2,
    )
    with tempfile.TemporaryDirectory() as folder:
        wall, user = time.perf_counter(), _user_of_all()
        search.set_params(journal=Path(folder) / "grid.journal").fit(train, train.known_labels)
        seconds = Seconds(time.perf_counter() - wall, _user_of_all() - user, None)
        begun = time.perf_counter()
        with Journal(Path(folder) / "again.journal", data="again", search={}) as journal:
            for e in search.history_:
                journal.append(e.candidate, e.result, seconds=e.seconds, elapsed=e.elapsed)
        share = (time.perf_counter() - begun) / seconds.wall
    return [
        line(
            "the paper's grid on ned-gum, one score, naive Bayes, 2 processes, cold",
            "none",
            seconds,
            None,
            len(search.history_) == 5 * (1 + len(search._cells(train.shape[1]))),
            evaluations=len(search.history_),
            journal_share=round(share, 5),
        )
    ]


def _user_of_all() -> float:
    """User CPU of this process and of the workers that have ended."""
    from featloom.pool import end_idle_workers

    end_idle_workers()
    times = os.times()
    return times.user + times.children_user


def million_by_million(quick: bool) -> list[dict]:
    n = 20_000 if quick else 1_000_000
    indptr, indices, labels = zipf_rows(n, n, 39, exponent=1.0)
    wall, user = time.perf_counter(), os.times().user
    found, tally = _all_pairs(indptr, indices, labels, n, threads=2, prune=False)
    seconds = Seconds(time.perf_counter() - wall, os.times().user - user, None)
    return [
        line(
            f"all pairs of {n:,} × {n:,}, 39 ones a row, exact Fisher, 2 threads, cold",
            "none",
            seconds,
            None,
            len(found) == 2000,
            distinct_pairs=int(tally[0]),
        )
    ]


def help_text(quick: bool) -> list[dict]:
    featloom = [sys.executable, "-m", "featloom.cli.main", "--help"]
    seconds = fastest(lambda: subprocess.run(featloom, check=True, capture_output=True), 5)
    return [line("featloom --help", "none", seconds, None, True)]


if __name__ == "__main__":
    run_each(
        {
            "pairs-paper": pairs_of_paper_shape,
            "pairs-ned": pairs_of_locations,
            "mi": mutual_information,
            "fisher": fisher,
            "residual": residual_gain,
            "grid": paper_grid,
            "million": million_by_million,
            "help": help_text,
        }
    )
