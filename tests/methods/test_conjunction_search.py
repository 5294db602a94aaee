"""ConjunctionSearchCV: cells are parts of one induction, folds are honest, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from featloom.data.matrix import FeatureMatrix
from featloom.errors import InputError
from featloom.methods.induction import ConjunctionInducer, ConjunctionSearchCV
from featloom.methods.induction.search import FoldFeatures, shared_parameters

SMALL_GRID = {"keep": [0.3, 1.0], "partners": [0.1, 0.3]}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.random((240, 30)) < 0.3).astype(int)
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3]) | (rng.random(240) < 0.1)
    return sparse.csr_matrix(X), y.astype(int), np.repeat(np.arange(60), 4)


@pytest.mark.parametrize(
    ("inducer", "cells"),
    [
        (
            ConjunctionInducer(preset="paper", score="fisher"),
            [{"keep": k, "partners": best} for k in (0.2, 0.5, 1.0) for best in (0.1, 0.2)],
        ),
        (
            ConjunctionInducer(score="mi", min_support=2),
            [{"final_keep": n} for n in (5, 50)],
        ),
        (
            ConjunctionInducer(score="residual", final_atomic=8),
            [{"final_keep": n} for n in (3, 10)],
        ),
        (
            ConjunctionInducer(score="residual", min_support=2),
            [{"final_keep": n} for n in (3, 10, 40)],
        ),
    ],
)
def test_every_cell_has_the_features_it_would_have_alone(data, inducer, cells):
    X, y, _ = data
    matrix = FeatureMatrix.from_csr(X)
    train, test = np.arange(0, 160), np.arange(160, 240)
    assert set(cells[0]) <= set(shared_parameters(inducer._settings()))
    shared = FoldFeatures(matrix, y, train, test, inducer, cells)
    for cell in cells:
        learn, judge = shared.cell(cell)
        alone = ConjunctionInducer(**{**inducer.get_params(), **cell})
        alone.fit(matrix.take(train), y[train])
        assert learn.shape[1] == len(alone.scores_)
        # The same columns in the same order, in rows that were seen and rows that were not.
        assert (learn != alone.transform(matrix.take(train))).nnz == 0
        assert (judge != alone.transform(matrix.take(test))).nnz == 0


def test_longer_conjunctions_share_nothing_between_cells():
    assert shared_parameters(ConjunctionInducer(max_length=3, score="mi")._settings()) == ()


def test_the_grid_is_the_papers_by_default():
    cells = list(ConjunctionSearchCV()._space(ConjunctionInducer(), 55_268))
    assert len(cells) == 55
    assert all(cell["partners"] <= cell["keep"] for cell in cells)


def test_the_search_and_the_baseline_are_tuned_on_the_same_folds(data):
    X, y, groups = data
    search = ConjunctionSearchCV(
        {"multinomial": MultinomialNB(), "Bernoulli": BernoulliNB()},
        grid=SMALL_GRID,
        param_grid={"alpha": [0.1, 1.0]},
        rule="best",
    ).fit(X, y, groups=groups)
    assert len(search.history_) == 5 * (1 + 4)
    assert len(search.cv_results_) == 4 * (1 + 4)
    assert search.best_score_ == max(r["mean"] for r in search.cv_results_ if r["cell"])
    assert search.baseline_score_ == max(r["mean"] for r in search.cv_results_ if not r["cell"])
    assert set(search.predict(X)) <= {0, 1}
    assert search.baseline_estimator_.predict(X).shape == y.shape


def test_processes_and_a_journal_change_nothing(data, tmp_path):
    X, y, groups = data
    one = ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID).fit(X, y, groups=groups)
    journal = tmp_path / "grid.journal"
    two = ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID, journal=journal, n_jobs=2)
    two.fit(X, y, groups=groups)
    again = ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID, journal=journal)
    again.fit(X, y, groups=groups)
    assert one.cv_results_ == two.cv_results_ == again.cv_results_
    assert again.history_.replayed == len(again.history_)


def test_a_journal_of_other_data_is_refused(data, tmp_path):
    X, y, _ = data
    journal = tmp_path / "grid.journal"
    ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID, journal=journal).fit(X, y)
    with pytest.raises(InputError, match="other data"):
        ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID, journal=journal).fit(X, 1 - y)


@pytest.mark.parametrize(
    ("parameters", "fit", "words"),
    [
        ({"estimator": KMeans().fit_predict}, {}, "is no classifier: it has no 'fit'"),
        ({"rule": "two"}, {}, "rule is 'two'"),
        ({"simplicity": "time"}, {}, "simplicity is 'time'"),
        ({"grid": {"depth": [1]}}, {}, "has no parameter 'depth'"),
        ({"grid": {"keep": [2.0]}}, {}, "keep is 2.0; it must be a share above 0"),
        ({"cv": 5}, {"groups": 3}, "3 groups"),
        ({"positive": "7"}, {}, "no class '7'; there are 0, 1"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(data, parameters, fit, words):
    X, y, groups = data
    options = {"grid": {"keep": [1.0], "partners": [0.1]}, "estimator": BernoulliNB()}
    search = ConjunctionSearchCV(**{**options, **parameters})
    with pytest.raises(InputError, match=words) as caught:
        search.fit(X, y, groups=groups % fit["groups"] if fit else None)
    assert "\n" not in str(caught.value)


def test_a_class_in_one_row_cannot_be_in_every_fold(data):
    X, y, _ = data
    rare = y.copy()
    rare[0] = 2
    with pytest.raises(InputError, match="class 2 has 1 row, fewer than the 5 folds"):
        ConjunctionSearchCV(BernoulliNB(), grid=SMALL_GRID).fit(X, rare)
