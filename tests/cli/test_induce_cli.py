"""``featloom induce`` as it is typed: what comes out of data that is in order."""

from __future__ import annotations

import gzip
import json
import re
import sys

import numpy as np
import pytest
from scipy import sparse

from featloom.runs import Run

PLANTED = "area=export & plan=enterprise"


@pytest.fixture
def found(featloom, rows_of):
    """The result of an induction as it is typed, and the conjunctions in it."""

    def induced(data, *words):
        answer = featloom("induce", data, *words, "--json")
        assert (answer.code, answer.err) == (0, "")
        result = json.loads(answer.out)
        return result, rows_of(result, "Features", "Conjunctions")

    return induced


def test_a_run_shows_the_interaction_and_says_whether_it_helps(featloom, tickets, tmp_path):
    out = tmp_path / "runs" / "tickets"
    answer = featloom("induce", tickets, "--target", "escalated", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].startswith("320 training rows, 80 test rows; a fifth of the rows held out")
    models = [line.split() for line in lines[4:6]]
    assert models[0][:-3] == ["logistic", "regression", "on", "atomic", "features"]
    assert models[1][:-3] == ["the", "same", "with", "conjunctions", "←"]
    assert models[0][-1] == "14"
    assert lines[6] == "Best conjunctions by gain over the linear model (log-likelihood)"
    assert any(line.startswith(PLANTED) for line in lines[9:12])
    assert re.match(r"Conjunctions add \d+\.\d points of F1 of yes \(95 % \+", lines[-3])
    assert lines[-2:] == [f"model: {out / 'model.featloom'}", f"report: {out / 'report.html'}"]
    result = Run.open(out).result()
    assert {"schema", "command", "versions", "data", "seed", "timing"} <= set(result)
    assert result["data"]["source"] == str(tickets)
    assert result["data"]["rows"] == 400
    assert sum(result["data"]["classes"].values()) == 400
    assert result["comparisons"][0]["significant"] is True
    assert "enterprise" in (out / "report.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in out.iterdir()) == [
        ".featloom-run",
        "model.featloom",
        "report.html",
        "request.json",
        "result.json",
    ]


def test_threads_change_nothing_and_a_seed_repeats_a_run(featloom, tickets):
    typed = ("induce", tickets, "-t", "escalated", "--json", "--max-length", "3")
    first, second = (json.loads(featloom(*typed, "--jobs", jobs).out) for jobs in "12")
    for part in ("sections", "leaderboard", "comparisons", "verdict"):
        assert first[part] == second[part]


def test_the_heads_of_the_counts_follow_the_classes(found, tmp_path):
    """The class that comes first in the file is not the first of the alphabet."""
    path = tmp_path / "either.svm"
    rows = ["+1 1:1 3:1", "-1 1:1 2:1", "+1 2:1 4:1", "-1 3:1 4:1"] * 20
    path.write_text("\n".join(rows) + "\n")
    _, rows = found(path)
    heads = ["conjunction", "rows", "score", "weight for -1", "1", "-1", "leans to", "lift"]
    assert [*rows[0]] == [*heads, "length"]
    both = next(row for row in rows if row["conjunction"] == ["x1", "x2"])
    assert [both[head] for head in ("rows", "1", "-1", "leans to", "lift")] == [20, 0, 20, "-1", 2]
    assert both["weight for -1"] > 0


@pytest.mark.parametrize(
    ("score", "label"),
    [
        ("fisher", "Fisher's exact test"),
        ("mi", "mutual information"),
        ("su", "symmetric uncertainty"),
    ],
)
def test_every_score_finds_the_interaction(featloom, tickets, score, label):
    answer = featloom("induce", tickets, "-t", "escalated", "--score", score)
    assert answer.code == 0
    assert f"Best conjunctions by {label}" in answer.out
    assert PLANTED in answer.out


def test_options_reach_the_inducer(found, tickets):
    typed = (tickets, "-t", "escalated")
    paper, _ = found(*typed, "--preset", "paper", "--partners", "2")
    assert paper["parameters"]["pairs"] == "ranked"
    assert paper["parameters"]["partners"] == 2
    longer, rows = found(*typed, "--max-length", "3", "--final-keep", "all")
    assert {row["length"] for row in rows} == {2, 3}
    assert longer["parameters"]["final_keep"] is None


def test_conjunctions_with_the_domain_are_marked(found, tickets):
    result, rows = found(tickets, "-t", "escalated", "--domain", "plan")
    table = result["sections"][0]["blocks"][0]
    assert table["mark"] == "only with the domain of the document"
    for place, row in enumerate(rows):
        with_domain = any(part.startswith("plan=") for part in row["conjunction"])
        assert (place in table["marked"]) == with_domain


def test_a_column_of_groups_is_no_feature(featloom, tmp_path, ticket_rows):
    path = tmp_path / "customers.csv"
    lines = [",".join((*row[:3], row[-1])) for row in ticket_rows]
    path.write_text("\n".join(["customer,area,plan,escalated", *lines]) + "\n")
    answer = featloom("induce", path, "-t", "escalated", "--groups", "customer", "--json")
    data = json.loads(answer.out)["data"]
    assert data["groups"] == len({row[0] for row in ticket_rows})
    assert {family["name"] for family in data["families"]} == {"area", "plan"}


