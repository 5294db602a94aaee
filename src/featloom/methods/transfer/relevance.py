"""How likely is a feature to matter?  Learned from many small tasks, handed to the next one.

Fifty verbs, a few dozen rows each: no verb alone can tell which of ten thousand features matter,
but together they can.  Each task selects features by minimum description length, for each of its
classes against the rest.  Of feature j, k_j tasks selected it, and e_j had it among their
candidates: a feature that a task never met was not turned down by it.  Features met seldom lean
on their family (``dobj`` of ``dobj_money``), and families met seldom on all features together:

    θ        = Σ k / Σ e                            over all features
    θ_family = (Σ k + κ_f θ) / (Σ e + κ_f)          over the features of the family
    p_j      = (k_j + κ θ_family) / (e_j + κ)

The probabilities serve any model: as bits that a feature costs in a stepwise selection
(−log₂ p + 2), as scales of the columns of a linear model ((p / θ)^power: a penalty on the weights
then weighs less on features that mattered elsewhere), or as weights of scores in a search.

What a task is given must come from the others.  Every getter takes ``exclude``, the task that
asks, and subtracts its counts: exact, and as cheap as the sum.  With ``rounds=2`` every task
selects once more, at the costs that the others gave it, and these selections are counted; small
tasks gain most.  Its first selections then still have a hand, through those costs, in what the
others select, so a prior of several rounds is to be learned from training rows alone.

After Dhillon and Ungar, "Transfer Learning, Feature Selection and Word Sense Disambiguation"
(2009), without clusters, and with exposure and families.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError, ReadError
from featloom.formats.models import Room
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, select_features
from featloom.learners.stepwise_paths import VARIANCES
from featloom.methods.transfer.families import Families, ListedFamilies, family_of, family_reader
from featloom.methods.transfer.task_data import SharedFeatures, Task, read_task, read_tasks
from featloom.options import check, number, one_of, seed, whole
from featloom.runs import write_beside


class RelevancePrior(BaseEstimator):
    """Probabilities that features are relevant, learned from many tasks.

    Parameters
    ----------
    feature_names : names of the columns of a bare matrix, and all features that there are; None
        takes those that the tasks bring (x0, x1, … for bare matrices).
    families : the family of each of ``feature_names``, or a function from a name to its family;
        None reads them off the names, see :func:`~featloom.methods.transfer.families.family_of`.
    kappa : as how many tasks the rate of its family counts for a feature.
    family_kappa : as how many pairs of task and feature the rate of all counts for a family.
    bits : what a feature costs in the selections that are counted.
    min_rows : a feature is a candidate in a task where it has so many rows.
    variance : of the selections, see :func:`~featloom.learners.stepwise.select_features`.
    power : of the scales of columns.
    rounds : of selection in ``fit``; all but the first are at the costs learned so far.
    shuffle : a seed deals the probabilities out to other features, at random: the control of any
        gain.  None does not.

    Attributes
    ----------
    feature_names_, families_ : of all features, in the order of the arrays.
    tasks_ : names of the tasks, in the order in which they came.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]] * 10)
    >>> y = ["in", "in", "out", "out"] * 10
    >>> prior = RelevancePrior(feature_names=["dobj_money", "tp_day", "tp_night"])
    >>> prior = prior.fit({"add": (X, y), "ask": (X, y), "base": (X, y)})
    >>> prior.probability().round(2).tolist()
    [0.62, 0.17, 0.17]
    >>> prior.probability(exclude="ask").round(2).tolist()
    [0.55, 0.21, 0.21]
    >>> prior.vouchers("dobj_money")
    ['add', 'ask', 'base']
    """

    constraints = {
        "kappa": number(above=0),
        "family_kappa": number(above=0),
        "bits": number(0),
        "min_rows": whole(1),
        "variance": one_of(VARIANCES),
        "power": number(0),
        "rounds": whole(1),
        "shuffle": seed,
    }

    def __init__(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        families: Families = None,
        kappa: float = 10.0,
        family_kappa: float = 10.0,
        bits: float = 6.0,
        min_rows: int = 2,
        variance: str = "null",
        power: float = 0.3,
        rounds: int = 1,
        shuffle: int | None = None,
    ):
        self.feature_names = feature_names
        self.families = families
        self.kappa = kappa
        self.family_kappa = family_kappa
        self.bits = bits
        self.min_rows = min_rows
        self.variance = variance
        self.power = power
        self.rounds = rounds
        self.shuffle = shuffle

    def fit(self, tasks: Mapping[Hashable, Any], y: None = None) -> RelevancePrior:
        """Learn from tasks, {name: (X, y)}; what was learned before is forgotten."""
        self._begin()
        read = read_tasks(self._features, tasks)
        for task, rows in read.items():
            self._keep(task, *self._counted(rows, np.full(len(rows.columns), float(self.bits))))
        for _ in range(self.rounds - 1):
            # All tasks look at the same round, so that their order does not matter.
            chosen = {
                task: self._counted(rows, self._bits(task)[rows.columns])
                for task, rows in read.items()
            }
            for task, counted in chosen.items():
                self._keep(task, *counted)
        return self

    def partial_fit(self, task: Hashable, X: Any, y: Any = None) -> RelevancePrior:
        """Learn from one task more; the rows of a task that was here before replace its old ones.

        It selects once, at the flat cost.  A task with one class has nothing to select for, and
        counts for nothing.
        """
        if not hasattr(self, "tasks_"):
            self._begin()
        rows = read_task(self._features, X, y, task)
        self._keep(task, *self._counted(rows, np.full(len(rows.columns), float(self.bits))))
        return self

    def probability(
        self, exclude: Hashable = None, *, names: Sequence[str] | None = None
    ) -> np.ndarray:
        """P(relevant) of each feature.

        Parameters
        ----------
        exclude : the task that asks; its own counts are left out.
        names : of features, seen or not; default ``feature_names_``.  One that no task has met
            has the rate of its family, one of an unknown family the rate of all.
        """
        check_is_fitted(self, "tasks_")
        selected, met = self._totals(exclude)
        rate = _rate(selected.sum(), met.sum())
        by_family = self._family_rates(selected, met, rate)
        rates = by_family[self._family_numbers()]
        p = self._leaning(selected, met, rates)
        if self.shuffle is not None:
            p = np.random.default_rng(self.shuffle).permutation(p)
        if names is None:
            return p
        answer = np.empty(len(names))
        for place, name in enumerate(names):
            j = self._features.number.get(name)
            if j is not None:
                answer[place] = p[j]
            else:
                family = self._families.get(self._family_of(name))
                answer[place] = rate if family is None else by_family[family]
        return answer

    def rate(self, exclude: Hashable = None) -> float:
        """The share of candidates that were selected, over all features and tasks."""
        check_is_fitted(self, "tasks_")
        selected, met = self._totals(exclude)
        return _rate(selected.sum(), met.sum())

    def family_rates(self, exclude: Hashable = None) -> dict[str, float]:
        """The rate of each family, the most relevant first."""
        check_is_fitted(self, "tasks_")
        selected, met = self._totals(exclude)
        numbers = self._family_numbers()
        rates = self._family_rates(selected, met, _rate(selected.sum(), met.sum()))
        families = list(self._families)
        seen = np.flatnonzero(np.bincount(numbers, minlength=len(families)))
        return {families[f]: float(rates[f]) for f in sorted(seen, key=lambda f: -rates[f])}

    def cost(self, exclude: Hashable = None, *, names: Sequence[str] | None = None) -> np.ndarray:
        """Bits that each feature costs in a selection: −log₂ p + 2."""
        return BITS_OF_A_WEIGHT - np.log2(self.probability(exclude, names=names))

    def column_scale(
        self,
        exclude: Hashable = None,
        *,
        names: Sequence[str] | None = None,
        power: float | None = None,
    ) -> np.ndarray:
        """Scales for the columns of a linear model: (p / rate of all)^power; 1 is the average."""
        relative = self.selection_prior(exclude, names=names)
        return relative ** (self.power if power is None else power)

    def selection_prior(
        self, exclude: Hashable = None, *, names: Sequence[str] | None = None
    ) -> np.ndarray:
        """How many times as likely as the average each feature is to be relevant.

        A factor for the scores of a search, or the order in which it tries features.
        """
        return self.probability(exclude, names=names) / self.rate(exclude)

    def vouchers(self, feature: str, exclude: Hashable = None) -> list[Hashable]:
        """The tasks that selected a feature."""
        check_is_fitted(self, "tasks_")
        self._check_task(exclude)
        j = self._features.number.get(feature)
        if j is None:
            return []
        return [t for t, (chosen, _) in self._counts.items() if t != exclude and j in chosen]

    @property
    def tasks_(self) -> list[Hashable]:
        if "_counts" not in self.__dict__:  # scikit-learn asks with hasattr
            raise AttributeError("tasks_")
        return list(self._counts)

    @property
    def feature_names_(self) -> list[str]:
        return self._features.names

    @property
    def families_(self) -> list[str]:
        numbers = self._family_numbers()
        families = list(self._families)
        return [families[number] for number in numbers]

    def selected_counts(self, exclude: Hashable = None) -> np.ndarray:
        """How many tasks selected each feature."""
        return self._totals(exclude)[0].astype(np.int64)

    def candidate_counts(self, exclude: Hashable = None) -> np.ndarray:
        """In how many tasks each feature was a candidate."""
        return self._totals(exclude)[1].astype(np.int64)

    def save(self, path: str | os.PathLike) -> None:
        """Write counts and settings as JSON, a line for each feature, sorted by name."""
        check_is_fitted(self, "tasks_")
        write_beside(path, prior_text(self))

    @classmethod
    def load(cls, path: str | os.PathLike, *, families: Families = None) -> RelevancePrior:
        """Read what :meth:`save` wrote, and check it.

        ``families`` is a function for features to come, where one was used; that of each feature
        in the file is written there.
        """
        room = Room(os.fspath(path), "the prior takes")
        try:
            with open(path, "rb") as stream:
                text = stream.read(room.most_bytes // _OF_TEXT + 1)
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror}", file=room.file) from None
        return prior_of(cls, text, room, families)

    def _begin(self) -> None:
        check(self)
        self._features = SharedFeatures(self.feature_names)
        self._family_of = family_reader(self.families, self.feature_names)
        self._families = Vocabulary()
        self._family_of_feature = np.empty(0, dtype=np.int32)
        self._counts: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}
        self._selected = np.zeros(len(self._features))
        self._met = np.zeros(len(self._features))

    def _counted(self, task: Task, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the features that a task selected, and of its candidates."""
        nothing = np.empty(0, dtype=np.int64)
        if len(task.classes) < 2:
            return nothing, nothing
        rows = task.rows_of_features
        candidates = (rows >= self.min_rows) & (rows < task.X.shape[0])
        task = task.take(candidates)
        if not len(task.columns):
            return nothing, nothing
        selections = select_features(
            task.X, task.targets, costs[candidates], variance=self.variance
        )
        chosen = np.unique(np.concatenate([selection.features for selection in selections]))
        return task.columns[chosen.astype(np.int64)], task.columns

    def _bits(self, task: Hashable) -> np.ndarray:
        """Costs from the other tasks, as they are before any shuffle."""
        selected, met = self._totals(task)
        rate = _rate(selected.sum(), met.sum())
        rates = self._family_rates(selected, met, rate)[self._family_numbers()]
        return BITS_OF_A_WEIGHT - np.log2(self._leaning(selected, met, rates))

    def _leaning(self, selected: np.ndarray, met: np.ndarray, rates: np.ndarray) -> np.ndarray:
        return (selected + self.kappa * rates) / (met + self.kappa)

    def _keep(self, task: Hashable, chosen: np.ndarray, candidates: np.ndarray) -> None:
        missing = len(self._features) - len(self._selected)
        self._selected = np.pad(self._selected, (0, missing))
        self._met = np.pad(self._met, (0, missing))
        old_chosen, old_candidates = self._counts.pop(task, (chosen[:0], chosen[:0]))
        self._selected[old_chosen] -= 1
        self._met[old_candidates] -= 1
        self._selected[chosen] += 1
        self._met[candidates] += 1
        self._counts[task] = chosen, candidates

    def _totals(self, exclude: Hashable) -> tuple[np.ndarray, np.ndarray]:
        self._check_task(exclude)
        selected, met = self._selected.copy(), self._met.copy()
        if exclude is not None:
            chosen, candidates = self._counts[exclude]
            selected[chosen] -= 1
            met[candidates] -= 1
        return selected, met

    def _check_task(self, task: Hashable) -> None:
        if task is not None and task not in self._counts:
            raise InputError(f"exclude is {task!r}, which is none of the {len(self._counts)} tasks")

    def _family_numbers(self) -> np.ndarray:
        """The family of each feature; those that came since it was asked last are added."""
        known = self._family_of_feature
        if len(known) < len(self._features):
            new = map(self._family_of, self._features.names[len(known) :])
            self._family_of_feature = np.append(known, self._families.add(list(new)))
        return self._family_of_feature

    def _family_rates(self, selected: np.ndarray, met: np.ndarray, rate: float) -> np.ndarray:
        numbers = self._family_numbers()
        n = len(self._families)
        chosen = np.bincount(numbers, selected, n)
        exposed = np.bincount(numbers, met, n)
        return (chosen + self.family_kappa * rate) / (exposed + self.family_kappa)


