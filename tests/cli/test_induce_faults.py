"""What ``featloom induce`` says when it cannot do what was asked: one line, the right exit code,
and nothing left behind."""

from __future__ import annotations

import json
import os
import re

import pytest

HEADER = "area,plan,escalated\n"
ROWS = "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 5
AFTER = 2 + ROWS.count("\n")  # the line after header and rows

FILES = {
    "empty": (b"", ": the file is empty"),
    "blank lines": (b"\n\n\n", ": no rows"),
    "header only": (HEADER, ": no rows"),
    "ragged row": (
        HEADER + ROWS + "login,free\n" + ROWS,
        f":{AFTER}: 2 columns, 3 expected",
    ),
    "open quote": (
        HEADER + ROWS + '"login,free,yes\n' + ROWS,
        f":{AFTER}: a quoted cell opens in this row and does not close",
    ),
    "latin-1": (
        (HEADER + ROWS).encode() + b"caf\xe9,free,yes\n",
        f":{AFTER}:4: byte 0xe9 is not UTF-8",
    ),
    "utf-16": ((HEADER + ROWS).encode("utf-16"), ":1:1: this is UTF-16 text; save it as UTF-8"),
    "NUL": (
        HEADER + ROWS + "lo\0gin,free,yes\n",
        f":{AFTER}:3: NUL byte; this is not a text file",
    ),
    "other columns": (
        HEADER.replace("escalated", "late") + ROWS,
        ": no column 'escalated'; there are area, plan, late",
    ),
    "target alone": ("escalated\nyes\nno\nyes\n", ": no columns beside the target"),
    "one class": (
        HEADER + "login,free,no\n" * 9,
        ": one class only in column 'escalated': 'no'; two are needed",
    ),
    "two columns of one name": (
        HEADER.replace("plan", "area") + ROWS,
        ":1:2: column 'area' appears twice (is the first line a header?)",
    ),
    "a class a row": (
        HEADER + "".join(f"login,free,ticket{k}\n" for k in range(9)),
        ": every row has a class of its own in column 'escalated'; it is not a target",
    ),
}


@pytest.mark.parametrize("fault", FILES)
def test_a_bad_file_is_told_in_one_line_and_leaves_no_run(featloom, tmp_path, fault):
    content, words = FILES[fault]
    path, out = tmp_path / "tickets.csv", tmp_path / "runs" / "tickets"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = featloom("induce", path, "--target", "escalated", "--out", out)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {path}{words}\n"
    assert os.listdir(tmp_path) == ["tickets.csv"]


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("induce", []),
        ("memory", ["--strategy", "grid", "--folds", "2", "--ks", "1"]),
        ("grow", []),
        ("transfer", ["--task", "plan"]),
        ("discover", ["--only", "naive Bayes", "--jobs", "1"]),
        ("discover", ["--task", "plan", "--only", "one model for all tasks", "--jobs", "1"]),
    ],
)
def test_rows_without_a_class_are_left_out_and_counted(featloom, command, more, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + ROWS + "login,free,\nlogin,team,NaN\n")
    answer = featloom(command, path, "--target", "escalated", *more, "--json")
    assert answer.code == 0, answer.err
    assert "2 rows have no class and are left out\n" in answer.err
    whole = tmp_path / "whole.csv"
    whole.write_text(HEADER + ROWS)
    clean = featloom(command, whole, "--target", "escalated", *more, "--json")
    assert json.loads(answer.out)["data"]["rows"] == json.loads(clean.out)["data"]["rows"]


