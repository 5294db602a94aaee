"""Dependency arcs: a sentence as a row of words, the right tree above it, the predicted one below.

An arc rises from the head, runs level and comes down on the modifier with a tip.  An arc that
spans others runs above them, so arcs of a tree without crossings never meet; those that leave a
word side by side do so in the order of their length.  What is computed here is geometry alone, in
pixels from the line that the words stand on; the page draws it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featloom.report.tree_types import ParsedSentence
from featloom.shown import visible
from featloom.words import counted, plural, shortened

MOST_WORDS, LONGEST_WORD, MOST_TOLD = 150, 24, 40
GAP, LEVEL, CORNER = 16.0, 19.0, 7.0  # between words, between levels of arcs, of an arc's corner
MARGIN, LEFT = 14.0, 84.0  # around the drawing; room for the names of the two trees
ABOVE, BELOW, BELOW_TAGS = 20.0, 12.0, 27.0  # where arcs end, from the line of the words
_LOOKS = ("same", "missed", "wrong")
_FIRST, _STEP = 7.0, 4.5  # of arcs that leave a word side by side: from its middle, and apart


@dataclass(frozen=True)
class Arc:
    """From a head to its modifier, both counted from 1; ``level`` 1 is nearest to the words."""

    head: int
    modifier: int
    level: int

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.head, self.modifier), max(self.head, self.modifier)


def sentence_drawing(sentence: ParsedSentence, position: int = 0) -> dict[str, Any]:
    """What the page draws of one sentence: words, arcs, marks of the roots, and words for it."""
    n_words = max(len(sentence.words), len(sentence.gold), len(sentence.predicted))
    n = min(n_words, MOST_WORDS)
    words = [_shown(word) for word in sentence.words[:n]] + ["–"] * (n - len(sentence.words))
    tags = [visible(tag) for tag in sentence.tags[:n]] + [""] * (n - len(sentence.tags))
    relations = [visible(name) for name in sentence.relations[:n]]
    relations += [""] * (n - len(relations))
    gold, predicted = _heads(sentence.gold, n), _heads(sentence.predicted, n)
    trees = {"gold": levelled(gold), "predicted": levelled(predicted)}
    labels = [_clipped(relation) for relation in relations]
    centres, halves = _places(words, tags, gold, labels)
    tagged = any(tags)
    tops = {side: _height(arcs, heads) for (side, arcs), heads in
            zip(trees.items(), (gold, predicted), strict=True)}  # fmt: skip
    base = MARGIN + tops["gold"] + ABOVE
    ends = {"gold": base - ABOVE, "predicted": base + (BELOW_TAGS if tagged else BELOW)}
    drawn = []
    for side, heads, other in (("gold", gold, predicted), ("predicted", predicted, gold)):
        up = -1 if side == "gold" else 1
        feet = _feet(trees[side], centres, halves)
        for arc in trees[side]:
            line = _path(*feet[arc], ends[side], up, arc.level)
            look = _look(side, heads, other, arc.modifier)
            relation = labels[arc.modifier - 1] if side == "gold" else ""
            drawn.append({**line, "look": look, "label": relation})
        for modifier in (j for j, head in enumerate(heads, start=1) if head == 0):
            look = _look(side, heads, other, modifier)
            drawn.append(_root(centres[modifier - 1], ends[side], up, tops[side], look))
    names = [("gold", "gold", ends["gold"] - 6)] if any(h is not None for h in gold) else []
    if any(head is not None for head in predicted):
        names.append(("predicted", "predicted", ends["predicted"] + 14))
    compared, differences = _differences(words, gold, predicted)
    told = _told(compared, differences, n_words)
    return {
        "id": f"arcs-{position}",
        "width": round(centres[-1] + halves[-1] + MARGIN, 1),
        "height": round(ends["predicted"] + tops["predicted"] + MARGIN, 1),
        "base": round(base, 1),
        "names": [{"side": s, "text": t, "y": round(y, 1)} for s, t, y in names],
        "words": [
            {"x": round(x, 1), "text": _clipped(word), "whole": word, "tag": _clipped(tag)}
            for x, word, tag in zip(centres, words, tags, strict=True)
        ],
        # Wrong arcs are drawn last, on top of the others.
        "arcs": sorted(drawn, key=lambda arc: _LOOKS.index(arc["look"])),
        "title": told,
        "differences": differences[:MOST_TOLD],
        "left_out": max(len(differences) - MOST_TOLD, 0),
        "text": " ".join(words),
    }


def levelled(heads: Sequence[int | None]) -> list[Arc]:
    """The arcs of a tree, each above all that it spans or crosses.

    >>> [(arc.head, arc.modifier, arc.level) for arc in levelled([2, 0, 4, 2])]
    [(2, 1, 1), (4, 3, 1), (2, 4, 2)]
    """
    pairs = [(head, j) for j, head in enumerate(heads, start=1)
             if head is not None and 0 < head <= len(heads) and head != j]  # fmt: skip
    pairs.sort(key=lambda pair: (abs(pair[0] - pair[1]), min(pair)))
    arcs: list[Arc] = []
    for head, modifier in pairs:
        left, right = min(head, modifier), max(head, modifier)
        below = [arc.level for arc in arcs if max(left, arc.ends[0]) < min(right, arc.ends[1])]
        arcs.append(Arc(head, modifier, 1 + max(below, default=0)))
    return arcs


def text_width(text: str, size: float = 15.0) -> float:
    """About how wide a word is printed: wide letters of Asian scripts count double, marks nothing.

    >>> text_width("mil") < text_width("MIL") < text_width("漢字漢")
    True
    """
    width = 0.0
    for letter in text:
        if unicodedata.combining(letter):
            continue
        if unicodedata.east_asian_width(letter) in "WF":
            width += 1.05
        elif letter in "iljtfrI.,;:'|!()[]/ ":
            width += 0.38
        elif letter in "mwMW@—%<>=+~#&…":
            width += 0.9
        else:
            width += 0.74 if letter.isupper() else 0.61
    return width * size


def _shown(word: str) -> str:
    return visible(word) or "(empty)"


def _clipped(text: str) -> str:
    return shortened(text, LONGEST_WORD)


def _heads(heads: Sequence[int | None], n: int) -> list[int | None]:
    """As many heads as words; what is no head of a sentence is none."""
    kept = [None if head is None or head < 0 else head for head in heads[:n]]
    return kept + [None] * (n - len(kept))


def _places(
    words: Sequence[str], tags: Sequence[str], gold: Sequence[int | None], labels: Sequence[str]
) -> tuple[list[float], list[float]]:
    """The middle of each word and half its width; neighbours leave room for their arc's label."""
    halves = [
        max(text_width(_clipped(word)), text_width(_clipped(tag), 11.0), 18.0) / 2
        for word, tag in zip(words, tags, strict=True)
    ]
    centres: list[float] = []
    for j, half in enumerate(halves):
        if not j:
            centres.append(LEFT + half)
            continue
        distance = halves[j - 1] + GAP + half
        for modifier, head in ((j, j + 1), (j + 1, j)):
            if gold[modifier - 1] == head:
                distance = max(distance, text_width(labels[modifier - 1], 11.0) + 5 * CORNER)
        centres.append(centres[-1] + distance)
    return centres, halves


