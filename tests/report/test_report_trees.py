"""What the page says of templates grown from trees: the tree, the templates, systems and arcs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from featloom.report.arcs import MOST_WORDS, levelled, sentence_drawing, text_width
from featloom.report.html import report_html
from featloom.report.tree_types import ParsedSentence, ShownTree, TreeNode, TreesPart, TreeTemplate
from featloom.report.trees import MOST_BRANCHES, summarize_trees, tree_lines
from featloom.report.trees_figures import MOST_BARS, tree_figures
from hypothesis import given
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.report.page import check_result


def summary_of(part: dict) -> dict:
    summary = summarize_trees(check_result({"trees": part}).trees)
    assert summary is not None
    return summary


def figures_of(part: dict) -> dict:
    return {figure.name: figure for figure in tree_figures(check_result({"trees": part}).trees)}


def texts(table: dict) -> list[list[str]]:
    return [[cell["text"] for cell in row["cells"]] for row in table["rows"]]


def shown_nodes(line: dict) -> Iterator[dict]:
    yield line
    for child in line["children"]:
        yield from shown_nodes(child)


def said(line: dict, what: str) -> str:
    return line[what]["text"]


def values_of(figure) -> list[dict]:
    """The rows of the layer that names them all."""
    return (figure.spec.get("data") or figure.spec["layer"][-1]["data"])["values"]


@pytest.fixture
def part(trees_result) -> dict:
    return trees_result["trees"]


def test_a_line_of_a_tree_says_value_question_rows_share_and_gain(part):
    root = summary_of(part)["tree"]
    noun = root["children"][0]
    assert (said(root, "value"), said(root, "asked")) == ("all rows", "head.upos")
    assert (said(noun, "value"), said(noun, "asked"), noun["rows"]) == ("NOUN", "side", "600")
    assert (said(noun, "answer"), noun["share"], noun["gain"]) == ("no", "80.0%", "0.3100")


def test_a_leaf_has_an_answer_and_no_gain(part):
    leaf = summary_of(part)["tree"]["children"][1]
    assert (said(leaf, "value"), leaf["asked"], said(leaf, "answer")) == ("VERB", None, "no")
    assert leaf["gain"] is None
    assert not leaf["more"]


def test_the_largest_branches_come_first_and_two_levels_are_open(part):
    root = summary_of(part)["tree"]
    right, left = root["children"][0]["children"]
    assert (said(right, "value"), said(left, "value")) == ("right", "left")
    assert [line["open"] for line in (root, root["children"][0], right)] == [True, True, False]


def test_a_tree_that_is_cut_says_how_many_branches_and_rows_are_missing(part):
    summary = summary_of(part)
    root = summary["tree"]
    assert root["more"] == "7 more branches with 100 rows, not shown"
    assert any(line["more"] == "7 branches with 300 rows, not shown" for line in shown_nodes(root))
    assert "30 nodes and 9 questions, at most 7 questions on a path" in summary["tree_note"]
    assert "23 of its nodes are not shown" in summary["tree_note"]


def test_a_long_value_leaves_room_for_the_question():
    line = tree_lines(ShownTree(nodes=[TreeNode(value="x" * 500, column="asked next")]))
    assert len(said(line, "value")) == 60
    assert line["value"]["whole"] == "x" * 500
    assert line["asked"] == {"text": "asked next", "whole": ""}


def test_branches_that_nobody_counted_are_told_by_their_rows():
    nodes = [TreeNode(0, column="a", rows=10), TreeNode(1, 0, value="x", rows=7)]
    assert tree_lines(ShownTree(nodes=nodes))["more"] == "more branches with 3 rows, not shown"
    assert tree_lines(ShownTree(nodes=nodes[:1]))["more"] == "branches with 10 rows, not shown"


def test_no_more_than_twelve_branches_of_a_node_are_shown():
    nodes = [TreeNode(0, column="a")] + [TreeNode(j, 0, rows=j) for j in range(1, 31)]
    root = tree_lines(ShownTree(nodes=nodes))
    assert [line["rows"] for line in root["children"]] == [str(30 - j) for j in range(12)]
    assert root["more"].startswith(f"{30 - MOST_BRANCHES} more branches")


@given(st.lists(st.tuples(st.integers(-1, 12), st.integers(-1, 12)), max_size=40))
def test_any_list_of_nodes_is_drawn_as_a_tree_with_each_node_at_most_once(pairs):
    nodes = [TreeNode(number, parent, column="a") for number, parent in pairs]
    root = tree_lines(ShownTree(nodes=nodes))
    if nodes:
        assert 1 <= len(list(shown_nodes(root))) <= len({node.id for node in nodes})
    else:
        assert root is None


def test_templates_are_ranked_by_gain(part):
    rows = texts(summary_of(part)["templates"])
    assert rows[0] == ["1", "head.upos", "1", "200.0", "100.0%", "3", "no", "0.51"]
    assert rows[1] == ["2", "side", "1", "190.0", "60.0%", "2", "yes", "–"]
    assert rows[2][-1] == "−0.03"


def test_columns_that_no_template_fills_are_left_out():
    table = summary_of({"templates": [{"name": "a & b"}]})["templates"]
    assert [column["label"] for column in table["columns"]] == ["rank", "template"]


def test_the_twenty_templates_with_the_most_gain_are_drawn():
    templates = [{"name": f"t{j}", "gain": float(j)} for j in range(50)] + [{"name": "no gain"}]
    figure = figures_of({"templates": templates})["trees-gain"]
    assert [value["template"] for value in values_of(figure)] == [f"t{49 - j}" for j in range(20)]
    assert figure.caption == f"The {MOST_BARS} templates with the most gain"


def test_a_back_off_copy_is_drawn_hollow(part):
    figure = figures_of(part)["trees-gain"]
    assert [value["filled"] for value in values_of(figure)] == [1.0, 0.0, 1.0]
    assert [entry.label for entry in figure.legend[0]] == ["path of a tree", "back-off copy"]


def test_systems_are_printed_in_per_cent_beside_what_was_published(part):
    table = summary_of(part)["systems"]
    labels = [column["label"] for column in table["columns"]]
    first = dict(zip(labels, texts(table)[0], strict=True))
    assert first["UAS %"] == "88.91"
    assert first["interval"] == "87.91 to 89.91"
    assert first["sd"] == "0.20"
    assert first["published %"] == "88.91"


def test_several_metrics_stand_in_a_column_of_their_own():
    systems = [{"name": "a", "metric": metric, "value": 0.5} for metric in ("UAS", "LAS")]
    table = summary_of({"systems": systems})["systems"]
    assert texts(table) == [["a", "UAS", "50.00"], ["a", "LAS", "50.00"]]


def test_the_data_are_named_once_where_all_systems_share_them(part):
    one = summary_of(part | {"systems": part["systems"][:2]})
    assert "data" not in [column["label"] for column in one["systems"]["columns"]]
    assert one["systems_note"].startswith("Data: UD Bosque.")
    assert "data" in [column["label"] for column in summary_of(part)["systems"]["columns"]]


def test_each_data_set_has_a_figure_of_its_systems(part):
    drawn = figures_of(part)
    captions = [drawn[f"trees-systems-{j}"].caption for j in range(2)]
    assert captions == ["UD Bosque: UAS", "Floresta: UAS"]
    values = values_of(drawn["trees-systems-0"])
    assert [value["published"] for value in values] == [88.91, None]
    assert round(values[1]["low"], 2) == 88.02
    assert [entry.label for entry in drawn["trees-systems-0"].legend[0]][-1] == "published"


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
    drawing = sentence_drawing(ParsedSentence(["word"] * 5, ["N"], gold, predicted))
    for arc in drawing["arcs"]:
        places = re.findall(r"([MLHVQ])([-\d.,]+)", arc["d"])
        for command, numbers in places:
            parts = [float(one) for one in numbers.split(",")]
            across = [] if command == "V" else parts if command == "H" else parts[::2]
            down = [] if command == "H" else parts if command == "V" else parts[1::2]
            assert all(0 < x < drawing["width"] for x in across)
            assert all(0 < y < drawing["height"] for y in down)


def test_a_wrong_head_is_marked_in_both_trees_and_told_in_words(part):
    drawing = summary_of(part)["sentences"][0]
    looks = [arc["look"] for arc in drawing["arcs"]]
    assert (looks.count("missed"), looks.count("wrong")) == (1, 1)
    assert drawing["title"] == "1 of 9 heads differs."
    assert drawing["differences"] == [{"word": ".", "gold": "divisor", "predicted": "águas"}]
    assert summary_of(part)["sentences"][1]["title"] == "None of 9 heads differs."


def test_each_root_has_a_mark_above_and_below(part):
    labels = [arc["label"] for arc in summary_of(part)["sentences"][1]["arcs"]]
    assert labels.count("root") == 2


def test_relations_are_written_on_gold_arcs(part):
    labels = [arc["label"] for arc in summary_of(part)["sentences"][0]["arcs"]]
    assert labels.count("nsubj") == 1
    assert labels.count("punct") == 1


def test_a_sentence_with_one_tree_compares_nothing():
    drawing = sentence_drawing(ParsedSentence(["He", "ran"], gold=[2, 0]))
    assert drawing["title"] == "A sentence of 2 words."
    assert {arc["look"] for arc in drawing["arcs"]} == {"same"}
    assert [name["side"] for name in drawing["names"]] == ["gold"]


def test_a_sentence_of_a_thousand_words_is_cut_and_says_so():
    drawing = sentence_drawing(ParsedSentence(["w"] * 1000, gold=[0] * 1000, predicted=[0] * 1000))
    assert len(drawing["words"]) == MOST_WORDS
    assert drawing["title"].endswith(f"The first {MOST_WORDS} of 1,000 words.")


def test_a_long_word_is_clipped_and_kept_whole_beside():
    word = sentence_drawing(ParsedSentence(["x" * 500]))["words"][0]
    assert len(word["text"]) < 30
    assert word["whole"] == "x" * 500


def test_marks_on_letters_take_no_room():
    assert text_width("e\u0301") == text_width("e")


def test_the_page_has_the_sections_that_the_result_has(trees_result, part):
    page = report_html(trees_result)
    for place in ("tree", "templates", "systems", "sentences"):
        assert f'id="trees-{place}"' in page
        assert f'href="#trees-{place}"' in page
    bare = report_html({"trees": {"templates": part["templates"]}})
    assert 'id="trees-templates"' in bare
    assert 'id="trees-tree"' not in bare
    assert 'id="trees-sentences"' not in bare


def test_a_drawing_has_a_title_and_a_description(trees_result):
    page = report_html(trees_result)
    assert '<title id="arcs-0-title">1 of 9 heads differs.</title>' in page
    description = re.search(r'<desc id="arcs-0-text">(.*?)</desc>', page)
    assert description
    assert description[1].endswith("; .: gold head divisor, predicted águas")


@pytest.mark.parametrize("field", TreesPart.__struct_fields__)
def test_any_field_may_be_missing_or_stand_alone(part, field):
    report_html({"trees": {name: value for name, value in part.items() if name != field}})
    if field in part:
        report_html({"trees": {field: part[field]}})


@pytest.mark.parametrize("name", ["templates", "systems", "sentences"])
def test_any_field_of_an_entry_may_be_missing(part, name):
    for field in part[name][0]:
        entries = [{k: v for k, v in one.items() if k != field} for one in part[name]]
        report_html({"trees": part | {name: entries}})


def test_any_field_of_a_node_may_be_missing(part):
    for field in ("id", "parent", "value", "column", "rows", "class", "errors", "gain"):
        nodes = [{k: v for k, v in one.items() if k != field} for one in part["tree"]["nodes"]]
        report_html({"trees": {"tree": {"nodes": nodes}}})


def test_nothing_at_all_shows_no_section():
    assert summarize_trees(None) is None
    assert summarize_trees(TreesPart()) is None
    empty = {"tree": {}, "templates": [], "systems": [], "sentences": [{}]}
    assert 'id="trees"' not in report_html({"trees": empty})


def test_what_is_of_the_wrong_kind_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"the result cannot be shown: .*\$\.trees\.templates"):
        check_result({"trees": {"templates": [{"gain": "much"}]}})


def test_data_never_become_elements_of_the_page(hostile_trees_result):
    page = report_html(hostile_trees_result)
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert html.escape("<script>alert(1)</script>") in page


def test_a_template_without_a_name_is_still_a_row():
    rows = texts(
        summary_of({"templates": [{"gain": 1.0}, {"name": "a", "gain": 2.0}]})["templates"]
    )
    assert [row[1] for row in rows] == ["a", "–"]
    assert TreeTemplate().name == ""
