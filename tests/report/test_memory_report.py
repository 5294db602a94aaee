"""What the page says of memory-based learning: tables, figures and the cases behind an answer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.report import Case, Matrix, MemorySetting, check_result
from featloom.report.figures import figures
from featloom.report.html import report_html
from featloom.report.memory import (
    accuracy_table,
    case_table,
    mcnemar_table,
    setting_table,
    summarize_memory,
)
from featloom.report.memory_figures import shown_accuracies


@pytest.fixture(scope="module")
def checked(memory_result):
    return check_result(memory_result)


@pytest.fixture(scope="module")
def letters(checked):
    return summarize_memory(checked.memory)[1]


def drawn(part: dict) -> dict:
    return {figure.name: figure for figure in figures(check_result({"memory": [part]}))}


def layer_data(spec: dict, layer: int = 0) -> list[dict]:
    return spec["layer"][layer].get("data", spec.get("data"))["values"]


def test_accuracies_stand_by_features_and_parameters_as_in_the_paper(letters):
    rows = letters["table"]["rows"]
    assert [row["name"] for row in rows] == ["All features", "Optimised features"]
    codes = [[[line["code"] for line in cell] for cell in row["cells"]] for row in rows]
    assert codes == [[["DE"], ["EX"]], [["GA", "BA", "FO"], ["GA", "BA", "FO"]]]
    genetic = rows[1]["cells"][1][0]
    assert (genetic["test"], genetic["published"]) == ("82.86", "81.99")
    best = [line["code"] for row in rows for cell in row["cells"] for line in cell if line["best"]]
    assert best == ["GA"]


def test_the_published_figure_is_beside_ours_and_said_to_be_of_other_data(memory_result):
    page = report_html(memory_result)
    text = re.sub(r"<[^>]*>", "", page)
    assert "Small figures are the paper’s, on its own data." in text
    assert re.search(r"GA\s+82\.86\s+paper 81\.99", text)
    ours = [setting | {"published": None} for setting in memory_result["memory"][0]["settings"]]
    assert "on its own data" not in report_html({"memory": [{"settings": ours}]})


def test_a_run_without_optimised_features_has_one_row():
    table = accuracy_table([MemorySetting(method="DE", test=0.8, parameters_by="default")])
    assert [row["name"] for row in table["rows"]] == ["All features"]
    assert table["rows"][0]["cells"][1] == []
    assert accuracy_table([MemorySetting(method="DE")]) is None


def test_the_settings_given_for_the_table_are_the_ones_it_shows(memory_result):
    part = memory_result["memory"][0]
    some = part | {"table": part["settings"][:2]}
    summary = summarize_memory(check_result({"memory": [some]}).memory)[0]
    assert len(summary["table"]["rows"]) == 1
    assert len(summary["settings"]["rows"]) == 8


def test_a_setting_is_a_row_with_a_letter_for_each_feature():
    settings = [MemorySetting(name="s", k=3, modes=["overlap", "ignore", "mvdm", "jeffrey"])]
    table = setting_table(settings, ["a", "b", "c", "d", "e"])
    assert [mode["letter"] for mode in table["rows"][0]["modes"]] == ["O", "–", "M", "J", ""]
    assert [column["label"] for column in table["before"]] == ["k"]
    assert table["after"] == []


def test_thirty_features_keep_their_thirty_columns():
    features = [f"feature number {j}" for j in range(30)]
    table = setting_table([MemorySetting(modes=["mvdm"] * 30), MemorySetting()], features)
    assert table["features"] == features
    assert table["tall"]
    assert [len(row["modes"]) for row in table["rows"]] == [30, 30]


def test_the_setting_found_is_marked_and_never_twice(checked, letters):
    assert [row["name"] for row in letters["settings"]["rows"] if row["found"]] == ["backward, all"]
    alone = check_result({"memory": [{"found": {"name": "mine", "modes": ["mvdm"]}}]})
    rows = summarize_memory(alone.memory)[0]["settings"]["rows"]
    assert [(row["name"], row["found"]) for row in rows] == [("mine", True)]


def test_every_weighting_has_a_colour_and_every_metric_a_dash(memory_result):
    figure = drawn(memory_result["memory"][1])["memory-0-curves"]
    weights, metrics = figure.legend
    assert [entry.label for entry in weights][1] == "weights: gain ratio"
    assert len({(entry.colour, entry.mark) for entry in weights}) == 5
    assert [(entry.label, entry.dash) for entry in metrics] == [("overlap", ()), ("mvdm", (6, 3))]
    assert len(layer_data(figure.spec)) == 10 * 11


def test_the_ringed_point_is_the_one_in_words(letters, memory_result):
    figure = drawn(memory_result["memory"][1])["memory-0-curves"]
    (best,) = layer_data(figure.spec, 2)
    assert f"{best['accuracy']:.2f} % with k = {best['k']}, {best['metric']}" in letters["curves"]


def test_points_without_a_score_are_left_out():
    curve = {"weights": "none", "metric": "overlap", "k": [1, 3, 5], "score": [0.5, None]}
    figure = drawn({"curves": [curve]})["memory-0-curves"]
    assert [value["k"] for value in layer_data(figure.spec)] == [1]
    assert drawn({"curves": [curve | {"score": [None]}]}) == {}


def test_seeds_of_one_strategy_share_a_colour_and_are_thin(memory_result):
    figure = drawn(memory_result["memory"][0])["memory-0-search"]
    values = layer_data(figure.spec)
    assert [entry.label for entry in figure.legend[0]] == [
        "exhaustive",
        "genetic",
        "backward",
        "forward",
    ]
    assert {value["strategy"] for value in values if value["thin"]} == {"genetic"}
    assert len({value["line"] for value in values}) == 8


def test_a_search_that_begins_at_nothing_does_not_flatten_the_others(memory_result):
    figure = drawn(memory_result["memory"][0])["memory-0-search"]
    low = figure.spec["layer"][0]["encoding"]["y"]["scale"]["domain"][0]
    assert low > 80
    assert f"scores below {low:.1f} are cut off" in figure.caption


def test_fits_are_on_a_logarithmic_axis_where_most_is_won_early():
    def scale(fits):
        line = {"name": "s", "fits": fits, "best": [0.7, 0.79, 0.8]}
        spec = drawn({"trajectories": [line]})["memory-0-search"].spec
        return spec["layer"][0]["encoding"]["x"]["scale"]["type"]

    assert scale([1, 10, 1000]) == "log"
    assert scale([1, 700, 1000]) == "linear"


@given(
    st.lists(
        st.lists(st.floats(0, 1), min_size=1, max_size=5).map(
            lambda scores: list(enumerate(sorted(scores), start=1))
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_end_of_every_search_is_in_the_figure(lines):
    low, high = shown_accuracies(lines)
    assert low < high
    assert all(low <= 100 * points[-1][1] <= high for points in lines)


def test_a_test_says_which_setting_is_better_from_the_side_of_its_row():
    matrix = Matrix(
        names=["a", "b"],
        p=[[None, 0.004], [0.004, None]],
        chi2_p=[[None, 0.06], [0.06, None]],
        first_only=[[None, 1031], [12, None]],
    )
    table = mcnemar_table(matrix)
    (_, here), (there, _) = (row["cells"] for row in table["rows"])
    assert (here["arrow"], here["direction"], here["stars"]) == ("▲", "better", "**")
    assert (there["arrow"], there["direction"], there["stars"]) == ("▼", "worse", "**")
    assert here["counts"] == "1,031 : 12"
    assert table["disputed"]


@pytest.mark.parametrize(
    ("p", "shown"), [(0.2, "0.200"), (0.05, "0.050"), (0.0499, "0.050*"), (1e-9, "< 0.001***")]
)
def test_stars_begin_below_five_per_cent(p, shown):
    pair = mcnemar_table(Matrix(names=["a", "b"], p=[[None, p]]))["rows"][0]["cells"][1]
    assert pair["p"] + pair["stars"] == shown
    assert pair["arrow"] == ""


def test_twelve_settings_are_tested_with_each_other(hostile_memory_result):
    part = check_result(hostile_memory_result).memory[0]
    table = mcnemar_table(part.mcnemar)
    assert len(table["names"]) == len(table["rows"]) == 12
    for i, row in enumerate(table["rows"]):
        assert [j for j, cell in enumerate(row["cells"]) if cell is None] == [i]


def test_strategies_are_held_against_the_truth(letters):
    table = letters["truth"]["strategies"]
    labels = [column["label"] for column in table["columns"]]
    first = dict(zip(labels, (cell["text"] for cell in table["rows"][0]["cells"]), strict=True))
    assert first["found the best"] == "6 of 10"
    assert (first["median rank"], first["worst rank"]) == ("1", "9")
    assert ("settings, all tried", "120,285") in letters["truth"]["facts"]


def test_a_case_shows_where_its_neighbours_differ(checked):
    part = checked.memory[1]
    case = case_table(part.neighbours[1], part.features, ["ignore"])
    assert case["right"] is False
    assert case["features"][0] == {"name": "l3", "ignored": True}
    differs = [not value["same"] for value in case["neighbours"][0]["values"]]
    assert differs == [True, True, False, False, False, False, False]
    assert case["neighbours"][0]["classes"] == "0z: 3 · 0s: 1"


def test_a_long_question_is_cut_in_its_line_and_whole_in_its_table():
    case = case_table(Case(query=["x" * 500, *"abcdefghijklmnop"], answer="z"), [])
    assert case["asked"][0] == "x" * 23 + "…"
    assert case["asked"][-1] == "…"
    assert case["query"][0] == "x" * 500
    assert case["right"] is None


def test_parts_of_one_page_have_figures_of_their_own(checked):
    names = [figure.name for figure in figures(checked)]
    assert names == [f"memory-{i}-{what}" for i in (0, 1) for what in ("curves", "search")]


def test_a_part_with_nothing_in_it_leaves_no_trace():
    page = report_html({"memory": [{}], "data": {"source": "dimin"}})
    assert 'class="memory"' not in page
    assert "vegaEmbed=" not in page


def test_the_page_is_named_after_its_tasks_where_the_data_have_no_name(memory_result):
    page = report_html(memory_result)
    assert "<h1><bdi>unknown words, letter to sound</bdi></h1>" in page
    assert 'id="data"' not in page
