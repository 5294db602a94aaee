"""TiMBL's files: what is written can be read again, by us and by TiMBL itself."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.readers import read_timbl
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.formats.timbl import (
    read_probabilities,
    read_weights,
    write_instances,
    write_weights,
)
from featloom.methods.memory_search.export import write_timbl

SETS = ("dimin", "pp", "gs")
FLAGS = {"tabs": "Tabbed", "commas": "C4.5", "blanks": "Columns"}

# A tab file may hold all but tabs, line ends and NUL; U+FEFF can be a mark of byte order.
symbols = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0\ufeff"), min_size=1
)
weightings = st.dictionaries(
    st.sampled_from(["nw", "gr", "ig", "sv", "x2"]),
    st.dictionaries(st.integers(1, 6), st.floats(0, 1e6)),
    min_size=1,
)


@pytest.fixture(scope="module")
def timbl():
    """Runs the real program in a folder."""
    program = shutil.which("timbl")
    if program is None:
        pytest.skip("the program timbl is not installed")

    def run(folder: Path, *arguments: str) -> str:
        answer = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=60
        )
        # Without a test file TiMBL ends with 1 even when all went well.
        assert answer.returncode == 0 or "-t" not in arguments, answer.stderr
        return answer.stdout + answer.stderr

    return run


@pytest.fixture(scope="module")
def letters():
    return NominalTable.from_columns(
        {"letter": ["c", "c", "k", "g"], "next": ["a", "e", "a", "h"]}, labels=["K", "S", "K", "-"]
    )


def test_a_table_comes_back_from_the_file(letters, tmp_path):
    for format in FLAGS:
        path = tmp_path / format
        write_timbl(letters, path, format=format)
        again = read_timbl(path, format=format, columns=["letter", "next", "sound"])
        assert np.array_equal(again.codes, letters.codes)
        assert again.vocabularies == letters.vocabularies
        assert again.classes == letters.classes


@pytest.mark.filterwarnings("ignore:.* constant and can tell no classes apart")
@given(st.lists(st.tuples(symbols, symbols, symbols), min_size=1, max_size=8))
def test_any_symbols_without_tabs_come_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("instances") / "rows.tsv"
    write_instances(path, rows)
    table = read_timbl(path, format="tabs", require_labels=False)
    again = [
        (table.value("f1", row), table.value("f2", row), table.classes[table.labels[row]])
        for row in range(len(table))
    ]
    assert again == rows


@pytest.mark.parametrize(
    ("format", "row", "words"),
    [
        ("tabs", ("a\tb", "A"), r"row 2: value 'a\\tb' holds a tab, which separates values here"),
        ("tabs", ("a\nb", "A"), r"row 2: value 'a\\nb' holds a line end or a NUL"),
        ("tabs", ("", "A"), "row 2: a value is empty, and TiMBL would skip the row"),
        ("commas", ("a", "1,5"), "row 2: value '1,5' holds a comma, which separates values here"),
        ("commas", ("a ", "A"), "row 2: value 'a ' has a blank at an end, which would be lost"),
        ("commas", ("a", "etc."), "row 2: class 'etc.' ends in a full stop, which would be lost"),
        ("blanks", ("New York", "A"), "row 2: value 'New York' holds a blank, which separates"),
        ("blanks", ("a", "a\u00a0b"), r"row 2: value .* holds a blank, which separates"),
        ("tabs", ("a", "b", "A"), "row 2: 3 values, 2 expected"),
        ("lines", ("a", "A"), "format is 'lines'; it must be one of tabs, commas, blanks"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_in_one_line(tmp_path, format, row, words):
    with pytest.raises(InputError, match=words) as told:
        write_instances(tmp_path / "rows", [("x", "A"), row], format=format)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_a_value_may_end_in_the_full_stop_that_a_class_may_not(tmp_path):
    write_instances(tmp_path / "rows", [("etc.", "A")], format="commas")
    with pytest.raises(InputError, match=r"row 2: class 'etc\.' ends in a full stop"):
        write_instances(tmp_path / "rows", [("etc.", "A"), ("A", "etc.")], format="commas")


def test_a_table_without_rows_or_classes_is_refused(letters, tmp_path):
    with pytest.raises(InputError, match="no rows to write"):
        write_timbl(letters.take(np.arange(0)), tmp_path / "rows")
    with pytest.raises(InputError, match="without classes"):
        write_timbl(replace(letters, labels=None), tmp_path / "rows")


def test_an_unknown_value_is_written_only_if_one_says_how(letters, tmp_path):
    other = NominalTable.from_columns({"letter": ["c", "z"], "next": ["a", "a"]}, labels=["K", "Z"])
    test = letters.recode(other)
    with pytest.raises(InputError, match="row 2 has no value in column 'letter'; 'unknown' says"):
        write_timbl(test, tmp_path / "rows")
    write_timbl(test, tmp_path / "rows", unknown="?")
    assert (tmp_path / "rows").read_text() == "c\ta\tK\n?\ta\t?\n"
    with pytest.raises(InputError, match="row 2 has no class"):
        write_timbl(letters.recode(replace(other, codes=other.codes[[0, 0]])), tmp_path / "rows")


@pytest.mark.parametrize("format", FLAGS)
def test_timbl_reads_what_we_write(letters, format, tmp_path, timbl):
    write_timbl(letters, tmp_path / "train", format=format)
    timbl(tmp_path, "-f", "train", "-F", FLAGS[format], "-m", "M", "-U", "prob")
    read = read_probabilities(tmp_path / "prob")
    assert read.classes == letters.classes
    assert tuple(tuple(values) for values in read.features.values()) == letters.vocabularies
    assert read.features[1]["c"].tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("name", SETS)
def test_weights_of_timbl_come_back_to_the_last_digit(name, conformance_folder, tmp_path):
    theirs = conformance_folder / "timbl" / "cases" / f"{name}_weights" / "weights.wgt"
    weights = read_weights(theirs)
    assert list(weights) == ["nw", "gr", "ig", "sv", "x2"]
    write_weights(tmp_path / "ours.wgt", weights)
    assert read_weights(tmp_path / "ours.wgt") == weights
    without_head = theirs.read_text().split("\n", 3)[3]
    assert (tmp_path / "ours.wgt").read_text() == without_head


@given(weightings)
def test_weights_come_back_to_fifteen_digits(tmp_path_factory, weights):
    path = tmp_path_factory.mktemp("weights") / "some.wgt"
    write_weights(path, weights, n_features=6)
    again = read_weights(path)
    assert list(again) == list(weights)
    for name, section in weights.items():
        assert again[name] == {f: float(f"{section[f]:.15g}") for f in sorted(section)}
    write_weights(path, again, n_features=6)
    assert read_weights(path) == again


def test_timbl_takes_our_weights_for_its_own(conformance_folder, tmp_path, timbl):
    data = conformance_folder / "timbl" / "data"
    theirs = conformance_folder / "timbl" / "cases" / "dimin_weights" / "weights.wgt"
    write_weights(tmp_path / "ours.wgt", read_weights(theirs), facts={"Classes": 5})
    files = ["-f", str(data / "dimin.train.tsv"), "-t", str(data / "dimin.test40.tsv")]
    settings = [*files, "-F", "Tabbed", "-k", "3", "+vdi+db"]
    for name in ("gr", "ig", "x2", "sv"):
        timbl(tmp_path, *settings, "-w", f"ours.wgt:{name}", "-o", "with_ours.txt")
        timbl(tmp_path, *settings, "-w", name, "-o", "with_theirs.txt")
        ours = _instances_and_distances(tmp_path / "with_ours.txt")
        assert ours == _instances_and_distances(tmp_path / "with_theirs.txt")


def test_timbl_ignores_the_features_that_our_file_ignores(letters, tmp_path, timbl):
    write_timbl(letters, tmp_path / "train")
    write_weights(tmp_path / "ours.wgt", {"gr": {1: 0.5}}, n_features=2)
    said = timbl(tmp_path, "-f", "train", "-t", "train", "-F", "Tabbed", "-w", "ours.wgt:gr")
    assert "Feature 2 has value: 'Ignore'" in said


def test_features_that_timbl_ignored_have_no_weights_and_no_probabilities(letters, tmp_path, timbl):
    write_timbl(letters, tmp_path / "train")
    timbl(
        tmp_path, "-f", "train", "-F", "Tabbed", "-m", "M:I1", "-W", "their.wgt", "-U", "their.prob"
    )
    assert list(read_weights(tmp_path / "their.wgt")["ig"]) == [2]
    assert list(read_probabilities(tmp_path / "their.prob").features) == [2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a.wgt: no weights: this is not a file of TiMBL's weights"),
        ("1\t0.5\n", "a.wgt:1: this is not a feature and its weight"),
        ("# gr\n1\n", "a.wgt:2: this is not a feature and its weight"),
        ("# gr\n1\t1\n3\t1\n", "a.wgt:3:1: feature 3, 2 expected"),
        ("# gr\n1\tmuch\n", "a.wgt:2:2: 'much' is not a number"),
        ("# gr\n1\tnan\n", "a.wgt:2:2: 'nan' is not a number"),
        ("# gr\n1\t1\n#\n# gr\n", "a.wgt:4: 'gr' appears twice"),
        ("# gr\n1\t1\n#\n1\t1\n", "a.wgt:4: this is not a feature and its weight"),
    ],
)
def test_a_file_that_holds_no_weights_is_told_with_its_line(tmp_path, text, words):
    (tmp_path / "a.wgt").write_text(text)
    with pytest.raises(ReadError) as told:
        read_weights(tmp_path / "a.wgt")
    assert str(told.value).removeprefix(f"{tmp_path}/") == words


def test_a_file_that_is_absent_or_no_text_is_told(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        read_weights(tmp_path / "a.wgt")
    (tmp_path / "a.wgt").write_bytes(b"# gr\n\xff\n")
    with pytest.raises(ReadError, match="not UTF-8"):
        read_weights(tmp_path / "a.wgt")
    with pytest.raises(ReadError, match="cannot be read: is a directory"):
        read_weights(tmp_path)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, "no weights to write"),
        ({"gr": {}}, "no weights to write"),
        ({"mi": {1: 1.0}}, "no weighting 'mi'; there are nw, gr, ig, sv, x2, sd"),
        ({"gr": {1: float("nan")}}, "gr: the weight of feature 1 is nan"),
        ({"gr": {0: 1.0, 1: 1.0}}, "gr: no feature 0; there are 1"),
    ],
)
def test_weights_that_cannot_be_written_are_told(tmp_path, weights, words):
    with pytest.raises(InputError, match=words):
        write_weights(tmp_path / "a.wgt", weights)


@pytest.mark.parametrize("name", ["dimin", "gs"])
def test_probabilities_of_timbl_are_those_of_the_counts(name, conformance_folder):
    folder = conformance_folder / "timbl"
    read = read_probabilities(folder / "cases" / f"{name}_weights" / "valueclass.prob")
    table = read_timbl(folder / "data" / f"{name}.train.tsv", format="tabs")
    assert read.classes == table.classes
    assert list(read.features) == list(range(1, len(table.columns) + 1))
    for j, vocabulary in enumerate(table.vocabularies):
        counts = np.zeros((len(vocabulary), len(table.classes)))
        np.add.at(counts, (table.codes[:, j] - 1, table.labels), 1)
        expected = counts / counts.sum(axis=1, keepdims=True)
        assert tuple(read.features[j + 1]) == vocabulary
        assert np.abs(np.array(list(read.features[j + 1].values())) - expected).max() <= 0.0005001


def test_blanks_and_backslashes_in_values_are_read_as_they_were(tmp_path, timbl):
    rows = [("New York", "A"), ("a\\b", "B"), ("a\\_b", "A b")]
    write_instances(tmp_path / "train", rows)
    timbl(tmp_path, "-f", "train", "-F", "Tabbed", "-m", "M", "-U", "prob")
    read = read_probabilities(tmp_path / "prob")
    assert list(read.features[1]) == [value for value, _ in rows]
    assert read.classes == ("A", "B", "A b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a.prob:1: no line of targets: this is not a file of TiMBL's probabilities"),
        ("Targets : A,B.\nx\t1\t0\n", "a.prob:2:1: value 'x' of no feature, or a second time"),
        (
            "Targets : A,B.\nfeature # 1 Matrix: \nx\t1\t0\t0\n",
            "a.prob:3: 3 probabilities for 2 classes",
        ),
        ("Targets : A.\nfeature # 1 Matrix: \nx\ty\n", "a.prob:3:2: 'y' is not a number"),
        ("Targets : A.\nfeatures\n", "a.prob:2: this is no value and no feature"),
    ],
)
def test_a_file_that_holds_no_probabilities_is_told_with_its_line(tmp_path, text, words):
    (tmp_path / "a.prob").write_text(text)
    with pytest.raises(ReadError) as told:
        read_probabilities(tmp_path / "a.prob")
    assert str(told.value).removeprefix(f"{tmp_path}/") == words


def _instances_and_distances(path: Path) -> list[tuple[str, float]]:
    """Lines of TiMBL's output; the last cell is a distance, which is a sum of rounded weights."""
    lines = [line.rsplit(maxsplit=1) for line in path.read_text().splitlines()]
    return [(rest, round(float(distance), 9)) for rest, distance in lines]
