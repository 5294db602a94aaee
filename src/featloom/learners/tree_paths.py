"""Templates read off decision trees: which columns matter together.

Entropy-guided feature generation (Fernandes and Milidiú): every path from the root of a tree to an
inner node is a template, the columns it tests without their values.  A tree that tests
``preposition`` first and then, after some prepositions, ``verb``, says that the two are to be
looked at together, whatever the preposition.

A template is a set of columns; the first path that has them settles their order.  Its gain is that
of the nodes it ends in, in bits summed over the rows that reach them.  Since every path begins at
the root, nothing would back off from the root's column; so there are *back-off copies*, the same
paths without it.  And since one tree asks one way only, there are forests: "bagged" trees that
each see some of the columns, or "hard" ones that each see the rows the tree before got wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

import numpy as np

from featloom.data.blocks import Blocks
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.learners.tree import (
    CRITERIA,
    MultiwayTree,
    grow_tree,
    prune_by_error,
    prune_by_gain,
)
from featloom.learners.tree_blocks import grow_tree_of_blocks
from featloom.options import checked, none, number, one_of, whole

PRUNINGS = ("error", "gain", None)
FORESTS = ("bagged", "hard")
# How trees are grown.
GROWTH = {
    "criterion": one_of(CRITERIA),
    "prune": one_of(PRUNINGS),
    "confidence": number(above=0, most=0.5),
    "min_rows": whole(1),
    "n_trees": whole(1),
    "columns_per_tree": whole(1) | none,
    "forest": one_of(FORESTS),
}
_SHARE_OF_COLUMNS = 2 / 3  # that a bagged tree sees where nothing else is said


@dataclass(frozen=True)
class GrownTemplate:
    """A template that grew on trees.

    Parameters
    ----------
    template : its columns, in the order of the first path that has them.
    gain : in bits, summed over rows, nodes and trees; a back-off copy has that of its paths.
    coverage : the share of the rows that reach it, in the trees it is in.
    trees : how many trees it is in.
    backoff : whether it is a path without its root, and nowhere a path.
    """

    template: Template
    gain: float
    coverage: float
    trees: int
    backoff: bool

    def __str__(self) -> str:
        return str(self.template)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree as it was pruned, and as it was before."""

    tree: MultiwayTree
    whole: MultiwayTree


def grow_templates(
    table: NominalTable,
    *,
    criterion: str = "gain_ratio",
    max_length: int | None = 6,
    backoff: bool = True,
    prune: str | None = "error",
    confidence: float = 0.25,
    min_rows: int = 2,
    floor: int = 0,
    n_trees: int = 1,
    columns_per_tree: int | None = None,
    forest: str = "bagged",
    most: int | None = None,
    random_state: int = 0,
) -> tuple[list[GrownTemplate], MultiwayTree]:
    """Templates of a labelled table, the one with the highest gain first, and the first tree.

    Where no column tells the classes apart there are none.

    Parameters
    ----------
    criterion : "gain_ratio" or "information_gain", by which a tree chooses columns.
    max_length : columns of the longest template; of a longer path its beginning is a template.
    backoff : whether there are also back-off copies.
    prune : "error" (as in C4.5), "gain" (for skewed classes) or None.
    confidence : of error pruning; a lower one prunes more.
    min_rows : rows that at least two branches of a split must have.
    floor : where pruning leaves a tree fewer templates, paths with the highest gains come back
        until there are so many.
    n_trees : how many trees there are at most.
    columns_per_tree : how many columns a tree sees, drawn at random; default two thirds in a bagged
        forest, else all.  No two trees of a bagged forest see the same columns.
    forest : "bagged", or "hard": each tree after the first sees the rows that the one before got
        wrong, and as many that it got right; it ends when none is wrong.
    most : how many templates are kept, those with the highest gains.
    random_state : seed of what is drawn.

    Examples
    --------
    >>> table = NominalTable.from_columns({"letter": list("ccks"), "next": list("aeae")},
    ...                                   labels=["K", "S", "K", "S"])
    >>> grown, tree = grow_templates(table, prune=None, min_rows=1)
    >>> [str(template) for template in grown]
    ['next']
    """
    first: list[MultiwayTree] = []

    def read_once() -> Iterator[GrownTree]:
        # A large tree is not kept beyond its reading: a forest of them would not fit in memory.
        for one in each_tree(
            table, criterion=criterion, prune=prune, confidence=confidence, min_rows=min_rows,
            n_trees=n_trees, columns_per_tree=columns_per_tree, forest=forest,
            max_depth=None if prune else max_length, random_state=random_state,
        ):  # fmt: skip
            if not first:
                first.append(one.tree)
            yield one

    grown = templates_of_trees(
        read_once(), max_length=max_length, backoff=backoff, floor=floor, most=most
    )
    return grown, first[0]


