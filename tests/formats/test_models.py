"""Model files: what is saved comes back, and what was not saved so is refused."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from featloom.errors import InputError, ReadError
from featloom.formats.models import (
    fitting_parts,
    load_model,
    pack_strings,
    save_model,
    unpack_strings,
)

WEIGHTS = np.array([0.5, 0.25, 0.125])
CODES = np.asfortranarray(np.arange(600, dtype=np.int32).reshape(200, 3) % 7)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)
descriptions = st.dictionaries(st.text(), json_values, max_size=4)
numbers = arrays_of.arrays(
    st.sampled_from(
        ["?", "i1", "u1", "<i2", "<i4", ">i4", "<i8", "<u8", "<f2", "<f4", "<f8", ">f8"]
    ),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
names = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "letters.model"
    save_model(path, "memory", {"k": 3}, {"weights": WEIGHTS, "codes": CODES})
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "scratch.model"


def sealed(members, compression=zipfile.ZIP_DEFLATED):
    """An archive with a right checksum, whatever is in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
        archive.comment = b"featloom model " + b"0" * 64
    content = buffer.getvalue()[:-64]
    return content + blake2b(content, digest_size=32).hexdigest().encode()


def npy(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=allow_pickle)
    return buffer.getvalue()


def header(**changes):
    facts = {
        "dtype": WEIGHTS.dtype.str,
        "shape": [3],
        "order": "C",
        "blake2b": blake2b(WEIGHTS.data, digest_size=32).hexdigest(),
    }
    facts |= {name: changes.pop(name) for name in list(changes) if name in facts}
    whole = {
        "schema": 1,
        "kind": "memory",
        "featloom": "1.0",
        "description": {},
        "arrays": {"weights": facts},
    }
    return json.dumps(whole | changes)


def refusal(path, content, **settings):
    path.write_bytes(content)
    with pytest.raises(ReadError) as told:
        load_model(path, **settings)
    assert "\n" not in str(told.value)
    return str(told.value).removeprefix(f"{path}: ")


@given(st.text(min_size=1), descriptions, st.dictionaries(names, numbers, max_size=3))
def test_what_is_saved_comes_back(scratch, kind, description, arrays):
    save_model(scratch, kind, description, arrays)
    model = load_model(scratch, kind=kind)
    assert model.kind == kind
    assert model.description == description
    assert list(model.arrays) == list(arrays)
    for name, array in arrays.items():
        again = model.arrays[name]
        assert again.dtype == array.dtype.newbyteorder("<")
        assert again.shape == array.shape
        # Bytes, so that NaN is compared as well.
        assert again.tobytes() == array.astype(again.dtype).tobytes()


@given(st.lists(st.text()))
def test_strings_come_back(scratch, strings):
    data, offsets = pack_strings(strings)
    save_model(scratch, "names", {}, {"data": data, "offsets": offsets})
    arrays = load_model(scratch).arrays
    assert unpack_strings(arrays["data"], arrays["offsets"]) == strings


def test_half_a_sign_is_no_string():
    with pytest.raises(InputError, match=r"'a\\ud800' is no text that UTF-8 can hold"):
        pack_strings(["a\ud800"])


@settings(max_examples=300)
@given(place=st.integers(0), change=st.integers(1, 255))
def test_one_changed_byte_is_noticed(saved, scratch, place, change):
    content = bytearray(saved)
    content[place % len(content)] ^= change
    refusal(scratch, bytes(content))


@given(length=st.integers(0))
def test_a_file_that_is_cut_short_is_noticed(saved, scratch, length):
    refusal(scratch, saved[: length % len(saved)])


def test_columns_stay_contiguous(saved, scratch):
    scratch.write_bytes(saved)
    codes = load_model(scratch).arrays["codes"]
    assert codes.flags.f_contiguous
    assert codes.flags.writeable
    assert np.array_equal(codes, CODES)
    save_model(scratch, "memory", {}, {"codes": CODES[::2]})
    assert np.array_equal(load_model(scratch).arrays["codes"], CODES[::2])


def test_the_same_model_gives_the_same_file(saved, scratch):
    save_model(scratch, "memory", {"k": 3}, {"weights": WEIGHTS, "codes": CODES})
    assert scratch.read_bytes() == saved


def test_numpy_reads_the_arrays_too(saved):
    with np.load(io.BytesIO(saved), allow_pickle=False) as archive:
        assert np.array_equal(archive["weights"], WEIGHTS)


