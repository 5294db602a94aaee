"""Selection of features for many targets at once, against Lasso solvers, matching pursuit, abess.

``python benchmarks/transfer.py [--quick] [--only NAME]``; FEATLOOM_DATA names the folder with the
corpora, for the bench on verbs.  The others are made up: 1,000 rows of 10,000 binary features, 200
of them in each row, and 500 targets, each the sum of 5 features with weights of +1 or -1 and noise.
All features are candidates for all targets.

Ours chooses by the risk inflation criterion and is told nothing.  A Lasso solver is told, for each
target, the penalty at which it keeps as many features as ours (the path that finds it is not
counted), matching pursuit and abess are told that number: a user would have to search for both.
Slow peers get few of the targets; seconds are those of one target.  F1 is that of the true features
among the chosen.  A peer that is not installed is left out, with a line on standard error.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from measure import Seconds, fastest, line, run_each
from scipy import sparse

from featloom.learners.stepwise import MDLSelector, feature_costs, select_features

ROWS, FEATURES, ONES, TARGETS, TRUE = 1_000, 10_000, 200, 500, 5
NOISE = 0.5
# How many targets a peer gets, and how often it is measured.
FEW = {"celer": (50, 3), "skglm": (50, 3), "sklearn": (20, 3), "omp": (5, 1), "abess": (2, 1)}
WORDS = {
    "celer": "celer Lasso",
    "skglm": "skglm Lasso",
    "sklearn": "scikit-learn Lasso",
    "omp": "scikit-learn OMP",
    "abess": "abess",
}
VERB_COPIES, FOLDS, BITS = 4, 10, 6.0


class Made(NamedTuple):
    """Rows, a column of numbers for each target, and the true features of each."""

    X: sparse.csr_matrix
    targets: np.ndarray
    true: list[set[int]]


@functools.cache
def _made() -> Made:
    rng = np.random.default_rng(0)
    indices = np.concatenate([rng.choice(FEATURES, ONES, replace=False) for _ in range(ROWS)])
    indptr = np.arange(0, ROWS * ONES + 1, ONES)
    X = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(ROWS, FEATURES))
    X.sort_indices()
    weights = np.zeros((FEATURES, TARGETS))
    true = [rng.choice(FEATURES, TRUE, replace=False) for _ in range(TARGETS)]
    for k, chosen in enumerate(true):
        weights[chosen, k] = rng.choice((-1.0, 1.0), TRUE)
    targets = X @ weights + rng.normal(0, NOISE, (ROWS, TARGETS))
    return Made(X, targets, [set(chosen.tolist()) for chosen in true])


def _ours(n: int, threads: int = 1) -> list[set[int]]:
    made = _made()
    costs = feature_costs("ric", [""] * FEATURES, FEATURES)
    found = select_features(made.X, made.targets[:, :n], costs, threads=threads)
    return [set(selection.features.tolist()) for selection in found]


def _f1(chosen: list[set[int]]) -> float:
    """Of all targets together."""
    true = _made().true[: len(chosen)]
    right = sum(len(a & b) for a, b in zip(chosen, true, strict=True))
    return 2 * right / (sum(map(len, chosen)) + sum(map(len, true)))


def _a_target(found: Seconds, n: int) -> Seconds:
    return Seconds(found.wall / n, found.user / n, found.value)


def _threads(quick: bool) -> list[dict]:
    """All targets on one thread, and on two: the same features."""
    n = 50 if quick else TARGETS
    one, two = (fastest(lambda t=t: _ours(n, t)) for t in (1, 2))
    name = f"{n} targets of {FEATURES:,} features, {ROWS:,} rows"
    sizes = {"features": round(float(np.mean([len(c) for c in one.value])), 2)}
    told = {"f1": round(_f1(one.value), 4), "targets": n, **sizes}
    return [
        line(f"{name}, 1 thread", "–", one, None, True, **told),
        line(f"{name}, 2 threads", "our 1 thread", two, one, one.value == two.value, **told),
    ]


def _against(peer: str, quick: bool) -> list[dict]:
    """Seconds of one target, ours and the peer's."""
    n_ours = 50 if quick else TARGETS
    n, times = (2, 1) if quick else FEW[peer]
    try:
        select = PEERS[peer]()
    except ImportError as error:
        print(f"{WORDS[peer]} is not measured: {error}", file=sys.stderr)
        return []
    ours = fastest(lambda: _ours(n_ours))
    told = _told(peer, ours.value[:n])

    def work() -> list[set[int]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [select(_made().targets[:, k].copy(), told[k]) for k in range(n)]

    theirs = fastest(work, times)
    more = {"f1": round(_f1(ours.value[:n]), 4), "peer_f1": round(_f1(theirs.value), 4)}
    more |= {"targets": n_ours, "peer_targets": n}
    more["features"] = round(float(np.mean([len(c) for c in ours.value])), 2)
    more["peer_features"] = round(float(np.mean([len(c) for c in theirs.value])), 2)
    name = f"one target of {FEATURES:,} features, {ROWS:,} rows"
    # Other criteria choose other features, so there is nothing to agree.
    pair = _a_target(ours, n_ours), _a_target(theirs, n)
    return [line(name, WORDS[peer], *pair, True, **more)]


def _told(peer: str, chosen: list[set[int]]) -> list[float]:
    """For each target what the peer is told: a penalty, or a number of features."""
    if peer in ("omp", "abess"):
        return [max(len(one), 1) for one in chosen]
    return [_penalty(k, len(one)) for k, one in enumerate(chosen)]


def _penalty(k: int, n_features: int) -> float:
    """The largest penalty of a path at which Lasso keeps so many features, or nearly so many."""
    from sklearn.linear_model import lasso_path

    X, y = _columns(), _made().targets[:, k]
    centred = y - y.mean()
    largest = np.abs(X.T @ centred).max() / len(y)
    alphas = largest * np.geomspace(0.95, 0.3, 12)
    alphas, weights, _ = lasso_path(X, centred, alphas=alphas, tol=1e-3)
    kept = (weights != 0).sum(axis=0)
    return float(alphas[np.argmin(np.abs(kept - n_features))])


@functools.cache
def _columns() -> sparse.csc_matrix:
    X = _made().X.tocsc()
    X.sort_indices()
    return X


Select = Callable[[np.ndarray, float], set[int]]


def _nonzero(weights: Any) -> set[int]:
    return set(np.flatnonzero(np.asarray(weights).ravel()).tolist())


def _celer() -> Select:
    from celer import Lasso

    return lambda y, penalty: _nonzero(Lasso(alpha=penalty).fit(_columns(), y).coef_)


def _skglm() -> Select:
    from skglm import Lasso

    return lambda y, penalty: _nonzero(Lasso(alpha=penalty).fit(_columns(), y).coef_)


def _sklearn() -> Select:
    from sklearn.linear_model import Lasso

    return lambda y, penalty: _nonzero(Lasso(alpha=penalty).fit(_columns(), y).coef_)


def _omp() -> Select:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    dense = _made().X.toarray(order="F")  # it takes nothing else

    def select(y: np.ndarray, n: float) -> set[int]:
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=int(n), precompute=False)
        return _nonzero(model.fit(dense, y).coef_)

    return select


