"""Choose how long templates may be, and how many there are, by cross-validation.

Trees are grown once for each fold; settings differ only in where they are cut.  A ``max_length``
of 1 with single columns is the classifier without any templates: the baseline is in the grid.  Of
the settings within one standard error of the best, the one with the fewest features is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.folds import given_folds, make_folds
from featloom.evaluation.objective import Objective
from featloom.evaluation.selection import RULES, one_standard_error
from featloom.features.expansion import TemplateExpansion
from featloom.features.template import Template
from featloom.learners.inputs import TableReader, encode_target
from featloom.learners.linear import logistic_regression
from featloom.learners.tree_columns import best_columns
from featloom.learners.tree_paths import templates_of_trees
from featloom.methods.tree_templates.features import rows_of_ones, without_sentences
from featloom.methods.tree_templates.tree_templates import (
    TreeTemplates,
    columns_among,
    labelled,
    most_templates,
    with_singles,
)
from featloom.search import Exhaustive, Journal, SearchSpace, fingerprint, search
from featloom.search.space import json_text


class TreeTemplatesCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier on templates from trees, whose length and number are cross-validated.

    Parameters
    ----------
    classifier : on the features; default a logistic regression.
    templates : the :class:`TreeTemplates` to cut; default the recommended ones.
    max_lengths : columns of the longest template.
    mosts : how many templates are kept, those with the highest gains; None: all.
    param_grid : lists of values for parameters of the classifier, as in scikit-learn.
    positive : class whose F1 counts; default the rarer of two classes, accuracy with more.
    cv : number of folds.
    rule : "standard_error", "standard_deviation" or "best".
    journal : file that keeps every finished setting, for a search that is stopped and resumed.
    n_jobs : processes.
    random_state : seed of the folds.
    progress : called with (done, total, best score).

    Attributes
    ----------
    best_params_, best_score_, best_std_, best_estimator_ : the choice, refitted on all data.
    cv_results_ : a row for each setting: mean, standard deviation, scores of the folds, number of
        features.
    history_ : the evaluations in order.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(0, 2, (300, 2))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> search = TreeTemplatesCV(max_lengths=(1, 2), mosts=(None,), cv=3).fit(X, y)
    >>> search.best_params_, search.best_score_
    ({'max_length': 2, 'most': None}, 1.0)
    """

    def __init__(
        self,
        classifier=None,
        *,
        templates=None,
        max_lengths=(1, 2, 3, 4, 6),
        mosts=(10, 30, 100, None),
        param_grid=None,
        positive=None,
        cv=5,
        rule="standard_error",
        journal=None,
        n_jobs=1,
        random_state=0,
        progress=None,
    ):
        self.classifier = classifier
        self.templates = templates
        self.max_lengths = max_lengths
        self.mosts = mosts
        self.param_grid = param_grid
        self.positive = positive
        self.cv = cv
        self.rule = rule
        self.journal = journal
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y=None, groups=None, folds=None):
        """Search, choose, and refit the choice on all rows.

        ``groups`` (documents) are never split; ``folds`` gives the fold of each row instead.
        """
        if self.rule not in RULES:
            raise InputError(f"rule is {self.rule!r}; it can be {', '.join(RULES)}")
        table = TableReader().fit(self, X)
        labels, self.classes_ = encode_target(table, y)
        table = labelled(without_sentences(table), labels, self.classes_)
        fold_of = self._folds(labels, table.groups if groups is None else groups, folds)
        self.objective_ = Objective.of(table.classes, labels, self.positive)
        evaluation = CutEvaluation(
            table, fold_of, self._templates(), self._classifier(), self.objective_,
            max_lengths=list(self.max_lengths), mosts=list(self.mosts),
        )  # fmt: skip
        self._search(evaluation, fold_of)
        self._choose()
        self._refit(X, labels)
        return self

    def predict(self, X):
        """Classes of rows, by the chosen templates and classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.classes_[self.best_estimator_.predict(X)]

    @available_if(lambda self: hasattr(self._classifier(), "predict_proba"))
    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def _classifier(self):
        return logistic_regression() if self.classifier is None else self.classifier

    def _templates(self) -> TreeTemplates:
        return TreeTemplates() if self.templates is None else clone(self.templates)

    def _folds(self, labels, groups, folds) -> np.ndarray:
        if folds is not None:
            return given_folds(folds, labels, allow_rare=True)
        seed = 0 if self.random_state is None else self.random_state
        return make_folds(labels, n_folds=self.cv, groups=groups, seed=seed, allow_rare=True)

    def _search(self, evaluation: CutEvaluation, fold_of: np.ndarray) -> None:
        # Fold by fold, so that one fold's trees are at hand while all its settings are read.
        space = SearchSpace(
            {
                "fold": sorted(set(fold_of.tolist())),
                "max_length": evaluation.max_lengths,
                "most": evaluation.mosts,
                "classifier": list(ParameterGrid(self.param_grid or {})),
            }
        )
        about = {
            "method": "tree_templates",
            "version": 1,  # of what trees and features are
            "objective": self.objective_.name,
            "templates": {k: repr(v) for k, v in evaluation.templates.get_params().items()},
            "classifier": repr(evaluation.classifier.get_params()),
            "space": space.describe(),
        }
        book: Any = nullcontext()
        if self.journal is not None:
            table = evaluation.table
            marks = fingerprint(table.codes, table.labels, fold_of)
            book = Journal(Path(self.journal), data=marks, search=about)
        with book as journal:
            self.history_ = search(
                evaluation, Exhaustive(space), journal=journal, jobs=self.n_jobs or 1,
                progress=self.progress,
            )  # fmt: skip

    def _choose(self) -> None:
        rows: dict[str, dict[str, Any]] = {}
        for one in self.history_:
            setting = {name: v for name, v in one.candidate.items() if name != "fold"}
            row = rows.setdefault(json_text(setting), {**setting, "scores": [], "features": []})
            row["scores"].append(one.score)
            row["features"].append(one.result["features"])
        self.cv_results_ = [
            row
            | {
                "mean": float(np.mean(row["scores"])),
                "std": float(np.std(row["scores"], ddof=1)),
                "features": float(np.mean(row["features"])),
            }
            for row in rows.values()
        ]
        scores = [row["scores"] for row in self.cv_results_]
        sizes = [row["features"] for row in self.cv_results_]
        chosen = self.cv_results_[one_standard_error(scores, sizes, rule=self.rule)]
        self.best_params_ = {name: chosen[name] for name in ("max_length", "most")}
        self.best_params_ |= {f"classifier__{k}": v for k, v in chosen["classifier"].items()}
        self.best_score_, self.best_std_ = chosen["mean"], chosen["std"]

    def _refit(self, X, labels: np.ndarray) -> None:
        cut = {name: self.best_params_[name] for name in ("max_length", "most")}
        steps = [
            ("templates", self._templates().set_params(**cut)),
            ("classifier", clone(self._classifier())),
        ]
        tuned = {k: v for k, v in self.best_params_.items() if k not in cut}
        self.best_estimator_ = Pipeline(steps).set_params(**tuned).fit(X, labels)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class CutEvaluation:
    """One setting in one fold: {"fold", "max_length", "most", "classifier"} to a score.

    Keeps the trees and features of the last fold for the next setting.
    """

    def __init__(
        self,
        table: NominalTable,
        fold_of: np.ndarray,
        templates: TreeTemplates,
        classifier: Any,
        objective: Objective,
        *,
        max_lengths: Sequence[int],
        mosts: Sequence[int | None],
    ):
        self.table, self.fold_of = table, fold_of
        self.templates, self.classifier, self.objective = templates, classifier, objective
        self.max_lengths, self.mosts = list(max_lengths), list(mosts)
        self._at_hand: tuple[int, FoldTemplates] | None = None

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        fold = candidate["fold"]
        train = np.flatnonzero(self.fold_of != fold)
        test = np.flatnonzero(self.fold_of == fold)
        if self._at_hand is None or self._at_hand[0] != fold:
            self._at_hand = None  # let go of the last one before the next is made
            settings = [(length, most) for length in self.max_lengths for most in self.mosts]
            parts = self.table.take(train), self.table.take(test)
            self._at_hand = fold, FoldTemplates(*parts, self.templates, settings)
        at_hand = self._at_hand[1]
        learn, judge = at_hand.matrices(candidate["max_length"], candidate["most"])
        model = clone(self.classifier).set_params(**candidate["classifier"])
        model.fit(learn, self.table.label_codes[train])
        score = self.objective.value(self.table.label_codes[test], model.predict(judge))
        return {"score": score, "features": learn.shape[1]}

    def __getstate__(self):
        return {**self.__dict__, "_at_hand": None}


class FoldTemplates:
    """The templates of all settings on one fold's trees, expanded once.

    Parameters
    ----------
    train, test : rows of the fold.
    templates : how trees are grown and read.
    settings : (max_length, most) of all that will be asked for.
    """

    def __init__(
        self,
        train: NominalTable,
        test: NominalTable,
        templates: TreeTemplates,
        settings: Sequence[tuple[int, int | None]],
    ):
        self.how = templates._settings()
        self.among, self.n_rows = best_columns(train, templates.most_columns), len(train)
        self.trees = templates._grow(train, self.among)
        self.columns = columns_among(train, self.among)
        together: dict[frozenset[str], Template] = {}
        for setting in settings:
            for template in self._templates(*setting):
                together.setdefault(_columns(template), template)
        self._place = {columns: number for number, columns in enumerate(together)}
        expansion = TemplateExpansion(train, list(together.values()), self.how["cutoff"])
        self._first = expansion.first
        self._train, self._test = expansion.features, expansion.apply(test)

    def matrices(self, max_length: int, most: int | None):
        """Training and test rows with the features of one setting."""
        templates = self._templates(max_length, most)
        chosen = np.array(sorted(self._place[_columns(template)] for template in templates))
        sizes = np.diff(self._first)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shift = starts[:-1] - self._first[chosen]
        return [
            rows_of_ones(np.where(numbers >= 0, numbers + shift, -1), int(starts[-1]))
            for numbers in (self._train[:, chosen], self._test[:, chosen])
        ]

    def _templates(self, max_length: int, most: int | None) -> list[Template]:
        grown = templates_of_trees(
            self.trees,
            max_length=max_length,
            most=most_templates(most, self.among, self.n_rows),
            backoff=self.how["backoff"],
            floor=self.how["floor"],
        )
        return with_singles(grown, self.columns if self.how["singles"] or not grown else ())


def _columns(template: Template) -> frozenset[str]:
    return frozenset(name for name, _ in template.places)
