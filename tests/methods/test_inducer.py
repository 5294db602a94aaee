"""ConjunctionInducer: which features and conjunctions it keeps, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.methods.induction import ConjunctionInducer


@pytest.fixture(scope="module")
def letters():
    """c is sounded S before e and i, K elsewhere; h and the column ``noise`` do not matter."""
    rng = np.random.default_rng(0)
    letter = rng.choice(["c", "k", "s"], 600)
    following = rng.choice(["a", "e", "i", "o"], 600)
    noise = rng.choice(list("xyz"), 600)
    soft = (letter == "s") | ((letter == "c") & np.isin(following, ["e", "i"]))
    return NominalTable.from_columns(
        {"letter": letter.tolist(), "next": following.tolist(), "noise": noise.tolist()},
        labels=np.where(soft, "S", "K").tolist(),
    )


SOFT_C = {f"letter=c & next={vowel}" for vowel in "aeio"}


def test_residual_gain_finds_the_rule_of_soft_c(letters):
    inducer = ConjunctionInducer(score="residual", final_keep=4).fit(letters)
    assert {str(feature) for feature in inducer.conjunctions_} == SOFT_C


@pytest.mark.parametrize("score", ["mi", "ig", "su", "fisher", "chi2"])
def test_univariate_scores_find_it_among_the_letters_concerned(letters, score):
    only_c = letters.take(
        np.flatnonzero(letters.codes[:, 0] == 1 + letters.vocabularies[0].index("c"))
    )
    inducer = ConjunctionInducer(score=score, final_keep=8, drop_equal=False).fit(only_c)
    assert {str(feature) for feature in inducer.conjunctions_} >= SOFT_C
    # Over all letters they rank first what "letter=k" and "letter=s" say alone.
    whole = ConjunctionInducer(score=score, final_keep=1).fit(letters)
    assert str(whole.conjunctions_[0]).startswith(("letter=k", "letter=s"))


def test_a_feature_says_what_it_stands_for(letters):
    inducer = ConjunctionInducer(score="fisher", final_keep=1).fit(letters)
    best = inducer.conjunctions_[0]
    rows = [
        i
        for i in range(len(letters))
        if all(
            letters.value(*part.split("=")[:1], i) == part.split("=")[1]
            for part in best.feature.parts
        )
    ]
    counts = np.bincount(letters.labels[rows], minlength=2)
    # Classes are sorted by name, as scikit-learn does.
    by_name = {name: int(counts[code]) for code, name in enumerate(letters.classes)}
    assert best.support == len(rows)
    assert best.class_counts == tuple(by_name[name] for name in inducer.classes_)
    assert best.score == inducer.scores_[-1]


def test_scores_and_names_are_in_the_order_of_the_output_columns(letters):
    inducer = ConjunctionInducer(score="mi", final_keep=5).fit(letters)
    X = inducer.transform(letters)
    assert X.shape == (len(letters), len(inducer.scores_))
    assert [str(f) for f in inducer.features_] == list(inducer.get_feature_names_out())
    assert [f.support for f in inducer.features_] == X.sum(axis=0).A1.astype(int).tolist()
    atomic = [f.score for f in inducer.features_ if len(f.feature) == 1]
    joined = [f.score for f in inducer.conjunctions_]
    assert atomic == sorted(atomic, reverse=True)
    assert joined == sorted(joined, reverse=True)


def test_the_plan_makes_the_same_matrix(letters):
    inducer = ConjunctionInducer(score="mi", final_keep=5, max_length=3).fit(letters)
    assert (inducer.plan_.apply(letters).to_csr() != inducer.transform(letters)).nnz == 0


def test_values_not_seen_in_fit_make_no_feature(letters):
    inducer = ConjunctionInducer(score="mi").fit(letters)
    unseen = NominalTable.from_columns({"letter": ["q"], "next": ["e"], "noise": ["x"]})
    names = inducer.get_feature_names_out()[inducer.transform(unseen).indices]
    assert all("letter" not in name for name in names)


def test_triples_grow_from_kept_pairs():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (2000, 6))
    y = X[:, 0] & X[:, 1] & X[:, 2]
    inducer = ConjunctionInducer(score="chi2", max_length=3, final_keep=5).fit(X, y)
    assert str(inducer.conjunctions_[-1]) != ""
    best = max(inducer.conjunctions_, key=lambda feature: feature.score)
    assert str(best) == "x0 & x1 & x2"


def test_no_longer_conjunction_holds_in_exactly_the_rows_of_a_shorter_one():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (300, 5))
    X[:, 4] = 1  # holds everywhere, so joining it changes nothing
    y = X[:, 0] ^ X[:, 1]
    inducer = ConjunctionInducer(score="mi", max_length=3, final_keep=100, min_support=1).fit(X, y)
    assert not any("x4" in feature.feature.parts for feature in inducer.conjunctions_)


def test_copies_of_a_feature_do_not_fill_the_list_with_copies_of_conjunctions():
    rng = np.random.default_rng(6)
    X = rng.integers(0, 2, (300, 4))
    X[:, 3] = X[:, 0]
    y = X[:, 0] ^ X[:, 1]
    kept = ConjunctionInducer(score="mi", final_keep=100).fit(X, y)
    held = [tuple(column) for column in kept.transform(X).T.toarray()[4:]]
    assert len(held) == len(set(held))
    paper = ConjunctionInducer(preset="paper", keep=1.0, partners=1.0).fit(X, y)
    assert "x0 & x3" in paper.get_feature_names_out()


def test_the_papers_preset_joins_the_best_l_with_the_kept_k_and_drops_nothing():
    rng = np.random.default_rng(7)
    X = sparse.random(300, 40, density=0.3, random_state=8, data_rvs=np.ones)
    y = rng.integers(0, 2, 300)
    inducer = ConjunctionInducer(preset="paper", keep=10, partners=2).fit(X, y)
    features = inducer.features_
    kept = [str(f) for f in features[:10]]
    best_two = set(kept[:2])
    pairs = [f for f in features if len(f.feature) == 2]
    assert all(best_two & set(f.feature.parts) for f in pairs)
    assert all(set(f.feature.parts) <= set(kept) for f in pairs)
    together = (X.T @ X).toarray()
    numbers = [int(name[1:]) for name in kept]
    expected = sum(together[numbers[i], numbers[j]] > 0 for i in range(2) for j in range(i + 1, 10))
    assert len(pairs) == expected


def test_an_explicit_parameter_wins_over_a_preset(letters):
    inducer = ConjunctionInducer(preset="paper", score="su", keep=1.0, partners=3).fit(letters)
    assert inducer.parameters_["score"] == "su"
    assert inducer.parameters_["keep"] == 1.0
    assert inducer.parameters_["pairs"] == "ranked"


def test_keep_is_a_share_a_number_or_a_threshold(letters):
    share = ConjunctionInducer(score="mi", max_length=1, keep=0.5).fit(letters)
    number = ConjunctionInducer(score="mi", max_length=1, keep=5).fit(letters)
    assert len(share.scores_) == len(number.scores_) == 5
    bar = float(number.scores_[2])
    threshold = ConjunctionInducer(score="mi", max_length=1, keep=f">={bar!r}").fit(letters)
    assert threshold.scores_.tolist() == number.scores_[:3].tolist()


def test_atomic_features_can_be_left_out_after_conjunctions_were_made_of_them(letters):
    inducer = ConjunctionInducer(final_atomic=2, final_keep=4).fit(letters)
    assert len(inducer.scores_) == 6
    assert {str(feature) for feature in inducer.conjunctions_} == SOFT_C
    whole = ConjunctionInducer(final_keep=4).fit(letters)
    assert [str(f) for f in inducer.features_[:2]] == [str(f) for f in whole.features_[:2]]


def test_ties_are_broken_by_support_and_then_by_column():
    X = sparse.csr_matrix([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    inducer = ConjunctionInducer(score="mi", max_length=1, keep=1.0).fit(X, [0, 0, 1, 1])
    assert list(inducer.get_feature_names_out()) == ["x0", "x1", "x2"]


def test_threads_change_nothing(letters):
    one = ConjunctionInducer(max_length=3, n_jobs=1).fit(letters)
    two = ConjunctionInducer(max_length=3, n_jobs=2).fit(letters)
    assert list(one.get_feature_names_out()) == list(two.get_feature_names_out())
    assert one.scores_.tolist() == two.scores_.tolist()


def test_feature_groups_name_the_families_of_a_bare_matrix():
    X = sparse.csr_matrix([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
    matrix = FeatureMatrix.from_csr(X, feature_groups=["letter", "letter", "flag"])
    assert matrix.families == ("letter", "flag")
    assert matrix.single_valued.tolist() == [True, True]
    with pytest.raises(InputError, match="2 feature groups for 3 features"):
        ConjunctionInducer(feature_groups=["a", "b"]).fit(X, [0, 1, 0, 1])


X_SMALL = sparse.csr_matrix([[1, 0], [0, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"score": "entropy"}, "score is 'entropy'; it can be 'mi', 'ig'"),
        ({"keep": 0.0}, "keep is 0.0; it must be a share above 0"),
        ({"keep": 1.5}, "keep is 1.5; it must be a share above 0"),
        ({"keep": 0}, "keep is 0; it must be a share above 0"),
        ({"keep": "many"}, "keep is 'many'; .*, a threshold such as '>=3.8'"),
        ({"final_keep": -3}, "final_keep is -3"),
        ({"preset": "paper", "partners": 7}, "partners is 7, more than the 1 features kept|"
                                              "partners is 7"),
        ({"max_length": 0}, "max_length is 0; it must be a whole number"),
        ({"min_support": 2.5}, "min_support is 2.5"),
        ({"preset": "fitsi"}, "preset is 'fitsi'"),
        ({"C": 0}, "C is 0"),
        ({"score": "mi", "keep": ">=1000"}, "keep is '>=1000', which no feature reaches"),
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused_in_one_line(parameters, words):
    with pytest.raises(InputError, match=words) as caught:
        ConjunctionInducer(**{"keep": 2, **parameters}).fit(X_SMALL, [0, 1, 0, 1])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (sparse.csr_matrix([[1, -1], [0, 1]]), [0, 1], "row 0, feature 1 has the value -1"),
        (sparse.csr_matrix([[1, 0.5], [0, 1]]), [0, 1], "row 0, feature 1 has the value 0.5"),
        (X_SMALL, [1, 1, 1, 1], "one class only"),
        (X_SMALL, [0, 1, float("nan"), 0], "NaN or infinity in row 2"),
        (X_SMALL, ["a", None, "b", "a"], "y is missing in row 1"),
        (X_SMALL, [0, 1], "y has shape"),
        (X_SMALL, None, "requires y"),
    ],
)
def test_data_that_cannot_be_used_is_refused_in_one_line(X, y, words):
    with pytest.raises(InputError, match=words) as caught:
        ConjunctionInducer().fit(X, y)
    assert "\n" not in str(caught.value)


def test_a_notebook_shows_the_conjunctions_of_a_fitted_inducer(letters):
    assert "letter=c &amp; next=e" in ConjunctionInducer().fit(letters)._repr_html_()
    assert "ConjunctionInducer" in ConjunctionInducer()._repr_html_()


def test_of_a_very_wide_matrix_the_best_features_alone_are_joined():
    """Rows of 500 features; the best of them are still found, and pairs stay below a billion."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(9000, 500), dtype=np.int8)
    y = bits[:, 7] & bits[:, 300]
    X = sparse.csr_matrix(np.hstack([bits, 1 - bits]))
    names = [f"c{j % 500}={1 - j // 500}" for j in range(1000)]
    groups = [f"c{j % 500}" for j in range(1000)]
    inducer = ConjunctionInducer(score="mi", final_keep=5, feature_groups=groups).fit(X, y)
    left = inducer.dropped_["features that score too low for so many pairs (not conjoined)"]
    assert 0 < left < 1000
    in_a_row = (1000 - left) / 2
    assert 9000 * in_a_row**2 / 2 < 1.1e9
    best = inducer.get_feature_names_out(names)[1000:]
    assert {"c7=1 & c300=1", "c300=1 & c7=1"} & set(best)
    narrow = ConjunctionInducer(score="mi", final_keep=5).fit(X[:, :100], y)
    assert not any("so many pairs" in reason for reason in narrow.dropped_)
