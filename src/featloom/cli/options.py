"""Options that mean the same in every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path, typer.Argument(help="File or folder with the data, or the name of a corpus.")
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column that holds the class.")]
Groups = Annotated[
    str | None,
    typer.Option("--groups", help="Column of documents; rows of one are never split apart."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the run.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads or processes; -1: all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
OnBadRow = Annotated[
    str, typer.Option("--on-bad-row", help="What to do with a ragged row: raise or skip.")
]


def command_line() -> str:
    """The command as it was typed, for the record of the run."""
    import shlex
    import sys

    return shlex.join(["featloom", *sys.argv[1:]])


def load(data: Path, **options):
    """Read what DATA names: a file, a folder, or one of the named corpora."""
    from featloom.data.corpora import corpora

    if not data.exists() and str(data) in {corpus.name for corpus in corpora()}:
        from featloom.data.tasks.ready import load as load_corpus

        return load_corpus(str(data))
    from featloom.data.readers import read

    given = {name: value for name, value in options.items() if value is not None}
    if given.get("on_bad_row") == "raise":
        # The default of every reader that has the choice; not all do.
        del given["on_bad_row"]
    return read(data, **given)
