"""Rows of cells from text in which a character stands between cells: CSV, TSV, TiMBL's files.

Rows come out in batches, a list of cells a column, because splitting many lines at once is far
faster than one by one.  A block of lines that is in order (no quotes, as many separators in every
line) is split whole; any other block is walked row by row, which finds the line at fault.

Quoting follows RFC 4180: a cell in double quotes may hold separators and line ends, and a quote
is written twice.  In tab-separated text a quote is most often just a token, so there a tab always
separates, a line end always ends the row, and only a cell that is well-formed as a quoted cell
is taken out of its quotes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_blocks
from featloom.errors import InputError, ReadError
from featloom.words import counted

QUOTE = '"'
BLANKS = None  # as a separator: any run of spaces and tabs
MOST_COLUMNS = 2**20
_ROWS_IN_A_BATCH = 20_000


@dataclass(frozen=True)
class Batch:
    """Some rows of a file: for each row its line, for each column its cells."""

    lines: Sequence[int]
    columns: Sequence[Sequence[str]]

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, rows: Sequence[int]) -> Batch:
        """The given rows alone."""
        return Batch(
            [self.lines[row] for row in rows],
            [[cells[row] for row in rows] for cells in self.columns],
        )


def read_batches(
    path: str,
    *,
    separator: str | None,
    quote: str | None,
    bad_rows: BadRows,
    expected: int | None = None,
) -> Iterator[Batch]:
    """The rows of a file, all with the same number of cells; lines of white space are left out.

    Parameters
    ----------
    separator : the character between cells, or ``BLANKS``.
    quote : None (quotes are plain characters), '"' (RFC 4180) or "auto" (RFC 4180 for other
        separators than tabs, the careful reading for tabs).
    bad_rows : told of rows with another number of cells.
    expected : number of cells in a row; where None, as many as the first row has.

    More than ``MOST_COLUMNS`` are refused: a line of nothing but commas would take gigabytes.
    """
    if quote not in (None, QUOTE, "auto"):
        raise InputError(f"quote is {quote!r}; it must be None, 'auto' or '\"'")
    if separator is not BLANKS and (len(separator) != 1 or separator in '"\r\n'):
        raise InputError(f"separator is {separator!r}; it must be one character, and no quote")
    unwraps = quote == "auto" and separator == "\t"
    guarded = quote is not None and separator is not BLANKS and not unwraps
    blocks = read_blocks(path, on_bad_line=bad_rows.add_error, keep_returns=guarded)
    for first, text in blocks:
        if guarded and QUOTE in text:
            # From the first quote on, rows and lines may differ: the rest is read as records.
            yield from _records(first, text, blocks, str(separator), bad_rows, expected)
            return
        if guarded and "\r" in text:
            text = text.replace("\r\n", "\n").removesuffix("\r")
        batch = _split_block(first, text, separator, bad_rows, expected)
        if batch is None:
            continue
        if unwraps and QUOTE in text:
            batch = Batch(batch.lines, [_unwrapped(cells) for cells in batch.columns])
        expected = len(batch.columns)
        yield batch


def _split_block(
    first: int, text: str, separator: str | None, bad_rows: BadRows, expected: int | None
) -> Batch | None:
    """The rows of whole lines; None where there are none."""
    if separator is BLANKS:
        text, separator = _single_blanks(text), " "
    lines = text.split("\n")
    counts = {line.count(separator) for line in lines}
    in_order = len(counts) == 1 and "\r" not in text and "" not in lines
    if in_order and counts <= {expected - 1 if expected else min(counts)}:
        width = min(counts) + 1
        check_width(width, file=bad_rows.file, line=first)
        cells = text.replace("\n", separator).split(separator)
        columns = [cells[j::width] for j in range(width)]
        return Batch(range(first, first + len(lines)), columns)
    rows, numbers = [], []
    for number, line in enumerate(lines, start=first):
        if not line.strip() and (expected is None or line.count(separator) + 1 != expected):
            continue
        if not line:
            continue
        if "\r" in line:
            place = line.index("\r") + 1
            bad_rows.add("carriage return inside a line", line=number, column=place)
            continue
        row = line.split(separator)
        if not expected:
            expected = len(row)
            check_width(expected, file=bad_rows.file, line=number)
        if len(row) != expected:
            bad_rows.add(wrong_width(len(row), expected), line=number)
            continue
        rows.append(row)
        numbers.append(number)
    return Batch(numbers, list(zip(*rows, strict=True))) if rows else None


def _records(
    first: int,
    text: str,
    blocks: Iterator[tuple[int, str]],
    separator: str,
    bad_rows: BadRows,
    expected: int | None,
) -> Iterator[Batch]:
    """The rows of text with quotes, from one block to the end of the file."""
    source = _LineSource(first, text, blocks)
    records = _checked_records(source, separator, bad_rows, expected)
    while part := list(islice(records, _ROWS_IN_A_BATCH)):
        numbers, rows = zip(*part, strict=True)
        yield Batch(numbers, list(zip(*rows, strict=True)))


def _checked_records(
    source: _LineSource, separator: str, bad_rows: BadRows, expected: int | None
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(source, delimiter=separator, quotechar=QUOTE, strict=True)
    while True:
        source.start_record()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            words = str(error)
            if "end of data" in words or "limit" in words:
                # Everything after the quote is inside it: there is no next row to go on with.
                message = "a quoted cell opens in this row and does not close"
                if "limit" in words:
                    message += f" within {csv.field_size_limit():,} characters"
                raise ReadError(message, file=bad_rows.file, line=source.start) from None
            if "new-line" in words:
                message = "carriage return inside a cell without quotes"
            else:
                message = "text after the closing quote of a cell"
            bad_rows.add(message, line=source.start)
            continue
        if not row or (len(row) == 1 and expected != 1 and not row[0].strip()):
            continue
        if not expected:
            expected = len(row)
            check_width(expected, file=bad_rows.file, line=source.start)
        if len(row) != expected:
            bad_rows.add(wrong_width(len(row), expected), line=source.start)
            continue
        yield source.start, row


class _LineSource:
    """Lines with their ends, for the record reader, and the number of the line a record is at."""

    def __init__(self, first: int, text: str, blocks: Iterator[tuple[int, str]]):
        self._lines = self._walk(first, text, blocks)
        self._number = first - 1
        self._fresh = True
        self.start = first

    def _walk(self, first, text, blocks):
        while True:
            for self._number, line in enumerate(text.split("\n"), start=first):
                if self._fresh:
                    self.start, self._fresh = self._number, False
                yield line + "\n"
            try:
                first, text = next(blocks)
            except StopIteration:
                return

    def start_record(self) -> None:
        """The next line that is asked for begins a record."""
        self._fresh = True

    def __iter__(self) -> Iterator[str]:
        return self._lines


def check_width(found: int, *, file: str, line: int | None = None) -> None:
    """Refuse more columns than memory is meant for."""
    if found > MOST_COLUMNS:
        message = f"{found:,} columns; at most {MOST_COLUMNS:,} are read"
        raise ReadError(message, file=file, line=line)


def wrong_width(found: int, expected: int) -> str:
    """The sentence about a row with too many or too few cells.

    >>> wrong_width(1, 4)
    '1 column, 4 expected'
    """
    return f"{counted(found, 'column')}, {expected:,} expected"


def _unwrapped(cells: Sequence[str]) -> Sequence[str]:
    if not any(cell.startswith(QUOTE) for cell in cells):
        return cells
    return [_without_quotes(cell) if cell.startswith(QUOTE) else cell for cell in cells]


def _without_quotes(cell: str) -> str:
    inside = cell[1:-1]
    if len(cell) < 2 or not cell.endswith(QUOTE):
        return cell
    if QUOTE not in inside:
        return inside
    return cell if QUOTE in inside.replace('""', "") else inside.replace('""', QUOTE)


def _single_blanks(text: str) -> str:
    """One space between cells and none around lines; most files are so already."""
    if "\t" in text or "  " in text:
        text = re.sub("[ \t]+", " ", text)
    if " \n" in text or "\n " in text:
        text = re.sub(" ?\n ?", "\n", text)
    return text.strip(" ")
