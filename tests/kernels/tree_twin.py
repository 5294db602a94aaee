"""A plain twin of the multiway tree: nested nodes, entropies from shares, pruning by recursion."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import log, log2
from statistics import NormalDist


@dataclass
class PlainNode:
    value: int
    rows: int
    majority: int
    errors: int
    classes_met: int
    column: int = -1
    gain: float = 0.0
    children: list[PlainNode] = field(default_factory=list)

    def cut(self):
        self.column, self.gain, self.children = -1, 0.0, []


def entropy(values):
    total = len(values)
    return -sum(n / total * log2(n / total) for n in Counter(values).values())


def plain_tree(rows, labels, columns, criterion, min_rows, max_depth):
    """Grow a tree on lists of codes; nodes are nested."""
    n_values = {j: len({row[j] for row in rows}) for j in columns}
    many = {j for j in columns if n_values[j] >= 0.3 * len(rows) - 1e-6}
    left_out = set() if len(many) == len(columns) else many

    def node_of(value, taken, depth):
        classes = [labels[i] for i in taken]
        of_class = Counter(classes)
        majority = min(of_class, key=lambda label: (-of_class[label], label))
        node = PlainNode(
            value, len(taken), majority, len(taken) - of_class[majority], len(of_class)
        )
        if len(of_class) == 1 or len(taken) < 2 * min_rows or depth == max_depth:
            return node
        best = choose(taken, classes)
        if best is None:
            return node
        node.column, node.gain = best
        branches = sorted({rows[i][node.column] for i in taken})
        node.children = [
            node_of(v, [i for i in taken if rows[i][node.column] == v], depth + 1) for v in branches
        ]
        return node

    def choose(taken, classes):
        gains, split_entropies = {}, {}
        for j in columns:
            values = [rows[i][j] for i in taken]
            sizes = Counter(values)
            if sum(n >= min_rows for n in sizes.values()) < 2:
                continue
            rest = sum(
                n
                / len(taken)
                * entropy([c for v, c in zip(values, classes, strict=True) if v == value])
                for value, n in sizes.items()
            )
            gain = entropy(classes) - rest
            gains[j] = gain if gain * len(taken) > 1e-6 else 0.0
            split_entropies[j] = entropy(values)
        if criterion == "information_gain":
            return first_best(gains, gains)
        averaged = [gain for j, gain in gains.items() if j not in left_out]
        if not averaged:
            return None
        average = sum(averaged) / len(averaged)
        ratios = {j: gains[j] / split_entropies[j] for j in gains if gains[j] >= average - 1e-3}
        return first_best(ratios, gains)

    def first_best(scores, gains):
        best, best_score = None, 0.0
        for j, score in scores.items():
            if score > best_score + 1e-6:
                best, best_score = j, score
        return None if best is None else (best, gains[best])

    return node_of(0, range(len(rows)), 0)


def plain_added_errors(rows, errors, confidence):
    if errors == 0:
        return rows * (1 - confidence ** (1 / rows))
    if errors + 0.5 >= rows:
        return max(rows - errors, 0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / rows
    spread = z * (f / rows - f**2 / rows + z**2 / (4 * rows**2)) ** 0.5
    return (f + z**2 / (2 * rows) + spread) / (1 + z**2 / rows) * rows - errors


def plain_prune_by_error(node, confidence):
    """Collapse from the top, then prune from the bottom, in place."""

    def training_errors(node):
        return sum(map(training_errors, node.children)) if node.children else node.errors

    def expected(node):
        if node.children:
            return sum(map(expected, node.children))
        return node.errors + plain_added_errors(node.rows, node.errors, confidence)

    def collapse(node):
        if node.children and training_errors(node) >= node.errors - 1e-3:
            node.cut()
        for child in node.children:
            collapse(child)

    def prune(node):
        for child in node.children:
            prune(child)
        as_leaf = node.errors + plain_added_errors(node.rows, node.errors, confidence)
        if node.children and as_leaf <= expected(node) + 0.1 + 1e-6:
            node.cut()

    collapse(node)
    prune(node)


def plain_prune_by_gain(node, level):
    from scipy.stats import chi2

    for child in node.children:
        plain_prune_by_gain(child, level)
    if node.children and not any(child.children for child in node.children):
        freedom = (len(node.children) - 1) * (node.classes_met - 1)
        if chi2.sf(2 * log(2) * node.rows * node.gain, freedom) >= level:
            node.cut()


def flattened(root):
    """Nodes as a MultiwayTree numbers them: all children of a node, then the first one's, …"""
    numbered = [(root, -1)]

    def add(node, number):
        first = len(numbered)
        numbered.extend((child, number) for child in node.children)
        for k, child in enumerate(node.children):
            add(child, first + k)

    add(root, 0)
    return [
        (node.column, parent, node.value, node.rows, node.majority, node.errors, node.classes_met)
        for node, parent in numbered
    ], [node.gain for node, _ in numbered]
