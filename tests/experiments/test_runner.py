"""The runner that all experiments share, and the command that finds them beside the sources."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from small_runs import experiment

from experiments.runner import Work, compared, finding, reproduce, sample_of, system_row
from featloom.cli.main import main
from featloom.data.tasks.ready import load
from featloom.errors import InputError
from featloom.runs import Run

COMMAND = (sys.executable, "-m", "featloom.cli.main")
PARTS = {
    "memory": "no task 'words'; there are unknown, known, letters",
    "templates": "no data set 'words'; there are english, chinese",
    "transfer": "no part 'words'; there are table, curve, letters",
    "trees": "no part 'words'; there are bosque, floresta, tables, chunks",
}


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        *((name, {"only": "words"}, words) for name, words in PARTS.items()),
        *((name, {"seeds": 0}, "seeds is 0; it must be at least 1") for name in PARTS),
        ("memory", {"sample": 3}, "a sample of 3 rows is too small; take 100 or more"),
        ("memory", {"trials": 0}, "trials is 0; it must be a whole number, 1 or more"),
        ("templates", {"sample": 3}, "a sample of 3 sentences is too small; take 50 or more"),
        ("trees", {"sample": 3}, "a sample of 3 sentences is too small; take 50 or more"),
        ("transfer", {"sample": 1}, "a sample of 1 tasks is too small; take 2 or more"),
    ],
)
def test_what_is_asked_wrongly_is_told(name, asked, words, tmp_path):
    with pytest.raises(InputError, match=words):
        reproduce(experiment(name), Run.create(tmp_path / "run"), **asked)


def test_stages_are_counted_together(tmp_path):
    work = Work("any", Run(tmp_path), range(1))
    assert work.ask(lambda asked: {"score": 1.0}, []) == []
    work.ask(lambda asked: {"score": 1.0}, [{"k": 1}, {"k": 2}])
    work.ask(lambda asked: {"score": 1.0}, [{"k": 3}])
    assert work.evaluations == 3


def test_contenders_are_tried_seed_by_seed(tmp_path):
    work = Work("any", Run(tmp_path), range(3, 5))
    found = work.contend(
        lambda asked: {"score": 1.0, **asked}, {"a": {"model": "svm"}, "b": {"model": "l1"}}
    )
    assert [(one["model"], one["seed"]) for one in found["a"]] == [("svm", 3), ("svm", 4)]
    order = [(one.candidate["seed"], one.candidate["model"]) for one in work.entries]
    assert order == [(3, "svm"), (3, "l1"), (4, "svm"), (4, "l1")]


def test_sentences_are_drawn_with_their_trees(data_folder):
    whole = load("floresta", "test")
    drawn = sample_of(whole, 20, seed=0)
    bounds = drawn.sequence_bounds
    assert len(bounds) == 21
    for begin, end in pairwise(bounds.tolist()):
        assert drawn.heads[begin:end].max() <= end - begin
        assert (drawn.heads[begin:end] == 0).any()
    assert sample_of(whole, 10_000, seed=0) is whole


def test_a_row_is_the_mean_of_its_seeds():
    counts = [np.array([[3, 4], [4, 4]]), np.array([[2, 4], [3, 4]])]
    row = system_row("EFG", "trees", "UAS", counts, templates=3)
    assert row["value"] == pytest.approx(0.75)
    assert row["sd"] == pytest.approx(np.std([7 / 8, 5 / 8], ddof=1))
    assert row["interval"][0] <= 0.75 <= row["interval"][1]
    assert system_row("EFG", "trees", "UAS", counts[:1])["sd"] is None


def test_the_same_answers_do_not_differ():
    counts = [np.array([[3, 4], [4, 4], [1, 4]])] * 2
    test = compared("trees", "UAS", ("a", counts), ("b", counts))
    assert (test["difference"], test["significant"]) == (0, False)
    row = {"name": "manual", "metric": "UAS", "value": 0.9}
    assert "does not differ beyond chance" in finding("trees", row, [(row, test)])


def test_what_lies_beyond_chance_is_ahead_or_behind():
    test = {"difference": 0.02, "interval": [0.01, 0.03], "p": 0.0001, "significant": True}
    row = {"name": "EFG", "metric": "UAS", "value": 0.9}
    words = finding("trees", row, [(row, test)])
    assert "EFG 90.00 is ahead (+2.00 [+1.00, +3.00], p below 0.001)" in words
    assert "is behind" in finding("trees", row, [(row, {**test, "difference": -0.02})])


def said(capsys, *words: str | Path) -> str:
    """What a refused command says."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert end.value.code == 1
    return capsys.readouterr().err


