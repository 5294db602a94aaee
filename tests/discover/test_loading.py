"""``featloom.load``: whatever a run left behind, by the lines that its page has."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from featloom import (
    DependencyParser,
    MemoryClassifier,
    RelevancePrior,
    SequenceTagger,
    discover,
    load,
    read,
)
from featloom.cli.main import main
from featloom.errors import InputError
from featloom.learners.plan_model import PlanModel
from featloom.methods.transfer.task_models import TaskModels

HOW = ("--budget", "60", "--jobs", "1", "--quiet", "--out", "run")


def table() -> str:
    draw = random.Random(1)
    rows = [(draw.choice("ckgs"), draw.choice("aeiou"), draw.choice("xyz")) for _ in range(200)]
    lines = [f"{a},{b},{c},{int(b in 'ei')}" for a, b, c in rows]
    return "\n".join(["letter,next,after,soft", *lines]) + "\n"


def sentences() -> str:
    draw = random.Random(2)
    words = {"the": "D", "a": "D", "cat": "N", "dog": "N", "runs": "V", "sees": "V"}
    texts = [[draw.choice([*words]) for _ in range(5)] for _ in range(60)]
    return "\n".join("".join(f"{w} {w[-1]} {words[w]}\n" for w in text) for text in texts)


def trees() -> str:
    draw = random.Random(3)
    out = []
    for _ in range(40):
        noun, verb = draw.choice(["cat", "dog", "cow"]), draw.choice(["runs", "sleeps"])
        rows = [("the", "DET", 2, "det"), (noun, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
        if draw.random() < 0.5:
            rows = [(verb, "VERB", 0, "root"), ("the", "DET", 3, "det"), (noun, "NOUN", 1, "obj")]
        out += [
            f"{i}\t{w}\t{w}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
            for i, (w, tag, head, relation) in enumerate(rows, start=1)
        ]
        out.append("")
    return "\n".join(out) + "\n"


def tasks() -> str:
    draw = random.Random(4)
    lines = ["shop,word,place,urgent"]
    for shop in ("north", "south", "east"):
        for _ in range(60):
            word, place = draw.choice(["now", "soon", "later", "never"]), draw.choice("xyz")
            lines.append(f"{shop},{word},{place},{word in ('now', 'soon')}")
    return "\n".join(lines) + "\n"


RUNS = {
    "table": (
        "rows.csv", table(), ["--target", "soft", "--only", "linear model"], PlanModel,
        "[", {0, 1},
    ),
    "memory": (
        "rows.csv", table(), ["--target", "soft", "--only", "memory"], MemoryClassifier,
        "[", {0, 1},
    ),
    "sentences": (
        "train.conll", sentences(), ["--only", "CRF, default templates"], SequenceTagger,
        "[['", None,
    ),
    "trees": (
        "train.conllu", trees(), ["--only", "parser, manual templates"], DependencyParser,
        "[[", None,
    ),
    "tasks": (
        "mails.csv", tasks(),
        ["--target", "urgent", "--task", "shop", "--only", "linear SVM, each task alone"],
        TaskModels, "[", {False, True},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RUNS)
def test_the_lines_of_the_page_run_as_they_stand(kind, tmp_path, monkeypatch, capsys):
    name, text, words, made, printed, classes = RUNS[kind]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["discover", name, *words, *HOW])
    assert end.value.code == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    (code,) = [one["code"] for one in result["use"] if one["title"] == "in Python"]
    assert "load('run')" in code
    if kind == "table":  # in a Python of its own; the others here, which takes less time
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        said = answer.stdout
    else:
        capsys.readouterr()
        exec(code, {})
        said = capsys.readouterr().out
    assert said.startswith(printed)
    model = load("run")
    assert isinstance(model, made)
    assert type(load("run/model.featloom")) is made
    if classes is not None:
        assert set(model.classes_.tolist()) == classes
    page = (tmp_path / "run" / "report.html").read_text()
    assert "model = load(" in page


ONE_METHOD = {
    "induce": ("rows.csv", table(), ["--target", "soft"]),
    "grow": ("rows.csv", table(), ["--target", "soft"]),
    "memory": ("rows.csv", table(), ["--target", "soft", "--trials", "5"]),
    "transfer": ("mails.csv", tasks(), ["--target", "urgent", "--task", "shop"]),
}


@pytest.mark.parametrize("command", ONE_METHOD)
def test_every_method_keeps_a_model_and_says_how_it_is_used(command, tmp_path, monkeypatch, capsys):
    name, text, words = ONE_METHOD[command]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as end:
        main([command, name, *words, *HOW[2:]])
    assert end.value.code == 0
    rows, target = pd.read_csv(name), words[1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        # Of type int and bool: whoever compared them with their texts had nothing right.
        assert load("run").score(rows, rows[target]) > 0.9
    if command != "memory":  # which is made of its rows
        assert "rows of the training data" in str(told[-1].message)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    (code,) = [one["code"] for one in result["use"] if one["title"] == "in Python"]
    capsys.readouterr()
    exec(code, {})
    assert capsys.readouterr().out.startswith("[")
    assert "model = load(" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("command", ["memory", "grow"])
def test_classes_of_numbers_are_as_often_right_as_their_names(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0.csv").write_text(table())
    (tmp_path / "no.csv").write_text(table().replace(",0\n", ",no\n").replace(",1\n", ",yes\n"))
    found = []
    for name in ("0", "no"):
        more = ["--trials", "5"] if command == "memory" else []
        with pytest.raises(SystemExit) as end:
            main([command, f"{name}.csv", "--target", "soft", *more, *HOW[2:-1], f"run {name}"])
        assert end.value.code == 0
        result = json.loads((tmp_path / f"run {name}" / "result.json").read_text())
        found.append([row["test"] for row in result["leaderboard"]])
    assert found[0] == found[1]
    assert max(found[0]) > 0.8


def test_a_run_of_transfer_has_its_prior_beside_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mails.csv").write_text(tasks())
    with pytest.raises(SystemExit) as end:
        main(["transfer", "mails.csv", "--target", "urgent", "--task", "shop", *HOW[2:]])
    assert end.value.code == 0
    (tmp_path / "run" / "model.featloom").unlink()
    assert isinstance(load("run"), RelevancePrior)


def test_a_folder_that_save_made_opens_as_a_run_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(table())
    rows = pd.read_csv("rows.csv")
    X, y = rows.drop(columns="soft"), rows["soft"]
    found = discover(X, y, only=["linear model"], budget=None, n_jobs=1, verbose=False)
    found.save("kept/here")
    assert load("kept/here").predict(X).tolist() == found.pipeline().predict(X).tolist()


def test_a_number_is_the_same_in_a_frame_and_in_a_table_that_was_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"size": draw.integers(0, 4, 300) * 1.0, "kind": draw.choice([1, 2], 300)})
    y = ((rows["size"] > 1) == (rows["kind"] == 1)).astype(int)
    rows.to_csv("rows.csv", index=False)  # 1.0, which is 1 in the frame
    found = discover(rows, y, only=["induction"], budget=None, n_jobs=1, verbose=False)
    found.save("kept")
    for model in (load("kept"), found.pipeline()):
        assert model.predict(read("rows.csv")).tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize("y", [[1.5, -2.0] * 100, [b"a", b"b"] * 100, [2**63, 2**64] * 100])
def test_a_model_is_scored_by_classes_however_they_are_written(y, tmp_path):
    rows = pd.DataFrame({"x": ["u", "v"] * 100})
    found = discover(rows, y, only=["linear model"], budget=None, n_jobs=1, verbose=False)
    found.save(tmp_path)
    model = load(tmp_path)
    with pytest.warns(UserWarning, match="rows of the training data"):
        assert model.score(rows, y) == 1.0
    with pytest.warns(UserWarning, match="rows without a class, left out: 1"):
        assert model.score(rows, [None, *y[1:]]) == 1.0


def test_what_is_no_model_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "nowhere" / "run")
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(InputError, match=r"notes.txt: not a featloom model"):
        load(text)
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "model.featloom")


def test_a_run_in_which_nothing_was_found_says_that_it_keeps_no_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(5)
    lines = [f"{draw.choice('ab')},{draw.choice('cd')},{draw.choice('yn')}" for _ in range(100)]
    (tmp_path / "noise.csv").write_text("\n".join(["x,y,class", *lines]) + "\n")
    with pytest.raises(SystemExit):
        main(["discover", "noise.csv", "--target", "class", "--only", "naive Bayes", *HOW])
    with pytest.raises(InputError, match="'class shares' was chosen, which keeps no model"):
        load("run")
