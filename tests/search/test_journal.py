"""The journal keeps every result to the last bit, and is refused when it is not the right one."""

from __future__ import annotations

import math
import os
import random
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import Journal, Stop, fingerprint, read_journal
from featloom.search.journal import _checksum

LETTERS = {"data": fingerprint("letters"), "search": {"metric": "accuracy", "k": [1, 3]}}


def fill(path, n=40):
    with Journal(path, **LETTERS) as journal:
        for i in range(n):
            result = {"score": math.sin(i), "folds": [math.cos(i), -1e-300]}
            journal.append({"k": i, "word": "füße"}, result, seconds=i / 7, elapsed=i / 3)
        journal.record_stop(n, "budget")
    return read_journal(path)


def one_line(error):
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def test_what_was_written_is_read_back_to_the_last_bit(tmp_path):
    path = tmp_path / "a.journal"
    evaluations, stops = fill(path)
    assert [e.result["score"] for e in evaluations] == [math.sin(i) for i in range(40)]
    assert [e.seconds for e in evaluations] == [i / 7 for i in range(40)]
    assert evaluations[3].candidate == {"k": 3, "word": "füße"}
    assert evaluations[5].result["folds"][1] == -1e-300
    assert stops == [Stop(40, "budget")]
    with Journal(path, **LETTERS) as journal:
        assert len(journal) == 40
        assert journal.elapsed == 13.0
        assert journal.get('{"k":7,"word":"füße"}').score == math.sin(7)
        assert journal.get('{"k":99}') is None
        assert list(journal) == evaluations
        assert journal.stops == stops


@given(score=st.floats(allow_nan=False))
@settings(max_examples=25, deadline=None)
def test_any_score_survives(tmp_path_factory, score):
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    with Journal(path, **LETTERS) as journal:
        journal.append({"k": 1}, {"score": score}, seconds=0, elapsed=0)
    (evaluation,), _ = read_journal(path)
    assert math.copysign(1, evaluation.score) == math.copysign(1, score)
    assert evaluation.score == score


def test_numbers_of_numpy_are_written_as_plain_ones(tmp_path):
    with Journal(tmp_path / "a", **LETTERS) as journal:
        result = {"score": np.float64(0.1), "folds": np.array([0.1, 0.2])}
        evaluation = journal.append({"k": np.int64(1)}, result, seconds=0.1, elapsed=0.1)
    assert evaluation.result == {"score": 0.1, "folds": [0.1, 0.2]}


def test_a_closed_journal_is_one_file(tmp_path):
    fill(tmp_path / "a.journal")
    assert os.listdir(tmp_path) == ["a.journal"]


def test_a_candidate_is_written_once(tmp_path):
    with Journal(tmp_path / "a", **LETTERS) as journal:
        journal.append({"k": 1}, 0.5, seconds=0, elapsed=0)
        with pytest.raises(ValueError, match="already has"):
            journal.append({"k": 1}, 0.6, seconds=0, elapsed=0)
        assert len(journal) == 1


def test_a_journal_of_other_data_is_refused(tmp_path):
    path = tmp_path / "a.journal"
    fill(path)
    words = fingerprint("words")
    with pytest.raises(InputError) as error:
        Journal(path, **{**LETTERS, "data": words})
    assert one_line(error) == (
        f"journal {path} was made from other data "
        f"(fingerprint {LETTERS['data'][:12]}, not {words[:12]}); for these, name another folder "
        "or file"
    )


@pytest.mark.parametrize(
    ("search", "difference"),
    [
        ({"metric": "f1", "k": [1, 3]}, """its 'metric' was "accuracy", now "f1\""""),
        ({"metric": "accuracy", "k": [1, 5]}, "its 'k' was [1,3], now [1,5]"),
        ({"metric": "accuracy"}, "it had 'k'"),
        ({"metric": "accuracy", "k": [1, 3], "seed": 1}, "it had no 'seed'"),
    ],
)
def test_a_journal_of_another_search_is_refused(tmp_path, search, difference):
    path = tmp_path / "a.journal"
    fill(path)
    with pytest.raises(InputError) as error:
        Journal(path, data=LETTERS["data"], search=search)
    assert one_line(error) == (
        f"journal {path} was made by another search: {difference}; for this one, name another "
        "folder or file"
    )


def test_a_journal_of_another_version_is_refused(tmp_path):
    path = tmp_path / "a.journal"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(InputError) as error:
        Journal(path, **LETTERS)
    assert one_line(error) == f"journal {path} was made by another version (schema 7, not 2)"