def _feet(
    arcs: Sequence[Arc], centres: Sequence[float], halves: Sequence[float]
) -> dict[Arc, tuple[float, float]]:
    """Where each arc leaves its head and where it reaches its modifier.

    It comes down on the middle of the modifier.  Of those that leave a word on one side, the
    shortest leaves the farthest out, so that it passes below the longer ones.
    """
    feet = {}
    for side in (-1, 1):
        leaving: dict[int, list[Arc]] = {}
        for arc in arcs:
            if (arc.modifier - arc.head) * side > 0:
                leaving.setdefault(arc.head, []).append(arc)
        for head, same in leaving.items():
            same.sort(key=lambda arc: -abs(arc.modifier - arc.head))
            step = min(_STEP, (halves[head - 1] + GAP / 2 - _FIRST) / len(same))
            for place, arc in enumerate(same, start=1):
                start = centres[head - 1] + side * (_FIRST + step * (place - 1))
                feet[arc] = (start, centres[arc.modifier - 1])
    return feet


def _path(start: float, end: float, foot: float, up: int, level: int) -> dict[str, Any]:
    """An arc with round corners as the path of an SVG, its tip, and the place of its label."""
    top = foot + up * (level * LEVEL)
    turn = 1 if end > start else -1
    corner = min(CORNER, abs(end - start) / 2)
    line = (
        f"M{start:.1f},{foot:.1f}V{top - up * corner:.1f}"
        f"Q{start:.1f},{top:.1f},{start + turn * corner:.1f},{top:.1f}"
        f"H{end - turn * corner:.1f}Q{end:.1f},{top:.1f},{end:.1f},{top - up * corner:.1f}"
        f"V{foot + up * 4:.1f}"
    )
    middle = (start + end) / 2
    return {"d": line, "tip": _tip(end, foot, up), "x": round(middle, 1), "y": round(top + 3.5, 1)}


