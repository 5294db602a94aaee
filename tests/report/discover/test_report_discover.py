"""What the page says of a comparison of every method: verdict, scores, findings, errors, use."""

from __future__ import annotations

import html
import re

import pytest
from featloom.report.discover import (
    MOST_ERRORS,
    MOST_FOUND,
    code_lines,
    error_table,
    summarize_discover,
)
from featloom.report.discover_chosen import MOST_CLASSES, confusion_table, gathered
from featloom.report.discover_figures import MOST_LINES, MOST_METHODS, discover_figures
from featloom.report.discover_types import Confusion, Discovered, ErrorLine
from featloom.report.html import report_html
from featloom.report.summarize import summarize

from featloom.errors import InputError
from featloom.report.page import check_result

CHOSEN, BASELINE = "induction", "linear model"
OPTIONAL = [name for name in Discovered.__struct_fields__ if name != "unit"]


def summary_of(result: dict) -> dict:
    summary = summarize_discover(check_result(result))
    assert summary is not None
    return summary


def figures_of(result: dict) -> dict:
    return {figure.name: figure for figure in discover_figures(check_result(result))}


def lines(table: dict) -> list[dict[str, str]]:
    labels = [column["label"] for column in table["columns"]]
    return [
        dict(zip(labels, (cell["text"] for cell in row["cells"]), strict=True))
        for row in table["rows"]
    ]


def values_of(figure) -> list[dict]:
    """The rows of the layer that names them all."""
    return (figure.spec.get("data") or figure.spec["layer"][-1]["data"])["values"]


def test_the_verdict_is_the_first_thing_said_and_the_warnings_stand_before_the_scores(
    discover_result,
):
    page = report_html(discover_result)
    places = [
        page.index(words)
        for words in (
            'class="verdict large"',
            "The difference is significant.",
            "Taken for <bdi>a table of 7 columns of symbols",
            "312 rows of the part held out",
            'id="discover-leaderboard"',
            'id="discover-aside"',
            'id="discover-tests"',
            'id="discover-curves"',
            'id="discover-findings"',
            'id="discover-errors"',
            'id="discover-use"',
            'id="discover-budget"',
            'id="reproduce"',
        )
    ]
    assert places == sorted(places)
    assert 'id="tests"' not in page


def test_a_difference_that_may_be_chance_is_said_to_be_so(discover_result):
    page = report_html(discover_result | {"significant": False})
    assert "The difference is not significant." in page


def test_a_choice_that_is_behind_beyond_chance_is_not_said_to_be_no_different(discover_result):
    behind = {
        "a": discover_result["chosen"], "b": "linear model", "difference": -0.02,
        "p_adjusted": 0.002, "significant": True, "on": "test",
    }  # fmt: skip
    page = report_html(discover_result | {"significant": False, "comparisons": [behind]})
    assert "The difference is significant." in page


def test_the_chosen_method_stands_beside_the_best_baseline_and_chance(discover_result):
    assert summary_of(discover_result)["facts"] == [
        ("chosen", CHOSEN),
        ("accuracy on the part held out", "94.2 %"),
        ("best baseline", "91.4 %"),
        ("chance", "51.9 %"),
    ]
    for one in discover_result["leaderboard"]:
        one.pop("test", None)
    facts = dict(summary_of(discover_result)["facts"])
    assert facts["accuracy cross-validated"] == "94.3 %"


def test_a_baseline_that_was_chosen_is_not_compared_with_itself(discover_result):
    board = [one for one in discover_result["leaderboard"] if one["name"] == BASELINE]
    result = {"leaderboard": [board[0] | {"chosen": True}], "chosen": BASELINE}
    assert [label for label, _ in summary_of(result)["facts"]] == [
        "chosen",
        "score on the part held out",
    ]


def test_the_leaderboard_keeps_its_order_and_marks_one_line(discover_result):
    table = summary_of(discover_result)["leaderboard"]
    assert [row["chosen"] for row in table["rows"]] == [False, True, False, False, False]
    chosen = lines(table)[1]
    assert chosen == {
        "method": CHOSEN,
        "role": "method",
        "accuracy %": "94.32",
        "held out %": "94.19",
        "size": "3,100 features",
        "setting": "C 0.3, 1,000 conjunctions of up to 3",
        "learns in": "21.4 s",
        "answers in": "0.004 s",
    }
    cells = table["rows"][1]["cells"]
    assert (cells[2]["under"], cells[3]["under"]) == ("93.72 to 94.92", "92.89 to 95.39")
    assert cells[4]["value"] == 3100


