"""The two faults a user can be told about in one line.

``ReadError`` names file, line and column; ``InputError`` says which value of which
parameter or which part of the data cannot be used.  The command line prints either as
one line and exits with 1; in Python both are ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class ReadError(InputError):
    """A file cannot be read: ``train.conll:1204:3: 2 columns, 3 expected``."""

    def __init__(
        self, message: str, *, file: str, line: int | None = None, column: int | str | None = None
    ):
        self.file, self.line, self.column = file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}")

    def __reduce__(self):
        return (_rebuild_read_error, (str(self), self.file, self.line, self.column))


def _rebuild_read_error(text, file, line, column):
    error = ReadError("", file=file, line=line, column=column)
    error.args = (text,)
    return error


def meant(name: str, known: Iterable[str]) -> str:
    """What to add to an error about a name that is none of those there are.

    >>> meant("survived", ["PassengerId", "Survived"]), meant("late", ["area", "plan"])
    ("; did you mean 'Survived'?", '')
    """
    by_letters = {one.casefold(): one for one in map(str, known)}
    near = get_close_matches(str(name).casefold(), by_letters, n=1, cutoff=0.75)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""


def missing(what: str, names: Sequence[str]) -> str:
    """Names that are not there, all at once.

    >>> missing("column", ["area"]), missing("column", ["area", "plan"])
    ("no column 'area'", "no columns 'area', 'plan'")
    """
    return f"no {what}{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