def grow_trees(table: NominalTable | Blocks, **how: Any) -> list[GrownTree]:
    """The trees behind :func:`grow_templates`, which can be read at several lengths."""
    return list(each_tree(table, **how))


@checked(**GROWTH, max_depth=whole(0) | none)
def each_tree(
    table: NominalTable | Blocks,
    *,
    criterion: str = "gain_ratio",
    prune: str | None = "error",
    confidence: float = 0.25,
    min_rows: int = 2,
    n_trees: int = 1,
    columns_per_tree: int | None = None,
    forest: str = "bagged",
    max_depth: int | None = None,
    among: np.ndarray | None = None,
    random_state: int = 0,
) -> Iterator[GrownTree]:
    """The same one after the other; ``max_depth`` is for trees that are not pruned.

    Rows may also come in blocks.  ``among`` are the numbers of the columns that trees look at;
    None: all.
    """
    if isinstance(table, NominalTable):
        table.known_labels  # noqa: B018 (each row must have one)
    elif forest == "hard" and n_trees > 1:
        raise InputError("a forest of hard rows needs its rows in memory, and these come in blocks")
    random = np.random.default_rng(random_state)
    named = table.table if isinstance(table, Blocks) else table
    width = 0 if named is None else len(named.columns)
    width = width if among is None else len(among)
    subsets = _subsets_of_columns(width, n_trees, columns_per_tree, forest, random)
    rows = None
    for place, subset in enumerate(subsets, start=1):
        columns = subset
        if among is not None:
            columns = (among if subset is None else among[subset]).tolist()
        how: dict[str, Any] = {
            "criterion": criterion, "min_rows": min_rows, "max_depth": max_depth,
            "columns": columns,
        }  # fmt: skip
        if isinstance(table, Blocks):
            whole = grow_tree_of_blocks(table, **how)
        else:
            whole = grow_tree(table, rows=rows, **how)
        one = GrownTree(_pruned(whole, prune, confidence), whole)
        yield one
        if forest == "hard" and place < n_trees and isinstance(table, NominalTable):
            rows = hard_rows(one.tree, table, random)
            if not len(rows):
                break


@checked(max_length=whole(1) | none, floor=whole(0), most=whole(0) | none)
def templates_of_trees(
    trees: Iterable[GrownTree],
    *,
    max_length: int | None = 6,
    backoff: bool = True,
    floor: int = 0,
    most: int | None = None,
) -> list[GrownTemplate]:
    """The templates of a forest, ranked: highest gain, then fewest columns, then met first."""
    paths = _Sums()
    copies = _Sums()
    names: tuple[str, ...] = ()
    for place, one in enumerate(trees, start=1):
        names = one.tree.columns
        in_tree = _paths_kept(one, max_length, floor)
        n_rows = int(one.tree.rows[0])
        for columns, gain, rows in in_tree:
            paths.add(columns, gain, rows, n_rows, tree=place)
        for columns, gain, rows in in_tree if backoff else ():
            if len(columns) > 1:
                copies.add(columns[1:], gain, rows, n_rows, tree=place)
    found = [one.grown(names, backoff=False) for one in paths]
    found += [one.grown(names, backoff=True) for one in copies if one.key not in paths.by_set]
    return sorted(found, key=lambda one: (-one.gain, len(one.template)))[:most]