def test_who_had_a_part_of_the_data_only_says_so_below_its_name(discover_result):
    summary = summary_of(discover_result)
    under = [row["cells"][0]["under"] for row in summary["leaderboard"]["rows"]]
    assert under[2] == "the most similar cases decide · compared on 25% of the data"
    assert "compared on" not in under[1]
    assert "their scores may be too low" in summary["leaderboard_note"]


def test_what_was_not_compared_stands_apart_with_its_reason(discover_result):
    unfinished, *others = lines(summary_of(discover_result)["aside"])
    assert unfinished["what became of it"] == "unfinished"
    assert unfinished["why"] == "the time was up after 2 of 5 folds"
    assert (unfinished["score so far %"], unfinished["of the data"]) == ("93.91", "50%")
    assert [one["why"] for one in others] == ["the rows are no sentences", "there is one task only"]


def test_the_chosen_one_is_ranked_even_where_it_did_not_finish():
    board = [{"name": "a", "status": "unfinished", "chosen": True, "value": 0.5}]
    summary = summary_of({"leaderboard": board})
    assert [one["method"] for one in lines(summary["leaderboard"])] == ["a"]
    assert summary["aside"] is None


def test_tests_show_p_as_it_is_and_adjusted(discover_result):
    first, second = lines(summary_of(discover_result)["tests"])
    assert (first["a − b, points"], first["interval"]) == ("+2.80", "1.90 to 3.70")
    assert (second["p"], second["adjusted p"]) == ("0.030", "0.090")
    assert (second["verdict"], second["on"]) == ("not significant", "held out")


def test_tests_alone_are_those_of_any_result(discover_result):
    result = {"kind": "discover", "comparisons": discover_result["comparisons"]}
    assert summarize_discover(check_result(result)) is None
    assert 'id="tests"' in report_html(result)


def test_scores_are_drawn_with_the_held_out_ones_and_chance_is_named_when_it_is_far(
    discover_result,
):
    figure = figures_of(discover_result)["discover-scores"]
    drawn = {value["method"]: value for value in values_of(figure)}
    assert list(drawn) == ["gradient boosting", CHOSEN, "memory-based learning", BASELINE]
    assert [one["look"] for one in drawn.values()] == ["aside", "chosen", "other", "other"]
    assert drawn[CHOSEN]["test"] == pytest.approx(94.19)
    assert figure.caption.endswith("chance is at 52.0 %, left of the figure")


def test_chance_is_drawn_where_the_others_are_near_it(discover_result):
    for one in discover_result["leaderboard"]:
        if one["role"] == "chance":
            one |= {"value": 0.9, "interval": [0.89, 0.91], "test": 0.9, "test_interval": None}
    figure = figures_of(discover_result)["discover-scores"]
    assert values_of(figure)[-1]["method"] == "commonest class"
    assert figure.caption == "Scores of the methods"


def test_of_very_many_methods_the_chosen_one_is_drawn():
    board = [{"name": f"m{j}", "value": 0.5 + j / 1000, "chosen": j == 70} for j in range(80)]
    names = [
        value["method"] for value in values_of(figures_of({"leaderboard": board}).popitem()[1])
    ]
    assert len(names) == MOST_METHODS
    assert names[-1] == "m70"


def test_curves_begin_with_the_chosen_method_and_need_two_sizes(discover_result):
    figure = figures_of(discover_result)["discover-curves"]
    assert figure.legend[0][0].label == CHOSEN
    assert lines(summary_of(discover_result)["curves"])[-1] == {
        "rows learned from": "8,000",
        BASELINE: "91.74",
        CHOSEN: "94.32",
        "memory-based learning": "–",
    }
    once = [point for point in discover_result["curves"] if point["rows"] == 500]
    assert figures_of({"curves": once}) == {}
    many = [
        {"method": f"m{j}", "rows": rows, "value": 0.5} for j in range(40) for rows in (10, 100)
    ]
    assert len(figures_of({"curves": many})["discover-curves"].legend[0]) == MOST_LINES


def test_sentences_are_called_sentences(discover_result):
    summary = summary_of(discover_result | {"unit": "sentences"})
    assert summary["curves"]["columns"][0]["label"] == "sentences learned from"
    assert "a part of the sentences only" in summary["leaderboard_note"]


