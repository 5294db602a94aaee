"""The journal of a search: one row an evaluation, kept on disk, never changed.

A search of an afternoon may be stopped by a power plug, a colleague or an impatient finger.  The
journal is why nothing is lost: each result is written when it is there, and a search that begins
with the same journal takes the results from it and goes on.

The file is SQLite.  It says first what it belongs to: a fingerprint of the data and a
description of the search (what is maximised, with which parameters, over which choices).  A
journal of other data or of another search is refused.  Rows are numbered, and each carries a
checksum of its own, for SQLite does not notice a digit of a score that was changed on the disk; so
a flipped byte or a lost row is told of when the journal is opened.

Rows are committed one by one in write-ahead mode with ``synchronous=NORMAL``: a commit hands the
row to the operating system, which keeps it when the process is killed at any instant.  Only when
the machine itself goes down can the last few rows be missing; the file is whole even then, and
the search repeats them.  Waiting for the disk at each row would cost milliseconds to guard
against that.  The process that has a journal open holds SQLite's exclusive lock; the system
releases it when the process ends in whatever way, so no stale lock is left behind.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from featloom.errors import InputError
from featloom.search.space import Candidate, candidate_key, json_text
from featloom.search.strategies import score_of

SCHEMA = 2  # in a file of schema 1, each checksum covers that of the evaluation before
_READABLE = (1, SCHEMA)
APPLICATION = 0x46744C4D  # "FtLm": tells a journal from any other SQLite file
_LOCK_WAIT = 1.0  # seconds; a process that was just killed may take a moment to let go

_TABLES = """
CREATE TABLE belongs_to (data TEXT NOT NULL, search TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE evaluations (
    number INTEGER PRIMARY KEY,  -- 1, 2, 3 … in the order in which they were finished
    candidate TEXT NOT NULL,     -- canonical JSON, the key
    result TEXT NOT NULL,        -- JSON, floats to the last bit
    seconds REAL NOT NULL,       -- that the evaluation took
    elapsed REAL NOT NULL,       -- seconds the search had run by then, over all its sessions
    finished REAL NOT NULL,      -- time of day, seconds since 1970
    checksum TEXT NOT NULL);
CREATE TABLE stops (             -- where the search stopped asking, and why
    evaluations INTEGER NOT NULL, reason TEXT NOT NULL, finished REAL NOT NULL,
    checksum TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Evaluation:
    """A candidate and what it was worth; equal to another when these two are.

    ``result`` is what the evaluation gave, ``seconds`` what it took, ``elapsed`` how long the
    search had run when it was finished, over all its sessions.
    """

    candidate: Candidate
    result: Any
    seconds: float = field(compare=False)
    elapsed: float = field(compare=False)

    @property
    def score(self) -> float:
        """The number that the search maximises."""
        return score_of(self.result)


@dataclass(frozen=True)
class Stop:
    """Where a search stopped asking, and why: "finished", "budget", "interrupted" or "failed"."""

    evaluations: int
    reason: str


def fingerprint(*parts: Any) -> str:
    """A short text that changes when the data change: arrays, texts, and anything JSON can hold.

    >>> fingerprint(np.array([[1, 2]]), ["K", "S"]) == fingerprint(np.array([[1, 2]]), ["K", "S"])
    True
    >>> fingerprint(np.array([[1, 2]]), ["K", "S"]) == fingerprint(np.array([[1, 2]]), ["S", "K"])
    False
    """
    digest = blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            contents: Any = np.ascontiguousarray(part).data.cast("B") if part.size else b""
            kind = f"array {part.dtype.str} {part.shape}"
        elif isinstance(part, bytes):
            contents, kind = part, "bytes"
        else:
            contents, kind = json_text(part).encode(), "json"
        # The length keeps ("ab", "c") and ("a", "bc") apart.
        digest.update(f"{kind} {len(contents)}\n".encode())
        digest.update(contents)
    return digest.hexdigest()


class Journal:
    """The results of one search on one set of data, on disk.

    Parameters
    ----------
    path : the file; made when it is not there.
    data : a fingerprint of the data, see :func:`fingerprint`.
    search : what the results depend on beside the data and the candidate: the objective and its
        version, its parameters, the choices.  Plain JSON.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "search.journal"
    >>> with Journal(path, data=fingerprint("letters"), search={"metric": "accuracy"}) as journal:
    ...     evaluation = journal.append({"k": 1}, {"score": 0.8170}, seconds=0.6, elapsed=0.6)
    >>> with Journal(path, data=fingerprint("letters"), search={"metric": "accuracy"}) as journal:
    ...     journal.get('{"k":1}').result
    {'score': 0.817}
    >>> Journal(path, data=fingerprint("words"), search={"metric": "accuracy"})
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
    featloom.errors.InputError: journal ...search.journal was made from other data ...
    """

    def __init__(self, path: str | os.PathLike, *, data: str, search: Mapping[str, Any]):
        self.path = Path(path)
        description = json_text(search)
        if not self.path.exists():
            _create(self.path, data, description)
        found = _open(self.path)
        self._connection = found.connection
        self._evaluations, self._stops = found.evaluations, found.stops
        why = ""
        if found.data != data:
            why = f"from other data (fingerprint {found.data[:12]}, not {data[:12]}); for these"
        elif found.search != description:
            difference = _first_difference(json.loads(found.search), json.loads(description))
            why = f"by another search: {difference}; for this one"
        if why:
            self.close()
            raise InputError(f"journal {self.path} was made {why}, name another folder or file")

    def __len__(self) -> int:
        return len(self._evaluations)

    def __iter__(self) -> Iterator[Evaluation]:
        """The evaluations, in the order in which they were finished."""
        return iter(self._evaluations.values())

    def get(self, key: str) -> Evaluation | None:
        """The evaluation of the candidate with this key, or None."""
        return self._evaluations.get(key)

    @property
    def elapsed(self) -> float:
        """Seconds that the search had run at its last evaluation, over all its sessions."""
        return max((evaluation.elapsed for evaluation in self), default=0.0)

    @property
    def stops(self) -> list[Stop]:
        """Where the search stopped, session after session."""
        return list(self._stops)

    def append(
        self, candidate: Mapping[str, Any], result: Any, *, seconds: float, elapsed: float
    ) -> Evaluation:
        """Write one evaluation; when this returns, a killed process does not lose it."""
        key, text = candidate_key(candidate), json_text(result)
        if key in self._evaluations:
            raise ValueError(f"journal {self.path} already has {key}")
        row = (len(self) + 1, key, text, float(seconds), float(elapsed), time.time())
        with _sentences(self.path):
            self._connection.execute(
                "INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*row, _checksum("evaluation", row)),
            )
        evaluation = Evaluation(dict(candidate), json.loads(text), row[3], row[4])
        self._evaluations[key] = evaluation
        return evaluation

    def record_stop(self, evaluations: int, reason: str) -> None:
        """Write that the search stopped asking after so many evaluations."""
        row = (evaluations, reason, time.time())
        with _sentences(self.path):
            self._connection.execute(
                "INSERT INTO stops VALUES (?, ?, ?, ?)", (*row, _checksum("stop", row))
            )
        self._stops.append(Stop(evaluations, reason))

    def close(self) -> None:
        """Let go of the file; a journal that was closed is one file."""
        self._connection.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read_journal(path: str | os.PathLike) -> tuple[list[Evaluation], list[Stop]]:
    """The evaluations and stops of a journal, whatever it belongs to; for reports."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no journal {path}")
    found = _open(path)
    found.connection.close()
    return list(found.evaluations.values()), found.stops


class _Damaged(Exception):
    """A part of a journal that fails its check."""


_QUOTED = 100  # characters of what SQLite says of a damaged file


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a file into one sentence for its owner."""
    try:
        yield
    except _Damaged as damage:
        raise _damaged(path, damage) from None
    except UnicodeDecodeError:
        raise _damaged(path, "a text in it cannot be read") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise InputError(f"journal {path} is in use by another process") from None
        if primary == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{path} is not a journal") from None
        if primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
            raise InputError(f"journal {path} cannot be written: {error}") from None
        if primary == sqlite3.SQLITE_CANTOPEN:
            raise InputError(f"journal {path} cannot be opened: {error}") from None
        told = " ".join(str(error).split())  # SQLite quotes what it cannot read, lines and all
        raise _damaged(path, told if len(told) <= _QUOTED else f"{told[:_QUOTED]}…") from None


def _damaged(path: Path, how: object) -> InputError:
    return InputError(f"journal {path} is damaged: {how}; without it the search begins anew")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_LOCK_WAIT, isolation_level=None
    )
    # Asked for before the file is first touched, so that the write-ahead log needs no shared
    # memory beside it and the lock is held from the first read to the close.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return connection


def _create(path: Path, data: str, description: str) -> None:
    """Make an empty journal beside its place and put it there whole, unless one is there."""
    if not path.parent.is_dir():
        raise InputError(f"journal {path} cannot be made: there is no folder {path.parent}")
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    row = (data, description)
    with _sentences(path):
        try:
            beside.unlink(missing_ok=True)
            beside.touch()
            connection = _connect(beside)
            try:
                # Written in SQLite's older way, by which a full disk is told of here; with a log,
                # it would be met when the log is closed, and nobody would hear of it.
                connection.executescript(
                    f"BEGIN; {_TABLES} PRAGMA application_id = {APPLICATION};"
                    f"PRAGMA user_version = {SCHEMA}; COMMIT;"
                )
                connection.execute(
                    "INSERT INTO belongs_to VALUES (?, ?, ?)", (*row, _checksum("", row))
                )
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
            try:
                # A link, unlike a rename, never takes the place of a journal that another
                # process made meanwhile.
                os.link(beside, path)
            except FileExistsError:
                return
            except OSError:
                os.replace(beside, path)
            # A journal that was removed by hand may have left its log; it is not this one's.
            path.with_name(path.name + "-wal").unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"journal {path} cannot be made: {error.strerror}") from None
        finally:
            beside.unlink(missing_ok=True)