def hard_rows(tree: MultiwayTree, table: NominalTable, random: np.random.Generator) -> np.ndarray:
    """The rows that a tree gets wrong and as many others, ascending; none if none is wrong."""
    labels = table.known_labels
    wrong = tree.predict(table.codes) != labels
    missed, met = np.flatnonzero(wrong), np.flatnonzero(~wrong)
    if not len(missed):
        return missed
    some = random.choice(met, size=min(len(missed), len(met)), replace=False)
    return np.sort(np.concatenate([missed, some]))


Read = tuple[tuple[int, ...], float, int]  # columns, gain and rows of a path


class _Sums:
    """What is known of sets of columns, summed over the paths that have them."""

    def __init__(self) -> None:
        self.by_set: dict[frozenset[int], _Sum] = {}

    def add(self, columns, gain: float, rows: int, n_rows: int, *, tree: int) -> None:
        key = frozenset(columns)
        one = self.by_set.setdefault(key, _Sum(key, columns))
        one.gain += gain
        one.rows += rows
        if one.last_tree != tree:
            one.last_tree, one.trees, one.n_rows = tree, one.trees + 1, one.n_rows + n_rows

    def __iter__(self) -> Iterator[_Sum]:
        return iter(self.by_set.values())


@dataclass
class _Sum:
    key: frozenset[int]
    columns: tuple[int, ...]
    gain: float = 0.0
    rows: int = 0
    n_rows: int = 0
    trees: int = 0
    last_tree: int = 0

    def grown(self, names: Sequence[str], *, backoff: bool) -> GrownTemplate:
        places = tuple((names[column], 0) for column in self.columns)
        share = self.rows / max(self.n_rows, 1)
        return GrownTemplate(Template(places), self.gain, share, self.trees, backoff)


def _paths_kept(one: GrownTree, max_length: int | None, floor: int) -> list[Read]:
    """The paths of a pruned tree, and of the whole one the best that the floor asks for."""
    kept = _short_paths(one.tree, max_length)
    sets = {frozenset(columns) for columns, _, _ in kept}
    if len(sets) >= floor or one.whole is one.tree:
        return kept
    cut_off = [
        path for path in _short_paths(one.whole, max_length) if frozenset(path[0]) not in sets
    ]
    sums: dict[frozenset[int], float] = {}
    for columns, gain, _ in cut_off:
        sums[frozenset(columns)] = sums.get(frozenset(columns), 0.0) + gain
    best = sorted(sums, key=lambda key: (-sums[key], len(key)))[: floor - len(sets)]
    back = set(best)
    return kept + [path for path in cut_off if frozenset(path[0]) in back]


def _short_paths(tree: MultiwayTree, max_length: int | None) -> list[Read]:
    return [
        (tuple(path.columns), float(path.gain), int(path.rows))
        for path in tree.paths()
        if max_length is None or len(path.columns) <= max_length
    ]


def _pruned(tree: MultiwayTree, prune: str | None, confidence: float) -> MultiwayTree:
    if prune == "error":
        return prune_by_error(tree, confidence)
    return prune_by_gain(tree) if prune == "gain" else tree


def _subsets_of_columns(
    width: int, n_trees: int, per_tree: int | None, forest: str, random
) -> list[list[int] | None]:
    """The columns that each tree sees, ascending; None: all."""
    if per_tree is None and forest == "bagged" and n_trees > 1:
        per_tree = ceil(_SHARE_OF_COLUMNS * width)
    if per_tree is None:
        return [None] * n_trees
    per_tree = min(per_tree, width)

    def draw() -> tuple[int, ...]:
        return tuple(sorted(random.choice(width, size=per_tree, replace=False).tolist()))

    if forest == "hard":
        return [list(draw()) for _ in range(n_trees)]
    # The same columns twice would be the same tree twice.
    different: dict[tuple[int, ...], None] = {}
    while len(different) < min(n_trees, comb(width, per_tree)):
        different[draw()] = None
    return [list(columns) for columns in different]
