"""Classes keep their type: what came as 0 and 1, or as truth values, is predicted as such.

Tables hold the texts of classes; beside them they say of what type the classes are: "str", "int",
"float" or "bool".  A column of text is of the type that a DataFrame would read it as, save that
numbers with a leading zero are codes and stay text.  Numbers with fractions stay text too, for
scikit-learn takes them for measurements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from featloom.formats.models import Fact

CLASS_TYPES = ("str", "int", "float", "bool")
_BOOLS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_INT = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,14})\.0*")
_WHOLE = 2.0**53  # up to here every whole number is a float of its own


def type_of_texts(texts: Sequence[str]) -> str:
    """The type of classes that were read as text.

    >>> type_of_texts(["0", "1"]), type_of_texts(["1.0", "2.0"]), type_of_texts(["true", "false"])
    ('int', 'float', 'bool')
    >>> type_of_texts(["yes", "no"]), type_of_texts(["01", "02"]), type_of_texts(["0.5", "1.5"])
    ('str', 'str', 'str')
    """
    for name, fits in (("bool", _BOOLS.__contains__), ("int", _INT.fullmatch)):
        if texts and all(map(fits, texts)):
            return name if _differ(texts, name) else "str"
    whole = bool(texts) and all(_INT.fullmatch(one) or _FLOAT.fullmatch(one) for one in texts)
    return "float" if whole and _differ(texts, "float") else "str"


def type_of_values(values: Sequence[Any] | np.ndarray) -> str:
    """The type of classes as Python, NumPy and data frames hold them; missing ones have no say.

    >>> type_of_values([1, 0, None]), type_of_values(np.array([1.0, np.nan]))
    ('int', 'float')
    >>> type_of_values([True, False]), type_of_values(["a", 1]), type_of_values([0.5, 1.0])
    ('bool', 'str', 'str')
    """
    kinds = {_kind(one) for one in set(map(type, values))} - {None}
    if "float" in kinds:
        numbers = np.array([one for one in values if _kind(type(one)) == "float"], dtype=float)
        numbers = numbers[~np.isnan(numbers)]
        whole = np.isfinite(numbers).all() and not (np.abs(numbers) >= _WHOLE).any()
        if not len(numbers):
            kinds.remove("float")  # of those that are missing alone
        elif not whole or (numbers % 1).any():
            return "str"
    if "int" in kinds and any(abs(one) >= 2**63 for one in values if _kind(type(one)) == "int"):
        return "str"
    return str(kinds.pop()) if len(kinds) == 1 else "str"


def class_values(texts: Sequence[str], class_type: str = "str") -> np.ndarray:
    """Classes as they are predicted, each in the place of its text.

    >>> class_values(["0", "1"], "int"), class_values(["b", "a"])
    (array([0, 1]), array(['b', 'a'], dtype=object))
    """
    if class_type == "bool":
        return np.array([_BOOLS[text] for text in texts], dtype=bool)
    if class_type == "int":
        return np.array([int(text) for text in texts], dtype=np.int64)
    if class_type == "float":
        return np.array([float(text) for text in texts], dtype=np.float64)
    return np.array([str(text) for text in texts], dtype=object)


class ClassType(Fact):
    """The type of classes as a part of a model; in older files they are text."""

    def __init__(self) -> None:
        super().__init__(Literal[CLASS_TYPES], "str")

    def fits(self, value: Any, state: Mapping[str, Any]) -> bool:
        return _differ(list(dict.fromkeys(state["classes"])), value)


def value_of(text: str, class_type: str) -> Any:
    """A class that may be none of those that are known; as text where it is of another type.

    >>> value_of("1.0", "int"), value_of("yes", "int"), value_of("true", "bool")
    (1.0, 'yes', True)
    """
    if class_type == "bool":
        return _BOOLS.get(text, text)
    if class_type in ("int", "float"):
        try:
            return float(text) if "." in text else int(text)
        except ValueError:
            return text
    return text


def _kind(kind: type) -> str | None:
    """The type of a class by that of its value; None where it is missing."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return None
    if issubclass(kind, bool | np.bool_):
        return "bool"
    if issubclass(kind, int | np.integer):
        return "int"
    return "float" if issubclass(kind, float | np.floating) else "str"


def type_of_both(first: str, second: str) -> str:
    """The type of the classes of two tables together."""
    return first if first == second else "str"


def _differ(texts: Sequence[str], class_type: str) -> bool:
    """Whether classes that differ as text still do."""
    return len(np.unique(class_values(texts, class_type))) == len(texts)
