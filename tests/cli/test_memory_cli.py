"""``featloom memory``: what it finds, prints and keeps; that it goes on after a stop; that TiMBL
agrees; and what it says of data it cannot use."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess

import pytest

from tests.cli.data import ticket_text


def blocks_of(result: dict, name: str) -> list[dict]:
    (section,) = [one for one in result["sections"] if one["name"] == name]
    return section["blocks"]


@pytest.fixture(scope="module")
def ticket_run(tmp_path_factory, ticket_rows, run_once):
    """One finished run on the tickets, with what it was made from and what it printed."""
    folder = tmp_path_factory.mktemp("tickets")
    path, out = folder / "tickets.csv", folder / "run"
    path.write_text(ticket_text(ticket_rows))
    typed = ("memory", path, "--target", "escalated", "--folds", "3", "--out", out)
    return path, out, run_once(*typed)


def test_a_run_holds_result_journal_model_and_page(ticket_run):
    _, run, _ = ticket_run
    assert {path.name for path in run.iterdir()} >= {
        "result.json",
        "request.json",
        "search.journal",
        "model.featloom",
    }
    result = json.loads((run / "result.json").read_text())
    assert result["kind"] == "memory"
    assert result["data"]["rows"] == 400
    (found,) = [one["settings"] for one in result["leaderboard"] if one["chosen"]]
    assert set(found) == {"k", "weights", "vote", "modes"}
    # The two columns that decide together are both in use.
    assert {"area", "plan"} <= {name for name, mode in found["modes"].items() if mode != "ignore"}
    assert len(result["sections"][-1]["blocks"]) == 5


def test_the_settings_are_printed_with_protocol_and_verdict(ticket_run):
    _, run, printed = ticket_run
    result = json.loads((run / "result.json").read_text())
    assert printed.splitlines()[0] == (
        "360 training rows, 40 test rows; 10 % of the rows held out at random as test part; "
        "searched by cross-validation over the others"
    )
    for word in ("default", "best uniform", "guided search ←", "validation", "test"):
        assert word in printed
    assert result["verdict"] in printed
    assert f"model: {run / 'model.featloom'}" in printed


def test_parts_can_be_files_of_their_own(featloom, tmp_path, ticket_rows):
    head = "area,plan,escalated\n"
    for name, rows in (("train", ticket_rows[:250]), ("valid", ticket_rows[250:320]),
                       ("test", ticket_rows[320:])):  # fmt: skip
        lines = "".join(f"{row[1]},{row[2]},{row[5]}\n" for row in rows)
        (tmp_path / f"{name}.csv").write_text(head + lines)
    answer = featloom(
        "memory", tmp_path / "train.csv", "--target", "escalated", "--strategy", "exhaustive",
        "--valid", tmp_path / "valid.csv", "--test", tmp_path / "test.csv", "--json",
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    result = json.loads(answer.out)
    assert result["evaluations"] == 5 * (3**2 - 1)
    assert result["protocol"] == (
        "250 training rows, 70 validation rows, 80 test rows; searched on the validation part, "
        "reported on the test part"
    )


def test_a_corpus_comes_with_its_own_parts(featloom, data_folder):
    answer = featloom("memory", "ppattach", "--strategy", "grid", "--ks", "1", "--json")
    assert (answer.code, answer.err) == (0, "")
    result = json.loads(answer.out)
    assert result["protocol"].startswith("20,801 training rows, 4,039 validation rows, 3,097 test")
    default, _ = result["leaderboard"]
    assert round(100 * default["value"], 1) == 82.3


def test_a_budget_ends_the_search(featloom, tickets):
    answer = featloom(
        "memory", tickets, "--target", "escalated", "--trials", "12", "--folds", "2", "--json"
    )
    result = json.loads(answer.out)
    assert (result["evaluations"], result["budget"]["stopped"]) == (12, "trials")


# TiMBL


@pytest.mark.skipif(shutil.which("timbl") is None, reason="TiMBL is not installed")
@pytest.mark.parametrize(
    "options",
    [
        ["--strategy", "genetic", "--trials", "60"],
        ["--vote", "inverse_distance", "--ks", "7", "--trials", "40"],
        ["--vote", "exponential", "--ks", "3", "--threshold", "3", "--trials", "40"],
        ["--over", "features", "--vote", "inverse_linear", "--trials", "40"],
    ],
    ids=["genetic", "inverse-distance", "exponential-threshold", "features"],
)
def test_timbl_gives_the_same_answers_by_the_command_printed(
    featloom, data_folder, tmp_path, options
):
    """On 950 diminutives, none of whose distances are equal but for the last bit."""
    folder = tmp_path / "for timbl"
    answer = featloom("memory", "dimin", "--timbl", folder, *options)
    assert (answer.code, answer.err) == (0, "")
    line = next(line for line in answer.out.splitlines() if line.startswith("the same by TiMBL: "))
    command = shlex.split(line.removeprefix("the same by TiMBL: "))
    subprocess.run(command, check=True, capture_output=True)
    assert (folder / "timbl.out").read_text() == (folder / "featloom.out").read_text()


def test_the_weights_for_timbl_are_those_that_timbl_would_write(featloom, data_folder, tmp_path):
    from featloom.formats.timbl import read_weights

    featloom("memory", "dimin", "--timbl", tmp_path / "t", "--strategy", "grid", "--ks", "1")
    weights = read_weights(tmp_path / "t" / "weights.wgt")
    assert set(weights) == {"nw", "gr", "ig", "sv", "x2"}
    assert set(weights["gr"]) == set(range(1, 13))


def test_a_missing_value_cannot_be_written_for_timbl(featloom, tickets, tmp_path):
    tickets.write_text(tickets.read_text() + ",team,mail,en,yes\n")
    answer = featloom(
        "memory", tickets, "--target", "escalated", "--strategy", "grid", "--folds", "2",
        "--timbl", tmp_path / "t",
    )  # fmt: skip
    assert answer.code == 1
    assert "rows has no value in column 'area', and TiMBL knows no missing values" in answer.err


# Faults

HEADER = "area,plan,escalated\n"
ROWS = "login,free,yes\nexport,team,no\nlogin,team,no\nexport,free,yes\n" * 10


def test_a_bad_row_can_be_skipped(featloom, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + ROWS + "login,free\n")
    answer = featloom(
        "memory", path, "--target", "escalated", "--on-bad-row", "skip", "--strategy", "grid"
    )
    assert answer.code == 0
    assert "1 row" in answer.err


def test_a_class_seen_once_is_told_where_folds_are_made(featloom, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + "login,team,maybe\n" + ROWS)
    test = tmp_path / "test.csv"
    test.write_text(HEADER + ROWS)
    asked = ("memory", path, "--target", "escalated", "--test", test, "--strategy", "grid")
    answer = featloom(*asked)
    assert (answer.code, answer.err) == (
        1,
        "featloom: class 'maybe' has 1 row outside the test part, too few for 5 folds; "
        "give fewer folds, or a validation part in their place\n",
    )
    assert featloom(*asked, "--valid", test).code == 0


def test_more_neighbours_than_cases_is_no_fault(featloom, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + ROWS)
    answer = featloom(
        "memory", path, "--target", "escalated", "--strategy", "grid", "--ks", "1,999", "--json"
    )
    assert (answer.code, answer.err) == (0, "")
    assert blocks_of(json.loads(answer.out), "Neighbours")[0]["lines"][0]["x"] == [1, 999]


def test_columns_that_never_change_leave_the_most_frequent_class(featloom, tmp_path):
    """All weights but "none" are zero."""
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER + "login,free,yes\n" * 20 + "login,free,no\n" * 60)
    answer = featloom("memory", path, "--target", "escalated", "--json")
    assert answer.code == 0
    result = json.loads(answer.out)
    assert [one["test"] for one in result["leaderboard"] if one["chosen"]] == [0.75]
    assert not result["significant"]


def test_a_journal_of_other_data_is_refused_and_kept(featloom, tickets, tmp_path):
    run = tmp_path / "run"
    asked = ("--target", "escalated", "--strategy", "grid", "--folds", "2", "--out", run, "--quiet")
    assert featloom("memory", tickets, *asked).code == 0
    journal = (run / "search.journal").read_bytes()
    with tickets.open("a") as stream:
        stream.write("login,free,mail,en,yes\n" * 5)
    answer = featloom("memory", tickets, *asked)
    assert answer.code == 1
    assert f"journal {run / 'search.journal'} was made from other data" in answer.err
    assert (run / "search.journal").read_bytes() == journal
