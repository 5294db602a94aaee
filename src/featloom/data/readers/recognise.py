"""Which of the formats a file is in, by its ending and, where that leaves it open, its content."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from itertools import islice
from pathlib import Path

from featloom.data.readers.lines import read_lines
from featloom.data.readers.tables import sniff_separator
from featloom.errors import ReadError

FORMATS = ("table", "timbl", "conll", "conllu", "svmlight", "sparse", "folder")
_FORMAT_OF_ENDING = {
    ".csv": "table",
    ".tsv": "table",
    ".tab": "table",
    ".parquet": "table",
    ".pq": "table",
    ".conll": "conll",
    ".conllx": "conllu",
    ".conllu": "conllu",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".txt": "conll",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "sparse",
    ".data": "timbl",
    ".train": "timbl",
    ".test": "timbl",
}
_SAMPLE = 500
_SPARSE_ROW = re.compile(r"[^\s:#]+(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?")


def format_of(path: str | os.PathLike[str], *, columns: Collection[str] = ()) -> str:
    """The format of a file: "table", "timbl", "conll", "conllu", "svmlight", "sparse" (an
    ``.npz`` matrix) or "folder" (one with X.npz in it).

    Two endings are not taken at their word: a ``.tsv`` or ``.csv`` whose first line repeats a
    value has no header and is a TiMBL file, and a ``.conll`` of numbered tokens in ten columns
    holds trees.  Where the first line has one of the names in ``columns``, it is a header.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.tsv")
    ...     _ = path.write_text("_\\t_\\tc\\tK\\n_\\tc\\ta\\tAE\\n")
    ...     format_of(path)
    'timbl'
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        if os.path.exists(os.path.join(name, "X.npz")):
            return "folder"
        raise ReadError("this is a folder without X.npz; name a file in it", file=name)
    ending = Path(name.lower().removesuffix(".xz").removesuffix(".gz")).suffix
    found = _FORMAT_OF_ENDING.get(ending)
    if ending in (".parquet", ".pq") or found not in ("table", "conll", None):
        return str(found)
    lines = _sample(name)
    may_be_table = found != "conll" or ending == ".txt"
    if columns and may_be_table and not set(columns).isdisjoint(_first_cells(name, lines)):
        return "table"
    if found == "table":
        cells = [cell for cell in _first_cells(name, lines) if cell]
        return "timbl" if len(set(cells)) < len(cells) else "table"
    if _holds_trees(lines):
        return "conllu"
    return found or _by_content(name, lines)


def _sample(name: str) -> list[str]:
    # A bad line among many is the reader's to refuse or to skip.
    sound = read_lines(name, on_bad_line=lambda error: None)
    lines = [line for _, line in islice(sound, _SAMPLE)]
    return lines or [line for _, line in read_lines(name)]


def _first_cells(name: str, lines: list[str]) -> list[str]:
    first = next((line for line in lines if line.strip()), "")
    return [cell.strip('"') for cell in first.split(sniff_separator(name))]


def _holds_trees(lines: list[str]) -> bool:
    for line in lines:
        if line.strip() and not line.startswith("#"):
            cells = line.split("\t")
            return len(cells) == 10 and re.fullmatch(r"1(-\d+)?", cells[0]) is not None
    return False


def _by_content(name: str, lines: list[str]) -> str:
    full = [line for line in lines if line.strip()]
    if not full:
        raise ReadError("no rows", file=name)
    if _SPARSE_ROW.fullmatch(full[0]):
        return "svmlight"
    if "" in [line.strip() for line in lines[:-1]]:
        return "conll"
    if len(full[0].split()) > 1 or "," in full[0]:
        return "timbl"
    known = ", ".join(FORMATS)
    raise ReadError(f"cannot tell what kind of file this is; name its format: {known}", file=name)
