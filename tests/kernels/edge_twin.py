"""Edges, trees and parsers in plain Python, slow and easy to check, for tests of the fast ones."""

from __future__ import annotations

import itertools
import math
from functools import cache
from hashlib import blake2b

import numpy as np

WORD = 2**64 - 1


@cache
def all_trees(n_tokens: int) -> np.ndarray:
    """The heads of every tree over some tokens; position 0 is the root, with head -1."""
    choices = [[h for h in range(n_tokens + 1) if h != m] for m in range(1, n_tokens + 1)]
    trees = [(-1, *heads) for heads in itertools.product(*choices) if reaches_root((-1, *heads))]
    return np.array(trees, dtype=np.int32).reshape(-1, n_tokens + 1)


def reaches_root(heads) -> bool:
    """Whether every token comes to the root by way of its heads."""
    for token in range(1, len(heads)):
        at = token
        for _ in range(len(heads)):
            at = heads[at] if at else 0
        if at:
            return False
    return True


def is_projective(heads) -> bool:
    """Whether no two arcs cross, those of the root among them."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads) if m]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def allowed_trees(n_tokens: int, projective: bool, single_root: bool) -> np.ndarray:
    """The trees that a decoder chooses among."""
    keep = [
        not (projective and not is_projective(tree))
        and not (single_root and list(tree).count(0) > 1)
        for tree in all_trees(n_tokens).tolist()
    ]
    return all_trees(n_tokens)[np.array(keep, dtype=bool)]


def tree_scores(trees: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The score of each tree: the sum of those of its edges."""
    return scores[trees[:, 1:], np.arange(1, trees.shape[1])].sum(axis=1)


def best_by_enumeration(scores: np.ndarray, projective: bool, single_root: bool) -> np.ndarray:
    """The first of the best trees."""
    trees = allowed_trees(len(scores) - 1, projective, single_root)
    return trees[np.argmax(tree_scores(trees, scores))]


def best_by_contraction(scores: np.ndarray, single_root: bool) -> float:
    """The score of the best tree by the textbook's recursion, for more tokens than can be listed.

    With a single root every token is tried as the only one.
    """
    n = len(scores)
    arcs = {(h, m): scores[h, m] for h in range(n) for m in range(1, n) if h != m}
    if not single_root:
        return _best_total(set(range(n)), arcs)
    return max(
        _best_total(set(range(n)), {e: s for e, s in arcs.items() if e[0] or e[1] == root})
        for root in range(1, n)
    )


def _best_total(nodes: set[int], arcs: dict[tuple[int, int], float]) -> float:
    best = {}
    for m in nodes - {0}:
        entering = [(score, h) for (h, to), score in arcs.items() if to == m]
        if not entering:
            return -math.inf
        best[m] = max(entering)
    cycle = next((found for m in best if (found := _cycle(m, best))), None)
    total = sum(score for score, _ in best.values())
    if cycle is None:
        return total
    # The cycle becomes one node; to enter it costs what the arc inside was worth.
    new = max(nodes) + 1
    contracted: dict[tuple[int, int], float] = {}
    for (h, m), score in arcs.items():
        if h in cycle and m in cycle:
            continue
        ends = (new if h in cycle else h, new if m in cycle else m)
        value = score - best[m][0] if m in cycle else score
        contracted[ends] = max(contracted.get(ends, -math.inf), value)
    inside = sum(best[m][0] for m in cycle)
    return inside + _best_total(nodes - cycle | {new}, contracted)


def _cycle(start: int, best: dict[int, tuple[float, int]]) -> set[int]:
    """The tokens of a cycle that the start is on; empty where it is on none."""
    seen, at = [start], best[start][1]
    while at and at not in seen:
        seen.append(at)
        at = best[at][1]
    return set(seen) if at == start else set()


