"""Parquet files as blocks of rows: one file or a folder of them, read some rows at a time.

A first pass collects the values of every column in the order in which they are met, file by file
in the order of their names; so features have the numbers that they would have if all files were
one and read into memory.  How many rows a block has follows from the memory that is allowed.
Vocabularies that do not fit can be hashed (:mod:`featloom.data.hashing`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featloom.cluster import mapped, reduced
from featloom.data.blocks import (
    SAMPLE_ROWS,
    Blocks,
    memory_size,
    room_in,
    sorted_classes,
    without_rows,
)
from featloom.data.hashing import HashedNames, HashedValues
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.assembly import MISSING, Layout
from featloom.data.readers.bad_rows import CHOICES, warn_caller
from featloom.data.readers.parquet import ParquetFile, guarded, open_parquet, text_of_column
from featloom.data.table import NominalTable
from featloom.data.vocabulary import encode
from featloom.errors import InputError, ReadError
from featloom.kernels.rows import rows_of_codes

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".parquet", ".pq")
# Bytes: of a cell while a block is made of it, of a value in the vocabulary, and of a count.
_CELL, _VALUE, _COUNT = 64, 250, 24
_MOST_ROWS = 2_000_000


@dataclass(frozen=True)
class Span:
    """Some rows of a file."""

    file: str
    first: int
    rows: int


def parquet_files(path: str | os.PathLike[str]) -> list[str]:
    """The Parquet files in a folder and the folders in it, by name; or the one file that it is."""
    place = Path(path)
    if not os.path.isdir(place):
        return [str(place)] if place.suffix.lower() in ENDINGS else []
    found = [file for file in place.rglob("*") if file.suffix.lower() in ENDINGS]
    hidden = (".", "_")  # by which programs mark files that are not data
    return sorted(str(f) for f in found if not f.name.startswith(hidden) and f.is_file())


def read_blocks(
    path: str | os.PathLike[str],
    *,
    target: str,
    columns: Sequence[str] | None = None,
    missing: Collection[str] = MISSING,
    on_bad_row: str = "raise",
    memory: str | int | None = None,
    hashed: int | None = None,
    sample_rows: int = SAMPLE_ROWS,
) -> ParquetBlocks:
    """Open a folder of Parquet files, or one, as blocks; its rows are not kept.

    Parameters
    ----------
    target, columns, missing, on_bad_row : as in ``read_table``.
    memory : what a process may take, such as "2GB", which is also the default.
    hashed : None, or a number of bits: features are hashed into 2**bits.
    sample_rows : rows that a model is fitted on where a method needs one.

    Examples
    --------
    >>> import polars as pl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for number, letters in enumerate(["cck", "ksc"]):
    ...         frame = pl.DataFrame({"letter": list(letters), "sound": list("KSK")})
    ...         frame.write_parquet(Path(folder, f"{number}.parquet"))
    ...     blocks = read_blocks(folder, target="sound")
    ...     rows = [block.indices.tolist() for block in blocks]
    >>> len(blocks), list(blocks.like.names), rows
    (6, ['letter=c', 'letter=k', 'letter=s'], [[0, 0, 1], [1, 2, 0]])
    """
    files = parquet_files(path)
    if not files:
        raise ReadError("no Parquet file is there", file=os.fspath(path))
    if on_bad_row not in CHOICES:
        raise InputError(f"on_bad_row is {on_bad_row!r}; it must be 'raise' or 'skip'")
    size = memory_size(memory)
    first = open_parquet(files[0])
    names = first.columns
    layout = Layout(names, target, columns, None, files[0], require_labels=True)
    assert layout.target is not None
    features = tuple(names[j] for j in layout.features)
    source = _Source(features, names[layout.target], tuple(missing), on_bad_row == "skip")
    spans = _spans(files, first, source, rows_of_block(len(features), room_in(size)))
    how = _FirstPass(source, None if hashed is None else HashedValues(hashed), room_in(size))
    seen = reduced(_look_run, how, spans, how.joined)
    return how.blocks(seen, spans, memory=size, sample_rows=sample_rows, path=os.fspath(path))


def rows_of_block(n_columns: int, room: int) -> int:
    """How many rows may be in memory at once: a quarter of the room is theirs.

    >>> rows_of_block(14, 1_700_000_000), rows_of_block(14, 170_000_000)
    (442708, 44270)
    """
    return int(np.clip(room // 4 // (_CELL * (n_columns + 1)), 1_000, _MOST_ROWS))


class ParquetBlocks(Blocks):
    """Blocks of Parquet files; made by :func:`read_blocks`.

    ``table`` is a table without rows: the columns with their values and the classes, None where
    features are hashed.  ``skipped`` rows had no class.
    """

    def __init__(
        self, source: _Source, spans: list[Span], like: FeatureMatrix, sizes, class_totals, **how
    ):
        self.table, self.hashed = how.pop("table"), how.pop("hashed")
        self.skipped: int = how.pop("skipped")
        super().__init__(like, sizes, class_totals, **how)
        self.columns = source.features
        self._source, self._spans = source, spans
        self._kept: dict[int | str, Any] = {}  # what is made once in a process

    def block(self, number: int) -> FeatureMatrix:
        if self.hashed is None:
            table = self.rows_of_table(number)
            sizes = [len(vocabulary) for vocabulary in table.vocabularies]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            indptr, indices = rows_of_codes(table.codes, starts)
            labels = table.labels
        else:
            texts, classes, _ = self._source.read(self._spans[number])
            indptr, indices = self.hashed.rows(self._source.features, texts)
            labels = self._codes("class", classes, self.like.classes) - 1
        return replace(self.like, indptr=indptr, indices=indices, labels=labels)

    def rows_of_table(self, number: int) -> NominalTable:
        """One block as rows of the table."""
        if self.table is None:
            raise InputError("features that were hashed are no columns of a table any more")
        texts, classes, _ = self._source.read(self._spans[number])
        codes = np.empty((len(classes), len(texts)), dtype=np.int32, order="F")
        for j, text in enumerate(texts):
            codes[:, j] = self._codes(j, text, self.table.vocabularies[j])
        labels = self._codes("class", classes, self.table.classes) - np.int32(1)
        return replace(self.table, codes=codes, labels=labels)

    def name_features(self, numbers: np.ndarray) -> None:
        """Find the names behind hashed features, in one more pass; see ``HashedNames``."""
        if self.hashed is None or not isinstance(self.like.names, HashedNames):
            return
        wanted = np.unique(numbers)
        for found in mapped(_names_behind, self, [(n, wanted) for n in range(self.n_blocks)]):
            self.like.names.add(found)

    def _codes(self, column: int | str, text, vocabulary: Sequence[str]) -> np.ndarray:
        """Codes from 1; values that are not in the vocabulary get 0."""
        import polars as pl

        kind = self._kept.get(column)
        if kind is None:
            kind = self._kept[column] = pl.Enum(pl.Series(vocabulary, dtype=pl.String))
        codes = text.cast(kind, strict=False).to_physical().cast(pl.Int32)
        return (codes + 1).fill_null(0).to_numpy().astype(np.int32)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}


@dataclass(frozen=True)
class _Source:
    """How rows of the files are read."""

    features: tuple[str, ...]
    target: str
    missing: tuple[str, ...]
    skips: bool

    def read(self, span: Span) -> tuple[list[Any], Any, int]:
        """The columns and the classes as text, and how many rows without a class were skipped."""
        import polars as pl

        wanted = (*self.features, self.target)
        rows = pl.scan_parquet(span.file, glob=False).slice(span.first, span.rows)
        # Quoted, since a name may look like a pattern.
        lazy = rows.select(pl.col([name]) for name in wanted)
        frame = guarded(span.file, lazy.collect)
        classes = self._text(frame[self.target], span.file)
        unknown = classes.is_null()
        n_bad = int(unknown.sum())
        if n_bad and not self.skips:
            row = span.first + int(unknown.arg_max() or 0)
            place = open_parquet(span.file).columns.index(self.target) + 1
            message = f"no label in column {self.target!r}"
            raise ReadError(message, file=span.file, line=row + 1, column=place)
        if n_bad:
            frame, classes = frame.filter(~unknown), classes.filter(~unknown)
        return [self._text(frame[name], span.file) for name in self.features], classes, n_bad

    def _text(self, series: pl.Series, file: str) -> pl.Series:
        import polars as pl

        text = guarded(file, lambda: text_of_column(series, self.missing))
        return pl.Series(text, dtype=pl.String)


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the first pass saw in some rows, in the order in which it met it."""

    sizes: list[int]
    skipped: int
    first_skipped: str
    classes: dict[str, int]
    values: list[dict[str, None]]


