"""The experiment on memory-based learning: small, whole, and the same after a kill."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from experiments.memory import COLUMNS, EXPERIMENT, METHODS, TASKS, finding
from experiments.runner import reproduce, show
from featloom.errors import InputError
from featloom.runs import Run

COMMAND = (sys.executable, "-m", "featloom.cli.main")
ASKED = ("reproduce", "memory", "--only", "unknown", "--quiet", "--seeds", "1")
SMALL = ("--sample", "300", "--trials", "25")


@pytest.fixture(scope="module")
def result(data_folder, tmp_path_factory):
    run = Run.create(tmp_path_factory.mktemp("memory") / "run")
    return reproduce(EXPERIMENT, run, only="unknown", sample=300, seeds=2, trials=25)


def row(name: str, validation: float, features: str, parameters: str, test: float) -> dict:
    method = {"default": "DE", "exhaustive": "EX"}.get(name, name[:2].upper())
    return {
        "name": name,
        "method": method,
        "validation": validation,
        "test": test,
        "features_by": features,
        "parameters_by": parameters,
    }


@pytest.fixture
def rows():
    return [
        row("default", 0.80, "default", "default", 0.80),
        row("exhaustive", 0.85, "default", "exhaustive", 0.85),
        row("genetic, features", 0.82, "genetic", "default", 0.79),
        row("genetic, both", 0.84, "genetic", "genetic", 0.86),
        row("forward, both", 0.86, "forward", "forward", 0.87),
    ]


def matrix_of(rows: list[dict], p: float) -> dict:
    names = [one["name"] for one in rows]
    return {"names": names, "p": [[p] * len(names) for _ in names]}


def test_what_lies_within_chance_is_called_no_difference(rows):
    words = finding("letters", rows, matrix_of(rows, 0.4))
    assert "optimising the parameters makes no difference (85.00 against 80.00 %" in words
    assert "Selecting features alone makes no difference" in words
    assert "Both together do not differ from the parameters alone (forward, 87.00" in words
    assert "The searches of both do not differ from one another" in words


def test_what_lies_beyond_chance_helps_or_hurts(rows):
    words = finding("letters", rows, matrix_of(rows, 0.0001))
    assert words.startswith("Letters: optimising the parameters helps (85.00 against 80.00 %, p <")
    assert "Selecting features alone hurts (genetic, 79.00 against 80.00 %" in words
    assert "Both together beat the parameters alone" in words
    assert "Of the searches of both, forward beats genetic on test." in words


def test_a_search_that_misses_what_its_space_holds_is_named(rows):
    words = finding("letters", rows, matrix_of(rows, 0.4))
    assert "On validation the genetic search ended below the exhaustive grid" in words


def test_the_paper_has_eight_figures_for_each_task():
    for task in TASKS.values():
        assert len(task.accuracies) == len(task.published) == 8
        assert list(task.published) == list(COLUMNS)
    assert TASKS["letters"].published["BA", "together"] == (81.45, "k = 1, shared variance")


def test_the_table_has_the_shape_of_the_paper(result):
    (part,) = result["memory"]
    both = [*METHODS, *METHODS]
    assert [one["method"] for one in part["settings"]] == ["DE", "EX", *both]
    published = [one["published"] for one in part["settings"] if one["published"]]
    assert published == [82.63, 85.43, 84.39, 84.39, 84.54, 84.88, 85.15, 84.97]
    assert part["sizes"] == {"train": 300, "valid": 37, "test": 37}
    assert len(part["curves"]) == 10
    assert len(part["trajectories"]) == 8


def test_features_alone_are_searched_with_the_default_parameters(result):
    (part,) = result["memory"]
    for one in part["settings"]:
        if one["parameters_by"] == "default":
            assert (one["k"], one["weights"]) == (1, "gain_ratio")


def test_the_exhaustive_search_is_the_best_of_its_curves(result):
    (part,) = result["memory"]
    best = max(score for curve in part["curves"] for score in curve["score"])
    assert next(one for one in part["settings"] if one["method"] == "EX")["validation"] == best


def test_our_search_begins_with_the_grid_and_cannot_end_below_it(result):
    (part,) = result["memory"]
    by_name = {one["name"]: one["validation"] for one in part["settings"]}
    assert by_name["guided, both"] >= by_name["exhaustive"]


def test_a_sample_is_said_to_be_one(result):
    assert "a sample of up to 300 training rows" in result["data"]["warnings"][0]
    assert result["data"]["warnings"][1] == "searches were stopped after 25 evaluations"
    assert result["verdict"] == result["memory"][0]["finding"]


def test_what_is_asked_wrongly_is_told(tmp_path):
    run = Run.create(tmp_path / "run")
    with pytest.raises(InputError, match="no task 'words'; there are unknown, known, letters"):
        reproduce(EXPERIMENT, run, only="words")
    with pytest.raises(InputError, match="a sample of 3 rows is too small"):
        reproduce(EXPERIMENT, run, sample=3)
    with pytest.raises(InputError, match="seeds is 0"):
        reproduce(EXPERIMENT, run, seeds=0)
    with pytest.raises(InputError, match="trials must be positive"):
        reproduce(EXPERIMENT, run, trials=0)


def finished(run: Path) -> dict:
    result = json.loads((run / "result.json").read_text())
    return {name: result[name] for name in ("memory", "verdict", "evaluations", "parameters")}


def written(folder: Path) -> int:
    """Bytes of all journals and their write-ahead files; they are locked, their sizes are not."""
    size = 0
    for path in folder.glob("*.journal*"):
        with suppress(FileNotFoundError):  # a journal that is closed becomes one file
            size += path.stat().st_size
    return size


def test_an_experiment_killed_again_and_again_ends_the_same(data_folder, tmp_path):
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    subprocess.run([*COMMAND, *ASKED, *SMALL, "--out", undisturbed], check=True)
    command = [*COMMAND, *ASKED, *SMALL, "--out", disturbed]
    kills = 0
    for _ in range(2):
        before = written(disturbed)
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if written(disturbed) - before > 20 * 4096:
                process.kill()
                process.wait()
                kills += 1
                break
            time.sleep(0.005)
        command = [*COMMAND, "resume", disturbed, "--quiet"]
    assert kills > 0
    subprocess.run(command, check=True)
    assert finished(disturbed) == finished(undisturbed)
    page = (disturbed / "report.html").read_text()
    assert "part of speech of unknown words" in page


def test_tables_fit_into_eighty_columns(data_folder, tmp_path, result, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show(EXPERIMENT, result, tmp_path / "report.html")
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:1] == ["GU"] for line in lines)
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert not any("…" in line for line in lines)
    assert "a sample of up to 300 training rows, not the whole data" in lines
