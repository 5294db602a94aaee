"""The methods that are compared: induction and its peers, all on the same rows.

Each function takes rows, which of them to learn from and which to judge, and a list of settings,
and yields an :class:`Outcome` for each setting.  What settings have in common is computed once: a
second pass goes on from the first, and fewer rounds of boosting are a part of more.  One thread,
one seed, classes by the highest probability (one half, where there are two).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.learners.linear import logistic_regression
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.search import FoldFeatures

Setting = dict[str, Any]
# Weights of Vowpal Wabbit: 2 to this; 5 M distinct features and pairs of ned-gum seldom collide.
WEIGHT_BITS = 24


@dataclass(frozen=True)
class Outcome:
    """Predictions under one setting, and (asked for afterwards) how many features it uses."""

    setting: Setting
    given: np.ndarray
    features: Callable[[], int | None]


def is_here(package: str | None) -> bool:
    """Whether a peer's package is installed."""
    return package is None or find_spec(package) is not None


@lru_cache(maxsize=1)
def compiled() -> None:
    """Load what numba has compiled, or compile it, before a clock runs: once in each process."""
    rows = [["c", "a", "t"], ["c", "e", "t"], ["s", "a", "x"], ["s", "e", "x"]] * 5
    for inducer in (
        ConjunctionInducer(max_length=3, final_keep=5, final_atomic=5),
        ConjunctionInducer(preset="paper", keep=1.0, partners=2),
    ):
        inducer.fit_transform(rows, ["K", "S", "S", "Z"] * 5)


def no_count() -> None:
    """Trees have no list of features."""
    return None


def features_in_use(matrix: FeatureMatrix) -> int:
    """Atomic features that some row has."""
    return len(np.unique(matrix.indices))


def linear(
    matrix: FeatureMatrix, train: np.ndarray, test: np.ndarray, settings: Sequence[Setting]
) -> Iterator[Outcome]:
    """The baseline."""
    X, labels = matrix.to_csr(), matrix.known_labels
    for setting in settings:
        model = logistic_regression(setting["C"]).fit(X[train], labels[train])
        yield Outcome(setting, model.predict(X[test]), lambda: features_in_use(matrix.take(train)))


def published(
    matrix: FeatureMatrix, train: np.ndarray, test: np.ndarray, settings: Sequence[Setting]
) -> Iterator[Outcome]:
    """The procedure of the FITSI paper, with ten epochs of the perceptron."""
    from sklearn.linear_model import SGDClassifier

    labels = matrix.known_labels
    paper = ConjunctionInducer(preset="paper", score="mi")
    features = FoldFeatures(matrix, labels, train, test, paper, settings)
    for setting in settings:
        X, Z = features.cell(setting)
        model = SGDClassifier(
            loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, tol=None,
            max_iter=10, random_state=0,
        ).fit(X, labels[train])  # fmt: skip
        yield Outcome(setting, model.predict(Z), partial(int, X.shape[1]))


def induced(
    matrix: FeatureMatrix, train: np.ndarray, test: np.ndarray, settings: Sequence[Setting]
) -> Iterator[Outcome]:
    """Conjunctions by residual gain, then logistic regression on them and the atomic features.

    Fewer pairs, and fewer atomic features, are a part of more, so they are found once.  Triples
    grow from the pairs that were kept, so there each number is induced by itself.
    """
    learn, judge = matrix.take(train), matrix.take(test)
    longest = settings[0].get("max_length", 2)
    numbers = sorted({setting["final_keep"] for setting in settings})
    for together in [numbers] if longest == 2 else [[number] for number in numbers]:
        alike = [setting for setting in settings if setting["final_keep"] in together]
        atomics = [s["final_atomic"] for s in alike if "final_atomic" in s]
        inducer = ConjunctionInducer(
            max_length=longest,
            final_keep=max(together),
            final_atomic=max(atomics, default=None),
        ).fit(learn, learn.known_labels)
        X, Z = inducer.transform(learn), inducer.transform(judge)
        for setting in alike:
            columns = best_columns(inducer, setting.get("final_atomic"), setting["final_keep"])
            model = logistic_regression(setting["C"]).fit(X[:, columns], learn.known_labels)
            given = model.predict(Z[:, columns])
            yield Outcome(setting, given, partial(int, len(columns)))


def best_columns(inducer: ConjunctionInducer, atomics: int | None, joined: int) -> np.ndarray:
    """The columns of the best atomic features and of the best conjunctions."""
    is_atomic = (inducer.parts_[:, 1:] < 0).all(axis=1)
    kept = np.flatnonzero(is_atomic)[:atomics], np.flatnonzero(~is_atomic)[:joined]
    return np.concatenate(kept)


