"""Model files: arrays and JSON, checked on load; nothing in them runs.

A model is one zip archive.  ``model.json`` holds the schema, the kind of the model, the version of
Featloom that wrote it, a description (any JSON), and for each array its type, shape and checksum;
each array is a ``.npy`` file beside it, so other programs can read it too.  The archive's comment
is a checksum of all bytes before it: one changed byte anywhere is noticed.

Loading believes nothing: the checksum comes first, then every size that the archive declares must
be the one that the JSON declares and their sum within a limit, and only then memory is set aside.
Arrays of Python objects, which would need to be unpickled, are refused on both ways.  Checksums
guard against damage, not against forgery.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib import metadata
from itertools import pairwise
from typing import IO, Any

import msgspec
import numpy as np

from featloom.errors import InputError, ReadError
from featloom.runs import write_beside

SCHEMA = 1
MOST_BYTES = 2**33
_HEADER = "model.json"
_LARGEST_HEADER = 2**24
_LONGEST_NPY_HEAD = 2**14
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_SEAL = b"featloom model "
_DIGEST_BYTES = 32
_SEAL_LENGTH = len(_SEAL) + 2 * _DIGEST_BYTES
# Archives note when a file was made; always the same date, so that the same model gives the same
# bytes.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_SAMPLE = 2**18
_BLOCK = 2**20


class ArrayFacts(msgspec.Struct, forbid_unknown_fields=True):
    """What the header says of an array."""

    dtype: str
    shape: list[int]
    order: str
    blake2b: str


class Header(msgspec.Struct):
    """The content of ``model.json``."""

    schema: int
    kind: str
    featloom: str
    description: dict[str, Any]
    arrays: dict[str, ArrayFacts]


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds.

    Parameters
    ----------
    kind : what sort of model it is: "memory", "linear", …
    description : settings and names, as JSON knows them.
    arrays : the numbers, by name.
    version : of the Featloom that wrote it.
    """

    kind: str
    description: dict[str, Any]
    arrays: dict[str, np.ndarray]
    version: str = ""


def save_model(
    path: str | os.PathLike[str],
    kind: str,
    description: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a model file, all of it or nothing.

    Parameters
    ----------
    path : file to write.
    kind : what sort of model it is; ``load_model`` can insist on it.
    description : strings, numbers, lists, dicts with string keys; NaN has no place in JSON.
    arrays : of whole numbers, floating point numbers or truth values.  Strings go through
        ``pack_strings``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.model")
    ...     save_model(path, "memory", {"k": 3}, {"weights": np.array([0.5, 0.25])})
    ...     model = load_model(path, kind="memory")
    >>> model.description, model.arrays["weights"]
    ({'k': 3}, array([0.5 , 0.25]))
    """
    if not kind:
        raise InputError("a model needs a kind")
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    header = {
        "schema": SCHEMA,
        "kind": kind,
        "featloom": _version(),
        "description": dict(description),
        "arrays": {name: _facts(array) for name, array in stored.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _store(archive, _HEADER, b"", _json(header))
        for name, array in stored.items():
            head = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                head, np.lib.format.header_data_from_array_1_0(array)
            )
            _store(archive, f"{name}.npy", head.getvalue(), _flat(array))
        archive.comment = _SEAL.ljust(_SEAL_LENGTH, b"0")
    content = buffer.getbuffer()
    digest = blake2b(content[: -2 * _DIGEST_BYTES], digest_size=_DIGEST_BYTES).hexdigest()
    content[-2 * _DIGEST_BYTES :] = digest.encode()
    write_beside(path, bytes(content))


def load_model(
    path: str | os.PathLike[str], *, kind: str | None = None, most_bytes: int = MOST_BYTES
) -> Model:
    """Read and check a model file.

    Parameters
    ----------
    path : file to read.
    kind : what sort of model it must be; None: any.
    most_bytes : a model whose arrays take more memory is refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.model")
    ...     save_model(path, "memory", {}, {})
    ...     try:
    ...         load_model(path, kind="linear")
    ...     except ReadError as error:
    ...         print(str(error).removeprefix(folder + os.sep))
    letters.model: a model of kind 'memory'; 'linear' is expected
    """
    file = os.fspath(path)
    try:
        with open(file, "rb") as stream:
            _check_seal(stream, file)
            with zipfile.ZipFile(stream) as archive:
                return _load(archive, file, kind, most_bytes)
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError("no such file", file=file) from None
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "there is not enough memory"
        raise ReadError(f"cannot be read: {reason.lower()}", file=file) from None
    # What was forged to pass its checksum fails in the decoders of zip and npy in a dozen ways.
    except Exception:
        raise ReadError("the model is damaged", file=file) from None


@contextmanager
def fitting_parts(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make a learner of a model inside: parts that do not fit are told in one line.

    The checksums were right, so such a model was written by no version of ours, or was forged.
    """
    file = os.fspath(path)
    try:
        yield
    except MemoryError:
        raise ReadError("cannot be read: there is not enough memory", file=file) from None
    except (
        InputError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
        ValueError,
    ):  # fmt: skip
        raise ReadError("the model is damaged: its parts do not fit", file=file) from None


def pack_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as arrays: their UTF-8 bytes one after the other, and where each begins.

    >>> data, offsets = pack_strings(["né", "", "a"])
    >>> data.tolist(), offsets.tolist()
    ([110, 195, 169, 97], [0, 3, 3, 4])
    """
    try:
        encoded = [string.encode() for string in strings]
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object!r:.60} is no text that UTF-8 can hold") from None
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(string) for string in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_strings(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    """The strings that ``pack_strings`` packed.

    >>> unpack_strings(*pack_strings(["né", "", "a"]))
    ['né', '', 'a']
    """
    if (
        data.dtype != np.uint8
        or data.ndim != 1
        or offsets.dtype.kind not in "iu"
        or offsets.ndim != 1
        or len(offsets) == 0
        or offsets[0] != 0
        or offsets[-1] != len(data)
        or (offsets[1:] < offsets[:-1]).any()
    ):
        raise InputError("these arrays do not hold strings")
    content, bounds = data.tobytes(), offsets.tolist()
    try:
        return [content[begin:end].decode() for begin, end in pairwise(bounds)]
    except UnicodeDecodeError:
        raise InputError("these arrays hold strings that are not UTF-8") from None


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    """The array with its bytes in one piece and in the order that files have."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r:.60} cannot name an array; letters, digits and _.- can")
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise InputError(f"array {name!r} holds Python objects, which are never saved")
    if not _is_plain(array.dtype):
        raise InputError(f"array {name!r} is of type {array.dtype}, which model files do not hold")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return array if array.flags.c_contiguous or array.flags.f_contiguous else array.copy("C")


