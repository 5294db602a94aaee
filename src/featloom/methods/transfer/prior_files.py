"""A relevance prior as a file that can be read, compared and checked: JSON, a line a feature.

    {"format": "featloom relevance prior", "version": 1,
     "settings": {"bits": 6.0, …},
     "tasks": ["add", "ask", …],
     "features": {
      "dobj_money": {"number": 17, "family": "dobj", "candidate": 3, "selected": 2,
                     "candidate_in": ["add", "ask", "turn"], "selected_in": ["add", "turn"]},
      …}}

Features are sorted by name, so that two files can be compared line by line; ``number`` is the
place of a feature in the arrays that the prior gives.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from featloom.errors import InputError, ReadError
from featloom.formats.models import Room
from featloom.methods.transfer.families import Families, ListedFamilies, family_of
from featloom.runs import write_beside

if TYPE_CHECKING:
    from featloom.methods.transfer.relevance import RelevancePrior

# What is made of a byte of text at most, and what a task takes beside its letters.
_OF_TEXT, _OF_TASK = 32, 1024
FORMAT, VERSION = "featloom relevance prior", 1
SETTINGS = (
    "kappa",
    "family_kappa",
    "bits",
    "min_rows",
    "variance",
    "power",
    "rounds",
    "shuffle",
)


class _Feature(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    family: str
    candidate: int
    selected: int
    candidate_in: list[str | int]
    selected_in: list[str | int]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    settings: dict[str, int | float | str | None]
    feature_names_given: bool
    tasks: list[str | int]
    features: dict[str, _Feature]


def write_prior(prior: RelevancePrior, path: str | os.PathLike) -> None:
    """Write the counts and settings of a prior, beside and renamed."""
    write_beside(path, prior_text(prior))


def prior_text(prior: RelevancePrior) -> str:
    """The counts and settings of a prior as JSON."""
    tasks = [_plain(task) for task in prior.tasks_]
    names = prior.feature_names_
    candidate_in: list[list[str | int]] = [[] for _ in names]
    selected_in: list[list[str | int]] = [[] for _ in names]
    for task, (chosen, candidates) in zip(tasks, prior._counts.values(), strict=True):
        for j in candidates:
            candidate_in[j].append(task)
        for j in chosen:
            selected_in[j].append(task)
    families = prior.families_
    lines = []
    for j in sorted(range(len(names)), key=names.__getitem__):
        entry = {
            "number": j,
            "family": families[j],
            "candidate": len(candidate_in[j]),
            "selected": len(selected_in[j]),
            "candidate_in": candidate_in[j],
            "selected_in": selected_in[j],
        }
        lines.append(f"  {_json(names[j])}: {_json(entry)}")
    settings = {name: getattr(prior, name) for name in sorted(SETTINGS)}
    head = [
        f' "format": {_json(FORMAT)}',
        f' "version": {VERSION}',
        f' "settings": {_json(settings)}',
        f' "feature_names_given": {_json(prior.feature_names is not None)}',
        f' "tasks": {_json(tasks)}',
        ' "features": {\n' + ",\n".join(lines) + "\n }",
    ]
    return "{\n" + ",\n".join(head) + "\n}\n"


def read_prior(
    kind: type[RelevancePrior], path: str | os.PathLike, families: Families
) -> RelevancePrior:
    """Read a prior and check that its counts agree with one another."""
    room = Room(os.fspath(path), "the prior takes")
    try:
        with open(path, "rb") as stream:
            text = stream.read(room.most_bytes // _OF_TEXT + 1)
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", file=room.file) from None
    return prior_of(kind, text, room, families)


def prior_of(
    kind: type[RelevancePrior], text: bytes, room: Room, families: Families = None
) -> RelevancePrior:
    """The prior that :func:`prior_text` wrote; the room is that of the file it stood in."""
    path = room.file
    room.take(_OF_TEXT * len(text))
    content = _decoded(text, path)
    room.take(_OF_TASK * len(content.tasks))
    names = _checked_names(content, path)
    listed = {name: feature.family for name, feature in content.features.items()}
    others = families if callable(families) else family_of
    prior = kind(
        feature_names=names if content.feature_names_given else None,
        families=ListedFamilies(listed, others),
        **content.settings,  # type: ignore[arg-type]
    )
    try:
        prior._begin()
    except (InputError, TypeError) as error:
        raise ReadError(f"settings cannot be used: {error}", file=path) from None
    if not content.feature_names_given:
        prior._features._add(names)
    chosen: dict[Hashable, list[int]] = {task: [] for task in content.tasks}
    candidates: dict[Hashable, list[int]] = {task: [] for task in content.tasks}
    for name in names:
        feature = content.features[name]
        for task in feature.candidate_in:
            candidates[task].append(feature.number)
        for task in feature.selected_in:
            chosen[task].append(feature.number)
    for task in content.tasks:
        prior._keep(task, np.array(chosen[task], np.int64), np.array(candidates[task], np.int64))
    return prior


def _decoded(text: bytes, path: str) -> _File:
    try:
        content = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = " ".join(str(error).split())  # names of the file are in it, lines and all
        raise ReadError(f"not a relevance prior: {told}", file=path) from None
    if content.format != FORMAT:
        raise ReadError(f"format is {content.format!r}, not {FORMAT!r}", file=path)
    if content.version != VERSION:
        raise ReadError(f"version {content.version}; this program reads {VERSION}", file=path)
    return content


def _checked_names(content: _File, path: str) -> list[str]:
    """The names of the features in order, when everything said of them agrees."""

    def fault(message: str) -> ReadError:
        return ReadError(message, file=path)

    if set(content.settings) != set(SETTINGS):
        wrong = sorted(set(content.settings) ^ set(SETTINGS))[0]
        raise fault(f"setting {wrong!r} is missing or unknown")
    tasks = set(content.tasks)
    if len(tasks) < len(content.tasks):
        raise fault("a task is named twice")
    names: list[str | None] = [None] * len(content.features)
    for name, feature in content.features.items():
        if not 0 <= feature.number < len(names) or names[feature.number] is not None:
            raise fault(
                f"the number of feature {name!r} is {feature.number}: out of range or taken"
            )
        names[feature.number] = name
        met, selected = set(feature.candidate_in), set(feature.selected_in)
        if not met <= tasks:
            raise fault(f"feature {name!r} names a task that is not in the list")
        if not selected <= met:
            raise fault(f"feature {name!r} is selected in a task where it is no candidate")
        counts = (len(feature.candidate_in), len(feature.selected_in))
        if counts != (feature.candidate, feature.selected) or counts != (len(met), len(selected)):
            raise fault(f"the counts of feature {name!r} do not agree with its tasks")
    return [name for name in names if name is not None]


def _plain(task: Hashable) -> str | int:
    if isinstance(task, np.generic):
        task = task.item()
    if isinstance(task, (str, int)) and not isinstance(task, bool):
        return str(task) if isinstance(task, str) else task
    raise InputError(f"task {task!r} cannot be written; names of tasks are text or whole numbers")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda number: number.item())
