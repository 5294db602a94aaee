"""Strings to codes: values are numbered from 1 in order of first appearance, 0 is "missing"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")


def encode(values: Sequence[str | None]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and vocabulary of a column.

    >>> encode(["b", "a", None, "b"])
    (array([1, 2, 0, 1], dtype=int32), ('b', 'a'))
    """
    import polars as pl

    series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=pl.String)
    series = series.cast(pl.String)
    vocabulary = series.drop_nulls().unique(maintain_order=True)
    codes = series.cast(pl.Enum(vocabulary)).to_physical().cast(pl.Int32)
    return (codes + 1).fill_null(0).to_numpy().astype(np.int32), tuple(vocabulary)


def encode_with(values: Sequence[str | None], vocabulary: Sequence[str]) -> np.ndarray:
    """Codes of values in a vocabulary that is there already; a value it lacks gets 0.

    >>> encode_with(["a", "z"], ("b", "a"))
    array([2, 0], dtype=int32)
    """
    code_of: dict[str | None, int] = {value: code for code, value in enumerate(vocabulary, start=1)}
    return np.fromiter((code_of.get(value, 0) for value in values), np.int32, len(values))


def plain_value(text: str) -> Any:
    """What a text says, however it is written: 7, 7.0 and 7.00 are one number, true and True one.

    Numbers with zeros before them are codes, and text like any other.

    >>> plain_value("7.00"), plain_value("07"), plain_value("TRUE"), plain_value("seven")
    (7.0, '07', True, 'seven')
    """
    if text[:1] in "tTfF" and text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    return float(text) if found[1] or found[2] else int(text)


def spelled_as(values: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Values that are not known as they are written, as those that are and say the same.

    A DataFrame has 7.0 where a file had 7.00, and True where it had true.

    >>> spelled_as(["7", "8", "yes", "True"], ["7.0", "no", "true"])
    ('7.0', '8', 'yes', 'true')
    """
    there = set(known)
    new = {value for value in values if value not in there and plain_value(value) != value}
    if not new:
        return tuple(values)
    # Kinds are told apart, for True equals 1.
    by_value: dict[Any, str] = {}
    for value in known:
        said = plain_value(value)
        if said is not value:
            by_value.setdefault((isinstance(said, bool), said), value)

    def spelled(value: str) -> str:
        said = plain_value(value)
        return by_value.get((isinstance(said, bool), said), value)

    return tuple(spelled(value) if value in new else value for value in values)