def _abess() -> Select:
    from abess import LinearRegression

    dense = _made().X.toarray()

    def select(y: np.ndarray, n: float) -> set[int]:
        return _nonzero(LinearRegression(support_size=int(n)).fit(dense, y).coef_)

    return select


PEERS: dict[str, Callable[[], Select]] = {
    "celer": _celer,
    "skglm": _skglm,
    "sklearn": _sklearn,
    "omp": _omp,
    "abess": _abess,
}


def _verbs(quick: bool) -> list[dict]:
    """Tasks as they come: the 50 verbs four times, ten folds each, selection and answers."""
    from featloom.data.corpora import locate_file
    from featloom.data.readers.npz import load_arrays
    from featloom.data.tasks.ready import load
    from featloom.evaluation.folds import make_folds, splits

    matrix = load("wsd-verbs")
    verb = load_arrays(locate_file("wsd-verbs", "ewt.npz"))["verb"]
    X, labels = matrix.to_csr(), matrix.known_labels
    work_of = []
    for copy in range(1 if quick else VERB_COPIES):
        for one in np.unique(verb)[: 5 if quick else None]:
            rows = np.flatnonzero(verb == one)
            part = X[rows]
            part = part[:, np.unique(part.indices)]
            fold_of = make_folds(labels[rows], n_folds=FOLDS, seed=copy, allow_rare=True)
            work_of.append((part, labels[rows], fold_of))

    def work() -> float:
        right = n = 0
        for part, y, fold_of in work_of:
            for train, test in splits(fold_of):
                model = MDLSelector(cost=BITS).fit(part[train], y[train])
                right += int((model.predict(part[test]) == y[test]).sum())
                n += len(test)
        return right / n

    ours = fastest(work, times=1)
    n_senses = sum(len(np.unique(y)) for _, y, _ in work_of)
    told = {"accuracy": round(ours.value, 4), "targets": FOLDS * n_senses}
    name = f"{len(work_of)} tasks × {FOLDS} folds, verbs, fitted and answered, 1 thread"
    return [line(name, "–", ours, None, True, **told)]


if __name__ == "__main__":
    benches: dict[str, Callable[[bool], list[dict]]] = {"threads": _threads}
    benches |= {peer: functools.partial(_against, peer) for peer in PEERS}
    if "FEATLOOM_DATA" in os.environ:
        benches["verbs"] = _verbs
    else:
        print("FEATLOOM_DATA is not set: the verbs are not measured", file=sys.stderr)
    run_each(benches)
