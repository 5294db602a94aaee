"""What was grown and what it is worth, as a result shows it.

Templates stand by their gain, the first tree is cut to what a reader can take in, and systems that
answered the same held-out questions are compared by a paired bootstrap over rows, documents or
sentences.  Everything here is plain data: numbers, strings, lists and dicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from featloom.data.table import UNKNOWN, NominalTable
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import bootstrap_interval, paired_bootstrap
from featloom.learners.tree import MultiwayTree
from featloom.learners.tree_paths import GrownTemplate
from featloom.methods.tree_templates.parts import GrowthParts
from featloom.words import counted, interval_of_points, p_words, points

SHOWN_DEPTH, SHOWN_CHILDREN = 5, 12
MOST_TEMPLATES = 1000
_SHORTEST, _LONGEST = 5, 25


def template_rows(
    grown: Sequence[GrownTemplate], drops: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    """The templates by their gain; ``drops`` says how many points are lost without one of them."""
    drops = drops or {}
    return [
        {
            "name": str(one.template),
            "length": len(one.template),
            "gain": one.gain,
            "coverage": one.coverage,
            "trees": one.trees,
            "backoff": one.backoff,
            "drop": drops.get(str(one.template)),
        }
        for one in grown[:MOST_TEMPLATES]
    ]


def tree_part(tree: MultiwayTree) -> dict[str, Any]:
    """A tree to depth 5, at every node the 12 children with the most rows.

    >>> from featloom.learners.tree import grow_tree
    >>> table = NominalTable.from_columns({"letter": list("cckk")}, labels=list("SSKK"))
    >>> part = tree_part(grow_tree(table))
    >>> part["n_nodes"], part["cut"], [node["value"] for node in part["nodes"]]
    (3, 0, [None, 'c', 'k'])
    """
    nodes: list[dict[str, Any]] = []
    waiting = [(0, -1, 0)]
    while waiting:
        node, parent, depth = waiting.pop(0)
        number = len(nodes)
        nodes.append(_node(tree, node) | {"id": number, "parent": parent})
        if tree.column[node] < 0 or depth == SHOWN_DEPTH:
            continue
        children = np.arange(tree.n_children[node]) + tree.first_child[node]
        largest = np.argsort(-tree.rows[children], kind="stable")[:SHOWN_CHILDREN]
        waiting += [(child, number, depth + 1) for child in np.sort(children[largest]).tolist()]
    return {
        "n_nodes": len(tree),
        "n_internal": tree.n_internal,
        "depth": int(tree.depth.max(initial=0)),
        "nodes": nodes,
        "cut": len(tree) - len(nodes),
    }


def growth_part(
    kind: str,
    first: MultiwayTree,
    n_trees: int,
    settings: Mapping[str, Any],
    seconds: Mapping[str, float],
    templates: list[dict[str, Any]],
    systems: list[dict[str, Any]],
) -> dict[str, Any]:
    """The part of a result on trees and templates."""
    return {
        "kind": kind,
        "rows": int(first.rows[0]),
        "positives": 1 - float(first.errors[0] / max(first.rows[0], 1)),
        "settings": {k: v for k, v in settings.items() if v is not None},
        "n_trees": n_trees,
        "seconds": dict(seconds),
        "templates": templates,
        "tree": tree_part(first),
        "systems": systems,
    }


def compare_counts(
    counts: Mapping[str, np.ndarray],
    of_counts: Callable[[np.ndarray], np.ndarray],
    metric: str,
    *,
    seed: int = 0,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Figures with intervals, and the paired bootstrap of each system against the first.

    Parameters
    ----------
    counts : for each system what its metric is counted from, a row a document, sentence or row.
    of_counts : the metric, from summed counts.

    Examples
    --------
    >>> from featloom.evaluation.metrics import accuracy_of_counts
    >>> right = np.array([[0, 1], [1, 1]] * 20)
    >>> models, (test,) = compare_counts({"half": right, "all": right * 0 + 1},
    ...                                  accuracy_of_counts, "accuracy")
    >>> [model["value"] for model in models], test["difference"], test["significant"]
    ([0.5, 1.0], 0.5, True)
    """
    models = []
    for name, of_system in counts.items():
        found = bootstrap_interval(of_system, of_counts, seed=seed)
        interval = [found.low, found.high]
        models.append({"name": name, "metric": metric, "value": found.value, "interval": interval})
    rival, *others = counts
    comparisons = []
    for name in others:
        test = paired_bootstrap(counts[name], counts[rival], of_counts, seed=seed)
        comparisons.append(
            {
                "a": name,
                "b": rival,
                "difference": test.difference,
                "interval": [test.low, test.high],
                "p": test.p,
                "significant": test.p < LEVEL,
            }
        )
    return models, comparisons


