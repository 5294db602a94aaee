"""Pages that may unfold to anything, decoded in a process of their own first.

Three encodings of Parquet, those with DELTA in their names, say inside a page how many values
there are and how much of the value before each repeats: a few hundred bytes can unfold to
terabytes, or claim to.  The page is packed, so its header does not tell; and the decoder ends the
process where it cannot have the memory.  So such columns are decoded twice, the first time in
another process, whose end is an answer.  Polars and Arrow write these encodings only when asked
to, and other programs seldom, so few files are read twice.

This file is also the program that is run there, which is why it imports nothing but Polars.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

_ROWS = 10_000
_PROGRAM = 8 * 2**30  # addresses that Polars may set aside, used or not


def decodes(file: str, column: int, spans: Sequence[tuple[int, int]], most: int) -> bool:
    """Whether a column can be decoded, and has at most so many bytes then.

    Parameters
    ----------
    column : its number among the columns of the file.
    spans : the first row and the number of rows of each part that will be read at once.
    """
    asked = json.dumps({"file": os.path.abspath(file), "column": column, "spans": list(spans)})
    command = [sys.executable, "-P", __file__, str(most)]
    try:
        tried = subprocess.run(
            command, input=asked.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return False
    return tried.returncode == 0


def _size(file: str, column: int, spans: list[list[int]], most: int) -> int:
    """How many bytes a column takes once decoded, or some number above ``most``."""
    import polars as pl

    lazy = pl.scan_parquet(file, glob=False).select(pl.nth(column))
    end = sum(spans[-1]) if spans else 0
    # First a few rows at a time, which shows what it comes to before much memory is taken; then
    # as it will be read, since the decoder may go another way there.
    few = [(first, min(_ROWS, end - first)) for first in range(0, end, _ROWS)]
    for parts in (few, spans):
        size = 0
        for first, rows in parts:
            size += int(lazy.slice(first, rows).collect().estimated_size())
            if size > most:
                return size
    return size


def main() -> int:
    most, asked = int(sys.argv[1]), json.load(sys.stdin)
    with suppress(ImportError, ValueError, OSError):  # not every system has such limits
        import resource

        limit = most + _PROGRAM + os.path.getsize(asked["file"])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return int(_size(**asked, most=most) > most)


if __name__ == "__main__":
    sys.exit(main())
