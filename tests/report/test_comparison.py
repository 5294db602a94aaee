"""What every result says in the same way: verdict, leaderboard, figures, tests, errors, time."""

from __future__ import annotations

import pytest
from whole_result import BASELINE, CHANCE, CHOSEN

from featloom.report.comparison import (
    MOST_CLASSES,
    confusion_matrix,
    gathered,
    head_of,
    sections_after,
    sections_before,
)
from featloom.report.figures import drawing
from featloom.report.grids import shown_facts, shown_grid
from featloom.report.page import check_result
from featloom.results import Confusion


def sections_of(result: dict) -> dict:
    read = check_result(result)
    return {one.name: one for one in (*sections_before(read), *sections_after(read))}


def lines(table) -> list[dict[str, str]]:
    shown = shown_grid(table)
    labels = [column["label"] for column in shown["columns"]]
    return [
        dict(zip(labels, (cell["text"] for cell in row["cells"]), strict=True))
        for row in shown["rows"]
    ]


def unders(table) -> dict[str, str]:
    rows = shown_grid(table)["rows"]
    return {row["cells"][0]["text"]: row["cells"][0].get("under", "") for row in rows}


def test_the_chosen_model_stands_beside_the_best_baseline_and_chance(result):
    significant, facts, why = head_of(check_result(result))
    assert (significant, why) == (True, result["chosen_why"])
    assert shown_facts(facts) == [
        ("chosen", CHOSEN),
        ("log-loss on the part held out", "0.282"),
        ("best baseline", "0.299"),
        ("chance", "0.552"),
    ]
    shares = result | {"metric": "accuracy", "lower_is_better": False}
    for one in shares["leaderboard"]:
        one = one | {"test": None}
    _, facts, _ = head_of(check_result(shares))
    assert ("best baseline", "78.0 %") in shown_facts(facts)


def test_a_choice_that_is_behind_beyond_chance_is_not_said_to_be_no_different(result):
    behind = {"a": CHOSEN, "b": BASELINE, "difference": -0.02, "significant": True}
    given = result | {"significant": False, "comparisons": [behind]}
    assert head_of(check_result(given))[0] is True
    assert head_of(check_result(result | {"significant": False}))[0] is False


def test_the_leaderboard_keeps_its_order_and_marks_one_line(result):
    section = sections_of(result)["Leaderboard"]
    figure, board = section.blocks
    assert board.chosen == [1]
    assert lines(board)[1] == {
        "model": CHOSEN, "role": "method", "log-loss": "0.2812", "held out": "0.2818",
        "AUC": "0.9270", "accuracy %": "86.90", "Brier": "0.0898", "published %": "86.10",
        "size": "1,212 features", "setting": "C 0.3, 1,000 conjunctions of 2", "trees": "3",
        "fits in": "6.1 s", "predicts in": "0.011 s",
    }  # fmt: skip
    assert shown_grid(board)["rows"][1]["cells"][2]["under"] == "0.2762 to 0.2862"
    assert section.note.startswith("A fifth held out; five folds. Log-loss: lower is better.")
    assert "Some learned from a part of the rows" in section.note
    drawn = drawing(figure)
    assert drawn.caption == (
        f"Scores; naive Bayes is at 0.7744, {CHANCE} is at 0.5509, right of the figure"
    )


def test_who_was_compared_on_less_says_so_below_its_name(result):
    sections = sections_of(result)
    under = unders(sections["Leaderboard"].blocks[1])
    assert under["memory-based learning"].endswith("learned from 8,000 of 31,258 rows")
    assert under["selection"].endswith("in 2 of 5 folds")
    assert under[CHOSEN] == f"the idea of the {CHOSEN}"
    unfinished, other = lines(sections["Not compared"].blocks[0])
    assert (unfinished["what became of it"], unfinished["why"]) == (
        "unfinished", "the time was over",
    )  # fmt: skip
    assert (unfinished["score so far"], unfinished["of the data %"]) == ("0.3391", "50.00")
    assert other["why"] == "the rows are no sentences"


def test_the_chosen_one_is_ranked_even_where_it_did_not_finish():
    board = [{"name": "a", "status": "unfinished", "chosen": True, "value": 0.5}]
    sections = sections_of({"leaderboard": board})
    assert list(sections) == ["Leaderboard"]


