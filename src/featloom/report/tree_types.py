"""What a result says of templates grown from trees: the types of its part ``trees``.

Every field may be missing; the page then leaves out what depends on it.  Shares lie between 0 and
1, published figures are in per cent, as papers print them.
"""

from __future__ import annotations

from typing import Any

import msgspec


class TreeTemplate(msgspec.Struct):
    """A template read off the paths of trees.

    ``gain`` is in bits, ``coverage`` the share of rows that reach it, ``trees`` in how many trees
    it stands, ``backoff`` whether it is a path without its root, ``drop`` how many points of the
    metric are lost on held-out data when its weights are taken away without training again.
    """

    name: str = ""
    length: int | None = None
    gain: float | None = None
    coverage: float | None = None
    trees: int | None = None
    backoff: bool | None = None
    drop: float | None = None


class TreeNode(msgspec.Struct):
    """A node: the value of its parent's column that leads to it, and what is asked or answered.

    ``column`` is missing at a leaf, ``parent`` is -1 for the root, ``errors`` are the rows that are
    not of the commonest class, ``gain`` is in bits a row.  ``branches`` says how many the node has
    in the whole tree, for a tree that is shown in part.
    """

    id: int = 0
    parent: int = -1
    column: str | None = None
    value: str | None = None
    rows: int | None = None
    answer: str | None = msgspec.field(default=None, name="class")
    errors: int | None = None
    gain: float | None = None
    branches: int | None = None


class ShownTree(msgspec.Struct):
    """The upper part of a tree; ``cut`` nodes are not shown."""

    n_nodes: int | None = None
    n_internal: int | None = None
    depth: int | None = None
    nodes: list[TreeNode] = []
    cut: int | None = None


class TreeSystem(msgspec.Struct):
    """A model with one set of templates on one data set.

    ``value``, ``interval`` and ``sd`` (over so many ``seeds``) are shares, ``published`` is in
    per cent.
    """

    name: str = ""
    data: str = ""
    metric: str = ""
    value: float | None = None
    interval: tuple[float | None, float | None] | None = None
    seeds: int | None = None
    sd: float | None = None
    templates: int | None = None
    features: int | None = None
    seconds: float | None = None
    published: float | None = None


class ParsedSentence(msgspec.Struct):
    """A sentence with two trees over it: heads are positions from 1, 0 for the root.

    ``relations`` are those of the right tree.
    """

    words: list[str] = []
    tags: list[str] = []
    gold: list[int | None] = []
    predicted: list[int | None] = []
    relations: list[str] = []


class TreesPart(msgspec.Struct):
    """Templates grown from trees on rows of a table, tokens of sentences or edges of parses.

    ``kind`` is "table", "sequence" or "dependencies"; ``positives`` the share of the commonest
    class; ``protocol`` says what the systems were fitted and judged on, where rows were sampled.
    """

    kind: str = ""
    rows: int | None = None
    positives: float | None = None
    settings: dict[str, Any] = {}
    n_trees: int | None = None
    seconds: dict[str, float | None] = {}
    templates: list[TreeTemplate] = []
    tree: ShownTree | None = None
    systems: list[TreeSystem] = []
    protocol: str = ""
    sentences: list[ParsedSentence] = []
