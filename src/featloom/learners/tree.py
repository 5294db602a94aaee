"""Multiway decision trees over symbols, grown and pruned by the rules of C4.5.

A node asks for the value of a column and has a branch for every value that its rows have;
"unknown" is a value like another.  A node is a leaf when its rows are of one class, when they are
fewer than twice ``min_rows``, at ``max_depth``, or when no column splits it: a column does if at
least two of its branches have ``min_rows`` rows.

Gain ratio (Quinlan, *C4.5: Programs for Machine Learning*, 1993) divides the information gain of
a column by the entropy of its split, so that a column does not win by the number of its values.
Only columns whose gain is at least the average (less .001 bit) are compared.  As in Weka's J48,
columns with many values, at least .3 a row of the training data, do not count in the average
unless all columns are like that (a node where no other column is left is a leaf), and a column
must be better by more than a millionth to win over one before it.

Two ways to prune: by the errors to expect, as C4.5 does; and, where one class is so common that
every leaf predicts it and errors tell nothing, by a test of each split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from featloom.data.table import UNKNOWN, NominalTable
from featloom.errors import InputError
from featloom.kernels import tree as growing
from featloom.kernels import tree_pruning as pruning
from featloom.kernels.compiling import compiled_for
from featloom.options import checked, none, number, one_of, whole
from featloom.words import counted

CRITERIA = ("gain_ratio", "information_gain")
_MOST_COUNTS = 2**29  # values times classes of all columns; a count has four bytes
_COUNTED_AT_ONCE = 2**24  # values; some tenths of a second
_NODE_ARRAYS = growing.Nodes._fields


@dataclass(frozen=True)
class Path:
    """The columns asked from the root to an internal node, in order.

    ``gain`` is what the last of them brings, in bits over all rows, and ``rows`` are the rows
    that it is asked for; both are sums over the nodes that share the path.
    """

    columns: tuple[int, ...]
    gain: float
    rows: int


@dataclass(frozen=True, eq=False, repr=False)
class MultiwayTree:
    """A decision tree with a branch for each value, as arrays over its nodes.

    Node 0 is the root, a parent comes before its children, and the children of a node lie side by
    side, by value code.

    Parameters
    ----------
    columns, vocabularies, classes : as of the table that it was grown on.
    column : number of the column that a node asks for, -1 for a leaf.
    parent : number of the parent, -1 for the root.
    value : code of the value of the parent's column that leads here, 0 = unknown.
    first_child, n_children : where the children are; -1 and 0 for a leaf.
    rows : training rows that reach the node.
    majority : the commonest class of these, the first of several.
    errors : how many of them are of other classes.
    gain : information gain of the split in bits a row, 0 for a leaf.
    classes_met : how many classes the rows are of.

    Examples
    --------
    >>> table = NominalTable.from_columns(
    ...     {"letter": list("cccckkss"), "next": list("aeeaaeea")}, labels=list("KSSKKKSS"))
    >>> tree = grow_tree(table)
    >>> print(tree)
    letter: 8 rows
      c -> next: 4 rows
        a -> K (2)
        e -> S (2)
      k -> K (2)
      s -> S (2)
    >>> [table.classes[label] for label in tree.predict(table.codes[:3])]
    ['K', 'S', 'S']
    >>> [path.columns for path in tree.paths()]
    [(0,), (0, 1)]
    """

    columns: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    column: np.ndarray
    parent: np.ndarray
    value: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    rows: np.ndarray
    majority: np.ndarray
    errors: np.ndarray
    gain: np.ndarray
    classes_met: np.ndarray

    def __len__(self) -> int:
        return len(self.column)

    @property
    def depth(self) -> np.ndarray:
        """How far each node is from the root."""
        return pruning.depths(self.parent)

    @property
    def is_leaf(self) -> np.ndarray:
        """Which nodes ask for nothing."""
        return self.column < 0

    @property
    def n_internal(self) -> int:
        """How many nodes ask for a column."""
        return int(np.count_nonzero(self.column >= 0))

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """Class codes of rows of value codes; at a value not met the node's majority decides."""
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.shape[1] != len(self.columns):
            raise InputError(
                f"codes have shape {codes.shape}, the tree knows {len(self.columns)} columns"
            )
        return pruning.predict(
            codes, self.column, self.first_child, self.n_children, self.value, self.majority
        )

    def paths(self) -> list[Path]:
        """Each column sequence from the root to an internal node, once, depth first."""
        depth = self.depth
        internal = np.flatnonzero(self.column >= 0)
        order = internal[np.argsort(depth[internal], kind="stable")]
        bounds = np.searchsorted(depth[order], np.arange(depth.max(initial=0) + 1))
        path_of = np.zeros(len(self), dtype=np.int64)  # numbered at each depth from 0
        above: list[tuple[int, ...]] = [()]
        found: list[Path] = []
        for nodes in np.split(order, bounds[1:]):
            if not len(nodes):
                break
            step = path_of[self.parent[nodes]] * (nodes[0] > 0)
            key = step * len(self.columns) + self.column[nodes]
            keys, path_of[nodes] = np.unique(key, return_inverse=True)
            gains = np.bincount(path_of[nodes], weights=self.gain[nodes] * self.rows[nodes])
            rows = np.bincount(path_of[nodes], weights=self.rows[nodes])
            above = [(*above[k // len(self.columns)], k % len(self.columns)) for k in keys.tolist()]
            found += map(Path, above, gains.tolist(), rows.astype(np.int64).tolist())
        return sorted(found, key=lambda path: path.columns)

    def text(self, *, max_depth: int | None = None, max_children: int | None = None) -> str:
        """The tree as indented lines: at most ``max_children`` a node, to ``max_depth``.

        Where not all children are shown, they are those with the most rows.
        """
        return "\n".join(self._lines(0, 0, max_depth, max_children))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<MultiwayTree: {len(self)} nodes, {self.n_internal} internal>"

    def _lines(
        self, node: int, depth: int, max_depth: int | None, max_children: int | None
    ) -> Iterator[str]:
        yield "  " * depth + self._branch(node) + self._says(node)
        if self.column[node] < 0 or depth == max_depth:
            return
        children = np.arange(self.n_children[node]) + self.first_child[node]
        if max_children is not None and len(children) > max_children:
            by_rows = np.argsort(-self.rows[children], kind="stable")
            left_out = children[by_rows[max_children:]]
            children = np.sort(children[by_rows[:max_children]])
        else:
            left_out = children[:0]
        for child in children.tolist():
            yield from self._lines(child, depth + 1, max_depth, max_children)
        if len(left_out):
            more = counted(len(left_out), "more value")
            yield "  " * (depth + 1) + f"… {more} ({self.rows[left_out].sum()} rows)"

    def _branch(self, node: int) -> str:
        if node == 0:
            return ""
        code = int(self.value[node])
        vocabulary = self.vocabularies[self.column[self.parent[node]]]
        return ("(unknown)" if code == UNKNOWN else vocabulary[code - 1]) + " -> "

    def _says(self, node: int) -> str:
        if self.column[node] >= 0:
            return f"{self.columns[self.column[node]]}: {self.rows[node]} rows"
        wrong = f", {self.errors[node]} wrong" if self.errors[node] else ""
        return f"{self.classes[self.majority[node]]} ({self.rows[node]}{wrong})"


@checked(criterion=one_of(CRITERIA), min_rows=whole(1), max_depth=whole(0) | none)
def grow_tree(
    table: NominalTable,
    *,
    criterion: str = "gain_ratio",
    min_rows: int = 2,
    max_depth: int | None = None,
    columns: Sequence[int] | None = None,
    rows: np.ndarray | None = None,
) -> MultiwayTree:
    """Grow a tree on the labelled rows of a table.

    Parameters
    ----------
    criterion : "gain_ratio" or "information_gain".
    min_rows : at least two branches of a split have as many rows.
    max_depth : most columns asked on a path; None for no limit.
    columns : numbers of the columns that may be asked for, in the order in which ties are
        decided; None for all.
    rows : numbers of the rows to grow on, repeated ones counted as often; None for all.

    Examples
    --------
    >>> table = NominalTable.from_columns({"letter": list("ckck")}, labels=list("SKSK"))
    >>> grow_tree(table, min_rows=3).n_internal
    0
    """
    asked = checked_columns(table, columns)
    chosen, labels = _checked_rows(table, rows)
    n_values = numbers_of_values(table, asked)
    buffers = _row_buffers(table, asked, labels, chosen, n_values)
    words = buffers[0].view(np.uint64), buffers[1].view(np.uint64)
    n_classes, by_ratio = len(table.classes), criterion == "gain_ratio"
    depth = len(asked) if max_depth is None else min(max_depth, len(asked))
    nodes, growth, n_nodes, n_open = growing.begin_growth(
        buffers[0], n_values, n_classes, min_rows, depth
    )
    while n_open:  # a large tree grows in several calls, between which Python can be interrupted
        nodes, n_nodes, n_open = growing.grow(
            buffers, words, nodes, growth, n_nodes, n_open, n_classes, by_ratio, min_rows, depth,
            _COUNTED_AT_ONCE,
        )  # fmt: skip
    nodes = growing.resized(nodes, n_nodes)
    internal = nodes.column >= 0
    nodes.column[internal] = asked[nodes.column[internal]]
    return MultiwayTree(table.columns, table.vocabularies, table.classes, *nodes)


@checked(confidence=number(above=0, most=0.5))
def prune_by_error(tree: MultiwayTree, confidence: float = 0.25) -> MultiwayTree:
    """Prune as C4.5 does, by the errors to expect (without raising subtrees).

    First a node becomes a leaf if its subtree makes no fewer errors on the training rows.  Then,
    from the bottom up, it does if the upper limit of its errors, which is exceeded with the
    chance ``confidence``, is at most a tenth of an error above that of its subtree.
    """
    from scipy.special import ndtri

    is_leaf = pruning.leaves_by_error(
        tree.column, tree.parent, tree.rows, tree.errors, confidence, ndtri(1 - confidence)
    )
    return _cut(tree, is_leaf)


@checked(level=number(above=0, below=1))
def prune_by_gain(tree: MultiwayTree, level: float = 0.001) -> MultiwayTree:
    """Prune splits that are not significant, from the bottom up.

    G = 2 ln 2 · rows · gain is compared with the χ² distribution of (branches − 1) · (classes
    met − 1) degrees of freedom.  A split that is not significant stays if one below it is.
    """
    from scipy.special import chdtrc

    freedom = (tree.n_children.astype(np.int64) - 1) * (tree.classes_met - 1)
    statistic = 2 * np.log(2) * tree.rows * tree.gain
    significant = (tree.column >= 0) & (chdtrc(np.maximum(freedom, 1), statistic) < level)
    return _cut(tree, pruning.leaves_by_test(tree.column, tree.parent, significant))


def _cut(tree: MultiwayTree, is_leaf: np.ndarray) -> MultiwayTree:
    """The tree without what is below the leaves, its nodes numbered anew in the same order."""
    kept = pruning.kept_nodes(tree.parent, is_leaf)
    new_number = np.cumsum(kept) - 1
    arrays = {name: getattr(tree, name)[kept] for name in _NODE_ARRAYS}
    leaf = is_leaf[kept]
    arrays["column"][leaf] = -1
    arrays["n_children"][leaf] = 0
    arrays["gain"][leaf] = 0.0
    arrays["first_child"] = np.where(leaf, -1, new_number[arrays["first_child"]])
    arrays["parent"][1:] = new_number[arrays["parent"][1:]]
    return replace(tree, **arrays)


def numbers_of_values(table: NominalTable, asked: np.ndarray) -> np.ndarray:
    """For each column a number above all its codes; values too many to be counted are refused."""
    n_values = np.array([len(table.vocabularies[j]) + 1 for j in asked], dtype=np.int64)
    if n_values.sum() * len(table.classes) > _MOST_COUNTS:
        widest = asked[np.argmax(n_values)]
        raise InputError(
            f"column {table.columns[widest]!r} has {n_values.max() - 1} values, too many to be "
            f"counted with {len(table.classes)} classes; grow the tree on other columns"
        )
    return n_values


def checked_columns(table: NominalTable, columns: Sequence[int] | None) -> np.ndarray:
    """Numbers of the columns that may be asked for."""
    n_columns = len(table.columns)
    asked = np.arange(n_columns) if columns is None else np.asarray(columns, dtype=np.int64)
    if len(asked) and not 0 <= asked.min() <= asked.max() < n_columns:
        raise InputError(f"columns {asked.tolist()} are not all among the {n_columns} of the table")
    if len(np.unique(asked)) != len(asked):
        raise InputError(f"columns {asked.tolist()} name one twice")
    return asked


def _checked_rows(
    table: NominalTable, rows: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray]:
    all_labels = table.label_codes
    chosen = None if rows is None else np.asarray(rows)
    if chosen is not None and chosen.dtype == bool:
        raise InputError("rows are numbers of rows, not yes and no for each")
    if chosen is not None:
        chosen = chosen.astype(np.int64, copy=False)
    if chosen is not None and len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(table):
        raise InputError(f"rows are not all among the {len(table)} of the table")
    labels = all_labels if chosen is None else all_labels[chosen]
    if not len(labels):
        raise InputError("there are no rows to grow a tree on")
    if labels.min() < 0:
        row = int(np.argmin(labels))
        raise InputError(f"row {row if chosen is None else chosen[row]} has no label")
    return chosen, all_labels


def _row_buffers(
    table: NominalTable,
    asked: np.ndarray,
    labels: np.ndarray,
    chosen: np.ndarray | None,
    n_values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The rows as the kernels take them, in 16 bits a code if these are enough, and room beside."""
    largest = max(int(n_values.max(initial=1)), len(table.classes))
    ahead = compiled_for()
    is_narrow = largest <= 2**16 and not (ahead and ahead.many_features)
    dtype = np.dtype(np.uint16 if is_narrow else np.int32)
    in_a_word = 8 // dtype.itemsize
    width = -(-(len(asked) + 1) // in_a_word) * in_a_word
    shape = (len(table) if chosen is None else len(chosen), width)
    rows = np.zeros(shape, dtype=dtype)
    every = np.empty(0, dtype=np.int64)
    in_range = growing.lay_out(
        table.codes,
        asked,
        n_values,
        labels,
        len(table.classes),
        every if chosen is None else chosen,
        rows,
    )
    if not in_range:
        raise InputError("codes or labels of the table are not all in its vocabularies")
    return rows, np.empty(shape, dtype=dtype)
