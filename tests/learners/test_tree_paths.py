"""Templates read off trees: what is a path, what is kept of it, and how forests differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.learners.tree import grow_tree, prune_by_error
from featloom.learners.tree_paths import (
    GrownTree,
    grow_templates,
    grow_trees,
    hard_rows,
    templates_of_trees,
)


def sets_of(grown) -> list[frozenset[str]]:
    return [frozenset(name for name, _ in one.template.places) for one in grown]


def path_sets(tree) -> set[frozenset[str]]:
    return {frozenset(tree.columns[j] for j in path.columns) for path in tree.paths()}


@st.composite
def tables(draw, most_columns: int = 4) -> NominalTable:
    """Small tables with labels; some values are missing."""
    width = draw(st.integers(1, most_columns))
    rows = draw(
        st.lists(
            st.tuples(*[st.sampled_from(["a", "b", "c", None])] * width, st.sampled_from("XYZ")),
            min_size=1,
            max_size=40,
        )
    )
    columns = {f"c{j}": [row[j] for row in rows] for j in range(width)}
    return NominalTable.from_columns(columns, labels=[row[-1] for row in rows])


def exclusive_or(n: int = 400, noise: int = 2, seed: int = 0) -> NominalTable:
    bits = np.random.default_rng(seed).integers(0, 2, (n, 2 + noise))
    # One side is commoner, so that the root is one of the two and not noise.
    bits[: n // 3, 0] = bits[: n // 3, 1] = 1
    names = ["a", "b", *(f"noise{j}" for j in range(noise))]
    columns = {name: bits[:, j].astype(str).tolist() for j, name in enumerate(names)}
    same = np.where(bits[:, 0] == bits[:, 1], "same", "different")
    return NominalTable.from_columns(columns, labels=same.tolist())


LETTERS = NominalTable.from_columns(
    {"letter": list("cccckkss"), "next": list("aeeaaeea")}, labels=list("KSSKKKSS")
)


def test_every_path_from_the_root_is_a_template_and_has_the_gain_of_its_nodes():
    grown, tree = grow_templates(LETTERS, prune=None, backoff=False)
    assert {str(one): one.gain for one in grown} == pytest.approx(
        {"letter & next": 4.0, "letter": tree.gain[0] * 8}
    )
    assert {str(one): one.coverage for one in grown} == {"letter & next": 0.5, "letter": 1.0}


def test_a_back_off_copy_is_the_path_without_its_root_and_has_its_gain():
    grown, _ = grow_templates(LETTERS, prune=None)
    (copy,) = [one for one in grown if one.backoff]
    assert str(copy) == "next"
    assert copy.gain == 4.0
    assert copy.coverage == 0.5


def test_exclusive_or_is_found_as_a_pair():
    grown, _ = grow_templates(exclusive_or(noise=0))
    assert frozenset("ab") in sets_of(grown)


@given(tables(), st.integers(1, 4), st.booleans(), st.integers(0, 5))
def test_templates_are_different_sets_each_a_path_or_one_without_its_root(
    table, max_length, backoff, floor
):
    how = {"max_length": max_length, "backoff": backoff, "floor": floor}
    grown, _ = grow_templates(table, min_rows=1, **how)
    sets = sets_of(grown)
    assert len(set(sets)) == len(sets)
    assert all(len(columns) == len(one.template) for columns, one in zip(sets, grown, strict=True))
    whole = grow_tree(table, min_rows=1)
    paths = {
        tuple(whole.columns[j] for j in path.columns)
        for path in whole.paths()
        if len(path.columns) <= max_length
    }
    allowed = {frozenset(path) for path in paths}
    copies = {frozenset(path[1:]) for path in paths if len(path) > 1}
    for columns, one in zip(sets, grown, strict=True):
        assert len(columns) <= max_length
        assert columns in (copies - allowed if one.backoff else allowed)
        assert backoff or not one.backoff
        assert one.gain >= 0
        assert 0 < one.coverage <= 1
        assert one.trees == 1


@given(tables(), st.integers(1, 3))
def test_the_best_come_first_and_most_keeps_the_first(table, most):
    grown, _ = grow_templates(table, prune=None, min_rows=1)
    keys = [(-one.gain, len(one.template)) for one in grown]
    assert keys == sorted(keys)
    assert grow_templates(table, prune=None, min_rows=1, most=most)[0] == grown[:most]


@given(tables(), st.integers(1, 6))
def test_a_floor_brings_back_what_pruning_cut_off(table, floor):
    grown, _ = grow_templates(table, min_rows=1, backoff=False, floor=floor)
    pruned, _ = grow_templates(table, min_rows=1, backoff=False)
    whole, _ = grow_templates(table, min_rows=1, backoff=False, prune=None)
    assert set(sets_of(pruned)) <= set(sets_of(grown)) <= set(sets_of(whole))
    assert len(grown) == max(len(pruned), min(floor, len(whole)))
    gain_of = dict(zip(sets_of(whole), (one.gain for one in whole), strict=True))
    back = set(sets_of(grown)) - set(sets_of(pruned))
    left = set(sets_of(whole)) - set(sets_of(grown))
    if back and left:
        assert min(gain_of[one] for one in back) >= max(gain_of[one] for one in left)


@given(tables())
def test_short_templates_are_among_the_long_ones(table):
    trees = grow_trees(table, min_rows=1)
    short, long = (set(sets_of(templates_of_trees(trees, max_length=n))) for n in (2, 4))
    assert short <= long


def test_gains_of_several_trees_add_up_and_the_first_order_is_kept():
    table = exclusive_or(noise=0)
    swapped = replace(table, codes=table.codes[:, ::-1], vocabularies=table.vocabularies[::-1])
    one, other = grow_tree(table), grow_tree(swapped)
    assert [tree.paths()[0].columns for tree in (one, other)] == [(0,), (1,)]
    forest = [GrownTree(tree, tree) for tree in (one, other)]
    grown = templates_of_trees(forest, backoff=False)
    pair = next(template for template in grown if len(template.template) == 2)
    assert str(pair) == "a & b"
    assert pair.trees == 2
    assert pair.gain == pytest.approx(one.paths()[1].gain + other.paths()[1].gain)
    assert {str(template) for template in grown} == {"a", "b", "a & b"}


def test_a_copy_that_is_a_path_elsewhere_is_no_copy():
    table = exclusive_or(noise=0)
    forest = [GrownTree(tree, tree) for tree in (grow_tree(table), grow_tree(table, columns=[1]))]
    grown = templates_of_trees(forest)
    assert [one.backoff for one in grown if str(one) == "b"] == [False]


def test_bagged_trees_see_some_of_the_columns_and_no_two_the_same():
    table = exclusive_or(noise=4)
    trees = grow_trees(table, n_trees=6, columns_per_tree=2, prune=None)
    seen = [frozenset(one.tree.column[one.tree.column >= 0].tolist()) for one in trees]
    assert all(len(columns) <= 2 for columns in seen)
    assert len(set(seen)) > 1
    # There are no more trees than sets of columns.
    assert len(grow_trees(table, n_trees=50, columns_per_tree=5)) == 6
    assert len(grow_trees(table, n_trees=50, columns_per_tree=6)) == 1


def test_a_hard_tree_sees_the_rows_that_the_one_before_got_wrong_and_as_many_others():
    table = exclusive_or()
    stump = grow_tree(table, columns=[0])
    wrong = np.flatnonzero(stump.predict(table.codes) != table.labels)
    rows = hard_rows(stump, table, np.random.default_rng(0))
    assert set(wrong) <= set(rows)
    assert len(rows) == 2 * len(wrong)
    assert len(set(rows)) == len(rows)


def test_a_hard_forest_ends_when_no_row_is_wrong():
    table = exclusive_or(noise=0)
    assert len(grow_trees(table, n_trees=5, forest="hard")) == 1
    assert len(grow_trees(table, n_trees=5, forest="hard", columns_per_tree=1)) == 5


def test_a_hard_forest_goes_on_where_rows_are_wrong():
    random = np.random.default_rng(1)
    columns = {f"c{j}": random.choice(list("abc"), 300).tolist() for j in range(4)}
    table = NominalTable.from_columns(columns, labels=random.choice(list("XY"), 300).tolist())
    trees = grow_trees(table, n_trees=3, forest="hard")
    assert len(trees) == 3
    assert trees[1].tree.rows[0] < trees[0].tree.rows[0]


@pytest.mark.parametrize("forest", ["bagged", "hard"])
def test_a_seed_settles_a_forest(forest):
    table = exclusive_or(noise=6)
    how = {"n_trees": 4, "columns_per_tree": 3, "forest": forest, "prune": None}
    first, _ = grow_templates(table, random_state=3, **how)
    assert grow_templates(table, random_state=3, **how)[0] == first
    assert grow_templates(table, random_state=4, **how)[0] != first


@pytest.mark.parametrize(
    "table",
    [
        NominalTable.from_columns({"a": list("xyxy")}, labels=list("KKKK")),
        NominalTable.from_columns({"a": list("xxxx")}, labels=list("KSKS")),
        NominalTable.from_columns({"a": list("wxyz")}, labels=list("KSKS")),
        NominalTable.from_columns({"a": [None] * 4}, labels=list("KSKS")),
        NominalTable.from_columns({"a": ["x"]}, labels=["K"]),
    ],
    ids=["one class", "one value", "a value a row", "unknown", "one row"],
)
def test_nothing_to_split_gives_no_template(table):
    grown, tree = grow_templates(table, floor=10)
    assert grown == []
    assert tree.n_internal == 0


def test_a_class_of_one_row_does_no_harm():
    table = NominalTable.from_columns({"a": list("xxyyz")}, labels=list("KKSST"))
    assert [str(one) for one in grow_templates(table, prune=None)[0]] == ["a"]


def test_pruning_is_asked_for_by_name():
    random = np.random.default_rng(0)
    columns = {f"c{j}": random.choice(list("abc"), 200).tolist() for j in range(3)}
    table = NominalTable.from_columns(columns, labels=random.choice(list("XY"), 200).tolist())
    sizes = {p: grow_trees(table, prune=p)[0].tree.n_internal for p in ("error", "gain", None)}
    assert sizes["error"] < sizes[None]
    assert sizes["gain"] < sizes[None]
    assert sizes["error"] == prune_by_error(grow_tree(table)).n_internal


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"criterion": "gini"}, "criterion is 'gini'"),
        ({"prune": "cost"}, "prune is 'cost'"),
        ({"forest": "boosted"}, "forest is 'boosted'"),
        ({"n_trees": 0}, "n_trees is 0"),
        ({"columns_per_tree": 0}, "columns_per_tree is 0"),
        ({"max_length": 0}, "max_length is 0"),
        ({"most": -1}, "most is -1"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(InputError, match=words):
        grow_templates(LETTERS, **parameters)


def test_rows_without_labels_are_refused():
    table = NominalTable.from_columns({"a": list("xy")}, labels=["K", None])
    with pytest.raises(InputError, match="row 1 has no label"):
        grow_templates(table)
    with pytest.raises(InputError, match="there are no labels"):
        grow_templates(NominalTable.from_columns({"a": list("xy")}))
