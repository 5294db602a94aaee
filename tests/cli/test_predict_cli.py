"""``featloom predict``: answers by name and by place, why they were given, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from featloom.data.readers import read_table, read_timbl
from featloom.formats.models import save_model
from featloom.learners.memory import MemoryClassifier


@pytest.fixture
def model(tickets, tmp_path) -> Path:
    """A memory of the tickets that does without the language."""
    path = tmp_path / "tickets.featloom"
    table = read_table(tickets, target="escalated")
    MemoryClassifier(weights="none", metric={"language": "ignore"}).fit(table).save(path)
    return path


@pytest.fixture
def new_tickets(tmp_path) -> Path:
    path = tmp_path / "new.csv"
    path.write_text(
        "plan,area,channel,language,note\n"
        "enterprise,export,mail,en,urgent\n"
        "free,export,mail,nl,\n"  # a language never met before
        "team,fax,chat,de,\n"  # an area never met before
    )
    return path


def test_predictions_are_a_column_by_the_names_of_the_columns(featloom, model, new_tickets):
    answer = featloom("predict", model, new_tickets)
    assert answer.code == 0
    head, *rows = answer.out.splitlines()
    assert head == "prediction"
    assert rows[:2] == ["yes", "no"]
    assert len(rows) == 3
    assert answer.err == "3 rows\n"


def test_the_order_of_the_columns_does_not_matter(featloom, model, tickets, tmp_path):
    lines = [line.split(",") for line in tickets.read_text().splitlines()]
    turned = tmp_path / "turned.csv"
    turned.write_text("".join(",".join(reversed(line)) + "\n" for line in lines))
    given = featloom("predict", model, tickets)
    assert featloom("predict", model, turned).out == given.out


def test_accuracy_is_told_where_the_classes_are_there(featloom, model, tickets, tmp_path):
    out = tmp_path / "answers.csv"
    answer = featloom("predict", model, tickets, "--out", out)
    table = read_table(tickets, target="escalated")
    loaded = MemoryClassifier.load(model)
    right = int((loaded.predict(table) == [table.classes[label] for label in table.labels]).sum())
    assert answer.out == (
        f"400 rows, predictions in {out}; accuracy {right / 4:.2f} % ({right} right)\n"
    )
    assert answer.err == ""
    assert out.read_text().splitlines()[1:] == loaded.predict(table).tolist()


def test_rows_without_a_class_are_predicted_and_not_judged(featloom, model, tickets, tmp_path):
    some = tmp_path / "some.csv"
    lines = tickets.read_text().splitlines()
    unlabelled = [line.rpartition(",")[0] + "," for line in lines[3:5]]
    some.write_text("\n".join([*lines[:3], *unlabelled]) + "\n")
    answer = featloom("predict", model, some, "--json")
    result = json.loads(answer.out)
    assert result["rows"] == len(result["predictions"]) == 4
    assert result["judged"]["rows"] == 2
    assert "of the 2 with a class)" in featloom("predict", model, some).err


def test_shares_of_the_votes_add_up_to_one(featloom, model, new_tickets):
    answer = featloom("predict", model, new_tickets, "--proba", "--quiet")
    assert answer.err == ""
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert set(rows[0]) == {"prediction", "no", "yes"}
    for row in rows:
        assert float(row["no"]) + float(row["yes"]) == pytest.approx(1, abs=1e-5)
        assert float(row[row["prediction"]]) >= 0.5


def test_an_answer_is_explained_by_stored_cases(featloom, model, new_tickets):
    answer = featloom("predict", model, new_tickets, "--explain", "2")
    first, second = answer.out.removesuffix("3 rows\n").strip().split("\n\n")
    head, nearest, *_ = first.splitlines()
    # In the order of the model's columns, whatever that of the file is.
    assert head.split()[:4] == ["export", "enterprise", "mail", "en"]
    assert "→ yes (" in head
    assert head.endswith("because of these stored cases:")
    assert nearest.split()[:3] == ["export", "enterprise", "mail"]
    assert nearest.endswith("distance 0.0000")
    assert second.split()[:3] == ["export", "free", "mail"]
    result = json.loads(featloom("predict", model, new_tickets, "--explain", "1", "--json").out)
    (explained,) = result["explanations"]
    assert explained["answer"] == result["predictions"][0] == "yes"
    assert explained["neighbours"][0]["distance"] == 0


def test_a_column_that_the_model_ignores_may_be_absent(featloom, model, tickets, tmp_path):
    """That is what it is good for to leave features out: nobody has to collect them."""
    lines = [line.split(",") for line in tickets.read_text().splitlines()]
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("".join(",".join(line[:3]) + "\n" for line in lines))
    assert featloom("predict", model, fewer).out == featloom("predict", model, tickets).out


def test_a_column_that_the_model_compares_must_be_there(featloom, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("area,channel\nlogin,mail\n")
    answer = featloom("predict", model, path)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.endswith(
        f"featloom: {path}: no column 'plan', which the model compares; there are area, channel\n"
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("login,free,mail\n", "4: 3 columns, 4 expected"),
        ("login,free,mail,en,yes\n", "4: 5 columns, 4 expected"),
    ],
)
def test_a_ragged_row_is_told_by_its_line(featloom, model, tmp_path, row, words):
    path = tmp_path / "new.csv"
    path.write_text("area,plan,channel,language\nlogin,free,mail,en\nexport,team,chat,de\n" + row)
    answer = featloom("predict", model, path)
    assert (answer.code, answer.out, answer.err) == (1, "", f"featloom: {path}:{words}\n")
    skipped = featloom("predict", model, path, "--on-bad-row", "skip")
    assert (skipped.code, len(skipped.out.splitlines())) == (0, 3)


# Rows without names: TiMBL's files

INSTANCES = "c,a,K\nc,e,S\ns,e,S\nk,a,K\nk,i,K\n"


@pytest.fixture
def letters(tmp_path) -> Path:
    path = tmp_path / "letters.train"
    path.write_text(INSTANCES)
    MemoryClassifier().fit(read_timbl(path)).save(tmp_path / "letters.featloom")
    return tmp_path / "letters.featloom"


@pytest.mark.parametrize("content", ["c,e,S\nk,o,K\n", "c,e\nk,o\n", "c e\nk o\n", "c\te\nk\to\n"])
def test_rows_of_timbl_go_by_place_with_or_without_the_class(featloom, letters, tmp_path, content):
    path = tmp_path / "letters.test"
    path.write_text(content)
    answer = featloom("predict", letters, path)
    assert answer.out.splitlines() == ["prediction", "S", "K"]
    assert ("accuracy 100.00 % (2 right)" in answer.err) == ("S" in content)


def test_rows_of_timbl_with_another_number_of_values_are_refused(featloom, letters, tmp_path):
    path = tmp_path / "letters.test"
    path.write_text("c,e,x,S\nk,o,y,K\n")
    answer = featloom("predict", letters, path)
    assert (answer.code, answer.err) == (
        1,
        f"featloom: {path}: 4 columns; the model has 2 features, so 2 are expected, or 3 with the "
        "class\n",
    )
    path.write_text("c,e,S\nk,K\n")
    assert f"{path}:2: 2 columns, 3 expected" in featloom("predict", letters, path).err


def test_a_column_of_groups_that_the_model_left_out_may_be_there(featloom, tmp_path):
    path = tmp_path / "letters.train"
    path.write_text("".join(f"w1,{line}\n" for line in INSTANCES.splitlines()))
    model = tmp_path / "letters.featloom"
    MemoryClassifier().fit(read_timbl(path, groups="f1")).save(model)
    answer = featloom("predict", model, path)
    assert "accuracy 100.00 % (5 right)" in answer.err
    path.write_text("c,e\n")
    assert featloom("predict", model, path).out == "prediction\nS\n"


# Models


def test_a_run_is_used_like_its_model(featloom, tickets, tmp_path):
    run = tmp_path / "run"
    asked = ("--target", "escalated", "--strategy", "grid", "--folds", "2", "--ks", "1,3")
    featloom("memory", tickets, *asked, "--out", run, "--quiet")
    by_run = featloom("predict", run, tickets)
    assert by_run.code == 0
    assert by_run.out == featloom("predict", run / "model.featloom", tickets).out


def test_the_accuracy_of_a_run_comes_again_from_its_model(featloom, data_folder, tmp_path):
    run = tmp_path / "run"
    featloom("memory", "dimin", "--strategy", "grid", "--ks", "1,5", "--quiet", "--out", run)
    result = json.loads((run / "result.json").read_text())
    again = json.loads(featloom("predict", run, "dimin", "--json").out)
    assert again["judged"]["accuracy"] == result["test_score"]
    assert again["rows"] == 950


def refused(featloom, model: Path, data: Path) -> str:
    answer = featloom("predict", model, data)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    return answer.err


def test_a_model_that_is_none_is_refused(featloom, model, tickets, tmp_path):
    other = tmp_path / "other.featloom"
    assert f"{other}: no such file" in refused(featloom, other, tickets)
    assert f"{tickets}: not a featloom model" in refused(featloom, tickets, tickets)
    save_model(other, "linear", {}, {})
    assert f"{other}: a model of kind 'linear'; 'memory' is expected" in refused(
        featloom, other, tickets
    )
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    other.write_bytes(content)
    assert f"{other}: the model is damaged: its checksum differs" in refused(
        featloom, other, tickets
    )
    other.write_bytes(model.read_bytes()[:-7])
    assert f"{other}: not a featloom model, or cut short" in refused(featloom, other, tickets)


def test_a_folder_without_a_model_is_refused(featloom, tickets, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"{empty} is not a featloom run" in refused(featloom, empty, tickets)
    run = tmp_path / "run"
    featloom("induce", tickets, "--target", "escalated", "--quiet", "--out", run)
    assert f"{run / 'model.featloom'}: not there; 'featloom memory' makes one" in refused(
        featloom, run, tickets
    )
    (run / "result.json").unlink()
    assert f"{run} has not finished; go on by 'featloom resume {run}'" in refused(
        featloom, run, tickets
    )


def test_data_that_is_not_there_is_told(featloom, model, tmp_path):
    path = tmp_path / "absent.csv"
    assert f"{path}: no such file" in refused(featloom, model, path)


def test_predictions_that_cannot_be_written_are_told_and_nothing_is_left(
    featloom, model, tickets, tmp_path
):
    before = {path.name for path in tmp_path.iterdir()}
    answer = featloom("predict", model, tickets, "--out", tmp_path / "absent" / "answers.csv")
    assert answer.code == 1
    assert "cannot write" in answer.err
    assert {path.name for path in tmp_path.iterdir()} == before