def vowpal_wabbit(
    matrix: FeatureMatrix,
    train: np.ndarray,
    test: np.ndarray,
    settings: Sequence[Setting],
    *,
    pairs: bool,
) -> Iterator[Outcome]:
    """Online logistic regression on atomic features or, with ``-q aa``, on all pairs as well."""
    from vowpalwabbit import Workspace

    learn, judge = matrix.take(train), matrix.take(test)
    labels, n_classes = learn.known_labels, len(learn.classes)
    kind = "--link logistic" if n_classes == 2 else f"--oaa {n_classes}"
    kind += " -q aa" if pairs else ""
    names = ("-1", "1") if n_classes == 2 else tuple(str(c + 1) for c in range(n_classes))
    rows = [f"{names[c]} {text}" for c, text in zip(labels, _lines(learn), strict=True)]
    unknown = _lines(judge)
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    count = (lambda: _atoms_and_pairs(learn)) if pairs else (lambda: features_in_use(learn))
    for rate in _values(settings, "rate"):
        model = Workspace(f"{kind} --loss_function logistic -b {WEIGHT_BITS} -l {rate}", quiet=True)
        alike = {s["passes"]: s for s in settings if s["rate"] == rate}
        for number in range(1, max(alike) + 1):
            for row in order:
                model.learn(rows[row])
            if number in alike:
                answers = np.array([model.predict(text) for text in unknown])
                given = answers > 0.5 if n_classes == 2 else answers - 1
                yield Outcome(alike[number], given.astype(np.int64), count)
        model.finish()


def xgboost(
    matrix: FeatureMatrix, train: np.ndarray, test: np.ndarray, settings: Sequence[Setting]
) -> Iterator[Outcome]:
    """Boosted trees of a given depth."""
    import xgboost

    learn, judge = matrix.take(train), matrix.take(test)
    present, codes = np.unique(learn.known_labels, return_inverse=True)
    # A leaf needs Hessians that add up to 1, of at most a quarter a row (half, with more classes):
    # features of fewer rows can never be split on, and without them it is several times faster.
    usable = np.bincount(learn.indices, minlength=learn.shape[1]) >= (4 if len(present) == 2 else 2)
    rows = xgboost.DMatrix(learn.to_csr(np.float32)[:, usable], codes)
    unknown = xgboost.DMatrix(judge.to_csr(np.float32)[:, usable])
    fixed: Setting = {"eta": 0.1, "tree_method": "hist", "nthread": 1, "seed": 0}
    if len(present) == 2:
        fixed["objective"] = "binary:logistic"
    else:
        fixed |= {"objective": "multi:softprob", "num_class": len(present)}
    for depth in _values(settings, "depth"):
        alike = {s["rounds"]: s for s in settings if s["depth"] == depth}
        model = xgboost.train({**fixed, "max_depth": depth}, rows, max(alike))
        for rounds, setting in alike.items():
            chances = model.predict(unknown, iteration_range=(0, rounds))
            yield Outcome(setting, present[_likeliest(chances)], no_count)


def lightgbm(
    matrix: FeatureMatrix, train: np.ndarray, test: np.ndarray, settings: Sequence[Setting]
) -> Iterator[Outcome]:
    """Boosted trees of a given number of leaves."""
    import lightgbm

    learn, judge = matrix.take(train), matrix.take(test)
    present, codes = np.unique(learn.known_labels, return_inverse=True)
    unknown = judge.to_csr(np.float32)
    fixed: Setting = {"learning_rate": 0.1, "num_threads": 1, "seed": 0, "verbose": -1}
    if len(present) == 2:
        fixed["objective"] = "binary"
    else:
        fixed |= {"objective": "multiclass", "num_class": len(present)}
    for leaves in _values(settings, "leaves"):
        alike = {s["rounds"]: s for s in settings if s["leaves"] == leaves}
        rows = lightgbm.Dataset(learn.to_csr(np.float32), codes, params={"verbose": -1})
        model = lightgbm.train({**fixed, "num_leaves": leaves}, rows, max(alike))
        for rounds, setting in alike.items():
            chances = np.asarray(model.predict(unknown, num_iteration=rounds))
            yield Outcome(setting, present[_likeliest(chances)], no_count)


def plain_name(name: str) -> str:
    """A name that can be that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _values(settings: Sequence[Setting], name: str) -> list:
    """The values of a parameter over settings, in order, each once."""
    return list(dict.fromkeys(setting[name] for setting in settings))


def _lines(matrix: FeatureMatrix) -> list[str]:
    """Rows in Vowpal Wabbit's format, features named by their numbers."""
    bounds, indices = matrix.indptr.tolist(), matrix.indices.tolist()
    return ["|a " + " ".join(map(str, indices[start:stop])) for start, stop in pairwise(bounds)]


def _atoms_and_pairs(matrix: FeatureMatrix) -> int:
    X = matrix.to_csr(np.int32)
    n_atoms = features_in_use(matrix)
    return n_atoms + ((X.T @ X).nnz - n_atoms) // 2


def _likeliest(chances: np.ndarray) -> np.ndarray:
    """The class of each row from its probabilities, or from that of the second of two."""
    return chances.argmax(axis=1) if chances.ndim == 2 else (chances > 0.5).astype(np.int64)
