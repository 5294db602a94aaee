"""The named choices of a search, and the name of a candidate.

A candidate is a plain dict that picks one value for every choice: ``{"k": 3, "weights":
"gain_ratio"}``.  Values are what JSON can hold, because candidates are written to the journal
and read back.  Some combinations make no sense (a conjunction kept from more partners than there
are features, l > k); ``valid`` says which ones do.

The *key* of a candidate is its JSON text with sorted names.  Two candidates are the same if and
only if their keys are: 1, 1.0 and True, equal in Python, are three different values here.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featloom.errors import InputError
from featloom.words import no_such

Candidate = dict[str, Any]


def json_text(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, floats to the last bit.

    numpy numbers and arrays are written as plain numbers and lists.

    >>> json_text({"l": 0.1, "k": np.int64(3)})
    '{"k":3,"l":0.1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain
    )


def candidate_key(candidate: Mapping[str, Any]) -> str:
    """The canonical text of a candidate, of whatever space.

    >>> candidate_key({"weights": "none", "k": 1})
    '{"k":1,"weights":"none"}'
    """
    return json_text(candidate)


class SearchSpace:
    """Named choices, in order, and the combinations of them that are valid.

    Parameters
    ----------
    choices : for each name the values to choose from, all different; what JSON can hold.
    valid : says whether a candidate makes sense; None: all do.
    size : how many candidates make sense, where that is known without counting them.

    Examples
    --------
    >>> space = SearchSpace({"k": [1, 2], "l": [1, 2]}, valid=lambda c: c["l"] <= c["k"])
    >>> list(space)
    [{'k': 1, 'l': 1}, {'k': 2, 'l': 1}, {'k': 2, 'l': 2}]
    >>> len(space)
    3
    >>> space.key({"l": 1, "k": 2})
    '{"k":2,"l":1}'
    """

    def __init__(
        self,
        choices: Mapping[str, Sequence[Any]],
        valid: Callable[[Candidate], bool] | None = None,
        size: int | None = None,
    ):
        self.choices = {name: _checked_values(name, values) for name, values in choices.items()}
        self.valid = valid
        self._allowed = {
            name: {json_text(value) for value in values} for name, values in self.choices.items()
        }
        self._size = size

    def __iter__(self) -> Iterator[Candidate]:
        """All valid candidates; the last choice changes fastest."""
        for values in itertools.product(*self.choices.values()):
            candidate = dict(zip(self.choices, values, strict=True))
            if self.valid is None or self.valid(candidate):
                yield candidate

    def __len__(self) -> int:
        """How many candidates are valid; where nobody said it they are counted, once."""
        if self._size is None:
            if self.valid is None:
                self._size = math.prod(len(values) for values in self.choices.values())
            else:
                self._size = sum(1 for _ in self)
        return self._size

    def __contains__(self, candidate: object) -> bool:
        try:
            self.check(candidate)  # type: ignore[arg-type]
        except (InputError, TypeError, AttributeError):
            return False
        return True

    def key(self, candidate: Mapping[str, Any]) -> str:
        """The canonical text of a candidate of this space; any other is refused."""
        self.check(candidate)
        return candidate_key(candidate)

    def check(self, candidate: Mapping[str, Any]) -> None:
        """Refuse a candidate that lacks a choice, has one too many, or a value not offered."""
        for name in candidate:
            if name not in self.choices:
                raise InputError(no_such("choice", name, self.choices))
        for name, values in self.choices.items():
            if name not in candidate:
                raise InputError(f"candidate has no value for {name!r}")
            if _text(name, candidate[name]) not in self._allowed[name]:
                offered = ", ".join(json_text(value) for value in values)
                raise InputError(f"{name!r} cannot be {candidate[name]!r}; choose from {offered}")
        if self.valid is not None and not self.valid(dict(candidate)):
            raise InputError(f"{candidate_key(candidate)} is not a valid combination")

    def describe(self) -> dict[str, list[Any]]:
        """The choices as plain JSON, for the journal's description of the search."""
        return {name: list(values) for name, values in self.choices.items()}


def _checked_values(name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(values, str):
        raise InputError(f"choice {name!r} needs a list of values, not the text {values!r}")
    # Through JSON and back, so that a candidate read from a journal is the candidate asked for.
    texts = [_text(name, value) for value in values]
    if not texts:
        raise InputError(f"choice {name!r} has no values")
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InputError(f"choice {name!r} offers {twice} twice")
    return tuple(json.loads(text) for text in texts)


def _text(name: str, value: Any) -> str:
    try:
        return json.dumps(
            value,
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
            default=_plain,
        )
    except (TypeError, ValueError):
        raise InputError(f"{name!r} cannot be {value!r}: not a value that JSON can hold") from None


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is not a value that JSON can hold")
