"""Files changed by someone who also set the checksums right: models and journals."""

from __future__ import annotations

import io
import json
import sqlite3
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from mutations import ODD_VALUES, damaged, damaged_json

from featloom.errors import InputError

_DTYPES = (
    np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float16, np.float32, np.float64, np.bool_,
    ">i4", ">f8",
)  # fmt: skip
# What the header of a model might say of an array.
_ODD_FACTS: tuple[Any, ...] = (
    "<f8", "<f4", "|O", "<U9", "M8[s]", "i4,f8", "words", "", "F", "00", [], [3], [3, 1], [-1, -3],
    [2**40], [2**31, 2**31], [0, 2**62], [10**30], [1] * 40, None, 7,
)  # fmt: skip

# What a journal must not hold: each would run, or run without end, when it is read or written.
_ODD_STATEMENTS = (
    "CREATE TRIGGER t AFTER INSERT ON evaluations BEGIN DELETE FROM evaluations; END",
    "CREATE VIEW v AS SELECT 1",
    "DROP TABLE stops; CREATE VIEW stops AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k "
    "FROM n) SELECT k AS evaluations, 'x' AS reason, 0.0 AS finished, '' AS checksum FROM n",
    "CREATE INDEX i ON evaluations (candidate)",
    "ALTER TABLE evaluations ADD COLUMN more AS (zeroblob(1000000000))",
)


def forged_model(content: bytes, random: Random, _: tuple[bytes, ...]) -> bytes:
    """A model with another description, other arrays, or in an archive that lies."""
    from featloom.formats.models import load_model, save_model

    what = random.random()
    if what < 0.2:
        return forged_archive(content, random)
    with _as_file(content) as path:
        model = load_model(path)
        description, arrays = model.description, dict(model.arrays)
        if what < 0.55 or not arrays:
            description = _changed_description(description, random)
        elif what < 0.8:
            for _ in range(random.choice((1, 1, 2))):
                name = random.choice(sorted(arrays))
                arrays[name] = _changed_array(arrays[name], random)
        elif what < 0.85:
            one, other = random.sample(sorted(arrays), 2)
            arrays[one] = arrays[other] if random.random() < 0.5 else arrays.pop(other)
        else:
            arrays = _resized(model.kind, arrays, random)
        with suppress(InputError):  # such as a number that JSON does not have
            save_model(path, model.kind, description, arrays)
        return path.read_bytes()


def forged_archive(content: bytes, random: Random) -> bytes:
    """A model whose members, or what is told of them, no program of ours would write."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    packing = dict.fromkeys(members, zipfile.ZIP_DEFLATED)
    more: list[tuple[str, bytes]] = []
    name, what = random.choice(sorted(members)), random.randrange(8)
    if what == 0:
        packing[name] = random.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
        members[name] += bytes(random.choice((0, 2**16, 2**24)))
    elif what == 1:
        blank = random.choice((b" ", b"[", b'{"a":', b"[[],"))
        members["model.json"] = blank * random.choice((1000, 2**16, 2**22)) + members["model.json"]
    elif what == 2:
        members[name] += bytes(random.choice((1, 2**10, 2**24)))
    elif what == 3:
        more = [(random.choice((name, "../a.npy", "b.npy", " ")), members[name])]
    elif what == 4:
        header = json.loads(members["model.json"])
        facts = random.choice(list(header["arrays"].values()) or [{}])
        facts[random.choice(("dtype", "shape", "order", "blake2b"))] = random.choice(_ODD_FACTS)
        members["model.json"] = json.dumps(header).encode()
    elif what == 5 and name != "model.json":
        head = members[name][:10] + damaged(members[name][10:128], random) + members[name][128:]
        members[name] = random.choice((head, b"\x93NUMPY\2\0\xff\xff\xff\x7f" + members[name]))
    elif what == 6:
        more = [(f"x{k}.npy", b"") for k in range(random.choice((1, 30, 1000)))]
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        for name, member in [*members.items(), *more]:
            archive.writestr(name, member, packing.get(name, zipfile.ZIP_STORED))
        archive.comment = b"featloom model " + b"0" * 64
        listed = archive.start_dir
    whole = bytearray(buffer.getvalue()[:-64])
    if what == 7:  # sizes, places and flags that the archive tells of its members
        at = whole.find(b"PK\1\2", listed) + random.choice((8, 10, 20, 24, 28, 30, 42))
        whole[at : at + 4] = random.choice((bytes(4), b"\xff" * 4, random.randbytes(4)))
    return bytes(whole) + blake2b(whole, digest_size=32).hexdigest().encode()


def forged_arrays(content: bytes, random: Random, _: tuple[bytes, ...]) -> bytes:
    """An ``.npz`` archive in which some arrays are others."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    for _ in range(random.choice((1, 1, 2, 3))):
        name = random.choice(sorted(arrays))
        arrays[name] = _changed_array(arrays[name], random)
    stream = io.BytesIO()
    random.choice((np.savez, np.savez_compressed))(stream, **arrays)
    return stream.getvalue()