def test_the_findings_of_the_chosen_method_come_first_and_are_open(discover_result):
    first, second = summary_of(discover_result)["findings"]
    assert (first["method"], first["title"], first["open"]) == (CHOSEN, "conjunctions", True)
    assert (second["method"], second["open"]) == (BASELINE, False)
    numeric = {column["label"]: column["number"] for column in first["table"]["columns"]}
    assert numeric == {"feature": False, "rows": True, "weight": True, "sure": False}
    found = lines(first["table"])
    assert found[0] == {
        "feature": "letter=c & next=h",
        "rows": "1,320",
        "weight": "2.125",
        "sure": "true",
    }
    assert (found[2]["weight"], found[2]["sure"]) == ("–", "–")


def test_rows_of_unequal_length_are_filled_and_long_findings_cut():
    finding = {"method": "m", "columns": ["a"], "rows": [["x", 1], [], [{"y": 2}]]}
    (found,) = summary_of({"findings": [finding]})["findings"]
    texts = [[cell["text"] for cell in row["cells"]] for row in found["table"]["rows"]]
    assert texts == [["x", "1"], ["–", "–"], ['{"y":2}', "–"]]
    long = {"columns": ["a"], "rows": [[j] for j in range(MOST_FOUND + 5)]}
    (found,) = summary_of({"findings": [long]})["findings"]
    assert found["note"] == "The first 1,000 of 1,005."


def test_errors_put_the_chosen_method_first_and_count_its_gain(discover_result):
    (what, classes, _), (other, groups, _) = summary_of(discover_result)["errors"]
    assert (what, other) == ("class", "group")
    labels = [column["label"] for column in classes["columns"]]
    assert labels == ["class", "rows", CHOSEN, BASELINE, "gain, points"]
    assert len(groups["rows"]) == 30
    assert lines(groups)[0] == {
        "group": "document 0",
        "rows": "90",
        CHOSEN: "88.9%",
        BASELINE: "86.7%",
        "gain, points": "+2.22",
    }
    bars = groups["rows"][0]["cells"][2:4]
    assert [bar["second"] for bar in bars] == [False, True]


def test_errors_of_one_method_have_no_gain_and_groups_may_be_numbers():
    table = error_table([ErrorLine(7, 4, {"a": 3}), ErrorLine("", 0, {"a": 0})], "group", ["a"])
    assert [column["label"] for column in table["columns"]] == ["group", "rows", "a"]
    assert [row["cells"][0]["text"] for row in table["rows"]] == ["7", "(empty)"]
    assert [row["cells"][2]["text"] for row in table["rows"]] == ["75.0%", "–"]


def test_of_very_many_classes_the_first_are_shown():
    by_class = [{"name": f"c{j}", "rows": 1, "right": {"a": 1}} for j in range(MOST_ERRORS + 1)]
    ((_, table, note),) = summary_of({"errors": {"by_class": by_class}})["errors"]
    assert len(table["rows"]) == MOST_ERRORS
    assert note == "The first 1,000 of 1,001."


def test_code_keeps_its_lines(discover_result):
    _, python = summary_of(discover_result)["use"]
    assert python["code"].startswith('import featloom\n\nmodel = featloom.load("runs/letter-c")\n')
    assert code_lines("a\r\nb\x00\u202e") == "a\nb\\x00\\u202e"
    assert "\nmodel = featloom.load(&#34;runs/letter-c&#34;)\n" in report_html(discover_result)


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("finished", "It stopped because everything that applies was compared."),
        ("budget", "It stopped because the time was up."),
        ("interrupted", "It stopped because it was interrupted."),
        ("", ""),
    ],
)
def test_the_budget_says_why_it_stopped(stopped, words):
    budget = summary_of({"budget": {"seconds": 600, "spent": 412.0, "stopped": stopped}})["budget"]
    assert budget["facts"] == [("spent", "6 min 52 s"), ("asked for", "10 min")]
    assert budget["bar"] == pytest.approx(68.67)
    assert budget["why"] == words


@pytest.mark.parametrize("status", ["unfinished", "partly"])
def test_while_something_was_not_compared_not_everything_was(status):
    board = [{"name": "a", "status": "finished"}, {"name": "b", "status": status}]
    result = {"leaderboard": board, "budget": {"stopped": "finished"}}
    words = "It stopped because what is not compared would not have ended in time."
    assert summary_of(result)["budget"]["why"] == words
    board[1]["status"] = "not applicable"
    words = "It stopped because everything that applies was compared."
    assert summary_of(result)["budget"]["why"] == words