def test_arrays_are_compressed_where_it_pays(scratch):
    random = np.random.default_rng(0)
    save_model(scratch, "m", {}, {"same": np.zeros(10_000), "noise": random.random(10_000)})
    with zipfile.ZipFile(scratch) as archive:
        kinds = {member.filename: member.compress_type for member in archive.infolist()}
    assert kinds["same.npy"] == zipfile.ZIP_DEFLATED
    assert kinds["noise.npy"] == zipfile.ZIP_STORED


def test_tuples_come_back_as_lists(scratch):
    save_model(scratch, "memory", {"columns": ("a", "b")}, {})
    assert load_model(scratch).description == {"columns": ["a", "b"]}


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"k": float("nan")}, "the description has no place in JSON: Out of range"),
        ({"k": np.arange(3)}, "the description has no place in JSON: .*ndarray"),
        ({"k": "\ud800"}, "the description has no place in JSON"),
        ({"k": {1: "a"}}, "the description has no place in JSON: a key is not a string"),
        ({"k": "a" * 2**24}, "the description is too long; long lists belong in arrays"),
    ],
)
def test_a_description_that_would_not_come_back_is_refused(tmp_path, description, words):
    with pytest.raises(InputError, match=words):
        save_model(tmp_path / "a.model", "memory", description, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("a", np.array([{}], dtype=object), "array 'a' holds Python objects, which are never sav"),
        ("a", np.array(["x"]), "array 'a' is of type <U1, which model files do not hold"),
        ("a", np.array([1j]), "array 'a' is of type complex128, which model files do not hold"),
        ("../a", np.zeros(1), r"'\.\./a' cannot name an array; letters, digits and _\.- can"),
        ("", np.zeros(1), "'' cannot name an array"),
    ],
)
def test_arrays_that_are_no_plain_numbers_are_refused(tmp_path, name, array, words):
    with pytest.raises(InputError, match=words):
        save_model(tmp_path / "a.model", "memory", {}, {name: array})


def test_a_failed_save_keeps_what_was_there(tmp_path, saved):
    path = tmp_path / "a.model"
    path.write_bytes(saved)
    with pytest.raises(InputError):
        save_model(path, "memory", {"k": float("inf")}, {})
    assert path.read_bytes() == saved


def test_what_is_no_model_is_told(scratch, tmp_path):
    assert refusal(scratch, b"") == "not a featloom model"
    assert refusal(scratch, pickle.dumps({"k": 3})) == "not a featloom model"
    plain = io.BytesIO()
    np.savez(plain, weights=WEIGHTS)
    assert refusal(scratch, plain.getvalue()) == "not a featloom model, or cut short"
    assert refusal(scratch, sealed([("weights.npy", npy(WEIGHTS))])) == "not a featloom model"
    with pytest.raises(ReadError, match="no such file"):
        load_model(tmp_path / "none.model")
    with pytest.raises(ReadError, match="cannot be read: is a directory"):
        load_model(tmp_path)


def test_a_model_of_another_kind_is_told(saved, scratch):
    words = "a model of kind 'memory'; 'linear' is expected"
    assert refusal(scratch, saved, kind="linear") == words


def test_a_newer_schema_is_told(scratch):
    content = sealed([("model.json", header(schema=2, arrays="elsewhere"))])
    words = "schema 2 is of a newer featloom; this one reads up to 1"
    assert refusal(scratch, content) == words


def test_objects_are_never_unpickled(scratch):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("an object was unpickled",))

    array = np.array([Trap()], dtype=object)
    members = [
        ("model.json", header(dtype="|O", shape=[1])),
        ("weights.npy", npy(array, allow_pickle=True)),
    ]
    words = "array 'weights' holds Python objects, which are never loaded"
    assert refusal(scratch, sealed(members)) == words
    members[0] = ("model.json", header(shape=[1]))
    assert "damaged" in refusal(scratch, sealed(members))


def test_a_model_that_says_what_it_holds_is_read(scratch):
    scratch.write_bytes(sealed([("model.json", header()), ("weights.npy", npy(WEIGHTS))]))
    assert np.array_equal(load_model(scratch).arrays["weights"], WEIGHTS)


