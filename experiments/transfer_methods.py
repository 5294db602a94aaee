"""The methods of the experiment on transfer, and one trial of one of them.

Three kinds of answers stand beside each other: what the paper proposes and compares with, models
that know nothing of other tasks, and a prior of relevance learned from the other tasks, given to
a linear model or to a selection.  Beside each that transfers stands its control: the same model
without a prior, the same prior shuffled over the features, the same prior without clusters.

Whatever is tuned is tuned by cross-validation inside the training rows.  A prior is learned from
the training rows of the other tasks.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.transfer_models import (
    PolynomialSVM,
    PriorsOfOthers,
    TunedStructure,
    features_used,
)
from experiments.transfer_tasks import Tasks, few_rows
from featloom.errors import InputError
from featloom.methods.transfer import MultiTask, RelevancePrior, TransFeat

ROUNDS = 2  # of selection, as MultiTask learns its prior
LEAST_FOR_THREE_FOLDS = 6  # rows a task: with fewer, settings are chosen by two folds


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
    prior: str | None = None
    setting: str = ""
    published: tuple[float, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """All parameters of the model, as text: an entry holds for these."""
        model = self.make(RelevancePrior(rounds=ROUNDS) if self.prior else None, 3)
        return {name: repr(value) for name, value in sorted(model.get_params().items())}


def _selection(prior: Any, n_folds: int) -> MultiTask:
    from featloom.learners.stepwise import MDLSelector

    return MultiTask(MDLSelector(), prior=prior, use="cost", strengths=None, n_folds=n_folds)


def _printed(**settings: Any) -> Callable[[Any, int], TransFeat]:
    """TransFeat to the letter: a class counts against every feature that it did not select, and
    only the one class that asks is left out."""
    return lambda _, __: TransFeat(exposure=False, hold_out="class", **settings)


def _polynomial_svm(_: Any, n_folds: int) -> MultiTask:
    return MultiTask(
        PolynomialSVM(),
        prior=None,
        strengths=(1.0, 10.0, 100.0),
        choices={"degree": (1, 2, 3)},
        n_folds=n_folds,
    )


def _baseline(name: str) -> Callable[[Any, int], MultiTask]:
    def make(_: Any, n_folds: int) -> MultiTask:
        from featloom.methods.transfer.baselines import BASELINES

        return BASELINES[name](n_folds=n_folds)

    return make


def _recommended(prior: Any, n_folds: int) -> MultiTask:
    return MultiTask(prior=prior, n_folds=n_folds)


_RIVALS = (
    "svm", "evidence", "shuffled", "poly", "l1", "l2", "aso", "flat", "mdl", "transfeat", "most",
)  # fmt: skip
METHODS: dict[str, Method] = {
    "transfeat": Method(
        "TransFeat", "paper", _printed(), ("mdl", "alone", "poly", "flat"),
        setting="semantic + syntactic", published=(85.75,),
    ),
    "transfeat-semantic": Method(
        "TransFeat, semantic", "paper", _printed(settings="semantic"), ("mdl", "alone"),
        setting="semantic", published=(85.11,),
    ),
    "transfeat-syntactic": Method(
        "TransFeat, syntactic", "paper", _printed(settings="syntactic"), ("mdl", "alone"),
        setting="syntactic", published=(85.37,),
    ),
    "alone": Method("TransFeat without clusters", "control", _printed(clusters=False), ("mdl",)),
    "mdl": Method(
        "MDL selection", "baseline", lambda _, n: _selection(None, n),
        published=(83.50, 83.09, 83.34),
    ),
    "poly": Method(
        "polynomial SVM", "baseline", _polynomial_svm, ("mdl",), published=(83.77, 83.44, 83.57)
    ),
    "aso": Method(
        "alternating structure (Ando)", "baseline", lambda _, __: TunedStructure(), ("svm",),
        published=(85.94, 85.00, 85.51),
    ),
    "most": Method(
        "most frequent class", "baseline", _baseline("most frequent class"),
        published=(76.59, 77.14, 77.24),
    ),
    "evidence": Method(
        "linear SVM on own evidence", "baseline", _baseline("own-evidence SVM"), ("svm",)
    ),
    "svm": Method("linear SVM", "baseline", _baseline("linear SVM"), ("mdl",)),
    "l1": Method("L1 logistic regression", "baseline", _baseline("L1 logistic regression"),
                 ("mdl",)),
    "l2": Method("L2 logistic regression", "baseline", _baseline("L2 logistic regression"),
                 ("mdl",)),
    "flat": Method("MDL selection, flat cost tuned", "control", _baseline("flat-cost selection"),
                   ("mdl",)),
    "prior-mdl": Method(
        "relevance prior + MDL selection", "ours", _selection, ("flat", "mdl", "transfeat"),
        prior="learned",
    ),
    "ours": Method(
        "relevance prior + linear SVM", "ours", _recommended, _RIVALS, prior="learned"
    ),
    "shuffled": Method(
        "shuffled prior + linear SVM", "control", _recommended, ("svm",), prior="shuffled"
    ),
}  # fmt: skip
CURVE = ("ours", "svm", "evidence", "l1", "l2", "flat", "prior-mdl", "shuffled")
COLD = ("ours", "prior-mdl", "shuffled")  # the others know nothing of other tasks
LETTER_METHODS = ("ours", "svm", "evidence", "l1", "flat", "shuffled")


class TransferTrials:
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
        prior, seconds = self._prior_for(method, asked, train)
        model = method.make(prior, 2 if few else 3)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # A weak penalty may leave a solver at its last step, and a task of five rows may have
            # a class a row: the right answers tell.
            warnings.simplefilter("ignore")
            answers = self._answers(model, train, test)
        seconds += time.perf_counter() - begin
        parts = self.data.by_task(np.arange(len(self.data)))
        right = np.zeros(len(self.data), dtype=np.int64)
        right[test] = answers == self.data.label[test]
        tested = np.zeros(len(self.data), dtype=np.int64)
        tested[test] = 1
        return {
            "score": float(right.sum() / len(test)),
            "right": [int(right[part].sum()) for part in parts.values()],
            "rows": [int(tested[part].sum()) for part in parts.values()],
            "features": features_used(model),
            "setting": {k: str(v) for k, v in getattr(model, "setting_", {}).items()},
            "seconds": seconds,
        }

    def split(self, asked: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of a candidate."""
        protocol = asked["protocol"]
        if protocol in ("folds", "documents"):
            inside = self.folds[protocol] == asked["fold"]
            return np.flatnonzero(~inside), np.flatnonzero(inside)
        train, test = self._whole(asked)
        return self._cut(train, asked["rows"], asked["seed"]), test

    def _whole(self, asked: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows before any are left out."""
        if self.data.is_test is not None:
            inside = self.data.is_test
        else:
            folds = self.folds["small"]
            inside = folds == asked["seed"] % (int(folds.max()) + 1)
        return np.flatnonzero(~inside), np.flatnonzero(inside)

    def _cut(self, train: np.ndarray, size: int | None, seed: int) -> np.ndarray:
        if size is None:
            return train
        parts = self.data.by_task(train)
        return np.concatenate(
            [
                rows[few_rows(self.data.label[rows], size, seed, number)]
                for number, rows in enumerate(parts.values())
            ]
        )

    def _prior_for(
        self, method: Method, asked: Mapping[str, Any], train: np.ndarray
    ) -> tuple[Any, float]:
        """The prior of a trial and the seconds that it took; trials of one fold share it."""
        if method.prior is None:
            return None, 0.0
        about = {k: v for k, v in asked.items() if k in ("protocol", "fold", "rows", "seed")}
        if "fold" in about:
            about.pop("seed", None)  # of the shuffle
        if asked["protocol"] == "cold":
            about.pop("rows")  # the other tasks have all of theirs
        if self._prior is None or self._prior[0] != about:
            begin = time.perf_counter()
            if asked["protocol"] == "cold":
                learned: Any = self._priors_of_others(self._whole(asked)[0])
            else:
                learned = self._learned(self._mapping(train))
            self._prior = about, learned, time.perf_counter() - begin
        _, learned, seconds = self._prior
        if method.prior == "shuffled":
            learned = _shuffled(learned, asked["seed"])
        return learned, seconds

    def _learned(self, tasks: Mapping[Hashable, Any]) -> RelevancePrior:
        return RelevancePrior(feature_names=self.data.names, rounds=ROUNDS).fit(tasks)

    def _priors_of_others(self, train: np.ndarray) -> PriorsOfOthers:
        """A prior for each task, learned without it: after two rounds, subtracting is not enough
        to forget the rows that it is not to have seen."""
        tasks = self._mapping(train)
        return PriorsOfOthers(
            {
                name: self._learned({other: pair for other, pair in tasks.items() if other != name})
                for name in tasks
            }
        )

    def _mapping(self, rows: np.ndarray) -> dict[Hashable, tuple[Any, np.ndarray]]:
        parts = self.data.by_task(rows)
        return {name: (self.data.X[part], self.data.label[part]) for name, part in parts.items()}

    def _answers(self, model: Any, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Answers to the test rows; those of a task without training rows stay empty: wrong."""
        data = self.data
        answers = np.full(len(test), "", dtype=object)
        known = np.isin(data.task[test], data.task[train])
        if isinstance(model, MultiTask):
            model.set_params(feature_names=data.names)
            model.fit(data.X[train], data.label[train], tasks=data.task[train])
            rows = test[known]
            answers[known] = model.predict(data.X[rows], tasks=data.task[rows])
            return answers
        model.set_params(feature_names=data.names)
        model.fit(self._mapping(train))
        for name in np.unique(data.task[test[known]]).tolist():
            places = np.flatnonzero(data.task[test] == name)
            answers[places] = model.predict(name, data.X[test[places]])
        return answers


def candidate_of(key: str, **asked: Any) -> dict[str, Any]:
    """A candidate of the journal: what is asked of a method with its settings."""
    from featloom.search import fingerprint

    if key not in METHODS:
        raise InputError(f"no method {key!r}; there are {', '.join(METHODS)}")
    return {"method": key, **asked, "settings": fingerprint(METHODS[key].settings)}


def _shuffled(prior: Any, seed: int) -> Any:
    if isinstance(prior, PriorsOfOthers):
        return PriorsOfOthers({name: _shuffled(one, seed) for name, one in prior.priors.items()})
    # A copy keeps what was learned, which a clone would forget.
    return copy.copy(prior).set_params(shuffle=seed)
