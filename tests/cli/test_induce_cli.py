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


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def conjunctions(result: dict) -> list[str]:
    return [row["name"] for row in result["induction"]["conjunctions"]]


def test_a_run_shows_the_interaction_and_says_whether_it_helps(featloom, tickets, tmp_path):
    out = tmp_path / "runs" / "tickets"
    answer = featloom("induce", tickets, "--target", "escalated", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "Best conjunctions by gain over the linear model (log-likelihood)"
    best = [cells(line)[0] for line in lines if "│" in line]
    assert PLANTED in best[:3]
    assert re.fullmatch(
        r"logistic regression on atomic features: F1 of yes 0\.\d{3} \(.* to .*\), 14 features",
        lines[-5],
    )
    assert lines[-4].startswith("the same with conjunctions: F1 of yes 0.")
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


def test_json_is_the_result_and_nothing_else(featloom, tickets):
    answer = featloom("induce", tickets, "-t", "escalated", "--json", "--seed", "3")
    result = json.loads(answer.out)
    assert (answer.code, answer.err, result["seed"]) == (0, "", 3)
    assert conjunctions(result)[0] in (PLANTED, "area=login & plan=enterprise")


def test_quiet_says_nothing(featloom, tickets):
    answer = featloom("induce", tickets, "-t", "escalated", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_threads_change_nothing_and_a_seed_repeats_a_run(featloom, tickets):
    typed = ("induce", tickets, "-t", "escalated", "--json", "--max-length", "3")
    first, second = (json.loads(featloom(*typed, "--jobs", jobs).out) for jobs in "12")
    for part in ("induction", "models", "comparisons", "verdict"):
        assert first[part] == second[part]


def test_the_heads_of_the_counts_follow_the_classes(featloom, tmp_path):
    """The class that comes first in the file is not the first of the alphabet."""
    path = tmp_path / "either.svm"
    rows = ["+1 1:1 3:1", "-1 1:1 2:1", "+1 2:1 4:1", "-1 3:1 4:1"] * 20
    path.write_text("\n".join(rows) + "\n")
    lines = featloom("induce", path).out.splitlines()
    heads = next(cells(line) for line in lines if line.startswith("┃"))
    assert heads == ["conjunction", "rows", "1", "-1", "score", "weight for -1"]
    both = next(cells(line) for line in lines if line.startswith("│ x1 & x2"))
    assert both[1:4] == ["20", "0", "20"]
    assert float(both[5]) > 0


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


def test_options_reach_the_inducer(featloom, tickets):
    typed = ("induce", tickets, "-t", "escalated", "--json")
    paper = json.loads(featloom(*typed, "--preset", "paper", "--partners", "2").out)
    assert paper["parameters"]["pairs"] == "ranked"
    assert paper["parameters"]["partners"] == 2
    longer = json.loads(featloom(*typed, "--max-length", "3", "--final-keep", "all").out)
    lengths = {row["length"] for row in longer["induction"]["conjunctions"]}
    assert lengths == {2, 3}
    assert longer["parameters"]["final_keep"] is None


def test_conjunctions_with_the_domain_are_marked(featloom, tickets):
    typed = ("induce", tickets, "-t", "escalated", "--json", "--domain", "plan")
    for row in json.loads(featloom(*typed).out)["induction"]["conjunctions"]:
        assert row["domain"] == any(part.startswith("plan=") for part in row["parts"])


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
    assert answer.out.startswith("No conjunction was kept.\n")


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
    featloom, tickets, tmp_path, ticket_rows, kind
):
    path, options = written_as(kind, tmp_path, ticket_rows)
    positive = "1" if kind == "npz" else "yes"
    answer = featloom("induce", path, *options, "--json", "--positive", positive)
    assert (answer.code, answer.err) == (0, "")
    usual = json.loads(featloom("induce", tickets, "-t", "escalated", "--json").out)
    given = json.loads(answer.out)
    assert given["models"][0]["features"] == 14
    best, expected = (r["induction"]["conjunctions"][0] for r in (given, usual))
    assert best["support"] == expected["support"]
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
