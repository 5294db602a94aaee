"""What the experiment on memory-based learning says of its tables."""

from __future__ import annotations

import pytest

from experiments.memory import COLUMNS, TASKS, finding


def row(name: str, validation: float, over: str, test: float) -> dict:
    method = {"default": "DE", "exhaustive": "EX"}.get(name, name[:2].upper())
    return {"name": name, "method": method, "validation": validation, "test": test, "over": over}


@pytest.fixture
def rows():
    return [
        row("default", 0.80, "", 0.80),
        row("exhaustive", 0.85, "parameters", 0.85),
        row("genetic, features", 0.82, "features", 0.79),
        row("genetic, both", 0.84, "both", 0.86),
        row("forward, both", 0.86, "both", 0.87),
    ]


def test_what_lies_within_chance_is_called_no_difference(rows):
    words = finding("letters", rows, lambda *_: 0.4)
    assert "optimising the parameters makes no difference (85.00 against 80.00 %" in words
    assert "Selecting features alone makes no difference" in words
    assert "Both together do not differ from the parameters alone (forward, 87.00" in words
    assert "The searches of both do not differ from one another" in words


def test_what_lies_beyond_chance_helps_or_hurts(rows):
    words = finding("letters", rows, lambda *_: 0.0001)
    assert words.startswith("Letters: optimising the parameters helps (85.00 against 80.00 %, p <")
    assert "Selecting features alone hurts (genetic, 79.00 against 80.00 %" in words
    assert "Both together beat the parameters alone" in words
    assert "Of the searches of both, forward beats genetic on test." in words


def test_a_search_that_misses_what_its_space_holds_is_named(rows):
    words = finding("letters", rows, lambda *_: 0.4)
    assert "On validation the genetic search ended below the exhaustive grid" in words


def test_the_paper_has_eight_figures_for_each_task():
    for task in TASKS.values():
        assert len(task.accuracies) == len(task.published) == 8
        assert list(task.published) == list(COLUMNS)
    assert TASKS["letters"].published["BA", "together"] == (81.45, "k = 1, shared variance")
