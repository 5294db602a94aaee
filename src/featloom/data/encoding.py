"""Strings to codes: values are numbered from 1 in order of first appearance, 0 is "missing"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
