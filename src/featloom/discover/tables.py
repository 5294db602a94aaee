"""Tables: a row, its columns of symbols, its class.

Every contender is a plain scikit-learn pipeline: features, then a classifier.  Predictions are
judged by their probabilities.  These are calibrated by one number, found on rows that were not
learned from: a linear model's scores are multiplied by it (a temperature), a memory's votes are
mixed with so much of the class shares.  Outside models are judged as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from featloom.compare.baselines import baselines, yardsticks
from featloom.compare.questions import Judged, Question, tallied
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.discover.looks import table_warnings
from featloom.errors import InputError
from featloom.evaluation.metrics import accuracy_of_counts, f1_of_counts
from featloom.evaluation.probabilities import (
    auc,
    calibration_bins,
    confusion,
    expected_calibration_error,
    f1_at,
    row_briers,
    row_losses,
)
from featloom.evaluation.significance import (
    Comparison,
    Interval,
    bootstrap_interval,
    paired_bootstrap,
)
from featloom.evaluation.verdict import (
    area_interval,
    by_lot,
    mean_interval,
    paired_areas,
    paired_means,
    share_interval,
)
from featloom.formats.packing import packed, unpacked
from featloom.learners.pipelines import Rows, Table
from featloom.method import Contender, Unsuited
from featloom.methods import METHODS
from featloom.words import counted, no_such

JUDGES = ("log-loss", "AUC", "Brier score", "accuracy", "F1")
_MOST_SHOWN = 200
_STEPS = 200  # of a probability, in the counts by which a threshold is found
_MANY = 500  # groups, from which a mean is as good as normal
_RESAMPLES = 4_000  # of groups, where there are fewer


class TableQuestion(Question):
    """Which class does a row have?

    Parameters
    ----------
    data : rows with their classes; groups, where there are any, are never split.
    positive : class whose F1 counts; default the rarer of two.
    judge_by : one of :data:`JUDGES`, in any case of letters.
    balanced : whether every class weighs the same, however many rows it has.
    outside : the same rows with columns that only outside models can use; None: there are none.
    """

    kind = "table"
    unit = "rows"

    def __init__(
        self,
        data: Rows,
        positive: str | None = None,
        judge_by: str = "log-loss",
        balanced: bool = False,
        outside: NominalTable | None = None,
    ):
        self.data, self.outside = data, outside
        self.labels = data.known_labels
        self.classes = tuple(map(str, data.classes))
        self.balanced = balanced
        self.positive = self._positive(positive)
        self.judge_by = self._judge(judge_by)
        self.metric = self.judge_by
        if self.judge_by == "F1" and self.positive is not None:
            self.metric = f"F1 of {self.classes[self.positive]}"
        self.lower_is_better = self.judge_by in ("log-loss", "Brier score")
        n_columns = len(data.columns) if isinstance(data, NominalTable) else len(data.families)
        columns = f"{counted(n_columns, 'column')} of symbols"
        if isinstance(data, FeatureMatrix):
            columns = f"{data.shape[1]:,} binary features of {n_columns} families"
        self.words = f"a table: {len(data):,} rows, {columns}, {len(self.present)} classes"

    def _positive(self, asked: str | None) -> int | None:
        if asked is not None:
            if asked not in self.classes:
                raise InputError(no_such("class", asked, self.classes))
            return self.classes.index(asked)
        if len(self.present) != 2:
            return None
        sizes = np.bincount(self.labels, minlength=len(self.classes))
        return int(min(self.present.tolist(), key=lambda code: sizes[code]))

    def _judge(self, asked: str) -> str:
        for name in JUDGES:
            if asked.lower().replace("_", "-") in (name.lower(), name.lower().replace(" ", "-")):
                if name in ("AUC", "F1") and self.positive is None:
                    raise InputError(f"{name} is of one class; name it by --positive")
                return name
        raise InputError(f"judge_by is {asked!r}; it can be {', '.join(JUDGES)}")

    @cached_property
    def present(self) -> np.ndarray:
        """Codes of the classes that rows have."""
        return np.unique(self.labels)

    @cached_property
    def weight_of(self) -> np.ndarray:
        """What a row of each class weighs."""
        if not self.balanced:
            return np.ones(len(self.classes))
        sizes = np.bincount(self.labels, minlength=len(self.classes))
        return len(self.labels) / (len(self.present) * np.maximum(sizes, 1))

    def __len__(self) -> int:
        return len(self.data)

    @property
    def strata(self) -> np.ndarray:
        return self.labels

    @property
    def groups(self) -> np.ndarray | None:
        return self.data.groups

    def take(self, units: np.ndarray) -> Rows:
        return self.data.take(units)

    def take_for(self, contender: Contender, units: np.ndarray) -> Rows:
        if contender.role == "yardstick" and self.outside is not None:
            return self.outside.take(units)
        return self.take(units)

    # ── judging ──

    def judge(self, units: np.ndarray, data: Rows, fitted: Any, keep: bool = True) -> Judged:
        labels = self.labels[units]
        p = self._probabilities(fitted, data)
        details: dict[str, Any] = {}
        if fitted.calibrations and fitted.calibration is None:
            p, details["calibration"] = self._cross_calibrated(fitted, labels, p)
        rows = _Predicted.judged(labels, p, self.positive, fitted.threshold)
        details |= self._means(labels, rows)
        if self.positive is None:
            details["auc"] = auc(labels, p)
        else:
            details["auc"] = auc((labels == self.positive).astype(int), self._two(p))
        if self.positive is not None:
            counts = _by_step(labels == self.positive, p[:, self.positive])
            details["steps"] = packed(counts.ravel())
        score = self._score(details, labels, rows, fitted)
        details["ece"] = self._calibration_error(labels, p)
        return Judged(score, details, rows.packed() if keep else "")

    def _score(
        self, details: Mapping[str, Any], labels: np.ndarray, rows: _Predicted, fitted: Any
    ) -> float:
        if self.judge_by == "F1":
            if fitted.threshold is None:
                return best_step(unpacked(details["steps"]).reshape(-1, 2))[1]
            return float(f1_of_counts(self._f1_counts(labels, rows).sum(axis=0)))
        value = details[{"log-loss": "log_loss", "Brier score": "brier"}.get(
            self.judge_by, self.judge_by.lower()
        )]  # fmt: skip
        if value is None:
            return 0.5  # an area under a curve of one class
        return -float(value) if self.lower_is_better else float(value)

    def _means(self, labels: np.ndarray, rows: _Predicted) -> dict[str, float]:
        weights = self.weight_of[labels]
        return {
            "log_loss": float(np.average(rows.losses, weights=weights)),
            "brier": float(np.average(rows.briers, weights=weights)),
            "accuracy": float(np.average(rows.answers == labels, weights=weights)),
        }

    def _probabilities(self, fitted: Any, data: Rows) -> np.ndarray:
        """Of every class of the data; one that was not learned has the share of half a row."""
        codes, p = fitted.probabilities(data)
        if codes.tolist() == list(range(len(self.classes))):
            return p
        unseen = 0.5 / (fitted.learned + 1)
        full = np.full((len(p), len(self.classes)), unseen)
        full[:, codes] = p * (1 - unseen * (len(self.classes) - len(codes)))
        return full

    def _cross_calibrated(
        self, fitted: Any, labels: np.ndarray, p: np.ndarray
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Each half of the rows, calibrated by the value that does best on the other half."""
        values = fitted.calibrations
        half = np.random.default_rng(len(labels)).permutation(len(labels)) % 2
        weights = self.weight_of[labels]
        sums = np.zeros((2, len(values)))
        for place, value in enumerate(values):
            losses = row_losses(labels, fitted.adjusted(p, value, self.classes)) * weights
            sums[:, place] = np.bincount(half, losses, minlength=2)
        of_other = [values[int(np.argmin(sums[1 - side]))] for side in (0, 1)]
        found = np.empty_like(p)
        for side in (0, 1):
            mine = half == side
            found[mine] = fitted.adjusted(p[mine], of_other[side], self.classes)
        return found, {"values": list(values), "sums": sums.sum(axis=0).round(6).tolist()}

    def calibrated(self, fitted: Any, details: Sequence[Mapping[str, Any]]) -> Any:
        kept = [one["calibration"] for one in details if "calibration" in one]
        if kept:
            sums = np.sum([one["sums"] for one in kept], axis=0)
            fitted = fitted.with_calibration(kept[0]["values"][int(np.argmin(sums))])
        steps = [unpacked(one["steps"]) for one in details if "steps" in one]
        if steps:
            counts = np.sum(steps, axis=0).reshape(-1, 2)
            fitted = replace(fitted, threshold=best_step(counts)[0])
        return fitted

    def _calibration_error(self, labels: np.ndarray, p: np.ndarray) -> float:
        weights = self.weight_of[labels] if self.balanced else None
        if self.positive is None:
            return expected_calibration_error(labels, p, weights=weights)
        is_true = (labels == self.positive).astype(int)
        return expected_calibration_error(is_true, self._two(p), weights=weights)

    def _two(self, p: np.ndarray) -> np.ndarray:
        """Probabilities of "another class" and of the positive one."""
        return np.stack([1 - p[:, self.positive], p[:, self.positive]], axis=1)

    # ── the test part ──

    def _group_of(self, units: np.ndarray) -> np.ndarray:
        if self.groups is None:
            return np.arange(len(units))
        return np.unique(self.groups[units], return_inverse=True)[1]

    def _sums(self, units: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Weighted sums of each group, and the weights."""
        group_of, weights = self._group_of(units), self.weight_of[self.labels[units]]
        return np.stack(
            [np.bincount(group_of, values * weights), np.bincount(group_of, weights)], axis=1
        )

    def _values(self, units: np.ndarray, rows: _Predicted) -> np.ndarray:
        """What the metric is the mean of, higher is better."""
        if self.judge_by == "Brier score":
            return -rows.briers
        if self.judge_by == "accuracy":
            return (rows.answers == self.labels[units]).astype(float)
        return -rows.losses

    def _f1_counts(self, labels: np.ndarray, rows: _Predicted) -> np.ndarray:
        """True and false positives and false negatives of every row."""
        is_true = labels == self.positive
        given = rows.of_positive >= rows.threshold
        return np.stack([is_true & given, ~is_true & given, is_true & ~given], axis=1).astype(int)

    def _counts_of_f1(self, units: np.ndarray, rows: _Predicted) -> np.ndarray:
        counts = self._f1_counts(self.labels[units], rows)
        group_of = self._group_of(units)
        columns = [np.bincount(group_of, column) for column in counts.T]
        return np.stack(columns, axis=1)

    def _of_areas(self, units: np.ndarray, *which: _Predicted) -> list[np.ndarray]:
        """What areas under curves are taken of: truth, scores of each, and groups."""
        is_true = self.labels[units] == self.positive
        return [is_true, *(one.of_positive for one in which), self._group_of(units)]

    def interval(self, units: np.ndarray, rows: str, seed: int) -> Interval:
        known = _Predicted.of(rows)
        n_groups = len(np.unique(self._group_of(units)))
        if self.judge_by == "F1":
            counts = self._counts_of_f1(units, known)
            found = bootstrap_interval(counts, f1_of_counts, seed=seed)
            if found.value == 1:
                hits = int(counts[:, 0].sum())
                return share_interval(found, min(hits, n_groups), 0)
            if found.value == 0:
                # None was hit; that does not say that none would be: half a hit is not excluded.
                n = int(counts[:, [0, 2]].sum())
                return replace(found, high=2 * 3 / (2 * 3 + n) if n else 1.0)
            return found
        if self.judge_by == "AUC":
            return area_interval(*self._of_areas(units, known))
        found = mean_interval(self._sums(units, self._values(units, known)))
        if self.judge_by == "accuracy":
            right = int((known.answers == self.labels[units]).sum())
            return share_interval(found, min(right, n_groups), min(len(units) - right, n_groups))
        return found

    def compare(self, units: np.ndarray, first: str, second: str, seed: int) -> Comparison:
        both = [_Predicted.of(rows) for rows in (first, second)]
        if self.judge_by == "F1":
            counts = [self._counts_of_f1(units, one) for one in both]
            return paired_bootstrap(counts[0], counts[1], f1_of_counts, seed=seed)
        if self.judge_by == "AUC":
            return paired_areas(*self._of_areas(units, *both))
        return self._paired([self._sums(units, self._values(units, one)) for one in both], seed)

    def compare_with_chance(
        self, units: np.ndarray, first: str, chance: str, seed: int
    ) -> Comparison:
        """By log-loss, whatever else is judged by: it tells best that anything is known.

        Where rows stand by themselves, predictions are also held against classes dealt by lot; of
        the two answers the surer one counts, at twice its p.
        """
        both = [_Predicted.of(rows) for rows in (first, chance)]
        found = self._paired([self._sums(units, -one.losses) for one in both], seed)
        if self.groups is not None:
            return found
        labels, spoken = self.labels[units], both[0].answers
        if self.positive is not None and len(self.present) == 2:
            p = np.clip(both[0].of_positive, 1e-9, 1 - 1e-9)
            labels, spoken = (labels == self.positive).astype(int), np.log(p / (1 - p))
        return replace(found, p=min(1.0, 2 * min(found.p, by_lot(spoken, labels, seed=seed))))

    @staticmethod
    def _paired(sums: Sequence[np.ndarray], seed: int) -> Comparison:
        if len(sums[0]) >= _MANY:
            return paired_means(sums[0], sums[1])
        return paired_bootstrap(
            sums[0], sums[1], accuracy_of_counts, resamples=_RESAMPLES, seed=seed
        )

    def answers_of(self, rows: str) -> np.ndarray:
        return _Predicted.of(rows).answers

    def figures(self, units: np.ndarray, rows: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """What the page tells of the chosen contender on the test part."""
        labels, known = self.labels[units], _Predicted.of(rows)
        found: dict[str, Any] = {
            "rows": len(units),
            **{name: details[name] for name in ("log_loss", "auc", "brier", "accuracy", "ece")},
            "positive": None if self.positive is None else self.classes[self.positive],
            "f1": None,
        }
        answers = known.answers
        weights = self.weight_of[labels] if self.balanced else None
        if self.positive is not None:
            is_true = labels == self.positive
            p = known.of_positive
            came = is_true.astype(int)
            if known.threshold > 0:
                tp, fp, fn = self._f1_counts(labels, known).sum(axis=0).tolist()
                found["f1"] = {
                    "positive": found["positive"],
                    "threshold": known.threshold,
                    "value": float(f1_of_counts(np.array([tp, fp, fn]))),
                    "of_predictions": f1_at(is_true, (answers == self.positive).astype(float), 0.5),
                    "precision": tp / (tp + fp) if tp + fp else 0.0,
                    "recall": tp / (tp + fn) if tp + fn else 0.0,
                }
        else:
            came, p = (answers == labels).astype(int), known.of_answer
        bins = calibration_bins(came, np.stack([1 - p, p], axis=1), weights=weights)
        found["calibration"] = [
            {"n": n, "mean": mean, "share": share, "low": low, "high": high}
            for n, mean, share, low, high in bins
        ]
        codes = self.present
        place = np.full(len(self.classes), -1)
        place[codes] = np.arange(len(codes))
        table = confusion(place[labels], np.maximum(place[answers], 0), len(codes))
        found["confusion"] = {
            "classes": [self.classes[code] for code in codes.tolist()],
            "counts": table.tolist(),
        }
        return found

    def counts(self, units: np.ndarray, answers: np.ndarray) -> np.ndarray:
        right = (self.labels[units] == answers).astype(float)
        return self._sums(units, right)

    @property
    def of_counts(self) -> Callable[[np.ndarray], np.ndarray]:
        return accuracy_of_counts

    # ── contenders and what is told of the data ──

    def everyone(self) -> list[Contender | Unsuited]:
        table = Table(self.data, self.balanced)
        of_methods = [one for method in METHODS for one in method.contenders_for("table", table)]
        return [*baselines(table), *of_methods, *yardsticks(table)]

    def data_part(self) -> dict[str, Any]:
        data = self.data
        sizes = np.bincount(self.labels, minlength=len(self.classes)).tolist()
        if isinstance(data, NominalTable):
            families = [
                {"name": name, "features": len(values), "single_valued": True}
                for name, values in zip(data.columns, data.vocabularies, strict=True)
            ]
        else:
            n_features = np.bincount(data.family_of, minlength=len(data.families)).tolist()
            families = [
                {"name": name, "features": n, "single_valued": bool(single)}
                for name, n, single in zip(
                    data.families, n_features, data.single_valued, strict=True
                )
            ]
        return {
            "source": data.source,
            "rows": len(data),
            "features": sum(family["features"] for family in families),
            "target": data.target,
            "groups": data.n_groups,
            "classes": dict(zip(self.classes, sizes, strict=True)),
            "families": families,
        }

    def warnings(self, learn: np.ndarray, test: np.ndarray) -> list[str]:
        return table_warnings(self.data, self.labels, learn, test)

    def errors(self, units: np.ndarray, answers: np.ndarray) -> dict[str, list[dict[str, Any]]]:
        right = self.labels[units] == answers
        found = {"by_class": tallied(self.labels[units], right, self.classes)}
        if self.groups is not None:
            names = self.data.group_names or tuple(map(str, range(int(self.groups.max()) + 1)))
            found["by_group"] = tallied(self.groups[units], right, names)
        return found


@dataclass(frozen=True, eq=False)
class _Predicted:
    """What a paired test needs of the predictions for some rows.

    Parameters
    ----------
    of_truth, of_answer : probability of the true class, and of the predicted one.
    answers : codes of the predicted classes.
    briers : Brier score of each row.
    of_positive : probability of the class whose F1 counts; empty where there is none.
    threshold : from which that class is predicted; 0 where none was found.
    """

    of_truth: np.ndarray
    of_answer: np.ndarray
    answers: np.ndarray
    briers: np.ndarray
    of_positive: np.ndarray
    threshold: float

    @classmethod
    def judged(
        cls, labels: np.ndarray, p: np.ndarray, positive: int | None, threshold: float | None
    ) -> _Predicted:
        every, answers = np.arange(len(p)), p.argmax(axis=1)
        of_positive = np.empty(0) if positive is None else p[:, positive]
        return cls(
            p[every, labels], p[every, answers], answers, row_briers(labels, p), of_positive,
            threshold or 0.0,
        )  # fmt: skip

    @property
    def losses(self) -> np.ndarray:
        return -np.log(np.maximum(self.of_truth, np.finfo(np.float64).eps))

    def packed(self) -> str:
        numbers = [self.of_truth, self.of_answer, self.briers, self.of_positive]
        halves = [np.asarray(one, dtype=np.float32).view(np.int32) for one in numbers]
        head = np.array([len(self.answers), round(self.threshold * 1e6)], dtype=np.int32)
        return packed(np.concatenate([head, self.answers.astype(np.int32), *halves]))

    @classmethod
    def of(cls, text: str) -> _Predicted:
        numbers = unpacked(text).astype(np.int32)
        n, threshold = int(numbers[0]), numbers[1] / 1e6
        answers, *shares = np.split(numbers[2:], [n, 2 * n, 3 * n, 4 * n])
        of_truth, of_answer, briers, of_positive = (
            one.view(np.float32).astype(np.float64) for one in shares
        )
        return cls(of_truth, of_answer, answers.astype(np.int64), briers, of_positive, threshold)


def best_step(counts: np.ndarray) -> tuple[float, float]:
    """The threshold with the highest F1 and that F1, from counts of rows by probability.

    Parameters
    ----------
    counts : negative and positive rows of each step of the probability.

    >>> best_step(np.array([[8, 0], [2, 1], [1, 3], [0, 4]]))
    (0.5, 0.875)
    """
    from_here = counts[::-1].cumsum(axis=0)[::-1]
    tp, fp = from_here[:, 1], from_here[:, 0]
    fn = counts[:, 1].sum() - tp
    scores = np.divide(2 * tp, np.maximum(2 * tp + fp + fn, 1))
    # Of equals the highest: whoever is called positive then is so more surely.
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))
    best = max(best, 1)
    return best / len(counts), float(scores[best])


def _by_step(is_positive: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Negative and positive rows of each step of the probability."""
    step = np.minimum((p * _STEPS).astype(np.int64), _STEPS - 1)
    return np.bincount(2 * step + is_positive, minlength=2 * _STEPS).reshape(_STEPS, 2)