@pytest.mark.parametrize(
    "words",
    [
        ("induce", "--target", "Escalated"),
        ("memory", "--target", "escaltaed"),
        ("grow", "--target", "escalatd"),
        ("transfer", "--target", "escalated", "--task", "Plan"),
        ("discover", "--target", "escalated", "--task", "PLAN"),
        ("discover", "--target", "escalated", "--groups", "plna"),
        ("induce", "--target", "escalated", "--groups", "Plan"),
    ],
)
def test_the_nearest_name_is_told(featloom, words, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + ROWS)
    answer = featloom(words[0], path, *words[1:])
    assert answer.code == 1
    meant = "plan" if words[-2] in ("--task", "--groups") else "escalated"
    assert answer.err.endswith(f"; did you mean '{meant}'?\n")
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("discover", "{}", "--budget", "soon"), "budget 'soon' is no time"),
        (("discover", "{}", "--budget", "5d"), "budget '5d' is no time"),
        (("memory", "{}", "--budget", "0"), "a budget must be positive"),
        (("memory", "{}", "--trials", "0"), "trials is 0; it must be a whole number, 1 or more"),
        (("select", "{}", "--budget", "soon"), "budget 'soon' is no time"),
        (("select", "{}", "--trials", "-1"), "trials is -1; it must be a whole number, 1 or more"),
        (("select", "{}", "--max-templates", "0"), "max_templates is 0"),
        (("demo", "--budget", "soon"), "budget 'soon' is no time"),
        (("reproduce", "memory", "--trials", "0"), "trials is 0"),
        (("reproduce", "memory", "--budget", "200"), "for 200 evaluations say --trials"),
    ],
)
def test_a_wrong_budget_is_refused_before_anything_is_read(
    featloom, words, fault, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    answer = featloom(*(word.format("not-there.csv") for word in words))
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("featloom: ")
    assert len(answer.err.splitlines()) == 1
    assert fault in answer.err
    assert os.listdir(tmp_path) == []


def test_a_line_that_would_fill_the_memory_is_refused(featloom, tmp_path):
    path = tmp_path / "long.csv"
    with path.open("wb") as stream:
        stream.write((HEADER + ROWS).encode())
        for _ in range(100):
            stream.write(b"x" * 2**20)
    answer = featloom("induce", path, "--target", "escalated")
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {path}:{AFTER}: line longer than 16 MiB\n",
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("-1 2:0.5", ":2:4: feature 2 has the value 0.5; features must be binary (0 or 1)"),
        ("-1 2:-1", ":2:4: feature 2 has the value -1; features must be binary (0 or 1)"),
        ("-1 2:x", ":2:4: the value of feature 2 is 'x', no number"),
        ("-1 two", ":2:4: 'two' is not feature:value"),
        ("2:1", ":2:1: no class before the features"),
    ],
)
def test_sparse_rows_must_be_binary(featloom, tmp_path, row, words):
    path = tmp_path / "rows.svm"
    path.write_text(f"+1 1:1\n{row}\n")
    answer = featloom("induce", path)
    assert (answer.code, answer.err) == (1, f"featloom: {path}{words}\n")


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "sound.csv"
    path.write_text(HEADER + ROWS)
    return path


WHOLE = "it must be a whole number, 1 or more"
SHARE = (
    "it must be a share above 0 and up to 1, a whole number, a threshold such as '>=3.8', or None"
)
OPTIONS = {
    "--keep 0": f"keep is 0; {SHARE}",
    "--keep 2.5": f"keep is 2.5; {SHARE}",
    "--keep nan": f"keep is nan; {SHARE}",
    "--keep few": f"keep is 'few'; {SHARE}",
    "--partners 5.0": f"partners is 5.0; {SHARE}",
    "--partners 0": f"partners is 0; {SHARE}",
    "--partners 99 --pairs ranked": "partners is 99, more than the 4 features kept",
    "--final-keep -1": f"final_keep is -1; {SHARE}",
    "--min-support 0": f"min_support is 0; {WHOLE}",
    "--min-support 1.5": f"min_support is 1.5; {WHOLE}",
    "--min-support all": f"min_support is 'all'; {WHOLE}",
    "--max-length 0": f"max_length is 0; {WHOLE}",
    "--score luck": "score is 'luck'; it can be 'mi', 'ig', 'information_gain', 'su', "
    "'fisher', 'chi2', 'gain_ratio', 'shared_variance' or 'residual'",
    "--aggregate mean": "aggregate is 'mean'; it can be 'sum', 'max' or 'global'",
    "--pairs some": "pairs is 'some'; it can be 'all' or 'ranked'",
    "--preset best": "preset is 'best'; it can be 'paper' or None",
    "--score fisher --alternative up": "alternative is 'up'; it can be 'two-sided', "
    "'greater' or 'less'",
    "--positive maybe": "no class 'maybe'; there are yes, no",
    "--domain site": "no column 'site' for --domain; there are area, plan",
    "--groups escalated": "column 'escalated' cannot be both target and groups",
    "--groups plan": "2 groups cannot be dealt into 5 folds",
    "--on-bad-row fix": "on_bad_row is 'fix'; it must be 'raise' or 'skip'",
}