def test_the_time_says_when_the_first_answer_stood_and_what_was_compiled(adult_discover_result):
    budget = adult_discover_result["budget"]
    assert summary_of(adult_discover_result)["budget"]["facts"] == [
        ("spent", "57.2 s"),
        ("asked for", "1 min"),
        ("first leaderboard after", "2.1 s"),
        ("of all processors", "1 min 44 s"),
        ("compiled, once", "21.3 s"),
    ]
    labels = dict(summary_of({"budget": budget | {"compiled": 0.4}})["budget"]["facts"])
    assert "compiled, once" not in labels


def test_a_log_loss_is_printed_as_it_is_and_the_other_metrics_beside_it(adult_discover_result):
    table = summary_of(adult_discover_result)["leaderboard"]
    assert lines(table)[1] == {
        "method": CHOSEN,
        "role": "method",
        "log-loss": "0.2812",
        "held out": "0.2818",
        "AUC": "0.927",
        "accuracy %": "86.90",
        "Brier": "0.090",
        "size": "1,212 features",
        "setting": "C 0.3, 1,000 conjunctions of 2",
        "learns in": "6.1 s",
        "answers in": "0.011 s",
    }
    assert table["rows"][1]["cells"][2]["under"] == "0.2760 to 0.2864"
    note = summary_of(adult_discover_result)["leaderboard_note"]
    assert note.startswith("Log-loss: lower is better.")
    assert "intervals of folds allow for the rows that fits share" in note


def test_the_lowest_loss_is_the_best_baseline(adult_discover_result):
    assert summary_of(adult_discover_result)["facts"] == [
        ("chosen", CHOSEN),
        ("log-loss on the part held out", "0.282"),
        ("best baseline", "0.299"),
        ("chance", "0.552"),
    ]


def test_who_was_compared_in_some_folds_or_on_fewer_rows_says_so(adult_discover_result):
    rows = summary_of(adult_discover_result)["leaderboard"]["rows"]
    under = {row["cells"][0]["text"]: row["cells"][0]["under"] for row in rows}
    assert under["memory-based learning"].endswith("learned from 8,000 of 31,258 rows")
    assert under["selection by minimum description length"].endswith("in 2 of 5 folds")
    assert under[CHOSEN] == adult_discover_result["leaderboard"][1]["idea"]
    aside = lines(summary_of(adult_discover_result)["aside"])
    assert [one["method"] for one in aside] == ["memory search", "template search"]


def test_gains_of_a_loss_are_in_nats_and_those_over_chance_stand_apart(adult_discover_result):
    summary = summary_of(adult_discover_result)
    first, _, third = lines(summary["tests"])
    assert (first["a is better by, nats"], first["interval"]) == ("+0.0175", "0.0120 to 0.0230")
    assert third["a is better by, nats"] == "−0.0349"
    assert summary["tests"]["rows"][2]["cells"][1]["under"] == "learned from other amounts"
    assert [one["b"] for one in lines(summary["gate"])] == ["always the base rate"]


def test_scores_that_no_others_could_be_told_apart_beside_are_named(adult_discover_result):
    figure = figures_of(adult_discover_result)["discover-scores"]
    drawn = [value["method"] for value in values_of(figure)]
    assert {"naive Bayes", "always the base rate"}.isdisjoint(drawn)
    assert figure.caption.endswith(
        "; naive Bayes is at 0.774, chance is at 0.551, right of the figure"
    )
    assert values_of(figure)[1]["value"] == pytest.approx(0.2812)
    axes = [layer["encoding"]["x"].get("title") for layer in figure.spec["layer"]]
    assert "log-loss (lower is better)" in axes


def test_curves_of_a_loss_are_not_in_per_cent(adult_discover_result):
    figure = figures_of(adult_discover_result)["discover-curves"]
    assert max(value["value"] for value in figure.spec["data"]["values"]) == 0.361
    last = lines(summary_of(adult_discover_result)["curves"])[-1]
    assert last[CHOSEN] == "0.2812"


def test_the_chosen_model_is_shown_by_every_metric(adult_discover_result):
    figures = summary_of(adult_discover_result)["figures"]
    assert figures["facts"] == [
        ("log-loss (base rate 0.552)", "0.282"),
        ("AUC", "0.927"),
        ("accuracy", "86.9 %"),
        ("Brier score", "0.090"),
        ("calibration error", "0.012"),
        ("F1 of >50K", "71.2 %"),
    ]
    assert "from a probability of 0.38 on" in figures["f1"]
    assert lines(figures["calibration"])[0] == {
        "predicted %": "1.2",
        "came true %": "1.1",
        "interval": "0.70 to 1.50",
        "rows": "3,911",
    }
    page = report_html(adult_discover_result)
    assert page.index('id="discover-leaderboard"') < page.index('id="discover-chosen"')


