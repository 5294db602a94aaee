"""The leaderboard in a terminal: what it shows, and that it fits without breaking a word."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from featloom.cli.show import (
    chosen_words,
    is_ranked,
    leaderboard_rows,
    show_chosen,
    show_leaderboard,
    time_words,
)
from featloom.report.metric import Metric
from featloom.shown import LEAST_NAME, TableColumn, table_for

LOSS = Metric("log-loss", lower_is_better=True)
FIGURES = {
    "log_loss": 0.2812, "base_rate_log_loss": 0.5522, "auc": 0.9271, "accuracy": 0.8691,
    "brier": 0.0898, "ece": 0.012,
    "f1": {"positive": ">50K", "threshold": 0.381, "value": 0.7123},
    "confusion": {"classes": ["<=50K", ">50K"], "counts": [[5531, 414], [610, 1260]]},
}  # fmt: skip


def line(name: str, value: float | None, **more) -> dict:
    return {
        "name": name, "status": "finished", "why": "", "value": value, "test": value,
        "interval": None if value is None else [value - 0.005, value + 0.005],
        "metrics": {"auc": 0.9271, "accuracy": 0.8691}, "size_words": "1,212 features",
        "fit_s": 6.14, "chosen": False, "learned": 100, "n_folds": 5,
    } | more  # fmt: skip


class Spoken(Console):
    def __init__(self, width: int = 80):
        super().__init__(file=io.StringIO(), width=width)

    def say(self, text: str) -> None:
        self.print(text, markup=False, highlight=False, soft_wrap=True)

    @property
    def lines(self) -> list[str]:
        return [text.rstrip() for text in self.file.getvalue().splitlines()]


BOARD = [
    line("induction", 0.2812, chosen=True),
    line("memory-based learning", 0.33, learned=40),
    line("selection by minimum description length", 0.34, status="partly", test=None,
         n_folds=2, folds_of=5, metrics=None, interval=None),
    {"name": "memory search", "status": "unfinished", "why": "the time was up"},
]  # fmt: skip


def shown(width: int = 80) -> list[str]:
    console = Spoken(width)
    result = {"metric": "log-loss", "lower_is_better": True, "leaderboard": BOARD, "unit": "rows"}
    show_leaderboard(console, result)
    return console.lines


def test_losses_stand_as_they_are_with_the_other_metrics_beside_them():
    columns, rows = leaderboard_rows(BOARD[:1], LOSS)
    assert dict(zip([column.head for column in columns], rows[0], strict=True)) == {
        "contender": "induction ←",
        "folds": ".2812",
        "±": ".0050",
        "test": ".2812",
        "AUC": ".927",
        "accuracy": "86.9 %",
        "size": "1,212 features",
        "fit": "6.1 s",
    }


def test_shares_stand_in_per_cent_and_older_results_have_no_other_metrics():
    old = [one | {"metrics": None} for one in BOARD[:2]]
    columns, rows = leaderboard_rows(old, Metric("accuracy"))
    heads = [column.head for column in columns]
    assert heads == ["contender", "folds", "±", "test", "size", "fit"]
    assert rows[1][:4] == ["memory-based learning", "33.00", "0.50", "33.00"]


def test_a_table_of_80_columns_has_every_number():
    drawn = shown()
    assert drawn[0] == "log-loss, lower is better; AUC and accuracy on the test part"
    assert max(map(len, drawn)) <= 80
    assert drawn[1].split()[-3:] == ["accuracy", "size", "fit"]
    text = " ".join(drawn)
    assert "(2 of 5 folds)" in " ".join(text.split())
    assert drawn[-2:] == [
        "memory-based learning: learned from 40 of 100 rows",
        "memory search: unfinished, the time was up",
    ]


def test_narrow_terminals_lose_the_time_of_fits_first_then_the_interval():
    heads = {width: shown(width)[1].split() for width in (76, 70, 62)}
    assert heads[76] == ["contender", "folds", "±", "test", "AUC", "accuracy", "size", "fit"]
    assert heads[70] == heads[76][:-1]
    assert heads[62] == [head for head in heads[70] if head != "±"]


words = st.text(
    st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=LEAST_NAME
)


@given(
    rows=st.lists(
        st.tuples(st.lists(words, min_size=1, max_size=6).map(" ".join), words, words),
        min_size=1, max_size=5,
    ),
    width=st.integers(min_value=40, max_value=120),
)  # fmt: skip
def test_a_table_fits_and_keeps_every_word_of_the_names(rows, width):
    columns = [TableColumn("name", is_number=False), TableColumn("a"), TableColumn("b", goes=1)]
    console = Console(file=io.StringIO(), width=width)
    console.print(table_for(width, columns, rows))
    drawn = console.file.getvalue()
    assert all(len(text.rstrip()) <= width for text in drawn.splitlines())
    assert {word for name, _, _ in rows for word in name.split()} <= set(drawn.split())


def test_the_chosen_model_in_one_sentence_and_a_matrix():
    console = Spoken()
    show_chosen(console, {"chosen_figures": FIGURES})
    said = " ".join(" ".join(console.lines[:2]).split())
    assert said == (
        "on the test part: log-loss .281 (base rate .552), AUC .927, accuracy 86.9 %, "
        "Brier score .090, calibration error .012; F1 of >50K 71.2 % at threshold .38"
    )
    assert [text.split() for text in console.lines[-2:]] == [
        ["<=50K", "5,531", "414"],
        [">50K", "610", "1,260"],
    ]
    assert max(map(len, console.lines)) <= 80


def test_a_matrix_of_many_classes_is_for_the_page():
    many = {"classes": list("abcdef"), "counts": [[1] * 6] * 6}
    console = Spoken()
    show_chosen(console, {"chosen_figures": FIGURES | {"confusion": many}})
    assert not any("predicted" in text for text in console.lines)


def test_without_figures_nothing_is_said():
    console = Spoken()
    show_chosen(console, {"chosen_figures": None})
    show_chosen(console, {})
    assert console.lines == []
    assert chosen_words({"f1": None}) == ""


@pytest.mark.parametrize(
    ("budget", "statuses", "said"),
    [
        ({"stopped": "finished", "spent": 9.0}, ["finished"], []),
        (
            {"stopped": "finished", "spent": 9.0},
            ["finished", "partly"],
            ["stopped after 9.0 s: what is not compared would not have ended in time"],
        ),
        (
            {"stopped": "interrupted", "spent": 9.0, "first_answer": 2.1, "compiled": 0.4},
            [],
            ["stopped after 9.0 s: it was interrupted", "first leaderboard after 2.1 s"],
        ),
        ({"stopped": "finished", "compiled": 21.3}, [], ["compiled for 21 s, once"]),
    ],
)
def test_the_time_in_words(budget, statuses, said):
    board = [{"status": status} for status in statuses]
    assert time_words({"budget": budget, "leaderboard": board}) == said


def test_the_chosen_one_is_ranked_whatever_became_of_it():
    assert is_ranked(line("a", 0.5, status="unfinished", chosen=True))
    assert not is_ranked({"name": "a", "status": "unfinished", "chosen": True})
    assert not is_ranked(line("a", 0.5, status="unfinished"))
