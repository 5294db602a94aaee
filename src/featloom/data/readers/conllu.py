"""Dependency trees: CoNLL-U, and CoNLL-X, whose first eight columns are the same in kind.

Ten columns between tabs: id, form, lemma, universal tag, own tag, features, head, relation, and
two more, which are read where they are given names.  Lines of multiword tokens (``3-4``) and empty
nodes (``5.1``) are left out; ``# newdoc`` comments begin a document, and documents become groups.

Heads are positions in the sentence, 0 for the root.  They must form a tree: a token that is its
own head, a head beyond the sentence and tokens that hang on one another in a circle are refused.
So every sentence has a root; it may have several, as some treebanks of CoNLL-X do.  Faults name
file, line and the number of the column: ``train.conllu:12:7: head 31 in a sentence of 24 tokens``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.lines import read_lines
from featloom.data.readers.sentences import Sentences
from featloom.data.readers.separated import wrong_width
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.words import first_few, no_such

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel")
WIDTH, HEAD, RELATION = 10, 6, 7
_PLACES = (1, 2, 3, 4, 5, 7)
_LAST_PLACES = (8, 9)
_LONGEST_NUMBER = 9
_SHOWN_IN_A_CYCLE = 20

Line = tuple[int, str | ReadError]


class TreeSentence(NamedTuple):
    """What the lines of a sentence hold: cells and head of each token, or the first fault."""

    tokens: list[list[str]]
    heads: list[int] | None
    fault: ReadError | None = None


def read_conllu(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    heads: bool = True,
    last: Sequence[str] | None = None,
    on_bad_row: str = "raise",
    require_labels: bool = True,
) -> NominalTable:
    """Read dependency trees.

    Parameters
    ----------
    path : file to read, plain or compressed.
    target : the column that holds the labels ("upos" for tagging); default none.
    heads : whether to read heads; False for text that has none.
    last : names for columns 9 and 10, which then are read like the others: ("chunk", "clause")
        for a treebank that has these there.  None: they are not read.
    on_bad_row : "raise", or "skip" to leave sentences with a bad line out and warn with their
        number.
    require_labels : False for data to predict on: the classes are not checked.

    Returns
    -------
    NominalTable
        Columns form, lemma, upos, xpos, feats and deprel, and those of ``last``, with ``heads``,
        ``sequence_bounds`` and, where the file marks documents, ``groups``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.conllu")
    ...     rows = ["1 He he PRON PRP _ 2 nsubj B-np _", "2 ran run VERB VBD _ 0 root B-vp _"]
    ...     _ = path.write_text("\\n".join(rows).replace(" ", "\\t") + "\\n")
    ...     table = read_conllu(path, last=("chunk", "clause"))
    >>> table.value("lemma", 1), table.heads.tolist(), table.value("chunk", 1)
    ('run', [2, 0], 'B-vp')
    """
    name = os.fspath(path)
    columns = (*COLUMNS, *_last_names(last))
    if target is not None and target not in columns:
        raise InputError(no_such("column", target, columns))
    places = _PLACES if last is None else _PLACES + _LAST_PLACES
    in_table = itemgetter(*places)
    sentences = Sentences(columns, target, BadRows(name, on_bad_row, "sentence"))
    for lines in sentence_lines(name):
        first = lines[0][1]
        if isinstance(first, str) and _is_new_document(first):
            sentences.start_document(first.partition("=")[2].strip() or None)
        found = parse_sentence(lines, name, heads=heads)
        if found.fault is not None:
            sentences.refuse_line(found.fault)
        else:
            for cells, head in zip(found.tokens, found.heads or repeat(None), strict=False):
                sentences.add(in_table(cells), head)
        sentences.end_sentence()
    return sentences.finish(require_labels=require_labels)


def sentence_lines(path: str, *, keep_bad: bool = True) -> Iterator[list[Line]]:
    """The lines of each sentence with their numbers: comments, tokens, the blank line after it.

    A line that is no text stands as its fault or, without ``keep_bad``, is raised.  ``# newdoc``
    begins a new list; a list may hold comments or a blank line alone.
    """
    lines: list[Line] = []

    def keep(error: ReadError) -> None:
        lines.append((error.line or 0, error))

    for numbered in read_lines(path, on_bad_line=keep if keep_bad else None):
        line = numbered[1]
        if not line or line.isspace():
            yield [*lines, numbered]
            lines.clear()
            continue
        if line[0] == "#" and lines and _is_new_document(line):
            yield lines.copy()
            lines.clear()
        lines.append(numbered)
    if lines:
        yield lines


def parse_sentence(lines: Sequence[Line], file: str, *, heads: bool) -> TreeSentence:
    """The tokens of a sentence; ranges and empty nodes are checked and left out.

    >>> rows = ["1-2 del _ _ _ _ _ _ _ _", "1 de _ _ _ _ 0 _ _ _", "2 el _ _ _ _ 1 _ _ _"]
    >>> lines = list(enumerate((row.replace(" ", "\\t") for row in rows), start=1))
    >>> parse_sentence(lines, "toy.conllu", heads=True).heads
    [0, 1]
    """

    def bad(message: str, line: int, column: int | None = None) -> TreeSentence:
        return TreeSentence([], None, ReadError(message, file=file, line=line, column=column))

    tokens: list[list[str]] = []
    numbers: list[int] = []
    head_of: list[int] = []
    for number, line in lines:
        if isinstance(line, ReadError):
            return TreeSentence([], None, line)
        if not line or line[0] == "#":
            continue
        cells = line.split("\t")
        token, expected = cells[0], str(len(tokens) + 1)
        if token != expected or len(cells) != WIDTH:
            if line.isspace():
                continue
            if len(cells) != WIDTH:
                return bad(wrong_width(len(cells), WIDTH), number)
            if "-" not in token and "." not in token:
                return bad(f"token number {token:.40}, {expected} expected", number, 1)
            if not token.replace("-", ".", 1).replace(".", "", 1).isdigit():
                return bad(f"{token!r:.40} is no token number", number, 1)
            continue
        if heads:
            text = cells[HEAD]
            if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
                return bad(f"head {text!r:.40} is not a number", number, HEAD + 1)
            head_of.append(int(text))
            numbers.append(number)
        tokens.append(cells)
    if not heads:
        return TreeSentence(tokens, None)
    wrong = fault_of_tree(head_of)
    if wrong is not None:
        token_at_fault, message = wrong
        return bad(message, numbers[token_at_fault - 1], HEAD + 1)
    return TreeSentence(tokens, head_of)


def fault_of_tree(heads: Sequence[int]) -> tuple[int, str] | None:
    """The token at which heads fail to form a tree, and why; None where they do.

    >>> fault_of_tree([2, 0, 2])
    >>> fault_of_tree([0, 4, 2, 3])
    (2, 'tokens 2, 4, 3 form a cycle')
    """
    size = len(heads)
    for token, head in enumerate(heads, start=1):
        if not 0 <= head <= size:
            return token, f"head {head} in a sentence of {size} tokens"
        if head == token:
            return token, f"token {token} is its own head"
    # Each token is walked from once: later walks stop where an earlier one has been.
    walk_of = [0] * (size + 1)
    walk_of[0] = -1
    for first in range(1, size + 1):
        token = first
        while walk_of[token] == 0:
            walk_of[token] = first
            token = heads[token - 1]
        if walk_of[token] == first:
            return _cycle_through(token, heads)
    return None


def _cycle_through(token: int, heads: Sequence[int]) -> tuple[int, str]:
    """The cycle from its first token on, each followed by its head."""
    cycle = [token]
    while heads[cycle[-1] - 1] != token:
        cycle.append(heads[cycle[-1] - 1])
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    return cycle[0], f"tokens {first_few(list(map(str, cycle)), _SHOWN_IN_A_CYCLE)} form a cycle"


def _is_new_document(line: str) -> bool:
    return line.startswith("#") and line[1:].lstrip().startswith("newdoc")


def _last_names(last: Sequence[str] | None) -> tuple[str, ...]:
    if last is None:
        return ()
    names = () if isinstance(last, str) else tuple(last)
    if len(names) != len(_LAST_PLACES):
        raise InputError(f"last is {last!r}; it must be two names, for columns 9 and 10")
    for name in names:
        if name in COLUMNS:
            raise InputError(f"column {name!r} appears twice")
    return names
