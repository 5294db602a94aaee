"""Data that comes in blocks of rows, each of which fits in memory though all need not.

Every block is a :class:`~featloom.data.matrix.FeatureMatrix` whose features, families and classes
are those of all the data: one vocabulary, made in a first pass.  A block is loaded when it is asked
for and forgotten when it has been counted, so memory is bounded by the largest block and by the
vocabulary.  Classes are sorted by name.

Blocks are matrices, or functions that load one, gathered by :meth:`MatrixBlocks.of`; or the rows of
Parquet files (:mod:`featloom.data.blocks_parquet`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featloom.cluster import mapped
from featloom.data.hashing import HashedValues
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.kernels.rows import relabel

MEMORY = 2 * 10**9  # bytes, where nothing is said
SAMPLE_ROWS = 100_000
_PROGRAM = 300 * 10**6  # bytes that the program takes before there is any data
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Blocks(ABC):
    """Rows in blocks.

    Parameters
    ----------
    like : a matrix without rows; its names, families and classes are those of every block.
    sizes : rows of each block.
    class_totals : rows of each class; None where nobody has counted them.
    memory : bytes that a process may take.
    sample_rows : how many rows :meth:`sample` has at most.
    """

    table: NominalTable | None = None  # without rows: the columns, where blocks are of a table
    hashed: HashedValues | None = None  # how features were hashed, where they were
    columns: tuple[str, ...] = ()  # of the table that they were hashed from

    def __init__(
        self,
        like: FeatureMatrix,
        sizes: Sequence[int] | np.ndarray,
        class_totals: np.ndarray | None,
        *,
        memory: int = MEMORY,
        sample_rows: int = SAMPLE_ROWS,
    ):
        self.like, self.class_totals = like, class_totals
        self.sizes = np.asarray(sizes, dtype=np.int64)
        self.memory, self.sample_rows = memory, sample_rows

    @abstractmethod
    def block(self, number: int) -> FeatureMatrix:
        """Load one block."""

    def rows_of_table(self, number: int) -> NominalTable:
        """Load one block as rows of the table."""
        raise InputError("these blocks are rows of features, and no rows of a table")

    def __iter__(self) -> Iterator[FeatureMatrix]:
        return (self.block(number) for number in range(len(self.sizes)))

    def __len__(self) -> int:
        """Rows of all blocks."""
        return int(self.sizes.sum())

    @property
    def n_blocks(self) -> int:
        return len(self.sizes)

    @property
    def first_rows(self) -> np.ndarray:
        """The number of the first row of each block."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def n_features(self) -> int:
        return len(self.like.names)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.like.classes

    @property
    def room(self) -> int:
        """Bytes that are left for data beside the program."""
        return room_in(self.memory)

    def name_features(self, numbers: np.ndarray) -> None:  # noqa: B027 (most have names)
        """Find the names behind features, where they were hashed."""

    def part(self, *, held_out: bool, every: int = 5) -> Blocks:
        """Every fifth row, or the others."""
        return _PartOfRows(self, held_out, every)

    def sampled_rows(self) -> np.ndarray:
        """The rows of the sample: all, or as many as it has, evenly spaced."""
        n = min(len(self), self.sample_rows)
        return np.arange(n) * len(self) // max(n, 1)

    def sample(self) -> FeatureMatrix:
        """The sampled rows as one matrix."""
        return stacked(list(mapped(_rows_of_block, self, self._sampled_in_blocks())))

    def sample_of_table(self) -> NominalTable:
        """The sampled rows as one table."""
        parts = list(mapped(_codes_of_block, self, self._sampled_in_blocks()))
        assert self.table is not None
        codes = np.asfortranarray(np.concatenate([codes for codes, _ in parts]))
        labels = np.concatenate([labels for _, labels in parts])
        return replace(self.table, codes=codes, labels=labels)

    def _sampled_in_blocks(self) -> list[tuple[int, np.ndarray]]:
        """The number of each block that has rows of the sample, and which of its rows they are."""
        rows = self.sampled_rows()
        cuts = np.searchsorted(rows, [*self.first_rows, len(self)])
        return [
            (number, rows[cuts[number] : cuts[number + 1]] - first)
            for number, first in enumerate(self.first_rows)
            if cuts[number] < cuts[number + 1]
        ]


