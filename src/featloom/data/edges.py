"""The edges of a sentence: every token as the head of every other, and what is known of each pair.

A dependency parser asks of a head and a modifier: what are their words and tags, and those of
their neighbours; which stands first; how far apart are they; what lies between?  Each such
question is an edge column, written

========================  =======================================================================
``head.form``             the column ``form`` of the head; ``<root>`` for the root
``mod.xpos[-1]``          the column ``xpos`` of the token before the modifier
``side``                  whether the modifier stands to the "left" or "right" of its head
``distance``              in tokens: 1, 2, 3, 4, 5, 6-10 or 11+
``between.upos=VERB,AUX`` how many tokens between the two have one of these values: 0, 1, 2 or 3+
``between.xpos``          the set of values between the two, for templates alone
========================  =======================================================================

Columns are counted for trees as a table of all edges (:func:`edge_table`), and read pair by pair
by parsers, which never write such a table down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary, codes_in
from featloom.errors import InputError
from featloom.kernels.edges import fill_edges

ROOT, BEFORE, AFTER = "<root>", "<before>", "<after>"
SIDES = ("left", "right")
DISTANCES = ("1", "2", "3", "4", "5", "6-10", "11+")
COUNTS = ("0", "1", "2", "3+")
IS_HEAD = ("no", "head")
N_SETS = 64  # values of a set column that are told apart; the rarer ones share the last
_PLACE = re.compile(r"(head|mod)\.(.+?)(?:\[([+-][0-9]{1,4})\])?")
_BETWEEN = re.compile(r"between\.([^=]+)(?:=(.+))?")


@dataclass(frozen=True)
class EdgeColumn:
    """One question about an edge.

    Examples
    --------
    >>> EdgeColumn.of("mod.xpos[-1]")
    EdgeColumn(name='mod.xpos[-1]', kind='mod', column='xpos', offset=-1, values=())
    """

    name: str
    kind: str  # "head", "mod", "side", "distance", "count" or "set"
    column: str = ""
    offset: int = 0
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str) -> EdgeColumn:
        """The column of a name in the form that the module's table shows."""
        if name in ("side", "distance"):
            return cls(name, name)
        if place := _PLACE.fullmatch(name):
            return cls(name, place[1], place[2], int(place[3] or 0))
        if between := _BETWEEN.fullmatch(name):
            if between[2] is None:
                return cls(name, "set", between[1])
            return cls(name, "count", between[1], values=tuple(between[2].split(",")))
        raise InputError(
            f"{name!r:.60} is no edge column; those are head.COLUMN, mod.COLUMN[-1], side, "
            "distance, between.COLUMN and between.COLUMN=VALUE,VALUE"
        )


@dataclass(frozen=True, eq=False)
class EdgeReader:
    """Edge columns over the columns of a table of sentences, read by their codes.

    Parameters
    ----------
    columns : the edge columns.
    token_columns, vocabularies : those of the sentences that it was made for.

    Examples
    --------
    >>> table = NominalTable.from_columns({"upos": ["NOUN", "VERB"]},
    ...     sequence_bounds=np.array([0, 2]), heads=np.array([2, 0], dtype=np.int32))
    >>> reader = EdgeReader.of(table, ["head.upos", "mod.upos", "side"])
    >>> edges = edge_table(reader, reader.read(table))
    >>> [edges.value("head.upos", row) for row in range(4)]
    ['<root>', 'VERB', '<root>', 'NOUN']
    >>> [edges.classes[code] for code in edges.labels]
    ['no', 'head', 'head', 'no']
    """

    columns: tuple[EdgeColumn, ...]
    token_columns: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, table: NominalTable, names: Sequence[str]) -> EdgeReader:
        """A reader of named edge columns; a token column that is not there is an error."""
        columns = tuple(EdgeColumn.of(name) for name in dict.fromkeys(names))
        used = [name for name in table.columns if any(c.column == name for c in columns)]
        for column in columns:
            if column.column:
                table.column_index(column.column)
        vocabularies = [table.vocabularies[table.column_index(name)] for name in used]
        return cls(columns, tuple(used), tuple(vocabularies))

    def of_kind(self, *kinds: str) -> list[EdgeColumn]:
        """Its columns of some kinds, in their order."""
        return [column for column in self.columns if column.kind in kinds]

    def values(self, column: EdgeColumn) -> tuple[str, ...]:
        """The values of an edge column; code c is the value at c - 1."""
        fixed = {"side": SIDES, "distance": DISTANCES, "count": COUNTS}
        if column.kind in fixed:
            return fixed[column.kind]
        own = self.vocabularies[self.token_columns.index(column.column)]
        reach = abs(column.offset)
        beyond = [f"{mark}{i}" for mark in (BEFORE, AFTER) for i in range(1, reach + 1)]
        return (*own, ROOT, *beyond)

    def read(self, table: NominalTable) -> EdgeSentences:
        """Sentences as the kernels of edges read them."""
        bounds = table.bounds
        n_sentences = len(bounds) - 1
        starts = bounds + np.arange(n_sentences + 1)
        # Position 0 of each sentence is its root; tokens follow.
        position = np.arange(len(table)) + np.repeat(np.arange(n_sentences), np.diff(bounds)) + 1
        sentence = np.repeat(np.arange(n_sentences), np.diff(starts))
        known = {
            name: self._positions(table, name, position, int(starts[-1]))
            for name in self.token_columns
        }
        parts = {
            kind: _matrix([self._shifted(c, known, starts, sentence) for c in self.of_kind(kind)],
                          len(sentence))
            for kind in ("head", "mod")
        }  # fmt: skip
        counted = [
            np.isin(known[c.column], self._codes(c)).astype(np.int32) for c in self.of_kind("count")
        ]
        sets = [self._set_codes(c, known) for c in self.of_kind("set")]
        heads = np.full(len(sentence), -1, dtype=np.int32)
        if table.heads is not None:
            heads[position] = table.heads
        counts = np.cumsum(_matrix(counted, len(sentence)), axis=0, dtype=np.int32)
        tags = _matrix(sets, len(sentence)).astype(np.uint8)
        return EdgeSentences(starts, parts["head"], parts["mod"], counts, tags, heads)

    def _positions(self, table: NominalTable, name: str, position, n: int) -> np.ndarray:
        """The codes of a token column at every position, that of the root at position 0."""
        vocabulary = self.vocabularies[self.token_columns.index(name)]
        there = table.vocabularies[table.column_index(name)]
        codes = table.codes[:, table.column_index(name)]
        if there != vocabulary:
            codes = codes_in(Vocabulary(vocabulary), there)[codes]
        at = np.full(n, len(vocabulary) + 1, dtype=np.int32)
        at[position] = codes
        return at

    def _shifted(self, column: EdgeColumn, known, starts, sentence) -> np.ndarray:
        """The codes of a place: those of the token at the offset, or a mark beyond the ends."""
        codes, offset = known[column.column], column.offset
        n_values = len(self.vocabularies[self.token_columns.index(column.column)])
        at = np.arange(len(codes)) + offset
        before = starts[:-1][sentence] - at
        after = at - starts[1:][sentence] + 1
        shifted = codes[np.clip(at, 0, len(codes) - 1)]
        shifted = np.where(before > 0, n_values + 1 + before, shifted)
        return np.where(after > 0, n_values + 1 + abs(offset) + after, shifted).astype(np.int32)

    def _codes(self, column: EdgeColumn) -> np.ndarray:
        vocabulary = self.vocabularies[self.token_columns.index(column.column)]
        numbers = Vocabulary(vocabulary).find(column.values)
        return numbers[numbers >= 0] + 1

    def _set_codes(self, column: EdgeColumn, known) -> np.ndarray:
        # Vocabularies are in order of first appearance: common values come first by and large.
        return np.minimum(known[column.column], N_SETS - 1)


