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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from featloom.cluster import mapped
from featloom.data.blocks import (
    SAMPLE_ROWS,
    Blocks,
    memory_size,
    room_in,
    sorted_classes,
    without_rows,
)
from featloom.data.encoding import encode
from featloom.data.frames import text_of
from featloom.data.hashing import HashedNames, HashedValues
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers.bad_rows import CHOICES, warn_caller
from featloom.data.readers.parquet import column_names, guarded
from featloom.data.readers.tables import MISSING, Layout
from featloom.data.table import NominalTable
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
    if not place.is_dir():
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
    names = column_names(files[0])
    layout = Layout(names, target, columns, None, files[0], require_labels=True)
    features = tuple(names[j] for j in layout.features)
    source = _Source(features, names[layout.target], tuple(missing), on_bad_row == "skip")
    spans = _spans(files, source, rows_of_block(len(features), room_in(size)))
    look = _FirstPass(source, files[0], room_in(size), hashed)
    for span, seen in zip(spans, mapped(_look, (source, hashed), spans), strict=True):
        look.add(span, seen)
    return look.blocks(spans, memory=size, sample_rows=sample_rows, path=os.fspath(path))


def rows_of_block(n_columns: int, room: int) -> int:
    """How many rows may be in memory at once: a quarter of the room is theirs.

    >>> rows_of_block(14, 1_700_000_000), rows_of_block(14, 170_000_000)
    (474330, 47433)
    """
    return int(np.clip(room // 4 // (_CELL * (n_columns + 1)), 1_000, _MOST_ROWS))


class ParquetBlocks(Blocks):
    """Blocks of Parquet files; made by :func:`read_blocks`.

    ``table`` is a table without rows: the columns with their values and the classes, None where
    features are hashed.  ``skipped`` rows had no class.
    """

    def __init__(self, source: _Source, spans: list[Span], like: FeatureMatrix, sizes, **how):
        self.table, self.hashed = how.pop("table"), how.pop("hashed")
        self.skipped: int = how.pop("skipped")
        super().__init__(like, sizes, **how)
        self._source, self._spans = source, spans
        self._kept: dict[str, Any] = {}  # what is made once in a process

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

    def read(self, span: Span) -> tuple[list[pl.Series], pl.Series, int]:
        """The columns and the classes as text, and how many rows without a class were skipped."""
        import polars as pl

        wanted = (*self.features, self.target)
        rows = pl.scan_parquet(span.file, glob=False).slice(span.first, span.rows)
        # Quoted, since a name may look like a pattern.
        lazy = rows.select(pl.col([name]) for name in wanted)
        frame = guarded(span.file, lazy.collect)
        classes = self._text(frame[self.target])
        unknown = classes.is_null()
        n_bad = int(unknown.sum())
        if n_bad and not self.skips:
            row = span.first + int(unknown.arg_max() or 0)
            place = column_names(span.file).index(self.target) + 1
            message = f"no label in column {self.target!r}"
            raise ReadError(message, file=span.file, line=row + 1, column=place)
        if n_bad:
            frame, classes = frame.filter(~unknown), classes.filter(~unknown)
        return [self._text(frame[name]) for name in self.features], classes, n_bad

    def _text(self, series: pl.Series) -> pl.Series:
        import polars as pl

        if series.dtype.is_integer() or isinstance(series.dtype, pl.Categorical | pl.Enum):
            series = series.cast(pl.String)  # the same text, without a Python object a cell
        return pl.Series(text_of(series, series.name, self.missing), dtype=pl.String)


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the first pass saw in some rows."""

    rows: int
    skipped: int
    classes: tuple[str, ...]
    values: list[tuple[str, ...]]


def _look(how: tuple[_Source, int | None], span: Span) -> _Seen:
    source, hashed = how
    texts, classes, skipped = source.read(span)
    values = [] if hashed is not None else [encode(text)[1] for text in texts]
    return _Seen(len(classes), skipped, encode(classes)[1], values)


class _FirstPass:
    """Gathers what was seen in the blocks, in their order."""

    def __init__(self, source: _Source, file: str, room: int, hashed: int | None):
        self.source, self.file, self.room = source, file, room
        self.hashed = None if hashed is None else HashedValues(hashed)
        self.values: list[dict[str, None]] = [{} for _ in source.features]
        self.classes: dict[str, None] = {}
        self.sizes: list[int] = []
        self.skipped = 0
        self.first_skipped = ""

    def add(self, span: Span, seen: _Seen) -> None:
        self.sizes.append(seen.rows)
        if seen.skipped and not self.skipped:
            self.first_skipped = span.file
        self.skipped += seen.skipped
        self.classes.update(dict.fromkeys(seen.classes))
        for known, values in zip(self.values, seen.values, strict=False):
            known.update(dict.fromkeys(values))
        n_values = 1 << self.hashed.bits if self.hashed else sum(map(len, self.values))
        needed = n_values * (_COUNT * max(2, len(self.classes)))
        needed += 0 if self.hashed else n_values * _VALUE
        if needed > self.room:
            raise InputError(
                f"{n_values:,} features of {len(self.classes)} classes take about "
                f"{needed / 1e9:.1f} GB, and {self.room / 1e9:.1f} GB are left for them; "
                "allow more memory, or hash them into fewer (--hash 20)"
            )

    def blocks(self, spans: list[Span], *, path: str, **how) -> ParquetBlocks:
        if not sum(self.sizes):
            raise ReadError("no rows" if not self.skipped else "no row can be used", file=path)
        classes = sorted_classes(list(self.classes))
        if self.skipped:
            warn_caller(
                f"{path}: {self.skipped:,} rows without a class skipped, the first of them in "
                f"{self.first_skipped}"
            )
        table = like = None
        if self.hashed is None:
            table = NominalTable(
                self.source.features,
                np.empty((0, len(self.source.features)), dtype=np.int32, order="F"),
                tuple(tuple(known) for known in self.values),
                labels=np.empty(0, dtype=np.int32),
                classes=classes,
                target=self.source.target,
                source=path,
            )
            like = without_rows(FeatureMatrix.from_table(table))
        else:
            like = self.hashed.like(classes, self.source.target, path)
        return ParquetBlocks(
            self.source, spans, like, self.sizes, table=table, hashed=self.hashed,
            skipped=self.skipped, **how,
        )  # fmt: skip


def _spans(files: list[str], source: _Source, rows: int) -> list[Span]:
    """All rows of all files in parts of so many rows; a file without a column is refused."""
    import polars as pl

    spans = []
    for file in files:
        names = column_names(file)
        for wanted in (*source.features, source.target):
            if wanted not in names:
                raise ReadError(f"no column {wanted!r}, which {files[0]} has", file=file)
        lazy = pl.scan_parquet(file, glob=False).select(pl.len())
        n_rows = int(guarded(file, lazy.collect).item())
        parts = -(-n_rows // rows)
        cuts = [n_rows * part // parts for part in range(parts + 1)] if parts else [0]
        spans += [Span(file, a, b - a) for a, b in zip(cuts, cuts[1:], strict=False)]
    if not spans:
        raise ReadError("no rows", file=files[0])
    return spans


def _names_behind(blocks: ParquetBlocks, asked: tuple[int, np.ndarray]) -> dict[int, list[str]]:
    number, wanted = asked
    assert blocks.hashed is not None
    texts, _, _ = blocks._source.read(blocks._spans[number])
    return blocks.hashed.names_of(wanted, blocks._source.features, texts)
