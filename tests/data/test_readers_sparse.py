"""Sparse rows: SVMlight text and SciPy archives with their side files."""

from __future__ import annotations

import io
import lzma
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featloom.data.readers import load_arrays, read_matrix_folder, read_sparse, read_svmlight
from featloom.errors import InputError, ReadError

NAME = "toy.svm"  # of a file that tests write


def fails(path, words, **options):
    with pytest.raises(ReadError) as caught:
        read_svmlight(path, **options)
    assert str(caught.value) == f"{path}{words}"


def test_features_are_counted_from_1_unless_0_occurs(write):
    one = read_svmlight(write("+1 1:1 3:1\n-1 2:1\n1 2:1.0 3:0\n"))
    assert one.to_csr().toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert one.names == ["x1", "x2", "x3"]
    assert (one.classes, one.labels.tolist()) == (("1", "-1"), [0, 1, 0])
    zero = read_svmlight(write("1 0:1 2:1\n-1 1:1\n1 1:1\n"))
    assert zero.names == ["x0", "x1", "x2"]
    told = read_svmlight(write("1 1:1\n-1 2:1\n1 2:1\n"), zero_based=True)
    assert told.shape == (3, 3)


def test_names_come_from_a_list_or_a_file(write):
    path = write("a 1:1\nb 3:1\na 2:1\n")
    names = write("CAP\nPrev=in\nPrev=at\n", "features.txt")
    matrix = read_svmlight(path, names=names)
    assert matrix.families == ("CAP", "Prev")
    assert matrix.row_names(1) == ["Prev=at"]
    with pytest.raises(InputError, match=r"2 feature names, but .* has feature number 3"):
        read_svmlight(path, names=["CAP", "Prev=in"])
    twice = write("CAP\nCAP\n", "twice.txt")
    with pytest.raises(
        ReadError, match=r"twice.txt:2: feature 'CAP' appears twice, first in line 1"
    ):
        read_svmlight(path, names=twice)


def test_comments_and_blank_lines_are_no_rows(write):
    matrix = read_svmlight(write("# made today\n\n1 1:1 # first\n-1 2:1\n1 2:1#x\n"))
    assert len(matrix) == 3


def test_a_query_number_is_a_group(write):
    matrix = read_svmlight(write("1 qid:7 1:1\n0 qid:7 2:1\n1 qid:9 1:1\n"))
    assert (matrix.group_names, matrix.groups.tolist()) == (("7", "9"), [0, 0, 1])
    fails(write("1 qid:7 1:1\n0 2:1\n"), ":2: some rows have a qid and others have none")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "1 1:1 3:0.5",
            ":3:7: feature 3 has the value 0.5; features must be binary (0 or 1)",
        ),
        ("1 1:1 3:nan", ":3:7: feature 3 has the value nan; features must be binary (0 or 1)"),
        ("1  2:x", ":3:4: the value of feature 2 is 'x', no number"),
        ("1 2:", ":3:3: the value of feature 2 is '', no number"),
        ("1 two:1", ":3:3: 'two:1' is not feature:value"),
        ("1 2", ":3:3: '2' is not feature:value"),
        ("1 ２:1", ":3:3: '２:1' is not feature:value"),
        ("1 99999999999:1", ":3:3: feature number 99999999999 is too large"),
        ("1 2:1 2:1", ":3: feature 2 appears twice"),
        ("2:1 3:1", ":3:1: no class before the features"),
    ],
)
def test_faults_name_line_and_character(write, line, words):
    path = write(f"1 1:1\n-1 2:1\n{line}\n1 1:1\n")
    fails(path, words)
    with pytest.warns(UserWarning, match="1 row skipped"):
        assert len(read_svmlight(path, on_bad_row="skip")) == 3


def test_a_feature_that_appears_twice_in_a_long_row_is_found_at_once(write):
    features = " ".join(f"{j}:1" for j in [*range(1, 300_000), 299_999])
    fails(write(f"1 {features}\n-1 1:1\n"), ":1: feature 299999 appears twice")


def test_files_that_hold_no_data_set(write):
    fails(write("# nothing\n"), ": no rows")
    fails(write("1 1:1\n1 2:1\n"), ": one class only in column 'class': '1'; two are needed")
    assert read_svmlight(write("1 1:1\n1 2:1\n"), require_labels=False).shape == (2, 2)
    words = ": feature number 999,999,999; without names there can be 8,388,608 features"
    fails(write("1 999999999:1\n-1 1:1\n"), words)


binary = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.tuples(st.sampled_from("ABC"), st.sets(st.integers(1, width))), min_size=1, max_size=8
    )
)


@settings(deadline=None)
@given(binary)
def test_sparse_rows_are_read_back_as_they_were_written(folder, rows):
    path = folder / "any.svm"
    text = [f"{label} {' '.join(f'{j}:1' for j in features)}\n" for label, features in rows]
    path.write_text("".join(text))
    matrix = read_svmlight(path, require_labels=False)
    for row, (label, features) in enumerate(rows):
        assert matrix.row_names(row) == [f"x{j}" for j in sorted(features)]
        assert matrix.classes[matrix.labels[row]] == label


X = sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0]], dtype=np.int8))


def test_an_archive_with_lists_beside_it(tmp_path):
    path = tmp_path / "X.npz"
    sparse.save_npz(path, X)
    matrix = read_sparse(
        path, names=["P=a", "P=b", "CAP"], labels=["N", "V", "N"], groups=[4, 4, 2]
    )
    assert (matrix.to_csr() != X).nnz == 0
    assert (matrix.classes, matrix.labels.tolist()) == (("N", "V"), [0, 1, 0])
    assert (matrix.group_names, matrix.groups.tolist()) == (("2", "4"), [1, 1, 0])
    assert read_sparse(path).names == ["x0", "x1", "x2"]