class MatrixBlocks(Blocks):
    """Blocks from matrices, or from functions that load one; made by :meth:`of`."""

    def __init__(self, sources, translations, like: FeatureMatrix, sizes, class_totals, **how):
        super().__init__(like, sizes, class_totals, **how)
        self._sources, self._translations = sources, translations

    @classmethod
    def of(
        cls,
        sources: Sequence[FeatureMatrix | Callable[[], FeatureMatrix]],
        *,
        memory: int = MEMORY,
        sample_rows: int = SAMPLE_ROWS,
    ) -> MatrixBlocks:
        """Gather blocks: their features and classes are put into one numbering.

        Features of the same name are one feature.  On a cluster functions must be such that a
        worker can call them: the files that they load have to be there.

        Examples
        --------
        >>> from scipy.sparse import csr_matrix
        >>> one = FeatureMatrix.from_csr(csr_matrix([[1, 1]]), names=["a=x", "b=y"],
        ...                              labels=np.array([0]), classes=("yes",))
        >>> two = FeatureMatrix.from_csr(csr_matrix([[1, 1]]), names=["b=y", "a=z"],
        ...                              labels=np.array([0]), classes=("no",))
        >>> blocks = MatrixBlocks.of([one, two])
        >>> list(blocks.like.names), blocks.classes
        (['a=x', 'b=y', 'a=z'], ('no', 'yes'))
        >>> [block.labels.tolist() for block in blocks]
        [[1], [0]]
        """
        if not len(sources):
            raise InputError("there are no blocks")
        parts = list(mapped(_described, list(sources), range(len(sources))))
        first = parts[0][0]
        like = first
        features: list[np.ndarray | None] = [None] * len(parts)
        if not all(_same_features(part, first) for part, _, _ in parts[1:]):
            numbers = _in_one_numbering([part.names for part, _, _ in parts])
            like = _joined([part for part, _, _ in parts], numbers)
            features = [*numbers]
        single = np.logical_and.reduce([_single_valued(part, like) for part, _, _ in parts])
        counts: dict[str, int] = {}
        for part, rows_of_class, _ in parts:
            for name, rows in zip(part.classes, rows_of_class.tolist(), strict=True):
                counts[name] = counts.get(name, 0) + rows
        classes = sorted_classes([name for name, rows in counts.items() if rows])
        like = replace(like, single_valued=single, classes=classes)
        of_all = Vocabulary(classes)
        translations = [
            (new, of_all.find(part.classes))
            for new, (part, _, _) in zip(features, parts, strict=True)
        ]
        sizes = [size for _, _, size in parts]
        totals = np.array([counts[name] for name in classes], dtype=np.int64)
        how = {"memory": memory, "sample_rows": sample_rows}
        return cls(list(sources), translations, like, sizes, totals, **how)

    def block(self, number: int) -> FeatureMatrix:
        matrix = _loaded(self._sources[number])
        features, classes = self._translations[number]
        indptr, indices = matrix.indptr, matrix.indices
        if features is not None:
            indptr, indices = relabel(indptr, indices, features)
        labels = classes[matrix.known_labels]
        return replace(self.like, indptr=indptr, indices=indices, labels=labels)


