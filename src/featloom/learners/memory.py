"""Memory-based classification: a case gets the class of the stored cases most like it.

The distance of two cases is the sum over the features of weight × difference.  The difference is
0 or 1 (overlap), or says how differently two values are spread over the classes (MVDM); a feature
may also be ignored.  The instances at the k nearest *distances* vote.  This is the learner of
TiMBL; ``compat="timbl"`` follows its rules to the last tie.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from featloom.counts.values import WEIGHTS
from featloom.data.class_types import class_values, type_of_values
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary, codes_in
from featloom.errors import InputError
from featloom.formats.models import (
    Codes,
    Fact,
    Layout,
    Model,
    Numbers,
    Parameters,
    Part,
    Texts,
    Vocabularies,
)
from featloom.kernels.votes import vote_weight
from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import COUNT, MODES, SCALE, VOTES, Comparison, decay_of, tolerance
from featloom.learners.inputs import (
    TableReader,
    TakesSymbols,
    checked_target,
    class_names,
    encode_target,
    order_of_appearance,
)
from featloom.learners.neighbours import (
    ask,
    ask_by_votes,
    compared_columns,
    distances_to_cases,
)
from featloom.options import Constraint, check, number, one_of, threads
from featloom.pool import number_of_workers
from featloom.words import no_such

_VOTES_HELD = 20_000_000  # of some rows at a time


@dataclass(frozen=True)
class Neighbour:
    """Stored cases that are alike: their values, how far they are, how often with each class."""

    values: tuple[str | None, ...]
    distance: float
    classes: dict[Any, int]


@dataclass(frozen=True)
class Explanation:
    """An answer, the votes behind it, and the stored cases that gave them, nearest first.

    With smoothing a frequent class may be the answer that has fewer votes than another, or none.
    """

    answer: Any
    votes: dict[Any, float]
    neighbours: tuple[Neighbour, ...]


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str)


class MemoryClassifier(TakesSymbols, ClassifierMixin, BaseEstimator):
    """Nearest neighbours on nominal features, exactly and fast.

    Parameters
    ----------
    k : how many nearest distances vote, each with all cases that lie there.
    weights : "none", "gain_ratio", "information_gain", "chi_squared", "shared_variance", or a
        number for each feature.
    metric : "overlap", "mvdm", or for each feature one of "ignore", "overlap", "mvdm": a list, or
        a mapping from names of columns (those not named are compared by overlap).
    vote : "count", "inverse_distance", "inverse_linear" or "exponential".
    decay : a in the exponential vote exp(−a d), 1.0 by default; or "scale": 30 over the sum
        of the weights of the columns compared, which makes good probabilities whatever these are.
    mvdm_threshold : values seen fewer times are compared by overlap.
    exact : a stored case that equals the query in every value decides alone, at every k.
    compat : None, or "timbl": a tie is looked at again with one distance more, and at k = 1 a
        case that equals the query decides alone.
    smoothing : the share s, from 0 to 1, that the frequencies of the classes have in
        probabilities: (1 − s) × votes + s × frequencies.  Above 0 the class predicted is the one
        most probable by these; at 0 the votes decide, and their ties by the rules of ``compat``.
    n_jobs : threads; they change the time and nothing else.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn.
    weights_ : the weight of each feature.
    modes_ : the mode of each feature.

    Examples
    --------
    >>> letters = [["c", "a"], ["c", "e"], ["k", "a"], ["s", "e"]]
    >>> memory = MemoryClassifier().fit(letters, ["K", "S", "K", "S"])
    >>> memory.predict([["c", "e"], ["k", "o"]]).tolist()
    ['S', 'K']
    >>> memory.explain([["k", "o"]])[0].neighbours
    (Neighbour(values=('k', 'a'), distance=1.0, classes={'K': 1}),)

    One case in ten is an exception; smoothed, it is not believed:

    >>> rows, sounds = [["c", str(i)] for i in range(10)], ["K"] * 9 + ["S"]
    >>> for smoothing in (0.0, 0.8):
    ...     memory = MemoryClassifier(smoothing=smoothing).fit(rows, sounds)
    ...     print(memory.predict(rows[9:]).tolist(), memory.predict_proba(rows[9:]).round(2))
    ['S'] [[0. 1.]]
    ['K'] [[0.72 0.28]]
    """

    constraints = {
        "k": COUNT,
        "weights": one_of(WEIGHTS) | Constraint("a list", _is_list),
        "vote": one_of(VOTES),
        "decay": number(0) | one_of([SCALE]),
        "mvdm_threshold": COUNT,
        "compat": one_of(["timbl", None]),
        "smoothing": number(0, 1),
        "n_jobs": threads,
    }

    def __init__(
        self,
        *,
        k=1,
        weights="gain_ratio",
        metric="overlap",
        vote="count",
        decay=1.0,
        mvdm_threshold=1,
        exact=False,
        compat=None,
        smoothing=0.0,
        n_jobs=None,
    ):
        self.k = k
        self.weights = weights
        self.metric = metric
        self.vote = vote
        self.decay = decay
        self.mvdm_threshold = mvdm_threshold
        self.exact = exact
        self.compat = compat
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Store the cases X with their classes y (None: those that a NominalTable carries)."""
        return self._fit(X, y)

    def _fit(self, X, y, classes=None):
        self._check_parameters()
        self._reader = TableReader()
        table = self._reader.fit(self, X)
        if classes is not None:
            y = checked_target(table, y)
        labels, self.classes_ = encode_target(table, y, classes)
        self._codes, self._labels = table.codes, labels
        self._remember()
        return self

    def partial_fit(self, X, y=None, classes=None):
        """Add cases to those stored; values and classes may be new.

        The weights are those of all cases together.  ``classes`` names all that will come, where
        the first cases do not have every one.
        """
        if not hasattr(self, "_codes"):
            return self._fit(X, y, classes)
        self._check_parameters()
        table = self._reader.read(self, X, recode=False)
        known = self._reader.table
        vocabularies = []
        codes = np.empty((len(table), len(known.columns)), dtype=np.int32, order="F")
        for j, name in enumerate(known.columns):
            place = table.column_index(name)
            values = Vocabulary(known.vocabularies[j])
            code_of = codes_in(values, table.vocabularies[place], grow=True)
            codes[:, j] = code_of[table.codes[:, place]]
            vocabularies.append(values.names)
        y = checked_target(table, y)
        before = self.classes_
        labels, self.classes_ = encode_target(table, y, np.concatenate([before, np.unique(y)]))
        self._codes = np.asfortranarray(np.concatenate([self._codes, codes]))
        self._labels = np.concatenate(
            [np.searchsorted(self.classes_, before)[self._labels], labels]
        )
        self._reader.table = replace(
            known, codes=codes[:0], labels=None, sequence_bounds=None, heads=None, groups=None,
            tasks=None, vocabularies=tuple(vocabularies),
        )  # fmt: skip
        self._remember()
        return self

    def predict(self, X):
        """The classes of cases; with ``smoothing`` those that are most probable."""
        if self.smoothing:
            most_probable = [shares.argmax(axis=1) for shares in self._shares(X)]
            return self.classes_[np.concatenate(most_probable)]
        answers = self._ask(X)
        return self.classes_[self._sorted_class[answers.classes[:, -1]]]

    def predict_proba(self, X):
        """The votes of the nearest cases, as shares; columns as in ``classes_``.

        With ``smoothing`` the frequencies of the classes are mixed in.
        """
        return np.concatenate(list(self._shares(X)))

    def nearest_distances(self, X):
        """The k nearest distances of each case, ascending; NaN where there are fewer."""
        return self._ask(X, with_distances=True).distances[:, : self.k]

    def explain(self, X, most=10) -> list[Explanation]:
        """For each case the answer, and up to ``most`` of the stored cases that gave it."""
        check_is_fitted(self, "_memory")
        self._check_parameters()
        table = self._reader.read(self, X)
        answers = ask(self._memory, Queries(table.codes), self._how, [self.k], with_votes=True)
        chosen = self._sorted_class[answers.classes[:, 0]]
        if self.smoothing:
            chosen = self._probabilities(answers.classes[:, 0], answers.votes).argmax(axis=1)
        return [
            self._explanation(table.codes[i], chosen[i], answers.votes[i], most)
            for i in range(len(table))
        ]

    def save(self, path) -> None:
        """Write the fitted learner as a model file: arrays and JSON, nothing that runs.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> memory = MemoryClassifier(k=3).fit([["c", "a"], ["c", "e"], ["s", "e"]], list("KSS"))
        >>> with TemporaryDirectory() as folder:
        ...     memory.save(Path(folder, "letters.featloom"))
        ...     loaded = MemoryClassifier.load(Path(folder, "letters.featloom"))
        >>> loaded.k, loaded.predict([["c", "o"]]).tolist()
        (3, ['S'])
        """
        check_is_fitted(self, "_memory")
        table = self._reader.table
        state = {
            "parameters": self.get_params(deep=False),
            "columns": table.columns,
            "target": table.target,
            "named": hasattr(self, "feature_names_in_"),
            "vocabularies": table.vocabularies,
            "codes": self._codes,
            "labels": self._labels,
            "classes": self.classes_,
            "class_names": class_names(table, self.classes_),
        }
        LAYOUT.save(path, state)

    @classmethod
    def load(cls, path) -> MemoryClassifier:
        """The learner that ``save`` wrote; the file is checked."""
        with LAYOUT.reading(path) as (state, room):
            memory = cls(**state["parameters"])
            memory._check_parameters()
            columns, classes, labels = state["columns"], state["classes"], state["labels"]
            room.take(_OF_COLUMN * len(columns))
            names, class_type = state["class_names"], type_of_values(classes)
            names = tuple(map(str, classes.tolist())) if names is None else names
            if len(np.unique(labels)) < len(classes) or not np.array_equal(
                class_values(names, class_type), classes
            ):
                raise InputError("a class has no case, or another name")
            memory._reader = TableReader()
            memory._reader.table = NominalTable(
                columns, state["codes"], state["vocabularies"], target=state["target"],
                classes=names, class_type=class_type,
            )  # fmt: skip
            memory.n_features_in_ = len(columns)
            if state["named"]:
                memory.feature_names_in_ = np.array(columns, dtype=object)
            memory._codes, memory._labels, memory.classes_ = state["codes"], labels, classes
            memory._remember()
            return memory

    def _shares(self, X) -> Iterator[np.ndarray]:
        """Probabilities of cases, as many at a time as have votes that can be held."""
        check_is_fitted(self, "_memory")
        self._check_parameters()
        codes = self._reader.read(self, X).codes
        size = max(1, _VOTES_HELD // len(self.classes_))
        for begin in range(0, max(1, len(codes)), size):
            answers = self._ask_codes(codes[begin : begin + size], with_votes=True)
            yield self._probabilities(answers.classes[:, -1], answers.votes)

    def _probabilities(self, classes: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """What the votes of queries, and the classes that won them, say of every class."""
        votes = votes.copy()
        # Where all are so far that no vote is left, the answer has the most frequent class.
        lost = np.flatnonzero(votes.sum(axis=1) == 0)
        votes[lost, classes[lost]] = 1.0
        shares = np.zeros((len(votes), len(self.classes_)))
        shares[:, self._sorted_class] = votes / votes.sum(axis=1, keepdims=True)
        if not self.smoothing:
            return shares
        frequencies = np.zeros(len(self.classes_))
        frequencies[self._sorted_class] = self._memory.class_totals / self._memory.n_cases
        return (1 - self.smoothing) * shares + self.smoothing * frequencies

    def _explanation(self, codes, chosen, votes, most) -> Explanation:
        memory = self._memory
        distances = distances_to_cases(memory, codes, self._how)
        neighbours: list[Neighbour] = []
        for case in self._voters(codes, distances, votes)[:most]:
            cells = slice(memory.cases.start[case], memory.cases.start[case + 1])
            neighbours.append(
                Neighbour(
                    self._values(memory.cases.codes[case]),
                    float(distances[case]),
                    {
                        self._class(int(label)): int(count)
                        for label, count in zip(
                            memory.cases.classes[cells], memory.cases.counts[cells], strict=True
                        )
                    },
                )
            )
        voted = {
            self._class(label): float(votes[label]) for label in np.flatnonzero(votes).tolist()
        }
        return Explanation(self._name(chosen), voted, tuple(neighbours))

    def _voters(self, codes, distances, votes) -> np.ndarray:
        """The stored cases whose votes these are, nearest first.

        They are those at the k nearest distances, or at one more where a tie was looked at again,
        or the one that is like the query in every value, where that decides alone.
        """
        memory, how = self._memory, self._how
        unlike = memory.cases.codes != codes[memory.order]
        # Of cases that are equally near, those with more of the values come first.
        nearest_first = np.lexsort((unlike.sum(axis=1), distances))
        reach = tolerance(np.array([self.weights_[j] for j in self._compared]))
        rank = np.concatenate(([0], np.cumsum(np.diff(distances[nearest_first]) > reach)))
        candidates = []
        if how.exact_first == "always" or (how.exact_first == "first" and self.k == 1):
            used = [place for place, j in enumerate(memory.order) if how.modes[j] != "ignore"]
            exact = ~unlike[:, used].any(axis=1) & codes[memory.order[used]].all()
            candidates.append(nearest_first[exact[nearest_first]])
        if how.look_further:
            candidates.append(nearest_first[rank <= self.k])
        for cases in candidates:
            if len(cases) and np.allclose(self._votes_of(cases, distances), votes, 1e-9, 0):
                return cases
        return nearest_first[rank < self.k]

    def _votes_of(self, cases: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """The votes of some cases, nearest first, added up."""
        leaves = self._memory.cases
        votes = np.zeros(self._memory.n_classes)
        for case in cases:
            weight = vote_weight(
                VOTES.index(self._how.vote), self._how.decay, distances[case],
                distances[cases[0]], distances[cases[-1]],
            )  # fmt: skip
            cells = slice(leaves.start[case], leaves.start[case + 1])
            votes[leaves.classes[cells]] += weight * leaves.counts[cells]
        return votes

    def _values(self, codes: np.ndarray) -> tuple[str | None, ...]:
        """The values of a stored case, whose codes lie in the memory's order of columns."""
        vocabularies = self._reader.table.vocabularies
        values: list[str | None] = [None] * len(codes)
        for column, code in zip(self._memory.order, codes, strict=True):
            values[column] = vocabularies[column][code - 1] if code else None
        return tuple(values)

    def _class(self, label: int):
        """The name of a class by its number in the memory."""
        return self._name(self._sorted_class[label])

    def _name(self, place: int):
        value = self.classes_[place]
        return value.item() if isinstance(value, np.generic) else value

    def _remember(self) -> None:
        """Index the cases; classes are numbered as they were met, which settles ties."""
        met_as = order_of_appearance(self._labels, len(self.classes_))
        self._sorted_class = np.argsort(met_as)
        n_values = [len(vocabulary) + 1 for vocabulary in self._reader.table.vocabularies]
        self._memory = Memory(self._codes, met_as[self._labels], n_values, len(self.classes_))
        self._set_comparison()

    def _share(self, other: MemoryClassifier) -> None:
        """Take the stored cases of another learner, index and all."""
        self._check_parameters()
        self._reader, self._memory, self.classes_ = other._reader, other._memory, other.classes_
        self._sorted_class = other._sorted_class
        self._set_comparison()

    def _set_comparison(self) -> None:
        """How cases are compared, by the parameters and the cases stored."""
        self.modes_ = checked_modes(self.metric, self._reader.table.columns)
        self.weights_ = self._checked_weights()
        self._how = Comparison(
            self.modes_,
            tuple(self.weights_.tolist()),
            self.vote,
            decay_of(self.decay, self.weights_, self.modes_),
            self.mvdm_threshold,
            self.compat == "timbl",
            "always" if self.exact else ("first" if self.compat == "timbl" else "never"),
        )
        self._compared = compared_columns(self._memory, self._how)

    def _ask(self, X, **wanted):
        check_is_fitted(self, "_memory")
        self._check_parameters()  # k may have been set anew
        return self._ask_codes(self._reader.read(self, X).codes, **wanted)

    def _ask_codes(self, codes: np.ndarray, **wanted):
        threads = number_of_workers(self.n_jobs)
        return ask(self._memory, Queries(codes), self._how, [self.k], threads=threads, **wanted)

    def _checked_weights(self) -> np.ndarray:
        if isinstance(self.weights, str):
            return self._memory.weights(self.weights)
        weights = np.asarray(self.weights, dtype=float)
        if weights.shape != (len(self._memory.order),):
            raise InputError(
                f"{weights.size} weights for {len(self._memory.order)} features; "
                "give one for each, or the name of a weighting"
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise InputError("a weight must be a finite number, and not below 0")
        if not weights.any():
            raise InputError("the weights of all features are zero; nothing is compared")
        return weights

    def _check_parameters(self) -> None:
        check(self)


def memory_grid(
    X, y, X_valid, settings: Sequence[Mapping[str, Any]], *, n_jobs: int | None = None
) -> list[np.ndarray]:
    """What learners of several settings, all fitted on X and y, make of the same cases.

    The result is that of ``MemoryClassifier(**setting).fit(X, y).predict_proba(X_valid)`` for
    each of them, for less: one memory serves all, and one search every k, vote and smoothing
    that go with the same metric and weights.

    Parameters
    ----------
    X, y : the stored cases with their classes; y None: those that a NominalTable carries.
    X_valid : the cases to be answered.
    settings : parameters of :class:`MemoryClassifier`, each as a mapping.
    n_jobs : threads; they change the time and nothing else.

    Returns
    -------
    list of ndarray
        For each setting (cases, classes), columns as in ``classes_``.

    Examples
    --------
    >>> letters, sounds = [["c", "a"], ["c", "e"], ["k", "a"]], ["K", "S", "K"]
    >>> settings = [{"k": 1}, {"k": 3, "vote": "inverse_distance"}]
    >>> for shares in memory_grid(letters, sounds, [["c", "e"]], settings):
    ...     print(shares.round(2).tolist())
    [[0.0, 1.0]]
    [[0.0, 1.0]]
    """
    learners = [MemoryClassifier(**{**setting, "n_jobs": n_jobs}) for setting in settings]
    if not learners:
        return []
    first = learners[0].fit(X, y)
    codes = first._reader.read(first, X_valid).codes
    alike: dict[Comparison, list[int]] = {}
    for place, learner in enumerate(learners):
        learner._share(first)
        alike.setdefault(learner._how._replace(vote=""), []).append(place)
    threads = number_of_workers(n_jobs)
    found: list[Any] = [None] * len(learners)
    for how, places in alike.items():
        levels = sorted({int(learners[place].k) for place in places})
        votes = sorted({learners[place].vote for place in places}, key=VOTES.index)
        n_votes = len(votes) * len(levels) * first._memory.n_classes
        size = max(1, _VOTES_HELD // n_votes)
        for begin in range(0, len(codes), size):
            some = Queries(codes[begin : begin + size])
            answers = ask_by_votes(
                first._memory, some, how, levels, votes, threads=threads, with_votes=True
            )
            for place in places:
                learner = learners[place]
                at = votes.index(learner.vote), levels.index(learner.k)
                shares = learner._probabilities(
                    answers.classes[:, at[0], at[1]], answers.votes[:, at[0], at[1]]
                )
                if found[place] is None:
                    found[place] = np.empty((len(codes), shares.shape[1]))
                found[place][begin : begin + len(shares)] = shares
    return found


def checked_modes(
    metric: str | Sequence[str] | Mapping[str, str], columns: Sequence[str]
) -> tuple[str, ...]:
    """The mode of each column.

    >>> checked_modes({"next": "mvdm"}, ["letter", "next"])
    ('overlap', 'mvdm')
    """
    if isinstance(metric, Mapping):
        for name in metric:
            if name not in columns:
                raise InputError(no_such("column", name, columns))
        modes = tuple(metric.get(name, "overlap") for name in columns)
    elif isinstance(metric, str):
        modes = (metric,) * len(columns)
    else:
        modes = tuple(metric)
    if len(modes) != len(columns):
        raise InputError(f"metric names {len(modes)} modes for {len(columns)} features")
    for mode in modes:
        check({"metric": one_of(MODES)}, {"metric": mode})
    return modes


class _Classes(Part):
    """Classes as texts or as numbers; those of NumPy's own kind of text come back as such."""

    texts = Texts("classes", "class_starts", optional=True)

    def arrays(self, name: str) -> dict[str, Numbers]:
        dtypes = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8"
        return {
            **self.texts.arrays(name),
            "classes_fixed": Numbers("b1", optional=True),
            "class_numbers": Numbers(dtypes, "classes", optional=True, makes=100),
        }

    def write(self, name: str, value: np.ndarray, model: Model) -> None:
        if value.dtype.kind in "biuf":
            model.arrays["class_numbers"] = value
            return
        for one in value.tolist():
            if not isinstance(one, str):
                kind = type(one).__name__
                raise InputError(f"class {one!r} is of type {kind}; text and numbers can be saved")
        self.texts.write(name, value.tolist(), model)
        model.arrays["classes_fixed"] = np.array(value.dtype.kind == "U")

    def read(self, name: str, model: Model) -> np.ndarray:
        texts, numbers = self.texts.read(name, model), model.arrays.get("class_numbers")
        if (texts is None) == (numbers is None):
            raise InputError("classes are either text or numbers")
        if numbers is not None:
            return numbers
        if not model.arrays["classes_fixed"]:
            return np.array(texts, dtype=object)
        # As wide as the longest of them, four bytes a letter.
        model.room.take(4 * len(texts) * max(map(len, texts), default=0))
        return np.array(texts, dtype=np.str_)

    def lengths(self, value: np.ndarray) -> list[tuple[str, int]]:
        return [("classes", len(value))]


# What is written is what the learner was given (values, classes, and the order in which they came,
# which settles ties), not what it made of it; the index is built again on loading.  So a file is
# small, and a learner that was loaded answers to the last tie as the one that was saved.
LAYOUT = Layout(
    "memory",
    {
        "parameters": Parameters(("n_jobs",)),  # of the machine, not of the model
        "columns": Fact(tuple[str, ...]),
        "target": Fact(str),
        "named": Fact(bool),
        "vocabularies": Vocabularies(),
        # As numbers of 32 bits, sorted, merged, counted and as a tree.
        "codes": Codes("cases", "columns", makes=32),
        "labels": Numbers("u1 u2 u4 u8", "cases", makes=100, becomes="i8", below="classes"),
        "classes": _Classes(),
        "class_names": Fact(tuple[str, ...] | None, None),  # older files have none
    },
)
# What is kept for a column beside its cells: counts, their arrays, and what they are made of.
_OF_COLUMN = 4096
