"""Choose how long templates may be, and how many there are, by cross-validation.

Trees are grown once for each fold; settings differ only in where they are cut.  A ``max_length``
of 1 with single columns is the classifier without any templates: the baseline is in the grid.  Of
the settings within one standard error of the best, the one with the fewest features is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featloom.data.table import NominalTable
from featloom.features.expansion import TemplateExpansion
from featloom.features.template import Template
from featloom.learners.tree_columns import best_columns
from featloom.learners.tree_paths import templates_of_trees
from featloom.methods.search_cv import SearchCV
from featloom.methods.tree_templates.features import rows_of_ones, without_sentences
from featloom.methods.tree_templates.tree_templates import (
    TreeTemplates,
    columns_among,
    labelled,
    most_templates,
    with_singles,
)


class FoldTemplates:
    """The templates of all settings on one fold's trees, expanded once.

    Parameters
    ----------
    table, labels : all rows and the codes of their classes.
    rows, test_rows : numbers of the training and of the test rows.
    templates : how trees are grown and read.
    cells : "max_length" and "most" of all that will be asked for.
    """

    def __init__(
        self,
        table: NominalTable,
        labels: np.ndarray,
        rows: np.ndarray,
        test_rows: np.ndarray,
        templates: TreeTemplates,
        cells: Sequence[Mapping[str, Any]],
    ):
        table = labelled(without_sentences(table), labels, np.arange(labels.max() + 1))
        train, test = table.take(rows), table.take(test_rows)
        self.how = templates._settings()
        self.among, self.n_rows = best_columns(train, templates.most_columns), len(train)
        self.trees = templates._grow(train, self.among)
        self.columns = columns_among(train, self.among)
        together: dict[frozenset[str], Template] = {}
        for cell in cells:
            for template in self._templates(**cell):
                together.setdefault(_columns(template), template)
        self._place = {columns: number for number, columns in enumerate(together)}
        expansion = TemplateExpansion(train, list(together.values()), self.how["cutoff"])
        self._first = expansion.first
        self._train, self._test = expansion.features, expansion.apply(test)

    def matrices(self, cell: Mapping[str, Any]):
        """Training and test rows with the features of one setting."""
        templates = self._templates(**cell)
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


class TreeTemplatesCV(SearchCV):
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

    _step, _fold_features, _allows_rare = "templates", FoldTemplates, True

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

    @property
    def estimator(self) -> Any:
        return self.classifier

    def _transformer(self) -> TreeTemplates:
        return TreeTemplates() if self.templates is None else self.templates

    def _grid(self) -> Mapping[str, Sequence[Any]]:
        return {"max_length": self.max_lengths, "most": self.mosts}
