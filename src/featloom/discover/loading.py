"""The model that a run left behind, or that is in a file, whatever it is.

Each kind of model has its command, and a command that is given another kind says which.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from featloom.errors import InputError, ReadError
from featloom.features.plan import FeaturePlan
from featloom.formats.models import kind_of_model
from featloom.learners.memory import MemoryClassifier
from featloom.learners.parser import DependencyParser
from featloom.learners.plan_model import PlanModel
from featloom.learners.tagger import SequenceTagger
from featloom.methods.transfer import RelevancePrior
from featloom.methods.transfer.task_models import TaskModels
from featloom.runs import MODEL, PLAN, PRIOR, RESULT, Run, read_result

USED_BY = {
    "memory": "predict",
    "linear": "predict",
    "tasks": "predict",
    "tagger": "tag",
    "parser": "parse",
}

# Every command leaves its model, which in earlier versions not all of them did.
_OLD = "the run is of an earlier version, or its model was removed; run the command again"
Learner = TypeVar("Learner")


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a run, or the one in a file, ready to predict.

    Of a run that keeps no model, what it found: a :class:`RelevancePrior` of ``featloom transfer``,
    the templates of ``featloom grow`` as a :class:`FeaturePlan`.

    Parameters
    ----------
    path : folder of a run, or its model file.

    Returns
    -------
    PlanModel, MemoryClassifier, TaskModels, SequenceTagger or DependencyParser
        with ``predict``, which takes what it was learned from: a DataFrame, an array, lists or a
        table of ``featloom.read``; sentences for a tagger, trees for a parser.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from featloom import NominalTable, discover
    >>> rows = [[a, b] for a in "ckgs" for b in "aeiou"] * 8
    >>> sounds = [int(b in "ei") for a, b in rows]
    >>> found = discover(rows, sounds, only=["linear model"], budget=None, n_jobs=1, verbose=False)
    >>> with TemporaryDirectory() as folder:
    ...     names = found.save(folder)
    ...     model = load(Path(folder, names[0]))
    >>> model.predict([["c", "e"], ["c", "a"]])
    array([1, 0])
    """
    path = Path(path)
    if os.path.isdir(path) and not (path / MODEL).exists():
        folder = Run.open(path).path
        if (folder / PRIOR).exists():
            return RelevancePrior.load(folder / PRIOR)
        if (folder / PLAN).exists():
            return FeaturePlan.from_json((folder / PLAN).read_text(encoding="utf-8"))
    loaders = {
        "linear": PlanModel.load,
        "memory": MemoryClassifier.load,
        "tasks": TaskModels.load,
        "tagger": SequenceTagger.load,
        "parser": DependencyParser.load,
    }
    return open_model(path, loaders)[0]


def open_model(
    model: Path, loaders: Mapping[str, Callable[[Path], Learner]]
) -> tuple[Learner, Path]:
    """The model of a run, or the one in a file; and the file.

    Parameters
    ----------
    loaders : for each kind of model that can be used, what reads the file.
    """
    path = model
    if os.path.isdir(model):  # names that no system takes are files that are not there
        path = model / MODEL
        if not path.exists():
            Run.open(model)
            if not (model / RESULT).exists():
                raise InputError(f"{model} has not finished; go on by 'featloom resume {model}'")
            result = read_result(model)
            chosen = result.get("chosen") if result.get("kind") == "discover" else None
            why = f"{chosen!r} was chosen, which keeps no model" if chosen else _OLD
            raise ReadError(f"not there; {why}", file=str(path))
    found = kind_of_model(path)
    if found in loaders:
        return loaders[found](path), path
    use = USED_BY.get(found)
    *others, last = map(repr, loaders)
    kinds = f"{', '.join(others)} or {last}" if others else last
    message = f"a model of kind {found!r:.60}; " + (
        f"{kinds} is expected" if use is None else f"'featloom {use}' uses it"
    )
    raise ReadError(message, file=str(path))