@dataclass(frozen=True, eq=False)
class _FirstPass:
    """Collects sizes, classes and, unless they are hashed, the values of all columns."""

    source: _Source
    hashed: HashedValues | None
    room: int

    def look(self, span: Span) -> _Seen:
        texts, classes, skipped = self.source.read(span)
        values = [] if self.hashed else [dict.fromkeys(encode(text)[1]) for text in texts]
        codes, names = encode(classes)
        rows_of_class = np.bincount(codes, minlength=len(names) + 1)[1:].tolist()
        of_class = dict(zip(names, rows_of_class, strict=True))
        return _Seen([len(classes)], skipped, span.file if skipped else "", of_class, values)

    def joined(self, one: _Seen, other: _Seen) -> _Seen:
        """What was seen in rows and in those after them."""
        classes = dict(one.classes)
        for name, rows in other.classes.items():
            classes[name] = classes.get(name, 0) + rows
        seen = _Seen(
            one.sizes + other.sizes,
            one.skipped + other.skipped,
            one.first_skipped or other.first_skipped,
            classes,
            [known | more for known, more in zip(one.values, other.values, strict=True)],
        )
        self._check(seen)
        return seen

    def _check(self, seen: _Seen) -> None:
        n_values = self.hashed.n_features if self.hashed else sum(map(len, seen.values))
        needed = n_values * (_COUNT * max(2, len(seen.classes)))
        needed += 0 if self.hashed else n_values * _VALUE
        if needed > self.room:
            raise InputError(
                f"{n_values:,} features of {len(seen.classes)} classes take about "
                f"{needed / 1e9:.1f} GB, and {self.room / 1e9:.1f} GB are left for them; "
                "allow more memory, or hash them into fewer (--hash 20)"
            )

    def blocks(self, seen: _Seen, spans: list[Span], *, path: str, **how) -> ParquetBlocks:
        self._check(seen)
        if not sum(seen.sizes):
            raise ReadError("no rows" if not seen.skipped else "no row can be used", file=path)
        classes = sorted_classes(list(seen.classes))
        if seen.skipped:
            warn_caller(
                f"{path}: {seen.skipped:,} rows without a class skipped, the first of them in "
                f"{seen.first_skipped}"
            )
        table = None
        if self.hashed is None:
            table = NominalTable(
                self.source.features,
                np.empty((0, len(self.source.features)), dtype=np.int32, order="F"),
                tuple(tuple(known) for known in seen.values),
                labels=np.empty(0, dtype=np.int32),
                classes=classes,
                target=self.source.target,
                source=path,
            )
            like = without_rows(FeatureMatrix.from_table(table))
        else:
            like = self.hashed.like(classes, self.source.target, path)
        totals = np.array([seen.classes[name] for name in classes], dtype=np.int64)
        return ParquetBlocks(
            self.source, spans, like, seen.sizes, totals, table=table, hashed=self.hashed,
            skipped=seen.skipped, **how,
        )  # fmt: skip