def _root(x: float, foot: float, up: int, top: float, look: str) -> dict[str, Any]:
    """The mark of a root: a line from the edge of the drawing, with the word at its end."""
    edge = foot + up * (top - 8)
    line = f"M{x:.1f},{edge:.1f}V{foot + up * 4:.1f}"
    y = edge + (-4 if up < 0 else 12)
    return {"d": line, "tip": _tip(x, foot, up), "x": round(x, 1), "y": round(y, 1)} | {
        "look": look,
        "label": "root",
    }


def _tip(x: float, foot: float, up: int) -> str:
    return (
        f"M{x - 3.5:.1f},{foot + up * 7:.1f}L{x:.1f},{foot:.1f}L{x + 3.5:.1f},{foot + up * 7:.1f}Z"
    )


def _height(arcs: Sequence[Arc], heads: Sequence[int | None]) -> float:
    """Room for the arcs; a root's line ends above them all."""
    if all(head is None for head in heads):
        return 0.0
    return (max((arc.level for arc in arcs), default=0) + 1) * LEVEL + 8


def _look(
    side: str, heads: Sequence[int | None], other: Sequence[int | None], modifier: int
) -> str:
    """ "same", or on either side of a difference "missed" (gold) and "wrong" (predicted)."""
    if other[modifier - 1] is None or heads[modifier - 1] == other[modifier - 1]:
        return "same"
    return "missed" if side == "gold" else "wrong"


def _differences(
    words: Sequence[str], gold: Sequence[int | None], predicted: Sequence[int | None]
) -> tuple[int, list[dict[str, str]]]:
    """How many heads can be compared, and the words whose heads differ."""

    def named(head: int) -> str:
        if head == 0:
            return "root"
        return _clipped(words[head - 1]) if head <= len(words) else f"word {head}"

    pairs = [(j, a, b) for j, (a, b) in enumerate(zip(gold, predicted, strict=True))
             if a is not None and b is not None]  # fmt: skip
    differ = [
        {"word": _clipped(words[j]), "gold": named(a), "predicted": named(b)}
        for j, a, b in pairs
        if a != b
    ]
    return len(pairs), differ


def _told(compared: int, differences: Sequence[Any], n_words: int) -> str:
    cut = f" The first {MOST_WORDS} of {n_words:,} words." if n_words > MOST_WORDS else ""
    if not compared:
        return f"A sentence of {counted(n_words, 'word')}.{cut}".strip()
    heads = counted(compared, "head")
    if not differences:
        return f"None of {heads} differs.{cut}"
    return f"{len(differences):,} of {heads} {plural(len(differences), 'differs', 'differ')}.{cut}"
