"""Options that mean the same in every command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from featloom.cli.session import REQUEST, resume_command
from featloom.cluster import cluster
from featloom.data.open import LEFT_OUT
from featloom.errors import InputError
from featloom.runs import LOCK, MARK, RESULT, Run, held, write_beside
from featloom.search.journal import read_journal

_LONGEST_NAME = 255  # bytes, on every file system in use


def _not_zero(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; 1 or more, or -1 for all cores")
    return jobs


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="File or folder with the data, or the name of a corpus."),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column that holds the class.")]
Groups = Annotated[
    str | None,
    typer.Option("--groups", help="Column of documents; rows of one are never split apart."),
]
SearchBudget = Annotated[
    str | None, typer.Option("--budget", help="Time for the search: 90, 90s, 10m, 2h.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the run.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of everything random.")
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", callback=_not_zero, help="Threads or processes; -1: all cores."),
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", help="Workers: local:4, or tcp://… of a Dask scheduler."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", help="Of Parquet files: read in blocks, a process takes so much: 2GB."
    ),
]
Hash = Annotated[
    int | None,
    typer.Option("--hash", help="Of Parquet files: bits; features are hashed into 2^bits."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
OnBadRow = Annotated[
    str, typer.Option("--on-bad-row", help="What to do with a ragged row: raise or skip.")
]


@contextmanager
def workers(dask: str | None) -> Iterator[None]:
    """The workers that searches and counts run on, where any are asked for."""
    if dask is None:
        yield
        return

    with cluster(dask):
        yield


def file_to_write(out: Path | None) -> None:
    """Refuse a file that cannot be written, before the work is done that it is for."""
    if out is None:
        return
    if os.path.isdir(out):
        raise InputError(f"{out} is a folder; name a file")
    if os.path.exists(out) and not os.path.isfile(out):
        raise InputError(f"{out} is no file that could be replaced; without --out, standard output")
    if not os.path.isdir(out.parent):
        raise InputError(f"cannot write {out}: there is no folder {out.parent}")
    if len(os.fsencode(out.name)) > _LONGEST_NAME:
        raise InputError(f"cannot write {out!s:.60}…: the name is too long")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise InputError(f"cannot write {out}: no permission to write in {out.parent}")


def folder_to_write(folder: Path | None) -> None:
    """Refuse a folder that cannot be made or written in, before the work is done that it is for."""
    if folder is None:
        return
    there = next(one for one in (folder, *folder.parents) if os.path.exists(one))
    if not os.path.isdir(there):
        raise InputError(f"cannot make the folder {folder}: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot make the folder {folder}: no permission to write in {there}")


@contextmanager
def run_folder(out: Path | None) -> Iterator[Run | None]:
    """The folder of the run, which no other command works in meanwhile.

    The folder is made first, so that one that cannot be used is told before the work is done.  A
    command that is refused leaves it as it was, and a new one not at all; after an interruption
    the error says by a note how to go on.
    """
    if out is None:
        try:
            yield None
        except KeyboardInterrupt as stop:
            stop.add_note("nothing is kept without --out")
            raise
        return
    new = [folder for folder in (out, *out.parents) if not os.path.exists(folder)]
    try:
        with held(out):
            before = _FolderAsItWas(out)
            try:
                yield Run.create(out)
            except BaseException as error:
                # After an interruption the request is kept: the run can be resumed by it.
                refused = isinstance(error, InputError | MemoryError)
                if refused or not os.path.exists(out / REQUEST):
                    before.restore()
                    if isinstance(error, KeyboardInterrupt):
                        error.add_note("nothing was begun")
                elif isinstance(error, KeyboardInterrupt):
                    go_on = resume_command(Run(out))
                    go_on = go_on if "'" in go_on else f"'{go_on}'"
                    error.add_note(f"everything finished so far is kept; {go_on} goes on")
                raise
    except BaseException:
        with suppress(OSError):  # folders that hold something stay
            for folder in new:
                folder.rmdir()
        raise


class _FolderAsItWas:
    """What a folder holds before a command has worked in it."""

    def __init__(self, folder: Path):
        self.folder, self.request, self.result = folder, folder / REQUEST, folder / RESULT
        self.asked = self.request.read_bytes() if self.request.is_file() else None
        self.found = _written(self.result)
        self.names = set(os.listdir(folder))

    def restore(self) -> None:
        """Take back what was written before anything was found."""
        with suppress(OSError, InputError):
            if self.asked is not None:
                if self.request.read_bytes() != self.asked and _written(self.result) == self.found:
                    write_beside(self.request, self.asked)
                return
            new = set(os.listdir(self.folder)) - self.names - {LOCK}
            for name in new - {MARK, self.request.name}:
                if not name.endswith(".journal") or read_journal(self.folder / name)[0]:
                    return  # it can go on from there
            for name in new:
                (self.folder / name).unlink()


def _written(file: Path) -> tuple[int, int] | None:
    """What tells whether a file is written again."""
    return (file.stat().st_mtime_ns, file.stat().st_ino) if file.is_file() else None


def named_columns(text: str | None) -> list[str] | None:
    """The names of the columns as typed.

    >>> named_columns("word, pos,-,chunk")
    ['word', 'pos', '-', 'chunk']
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(
            f"columns is {text!r}; names with commas are expected: word,pos,chunk "
            f"('{LEFT_OUT}' leaves one out)"
        )
    return names
