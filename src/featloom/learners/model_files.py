"""A memory-based learner as a file: its settings, and every case it stores.

What is written is what the learner was given (values, classes, and the order in which they came,
which settles ties), not what it made of it; the index is built again on loading.  So a file is
small, and a learner that was loaded answers to the last tie as the one that was saved.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from featloom.data.class_types import class_values, type_of_values
from featloom.data.table import NominalTable
from featloom.errors import InputError
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
from featloom.learners.inputs import TableReader, class_names
from featloom.learners.memory import MemoryClassifier

_NOT_WRITTEN = ("n_jobs",)  # of the machine, not of the model
# What is kept for a column beside its cells: counts, their arrays, and what they are made of.
_OF_COLUMN = 4096


class _Description(msgspec.Struct):
    parameters: dict[str, Any]
    columns: list[str]
    target: str
    named: bool
    n_values: list[int]
    class_names: list[str] | None = None  # older files have none


LAYOUT = Layout(
    "memory",
    _Description,
    {
        # As numbers of 32 bits, sorted, merged, counted and as a tree.
        "codes": Numbers("u1 u2 u4 u8", "cases", "columns", makes=32),
        "labels": Numbers("u1 u2 u4 u8", "cases", makes=100),
        **names("values", "value_starts"),
        **names("classes", "class_starts", optional=True),
        "classes_fixed": Numbers("b1", optional=True),
        "class_numbers": Numbers(
            "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8", "classes", optional=True, makes=100
        ),
    },
)


def save_memory(classifier: MemoryClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted learner, all of it or nothing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> memory = MemoryClassifier(k=3).fit([["c", "a"], ["c", "e"], ["s", "e"]], ["K", "S", "S"])
    >>> with TemporaryDirectory() as folder:
    ...     save_memory(memory, Path(folder, "letters.featloom"))
    ...     loaded = load_memory(Path(folder, "letters.featloom"))
    >>> loaded.k, loaded.predict([["c", "o"]]).tolist()
    (3, ['S'])
    """
    table = classifier._reader.table
    assert table is not None
    description = {
        "parameters": {
            name: _plain(value)
            for name, value in classifier.get_params(deep=False).items()
            if name not in _NOT_WRITTEN
        },
        "columns": list(table.columns),
        "target": table.target,
        "class_names": class_names(table, classifier.classes_),
        "named": hasattr(classifier, "feature_names_in_"),
        "n_values": [len(vocabulary) for vocabulary in table.vocabularies],
    }
    values = [value for vocabulary in table.vocabularies for value in vocabulary]
    packed, starts = pack_strings(values)
    highest = max((len(vocabulary) for vocabulary in table.vocabularies), default=0)
    arrays = {
        "codes": np.asarray(classifier._codes, dtype=np.min_scalar_type(highest)),
        "labels": classifier._labels.astype(np.min_scalar_type(len(classifier.classes_))),
        "values": packed,
        "value_starts": starts,
        **_class_arrays(classifier.classes_),
    }
    save_model(path, LAYOUT.kind, description, arrays)


def load_memory(path: str | os.PathLike[str]) -> MemoryClassifier:
    """Read and check what ``save_memory`` wrote; a file of another kind is refused."""
    model = load_model(path, layout=LAYOUT)
    with fitting_parts(path):
        return _restored(model)


def _restored(model: Model) -> MemoryClassifier:
    description, arrays = model.description, model.arrays
    check_written(description.parameters, _NOT_WRITTEN)
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in description.parameters.items()
    }
    classifier = MemoryClassifier(**parameters)
    classifier._check_parameters()
    columns = tuple(description.columns)
    model.room.take(_OF_COLUMN * len(columns))
    codes = np.asfortranarray(arrays["codes"].astype(np.int32))
    labels = arrays["labels"].astype(np.int64)
    vocabularies = cut_names(model.strings("values", "value_starts"), description.n_values)
    classes = _classes(model)
    of_classes = description.class_names
    names = tuple(map(str, classes.tolist()) if of_classes is None else of_classes)
    fits = (
        codes.shape == (len(labels), len(columns))
        and len(vocabularies) == len(columns)
        and all(codes[:, j].max(initial=0) <= len(v) for j, v in enumerate(vocabularies))
        and np.array_equal(np.unique(labels), np.arange(len(classes)))
        and codes.min(initial=0) >= 0
        and np.array_equal(class_values(names, type_of_values(classes)), classes)
    )
    if not fits:
        raise InputError("codes and vocabularies differ")
    classifier._reader = TableReader()
    classifier._reader.table = NominalTable(
        columns, codes, vocabularies, target=description.target,
        classes=names, class_type=type_of_values(classes),
    )  # fmt: skip
    classifier.n_features_in_ = len(columns)
    if description.named:
        classifier.feature_names_in_ = np.array(columns, dtype=object)
    classifier._codes, classifier._labels, classifier.classes_ = codes, labels, classes
    classifier._remember()
    return classifier


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: a list for a tuple or an array, a plain number for NumPy's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _class_arrays(classes: np.ndarray) -> dict[str, np.ndarray]:
    if classes.dtype.kind in "biuf":
        return {"class_numbers": classes}
    names = classes.tolist()
    for name in names:
        if not isinstance(name, str):
            kind = type(name).__name__
            raise InputError(f"class {name!r} is of type {kind}; text and numbers can be saved")
    packed, starts = pack_strings(names)
    # Texts of NumPy's own kind come back as such.
    fixed = np.array(classes.dtype.kind == "U")
    return {"classes": packed, "class_starts": starts, "classes_fixed": fixed}


def _classes(model: Model) -> np.ndarray:
    if ("class_numbers" in model.arrays) == ("classes" in model.arrays):
        raise InputError("classes are either text or numbers")
    if "class_numbers" in model.arrays:
        return model.arrays["class_numbers"]
    names = model.strings("classes", "class_starts")
    if not model.arrays["classes_fixed"]:
        return np.array(names, dtype=object)
    # As wide as the longest of them, four bytes a letter.
    model.room.take(4 * len(names) * max(map(len, names), default=0))
    return np.array(names, dtype=np.str_)
