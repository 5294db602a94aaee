"""The two faults a user can be told about in one line.

``ReadError`` names file, line and column; ``InputError`` says which value of which
parameter or which part of the data cannot be used.  The command line prints either as
one line and exits with 1; in Python both are ``ValueError``.
"""

from __future__ import annotations


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class ReadError(InputError):
    """A file cannot be read: ``train.conll:1204:3: 2 columns, 3 expected``."""

    def __init__(
        self, message: str, *, file: str, line: int | None = None, column: int | str | None = None
    ):
        self.file, self.line, self.column = file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part not in (None, ""))
        super().__init__(f"{place}: {message}" if place else message)

    def __reduce__(self):
        return (_rebuild_read_error, (str(self), self.file, self.line, self.column))


def _rebuild_read_error(text, file, line, column):
    error = ReadError("", file=file, line=line, column=column)
    error.args = (text,)
    return error
