"""A run is a folder that holds what one command found.

``result.json`` says what was asked, of which data, by which versions, with which seed, how long
it took and what came out; beside it lie the model, the journal of a search and ``report.html``.
A file is written beside its place under another name and then renamed, so that a reader never
meets half a file and a run that is killed keeps everything it had finished.  A command that works
in a folder holds its lock, so that no second one mixes its files in; the system lets go of it when
the process ends in whatever way.

The clock that fills ``timing`` and the progress line that a person sees while waiting are here
too, because every command needs both and there should be one of each.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from featloom.errors import InputError, ReadError
from featloom.results import SCHEMA
from featloom.shown import terminal

try:
    import fcntl
except ImportError:  # where there are no such locks, nobody is kept out of a folder
    fcntl = None  # type: ignore[assignment]

RESULT = "result.json"
REPORT = "report.html"
MODEL = "model.featloom"
FEATURES = "features.json"
INTERACTIONS = "interactions.vw"
PRIOR = "prior.json"
PLAN = "templates.json"
TEMPLATES = "templates.txt"
MARK = ".featloom-run"
LOCK = ".featloom-lock"
# What a file or a journal is called until it is whole.
_PART = re.compile(r"\..+\.\d+\.(part|new|new-journal)")
PACKAGES = ("featloom", "numpy", "scipy", "scikit-learn", "numba", "polars")


class ResultHead(msgspec.Struct):
    """What every ``result.json`` has; each kind of run adds its own parts."""

    schema: int
    command: str
    versions: dict[str, str]
    data: dict[str, Any]
    seed: int | None
    timing: dict[str, float | None]


@dataclass(frozen=True)
class Run:
    """The folder of one run.

    Examples
    --------
    >>> import tempfile
    >>> run = Run.create(Path(tempfile.mkdtemp()) / "letters")
    >>> run.write_result({"schema": 2, "command": "featloom induce letters.tsv", "versions": {},
    ...                   "data": {"rows": 26}, "seed": 0, "timing": {"total_s": 0.1}})
    >>> Run.open(run.path).result()["data"]["rows"]
    26
    """

    path: Path

    @classmethod
    def create(cls, path: str | os.PathLike) -> Run:
        """Make the folder; one that is there already must be empty or a run."""
        path = make_folder(path)
        if not (path / MARK).exists():
            # Lets a run that stopped before its first result be recognised and resumed.
            write_beside(path / MARK, _marked([]))
        return cls(path)

    @classmethod
    def open(cls, path: str | os.PathLike) -> Run:
        """A run that is there; anything else is refused."""
        path = Path(path)
        if not os.path.exists(path):
            raise InputError(f"no run at {path}")
        if not os.path.isdir(path) or not _is_run(path):
            raise InputError(f"{path} is not a featloom run")
        return cls(path)

    def write_result(self, result: dict[str, Any]) -> None:
        """Check and write ``result.json``; a report of an earlier result is removed."""
        content = encode_result(result)
        _check_head(msgspec.json.decode(content), str(self.path / RESULT))
        content = msgspec.json.format(content, indent=2) + b"\n"
        # First, and beside that of the result before: a run may be killed between the two.
        sums = [*_sums(self.path)[-1:], _checksum(content)]
        write_beside(self.path / MARK, _marked(sums))
        write_beside(self.path / RESULT, content)
        try:
            (self.path / REPORT).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {self.path / REPORT}: {_reason(error)}") from error

    def result(self) -> dict[str, Any]:
        """The checked content of ``result.json``."""
        return read_result(self.path)

    def write(self, name: str, content: str | bytes) -> Path:
        """Write one more file of the run."""
        write_beside(self.path / name, content)
        return self.path / name


def make_folder(path: str | os.PathLike) -> Path:
    """A folder for a run: a new one, one that is empty, or one that holds a run already."""
    path = Path(path)
    if os.path.isdir(path):
        try:
            # What a kill left behind makes no folder another's.
            names = {one.name for one in path.iterdir() if not _PART.fullmatch(one.name)} - {LOCK}
        except OSError as error:
            raise InputError(f"cannot look into {path}: {_reason(error)}") from error
        if names and not _is_run(path):
            raise InputError(f"{path} holds other files and no featloom run; name a new folder")
    elif os.path.exists(path):
        raise InputError(f"{path} is a file; a run needs a folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {_reason(error)}") from error
    return path


_held: set[str] = set()  # folders whose lock this process has


@contextmanager
def held(folder: str | os.PathLike) -> Iterator[None]:
    """Keep other commands out of the folder of a run for the time of a ``with`` block.

    The folder is made if it is not there; what a process that was killed had half written is
    removed.  The lock is one of the system on a file with the number of the process, which goes
    with the block.  On file systems without such locks nobody is kept out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with held(name):
    ...         print(Path(name, LOCK).read_text() == f"{os.getpid()}\\n")
    ...     print(os.listdir(name))
    True
    []
    """
    folder = make_folder(folder)
    own = os.path.realpath(folder)
    if own in _held:  # a command that calls another one
        yield
        return
    path = folder / LOCK
    try:
        lock = _locked(path)
    except BlockingIOError:
        raise InputError(
            f"{folder} is in use by {_holder(path)}; wait for its end, or name another folder"
        ) from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error)}") from error
    _held.add(own)
    try:
        _write_number(lock, path)
        _remove_parts(folder)
        yield
    finally:
        _held.discard(own)
        with suppress(OSError):
            path.unlink()  # as long as it is locked: whoever has opened it sees that it is gone
        os.close(lock)


def read_result(path: str | os.PathLike) -> dict[str, Any]:
    """Read and check a ``result.json``, given as the file or as the folder of the run.

    One that was changed since it was written is read with a warning.
    """
    path = Path(path)
    file = path / RESULT if path.is_dir() else path
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        missing = "no such file" if file == path else "not there; the run has not finished"
        raise ReadError(missing, file=str(file)) from None
    except OSError as error:
        raise ReadError(f"cannot be read: {_reason(error)}", file=str(file)) from error
    try:
        result = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        fault = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise ReadError(f"not a result: {_one_line(fault)}", file=str(file)) from error
    _check_head(result, str(file))
    sums = _sums(file.parent) if file.name == RESULT else []
    if sums and _checksum(content) not in sums:
        warnings.warn(f"{file}: changed since it was written", stacklevel=2)
    return result


def encode_result(result: Any) -> bytes:
    """A result as JSON; NumPy numbers and arrays become plain ones, NaN becomes null.

    >>> encode_result({"score": float("nan"), "run": Path("runs/a")})
    b'{"score":null,"run":"runs/a"}'
    """
    try:
        return msgspec.json.encode(result, enc_hook=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the result cannot be written: {_one_line(str(error))}") from error


def write_beside(path: str | os.PathLike, content: str | bytes | Iterable[str]) -> None:
    """Write a file under another name in its folder, then rename it: all of it or nothing.

    What comes in pieces is written piece by piece.  A read-only folder or a full disk is an
    :class:`InputError` that says so; what stood there before is untouched.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    pieces = [content] if isinstance(content, str | bytes) else content
    try:
        # As long as it is written it is locked, by which it is told from one that was left behind.
        with open(_locked(part, wait=True), "wb") as stream:
            stream.truncate()
            for piece in pieces:
                stream.write(piece.encode() if isinstance(piece, str) else piece)
            stream.flush()
            # Without it a rename can reach the disk before the words do.
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {path}: {_reason(error)}") from error
        raise


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result can depend on, without importing them.

    >>> sorted(versions())
    ['featloom', 'numba', 'numpy', 'polars', 'python', 'scikit-learn', 'scipy']
    """
    import platform

    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


@dataclass
class Timing:
    """Wall and user CPU seconds of named stages; a stage that is entered again adds up.

    User CPU counts all threads and the child processes that have ended.

    >>> timing = Timing()
    >>> with timing.stage("fit"):
    ...     _ = sum(range(1000))
    >>> list(timing.as_dict())
    ['fit_s', 'fit_user_s', 'total_s', 'user_s']
    """

    wall: dict[str, float] = field(default_factory=dict)
    user: dict[str, float] = field(default_factory=dict)
    _start: tuple[float, float] = field(default_factory=lambda: _clock())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        wall, user = _clock()
        try:
            yield
        finally:
            wall_now, user_now = _clock()
            self.wall[name] = self.wall.get(name, 0.0) + wall_now - wall
            self.user[name] = self.user.get(name, 0.0) + user_now - user

    def as_dict(self) -> dict[str, float]:
        """Seconds as ``result.json`` holds them: ``fit_s``, ``fit_user_s``, …, ``total_s``."""
        seconds = {}
        for name in self.wall:
            seconds[f"{name}_s"] = round(self.wall[name], 4)
            seconds[f"{name}_user_s"] = round(self.user[name], 4)
        wall, user = _clock()
        seconds["total_s"] = round(wall - self._start[0], 4)
        seconds["user_s"] = round(user - self._start[1], 4)
        return seconds


@dataclass(frozen=True)
class ProgressLine:
    """What :func:`progress` yields: ``advance`` after each unit of work, ``say`` to reword it."""

    _update: Callable[..., None]

    def advance(self, by: float = 1, *, best: float | None = None) -> None:
        """Some units are done; ``best`` is the best score so far."""
        self._update(advance=by, **({} if best is None else {"best": f"best {best:.4f}"}))

    def of(self, total: float | None) -> None:
        """How much work there is in all, where it becomes known later."""
        self._update(total=total)

    def say(self, description: str) -> None:
        """Change the words in front of the bar, for instance while a kernel compiles."""
        self._update(description=description)


@contextmanager
def progress(
    description: str, total: float | None = None, quiet: bool = False
) -> Iterator[ProgressLine]:
    """A bar on standard error with time left and the best score so far.

    Nothing is written when ``quiet`` or when standard error is not a terminal.  A ``total`` of
    None means that the amount of work is not known.

    >>> with progress("counting pairs", total=2, quiet=True) as line:
    ...     for _ in range(2):
    ...         line.advance(best=0.81)
    """
    import sys

    if quiet or not sys.stderr.isatty():
        yield ProgressLine(lambda **_: None)
        return
    from rich import progress as rich_progress

    # Descriptions can hold names from data: markup is off so that "[/x]" stays what it is.
    with rich_progress.Progress(
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.TaskProgressColumn("{task.percentage:>3.0f}%", markup=False),
        rich_progress.TimeRemainingColumn(elapsed_when_finished=True),
        rich_progress.TextColumn("{task.fields[best]}", markup=False),
        console=terminal(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(description, total=total, best="")
        yield ProgressLine(lambda **change: bar.update(task, **change))


def _locked(path: Path, *, wait: bool = False) -> int:
    """A file that is opened, or made, and locked; BlockingIOError where another process has it."""
    how = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        file = os.open(path, how, 0o666)
        try:
            if _lock(file, wait) and not os.path.samestat(os.fstat(file), os.stat(path)):
                raise FileNotFoundError
            return file
        except FileNotFoundError:
            os.close(file)  # whoever had the lock has just taken the file away
        except BaseException:
            os.close(file)
            raise


def _lock(file: int, wait: bool) -> bool:
    """Lock an open file; False where the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _write_number(lock: int, path: Path) -> None:
    """Write down which process has a lock."""
    try:
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error)}") from error


