"""Template files of CRF++: which cells of a sentence a feature is made of, a template a line.

    # words around, and the tag before with the tag here
    U00:%x[-1,0]
    U01:%x[0,0]
    U02:%x[-1,1]/%x[0,1]
    B

``%x[row,col]`` stands for a cell: ``row`` counts tokens from the present one, ``col`` columns from
0.  All else is copied into the feature as it stands.  A line that begins with U makes features of a
label, one with B features of a pair of labels; a lone ``B`` is the pair itself.  What stands before
the colon is the template's id, and it is part of every feature: two lines with one id whose cells
read the same are ONE feature to CRF++, so ``U:%x[-1,0]`` and ``U:%x[0,0]`` do not tell the word
before from the word here.

Wapiti's patterns are read where they say the same: ``u``, ``b`` and ``*`` (both) lines with ``%x``
alone.  In lines that begin with such a letter a "#" begins a comment and blanks at the end do not
count, as in Wapiti; in others both are part of the feature, as in CRF++.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from featloom.errors import InputError, ReadError

Place = tuple[int, int]

KINDS = {"U": ("U",), "B": ("B",), "*": ("U", "B"), "": ()}
_TEXT = "templates"  # what faults call templates that are in no file
_BYTE_ORDER_MARK = "\ufeff"
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_CELL = re.compile(r"%x\[(-?[0-9]{1,6}),([0-9]{1,6})\]")
_WAPITI_ONLY = {"t": "a test", "m": "a match", "X": "lower case", "T": "a test", "M": "a match"}


@dataclass(frozen=True)
class TemplateLine:
    """A line of a template file.

    Parameters
    ----------
    kind : "U", "B", "*" (Wapiti's both), or "" for a comment or a blank line.
    name : the id with its letter, ``U05``; what stands before the first colon or cell.
    parts : what follows the name, in order: text, and cells as (row, col).
    comment : the text of a comment or blank line; in Wapiti's lines also that of its comment.

    Examples
    --------
    >>> line = read_templates("U05:%x[-1,0]/%x[0,1]")[0]
    >>> line.name, line.parts
    ('U05', (':', (-1, 0), '/', (0, 1)))
    >>> line.places
    ((-1, 0), (0, 1))
    """

    kind: str
    name: str = ""
    parts: tuple[str | Place, ...] = ()
    comment: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}; it must be U, B, * or nothing")
        if self.name[:1].upper() != self.kind:
            wanted = f"begin with {self.kind}" if self.kind else "be empty"
            raise InputError(f"name {self.name!r} of a template must {wanted}")

    @property
    def kinds(self) -> tuple[str, ...]:
        """("U",), ("B",), both for Wapiti's ``*``, or none for a comment."""
        return KINDS[self.kind]

    @property
    def places(self) -> tuple[Place, ...]:
        """The cells alone, as (row, col)."""
        return tuple(part for part in self.parts if not isinstance(part, str))

    def __str__(self) -> str:
        cells = (
            part if isinstance(part, str) else f"%x[{part[0]},{part[1]}]" for part in self.parts
        )
        return self.name + "".join(cells) + self.comment


def template_line(name: str, places: Iterable[Place], *, separator: str = "/") -> TemplateLine:
    """A template of cells, as CRF++'s own files write it.

    >>> str(template_line("U02", [(-1, 1), (0, 1)]))
    'U02:%x[-1,1]/%x[0,1]'
    >>> str(template_line("B", []))
    'B'
    """
    parts: list[str | Place] = []
    for row, col in places:
        parts += [separator if parts else ":", (int(row), int(col))]
    return TemplateLine(name[:1].upper(), name, tuple(parts))


def read_templates(source: str | os.PathLike[str] | Iterable[str]) -> list[TemplateLine]:
    """Read templates, with the comments and blank lines between them.

    Parameters
    ----------
    source : a file; or the text of one, which is told from a file's name by a line end or a "%";
        or lines.

    Examples
    --------
    >>> lines = read_templates(["# words", "U:%x[0,0]", "B01:%x[0,1]", "B"])
    >>> [(line.kind, line.name, line.places) for line in lines if line.kind]
    [('U', 'U', ((0, 0),)), ('B', 'B01', ((0, 1),)), ('B', 'B', ())]
    >>> read_templates("U00:%x[0]")
    Traceback (most recent call last):
        ...
    featloom.errors.ReadError: templates:1:5: '%x[0]' is not %x[row,col] with two whole numbers
    """
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not _is_text(source)):
        file = os.fspath(source)
        raw_lines = _LINES.findall(_content(file))
    elif isinstance(source, str):
        file, raw_lines = _TEXT, _LINES.findall(source)
    else:
        file, raw_lines = _TEXT, [line.removesuffix("\n") + "\n" for line in source]
        if any(line.count("\n") > 1 for line in raw_lines):
            raise InputError("a line of templates holds a line end")
    lines = [_parsed(raw, file, number) for number, raw in enumerate(raw_lines, start=1)]
    if not any(line.kind for line in lines):
        raise ReadError("no templates", file=file)
    return lines


