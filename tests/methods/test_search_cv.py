"""SearchCV: any transformer, any strategy; the same choice from each of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from featloom import ConjunctionInducer, MDLSelector, TreeTemplates
from featloom.errors import InputError
from featloom.methods.search_cv import STRATEGIES, SearchCV

RANDOM = np.random.default_rng(0)
X = sparse.csr_matrix((RANDOM.random((120, 12)) < 0.4).astype(int))
Y = (X[:, [0]].toarray() & X[:, [1]].toarray()).ravel()
TRANSFORMERS = {
    "conjunctions": (ConjunctionInducer(score="mi"), {"final_keep": [1, 8]}),
    "description length": (MDLSelector(), {"cost": [0.0, "ric"]}),
    "scikit-learn's": (SelectKBest(chi2), {"k": [1, 2, 6]}),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_chooses_the_same_of_every_transformer(name, strategy):
    if strategy == "optuna":
        pytest.importorskip("optuna")
    transformer, grid = TRANSFORMERS[name]
    how = {"transformer": transformer, "grid": grid, "rule": "best", "cv": 3}
    every = SearchCV(BernoulliNB(), **how).fit(X, Y)
    one = SearchCV(BernoulliNB(), strategy=strategy, **how).fit(X, Y)
    assert one.best_params_ == every.best_params_
    assert one.best_score_ == every.best_score_
    assert one.predict(X).tolist() == every.predict(X).tolist()
    assert one.predict_proba(X).shape == (120, 2)


def test_a_number_of_trials_is_one_of_settings(tmp_path):
    how = {"transformer": TreeTemplates(), "grid": {"max_length": [1, 2, 3]}, "cv": 2}
    rows = X.toarray().astype(str).astype(object)
    variants = {"multinomial": MultinomialNB(), "Bernoulli": BernoulliNB()}
    journal = tmp_path / "a.journal"
    first, again = (
        SearchCV(variants, trials=2, journal=journal, **how).fit(rows, Y) for _ in range(2)
    )
    assert [e.candidate for e in first.history_] == [{"max_length": 1}, {"max_length": 2}]
    assert len(first.cv_results_) == 4
    assert set(first.best_params_) == {"max_length", "classifier"}
    assert again.history_.replayed == 2
    with pytest.raises(InputError, match="made by another search"):
        SearchCV(BernoulliNB(), trials=2, journal=journal, **how).fit(rows, Y)


def test_without_a_transformer_there_is_nothing_to_search():
    with pytest.raises(InputError, match="transformer is None; there is nothing to search"):
        SearchCV().fit(X, Y)
