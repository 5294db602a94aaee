"""Multiway trees as their users see them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.learners import tree as tree_module
from featloom.learners.tree import grow_tree, prune_by_error, prune_by_gain

# c before e or i is soft, unless the word is foreign; the last column tells nothing.
LETTERS = [(a, b, f, x) for a in "cks" for b in "aeio" for f in "ny" for x in "12"]
SOUNDS = [
    "S" if a == "s" or (a == "c" and b in "ei" and f == "n") else "K" for a, b, f, _ in LETTERS
]


def letters(rows=LETTERS, sounds=SOUNDS):
    names = ("letter", "next", "foreign", "coin")
    return NominalTable.from_columns(
        {name: [row[j] for row in rows] for j, name in enumerate(names)}, labels=sounds
    )


def test_a_printed_tree_reads_as_a_rule():
    assert str(grow_tree(letters())).splitlines() == [
        "letter: 48 rows",
        "  c -> foreign: 16 rows",
        "    n -> next: 8 rows",
        "      a -> K (2)",
        "      e -> S (2)",
        "      i -> S (2)",
        "      o -> K (2)",
        "    y -> K (8)",
        "  k -> K (16)",
        "  s -> S (16)",
    ]


def test_a_large_tree_is_printed_in_part():
    tree = grow_tree(letters())
    assert tree.text(max_depth=2).splitlines()[1:4] == [
        "  c -> foreign: 16 rows",
        "    n -> next: 8 rows",
        "    y -> K (8)",
    ]
    assert tree.text(max_children=2).splitlines() == [
        "letter: 48 rows",
        "  c -> foreign: 16 rows",
        "    n -> next: 8 rows",
        "      a -> K (2)",
        "      e -> S (2)",
        "      … 2 more values (4 rows)",
        "    y -> K (8)",
        "  k -> K (16)",
        "  … 1 more value (16 rows)",
    ]


def test_paths_add_up_the_nodes_that_share_their_columns():
    tree = grow_tree(letters())
    paths = tree.paths()
    assert [path.columns for path in paths] == [(0,), (0, 2), (0, 2, 1)]
    assert [path.rows for path in paths] == [48, 16, 8]
    assert paths[2].gain == pytest.approx(8.0)  # a bit a row
    assert sum(path.gain for path in paths) == pytest.approx((tree.gain * tree.rows).sum())
    # Nothing is left to be told: the gains are the entropy of the classes.
    share = np.bincount(letters().labels) / 48
    assert sum(path.gain for path in paths) == pytest.approx(-48 * (share * np.log2(share)).sum())


def test_a_path_comes_after_its_beginning():
    paths = [path.columns for path in grow_tree(letters(), columns=[3, 2, 1, 0]).paths()]
    assert all(not path[:-1] or path[:-1] in paths[:k] for k, path in enumerate(paths))
    assert len(set(paths)) == len(paths)


def test_a_leaf_has_no_paths():
    tree = grow_tree(letters(), max_depth=0)
    assert tree.paths() == []
    assert str(tree) == "K (48, 20 wrong)"
    assert prune_by_error(tree).paths() == prune_by_gain(tree).paths() == []


def test_a_column_with_one_value_splits_nothing():
    table = NominalTable.from_columns({"same": ["x"] * 6}, labels=list("KKKSSS"))
    assert grow_tree(table).n_internal == 0


def test_a_column_with_a_value_per_row_splits_only_where_single_rows_are_enough():
    number = [str(i) for i in range(6)]
    table = NominalTable.from_columns({"number": number}, labels=list("KKKSSS"))
    assert grow_tree(table, min_rows=2).n_internal == 0
    tree = grow_tree(table, min_rows=1)
    assert tree.n_internal == 1
    assert (tree.predict(table.codes) == table.labels).all()


def test_one_class_is_a_leaf():
    table = letters(sounds=["K"] * len(LETTERS))
    assert str(grow_tree(table)) == "K (48)"


def test_a_class_with_one_row_is_found_where_its_branch_may_hold_one_row():
    table = NominalTable.from_columns({"letter": list("aaaaabbbbz")}, labels=["K"] * 9 + ["Z"])
    assert str(grow_tree(table)).splitlines() == [
        "letter: 10 rows",
        "  a -> K (5)",
        "  b -> K (4)",
        "  z -> Z (1)",
    ]


def test_unknown_is_a_value_like_another():
    table = NominalTable.from_columns(
        {"letter": ["a", "a", None, None, "b", "b"]}, labels=list("KKSSKK")
    )
    tree = grow_tree(table)
    assert str(tree).splitlines()[1] == "  (unknown) -> S (2)"
    assert tree.value.tolist() == [0, 0, 1, 2]
    assert tree.predict(np.array([[0], [1]])).tolist() == [1, 0]


def test_at_a_value_not_met_the_majority_of_the_node_decides():
    tree = grow_tree(letters())
    majority = tree.classes[tree.majority[0]]
    assert tree.classes[tree.predict(np.array([[99, 1, 1, 1]]))[0]] == majority


def test_gain_ratio_is_not_taken_in_by_many_values():
    # Eight values tell a little more than two do, at three times the entropy.
    two = list("aaaaaaaabbbbbbbb")
    eight = list("aabbccddeeffgghh")
    labels = list("KKKKKKKSSSSSSSSS")
    table = NominalTable.from_columns(
        {"eight": eight, "two": two, "coin": ["x", "y"] * 8}, labels=labels
    )
    assert grow_tree(table, criterion="information_gain").column[0] == 0
    assert grow_tree(table, criterion="gain_ratio").column[0] == 1


def test_error_pruning_takes_away_what_chance_explains():
    random = np.random.default_rng(0)
    rows = [(a, b, f, x) for a, b, f, x in LETTERS for _ in range(5)]
    noise = random.random(len(rows)) < 0.1
    sounds = [s for s in SOUNDS for _ in range(5)]
    noisy = [("K" if s == "S" else "S") if n else s for s, n in zip(sounds, noise, strict=True)]
    grown = grow_tree(letters(rows, noisy))
    pruned = prune_by_error(grown)
    assert 3 not in pruned.column  # the coin
    assert pruned.n_internal < grown.n_internal
    truth = letters(rows, noisy)
    right = np.array(truth.classes)[pruned.predict(truth.codes)] == np.array(sounds)
    assert right.mean() > 0.95


def test_where_one_class_is_rare_the_test_of_gains_keeps_what_errors_cut():
    # A rare class is five times as likely after one of the letters, and never likely.
    table = NominalTable.from_columns(
        {"letter": ["a"] * 2000 + ["b"] * 2000, "coin": ["x", "y"] * 2000},
        labels=["no"] * 1900 + ["yes"] * 100 + ["no"] * 1980 + ["yes"] * 20,
    )
    tree = grow_tree(table)
    assert prune_by_error(tree).n_internal == 0
    kept = prune_by_gain(tree)
    assert kept.n_internal == 1
    assert table.columns[kept.column[0]] == "letter"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"criterion": "gini"},
            "criterion is 'gini'; it can be 'gain_ratio' or 'information_gain'",
        ),
        ({"min_rows": 0}, "min_rows is 0; it must be a whole number, 1 or more"),
        ({"max_depth": -1}, "max_depth is -1; it must be a whole number, 0 or more, or None"),
        ({"columns": [4]}, r"columns \[4\] are not all among the 4 of the table"),
        ({"columns": [1, 1]}, r"columns \[1, 1\] name one twice"),
        ({"rows": np.array([48])}, "rows are not all among the 48 of the table"),
        ({"rows": np.arange(48) > 3}, "rows are numbers of rows, not yes and no for each"),
        ({"rows": np.array([], dtype=int)}, "there are no rows to grow a tree on"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(parameters, words):
    with pytest.raises(InputError, match=words):
        grow_tree(letters(), **parameters)


def test_rows_without_a_label_are_refused():
    table = NominalTable.from_columns({"letter": list("ab")}, labels=["K", None])
    with pytest.raises(InputError, match="row 1 has no label"):
        grow_tree(table)
    with pytest.raises(InputError, match="there are no labels"):
        grow_tree(NominalTable.from_columns({"letter": list("ab")}))


def test_pruning_refuses_levels_that_are_none():
    tree = grow_tree(letters())
    with pytest.raises(
        InputError, match=r"confidence is 0\.9; it must be a number above 0 and at most 0\.5"
    ):
        prune_by_error(tree, 0.9)
    with pytest.raises(InputError, match="level is 1; it must be a number above 0 and below 1"):
        prune_by_gain(tree, 1)


def test_codes_outside_the_vocabularies_are_refused():
    table = letters()
    for part in ("codes", "labels"):
        wrong = getattr(table, part).copy()
        wrong[5] = 9
        with pytest.raises(InputError, match="not all in its vocabularies"):
            grow_tree(replace(table, **{part: wrong}))


def test_more_counts_than_memory_holds_are_refused():
    many = tuple(map(str, range(1 << 16)))
    table = NominalTable(
        ("number",),
        np.ones((4, 1), dtype=np.int32),
        (many,),
        labels=np.array([0, 1, 0, 1], dtype=np.int32),
        classes=many,
    )
    with pytest.raises(InputError, match="column 'number' has 65536 values, too many"):
        grow_tree(table)


def dimin_cases(folder):
    lines = (folder / "dimin" / "dimin.train").read_text(encoding="utf-8").split()
    return [line.split(",") for line in lines]


def attachment_cases(folder):
    text = (folder / "ppattach" / "training").read_text(encoding="latin-1")
    return [line.split()[1:] for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("read", "min_rows", "confidence", "internal", "errors"),
    [
        (dimin_cases, 2, 0.25, 6, 71),
        (dimin_cases, 5, 0.05, 5, 70),
        (dimin_cases, 1, 0.25, 8, 69),
        (attachment_cases, 2, 0.25, 1, 5163),
        (attachment_cases, 1, 0.25, 2, 5162),
    ],
)
def test_pruned_trees_are_as_large_and_as_good_as_those_of_j48(
    data_folder, read, min_rows, confidence, internal, errors
):
    # The figures are of J48 in Weka 3.6.14 without subtree raising, on the same rows.
    rows = read(data_folder)
    table = NominalTable.from_columns(
        {f"f{j}": [row[j] for row in rows] for j in range(len(rows[0]) - 1)},
        labels=[row[-1] for row in rows],
    )
    tree = prune_by_error(grow_tree(table, min_rows=min_rows), confidence)
    assert tree.n_internal == internal
    assert (tree.predict(table.codes) != table.labels).sum() == errors


def test_a_tree_that_grows_in_many_calls_is_the_same(monkeypatch):
    draw = np.random.default_rng(3)
    codes = draw.integers(0, 6, size=(2000, 8))
    columns = {f"c{j}": [f"v{v}" for v in codes[:, j]] for j in range(8)}
    table = NominalTable.from_columns(columns, labels=[str(v) for v in codes[:, :3].sum(axis=1)])
    at_once = grow_tree(table)
    monkeypatch.setattr(tree_module, "_COUNTED_AT_ONCE", 1)
    node_by_node = grow_tree(table)
    assert at_once.n_internal > 20
    for name in ("column", "parent", "value", "first_child", "rows", "majority", "errors", "gain"):
        np.testing.assert_array_equal(getattr(node_by_node, name), getattr(at_once, name))