def test_a_journal_of_the_first_version_is_read_and_goes_on(tmp_path):
    """In it, each checksum covers that of the evaluation before."""
    path = tmp_path / "a.journal"
    evaluations, stops = fill(path, 5)
    connection = sqlite3.connect(path, isolation_level=None)
    (before,) = connection.execute("SELECT checksum FROM belongs_to").fetchone()
    for *row, _ in connection.execute("SELECT * FROM evaluations ORDER BY number").fetchall():
        before = _checksum(before, row)
        connection.execute("UPDATE evaluations SET checksum = ? WHERE number = ?", (before, row[0]))
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Journal(path, **LETTERS) as journal:
        assert (list(journal), journal.stops) == (evaluations, stops)
        journal.append({"k": 5}, 0.5, seconds=0, elapsed=0)
    assert len(read_journal(path)[0]) == 6
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE evaluations SET seconds = 1 WHERE number = 3")
    connection.close()
    with pytest.raises(InputError, match="evaluation 3 fails its checksum"):
        read_journal(path)


def test_files_that_are_no_journals_are_refused(tmp_path):
    text, empty, other = tmp_path / "text", tmp_path / "empty", tmp_path / "other"
    text.write_text("k\tscore\n1\t0.8\n" * 100)
    empty.touch()
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    for path, sentence in [
        (text, f"{text} is not a journal"),
        (
            empty,
            f"journal {empty} is damaged: the file is empty; without it the search begins anew",
        ),
        (other, f"{other} is not a journal"),
        (tmp_path, f"{tmp_path} is a folder, not a journal"),
    ]:
        with pytest.raises(InputError) as error:
            Journal(path, **LETTERS)
        assert one_line(error) == sentence
    with pytest.raises(InputError, match="there is no folder"):
        Journal(tmp_path / "nowhere" / "a.journal", **LETTERS)
    with pytest.raises(InputError, match="there is no journal"):
        read_journal(tmp_path / "nowhere")


def test_a_truncated_journal_is_refused(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    fill(whole)
    contents = whole.read_bytes()
    for size in [*range(1, 200, 17), *range(200, len(contents), 997), len(contents) - 1]:
        cut.write_bytes(contents[:size])
        with pytest.raises(InputError) as error:
            Journal(cut, **LETTERS)
        assert str(cut) in one_line(error)


def test_a_flipped_byte_is_noticed_or_harmless(tmp_path):
    whole, flipped = tmp_path / "whole", tmp_path / "flipped"
    evaluations, stops = fill(whole)
    contents = whole.read_bytes()
    places = [*range(100), *random.Random(0).sample(range(100, len(contents)), 700)]
    sentences = []
    for place in places:
        for beside in tmp_path.glob("flipped-*"):
            beside.unlink()
        damaged = bytearray(contents)
        damaged[place] ^= 0xFF
        flipped.write_bytes(damaged)
        try:
            journal = Journal(flipped, **LETTERS)
        except InputError as error:
            sentences.append(str(error))
            continue
        with journal:
            assert list(journal) == evaluations
            assert [e.seconds for e in journal] == [e.seconds for e in evaluations]
            assert journal.stops == stops
    assert not any("\n" in sentence for sentence in sentences)
    # Much of a small SQLite file is unused space, where a flipped byte changes nothing.
    assert len(sentences) > len(places) / 4


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE evaluations SET result = replace(result, '0.8', '0.9') WHERE number = 2",
        "UPDATE evaluations SET seconds = 0 WHERE number = 2",
        "DELETE FROM evaluations WHERE number = 2",
        "UPDATE evaluations SET number = number + 100",
        "UPDATE evaluations SET candidate = x'00' WHERE number = 2",
        "UPDATE stops SET evaluations = 3",
        "UPDATE belongs_to SET data = 'x'",
        "DELETE FROM belongs_to",
        "DROP TABLE stops",
    ],
)
def test_a_row_that_was_changed_is_noticed(tmp_path, tampering):
    path = tmp_path / "a.journal"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute(tampering)
    connection.commit()
    connection.close()
    with pytest.raises(InputError) as error:
        Journal(path, **LETTERS)
    assert one_line(error).startswith(f"journal {path} is damaged: ")


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE INDEX more ON evaluations (candidate)",
        "CREATE TRIGGER more AFTER INSERT ON evaluations BEGIN DELETE FROM evaluations; END",
        "ALTER TABLE evaluations ADD COLUMN more AS (zeroblob(1000000000))",
        # Rows without end, in place of a table.
        "DROP TABLE belongs_to; CREATE VIEW belongs_to AS WITH RECURSIVE n(k) AS (SELECT 1 UNION "
        "ALL SELECT k FROM n) SELECT k AS data, 'x' AS search, '' AS checksum FROM n",
    ],
)
def test_other_tables_than_ours_are_refused_before_they_are_read(tmp_path, statements):
    path = tmp_path / "a.journal"
    fill(path, 3)
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    for read in (read_journal, lambda path: Journal(path, **LETTERS)):
        with pytest.raises(InputError) as error:
            read(path)
        words = f"journal {path} is damaged: its tables are not those of a journal"
        assert one_line(error).startswith(words)