def test_gains_of_a_loss_are_in_nats_and_those_over_chance_stand_apart(result):
    tests, gate = sections_of(result)["Tests"].blocks
    first, second = lines(tests)
    assert (first["a is better by, nats"], first["interval"]) == ("+0.0175", "0.0120 to 0.0230")
    assert (second["p"], second["adjusted p"]) == ("0.030", "0.090")
    assert (second["verdict"], first["on"]) == ("not significant", "held out")
    assert second["a is better by, nats"] == "−0.0349"
    assert shown_grid(tests)["rows"][1]["cells"][1]["under"] == "learned from other amounts"
    assert ([one["b"] for one in lines(gate)], gate.folded) == ([CHANCE], True)


def test_the_chosen_model_is_shown_by_every_metric(result):
    section = sections_of(result)["Chosen"]
    facts, curve, words, matrix, numbers = section.blocks
    assert dict(shown_facts(facts))["F1 of >50K"] == "71.2%"
    assert "from a probability of 0.38 on" in words.text
    assert matrix.values == [[12_510, 914], [1_390, 2_770]]
    assert drawing(curve).legend[-1][0].label == "as predicted"
    assert lines(numbers)[0] == {
        "predicted %": "1.20", "came true %": "1.10", "interval": "0.70 to 1.50", "rows": "3,911",
    }  # fmt: skip


def test_calibration_of_many_classes_is_that_of_the_class_predicted(result):
    figures = result["chosen_figures"] | {"positive": None, "f1": None, "confusion": None}
    _, curve, _ = sections_of(result | {"chosen_figures": figures})["Chosen"].blocks
    assert curve.x.startswith("probability of the class predicted")


def test_of_very_many_classes_the_commonest_are_confused_and_the_rest_summed():
    size = 200
    counts = [[i if i == j else int(j == 0) for j in range(size)] for i in range(size)]
    shown, other, summed = gathered(Confusion(list(range(size)), counts))
    assert shown == list(range(size - 1, size - 1 - MOST_CLASSES, -1))
    assert sum(map(sum, summed)) == sum(map(sum, counts))
    matrix = confusion_matrix(Confusion(list(range(size)), counts))
    assert matrix.rows[-1] == f"the other {other}"
    assert "The 12 commonest of 200 classes." in matrix.note
    assert (matrix.tones[-1][-1], (12, 12) in matrix.bold) == (0.0, False)


def test_a_matrix_that_does_not_fit_its_classes_is_filled():
    shown, other, counts = gathered(Confusion(["a", "b"], [[1, None, 9]]))
    assert (shown, other, counts) == (["a", "b"], 0, [[1, 0], [0, 0]])


def test_curves_begin_with_the_chosen_model_and_leave_chance_to_the_table(result):
    figure, numbers = sections_of(result)["Curves"].blocks
    assert [line.name for line in figure.lines] == [CHOSEN, BASELINE]
    assert list(lines(numbers)[0]) == ["rows learned from", CHOSEN, BASELINE, CHANCE]
    assert "sentences learned from" in lines(
        sections_of(result | {"unit": "sentences"})["Curves"].blocks[1]
    )[0]  # fmt: skip


def test_errors_put_the_chosen_model_first_and_count_its_gain(result):
    by_class, by_group = sections_of(result)["Errors"].blocks
    assert lines(by_class)[0] == {
        "class": "<=50K", "rows": "90", CHOSEN: "88.9%", BASELINE: "86.7%", "gain, points": "+2.22",
    }  # fmt: skip
    assert list(lines(by_group)[0]) == ["group", "rows", CHOSEN]


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("finished", "It stopped because everything that applies was compared."),
        ("budget", "It stopped because the time was up."),
        ("interrupted", "It stopped because it was interrupted."),
    ],
)
def test_the_time_says_why_it_stopped(stopped, words):
    budget = {"seconds": 600, "spent": 412.0, "compiled": 0.4, "stopped": stopped}
    facts, why = sections_of({"budget": budget})["Time"].blocks
    assert shown_facts(facts) == [("spent", "6 min 52 s"), ("asked for", "10 min")]
    assert why.text == words


@pytest.mark.parametrize("status", ["unfinished", "partly"])
def test_while_something_was_not_compared_not_everything_was(status):
    board = [{"name": "a", "status": "finished"}, {"name": "b", "status": status}]
    found = {"leaderboard": board, "budget": {"stopped": "finished"}}
    words = "It stopped because what is not compared would not have ended in time."
    assert sections_of(found)["Time"].blocks[-1].text == words


def test_a_result_that_compared_nothing_has_no_such_sections():
    empty = {"leaderboard": [], "errors": {}, "curves": [{}], "comparisons": []}
    assert sections_of(empty) == {}