def edge_value(sentence: list[dict], name: str, head: int, mod: int):
    """What an edge column says of an edge, in words; the values of a set column, sorted."""
    if name == "side":
        return "left" if mod < head else "right"
    if name == "distance":
        distance = abs(head - mod)
        return str(distance) if distance <= 5 else "6-10" if distance <= 10 else "11+"
    kind, _, rest = name.partition(".")
    if kind == "between":
        column, _, values = rest.partition("=")
        between = [sentence[at - 1][column] for at in range(min(head, mod) + 1, max(head, mod))]
        if not values:
            return sorted(set(between), key=str)
        found = sum(value in values.split(",") for value in between)
        return str(found) if found < 3 else "3+"
    column, _, offset = rest.partition("[")
    at = (head if kind == "head" else mod) + int(offset.rstrip("]") or 0)
    if at < 0:
        return f"<before>{-at}"
    if at > len(sentence):
        return f"<after>{at - len(sentence)}"
    return sentence[at - 1][column] if at else "<root>"


def mix(hashed: int, code: int) -> int:
    hashed = (hashed ^ (code + 1)) * 0x9E3779B97F4A7C15 & WORD
    hashed ^= hashed >> 32
    return hashed * 0xD6E8FEB86659FD93 & WORD


def hash_of(codes: dict[int, int], seed: int) -> int:
    """The hash of the codes of some columns; 0 without columns."""
    hashed = mix(0, seed) if codes else 0
    for column in sorted(codes):
        hashed = mix(mix(hashed, column), codes[column])
    return hashed


class PlainEdges:
    """The features of edges by the words of the columns, and the slots that they are hashed to."""

    def __init__(self, reader, templates, bits):
        self.reader, self.templates, self.bits = reader, templates, bits
        self.number = {}
        for kinds in (("head",), ("mod",), ("count",), ("set",)):
            for j, column in enumerate(reader.of_kind(*kinds)):
                self.number[column.name] = j
        self.column = {column.name: column for column in reader.columns}

    def code(self, name: str, value) -> int:
        values = self.reader.values(self.column[name])
        return values.index(value) + 1 if value in values else 0

    def features(self, sentence, head, mod) -> list[tuple]:
        """(template, values) of every feature that an edge has."""
        found = []
        for template in self.templates:
            names = [name for name, _ in template.places]
            values = [edge_value(sentence, name, head, mod) for name in names]
            values = [value if isinstance(value, list) else [value] for value in values]
            found += [(str(template), one) for one in itertools.product(*values)]
        return found

    def slots(self, sentence, head, mod) -> list[int]:
        """The slots of an edge's features, in order of size."""
        found = []
        for template in self.templates:
            names = [name for name, _ in template.places]
            number = blake2b("\n".join(sorted(names)).encode(), digest_size=8).digest()
            total = int.from_bytes(number, "little")
            codes: dict[str, dict[int, int]] = {"head": {}, "mod": {}, "pair": {}}
            tags = [0]
            for name in names:
                kind = self.column[name].kind
                value = edge_value(sentence, name, head, mod)
                if kind in ("head", "mod"):
                    codes[kind][self.number[name]] = self.code(name, value)
                elif kind == "set":
                    distinct = {min(self.code(name, one), 63) for one in value}
                    tags = [hash_of({0: tag}, 5) for tag in distinct]
                else:
                    which = {"side": 0, "distance": 1}.get(kind, 2 + self.number.get(name, 0))
                    codes["pair"][which] = self.code(name, value) - 1
            total += hash_of(codes["head"], 1) + hash_of(codes["mod"], 2)
            total += hash_of(codes["pair"], 3)
            found += [(total + tag & WORD) >> (64 - self.bits) for tag in tags]
        return sorted(found)


class PlainTraining:
    """Training of a parser by the textbook: every tree is looked at, every step remembered."""

    def __init__(self, edges: PlainEdges, weights, *, projective, single_root):
        self.edges = edges
        self.weights = np.array(weights, dtype=np.float64)
        self.projective, self.single_root = projective, single_root

    def score(self, sentence, head, mod) -> float:
        return sum(self.weights[slot] for slot in self.edges.slots(sentence, head, mod))

    def train(self, sentences, heads, *, epochs, margin, most, seed) -> np.ndarray:
        """The mean of the weights before the first step and after each."""
        random = np.random.default_rng(seed)
        total, n = self.weights.copy(), 1
        for _ in range(epochs):
            for which in random.permutation(len(sentences)):
                self._step(sentences[which], [-1, *heads[which]], margin, most)
                total += self.weights
                n += 1
        return total / n

    def _step(self, sentence, right, margin, most):
        n = len(sentence) + 1
        scores = np.zeros((n, n))
        for m in range(1, n):
            for h in range(n):
                if h != m:
                    scores[h, m] = self.score(sentence, h, m) + (margin if h != right[m] else 0)
        found = best_by_enumeration(scores, self.projective, self.single_root).tolist()
        wrong = [m for m in range(1, n) if found[m] != right[m]]
        above = sum(scores[found[m], m] - scores[right[m], m] for m in wrong)
        if not wrong or above < 0:
            return
        n_templates = len(self.edges.templates)
        amount = (
            1.0 if not margin else min(most / n_templates, above / (2 * n_templates * len(wrong)))
        )
        for m in wrong:
            for slot in self.edges.slots(sentence, right[m], m):
                self.weights[slot] += amount
            for slot in self.edges.slots(sentence, found[m], m):
                self.weights[slot] -= amount