def _look_run(how: _FirstPass, spans: Sequence[Span]) -> _Seen:
    seen = how.look(spans[0])
    for span in spans[1:]:
        seen = how.joined(seen, how.look(span))
    return seen


def _spans(files: list[str], first: ParquetFile, source: _Source, rows: int) -> list[Span]:
    """All rows of all files in parts of so many rows; a file without a column is refused."""
    spans, needed = [], (*source.features, source.target)
    for name in files:
        file = first if name == files[0] else open_parquet(name)
        for wanted in needed:
            if wanted not in file.columns:
                raise ReadError(f"no column {wanted!r}, which {files[0]} has", file=name)
        parts = -(-file.rows // rows)
        cuts = [file.rows * part // parts for part in range(parts + 1)] if parts else [0]
        found = [(a, b - a) for a, b in pairwise(cuts)]
        file.check(needed, found)
        spans += [Span(name, *span) for span in found]
    if not spans:
        raise ReadError("no rows", file=files[0])
    return spans


def _names_behind(blocks: ParquetBlocks, asked: tuple[int, np.ndarray]) -> dict[int, list[str]]:
    number, wanted = asked
    assert blocks.hashed is not None
    texts, _, _ = blocks._source.read(blocks._spans[number])
    return blocks.hashed.names_of(wanted, blocks._source.features, texts)
