"""Small data sets in the formats that people have them in, drawn from seeds.

Numbers come from ``random.Random.random`` alone, whose values Python promises not to change.  Each
set has rows to learn from and, drawn from another seed, rows to predict that have no class.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

AREAS = ("billing", "login", "search", "export")
PLANS = ("free", "team", "enterprise")
CHANNELS = ("mail", "chat", "phone")
LANGUAGES = ("en", "de", "fr", "pt", "nl")
DAYS = ("mon", "tue", "wed", "thu", "fri")
SHAPES = ("round", "long", "flat")
COLOURS = ("red", "green", "blue", "white")
SIZES = ("small", "medium", "large")
SURFACES = ("smooth", "rough")
FRUITS = ("apple", "pear", "plum", "quince", "medlar")
DETERMINERS = ("the", "a", "this")
ADJECTIVES = ("old", "red", "sad", "tall", "quick")
NOUNS = ("cat", "dog", "fish", "bird", "mouse", "whale", "house", "river")
VERBS = ("saw", "bit", "chased", "liked", "left")
PREPOSITIONS = ("in", "near", "with")
TASKS = tuple(f"shop{number}" for number in range(8))

# Word, tag, label of a chunk, place of the head in the phrase (from 0; None: outside), relation.
Token = tuple[str, str, str, int | None, str]
Clause = list[tuple[str, str, str, int, str]]


class Draw:
    """Numbers drawn from a seed, the same with every version of Python."""

    def __init__(self, seed: int):
        self._random = random.Random(seed).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n − 1."""
        return int(self._random() * n)

    def one(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[self.below(len(values))]

    def happens(self, share: float) -> bool:
        """True in so large a share of the cases."""
        return self._random() < share


def tickets(n: int, seed: int) -> list[list[str]]:
    """Two classes that two of six columns decide together, and neither alone."""
    draw = Draw(seed)
    rows = [["area", "plan", "channel", "language", "day", "agent", "escalated"]]
    for _ in range(n):
        area, plan = draw.one(AREAS), draw.one(PLANS)
        others = [draw.one(CHANNELS), draw.one(LANGUAGES), draw.one(DAYS), f"a{draw.below(12)}"]
        hot = area == ("export" if plan == "enterprise" else "login")
        escalated = draw.happens(0.9 if hot else 0.05)
        rows.append([area, plan, *others, "yes" if escalated else "no"])
    return rows


def fruits(n: int, seed: int) -> list[list[str]]:
    """Five classes; rows of an orchard are alike, and belong together."""
    draw = Draw(seed)
    rows = [["orchard", "shape", "colour", "size", "surface", "crate", "fruit"]]
    for number in range(n):
        if number % 8 == 0:
            orchard, likely = f"o{seed}-{number // 8}", draw.below(len(FRUITS))
        fruit = likely if draw.happens(0.3) else draw.below(len(FRUITS))
        sure = draw.happens(0.8)
        shape = SHAPES[fruit % 3] if sure else draw.one(SHAPES)
        colour = COLOURS[fruit // 2] if draw.happens(0.8) else draw.one(COLOURS)
        surface = SURFACES[fruit % 2] if draw.happens(0.9) else draw.one(SURFACES)
        rows.append(
            [orchard, shape, colour, draw.one(SIZES), surface, f"c{draw.below(6)}", FRUITS[fruit]]
        )
    return rows


def purchases(n: int, seed: int) -> list[list[str]]:
    """Eight tasks of n rows: the same two of eight columns matter in all, each in its own way."""
    draw = Draw(seed)
    rows = [["shop", *(f"c{number}" for number in range(8)), "bought"]]
    for task in range(len(TASKS)):
        ways = [task % 2 == 1, task % 4 > 1]
        for _ in range(n):
            values = [draw.below(4) for _ in range(8)]
            votes = [(values[j] > 1) != ways[j] for j in range(2)]
            bought = all(votes) if draw.happens(0.9) else draw.happens(0.5)
            cells = [f"v{value}" for value in values]
            rows.append([TASKS[task], *cells, "yes" if bought else "no"])
    return rows


def noun_phrase(draw: Draw) -> list[Token]:
    """A determiner, adjectives and one or two nouns, the last of which is the head."""
    words = [(draw.one(DETERMINERS), "DET", "det")] * draw.happens(0.7)
    words += [(draw.one(ADJECTIVES), "ADJ", "amod") for _ in range(draw.below(3))]
    words += [(draw.one(NOUNS), "NOUN", "compound")] * draw.happens(0.35)
    words += [(draw.one(NOUNS), "NOUN", "")]
    last = len(words) - 1
    return [
        (word, tag, "I-NP" if j else "B-NP", None if j == last else last, relation)
        for j, (word, tag, relation) in enumerate(words)
    ]


def clauses(n: int, seed: int) -> list[Clause]:
    """Clauses as (word, tag, chunk label, head from 1, relation), all of them projective trees.

    One tag in eight is missing; two nouns in a row may be one chunk or two; what a preposition
    hangs on depends on it, but not always.
    """
    draw = Draw(seed)
    return [clause(draw) for _ in range(n)]


def clause(draw: Draw) -> Clause:
    """Somebody does something to something somewhere."""
    tokens: Clause = []

    def add(phrase: Sequence[Token], head: int, relation: str) -> int:
        """Put a phrase at the end, below the word with that number; the number of its own head."""
        begin, own = 1 + len(tokens), 0
        for place, (word, tag, chunk, above, said) in enumerate(phrase, begin):
            tag = "X" if draw.happens(0.125) else tag
            if above is None:
                own, above, said = place, head - begin, relation
            tokens.append((word, tag, chunk, begin + above, said))
        return own

    subject = noun_phrase(draw)
    verb = 1 + len(subject)
    add(subject, verb, "nsubj")
    add([(draw.one(VERBS), "VERB", "B-VP", None, "")], 0, "root")
    if draw.happens(0.25):
        add(noun_phrase(draw), verb, "iobj")
    last = add(noun_phrase(draw), verb, "obj") if draw.happens(0.8) else verb
    if draw.happens(0.5):
        preposition, phrase = draw.one(PREPOSITIONS), noun_phrase(draw)
        below = last if draw.happens(0.85 if preposition == "with" else 0.15) else verb
        case = len(tokens) + 1 + len(phrase)
        add([(preposition, "ADP", "B-PP", None, "")], case, "case")
        add(phrase, below, "obl" if below == verb else "nmod")
    add([(".", "PUNCT", "O", None, "")], verb, "punct")
    return tokens


def as_csv(rows: Sequence[Sequence[str]], without: str | None = None) -> str:
    """Lines with commas, of which a column may be left out."""
    kept = [j for j, name in enumerate(rows[0]) if name != without]
    return "".join(",".join(row[j] for j in kept) + "\n" for row in rows)


def as_columns(sentences: Iterable[Clause], labelled: bool) -> str:
    """A token a line, a blank line after each sentence."""
    width = 3 if labelled else 2
    return "".join(
        "".join(" ".join(token[:width]) + "\n" for token in sentence) + "\n"
        for sentence in sentences
    )


def as_conllu(sentences: Iterable[Clause]) -> str:
    """The ten columns of CoNLL-U."""
    return "".join(
        "".join(
            f"{place}\t{word}\t{word}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
            for place, (word, tag, _, head, relation) in enumerate(sentence, 1)
        )
        + "\n"
        for sentence in sentences
    )


FILES: dict[str, Callable[[], str]] = {
    "tickets.csv": lambda: as_csv(tickets(600, 1)),
    "new_tickets.csv": lambda: as_csv(tickets(120, 2), without="escalated"),
    "fruits.csv": lambda: as_csv(fruits(640, 3)),
    "new_fruits.csv": lambda: as_csv(fruits(120, 4), without="fruit"),
    "purchases.csv": lambda: as_csv(purchases(60, 5)),
    "new_purchases.csv": lambda: as_csv(purchases(12, 6), without="bought"),
    "chunks.conll": lambda: as_columns(clauses(120, 7), labelled=True),
    "new_chunks.conll": lambda: as_columns(clauses(30, 8), labelled=False),
    "trees.conllu": lambda: as_conllu(clauses(80, 9)),
    "new_trees.conllu": lambda: as_conllu(clauses(20, 10)),
}


def write_files(folder: Path) -> Path:
    """All of them in a folder."""
    for name, text in FILES.items():
        (folder / name).write_text(text(), encoding="utf-8", newline="\n")
    return folder
