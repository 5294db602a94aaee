"""Column files as the CoNLL shared tasks use them: a token a line, a blank line after a sentence.

Cells stand between tabs or, where the first token has no tab, between runs of blanks.  A line of
nothing but white space ends a sentence, since some corpora write a tab there.  ``-DOCSTART-`` and
``# newdoc`` lines begin a document; documents become groups.

A line that begins with "#" may be a comment or a token (a hashtag, a pound sign).  In tab-separated
files it is taken as a comment if it has no tab or a blank after the "#"; in others as a token.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from featloom.data.readers.assembly import check_names, position
from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_lines
from featloom.data.readers.sentences import Sentences
from featloom.data.readers.separated import check_width, wrong_width
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError

DOCUMENT_START = "-DOCSTART-"
USUAL_COLUMNS = {
    1: ("word",),
    2: ("word", "label"),
    3: ("word", "pos", "label"),
    4: ("word", "pos", "chunk", "label"),
}
# Universal NER's files, whose last two columns are missing in many lines.
IOB2_COLUMNS = (None, "word", "label")


def read_conll(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str | None] | None = None,
    target: str | int | None = -1,
    ragged: bool = False,
    comments: bool | None = None,
    on_bad_row: str = "raise",
    require_labels: bool = True,
) -> NominalTable:
    """Read sentences from a column file.

    Parameters
    ----------
    path : file to read.
    columns : names of the columns in order, None for one that is left out.  Default: word and
        label; word, pos and label; word, pos, chunk and label; else f1, f2, … and label.
    target : column with the labels, by name or position among ``columns``; None: no labels.
    ragged : take the named columns where a line has them: columns that it lacks are missing,
        those beyond the named ones are left out.  Otherwise such a line is a fault.
    comments : whether lines with "#" first are comments; None: as told at the top.
    on_bad_row : "raise", or "skip" to leave sentences with a bad line out and warn with their
        number.
    require_labels : False for data to predict on: the classes are not checked.

    Returns
    -------
    NominalTable
        With ``sequence_bounds``, and ``groups`` where the file marks documents.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.conll")
    ...     _ = path.write_text("He PRP B-NP\\nran VBD B-VP\\n\\nStop VB B-VP\\n")
    ...     table = read_conll(path)
    >>> table.columns, table.classes, table.sequence_bounds.tolist()
    (('word', 'pos'), ('B-NP', 'B-VP'), [0, 2, 3])
    """
    name = os.fspath(path)
    bad_rows = BadRows(name, on_bad_row, "sentence")
    tabs, width = first_token(name, comments)
    layout = _Layout(columns, width, target, name)
    # An empty cell is a missing value; a token without its label is a fault.
    sentences = Sentences(layout.names, layout.target, bad_rows, missing=("",))
    for number, line in read_lines(name, on_bad_line=sentences.refuse_line):
        if not line.strip():
            sentences.end_sentence()
            continue
        if line[0] == "#" and is_comment(line, tabs, comments):
            if line[1:].lstrip().startswith("newdoc"):
                sentences.start_document(line.partition("=")[2].strip() or None)
            continue
        if line.startswith(DOCUMENT_START):
            sentences.start_document()
            continue
        cells = cut(line, tabs)
        if len(cells) != layout.width:
            if not ragged or len(cells) < layout.least:
                sentences.refuse(wrong_width(len(cells), layout.width), line=number)
                continue
            cells += [""] * (layout.width - len(cells))
        if layout.target_place is not None and not cells[layout.target_place]:
            place = layout.target_place + 1
            sentences.refuse(f"no label in column {layout.target!r}", line=number, column=place)
            continue
        sentences.add([cells[j] for j in layout.kept])
    return sentences.finish(require_labels=require_labels)


def cut(line: str, tabs: bool) -> list[str]:
    """The cells of a line; blanks at its end are no part of the last one.

    Only spaces and tabs separate: other white space can be a token of its own.
    """
    if tabs:
        return line.rstrip(" ").split("\t")
    return [cell for cell in line.replace("\t", " ").split(" ") if cell]


class _Layout:
    """Where in a line the columns are that were asked for."""

    def __init__(
        self,
        columns: Sequence[str | None] | None,
        width: int,
        target: str | int | None,
        file: str,
    ):
        if columns is None:
            check_width(width, file=file)
            features = [f"f{j}" for j in range(1, width)]
            columns = USUAL_COLUMNS.get(width, (*features, "label"))
        self.width = len(columns)
        self.kept = [j for j, name in enumerate(columns) if name is not None]
        self.names = [name for name in columns if name is not None]
        check_names(self.names, file=file)
        self.target: str | None = None
        self.target_place: int | None = None
        if target is not None:
            if isinstance(target, int):
                target = columns[position([name or "" for name in columns], target, file)]
                if target is None:
                    raise InputError("the target is a column that is left out")
            self.target = target
            self.target_place = self.kept[position(self.names, target, file)]
        if not [name for name in self.names if name != self.target]:
            raise ReadError("no columns beside the target", file=file)
        # A ragged line must have its word and its label.
        self.least = max(self.kept[0], self.target_place or 0) + 1


def first_token(name: str, comments: bool | None) -> tuple[bool, int]:
    """Whether cells stand between tabs, and how many the first token has."""
    with_hash: str | None = None
    for _, line in read_lines(name, on_bad_line=lambda error: None):
        if not line.strip() or line.startswith(DOCUMENT_START):
            continue
        if line.startswith("#") and comments is not False:
            # A comment or a token: the first line without "#" shows what kind of file this is.
            with_hash = with_hash or line
            continue
        tabs = "\t" in line
        return tabs, len(cut(line, tabs))
    if with_hash is not None:
        tabs = "\t" in with_hash
        if not is_comment(with_hash, tabs, comments):
            return tabs, len(cut(with_hash, tabs))
    # Tell of the fault that keeps every line from being read, if there is one.
    for _ in read_lines(name):
        pass
    raise ReadError("no sentences", file=name)


def is_comment(line: str, tabs: bool, comments: bool | None) -> bool:
    if comments is not None:
        return comments
    return tabs and ("\t" not in line or line.startswith("# "))
