"""What was grown and what it is worth, as parts of a result.

One function for each thing that is shown: how the trees grew and the first of them, cut to what a
reader can take in; the templates by their gain; sentences with their gold and predicted heads; and
what a reader may conclude.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from featloom.data.table import UNKNOWN, NominalTable
from featloom.learners.tree import MultiwayTree
from featloom.learners.tree_paths import GrownTemplate
from featloom.methods.tree_templates.parts import GrowthParts
from featloom.results import (
    Arcs,
    Bars,
    Block,
    Column,
    Comparison,
    Facts,
    Section,
    Sentence,
    Tree,
    TreeNode,
    grid,
)
from featloom.words import counted, interval_of_points, p_words, points

SHOWN_DEPTH, SHOWN_CHILDREN = 5, 12
MOST_TEMPLATES, MOST_BARS, BRIEF = 1000, 20, 15
ROWS = {"table": "rows", "sequence": "tokens", "dependencies": "candidate edges"}
_SHORTEST, _LONGEST = 5, 25


def trees_section(
    first: MultiwayTree,
    n_trees: int,
    templates: Sequence[GrownTemplate],
    kind: str,
    *,
    seconds: Mapping[str, float] | None = None,
    more: Sequence[tuple[str, Any, str]] = (),
) -> Section:
    """What the trees grew on and how much they gave, what took how long, and the first tree.

    Parameters
    ----------
    kind : "table", "sequence" or "dependencies".
    more : further facts, each with its kind.
    """
    rows = int(first.rows[0])
    facts = [
        (ROWS[kind], rows, "count"),
        ("of the commonest class", 1 - float(first.errors[0]) / max(rows, 1), "share"),
        ("trees", n_trees, "count"),
        ("questions of the first", first.n_internal, "count"),
        ("templates", len(templates), "count"),
        ("of them back-off copies", sum(one.backoff for one in templates) or None, "count"),
        ("columns in the longest", max((len(one.template) for one in templates), default=None),
         "count"),
        *((name, spent, "seconds") for name, spent in (seconds or {}).items()),
        *more,
    ]  # fmt: skip
    return Section("Trees", "The trees", blocks=[Facts(facts), tree_of(first, ROWS[kind])], brief=1)


def tree_of(tree: MultiwayTree, unit: str = "rows") -> Tree:
    """A tree to depth 5, at every node the 12 children with the most rows.

    >>> from featloom.learners.tree import grow_tree
    >>> table = NominalTable.from_columns({"letter": list("cckk")}, labels=list("SSKK"))
    >>> shown = tree_of(grow_tree(table))
    >>> shown.n_nodes, shown.cut, [node.value for node in shown.nodes]
    (3, 0, [None, 'c', 'k'])
    """
    nodes: list[TreeNode] = []
    waiting = [(0, -1, 0)]
    while waiting:
        node, parent, depth = waiting.pop(0)
        number = len(nodes)
        nodes.append(_node(tree, node, number, parent))
        if tree.column[node] < 0 or depth == SHOWN_DEPTH:
            continue
        children = np.arange(tree.n_children[node]) + tree.first_child[node]
        largest = np.argsort(-tree.rows[children], kind="stable")[:SHOWN_CHILDREN]
        waiting += [(child, number, depth + 1) for child in np.sort(children[largest]).tolist()]
    return Tree(
        "The first tree", unit, len(tree), tree.n_internal, int(tree.depth.max(initial=0)), nodes,
        len(tree) - len(nodes),
    )  # fmt: skip


def template_rows(
    grown: Sequence[GrownTemplate], drops: Mapping[str, float] | None = None
) -> list[list[Any]]:
    """A line for each template, those of highest gain first.

    ``drops`` is the share of right predictions that is lost without one of them.
    """
    drops = drops or {}
    return [
        [
            str(one.template), one.gain, one.coverage, drops.get(str(one.template)), one.trees,
            len(one.template), one.backoff, rank,
        ]
        for rank, one in enumerate(grown[:MOST_TEMPLATES], start=1)
    ]  # fmt: skip


def templates_section(rows: Sequence[Sequence[Any]], metric: str = "") -> Section:
    """The templates by what they bring: the best as bars, all as a table.

    Parameters
    ----------
    rows : those of :func:`template_rows`.
    metric : what is lost without one of them.

    >>> section = templates_section([["a & b", 2.0, 1.0, 0.01, 1, 2, False, 1]], "accuracy")
    >>> [block.title for block in section.blocks]
    ['The gain of each template, bits', '']
    """
    columns: dict[str, str | Column] = {
        "template": "feature",
        "gain, bits": Column("gain, bits", "number", "information gain, summed over rows"),
        "coverage": Column("coverage", "share", "share of the rows that reach it"),
        "drop": Column("points lost without it", "points", f"of {metric} on data held out"),
        "in trees": "count",
        "length": "count",
        "back-off": Column("back-off", "flag", "a path without its root"),
        "rank": "count",
    }
    best = rows[:MOST_BARS]
    bars = Bars(
        f"The {len(best)} templates with the most gain, bits"
        if len(best) < len(rows) else "The gain of each template, bits",
        "gain, bits", "number", [row[0] for row in best], [row[1] for row in best],
        [place for place, row in enumerate(best) if row[6]], "path of a tree", "back-off copy",
    )  # fmt: skip
    note = "A template is the columns that a tree asks one after the other."
    if any(row[6] for row in rows):
        note += " A back-off copy is such a path without its root."
    if any(row[3] is not None for row in rows):
        note += (
            f" Points lost without it: {metric} on held-out data when the weights of a template "
            "are taken away and nothing is trained again; below 0, the model is better without."
        )
    blocks: list[Block] = [bars, grid("", columns, rows)]
    return Section("Templates", "The templates, by what they bring", note, blocks, brief=BRIEF)


def verdict(
    test: Comparison, *, n_templates: int, learner: str, rival: str, metric: str, by: str
) -> str:
    """What a reader may conclude, in plain words.

    >>> test = Comparison("grown", "plain", 0.021, (0.012, 0.03), 0.0001, significant=True)
    >>> print(verdict(test, n_templates=12, learner="a logistic regression",
    ...               rival="the columns alone", metric="accuracy", by="McNemar"))
    12 templates from trees lift a logistic regression 2.10 points of accuracy above the columns alone (95 % +1.20 to +3.00; McNemar, p < .001).
    """  # noqa: E501
    difference = test.difference or 0.0
    low, high = test.interval or (0.0, 0.0)
    how = f"({interval_of_points([low or 0.0, high or 0.0], 2)}; {by}, {p_words(test.p or 0.0)})"
    one = n_templates == 1
    said = f"{counted(n_templates, 'template')} from trees"
    if not test.significant:
        return (
            f"{said} {'does' if one else 'do'} not help {learner} beyond {rival}: the difference "
            f"of {points(difference, 2)} of {metric} is within chance {how}."
        )
    verb, side = ("lift", "above") if difference > 0 else ("leave", "below")
    apart = f"{points(abs(difference), 2, signed=False)} of {metric}"
    return f"{said} {verb}{'s' if one else ''} {learner} {apart} {side} {rival} {how}."


def data_part(parts: GrowthParts) -> dict[str, Any]:
    """What the data are: rows, classes, columns."""
    train, blocks = parts.train, parts.blocks
    tables = [table for table in (train, parts.valid, parts.test) if table is not None]
    sizes: dict[str, int] = {}
    for table in tables:
        if table.labels is None:
            continue
        counts = np.bincount(table.labels[table.labels >= 0], minlength=len(table.classes))
        for name, count in zip(table.classes, counts.tolist(), strict=True):
            if count:
                sizes[name] = sizes.get(name, 0) + count
    n_values = [len(np.unique(column)) for column in train.codes.T]
    if blocks is not None and blocks.class_totals is not None:
        # The tables are samples; what all rows hold is known from the first pass.
        sizes = dict(zip(blocks.classes, blocks.class_totals.tolist(), strict=True))
        n_values = [len(vocabulary) for vocabulary in train.vocabularies]
    return {
        "source": train.source,
        "rows": sum(map(len, tables)) if blocks is None else len(blocks),
        "features": len(train.columns),
        "target": "head" if parts.kind == "dependencies" else train.target,
        "classes": dict(sorted(sizes.items(), key=lambda one: -one[1])),
        "groups": train.n_groups,
        "families": [
            {"name": name, "features": n, "single_valued": True}
            for name, n in zip(train.columns, n_values, strict=True)
        ],
    }


def sentences_section(
    table: NominalTable, heads: Sequence[Sequence[int]], *, most: int = 6
) -> Section:
    """Sentences of 5 to 25 tokens: half of them parsed as they should be, half not."""
    bounds = table.bounds
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for s, predicted in enumerate(heads):
        if _SHORTEST <= len(predicted) <= _LONGEST:
            kinds[table.tree_heads[bounds[s] : bounds[s + 1]].tolist() == list(predicted)].append(s)
    n_right = min(len(kinds[True]), max(most // 2, most - len(kinds[False])))
    chosen = kinds[True][:n_right] + kinds[False][: most - n_right]
    word = "form" if "form" in table.columns else table.columns[0]
    tag = next((name for name in ("upos", "xpos") if name in table.columns), None)
    sentences = [
        Sentence(
            _values(table, word, bounds[s], bounds[s + 1]),
            [] if tag is None else _values(table, tag, bounds[s], bounds[s + 1]),
            table.tree_heads[bounds[s] : bounds[s + 1]].tolist(),
            list(heads[s]),
        )
        for s in chosen
    ]
    title = "Sentences, gold and predicted"
    return Section("Sentences", title, blocks=[Arcs("", sentences)])


@contextmanager
def stage(seconds: dict[str, float], name: str):
    """Write down how long the block takes."""
    begun = perf_counter()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + perf_counter() - begun


def _node(tree: MultiwayTree, node: int, number: int, parent: int) -> TreeNode:
    column, code = int(tree.column[node]), int(tree.value[node])
    value = None
    if node > 0:
        vocabulary = tree.vocabularies[tree.column[tree.parent[node]]]
        value = "(unknown)" if code == UNKNOWN else vocabulary[code - 1]
    return TreeNode(
        number, parent, None if column < 0 else tree.columns[column], value, int(tree.rows[node]),
        tree.classes[tree.majority[node]], int(tree.errors[node]), float(tree.gain[node]),
        int(tree.n_children[node]),
    )  # fmt: skip


def _values(table: NominalTable, column: str, begin: int, end: int) -> list[str]:
    return [table.value(column, row) or "_" for row in range(begin, end)]
