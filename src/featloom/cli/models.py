"""The model that a command uses: in a file, or in the folder of a run.

Each kind of model has a command of its own, and a command that is given another kind says which.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

MODEL = "model.featloom"
USED_BY = {"memory": "predict", "tagger": "tag", "parser": "parse"}

Learner = TypeVar("Learner")


def open_model(
    model: Path, load: Callable[[Path], Learner], *, kind: str, made_by: str
) -> tuple[Learner, Path]:
    """The model of a run, or the one in a file; and the file.

    Parameters
    ----------
    load : reads the file.
    kind : of the models that it reads.
    made_by : command that makes them.
    """
    from featloom.errors import InputError, ReadError
    from featloom.runs import Run

    path = model
    if model.is_dir():
        path = Run.open(model).path / MODEL
        if not path.exists():
            if not (model / "result.json").exists():
                raise InputError(f"{model} has not finished; go on by 'featloom resume {model}'")
            raise ReadError(f"not there; 'featloom {made_by}' makes one", file=str(path))
    try:
        return load(path), path
    except ReadError:
        command = _command_of_another(path, kind)
        if command is None:
            raise
        found, use = command
        message = f"a model of kind {found!r}; 'featloom {use}' uses it"
        raise ReadError(message, file=str(path)) from None


def _command_of_another(path: Path, kind: str) -> tuple[str, str] | None:
    """The kind of a sound model and its command, where it is none of the kind asked for."""
    from featloom.errors import ReadError
    from featloom.formats.models import load_model

    try:
        found = load_model(path).kind
    except ReadError:
        return None
    return None if found == kind or found not in USED_BY else (found, USED_BY[found])