@pytest.mark.parametrize("field", ["f1", "confusion", "calibration", "auc", "log_loss", "positive"])
def test_any_figure_of_the_chosen_model_may_be_missing(adult_discover_result, field):
    adult_discover_result["chosen_figures"][field] = [] if field == "calibration" else None
    assert 'id="discover-chosen"' in report_html(adult_discover_result)


def test_results_without_figures_have_no_such_part(discover_result):
    assert summary_of(discover_result)["figures"] is None
    assert 'id="discover-chosen"' not in report_html(discover_result)
    assert "discover-calibration" not in figures_of(discover_result)


def test_of_very_many_classes_the_commonest_are_confused_and_the_rest_summed():
    size = 200
    counts = [[i if i == j else int(j == 0) for j in range(size)] for i in range(size)]
    shown, other, summed = gathered(Confusion(list(range(size)), counts))
    assert shown == list(range(size - 1, size - 1 - MOST_CLASSES, -1))
    assert other == size - MOST_CLASSES
    assert sum(map(sum, summed)) == sum(map(sum, counts))
    table = confusion_table(Confusion(list(range(size)), counts))
    assert table["labels"][-1] == "the other 188"
    assert table["note"] == "The 12 commonest of 200 classes."
    last = table["rows"][-1]["cells"][-1]
    assert (last["right"], last["summed"]) == (False, True)


def test_a_matrix_that_does_not_fit_its_classes_is_filled():
    shown, other, counts = gathered(Confusion(["a", "b"], [[1, None, 9]]))
    assert (shown, other, counts) == (["a", "b"], 0, [[1, 0], [0, 0]])


def test_calibration_of_many_classes_is_that_of_the_class_answered(adult_discover_result):
    adult_discover_result["chosen_figures"]["positive"] = None
    figure = figures_of(adult_discover_result)["discover-calibration"]
    assert figure.spec["layer"][0]["encoding"]["x"]["title"].startswith("probability of the class")


def test_a_run_beyond_its_budget_fills_the_bar():
    assert summary_of({"budget": {"seconds": 10, "spent": 12}})["budget"]["bar"] == 100
    assert summary_of({"budget": {"seconds": 0, "spent": 12}})["budget"]["bar"] is None


@pytest.mark.parametrize("field", OPTIONAL)
def test_any_part_may_be_missing_or_stand_alone(adult_discover_result, field):
    alone = {field: adult_discover_result[field]}
    del adult_discover_result[field]
    for result in (adult_discover_result, alone):
        summary, page = summarize(check_result(result)), report_html(result)
        for place, _ in (summary["discover"] or {"contents": []})["contents"]:
            assert f'id="{place}"' in page
            assert f'href="#{place}"' in page


@pytest.mark.parametrize("part", ["leaderboard", "comparisons", "curves", "findings", "use"])
@pytest.mark.parametrize("name", ["discover_result", "adult_discover_result"])
def test_any_field_of_an_entry_may_be_missing(name, part, request):
    discover_result = request.getfixturevalue(name)
    fields = {field for entry in discover_result[part] for field in entry}
    needed = {"a", "b"} if part == "comparisons" else set()
    for field in sorted(fields - needed):
        entries = [{k: v for k, v in one.items() if k != field} for one in discover_result[part]]
        summarize(check_result(discover_result | {part: entries}))
    if not needed:
        report_html({part: [{}]})


def test_the_data_may_be_missing(discover_result):
    del discover_result["data"]
    page = report_html(discover_result)
    assert 'id="data"' not in page
    assert 'id="discover-leaderboard"' in page


def test_nothing_at_all_shows_no_section():
    assert summarize_discover(check_result({"kind": "discover"})) is None
    empty = {"leaderboard": [], "findings": [{}], "errors": {}, "use": [{}], "curves": [{}]}
    assert 'id="discover"' not in report_html(empty)


def test_results_of_other_kinds_keep_their_pages(sample_result):
    page = report_html(sample_result | {"protocol": "words", "metric": "F1", "significant": True})
    assert 'id="discover"' not in page
    assert 'class="verdict"' in page
    assert 'id="tests"' in page


def test_names_from_data_are_shown_and_never_run(hostile_discover_result, hostile_names):
    page = report_html(hostile_discover_result)
    shown = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert hostile_names[0] not in page
    assert html.escape(hostile_names[0]) in shown
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "<img" not in shown


def test_what_is_of_the_wrong_kind_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"the result cannot be shown: .*\$\.leaderboard\[0\]"):
        check_result({"leaderboard": [{"value": "much"}]})
