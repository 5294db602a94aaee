"""Tables, figures, trees, sentences and matrices: what each shows of its plain values."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.report.drawings import (
    MOST_WORDS,
    levelled,
    sentence_drawing,
    shown_matrix,
    shown_tree,
    text_width,
)
from featloom.report.figures import MOST_DOTS, MOST_LINES, drawing, pareto_front, points_of
from featloom.report.grids import MOST_ROWS, shown_grid, shown_value
from featloom.results import (
    KINDS,
    Bars,
    Column,
    Dot,
    Grid,
    Histogram,
    Intervals,
    Line,
    Lines,
    Matrix,
    Point,
    Points,
    Sentence,
    Tree,
    TreeNode,
    grid,
)


def texts(table: Grid) -> list[list[str]]:
    shown = shown_grid(table)
    assert shown
    return [[cell["text"] for cell in row["cells"]] for row in shown["rows"]]


def values_of(figure: Any) -> list[dict]:
    """The rows of the layer that has most."""
    drawn = drawing(figure)
    assert drawn
    layers = [drawn.spec, *drawn.spec.get("layer", [])]
    found = [layer["data"]["values"] for layer in layers if "data" in layer]
    return max(found, key=len)


# Tables.

PRINTED = {
    "text": ("a\tb", "a\\tb"),
    "feature": ("a=1 & b=2", "a=1 & b=2"),
    "names": (["ask", ""], "ask, (empty)"),
    "flag": (False, "no"),
    "count": (55268, "55,268"),
    "number": (0.0123, "0.01230"),
    "signed": (-0.5, "−0.5000"),
    "percent": (0.86913, "86.91"),
    "share": (0.25, "25.0%"),
    "points": (-0.0131, "−1.31"),
    "loss": (0.28125, "0.2812"),
    "gain": (0.00001, "0.0000"),
    "p": (0.00002, "< 0.001"),
    "seconds": (125.0, "2 min 5 s"),
    "interval": ((0.1, 0.25), "0.1000 to 0.2500"),
    "percents": ((0.1, 0.25), "10.00 to 25.00"),
}


def test_every_kind_is_printed_in_its_way():
    assert {kind: shown_value(value, kind) for kind, (value, _) in PRINTED.items()} == {
        kind: text for kind, (_, text) in PRINTED.items()
    }
    assert set(PRINTED) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_a_dash_of_any_kind(kind):
    value, text = PRINTED[kind]
    table = grid("", {"a": kind, "b": "text"}, [[None, "x"], [value, "y"], [{"value": None}, "z"]])
    assert [row[0] for row in texts(table)] == ["–", text, "–"]


@given(st.lists(st.lists(st.none() | st.text() | st.floats() | st.integers(), max_size=4)))
def test_any_rows_are_printed(rows):
    shown = shown_grid(grid("t", {"a": "text", "b": "text", "c": "number"}, rows))
    assert (shown is None) == (not rows)
    for row in shown["rows"] if shown else []:
        assert len(row["cells"]) == len(shown["columns"])


def test_the_decimals_of_a_column_agree_and_counts_have_none():
    assert texts(grid("", {"a": "number"}, [[0.25], [12.5]])) == [["0.25"], ["12.50"]]
    assert texts(grid("", {"a": "number"}, [[3.0], [7]])) == [["3"], ["7"]]


def test_columns_that_nothing_stands_in_are_left_out():
    shown = shown_grid(grid("", {"a": "text", "b": "p", "c": "count"}, [["x", None, 1]]))
    assert [column["label"] for column in shown["columns"]] == ["a", "c"]


def test_a_column_of_words_that_holds_numbers_alone_is_sorted_as_numbers():
    shown = shown_grid(grid("", {"a": "text", "b": "text"}, [[1, "x"], [2.5, 3]]))
    assert [column["number"] for column in shown["columns"]] == [True, False]


def test_long_tables_are_cut_and_say_so():
    shown = shown_grid(grid("", {"a": "count"}, [[j] for j in range(MOST_ROWS + 5)]))
    assert (len(shown["rows"]), shown["note"]) == (MOST_ROWS, "The first 1,000 of 1,005.")
    assert shown_grid(grid("", {"a": "count"}, [[1]], total=60))["note"] == "The first 1 of 60."


def test_a_cell_may_have_words_below_it_and_a_look():
    cell = {"value": 0.5, "under": "0.4 to 0.6", "look": "good"}
    (row,) = shown_grid(Grid("", [Column("a", "percent")], [[cell]], chosen=[0]))["rows"]
    assert row["chosen"]
    assert {k: row["cells"][0][k] for k in ("text", "under", "look")} == {
        "text": "50.00", "under": "0.4 to 0.6", "look": "good",
    }  # fmt: skip


# Figures.


def test_edges_that_grow_by_a_factor_are_drawn_on_a_logarithmic_axis():
    def scale(edges):
        drawn = drawing(Histogram("h", "x", "y", edges, [1.0] * (len(edges) - 1)))
        return drawn.spec["encoding"]["x"]["scale"]["type"]

    assert scale([0.001, 0.01, 0.1, 1]) == "log"
    assert scale([0, 1, 2, 3]) == "linear"


NOTHING = [
    Histogram(), Histogram(edges=[0, 1], counts=[1, 2]), Intervals(), Intervals(dots=[Dot("a")]),
    Lines(), Lines(lines=[Line("a", [1], [0.5])]), Lines(lines=[Line("a", [1, 2], [None, None])]),
    Points(), Points(points=[Point("a", 1, 1)]), Bars(), Bars(names=["a"], values=[None]),
]  # fmt: skip


@pytest.mark.parametrize("figure", NOTHING)
def test_what_has_nothing_to_draw_is_not_drawn(figure):
    assert drawing(figure) is None


def test_what_would_press_the_others_into_a_corner_is_told_in_words():
    dots = [Dot("a", 0.28), Dot("b", 0.30), Dot("naive", 0.77, may_go=True)]
    figure = Intervals("Scores", "log-loss", "loss", dots)
    assert [value["name"] for value in values_of(figure)] == ["a", "b"]
    assert drawing(figure).caption == "Scores; naive is at 0.7700, right of the figure"
    dots[2].value = 0.31
    assert drawing(figure).caption == "Scores"


def test_of_very_many_values_the_chosen_one_is_drawn():
    dots = [Dot(f"m{j}", 0.5 + j / 1000, look="chosen" * (j == 70)) for j in range(80)]
    names = [value["name"] for value in values_of(Intervals("", "x", dots=dots))]
    assert (len(names), names[-1]) == (MOST_DOTS, "m70")


def test_lines_of_one_name_share_a_colour_and_dashes_tell_kinds_apart():
    lines = [Line(w, [1, 3], [0.8, 0.9], m) for w in ("none", "gain") for m in ("overlap", "MVDM")]
    drawn = drawing(Lines("", "k", "accuracy", "percent", lines, best="max"))
    assert [[entry.label for entry in group] for group in drawn.legend] == [
        ["none", "gain"], ["overlap", "MVDM"],
    ]  # fmt: skip
    ring = drawn.spec["layer"][-1]["data"]["values"]
    assert [(value["x"], value["y"]) for value in ring] == [(3, 90.0)]
    many = [Line(f"m{j}", [1, 2], [0.5, 0.6]) for j in range(40)]
    assert len(drawing(Lines(lines=many)).legend[0]) == MOST_LINES


def test_a_search_that_begins_far_below_is_cut_off_and_that_is_said():
    lines = [Line("genetic", [1, 10, 1000], [0.05, 0.8, 0.805])]
    drawn = drawing(Lines("Search", "fits", "accuracy", "percent", lines, steps=True))
    assert drawn.caption == "Search; values below 78.89 are cut off"
    assert drawn.spec["layer"][0]["encoding"]["x"]["title"] == "fits (logarithmic)"


def test_a_point_without_an_x_stands_at_the_end():
    line = Line("a", [5, None], [0.5, 0.75], low=[0.4, 0.6], high=[0.6, 0.9])
    assert points_of(line, 100) == [(5, 50.0, 40.0, 60.0), ("all", 75.0, 60.0, 90.0)]
    values = values_of(Lines("", "rows", "right", "percent", [line]))
    assert [value["x"] for value in values] == ["5", "all"]


@given(
    st.lists(
        st.builds(Point, x=st.integers(1, 100).map(float), y=st.floats(0, 1)), min_size=1
    )
)  # fmt: skip
def test_no_point_beats_the_front_with_as_small_an_x(points):
    front = pareto_front(points)
    for axis in ("x", "y"):
        found = [getattr(point, axis) for point in front]
        assert found == sorted(set(found))
    for point in points:
        assert any(one.x <= point.x and one.y >= point.y for one in front)


def test_bars_carry_their_value_and_hollow_ones_are_explained():
    figure = Bars("Gain", "bits", "count", ["a", "b"], [120, 8], [1], "path", "back-off copy")
    assert [(v["name"], v["label"], v["filled"]) for v in values_of(figure)] == [
        ("a", "120", 1.0), ("b", "8", 0.0),
    ]  # fmt: skip
    assert [entry.label for entry in drawing(figure).legend[0]] == ["path", "back-off copy"]


# Matrices and trees.


def test_a_matrix_shades_by_tone_and_leaves_empty_what_is_empty():
    shown = shown_matrix(
        Matrix(rows=["a"], columns=["b", "c", "d"], kind="percent", values=[[0.5, None, 0.25]],
               tones=[[1.0, 0.0, -0.4]], chosen=(0, 0))
    )  # fmt: skip
    cells = shown["rows"][0]["cells"]
    assert [(c["text"], c["tone"], c["shade"], c["empty"]) for c in cells] == [
        ("50.00", "better", 100, False), ("", "", 0, True), ("25.00", "worse", 40, False),
    ]  # fmt: skip
    assert [cell["chosen"] for cell in cells] == [True, False, False]
    assert shown_matrix(Matrix(rows=["a"])) is None


NODES = [
    TreeNode(0, -1, "head", None, 900, "no", 300, 0.21, 12),
    TreeNode(1, 0, None, "VERB", 100, "yes", 20),
    TreeNode(2, 0, "side", "NOUN", 500, "no", 0, 0.1),
    TreeNode(7, 99, None, "lost", 5),
]


def test_the_branches_of_a_node_stand_by_their_rows_and_those_left_out_are_counted():
    root = shown_tree(Tree("t", nodes=NODES))["root"]
    assert [child["value"]["text"] for child in root["children"]] == ["NOUN", "VERB"]
    assert (root["share"], root["gain"]) == ("66.7%", "0.2100")
    assert root["more"] == "10 more branches with 300 rows, not shown"
    assert root["children"][0]["more"] == "branches with 500 rows, not shown"
    assert shown_tree(Tree()) is None


def test_a_tree_that_bites_its_tail_is_not_followed_round():
    nodes = [TreeNode(0, 1), TreeNode(1, 0)]
    root = shown_tree(Tree("t", nodes=nodes))["root"]
    assert [len(root["children"]), len(root["children"][0]["children"])] == [1, 0]


# Sentences.


def test_an_arc_runs_above_those_it_spans():
    levels = {arc.modifier: arc.level for arc in levelled([2, 4, 2, 0, 4])}
    assert levels == {1: 1, 3: 1, 2: 2, 5: 1}


heads = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.none() | st.integers(-2, n + 2), min_size=n, max_size=n)
)


@given(heads)
def test_arcs_that_share_ground_are_on_different_levels(found):
    arcs = levelled(found)
    for arc in arcs:
        for other in arcs:
            if arc is not other and max(arc.ends[0], other.ends[0]) < min(
                arc.ends[1], other.ends[1]
            ):
                assert arc.level != other.level


@given(heads, heads)
def test_any_heads_are_drawn_inside_the_picture(gold, predicted):
    drawn = sentence_drawing(Sentence(["word"] * 5, ["N"], gold, predicted))
    for arc in drawn["arcs"]:
        for command, numbers in re.findall(r"([MLHVQ])([-\d.,]+)", arc["d"]):
            parts = [float(one) for one in numbers.split(",")]
            across = [] if command == "V" else parts if command == "H" else parts[::2]
            down = [] if command == "H" else parts if command == "V" else parts[1::2]
            assert all(0 < x < drawn["width"] for x in across)
            assert all(0 < y < drawn["height"] for y in down)


def test_a_wrong_head_is_marked_in_both_trees_and_told_in_words():
    words = ["As", "águas", "são", "divisor", "."]
    drawn = sentence_drawing(
        Sentence(words, [], [2, 4, 4, 0, 4], [2, 4, 4, 0, 2], ["det", "nsubj", "cop", "root", "p"])
    )
    looks = [arc["look"] for arc in drawn["arcs"]]
    assert (looks.count("missed"), looks.count("wrong")) == (1, 1)
    assert drawn["title"] == "1 of 5 heads differs."
    assert drawn["differences"] == [{"word": ".", "gold": "divisor", "predicted": "águas"}]
    labels = [arc["label"] for arc in drawn["arcs"]]
    assert (labels.count("root"), labels.count("nsubj")) == (2, 1)


def test_a_sentence_with_one_tree_compares_nothing():
    drawn = sentence_drawing(Sentence(["He", "ran"], gold=[2, 0]))
    assert drawn["title"] == "A sentence of 2 words."
    assert {arc["look"] for arc in drawn["arcs"]} == {"same"}
    assert [name["side"] for name in drawn["names"]] == ["gold"]


def test_a_sentence_of_a_thousand_words_is_cut_and_says_so():
    drawn = sentence_drawing(Sentence(["w"] * 1000, gold=[0] * 1000, predicted=[0] * 1000))
    assert len(drawn["words"]) == MOST_WORDS
    assert drawn["title"].endswith(f"The first {MOST_WORDS} of 1,000 words.")


def test_a_long_word_is_clipped_and_marks_on_letters_take_no_room():
    word = sentence_drawing(Sentence(["x" * 500]))["words"][0]
    assert (len(word["text"]) < 30, word["whole"]) == (True, "x" * 500)
    assert text_width("e\u0301") == text_width("e")
