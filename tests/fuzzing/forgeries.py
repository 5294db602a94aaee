"""Files changed by someone who also set the checksums right: models and journals."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from mutations import ODD_VALUES, damaged_json

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
    """A model with another description, or with one of its arrays changed."""
    from featloom.formats.models import load_model, save_model

    with _as_file(content) as path:
        model = load_model(path)
        description, arrays = model.description, dict(model.arrays)
        if random.random() < 0.5 or not arrays:
            text = damaged_json(json.dumps(description).encode(), random)
            changed = json.loads(text)
            description = changed if isinstance(changed, dict) else {"changed": changed}
        else:
            name = random.choice(sorted(arrays))
            arrays[name] = _changed_array(arrays[name], random)
        save_model(path, model.kind, description, arrays)
        return path.read_bytes()


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


def _changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    """One number set to an odd one, or numbers lost, or another type."""
    array, what = np.array(array), random.randrange(6)
    if what == 0:
        return array[: random.randrange(len(array) + 1)] if array.ndim else array
    if what == 1:
        return array.astype(random.choice((np.int8, np.int64, np.float32, np.float64)))
    if what == 2 or not array.size:
        return array.reshape(-1)
    odd = (np.nan, np.inf, 1e300, -1.0) if array.dtype.kind == "f" else (-1, 0, 1, 7, 100)
    if array.dtype.kind in "iu":
        odd += (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    value = random.choice(odd)
    with np.errstate(over="ignore"):
        array.reshape(-1)[random.randrange(array.size)] = np.array(value).astype(array.dtype)
    return array


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
    from featloom.search.journal import _chain

    before = ""
    for table in ("belongs_to", "evaluations", "stops"):
        before = "stop" if table == "stops" else before
        for number, *row, _ in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():
            found = _chain(before, row)
            connection.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (found, number))
            before = before if table == "stops" else found


def _changed_value(value: Any, random: Random) -> Any:
    if isinstance(value, str) and value.startswith("{") and random.random() < 0.5:
        return damaged_json(value.encode(), random).decode()
    odd = [other for other in ODD_VALUES if not isinstance(other, list | dict)]
    other = random.choice([*odd, b"\xff\xfe", "[" * 5000, "{}", "1e999", '{"score": NaN}'])
    return str(other) if isinstance(other, int) and abs(other) >= 2**63 else other
