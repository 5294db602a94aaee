"""Which part of speech has this word here?  Of words that training knows, and of those it does not.

A row is a word of a tagged text.  Its columns: the tags of two words before and two after
(``prevtag2 prevtag1 nexttag1 nexttag2``; "_" beyond the sentence), its last three letters, one a
column (``last3 last2 last1``; "none" where the word is shorter), and whether it has a hyphen and
begins with a capital (``hyphen``, ``capital``).  A known word brings two more: the word itself
(``word``) and its ambiguity class (``ambiguity``), the tags it has in training, as in ``NN-VB``.
The neighbours' tags are the gold ones.  The two tasks are those of Kool, Zavrel and Daelemans,
"Simultaneous Feature Selection and Parameter Optimization for Memory-based Natural Language
Processing".

The class is the treebank's own tag (XPOS), not the universal one: its 49 tags are nearer to the
111 of the paper's corpus than 17 are.  The paper does not say what an unknown word is.  Here:

- A word is known if its form, as it stands, occurs in the training text.
- Known words: train on all words of the training text, evaluate on the known words of the others.
- Unknown words: evaluate on the words that training lacks, train on those that are rare in
  training.  Rare means once: in the English Web Treebank that is 4.8 % of the words, at most
  twice is 7.9 %; the paper's unknown words are 5.9 % of all.

A training word helps to make its own ambiguity class, so the class of a word that occurs once
names its tag: in training the column looks more telling than it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from featloom.data.columns import Flag
from featloom.data.readers.conllu import read_conllu
from featloom.data.table import UNKNOWN, NominalTable
from featloom.errors import InputError

EDGE = "_"
# Longer than a letter, so that no letter is taken for it.
NO_LETTER = "none"
KINDS = ("known", "unknown")
_FORM = "form"
_NEIGHBOURS = {"prevtag2": -2, "prevtag1": -1, "nexttag1": 1, "nexttag2": 2}
_LETTERS = {"last3": 3, "last2": 2, "last1": 1}

Text = NominalTable | str | os.PathLike[str]


def part_of_speech(
    train: Text,
    valid: Text,
    test: Text,
    *,
    words: str = "known",
    tag: str = "xpos",
    rare: int = 1,
) -> tuple[NominalTable, NominalTable, NominalTable]:
    """Training, validation and test part of the task.

    Parameters
    ----------
    train, valid, test : CoNLL-U files, or what ``read_conllu`` made of them.
    words : "known" or "unknown".
    tag : the column to predict: "xpos", or "upos" where a treebank has no tags of its own.
    rare : train on words that occur at most so often, where unknown words are to be tagged.

    Returns
    -------
    train, valid, test : tables with the target ``tag`` and sentences as groups.  Vocabularies are
        those of the training part, so a value that it lacks is unknown; a class that it lacks
        follows after its own ones, so that no row is left without its class.

    Examples
    --------
    >>> def text(*words):
    ...     forms, tags = zip(*(word.split("/") for word in words))
    ...     return NominalTable.from_columns(
    ...         {"form": forms, "xpos": tags}, sequence_bounds=np.array([0, len(words)]))
    >>> seen = text("the/DT", "walk/NN", "we/PRP", "walk/VBP")
    >>> new = text("the/DT", "walk/NN", "ended/VBD")
    >>> train, valid, _ = part_of_speech(seen, new, new)
    >>> len(train), len(valid), valid.value("ambiguity", 1)
    (4, 2, 'NN-VBP')
    >>> train, valid, _ = part_of_speech(seen, new, new, words="unknown")
    >>> [train.value("last1", row) for row in range(len(train))]
    ['e', 'e']
    >>> valid.classes[valid.labels[0]]
    'VBD'
    """
    if words not in KINDS:
        raise InputError(f"words is {words!r}; it must be 'known' or 'unknown'")
    if rare < 1:
        raise InputError(f"rare must be 1 or more, not {rare}")
    texts = [_text(given, tag) for given in (train, valid, test)]
    counts = _counts(texts[0])
    parts = []
    for number, text in enumerate(texts):
        seen = np.array([0, *(counts.get(form, 0) for form in _forms(text))])[_form_codes(text)]
        if words == "known":
            rows = np.flatnonzero(seen)
        elif number == 0:
            rows = np.flatnonzero(seen <= rare)
        else:
            rows = np.flatnonzero(seen == 0)
        parts.append((text, rows))
    if not len(parts[0][1]):
        raise InputError(f"no word of the training text is rare enough for rare={rare}")
    classes_of = _ambiguity_classes(texts[0], tag) if words == "known" else None
    made = [_table(text, rows, tag, classes_of) for text, rows in parts]
    classes = tuple(dict.fromkeys(name for table in made for name in table.classes))
    first = replace(made[0], classes=classes)
    return first, first.recode(made[1]), first.recode(made[2])


def _text(given: Text, tag: str) -> NominalTable:
    text = given if isinstance(given, NominalTable) else read_conllu(given, heads=False)
    name = text.source or "the text"
    if text.sequence_bounds is None:
        raise InputError(f"{name} has no sentences, whose words are to be tagged")
    codes = text.codes[:, text.column_index(tag)]
    names = text.vocabularies[text.column_index(tag)]
    missing = codes == UNKNOWN
    if EDGE in names:
        # CoNLL-U writes a tag that nobody gave as "_".
        missing |= codes == names.index(EDGE) + 1
    if missing.any():
        raise InputError(f"word {int(np.argmax(missing)) + 1} of {name} has no tag in {tag!r}")
    if (_form_codes(text) == UNKNOWN).any():
        raise InputError(f"word {int(np.argmin(_form_codes(text))) + 1} of {name} has no form")
    return text


def _forms(text: NominalTable) -> tuple[str, ...]:
    return text.vocabularies[text.column_index(_FORM)]


def _form_codes(text: NominalTable) -> np.ndarray:
    return text.codes[:, text.column_index(_FORM)]


def _counts(text: NominalTable) -> dict[str, int]:
    """How often each form occurs."""
    forms = _forms(text)
    counts = np.bincount(_form_codes(text), minlength=len(forms) + 1)[1:]
    return dict(zip(forms, counts.tolist(), strict=True))


def _ambiguity_classes(text: NominalTable, tag: str) -> dict[str, str]:
    """For each form its tags by name, joined by hyphens."""
    forms, names = _forms(text), text.vocabularies[text.column_index(tag)]
    pairs = np.column_stack([_form_codes(text), text.codes[:, text.column_index(tag)]])
    tags_of: dict[str, list[str]] = {}
    for form, name in np.unique(pairs, axis=0).tolist():
        tags_of.setdefault(forms[form - 1], []).append(names[name - 1])
    return {form: "-".join(sorted(tags)) for form, tags in tags_of.items()}


def _table(
    text: NominalTable, rows: np.ndarray, tag: str, ambiguity: dict[str, str] | None
) -> NominalTable:
    """The given words of a text with all that a row shows of them."""
    bounds = text.bounds
    sentence = np.searchsorted(bounds, rows, side="right") - 1
    tags = np.array([EDGE, *text.vocabularies[text.column_index(tag)]], dtype=object)
    tag_codes = text.codes[:, text.column_index(tag)]
    columns: dict[str, Sequence[str]] = {}
    for name, offset in _NEIGHBOURS.items():
        place = rows + offset
        inside = (place >= bounds[sentence]) & (place < bounds[sentence + 1])
        columns[name] = tags[np.where(inside, tag_codes[np.where(inside, place, 0)], 0)].tolist()

    def of_form(make: Callable[[str], str]) -> list[str]:
        """What is made of a word's form, made once a form."""
        used = np.unique(_form_codes(text)[rows])
        made = np.empty(len(_forms(text)) + 1, dtype=object)
        made[used] = [make(_forms(text)[code - 1]) for code in used.tolist()]
        return made[_form_codes(text)[rows]].tolist()

    for name, from_end in _LETTERS.items():
        columns[name] = of_form(partial(_letter, from_end))
    for flag in ("hyphen", "capital"):
        columns[flag] = of_form(Flag(_FORM, flag).value)
    if ambiguity is not None:
        columns["word"] = of_form(str)
        columns["ambiguity"] = of_form(ambiguity.__getitem__)
    return NominalTable.from_columns(
        columns,
        labels=tags[tag_codes[rows]].tolist(),
        target="tag",
        groups=[f"sentence {number}" for number in (sentence + 1).tolist()],
        source=text.source,
    )


def _letter(from_end: int, form: str) -> str:
    """One letter of a word, counted from its end."""
    return form[-from_end] if from_end <= len(form) else NO_LETTER
