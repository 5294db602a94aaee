"""Selection by description length: bits add up, and what is bad is said in one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featloom import FeatureMatrix, MDLSelector, NominalTable
from featloom.errors import InputError
from featloom.kernels import logistic
from featloom.learners.stepwise import candidates, feature_costs, select_features

CODES = [
    {"likelihood": "gaussian", "variance": "null"},
    {"likelihood": "gaussian", "variance": "profile"},
    {"likelihood": "bernoulli", "refits": None},
]


def words(n=120, m=30, seed=0, share=0.2):
    """Binary features of which the first three matter, and a target of zeros and ones."""
    random = np.random.default_rng(seed)
    X = (random.random((n, m)) < share).astype(int)
    target = (X[:, 0] + X[:, 1] - X[:, 2] + 0.6 * random.normal(size=n) > 0.5).astype(float)
    return sparse.csr_matrix(X), target


def description_length(X, target, chosen, paid, likelihood="gaussian", variance="null", **_):
    """Bits of the model and of the errors, up to a constant of the data, by an honest refit."""
    n = X.shape[0]
    design = np.column_stack([np.ones(n), X[:, chosen].toarray()])
    if likelihood == "bernoulli":
        columns = sparse.csc_matrix(X)
        places = columns.indptr.astype(np.int64), columns.indices.astype(np.int32)
        _, path = logistic.path_of(*places, target, np.asarray(chosen, dtype=np.int64))
        return path[-1] / (2 * np.log(2)) + np.sum(paid)
    null = ((target - target.mean()) ** 2).sum()
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    rss = ((target - design @ weights) ** 2).sum()
    if variance == "profile":
        return n / 2 * np.log2(max(rss, 1e-12 * null)) + np.sum(paid)
    return rss * n / (2 * np.log(2) * null) + np.sum(paid)


def assert_same(one, other):
    for name in ("features", "saved", "paid", "weights", "path"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.intercept == other.intercept


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("backward", [False, True])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), bits=st.sampled_from([0.5, 2.0, 5.0]))
def test_saved_less_paid_is_the_difference_of_description_lengths(code, backward, seed, bits):
    X, target = words(n=60, m=12, seed=seed, share=0.3)
    cost = np.random.default_rng(seed).uniform(0.5, 1.5, size=12) * bits
    [chosen] = select_features(X, target, cost, backward=backward, **code)
    null = description_length(X, target, [], [], **code)
    final = description_length(X, target, chosen.features, chosen.paid, **code)
    assert null - chosen.saved.sum() + chosen.paid.sum() == pytest.approx(final, abs=1e-5)
    assert chosen.gain == pytest.approx(null - final, abs=1e-5)
    assert chosen.paid.tolist() == cost[chosen.features].tolist()
    assert len(chosen.path) == len(chosen) + 1


@pytest.mark.parametrize("code", CODES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_backward_cleaning_never_raises_the_description_length(code, seed):
    X, target = words(n=50, m=15, seed=seed, share=0.4)
    cost = np.full(15, 1.0)
    [forward] = select_features(X, target, cost, **code)
    [cleaned] = select_features(X, target, cost, backward=True, **code)
    assert set(cleaned.features) <= set(forward.features)
    assert cleaned.gain >= forward.gain - 1e-6
    for j in cleaned.features:
        rest = [k for k in cleaned.features if k != j]
        without = description_length(X, target, rest, cost[rest], **code)
        with_it = description_length(X, target, cleaned.features, cleaned.paid, **code)
        assert with_it <= without + 1e-6


def test_backward_cleaning_drops_what_later_features_made_needless():
    # Taken first for its overlap with both causes, then of no use beside them.
    a = np.array([1] * 30 + [0] * 70)
    b = np.array([0] * 20 + [1] * 30 + [0] * 50)
    either = np.maximum(a, b)
    either[:3] = 0
    X = sparse.csr_matrix(np.column_stack([either, a, b]))
    target = (a + b).astype(float)
    [forward] = select_features(X, target, np.full(3, 1.0))
    [cleaned] = select_features(X, target, np.full(3, 1.0), backward=True)
    assert forward.features.tolist()[0] == 0
    assert sorted(cleaned.features.tolist()) == [1, 2]
    np.testing.assert_allclose(cleaned.weights, 1.0)
    assert cleaned.path[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("variance", ["null", "current", "profile"])
def test_weights_are_those_of_least_squares(variance):
    X, target = words()
    for backward in (False, True):
        [chosen] = select_features(
            X, target, np.full(30, 4.0), variance=variance, backward=backward
        )
        design = np.column_stack([np.ones(120), X[:, chosen.features].toarray()])
        plain = np.linalg.lstsq(design, target, rcond=None)[0]
        np.testing.assert_allclose([chosen.intercept, *chosen.weights], plain, atol=1e-9)
        assert {0, 1, 2} <= set(chosen.features.tolist())


def test_a_selection_does_not_depend_on_the_unit_of_the_target():
    X, target = words()
    [one] = select_features(X, target, np.full(30, 4.0))
    for unit in (1e-7, 1e7):
        [other] = select_features(X, target * unit + unit, np.full(30, 4.0))
        assert other.features.tolist() == one.features.tolist()
        np.testing.assert_allclose(other.weights, one.weights * unit)
        np.testing.assert_allclose(other.saved, one.saved)


@pytest.mark.parametrize("code", [*CODES, {"variance": "current"}, {"likelihood": "bernoulli"}])
@pytest.mark.parametrize("backward", [False, True])
def test_many_targets_in_one_call_and_in_threads_equal_single_calls(code, backward):
    X, target = words()
    random = np.random.default_rng(5)
    targets = np.column_stack([target, 1 - target, random.integers(0, 2, 120), np.zeros(120)])
    cost = random.uniform(2, 8, size=30)
    together = select_features(X, targets, cost, backward=backward, **code)
    threaded = select_features(X, targets, cost, backward=backward, threads=3, **code)
    for k in range(4):
        [alone] = select_features(X, targets[:, k], cost, backward=backward, **code)
        assert_same(alone, together[k])
        assert_same(alone, threaded[k])
    assert len(together[3]) == 0


def test_each_target_may_have_costs_of_its_own():
    X, target = words()
    costs = np.full((2, 30), 4.0)
    costs[1, 0] = np.inf
    first, second = select_features(X, np.column_stack([target, target]), costs)
    assert 0 in first.features
    assert 0 not in second.features


def test_fewer_refits_choose_the_features_that_matter_too():
    X, target = words(n=300, m=60)
    for refits in (1, 10, None):
        [chosen] = select_features(
            X, target, np.full(60, 8.0), likelihood="bernoulli", refits=refits
        )
        assert set(chosen.features.tolist()) == {0, 1, 2}
        assert np.sign(chosen.weights[np.argsort(chosen.features)]).tolist() == [1, 1, -1]


def test_costs_are_given_as_a_rule_a_number_bits_by_name_or_an_array():
    names = ["Prev=in", "Prev=at", "CAP"]
    assert feature_costs("ric", names, 8).tolist() == [5.0] * 3
    assert feature_costs("ric", names, 0).tolist() == [2.0] * 3
    assert feature_costs(6, names, 8).tolist() == [6.0] * 3
    assert feature_costs({"CAP": 1.5, "not here": 9.0}, names, 8).tolist() == [5.0, 5.0, 1.5]
    assert feature_costs(np.array([1.0, np.inf, 3.0]), names, 8).tolist() == [1.0, np.inf, 3.0]
    for wrong, says in [
        ("bic", "cost is 'bic'"),
        (-1.0, "the cost of 'Prev=in' is -1.0; bits cannot be below 0"),
        ({"CAP": float("nan")}, "the cost of 'CAP' is nan"),
        ([1.0, 2.0], r"cost has shape \(2,\); there are 3 features"),
    ]:
        with pytest.raises(InputError, match=says):
            feature_costs(wrong, names, 8)


def test_candidates_are_features_of_some_rows_but_not_all_and_of_more_than_one():
    X = sparse.csr_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
    assert candidates(X).tolist() == [True, False, False, False]
    assert candidates(X, min_rows=1).tolist() == [True, False, False, True]


def test_a_feature_of_a_single_row_is_chosen_only_on_request():
    X = sparse.csr_matrix(np.eye(20)[:, :1])
    y = np.arange(20) == 0
    assert len(MDLSelector(cost=1.0).fit(X, y).features_) == 0
    assert len(MDLSelector(cost=1.0, min_rows=1).fit(X, y).features_) == 1


def test_the_selector_counts_candidates_for_its_plain_cost():
    X, target = words(m=32)
    X = sparse.hstack([X, sparse.csr_matrix((120, 500))]).tocsr()
    selector = MDLSelector().fit(X, target)
    assert selector.costs_[0] == np.log2(32) + 2


@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_one_model_for_two_classes_and_one_a_class_for_more(likelihood):
    X, target = words(n=300)
    two = MDLSelector(likelihood=likelihood).fit(X, np.where(target > 0, "yes", "no"))
    assert len(two.selections_) == 1
    assert {feature.target for feature in two.features_} == {"yes"}
    assert two.decision_function(X).shape == (300,)
    assert two.score(X, np.where(target > 0, "yes", "no")) > 0.75
    senses = np.array(["c", "a", "b"])[np.where(X[:, 3].toarray()[:, 0] > 0, 2, target.astype(int))]
    three = MDLSelector(likelihood=likelihood).fit(X, senses)
    assert three.classes_.tolist() == ["a", "b", "c"]
    assert len(three.selections_) == 3
    assert three.decision_function(X).shape == (300, 3)
    assert three.score(X, senses) > 0.7
    assert "x3" in {feature.name for feature in three.features_ if feature.target == "b"}


def test_transform_keeps_the_features_chosen_for_any_class():
    X, target = words()
    selector = MDLSelector(n_jobs=2).fit(X, target)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert np.flatnonzero(selector.get_support()).tolist() == [0, 1, 2]
    assert selector.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert (selector.transform(X) != X[:, :3]).nnz == 0
    nothing = MDLSelector(cost=1e6).fit(X, target)
    assert nothing.transform(X).shape == (120, 0)
    assert nothing.predict(X).tolist() == [float(target.mean() > 0.5)] * 120
    assert str(nothing.features_) == "no feature saves more bits than it costs"


def test_max_features_is_a_bound_for_each_target():
    X, target = words()
    assert [len(s) for s in MDLSelector(max_features=2).fit(X, target).selections_] == [2]


def test_two_dimensions_of_y_are_targets_and_not_classes():
    X, target = words()
    selector = MDLSelector().fit(X, np.column_stack([target, X[:, 7].toarray()[:, 0] * 2.5]))
    assert selector.selections_[1].features.tolist() == [7]
    assert selector.features_[-1].target == 1
    assert selector.decision_function(X).shape == (120, 2)
    assert not hasattr(selector, "classes_")
    with pytest.raises(InputError, match="fitted on targets, not classes"):
        selector.predict(X)
    with pytest.raises(InputError, match="targets must be numbers"):
        selector.fit(X, [["a", "b"]] * 120)


def test_sparse_dense_frame_matrix_and_table_give_the_same_features():
    pandas = pytest.importorskip("pandas")
    X, target = words()
    names = [f"word={j}" for j in range(30)]
    wanted = MDLSelector().fit(X, target)
    matrix = FeatureMatrix.from_csr(X, names=names)
    for given_X in (X.tocsc(), X.toarray(), matrix):
        other = MDLSelector().fit(given_X, target)
        assert_same(wanted.selections_[0], other.selections_[0])
        assert other.predict(given_X).tolist() == wanted.predict(X).tolist()
    assert other.get_feature_names_out().tolist() == names[:3]
    frame = pandas.DataFrame(np.where(X.toarray() > 0, "yes", None), columns=names)
    of_frame = MDLSelector().fit(frame, target)
    assert of_frame.predict(frame).tolist() == wanted.predict(X).tolist()
    assert {name.removesuffix("=yes") for name in of_frame.get_feature_names_out()} == set(
        names[:3]
    )
    table = NominalTable.from_columns(
        {"letter": list("ckcs") * 9, "next": list("eeaa") * 9}, labels=["S", "K", "K", "S"] * 9
    )
    of_table = MDLSelector(cost={"letter=k": 0.5}).fit(table)
    assert "letter=k" in {feature.name for feature in of_table.features_}
    assert of_table.score(table, ["S", "K", "K", "S"] * 9) == 1.0


def test_chosen_features_print_as_a_table_and_show_in_notebooks():
    X, target = words()
    names = ["<b>in</b>", "at", "CAP", *(f"x{j}" for j in range(27))]
    selector = MDLSelector().fit(FeatureMatrix.from_csr(X, names=names), target)
    lines = str(selector.features_).splitlines()
    assert lines[0].split() == ["feature", "target", "saved", "paid", "weight"]
    assert len(lines) == 4
    page = selector._repr_html_()
    assert "&lt;b&gt;in&lt;/b&gt;" in page
    assert "<b>" not in page
    assert "text/html" in selector._repr_mimebundle_()
    assert "MDLSelector" in MDLSelector()._repr_html_()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"X": sparse.csr_matrix([[0, 2], [1, 0]])}, "row 0, feature 1 has the value 2"),
        ({"targets": np.zeros(3)}, r"targets have shape \(3,\), X has 2 rows"),
        ({"targets": np.array([0.0, np.nan])}, "targets hold NaN or infinity in row 1"),
        ({"cost": np.ones(3)}, r"cost has shape \(3,\); there are 2 features and 1 target"),
        ({"cost": np.array([1.0, -1.0])}, "cost holds NaN, or bits below 0"),
        ({"likelihood": "poisson"}, "likelihood is 'poisson'; it can be 'gaussian' or 'bernoulli'"),
        ({"variance": "zero"}, "variance is 'zero'; it can be 'null', 'current' or 'profile'"),
        ({"most": 0}, "most is 0; it must be a whole number, 1 or more, or None"),
        ({"refits": 2.5}, "refits is 2.5; it must be a whole number"),
        (
            {"likelihood": "bernoulli", "targets": np.array([1.0, -1.0])},
            "targets hold -1.0 in row 1; with likelihood 'bernoulli' they are 0 or 1",
        ),
        ({"X": sparse.csr_matrix((0, 2)), "targets": np.zeros(0)}, "X has no rows"),
        ({"X": np.zeros(2)}, "X must have a row for each case and a column for each feature"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(change, says):
    given_ = {
        "X": sparse.csr_matrix([[0, 1], [1, 0]]),
        "targets": np.array([0.0, 1.0]),
        "cost": np.ones(2),
    } | change
    with pytest.raises(InputError, match=says) as caught:
        select_features(given_.pop("X"), given_.pop("targets"), given_.pop("cost"), **given_)
    assert "\n" not in str(caught.value)


def test_the_selector_says_what_is_wrong_with_classes_and_parameters():
    X, target = words()
    for selector, y, says in [
        (MDLSelector(), np.ones(120), "y holds one class only"),
        (MDLSelector(), target[:-1], r"y has shape \(119,\), X has 120 rows"),
        (MDLSelector(), None, "requires y to be passed"),
        (MDLSelector(max_features=0), target, "max_features is 0; it must be a whole number"),
        (MDLSelector(min_rows=None), target, "min_rows is None; it must be a whole number"),
        (MDLSelector(cost=[1.0]), target, "cost has shape"),
        (MDLSelector(likelihood="probit"), target, "likelihood is 'probit'"),
    ]:
        with pytest.raises(InputError, match=says):
            selector.fit(X, y)
    with pytest.raises(InputError, match="features must be binary"):
        MDLSelector().fit(X * 3, target)
