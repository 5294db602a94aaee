"""``featloom resume RUN``: go on where a run was stopped."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from featloom.cli import options
from featloom.cli.main import command_named
from featloom.cli.session import read_request, where_it_began
from featloom.errors import InputError
from featloom.runs import Run

_RESUMED = ("discover", "grow", "induce", "memory", "reproduce", "select", "transfer")
_FILES = ("data", "valid", "test", "timbl")


def resume(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Go on with a run that was stopped: what it had finished is taken from its journal."""
    run = Run.open(folder)
    name, asked = read_request(run)
    if name not in _RESUMED:
        raise InputError(f"{folder} was made by {name!r}, which cannot be resumed")
    command = command_named(name)
    known = inspect.signature(command).parameters
    unknown = [option for option in asked if option not in known]
    if unknown:
        raise InputError(f"{folder} was made with the option {unknown[0]!r}, which is not known")
    for option in _FILES:
        if asked.get(option) is not None:
            asked[option] = Path(asked[option])
    with where_it_began(run) as out:
        command(**asked, out=out, quiet=quiet, json=json)