def forged_journal(content: bytes, random: Random, _: tuple[bytes, ...]) -> bytes:
    """A journal with one value changed, or with more in it than tables."""
    with _as_file(content) as path:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for kind, text in connection.execute("SELECT type, sql FROM sqlite_master"):
                if kind != "table" or " AS " in text:
                    raise ValueError("one of the odd statements is in it already")
            if random.random() < 0.1:
                connection.executescript(random.choice(_ODD_STATEMENTS))
            else:
                _change_value(connection, random)
                _set_checksums(connection)
        return path.read_bytes()


@contextmanager
def _as_file(content: bytes) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        yield path


def _changed_description(description: dict[str, Any], random: Random) -> dict[str, Any]:
    """Some of its values changed; a plan is JSON in JSON."""
    if "plan" in description and random.random() < 0.5:
        plan = damaged_json(description["plan"].encode(), random)
        return description | {"plan": plan.decode()}
    changed = json.loads(damaged_json(json.dumps(description).encode(), random))
    return changed if isinstance(changed, dict) else {"changed": changed}


def _changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    """One number set to an odd one, or numbers lost, or another type or shape."""
    array, what = np.array(array), random.randrange(9)
    if array.dtype.kind not in "biuf":
        return array.reshape(-1)
    if what == 0:
        return array[: random.randrange(len(array) + 1)] if array.ndim else array
    if what == 1:
        with np.errstate(all="ignore"):
            return array.astype(random.choice(_DTYPES))
    if what == 2 or not array.size:
        return array.reshape(-1)
    if what == 3:
        return array.reshape(random.choice(((*array.shape, 1), (1, *array.shape), (-1, 1))))
    if what == 4:
        return random.choice((array.T, np.asfortranarray(array), np.flip(array)))
    if what == 5:
        n = random.choice((0, 1, 2, 3, 7, 50)) if array.dtype.kind == "b" else random.randrange(60)
        return np.resize(array, (n, *array.shape[1:]) if array.ndim else (n,))
    odd = (np.nan, np.inf, -np.inf, 1e300, -1.0) if array.dtype.kind == "f" else (-1, 0, 1, 7, 100)
    if array.dtype.kind in "iu":
        odd += (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max, random.randrange(300))
    value = random.choice(odd)
    with np.errstate(over="ignore"):
        changed = np.array(value).astype(array.dtype)
    if what == 6:
        return np.full_like(array, changed)
    array.reshape(-1)[random.randrange(array.size)] = changed
    return array


def _resized(kind: str, arrays: dict[str, np.ndarray], random: Random) -> dict[str, np.ndarray]:
    """Arrays with one of the model's lengths changed, in all of them that have it."""
    from featloom.learners import memory, parser, plan_model, tagger
    from featloom.methods.transfer import task_models

    modules = (memory, parser, plan_model, tagger, task_models)
    (layout,) = (module.LAYOUT for module in modules if module.LAYOUT.kind == kind)
    told = {name: layout.declared(name) for name in arrays}
    lengths = sorted({size.partition("+")[0] for one in told.values() for size in one.sizes})
    wanted, length = random.choice(lengths), random.choice((0, 1, 2, 5, 60, 1000, 30_000, 10**6))
    found = {}
    for name, array in arrays.items():
        shape = list(array.shape)
        for axis, size in enumerate(told[name].sizes):
            of, _, more = size.partition("+")
            if of == wanted:
                shape[axis] = length + int(more or 0)
        if np.prod(shape, dtype=float) > 5 * 10**6:
            return arrays
        grown = random.choice((np.resize, lambda one, shape: np.zeros(shape, one.dtype)))
        found[name] = array if shape == list(array.shape) else grown(array, tuple(shape))
        if name.endswith("starts") and shape != list(array.shape):
            found[name] = np.linspace(0, array[-1] if len(array) else 0, shape[0]).astype(np.int64)
    return found


def _change_value(connection: sqlite3.Connection, random: Random) -> None:
    table = random.choice(("belongs_to", "evaluations", "stops"))
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
    if not rows:
        return
    number, *row = random.choice(rows)
    at = random.randrange(len(row))
    statement = f"UPDATE OR IGNORE {table} SET {names[at]} = ? WHERE rowid = ?"
    with suppress(sqlite3.IntegrityError):  # text where only a number can be
        connection.execute(statement, (_changed_value(row[at], random), number))


def _set_checksums(connection: sqlite3.Connection) -> None:
    from featloom.search.journal import _checksum

    kinds = {"belongs_to": "", "evaluations": "evaluation", "stops": "stop"}
    for table, kind in kinds.items():
        for number, *row, _ in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():
            found = _checksum(kind, row)
            connection.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (found, number))


def _changed_value(value: Any, random: Random) -> Any:
    if isinstance(value, str) and value.startswith("{") and random.random() < 0.5:
        return damaged_json(value.encode(), random).decode()
    odd = [other for other in ODD_VALUES if not isinstance(other, list | dict)]
    other = random.choice([*odd, b"\xff\xfe", "[" * 5000, "{}", "1e999", '{"score": NaN}'])
    return str(other) if isinstance(other, int) and abs(other) >= 2**63 else other
