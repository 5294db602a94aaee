"""Dependency trees: CoNLL-U, and CoNLL-X, whose first eight columns are the same in kind.

Ten columns between tabs: id, form, lemma, universal tag, own tag, features, head, relation, and
two more that are not read.  Lines of multiword tokens (``3-4``) and empty nodes (``5.1``) are left
out; ``# newdoc`` comments begin a document, and documents become groups.  Heads are positions in
the sentence, 0 for the root.  Faults name file, line and the number of the column:
``train.conllu:12:7: head 31 in a sentence of 24 tokens``.
"""

from __future__ import annotations

import os

from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_lines
from featloom.data.readers.sentences import Sentences
from featloom.data.readers.separated import wrong_width
from featloom.data.table import NominalTable
from featloom.errors import InputError

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel")
_WIDTH, _HEAD = 10, 6
_PLACES = (1, 2, 3, 4, 5, 7)
_LONGEST_NUMBER = 9


def read_conllu(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    heads: bool = True,
    on_bad_row: str = "raise",
    require_labels: bool = True,
) -> NominalTable:
    """Read dependency trees.

    Parameters
    ----------
    path : file to read.
    target : the column that holds the labels ("upos" for tagging); default none.
    heads : whether to read heads; False for text that has none.
    on_bad_row : "raise", or "skip" to leave sentences with a bad line out and warn with their
        number.
    require_labels : False for data to predict on: the classes are not checked.

    Returns
    -------
    NominalTable
        Columns form, lemma, upos, xpos, feats and deprel, with ``heads``, ``sequence_bounds`` and,
        where the file marks documents, ``groups``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.conllu")
    ...     rows = ["1 He he PRON PRP _ 2 nsubj _ _", "2 ran run VERB VBD _ 0 root _ _"]
    ...     _ = path.write_text("\\n".join(rows).replace(" ", "\\t") + "\\n")
    ...     table = read_conllu(path)
    >>> table.value("lemma", 1), table.heads.tolist()
    ('run', [2, 0])
    """
    name = os.fspath(path)
    if target is not None and target not in COLUMNS:
        raise InputError(f"no column {target!r}; there are {', '.join(COLUMNS)}")
    bad_rows = BadRows(name, on_bad_row, "sentence")
    sentences = Sentences(COLUMNS, target, bad_rows)
    pending: list[tuple[int, int]] = []  # line and head of each token of the sentence
    for number, line in read_lines(name, on_bad_line=sentences.refuse_line):
        if not line.strip():
            _check_heads(pending, sentences)
            pending = []
            sentences.end_sentence()
            continue
        if line[0] == "#":
            if line[1:].lstrip().startswith("newdoc"):
                _check_heads(pending, sentences)
                pending = []
                sentences.start_document(line.partition("=")[2].strip() or None)
            continue
        cells = line.split("\t")
        if len(cells) != _WIDTH:
            sentences.refuse(wrong_width(len(cells), _WIDTH), line=number)
            continue
        token = cells[0]
        if "-" in token or "." in token:
            if not token.replace("-", ".", 1).replace(".", "", 1).isdigit():
                sentences.refuse(f"{token!r:.40} is no token number", line=number, column=1)
            continue
        expected = str(len(sentences) + 1)
        if token != expected:
            message = f"token number {token:.40}, {expected} expected"
            sentences.refuse(message, line=number, column=1)
            continue
        head = None
        if heads:
            head = _number(cells[_HEAD])
            if head is None:
                message = f"head {cells[_HEAD]!r:.40} is not a number"
                sentences.refuse(message, line=number, column=_HEAD + 1)
                continue
            pending.append((number, head))
        sentences.add([cells[j] for j in _PLACES], head)
    _check_heads(pending, sentences)
    return sentences.finish(require_labels=require_labels)


def _number(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER:
        return int(text)
    return None


def _check_heads(pending: list[tuple[int, int]], sentences: Sentences) -> None:
    size = len(pending)
    for token, (line, head) in enumerate(pending, start=1):
        if head > size:
            message = f"head {head} in a sentence of {size} tokens"
        elif head == token:
            message = f"token {token} is its own head"
        else:
            continue
        sentences.refuse(message, line=line, column=_HEAD + 1)
        return
