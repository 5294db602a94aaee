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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from featloom.errors import InputError, ReadError
from featloom.runs import write_beside

Place = tuple[int, int]
Sentence = Sequence[Sequence[str]]

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
    raw : the line as it was read, with its end; written again where nothing else was changed.

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
    raw: str = field(default="", compare=False, repr=False)

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


def write_templates(path: str | os.PathLike[str], lines: Iterable[TemplateLine]) -> None:
    """Write templates; a line that was read and not changed is written as it was, to the byte.

    Changed and new lines end as the first line that was read does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> lines = read_templates("U1:%x[0,0]   \\r\\n# pairs\\r\\nB\\r\\n")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "template")
    ...     write_templates(path, [*lines, template_line("U2", [(1, 0)])])
    ...     path.read_bytes()
    b'U1:%x[0,0]   \\r\\n# pairs\\r\\nB\\r\\nU2:%x[1,0]\\r\\n'
    """
    lines = list(lines)
    if not any(line.kind for line in lines):
        raise InputError(f"no templates to write to {os.fspath(path)}")
    ends = [line.raw[len(line.raw.rstrip("\r\n")) :] for line in lines]
    usual = next((end for end in ends if end), "\n")
    written: list[str] = []
    for number, (line, end) in enumerate(zip(lines, ends, strict=True), start=1):
        text = str(line)
        kept = line.raw and str(_parsed(line.raw, _TEXT, 1)) == text
        if kept:
            text = line.raw.removesuffix(end)
            if number > 1:  # it may have been the first line of its file
                text = text.removeprefix(_BYTE_ORDER_MARK)
        else:
            _check_writable(line, text)
        # Only the last line of a file may lack an end, and only if it did when it was read.
        written.append(text + (end if kept and (end or number == len(lines)) else end or usual))
    write_beside(path, "".join(written))


def expand_line(line: TemplateLine, sentence: Sentence, i: int) -> str:
    """The feature that CRF++ makes of a template at token ``i``.

    Cells before the sentence read ``_B-1``, ``_B-2``, …, those after it ``_B+1``, …, counted from
    its edge.  CRF++ itself refuses rows far off (beyond 4 or 8, by its version), which are
    expanded here all the same, and uses B lines from the second token on.

    Examples
    --------
    >>> line = read_templates("U02:%x[-1,1]/%x[0,1]")[0]
    >>> sentence = [("He", "PRP"), ("ran", "VBD")]
    >>> expand_line(line, sentence, 1), expand_line(line, sentence, 0)
    ('U02:PRP/VBD', 'U02:_B-1/PRP')
    """
    if not line.kind:
        raise InputError("a comment has no features")
    if not 0 <= i < len(sentence):
        raise InputError(f"no token {i} in a sentence of {len(sentence)}")
    read = [part if isinstance(part, str) else cell(sentence, i, part, line) for part in line.parts]
    return line.name + "".join(read)


def cell(sentence: Sentence, i: int, place: Place, line: TemplateLine) -> str:
    """What a cell of a template reads at token ``i``.

    >>> line = template_line("U0", [(2, 0)])
    >>> cell([("He", "PRP"), ("ran", "VBD")], 1, (2, 0), line)
    '_B+2'
    """
    row, col = place
    at = i + row
    if at < 0:
        return f"_B{at}"
    if at >= len(sentence):
        return f"_B+{at - len(sentence) + 1}"
    if not 0 <= col < len(sentence[at]):
        width = len(sentence[at])
        raise InputError(f"template {line} reads column {col}; token {at} has {width}, from 0")
    return sentence[at][col]


def check_ids(lines: Iterable[TemplateLine]) -> list[str]:
    """The names that more than one template has, in the order they are first seen.

    The id is all that tells the features of two templates apart: with one id, a word before and
    the same word here are one feature and share a weight.

    >>> check_ids(read_templates("U05:%x[0,0]\\nU05:%x[1,0]\\nU06:%x[2,0]\\nB\\n"))
    ['U05']
    """
    times = Counter(line.name for line in lines if line.kind)
    return [name for name, n in times.items() if n > 1]


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
        return TemplateLine("", comment=line, raw=raw)
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
    return TemplateLine(kind, name, ((rest,) if rest else ()) + tuple(parts[1:]), comment, raw)


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


def _check_writable(line: TemplateLine, text: str) -> None:
    """Refuse a line that would read as another one."""
    try:
        # Not as a first line, where a mark of byte order would be dropped.
        same = "\n" not in text and _parsed(text, _TEXT, 2)
    except ReadError:
        same = False
    if not same or _meaning(same) != _meaning(line):
        raise InputError(f"template {text!r:.60} would not be read as it is meant")


def _meaning(line: TemplateLine) -> tuple[object, ...]:
    # Not the parts: two pieces of text in a row are read as one.
    return line.kind, line.name, line.places, line.comment, str(line)
