"""A tagger as a file: its templates, the features that have weights, and the weights.

A feature is written as a number, the joined codes of its values, so a file holds each value once:
in the vocabulary of its column.  Columns that no template looks at are left out, and so are
features whose weights are all 0, or so near to 0 that they may be dropped.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec
import numpy as np

from featloom.data.columns import column_maker
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.expansion import TemplateExpansion
from featloom.features.plan import FeaturePlan
from featloom.formats.models import (
    Layout,
    Model,
    Numbers,
    check_written,
    cut_names,
    fitting_parts,
    load_model,
    names,
    pack_strings,
    save_model,
)
from featloom.learners.tagger import SequenceTagger


class _Description(msgspec.Struct):
    parameters: dict[str, Any]
    plan: str
    input_columns: list[str]
    columns: list[str]
    n_values: list[int]
    # For each template the parts that it is joined in: how many places each has.
    parts: list[list[int]]
    pair_parts: list[list[int]]


_FARTHEST = 10**6  # tokens away
# As numbers of 64 bits, and the table that finds them.
_KEYS = Numbers("u1 u2 u4 u8", "*", optional=True, makes=24)
LAYOUT = Layout(
    "tagger",
    _Description,
    {
        "weights": Numbers("f4", "features", "classes"),
        "candidate_weights": Numbers("f4", "features", "classes", optional=True),
        "pair_weights": Numbers("f4", "pairs", "classes", "classes", optional=True),
        "keys_*": _KEYS,
        "pair_keys_*": _KEYS,
        **names("values", "value_starts"),
        **names("classes", "class_starts"),
    },
)
# The number of threads is of the machine; templates are in the plan that is written.
_NOT_WRITTEN = ("n_jobs", "templates", "plan", "random_state")


def save_tagger(
    tagger: SequenceTagger, path: str | os.PathLike[str], *, threshold: float = 0.0
) -> None:
    """Write a fitted tagger, all of it or nothing.

    Parameters
    ----------
    tagger : a fitted one.
    path : file to write.
    threshold : features none of whose weights is further from 0 are left out; with 0 the tagger
        that is loaded answers as this one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> tagger = SequenceTagger(templates=["U0:%x[0,0]", "B"], passes=3)
    >>> tagger = tagger.fit([["the", "cat"], ["a", "dog"]], [["DT", "NN"], ["DT", "NN"]])
    >>> with TemporaryDirectory() as folder:
    ...     save_tagger(tagger, Path(folder, "tags.featloom"))
    ...     loaded = load_tagger(Path(folder, "tags.featloom"))
    >>> loaded.predict([["the", "dog"]])
    [['DT', 'NN']]
    """
    if not threshold >= 0:
        raise InputError(f"threshold is {threshold}; it must not be below 0")
    model, candidates = tagger.model_, tagger._filter
    n_labels = model.n_labels
    arrays = {"weights": model.weights[:, :n_labels]}
    if candidates is not None:
        arrays["candidate_weights"] = candidates.weights[:, :n_labels]
    kept = _is_used(list(arrays.values()), threshold)
    arrays = {name: weights[kept] for name, weights in arrays.items()}
    kept_pairs = _is_used([model.pair_weights[1:, :, :n_labels]], threshold)
    if model.kind != "maxent":
        arrays["pair_weights"] = model.pair_weights[:, :, :n_labels][np.append(True, kept_pairs)]
    columns = _columns_of(tagger)
    vocabularies = [tagger._table.vocabularies[tagger._table.column_index(c)] for c in columns]
    arrays["values"], arrays["value_starts"] = pack_strings([v for vs in vocabularies for v in vs])
    arrays["classes"], arrays["class_starts"] = pack_strings(tagger.classes_.tolist())
    parameters = tagger.get_params(deep=False)
    description = {
        "parameters": {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in parameters.items()
            if name not in _NOT_WRITTEN
        },
        "plan": tagger._plan.to_json(),
        "input_columns": list(tagger.columns_),
        "columns": columns,
        "n_values": [len(vocabulary) for vocabulary in vocabularies],
        "parts": _write_parts(arrays, "keys", tagger._expansion, kept),
        "pair_parts": _write_parts(arrays, "pair_keys", tagger._pair_expansion, kept_pairs),
    }
    save_model(path, LAYOUT.kind, description, arrays)


def load_tagger(path: str | os.PathLike[str]) -> SequenceTagger:
    """Read and check what ``save_tagger`` wrote; a file of another kind is refused."""
    model = load_model(path, layout=LAYOUT)
    with fitting_parts(path):
        return _restored(model)


def _restored(model: Model) -> SequenceTagger:
    description, arrays = model.description, model.arrays
    plan = FeaturePlan.from_json(description.plan)
    for spec in plan.derived:
        column_maker(spec)  # refuses what is none
    # Earlier taggers averaged the weights of passes.
    parameters = {name: v for name, v in description.parameters.items() if name != "average"}
    check_written(parameters, _NOT_WRITTEN)
    tagger = SequenceTagger(**parameters, plan=plan)
    tagger._check_parameters()
    classes = model.strings("classes", "class_starts")
    if len(classes) < 2:
        raise InputError("a tagger has two labels at least")
    tagger.columns_ = tuple(description.input_columns)
    tagger.classes_ = np.array(classes, dtype=object)
    tagger._plan, tagger._table = plan, _table(model, tuple(classes))
    if any(abs(offset) >= _FARTHEST for one in plan.templates for _, offset in one.places):
        raise InputError("a template looks beyond every sentence")
    of_label, of_pair = tagger._templates_by_kind()
    for_labels = _read_parts(arrays, "keys", description.parts)
    for_pairs = _read_parts(arrays, "pair_keys", description.pair_parts)
    build = TemplateExpansion.from_parts
    tagger._expansion = build(tagger._table, of_label, for_labels, tagger.cutoff)
    tagger._pair_expansion = build(tagger._table, of_pair, for_pairs, tagger.cutoff)
    # Rows of weights are as wide as vector registers, and every model has a table of pairs.
    width = -(-len(classes) // 8) * 8
    n_pairs = 1 + tagger._pair_expansion.n_features
    rows = tagger._expansion.n_features + n_pairs * len(classes)
    model.room.take((1 if tagger.candidates is None else 2) * 4 * rows * width)
    tagger.model_ = tagger._new_model(tagger.model, None)
    _fill(tagger.model_.weights, arrays["weights"])
    if tagger.model != "maxent":
        _fill(tagger.model_.pair_weights, arrays["pair_weights"])
    tagger._filter = None
    if tagger.candidates is not None:
        tagger._filter = tagger._new_model("maxent", None)
        _fill(tagger._filter.weights, arrays["candidate_weights"])
    return tagger


def _columns_of(tagger: SequenceTagger) -> list[str]:
    """The columns that templates look at, in the table's order."""
    used = {name for template in tagger._plan.templates for name, _ in template.places}
    return [name for name in tagger._table.columns if name in used]


