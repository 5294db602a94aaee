"""What is seen while a comparison runs, and that it may be looked at from another thread."""

from __future__ import annotations

import io
from threading import Thread
from time import monotonic

import pytest
from rich.console import Console

from featloom.discover.progress import Progress
from featloom.search import Evaluation

HOSTILE = "<script>[bold]\x1b[2J\u202e"


def trial(method: str, fold, outcomes, units: int | None = None) -> Evaluation:
    candidate = {"method": method, "fold": fold, "units": units}
    return Evaluation(candidate, {"outcomes": outcomes, "learned": units or 100}, 0.1, 0.1)


def outcome(score: float, setting=None, size_words: str = "9 features", **details) -> dict:
    return {"setting": setting, "score": score, "size_words": size_words, "details": details}


def printed(progress: Progress, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(progress.table(width))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.fixture
def losses() -> Progress:
    progress = Progress("log-loss", lower_is_better=True, n_folds=5, verbose=False)
    for fold in range(3):
        progress.on_trial(trial("linear model", fold, [outcome(-0.3), outcome(-0.28, {"C": 9})]))
    progress.on_trial(trial("induction", 0, [outcome(-0.26, auc=0.9, accuracy=0.875)]))
    return progress


def test_the_lowest_loss_stands_first_with_its_best_setting(losses):
    first, second = losses.rows()
    assert (first.name, first.value, first.folds, first.settings) == ("induction", 0.26, 1, 1)
    assert (second.name, second.folds, second.settings) == ("linear model", 3, 2)
    assert second.value == pytest.approx(0.28)
    assert (first.auc, first.accuracy, second.auc) == (0.9, 0.875, None)


def test_shares_are_in_per_cent_and_the_highest_first():
    progress = Progress("accuracy", verbose=False)
    for name, score in (("a", 0.5), ("b", 0.75)):
        progress.on_trial(trial(name, 0, [outcome(score, accuracy=score)]))
    heads, rows = progress.cells()
    assert heads == ["contender", "accuracy %", "done", "settings", "size"]
    assert [row[:2] for row in rows] == [["b", "75.00"], ["a", "50.00"]]


def test_a_setting_of_one_good_fold_does_not_pass_one_of_all_folds():
    progress = Progress("accuracy", verbose=False)
    for fold in range(3):
        progress.on_trial(trial("a", fold, [outcome(0.5, "default")]))
    progress.on_trial(trial("a", 0, [outcome(0.9, "other")]))
    assert [row.value for row in progress.rows()] == [0.5]


def test_scores_from_few_rows_give_way_to_those_from_more():
    progress = Progress("accuracy", verbose=False)
    for units, score in ((1000, 0.9), (None, 0.8), (500, 0.95)):
        progress.on_trial(trial("a", 0, [outcome(score)], units))
    assert [row.value for row in progress.rows()] == [0.8]


def test_the_test_part_and_faults_are_passed_over(losses):
    before = losses.rows()
    losses.on_trial(trial("induction", "test", [outcome(-0.1)]))
    losses.on_trial(Evaluation({"method": "x", "fold": 0}, {"fault": "memory"}, 0.1, 0.1))
    losses.on_trial(trial("y", 0, []))
    assert losses.rows() == before


@pytest.mark.parametrize("width", [200, 80, 60, 40, 30])
def test_the_table_fits_and_breaks_no_word(losses, width):
    losses.on_trial(trial("selection by minimum description length", 0, [outcome(-0.5)]))
    drawn = printed(losses, width)
    assert all(len(line) <= width for line in drawn)
    words = set(" ".join(drawn).split())
    assert {"selection", "minimum", "description", "length", "induction", ".2600"} <= words


def test_the_time_used_and_left_is_that_of_the_drawing():
    progress = Progress(budget="10m", verbose=False, since=monotonic() - 90)
    assert progress.time_words() == "comparing · 1 min 30 s used, 8 min 30 s left"
    progress.uncounted(60)
    progress.say("induction learns from all the data")
    assert progress.time_words() == (
        "induction learns from all the data · 30 s used, 9 min 30 s left"
    )
    late = Progress(budget="1m", verbose=False, since=monotonic() - 90)
    assert late.time_words().endswith("0 s left")
    endless = Progress(verbose=False, since=monotonic() - 5)
    assert endless.time_words() == "comparing · 5 s"


def test_before_the_first_trial_there_is_the_time_alone():
    (line,) = printed(Progress(budget="1m", verbose=False))
    assert line == "comparing · 0 s used, 1 min left · Ctrl-C ends it with what is finished"
    assert Progress(verbose=False).html() == "<p>comparing · 0 s</p>"


def test_names_from_data_are_text(losses):
    losses.on_trial(trial(HOSTILE, 0, [outcome(-0.2, size_words=HOSTILE)]))
    assert "<script>" not in losses.html()
    assert "&lt;script&gt;[bold]\\x1b[2J\\u202e" in losses.html()
    drawn = "\n".join(printed(losses, 120))
    assert "<script>[bold]\\x1b[2J\\u202e" in drawn
    assert "\x1b" not in drawn


def test_where_nobody_looks_nothing_is_printed(capsys):
    with Progress("accuracy") as progress:
        progress.on_trial(trial("a", 0, [outcome(0.5)]))
        progress.say("words")
    assert capsys.readouterr() == ("", "")


def test_lines_can_be_asked_for(capsys):
    with Progress("accuracy", verbose=True, since=monotonic() - 3) as progress:
        progress.say("a learns from all the data")
    assert capsys.readouterr() == ("", "a learns from all the data · 3 s\n")


def test_it_may_be_drawn_while_trials_end(losses):
    def feed() -> None:
        for number in range(2000):
            losses.on_trial(trial(f"m{number}", number % 5, [outcome(-number, number)]))

    feeding = Thread(target=feed)
    feeding.start()
    while feeding.is_alive():
        losses.rows()
    feeding.join()
    assert len(losses.rows()) == 2002
