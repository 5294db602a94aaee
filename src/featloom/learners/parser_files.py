"""A parser as a file: its templates, its edge columns with their values, and its weights.

The tables of weights have a slot for every hash and are mostly zeros, so a file holds the weights
that are not 0 and how far each lies from the one before.  What the templates look at is written as
it was given to the layout, in the same order: a parser that was loaded adds up the same numbers in
the same order, and answers bit for bit as the one that was saved.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from featloom.data.columns import column_maker
from featloom.data.edges import EdgeColumn, EdgeReader
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.formats.models import (
    Layout,
    Model,
    Numbers,
    Room,
    check_written,
    cut_names,
    fitting_parts,
    load_model,
    names,
    pack_strings,
    save_model,
)
from featloom.kernels.edges import N_COUNTS, N_DISTANCES, N_SIDES
from featloom.learners.edge_model import EdgeModel, EdgeTemplates, Pilot, RelationModel
from featloom.learners.parser import DependencyParser

# What the layout of a template takes, beside the hashes of its pair part.
_OF_TEMPLATE = 4096


class _Pilot(msgspec.Struct):
    templates: list[list[str]]
    bits: int
    ratio: float


class _Relations(msgspec.Struct):
    templates: list[list[str]]
    bits: int
    names: list[str]


class _Description(msgspec.Struct):
    parameters: dict[str, Any]
    templates_from: str | None
    grown_on: list[str] | None
    makers: list[dict[str, Any]]
    edge_columns: list[str]
    token_columns: list[str]
    n_values: list[int]
    single_root: bool
    templates: list[list[str]]
    pilot: _Pilot | None
    relations: _Relations | None


def _weights(name: str, *, optional: bool = False) -> dict[str, Numbers]:
    """Weights that are not 0, and steps from one to the next, which become places."""
    return {
        name: Numbers("f4", name, optional=optional),
        f"{name}_steps": Numbers("u1 u2 u4 u8", name, optional=optional, makes=24),
    }


LAYOUT = Layout(
    "parser",
    _Description,
    {
        **_weights("weights"),
        **_weights("pilot_weights", optional=True),
        **_weights("relation_weights", optional=True),
        **names("values", "value_starts"),
    },
)
# Threads and progress are of the machine; the others are written in another form.
_NOT_WRITTEN = ("n_jobs", "progress", "random_state", "templates", "columns", "derived")


def save_parser(parser: DependencyParser, path: str | os.PathLike[str]) -> None:
    """Write a fitted parser, all of it or nothing.

    The trees that its templates grew on are not written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> sentence = [("He", "he", "PRON", "_", "_", 2, "nsubj"),
    ...             ("ran", "run", "VERB", "_", "_", 0, "root")]
    >>> parser = DependencyParser(bits=12).fit([sentence] * 20)
    >>> with TemporaryDirectory() as folder:
    ...     save_parser(parser, Path(folder, "trees.featloom"))
    ...     loaded = load_parser(Path(folder, "trees.featloom"))
    >>> loaded.predict_trees([[("She", "she", "PRON", "_", "_"), ("ran", "run", "VERB", "_", "_")]])
    [[(2, 'nsubj'), (0, 'root')]]
    """
    reader = parser._reader
    parameters = {k: _plain(v) for k, v in parser.get_params(deep=False).items()}
    description: dict[str, Any] = {
        "parameters": {k: v for k, v in parameters.items() if k not in _NOT_WRITTEN},
        "templates_from": parser.templates if isinstance(parser.templates, str) else None,
        "grown_on": None if parser.columns is None else list(parser.columns),
        "makers": [maker.to_dict() for maker in parser._makers],
        "edge_columns": [column.name for column in reader.columns],
        "token_columns": list(reader.token_columns),
        "n_values": [len(vocabulary) for vocabulary in reader.vocabularies],
        "single_root": parser.single_root_,
        "templates": _names(parser.templates_),
        "pilot": None,
        "relations": None,
    }
    arrays: dict[str, np.ndarray] = {}
    values = [value for vocabulary in reader.vocabularies for value in vocabulary]
    arrays["values"], arrays["value_starts"] = pack_strings(values)
    _pack_weights(arrays, "weights", parser.model_.weights)
    if parser._pilot is not None:
        layout = parser._pilot.templates
        description["pilot"] = {
            "templates": _names(parser._template_parts["pilot"]),
            "bits": layout.bits,
            "ratio": float(parser._pilot.ratio),
        }
        _pack_weights(arrays, "pilot_weights", parser._pilot.weights)
    if parser._relation_model is not None:
        layout = parser._relation_model.templates
        description["relations"] = {
            "templates": _names(parser._template_parts["relations"]),
            "bits": layout.bits,
            "names": list(parser.relations_),
        }
        _pack_weights(arrays, "relation_weights", parser._relation_model.weights)
    save_model(path, LAYOUT.kind, description, arrays)


def load_parser(path: str | os.PathLike[str]) -> DependencyParser:
    """Read and check what ``save_parser`` wrote; a file of another kind is refused."""
    model = load_model(path, layout=LAYOUT)
    with fitting_parts(path):
        return _restored(model)


def _restored(model: Model) -> DependencyParser:
    description, arrays = model.description, model.arrays
    templates = _templates(description.templates)
    named = description.templates_from
    check_written(description.parameters, _NOT_WRITTEN)
    parser = DependencyParser(
        **description.parameters,
        templates=templates if named is None else named,
        columns=description.grown_on,
        derived=description.makers,
    )
    parser._check_parameters()
    parser._makers = [column_maker(maker) for maker in description.makers]
    parser._reader = reader = _reader(model)
    parser.templates_, parser.single_root_ = templates, description.single_root
    parser._template_parts = {"pilot": [], "relations": []}
    _make_room(model.room, reader, templates, parser.bits)
    parser.model_ = EdgeModel(
        EdgeTemplates(reader, templates, parser.bits),
        projective=parser.decoder == "eisner",
        single_root=parser.single_root_,
    )
    _fill(parser.model_.weights, arrays, "weights")
    parser._pilot, parser._relation_model, parser.relations_ = None, None, ()
    parser._trained_on = None
    if (pilot := description.pilot) is not None:
        parser._template_parts["pilot"] = templates = _templates(pilot.templates)
        _make_room(model.room, reader, templates, pilot.bits)
        parser._pilot = Pilot(EdgeTemplates(reader, templates, pilot.bits), pilot.ratio)
        _fill(parser._pilot.weights, arrays, "pilot_weights")
    if (relations := description.relations) is not None:
        parser._template_parts["relations"] = templates = _templates(relations.templates)
        _make_room(model.room, reader, templates, relations.bits, len(relations.names))
        layout = EdgeTemplates(reader, templates, relations.bits, for_relations=True)
        parser.relations_ = tuple(relations.names)
        parser._relation_model = RelationModel(layout, len(parser.relations_))
        _fill(parser._relation_model.weights, arrays, "relation_weights")
    return parser


def _make_room(
    room: Room, reader: EdgeReader, templates: Sequence[Template], bits: int, width: int = 1
) -> None:
    """Count a table of weights, and the layout of the templates that look into it."""
    if not 8 <= bits <= 30:
        raise InputError(f"a table of 2**{bits} weights")
    if width < 1:
        raise InputError("there are no relations")
    n_pairs = N_SIDES * N_DISTANCES * N_COUNTS ** len(reader.of_kind("count"))
    # At most one pair part a template, with a hash for all that a pair can be.
    room.take((width << bits) * 4 + (len(templates) + 1) * (_OF_TEMPLATE + 8 * n_pairs))


def _names(templates: Sequence[Template]) -> list[list[str]]:
    """The edge columns of each template."""
    return [[name for name, _ in template.places] for template in templates]


def _templates(names: Sequence[Sequence[str]]) -> list[Template]:
    return [Template(tuple((name, 0) for name in one)) for one in names]


def _reader(model: Model) -> EdgeReader:
    token_columns = tuple(model.description.token_columns)
    vocabularies = cut_names(model.strings("values", "value_starts"), model.description.n_values)
    if len(vocabularies) != len(token_columns):
        raise InputError("there are more or fewer vocabularies than columns")
    columns = tuple(EdgeColumn.of(name) for name in model.description.edge_columns)
    if any(column.column and column.column not in token_columns for column in columns):
        raise InputError("an edge column is of no column that tokens have")
    return EdgeReader(columns, token_columns, vocabularies)


def _pack_weights(arrays: dict[str, np.ndarray], name: str, weights: np.ndarray) -> None:
    """The weights that are not 0, and how far each lies behind the one before."""
    flat = weights.ravel()
    at = np.flatnonzero(flat)
    steps = np.diff(at, prepend=-1)
    arrays[name] = flat[at]
    arrays[f"{name}_steps"] = steps.astype(np.min_scalar_type(int(steps.max(initial=1))))


def _fill(weights: np.ndarray, arrays: Mapping[str, np.ndarray], name: str) -> None:
    """Put the weights that are not 0 where they belong."""
    given, steps = arrays[name], arrays[f"{name}_steps"]
    # Sums that are beyond 64 bits come back below 0.
    at = np.cumsum(steps.astype(np.int64)) - 1
    if len(at) and (at[0] < 0 or at[-1] >= weights.size or (at[1:] <= at[:-1]).any()):
        raise InputError("a weight lies outside its table")
    weights.reshape(-1)[at] = given


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    return dict(value) if isinstance(value, Mapping) else value
