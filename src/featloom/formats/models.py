"""Model files: arrays and JSON, checked on load; nothing in them runs.

A model is one zip archive.  ``model.json`` holds the schema, the kind of the model, the version of
Featloom that wrote it, a description (any JSON), and for each array its type, shape and checksum;
each array is a ``.npy`` file beside it, so other programs can read it too.  The archive's comment
is a checksum of all bytes before it: one changed byte anywhere is noticed.

Each kind of model has a :class:`Layout`, a table of its parts: what stands of each in the file, and
what it must be to fit the others.  It is all that writing and reading a learner go by.  Loading
believes nothing: the checksum comes first, then every size that the archive declares must be the
one that the JSON declares and fit the layout, and what all of it takes in memory, with the names as
Python keeps them and the tables that the learner makes, must be within a limit; only then memory is
set aside.  Numbers must be finite.  Arrays of Python objects, which would need to be unpickled, are
refused on both ways.  Checksums guard against damage, not against forgery.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import blake2b
from importlib import metadata
from itertools import accumulate, pairwise
from typing import IO, Any

import msgspec
import numpy as np

from featloom.errors import InputError, ReadError
from featloom.formats.archives import open_archive, read_array, read_head, read_member
from featloom.runs import write_beside

SCHEMA = 1
MOST_BYTES = 2**33
_HEADER = "model.json"
_LARGEST_HEADER = 2**24
# What Python makes of one byte of JSON at most: a list in a list takes 45 bytes for each.
_OF_JSON = 64
# What a name takes beside its letters: itself, its places in a list, a tuple and a dictionary.  Of
# a letter's bytes it may have four, and there is a copy while they are cut apart.
OF_NAME, _OF_LETTER = 256, 5
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_SEAL = b"featloom model "
_DIGEST_BYTES = 32
_SEAL_LENGTH = len(_SEAL) + 2 * _DIGEST_BYTES
# Archives note when a file was made; always the same date, so that the same model gives the same
# bytes.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_SAMPLE = 2**18
_BLOCK = 2**20
_LARGEST = 1e30  # of a number: thousands of them are added up, perhaps in 32 bits


class ArrayFacts(msgspec.Struct, forbid_unknown_fields=True):
    """What the header says of an array."""

    dtype: str
    shape: list[int]
    order: str
    blake2b: str


class _Schema(msgspec.Struct):
    schema: int


class Header(_Schema):
    """The content of ``model.json``."""

    kind: str
    featloom: str
    description: msgspec.Raw
    arrays: dict[str, ArrayFacts]


class Room:
    """How much memory a file takes when it is read, which has a limit.

    Parameters
    ----------
    file : that is read.
    what : what takes it, in words.
    most_bytes : the limit; None: 8 GiB.

    Examples
    --------
    >>> room = Room("verbs.model", most_bytes=1000)
    >>> room.take(800)
    >>> try:
    ...     room.take(800)
    ... except ReadError as error:
    ...     print(error)
    verbs.model: the model takes 1,600 bytes; at most 1,000 are read
    """

    def __init__(self, file: str, what: str = "the model takes", most_bytes: int | None = None):
        self.file, self.what, self.taken = file, what, 0
        self.most_bytes = MOST_BYTES if most_bytes is None else most_bytes

    def take(self, n_bytes: int) -> None:
        """Count memory that is about to be set aside; too much is refused."""
        self.taken += n_bytes
        if self.taken > self.most_bytes:
            message = f"{self.what} {self.taken:,} bytes; at most {self.most_bytes:,} are read"
            raise ReadError(message, file=self.file)


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds.

    Parameters
    ----------
    kind : what sort of model it is: "memory", "linear", …
    description : settings and names, as JSON knows them; or what the layout says.
    arrays : the numbers, by name.
    version : of the Featloom that wrote it.
    room : what it takes in memory so far.
    lengths : by the names that a layout has for them.
    """

    kind: str
    description: Any
    arrays: dict[str, np.ndarray]
    version: str = ""
    room: Room = field(default_factory=lambda: Room("the model"))
    lengths: Mapping[str, int] = field(default_factory=dict)


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
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    layout: Layout | None = None,
    most_bytes: int | None = None,
) -> Model:
    """Read and check a model file.

    Parameters
    ----------
    path : file to read.
    kind : what sort of model it must be; None: any, or that of the layout.
    layout : what it must hold; None: any arrays.
    most_bytes : a model that takes more memory is refused; None: 8 GiB.

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
    room = Room(file, most_bytes=most_bytes)
    with _opened(file) as archive:
        header = _read_header(archive, room, file)
        expected = kind if layout is None else layout.kind
        if expected is not None and header.kind != expected:
            message = f"a model of kind {header.kind!r:.60}; {expected!r} is expected"
            raise ReadError(message, file=file)
        return _load(archive, header, layout, room, file)


def kind_of_model(path: str | os.PathLike[str]) -> str:
    """The kind of the model in a file; its arrays are not read."""
    file = os.fspath(path)
    with _opened(file) as archive:
        return _read_header(archive, Room(file), file).kind


@contextmanager
def _opened(file: str) -> Iterator[zipfile.ZipFile]:
    """The archive of a model whose checksum is right; whatever else is wrong is told in a line."""
    try:
        with open(file, "rb") as stream:
            _check_seal(stream, file)
            with open_archive(stream, file) as archive:
                yield archive
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
    except ReadError:
        raise
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


def _load(
    archive: zipfile.ZipFile, header: Header, layout: Layout | None, room: Room, file: str
) -> Model:
    members = {member.filename: member for member in archive.infolist()}
    del members[_HEADER]
    if set(members) != {f"{name}.npy" for name in header.arrays}:
        raise ReadError("the model is damaged: its arrays are not those it lists", file=file)
    for name, facts in header.arrays.items():
        room.take(_declared_size(name, facts, file))
    lengths = {} if layout is None else _lengths(layout, header.arrays, room, file)
    kind: Any = dict[str, Any] if layout is None else layout.description
    try:
        described = msgspec.json.decode(header.description, type=kind)
    except msgspec.ValidationError as error:
        raise _unfit(" ".join(str(error).split())[:200], file) from None
    if layout is not None:
        described = {name: getattr(described, name) for name in kind.__struct_fields__}
    arrays = {
        name: _read_array(archive, members[f"{name}.npy"], name, facts, file)
        for name, facts in header.arrays.items()
    }
    if layout is not None:
        for name, array in arrays.items():
            if not _is_sound(array):
                what = "a number that is not finite, or too large to add up"
                raise _unfit(f"array {name!r:.60} holds {what}", file)
    return Model(header.kind, described, arrays, header.featloom, room, lengths)


def _lengths(
    layout: Layout, arrays: Mapping[str, ArrayFacts], room: Room, file: str
) -> dict[str, int]:
    """Hold types and shapes against the layout, and count what loading makes of them."""
    for name, numbers in layout.arrays.items():
        if not numbers.optional and name not in arrays:
            raise _unfit(f"no array {name!r}", file)
    lengths: dict[str, int] = {}
    for name, facts in arrays.items():
        declared = layout.declared(name)
        if declared is None:
            raise _unfit(f"array {name!r:.60} is none of a model of kind {layout.kind!r}", file)
        if facts.dtype[1:] not in declared.dtypes or facts.dtype[0] == ">":
            raise _unfit(f"array {name!r:.60} is of type {np.dtype(facts.dtype)}", file)
        if len(facts.shape) != len(declared.sizes):
            raise _unfit(f"array {name!r:.60} has {len(facts.shape)} dimensions", file)
        for (size, found), length in zip(declared.lengths(facts.shape), facts.shape, strict=True):
            if found < 0 or (size != "*" and lengths.setdefault(size, found) != found):
                raise _unfit(f"array {name!r:.60} has a length of {length:,}", file)
        room.take(declared.makes * math.prod(facts.shape))
    return lengths


def _unfit(message: str, file: str) -> ReadError:
    return ReadError(f"the model is damaged: its parts do not fit: {message}", file=file)


def _is_sound(array: np.ndarray) -> bool:
    """Whether all numbers are finite, and sums of them; a part at a time, to save memory."""
    if array.dtype.kind != "f":
        return True
    flat = array.reshape(-1, order="A")
    blocks = (flat[at : at + _BLOCK] for at in range(0, len(flat), _BLOCK))
    return all((np.abs(block) < _LARGEST).all() for block in blocks)


def _read_header(archive: zipfile.ZipFile, room: Room, file: str) -> Header:
    if _HEADER not in archive.namelist():
        raise ReadError("not a featloom model", file=file)
    member = archive.getinfo(_HEADER)
    if member.file_size > _LARGEST_HEADER:
        raise ReadError("the model is damaged: its header is too long", file=file)
    room.take(_OF_JSON * member.file_size)
    content = read_member(archive, member)
    try:
        schema = msgspec.json.decode(content, type=_Schema).schema
        if schema > SCHEMA:
            message = f"schema {schema} is of a newer featloom; this one reads up to {SCHEMA}"
            raise ReadError(message, file=file)
        header = msgspec.json.decode(content, type=Header)
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
    return dtype.itemsize * math.prod(facts.shape)


def _read_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, facts: ArrayFacts, file: str
) -> np.ndarray:
    damaged = ReadError(f"array {name!r:.60} is damaged", file=file)
    with archive.open(member) as stream:
        head = read_head(stream, member)
        told = (np.dtype(facts.dtype), tuple(facts.shape), facts.order)
        if head is None or (head.dtype, head.shape, head.order) != told:
            raise damaged
        array = read_array(stream, head)
    if array is None or _digest(_flat(array)) != facts.blake2b:
        raise damaged
    return array


def _version() -> str:
    try:
        return metadata.version("featloom")
    except metadata.PackageNotFoundError:
        return "unknown"


# ── the parts of a kind of model ──


class Part:
    """A part of a learner: what stands of it in the file, how it is written, read and checked.

    A part goes by the name that a layout gives it; of this name is what it writes, unless the part
    says otherwise.
    """

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        """What the description holds of it: a type for each name, and perhaps a default."""
        return {}

    def arrays(self, name: str) -> dict[str, Numbers]:
        """Its arrays."""
        return {}

    def write(self, name: str, value: Any, model: Model) -> None:
        """Put it into a model that is to be written."""
        raise NotImplementedError

    def read(self, name: str, model: Model) -> Any:
        """Make it of the model that a file holds; what is none is refused."""
        raise NotImplementedError

    def lengths(self, value: Any) -> list[tuple[str, int]]:
        """Its lengths, which are those of other parts under the same name."""
        return []

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        """Whether it is what it must be, beside the other parts."""
        return True


class Fact(Part):
    """Anything that JSON has, kept in the description.

    Parameters
    ----------
    kind : its type, as msgspec checks it.
    default : what it is in files that are older than it.
    """

    def __init__(self, kind: Any, *default: Any):
        self.kind = kind, *default

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        return {name: self.kind}

    def write(self, name: str, value: Any, model: Model) -> None:
        model.description[name] = value

    def read(self, name: str, model: Model) -> Any:
        return model.description[name]


class Parameters(Fact):
    """The parameters of an estimator.

    Parameters
    ----------
    never : those that are not written, as they are of the machine or stand elsewhere.
    gone : those that only older files have.
    """

    def __init__(self, never: Sequence[str], gone: Sequence[str] = ()):
        super().__init__(dict[str, Any])
        self.never, self.gone = never, gone

    def write(self, name: str, value: Any, model: Model) -> None:
        model.description[name] = {k: _plain(v) for k, v in value.items() if k not in self.never}

    def read(self, name: str, model: Model) -> dict[str, Any]:
        found = model.description[name]
        for parameter in found.keys() & set(self.never):
            raise InputError(f"parameter {parameter!r} is never written")
        return {
            k: tuple(v) if isinstance(v, list) else v
            for k, v in found.items()
            if k not in self.gone
        }


class Numbers(Part):
    """An array; whole numbers are written as the first of the types that holds them all.

    Parameters
    ----------
    dtypes : the types that it may have in a file, as NumPy spells them: "f4 f8".
    sizes : a name for each dimension; where the same name stands in one layout, the length is the
        same.  "rows+1" is one longer than "rows"; "*" stands for any length.
    optional : whether it may be missing, which is None.
    makes : how many bytes loading and the first use make of each number, beside the array itself.
    becomes : the type that it has once it is read; "": that of the file.
    below : the part whose length no number reaches; none of them is below 0.
    bounds : the part in which these are places that ascend from its begin to its end.

    Examples
    --------
    >>> Numbers("f4 f8", "features", "classes").lengths((3, 2))
    [('features', 3), ('classes', 2)]
    """

    def __init__(
        self, dtypes: str, *sizes: str, optional: bool = False, makes: int = 0, becomes: str = "",
        below: str = "", bounds: str = "",
    ):  # fmt: skip
        self.dtypes, self.sizes = dtypes.split(), sizes
        self.optional, self.makes, self.becomes = optional, makes, becomes
        self.below, self.bounds = below, bounds

    def arrays(self, name: str) -> dict[str, Numbers]:
        return {name: self}

    def write(self, name: str, value: Any, model: Model) -> None:
        if value is not None:
            model.arrays[name] = self.stored(value)

    def stored(self, array: np.ndarray) -> np.ndarray:
        """The array in the first of the types that holds all of its whole numbers."""
        if array.dtype.kind not in "iu":
            return array
        least, most = int(array.min(initial=0)), int(array.max(initial=0))
        kinds = [np.iinfo(kind) for kind in self.dtypes]
        return array.astype(next(k.dtype for k in kinds if k.min <= least and most <= k.max))

    def read(self, name: str, model: Model) -> Any:
        array = model.arrays.get(name)
        return array if array is None else array.astype(self.becomes or array.dtype, copy=False)

    def lengths(self, value: Any) -> list[tuple[str, int]]:
        shape = value if isinstance(value, Sequence) else value.shape
        parts = [size.partition("+") for size in self.sizes]
        return [(of, n - int(more or 0)) for (of, _, more), n in zip(parts, shape, strict=True)]

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        if self.below and len(value):
            return bool(value.min() >= 0 and value.max() < len(state[self.below]))
        if self.bounds:  # differences could wrap around
            ends = value[:1].tolist(), value[-1:].tolist()
            return ends == ([0], [len(state[self.bounds])]) and bool((value[1:] > value[:-1]).all())
        return _is_sound(value)


class Texts(Part):
    """Texts, in two arrays as :func:`pack_strings` gives them.

    Parameters
    ----------
    letters, starts : names of the arrays; the first also stands for how many texts there are.
    least : how many there must be.
    optional : whether they may be missing, which is None.
    distinct : whether no two may be alike.
    """

    def __init__(
        self, letters: str, starts: str, *, least: int = 0, optional: bool = False,
        distinct: bool = True,
    ):  # fmt: skip
        self.letters, self.starts = letters, starts
        self.least, self.optional, self.distinct = least, optional, distinct

    def arrays(self, name: str) -> dict[str, Numbers]:
        of, optional = self.letters, self.optional
        return {
            of: Numbers("u1", f"letters of {of}", optional=optional, makes=_OF_LETTER),
            self.starts: Numbers("i8", f"{of}+1", optional=optional, makes=OF_NAME),
        }

    def write(self, name: str, value: Any, model: Model) -> None:
        if value is not None:
            model.arrays[self.letters], model.arrays[self.starts] = pack_strings(value)

    def read(self, name: str, model: Model) -> Any:
        if self.optional and self.letters not in model.arrays:
            return None
        return tuple(unpack_strings(model.arrays[self.letters], model.arrays[self.starts]))

    def lengths(self, value: Any) -> list[tuple[str, int]]:
        return [(self.letters, len(value))]

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        return len(value) >= self.least and not (self.distinct and len(set(value)) < len(value))


class Vocabularies(Texts):
    """The values of columns, a tuple for each.

    Parameters
    ----------
    of : the part with the names of the columns; "": it is not compared.
    letters, starts : see :class:`Texts`.
    """

    def __init__(self, of: str = "columns", letters: str = "values", starts: str = "value_starts"):
        super().__init__(letters, starts)
        self.of = of

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        return {"n_values": (list[int],)}

    def write(self, name: str, value: Any, model: Model) -> None:
        model.description["n_values"] = [len(values) for values in value]
        super().write(name, [one for values in value for one in values], model)

    def read(self, name: str, model: Model) -> Any:
        values, lengths = super().read(name, model), model.description["n_values"]
        if sum(lengths) != len(values) or min(lengths, default=0) < 0:
            raise InputError("there are more or fewer values than the columns have")
        return tuple(values[a:b] for a, b in pairwise(accumulate(lengths, initial=0)))

    def lengths(self, value: Any) -> list[tuple[str, int]]:
        return []

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        known = not self.of or len(value) == len(state[self.of])
        return known and all(len(set(values)) == len(values) for values in value)


class Codes(Numbers):
    """The codes of rows in the vocabularies of their columns; 0 is a value that is missing."""

    def __init__(self, *sizes: str, of: str = "vocabularies", makes: int = 0):
        super().__init__("u1 u2 u4 u8", *sizes, makes=makes, becomes="i4")
        self.of = of

    def read(self, name: str, model: Model) -> Any:
        return np.asfortranarray(super().read(name, model))

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        of = state[self.of]
        most = [column.max(initial=0) <= len(v) for column, v in zip(value.T, of, strict=True)]
        return all(most) and value.min(initial=0) >= 0


class NotZero(Part):
    """A table of weights of which few are not 0: these, and how far each lies behind the last."""

    def __init__(self, *, optional: bool = False):
        self.optional = optional

    def arrays(self, name: str) -> dict[str, Numbers]:
        # Steps become places.
        steps = Numbers("u1 u2 u4 u8", name, optional=self.optional, makes=24)
        return {name: Numbers("f4", name, optional=self.optional), f"{name}_steps": steps}

    def write(self, name: str, value: Any, model: Model) -> None:
        if value is not None:
            flat = value.ravel()
            at = np.flatnonzero(flat)
            steps = self.arrays(name)[f"{name}_steps"].stored(np.diff(at, prepend=-1))
            model.arrays[name], model.arrays[f"{name}_steps"] = flat[at], steps

    def read(self, name: str, model: Model) -> Any:
        """Places and weights; :meth:`fill` puts them into a table."""
        if name not in model.arrays:
            return None
        # Sums that are beyond 64 bits come back below 0.
        at = np.cumsum(model.arrays[f"{name}_steps"].astype(np.int64)) - 1
        if at[:1].min(initial=0) < 0 or (at[1:] <= at[:-1]).any():
            raise InputError("a weight lies outside its table")
        return at, model.arrays[name]

    @staticmethod
    def fill(table: np.ndarray, weights: tuple[np.ndarray, np.ndarray]) -> None:
        """Put the weights that are not 0 where they belong."""
        table.reshape(-1)[weights[0]] = weights[1]


@dataclass(frozen=True, eq=False)
class Layout:
    """What the files of a kind of model hold: the one place where this is declared.

    Parameters
    ----------
    kind : of the model.
    parts : by name, in the order in which they are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> parts = {"classes": Texts("classes", "starts"), "weights": Numbers("f8", "classes")}
    >>> layout = Layout("biases", parts)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.model")
    ...     layout.save(path, {"classes": ["K", "S"], "weights": np.array([0.5, 0.25])})
    ...     with layout.reading(path) as (state, room):
    ...         print(state)
    {'classes': ('K', 'S'), 'weights': array([0.5 , 0.25])}
    """

    kind: str
    parts: Mapping[str, Part]

    def save(self, path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
        """Write a learner, all of it or nothing; of its state the parts are looked up."""
        model = Model(self.kind, {}, {})
        for name, part in self.parts.items():
            part.write(name, state[name], model)
        save_model(path, self.kind, model.description, model.arrays)

    @contextmanager
    def reading(self, path: str | os.PathLike[str]) -> Iterator[tuple[dict[str, Any], Room]]:
        """The state that was written, checked, and what room it takes.

        A learner is made of it inside, so that what does not fit is told in one line.
        """
        model = load_model(path, layout=self)
        with fitting_parts(path):
            state = {name: part.read(name, model) for name, part in self.parts.items()}
            self.check(state)
            yield state, model.room

    def check(self, state: Mapping[str, Any]) -> None:
        """Refuse parts that do not fit, so that no kernel ever sees them."""
        lengths: dict[str, int] = {}
        for name, part in self.parts.items():
            if (value := state[name]) is not None:
                same = all(lengths.setdefault(of, n) == n for of, n in part.lengths(value))
                if not same or not part.fits(value, state):
                    raise InputError(f"the {name} of the model do not fit")

    def declared(self, name: str) -> Numbers | None:
        """What an array of that name must be; None: there is none of that name."""
        if name in self.arrays:
            return self.arrays[name]
        return next((one for key, one in self.arrays.items() if fnmatchcase(name, key)), None)

    @cached_property
    def arrays(self) -> dict[str, Numbers]:
        """All arrays by name; "keys_*" stands for any number whose names begin so."""
        return {k: v for name, part in self.parts.items() for k, v in part.arrays(name).items()}

    @cached_property
    def description(self) -> type[msgspec.Struct]:
        """What the description holds."""
        fields = {k: v for name, part in self.parts.items() for k, v in part.facts(name).items()}
        return msgspec.defstruct("Description", [(k, *v) for k, v in fields.items()], kw_only=True)


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else value