def forge(path, statement, *values):
    """Change a journal, and set its checksums right."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement, values)
    connection.text_factory = lambda content: content.decode(errors="replace")
    kinds = {"belongs_to": "", "evaluations": "evaluation", "stops": "stop"}
    for table, kind in kinds.items():
        for number, *row, _ in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():
            found = _checksum(kind, row)
            connection.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (found, number))
    connection.close()


@pytest.mark.parametrize(
    ("statement", "value", "words"),
    [
        ("UPDATE evaluations SET result = ? WHERE number = 2", "{", "evaluation 2 is no JSON"),
        ("UPDATE evaluations SET result = ?", "[" * 10_000, "evaluation 1 is no JSON"),
        ("UPDATE evaluations SET candidate = ? WHERE number = 1", "3", "names no candidate"),
        ("UPDATE evaluations SET candidate = ?", '{"k":1}', "evaluation 2 is of another kind, or"),
        ("UPDATE evaluations SET candidate = ?", b"{}", "evaluation 1 is of another kind"),
        ("UPDATE evaluations SET seconds = ?", "long", "evaluation 1 is of another kind"),
        ("UPDATE evaluations SET result = CAST(? AS TEXT)", b"\xff", "ecode to UTF-8"),
        ("UPDATE stops SET reason = ?", b"x", "a record of where it stopped is of another kind"),
        ("UPDATE belongs_to SET data = ?", b"x", "what it belongs to is no text"),
        ("UPDATE belongs_to SET search = ?", "{", "the description of the search is no JSON"),
    ],
)
def test_a_forged_row_is_refused_though_its_checksum_is_right(tmp_path, statement, value, words):
    path = tmp_path / "a.journal"
    fill(path, 3)
    forge(path, statement, value)
    with pytest.raises(InputError) as error:
        Journal(path, **LETTERS)
    assert one_line(error).startswith(f"journal {path} is damaged: ")
    assert words in one_line(error)


def test_a_score_too_large_for_a_number_is_told(tmp_path):
    path = tmp_path / "a.journal"
    fill(path, 3)
    forge(path, "UPDATE evaluations SET result = ? WHERE number = 1", "1" + "0" * 400)
    (evaluation, *_), _ = read_journal(path)
    with pytest.raises(InputError, match="a score that is too large for a number"):
        _ = evaluation.score


def test_a_journal_is_open_once(tmp_path):
    path = tmp_path / "a.journal"
    with Journal(path, **LETTERS), pytest.raises(InputError) as error:
        Journal(path, **LETTERS)
    assert one_line(error) == f"journal {path} is in use by another process"
    with Journal(path, **LETTERS):
        pass


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=2, max_size=2))
@settings(deadline=None)
def test_a_fingerprint_tells_data_apart(parts):
    first, second = parts
    assert (fingerprint(first) == fingerprint(second)) == (first == second)
    arrays = np.array(first, dtype=np.int32), np.array(second, dtype=np.int32)
    assert (fingerprint(arrays[0]) == fingerprint(arrays[1])) == (first == second)


def test_a_fingerprint_does_not_depend_on_the_order_of_memory():
    codes = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert fingerprint(codes) == fingerprint(np.asfortranarray(codes))
    assert fingerprint(codes) != fingerprint(codes.reshape(4, 3))
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


FULL = """
import resource, signal, sys
from featloom.search import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
with Journal(sys.argv[1], data="d", search={"m": "x" * 3000}) as journal:
    for k in range(40):
        journal.append({"k": k}, {"score": 1.0, "why": "y" * 500}, seconds=0.1, elapsed=0.1)
        print(k, flush=True)
"""


@pytest.mark.parametrize("room", [1_000, 5_000, 9_000, 14_000, 18_000, 22_000, 60_000])
def test_a_journal_for_which_there_is_no_room_is_told_of_and_never_damaged(tmp_path, room):
    """A limit on the size of files stands in for a full disk."""
    pytest.importorskip("resource", reason="this system has no such limits")
    path = tmp_path / "a.journal"
    command = [sys.executable, "-c", FULL, str(path), str(room)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"journal {path} cannot be written: " in ended.stderr
    with Journal(path, data="d", search={"m": "x" * 3000}) as journal:
        assert len(journal) >= len(ended.stdout.splitlines())
