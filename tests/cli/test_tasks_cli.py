"""Many tasks from file to answers: discover, then predict by the task that a row names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from featloom.features.feature import Feature
from featloom.features.feature_list import FeatureList
from featloom.methods.transfer.task_models import TaskModels

COLUMNS = [f"c{j}" for j in range(6)]


@pytest.fixture(scope="module")
def senses(tmp_path_factory) -> Path:
    """Small tasks of two senses, which the first of six columns tells."""
    draw = np.random.default_rng(0)
    lines = [",".join(["verb", *COLUMNS, "sense"])]
    for verb in ("ask", "be", "do", "go"):
        for row in draw.integers(2, size=(30, len(COLUMNS))):
            lines.append(",".join([verb, *(f"v{code}" for code in row), f"{verb}.{row[0]}"]))
    path = tmp_path_factory.mktemp("tasks") / "senses.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def new(tmp_path) -> Path:
    """A row of a task that is known, and one of a task that is not."""
    path = tmp_path / "new.csv"
    rows = [["verb", *COLUMNS], ["do", *["v0"] * 6], ["sing", *["v1"] * 6]]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def test_what_was_discovered_answers_by_the_task_that_a_row_names(featloom, senses, new, tmp_path):
    run = tmp_path / "run"
    answer = featloom(
        "discover", senses, "--task", "verb", "--target", "sense", "--only", "relevance prior",
        "--budget", "2m", "--jobs", "1", "--out", run,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert "taken for 4 tasks in one table: 120 rows" in answer.out
    result = json.loads((run / "result.json").read_text())
    assert result["chosen"] == "relevance prior"
    assert result["files"] == ["model.featloom", "prior.json"]
    assert result["use"][0]["code"] == f"featloom predict {run} NEW_FILE"

    answer = featloom("predict", run, new)
    assert answer.out.splitlines() == ["prediction", "do.0", '""']
    assert "task 'sing' has no model, and rows of it no answer" in answer.err
    judged = featloom("predict", run, senses, "--out", tmp_path / "answers.csv")
    assert "120 rows" in judged.out
    assert "accuracy 100.00 %" in judged.out

    answer = featloom("predict", run, new, "--explain", "2")
    assert "because of these features of task 'do', for do.0 and against do.1:" in answer.out
    # Of two values that exclude each other a task needs but one.
    both = featloom("predict", run, senses, "--explain", "20", "--quiet").out
    assert re.search(r"  c0=v[01]  \(relevant in \d other tasks?\)\n", both)
    assert not re.search(r"  c0=v[01]  \(relevant in [4-9]", both)
    assert "no answer: task 'sing' has no model" in answer.out

    answer = featloom("predict", run, new, "--proba")
    assert answer.code == 1
    assert "the scores of models of many tasks are no probabilities" in answer.err
    answer = featloom("tag", run, new)
    assert answer.code == 1
    assert "'featloom predict' uses it" in answer.err


def test_a_row_without_its_task_is_refused_by_the_name_of_the_column(featloom, tmp_path):
    features = FeatureList.of([Feature.from_names(["c0=v0"])], COLUMNS)
    model = TaskModels.of(features, {"do": ([[1.0, 0.0]], [0.0, 0.5], ["x", "y"])}, "verb")
    model.save(tmp_path / "model.featloom")
    new = tmp_path / "new.csv"
    new.write_text("c0\nv0\n")
    answer = featloom("predict", tmp_path / "model.featloom", new)
    assert answer.code == 1
    assert "no column 'verb', which the model looks at" in answer.err
    new.write_text("verb,c0\ndo,v0\ndo,v1\n")  # the other columns are not looked at
    answer = featloom("predict", tmp_path / "model.featloom", new)
    assert answer.out.splitlines() == ["prediction", "x", "y"]