def train_pilot(edges: PlainEdges, sentences, heads, *, epochs, seed) -> np.ndarray:
    """A softmax over the heads of one token at a time, by stochastic gradient."""
    weights = np.zeros(1 << edges.bits)
    random = np.random.default_rng(seed)
    for epoch in range(epochs):
        for which in random.permutation(len(sentences)):
            for m, right in enumerate(heads[which], start=1):
                shares = pilot_shares(edges, weights, sentences[which], m)
                for h, share in shares.items():
                    by = (h == right) - share
                    if abs(by) > 1e-3:
                        for slot in edges.slots(sentences[which], h, m):
                            weights[slot] += 0.3 / (1 + epoch) * by
    return weights


def pilot_shares(edges: PlainEdges, weights, sentence, mod) -> dict[int, float]:
    """The probability of each head of a token."""
    scores = {
        h: sum(weights[slot] for slot in edges.slots(sentence, h, mod))
        for h in range(len(sentence) + 1)
        if h != mod
    }
    total = sum(math.exp(score) for score in scores.values())
    return {h: math.exp(score) / total for h, score in scores.items()}


def train_relations(edges: PlainEdges, sentences, heads, relations, n, *, epochs, seed):
    """The averaged perceptron over edges, one relation each; the mean of the weights."""
    weights = np.zeros((1 << edges.bits, n))
    total, steps = weights.copy(), 1
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        for which in random.permutation(len(sentences)):
            for m, (head, right) in enumerate(zip(heads[which], relations[which], strict=True), 1):
                slots = edges.slots(sentences[which], head, m)
                found = int(np.argmax(weights[slots].sum(axis=0)))
                if found != right:
                    for slot in slots:
                        weights[slot, right] += 1
                        weights[slot, found] -= 1
                total += weights
                steps += 1
    return total / steps


def random_tree(random, n_tokens: int, *, single_root: bool = True, crossing: bool = True) -> list:
    """Heads of a tree, position by position from 1; without ``crossing`` no two arcs cross."""
    if crossing:
        order = random.permutation(n_tokens) + 1
        heads = [0] * n_tokens
        for k, token in enumerate(order):
            if k:
                heads[token - 1] = int(random.choice(order[:k]))
                if not single_root and random.random() < 0.2:
                    heads[token - 1] = 0
        return heads
    heads = [0] * n_tokens

    def hang(low: int, high: int, head: int) -> None:
        # The tokens from low to high become one subtree on each side of a token, under the head.
        spans = [(low, high, head)]
        while spans:
            low, high, head = spans.pop()
            if low > high:
                continue
            top = int(random.integers(low, high + 1))
            heads[top - 1] = head
            spans += [(low, top - 1, top), (top + 1, high, top)]

    hang(1, n_tokens, 0)
    return heads


def random_sentences(random, n: int, longest: int = 5, *, crossing: bool = True):
    """Sentences of words and tags as lists of dicts, with the heads of a tree each."""
    words, tags = ("cat", "dog", "fish", "saw", "ate", "the", "old"), tuple("NVDA")
    sentences, heads = [], []
    for _ in range(n):
        length = int(random.integers(1, longest + 1))
        sentences.append(
            [
                {"form": str(random.choice(words)), "upos": str(random.choice(tags))}
                for _ in range(length)
            ]
        )
        heads.append(random_tree(random, length, crossing=crossing))
    return sentences, heads
