"""What is written as HTML and SVG: trees that open and close, sentences with arcs, matrices.

A **tree** is a list of lines within lines: a line gives the value that leads to it, the column that
is asked next or the answer, how many rows come there, the commonest class and its share, and the
gain of the question.

An **arc** rises from the head, runs level and comes down on the modifier with a tip.  An arc that
spans others runs above them, so arcs of a tree without crossings never meet; those that leave a
word side by side do so in the order of their length.  What is computed here is geometry alone, in
pixels from the line that the words stand on; the page draws it.

A **matrix** is a table whose cells are coloured by how good or bad they are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from featloom.report.grids import shown_value
from featloom.results import Matrix, Sentence, Tree, TreeNode
from featloom.shown import visible
from featloom.words import MISSING, counted, listed, number, plural, shortened

# A result may hold any tree; the page stays one that can be read and printed.
MOST_BRANCHES, MOST_LEVELS, MOST_NODES = 12, 8, 2_000
OPEN_LEVELS = 2
LONGEST_NAME = 60
MOST_SENTENCES = 12
MOST_WORDS, LONGEST_WORD, MOST_TOLD = 150, 24, 40
GAP, LEVEL, CORNER = 16.0, 19.0, 7.0  # between words, between levels of arcs, of an arc's corner
MARGIN, LEFT = 14.0, 84.0  # around the drawing; room for the names of the two trees
ABOVE, BELOW, BELOW_TAGS = 20.0, 12.0, 27.0  # where arcs end, from the line of the words
_LOOKS = ("same", "missed", "wrong")
_FIRST, _STEP = 7.0, 4.5  # of arcs that leave a word side by side: from its middle, and apart


# ── matrices ──


def shown_matrix(matrix: Matrix) -> dict[str, Any] | None:
    """Names and cells; ``shade`` is how strongly a cell is coloured, in per cent of its tone.

    >>> counts = Matrix(rows=["no", "yes"], columns=["no", "yes"], kind="count",
    ...                 values=[[90, 10], [5, 15]], tones=[[0.9, -0.1], [-0.25, 0.75]])
    >>> shown = shown_matrix(counts)
    >>> [[cell["text"] for cell in row["cells"]] for row in shown["rows"]]
    [['90', '10'], ['5', '15']]
    >>> shown["rows"][1]["cells"][0]["tone"], shown["rows"][1]["cells"][0]["shade"]
    ('worse', 25)
    """
    if not matrix.rows or not matrix.values:
        return None
    rows = []
    for i, (name, values) in enumerate(zip(matrix.rows, matrix.values, strict=False)):
        cells = []
        for j, value in enumerate(values[: len(matrix.columns)]):
            tone = _at(matrix.tones, i, j) or 0.0
            cells.append(
                {
                    "text": "" if value is None else shown_value(value, matrix.kind),
                    "under": visible(_at(matrix.under, i, j) or ""),
                    "tone": "better" if tone > 0 else "worse" if tone < 0 else "",
                    "shade": round(100 * min(abs(tone), 1.0)),
                    "chosen": matrix.chosen == (i, j),
                    "bold": (i, j) in matrix.bold,
                    "empty": value is None,
                }
            )
        rows.append({"name": visible(name), "cells": cells})
    return {
        "title": visible(matrix.title),
        "note": visible(matrix.note),
        "corner": visible(matrix.corner),
        "columns": [visible(name) for name in matrix.columns],
        "rows": rows,
    }


def _at(table: Sequence[Sequence[Any]], i: int, j: int) -> Any:
    return table[i][j] if i < len(table) and j < len(table[i]) else None


# ── trees ──


def shown_tree(tree: Tree) -> dict[str, Any] | None:
    """The root and, nested in it, what its branches lead to; None without nodes.

    The branches of a node stand by their rows, the largest first.  Nodes that no path from the
    root leads to are left out.
    """
    below: dict[int, list[TreeNode]] = {}
    for node in tree.nodes:
        below.setdefault(node.parent, []).append(node)
    roots = below.get(-1) or tree.nodes[:1]
    if not roots:
        return None
    met = {roots[0].id}
    return {
        "title": visible(tree.title),
        "note": _note_of_tree(tree),
        "unit": visible(tree.unit),
        "root": _line(roots[0], below, met, 0),
    }


def _line(
    node: TreeNode, below: dict[int, list[TreeNode]], met: set[int], level: int
) -> dict[str, Any]:
    """A node as the page prints it.  ``met`` keeps a tree that bites its tail from going round."""
    known = [child for child in below.get(node.id, []) if child.id != node.id]
    known.sort(key=lambda child: -(child.rows or 0))
    children = []
    if level < MOST_LEVELS:
        for child in known[:MOST_BRANCHES]:
            if child.id not in met and len(met) < MOST_NODES:
                met.add(child.id)
                children.append(child)
    share = None
    if node.rows and node.errors is not None:
        share = min(max(1 - node.errors / node.rows, 0.0), 1.0)
    return {
        "value": _said(node.value) or {"text": MISSING if level else "all rows", "whole": ""},
        "asked": _said(node.column),
        "answer": _said(node.answer),
        "rows": None if node.rows is None else number(node.rows),
        "share": None if share is None else f"{share:.1%}",
        "bar": None if share is None else round(100 * share, 2),
        "gain": number(node.gain, 4) if node.column is not None and node.gain is not None else None,
        "open": level < OPEN_LEVELS,
        "children": [_line(child, below, met, level + 1) for child in children],
        "more": _more(node, children, len(known)),
    }


def _more(node: TreeNode, shown: Sequence[TreeNode], known: int) -> str:
    """Words for the branches that are not shown, and the rows that take them."""
    if node.column is None and not known:
        return ""
    missing = max(node.branches or 0, known) - len(shown)
    rows = (node.rows or 0) - sum(child.rows or 0 for child in shown)
    if missing <= 0 and (node.branches is not None or (shown and rows <= 0)):
        return ""
    others = "more " if shown else ""
    if missing <= 0:
        said = f"{others}branches"
    else:
        said = counted(missing, f"{others}branch", f"{others}branches")
    with_rows = f" with {counted(rows, 'row')}" if rows > 0 else ""
    return f"{said}{with_rows}, not shown"


def _said(text: str | None) -> dict[str, str] | None:
    """A name short enough that what follows it is seen; ``whole`` has all of it if it was cut."""
    if text is None:
        return None
    shown = visible(text) or "(empty)"
    cut = len(shown) > LONGEST_NAME
    return {
        "text": shortened(shown, LONGEST_NAME),
        "whole": shown if cut else "",
    }


def _note_of_tree(tree: Tree) -> str:
    counts = [(tree.n_nodes, "node"), (tree.n_internal, "question")]
    said = [counted(n, word) for n, word in counts if n is not None]
    deep = f", at most {number(tree.depth)} questions on a path" if tree.depth is not None else ""
    whole = f"The whole tree has {listed(said)}{deep}. " if said else ""
    cut = f"{number(tree.cut)} of its nodes are not shown. " if (tree.cut or 0) > 0 else ""
    return (
        f"{whole}{cut}A line gives the value that leads to it, the column that is asked next or "
        f"the answer, how many {visible(tree.unit)} come there, the commonest class and its share, "
        "and the information gain of the question in bits a row."
    )


# ── sentences ──


@dataclass(frozen=True)
class Arc:
    """From a head to its modifier, both counted from 1; ``level`` 1 is nearest to the words."""

    head: int
    modifier: int
    level: int

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.head, self.modifier), max(self.head, self.modifier)


def sentence_drawing(sentence: Sentence, position: int = 0) -> dict[str, Any]:
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