class _Found(NamedTuple):
    """A journal that is locked, and all that is in it."""

    connection: sqlite3.Connection
    data: str
    search: str
    evaluations: dict[str, Evaluation]
    stops: list[Stop]


def _open(path: Path) -> _Found:
    """Lock a journal and read it, each part held against its checksum."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a journal")
    with ExitStack() as ends, _sentences(path):
        if path.stat().st_size == 0:
            raise _Damaged("the file is empty")
        connection = _connect(path)
        ends.callback(connection.close)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise InputError(f"{path} is not a journal")
        if schema not in _READABLE:
            raise InputError(
                f"journal {path} was made by another version (schema {schema}, not {SCHEMA})"
            )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
        _check_tables(connection)
        for (finding,) in connection.execute("PRAGMA quick_check(1)"):
            if finding != "ok":
                raise _Damaged(" ".join(finding.replace("*** in database main ***", "").split()))
        rows = connection.execute("SELECT data, search, checksum FROM belongs_to").fetchall()
        if len(rows) != 1 or _checksum("", rows[0][:2]) != rows[0][2]:
            raise _Damaged("what it belongs to fails its checksum")
        if tuple(map(type, rows[0])) != (str, str, str):
            raise _Damaged("what it belongs to is no text")
        _decoded(rows[0][1], "the description of the search")
        data, search, checksum = rows[0]
        evaluations = _evaluations(connection, checksum)
        found = _Found(connection, data, search, evaluations, _stops(connection))
        ends.pop_all()
    return found


def _check_tables(connection: sqlite3.Connection) -> None:
    """Refuse a file with other tables than ours: views and triggers would run what they hold."""
    found = [str(text) for (text,) in connection.execute("SELECT sql FROM sqlite_master")]
    if sorted(map(_bare, found)) != sorted(map(_bare, _TABLES.split(";")[:-1])):
        raise _Damaged("its tables are not those of a journal")


def _bare(statement: str) -> str:
    """A statement without what does not matter: comments and blanks."""
    return re.sub(r"--.*|\s", "", statement)


def _evaluations(connection: sqlite3.Connection, before: str) -> dict[str, Evaluation]:
    """The evaluations by key; ``before`` is the checksum of what stands before the first."""
    evaluations = {}
    query = (
        "SELECT number, candidate, result, seconds, elapsed, finished, checksum "
        "FROM evaluations ORDER BY number"
    )
    for expected, (*row, found) in enumerate(connection.execute(query), start=1):
        number, key, text, seconds, elapsed, _ = row
        what = f"evaluation {expected}"
        sound = (_checksum("evaluation", row), _checksum(before, row))
        if number != expected or found not in sound:
            raise _Damaged(f"{what} fails its checksum")
        if tuple(map(type, row)) != (int, str, str, float, float, float) or key in evaluations:
            raise _Damaged(f"{what} is of another kind, or there twice")
        candidate, result = _decoded(key, what), _decoded(text, what)
        if not isinstance(candidate, dict):
            raise _Damaged(f"{what} names no candidate")
        evaluations[key] = Evaluation(candidate, result, seconds, elapsed)
        before = found
    return evaluations


def _stops(connection: sqlite3.Connection) -> list[Stop]:
    query = "SELECT evaluations, reason, finished, checksum FROM stops ORDER BY rowid"
    rows = connection.execute(query).fetchall()
    if any(_checksum("stop", row) != found for *row, found in rows):
        raise _Damaged("a record of where it stopped fails its checksum")
    if any(tuple(map(type, row[:3])) != (int, str, float) for row in rows):
        raise _Damaged("a record of where it stopped is of another kind")
    return [Stop(*row[:2]) for row in rows]


def _decoded(text: str, what: str) -> Any:
    """The value of a JSON text; the checksum may be right and the text wrong all the same."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _Damaged(f"{what} is no JSON") from None


def _checksum(before: str, row: Iterable[Any]) -> str:
    """The checksum of a row of some kind."""
    # repr, because a damaged row may hold anything.
    return blake2b(repr((before, *row)).encode(), digest_size=12).hexdigest()


def _first_difference(there: Any, here: Any) -> str:
    """Which part of the description of the search differs, and how."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted({*there, *here}):
            if name not in there:
                return f"it had no {name!r}"
            if name not in here:
                return f"it had {name!r}"
            if json_text(there[name]) != json_text(here[name]):
                return f"its {name!r} was {_short(there[name])}, now {_short(here[name])}"
    return "its description differs"


def _short(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= 60 else text[:57] + "..."
