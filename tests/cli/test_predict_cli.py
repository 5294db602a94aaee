"""``featloom predict``: answers by name and by place, why they were given, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import read_table, read_timbl
from featloom.formats.models import save_model
from featloom.learners.memory import MemoryClassifier
from featloom.learners.plan_model import PlanModel, plan_model
from featloom.methods.induction import ConjunctionInducer


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
    assert answer.err.startswith("3 rows\n")


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
        "400 of 400 rows are, value for value, rows of the training data; if they are the same, "
        "what is right of them says nothing of new ones\n"
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
    assert list(rows[0]) == ["prediction", "p_no", "p_yes"]
    for row in rows:
        assert float(row["p_no"]) + float(row["p_yes"]) == pytest.approx(1, abs=1e-5)
        assert float(row[f"p_{row['prediction']}"]) >= 0.5


def test_ids_stand_beside_the_predictions(featloom, model, new_tickets):
    answer = featloom("predict", model, new_tickets, "--id", "note", "--id", "plan", "--proba")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert list(rows[0]) == ["note", "plan", "prediction", "p_no", "p_yes"]
    assert [row["note"] for row in rows] == ["urgent", "", ""]  # a cell may be empty
    assert [row["plan"] for row in rows] == ["enterprise", "free", "team"]
    result = json.loads(featloom("predict", model, new_tickets, "--id", "note", "--json").out)
    assert result["ids"] == {"note": ["urgent", "", ""]}
    wrong = featloom("predict", model, new_tickets, "--id", "Note")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err == (
        f"featloom: {new_tickets}: no column 'Note' for --id; there are plan, area, channel, "
        "language, note; did you mean 'note'?\n"
    )


def test_the_class_may_stand_beside_the_predictions(featloom, model, tickets):
    rows = csv.DictReader(io.StringIO(featloom("predict", model, tickets, "--id", "escalated").out))
    assert {row["escalated"] for row in rows} == {"yes", "no"}


@pytest.mark.parametrize("kind", ["memory", "linear"])
def test_rows_that_were_learned_from_are_known_again(featloom, kind, model, tickets, tmp_path):
    path = model
    if kind == "linear":
        table, path = read_table(tickets, target="escalated"), tmp_path / "linear.featloom"
        pipeline = make_pipeline(ConjunctionInducer(), LogisticRegression())
        y = np.array(table.classes, dtype=object)[table.labels]
        plan_model(pipeline.fit(table, y), learned=table).save(path)
    lines = tickets.read_text().splitlines()
    mixed = tmp_path / "mixed.csv"
    strange = ["fax,free,mail,en,no"] * 3
    mixed.write_text("\n".join([*lines[:6], *strange]) + "\n")
    seen = json.loads(featloom("predict", path, mixed, "--json").out)["seen"]
    assert seen == {"rows": 5, "exact": True}
    assert (
        "5 of 8 rows are, value for value, rows of the training"
        in featloom("predict", path, mixed).err
    )
    mixed.write_text("\n".join([lines[0], *strange]) + "\n")
    assert "training" not in featloom("predict", path, mixed).err


def test_an_answer_is_explained_by_stored_cases(featloom, model, new_tickets):
    answer = featloom("predict", model, new_tickets, "--explain", "2")
    first, second = answer.out.partition("3 rows\n")[0].strip().split("\n\n")
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
    (chosen,) = [one for one in result["leaderboard"] if one["chosen"]]
    assert again["judged"]["accuracy"] == chosen["test"]
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
    save_model(other, "crystal", {}, {})
    assert (
        f"{other}: a model of kind 'crystal'; 'memory', 'linear' or 'tasks' is expected"
        in refused(featloom, other, tickets)
    )
    for kind in ("memory", "linear"):
        save_model(other, kind, {}, {})
        assert f"{other}: the model is damaged: its parts do not fit" in refused(
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
    (run / "model.featloom").unlink()
    said = f"{run / 'model.featloom'}: not there; the run is of an earlier version, or its model"
    assert said in refused(featloom, run, tickets)
    (run / "result.json").unlink()
    assert f"{run} has not finished; go on by 'featloom resume {run}'" in refused(
        featloom, run, tickets
    )


def test_predictions_that_cannot_be_written_are_told_and_nothing_is_left(
    featloom, model, tickets, tmp_path
):
    before = {path.name for path in tmp_path.iterdir()}
    answer = featloom("predict", model, tickets, "--out", tmp_path / "absent" / "answers.csv")
    assert answer.code == 1
    assert "cannot write" in answer.err
    assert {path.name for path in tmp_path.iterdir()} == before


# Linear models


@pytest.fixture
def conjunctions(tickets, tmp_path) -> Path:
    table = read_table(tickets, target="escalated")
    y = np.array(table.classes, dtype=object)[table.labels]
    inducer = ConjunctionInducer(final_atomic=4, final_keep=3)
    path = tmp_path / "linear.featloom"
    plan_model(make_pipeline(inducer, LogisticRegression(C=10.0)).fit(table, y)).save(path)
    return path


def test_a_linear_model_answers_by_the_names_of_the_columns(
    featloom, conjunctions, new_tickets, tickets
):
    answer = featloom("predict", conjunctions, new_tickets)
    assert (answer.code, answer.err) == (0, "3 rows\n")
    assert answer.out.splitlines()[:3] == ["prediction", "yes", "no"]
    judged = json.loads(featloom("predict", conjunctions, tickets, "--json").out)["judged"]
    assert judged["rows"] == 400
    assert judged["accuracy"] > 0.9


def test_columns_that_no_feature_looks_at_may_be_absent(featloom, conjunctions, tickets, tmp_path):
    used = PlanModel.load(conjunctions).used_columns
    lines = [line.split(",") for line in tickets.read_text().splitlines()]
    kept = [j for j, name in enumerate(lines[0]) if name in used]
    assert len(kept) < 4
    path = tmp_path / "fewer.csv"
    path.write_text("".join(",".join(line[j] for j in kept) + "\n" for line in lines))
    given = featloom("predict", conjunctions, tickets)
    assert featloom("predict", conjunctions, path).out == given.out
    path.write_text("channel\nmail\n")
    answer = featloom("predict", conjunctions, path)
    assert answer.code == 1
    named = ", ".join(map(repr, used))
    assert f"no columns {named}, which the model looks at; there are channel\n" in answer.err


def test_an_answer_is_explained_by_the_features_that_fired(featloom, conjunctions, new_tickets):
    answer = featloom("predict", conjunctions, new_tickets, "--explain", "2")
    first, second = answer.out.partition("3 rows\n")[0].strip().split("\n\n")
    head, strongest, *_ = first.splitlines()
    assert head.startswith("export  enterprise  mail  en  → yes (yes ")
    assert head.endswith("because of these features, for yes and against no:")
    weight, name = strongest.split(maxsplit=1)
    assert weight.startswith("+")
    assert set(name.split(" & ")) == {"area=export", "plan=enterprise"}
    assert "→ no (no " in second.splitlines()[0]
    result = json.loads(
        featloom("predict", conjunctions, new_tickets, "--explain", "1", "--json").out
    )
    (explained,) = result["explanations"]
    assert (explained["answer"], explained["against"]) == ("yes", "no")
    assert explained["features"][0]["name"] == name


def test_probabilities_of_a_linear_model_add_up_to_one(featloom, conjunctions, new_tickets):
    rows = list(
        csv.DictReader(io.StringIO(featloom("predict", conjunctions, new_tickets, "--proba").out))
    )
    for row in rows:
        assert float(row["p_no"]) + float(row["p_yes"]) == pytest.approx(1, abs=1e-5)
        assert float(row[f"p_{row['prediction']}"]) >= 0.5


def test_distances_are_not_sold_as_probabilities(featloom, tickets, tmp_path):
    table = read_table(tickets, target="escalated")
    y = np.array(table.classes, dtype=object)[table.labels]
    path = tmp_path / "svm.featloom"
    plan_model(make_pipeline(ConjunctionInducer(), LinearSVC()).fit(table, y)).save(path)
    assert featloom("predict", path, tickets).code == 0
    explained = featloom("predict", path, tickets, "--explain", "1").out
    assert "→ yes, because of" in explained or "→ no, because of" in explained
    answer = featloom("predict", path, tickets, "--proba")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "featloom: the model's scores are distances and no probabilities\n"


def test_a_model_of_a_sparse_matrix_reads_sparse_matrices(featloom, tickets, tmp_path):
    X = sparse.csr_matrix([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]] * 5)
    sparse.save_npz(tmp_path / "new.npz", X)
    matrix = FeatureMatrix.from_csr(X)
    y = np.array(["b", "a", "b", "a"] * 5)
    model = tmp_path / "matrix.featloom"
    pipeline = make_pipeline(ConjunctionInducer(score="mi"), LogisticRegression())
    plan_model(pipeline.fit(matrix, y)).save(model)
    answer = featloom("predict", model, tmp_path / "new.npz", "--explain", "1")
    assert answer.out.startswith("x0  x2  → b (b ")
    assert featloom("predict", model, tmp_path / "new.npz").out.split()[1:5] == list("baba")


def test_a_matrix_is_no_table(featloom, model, conjunctions, tmp_path):
    path = tmp_path / "new.npz"
    sparse.save_npz(path, sparse.csr_matrix([[1, 0], [0, 1]]))
    words = f"{path}: a sparse matrix; the model looks at the columns of a table"
    assert words in refused(featloom, conjunctions, path)
    words = f"{path}: a sparse matrix; the model compares the columns of a table"
    assert words in refused(featloom, model, path)


# Long files


def long_file(path: Path, ticket_rows, n: int) -> None:
    lines = [",".join(row[1:]) for row in ticket_rows] * (n // len(ticket_rows))
    path.write_text("\n".join(["area,plan,channel,language,escalated", *lines]) + "\n")


@pytest.mark.parametrize("which", ["model", "conjunctions"])
def test_a_long_table_is_answered_block_by_block(featloom, which, request, ticket_rows, tmp_path):
    model = request.getfixturevalue(which)
    path = tmp_path / "long.csv"
    long_file(path, ticket_rows, 80_000)
    assert path.stat().st_size > 1.5 * 2**20  # more than one block of text
    table = read_table(path, target="escalated")
    loaded = MemoryClassifier.load(model) if which == "model" else PlanModel.load(model)
    answer = featloom("predict", model, path, "--proba")
    assert answer.out.count("prediction") == 1
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["prediction"] for row in rows] == loaded.predict(table).tolist()
    gold = [table.classes[label] for label in table.labels]
    right = sum(row["prediction"] == name for row, name in zip(rows, gold, strict=True))
    assert f"80,000 rows; accuracy {right / 800:.2f} % ({right:,} right)" in answer.err
    featloom("predict", model, path, "--proba", "--out", tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_text() == answer.out


def test_parquet_is_answered_block_by_block(
    featloom, conjunctions, ticket_rows, tmp_path, monkeypatch
):
    import polars as pl

    monkeypatch.setattr("featloom.data.readers.parquet._BLOCK", 150)
    names = ["area", "plan", "channel", "language", "escalated"]
    columns = zip(*(row[1:] for row in ticket_rows), strict=True)
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    frame.write_parquet(tmp_path / "tickets.parquet")
    frame.write_csv(tmp_path / "again.csv")
    answer = featloom("predict", conjunctions, tmp_path / "tickets.parquet")
    assert answer == featloom("predict", conjunctions, tmp_path / "again.csv")
    assert answer.err.startswith("400 rows; accuracy")


def test_a_fault_far_down_leaves_no_file(featloom, conjunctions, ticket_rows, tmp_path):
    path, out = tmp_path / "long.csv", tmp_path / "answers.csv"
    long_file(path, ticket_rows, 80_000)
    with path.open("a") as stream:
        stream.write("login,free\n")
    answer = featloom("predict", conjunctions, path, "--out", out)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"featloom: {path}:80002: 2 columns, 5 expected\n"
    assert [p for p in tmp_path.iterdir() if "answers" in p.name] == []
    skipped = featloom("predict", conjunctions, path, "--out", out, "--on-bad-row", "skip")
    assert "80,000 rows, predictions in" in skipped.out
    assert "1 row skipped; the first: " in skipped.err


def test_a_table_without_rows_is_told(featloom, conjunctions, tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("area,plan,channel,language\n")
    assert f"{path}: no rows" in refused(featloom, conjunctions, path)