@pytest.mark.parametrize(
    ("head", "members", "words"),
    [
        (header(), [], "the model is damaged: its arrays are not those it lists"),
        (header(), [("b.npy", b"")], "the model is damaged: its arrays are not those it lists"),
        (header(shape=[4]), None, "array 'weights' is damaged"),
        (header(shape=[3, 1]), None, "array 'weights' is damaged"),
        (header(dtype="<i8"), None, "array 'weights' is damaged"),
        (header(order="F"), None, "array 'weights' is damaged"),
        (header(order="K"), None, "array 'weights' is of no type that model files hold"),
        (header(dtype="<U1"), None, "array 'weights' is of no type that model files hold"),
        (header(shape=[-3]), None, "array 'weights' is of no type that model files hold"),
        (header(blake2b="00"), None, "array 'weights' is damaged"),
        (header(dtype="words"), None, "the model is damaged"),
        (header(kind=3), None, "the model is damaged: its header is incomplete"),
        (header(schema=0), None, "not a featloom model: there is no schema 0"),
        ("[]", None, "the model is damaged: its header is incomplete"),
        ("{", None, "the model is damaged"),
        ("[" * 100_000, None, "the model is damaged: its header is incomplete"),
        ('{"schema":1,"kind":' + "[" * 100_000, None, "the model is damaged"),
        (" " * (2**24 + 1), None, "the model is damaged: its header is too long"),
    ],
)
def test_a_header_that_differs_from_the_arrays_is_refused(scratch, head, members, words):
    members = [("weights.npy", npy(WEIGHTS))] if members is None else members
    assert refusal(scratch, sealed([("model.json", head), *members])) == words


def test_a_large_array_in_a_small_file_is_refused_before_it_is_unpacked(scratch):
    bomb = [("model.json", header()), ("weights.npy", npy(WEIGHTS) + bytes(2**24))]
    assert refusal(scratch, sealed(bomb)) == "array 'weights' is damaged"
    huge = [("model.json", header(shape=[2**40])), ("weights.npy", npy(WEIGHTS))]
    taken = 2**43 + 64 * len(huge[0][1])
    words = f"the model takes {taken:,} bytes; at most 8,589,934,592 are read"
    assert refusal(scratch, sealed(huge)) == words


@pytest.mark.parametrize(
    "description",
    ['{"k":NaN}', '{"k":1e999}', '{"k":"\\ud800"}', '{"k":' + "[" * 10_000 + "]" * 10_000 + "}"],
)
def test_a_description_that_only_looks_like_json_is_refused(scratch, description):
    head = header().replace('"description": {}', f'"description": {description}')
    members = [("model.json", head), ("weights.npy", npy(WEIGHTS))]
    assert refusal(scratch, sealed(members)).startswith("the model is damaged")


@pytest.mark.parametrize("name", ["/etc/passwd", "../weights.npy", "weights.npy/", "model.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_no_model_has_is_refused(scratch, name):
    members = [("model.json", header()), ("weights.npy", npy(WEIGHTS)), (name, header())]
    assert refusal(scratch, sealed(members)).split(" is damaged: ")[0] in (
        "the model",
        "the archive",
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OverflowError(), "the model is damaged: its parts do not fit"),
        (RecursionError(), "the model is damaged: its parts do not fit"),
        (InputError("two\nlines"), "the model is damaged: its parts do not fit"),
        (MemoryError(), "cannot be read: there is not enough memory"),
    ],
)
def test_parts_that_do_not_fit_are_told_in_one_line(fault, words):
    with pytest.raises(ReadError) as told, fitting_parts("letters.model"):
        raise fault
    assert str(told.value) == f"letters.model: {words}"


def test_the_limit_can_be_set(saved, scratch):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        taken = 2_424 + 64 * len(archive.read("model.json"))
    words = f"the model takes {taken:,} bytes; at most {taken - 1:,} are read"
    assert refusal(scratch, saved, most_bytes=taken - 1) == words
    load_model(scratch, most_bytes=taken)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_array_of_one_name_is_refused(scratch):
    twice = [("model.json", header()), *2 * [("weights.npy", npy(WEIGHTS))]]
    assert refusal(scratch, sealed(twice)) == "the archive is damaged: a member is there twice"


@pytest.mark.parametrize(
    ("data", "offsets"),
    [
        (np.zeros(3, np.uint8), np.array([0, 2])),
        (np.zeros(3, np.uint8), np.array([1, 3])),
        (np.zeros(3, np.uint8), np.array([0, 3, 2, 3])),
        (np.zeros(3, np.uint8), np.array([], dtype=np.int64)),
        (np.zeros(3, np.uint8), np.array([0.0, 3.0])),
        (np.zeros(3, np.int32), np.array([0, 3])),
        (np.full(1, 255, np.uint8), np.array([0, 1])),
    ],
)
def test_arrays_that_hold_no_strings_are_refused(data, offsets):
    with pytest.raises(InputError, match="these arrays"):
        unpack_strings(data, offsets)