def _rate(selected: float, met: float) -> float:
    """The share that was selected; a half is added so that it is never 0 or 1."""
    return float((selected + 0.5) / (met + 1.0))


# ── its file ──
#
# A relevance prior as a file that can be read, compared and checked: JSON, a line a feature.
#
#     {"format": "featloom relevance prior", "version": 1,
#      "settings": {"bits": 6.0, …},
#      "tasks": ["add", "ask", …],
#      "features": {
#       "dobj_money": {"number": 17, "family": "dobj", "candidate": 3, "selected": 2,
#                      "candidate_in": ["add", "ask", "turn"], "selected_in": ["add", "turn"]},
#       …}}
#
# Features are sorted by name, so that two files can be compared line by line; ``number`` is the
# place of a feature in the arrays that the prior gives.

# What is made of a byte of text at most, and what a task takes beside its letters.
_OF_TEXT, _OF_TASK = 32, 1024
FORMAT, VERSION = "featloom relevance prior", 1
SETTINGS = (
    "kappa",
    "family_kappa",
    "bits",
    "min_rows",
    "variance",
    "power",
    "rounds",
    "shuffle",
)


class _Feature(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    family: str
    candidate: int
    selected: int
    candidate_in: list[str | int]
    selected_in: list[str | int]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    settings: dict[str, int | float | str | None]
    feature_names_given: bool
    tasks: list[str | int]
    features: dict[str, _Feature]


def prior_text(prior: RelevancePrior) -> str:
    """The counts and settings of a prior as JSON."""
    tasks = [_plain(task) for task in prior.tasks_]
    names = prior.feature_names_
    candidate_in: list[list[str | int]] = [[] for _ in names]
    selected_in: list[list[str | int]] = [[] for _ in names]
    for task, (chosen, candidates) in zip(tasks, prior._counts.values(), strict=True):
        for j in candidates:
            candidate_in[j].append(task)
        for j in chosen:
            selected_in[j].append(task)
    families = prior.families_
    lines = []
    for j in sorted(range(len(names)), key=names.__getitem__):
        entry = {
            "number": j,
            "family": families[j],
            "candidate": len(candidate_in[j]),
            "selected": len(selected_in[j]),
            "candidate_in": candidate_in[j],
            "selected_in": selected_in[j],
        }
        lines.append(f"  {_json(names[j])}: {_json(entry)}")
    settings = {name: getattr(prior, name) for name in sorted(SETTINGS)}
    head = [
        f' "format": {_json(FORMAT)}',
        f' "version": {VERSION}',
        f' "settings": {_json(settings)}',
        f' "feature_names_given": {_json(prior.feature_names is not None)}',
        f' "tasks": {_json(tasks)}',
        ' "features": {\n' + ",\n".join(lines) + "\n }",
    ]
    return "{\n" + ",\n".join(head) + "\n}\n"


def prior_of(
    kind: type[RelevancePrior], text: bytes, room: Room, families: Families = None
) -> RelevancePrior:
    """The prior that :func:`prior_text` wrote; the room is that of the file it stood in."""
    path = room.file
    room.take(_OF_TEXT * len(text))
    content = _decoded(text, path)
    room.take(_OF_TASK * len(content.tasks))
    names = _checked_names(content, path)
    listed = {name: feature.family for name, feature in content.features.items()}
    others = families if callable(families) else family_of
    prior = kind(
        feature_names=names if content.feature_names_given else None,
        families=ListedFamilies(listed, others),
        **content.settings,  # type: ignore[arg-type]
    )
    try:
        prior._begin()
    except (InputError, TypeError) as error:
        raise ReadError(f"settings cannot be used: {error}", file=path) from None
    if not content.feature_names_given:
        prior._features.number.add(names)
    chosen: dict[Hashable, list[int]] = {task: [] for task in content.tasks}
    candidates: dict[Hashable, list[int]] = {task: [] for task in content.tasks}
    for name in names:
        feature = content.features[name]
        for task in feature.candidate_in:
            candidates[task].append(feature.number)
        for task in feature.selected_in:
            chosen[task].append(feature.number)
    for task in content.tasks:
        prior._keep(task, np.array(chosen[task], np.int64), np.array(candidates[task], np.int64))
    return prior


def _decoded(text: bytes, path: str) -> _File:
    try:
        content = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = " ".join(str(error).split())  # names of the file are in it, lines and all
        raise ReadError(f"not a relevance prior: {told}", file=path) from None
    if content.format != FORMAT:
        raise ReadError(f"format is {content.format!r}, not {FORMAT!r}", file=path)
    if content.version != VERSION:
        raise ReadError(f"version {content.version}; this program reads {VERSION}", file=path)
    return content


def _checked_names(content: _File, path: str) -> list[str]:
    """The names of the features in order, when everything said of them agrees."""

    def fault(message: str) -> ReadError:
        return ReadError(message, file=path)

    if set(content.settings) != set(SETTINGS):
        wrong = sorted(set(content.settings) ^ set(SETTINGS))[0]
        raise fault(f"setting {wrong!r} is missing or unknown")
    tasks = set(content.tasks)
    if len(tasks) < len(content.tasks):
        raise fault("a task is named twice")
    names: list[str | None] = [None] * len(content.features)
    for name, feature in content.features.items():
        if not 0 <= feature.number < len(names) or names[feature.number] is not None:
            raise fault(
                f"the number of feature {name!r} is {feature.number}: out of range or taken"
            )
        names[feature.number] = name
        met, selected = set(feature.candidate_in), set(feature.selected_in)
        if not met <= tasks:
            raise fault(f"feature {name!r} names a task that is not in the list")
        if not selected <= met:
            raise fault(f"feature {name!r} is selected in a task where it is no candidate")
        counts = (len(feature.candidate_in), len(feature.selected_in))
        if counts != (feature.candidate, feature.selected) or counts != (len(met), len(selected)):
            raise fault(f"the counts of feature {name!r} do not agree with its tasks")
    return [name for name in names if name is not None]


def _plain(task: Hashable) -> str | int:
    if isinstance(task, np.generic):
        task = task.item()
    if isinstance(task, (str, int)) and not isinstance(task, bool):
        return str(task) if isinstance(task, str) else task
    raise InputError(f"task {task!r} cannot be written; names of tasks are text or whole numbers")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda number: number.item())