def test_an_archive_that_holds_everything(tmp_path):
    path = tmp_path / "all.npz"
    np.savez(
        path,
        indptr=X.indptr,
        indices=X.indices,
        shape=X.shape,
        feats=np.array(["a", "b", "c"]),
        sense=np.array([1, 0, 1]),
        senses=np.array(["go.01", "go.02"]),
    )
    matrix = read_sparse(path, names="feats", labels="sense", classes="senses")
    assert matrix.row_names(0) == ["a", "c"]
    assert (matrix.classes, matrix.labels.tolist()) == (("go.01", "go.02"), [1, 0, 1])
    with pytest.raises(ReadError, match="labels beyond the 1 names"):
        read_sparse(path, labels="sense", classes=["go.01"])


def make_folder(folder, *, labels=True, docs=True):
    sparse.save_npz(folder / "X.npz", X)
    (folder / "features.txt.xz").write_bytes(lzma.compress(b"P=a\nP=b\nCAP\n"))
    if labels:
        np.savez(folder / "labels.npz", y=np.array([1, 0, 1]), doc=np.array([0, 2, 2]))
    if docs:
        (folder / "docs.tsv").write_text("A\tnews\nB\tnews\nC\tfiction\n")


def test_a_folder_is_one_data_set(tmp_path):
    make_folder(tmp_path)
    matrix = read_matrix_folder(tmp_path)
    assert matrix.families == ("P", "CAP")
    assert (matrix.classes, matrix.labels.tolist()) == (("0", "1"), [1, 0, 1])
    assert (matrix.group_names, matrix.groups.tolist()) == (("A", "B", "C"), [0, 2, 2])
    assert matrix.source == str(tmp_path / "X.npz")


def test_a_folder_may_lack_documents_and_labels(tmp_path):
    make_folder(tmp_path, docs=False)
    assert read_matrix_folder(tmp_path).group_names == ("0", "2")
    (tmp_path / "labels.npz").unlink()
    assert read_matrix_folder(tmp_path).labels is None
    (tmp_path / "X.npz").unlink()
    with pytest.raises(ReadError, match=r"X.npz: no such file"):
        read_matrix_folder(tmp_path)
    with pytest.raises(ReadError, match="gone: no such folder"):
        read_matrix_folder(tmp_path / "gone")


def test_faults_of_archives(tmp_path):
    path = tmp_path / "X.npz"

    def fails(words, **options):
        with pytest.raises(ReadError) as caught:
            read_sparse(path, **options)
        assert str(caught.value) == f"{path}: {words}"

    sparse.save_npz(path, X * 2)
    fails("row 0, feature 0 has the value 2; features must be binary (0 or 1)")
    sparse.save_npz(path, X.tocsc())
    fails("a matrix in csc format; csr is expected")
    sparse.save_npz(path, X)
    fails("2 labels for 3 rows", labels=[0, 1])
    fails("2 feature names for 3 features", names=["a", "b"])
    fails("one class only in column 'y': '1'; two are needed", labels=[1, 1, 1])
    np.savez(path, indptr=X.indptr, indices=X.indices + 5, shape=X.shape)
    fails("indptr, indices, data and shape do not make a CSR matrix")
    np.savez(path, a=X.indptr)
    fails("no array 'indptr'; this is not a CSR matrix")
    path.write_bytes(b"PK\x03\x04 and no more")
    fails("this is not an .npz archive, or it is damaged")
    path.write_bytes(b"")
    fails("the file is empty")


def test_python_objects_are_never_loaded(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, y=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(ReadError, match="array 'y' holds Python objects, which are never loaded"):
        load_arrays(path)


def test_an_array_that_claims_more_than_it_has_is_refused(tmp_path):
    stored = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    np.lib.format.write_array_header_1_0(stored, header)
    path = tmp_path / "huge.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("indptr.npy", stored.getvalue() + b"\0" * 16)
    with pytest.raises(ReadError, match="array 'indptr' is cut short or damaged"):
        load_arrays(path)


def archive_of(path, members):
    """An archive whose arrays are as large as they claim, of a type and shape of one's choice."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, kind, shape, content in members:
            stored = io.BytesIO()
            header = {"descr": kind, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stored, header)
            archive.writestr(f"{name}.npy", stored.getvalue() + content)


def test_many_zeros_in_a_small_file_are_refused_before_they_are_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    zeros = bytes(2**22)
    archive_of(path, [(f"a{j}", "<i4", (2**20,), zeros) for j in range(3)])
    assert path.stat().st_size < 2**15
    with pytest.raises(ReadError, match=r"take 12,583,\d+ bytes; at most 12,000,000 are read"):
        load_arrays(path, most_bytes=12_000_000)
    assert len(load_arrays(path)) == 3


@pytest.mark.parametrize("kind", ["<U0", "|S0", "|V0", "<M8[s]"])
def test_arrays_of_neither_numbers_nor_text_are_refused(tmp_path, kind):
    path = tmp_path / "odd.npz"
    # Nothing at all can be written a million million times in no bytes.
    many = (1,) if kind == "<M8[s]" else (10**12,)
    archive_of(path, [("y", kind, many, bytes(8) if kind == "<M8[s]" else b"")])
    with pytest.raises(ReadError, match="array 'y' holds neither numbers nor text"):
        load_arrays(path)
