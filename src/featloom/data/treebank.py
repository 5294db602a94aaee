"""Predicted trees, written into the file they were predicted for.

The file of sentences is copied line by line: comments, multiword tokens, empty nodes and all
columns but two stay as they are.  Head (column 7) and relation (column 8) of every token are the
predicted ones.  Lines end in a plain newline, the last one too.

Predictions and sentences must fit: as many of each, and as many heads as tokens.  Heads must form
trees, so that what was written can be read again.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from featloom.data.readers.bad_rows import BadRows
from featloom.data.readers.conllu import (
    HEAD,
    RELATION,
    Line,
    fault_of_tree,
    parse_sentence,
    sentence_lines,
)
from featloom.errors import InputError
from featloom.runs import write_beside

STANDARD_OUTPUT = "-"
NO_RELATION = "_"

Heads = Iterable[Sequence[int] | np.ndarray]
Relations = Iterable[Sequence[str]]


def write_heads(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    heads: Heads,
    relations: Relations | None = None,
    *,
    with_heads: bool = True,
    on_bad_row: str = "raise",
) -> None:
    """Copy a file of sentences with predicted trees in place of those it has.

    Parameters
    ----------
    source : the CoNLL-U or CoNLL-X file that was read, plain or compressed.
    target : file to write, as plain text; "-" for standard output.  Nothing is left there, or
        printed, unless all of it could be written.
    heads : for each sentence that was read the head of each token, 0 for the root.
    relations : for each sentence the relation of each token; None: there are none, and column 8
        becomes "_", because the relation to another head is not that to the predicted one.
    with_heads, on_bad_row : what ``read_conllu`` was told as ``heads`` and ``on_bad_row``.  The
        sentences that it left out are found in the same way and copied as they are.  A line
        that is no text cannot be copied, and is refused.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = Path(folder, "in.conllu"), Path(folder, "out.conllu")
    ...     rows = ["# text = He ran", "1 He he _ _ _ 0 root _ _", "2 ran run _ _ _ 1 dep _ _"]
    ...     _ = source.write_text("\\n".join([rows[0], *(r.replace(" ", "\\t") for r in rows[1:])]))
    ...     write_heads(source, target, [[2, 0]], [["nsubj", "root"]])
    ...     print(target.read_text().replace("\\t", " "), end="")
    # text = He ran
    1 He he _ _ _ 2 nsubj _ _
    2 ran run _ _ _ 0 root _ _
    """
    name = os.fspath(source)
    bad_rows = BadRows(name, on_bad_row, "sentence")
    texts = _sentence_texts(name, heads, relations, with_heads, bad_rows)
    if os.fspath(target) == STANDARD_OUTPUT:
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as whole:
            whole.writelines(texts)
            whole.seek(0)
            shutil.copyfileobj(whole, sys.stdout)
    else:
        refuse_packed(target)
        write_beside(target, texts)


def refuse_packed(target: str | os.PathLike[str]) -> None:
    """Refuse a name by which a file of trees would be taken for a compressed one.

    >>> refuse_packed("parsed.conllu")
    """
    if Path(target).suffix in (".xz", ".gz"):
        raise InputError(
            f"{target}: trees are written as plain text; choose a name without .xz, .gz"
        )


def _sentence_texts(
    name: str, heads: Heads, relations: Relations | None, with_heads: bool, bad_rows: BadRows
) -> Iterator[str]:
    """The text of each sentence, with the predictions in place."""
    predicted, named = iter(heads), None if relations is None else iter(relations)
    n_sentences = 0
    for lines in sentence_lines(name, keep_bad=False):
        found = parse_sentence(lines, name, heads=with_heads)
        if found.fault is not None:
            bad_rows.add_error(found.fault)
        if not found.tokens:
            yield "".join(f"{line}\n" for _, line in lines)
            continue
        n_sentences += 1
        given = next(predicted, None)
        if given is None:
            raise InputError(f"{name}: no heads for sentence {n_sentences}, {_place(lines)}")
        size = len(found.tokens)
        what = f"{name}: sentence {n_sentences}, {_place(lines)}"
        numbers = _checked_heads(given, size, what)
        names: Sequence[str] = [NO_RELATION] * size
        if named is not None:
            names = _checked_relations(next(named, None), size, what)
        yield _with_heads(lines, found.tokens, numbers, names)
    if next(predicted, None) is not None:
        raise InputError(f"{name}: heads for more than its {n_sentences:,} sentences")
    if named is not None and next(named, None) is not None:
        raise InputError(f"{name}: relations for more than its {n_sentences:,} sentences")


def _with_heads(
    lines: Sequence[Line], tokens: list[list[str]], heads: list[int], relations: Sequence[str]
) -> str:
    text = []
    token = 0
    for _, line in lines:
        assert isinstance(line, str)
        # Ranges and empty nodes have other numbers, comments none.
        if token < len(tokens) and line.startswith(f"{token + 1}\t"):
            cells = tokens[token]
            cells[HEAD], cells[RELATION] = str(heads[token]), relations[token]
            line = "\t".join(cells)
            token += 1
        text.append(f"{line}\n")
    return "".join(text)


def _checked_heads(given: Sequence[int] | np.ndarray, size: int, what: str) -> list[int]:
    heads = np.asarray(given)
    if heads.shape != (size,):
        raise InputError(f"{what}: {size} tokens and {heads.size} heads")
    if heads.dtype.kind not in "iu":
        raise InputError(f"{what}: heads must be whole numbers")
    numbers = heads.tolist()
    fault = fault_of_tree(numbers)
    if fault is not None:
        raise InputError(f"{what}: {fault[1]}")
    return numbers


def _checked_relations(given: Sequence[str] | None, size: int, what: str) -> Sequence[str]:
    if given is None or len(given) != size:
        raise InputError(
            f"{what}: {size} tokens and {0 if given is None else len(given)} relations"
        )
    for relation in given:
        if not relation or any(sign in relation for sign in "\t\n\r"):
            raise InputError(f"{what}: relation {relation!r:.40} cannot stand in a column")
    return given


def _place(lines: Sequence[Line]) -> str:
    return f"from line {lines[0][0]} on"
