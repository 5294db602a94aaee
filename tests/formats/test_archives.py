"""Archives that anybody may have made are read within bounds, or refused in a line."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from featloom.data.readers import load_arrays, read_sparse
from featloom.errors import ReadError


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def archive(members, compression=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as made:
        for name, content in members:
            made.writestr(name, content)
    return stream.getvalue()


def refusal(path, content, **settings):
    path.write_bytes(content)
    with pytest.raises(ReadError) as told:
        load_arrays(path, **settings)
    assert "\n" not in str(told.value)
    return str(told.value).removeprefix(f"{path}: ")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "X.npz"


@pytest.mark.parametrize(
    ("how", "words"), [(zipfile.ZIP_BZIP2, "BZIP2"), (zipfile.ZIP_LZMA, "LZMA")]
)
def test_members_are_stored_or_deflated(path, how, words):
    content = archive([("y.npy", npy(np.zeros(2**20)))], how)
    expected = f"'y.npy' is compressed by {words}; members are stored or deflated"
    assert refusal(path, content) == expected


def test_numpy_and_scipy_write_what_is_read(path):
    np.savez_compressed(path, y=np.arange(1000), words=np.array(["a", "né"]))
    arrays = load_arrays(path)
    assert np.array_equal(arrays["y"], np.arange(1000))
    assert arrays["words"].tolist() == ["a", "né"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_refused(path):
    content = archive(2 * [("y.npy", npy(np.arange(3)))])
    assert refusal(path, content) == "the archive is damaged: a member is there twice"


def test_members_that_lie_over_one_another_are_refused(path):
    content = bytearray(archive([("y.npy", npy(np.arange(3))), ("z.npy", npy(np.arange(3)))]))
    second = content.rindex(b"PK\1\2")
    content[second + 42 : second + 46] = bytes(4)  # where the member begins
    assert refusal(path, bytes(content)) == "the archive is damaged: its members overlap"


def test_a_list_of_members_that_is_longer_than_any_is_refused(path):
    content = bytearray(archive([("y.npy", npy(np.arange(3)))]) + bytes(2**25))
    content += content[content.index(b"PK\5\6") :][:22]
    content[-10:-6] = (2**25).to_bytes(4, "little")
    assert refusal(path, bytes(content)) == "this is not an .npz archive, or it is damaged"


@pytest.mark.parametrize(
    "head",
    [
        b"\x93NUMPY\2\0\xff\xff\xff\x7f{",
        b"\x93NUMPY\1\0\xff\xff{",
        b"\x93NUMPY\1\0\x10\0" + b"(" * 16,
        b"\x93NUMPY\1\0\4\0None",
        b"\x93NUMPY\7\0\4\0None",
        b"",
    ],
)
def test_heads_that_are_none_are_refused(path, head):
    words = refusal(path, archive([("y.npy", head + bytes(100))]))
    assert words in (
        "array 'y' is cut short or damaged",
        "this is not an .npz archive, or it is damaged",
    )


def test_a_shape_below_nothing_is_refused(path):
    content = npy(np.zeros((2, 3))).replace(b"(2, 3)", b"(-2,-3)").replace(b"}  ", b"} ", 1)
    assert refusal(path, archive([("y.npy", content)])) == "array 'y' is cut short or damaged"


def test_texts_count_as_what_python_makes_of_them(path):
    np.savez_compressed(path, words=np.full(100_000, "a"))
    with pytest.raises(ReadError, match=r"the arrays take 26,\d+,\d+ bytes; at most 20,000,000 ar"):
        load_arrays(path, most_bytes=20_000_000)
    assert len(load_arrays(path, most_bytes=30_000_000)["words"]) == 100_000


def test_a_number_of_rows_that_wraps_around_makes_no_matrix(path):
    shape = np.array([255, 3], dtype=np.uint8)
    np.savez(path, indptr=np.empty(0, np.int64), indices=np.empty(0, np.int32), shape=shape)
    with pytest.raises(ReadError, match="indptr, indices, data and shape do not make a CSR matrix"):
        read_sparse(path)
