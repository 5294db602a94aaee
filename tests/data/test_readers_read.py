"""One call reads every format, and no bytes whatever make a reader fail in an untold way."""

from __future__ import annotations

import gzip
import io
import logging
import lzma
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import (
    format_of,
    read,
    read_conll,
    read_conllu,
    read_sparse,
    read_svmlight,
    read_table,
    read_timbl,
)
from featloom.data.readers.lines import read_lines
from featloom.data.readers.tables import read_table_blocks
from featloom.errors import InputError, ReadError

TREE = b"1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
CHUNKS = b"He B-NP\nran B-VP\n\nStop B-VP\n"


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.csv", b"a,b,c\n1,2,3\n", "table"),
        ("a.csv", b"=,=,c\n=,a,T\n", "timbl"),
        ("a.tsv", b"a\tb\tc\n1\t2\t3\n", "table"),
        ("a.tsv.gz", gzip.compress(b"_\t_\tK\n_\ta\tS\n", mtime=0), "timbl"),
        ("a.parquet", b"PAR1", "table"),
        ("a.conll", CHUNKS, "conll"),
        ("a.iob2", CHUNKS, "conll"),
        ("a.txt", CHUNKS, "conll"),
        ("a.conll", TREE, "conllu"),
        ("a.conllu", TREE, "conllu"),
        ("a.conllu.xz", lzma.compress(TREE), "conllu"),
        ("a.svm", b"1 1:1\n", "svmlight"),
        ("a.libsvm", b"1 1:1\n", "svmlight"),
        ("a.npz", b"PK", "sparse"),
        ("a.train", b"a,b,T\n", "timbl"),
        ("a.data", b"a,b,T\n", "timbl"),
        ("trees", b"# text = x\n" + TREE, "conllu"),
        ("chunks", CHUNKS, "conll"),
        ("rows", b"+1 qid:3 4:1 5:1 # x\n", "svmlight"),
        ("instances", b"a b T\nc d E\n", "timbl"),
    ],
)
def test_the_format_is_told_by_ending_or_content(tmp_path, name, content, format):
    (tmp_path / name).write_bytes(content)
    assert format_of(tmp_path / name) == format


def test_what_cannot_be_told_is_an_error(tmp_path):
    (tmp_path / "word").write_text("word\n")
    with pytest.raises(ReadError, match="cannot tell what kind of file this is; name its format"):
        format_of(tmp_path / "word")
    with pytest.raises(ReadError, match=r"this is a folder without X.npz"):
        format_of(tmp_path)
    with pytest.raises(ReadError, match="gone: no such file"):
        format_of(tmp_path / "gone")


def test_read_says_which_reader_it_chose(tmp_path, caplog):
    path = tmp_path / "a.conll"
    path.write_bytes(CHUNKS)
    with caplog.at_level(logging.INFO, logger="featloom"):
        table = read(path)
    assert caplog.messages == [f"reading {path} as sentences in columns"]
    assert table.classes == ("B-NP", "B-VP")


def test_target_groups_and_options_go_to_the_reader(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("doc,a,class\n1,x,N\n2,y,V\n2,x,V\n")
    table = read(path, target="class", groups="doc", on_bad_row="skip")
    assert (table.columns, table.group_names) == (("a",), ("1", "2"))
    assert read(path, format="timbl").columns == ("f1", "f2")
    with pytest.raises(
        InputError, match="is read as a table with a header, for which there is no 'k'"
    ):
        read(path, k=1)
    with pytest.raises(InputError, match="format is 'xml'; it must be one of table, timbl"):
        read(path, format="xml")
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    assert isinstance(read(tmp_path / "a.svm"), FeatureMatrix)
    with pytest.raises(InputError, match="an SVMlight file, for which there is no 'target'"):
        read(tmp_path / "a.svm", target="x")


def archive() -> bytes:
    stored = io.BytesIO()
    sparse.save_npz(stored, sparse.eye(3, format="csr", dtype=np.int8), compressed=False)
    return stored.getvalue()


def parquet() -> bytes:
    stored = io.BytesIO()
    pl.DataFrame({"a": ["x", "y"] * 3, "class": ["N", "V"] * 3}).write_parquet(stored)
    return stored.getvalue()


READERS = {
    "csv": (lambda path: read_table(path, target=-1), b'a,class\n"x\n""",N\ny,V\nz,V\n'),
    "tsv": (lambda path: read_table(path, target=-1), b"a\tclass\nx\tN\ny\tV\nz\tV\n"),
    "train": (read_timbl, b"a,b,T.\nc,b,E.\na,d,E\n"),
    "conll": (read_conll, b"-DOCSTART- O\n\n" + CHUNKS),
    "iob2": (read, b"# newdoc id = 1\n1\ta\tO\n2\tb\tB\t-\tx\n"),
    "conllu": (read_conllu, TREE),
    "svm": (read_svmlight, b"1 qid:1 1:1\n0 qid:2 2:1\n"),
    "npz": (read_sparse, archive()),
    "parquet": (lambda path: read_table(path, target=-1), parquet()),
    "gz": (lambda path: list(read_lines(path)), gzip.compress(CHUNKS, mtime=0)),
    "xz": (lambda path: list(read_lines(path)), lzma.compress(CHUNKS)),
}


def attempt(path, reader):
    """Read; a fault must be one that a user can be told about, in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader(path)
        except InputError as error:
            words = str(error)
        else:
            words = ""
    assert "\n" not in words


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(READERS)), st.binary(max_size=60))
def test_arbitrary_bytes_are_read_or_refused(folder, ending, content):
    path = folder / f"bytes.{ending}"
    path.write_bytes(content)
    attempt(path, READERS[ending][0])
    attempt(path, format_of)
    attempt(path, lambda path: read(path, on_bad_row="skip"))


# A damaged Parquet file makes the decoder print its own complaint before it is refused.


@pytest.mark.parametrize(
    ("reader", "line", "place"),
    [
        (read_table, "," * 2**20, ":1"),
        (read_table, '"a"' + "," * 2**20, ":1"),
        (lambda path: list(read_table_blocks(path)), "," * 2**20, ":1"),
        (read_timbl, "a," * 2**20 + "T", ":1"),
        (read_conll, "a " * 2**20 + "O", ""),
    ],
    ids=["table", "quoted table", "table in blocks", "timbl", "conll"],
)
def test_a_line_of_more_columns_than_are_read_is_refused(tmp_path, reader, line, place):
    """A few kilobytes of .xz: a column each would take gigabytes."""
    path = tmp_path / "wide"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(ReadError) as caught:
        reader(path)
    assert str(caught.value) == f"{path}{place}: 1,048,577 columns; at most 1,048,576 are read"
