"""Search features, their metrics and the parameters of a memory-based learner together.

The strategies:

===========  ==================================================================================
guided       our own, and the default: a model of the settings tried so far proposes the next
local        climbs by single changes, kicks what it found, climbs again
genetic      the paper's genetic algorithm, with its parameters
forward      the paper's forward selection: from nothing, the change that helps most
backward     the paper's backward elimination: from everything, the change that hurts least
grid         the paper's exhaustive search: all features alike, every weighting, every k
exhaustive   every setting there is
optuna       Optuna's TPE sampler
===========  ==================================================================================

One pass over the neighbours gives the score of every k and every vote.  The strategies of the
paper search k as one choice among others and are told of the k they asked for; guided, local, grid
and exhaustive leave k out and take the best.  Either way a weighting with its modes is evaluated
once.  What is kept is the best setting that was ever evaluated, the default among them; the best
that the strategy itself knows of may be less.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from featloom.counts.values import WEIGHTS
from featloom.data.class_types import type_of_values
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.learners.comparison import MODES, SCALE, VOTES, Comparison
from featloom.learners.inputs import TableReader, TakesSymbols, encode_target
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search.evaluation import FitEvaluation, Trial
from featloom.methods.memory_search.settings import KS, OFFERED, SCORINGS, Setting, SettingSpace
from featloom.options import check, none, one_of, seed, threads, whole
from featloom.pool import number_of_workers
from featloom.search import (
    AllAtOnce,
    Budget,
    Exhaustive,
    Genetic,
    Greedy,
    Guided,
    IteratedLocal,
    Journal,
    Listed,
    OptunaSampler,
    Strategy,
    fingerprint,
    search,
)
from featloom.search.space import Candidate, candidate_key

DEFAULT = Setting(1, "gain_ratio", ())
SEARCHES = ("together", "features", "parameters")
KEPT = ("best", "strategy")
_FIXED = ("decay", "mvdm_threshold", "compat")  # of the classifier


def _forward(space: SettingSpace, seed: int, **options) -> Strategy:
    """From no feature, the smallest k and the first weighting."""
    if "ignore" not in space.modes:
        raise InputError("strategy 'forward' begins with no feature; modes must offer 'ignore'")
    start = space.candidate(space.weights[0], ("ignore",) * len(space.columns), min(space.ks))
    return AllAtOnce(Greedy(space.settings, start, **options))


def _backward(space: SettingSpace, seed: int, **options) -> Strategy:
    """From all features by overlap and the default parameters; equal scores are good enough."""
    start = {"k": DEFAULT.k if DEFAULT.k in space.ks else min(space.ks), **space.default()}
    return AllAtOnce(Greedy(space.settings, start, **({"accept": "not_worse"} | options)))


STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "guided": lambda space, seed, **options: Guided(
        space.fits, seed, **({"start": space.uniform()} | options)
    ),
    "local": lambda space, seed, **options: IteratedLocal(
        space.fits, seed, **({"start": space.uniform()} | options)
    ),
    "genetic": lambda space, seed, **options: AllAtOnce(Genetic(space.settings, seed, **options)),
    "forward": _forward,
    "backward": _backward,
    "grid": lambda space, seed: Listed(space.uniform()),
    "exhaustive": lambda space, seed: Exhaustive(space.fits),
    "optuna": lambda space, seed, **options: OptunaSampler(space.fits, seed, **options),
}


class MemorySearch(TakesSymbols, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A :class:`MemoryClassifier` whose features, metrics and parameters are searched.

    Parameters
    ----------
    strategy : one of those above, by name.
    over : what is searched: modes and parameters "together", the modes of the "features" alone
        (k = 1, gain ratio), or the "parameters" alone (all features alike).
    ks, weights, modes, votes : the values to choose from; of equally good votes the first.
    vote : of the classifier, in place of ``votes``: kept fixed.
    decay, mvdm_threshold, compat : of the classifier, kept fixed; decay may be "scale".
    keep : "best", the best setting evaluated, among them the default (k = 1, gain ratio, overlap);
        or "strategy", what the strategy ended with, as in the paper.
    scoring : what makes a setting good.  "accuracy": its share of right answers; or "log_loss": how
        much its probabilities lose, with the best ``smoothing`` that it can have.
    cv : folds, where no validation data is given.
    budget : a time such as "10m", or a number of seconds; None: until the strategy is done.
    trials : the most evaluations; None: as many as the strategy asks for.
    options : parameters of the strategy, such as ``{"mutation": 0.05}``.
    journal : file that keeps every evaluation, for a search that is stopped and resumed.
    n_jobs : threads; they change the time and nothing else.
    random_state : seed of the strategy and the folds.
    progress : called with (done, total, best score).

    Attributes
    ----------
    best_setting_ : k, weights, vote and the mode of each column; by log-loss also the smoothing.
    best_score_ : its accuracy on the validation data, or over the folds; or minus its log-loss.
    best_estimator_ : the classifier with that setting, fitted on X.
    history_ : the evaluations in order, each with the score of every k.
    trajectory_ : after each evaluation, the score of the best setting that the search had found.
    classes_, n_features_in_ : as in scikit-learn.

    Examples
    --------
    >>> letters = [[a, b, c] for a in "ckgs" for b in "aeiou" for c in "xyz"]
    >>> sounds = ["S" if b in "ei" else a for a, b, c in letters]
    >>> search = MemorySearch(cv=3, random_state=0).fit(letters, sounds)
    >>> search.best_setting_["weights"], search.best_score_
    ('none', 1.0)

    By log-loss, the class shares are mixed into the votes as far as that makes them better:

    >>> search = MemorySearch(cv=3, scoring="log_loss", random_state=0).fit(letters, sounds)
    >>> search.best_setting_["smoothing"], search.best_estimator_.smoothing
    (0.003, 0.003)
    """

    constraints = {
        "strategy": one_of(STRATEGIES),
        "over": one_of(SEARCHES),
        **OFFERED,
        "vote": one_of(VOTES) | none,
        **{name: MemoryClassifier.constraints[name] for name in _FIXED},
        "keep": one_of(KEPT),
        "scoring": one_of(SCORINGS),
        "trials": whole(1) | none,
        "n_jobs": threads,
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        strategy="guided",
        over="together",
        ks=KS,
        weights=WEIGHTS,
        modes=MODES,
        votes=VOTES,
        vote=None,
        decay=1.0,
        mvdm_threshold=1,
        compat="timbl",
        keep="best",
        scoring="accuracy",
        cv=5,
        budget=None,
        trials=None,
        options=None,
        journal=None,
        n_jobs=None,
        random_state=None,
        progress=None,
    ):
        self.strategy = strategy
        self.over = over
        self.ks = ks
        self.weights = weights
        self.modes = modes
        self.votes = votes
        self.vote = vote
        self.decay = decay
        self.mvdm_threshold = mvdm_threshold
        self.compat = compat
        self.keep = keep
        self.scoring = scoring
        self.cv = cv
        self.budget = budget
        self.trials = trials
        self.options = options
        self.journal = journal
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y=None, X_valid=None, y_valid=None, groups=None):
        """Search on validation data, or by cross-validation over X; then fit the best on X.

        ``groups`` (documents) are never split between folds.
        """
        self._check_parameters()
        reader = TableReader()
        table = reader.fit(self, X)
        labels, self.classes_ = encode_target(table, y)
        space = self._space(table.columns)
        if X_valid is None:
            trials, rows = self._folds(table, labels, groups)
        else:
            valid = reader.read(self, X_valid)
            trials, rows = self._validation(table, labels, valid, y_valid)
        evaluation = FitEvaluation(
            trials,
            space,
            self._comparison(),
            number_of_workers(self.n_jobs),
            self.decay,
            self.scoring,
        )
        self._search(evaluation, space, fingerprint(table.codes, labels, *rows))
        self.best_estimator_ = self._classifier().fit(X, y)
        return self

    def predict(self, X):
        """Classes of cases, by the best setting."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_proba(self, X):
        """Shares of the votes, by the best setting; searched by log-loss, they are smoothed."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def _search(self, evaluation: FitEvaluation, space: SettingSpace, data: str) -> None:
        strategy = self._strategy(space)
        description: dict[str, Any] = {
            "method": "memory",
            "choices": space.fits.describe(),
            "ks": list(space.ks),
            "comparison": [*evaluation.how[2:]],
            "folds": None if len(evaluation.trials) == 1 else len(evaluation.trials),
        }
        if len(space.votes) > 1:
            description["votes"] = list(space.votes)
        if self.decay == SCALE:
            description["decay"] = SCALE
        if self.scoring != "accuracy":
            description["scoring"] = self.scoring
        opened = (
            nullcontext(None)
            if self.journal is None
            else Journal(self.journal, data=data, search=description)
        )
        self.trajectory_: list[float] = []
        with opened as journal:
            self.history_ = search(
                evaluation,
                strategy,
                journal=journal,
                budget=self.budget,
                trials=self.trials,
                progress=self.progress,
                on_result=lambda _: self._look_at(strategy),
            )
            results = [(e.candidate, e.result) for e in self.history_]
            default = space.default()
            if self.keep == "best" and all(other != default for other, _ in results):
                results.append((default, _evaluated(evaluation, default, journal)))
        self._look_at(strategy)
        self._choose(strategy, results, space)

    def _look_at(self, strategy: Strategy) -> None:
        """Write down what a strategy has after the evaluations that it was told of.

        Not the best of all k: a strategy that searches k knows of those it asked for.
        """
        if strategy.best is not None:
            self.trajectory_.append(strategy.best[1])

    def _choose(
        self,
        strategy: Strategy,
        results: list[tuple[Candidate, dict[str, Any]]],
        space: SettingSpace,
    ) -> None:
        """The strategy's best setting, or a better one that was evaluated."""
        found: tuple[Candidate, dict[str, Any]] | None = None
        k, score = 0, -np.inf
        if strategy.best is not None:
            best, score = strategy.best
            candidate = {name: value for name, value in best.items() if name != "k"}
            found = next(one for one in results if one[0] == candidate)
            k = best.get("k", found[1]["k"])
        if self.keep == "best":
            for candidate, result in results:
                if result["score"] > score:
                    found, k, score = (candidate, result), result["k"], result["score"]
        if found is None:
            raise InputError("the search evaluated nothing; give it a larger budget")
        candidate, result = found
        self.best_score_ = score
        vote = _best_vote(result, k, space)
        self._setting = Setting(k, candidate["weights"], space.modes_of(candidate), vote)
        self.best_setting_ = self._setting.as_dict(space.columns)
        if self.scoring == "log_loss":
            self.best_setting_["smoothing"] = result["smoothings"][vote][space.ks.index(k)]

    def _classifier(self) -> MemoryClassifier:
        k, weights, modes, vote = self._setting
        return MemoryClassifier(
            k=k, weights=weights, metric=modes, vote=vote, decay=self.decay,
            mvdm_threshold=self.mvdm_threshold, compat=self.compat, n_jobs=self.n_jobs,
            smoothing=self.best_setting_.get("smoothing", 0.0),
        )  # fmt: skip

    def _comparison(self) -> Comparison:
        timbl = self.compat == "timbl"
        return Comparison(
            (), (), self._votes()[0], 1.0 if self.decay == SCALE else float(self.decay),
            self.mvdm_threshold, timbl,
            "first" if timbl else "never",
        )  # fmt: skip

    def _check_parameters(self) -> None:
        check(self)
        Budget.of(self.budget, self.trials)

    def _space(self, columns: Sequence[str]) -> SettingSpace:
        if self.over == "features":
            return SettingSpace(
                columns, [DEFAULT.k], [DEFAULT.weights], self.modes, self._votes()[:1]
            )
        return SettingSpace(columns, self.ks, self.weights, self.modes, self._votes())

    def _votes(self) -> tuple[str, ...]:
        return tuple(self.votes) if self.vote is None else (self.vote,)

    def _folds(self, table: NominalTable, labels, groups):
        seed = 0 if self.random_state is None else self.random_state
        groups = table.groups if groups is None else groups
        # A class too rare for every fold is not known to some of the memories, and wrong there.
        fold_of = make_folds(labels, n_folds=self.cv, groups=groups, seed=seed, allow_rare=True)
        n_values = [len(vocabulary) + 1 for vocabulary in table.vocabularies]
        trials = [
            Trial(
                table.codes[train], labels[train], table.codes[held_out], labels[held_out],
                n_values, len(self.classes_),
            )
            for train, held_out in splits(fold_of)
        ]  # fmt: skip
        return trials, (fold_of,)

    def _validation(self, table: NominalTable, labels, valid: NominalTable, y_valid):
        held_out = self._valid_labels(valid, y_valid)
        n_values = [len(vocabulary) + 1 for vocabulary in table.vocabularies]
        trial = Trial(table.codes, labels, valid.codes, held_out, n_values, len(self.classes_))
        return [trial], (valid.codes, held_out)

    def _valid_labels(self, valid: NominalTable, y_valid) -> np.ndarray:
        """Codes of the classes; one that was not met in X is -1, and never right."""
        if y_valid is None:
            if valid.labels is None:
                raise InputError("X_valid carries no labels, and y_valid is None")
            y_valid = valid.row_classes(type_of_values(self.classes_))
        if len(y_valid) != len(valid):
            raise InputError(f"y_valid has {len(y_valid)} labels, X_valid has {len(valid)} rows")
        return Vocabulary(self.classes_.tolist()).find(np.asarray(y_valid).tolist())

    def _strategy(self, space: SettingSpace) -> Strategy:
        if self.over == "parameters":
            return Listed(space.uniform())
        seed = 0 if self.random_state is None else self.random_state
        try:
            return STRATEGIES[self.strategy](space, seed, **(self.options or {}))
        except TypeError as error:
            raise InputError(f"options of strategy {self.strategy!r}: {error}") from None


def _evaluated(
    evaluation: FitEvaluation, candidate: Candidate, journal: Journal | None
) -> dict[str, Any]:
    """The result of a candidate that the strategy did not ask for, from the journal or for it."""
    known = None if journal is None else journal.get(candidate_key(candidate))
    if known is not None:
        return known.result
    begun = time.monotonic()
    result = evaluation(candidate)
    if journal is not None:
        seconds = time.monotonic() - begun
        journal.append(candidate, result, seconds=seconds, elapsed=journal.elapsed + seconds)
    return result


def _best_vote(result: Mapping[str, Any], k: int, space: SettingSpace) -> str:
    """The vote that is best at that k; the first of those that are."""
    if len(space.votes) == 1:
        return space.votes[0]
    place = space.ks.index(k)
    return max(space.votes, key=lambda vote: result["votes"][vote][place])
