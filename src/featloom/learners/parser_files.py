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

import numpy as np

from featloom.data.columns import column_maker
from featloom.data.edges import EdgeColumn, EdgeReader
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.formats.models import (
    Model,
    fitting_parts,
    load_model,
    pack_strings,
    save_model,
    unpack_strings,
)
from featloom.learners.edge_model import EdgeModel, EdgeTemplates, Pilot, RelationModel
from featloom.learners.parser import DependencyParser

KIND = "parser"
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
    save_model(path, KIND, description, arrays)


def load_parser(path: str | os.PathLike[str]) -> DependencyParser:
    """Read and check what ``save_parser`` wrote; a file of another kind is refused."""
    model = load_model(path, kind=KIND)
    with fitting_parts(path):
        return _restored(model)


def _restored(model: Model) -> DependencyParser:
    description, arrays = model.description, model.arrays
    templates = _templates(description["templates"])
    named = description["templates_from"]
    makers = [dict(maker) for maker in description["makers"]]
    parser = DependencyParser(
        **description["parameters"],
        templates=templates if named is None else named,
        columns=description["grown_on"],
        derived=makers,
    )
    parser._check_parameters()
    parser._makers = [column_maker(maker) for maker in makers]
    parser._reader = reader = _reader(description, arrays)
    parser.templates_, parser.single_root_ = templates, bool(description["single_root"])
    parser._template_parts = {"pilot": [], "relations": []}
    parser.model_ = EdgeModel(
        EdgeTemplates(reader, templates, parser.bits),
        projective=parser.decoder == "eisner",
        single_root=parser.single_root_,
    )
    _fill(parser.model_.weights, arrays, "weights")
    parser._pilot, parser._relation_model, parser.relations_ = None, None, ()
    parser._trained_on = None
    if (pilot := description["pilot"]) is not None:
        parser._template_parts["pilot"] = _templates(pilot["templates"])
        layout = EdgeTemplates(reader, parser._template_parts["pilot"], _bits(pilot))
        parser._pilot = Pilot(layout, float(pilot["ratio"]))
        _fill(parser._pilot.weights, arrays, "pilot_weights")
    if (relations := description["relations"]) is not None:
        parser._template_parts["relations"] = _templates(relations["templates"])
        layout = EdgeTemplates(
            reader, parser._template_parts["relations"], _bits(relations), for_relations=True
        )
        parser.relations_ = tuple(map(str, relations["names"]))
        parser._relation_model = RelationModel(layout, len(parser.relations_))
        _fill(parser._relation_model.weights, arrays, "relation_weights")
    return parser


def _names(templates: Sequence[Template]) -> list[list[str]]:
    """The edge columns of each template."""
    return [[name for name, _ in template.places] for template in templates]


def _templates(names: Sequence[Sequence[str]]) -> list[Template]:
    return [Template(tuple((str(name), 0) for name in one)) for one in names]


def _bits(part: Mapping[str, Any]) -> int:
    bits = int(part["bits"])
    if not 8 <= bits <= 30:
        raise InputError(f"a table of 2**{bits} weights")
    return bits


def _reader(description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> EdgeReader:
    values = unpack_strings(arrays["values"], arrays["value_starts"])
    token_columns = tuple(map(str, description["token_columns"]))
    ends = np.cumsum([0, *description["n_values"]]).tolist()
    if (
        ends[-1] != len(values)
        or len(ends) != len(token_columns) + 1
        or min(np.diff(ends), default=0) < 0
    ):
        raise InputError("there are more or fewer values than the columns have")
    columns = tuple(EdgeColumn.of(str(name)) for name in description["edge_columns"])
    if any(column.column and column.column not in token_columns for column in columns):
        raise InputError("an edge column is of no column that tokens have")
    vocabularies = (tuple(values[ends[j] : ends[j + 1]]) for j in range(len(token_columns)))
    return EdgeReader(columns, token_columns, tuple(vocabularies))


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
    if (
        given.dtype != weights.dtype
        or given.ndim != 1
        or steps.shape != given.shape
        or steps.dtype.kind != "u"
        or not np.isfinite(given).all()
    ):
        raise InputError("these arrays hold no weights")
    at = np.cumsum(steps.astype(np.int64)) - 1
    if len(at) and (steps.min() < 1 or at[-1] >= weights.size):
        raise InputError("a weight lies outside its table")
    weights.reshape(-1)[at] = given


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    return dict(value) if isinstance(value, Mapping) else value
