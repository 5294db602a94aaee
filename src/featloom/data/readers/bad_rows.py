"""What happens to a row that cannot be used: it stops the reading, or it is skipped and counted.

Skipping is never silent: one warning at the end says how many rows were left out and what was
wrong with the first of them.
"""

from __future__ import annotations

import sys
import warnings

from featloom.errors import InputError, ReadError
from featloom.words import counted

CHOICES = ("raise", "skip")


class BadRows:
    """The rows of one file that cannot be used.

    Parameters
    ----------
    file : name of the file.
    on_bad_row : "raise" stops at the first one, "skip" counts them.
    unit : what is skipped, in the singular.

    Examples
    --------
    >>> bad_rows = BadRows("pp.csv", "skip")
    >>> bad_rows.add("5 columns, 4 expected", line=3)
    >>> bad_rows.count
    1
    >>> BadRows("pp.csv", "raise").add("5 columns, 4 expected", line=3)
    Traceback (most recent call last):
        ...
    featloom.errors.ReadError: pp.csv:3: 5 columns, 4 expected
    """

    def __init__(self, file: str, on_bad_row: str, unit: str = "row"):
        if on_bad_row not in CHOICES:
            raise InputError(f"on_bad_row is {on_bad_row!r}; it must be 'raise' or 'skip'")
        self.file, self.skips, self.unit = file, on_bad_row == "skip", unit
        self.count = 0
        self.first: ReadError | None = None

    def add(self, message: str, *, line: int, column: int | None = None) -> None:
        """Tell of one bad row; raises unless bad rows are skipped."""
        self.add_error(ReadError(message, file=self.file, line=line, column=column))

    def add_error(self, error: ReadError) -> None:
        """The same, of a fault that is at hand as an error."""
        if not self.skips:
            raise error
        self.count += 1
        self.first = self.first or error

    def warn(self) -> None:
        """Say once how many rows were skipped, if any were."""
        if self.count:
            skipped = counted(self.count, self.unit)
            warn_caller(f"{self.file}: {skipped} skipped; the first: {self.first}")


def warn_caller(message: str) -> None:
    """Warn of data at the line that asked for it, however many readers lie between."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("featloom.data."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, stacklevel=depth)