def test_bad_rows_are_skipped_and_counted_in_one_line(featloom, tickets):
    with tickets.open("ab") as stream:
        stream.write(b"search,team\nsearch,team,caf\xe9,en,no\nsearch,team,mail,en,\n")
    typed = ("induce", tickets, "-t", "escalated", "--json")
    answer = featloom(*typed, "--on-bad-row", "skip")
    assert answer.err == (
        f"featloom: warning: {tickets}: 3 rows skipped; "
        f"the first: {tickets}:402: 2 columns, 5 expected\n"
    )
    assert answer.code == 0
    assert json.loads(answer.out)["data"]["rows"] == 400


def test_a_constant_column_is_a_warning_in_one_line(featloom, tmp_path):
    path = tmp_path / "constant.csv"
    path.write_text("area,plan,escalated\n" + "login,free,yes\nexport,free,no\n" * 10)
    answer = featloom("induce", path, "-t", "escalated")
    assert answer.code == 0
    assert answer.err == (
        f"featloom: warning: {path}: column 'plan' is constant and can tell no classes apart\n"
    )
    assert "Features found\nNo conjunction was kept.\n" in answer.out


def test_names_in_the_data_are_shown_as_they_are(featloom, tmp_path):
    path = tmp_path / "markup.csv"
    rows = "[/red],x,[b]\n[/red],y,no\n[bold],x,no\n[bold],y,[b]\n"
    path.write_text("one,[i],answer\n" + rows * 10)
    answer = featloom("induce", path, "-t", "answer")
    assert answer.code == 0
    assert "one=[/red] & [i]=x" in answer.out
    assert "weight for no" in answer.out


def written_as(kind: str, folder, rows):
    """The tickets in another format; returns the file and the options it needs."""
    path = folder / f"tickets.{kind}"
    table = [row[1:] for row in rows]
    header = ("area", "plan", "channel", "language", "escalated")
    if kind == "tsv":
        path.write_text("".join("\t".join(line) + "\n" for line in [header, *table]))
    elif kind == "csv.gz":
        text = "".join(";".join(line) + "\n" for line in [header, *table])
        path.write_bytes(gzip.compress(text.encode()))
    elif kind == "train":
        path.write_text("".join(",".join(line) + "\n" for line in table))
        return path, ("--target", "class")
    elif kind == "conll":
        path.write_text("".join(" ".join(line) + "\n\n" for line in table))
        return path, ()
    elif kind == "parquet":
        polars = pytest.importorskip("polars")
        columns = dict(zip(header, zip(*table, strict=True), strict=True))
        polars.DataFrame(columns).write_parquet(path)
    else:
        values = sorted({(j, cell) for row in table for j, cell in enumerate(row[:-1])})
        number = {value: k for k, value in enumerate(values)}
        lit = [[number[j, cell] for j, cell in enumerate(row[:-1])] for row in table]
        if kind == "svm":
            lines = (
                f"{row[-1]} " + " ".join(f"{k}:1" for k in sorted(features))
                for row, features in zip(table, lit, strict=True)
            )
            path.write_text("\n".join(lines) + "\n")
            return path, ()
        rows_of = np.repeat(np.arange(len(lit)), 4)
        X = sparse.csr_matrix((np.ones(4 * len(lit), np.int8), (rows_of, np.concatenate(lit))))
        np.savez(
            path,
            indptr=X.indptr,
            indices=X.indices,
            shape=X.shape,
            sense=np.array([row[-1] == "yes" for row in table], dtype=np.int8),
        )
        return path, ("--target", "sense")
    return path, ("--target", "escalated")


@pytest.mark.parametrize("kind", ["tsv", "csv.gz", "parquet", "train", "conll", "svm", "npz"])
def test_the_same_data_in_another_format_gives_the_same_answer(
    found, tickets, tmp_path, ticket_rows, kind
):
    path, options = written_as(kind, tmp_path, ticket_rows)
    positive = "1" if kind == "npz" else "yes"
    given, (best, *_) = found(path, *options, "--positive", positive)
    _, (expected, *_) = found(tickets, "-t", "escalated")
    assert given["leaderboard"][0]["size"] == 14
    assert best["rows"] == expected["rows"]
    assert best["score"] == pytest.approx(expected["score"])


def test_a_file_without_an_ending_has_a_header_if_the_target_is_in_it(featloom, tickets):
    bare = tickets.rename(tickets.with_name("tickets"))
    assert featloom("induce", bare, "-t", "escalated", "--quiet").code == 0


def test_without_the_packages_that_draw_the_result_stands_by_itself(
    featloom, tickets, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "altair", None)
    answer = featloom("induce", tickets, "-t", "escalated", "--out", tmp_path / "run")
    assert answer.code == 0
    assert answer.err == (
        f"featloom: warning: no page beside {tmp_path / 'run' / 'result.json'}: "
        "a report needs the package altair: pip install 'featloom[report]'\n"
    )
    assert "Conjunctions add" in answer.out
    assert "report:" not in answer.out
    assert (tmp_path / "run" / "result.json").exists()


def test_a_corpus_is_named_instead_of_a_file(featloom, data_folder):
    answer = featloom("induce", "dimin", "--max-length", "1", "--score", "mi", "--json")
    assert answer.code == 0
    data = json.loads(answer.out)["data"]
    assert (data["source"], data["rows"], len(data["classes"])) == ("dimin", 2999, 5)
