"""The model that a command uses: in a file, or in the folder of a run.

Each kind of model has its command, and a command that is given another kind says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

MODEL = "model.featloom"
USED_BY = {
    "memory": "predict",
    "linear": "predict",
    "tasks": "predict",
    "tagger": "tag",
    "parser": "parse",
}

Learner = TypeVar("Learner")


def open_model(
    model: Path, loaders: Mapping[str, Callable[[Path], Learner]], *, made_by: str
) -> tuple[Learner, Path]:
    """The model of a run, or the one in a file; and the file.

    Parameters
    ----------
    loaders : for each kind of model that can be used, what reads the file.
    made_by : the commands that make them, in words.
    """
    from featloom.errors import InputError, ReadError
    from featloom.formats.models import kind_of_model
    from featloom.runs import Run

    path = model
    if model.is_dir():
        path = Run.open(model).path / MODEL
        if not path.exists():
            if not (model / "result.json").exists():
                raise InputError(f"{model} has not finished; go on by 'featloom resume {model}'")
            raise ReadError(f"not there; {made_by}", file=str(path))
    faults = {}
    for kind, load in loaders.items():
        # A file of another kind is refused before its arrays are read.
        try:
            return load(path), path
        except ReadError as fault:
            faults[kind] = fault
    found = kind_of_model(path)  # a file that is no model at all ends here
    if found in faults:
        raise faults[found]
    use = USED_BY.get(found)
    *others, last = map(repr, loaders)
    kinds = f"{', '.join(others)} or {last}" if others else last
    message = f"a model of kind {found!r:.60}; " + (
        f"{kinds} is expected" if use is None else f"'featloom {use}' uses it"
    )
    raise ReadError(message, file=str(path))
