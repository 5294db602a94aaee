"""Sentences on their way into a table: tokens a line each, a blank line after each sentence.

What the two readers of sentences share: rows are gathered sentence by sentence, a sentence with a
bad line is left out whole (a sequence with a hole is another sequence), and documents, where the
file marks them, become groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featloom.data.readers.assembly import GrowingTable
from featloom.data.readers.bad_rows import BadRows
from featloom.data.table import NominalTable
from featloom.errors import ReadError

_ROWS_IN_A_BATCH = 20_000


class Sentences:
    """Gathers sentences into a table.

    Parameters
    ----------
    columns : names of the columns of a token, in the order of its cells.
    target : the one that holds the labels; or None.
    bad_rows : told of bad lines.
    missing : cells that mean "missing".

    Examples
    --------
    >>> sentences = Sentences(["word", "tag"], "tag", BadRows("toy.conll", "raise"))
    >>> for token in (("Time", "N"), ("flies", "V")):
    ...     sentences.add(token)
    >>> sentences.end_sentence()
    >>> sentences.finish().sequence_bounds
    array([0, 2])
    """

    def __init__(
        self,
        columns: Sequence[str],
        target: str | None,
        bad_rows: BadRows,
        *,
        missing: Sequence[str] = (),
    ):
        self.bad_rows = bad_rows
        self.has_documents = False
        features = [name for name in columns if name != target]
        beside = [] if target is None else [target]
        self._order = [list(columns).index(name) for name in (*features, *beside)]
        self._growing = GrowingTable(features, target=target, groups="document", missing=missing)
        self._sentence: list[Sequence[str]] = []
        self._heads: list[int] = []
        self._rows: list[Sequence[str]] = []
        self._all_heads: list[np.ndarray] = []
        self._documents: list[str] = []
        self._bounds = [0]
        self._document, self._n_documents, self._document_is_open = "document 1", 1, False
        self._is_bad = False

    def add(self, cells: Sequence[str], head: int | None = None) -> None:
        """The next token of the sentence."""
        self._sentence.append(cells)
        if head is not None:
            self._heads.append(head)

    def refuse(self, message: str, *, line: int, column: int | None = None) -> None:
        """The sentence cannot be used; raises, or leaves it out."""
        if not self._is_bad or not self.bad_rows.skips:
            self.bad_rows.add(message, line=line, column=column)
        self._is_bad = True

    def refuse_line(self, error: ReadError) -> None:
        """The same, of a line that cannot be read at all."""
        if not self._is_bad or not self.bad_rows.skips:
            self.bad_rows.add_error(error)
        self._is_bad = True

    def __len__(self) -> int:
        """The number of tokens of the sentence so far."""
        return len(self._sentence)

    def end_sentence(self) -> None:
        """A blank line, or the end of the file."""
        if self._sentence and not self._is_bad:
            self._rows.extend(self._sentence)
            self._documents.extend([self._document] * len(self._sentence))
            self._bounds.append(self._bounds[-1] + len(self._sentence))
            if self._heads:
                self._all_heads.append(np.array(self._heads, dtype=np.int32))
            self._document_is_open = True
        self._sentence, self._heads, self._is_bad = [], [], False
        if len(self._rows) >= _ROWS_IN_A_BATCH:
            self._encode_rows()

    def start_document(self, name: str | None = None) -> None:
        """What follows belongs to another document; one without sentences does not count."""
        self.end_sentence()
        self.has_documents = True
        if self._document_is_open:
            self._n_documents += 1
        self._document = name or f"document {self._n_documents}"
        self._document_is_open = False

    def finish(self, *, require_labels: bool = True) -> NominalTable:
        """The table of all sentences."""
        self.end_sentence()
        file = self.bad_rows.file
        if len(self._bounds) == 1:
            message = "no sentence can be used" if self.bad_rows.count else "no sentences"
            raise ReadError(message, file=file)
        self._encode_rows()
        structure: dict = {"sequence_bounds": np.array(self._bounds, dtype=np.int64)}
        if self._all_heads:
            structure["heads"] = np.concatenate(self._all_heads)
        table = self._growing.finish(
            source=file,
            require_labels=require_labels,
            of_sentences=True,
            keep_groups=self.has_documents,
            **structure,
        )
        self.bad_rows.warn()
        return table

    def _encode_rows(self) -> None:
        if not self._rows:
            return
        columns = list(zip(*self._rows, strict=True))
        self._growing.extend([*(columns[j] for j in self._order), self._documents])
        self._rows, self._documents = [], []