@dataclass(frozen=True, eq=False)
class EdgeSentences:
    """Sentences by positions: ``starts[s]`` is the root of sentence s, its tokens follow.

    Attributes
    ----------
    head_codes, mod_codes : (positions, columns of that kind) codes.
    counts : (positions, count columns) how many counted tokens stand here or before.
    tags : (positions, set columns) codes below 64.
    heads : the head of each position within its sentence; -1 for roots and where it is not known.
    """

    starts: np.ndarray
    head_codes: np.ndarray
    mod_codes: np.ndarray
    counts: np.ndarray
    tags: np.ndarray
    heads: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each sentence."""
        return np.diff(self.starts) - 1

    @property
    def n_edges(self) -> int:
        """Pairs of a token and another or the root."""
        return int(np.sum(self.lengths.astype(np.int64) ** 2))

    def token_heads(self) -> list[list[int]]:
        """The heads of the tokens of each sentence."""
        heads = self.heads.tolist()
        return [heads[a + 1 : b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]


def edge_table(
    reader: EdgeReader, sentences: EdgeSentences, edges: Candidates | None = None
) -> NominalTable:
    """All edges as rows, or the candidates alone; the label says whether the edge is in the tree.

    Rows go by sentence, modifier and head.  Columns that are sets are left out.
    """
    edges = edges or Candidates.all(sentences)
    columns = [column for column in reader.columns if column.kind != "set"]
    codes = np.empty((len(edges.heads), len(columns)), dtype=np.int32, order="F")
    modifier = np.repeat(np.arange(len(sentences.heads)), np.diff(edges.starts))
    labels = (edges.heads == sentences.heads[modifier]).astype(np.int32)
    n_of = dict.fromkeys(("head", "mod", "count"), 0)
    for j, column in enumerate(columns):
        kind = ("head", "mod", "side", "distance", "count").index(column.kind)
        which = n_of.get(column.kind, 0)
        if column.kind in n_of:
            n_of[column.kind] += 1
        fill_edges(
            codes[:, j], kind, which, sentences.starts, edges.starts, edges.heads,
            sentences.head_codes, sentences.mod_codes, sentences.counts,
        )  # fmt: skip
    return NominalTable(
        tuple(column.name for column in columns),
        codes,
        tuple(reader.values(column) for column in columns),
        labels=labels,
        classes=IS_HEAD,
        target="head",
    )


@dataclass(frozen=True, eq=False)
class Candidates:
    """The heads that each token may take: those of position p lie from starts[p] to starts[p+1]."""

    starts: np.ndarray
    heads: np.ndarray

    @classmethod
    def all(cls, sentences: EdgeSentences) -> Candidates:
        """Every other token and the root."""
        n = np.repeat(sentences.lengths, sentences.lengths + 1)
        n[sentences.starts[:-1]] = 0  # roots have no head
        starts = np.concatenate(([0], np.cumsum(n))).astype(np.int64)
        own = np.arange(len(n)) - np.repeat(sentences.starts[:-1], sentences.lengths + 1)
        heads = (np.arange(starts[-1]) - np.repeat(starts[:-1], n)).astype(np.int32)
        heads += heads >= np.repeat(own, n)  # a token is not its own head
        return cls(starts, heads)

    def __len__(self) -> int:
        return len(self.heads)


def _matrix(columns: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Columns side by side, rows in one piece; without columns a matrix of no width."""
    if not columns:
        return np.zeros((n, 0), dtype=np.int32)
    return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