class _PartOfRows(Blocks):
    """Every fifth row of other blocks, counted through all of them, or the others."""

    def __init__(self, blocks: Blocks, held_out: bool, every: int):
        ends = np.append(blocks.first_rows, len(blocks))
        before = -(-ends // every)  # rows of those held out that lie before each end
        sizes = np.diff(before if held_out else ends - before)
        super().__init__(
            blocks.like, sizes, None, memory=blocks.memory, sample_rows=blocks.sample_rows
        )
        self.table, self.hashed, self.columns = blocks.table, blocks.hashed, blocks.columns
        self._blocks, self._held_out, self._every = blocks, held_out, every

    def rows_in(self, number: int) -> np.ndarray:
        """Which rows of a block are in the part."""
        rows = self._blocks.first_rows[number] + np.arange(self._blocks.sizes[number])
        return np.flatnonzero((rows % self._every == 0) == self._held_out)

    def block(self, number: int) -> FeatureMatrix:
        return self._blocks.block(number).take(self.rows_in(number))

    def rows_of_table(self, number: int) -> NominalTable:
        return self._blocks.rows_of_table(number).take(self.rows_in(number))

    def name_features(self, numbers: np.ndarray) -> None:
        self._blocks.name_features(numbers)


def memory_size(text: str | int | None) -> int:
    """A size in bytes, as people write it.

    >>> memory_size("2GB"), memory_size("500M"), memory_size(None) == MEMORY
    (2000000000, 500000000, True)
    """
    if text is None:
        return MEMORY
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", str(text), re.IGNORECASE)
    if found is None:
        raise InputError(f"memory is {text!r}; a size is written like 2GB or 500MB")
    size = int(float(found[1]) * _UNITS[found[2].upper()])
    if size <= _PROGRAM:
        raise InputError(
            f"memory is {text}; the program alone takes about {_PROGRAM // 10**6} MB, give it more"
        )
    return size


def room_in(memory: int) -> int:
    """What is left of so many bytes beside the program."""
    return max(memory - _PROGRAM, memory // 10)


def sorted_classes(names: Sequence[str]) -> tuple[str, ...]:
    """The classes that occur, by name; one alone is refused."""
    if len(names) < 2:
        only = f"one class only, {names[0]!r}" if names else "no class"
        raise InputError(f"the data hold {only}: there is nothing to tell apart")
    return tuple(sorted(names))


def blocks_part(blocks: Blocks, sample_rows: int | None) -> dict[str, Any]:
    """How data in blocks was counted, and how many rows a model was fitted on, for a result."""
    return {
        "blocks": blocks.n_blocks,
        "largest": int(blocks.sizes.max()),
        "memory": blocks.memory,
        "sample_rows": sample_rows,
    }


def stacked(parts: Sequence[FeatureMatrix]) -> FeatureMatrix:
    """The rows of several blocks of the same data as one matrix."""
    ends = np.cumsum([len(part.indices) for part in parts])
    indptr = [parts[0].indptr, *(p.indptr[1:] + e for p, e in zip(parts[1:], ends, strict=False))]
    return replace(
        parts[0],
        indptr=np.concatenate(indptr),
        indices=np.concatenate([part.indices for part in parts]),
        labels=np.concatenate([part.known_labels for part in parts]),
    )


def without_rows(matrix: FeatureMatrix) -> FeatureMatrix:
    """What is known of a matrix beside its rows."""
    none = np.empty(0, np.int32)
    return replace(matrix, indptr=np.zeros(1, np.int64), indices=none, labels=none, groups=None)


def _rows_of_block(blocks: Blocks, wanted: tuple[int, np.ndarray]) -> FeatureMatrix:
    number, rows = wanted
    return blocks.block(number).take(rows)


def _codes_of_block(blocks: Blocks, wanted: tuple[int, np.ndarray]):
    """Codes and labels alone: the vocabularies need not come back from a worker."""
    number, rows = wanted
    table = blocks.rows_of_table(number)
    return table.codes[rows], table.label_codes[rows]


def _loaded(source) -> FeatureMatrix:
    matrix = source() if callable(source) else source
    if not isinstance(matrix, FeatureMatrix):
        raise InputError(f"a block must be a FeatureMatrix, not {type(matrix).__name__}")
    return matrix


def _described(sources, number: int) -> tuple[FeatureMatrix, np.ndarray, int]:
    """A block without its rows, the rows of each class, and how many rows there are."""
    matrix = _loaded(sources[number])
    rows = np.bincount(matrix.known_labels, minlength=len(matrix.classes))
    return without_rows(matrix), rows, len(matrix)


def _same_features(one: FeatureMatrix, other: FeatureMatrix) -> bool:
    if one.names is not other.names and not (
        len(one.names) == len(other.names)
        and all(a == b for a, b in zip(one.names, other.names, strict=True))
    ):
        return False
    return one.families == other.families and np.array_equal(one.family_of, other.family_of)


def _in_one_numbering(lists: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """For each list of names the number of each, all names counted in order of appearance."""
    of_all = Vocabulary()
    return [of_all.add(names) for names in lists]


def _joined(parts: Sequence[FeatureMatrix], features: Sequence[np.ndarray]) -> FeatureMatrix:
    """The names and families of all parts."""
    names: list[str] = [""] * (1 + max(int(numbers.max(initial=-1)) for numbers in features))
    family: list[str] = [""] * len(names)
    for part, numbers in zip(parts, features, strict=True):
        for number, name, code in zip(numbers.tolist(), part.names, part.family_of, strict=True):
            if family[number] not in ("", part.families[code]):
                raise InputError(
                    f"feature {name!r} is of the family {family[number]!r} in one block "
                    f"and of {part.families[code]!r} in another"
                )
            names[number], family[number] = name, part.families[code]
    families = Vocabulary()
    return replace(parts[0], names=names, family_of=families.add(family), families=families.names)


def _single_valued(part: FeatureMatrix, like: FeatureMatrix) -> np.ndarray:
    """For each family of all the data, whether it is single-valued in a part."""
    single = dict(zip(part.families, part.single_valued.tolist(), strict=True))
    return np.array([single.get(name, True) for name in like.families], dtype=bool)