def _is_text(source: str) -> bool:
    return "\n" in source or "%" in source


def _content(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except FileNotFoundError:
        raise ReadError("no such file", file=file) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"cannot be read: {reason}", file=file) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise ReadError("not UTF-8", file=file, line=number) from None


def _parsed(raw: str, file: str, number: int) -> TemplateLine:
    """A line of a file; columns in faults count letters from 1, without a mark of byte order."""
    line = raw.rstrip("\r\n")
    if number == 1:
        line = line.removeprefix(_BYTE_ORDER_MARK)
    text = line.lstrip(" \t")
    if not text or text[0] == "#":
        return TemplateLine("", comment=line)
    kind = text[0].upper()
    begin = len(line) - len(text)
    if kind not in ("U", "B", "*"):
        _refuse(f"this is no template: it begins with {text[0]!r}, not U or B", file, number, begin)
    comment = ""
    if text[0] in "ub*":
        text = text.partition("#")[0].rstrip(" \t")
        comment = line[begin + len(text) :]
    parts: list[str | Place] = []
    at = 0
    while at < len(text):
        percent = text.find("%", at)
        literal = text[at:] if percent < 0 else text[at:percent]
        if literal:
            parts.append(literal)
        if percent < 0:
            break
        found = _CELL.match(text, percent)
        if found is None:
            _refuse(_macro_fault(text, percent), file, number, begin + percent)
        parts.append((int(found[1]), int(found[2])))
        at = found.end()
    # The first part is text, since the line begins with a letter: the name is cut off from it.
    first = str(parts[0])
    name = first.partition(":")[0]
    blank = len(name) - len(name.rstrip(" \t"))
    name = name[: len(name) - blank]
    rest = first[len(name) :]
    return TemplateLine(kind, name, ((rest,) if rest else ()) + tuple(parts[1:]), comment)


def _macro_fault(text: str, percent: int) -> str:
    """What is wrong with what begins at a "%"."""
    letter = text[percent + 1 : percent + 2]
    shown = text[percent : percent + 20].partition("]")
    macro = shown[0] + shown[1]
    if letter == "x":
        if text[percent + 2 : percent + 4] in ("[@", "[*"):
            return f"{macro!r} is a place that only Wapiti knows; %x[row,col] alone is read"
        return f"{macro!r} is not %x[row,col] with two whole numbers"
    if letter in _WAPITI_ONLY and text[percent + 2 : percent + 3] == "[":
        meaning = _WAPITI_ONLY[letter]
        return f"'%{letter}' ({meaning}) is a pattern that only Wapiti knows; derive a column"
    return f"unknown macro {'%' + letter!r}; %x[row,col] alone is known"


def _refuse(message: str, file: str, number: int, at: int) -> NoReturn:
    raise ReadError(message, file=file, line=number, column=at + 1)