@pytest.mark.parametrize("typed", OPTIONS)
def test_a_value_out_of_range_is_named(featloom, sound, tmp_path, typed):
    out = tmp_path / "run"
    words = ("induce", sound, "--target", "escalated", "--out", out, *typed.split())
    answer = featloom(*words)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {OPTIONS[typed]}\n"
    assert not out.exists()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("--loud", "No such option: --loud"),
        ("--max-length two", "--max-length"),
        ("--seed -1", "--seed"),
        ("--seed 4294967296", "--seed"),
        ("--jobs 0", "0 threads do no work"),
    ],
)
def test_wrong_usage_exits_with_2(featloom, sound, typed, words):
    answer = featloom("induce", sound, "--target", "escalated", *typed.split())
    assert (answer.code, answer.out) == (2, "")
    told = re.sub("\x1b\\[[0-9;]*m", "", answer.err)  # some machines ask for colours
    assert words in told
    assert "featloom induce --help" in told


def test_without_a_command_or_data_the_usage_is_shown(featloom):
    assert featloom("weave").code == 2
    answer = featloom("induce")
    assert answer.code == 2
    assert "DATA" in answer.err


def test_without_a_target_the_columns_are_listed(featloom, sound):
    answer = featloom("induce", sound)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {sound}: no classes; name the column that holds them by --target: "
        "area, plan, escalated\n",
    )


def test_what_is_not_there_is_named(featloom, tmp_path):
    gone = tmp_path / "gone.csv"
    answer = featloom("induce", gone, "--target", "escalated")
    assert (answer.code, answer.err) == (1, f"featloom: {gone}: no such file\n")
    answer = featloom("induce", "ticketz")
    assert (answer.code, answer.err) == (
        1,
        "featloom: ticketz: no such file, and no corpus of that name; "
        "'featloom corpora' lists them\n",
    )
    answer = featloom("induce", tmp_path)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {tmp_path}: this is a folder without X.npz; name a file in it\n",
    )
    assert featloom("induce", "x" * 300).code == 1


def test_a_format_that_knows_its_classes_takes_no_target(featloom, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("+1 1:1\n-1 2:1\n")
    answer = featloom("induce", path, "--target", "class")
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {path} is read as an SVMlight file, for which there is no 'target'; "
        "leave it out\n",
    )


def test_the_classes_of_a_corpus_are_its_own(featloom, data_folder):
    answer = featloom("induce", "dimin", "--target", "f3")
    assert (answer.code, answer.err) == (
        1,
        "featloom: --target is for files, and 'dimin' is a corpus; "
        f"to choose, name one of its files in {data_folder / 'dimin'}\n",
    )
    answer = featloom("induce", "geonames")
    assert (answer.code, answer.err) == (
        1,
        "featloom: corpus 'geonames' is no data set by itself\n",
    )


def test_a_folder_with_other_files_is_left_alone(featloom, sound, tmp_path):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter1.tex").write_text("x")
    answer = featloom("induce", sound, "--target", "escalated", "--out", out)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {out} holds other files and no featloom run; name a new folder\n",
    )
    assert os.listdir(out) == ["chapter1.tex"]


def test_a_place_where_no_folder_can_be_is_named(featloom, sound):
    typed = ("induce", sound, "--target", "escalated", "--out")
    answer = featloom(*typed, sound)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {sound} is a file; a run needs a folder\n",
    )
    answer = featloom(*typed, sound / "run")
    assert (answer.code, answer.err) == (
        1,
        f"featloom: cannot make the folder {sound / 'run'}: not a directory\n",
    )


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_a_read_only_folder_is_named(featloom, sound, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    answer = featloom("induce", sound, "--target", "escalated", "--out", locked / "run")
    assert (answer.code, answer.err) == (
        1,
        f"featloom: cannot make the folder {locked / 'run'}: permission denied\n",
    )
    answer = featloom("induce", sound, "--target", "escalated", "--out", locked)
    assert answer.code == 1
    assert answer.err.startswith(f"featloom: cannot write {locked}")


def test_a_failure_leaves_an_earlier_run_and_an_empty_folder_as_they_were(
    featloom, sound, tmp_path
):
    earlier, empty = tmp_path / "earlier", tmp_path / "empty"
    empty.mkdir()
    typed = ("--target", "escalated", "--quiet", "--out")
    assert featloom("induce", sound, *typed, earlier).code == 0
    before = {path.name: path.read_bytes() for path in earlier.iterdir()}
    for out in (earlier, empty):
        assert featloom("induce", tmp_path / "gone.csv", *typed, out).code == 1
    assert {path.name: path.read_bytes() for path in earlier.iterdir()} == before
    assert os.listdir(empty) == []
