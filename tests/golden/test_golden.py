"""Commands on small data sets: what users get out of them stays what it is, however it is written.

The meanings of each run (see ``meaning.py``) are compared with those in the JSON file of its name.
``pytest tests/golden --renew`` writes these anew, where results are meant to change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from featloom.cli.main import main
from tests.golden.data import write_files
from tests.golden.meaning import (
    Meaning,
    differences,
    meaning_of_exports,
    meaning_of_run,
    predicted_classes,
    predicted_heads,
    predicted_labels,
    without_names,
)

HERE = Path(__file__).parent
WITHOUT_OUTSIDE = "--drop LightGBM --drop EBM"  # these are optional, and have versions
TIMES = {"fit_s", "predict_s", "timing", "budget", "command", "use"}  # and words with paths
PATIENCE = 900  # seconds for a process that may have to compile

Read = Callable[[Path], Meaning]


@dataclass(frozen=True)
class Golden:
    """A command, and what its model is asked.

    Parameters
    ----------
    words : of the command, without ``--out``; CORPORA stands for the folder of the corpora.
    use : command that uses the model, and its file; empty: the run keeps none.
    read : reads the predictions.
    exports : folder beside the run that the command fills.
    """

    words: str
    use: str = ""
    read: Read = predicted_classes
    exports: str = ""


COMMANDS = {
    "discover-table": Golden(
        f"discover tickets.csv --target escalated --trials 2 {WITHOUT_OUTSIDE}",
        "predict new_tickets.csv",
    ),
    "discover-classes": Golden(
        f"discover fruits.csv --target fruit --groups orchard --trials 2 {WITHOUT_OUTSIDE}",
        "predict new_fruits.csv",
    ),
    "discover-sentences": Golden(
        "discover chunks.conll --trials 2", "tag new_chunks.conll", predicted_labels
    ),
    "discover-trees": Golden(
        "discover trees.conllu --trials 2", "parse new_trees.conllu", predicted_heads
    ),
    "discover-tasks": Golden(
        "discover purchases.csv --target bought --task shop --trials 2",
        "predict new_purchases.csv",
    ),
    "induce-table": Golden("induce tickets.csv --target escalated"),
    "induce-search": Golden("induce fruits.csv --target fruit --groups orchard --search"),
    "grow-table": Golden("grow tickets.csv --target escalated"),
    "grow-sentences": Golden("grow chunks.conll", "tag new_chunks.conll", predicted_labels),
    "grow-trees": Golden("grow trees.conllu", "parse new_trees.conllu", predicted_heads),
    "select": Golden("select chunks.conll --trials 4", "tag new_chunks.conll", predicted_labels),
    "memory": Golden(
        "memory tickets.csv --target escalated --trials 20 --timbl timbl",
        "predict new_tickets.csv",
        exports="timbl",
    ),
    "memory-corpus": Golden(
        "memory CORPORA/dimin/dimin.train --test CORPORA/dimin/dimin.test --trials 12",
        "predict CORPORA/dimin/dimin.test",
    ),
    "transfer": Golden("transfer purchases.csv --target bought --task shop"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_files(tmp_path_factory.mktemp("golden"))


def typed(words: str, request) -> list[str]:
    """The words of a command, with the folder of the corpora put in."""
    if "CORPORA" in words:
        words = words.replace("CORPORA", str(request.getfixturevalue("data_folder")))
    return words.split()


def run(*words: str) -> None:
    """Type a command in this process, in which linear algebra has one thread as it has there."""
    with threadpool_limits(1, user_api="blas"), pytest.raises(SystemExit) as end:
        main([*words, "--quiet"])
    assert end.value.code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_gives_what_it_gave(name, folder, golden_file, request, monkeypatch):
    monkeypatch.chdir(folder)
    golden = COMMANDS[name]
    run(*typed(golden.words, request), "--jobs", "1", "--out", name)
    found = meaning_of_run(folder / name)
    if golden.exports:
        found |= meaning_of_exports(folder / golden.exports)
    if golden.use:
        command, file = typed(golden.use, request)
        answers = folder / f"{name}.predictions"
        run(command, name, file, "--out", str(answers))
        found |= golden.read(answers)
    if "CORPORA" in golden.words:
        found = without_names(found)
    golden_file(name, found)


def without_times(value: Any) -> Any:
    """All that a result holds but how long it took and how it was typed."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in TIMES}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def test_neither_jobs_nor_processes_nor_hashes_of_words_change_a_result(tmp_path):
    """To the last digit, in fresh processes; only times are others."""
    write_files(tmp_path)
    results = []
    for number, jobs in enumerate(("1", "2")):
        words = COMMANDS["discover-table"].words.split()
        subprocess.run(
            [sys.executable, "-m", "featloom.cli.main", *words, "--jobs", jobs, "--quiet",
             "--out", f"run{number}"],
            check=True, cwd=tmp_path, timeout=PATIENCE, capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": str(number)},
        )  # fmt: skip
        result = json.loads((tmp_path / f"run{number}" / "result.json").read_text(encoding="utf-8"))
        results.append(without_times(result))
    assert results[0] == results[1]
    expected = json.loads((HERE / "discover-table.json").read_text(encoding="utf-8"))
    of_run = {key: value for key, value in expected.items() if not key.startswith("predictions")}
    assert differences(of_run, meaning_of_run(tmp_path / "run1")) == []
