"""Features for CRFsuite: the strings that CRF++'s templates make of a sentence.

CRFsuite knows no templates: it is given the features of every token.  Its features look at one
label; the label pair, CRF++'s lone ``B``, it always has.  Pairs that also look at the words
(``B01:%x[0,0]``) it has none of, so such templates are refused.

Its files have a token a line, the label and then the features between tabs, and an empty line
after each sentence.  A colon would set a feature's value off, so it is written ``\\:``, and a
backslash ``\\\\``.  The Python package takes lists of strings, where nothing is escaped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from featloom.errors import InputError
from featloom.formats.crfpp import Place, Sentence, TemplateLine, cell
from featloom.runs import write_beside


def feature_names(sentence: Sentence, templates: Iterable[TemplateLine]) -> list[list[str]]:
    """The features of each token, as python-crfsuite's ``Trainer.append`` takes them.

    They are those of CRF++, string by string; see ``crfpp.expand_line``.

    Examples
    --------
    >>> from featloom.formats.crfpp import read_templates
    >>> templates = read_templates("U0:%x[0,0]\\nU1:%x[-1,1]/%x[0,1]\\nB\\n")
    >>> feature_names([("He", "PRP"), ("ran", "VBD")], templates)
    [['U0:He', 'U1:_B-1/PRP'], ['U0:ran', 'U1:PRP/VBD']]
    >>> feature_names([("He",)], read_templates("B1:%x[0,0]"))
    Traceback (most recent call last):
        ...
    featloom.errors.InputError: template B1:%x[0,0]: CRFsuite has no label pairs that look at words
    """
    return _features(sentence, _label_templates(templates))


def write_crfsuite(
    path: str | os.PathLike[str],
    sentences: Iterable[Sentence],
    labels: Iterable[Sequence[str]],
    templates: Iterable[TemplateLine],
) -> None:
    """Write sentences with their features in CRFsuite's text format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from featloom.formats.crfpp import read_templates
    >>> templates = read_templates("U0:%x[0,0]\\nB\\n")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.crfsuite")
    ...     write_crfsuite(path, [[("at",), ("9:30",)]], [["O", "B-TIME"]], templates)
    ...     path.read_text()
    'O\\tU0\\\\:at\\nB-TIME\\tU0\\\\:9\\\\:30\\n\\n'
    """
    unigrams = _label_templates(templates)
    written: list[str] = []
    sound_labels: set[str] = set()  # labels come again and again, so each is looked at once
    number = 0
    for number, (sentence, answer) in enumerate(zip_longest(sentences, labels), start=1):
        if sentence is None or answer is None:
            missing = "labels" if answer is None else "tokens"
            raise InputError(f"sentence {number} has no {missing}")
        if len(sentence) != len(answer):
            raise InputError(f"sentence {number}: {len(answer)} labels for {len(sentence)} tokens")
        if not sentence:
            raise InputError(f"sentence {number} is empty, and CRFsuite would skip it")
        for label, features in zip(answer, _features(sentence, unigrams), strict=True):
            if label not in sound_labels:
                _check_label(label, number)
                sound_labels.add(label)
            line = "\t".join([_escaped(label), *map(_escaped, features)])
            # A tab or a line end within a feature would add to the separators counted here.
            if line.count("\t") != len(features) or "\n" in line or "\r" in line or "\0" in line:
                faulty = next(f for f in features if set(f) & set("\t\n\r\0"))
                message = f"feature {faulty!r:.60} holds a tab, a line end or a NUL"
                raise InputError(f"sentence {number}: {message}")
            written.append(line + "\n")
        written.append("\n")
    if not number:
        raise InputError(f"no sentences to write to {os.fspath(path)}")
    write_beside(path, "".join(written))


def _label_templates(templates: Iterable[TemplateLine]) -> list[TemplateLine]:
    """The templates of one label; those of label pairs must be the plain pair."""
    kept: list[TemplateLine] = []
    for line in templates:
        if "B" in line.kinds and line.places:
            raise InputError(f"template {line}: CRFsuite has no label pairs that look at words")
        if "U" in line.kinds:
            kept.append(line)
    if not kept:
        raise InputError("there is no template of kind U: CRFsuite would see no words")
    return kept


def _features(sentence: Sentence, unigrams: Sequence[TemplateLine]) -> list[list[str]]:
    n = len(sentence)
    cells: dict[Place, list[str]] = {}  # templates share cells, so each is read once
    columns: list[list[str]] = []
    for line in unigrams:
        stretches: list[list[str]] = []
        fixed = line.name
        for part in line.parts:
            if isinstance(part, str):
                fixed += part
                continue
            if part not in cells:
                cells[part] = [cell(sentence, i, part, line) for i in range(n)]
            stretches += [[fixed] * n, cells[part]]
            fixed = ""
        stretches.append([fixed] * n)
        columns.append(["".join(strings) for strings in zip(*stretches, strict=True)])
    return [list(features) for features in zip(*columns, strict=True)]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _check_label(label: str, number: int) -> None:
    if not label:
        raise InputError(f"sentence {number}: a label is empty")
    if label[0] == "#":
        raise InputError(f"sentence {number}: label {label!r:.40} would be read as a comment")
    if set(label) & set("\t\n\r\0"):
        raise InputError(f"sentence {number}: label {label!r:.40} holds a tab, line end or NUL")