def _holder(lock: Path) -> str:
    """The process that has a lock, in words."""
    try:
        return f"process {int(lock.read_bytes()[:20])}"
    except (OSError, ValueError):  # it has just been taken, or let go
        return "another process"


def _remove_parts(folder: Path) -> None:
    """Remove what was half written when its process ended; what is being written is locked."""
    if fcntl is None:
        return
    for path in folder.iterdir():
        if _PART.fullmatch(path.name) and path.is_file():
            with suppress(OSError), open(path, "r+b") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def _marked(sums: list[str]) -> str:
    """What the mark of a run says: that it is one, and the checksums of its result."""
    return "\n".join([f"A featloom run, schema {SCHEMA}.", *sums, ""])


def _sums(folder: Path) -> list[str]:
    """The checksums that the result of a run may have."""
    try:
        return (folder / MARK).read_text(encoding="utf-8").splitlines()[1:]
    except (OSError, ValueError):
        return []


def _checksum(content: bytes) -> str:
    return f"{RESULT} {blake2b(content, digest_size=16).hexdigest()}"


def _is_run(path: Path) -> bool:
    if (path / MARK).is_file():
        return True
    try:
        read_result(path)
    except InputError:
        return False
    return True


def _check_head(result: Any, file: str) -> None:
    schema = result.get("schema") if isinstance(result, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise ReadError(
            f"schema {schema} is of a newer featloom; this one reads up to {SCHEMA}", file=file
        )
    try:
        head = msgspec.convert(result, ResultHead)
    except msgspec.ValidationError as error:
        raise ReadError(f"not a result: {_one_line(str(error))}", file=file) from error
    if head.schema < 1:
        raise ReadError(f"not a result: there is no schema {head.schema}", file=file)


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays, paths and strings of other kinds as what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def _clock() -> tuple[float, float]:
    times = os.times()
    return time.perf_counter(), times.user + times.children_user


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].lower() + text[1:]
