"""Features for CRFsuite: the strings that CRF++'s templates make of a sentence.

CRFsuite knows no templates: it is given the features of every token.  Its features look at one
label; the label pair, CRF++'s lone ``B``, it always has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from featloom.formats.crfpp import Place, TemplateLine

Sentence = Sequence[Sequence[str]]


def feature_names(sentence: Sentence, templates: Iterable[TemplateLine]) -> list[list[str]]:
    """The features of each token, as python-crfsuite's ``Trainer.append`` takes them."""
    n = len(sentence)
    cells: dict[Place, list[str]] = {}  # templates share cells, so each is read once
    columns: list[list[str]] = []
    for line in templates:
        if "U" not in line.kinds:
            continue
        stretches: list[list[str]] = []
        fixed = line.name
        for part in line.parts:
            if isinstance(part, str):
                fixed += part
                continue
            if part not in cells:
                cells[part] = [_cell(sentence, i, part) for i in range(n)]
            stretches += [[fixed] * n, cells[part]]
            fixed = ""
        stretches.append([fixed] * n)
        columns.append(["".join(strings) for strings in zip(*stretches, strict=True)])
    return [list(features) for features in zip(*columns, strict=True)]


def _cell(sentence: Sentence, i: int, place: Place) -> str:
    row, col = place
    at = i + row
    if at < 0:
        return f"_B{at}"
    return sentence[at][col] if at < len(sentence) else f"_B+{at - len(sentence) + 1}"
