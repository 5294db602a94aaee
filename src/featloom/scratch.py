"""Folders for what worker processes need, gone when the search is, or with the next one.

A program that is killed together with its workers leaves nobody who could remove what it laid out
for them.  So every folder has a lock, which its program keeps as long as it lives, and whoever
makes a folder removes those of our own whose lock nobody keeps any more.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from featloom.errors import InputError

try:
    import fcntl
except ImportError:  # where there are no such locks, a folder that was left behind stays
    fcntl = None  # type: ignore[assignment]

PREFIX = "featloom-"
_LOCK = "in-use"


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A folder of our own for the time of a ``with`` block."""
    folder, lock = new_folder(purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def new_folder(purpose: str) -> tuple[Path, int | None]:
    """A folder of our own, and the open file by which it is kept."""
    try:
        remove_abandoned(Path(tempfile.gettempdir()))
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
        return folder, _kept(folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"no folder can be made for worker processes: {reason}; TMPDIR may name another place"
        ) from None


def remove_abandoned(place: Path) -> None:
    """Remove folders whose program is gone."""
    with suppress(OSError):
        for entry in os.scandir(place):
            with suppress(OSError):
                if entry.name.startswith(PREFIX) and _is_abandoned(entry):
                    shutil.rmtree(entry, ignore_errors=True)


def _kept(folder: Path) -> int | None:
    """The lock of a folder; None where there are none."""
    if fcntl is None:
        return None
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:  # not every file system has them
        os.close(lock)
        return None
    # By its own name only when it is locked: nobody finds it free in between.
    os.rename(folder / "lock", folder / _LOCK)
    return lock


def _is_abandoned(entry: os.DirEntry) -> bool:
    if fcntl is None or not entry.is_dir(follow_symlinks=False):
        return False
    if entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return False
    lock = os.open(Path(entry, _LOCK), os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