def test_an_option_of_another_experiment_is_refused(capsys, tmp_path):
    words = ("reproduce", "templates", "--trials", "9", "--out", tmp_path / "run")
    assert "--trials is for the experiment 'memory', not 'templates'" in said(capsys, *words)


def test_without_the_repository_there_are_no_experiments(tmp_path):
    import featloom

    package = Path(featloom.__file__).parent
    shutil.copytree(package, tmp_path / "lib" / "featloom")
    answer = subprocess.run(
        [*COMMAND, "reproduce", "memory"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert answer.stderr == (
        "featloom: the experiments of the papers come with the repository, not with the package: "
        "clone it and install it from there by 'pip install -e .'\n"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("names", [("trees", "tree-templates"), ("templates", "template-search")])
def test_a_run_is_known_by_either_name(names, tmp_path):
    from featloom.cli.session import write_request

    run = Run.create(tmp_path / "run")
    for name in (*names, names[0]):
        write_request(run, "reproduce", {"experiment": name, "seed": 0})
    with pytest.raises(InputError, match=f"it is of {names[0]}, not of memory"):
        write_request(run, "reproduce", {"experiment": "memory", "seed": 0})


def finished(run: Path):
    """What does not hang on the clock."""

    def timeless(value):
        if isinstance(value, dict):
            if value.get("kind") == "seconds":  # a figure
                return None
            if value.get("block") == "grid":
                kept = [
                    j for j, column in enumerate(value["columns"])
                    if column.get("kind") != "seconds" and "CPU s" not in column["label"]
                ]  # fmt: skip
                value = value | {"rows": [[row[j] for j in kept] for row in value["rows"]]}
            timed = ("seconds", "_s", "timing", "command", "findings", "verdict")
            return {k: timeless(v) for k, v in value.items() if not k.endswith(timed)}
        if not isinstance(value, list):
            return value
        # A fact says that it is in seconds.
        return [timeless(x) for x in value if not (isinstance(x, list) and x[-1:] == ["seconds"])]

    return timeless(json.loads((run / "result.json").read_text()))


def written(folder: Path) -> int:
    """Bytes of all journals and their write-ahead files; they are locked, their sizes are not."""
    size = 0
    for path in folder.glob("*.journal*"):
        with suppress(FileNotFoundError):  # a journal that is closed becomes one file
            size += path.stat().st_size
    return size


@pytest.mark.parametrize(
    ("asked", "kills"),
    [
        ("memory --only unknown --sample 300 --trials 25", 2),
        ("template-search --only chinese --sample 60", 1),
        ("trees --only floresta --sample 50", 1),
        ("transfer --only letters --sample 2", 1),
    ],
)
def test_an_experiment_killed_again_and_again_ends_the_same(asked, kills, data_folder, tmp_path):
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    words = (*COMMAND, "reproduce", *asked.split(), "--seeds", "1", "--jobs", "1", "--quiet")
    subprocess.run([*words, "--out", undisturbed], check=True)
    whole = written(undisturbed)
    command = [*words, "--out", disturbed]
    killed = 0
    for _ in range(kills):
        before = written(disturbed)
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            if written(disturbed) - before > whole / (2 * kills):
                process.kill()
                killed += 1
                break
            time.sleep(0.005)
        process.wait()
        command = [*COMMAND, "resume", disturbed, "--quiet"]
    assert killed
    subprocess.run(command, check=True)
    assert finished(disturbed) == finished(undisturbed)
    assert (disturbed / "report.html").exists() == (undisturbed / "report.html").exists()