def _is_used(tables: list[np.ndarray], threshold: float) -> np.ndarray:
    """Which features have a weight further from 0 than the threshold, in any of the tables."""
    used = np.zeros(len(tables[0]), dtype=np.bool_)
    for weights in tables:
        largest = np.abs(weights).max(axis=tuple(range(1, weights.ndim)), initial=0)
        used |= largest > threshold
    return used


def _write_parts(
    arrays: dict[str, np.ndarray], name: str, expansion: TemplateExpansion, kept: np.ndarray
) -> list[list[int]]:
    """Add the keys of each template to the arrays; gives how many places each part has."""
    for t, parts in enumerate(expansion.parts):
        for p, (_, keys) in enumerate(parts):
            if p == len(parts) - 1:
                keys = keys[kept[expansion.first[t] : expansion.first[t + 1]]]
            largest = int(keys.max(initial=0))
            arrays[f"{name}_{t}_{p}"] = keys.astype(np.min_scalar_type(largest))
    return [[n for n, _ in parts] for parts in expansion.parts]


def _read_parts(
    arrays: dict[str, np.ndarray], name: str, places: list[list[int]]
) -> list[list[tuple[int, np.ndarray]]]:
    return [
        [(int(n), arrays[f"{name}_{t}_{p}"].astype(np.int64)) for p, n in enumerate(parts)]
        for t, parts in enumerate(places)
    ]


def _fill(padded: np.ndarray, weights: np.ndarray) -> None:
    """Put weights where they belong in rows that are as wide as vector registers."""
    if weights.shape[:-1] != padded.shape[:-1]:
        raise InputError("weights and features differ in number")
    padded[..., : weights.shape[-1]] = weights


def _table(model: Model, classes: tuple[str, ...]) -> NominalTable:
    """A table without rows that knows columns, vocabularies and classes."""
    columns = tuple(model.description.columns)
    values = model.strings("values", "value_starts")
    vocabularies = cut_names(values, model.description.n_values)
    if len(vocabularies) != len(columns):
        raise InputError("there are more or fewer vocabularies than columns")
    codes = np.empty((0, len(columns)), dtype=np.int32, order="F")
    no_labels = np.empty(0, dtype=np.int32)
    return NominalTable(columns, codes, vocabularies, labels=no_labels, classes=classes)