def _is_plain(dtype: np.dtype) -> bool:
    """Truth values and numbers that are the same on all machines."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _facts(array: np.ndarray) -> dict[str, Any]:
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "order": "C" if array.flags.c_contiguous else "F",
        "blake2b": _digest(_flat(array)),
    }


def _flat(array: np.ndarray) -> np.ndarray:
    """The bytes of an array as they lie in memory."""
    return array.ravel(order="K").view(np.uint8)


def _digest(content: np.ndarray) -> str:
    return blake2b(content.data, digest_size=_DIGEST_BYTES).hexdigest()


def _json(header: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":"))
        decoded = msgspec.json.decode(text)["description"]
        comes_back = decoded == _with_lists(header["description"])
    except (TypeError, ValueError, RecursionError, msgspec.DecodeError) as error:
        words = " ".join(str(error).split())
        raise InputError(f"the description has no place in JSON: {words}") from None
    if not comes_back:
        raise InputError("the description has no place in JSON: a key is not a string")
    if len(text) > _LARGEST_HEADER:
        raise InputError("the description is too long; long lists belong in arrays")
    return text.encode()


def _with_lists(value: Any) -> Any:
    """The value with lists in place of tuples, which is how JSON gives them back."""
    if isinstance(value, Mapping):
        return {key: _with_lists(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_lists(part) for part in value]
    return value


def _store(archive: zipfile.ZipFile, name: str, head: bytes, content: bytes | np.ndarray) -> None:
    """Add a member, compressed if a sample of it becomes a tenth smaller at least."""
    member = zipfile.ZipInfo(name, _NO_DATE)
    middle = len(content) // 2
    sample = bytes(content[:_SAMPLE]) + bytes(content[middle : middle + _SAMPLE])
    pays = len(zlib.compress(sample, 1)) < 0.9 * len(sample)
    member.compress_type = zipfile.ZIP_DEFLATED if pays else zipfile.ZIP_STORED
    # Told beforehand, since a member of more than 2 GiB needs a longer head.
    member.file_size = len(head) + len(content)
    with archive.open(member, "w") as stream:
        stream.write(head)
        for begin in range(0, len(content), _BLOCK):
            stream.write(bytes(content[begin : begin + _BLOCK]))


def _check_seal(stream: IO[bytes], file: str) -> None:
    """The checksum of the whole file, which stands at its end."""
    size = os.fstat(stream.fileno()).st_size
    if stream.read(2) != b"PK" or size <= _SEAL_LENGTH:
        raise ReadError("not a featloom model", file=file)
    stream.seek(-_SEAL_LENGTH, os.SEEK_END)
    seal = stream.read()
    if not seal.startswith(_SEAL):
        raise ReadError("not a featloom model, or cut short", file=file)
    left = size - 2 * _DIGEST_BYTES
    stream.seek(0)
    digest = blake2b(digest_size=_DIGEST_BYTES)
    while left and (block := stream.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    if digest.hexdigest().encode() != seal[len(_SEAL) :]:
        raise ReadError("the model is damaged: its checksum differs", file=file)


def _load(archive: zipfile.ZipFile, file: str, kind: str | None, most_bytes: int) -> Model:
    members = {member.filename: member for member in archive.infolist()}
    if _HEADER not in members:
        raise ReadError("not a featloom model", file=file)
    header = _read_header(archive, members.pop(_HEADER), file)
    if kind is not None and header.kind != kind:
        message = f"a model of kind {header.kind!r:.60}; {kind!r} is expected"
        raise ReadError(message, file=file)
    if set(members) != {f"{name}.npy" for name in header.arrays}:
        raise ReadError("the model is damaged: its arrays are not those it lists", file=file)
    if len(archive.infolist()) != len(members) + 1:
        raise ReadError("the model is damaged: an array is there twice", file=file)
    sizes = {name: _declared_size(name, facts, file) for name, facts in header.arrays.items()}
    if sum(sizes.values()) > most_bytes:
        message = f"the model takes {sum(sizes.values()):,} bytes; at most {most_bytes:,} are read"
        raise ReadError(message, file=file)
    arrays = {
        name: _read_array(archive, members[f"{name}.npy"], name, facts, sizes[name], file)
        for name, facts in header.arrays.items()
    }
    return Model(header.kind, header.description, arrays, header.featloom)


def _read_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: str) -> Header:
    if member.file_size > _LARGEST_HEADER:
        raise ReadError("the model is damaged: its header is too long", file=file)
    content = msgspec.json.decode(archive.read(member))  # NaN and half letters are no JSON to it
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        message = f"schema {schema} is of a newer featloom; this one reads up to {SCHEMA}"
        raise ReadError(message, file=file)
    try:
        header = msgspec.convert(content, Header)
    except msgspec.ValidationError:
        raise ReadError("the model is damaged: its header is incomplete", file=file) from None
    if header.schema < 1:
        raise ReadError(f"not a featloom model: there is no schema {header.schema}", file=file)
    return header


def _declared_size(name: str, facts: ArrayFacts, file: str) -> int:
    """How many bytes an array takes, by the header alone."""
    dtype = np.dtype(facts.dtype)
    if dtype.hasobject:
        message = f"array {name!r:.60} holds Python objects, which are never loaded"
        raise ReadError(message, file=file)
    if not _is_plain(dtype) or facts.order not in ("C", "F") or min(facts.shape, default=0) < 0:
        raise ReadError(f"array {name!r:.60} is of no type that model files hold", file=file)
    size = dtype.itemsize
    for length in facts.shape:
        size *= length
    return size


def _read_array(
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    name: str,
    facts: ArrayFacts,
    size: int,
    file: str,
) -> np.ndarray:
    damaged = ReadError(f"array {name!r:.60} is damaged", file=file)
    if not size < member.file_size <= size + _LONGEST_NPY_HEAD:
        raise damaged
    with archive.open(member) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise damaged
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if (
            dtype != np.dtype(facts.dtype)
            or shape != tuple(facts.shape)
            or fortran != (facts.order == "F")
            or stream.tell() != member.file_size - size
        ):
            raise damaged
        flat = np.empty(size, dtype=np.uint8)
        filled = 0
        while filled < size:
            block = stream.read(min(_BLOCK, size - filled))
            if not block:
                raise damaged
            flat[filled : filled + len(block)] = np.frombuffer(block, dtype=np.uint8)
            filled += len(block)
        # Only at its end does the archive compare its own checksum.
        if stream.read(1) or _digest(flat) != facts.blake2b:
            raise damaged
    return flat.view(dtype).reshape(shape, order="F" if fortran else "C")


def _version() -> str:
    try:
        return metadata.version("featloom")
    except metadata.PackageNotFoundError:
        return "unknown"