def verdict(
    test: Mapping[str, Any], *, n_templates: int, learner: str, rival: str, metric: str, by: str
) -> str:
    """What a reader may conclude, in plain words.

    >>> test = {"difference": 0.021, "interval": [0.012, 0.03], "p": 0.0001, "significant": True}
    >>> print(verdict(test, n_templates=12, learner="a logistic regression",
    ...               rival="the columns alone", metric="accuracy", by="McNemar"))
    12 templates from trees lift a logistic regression 2.10 points of accuracy above the columns alone (95 % +1.20 to +3.00; McNemar, p < .001).
    """  # noqa: E501
    difference = test["difference"]
    how = f"({interval_of_points(test['interval'], 2)}; {by}, {p_words(test['p'])})"
    one = n_templates == 1
    said = f"{counted(n_templates, 'template')} from trees"
    if not test["significant"]:
        return (
            f"{said} {'does' if one else 'do'} not help {learner} beyond {rival}: the difference "
            f"of {points(difference, 2)} of {metric} is within chance {how}."
        )
    verb, side = ("lift", "above") if difference > 0 else ("leave", "below")
    apart = f"{points(abs(difference), 2, signed=False)} of {metric}"
    return f"{said} {verb}{'s' if one else ''} {learner} {apart} {side} {rival} {how}."


def system_rows(models: Sequence[Mapping[str, Any]], data: str) -> list[dict[str, Any]]:
    """The systems of a comparison, as the part on tree templates lists them."""
    names = ("name", "metric", "value", "interval", "templates", "features", "seconds")
    return [
        {name: model.get(name) for name in names}
        | {"data": data, "seeds": 1, "sd": None, "published": None}
        for model in models
    ]


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


def arc_sentences(
    table: NominalTable, heads: Sequence[Sequence[int]], *, most: int = 6
) -> list[dict[str, Any]]:
    """Sentences of 5 to 25 tokens for drawing: half of them parsed as they should be, half not."""
    bounds = table.bounds
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for s, predicted in enumerate(heads):
        if _SHORTEST <= len(predicted) <= _LONGEST:
            kinds[table.tree_heads[bounds[s] : bounds[s + 1]].tolist() == list(predicted)].append(s)
    n_right = min(len(kinds[True]), max(most // 2, most - len(kinds[False])))
    chosen = kinds[True][:n_right] + kinds[False][: most - n_right]
    word = "form" if "form" in table.columns else table.columns[0]
    tag = next((name for name in ("upos", "xpos") if name in table.columns), None)
    return [
        {
            "words": _values(table, word, bounds[s], bounds[s + 1]),
            "tags": [] if tag is None else _values(table, tag, bounds[s], bounds[s + 1]),
            "gold": table.tree_heads[bounds[s] : bounds[s + 1]].tolist(),
            "predicted": list(heads[s]),
        }
        for s in chosen
    ]


@contextmanager
def stage(seconds: dict[str, float], name: str):
    """Write down how long the block takes."""
    begun = perf_counter()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + perf_counter() - begun


def _node(tree: MultiwayTree, node: int) -> dict[str, Any]:
    column, code = int(tree.column[node]), int(tree.value[node])
    value = None
    if node > 0:
        vocabulary = tree.vocabularies[tree.column[tree.parent[node]]]
        value = "(unknown)" if code == UNKNOWN else vocabulary[code - 1]
    return {
        "column": None if column < 0 else tree.columns[column],
        "value": value,
        "rows": int(tree.rows[node]),
        "class": tree.classes[tree.majority[node]],
        "errors": int(tree.errors[node]),
        "gain": float(tree.gain[node]),
        "branches": int(tree.n_children[node]),
    }


def _values(table: NominalTable, column: str, begin: int, end: int) -> list[str]:
    return [table.value(column, row) or "_" for row in range(begin, end)]
