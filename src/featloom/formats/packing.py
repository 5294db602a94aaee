"""Whole numbers as a short text, for a place in JSON."""

from __future__ import annotations

import base64
import zlib

import numpy as np


def packed(numbers: np.ndarray) -> str:
    """Whole numbers as a short text.

    >>> unpacked(packed(np.array([3, 0, 70000]))).tolist()
    [3, 0, 70000]
    """
    return base64.b85encode(zlib.compress(numbers.astype("<i4").tobytes(), 9)).decode("ascii")


def unpacked(text: str) -> np.ndarray:
    """The numbers of :func:`packed`."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<i4").astype(np.int64)
